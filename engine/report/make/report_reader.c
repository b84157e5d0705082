/* SPDX-License-Identifier: MIT */
/* Reads report documents with libxml2's push parser, part by part. report_form.def defines the form of the elements. */
#include "engine/report/report_reader.h"

#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/logs/text_rows.h"

#include <libxml/parserInternals.h>
#include <string.h>

enum { NOTHING, TEXT };
enum { ONE_OR_NONE, ANY_NUMBER };
enum { optional, required };

const struct form_type_row form_types[FORM_TYPE_COUNT] = {
#define TYPE(Type, holds, doc) {#Type, holds, doc},
#include "engine/report/make/report_form.def"
};

const struct form_child form_children[] = {
#define CHILD(Type, element, child, number, doc) {FORM_##Type, #element, FORM_##child, number, doc},
#include "engine/report/make/report_form.def"
};
const size_t form_child_count = sizeof form_children / sizeof *form_children;

const struct form_attribute form_attributes[] = {
#define ATTRIBUTE(Type, name, schema_type, use, doc) {FORM_##Type, #name, schema_type, use, doc},
#include "engine/report/make/report_form.def"
};
const size_t form_attribute_count = sizeof form_attributes / sizeof *form_attributes;

/* Returns the row of a child element, or NULL if an element of type `parent` must not contain it. */
static const struct form_child *form_find_child(enum form_type parent, const char *element)
{
    for (size_t i = 0; i < form_child_count; i++)
        if (form_children[i].parent == parent && !strcmp(form_children[i].element, element))
            return &form_children[i];
    return NULL;
}

/* ---- the Data elements of one Header or row, collected as they are read ---- */

/* Zero-initialise. The strings are in one block; `places` contains offsets in it, and after all elements have been
   read, `items` points into the block. */
struct data_list {
    struct text_buffer texts; /* the strings with their NULs, one after the other */
    struct data_place {
        size_t name, text, attributes; /* offsets in `texts`; attributes: index in `attribute_places` */
        size_t attribute_count;
    } * places;
    size_t count, capacity;
    size_t ordered; /* number of leading Data elements that are in the order of the Header */
    struct attribute_place {
        const char *name; /* borrowed */
        size_t value;
    } * attribute_places;
    size_t attribute_count, attribute_capacity;
    struct report_data *items; /* the items for the handlers */
    size_t item_capacity;
    struct report_attribute *attributes;
    size_t item_attribute_capacity;
};

/* Empties the list, but keeps its memory for the next one. */
static void data_list_clear(struct data_list *l)
{
    l->texts.length = l->count = l->attribute_count = l->ordered = 0;
}

static void data_list_free(struct data_list *l)
{
    text_buffer_free(&l->texts);
    memory_free(l->places);
    memory_free(l->attribute_places);
    memory_free(l->items);
    memory_free(l->attributes);
    *l = (struct data_list){0};
}

static HRESULT add_whole(struct data_list *l, const char *text, size_t length)
{
    text_buffer_add_n(&l->texts, text, length);
    text_buffer_add_n(&l->texts, "", 1);
    return l->texts.failed ? E_OUTOFMEMORY : S_OK;
}

/* Begins a Data element. Later calls add the element's attributes, then its text in parts, and finally end the element.
   Fails with E_OUTOFMEMORY. */
static HRESULT data_list_begin(struct data_list *l, const char *name, size_t length)
{
    if (!memory_grow((void **)&l->places, &l->capacity, l->count + 1, sizeof *l->places))
        return E_OUTOFMEMORY;
    l->places[l->count++] = (struct data_place){.name = l->texts.length, .attributes = l->attribute_count};
    return add_whole(l, name, length);
}

static HRESULT data_list_attribute(struct data_list *l, const char *name, const char *value, size_t length)
{
    void *places = l->attribute_places;
    if (!memory_grow(&places, &l->attribute_capacity, l->attribute_count + 1, sizeof *l->attribute_places))
        return E_OUTOFMEMORY;
    l->attribute_places = places;
    l->attribute_places[l->attribute_count++] = (struct attribute_place){name, l->texts.length};
    l->places[l->count - 1].attribute_count++;
    return add_whole(l, value, length);
}

