/* SPDX-License-Identifier: MIT */
/* Implements pthread_clockjoin_np with pthread_timedjoin_np. The thread sanitizer recognizes only the second function;
   without this file, it would treat joined threads as running. Linked with --wrap. */
#include <pthread.h>
#include <time.h>

int __wrap_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *limit);

int __wrap_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *limit)
{
    enum { SECOND = 1000000000 };
    struct timespec now, until;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit->tv_sec - now.tv_sec;
    until.tv_nsec += limit->tv_nsec - now.tv_nsec;
    for (; until.tv_nsec < 0; until.tv_nsec += SECOND)
        until.tv_sec--;
    for (; until.tv_nsec >= SECOND; until.tv_nsec -= SECOND)
        until.tv_sec++;
    return pthread_timedjoin_np(thread, result, &until);
}
