/* SPDX-License-Identifier: MIT */
/* The first reading of a report. */
#include "engine/report/page/page_survey.h"

#include "engine/base/memory.h"
#include "engine/report/page/page_text.h"

#include <stdlib.h>
#include <string.h>

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
    /* One byte more than a cell has tells that it is cut. */
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

HRESULT page_survey_make(struct page_survey *s, const char *report, struct texts *remarks)
{
    static const struct report_handlers handlers = {
        .table_begin = on_table, .row = on_row, .chart_begin = on_chart, .series = on_series, .string = on_string};
    s->tables = memory_zero(SURVEY_MOST_TABLES, sizeof *s->tables);
    s->strings = memory_zero(SURVEY_MOST_STRINGS, sizeof *s->strings);
    if (!s->tables || !s->strings)
        return E_OUTOFMEMORY;
    const HRESULT hr = report_read(report, &handlers, s, remarks);
    if (SUCCEEDED(hr))
        qsort(s->strings, s->string_count, sizeof *s->strings, by_id);
    return hr;
}

const char *page_survey_string(const struct page_survey *s, const char *id)
{
    size_t low = 0, high = s->string_count;
    while (low < high) { /* the first that is not before it */
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
