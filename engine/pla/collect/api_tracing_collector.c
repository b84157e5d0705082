/* SPDX-License-Identifier: MIT */
/* The API tracing data collector (MS-PLA 3.2.4.10). It consists of a trace collector and a watcher. The collector's
   session enables the event provider of API tracing; the watcher injects this event provider into the program
   (engine/etw/api_trace.h). The trace collector also provides segments, limits, statistics and the cleanup after a
   killed host process. This file creates the object with which the trace collector is opened (trace_model). */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/injection.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/collect/trace_session.h"

#include <inttypes.h>
#include <string.h>

enum {
    BLOCKING_MODE = 0x20000000, /* EVENT_TRACE_BLOCKING_MODE: the program waits for a buffer, so no call is lost */
    BUFFER_KB = 256,
    BUFFERS = 64,
    LEVEL_ALL = 5,
    LOOK_MS = 1000,
};

struct api_tracing {
    struct collector collector;
    struct collector *trace;
    struct api_trace *api;
    struct api_trace_numbers begin; /* numbers at the start of this segment */
    struct totals {
        uint64_t processes, calls; /* counted under earlier settings of the run */
        uint64_t lost;             /* events lost in earlier segments of the run */
    } earlier;
    bool attach; /* `attach`, `user` and `note` come from collect_context */
    void *user;
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
};

/* ---- the settings ---- */

static HRESULT settings_make(struct object *object, struct api_settings *out)
{
    const struct api_tracing_collector *c = (const struct api_tracing_collector *)object;
    *out = (struct api_settings){.flags = 0};
    HRESULT hr = api_tracing_program(object, &out->program);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : error_prefix(hr, "ExePath");
    if (!c->LogApiNamesOnly)
        out->flags |= API_TRACE_ARGUMENTS;
    if (c->LogApisRecursively)
        out->flags |= API_TRACE_RECURSIVE;
    hr = api_settings_add_modules(out, &c->IncludeModules);
    if (SUCCEEDED(hr))
        hr = api_settings_add_apis(&out->include, &c->IncludeApis, "IncludeApis");
    if (SUCCEEDED(hr))
        hr = api_settings_add_apis(&out->exclude, &c->ExcludeApis, "ExcludeApis");
    if (FAILED(hr))
        api_settings_free(out);
    return hr;
}

static HRESULT read_program(void *user, uint64_t offset, void *to, size_t size)
{
    size_t got;
    HRESULT hr = file_read_at(user, offset, to, size, &got);
    return FAILED(hr) ? hr : got == size ? S_OK : E_FAIL;
}

/* Checks that the file is a program that can be traced. HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT): the file is something
   else; the message says what the file is. */
static HRESULT check_format(const char *program)
{
    struct file *f;
    HRESULT hr = file_open(program, FILE_READ, &f);
    if (FAILED(hr))
        return hr;
    hr = api_trace_check_program(&(struct injection_source){read_program, f}, program);
    file_close(f);
    return FAILED(hr) ? error_prefix(hr, "ExePath") : hr;
}

static HRESULT api_tracing_check(struct object *object)
{
    struct api_settings s;
    HRESULT hr = settings_make(object, &s);
    if (FAILED(hr))
        return hr;
    hr = check_format(s.program);
    api_settings_free(&s);
    return hr;
}

/* Fails for a collector without a program. Templates contain such collectors, so only this collector fails; the set's
   other collectors run. */
static HRESULT api_tracing_runs(struct object *object)
{
    HRESULT hr = api_trace_supported();
    if (SUCCEEDED(hr) && !((const struct api_tracing_collector *)object)->ExePath[0])
        hr = error_set(PLA_E_PROPERTY_CONFLICT, "ExePath: no program is set");
    return hr;
}

/* ---- the trace collector ---- */

static HRESULT add_provider(struct trace_data_collector *trace, const struct api_trace *api)
{
    struct object *o;
    HRESULT hr = object_create(&trace_data_provider_class, (struct object *)trace, &o);
    if (FAILED(hr))
        return hr;
    struct trace_data_provider *p = (struct trace_data_provider *)o;
    const struct variant level = {.type = VARIANT_UI8, .integer = LEVEL_ALL};
    const struct bytes filter = {.count = sizeof(struct api_filter), .items = (uint8_t *)api_trace_filter(api)};
    struct value data = {.kind = PROPERTY_BYTES};
    p->Guid = api_trace_provider;
    p->FilterEnabled = true;
    hr = bytes_copy(&data.bytes, &filter);
    if (SUCCEEDED(hr))
        hr = object_give(o, &trace_data_provider_class.properties[ITraceDataProvider_FilterData], &data);
    value_free(&data);
    if (SUCCEEDED(hr))
        hr = value_map_add_value(p->Level, &level);
    if (SUCCEEDED(hr))
        hr = collection_add(trace->TraceDataProviders, o);
    object_release(o);
    return hr;
}

