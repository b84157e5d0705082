/* SPDX-License-Identifier: MIT */
/* The columns of a log that relog writes: which counters and instances of the inputs they are, and their cells. */
#ifndef OPENPLA_COLUMNS_H
#define OPENPLA_COLUMNS_H

#include "engine/logs/counter_path.h"
#include "engine/logs/log_inputs.h"
#include "engine/report/counter_filter.h"

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
    uint64_t refused; /* times that a column was wanted */
    uint64_t rank;    /* of columns that are added now: input and counter that they come from */
};

/* Adds a column for what the present sample of the input has and no earlier one had. */
HRESULT columns_learn(struct columns *c, const struct inputs *in, size_t input);
/* The same for the counters that the logs name, without their instances. */
HRESULT columns_begin(struct columns *c, const struct inputs *in);
/* Puts the columns into the order of the inputs' counters, after the last columns_learn. */
HRESULT columns_arrange(struct columns *c);
/* Fills in `cells` from the input's present sample. Values are computed from the raw values of this call and the last
   one of the same input. What is new in the sample is left out. */
HRESULT columns_fill(struct columns *c, const struct inputs *in, size_t input);
void columns_free(struct columns *c);

#endif
