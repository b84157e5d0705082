/* SPDX-License-Identifier: MIT */
/* Lists the exports and import slots of a loaded module. The module must have the bitness of this process. A program
   can change its headers and tables at any time. Therefore each value is copied, checked against the size of the image
   and then used, and every loop ends at the end of the image. */
#ifndef OPENPLA_API_IMAGE_H
#define OPENPLA_API_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_image {
    uint8_t *base;
    uint32_t size; /* bytes in memory: SizeOfImage, limited to the bytes that the caller knows to be mapped */
    uint32_t sections, section_count;
    uint32_t exports, exports_size, imports, imports_size, delays, delays_size; /* RVAs and sizes; RVA 0: no table */
};

/* Reads the headers. Returns false if `base` is not an image of this process's bitness. */
bool api_image_read(void *base, size_t mapped, struct api_image *out);
/* Returns whether the section that contains the RVA is executable. */
bool api_image_is_code(const struct api_image *image, uint32_t rva);

struct api_export {
    const char *name; /* points into the image, which contains the whole name and its NUL */
    uint32_t rva;
    bool forwards; /* the export forwards to a function of another module, so `rva` is not the address of code */
};
/* Calls `take` for each export that has a name and an address. Returns false if the table is corrupt; `take` may have
   been called for a part of the table. */
bool api_image_exports(const struct api_image *image, void (*take)(void *user, const struct api_export *found),
                       void *user);
/* Calls `take` for each slot of an imported function, including delayed imports. `dll` is the name of the DLL, `slot`
   the aligned address of the slot. Returns false if a table is corrupt; `take` may have been called for a part of the
   slots. */
bool api_image_imports(const struct api_image *image, void (*take)(void *user, const char *dll, void **slot),
                       void *user);

#endif
