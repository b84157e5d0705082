/* SPDX-License-Identifier: MIT */
/* An element of a document that a user wrote, held against a table of what may stand in it: report schemas and rules.
 */
#ifndef OPENPLA_XML_GRAMMAR_H
#define OPENPLA_XML_GRAMMAR_H

#include "engine/base/xml_document.h"

/* Types of elements and sorts of values are numbers of each grammar's own. */
#define XML_ANY_ELEMENT "*"
struct xml_within {
    unsigned parent;     /* type of the element around it */
    const char *element; /* XML_ANY_ELEMENT: whatever the rows before it do not name */
    unsigned type;
    unsigned least, most; /* most 0: any number */
    const char *doc;
};
struct xml_value {
    unsigned of; /* type of the element */
    const char *name;
    unsigned sort;
    enum xml_use { XML_OPTIONAL, XML_WANTED /* a remark where it is missing */, XML_REQUIRED } use;
    const char *doc;
};
struct xml_grammar {
    const struct xml_within *withins;
    size_t within_count;
    const struct xml_value *values;
    size_t value_count;
    const char *(*fault)(unsigned sort, const char *text); /* why it is no such value; static, NULL: it is one */
    bool (*is_ours)(xmlNodePtr node);                      /* whether it is an element of this grammar's namespace */
};

/* NULL: no such element stands in one of that type, no such attribute is the type's. */
const struct xml_within *xml_grammar_within(const struct xml_grammar *g, unsigned parent, const char *element);
const struct xml_value *xml_grammar_value(const struct xml_grammar *g, unsigned of, const char *name);

/* Who checks. */
struct xml_checking {
    const struct xml_grammar *grammar;
    const struct xml_document *document;
    HRESULT invalid; /* what is wrong is this error, with xml_wrong's text */
    HRESULT (*remark)(void *context, xmlNodePtr node, const char *what); /* what is passed over, and what is missing */
    void *context;
};
/* Its attributes, and which elements stand in it; not what is in those. */
HRESULT xml_grammar_check(const struct xml_checking *c, xmlNodePtr e, unsigned type);
/* The next element of the grammar's namespace from `node` on; `name` NULL: any. */
xmlNodePtr xml_grammar_element(const struct xml_grammar *g, xmlNodePtr node, const char *name);
/* Takes away the blanks around the text, in place. */
void xml_trim(char *text);

#endif
