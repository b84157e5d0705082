/* SPDX-License-Identifier: MIT */
/* The lines of what outlives a host, in a file beside the set. */
#include "engine/run/held.h"

#include "engine/collect/collect.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"

#include <string.h>

HRESULT held_add(struct run_set *r, const char *line)
{
    for (size_t i = 0; i < r->held.count; i++)
        if (!strcmp(r->held.items[i], line))
            return S_OK;
    HRESULT hr = texts_add(&r->held, line);
    return SUCCEEDED(hr) ? store_save_held(r->space, r->name, &r->held) : hr;
}

void held_clear(struct run_set *r)
{
    if (r->held.count)
        store_remove_held(r->space, r->name);
    texts_free(&r->held);
}

HRESULT held_let_go_by_host(const char *space, const char *name)
{
    struct texts lines = {0};
    HRESULT hr = store_load_held(space, name, &lines), first = hr;
    for (size_t i = 0; i < lines.count; i++) {
        hr = collector_let_go(lines.items[i]);
        if (FAILED(hr) && SUCCEEDED(first))
            first = hr;
    }
    if (first == S_OK)
        store_remove_held(space, name);
    texts_free(&lines);
    return first;
}

/* A host that is starting takes care of it itself. */
HRESULT held_let_go(const char *space, const char *name)
{
    struct file_lock *lock = NULL;
    struct texts lines;
    HRESULT hr = store_load_held(space, name, &lines);
    if (hr != S_OK)
        return hr;
    texts_free(&lines);
    char *path = store_run_lock_path(space, name);
    hr = path ? file_lock_take(path, 0, &lock) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = held_let_go_by_host(space, name);
    else if (hr == HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
        hr = S_FALSE;
    file_lock_release(lock);
    memory_free(path);
    return hr;
}
