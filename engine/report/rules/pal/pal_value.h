/* SPDX-License-Identifier: MIT */
/* Values of PowerShell expressions that are evaluated without a log. A value is a constant, or, if only a report
   contains the value, XPath. */
#ifndef OPENPLA_PAL_VALUE_H
#define OPENPLA_PAL_VALUE_H

#include "engine/report/rules/pal/pal_parts.h"

enum pal_value_kind {
    PAL_UNKNOWN,    /* text: description of the value, for messages; may be NULL */
    PAL_CONSTANT,   /* number */
    PAL_TEXT,       /* text */
    PAL_TRUTH,      /* number: 0 or 1 */
    PAL_EXPRESSION, /* text: XPath, a number */
    PAL_STRING_OF,  /* text: XPath of a string of the row, in lower case */
    PAL_CONDITION,  /* text: XPath, a Boolean */
    PAL_COLLECTION, /* collection of `source` */
    PAL_ITEM,       /* one instance of a collection */
    PAL_LIST        /* text: the items, separated by PAL_LIST_MARK */
};
#define PAL_LIST_MARK "\n"
extern const char pal_null[]; /* the text of $null, which equals nothing */

struct pal_value {
    enum pal_value_kind kind;
    double number;
    const char *text;
    const struct pal_source *source;
    uint64_t of;       /* bit mask of the sources that the value uses; the bit of a source is its position in the
                          analysis */
    const char *guard; /* XPath: the condition under which the expression has a value; NULL means always */
    bool of_trend;
};

/* Applies an operator. `word` is PowerShell's operator: + - * / % and eq, gt, and, match ... Constants are computed. */
struct pal_value pal_value_compute(struct pal_pool *p, const char *word, const struct pal_value *a,
                                   const struct pal_value *b);
struct pal_value pal_value_not(struct pal_pool *p, const struct pal_value *a);
/* Returns `a` if the condition is true, otherwise `b`. */
struct pal_value pal_value_choose(struct pal_pool *p, const struct pal_value *condition, const struct pal_value *a,
                                  const struct pal_value *b);
bool pal_value_equal(const struct pal_value *a, const struct pal_value *b);
/* Returns the value as a number or a Boolean; strings are converted as in PowerShell. Returns PAL_UNKNOWN if it is
   neither. */
struct pal_value pal_value_number(const struct pal_value *a);
struct pal_value pal_value_truth(struct pal_pool *p, const struct pal_value *a);
/* Returns the value in words, for messages; may be NULL. */
const char *pal_value_words(const struct pal_value *a);
/* Returns the XPath of a number or a condition. */
const char *pal_value_xpath(struct pal_pool *p, const struct pal_value *a);

static inline struct pal_value pal_unknown(const char *what)
{
    return (struct pal_value){.kind = PAL_UNKNOWN, .text = what};
}
static inline struct pal_value pal_constant(double number)
{
    return (struct pal_value){.kind = PAL_CONSTANT, .number = number};
}
static inline struct pal_value pal_truth(bool is)
{
    return (struct pal_value){.kind = PAL_TRUTH, .number = is};
}

#endif
