/* SPDX-License-Identifier: MIT */
/* The resources of a program or DLL, and the WEVT_TEMPLATE among them: what mc compiles a manifest to, and what is
   registered with Windows. */
#ifndef OPENPLA_WEVT_TEMPLATE_H
#define OPENPLA_WEVT_TEMPLATE_H

#include "engine/base/text.h"
#include "engine/etw/provider_manifest.h"

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

/* ---- resources of a program for any processor; none of its code runs, and nothing in it is trusted ---- */

struct pe_resources {
    uint8_t *section; /* the one that has them */
    size_t size;
    uint32_t address, root; /* of the section in the image; of the root directory in the section */
};
/* S_FALSE: the file has none. ERROR_BAD_EXE_FORMAT's HRESULT with a text that says why: it is no program. *out is empty
   unless S_OK. */
HRESULT pe_resources_load(const char *path, struct pe_resources *out);
HRESULT pe_resources_read(const uint8_t *file, size_t size, struct pe_resources *out);
void pe_resources_free(struct pe_resources *resources);

/* Calls each(about, language, bytes, size) for the resources of a type, by its name (in any case) or, with NULL, its
   number, until that fails. S_FALSE: there is none. ERROR_BAD_EXE_FORMAT's HRESULT: its directories cannot be. */
HRESULT pe_resources_each(const struct pe_resources *resources, const char *name, uint16_t number,
                          HRESULT (*each)(void *about, uint16_t language, const uint8_t *bytes, size_t size),
                          void *about);

/* ---- files of resources alone ---- */

struct pe_resource {
    const char *type_name; /* NULL: type_number */
    uint16_t type_number, language;
    const uint8_t *bytes;
    size_t size;
};
/* A DLL with these resources, each named 1, and nothing else; those of one type stand together, named types first, in
   the order of their languages. *file from memory_alloc. */
HRESULT pe_resources_write(const struct pe_resource *list, size_t count, uint8_t **file, size_t *size);

#endif
