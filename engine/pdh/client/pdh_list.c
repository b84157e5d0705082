/* SPDX-License-Identifier: MIT */
/* Memory for what PDH lists. */
#include "engine/pdh/pdh_list.h"

#include "engine/base/memory.h"

#define MOST_CALLS 6

bool pdh_list_ask(struct pdh_list *l, size_t element)
{
    if (l->asked > 0) {
        bool again = (DWORD)l->status == PDH_MORE_DATA && l->asked < MOST_CALLS;
        /* What is listed may have grown by the next call, as threads do on a busy computer: an eighth more than was
           asked for, and each time that this was too little twice as much more. */
        uint64_t more = l->size > l->room ? l->size + ((uint64_t)l->size << (l->asked - 1)) / 8 : l->room * 2ull;
        DWORD room = more < UINT32_MAX - 256 ? (DWORD)more + 256 : UINT32_MAX;
        void *data = again ? memory_resize(l->data, room * element) : NULL;
        if (again && !data)
            l->status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (!data) {
            l->asked = 0;
            return false;
        }
        l->data = data;
        l->room = room;
    }
    l->asked++;
    l->size = l->room;
    return true;
}

HRESULT pdh_result(PDH_STATUS status, const char *subject)
{
    if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    return status ? pdh_error(status, subject) : S_OK;
}

HRESULT pdh_text(LPCWSTR wide, char **out)
{
    size_t units = 0;
    while (wide[units])
        units++;
    return text_from_utf16(wide, units, true, out);
}
