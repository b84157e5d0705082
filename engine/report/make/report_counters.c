/* SPDX-License-Identifier: MIT */
/* Reads counter logs once, and computes the statistics of their series. */
#include "engine/report/make/report_counters.h"

#include "engine/base/memory.h"
#include "engine/logs/log_inputs.h"

#include <math.h>
#include <string.h>

enum {
    MOST_GAPS = 64,        /* maximum number of gaps that are kept per log; the longest gaps are kept */
    MOST_GAP_WARNINGS = 5, /* maximum number of gaps per log that get a separate warning */
    COLUMN_BYTES = 640,    /* approximate size of a column with its names and values */
    MOST_CHARTED = 1024,   /* maximum number of series with points */
    MOST_WATCHED = 8192,   /* maximum number of further series, which a warning or a reader may select */
    WATCHED_POINTS =
        1 << 18,         /* maximum points of all watched series together: about 4 MB in memory and in the report */
    MOST_SLICED = 4096,  /* maximum number of series with slices: 13 MB, or 130 MB if the slices' length is specified */
    SLICE_ROWS = 72000,  /* maximum rows of slices in the report: about 18 MB */
    SLICE_INTERVALS = 5, /* minimum number of samples in an automatic slice */
};

struct gap {
    int64_t from, length;
};
/* The sample intervals and gaps of one log. */
struct rhythm {
    struct sample_distances distances;
    struct gap longest[MOST_GAPS];
    size_t gap_count;
    int64_t latest;
    bool begun;
};

struct report_counters {
    struct report_counters_make make;
    struct filter filter;
    struct columns columns;
    struct counter_series *series; /* one per column */
    size_t series_count, series_capacity, charted, watched, sliced;
    size_t slices_left;     /* rows of slices that the report can still contain */
    size_t watched_points;  /* maximum points of each watched series */
    struct rhythm *rhythms; /* one per log */
    size_t log_count;
    int bias_minutes; /* UTC offset of the first log */
    char **log_names;
    size_t bytes;   /* memory of sketches and charts */
    bool exhausted; /* no memory is left for sketches and charts */
    uint64_t samples;
    int64_t first, last;
};

/* ---- selection of counters ---- */

static bool is_wanted(const struct report_counters *c, const struct schema_table *t)
{
    return !t->of_events && t->level <= c->make.level;
}

/* Filters by the objects of all tables. If a table is for any object ("*"), all counters are needed. */
static HRESULT make_filter(struct report_counters *c)
{
    HRESULT hr = S_OK;
    for (size_t s = 0; s < c->make.schema->section_count; s++)
        for (size_t t = 0; t < c->make.schema->sections[s].count; t++) {
            const struct schema_table *table = &c->make.schema->sections[s].tables[t];
            if (is_wanted(c, table) &&
                (!strcmp(table->counters.object, "*") || strpbrk(table->counters.object, "*?\\()"))) {
                filter_free(&c->filter);
                return S_OK;
            }
            char *pattern = is_wanted(c, table) ? text_format("\\%s\\*", table->counters.object) : NULL;
            if (pattern)
                hr = filter_add(&c->filter, pattern);
            else if (is_wanted(c, table))
                hr = E_OUTOFMEMORY;
            memory_free(pattern);
            if (FAILED(hr))
                return hr;
        }
    return S_OK;
}

HRESULT report_counters_create(const struct report_counters_make *make, struct report_counters **out)
{
    struct report_counters *c = memory_zero(1, sizeof *c);
    *out = NULL;
    if (!c)
        return E_OUTOFMEMORY;
    c->make = *make;
    c->watched_points = CHART_POINTS;
    c->slices_left = SLICE_ROWS;
    c->columns = (struct columns){.filter = &c->filter, .values = true, .most = make->memory / COLUMN_BYTES + 1};
    HRESULT hr = make_filter(c);
    if (FAILED(hr))
        report_counters_free(c);
    else
        *out = c;
    return hr;
}

/* ---- reading ---- */

/* Halves the points of each watched series if all together exceed WATCHED_POINTS. The caller sets the limit of the
   newest series. */
static void share_points(struct report_counters *c)
{
    if (c->watched * c->watched_points <= WATCHED_POINTS || c->watched_points <= CHART_LEAST_POINTS)
        return;
    c->watched_points /= 2;
    for (size_t i = 0; i < c->series_count; i++)
        if (c->series[i].chart && c->series[i].chart->most)
            chart_series_limit(c->series[i].chart, c->watched_points);
}

/* Requests slices of the series if the table has sub-tables of slices, or a column of trends, which is computed from
   slices. If several tables specify a length, the shortest length is used. */
