/* SPDX-License-Identifier: MIT */
/* Grouped records become groups (event_sink.h), and groups become rows; other records become rows directly. Rows are
   sorted as the table specifies (event_sink.h). The records of sub-tables and the rows that will be written are both
   sorted by the group's key, and merged in this order. */
#include "engine/report/events/event_sink.h"

#include "engine/base/memory.h"

#include <string.h>

/* Records of the last sort before writing: a row, followed by the rows of its sub-table. */
enum { TAG_ROW = 'a', TAG_SUB_ROW };

struct event_sink {
    const struct schema_table *table;
    const struct event_columns *columns;
    size_t memory;
    uint64_t most;               /* maximum rows that are written */
    struct event_groups *groups; /* NULL if records are rows */
    struct event_rows *rows;
    struct row_sort *subs; /* records of sub-tables, by the group's key */
    uint64_t records;
    struct event_sum summaries[SCHEMA_MOST_COLUMNS];
    struct text_buffer key, body, sub, shown;
    const struct report_totals *totals; /* set while the table is written */
    unsigned asked;
    struct head {
        struct report_table_head table;
        struct report_column_head columns[SCHEMA_MOST_COLUMNS];
    } heads[2]; /* headers of the table and of a sub-table */
};

static bool has_subs(const struct event_sink *s)
{
    return s->columns->count > s->columns->own;
}

HRESULT event_sink_create(const struct schema_table *table, const struct event_columns *columns, size_t memory,
                          struct event_sink **out)
{
    struct event_sink *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->table = table;
    s->columns = columns;
    s->memory = memory;
    s->most = table->row_count && table->row_count < REPORT_MOST_ROWS ? table->row_count : REPORT_MOST_ROWS;
    HRESULT hr = event_rows_create(memory / 4, s->most, &s->rows);
    if (SUCCEEDED(hr) && columns->grouped)
        hr = event_groups_create(memory / 2, columns->sums, &s->groups);
    if (SUCCEEDED(hr) && columns->grouped && has_subs(s)) {
        s->subs = row_sort_create(memory / 4);
        hr = s->subs ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr)) {
        event_sink_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

void event_sink_free(struct event_sink *s)
{
    if (!s)
        return;
    event_groups_free(s->groups);
    event_rows_free(s->rows);
    row_sort_free(s->subs);
    text_buffer_free(&s->key);
    text_buffer_free(&s->body);
    text_buffer_free(&s->sub);
    text_buffer_free(&s->shown);
    memory_free(s);
}

/* ---- keys ---- */

static void add_order(struct text_buffer *key, uint64_t order)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(order >> (56 - 8 * i));
    text_buffer_add_n(key, bytes, sizeof bytes);
}

/* Adds the sort key. It consists of the primary column's value, followed by the secondary column's value. */
static HRESULT add_sort_key(const struct event_column *columns, size_t count, const struct event_cell *cells,
                            struct text_buffer *key)
{
    HRESULT hr = S_OK;
    for (int which = SCHEMA_PRIMARY; which <= SCHEMA_SECONDARY; which++)
        for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
            if (columns[i].said->sort == (enum schema_sort)which)
                hr = event_cell_sort(&cells[i], !columns[i].said->ascending, key);
    return hr;
}

static void pack(const struct event_cell *cells, size_t count, struct text_buffer *out)
{
    for (size_t i = 0; i < count; i++)
        event_cell_pack(&cells[i], out);
}

static const char *unpack(const char *at, size_t count, struct event_cell *cells)
{
    for (size_t i = 0; i < count; i++)
        at = event_cell_unpack(at, &cells[i]);
    return at;
}

static void summarize(struct event_sink *s, const struct event_cell *cells)
{
    for (size_t i = 0; i < s->columns->own; i++)
        if (s->columns->items[i].said->summary != SCHEMA_NO_SUMMARY)
            event_sum_add(&s->summaries[i], &cells[i]);
}

/* ---- adding records ---- */

