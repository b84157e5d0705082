/* SPDX-License-Identifier: MIT */
/* The rows of rules_grammar.def. */
#ifndef OPENPLA_RULES_GRAMMAR_H
#define OPENPLA_RULES_GRAMMAR_H

#include "engine/base/xml_grammar.h"

enum rules_type {
#define ELEMENT(Type) RULES_##Type,
#include "engine/report/rules_grammar.def"
};
enum rules_sort {
#define SORT(check) RULES_VALUE_##check,
#include "engine/report/rules_grammar.def"
};
/* In the order of the words. */
enum rules_choice { CHOICE_ALL, CHOICE_MIN, CHOICE_MAX, CHOICE_FIRST };
enum rules_axis { AXIS_CHILD, AXIS_FOLLOWING, AXIS_PRECEDING };
enum rules_comparison { COMPARE_TEXT, COMPARE_NUMBER };

extern const struct xml_grammar rules_grammar;
/* Which of a sort's words, without case; -1: none, or `text` is NULL. */
int rules_word(enum rules_sort sort, const char *text);

#endif
