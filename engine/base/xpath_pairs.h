/* SPDX-License-Identifier: MIT */
/* The cost of an XPath 1.0 expression that libxml2's count of operations does not show: where nodes from several places
   become one list, or two lists are compared, it compares each node with each other one. */
#ifndef OPENPLA_XPATH_PAIRS_H
#define OPENPLA_XPATH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    XPATH_PAIRS_NODES = 40960,                /* a list of such an expression: libxml2 doubles lists from ten on */
    XPATH_PAIRS_BLOCK = XPATH_PAIRS_NODES * 8 /* bytes of it */
};

struct xpath_pair {
    const char *at; /* in the expression */
    size_t length;
    const char *instead; /* what does without, in words */
};
/* Whether it may compare nodes in pairs; `out` says where first. Else each operation that libxml2 counts is some steps,
   whatever the document is. What is not XPath 1.0 may. `variables_are_values`: they hold no nodes. */
bool xpath_compares_pairs(const char *expression, bool variables_are_values, struct xpath_pair *out);

#endif
