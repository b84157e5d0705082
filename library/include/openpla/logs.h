/* SPDX-License-Identifier: MIT */
/* libopenpla-logs: reads Windows' performance logs (BLG, CSV, TSV, databases through ODBC) and event traces (ETL), and
   writes performance logs.

   Results. Functions return an openpla_result: OPENPLA_OK, OPENPLA_END (nothing more), or a negative number, which is
   an HRESULT. After a failure, openpla_error() returns the reason, which names the file or argument, and output
   parameters are NULL or 0.

   Handles. openpla_log, openpla_writer and openpla_trace are handles. The caller of openpla_..._open or _create must
   close the handle. A call with a handle that was closed or never opened returns OPENPLA_E_HANDLE instead of crashing.

   Ownership. The library copies its arguments. Returned pointers belong to the handle. Counters, information structures
   and their strings stay valid until the handle is closed; samples, values, events and fields stay valid until the next
   call with the handle. A table belongs to the caller. Strings are UTF-8.

   Threads. Functions can be called on any thread, and several threads can use different handles at the same time. A
   handle serves one call at a time: a concurrent second call returns OPENPLA_E_BUSY without waiting. Each thread has
   its own openpla_error().

   Times are FILETIMEs: units of 100 ns since 1601-01-01, UTC (see openpla_time_to_unix_ns).

   Compatibility. Structures with a member `size` can get new members: initialise them with {sizeof(struct ...)}. All
   other structures and the functions stay unchanged while the soname is libopenpla-logs.so.0. */
#ifndef OPENPLA_LOGS_H
#define OPENPLA_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define OPENPLA_API __attribute__((visibility("default")))
#else
#define OPENPLA_API
#endif

typedef int32_t openpla_result;

#define OPENPLA_OK         0
#define OPENPLA_END        1
#define OPENPLA_E_NO_FILE  ((openpla_result)0x80070002) /* no such file (0x80070003: no such folder) */
#define OPENPLA_E_ACCESS   ((openpla_result)0x80070005)
#define OPENPLA_E_HANDLE   ((openpla_result)0x80070006) /* the handle is closed, or of another kind */
#define OPENPLA_E_INVALID  ((openpla_result)0x8007000D) /* not a log */
#define OPENPLA_E_MEMORY   ((openpla_result)0x8007000E) /* out of memory, or a table exceeds its limit */
#define OPENPLA_E_EXISTS   ((openpla_result)0x80070050)
#define OPENPLA_E_ARGUMENT ((openpla_result)0x80070057)
#define OPENPLA_E_FULL     ((openpla_result)0x80070070) /* the disk is full */
#define OPENPLA_E_BUSY     ((openpla_result)0x800700AA) /* another thread is using the handle */

/* Returns the reason of this thread's last failed call, or "" if no call has failed. Valid until the thread's next
   failed call. */
OPENPLA_API const char *openpla_error(void);
/* Returns the library's version, such as "0.1.0". The string is constant. */
OPENPLA_API const char *openpla_logs_version(void);

#define OPENPLA_TIME_MIN INT64_MIN
#define OPENPLA_TIME_MAX INT64_MAX
/* Converts a FILETIME to nanoseconds since 1970-01-01, UTC, and back. A time outside the range of 64-bit nanoseconds
   (1677 to 2262) becomes the nearest limit of the range. */
OPENPLA_API int64_t openpla_time_to_unix_ns(int64_t time);
OPENPLA_API int64_t openpla_time_from_unix_ns(int64_t ns);

/* ---- performance logs: reading ---- */

typedef struct openpla_log openpla_log;

enum openpla_format {
    OPENPLA_FORMAT_BY_NAME, /* writing: chosen by the file's extension; reading: another format, see format_name */
    OPENPLA_FORMAT_CSV,
    OPENPLA_FORMAT_TSV,
    OPENPLA_FORMAT_SQL,
    OPENPLA_FORMAT_BINARY, /* BLG */
};

enum openpla_log_flags {
    /* Does not read ahead in the log. In a binary log, instances can appear after the first sample. While samples are
       read, the counters of new instances are added at the end of the list. openpla_log_info's `samples`, `begin` and
       `end` are 0. */
    OPENPLA_LOG_STREAM = 1,
};

struct openpla_log_options {
    size_t size;
    uint32_t flags;              /* enum openpla_log_flags */
    const char *const *counters; /* only counters that match one of these paths; * and ? are wildcards; a path without a
                                    computer matches all computers, and a path without an instance matches all
                                    instances */
    size_t counter_count;        /* 0 means all counters */
    int64_t begin, end;          /* only samples from `begin` to `end`, inclusive; if both are 0, all samples */
};

