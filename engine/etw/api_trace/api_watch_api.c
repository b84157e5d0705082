/* SPDX-License-Identifier: MIT */
/* Watches for new processes of a program and injects openapitrace.dll into each.

   Windows has no notification of new processes that every account can use, and Wine has none at all. Therefore the
   watcher polls: every 8 ms it queries a number that changes when processes or threads start or end
   (windows_threads_mark). When the number has changed, the watcher lists the processes. During the next HOT_MS, it
   lists them after each query.

   Under Wine each query wakes Wine's server, and so does waiting for an event object. Two measures keep the server
   asleep while no process starts. First, between polls the watcher waits on an address, which only involves the host
   OS's kernel. Second, a poll skips the query if the server has hardly run since the last query. A new process makes
   hundreds of requests to the server before it reaches its entry point. The kernel counts in schedstat how many times
   and for how long the server has run. Under Wine the server opens files for the programs, so /proc/self/schedstat is
   the file of the server. At least every 20th poll queries the number in any case. While processes are starting, a poll
   also queries the number if the server has run only briefly since the last query.

   The watcher never waits for the answer of a traced process (api_change_api.c). So a stopped process (SIGSTOP, a
   debugger) neither prevents other processes from being traced nor delays the stop of the data collector set. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/api_trace/api_change.h"
#include "engine/etw/api_trace/api_watch.h"

#include <windows.h>
#include <winternl.h>
#include <intrin.h>
#include <string.h>

enum {
    POLL_MS = 8,
    HOT_POLL_MS = 2,
    HOT_MS = 150,        /* how long HOT_POLL_MS applies after the last change of the number */
    HOT_MOST_MS = 10000, /* maximum time for which HOT_POLL_MS applies while a process initializes */
    SETTLE_MS = 2000,    /* how long the check of a new process is repeated while its program cannot be read */
    END_MS = 150,        /* when the watcher ends: maximum wait for injections that have begun */
    READY_MS = 10000,
    SKIPPED_MOST = 20,      /* at least every 20th poll queries the number */
    SERVER_TIMES = 8,       /* a poll queries the number once the server has run this many times */
    SERVER_RAN_NS = 250000, /* a poll queries the number once the server has run for this long */
    LIST_ROOM = 1 << 16,
    LIST_ROOM_MOST = 1 << 26,
    CALIBRATE_MS = 20,
    TICKS_PER_MS = 10000, /* a creation time counts units of 100 ns */
};

struct seen {
    DWORD id;
    int64_t created;
};

struct api_watch {
    WCHAR *program;    /* full path */
    const WCHAR *name; /* points to the file name at the end of `program` */
    char *text;        /* the path, for error texts */
    HANDLE thread, ready;
    bool stops; /* set to end the thread; protected by `lock` */
    struct thread_condition stopped;
    struct kernel_file *server; /* schedstat of Wine's server; NULL: unknown, or Windows */
    struct process_run_time server_ran;
    unsigned skipped;  /* polls since the last query */
    struct seen *seen; /* processes that need no further action */
    size_t seen_count, seen_room;
    uint8_t *list; /* list of the system's processes */
    size_t list_room;
    void *changes; /* array of struct api_change *: injections that are not final yet */
    size_t change_count, change_room;
    bool attach; /* also trace processes that are already running */
    atomic_uint_least64_t late, failed, attached;
    struct lock lock;
    char *failure;
};

static void note_failure(struct api_watch *w, HRESULT hr)
{
    char *text = text_copy(error_text(hr));
    atomic_fetch_add(&w->failed, 1);
    lock_enter(&w->lock);
    memory_free(w->failure);
    w->failure = text;
    lock_leave(&w->lock);
}

static int64_t now_utc(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return (int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime);
}

/* Wine sets the creation time of a process after the process has been mapped. Until then, the list of processes
   contains a time in the far future. The clock can be set back, but by less than a day. */
static bool is_unset(int64_t created)
{
    return created - now_utc() > 24 * INT64_C(3600000) * TICKS_PER_MS;
}

