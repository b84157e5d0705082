/* SPDX-License-Identifier: MIT */
/* What an attacker puts where a program may look for a library of the system's or of ours: its code runs when it is
   loaded, and leaves a file beside itself that says so. */
#include <windows.h>
#include <wchar.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    WCHAR path[MAX_PATH + 8];
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH && GetModuleFileNameW(module, path, MAX_PATH)) {
        HANDLE file = CreateFileW(wcscat(path, L".ran"), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
        if (file != INVALID_HANDLE_VALUE)
            CloseHandle(file);
    }
    return TRUE;
}
