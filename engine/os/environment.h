/* SPDX-License-Identifier: MIT */
/* One environment variable of this process. */
#ifndef OPENPLA_ENVIRONMENT_H
#define OPENPLA_ENVIRONMENT_H

#include "engine/os/text.h"

/* S_OK: *value is its text, from memory_alloc. S_FALSE: it is not set, or empty; *value NULL. E_OUTOFMEMORY. */
HRESULT environment_get(const char *name, char **value);

/* What the environment's `variable` says, else the string value `name` of HKLM\Software\OpenPLA; from memory_alloc,
   NULL when neither says anything (or out of memory). */
char *environment_setting(const char *variable, const char *name);

#endif
