/* SPDX-License-Identifier: MIT */
/* What PDH lists into its caller's memory: it tells how much it needs, and by the next call that may have grown. */
#ifndef OPENPLA_PDH_LIST_H
#define OPENPLA_PDH_LIST_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

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

#endif
