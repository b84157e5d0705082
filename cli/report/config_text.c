/* SPDX-License-Identifier: MIT */
/* Prints a configuration's XML as tables of aligned columns, or with a paragraph for each row if a table is too wide.
   The first rows determine the widths. A column that is empty in these rows gets no width; its later values are printed
   after the other cells. */
#include "cli/output.h"
#include "cli/report/config.h"
#include "engine/base/memory.h"

#include <string.h>

enum { FIRST_ROWS = 200, FIRST_BYTES = 0x40000, WIDEST_COLUMN = 100, LAST_COLUMN = 40, WIDEST_LINE = 160, INDENT = 4 };

struct shown_table {
    const struct report_table *table;
    size_t widths[REPORT_MAX_COLUMNS]; /* 0 means no value yet */
    bool measured;                     /* the first rows have been printed, and the widths are fixed */
    bool paragraphs;
    struct text_buffer waiting; /* the buffered first rows: the strings of their columns and other cells, each with its
                                   NUL */
    size_t waiting_rows;
    uint64_t rows;
};

struct text_show {
    const struct texts *tables;
    struct shown_table *open; /* array of REPORT_MAX_TABLES elements */
    unsigned hidden;
    bool strings; /* at least one string has been shown */
};

static void indent(unsigned depth, unsigned more)
{
    for (unsigned i = 0; i < depth * INDENT + more; i++)
        putchar(' ');
}

static void put_padded(const char *shown, size_t width)
{
    printf("%s%*s", shown, shown_room(shown, width), "");
}

/* ---- the document ---- */

static HRESULT on_begin(void *about, const struct report_attribute *attributes, size_t count)
{
    const char *name = report_attribute(attributes, count, "name");
    (void)about;
    fputs("Report:     ", stdout);
    print_shown(name ? name : "");
    putchar('\n');
    return S_OK;
}

static void print_pair(const char *name, const char *text)
{
    struct text_buffer b = {0};
    add_shown(&b, name);
    text_buffer_add(&b, ":");
    put_padded(b.text && !b.failed ? b.text : "", 12);
    text_buffer_free(&b);
    print_shown(text);
}

static const char *units_of(const struct report_data *d)
{
    const char *units = report_attribute(d->attributes, d->attribute_count, "units");
    return units ? units : "";
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    (void)about;
    print_pair(fact->name, fact->text);
    if (*units_of(fact)) {
        putchar(' ');
        print_shown(units_of(fact));
    }
    putchar('\n');
    return S_OK;
}

static HRESULT on_section(void *about, const struct report_section *section)
{
    (void)about;
    fputs("\n[", stdout);
    print_shown(section->name);
    fputs("]\n", stdout);
    return S_OK;
}

static HRESULT on_string(void *about, const char *id, const char *text)
{
    struct text_show *s = about;
    if (!s->strings)
        fputs("\n[strings]\n", stdout);
    s->strings = true;
    print_pair(id, text);
    putchar('\n');
    return S_OK;
}

/* ---- tables ---- */

static void print_paragraph(const struct shown_table *t, const char *texts, const char *rest)
{
    for (size_t i = 0; i < t->table->column_count; i++, texts += strlen(texts) + 1)
        if (*texts) {
            indent(t->table->depth, 2);
            print_shown(t->table->columns[i].name);
            printf(": %s\n", texts);
        }
    if (*rest) {
        indent(t->table->depth, 2);
        printf("%s\n", rest);
    }
    putchar('\n');
}

static void print_line(const struct shown_table *t, const char *texts, const char *rest)
{
    size_t gap = 0; /* number of spaces before the next cell */
    indent(t->table->depth, 2);
    for (size_t i = 0; i < t->table->column_count; i++, texts += strlen(texts) + 1) {
        if (!t->widths[i])
            continue;
        if (*texts) {
            printf("%*s%s", (int)gap, "", texts);
            gap = 0;
        }
        const size_t width = shown_width(texts);
        gap += width < t->widths[i] ? t->widths[i] + 2 - width : 2;
    }
    if (*rest)
        printf("%*s%s", (int)gap, "", rest);
    putchar('\n');
}

static void print_header(const struct shown_table *t)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < t->table->column_count; i++) {
        add_shown(&b, t->table->columns[i].name);
        text_buffer_add_n(&b, "", 1);
    }
    if (b.text && !b.failed)
        print_line(t, b.text, "");
    text_buffer_free(&b);
}

/* Prints the cells of a row in column order, then the cells of columns that are not shown. */
static void print_row(const struct shown_table *t, const char *texts, const char *rest)
{
    struct text_buffer b = {0};
    const char *at = texts;
    if (t->paragraphs) {
        print_paragraph(t, texts, rest);
        return;
    }
    for (size_t i = 0; i < t->table->column_count; i++, at += strlen(at) + 1)
        if (!t->widths[i] && *at) {
            text_buffer_add(&b, b.length ? "  " : "");
            add_shown(&b, t->table->columns[i].name);
            text_buffer_format(&b, "=%s", at);
        }
    if (*rest)
        text_buffer_format(&b, "%s%s", b.length ? "  " : "", rest);
    print_line(t, texts, b.text && !b.failed ? b.text : "");
    text_buffer_free(&b);
}

static const char *behind_row(const struct shown_table *t, const char *at)
{
    for (size_t i = 0; i < t->table->column_count; i++)
        at += strlen(at) + 1;
    return at;
}

