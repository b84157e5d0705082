/* SPDX-License-Identifier: MIT */
/* ltrace_calls [CALLS]: like bench_api_calls, but with a call of the C library's abs in a program of the host OS, which
   ltrace can trace. tests/bench/api_trace.py compiles and starts it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SLICE = 500, MOST_SLICES = 100000 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static double ns[MOST_SLICES];
    const int calls = argc > 1 ? atoi(argv[1]) : 10000;
    int slices = calls / SLICE < MOST_SLICES ? calls / SLICE : MOST_SLICES;
    if (slices < 1)
        slices = 1;
    for (int i = 0; i < slices; i++) {
        volatile int sum = 0;
        const double begin = now_ns();
        for (int k = 0; k < SLICE; k++)
            sum += abs(k - 250);
        ns[i] = (now_ns() - begin) / SLICE;
    }
    qsort(ns, (size_t)slices, sizeof *ns, compare);
    printf("%.1f %.1f\n", ns[slices / 2], ns[slices / 10]);
    return 0;
}
