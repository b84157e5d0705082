/* SPDX-License-Identifier: MIT */
/* The etw_api table of OpenPLA's own ETW, and the functions that list its event providers and their registrations. */
#include "engine/base/memory.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/directory.h"
#include "engine/etw/etw_api.h"

#include <stdlib.h>
#include <string.h>

ULONG openetw_pack_providers(const struct event_providers *list, PROVIDER_ENUMERATION_INFO *buffer, ULONG *size)
{
    size_t at = offsetof(PROVIDER_ENUMERATION_INFO, TraceProviderInfoArray) + list->count * sizeof(TRACE_PROVIDER_INFO);
    size_t need = at;
    for (size_t i = 0; i < list->count; i++)
        need += (text_utf16_length(list->items[i].name) + 1) * sizeof(WCHAR);
    if (need > UINT32_MAX)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!buffer || *size < need) {
        *size = (ULONG)need;
        return ERROR_INSUFFICIENT_BUFFER;
    }
    memset(buffer, 0, at);
    buffer->NumberOfProviders = (ULONG)list->count;
    for (size_t i = 0; i < list->count; i++) {
        size_t units;
        WCHAR *name;
        if (FAILED(text_to_utf16(list->items[i].name, &name, &units)))
            return ERROR_NOT_ENOUGH_MEMORY;
        buffer->TraceProviderInfoArray[i].ProviderGuid = list->items[i].guid;
        buffer->TraceProviderInfoArray[i].ProviderNameOffset = (ULONG)at;
        memcpy((char *)buffer + at, name, (units + 1) * sizeof(WCHAR));
        at += (units + 1) * sizeof(WCHAR);
        memory_free(name);
    }
    return ERROR_SUCCESS;
}

static HRESULT seen_providers(struct event_providers *list)
{
    struct directory *d;
    struct directory_provider_name *names = NULL;
    size_t count = 0;
    HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr))
        hr = directory_provider_names(d, &names, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (!event_providers_find(list, &names[i].provider))
            hr = event_providers_add(list, &names[i].provider, text_copy(names[i].name));
    memory_free(names);
    return hr;
}

static int by_provider(const void *a, const void *b)
{
    const struct directory_registration *x = a, *y = b;
    const int order = memcmp(&x->provider, &y->provider, sizeof x->provider);
    return order ? order : (x->process.id > y->process.id) - (x->process.id < y->process.id);
}

static HRESULT openetw_registrations(struct event_registrations *list)
{
    struct directory *d;
    struct directory_registration *all = NULL;
    size_t count = 0;
    HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr))
        hr = directory_registrations(d, &all, &count);
    if (count != 0)
        qsort(all, count, sizeof *all, by_provider);
    const struct directory_registration *before = NULL;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        if (all[i].group || (before && by_provider(before, &all[i]) == 0))
            continue;
        before = &all[i];
        hr = event_registrations_add(list, &all[i].provider, all[i].process.id);
    }
    memory_free(all);
    return hr;
}

static ULONG WINAPI enumerate_providers(PROVIDER_ENUMERATION_INFO *buffer, ULONG *size)
{
    struct event_providers list = {0};
    const HRESULT hr = registered_providers(&list);
    ULONG status = hr == E_OUTOFMEMORY ? ERROR_NOT_ENOUGH_MEMORY
                   : FAILED(hr)        ? (ULONG)hr & 0xFFFF
                                       : openetw_pack_providers(&list, buffer, size);
    event_providers_free(&list);
    return status;
}

static ULONG WINAPI enumerate_fields(GUID *guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY *buffer, ULONG *size)
{
    return tdh_enumerate_provider_field_information(guid, type, buffer, size);
}

static ULONG open_trace(EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle)
{
    return consumer_open(CONSUMER_WIDE, logfile, handle);
}

const struct etw_api openetw_api = {
    .TdhEnumerateProviders = enumerate_providers,
    .TdhEnumerateProviderFieldInformation = enumerate_fields,
    .StartTraceW = StartTraceW,
    .ControlTraceW = ControlTraceW,
    .QueryAllTracesW = QueryAllTracesW,
    .EnableTraceEx2 = EnableTraceEx2,
    .EnumerateTraceGuidsEx = EnumerateTraceGuidsEx,
    .TraceQueryInformation = TraceQueryInformation,
    .TraceSetInformation = TraceSetInformation,
    .ProcessTrace = ProcessTrace,
    .CloseTrace = CloseTrace,
    .open_trace = open_trace,
    .seen_providers = seen_providers,
    .registrations = openetw_registrations,
};
