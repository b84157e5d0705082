/* SPDX-License-Identifier: MIT */
/* A character in a text of known length. */
#ifndef OPENPLA_TEXT_FIND_H
#define OPENPLA_TEXT_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first `c`, NULL when there is none. Eight bytes at a time, since Wine's memchr looks at each one: a word less
   0x01 in each byte borrows into a byte's highest bit, which was not set, where that byte was zero. */
static inline const char *text_find(const char *p, const char *end, char c)
{
    const uint64_t ones = 0x0101010101010101u, pattern = ones * (unsigned char)c;
    for (uint64_t word; end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        word ^= pattern;
        if ((word - ones) & ~word & ones << 7)
            break;
    }
    while (p < end && *p != c)
        p++;
    return p < end ? p : NULL;
}

#endif
