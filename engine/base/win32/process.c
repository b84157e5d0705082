/* SPDX-License-Identifier: MIT */
/* Processes on Windows. */
#include "engine/base/process.h"

#include "engine/base/clock.h"
#include "engine/base/command_line.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <stddef.h>
#include <winternl.h>
#include <sddl.h>
#include <string.h>
#include <tlhelp32.h>
#include <wchar.h>

struct process {
    HANDLE handle;
    DWORD id;
};

/* Joins the program's name and its arguments, quoted so that the started program's C runtime splits them again. */
static HRESULT command_line(const struct program *program, WCHAR **out)
{
    struct command_line line = {0};
    command_line_argument(&line, program->path);
    for (size_t i = 0; i < program->argument_count; i++)
        command_line_argument(&line, program->arguments[i]);
    *out = NULL;
    char *text = command_line_take(&line);
    char *whole = text && program->line ? text_format("%s %s", text, program->line) : text;
    HRESULT hr = whole ? text_to_utf16(whole, out, NULL) : E_OUTOFMEMORY;
    if (whole != text)
        memory_free(whole);
    memory_free(text);
    return hr;
}

/* Under Wine, about one in several thousand processes dies before its program has run, because the host OS placed its
   heap where Wine's data must be. CreateProcess then reports an internal error. */
#define DIES_AT_BIRTH ERROR_INTERNAL_ERROR
#define BIRTHS        5

/* The arguments of CreateProcess except its flags. */
struct start {
    WCHAR *path, *line;
    WCHAR *directory; /* NULL: ours */
    bool console;
    HANDLE token; /* NULL: ours */
    SECURITY_ATTRIBUTES security;
    LPPROC_THREAD_ATTRIBUTE_LIST attributes; /* NULL: none */
    bool inherits;
    HANDLE job; /* until job_release, the job's process is terminated when this process exits; NULL: none */
};

/* ---- processes that are not created completely ----
   CreateProcess creates a suspended process and resumes it before it returns. Under Wine, if the creator is killed
   between these two steps, the new process stays suspended forever, because no other process has a handle of the new
   process. wineserver then never exits. Therefore the process is created in a job that is terminated when its last
   handle is closed. After CreateProcess has returned, this limit is removed from the job. */

#define JOB_LIMITS (JOB_OBJECT_LIMIT_BREAKAWAY_OK | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)

static bool job_limit(HANDLE job, DWORD limits)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = {.BasicLimitInformation.LimitFlags = limits};
    return SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit);
}

/* NULL: the process is created without a job. */
static HANDLE job_create(const struct program *program)
{
    HANDLE job = program->is_whole_or_none && os_is_wine() ? CreateJobObjectW(NULL, NULL) : NULL;
    if (job && !job_limit(job, JOB_LIMITS | JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)) {
        CloseHandle(job);
        job = NULL;
    }
    return job;
}

static void job_release(HANDLE job)
{
    if (!job)
        return;
    (void)job_limit(job, JOB_LIMITS);
    CloseHandle(job);
}

/* ---- attributes ---- */

static bool attribute_put(struct start *s, DWORD_PTR attribute, const void *value, size_t size)
{
    return !size || UpdateProcThreadAttribute(s->attributes, 0, attribute, (void *)value, size, NULL, NULL);
}

/* Sets the job of the process, and the handles that it inherits. The process inherits no other handles, even if they
   are inheritable. */
static HRESULT attributes_create(const struct program *program, struct start *s)
{
    SIZE_T size = 0;
    s->inherits = program->handle_count != 0;
    if (!s->inherits && !s->job)
        return S_OK;
    InitializeProcThreadAttributeList(NULL, 2, 0, &size);
    LPPROC_THREAD_ATTRIBUTE_LIST list = memory_zero(1, size);
    if (!list)
        return E_OUTOFMEMORY;
    if (!InitializeProcThreadAttributeList(list, 2, 0, &size)) {
        memory_free(list);
        return win32_failed(GetLastError(), program->path);
    }
    s->attributes = list;
    return attribute_put(s, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, program->handles,
                         program->handle_count * sizeof(HANDLE)) &&
                   attribute_put(s, PROC_THREAD_ATTRIBUTE_JOB_LIST, &s->job, s->job ? sizeof s->job : 0)
               ? S_OK
               : win32_failed(GetLastError(), program->path);
}

