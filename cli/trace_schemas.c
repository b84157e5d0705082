/* SPDX-License-Identifier: MIT */
#include "cli/trace_schemas.h"

#include "engine/tdh/manifest_origins.h"
#include "engine/tdh/mof_files.h"

static HRESULT add_manifests(const struct texts *paths, struct event_schemas *to)
{
    struct schema_origin origin;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < paths->count; i++) {
        hr = manifest_file_origin(paths->items[i], NULL, &origin);
        if (SUCCEEDED(hr))
            hr = event_schemas_add(to, &origin, NULL);
    }
    return hr;
}

/* What the command line names is believed before what is registered. */
HRESULT trace_schemas_open(const struct trace_knowledge *known, struct event_schemas **out)
{
    struct schema_origin origin;
    HRESULT hr = event_schemas_create(out);
    if (SUCCEEDED(hr))
        hr = mof_origin(&origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(*out, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = registered_manifests_origin(NULL, &origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(*out, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = add_manifests(&known->manifests, *out);
    return hr;
}

HRESULT trace_schemas_find(struct event_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found)
{
    *out = (struct dumped_event){.record = e->record,
                                 .pointer_size = e->pointer_size,
                                 .timer_resolution = e->timer_resolution,
                                 .reason = "its header is of a form that is not known"};
    *found = NULL;
    if (!e->known)
        return S_OK;
    const HRESULT hr = event_schemas_find(schemas, e->record, e->pointer_size, found);
    if (SUCCEEDED(hr)) {
        out->schema = (*found)->schema;
        out->reason = (*found)->reason;
    }
    return hr;
}