struct openpla_log_info {
    const char *path; /* without the password of a database */
    const char *format_name;
    const char *computer; /* "\\NAME"; NULL: unknown */
    const char *comment;  /* NULL: none */
    const char *zone;     /* name of the log's time zone; NULL: unknown */
    int32_t bias_minutes; /* UTC = local time + bias */
    int32_t format;       /* enum openpla_format */
    uint64_t samples;
    int64_t begin, end; /* times of the first and the last sample; 0: none */
};

/* One counter of one instance. */
struct openpla_counter {
    const char *path;                                            /* \\computer\object(parent/instance#index)\counter */
    const char *computer, *object, *parent, *instance, *counter; /* NULL: none */
    uint32_t index;        /* number among the instances with the same name, from 0 */
    uint32_t type;         /* PERF_ type of winperf.h */
    int64_t time_base;     /* ticks per second of the raw times */
    int32_t default_scale; /* power of ten for charts */
};

/* The value of one counter in one sample. */
struct openpla_value {
    double value;          /* formatted as in Performance Monitor; NaN if has_value is false */
    int64_t first, second; /* raw values: FirstValue and SecondValue of PDH_RAW_COUNTER */
    const char *text;      /* value of a text counter, otherwise NULL */
    uint32_t status;       /* PDH_CSTATUS_; 0 and 1: the data are valid */
    uint32_t multi_count;
    bool has_value; /* false: the value is missing, or a rate has no earlier sample */
};

struct openpla_sample {
    int64_t time;
    size_t count; /* number of counters; with OPENPLA_LOG_STREAM it can be higher than for the previous sample */
    const struct openpla_value *values;
};

/* Opens a log at its first sample. `path` is a file, whose content determines its format, or "SQL:DSN!SET" for a
   database, or a name with * and ? for several logs, which are merged by time. Reads the whole log once to find all
   counters, unless OPENPLA_LOG_STREAM is set or the format lists them at its beginning. `options` may be NULL. */
OPENPLA_API openpla_result openpla_log_open(const char *path, const struct openpla_log_options *options,
                                            openpla_log **log);
OPENPLA_API openpla_result openpla_log_get_info(openpla_log *log, const struct openpla_log_info **info);
OPENPLA_API openpla_result openpla_log_get_counter_count(openpla_log *log, size_t *count);
/* Returns the counter at `index`. OPENPLA_END: the log has no more than `index` counters. */
OPENPLA_API openpla_result openpla_log_get_counter(openpla_log *log, size_t index,
                                                   const struct openpla_counter **counter);
/* Reads the next sample, or returns OPENPLA_END. Skips corrupt parts of the log (see openpla_log_get_warning). */
OPENPLA_API openpla_result openpla_log_next(openpla_log *log, const struct openpla_sample **sample);
/* Makes openpla_log_next continue with the first sample at or after `time`. `time` can be before the current sample.
   OPENPLA_TIME_MIN means the log's first sample. After a seek, the first value of each rate is missing. */
OPENPLA_API openpla_result openpla_log_seek(openpla_log *log, int64_t time);
/* Returns the message at `index` about a corrupt part that was read so far, or about an entry of the option `counters`
   that matches nothing. OPENPLA_END: there are no more than `index` messages. */
OPENPLA_API openpla_result openpla_log_get_warning(openpla_log *log, size_t index, const char **text);
OPENPLA_API openpla_result openpla_log_close(openpla_log *log);

/* The formatted values of many samples. values[counter * stride + sample] is the value of a counter in a sample; NaN:
   no value. */
struct openpla_table {
    size_t samples, counters, stride;
    const int64_t *times;
    const double *values;
};
/* Reads all remaining samples. Returns OPENPLA_E_MEMORY if these samples have more than `max_values` values; 0 means
   2^29 values (4 GiB). */
OPENPLA_API openpla_result openpla_log_read_table(openpla_log *log, uint64_t max_values, struct openpla_table **table);
/* Frees a table; the log may already be closed. NULL is allowed. */
OPENPLA_API void openpla_table_free(struct openpla_table *table);

/* ---- performance logs: writing ---- */

typedef struct openpla_writer openpla_writer;

/* Counter type for values that are already computed: the library stores openpla_value.value. */
#define OPENPLA_TYPE_DOUBLE UINT32_C(0x00012000)

struct openpla_writer_options {
    size_t size;
    int32_t format; /* enum openpla_format */
    bool append;    /* continues an existing log that has the same counters */
    bool replace;   /* overwrites an existing log; other files are never overwritten */
    bool circular;  /* binary logs: at max_bytes, the newest samples replace the oldest */
    bool has_zone;  /* the log's local times use `bias_minutes`; false: they use this computer's time zone */
    int32_t bias_minutes;
    const char *zone;    /* name of the time zone; may be NULL */
    const char *comment; /* may be NULL */
    uint64_t max_bytes;  /* 0: no limit */
    int64_t start;       /* time of the log's start; 0 means now */
};

/* Creates a log. Uses `path`, `type`, `time_base` and `default_scale` of the counters. Returns OPENPLA_E_ARGUMENT for
   counter paths with wildcards. `options` may be NULL. No new file remains after a failure. */
