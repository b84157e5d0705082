/* SPDX-License-Identifier: MIT */
/* The keys of autologgers in the registry. One table says which values there are, of which type, to who reads them and
   who writes them. */
#ifndef OPENPLA_AUTOLOGGER_KEY_H
#define OPENPLA_AUTOLOGGER_KEY_H

#include "engine/etw/autologger.h"

#define AUTOLOGGER_KEY "Autologger"
#define AUTOLOGGER_ONE "GlobalLogger"
enum { AUTOLOGGER_NAME = 255 }; /* most UTF-16 units of the name of a key */

/* The path of Control\WMI\Autologger or ...\GlobalLogger (`kind`) of the directory of that name, or of the key `name`
   in it if that is not NULL. From memory_alloc, NULL when out of memory. */
char *autologger_path(const char *kind, const char *directory, const char *name);
/* What the key says; values that are not as they should be are as if they were not there, and the first of them is in
   `damaged`. S_FALSE: there is no key. *out is empty unless S_OK, else for autologger_free. */
HRESULT autologger_load(const char *path, const char *name, struct autologger *out);
/* Writes the values that are `there` and takes away the others, providers' keys as well; what is in the key besides, as
   FileCounter, Status and what others have put there, stays. A key that is not there is made, and Start is written
   last. ERROR_ALREADY_EXISTS's HRESULT: `is_new`, and there is one. What has failed is put back as far as it can be. */
HRESULT autologger_save(const char *path, const struct autologger *a, bool is_new);

#endif
