/* SPDX-License-Identifier: MIT */
/* How a counter becomes a metric: its name, type and unit, and the conversion of raw values. */
#ifndef OPENPLA_METRIC_FORM_H
#define OPENPLA_METRIC_FORM_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

enum metric_kind {
    METRIC_NONE, /* the counter has no numeric value */
    METRIC_GAUGE,
    METRIC_COUNTER,
    METRIC_SUMMARY, /* a sum and a count */
};
enum metric_source {
    METRIC_FIRST,
    METRIC_SECOND,
    METRIC_QUOTIENT, /* first / second */
    METRIC_ELAPSED,  /* second - first */
    METRIC_DOUBLE,   /* the bits of a double in `first`: an already computed value, LOG_TYPE_DOUBLE */
};

/* value = source * factor / divisor + offset. factor and divisor are integers, so that integer counters are exported
   without rounding. */
struct metric_scale {
    enum metric_source source;
    int64_t factor, divisor;
    double offset;
    bool large; /* raw values have 64 bits; otherwise 32 */
};

struct metric_form {
    enum metric_kind kind;
    struct metric_scale scale; /* converts a raw value to the metric's value or to a summary's sum; a summary's count is
                                  the second raw value */
    const char *unit;          /* base unit with Prometheus' name, such as "bytes"; "": none */
    const char *note;          /* meaning of the value, for the help text; "": nothing to add */
    bool drops_percent;        /* '%' is removed from the name, because the metric is not in percent */
    bool keeps_per_second;     /* the name contains "per_second", because the metric is a rate */
};
/* Returns the form for a counter's type and name. Uses the English name if it is known. */
struct metric_form metric_form_of(const struct log_counter *counter);
/* Returns the metric name without the suffixes _total, _sum and _count: "windows_memory_available_bytes". A name with
   letters that metric names cannot contain gets a hash suffix, so that different counters have different names. From
   memory_alloc; NULL: out of memory. */
char *metric_name_of(const struct log_counter *counter, const struct metric_form *form);

/* Adds the number for a raw value. False: the value is not a number, because the status is not valid or a divisor is
   0. */
bool metric_add_value(struct text_buffer *b, const struct metric_scale *scale, const struct log_raw *raw);

/* Adds a finite number with 15 digits, or with more if a reader needs them to get the same double. */
void metric_add_number(struct text_buffer *b, double value);

/* Returns the limit for metric_steady, in raw units; 0: the value is not a time. A time that is computed from two
   clocks can decrease slightly. A decrease by less than the limit is attributed to the two clocks, not to a restart of
   the counter. */
int64_t metric_steady_limit(const struct metric_form *form);
/* Returns the value to show after `last`: `last` if the value fell by less than `limit`, otherwise the value. */
static inline int64_t metric_steady(int64_t last, int64_t value, int64_t limit)
{
    return value < last && (uint64_t)last - (uint64_t)value < (uint64_t)limit ? last : value;
}

#endif
