/* SPDX-License-Identifier: MIT */
/* Marks by which a test knows which function it has called: the stand-in's result, computed from the function's
   name. */
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
