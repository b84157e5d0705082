/* SPDX-License-Identifier: MIT */
/* Threads on Windows: starting and waking threads, and each thread's slot. */
#include "engine/base/thread.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <stdatomic.h>
#include <stddef.h>
#include <windows.h>
#include <winternl.h>

struct thread {
    HANDLE handle;
};

struct body {
    void (*call)(void *user);
    void *user;
    HMODULE module;
};

struct wakeup {
    HANDLE event;
};

static DWORD WINAPI thread_run_body(void *user)
{
    struct body body = *(struct body *)user;
    memory_free(user);
    body.call(body.user);
    FreeLibraryAndExitThread(body.module, 0);
}

HRESULT thread_start(void (*body)(void *user), void *user, struct thread **out)
{
    struct thread *t = memory_zero(1, sizeof *t);
    struct body *b = memory_alloc(sizeof *b);
    HRESULT hr = S_OK;
    *out = NULL;
    if (!t || !b)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        *b = (struct body){body, user, NULL};
        if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, (const WCHAR *)(void *)thread_run_body,
                               &b->module))
            t->handle = CreateThread(NULL, 0, thread_run_body, b, 0, NULL);
        if (!t->handle)
            hr = win32_failed(GetLastError(), "new thread");
        if (FAILED(hr) && b->module)
            FreeLibrary(b->module);
    }
    if (FAILED(hr)) {
        memory_free(t);
        memory_free(b);
        return hr;
    }
    *out = t;
    return S_OK;
}

bool thread_wait(struct thread *t, uint32_t timeout_ms)
{
    return WaitForSingleObject(t->handle, timeout_ms) == WAIT_OBJECT_0;
}

void thread_close(struct thread *t)
{
    if (t)
        CloseHandle(t->handle);
    memory_free(t);
}

void thread_yield(void)
{
    SwitchToThread();
}

uint32_t thread_own_id(void)
{
    return GetCurrentThreadId();
}

uint64_t thread_own_user_time(void)
{
    FILETIME made, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
        return 0;
    return (uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime;
}

uint32_t processor_count(void)
{
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count ? count : 1;
}

HRESULT wakeup_create(struct wakeup **out)
{
    struct wakeup *w = memory_zero(1, sizeof *w);
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->event = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (!w->event) {
        memory_free(w);
        return win32_failed(GetLastError(), "new event");
    }
    *out = w;
    return S_OK;
}

void wakeup_set(struct wakeup *w)
{
    SetEvent(w->event);
}

bool wakeup_wait(struct wakeup *w, uint32_t timeout_ms)
{
    return WaitForSingleObject(w->event, timeout_ms) == WAIT_OBJECT_0;
}

void wakeup_free(struct wakeup *w)
{
    if (w)
        CloseHandle(w->event);
    memory_free(w);
}

/* The condition variable is a count of the calls of thread_condition_wake. */
bool thread_condition_wait(struct thread_condition *c, struct lock *lock, uint32_t timeout_ms)
{
    volatile LONG *count = (volatile LONG *)(void *)c->opaque;
    LONG seen = *count;
    lock_leave(lock);
    bool woken = WaitOnAddress(count, &seen, sizeof(seen), timeout_ms);
    lock_enter(lock);
    return woken;
}

void thread_condition_wake(struct thread_condition *c)
{
    InterlockedIncrement((volatile LONG *)(void *)c->opaque);
    WakeByAddressAll(c->opaque);
}

#define AM_I_LAST_THREAD ((THREADINFOCLASS)12) /* ThreadAmILastThread; the value is a ULONG */

static _Atomic(HANDLE) left; /* handle of the thread that called last_thread_leaves last */

void last_thread_leaves(void)
{
    HANDLE own;
    if (!DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &own,
                         THREAD_QUERY_LIMITED_INFORMATION, FALSE, 0))
        return;
    const HANDLE before = atomic_exchange(&left, own);
    if (before)
        CloseHandle(before);
}

bool last_thread_is_own(uint32_t others)
{
    ULONG last = 0;
    if (others != 0)
        return process_own_threads() == others + 1;
    return NtQueryInformationThread(GetCurrentThread(), AM_I_LAST_THREAD, &last, sizeof last, NULL) >= 0 && last != 0;
}

