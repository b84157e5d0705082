/* SPDX-License-Identifier: MIT */
/* Reads the counters of a report. Their values over time are in the report's charts, and their statistics are in its
   tables. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/report_reader.h"
#include "engine/report/run_compare.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { MOST_SERIES = 20000, MOST_ROWS = 200000 };

/* A row of a table of counters. */
struct side_row {
    char *object, *name; /* `name` has the form that charts use: "counter (instance)" */
    size_t counter;      /* length in bytes of the counter's part of `name` */
    struct run_figures figures;
};
struct side_reading {
    struct run_side *side;
    struct side_row *rows;
    size_t row_count, row_capacity;
    char *source;
    double start; /* start of the chart */
    double duration;
    bool has_start;
    struct chart_value *values;
};

static double number_of(const struct report_row *row, const char *column)
{
    const struct report_data *d = report_find(row->cells, row->cell_count, column, 0);
    char *end = NULL;
    const double value = d && !strcmp(d->name, column) && *d->text ? strtod(d->text, &end) : NAN;
    return end && *end == 0 ? value : (double)NAN;
}

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    struct side_reading *r = about;
    const char *source = report_attribute(table->attributes, table->attribute_count, "source");
    const struct report_data *counter = report_find(row->cells, row->cell_count, "counter", 0);
    const struct report_data *instance = report_find(row->cells, row->cell_count, "instance", 1);
    const struct run_figures figures = {number_of(row, "mean"), number_of(row, "p95"), number_of(row, "max"), 0};
    if (table->depth || row->footer || !source || !counter || strcmp(counter->name, "counter") != 0 ||
        r->row_count == MOST_ROWS || !isfinite(figures.mean) || !isfinite(figures.greatest))
        return S_OK;
    void *rows = r->rows;
    if (!memory_grow(&rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows))
        return E_OUTOFMEMORY;
    r->rows = rows;
    const bool has_instance = instance && !strcmp(instance->name, "instance") && *instance->text;
    struct side_row *to = &r->rows[r->row_count++];
    *to = (struct side_row){.object = text_copy(source),
                            .name = has_instance ? text_format("%s (%s)", counter->text, instance->text)
                                                 : text_copy(counter->text),
                            .counter = strlen(counter->text),
                            .figures = figures};
    return to->object && to->name ? S_OK : E_OUTOFMEMORY;
}

/* Reads a time such as 2026-01-02T03:04:05.000+01:00. The result is in seconds and in the time zone of the text, so the
   UTC offset is ignored. */
static bool read_local(const char *text, double *out)
{
    int64_t filetime;
    if (!text || !chart_start_read(text, &filetime))
        return false;
    *out = (double)filetime / 1e7;
    return true;
}

static HRESULT on_chart(void *about, const struct report_data *chart)
{
    struct side_reading *r = about;
    const char *source = report_attribute(chart->attributes, chart->attribute_count, "source");
    const char *duration = report_attribute(chart->attributes, chart->attribute_count, "duration");
    memory_free(r->source);
    r->source = text_copy(source ? source : chart->name);
    r->has_start = read_local(report_attribute(chart->attributes, chart->attribute_count, "start"), &r->start);
    r->duration = duration ? strtod(duration, NULL) : 0;
    return r->source ? S_OK : E_OUTOFMEMORY;
}

static bool read_place(const struct report_data *series, const char *name, double *out)
{
    const char *text = report_attribute(series->attributes, series->attribute_count, name);
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    return end && end != text && !*end && fabs(*out) < 1e10;
}

static HRESULT on_series(void *about, const struct report_data *series)
{
    struct side_reading *r = about;
    struct run_side *s = r->side;
    double first, step;
    if (!r->has_start || s->count == MOST_SERIES)
        return S_OK;
    size_t count = chart_values_read(series->text, r->values);
    if (!read_place(series, "first", &first) || !read_place(series, "step", &step) || !(step > 0)) {
        step = count && r->duration > 0 && r->duration < 1e10 ? r->duration / (double)count : 0;
        first = step / 2;
    }
    bool some = false;
    for (size_t i = 0; i < count; i++)
        some |= r->values[i].least <= r->values[i].greatest;
    if (!some || !(step > 0))
        return S_OK;
    void *all = s->series;
    if (!memory_grow(&all, &s->capacity, s->count + 1, sizeof *s->series))
        return E_OUTOFMEMORY;
    s->series = all;
    struct run_series *to = &s->series[s->count++];
    *to = (struct run_series){.object = text_copy(r->source),
                              .counter = text_copy(series->name),
                              .instance = text_copy(""),
                              .begin = r->start + first,
                              .step = step,
                              .count = count,
                              .values = memory_alloc(count * sizeof *to->values)};
    if (!to->object || !to->counter || !to->instance || !to->values)
        return E_OUTOFMEMORY;
    memcpy(to->values, r->values, count * sizeof *to->values);
    return S_OK;
}

