/* SPDX-License-Identifier: MIT */
/* Manifests that a program loads for itself. */
#include "engine/base/hash.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>

enum { PATH_UNITS = 260, NO_RESOURCE = 5007 /* ERROR_RESOURCE_NOT_FOUND */ };

/* By the full path, or by the contents' hash. */
struct loaded {
    char *name;
    uint64_t id;
};
static struct host_lock lock = HOST_LOCK_INIT;
static struct loaded *all;
static size_t count, capacity;

/* Under the lock. NULL: it is not loaded. */
static struct loaded *find(const char *name)
{
    size_t i = 0;
    while (i < count && !text_equal_nocase(all[i].name, name))
        i++;
    return i < count ? &all[i] : NULL;
}

/* Takes the origin. What was loaded from the same place before goes when this has come, and stays if it cannot. */
static HRESULT keep(const char *name, const struct schema_origin *origin)
{
    struct event_schemas *schemas;
    HRESULT hr = tdh_schemas(&schemas);
    if (FAILED(hr)) {
        origin->free(origin->context);
        return hr;
    }
    host_lock_enter(&lock);
    struct loaded *before = find(name);
    if (before)
        hr = event_schemas_replace(schemas, origin, &before->id);
    else {
        void *items = all;
        char *copy = text_copy(name);
        uint64_t id;
        const bool room = copy && memory_grow(&items, &capacity, count + 1, sizeof *all);
        all = items;
        if (room)
            hr = event_schemas_add(schemas, origin, &id);
        else {
            origin->free(origin->context);
            hr = E_OUTOFMEMORY;
        }
        if (SUCCEEDED(hr))
            all[count++] = (struct loaded){copy, id};
        else
            memory_free(copy);
    }
    host_lock_leave(&lock);
    return hr;
}

static HRESULT take_path(const WCHAR *path, char **out)
{
    char *given;
    *out = NULL;
    if (!path)
        return E_INVALIDARG;
    const HRESULT hr = program_text(path, PATH_UNITS - 1, &given);
    if (FAILED(hr))
        return hr;
    *out = given[0] ? host_full_path(given) : NULL;
    const bool empty = !given[0];
    memory_free(given);
    return *out ? S_OK : empty ? HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) : E_OUTOFMEMORY;
}

ULONG WINAPI tdh_load_manifest(const WCHAR *path)
{
    struct schema_origin origin;
    char *name;
    HRESULT hr = take_path(path, &name);
    if (SUCCEEDED(hr))
        hr = manifest_file_origin(name, NULL, &origin);
    if (SUCCEEDED(hr))
        hr = keep(name, &origin);
    memory_free(name);
    return tdh_status(hr);
}

ULONG WINAPI tdh_load_manifest_from_binary(const WCHAR *path)
{
    struct schema_origin origin;
    char *name;
    HRESULT hr = take_path(path, &name);
    if (SUCCEEDED(hr))
        hr = manifest_binary_origin(name, NULL, &origin);
    if (hr == S_OK)
        hr = keep(name, &origin);
    else if (hr == S_FALSE)
        hr = HRESULT_FROM_WIN32(NO_RESOURCE);
    memory_free(name);
    return tdh_status(hr);
}

static ULONG unload_name(HRESULT hr, const char *name)
{
    struct event_schemas *schemas;
    if (SUCCEEDED(hr))
        hr = tdh_schemas(&schemas);
    if (SUCCEEDED(hr)) {
        host_lock_enter(&lock);
        struct loaded *l = find(name);
        hr = l ? event_schemas_remove(schemas, l->id) : S_FALSE;
        if (l) {
            memory_free(l->name);
            *l = all[--count];
        }
        host_lock_leave(&lock);
    }
    return tdh_status(hr);
}

ULONG WINAPI tdh_unload_manifest(const WCHAR *path)
{
    char *name;
    const HRESULT hr = take_path(path, &name);
    const ULONG status = unload_name(hr, name);
    memory_free(name);
    return status;
}

/* A copy of the program's, and what it is known by. */
static HRESULT take_memory(const void *data, ULONG size, uint8_t **copy, char name[40])
{
    *copy = NULL;
    if (!data || size == 0 || size > MANIFEST_MOST_BYTES)
        return E_INVALIDARG;
    *copy = memory_alloc(size);
    if (!*copy)
        return E_OUTOFMEMORY;
    if (!program_read(*copy, data, size))
        return HRESULT_FROM_WIN32(ERROR_NOACCESS);
    snprintf(name, 40, "?%016llX-%u", (unsigned long long)hash_bytes(HASH_START, *copy, size), (unsigned)size);
    return S_OK;
}

ULONG WINAPI tdh_load_manifest_from_memory(const void *data, ULONG size)
{
    struct provider_manifests list;
    struct schema_origin origin;
    uint8_t *copy;
    char name[40];
    HRESULT hr = take_memory(data, size, &copy, name);
    if (SUCCEEDED(hr))
        hr = manifest_xml_read(copy, size, NULL, &list);
    if (SUCCEEDED(hr))
        hr = manifests_origin(&list, NULL, &origin);
    if (SUCCEEDED(hr))
        hr = keep(name, &origin);
    memory_free(copy);
    return tdh_status(hr);
}

ULONG WINAPI tdh_unload_manifest_from_memory(const void *data, ULONG size)
{
    uint8_t *copy;
    char name[40];
    const HRESULT hr = take_memory(data, size, &copy, name);
    const ULONG status = unload_name(hr, name);
    memory_free(copy);
    return status;
}
