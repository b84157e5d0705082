/* SPDX-License-Identifier: MIT */
/* Measurements of this process for benchmarks. A benchmark stops at the first failure, because the time of half the
   work is not a measurement. */
#ifndef OPENPLA_BENCH_MEASURED_H
#define OPENPLA_BENCH_MEASURED_H

#include "engine/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#include <psapi.h>
#else
#include <sys/resource.h>
#endif

static inline void must(HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "%s: %s\n", what, error_text(hr));
    exit(1);
}

/* The process's peak memory. */
static inline double peak_megabytes(void)
{
#ifdef _WIN32
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? (double)counters.PeakWorkingSetSize / 1048576
               : 0;
#else
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
#endif
}

/* Processor time of this process, user and system: other work on the machine does not count. */
static inline double processor_seconds(void)
{
#ifdef _WIN32
    FILETIME made, gone, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &made, &gone, &kernel, &user))
        return 0;
    return 1e-7 * ((double)kernel.dwLowDateTime + (double)user.dwLowDateTime) +
           1e-7 * 4294967296.0 * ((double)kernel.dwHighDateTime + (double)user.dwHighDateTime);
#else
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
#endif
}

#endif
