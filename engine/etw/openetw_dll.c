/* SPDX-License-Identifier: MIT */
/* What only openetw.dll has. */
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
void WINAPI OpenEtwRun(void);

/* A process that only links this DLL pays nothing for it: no thread, no section, no handle. All that comes with the
   first call that needs it. */
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module, (void)reason, (void)reserved;
    return TRUE;
}

/* The name by which `openpla run` makes this DLL a program's first import, so that it is there before all others of the
   program. Nobody calls it. */
void WINAPI OpenEtwRun(void)
{
}
