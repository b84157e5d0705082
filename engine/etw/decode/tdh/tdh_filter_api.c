/* SPDX-License-Identifier: MIT */
/* Implements TDH's functions for payload filters. A handle is the address of an internal object. The address is used
   only if the list of objects contains it. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/provider_manifest.h"

enum { TEXT_UNITS = 2048 };

/* An object that this process created: a filter or, if `joined` is set, the bytes of a descriptor with several
   filters. */
struct made {
    struct made *next;
    bool joined;
    GUID provider;
    uint8_t *bytes;
    size_t size;
};
static struct lock lock = LOCK_INIT;
static struct made *first;

/* Adds an object to the list. Takes ownership of the bytes. */
static struct made *filter_keep(bool joined, const GUID *provider, uint8_t *bytes, size_t size)
{
    struct made *m = memory_alloc(sizeof *m);
    if (!m) {
        memory_free(bytes);
        return NULL;
    }
    lock_enter(&lock);
    *m = (struct made){first, joined, *provider, bytes, size};
    first = m;
    lock_leave(&lock);
    return m;
}

/* Removes an object from the list and returns it: a filter by its address, a descriptor by the address of its bytes.
   NULL if the address is not in the list. */
static struct made *filter_take(bool joined, const void *address)
{
    lock_enter(&lock);
    struct made **m = &first;
    while (*m && !((*m)->joined == joined && address == (joined ? (const void *)(*m)->bytes : (const void *)*m)))
        m = &(*m)->next;
    struct made *found = *m;
    if (found)
        *m = found->next;
    lock_leave(&lock);
    return found;
}

static void drop(struct made *m)
{
    memory_free(m->bytes);
    memory_free(m);
}

/* ---- filters of an event ---- */

struct wanted {
    EVENT_DESCRIPTOR descriptor;
    bool any;
    struct payload_condition conditions[PAYLOAD_MOST_CONDITIONS];
    size_t count;
    uint8_t *bytes;
    size_t size;
};

static HRESULT filter_create(void *context, const struct provider_manifest *manifest)
{
    struct wanted *w = context;
    struct event_schema *schema;
    HRESULT hr = provider_manifest_schema(manifest, &w->descriptor, "en-US", &schema);
    if (hr != S_OK)
        return hr == S_FALSE ? HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) : hr;
    hr = payload_filter_create(schema, w->descriptor.Id, w->descriptor.Version, w->any, w->conditions, w->count,
                               &w->bytes, &w->size);
    event_schema_free(schema);
    return hr;
}

static HRESULT take_conditions(const struct tdh_condition *given, ULONG count, struct wanted *w)
{
    HRESULT hr = S_OK;
    for (ULONG i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct tdh_condition c;
        char *field = NULL, *value = NULL;
        if (!program_read(&c, &given[i], sizeof c))
            return HRESULT_FROM_WIN32(ERROR_NOACCESS);
        if (!c.field || !c.value)
            return E_INVALIDARG;
        hr = program_text(c.field, TEXT_UNITS, &field);
        if (SUCCEEDED(hr))
            hr = program_text(c.value, TEXT_UNITS, &value);
        w->conditions[w->count++] = (struct payload_condition){field, c.operation, value};
    }
    return hr;
}

ULONG WINAPI tdh_create_payload_filter(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, UCHAR any, ULONG count,
                                       const struct tdh_condition *conditions, void **filter)
{
    struct wanted w = {.any = any != 0};
    struct event_schemas *schemas;
    GUID guid;
    if (!provider || !descriptor || !conditions || !filter || count == 0 || count > PAYLOAD_MOST_CONDITIONS)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&guid, provider, sizeof guid) || !program_read(&w.descriptor, descriptor, sizeof w.descriptor))
        return ERROR_NOACCESS;
    HRESULT hr = take_conditions(conditions, count, &w);
    if (SUCCEEDED(hr))
        hr = tdh_schemas(&schemas);
    if (SUCCEEDED(hr))
        hr = event_schemas_manifest(schemas, &guid, filter_create, &w);
    for (size_t i = 0; i < w.count; i++) {
        memory_free((char *)(uintptr_t)w.conditions[i].field);
        memory_free((char *)(uintptr_t)w.conditions[i].value);
    }
    if (hr != S_OK)
        return tdh_status(hr);
    struct made *m = filter_keep(false, &guid, w.bytes, w.size);
    const void *const address = m;
    if (!m)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (program_write(filter, &address, sizeof address))
        return ERROR_SUCCESS;
    drop(filter_take(false, m));
    return ERROR_NOACCESS;
}

