/* SPDX-License-Identifier: MIT */
/* Writes event providers as an instrumentation manifest (the XML that manifest_xml.c reads), regardless of the source
   of the data. */
#ifndef OPENPLA_MANIFEST_DOCUMENT_H
#define OPENPLA_MANIFEST_DOCUMENT_H

#include "engine/etw/provider_manifest.h"

/* The string table of a language. */
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

/* Adds the event provider with the events selected by `wanted` (by index; NULL: all) and everything that these need. No
   two providers may have the same GUID. Adds to `warnings` everything that a manifest cannot express. Returns S_FALSE,
   with a warning, if the whole provider cannot be written and was skipped. An added provider can be read by
   manifest_xml_read, and its events decode as before. */
HRESULT manifest_document_add(struct manifest_document *d, const struct provider_manifest *m, const bool *wanted,
                              struct texts *warnings);
/* Appends the whole document. E_OUTOFMEMORY. */
HRESULT manifest_document_text(const struct manifest_document *d, struct text_buffer *out);

/* ---- inside manifest_document.c: one provider as the element of a manifest ---- */

/* How events refer to a field: by its own name, Windows' name or a generated one. */
struct manifest_name {
    char *text; /* NULL: the manifest cannot express the field */
    bool declared;
    bool made; /* generated: without a message the field's own name is its text, so it must become its message */
};
struct manifest_writing {
    const struct provider_manifest *m;
    const bool *wanted; /* by event; NULL: all */
    struct texts *warnings;
    struct manifest_document *d;
    size_t number; /* number of the provider, used as prefix of its strings */
    struct manifest_name *names[MANIFEST_KINDS];
    /* Values that occur in events but in no field. */
    struct provider_manifest *undeclared;
    bool *layouts, *maps; /* those that are needed */
    uint64_t compared;    /* number of comparisons so far of events whose opcodes have the same name */
};
/* Maximum number of comparisons: a few seconds. */
#define MANIFEST_MOST_COMPARED (UINT64_C(1) << 31)
/* E_OUTOFMEMORY. Warns about what a manifest cannot express. */
HRESULT manifest_write_provider(struct manifest_writing *w);

/* ---- shared by the writers ---- */

/* Adds a warning about the provider. E_OUTOFMEMORY. */
HRESULT manifest_write_warning(struct manifest_writing *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes an attribute `message` with the texts of the id in all languages; without texts uses `text`, unless that
   is NULL. */
HRESULT manifest_write_message(struct manifest_writing *w, uint32_t id, const char *text, const char *kind,
                               size_t index);
/* The reader would reject a longer document. */
bool manifest_write_is_full(const struct text_buffer *b);
/* Returns the name without characters that would be read as a prefix or a separator. */
char *manifest_plain_name(const char *name);

HRESULT manifest_write_maps(struct manifest_writing *w);
HRESULT manifest_write_templates(struct manifest_writing *w);
HRESULT manifest_write_filters(struct manifest_writing *w);
/* Returns the name of a template; NULL when out of memory. */
char *manifest_layout_name(const struct provider_manifest *m, size_t index);

#endif
