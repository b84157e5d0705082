/* SPDX-License-Identifier: MIT */
#include "engine/base/xml/xml_shared.h"

#include <stdbool.h>
#include <stdint.h>
#include <libxml/tree.h>
#include <string.h>

/* What the parser gives of an attribute. */
enum { GIVEN_NAME, GIVEN_PREFIX, GIVEN_URI, GIVEN_VALUE, GIVEN_END, GIVEN };

/* A value that ends with 0 may hold references still, which libxml2's own function reads. */
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

static void start_element(void *about, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespace_count, const xmlChar **namespaces, int attribute_count, int default_count,
                          const xmlChar **attributes)
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

void xml_shared_watch(xmlParserCtxtPtr context, struct xml_shared *s)
{
    s->begin = context->sax->startElementNs;
    context->sax->startElementNs = start_element;
    context->sax->_private = s;
}
