/* SPDX-License-Identifier: MIT */
/* From XML to objects: the first of the four steps parse, defaults, validate, format. pla-behaviour 18. */
#include "engine/model/model.h"

#include "engine/os/memory.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define XML_MAX_SIZE (16u << 20) /* bytes; the largest templates known have 100 KB */
#define MAX_ROWS     64          /* more rows than any class has */
#define MAX_BAD_LIST 4096        /* items of a list with errors that are tried one by one */

/* ---- documents ---- */

static HRESULT parse(const char *xml, size_t size, xmlDocPtr *out)
{
    /* A byte order mark, and blanks before the declaration, are what people paste. */
    if (size >= 3 && !memcmp(xml, "\xEF\xBB\xBF", 3)) {
        xml += 3;
        size -= 3;
    }
    while (size && strchr(" \t\r\n", *xml)) {
        xml++;
        size--;
    }
    *out = NULL;
    if (!size)
        return error_set(OPENPLA_E_MALFORMED_XML, "the XML is empty");
    if (size > XML_MAX_SIZE)
        return error_set(OPENPLA_E_MALFORMED_XML, "the XML has %llu bytes, more than %u", (unsigned long long)size,
                         XML_MAX_SIZE);
    xmlParserCtxtPtr context = xmlNewParserCtxt();
    if (!context)
        return E_OUTOFMEMORY;
    /* The text is UTF-8 whatever its declaration says (DECISIONS 3). Entities are not expanded, nothing is loaded. */
    xmlDocPtr doc = xmlCtxtReadMemory(context, xml, (int)size, NULL, "UTF-8",
                                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC |
                                          XML_PARSE_NOCDATA);
    HRESULT hr = S_OK;
    if (!doc) {
        const xmlError *e = &context->lastError;
        if (e->code == XML_ERR_NO_MEMORY) {
            hr = E_OUTOFMEMORY;
        } else {
            size_t n = e->message ? strcspn(e->message, "\r\n") : 0;
            hr = error_set(OPENPLA_E_MALFORMED_XML, "the XML is not well-formed: line %d: %.*s", e->line, (int)n,
                           e->message ? e->message : "");
        }
    } else if (doc->intSubset || doc->extSubset) {
        hr = error_set(OPENPLA_E_MALFORMED_XML, "the XML has a document type declaration; they are refused");
    }
    xmlFreeParserCtxt(context);
    if (FAILED(hr)) {
        xmlFreeDoc(doc);
        return hr;
    }
    *out = doc;
    return S_OK;
}

/* Text below the element, trimmed. From memory_alloc. */
static char *content(xmlNodePtr node)
{
    xmlChar *raw = xmlNodeGetContent(node);
    if (!raw)
        return NULL;
    const char *start = (const char *)raw + strspn((const char *)raw, " \t\r\n");
    size_t length = strlen(start);
    while (length && strchr(" \t\r\n", start[length - 1]))
        length--;
    char *text = text_copy_n(start, length);
    xmlFree(raw);
    return text;
}