static void data_list_text_begin(struct data_list *l)
{
    l->places[l->count - 1].text = l->texts.length;
}

static void data_list_text(struct data_list *l, const char *text, size_t length)
{
    text_buffer_add_n(&l->texts, text, length);
}

static HRESULT data_list_end(struct data_list *l)
{
    return add_whole(l, "", 0);
}

static void data_list_drop_last(struct data_list *l)
{
    const struct data_place *last = &l->places[--l->count];
    l->texts.length = last->name;
    l->attribute_count = last->attributes;
}

static const char *data_list_name(const struct data_list *l, size_t at)
{
    return l->texts.text + l->places[at].name;
}

/* Fills in l->items and l->count. The items are valid until the list changes. */
static HRESULT data_list_give(struct data_list *l)
{
    if (!memory_grow((void **)&l->items, &l->item_capacity, l->count, sizeof *l->items) ||
        !memory_grow((void **)&l->attributes, &l->item_attribute_capacity, l->attribute_count, sizeof *l->attributes))
        return E_OUTOFMEMORY;
    const char *texts = l->texts.text;
    for (size_t i = 0; i < l->attribute_count; i++)
        l->attributes[i] = (struct report_attribute){l->attribute_places[i].name, texts + l->attribute_places[i].value};
    for (size_t i = 0; i < l->count; i++) {
        const struct data_place *p = &l->places[i];
        l->items[i] =
            (struct report_data){texts + p->name, texts + p->text,
                                 p->attribute_count ? l->attributes + p->attributes : NULL, p->attribute_count};
    }
    return S_OK;
}

/* ---- calling the handlers ---- */

const char *report_attribute(const struct report_attribute *attributes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(attributes[i].name, name))
            return attributes[i].value;
    return NULL;
}

const struct report_data *report_find(const struct report_data *items, size_t count, const char *name, size_t at)
{
    if (at < count && !strcmp(items[at].name, name))
        return &items[at];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(items[i].name, name))
            return &items[i];
    return NULL;
}

/* ---- parsing ---- */

#define LONGEST_MARKUP (8u << 20)  /* maximum bytes of a tag, a comment or an instruction */
#define LARGEST_ROW    (64u << 20) /* maximum bytes of all texts of a row or a Header */
#define MOST_WARNINGS  32
/* maximum depth of the elements that are read; elements that are skipped are only counted */
#define MOST_ELEMENTS  (3 * REPORT_MAX_TABLES + 8)

struct open_table {
    struct report_table given;
    struct data_list own;     /* contains one Data element with the table's name and attributes */
    struct data_list columns; /* the columns of the table's Header */
    bool begun;               /* the handler was called */
};

struct reader {
    const struct report_handlers *handlers;
    void *about;
    struct texts *warnings;
    struct text_rows rows;
    struct xml_memory *memory;
    xmlParserCtxtPtr context;
    enum xml_excess excess;
    HRESULT failed; /* the error of a handler, or of a document with a wrong form */
    enum form_type open[MOST_ELEMENTS];
    bool begun;            /* the Report element has been seen */
    bool ending;           /* the file has been read; an error that libxml2 reports from now on is an incomplete tag
                              at the end of the file */
    size_t depth, skipped; /* `depth`: number of open elements; `skipped`: number of open elements that are skipped,
                              which are always the innermost ones */
    size_t within;         /* number of open elements within a text, such as <b>; the content of these elements
                              belongs to the text */
    bool row_given;        /* the open row was passed to the handler, and its tables are being read */
    struct open_table tables[REPORT_MAX_TABLES];
    size_t table_count;
    /* section and item: the attributes of these elements; row: the Data elements of the row; single: the current
       Report, chart, fact or string. */
    struct data_list section, item, row, single;
    struct data_list *filled; /* destination of the current text; NULL means that no text is open */
    const char *part;         /* part of the file that is being parsed */
    size_t part_size;
};

