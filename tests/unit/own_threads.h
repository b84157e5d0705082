/* SPDX-License-Identifier: MIT */
/* Counts this process's threads, on Windows. */
#ifndef OPENPLA_TEST_OWN_THREADS_H
#define OPENPLA_TEST_OWN_THREADS_H

#include <windows.h>
#include <tlhelp32.h>

static inline unsigned own_threads(void)
{
    THREADENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    unsigned count = 0;
    if (all == INVALID_HANDLE_VALUE)
        return 0;
    for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry))
        count += entry.th32OwnerProcessID == GetCurrentProcessId();
    CloseHandle(all);
    return count;
}

#endif
