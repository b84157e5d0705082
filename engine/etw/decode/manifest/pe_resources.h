/* SPDX-License-Identifier: MIT */
/* The resources of a program or DLL, whatever processor it is for; none of its code runs, and nothing in it is trusted.
 */
#ifndef OPENPLA_PE_RESOURCES_H
#define OPENPLA_PE_RESOURCES_H

#include "engine/base/text.h"

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
