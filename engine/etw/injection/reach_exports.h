/* SPDX-License-Identifier: MIT */
/* Adds exports to a loaded module, for functions that Windows' module exports and Wine's module of that name does not.
   GetProcAddress does not find them, so a program would conclude that the system lacks them (DECISIONS 122).

   GetProcAddress reads the export directory in the module's memory. So a larger directory is placed after the module,
   and the module's header is changed to refer to it:

     export directory | functions | names | ordinals | forwarders, new names | padding | thunks
     `---------------------------- directory ------------------------------'

   The loader treats an address within the directory as a forwarder. So existing forwarders move into it, and thunks
   are placed after it. A thunk jumps to a function that may be farther away than an RVA reaches. */
#ifndef OPENPLA_REACH_EXPORTS_H
#define OPENPLA_REACH_EXPORTS_H

#include "engine/base/error.h"

struct injection_export {
    const char *name;
    const void *function;
};

/* The plan of the new directory. The image and the names are borrowed. */
struct injection_exports {
    const uint8_t *image;
    const struct injection_export *more;
    /* Of the old directory and the new ones, in the order in which the loader searches them. */
    struct injection_name *names;
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* size of the directory in bytes */
    uint32_t size;       /* size of the block in bytes */
    uint32_t entry;      /* offset in the image of the header's export entry, 8 bytes */
    uint32_t image_size; /* size in memory */
};
/* Plans the directory. `image`: a loaded 64-bit module, which is trusted. Names that it exports already are left
   out; S_FALSE: it exports all of them, or has no export directory. E_OUTOFMEMORY. */
HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out);
/* Writes the block of `size` bytes as it must be at this RVA of the image. */
void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block);
void injection_exports_free(struct injection_exports *e);

#endif
