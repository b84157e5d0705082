/* SPDX-License-Identifier: MIT */
/* A test program may have parts that cannot run here. It prints the reason and runs the other parts. If those pass, it
   exits with 77 (skipped), and tests/expected-skips.txt must list the program. */
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

/* Returns the exit code for main. */
static inline int skipped_result(int failed)
{
    return failed ? failed : skipped_parts ? 77 : 0;
}

#endif
