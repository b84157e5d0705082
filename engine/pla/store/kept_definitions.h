/* SPDX-License-Identifier: MIT */
/* The definitions that this process has read, each with the stamp of its file, so that who asks for thousands opens
   only those that have changed. */
#ifndef OPENPLA_KEPT_DEFINITIONS_H
#define OPENPLA_KEPT_DEFINITIONS_H

#include "engine/base/file.h"
#include "engine/pla/store.h"

struct kept_definition {
    char *entry; /* its file's name */
    struct stored_set set;
    bool settled; /* a later change of the file is another stamp */
};
/* Those of one place, in the order of their files' names. */
struct kept_definitions {
    struct kept_definition *items;
    size_t count, capacity;
};

typedef HRESULT see_file(void *user, const struct seen_file *file);
/* Reads what is in the place now: a file that is kept with its stamp is not opened. Under the store's lock. All files
   of the place are given to `also`, unless that is NULL. *out is for kept_definitions_keep also on failure, which is
   E_OUTOFMEMORY, the folder's or that of `also`. */
HRESULT kept_definitions_read(const char *place, see_file *also, void *user, struct kept_definitions *out);
/* Gives back what was read; where nothing is kept, or no more than now, it is freed. */
void kept_definitions_keep(const char *place, struct kept_definitions *read);
/* A copy of what is kept of that file with this stamp; S_FALSE: nothing is. `out` is to be freed also on failure. */
HRESULT kept_definitions_find(const char *place, const char *file, uint64_t stamp, struct stored_set *out);
/* Whether what was read of definitions is kept at all. */
bool kept_definitions_wanted(void);
HRESULT stored_set_copy(const struct stored_set *from, struct stored_set *out);

#endif
