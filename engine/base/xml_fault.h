/* SPDX-License-Identifier: MIT */
/* What is wrong with an element of a document that a user wrote, in one form of words. */
#ifndef OPENPLA_XML_FAULT_H
#define OPENPLA_XML_FAULT_H

#include "engine/base/error.h"

#include <stdarg.h>
#include <libxml/tree.h>

/* Sets and gives `hr`, with the text "line N: ELEMENT attribute="value": why" ("why" by format and list). Attribute and
   value may be NULL; long ones are cut. */
HRESULT xml_wrong(HRESULT hr, xmlNodePtr element, const char *attribute, const char *value, const char *format,
                  va_list list) PRINTF_LIKE(5, 0);

#endif
