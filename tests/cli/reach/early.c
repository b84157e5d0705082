/* SPDX-License-Identifier: MIT */
/* A DLL that the program imports, and that registers a provider when it is loaded. */
#include "tests/cli/reach/early.h"

#include "tests/cli/reach/mark.h"

#include <windows.h>
#include <evntprov.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);

static bool at_once;

/* With arguments that Wine's function also accepts, in case it is called. */
bool register_is_ours(void)
{
    static const GUID provider = {0x1F2A4C66, 0x0B0E, 0x4D0B, {0x8A, 0x1D, 0x5E, 0x33, 0x71, 0x92, 0x00, 0x01}};
    REGHANDLE handle;
    return EventRegister(&provider, NULL, NULL, &handle) == mark_of("EventRegister");
}

bool register_was_ours(void)
{
    return at_once;
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        at_once = register_is_ours();
    return TRUE;
}
