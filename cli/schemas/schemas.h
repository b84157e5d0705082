/* SPDX-License-Identifier: MIT */
/* The XML Schemas of what OpenPLA reads and writes, made from the rows that its own readers and writers go by. */
#ifndef OPENPLA_SCHEMAS_H
#define OPENPLA_SCHEMAS_H

#include "engine/pla/model.h"

struct xml_schema {
    const char *name; /* of the file, without ".xsd" */
    const char *what; /* the documents it is for */
    HRESULT (*make)(struct text_buffer *b);
};
/* The schemas, in the order in which they are listed. */
extern const struct xml_schema xml_schemas[];
extern const size_t xml_schemas_count;
const struct xml_schema *xml_schema_find(const char *name); /* with or without ".xsd"; NULL */

/* ---- their parts ---- */

HRESULT set_schema_text(struct text_buffer *b);
HRESULT report_schema_text(struct text_buffer *b);
HRESULT report_grammar_text(struct text_buffer *b);
HRESULT rules_schema_text(struct text_buffer *b);

/* An object and everything the rows need to be looked at: a collector is in a set beside another one. */
struct specimen {
    struct object *object;
    struct object *set; /* NULL when the object stands alone */
};
HRESULT specimen_create(const struct class *class, struct specimen *out);
void specimen_release(struct specimen *s);

/* Text for XML and for Markdown outside of code: & < > escaped. */
void add_escaped(struct text_buffer *b, const char *text);

#endif
