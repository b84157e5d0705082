/* SPDX-License-Identifier: MIT */
/* Points of charts: when the time is longer than they reach, each two become one. */
#include "engine/report/make/report_chart.h"

#include "engine/etw/event_values.h"

#include <math.h>

#define SECOND INT64_C(10000000)

static const struct chart_point no_value = {1, 0};

static bool is_empty(const struct chart_point *p)
{
    return p->least > p->greatest;
}

static void join(struct chart_point *to, const struct chart_point *other)
{
    if (is_empty(other))
        return;
    if (is_empty(to)) {
        *to = *other;
        return;
    }
    to->least = other->least < to->least ? other->least : to->least;
    to->greatest = other->greatest > to->greatest ? other->greatest : to->greatest;
}

static void double_width(struct chart_series *s)
{
    for (size_t i = 0; i < s->count; i += 2) {
        struct chart_point both = s->points[i];
        if (i + 1 < s->count)
            join(&both, &s->points[i + 1]);
        s->points[i / 2] = both;
    }
    s->count = (s->count + 1) / 2;
    s->width *= 2;
}

/* From where the first point begins, if the first value is at `from`. Unsigned, since a hostile log's times may be any.
 */
static uint64_t distance(const struct chart_series *s, int64_t from, int64_t to)
{
    const uint64_t lead = (uint64_t)s->lead, since = to > from ? (uint64_t)to - (uint64_t)from : 0;
    return since > UINT64_MAX - lead ? UINT64_MAX : since + lead;
}

/* Whether no sample can be missing between two: each is early or late by less than a quarter of the interval. */
static bool are_neighbours(const struct chart_series *s, int64_t utc)
{
    const uint64_t apart = utc > s->last ? (uint64_t)utc - (uint64_t)s->last : 0;
    return s->interval > 0 && apart / 3 < ((uint64_t)s->interval + 1) / 2;
}

/* Where points are shorter than the interval by now, those between neighbours are no gap: they get what the straight
   line between the two has there. */
static void bridge(struct chart_series *s, size_t to, float value)
{
    const size_t from = s->count - 1;
    const double step = ((double)value - (double)s->latest) / (double)(to - from);
    while (isfinite(step) && s->count < to) {
        const float between = (float)((double)s->latest + step * (double)(s->count - from));
        s->points[s->count++] = (struct chart_point){between, between};
    }
}

void chart_series_add(struct chart_series *s, int64_t utc, double value, int64_t interval)
{
    if (s->width == 0) {
        s->begin = s->last = utc;
        s->assumed = true;
    }
    s->interval = interval > 0 ? interval : s->interval;
    if (s->assumed && s->count <= 1) {
        s->assumed = interval <= 0;
        s->width = interval > 0 ? interval : SECOND;
        s->lead = s->width / 2;
    }
    const uint64_t since = distance(s, s->begin, utc);
    while (since / (uint64_t)s->width >= CHART_POINTS && s->width <= INT64_MAX / 2)
        double_width(s);
    const uint64_t wanted = since / (uint64_t)s->width;
    const size_t at = wanted < CHART_POINTS ? (size_t)wanted : CHART_POINTS - 1;
    if (s->count && at > s->count && are_neighbours(s, utc))
        bridge(s, at, (float)value);
    while (s->count <= at)
        s->points[s->count++] = no_value;
    const struct chart_point one = {(float)value, (float)value};
    join(&s->points[at], &one);
    if (utc >= s->last) {
        s->last = utc;
        s->latest = one.least;
    }
}

void chart_series_text(const struct chart_series *s, int64_t first, int64_t last, struct text_buffer *out)
{
    /* Points of the chart that lie before the series begins, or behind its end, have no value. */
    const uint64_t width = s->width > 0 ? (uint64_t)s->width : (uint64_t)SECOND;
    const uint64_t before = distance(s, first, s->begin) / width;
    const uint64_t all = distance(s, first, last) / width + 1;
    const char *blank = "";
    for (uint64_t i = 0; i < all && i < 2 * CHART_POINTS; i++) {
        const struct chart_point *p = i >= before && i - before < s->count ? &s->points[i - before] : &no_value;
        text_buffer_add(out, blank);
        blank = " ";
        if (is_empty(p)) {
            text_buffer_add(out, "-");
            continue;
        }
        add_real(out, (double)p->least, true);
        if (p->greatest > p->least) {
            text_buffer_add(out, ":");
            add_real(out, (double)p->greatest, true);
        }
    }
}
