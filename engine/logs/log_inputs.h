/* SPDX-License-Identifier: MIT */
/* Reads several logs as one and merges their samples in time order. */
#ifndef OPENPLA_LOG_INPUTS_H
#define OPENPLA_LOG_INPUTS_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

struct input {
    char *path;
    char *shown; /* the path as messages show it, without a database's password */
    struct log_reader *reader;
    bool pending; /* `utc` and `cells` contain the next sample of this log */
    bool ended;
    int64_t utc;
    const struct log_cell *cells;
    uint64_t samples; /* number of samples returned since the last rewind */
    int64_t first, last;
};

/* Zero-initialise. */
struct inputs {
    struct input *items;
    size_t count, capacity;
    int64_t from, to;                  /* FILETIMEs, inclusive: the range of inputs_next; set before inputs_rewind */
    const struct counter_names *names; /* for the counters' English names; set before inputs_open. NULL: none */
};

/* Adds the paths to *out. A name with * or ? becomes all matching files, sorted by name. */
HRESULT input_paths(const struct texts *paths, struct texts *out);
/* Opens the logs of input_paths. */
HRESULT inputs_open(struct inputs *in, const struct texts *paths);
/* Goes to the first sample of the time range. */
HRESULT inputs_rewind(struct inputs *in);
/* Sets the time range and goes to its first sample. `from` and `to` are inclusive FILETIMEs in the first log's time
   zone. If `from` is INT64_MIN, the range begins with the first sample; if `to` is INT64_MAX, the range ends with the
   last sample. At least one log must be open. */
HRESULT inputs_limit(struct inputs *in, int64_t from, int64_t to);
/* Reads the next sample in time order; *at is the index of its log. The sample is valid until the next call. S_FALSE:
   no more samples. */
HRESULT inputs_next(struct inputs *in, size_t *at);
void inputs_progress(const struct inputs *in, uint64_t *done, uint64_t *total);
/* Returns how many samples inputs_next has returned from all logs, and the times of the first and the last returned
   sample (0: no sample). */
void inputs_range(const struct inputs *in, uint64_t *samples, int64_t *first, int64_t *last);
/* Describes, like names_summary_text, how many names of all counters so far were recognized. S_FALSE and NULL: all
   names are English, or inputs.names is NULL. */
HRESULT inputs_describe_names(const struct inputs *in, char **out);
void inputs_close(struct inputs *in);

/* Returns a log's name for messages, without the password of a database. From memory_alloc; NULL: out of memory. */
char *format_path(const char *path);

/* ---- intervals between adjacent samples; the median is the interval of the log ---- */
/* Zero-initialise. Keeps at most 65,536 intervals, evenly spread, to estimate the median. */
struct sample_distances {
    int64_t *items;
    size_t count, capacity;
    uint64_t seen, step; /* only every step-th interval is kept */
};
HRESULT sample_distances_add(struct sample_distances *d, int64_t distance);
int64_t sample_distances_middle(struct sample_distances *d); /* 0: no interval was added */
void sample_distances_free(struct sample_distances *d);

#endif
