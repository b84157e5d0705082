/* SPDX-License-Identifier: MIT */
/* The objects Process and Thread: the processes of the process list, their threads, and their sums, _Total. There is no
   Idle: it has no working set to tell truly. */
#include "engine/pdh/providers.h"

#include <stdio.h>
#include <string.h>

enum {
    USER,
    KERNEL,
    VIRTUAL,
    VIRTUAL_PEAK,
    WORKING_SET,
    WORKING_SET_PEAK,
    WORKING_SET_PRIVATE,
    PRIVATE,
    FAULTS,
    THREADS,
    PRIORITY,
    START,
    ID,
    PARENT,
    HANDLES,
    READS,
    WRITES,
    READ_BYTES,
    WRITTEN_BYTES,
    COLUMNS
};
static const char *const columns[] = {
    "user",   "kernel",     "virtual_bytes", "virtual_peak", "resident", "resident_peak", "resident_private", "private",
    "faults", "threads",    "priority",      "start",        "id",       "parent",        "handles",          "reads",
    "writes", "read_bytes", "written_bytes"};
#define BIT(column) (1ull << (column))

static const struct counter_schema process[] = {
    {.name = "% Processor Time",
     .help = "Processor time of all threads as a share of one processor's time: more than 100 where several processors "
             "serve it.",
     .type = PERF_100NSEC_TIMER,
     .index = 6,
     .source = "user + kernel"},
    {.name = "% User Time",
     .help = "The part of % Processor Time spent in the program's own code.",
     .type = PERF_100NSEC_TIMER,
     .index = 142,
     .source = "user"},
    {.name = "% Privileged Time",
     .help = "The part of % Processor Time spent in the kernel.",
     .type = PERF_100NSEC_TIMER,
     .index = 144,
     .source = "kernel"},
    {.name = "Virtual Bytes Peak",
     .help = "The largest address space in use so far, in bytes.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -6,
     .index = 172,
     .source = "virtual_peak"},
    {.name = "Virtual Bytes",
     .help = "Address space in use, in bytes, whether memory is behind it or not.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -6,
     .index = 174,
     .source = "virtual_bytes"},
    {.name = "Page Faults/sec",
     .help = "Faults in which the process touched a page that was not mapped for it.",
     .type = PERF_COUNTER_COUNTER,
     .scale = -1,
     .index = 28,
     .source = "faults"},
    {.name = "Working Set Peak",
     .help = "The largest working set so far, in bytes.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -5,
     .index = 178,
     .source = "resident_peak"},
    {.name = "Working Set",
     .help = "Memory of the process that is in main memory, in bytes, shared pages included.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -5,
     .index = 180,
     .source = "resident"},
    {.name = "Page File Bytes",
     .help = "Memory that the process has touched and shares with nobody, in memory or in paging space, in bytes: as "
             "Private Bytes.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -6,
     .index = 184,
     .source = "private"},
    {.name = "Private Bytes",
     .help = "Memory that the process has touched and shares with nobody, in memory or in paging space, in bytes.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -5,
     .index = 186,
     .source = "private"},
    {.name = "Thread Count",
     .help = "Threads of the process.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 680,
     .source = "threads"},
    {.name = "Priority Base",
     .help = "Base priority of the process, from its priority class. _Total has none.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 682,
     .total = TOTAL_NONE,
     .source = "priority"},
    {.name = "Elapsed Time",
     .help = "Seconds since the process was started. _Total has none.",
     .type = PERF_ELAPSED_TIME,
     .scale = -4,
     .index = 684,
     .total = TOTAL_NONE,
     .source = "start"},
    {.name = "ID Process",
     .help = "Number of the process. _Total has none.",
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .index = 784,
     .total = TOTAL_NONE,
     .source = "id"},
    {.name = "Creating Process ID",
     .help = "Number of the process that started this one; it may have ended and its number be another's. _Total has "
             "none.",
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .index = 1410,
     .total = TOTAL_NONE,
     .source = "parent"},
    {.name = "Handle Count",
     .help = "Open handles; of the host's processes, open file descriptors.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 952,
     .source = "handles"},
    {.name = "IO Read Operations/sec",
     .help = "Calls that read: from files, devices, pipes and the network.",
     .type = PERF_COUNTER_BULK_COUNT,
     .index = 1412,
     .source = "reads"},
    {.name = "IO Write Operations/sec",
     .help = "Calls that write: to files, devices, pipes and the network.",
     .type = PERF_COUNTER_BULK_COUNT,
     .index = 1414,
     .source = "writes"},
    {.name = "IO Data Operations/sec",
     .help = "Calls that read or write.",
     .type = PERF_COUNTER_BULK_COUNT,
     .index = 1416,
     .source = "reads + writes"},
    {.name = "IO Read Bytes/sec",
     .help = "Bytes that calls read, from the file cache too.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 1418,
     .source = "read_bytes"},
    {.name = "IO Write Bytes/sec",
     .help = "Bytes that calls wrote, to the file cache too.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 1420,
     .source = "written_bytes"},
    {.name = "IO Data Bytes/sec",
     .help = "Bytes that calls read or wrote.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 1422,
     .source = "read_bytes + written_bytes"},
    {.name = "Working Set - Private",
     .help = "The part of the working set that the process shares with nobody, in bytes.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -5,
     .index = 1478,
     .source = "resident_private"},
};

