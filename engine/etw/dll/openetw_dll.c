/* SPDX-License-Identifier: MIT */
/* The entry points of openetw.dll. */
#include "engine/etw/injection.h"
#include "engine/etw/provider/provider_table.h"

#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
void WINAPI OpenEtwRun(void);
void WINAPI OpenEtwRunChildren(void);

/* A program that only links to this DLL pays nothing for it: threads, sections and handles are created by the first
   call that needs them. */
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)reserved;
    if (reason == DLL_THREAD_DETACH)
        provider_thread_leaves();
#ifdef _WIN64 /* 32-bit programs are not supported by injection */
    if (reason == DLL_PROCESS_ATTACH)
        injection_begin(module);
#else
    (void)module;
#endif
    return TRUE;
}

/* The import that `openpla run` adds to a program names one of these functions (engine/etw/injection.h). The functions
   are never called. */
void WINAPI OpenEtwRun(void)
{
}

void WINAPI OpenEtwRunChildren(void)
{
}
