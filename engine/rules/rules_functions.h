/* SPDX-License-Identifier: MIT */
/* contains(), substring-before() and substring-after() of XPath 1.0 (4.2), counted: libxml2's compare a text with each
   place of the other one, which takes hours where both are long, and count that as nothing. */
#ifndef OPENPLA_RULES_FUNCTIONS_H
#define OPENPLA_RULES_FUNCTIONS_H

#include <libxml/xpath.h>

enum { COMPARED_BYTES = 50 }; /* that count as an operation */
/* The context has them in place of libxml2's; what they compare counts against its opLimit. */
void rules_functions_use(xmlXPathContextPtr context);

#endif
