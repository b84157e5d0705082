/* SPDX-License-Identifier: MIT */
/* An XML text that libxml2 has parsed, and texts out of it. The reader of reports has libxml2's memory from here. */
#ifndef OPENPLA_XML_DOCUMENT_H
#define OPENPLA_XML_DOCUMENT_H

#include "engine/base/text.h"

#include <libxml/tree.h>

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
/* What there may be of it at a time, in place of xml_memory of the quotas. */
void xml_memory_bound(struct xml_memory *m, size_t bytes);
/* Of the last: `bytes` in all, those that are free again too, before it is too much; an expression can ask for the
   same text for hours. */
void xml_memory_bound_work(struct xml_memory *m, uint64_t bytes);
/* The largest block that is given, from now on; 0: any. */
void xml_memory_bound_block(struct xml_memory *m, size_t bytes);
/* Whether the last xml_memory_use ended at that bound. */
bool xml_memory_block_refused(const struct xml_memory *m);
uint64_t xml_memory_given(const struct xml_memory *m);
void xml_memory_destroy(struct xml_memory *m);
/* Calls work(about), whose libxml2 calls have their memory from `m`. When there is no more, `work` is left where it is:
   libxml2 2.9 neither survives an allocation that fails nor frees all it has then. So `work` allocates nothing else.
   E_OUTOFMEMORY; OPENPLA_E_MALFORMED_XML when it needs more than a document may. */
HRESULT xml_memory_use(struct xml_memory *m, void (*work)(void *about), void *about);

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
/* For documents that are larger than a set's XML can be. Zero: the bounds of xml_document_open. */
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
/* An attribute's value, from memory_alloc; *value is NULL when there is none. */
HRESULT xml_element_attribute(const struct xml_document *d, xmlNodePtr element, const char *name, char **value);
/* What can stand within a document of such a text: all behind a byte order mark, blanks and the XML declaration. */
const char *xml_without_prologue(const char *xml);

#endif
