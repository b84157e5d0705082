/* SPDX-License-Identifier: MIT */
/* The objects Process and Thread: the processes of the process list, their threads, and their totals as _Total. There
   is no instance Idle, because it would have no true working set. */
#include "engine/base/registry.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* The columns of Process: FIGURE(constant, name, field of struct process_entry, group of values in the list). */
#define PROCESS_FIGURES(FIGURE)                                                                                        \
    FIGURE(USER, "user", user_time, PROCESS_USE)                                                                       \
    FIGURE(KERNEL, "kernel", kernel_time, PROCESS_USE)                                                                 \
    FIGURE(VIRTUAL, "virtual_bytes", virtual_size, PROCESS_USE)                                                        \
    FIGURE(VIRTUAL_PEAK, "virtual_peak", virtual_peak, PROCESS_MEMORY)                                                 \
    FIGURE(WORKING_SET, "resident", working_set, PROCESS_USE)                                                          \
    FIGURE(WORKING_SET_PEAK, "resident_peak", working_set_peak, PROCESS_MEMORY)                                        \
    FIGURE(WORKING_SET_PRIVATE, "resident_private", working_set_private, PROCESS_MEMORY)                               \
    FIGURE(PRIVATE, "private", private_bytes, PROCESS_MEMORY)                                                          \
    FIGURE(FAULTS, "faults", page_faults, PROCESS_FAULTS)                                                              \
    FIGURE(THREADS, "threads", threads, PROCESS_USE)                                                                   \
    FIGURE(PRIORITY, "priority", base_priority, PROCESS_USE)                                                           \
    FIGURE(START, "start", start, PROCESS_USE)                                                                         \
    FIGURE(ID, "id", id, PROCESS_USE)                                                                                  \
    FIGURE(PARENT, "parent", parent, PROCESS_USE)                                                                      \
    FIGURE(HANDLES, "handles", handles, PROCESS_HANDLES)                                                               \
    FIGURE(READS, "reads", reads, PROCESS_IO)                                                                          \
    FIGURE(WRITES, "writes", writes, PROCESS_IO)                                                                       \
    FIGURE(READ_BYTES, "read_bytes", read_bytes, PROCESS_IO)                                                           \
    FIGURE(WRITTEN_BYTES, "written_bytes", written_bytes, PROCESS_IO)

