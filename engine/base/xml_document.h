/* SPDX-License-Identifier: MIT */
/* XML documents that libxml2 parses within limits: their memory, their strings, and checks against a table of
   elements. */
#ifndef OPENPLA_XML_DOCUMENT_H
#define OPENPLA_XML_DOCUMENT_H

#include "engine/base/error.h"
#include "engine/base/quotas.h"
#include "engine/base/text.h"

#include <stdarg.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

/* ---- memory ---- */

/* All memory of one document. It is allocated piece by piece, and freed as a whole (xml_memory.c). */
struct xml_memory;
/* Makes libxml2 allocate through memory_alloc. Must be called before a program's first use of libxml2; later calls do
   nothing. False: out of memory; libxml2 must not be used. */
bool xml_memory_begin(void);
/* Calls work(about). `work` may allocate at most 64 KB, for data that libxml2 or libxslt keep while the program runs.
   The memory is allocated first, so `work` either runs completely or is not started. False: out of memory, and `work`
   was not started. */
bool xml_memory_keep(void (*work)(void *about), void *about);
struct xml_memory *xml_memory_create(void); /* NULL when out of memory */
/* For documents that are read as a stream: a block that libxml2 frees is returned to the heap immediately, while the
   document is still being read. */
struct xml_memory *xml_memory_create_freeing(void);
/* Sets the limit of memory in use at any time, in place of the quota xml_memory. */
void xml_memory_limit(struct xml_memory *m, size_t bytes);
/* For memory from xml_memory_create_freeing: limits the total of all allocations to `bytes`, including freed memory,
   because an expression can create the same string again and again for hours. */
void xml_memory_limit_work(struct xml_memory *m, uint64_t bytes);
/* Sets the size of the largest block that can be allocated from now on; 0: any size. */
void xml_memory_limit_block(struct xml_memory *m, size_t bytes);
/* From now on, each allocation in xml_memory_use calls `stop`, even in the middle of an evaluation by libxml2. If
   `stop` returns true, the work is abandoned with HRESULT_FROM_WIN32(ERROR_CANCELLED). NULL removes `stop`. `stop` must
   not allocate from this memory. */
void xml_memory_watch(struct xml_memory *m, bool (*stop)(void *context), void *context);
/* Whether the last xml_memory_use ended at the limit of xml_memory_limit_block. */
bool xml_memory_block_refused(const struct xml_memory *m);
uint64_t xml_memory_given(const struct xml_memory *m);
void xml_memory_destroy(struct xml_memory *m);
/* Calls work(about), whose libxml2 calls allocate from `m`. If the memory is exhausted, `work` is abandoned at that
   point, because libxml2 2.9 neither survives a failed allocation nor frees everything afterwards. Therefore `work`
   must not allocate anything else. Fails with E_OUTOFMEMORY, with OPENPLA_E_MALFORMED_XML if `work` needs more memory
   than the limit, or with HRESULT_FROM_WIN32(ERROR_CANCELLED) if `stop` ends the work (xml_memory_watch). */
HRESULT xml_memory_use(struct xml_memory *m, void (*work)(void *about), void *about);

/* ---- documents ---- */

struct xml_document {
    struct xml_memory *memory;
    xmlNodePtr root;
    bool own; /* OpenPLA itself wrote the XML: its read-only statistics are read, and most values are not checked */
};
/* Parses UTF-8 text, even if its declaration names another encoding (DECISIONS 3). No DTD is allowed, nothing is
   loaded, and size, depth and memory are limited. Fails with E_OUTOFMEMORY, or with OPENPLA_E_MALFORMED_XML; the error
   text then names the line and the reason. *out is zero on failure. */
HRESULT xml_document_open(const char *xml, size_t size, struct xml_document *out);
/* Like xml_document_open, for the bytes of a file. The file can be UTF-8, or UTF-16 with a byte order mark, as Windows
   writes it. */
HRESULT xml_document_open_any(const char *bytes, size_t size, struct xml_document *out);
/* For documents that are larger than a set's XML can be. Zero means the limits that xml_document_open uses. */
struct xml_limits {
    size_t bytes;  /* bytes of the text as UTF-8 */
    size_t memory; /* bytes of memory for the document */
    /* Equal attribute values share one node without a parent, which saves a third of a report's memory. To change an
       attribute, replace its node. */
    bool shared_texts;
    bool (*stop)(void *context); /* called while the document is parsed (xml_memory_watch); may be NULL */
    void *context;
};
HRESULT xml_document_open_within(const char *bytes, size_t size, const struct xml_limits *limits,
                                 struct xml_document *out);
void xml_document_close(struct xml_document *d);
/* Checks the name of the root element. Fails with OPENPLA_E_MALFORMED_XML if the element has another name; the error
   text contains both names. */
HRESULT xml_document_check_root(const struct xml_document *d, const char *wanted);
/* Checks that the text is empty or one well-formed element. Unless `root` is NULL, the element must have this name.
   Fails with OPENPLA_E_MALFORMED_XML if the check fails; the error text is the reason. */
HRESULT xml_check_fragment(const char *xml, const char *root);

/* Appends the text below the element, without surrounding whitespace unless the element preserves it. */
void xml_element_text(xmlNodePtr element, struct text_buffer *out);
/* The first function returns the XML between the element's tags ("" if it is empty), the second returns the XML of the
   element itself. *out is from memory_alloc. */
HRESULT xml_element_inside(const struct xml_document *d, xmlNodePtr element, char **out);
HRESULT xml_element_whole(const struct xml_document *d, xmlNodePtr element, char **out);
/* Writes the element itself part by part. If `write` fails, returns the result of `write`. */
HRESULT xml_element_write(const struct xml_document *d, xmlNodePtr element,
                          HRESULT (*write)(void *to, const char *bytes, size_t size), void *to);
