/* SPDX-License-Identifier: MIT */
/* Pairs the counters of two runs, tests their slices, and reports the counters that are worse. */
#include "engine/report/run_compare.h"

#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/page_unit.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { MOST_SLICES = 200 };
#define DISCOVERY_RATE 0.05
#define LARGE_EFFECT   0.474 /* Romano 2006 */
#define MUCH_WORSE     50.0  /* percent */
#define DAY            86400.0

/* Parts of counter names. A higher value of such a counter is worse if `more_is_worse` is set; otherwise a lower value
   is worse. For these counters, the built-in rules agree about which values are worse. For any other counter, a higher
   value is neither good nor bad. */
static const struct {
    const char *part; /* in lower case */
    bool more_is_worse;
} directions[] = {
    {"available", false},
    {"% free", false},
    {"free megabytes", false},
    {"% idle", false},
    {"cache hit", false},
    {"page life", false},
    {"% processor time", true},
    {"% privileged", true},
    {"% user time", true},
    {"% interrupt", true},
    {"% dpc", true},
    {"queue length", true},
    {"sec/read", true},
    {"sec/write", true},
    {"sec/transfer", true},
    {"% committed", true},
    {"committed bytes", true},
    {"pages/sec", true},
    {"% usage", true},
    {"handle count", true},
    {"thread count", true},
    {"private bytes", true},
    {"working set", true},
    {"context switches", true},
    {"% disk time", true},
    {"% disk read time", true},
    {"% disk write time", true},
    {"discarded", true},
    {"errors", true},
    {"response time", true},
    {"latency", true},
    {"page faults", true},
};

const char *run_verdict_name(enum run_verdict verdict)
{
    static const char *const names[] = {"same", "undecided", "better", "changed", "worse", "much worse"};
    return names[verdict];
}

char *run_path(const char *object, const char *counter, const char *instance)
{
    return *instance ? text_format("\\%s(%s)\\%s", object, instance, counter)
                     : text_format("\\%s\\%s", object, counter);
}

/* Returns 1 if a higher value is worse, -1 if a lower value is worse, otherwise 0. */
static int direction_of(const char *counter)
{
    char lower[200];
    size_t length = 0;
    for (; length < sizeof lower - 1 && counter[length]; length++)
        lower[length] =
            (char)(counter[length] >= 'A' && counter[length] <= 'Z' ? counter[length] + 32 : counter[length]);
    lower[length] = 0;
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (strstr(lower, directions[i].part))
            return directions[i].more_is_worse ? 1 : -1;
    return 0;
}

/* ---- the time that both runs cover ---- */

static void choose_time(struct run_comparison *c, const struct run_compare_options *options)
{
    struct run_side *a = &c->sides[0], *b = &c->sides[1];
    /* In a comparison by the clock, all times of B are moved by a number of whole days. After that, the start of B is
       less than half a day from the start of A. */
    const double move = options->by_clock ? round((b->begin - a->begin) / DAY) * DAY : b->begin - a->begin;
    const double begin = options->by_clock ? fmax(a->begin, b->begin - move) : a->begin;
    const double end = fmin(a->end, b->end - move);
    a->from = begin + options->skip;
    a->to = end;
    b->from = a->from + move;
    b->to = end + move;
    c->span = end - a->from;
}

/* ---- statistics ---- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Computes the statistics from the values in the compared time. If the compared time is the whole run, uses the
   statistics that the report contains. */
static bool make_figures(const struct run_side *side, const struct run_series *s, double *means,
                         struct run_figures *out)
{
    size_t count = 0;
    double sum = 0;
    *out = (struct run_figures){.greatest = -INFINITY};
    for (size_t i = 0; i < s->count; i++) {
        const double at = s->begin + s->step * (double)i;
        const struct chart_value *v = &s->values[i];
        if (v->least > v->greatest || at < side->from - s->step / 2 || at > side->to + s->step / 2)
            continue;
        means[count++] = (double)v->mean;
        sum += (double)v->mean;
        out->greatest = fmax(out->greatest, (double)v->greatest);
    }
    if (!count)
        return false;
    const double length = side->end - side->begin;
    if (s->has_figures && side->to - side->from >= length * 0.99 - s->step) {
        *out = s->figures;
        return true;
    }
    qsort(means, count, sizeof *means, by_value);
    const size_t rank = (size_t)ceil(0.95 * (double)count);
    out->mean = sum / (double)count;
    out->p95 = means[rank ? rank - 1 : 0];
    return true;
}

