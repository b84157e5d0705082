/* SPDX-License-Identifier: MIT */
/* Processor time of a writer, in addition to wall time: with more writers than processors, only processor time shows
   the cost of an event. */
#ifndef OPENPLA_THREAD_TIME_H
#define OPENPLA_THREAD_TIME_H

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

/* Seconds that this thread has run, in user mode and in the kernel. */
static inline double thread_time(void)
{
#ifdef _WIN32
    FILETIME made, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
        return 0;
    return ((double)kernel.dwHighDateTime + (double)user.dwHighDateTime) * 429.4967296 +
           ((double)kernel.dwLowDateTime + (double)user.dwLowDateTime) / 1e7;
#else
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
#endif
}

#endif
