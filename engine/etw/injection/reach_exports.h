/* SPDX-License-Identifier: MIT */
/* Functions that a module of Windows exports and Wine's module of that name does not: GetProcAddress finds none, so a
   program takes the system for one that lacks them (DECISIONS 122). GetProcAddress reads the export directory in the
   module's memory. A larger directory is placed behind the module, and the module's header then names that one:

       export directory | functions | names | ordinals | forwarders, new names | padding | thunks
       `---------------------------- directory ------------------------------'

   What lies in the directory's range is a forwarder to the loader, so forwarders move into it and thunks lie behind it.
   A thunk jumps to a function that may be farther away than an RVA reaches. */
#ifndef OPENPLA_REACH_EXPORTS_H
#define OPENPLA_REACH_EXPORTS_H

#include "engine/base/error.h"

struct reach_export {
    const char *name;
    const void *function;
};

/* What is to be built. The image and the names are borrowed. */
struct reach_exports {
    const uint8_t *image;
    const struct reach_export *more;
    struct reach_name *names; /* of the old directory and the new ones, as the loader searches them */
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* bytes of the directory */
    uint32_t size;       /* bytes in all */
    uint32_t entry;      /* offset in the image of the header's 8 bytes about exports */
    uint32_t image_size; /* in memory */
};
/* `image`: a 64-bit module as the loader has mapped it, which is trusted. Names that it exports are left out; S_FALSE:
   it exports all of them, or has no export directory. E_OUTOFMEMORY. */
HRESULT reach_exports_plan(const uint8_t *image, const struct reach_export *more, size_t count,
                           struct reach_exports *out);
/* The block of `size` bytes as it has to be at this RVA of the image. */
void reach_exports_build(const struct reach_exports *e, uint32_t rva, uint8_t *block);
void reach_exports_free(struct reach_exports *e);

#endif
