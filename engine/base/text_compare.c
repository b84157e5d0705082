/* SPDX-License-Identifier: MIT */
/* Comparison without case, the same on every host, and wildcards. */
#include "engine/base/memory.h"
#include "engine/base/text_unicode.h"

#include <string.h>

/* The simple lower-to-upper pairs that Windows' own upcase table has for these scripts. Where `step` is 2 only every
   second character of the range is a lower-case letter. */
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
        if (*p == *q && *p < 0x80) { /* nearly all of nearly all names */
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

/* Eight ASCII characters at once: those from 'a' to 'z' get above 0x7F by the first sum and not by the second. */
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

/* Texts that are equal have their ASCII characters in the same places. */
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
    const unsigned char *star = NULL, *star_text = NULL; /* behind the last '*', and where it begins to match */
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
