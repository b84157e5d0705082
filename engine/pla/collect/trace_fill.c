/* SPDX-License-Identifier: MIT */
/* A session as a trace collector's properties. */
#include "engine/pla/collect/trace_fill.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/etw/event_providers.h"

#include <string.h>

enum { STREAM_FILE = 1, STREAM_REAL_TIME = 2, STREAM_BUFFERING = 4 }; /* StreamMode, MS-PLA 2.2.2.10 */

/* ---- providers ---- */

static HRESULT put_map(struct object *map, uint64_t number)
{
    const struct variant wanted = {.type = VARIANT_UI8, .integer = (int64_t)number};
    struct variant now;
    HRESULT hr = value_map_get_value(map, &now);
    return FAILED(hr) || (uint64_t)now.integer == number ? hr : value_map_put_value(map, &wanted);
}

static const char *name_of(const GUID *guid, const struct event_providers *known)
{
    const struct kernel_provider *kernel = kernel_provider_find(guid);
    for (size_t i = 0; !kernel && i < known->count; i++)
        if (guid_equal(&known->items[i].guid, guid))
            return known->items[i].name;
    return kernel ? kernel->name : NULL;
}

/* A new one, named as it is registered, or by its GUID (behaviour 10). */
static HRESULT add_provider(struct object *providers, const struct trace_enable *e, const struct event_providers *known,
                            struct object **out)
{
    char guid[39];
    text_from_guid(&e->guid, guid);
    const char *name = e->name ? e->name : name_of(&e->guid, known);
    HRESULT hr = object_create(&trace_data_provider_class, providers, out);
    if (FAILED(hr))
        return hr;
    ((struct trace_data_provider *)*out)->Guid = e->guid;
    hr = object_put_text(*out, &trace_data_provider_class.properties[ITraceDataProvider_DisplayName],
                         name ? name : guid);
    if (SUCCEEDED(hr))
        hr = collection_add(providers, *out);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

static struct object *find_provider(struct object *const *list, size_t count, const GUID *guid)
{
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&((struct trace_data_provider *)list[i])->Guid, guid))
            return object_reference(list[i]);
    return NULL;
}

static bool plan_has(const struct trace_plan *plan, const GUID *guid)
{
    for (size_t i = 0; i < plan->count; i++)
        if (guid_equal(&plan->enables[i].guid, guid))
            return true;
    return false;
}

/* A filter with ETW's header is data that have a number (as trace_plan_make has them). */
static HRESULT fill_filter(struct object *provider, const struct trace_enable *e)
{
    struct trace_data_provider *p = (struct trace_data_provider *)provider;
    EVENT_FILTER_HEADER head = {.Id = 0};
    struct value v = {.kind = PROPERTY_BYTES};
    size_t from = 0;
    p->FilterEnabled = e->filtered;
    if (!e->filtered)
        return S_OK;
    if (e->filter_type == EVENT_FILTER_TYPE_SCHEMATIZED && e->filter.count >= sizeof head) {
        memcpy(&head, e->filter.items, sizeof head);
        from = head.Size == e->filter.count && !head.InstanceId && !head.NextOffset ? sizeof head : 0;
    }
    const struct bytes data = {.count = e->filter.count - from, .items = e->filter.items + from};
    object_lock(provider);
    const bool same =
        p->FilterData.count == data.count && (!data.count || !memcmp(p->FilterData.items, data.items, data.count));
    object_unlock(provider);
    if (same && (from != 0) == (p->FilterType < EVENT_FILTER_TYPE_SCHEMATIZED))
        return S_OK; /* FilterType may say more than the header's number */
    p->FilterType = from ? head.Id : e->filter_type;
    HRESULT hr = bytes_copy(&v.bytes, &data);
    if (SUCCEEDED(hr))
        hr = object_give(provider, &trace_data_provider_class.properties[ITraceDataProvider_FilterData], &v);
    value_free(&v);
    return hr;
}

/* The kernel's flags, an item for each, as exports have them; of other masks than EnableFlags they are a flag array. */
static HRESULT fill_masks(struct object *map, const uint32_t masks[GROUP_MASKS])
{
    enum { TYPE_FLAG = 2, TYPE_FLAG_ARRAY = 3, MASK_BITS = 29 }; /* ValueMapType */
    bool beyond = false;
    HRESULT hr = S_OK;
    collection_clear(map);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < GROUP_MASKS * MASK_BITS; i++) {
        const uint32_t mask = i / MASK_BITS, bit = UINT32_C(1) << i % MASK_BITS;
        const struct variant v = {.type = VARIANT_UI8, .integer = (int64_t)((uint64_t)mask << MASK_BITS | bit)};
        if (!(masks[mask] & bit))
            continue;
        beyond = beyond || mask != 0;
        hr = value_map_add_value(map, &v);
    }
    ((struct value_map *)map)->ValueMapType = beyond ? TYPE_FLAG_ARRAY : TYPE_FLAG;
    return hr;
}

/* Of a session of the registry the kernel's provider is as it was committed. */
static HRESULT fill_kernel(struct object *provider, const struct trace_plan *plan)
{
    return plan->kernel ? fill_masks(((struct trace_data_provider *)provider)->KeywordsAny, plan->masks) : S_OK;
}

static HRESULT fill_provider(struct object *provider, const struct trace_enable *e, bool filters)
{
    const struct trace_data_provider *p = (struct trace_data_provider *)provider;
    HRESULT hr = put_map(p->Level, e->level);
    if (SUCCEEDED(hr))
        hr = put_map(p->KeywordsAny, e->any);
    if (SUCCEEDED(hr))
        hr = put_map(p->KeywordsAll, e->all);
    if (SUCCEEDED(hr))
        hr = put_map(p->Properties, e->properties);
    return SUCCEEDED(hr) && filters ? fill_filter(provider, e) : hr;
}

