/* SPDX-License-Identifier: MIT */
/* The provider functions of Perflib V2 (perflib.h) for programs that load them from openpdh.dll, because Wine's own
   functions do nothing. Every process can read the countersets as PDH objects. Names come from the registration
   (counterset_registration.h). Without a registration, a counterset's name is its GUID, and a counter's name is
   "Counter" and its id. The behaviour and errors of the functions are in Microsoft's documentation of perflib.h. */
#include <windows.h>
#include <winperf.h>
#undef WINADVAPI
#define WINADVAPI /* OpenPLA's functions, not advapi32's */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/pdh/core/query.h"
#include "engine/pdh/extension/counterset_share.h"
#include "engine/pdh/perflib/counterset_registration.h"

#include <stdatomic.h>
#include <stdio.h>
#include <perflib.h>

#define REFERENCES_MS   50 /* interval for reading values from the program's own variables */
#define SINGLE_INSTANCE 0  /* PERF_COUNTERSET_SINGLE_INSTANCE */

struct set {
    struct set *next;
    uint32_t offset, count;
    GUID guid;
    struct counterset_counter *counters; /* private, because any process may write to the shared memory */
};

struct perflib_instance {
    struct perflib_instance *next;
    struct set *set;
    uint32_t offset;
    WCHAR *name;
    const void **references;        /* one address per counter; NULL: no counter has a reference */
    PERF_COUNTERSET_INSTANCE block; /* its address is returned to the program; the instance's name follows it */
};

struct perflib_provider {
    struct lock lock;
    GUID guid;
    struct counterset_provider *share;
    struct set *sets;
    struct perflib_instance *instances;
    struct thread *fetcher; /* reads the references; started with the first reference */
    struct wakeup *end;
};

static struct perflib_provider *provider_of(HANDLE handle)
{
    return handle_is_alive(handle) ? (struct perflib_provider *)handle : NULL;
}

static int64_t *values_of(struct perflib_provider *p, const struct perflib_instance *i)
{
    return counterset_provider_values(p->share, i->offset);
}

ULONG WINAPI PerfStartProvider(LPGUID guid, PERFLIBREQUEST callback, HANDLE *out)
{
    (void)callback; /* Windows calls it to announce queries; OpenPLA does not */
    if (!guid || !out)
        return ERROR_INVALID_PARAMETER;
    struct perflib_provider *p = memory_zero(1, sizeof *p);
    HRESULT hr = p && handle_add(p) ? counterset_provider_open(&p->share) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        handle_remove(p);
        memory_free(p);
        return ERROR_OUTOFMEMORY;
    }
    p->guid = *guid;
    *out = (HANDLE)p;
    return ERROR_SUCCESS;
}

ULONG WINAPI PerfStartProviderEx(LPGUID guid, PPERF_PROVIDER_CONTEXT context, HANDLE *out)
{
    if (context && context->ContextSize < sizeof *context)
        return ERROR_INVALID_PARAMETER;
    return PerfStartProvider(guid, context ? context->ControlCallback : NULL, out);
}

static void free_instance(struct perflib_provider *p, struct perflib_instance *i)
{
    counterset_provider_delete(p->share, i->offset);
    memory_free(i->references);
    memory_free(i);
}

ULONG WINAPI PerfStopProvider(HANDLE handle)
{
    struct perflib_provider *p = provider_of(handle);
    if (!p)
        return ERROR_INVALID_PARAMETER;
    handle_remove(p);
    if (p->fetcher) {
        wakeup_set(p->end);
        thread_wait(p->fetcher, UINT32_MAX);
        thread_close(p->fetcher);
    }
    wakeup_free(p->end);
    while (p->instances) {
        struct perflib_instance *i = p->instances;
        p->instances = i->next;
        free_instance(p, i);
    }
    while (p->sets) {
        struct set *s = p->sets;
        p->sets = s->next;
        memory_free(s->counters);
        memory_free(s);
    }
    counterset_provider_close(p->share);
    memory_free(p);
    return ERROR_SUCCESS;
}

/* Replaces the generated names with the registered names. */
static void read_names(const struct perflib_provider *p, const GUID *guid, char *set_name,
                       struct counterset_counter *counters, ULONG count)
{
    struct registered_countersets list;
    if (registered_provider_read(&p->guid, &list) != S_OK)
        return;
    for (size_t i = 0; i < list.items[0].count; i++) {
        const struct registered_set *set = &list.items[0].sets[i];
        if (!guid_equal(&set->guid, guid))
            continue;
        if (set->name)
            text_fit(set_name, COUNTERSET_INSTANCE_BYTES, set->name);
        for (ULONG n = 0; n < count; n++) {
            const struct registered_counter *c = registered_counter_of(set, counters[n].id);
            if (c)
                text_fit(counters[n].name, COUNTERSET_NAME_BYTES, c->name);
        }
    }
    registered_countersets_free(&list);
}

static struct set *find_set(const struct perflib_provider *p, const GUID *guid)
{
    struct set *s = p->sets;
    while (s && !guid_equal(&s->guid, guid))
        s = s->next;
    return s;
}

