/* SPDX-License-Identifier: MIT */
/* Reads the statuses of many sets. A set without a host process file is stopped. Under Wine, finding out that a file is
   missing takes longer than reading a small folder. For many sets, each folder is therefore read once, and only the
   sets that have a host process file are queried. */
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/sets.h"
#include "engine/pla/store.h"

#include <string.h>

enum { MANY = 128 }; /* fewer sets are queried one by one, because reading up to 256 folders takes longer */

/* The names of the host process files in a namespace: one for each set that has a host process. */
struct hosts {
    const char *space; /* NULL: no namespace read yet */
    struct texts files;
};

/* Reads the folders of a namespace. Takes no lock: a set that starts in the meantime may be reported as stopped, as if
   its status had been read before the start. */
static HRESULT hosts_read(struct hosts *h, const char *space)
{
    if (h->space == space)
        return S_OK;
    texts_free(&h->files);
    h->space = NULL;
    HRESULT hr = store_list_hosts(space, &h->files);
    if (SUCCEEDED(hr))
        h->space = space;
    return hr;
}

/* Searches for the set's host process file. S_OK: the set has no host process; S_FALSE: the status of the set must be
   queried. */
static HRESULT is_without_host(struct hosts *h, struct object *set)
{
    object_lock(set);
    const char *space = set_of(set)->verbs == &sets_local_verbs ? set_of(set)->space : NULL;
    const struct category *c = space ? category_of(space) : NULL;
    const bool is_stored = c && c->runs && c->source == DEFINITION_STORED;
    char *name = is_stored ? text_copy(set_of(set)->Name) : NULL;
    object_unlock(set);
    if (!is_stored)
        return S_FALSE;
    char *file = name ? store_file_name(name) : NULL;
    HRESULT hr = file ? hosts_read(h, c->space) : E_OUTOFMEMORY;
    for (size_t i = 0; hr == S_OK && i < h->files.count; i++)
        if (text_equal_nocase(h->files.items[i], file))
            hr = S_FALSE;
    memory_free(file);
    memory_free(name);
    return hr;
}

HRESULT sets_read_statuses(struct object *const *sets, size_t count, struct set_status *out)
{
    struct hosts hosts = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && hr != E_OUTOFMEMORY; i++) {
        struct value v;
        out[i] = (struct set_status){.status = RUN_STOPPED, .is_known = true};
        hr = count >= MANY ? is_without_host(&hosts, sets[i]) : S_FALSE;
        if (hr == S_OK || hr == E_OUTOFMEMORY)
            continue;
        hr = object_get(sets[i], &sets[i]->class->properties[IDataCollectorSet_Status], &v);
        out[i] = (struct set_status){.status = SUCCEEDED(hr) ? v.u32 : 0, .is_known = SUCCEEDED(hr)};
    }
    texts_free(&hosts.files);
    error_clear(); /* a query of a single set reports the error of this set */
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}
