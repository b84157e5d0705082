/* SPDX-License-Identifier: MIT */
/* Watches for new processes and injects openapitrace.dll at their entry point.

   Windows has no event for a new process that works for every account, and Wine none at all. The watcher asks every
   6 ms for a number that changes with the processes and threads (windows_threads_mark), which costs microseconds, and
   lists the processes only while it changes and for a while after. A new process of the program is suspended, the stub
   of api_inject_api.c is put at its entry point, and it is resumed. When the stub has run, the watcher restores the
   protection of the entry point's page. If a process does not reach its entry point within 3 seconds, it had passed it
   before: the bytes are put back and a remote thread loads the DLL; the first calls of the process are missing.

   Wine allocates memory in another process by a message to one of its threads, which a signal wakes. A thread that has
   just started can miss that signal, and then the watcher would wait for as long as the process lives. A second thread,
   the guard, notices that and allocates memory there, too, which sends another signal. The process is then late.

   To attach to a process that runs already, a remote thread loads the DLL, too. The watcher does not wait for it,
   because the loader of a stopped process would hold it up while others start. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/api_trace/api_inject.h"
#include "engine/etw/api_trace/api_watch.h"

#include <stdlib.h>
#include <windows.h>
#include <winternl.h>
#include <intrin.h>
#include <string.h>

NTSYSAPI NTSTATUS NTAPI NtSuspendProcess(HANDLE process);
NTSYSAPI NTSTATUS NTAPI NtResumeProcess(HANDLE process);

enum {
    POLL_MS = 6,
    HOT_POLL_MS = 2,
    HOT_MS = 150,         /* after the last change of the processes */
    ENTRY_WAIT_MS = 3000, /* until a process has come to its entry point */
    SETTLE_MS = 2000,     /* how long a new process is checked again if its program cannot be read yet */
    PENDING = 256,
    LIST_ROOM = 1 << 16,
    LIST_ROOM_MOST = 1 << 26,
    PAGE_BYTES = 4096,
    CALIBRATE_MS = 20,
    GUARD_POLL_MS = 500,
    GUARD_WAIT_MS = 1500, /* maximum time for changing a process before the guard acts */
};

struct seen {
    DWORD id;
    int64_t created;
};
struct pending {
    struct api_entry entry;
    HANDLE thread; /* remote thread that loads the DLL into a running process; NULL: waiting for the process to reach
                      its entry point */
    bool used;
    ULONGLONG since;
};

struct api_watch {
    WCHAR *program;    /* full path */
    const WCHAR *name; /* its file name, in `program` */
    char *text;        /* the path, for error texts */
    HANDLE thread, stopped, ready;
    HANDLE guard, watched; /* `watched` is set when the watching thread has ended */
    HANDLE busy;           /* process that the watching thread is changing; NULL: none. `lock` protects this and
                              busy_since */
    ULONGLONG busy_since;
    struct seen *seen; /* processes that need no further action */
    size_t seen_count, seen_room;
    uint8_t *list; /* list of the system's processes */
    size_t list_room;
    struct pending pending[PENDING];
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

static bool is_seen(const struct api_watch *w, DWORD id, int64_t created)
{
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i].id == id && w->seen[i].created == created)
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

/* Checks the program of a process. S_OK: it is ours. S_FALSE: it cannot be read yet. E_FAIL: it is another program. */
static HRESULT is_program(const struct api_watch *w, HANDLE process)
{
    WCHAR path[MAX_PATH * 4];
    DWORD units = sizeof path / sizeof *path;
    if (!QueryFullProcessImageNameW(process, 0, path, &units))
        return S_FALSE;
    return _wcsicmp(path, w->program) == 0 ? S_OK : E_FAIL;
}

static void pending_close(struct pending *p)
{
    if (p->thread)
        CloseHandle(p->thread);
    CloseHandle(p->entry.process);
    p->used = false;
}

static struct pending *free_pending(struct api_watch *w)
{
    for (size_t i = 0; i < PENDING; i++)
        if (!w->pending[i].used)
            return &w->pending[i];
    return NULL;
}

