/* SPDX-License-Identifier: MIT */
/* From XML to objects: the first of the four steps parse, defaults, validate, format. pla-behaviour 18. */
#include "engine/model/model.h"

#include "engine/os/memory.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <string.h>

#define XML_MAX_SIZE   (16u << 20) /* bytes; the largest templates known have 100 KB */
#define MAX_ROWS       64          /* more rows than any class has */
#define MAX_BAD_LIST   4096        /* items of a list with errors that are tried one by one */

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

/* ---- one object ---- */

struct reading {
    struct object *object;
    struct object *issues;
    const char *path; /* put before a property's name in an issue's key */
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

/* The value that `text` stands for; false when it stands for none. Texts are borrowed from `text`. */
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
    case PROPERTY_TEXT:
        v->text = text;
        return true;
    default:
        return false;
    }
}

static HRESULT read_property(struct reading *r, size_t row, xmlNodePtr node)
{
    const struct property *p = &r->object->class->properties[row];
    const char *element = (const char *)node->name;
    char *text = content(node);
    HRESULT hr = S_OK;
    struct value v;
    if (!text)
        return E_OUTOFMEMORY;
    if (p->xml_use == XML_SHOWN) {
        hr = p->read ? p->read(r->object, p, text) : S_OK;
    } else if (p->kind == PROPERTY_TEXTS) {
        r->lists[row].seen = true;
        hr = text[0] ? texts_add(&r->lists[row].texts, text) : S_OK;
    } else if (!text[0] && p->kind != PROPERTY_TEXT) {
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
    if (SUCCEEDED(told) && p->xml_use == XML_STORED)
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
        if (p->xml_use != XML_HIDDEN && (!strcmp(p->xml, element) || (p->alias && !strcmp(p->alias, element)))) {
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

/* Elements of collectors that a real export has and that nothing is made of. */
static bool is_known_noise(const char *element)
{
    return !strcmp(element, "Index") || !strcmp(element, "OutputLocation") || !strcmp(element, "n");
}

static HRESULT read_collector_element(struct reading *r, xmlNodePtr node)
{
    size_t row;
    if (find_row(r->object->class, (const char *)node->name, &row))
        return read_property(r, row, node);
    return is_known_noise((const char *)node->name) ? S_OK : read_unknown(r, node);
}

static HRESULT read_collector(struct object *collector, xmlNodePtr root, const char *path, struct object *issues)
{
    struct reading r = {.object = collector, .issues = issues, .path = path};
    HRESULT hr = S_OK;
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next)
        if (n->type == XML_ELEMENT_NODE)
            hr = read_collector_element(&r, n);
    HRESULT put = put_lists(&r);
    return FAILED(hr) ? hr : put;
}

/* ---- sets ---- */

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

/* Which of its kind the element is among its siblings, from one, as issue keys count. */
static unsigned ordinal(xmlNodePtr node)
{
    unsigned n = 1;
    for (xmlNodePtr s = node->prev; s; s = s->prev)
        if (s->type == XML_ELEMENT_NODE && !xmlStrcmp(s->name, node->name))
            n++;
    return n;
}

static HRESULT read_set_collector(const struct reading *r, const struct class *class, xmlNodePtr node)
{
    struct data_collector_set *set = (struct data_collector_set *)r->object;
    struct object *collector;
    char path[128];
    snprintf(path, sizeof path, "%s%s[%u]/", r->path, class->name, ordinal(node));
    HRESULT hr = object_create(class, r->object, &collector);
    if (FAILED(hr))
        return hr;
    hr = read_collector(collector, node, path, r->issues);
    if (SUCCEEDED(hr)) {
        hr = collection_add(set->DataCollectors, collector);
        if (hr == PLA_E_DC_ALREADY_EXISTS) {
            char *why = text_copy(error_text(hr));
            hr = why ? issues_add(r->issues, PLA_E_DC_ALREADY_EXISTS, path, why) : E_OUTOFMEMORY;
            memory_free(why);
        }
    }
    object_release(collector);
    return hr;
}

static HRESULT read_set_element(struct reading *r, xmlNodePtr node, bool *has_collectors)
{
    const char *element = (const char *)node->name;
    const struct class *class = collector_class_of_element(element);
    size_t row;
    if (class) {
        *has_collectors = true;
        return read_set_collector(r, class, node);
    }
    if (!strcmp(element, "Value"))
        return read_user_value(r, node);
    if (find_row(r->object->class, element, &row))
        return read_property(r, row, node);
    return is_known_noise(element) ? S_OK : read_unknown(r, node);
}

static HRESULT wrong_root(xmlNodePtr root, const char *wanted)
{
    return error_set(OPENPLA_E_MALFORMED_XML, "the root element is '%.100s', not '%s'", (const char *)root->name, wanted);
}

HRESULT set_from_xml(struct object *o, const char *xml, size_t size, struct object *issues)
{
    struct data_collector_set *set = (struct data_collector_set *)o;
    struct object *draft = NULL;
    bool has_collectors = false;
    xmlDocPtr doc;
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    xmlNodePtr root = xmlDocGetRootElement(doc);
    if (xmlStrcmp(root->name, BAD_CAST data_collector_set_class.name))
        hr = wrong_root(root, data_collector_set_class.name);
    if (SUCCEEDED(hr))
        hr = object_copy(o, &draft);
    if (SUCCEEDED(hr)) {
        struct reading r = {.object = draft, .issues = issues, .path = ""};
        for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next)
            if (n->type == XML_ELEMENT_NODE)
                hr = read_set_element(&r, n, &has_collectors);
        HRESULT put = put_lists(&r);
        hr = FAILED(hr) ? hr : put;
    }
    if (SUCCEEDED(hr)) {
        object_exchange(o, draft);
        /* Collectors in the XML take the place of the set's; without any the set keeps its own (pla-behaviour 18). */
        if (has_collectors)
            collection_exchange(set->DataCollectors, ((struct data_collector_set *)draft)->DataCollectors);
    }
    object_release(draft);
    xmlFreeDoc(doc);
    return hr;
}

/* ---- collectors ---- */

static HRESULT read_collector_document(struct object *collector, xmlDocPtr doc, struct object *issues)
{
    struct object *draft;
    char path[128];
    HRESULT hr = object_copy(collector, &draft);
    if (FAILED(hr))
        return hr;
    snprintf(path, sizeof path, "/%s/", collector->class->name);
    hr = read_collector(draft, xmlDocGetRootElement(doc), path, issues);
    /* The draft stands alone, so its name is held against the set's others only now. */
    if (SUCCEEDED(hr)) {
        const struct property *p = class_property(collector->class, "Name");
        struct value name;
        hr = object_get_field(draft, p, &name);
        if (SUCCEEDED(hr) && name.text[0])
            hr = p->check(collector, p, &name);
        value_free(&name);
    }
    if (SUCCEEDED(hr))
        object_exchange(collector, draft);
    object_release(draft);
    return hr;
}

HRESULT collector_from_xml(struct object *collector, const char *xml, size_t size, struct object *issues)
{
    xmlDocPtr doc;
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    xmlNodePtr root = xmlDocGetRootElement(doc);
    hr = xmlStrcmp(root->name, BAD_CAST collector->class->name) ? wrong_root(root, collector->class->name)
                                                                : read_collector_document(collector, doc, issues);
    xmlFreeDoc(doc);
    return hr;
}

HRESULT collector_create_from_xml(struct object *beside, const char *xml, size_t size, struct object *issues,
                                  struct object **out)
{
    xmlDocPtr doc;
    struct object *collector = NULL;
    *out = NULL;
    HRESULT hr = parse(xml, size, &doc);
    if (FAILED(hr))
        return hr;
    xmlNodePtr root = xmlDocGetRootElement(doc);
    const struct class *class = collector_class_of_element((const char *)root->name);
    hr = class ? object_create(class, beside, &collector) : wrong_root(root, "PerformanceCounterDataCollector");
    if (SUCCEEDED(hr))
        hr = read_collector_document(collector, doc, issues);
    xmlFreeDoc(doc);
    if (FAILED(hr)) {
        object_release(collector);
        return hr;
    }
    *out = collector;
    return S_OK;
}
