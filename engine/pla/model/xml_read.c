/* SPDX-License-Identifier: MIT */
/* Parses XML into objects. This is the first of four steps: parse, defaults, validate, format (behaviour 18). */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/pla/model.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

#define MAX_ROWS     64    /* no class has so many rows */
#define MAX_NAMES    160   /* no class has so many element names */
#define MAX_ISSUES   4096  /* maximum number of issues that are reported for one document */
#define MAX_BAD_LIST 4096u /* maximum number of items of an invalid list that are checked */

/* The meaning of an element name for the object. */
struct element {
    const xmlChar *name; /* the string that the document has interned */
    enum { ELEMENT_UNKNOWN, ELEMENT_ROW, ELEMENT_ITEM, ELEMENT_USER_VALUE, ELEMENT_NOISE } what;
    size_t row;                /* index of the row, for ELEMENT_ROW */
    struct object *collection; /* collection of the item, for ELEMENT_ITEM */
    const struct class *class; /* class of the item */
    unsigned count;            /* number of these elements so far */
};
struct reading {
    const struct xml_document *document;
    struct object *object;
    struct object *issues;
    const char *path; /* prefix of property names in the keys of issues */
    struct list_seen {
        bool seen; /* an element of the list was read; the new list replaces the object's list */
        size_t count;
        struct text_buffer texts; /* the items, concatenated, each with its NUL */
    } lists[MAX_ROWS];            /* one per row */
    struct element elements[MAX_NAMES], unknown, *latest;
    size_t element_count;
};

static HRESULT reading_add_issue(const struct reading *r, HRESULT found, const char *element, const char *text)
{
    char key[512];
    if (!r->issues) /* the caller does not collect issues */
        return S_OK;
    size_t reported = collection_count(r->issues);
    if (reported > MAX_ISSUES)
        return S_OK;
    if (reported == MAX_ISSUES)
        return issues_add(r->issues, PLA_S_PROPERTY_IGNORED, r->path, "further issues are not listed");
    snprintf(key, sizeof key, "%s%s", r->path, element);
    return issues_add(r->issues, found, key, text);
}

/* Adds an issue with the error text of `found`. */
static HRESULT issue_of(const struct reading *r, HRESULT found, const char *element)
{
    struct error_kept why = error_keep(found);
    return reading_add_issue(r, found, element, why.text);
}

static bool text_to_bool(const char *text, bool *out)
{
    int64_t n;
    if (text_equal_nocase(text, "true") || text_equal_nocase(text, "false")) {
        *out = text_equal_nocase(text, "true");
        return true;
    }
    if (!text_to_i64(text, &n))
        return false;
    *out = n != 0;
    return true;
}

/* Decodes two hexadecimal digits per byte, in place. */
static bool scan_bytes(char *text, struct bytes *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = strlen(text);
    uint8_t *bytes = (uint8_t *)text;
    if (n % 2)
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        const char *high = strchr(digits, tolower((unsigned char)text[2 * i]));
        const char *low = strchr(digits, tolower((unsigned char)text[2 * i + 1]));
        if (!high || !low)
            return false;
        bytes[i] = (uint8_t)((high - digits) * 16 + (low - digits));
    }
    out->items = bytes;
    out->count = n / 2;
    return true;
}

/* Parses `text`; false: it is invalid. A value that is a string or bytes uses the memory of `text`. */
static bool value_scan_text(const struct property *p, char *text, struct value *v)
{
    int64_t n;
    memset(v, 0, sizeof *v);
    v->kind = p->kind;
    switch (p->kind) {
    case PROPERTY_BOOL:
        return text_to_bool(text, &v->boolean);
    case PROPERTY_I32:
        if (!text_to_i64(text, &n) || n < INT32_MIN || n > INT32_MAX)
            return false;
        v->i32 = (int32_t)n;
        return true;
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        if (!text_to_i64(text, &n) || n < (property_takes_negative(p) ? INT32_MIN : 0) || n > UINT32_MAX)
            return false;
        v->u32 = (uint32_t)n;
        return true;
    case PROPERTY_U64:
        return text_to_u64(text, &v->u64);
    case PROPERTY_GUID:
        return text_to_guid(text, &v->guid);
    case PROPERTY_BYTES:
        return scan_bytes(text, &v->bytes);
    case PROPERTY_TEXT:
        v->text = text;
        return true;
    case PROPERTY_DATE:
        v->variant.type = VARIANT_DATE;
        return date_from_text(text, &v->variant.real);
    case PROPERTY_TIME:
        v->variant.type = VARIANT_DATE;
        return time_from_text(text, &v->variant.real);
    case PROPERTY_VARIANT:
        v->variant.type = VARIANT_UI8;
        return text_to_integer(text, &v->variant.integer);
    default:
        return false;
    }
}

