/* SPDX-License-Identifier: MIT */
/* XPath functions that compare and join lists of nodes by hashing. xpath_use_functions inserts these functions into
   expressions, because libxml2 itself compares every node with every other node. */
#ifndef OPENPLA_XPATH_LISTS_H
#define OPENPLA_XPATH_LISTS_H

#include <libxml/xpath.h>

/* Registers the functions in the context. Each node that these functions visit counts against the context's opLimit, if
   the context has one. */
void xpath_lists_use(xmlXPathContextPtr context);

#endif
