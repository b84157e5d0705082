/* SPDX-License-Identifier: MIT */
/* The functions of XPath 1.0 (4.2, 4.4) that take texts, counted. libxml2 counts an operation for each, whether it
   walks along a node or a whole report for the text, and its contains(), substring-before() and substring-after()
   compare the one text with each place of the other: expressions of a line took hours. */
#ifndef OPENPLA_RULES_FUNCTIONS_H
#define OPENPLA_RULES_FUNCTIONS_H

#include <libxml/xpath.h>

enum { COMPARED_BYTES = 50 }; /* that count as an operation */
/* The context has them in place of libxml2's; each node that they walk along and what they compare counts against
   its opLimit, which is to be set. */
void rules_functions_use(xmlXPathContextPtr context);

#endif
