/* SPDX-License-Identifier: MIT */
/* Detects the encoding of a text file from its byte order mark or its contents, and converts the text to UTF-8. */
#include "engine/etw/source_text.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <string.h>

static HRESULT from_wide(const uint8_t *bytes, size_t size, bool big_endian, char **out)
{
    size_t units = size / 2;
    WCHAR *wide = memory_alloc(units * sizeof *wide);
    if (!wide)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < units; i++)
        wide[i] = (WCHAR)(big_endian ? bytes[2 * i] << 8 | bytes[2 * i + 1] : bytes[2 * i] | bytes[2 * i + 1] << 8);
    HRESULT hr = text_from_utf16(wide, units, true, out);
    memory_free(wide);
    return hr;
}

static HRESULT from_bytes(const char *bytes, size_t size, char **out)
{
    if (!memchr(bytes, 0, size) && text_is_utf8(bytes, size)) {
        *out = text_copy_n(bytes, size);
        return *out ? S_OK : E_OUTOFMEMORY;
    }
    return text_from_ansi(bytes, size, true, out);
}

HRESULT source_text_decode(const void *bytes, size_t size, char **out)
{
    const uint8_t *b = bytes;
    if (size >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF)
        return from_bytes((const char *)b + 3, size - 3, out);
    if (size >= 2 && b[0] == 0xFF && b[1] == 0xFE)
        return from_wide(b + 2, size - 2, false, out);
    if (size >= 2 && b[0] == 0xFE && b[1] == 0xFF)
        return from_wide(b + 2, size - 2, true, out);
    if (size >= 4 && b[0] && !b[1] && b[2] && !b[3])
        return from_wide(b, size, false, out);
    if (size >= 4 && !b[0] && b[1] && !b[2] && b[3])
        return from_wide(b, size, true, out);
    return from_bytes(bytes, size, out);
}
