/* SPDX-License-Identifier: MIT */
/* The folder that the files of lasting sections of this Wine prefix lie in: in memory (/dev/shm) where the host has
   that, else among the prefix's temporary files. Every account of the host may make files in /dev/shm, under any name
   that it can guess, and links too, which Wine follows. So the folder has a name of 128 random bits and the account
   alone may enter it (mode 0700). Which one it is stands in a file of the prefix, windows\openpla.shared: the prefix
   (a copy of it is another one), the name, and the folder's number on the host, since a folder or link that somebody
   made under a name of before a restart is not the one that was made here. A folder that is gone, or is not as that
   file says, is replaced by a new one with a new name. */
#ifndef OPENPLA_LASTING_FOLDER_H
#define OPENPLA_LASTING_FOLDER_H

#include "engine/base/process.h"

#include <windows.h>

enum { LASTING_PATH_UNITS = 512 };
/* Made if it does not exist. Each call checks it. */
HRESULT lasting_folder(WCHAR out[LASTING_PATH_UNITS]);
/* Whether what is open for READ_CONTROL belongs to this account. E_ACCESSDENIED, with both accounts. */
HRESULT lasting_check_own(HANDLE file, const char *name);

#endif