static HRESULT add_row(struct event_sink *s, const struct event_cell *cells)
{
    const struct event_columns *c = s->columns;
    s->key.length = s->body.length = 0;
    text_buffer_add(&s->key, "");
    const HRESULT hr = add_sort_key(c->items, c->own, cells, &s->key);
    pack(cells, c->count, &s->body);
    summarize(s, cells);
    if (FAILED(hr) || s->key.failed || s->body.failed)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    return event_rows_add(s->rows, s->key.text, s->key.length, s->body.text, s->body.length);
}

/* Adds a row of a sub-table. The row's key starts with the group's key. Therefore the rows of a group are adjacent, and
   are sorted among themselves. */
static HRESULT add_sub(struct event_sink *s, const struct event_cell *cells)
{
    const struct event_columns *c = s->columns;
    const uint32_t size = (uint32_t)s->key.length;
    HRESULT hr = add_sort_key(c->items + c->own, c->count - c->own, cells + c->own, &s->key);
    add_order(&s->key, s->records);
    s->sub.length = 0;
    text_buffer_add_n(&s->sub, (const char *)&size, sizeof size);
    pack(cells + c->own, c->count - c->own, &s->sub);
    if (SUCCEEDED(hr))
        hr = s->key.failed || s->sub.failed
                 ? E_OUTOFMEMORY
                 : row_sort_add(s->subs, s->key.text, s->key.length, s->sub.text, s->sub.length);
    s->key.length = size;
    return hr;
}

HRESULT event_sink_add(struct event_sink *s, const struct event_cell *cells)
{
    const struct event_columns *c = s->columns;
    struct event_cell summed[EVENT_GROUP_SUMS];
    if (!s->groups)
        return add_row(s, cells);
    s->key.length = s->body.length = 0;
    text_buffer_add(&s->key, "");
    text_buffer_add(&s->body, "");
    for (size_t i = 0; i < c->own; i++)
        if (c->items[i].sum != NO_SUM)
            summed[c->items[i].sum] = cells[i];
        else
            event_cell_pack(&cells[i], c->items[i].said->group_by ? &s->key : &s->body);
    if (s->key.failed || s->body.failed)
        return E_OUTOFMEMORY;
    HRESULT hr = event_groups_add(s->groups, s->key.text, s->key.length, s->body.text, s->body.length, summed);
    if (SUCCEEDED(hr) && s->subs)
        hr = add_sub(s, cells);
    s->records++;
    return hr;
}

/* ---- groups to rows ---- */

static struct event_cell sum_cell(const struct event_column *c, const struct event_sum *sum, double seconds)
{
    const enum schema_aggregate aggregate = c->said->field.aggregate;
    if (c->field.system == SYS_AggregateCount && aggregate == SCHEMA_NO_AGGREGATE)
        return event_cell_unsigned(sum->count);
    if (aggregate == SCHEMA_AVERAGE)
        return event_sum_average(sum);
    if (aggregate == SCHEMA_RATE || c->field.system == SYS_RequestRate)
        return seconds > 0 ? event_cell_real(event_sum_value(sum) / seconds) : (struct event_cell){0};
    return event_sum_total(sum);
}

static HRESULT add_group(struct event_sink *s, const struct event_group *g, double seconds)
{
    const struct event_columns *c = s->columns;
    struct event_cell cells[SCHEMA_MOST_COLUMNS];
    const char *key = g->key, *first = g->first;
    const uint32_t size = (uint32_t)g->key_size;
    for (size_t i = 0; i < c->own; i++)
        if (c->items[i].sum != NO_SUM)
            cells[i] = sum_cell(&c->items[i], &g->sums[c->items[i].sum], seconds);
        else if (c->items[i].said->group_by)
            key = event_cell_unpack(key, &cells[i]);
        else
            first = event_cell_unpack(first, &cells[i]);
    summarize(s, cells);
    s->key.length = s->body.length = 0;
    HRESULT hr = add_sort_key(c->items, c->own, cells, &s->key);
    add_order(&s->key, g->order); /* equal rows stay in the order in which they were found */
    text_buffer_add_n(&s->body, (const char *)&size, sizeof size);
    text_buffer_add_n(&s->body, g->key, g->key_size);
    pack(cells, c->own, &s->body);
    if (FAILED(hr) || s->key.failed || s->body.failed)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    return event_rows_add(s->rows, s->key.text, s->key.length, s->body.text, s->body.length);
}

