/* SPDX-License-Identifier: MIT */
/* Reads a report for the first time, and collects its strings, the sizes of its tables, and its warnings. Warnings,
   rows and charts are connected by tags and by names of counters. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/page/page_parts.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

/* ---- the first reading ---- */

static bool make_room(struct page_findings *f)
{
    f->warnings = f->warnings ? f->warnings : memory_zero(FINDINGS_MOST_WARNINGS, sizeof *f->warnings);
    f->rows = f->rows ? f->rows : memory_zero(FINDINGS_MOST_ROWS, sizeof *f->rows);
    f->charts = f->charts ? f->charts : memory_zero(FINDINGS_MOST_CHARTS, sizeof *f->charts);
    return f->warnings && f->rows && f->charts;
}

static const char *attribute_of(const struct report_row *row, const char *name)
{
    const char *value = report_attribute(row->attributes, row->attribute_count, name);
    for (size_t i = 0; i < row->cell_count && !value; i++)
        value = report_attribute(row->cells[i].attributes, row->cells[i].attribute_count, name);
    return value && *value && strlen(value) <= PAGE_LONGEST_CELL ? value : NULL;
}

enum report_severity page_findings_severity(const struct report_row *warning)
{
    const enum report_severity severity = report_severity_of(attribute_of(warning, "img"));
    return severity == REPORT_OTHER ? REPORT_WARNING : severity;
}

static HRESULT add_warning(struct page_findings *f, const struct report_row *row)
{
    if (f->warning_count == FINDINGS_MOST_WARNINGS)
        return S_OK;
    struct found_warning *w = &f->warnings[f->warning_count];
    const char *link = attribute_of(row, "link"), *limit = attribute_of(row, "limit");
    char *end = NULL;
    const double value = limit ? strtod(limit, &end) : 0;
    *w = (struct found_warning){.link = text_copy(link ? link : ""),
                                .severity = page_findings_severity(row),
                                .order = f->warning_count,
                                .has_limit = limit && end != limit && !*end && isfinite(value),
                                .limit = value};
    f->warning_count++;
    return w->link ? S_OK : E_OUTOFMEMORY;
}

/* Returns the name of the object; if the report does not contain it, the name of the table. */
static const char *source_of(const struct report_attribute *attributes, size_t count, const char *name)
{
    const char *source = report_attribute(attributes, count, "source");
    return source && *source ? source : name;
}

/* Adds the tags of the row and of its cells, each once. */
static bool add_tags(struct text_buffer *all, const char *tags)
{
    size_t length;
    for (const char *tag = report_tags_next(&tags, &length); tag; tag = report_tags_next(&tags, &length)) {
        if (all->length + length >= REPORT_TAGS_MOST)
            continue;
        char *one = text_copy_n(tag, length);
        if (!one)
            return false;
        if (!report_tags_have(all->text, one))
            text_buffer_format(all, "%s%s", all->length ? "\n" : "", one);
        memory_free(one);
    }
    return !all->failed;
}

