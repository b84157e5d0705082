/* SPDX-License-Identifier: MIT */
/* One environment variable of this process. */
#ifndef OPENPLA_ENVIRONMENT_H
#define OPENPLA_ENVIRONMENT_H

#include "engine/os/text.h"

/* S_OK: *value is its text, from memory_alloc. S_FALSE: it is not set, or empty; *value NULL. E_OUTOFMEMORY. */
HRESULT environment_get(const char *name, char **value);

#endif
