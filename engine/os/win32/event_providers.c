/* SPDX-License-Identifier: MIT */
/* Event providers on Windows: TDH where it works, the registry where it does not (Wine); security in the registry. */
#include "engine/os/event_providers.h"

#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/win32/win32_call.h"

#include <initguid.h>
#include <evntcons.h>
#include <sddl.h>
#include <string.h>
#include <tdh.h>

#define PUBLISHERS       L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers"
/* Descriptors by GUID without braces; that of the default GUID is for all that have none (DefaultTraceSecurityGuid). */
#define SECURITY_KEY     L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Security"
#define SECURITY_DEFAULT L"0811c1af-7a07-4a06-82ed-869455cdf713"
/* What Windows documents as the default: everybody may register, the services, administrators and Performance Log Users
   (by number: Wine has no name for them) may do more. */
#define SECURITY_TEXT                                                                                                  \
    L"O:BAG:BAD:(A;;0x800;;;WD)(A;;0x120fff;;;SY)(A;;0x120fff;;;LS)(A;;0x120fff;;;NS)(A;;0x120fff;;;BA)"               \
    L"(A;;0xee5;;;S-1-5-32-559)"
#define KEY_NAME_UNITS 256 /* a key's name is shorter */

/* ---- lists ---- */

static HRESULT add_provider(struct event_providers *list, const GUID *guid, const WCHAR *name)
{
    void *items = list->items;
    char *text;
    HRESULT hr = text_from_utf16(name, wcslen(name), true, &text);

    if (FAILED(hr))
        return hr;
    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof(struct event_provider))) {
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    list->items = items;
    list->items[list->count++] = (struct event_provider){*guid, text};
    return S_OK;
}

/* tdh.dll's function, NULL where there is none. It stays loaded. Under Wine a function that is not implemented is there
   all the same, and ends the process. */
static FARPROC tdh_function(const char *name)
{
    HMODULE module = host_is_wine() ? NULL : LoadLibraryExW(L"tdh.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);

    return module ? GetProcAddress(module, name) : NULL;
}

typedef ULONG(WINAPI *enumerate_providers)(PROVIDER_ENUMERATION_INFO *, ULONG *);
typedef ULONG(WINAPI *enumerate_fields)(GUID *, EVENT_FIELD_TYPE, PROVIDER_FIELD_INFOARRAY *, ULONG *);

/* S_FALSE: TDH names none. */
static HRESULT list_from_tdh(struct event_providers *list)
{
    union {
        FARPROC address;
        enumerate_providers enumerate;
    } tdh = {tdh_function("TdhEnumerateProviders")};
    PROVIDER_ENUMERATION_INFO *info = NULL;
    ULONG size = 0, status = tdh.address ? tdh.enumerate(NULL, &size) : ERROR_CALL_NOT_IMPLEMENTED;
    HRESULT hr = S_OK;

    while (status == ERROR_INSUFFICIENT_BUFFER) { /* providers may come meanwhile */
        memory_free(info);
        info = memory_alloc(size);
        if (!info)
            return E_OUTOFMEMORY;
        status = tdh.enumerate(info, &size);
    }
    if (status == ERROR_SUCCESS && info)
        for (ULONG i = 0; SUCCEEDED(hr) && i < info->NumberOfProviders; i++) {
            const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];

            if (p->ProviderNameOffset)
                hr =
                    add_provider(list, &p->ProviderGuid, (const WCHAR *)(void *)((char *)info + p->ProviderNameOffset));
        }
    memory_free(info);
    return FAILED(hr) ? hr : list->count ? S_OK : S_FALSE;
}

