/* SPDX-License-Identifier: MIT */
/* The trace data collector: hooks of its rows and its validation (MS-PLA 3.2.4.9). */
#include "engine/pla/model.h"
#include "engine/pla/model/validate.h"

/* Returns the session name of the collector's first kernel provider, a static string; *name NULL: no kernel
   provider. */
static HRESULT kernel_session(struct object *o, const char **name)
{
    struct object **providers;
    size_t count;
    *name = NULL;
    HRESULT hr = collection_snapshot(((struct trace_data_collector *)o)->TraceDataProviders, &providers, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*name && i < count; i++) {
        struct value guid; /* cannot fail, because a GUID needs no allocation */
        object_get_field(providers[i], &trace_data_provider_class.properties[ITraceDataProvider_Guid], &guid);
        const struct kernel_provider *kernel = kernel_provider_find(&guid.guid);
        *name = kernel ? kernel->session : NULL;
    }
    objects_release(providers, count);
    return hr;
}

/* Returns whether the session is a system logger (EVENT_TRACE_SYSTEM_LOGGER_MODE). A system logger can have any name;
   other sessions of kernel events have the kernel's name. */
static bool is_system_logger(struct object *o)
{
    return (((struct trace_data_collector *)o)->ExtendedModes & 0x02000000u) != 0;
}

static HRESULT trace_get_session_name(struct object *o, const struct property *p, struct value *out)
{
    const char *kernel;
    HRESULT hr = object_get_field(o, p, out);
    if (FAILED(hr) || out->text[0])
        return hr;
    value_free(out);
    hr = kernel_session(o, &kernel);
    if (FAILED(hr) || !kernel || is_system_logger(o))
        return FAILED(hr) ? hr : object_get_field(o, &o->class->properties[ITraceDataCollector_Name], out);
    out->kind = PROPERTY_TEXT;
    out->text = text_copy(kernel);
    return out->text ? S_OK : E_OUTOFMEMORY;
}

#define SESSION_NAME_MAX 1024 /* UTF-16 units, the limit of StartTrace */

static HRESULT trace_check_session_name(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    HRESULT hr = check_visible_name(p, in->text, SESSION_NAME_MAX);
    if (hr != E_INVALIDARG)
        return hr;
    struct error_kept why = error_keep(hr);
    return error_set(PLA_E_INVALID_SESSION_NAME, "%s", why.text);
}

static HRESULT trace_get_is_kernel(struct object *o, const struct property *p, struct value *out)
{
    const char *kernel;
    HRESULT hr = kernel_session(o, &kernel);
    (void)p;
    out->boolean = SUCCEEDED(hr) && kernel;
    return hr;
}

static bool guid_repeats(struct object *const *providers, size_t count, GUID *which)
{
    static const GUID none;
    const struct property *p = &trace_data_provider_class.properties[ITraceDataProvider_Guid];
    for (size_t i = 0; i < count; i++) {
        struct value a, b;
        object_get_field(providers[i], p, &a); /* cannot fail, because a GUID needs no allocation */
        for (size_t k = 0; k < i; k++) {
            object_get_field(providers[k], p, &b);
            *which = a.guid;
            if (!guid_equal(&a.guid, &none) && guid_equal(&a.guid, &b.guid))
                return true;
        }
    }
    return false;
}

HRESULT trace_check_providers(struct object *o)
{
    struct object **providers;
    size_t count;
    GUID guid;
    HRESULT hr = collection_snapshot(((struct trace_data_collector *)o)->TraceDataProviders, &providers, &count);
    if (SUCCEEDED(hr) && guid_repeats(providers, count, &guid)) {
        char text[39];
        text_from_guid(&guid, text);
        hr = error_set(PLA_E_NO_DUPLICATES, "TraceDataProviders: two providers have the GUID %s", text);
    }
    objects_release(providers, count);
    return hr;
}

#define CLASS     trace_data_collector
#define INTERFACE ITraceDataCollector
#define ROWS      "engine/pla/trace_data_collector.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT trace_collector_created(struct object *o)
{
    HRESULT hr = collector_created(o);
    return FAILED(hr) ? hr
                      : object_create_child(o, &trace_data_provider_collection_class,
                                            &((struct trace_data_collector *)o)->TraceDataProviders);
}

static HRESULT validate_session_name(const struct validation *v, struct object *o, const char *kernel)
{
    struct value put;
    HRESULT hr = object_get_field(o, &o->class->properties[ITraceDataCollector_SessionName], &put);
    if (SUCCEEDED(hr) && put.text[0] && !is_system_logger(o) && !text_equal_nocase(put.text, kernel))
        hr = validation_report(v, PLA_S_PROPERTY_IGNORED, "SessionName",
                               "the session of kernel events has a fixed name");
    value_free(&put);
    return hr;
}

static HRESULT validate_providers(const struct validation *v, struct object *o)
{
    const char *kernel;
    HRESULT hr = kernel_session(o, &kernel);
    if (SUCCEEDED(hr) && kernel && collection_count(((struct trace_data_collector *)o)->TraceDataProviders) > 1)
        hr = validation_report(v, PLA_E_PROPERTY_CONFLICT, "TraceDataProviders",
                               "a kernel trace cannot have another provider");
    if (SUCCEEDED(hr) && kernel)
        hr = validate_session_name(v, o, kernel);
    if (SUCCEEDED(hr))
        hr = trace_check_providers(o);
    /* This happens if a client sets the GUID after adding the event provider. Only one of the two would be stored. */
    return hr == PLA_E_NO_DUPLICATES
               ? validation_report(v, hr, "TraceDataProviders", "two providers have the same GUID")
               : hr;
}

/* Reports PreallocateFile as ignored for a set with segments. Sets of the trace session namespaces have no segments,
   regardless of Segment. */
static HRESULT validate_room(const struct validation *v)
{
    const struct validation of_set = {.unused = v->unused, .unused_count = v->unused_count};
    return validation_skips(&of_set, "Segment")
               ? S_OK
               : validation_report(v, PLA_S_PROPERTY_IGNORED, "PreallocateFile",
                                   "this version does not preallocate the files of segments");
}

static HRESULT trace_collector_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char *const unused[] = {
        "FileName", "LogAppend", "LogCircular", "LogOverwrite", "FileNameFormat", "FileNameFormatPattern", NULL};
    const struct trace_data_collector *c = (const struct trace_data_collector *)copy;
    HRESULT hr = c->StreamMode != 1 /* plaFile */
                     ? validation_unused(v, unused, "StreamMode is not plaFile")
                     : collector_validate_log(v, (const struct data_collector *)c, true);
    if (SUCCEEDED(hr) && c->PreallocateFile && v->set->Segment && v->set->SegmentMaxSize)
        hr = validate_room(v);
    return FAILED(hr) ? hr : validate_providers(v, o);
}

const struct class trace_data_collector_class = {
    .name = "TraceDataCollector",
    CLASS_ROWS(trace_data_collector, ITraceDataCollector),
    .created = trace_collector_created,
    .read_live = collector_read_live,
    .extension = ".etl",
    .validate = trace_collector_validate,
};
