/* SPDX-License-Identifier: MIT */
/* Writes the XML document of a configuration: its elements and characters, and a file that is a complete XML document
   at any time.

   Problem. Collecting can take minutes, and the process may be killed or the disk may fill up at any time. In all these
   cases, the file must be a well-formed document with everything collected so far. Rewriting the file for each addition
   would take too long, and appending would leave closing tags in the middle.

   Method (struct whole_document). A write within one page of the host OS' cache happens completely or not at all; a
   longer write may be cut at a page boundary. Therefore every change becomes visible by one write within one page, and
   disk space is allocated beforehand by writing spaces:

     ... contents | closing tags | spaces ...                    | <?end ?> |
                  ^ end                                          ^ stop     ^ size

   whole_document_add adds text as follows. If the text and the new closing tags fit into the page that contains `end`,
   one write puts them over the old closing tags. Otherwise:

     1. write "<?rest " after the old closing tags: from there to the "?>" of
        <?end ?> everything is now a processing instruction, which readers ignore
            ... contents | closing tags <?rest  spaces ...        <?end ?>
     2. write the rest of the text, from the page boundary on, inside this instruction
            ... contents | closing tags <?rest  ..| rest of text, new closing tags  <?end ?>
     3. one write in the page of `end` puts the first part of the text over the old
        closing tags and over "<?rest "; the rest becomes contents
            ... contents, first part .............| rest of text | new closing tags  <?end ?>

   The document is complete after each of these writes. Before step 1, make_room extends the spaces and moves <?end ?>:
   it writes a new <?end ?> and then overwrites the old <?end ?> with spaces. Steps 1 to 3 therefore cannot fail because
   the disk is full. The closing tags and a following "<?rest " must be in one page; if necessary, spaces are written
   before the closing tags. No character may cross a page boundary of the file; a multi-byte character that would cross
   one is written as a character reference.

   What may be half done: only steps 1 and 2, which readers cannot see. After a failure the document stays as it is;
   d->failed makes all later calls return the first error. Closing the document truncates the file after the closing
   tags.

   Elements. Sources call begin, data and end functions. These functions check each call against the open elements
   (d->open), so that a faulty source cannot write an invalid document. Open Items are kept in memory (d->text), so
   readers only see complete Items. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/xml_text.h"
#include "engine/pla/collect/configuration_source.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#define PUT_OUT_BYTES 65536
#define PUT_OUT_MS    250
#define OPEN_MAX      16 /* maximum nesting of elements */

#define HEAD_BEGIN                                                                                                     \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Report name=\"configuration\" version=\"1\" complete=\""
#define HEAD HEAD_BEGIN "0\">\n"

enum element { REPORT, HEADER, SECTION, TABLE, ITEM };
static const char *const closings[] = {
    [REPORT] = "</Report>\n", [HEADER] = "</Header>\n", [SECTION] = "</Section>\n",
    [TABLE] = "</Table>\n",   [ITEM] = "</Item>\n",
};

struct open_element {
    enum element element;
    struct texts columns; /* columns of a table */
    size_t column;        /* index of an Item's next column */
};

struct configuration_document {
    struct whole_document whole;
    struct text_buffer text; /* not written to the file yet */
    struct open_element open[OPEN_MAX];
    size_t depth;
    uint64_t errors;
    size_t items; /* number of open Items; while it is not 0, nothing is written to the file */
    uint64_t put_out_at;
    bool failed;
    struct error_kept why;
};

static HRESULT document_fail(struct configuration_document *d, HRESULT hr)
{
    if (!d->failed)
        d->why = error_keep(hr);
    d->failed = true;
    return hr;
}

HRESULT configuration_status(const struct configuration_document *d)
{
    return d->failed ? error_restore(&d->why) : S_OK;
}

uint64_t configuration_errors(const struct configuration_document *d)
{
    return d->errors;
}

static bool goes_on(struct configuration_document *d)
{
    if (!d->failed && d->text.failed)
        document_fail(d, E_OUTOFMEMORY);
    return !d->failed;
}

/* ---- characters ---- */

