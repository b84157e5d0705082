/* SPDX-License-Identifier: MIT */
/* Lists and queries the event providers of this computer: the kernel's event providers, with the flags of MS-PLA note
   2, and registered event providers. */
#include "engine/pla/trace_event_providers.h"

#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/etw/etw_api.h"
#include "engine/pla/model.h"

#define ERROR_GUID_NOT_KNOWN 4200 /* ERROR_WMI_GUID_NOT_FOUND */
#define SECURITY_PARTS       15u  /* owner, group, DACL, SACL; other bits are ignored (MS-PLA 2.2) */

struct known_value {
    const char *name;
    uint64_t value;
};
/* Values that Windows reserves (MS-PLA notes 36 and 37). Note 37 uses the name Reserved for the keyword of response
   times. */
#define OPCODE(called, number, shown)
#define TASK(called, number, shown)
#define CHANNEL(called, number)
#define LEVEL(called, number, shown) {"win:" called, number},
#define KEYWORD(called, number, shown)
static const struct known_value levels[] = {
#include "engine/etw/winmeta.def"
};
#undef LEVEL
#undef KEYWORD
#define LEVEL(called, number, shown)
#define KEYWORD(called, number, shown) {(number) == UINT64_C(1) << 48 ? "win:Reserved" : "win:" called, number},
static const struct known_value keywords[] = {
#include "engine/etw/winmeta.def"
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

static HRESULT add_values(struct object *map, uint32_t type, const struct known_value *values, size_t count)
{
    HRESULT hr = S_OK;
    ((struct value_map *)map)->ValueMapType = type;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = value_map_add_named(map, values[i].name, values[i].name, values[i].value);
    return hr;
}

/* Adds the levels or keywords that the event provider defines. S_FALSE: the levels or keywords are unknown. */
static HRESULT add_fields(struct object *map, const GUID *guid, bool of_keywords)
{
    struct event_fields fields;
    HRESULT known = event_provider_fields(host_etw(), guid, of_keywords, &fields), hr = known;
    for (size_t i = 0; SUCCEEDED(hr) && i < fields.count; i++)
        hr = value_map_add_named(map, fields.items[i].name, fields.items[i].description, fields.items[i].value);
    event_fields_free(&fields);
    return FAILED(hr) ? hr : known;
}

static HRESULT fill_levels(struct object *map, const GUID *guid)
{
    HRESULT hr = add_fields(map, guid, false);
    return hr == S_FALSE ? add_values(map, 1, levels, COUNT(levels)) : hr;
}

static HRESULT fill_keywords(struct object *map, const GUID *guid)
{
    HRESULT hr = add_fields(map, guid, true);
    return SUCCEEDED(hr) ? add_values(map, 2, keywords, COUNT(keywords)) : hr;
}

static HRESULT provider_fill(struct object *o, const GUID *guid, const char *name)
{
    struct trace_data_provider *p = (struct trace_data_provider *)o;
    p->Guid = *guid;
    HRESULT hr = object_put_text(o, &o->class->properties[ITraceDataProvider_DisplayName], name);
    if (SUCCEEDED(hr))
        hr = fill_levels(p->Level, guid);
    if (SUCCEEDED(hr) && kernel_provider_find(guid)) {
        hr = add_values(p->KeywordsAny, 3, kernel_flags, COUNT(kernel_flags));
    } else if (SUCCEEDED(hr)) {
        hr = fill_keywords(p->KeywordsAny, guid);
        if (SUCCEEDED(hr))
            hr = fill_keywords(p->KeywordsAll, guid);
    }
    if (SUCCEEDED(hr))
        hr = add_values(p->Properties, 2, properties, COUNT(properties));
    return hr;
}

/* Returns whether the GUIDs are equal or, if `guid` is NULL, whether the names are equal. */
static bool is_meant(const GUID *guid, const char *name, const GUID *its_guid, const char *its_name)
{
    return guid ? guid_equal(guid, its_guid) : text_equal_nocase(name, its_name);
}

/* Copies the filter of `provider` to `fresh`, because Query does not change the filter (MS-PLA 3.2.4.11.15). */
static HRESULT keep_filter(struct object *provider, struct object *fresh)
{
    static const int rows[] = {ITraceDataProvider_FilterEnabled, ITraceDataProvider_FilterType,
                               ITraceDataProvider_FilterData};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < COUNT(rows); i++) {
        const struct property *p = &provider->class->properties[rows[i]];
        struct value v;
        hr = object_get_field(provider, p, &v);
        if (SUCCEEDED(hr))
            hr = object_give(fresh, p, &v);
        value_free(&v);
    }
    return hr;
}

