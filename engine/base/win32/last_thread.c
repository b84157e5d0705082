/* SPDX-License-Identifier: MIT */
#include "engine/base/last_thread.h"

#include "engine/base/win32/process_handle.h"

#include <stdatomic.h>
#include <stddef.h>
#include <windows.h>
#include <winternl.h>

#define AM_I_LAST_THREAD ((THREADINFOCLASS)12) /* ThreadAmILastThread: a ULONG */

static _Atomic(HANDLE) left; /* of the thread that has left last */

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