static void attributes_free(LPPROC_THREAD_ATTRIBUTE_LIST list)
{
    if (!list)
        return;
    DeleteProcThreadAttributeList(list);
    memory_free(list);
}

static BOOL process_create(struct start *s, DWORD flags, PROCESS_INFORMATION *started)
{
    STARTUPINFOEXW startup = {.StartupInfo.cb = sizeof(startup.StartupInfo), .lpAttributeList = s->attributes};
    const BOOL inherits = s->inherits;
    if (s->console) { /* also hides the first window, if the program has one */
        startup.StartupInfo.dwFlags = STARTF_USESHOWWINDOW;
        startup.StartupInfo.wShowWindow = SW_HIDE;
    }
    if (s->attributes) {
        startup.StartupInfo.cb = sizeof startup;
        flags |= EXTENDED_STARTUPINFO_PRESENT;
    }
    if (s->token)
        return CreateProcessAsUserW(s->token, s->path, s->line, &s->security, NULL, inherits, flags, NULL, s->directory,
                                    &startup.StartupInfo, started);
    return CreateProcessW(s->path, s->line, &s->security, NULL, inherits, flags, NULL, s->directory,
                          &startup.StartupInfo, started);
}

static BOOL create_alive(struct start *s, PROCESS_INFORMATION *started)
{
    /* A separate process group. Under Wine this also prevents the process from inheriting this process's Unix standard
       input and output. */
    DWORD flags = (s->console ? CREATE_NO_WINDOW : DETACHED_PROCESS) | CREATE_NEW_PROCESS_GROUP;
    BOOL ok = FALSE;

    for (int births = 0; !ok && births < BIRTHS; births++) {
        ok = process_create(s, flags | CREATE_BREAKAWAY_FROM_JOB, started);
        if (!ok && GetLastError() == ERROR_ACCESS_DENIED) /* the process is in a job that does not allow breakaway */
            ok = process_create(s, flags, started);
        if (!ok && GetLastError() != DIES_AT_BIRTH)
            break;
    }
    return ok;
}

HRESULT process_start(const struct program *program, struct process **out)
{
    const struct account *account = program->account;
    PROCESS_INFORMATION started = {0};
    struct start s = {.console = program->console, .token = account ? account->token : NULL};
    struct process *p = memory_alloc(sizeof(*p));
    HRESULT hr = p ? S_OK : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr) && account && !account->token)
        hr = error_set(PLA_E_CREDENTIALS_REQUIRED, "cannot run '%s' as '%s': the account is not logged on",
                       program->path, account->name);
    if (SUCCEEDED(hr))
        hr = win32_path(program->path, &s.path);
    if (SUCCEEDED(hr) && program->directory)
        hr = win32_path(program->directory, &s.directory);
    if (SUCCEEDED(hr))
        hr = command_line(program, &s.line);
    if (SUCCEEDED(hr))
        hr = win32_security(program->security, &s.security);
    if (SUCCEEDED(hr))
        s.job = job_create(program);
    if (SUCCEEDED(hr))
        hr = attributes_create(program, &s);
    if (SUCCEEDED(hr)) {
        if (create_alive(&s, &started)) {
            if (started.hProcess) /* NULL: a Linux program, for which Wine does not set hThread */
                CloseHandle(started.hThread);
            p->handle = started.hProcess;
            p->id = started.hProcess ? started.dwProcessId : 0;
            *out = p;
            TRACE_STEP(base, "process %u started: %s", (unsigned)p->id, program->path);
        } else {
            hr = win32_failed(GetLastError(), program->path);
        }
    }
    attributes_free(s.attributes);
    job_release(s.job);
    LocalFree(s.security.lpSecurityDescriptor);
    memory_free(s.path);
    memory_free(s.line);
    memory_free(s.directory);
    if (FAILED(hr))
        memory_free(p);
    return hr;
}

