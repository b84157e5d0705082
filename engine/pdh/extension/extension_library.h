/* SPDX-License-Identifier: MIT */
/* Where the DLL is that a service's key names as its Library. */
#ifndef OPENPLA_PDH_EXTENSION_LIBRARY_H
#define OPENPLA_PDH_EXTENSION_LIBRARY_H

#include "engine/base/text.h"

/* The full path of what `library` (environment variables replaced already) names: a full path stands as it is, a bare
   name is in the folder `system` and nowhere else. E_INVALIDARG with a text for what depends on a current folder or is
   empty. *out from memory_alloc. */
HRESULT extension_library_path(const char *library, const char *system, char **out);

#endif
