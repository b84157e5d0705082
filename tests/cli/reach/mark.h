/* SPDX-License-Identifier: MIT */
/* By what a test knows whose function it has called: the result of the stand-in's, made of the function's name. */
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
