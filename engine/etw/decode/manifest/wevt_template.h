/* SPDX-License-Identifier: MIT */
/* Resources of programs and DLLs, and the WEVT_TEMPLATE resource, to which mc compiles a manifest and which is
   registered with Windows. wevt_template_write.c shows the layout. */
#ifndef OPENPLA_WEVT_TEMPLATE_H
#define OPENPLA_WEVT_TEMPLATE_H

#include "engine/base/text.h"
#include "engine/etw/provider_manifest.h"

/* Reads all event providers of an untrusted resource. They have no names, messages or filters: names are in the
   registry, messages in message tables, and the format of filters is not documented. Returns ERROR_INVALID_DATA's
   HRESULT with an error text that names the block and the offset. *out is empty on failure. */
HRESULT wevt_template_read(const uint8_t *bytes, size_t size, struct provider_manifests *out);
/* *bytes is from memory_alloc. */
HRESULT wevt_template_write(const struct provider_manifests *list, uint8_t **bytes, size_t *size);

/* Reads the templates of a file and the messages of all its languages. Returns S_FALSE and an empty *out if it has no
   WEVT_TEMPLATE. */
HRESULT wevt_template_load(const char *path, struct provider_manifests *out);
/* Adds the message tables of a file to `to`. S_FALSE: it has none. */
HRESULT message_tables_load(const char *path, struct message_tables *to);

/* ---- resources of programs for any processor; they are untrusted, and none of their code is executed ---- */

struct pe_resources {
    uint8_t *section; /* the section that contains the resources */
    size_t size;
    uint32_t address, root; /* RVA of the section; offset of the root directory in the section */
};
/* Returns S_FALSE if the file has no resources, ERROR_BAD_EXE_FORMAT's HRESULT, with an error text, if it is not a
   program. *out is empty unless S_OK. */
HRESULT pe_resources_load(const char *path, struct pe_resources *out);
HRESULT pe_resources_read(const uint8_t *file, size_t size, struct pe_resources *out);
void pe_resources_free(struct pe_resources *resources);

/* Calls each(about, language, bytes, size) for the resources of a type, given by name (case is ignored) or, if NULL, by
   number, until that fails. Returns S_FALSE if the file has no such resource, ERROR_BAD_EXE_FORMAT's HRESULT if the
   directories are invalid. */
HRESULT pe_resources_each(const struct pe_resources *resources, const char *name, uint16_t number,
                          HRESULT (*each)(void *about, uint16_t language, const uint8_t *bytes, size_t size),
                          void *about);

/* ---- files with resources only ---- */

struct pe_resource {
    const char *type_name; /* NULL: type_number */
    uint16_t type_number, language;
    const uint8_t *bytes;
    size_t size;
};
/* Creates a DLL that contains only these resources, each with the name 1. Resources of one type must be adjacent, named
   types first, in order of language. *file is from memory_alloc. */
HRESULT pe_resources_write(const struct pe_resource *list, size_t count, uint8_t **file, size_t *size);

#endif
