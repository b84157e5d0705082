/* SPDX-License-Identifier: MIT */
/* Creates the plans of trace sessions from trace collectors, and writes plans back to the collectors' properties. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/collect/trace_session.h"

#include <string.h>

enum {
    LONGEST_NAME = 1024, /* characters of a session name */
    OWN_FILTER_TYPES = 0x7FFFFFFF,
    KB_OF_MB = 1024,
};

static void enable_free(struct trace_enable *e)
{
    memory_free(e->name);
    memory_free(e->filter.items);
}

void trace_plan_free(struct trace_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        enable_free(&plan->enables[i]);
    memory_free(plan->enables);
    memory_free(plan->session);
    memory_free(plan->file);
    *plan = (struct trace_plan){.session = NULL};
}

static uint64_t all_if_none(uint64_t any)
{
    return any ? any : UINT64_MAX;
}

bool trace_enable_same(const struct trace_enable *a, const struct trace_enable *b)
{
    return guid_equal(&a->guid, &b->guid) && a->level == b->level && all_if_none(a->any) == all_if_none(b->any) &&
           a->all == b->all && a->properties == b->properties && a->filtered == b->filtered &&
           a->filter_type == b->filter_type && a->filter.count == b->filter.count &&
           (a->filter.count == 0 || !memcmp(a->filter.items, b->filter.items, a->filter.count));
}

HRESULT trace_plan_add(struct trace_plan *plan, const struct trace_enable *enable)
{
    struct trace_enable copy = *enable;
    struct trace_enable *list = memory_resize(plan->enables, (plan->count + 1) * sizeof *list);
    if (!list)
        return E_OUTOFMEMORY;
    plan->enables = list;
    copy.name = enable->name ? text_copy(enable->name) : NULL;
    copy.filter = (struct bytes){0};
    HRESULT hr = enable->name && !copy.name ? E_OUTOFMEMORY : bytes_copy(&copy.filter, &enable->filter);
    if (FAILED(hr)) {
        enable_free(&copy);
        return hr;
    }
    list[plan->count++] = copy;
    return S_OK;
}

/* ---- event providers ---- */

static HRESULT map_value(struct object *map, uint64_t most, const char *property, const struct trace_enable *e,
                         uint64_t *out)
{
    struct variant v;
    HRESULT hr = value_map_get_value(map, &v);
    if (FAILED(hr))
        return hr;
    *out = (uint64_t)v.integer;
    return *out <= most ? S_OK
                        : error_set(E_INVALIDARG, "TraceDataProviders: %s of provider %s: 0x%llX is above 0x%llX",
                                    property, e->name, (unsigned long long)*out, (unsigned long long)most);
}

/* Returns whether the data begin with the header that ETW's event providers expect. */
static bool is_schematized(const struct bytes *data)
{
    EVENT_FILTER_HEADER head;
    if (data->count < sizeof head)
        return false;
    memcpy(&head, data->items, sizeof head);
    return head.Size == data->count && !head.InstanceId && !head.NextOffset;
}

/* Creates the filter. MS-PLA does not define FilterType. If FilterType is not an ETW filter type, the data are private
   data for the event provider. ETW requires a header before such data. The header contains FilterType as the filter's
   number. */
static HRESULT make_filter(const struct trace_data_provider *p, struct bytes *data, struct trace_enable *e)
{
    const bool own = p->FilterType <= OWN_FILTER_TYPES, headed = own && !is_schematized(data);
    const size_t head = headed ? sizeof(EVENT_FILTER_HEADER) : 0;
    e->filtered = p->FilterEnabled && data->count;
    if (!e->filtered)
        return S_OK;
    e->filter_type = own ? EVENT_FILTER_TYPE_SCHEMATIZED : p->FilterType;
    if (own && head + data->count > MAX_EVENT_FILTER_DATA_SIZE)
        return error_set(E_INVALIDARG,
                         "TraceDataProviders: FilterData of provider %s has %zu bytes (at most %zu are allowed)",
                         e->name, data->count, MAX_EVENT_FILTER_DATA_SIZE - head);
    e->filter.items = memory_zero(1, head + data->count);
    if (!e->filter.items)
        return E_OUTOFMEMORY;
    e->filter.count = head + data->count;
    if (headed)
        memcpy(e->filter.items, &(EVENT_FILTER_HEADER){.Id = (USHORT)p->FilterType, .Size = (ULONG)e->filter.count},
               head);
    memcpy(e->filter.items + head, data->items, data->count);
    return S_OK;
}

