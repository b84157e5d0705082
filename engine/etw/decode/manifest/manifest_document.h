/* SPDX-License-Identifier: MIT */
/* Writes event providers from any source of data as an instrumentation manifest (the XML that manifest_xml.c reads). */
#ifndef OPENPLA_MANIFEST_DOCUMENT_H
#define OPENPLA_MANIFEST_DOCUMENT_H

#include "engine/etw/provider_manifest.h"

/* The strings of a language. */
struct manifest_culture {
    char *name;
    struct text_buffer strings;
};
/* Zero-initialise. */
struct manifest_document {
    struct text_buffer providers;
    size_t provider_count;
    struct manifest_culture *cultures;
    size_t culture_count, culture_capacity;
};
void manifest_document_free(struct manifest_document *d);

/* Adds the event provider with the events selected by `wanted` (by index; NULL: all) and everything that these events
   need. No two added event providers may have the same GUID. Adds a warning for everything that a manifest cannot
   express. Returns S_FALSE, with a warning, if the whole event provider cannot be written and was skipped.
   manifest_xml_read can read the result, and decoding events with it gives the same values and names as with *m. */
HRESULT manifest_document_add(struct manifest_document *d, const struct provider_manifest *m, const bool *wanted,
                              struct texts *warnings);
/* Appends the whole document. Errors: E_OUTOFMEMORY. */
HRESULT manifest_document_text(const struct manifest_document *d, struct text_buffer *out);

/* ---- inside manifest_document.c: one event provider as an element of the manifest ---- */

/* The name by which events refer to a field: the field's own name, Windows' name, or a generated name. */
struct manifest_name {
    char *text; /* NULL: the manifest cannot express the field */
    bool declared;
    bool made; /* the name is generated; if the field has no message, its original name becomes the message, so that
                  readers still see it */
};
struct manifest_writing {
    const struct provider_manifest *m;
    const bool *wanted; /* selected events by index; NULL: all */
    struct texts *warnings;
    struct manifest_document *d;
    size_t number; /* number of the event provider, used as a prefix of its string ids */
    struct manifest_name *names[MANIFEST_KINDS];
    /* Fields for values that occur in events but are not declared as fields. */
    struct provider_manifest *undeclared;
    bool *layouts, *maps; /* which templates and maps are needed */
    uint64_t compared;    /* number of events checked by opcode_hides so far, limited by MANIFEST_MOST_COMPARED */
};
/* Maximum number of comparisons. So many comparisons take a few seconds. */
#define MANIFEST_MOST_COMPARED (UINT64_C(1) << 31)
/* Writes the event provider. Warns about what a manifest cannot express. Errors: E_OUTOFMEMORY. */
HRESULT manifest_write_provider(struct manifest_writing *w);

/* ---- shared by the writers ---- */

/* Adds a warning about the event provider. Errors: E_OUTOFMEMORY. */
HRESULT manifest_write_warning(struct manifest_writing *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes an attribute `message` with the texts of message `id` in all languages. If there are no texts, writes `text`
   unless it is NULL. */
HRESULT manifest_write_message(struct manifest_writing *w, uint32_t id, const char *text, const char *kind,
                               size_t index);
/* Returns whether the document has its maximum size, beyond which the reader would reject it. */
bool manifest_write_is_full(const struct text_buffer *b);
/* Returns the name without the characters that would be read as a prefix or separator. */
char *manifest_plain_name(const char *name);

HRESULT manifest_write_maps(struct manifest_writing *w);
HRESULT manifest_write_templates(struct manifest_writing *w);
HRESULT manifest_write_filters(struct manifest_writing *w);
/* Returns the name of a template; NULL when out of memory. */
char *manifest_layout_name(const struct provider_manifest *m, size_t index);

#endif
