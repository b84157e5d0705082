/* SPDX-License-Identifier: MIT */
/* Parses documents with libxml2, reads strings from them, and enforces the limits of libxml2's input. */
#include "engine/base/xml_document.h"

#include "engine/base/memory.h"
#include "engine/base/xml_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <libxml/SAX2.h>
#include <libxml/tree.h>
#include <string.h>

#define XML_MAX_SIZE    QUOTA_NUMBER_xml_bytes
#define XML_MAX_DEPTH   QUOTA_NUMBER_xml_depth /* libxml2's limit, reported with OpenPLA's message */
#define BLANKS          " \t\r\n"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* ---- shared strings of attributes ----
   A report has a name attribute for each cell. Equal attribute values therefore share one node, which has no parent in
   libxml2's tree. XPath reads only the content of such a node. */

enum { SHARED_TEXTS = 1024 };
/* Zero-initialise. The struct must exist until the context has parsed the document. */
struct xml_shared {
    startElementNsSAX2Func begin; /* the context's previous handler */
    xmlNodePtr texts[SHARED_TEXTS];
};

/* The order of an attribute's pointers in the array that the parser passes. */
enum { GIVEN_NAME, GIVEN_PREFIX, GIVEN_URI, GIVEN_VALUE, GIVEN_END, GIVEN };

/* Whether all attributes are without prefix and references. A value that is followed by a NUL can contain references,
   which libxml2's own function must resolve. */
static bool are_plain(int count, const xmlChar **given)
{
    for (int i = 0; i < count; i++)
        if (given[i * GIVEN + GIVEN_PREFIX] || !*given[i * GIVEN + GIVEN_END])
            return false;
    return true;
}

static unsigned slot_of(const xmlChar *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ text[i]) * 16777619u;
    return hash % SHARED_TEXTS;
}

static xmlNodePtr shared_text(struct xml_shared *s, xmlDocPtr doc, const xmlChar *text, size_t length)
{
    xmlNodePtr *slot = &s->texts[slot_of(text, length)];
    if (!*slot || strlen((const char *)(*slot)->content) != length || memcmp((*slot)->content, text, length) != 0)
        *slot = xmlNewDocTextLen(doc, text, (int)length);
    return *slot;
}

static void shared_start_element(void *about, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                                 int namespace_count, const xmlChar **namespaces, int attribute_count,
                                 int default_count, const xmlChar **attributes)
{
    xmlParserCtxtPtr context = about;
    struct xml_shared *s = context->sax->_private;
    const bool plain = are_plain(attribute_count, attributes);
    s->begin(about, name, prefix, uri, namespace_count, namespaces, plain ? 0 : attribute_count,
             plain ? 0 : default_count, attributes);
    if (!plain || context->disableSAX)
        return;
    for (int i = 0; i < attribute_count; i++) {
        const xmlChar **a = attributes + i * GIVEN;
        xmlAttrPtr made = xmlNewNsProp(context->node, NULL, a[GIVEN_NAME], NULL);
        if (made && a[GIVEN_END] > a[GIVEN_VALUE])
            made->children = made->last =
                shared_text(s, context->myDoc, a[GIVEN_VALUE], (size_t)(a[GIVEN_END] - a[GIVEN_VALUE]));
    }
}

/* From now on, the context shares strings. Call this function in xml_memory_use, as for parsing. */
static void xml_shared_watch(xmlParserCtxtPtr context, struct xml_shared *s)
{
    s->begin = context->sax->startElementNs;
    context->sax->startElementNs = shared_start_element;
    context->sax->_private = s;
}

/* ---- documents ---- */

static HRESULT xml_malformed(const xmlError *e)
{
    size_t n = e->message ? strcspn(e->message, "\r\n") : 0;
    if (e->message && strstr(e->message, "Excessive depth"))
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %d: elements are nested deeper than %d", e->line,
                         XML_MAX_DEPTH);
    return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %d: %.*s", e->line, (int)n,
                     e->message ? e->message : "");
}

struct parsing {
    const char *xml;
    int size, given;
    bool in_parts; /* libxml2 reads the input through read_part. If libxml2 received the input as a whole, it would copy
                      the input and limit parts of it to 10 MB. */
    xmlParserCtxtPtr context;
    xmlDocPtr doc;
    enum xml_excess excess;
    int line; /* the line at which the parser stopped because of `excess` */
    struct xml_shared *shared;
};

