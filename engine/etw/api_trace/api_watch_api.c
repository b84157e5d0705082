/* SPDX-License-Identifier: MIT */
/* Watches for new processes and injects openapitrace.dll at their entry point.

   Windows has no event for a new process that works for every account, and Wine has no such event. Every 6 ms, the
   watcher queries a number that changes with the processes and threads (windows_threads_mark), which costs
   microseconds. It lists the processes only while the number changes and for a short time afterwards. It suspends a new
   process of the program, replaces the first bytes at its entry point with a jump to a stub in new memory, and resumes
   the process:

       entry point: mov rax, stub; jmp rax             (replaces 12 of the 16 saved bytes)
       stub:        save the argument registers; LoadLibraryW(dll); restore the 16 bytes;
                    set `done`; restore the registers; jump to the entry point

   Thus the program's first thread loads the DLL, after the loader has resolved all imports and before the program runs
   any code other than TLS callbacks. When `done` is set, the watcher restores the protection of the entry point's page.
   A process that does not reach the stub within 3 seconds had already passed its entry point. In this case the watcher
   restores the bytes and loads the DLL with a remote thread; the first calls of the process are missed. The stub needs
   only LoadLibraryW, so the program works even if the watcher is killed.

   To allocate memory in another process, Wine sends a request to one of its threads, which a signal wakes. A thread
   that has just started can miss the signal, and the watching thread would then wait until the process exits. A second
   thread, the guard, detects this and also allocates memory in the process, which sends another signal. The process
   then counts as late.

   A 32-bit process loads the DLL from the folder x86, with different code (api_entry_32.h).

   To attach to a process that is already running, a remote thread loads the DLL, too. The watcher does not wait for
   this thread: in a stopped process it would not return, and the watcher would miss new processes while it waits. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/api_trace/api_entry_32.h"
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
    HOT_MS = 150,         /* time after the last change of the processes */
    ENTRY_WAIT_MS = 3000, /* maximum time until a process reaches its entry point */
    THREAD_WAIT_MS = 10000,
    SETTLE_MS = 2000, /* how long a new process is checked again if its program cannot be read yet */
    PENDING = 256,
    LIST_ROOM = 1 << 16,
    LIST_ROOM_MOST = 1 << 26,
    ENTRY_BYTES = 16,
    STUB_ROOM = 4096,
    STUB_DONE = 1024,
    STUB_PATH = 2048,
    PATH_UNITS = (STUB_ROOM - STUB_PATH) / sizeof(WCHAR),
    HEADERS_ROOM = 4096,
    CALIBRATE_MS = 20,
    GUARD_POLL_MS = 500,
    GUARD_WAIT_MS = 1500, /* maximum time for changing a process before the guard acts */
};

/* ---- injection ---- */

/* A process whose entry point leads to the stub. */
struct entry {
    HANDLE process;
    uint8_t *stub, *entry;
    uint8_t *done;            /* address in the process of the flag that the stub sets */
    void *routine, *argument; /* for a remote thread that loads the DLL */
    uint8_t kept[ENTRY_BYTES];
    DWORD protection;
};

static HRESULT failed_with(const char *name, const char *what, DWORD code)
{
    return error_set(HRESULT_FROM_WIN32(code ? code : ERROR_GEN_FAILURE), "cannot trace '%s': %s (error %lu)", name,
                     what, code);
}

static HRESULT failed(const char *name, const char *what)
{
    return failed_with(name, what, GetLastError());
}

static bool read_memory(HANDLE process, const void *from, void *to, size_t size)
{
    SIZE_T got = 0;
    return ReadProcessMemory(process, from, to, size, &got) && got == size;
}

static bool write_memory(HANDLE process, void *to, const void *from, size_t size)
{
    SIZE_T done = 0;
    return WriteProcessMemory(process, to, from, size, &done) && done == size;
}

static bool is_narrow(HANDLE process)
{
    BOOL narrow = FALSE;
    return IsWow64Process(process, &narrow) && narrow;
}

