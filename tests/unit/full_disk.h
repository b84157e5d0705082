/* SPDX-License-Identifier: MIT */
/* A full disk for tests on POSIX hosts: files may not grow beyond a size, and a write across it is cut short. */
#ifndef OPENPLA_TESTS_FULL_DISK_H
#define OPENPLA_TESTS_FULL_DISK_H

#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/resource.h>

/* Of every file of this process. UINT64_MAX: there is room again. */
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