static void want_slices(const struct report_counters *c, struct counter_series *s, const struct schema_table *table,
                        const struct log_counter *counter)
{
    const struct schema_counter_table *t = &table->counters;
    const bool sliced = t->slices && schema_patterns_match(t->slices, counter_table_name(table, counter));
    const int64_t fixed = (int64_t)(c->make.slice ? c->make.slice : t->slice) * 10000000;
    s->sliced |= sliced;
    s->in_slices |= sliced || (t->added & COUNTER_COLUMN_TREND) != 0 || t->sort == COUNTER_COLUMN_TREND;
    if (sliced && fixed && (!s->slices.fixed || fixed < s->slices.fixed))
        s->slices.fixed = fixed;
}

/* Determines the tables' requirements for a new series. */
static HRESULT begin_series(struct report_counters *c, size_t at)
{
    struct counter_series *s = &c->series[at];
    const struct log_counter *counter = &c->columns.counters.items[at];
    *s = (struct counter_series){0};
    HRESULT hr = counter_instance(counter, &s->instance);
    const char *instance = s->instance ? s->instance : "";
    for (size_t k = 0; SUCCEEDED(hr) && k < c->make.schema->section_count; k++)
        for (size_t t = 0; t < c->make.schema->sections[k].count; t++) {
            const struct schema_table *table = &c->make.schema->sections[k].tables[t];
            if (!is_wanted(c, table) || !counter_table_takes(c->make.schema, table, counter, instance))
                continue;
            s->wanted = true;
            s->percentiles |=
                (table->counters.added & COUNTER_PERCENTILES) != 0 || (table->counters.sort & COUNTER_PERCENTILES) != 0;
            s->charted |= counter->counter && table->counters.chart &&
                          schema_patterns_match(table->counters.chart, counter_table_name(table, counter));
            s->watched |= counter->counter && table->counters.watch &&
                          schema_patterns_match(table->counters.watch, counter_table_name(table, counter));
            want_slices(c, s, table, counter);
        }
    s->in_slices &= c->sliced < MOST_SLICED;
    c->sliced += s->in_slices;
    const bool charted = s->charted && c->charted < MOST_CHARTED, watched = s->watched && c->watched < MOST_WATCHED;
    if (SUCCEEDED(hr) && (charted || watched)) {
        s->chart = memory_zero(1, sizeof *s->chart);
        *(charted ? &c->charted : &c->watched) += 1;
        c->bytes += sizeof *s->chart;
        hr = s->chart ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && s->chart && !charted) {
        share_points(c);
        s->chart->most = c->watched_points;
    }
    return hr;
}

static HRESULT follow_columns(struct report_counters *c)
{
    void *series = c->series;
    HRESULT hr = S_OK;
    if (c->series_count == c->columns.counters.count)
        return S_OK;
    if (!memory_grow(&series, &c->series_capacity, c->columns.counters.count, sizeof *c->series))
        return E_OUTOFMEMORY;
    c->series = series;
    while (SUCCEEDED(hr) && c->series_count < c->columns.counters.count)
        hr = begin_series(c, c->series_count++);
    return hr;
}

static HRESULT take_values(struct report_counters *c, int64_t utc, int64_t interval)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < c->series_count && SUCCEEDED(hr); i++) {
        struct counter_series *s = &c->series[i];
        const struct log_cell *cell = &c->columns.cells[i];
        if (!s->wanted || !cell->has_value || !isfinite(cell->value))
            continue;
        const size_t before = value_statistics_memory(&s->statistics);
        hr = value_statistics_add(&s->statistics, cell->value, s->percentiles);
        c->bytes += value_statistics_memory(&s->statistics) - before;
        if (s->chart && SUCCEEDED(hr)) {
            const size_t points = s->chart->capacity;
            hr = chart_series_add(s->chart, utc, cell->value, interval);
            c->bytes += (s->chart->capacity - points) * sizeof *s->chart->points;
        }
        if (s->in_slices && SUCCEEDED(hr)) {
            const size_t slices = s->slices.capacity;
            hr = slice_series_add(&s->slices, utc, cell->value);
            c->bytes += (s->slices.capacity - slices) * sizeof *s->slices.items;
        }
        if (c->bytes > c->make.memory && s->percentiles &&
            SUCCEEDED(hr)) { /* without memory for all values, a series has no percentiles */
            c->exhausted = true;
            s->percentiles = false;
            c->bytes -= value_statistics_memory(&s->statistics);
            value_statistics_forget_percentiles(&s->statistics);
        }
    }
    return hr;
}