static int read_part(void *about, char *to, int most)
{
    struct parsing *p = about;
    const int part = p->size - p->given < most ? p->size - p->given : most;
    memcpy(to, p->xml + p->given, (size_t)part);
    p->given += part;
    return part;
}

static void xml_parse_document(void *about)
{
    struct parsing *p = about;
    p->context = xmlNewParserCtxt();
    xml_limits_watch(p->context, &p->excess);
    if (p->shared)
        xml_shared_watch(p->context, p->shared);
    /* Entities are not expanded, and nothing is loaded. */
    static const int options =
        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC | XML_PARSE_NOCDATA;
    p->doc = p->in_parts ? xmlCtxtReadIO(p->context, read_part, NULL, p, NULL, "UTF-8", options)
                         : xmlCtxtReadMemory(p->context, p->xml, p->size, NULL, "UTF-8", options);
    p->line = p->context->input ? p->context->input->line : 0;
}

static HRESULT parse_within(struct parsing *p, const struct xml_limits *limits, struct xml_document *out)
{
    struct xml_shared shared = {0};
    struct xml_memory *memory = xml_memory_create();
    p->in_parts = limits->bytes;
    p->shared = limits->shared_texts ? &shared : NULL;
    if (memory && limits->memory)
        xml_memory_limit(memory, limits->memory);
    if (memory)
        xml_memory_watch(memory, limits->stop, limits->context);
    HRESULT hr = memory ? xml_memory_use(memory, xml_parse_document, p) : E_OUTOFMEMORY;
    if (memory)
        xml_memory_watch(memory, NULL, NULL);
    if (SUCCEEDED(hr))
        hr = xml_limits_error(p->excess, p->line);
    xmlNodePtr root = SUCCEEDED(hr) && p->doc ? xmlDocGetRootElement(p->doc) : NULL;
    if (SUCCEEDED(hr) && !root)
        hr = xml_malformed(&p->context->lastError);
    else if (SUCCEEDED(hr) && (p->doc->intSubset || p->doc->extSubset))
        hr = error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: document type declarations are not allowed");
    if (FAILED(hr) || !root) {
        xml_memory_destroy(memory);
        return FAILED(hr) ? hr : OPENPLA_E_MALFORMED_XML;
    }
    *out = (struct xml_document){.memory = memory, .root = root};
    return S_OK;
}

static HRESULT open_utf8(const char *xml, size_t size, const struct xml_limits *limits, struct xml_document *out)
{
    const size_t most = limits->bytes ? limits->bytes : XML_MAX_SIZE;
    memset(out, 0, sizeof *out);
    /* Pasted text can begin with a byte order mark and whitespace before the declaration. */
    if (size >= 3 && !memcmp(xml, BYTE_ORDER_MARK, 3)) {
        xml += 3;
        size -= 3;
    }
    while (size && *xml && strchr(BLANKS, *xml)) {
        xml++;
        size--;
    }
    if (!size)
        return error_set(OPENPLA_E_MALFORMED_XML, "the XML is empty");
    if (size > most)
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: %llu bytes exceed the limit of %llu",
                         (unsigned long long)size, (unsigned long long)most);
    struct parsing p = {.xml = xml, .size = (int)size};
    HRESULT hr = xml_limits_check(xml, size);
    return SUCCEEDED(hr) ? parse_within(&p, limits, out) : hr;
}

HRESULT xml_document_open(const char *xml, size_t size, struct xml_document *out)
{
    return open_utf8(xml, size, &(struct xml_limits){0}, out);
}

HRESULT xml_document_open_any(const char *bytes, size_t size, struct xml_document *out)
{
    return xml_document_open_within(bytes, size, &(struct xml_limits){0}, out);
}

HRESULT xml_document_open_within(const char *bytes, size_t size, const struct xml_limits *limits,
                                 struct xml_document *out)
{
    const unsigned char *mark = (const unsigned char *)bytes;
    char *utf8 = NULL;
    if (size < 2 || mark[0] != 0xFF || mark[1] != 0xFE)
        return open_utf8(bytes, size, limits, out);
    memset(out, 0, sizeof *out);
    WCHAR *units = memory_alloc(size);
    HRESULT hr = units ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 1; SUCCEEDED(hr) && i < size / 2; i++)
        units[i - 1] = (WCHAR)(mark[2 * i] | mark[2 * i + 1] << 8);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(units, size / 2 - 1, true, &utf8);
    memory_free(units);
    if (SUCCEEDED(hr))
        hr = open_utf8(utf8, strlen(utf8), limits, out);
    memory_free(utf8);
    return hr;
}

