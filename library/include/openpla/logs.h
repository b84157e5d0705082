/* SPDX-License-Identifier: MIT */
/* libopenpla-logs: reads Windows' performance logs (BLG, CSV, TSV, databases through ODBC) and event traces (ETL), and
   writes performance logs.

   Results. Every function returns an openpla_result: OPENPLA_OK, OPENPLA_END (nothing more), or a negative number, an
   HRESULT. Then openpla_error() is the reason, which names the file or argument, and output parameters are NULL or 0.

   Handles. openpla_log, openpla_writer and openpla_trace are handles. The caller of openpla_..._open or _create closes
   them. A handle that was closed or never opened is OPENPLA_E_HANDLE, not a crash.

   Ownership. The library copies its arguments. What a function returns belongs to the handle: counters, information and
   the names in them until the handle is closed; samples, values, events and fields until the next call with the handle.
   A table belongs to the caller. Strings are UTF-8.

   Threads. Functions can be called on any thread, and different handles at the same time. One handle serves one call at
   a time: a second one gets OPENPLA_E_BUSY at once. openpla_error() is separate for each thread.

   Times are FILETIMEs: 100 ns since 1601-01-01, UTC (openpla_time_to_unix_ns).

   Compatibility. Structures with `size` can grow: initialise them with {sizeof(struct ...)}. All others, and the
   functions, stay as they are as long as the soname is libopenpla-logs.so.0. */
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
#define OPENPLA_E_NO_FILE  ((openpla_result)0x80070002) /* the file does not exist; 0x80070003: its folder */
#define OPENPLA_E_ACCESS   ((openpla_result)0x80070005)
#define OPENPLA_E_HANDLE   ((openpla_result)0x80070006) /* closed, or not a handle of this kind */
#define OPENPLA_E_INVALID  ((openpla_result)0x8007000D) /* the file is not a log */
#define OPENPLA_E_MEMORY   ((openpla_result)0x8007000E) /* also: a table larger than its limit */
#define OPENPLA_E_EXISTS   ((openpla_result)0x80070050)
#define OPENPLA_E_ARGUMENT ((openpla_result)0x80070057)
#define OPENPLA_E_FULL     ((openpla_result)0x80070070) /* the disk is full */
#define OPENPLA_E_BUSY     ((openpla_result)0x800700AA) /* another thread uses the handle */

/* The reason of this thread's last failed call, "" if none failed. Valid until the thread's next failing call. */
OPENPLA_API const char *openpla_error(void);
/* The version of the library, such as "0.1.0". Constant. */
OPENPLA_API const char *openpla_logs_version(void);

#define OPENPLA_TIME_MIN INT64_MIN
#define OPENPLA_TIME_MAX INT64_MAX
/* A FILETIME as nanoseconds since 1970-01-01, UTC, limited to what 64 bits hold (1677 to 2262). */
OPENPLA_API int64_t openpla_time_to_unix_ns(int64_t time);
OPENPLA_API int64_t openpla_time_from_unix_ns(int64_t ns);

/* ---- performance logs: reading ---- */

typedef struct openpla_log openpla_log;

enum openpla_format {
    OPENPLA_FORMAT_BY_NAME, /* writing: by the file's extension; reading: another format, see format_name */
    OPENPLA_FORMAT_CSV,
    OPENPLA_FORMAT_TSV,
    OPENPLA_FORMAT_SQL,
    OPENPLA_FORMAT_BINARY, /* BLG */
};

enum openpla_log_flags {
    /* Does not read the log ahead. Counters of a binary log whose instances start later are then added at the end of
       the list while samples are read, and samples, begin and end of the information are 0. */
    OPENPLA_LOG_STREAM = 1,
};

struct openpla_log_options {
    size_t size;
    uint32_t flags;              /* enum openpla_log_flags */
    const char *const *counters; /* only counters that match one of these paths; * and ? are wildcards, a path without a
                                    computer matches all computers, one without an instance all instances */
    size_t counter_count;        /* 0: all */
    int64_t begin, end;          /* only samples of these times, inclusive; both 0: all */
};

struct openpla_log_info {
    const char *path; /* without the password of a database */
    const char *format_name;
    const char *computer; /* "\\NAME"; NULL: unknown */
    const char *comment;  /* NULL: none */
    const char *zone;     /* name of the time zone of the log; NULL: unknown */
    int32_t bias_minutes; /* UTC = local time + bias */
    int32_t format;       /* enum openpla_format */
    uint64_t samples;
    int64_t begin, end; /* times of the first and the last sample; 0: none */
};

