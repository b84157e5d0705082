/* SPDX-License-Identifier: MIT */
#include "engine/tdh/dump_text.h"

#include "engine/os/clock.h"

#include <string.h>

#define TICKS_PER_SECOND INT64_C(10000000)

static const char upper[] = "0123456789ABCDEF", lower[] = "0123456789abcdef";

void dump_decimal(struct text_buffer *b, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    text_buffer_add_n(b, digits + at, sizeof digits - at);
}

void dump_hex(struct text_buffer *b, uint64_t value, unsigned digits)
{
    char text[18];
    size_t at = sizeof text;
    for (unsigned i = 0; i < 16 && (i < digits || value != 0 || i == 0); i++, value >>= 4)
        text[--at] = upper[value & 15];
    text[--at] = 'x';
    text[--at] = '0';
    text_buffer_add_n(b, text + at, sizeof text - at);
}

void dump_bytes(struct text_buffer *b, const uint8_t *bytes, size_t size)
{
    char *at = text_buffer_reserve(b, size * 2);
    if (!at)
        return;
    for (size_t i = 0; i < size; i++) {
        *at++ = upper[bytes[i] >> 4];
        *at++ = upper[bytes[i] & 15];
    }
    *at = '\0';
    b->length += size * 2;
}

/* `count` digits of the value at `at`, behind which it returns. */
static char *put_lower(char *at, uint64_t value, unsigned count)
{
    for (unsigned i = count; i > 0; i--, value >>= 4)
        at[i - 1] = lower[value & 15];
    return at + count;
}

void dump_guid(struct text_buffer *b, const GUID *guid)
{
    char text[38], *at = text;
    *at++ = '{';
    at = put_lower(at, guid->Data1, 8);
    *at++ = '-';
    at = put_lower(at, guid->Data2, 4);
    *at++ = '-';
    at = put_lower(at, guid->Data3, 4);
    *at++ = '-';
    for (unsigned i = 0; i < 8; i++) {
        at = put_lower(at, guid->Data4[i], 2);
        if (i == 1)
            *at++ = '-';
    }
    *at = '}';
    text_buffer_add_n(b, text, sizeof text);
}

static char *put_decimal(char *at, unsigned value, unsigned count)
{
    for (unsigned i = count; i > 0; i--, value /= 10)
        at[i - 1] = (char)('0' + value % 10);
    return at + count;
}

static void keep_second(struct dump_clock *clock, int64_t second)
{
    const struct calendar_time t = clock_calendar(second * TICKS_PER_SECOND);
    char *at = put_decimal(clock->text, (unsigned)t.year, t.year > 9999 ? 5 : 4);
    *at++ = '-';
    at = put_decimal(at, (unsigned)t.month, 2);
    *at++ = '-';
    at = put_decimal(at, (unsigned)t.day, 2);
    *at++ = 'T';
    at = put_decimal(at, (unsigned)t.hour, 2);
    *at++ = ':';
    at = put_decimal(at, (unsigned)t.minute, 2);
    *at++ = ':';
    at = put_decimal(at, (unsigned)t.second, 2);
    *at++ = '.';
    clock->length = (size_t)(at - clock->text);
    clock->second = second;
}

void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime)
{
    char fraction[7];
    const int64_t time = filetime < 0 ? 0 : filetime; /* a damaged stamp is before all times */
    const int64_t second = time / TICKS_PER_SECOND;
    if (clock->length == 0 || clock->second != second)
        keep_second(clock, second);
    text_buffer_add_n(b, clock->text, clock->length);
    (void)put_decimal(fraction, (unsigned)(time % TICKS_PER_SECOND), sizeof fraction);
    text_buffer_add_n(b, fraction, sizeof fraction);
}

void dump_quoted(struct text_buffer *b, const char *text, size_t size)
{
    text_buffer_add_n(b, "\"", 1);
    for (size_t at = 0; at < size;) {
        size_t plain = at;
        while (plain < size && (unsigned char)text[plain] >= ' ' && text[plain] != '"')
            plain++;
        text_buffer_add_n(b, text + at, plain - at);
        if (plain < size)
            text_buffer_add(b, text[plain] == '"' ? "\"\"" : " ");
        at = plain + 1;
    }
    text_buffer_add_n(b, "\"", 1);
}