static void set_busy(struct api_watch *w, HANDLE process)
{
    lock_enter(&w->lock);
    w->busy = process;
    w->busy_since = GetTickCount64();
    lock_leave(&w->lock);
}

/* Allocates memory in the process, in order to wake it. Blocks like the watching thread, at most until the process
   exits. Closes the handle. */
static DWORD WINAPI wake_process(void *process)
{
    void *page = VirtualAllocEx(process, NULL, PAGE_BYTES, MEM_RESERVE, PAGE_NOACCESS);
    if (page)
        VirtualFreeEx(process, page, 0, MEM_RELEASE);
    CloseHandle(process);
    return 0;
}

static DWORD WINAPI guard_run(void *argument)
{
    struct api_watch *w = argument;
    while (WaitForSingleObject(w->watched, GUARD_POLL_MS) == WAIT_TIMEOUT) {
        HANDLE process = NULL;
        lock_enter(&w->lock);
        if (w->busy && GetTickCount64() - w->busy_since > GUARD_WAIT_MS) {
            if (!DuplicateHandle(GetCurrentProcess(), w->busy, GetCurrentProcess(), &process, 0, FALSE,
                                 DUPLICATE_SAME_ACCESS))
                process = NULL;
            w->busy_since = GetTickCount64();
        }
        lock_leave(&w->lock);
        HANDLE thread = process ? CreateThread(NULL, 0, wake_process, process, 0, NULL) : NULL;
        if (thread)
            CloseHandle(thread);
        else if (process)
            CloseHandle(process);
    }
    return 0;
}

/* Injects into a process. Returns true if it needs no further action. `first`: it was running before the watcher. */
static bool take_process(struct api_watch *w, DWORD id, bool first, struct pending *p)
{
    HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, id);
    if (!process) {
        const DWORD code = GetLastError();
        if (code == ERROR_ACCESS_DENIED)
            note_failure(
                w, api_inject_failed(w->text, "another account's process, or a protected one, cannot be opened", code));
        return true;
    }
    HRESULT hr = is_program(w, process);
    p->thread = NULL;
    set_busy(w, process);
    if (hr == S_OK && first) {
        hr = api_attach_begin(process, w->text, &p->entry, &p->thread);
        if (FAILED(hr))
            note_failure(w, hr);
    } else if (hr == S_OK && NtSuspendProcess(process) >= 0) {
        hr = api_entry_replace(process, w->text, &p->entry);
        NtResumeProcess(process);
        if (FAILED(hr))
            note_failure(w, hr);
    }
    set_busy(w, NULL);
    if (hr != S_OK) {
        CloseHandle(process);
        return FAILED(hr);
    }
    p->used = true;
    p->since = GetTickCount64();
    return true;
}

static int64_t now_utc(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return (int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime);
}

/* Checks all processes of this name. `first`: they were running before the watcher. */
static void check_processes(struct api_watch *w, bool first)
{
    enum { TICKS_PER_MS = 10000 };
    if (!list_processes(w))
        return;
    const size_t length = wcslen(w->name) * sizeof(WCHAR);
    const size_t before = w->seen_count;
    size_t kept = 0;
    for (const uint8_t *at = w->list;;) {
        const SYSTEM_PROCESS_INFORMATION *s = (const void *)at;
        const UNICODE_STRING *name = (const void *)(at + 0x38);
        const int64_t *created = (const void *)(at + 0x20);
        const DWORD id = (DWORD)(ULONG_PTR)s->UniqueProcessId;
        if (name->Buffer && name->Length == length && _wcsnicmp(name->Buffer, w->name, length / sizeof(WCHAR)) == 0) {
            struct pending *p = free_pending(w);
            bool done = (first && !w->attach) || is_seen(w, id, *created);
            if (!done && p)
                done = take_process(w, id, first, p) || now_utc() - *created > (int64_t)SETTLE_MS * TICKS_PER_MS;
            if (done)
                add_seen(w, id, *created);
        }
        if (!s->NextEntryOffset)
            break;
        at += s->NextEntryOffset;
    }
    /* Keep only the entries of this check, because the ids of exited processes can be reused. */
    for (size_t i = before; i < w->seen_count; i++)
        w->seen[kept++] = w->seen[i];
    w->seen_count = kept;
}