/* Returns the base address of the program, from the PEB of its process. */
static uint8_t *program_base(HANDLE process)
{
    enum { IMAGE_BASE_32 = 8 }; /* in a 32-bit PEB */
    PROCESS_BASIC_INFORMATION basic;
    uint8_t *base = NULL;
    if (is_narrow(process)) {
        ULONG_PTR peb = 0;
        uint32_t base_32 = 0;
        return NtQueryInformationProcess(process, ProcessWow64Information, &peb, sizeof peb, NULL) >= 0 && peb &&
                       read_memory(process, (uint8_t *)peb + IMAGE_BASE_32, &base_32, sizeof base_32)
                   ? (uint8_t *)(uintptr_t)base_32
                   : NULL;
    }
    return NtQueryInformationProcess(process, ProcessBasicInformation, &basic, sizeof basic, NULL) >= 0 &&
                   basic.PebBaseAddress &&
                   read_memory(process, (uint8_t *)basic.PebBaseAddress + offsetof(PEB, Reserved3[1]), &base,
                               sizeof base)
               ? base
               : NULL;
}

/* Finds the entry point of the program. S_FALSE: the process is not ready yet. */
static HRESULT find_entry(HANDLE process, const char *name, uint8_t **entry)
{
    uint8_t head[HEADERS_ROOM];
    IMAGE_DOS_HEADER dos;
    IMAGE_NT_HEADERS64 nt; /* its beginning, up to the entry point, is the same in 32-bit programs */
    const WORD magic = is_narrow(process) ? IMAGE_NT_OPTIONAL_HDR32_MAGIC : IMAGE_NT_OPTIONAL_HDR64_MAGIC;
    uint8_t *base = program_base(process);
    if (!base || !read_memory(process, base, head, sizeof head))
        return S_FALSE;
    memcpy(&dos, head, sizeof dos);
    if (dos.e_lfanew < 0 || (size_t)dos.e_lfanew > sizeof head - sizeof nt)
        return failed_with(name, "its headers are not readable", ERROR_BAD_EXE_FORMAT);
    memcpy(&nt, head + dos.e_lfanew, sizeof nt);
    if (nt.OptionalHeader.Magic != magic || !nt.OptionalHeader.AddressOfEntryPoint)
        return failed_with(name, "it has no entry point", ERROR_BAD_EXE_FORMAT);
    *entry = base + nt.OptionalHeader.AddressOfEntryPoint;
    return S_OK;
}

struct code {
    uint8_t bytes[256];
    size_t size;
};

static void code_add(struct code *c, const void *bytes, size_t size)
{
    memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
}

static void code_add_move(struct code *c, const char *instruction, uint64_t value)
{
    code_add(c, instruction, 2);
    code_add(c, &value, sizeof value);
}

/* Assembles the stub, which will be at e->stub. */
static void make_stub(const struct entry *e, struct code *c)
{
    const uintptr_t path = (uintptr_t)(e->stub + STUB_PATH), done = (uintptr_t)e->done;
    uint64_t kept[2];
    memcpy(kept, e->kept, sizeof kept);
    c->size = 0;
    code_add(c, "\x51\x52\x41\x50\x41\x51\x48\x83\xEC\x28", 10); /* push rcx, rdx, r8, r9; sub rsp, 28h */
    code_add_move(c, "\x48\xB9", path);                          /* mov rcx, path */
    code_add_move(c, "\x48\xB8", (uintptr_t)LoadLibraryW); /* mov rax, LoadLibraryW, at one address in all processes */
    code_add(c, "\xFF\xD0", 2);                            /* call rax */
    code_add_move(c, "\x48\xB8", (uintptr_t)e->entry);     /* mov rax, entry */
    code_add_move(c, "\x48\xBA", kept[0]);                 /* mov rdx, first half */
    code_add(c, "\x48\x89\x10", 3);                        /* mov [rax], rdx */
    code_add_move(c, "\x48\xBA", kept[1]);
    code_add(c, "\x48\x89\x50\x08", 4); /* mov [rax+8], rdx */
    code_add_move(c, "\x48\xBA", done); /* mov rdx, done */
    code_add(c, "\xC6\x02\x01", 3);     /* mov byte [rdx], 1 */
    code_add(c, "\x48\x83\xC4\x28\x41\x59\x41\x58\x5A\x59\xFF\xE0",
             12); /* add rsp, 28h; pop r9, r8, rdx, rcx; jmp rax */
}

/* Returns the path of the DLL for 64-bit or (`narrow`) 32-bit programs; from memory_alloc. */
static char *dll_name(bool narrow)
{
    char *folder = os_module_folder();
    char *path = folder ? text_format(narrow ? "%s\\x86\\%s" : "%s\\%s", folder, API_TRACE_DLL) : NULL;
    memory_free(folder);
    return path;
}

