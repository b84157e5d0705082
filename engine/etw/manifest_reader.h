/* SPDX-License-Identifier: MIT */
/* Shared by the files that read parts of an instrumentation manifest, inside manifest_xml.c. An index of names keeps
   the time to read a manifest with many of them from growing with their square. */
#ifndef OPENPLA_MANIFEST_READER_H
#define OPENPLA_MANIFEST_READER_H

#include "engine/base/text.h"
#include "engine/base/xml_document.h"
#include "engine/etw/provider_manifest.h"

/* Zero-initialise. */
struct name_index {
    struct name_place {
        const char *name; /* borrowed: it must live as long; NULL: free */
        uint32_t place;
    } * slots;
    size_t used, room; /* a power of two */
};
/* S_FALSE: the name is there already, and stays as it is. */
HRESULT name_index_add(struct name_index *index, const char *name, uint32_t place);
bool name_index_find(const struct name_index *index, const char *name, uint32_t *place);
void name_index_free(struct name_index *index);

/* ---- what the readers share ---- */

/* The string tables of a document. */
struct manifest_string {
    char *id, *text;
    size_t next; /* the next culture's text of the same id, + 1; 0: no more */
    size_t culture;
};
struct manifest_strings {
    struct texts cultures;
    struct manifest_string *items;
    size_t count, capacity;
    struct name_index by_id;
};

struct manifest_reader {
    const struct xml_document *document;
    struct texts *warnings; /* or NULL */
    struct manifest_strings strings;
    /* What messageTable says: symbols of $(mc.symbol). */
    struct manifest_strings table;
    struct name_index table_values; /* symbol -> id of its message; the names are the table's */
    /* Of the provider that is read now. */
    struct provider_manifest *p;
    struct name_index names[MANIFEST_KINDS]; /* opcodes of tasks: see manifest_opcode_key */
    struct name_index chids, maps, layouts;
    struct texts keys; /* texts that names of opcodes of tasks are made of */
    uint32_t map_messages;
    size_t message_bytes; /* of all messages so far */
};

/* ---- the document ---- */

/* UTF-8, or UTF-16 with its mark, whose root is instrumentationManifest. MANIFEST_INVALID; *out is zero on failure. */
HRESULT manifest_open(const void *xml, size_t size, struct xml_document *out);
/* All string tables of the document. */
HRESULT manifest_read_strings(struct manifest_reader *r, xmlNodePtr root);

/* ---- values ---- */

/* MANIFEST_INVALID with line, element, attribute and value (NULL: it is the element that is wrong) and the reason. */
HRESULT manifest_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Whether it is an element of manifests of that name. */
bool manifest_is(xmlNodePtr node, const char *name);
/* A remark on an element of manifests that is not looked at; those of other namespaces are left alone. */
HRESULT manifest_skip_element(struct manifest_reader *r, xmlNodePtr node);
/* A remark on an element that is read, with its line and name. */
HRESULT manifest_warn_element(struct manifest_reader *r, xmlNodePtr element, const char *text);
/* *out NULL: there is none. From memory_alloc, without the blanks around it. */
HRESULT manifest_text(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out);
/* One that must be there and not be empty. */
HRESULT manifest_name(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out);
/* A number in decimal or, with 0x, in hex. S_FALSE with *out as it was: there is none. */
HRESULT manifest_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                        uint64_t *out);
/* The same of one that must be there. */
HRESULT manifest_required_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                                 uint64_t *out);
/* S_FALSE with *out as it was: there is none. */
HRESULT manifest_bool(struct manifest_reader *r, xmlNodePtr e, const char *name, bool *out);
/* S_FALSE with *out as it was: there is none. */
HRESULT manifest_guid(struct manifest_reader *r, xmlNodePtr e, const char *name, GUID *out);
/* The local part of a QName, borrowed; *of_windows: its prefix stands for what Windows defines. A name that is declared
   with a colon is looked up whole before. */
const char *manifest_local_name(xmlNodePtr e, const char *qname, bool *of_windows);
/* Calls `each` for the child elements of that name, and passes over others. */
typedef HRESULT manifest_each(struct manifest_reader *r, xmlNodePtr element, void *about);
HRESULT manifest_children(struct manifest_reader *r, xmlNodePtr parent, const char *name, manifest_each *each,
                          void *about);

/* ---- strings ---- */

HRESULT manifest_read_localization(struct manifest_reader *r, xmlNodePtr localization);
HRESULT manifest_read_message_table(struct manifest_reader *r, xmlNodePtr table);
void manifest_strings_free(struct manifest_strings *s);
/* The attribute's text in each culture as the message of that id; *to is the id, another one when the message is one of
   messageTable, and stays as it was when there is no such attribute. */
HRESULT manifest_message(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id, uint32_t *to);
/* The attribute with what its $(string.ID) stand for, in English where there is that culture, else in the first that
   has them; *out NULL: there is no such attribute. From memory_alloc. */
HRESULT manifest_plain_text(struct manifest_reader *r, xmlNodePtr e, const char *attribute, char **out);
/* What Windows says of all providers, in each culture. */
HRESULT manifest_add_message(struct manifest_reader *r, uint32_t id, const char *text);

/* ---- parts ---- */

HRESULT manifest_read_fields(struct manifest_reader *r, xmlNodePtr provider);
HRESULT manifest_read_channels(struct manifest_reader *r, xmlNodePtr channels);
HRESULT manifest_read_maps(struct manifest_reader *r, xmlNodePtr maps);
HRESULT manifest_read_templates(struct manifest_reader *r, xmlNodePtr templates);
HRESULT manifest_read_filters(struct manifest_reader *r, xmlNodePtr filters);
HRESULT manifest_read_events(struct manifest_reader *r, xmlNodePtr events);
/* Takes a name into an index; MANIFEST_INVALID: it is there already. */
HRESULT manifest_add_name(xmlNodePtr e, const char *attribute, struct name_index *index, const char *name,
                          size_t place);
/* The field that a QName of an event says, which Windows may define; then it becomes one of the provider. Of opcodes
   that of the task before that of all. */
HRESULT manifest_find_field(struct manifest_reader *r, xmlNodePtr e, const char *attribute, const char *qname,
                            enum manifest_kind kind, uint16_t task, const struct manifest_field **out);

#endif