static HRESULT provider_take_filled(struct object *provider, const GUID *guid, const char *name)
{
    struct object *fresh;
    HRESULT hr = object_create(&trace_data_provider_class, provider, &fresh);
    if (FAILED(hr))
        return hr;
    hr = keep_filter(provider, fresh);
    if (SUCCEEDED(hr))
        hr = provider_fill(fresh, guid, name);
    if (SUCCEEDED(hr))
        object_take(provider, fresh, true);
    object_release(fresh);
    return hr;
}

HRESULT trace_provider_query(struct object *provider, const char *name)
{
    GUID number, *guid = text_to_guid(name, &number) ? &number : NULL;
    struct event_providers registered;
    const struct event_provider *found = NULL;
    for (size_t i = 0; i < KERNEL_PROVIDERS; i++) {
        const struct kernel_provider *k = &kernel_providers[i];
        if (is_meant(guid, name, &k->guid, k->name))
            return provider_take_filled(provider, &k->guid, k->name);
    }
    HRESULT hr = event_providers_list(host_etw(), &registered);
    for (size_t i = 0; SUCCEEDED(hr) && !found && i < registered.count; i++)
        found = is_meant(guid, name, &registered.items[i].guid, registered.items[i].name) ? &registered.items[i] : NULL;
    if (SUCCEEDED(hr))
        hr = found ? provider_take_filled(provider, &found->guid, found->name)
                   : error_set(HRESULT_FROM_WIN32(ERROR_GUID_NOT_KNOWN), "Query: unknown trace provider '%s'", name);
    event_providers_free(&registered);
    return hr;
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

static HRESULT add_filled(struct object *collection, const GUID *guid, const char *name)
{
    struct object *provider;
    HRESULT hr = object_create(&trace_data_provider_class, collection, &provider);
    if (FAILED(hr))
        return hr;
    hr = provider_fill(provider, guid, name);
    if (SUCCEEDED(hr))
        hr = collection_add(collection, provider);
    object_release(provider);
    return hr == PLA_E_NO_DUPLICATES ? S_OK : hr; /* Windows lists kernel providers under several names */
}

HRESULT trace_providers_list(struct object *collection)
{
    struct object *found = NULL;
    struct event_providers known;
    HRESULT hr = event_providers_list(host_etw(), &known);
    if (SUCCEEDED(hr))
        hr = object_create(&trace_data_provider_collection_class, collection, &found);
    for (size_t i = 0; SUCCEEDED(hr) && i < KERNEL_PROVIDERS; i++)
        hr = add_filled(found, &kernel_providers[i].guid, kernel_providers[i].name);
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count; i++)
        hr = add_filled(found, &known.items[i].guid, known.items[i].name);
    if (SUCCEEDED(hr))
        collection_exchange(collection, found);
    object_release(found);
    event_providers_free(&known);
    return hr;
}

/* ---- registrations ---- */

static HRESULT add_registered(struct object *found, const struct event_providers *known, const GUID *guid)
{
    const struct event_provider *p = event_providers_find(known, guid);
    char text[39];
    text_from_guid(guid, text);
    return add_filled(found, guid, p ? p->name : text);
}

