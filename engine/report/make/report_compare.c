/* SPDX-License-Identifier: MIT */
/* Two documents' sorted rows, side by side. */
#include "engine/report/report_compare.h"

#include "engine/base/memory.h"
#include "engine/report/make/keyed_rows.h"

#include <string.h>

#define SORT_MEMORY (32u << 20) /* bytes of each document's rows before a scratch file is needed */

/* The table that the rows belong to which come now. */
struct place {
    char *texts; /* section, table, source, outer: one block */
    const char *section, *table, *source, *outer;
};

struct side {
    struct row_sort *rows;
    struct keyed_row row;
    struct place place;
    bool ended;
};

struct comparing {
    const struct report_compare *how;
    struct report_compared *out;
    struct side sides[2];
    struct report_cell cells[REPORT_MAX_COLUMNS];
    struct report_change changes[2 * REPORT_MAX_COLUMNS];
};

static HRESULT set_place(struct place *p, const struct keyed_row *table)
{
    struct text_buffer b = {0};
    const char *const parts[] = {table->section, table->table, table->source, table->outer};
    const char **const places[] = {&p->section, &p->table, &p->source, &p->outer};
    for (size_t i = 0; i < 4; i++)
        text_buffer_add_n(&b, parts[i], strlen(parts[i]) + 1);
    char *texts = text_buffer_take(&b);
    if (!texts)
        return E_OUTOFMEMORY;
    memory_free(p->texts);
    p->texts = texts;
    for (size_t i = 0; i < 4; i++) {
        *places[i] = texts;
        texts += strlen(texts) + 1;
    }
    return S_OK;
}

static HRESULT step(struct side *s)
{
    struct sorted_row record;
    HRESULT hr = row_sort_next(s->rows, &record);
    s->ended = hr != S_OK;
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    keyed_row_open(&record, &s->row);
    return s->row.is_table ? set_place(&s->place, &s->row) : S_OK;
}

static HRESULT tell(struct comparing *c, const struct side *s, struct report_difference *d)
{
    d->section = s->place.section;
    d->table_name = s->place.table;
    d->source = s->place.source;
    d->outer = s->place.outer;
    d->table = s->row.is_table;
    for (size_t i = 0; i < s->row.cell_count; i++)
        c->cells[i] = s->row.cells[i].cell;
    d->cells = c->cells;
    d->cell_count = s->row.cell_count;
    return c->how->difference ? c->how->difference(c->how->about, d) : S_OK;
}

/* What one document alone has. */
static HRESULT tell_alone(struct comparing *c, const struct side *s, enum report_change_kind kind)
{
    struct report_difference d = {.kind = kind};
    if (s->row.is_table)
        ++*(kind == REPORT_CAME ? &c->out->tables_came : &c->out->tables_went);
    else
        ++*(kind == REPORT_CAME ? &c->out->came : &c->out->went);
    return tell(c, s, &d);
}

static const struct keyed_cell *find_cell(const struct keyed_row *row, const char *column, size_t at)
{
    if (at < row->cell_count && !strcmp(row->cells[at].cell.column, column))
        return &row->cells[at];
    for (size_t i = 0; i < row->cell_count; i++)
        if (!strcmp(row->cells[i].cell.column, column))
            return &row->cells[i];
    return NULL;
}

/* Columns of which the two rows have other texts; one that is not there is empty. */
static size_t find_changes(struct comparing *c)
{
    const struct keyed_row *before = &c->sides[0].row, *after = &c->sides[1].row;
    size_t count = 0;
    for (size_t i = 0; i < before->cell_count; i++) {
        const struct keyed_cell *b = &before->cells[i], *a = find_cell(after, b->cell.column, i);
        const char *text = a ? a->cell.text : "", *type = a ? a->cell.type : "";
        const bool counts = !b->is_volatile && !(a && a->is_volatile);
        if (counts && (strcmp(b->cell.text, text) != 0 || (a && strcmp(b->cell.type, type) != 0)))
            c->changes[count++] = (struct report_change){b->cell.column, b->cell.text, text, b->cell.type, type};
    }
    for (size_t i = 0; i < after->cell_count; i++) {
        const struct keyed_cell *a = &after->cells[i];
        if (!a->is_volatile && *a->cell.text && !find_cell(before, a->cell.column, i))
            c->changes[count++] = (struct report_change){a->cell.column, "", a->cell.text, "", a->cell.type};
    }
    return count;
}

static HRESULT compare_pair(struct comparing *c)
{
    const struct sorted_row *before = &c->sides[0].row.record, *after = &c->sides[1].row.record;
    struct report_difference d = {.kind = REPORT_CHANGED};
    if (c->sides[0].row.is_table)
        return S_OK;
    if (before->body_size != after->body_size || memcmp(before->body, after->body, after->body_size) != 0)
        d.change_count = find_changes(c);
    if (!d.change_count) {
        c->out->same++;
        return S_OK;
    }
    c->out->changed++;
    d.changes = c->changes;
    return tell(c, &c->sides[1], &d);
}

static HRESULT merge(struct comparing *c)
{
    struct side *before = &c->sides[0], *after = &c->sides[1];
    HRESULT hr = step(before);
    if (SUCCEEDED(hr))
        hr = step(after);
    while (SUCCEEDED(hr) && !(before->ended && after->ended)) {
        const int order = before->ended  ? 1
                          : after->ended ? -1
                                         : sorted_row_compare(&before->row.record, &after->row.record);
        hr = order < 0   ? tell_alone(c, before, REPORT_WENT)
             : order > 0 ? tell_alone(c, after, REPORT_CAME)
                         : compare_pair(c);
        if (SUCCEEDED(hr) && order <= 0)
            hr = step(before);
        if (SUCCEEDED(hr) && order >= 0)
            hr = step(after);
    }
    return hr;
}

HRESULT report_compare(const char *before, const char *after, const struct report_compare *how,
                       struct report_compared *out)
{
    const char *const paths[] = {before, after};
    memset(out, 0, sizeof *out);
    struct comparing *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->how = how;
    c->out = out;
    HRESULT hr = S_OK;
    for (unsigned i = 0; i < 2 && SUCCEEDED(hr); i++) {
        c->sides[i].rows = row_sort_create(SORT_MEMORY);
        hr = c->sides[i].rows ? keyed_rows_read(paths[i], i, how, c->sides[i].rows, &out->remarks[i]) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = row_sort_finish(c->sides[i].rows);
    }
    if (SUCCEEDED(hr))
        hr = merge(c);
    for (unsigned i = 0; i < 2; i++) {
        row_sort_free(c->sides[i].rows);
        memory_free(c->sides[i].place.texts);
    }
    memory_free(c);
    return hr;
}

void report_compared_free(struct report_compared *c)
{
    texts_free(&c->remarks[0]);
    texts_free(&c->remarks[1]);
}
