/* SPDX-License-Identifier: MIT */
/* Makes openpla.exe treat Wine as Windows. */
#include "engine/base/os.h"

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}
