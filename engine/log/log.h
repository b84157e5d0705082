/* SPDX-License-Identifier: MIT */
/* Log files of performance counters: one writer interface, one file per format behind it. Portable, streaming. */
#ifndef OPENPLA_LOG_H
#define OPENPLA_LOG_H

#include "engine/os/text.h"

/* The names of one logged counter, UTF-8. NULL parts are absent. */
struct log_counter {
    const char *machine; /* "\\\\NAME", with its backslashes */
    const char *object;
    const char *instance; /* NULL: the object has none */
    const char *parent;
    uint32_t index; /* #index of the instance, 0 for the first */
    const char *counter;
    bool wildcard;     /* instance is "*": cells hold one item per instance of that moment (plaBinary, plaSql only) */
    uint32_t type;     /* PERF_* counter type of winperf.h */
    int64_t time_base; /* ticks per second of `second` values, or of the sample clock */
    int32_t default_scale;
};

/* One raw value: PDH_RAW_COUNTER without its time. */
struct log_raw {
    uint32_t status; /* PDH_CSTATUS_*: 0 valid data, 1 new data */
    int64_t first, second;
    uint32_t multi_count;
};

struct log_item { /* one instance of a wildcard counter */
    const char *instance;
    struct log_raw raw;
};

/* What one counter had to say in one sample. */
struct log_cell {
    struct log_raw raw;           /* of a single counter; for a wildcard: status of the whole */
    const struct log_item *items; /* of a wildcard counter */
    size_t item_count;
    bool has_value; /* false: missing, or the first sample of a rate */
    double value;   /* formatted as PDH_FMT_DOUBLE | PDH_FMT_NOCAP100; text formats only */
};

struct log_options {
    bool append;         /* continue an existing file (binary logs; text formats ignore it) */
    const char *comment; /* description of the set, may be NULL */
    uint64_t max_bytes;  /* 0: none. Reached: log_writer_append gives S_FALSE and the sample is not written */
};

enum log_format { LOG_CSV, LOG_TSV, LOG_SQL, LOG_BINARY }; /* values are MS-PLA's FileFormat */

struct log_writer;
/* Creates `path` (must not exist unless options->append; a caller that may overwrite deletes it first), and writes what
   comes before samples. counters are copied. start_utc: FILETIME of the run's start.
   options may be NULL. On failure no new file stays behind.
   Errors: those of file_open and file_write; E_INVALIDARG with text for a wildcard in a text format;
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) for a format that is not written. append to a file that logs other counters:
   E_INVALIDARG; to a file that is no such log: HRESULT_FROM_WIN32(ERROR_INVALID_DATA). */
HRESULT log_writer_create(enum log_format format, const char *path, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_options *options, struct log_writer **out);
/* Adds one sample taken at `utc` (FILETIME); cells in the order of the counters. Either the sample is in the file whole
   or, on failure, the file is whole without it (a full disk loses the sample, not the log). S_FALSE: limit reached. */
HRESULT log_writer_append(struct log_writer *w, int64_t utc, const struct log_cell *cells);
/* Makes every appended sample readable by others, also if this process dies at once. */
HRESULT log_writer_flush(struct log_writer *w);
uint64_t log_writer_size(const struct log_writer *w); /* bytes in the file */
/* Completes the file and frees w, also when it reports a failure. NULL is allowed. */
HRESULT log_writer_close(struct log_writer *w);

#endif