static unsigned line_now(const struct reader *r)
{
    return r->context && r->context->input ? (unsigned)r->context->input->line : 0;
}

static HRESULT add_warning(struct reader *r, char *warning)
{
    if (r->warnings->count < MOST_WARNINGS)
        return texts_add_owned(r->warnings, warning);
    memory_free(warning);
    return S_OK;
}

static void reader_fail(struct reader *r, HRESULT hr)
{
    if (FAILED(hr) && SUCCEEDED(r->failed)) {
        r->failed = hr;
        xmlStopParser(r->context);
    }
}

/* Calls a handler and returns its result; S_OK if the caller has no such handler. */
#define CALL(r, handler, ...) ((r)->handlers->handler ? (r)->handlers->handler((r)->about, __VA_ARGS__) : S_OK)

/* ---- starts of elements ---- */

/* Attributes as libxml2 passes them: for each the name, prefix, URI, and the start and end of the value. */
struct sax_attributes {
    const xmlChar **items;
    int count;
};

static const char *find_value(const struct sax_attributes *a, const char *name, size_t *length)
{
    for (int i = 0; i < a->count; i++)
        if (!strcmp((const char *)a->items[5 * i], name)) {
            *length = (size_t)(a->items[5 * i + 4] - a->items[5 * i + 3]);
            return (const char *)a->items[5 * i + 3];
        }
    *length = 0;
    return "";
}

/* Begins a Data element. The value of the attribute `name_attribute` becomes the name of the item; all other attributes
   become attributes of the item. */
static HRESULT add_data(struct data_list *l, const char *name_attribute, const struct sax_attributes *a)
{
    size_t length;
    const char *name = find_value(a, name_attribute, &length);
    HRESULT hr = data_list_begin(l, name, length);
    for (int i = 0; i < a->count && SUCCEEDED(hr); i++) {
        const char *attribute = (const char *)a->items[5 * i];
        const char *value = (const char *)a->items[5 * i + 3];
        if (strcmp(attribute, name_attribute) != 0)
            hr = data_list_attribute(l, attribute, value, (size_t)((const char *)a->items[5 * i + 4] - value));
    }
    if (SUCCEEDED(hr))
        data_list_text_begin(l);
    return hr;
}

/* Replaces the contents of the list with one item for an element. The item has the element's name and attributes, and
   no text. */
static HRESULT add_element(struct data_list *l, const struct sax_attributes *a)
{
    data_list_clear(l);
    HRESULT hr = add_data(l, "name", a);
    if (SUCCEEDED(hr))
        hr = data_list_end(l);
    return SUCCEEDED(hr) ? data_list_give(l) : hr;
}

static HRESULT begin_report(struct reader *r, const struct sax_attributes *a)
{
    HRESULT hr = add_element(&r->single, a);
    r->begun = true;
    if (FAILED(hr))
        return hr;
    const struct report_data *d = r->single.items;
    const char *complete = report_attribute(d->attributes, d->attribute_count, "complete");
    if (complete && !strcmp(complete, "0")) {
        char *warning = text_copy("the collection stopped before it was complete");
        hr = warning ? add_warning(r, warning) : E_OUTOFMEMORY;
    }
    struct report_attribute *all = SUCCEEDED(hr) ? memory_zero(d->attribute_count + 1, sizeof *all) : NULL;
    if (!all)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    all[0] = (struct report_attribute){"name", d->name};
    for (size_t i = 0; i < d->attribute_count; i++)
        all[i + 1] = d->attributes[i];
    hr = CALL(r, begin, all, d->attribute_count + 1);
    memory_free(all);
    return hr;
}

static HRESULT begin_section(struct reader *r, const struct sax_attributes *a)
{
    HRESULT hr = add_element(&r->section, a);
    if (FAILED(hr))
        return hr;
    const struct report_data *d = r->section.items;
    const struct report_section section = {d->name, d->attributes, d->attribute_count};
    return CALL(r, section_begin, &section);
}

