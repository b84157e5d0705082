/* SPDX-License-Identifier: MIT */
/* The opened inputs of a report, which are counter logs, traces and configuration documents. */
#ifndef OPENPLA_REPORT_INPUTS_H
#define OPENPLA_REPORT_INPUTS_H

#include "engine/etw/trace_input.h"
#include "engine/logs/log_inputs.h"
#include "engine/report/make/report_document.h"

/* Zero-initialise, and set logs.names. */
struct report_inputs {
    struct inputs logs;
    struct trace_inputs traces;
    struct texts documents;
    uint64_t buffers_lost; /* lost buffers according to the traces */
    char *computer;        /* the computer according to the inputs; NULL if no input contains it */
};
/* Adds a warning with the reason for each unreadable input. Fails with REPORT_NO_DATA if no input is readable. */
HRESULT report_inputs_open(struct report_inputs *in, const struct texts *paths, struct texts *warnings);
/* Limits counter logs to the samples in this time range, inclusive (FILETIMEs in the first log's zone; INT64_MIN and
   INT64_MAX: no limit), and seeks to the first sample. */
HRESULT report_inputs_limit(struct report_inputs *in, int64_t from, int64_t to);
/* Adds the readers' warnings about corrupt parts. */
HRESULT report_inputs_warnings(const struct report_inputs *in, struct texts *warnings);
void report_inputs_close(struct report_inputs *in);

/* Copies the sections of a configuration document with their tables. Adds a warning for corrupt parts, and for rows
   that exceed the report's limits. */
HRESULT report_configuration_write(const char *path, struct report_document *to, struct texts *warnings);

#endif
