/* SPDX-License-Identifier: MIT */
/* Whether a folder may hold the service's programs: who writes there runs code as the service. */
#ifndef OPENPLA_PROGRAM_FOLDER_H
#define OPENPLA_PROGRAM_FOLDER_H

#include "engine/base/text.h"

#include <windows.h>

/* S_OK, or E_ACCESSDENIED with a text that names the folder or program and the account which can change it: neither the
   system, administrators or TrustedInstaller. Looked at are the folder, the one of 32-bit programs in it, the programs
   and libraries of both, and what leads to them, since who renames a parent puts another folder in its place. A folder
   that is not there yet is as its parent. Under Wine, which gives each file of this Unix user an entry of this account,
   and of its mode for others one for everyone: only what everyone may write is refused, and of parents, of which Wine
   does not know the sticky ones, nothing is asked. */
HRESULT program_folder_check(const char *folder);

/* Of one descriptor with owner and DACL: S_FALSE when nobody else has any of these rights, else S_OK with *who his name
   or SID, from memory_alloc; "everyone" for what has no DACL. `own`: this process' account counts as trusted, and so
   does any owner. */
#define PROGRAM_FOLDER_RIGHTS (0x100d0156 | 0x40000000) /* add, append, attributes, delete, its descriptor; generic */
#define PROGRAM_PARENT_RIGHTS (0x100d0040) /* rename it, delete what is in it, its descriptor; generic all */
HRESULT program_folder_writer(PSECURITY_DESCRIPTOR descriptor, DWORD rights, bool own, char **who);

#endif
