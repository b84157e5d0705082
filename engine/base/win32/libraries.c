/* SPDX-License-Identifier: MIT */
/* The folders that a loader looks into. */
#include "engine/base/libraries.h"

#include <windows.h>

void libraries_restrict(void)
{
    /* Also for LoadLibrary without flags, which the system's libraries call. Neither fails on a Windows with these
       functions, and where they are not there the loads of ours say their folders themselves. */
    SetDllDirectoryW(L"");
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
}
