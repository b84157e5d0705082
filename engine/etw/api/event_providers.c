/* SPDX-License-Identifier: MIT */
/* Lists event providers and their registrations, from TDH, EnumerateTraceGuidsEx and the registry. */
#include "engine/base/memory.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/manifest_origins.h"

#include <stdlib.h>
#include <string.h>

void event_providers_free(struct event_providers *providers)
{
    for (size_t i = 0; i < providers->count; i++)
        memory_free(providers->items[i].name);
    memory_free(providers->items);
    *providers = (struct event_providers){0};
}

void event_fields_free(struct event_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        memory_free(fields->items[i].name);
        memory_free(fields->items[i].description);
    }
    memory_free(fields->items);
    *fields = (struct event_fields){0};
}

static HRESULT failed(ULONG status, const char *what)
{
    HRESULT hr = status == ERROR_NOT_ENOUGH_MEMORY ? E_OUTOFMEMORY : HRESULT_FROM_WIN32(status);
    return hr == E_OUTOFMEMORY ? hr : error_set(hr, "%s: %s", what, error_standard_text(hr));
}

/* Returns the string that begins `offset` bytes after `start`. Offset 0 means the empty string. */
static HRESULT text_at(const void *start, ULONG offset, char **out)
{
    static const WCHAR none;
    const WCHAR *text = offset ? (const WCHAR *)(const void *)((const char *)start + offset) : &none;
    size_t units = 0;
    while (text[units])
        units++;
    return text_from_utf16(text, units, true, out);
}

HRESULT event_providers_add(struct event_providers *list, const GUID *guid, char *name)
{
    void *items = list->items;
    bool room = name && memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (!room) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    list->items[list->count++] = (struct event_provider){*guid, name};
    return S_OK;
}

/* ---- registrations ---- */

#define LIST_FAILED "cannot list the registrations of an event provider"

/* Calls EnumerateTraceGuidsEx with a growing buffer. *out is the result, from memory_alloc, and *size is its size in
   bytes. */
static ULONG providers_enumerate(const struct etw_api *etw, TRACE_QUERY_INFO_CLASS what, const GUID *guid,
                                 uint8_t **out, ULONG *size)
{
    GUID in = guid ? *guid : (GUID){0};
    ULONG need = 0, status;
    *out = NULL;
    *size = 0;
    while ((status = etw->EnumerateTraceGuidsEx(what, guid ? &in : NULL, guid ? sizeof in : 0, *out, *size, &need)) ==
               ERROR_INSUFFICIENT_BUFFER &&
           need > *size) {
        memory_free(*out); /* registrations may have been added since the last call */
        *size = need;
        *out = memory_alloc(need);
        if (!*out)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (status == ERROR_INSUFFICIENT_BUFFER && need == 0)
        status = ERROR_SUCCESS; /* not an error: the list is empty */
    *size = need < *size ? need : *size;
    return status;
}

void event_registrations_free(struct event_registrations *registrations)
{
    memory_free(registrations->items);
    *registrations = (struct event_registrations){0};
}

HRESULT event_registrations_add(struct event_registrations *list, const GUID *guid, uint32_t process)
{
    void *items = list->items;
    bool room = memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (!room)
        return E_OUTOFMEMORY;
    list->items[list->count++] = (struct event_registration){*guid, process};
    return S_OK;
}

static HRESULT add_registration(struct event_registrations *list, size_t first, const GUID *guid, uint32_t process)
{
    for (size_t i = first; i < list->count; i++)
        if (list->items[i].process == process)
            return S_OK;
    return event_registrations_add(list, guid, process);
}

/* Adds the registrations of one provider. A provider that is no longer registered adds nothing. */
static HRESULT add_registrations(const struct etw_api *etw, const GUID *guid, struct event_registrations *list)
{
    uint8_t *block;
    ULONG size, status = providers_enumerate(etw, TraceGuidQueryInfo, guid, &block, &size);
    TRACE_GUID_INFO head = {0};
    TRACE_PROVIDER_INSTANCE_INFO instance;
    const size_t first = list->count;
    HRESULT hr = S_OK;
    if (status == ERROR_SUCCESS && size >= sizeof head)
        memcpy(&head, block, sizeof head);
    size_t at = sizeof head;
    for (ULONG i = 0; SUCCEEDED(hr) && i < head.InstanceCount && at + sizeof instance <= size; i++) {
        memcpy(&instance, block + at, sizeof instance);
        if (!(instance.Flags & PROVIDER_FLAG_PRE_ENABLE)) /* the flag marks an enabled provider without registration */
            hr = add_registration(list, first, guid, instance.Pid);
        if (instance.NextOffset < sizeof instance)
            break;
        at += instance.NextOffset;
    }
    memory_free(block);
    return status == ERROR_SUCCESS || status == ERROR_WMI_GUID_NOT_FOUND ? hr : failed(status, LIST_FAILED);
}

static HRESULT add_all_registrations(const struct etw_api *etw, struct event_registrations *list)
{
    uint8_t *guids;
    if (etw->registrations)
        return etw->registrations(list);
    ULONG size, status = providers_enumerate(etw, TraceGuidQueryList, NULL, &guids, &size);
    HRESULT hr = status == ERROR_SUCCESS ? S_OK : failed(status, LIST_FAILED);
    for (size_t at = 0; SUCCEEDED(hr) && at + sizeof(GUID) <= size; at += sizeof(GUID)) {
        GUID one;
        memcpy(&one, guids + at, sizeof one);
        hr = add_registrations(etw, &one, list);
    }
    memory_free(guids);
    return hr;
}

HRESULT event_registrations_list(const struct etw_api *etw, const GUID *guid, struct event_registrations *out)
{
    *out = (struct event_registrations){0};
    HRESULT hr = guid ? add_registrations(etw, guid, out) : add_all_registrations(etw, out);
    if (FAILED(hr))
        event_registrations_free(out);
    return hr;
}

/* ---- all providers ---- */

static HRESULT add_named(const struct etw_api *etw, struct event_providers *out)
{
    PROVIDER_ENUMERATION_INFO *info = NULL;
    ULONG size = 0, status;
    HRESULT hr = S_OK;
    while ((status = etw->TdhEnumerateProviders(info, &size)) == ERROR_INSUFFICIENT_BUFFER) {
        memory_free(info); /* providers may have been added since the last call */
        info = memory_alloc(size);
        if (!info)
            return E_OUTOFMEMORY;
    }
    if (status != ERROR_SUCCESS)
        hr = failed(status, "cannot list the event providers of this host OS");
    for (ULONG i = 0; SUCCEEDED(hr) && info && i < info->NumberOfProviders; i++) {
        const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
        char *name;
        if (!p->ProviderNameOffset)
            continue;
        hr = text_at(info, p->ProviderNameOffset, &name);
        if (SUCCEEDED(hr))
            hr = event_providers_add(out, &p->ProviderGuid, name);
    }
    memory_free(info);
    return hr;
}

const struct event_provider *event_providers_find(const struct event_providers *list, const GUID *guid)
{
    for (size_t i = 0; i < list->count; i++)
        if (guid_equal(&list->items[i].guid, guid))
            return &list->items[i];
    return NULL;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(GUID));
}

