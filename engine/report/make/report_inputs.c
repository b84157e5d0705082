/* SPDX-License-Identifier: MIT */
/* Finds the inputs of a report in a folder, recognises their kinds, and opens them. Copies configuration documents into
   the report. */
#include "engine/report/make/report_inputs.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/report/report.h"
#include "engine/report/report_reader.h"

#include <string.h>

/* ---- inputs of a folder ---- */

static bool is_excepted(const struct texts *except, const char *name)
{
    for (size_t i = 0; except && i < except->count; i++)
        if (text_equal_nocase(except->items[i], name))
            return true;
    return text_equal_nocase(name, REPORT_FILE_NAME);
}

static bool is_input(const char *path, const char *name)
{
    if (log_is_log_name(name))
        return true;
    char *computer = NULL;
    const bool is_configuration =
        text_equal_nocase(path_extension(name), ".xml") && report_configuration_is(path, &computer) == S_OK;
    memory_free(computer);
    return is_configuration;
}

HRESULT report_find_inputs(const char *folder, const struct texts *except, struct texts *out)
{
    struct texts names = {0};
    HRESULT hr = folder_list(folder, false, &names);
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        if (is_excepted(except, names.items[i]))
            continue;
        char *path = path_join(folder, names.items[i]);
        if (!path)
            hr = E_OUTOFMEMORY;
        else if (is_input(path, names.items[i]))
            hr = texts_add_owned(out, path);
        else
            memory_free(path);
    }
    texts_free(&names);
    return hr;
}

/* ---- opening ---- */

/* Adds a warning and returns S_OK, so that the other inputs are read. */
static HRESULT skip_input(HRESULT why, struct texts *warnings)
{
    if (why == E_OUTOFMEMORY)
        return why;
    char *text = text_format("input skipped: %s", error_text(why));
    return text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
}

static HRESULT add_trace(struct report_inputs *in, const char *path, struct texts *traces, struct texts *warnings)
{
    struct etl_reader *reader;
    HRESULT hr = etl_reader_open(path, NULL, NULL, &reader);
    if (FAILED(hr))
        return skip_input(hr, warnings);
    in->buffers_lost += etl_reader_log(reader)->buffers_lost;
    etl_reader_close(reader);
    return texts_add(traces, path);
}

static HRESULT open_log(struct report_inputs *in, const char *path, struct texts *warnings)
{
    char *copy = text_copy(path);
    const struct texts one = {.count = 1, .items = &copy};
    HRESULT hr = copy ? inputs_open(&in->logs, &one) : E_OUTOFMEMORY;
    memory_free(copy);
    return FAILED(hr) ? skip_input(hr, warnings) : S_OK;
}

static HRESULT open_one(struct report_inputs *in, const char *path, struct texts *traces, struct texts *warnings)
{
    const char *extension = path_extension(path);
    if (text_equal_nocase(extension, ETL_EXTENSION))
        return add_trace(in, path, traces, warnings);
    if (!text_equal_nocase(extension, ".xml"))
        return open_log(in, path, warnings);
    HRESULT hr = report_configuration_is(path, &in->computer);
    if (hr == S_OK)
        return texts_add(&in->documents, path);
    return FAILED(hr) ? hr : skip_input(error_set(E_INVALIDARG, "'%s': not a configuration document", path), warnings);
}

