/* SPDX-License-Identifier: MIT */
/* The objects System and Objects: values of the whole computer, from /proc/stat, the clock and the process list. The
   numbers of processes and threads come from the same list as the object Process, as on Windows, so that the sums
   agree. */
#include "engine/base/clock.h"
#include "engine/pdh/core/table.h"

/* The rows of System. The object Objects has only the MORE rows. */
#define SYSTEM_ROWS                                                                                                    \
    COLUMN(BOOT, "boot")                                                                                               \
    COLUMN(PROCESSES, "processes")                                                                                     \
    COLUMN(THREADS, "threads")                                                                                         \
    COLUMN(WAITING, "waiting")                                                                                         \
    COUNTER("Context Switches/sec", PERF_COUNTER_COUNTER, 146, -2, SUM, "stat.ctxt",                                   \
            "Switches from one thread to another on all processors.")                                                  \
    COUNTER("System Up Time", PERF_ELAPSED_TIME, 674, -5, SUM, "boot", "Seconds since this computer started.")         \
    COUNTER("Processor Queue Length", PERF_COUNTER_RAWCOUNT, 44, 1, SUM, "waiting",                                    \
            "Threads that are ready to run and wait for a processor. Running threads are not counted.")                \
    MORE("Processes", PERF_COUNTER_RAWCOUNT, 248, 0, SUM, "processes", "Number of processes in the object Process.")   \
    MORE("Threads", PERF_COUNTER_RAWCOUNT, 250, 0, SUM, "threads",                                                     \
         "Number of threads of the processes in the object Process.")

#define OBJECT system
#define ROWS   SYSTEM_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

struct system_state {
    struct table_state table;
    struct kernel_keys running;
    struct kernel_cpus cpus;
    int64_t boot;
};

static void close_state(void *state)
{
    struct system_state *s = state;
    kernel_keys_free(&s->running);
    kernel_cpus_free(&s->cpus);
}

#define SECOND 10000000 /* in units of 100 ns */

/* Returns the start time of the host OS. The start time is computed from a clock with a resolution of some
   milliseconds. Therefore the first result is kept, unless the wall clock has been set in the meantime. */
static int64_t boot_time(struct system_state *s)
{
    int64_t now = clock_boot_utc();
    if (now - s->boot > SECOND || s->boot - now > SECOND)
        s->boot = now;
    return s->boot;
}

static HRESULT count_processes(struct counter_object *o, struct source *source, int64_t *cells)
{
    const struct process_entry *entries;
    size_t count;
    int64_t threads = 0;
    HRESULT hr = source_processes(source, &o->hold, 0, &entries, &count, NULL);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        threads += entries[i].threads;
    cells[PROCESSES] = (int64_t)count;
    cells[THREADS] = threads;
    return S_OK;
}

/* Counts the waiting threads. procs_running counts running and waiting threads, including the reading thread. While
   threads wait, no processor is idle, so the number of waiting threads is procs_running minus the number of
   processors. */
static HRESULT count_waiting(struct counter_object *o, struct source *source, int64_t *cells)
{
    struct system_state *s = o->state;
    const char *text;
    size_t size, slot;
    HRESULT hr = source_text(source, &o->hold, SOURCE_STAT, &text, &size, NULL);
    if (SUCCEEDED(hr))
        hr = kernel_keys_add(&s->running, "procs_running", 13, &slot);
    if (SUCCEEDED(hr))
        hr = kernel_cpus_parse(text, size, &s->cpus);
    if (SUCCEEDED(hr))
        hr = kernel_keys_parse(text, size, &s->running);
    if (SUCCEEDED(hr)) {
        int64_t running = (int64_t)s->running.keys[slot].value, processors = (int64_t)s->cpus.count;
        cells[WAITING] = running > processors ? running - processors : 0;
    }
    return hr;
}

/* Adds the row of the system. If a source is missing, its counters are absent. Only lack of memory is a failure. */
static HRESULT system_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct system_state *s = o->state;
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, "", 0, 0);
    HRESULT hr = cells ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (wanted & BIT(BOOT)))
        cells[BOOT] = boot_time(s);
    if (SUCCEEDED(hr) && (wanted & (BIT(PROCESSES) | BIT(THREADS))))
        hr = count_processes(o, source, cells);
    if (hr != E_OUTOFMEMORY && (wanted & BIT(WAITING)))
        hr = count_waiting(o, source, cells);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

#define ORIGIN                                                                                                         \
    "processes and threads count the processes that the object Process lists; boot is the kernel's time since its "    \
    "start; waiting is procs_running of /proc/stat minus the number of processors"
const struct counter_object_type pdh_system = {
    .name = "System",
    .index = 2,
    .help = "This computer as a whole.",
    .tries_at_once = true,
    TABLE_OBJECT(system, ALL_OF, struct system_state, system_gather, close_state, ORIGIN)};
const struct counter_object_type pdh_objects = {
    .name = "Objects",
    .index = 260,
    .help = "The number of processes and threads of the system.",
    .tries_at_once = true,
    TABLE_OBJECT(system, MORE_OF, struct system_state, system_gather, close_state, ORIGIN)};
