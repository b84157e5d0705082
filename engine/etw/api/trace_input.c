/* SPDX-License-Identifier: MIT */
/* Reads event traces, merges their events by time, and finds the schemas of the events. */
#include "engine/etw/trace_input.h"

#include "engine/base/assert.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/decode/metadata/trace_metadata.h"
#include "engine/etw/manifest_origins.h"
#include "engine/etw/mof_classes.h"
#include "engine/etw/tmf.h"

#include <string.h>

enum { MOST_REMARKS = 100 };

static void input_take_warning(void *context, const char *text)
{
    struct texts *warnings = context;
    if (warnings->count < MOST_REMARKS)
        (void)texts_add(warnings, text); /* without memory for a warning, the reading continues */
}

/* The readers keep the addresses of the items, so all items are allocated before the first trace is opened. */
HRESULT trace_inputs_open(struct trace_inputs *in, const struct texts *paths)
{
    struct texts all = {0};
    HRESULT hr = input_paths(paths, &all);
    if (SUCCEEDED(hr)) {
        in->items = memory_zero(all.count + 1, sizeof *in->items);
        in->view = memory_zero(1, sizeof *in->view);
        hr = in->items && in->view ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for %zu traces", all.count);
    }
    assert(FAILED(hr) || in->items);
    for (size_t i = 0; i < all.count && SUCCEEDED(hr); i++) {
        struct trace_input *one = &in->items[in->count];
        hr = etl_reader_open(all.items[i], input_take_warning, &one->warnings, &one->reader);
        one->path = SUCCEEDED(hr) ? text_copy(all.items[i]) : NULL;
        in->count += SUCCEEDED(hr);
        if (SUCCEEDED(hr) && !one->path)
            hr = E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            in->events_lost += etl_reader_log(one->reader)->events_lost;
    }
    texts_free(&all);
    return hr;
}

void trace_event_view(const struct etl_record *e, const struct etl_log *log, bool raw, struct event_view *view,
                      struct trace_event *out)
{
    event_view_record(e, raw ? e->stamp : e->utc, log->pointer_size, log->private_logger, view);
    *out = (struct trace_event){.record = &view->record,
                                .pointer_size = log->pointer_size,
                                .timer_resolution = log->timer_resolution,
                                .known = e->kind != ETL_RECORD_OTHER};
    if (!out->known) {
        view->record.UserData = (void *)(uintptr_t)e->event;
        view->record.UserDataLength = (uint16_t)(e->size > UINT16_MAX ? UINT16_MAX : e->size);
    }
}

static HRESULT advance(struct trace_input *one)
{
    const HRESULT hr = etl_reader_next_record(one->reader, &one->event);
    one->ended = hr != S_OK;
    return FAILED(hr) ? hr : S_OK;
}

/* Returns the trace whose next event is the oldest; NULL if no trace has more events. If several next events have the
   same time, a definition comes first; otherwise the order of the list decides. */
static struct trace_input *inputs_oldest(const struct trace_inputs *in)
{
    struct trace_input *found = NULL;
    for (size_t i = 0; i < in->count; i++) {
        struct trace_input *one = &in->items[i];
        if (!one->ended && (!found || etl_record_is_before(one->event, found->event)))
            found = one;
    }
    return found;
}

/* If an event outside the selected time range contains definitions of other events, this function stores these
   definitions. */
static HRESULT inputs_learn(struct trace_inputs *in, const struct trace_input *one)
{
    const struct etl_record *e = one->event;
    struct trace_event event;
    if (!in->schemas || !(e->kind == ETL_RECORD_MANIFEST || etl_record_is_metadata(e)))
        return S_OK;
    trace_event_view(e, etl_reader_log(one->reader), in->raw, in->view, &event);
    return trace_schemas_learn(in->schemas, &event);
}

static void input_report_progress(const struct trace_inputs *in, trace_progress *progress, void *context)
{
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < in->count; i++) {
        uint64_t one_done, one_total;
        etl_reader_progress(in->items[i].reader, &one_done, &one_total);
        done += one_done;
        total += one_total;
    }
    progress(context, done, total);
}

