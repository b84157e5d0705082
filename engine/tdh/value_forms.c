/* SPDX-License-Identifier: MIT */
#include "engine/tdh/value_forms.h"

#include "engine/log/little_endian.h"
#include "engine/os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { FAMILY_INET = 2, FAMILY_INET6 = 23, INET_BYTES = 8, INET6_BYTES = 24 };

void add_guid(struct text_buffer *out, const uint8_t bytes[16])
{
    text_buffer_format(out, "{%08x-%04x-%04x-%02x%02x-", (unsigned)get_u32(bytes), get_u16(bytes + 4),
                       get_u16(bytes + 6), bytes[8], bytes[9]);
    for (size_t i = 10; i < 16; i++)
        text_buffer_format(out, "%02x", bytes[i]);
    text_buffer_add(out, "}");
}

void add_filetime(struct text_buffer *out, int64_t filetime)
{
    if (filetime < 0) { /* no date has that */
        text_buffer_format(out, "0x%llX", (unsigned long long)filetime);
        return;
    }
    const struct calendar_time t = clock_calendar(filetime);
    text_buffer_format(out, "%04d-%02d-%02dT%02d:%02d:%02d.%07lld00Z", t.year, t.month, t.day, t.hour, t.minute,
                       t.second, (long long)(filetime % 10000000));
}

void add_system_time(struct text_buffer *out, const uint8_t bytes[16])
{
    text_buffer_format(out, "%04u-%02u-%02uT%02u:%02u:%02u.%03u000000Z", get_u16(bytes), get_u16(bytes + 2),
                       get_u16(bytes + 6), get_u16(bytes + 8), get_u16(bytes + 10), get_u16(bytes + 12),
                       get_u16(bytes + 14));
}

void add_sid(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    uint64_t authority = 0;
    for (size_t i = 2; i < 8; i++)
        authority = authority << 8 | bytes[i];
    /* MS-DTYP 2.4.2.1: hexadecimal from 2^32 on */
    text_buffer_format(out, authority > UINT32_MAX ? "S-%u-0x%012llX" : "S-%u-%llu", bytes[0],
                       (unsigned long long)authority);
    for (size_t at = 8; at + 4 <= size; at += 4)
        text_buffer_format(out, "-%u", (unsigned)get_u32(bytes + at));
}

void add_ipv4(struct text_buffer *out, const uint8_t bytes[4])
{
    text_buffer_format(out, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

void add_ipv6(struct text_buffer *out, const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    size_t longest = 1, from = 8; /* the longest row of zeros, of two or more */
    for (size_t i = 0; i < 8; i++) {
        size_t row = 0;
        while (i + row < 8 && bytes[2 * (i + row)] == 0 && bytes[2 * (i + row) + 1] == 0)
            row++;
        if (row > longest) {
            longest = row;
            from = i;
        }
    }
    if (memcmp(bytes, mapped, sizeof mapped) == 0) {
        text_buffer_add(out, "::ffff:");
        add_ipv4(out, bytes + 12);
        return;
    }
    for (size_t i = 0; i < 8; i++)
        if (i == from) {
            text_buffer_add(out, "::");
            i += longest - 1;
        } else
            text_buffer_format(out, i == 0 || i == from + longest ? "%x" : ":%x",
                               (unsigned)(bytes[2 * i] << 8 | bytes[2 * i + 1]));
}

void add_socket_address(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    const uint16_t family = size >= 4 ? get_u16(bytes) : 0;
    if (family == FAMILY_INET && size >= INET_BYTES) {
        add_ipv4(out, bytes + 4);
        text_buffer_format(out, ":%u", (unsigned)(bytes[2] << 8 | bytes[3]));
    } else if (family == FAMILY_INET6 && size >= INET6_BYTES) {
        text_buffer_add(out, "[");
        add_ipv6(out, bytes + 8);
        text_buffer_format(out, "]:%u", (unsigned)(bytes[2] << 8 | bytes[3]));
    } else
        add_hex(out, bytes, size);
}

void add_hex(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = text_buffer_reserve(out, 2 * size + 2);
    if (!to)
        return;
    *to++ = '0';
    *to++ = 'x';
    for (size_t i = 0; i < size; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
    out->length += 2 * size + 2;
}

void add_real(struct text_buffer *out, double value, bool is_float)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        text_buffer_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 6; digits <= (is_float ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (is_float ? (float)back == (float)value : back == value)
            break;
    }
    for (char *p = text; *p; p++) /* of a program that set another locale */
        if (*p == ',')
            *p = '.';
    text_buffer_add(out, text);
}