void xml_document_close(struct xml_document *d)
{
    xml_memory_destroy(d->memory);
    memset(d, 0, sizeof *d);
}

HRESULT xml_document_check_root(const struct xml_document *d, const char *wanted)
{
    const char *name = d->root ? (const char *)d->root->name : "";
    return strcmp(name, wanted) != 0
               ? error_set(OPENPLA_E_MALFORMED_XML, "the root element is '%.100s', expected '%s'", name, wanted)
               : S_OK;
}

HRESULT xml_check_fragment(const char *xml, const char *root)
{
    struct xml_document d;
    if (!xml[strspn(xml, BLANKS)])
        return S_OK;
    HRESULT hr = xml_document_open(xml, strlen(xml), &d);
    if (SUCCEEDED(hr) && root)
        hr = xml_document_check_root(&d, root);
    xml_document_close(&d);
    return hr;
}

const char *xml_without_prologue(const char *xml)
{
    if (!strncmp(xml, BYTE_ORDER_MARK, 3))
        xml += 3;
    const char *declaration = xml + strspn(xml, BLANKS);
    if (strncmp(declaration, "<?xml", 5) != 0 || !declaration[5] || !strchr(BLANKS, declaration[5]))
        return xml;
    const char *behind = strstr(declaration, "?>");
    return behind ? behind + 2 : xml;
}

/* ---- strings from a document ---- */

/* Whether the element preserves whitespace. xml:space="preserve" counts only on the element itself. The contents of an
   element that contains other elements are not treated as its text. */
static bool keeps_blanks(const xmlNode *element)
{
    for (const xmlAttr *a = element->properties; a; a = a->next)
        if (!strcmp((const char *)a->name, "space") && a->ns &&
            !strcmp((const char *)a->ns->href, (const char *)XML_XML_NAMESPACE))
            return a->children && a->children->content && !strcmp((const char *)a->children->content, "preserve");
    return false;
}

static void add_trimmed(struct text_buffer *b, const char *text)
{
    while (xml_is_blank(*text))
        text++;
    size_t length = strlen(text);
    while (length && xml_is_blank(text[length - 1]))
        length--;
    text_buffer_add_n(b, text, length);
}

/* Appends the text of the nodes and of everything below them. The recursion is limited because the document's depth is
   limited. */
static void add_text(struct text_buffer *b, const xmlNode *first)
{
    for (const xmlNode *n = first; n; n = n->next)
        if (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE)
            text_buffer_add(b, (const char *)n->content);
        else if (n->type == XML_ELEMENT_NODE)
            add_text(b, n->children);
}

void xml_element_text(xmlNodePtr element, struct text_buffer *out)
{
    const xmlNode *only = element->children;
    void (*add)(struct text_buffer * b, const char *text) = keeps_blanks(element) ? text_buffer_add : add_trimmed;
    struct text_buffer b = {0};
    if (!only || (only->type == XML_TEXT_NODE && !only->next)) { /* true nearly always */
        add(out, only && only->content ? (const char *)only->content : "");
        return;
    }
    add_text(&b, only);
    add(out, b.text ? b.text : "");
    out->failed = out->failed || b.failed;
    text_buffer_free(&b);
}

struct dumping {
    xmlNodePtr first;
    bool siblings; /* also write the siblings that follow `first` */
    const xmlChar *text;
};

static void xml_dump_element(void *about)
{
    struct dumping *d = about;
    xmlBufferPtr buffer = xmlBufferCreate();
    for (xmlNodePtr n = d->first; n; n = d->siblings ? n->next : NULL)
        xmlNodeDump(buffer, n->doc, n, 0, 0);
    d->text = xmlBufferContent(buffer);
}

/* Copies the result of `work`. The result itself lives as long as the document. */
static HRESULT copy_made(const struct xml_document *d, void (*work)(void *about), void *about, const xmlChar **made,
                         char **out)
{
    HRESULT hr = xml_memory_use(d->memory, work, about);
    *out = SUCCEEDED(hr) && *made ? text_copy((const char *)*made) : NULL;
    return SUCCEEDED(hr) && *made && !*out ? E_OUTOFMEMORY : hr;
}

