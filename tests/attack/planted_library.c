/* SPDX-License-Identifier: MIT */
/* A library that an attacker plants where a program may search for a library of the system or of OpenPLA. When
   loaded, it creates a file beside itself. */
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
