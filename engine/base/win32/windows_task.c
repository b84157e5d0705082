/* SPDX-License-Identifier: MIT */
#include "engine/base/windows_task.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"

#include <winternl.h>
#include <tlhelp32.h>

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
    HRESULT hr = all == INVALID_HANDLE_VALUE ? win32_failed(GetLastError(), "the list of threads") : S_OK;
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
