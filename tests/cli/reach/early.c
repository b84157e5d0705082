/* SPDX-License-Identifier: MIT */
/* A DLL that the program imports, and that registers a provider as it begins. */
#include "tests/cli/reach/mark.h"

#include <windows.h>

__declspec(dllimport) uint32_t EventRegister(void);
__declspec(dllexport) uint32_t early_result(void);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);

static uint32_t result;

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        result = EventRegister();
    return TRUE;
}

uint32_t early_result(void)
{
    return result;
}
