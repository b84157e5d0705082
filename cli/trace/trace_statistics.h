/* SPDX-License-Identifier: MIT */
/* An event trace read whole: how many events of whom, and what is missing. */
#ifndef OPENPLA_CLI_TRACE_STATISTICS_H
#define OPENPLA_CLI_TRACE_STATISTICS_H

#include "cli/cli.h"
#include "engine/base/text.h"
#include "engine/logs/etl_file.h"

struct provider_events {
    GUID provider; /* or class; zero: not told */
    uint64_t events;
};

struct trace_statistics {
    uint64_t bytes, events, buffers;   /* but for the log file header; the header's buffer is one of these */
    uint64_t unknown;                  /* events of a form that nobody knows; they are among `events` */
    int64_t first, last;               /* of events, FILETIMEs */
    uint64_t counter_samples;          /* events of a log of performance counters */
    struct provider_events *providers; /* the one with the most events first */
    size_t provider_count, provider_capacity;
    char *computer; /* from memory_alloc; NULL: not told */
    struct texts damage;
};

/* Reads the trace to its end. Free *out also after a failure. */
HRESULT trace_statistics_read(const char *path, struct cli_progress *progress, struct trace_statistics *out,
                              struct etl_reader **reader);
void trace_statistics_free(struct trace_statistics *s);

#endif
