/* SPDX-License-Identifier: MIT */
/* The grammars of report schemas (MS-PLA 2.2.3.3) and of rules (MS-PLA 2.2.3.4), as tables. The readers check documents
   against the tables, which are also the source of the XML Schemas. */
#ifndef OPENPLA_GRAMMAR_H
#define OPENPLA_GRAMMAR_H

#include "engine/base/xml_document.h"

/* Report schemas: the rows of schema_grammar.def. */

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
extern const char *const schema_sort_names[SCHEMA_SORT_COUNT]; /* types of XML Schema ("xs:"), and OpenPLA's types */
extern const struct xml_within schema_withins[];
extern const size_t schema_within_count;
extern const struct xml_value schema_values[];
extern const size_t schema_value_count;
extern const struct xml_grammar schema_grammar; /* the rows of schema_grammar.def */
struct schema_word {
    enum schema_sort_of_value sort;
    const char *text;
};
extern const struct schema_word schema_words[];
extern const size_t schema_word_count;
/* indexed by the value of the enum; element 0 is "" */
extern const char *const schema_out_types[], *const schema_system_fields[];
extern const size_t schema_out_type_count, schema_system_field_count; /* number of elements, including index 0 */

/* Returns the row of an element inside an element of that type; NULL if the element is not allowed there. */
const struct xml_within *schema_find_within(enum schema_type parent, const char *element);

/* Rules: the rows of rules_grammar.def. */

enum rules_type {
#define ELEMENT(Type) RULES_##Type,
#include "engine/report/rules_grammar.def"
};
enum rules_sort {
#define SORT(check) RULES_VALUE_##check,
#include "engine/report/rules_grammar.def"
};
/* In the order of the keywords. */
enum rules_choice { CHOICE_ALL, CHOICE_MIN, CHOICE_MAX, CHOICE_FIRST };
enum rules_axis { AXIS_CHILD, AXIS_FOLLOWING, AXIS_PRECEDING };
enum rules_comparison { COMPARE_TEXT, COMPARE_NUMBER };
enum rules_measure { MEASURE_MEAN, MEASURE_MAX, MEASURE_MIN, MEASURE_TREND, MEASURE_INCREASE };
enum rules_scale { SCALE_ONE, SCALE_PROCESSORS, SCALE_MEGABYTES, SCALE_BYTES };
enum rules_finding { FINDING_ERROR, FINDING_WARNING, FINDING_INFORMATION };

extern const struct xml_grammar rules_grammar;

#endif
