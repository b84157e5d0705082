/* SPDX-License-Identifier: MIT */
/* Reports whether EventRegister is the stand-in. */
#ifndef OPENPLA_TEST_REACH_EARLY_H
#define OPENPLA_TEST_REACH_EARLY_H

#include <stdbool.h>

__declspec(dllexport) bool register_is_ours(void);
__declspec(dllexport) bool register_was_ours(void); /* when the DLL was loaded */

#endif
