/* SPDX-License-Identifier: MIT */
/* Which counters there are now, as PDH lists them. */
#ifndef OPENPLA_COUNTER_PATHS_H
#define OPENPLA_COUNTER_PATHS_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

/* The paths that `path`, in the system's language, stands for: one behind the other, an empty one at the end, from
   memory_alloc. `flags` are PdhExpandWildCardPath's. Fails with its status, PDH_CSTATUS_NO_INSTANCE where it lists
   none; *out is then NULL. */
PDH_STATUS counter_paths_expand(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out);
/* Adds to `out` the paths of all objects' counters, or of one object's: with "(*)" where there are instances, or with
   `instances` one for each. `machine` (with or without backslashes) is asked and named in them; NULL: this one, which
   is not named. Fails with PDH's status and a text that names the object. */
HRESULT counter_paths_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out);

/* Adds to `out` the names of the objects of `machine` (NULL: this one), or of the counters of one of this computer's
   objects. Fails as counter_paths_list. */
HRESULT counter_paths_objects(const struct pdh_api *pdh, const WCHAR *machine, struct texts *out);
HRESULT counter_paths_counters(const struct pdh_api *pdh, const char *object, struct texts *out);

#endif