HRESULT trace_inputs_begin(struct trace_inputs *in)
{
    HRESULT hr = S_OK;
    in->current = NULL;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++) {
        in->items[i].header = !in->items[i].begun;
        in->items[i].begun = true;
        hr = advance(&in->items[i]);
    }
    return hr;
}

/* Advances one trace to its next event. The trace's reader overwrites the current event. */
static HRESULT inputs_leave(struct trace_inputs *in, struct trace_input *one)
{
    const bool last = one->event->last;
    one->header = false;
    const HRESULT hr = advance(one);
    one->buffers += last;
    if (last && in->progress)
        input_report_progress(in, in->progress, in->progress_context);
    return hr;
}

HRESULT trace_inputs_next(struct trace_inputs *in, struct trace_event *out)
{
    HRESULT hr = S_OK;
    if (in->current) {
        in->current->events++;
        hr = inputs_leave(in, in->current);
        in->current = NULL;
    }
    for (struct trace_input *one; SUCCEEDED(hr) && (one = inputs_oldest(in));) {
        const struct etl_record *e = one->event;
        in->number++;
        if (one->header || !in->ranged || (e->utc >= in->from && e->utc <= in->to)) {
            trace_event_view(e, etl_reader_log(one->reader), in->raw, in->view, out);
            out->input = (size_t)(one - in->items);
            out->number = in->number;
            in->current = one;
            return S_OK;
        }
        hr = inputs_learn(in, one);
        if (SUCCEEDED(hr))
            hr = inputs_leave(in, one);
    }
    return FAILED(hr) ? hr : S_FALSE;
}

HRESULT trace_inputs_read(struct trace_inputs *in, trace_take *take, void *context, trace_progress *progress,
                          void *progress_context)
{
    struct trace_event event;
    in->progress = progress;
    in->progress_context = progress_context;
    HRESULT hr = trace_inputs_begin(in);
    while (SUCCEEDED(hr) && (hr = trace_inputs_next(in, &event)) == S_OK) {
        hr = take(context, &event);
        if (hr != S_OK) {
            in->current = NULL; /* keeps trace_inputs_next from counting this event */
            break;
        }
    }
    return FAILED(hr) ? hr : S_OK;
}

HRESULT trace_inputs_follow(struct trace_inputs *in)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++)
        hr = etl_reader_follow(in->items[i].reader);
    return hr;
}

HRESULT trace_inputs_grow(struct trace_inputs *in)
{
    HRESULT result = S_FALSE;
    for (size_t i = 0; i < in->count; i++) {
        const HRESULT hr = etl_reader_grow(in->items[i].reader);
        if (FAILED(hr))
            return hr;
        result = hr == S_OK ? S_OK : result;
    }
    return result;
}

void trace_inputs_close(struct trace_inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        etl_reader_close(in->items[i].reader);
        memory_free(in->items[i].path);
        texts_free(&in->items[i].warnings);
    }
    memory_free(in->items);
    memory_free(in->view);
    *in = (struct trace_inputs){0};
}

/* ---- schemas ---- */

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

static void print_warnings(const struct trace_knowledge *known, struct texts *warnings)
{
    for (size_t i = 0; known->warn && i < warnings->count; i++)
        known->warn(known->warn_context, warnings->items[i]);
    texts_free(warnings);
}

/* An unusable manifest in a folder is reported, and the others are used. */
static HRESULT add_manifests(const struct trace_knowledge *known, struct event_schemas *to)
{
    struct schema_origin origin;
    struct texts warnings = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < known->manifests.count; i++) {
        const char *path = known->manifests.items[i];
        hr = folder_exists(path) ? manifest_xml_folder_origin(path, NULL, &warnings, &origin)
                                 : manifest_file_origin(path, NULL, &origin);
        origin.place = SCHEMA_OF_USER;
        if (SUCCEEDED(hr))
            hr = event_schemas_add(to, &origin, NULL);
    }
    print_warnings(known, &warnings);
    return hr;
}

