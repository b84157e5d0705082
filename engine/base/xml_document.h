/* SPDX-License-Identifier: MIT */
/* XML documents that libxml2 parses, within limits: memory, documents, strings from them, and checks by a table. */
#ifndef OPENPLA_XML_DOCUMENT_H
#define OPENPLA_XML_DOCUMENT_H

#include "engine/base/error.h"
#include "engine/base/quotas.h"
#include "engine/base/text.h"

#include <stdarg.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

/* ---- memory ---- */

/* All memory of one document: given out piece by piece, given back as a whole (xml_memory.c). */
struct xml_memory;
/* Routes libxml2's memory through memory_alloc, once; before libxml2's first use in a program. False: out of memory,
   and nothing of libxml2 is to be used. */
bool xml_memory_begin(void);
/* Calls work(about), which makes what libxml2 or libxslt keep as long as the program runs, no more than 64 KB: it is
   got beforehand, so that `work` is done whole or, when false is given back for want of memory, not begun. */
bool xml_memory_keep(void (*work)(void *about), void *about);
struct xml_memory *xml_memory_create(void); /* NULL when out of memory */
/* For what is read as a stream: what libxml2 frees on its way is free at once. */
struct xml_memory *xml_memory_create_freeing(void);
/* The most memory at a time, in place of xml_memory of the quotas. */
void xml_memory_limit(struct xml_memory *m, size_t bytes);
/* Of the last: `bytes` in all, those that are free again too, before it is too much; an expression can ask for the
   same text for hours. */
void xml_memory_limit_work(struct xml_memory *m, uint64_t bytes);
/* The largest block that is allocated from now on; 0: any size. */
void xml_memory_limit_block(struct xml_memory *m, size_t bytes);
/* Whether the last xml_memory_use ended at that limit. */
bool xml_memory_block_refused(const struct xml_memory *m);
uint64_t xml_memory_given(const struct xml_memory *m);
void xml_memory_destroy(struct xml_memory *m);
/* Calls work(about), whose libxml2 calls have their memory from `m`. When there is no more, `work` is left where it is:
   libxml2 2.9 neither survives an allocation that fails nor frees all it has then. So `work` allocates nothing else.
   E_OUTOFMEMORY; OPENPLA_E_MALFORMED_XML when it needs more than a document may. */
HRESULT xml_memory_use(struct xml_memory *m, void (*work)(void *about), void *about);

/* ---- documents ---- */

struct xml_document {
    struct xml_memory *memory;
    xmlNodePtr root;
    bool own; /* what our own engine says of a set: nothing in it is an attempt to put what cannot be put */
};
/* UTF-8 text, whatever its declaration says (DECISIONS 3): no DTD, nothing loaded, bounded size, depth and memory.
   OPENPLA_E_MALFORMED_XML with line and reason; E_OUTOFMEMORY. *out is zero on failure. */
HRESULT xml_document_open(const char *xml, size_t size, struct xml_document *out);
/* The same of a file's bytes: UTF-8, or UTF-16 with its mark in front, as Windows' own files have it. */
HRESULT xml_document_open_any(const char *bytes, size_t size, struct xml_document *out);
/* For documents that are larger than a set's XML can be. Zero: the limits of xml_document_open. */
struct xml_limits {
    size_t bytes;  /* of the text as UTF-8 */
    size_t memory; /* of the document */
    /* Equal texts of attributes are one node, without a parent: a third of a report's memory. Who changes attributes
       puts others in their place. */
    bool shared_texts;
};
HRESULT xml_document_open_within(const char *bytes, size_t size, const struct xml_limits *limits,
                                 struct xml_document *out);
void xml_document_close(struct xml_document *d);
/* S_OK, or OPENPLA_E_MALFORMED_XML with the name of the root and the wanted one. */
HRESULT xml_document_check_root(const struct xml_document *d, const char *wanted);
/* Whether the text is one well-formed element (or nothing), of the name `root` unless that is NULL:
   OPENPLA_E_MALFORMED_XML with the reason if not. */
HRESULT xml_check_fragment(const char *xml, const char *root);

/* Appends the text below the element, without blanks around it unless the element is to keep them. */
void xml_element_text(xmlNodePtr element, struct text_buffer *out);
/* What is between the element's tags as XML, or the element itself, "" when it is empty. *out from memory_alloc. */
HRESULT xml_element_inside(const struct xml_document *d, xmlNodePtr element, char **out);
HRESULT xml_element_whole(const struct xml_document *d, xmlNodePtr element, char **out);
/* The element itself, part by part; what `write` fails with. */
HRESULT xml_element_write(const struct xml_document *d, xmlNodePtr element,
                          HRESULT (*write)(void *to, const char *bytes, size_t size), void *to);
