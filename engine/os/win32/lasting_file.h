/* SPDX-License-Identifier: MIT */
/* The files that lasting sections of this Wine prefix lie in: in memory (/dev/shm) where the host has that, else in the
   prefix's folder for temporary files. Wine has no memory that outlives its last process otherwise. */
#ifndef OPENPLA_LASTING_FILE_H
#define OPENPLA_LASTING_FILE_H

#include "engine/os/process.h"

#include <windows.h>

/* A mapping of the file that `what` names, with at least `size` bytes. Errors as section_open has them. *file is a
   number that no other file has as long as the mapping is there. */
HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, uint64_t *file);
/* That of the file which has the name now. S_FALSE: there is none. */
HRESULT lasting_number(const char *name, uint64_t *file);

#endif