static HRESULT go_on(struct event_sink *s)
{
    return report_is_stopped(s->totals, &s->asked)
               ? error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the report was stopped in table '%s'", s->table->name)
               : S_OK;
}

static HRESULT groups_to_rows(struct event_sink *s)
{
    struct event_group *group = memory_alloc(sizeof *group);
    HRESULT hr = group ? event_groups_finish(s->groups) : E_OUTOFMEMORY;
    while (SUCCEEDED(hr) && (hr = event_groups_next(s->groups, group)) == S_OK)
        if (SUCCEEDED(hr = go_on(s)))
            hr = add_group(s, group, s->totals->seconds);
    memory_free(group);
    event_groups_free(s->groups);
    s->groups = NULL;
    return hr;
}

/* ---- writing rows ---- */

static void write_cell(struct event_sink *s, const struct event_cell *cell, struct report_document *to)
{
    s->shown.length = 0;
    event_cell_show(cell, &s->shown);
    report_cell(to, s->shown.length ? s->shown.text : NULL);
}

static void write_cells(struct event_sink *s, const struct event_cell *cells, size_t count, struct report_document *to)
{
    for (size_t i = 0; i < count; i++)
        write_cell(s, &cells[i], to);
}

static const char *units_of(const struct event_column *c)
{
    switch (c->field.system) {
    case SYS_KCPU:
    case SYS_UCPU:
    case SYS_ResponseTime:
        return c->said->field.aggregate == SCHEMA_RATE ? NULL : "ms";
    case SYS_CPUPercent:
        return c->said->field.aggregate == SCHEMA_RATE ? NULL : "%";
    default:
        return NULL;
    }
}

static void make_head(struct event_sink *s, bool sub)
{
    const struct schema_table *t = s->table;
    const struct event_columns *c = s->columns;
    struct head *head = &s->heads[sub];
    head->table = (struct report_table_head){.name = t->name,
                                             .topic = sub ? NULL : t->topic,
                                             .key = sub ? NULL : t->key,
                                             .note = sub ? NULL : t->note,
                                             .threshold = sub ? 0 : t->threshold,
                                             .level = t->level,
                                             .most_rows = sub ? EVENT_SUB_ROWS : (uint32_t)s->most,
                                             .columns = head->columns};
    for (size_t i = sub ? c->own : 0; i < (sub ? c->count : c->own); i++) {
        const struct schema_column *said = c->items[i].said;
        head->columns[head->table.column_count++] =
            (struct report_column_head){.name = said->name,
                                        .left = said->align == SCHEMA_LEFT,
                                        .units = units_of(&c->items[i]),
                                        .format = said->format,
                                        .note = said->note ? said->note : said->field.note,
                                        .sort = said->sort == SCHEMA_PRIMARY     ? "primary"
                                                : said->sort == SCHEMA_SECONDARY ? "secondary"
                                                                                 : NULL,
                                        .hidden = said->hidden,
                                        .bars = said->bars};
    }
}

static void write_footer(struct event_sink *s, struct report_document *to)
{
    static const char *const total[] = {"summary", "total", NULL}, *const average[] = {"summary", "average", NULL};
    bool any = false;
    for (size_t i = 0; i < s->columns->own; i++)
        any |= s->columns->items[i].said->summary != SCHEMA_NO_SUMMARY;
    if (!any)
        return;
    report_footer_begin(to);
    for (size_t i = 0; i < s->columns->own; i++) {
        const enum schema_summary summary = s->columns->items[i].said->summary;
        if (summary == SCHEMA_NO_SUMMARY) {
            report_cell(to, NULL);
            continue;
        }
        const struct event_cell cell =
            summary == SCHEMA_SUM ? event_sum_total(&s->summaries[i]) : event_sum_average(&s->summaries[i]);
        s->shown.length = 0;
        event_cell_show(&cell, &s->shown);
        report_cell_with(to, s->shown.length ? s->shown.text : NULL, summary == SCHEMA_SUM ? total : average);
    }
    report_footer_end(to);
}