static void note_gap(struct rhythm *r, int64_t from, int64_t length)
{
    size_t shortest = 0;
    if (r->gap_count < MOST_GAPS) {
        r->longest[r->gap_count++] = (struct gap){from, length};
        return;
    }
    for (size_t i = 1; i < MOST_GAPS; i++)
        if (r->longest[i].length < r->longest[shortest].length)
            shortest = i;
    if (length > r->longest[shortest].length)
        r->longest[shortest] = (struct gap){from, length};
}

static HRESULT note_time(struct report_counters *c, struct rhythm *r, int64_t utc)
{
    HRESULT hr = S_OK;
    c->first = c->samples == 0 || utc < c->first ? utc : c->first;
    c->last = c->samples == 0 || utc > c->last ? utc : c->last;
    c->samples++;
    if (r->begun && utc > r->latest) {
        /* The distance is unsigned, because invalid times may differ by more than an int64_t can represent. */
        const uint64_t distance = (uint64_t)utc - (uint64_t)r->latest;
        const int64_t length = distance > INT64_MAX ? INT64_MAX : (int64_t)distance;
        hr = sample_distances_add(&r->distances, length);
        note_gap(r, r->latest, length);
    }
    r->latest = utc;
    r->begun = true;
    return hr;
}

/* Returns the shorter of the first two distances between samples, because a sample after the first may be missing.
   Returns 0 if there are fewer than two samples. */
static int64_t interval_of(const struct sample_distances *d)
{
    if (d->count < 2)
        return d->count ? d->items[0] : 0;
    return d->items[1] < d->items[0] ? d->items[1] : d->items[0];
}

static HRESULT name_logs(struct report_counters *c, const struct inputs *logs)
{
    c->rhythms = memory_zero(logs->count + 1, sizeof *c->rhythms);
    c->log_names = memory_zero(logs->count + 1, sizeof *c->log_names);
    if (!c->rhythms || !c->log_names)
        return E_OUTOFMEMORY;
    c->log_count = logs->count;
    if (logs->count)
        c->bias_minutes = log_reader_info(logs->items[0].reader)->zone.bias_minutes;
    for (size_t i = 0; i < logs->count; i++)
        if (!(c->log_names[i] = text_copy(logs->items[i].shown)))
            return E_OUTOFMEMORY;
    return S_OK;
}