static ULONG add_set(struct perflib_provider *p, const PERF_COUNTERSET_INFO *info, const PERF_COUNTER_INFO *given)
{
    ULONG count = info->NumCounters;
    char name[COUNTERSET_INSTANCE_BYTES] = "";
    struct counterset_counter *counters = memory_zero(count, sizeof *counters);
    struct set *s = memory_zero(1, sizeof *s);
    if (!counters || !s) {
        memory_free(counters);
        memory_free(s);
        return ERROR_OUTOFMEMORY;
    }
    for (ULONG i = 0; i < count; i++) {
        counters[i] = (struct counterset_counter){
            .id = given[i].CounterId, .type = given[i].Type, .detail = given[i].DetailLevel, .scale = given[i].Scale};
        snprintf(counters[i].name, sizeof counters[i].name, "Counter %u", (unsigned)given[i].CounterId);
    }
    text_from_guid(&info->CounterSetGuid, name);
    read_names(p, &info->CounterSetGuid, name, counters, count);
    s->guid = info->CounterSetGuid;
    s->count = count;
    HRESULT hr = counterset_provider_add(p->share, &s->guid, name, info->InstanceType == SINGLE_INSTANCE, counters,
                                         count, &s->offset);
    if (FAILED(hr)) {
        memory_free(counters);
        memory_free(s);
        return ERROR_OUTOFMEMORY;
    }
    s->counters = counters;
    s->next = p->sets;
    p->sets = s;
    return ERROR_SUCCESS;
}

ULONG WINAPI PerfSetCounterSetInfo(HANDLE handle, PPERF_COUNTERSET_INFO info, ULONG size)
{
    struct perflib_provider *p = provider_of(handle);
    if (!p || !info || size < sizeof *info || !info->NumCounters ||
        info->NumCounters > (size - sizeof *info) / sizeof(PERF_COUNTER_INFO))
        return ERROR_INVALID_PARAMETER;
    lock_enter(&p->lock);
    ULONG error = find_set(p, &info->CounterSetGuid) ? ERROR_ALREADY_EXISTS
                                                     : add_set(p, info, (const PERF_COUNTER_INFO *)(info + 1));
    lock_leave(&p->lock);
    return error;
}

static struct perflib_instance *find_instance(const struct perflib_provider *p, const GUID *guid, const WCHAR *name,
                                              ULONG id)
{
    struct perflib_instance *i = p->instances;
    while (i && (!guid_equal(&i->set->guid, guid) || i->block.InstanceId != id || lstrcmpiW(i->name, name) != 0))
        i = i->next;
    return i;
}

static struct perflib_instance *create_instance(struct perflib_provider *p, struct set *s, const WCHAR *name, ULONG id)
{
    size_t bytes = ((size_t)lstrlenW(name) + 1) * sizeof *name;
    struct perflib_instance *i = memory_zero(1, sizeof *i + bytes);
    char *text = NULL;
    HRESULT hr = i ? text_from_utf16(name, (size_t)lstrlenW(name), true, &text) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = counterset_provider_create_instance(p->share, s->offset, text, id, &i->offset);
    memory_free(text);
    if (FAILED(hr)) {
        memory_free(i);
        return NULL;
    }
    i->set = s;
    i->name = (WCHAR *)(void *)(&i->block + 1);
    memcpy(i->name, name, bytes);
    i->block = (PERF_COUNTERSET_INSTANCE){.CounterSetGuid = s->guid,
                                          .dwSize = (ULONG)(sizeof i->block + bytes),
                                          .InstanceId = id,
                                          .InstanceNameOffset = sizeof i->block,
                                          .InstanceNameSize = (ULONG)bytes};
    i->next = p->instances;
    p->instances = i;
    return i;
}

