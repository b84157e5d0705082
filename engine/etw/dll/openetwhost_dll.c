/* SPDX-License-Identifier: MIT */
/* openetwhost.exe <logger> <generation> <key>: the process of one session. It has no C library and nothing but kernel32
   to load before openetw.dll, in which all it does is: each session has such a process. */
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
