/* SPDX-License-Identifier: MIT */
/* Lists the counters that exist now, as PDH reports them, and manages the buffers for PDH's lists. */
#ifndef OPENPLA_PDH_COUNTER_PATHS_H
#define OPENPLA_PDH_COUNTER_PATHS_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

/* A buffer for a list that PDH writes. PDH reports the size that it needs, but the list may have grown by the time of
   the next call. */

/* Zero-initialise. The buffer can be reused for the next list. */
struct pdh_list {
    void *data; /* from memory_alloc; NULL: not allocated yet */
    DWORD room; /* number of elements for which `data` has room */
    DWORD size; /* before the call: the room; after the call: the number that PDH needs */
    PDH_STATUS status;
    int asked;
};

/* Returns true if PDH must be called (again). `element` is the size in bytes of the call's units:
       while (pdh_list_ask(&l, sizeof(WCHAR)))
           l.status = PdhExpandWildCardPathW(NULL, path, l.data, &l.size, 0);
   After the loop `status` is PDH's status or PDH_MEMORY_ALLOCATION_FAILURE. */
bool pdh_list_ask(struct pdh_list *l, size_t element);

/* Returns S_OK for 0, E_OUTOFMEMORY if PDH is out of memory, otherwise the status with an error message that names the
   subject. */
HRESULT pdh_result(PDH_STATUS status, const char *subject);
/* Converts a name from PDH to UTF-8, from memory_alloc. Invalid UTF-16 becomes U+FFFD. */
HRESULT pdh_text(LPCWSTR wide, char **out);

/* Expands `path`, in the system's language, to a list of paths from memory_alloc that ends with an empty string.
   `flags` are the flags of PdhExpandWildCardPath. On failure *out is NULL and the result is PDH's status; an empty list
   fails with PDH_CSTATUS_NO_INSTANCE. */
PDH_STATUS counter_paths_expand(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out);
/* Adds the paths of all counters, or of one object's counters, to `out`. Objects with instances get "(*)" in their
   paths, or one path per instance if `instances` is set. `machine` (with or without backslashes) selects the computer,
   whose name becomes part of the paths; NULL means this computer. Fails with PDH's status and a message that names the
   object. */
HRESULT counter_paths_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out);

/* The first function adds the object names of `machine` to `out`; NULL means this computer. The second function adds
   the counter names of one of this computer's objects. Both functions fail like counter_paths_list. */
HRESULT counter_paths_objects(const struct pdh_api *pdh, const WCHAR *machine, struct texts *out);
HRESULT counter_paths_counters(const struct pdh_api *pdh, const char *object, struct texts *out);

#endif
