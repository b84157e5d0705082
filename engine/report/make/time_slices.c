/* SPDX-License-Identifier: MIT */
/* Divides a counter's series into slices of time, and computes the trend of their means. */
#include "engine/base/memory.h"
#include "engine/report/make/report_counters.h"

#include <stdio.h>
#include <math.h>

#define SECOND INT64_C(10000000)

enum {
    TREND_LEAST_SLICES = 12,
    TREND_LEAST_SECONDS = 3600,
};

/* Each width is a multiple of the previous one, so that narrow slices can be merged into wider ones. */
static const int64_t widths[] = {10, 30, 60, 300, 900, 1800, 3600};

static int64_t wider(const struct slice_series *s)
{
    for (size_t i = 0; !s->fixed && i < sizeof widths / sizeof *widths; i++)
        if (s->width < widths[i] * SECOND)
            return widths[i] * SECOND;
    return s->width * 2;
}

static int64_t number_of(int64_t utc, int64_t width)
{
    return utc / width - (utc % width < 0);
}

static void merge(struct time_slice *to, const struct time_slice *other)
{
    if (!other->count || !to->count) {
        *to = to->count ? *to : *other;
        return;
    }
    const uint64_t count = to->count + other->count;
    to->mean += (other->mean - to->mean) * ((double)other->count / (double)count);
    to->least = other->least < to->least ? other->least : to->least;
    to->greatest = other->greatest > to->greatest ? other->greatest : to->greatest;
    to->count = count;
}

static void become_wider(struct slice_series *s)
{
    const int64_t width = wider(s), factor = width / s->width, first = number_of(s->first, factor);
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const size_t at = (size_t)(number_of(s->first + (int64_t)i, factor) - first);
        const struct time_slice one = s->items[i];
        if (at >= count)
            s->items[count++] = one;
        else
            merge(&s->items[at], &one);
    }
    s->count = count;
    s->first = first;
    s->width = width;
}

HRESULT slice_series_add(struct slice_series *s, int64_t utc, double value)
{
    const size_t most = s->fixed ? SLICES_MOST_FIXED : SLICES_MOST;
    if (!s->width) {
        s->width = s->fixed ? s->fixed : widths[0] * SECOND;
        s->first = number_of(utc, s->width);
    }
    while (number_of(utc, s->width) - s->first >= (int64_t)most && s->width <= INT64_MAX / 4)
        become_wider(s);
    const int64_t wanted = number_of(utc, s->width) - s->first;
    const size_t at = wanted < 0 ? 0 : wanted < (int64_t)most ? (size_t)wanted : most - 1;
    void *items = s->items;
    if (!memory_grow(&items, &s->capacity, at + 1, sizeof *s->items))
        return E_OUTOFMEMORY;
    s->items = items;
    while (s->count <= at)
        s->items[s->count++] = (struct time_slice){0};
    merge(&s->items[at], &(struct time_slice){1, value, value, value});
    return S_OK;
}

void slice_series_widen(struct slice_series *s, int64_t width)
{
    while (s->width && s->width < width && s->width <= INT64_MAX / 4)
        become_wider(s);
}

/* Fits a line by least squares to the means, each at the middle of its slice. */
double slice_series_trend(const struct slice_series *s)
{
    const double hours = (double)s->width / 3600e7;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    if (!s->count || (double)s->count * hours * 3600 < TREND_LEAST_SECONDS)
        return (double)NAN;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].count) {
            n++;
            x += (double)i * hours;
            y += s->items[i].mean;
        }
    if (n < TREND_LEAST_SLICES)
        return (double)NAN;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].count) {
            const double from_middle = (double)i * hours - x / n;
            xx += from_middle * from_middle;
            xy += from_middle * (s->items[i].mean - y / n);
        }
    return xy / xx;
}

void slice_series_free(struct slice_series *s)
{
    memory_free(s->items);
    *s = (struct slice_series){0};
}

/* ---- in a report ---- */

/* Returns the time at which a slice begins. Times in a malicious log may have any value. */
static int64_t time_of(const struct slice_series *s, size_t at)
{
    int64_t utc;
    if (__builtin_mul_overflow(s->first + (int64_t)at, s->width, &utc))
        return s->first < 0 ? INT64_MIN : INT64_MAX;
    return utc;
}

void slice_series_write(const struct slice_series *s, struct report_document *to)
{
    static const struct report_column_head heads[] = {{.name = "start", .left = true},
                                                      {.name = "end", .left = true},
                                                      {.name = "n"},
                                                      {.name = "mean"},
                                                      {.name = "min"},
                                                      {.name = "max"}};
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%lld", (long long)(s->width / SECOND));
    report_table_begin(to, &(struct report_table_head){.name = SLICES_TABLE,
                                                       .level = 3,
                                                       .note = seconds,
                                                       .columns = heads,
                                                       .column_count = sizeof heads / sizeof *heads});
    for (size_t i = 0; i < s->count; i++) {
        const struct time_slice *slice = &s->items[i];
        const double none = (double)NAN; /* an empty cell */
        if (!report_row_begin(to))
            continue;
        report_cell_time(to, time_of(s, i));
        report_cell_time(to, time_of(s, i + 1));
        report_cell_number(to, (double)slice->count);
        report_cell_number(to, slice->count ? slice->mean : none);
        report_cell_number(to, slice->count ? slice->least : none);
        report_cell_number(to, slice->count ? slice->greatest : none);
        report_row_end(to);
    }
    report_table_end(to, NULL);
}