void last_thread_end_process(void)
{
    DWORD code = 0;
    const HANDLE last = atomic_load(&left);
    if (last && (!GetExitCodeThread(last, &code) || code == STILL_ACTIVE))
        code = 0;
    ExitProcess(code);
}

uint32_t thread_slot_index = THREAD_SLOTS_INLINE;

static struct lock lock = LOCK_INIT;
static DWORD elsewhere = TLS_OUT_OF_INDEXES, at_end = FLS_OUT_OF_INDEXES;
static void (*call_at_end)(void *value);

void *thread_slot_elsewhere(void)
{
    const DWORD index = elsewhere, error = GetLastError();
    void *value = index == TLS_OUT_OF_INDEXES ? NULL : TlsGetValue(index);
    SetLastError(error); /* TlsGetValue changes the error code even if it succeeds */
    return value;
}

static void WINAPI thread_slot_end(void *value)
{
    if (!value)
        return;
    TlsSetValue(elsewhere, NULL);
    call_at_end(value);
}

BOOLEAN WINAPI RtlDllShutdownInProgress(void); /* ntdll */
LONG WINAPI NtDelayExecution(BOOLEAN alertable, const LARGE_INTEGER *time);

bool process_is_ending(void)
{
    return RtlDllShutdownInProgress() != 0;
}

void module_pin(void)
{
    static atomic_bool pinned;
    HMODULE module;
    if (!atomic_exchange(&pinned, true))
        (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                                 (const WCHAR *)(void *)thread_slot_end, &module);
}

static bool have_index(void (*ended)(void *value))
{
    lock_enter(&lock);
    if (!call_at_end)
        call_at_end = ended;
    if (elsewhere == TLS_OUT_OF_INDEXES)
        elsewhere = TlsAlloc();
    if (elsewhere != TLS_OUT_OF_INDEXES && at_end == FLS_OUT_OF_INDEXES)
        at_end = FlsAlloc(thread_slot_end);
    const bool have = elsewhere != TLS_OUT_OF_INDEXES && at_end != FLS_OUT_OF_INDEXES;
    if (have) {
        if (elsewhere < THREAD_SLOTS_INLINE)
            thread_slot_index = elsewhere;
    }
    lock_leave(&lock);
    return have;
}

HRESULT thread_slot_set(void *value, void (*ended)(void *value))
{
    module_pin();
    if (!have_index(ended) || !TlsSetValue(elsewhere, value))
        return win32_failed(GetLastError(), "thread-local data");
    if (FlsSetValue(at_end, value))
        return S_OK;
    const DWORD error = GetLastError();
    TlsSetValue(elsewhere, NULL);
    return win32_failed(error, "thread-local data");
}

uint32_t thread_own_sid(uint8_t sid[THREAD_MOST_SID])
{
    union {
        TOKEN_USER user;
        uint8_t room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } of;
    HANDLE token;
    DWORD bytes;
    uint32_t size = 0;
    if (!OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token) &&
        !OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return 0;
    if (GetTokenInformation(token, TokenUser, &of, sizeof of, &bytes)) {
        size = GetLengthSid(of.user.User.Sid);
        if (size > THREAD_MOST_SID || !CopySid(THREAD_MOST_SID, sid, of.user.User.Sid))
            size = 0;
    }
    CloseHandle(token);
    return size;
}

uint32_t process_own_session(void)
{
    DWORD session = 0;
    return ProcessIdToSessionId(GetCurrentProcessId(), &session) ? session : 0;
}

uint32_t thread_own_stack(uint64_t *frames, uint32_t most)
{
    enum { MOST = 256 };
    void *found[MOST];
    const USHORT count = RtlCaptureStackBackTrace(0, most < MOST ? most : MOST, found, NULL);
    for (USHORT i = 0; i < count; i++)
        frames[i] = (uintptr_t)found[i];
    return count;
}

void thread_sleep_us(uint32_t us)
{
    const LARGE_INTEGER from_now = {.QuadPart = -(LONGLONG)us * 10};
    NtDelayExecution(FALSE, &from_now);
}

void thread_sleep(uint32_t ms)
{
    Sleep(ms);
}

void thread_last_error(uint32_t code)
{
    SetLastError(code);
}
