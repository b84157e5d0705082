/* SPDX-License-Identifier: MIT */
/* Logs of performance counters: one interface to write them and one to read them, implemented for each format. The
   writers and the readers are portable and work as streams: memory use does not depend on the length of the log. */
#ifndef OPENPLA_LOG_H
#define OPENPLA_LOG_H

#include "engine/base/file.h"
#include "engine/base/text.h"

/* The names of one logged counter, in UTF-8. NULL: the counter does not have this part. */
struct log_counter {
    const char *machine; /* "\\\\NAME", with its backslashes */
    const char *object;
    const char *instance; /* NULL: the object has no instances */
    const char *parent;
    uint32_t index; /* number after '#', 0 for the first instance */
    const char *counter;
    bool wildcard;     /* `instance` is "*", and a cell has an item for each instance in the sample (formats with
                          `wildcards`) */
    uint32_t type;     /* PERF_* counter type of winperf.h */
    int64_t time_base; /* ticks per second of the `second` values, or of the sample clock */
    int32_t default_scale;
    const char *path; /* the counter's path in the log from which it was read, if log_counter_path would return a
                         different path; otherwise NULL */
    /* Set by log_reader_translate; borrowed from the counter_names. NULL: the name is English or unknown. */
    const char *english_object, *english_counter;
};
/* The counter type of all counters of a text log, because text logs contain only computed values. For this type, the
   member `first` of struct log_raw contains the bits of the computed double. (PDH's documentation calls this type
   PERF_DOUBLE_RAW; we know no file that contains it.) */
#define LOG_TYPE_DOUBLE UINT32_C(0x00012000)

/* Returns \\machine\object(parent/instance#index)\counter, or `path` if it is set. From memory_alloc; NULL: out of
   memory. */
char *log_counter_path(const struct log_counter *counter);

/* Return the English names if they are known, otherwise the names in the log. NULL if the log has no such name. */
static inline const char *log_counter_english_object(const struct log_counter *c)
{
    return c->english_object ? c->english_object : c->object;
}
static inline const char *log_counter_english_counter(const struct log_counter *c)
{
    return c->english_counter ? c->english_counter : c->counter;
}

/* Returns a hash of all names and the index. NULL and "" have different hashes. */
uint64_t log_counter_hash(const struct log_counter *counter);
bool log_counter_same(const struct log_counter *a, const struct log_counter *b);
void log_counter_free(struct log_counter *counter); /* frees the counter's strings and sets them to NULL */

/* A growing list of counters that owns their strings. Zero-initialise. */
struct log_counters {
    struct log_counter *items;
    size_t count, capacity;
};
HRESULT log_counters_add(struct log_counters *list, const struct log_counter *counter); /* copies the counter */
/* Adds the counter of a path. An invalid path is stored unchanged in both `path` and `counter`. */
HRESULT log_counters_add_path(struct log_counters *list, const char *path);
void log_counters_free(struct log_counters *list);

/* One raw value: PDH_RAW_COUNTER without its time. */
struct log_raw {
    uint32_t status; /* PDH_CSTATUS_*: 0 valid data, 1 new data */
    uint32_t multi_count;
    int64_t first, second;
    const char *text; /* value of a text counter (PERF_COUNTER_TEXT), UTF-8; otherwise NULL */
};

struct log_item { /* one instance of a wildcard counter */
    const char *instance;
    struct log_raw raw;
    bool has_value; /* as in log_cell; SQL only */
    double value;
};

/* The value of one counter in one sample. */
struct log_cell {
    struct log_raw raw;           /* value of a single counter; for a wildcard counter, only the status is used */
    const struct log_item *items; /* the instances of a wildcard counter */
    size_t item_count;
    bool has_value; /* false: the value is missing, or a rate has no earlier sample */
    double value;   /* formatted with PDH_FMT_DOUBLE | PDH_FMT_NOCAP100; only for text formats and SQL */
};

/* The time zone of a log's local times: UTC = local + bias for all samples. */
struct log_zone {
    bool known;
    int bias_minutes;
    const char *name; /* NULL: unknown */
};

typedef HRESULT log_check(void *user);