uint32_t process_id(const struct process *p)
{
    return p->id;
}

HANDLE process_handle(const struct process *p)
{
    return p->handle;
}

HRESULT process_wait(struct process *p, uint32_t timeout_ms, uint32_t *exit_code)
{
    DWORD code = 0;
    if (!p->handle) { /* a Linux program */
        if (exit_code)
            *exit_code = 0;
        return S_OK;
    }
    switch (WaitForSingleObject(p->handle, timeout_ms)) {
    case WAIT_OBJECT_0:
        if (!GetExitCodeProcess(p->handle, &code))
            return win32_failed(GetLastError(), "exit code");
        if (exit_code)
            *exit_code = code;
        return S_OK;
    case WAIT_TIMEOUT:
        return S_FALSE;
    default:
        return win32_failed(GetLastError(), "waiting for a process");
    }
}

void process_close(struct process *p)
{
    if (!p)
        return;
    if (p->handle)
        CloseHandle(p->handle);
    memory_free(p);
}

uint32_t process_own_id(void)
{
    return GetCurrentProcessId();
}

char *process_own_sid(void)
{
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    DWORD length;
    HANDLE token;
    WCHAR *sid;
    char *text = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    if (GetTokenInformation(token, TokenUser, &owner, sizeof(owner), &length) &&
        ConvertSidToStringSidW(owner.user.User.Sid, &sid)) {
        text_from_utf16(sid, wcslen(sid), true, &text);
        LocalFree(sid);
    }
    CloseHandle(token);
    return text;
}

static uint64_t creation_time(HANDLE process)
{
    FILETIME created, other[3];
    if (!GetProcessTimes(process, &created, &other[0], &other[1], &other[2]))
        return 0;
    return (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
}

uint64_t process_start_time(uint32_t id)
{
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, id);
    if (!process)
        return 0;
    uint64_t created = creation_time(process);
    CloseHandle(process);
    return created;
}

#define PROCESS_LIST_MAX   (64u << 20) /* bytes; a few hundred per process and 64 per thread */
#define PROCESS_LIST_FIRST (256u << 10)
#define LIST_TOO_SHORT     ((NTSTATUS)0xC0000004) /* STATUS_INFO_LENGTH_MISMATCH */

/* Returns the system's list of its processes, from memory_alloc. NULL: not available. */
static char *process_list(ULONG *size)
{
    FARPROC found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation");
    NTSTATUS(NTAPI * query)(SYSTEM_INFORMATION_CLASS class, void *out, ULONG room, ULONG *needed);
    memcpy(&query, &found, sizeof query);
    for (ULONG room = PROCESS_LIST_FIRST; found && room <= PROCESS_LIST_MAX; room *= 2) {
        char *list = memory_alloc(room);
        NTSTATUS status = list ? query(SystemProcessInformation, list, room, size) : -1;
        if (status >= 0 && *size <= room)
            return list;
        memory_free(list);
        if (status != LIST_TOO_SHORT)
            break;
    }
    return NULL;
}

uint32_t process_own_threads(void)
{
    const ULONG head = offsetof(SYSTEM_PROCESS_INFORMATION, HandleCount), own = GetCurrentProcessId();
    ULONG size = 0;
    char *list = process_list(&size);
    uint32_t threads = 0;
    for (ULONG at = 0; list && threads == 0 && size >= head && at <= size - head;) {
        SYSTEM_PROCESS_INFORMATION entry;
        memcpy(&entry, list + at, head);
        if ((ULONG)(uintptr_t)entry.UniqueProcessId == own)
            threads = entry.NumberOfThreads;
        if (!entry.NextEntryOffset || entry.NextEntryOffset > size - at)
            break;
        at += entry.NextEntryOffset;
    }
    memory_free(list);
    return threads;
}

