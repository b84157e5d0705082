/* SPDX-License-Identifier: MIT */
/* What a row of values comes to: in one pass, in bounded memory. */
#ifndef OPENPLA_VALUE_STATISTICS_H
#define OPENPLA_VALUE_STATISTICS_H

#include "engine/base/text.h"

enum {
    STATISTICS_EXACT = 1024,    /* values up to which percentiles are exact; above they are within 1 % */
    STATISTICS_MOST_BINS = 2048 /* of a sketch: ranges of values; the lowest of them become one when there are more */
};

/* Zero-initialise. */
struct value_statistics {
    uint64_t count;
    double least, greatest, last;
    double sum, lost; /* Kahan's sum: what `sum` lost so far */
    struct value_sketch *sketch;
};
/* Of finite values. `percentiles`: they are wanted, from the first value on. E_OUTOFMEMORY. */
HRESULT value_statistics_add(struct value_statistics *s, double value, bool percentiles);
double value_statistics_sum(const struct value_statistics *s);
double value_statistics_mean(const struct value_statistics *s); /* of no value: NaN */
/* The value of the nearest rank, `part` of 0 to 1; NaN without values, or where percentiles were not wanted. */
double value_statistics_percentile(struct value_statistics *s, double part);
size_t value_statistics_memory(const struct value_statistics *s); /* bytes beside the struct */
/* From now on there are none. */
void value_statistics_forget_percentiles(struct value_statistics *s);
void value_statistics_free(struct value_statistics *s);

#endif
