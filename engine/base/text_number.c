/* SPDX-License-Identifier: MIT */
/* Converts numbers and GUIDs to text and back. */
#include "engine/base/text.h"
#include "engine/base/text_put.h"

#include <string.h>

enum { GUID_TEXT = TEXT_PUT_GUID, MOST_DECIMAL = TEXT_PUT_DECIMAL, MOST_HEX = 16 };

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Parses a number. The whole text must consist of optional whitespace, an optional sign, an optional "0x", digits and
   optional whitespace. */
static bool parse_number(const char *text, bool *negative, uint64_t *out)
{
    uint64_t value = 0;
    unsigned base = 10;
    bool any = false;
    if (!text)
        return false;
    while (is_blank(*text))
        text++;
    *negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    for (;; text++) {
        unsigned digit = (unsigned)digit_value(*text);
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
        any = true;
    }
    while (is_blank(*text))
        text++;
    *out = value;
    return any && !*text;
}

bool text_to_i64(const char *text, int64_t *out)
{
    uint64_t value;
    bool negative;
    if (!parse_number(text, &negative, &value) || value > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool text_to_u64(const char *text, uint64_t *out)
{
    uint64_t value;
    bool negative;
    if (!parse_number(text, &negative, &value) || (negative && value))
        return false;
    *out = value;
    return true;
}

bool text_to_integer(const char *text, int64_t *out)
{
    uint64_t u;
    if (text_to_i64(text, out))
        return true;
    if (!text_to_u64(text, &u))
        return false;
    *out = (int64_t)u;
    return true;
}

bool text_to_guid(const char *text, GUID *out)
{
    static const char form[] = "00000000-0000-0000-0000-000000000000";
    unsigned char bytes[16];
    size_t length = text ? strlen(text) : 0, n = 0;
    if (length == sizeof(form) + 1 && text[0] == '{' && text[length - 1] == '}')
        text++;
    else if (length != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        int digit = digit_value(text[i]);
        if (form[i] == '-') {
            if (text[i] != '-')
                return false;
            continue;
        }
        if (digit > 15)
            return false;
        if (n % 2 == 0)
            bytes[n / 2] = (unsigned char)(digit << 4);
        else
            bytes[n / 2] |= (unsigned char)digit;
        n++;
    }
    out->Data1 = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    out->Data2 = (uint16_t)(bytes[4] << 8 | bytes[5]);
    out->Data3 = (uint16_t)(bytes[6] << 8 | bytes[7]);
    memcpy(out->Data4, bytes + 8, 8);
    return true;
}

static const char upper[] = "0123456789ABCDEF", lower[] = "0123456789abcdef";

static char *put_hex(char *at, uint64_t value, unsigned count, const char *digits)
{
    for (unsigned i = count; i > 0; i--, value >>= 4)
        at[i - 1] = digits[value & 15];
    return at + count;
}

/* All numbers of two digits. Writing two digits at a time halves the number of divisions. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* Writes the number so that it ends at `end`, and returns the position where it begins. */
static char *put_decimal_before(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        end = memcpy(end - 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        return memcpy(end - 2, pairs + 2 * value, 2);
    *--end = (char)('0' + value);
    return end;
}

/* Writes GUID_TEXT characters. */
static void put_guid(char *at, const GUID *guid, const char *digits)
{
    *at++ = '{';
    at = put_hex(at, guid->Data1, 8, digits);
    *at++ = '-';
    at = put_hex(at, guid->Data2, 4, digits);
    *at++ = '-';
    at = put_hex(at, guid->Data3, 4, digits);
    *at++ = '-';
    for (unsigned i = 0; i < 8; i++) {
        at = put_hex(at, guid->Data4[i], 2, digits);
        if (i == 1)
            *at++ = '-';
    }
    *at = '}';
}

void text_from_guid(const GUID *guid, char out[39])
{
    put_guid(out, guid, upper);
    out[GUID_TEXT] = 0;
}

/* ---- appending to a text ---- */

char *text_put_digits(char *at, uint64_t value, unsigned count)
{
    unsigned left = count;
    for (; left > 1; left -= 2, value /= 100)
        memcpy(at + left - 2, pairs + 2 * (value % 100), 2);
    if (left)
        *at = (char)('0' + value % 10);
    return at + count;
}

static void text_buffer_add_decimal(struct text_buffer *b, uint64_t value, unsigned digits, bool negative)
{
    char text[1 + MOST_DECIMAL], *const end = text + sizeof text, *at = put_decimal_before(end, value);
    while (at > text + 1 && (unsigned)(end - at) < digits)
        *--at = '0';
    if (negative)
        *--at = '-';
    text_buffer_add_n(b, at, (size_t)(end - at));
}

void text_buffer_add_u64(struct text_buffer *b, uint64_t value, unsigned digits)
{
    text_buffer_add_decimal(b, value, digits, false);
}

void text_buffer_add_i64(struct text_buffer *b, int64_t value)
{
    text_buffer_add_decimal(b, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1, value < 0);
}

/* Returns the number of decimal digits. 1233 / 4096 is nearly log10(2), so the estimate is at most one too small. */
static unsigned decimal_digits(uint64_t value)
{
    static const uint64_t powers[] = {1,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000u};
    const unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), estimate = bits * 1233 >> 12;
    return estimate + (estimate == 0 || value >= powers[estimate]);
}

char *text_put_u64(char *at, uint64_t value)
{
    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    return text_put_digits(at, value, decimal_digits(value));
}

char *text_put_hex(char *at, uint64_t value, unsigned digits)
{
    unsigned count = !digits ? 1 : digits < MOST_HEX ? digits : MOST_HEX;
    while (count < MOST_HEX && value >> 4 * count)
        count++;
    *at++ = '0';
    *at++ = 'x';
    return put_hex(at, value, count, upper);
}

char *text_put_guid(char *at, const GUID *guid)
{
    static const GUID none;
    if (guid_equal(guid, &none)) /* most events have no activity ID */
        return (char *)memcpy(at, "{00000000-0000-0000-0000-000000000000}", GUID_TEXT) + GUID_TEXT;
    put_guid(at, guid, lower);
    return at + GUID_TEXT;
}

void text_buffer_add_hex(struct text_buffer *b, uint64_t value, unsigned digits)
{
    char text[TEXT_PUT_HEX];
    text_buffer_add_n(b, text, (size_t)(text_put_hex(text, value, digits) - text));
}

void text_buffer_add_bytes(struct text_buffer *b, const uint8_t *bytes, size_t size)
{
    char *at = size <= SIZE_MAX / 4 ? text_buffer_reserve(b, 2 * size) : NULL;
    if (!at) {
        b->failed = true;
        return;
    }
    for (size_t i = 0; i < size; i++)
        at = put_hex(at, bytes[i], 2, upper);
    *at = 0;
    b->length += 2 * size;
}

void text_buffer_add_guid(struct text_buffer *b, const GUID *guid)
{
    char text[GUID_TEXT];
    text_put_guid(text, guid);
    text_buffer_add_n(b, text, sizeof text);
}
