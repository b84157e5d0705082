/* SPDX-License-Identifier: MIT */
/* UTF-8 and UTF-16, both ways. */
#include "engine/base/text_unicode.h"

#include "engine/base/memory.h"

#include <string.h>

uint32_t unicode_next(const unsigned char **at, const unsigned char *end, bool *malformed)
{
    const unsigned char *p = *at;
    uint32_t c = *p++, lowest;
    int more;
    if (c < 0x80) {
        *at = p;
        return c;
    }
    if (c >= 0xC2 && c < 0xE0)
        more = 1, lowest = 0x80, c &= 0x1F;
    else if (c >= 0xE0 && c < 0xF0)
        more = 2, lowest = 0x800, c &= 0x0F;
    else if (c >= 0xF0 && c < 0xF5)
        more = 3, lowest = 0x10000, c &= 0x07;
    else
        more = 0, lowest = UINT32_MAX;
    while (more && p < end && (*p & 0xC0) == 0x80) {
        c = c << 6 | (*p++ & 0x3F);
        more--;
    }
    *at = p;
    if (more || c < lowest || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
        if (malformed)
            *malformed = true;
        return UNICODE_REPLACEMENT;
    }
    return c;
}

size_t unicode_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

HRESULT text_from_utf16(const WCHAR *text, size_t units, bool replace, char **out)
{
    size_t length = 0;
    *out = NULL;
    if (units > (SIZE_MAX - 1) / 3)
        return error_set(E_OUTOFMEMORY, "a text of %llu UTF-16 units does not fit", (unsigned long long)units);
    char *utf8 = memory_alloc(units * 3 + 1); /* a unit makes at most 3 bytes, a pair 4 */
    if (!utf8)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < units; i++) {
        uint32_t c = text[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < units && (text[i + 1] & 0xFC00) == 0xDC00) {
            c = 0x10000 + ((c - 0xD800) << 10) + (text[++i] - 0xDC00u);
        } else if (!c || (c >= 0xD800 && c < 0xE000)) {
            if (!replace) {
                memory_free(utf8);
                return error_set(E_INVALIDARG, "a text holds %s 0x%04X at position %llu",
                                 c ? "the lone surrogate" : "the character", (unsigned)c, (unsigned long long)i);
            }
            c = UNICODE_REPLACEMENT;
        }
        length += unicode_put(c, utf8 + length);
    }
    utf8[length] = 0;
    *out = memory_resize(utf8, length + 1);
    if (!*out)
        *out = utf8; /* too large is as good */
    return S_OK;
}

HRESULT text_to_utf16(const char *text, WCHAR **out, size_t *units)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    const unsigned char *end = at + strlen((const char *)at);
    size_t bytes = (size_t)(end - at), length = 0;
    *out = NULL;
    if (units)
        *units = 0;
    WCHAR *utf16 = bytes < SIZE_MAX / sizeof(WCHAR) ? memory_alloc((bytes + 1) * sizeof(WCHAR)) : NULL;
    if (!utf16)
        return E_OUTOFMEMORY;
    while (at < end) {
        uint32_t c = unicode_next(&at, end, NULL);
        if (c >= 0x10000) {
            utf16[length++] = (WCHAR)(0xD800 + ((c - 0x10000) >> 10));
            utf16[length++] = (WCHAR)(0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            utf16[length++] = (WCHAR)c;
        }
    }
    utf16[length] = 0;
    if (units)
        *units = length;
    *out = utf16;
    return S_OK;
}

size_t text_utf16_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    const unsigned char *end = at + strlen((const char *)at);
    size_t units = 0;
    while (at < end)
        units += unicode_next(&at, end, NULL) >= 0x10000 ? 2 : 1;
    return units;
}

bool text_is_utf8(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes;
    bool malformed = false;
    while (at < end && !malformed)
        unicode_next(&at, end, &malformed);
    return !malformed;
}

void text_buffer_add_utf8(struct text_buffer *b, const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text, *const end = at + bytes;
    if (text_is_utf8(text, bytes)) {
        text_buffer_add_n(b, text, bytes);
        return;
    }
    while (at < end) {
        char one[4];
        const size_t length = unicode_put(unicode_next(&at, end, NULL), one);
        text_buffer_add_n(b, one, length);
    }
}

bool text_has_bidi_control(const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        const uint32_t c = unicode_next(&at, end, NULL);
        if (c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069))
            return true;
    }
    return false;
}