static struct open_table *this_table(struct reader *r)
{
    return &r->tables[r->table_count - 1];
}

/* Passes a table to the handler as soon as its columns are known. */
static HRESULT give_table(struct reader *r)
{
    struct open_table *t = this_table(r);
    if (t->begun)
        return S_OK;
    t->begun = true;
    HRESULT hr = data_list_give(&t->columns);
    t->given.columns = t->columns.items;
    t->given.column_count = t->columns.count;
    return SUCCEEDED(hr) ? CALL(r, table_begin, &t->given) : hr;
}

static HRESULT give_row(struct reader *r, bool footer)
{
    HRESULT hr = r->row_given ? S_FALSE : data_list_give(&r->row);
    if (hr != S_OK)
        return hr;
    const struct report_data *own = r->item.items;
    const struct report_row row = {.cells = r->row.items,
                                   .cell_count = r->row.count,
                                   .attributes = own->attributes,
                                   .attribute_count = own->attribute_count,
                                   .line = line_now(r),
                                   .footer = footer};
    r->row_given = true;
    return CALL(r, row, &this_table(r)->given, &row);
}

static HRESULT begin_table(struct reader *r, const struct sax_attributes *a)
{
    HRESULT hr = S_OK;
    if (r->table_count == REPORT_MAX_TABLES)
        return error_set(OPENPLA_E_MALFORMED_XML, "line %u: tables are nested deeper than %d", line_now(r),
                         REPORT_MAX_TABLES);
    if (r->table_count)
        hr = give_row(r, false);
    struct open_table *t = &r->tables[r->table_count];
    if (SUCCEEDED(hr))
        hr = add_element(&t->own, a);
    if (FAILED(hr))
        return hr;
    data_list_clear(&t->columns);
    t->begun = false;
    t->given = (struct report_table){.outer = r->table_count ? &r->tables[r->table_count - 1].given : NULL,
                                     .section = r->section.items->name,
                                     .name = t->own.items->name,
                                     .attributes = t->own.items->attributes,
                                     .attribute_count = t->own.items->attribute_count,
                                     .depth = (unsigned)r->table_count};
    r->table_count++;
    return S_OK;
}

static HRESULT begin_row(struct reader *r, const struct sax_attributes *a)
{
    data_list_clear(&r->row);
    r->row_given = false;
    HRESULT hr = add_element(&r->item, a);
    return SUCCEEDED(hr) ? give_table(r) : hr;
}

/* Begins a cell. In a row, a cell after a table is an error, because the row has already been passed to the handler. */
static HRESULT begin_cell(struct reader *r, const struct sax_attributes *a)
{
    if (r->row_given)
        return error_set(OPENPLA_E_MALFORMED_XML, "line %u: a Data follows a Table in an Item", line_now(r));
    r->filled = &r->row;
    return add_data(&r->row, "name", a);
}

static HRESULT begin_single(struct reader *r, const char *name, const struct sax_attributes *a)
{
    data_list_clear(&r->single);
    r->filled = &r->single;
    return add_data(&r->single, name, a);
}

static HRESULT begin_chart(struct reader *r, const struct sax_attributes *a)
{
    HRESULT hr = add_element(&r->single, a);
    return SUCCEEDED(hr) ? CALL(r, chart_begin, r->single.items) : hr;
}

static HRESULT begin_of(struct reader *r, enum form_type type, const struct sax_attributes *a)
{
    switch (type) {
    case FORM_Report:
        return begin_report(r, a);
    case FORM_Section:
        return begin_section(r, a);
    case FORM_Table:
        return begin_table(r, a);
    case FORM_Columns:
        if (this_table(r)->begun)
            return error_set(OPENPLA_E_MALFORMED_XML, "line %u: a second Header, or a Header after the Items",
                             line_now(r));
        return S_OK;
    case FORM_Column:
        r->filled = &this_table(r)->columns;
        return add_data(r->filled, "name", a);
    case FORM_Item:
    case FORM_Footer:
        return begin_row(r, a);
    case FORM_Cell:
        return begin_cell(r, a);
    case FORM_Chart:
        return begin_chart(r, a);
    case FORM_Fact:
    case FORM_Series:
        return begin_single(r, "name", a);
    case FORM_String:
        return begin_single(r, "ID", a);
    default:
        return S_OK;
    }
}