/* Returns true if the process needs no further action. */
static bool reap_attached(struct api_watch *w, struct pending *p)
{
    DWORD code = 0;
    if (WaitForSingleObject(p->thread, 0) == WAIT_OBJECT_0) {
        GetExitCodeThread(p->thread, &code);
        if (code)
            atomic_fetch_add(&w->attached, 1);
        else
            note_failure(w, api_inject_failed(w->text, API_TRACE_DLL " cannot be loaded into its process",
                                              ERROR_DLL_INIT_FAILED));
    } else if (GetTickCount64() - p->since > API_THREAD_WAIT_MS) {
        note_failure(w, api_inject_failed(w->text, "its process does not load " API_TRACE_DLL, WAIT_TIMEOUT));
    } else {
        return false;
    }
    return true;
}

static void reap_pending(struct api_watch *w)
{
    for (struct pending *p = w->pending; p < w->pending + PENDING; p++) {
        if (!p->used)
            continue;
        if (WaitForSingleObject(p->entry.process, 0) == WAIT_OBJECT_0) {
            /* ended */
        } else if (p->thread) {
            if (!reap_attached(w, p))
                continue;
        } else if (api_entry_is_done(&p->entry)) {
            api_entry_protect(&p->entry);
        } else if (GetTickCount64() - p->since > ENTRY_WAIT_MS) {
            if (api_entry_load_by_thread(&p->entry))
                atomic_fetch_add(&w->late, 1);
            else
                note_failure(
                    w, api_inject_failed(w->text, API_TRACE_DLL " cannot be loaded into its process", GetLastError()));
        } else {
            continue;
        }
        pending_close(p);
    }
}

static DWORD WINAPI watch_run(void *argument)
{
    struct api_watch *w = argument;
    uint32_t mark = windows_threads_mark();
    ULONGLONG hot = GetTickCount64() + HOT_MS;
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
    check_processes(w, true);
    SetEvent(w->ready);
    while (WaitForSingleObject(w->stopped, GetTickCount64() < hot ? HOT_POLL_MS : POLL_MS) == WAIT_TIMEOUT) {
        const uint32_t now = windows_threads_mark();
        if (now != mark)
            hot = GetTickCount64() + HOT_MS;
        mark = now;
        reap_pending(w);
        if (GetTickCount64() < hot)
            check_processes(w, false);
    }
    /* Some processes may not have reached their entry point yet. The stub works without us, but only we can restore the
       protection of the page. */
    for (int i = 0; i < HOT_MS; i++) {
        reap_pending(w);
        Sleep(1);
    }
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
        w->stopped = CreateEventW(NULL, TRUE, FALSE, NULL);
        w->ready = CreateEventW(NULL, TRUE, FALSE, NULL);
        w->watched = CreateEventW(NULL, TRUE, FALSE, NULL);
        w->guard = w->watched ? CreateThread(NULL, 0, guard_run, w, 0, NULL) : NULL;
        w->thread = w->stopped && w->ready && w->guard ? CreateThread(NULL, 0, watch_run, w, 0, NULL) : NULL;
        if (!w->thread)
            hr = error_set(HRESULT_FROM_WIN32(GetLastError()), "API tracing: cannot start the watching thread");
    }
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        api_watch_stop(w);
        return error_restore(&why);
    }
    WaitForSingleObject(w->ready, API_THREAD_WAIT_MS);
    *out = w;
    return S_OK;
}

void api_watch_stop(struct api_watch *w)
{
    if (!w)
        return;
    if (w->thread) {
        SetEvent(w->stopped);
        WaitForSingleObject(w->thread, INFINITE);
        CloseHandle(w->thread);
    }
    if (w->guard) {
        SetEvent(w->watched);
        WaitForSingleObject(w->guard, INFINITE);
        CloseHandle(w->guard);
    }
    if (w->watched)
        CloseHandle(w->watched);
    for (struct pending *p = w->pending; p < w->pending + PENDING; p++)
        if (p->used)
            pending_close(p);
    if (w->stopped)
        CloseHandle(w->stopped);
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