/* Creates the object with which the trace collector is opened. */
static HRESULT trace_model(struct object *object, const struct api_trace *api, struct object **out)
{
    const struct api_tracing_collector *c = (const struct api_tracing_collector *)object;
    HRESULT hr = object_create(&trace_data_collector_class, NULL, out);
    if (FAILED(hr))
        return hr;
    struct trace_data_collector *trace = (struct trace_data_collector *)*out;
    char *session = api_trace_session_name(api);
    trace->BufferSize = BUFFER_KB;
    trace->MinimumBuffers = trace->MaximumBuffers = BUFFERS;
    trace->ExtendedModes = BLOCKING_MODE;
    trace->FlushTimer = 1;
    trace->LogCircular = c->LogCircular;
    hr = session
             ? object_put_text(*out, &trace_data_collector_class.properties[ITraceDataCollector_SessionName], session)
             : E_OUTOFMEMORY;
    memory_free(session);
    if (SUCCEEDED(hr))
        hr = add_provider(trace, api);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

/* ---- statistics ---- */

/* Adds a note for each of these events since the last call: the watcher failed; a traced program changed the settings
   in shared memory. */
static void take_notes(struct api_tracing *a, const struct api_trace_numbers *now)
{
    char *failure = api_trace_take_failure(a->api);
    if (failure)
        a->note(a->user, S_OK, NULL, failure);
    memory_free(failure);
    if (now->restored)
        a->note(a->user, S_OK, NULL,
                "API tracing: a traced program changed the settings in shared memory (they were written again)");
}

static void api_tracing_figures(struct collector *c)
{
    struct api_tracing *a = (struct api_tracing *)c;
    struct api_trace_numbers now;
    if (a->trace)
        collector_figures(a->trace, &c->figures);
    api_trace_read(a->api, &now);
    c->figures.api_processes = now.processes - a->begin.processes;
    c->figures.api_functions = now.functions;
    c->figures.api_calls = now.calls - a->begin.calls;
    take_notes(a, &now);
}

/* Takes ownership of `text`. */
static void note_formatted(struct api_tracing *a, char *text)
{
    if (text)
        a->note(a->user, S_OK, NULL, text);
    memory_free(text);
}

/* Adds the counts of an API trace to the totals. Used if new settings replace the API trace, because the new API trace
   counts from 0. */
static void add_earlier(struct totals *to, struct api_trace *api)
{
    struct api_trace_numbers n;
    api_trace_read(api, &n);
    to->processes += n.processes;
    to->calls += n.calls;
}

/* Adds the totals to the run's message. */
static void note_totals(struct api_tracing *a, const struct api_trace_numbers *now, uint64_t lost)
{
    note_formatted(a, text_format("API tracing: %" PRIu64 " processes, %" PRIu64 " functions hooked, %" PRIu64
                                  " calls, %" PRIu64 " lost",
                                  now->processes + a->earlier.processes, now->functions, now->calls + a->earlier.calls,
                                  lost));
}

static void note_end(struct api_tracing *a, uint64_t lost)
{
    struct api_trace_numbers now;
    api_trace_read(a->api, &now);
    take_notes(a, &now);
    if (now.processes || a->earlier.processes) {
        note_totals(a, &now, lost);
    } else {
        static const char text[] = "API tracing: the program was not started while the set ran "
                                   "(processes that were already running are traced only with OpenPLA.ApiAttach)";
        a->note(a->user, S_OK, NULL, text);
    }
    if (now.late)
        note_formatted(a, text_format("API tracing: processes whose first calls were missed: %" PRIu64, now.late));
    if (now.attached)
        note_formatted(a, text_format("API tracing: processes that were already running: %" PRIu64
                                      " (missing: the calls before the start of the trace, and the calls through "
                                      "function addresses that the processes obtained before that start)",
                                      now.attached));
}

/* ---- the kind ---- */

static uint64_t lost_so_far(const struct api_tracing *a)
{
    struct collector_figures f = {.samples = 0};
    if (a->trace)
        collector_figures(a->trace, &f);
    return a->earlier.lost + f.events_lost;
}

static HRESULT api_tracing_close(struct collector *c)
{
    struct api_tracing *a = (struct api_tracing *)c;
    const bool ends = a->trace && !api_trace_is_shared(a->api);
    HRESULT reason;
    if (ends)
        (void)collector_poll(a->trace, &reason); /* to get the latest number of lost events */
    const uint64_t lost = lost_so_far(a);
    HRESULT hr = collector_close(a->trace);
    if (ends)
        note_end(a, lost);
    api_trace_close(a->api);
    memory_free(a);
    return hr;
}

static HRESULT open_trace(struct api_tracing *a, struct object *object, const struct collect_context *context)
{
    struct api_tracing *before = (struct api_tracing *)context->previous;
    struct collect_context inner = *context;
    struct object *model;
    inner.previous = before ? before->trace : NULL;
    HRESULT hr = trace_model(object, a->api, &model);
    if (FAILED(hr))
        return hr;
    hr = collector_open(model, &inner, &a->trace);
    object_release(model);
    return hr;
}

/* Opens the API trace. If the settings are those of `before`, the API trace uses the section of `before`, so that a new
   segment changes nothing in the traced programs. */
static HRESULT open_api(struct api_tracing *a, struct object *object, struct api_trace *before)
{
    struct api_settings s;
    HRESULT hr = settings_make(object, &s);
    if (SUCCEEDED(hr))
        hr = check_format(s.program);
    if (SUCCEEDED(hr))
        hr = api_trace_open(&s, before, &a->api);
    api_settings_free(&s);
    return hr;
}

static HRESULT api_tracing_open(struct object *object, const struct collect_context *context, struct collector **out)
{
    const struct api_tracing *before = (const struct api_tracing *)context->previous;
    struct api_tracing *a = memory_zero(1, sizeof *a);
    if (!a)
        return E_OUTOFMEMORY;
    a->user = context->user;
    a->note = context->note;
    a->attach = context->attach;
    HRESULT hr = open_api(a, object, before ? before->api : NULL);
    if (before) {
        a->earlier = before->earlier;
        a->earlier.lost = lost_so_far(before);
        if (SUCCEEDED(hr) && a->api != before->api)
            add_earlier(&a->earlier, before->api);
    }
    if (SUCCEEDED(hr))
        hr = open_trace(a, object, context);
    if (SUCCEEDED(hr))
        hr = api_trace_watch(a->api, a->attach);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        api_tracing_close(&a->collector);
        return error_restore(&why);
    }
    api_trace_read(a->api, &a->begin);
    a->collector.poll_ms = LOOK_MS;
    *out = &a->collector;
    return S_OK;
}