/* Adds a character; writes it as a character reference if its bytes would cross a page boundary. */
static void add_character(struct configuration_document *d, uint32_t c)
{
    char bytes[4];
    size_t n = unicode_put(c, bytes);
    uint64_t at = d->whole.end + d->text.length;
    if (at / WHOLE_DOCUMENT_PAGE == (at + n - 1) / WHOLE_DOCUMENT_PAGE)
        text_buffer_add_n(&d->text, bytes, n);
    else
        text_buffer_format(&d->text, "&#x%" PRIX32 ";", c);
}

static bool xml_has(uint32_t c)
{
    return c >= ' ' ? c != 0xFFFE && c != 0xFFFF : c == '\t' || c == '\n' || c == '\r';
}

static void add_escaped(struct configuration_document *d, const char *text, size_t bytes, bool attribute)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes, *plain = at;
    while (at < end) {
        const char *escape = xml_escape_of((char)*at, attribute);
        if (!escape && *at >= ' ' && *at < 0x80) {
            at++;
            continue;
        }
        text_buffer_add_n(&d->text, (const char *)plain, (size_t)(at - plain));
        uint32_t c = unicode_next(&at, end, NULL);
        if (escape)
            text_buffer_add(&d->text, escape);
        else
            add_character(d, xml_has(c) ? c : UNICODE_REPLACEMENT);
        plain = at;
    }
    text_buffer_add_n(&d->text, (const char *)plain, (size_t)(at - plain));
}

static void add_attribute(struct configuration_document *d, const char *name, const char *value)
{
    text_buffer_format(&d->text, " %s=\"", name);
    add_escaped(d, value, strlen(value), true);
    text_buffer_add(&d->text, "\"");
}

/* ---- the file ---- */

/* Writes the text to the file unless an Item is open. */
HRESULT configuration_put_out(struct configuration_document *d)
{
    char closing[OPEN_MAX * sizeof "</Section>\n"] = "";
    if (!goes_on(d))
        return configuration_status(d);
    if (d->items || !d->text.length)
        return S_OK;
    for (size_t i = d->depth, length = 0; i-- > 0; length = strlen(closing))
        snprintf(closing + length, sizeof closing - length, "%s", closings[d->open[i].element]);
    d->put_out_at = clock_monotonic_ms();
    HRESULT hr = whole_document_add(&d->whole, &d->text, closing);
    return FAILED(hr) ? document_fail(d, hr) : S_OK;
}

static HRESULT put_out_if_due(struct configuration_document *d)
{
    bool due = d->text.length >= PUT_OUT_BYTES || clock_passed_ms(d->put_out_at, clock_monotonic_ms()) >= PUT_OUT_MS;
    return due ? configuration_put_out(d) : goes_on(d) ? S_OK : configuration_status(d);
}

/* ---- elements ---- */

static struct open_element *innermost(struct configuration_document *d)
{
    return &d->open[d->depth - 1];
}

/* If a source calls the functions in the wrong order, all later calls fail, so that a bug in a source cannot create an
   invalid document. */
static void misused(struct configuration_document *d, const char *what, const char *name)
{
    document_fail(d, error_set(E_UNEXPECTED, "the configuration's document: %s (%s)", what, name));
}

static bool may_hold(enum element outer, enum element inner)
{
    return inner == ITEM ? outer == TABLE : inner == TABLE ? outer == SECTION || outer == ITEM : outer == REPORT;
}

static bool document_push_element(struct configuration_document *d, enum element element, const char *name)
{
    if (!goes_on(d))
        return false;
    if (d->depth == OPEN_MAX || !may_hold(innermost(d)->element, element)) {
        misused(d, "element in the wrong place", name);
        return false;
    }
    d->open[d->depth++] = (struct open_element){.element = element};
    d->items += element == ITEM;
    return true;
}

static HRESULT document_pop_element(struct configuration_document *d, enum element element)
{
    if (!goes_on(d))
        return configuration_status(d);
    if (innermost(d)->element != element) {
        misused(d, "end of another element", closings[element]);
        return configuration_status(d);
    }
    texts_free(&innermost(d)->columns);
    d->depth--;
    d->items -= element == ITEM;
    text_buffer_add(&d->text, closings[element]);
    return put_out_if_due(d);
}

