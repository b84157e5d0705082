/* SPDX-License-Identifier: MIT */
/* WEVT_TEMPLATE resources: what mc compiles a manifest to, and what is registered with Windows. */
#ifndef OPENPLA_WEVT_TEMPLATE_H
#define OPENPLA_WEVT_TEMPLATE_H

#include "engine/etw/decode/manifest/manifest_xml.h"

/* All providers of a resource, which is not trusted. They have no names, no messages, and no filters: those are in the
   registry and in message tables, or nobody has published how they are written. ERROR_INVALID_DATA's HRESULT with a
   text that names the block and the offset. *out is empty on failure. */
HRESULT wevt_template_read(const uint8_t *bytes, size_t size, struct provider_manifests *out);
/* *bytes from memory_alloc. */
HRESULT wevt_template_write(const struct provider_manifests *list, uint8_t **bytes, size_t *size);

/* The resources of a file: templates, and with them the messages of all its languages. S_FALSE with *out empty: it has
   no WEVT_TEMPLATE. */
HRESULT wevt_template_load(const char *path, struct provider_manifests *out);
/* Adds the message tables of a file to `to`. S_FALSE: it has none. */
HRESULT message_tables_load(const char *path, struct message_tables *to);

#endif
