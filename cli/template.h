/* SPDX-License-Identifier: MIT */
/* Files that hold a set's definition, as perfmon and logman save templates. */
#ifndef OPENPLA_CLI_TEMPLATE_H
#define OPENPLA_CLI_TEMPLATE_H

#include "engine/base/text.h"

/* The file's XML as UTF-8 without a mark, whichever of Windows' encodings its mark says; from memory_alloc. */
HRESULT template_load(const char *path, char **xml, size_t *size);

#endif
