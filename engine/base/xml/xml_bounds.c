/* SPDX-License-Identifier: MIT */
/* Bounds of XML texts: a pass over the text, and a look at each element as it is parsed. */
#include "engine/base/xml_bounds.h"

#include <libxml/SAX2.h>
#include <string.h>

/* ---- before the parser ---- */

static unsigned lines_between(const char *from, const char *to)
{
    unsigned lines = 0;
    for (; (from = memchr(from, '\n', (size_t)(to - from))); from++)
        lines++;
    return lines;
}

/* What is behind '<': S_FALSE when it is a tag. */
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
            return S_OK; /* more of it has to be seen */
        if (!special[i].mark)
            return error_set(OPENPLA_E_MALFORMED_XML, "the XML has a document type declaration; they are refused");
        s->state = XML_SCAN_ENCLOSED;
        s->mark = special[i].mark;
        s->least = special[i].least;
        s->endless = special[i].endless;
        s->run = 0;
        return S_OK;
    }
    s->state = XML_SCAN_TAG;
    return S_FALSE; /* `c` is of the tag */
}

static void scan_enclosed(struct xml_scan *s, char c)
{
    if (c == '>' && s->run >= s->least)
        s->state = XML_SCAN_TEXT;
    s->run = c == s->mark ? s->run + 1 : 0;
}

/* Each attribute has one quoted value. */
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

/* Where the parts of the text end that need no look: the next '<', a value's quote. */
static const char *scan_skip(const struct xml_scan *s, const char *at, const char *end)
{
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
        hr = scan_opened(s, c);
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
        if (s->state == XML_SCAN_TEXT || s->state == XML_SCAN_VALUE) {
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
            return error_set(OPENPLA_E_MALFORMED_XML,
                             "the XML is not taken: line %u: an element has more than %u attributes",
                             s->line + 1 + lines_between(text, at), XML_MAX_ATTRIBUTES);
    }
    if (s->longest && s->state != XML_SCAN_TEXT && s->length > s->longest &&
        !(s->state == XML_SCAN_ENCLOSED && s->endless))
        return error_set(OPENPLA_E_MALFORMED_XML,
                         "the XML is not taken: line %u: a tag or comment of more than %llu bytes", s->line + 1,
                         (unsigned long long)s->longest);
    s->line += lines_between(text, end);
    return S_OK;
}

HRESULT xml_bounds_check(const char *xml, size_t size)
{
    struct xml_scan s = {0};
    return xml_scan(&s, xml, size);
}

/* ---- while it parses ---- */

enum xml_excess xml_excess_of(xmlParserCtxtPtr context)
{
    if (context->nsNr > 2 * XML_MAX_NAMESPACES) /* prefix and name of each */
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

void xml_bounds_watch(xmlParserCtxtPtr context, enum xml_excess *found)
{
    *found = XML_NO_EXCESS;
    context->_private = found;
    context->sax->startElementNs = start_element;
}

HRESULT xml_bounds_error(enum xml_excess found, int line)
{
    switch (found) {
    case XML_EXCESS_NAMESPACES:
        return error_set(OPENPLA_E_MALFORMED_XML, "the XML is not taken: line %d: more than %u namespaces are declared",
                         line, XML_MAX_NAMESPACES);
    case XML_EXCESS_NAMES:
        return error_set(OPENPLA_E_MALFORMED_XML, "the XML is not taken: line %d: it has more than %u different names",
                         line, XML_MAX_NAMES);
    case XML_NO_EXCESS:
        break;
    }
    return S_OK;
}
