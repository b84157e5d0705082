/* SPDX-License-Identifier: MIT */
/* The second pass of an export: converts events to samples, running periods, waits, counters, and events with
   fields. */
#ifndef OPENPLA_EXPORT_EVENTS_H
#define OPENPLA_EXPORT_EVENTS_H

#include "cli/trace/export/export.h"
#include "cli/trace/export/threads.h"

struct export_processor {
    uint32_t running; /* id of the running thread; 0 if the processor is idle */
    bool known;
    int64_t since;
};
/* Zero-initialise, and set the first five members. */
struct export_events {
    struct export *to;
    struct trace_schemas *schemas;
    const struct texts *providers; /* names with wildcards, or GUIDs, of the event providers to export; empty: all */
    const struct texts *processes; /* ids, or names with wildcards, of processes to export; empty: all */
    int64_t from, until; /* FILETIMEs; events outside this range are used only to determine processes and threads */
    struct live_threads live;
    struct id_map processors; /* key: processor number + 1; value: struct export_processor */
    uint32_t interval;        /* sample interval in units of 100 ns */
    bool begun, switches;
    int64_t counted;                  /* time up to which counters have been written */
    double counters[EXPORT_COUNTERS]; /* sums since `counted`; the sum EXPORT_CPU is in units of 100 ns, over all
                                         processors */
    struct text_buffer name;
};
/* The trace_take of the first pass, for trace_stacks_read. */
HRESULT export_events_prepare(void *events, const struct trace_event *e);
/* The trace_take of the second pass. */
HRESULT export_events_take(void *events, const struct trace_event *e);
/* Writes the last counters, and ends all running periods at the end of the trace. */
HRESULT export_events_end(struct export_events *x);
void export_events_free(struct export_events *x);
/* Frees the threads that the events added. */
void export_threads_free(struct export *x);

#endif
