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

struct injection_export {
    const char *name;
    const void *function;
};

/* What is to be built. The image and the names are borrowed. */
struct injection_exports {
    const uint8_t *image;
    const struct injection_export *more;
    struct injection_name *names; /* of the old directory and the new ones, as the loader searches them */
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* bytes of the directory */
    uint32_t size;       /* bytes in all */
    uint32_t entry;      /* offset in the image of the header's 8 bytes about exports */
    uint32_t image_size; /* in memory */
};
/* `image`: a 64-bit module as the loader has mapped it, which is trusted. Names that it exports are left out; S_FALSE:
   it exports all of them, or has no export directory. E_OUTOFMEMORY. */
HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out);
/* The block of `size` bytes as it has to be at this RVA of the image. */
void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block);
void injection_exports_free(struct injection_exports *e);

#endif
