/* SPDX-License-Identifier: MIT */
/* What only openetw.dll has. */
#include "engine/etw/injection.h"
#include "engine/etw/provider/provider_table.h"

#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
void WINAPI OpenEtwRun(void);
void WINAPI OpenEtwRunChildren(void);

/* A process that only links this DLL pays nothing for it: no thread, no section, no handle. All that comes with the
   first call that needs it. */
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)reserved;
    if (reason == DLL_THREAD_DETACH)
        provider_thread_leaves();
#ifdef _WIN64 /* programs of 32 bits are not reached */
    if (reason == DLL_PROCESS_ATTACH)
        injection_begin(module);
#else
    (void)module;
#endif
    return TRUE;
}

/* By these names this DLL is the first import of what `openpla run` starts (injection.h). Nobody calls them. */
void WINAPI OpenEtwRun(void)
{
}

void WINAPI OpenEtwRunChildren(void)
{
}
