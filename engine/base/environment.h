/* SPDX-License-Identifier: MIT */
/* One environment variable of this process. */
#ifndef OPENPLA_ENVIRONMENT_H
#define OPENPLA_ENVIRONMENT_H

#include "engine/base/text.h"

/* S_OK: *value is its text, from memory_alloc. S_FALSE: it is not set, or empty; *value NULL. E_OUTOFMEMORY. */
HRESULT environment_get(const char *name, char **value);

/* S_OK: what the environment's `variable` says, else the value `name` of HKLM\Software\OpenPLA, of a number its digits;
   from memory_alloc. S_FALSE, and NULL: neither says anything. E_OUTOFMEMORY, or why the value cannot be read. */
HRESULT environment_read_setting(const char *variable, const char *name, char **out);

/* The same, NULL when it cannot be had: for what goes on without. */
char *environment_setting(const char *variable, const char *name);

#endif