/* Finds the DLL for a process of that bitness. */
static HRESULT find_dll(const char *name, bool narrow, WCHAR out[PATH_UNITS])
{
    WCHAR *wide = NULL;
    size_t units = 0;
    char *path = dll_name(narrow);
    const bool good = path && SUCCEEDED(text_to_utf16(path, &wide, &units)) && units < PATH_UNITS;
    if (good)
        memcpy(out, wide, (units + 1) * sizeof(WCHAR));
    memory_free(wide);
    memory_free(path);
    if (!good)
        return failed_with(name, "the path of " API_TRACE_DLL " is too long", ERROR_BAD_PATHNAME);
    if (GetFileAttributesW(out) == INVALID_FILE_ATTRIBUTES)
        return failed(name, narrow ? API_TRACE_DLL " is missing in the folder x86 beside this program"
                                   : API_TRACE_DLL " is missing beside this program");
    return S_OK;
}

/* Writes the stub of a 64-bit process. */
static bool stub_write(struct entry *e, const WCHAR *path)
{
    struct code code = {.size = 0};
    e->done = e->stub + STUB_DONE;
    e->routine = (void *)LoadLibraryW;
    e->argument = e->stub + STUB_PATH;
    make_stub(e, &code);
    return write_memory(e->process, e->stub, code.bytes, code.size) &&
           write_memory(e->process, e->stub + STUB_PATH, path, (wcslen(path) + 1) * sizeof(WCHAR));
}

/* Writes the stub of a 32-bit process. */
static bool stub_write_32(struct entry *e, const WCHAR *path)
{
    uint8_t bytes[API_ENTRY_32_ROOM];
    struct api_entry_32_places places = {0};
    const size_t size =
        api_entry_32_write((uint32_t)(uintptr_t)e->stub, (uint32_t)(uintptr_t)e->entry, e->kept, path, bytes, &places);
    e->done = e->stub + places.done;
    e->routine = e->stub + places.thread;
    return size && (uintptr_t)e->stub <= UINT32_MAX && write_memory(e->process, e->stub, bytes, size);
}