/* Finds the creation time of the process in the system's list. The search requires no rights to the process. 0: the
   process does not exist. The function is slow, because the whole list is copied. */
static uint64_t listed_creation_time(uint32_t id)
{
    const ULONG head = offsetof(SYSTEM_PROCESS_INFORMATION, HandleCount);
    ULONG size = 0;
    char *list = process_list(&size);
    uint64_t created = 0;
    for (ULONG at = 0; list && !created && size >= head && at <= size - head;) {
        SYSTEM_PROCESS_INFORMATION entry;
        memcpy(&entry, list + at, head);
        if ((uint32_t)(uintptr_t)entry.UniqueProcessId == id)
            created = (uint64_t)entry.CreateTime.QuadPart;
        if (!entry.NextEntryOffset || entry.NextEntryOffset > size - at)
            break;
        at += entry.NextEntryOffset;
    }
    memory_free(list);
    return created;
}

bool process_alive(uint32_t id, uint64_t start_time)
{
    if (!start_time)
        return false;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, id);
    if (!process) /* access denied: either the process runs under an account whose processes cannot be opened, or
                     another process has got its id */
        return GetLastError() == ERROR_ACCESS_DENIED && listed_creation_time(id) == start_time;
    bool alive = creation_time(process) == start_time && WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    CloseHandle(process);
    return alive;
}

HRESULT process_open(uint32_t id, uint64_t start_time, struct process **out)
{
    *out = NULL;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, id);
    if (!process)
        return GetLastError() == ERROR_INVALID_PARAMETER ? S_FALSE
                                                         : win32_failed(GetLastError(), "waiting for a process");
    const bool alive =
        start_time && creation_time(process) == start_time && WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    struct process *p = alive ? memory_alloc(sizeof(*p)) : NULL;
    if (!p) {
        CloseHandle(process);
        return alive ? E_OUTOFMEMORY : S_FALSE;
    }
    p->handle = process;
    p->id = id;
    *out = p;
    return S_OK;
}

bool process_has_thread(uint32_t id, uint64_t start_time, uint32_t thread)
{
    HANDLE opened = OpenThread(THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, thread);
    if (!opened) /* access denied: only the process can be checked */
        return GetLastError() == ERROR_ACCESS_DENIED && process_alive(id, start_time);
    const bool runs = GetProcessIdOfThread(opened) == id && WaitForSingleObject(opened, 0) == WAIT_TIMEOUT;
    CloseHandle(opened);
    return runs && process_alive(id, start_time);
}

#define IMAGE_MAX 32768 /* units of a path */

HRESULT process_program(uint32_t id, uint64_t start_time, char **path)
{
    *path = NULL;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, id);
    if (!process)
        return GetLastError() == ERROR_INVALID_PARAMETER
                   ? S_FALSE
                   : win32_failed(GetLastError(), "reading the program of a process");
    WCHAR *image = memory_alloc(IMAGE_MAX * sizeof(*image));
    DWORD units = IMAGE_MAX;
    HRESULT hr = image ? S_OK : E_OUTOFMEMORY;
    if (!start_time || creation_time(process) != start_time || WaitForSingleObject(process, 0) != WAIT_TIMEOUT)
        hr = S_FALSE;
    else if (image && !QueryFullProcessImageNameW(process, 0, image, &units))
        hr = win32_failed(GetLastError(), "reading the program of a process");
    if (hr == S_OK)
        hr = text_from_utf16(image, units, true, path);
    memory_free(image);
    CloseHandle(process);
    return hr;
}

HRESULT process_terminate(uint32_t id, uint64_t start_time)
{
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE | SYNCHRONIZE, FALSE, id);
    HRESULT hr = S_OK;
    if (!process)
        return GetLastError() == ERROR_INVALID_PARAMETER ? S_FALSE
                                                         : win32_failed(GetLastError(), "terminating a process");
    if (!start_time || creation_time(process) != start_time || WaitForSingleObject(process, 0) != WAIT_TIMEOUT)
        hr = S_FALSE;
    else if (!TerminateProcess(process, 1))
        hr = win32_failed(GetLastError(), "terminating a process");
    CloseHandle(process);
    return hr;
}