/* Computes the means of the slices that have a value; returns their number. */
static size_t make_slices(const struct run_side *side, const struct run_series *s, double length, double *out)
{
    double sums[MOST_SLICES] = {0};
    size_t counts[MOST_SLICES] = {0}, slices = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double at = (s->begin + s->step * (double)i - side->from) / length;
        const struct chart_value *v = &s->values[i];
        if (v->least > v->greatest || at < 0 || at >= MOST_SLICES || s->begin + s->step * (double)i > side->to)
            continue;
        sums[(size_t)at] += (double)v->mean;
        counts[(size_t)at]++;
    }
    for (size_t i = 0; i < MOST_SLICES; i++)
        if (counts[i])
            out[slices++] = sums[i] / (double)counts[i];
    return slices;
}

/* ---- one counter ---- */

/* Returns the smallest change that matters to users: 1 %, 1 ms, 1 MB/s, or else a thousandth of the range. */
static double least_difference(const char *counter, const struct run_series *a, const struct run_series *b)
{
    const struct page_unit unit = page_unit_of(counter);
    const struct run_series *const both[] = {a, b};
    double least = INFINITY, greatest = -INFINITY;
    if (unit.kind == PAGE_UNIT_PERCENT)
        return 1;
    if (unit.kind == PAGE_UNIT_SECONDS)
        return 1e-3 / unit.factor;
    if (unit.kind == PAGE_UNIT_BYTES && unit.rate)
        return 1e6 / unit.factor;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count; i++) {
            const struct chart_value *v = &both[k]->values[i];
            least = v->least <= v->greatest ? fmin(least, (double)v->least) : least;
            greatest = v->least <= v->greatest ? fmax(greatest, (double)v->greatest) : greatest;
        }
    return greatest > least ? (greatest - least) / 1000 : 0;
}

static void test_counter(const struct run_comparison *c, const struct run_compare_options *options,
                         struct run_change *x)
{
    const struct run_series *a = &c->sides[0].series[x->series[0]], *b = &c->sides[1].series[x->series[1]];
    double slices[2][MOST_SLICES], room[2 * MOST_SLICES];
    double length = options->slice > 0 ? options->slice : c->span / RUN_SLICES;
    length = fmax(length, fmax(a->step, b->step));
    const size_t count_a = make_slices(&c->sides[0], a, length, slices[0]);
    const size_t count_b = make_slices(&c->sides[1], b, length, slices[1]);
    x->figures[0].slices = count_a;
    x->figures[1].slices = count_b;
    x->drift = (run_correlation(slices[0], count_a) + run_correlation(slices[1], count_b)) / 2;
    x->p = run_rank_test(slices[0], count_a, slices[1], count_b, (1 + x->drift) / (1 - x->drift), &x->effect, room);
    x->why = "";
    if (!(x->effect < 0) && !(x->effect > 0) && !(fabs(x->difference) > 0))
        return; /* equal */
    if (count_a < RUN_LEAST_SLICES || count_b < RUN_LEAST_SLICES)
        x->why = "too short";
    else if (x->drift > RUN_LARGEST_DRIFT)
        x->why = "the counter changes too slowly for runs of this length";
    if (*x->why)
        x->p = 1;
}

static void decide(const struct run_comparison *c, const struct run_compare_options *options, double limit,
                   struct run_change *x)
{
    const double least =
        least_difference(x->counter, &c->sides[0].series[x->series[0]], &c->sides[1].series[x->series[1]]);
    const bool large =
        fabs(x->difference) > least && (!isfinite(x->percent) || fabs(x->percent) >= options->least_change);
    const int direction = direction_of(x->counter);
    const bool more = x->difference > 0;
    x->verdict = RUN_SAME;
    if (!large)
        x->why = "";
    else if (*x->why)
        x->verdict = RUN_UNDECIDED;
    else if (x->p <= limit && more == (x->effect > 0)) {
        const bool much = fabs(x->effect) >= LARGE_EFFECT && !(fabs(x->percent) < MUCH_WORSE);
        x->verdict = !direction                ? RUN_CHANGED
                     : more != (direction > 0) ? RUN_BETTER
                     : much                    ? RUN_MUCH_WORSE
                                               : RUN_WORSE;
    }
}

/* ---- all counters ---- */

static int compare_series(const struct run_series *a, const struct run_series *b)
{
    int order = text_compare_nocase(a->object, b->object);
    order = order ? order : text_compare_nocase(a->counter, b->counter);
    return order ? order : text_compare_nocase(a->instance, b->instance);
}