#define FIGURE_COLUMN(constant, name, field, figures) COLUMN(constant, name)
#define PROCESS_ROWS                                                                                                   \
    PROCESS_FIGURES(FIGURE_COLUMN)                                                                                     \
    COUNTER("% Processor Time", PERF_100NSEC_TIMER, 6, 0, SUM, "user + kernel",                                        \
            "Processor time of all threads as a percentage of one processor. It exceeds 100 if threads run on "        \
            "several processors.")                                                                                     \
    COUNTER("% User Time", PERF_100NSEC_TIMER, 142, 0, SUM, "user",                                                    \
            "The part of % Processor Time spent in the program's own code.")                                           \
    COUNTER("% Privileged Time", PERF_100NSEC_TIMER, 144, 0, SUM, "kernel",                                            \
            "The part of % Processor Time spent in the kernel.")                                                       \
    COUNTER("Virtual Bytes Peak", PERF_COUNTER_LARGE_RAWCOUNT, 172, -6, SUM, "virtual_peak",                           \
            "The largest address space in use so far, in bytes.")                                                      \
    COUNTER("Virtual Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 174, -6, SUM, "virtual_bytes",                               \
            "Address space in use, in bytes, whether or not memory backs it.")                                         \
    COUNTER("Page Faults/sec", PERF_COUNTER_COUNTER, 28, -1, SUM, "faults",                                            \
            "Page faults: accesses of the process to a page that was not mapped for it.")                              \
    COUNTER("Working Set Peak", PERF_COUNTER_LARGE_RAWCOUNT, 178, -5, SUM, "resident_peak",                            \
            "The largest working set so far, in bytes.")                                                               \
    COUNTER("Working Set", PERF_COUNTER_LARGE_RAWCOUNT, 180, -5, SUM, "resident",                                      \
            "The part of the process's memory that is in physical memory, in bytes, including shared pages.")          \
    COUNTER("Page File Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 184, -6, SUM, "private",                                   \
            "Memory that the process has touched and does not share, in memory or in the paging space, in bytes. "     \
            "Same as Private Bytes.")                                                                                  \
    COUNTER("Private Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 186, -5, SUM, "private",                                     \
            "Memory that the process has touched and does not share, in memory or in the paging space, in bytes.")     \
    COUNTER("Thread Count", PERF_COUNTER_RAWCOUNT, 680, 0, SUM, "threads", "Number of threads of the process.")        \
    COUNTER("Priority Base", PERF_COUNTER_RAWCOUNT, 682, 0, NO_TOTAL, "priority",                                      \
            "Base priority of the process, given by its priority class. Not available for _Total.")                    \
    COUNTER("Elapsed Time", PERF_ELAPSED_TIME, 684, -4, NO_TOTAL, "start",                                             \
            "Seconds since the process started. Not available for _Total.")                                            \
    COUNTER("ID Process", PERF_COUNTER_RAWCOUNT, 784, -1, NO_TOTAL, "id",                                              \
            "Identifier of the process. Not available for _Total.")                                                    \
    COUNTER("Creating Process ID", PERF_COUNTER_RAWCOUNT, 1410, -1, NO_TOTAL, "parent",                                \
            "Identifier of the process that started this one. That process may have exited and its identifier may "    \
            "have been reused. Not available for _Total.")                                                             \
    COUNTER("Handle Count", PERF_COUNTER_RAWCOUNT, 952, 0, SUM, "handles",                                             \
            "Number of open handles. For processes of the host OS: number of open file descriptors.")                  \
    COUNTER("IO Read Operations/sec", PERF_COUNTER_BULK_COUNT, 1412, 0, SUM, "reads",                                  \
            "Read calls, from files, devices, pipes and the network.")                                                 \
    COUNTER("IO Write Operations/sec", PERF_COUNTER_BULK_COUNT, 1414, 0, SUM, "writes",                                \
            "Write calls, to files, devices, pipes and the network.")                                                  \
    COUNTER("IO Data Operations/sec", PERF_COUNTER_BULK_COUNT, 1416, 0, SUM, "reads + writes",                         \
            "Read and write calls.")                                                                                   \
    COUNTER("IO Read Bytes/sec", PERF_COUNTER_BULK_COUNT, 1418, -4, SUM, "read_bytes",                                 \
            "Bytes read by calls, including bytes from the file cache.")                                               \
    COUNTER("IO Write Bytes/sec", PERF_COUNTER_BULK_COUNT, 1420, -4, SUM, "written_bytes",                             \
            "Bytes written by calls, including bytes to the file cache.")                                              \
    COUNTER("IO Data Bytes/sec", PERF_COUNTER_BULK_COUNT, 1422, -4, SUM, "read_bytes + written_bytes",                 \
            "Bytes read or written by calls.")                                                                         \
    COUNTER("Working Set - Private", PERF_COUNTER_LARGE_RAWCOUNT, 1478, -5, SUM, "resident_private",                   \
            "The part of the working set that the process does not share, in bytes.")

#define THREAD_ROWS                                                                                                    \
    COLUMN(THREAD_USER, "user")                                                                                        \
    COLUMN(THREAD_KERNEL, "kernel")                                                                                    \
    COLUMN(THREAD_SWITCHES, "switches")                                                                                \
    COLUMN(THREAD_START, "start")                                                                                      \
    COLUMN(THREAD_PROCESS, "process")                                                                                  \
    COLUMN(THREAD_ID, "id")                                                                                            \
    COLUMN(THREAD_PRIORITY, "priority")                                                                                \
    COLUMN(THREAD_BASE_PRIORITY, "base_priority")                                                                      \
    COLUMN(THREAD_STATE, "state")                                                                                      \
    COLUMN(THREAD_WAIT, "wait_reason")                                                                                 \
    COUNTER("Context Switches/sec", PERF_COUNTER_COUNTER, 146, -2, SUM, "switches",                                    \
            "Switches away from the thread, because it waited or another thread took the processor.")                  \
    COUNTER("% Processor Time", PERF_100NSEC_TIMER, 6, 0, SUM, "user + kernel",                                        \
            "Processor time of the thread as a percentage of one processor.")                                          \
    COUNTER("% User Time", PERF_100NSEC_TIMER, 142, 0, SUM, "user",                                                    \
            "The part of % Processor Time spent in the program's own code.")                                           \
    COUNTER("% Privileged Time", PERF_100NSEC_TIMER, 144, 0, SUM, "kernel",                                            \
            "The part of % Processor Time spent in the kernel.")                                                       \
    COUNTER("Elapsed Time", PERF_ELAPSED_TIME, 684, -4, NO_TOTAL, "start",                                             \
            "Seconds since the thread started. Not available for _Total.")                                             \
    COUNTER("ID Process", PERF_COUNTER_RAWCOUNT, 784, -1, NO_TOTAL, "process",                                         \
            "Identifier of the thread's process. Not available for _Total.")                                           \
    COUNTER("ID Thread", PERF_COUNTER_RAWCOUNT, 804, -1, NO_TOTAL, "id",                                               \
            "Identifier of the thread. Not available for _Total.")                                                     \
    COUNTER("Priority Current", PERF_COUNTER_RAWCOUNT, 694, 0, NO_TOTAL, "priority",                                   \
            "Current priority of the thread, 1 to 31. Not available for _Total.")                                      \
    COUNTER("Priority Base", PERF_COUNTER_RAWCOUNT, 682, 0, NO_TOTAL, "base_priority",                                 \
            "Base priority of the thread, from its process's priority class and its own priority, 1 to 31. Not "       \
            "priority of the thread. Not available for _Total.")                                                       \
    COUNTER("Thread State", PERF_COUNTER_RAWCOUNT, 46, 0, NO_TOTAL, "state",                                           \
            "State of the thread: 2 running or ready, 4 terminated, 5 waiting. Not available for _Total.")             \
    COUNTER("Thread Wait Reason", PERF_COUNTER_RAWCOUNT, 336, 0, NO_TOTAL, "wait_reason",                              \
            "Why the thread waits: 0 in the kernel (for example for a disk), 5 suspended, 6 waiting at its own "       \
            "request. Not available for threads that do not wait and for _Total.")

#define OBJECT process
#define ROWS   PROCESS_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT thread
#define ROWS   THREAD_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

/* If the user has set this value, names end with the process id, as in "svchost_1234" (behaviour 26). */
#define NAMES_KEY   "SYSTEM\\CurrentControlSet\\Services\\PerfProc\\Performance"
#define NAMES_VALUE "ProcessNameFormat"
enum { NAME_WITH_ID = 2, NAME_ROOM = 784 /* bytes: a file name of 255 characters and an id */ };

struct process_state {
    struct table_state table;
    bool format_known, with_id; /* read once, at the beginning, as on Windows */
};

static void read_format(struct process_state *s)
{
    struct registry_key *key = NULL;
    uint64_t format = 0;
    if (!s->format_known && registry_open(NAMES_KEY, false, &key) == S_OK &&
        registry_read_number(key, NAMES_VALUE, &format) == S_OK)
        s->with_id = format == NAME_WITH_ID;
    s->format_known = true;
    registry_close(key);
}

/* Writes the process's name as the objects show it, truncated if the buffer is too small. */
static size_t show_name(const struct process_state *s, const struct process_entry *e, char *out, size_t room)
{
    const int length = s->with_id ? snprintf(out, room, "%.*s_%u", (int)room - 16, e->name, (unsigned)e->id)
                                  : snprintf(out, room, "%s", e->name);
    return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* Returns the groups of values that the process list must read for the columns. */
static uint32_t figures_for(uint64_t wanted)
{
    uint32_t needed = PROCESS_USE;
#define FIGURE_GROUP(constant, name, field, figures) needed |= wanted & BIT(constant) ? figures : 0;
    PROCESS_FIGURES(FIGURE_GROUP)
    return needed;
}

static uint64_t key_of(int64_t start, uint32_t id)
{
    return (uint64_t)start ^ (uint64_t)id << 32 ^ id;
}

static HRESULT gather_processes(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct process_state *s = o->state;
    const struct process_entry *entries;
    size_t count;
    read_format(s);
    HRESULT hr = source_processes(source, &o->hold, figures_for(wanted), &entries, &count, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        char name[NAME_ROOM];
        const size_t length = show_name(s, e, name, sizeof name);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, length, key_of(e->start, e->id));
        if (!cells)
            return E_OUTOFMEMORY;
#define FIGURE_CELL(constant, name, field, figures) cells[constant] = e->field;
        PROCESS_FIGURES(FIGURE_CELL)
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, 0) : hr;
}
/* NOLINTNEXTLINE(misc-redundant-expression): the same number under two names */
_Static_assert(PROCESS_ABSENT == VALUE_ABSENT, "PROCESS_ABSENT and VALUE_ABSENT are the same number");

static HRESULT gather_threads(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct process_state *s = o->state;
    const struct process_entry *entries;
    size_t count;
    read_format(s);
    HRESULT hr = source_processes(source, &o->hold, PROCESS_THREADS, &entries, &count, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        char parent[NAME_ROOM];
        show_name(s, e, parent, sizeof parent);
        for (uint32_t n = 0; n < e->listed_threads; n++) {
            const struct thread_entry *from = &e->first_thread[n];
            char name[12];
            int length = snprintf(name, sizeof name, "%u", (unsigned)n);
            int64_t *cells =
                table_add(&s->table, ROW_PLAIN, parent, name, (size_t)length, key_of(from->start, from->id) ^ e->id);
            if (!cells)
                return E_OUTOFMEMORY;
            cells[THREAD_USER] = from->user_time;
            cells[THREAD_KERNEL] = from->kernel_time;
            cells[THREAD_SWITCHES] = from->context_switches;
            cells[THREAD_START] = from->start;
            cells[THREAD_PROCESS] = e->id;
            cells[THREAD_ID] = from->id;
            cells[THREAD_PRIORITY] = from->priority;
            cells[THREAD_BASE_PRIORITY] = from->base_priority;
            cells[THREAD_STATE] = from->state;
            cells[THREAD_WAIT] = from->wait_reason;
        }
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, true, 0) : hr;
}

#define ORIGIN                                                                                                         \
    "Windows processes: the system's list of processes (NtQuerySystemInformation). Under Wine, faults, private, "      \
    "resident_private and the four columns of transfers come from the Linux process that runs the program: "           \
    "/proc/<id>/stat, status (RssAnon + VmSwap, RssAnon) and io (syscr, syscw, rchar, wchar), and handles has no "     \
    "value. Processes of the host OS: /proc/<id>/stat, status, io and the entries of fd. user and kernel are in "      \
    "units of 100 ns"
const struct counter_object_type pdh_process = {
    .name = "Process",
    .index = 230,
    .help = "The running processes; under Wine, those of this prefix.",
    .has_instances = true,
    TABLE_OBJECT(process, ALL_OF, struct process_state, gather_processes, NULL, ORIGIN)};
const struct counter_object_type pdh_thread = {
    .name = "Thread",
    .index = 232,
    .help = "The threads of the processes that the object Process lists.",
    .has_instances = true,
    TABLE_OBJECT(
        thread, ALL_OF, struct process_state, gather_threads, NULL,
        "Windows processes: the system's list of processes (NtQuerySystemInformation). Processes of the host OS: "
        "/proc/<id>/task/<id>/stat and status (voluntary_ctxt_switches + nonvoluntary_ctxt_switches). user "
        "and kernel are in units of 100 ns. Only Windows processes have priorities. Under Wine, only "
        "processes of the host OS have switches, state and wait_reason")};