static HRESULT program_origin(const char *path, struct texts *warnings, struct schema_origin *out)
{
    struct provider_manifests list;
    if (folder_exists(path))
        return manifest_folder_origin(path, NULL, warnings, out);
    HRESULT hr = manifest_file_load(path, NULL, &list);
    return SUCCEEDED(hr) ? manifests_origin(&list, NULL, out) : hr;
}

/* A corrupt file in a folder is reported, and the others are read. */
static HRESULT add_programs(const struct trace_knowledge *known, struct event_schemas *to)
{
    struct schema_origin origin;
    struct texts paths = {0}, warnings = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < known->programs.count; i++)
        hr = tmf_take_paths(&paths, known->programs.items[i]);
    for (size_t i = 0; i < paths.count && SUCCEEDED(hr); i++) {
        hr = program_origin(paths.items[i], &warnings, &origin);
        origin.place = SCHEMA_OF_USER;
        if (SUCCEEDED(hr))
            hr = event_schemas_add(to, &origin, NULL);
    }
    texts_free(&paths);
    print_warnings(known, &warnings);
    return hr;
}

static HRESULT add_api_tracing(struct event_schemas *schemas)
{
    struct provider_manifests list;
    struct schema_origin origin;
    HRESULT hr = manifest_xml_read(api_trace_manifest, api_trace_manifest_size, NULL, &list);
    if (SUCCEEDED(hr))
        hr = manifests_origin(&list, NULL, &origin);
    return SUCCEEDED(hr) ? event_schemas_add(schemas, &origin, NULL) : hr;
}

/* Origins from the command line take precedence over registered ones. */
static HRESULT add_origins(const struct trace_knowledge *known, struct event_schemas *schemas)
{
    struct schema_origin origin;
    HRESULT hr = mof_origin(&origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = add_api_tracing(schemas);
    if (SUCCEEDED(hr))
        hr = registered_manifests_origin(NULL, &origin);
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, NULL);
    if (SUCCEEDED(hr))
        hr = add_programs(known, schemas);
    if (SUCCEEDED(hr))
        hr = add_manifests(known, schemas);
    return SUCCEEDED(hr) ? add_formats(known, schemas) : hr;
}

HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out)
{
    *out = (struct trace_schemas){.inband = inband_manifests_create(NULL),
                                  .gmt = known->gmt,
                                  .warn = known->warn,
                                  .warn_context = known->warn_context};
    out->metadata = out->inband ? trace_metadata_create() : NULL;
    HRESULT hr = out->metadata ? event_schemas_create(&out->all) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_origins(known, out->all);
    return SUCCEEDED(hr) ? trace_metadata_add_origin(out->metadata, out->all) : hr;
}

void trace_schemas_close(struct trace_schemas *schemas)
{
    inband_manifests_free(schemas->inband);
    event_schemas_free(schemas->all);
    trace_metadata_free(schemas->metadata);
}

HRESULT trace_schemas_learn(struct trace_schemas *schemas, const struct trace_event *e)
{
    HRESULT taken = S_OK;
    if (!e->known)
        return S_OK;
    if (inband_manifest_event(e->record))
        taken = inband_manifests_take(schemas->inband, e->record, schemas->all);
    else if (trace_metadata_event(e->record))
        taken = trace_metadata_take(schemas->metadata, e->record, schemas->all);
    if (taken == S_FALSE && schemas->warn)
        schemas->warn(schemas->warn_context, error_text(S_FALSE));
    return FAILED(taken) ? taken : S_OK;
}

HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found)
{
    *out = (struct dumped_event){.record = e->record,
                                 .pointer_size = e->pointer_size,
                                 .timer_resolution = e->timer_resolution,
                                 .gmt = schemas->gmt,
                                 .reason = "unknown event header type"};
    *found = NULL;
    if (!e->known)
        return S_OK;
    HRESULT hr = trace_schemas_learn(schemas, e);
    if (SUCCEEDED(hr))
        hr = event_schemas_find(schemas->all, e->record, e->pointer_size, found);
    if (SUCCEEDED(hr)) {
        out->schema = (*found)->schema;
        out->reason = (*found)->reason;
    }
    return hr;
}
