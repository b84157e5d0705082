/* SPDX-License-Identifier: MIT */
/* Shared by the files that read parts of an instrumentation manifest. Names are indexed, so that the time to read a
   large manifest does not grow quadratically. */
#ifndef OPENPLA_MANIFEST_READER_H
#define OPENPLA_MANIFEST_READER_H

#include "engine/base/text.h"
#include "engine/base/xml_document.h"
#include "engine/etw/provider_manifest.h"

/* Zero-initialise. */
struct name_index {
    struct name_place {
        const char *name; /* borrowed, must outlive the index; NULL: free entry */
        uint32_t place;
    } * slots;
    size_t used, room; /* `room` is a power of two, or 0 */
};
/* Returns S_FALSE if the name already exists; its entry is not changed. */
HRESULT name_index_add(struct name_index *index, const char *name, uint32_t place);
bool name_index_find(const struct name_index *index, const char *name, uint32_t *place);
void name_index_free(struct name_index *index);

/* ---- shared by the readers ---- */

/* The string tables of a document. */
struct manifest_string {
    char *id, *text;
    size_t next; /* index + 1 of the next culture's text with the same id; 0: no more texts */
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
    struct texts *warnings; /* may be NULL */
    struct manifest_strings strings;
    /* The messages of the messageTable element, by symbol. $(mc.SYMBOL) refers to them. */
    struct manifest_strings table;
    struct name_index table_values; /* symbol -> id of its message; the names belong to the table */
    /* The event provider that is being read. */
    struct provider_manifest *p;
    struct name_index names[MANIFEST_KINDS]; /* for opcodes of tasks see opcode_key */
    struct name_index chids, maps, layouts;
    struct texts keys; /* owns the keys of opcodes that belong to tasks */
    uint32_t map_messages;
    size_t message_bytes; /* size of all messages so far */
};

/* ---- the document ---- */

/* Opens a manifest: UTF-8, or UTF-16 with a byte order mark, with the root instrumentationManifest. Other documents are
   rejected with MANIFEST_INVALID. *out is zero on failure. */
HRESULT manifest_open(const void *xml, size_t size, struct xml_document *out);
/* Reads all string tables of the document. */
HRESULT manifest_read_strings(struct manifest_reader *r, xmlNodePtr root);

/* ---- values ---- */

/* Sets the error MANIFEST_INVALID. Its text names the line, the element, the reason and, unless they are NULL, the
   attribute and its value. */
HRESULT manifest_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Returns whether the node is an element of the manifest namespace with that name. */
bool manifest_is(xmlNodePtr node, const char *name);
/* Warns about an ignored element of the manifest namespace; elements of other namespaces are ignored silently. */
HRESULT manifest_skip_element(struct manifest_reader *r, xmlNodePtr node);
/* Adds a warning about an element, with its line and name. */
HRESULT manifest_warn_element(struct manifest_reader *r, xmlNodePtr element, const char *text);
/* Reads an attribute without surrounding whitespace. *out is from memory_alloc; NULL if the attribute is missing. */
HRESULT manifest_text(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out);
/* Reads an attribute that must exist and not be empty. */
HRESULT manifest_name(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out);
/* Reads a number in decimal or, with 0x, in hexadecimal. Returns S_FALSE and leaves *out unchanged if the attribute is
   missing. */
HRESULT manifest_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                        uint64_t *out);
/* Like manifest_number, but the attribute is required. */
HRESULT manifest_required_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                                 uint64_t *out);
/* Reads an attribute that is true or false. Returns S_FALSE and leaves *out unchanged if it is missing. */
HRESULT manifest_bool(struct manifest_reader *r, xmlNodePtr e, const char *name, bool *out);
/* Reads an attribute that is a GUID. Returns S_FALSE and leaves *out unchanged if it is missing. */
HRESULT manifest_guid(struct manifest_reader *r, xmlNodePtr e, const char *name, GUID *out);
/* Returns the local part of a QName (borrowed). *of_windows is true if the prefix refers to Windows' own definitions. A
   declared name can contain a colon, so the caller must first look up the whole QName. */
const char *manifest_local_name(xmlNodePtr e, const char *qname, bool *of_windows);
/* Calls `each` for the child elements of that name and ignores others with a warning. */
typedef HRESULT manifest_each(struct manifest_reader *r, xmlNodePtr element, void *about);
HRESULT manifest_children(struct manifest_reader *r, xmlNodePtr parent, const char *name, manifest_each *each,
                          void *about);

/* ---- strings ---- */

HRESULT manifest_read_localization(struct manifest_reader *r, xmlNodePtr localization);
HRESULT manifest_read_message_table(struct manifest_reader *r, xmlNodePtr table);
void manifest_strings_free(struct manifest_strings *s);
/* Adds the attribute's text in each culture as the message with that id. *to becomes the id, or the id of the
   messageTable entry to which the attribute refers; it is unchanged if the attribute is missing. */
HRESULT manifest_message(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id, uint32_t *to);
/* Reads an attribute and replaces its $(string.ID) references. The replacements are the English strings if they
   exist, otherwise those of the first culture that has the strings. *out is from memory_alloc; NULL if the attribute
   is missing. */
HRESULT manifest_plain_text(struct manifest_reader *r, xmlNodePtr e, const char *attribute, char **out);
/* Adds a message that Windows defines for all event providers. Adds it to each culture. */
HRESULT manifest_add_message(struct manifest_reader *r, uint32_t id, const char *text);

/* ---- parts ---- */

HRESULT manifest_read_fields(struct manifest_reader *r, xmlNodePtr provider);
HRESULT manifest_read_channels(struct manifest_reader *r, xmlNodePtr channels);
HRESULT manifest_read_maps(struct manifest_reader *r, xmlNodePtr maps);
HRESULT manifest_read_templates(struct manifest_reader *r, xmlNodePtr templates);
HRESULT manifest_read_filters(struct manifest_reader *r, xmlNodePtr filters);
HRESULT manifest_read_events(struct manifest_reader *r, xmlNodePtr events);
/* Adds a name to an index; MANIFEST_INVALID if it already exists. */
HRESULT manifest_add_name(xmlNodePtr e, const char *attribute, struct name_index *index, const char *name,
                          size_t place);
/* Finds the field to which an event's QName refers. A field defined by Windows is added to the event provider. An
   opcode of the task takes precedence over a global one. */
HRESULT manifest_find_field(struct manifest_reader *r, xmlNodePtr e, const char *attribute, const char *qname,
                            enum manifest_kind kind, uint16_t task, const struct manifest_field **out);

#endif
