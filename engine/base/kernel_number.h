/* SPDX-License-Identifier: MIT */
/* The one way the parsers of kernel texts read a number, a word and a line. */
#ifndef OPENPLA_KERNEL_NUMBER_H
#define OPENPLA_KERNEL_NUMBER_H

#include "engine/base/text_find.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Skips blanks and tabs. */
static inline const char *kernel_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* Reads a decimal number after blanks; more than 64 bits stick at the largest. NULL: there is none. */
static inline const char *kernel_number(const char *p, const char *end, uint64_t *out)
{
    p = kernel_skip(p, end);
    const char *start = p;
    uint64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        v = p - start >= 19 && v > (UINT64_MAX - digit) / 10 ? UINT64_MAX : v * 10 + digit;
    }
    *out = v;
    return p > start ? p : NULL;
}

/* End of the word at `p`. */
static inline const char *kernel_word_end(const char *p, const char *end)
{
    while (p < end && *p != ' ' && *p != '\t' && *p != '\n')
        p++;
    return p;
}

static inline const char *kernel_line_end(const char *p, const char *end)
{
    const char *line = text_find(p, end, '\n');
    return line ? line : end;
}

static inline bool kernel_starts(const char *p, const char *end, const char *word, size_t length)
{
    return (size_t)(end - p) >= length && !memcmp(p, word, length);
}

#endif
