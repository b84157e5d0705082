/* SPDX-License-Identifier: MIT */
/* Copies of files in one folder: names that are taken get a number, times and attributes are kept, and a file that
   changes meanwhile is known by that. */
#ifndef OPENPLA_COLLECT_FILE_COPIES_H
#define OPENPLA_COLLECT_FILE_COPIES_H

#include "engine/base/file_traits.h"
#include "engine/pla/collect/number_table.h"

#include <stdatomic.h>

struct file_copies {
    const char *base, *folder; /* borrowed: copies go into `folder`, which lies below `base` */
    void (*made)(const char *base, const char *folder, const char *path); /* before each copy; NULL: nobody asks */
    const atomic_bool *stop;                                              /* borrowed */
    uint64_t most_bytes;                                                  /* of all copies; 0: any number */
    uint64_t bytes;                                                       /* of all copies by now */
    struct number_table numbers;                                          /* the next number of a name */
    char *buffer, *below;        /* the folder in `folder` that the next one goes to; NULL: none */
    uint32_t folders, in_folder; /* such folders; copies in the present one */
};
struct file_copy {
    char *name;                /* from `folder` on; NULL: there is none */
    struct file_traits traits; /* of the original, when it was opened */
    bool changed;              /* it was written while it was copied: what came is not one moment's */
};

HRESULT file_copies_begin(struct file_copies *c);
/* S_OK: all is there. On failure nothing is left in the folder; the text names the file and the reason. E_ABORT:
   stopped. ERROR_FILE_TOO_LARGE's: beyond most_bytes. *out is to be freed in any case. */
HRESULT file_copies_add(struct file_copies *c, const char *path, struct file_copy *out);
void file_copy_free(struct file_copy *copy);
void file_copies_end(struct file_copies *c);

#endif
