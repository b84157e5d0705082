/* SPDX-License-Identifier: MIT */
/* Reads and writes resources of programs and DLLs, in particular WEVT_TEMPLATE. mc compiles a manifest to this
   resource, and a file that contains it is registered with Windows. wevt_template_write.c shows the layout. */
#ifndef OPENPLA_WEVT_TEMPLATE_H
#define OPENPLA_WEVT_TEMPLATE_H

#include "engine/base/text.h"
#include "engine/etw/provider_manifest.h"

/* Reads all event providers in an untrusted resource. The event providers in *out have no names, messages or filters,
   because names are in the registry, messages are in message tables, and the format of filters is not documented.
   Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text that names the block and the offset. *out is empty
   on failure. */
HRESULT wevt_template_read(const uint8_t *bytes, size_t size, struct provider_manifests *out);
/* Compiles the event providers to a resource. *bytes is from memory_alloc. */
HRESULT wevt_template_write(const struct provider_manifests *list, uint8_t **bytes, size_t *size);

/* Reads the templates in a file, and the messages in all its languages. Returns S_FALSE and an empty *out if the file
   has no WEVT_TEMPLATE. */
HRESULT wevt_template_load(const char *path, struct provider_manifests *out);
/* Adds the message tables in a file to `to`. S_FALSE: the file has no message tables. */
HRESULT message_tables_load(const char *path, struct message_tables *to);

/* ---- resources of programs for any processor: untrusted data; code in the files is never executed ---- */

struct pe_resources {
    uint8_t *section; /* the section that contains the resources */
    size_t size;
    uint32_t address, root; /* RVA of the section; offset of the root directory in the section */
};
/* Reads the resource section of a file. Returns S_FALSE if the file has no resources, or
   HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) with an error text if it is not a program. *out is empty unless the result
   is S_OK. */
HRESULT pe_resources_load(const char *path, struct pe_resources *out);
HRESULT pe_resources_read(const uint8_t *file, size_t size, struct pe_resources *out);
void pe_resources_free(struct pe_resources *resources);

/* Calls each(about, language, bytes, size) for the resources of a type until a call fails. `name` is the name of the
   type (case is ignored). If `name` is NULL, `number` is the type. Returns S_FALSE if the file has no such resource,
   and HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) if the directories are invalid. */
HRESULT pe_resources_each(const struct pe_resources *resources, const char *name, uint16_t number,
                          HRESULT (*each)(void *about, uint16_t language, const uint8_t *bytes, size_t size),
                          void *about);

/* ---- files with resources only ---- */

struct pe_resource {
    const char *type_name; /* NULL: the type is type_number */
    uint16_t type_number, language;
    const uint8_t *bytes;
    size_t size;
};
/* Creates a DLL that contains only these resources, each with the name 1. Resources of one type must be adjacent and
   sorted by language, and types with names must be first. *file is from memory_alloc. */
HRESULT pe_resources_write(const struct pe_resource *list, size_t count, uint8_t **file, size_t *size);

#endif
