/* SPDX-License-Identifier: MIT */
/* A full disk for tests on POSIX hosts: files cannot grow beyond a size, and a write beyond it is truncated. */
#ifndef OPENPLA_TESTS_FULL_DISK_H
#define OPENPLA_TESTS_FULL_DISK_H

#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/resource.h>

/* Sets the limit for every file of this process. UINT64_MAX: no limit. */
static inline void full_disk_at(uint64_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
    limit.rlim_cur = bytes == UINT64_MAX ? limit.rlim_max : (rlim_t)bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
}

#endif