/* Skips an unknown element with its content. */
static HRESULT skip_element(struct reader *r, const char *element)
{
    r->skipped = 1;
    char *warning = text_format("line %u: skipped an unexpected '%.64s' in a %s", line_now(r), element,
                                form_types[r->open[r->depth - 1]].name);
    return warning ? add_warning(r, warning) : E_OUTOFMEMORY;
}

static HRESULT begin_element(struct reader *r, const char *element, const struct sax_attributes *a)
{
    enum form_type type = FORM_Report;
    if (r->skipped) {
        r->skipped++;
        return S_OK;
    }
    if (r->within || (r->depth && form_types[r->open[r->depth - 1]].holds_text)) {
        r->within++;
        return S_OK;
    }
    if (r->depth) {
        const struct form_child *child = form_find_child(r->open[r->depth - 1], element);
        if (!child)
            return skip_element(r, element);
        type = child->type;
    } else if (strcmp(element, "Report") != 0) {
        return error_set(OPENPLA_E_MALFORMED_XML, "line %u: the root element is '%.100s', not 'Report'", line_now(r),
                         element);
    }
    HRESULT hr = begin_of(r, type, a);
    if (SUCCEEDED(hr))
        r->open[r->depth++] = type; /* REPORT_MAX_TABLES limits the depth */
    return hr;
}

static void on_begin(void *about, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
                     const xmlChar **namespaces, int attribute_count, int default_count, const xmlChar **attributes)
{
    struct reader *r = about;
    (void)prefix, (void)uri, (void)namespace_count, (void)namespaces, (void)default_count;
    if (r->ending || FAILED(r->failed))
        return;
    r->excess = xml_excess_of(r->context);
    if (r->excess != XML_NO_EXCESS)
        reader_fail(r, xml_limits_error(r->excess, (int)line_now(r)));
    else
        reader_fail(r, begin_element(r, (const char *)name, &(struct sax_attributes){attributes, attribute_count}));
}

/* ---- texts and ends of elements ---- */

/* Only whitespace is allowed between elements. */
static HRESULT stray_text(struct reader *r, const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && xml_is_blank(text[i]))
        i++;
    if (i == length || !r->depth || form_types[r->open[r->depth - 1]].holds_text)
        return S_OK;
    char *warning = text_format("line %u: skipped text in a %s", line_now(r), form_types[r->open[r->depth - 1]].name);
    return warning ? add_warning(r, warning) : E_OUTOFMEMORY;
}

static void on_text(void *about, const xmlChar *text, int length)
{
    struct reader *r = about;
    if (r->skipped || r->ending || FAILED(r->failed))
        return;
    if (!r->filled) {
        reader_fail(r, stray_text(r, (const char *)text, (size_t)length));
        return;
    }
    data_list_text(r->filled, (const char *)text, (size_t)length);
    if (r->filled->texts.failed)
        reader_fail(r, E_OUTOFMEMORY);
    else if (r->filled->texts.length > LARGEST_ROW)
        reader_fail(r,
                    error_set(OPENPLA_E_MALFORMED_XML, "line %u: a row exceeds %u MB", line_now(r), LARGEST_ROW >> 20));
}

/* Returns whether the last item of the list has the same name as an earlier one. No search is needed as long as the
   items are in the order of the columns, because the names of columns are unique. */
