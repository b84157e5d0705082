/* SPDX-License-Identifier: MIT */
/* Implements TDH's functions for event providers: lists of event providers and their definitions, on this and on other
   computers. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/provider_manifest.h"
#include "engine/logs/counter_path.h"

enum { LIST_HEAD = 8, PROVIDER_SIZE = 24, FIELD_SIZE = 16, DESCRIPTOR_SIZE = 16, FILTER_HEAD = 16, ALL_SOURCES = 4 };

static ULONG give_block(HRESULT hr, struct tdh_block *block, void *buffer, ULONG *size)
{
    if (SUCCEEDED(hr) && hr != S_FALSE && block->failed)
        hr = E_OUTOFMEMORY;
    const ULONG status = hr == S_OK ? program_give(block->bytes, block->size, buffer, size) : tdh_status(hr);
    tdh_block_free(block);
    return status;
}

/* ---- lists of event providers ---- */

/* Builds a PROVIDER_ENUMERATION_INFO; SchemaSource is 0 for manifests and 1 for MOF. */
static HRESULT list_providers(ULONG source, struct tdh_block *out)
{
    struct event_schemas *schemas;
    struct known_providers list = {0};
    uint32_t count = 0;
    HRESULT hr = tdh_schemas(&schemas);
    if (SUCCEEDED(hr))
        hr = event_schemas_providers(schemas, &list);
    for (size_t i = 0; i < list.count; i++)
        count += source == ALL_SOURCES || list.items[i].source == source;
    tdh_block_add(out, LIST_HEAD + (size_t)count * PROVIDER_SIZE);
    tdh_block_u32(out, 0, count);
    uint32_t at = LIST_HEAD;
    for (size_t i = 0; SUCCEEDED(hr) && i < list.count; i++) {
        const struct known_provider *p = &list.items[i];
        if (source != ALL_SOURCES && p->source != source)
            continue;
        const uint32_t name = tdh_block_text(out, p->name);
        tdh_block_put(out, at, &p->guid, sizeof p->guid);
        tdh_block_u32(out, at + 16, p->source == SCHEMA_MOF);
        tdh_block_u32(out, at + 20, name);
        at += PROVIDER_SIZE;
    }
    known_providers_free(&list);
    return hr;
}

ULONG WINAPI tdh_enumerate_providers(void *buffer, ULONG *size)
{
    struct tdh_block block = {0};
    if (!size)
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = list_providers(ALL_SOURCES, &block);
    return give_block(hr, &block, buffer, size);
}

ULONG WINAPI tdh_enumerate_providers_for_decoding_source(ULONG source, void *buffer, ULONG size, ULONG *need)
{
    struct tdh_block block = {0};
    ULONG room = size;
    if (!need || source >= ALL_SOURCES)
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = list_providers(source, &block);
    const ULONG status = give_block(hr, &block, buffer, &room);
    if ((status == ERROR_SUCCESS || status == ERROR_INSUFFICIENT_BUFFER) && !program_write(need, &room, sizeof room))
        return ERROR_NOACCESS;
    return status;
}

/* ---- fields ---- */

static bool is_wanted(const struct known_field *f, ULONG kind, const ULONGLONG *value)
{
    return !value || (kind == MANIFEST_KEYWORDS ? (f->value & *value) != 0 : f->value == *value);
}

/* Returns a PROVIDER_FIELD_INFOARRAY with all fields, or with those that match *value. */
static ULONG give_fields(const GUID *provider, ULONG kind, const ULONGLONG *value, void *buffer, ULONG *size)
{
    struct event_schemas *schemas;
    struct known_fields list = {0};
    struct tdh_block block = {0};
    GUID guid;
    uint32_t count = 0;
    if (!provider || !size)
        return ERROR_INVALID_PARAMETER;
    if (kind >= MANIFEST_KINDS)
        return ERROR_NOT_SUPPORTED;
    if (!program_read(&guid, provider, sizeof guid))
        return ERROR_NOACCESS;
    HRESULT hr = tdh_schemas(&schemas);
    if (SUCCEEDED(hr))
        hr = event_schemas_fields(schemas, &guid, kind, &list);
    for (size_t i = 0; i < list.count; i++)
        count += is_wanted(&list.items[i], kind, value);
    if (hr == S_OK && count == 0)
        hr = S_FALSE;
    tdh_block_add(&block, LIST_HEAD + (size_t)count * FIELD_SIZE);
    tdh_block_u32(&block, 0, count);
    tdh_block_u32(&block, 4, kind);
    uint32_t at = LIST_HEAD;
    for (size_t i = 0; hr == S_OK && i < list.count; i++) {
        const struct known_field *f = &list.items[i];
        if (!is_wanted(f, kind, value))
            continue;
        const uint32_t name = tdh_block_text(&block, f->name), description = tdh_block_text(&block, f->description);
        tdh_block_u32(&block, at, name);
        tdh_block_u32(&block, at + 4, description);
        tdh_block_put(&block, at + 8, &f->value, sizeof f->value);
        at += FIELD_SIZE;
    }
    known_fields_free(&list);
    return give_block(hr, &block, buffer, size);
}

