/* SPDX-License-Identifier: MIT */
/* The parts of the reader of report schemas, and functions that check elements against the grammar. */
#ifndef OPENPLA_SCHEMA_READING_H
#define OPENPLA_SCHEMA_READING_H

#include "engine/base/xml_document.h"
#include "engine/report/grammar.h"
#include "engine/report/report_schema.h"

/* Returns the index of the keyword among the keywords of `sort`, ignoring case; -1 if the text is not such a
   keyword. */
int schema_find_word(enum schema_sort_of_value sort, const char *text);
/* Returns whether the element belongs to the format. Such an element has no namespace, or MS-PLA's namespace. */
bool schema_is_ours(xmlNodePtr node);

/* ---- reading ---- */
#define SCHEMA_INVALID OPENPLA_E_MALFORMED_XML

/* The state for reading one file. */
struct schema_reading {
    struct report_schema *s;
    const struct xml_document *document;
    const char *file;            /* owned by the schema */
    const char *section, *table; /* current section and table, for errors; NULL means no section or no table */
};

/* Returns SCHEMA_INVALID. The message is `line N: ELEMENT attribute="value": why`. `attribute` and `value` may be
   NULL. */
HRESULT schema_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Records a warning about `node`, with file, section and table. Returns S_OK or E_OUTOFMEMORY. */
HRESULT schema_add_warning(struct schema_reading *r, xmlNodePtr node, const char *format, ...) PRINTF_LIKE(3, 4);

/* Checks the element's attributes and child elements against the grammar; unknown attributes and elements cause
   warnings. */
HRESULT schema_check_element(struct schema_reading *r, xmlNodePtr e, enum schema_type type);
/* Returns an attribute's text without surrounding whitespace, or NULL. Use this function and the functions below only
   for elements that have been checked. */
HRESULT schema_text_of(struct schema_reading *r, xmlNodePtr e, const char *name, const char **out);
HRESULT schema_number_of(struct schema_reading *r, xmlNodePtr e, const char *name, uint64_t *out, bool *is_there);
HRESULT schema_bool_of(struct schema_reading *r, xmlNodePtr e, const char *name, bool *out);
/* Returns the index of the attribute's keyword among the keywords of its kind, or -1 if the keyword is unknown. */
HRESULT schema_word_of(struct schema_reading *r, xmlNodePtr e, const char *name, enum schema_sort_of_value sort,
                       int *out);
/* Returns the first element with that name among `node` and its following siblings. If `name` is NULL, any name
   matches. */
xmlNodePtr schema_element_from(xmlNodePtr node, const char *name);

/* Fill in a table from an unchecked element. After a failure, free the table with schema_table_free. */
HRESULT schema_read_event_table(struct schema_reading *r, xmlNodePtr e, struct schema_table *out);
HRESULT schema_read_counter_table(struct schema_reading *r, xmlNodePtr e, struct schema_table *out);
void schema_table_free(struct schema_table *table);

/* Rates how well the language of a string fits the requested language (such as "de-AT"). The string's language is "" if
   the string is for any language; `wanted` is "" if no language was requested. From best to worst, the string's
   language is the requested one, the requested one without its country, "", or English. Returns 0 if none of these
   applies. */
unsigned string_language_fit(const char *has, const char *wanted);

#endif
