/* SPDX-License-Identifier: MIT */
/* Providers as an instrumentation manifest, the XML that manifest_xml.h reads, wherever what is known of them comes
   from. */
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
                              struct texts *remarks);
/* Adds the whole document. E_OUTOFMEMORY. */
HRESULT manifest_document_text(const struct manifest_document *d, struct text_buffer *out);

#endif
