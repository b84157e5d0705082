/* SPDX-License-Identifier: MIT */
/* What a log format is to log.c: one constant table of functions. */
#ifndef OPENPLA_LOG_FORMATS_H
#define OPENPLA_LOG_FORMATS_H

#include "engine/log/log.h"

/* Semantics are those of the log_writer_ functions in log.h. create never gets NULL options and leaves no new file
   behind when it fails. */
struct log_format_functions {
    HRESULT(*create)
    (const char *path, const struct log_counter *counters, size_t count, int64_t start_utc,
     const struct log_options *options, struct log_writer **out);
    HRESULT (*append)(struct log_writer *w, int64_t utc, const struct log_cell *cells);
    HRESULT (*flush)(struct log_writer *w);
    uint64_t (*size)(const struct log_writer *w);
    HRESULT (*close)(struct log_writer *w);
};

/* First member of each format's writer. */
struct log_writer {
    const struct log_format_functions *functions;
};

extern const struct log_format_functions log_csv_functions, log_tsv_functions, log_binary_functions;

#endif
