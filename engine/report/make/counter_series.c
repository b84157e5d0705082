/* SPDX-License-Identifier: MIT */
/* Keeps the statistics of a counter's values, and the points of its chart, in limited memory. Sums use Kahan's method.
   For percentiles, up to STATISTICS_EXACT values are kept. If there are more values, the values are counted in ranges
   with a width of 2 %, as in DDSketch (Masson, Rim, Lee: VLDB 2019). Percentiles are then within 1 % of the exact
   value. A chart has a limited number of points. When the chart is full and a later value arrives, pairs of points are
   merged, which doubles the time that each point covers. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/report/make/report_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#define WIDTH    1.02 /* width of a range: the quotient of its end and its start */
#define SMALLEST 1e-9 /* a value whose absolute value is smaller is counted as 0 */

struct bin {
    int32_t place; /* index of the range; ranges of negative values are below ZERO_PLACE, in ascending order */
    uint64_t count;
};
enum { ZERO_PLACE = 0, BEYOND = 1 << 20 /* keeps the places of other values away from ZERO_PLACE */ };

struct value_sketch {
    double *values; /* all values; NULL if bins are used */
    size_t value_count, value_capacity;
    bool sorted;
    struct bin *bins; /* sorted by `place` */
    size_t bin_count, bin_capacity;
};

static int32_t place_of(double value)
{
    const double size = fabs(value);
    if (size < SMALLEST)
        return ZERO_PLACE;
    const int32_t exponent = (int32_t)ceil(log(size) / log(WIDTH));
    return value > 0 ? BEYOND + exponent : -BEYOND - exponent;
}

static double value_at(int32_t place)
{
    if (place == ZERO_PLACE)
        return 0;
    const double size = 2 * pow(WIDTH, place > 0 ? place - BEYOND : -BEYOND - place) / (WIDTH + 1);
    return place > 0 ? size : -size;
}

