/* SPDX-License-Identifier: MIT */
/* The trace data collector: what its rows leave to code. MS-PLA 3.2.4.9. */
#include "engine/model/data_collector.h"
#include "engine/model/trace_providers.h"

#include <string.h>

/* *name is static text: the session of the first of the collector's providers that is the kernel's, else NULL. */
static HRESULT kernel_session(struct object *o, const char **name)
{
    struct object **providers;
    size_t count;
    *name = NULL;
    HRESULT hr = collection_snapshot(((struct trace_data_collector *)o)->TraceDataProviders, &providers, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*name && i < count; i++) {
        struct value guid; /* no memory is needed: it cannot fail */
        object_get_field(providers[i], &trace_data_provider_class.properties[ITraceDataProvider_Guid], &guid);
        *name = trace_provider_kernel_session(&guid.guid);
    }
    objects_release(providers, count);
    return hr;
}

static HRESULT trace_get_session_name(struct object *o, const struct property *p, struct value *out)
{
    const char *kernel;
    HRESULT hr = object_get_field(o, p, out);
    if (FAILED(hr) || out->text[0])
        return hr;
    value_free(out);
    hr = kernel_session(o, &kernel);
    if (FAILED(hr) || !kernel)
        return FAILED(hr) ? hr : object_get_field(o, &o->class->properties[ITraceDataCollector_Name], out);
    out->kind = PROPERTY_TEXT;
    out->text = text_copy(kernel);
    return out->text ? S_OK : E_OUTOFMEMORY;
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
        object_get_field(providers[i], p, &a); /* no memory is needed: it cannot fail */
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

static const struct property properties[] = {
#define PROPERTY_STRUCT trace_data_collector
#define PROPERTY        PROPERTY_ROW
#include "engine/model/trace_data_collector.def"
#undef PROPERTY
#undef PROPERTY_STRUCT
};

static HRESULT created(struct object *o)
{
    HRESULT hr = collector_created(o);
    return FAILED(hr) ? hr
                      : object_create_child(o, &trace_data_provider_collection_class,
                                            &((struct trace_data_collector *)o)->TraceDataProviders);
}

static const char *extension(const struct object *o)
{
    (void)o;
    return ".etl";
}

const struct class trace_data_collector_class = {
    .name = "TraceDataCollector",
    .size = sizeof(struct trace_data_collector),
    .properties = properties,
    .property_count = ITraceDataCollector_count,
    .created = created,
    .read_live = collector_read_live,
    .extension = extension,
};
