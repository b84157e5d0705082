/* SPDX-License-Identifier: MIT */
/* Checks whether a folder may contain the service's programs: an account that can write there runs code as the service.
 */
#ifndef OPENPLA_PROGRAM_FOLDER_H
#define OPENPLA_PROGRAM_FOLDER_H

#include "engine/base/text.h"

#include <windows.h>

/* Returns S_OK, or E_ACCESSDENIED with a message that names the folder or program and the account that can change it,
   other than the system, administrators and TrustedInstaller. Checks the folder, its folder of 32-bit programs, the
   programs and libraries of both, and all parent folders, because an account that can rename a parent can put another
   folder in its place. For a folder that does not exist, its parent is checked. Under Wine each file has entries only
   for the current Unix user and, from its mode for others, for Everyone. Therefore only access by Everyone is rejected,
   and parents are not checked, because Wine does not report the sticky bit. */
HRESULT program_folder_check(const char *folder);

/* Rights to a program folder: add and append files, set attributes, delete, change the descriptor, GENERIC_WRITE. */
#define PROGRAM_FOLDER_RIGHTS (0x100d0156 | 0x40000000)
/* Rights to a parent folder: rename it, delete its contents, change the descriptor, GENERIC_ALL. */
#define PROGRAM_PARENT_RIGHTS (0x100d0040)

/* Checks one descriptor with owner and DACL: S_FALSE if no other account has any of `rights`, otherwise S_OK with the
   account's name or SID in *who, from memory_alloc ("everyone" without a DACL). `own`: this process's account and any
   owner count as trusted. */
HRESULT program_folder_writer(PSECURITY_DESCRIPTOR descriptor, DWORD rights, bool own, char **who);

#endif