/* One counter of one instance. */
struct openpla_counter {
    const char *path;                                            /* \\computer\object(parent/instance#index)\counter */
    const char *computer, *object, *parent, *instance, *counter; /* NULL: none */
    uint32_t index;                                              /* of instances with the same name, 0 for the first */
    uint32_t type;                                               /* PERF_ type of winperf.h */
    int64_t time_base;                                           /* units per second of raw times */
    int32_t default_scale;                                       /* a power of ten for charts */
};

/* The value of one counter in one sample. */
struct openpla_value {
    double value;          /* formatted, as Performance Monitor shows it; NaN without has_value */
    int64_t first, second; /* raw: PDH_RAW_COUNTER's FirstValue and SecondValue */
    const char *text;      /* of a text counter, else NULL */
    uint32_t status;       /* PDH_CSTATUS_: 0 and 1 are valid data */
    uint32_t multi_count;
    bool has_value; /* false: missing, or a rate without an earlier sample */
};

struct openpla_sample {
    int64_t time;
    size_t count; /* as many as counters; with OPENPLA_LOG_STREAM it can be more than at the sample before */
    const struct openpla_value *values;
};

/* Opens a log at its first sample. `path`: a file, whose content determines its format, "SQL:DSN!SET" for a database,
   or a name with * and ? for several logs that are merged by time. Reads the log once to find all counters, unless
   OPENPLA_LOG_STREAM is set or the format lists them at its beginning. `options` may be NULL. */
OPENPLA_API openpla_result openpla_log_open(const char *path, const struct openpla_log_options *options,
                                            openpla_log **log);
OPENPLA_API openpla_result openpla_log_get_info(openpla_log *log, const struct openpla_log_info **info);
OPENPLA_API openpla_result openpla_log_get_counter_count(openpla_log *log, size_t *count);
/* OPENPLA_END: there are not as many counters. */
OPENPLA_API openpla_result openpla_log_get_counter(openpla_log *log, size_t index,
                                                   const struct openpla_counter **counter);
/* The next sample, or OPENPLA_END. Corrupt parts of the log are skipped (openpla_log_get_warning). */
OPENPLA_API openpla_result openpla_log_next(openpla_log *log, const struct openpla_sample **sample);
/* Continues with the first sample at or after `time`, also backwards; OPENPLA_TIME_MIN: the first one. The first values
   of rates are missing then. */
OPENPLA_API openpla_result openpla_log_seek(openpla_log *log, int64_t time);
/* A message about corrupt parts that were read so far, or about an option `counters` that matches nothing; OPENPLA_END:
   there are not as many. */
OPENPLA_API openpla_result openpla_log_get_warning(openpla_log *log, size_t index, const char **text);
OPENPLA_API openpla_result openpla_log_close(openpla_log *log);

/* The formatted values of many samples. Value of a counter in a sample: values[counter * stride + sample]; NaN if it
   has none. */
struct openpla_table {
    size_t samples, counters, stride;
    const int64_t *times;
    const double *values;
};
/* Reads the samples that follow, to the end. More than `max_values` values (0: 2^29, or 4 GiB) are OPENPLA_E_MEMORY. */
OPENPLA_API openpla_result openpla_log_read_table(openpla_log *log, uint64_t max_values, struct openpla_table **table);
/* Frees a table once; the log may be closed already. NULL is allowed. */
OPENPLA_API void openpla_table_free(struct openpla_table *table);

/* ---- performance logs: writing ---- */

typedef struct openpla_writer openpla_writer;

/* A counter type for values that are not raw: the library stores openpla_value.value. */
#define OPENPLA_TYPE_DOUBLE UINT32_C(0x00012000)

struct openpla_writer_options {
    size_t size;
    int32_t format; /* enum openpla_format */
    bool append;    /* continues an existing log with the same counters */
    bool replace;   /* overwrites an existing log; other files are never overwritten */
    bool circular;  /* binary: at max_bytes the newest samples replace the oldest */
    bool has_zone;  /* `bias_minutes` is the time zone of the log's local times, else this computer's */
    int32_t bias_minutes;
    const char *zone;    /* its name, may be NULL */
    const char *comment; /* may be NULL */
    uint64_t max_bytes;  /* 0: no limit */
    int64_t start;       /* time of the log's start; 0: now */
};

