/* SPDX-License-Identifier: MIT */
/* openetwhost.exe <logger> <turn> <key>: the process of one session. It has no C library and nothing but kernel32 to
   load before openetw.dll, in which all it does is: each session has such a process. */
#include <windows.h>

__attribute__((noreturn)) void start(void);

void start(void)
{
    const HMODULE dll = LoadLibraryW(L"openetw.dll");
    int(WINAPI * host)(void) = dll ? (int(WINAPI *)(void))(void *)GetProcAddress(dll, "OpenEtwSessionHost") : NULL;
    ExitProcess(host ? (UINT)host() : GetLastError());
}
