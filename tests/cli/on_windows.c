/* SPDX-License-Identifier: MIT */
/* openpla.exe that takes its host for Windows. */
#include "engine/base/host.h"

bool __wrap_host_is_wine(void);
bool __wrap_host_is_wine(void)
{
    return false;
}