/* Computes the column widths from the buffered rows. */
static void table_measure(struct shown_table *t)
{
    const struct report_table *table = t->table;
    size_t line = 0, last = 0;
    if (t->measured)
        return;
    t->measured = true;
    const char *at = t->waiting.text;
    for (size_t row = 0; row < t->waiting_rows; row++) {
        for (size_t i = 0; i < table->column_count; i++, at += strlen(at) + 1) {
            const size_t width = shown_width(at);
            t->widths[i] = width > t->widths[i] ? width : t->widths[i];
        }
        at += strlen(at) + 1;
    }
    for (size_t i = 0; i < table->column_count; i++)
        if (t->widths[i]) {
            const size_t name = shown_width(table->columns[i].name);
            t->widths[i] = name > t->widths[i] ? name : t->widths[i] > WIDEST_COLUMN ? WIDEST_COLUMN : t->widths[i];
            /* Cells after the last column need no alignment. */
            line += last + 2;
            last = t->widths[i];
        }
    line += last < LAST_COLUMN ? last : LAST_COLUMN;
    t->paragraphs = line > WIDEST_LINE;
    if (!t->paragraphs && line)
        print_header(t);
    at = t->waiting.text;
    for (size_t row = 0; row < t->waiting_rows; row++) {
        const char *rest = behind_row(t, at);
        print_row(t, at, rest);
        at = rest + strlen(rest) + 1;
    }
    t->waiting.length = t->waiting_rows = 0;
}

static HRESULT on_table(void *about, const struct report_table *t)
{
    struct text_show *s = about;
    if (s->hidden || (!t->depth && !config_is_chosen(s->tables, t->name))) {
        s->hidden++;
        return S_OK;
    }
    struct shown_table *shown = &s->open[t->depth];
    if (t->depth)
        table_measure(&s->open[t->depth - 1]); /* print the containing row first */
    const char *source = report_attribute(t->attributes, t->attribute_count, "source");
    memset(shown->widths, 0, sizeof shown->widths);
    shown->table = t;
    shown->measured = false;
    shown->waiting.length = 0;
    shown->waiting_rows = 0;
    shown->rows = 0;
    putchar('\n');
    indent(t->depth, 0);
    print_shown(t->name);
    if (source) {
        fputs(": ", stdout);
        print_shown(source);
    }
    putchar('\n');
    return S_OK;
}

static void add_cell(struct text_buffer *b, const struct report_data *cell)
{
    const char *units = units_of(cell);
    add_shown(b, cell->text);
    if (*units) {
        text_buffer_add(b, " ");
        add_shown(b, units);
    }
}

/* Adds the cells whose names are not in the Header. These cells follow the cells of the columns. */
static void add_others(struct text_buffer *b, const struct report_table *t, const struct report_row *row)
{
    const size_t begin = b->length;
    if (row->footer)
        text_buffer_add(b, "(footer)");
    for (size_t i = 0; i < row->cell_count; i++) {
        const struct report_data *cell = &row->cells[i];
        if (report_find(t->columns, t->column_count, cell->name, i))
            continue;
        text_buffer_add(b, b->length > begin ? "  " : "");
        add_shown(b, cell->name);
        text_buffer_add(b, "=");
        add_cell(b, cell);
    }
    text_buffer_add_n(b, "", 1);
}

static HRESULT on_row(void *about, const struct report_table *t, const struct report_row *row)
{
    const struct text_show *s = about;
    struct shown_table *shown = &s->open[t->depth];
    if (s->hidden)
        return S_OK;
    struct text_buffer *b = &shown->waiting;
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *cell = report_find(row->cells, row->cell_count, t->columns[i].name, i);
        if (cell)
            add_cell(b, cell);
        text_buffer_add_n(b, "", 1);
    }
    add_others(b, t, row);
    if (b->failed)
        return E_OUTOFMEMORY;
    shown->rows += !row->footer;
    if (!shown->measured) {
        if (++shown->waiting_rows >= FIRST_ROWS || b->length >= FIRST_BYTES)
            table_measure(shown);
        return S_OK;
    }
    print_row(shown, b->text, behind_row(shown, b->text));
    b->length = 0;
    return S_OK;
}

static HRESULT on_table_end(void *about, const struct report_table *t)
{
    struct text_show *s = about;
    if (s->hidden) {
        s->hidden--;
        return S_OK;
    }
    table_measure(&s->open[t->depth]);
    indent(t->depth, 2);
    if (s->open[t->depth].rows)
        printf("(%llu row%s)\n", (unsigned long long)s->open[t->depth].rows, s->open[t->depth].rows == 1 ? "" : "s");
    else
        printf("(no rows)\n");
    return S_OK;
}

HRESULT config_show_text(const char *path, const struct texts *tables, struct texts *warnings)
{
    static const struct report_handlers handlers = {.begin = on_begin,
                                                    .fact = on_fact,
                                                    .section_begin = on_section,
                                                    .table_begin = on_table,
                                                    .row = on_row,
                                                    .table_end = on_table_end,
                                                    .string = on_string};
    struct text_show s = {.tables = tables, .open = memory_zero(REPORT_MAX_TABLES, sizeof *s.open)};
    if (!s.open)
        return E_OUTOFMEMORY;
    HRESULT hr = report_read(path, &handlers, &s, warnings);
    for (size_t i = 0; i < REPORT_MAX_TABLES; i++)
        text_buffer_free(&s.open[i].waiting);
    memory_free(s.open);
    return hr;
}
