/* SPDX-License-Identifier: MIT */
/* System codes and long paths on Windows. */
#include "engine/base/win32/win32_call.h"

#include "engine/base/memory.h"

/* CreateDirectory leaves room for an 8.3 name: its limit is the lowest. */
#define CLASSIC_PATH_MAX (MAX_PATH - 13)

HRESULT win32_report(DWORD code, const char *what)
{
    HRESULT hr = HRESULT_FROM_WIN32(code);
    return error_set(hr, "\"%s\": %s (system error %lu)", what, error_standard_text(hr), code);
}

static HRESULT long_path(const char *path, const WCHAR *given, WCHAR **out)
{
    DWORD room = GetFullPathNameW(given, 0, NULL, NULL);
    WCHAR *full = room ? memory_alloc(((size_t)room + 1) * sizeof(WCHAR)) : NULL;
    if (!full)
        return room ? E_OUTOFMEMORY : win32_failed(GetLastError(), path);
    DWORD length = GetFullPathNameW(given, room, full, NULL);
    if (!length || length >= room) {
        memory_free(full);
        return win32_failed(length ? ERROR_FILENAME_EXCED_RANGE : GetLastError(), path);
    }
    if (length <= CLASSIC_PATH_MAX) {
        *out = full;
        return S_OK;
    }
    bool unc = full[0] == '\\' && full[1] == '\\';
    WCHAR *prefixed = memory_alloc(((size_t)length + 9) * sizeof(WCHAR));
    if (prefixed) {
        wcscpy(prefixed, unc ? L"\\\\?\\UNC\\" : L"\\\\?\\");
        wcscat(prefixed, full + (unc ? 2 : 0));
    }
    memory_free(full);
    *out = prefixed;
    return prefixed ? S_OK : E_OUTOFMEMORY;
}

HRESULT win32_path(const char *path, WCHAR **out)
{
    WCHAR *given;
    size_t units;
    HRESULT hr = text_to_utf16(path, &given, &units);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (units <= CLASSIC_PATH_MAX / 2 || !wcsncmp(given, L"\\\\?\\", 4) || !wcsncmp(given, L"\\\\.\\", 4)) {
        *out = given;
        return S_OK;
    }
    hr = long_path(path, given, out); /* a relative path may be long where it counts */
    memory_free(given);
    return hr;
}