HRESULT report_counters_read(struct report_counters *c, struct inputs *logs, bool (*seen)(void *context), void *context)
{
    size_t at;
    HRESULT hr = name_logs(c, logs);
    if (SUCCEEDED(hr))
        hr = columns_begin(&c->columns, logs);
    while (SUCCEEDED(hr) && (hr = inputs_next(logs, &at)) == S_OK) {
        const int64_t utc = logs->items[at].utc;
        hr = columns_learn(&c->columns, logs, at);
        if (SUCCEEDED(hr))
            hr = follow_columns(c);
        if (SUCCEEDED(hr))
            hr = columns_fill(&c->columns, logs, at);
        if (SUCCEEDED(hr))
            hr = note_time(c, &c->rhythms[at], utc);
        if (SUCCEEDED(hr))
            hr = take_values(c, utc, interval_of(&c->rhythms[at].distances));
        if (SUCCEEDED(hr) && !seen(context))
            hr = HRESULT_FROM_WIN32(ERROR_CANCELLED);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* ---- warnings about the logs ---- */

static HRESULT warn_of_gaps(struct report_counters *c, size_t log, uint64_t *gaps, struct texts *warnings)
{
    struct rhythm *r = &c->rhythms[log];
    const int64_t interval = sample_distances_middle(&r->distances);
    size_t reported = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->gap_count && SUCCEEDED(hr); i++) {
        const struct gap *gap = &r->longest[i];
        if (interval > INT64_MAX / 2 || gap->length <= 2 * interval)
            continue;
        ++*gaps;
        if (reported++ >= MOST_GAP_WARNINGS)
            continue;
        struct text_buffer b = {0};
        text_buffer_format(&b, "%s: no sample for %.3f s from ", c->log_names[log], (double)gap->length / 1e7);
        report_add_time(&b, gap->from, c->bias_minutes);
        text_buffer_add(&b, " on");
        char *text = text_buffer_take(&b);
        hr = text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Returns whether a table uses a counter, but no sample has the values from which to compute it. */
static bool has_no_value(const struct report_counters *c)
{
    bool wanted = false;
    for (size_t i = 0; i < c->series_count; i++) {
        if (c->series[i].wanted && c->series[i].statistics.count)
            return false;
        wanted |= c->series[i].wanted;
    }
    return wanted;
}

/* Gives the automatic slices of all series the same length, so that slices of different series begin at the same times.
   Each slice covers at least SLICE_INTERVALS samples. */
static void settle_slices(struct report_counters *c)
{
    int64_t width = 0;
    for (size_t i = 0; i < c->log_count; i++) {
        const int64_t interval = sample_distances_middle(&c->rhythms[i].distances);
        if (interval < INT64_MAX / SLICE_INTERVALS && interval * SLICE_INTERVALS > width)
            width = interval * SLICE_INTERVALS;
    }
    for (size_t i = 0; i < c->series_count; i++)
        if (!c->series[i].slices.fixed && c->series[i].slices.width > width)
            width = c->series[i].slices.width;
    for (size_t i = 0; i < c->series_count; i++)
        if (!c->series[i].slices.fixed)
            slice_series_widen(&c->series[i].slices, width);
}

HRESULT report_counters_totals(struct report_counters *c, struct report_totals *totals, struct texts *warnings)
{
    HRESULT hr = S_OK;
    settle_slices(c);
    totals->samples = c->samples;
    totals->sample_first = c->first;
    totals->sample_last = c->last;
    totals->gaps = 0;
    totals->valueless = has_no_value(c);
    for (size_t i = 0; i < c->log_count && SUCCEEDED(hr); i++)
        hr = warn_of_gaps(c, i, &totals->gaps, warnings);
    if (SUCCEEDED(hr) && c->columns.refused)
        hr = texts_add(warnings, "some counters are omitted: they exceed the memory limit of a report");
    if (SUCCEEDED(hr) && c->exhausted)
        hr = texts_add(warnings, "some percentiles are omitted: they exceed the memory limit of a report");
    return hr;
}

/* ---- writing ---- */

static struct counter_rows rows_of(struct report_counters *c, const struct schema_table *table, const char *object)
{
    return (struct counter_rows){.schema = c->make.schema,
                                 .table = table,
                                 .object = object,
                                 .counters = c->columns.counters.items,
                                 .series = c->series,
                                 .count = c->series_count,
                                 .slices_left = &c->slices_left};
}

/* Calls `write` for the table's object, or, if the table selects any object, for each of its objects in the order of
   the logs. */
static HRESULT each_object(struct report_counters *c, const struct schema_table *table, struct report_document *to,
                           HRESULT (*write)(const struct counter_rows *, struct report_document *, struct texts *),
                           struct texts *warnings)
{
    struct counter_rows rows = rows_of(c, table, NULL);
    if (strcmp(table->counters.object, "*") != 0)
        return write(&rows, to, warnings);
    HRESULT hr = S_OK;
    const char *last = NULL;
    struct texts done = {0};
    for (size_t i = 0; i < c->series_count && SUCCEEDED(hr); i++) {
        const char *object = log_counter_english_object(&rows.counters[i]);
        if (!object || (last && text_equal_nocase(last, object)))
            continue;
        last = object;
        bool known = false;
        for (size_t k = 0; k < done.count && !known; k++)
            known = text_equal_nocase(done.items[k], object);
        if (known || done.count >= SCHEMA_MOST_TABLES)
            continue;
        hr = texts_add(&done, object);
        rows.object = object;
        if (SUCCEEDED(hr))
            hr = write(&rows, to, warnings);
    }
    texts_free(&done);
    return hr;
}

HRESULT report_counters_write(struct report_counters *c, const struct schema_table *table, struct report_document *to,
                              struct texts *warnings)
{
    return is_wanted(c, table) ? each_object(c, table, to, counter_rows_write, warnings) : S_OK;
}

HRESULT report_counters_write_charts(struct report_counters *c, const struct schema_section *section,
                                     struct report_document *to)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < section->count && SUCCEEDED(hr); i++)
        if (is_wanted(c, &section->tables[i]) && section->tables[i].counters.chart)
            hr = each_object(c, &section->tables[i], to, counter_rows_chart, NULL);
    for (size_t i = 0; i < section->count && SUCCEEDED(hr); i++)
        if (is_wanted(c, &section->tables[i]) && section->tables[i].counters.watch)
            hr = each_object(c, &section->tables[i], to, counter_rows_watched, NULL);
    return hr;
}

void report_counters_free(struct report_counters *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->series_count; i++) {
        value_statistics_free(&c->series[i].statistics);
        memory_free(c->series[i].instance);
        if (c->series[i].chart)
            chart_series_free(c->series[i].chart);
        memory_free(c->series[i].chart);
        slice_series_free(&c->series[i].slices);
    }
    for (size_t i = 0; i < c->log_count; i++) {
        sample_distances_free(&c->rhythms[i].distances);
        memory_free(c->log_names[i]);
    }
    memory_free(c->rhythms);
    memory_free(c->log_names);
    memory_free(c->series);
    columns_free(&c->columns);
    filter_free(&c->filter);
    memory_free(c);
}
