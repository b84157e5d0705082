/* SPDX-License-Identifier: MIT */
/* Which counters exist now, as PDH lists them, and the buffers for its lists. */
#ifndef OPENPLA_PDH_COUNTER_PATHS_H
#define OPENPLA_PDH_COUNTER_PATHS_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

/* What PDH lists into its caller's memory: it tells how much it needs, and by the next call that may have grown. */

/* Zero-initialise; the memory serves for the next list too. */
struct pdh_list {
    void *data; /* from memory_alloc; NULL: no room yet */
    DWORD room; /* elements that `data` has room for */
    DWORD size; /* for the call: the room; after it: what PDH needs */
    PDH_STATUS status;
    int asked;
};

/* Whether PDH is to be asked (again); `element` is the size in bytes of what the call counts in. For
   while (pdh_list_ask(&l, sizeof(WCHAR)))
       l.status = PdhExpandWildCardPathW(NULL, path, l.data, &l.size, 0);
   after which status is PDH's or PDH_MEMORY_ALLOCATION_FAILURE. */
bool pdh_list_ask(struct pdh_list *l, size_t element);

/* S_OK for 0, E_OUTOFMEMORY where PDH says so, else the status with a text that names the subject. */
HRESULT pdh_result(PDH_STATUS status, const char *subject);
/* A name that PDH gave, as UTF-8 from memory_alloc; what is no UTF-16 becomes U+FFFD. */
HRESULT pdh_text(LPCWSTR wide, char **out);

/* Which counters there are now, as PDH lists them. */

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