/* Allocates and writes the stub; `e->entry` is NULL if only a remote thread will run it. */
static HRESULT stub_create(struct entry *e, const char *name)
{
    WCHAR path[PATH_UNITS];
    const bool narrow = is_narrow(e->process);
    HRESULT hr = find_dll(name, narrow, path);
    if (FAILED(hr))
        return hr;
    e->stub = VirtualAllocEx(e->process, NULL, STUB_ROOM, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
    if (!e->stub || (e->entry && !read_memory(e->process, e->entry, e->kept, sizeof e->kept)))
        return failed(name, "its memory is not accessible");
    return (narrow ? stub_write_32 : stub_write)(e, path) ? S_OK : failed(name, "its memory cannot be changed");
}

/* Makes the entry point of a suspended process jump to the stub. S_FALSE: as find_entry. */
static HRESULT entry_replace(HANDLE process, const char *name, struct entry *e)
{
    uint8_t jump[ENTRY_BYTES];
    *e = (struct entry){.process = process};
    HRESULT hr = find_entry(process, name, &e->entry);
    if (hr == S_OK)
        hr = stub_create(e, name);
    if (hr != S_OK)
        return hr;
    memcpy(jump, e->kept, sizeof jump);
    if (is_narrow(process)) {
        api_entry_32_jump((uint32_t)(uintptr_t)e->stub, (uint32_t)(uintptr_t)e->entry, jump);
    } else {
        const uint64_t stub = (uintptr_t)e->stub;
        memcpy(jump, "\x48\xB8", 2);
        memcpy(jump + 2, &stub, sizeof stub);
        memcpy(jump + 10, "\xFF\xE0", 2);
    }
    if (!VirtualProtectEx(process, e->entry, ENTRY_BYTES, PAGE_EXECUTE_READWRITE, &e->protection))
        return failed(name, "its memory cannot be changed");
    return write_memory(process, e->entry, jump, sizeof jump) ? S_OK
                                                              : failed(name, "its entry point cannot be changed");
}

static bool entry_is_done(const struct entry *e)
{
    uint8_t done = 0;
    return read_memory(e->process, e->done, &done, sizeof done) && done;
}

static void entry_protect(const struct entry *e)
{
    DWORD before;
    VirtualProtectEx(e->process, e->entry, ENTRY_BYTES, e->protection, &before);
}

static HANDLE entry_thread(const struct entry *e)
{
    return CreateRemoteThread(e->process, NULL, 0, (LPTHREAD_START_ROUTINE)e->routine, e->argument, 0, NULL);
}

/* Loads the DLL into a process that has passed its entry point. */
static bool load_by_thread(const struct entry *e)
{
    DWORD code = 0;
    write_memory(e->process, e->entry, e->kept, sizeof e->kept);
    entry_protect(e);
    HANDLE thread = entry_thread(e);
    if (!thread)
        return false;
    if (WaitForSingleObject(thread, THREAD_WAIT_MS) == WAIT_OBJECT_0)
        GetExitCodeThread(thread, &code);
    CloseHandle(thread);
    return code != 0;
}

/* Starts a remote thread that loads the DLL in a running process. */
static HRESULT attach_begin(HANDLE process, const char *name, struct entry *e, HANDLE *thread)
{
    *e = (struct entry){.process = process};
    HRESULT hr = stub_create(e, name);
    if (FAILED(hr))
        return hr;
    *thread = entry_thread(e);
    return *thread ? S_OK : failed(name, "no thread can be created in it");
}

HRESULT api_trace_inject(void *process, const char *name)
{
    struct entry e;
    HRESULT hr = entry_replace(process, name, &e);
    return hr == S_FALSE ? failed_with(name, "its process cannot be read", ERROR_PARTIAL_COPY) : hr;
}

/* ---- the watcher ---- */

struct seen {
    DWORD id;
    int64_t created;
};
struct pending {
    struct entry entry;
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
    void *page = VirtualAllocEx(process, NULL, STUB_ROOM, MEM_RESERVE, PAGE_NOACCESS);
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
            note_failure(w,
                         failed_with(w->text, "another account's process, or a protected one, cannot be opened", code));
        return true;
    }
    HRESULT hr = is_program(w, process);
    p->thread = NULL;
    set_busy(w, process);
    if (hr == S_OK && first) {
        hr = attach_begin(process, w->text, &p->entry, &p->thread);
        if (FAILED(hr))
            note_failure(w, hr);
    } else if (hr == S_OK && NtSuspendProcess(process) >= 0) {
        hr = entry_replace(process, w->text, &p->entry);
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
            note_failure(
                w, failed_with(w->text, API_TRACE_DLL " cannot be loaded into its process", ERROR_DLL_INIT_FAILED));
    } else if (GetTickCount64() - p->since > THREAD_WAIT_MS) {
        note_failure(w, failed_with(w->text, "its process does not load " API_TRACE_DLL, WAIT_TIMEOUT));
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
        } else if (entry_is_done(&p->entry)) {
            entry_protect(&p->entry);
        } else if (GetTickCount64() - p->since > ENTRY_WAIT_MS) {
            if (load_by_thread(&p->entry))
                atomic_fetch_add(&w->late, 1);
            else
                note_failure(w, failed(w->text, API_TRACE_DLL " cannot be loaded into its process"));
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

HRESULT api_trace_supported(void)
{
    return S_OK;
}

HRESULT api_trace_supports_32(const char *name)
{
    WCHAR path[MAX_PATH + 16];
    const UINT units = GetSystemWow64DirectoryW(path, MAX_PATH);
    if (units && units < MAX_PATH)
        wcscpy(path + units, L"\\ntdll.dll");
    if (!units || units >= MAX_PATH || GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                         "cannot trace '%s': it is a 32-bit program, and this Wine runs only 64-bit programs (install "
                         "its 32-bit part, in Debian wine32:i386)",
                         name);
    char *dll = dll_name(true);
    HRESULT hr = dll ? S_OK : E_OUTOFMEMORY;
    if (dll && !file_exists(dll))
        hr =
            error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                      "cannot trace '%s': it is a 32-bit program, and '%s' does not exist (install OpenPLA's files for "
                      "32-bit programs)",
                      name, dll);
    memory_free(dll);
    return hr;
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
    WaitForSingleObject(w->ready, THREAD_WAIT_MS);
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