/* If rows are not grouped, the sub-table of a row has a single row, which is stored in the row itself. */
static HRESULT write_rows(struct event_sink *s, struct report_document *to)
{
    const struct event_columns *c = s->columns;
    struct event_cell cells[EVENT_COLUMNS];
    struct sorted_row row;
    HRESULT hr;
    while (SUCCEEDED(hr = go_on(s)) && (hr = event_rows_next(s->rows, &row)) == S_OK) {
        const char *at = row.body;
        uint32_t size;
        if (c->grouped) {
            memcpy(&size, at, sizeof size);
            at += sizeof size + size;
        }
        at = unpack(at, c->own, cells);
        if (!report_row_begin(to))
            continue;
        write_cells(s, cells, c->own, to);
        if (!c->grouped && has_subs(s)) {
            unpack(at, c->count - c->own, cells);
            report_table_begin(to, &s->heads[1].table);
            if (report_row_begin(to)) {
                write_cells(s, cells, c->count - c->own, to);
                report_row_end(to);
            }
            report_table_end(to, NULL);
        }
        report_row_end(to);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* ---- rows with their sub-tables ---- */

/* Moves the rows that will be written to `by_group`, which sorts them by the keys of their groups. The body of each
   record is the row's position and its cells. */
static HRESULT sort_by_group(struct event_sink *s, struct row_sort *by_group)
{
    struct sorted_row row;
    uint32_t size;
    HRESULT hr;
    for (uint64_t rank = 0; (hr = event_rows_next(s->rows, &row)) == S_OK; rank++) {
        memcpy(&size, row.body, sizeof size);
        s->body.length = 0;
        add_order(&s->body, rank);
        text_buffer_add_n(&s->body, row.body + sizeof size + size, row.body_size - sizeof size - size);
        hr = s->body.failed ? E_OUTOFMEMORY
                            : row_sort_add(by_group, row.body + sizeof size, size, s->body.text, s->body.length);
        if (FAILED(hr))
            return hr;
    }
    return FAILED(hr) ? hr : row_sort_finish(by_group);
}

static int compare_group(const struct sorted_row *sub, const struct sorted_row *row)
{
    uint32_t size;
    memcpy(&size, sub->body, sizeof size);
    const struct sorted_row group = {.key = sub->key, .key_size = size};
    return sorted_row_compare(&group, row);
}

static HRESULT add_ranked(struct event_sink *s, struct row_sort *to, const char *rank, char tag, uint64_t order,
                          const char *body, size_t size)
{
    s->key.length = 0;
    text_buffer_add_n(&s->key, rank, 8);
    text_buffer_add_n(&s->key, &tag, 1);
    add_order(&s->key, order);
    return s->key.failed ? E_OUTOFMEMORY : row_sort_add(to, s->key.text, s->key.length, body, size);
}

/* Merges the rows with the records of their sub-tables. Both inputs are sorted by the groups' keys. Records of groups
   whose rows are not written are skipped. */
static HRESULT bring_together(struct event_sink *s, struct row_sort *by_group, struct row_sort *ranked)
{
    struct sorted_row row, sub;
    HRESULT hr = row_sort_finish(s->subs);
    HRESULT more = SUCCEEDED(hr) ? row_sort_next(s->subs, &sub) : S_FALSE;
    while (SUCCEEDED(hr) && (hr = row_sort_next(by_group, &row)) == S_OK) {
        uint64_t count = 0;
        hr = add_ranked(s, ranked, row.body, TAG_ROW, 0, row.body + 8, row.body_size - 8);
        while (SUCCEEDED(hr) && more == S_OK && compare_group(&sub, &row) < 0 && SUCCEEDED(hr = go_on(s)))
            more = row_sort_next(s->subs, &sub);
        for (; SUCCEEDED(hr) && more == S_OK && compare_group(&sub, &row) == 0; more = row_sort_next(s->subs, &sub)) {
            hr = go_on(s);
            count++;
            if (FAILED(hr))
                break;
            if (count <= EVENT_SUB_ROWS)
                hr = add_ranked(s, ranked, row.body, TAG_SUB_ROW, count, sub.body + sizeof(uint32_t),
                                sub.body_size - sizeof(uint32_t));
            else if (count == EVENT_SUB_ROWS + 1)
                hr = add_ranked(s, ranked, row.body, TAG_SUB_ROW, count, "", 0);
        }
        if (FAILED(more))
            hr = more;
    }
    return FAILED(hr) ? hr : row_sort_finish(ranked);
}

struct open_parts {
    bool row, sub;
};

static void end_row(struct open_parts *open, struct report_document *to)
{
    if (open->sub)
        report_table_end(to, NULL);
    if (open->row)
        report_row_end(to);
    *open = (struct open_parts){false, false};
}

/* Writes the rows with their sub-tables. *cut becomes the number of sub-tables that had more rows than
   EVENT_SUB_ROWS. */
static HRESULT write_ranked(struct event_sink *s, struct row_sort *ranked, struct report_document *to, uint64_t *cut)
{
    const struct event_columns *c = s->columns;
    struct event_cell cells[EVENT_COLUMNS];
    struct open_parts open = {false, false};
    struct sorted_row row;
    HRESULT hr;
    while (SUCCEEDED(hr = go_on(s)) && (hr = row_sort_next(ranked, &row)) == S_OK) {
        if (row.key[8] == TAG_ROW) {
            end_row(&open, to);
            open.row = report_row_begin(to);
            if (open.row) {
                unpack(row.body, c->own, cells);
                write_cells(s, cells, c->own, to);
            }
        } else if (row.body_size == 0) {
            *cut += open.row;
        } else if (open.row) {
            if (!open.sub)
                report_table_begin(to, &s->heads[1].table);
            open.sub = true;
            unpack(row.body, c->count - c->own, cells);
            if (report_row_begin(to)) {
                write_cells(s, cells, c->count - c->own, to);
                report_row_end(to);
            }
        }
    }
    end_row(&open, to);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT write_with_subs(struct event_sink *s, struct report_document *to, uint64_t *cut)
{
    struct row_sort *by_group = row_sort_create(s->memory / 4), *ranked = row_sort_create(s->memory / 4);
    HRESULT hr = by_group && ranked ? sort_by_group(s, by_group) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = bring_together(s, by_group, ranked);
    row_sort_free(by_group);
    if (SUCCEEDED(hr))
        hr = write_ranked(s, ranked, to, cut);
    row_sort_free(ranked);
    return hr;
}

static HRESULT add_warning(const struct event_sink *s, struct texts *warnings, char *what)
{
    char *place = event_table_place(s->table);
    const HRESULT hr = place && what ? texts_add_owned(warnings, text_format("%s: %s", place, what)) : E_OUTOFMEMORY;
    memory_free(place);
    memory_free(what);
    return hr;
}

HRESULT event_sink_write(struct event_sink *s, const struct report_totals *totals, struct report_document *to,
                         struct texts *warnings)
{
    s->totals = totals;
    uint64_t omitted = 0, cut = 0;
    HRESULT hr = s->groups ? groups_to_rows(s) : S_OK;
    if (SUCCEEDED(hr))
        hr = event_rows_finish(s->rows);
    if (FAILED(hr))
        return hr;
    const uint64_t rows = event_rows_count(s->rows);
    make_head(s, false);
    make_head(s, true);
    report_table_begin(to, &s->heads[0].table);
    hr = s->subs ? write_with_subs(s, to, &cut) : write_rows(s, to);
    write_footer(s, to);
    report_table_end(to, &omitted);
    if (s->shown.failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && rows > s->most && s->most != s->table->row_count)
        omitted += rows - s->most;
    if (SUCCEEDED(hr) && omitted)
        hr = add_warning(s, warnings,
                         text_format("%llu of its %llu rows are omitted: the report has reached its row limit",
                                     (unsigned long long)omitted, (unsigned long long)rows));
    if (SUCCEEDED(hr) && cut)
        hr = add_warning(s, warnings,
                         text_format("%llu of its rows have more than %d subrows; only the first are shown",
                                     (unsigned long long)cut, EVENT_SUB_ROWS));
    return hr;
}
