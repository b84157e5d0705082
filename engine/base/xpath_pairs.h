/* SPDX-License-Identifier: MIT */
/* Finds and removes those costs of an XPath 1.0 expression that are missing from libxml2's operation count. When nodes
   from several places are merged into one list, or two lists are compared, libxml2 compares each node with every other
   node. */
#ifndef OPENPLA_XPATH_PAIRS_H
#define OPENPLA_XPATH_PAIRS_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    XPATH_PAIRS_NODES = 40960, /* most nodes of a list in such an expression: 10 * 2^12, because libxml2 allocates
                                  lists for 10 nodes and doubles them */
    XPATH_PAIRS_BLOCK = XPATH_PAIRS_NODES * 8 /* bytes of such a list */
};

struct xpath_pair {
    const char *at; /* in the expression */
    size_t length;
    const char *instead; /* a cheaper form of the expression, described in words */
};
/* Whether the expression may compare nodes in pairs; `out` describes the first occurrence. If not, each operation that
   libxml2 counts takes a constant number of steps, regardless of the document. For text that is not XPath 1.0, the
   result may be true. `variables_are_values`: variables contain no nodes. */
bool xpath_compares_pairs(const char *expression, bool variables_are_values, struct xpath_pair *out);

/* Writes the expression to `out` with functions (xpath_lists.h) in place of unions and of comparisons between lists.
   The functions' time grows with the length of the lists, not with the product of the lengths. `steps`: each step whose
   nodes libxml2 compares in pairs gets a predicate, which counts the nodes and lets the evaluation be stopped. Without
   `steps`, steps stay unchanged. Text that is not XPath 1.0 is copied unchanged. */
void xpath_use_functions(const char *expression, bool variables_are_values, bool steps, struct text_buffer *out);

#endif
