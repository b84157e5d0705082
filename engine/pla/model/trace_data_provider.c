/* SPDX-License-Identifier: MIT */
/* The event providers of a trace data collector, their collection, and the kernel's event providers (MS-PLA 3.2.4.11,
   3.2.4.13). */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/model/validate.h"

#define CLASS     trace_data_provider
#define INTERFACE ITraceDataProvider
#define ROWS      "engine/pla/trace_data_provider.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT create_map(struct object *o, uint32_t type, const char *description, struct object **field)
{
    HRESULT hr = object_create_child(o, &value_map_class, field);
    if (FAILED(hr))
        return hr;
    ((struct value_map *)*field)->ValueMapType = type;
    return object_put_text(*field, &value_map_class.properties[IValueMap_Description], description);
}

static HRESULT trace_provider_created(struct object *o)
{
    struct trace_data_provider *p = (struct trace_data_provider *)o;
    HRESULT hr = create_map(o, 1, "The events of this level and all lower levels are collected", &p->Level);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "An event is collected if it has one of these keywords", &p->KeywordsAny);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "An event is collected if it has all of these keywords", &p->KeywordsAll);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "Additional data collected with each event", &p->Properties);
    return hr;
}

/* The maps whose values have fewer than 64 bits, and ETW's limits for their values. */
static const struct map_limit {
    int row;
    uint64_t most;
} map_limits[] = {{ITraceDataProvider_Level, TRACE_LEVEL_MAX}, {ITraceDataProvider_Properties, UINT32_MAX}};

static HRESULT check_limit(const struct property *p, uint64_t value, uint64_t most)
{
    return value > most ? error_set(E_INVALIDARG, "%s: 0x%llX is not between 0 and 0x%llX", p->name,
                                    (unsigned long long)value, (unsigned long long)most)
                        : S_OK;
}

HRESULT trace_provider_check_value(struct object *map, int64_t value)
{
    HRESULT hr = S_OK;
    object_lock(map);
    struct object *provider = map->parent && map->parent->class == &trace_data_provider_class ? map->parent : NULL;
    for (size_t i = 0; provider && SUCCEEDED(hr) && i < sizeof map_limits / sizeof *map_limits; i++) {
        const struct property *p = &trace_data_provider_rows[map_limits[i].row];
        if (object_child(provider, p) == map)
            hr = check_limit(p, (uint64_t)value, map_limits[i].most);
    }
    object_unlock(map);
    return hr;
}

static HRESULT report_value(const struct validation *v, const struct property *p, uint64_t value, uint64_t most)
{
    HRESULT hr = check_limit(p, value, most);
    if (SUCCEEDED(hr))
        return hr;
    struct error_kept why = error_keep(hr);
    return validation_report(v, hr, p->name, why.text);
}

/* Checks the kernel provider's KeywordsAny. The values of KeywordsAny are 32-bit flags; in a flag array each flag is an
   item (MS-PLA 2.2.2.11, note 2). */
static HRESULT validate_kernel(const struct validation *v, const struct trace_data_provider *p)
{
    uint64_t *values, most = 0;
    size_t count;
    HRESULT hr = value_map_enabled(p->KeywordsAny, &values, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        most = values[i] > most ? values[i] : most;
    memory_free(values);
    return SUCCEEDED(hr) ? report_value(v, &trace_data_provider_rows[ITraceDataProvider_KeywordsAny], most, UINT32_MAX)
                         : hr;
}

/* Checks the values of the maps. A client can set any value in an item, because it is not known at that time to which
   map the item will belong. With an invalid value, however, the session would fail to start. */
static HRESULT trace_provider_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof map_limits / sizeof *map_limits; i++) {
        const struct property *p = &trace_data_provider_rows[map_limits[i].row];
        struct variant value;
        hr = value_map_get_value(object_child(o, p), &value);
        if (SUCCEEDED(hr))
            hr = report_value(v, p, (uint64_t)value.integer, map_limits[i].most);
    }
    if (SUCCEEDED(hr) && kernel_provider_find(&((const struct trace_data_provider *)copy)->Guid))
        hr = validate_kernel(v, (const struct trace_data_provider *)o);
    return hr;
}

const struct class trace_data_provider_class = {
    .name = "TraceDataProvider",
    CLASS_ROWS(trace_data_provider, ITraceDataProvider),
    .created = trace_provider_created,
    .validate = trace_provider_validate,
};

/* Checks that the collection has no event provider with the item's GUID (MS-PLA 2.2.1). Event providers without a GUID
   are not compared. */
static HRESULT trace_provider_check_guid(struct object *collection, struct object *item)
{
    static const GUID none;
    const struct items *items = &((struct collection *)collection)->items;
    const GUID *guid = &((struct trace_data_provider *)item)->Guid;
    for (size_t i = 0; i < items->count; i++)
        if (!guid_equal(guid, &none) && guid_equal(guid, &((struct trace_data_provider *)items->list[i])->Guid)) {
            char text[39];
            text_from_guid(guid, text);
            return error_set(PLA_E_NO_DUPLICATES, "Add: the provider %s is already in the collection", text);
        }
    return S_OK;
}

static const struct class *const provider_items[] = {&trace_data_provider_class, NULL};
const struct class trace_data_provider_collection_class = {
    .name = "TraceDataProviderCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = provider_items,
    .admit = trace_provider_check_guid,
};

/* ---- the kernel's event providers ---- */

const struct kernel_provider kernel_providers[KERNEL_PROVIDERS] = {
    {{0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}},
     "Windows Kernel Trace",
     "NT Kernel Logger"},
    {{0x54DEA73A, 0xED1F, 0x42A4, {0xAF, 0x71, 0x3E, 0x63, 0xD0, 0x56, 0xF1, 0x74}},
     "Circular Kernel Context Logger",
     "Circular Kernel Context Logger"},
};

const struct kernel_provider *kernel_provider_find(const GUID *guid)
{
    for (size_t i = 0; i < KERNEL_PROVIDERS; i++)
        if (guid_equal(guid, &kernel_providers[i].guid))
            return &kernel_providers[i];
    return NULL;
}
