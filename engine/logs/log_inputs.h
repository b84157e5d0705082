/* SPDX-License-Identifier: MIT */
/* Several logs that are read as one, with their samples in time order. */
#ifndef OPENPLA_LOG_INPUTS_H
#define OPENPLA_LOG_INPUTS_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

struct input {
    char *path;
    char *shown; /* the path for messages: without the password of a database */
    struct log_reader *reader;
    bool pending; /* utc and cells are its next sample */
    bool ended;
    int64_t utc;
    const struct log_cell *cells;
    uint64_t samples; /* returned since the last rewind */
    int64_t first, last;
};

/* Zero-initialise. */
struct inputs {
    struct input *items;
    size_t count, capacity;
    int64_t from, to;                  /* FILETIMEs, inclusive: the range of inputs_next; set before inputs_rewind */
    const struct counter_names *names; /* for English names of the counters; set it before inputs_open. NULL: none */
};

/* Adds the paths to *out; a name with * or ? becomes all matching files, sorted by name. */
HRESULT input_paths(const struct texts *paths, struct texts *out);
/* Opens the logs of input_paths. */
HRESULT inputs_open(struct inputs *in, const struct texts *paths);
/* Goes to the first sample of the time range. */
HRESULT inputs_rewind(struct inputs *in);
/* inputs_rewind to that range, FILETIMEs in the first log's zone, inclusive; INT64_MIN, INT64_MAX: from the first
   sample, to the last one. At least one log must be open. */
HRESULT inputs_limit(struct inputs *in, int64_t from, int64_t to);
/* The next sample in the order of time; *at: index of its log. Valid until the next call. S_FALSE: no more. */
HRESULT inputs_next(struct inputs *in, size_t *at);
void inputs_progress(const struct inputs *in, uint64_t *done, uint64_t *total);
/* For all logs: number of samples returned, and the first and the last time (0: no sample). */
void inputs_range(const struct inputs *in, uint64_t *samples, int64_t *first, int64_t *last);
/* How many names were recognized among all counters so far, in the form of names_summary_text. S_FALSE and NULL: the
   names are English, or no names had to be translated. */
HRESULT inputs_describe_names(const struct inputs *in, char **out);
void inputs_close(struct inputs *in);

/* The name of a log for messages: without the password of a database. From memory_alloc, NULL when out of memory. */
char *format_path(const char *path);

/* ---- intervals between adjacent samples; the median is the interval of the log ---- */
/* Zero-initialise. Keeps at most 65,536 intervals, evenly spread, to estimate the median. */
struct sample_distances {
    int64_t *items;
    size_t count, capacity;
    uint64_t seen, step; /* every step-th is kept */
};
HRESULT sample_distances_add(struct sample_distances *d, int64_t distance);
int64_t sample_distances_middle(struct sample_distances *d); /* 0: none */
void sample_distances_free(struct sample_distances *d);

#endif
