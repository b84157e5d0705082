/* SPDX-License-Identifier: MIT */
/* Finds and removes the costs of an XPath 1.0 expression that libxml2's operation count does not include. When nodes
   from several places are merged into one list, or two lists are compared, libxml2 compares each node with every other
   node. */
#ifndef OPENPLA_XPATH_PAIRS_H
#define OPENPLA_XPATH_PAIRS_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    XPATH_PAIRS_NODES = 40960, /* maximum number of nodes in a list that libxml2 compares in pairs; 10 * 2^12, because
                                  libxml2 allocates a list for 10 nodes and then doubles it */
    XPATH_PAIRS_BLOCK = XPATH_PAIRS_NODES * 8 /* bytes of such a list */
};

struct xpath_pair {
    const char *at; /* in the expression */
    size_t length;
    const char *instead; /* a cheaper form of the expression, described in words */
};
/* Whether the expression may compare nodes in pairs; `out` describes the first occurrence. If the result is false, each
   operation in libxml2's count takes a constant number of steps, regardless of the document. For text that is not XPath
   1.0, the result may be true. `variables_are_values`: variables contain no nodes. */
bool xpath_compares_pairs(const char *expression, bool variables_are_values, struct xpath_pair *out);

/* Writes the expression to `out` with functions (xpath_lists.h) in place of unions and of comparisons between lists.
   The time that these functions take grows with the sum of the lists' lengths, not with the product. `steps`: each step
   whose nodes libxml2 compares in pairs gets a predicate, which counts the nodes and lets the evaluation be stopped.
   Without `steps`, steps stay unchanged. Text that is not XPath 1.0 is copied unchanged. */
void xpath_use_functions(const char *expression, bool variables_are_values, bool steps, struct text_buffer *out);

#endif