static HRESULT read_filter(struct object *provider, struct trace_enable *e)
{
    struct value data;
    HRESULT hr = object_get(provider, &trace_data_provider_class.properties[ITraceDataProvider_FilterData], &data);
    if (SUCCEEDED(hr)) {
        hr = make_filter((const struct trace_data_provider *)provider, &data.bytes, e);
        value_free(&data);
    }
    return hr;
}

static HRESULT name_provider(struct object *provider, struct trace_enable *e)
{
    struct value v;
    HRESULT hr = object_get(provider, &trace_data_provider_class.properties[ITraceDataProvider_DisplayName], &v);
    char guid[39];
    if (FAILED(hr))
        return hr;
    text_from_guid(&e->guid, guid);
    e->name = text_copy(v.text[0] ? v.text : guid);
    value_free(&v);
    return e->name ? S_OK : E_OUTOFMEMORY;
}

/* Reads the group masks from the kernel provider's KeywordsAny. KeywordsAny contains group mask constants, either as
   flags or as a flag array. */
static HRESULT read_masks(const struct trace_data_provider *p, const struct trace_enable *e, struct trace_plan *plan)
{
    uint64_t *values;
    size_t count;
    HRESULT hr = value_map_enabled(p->KeywordsAny, &values, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        if (values[i] <= UINT32_MAX)
            group_masks_add(plan->masks, (uint32_t)values[i]);
        else
            hr = error_set(E_INVALIDARG, "TraceDataProviders: KeywordsAny of provider %s: 0x%llX is above 0x%X",
                           e->name, (unsigned long long)values[i], UINT32_MAX);
    }
    group_masks_place(plan->masks);
    memory_free(values);
    return hr;
}

static HRESULT add_kernel(struct object *provider, const struct trace_enable *e, struct trace_plan *plan)
{
    const struct kernel_provider *kernel = kernel_provider_find(&e->guid);
    if (!kernel)
        return S_OK;
    if (plan->kernel)
        return error_set(E_INVALIDARG, "TraceDataProviders: %s and %s cannot be in one session", plan->kernel->name,
                         kernel->name);
    plan->kernel = kernel;
    return read_masks((const struct trace_data_provider *)provider, e, plan);
}

static HRESULT read_provider(struct object *provider, struct trace_enable *e)
{
    static const GUID none;
    const struct trace_data_provider *p = (const struct trace_data_provider *)provider;
    struct value guid;
    uint64_t level = 0, properties = 0;
    HRESULT hr = object_get(provider, &trace_data_provider_class.properties[ITraceDataProvider_Guid], &guid);
    if (FAILED(hr))
        return hr;
    e->guid = guid.guid;
    hr = name_provider(provider, e);
    if (SUCCEEDED(hr) && guid_equal(&e->guid, &none))
        hr = error_set(E_INVALIDARG, "TraceDataProviders: the Guid of a provider (%s) is zero", e->name);
    if (SUCCEEDED(hr))
        hr = map_value(p->Level, TRACE_LEVEL_MAX, "Level", e, &level);
    if (SUCCEEDED(hr))
        hr = map_value(p->KeywordsAny, UINT64_MAX, "KeywordsAny", e, &e->any);
    if (SUCCEEDED(hr))
        hr = map_value(p->KeywordsAll, UINT64_MAX, "KeywordsAll", e, &e->all);
    if (SUCCEEDED(hr))
        hr = map_value(p->Properties, UINT32_MAX, "Properties", e, &properties);
    e->level = (uint8_t)level;
    e->properties = (uint32_t)properties;
    return SUCCEEDED(hr) ? read_filter(provider, e) : hr;
}

static HRESULT read_providers(const struct trace_data_collector *c, struct trace_plan *plan)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(c->TraceDataProviders, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct trace_enable e = {.name = NULL};
        hr = read_provider(list[i], &e);
        if (SUCCEEDED(hr))
            hr = trace_plan_add(plan, &e);
        if (SUCCEEDED(hr))
            hr = add_kernel(list[i], &e, plan);
        enable_free(&e);
    }
    objects_release(list, count);
    return hr;
}

