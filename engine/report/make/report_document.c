/* SPDX-License-Identifier: MIT */
/* Writes report documents as a stream. */
#include "engine/report/make/report_document.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/xml_text.h"

#include <stdio.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10) /* bytes that are written at once */

struct open_table {
    const struct report_table_head *head;
    size_t next_cell;
    uint64_t rows, omitted;
};

struct report_document {
    char *path, *draft; /* `draft` is the temporary file until the document is complete */
    char *base;         /* folder below which the document must be; NULL means anywhere */
    struct file *file;
    struct text_buffer text, cell; /* cell: the text of the current number */
    int64_t cell_time;             /* the time that `time` contains as text */
    struct text_buffer time;
    struct error_kept failed; /* hr: the first failure */
    struct {
        const char *name, *key, *note;
    } section;
    bool in_section, section_written, facts_open, strings_open;
    struct open_table tables[REPORT_DEEPEST];
    size_t depth;
    uint64_t all_rows, bytes; /* written so far */
    int bias_minutes;
};

static void fail(struct report_document *d, HRESULT hr)
{
    if (FAILED(hr) && SUCCEEDED(d->failed.hr))
        d->failed = error_keep(hr);
}

static void write_out(struct report_document *d)
{
    if (d->text.failed)
        fail(d, E_OUTOFMEMORY);
    else if (d->text.length && SUCCEEDED(d->failed.hr))
        fail(d, file_write(d->file, d->text.text, d->text.length));
    d->bytes += d->text.length;
    d->text.length = 0;
}

static void written(struct report_document *d)
{
    if (d->text.length >= BLOCK || d->text.failed)
        write_out(d);
}

static void add_attribute(struct text_buffer *b, const char *name, const char *text)
{
    if (text && *text)
        xml_add_attribute(b, name, text);
}

static void free_document(struct report_document *d)
{
    file_close(d->file);
    text_buffer_free(&d->text);
    text_buffer_free(&d->cell);
    text_buffer_free(&d->time);
    memory_free(d->path);
    memory_free(d->draft);
    memory_free(d->base);
    memory_free(d);
}

