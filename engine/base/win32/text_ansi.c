/* SPDX-License-Identifier: MIT */
/* The system's ANSI code page. */
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <windows.h>

HRESULT text_to_ansi(const char *text, char **out, size_t *size)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    if (units > INT_MAX / 4) {
        memory_free(wide);
        return error_set(E_OUTOFMEMORY, "a string of %zu characters is too long for the ANSI code page", units);
    }
    /* If the ANSI code page is UTF-8, the code page contains every character. For this code page the system rejects
       WC_NO_BEST_FIT_CHARS and a replacement. */
    bool utf8 = GetACP() == CP_UTF8;
    DWORD flags = utf8 ? 0 : WC_NO_BEST_FIT_CHARS;
    const char *replacement = utf8 ? NULL : "?";
    int length = 0;
    if (units > 0)
        length = WideCharToMultiByte(CP_ACP, flags, wide, (int)units, NULL, 0, replacement, NULL);
    char *ansi = memory_alloc((size_t)length + 1);
    if (!ansi) {
        memory_free(wide);
        return error_set(E_OUTOFMEMORY, "out of memory for a string of %zu characters", units);
    }
    if (length > 0)
        length = WideCharToMultiByte(CP_ACP, flags, wide, (int)units, ansi, length, replacement, NULL);
    ansi[length] = '\0';
    memory_free(wide);
    *out = ansi;
    if (size)
        *size = (size_t)length;
    return S_OK;
}

HRESULT text_from_ansi(const char *text, size_t size, bool replace, char **out)
{
    *out = NULL;
    if (size == 0) {
        *out = text_copy("");
        return *out ? S_OK : E_OUTOFMEMORY;
    }
    const DWORD flags = replace ? 0 : MB_ERR_INVALID_CHARS;
    int units = size > INT_MAX ? 0 : MultiByteToWideChar(CP_ACP, flags, text, (int)size, NULL, 0);
    if (units <= 0)
        return error_set(E_INVALIDARG, "a string of %zu bytes is not valid in the ANSI code page", size);
    WCHAR *wide = memory_alloc((size_t)units * sizeof *wide);
    if (!wide)
        return error_set(E_OUTOFMEMORY, "out of memory for a string of %zu characters", size);
    MultiByteToWideChar(CP_ACP, flags, text, (int)size, wide, units);
    HRESULT hr = text_from_utf16(wide, (size_t)units, replace, out);
    memory_free(wide);
    return hr;
}