static HRESULT add_publisher(struct event_providers *list, HKEY publishers, const WCHAR *key)
{
    WCHAR name[KEY_NAME_UNITS];
    DWORD bytes = sizeof name;
    GUID guid;
    char *text;
    bool is_guid;
    HRESULT hr = text_from_utf16(key, wcslen(key), true, &text);

    if (FAILED(hr))
        return hr;
    is_guid = text_to_guid(text, &guid);
    memory_free(text);
    if (!is_guid || RegGetValueW(publishers, key, NULL, RRF_RT_REG_SZ, NULL, name, &bytes))
        return S_OK; /* none that could be asked for by name */
    return add_provider(list, &guid, name);
}

static HRESULT list_from_registry(struct event_providers *list)
{
    HKEY publishers;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, PUBLISHERS, 0, KEY_READ | KEY_WOW64_64KEY, &publishers);
    HRESULT hr = S_OK;

    if (status == ERROR_FILE_NOT_FOUND)
        return S_OK;
    if (status)
        return win32_failed((DWORD)status, "WINEVT\\Publishers");
    for (DWORD i = 0; SUCCEEDED(hr); i++) {
        WCHAR key[KEY_NAME_UNITS];
        DWORD units = KEY_NAME_UNITS;

        status = RegEnumKeyExW(publishers, i, key, &units, NULL, NULL, NULL, NULL);
        if (status)
            break;
        hr = add_publisher(list, publishers, key);
    }
    RegCloseKey(publishers);
    return FAILED(hr) || status == ERROR_NO_MORE_ITEMS ? hr : win32_failed((DWORD)status, "WINEVT\\Publishers");
}

HRESULT event_providers_list(struct event_providers *out)
{
    HRESULT hr;

    *out = (struct event_providers){0};
    hr = list_from_tdh(out);
    if (hr == S_FALSE)
        hr = list_from_registry(out);
    if (FAILED(hr))
        event_providers_free(out);
    return hr;
}

/* ---- levels and keywords ---- */

static HRESULT text_at(const PROVIDER_FIELD_INFOARRAY *info, ULONG offset, char **out)
{
    const WCHAR *text = offset ? (const WCHAR *)(const void *)((const char *)info + offset) : L"";

    return text_from_utf16(text, wcslen(text), true, out);
}

static HRESULT add_fields(const PROVIDER_FIELD_INFOARRAY *info, struct event_fields *out)
{
    HRESULT hr = S_OK;

    for (ULONG i = 0; SUCCEEDED(hr) && i < info->NumberOfElements; i++) {
        const PROVIDER_FIELD_INFO *field = &info->FieldInfoArray[i];
        struct event_field *added;
        void *items = out->items;

        if (!memory_grow(&items, &out->capacity, out->count + 1, sizeof *added))
            return E_OUTOFMEMORY;
        out->items = items;
        added = &out->items[out->count++];
        *added = (struct event_field){.value = field->Value};
        hr = text_at(info, field->NameOffset, &added->name);
        if (SUCCEEDED(hr))
            hr = text_at(info, field->DescriptionOffset, &added->description);
    }
    return hr;
}

HRESULT event_provider_fields(const GUID *guid, bool keywords, struct event_fields *out)
{
    union {
        FARPROC address;
        enumerate_fields enumerate;
    } tdh = {tdh_function("TdhEnumerateProviderFieldInformation")};
    EVENT_FIELD_TYPE kind = keywords ? EventKeywordInformation : EventLevelInformation;
    PROVIDER_FIELD_INFOARRAY *info = NULL;
    GUID provider = *guid;
    ULONG size = 0, status;
    HRESULT hr = S_FALSE;

    *out = (struct event_fields){0};
    status = tdh.address ? tdh.enumerate(&provider, kind, NULL, &size) : ERROR_CALL_NOT_IMPLEMENTED;
    if (status == ERROR_INSUFFICIENT_BUFFER) {
        info = memory_alloc(size);
        if (!info)
            return E_OUTOFMEMORY;
        status = tdh.enumerate(&provider, kind, info, &size);
    }
    if (status == ERROR_SUCCESS && info)
        hr = add_fields(info, out);
    memory_free(info);
    if (FAILED(hr))
        event_fields_free(out);
    return SUCCEEDED(hr) && !out->count ? S_FALSE : hr;
}