/* THREAD_BASIC_INFORMATION. */
struct basic_record {
    NTSTATUS status;
    void *teb;
    CLIENT_ID id;
    ULONG_PTR affinity;
    LONG priority, base;
};
_Static_assert(offsetof(struct basic_record, affinity) == 4 * sizeof(void *), "affinity has moved");

HRESULT windows_threads(struct windows_thread **out, size_t *count)
{
    void *threads = NULL;
    size_t capacity = 0;
    THREADENTRY32 entry = {.dwSize = sizeof(entry)};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    HRESULT hr = all == INVALID_HANDLE_VALUE ? win32_failed(GetLastError(), "listing the threads") : S_OK;
    *out = NULL;
    *count = 0;
    for (BOOL more = SUCCEEDED(hr) && Thread32First(all, &entry); more && SUCCEEDED(hr);
         more = Thread32Next(all, &entry))
        if (memory_grow(&threads, &capacity, *count + 1, sizeof(**out)))
            ((struct windows_thread *)threads)[(*count)++] =
                (struct windows_thread){entry.th32OwnerProcessID, entry.th32ThreadID};
        else
            hr = E_OUTOFMEMORY;
    if (all != INVALID_HANDLE_VALUE)
        CloseHandle(all);
    if (FAILED(hr)) {
        memory_free(threads);
        threads = NULL;
        *count = 0;
    }
    *out = threads;
    return hr;
}

uint32_t windows_threads_mark(void)
{
    ULONG need = 0;
    NtQuerySystemInformation(SystemProcessInformation, NULL, 0, &need);
    return need;
}

HRESULT windows_thread_show(const struct windows_thread *thread, uint64_t *from, uint64_t *to)
{
    struct basic_record basic = {0};
    HANDLE h = OpenThread(THREAD_SET_INFORMATION | THREAD_QUERY_INFORMATION, FALSE, thread->id);
    *from = *to = 0;
    if (!h)
        return S_FALSE;
    const bool known =
        !NtQueryInformationThread(h, (THREADINFOCLASS)0 /* ThreadBasicInformation */, &basic, sizeof(basic), NULL) &&
        basic.affinity && (DWORD)(ULONG_PTR)basic.id.UniqueProcess == thread->process;
    *from = (uint64_t)clock_ticks();
    const bool shown = known && SetThreadAffinityMask(h, basic.affinity) != 0;
    *to = (uint64_t)clock_ticks();
    CloseHandle(h);
    return shown ? S_OK : S_FALSE;
}

static void read_user(HANDLE process, struct windows_process *out)
{
    _Alignas(8) BYTE user[sizeof(TOKEN_USER) + WINDOWS_MOST_SID];
    HANDLE token;
    DWORD size = sizeof(user);
    if (!OpenProcessToken(process, TOKEN_QUERY, &token))
        return;
    if (GetTokenInformation(token, TokenUser, user, sizeof(user), &size)) {
        PSID sid = ((const TOKEN_USER *)user)->User.Sid;
        const DWORD length = GetLengthSid(sid);
        if (length <= sizeof(out->sid) && CopySid(sizeof(out->sid), out->sid, sid))
            out->sid_size = length;
    }
    CloseHandle(token);
}

HRESULT windows_process_read(uint32_t id, struct windows_process *out)
{
    HANDLE process = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, id);
    DWORD session = 0;
    BOOL wow64 = FALSE;
    *out = (struct windows_process){0};
    if (!process)
        return S_FALSE;
    read_user(process, out);
    out->session = ProcessIdToSessionId(id, &session) ? session : 0;
    out->is_wow64 = IsWow64Process(process, &wow64) && wow64;
    CloseHandle(process);
    return S_OK;
}
