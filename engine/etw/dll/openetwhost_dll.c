/* SPDX-License-Identifier: MIT */
/* openetwhost.exe <logger> <generation> <key>: the host process of one session. Every session has such a process, so
   this program is small: it has no C library and loads only kernel32 before openetw.dll, which does all the work. */
#include <windows.h>

__attribute__((noreturn)) void start(void);

void start(void)
{
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    const HMODULE dll =
        LoadLibraryExW(L"openetw.dll", NULL, LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    int(WINAPI * host)(void) = dll ? (int(WINAPI *)(void))(void *)GetProcAddress(dll, "OpenEtwSessionHost") : NULL;
    ExitProcess(host ? (UINT)host() : GetLastError());
}
