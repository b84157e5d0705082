/* SPDX-License-Identifier: MIT */
/* Several logs read as one, their samples in the order of time. */
#ifndef OPENPLA_LOG_INPUTS_H
#define OPENPLA_LOG_INPUTS_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

struct input {
    char *path;
    char *shown; /* the same for people: no password of a database */
    struct log_reader *reader;
    bool pending; /* utc and cells are its next sample */
    bool ended;
    int64_t utc;
    const struct log_cell *cells;
    uint64_t samples; /* given since the last rewind */
    int64_t first, last;
};

/* Zero-initialise. */
struct inputs {
    struct input *items;
    size_t count, capacity;
    int64_t from, to; /* FILETIMEs, inclusive: what inputs_next gives; set before inputs_rewind */
};

/* Adds the paths to *out, and in place of a name with * or ? all files that it matches, in the order of their names. */
HRESULT input_paths(const struct texts *paths, struct texts *out);
/* Opens the logs of input_paths. */
HRESULT inputs_open(struct inputs *in, const struct texts *paths);
/* Goes to the first sample in the range of time. */
HRESULT inputs_rewind(struct inputs *in);
/* inputs_rewind to that range, FILETIMEs in the first log's zone, inclusive; INT64_MIN, INT64_MAX: from the first
   sample on, up to the last one. There is a log. */
HRESULT inputs_limit(struct inputs *in, int64_t from, int64_t to);
/* The earliest sample that was not given yet; *at: which log it is of. Valid until the next call. S_FALSE: no more. */
HRESULT inputs_next(struct inputs *in, size_t *at);
void inputs_progress(const struct inputs *in, uint64_t *done, uint64_t *total);
/* Of all logs: samples given, the first and the last time (0: none). */
void inputs_range(const struct inputs *in, uint64_t *samples, int64_t *first, int64_t *last);
void inputs_close(struct inputs *in);

/* The name of a log for people: without the password of a database. From memory_alloc, NULL when out of memory. */
char *format_path(const char *path);

/* ---- intervals between neighbouring samples; the median is the interval of the log ---- */
/* Zero-initialise. At most 65,536 distances are kept, evenly spread, enough to find the middle one. */
struct sample_distances {
    int64_t *items;
    size_t count, capacity;
    uint64_t seen, step; /* every step-th is kept */
};
HRESULT sample_distances_add(struct sample_distances *d, int64_t distance);
int64_t sample_distances_middle(struct sample_distances *d); /* 0: none */
void sample_distances_free(struct sample_distances *d);

#endif