static HRESULT tags_of(const struct report_row *row, char **out)
{
    struct text_buffer all = {0};
    bool done = add_tags(&all, report_attribute(row->attributes, row->attribute_count, "tag"));
    for (size_t i = 0; i < row->cell_count && done; i++)
        done = add_tags(&all, report_attribute(row->cells[i].attributes, row->cells[i].attribute_count, "tag"));
    if (!done)
        text_buffer_free(&all);
    *out = done ? text_buffer_take(&all) : NULL;
    return done ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_row(struct page_findings *f, const struct report_table *table, const struct report_row *row)
{
    const struct report_data *counter = report_find(row->cells, row->cell_count, "counter", 0);
    const struct report_data *instance = report_find(row->cells, row->cell_count, "instance", 1);
    char *tags = NULL;
    if (!counter || !*counter->text || f->row_count == FINDINGS_MOST_ROWS)
        return S_OK;
    HRESULT hr = tags_of(row, &tags);
    if (FAILED(hr) || !tags)
        return hr;
    struct found_row *r = &f->rows[f->row_count++];
    *r = (struct found_row){
        .tags = tags,
        .source = text_copy(source_of(table->attributes, table->attribute_count, table->name)),
        .series = instance && *instance->text ? text_format("%s (%s)", counter->text, instance->text)
                                              : text_copy(counter->text),
        .counter = strlen(counter->text),
    };
    return r->source && r->series ? S_OK : E_OUTOFMEMORY;
}

HRESULT page_findings_row(struct page_findings *f, const struct report_table *table, const struct report_row *row)
{
    if (table->depth || row->footer)
        return S_OK;
    if (!make_room(f))
        return E_OUTOFMEMORY;
    return !strcmp(table->section, "advice") && !strcmp(table->name, "warning") ? add_warning(f, row)
                                                                                : add_row(f, table, row);
}

HRESULT page_findings_chart(struct page_findings *f, const struct report_data *chart)
{
    const char *watch = report_attribute(chart->attributes, chart->attribute_count, "watch");
    if (!make_room(f))
        return E_OUTOFMEMORY;
    f->chart_open = f->chart_count < FINDINGS_MOST_CHARTS;
    if (!f->chart_open)
        return S_OK;
    struct found_chart *c = &f->charts[f->chart_count++];
    *c = (struct found_chart){
        .source = text_copy(source_of(chart->attributes, chart->attribute_count, chart->name)),
        .watched = watch && (!strcmp(watch, "1") || !strcmp(watch, "true")),
    };
    return c->source ? S_OK : E_OUTOFMEMORY;
}

HRESULT page_findings_series(struct page_findings *f, const struct report_data *series)
{
    struct texts *names = f->chart_open ? &f->charts[f->chart_count - 1].series : NULL;
    if (!names || names->count == FINDINGS_MOST_SERIES || strlen(series->name) > PAGE_LONGEST_CELL)
        return S_OK;
    return texts_add(names, series->name);
}

/* ---- connecting warnings, rows and charts ---- */

/* Returns whether the counter of a series "counter (instance)" is the row's counter. */
static bool is_of_counter(const char *series, const struct found_row *row)
{
    return !strncmp(series, row->series, row->counter) &&
           (!series[row->counter] || !strncmp(series + row->counter, " (", 2));
}

static bool has_counter(const struct found_chart *c, const struct found_row *row)
{
    if (!text_equal_nocase(c->source, row->source))
        return false;
    for (size_t i = 0; i < c->series.count; i++)
        if (is_of_counter(c->series.items[i], row))
            return true;
    return false;
}

static bool has_series(const struct found_chart *c, const struct found_row *row)
{
    for (size_t i = 0; i < c->series.count; i++)
        if (!strcmp(c->series.items[i], row->series))
            return true;
    return false;
}

/* Returns the worst of the warnings that have the link `link`, or NULL. Other warnings of the same rule have the same
   limit. */
static const struct found_warning *worst_with(const struct page_findings *f, const char *link, size_t length)
{
    const struct found_warning *worst = NULL;
    for (size_t i = 0; i < f->warning_count; i++)
        if (!strncmp(f->warnings[i].link, link, length) && !f->warnings[i].link[length] &&
            (!worst || f->warnings[i].number < worst->number))
            worst = &f->warnings[i];
    return worst;
}

/* Inserts the warning into the list `worst`, which is in order of severity, unless the list already contains it.
   Returns the new length of the list. */
static size_t add_found(const struct found_warning **worst, size_t count, const struct found_warning *w)
{
    size_t place = 0;
    while (place < count && worst[place]->number < w->number)
        place++;
    if (place == FINDINGS_MOST_LIMITS || (place < count && worst[place] == w))
        return count;
    count += count < FINDINGS_MOST_LIMITS;
    memmove(worst + place + 1, worst + place, (count - place - 1) * sizeof *worst);
    worst[place] = w;
    return count;
}

static void connect_row(const struct page_findings *f, struct found_row *row)
{
    const char *tags = row->tags;
    size_t length;
    for (const char *tag = report_tags_next(&tags, &length); tag; tag = report_tags_next(&tags, &length)) {
        const struct found_warning *w = worst_with(f, tag, length);
        if (w)
            row->worst_count = add_found(row->worst, row->worst_count, w);
    }
}

static int by_severity(const void *a, const void *b)
{
    const struct found_warning *x = *(struct found_warning *const *)a, *y = *(struct found_warning *const *)b;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void number_warnings(struct page_findings *f)
{
    struct found_warning *sorted[FINDINGS_MOST_WARNINGS];
    for (size_t i = 0; i < f->warning_count; i++)
        sorted[i] = &f->warnings[i];
    if (f->warning_count)
        qsort(sorted, f->warning_count, sizeof *sorted, by_severity);
    for (size_t i = 0; i < f->warning_count; i++)
        sorted[i]->number = i + 1;
    for (size_t i = 0; i < f->row_count; i++)
        connect_row(f, &f->rows[i]);
}

static bool is_warned_of(const struct page_findings *f, const struct found_chart *c)
{
    for (size_t i = 0; i < f->row_count; i++)
        if (f->rows[i].worst_count && has_counter(c, &f->rows[i]))
            return true;
    return false;
}

/* Returns whether a warning needs this chart. A warning refers to a series. If this chart contains the series, the
   warning needs it unless a shown chart contains the series. If this chart contains only other series of the counter,
   the warning needs it unless a shown chart contains any series of the counter. */
static bool adds_series(const struct page_findings *f, const struct found_chart *c)
{
    for (size_t i = 0; i < f->row_count; i++) {
        const struct found_row *row = &f->rows[i];
        bool elsewhere = !row->worst_count || !has_counter(c, row);
        const bool exact = !elsewhere && has_series(c, row);
        for (size_t k = 0; k < f->chart_count && !elsewhere; k++)
            elsewhere =
                f->charts[k].shown && has_counter(&f->charts[k], row) && (!exact || has_series(&f->charts[k], row));
        if (!elsewhere)
            return true;
    }
    return false;
}

static void show(struct found_chart *c, size_t *left, unsigned *omitted)
{
    c->shown = *left > 0;
    *omitted += !*left;
    *left -= c->shown;
}

void page_findings_settle(struct page_findings *f, size_t most, unsigned *omitted)
{
    size_t left = most;
    *omitted = 0;
    number_warnings(f);
    for (int watched = 0; watched < 2; watched++)
        for (size_t i = 0; i < f->chart_count; i++) {
            struct found_chart *c = &f->charts[i];
            if (c->watched == (watched == 1) && (watched ? adds_series(f, c) : is_warned_of(f, c)))
                show(c, &left, omitted);
        }
    for (size_t i = 0; i < f->chart_count; i++)
        if (!f->charts[i].watched && !is_warned_of(f, &f->charts[i]))
            show(&f->charts[i], &left, omitted);
}

/* ---- the second reading ---- */

size_t page_findings_number(const struct page_findings *f, size_t at)
{
    return at < f->warning_count ? f->warnings[at].number : at + 1;
}

size_t page_findings_about(const struct page_findings *f, size_t chart, const struct found_warning **out)
{
    size_t count = 0;
    for (size_t i = 0; i < f->row_count && chart < f->chart_count; i++)
        for (size_t k = 0; k < f->rows[i].worst_count && has_counter(&f->charts[chart], &f->rows[i]); k++)
            count = add_found(out, count, f->rows[i].worst[k]);
    return count;
}

bool page_findings_names(const struct page_findings *f, size_t chart, const char *series)
{
    for (size_t i = 0; i < f->row_count && chart < f->chart_count; i++)
        if (f->rows[i].worst_count && !strcmp(f->rows[i].series, series) &&
            text_equal_nocase(f->charts[chart].source, f->rows[i].source))
            return true;
    return false;
}

void page_findings_free(struct page_findings *f)
{
    for (size_t i = 0; i < f->warning_count; i++)
        memory_free(f->warnings[i].link);
    for (size_t i = 0; i < f->row_count; i++) {
        memory_free(f->rows[i].tags);
        memory_free(f->rows[i].source);
        memory_free(f->rows[i].series);
    }
    for (size_t i = 0; i < f->chart_count; i++) {
        memory_free(f->charts[i].source);
        texts_free(&f->charts[i].series);
    }
    memory_free(f->warnings);
    memory_free(f->rows);
    memory_free(f->charts);
    memset(f, 0, sizeof *f);
}

/* ---- strings and sizes ---- */

static HRESULT on_table(void *about, const struct report_table *table)
{
    struct page_survey *s = about;
    if (table->depth || s->table_count == SURVEY_MOST_TABLES)
        return S_OK;
    s->tables[s->table_count++] = (struct surveyed_table){.columns = table->column_count};
    return S_OK;
}

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    struct page_survey *s = about;
    if (s->stop && s->stop(s->context))
        return HRESULT_FROM_WIN32(ERROR_CANCELLED);
    const HRESULT hr = page_findings_row(&s->findings, table, row);
    if (FAILED(hr) || table->depth || row->footer || !s->table_count)
        return hr;
    struct surveyed_table *t = &s->tables[s->table_count - 1];
    t->rows++;
    t->columns = row->cell_count > t->columns ? row->cell_count : t->columns;
    return S_OK;
}

static HRESULT on_chart(void *about, const struct report_data *chart)
{
    struct page_survey *s = about;
    return page_findings_chart(&s->findings, chart);
}

static HRESULT on_series(void *about, const struct report_data *series)
{
    struct page_survey *s = about;
    return page_findings_series(&s->findings, series);
}

static HRESULT on_string(void *about, const char *id, const char *text)
{
    struct page_survey *s = about;
    if (s->string_count == SURVEY_MOST_STRINGS || strlen(id) > PAGE_LONGEST_CELL)
        return S_OK;
    const size_t length = strlen(text);
    struct surveyed_string *string = &s->strings[s->string_count];
    /* Keep a few bytes more than a cell can contain, so that page_text notices that the string is too long and
       truncates it. */
    *string = (struct surveyed_string){
        text_copy(id), text_copy_n(text, length > PAGE_LONGEST_CELL + 4 ? PAGE_LONGEST_CELL + 4 : length),
        s->string_count};
    s->string_count++;
    return string->id && string->text ? S_OK : E_OUTOFMEMORY;
}

static int by_id(const void *a, const void *b)
{
    const struct surveyed_string *x = a, *y = b;
    const int order = strcmp(x->id, y->id);
    return order ? order : x->order < y->order ? -1 : 1;
}

HRESULT page_survey_make(struct page_survey *s, const char *report, struct texts *notes)
{
    static const struct report_handlers handlers = {
        .table_begin = on_table, .row = on_row, .chart_begin = on_chart, .series = on_series, .string = on_string};
    s->tables = memory_zero(SURVEY_MOST_TABLES, sizeof *s->tables);
    s->strings = memory_zero(SURVEY_MOST_STRINGS, sizeof *s->strings);
    if (!s->tables || !s->strings)
        return E_OUTOFMEMORY;
    const HRESULT hr = report_read(report, &handlers, s, notes);
    if (SUCCEEDED(hr))
        qsort(s->strings, s->string_count, sizeof *s->strings, by_id);
    return hr;
}

const char *page_survey_string(const struct page_survey *s, const char *id)
{
    size_t low = 0, high = s->string_count;
    while (low < high) { /* find the first string whose ID is not before `id` */
        const size_t middle = low + (high - low) / 2;
        if (strcmp(s->strings[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->string_count && !strcmp(s->strings[low].id, id) ? s->strings[low].text : id;
}

static uint64_t size_of(const struct surveyed_table *t, uint64_t most)
{
    const uint64_t columns = t->columns ? t->columns : 1;
    return t->rows > most / columns ? most : t->rows * columns;
}

uint64_t page_survey_share(const struct page_survey *s, uint64_t cells)
{
    uint64_t low = 0, high = cells;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        uint64_t all = 0;
        for (size_t i = 0; i < s->table_count; i++)
            all += size_of(&s->tables[i], middle);
        if (all <= cells)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void page_survey_free(struct page_survey *s)
{
    for (size_t i = 0; i < s->string_count; i++) {
        memory_free(s->strings[i].id);
        memory_free(s->strings[i].text);
    }
    memory_free(s->strings);
    memory_free(s->tables);
    page_findings_free(&s->findings);
    memset(s, 0, sizeof *s);
}