/* An attribute's value, from memory_alloc; *value is NULL if it does not exist. */
HRESULT xml_element_attribute(const struct xml_document *d, xmlNodePtr element, const char *name, char **value);
/* The part of a text that can stand within a document: all behind a byte order mark, blanks and the XML declaration. */
const char *xml_without_prologue(const char *xml);

/* ---- checks of what a user wrote: report schemas and rules ---- */

/* Sets and returns `hr`, with the text "line N: ELEMENT attribute="value": why" ("why" by format and list). Attribute
   and value may be NULL; long ones are cut. */
HRESULT xml_invalid(HRESULT hr, xmlNodePtr element, const char *attribute, const char *value, const char *format,
                    va_list list) PRINTF_LIKE(5, 0);

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
    enum xml_use { XML_OPTIONAL, XML_WANTED /* a warning if it is missing */, XML_REQUIRED } use;
    const char *doc;
};
struct xml_grammar {
    const struct xml_within *withins;
    size_t within_count;
    const struct xml_value *values;
    size_t value_count;
    const char *(*fault)(unsigned sort, const char *text); /* why the value is invalid; static, NULL: valid */
    bool (*is_ours)(xmlNodePtr node);                      /* whether it is an element of this grammar's namespace */
};

/* NULL: no such element stands in one of that type, no such attribute is the type's. */
const struct xml_within *xml_grammar_within(const struct xml_grammar *g, unsigned parent, const char *element);
const struct xml_value *xml_grammar_value(const struct xml_grammar *g, unsigned of, const char *name);

/* Who checks. */
struct xml_checking {
    const struct xml_grammar *grammar;
    const struct xml_document *document;
    HRESULT invalid; /* what is wrong is this error, with xml_invalid's text */
    HRESULT (*warn)(void *context, xmlNodePtr node, const char *what); /* skipped and missing parts */
    void *context;
};
/* Its attributes, and which elements stand in it; not what is in those. */
HRESULT xml_grammar_check(const struct xml_checking *c, xmlNodePtr e, unsigned type);
/* The next element of the grammar's namespace from `node` on; `name` NULL: any. */
xmlNodePtr xml_grammar_element(const struct xml_grammar *g, xmlNodePtr node, const char *name);
/* Takes away the blanks around the text, in place. */
void xml_trim(char *text);

/* ---- limits of what libxml2 is given ----
   It takes a time that grows with the square of the attributes of an element, of the namespaces in scope and of the
   names. For xml_document.c and the reader of reports. */

/* Far more than a set that says something has. */
#define XML_MAX_ATTRIBUTES QUOTA_NUMBER_xml_attributes /* of an element, its namespaces counted */
#define XML_MAX_NAMESPACES QUOTA_NUMBER_xml_namespaces /* declared by an element and those around it */
#define XML_MAX_NAMES      QUOTA_NUMBER_xml_names      /* different ones in a document */

/* A scan of the text before it is parsed. Zero-initialise; `longest` is the most bytes that a tag, a comment or an
   instruction may have, since the parser keeps it in memory whole (0: as many as it likes). */
struct xml_scan {
    size_t longest;
    enum { XML_SCAN_TEXT, XML_SCAN_OPENED, XML_SCAN_TAG, XML_SCAN_VALUE, XML_SCAN_ENCLOSED } state;
    char opened[10]; /* the characters behind '<' until they are recognised */
    char mark;       /* of a value: its quote; of what is enclosed: what its end consists of, before the '>' */
    bool endless;    /* enclosed: a CDATA section, which comes in parts */
    unsigned least, run, values, line;
    size_t length;
};
/* The next part of the text. OPENPLA_E_MALFORMED_XML for too many attributes, for what is too long, and for a document
   type declaration, whose entities are never expected. The parser reports text that is not well-formed. */
HRESULT xml_scan(struct xml_scan *s, const char *text, size_t size);
/* A whole text. */
HRESULT xml_limits_check(const char *xml, size_t size);

/* The limit that a document exceeds, found while it is parsed. */
enum xml_excess { XML_NO_EXCESS, XML_EXCESS_NAMESPACES, XML_EXCESS_NAMES };
/* Of a context, at an element. */
enum xml_excess xml_excess_of(xmlParserCtxtPtr context);
/* From now on the context stops at the element with which a bound is passed, and *found says which one it was. It has
   to live as long as the context parses. */
void xml_limits_watch(xmlParserCtxtPtr context, enum xml_excess *found);
/* OPENPLA_E_MALFORMED_XML with the text for it; S_OK for XML_NO_EXCESS. */
HRESULT xml_limits_error(enum xml_excess found, int line);

#endif
