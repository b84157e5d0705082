/* SPDX-License-Identifier: MIT */
/* Writes a configuration's XML as JSON, row by row. */
#include "cli/report/config.h"

#include <string.h>

struct json_show {
    struct json *j;
    const struct texts *tables;
    char open[JSON_DEPTH]; /* open brackets, which are closed even after a failure */
    int depth;
    enum { NOTHING, FACTS, SECTIONS, STRINGS } part;
    bool is_configuration;               /* true: the file is a configuration; false: it is a report */
    unsigned hidden;                     /* nesting depth of skipped tables */
    bool tables_open[REPORT_MAX_TABLES]; /* the row at this depth contains tables */
    struct {
        bool columns[REPORT_MAX_COLUMNS];
    } numeric[REPORT_MAX_TABLES]; /* columns with numbers in the table at this depth */
};

static void open_bracket(struct json_show *s, const char *name, char bracket)
{
    json_begin(s->j, name, bracket);
    s->open[s->depth++] = bracket == '{' ? '}' : ']';
}

static void close_bracket(struct json_show *s)
{
    json_end(s->j, s->open[--s->depth]);
}

/* Begins a part of the document. The order of the parts is facts, sections, strings. Earlier parts that are missing are
   written as empty parts. */
static void go_to(struct json_show *s, int part)
{
    static const char *const names[] = {[FACTS] = "facts", [SECTIONS] = "sections", [STRINGS] = "strings"};
    while ((int)s->part < part) {
        if (s->part != NOTHING)
            close_bracket(s);
        s->part++;
        open_bracket(s, names[s->part], s->part == SECTIONS ? '[' : '{');
    }
}

/* ---- numbers ---- */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Returns true for the numeric types of CIM, which WMI uses in its results. */
static bool is_number_type(const char *type)
{
    static const char *const types[] = {"uint8",  "sint8",  "uint16", "sint16", "uint32", "sint32",
                                        "uint64", "sint64", "real32", "real64", NULL};
    return is_one_of(type, types);
}

/* Returns true if the fact of a report is a number without a unit. */
static bool is_count(const char *fact)
{
    static const char *const counts[] = {"samples", "gaps", "events", "eventsLost", "buffersLost", NULL};
    return is_one_of(fact, counts);
}

void config_put_fact(struct json *j, const struct report_data *fact)
{
    if (is_count(fact->name) || report_attribute(fact->attributes, fact->attribute_count, "units"))
        json_number_text(j, fact->name, fact->text);
    else
        json_text(j, fact->name, fact->text);
}

void config_put_typed(struct json *j, const char *name, const char *text, const char *type)
{
    if (!type || !is_number_type(type))
        json_text(j, name, text);
    else
        json_number_text(j, name, text && *text ? text : NULL);
}

/* Finds the columns with numbers. These are columns with a unit or a numeric mask, and in reports also columns that are
   not left-aligned. In configurations, columns have no alignment. */
static void choose_numeric(struct json_show *s, const struct report_table *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_attribute *attributes = t->columns[i].attributes;
        const size_t count = t->columns[i].attribute_count;
        const char *align = report_attribute(attributes, count, "align");
        const bool left = s->is_configuration || (align && strcmp(align, "left") == 0);
        s->numeric[t->depth].columns[i] =
            !left || report_attribute(attributes, count, "units") || report_attribute(attributes, count, "format");
    }
}

/* Writes a cell. `at` is the cell's index in its row, which is usually the index of its column. */
static void put_cell(struct json_show *s, const struct report_table *t, const struct report_data *cell, size_t at)
{
    const char *type = report_attribute(cell->attributes, cell->attribute_count, "type");
    const struct report_data *column = report_find(t->columns, t->column_count, cell->name, at);
    if (type || !column || !s->numeric[t->depth].columns[column - t->columns])
        config_put_typed(s->j, cell->name, cell->text, type);
    else
        json_number_text(s->j, cell->name, *cell->text ? cell->text : NULL);
}

static void put_attributes(struct json_show *s, const struct report_attribute *attributes, size_t count)
{
    static const char *const numbers[] = {"threshold", "level", NULL};
    for (size_t i = 0; i < count; i++)
        if (is_one_of(attributes[i].name, numbers))
            json_number_text(s->j, attributes[i].name, attributes[i].value);
        else
            json_text(s->j, attributes[i].name, attributes[i].value);
}

static HRESULT on_begin(void *about, const struct report_attribute *attributes, size_t count)
{
    struct json_show *s = about;
    const char *name = report_attribute(attributes, count, "name");
    s->is_configuration = name && strcmp(name, "configuration") == 0;
    put_attributes(s, attributes, count);
    go_to(s, FACTS);
    return S_OK;
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    const struct json_show *s = about;
    config_put_fact(s->j, fact);
    return S_OK;
}