OPENPLA_API openpla_result openpla_writer_create(const char *path, const struct openpla_counter *counters, size_t count,
                                                 const struct openpla_writer_options *options, openpla_writer **writer);
/* Adds a sample with one value per counter. Binary logs store the raw values, or `value` for counters of the type
   OPENPLA_TYPE_DOUBLE. Text logs store `value`. Databases store the raw values and `value`. OPENPLA_END: the log has
   reached max_bytes, and the sample is not stored. After a failure the log is complete without this sample. */
OPENPLA_API openpla_result openpla_writer_append(openpla_writer *writer, int64_t time,
                                                 const struct openpla_value *values, size_t count);
/* Makes the appended samples readable for other processes. */
OPENPLA_API openpla_result openpla_writer_flush(openpla_writer *writer);
/* Completes the log, and closes the handle even after a failure. */
OPENPLA_API openpla_result openpla_writer_close(openpla_writer *writer);

/* ---- event traces ---- */

typedef struct openpla_trace openpla_trace;

/* Additional event definitions. The library also uses three other sources: the trace, the Windows kernel's definitions,
   and the definitions on this computer. All members may be NULL. */
struct openpla_trace_options {
    size_t size;
    const char *const *manifests; /* manifest files, or folders of them */
    size_t manifest_count;
    const char *programs;       /* programs with manifests, or folders of them, separated by ';' */
    const char *formats;        /* TMF files for WPP, separated by ';' */
    const char *format_folders; /* folders of TMF files, separated by ';' */
    int64_t begin, end;         /* only events from `begin` to `end`, inclusive; if both are 0, all events */
};

/* If several traces are open, this is the information about the first one, but the counts are sums over all traces. */
struct openpla_trace_info {
    const char *path;
    const char *session;  /* NULL: unknown */
    int64_t begin, end;   /* start and end of the session; 0: unknown */
    uint64_t events_lost; /* number of lost events, as the session recorded it */
    uint32_t buffers_lost;
    uint32_t processors, pointer_size;
};

enum openpla_field_kind {
    OPENPLA_FIELD_TEXT,
    OPENPLA_FIELD_INTEGER,  /* `text` is a decimal number, and `integer` is its value */
    OPENPLA_FIELD_UNSIGNED, /* like OPENPLA_FIELD_INTEGER, but `integer` contains the bits of a uint64_t */
    OPENPLA_FIELD_REAL,     /* `real` is the value */
    OPENPLA_FIELD_BOOL,     /* `integer` is 0 or 1 */
    OPENPLA_FIELD_ARRAY,    /* the following fields up to OPENPLA_FIELD_END are its elements */
    OPENPLA_FIELD_STRUCT,   /* the following fields up to OPENPLA_FIELD_END are its members */
    OPENPLA_FIELD_END,
};

struct openpla_field {
    const char *name; /* NULL: an element of an array, or OPENPLA_FIELD_END */
    const char *text; /* the value as `openpla trace show` prints it; NULL for arrays and structs */
    int64_t integer;
    double real;
    int32_t kind; /* enum openpla_field_kind */
};

struct openpla_event {
    int64_t time;
    uint64_t keywords;
    const char *provider;    /* event provider's name, or a classic event's class; NULL: unknown */
    const char *provider_id; /* "{GUID}" */
    const char *activity_id;
    const char *event, *task, *opcode_name, *level_name; /* NULL: none, or not decoded */
    const char *message;                                 /* WPP message with its arguments, otherwise NULL */
    const char *reason;                                  /* why the fields are not decoded; NULL: they are decoded */
    const struct openpla_field *fields;
    size_t field_count;
    const uint8_t *data; /* the event's bytes after its header */
    size_t data_size;
    uint32_t process, thread; /* UINT32_MAX: unknown */
    uint32_t processor;
    uint16_t id, task_number;
    uint8_t version, channel, level, opcode;
};

/* Opens a trace. A name with * and ? opens all matching traces and merges their events by time. `options` may be
   NULL. */
OPENPLA_API openpla_result openpla_trace_open(const char *path, const struct openpla_trace_options *options,
                                              openpla_trace **trace);
OPENPLA_API openpla_result openpla_trace_get_info(openpla_trace *trace, const struct openpla_trace_info **info);
/* Reads the next event in time order, or returns OPENPLA_END. Skips corrupt parts (see openpla_trace_get_warning). */
OPENPLA_API openpla_result openpla_trace_next(openpla_trace *trace, const struct openpla_event **event);
/* Returns the message at `index` about a corrupt part or an unusable definition that was found so far. OPENPLA_END:
   there are no more than `index` messages. */
OPENPLA_API openpla_result openpla_trace_get_warning(openpla_trace *trace, size_t index, const char **text);
OPENPLA_API openpla_result openpla_trace_close(openpla_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