/* Reads an attribute's value, from memory_alloc; *value is NULL if the attribute does not exist. */
HRESULT xml_element_attribute(const struct xml_document *d, xmlNodePtr element, const char *name, char **value);
/* Returns the part of a text that can be inserted into a document: everything after a byte order mark, whitespace and
   the XML declaration. */
const char *xml_without_prologue(const char *xml);

/* ---- checks of documents that users write: report schemas and rules ---- */

/* Sets and returns `hr` with the text "line N: ELEMENT attribute="value": why" ("why" is `format` with the arguments in
   `list`). Attribute and value may be NULL; long ones are truncated. */
HRESULT xml_invalid(HRESULT hr, xmlNodePtr element, const char *attribute, const char *value, const char *format,
                    va_list list) PRINTF_LIKE(5, 0);

/* Types of elements and kinds of values are numbers that each grammar defines. */
#define XML_ANY_ELEMENT "*"
struct xml_within {
    unsigned parent;     /* type of the enclosing element */
    const char *element; /* XML_ANY_ELEMENT: every element that no earlier row names */
    unsigned type;
    unsigned least, most; /* most 0: any number */
    const char *doc;
};
struct xml_value {
    unsigned of; /* type of the element */
    const char *name;
    unsigned sort;
    enum xml_use { XML_OPTIONAL, XML_WANTED /* if it is missing, a warning is reported */, XML_REQUIRED } use;
    const char *doc;
};
struct xml_grammar {
    const struct xml_within *withins;
    size_t within_count;
    const struct xml_value *values;
    size_t value_count;
    const char *(*fault)(unsigned sort, const char *text); /* returns why the value is invalid (static text), or NULL */
    bool (*is_ours)(xmlNodePtr node); /* whether the node is an element of this grammar's namespace */
};

/* These functions find the grammar's row for an element or an attribute. NULL: an element of this type cannot contain
   such an element, or has no such attribute. */
const struct xml_within *xml_grammar_within(const struct xml_grammar *g, unsigned parent, const char *element);
const struct xml_value *xml_grammar_value(const struct xml_grammar *g, unsigned of, const char *name);

/* The state of a check. */
struct xml_checking {
    const struct xml_grammar *grammar;
    const struct xml_document *document;
    HRESULT invalid; /* the result if the document is invalid; xml_invalid sets the error text */
    HRESULT (*warn)(void *context, xmlNodePtr node, const char *what); /* called for skipped and missing parts */
    void *context;
};
/* Checks the element's attributes and which elements it contains, but not the contents of those elements. */
HRESULT xml_grammar_check(const struct xml_checking *c, xmlNodePtr e, unsigned type);
/* Returns the first element of the grammar's namespace from `node` on that has this name. If `name` is NULL, any name
   is accepted. */
xmlNodePtr xml_grammar_element(const struct xml_grammar *g, xmlNodePtr node, const char *name);
/* Removes surrounding whitespace, in place. */
void xml_trim(char *text);

/* ---- limits of libxml2's input ----
   libxml2's running time grows with the square of three numbers: an element's attributes, the namespaces in scope, and
   the names in a document. xml_document.c and the reader of reports use these limits. */

/* Far more than a meaningful set needs. */
#define XML_MAX_ATTRIBUTES QUOTA_NUMBER_xml_attributes /* per element, including namespace declarations */
#define XML_MAX_NAMESPACES QUOTA_NUMBER_xml_namespaces /* declared by an element and its ancestors */
#define XML_MAX_NAMES      QUOTA_NUMBER_xml_names      /* different names in a document */

/* A scan of the text before it is parsed. Zero-initialise. `longest` is the limit in bytes of a tag, a comment or an
   instruction, because the parser keeps each of these in memory as a whole (0: no limit). */
struct xml_scan {
    size_t longest;
    enum { XML_SCAN_TEXT, XML_SCAN_OPENED, XML_SCAN_TAG, XML_SCAN_VALUE, XML_SCAN_ENCLOSED } state;
    char opened[10]; /* the characters after '<' until they are recognized */
    char mark;       /* for a value: its quote; for an enclosed part: the character before the '>' that ends it */
    bool endless;    /* the enclosed part has no length limit: a CDATA section, which arrives in parts */
    unsigned least, run, values, line;
    size_t length;
};
/* Scans the next part of the text. Fails with OPENPLA_E_MALFORMED_XML if an element has too many attributes, or if a
   part is too long. Also fails with this error for a document type declaration, because entities are never expected.
   The parser reports text that is not well-formed. */
HRESULT xml_scan(struct xml_scan *s, const char *text, size_t size);
/* Scans a whole text. */
HRESULT xml_limits_check(const char *xml, size_t size);

/* The limit that a document exceeds, detected while it is parsed. */
enum xml_excess { XML_NO_EXCESS, XML_EXCESS_NAMESPACES, XML_EXCESS_NAMES };
/* Checks the limits of a context at an element. */
enum xml_excess xml_excess_of(xmlParserCtxtPtr context);
/* Makes the context stop at the element that exceeds a limit; *found is that limit. `found` must live as long as the
   context parses. */
void xml_limits_watch(xmlParserCtxtPtr context, enum xml_excess *found);
/* Returns OPENPLA_E_MALFORMED_XML and sets an error text that names the limit. Returns S_OK for XML_NO_EXCESS. */
HRESULT xml_limits_error(enum xml_excess found, int line);

#endif