ULONG WINAPI tdh_enumerate_provider_field_information(const GUID *provider, ULONG kind, void *buffer, ULONG *size)
{
    return give_fields(provider, kind, NULL, buffer, size);
}

ULONG WINAPI tdh_query_provider_field_information(const GUID *provider, ULONGLONG value, ULONG kind, void *buffer,
                                                  ULONG *size)
{
    return give_fields(provider, kind, &value, buffer, size);
}

/* ---- manifests ---- */

struct asked {
    const EVENT_DESCRIPTOR *descriptor;
    struct tdh_block *out;
    ULONG count;
};

/* Reads the manifest of an event provider. S_FALSE: it has no manifest. */
static HRESULT ask_manifest(const GUID *provider, struct asked *asked,
                            HRESULT (*take)(void *context, const struct provider_manifest *manifest))
{
    struct event_schemas *schemas;
    GUID guid;
    if (!program_read(&guid, provider, sizeof guid))
        return HRESULT_FROM_WIN32(ERROR_NOACCESS);
    const HRESULT hr = tdh_schemas(&schemas);
    return SUCCEEDED(hr) ? event_schemas_manifest(schemas, &guid, take, asked) : hr;
}

/* Builds a PROVIDER_EVENT_INFO. */
static HRESULT list_events(void *context, const struct provider_manifest *manifest)
{
    struct asked *asked = context;
    const size_t count = manifest->event_count;
    if (count == 0)
        return HRESULT_FROM_WIN32(4306); /* ERROR_EMPTY */
    tdh_block_add(asked->out, LIST_HEAD + count * DESCRIPTOR_SIZE);
    tdh_block_u32(asked->out, 0, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        tdh_block_put(asked->out, (uint32_t)(LIST_HEAD + i * DESCRIPTOR_SIZE), &manifest->events[i].descriptor,
                      sizeof(EVENT_DESCRIPTOR));
    return S_OK;
}

ULONG WINAPI tdh_enumerate_manifest_provider_events(const GUID *provider, void *buffer, ULONG *size)
{
    struct tdh_block block = {0};
    struct asked asked = {.out = &block};
    if (!provider || !size)
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = ask_manifest(provider, &asked, list_events);
    return give_block(hr, &block, buffer, size);
}

static HRESULT describe_event(void *context, const struct provider_manifest *manifest)
{
    struct asked *asked = context;
    struct event_schema *schema;
    char *languages = os_ui_languages();
    HRESULT hr = languages ? provider_manifest_schema(manifest, asked->descriptor, languages, &schema) : E_OUTOFMEMORY;
    if (hr == S_OK) {
        hr = tdh_block_event(schema, 0, asked->out);
        event_schema_free(schema);
    } else if (hr == S_FALSE)
        hr = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    memory_free(languages);
    return hr;
}

ULONG WINAPI tdh_get_manifest_event_information(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, void *buffer,
                                                ULONG *size)
{
    struct tdh_block block = {0};
    EVENT_DESCRIPTOR own;
    struct asked asked = {.descriptor = &own, .out = &block};
    if (!provider || !descriptor || !size)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&own, descriptor, sizeof own))
        return ERROR_NOACCESS;
    const HRESULT hr = ask_manifest(provider, &asked, describe_event);
    return give_block(hr, &block, buffer, size);
}

/* Builds a PROVIDER_FILTER_INFO for each filter, one after another. The offsets in the properties of each filter are
   relative to the start of the whole buffer. */
static HRESULT list_filters(void *context, const struct provider_manifest *manifest)
{
    struct asked *asked = context;
    struct tdh_block *b = asked->out;
    char *languages = os_ui_languages();
    uint32_t at = 0;
    size_t size = 0;
    if (!languages)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < manifest->filter_count; i++) {
        const uint16_t layout = manifest->filters[i].layout;
        size += FILTER_HEAD;
        if (layout < manifest->layout_count)
            size += (size_t)manifest->layouts[layout].property_count * TDH_PROPERTY_SIZE;
    }
    tdh_block_add(b, size);
    for (size_t i = 0; i < manifest->filter_count; i++) {
        const struct manifest_filter *f = &manifest->filters[i];
        const char *message = message_tables_find(&manifest->messages, f->message, languages);
        const uint8_t id[] = {f->value, f->version};
        struct event_schema schema = {0};
        if (f->layout < manifest->layout_count) {
            schema.properties = manifest->layouts[f->layout].properties;
            schema.property_count = manifest->layouts[f->layout].property_count;
        }
        tdh_block_put(b, at, id, sizeof id);
        const uint32_t text = tdh_block_text(b, message);
        tdh_block_u32(b, at + 4, text);
        tdh_block_u32(b, at + 12, schema.property_count);
        tdh_block_properties(b, at + FILTER_HEAD, &schema, 0);
        at += FILTER_HEAD + (uint32_t)schema.property_count * TDH_PROPERTY_SIZE;
    }
    memory_free(languages);
    asked->count = (ULONG)manifest->filter_count;
    return manifest->filter_count == 0 ? HRESULT_FROM_WIN32(ERROR_NOT_FOUND) : S_OK;
}

