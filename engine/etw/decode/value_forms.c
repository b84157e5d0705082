/* SPDX-License-Identifier: MIT */
#include "engine/etw/value_forms.h"

#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { FAMILY_INET = 2, FAMILY_INET6 = 23, INET_BYTES = 8, INET6_BYTES = 24 };

void add_guid(struct text_buffer *out, const uint8_t bytes[16])
{
    GUID guid;
    guid.Data1 = get_u32(bytes);
    guid.Data2 = get_u16(bytes + 4);
    guid.Data3 = get_u16(bytes + 6);
    memcpy(guid.Data4, bytes + 8, sizeof guid.Data4);
    text_buffer_add_guid(out, &guid);
}

char *put_date_time(char at[DATE_TIME_TEXT], const struct calendar_time *t)
{
    at = text_put_digits(at, (unsigned)t->year, t->year > 9999 ? 5 : 4);
    *at++ = '-';
    at = text_put_digits(at, (unsigned)t->month, 2);
    *at++ = '-';
    at = text_put_digits(at, (unsigned)t->day, 2);
    *at++ = 'T';
    at = text_put_digits(at, (unsigned)t->hour, 2);
    *at++ = ':';
    at = text_put_digits(at, (unsigned)t->minute, 2);
    *at++ = ':';
    at = text_put_digits(at, (unsigned)t->second, 2);
    *at++ = '.';
    return at;
}

void add_filetime(struct text_buffer *out, int64_t filetime)
{
    char text[DATE_TIME_TEXT + 10];
    if (filetime < 0) { /* no date has that */
        text_buffer_add_hex(out, (uint64_t)filetime, 1);
        return;
    }
    const struct calendar_time t = clock_calendar(filetime);
    char *at = text_put_digits(put_date_time(text, &t), (uint64_t)(filetime % 10000000), 7);
    memcpy(at, "00Z", 3);
    text_buffer_add_n(out, text, (size_t)(at + 3 - text));
}

/* The numbers may be any. */
void add_system_time(struct text_buffer *out, const uint8_t bytes[16])
{
    static const struct {
        uint8_t at, digits;
        char behind[8];
    } parts[] = {{0, 4, "-"}, {2, 2, "-"}, {6, 2, "T"}, {8, 2, ":"}, {10, 2, ":"}, {12, 2, "."}, {14, 3, "000000Z"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        text_buffer_add_u64(out, get_u16(bytes + parts[i].at), parts[i].digits);
        text_buffer_add(out, parts[i].behind);
    }
}

void add_sid(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    uint64_t authority = 0;
    for (size_t i = 2; i < 8; i++)
        authority = authority << 8 | bytes[i];
    text_buffer_add_n(out, "S-", 2);
    text_buffer_add_u64(out, bytes[0], 1);
    text_buffer_add_n(out, "-", 1);
    if (authority > UINT32_MAX) /* MS-DTYP 2.4.2.1: hexadecimal from 2^32 on */
        text_buffer_add_hex(out, authority, 12);
    else
        text_buffer_add_u64(out, authority, 1);
    for (size_t at = 8; at + 4 <= size; at += 4) {
        text_buffer_add_n(out, "-", 1);
        text_buffer_add_u64(out, get_u32(bytes + at), 1);
    }
}

void add_ipv4(struct text_buffer *out, const uint8_t bytes[4])
{
    for (size_t i = 0; i < 4; i++) {
        text_buffer_add_n(out, ".", i != 0);
        text_buffer_add_u64(out, bytes[i], 1);
    }
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
        text_buffer_add_n(out, ":", 1);
        text_buffer_add_u64(out, (unsigned)(bytes[2] << 8 | bytes[3]), 1);
    } else if (family == FAMILY_INET6 && size >= INET6_BYTES) {
        text_buffer_add(out, "[");
        add_ipv6(out, bytes + 8);
        text_buffer_add_n(out, "]:", 2);
        text_buffer_add_u64(out, (unsigned)(bytes[2] << 8 | bytes[3]), 1);
    } else
        add_hex(out, bytes, size);
}

void add_hex(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    text_buffer_add_n(out, "0x", 2);
    text_buffer_add_bytes(out, bytes, size);
}

/* False: it is finite, and nothing was added. */
static bool add_if_not_finite(struct text_buffer *out, double value)
{
    if (!isnan(value) && !isinf(value))
        return false;
    text_buffer_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return true;
}

/* A program may have set a locale with another decimal separator. */
static void add_real_text(struct text_buffer *out, char *text)
{
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.';
    text_buffer_add(out, text);
}

void add_real(struct text_buffer *out, double value, bool is_float)
{
    char text[40];
    if (add_if_not_finite(out, value))
        return;
    for (int digits = 6; digits <= (is_float ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (is_float ? (float)back == (float)value : back == value)
            break;
    }
    add_real_text(out, text);
}

void add_real_of_six_decimals(struct text_buffer *out, double value)
{
    char text[DBL_MAX_10_EXP + 16]; /* all digits of the largest number, its sign and decimals */
    if (add_if_not_finite(out, value))
        return;
    snprintf(text, sizeof text, "%.6f", value);
    add_real_text(out, text);
}