struct log_options {
    const char *base;    /* NULL, or the folder that must contain the file after links are resolved (file_open_below) */
    bool append;         /* continue an existing file, even one that a crash truncated */
    bool replace;        /* overwrite an existing log; if the file is not a log, fail with
                            HRESULT_FROM_WIN32(ERROR_INVALID_DATA) */
    const char *comment; /* description of the collector set, may be NULL */
    uint64_t max_bytes;  /* 0: no limit. At the limit log_writer_append returns S_FALSE without writing the sample */
    bool circular;       /* formats with `ring`: at max_bytes, the newest samples replace the oldest */
    /* Time zone of the log, for copies of other logs. If the zone is unknown, the log uses the host OS's bias: in a
       binary log the bias at the log's start, in other logs the bias at the time of each sample. */
    struct log_zone zone;
    const struct log_reader *copy_of; /* NULL, or the original of a copy: a binary copy of a binary log takes the
                                         machine, the start and the time zone from the original */
    bool wait_for_database; /* SQL, for copies of other logs: append waits for the database and does not drop samples */
    uint64_t kept_bytes;    /* SQL: maximum bytes of the samples that are kept while the database is unreachable; 0
                               means LOG_KEPT_BYTES */
    log_check *check;       /* NULL, or called regularly while log_writer_close writes for a long time; a failure stops
                               log_writer_close and is its result */
    void *check_user;
};

#define LOG_KEPT_BYTES (UINT64_C(64) << 20)

#define ETL_EXTENSION  ".etl" /* extension of event traces, which are not a format of counter logs */

enum log_format { /* values up to LOG_BINARY are MS-PLA's FileFormat */
#define LOG_FORMAT(format, ...) format,
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};

/* Properties of a format. */
struct log_format_traits {
    enum log_format format;
    const char *name;      /* for messages: "Binary" */
    const char *word;      /* word on command lines, in upper case: "BIN" */
    const char *extension; /* ".blg"; "": not a file */
    char separator;        /* between the cells of a row; 0: not a text format */
    uint32_t pdh_type;     /* PDH_LOG_TYPE_* */
    bool is_file;   /* false: a log set in a database, where nothing is replaced and all segments write to the same log
                       set */
    bool appends;   /* a collector's LogAppend has an effect on logs of this format. LogAppend has no effect on text
                       logs, as on Windows (behaviour 7), although log_options.append works for every format */
    bool ring;      /* supports log_options.circular; a full log of another format starts a new file */
    bool wildcards; /* supports wildcard counters, so a log can contain instances that appear after its start; otherwise
                       the columns are fixed */
    bool values;    /* the writer needs computed values */
    bool raw;       /* stores raw values, so the type of a counter is part of its identity */
    bool is_export; /* written by relog for other programs: collector sets and PDH do not offer it, no reader reads it,
                       log_options.append is refused, and max_bytes has no effect */
    bool english;   /* contains the English names of translated counters (log_reader_translate) */
};
/* Return the traits of a format, found by its value, PDH type, word or extension; NULL: unknown format. Words and
   extensions are compared ignoring case. */
const struct log_format_traits *log_format_traits(enum log_format format);
const struct log_format_traits *log_format_by_type(uint32_t pdh_type);
const struct log_format_traits *log_format_by_word(const char *word);
const struct log_format_traits *log_format_by_extension(const char *extension); /* `extension`: ".blg" or "blg" */
/* Finds the format for a word of logman's option -f. Does not find export formats. The word is a format's `word`. For a
   format with `ring`, "circ" can follow the word, as in "bincirc"; *circular is set if "circ" follows. */
const struct log_format_traits *log_format_by_option(const char *word, bool *circular);
enum log_format_use {
    LOG_FOR_SAMPLES, /* formats in which live samples are written */
    LOG_FOR_SETS,    /* the same formats, plus words such as "bincirc" for circular logs: every word that
                        log_format_by_option accepts */
    LOG_FOR_COPIES,  /* all formats */
};
enum { LOG_WORDS_BYTES = 96 }; /* enough for all words */
/* Writes the words of formats in lower case. Formats with `ring` come first. For example, LOG_FOR_SETS and the
   separator "|" yield "bin|bincirc|csv|tsv|sql". Truncates the result to `size` bytes. */
void log_format_words(enum log_format_use use, const char *separator, char *words, size_t size);
/* Returns whether the file name has the extension of an event trace or of a counter log format that is not for
   exports. */
bool log_is_log_name(const char *path);

struct log_writer;
/* Creates a log at `path` and writes the part before the samples. The file must not exist unless options->append or
   ->replace is set. Copies the counters. start_utc: FILETIME of the run's start. options may be NULL. No new file
   remains after a failure. Fails with the errors of file_open and file_write. Fails with E_INVALIDARG and an error
   message if a text format gets a wildcard counter, or if the file to which to append has other counters. Fails with
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if the format is unknown. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
   if the file to which to append is not a log of this format. */
