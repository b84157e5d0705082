/* SPDX-License-Identifier: MIT */
/* The trace providers that are known without asking the host: the kernel, with the flags of MS-PLA note 2. */
#include "engine/model/trace_providers.h"

#include "engine/os/memory.h"

#define ERROR_GUID_NOT_KNOWN 4200 /* ERROR_WMI_GUID_NOT_FOUND */

struct known_value {
    const char *name;
    uint64_t value;
};
static const struct known_value levels[] = {
    {"win:Critical", 1}, {"win:Error", 2}, {"win:Warning", 3}, {"win:Informational", 4}, {"win:Verbose", 5},
};
static const struct known_value properties[] = {{"Sid", 1}, {"SessionId", 2}, {"StackTrace", 4}};
static const struct known_value kernel_flags[] = {
    {"Process Events", 0x1},
    {"Thread Events", 0x2},
    {"Process and Thread Events", 0x3},
    {"Image Load/Unload Events", 0x4},
    {"Process Counter Events", 0x8},
    {"Disk I/O Events", 0x100},
    {"File Events", 0x200},
    {"Disk I/O Events (Version 2)", 0x400},
    {"Page Fault Events", 0x1000},
    {"Hard Page Fault Events", 0x2000},
    {"TCP/IP Network Events", 0x10000},
    {"Registry Events", 0x20000},
    {"Print Kernel Debug Statements", 0x40000},
    {"ALPC Events", 0x100000},
    {"Split I/O Events", 0x200000},
    {"File I/O Events", 0x2000000},
    {"File I/O Initialization Events", 0x4000000},
    {"Heap Range and Virtual Allocation Events", 0x20000001},
    {"Sampling Profiler", 0x20000002},
    {"Thread Context Switch Events", 0x20000004},
    {"Enables Working Set Flush Markers", 0x20000008},
    {"Driver Function Logging", 0x20000010},
    {"Deferred Procedure Call Events", 0x20000080},
    {"Context Switch Events: Compact Format", 0x20000100},
    {"Thread Dispatching and Readying", 0x20000200},
    {"Thread Priority Adjustment Events", 0x20002000},
    {"Interrupt Service Routine Events", 0x20004000},
    {"Virtual Memory Allocation Events", 0x20008000},
    {"Kernel Spinlock Events", 0x20010000},
    {"Kernel Queue Events", 0x20020000},
    {"Periodic Memory List Information", 0x20080000},
    {"Contiguous Page Allocation Events", 0x20100000},
    {"System Call Entry/Exit Events", 0x40000040},
    {"System Power Management Events", 0x80008000},
};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct known_provider {
    const char *name;
    GUID guid;
} known[] = {
    {"Windows Kernel Trace", {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}}},
};

static HRESULT add_values(struct object *map, uint32_t type, const struct known_value *values, size_t count)
{
    HRESULT hr = S_OK;
    ((struct value_map *)map)->ValueMapType = type;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct object *item;
        hr = object_create(&value_map_item_class, map, &item);
        if (FAILED(hr))
            break;
        struct value_map_item *v = (struct value_map_item *)item;
        v->Value = (struct variant){.type = VARIANT_UI8, .integer = (int64_t)values[i].value};
        v->ValueMapType = type;
        hr = object_put_text(item, class_property(item->class, "Key"), values[i].name);
        if (SUCCEEDED(hr))
            hr = object_put_text(item, class_property(item->class, "Description"), values[i].name);
        if (SUCCEEDED(hr))
            hr = collection_add(map, item);
        object_release(item);
    }
    return hr;
}

static HRESULT fill(struct object *o, const struct known_provider *k)
{
    struct trace_data_provider *p = (struct trace_data_provider *)o;
    p->Guid = k->guid;
    HRESULT hr = object_put_text(o, &o->class->properties[ITraceDataProvider_DisplayName], k->name);
    if (SUCCEEDED(hr))
        hr = add_values(p->Level, 1, levels, COUNT(levels));
    if (SUCCEEDED(hr))
        hr = add_values(p->KeywordsAny, 3, kernel_flags, COUNT(kernel_flags));
    if (SUCCEEDED(hr))
        hr = add_values(p->Properties, 2, properties, COUNT(properties));
    return hr;
}

HRESULT trace_provider_query(struct object *provider, const char *name)
{
    GUID guid;
    bool is_guid = text_to_guid(name, &guid);
    for (size_t i = 0; i < COUNT(known); i++) {
        struct object *fresh;
        if (!(is_guid ? guid_equal(&guid, &known[i].guid) : text_equal_nocase(name, known[i].name)))
            continue;
        HRESULT hr = object_create(&trace_data_provider_class, provider, &fresh);
        if (FAILED(hr))
            return hr;
        hr = fill(fresh, &known[i]);
        if (SUCCEEDED(hr))
            object_take(provider, fresh, true);
        object_release(fresh);
        return hr;
    }
    return error_set(HRESULT_FROM_WIN32(ERROR_GUID_NOT_KNOWN), "Query: no trace provider '%s' is known here", name);
}

static HRESULT resolve_from(struct trace_data_provider *p, struct trace_data_provider *from)
{
    struct value name;
    const struct property *row = &trace_data_provider_class.properties[ITraceDataProvider_DisplayName];
    HRESULT hr = object_get_field(&from->object, row, &name);
    if (SUCCEEDED(hr))
        hr = object_put_text(&p->object, row, name.text);
    value_free(&name);
    if (SUCCEEDED(hr))
        hr = value_map_resolve(p->Level, from->Level);
    if (SUCCEEDED(hr))
        hr = value_map_resolve(p->KeywordsAny, from->KeywordsAny);
    if (SUCCEEDED(hr))
        hr = value_map_resolve(p->KeywordsAll, from->KeywordsAll);
    return hr;
}

HRESULT trace_provider_resolve(struct object *provider, struct object *from)
{
    struct trace_data_provider *p = (struct trace_data_provider *)provider;
    struct object **list;
    size_t count;
    if (from->class == &trace_data_provider_class)
        return from == provider ? S_OK : resolve_from(p, (struct trace_data_provider *)from);
    if (from->class != &trace_data_provider_collection_class)
        return error_set(E_INVALIDARG, "Resolve: a %s is neither a provider nor a collection of providers",
                         from->class->name);
    HRESULT hr = collection_snapshot(from, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (guid_equal(&p->Guid, &((struct trace_data_provider *)list[i])->Guid)) {
            if (list[i] != provider)
                hr = resolve_from(p, (struct trace_data_provider *)list[i]);
            break;
        }
    objects_release(list, count);
    return hr;
}

HRESULT trace_providers_list(struct object *collection)
{
    struct object *found;
    HRESULT hr = object_create(&trace_data_provider_collection_class, collection, &found);
    for (size_t i = 0; SUCCEEDED(hr) && i < COUNT(known); i++) {
        struct object *provider;
        hr = object_create(&trace_data_provider_class, collection, &provider);
        if (FAILED(hr))
            break;
        hr = fill(provider, &known[i]);
        if (SUCCEEDED(hr))
            hr = collection_add(found, provider);
        object_release(provider);
    }
    if (SUCCEEDED(hr))
        collection_exchange(collection, found);
    object_release(found);
    return hr;
}

HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process_id)
{
    (void)collection, (void)process_id;
    return trace_providers_no_registry("GetTraceDataProvidersByProcess");
}

HRESULT trace_providers_no_registry(const char *method)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "%s: this version does not use the host's registry of trace providers", method);
}