static HRESULT find_computer(struct report_inputs *in)
{
    for (size_t i = 0; i < in->logs.count && !in->computer; i++) {
        const char *machine = log_reader_info(in->logs.items[i].reader)->machine;
        while (machine && *machine == '\\')
            machine++;
        if (machine && *machine && !(in->computer = text_copy(machine)))
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

HRESULT report_inputs_open(struct report_inputs *in, const struct texts *paths, struct texts *warnings)
{
    struct texts all = {0}, traces = {0};
    HRESULT hr = input_paths(paths, &all);
    for (size_t i = 0; i < all.count && SUCCEEDED(hr); i++)
        hr = open_one(in, all.items[i], &traces, warnings);
    if (SUCCEEDED(hr) && traces.count)
        hr = trace_inputs_open(&in->traces, &traces);
    if (SUCCEEDED(hr) && in->logs.count)
        hr = inputs_rewind(&in->logs);
    if (SUCCEEDED(hr))
        hr = find_computer(in);
    texts_free(&all);
    texts_free(&traces);
    if (SUCCEEDED(hr) && !in->logs.count && !in->traces.count && !in->documents.count)
        hr = error_set(REPORT_NO_DATA, "the inputs contain nothing to report%s%s", warnings->count ? ": " : "",
                       warnings->count ? warnings->items[0] : "");
    return hr;
}

HRESULT report_inputs_limit(struct report_inputs *in, int64_t from, int64_t to)
{
    return in->logs.count ? inputs_limit(&in->logs, from, to) : S_OK;
}

HRESULT report_inputs_warnings(const struct report_inputs *in, struct texts *warnings)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->logs.count + in->traces.count && SUCCEEDED(hr); i++) {
        const bool log = i < in->logs.count;
        const size_t at = log ? i : i - in->logs.count;
        const struct texts *found =
            log ? log_reader_warnings(in->logs.items[at].reader) : &in->traces.items[at].warnings;
        for (size_t k = 0; k < found->count && SUCCEEDED(hr); k++) {
            char *text =
                text_format("%s: %s", log ? in->logs.items[at].shown : in->traces.items[at].path, found->items[k]);
            hr = text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
        }
    }
    return hr;
}

void report_inputs_close(struct report_inputs *in)
{
    inputs_close(&in->logs);
    trace_inputs_close(&in->traces);
    texts_free(&in->documents);
    memory_free(in->computer);
    *in = (struct report_inputs){0};
}

/* ---- configuration documents ---- */

#define CONFIGURATION_NAME "configuration"

/* ---- recognition of kinds ---- */

struct configuration_check {
    bool is_one, begun;
    char **computer;
};

static HRESULT check_begin(void *about, const struct report_attribute *attributes, size_t count)
{
    struct configuration_check *l = about;
    const char *name = report_attribute(attributes, count, "name");
    l->begun = true;
    l->is_one = name && !strcmp(name, CONFIGURATION_NAME);
    /* stop reading if the document is another kind of report */
    return l->is_one ? S_OK : HRESULT_FROM_WIN32(ERROR_CANCELLED);
}

static HRESULT check_fact(void *about, const struct report_data *fact)
{
    struct configuration_check *l = about;
    if (strcmp(fact->name, "computer") != 0 || *l->computer)
        return S_OK;
    *l->computer = text_copy(fact->text);
    return *l->computer ? S_OK : E_OUTOFMEMORY;
}

static HRESULT check_section(void *about, const struct report_section *section)
{
    (void)about;
    (void)section;
    return HRESULT_FROM_WIN32(ERROR_CANCELLED);
}

HRESULT report_configuration_is(const char *path, char **computer)
{
    static const struct report_handlers handlers = {
        .begin = check_begin, .fact = check_fact, .section_begin = check_section};
    struct configuration_check l = {.computer = computer};
    struct texts warnings = {0};
    const HRESULT hr = report_read(path, &handlers, &l, &warnings);
    texts_free(&warnings);
    if (hr == E_OUTOFMEMORY)
        return hr;
    return l.is_one ? S_OK : S_FALSE;
}

/* ---- writing ---- */

struct open_head {
    struct report_table_head head;
    struct report_column_head *columns;
    bool too_deep;
};
struct copying {
    struct report_document *to;
    struct open_head tables[REPORT_MAX_TABLES];
    size_t depth;
    size_t omitted_rows; /* depth of the row that is omitted together with its content; 0 if no row is omitted */
    bool footer;         /* inside a footer */
    uint64_t omitted;
    char *section, *key;
};

static HRESULT copy_section(void *about, const struct report_section *s)
{
    struct copying *c = about;
    const char *key = report_attribute(s->attributes, s->attribute_count, "key");
    memory_free(c->section);
    memory_free(c->key);
    c->section = text_copy(s->name);
    c->key = text_copy(key);
    if (!c->section || !c->key)
        return E_OUTOFMEMORY;
    report_section_begin(c->to, c->section, c->key, NULL);
    return S_OK;
}

static HRESULT copy_section_end(void *about)
{
    struct copying *c = about;
    report_section_end(c->to);
    return report_document_status(c->to);
}

