/* SPDX-License-Identifier: MIT */
/* Uses windows-1252 as the ANSI code page on a host OS that has none, so that logs and tests are the same
   everywhere. */
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* The characters of 0x80 to 0x9F; the five unassigned codes are the C1 controls with the same number. Each byte outside
   this range is the code point with the same number. (The table is Unicode's public mapping of the code page.) */
static const WCHAR windows_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

static char to_windows_1252(WCHAR unit)
{
    if (unit < 0x80 || (unit >= 0xA0 && unit < 0x100))
        return (char)unit;
    for (unsigned i = 0; i < 32; i++)
        if (windows_1252[i] == unit)
            return (char)(0x80 + i);
    return '?';
}

HRESULT text_to_ansi(const char *text, char **out, size_t *size)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    char *ansi = memory_alloc(units + 1);
    if (!ansi) {
        memory_free(wide);
        return error_set(E_OUTOFMEMORY, "out of memory for a string of %zu characters", units);
    }
    for (size_t i = 0; i < units; i++)
        ansi[i] = to_windows_1252(wide[i]);
    ansi[units] = '\0';
    memory_free(wide);
    *out = ansi;
    if (size)
        *size = units;
    return S_OK;
}

HRESULT text_from_ansi(const char *text, size_t size, bool replace, char **out)
{
    WCHAR *wide = memory_alloc((size + 1) * sizeof *wide);
    *out = NULL;
    if (!wide)
        return error_set(E_OUTOFMEMORY, "out of memory for a string of %zu characters", size);
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        wide[i] = byte >= 0x80 && byte < 0xA0 ? windows_1252[byte - 0x80] : byte;
    }
    HRESULT hr = text_from_utf16(wide, size, replace, out);
    memory_free(wide);
    return hr;
}