HRESULT log_writer_create(enum log_format format, const char *path, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_options *options, struct log_writer **out);
/* Adds a sample that was taken at `utc` (FILETIME). `cells` are in the order of the counters. After a failure, the file
   is complete without this sample: a full disk costs the sample, but not the log. S_FALSE: the limit max_bytes is
   reached. */
HRESULT log_writer_append(struct log_writer *w, int64_t utc, const struct log_cell *cells);
/* Makes every appended sample readable by other processes, even if this process dies immediately afterwards. */
HRESULT log_writer_flush(struct log_writer *w);
uint64_t log_writer_size(const struct log_writer *w); /* bytes in the file */
/* Returns the warning that was raised since the last call, for example that the database was unreachable for a while.
   There can be a warning although log_writer_append has succeeded. S_OK: *text is from memory_alloc. S_FALSE: no
   warning; *text is NULL. E_OUTOFMEMORY: call again. */
HRESULT log_writer_warning(struct log_writer *w, char **text);
/* Completes the file and frees w, even on failure. NULL is allowed. */
HRESULT log_writer_close(struct log_writer *w);

/* ---- reading: a stream of samples; memory is limited to one sample and a buffer ---- */
struct log_info {
    enum log_format format;
    struct log_zone zone;
    const char *machine; /* the computer that wrote the log, "\\\\NAME"; NULL: unknown */
    const char *comment; /* NULL: none */
    bool has_values;     /* cells have formatted values (text formats and SQL); all cells have raw values */
};

struct log_reader;
/* Opens a log at its first sample. `path` is a file, whose content determines its format, or "SQL:DSN!log set". The
   file can grow while it is read. Fails with the errors of file_open, or with HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
   and an error message if the file is not a log. */
HRESULT log_reader_open(const char *path, struct log_reader **out);
/* Returns information about the log, borrowed from the reader, like everything that the reader returns. */
const struct log_info *log_reader_info(const struct log_reader *r);
/* Returns the counters of the samples' cells. log_reader_next can add counters at the end. Valid until the next call of
   log_reader_next. */
const struct log_counter *log_reader_counters(const struct log_reader *r, size_t *count);
/* Adds English names to all counters, including those that appear later. `names` must outlive the reader and all copies
   of its counters. Fails with E_OUTOFMEMORY. */
struct counter_names;
HRESULT log_reader_translate(struct log_reader *r, const struct counter_names *names);
/* Reads the next sample: its time (FILETIME, UTC) and one cell per counter of log_reader_counters, valid until the next
   call. In a wildcard counter's cell, `items` are the instances and `raw.status` is the counter's status. A missing
   value has has_value false and a raw.status other than 0 and 1. S_FALSE: no more samples. Corrupt parts are skipped:
   every complete sample is returned, and log_reader_warnings describes the rest. Fails if the file cannot be read or
   memory runs out. */
HRESULT log_reader_next(struct log_reader *r, int64_t *utc, const struct log_cell **cells);
/* Makes log_reader_next continue with the first sample at or after `utc`. `utc` can be before the current sample.
   INT64_MIN means the log's first sample. Assumes that a log's samples are in time order. */
HRESULT log_reader_seek(struct log_reader *r, int64_t utc);
/* Returns the progress in bytes of the file, or in rows of the database. `total` is 0 if it is unknown. */
void log_reader_progress(const struct log_reader *r, uint64_t *done, uint64_t *total);
/* Returns the warnings so far. Each warning describes a part of the log that is corrupt, truncated or unknown: the
   position of the part and what is missing, without the file's name. After LOG_MAX_WARNINGS, the last warning states
   that further warnings are not shown. */
enum { LOG_MAX_WARNINGS = 100 };
const struct texts *log_reader_warnings(const struct log_reader *r);
void log_reader_close(struct log_reader *r); /* NULL is allowed */

/* ---- for the writers of formats: files below the folder log_options.base ---- */
/* Opens the file of a new log. With `over`, an existing file is used if it is empty, a log, or the beginning of a log,
   and keeps its content until log_file_empty. Without `over`, an existing file is an error,
   HRESULT_FROM_WIN32(ERROR_FILE_EXISTS). *fresh: the file was created. Fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and an error message if the existing file is not a log; the file is then
   unchanged. Also fails with the errors of file_open_below. */
HRESULT log_file_begin(const char *path, const struct log_options *options, bool over, struct file **out, bool *fresh);
/* Empties the file. The writer calls this right before its first write. */
HRESULT log_file_empty(struct file *file);
/* Opens a file to append to it. */
HRESULT log_file_continue(const char *path, const struct log_options *options, struct file **out);
HRESULT log_file_delete(const char *path, const struct log_options *options);

#endif
