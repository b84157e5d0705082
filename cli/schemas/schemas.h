/* SPDX-License-Identifier: MIT */
/* XML Schemas of the documents that OpenPLA reads and writes. They are generated from the tables that the readers and
   writers use. */
#ifndef OPENPLA_SCHEMAS_H
#define OPENPLA_SCHEMAS_H

#include "engine/pla/model.h"

struct xml_schema {
    const char *name; /* file name without ".xsd" */
    const char *what; /* description of the documents */
    HRESULT (*make)(struct text_buffer *b);
};
/* The schemas, in the order in which they are listed. */
extern const struct xml_schema xml_schemas[];
extern const size_t xml_schemas_count;
const struct xml_schema *xml_schema_find(const char *name); /* `name` may end with ".xsd"; returns NULL if the name
                                                               is unknown */

/* ---- generators of the schemas, and functions that they share ---- */

HRESULT set_schema_text(struct text_buffer *b);
HRESULT report_schema_text(struct text_buffer *b);
HRESULT report_grammar_text(struct text_buffer *b);
HRESULT rules_schema_text(struct text_buffer *b);

/* A sample object, in the set that its class needs. For example, a collector is in a set that also has another
   collector. */
struct specimen {
    struct object *object;
    struct object *set; /* NULL for an object without a parent */
};
HRESULT specimen_create(const struct class *class, struct specimen *out);
void specimen_release(struct specimen *s);

/* Escapes & < > for XML, and for Markdown outside code. */
void add_escaped(struct text_buffer *b, const char *text);

#endif
