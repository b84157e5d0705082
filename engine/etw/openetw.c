/* SPDX-License-Identifier: MIT */
/* Our own ETW. It knows the providers that are registered, and nothing of what they define yet. */
#include "engine/etw/openetw.h"

#include "engine/etw/controller_api.h"
#include "engine/etw/directory.h"
#include "engine/etw/trace_query_api.h"
#include "engine/os/memory.h"

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

/* Those that call themselves something, which no manifest names. */
static HRESULT seen_providers(struct event_providers *list)
{
#if UINTPTR_MAX > 0xFFFFFFFF
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
#else
    (void)list;
    return S_OK;
#endif
}

static ULONG WINAPI enumerate_providers(PROVIDER_ENUMERATION_INFO *buffer, ULONG *size)
{
    struct event_providers list = {0};
    HRESULT hr = registered_providers(&list);
    if (SUCCEEDED(hr))
        hr = seen_providers(&list);
    ULONG status = hr == E_OUTOFMEMORY ? ERROR_NOT_ENOUGH_MEMORY
                   : FAILED(hr)        ? (ULONG)hr & 0xFFFF
                                       : openetw_pack_providers(&list, buffer, size);
    event_providers_free(&list);
    return status;
}

static ULONG WINAPI enumerate_fields(GUID *guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY *buffer, ULONG *size)
{
    (void)guid, (void)type, (void)buffer, (void)size;
    return ERROR_NOT_FOUND;
}

const struct etw_api openetw_api = {
    .TdhEnumerateProviders = enumerate_providers,
    .TdhEnumerateProviderFieldInformation = enumerate_fields,
#if UINTPTR_MAX > 0xFFFFFFFF /* the words of sessions are 64 bits */
    .StartTraceW = StartTraceW,
    .ControlTraceW = ControlTraceW,
    .QueryAllTracesW = QueryAllTracesW,
    .EnableTraceEx2 = EnableTraceEx2,
    .EnumerateTraceGuidsEx = EnumerateTraceGuidsEx,
    .TraceQueryInformation = TraceQueryInformation,
    .TraceSetInformation = TraceSetInformation,
#endif
};
