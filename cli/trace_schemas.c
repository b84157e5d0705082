/* SPDX-License-Identifier: MIT */
#include "cli/trace_schemas.h"

#include "engine/tdh/mof_files.h"

HRESULT trace_schemas_open(const struct trace_knowledge *known, struct event_schemas **out)
{
    struct schema_origin origin;
    (void)known;
    HRESULT hr = event_schemas_create(out);
    if (SUCCEEDED(hr))
        hr = mof_origin(&origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(*out, &origin, NULL);
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
