/* SPDX-License-Identifier: MIT */
/* bench_api_calls [CALLS [THREADS]]: measures the cost of a call of MulDiv (three arguments) in ns. Prints the median
   and the tenth percentile of slices of 500 calls, so that other work on the machine has little effect.
   tests/bench/api_trace.py starts it with and without a trace of its calls. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

enum { SLICE = 500, MOST_THREADS = 16, MOST_SLICES = 100000 };

static LARGE_INTEGER per_second;
static int slices;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static DWORD WINAPI run(void *unused)
{
    static double ns[MOST_SLICES];
    double *out = unused ? NULL : ns;
    for (int i = 0; i < slices; i++) {
        LARGE_INTEGER begin, end;
        volatile int sum = 0;
        QueryPerformanceCounter(&begin);
        for (int k = 0; k < SLICE; k++)
            sum += MulDiv(k, 3, 2);
        QueryPerformanceCounter(&end);
        if (out)
            out[i] = 1e9 * (double)(end.QuadPart - begin.QuadPart) / (double)per_second.QuadPart / SLICE;
    }
    if (!out)
        return 0;
    qsort(out, (size_t)slices, sizeof *out, compare);
    printf("%.1f %.1f\n", out[slices / 2], out[slices / 10]);
    return 0;
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 1000000, threads = argc > 2 ? atoi(argv[2]) : 1;
    HANDLE handles[MOST_THREADS];
    QueryPerformanceFrequency(&per_second);
    slices = calls / SLICE < MOST_SLICES ? calls / SLICE : MOST_SLICES;
    for (int i = 1; i < threads && i < MOST_THREADS; i++)
        handles[i] = CreateThread(NULL, 0, run, &slices, 0, NULL);
    run(NULL);
    for (int i = 1; i < threads && i < MOST_THREADS; i++)
        WaitForSingleObject(handles[i], INFINITE);
    return 0;
}