/* What is between the element's tags, as XML. From memory_alloc. */
static char *inner_xml(xmlNodePtr node)
{
    xmlBufferPtr buffer = xmlBufferCreate();
    if (!buffer)
        return NULL;
    for (xmlNodePtr n = node->children; n; n = n->next)
        xmlNodeDump(buffer, node->doc, n, 0, 0);
    char *text = text_copy((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

/* The element itself as XML; nothing when it is empty. */
static char *outer_xml(xmlNodePtr node)
{
    xmlBufferPtr buffer = xmlBufferCreate();
    if (!buffer)
        return NULL;
    if (node->children)
        xmlNodeDump(buffer, node->doc, node, 0, 0);
    char *text = text_copy((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

static HRESULT wrong_root(xmlNodePtr root, const char *wanted)
{
    return error_set(OPENPLA_E_MALFORMED_XML, "the root element is '%.100s', not '%s'", (const char *)root->name,
                     wanted);
}

HRESULT xml_check_fragment(const char *xml, const char *root)
{
    xmlDocPtr doc;
    if (!xml[strspn(xml, " \t\r\n")])
        return S_OK;
    HRESULT hr = parse(xml, strlen(xml), &doc);
    if (FAILED(hr))
        return hr;
    xmlNodePtr top = xmlDocGetRootElement(doc);
    if (root && xmlStrcmp(top->name, BAD_CAST root))
        hr = wrong_root(top, root);
    xmlFreeDoc(doc);
    return hr;
}

/* ---- one object ---- */

struct reading {
    struct object *object;
    struct object *issues;
    const char *path; /* put before a property's name in an issue's key */
    bool items;       /* an item of the object itself was read */
    struct list_seen {
        bool seen; /* the elements of a list replace what the object had */
        struct texts texts;
    } lists[MAX_ROWS]; /* per row */
};

static HRESULT issue(const struct reading *r, HRESULT found, const char *element, const char *text)
{
    char key[512];
    snprintf(key, sizeof key, "%s%s", r->path, element);
    return issues_add(r->issues, found, key, text);
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

/* Hexadecimal digits, two a byte, in place of the text itself, which is as long at least. */
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

/* The value that `text` stands for; false when it stands for none. What it points to is borrowed from `text`. */
static bool scan(const struct property *p, char *text, struct value *v)
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
        if (!text_to_i64(text, &n) || n < INT32_MIN || n > UINT32_MAX)
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
        if (text_to_i64(text, &v->variant.integer))
            return true;
        return text_to_u64(text, (uint64_t *)&v->variant.integer);
    default:
        return false;
    }
}

static HRESULT read_property(struct reading *r, size_t row, xmlNodePtr node)
{
    const struct property *p = &r->object->class->properties[row];
    const char *element = (const char *)node->name;
    char *text = p->xml_use == XML_INSIDE ? inner_xml(node) : p->xml_use == XML_WHOLE ? outer_xml(node) : content(node);
    HRESULT hr = S_OK;
    struct value v;
    if (!text)
        return E_OUTOFMEMORY;
    if (p->xml_use == XML_SHOWN) {
        hr = p->read ? p->read(r->object, p, text) : S_OK;
    } else if (p->kind == PROPERTY_TEXTS) {
        r->lists[row].seen = true;
        hr = text[0] ? texts_add(&r->lists[row].texts, text) : S_OK;
    } else if (!text[0] && (p->kind != PROPERTY_TEXT || !p->text[0])) {
        hr = object_put_default(r->object, p);
    } else if (!scan(p, text, &v)) {
        hr = error_set(E_INVALIDARG, "%s: '%.100s' is no value for it; the default is used", p->name, text);
    } else {
        hr = object_put(r->object, p, &v);
    }
    memory_free(text);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    /* What cannot be taken becomes the default, and an issue (pla-behaviour 18). */
    char *why = text_copy(error_text(hr));
    HRESULT told = why ? issue(r, hr, element, why) : E_OUTOFMEMORY;
    memory_free(why);
    if (SUCCEEDED(told) && p->xml_use != XML_SHOWN)
        told = object_put_default(r->object, p);
    return told;
}

/* Puts a list that is not right as a whole: what can be taken of it is. */
static HRESULT put_list_piecewise(struct reading *r, const struct property *p, const struct texts *list)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count && i < MAX_BAD_LIST; i++) {
        hr = texts_add(&v.texts, list->items[i]);
        if (SUCCEEDED(hr) && FAILED(p->check(r->object, p, &v)))
            memory_free(v.texts.items[--v.texts.count]);
    }
    if (SUCCEEDED(hr))
        hr = object_put(r->object, p, &v);
    value_free(&v);
    return hr;
}

/* The lists that were read, each put whole. */
static HRESULT put_lists(struct reading *r)
{
    HRESULT hr = S_OK;
    for (size_t row = 0; row < MAX_ROWS; row++) {
        struct list_seen *list = &r->lists[row];
        if (list->seen && SUCCEEDED(hr)) {
            const struct property *p = &r->object->class->properties[row];
            struct value v = {.kind = PROPERTY_TEXTS, .texts = list->texts};
            hr = object_put(r->object, p, &v);
            if (FAILED(hr) && hr != E_OUTOFMEMORY) {
                char *why = text_copy(error_text(hr));
                hr = why ? issue(r, hr, p->xml, why) : E_OUTOFMEMORY;
                memory_free(why);
                if (SUCCEEDED(hr))
                    hr = put_list_piecewise(r, p, &list->texts);
            }
        }
        texts_free(&list->texts);
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
    return issue(r, PLA_S_PROPERTY_IGNORED, (const char *)node->name, "the element is not known and is ignored");
}

const char *const xml_ignored_elements[] = {"Index",     "OutputLocation", "n",      "IsKernelTrace",
                                            "SessionId", "EndTime",        "Server", NULL};

static bool is_known_noise(const char *element)
{
    for (const char *const *e = xml_ignored_elements; *e; e++)
        if (!strcmp(element, *e))
            return true;
    return false;
}

/* The class among a collection's that has the element's name. */
static const struct class *item_class(const struct class *collection, const char *element)
{
    for (const struct class *const *c = collection->item_classes; c && *c; c++)
        if (!strcmp((*c)->name, element))
            return *c;
    return NULL;
}

static HRESULT read_object(struct object *draft, xmlNodePtr root, const char *path, struct object *issues);

/* Which of its kind the element is among its siblings, from one, as issue keys count. */
static unsigned ordinal(xmlNodePtr node)
{
    unsigned n = 1;
    for (xmlNodePtr s = node->prev; s; s = s->prev)
        if (s->type == XML_ELEMENT_NODE && !xmlStrcmp(s->name, node->name))
            n++;
    return n;
}

/* One item of a collection, new from its element. */
static HRESULT read_item(const struct reading *r, struct object *collection, const struct class *class, xmlNodePtr node)
{
    struct object *item;
    char path[256];
    snprintf(path, sizeof path, "%s%s[%u]/", r->path, class->name, ordinal(node));
    HRESULT hr = object_create(class, r->object, &item);
    if (FAILED(hr))
        return hr;
    hr = read_object(item, node, path, r->issues);
    if (SUCCEEDED(hr)) {
        hr = collection_add(collection, item);
        if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* a second one of the name, or of the GUID */
            char *why = text_copy(error_text(hr));
            hr = why ? issues_add(r->issues, hr, path, why) : E_OUTOFMEMORY;
            memory_free(why);
        }
    }
    object_release(item);
    return hr;
}

static struct object *child_of(struct object *o, const struct property *p)
{
    return *(struct object **)((char *)o + p->offset);
}

/* Items of the object, and of its collections that have no element of their own; S_FALSE: it is none. */
static HRESULT read_as_item(struct reading *r, xmlNodePtr node)
{
    const char *element = (const char *)node->name;
    const struct class *class = item_class(r->object->class, element);
    if (class) {
        if (!r->items)
            collection_clear(r->object);
        r->items = r->object->items_read = true;
        return read_item(r, r->object, class, node);
    }
    for (size_t i = 0; i < r->object->class->property_count; i++) {
        const struct property *p = &r->object->class->properties[i];
        struct object *collection = p->xml_use == XML_ITEMS ? child_of(r->object, p) : NULL;
        class = collection ? item_class(collection->class, element) : NULL;
        if (class) {
            collection->items_read = true;
            return read_item(r, collection, class, node);
        }
    }
    return S_FALSE;
}

static HRESULT read_user_value(const struct reading *r, xmlNodePtr node)
{
    xmlChar *name = xmlGetProp(node, BAD_CAST "name"), *type = xmlGetProp(node, BAD_CAST "type");
    bool document = type && !xmlStrcmp(type, BAD_CAST "document");
    HRESULT hr;
    if (!name || !name[0]) {
        hr = issue(r, PLA_S_PROPERTY_IGNORED, "Value", "a Value element without a name is ignored");
    } else {
        char *text = document ? inner_xml(node) : content(node);
        hr = text ? set_put_value_as(r->object, (const char *)name, text, document) : E_OUTOFMEMORY;
        memory_free(text);
    }
    xmlFree(name);
    xmlFree(type);
    return hr;
}

static HRESULT read_element(struct reading *r, xmlNodePtr node)
{
    const char *element = (const char *)node->name;
    size_t row;
    HRESULT hr = read_as_item(r, node);
    if (hr != S_FALSE)
        return hr;
    if (r->object->class == &data_collector_set_class && !strcmp(element, "Value"))
        return read_user_value(r, node);
    if (!find_row(r->object->class, element, &row))
        return is_known_noise(element) ? S_OK : read_unknown(r, node);
    const struct property *p = &r->object->class->properties[row];
    if (p->kind == PROPERTY_OBJECT) {
        char path[256];
        snprintf(path, sizeof path, "%s%s/", r->path, p->xml);
        return read_object(child_of(r->object, p), node, path, r->issues);
    }
    return read_property(r, row, node);
}

/* Whether the element's row is not stored itself and is read for the sake of another one. */
static bool changes_another(const struct class *class, xmlNodePtr node)
{
    size_t row;
    return find_row(class, (const char *)node->name, &row) && class->properties[row].read;
}

static HRESULT read_object(struct object *draft, xmlNodePtr root, const char *path, struct object *issues)
{
    struct reading *r = memory_zero(1, sizeof *r);
    HRESULT hr = S_OK;
    if (!r)
        return E_OUTOFMEMORY;
    r->object = draft;
    r->issues = issues;
    r->path = path;
    /* What changes another row's value stands over it, in whatever order the two come. */
    for (int pass = 0; pass < 2; pass++)
        for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next)
            if (n->type == XML_ELEMENT_NODE && changes_another(draft->class, n) == (pass == 1))
                hr = read_element(r, n);
    HRESULT put = put_lists(r);
    memory_free(r);
    return FAILED(hr) ? hr : put;
}

/* ---- documents of sets and collectors ---- */

/* Reads the document into a draft of `o`, which takes it over when all has gone well. */
static HRESULT read_document(struct object *o, xmlDocPtr doc, const char *path, struct object *issues)
{
    struct object *draft;
    xmlNodePtr root = xmlDocGetRootElement(doc);
    if (xmlStrcmp(root->name, BAD_CAST o->class->name))
        return wrong_root(root, o->class->name);
    HRESULT hr = object_copy(o, &draft);
    if (FAILED(hr))
        return hr;
    hr = read_object(draft, root, path, issues);
    /* The draft stands alone, so a collector's name is held against its set's others only now. */
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

HRESULT set_from_xml(struct object *o, const char *xml, size_t size, struct object *issues)
{
    xmlDocPtr doc;
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    hr = read_document(o, doc, "", issues);
    xmlFreeDoc(doc);
    return hr;
}

HRESULT collector_from_xml(struct object *collector, const char *xml, size_t size, struct object *issues)
{
    xmlDocPtr doc;
    char path[128];
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    snprintf(path, sizeof path, "/%s/", collector->class->name);
    hr = read_document(collector, doc, path, issues);
    xmlFreeDoc(doc);
    return hr;
}

HRESULT collector_create_from_xml(struct object *beside, const char *xml, size_t size, struct object *issues,
                                  struct object **out)
{
    xmlDocPtr doc;
    struct object *collector = NULL;
    char path[128];
    *out = NULL;
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    xmlNodePtr root = xmlDocGetRootElement(doc);
    const struct class *class = item_class(&data_collector_collection_class, (const char *)root->name);
    if (class)
        hr = object_create(class, beside, &collector);
    else
        hr = error_set(OPENPLA_E_MALFORMED_XML, "the root element is '%.100s', which is no data collector's",
                       (const char *)root->name);
    if (class && SUCCEEDED(hr)) {
        snprintf(path, sizeof path, "/%s/", class->name);
        hr = read_document(collector, doc, path, issues);
    }
    xmlFreeDoc(doc);
    if (FAILED(hr)) {
        object_release(collector);
        return hr;
    }
    *out = collector;
    return S_OK;
}
