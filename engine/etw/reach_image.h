/* SPDX-License-Identifier: MIT */
/* The image of a program that does not know us, in its file or in the memory of a process that has not begun: may
   openetw.dll become its first import, and what is to be written for it (DECISIONS 44). */
#ifndef OPENPLA_REACH_IMAGE_H
#define OPENPLA_REACH_IMAGE_H

#include "engine/base/error.h"

/* The functions of openetw.dll that such an import names: the program alone, or what it starts too. By them the DLL
   knows that it is to take the program's calls. */
#define REACH_ENTRY          "OpenEtwRun"
#define REACH_ENTRY_CHILDREN "OpenEtwRunChildren"

struct reach_source {
    /* All `size` bytes at `offset` from the image's beginning, or a failure. */
    HRESULT (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
};

/* What the headers say of imports, and of bound ones: RVA and size of each. */
struct reach_entries {
    uint32_t imports, imports_size, bound, bound_size;
};
struct reach_image {
    uint32_t size;         /* in memory, bytes */
    uint32_t import_entry; /* offset of the header's 8 bytes about imports */
    uint32_t bound_entry;  /* the same for bound imports; 0: there is none */
    struct reach_entries entries;
};

/* From what is the same in a file and in memory. `name` is for the texts of HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT):
   no program, one for another processor or of 32 bits, a .NET program, a DLL, a damaged one. */
HRESULT reach_image_read(const struct reach_source *from, const char *name, struct reach_image *out);

/* In memory. S_OK: its first import is one of the two functions, *children says which, and *before what its headers
   said then; S_FALSE: it is not. */
HRESULT reach_image_is_reached(const struct reach_source *from, const struct reach_image *image, bool *children,
                               struct reach_entries *before);

/* An import directory with one DLL before those of the image, and what it points to: to be written at an RVA. */
struct reach_block {
    uint8_t *bytes; /* from memory_alloc */
    size_t size;
    uint32_t directory; /* bytes of it that are the directory */
};
/* In memory. `dll` is a path as Wine's loader takes names of imports: each byte one UTF-16 unit. */
HRESULT reach_block_make(const struct reach_source *from, const struct reach_image *image, const char *name,
                         const char *dll, const char *function, struct reach_block *out);
/* Once: makes it fit for this RVA, which is below 2^32 with the block's size. */
void reach_block_place(struct reach_block *block, uint32_t rva);

#endif