/* ---- security ---- */

/* S_FALSE: there is none under the name. *out from memory_alloc. */
static HRESULT load_descriptor(const WCHAR *name, PSECURITY_DESCRIPTOR *out)
{
    DWORD bytes = 0;
    LSTATUS status = RegGetValueW(HKEY_LOCAL_MACHINE, SECURITY_KEY, name, RRF_RT_REG_BINARY, NULL, NULL, &bytes);

    *out = NULL;
    if (status == ERROR_FILE_NOT_FOUND)
        return S_FALSE;
    if (!status) {
        *out = memory_alloc(bytes);
        if (!*out)
            return E_OUTOFMEMORY;
        status = RegGetValueW(HKEY_LOCAL_MACHINE, SECURITY_KEY, name, RRF_RT_REG_BINARY, NULL, *out, &bytes);
    }
    if (!status && IsValidSecurityDescriptor(*out) && GetSecurityDescriptorLength(*out) <= bytes)
        return S_OK;
    memory_free(*out);
    *out = NULL;
    return win32_failed(status ? (DWORD)status : ERROR_INVALID_SECURITY_DESCR, "WMI\\Security");
}

static void value_name(const GUID *guid, WCHAR name[37])
{
    char braced[39];

    text_from_guid(guid, braced);
    for (int i = 0; i < 36; i++)
        name[i] = (WCHAR)(unsigned char)(braced[i + 1] | (braced[i + 1] >= 'A' && braced[i + 1] <= 'Z' ? 0x20 : 0));
    name[36] = 0;
}

static HRESULT to_text(PSECURITY_DESCRIPTOR descriptor, uint32_t parts, char **sddl)
{
    WCHAR *text;
    ULONG units;
    HRESULT hr;

    if (!ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, parts, &text, &units))
        return win32_failed(GetLastError(), "security descriptor");
    hr = text_from_utf16(text, wcslen(text), true, sddl);
    LocalFree(text);
    return hr;
}

HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl)
{
    WCHAR name[37];
    PSECURITY_DESCRIPTOR descriptor, made;
    HRESULT hr;

    *sddl = NULL;
    value_name(guid, name);
    hr = load_descriptor(name, &descriptor);
    if (hr == S_FALSE)
        hr = load_descriptor(SECURITY_DEFAULT, &descriptor);
    if (hr == S_FALSE) {
        if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(SECURITY_TEXT, SDDL_REVISION_1, &made, NULL))
            return win32_failed(GetLastError(), "default security");
        hr = to_text(made, parts, sddl);
        LocalFree(made);
    } else if (SUCCEEDED(hr)) {
        hr = to_text(descriptor, parts, sddl);
    }
    memory_free(descriptor);
    return hr;
}

HRESULT event_provider_set_security(const GUID *guid, const char *sddl)
{
    WCHAR name[37], *text;
    PSECURITY_DESCRIPTOR descriptor;
    LSTATUS status;
    HKEY key;
    HRESULT hr = text_to_utf16(sddl, &text, NULL);

    if (FAILED(hr))
        return hr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &descriptor, NULL)) {
        memory_free(text);
        return error_set(E_INVALIDARG, "Sddl: '%.200s' is no security descriptor", sddl);
    }
    memory_free(text);
    value_name(guid, name);
    status = RegCreateKeyExW(HKEY_LOCAL_MACHINE, SECURITY_KEY, 0, NULL, 0, KEY_SET_VALUE, NULL, &key, NULL);
    if (!status) {
        status = RegSetValueExW(key, name, 0, REG_BINARY, descriptor, GetSecurityDescriptorLength(descriptor));
        RegCloseKey(key);
    }
    LocalFree(descriptor);
    return status ? win32_failed((DWORD)status, "WMI\\Security") : S_OK;
}