ULONG WINAPI tdh_enumerate_provider_filters(const GUID *provider, ULONG count, const struct tdh_parameter *parameters,
                                            ULONG *filter_count, void *buffer, ULONG *size)
{
    struct tdh_block block = {0};
    struct asked asked = {.out = &block};
    if (!provider || !size || !filter_count || (count != 0 && !parameters))
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = ask_manifest(provider, &asked, list_filters);
    const ULONG status = give_block(hr, &block, buffer, size);
    if ((status == ERROR_SUCCESS || status == ERROR_INSUFFICIENT_BUFFER) &&
        !program_write(filter_count, &asked.count, sizeof asked.count))
        return ERROR_NOACCESS;
    return status;
}

/* ---- functions without documentation ---- */

/* These functions are in import libraries of tdh.dll but are not documented. OpenPLA has them so that programs that are
   linked with these functions can start. The parameters of the functions were derived from similar functions and from
   the bytes that 32-bit callers push. Functions that query a computer's WMI are implemented; the purpose of all others
   is unknown (DECISIONS 82). */

enum { NAME_UNITS = 260, NO_WMI_THERE = 4208 /* ERROR_WMI_SERVER_UNAVAILABLE */ };

static ULONG is_this_computer(const WCHAR *computer)
{
    char *name = NULL;
    const HRESULT hr = computer ? program_text(computer, NAME_UNITS, &name) : S_OK;
    if (FAILED(hr))
        return tdh_status(hr);
    const PDH_STATUS status = counter_path_machine_is_ours(name);
    memory_free(name);
    return status == ERROR_SUCCESS                               ? ERROR_SUCCESS
           : status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE ? ERROR_NOT_ENOUGH_MEMORY
                                                                 : NO_WMI_THERE;
}

/* Returns ERROR_SUCCESS if only MOF describes the event provider. */
static ULONG is_classic(const GUID *provider)
{
    struct event_schemas *schemas;
    struct known_providers list = {0};
    GUID guid;
    bool found = false;
    if (!provider)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&guid, provider, sizeof guid))
        return ERROR_NOACCESS;
    HRESULT hr = tdh_schemas(&schemas);
    if (SUCCEEDED(hr))
        hr = event_schemas_providers(schemas, &list);
    for (size_t i = 0; i < list.count; i++)
        found = found || (list.items[i].source == SCHEMA_MOF && guid_equal(&list.items[i].guid, &guid));
    known_providers_free(&list);
    return FAILED(hr) ? tdh_status(hr) : found ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

ULONG WINAPI tdh_enumerate_remote_wbem_providers(const WCHAR *computer, void *buffer, ULONG *size)
{
    ULONG room;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    const ULONG status = is_this_computer(computer);
    if (status != ERROR_SUCCESS)
        return status;
    return program_read(&room, size, sizeof room)
               ? tdh_enumerate_providers_for_decoding_source(SCHEMA_MOF, buffer, room, size)
               : ERROR_NOACCESS;
}

ULONG WINAPI tdh_enumerate_remote_wbem_provider_field_information(const WCHAR *computer, const GUID *provider,
                                                                  ULONG kind, void *buffer, ULONG *size)
{
    ULONG status = is_this_computer(computer);
    if (status == ERROR_SUCCESS)
        status = is_classic(provider);
    return status == ERROR_SUCCESS ? tdh_enumerate_provider_field_information(provider, kind, buffer, size) : status;
}

ULONG WINAPI tdh_query_remote_wbem_provider_field_information(const WCHAR *computer, const GUID *provider,
                                                              ULONGLONG value, ULONG kind, void *buffer, ULONG *size)
{
    ULONG status = is_this_computer(computer);
    if (status == ERROR_SUCCESS)
        status = is_classic(provider);
    return status == ERROR_SUCCESS ? tdh_query_provider_field_information(provider, value, kind, buffer, size) : status;
}

ULONG WINAPI tdh_unpublished_3(uintptr_t a, uintptr_t b, uintptr_t c)
{
    (void)a, (void)b, (void)c;
    return ERROR_NOT_SUPPORTED;
}

ULONG WINAPI tdh_unpublished_4(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    (void)d;
    return tdh_unpublished_3(a, b, c);
}

ULONG WINAPI tdh_unpublished_7(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,
                               uintptr_t g)
{
    (void)e, (void)f, (void)g;
    return tdh_unpublished_4(a, b, c, d);
}
