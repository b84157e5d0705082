/* SPDX-License-Identifier: MIT */
/* Each stand-in returns a mark that is computed from its function's name. By this mark a test recognizes which function
   it has called. */
#ifndef OPENPLA_TEST_REACH_MARK_H
#define OPENPLA_TEST_REACH_MARK_H

#include <stdint.h>

static inline uint32_t mark_of(const char *name)
{
    uint32_t mark = 2166136261u;
    for (; *name; name++)
        mark = (mark ^ (uint8_t)*name) * 16777619u;
    return mark;
}

#endif