static HRESULT copy_table(void *about, const struct report_table *t)
{
    struct copying *c = about;
    struct open_head *o = &c->tables[c->depth];
    *o = (struct open_head){.too_deep = c->omitted_rows != 0 || c->depth == REPORT_DEEPEST};
    c->depth++;
    if (o->too_deep)
        return S_OK;
    o->columns = memory_zero(t->column_count + 1, sizeof *o->columns);
    if (!o->columns)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *d = &t->columns[i];
        const char *key = report_attribute(d->attributes, d->attribute_count, "key");
        const char *is_volatile = report_attribute(d->attributes, d->attribute_count, "volatile");
        o->columns[i] = (struct report_column_head){
            .name = d->name,
            .left = true,
            .units = report_attribute(d->attributes, d->attribute_count, "units"),
            .key = key && !strcmp(key, "1"),
            .is_volatile = is_volatile && !strcmp(is_volatile, "1"),
        };
    }
    o->head = (struct report_table_head){.name = t->name,
                                         .source = report_attribute(t->attributes, t->attribute_count, "source"),
                                         .columns = o->columns,
                                         .column_count = t->column_count};
    report_table_begin(c->to, &o->head);
    return S_OK;
}

static void copy_cells(struct copying *c, const struct report_table *t, const struct report_row *row)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *d = report_find(row->cells, row->cell_count, t->columns[i].name, i);
        const char *attributes[] = {"type", d ? report_attribute(d->attributes, d->attribute_count, "type") : NULL,
                                    "units", d ? report_attribute(d->attributes, d->attribute_count, "units") : NULL,
                                    NULL};
        report_cell_with(c->to, d ? d->text : NULL, attributes);
    }
}

static HRESULT copy_row(void *about, const struct report_table *t, const struct report_row *row)
{
    struct copying *c = about;
    c->footer = row->footer;
    if (c->tables[c->depth - 1].too_deep)
        return S_OK;
    if (row->footer)
        report_footer_begin(c->to);
    else if (!report_row_begin(c->to)) {
        c->omitted_rows = c->depth;
        return S_OK;
    }
    copy_cells(c, t, row);
    if (row->footer)
        report_footer_end(c->to);
    return S_OK;
}

static HRESULT copy_row_end(void *about, const struct report_table *t)
{
    struct copying *c = about;
    (void)t;
    if (c->omitted_rows == c->depth)
        c->omitted_rows = 0;
    else if (!c->footer && !c->omitted_rows && !c->tables[c->depth - 1].too_deep)
        report_row_end(c->to);
    c->footer = false;
    return report_document_status(c->to);
}

static HRESULT copy_table_end(void *about, const struct report_table *t)
{
    struct copying *c = about;
    uint64_t omitted = 0;
    (void)t;
    struct open_head *o = &c->tables[--c->depth];
    if (!o->too_deep)
        report_table_end(c->to, &omitted);
    c->omitted += omitted;
    memory_free(o->columns);
    o->columns = NULL;
    return S_OK;
}

HRESULT report_configuration_write(const char *path, struct report_document *to, struct texts *warnings)
{
    static const struct report_handlers handlers = {.section_begin = copy_section,
                                                    .section_end = copy_section_end,
                                                    .table_begin = copy_table,
                                                    .table_end = copy_table_end,
                                                    .row = copy_row,
                                                    .row_end = copy_row_end};
    struct copying *c = memory_zero(1, sizeof *c);
    struct texts found = {0};
    if (!c)
        return E_OUTOFMEMORY;
    c->to = to;
    HRESULT hr = report_read(path, &handlers, c, &found);
    for (size_t i = 0; i < found.count && SUCCEEDED(hr); i++) {
        char *text = text_format("%s: %s", path, found.items[i]);
        hr = text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && c->omitted) {
        char *text =
            text_format("%s: %llu rows are omitted (a report has at most %d rows per table and at most %u MB)", path,
                        (unsigned long long)c->omitted, REPORT_MOST_ROWS, (unsigned)(REPORT_MOST_BYTES >> 20));
        hr = text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
    }
    texts_free(&found);
    for (size_t i = 0; i < REPORT_MAX_TABLES; i++)
        memory_free(c->tables[i].columns);
    memory_free(c->section);
    memory_free(c->key);
    memory_free(c);
    return hr;
}
