/* SPDX-License-Identifier: MIT */
/* Lists the counters that exist now, as PDH reports them, and manages the buffers for PDH's lists. */
#ifndef OPENPLA_PDH_COUNTER_PATHS_H
#define OPENPLA_PDH_COUNTER_PATHS_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

/* A buffer for a list that PDH writes. PDH reports the size that it needs, and the list may have grown by the next
   call. */

/* Zero-initialise. The buffer can be reused for the next list. */
struct pdh_list {
    void *data; /* from memory_alloc; NULL: not allocated yet */
    DWORD room; /* elements that `data` has room for */
    DWORD size; /* before the call: the room; after it: what PDH needs */
    PDH_STATUS status;
    int asked;
};

/* True if PDH must be called (again). `element` is the size in bytes of the unit in which the call counts:
       while (pdh_list_ask(&l, sizeof(WCHAR)))
           l.status = PdhExpandWildCardPathW(NULL, path, l.data, &l.size, 0);
   After the loop `status` is PDH's or PDH_MEMORY_ALLOCATION_FAILURE. */
bool pdh_list_ask(struct pdh_list *l, size_t element);

/* S_OK for 0, E_OUTOFMEMORY if PDH is out of memory, else the status with an error message that names the subject. */
HRESULT pdh_result(PDH_STATUS status, const char *subject);
/* Converts a name from PDH to UTF-8, from memory_alloc. Invalid UTF-16 becomes U+FFFD. */
HRESULT pdh_text(LPCWSTR wide, char **out);

/* Expands `path`, in the system's language, to a list of paths from memory_alloc, which an empty string ends. `flags`
   are those of PdhExpandWildCardPath. On failure *out is NULL and the status is PDH's; PDH_CSTATUS_NO_INSTANCE if the
   list is empty. */
PDH_STATUS counter_paths_expand(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out);
/* Adds the paths of all counters, or of one object's counters, to `out`. Objects with instances have "(*)" in their
   paths, or with `instances` one path per instance. `machine` (with or without backslashes; NULL: this computer) is the
   computer to list, and its name becomes part of the paths. Fails with PDH's status and a message that names the
   object. */
HRESULT counter_paths_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out);

/* Adds to `out` the names of the objects of `machine` (NULL: this computer), or of the counters of an object of this
   computer. Fails like counter_paths_list. */
HRESULT counter_paths_objects(const struct pdh_api *pdh, const WCHAR *machine, struct texts *out);
HRESULT counter_paths_counters(const struct pdh_api *pdh, const char *object, struct texts *out);

#endif
