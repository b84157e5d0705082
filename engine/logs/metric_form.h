/* SPDX-License-Identifier: MIT */
/* What a counter becomes as a metric: its name, type and unit, and how the raw values of a sample are written. */
#ifndef OPENPLA_METRIC_FORM_H
#define OPENPLA_METRIC_FORM_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

enum metric_kind {
    METRIC_NONE, /* not a number */
    METRIC_GAUGE,
    METRIC_COUNTER,
    METRIC_SUMMARY, /* a sum and a count */
};
enum metric_source {
    METRIC_FIRST,
    METRIC_SECOND,
    METRIC_QUOTIENT, /* first / second */
    METRIC_ELAPSED,  /* second - first */
    METRIC_DOUBLE,   /* the bits of a double in first: a value that was computed before, LOG_TYPE_DOUBLE */
};

/* value = source * factor / divisor + offset. Integers, so that what PDH counts leaves without rounding. */
struct metric_scale {
    enum metric_source source;
    int64_t factor, divisor;
    double offset;
    bool large; /* raw values have 64 bits; else 32 */
};

struct metric_form {
    enum metric_kind kind;
    struct metric_scale scale; /* of the value, or of a summary's sum; its count is the second value */
    const char *unit;          /* a base unit as Prometheus names it, "bytes"; "": none */
    const char *note;          /* what the value means, for the help; "": nothing to add */
    bool drops_percent;        /* the name loses a '%', because the metric is not in percent */
    bool keeps_per_second;     /* the name has "per_second", because the metric is a rate */
};
/* From the type and the name of the counter, which is English if that is known. */
struct metric_form metric_form_of(const struct log_counter *counter);
/* The name without the suffixes _total, _sum and _count: "windows_memory_available_bytes". A name with letters that
   metrics lack ends in its hash, so that different counters have different names. From memory_alloc; NULL: out of
   memory. */
char *metric_name_of(const struct log_counter *counter, const struct metric_form *form);

/* Adds the value of a raw value. False: it has none (a quotient of 0, or the status says so). */
bool metric_add_value(struct text_buffer *b, const struct metric_scale *scale, const struct log_raw *raw);

/* Times that fall by less than so many raw units have not restarted, but were computed from two clocks. 0: the values
   are not such times. */
int64_t metric_steady_limit(const struct metric_form *form);
/* The value to show after `last`. */
static inline int64_t metric_steady(int64_t last, int64_t value, int64_t limit)
{
    return value < last && (uint64_t)last - (uint64_t)value < (uint64_t)limit ? last : value;
}

#endif
