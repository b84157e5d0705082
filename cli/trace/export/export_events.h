/* SPDX-License-Identifier: MIT */
/* The second pass of an export: from events to samples, runs, waits, counters and events with fields. */
#ifndef OPENPLA_EXPORT_EVENTS_H
#define OPENPLA_EXPORT_EVENTS_H

#include "cli/trace/export/export.h"
#include "cli/trace/export/threads.h"

struct export_processor {
    uint32_t running; /* thread; 0: idle */
    bool known;
    int64_t since;
};
/* Zero-initialise, and set the first five members. */
struct export_events {
    struct export *to;
    struct trace_schemas *schemas;
    const struct texts *providers; /* names with wildcards or GUIDs of events to export; empty: all */
    const struct texts *processes; /* ids, or names with wildcards, of processes to export; empty: all */
    int64_t from, until; /* FILETIMEs; events outside this range only show which processes and threads exist */
    struct live_threads live;
    struct id_map processors; /* number + 1 -> struct export_processor */
    uint32_t interval;        /* 100 ns between two samples */
    bool begun, switches;
    int64_t counted;                  /* counters have been written up to this time */
    double counters[EXPORT_COUNTERS]; /* since then; EXPORT_CPU: in 100 ns, over all processors */
    struct text_buffer name;
};
/* A trace_take for trace_stacks_read. */
HRESULT export_events_prepare(void *events, const struct trace_event *e);
/* A trace_take for the second pass. */
HRESULT export_events_take(void *events, const struct trace_event *e);
/* Ends what still runs. */
HRESULT export_events_end(struct export_events *x);
void export_events_free(struct export_events *x);
/* Frees the threads that the events have added. */
void export_threads_free(struct export *x);

#endif
