/* SPDX-License-Identifier: MIT */
/* Lists of counter paths. */
#include "engine/counters/counter_paths.h"

#include "engine/counters/pdh_list.h"
#include "engine/os/memory.h"

PDH_STATUS counter_paths_expand(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out)
{
    struct pdh_list l = {0};
    while (pdh_list_ask(&l, sizeof(WCHAR)))
        l.status = pdh->PdhExpandWildCardPathW(NULL, path, l.data, &l.size, flags);
    const WCHAR *paths = l.data;
    if (!l.status && (!paths || !*paths))
        l.status = (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    if (l.status) {
        memory_free(l.data);
        l.data = NULL;
    }
    *out = l.data;
    return l.status;
}
