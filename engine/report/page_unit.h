/* SPDX-License-Identifier: MIT */
/* Units of counters. Logs do not contain units, so the units are derived from the names of counters. */
#ifndef OPENPLA_PAGE_UNIT_H
#define OPENPLA_PAGE_UNIT_H

#include "engine/base/text.h"

enum page_unit_kind { PAGE_UNIT_NONE, PAGE_UNIT_BYTES, PAGE_UNIT_PERCENT, PAGE_UNIT_SECONDS };

struct page_unit {
    enum page_unit_kind kind;
    double factor; /* factor from the counter's values to bytes or seconds */
    bool rate;     /* the values are bytes per second */
};
/* Returns the unit of a counter, or of a chart line "counter (instance)". For example, "Available MBytes" has the
   factor 1,048,576. */
struct page_unit page_unit_of(const char *name);
bool page_unit_equals(const struct page_unit *a, const struct page_unit *b);

struct page_scale {
    double factor; /* factor from the counter's values to the displayed values */
    char suffix[12];
};
/* Returns the scale in which the largest value has one to four digits: 24064 MBytes are 23.5 GB. */
struct page_scale page_unit_scale(const struct page_unit *unit, double largest);
/* Adds the value of a counter with up to `digits` digits, and its unit. */
void page_scale_add(struct text_buffer *out, const struct page_scale *s, double value, int digits);

#endif
