/* SPDX-License-Identifier: MIT */
#include "engine/os/host.h"
#include "engine/tdh/mof_files.h"
#include "engine/tdh/tdh.h"

static struct host_lock lock = HOST_LOCK_INIT;
static struct event_schemas *own;

static HRESULT create(struct event_schemas **out)
{
    struct schema_origin mof;
    HRESULT hr = event_schemas_create(out);
    if (SUCCEEDED(hr))
        hr = mof_origin(&mof);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(*out, &mof, NULL);
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
