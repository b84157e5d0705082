/* SPDX-License-Identifier: MIT */
#include "engine/base/thread_slot.h"

#include "engine/base/host.h"
#include "engine/base/win32/win32_call.h"

#include <stdatomic.h>
#include <windows.h>

uint32_t thread_slot_index = THREAD_SLOTS_INLINE;

static struct host_lock lock = HOST_LOCK_INIT;
static DWORD elsewhere = TLS_OUT_OF_INDEXES, at_end = FLS_OUT_OF_INDEXES;
static void (*call_at_end)(void *value);

void *thread_slot_elsewhere(void)
{
    const DWORD index = elsewhere, error = GetLastError();
    void *value = index == TLS_OUT_OF_INDEXES ? NULL : TlsGetValue(index);
    SetLastError(error); /* TlsGetValue sets it when all is well, too */
    return value;
}

static void WINAPI end(void *value)
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
                                 (const WCHAR *)(void *)end, &module);
}

static bool have_index(void (*ended)(void *value))
{
    host_lock_enter(&lock);
    if (!call_at_end)
        call_at_end = ended;
    if (elsewhere == TLS_OUT_OF_INDEXES)
        elsewhere = TlsAlloc();
    if (elsewhere != TLS_OUT_OF_INDEXES && at_end == FLS_OUT_OF_INDEXES)
        at_end = FlsAlloc(end);
    const bool have = elsewhere != TLS_OUT_OF_INDEXES && at_end != FLS_OUT_OF_INDEXES;
    if (have) {
        if (elsewhere < THREAD_SLOTS_INLINE)
            thread_slot_index = elsewhere;
    }
    host_lock_leave(&lock);
    return have;
}

HRESULT thread_slot_set(void *value, void (*ended)(void *value))
{
    module_pin();
    if (!have_index(ended) || !TlsSetValue(elsewhere, value))
        return win32_failed(GetLastError(), "thread");
    if (FlsSetValue(at_end, value))
        return S_OK;
    const DWORD error = GetLastError();
    TlsSetValue(elsewhere, NULL);
    return win32_failed(error, "thread");
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
