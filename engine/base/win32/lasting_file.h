/* SPDX-License-Identifier: MIT */
/* The files that lasting sections of this Wine prefix lie in (lasting_folder.h). Wine has no memory that outlives its
   last process otherwise. */
#ifndef OPENPLA_LASTING_FILE_H
#define OPENPLA_LASTING_FILE_H

#include "engine/base/process.h"

#include <windows.h>

/* A mapping of the file that `what` names, with at least `size` bytes. Errors as section_open has them. *of is
   the file, and *number one that no other file has as long as the mapping exists. */
HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, HANDLE *of, uint64_t *number);
/* The number of the file that has the name now. S_FALSE: no file has it. */
HRESULT lasting_number(const char *name, uint64_t *file);

#endif
