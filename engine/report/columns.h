/* SPDX-License-Identifier: MIT */
/* The counters of logs chosen by paths with wildcards, and the columns of a log that relog writes of them. */
#ifndef OPENPLA_COLUMNS_H
#define OPENPLA_COLUMNS_H

#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"
#include "engine/logs/log_inputs.h"

struct filter_pattern {
    char *text;
    struct log_counters
        parts;      /* one: the parsed pattern; none: not a counter path, so the text is compared as a whole */
    char *instance; /* "parent/instance#index" with wildcards; NULL: any, and none */
    bool used;      /* something matched */
};

/* No pattern: everything matches. Zero-initialise. */
struct filter {
    struct filter_pattern *patterns;
    size_t count, capacity;
};

/* A pattern's computer may be left out: any. So may its instance: all of them. Case does not matter. */
HRESULT filter_add(struct filter *f, const char *pattern);
/* Does the counter match? For a wildcard counter `item` is one of its instances, NULL: may some of them match? */
HRESULT filter_matches(struct filter *f, const struct log_counter *counter, const char *item, bool *matches);
void filter_free(struct filter *f);

/* "parent/instance#index" of a counter; NULL in *out when it has none. */
HRESULT counter_instance(const struct log_counter *counter, char **out);

/* ---- columns: which counters and instances of the inputs they are, and their cells ---- */
/* Zero-initialise, then set filter, values and raw. */
struct columns {
    struct filter *filter; /* borrowed */
    bool values; /* computed ones, for which instances are columns; else wildcard counters stay what they are */
    bool raw;    /* raw values are kept: those of one column are of one kind */
    struct log_counters counters;
    struct log_cell *cells; /* one per counter: the present sample */
    struct column *columns; /* beside them */
    size_t cell_capacity, column_capacity;
    struct source *sources; /* one per counter of each input */
    size_t source_count, source_capacity;
    size_t *first_source; /* of each input */
    size_t input_capacity;
    uint32_t *buckets; /* hash table over the columns: place + 1 */
    size_t bucket_count;
    struct instance_numbers numbers; /* of the instances of one counter in the present sample */
    size_t most;      /* columns; 0: any number. Of what would be more nothing is kept, and `refused` counts it */
    uint64_t refused; /* how often columns were requested */
    uint64_t rank;    /* of columns that are added now: input and counter that they come from */
};

/* Adds a column for what the present sample of the input has and no earlier one had. */
HRESULT columns_learn(struct columns *c, const struct inputs *in, size_t input);
/* The same for the counters that the logs name, without their instances. */
HRESULT columns_begin(struct columns *c, const struct inputs *in);
/* Puts the columns into the order of the inputs' counters, after the last columns_learn. */
HRESULT columns_arrange(struct columns *c);
/* Fills in `cells` from the input's current sample. Computes values from the raw values of this call and of the
   previous call for the same input. Ignores counters and instances that are new in the sample. */
HRESULT columns_fill(struct columns *c, const struct inputs *in, size_t input);
void columns_free(struct columns *c);

#endif
