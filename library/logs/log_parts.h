/* SPDX-License-Identifier: MIT */
/* An open performance log of the library. log_inputs.h reads the samples, and columns.h arranges their values as
   columns. */
#ifndef OPENPLA_LIBRARY_LOG_H
#define OPENPLA_LIBRARY_LOG_H

#include "engine/report/columns.h"
#include "library/logs/library.h"

struct library_log {
    struct inputs inputs;
    struct filter filter;
    struct columns columns;
    bool learns; /* the list of counters can grow while samples are read */
    int64_t begin;
    struct openpla_log_info info;
    /* The counters returned so far. Each counter is allocated separately, because callers keep the pointers. */
    struct openpla_counter **counters;
    size_t counter_count, counter_capacity;
    struct openpla_value *values; /* of the current sample */
    size_t value_capacity;
    struct openpla_sample sample;
    struct text_buffer warning;
};

/* Reads the next sample into columns.cells; *utc is its time. S_FALSE: no more samples. */
HRESULT library_log_next(struct library_log *log, int64_t *utc);

#endif