/* Sets a value that set_from_own_xml reads. Numbers and strings are not checked, because other programs' sessions can
   have names and sizes that a client cannot set. */
static HRESULT give_own(struct object *o, const struct property *p, struct value *v)
{
    if (p->kind != PROPERTY_U32 && p->kind != PROPERTY_U64 && p->kind != PROPERTY_TEXT)
        return object_give(o, p, v);
    object_give_unchecked(o, p, v);
    return S_OK;
}

/* Sets the row's value from the text. Sets *text to NULL if the value has taken over its memory. */
static HRESULT take_text(struct reading *r, const struct property *p, char **text)
{
    struct value v;
    if (p->xml_use == XML_SHOWN && !(r->document->own && p->figure))
        return p->read ? p->read(r->object, p, *text) : S_OK;
    if (!*text[0] && (p->kind != PROPERTY_TEXT || !p->text[0]))
        return object_put_default(r->object, p);
    if (!value_scan_text(p, *text, &v))
        return error_set(E_INVALIDARG, "%s: invalid value '%.100s' (the default is used)", p->name, *text);
    HRESULT hr = r->document->own ? give_own(r->object, p, &v) : object_give(r->object, p, &v);
    if (SUCCEEDED(hr) && (p->kind == PROPERTY_TEXT || p->kind == PROPERTY_BYTES))
        *text = NULL;
    return hr;
}

static HRESULT element_text(const struct reading *r, xmlNodePtr node, enum property_xml use, char **text)
{
    if (use == XML_INSIDE)
        return xml_element_inside(r->document, node, text);
    if (use == XML_WHOLE)
        return xml_element_whole(r->document, node, text);
    struct text_buffer b = {0};
    xml_element_text(node, &b);
    *text = text_buffer_take(&b);
    return *text ? S_OK : E_OUTOFMEMORY;
}

/* Adds the first backslash to a counter path that does not begin with a backslash. Hand-written templates have
   "Object\Counter" for "\Object\Counter" (DECISIONS 34). */
static void add_first_backslash(struct text_buffer *b, size_t from)
{
    const size_t length = b->length - from;
    if (b->failed || !length || b->text[from] == '\\' || !memchr(b->text + from, '\\', length))
        return;
    text_buffer_add_n(b, "\\", 1);
    if (!b->failed) {
        memmove(b->text + from + 1, b->text + from, length);
        b->text[from] = '\\';
    }
}

static HRESULT read_text_of_list(struct list_seen *list, const struct property *p, xmlNodePtr node)
{
    size_t from = list->texts.length;
    list->seen = true;
    xml_element_text(node, &list->texts);
    if (p->counter_paths)
        add_first_backslash(&list->texts, from);
    if (list->texts.length > from) {
        text_buffer_add_n(&list->texts, "", 1);
        list->count++;
    }
    return list->texts.failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT read_property(struct reading *r, size_t row, xmlNodePtr node)
{
    const struct property *p = &r->object->class->properties[row];
    char *text = NULL;
    if (p->kind == PROPERTY_TEXTS)
        return read_text_of_list(&r->lists[row], p, node);
    HRESULT hr = element_text(r, node, p->xml_use, &text);
    if (FAILED(hr))
        return hr;
    hr = take_text(r, p, &text);
    memory_free(text);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    /* For an invalid value, adds an issue and sets the default (behaviour 18). */
    hr = issue_of(r, hr, (const char *)node->name);
    return SUCCEEDED(hr) && p->xml_use != XML_SHOWN ? object_put_default(r->object, p) : hr;
}

/* Sets the valid items of an invalid list, and adds an issue for each invalid item. */
static HRESULT put_list_piecewise(struct reading *r, const struct property *p, const struct texts *list)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count && i < MAX_BAD_LIST; i++) {
        hr = texts_add(&v.texts, list->items[i]);
        HRESULT one = SUCCEEDED(hr) ? p->check(r->object, p, &v) : S_OK;
        if (FAILED(one)) {
            memory_free(v.texts.items[--v.texts.count]);
            hr = issue_of(r, one, p->xml);
        }
    }
    if (SUCCEEDED(hr) && list->count > MAX_BAD_LIST) {
        char text[96];
        snprintf(text, sizeof text, "the list has errors: the items after the first %u are ignored", MAX_BAD_LIST);
        hr = reading_add_issue(r, PLA_S_PROPERTY_IGNORED, p->xml, text);
    }
    if (SUCCEEDED(hr))
        hr = object_give(r->object, p, &v);
    value_free(&v);
    return hr;
}