PPERF_COUNTERSET_INSTANCE WINAPI PerfCreateInstance(HANDLE handle, LPCGUID guid, LPCWSTR name, ULONG id)
{
    struct perflib_provider *p = provider_of(handle);
    if (!p || !guid || !name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    lock_enter(&p->lock);
    struct set *s = find_set(p, guid);
    struct perflib_instance *i = NULL;
    DWORD error = !s ? ERROR_NOT_FOUND : find_instance(p, guid, name, id) ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS;
    if (!error) {
        i = create_instance(p, s, name, id);
        error = i ? ERROR_SUCCESS : ERROR_OUTOFMEMORY;
    }
    lock_leave(&p->lock);
    SetLastError(error);
    return i ? &i->block : NULL;
}

PPERF_COUNTERSET_INSTANCE WINAPI PerfQueryInstance(HANDLE handle, LPCGUID guid, LPCWSTR name, ULONG id)
{
    struct perflib_provider *p = provider_of(handle);
    if (!p || !guid || !name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    lock_enter(&p->lock);
    struct perflib_instance *i = find_instance(p, guid, name, id);
    lock_leave(&p->lock);
    SetLastError(i ? ERROR_SUCCESS : ERROR_NOT_FOUND);
    return i ? &i->block : NULL;
}

/* find_block finds the instance to which a block belongs. find_counter finds the index of a counter in an instance. The
   caller holds the lock. */
static struct perflib_instance *find_block(const struct perflib_provider *p, const PERF_COUNTERSET_INSTANCE *block)
{
    struct perflib_instance *i = p->instances;
    while (i && &i->block != block)
        i = i->next;
    return i;
}

static bool find_counter(const struct perflib_instance *i, ULONG id, uint32_t *place)
{
    const struct counterset_counter *counters = i->set->counters;
    for (*place = 0; *place < i->set->count; ++*place)
        if (counters[*place].id == id)
            return true;
    return false;
}

ULONG WINAPI PerfDeleteInstance(HANDLE handle, PPERF_COUNTERSET_INSTANCE block)
{
    struct perflib_provider *p = provider_of(handle);
    if (!p || !block)
        return ERROR_INVALID_PARAMETER;
    lock_enter(&p->lock);
    struct perflib_instance *i = find_block(p, block), **at = &p->instances;
    if (i) {
        while (*at != i)
            at = &(*at)->next;
        *at = i->next;
        free_instance(p, i);
    }
    lock_leave(&p->lock);
    return i ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

static void provider_fetch_references(struct perflib_provider *p)
{
    for (struct perflib_instance *i = p->instances; i; i = i->next) {
        for (uint32_t n = 0; i->references && n < i->set->count; n++) {
            const void *from = i->references[n];
            if (from) {
                bool large = (i->set->counters[n].type & PERF_SIZE_LARGE) != 0;
                int64_t value = large ? *(const volatile int64_t *)from : (int64_t) * (const volatile uint32_t *)from;
                atomic_store((_Atomic int64_t *)&values_of(p, i)[n], value);
            }
        }
    }
}

static void fetch_on(void *user)
{
    struct perflib_provider *p = user;
    do {
        lock_enter(&p->lock);
        provider_fetch_references(p);
        lock_leave(&p->lock);
    } while (!wakeup_wait(p->end, REFERENCES_MS));
}

/* Stores the address from which a counter's value is read, and starts the thread that reads such values. The caller
   holds the lock. */
static ULONG set_reference(struct perflib_provider *p, struct perflib_instance *i, uint32_t place, const void *address)
{
    HRESULT hr = S_OK;
    if (!i->references)
        i->references = memory_zero(i->set->count, sizeof *i->references);
    if (!i->references)
        return ERROR_OUTOFMEMORY;
    i->references[place] = address;
    if (!p->fetcher) {
        hr = p->end ? S_OK : wakeup_create(&p->end);
        if (SUCCEEDED(hr))
            hr = thread_start(fetch_on, p, &p->fetcher);
    }
    return FAILED(hr) ? ERROR_OUTOFMEMORY : ERROR_SUCCESS;
}

ULONG WINAPI PerfSetCounterRefValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE block, ULONG id, PVOID address)
{
    struct perflib_provider *p = provider_of(handle);
    uint32_t place;
    if (!p || !block)
        return ERROR_INVALID_PARAMETER;
    lock_enter(&p->lock);
    struct perflib_instance *i = find_block(p, block);
    ULONG error = !i                             ? ERROR_INVALID_PARAMETER
                  : !find_counter(i, id, &place) ? ERROR_NOT_FOUND
                                                 : set_reference(p, i, place, address);
    lock_leave(&p->lock);
    return error;
}

enum value_change { SET, ADD };

static ULONG instance_change_value(HANDLE handle, const PERF_COUNTERSET_INSTANCE *block, ULONG id,
                                   enum value_change how, int64_t value)
{
    struct perflib_provider *p = provider_of(handle);
    uint32_t place;
    if (!p || !block)
        return ERROR_INVALID_PARAMETER;
    lock_enter(&p->lock);
    struct perflib_instance *i = find_block(p, block);
    ULONG error = !i ? ERROR_INVALID_PARAMETER : find_counter(i, id, &place) ? ERROR_SUCCESS : ERROR_NOT_FOUND;
    if (!error) {
        _Atomic int64_t *at = (_Atomic int64_t *)&values_of(p, i)[place];
        if (how == SET)
            atomic_store(at, value);
        else
            atomic_fetch_add(at, value);
    }
    lock_leave(&p->lock);
    return error;
}

ULONG WINAPI PerfSetULongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONG value)
{
    return instance_change_value(p, block, id, SET, (int64_t)value);
}

ULONG WINAPI PerfSetULongLongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONGLONG value)
{
    return instance_change_value(p, block, id, SET, (int64_t)value);
}

ULONG WINAPI PerfIncrementULongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONG value)
{
    return instance_change_value(p, block, id, ADD, (int64_t)value);
}

ULONG WINAPI PerfIncrementULongLongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONGLONG value)
{
    return instance_change_value(p, block, id, ADD, (int64_t)value);
}

ULONG WINAPI PerfDecrementULongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONG value)
{
    return instance_change_value(p, block, id, ADD, -(int64_t)value);
}

ULONG WINAPI PerfDecrementULongLongCounterValue(HANDLE p, PPERF_COUNTERSET_INSTANCE block, ULONG id, ULONGLONG value)
{
    return instance_change_value(p, block, id, ADD, (int64_t)(0 - value));
}
