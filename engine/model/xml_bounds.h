/* SPDX-License-Identifier: MIT */
/* Bounds of what libxml2 is given: it takes a time that grows with the square of the attributes of an element, of the
   namespaces in scope and of the names. Only xml_document.c includes this. */
#ifndef OPENPLA_XML_BOUNDS_H
#define OPENPLA_XML_BOUNDS_H

#include "engine/os/text.h"

#include <libxml/parser.h>

/* Far more than a set that says something has. */
#define XML_MAX_ATTRIBUTES 256   /* of an element, its namespaces counted */
#define XML_MAX_NAMESPACES 256   /* declared by an element and those around it */
#define XML_MAX_NAMES      65536 /* different ones in a document */

/* Before the text is parsed, in one pass. OPENPLA_E_MALFORMED_XML for too many attributes, and for a document type
   declaration, whose entities are never wanted. What is not well-formed is left to the parser. */
HRESULT xml_bounds_check(const char *xml, size_t size);

/* What a document has too many of is found while it is parsed. */
enum xml_excess { XML_NO_EXCESS, XML_EXCESS_NAMESPACES, XML_EXCESS_NAMES };
/* From now on the context stops at the element with which a bound is passed, and *found says which one it was. It has
   to live as long as the context parses. */
void xml_bounds_watch(xmlParserCtxtPtr context, enum xml_excess *found);
/* OPENPLA_E_MALFORMED_XML with the text for it; S_OK for XML_NO_EXCESS. */
HRESULT xml_bounds_error(enum xml_excess found, int line);

#endif