/* An entry with an unset creation time still matches its process after Wine has set the time. Otherwise the process
   would be taken for another one, and the DLL would be injected twice. */
static bool is_seen(const struct api_watch *w, DWORD id, int64_t created)
{
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i].id == id && (w->seen[i].created == created || is_unset(w->seen[i].created)))
            return true;
    return false;
}

static void add_seen(struct api_watch *w, DWORD id, int64_t created)
{
    if (w->seen_count == w->seen_room) {
        const size_t room = w->seen_room ? 2 * w->seen_room : 64;
        struct seen *more = memory_resize(w->seen, room * sizeof *more);
        if (!more)
            return;
        w->seen = more;
        w->seen_room = room;
    }
    w->seen[w->seen_count++] = (struct seen){id, created};
}

/* Lists the system's processes into w->list. */
static bool list_processes(struct api_watch *w)
{
    for (;;) {
        ULONG need = 0;
        const NTSTATUS status = NtQuerySystemInformation(SystemProcessInformation, w->list, (ULONG)w->list_room, &need);
        if (status >= 0)
            return true;
        if (w->list_room >= LIST_ROOM_MOST)
            return false;
        const size_t room = 2 * (w->list_room ? w->list_room : (size_t)LIST_ROOM / 2);
        uint8_t *more = memory_resize(w->list, room);
        if (!more)
            return false;
        w->list = more;
        w->list_room = room;
    }
}

/* Checks the program of a process. S_OK: it is the traced program. S_FALSE: it cannot be read yet. E_FAIL: it is
   another program. */
static HRESULT is_program(const struct api_watch *w, HANDLE process)
{
    WCHAR path[MAX_PATH * 4];
    DWORD units = sizeof path / sizeof *path;
    if (!QueryFullProcessImageNameW(process, 0, path, &units))
        return S_FALSE;
    return _wcsicmp(path, w->program) == 0 ? S_OK : E_FAIL;
}

/* ---- injections (struct api_change) ---- */

/* Begins to inject into the process. Takes ownership of the handle, even on failure. Returns false if this is not
   possible now: the process has no thread yet, or memory is short. */
static bool change_begin(struct api_watch *w, HANDLE process, bool attaches)
{
    if (!memory_grow(&w->changes, &w->change_room, w->change_count + 1, sizeof(struct api_change *))) {
        CloseHandle(process);
        return false;
    }
    struct api_change *c = api_change_begin(process, w->text, attaches);
    if (c)
        ((struct api_change **)w->changes)[w->change_count++] = c;
    return c != NULL;
}

/* Continues an injection. Returns true if its state is final. */
static bool change_is_final(struct api_watch *w, struct api_change *c)
{
    HRESULT reason;
    const enum api_change_state state = api_change_continue(c, &reason);
    if (state == API_CHANGE_FAILED || state == API_CHANGE_SILENT)
        note_failure(w, reason);
    if (state == API_CHANGE_LATE)
        atomic_fetch_add(&w->late, 1);
    if (state == API_CHANGE_ATTACHED)
        atomic_fetch_add(&w->attached, 1);
    return state >= API_CHANGE_ENTERED;
}

static void changes_continue(struct api_watch *w)
{
    struct api_change **changes = w->changes;
    size_t kept = 0;
    for (size_t i = 0; i < w->change_count; i++)
        if (change_is_final(w, changes[i]))
            api_change_release(changes[i]);
        else
            changes[kept++] = changes[i];
    w->change_count = kept;
}

static void changes_end(struct api_watch *w)
{
    const ULONGLONG end = GetTickCount64() + END_MS;
    while (w->change_count && GetTickCount64() < end) {
        changes_continue(w);
        Sleep(1);
    }
    for (size_t i = 0; i < w->change_count; i++)
        api_change_release(((struct api_change **)w->changes)[i]);
    memory_free(w->changes);
}

/* ---- the list of processes ---- */

/* Begins to inject into a process if it runs the program. S_FALSE: check the process again. E_FAIL: the process runs
   another program or cannot be opened. `initializes` is true if the process has no creation time yet; the function then
   returns S_FALSE instead of E_FAIL. `attaches` is true if the process was running before the watcher. */
