/* SPDX-License-Identifier: MIT */
/* Paths and the lock of the sets of one namespace. */
#include "engine/store/set_file.h"

#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/store/store.h"
#include "engine/store/store_name.h"

#define LOCK_FILE     "store.lock" /* files of sets end in .xml, .run, .running or .host */
#define LOCK_PATIENCE 10000        /* ms; who holds it needs some milliseconds */

char *store_folder(const char *space)
{
    char *data = host_data_folder(), *sets = data ? path_join(data, "sets") : NULL;
    char *folder = sets ? path_join(sets, space) : NULL;
    memory_free(sets);
    memory_free(data);
    return folder;
}

static char *with_suffix(const char *folder, const char *file, const char *suffix)
{
    char *name = text_format("%s%s", file, suffix), *path = name ? path_join(folder, name) : NULL;
    memory_free(name);
    return path;
}

HRESULT set_file_locate(const char *space, const char *name, struct set_file *out)
{
    struct set_file at = {0};
    char *file = NULL;
    HRESULT hr = store_find_namespace(space, &at.space);
    *out = (struct set_file){0};
    if (FAILED(hr))
        return hr;
    at.folder = store_folder(at.space);
    if (name && at.folder)
        file = store_file_name(name);
    if (file) {
        at.definition = with_suffix(at.folder, file, ".xml");
        at.run = with_suffix(at.folder, file, ".run");
        at.run_lock = with_suffix(at.folder, file, ".running");
        at.host = with_suffix(at.folder, file, ".host");
    }
    memory_free(file);
    if (!at.folder || (name && (!at.definition || !at.run || !at.run_lock || !at.host))) {
        set_file_close(&at);
        return E_OUTOFMEMORY;
    }
    *out = at;
    return S_OK;
}

void set_file_close(struct set_file *at)
{
    file_lock_release(at->lock);
    memory_free(at->folder);
    memory_free(at->definition);
    memory_free(at->run);
    memory_free(at->run_lock);
    memory_free(at->host);
    *at = (struct set_file){0};
}

bool set_file_is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static HRESULT lock(struct set_file *at, enum set_file_use use)
{
    char *path = path_join(at->folder, LOCK_FILE);
    HRESULT hr = path ? file_lock_take(path, LOCK_PATIENCE, &at->lock) : E_OUTOFMEMORY;
    if (use == SET_FILE_CREATE && set_file_is_missing(hr)) {
        hr = folder_create(at->folder);
        if (SUCCEEDED(hr))
            hr = file_lock_take(path, LOCK_PATIENCE, &at->lock);
    }
    memory_free(path);
    if (use == SET_FILE_READ && (hr == E_ACCESSDENIED || hr == HRESULT_FROM_WIN32(ERROR_WRITE_PROTECT)))
        return S_OK;
    return use != SET_FILE_CREATE && set_file_is_missing(hr) ? S_FALSE : hr;
}

HRESULT set_file_open(const struct caller *caller, const char *space, const char *name, enum set_file_use use,
                      struct set_file *out)
{
    HRESULT hr = set_file_locate(space, name, out);
    (void)caller;
    if (SUCCEEDED(hr))
        hr = lock(out, use);
    if (FAILED(hr))
        set_file_close(out);
    return hr;
}
