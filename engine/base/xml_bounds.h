/* SPDX-License-Identifier: MIT */
/* Bounds of what libxml2 is given: it takes a time that grows with the square of the attributes of an element, of the
   namespaces in scope and of the names. For xml_document.c and the reader of reports. */
#ifndef OPENPLA_XML_BOUNDS_H
#define OPENPLA_XML_BOUNDS_H

#include "engine/base/quotas.h"
#include "engine/base/text.h"

#include <libxml/parser.h>

/* Far more than a set that says something has. */
#define XML_MAX_ATTRIBUTES QUOTA_NUMBER_xml_attributes /* of an element, its namespaces counted */
#define XML_MAX_NAMESPACES QUOTA_NUMBER_xml_namespaces /* declared by an element and those around it */
#define XML_MAX_NAMES      QUOTA_NUMBER_xml_names      /* different ones in a document */

/* A pass over the text before it is parsed. Zero-initialise; `longest` is the most bytes that a tag, a comment or an
   instruction may have, since the parser keeps it in memory whole (0: as many as it likes). */
struct xml_scan {
    size_t longest;
    enum { XML_SCAN_TEXT, XML_SCAN_OPENED, XML_SCAN_TAG, XML_SCAN_VALUE, XML_SCAN_ENCLOSED } state;
    char opened[10]; /* what is behind '<' until it is told what it is */
    char mark;       /* of a value: its quote; of what is enclosed: what its end consists of, before the '>' */
    bool endless;    /* enclosed: a CDATA section, which comes in parts */
    unsigned least, run, values, line;
    size_t length;
};
/* The next part of the text. OPENPLA_E_MALFORMED_XML for too many attributes, for what is too long, and for a document
   type declaration, whose entities are never wanted. What is not well-formed is left to the parser. */
HRESULT xml_scan(struct xml_scan *s, const char *text, size_t size);
/* A whole text. */
HRESULT xml_bounds_check(const char *xml, size_t size);

/* What a document has too many of is found while it is parsed. */
enum xml_excess { XML_NO_EXCESS, XML_EXCESS_NAMESPACES, XML_EXCESS_NAMES };
/* Of a context, at an element. */
enum xml_excess xml_excess_of(xmlParserCtxtPtr context);
/* From now on the context stops at the element with which a bound is passed, and *found says which one it was. It has
   to live as long as the context parses. */
void xml_bounds_watch(xmlParserCtxtPtr context, enum xml_excess *found);
/* OPENPLA_E_MALFORMED_XML with the text for it; S_OK for XML_NO_EXCESS. */
HRESULT xml_bounds_error(enum xml_excess found, int line);

#endif
