/* SPDX-License-Identifier: MIT */
/* Marks a part of a test program that cannot run here: prints the reason, and the other parts run. If those pass, the
   program exits as skipped (77), which tests/expected-skips.txt must list. */
#ifndef OPENPLA_SKIPPED_H
#define OPENPLA_SKIPPED_H

#include <stdio.h>

static unsigned skipped_parts;

static inline void skipped(const char *why)
{
    printf("skipped: %s\n", why);
    fflush(stdout);
    skipped_parts++;
}

/* Returns the result for main. */
static inline int skipped_result(int failed)
{
    return failed ? failed : skipped_parts ? 77 : 0;
}

#endif
