/* SPDX-License-Identifier: MIT */
/* Bounds of XML texts: a pass over the text, and a look at each element as it is parsed. */
#include "engine/model/xml_bounds.h"

#include "engine/model/model.h"

#include <libxml/SAX2.h>
#include <string.h>

/* ---- before the parser ---- */

static bool begins(const char *at, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - at) >= n && !memcmp(at, with, n);
}

/* Behind the next `mark`, or the end. */
static const char *behind(const char *at, const char *end, const char *mark)
{
    size_t n = strlen(mark);
    while ((size_t)(end - at) >= n) {
        at = memchr(at, mark[0], (size_t)(end - at) - n + 1);
        if (!at)
            return end;
        if (!memcmp(at, mark, n))
            return at + n;
        at++;
    }
    return end;
}

/* Behind the tag that begins at `at`. Each attribute has one quoted value. */
static const char *behind_tag(const char *at, const char *end, unsigned *values)
{
    for (*values = 0; at < end && *at != '>'; at++) {
        if (*at != '"' && *at != '\'')
            continue;
        ++*values;
        at = memchr(at + 1, *at, (size_t)(end - at) - 1);
        if (!at)
            return end;
    }
    return at;
}

static unsigned line_of(const char *xml, const char *at)
{
    unsigned line = 1;
    for (; xml < at; xml++)
        line += *xml == '\n';
    return line;
}

HRESULT xml_bounds_check(const char *xml, size_t size)
{
    const char *at = xml, *const end = xml + size;
    unsigned values;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        if (begins(at, end, "<!--")) {
            at = behind(at + 4, end, "-->");
        } else if (begins(at, end, "<![CDATA[")) {
            at = behind(at + 9, end, "]]>");
        } else if (begins(at, end, "<?")) {
            at = behind(at + 2, end, "?>");
        } else if (begins(at, end, "<!DOCTYPE")) {
            return error_set(OPENPLA_E_MALFORMED_XML, "the XML has a document type declaration; they are refused");
        } else {
            const char *tag = at;
            at = behind_tag(at + 1, end, &values);
            if (values > XML_MAX_ATTRIBUTES)
                return error_set(OPENPLA_E_MALFORMED_XML,
                                 "the XML is not taken: line %u: an element has more than %u attributes",
                                 line_of(xml, tag), XML_MAX_ATTRIBUTES);
        }
    }
    return S_OK;
}

/* ---- while it parses ---- */

static enum xml_excess excess_of(xmlParserCtxtPtr context)
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
    *found = excess_of(context);
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