static bool is_second(struct data_list *l, const struct data_list *order)
{
    const size_t last = l->count - 1;
    const char *name = data_list_name(l, last);
    if (order && l->ordered == last && last < order->count && !strcmp(name, data_list_name(order, last))) {
        l->ordered++;
        return false;
    }
    for (size_t i = 0; i < last; i++)
        if (!strcmp(data_list_name(l, i), name))
            return true;
    return false;
}

static HRESULT end_data(struct reader *r, const struct data_list *order)
{
    struct data_list *l = r->filled;
    r->filled = NULL;
    HRESULT hr = data_list_end(l);
    if (FAILED(hr) || l == &r->single)
        return hr;
    if (l->count > REPORT_MAX_COLUMNS)
        return error_set(OPENPLA_E_MALFORMED_XML, "line %u: more than %d Data elements", line_now(r),
                         REPORT_MAX_COLUMNS);
    /* Warnings may give several solutions (MS-PLA 2.2.8). */
    if ((order && !strcmp(this_table(r)->given.name, "warning")) || !is_second(l, order))
        return S_OK;
    char *warning = text_format("line %u: skipped a second Data '%.64s'", line_now(r), data_list_name(l, l->count - 1));
    data_list_drop_last(l);
    return warning ? add_warning(r, warning) : E_OUTOFMEMORY;
}

static HRESULT end_single(struct reader *r, enum form_type type)
{
    HRESULT hr = end_data(r, NULL);
    if (SUCCEEDED(hr))
        hr = data_list_give(&r->single);
    if (FAILED(hr))
        return hr;
    if (type == FORM_String)
        return CALL(r, string, r->single.items->name, r->single.items->text);
    return type == FORM_Series ? CALL(r, series, r->single.items) : CALL(r, fact, r->single.items);
}

static HRESULT end_row(struct reader *r, bool footer)
{
    HRESULT hr = give_row(r, footer);
    r->row_given = false;
    return SUCCEEDED(hr) ? CALL(r, row_end, &this_table(r)->given) : hr;
}

static HRESULT end_table(struct reader *r)
{
    HRESULT hr = give_table(r);
    if (SUCCEEDED(hr))
        hr = CALL(r, table_end, &this_table(r)->given);
    r->table_count--;
    r->row_given = r->table_count > 0;
    return hr;
}

static HRESULT end_of(struct reader *r, enum form_type type)
{
    switch (type) {
    case FORM_Section:
        return r->handlers->section_end ? r->handlers->section_end(r->about) : S_OK;
    case FORM_Table:
        return end_table(r);
    case FORM_Columns:
        return give_table(r);
    case FORM_Column:
        return end_data(r, NULL);
    case FORM_Item:
    case FORM_Footer:
        return end_row(r, type == FORM_Footer);
    case FORM_Cell:
        return end_data(r, &this_table(r)->columns);
    case FORM_Fact:
    case FORM_Series:
    case FORM_String:
        return end_single(r, type);
    case FORM_Chart:
        return r->handlers->chart_end ? r->handlers->chart_end(r->about) : S_OK;
    default:
        return S_OK;
    }
}

static void on_end(void *about, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct reader *r = about;
    (void)name, (void)prefix, (void)uri;
    if (r->ending || FAILED(r->failed))
        return;
    if (r->skipped)
        r->skipped--;
    else if (r->within)
        r->within--;
    else
        reader_fail(r, end_of(r, r->open[--r->depth]));
}

/* ---- the file ---- */

static void open_parser(void *about)
{
    static const xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
                                          .startElementNs = on_begin,
                                          .endElementNs = on_end,
                                          .characters = on_text,
                                          .ignorableWhitespace = on_text,
                                          .cdataBlock = on_text};
    struct reader *r = about;
    r->context = xmlCreatePushParserCtxt((xmlSAXHandlerPtr)(uintptr_t)&handler, r, NULL, 0, NULL);
    if (!r->context)
        return;
    /* Files without a byte order mark are UTF-8, and the parser always receives UTF-8. NOENT is safe, because only
       XML's predefined entities are allowed. Without NOENT, an & in an attribute would arrive as &#38;. */
    xmlCtxtUseOptions(r->context, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC |
                                      XML_PARSE_NOENT);
    xmlSwitchEncoding(r->context, XML_CHAR_ENCODING_UTF8);
}

