/* SPDX-License-Identifier: MIT */
/* What the registry holds of event providers: publishers, of which Wine's TDH tells nothing. */
#include "engine/etw/openetw.h"
#include "engine/os/memory.h"
#include "engine/os/win32/win32_call.h"

#define PUBLISHERS     L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers"
#define KEY_NAME_UNITS 256 /* a key's name is shorter */

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