ULONG WINAPI tdh_delete_payload_filter(void **filter)
{
    void *address;
    void *const none = NULL;
    if (!filter)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&address, filter, sizeof address))
        return ERROR_NOACCESS;
    struct made *m = filter_take(false, address);
    if (!m)
        return ERROR_INVALID_PARAMETER;
    drop(m);
    return program_write(filter, &none, sizeof none) ? ERROR_SUCCESS : ERROR_NOACCESS;
}

/* ---- filters of an event provider ---- */

/* Copies the filters, because another thread could delete them. */
static HRESULT copy_filters(void *const *given, const UCHAR *marks, ULONG count, uint8_t **bytes, size_t *sizes,
                            bool *all, GUID *provider)
{
    HRESULT hr = S_OK;
    for (ULONG i = 0; SUCCEEDED(hr) && i < count; i++) {
        const void *address;
        UCHAR mark = 0;
        if (!program_read(&address, &given[i], sizeof address) || (marks && !program_read(&mark, &marks[i], 1)))
            return HRESULT_FROM_WIN32(ERROR_NOACCESS);
        all[i] = mark != 0;
        lock_enter(&lock);
        const struct made *m = first;
        while (m && (m->joined || m != address))
            m = m->next;
        if (!m || (i != 0 && !guid_equal(&m->provider, provider)))
            hr = E_INVALIDARG;
        else if (!(bytes[i] = memory_copy(m->bytes, m->size)))
            hr = E_OUTOFMEMORY;
        else {
            sizes[i] = m->size;
            *provider = m->provider;
        }
        lock_leave(&lock);
    }
    return hr;
}

ULONG WINAPI tdh_aggregate_payload_filters(ULONG count, void *const *filters, const UCHAR *all,
                                           EVENT_FILTER_DESCRIPTOR *descriptor)
{
    uint8_t *bytes[PAYLOAD_MOST_EVENTS] = {0}, *joined = NULL;
    size_t sizes[PAYLOAD_MOST_EVENTS], size;
    bool marked[PAYLOAD_MOST_EVENTS];
    GUID provider = {0};
    if (count == 0 || count > PAYLOAD_MOST_EVENTS || !filters || !descriptor)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = copy_filters(filters, all, count, bytes, sizes, marked, &provider);
    if (SUCCEEDED(hr))
        hr = payload_filter_join((const uint8_t *const *)bytes, sizes, marked, count, &joined, &size);
    for (ULONG i = 0; i < count; i++)
        memory_free(bytes[i]);
    if (FAILED(hr))
        return tdh_status(hr);
    struct made *m = filter_keep(true, &provider, joined, size);
    if (!m)
        return ERROR_NOT_ENOUGH_MEMORY;
    const EVENT_FILTER_DESCRIPTOR out = {
        .Ptr = (uintptr_t)m->bytes, .Size = (ULONG)m->size, .Type = EVENT_FILTER_TYPE_PAYLOAD};
    if (program_write(descriptor, &out, sizeof out))
        return ERROR_SUCCESS;
    drop(filter_take(true, m->bytes));
    return ERROR_NOACCESS;
}

ULONG WINAPI tdh_cleanup_payload_event_filter_descriptor(EVENT_FILTER_DESCRIPTOR *descriptor)
{
    EVENT_FILTER_DESCRIPTOR given;
    const EVENT_FILTER_DESCRIPTOR none = {0};
    if (!descriptor)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&given, descriptor, sizeof given))
        return ERROR_NOACCESS;
    struct made *m = filter_take(true, (const void *)(uintptr_t)given.Ptr);
    if (!m)
        return ERROR_INVALID_PARAMETER;
    drop(m);
    return program_write(descriptor, &none, sizeof none) ? ERROR_SUCCESS : ERROR_NOACCESS;
}
