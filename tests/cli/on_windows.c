/* SPDX-License-Identifier: MIT */
/* openpla.exe that takes its host for Windows. */
#include "engine/base/os.h"

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}