static HRESULT add_only(struct run_comparison *c, unsigned side, const struct run_series *s)
{
    char *path = run_path(s->object, s->counter, s->instance);
    return path ? texts_add_owned(&c->only[side], path) : E_OUTOFMEMORY;
}

static HRESULT add_pair(struct run_comparison *c, size_t at_a, size_t at_b, double *room)
{
    const struct run_series *a = &c->sides[0].series[at_a], *b = &c->sides[1].series[at_b];
    struct run_change *x = &c->changes[c->count];
    *x = (struct run_change){
        .object = a->object, .counter = a->counter, .instance = a->instance, .series = {at_a, at_b}, .p = 1, .why = ""};
    const bool has_a = make_figures(&c->sides[0], a, room, &x->figures[0]);
    const bool has_b = make_figures(&c->sides[1], b, room, &x->figures[1]);
    if (!has_a || !has_b)
        return has_a ? add_only(c, 0, a) : has_b ? add_only(c, 1, b) : S_OK;
    x->difference = x->figures[1].mean - x->figures[0].mean;
    x->percent = fabs(x->figures[0].mean) > 0 ? 100 * x->difference / fabs(x->figures[0].mean)
                 : fabs(x->difference) > 0    ? (double)INFINITY
                                              : 0;
    c->count++;
    return S_OK;
}

static HRESULT pair_counters(struct run_comparison *c)
{
    const struct run_side *a = &c->sides[0], *b = &c->sides[1];
    double *room = memory_alloc(CHART_MOST_POINTS * sizeof *room);
    c->changes = memory_zero((a->count < b->count ? a->count : b->count) + 1, sizeof *c->changes);
    HRESULT hr = room && c->changes ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0, k = 0; SUCCEEDED(hr) && (i < a->count || k < b->count);) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : compare_series(&a->series[i], &b->series[k]);
        if (order < 0)
            hr = add_only(c, 0, &a->series[i++]);
        else if (order > 0)
            hr = add_only(c, 1, &b->series[k++]);
        else
            hr = add_pair(c, i++, k++, room);
    }
    memory_free(room);
    return hr;
}

/* Returns the sort key of counters with the same verdict: the effect times the size of the change. */
static double size_of(const struct run_change *x)
{
    const double a = fabs(x->figures[0].mean), b = fabs(x->figures[1].mean);
    const double ratio = a > 0 && b > 0 ? fabs(log(b / a)) : 20;
    return fabs(x->effect) * fmin(ratio, 20);
}

static int by_importance(const void *left, const void *right)
{
    const struct run_change *a = left, *b = right;
    if (a->verdict != b->verdict)
        return a->verdict > b->verdict ? -1 : 1;
    const double x = size_of(a), y = size_of(b);
    return x > y ? -1 : x < y;
}

static HRESULT decide_all(struct run_comparison *c, const struct run_compare_options *options)
{
    double *p = memory_alloc(2 * (c->count + 1) * sizeof *p);
    size_t tested = 0;
    if (!p)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < c->count; i++) {
        test_counter(c, options, &c->changes[i]);
        if (!*c->changes[i].why)
            p[tested++] = c->changes[i].p;
    }
    const double limit = run_discovery_limit(p, tested, DISCOVERY_RATE, p + c->count + 1);
    for (size_t i = 0; i < c->count; i++) {
        decide(c, options, limit, &c->changes[i]);
        c->verdicts[c->changes[i].verdict]++;
    }
    memory_free(p);
    qsort(c->changes, c->count, sizeof *c->changes, by_importance);
    return S_OK;
}

HRESULT run_compare(struct run_comparison *c, const struct run_compare_options *options)
{
    choose_time(c, options);
    c->nothing = NULL;
    if (!(c->span > 0)) {
        c->nothing = options->by_clock ? "they have no time of day in common"
                                       : "they have no time in common after the beginning that -skip leaves out";
        return S_FALSE;
    }
    HRESULT hr = pair_counters(c);
    if (SUCCEEDED(hr) && !c->count) {
        c->nothing = "they have no counter with values in common";
        return S_FALSE;
    }
    return SUCCEEDED(hr) ? decide_all(c, options) : hr;
}

void run_comparison_free(struct run_comparison *c)
{
    for (size_t i = 0; i < 2; i++) {
        run_side_free(&c->sides[i]);
        texts_free(&c->only[i]);
    }
    texts_free(&c->notes);
    memory_free(c->changes);
    *c = (struct run_comparison){0};
}