static HRESULT dump_copy(const struct xml_document *d, xmlNodePtr first, bool siblings, char **out)
{
    struct dumping dumping = {.first = first, .siblings = siblings, .text = BAD_CAST ""};
    return copy_made(d, xml_dump_element, &dumping, &dumping.text, out);
}

HRESULT xml_element_inside(const struct xml_document *d, xmlNodePtr element, char **out)
{
    return dump_copy(d, element->children, true, out);
}

HRESULT xml_element_whole(const struct xml_document *d, xmlNodePtr element, char **out)
{
    return dump_copy(d, element->children ? element : NULL, false, out);
}

struct writing {
    xmlNodePtr element;
    HRESULT (*write)(void *to, const char *bytes, size_t size);
    void *to;
    HRESULT hr;
};

static int write_part(void *about, const char *bytes, int size)
{
    struct writing *w = about;
    if (SUCCEEDED(w->hr))
        w->hr = w->write(w->to, bytes, (size_t)size);
    return SUCCEEDED(w->hr) ? size : -1;
}

static void write_element(void *about)
{
    struct writing *w = about;
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateIO(write_part, NULL, w, NULL);
    xmlNodeDumpOutput(buffer, w->element->doc, w->element, 0, 0, NULL);
    if (xmlOutputBufferClose(buffer) < 0 && SUCCEEDED(w->hr))
        w->hr = E_FAIL;
}

HRESULT xml_element_write(const struct xml_document *d, xmlNodePtr element,
                          HRESULT (*write)(void *to, const char *bytes, size_t size), void *to)
{
    struct writing w = {.element = element, .write = write, .to = to, .hr = S_OK};
    HRESULT hr = xml_memory_use(d->memory, write_element, &w);
    return FAILED(hr) ? hr : w.hr;
}

struct attribute {
    xmlNodePtr element;
    const char *name;
    const xmlChar *value;
};

static void get_attribute(void *about)
{
    struct attribute *a = about;
    a->value = xmlGetProp(a->element, BAD_CAST a->name);
}

HRESULT xml_element_attribute(const struct xml_document *d, xmlNodePtr element, const char *name, char **value)
{
    struct attribute a = {.element = element, .name = name};
    return copy_made(d, get_attribute, &a, &a.value, value);
}

/* ---- limits: a scan of the text before it is parsed ---- */

static unsigned lines_between(const char *from, const char *to)
{
    unsigned lines = 0;
    for (; (from = memchr(from, '\n', (size_t)(to - from))); from++)
        lines++;
    return lines;
}

/* Recognizes the characters after '<'. S_FALSE: the characters begin a tag. */
static HRESULT scan_opened(struct xml_scan *s, char c)
{
    static const struct {
        const char *begin;
        char mark;
        unsigned least;
        bool endless;
    } special[] = {{"?", '?', 1, false}, {"!--", '-', 2, false}, {"![CDATA[", ']', 2, true}, {"!DOCTYPE", 0, 0, false}};
    const size_t n = strlen(s->opened);
    s->opened[n] = c;
    s->opened[n + 1] = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strncmp(special[i].begin, s->opened, n + 1) != 0)
            continue;
        if (special[i].begin[n + 1])
            return S_OK; /* more characters are needed */
        if (!special[i].mark)
            return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: document type declarations are not allowed");
        s->state = XML_SCAN_ENCLOSED;
        s->mark = special[i].mark;
        s->least = special[i].least;
        s->endless = special[i].endless;
        s->run = 0;
        return S_OK;
    }
    s->state = XML_SCAN_TAG;
    return S_FALSE; /* `c` is part of the tag */
}

static void scan_enclosed(struct xml_scan *s, char c)
{
    if (c == '>' && s->run >= s->least)
        s->state = XML_SCAN_TEXT;
    s->run = c == s->mark ? s->run + 1 : 0;
}

/* Counts the values in a tag. Each attribute has one quoted value. */
static void scan_tag(struct xml_scan *s, char c)
{
    if (c == '>') {
        s->state = XML_SCAN_TEXT;
    } else if (c == '"' || c == '\'') {
        s->state = XML_SCAN_VALUE;
        s->mark = c;
        s->values++;
    }
}

/* Returns the end of the part that needs no check: the next '<', the quote that ends a value, or a character that
   scan_tag handles. */