/* What the list must read for the columns. */
static uint32_t figures_for(uint64_t wanted)
{
    uint32_t figures = PROCESS_USE;
    figures |= wanted & (BIT(VIRTUAL_PEAK) | BIT(WORKING_SET_PEAK) | BIT(WORKING_SET_PRIVATE) | BIT(PRIVATE))
                   ? PROCESS_MEMORY
                   : 0;
    figures |= wanted & (BIT(READS) | BIT(WRITES) | BIT(READ_BYTES) | BIT(WRITTEN_BYTES)) ? PROCESS_IO : 0;
    figures |= wanted & BIT(HANDLES) ? PROCESS_HANDLES : 0;
    figures |= wanted & BIT(FAULTS) ? PROCESS_FAULTS : 0;
    return figures;
}

static uint64_t key_of(int64_t start, uint32_t id)
{
    return (uint64_t)start ^ (uint64_t)id << 32 ^ id;
}

static HRESULT gather_processes(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct table_state *t = o->state;
    const struct process_entry *entries;
    size_t count;
    uint64_t generation;
    HRESULT hr = source_processes(source, &o->hold, figures_for(wanted), &entries, &count, &generation, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        int64_t *cells = table_add(t, ROW_PLAIN, NULL, e->name, strlen(e->name), key_of(e->start, e->id));
        if (!cells)
            return E_OUTOFMEMORY;
        cells[USER] = e->user_time;
        cells[KERNEL] = e->kernel_time;
        cells[VIRTUAL] = e->virtual_size;
        cells[VIRTUAL_PEAK] = e->virtual_peak;
        cells[WORKING_SET] = e->working_set;
        cells[WORKING_SET_PEAK] = e->working_set_peak;
        cells[WORKING_SET_PRIVATE] = e->working_set_private;
        cells[PRIVATE] = e->private_bytes;
        cells[FAULTS] = e->page_faults;
        cells[THREADS] = e->threads;
        cells[PRIORITY] = e->base_priority;
        cells[START] = e->start;
        cells[ID] = e->id;
        cells[PARENT] = e->parent;
        cells[HANDLES] = e->handles;
        cells[READS] = e->reads;
        cells[WRITES] = e->writes;
        cells[READ_BYTES] = e->read_bytes;
        cells[WRITTEN_BYTES] = e->written_bytes;
    }
    if (SUCCEEDED(hr) && !table_add(t, ROW_TOTAL, NULL, "_Total", 6, 0))
        return E_OUTOFMEMORY;
    return hr;
}
_Static_assert(PROCESS_ABSENT == VALUE_ABSENT, "absent figures are absent values");

enum { THREAD_USER, THREAD_KERNEL, THREAD_SWITCHES, THREAD_START, THREAD_PROCESS, THREAD_ID, THREAD_COLUMNS };
static const char *const thread_columns[] = {"user", "kernel", "switches", "start", "process", "id"};

