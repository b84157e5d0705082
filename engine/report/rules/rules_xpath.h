/* SPDX-License-Identifier: MIT */
/* XPath expressions of rules, evaluated by libxml2 within bounds. What stands for a variable is never pasted into an
   expression: `{name}` becomes a variable of XPath, so no value can be read as a part of the expression. */
#ifndef OPENPLA_RULES_XPATH_H
#define OPENPLA_RULES_XPATH_H

#include "engine/base/xml_document.h"

enum {
    EXPRESSION_BYTES_MAX = 4096, /* libxml2 recurses by operators */
    EXPRESSION_VARIABLES_MAX = 64,
    EXPRESSION_DEEPEST = 64,          /* brackets within one another */
    EXPRESSION_OPERATIONS = 20000000, /* of one evaluation: a second or less */
    /* Of one that compares nodes in pairs (xpath_pairs.h), each with a list of 40,960: a minute. They count in the sum
       of a run as those of the time that they may take. */
    PAIRED_OPERATIONS = 250000,
    PAIRED_WEIGHT = 200,
    OPERATION_BYTES = 200, /* of texts and lists that it makes: they count as operations */
};

enum rule_value_kind { RULE_TEXT, RULE_NUMBER, RULE_TRUTH };
struct rule_value {
    enum rule_value_kind kind;
    double number; /* of RULE_NUMBER; 0 or 1 of RULE_TRUTH */
    char *text;    /* of all kinds, as XPath makes it; from memory_alloc */
};
/* A variable's value; NULL: it has none. */
typedef const struct rule_value *rule_variable_find(void *context, const char *name);

struct xpath_scope {
    xmlNodePtr node; /* in whose document it is evaluated, and from where */
    rule_variable_find *find;
    void *context;
    uint32_t limit;      /* operations of an evaluation; 0: EXPRESSION_OPERATIONS */
    uint64_t operations; /* added up; an evaluation costs at least 200 */
};
struct xpath_result {
    xmlNodePtr *nodes; /* elements, attributes, texts; from memory_alloc. In the order of the document */
    size_t count;
    bool is_nodes;
    bool truth;              /* boolean() of it */
    struct rule_value value; /* what a variable becomes; of nodes the first one's text */
};
/* E_INVALIDARG with the reason and the place in the text: no such variable, no XPath, too many operations or too much
   memory. E_OUTOFMEMORY. */
HRESULT rules_evaluate(struct xpath_scope *scope, const char *expression, struct xpath_result *out);
void xpath_result_free(struct xpath_result *r);

/* Bytes of a variable's name at the beginning of the text; 0: none is there. */
size_t rules_name_length(const char *text);
/* Whether the text is XPath, whatever its variables are: rules_evaluate's errors but for what values do. */
HRESULT rules_expression_check(const char *expression);
/* Whether it compares nodes in pairs, and so has the lesser bounds. E_INVALIDARG as above, E_OUTOFMEMORY. */
HRESULT rules_expression_is_paired(const char *expression, bool *out);

#endif
