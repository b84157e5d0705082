/* SPDX-License-Identifier: MIT */
/* The interface between log.c and the log formats: one constant table of functions for writing and one for reading. */
#ifndef OPENPLA_LOG_FORMATS_H
#define OPENPLA_LOG_FORMATS_H

#include "engine/logs/log.h"

/* These functions do what the log_writer_ functions in log.h describe. `create` never gets NULL options, and leaves no
   new file behind when it fails. */
struct log_format_functions {
    HRESULT(*create)
    (const struct log_format_traits *format, const char *path, const struct log_counter *counters, size_t count,
     int64_t start_utc, const struct log_options *options, struct log_writer **out);
    HRESULT (*append)(struct log_writer *w, int64_t utc, const struct log_cell *cells);
    HRESULT (*flush)(struct log_writer *w);
    uint64_t (*size)(const struct log_writer *w);
    HRESULT (*warning)(struct log_writer *w, char **text); /* NULL: the format has no warnings */
    HRESULT (*close)(struct log_writer *w);
};

/* First member of each format's writer. */
struct log_writer {
    const struct log_format_functions *functions;
};

/* These functions do what the log_reader_ functions in log.h describe. */
struct log_reader_functions {
    /* Returns whether the file has this format. `head` contains the first `size` bytes of the file: LOG_HEAD_BYTES, or
       the whole file if it is shorter. `head` is NULL if `path` is not a file. */
    bool (*recognises)(const char *path, const uint8_t *head, size_t size);
    /* Sets the members of struct log_reader that this format uses; the others stay zero. */
    HRESULT (*open)(const char *path, struct log_reader **out);
    HRESULT (*next)(struct log_reader *r, int64_t *utc, const struct log_cell **cells);
    HRESULT (*seek)(struct log_reader *r, int64_t utc);
    void (*progress)(const struct log_reader *r, uint64_t *done, uint64_t *total);
    void (*close)(struct log_reader *r); /* calls log_reader_free_base and then frees r */
};
enum { LOG_HEAD_BYTES = 4096 };

/* First member of each format's reader. */
struct log_reader {
    const struct log_reader_functions *functions;
    struct log_info info; /* its strings are from memory_alloc */
    struct log_counters counters;
    struct texts warnings;
    const struct counter_names *names; /* NULL: counters get no English names */
    size_t translated;                 /* number of counters that already have English names */
};
/* Adds a warning such as "row 12 at byte 3456: ..."; called by the formats. Never fails: drops the warning if memory
   runs out or LOG_MAX_WARNINGS is reached. */
void log_reader_warn(struct log_reader *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* Frees the strings in `info`, the counters and the warnings, but not r. */
void log_reader_free_base(struct log_reader *r);

/* Returns E_INVALIDARG with an error message if there is a wildcard counter. Called by formats that cannot store
   changing instances. */
HRESULT log_refuse_wildcards(const char *path, const struct log_counter *counters, size_t count);

extern const struct log_reader_functions log_text_reader;
extern const struct log_format_functions log_text_functions, log_sql_functions, log_binary_functions,
    log_arrow_functions, log_jsonl_functions, log_influx_functions, log_openmetrics_functions;
extern const struct log_reader_functions log_binary_reader, log_sql_reader;

#endif
