/* SPDX-License-Identifier: MIT */
/* Names of sets as names of files, and back. */
#ifndef OPENPLA_STORE_NAME_H
#define OPENPLA_STORE_NAME_H

#include "engine/base/text.h"

/* The known namespace that `space` means in any case, static; E_NOINTERFACE with an error text when there is none. */
HRESULT store_find_namespace(const char *space, const char **known);
/* The folded name that store_file_name made `file` of; a name that had to be shortened comes back as its file name.
   From memory_alloc, NULL when out of memory. */
char *store_name_of_file(const char *file);

#endif
