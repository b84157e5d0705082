/* SPDX-License-Identifier: MIT */
/* What the registry holds of event providers: publishers, of which Wine's TDH tells nothing, and who may use them. */
#include "engine/etw/openetw.h"
#include "engine/os/memory.h"
#include "engine/os/win32/security.h"
#include "engine/os/win32/win32_call.h"

#include <sddl.h>

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

/* ---- providers ---- */

static HRESULT add_publisher(struct event_providers *list, HKEY publishers, const WCHAR *key)
{
    WCHAR name[KEY_NAME_UNITS];
    DWORD bytes = sizeof name;
    GUID guid;
    char *text;
    HRESULT hr = text_from_utf16(key, wcslen(key), true, &text);
    if (FAILED(hr))
        return hr;
    bool is_guid = text_to_guid(text, &guid);
    memory_free(text);
    if (!is_guid || RegGetValueW(publishers, key, NULL, RRF_RT_REG_SZ, NULL, name, &bytes))
        return S_OK; /* none that could be asked for by name */
    hr = text_from_utf16(name, wcslen(name), true, &text);
    return FAILED(hr) ? hr : event_providers_add(list, &guid, text);
}

HRESULT registered_providers(struct event_providers *list)
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
    if (!ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, parts, &text, &units))
        return win32_failed(GetLastError(), "security descriptor");
    HRESULT hr = text_from_utf16(text, wcslen(text), true, sddl);
    LocalFree(text);
    return hr;
}

HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl)
{
    WCHAR name[37];
    PSECURITY_DESCRIPTOR descriptor, made;
    *sddl = NULL;
    value_name(guid, name);
    HRESULT hr = load_descriptor(name, &descriptor);
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
    WCHAR name[37];
    PSECURITY_DESCRIPTOR descriptor;
    HKEY key;
    HRESULT hr = win32_descriptor(sddl, &descriptor);
    if (FAILED(hr))
        return hr;
    value_name(guid, name);
    LSTATUS status = RegCreateKeyExW(HKEY_LOCAL_MACHINE, SECURITY_KEY, 0, NULL, 0, KEY_SET_VALUE, NULL, &key, NULL);
    if (!status) {
        status = RegSetValueExW(key, name, 0, REG_BINARY, descriptor, GetSecurityDescriptorLength(descriptor));
        RegCloseKey(key);
    }
    LocalFree(descriptor);
    return status ? win32_failed((DWORD)status, "WMI\\Security") : S_OK;
}
