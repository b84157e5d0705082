/* SPDX-License-Identifier: MIT */
/* Who may do what with the files, folders and objects that we make, and whose they are. */
#ifndef OPENPLA_PROTECTION_H
#define OPENPLA_PROTECTION_H

#include "engine/base/text.h"

enum protection {
    PROTECTION_NONE, /* what the host gives by itself */
#define PROTECTION(name, descriptor) PROTECTION_##name,
#include "engine/base/protection.def"
#undef PROTECTION
};
/* The descriptor as SDDL, for this process' account, from memory_alloc; NULL when out of memory, and for
   PROTECTION_NONE. */
char *protection_sddl(enum protection what);

/* Makes the data folder or one below it, with every folder that is missing; the last gets that protection, those above
   it PROTECTION_DATA. What is there already must be ours, as folder_check_own says. A path elsewhere is made as
   folder_create makes it. ERROR_ALREADY_EXISTS's HRESULT for a file in the way. */
HRESULT folder_create_protected(const char *path, enum protection what);
/* Whether the folder and those above it, up to the data folder, are ours where they are there: a link is
   ERROR_BAD_PATHNAME's HRESULT, for it makes of our files whatever it leads to; a folder of another account, who may do
   with its contents what he likes, is ERROR_INVALID_OWNER's. Ours is what belongs to this account, the system or
   administrators. Asked of each folder once. */
HRESULT folder_check_own(const char *path);

/* Whose a file or folder is. */
struct ownership {
    bool is_folder, is_link, is_foreign;
    bool is_open;    /* others than its owner, the system, administrators and members may do something with it */
    char owner[192]; /* the text of a SID, natively a number */
};
/* S_FALSE: there is none. Follows no link. */
HRESULT file_ownership(const char *path, struct ownership *out);
/* Gives what is there the protection, and nothing else. */
HRESULT file_protect(const char *path, enum protection what);

/* For the layer's own files: makes one folder; its parent is there. */
HRESULT folder_create_one(const char *path, enum protection what);

#endif
