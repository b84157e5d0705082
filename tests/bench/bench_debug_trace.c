/* SPDX-License-Identifier: MIT */
/* bench_debug_trace: measures the nanoseconds that a step of the trace switch costs. While the step's area is off, a
   loop with the step is compared with the same loop without it. While the area is on, the lines are written to the file
   named by OPENPLA_TRACE_FILE. */
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"

#include <stdio.h>

enum { ROUNDS = 4000000, LINES = 200000, TRIES = 300 };

/* Takes the minimum of many short tries, so that other work on the machine does not count. The barrier keeps the
   compiler from dropping the loop, and from moving the load of the areas out of it. */
#define BARRIER(value) __asm__ volatile("" : "+r"(value) : : "memory")

static double nanoseconds(int64_t ticks, double rounds)
{
    return (double)ticks * 1e9 / (double)clock_frequency() / rounds;
}

static int64_t ticks_of_loop(void)
{
    const int64_t begin = clock_ticks();
    for (unsigned i = 0; i < ROUNDS; i++)
        BARRIER(i);
    return clock_ticks() - begin;
}

static int64_t ticks_of_steps(void)
{
    const int64_t begin = clock_ticks();
    for (unsigned i = 0; i < ROUNDS; i++) {
        BARRIER(i);
        TRACE_STEP(etw, "step %u", i);
    }
    return clock_ticks() - begin;
}

int main(void)
{
    int64_t loop = INT64_MAX, steps = INT64_MAX;
    TRACE_STEP(etw, "the environment is read");
    if (debug_trace_areas & DEBUG_AREA_etw) {
        const int64_t begin = clock_ticks();
        for (unsigned i = 0; i < LINES; i++)
            TRACE_STEP(etw, "step %u", i);
        printf("on: %.0f ns a step\n", nanoseconds(clock_ticks() - begin, LINES));
        return 0;
    }
    for (int i = 0; i < TRIES; i++) {
        const int64_t one = ticks_of_loop(), other = ticks_of_steps();
        loop = one < loop ? one : loop;
        steps = other < steps ? other : steps;
    }
    printf("off: %.2f ns a step (loop %.2f ns, with a step %.2f ns)\n", nanoseconds(steps - loop, ROUNDS),
           nanoseconds(loop, ROUNDS), nanoseconds(steps, ROUNDS));
    return 0;
}