/* Creates a log. Uses `path`, `type`, `time_base` and `default_scale` of the counters. Wildcards are
   OPENPLA_E_ARGUMENT. `options` may be NULL. A failure creates no file. */
OPENPLA_API openpla_result openpla_writer_create(const char *path, const struct openpla_counter *counters, size_t count,
                                                 const struct openpla_writer_options *options, openpla_writer **writer);
/* Adds a sample of as many values as there are counters. Binary logs store raw values, or `value` for counters of
   OPENPLA_TYPE_DOUBLE; text logs store `value`; databases both. OPENPLA_END: the log has max_bytes, and the sample is
   not in it. After a failure the log is whole, without this sample. */
OPENPLA_API openpla_result openpla_writer_append(openpla_writer *writer, int64_t time,
                                                 const struct openpla_value *values, size_t count);
/* Makes the samples readable by other processes. */
OPENPLA_API openpla_result openpla_writer_flush(openpla_writer *writer);
/* Completes the log. The handle is closed even after a failure. */
OPENPLA_API openpla_result openpla_writer_close(openpla_writer *writer);

/* ---- event traces ---- */

typedef struct openpla_trace openpla_trace;

/* Definitions of events, besides those in the trace, of Windows' kernel and of this computer. All may be NULL. */
struct openpla_trace_options {
    size_t size;
    const char *const *manifests; /* manifest files, or folders of them */
    size_t manifest_count;
    const char *programs;       /* programs with manifests, or folders of them, separated by ';' */
    const char *formats;        /* TMF files for WPP, separated by ';' */
    const char *format_folders; /* folders of TMF files, separated by ';' */
    int64_t begin, end;         /* only events of these times, inclusive; both 0: all */
};

struct openpla_trace_info { /* of the first trace; the counts are of all */
    const char *path;
    const char *session;  /* NULL: unknown */
    int64_t begin, end;   /* of the session; 0: unknown */
    uint64_t events_lost; /* as the session recorded them */
    uint32_t buffers_lost;
    uint32_t processors, pointer_size;
};

enum openpla_field_kind {
    OPENPLA_FIELD_TEXT,
    OPENPLA_FIELD_INTEGER,  /* `text` is a decimal number: `integer` */
    OPENPLA_FIELD_UNSIGNED, /* the same: `integer` as an uint64_t */
    OPENPLA_FIELD_REAL,     /* `real` */
    OPENPLA_FIELD_BOOL,     /* `integer` is 0 or 1 */
    OPENPLA_FIELD_ARRAY,    /* the following fields up to OPENPLA_FIELD_END are its elements */
    OPENPLA_FIELD_STRUCT,   /* the same: its members */
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
    const char *provider;    /* name, or class of a classic event; NULL: unknown */
    const char *provider_id; /* "{GUID}" */
    const char *activity_id;
    const char *event, *task, *opcode_name, *level_name; /* NULL: none, or not decoded */
    const char *message;                                 /* of a WPP message with its arguments, else NULL */
    const char *reason;                                  /* why the fields are not decoded; NULL: they are */
    const struct openpla_field *fields;
    size_t field_count;
    const uint8_t *data; /* the event's bytes behind its header */
    size_t data_size;
    uint32_t process, thread; /* UINT32_MAX: unknown */
    uint32_t processor;
    uint16_t id, task_number;
    uint8_t version, channel, level, opcode;
};

/* Opens a trace. A name with * and ? is several traces, merged by time. `options` may be NULL. */
OPENPLA_API openpla_result openpla_trace_open(const char *path, const struct openpla_trace_options *options,
                                              openpla_trace **trace);
OPENPLA_API openpla_result openpla_trace_get_info(openpla_trace *trace, const struct openpla_trace_info **info);
/* The next event in the order of time, or OPENPLA_END. Corrupt parts are skipped (openpla_trace_get_warning). */
OPENPLA_API openpla_result openpla_trace_next(openpla_trace *trace, const struct openpla_event **event);
/* A message about corrupt parts or unusable definitions so far; OPENPLA_END: there are not as many. */
OPENPLA_API openpla_result openpla_trace_get_warning(openpla_trace *trace, size_t index, const char **text);
OPENPLA_API openpla_result openpla_trace_close(openpla_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
