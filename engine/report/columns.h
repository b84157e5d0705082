/* SPDX-License-Identifier: MIT */
/* Filters the counters of logs by paths with wildcards, and builds the columns of the log that relog writes. */
#ifndef OPENPLA_COLUMNS_H
#define OPENPLA_COLUMNS_H

#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"
#include "engine/logs/log_inputs.h"

struct filter_pattern {
    char *text;
    struct log_counters
        parts;      /* one counter: the parsed pattern; none: it is not a counter path, so whole paths are compared */
    char *instance; /* "parent/instance#index" with wildcards; NULL matches counters with any instance and counters
                       without an instance */
    const char *english_object, *english_counter; /* translated to English; NULL if unnecessary, or unknown */
    bool used;                                    /* the pattern matched a counter */
    bool translated;                              /* the pattern matched a counter only by the counter's English
                                                     names */
};

/* Without patterns, every counter matches. Zero-initialise. */
struct filter {
    struct filter_pattern *patterns;
    size_t count, capacity;
    const struct counter_names *names; /* for patterns in another language; set before filter_add. NULL: none */
};

/* Adds a pattern. A pattern without a computer matches any computer, and a pattern without an instance matches all
   instances. Case is ignored. Patterns match the counter names in the log and, if the log was translated, their English
   names. */
HRESULT filter_add(struct filter *f, const char *pattern);
/* Sets *matches to true if the counter matches the filter. If the counter is a wildcard, `item` is one of its
   instances; if `item` is NULL, *matches becomes true if any instance could match. */
HRESULT filter_matches(struct filter *f, const struct log_counter *counter, const char *item, bool *matches);
void filter_free(struct filter *f);

/* Sets *out to the counter's "parent/instance#index", or to NULL if the counter has no instance. */
HRESULT counter_instance(const struct log_counter *counter, char **out);

/* ---- columns: their counters and instances in the inputs, and their cells ---- */
/* Zero-initialise, then set filter, values and raw. */
struct columns {
    struct filter *filter; /* borrowed */
    bool values;           /* true: computed values, one column per instance; false: wildcard counters stay wildcards */
    bool raw; /* keep raw values; counters with the same name but different types then have separate columns */
    struct log_counters counters;
    struct log_cell *cells; /* the current sample, one per column */
    struct column *columns; /* one per cell */
    size_t cell_capacity, column_capacity;
    struct source *sources; /* one per counter of each input */
    size_t source_count, source_capacity;
    size_t *first_source; /* for each input, the index of its first element in `sources` */
    size_t input_capacity;
    uint32_t *buckets; /* hash table over the columns: index + 1 */
    size_t bucket_count;
    struct instance_numbers numbers; /* numbers of a counter's instances in the current sample */
    size_t most;                     /* maximum number of columns; 0 means no limit */
    uint64_t refused;                /* requests for columns beyond `most` */
    uint64_t rank;                   /* sort key of new columns: their input and counter */
};

/* Adds columns for counters and instances that are new in the current sample of the input. */
HRESULT columns_learn(struct columns *c, const struct inputs *in, size_t input);
/* Adds columns for the counters that the logs name, without their instances. */
HRESULT columns_begin(struct columns *c, const struct inputs *in);
/* Sorts the columns in the order of the inputs' counters. Call it after the last call of columns_learn. */
HRESULT columns_arrange(struct columns *c);
/* Fills in `cells` from the input's current sample. Computes values from the raw values of this call and of the
   previous call for the same input. Ignores counters and instances that are new in the sample. */
HRESULT columns_fill(struct columns *c, const struct inputs *in, size_t input);
/* Call it after the inputs were moved to another time: rates are then not computed across the gap. */
void columns_restart(struct columns *c);
void columns_free(struct columns *c);

#endif
