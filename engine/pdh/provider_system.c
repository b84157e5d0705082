/* SPDX-License-Identifier: MIT */
/* The object System: figures of the computer as a whole, from /proc/stat, the clock and the process list. */
#include "engine/pdh/object.h"
#include "engine/os/clock.h"

enum { UP_TIME, PROCESSES, THREADS, CONTEXT_SWITCHES, QUEUE_LENGTH, VALUES };

static const struct counter_schema counters[] = {
    [UP_TIME] = {"System Up Time", "Seconds since this computer was started.", PERF_ELAPSED_TIME, PERF_DETAIL_NOVICE,
                 -5, 0},
    /* As on Windows the same processes that the object Process shows, so that the sums agree. */
    [PROCESSES] = {"Processes", "Number of the processes that the object Process lists.", PERF_COUNTER_RAWCOUNT,
                   PERF_DETAIL_NOVICE, 0, 0},
    [THREADS] = {"Threads", "Number of threads of the processes that the object Process lists.", PERF_COUNTER_RAWCOUNT,
                 PERF_DETAIL_NOVICE, 0, 0},
    [CONTEXT_SWITCHES] = {"Context Switches/sec", "Switches from one thread to another, over all processors.",
                          PERF_COUNTER_COUNTER, PERF_DETAIL_NOVICE, -2, 0},
    [QUEUE_LENGTH] = {"Processor Queue Length",
                      "Threads that are ready to run and wait for a processor. Those that run are not counted.",
                      PERF_COUNTER_RAWCOUNT, PERF_DETAIL_NOVICE, 1, 0},
};

#define SECOND    10000000 /* in 100 ns */
#define FROM_LIST (1u << PROCESSES | 1u << THREADS)
#define FROM_STAT (1u << CONTEXT_SWITCHES | 1u << QUEUE_LENGTH)

/* A source that is not there leaves its counters absent; only a lack of memory is a failure. */
static HRESULT sample_list(struct object *o, struct source *source, int64_t *row)
{
    struct source_time time;
    int64_t threads = 0;
    HRESULT hr = source_need(source, SOURCE_PROCESSES, &time);
    if (FAILED(hr)) {
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    for (size_t i = 0; i < source->process_count; i++) {
        threads += source->processes[i].threads;
    }
    row[PROCESSES] = (int64_t)source->process_count;
    row[THREADS] = threads;
    o->present |= FROM_LIST;
    return S_OK;
}

static HRESULT sample_stat(struct object *o, struct source *source, int64_t *row)
{
    struct source_time time;
    HRESULT hr = source_need(source, SOURCE_STAT, &time);
    if (FAILED(hr)) {
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    /* The rate is per the time at which its own file was read. */
    o->time = time;
    if (source->stat.has_context_switches) {
        row[CONTEXT_SWITCHES] = (int64_t)(uint32_t)source->stat.context_switches;
        o->present |= 1u << CONTEXT_SWITCHES;
    }
    if (source->stat.has_running) {
        /* procs_running counts the running with the waiting (we, who read it, among the running). While threads wait,
           no processor is left idle: what exceeds the number of processors waits. */
        uint64_t running = source->stat.running, processors = source->stat.count;
        row[QUEUE_LENGTH] = running > processors ? (int64_t)(running - processors) : 0;
        o->present |= 1u << QUEUE_LENGTH;
    }
    return S_OK;
}

/* The start is worked out from a clock of some milliseconds' grain: keep the first answer, unless the wall clock was
   set since. */
static int64_t boot_time(struct object *o)
{
    int64_t *kept = o->state;
    int64_t now = clock_boot_utc();
    if (now - *kept > SECOND || *kept - now > SECOND) {
        *kept = now;
    }
    return *kept;
}

static HRESULT sample(struct object *o, struct source *source, uint64_t wanted)
{
    HRESULT hr = object_set_rows(o, 1);
    if (FAILED(hr)) {
        return hr;
    }
    int64_t *row = object_row(o, 0);
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    if (wanted & 1u << UP_TIME) {
        row[UP_TIME] = boot_time(o);
        o->present |= 1u << UP_TIME;
    }
    if (wanted & FROM_LIST) {
        hr = sample_list(o, source, row);
    }
    if (SUCCEEDED(hr) && (wanted & FROM_STAT)) {
        hr = sample_stat(o, source, row);
    }
    return hr;
}

const struct provider pdh_system = {
    .name = "System",
    .help = "This computer as a whole.",
    .counters = counters,
    .counter_count = VALUES,
    .value_count = VALUES,
    .sample = sample,
    .state_size = sizeof(int64_t), /* the boot time */
};