static HRESULT put_list(struct reading *r, const struct property *p, const struct list_seen *list)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    HRESULT hr = texts_from_row(&v.texts, list->texts.text, list->texts.length, list->count);
    if (SUCCEEDED(hr))
        hr = object_give(r->object, p, &v);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = put_list_piecewise(r, p, &v.texts);
    value_free(&v);
    return hr;
}

/* Writes the lists that were read into their rows, each list as a whole. `hr` is the result of reading the lists; if
   `hr` is a failure, returns it and changes no row. */
static HRESULT put_lists(struct reading *r, HRESULT hr)
{
    for (size_t row = 0; row < r->object->class->property_count; row++) {
        struct list_seen *list = &r->lists[row];
        if (list->seen && SUCCEEDED(hr))
            hr = put_list(r, &r->object->class->properties[row], list);
        text_buffer_free(&list->texts);
    }
    return hr;
}

static bool find_row(const struct class *class, const char *element, size_t *row)
{
    for (size_t i = 0; i < class->property_count; i++) {
        const struct property *p = &class->properties[i];
        if (p->xml && (!strcmp(p->xml, element) || (p->alias && !strcmp(p->alias, element)))) {
            *row = i;
            return true;
        }
    }
    return false;
}

static HRESULT read_unknown(const struct reading *r, xmlNodePtr node)
{
    return reading_add_issue(r, PLA_S_PROPERTY_IGNORED, (const char *)node->name, "unknown element, ignored");
}

const char *const xml_ignored_elements[] = {"Index", "OutputLocation", "n", "IsKernelTrace", "Server", NULL};

static bool is_known_noise(const char *element)
{
    for (const char *const *e = xml_ignored_elements; *e; e++)
        if (!strcmp(element, *e))
            return true;
    return false;
}

/* Returns the item class of the collection that has the name of the element; NULL: no class has this name. */
static const struct class *item_class(const struct class *collection, const char *element)
{
    for (const struct class *const *c = collection->item_classes; c && *c; c++)
        if (!strcmp((*c)->name, element))
            return *c;
    return NULL;
}

static HRESULT read_object(const struct xml_document *document, struct object *draft, xmlNodePtr root, const char *path,
                           struct object *issues);

/* Creates one item of a collection from its element. */
static HRESULT read_item(const struct reading *r, const struct element *e, xmlNodePtr node)
{
    struct object *item;
    char path[256];
    snprintf(path, sizeof path, "%s%s[%u]/", r->path, e->class->name, e->count);
    if (e->count == 1 && e->collection == r->object)
        collection_clear(e->collection);
    e->collection->items_read = true;
    HRESULT hr = object_create(e->class, r->object, &item);
    if (FAILED(hr))
        return hr;
    hr = read_object(r->document, item, node, path, r->issues);
    if (SUCCEEDED(hr)) {
        hr = collection_add(e->collection, item);
        /* A duplicate name or GUID becomes an issue. Exception: reading a single collector fails for a duplicate GUID
           (MS-PLA 2.2.1). */
        if (FAILED(hr) && hr != E_OUTOFMEMORY && !(hr == PLA_E_NO_DUPLICATES && r->path[0] == '/')) {
            const struct reading of_item = {.issues = r->issues, .path = path};
            hr = issue_of(&of_item, hr, "");
        }
    }
    object_release(item);
    return hr;
}