static const struct counter_schema thread[] = {
    {.name = "Context Switches/sec",
     .help = "How often the thread gave up a processor or lost it to another one.",
     .type = PERF_COUNTER_COUNTER,
     .scale = -2,
     .index = 146,
     .source = "switches"},
    {.name = "% Processor Time",
     .help = "Processor time of the thread as a share of one processor's time.",
     .type = PERF_100NSEC_TIMER,
     .index = 6,
     .source = "user + kernel"},
    {.name = "% User Time",
     .help = "The part of % Processor Time spent in the program's own code.",
     .type = PERF_100NSEC_TIMER,
     .index = 142,
     .source = "user"},
    {.name = "% Privileged Time",
     .help = "The part of % Processor Time spent in the kernel.",
     .type = PERF_100NSEC_TIMER,
     .index = 144,
     .source = "kernel"},
    {.name = "Elapsed Time",
     .help = "Seconds since the thread was started. _Total has none.",
     .type = PERF_ELAPSED_TIME,
     .scale = -4,
     .index = 684,
     .total = TOTAL_NONE,
     .source = "start"},
    {.name = "ID Process",
     .help = "Number of the thread's process. _Total has none.",
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .index = 784,
     .total = TOTAL_NONE,
     .source = "process"},
    {.name = "ID Thread",
     .help = "Number of the thread. _Total has none.",
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .index = 804,
     .total = TOTAL_NONE,
     .source = "id"},
};

static HRESULT gather_threads(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct table_state *t = o->state;
    const struct process_entry *entries;
    size_t count;
    uint64_t generation;
    HRESULT hr = source_processes(source, &o->hold, PROCESS_THREADS, &entries, &count, &generation, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        for (uint32_t n = 0; n < e->listed_threads; n++) {
            const struct thread_entry *from = &e->first_thread[n];
            char name[12];
            int length = snprintf(name, sizeof name, "%u", (unsigned)n);
            int64_t *cells =
                table_add(t, ROW_PLAIN, e->name, name, (size_t)length, key_of(from->start, from->id) ^ e->id);
            if (!cells)
                return E_OUTOFMEMORY;
            cells[THREAD_USER] = from->user_time;
            cells[THREAD_KERNEL] = from->kernel_time;
            cells[THREAD_SWITCHES] = from->context_switches;
            cells[THREAD_START] = from->start;
            cells[THREAD_PROCESS] = e->id;
            cells[THREAD_ID] = from->id;
        }
    }
    if (SUCCEEDED(hr) && !table_add(t, ROW_TOTAL, "_Total", "_Total", 6, 0))
        return E_OUTOFMEMORY;
    return hr;
}

#define ORIGIN                                                                                                         \
    "Windows processes: the system's list of processes (NtQuerySystemInformation), under Wine with faults, private, "  \
    "resident_private and the four of transfers from the Linux process behind: /proc/<id>/stat, status (RssAnon + "    \
    "VmSwap, RssAnon), io (syscr, syscw, rchar, wchar) and without handles. The host's processes: "                    \
    "/proc/<id>/stat, status, io and the entries of fd. user and kernel in 100 ns"
static const struct table process_table = {ORIGIN, columns, COLUMNS, gather_processes, NULL};
static const struct table thread_table = {
    "Windows processes: the system's list (NtQuerySystemInformation); the host's: /proc/<id>/task/<id>/stat and status "
    "(voluntary_ctxt_switches + nonvoluntary_ctxt_switches). user and kernel in 100 ns",
    thread_columns, THREAD_COLUMNS, gather_threads, NULL};

const struct provider pdh_process = {.name = "Process",
                                     .help = "The processes that run: under Wine those of this prefix.",
                                     .index = 230,
                                     .has_instances = true,
                                     TABLE_PROVIDER(process, 23, process_table, struct table_state)};
const struct provider pdh_thread = {.name = "Thread",
                                    .help = "The threads of the processes that the object Process lists.",
                                    .index = 232,
                                    .has_instances = true,
                                    TABLE_PROVIDER(thread, 7, thread_table, struct table_state)};