static enum collector_standing api_tracing_poll(struct collector *c, HRESULT *reason)
{
    struct api_tracing *a = (struct api_tracing *)c;
    const enum collector_standing standing = collector_poll(a->trace, reason);
    const uint64_t poll_ms = collector_poll_ms(a->trace);
    c->poll_ms = poll_ms ? poll_ms : LOOK_MS;
    api_tracing_figures(c);
    return standing;
}

static HRESULT api_tracing_flush(struct collector *c)
{
    return collector_flush(((struct api_tracing *)c)->trace);
}

static HRESULT api_tracing_update(struct collector *c, struct object *object)
{
    struct api_tracing *a = (struct api_tracing *)c;
    struct api_tracing next = {.api = NULL};
    struct object *model = NULL;
    HRESULT hr = open_api(&next, object, a->api);
    if (SUCCEEDED(hr))
        hr = trace_model(object, next.api, &model);
    if (SUCCEEDED(hr))
        hr = collector_update(a->trace, model);
    object_release(model);
    if (hr != S_OK) {
        struct error_kept why = error_keep(hr);
        api_trace_close(next.api);
        return error_restore(&why);
    }
    if (next.api != a->api) {
        add_earlier(&a->earlier, a->api);
        a->begin = (struct api_trace_numbers){.processes = 0};
    }
    api_trace_close(a->api);
    a->api = next.api;
    hr = api_trace_watch(a->api, a->attach);
    return FAILED(hr) ? hr : S_OK;
}

static bool api_tracing_follows(const struct collector *c, struct object *object)
{
    const struct api_tracing *a = (const struct api_tracing *)c;
    struct object *model;
    if (FAILED(trace_model(object, a->api, &model)))
        return true; /* collector_open will fail with the reason */
    const bool follows = collector_follows(a->trace, model);
    object_release(model);
    return follows;
}

static bool api_tracing_hand_back(struct collector *c)
{
    return collector_hand_back(((struct api_tracing *)c)->trace);
}

const struct collector_kind api_tracing_collector_kind = {
    .output = WRITES_FILE,
    .end = ENDS_WITH_RUN,
    .runs = api_tracing_runs,
    .check = api_tracing_check,
    .open = api_tracing_open,
    .poll = api_tracing_poll,
    .figures = api_tracing_figures,
    .flush = api_tracing_flush,
    .close = api_tracing_close,
    .update = api_tracing_update,
    .follows = api_tracing_follows,
    .hand_back = api_tracing_hand_back,
};