static const char *scan_skip(const struct xml_scan *s, const char *at, const char *end)
{
    static const bool of_tag[256] = {['>'] = true, ['"'] = true, ['\''] = true};
    if (s->state == XML_SCAN_TAG) { /* tags are short: a loop is faster than searches for three characters */
        while (at < end && !of_tag[(unsigned char)*at])
            at++;
        return at;
    }
    const char *found = memchr(at, s->state == XML_SCAN_TEXT ? '<' : s->mark, (size_t)(end - at));
    return found ? found : end;
}

static HRESULT scan_one(struct xml_scan *s, char c)
{
    HRESULT hr = S_OK;
    switch (s->state) {
    case XML_SCAN_TEXT:
        s->state = XML_SCAN_OPENED;
        s->opened[0] = 0;
        s->values = 0;
        s->length = 0;
        break;
    case XML_SCAN_OPENED:
        if (s->opened[0] || c == '?' || c == '!')
            hr = scan_opened(s, c);
        else { /* true nearly always: only '?' and '!' begin something other than a tag */
            s->state = XML_SCAN_TAG;
            hr = S_FALSE;
        }
        if (hr == S_FALSE)
            scan_tag(s, c);
        break;
    case XML_SCAN_TAG:
        scan_tag(s, c);
        break;
    case XML_SCAN_VALUE:
        s->state = XML_SCAN_TAG;
        break;
    case XML_SCAN_ENCLOSED:
        scan_enclosed(s, c);
        break;
    }
    return FAILED(hr) ? hr : S_OK;
}

HRESULT xml_scan(struct xml_scan *s, const char *text, size_t size)
{
    const char *const end = text + size;
    for (const char *at = text; at < end; at++) {
        if (s->state != XML_SCAN_OPENED && s->state != XML_SCAN_ENCLOSED) {
            const char *found = scan_skip(s, at, end);
            s->length += (size_t)(found - at);
            if (found == end)
                break;
            at = found;
        }
        HRESULT hr = scan_one(s, *at);
        if (FAILED(hr))
            return hr;
        s->length++;
        if (s->values > XML_MAX_ATTRIBUTES)
            return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %u: an element has more than %u attributes",
                             s->line + 1 + lines_between(text, at), XML_MAX_ATTRIBUTES);
    }
    if (s->longest && s->state != XML_SCAN_TEXT && s->length > s->longest &&
        !(s->state == XML_SCAN_ENCLOSED && s->endless))
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %u: a tag or comment of more than %llu bytes",
                         s->line + 1, (unsigned long long)s->longest);
    s->line += lines_between(text, end);
    return S_OK;
}

HRESULT xml_limits_check(const char *xml, size_t size)
{
    struct xml_scan s = {0};
    /* Text without quotes has no attributes, and text without '!' has no declarations, so such text needs no scan.
       Stored sets contain neither quotes nor '!'. */
    if (!memchr(xml, '"', size) && !memchr(xml, '\'', size) && !memchr(xml, '!', size))
        return S_OK;
    return xml_scan(&s, xml, size);
}

/* ---- limits: each element as it is parsed ---- */

enum xml_excess xml_excess_of(xmlParserCtxtPtr context)
{
    if (context->nsNr > 2 * XML_MAX_NAMESPACES) /* two entries per namespace: prefix and URI */
        return XML_EXCESS_NAMESPACES;
    return context->dict && xmlDictSize(context->dict) > XML_MAX_NAMES ? XML_EXCESS_NAMES : XML_NO_EXCESS;
}

static void start_element(void *about, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespace_count, const xmlChar **namespaces, int attribute_count, int default_count,
                          const xmlChar **attributes)
{
    xmlParserCtxtPtr context = about;
    enum xml_excess *found = context->_private;
    *found = xml_excess_of(context);
    if (*found != XML_NO_EXCESS)
        xmlStopParser(context);
    else
        xmlSAX2StartElementNs(context, name, prefix, uri, namespace_count, namespaces, attribute_count, default_count,
                              attributes);
}

void xml_limits_watch(xmlParserCtxtPtr context, enum xml_excess *found)
{
    *found = XML_NO_EXCESS;
    context->_private = found;
    context->sax->startElementNs = start_element;
}

HRESULT xml_limits_error(enum xml_excess found, int line)
{
    switch (found) {
    case XML_EXCESS_NAMESPACES:
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %d: more than %u namespaces are declared", line,
                         XML_MAX_NAMESPACES);
    case XML_EXCESS_NAMES:
        return error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: line %d: more than %u different names", line,
                         XML_MAX_NAMES);
    case XML_NO_EXCESS:
        break;
    }
    return S_OK;
}
