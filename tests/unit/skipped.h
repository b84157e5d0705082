/* SPDX-License-Identifier: MIT */
/* A part of a test program that cannot run here: it says so, the other parts run, and a program of which all that ran
   has passed ends as a skipped one (77), which tests/expected-skips.txt has to know. */
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

/* main's result. */
static inline int skipped_result(int failed)
{
    return failed ? failed : skipped_parts ? 77 : 0;
}

#endif