/* Returns the time for display: 2026-01-02 03:04:05. */
static char *time_text(const char *start)
{
    char *text = text_copy_n(start, strlen(start) < 19 ? strlen(start) : 19);
    if (text && strlen(text) == 19 && text[10] == 'T')
        text[10] = ' ';
    return text;
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    struct run_side *s = ((struct side_reading *)about)->side;
    char **const facts[] = {&s->start, &s->duration, &s->samples, &s->names};
    static const char *const names[] = {"start", "duration", "samples", "names"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strcmp(fact->name, names[i]) && !*facts[i] &&
            !(*facts[i] = i ? text_copy(fact->text) : time_text(fact->text)))
            return E_OUTOFMEMORY;
    return S_OK;
}

/* ---- the row of each series ---- */

static int by_row(const void *left, const void *right)
{
    const struct side_row *a = left, *b = right;
    const int order = text_compare_nocase(a->object, b->object);
    return order ? order : text_compare_nocase(a->name, b->name);
}

static int by_series(const void *left, const void *right)
{
    const struct run_series *a = left, *b = right;
    int order = text_compare_nocase(a->object, b->object);
    order = order ? order : text_compare_nocase(a->counter, b->counter);
    order = order ? order : text_compare_nocase(a->instance, b->instance);
    return order ? order : (a->count < b->count) - (a->count > b->count);
}

static void series_free(struct run_series *s)
{
    memory_free(s->object);
    memory_free(s->counter);
    memory_free(s->instance);
    memory_free(s->values);
}

static HRESULT take_figures(const struct side_reading *r, struct run_series *s)
{
    const struct side_row wanted = {.object = s->object, .name = s->counter};
    const struct side_row *row = r->row_count ? bsearch(&wanted, r->rows, r->row_count, sizeof *r->rows, by_row) : NULL;
    if (!row)
        return S_OK;
    const size_t length = strlen(row->name);
    s->has_figures = isfinite(row->figures.p95);
    s->figures = row->figures;
    if (length == row->counter)
        return S_OK;
    memory_free(s->instance);
    s->instance = text_copy_n(row->name + row->counter + 2, length - row->counter - 3);
    s->counter[row->counter] = 0;
    return s->instance ? S_OK : E_OUTOFMEMORY;
}

/* Removes duplicates: if a series is in several charts, keeps the one with the most values. */
static void drop_repeated(struct run_side *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct run_series *last = kept ? &s->series[kept - 1] : NULL;
        if (last && text_equal_nocase(last->object, s->series[i].object) &&
            text_equal_nocase(last->counter, s->series[i].counter) &&
            text_equal_nocase(last->instance, s->series[i].instance))
            series_free(&s->series[i]);
        else
            s->series[kept++] = s->series[i];
    }
    s->count = kept;
}

HRESULT run_side_read(const char *report, struct run_side *out, struct texts *notes)
{
    static const struct report_handlers handlers = {
        .fact = on_fact, .row = on_row, .chart_begin = on_chart, .series = on_series};
    struct side_reading r = {.side = out, .values = memory_alloc(CHART_MOST_POINTS * sizeof *r.values)};
    HRESULT hr = r.values ? report_read(report, &handlers, &r, notes) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && r.row_count)
        qsort(r.rows, r.row_count, sizeof *r.rows, by_row);
    for (size_t i = 0; i < out->count && SUCCEEDED(hr); i++)
        hr = take_figures(&r, &out->series[i]);
    if (SUCCEEDED(hr) && out->count) {
        qsort(out->series, out->count, sizeof *out->series, by_series);
        drop_repeated(out);
    }
    for (size_t i = 0; i < out->count && SUCCEEDED(hr); i++) {
        const struct run_series *s = &out->series[i];
        const double end = s->begin + s->step * (double)(s->count - 1);
        out->begin = !i || s->begin < out->begin ? s->begin : out->begin;
        out->end = !i || end > out->end ? end : out->end;
    }
    for (size_t i = 0; i < r.row_count; i++) {
        memory_free(r.rows[i].object);
        memory_free(r.rows[i].name);
    }
    memory_free(r.rows);
    memory_free(r.source);
    memory_free(r.values);
    return FAILED(hr) ? hr : out->count ? S_OK : S_FALSE;
}

void run_side_free(struct run_side *s)
{
    for (size_t i = 0; i < s->count; i++)
        series_free(&s->series[i]);
    memory_free(s->series);
    memory_free(s->start);
    memory_free(s->duration);
    memory_free(s->samples);
    memory_free(s->names);
    *s = (struct run_side){0};
}
