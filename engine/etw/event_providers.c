/* SPDX-License-Identifier: MIT */
/* What TDH tells of event providers, as lists. */
#include "engine/etw/event_providers.h"

#include "engine/os/etw_api.h"
#include "engine/os/memory.h"

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

/* The text at an offset from the start; 0 is "". */
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

HRESULT event_providers_list(const struct etw_api *etw, struct event_providers *out)
{
    PROVIDER_ENUMERATION_INFO *info = NULL;
    ULONG size = 0, status;
    HRESULT hr = S_OK;
    *out = (struct event_providers){0};
    while ((status = etw->TdhEnumerateProviders(info, &size)) == ERROR_INSUFFICIENT_BUFFER) {
        memory_free(info); /* again: providers may come meanwhile */
        info = memory_alloc(size);
        if (!info)
            return E_OUTOFMEMORY;
    }
    if (status != ERROR_SUCCESS)
        hr = failed(status, "the event providers of this host");
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
    if (FAILED(hr))
        event_providers_free(out);
    return hr;
}

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
    if (status == ERROR_SUCCESS && info) /* whatever else it says, it knows nothing of the provider */
        hr = add_fields(info, out);
    memory_free(info);
    if (FAILED(hr))
        event_fields_free(out);
    return SUCCEEDED(hr) && !out->count ? S_FALSE : hr;
}