static HRESULT take_process(struct api_watch *w, DWORD id, bool initializes, bool attaches)
{
    HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, id);
    if (!process) {
        const DWORD code = GetLastError();
        if (code == ERROR_ACCESS_DENIED && !initializes)
            note_failure(
                w, api_inject_failed(w->text, "another account's process, or a protected one, cannot be opened", code));
        return initializes ? S_FALSE : E_FAIL;
    }
    const HRESULT hr = is_program(w, process);
    if (hr == S_OK)
        return change_begin(w, process, attaches) ? S_OK : S_FALSE;
    CloseHandle(process);
    return initializes ? S_FALSE : hr;
}

/* Checks all processes of this name. Returns true if a process is still initializing and must be checked again. `first`
   is true for the first check: a process that is no longer initializing was then running before the watcher. */
static bool check_processes(struct api_watch *w, bool first)
{
    bool again = false;
    if (!list_processes(w))
        return false;
    const size_t length = wcslen(w->name) * sizeof(WCHAR);
    const size_t before = w->seen_count;
    size_t kept = 0;
    for (const uint8_t *at = w->list;;) {
        const SYSTEM_PROCESS_INFORMATION *s = (const void *)at;
        const UNICODE_STRING *name = (const void *)(at + 0x38);
        const int64_t *created = (const void *)(at + 0x20);
        const DWORD id = (DWORD)(ULONG_PTR)s->UniqueProcessId;
        if (name->Buffer && name->Length == length && _wcsnicmp(name->Buffer, w->name, length / sizeof(WCHAR)) == 0) {
            const bool initializes = is_unset(*created), was_running = first && !initializes;
            bool done = is_seen(w, id, *created) || (was_running && !w->attach);
            if (!done)
                done = take_process(w, id, initializes, was_running) != S_FALSE ||
                       now_utc() - *created > (int64_t)SETTLE_MS * TICKS_PER_MS;
            if (done)
                add_seen(w, id, *created);
            again = again || (initializes && !done);
        }
        if (!s->NextEntryOffset)
            break;
        at += s->NextEntryOffset;
    }
    /* Keep only the entries that this check has added, because the ids of exited processes can be reused. */
    for (size_t i = before; i < w->seen_count; i++)
        w->seen[kept++] = w->seen[i];
    w->seen_count = kept;
    return again;
}

/* ---- the thread ---- */

/* Opens the schedstat of Wine's server. Returns NULL on Windows, which has no Wine server, and if /proc/self is not the
   server's folder. */
static struct kernel_file *open_server(void)
{
    struct kernel_file *file = NULL;
    struct process_stat stat;
    char *text;
    size_t size;
    if (FAILED(kernel_file_text("/proc/self/stat", &text, &size)))
        return NULL;
    const bool is_server = process_stat_parse(text, size, &stat) && process_is_wine_server(&stat);
    memory_free(text);
    return is_server && SUCCEEDED(kernel_file_open("/proc/self/schedstat", &file)) ? file : NULL;
}

static bool read_server(struct api_watch *w, struct process_run_time *out)
{
    const char *text;
    size_t size;
    return w->server && SUCCEEDED(kernel_file_read_piece(w->server, &text, &size)) &&
           process_run_time_parse(text, size, out);
}

/* Returns whether a process may have started since the last query. `hot` is true while processes are starting. */
static bool must_ask(struct api_watch *w, bool hot)
{
    struct process_run_time now;
    if (!read_server(w, &now) || ++w->skipped >= SKIPPED_MOST)
        return true;
    const uint64_t times = now.times - w->server_ran.times, ran = now.ran - w->server_ran.ran;
    return hot ? times || ran : times >= SERVER_TIMES || ran >= SERVER_RAN_NS;
}

/* Stores how many times and for how long the server has run. Call it after the queries, because the server also runs to
   answer them. */
static void has_asked(struct api_watch *w)
{
    w->skipped = 0;
    (void)read_server(w, &w->server_ran);
}