void configuration_time(int64_t utc, char text[64])
{
    const struct calendar_time t = clock_calendar(utc);
    snprintf(text, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.year, t.month, t.day, t.hour, t.minute, t.second,
             t.millisecond);
}

static const struct texts *columns_of_item(struct configuration_document *d)
{
    return &d->open[d->depth - 2].columns;
}

/* Adds empty values for the item's columns up to `end`. */
static void add_empty(struct configuration_document *d, size_t end)
{
    for (struct open_element *item = innermost(d); item->column < end; item->column++) {
        text_buffer_add(&d->text, "<Data");
        add_attribute(d, "name", columns_of_item(d)->items[item->column]);
        text_buffer_add(&d->text, "/>");
    }
}

void configuration_begin_section(struct configuration_document *d, const char *name)
{
    if (goes_on(d) && innermost(d)->element == HEADER)
        document_pop_element(d, HEADER);
    if (!document_push_element(d, SECTION, name))
        return;
    text_buffer_add(&d->text, "<Section");
    add_attribute(d, "name", name);
    text_buffer_add(&d->text, ">\n");
}

static void add_column(struct configuration_document *d, const struct configuration_column *column)
{
    HRESULT hr = texts_add(&innermost(d)->columns, column->name);
    if (FAILED(hr))
        document_fail(d, hr);
    text_buffer_add(&d->text, "<Data");
    add_attribute(d, "name", column->name);
    if (column->use != COLUMN_PLAIN)
        add_attribute(d, column->use == COLUMN_KEY ? "key" : "volatile", "1");
    text_buffer_add(&d->text, "/>");
}

void configuration_begin_table(struct configuration_document *d, const char *name, const char *source,
                               const struct configuration_column *columns, size_t count)
{
    static const struct configuration_column last[] = {{COLUMN_ERROR, COLUMN_PLAIN}, {COLUMN_RESULT, COLUMN_PLAIN}};
    if (goes_on(d) && innermost(d)->element == ITEM) /* a table in an Item follows the Item's Data */
        add_empty(d, columns_of_item(d)->count);
    if (!document_push_element(d, TABLE, name))
        return;
    text_buffer_add(&d->text, "<Table");
    add_attribute(d, "name", name);
    if (source)
        add_attribute(d, "source", source);
    text_buffer_add(&d->text, ">\n<Header>");
    for (size_t i = 0; i < count; i++)
        add_column(d, &columns[i]);
    for (size_t i = 0; i < 2; i++)
        add_column(d, &last[i]);
    text_buffer_add(&d->text, "</Header>\n");
}

void configuration_begin_item(struct configuration_document *d)
{
    if (document_push_element(d, ITEM, "Item"))
        text_buffer_add(&d->text, "<Item>");
}

/* Begins the Data of a column. The columns that were omitted before `column` become empty. */
static bool begin_data(struct configuration_document *d, const char *column, const char *type)
{
    if (!goes_on(d))
        return false;
    struct open_element *item = innermost(d);
    if (item->element != ITEM) {
        misused(d, "Data outside of an Item", column);
        return false;
    }
    const struct texts *columns = columns_of_item(d);
    size_t found = item->column;
    while (found < columns->count && strcmp(columns->items[found], column) != 0)
        found++;
    if (found == columns->count) {
        misused(d, "unknown column, or column out of order", column);
        return false;
    }
    add_empty(d, found);
    item->column = found + 1;
    text_buffer_add(&d->text, "<Data");
    add_attribute(d, "name", column);
    if (type)
        add_attribute(d, "type", type);
    text_buffer_add(&d->text, ">");
    return true;
}

static void end_data(struct configuration_document *d)
{
    text_buffer_add(&d->text, "</Data>");
}

void configuration_data_n(struct configuration_document *d, const char *column, const char *type, const char *text,
                          size_t bytes)
{
    if (!begin_data(d, column, type))
        return;
    add_escaped(d, text, bytes, false);
    end_data(d);
}