static HRESULT on_section(void *about, const struct report_section *section)
{
    struct json_show *s = about;
    go_to(s, SECTIONS);
    open_bracket(s, NULL, '{');
    json_text(s->j, "name", section->name);
    put_attributes(s, section->attributes, section->attribute_count);
    open_bracket(s, "tables", '[');
    return S_OK;
}

static HRESULT on_section_end(void *about)
{
    struct json_show *s = about;
    close_bracket(s);
    close_bracket(s);
    return S_OK;
}

static void put_columns(struct json_show *s, const struct report_table *t)
{
    open_bracket(s, "columns", '[');
    for (size_t i = 0; i < t->column_count; i++) {
        open_bracket(s, NULL, '{');
        json_text(s->j, "name", t->columns[i].name);
        put_attributes(s, t->columns[i].attributes, t->columns[i].attribute_count);
        close_bracket(s);
    }
    close_bracket(s);
}

static HRESULT on_table(void *about, const struct report_table *t)
{
    struct json_show *s = about;
    if (s->hidden || (!t->depth && !config_is_chosen(s->tables, t->name))) {
        s->hidden++;
        return S_OK;
    }
    if (t->depth && !s->tables_open[t->depth - 1]) {
        s->tables_open[t->depth - 1] = true;
        open_bracket(s, "$tables", '[');
    }
    open_bracket(s, NULL, '{');
    json_text(s->j, "name", t->name);
    put_attributes(s, t->attributes, t->attribute_count);
    put_columns(s, t);
    choose_numeric(s, t);
    open_bracket(s, "rows", '[');
    return S_OK;
}

static HRESULT on_table_end(void *about, const struct report_table *t)
{
    struct json_show *s = about;
    (void)t;
    if (s->hidden) {
        s->hidden--;
        return S_OK;
    }
    close_bracket(s);
    close_bracket(s);
    return S_OK;
}

static HRESULT on_row(void *about, const struct report_table *t, const struct report_row *row)
{
    struct json_show *s = about;
    bool attributes = false;
    if (s->hidden)
        return S_OK;
    open_bracket(s, NULL, '{');
    s->tables_open[t->depth] = false;
    for (size_t i = 0; i < row->cell_count; i++) {
        put_cell(s, t, &row->cells[i], i);
        attributes |= row->cells[i].attribute_count > 0;
    }
    if (row->footer)
        json_bool(s->j, "$footer", true);
    if (!attributes)
        return S_OK;
    open_bracket(s, "$attributes", '{');
    for (size_t i = 0; i < row->cell_count; i++)
        if (row->cells[i].attribute_count) {
            open_bracket(s, row->cells[i].name, '{');
            put_attributes(s, row->cells[i].attributes, row->cells[i].attribute_count);
            close_bracket(s);
        }
    close_bracket(s);
    return S_OK;
}

static HRESULT on_row_end(void *about, const struct report_table *t)
{
    struct json_show *s = about;
    if (s->hidden)
        return S_OK;
    if (s->tables_open[t->depth])
        close_bracket(s);
    close_bracket(s);
    return S_OK;
}

static HRESULT on_string(void *about, const char *id, const char *text)
{
    struct json_show *s = about;
    go_to(s, STRINGS);
    json_text(s->j, id, text);
    return S_OK;
}

HRESULT config_show_json(const char *path, const struct texts *tables, struct json *j, struct texts *warnings)
{
    static const struct report_handlers handlers = {.begin = on_begin,
                                                    .fact = on_fact,
                                                    .section_begin = on_section,
                                                    .table_begin = on_table,
                                                    .row = on_row,
                                                    .row_end = on_row_end,
                                                    .table_end = on_table_end,
                                                    .section_end = on_section_end,
                                                    .string = on_string};
    struct json_show s = {.j = j, .tables = tables};
    open_bracket(&s, NULL, '{');
    json_text(j, "file", path);
    HRESULT hr = report_read(path, &handlers, &s, warnings);
    if (SUCCEEDED(hr))
        go_to(&s, STRINGS);
    while (s.depth > 1)
        close_bracket(&s);
    open_bracket(&s, "remarks", '[');
    for (size_t i = 0; i < warnings->count; i++)
        json_text(j, NULL, warnings->items[i]);
    close_bracket(&s);
    if (FAILED(hr))
        json_text(j, "error", error_text(hr));
    close_bracket(&s);
    return hr;
}