/* ---- the session ---- */

bool trace_plan_is_reserved(const struct trace_plan *plan)
{
    return plan->kernel && !(plan->mode & TRACE_MODE_SYSTEM_LOGGER);
}

bool trace_plan_writes_file(const struct object *collector)
{
    return (((const struct trace_data_collector *)collector)->StreamMode & TRACE_STREAM_FILE) != 0;
}

/* Returns the mode bits for the session's file. If the session has no file, the properties for these bits are ignored
   (MS-PLA 2.2.2.11). */
static uint32_t file_modes(const struct trace_data_collector *c, const struct trace_output *output)
{
    const uint32_t append = c->LogAppend && c->StreamMode == TRACE_STREAM_FILE ? TRACE_PLAN_OF_LogAppend : 0;
    const uint32_t circular = c->LogCircular && !append && output->maximum_mb && !output->segmented;
    uint32_t mode = append | (circular ? TRACE_PLAN_OF_LogCircular : TRACE_MODE_SEQUENTIAL);
    /* A file that is appended to is not preallocated, because it already has a size. A file of a segment is not
       preallocated, because the next file is created when the previous one is full. */
    if (c->PreallocateFile && output->maximum_mb && !append && !output->segmented)
        mode |= TRACE_PLAN_OF_PreallocateFile;
    return mode;
}

static uint32_t plan_log_modes(const struct trace_data_collector *c, const struct trace_output *output)
{
    uint32_t mode = c->ExtendedModes;
    if (c->ProcessMode)
        mode |= TRACE_PLAN_OF_ProcessMode;
    if (c->StreamMode & TRACE_STREAM_REAL_TIME)
        mode |= TRACE_MODE_REAL_TIME;
    if (c->StreamMode & TRACE_STREAM_BUFFERING)
        mode |= TRACE_MODE_BUFFERING;
    return c->StreamMode & TRACE_STREAM_FILE ? mode | file_modes(c, output) : mode;
}

static uint32_t maximum_file(const struct trace_output *output, uint32_t mode)
{
    if (output->segmented)
        return 0;
    if (!(mode & TRACE_MODE_USE_KBYTES))
        return output->maximum_mb;
    return output->maximum_mb < UINT32_MAX / KB_OF_MB ? output->maximum_mb * KB_OF_MB : UINT32_MAX;
}

static HRESULT read_session_name(struct object *collector, struct trace_plan *plan)
{
    struct value v;
    size_t units;
    HRESULT hr = object_get(collector, &trace_data_collector_class.properties[ITraceDataCollector_SessionName], &v);
    if (FAILED(hr))
        return hr;
    plan->session = v.text;
    units = text_utf16_length(plan->session);
    return units && units <= LONGEST_NAME
               ? S_OK
               : error_set(PLA_E_INVALID_SESSION_NAME, "SessionName: '%.100s' has %zu characters (1 to %d are allowed)",
                           plan->session, units, LONGEST_NAME);
}

/* Checks a private session (MS-PLA 3.2.4.9, ProcessMode). */
static HRESULT check_private(struct trace_plan *plan)
{
    if (!(plan->mode & TRACE_MODE_PRIVATE_LOGGER))
        return S_OK;
    if (!plan->count)
        return error_set(
            E_INVALIDARG,
            "ProcessMode: session '%s' has no provider, but a private session runs in the processes of its provider",
            plan->session);
    if (plan->kernel)
        return error_set(E_INVALIDARG, "ProcessMode: session '%s' has a kernel provider, which has no process",
                         plan->session);
    plan->guid = plan->enables[0].guid; /* a private session runs in the processes of this event provider */
    return S_OK;
}

/* Sets the kernel's name and GUID, which ETW requires for a session of kernel events that is not a system logger. */
static HRESULT plan_set_reserved(struct trace_plan *plan)
{
    char *name = text_copy(plan->kernel->session);
    if (!name)
        return E_OUTOFMEMORY;
    memory_free(plan->session);
    plan->session = name;
    plan->guid = plan->kernel->guid;
    return S_OK;
}

