/* SPDX-License-Identifier: MIT */
/* The exports and import slots of a module in memory, of this process' width. A program can change its headers and
   tables at any time, so everything is copied, checked against the size of the image, and then used; loops end with the
   image. */
#ifndef OPENPLA_API_IMAGE_H
#define OPENPLA_API_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_image {
    uint8_t *base;
    uint32_t size; /* bytes in memory: SizeOfImage, at most what the caller knows to be mapped */
    uint32_t sections, section_count;
    uint32_t exports, exports_size, imports, imports_size, delays, delays_size; /* RVAs; 0: none */
};

/* False: not an image of this process' width. */
bool api_image_read(void *base, size_t mapped, struct api_image *out);
/* Whether the section with that RVA is executable. */
bool api_image_is_code(const struct api_image *image, uint32_t rva);

struct api_export {
    const char *name; /* ends in the image */
    uint32_t rva;
    bool forwards; /* to a function of another module; `rva` is not its address */
};
/* Calls `take` for each export that has a name and an address. False: the table is corrupt; nothing, or a part of it,
   was taken. */
bool api_image_exports(const struct api_image *image, void (*take)(void *user, const struct api_export *found),
                       void *user);
/* Calls `take` for each slot of an imported function: the name of the DLL, and the aligned place of the address. Also
   for those of delayed imports. False: as above. */
bool api_image_imports(const struct api_image *image, void (*take)(void *user, const char *dll, void **slot),
                       void *user);

#endif
