/* SPDX-License-Identifier: MIT */
/* Manages the schemas of this process, which all TDH functions share, and the manifests that a program loads. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/decode/metadata/trace_metadata.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/manifest_origins.h"
#include "engine/etw/mof_classes.h"
#include "engine/etw/tmf.h"

#include <stdio.h>
#include <string.h>

enum { PATH_UNITS = 260, NO_RESOURCE = 5007 /* ERROR_RESOURCE_NOT_FOUND */ };

/* A loaded manifest, identified by the full path of its file or by the hash of its contents. */
struct loaded {
    char *name;
    uint64_t id;
};
static struct lock lock = LOCK_INIT;
static struct loaded *all;
static size_t count, capacity;

/* Finds a loaded manifest. The caller holds the lock. NULL: not loaded. */
static struct loaded *loaded_find(const char *name)
{
    size_t i = 0;
    while (i < count && !text_equal_nocase(all[i].name, name))
        i++;
    return i < count ? &all[i] : NULL;
}

/* Adds an origin and takes ownership of it. On success, the new origin replaces an origin that was loaded from the same
   source before. On failure, the earlier origin remains. */
static HRESULT loaded_keep(const char *name, const struct schema_origin *origin)
{
    struct event_schemas *schemas;
    HRESULT hr = tdh_schemas(&schemas);
    if (FAILED(hr)) {
        origin->free(origin->context);
        return hr;
    }
    lock_enter(&lock);
    struct loaded *before = loaded_find(name);
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
    lock_leave(&lock);
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
    *out = given[0] ? os_full_path(given) : NULL;
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
        hr = loaded_keep(name, &origin);
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
        hr = loaded_keep(name, &origin);
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
        lock_enter(&lock);
        struct loaded *l = loaded_find(name);
        hr = l ? event_schemas_remove(schemas, l->id) : S_FALSE;
        if (l) {
            memory_free(l->name);
            *l = all[--count];
        }
        lock_leave(&lock);
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

/* Copies a manifest from the program's memory, and derives a name from its hash. */
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
        hr = loaded_keep(name, &origin);
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

static struct lock schemas_lock = LOCK_INIT;
static struct event_schemas *own;
static struct inband_manifests *inband;
static struct trace_metadata *metadata;
static struct texts tmf_paths; /* paths that calls of tdh_add_tmf have added */

static HRESULT add(struct event_schemas *schemas, HRESULT hr, const struct schema_origin *origin)
{
    return SUCCEEDED(hr) ? event_schemas_add(schemas, origin, NULL) : hr;
}

/* Creates the collection of schemas from the registered schemas. Schemas that a program loads later take precedence. */
static HRESULT schemas_create(struct event_schemas **out)
{
    struct schema_origin origin;
    HRESULT hr = event_schemas_create(out);
    if (SUCCEEDED(hr))
        hr = add(*out, mof_origin(&origin), &origin);
    if (SUCCEEDED(hr))
        hr = add(*out, registered_manifests_origin(NULL, &origin), &origin);
    if (SUCCEEDED(hr)) /* add the TMF files in the folders of TRACE_FORMAT_SEARCH_PATH */
        hr = add(*out, tmf_origin(NULL, NULL, &origin), &origin);
    if (SUCCEEDED(hr) && (!(inband = inband_manifests_create(NULL)) || !(metadata = trace_metadata_create())))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = trace_metadata_add_origin(metadata, *out);
    if (FAILED(hr)) {
        event_schemas_free(*out);
        inband_manifests_free(inband);
        trace_metadata_free(metadata);
        inband = NULL;
        metadata = NULL;
        *out = NULL;
    }
    return hr;
}

HRESULT tdh_schemas(struct event_schemas **out)
{
    HRESULT hr = S_OK;
    lock_enter(&schemas_lock);
    if (!own)
        hr = schemas_create(&own);
    *out = own;
    lock_leave(&schemas_lock);
    return hr;
}

void tdh_take_inband(const EVENT_RECORD *event)
{
    const bool piece = inband_manifest_event(event), definition = trace_metadata_event(event);
    if (!piece && !definition)
        return;
    lock_enter(&schemas_lock);
    /* The result is ignored: if a definition is rejected, its events stay undecoded, and their lookup returns the
       reason. */
    if (own && piece)
        (void)inband_manifests_take(inband, event, own);
    else if (own)
        (void)trace_metadata_take(metadata, event, own);
    lock_leave(&schemas_lock);
}

HRESULT tdh_add_tmf(const char *paths, bool folders)
{
    struct event_schemas *schemas;
    struct schema_origin origin;
    struct texts list = {0}, none = {0};
    HRESULT hr = tdh_schemas(&schemas);
    bool known = false;
    lock_enter(&schemas_lock);
    for (size_t i = 0; i < tmf_paths.count; i++)
        known = known || text_equal_nocase(tmf_paths.items[i], paths);
    if (SUCCEEDED(hr) && !known) {
        hr = tmf_take_paths(&list, paths);
        if (SUCCEEDED(hr))
            hr = add(schemas, tmf_origin(folders ? &none : &list, folders ? &list : &none, &origin), &origin);
        if (SUCCEEDED(hr))
            hr = texts_add(&tmf_paths, paths);
    }
    lock_leave(&schemas_lock);
    texts_free(&list);
    return hr;
}
