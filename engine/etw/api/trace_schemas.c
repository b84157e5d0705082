/* SPDX-License-Identifier: MIT */
#include "engine/etw/trace_schemas.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/manifest_origins.h"
#include "engine/etw/mof_files.h"
#include "engine/etw/tmf.h"

#include <string.h>

static HRESULT add_formats(const struct trace_knowledge *known, struct event_schemas *schemas)
{
    struct texts files = {0}, folders = {0};
    struct schema_origin origin;
    HRESULT hr = tmf_take_paths(&folders, known->format_folders);
    if (SUCCEEDED(hr) && known->formats)
        hr = tmf_take_paths(&files, known->formats);
    if (SUCCEEDED(hr))
        hr = tmf_origin(&files, &folders, &origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, NULL);
    texts_free(&files);
    texts_free(&folders);
    return hr;
}

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

static HRESULT program_origin(const char *path, struct texts *remarks, struct schema_origin *out)
{
    struct provider_manifests list;
    if (folder_exists(path))
        return manifest_folder_origin(path, NULL, remarks, out);
    HRESULT hr = manifest_file_load(path, NULL, &list);
    return SUCCEEDED(hr) ? manifests_origin(&list, NULL, out) : hr;
}

/* One of a folder that is damaged is told, and the others are read. */
static HRESULT add_programs(const struct trace_knowledge *known, struct event_schemas *to)
{
    struct schema_origin origin;
    struct texts paths = {0}, remarks = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < known->programs.count; i++)
        hr = tmf_take_paths(&paths, known->programs.items[i]);
    for (size_t i = 0; i < paths.count && SUCCEEDED(hr); i++) {
        hr = program_origin(paths.items[i], &remarks, &origin);
        if (SUCCEEDED(hr))
            hr = event_schemas_add(to, &origin, NULL);
    }
    for (size_t i = 0; known->told && i < remarks.count; i++)
        known->told(known->told_context, remarks.items[i]);
    texts_free(&paths);
    texts_free(&remarks);
    return hr;
}

/* What the command line names is believed before what is registered. */
static HRESULT add_origins(const struct trace_knowledge *known, struct event_schemas *schemas)
{
    struct schema_origin origin;
    HRESULT hr = mof_origin(&origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = registered_manifests_origin(NULL, &origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = add_programs(known, schemas);
    if (SUCCEEDED(hr))
        hr = add_manifests(&known->manifests, schemas);
    return SUCCEEDED(hr) ? add_formats(known, schemas) : hr;
}

HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out)
{
    *out = (struct trace_schemas){.inband = inband_manifests_create(NULL),
                                  .gmt = known->gmt,
                                  .told = known->told,
                                  .told_context = known->told_context};
    HRESULT hr = out->inband ? event_schemas_create(&out->all) : E_OUTOFMEMORY;
    return SUCCEEDED(hr) ? add_origins(known, out->all) : hr;
}

void trace_schemas_close(struct trace_schemas *schemas)
{
    inband_manifests_free(schemas->inband);
    event_schemas_free(schemas->all);
}

HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found)
{
    *out = (struct dumped_event){.record = e->record,
                                 .pointer_size = e->pointer_size,
                                 .timer_resolution = e->timer_resolution,
                                 .gmt = schemas->gmt,
                                 .reason = "its header is of a form that is not known"};
    *found = NULL;
    if (!e->known)
        return S_OK;
    if (inband_manifest_event(e->record)) {
        const HRESULT taken = inband_manifests_take(schemas->inband, e->record, schemas->all);
        if (FAILED(taken))
            return taken;
        if (taken == S_FALSE && schemas->told)
            schemas->told(schemas->told_context, error_text(S_FALSE));
    }
    const HRESULT hr = event_schemas_find(schemas->all, e->record, e->pointer_size, found);
    if (SUCCEEDED(hr)) {
        out->schema = (*found)->schema;
        out->reason = (*found)->reason;
    }
    return hr;
}