void configuration_data(struct configuration_document *d, const char *column, const char *type, const char *text)
{
    configuration_data_n(d, column, type, text, strlen(text));
}

void configuration_data_number(struct configuration_document *d, const char *column, const char *type, uint64_t n)
{
    if (!begin_data(d, column, type))
        return;
    text_buffer_format(&d->text, "%" PRIu64, n);
    end_data(d);
}

void configuration_data_time(struct configuration_document *d, const char *column, int64_t utc)
{
    char text[64];
    configuration_time(utc, text);
    configuration_data(d, column, NULL, text);
}

void configuration_data_bytes(struct configuration_document *d, const char *column, const char *type, const void *bytes,
                              size_t count)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!begin_data(d, column, type))
        return;
    char *at = count <= SIZE_MAX / 4 ? text_buffer_reserve(&d->text, count * 2) : NULL;
    if (!at) {
        document_fail(d, E_OUTOFMEMORY);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        *at++ = digits[((const uint8_t *)bytes)[i] >> 4];
        *at++ = digits[((const uint8_t *)bytes)[i] & 15];
    }
    *at = 0;
    d->text.length += count * 2;
    end_data(d);
}

void configuration_data_error(struct configuration_document *d, HRESULT result)
{
    char number[16];
    struct error_kept why = error_keep(result);
    d->errors++;
    snprintf(number, sizeof number, "0x%08" PRIX32, (uint32_t)result);
    configuration_data(d, COLUMN_ERROR, NULL, why.text);
    configuration_data(d, COLUMN_RESULT, NULL, number);
}

HRESULT configuration_end_item(struct configuration_document *d)
{
    if (!goes_on(d))
        return configuration_status(d);
    if (innermost(d)->element == ITEM)
        add_empty(d, columns_of_item(d)->count);
    return document_pop_element(d, ITEM);
}

HRESULT configuration_end_table(struct configuration_document *d)
{
    return document_pop_element(d, TABLE);
}

HRESULT configuration_end_section(struct configuration_document *d)
{
    return document_pop_element(d, SECTION);
}

/* ---- beginning and ending the document ---- */

static void document_free(struct configuration_document *d)
{
    while (d->depth)
        texts_free(&d->open[--d->depth].columns);
    text_buffer_free(&d->text);
    memory_free(d);
}

HRESULT configuration_document_begin(struct file *file, struct configuration_document **out)
{
    struct configuration_document *d = memory_zero(1, sizeof *d);
    *out = NULL;
    if (!d)
        return E_OUTOFMEMORY;
    d->open[d->depth++].element = REPORT;
    d->put_out_at = clock_monotonic_ms();
    HRESULT hr = whole_document_begin(&d->whole, file, HEAD, closings[REPORT]);
    if (FAILED(hr)) {
        memory_free(d);
        return hr;
    }
    *out = d;
    return S_OK;
}

void configuration_fact(struct configuration_document *d, const char *name, const char *text)
{
    if (goes_on(d) && innermost(d)->element == REPORT && document_push_element(d, HEADER, name))
        text_buffer_add(&d->text, "<Header>");
    if (!goes_on(d))
        return;
    if (innermost(d)->element != HEADER) {
        misused(d, "a fact after the end of the Header", name);
        return;
    }
    text_buffer_add(&d->text, "<Data");
    add_attribute(d, "name", name);
    text_buffer_add(&d->text, ">");
    add_escaped(d, text, strlen(text), false);
    end_data(d);
}

HRESULT configuration_document_end(struct configuration_document *d, bool complete)
{
    if (goes_on(d) && innermost(d)->element == HEADER)
        document_pop_element(d, HEADER);
    if (goes_on(d) && d->depth != 1)
        misused(d, "end of document with an open element", closings[innermost(d)->element]);
    HRESULT hr = configuration_put_out(d);
    if (SUCCEEDED(hr) && complete)
        hr = file_write_at(d->whole.file, strlen(HEAD_BEGIN), "1", 1);
    struct error_kept why = error_keep(hr);
    HRESULT cut = whole_document_close(&d->whole);
    document_free(d);
    return FAILED(hr) ? error_restore(&why) : cut;
}

