/* SPDX-License-Identifier: MIT */
/* Functions of XPath that compare and join lists by hashing: xpath_use_functions puts them into expressions. libxml2
   itself compares each node with each other one. */
#ifndef OPENPLA_XPATH_LISTS_H
#define OPENPLA_XPATH_LISTS_H

#include <libxml/xpath.h>

/* Registers the functions in the context. Each node that they visit counts against the context's opLimit, if any. */
void xpath_lists_use(xmlXPathContextPtr context);

#endif