HRESULT report_document_create(const char *path, const struct report_head *head, struct report_document **out)
{
    struct report_document *d = memory_zero(1, sizeof *d);
    *out = NULL;
    if (!d)
        return E_OUTOFMEMORY;
    d->path = text_copy(path);
    d->draft = text_format("%s.new", path);
    d->bias_minutes = head->bias_minutes;
    d->base = head->base ? text_copy(head->base) : NULL;
    HRESULT hr = !d->path || !d->draft || (head->base && !d->base) ? E_OUTOFMEMORY
                                                                   : report_draft_open(d->base, d->draft, &d->file);
    if (FAILED(hr)) {
        free_document(d);
        return hr;
    }
    text_buffer_add(&d->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Report");
    xml_add_attribute(&d->text, "name", head->name ? head->name : "");
    text_buffer_add(&d->text, " version=\"1\">\n");
    *out = d;
    return S_OK;
}

void report_fact(struct report_document *d, const char *name, const char *text, const char *units)
{
    struct text_buffer *b = &d->text;
    if (!text) {
        fail(d, E_OUTOFMEMORY);
        return;
    }
    text_buffer_add(b, d->facts_open ? "" : " <Header>\n");
    d->facts_open = true;
    text_buffer_add(b, "  <Data");
    xml_add_attribute(b, "name", name);
    add_attribute(b, "units", units);
    text_buffer_add(b, ">");
    xml_add_escaped(b, text, false);
    text_buffer_add(b, "</Data>\n");
}

void report_time_fact(struct report_document *d, const char *name, int64_t utc)
{
    struct text_buffer time = {0};
    report_add_time(&time, utc, d->bias_minutes);
    report_fact(d, name, time.failed ? NULL : time.text, NULL);
    text_buffer_free(&time);
}

static void end_facts(struct report_document *d)
{
    text_buffer_add(&d->text, d->facts_open ? " </Header>\n" : "");
    d->facts_open = false;
}

/* ---- sections and tables ---- */

void report_section_begin(struct report_document *d, const char *name, const char *key, const char *note)
{
    end_facts(d);
    d->in_section = true;
    d->section_written = false;
    d->section.name = name;
    d->section.key = key;
    d->section.note = note;
}

static void begin_section(struct report_document *d)
{
    if (d->section_written)
        return;
    d->section_written = true;
    text_buffer_add(&d->text, " <Section");
    xml_add_attribute(&d->text, "name", d->section.name);
    add_attribute(&d->text, "key", d->section.key);
    add_attribute(&d->text, "note", d->section.note);
    text_buffer_add(&d->text, ">\n");
}

void report_section_end(struct report_document *d)
{
    text_buffer_add(&d->text, d->section_written ? " </Section>\n" : "");
    d->in_section = d->section_written = false;
    written(d);
}

static void add_column_head(struct text_buffer *b, const struct report_column_head *c)
{
    text_buffer_add(b, "<Data");
    xml_add_attribute(b, "name", c->name);
    add_attribute(b, "key", c->key ? "1" : NULL);
    add_attribute(b, "volatile", c->is_volatile ? "1" : NULL);
    add_attribute(b, "align", c->left ? "left" : NULL);
    add_attribute(b, "units", c->units);
    add_attribute(b, "format", c->format);
    add_attribute(b, "sort", c->sort);
    add_attribute(b, "note", c->note);
    add_attribute(b, "visible", c->hidden ? "0" : NULL);
    add_attribute(b, "bars", c->bars ? "1" : NULL);
    text_buffer_add(b, "/>");
}

void report_table_begin(struct report_document *d, const struct report_table_head *head)
{
    struct text_buffer *b = &d->text;
    char number[24];
    if (d->depth == REPORT_DEEPEST) {
        fail(d, E_INVALIDARG);
        return;
    }
    begin_section(d);
    d->tables[d->depth++] = (struct open_table){.head = head};
    text_buffer_add(b, "  <Table");
    xml_add_attribute(b, "name", head->name);
    add_attribute(b, "source", head->source);
    add_attribute(b, "local", head->local);
    add_attribute(b, "topic", head->topic);
    add_attribute(b, "key", head->key);
    if (head->threshold) {
        snprintf(number, sizeof number, "%u", (unsigned)head->threshold);
        xml_add_attribute(b, "threshold", number);
    }
    if (head->level) {
        snprintf(number, sizeof number, "%u", head->level);
        xml_add_attribute(b, "level", number);
    }
    add_attribute(b, "note", head->note);
    text_buffer_add(b, ">\n   <Header>");
    for (size_t i = 0; i < head->column_count; i++)
        add_column_head(b, &head->columns[i]);
    text_buffer_add(b, "</Header>\n");
}

static struct open_table *this_table(struct report_document *d)
{
    return &d->tables[d->depth - 1];
}

bool report_row_begin(struct report_document *d)
{
    struct open_table *t = this_table(d);
    const uint64_t most =
        t->head->most_rows && t->head->most_rows < REPORT_MOST_ROWS ? t->head->most_rows : REPORT_MOST_ROWS;
    if (t->rows >= most || d->all_rows >= REPORT_MOST_ALL_ROWS || d->bytes >= REPORT_MOST_BYTES) {
        t->omitted++;
        return false;
    }
    t->rows++;
    d->all_rows++;
    t->next_cell = 0;
    text_buffer_add(&d->text, "   <Item>");
    return true;
}

void report_cell_with(struct report_document *d, const char *text, const char *const *attributes)
{
    struct open_table *t = this_table(d);
    struct text_buffer *b = &d->text;
    if (t->next_cell >= t->head->column_count)
        return;
    text_buffer_add(b, "<Data");
    xml_add_attribute(b, "name", t->head->columns[t->next_cell++].name);
    for (size_t i = 0; attributes && attributes[i]; i += 2)
        add_attribute(b, attributes[i], attributes[i + 1]);
    if (!text || !*text) {
        text_buffer_add(b, "/>");
        return;
    }
    text_buffer_add(b, ">");
    xml_add_escaped(b, text, false);
    text_buffer_add(b, "</Data>");
}

void report_cell(struct report_document *d, const char *text)
{
    report_cell_with(d, text, NULL);
}

void report_cell_number(struct report_document *d, double value)
{
    d->cell.length = 0;
    plain_number_add(&d->cell, value);
    fail(d, d->cell.failed ? E_OUTOFMEMORY : S_OK);
    report_cell(d, d->cell.length != 0 ? d->cell.text : NULL);
}

void report_cell_time(struct report_document *d, int64_t utc)
{
    /* A slice begins when the previous one ends, so two successive times are often equal. */
    if (d->time.length == 0 || d->cell_time != utc) {
        d->time.length = 0;
        report_add_time(&d->time, utc, d->bias_minutes);
        d->cell_time = utc;
    }
    fail(d, d->time.failed ? E_OUTOFMEMORY : S_OK);
    report_cell(d, d->time.text);
}

/* Adds empty cells for the missing columns: every row has all columns. */
static void fill_row(struct report_document *d)
{
    while (this_table(d)->next_cell < this_table(d)->head->column_count)
        report_cell(d, NULL);
}

void report_row_end(struct report_document *d)
{
    fill_row(d);
    text_buffer_add(&d->text, "</Item>\n");
    written(d);
}

void report_footer_begin(struct report_document *d)
{
    this_table(d)->next_cell = 0;
    text_buffer_add(&d->text, "   <Footer>");
}

void report_footer_end(struct report_document *d)
{
    fill_row(d);
    text_buffer_add(&d->text, "</Footer>\n");
}

void report_table_end(struct report_document *d, uint64_t *omitted)
{
    if (omitted)
        *omitted = this_table(d)->omitted;
    d->depth--;
    text_buffer_add(&d->text, "  </Table>\n");
    written(d);
}

/* ---- charts and strings ---- */

void report_chart_begin(struct report_document *d, const struct report_chart_head *head)
{
    struct text_buffer start = {0};
    char text[40];
    begin_section(d);
    text_buffer_add(&d->text, "  <Chart");
    xml_add_attribute(&d->text, "name", head->name);
    add_attribute(&d->text, "title", head->title);
    add_attribute(&d->text, "source", head->source);
    add_attribute(&d->text, "watch", head->watched ? "1" : NULL);
    add_attribute(&d->text, "limit", head->limit);
    report_add_time(&start, head->first, d->bias_minutes);
    if (!head->elapsed)
        xml_add_attribute(&d->text, "start", start.failed ? "" : start.text);
    d->text.failed |= start.failed;
    text_buffer_free(&start);
    snprintf(text, sizeof text, "%.3f", ((double)head->last - (double)head->first) / 1e7);
    xml_add_attribute(&d->text, "duration", text);
    text_buffer_add(&d->text, ">\n");
}

void report_chart_series(struct report_document *d, const char *name, double first, double step, const char *points)
{
    char text[40];
    text_buffer_add(&d->text, "   <Series");
    xml_add_attribute(&d->text, "name", name);
    snprintf(text, sizeof text, "%.3f", first);
    xml_add_attribute(&d->text, "first", text);
    snprintf(text, sizeof text, "%.3f", step);
    xml_add_attribute(&d->text, "step", text);
    text_buffer_add(&d->text, ">");
    xml_add_escaped(&d->text, points, false);
    text_buffer_add(&d->text, "</Series>\n");
    written(d);
}

void report_chart_end(struct report_document *d)
{
    text_buffer_add(&d->text, "  </Chart>\n");
}

void report_string(struct report_document *d, const char *id, const char *text)
{
    struct text_buffer *b = &d->text;
    end_facts(d);
    text_buffer_add(b, d->strings_open ? "" : " <StringTable>\n");
    d->strings_open = true;
    text_buffer_add(b, "  <String");
    xml_add_attribute(b, "ID", id);
    text_buffer_add(b, ">");
    xml_add_escaped(b, text, false);
    text_buffer_add(b, "</String>\n");
    written(d);
}

/* ---- the end ---- */

HRESULT report_document_status(const struct report_document *d)
{
    return d->text.failed && SUCCEEDED(d->failed.hr) ? E_OUTOFMEMORY : d->failed.hr;
}

void report_document_drop(struct report_document *d)
{
    if (!d)
        return;
    file_close(d->file);
    d->file = NULL;
    report_draft_drop(d->base, d->draft);
    free_document(d);
}

HRESULT report_document_close(struct report_document *d)
{
    end_facts(d);
    text_buffer_add(&d->text, d->strings_open ? " </StringTable>\n</Report>\n" : "</Report>\n");
    write_out(d);
    if (SUCCEEDED(d->failed.hr))
        fail(d, file_flush(d->file));
    file_close(d->file);
    d->file = NULL;
    if (SUCCEEDED(d->failed.hr))
        fail(d, file_rename(d->draft, d->path));
    if (SUCCEEDED(d->failed.hr)) {
        free_document(d);
        return S_OK;
    }
    const struct error_kept why = d->failed;
    report_document_drop(d);
    return error_restore(&why);
}

HRESULT report_draft_open(const char *base, const char *path, struct file **out)
{
    return base ? file_open_below(base, path, FILE_REPLACE, out) : file_open(path, FILE_REPLACE, out);
}

void report_draft_drop(const char *base, const char *path)
{
    (void)(base ? file_delete_below(base, path) : file_delete(path));
}