/* ---- the file: writes within one page, and preallocated room ---- */

#define PAGE       WHOLE_DOCUMENT_PAGE
#define ROOM_STEP  (16 * PAGE)
#define REST_BEGIN "<?rest "
#define REST_END   "<?end ?>"
enum { BEGIN_BYTES = sizeof REST_BEGIN - 1, END_BYTES = sizeof REST_END - 1 };

static uint64_t page_end(uint64_t at)
{
    return at - at % PAGE + PAGE;
}

static HRESULT write_blanks(struct whole_document *w, uint64_t at, uint64_t count)
{
    char blanks[PAGE];
    HRESULT hr = S_OK;
    memset(blanks, ' ', sizeof blanks);
    while (SUCCEEDED(hr) && count) {
        size_t n = page_end(at) - at < count ? (size_t)(page_end(at) - at) : (size_t)count;
        hr = file_write_at(w->file, at, blanks, n);
        if (FAILED(hr))
            break;
        at += n;
        count -= n;
        if (at > w->size)
            w->size = at;
    }
    return hr;
}

/* Extends the spaces at least to `end`, and writes <?end ?> after them. */
static HRESULT make_room(struct whole_document *w, uint64_t end)
{
    if (w->stop >= end)
        return S_OK;
    uint64_t size = (end + END_BYTES + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP, old = w->stop;
    HRESULT hr = size > w->size ? write_blanks(w, w->size, size - w->size) : S_OK;
    if (SUCCEEDED(hr))
        hr = file_write_at(w->file, size - END_BYTES, REST_END, END_BYTES);
    if (FAILED(hr))
        return hr;
    w->stop = size - END_BYTES;
    return old ? write_blanks(w, old, END_BYTES) : S_OK;
}

static bool add_blanks(struct text_buffer *text, size_t count)
{
    char *at = text_buffer_reserve(text, count);
    if (!at)
        return false;
    memset(at, ' ', count);
    at[count] = 0;
    text->length += count;
    return true;
}

HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing)
{
    char text[PAGE / 2 + 1];
    size_t n = strlen(head), m = strlen(closing);
    if (n + m >= sizeof text)
        return E_INVALIDARG;
    memcpy(text, head, n);
    memcpy(text + n, closing, m + 1);
    *w = (struct whole_document){.file = file, .end = n, .size = n + m, .closing = m};
    return file_write_at(file, 0, text, n + m);
}

HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing)
{
    const size_t m = strlen(closing);
    const uint64_t end = w->end + text->length, left = page_end(end) - end;
    /* The closing tags and a following "<?rest " must be in one page. */
    const size_t blanks = left < m + BEGIN_BYTES ? (size_t)left : 0;
    if (blanks && !add_blanks(text, blanks))
        return E_OUTOFMEMORY;
    const size_t contents = text->length;
    text_buffer_add(text, closing);
    if (!text->failed && text->length < w->closing) /* otherwise the end of the old closing tags would remain */
        add_blanks(text, w->closing - text->length);
    if (text->failed)
        return E_OUTOFMEMORY;
    HRESULT hr = make_room(w, w->end + text->length);
    const uint64_t within = page_end(w->end) - w->end;
    assert(w->closing + (text->length > within ? BEGIN_BYTES : 0) <= within);
    if (SUCCEEDED(hr) && text->length > within) {
        hr = file_write_at(w->file, w->end + w->closing, REST_BEGIN, BEGIN_BYTES);
        if (SUCCEEDED(hr))
            hr = file_write_at(w->file, w->end + within, text->text + within, text->length - (size_t)within);
    }
    if (SUCCEEDED(hr))
        hr = file_write_at(w->file, w->end, text->text, text->length < within ? text->length : (size_t)within);
    if (FAILED(hr))
        return hr;
    w->end += contents;
    w->closing = m;
    text->length = 0;
    return S_OK;
}

HRESULT whole_document_close(struct whole_document *w)
{
    return w->file ? file_set_size(w->file, w->end + w->closing) : S_OK;
}
