/* SPDX-License-Identifier: MIT */
/* bench_switches RATE SECONDS: two threads on one processor pass a byte back and forth, with RATE switches per second
   in steps of a millisecond. Prints the switches that the kernel counts for them, the thread ids, and the elapsed
   seconds. Linux only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long other, counted;

static long switches(void)
{
    struct rusage own;
    getrusage(RUSAGE_THREAD, &own);
    return own.ru_nvcsw + own.ru_nivcsw;
}

static void stay(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *answer(void *unused)
{
    char byte;
    stay();
    other = syscall(SYS_gettid);
    while (read(there[0], &byte, 1) == 1 && byte)
        if (write(back[1], &byte, 1) != 1)
            break;
    counted = switches();
    return unused;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 3 || pipe(there) != 0 || pipe(back) != 0)
        return 2;
    const double rate = atof(argv[1]) / 2, seconds = atof(argv[2]), begin = now(); /* a round is two switches */
    pthread_t thread;
    char byte = 1;
    stay();
    if (pthread_create(&thread, NULL, answer, NULL) != 0)
        return 1;
    double passed = 0;
    uint64_t done = 0;
    while (passed < seconds) {
        for (; (double)done < rate * passed; done++)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
                return 1;
        usleep(1000);
        passed = now() - begin;
    }
    byte = 0;
    if (write(there[1], &byte, 1) != 1)
        return 1;
    pthread_join(thread, NULL);
    printf("%ld %ld %ld %.3f\n", switches() + counted, syscall(SYS_gettid), other, now() - begin);
    return 0;
}
