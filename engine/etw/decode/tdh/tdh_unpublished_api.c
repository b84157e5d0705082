/* SPDX-License-Identifier: MIT */
/* Names of tdh.dll that import libraries have and no page describes; programs that link them start. Of those that are
   told by their neighbours' parameters and the bytes that 32-bit callers push, the ones that ask a computer's WMI are
   answered here; of the rest nothing is known that could be answered (DECISIONS 82). */
#include "engine/base/memory.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/logs/counter_path.h"

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

/* Those that MOF describes alone. */
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