static HRESULT read_user_value(const struct reading *r, xmlNodePtr node)
{
    char *name = NULL, *type = NULL, *text = NULL;
    HRESULT hr = xml_element_attribute(r->document, node, "name", &name);
    if (SUCCEEDED(hr))
        hr = xml_element_attribute(r->document, node, "type", &type);
    bool document = type && !strcmp(type, "document");
    if (SUCCEEDED(hr) && (!name || !name[0])) {
        hr = reading_add_issue(r, PLA_S_PROPERTY_IGNORED, "Value", "a Value element without a name is ignored");
    } else if (SUCCEEDED(hr)) {
        hr = element_text(r, node, document ? XML_INSIDE : XML_STORED, &text);
        if (SUCCEEDED(hr))
            hr = set_put_value_as(r->object, name, text, document);
    }
    memory_free(text);
    memory_free(type);
    memory_free(name);
    return hr;
}

/* Finds the class of the items with this element name. The items belong to the object, or to one of its XML_ITEMS
   collections, whose items are elements inside the object's own element. */
static bool find_item(struct object *o, const char *name, struct element *e)
{
    e->collection = o;
    e->class = item_class(o->class, name);
    for (size_t i = 0; !e->class && i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        if (p->xml_use == XML_ITEMS) {
            e->collection = object_child(o, p);
            e->class = item_class(e->collection->class, name);
        }
    }
    return e->class;
}

/* Returns the meaning of the element's name. Compares the latest name first, because elements with the same name
   usually follow one another. */
static struct element *element_of(struct reading *r, const xmlChar *name)
{
    struct element e = {.name = name};
    const char *text = (const char *)name;
    if (r->latest && r->latest->name == name)
        return r->latest;
    for (size_t i = 0; i < r->element_count; i++)
        if (r->elements[i].name == name)
            return r->latest = &r->elements[i];
    if (find_item(r->object, text, &e))
        e.what = ELEMENT_ITEM;
    else if (r->object->class == &data_collector_set_class && !strcmp(text, "Value"))
        e.what = ELEMENT_USER_VALUE;
    else if (find_row(r->object->class, text, &e.row))
        e.what = ELEMENT_ROW;
    else if (is_known_noise(text))
        e.what = ELEMENT_NOISE;
    if (e.what == ELEMENT_UNKNOWN || r->element_count == MAX_NAMES)
        return r->unknown = e, &r->unknown;
    r->latest = &r->elements[r->element_count++];
    *r->latest = e;
    return r->latest;
}

static HRESULT read_element(struct reading *r, struct element *e, xmlNodePtr node)
{
    const struct property *p = e->what == ELEMENT_ROW ? &r->object->class->properties[e->row] : NULL;
    if ((e->what == ELEMENT_ITEM || e->what == ELEMENT_USER_VALUE) && e->count++ == SET_ITEMS_MAX)
        return error_set(OPENPLA_E_MALFORMED_XML, "cannot read the XML: line %ld: more than %d '%s' elements",
                         xmlGetLineNo(node), SET_ITEMS_MAX, (const char *)e->name);
    switch (e->what) {
    case ELEMENT_ITEM:
        return read_item(r, e, node);
    case ELEMENT_USER_VALUE:
        return read_user_value(r, node);
    case ELEMENT_NOISE:
        return S_OK;
    case ELEMENT_UNKNOWN:
        return read_unknown(r, node);
    case ELEMENT_ROW:
        break;
    }
    if (p->kind == PROPERTY_OBJECT) {
        char path[256];
        snprintf(path, sizeof path, "%s%s/", r->path, p->xml);
        return read_object(r->document, object_child(r->object, p), node, path, r->issues);
    }
    return read_property(r, e->row, node);
}

/* Returns whether the row is not stored, but only read to change another row. */
static bool changes_another(const struct reading *r, const struct element *e)
{
    return e->what == ELEMENT_ROW && r->object->class->properties[e->row].read;
}