/* Waits until the next poll. Returns false if the watcher must end. */
static bool await_poll(struct api_watch *w, uint32_t ms)
{
    lock_enter(&w->lock);
    if (!w->stops)
        (void)thread_condition_wait(&w->stopped, &w->lock, ms);
    const bool goes_on = !w->stops;
    lock_leave(&w->lock);
    return goes_on;
}

static DWORD WINAPI watch_run(void *argument)
{
    struct api_watch *w = argument;
    uint32_t mark = windows_threads_mark();
    ULONGLONG hot = GetTickCount64() + HOT_MS, hot_most = GetTickCount64() + HOT_MOST_MS;
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
    timed_work_enter();
    (void)check_processes(w, true);
    SetEvent(w->ready);
    while (await_poll(w, GetTickCount64() < hot ? HOT_POLL_MS : POLL_MS)) {
        const bool asks = must_ask(w, GetTickCount64() < hot);
        const uint32_t now = asks ? windows_threads_mark() : mark;
        if (now != mark) {
            hot = GetTickCount64() + HOT_MS;
            hot_most = GetTickCount64() + HOT_MOST_MS;
        }
        mark = now;
        changes_continue(w);
        if (!asks)
            continue;
        if (GetTickCount64() < hot && check_processes(w, false) && GetTickCount64() < hot_most)
            hot = GetTickCount64() + HOT_MS;
        has_asked(w);
    }
    changes_end(w);
    timed_work_leave();
    return 0;
}

HRESULT api_watch_start(const char *program, bool attach, struct api_watch **out)
{
    struct api_watch *w = memory_zero(1, sizeof *w);
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->lock = (struct lock)LOCK_INIT;
    w->attach = attach;
    w->text = text_copy(program);
    HRESULT hr = w->text ? text_to_utf16(program, &w->program, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        const WCHAR *slash = wcsrchr(w->program, '\\');
        w->name = slash ? slash + 1 : w->program;
        w->server = open_server();
        w->ready = CreateEventW(NULL, TRUE, FALSE, NULL);
        w->thread = w->ready ? CreateThread(NULL, 0, watch_run, w, 0, NULL) : NULL;
        if (!w->thread)
            hr = error_set(HRESULT_FROM_WIN32(GetLastError()), "API tracing: cannot start the watching thread");
    }
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        api_watch_stop(w);
        return error_restore(&why);
    }
    WaitForSingleObject(w->ready, READY_MS);
    *out = w;
    return S_OK;
}

void api_watch_stop(struct api_watch *w)
{
    if (!w)
        return;
    if (w->thread) {
        lock_enter(&w->lock);
        w->stops = true;
        lock_leave(&w->lock);
        thread_condition_wake(&w->stopped);
        WaitForSingleObject(w->thread, INFINITE);
        CloseHandle(w->thread);
    }
    kernel_file_close(w->server);
    if (w->ready)
        CloseHandle(w->ready);
    memory_free(w->seen);
    memory_free(w->list);
    memory_free(w->failure);
    memory_free(w->program);
    memory_free(w->text);
    memory_free(w);
}

void api_watch_read(struct api_watch *w, struct api_watch_numbers *out)
{
    *out = (struct api_watch_numbers){atomic_load(&w->late), atomic_load(&w->failed), atomic_load(&w->attached)};
}

char *api_watch_take_failure(struct api_watch *w)
{
    lock_enter(&w->lock);
    char *text = w->failure;
    w->failure = NULL;
    lock_leave(&w->lock);
    return text;
}

uint64_t api_watch_cycles_per_second(void)
{
    LARGE_INTEGER per_second, begin, end;
    QueryPerformanceFrequency(&per_second);
    QueryPerformanceCounter(&begin);
    const uint64_t from = __rdtsc();
    Sleep(CALIBRATE_MS);
    const uint64_t cycles = __rdtsc() - from;
    QueryPerformanceCounter(&end);
    const int64_t passed = end.QuadPart - begin.QuadPart;
    return passed > 0 && cycles ? (uint64_t)((double)cycles * (double)per_second.QuadPart / (double)passed)
                                : 1000000000;
}