HRESULT trace_plan_make(struct object *collector, const struct trace_output *output, struct trace_plan *out)
{
    const struct trace_data_collector *c = (const struct trace_data_collector *)collector;
    const struct property *rows = trace_data_collector_class.properties;
    struct value guid;
    *out = (struct trace_plan){
        .clock = c->ClockType,
        .mode = plan_log_modes(c, output),
        .buffer_kb = c->BufferSize,
        .minimum_buffers = c->MinimumBuffers,
        .maximum_buffers = c->MaximumBuffers,
        .flush_timer = c->FlushTimer,
    };
    if (trace_plan_writes_file(collector))
        out->maximum_file = maximum_file(output, out->mode);
    HRESULT hr = object_get(collector, &rows[ITraceDataCollector_Guid], &guid);
    if (SUCCEEDED(hr)) {
        out->guid = guid.guid;
        hr = read_session_name(collector, out);
    }
    if (SUCCEEDED(hr) && trace_plan_writes_file(collector)) {
        out->file = text_copy(output->file);
        hr = out->file ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = read_providers(c, out);
    if (SUCCEEDED(hr))
        hr = check_private(out);
    if (SUCCEEDED(hr) && trace_plan_is_reserved(out))
        hr = plan_set_reserved(out);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        trace_plan_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

/* ---- comparing plans ---- */

bool trace_plan_same_file(const struct trace_plan *a, const struct trace_plan *b)
{
    return a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file));
}

/* A change to 0 is impossible for FlushTimer and MaximumBuffers, because ETW treats 0 as unchanged. For a private
   session, ETW cannot change MaximumBuffers at all. */
bool trace_plan_can_become(const struct trace_plan *from, const struct trace_plan *to)
{
    static const GUID none;
    const bool guids = guid_equal(&from->guid, &to->guid) || guid_equal(&to->guid, &none);
    const bool zeroed = (!to->flush_timer && from->flush_timer) || (!to->maximum_buffers && from->maximum_buffers);
    const bool fixed = (to->mode & TRACE_MODE_PRIVATE_LOGGER) && from->maximum_buffers != to->maximum_buffers;
    return guids && !fixed && !zeroed && text_equal_nocase(from->session, to->session) && from->clock == to->clock &&
           (from->mode & ~(uint32_t)TRACE_MODE_REAL_TIME) == (to->mode & ~(uint32_t)TRACE_MODE_REAL_TIME) &&
           from->buffer_kb == to->buffer_kb && from->minimum_buffers == to->minimum_buffers &&
           from->maximum_file == to->maximum_file && !from->file == !to->file;
}

/* ---- from a plan to a collector ---- */

enum { STREAM_FILE = 1, STREAM_REAL_TIME = 2, STREAM_BUFFERING = 4 }; /* StreamMode, MS-PLA 2.2.2.10 */

/* ---- event providers ---- */

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

/* Adds an event provider with its registered name. If no name is registered, the GUID is used as the name (behaviour
   10). */
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

/* Writes the filter to FilterData and FilterType. If the filter begins with ETW's header (make_filter), FilterType is
   the number in this header. */
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
        return S_OK; /* keep FilterType, of which the header contains only 16 bits */
    p->FilterType = from ? head.Id : e->filter_type;
    HRESULT hr = bytes_copy(&v.bytes, &data);
    if (SUCCEEDED(hr))
        hr = object_give(provider, &trace_data_provider_class.properties[ITraceDataProvider_FilterData], &v);
    value_free(&v);
    return hr;
}

/* Writes each kernel flag as an item, as in Windows' exports. The map becomes a flag array if masks other than
   EnableFlags are set. */
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

/* Writes the kernel flags. The plan of an autologger has no kernel flags, so the set's kernel provider keeps the
   committed flags. */
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
    /* The bits that are not in ExtendedModes. TRACE_MODE_SEQUENTIAL is one of them: the default mode of a file. */
    uint32_t own = TRACE_MODE_SEQUENTIAL;
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

/* Sets RootPath and FileName to the file's folder and name. */
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

/* Returns the plan's maximum file size in megabytes, rounded up. */
static uint32_t megabytes(const struct trace_plan *plan)
{
    return plan->mode & TRACE_MODE_USE_KBYTES ? plan->maximum_file / 1024 + (plan->maximum_file % 1024 != 0)
                                              : plan->maximum_file;
}

/* Returns the set's first trace collector, and creates it if it is missing. */
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
