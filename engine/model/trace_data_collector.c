/* SPDX-License-Identifier: MIT */
/* The trace data collector: what its rows leave to code. MS-PLA 3.2.4.9. */
#include "engine/model/data_collector.h"

#include <string.h>

/* {9E814AAD-3204-11D2-9A82-006008A86939}: the provider that is the Windows kernel. */
static const GUID kernel_provider = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};

static HRESULT trace_get_session_name(struct object *o, const struct property *p, struct value *out)
{
    HRESULT hr = object_get_field(o, p, out);
    if (SUCCEEDED(hr) && !out->text[0]) {
        value_free(out);
        hr = object_get_field(o, &o->class->properties[ITraceDataCollector_Name], out);
    }
    return hr;
}

static HRESULT trace_get_is_kernel(struct object *o, const struct property *p, struct value *out)
{
    struct object **providers;
    size_t count;
    memset(out, 0, sizeof *out);
    out->kind = p->kind;
    HRESULT hr = collection_snapshot(((struct trace_data_collector *)o)->TraceDataProviders, &providers, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct value guid;
        object_get_field(providers[i], &trace_data_provider_class.properties[ITraceDataProvider_Guid], &guid);
        out->boolean = out->boolean || guid_equal(&guid.guid, &kernel_provider);
    }
    objects_release(providers, count);
    return hr;
}

static const struct property properties[] = {
#define PROPERTY_STRUCT trace_data_collector
#define PROPERTY        PROPERTY_ROW
#include "engine/model/data_collector.def"
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
    .extension = extension,
};
