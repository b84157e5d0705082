/* SPDX-License-Identifier: MIT */
/* The entry points of openetw.dll. */
#include "engine/etw/injection.h"
#include "engine/etw/provider/provider_table.h"

#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
void WINAPI OpenEtwRun(void);
void WINAPI OpenEtwRunChildren(void);

/* It does nothing for a program that only links this DLL: threads, sections and handles are created by the first call
   that needs them. */
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

/* Under these names the DLL is the first import of programs that `openpla run` starts (engine/etw/injection.h). They
   are never called. */
void WINAPI OpenEtwRun(void)
{
}

void WINAPI OpenEtwRunChildren(void)
{
}