static HRESULT read_object(const struct xml_document *document, struct object *draft, xmlNodePtr root, const char *path,
                           struct object *issues)
{
    struct reading *r = memory_zero(1, sizeof *r);
    HRESULT hr = S_OK;
    bool left = false;
    if (!r)
        return E_OUTOFMEMORY;
    r->document = document;
    r->object = draft;
    r->issues = issues;
    r->path = path;
    /* Elements that change another row are read in a second pass, because they override that row regardless of the
       order of elements. */
    for (int pass = 0; pass < 1 + left; pass++)
        for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next) {
            struct element *e = n->type == XML_ELEMENT_NODE ? element_of(r, n->name) : NULL;
            bool later = e && changes_another(r, e);
            left = left || later;
            if (e && later == (pass == 1))
                hr = read_element(r, e, n);
        }
    hr = put_lists(r, hr);
    if (document->own)
        draft->rows_chosen = 0; /* the values come from the session, not from a client */
    else if (SUCCEEDED(hr))
        hr = object_forget_defaults(draft);
    memory_free(r);
    return hr;
}

/* ---- documents of sets and collectors ---- */

/* Reads the document into a draft; `o` takes ownership of the draft's values if everything succeeds. */
static HRESULT read_document(struct object *o, const struct xml_document *document, const char *path,
                             struct object *issues)
{
    struct object *draft;
    HRESULT hr = xml_document_check_root(document, o->class->name);
    if (SUCCEEDED(hr))
        hr = object_copy(o, &draft);
    if (FAILED(hr))
        return hr;
    hr = read_object(document, draft, document->root, path, issues);
    /* The draft does not belong to a set, so its name is compared with the names of the set's other collectors here. */
    if (SUCCEEDED(hr) && collection_takes(&data_collector_collection_class, o->class)) {
        const struct property *p = class_property(o->class, "Name");
        struct value name;
        hr = object_get_field(draft, p, &name);
        if (SUCCEEDED(hr) && name.text[0])
            hr = p->check(o, p, &name);
        value_free(&name);
    }
    if (SUCCEEDED(hr))
        object_take(o, draft, false);
    object_release(draft);
    return hr;
}

static HRESULT read_set(struct object *o, const char *xml, size_t size, bool own, struct object *issues)
{
    struct xml_document document;
    HRESULT hr = xml_document_open(xml, size, &document);
    document.own = own;
    if (SUCCEEDED(hr))
        hr = read_document(o, &document, "", issues);
    xml_document_close(&document);
    return hr;
}

HRESULT set_from_xml(struct object *o, const char *xml, size_t size, struct object *issues)
{
    return read_set(o, xml, size, false, issues);
}

HRESULT set_from_own_xml(struct object *o, const char *xml, size_t size)
{
    return read_set(o, xml, size, true, NULL);
}

HRESULT set_create_from_xml(const char *xml, size_t size, struct object **out)
{
    *out = NULL;
    HRESULT hr = set_create(out);
    if (SUCCEEDED(hr))
        hr = set_from_xml(*out, xml, size, NULL);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

static HRESULT read_collector(struct object *collector, const struct xml_document *document, struct object *issues)
{
    char path[128];
    snprintf(path, sizeof path, "/%s/", collector->class->name);
    return read_document(collector, document, path, issues);
}

HRESULT collector_from_xml(struct object *collector, const char *xml, size_t size, struct object *issues)
{
    struct xml_document document;
    HRESULT hr = xml_document_open(xml, size, &document);
    if (SUCCEEDED(hr))
        hr = read_collector(collector, &document, issues);
    xml_document_close(&document);
    return hr;
}

static HRESULT create_collector(struct object *beside, const struct xml_document *document, struct object *issues,
                                struct object **out)
{
    const char *root = (const char *)document->root->name;
    const struct class *class = item_class(&data_collector_collection_class, root);
    if (!class)
        return error_set(OPENPLA_E_MALFORMED_XML, "the root element '%.100s' is not a data collector", root);
    HRESULT hr = object_create(class, beside, out);
    if (SUCCEEDED(hr))
        hr = read_collector(*out, document, issues);
    return hr;
}

HRESULT collector_create_from_xml(struct object *beside, const char *xml, size_t size, struct object *issues,
                                  struct object **out)
{
    struct xml_document document;
    *out = NULL;
    HRESULT hr = xml_document_open(xml, size, &document);
    if (SUCCEEDED(hr))
        hr = create_collector(beside, &document, issues, out);
    xml_document_close(&document);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}
