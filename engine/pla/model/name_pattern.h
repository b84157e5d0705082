/* SPDX-License-Identifier: MIT */
/* Names of output folders and files: AutoPathFormat bits and patterns (MS-PLA 2.2.2.1, 2.2.3.1; behaviour 7). */
#ifndef OPENPLA_NAME_PATTERN_H
#define OPENPLA_NAME_PATTERN_H

#include "engine/base/clock.h"
#include "engine/base/text.h"

struct name_context {
    struct calendar_time local; /* the time that the name is computed for */
    int zone_offset_minutes;    /* local - UTC */
    uint32_t serial_number;
    const char *computer;
};

/* Expands a pattern of MS-PLA 2.2.3.1. OPENPLA_E_BAD_PATTERN, naming pattern and letter, for an unescaped unknown
   letter; E_OUTOFMEMORY. *out from memory_alloc. */
HRESULT name_pattern_expand(const char *pattern, const struct name_context *context, char **out);
/* Adds the decorations of the AutoPathFormat bits to `base`, in the order of MS-PLA 2.2.2.1. */
HRESULT name_decorate(const char *base, uint32_t format, const char *pattern, const struct name_context *context,
                      char **out);
/* name_decorate for a file: decorations go before `extension` (".blg"). `base` may already end with that extension.
   Another extension is part of the base if a decoration applies, otherwise it remains the file's extension. */
HRESULT name_decorate_file(const char *base, const char *extension, uint32_t format, const char *pattern,
                           const struct name_context *context, char **out);

#endif
