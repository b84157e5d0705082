/* SPDX-License-Identifier: MIT */
/* The choice of the processes that are listed. */
#include "engine/base/environment.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pdh/objects/process_lists.h"

struct process_list {
    const struct process_lister *lister;
    void *list;
};

static const struct process_lister *choose(void)
{
#ifdef _WIN32
    return host_is_wine() && host_processes_wanted() ? &process_lister_host : &process_lister_windows;
#else
    return &process_lister_host;
#endif
}

HRESULT process_list_open(const char *root, struct process_list **out)
{
    struct process_list *list = memory_zero(1, sizeof *list);
    *out = NULL;
    if (!list)
        return E_OUTOFMEMORY;
    list->lister = choose();
    HRESULT hr = list->lister->open(root, &list->list);
    if (FAILED(hr)) {
        memory_free(list);
        return hr;
    }
    *out = list;
    return S_OK;
}

HRESULT process_list_read(struct process_list *list, uint32_t figures, const struct process_entry **entries,
                          size_t *count)
{
    return list->lister->read(list->list, figures, entries, count);
}

void process_list_close(struct process_list *list)
{
    if (list) {
        list->lister->close(list->list);
        memory_free(list);
    }
}
