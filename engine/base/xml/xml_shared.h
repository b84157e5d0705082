/* SPDX-License-Identifier: MIT */
/* Reports name each cell: equal texts of attributes become one node of libxml2's tree, which none of them is the parent
   of. XPath asks an attribute's text for nothing but its content. */
#ifndef OPENPLA_XML_SHARED_H
#define OPENPLA_XML_SHARED_H

#include <libxml/parser.h>

enum { SHARED_TEXTS = 1024 };
/* Zero-initialise; lives as long as the context parses. */
struct xml_shared {
    startElementNsSAX2Func begin; /* what the context had before */
    xmlNodePtr texts[SHARED_TEXTS];
};
/* From now on the context shares texts. To be called in xml_memory_use, as parsing is. */
void xml_shared_watch(xmlParserCtxtPtr context, struct xml_shared *s);

#endif