/* Returns the index of the range's bin, or the position for inserting it. */
static size_t find_bin(const struct value_sketch *k, int32_t place)
{
    size_t low = 0, high = k->bin_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (k->bins[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static HRESULT add_to_bin(struct value_sketch *k, double value)
{
    const int32_t place = place_of(value);
    size_t at = find_bin(k, place);
    if (at < k->bin_count && k->bins[at].place == place) {
        k->bins[at].count++;
        return S_OK;
    }
    if (k->bin_count == STATISTICS_MOST_BINS) { /* the lowest two are merged */
        k->bins[1].count += k->bins[0].count;
        memmove(k->bins, k->bins + 1, --k->bin_count * sizeof *k->bins);
        at -= at > 0;
    }
    void *bins = k->bins;
    if (!memory_grow(&bins, &k->bin_capacity, k->bin_count + 1, sizeof *k->bins))
        return E_OUTOFMEMORY;
    k->bins = bins;
    memmove(k->bins + at + 1, k->bins + at, (k->bin_count - at) * sizeof *k->bins);
    k->bins[at] = (struct bin){place, 1};
    k->bin_count++;
    return S_OK;
}

static HRESULT become_bins(struct value_sketch *k)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < k->value_count && SUCCEEDED(hr); i++)
        hr = add_to_bin(k, k->values[i]);
    memory_free(k->values);
    k->values = NULL;
    k->value_count = k->value_capacity = 0;
    return hr;
}

static HRESULT add_to_sketch(struct value_statistics *s, double value)
{
    if (!s->sketch)
        s->sketch = s->count == 0 ? memory_zero(1, sizeof *s->sketch) : NULL;
    struct value_sketch *k = s->sketch;
    if (!k)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    if (!k->bin_count && k->value_count == STATISTICS_EXACT)
        hr = become_bins(k);
    if (FAILED(hr) || k->bin_count)
        return FAILED(hr) ? hr : add_to_bin(k, value);
    void *values = k->values;
    if (!memory_grow(&values, &k->value_capacity, k->value_count + 1, sizeof *k->values))
        return E_OUTOFMEMORY;
    k->values = values;
    k->values[k->value_count++] = value;
    k->sorted = false;
    return S_OK;
}

HRESULT value_statistics_add(struct value_statistics *s, double value, bool percentiles)
{
    HRESULT hr = percentiles ? add_to_sketch(s, value) : S_OK;
    if (FAILED(hr))
        return hr;
    s->least = s->count == 0 || value < s->least ? value : s->least;
    s->greatest = s->count == 0 || value > s->greatest ? value : s->greatest;
    s->last = value;
    const double added = value - s->lost, sum = s->sum + added;
    s->lost = (sum - s->sum) - added;
    s->sum = sum;
    s->count++;
    return S_OK;
}

double value_statistics_sum(const struct value_statistics *s)
{
    return s->sum;
}

double value_statistics_mean(const struct value_statistics *s)
{
    return s->count ? s->sum / (double)s->count : (double)NAN;
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double value_statistics_percentile(struct value_statistics *s, double part)
{
    struct value_sketch *k = s->sketch;
    if (!k || !s->count)
        return (double)NAN;
    uint64_t rank = (uint64_t)ceil(part * (double)s->count);
    rank = rank < 1 ? 1 : rank > s->count ? s->count : rank;
    if (!k->bin_count) {
        if (!k->sorted)
            qsort(k->values, k->value_count, sizeof *k->values, compare_values);
        k->sorted = true;
        return k->values[rank - 1];
    }
    uint64_t before = 0;
    size_t i = 0;
    while (i + 1 < k->bin_count && before + k->bins[i].count < rank)
        before += k->bins[i++].count;
    const double value = value_at(k->bins[i].place);
    return value < s->least ? s->least : value > s->greatest ? s->greatest : value;
}

size_t value_statistics_memory(const struct value_statistics *s)
{
    const struct value_sketch *k = s->sketch;
    return k ? sizeof *k + k->value_capacity * sizeof *k->values + k->bin_capacity * sizeof *k->bins : 0;
}

void value_statistics_forget_percentiles(struct value_statistics *s)
{
    if (!s->sketch)
        return;
    memory_free(s->sketch->values);
    memory_free(s->sketch->bins);
    memory_free(s->sketch);
    s->sketch = NULL;
}

void value_statistics_free(struct value_statistics *s)
{
    value_statistics_forget_percentiles(s);
    *s = (struct value_statistics){0};
}

/* ---- the chart ---- */

#define SECOND INT64_C(10000000)

static const struct chart_point no_value;

static void chart_point_merge(struct chart_point *to, const struct chart_point *other)
{
    if (!other->count)
        return;
    if (!to->count) {
        *to = *other;
        return;
    }
    const uint64_t count = (uint64_t)to->count + other->count;
    to->least = other->least < to->least ? other->least : to->least;
    to->greatest = other->greatest > to->greatest ? other->greatest : to->greatest;
    to->mean =
        (float)((double)to->mean + ((double)other->mean - (double)to->mean) * ((double)other->count / (double)count));
    to->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void double_width(struct chart_series *s)
{
    for (size_t i = 0; i < s->count; i += 2) {
        struct chart_point both = s->points[i];
        if (i + 1 < s->count)
            chart_point_merge(&both, &s->points[i + 1]);
        s->points[i / 2] = both;
    }
    s->count = (s->count + 1) / 2;
    s->width *= 2;
}

static size_t most_points(const struct chart_series *s)
{
    return s->most ? s->most : CHART_POINTS;
}

/* Returns the time from the start of the first point to `to`. `from` is the time of the first value. Unsigned, because
   times in a malicious log may have any value. */
static uint64_t distance(const struct chart_series *s, int64_t from, int64_t to)
{
    const uint64_t lead = (uint64_t)s->lead, since = to > from ? (uint64_t)to - (uint64_t)from : 0;
    return since > UINT64_MAX - lead ? UINT64_MAX : since + lead;
}

/* Returns whether no sample is missing between the last sample and the sample at `utc`. Assumes that each sample is
   early or late by less than a quarter of the interval. */
static bool are_neighbours(const struct chart_series *s, int64_t utc)
{
    const uint64_t step = utc > s->last ? (uint64_t)utc - (uint64_t)s->last : 0;
    return s->interval > 0 && step / 3 < ((uint64_t)s->interval + 1) / 2;
}

/* Fills empty points between two samples by linear interpolation. Such points are not a gap; they are empty because a
   point is shorter than the interval. */
static void chart_series_interpolate(struct chart_series *s, size_t to, float value)
{
    const size_t from = s->count - 1;
    const double step = ((double)value - (double)s->latest) / (double)(to - from);
    while (isfinite(step) && s->count < to) {
        const float between = (float)((double)s->latest + step * (double)(s->count - from));
        s->points[s->count++] = (struct chart_point){between, between, between, 1};
    }
}

HRESULT chart_series_add(struct chart_series *s, int64_t utc, double value, int64_t interval)
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
    assert(s->width > 0);
    const uint64_t since = distance(s, s->begin, utc);
    const size_t most = most_points(s);
    while (since / (uint64_t)s->width >= most && s->width <= INT64_MAX / 2)
        double_width(s);
    const uint64_t wanted = since / (uint64_t)s->width;
    const size_t at = wanted < most ? (size_t)wanted : most - 1;
    void *points = s->points;
    if (!memory_grow(&points, &s->capacity, at + 1, sizeof *s->points))
        return E_OUTOFMEMORY;
    s->points = points;
    if (s->count && at > s->count && are_neighbours(s, utc))
        chart_series_interpolate(s, at, (float)value);
    while (s->count <= at)
        s->points[s->count++] = no_value;
    const struct chart_point one = {(float)value, (float)value, (float)value, 1};
    chart_point_merge(&s->points[at], &one);
    if (utc >= s->last) {
        s->last = utc;
        s->latest = one.least;
    }
    return S_OK;
}

void chart_series_limit(struct chart_series *s, size_t most)
{
    s->most = most;
    while (s->count > most && s->width <= INT64_MAX / 2)
        double_width(s);
}

/* Adds seven digits, the precision of a float. If the program's locale has another decimal separator, replaces the
   separator with a point. */
static void add_value(struct text_buffer *out, float value, const char *end)
{
    char text[40];
    snprintf(text, sizeof text, "%.7g", (double)value);
    for (char *p = text; *p; p++)
        *p = *p == ',' ? '.' : *p;
    text_buffer_add(out, text);
    text_buffer_add(out, end);
}

void chart_series_text(const struct chart_series *s, int64_t start, struct text_buffer *out,
                       struct chart_series_place *place)
{
    const double middle = ((double)s->begin - (double)start) - (double)s->lead + (double)s->width / 2;
    const char *blank = "";
    *place = (struct chart_series_place){middle / 1e7, (double)s->width / 1e7};
    for (size_t i = 0; i < s->count; i++) {
        const struct chart_point *p = &s->points[i];
        text_buffer_add(out, blank);
        blank = " ";
        if (!p->count) {
            text_buffer_add(out, "-");
            continue;
        }
        if (p->greatest > p->least) {
            add_value(out, p->least, ":");
            add_value(out, p->mean, ":");
        }
        add_value(out, p->greatest, "");
    }
}

void chart_series_free(struct chart_series *s)
{
    memory_free(s->points);
    *s = (struct chart_series){0};
}