/* Returns whether the process exists; true also if this process may not access it. */
static bool is_there(uint32_t process)
{
    char *program = NULL;
    const bool there = process_start_time(process) || FAILED(process_program(process, 0, &program));
    memory_free(program);
    return there;
}

HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process)
{
    struct object *found = NULL;
    struct event_providers known = {0};
    struct event_registrations registered = {0};
    if (!is_there(process))
        return error_set(E_INVALIDARG, "Pid: process %u does not exist", (unsigned)process);
    HRESULT hr = event_registrations_list(host_etw(), NULL, &registered);
    if (SUCCEEDED(hr))
        hr = event_providers_list(host_etw(), &known);
    if (SUCCEEDED(hr))
        hr = object_create(&trace_data_provider_collection_class, collection, &found);
    for (size_t i = 0; SUCCEEDED(hr) && i < registered.count; i++)
        if (registered.items[i].process == process)
            hr = add_registered(found, &known, &registered.items[i].guid);
    if (SUCCEEDED(hr))
        collection_exchange(collection, found);
    object_release(found);
    event_providers_free(&known);
    event_registrations_free(&registered);
    return hr;
}

/* Returns the event provider's GUID. E_INVALIDARG: the event provider has no Guid. The host OS identifies event
   providers only by GUID. */
static HRESULT guid_of(struct object *provider, const char *method, GUID *out)
{
    static const GUID none;
    object_lock(provider);
    *out = ((struct trace_data_provider *)provider)->Guid;
    object_unlock(provider);
    return guid_equal(out, &none) ? error_set(E_INVALIDARG, "%s: the provider has no Guid", method) : S_OK;
}

HRESULT trace_provider_get_security(struct object *provider, uint32_t parts, char **sddl)
{
    GUID guid;
    *sddl = NULL;
    HRESULT hr = guid_of(provider, "GetSecurity", &guid);
    if (SUCCEEDED(hr) && !(parts & SECURITY_PARTS))
        hr = error_set(E_INVALIDARG,
                       "SecurityInfo: invalid value 0x%X: expected 1 (owner), 2 (group), 4 (DACL) or 8 (SACL)",
                       (unsigned)parts);
    return FAILED(hr) ? hr : event_provider_get_security(&guid, parts & SECURITY_PARTS, sddl);
}

HRESULT trace_provider_set_security(struct object *provider, const char *sddl)
{
    GUID guid;
    HRESULT hr = guid_of(provider, "SetSecurity", &guid);
    if (SUCCEEDED(hr) && !sddl[0]) /* an empty string is valid SDDL, but would grant everyone full access */
        hr = error_set(E_INVALIDARG, "Sddl: the string is empty");
    return FAILED(hr) ? hr : event_provider_set_security(&guid, sddl);
}

/* Adds an item for the process, unless the process has exited. */
static HRESULT add_process(struct object *map, uint32_t process)
{
    char *program;
    HRESULT hr = process_program(process, process_start_time(process), &program);
    if (hr == S_FALSE)
        return S_OK;
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr)) /* another account's process: only its id is known */
        program = text_format("%u", (unsigned)process);
    hr = program ? value_map_add_named(map, program, "", process) : E_OUTOFMEMORY;
    memory_free(program);
    return hr;
}

HRESULT trace_provider_processes(struct object *provider, struct object **map)
{
    struct event_registrations registered = {0};
    GUID guid;
    *map = NULL;
    HRESULT hr = guid_of(provider, "GetRegisteredProcesses", &guid);
    if (SUCCEEDED(hr))
        hr = event_registrations_list(host_etw(), &guid, &registered);
    if (SUCCEEDED(hr))
        hr = object_create(&value_map_class, provider, map);
    for (size_t i = 0; SUCCEEDED(hr) && i < registered.count; i++)
        hr = add_process(*map, registered.items[i].process);
    event_registrations_free(&registered);
    if (FAILED(hr)) {
        object_release(*map);
        *map = NULL;
    }
    return hr;
}
