/* SPDX-License-Identifier: MIT */
/* Converts between UTF-8 and UTF-16, compares without case (the same on every host OS), and matches wildcards. */
#include "engine/base/memory.h"
#include "engine/base/text.h"

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
        return error_set(E_OUTOFMEMORY, "a string of %llu UTF-16 units is too long", (unsigned long long)units);
    char *utf8 = memory_alloc(units * 3 + 1); /* a unit takes at most 3 bytes, a pair 4 */
    if (!utf8)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < units; i++) {
        uint32_t c = text[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < units && (text[i + 1] & 0xFC00) == 0xDC00) {
            c = 0x10000 + ((c - 0xD800) << 10) + (text[++i] - 0xDC00u);
        } else if (!c || (c >= 0xD800 && c < 0xE000)) {
            if (!replace) {
                memory_free(utf8);
                return error_set(E_INVALIDARG, "invalid string: it contains %s 0x%04X at position %llu",
                                 c ? "the lone surrogate" : "the character", (unsigned)c, (unsigned long long)i);
            }
            c = UNICODE_REPLACEMENT;
        }
        length += unicode_put(c, utf8 + length);
    }
    utf8[length] = 0;
    *out = memory_resize(utf8, length + 1);
    if (!*out)
        *out = utf8; /* larger than needed, but valid */
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

/* ---- comparison without case, and wildcards ---- */

/* The simple lower-to-upper pairs of Windows' upcase table for Latin, Greek and Cyrillic letters. If `step` is 2, only
   every second character of the range is a lower-case letter. */
static const struct {
    uint16_t first, last;
    uint8_t step;
    int16_t to_upper;
} case_ranges[] = {
    {0x00E0, 0x00F6, 1, -32}, {0x00F8, 0x00FE, 1, -32}, {0x00FF, 0x00FF, 1, 0x79}, {0x0101, 0x012F, 2, -1},
    {0x0133, 0x0137, 2, -1},  {0x013A, 0x0148, 2, -1},  {0x014B, 0x0177, 2, -1},   {0x017A, 0x017E, 2, -1},
    {0x03AC, 0x03AC, 1, -38}, {0x03AD, 0x03AF, 1, -37}, {0x03B1, 0x03C1, 1, -32},  {0x03C3, 0x03CB, 1, -32},
    {0x03CC, 0x03CC, 1, -64}, {0x03CD, 0x03CE, 1, -63}, {0x03D9, 0x03EF, 2, -1},   {0x0430, 0x044F, 1, -32},
    {0x0450, 0x045F, 1, -80}, {0x0461, 0x0481, 2, -1},  {0x048B, 0x04BF, 2, -1},   {0x04C2, 0x04CE, 2, -1},
    {0x04CF, 0x04CF, 1, -15}, {0x04D1, 0x052F, 2, -1},
};

uint32_t unicode_upper(uint32_t c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    for (size_t i = 0; i < sizeof(case_ranges) / sizeof(*case_ranges) && c >= case_ranges[i].first; i++)
        if (c <= case_ranges[i].last)
            return (c - case_ranges[i].first) % case_ranges[i].step ? c : c + (uint32_t)case_ranges[i].to_upper;
    return c;
}

int text_compare_nocase(const char *a, const char *b)
{
    const unsigned char *p = (const unsigned char *)(a ? a : ""), *q = (const unsigned char *)(b ? b : "");
    const unsigned char *p_end = p + strlen((const char *)p), *q_end = q + strlen((const char *)q);
    while (p < p_end && q < q_end) {
        uint32_t c, d;
        if (*p == *q && *p < 0x80) { /* true for nearly all names */
            p++;
            q++;
            continue;
        }
        c = unicode_upper(unicode_next(&p, p_end, NULL));
        d = unicode_upper(unicode_next(&q, q_end, NULL));
        if (c != d)
            return c < d ? -1 : 1;
    }
    return p < p_end ? 1 : q < q_end ? -1 : 0;
}

bool text_equal_nocase(const char *a, const char *b)
{
    return text_compare_nocase(a, b) == 0;
}

#define EACH_BYTE(b) (0x0101010101010101u * (b))

/* Converts eight ASCII characters in parallel. The first sum sets the highest bit of each byte from 'a' on. The second
   sum sets the highest bit of each byte above 'z'. */
static uint64_t upper_ascii(uint64_t eight)
{
    uint64_t lower = (eight + EACH_BYTE(0x80 - 'a')) & ~(eight + EACH_BYTE(0x7F - 'z')) & EACH_BYTE(0x80);
    return eight - (lower >> 2);
}

static uint64_t hash_on(uint64_t hash, uint64_t next)
{
    hash = (hash ^ next) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Hashes blocks of ASCII characters separately, which is valid because strings that are equal ignoring case have their
   ASCII characters at the same positions. */
uint64_t text_hash_nocase(const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    uint64_t hash = 0, eight;
    while (at < end) {
        if (end - at >= (ptrdiff_t)sizeof(eight)) {
            memcpy(&eight, at, sizeof(eight));
            if (!(eight & EACH_BYTE(0x80))) {
                hash = hash_on(hash, upper_ascii(eight));
                at += sizeof(eight);
                continue;
            }
        }
        hash = hash_on(hash, unicode_upper(unicode_next(&at, end, NULL)));
    }
    return hash;
}

char *text_fold(const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    const unsigned char *end = at + strlen((const char *)at);
    struct text_buffer folded = {0};
    char utf8[4];
    while (at < end) {
        size_t n = unicode_put(unicode_upper(unicode_next(&at, end, NULL)), utf8);
        text_buffer_add_n(&folded, utf8, n);
    }
    return text_buffer_take(&folded);
}

bool text_matches(const char *pattern, const char *text)
{
    const unsigned char *p = (const unsigned char *)pattern, *t = (const unsigned char *)text;
    const unsigned char *p_end = p + strlen(pattern), *t_end = t + strlen(text);
    /* `star` is the position after the last '*'. `star_text` is the end of the text that this '*' matches so far. */
    const unsigned char *star = NULL, *star_text = NULL;
    for (;;) {
        const unsigned char *p_next = p, *t_next = t;
        if (p < p_end && *p == '*') {
            star = ++p;
            star_text = t;
            continue;
        }
        if (t == t_end)
            return p == p_end;
        if (p < p_end) {
            uint32_t c = unicode_next(&p_next, p_end, NULL), d = unicode_next(&t_next, t_end, NULL);
            if (c == '?' || unicode_upper(c) == unicode_upper(d)) {
                p = p_next;
                t = t_next;
                continue;
            }
        }
        if (!star)
            return false;
        unicode_next(&star_text, t_end, NULL);
        p = star;
        t = star_text;
    }
}
