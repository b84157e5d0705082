/* SPDX-License-Identifier: MIT */
/* The rows of schema_grammar.def, and an element held against them. */
#ifndef OPENPLA_SCHEMA_GRAMMAR_H
#define OPENPLA_SCHEMA_GRAMMAR_H

#include "engine/base/xml_grammar.h"

enum schema_type {
#define ELEMENT(Type, ...) SCHEMA_##Type,
#include "engine/report/make/schema_grammar.def"
    SCHEMA_TYPE_COUNT
};
enum schema_sort_of_value {
#define SORT(check, schema_type) VALUE_##check,
#include "engine/report/make/schema_grammar.def"
    SCHEMA_SORT_COUNT
};
struct schema_type_row {
    const char *name;
    bool holds_text;
    const char *doc;
};
extern const struct schema_type_row schema_types[SCHEMA_TYPE_COUNT];
extern const char *const schema_sort_names[SCHEMA_SORT_COUNT]; /* types of XML Schema; without "xs:" they are ours */
extern const struct xml_within schema_withins[];
extern const size_t schema_within_count;
extern const struct xml_value schema_values[];
extern const size_t schema_value_count;
extern const struct xml_grammar schema_grammar; /* these rows */
struct schema_word {
    enum schema_sort_of_value sort;
    const char *text;
};
extern const struct schema_word schema_words[];
extern const size_t schema_word_count;
extern const char *const schema_out_types[], *const schema_system_fields[]; /* from 1 on, as their enums */
extern const size_t schema_out_type_count, schema_system_field_count;       /* with the place 0 */

/* NULL: no such element stands in one of that type. */
const struct xml_within *schema_find_within(enum schema_type parent, const char *element);
/* Which of a sort's words, without case; -1: none. */
int schema_find_word(enum schema_sort_of_value sort, const char *text);
/* Why the text is no such value; static. NULL: it is one. */
const char *schema_value_fault(enum schema_sort_of_value sort, const char *text);
/* Whether the element is of our names: without a namespace, or of MS-PLA's. */
bool schema_is_ours(xmlNodePtr node);

#endif
