/* SPDX-License-Identifier: MIT */
/* bench_lttng WRITERS SECONDS: measures the cost of LTTng-UST's tracepoint with 64 bytes for its writers at full speed,
   in ns per event, as each writer's wall time and as processor time. peers_etw.py runs it beside OpenPLA's benchmark.
   */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_events.h"
#include "tests/bench/thread_time.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WRITERS = 4 };
struct flat_out {
    unsigned long long events;
    double seconds, processor;
    unsigned char padding[128];
};
static struct flat_out flat[MOST_WRITERS];
static atomic_bool stop;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *write_flat_out(void *user)
{
    struct flat_out *f = user;
    unsigned char payload[64] = {1};
    const double from = now(), used = thread_time();
    unsigned long long events = 0;
    while (!stop)
        for (int i = 0; i < 256; i++, events++)
            lttng_ust_tracepoint(bench, event64, payload);
    f->seconds = now() - from;
    f->processor = thread_time() - used;
    f->events = events;
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST_WRITERS];
    const unsigned writers = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 1;
    const double seconds = count > 2 ? strtod(arguments[2], NULL) : 3;
    unsigned long long events = 0;
    double ns = 0, processor = 0;
    if (writers < 1 || writers > MOST_WRITERS)
        return 2;
    for (unsigned i = 0; i < writers; i++)
        pthread_create(&threads[i], NULL, write_flat_out, &flat[i]);
    usleep((useconds_t)(seconds * 1e6));
    stop = true;
    for (unsigned i = 0; i < writers; i++) {
        pthread_join(threads[i], NULL);
        events += flat[i].events;
        ns += flat[i].seconds * 1e9 / (double)flat[i].events / writers;
        processor += flat[i].processor;
    }
    printf("%u %llu %.1f %.1f\n", writers, events, ns, processor * 1e9 / (double)events);
    return 0;
}
