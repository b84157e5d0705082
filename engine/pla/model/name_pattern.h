/* SPDX-License-Identifier: MIT */
/* Creates the names of output folders and files from AutoPathFormat bits and patterns (MS-PLA 2.2.2.1, 2.2.3.1;
   behaviour 7). */
#ifndef OPENPLA_NAME_PATTERN_H
#define OPENPLA_NAME_PATTERN_H

#include "engine/base/clock.h"
#include "engine/base/text.h"

struct name_context {
    struct calendar_time local; /* local time for which the name is computed */
    int zone_offset_minutes;    /* local - UTC */
    uint32_t serial_number;
    const char *computer;
};

/* Expands a pattern of MS-PLA 2.2.3.1. OPENPLA_E_BAD_PATTERN: an unknown letter is not escaped; the message names
   pattern and letter. E_OUTOFMEMORY. *out is from memory_alloc. */
HRESULT name_pattern_expand(const char *pattern, const struct name_context *context, char **out);
/* Adds the decorations of the AutoPathFormat bits to `base`, in the order of MS-PLA 2.2.2.1. */
HRESULT name_decorate(const char *base, uint32_t format, const char *pattern, const struct name_context *context,
                      char **out);
/* Works like name_decorate, for a file: adds the decorations before `extension` (".blg"). `base` may already end with
   that extension. Another extension at the end of `base` becomes part of the name when decorations are added;
   otherwise it remains the extension of the file. */
HRESULT name_decorate_file(const char *base, const char *extension, uint32_t format, const char *pattern,
                           const struct name_context *context, char **out);

#endif
