/* SPDX-License-Identifier: MIT */
/* A log read whole: how many samples, how far apart, what is missing. */
#ifndef OPENPLA_CLI_LOG_STATISTICS_H
#define OPENPLA_CLI_LOG_STATISTICS_H

#include "cli/cli.h"
#include "engine/logs/log.h"

enum { MAX_GAPS = 100 };

struct counter_statistics {
    uint64_t missing;      /* samples in which it has no value, or its wildcard no instance */
    uint64_t fewest, most; /* instances of a wildcard */
};

struct log_gap {
    int64_t from, to; /* FILETIMEs, UTC; to < from: the times went back */
};

struct log_statistics {
    uint64_t bytes; /* 0: not known */
    uint64_t samples;
    int64_t first, last;
    int64_t interval; /* the middle one, 100 ns; 0: fewer than two samples */
    struct log_gap gaps[MAX_GAPS];
    size_t gap_count;
    uint64_t gaps_in_all;
    struct counter_statistics *counters; /* of the reader's counters */
    size_t counter_count;
};

/* Reads the log to its end. Free *out also after a failure. */
HRESULT log_statistics_read(struct log_reader *log, struct cli_progress *progress, struct log_statistics *out);
void log_statistics_free(struct log_statistics *s);

#endif