static void parse_part(void *about)
{
    struct reader *r = about;
    xmlParseChunk(r->context, r->part, (int)r->part_size, r->part_size == 0);
}

/* Ends all open elements; an incomplete row is dropped. */
static HRESULT end_all(struct reader *r)
{
    HRESULT hr = S_OK;
    r->skipped = r->within = 0;
    if (r->filled)
        data_list_drop_last(r->filled);
    while (r->depth && SUCCEEDED(hr)) {
        const enum form_type type = r->open[--r->depth];
        const bool row = type == FORM_Item || type == FORM_Footer;
        if (type == FORM_Section || type == FORM_Table || type == FORM_Chart || (row && r->row_given))
            hr = end_of(r, type);
    }
    return hr;
}

static HRESULT reader_report_malformed(struct reader *r, bool at_end)
{
    const xmlError *e = &r->context->lastError;
    const size_t n = e->message ? strcspn(e->message, "\r\n") : 0;
    if (!r->begun && !at_end)
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %d: %.*s", e->line, (int)n,
                         e->message ? e->message : "");
    if (!r->begun)
        return error_set(OPENPLA_E_MALFORMED_XML, "the file contains no XML");
    char *warning = at_end
                        ? text_format("line %u: the file ends here; the complete part before it was read", line_now(r))
                        : text_format("line %d: not well-formed: %.*s; the rest of the file was not read", e->line,
                                      (int)n, e->message ? e->message : "");
    HRESULT hr = warning ? add_warning(r, warning) : E_OUTOFMEMORY;
    return SUCCEEDED(hr) ? end_all(r) : hr;
}

static HRESULT reader_parse(struct reader *r, bool *ended)
{
    const bool last = r->ending = r->part_size == 0;
    HRESULT hr = xml_memory_use(r->memory, parse_part, r);
    if (FAILED(hr) || FAILED(r->failed))
        return FAILED(hr) ? hr : r->failed;
    *ended = last || !r->context->wellFormed;
    return *ended && (!r->context->wellFormed || r->depth) ? reader_report_malformed(r, last) : S_OK;
}

static HRESULT read_parts(struct reader *r)
{
    struct xml_scan scan = {.longest = LONGEST_MARKUP};
    bool ended = false;
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && !ended) {
        r->part_size = 0;
        r->part = "";
        hr = text_rows_part(&r->rows, &r->part, &r->part_size);
        if (SUCCEEDED(hr))
            hr = xml_scan(&scan, r->part, r->part_size);
        if (SUCCEEDED(hr))
            hr = reader_parse(r, &ended);
    }
    return hr;
}

static HRESULT read_file(struct reader *r, const char *path)
{
    HRESULT hr = text_rows_open(path, &r->rows);
    if (FAILED(hr))
        return hr;
    r->memory = xml_memory_create_freeing();
    hr = r->memory ? xml_memory_use(r->memory, open_parser, r) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !r->context)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = read_parts(r);
    xml_memory_destroy(r->memory);
    text_rows_close(&r->rows);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : S_OK;
}

HRESULT report_read(const char *path, const struct report_handlers *handlers, void *about, struct texts *warnings)
{
    struct reader *r = memory_zero(1, sizeof *r);
    if (!r)
        return E_OUTOFMEMORY;
    r->handlers = handlers;
    r->about = about;
    r->warnings = warnings;
    HRESULT hr = read_file(r, path);
    data_list_free(&r->section);
    data_list_free(&r->item);
    data_list_free(&r->row);
    data_list_free(&r->single);
    for (size_t i = 0; i < REPORT_MAX_TABLES; i++) {
        data_list_free(&r->tables[i].own);
        data_list_free(&r->tables[i].columns);
    }
    memory_free(r);
    return hr;
}