/* Adds the registered providers that are not in the list. The registrations of one provider are adjacent. */
static HRESULT add_nameless(const struct etw_api *etw, struct event_providers *out)
{
    struct event_registrations registered = {0};
    const size_t named = out->count;
    GUID *known = memory_alloc((named + 1) * sizeof *known);
    HRESULT hr = known ? event_registrations_list(etw, NULL, &registered) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < named; i++)
        known[i] = out->items[i].guid;
    if (SUCCEEDED(hr))
        qsort(known, named, sizeof *known, by_bytes);
    for (size_t i = 0; SUCCEEDED(hr) && i < registered.count; i++) {
        const GUID *guid = &registered.items[i].guid;
        char name[39];
        if ((i != 0 && guid_equal(guid, &registered.items[i - 1].guid)) ||
            bsearch(guid, known, named, sizeof *known, by_bytes))
            continue;
        text_from_guid(guid, name);
        hr = event_providers_add(out, guid, text_copy(name));
    }
    event_registrations_free(&registered);
    memory_free(known);
    return hr;
}

HRESULT event_providers_list(const struct etw_api *etw, struct event_providers *out)
{
    *out = (struct event_providers){0};
    HRESULT hr = add_named(etw, out);
    if (SUCCEEDED(hr) && etw->seen_providers)
        hr = etw->seen_providers(out);
    if (SUCCEEDED(hr))
        hr = add_nameless(etw, out);
    if (FAILED(hr))
        event_providers_free(out);
    return hr;
}

/* ---- levels and keywords of a provider ---- */

static HRESULT add_fields(const PROVIDER_FIELD_INFOARRAY *info, struct event_fields *out)
{
    HRESULT hr = S_OK;
    for (ULONG i = 0; SUCCEEDED(hr) && i < info->NumberOfElements; i++) {
        const PROVIDER_FIELD_INFO *field = &info->FieldInfoArray[i];
        void *items = out->items;
        bool room = memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items);
        out->items = items;
        if (!room)
            return E_OUTOFMEMORY;
        struct event_field *added = &out->items[out->count++];
        *added = (struct event_field){.value = field->Value};
        hr = text_at(info, field->NameOffset, &added->name);
        if (SUCCEEDED(hr))
            hr = text_at(info, field->DescriptionOffset, &added->description);
    }
    return hr;
}

HRESULT event_provider_fields(const struct etw_api *etw, const GUID *guid, bool keywords, struct event_fields *out)
{
    EVENT_FIELD_TYPE type = keywords ? EventKeywordInformation : EventLevelInformation;
    PROVIDER_FIELD_INFOARRAY *info = NULL;
    GUID provider = *guid;
    ULONG size = 0, status;
    HRESULT hr = S_FALSE;
    *out = (struct event_fields){0};
    while ((status = etw->TdhEnumerateProviderFieldInformation(&provider, type, info, &size)) ==
           ERROR_INSUFFICIENT_BUFFER) {
        memory_free(info);
        info = memory_alloc(size);
        if (!info)
            return E_OUTOFMEMORY;
    }
    if (status == ERROR_SUCCESS && info) /* any other error means that the system has no description of the provider */
        hr = add_fields(info, out);
    memory_free(info);
    if (FAILED(hr))
        event_fields_free(out);
    return SUCCEEDED(hr) && !out->count ? S_FALSE : hr;
}

/* ---- registered providers, which Wine's TDH does not return ---- */

HRESULT registered_providers(struct event_providers *list)
{
    struct known_providers known = {0};
    HRESULT hr = registered_providers_list(&known);
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count; i++)
        hr = event_providers_add(list, &known.items[i].guid, text_copy(known.items[i].name));
    known_providers_free(&known);
    return hr;
}
