/* SPDX-License-Identifier: MIT */
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/inband_manifests.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/manifest_origins.h"
#include "engine/etw/mof_files.h"
#include "engine/etw/tmf.h"

#include <string.h>

static struct host_lock lock = HOST_LOCK_INIT;
static struct event_schemas *own;
static struct inband_manifests *inband;
static struct texts tmf_paths; /* that were added */

static HRESULT add(struct event_schemas *schemas, HRESULT hr, const struct schema_origin *origin)
{
    return SUCCEEDED(hr) ? event_schemas_add(schemas, origin, NULL) : hr;
}

/* What is registered, and below what a program loads itself. */
static HRESULT create(struct event_schemas **out)
{
    struct schema_origin origin;
    HRESULT hr = event_schemas_create(out);
    if (SUCCEEDED(hr))
        hr = add(*out, mof_origin(&origin), &origin);
    if (SUCCEEDED(hr))
        hr = add(*out, registered_manifests_origin(NULL, &origin), &origin);
    if (SUCCEEDED(hr)) /* of the environment's search path */
        hr = add(*out, tmf_origin(NULL, NULL, &origin), &origin);
    if (SUCCEEDED(hr) && !(inband = inband_manifests_create(NULL)))
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        event_schemas_free(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT tdh_schemas(struct event_schemas **out)
{
    HRESULT hr = S_OK;
    host_lock_enter(&lock);
    if (!own)
        hr = create(&own);
    *out = own;
    host_lock_leave(&lock);
    return hr;
}

void tdh_take_inband(const EVENT_RECORD *event)
{
    if (!inband_manifest_event(event))
        return;
    host_lock_enter(&lock);
    if (own)
        (void)inband_manifests_take(inband, event, own); /* what it refuses stays undecoded, with the reason */
    host_lock_leave(&lock);
}

HRESULT tdh_add_tmf(const char *paths, bool folders)
{
    struct event_schemas *schemas;
    struct schema_origin origin;
    struct texts list = {0}, none = {0};
    HRESULT hr = tdh_schemas(&schemas);
    bool known = false;
    host_lock_enter(&lock);
    for (size_t i = 0; i < tmf_paths.count; i++)
        known = known || text_equal_nocase(tmf_paths.items[i], paths);
    if (SUCCEEDED(hr) && !known) {
        hr = tmf_take_paths(&list, paths);
        if (SUCCEEDED(hr))
            hr = add(schemas, tmf_origin(folders ? &none : &list, folders ? &list : &none, &origin), &origin);
        if (SUCCEEDED(hr))
            hr = texts_add(&tmf_paths, paths);
    }
    host_lock_leave(&lock);
    texts_free(&list);
    return hr;
}
