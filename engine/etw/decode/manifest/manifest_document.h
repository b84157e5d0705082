/* SPDX-License-Identifier: MIT */
/* Writes providers as an instrumentation manifest, the XML that manifest_xml.c reads, from whatever is known of them.
 */
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

/* Adds the provider with those of its events that `wanted` says by their index (NULL: all) and what they need; no two
   may have one GUID. What a manifest cannot say of them is a text in `remarks`. S_FALSE, with such a text: the whole
   provider cannot be written, and is left out. A provider that was added is read back by manifest_xml_read, and its
   events are decoded by that as they were. */
HRESULT manifest_document_add(struct manifest_document *d, const struct provider_manifest *m, const bool *wanted,
                              struct texts *warnings);
/* Adds the whole document. E_OUTOFMEMORY. */
HRESULT manifest_document_text(const struct manifest_document *d, struct text_buffer *out);

/* ---- inside manifest_document.c: one provider as the element of a manifest ---- */

/* How events name a field: its own name, Windows' or one that was made. */
struct manifest_name {
    char *text; /* NULL: a manifest cannot say the field */
    bool declared;
    bool made; /* its own name is the text that it has without a message; it must become its message */
};
struct manifest_writing {
    const struct provider_manifest *m;
    const bool *wanted; /* events; NULL: all */
    struct texts *warnings;
    struct manifest_document *d;
    size_t number; /* of the provider: before the names of its strings */
    struct manifest_name *names[MANIFEST_KINDS];
    /* Values that events have and no field says. */
    struct provider_manifest *undeclared;
    bool *layouts, *maps; /* those that are wanted */
    uint64_t compared;    /* events with opcodes of one name */
};
/* What is looked at one by one: some seconds of it. */
#define MANIFEST_MOST_COMPARED (UINT64_C(1) << 31)
/* E_OUTOFMEMORY; what cannot be said is remarked. */
HRESULT manifest_write_provider(struct manifest_writing *w);

/* ---- of its files ---- */

/* Remarks on the provider. E_OUTOFMEMORY. */
HRESULT manifest_write_warning(struct manifest_writing *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* An attribute `message` with the id's texts in all languages; without one `text`, unless that is NULL. */
HRESULT manifest_write_message(struct manifest_writing *w, uint32_t id, const char *text, const char *kind,
                               size_t index);
/* What is behind it is refused as a whole. */
bool manifest_write_is_full(const struct text_buffer *b);
/* Without what would be taken for a prefix or for two names. */
char *manifest_plain_name(const char *name);

HRESULT manifest_write_maps(struct manifest_writing *w);
HRESULT manifest_write_templates(struct manifest_writing *w);
HRESULT manifest_write_filters(struct manifest_writing *w);
/* The name of a template; NULL when out of memory. */
char *manifest_layout_name(const struct provider_manifest *m, size_t index);

#endif