static HRESULT fill_providers(struct object *providers, const struct trace_plan *plan, bool filters)
{
    struct event_providers known = {0};
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(providers, &list, &count);
    if (FAILED(hr))
        return hr;
    if (plan->count)
        hr = event_providers_list(host_etw(), &known);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (!plan_has(plan, &((struct trace_data_provider *)list[i])->Guid))
            hr = collection_remove_object(providers, list[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < plan->count; i++) {
        struct object *provider = find_provider(list, count, &plan->enables[i].guid);
        if (!provider)
            hr = add_provider(providers, &plan->enables[i], &known, &provider);
        if (SUCCEEDED(hr))
            hr = kernel_provider_find(&plan->enables[i].guid) ? fill_kernel(provider, plan)
                                                              : fill_provider(provider, &plan->enables[i], filters);
        object_release(provider);
    }
    event_providers_free(&known);
    objects_release(list, count);
    return hr;
}

/* ---- the session ---- */

static uint32_t stream_of(const struct trace_plan *plan)
{
    if (plan->mode & TRACE_MODE_BUFFERING)
        return STREAM_BUFFERING;
    if (plan->mode & TRACE_MODE_REAL_TIME)
        return plan->file ? STREAM_FILE | STREAM_REAL_TIME : STREAM_REAL_TIME;
    return STREAM_FILE;
}

static void fill_modes(struct trace_data_collector *c, const struct trace_plan *plan)
{
    uint32_t own = TRACE_MODE_SEQUENTIAL; /* what a file is that is nothing else */
#define TRACE_PLAN_MODE(property, bits) own |= TRACE_PLAN_OF_##property;
#include "engine/pla/collect/trace_plan_modes.def"
    c->LogAppend = (plan->mode & TRACE_PLAN_OF_LogAppend) != 0;
    c->LogCircular = (plan->mode & TRACE_PLAN_OF_LogCircular) != 0;
    c->PreallocateFile = (plan->mode & TRACE_PLAN_OF_PreallocateFile) != 0;
    c->ProcessMode = (plan->mode & TRACE_PLAN_OF_ProcessMode) != 0;
    c->StreamMode = stream_of(plan);
    c->ExtendedModes = plan->mode & ~own;
}

static void fill_figures(struct trace_data_collector *c, const struct trace_session *live)
{
    c->NumberOfBuffers = live->buffers;
    c->FreeBuffers = live->free_buffers;
    c->BuffersWritten = live->buffers_written;
    c->BuffersLost = live->buffers_lost;
    c->RealTimeBuffersLost = live->real_time_buffers_lost;
    c->EventsLost = live->events_lost;
    c->SessionThreadId = live->thread;
    c->SessionId = live->number;
}

static HRESULT put_own(struct object *o, int row, const char *text)
{
    return object_put_text(o, &o->class->properties[row], text);
}

/* RootPath and FileName that make this file again. */
static HRESULT fill_file(struct object *set, struct object *collector, const char *file)
{
    char *folder = path_folder(file);
    HRESULT hr = folder ? put_own(set, IDataCollectorSet_RootPath, folder) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = put_own(collector, ITraceDataCollector_FileName, path_name(file));
    memory_free(folder);
    return hr;
}

static HRESULT fill_collector(struct object *set, struct object *collector, const struct trace_plan *plan, bool filters,
                              const struct trace_session *live)
{
    struct trace_data_collector *c = (struct trace_data_collector *)collector;
    HRESULT hr = put_own(collector, ITraceDataCollector_Name, plan->session);
    if (SUCCEEDED(hr))
        hr = put_own(collector, ITraceDataCollector_SessionName, plan->session);
    if (SUCCEEDED(hr) && plan->file)
        hr = fill_file(set, collector, plan->file);
    if (FAILED(hr))
        return hr;
    object_lock(collector);
    c->Guid = plan->guid;
    object_unlock(collector);
    c->ClockType = plan->clock;
    c->BufferSize = plan->buffer_kb;
    c->MinimumBuffers = plan->minimum_buffers;
    c->MaximumBuffers = plan->maximum_buffers;
    c->FlushTimer = plan->flush_timer;
    fill_modes(c, plan);
    if (live)
        fill_figures(c, live);
    return fill_providers(c->TraceDataProviders, plan, filters);
}

/* MB, whatever the session counts in; what is not whole is rounded up. */
static uint32_t megabytes(const struct trace_plan *plan)
{
    return plan->mode & TRACE_MODE_USE_KBYTES ? plan->maximum_file / 1024 + (plan->maximum_file % 1024 != 0)
                                              : plan->maximum_file;
}

/* The first trace collector, a new one if there is none. */
static HRESULT collector_of_set(struct object *set, struct object **out)
{
    struct object *collectors = set_of(set)->DataCollectors, **list;
    size_t count;
    *out = NULL;
    HRESULT hr = collection_snapshot(collectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*out && i < count; i++)
        if (list[i]->class == &trace_data_collector_class)
            *out = object_reference(list[i]);
    if (SUCCEEDED(hr) && !*out && SUCCEEDED(hr = object_create(&trace_data_collector_class, set, out)))
        hr = collection_add(collectors, *out);
    objects_release(list, count);
    return hr;
}

HRESULT trace_fill(struct object *set, const struct trace_plan *plan, bool filters, const struct trace_session *live)
{
    struct object *collector;
    HRESULT hr = collector_of_set(set, &collector);
    if (SUCCEEDED(hr))
        hr = fill_collector(set, collector, plan, filters, live);
    if (SUCCEEDED(hr))
        set_of(set)->SegmentMaxSize = megabytes(plan);
    object_release(collector);
    return hr;
}
