/* SPDX-License-Identifier: MIT */
/* Names of output folders and files: AutoPathFormat bits and patterns (MS-PLA 2.2.2.1, 2.2.3.1; behaviour 7). */
#ifndef OPENPLA_NAME_PATTERN_H
#define OPENPLA_NAME_PATTERN_H

#include "engine/base/clock.h"
#include "engine/base/text.h"

struct name_context {
    struct calendar_time local; /* the moment the name is for */
    int zone_offset_minutes;    /* local - UTC */
    uint32_t serial_number;
    const char *computer;
};

/* Expands a pattern of 2.2.3.1. OPENPLA_E_BAD_PATTERN, with a text naming pattern and letter, for an unescaped unknown
   letter; E_OUTOFMEMORY. *out from memory_alloc. */
HRESULT name_pattern_expand(const char *pattern, const struct name_context *context, char **out);
/* base with the decorations that the AutoPathFormat bits ask for, in 2.2.2.1's order. */
HRESULT name_decorate(const char *base, uint32_t format, const char *pattern, const struct name_context *context,
                      char **out);
/* The same for a file: decorations go before `extension` (".blg"); base may carry that extension already, any other
   ending is part of the base once a decoration applies and stands as it is without one. */
HRESULT name_decorate_file(const char *base, const char *extension, uint32_t format, const char *pattern,
                           const struct name_context *context, char **out);

#endif
