/* SPDX-License-Identifier: MIT */
/* Numbers and GUIDs in texts. */
#include "engine/os/text.h"

#include <stdio.h>
#include <string.h>

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

/* Blanks, sign, "0x", digits, blanks: the whole text. */
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

void text_from_guid(const GUID *guid, char out[39])
{
    const unsigned char *d = guid->Data4;
    snprintf(out, 39, "{%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}", (unsigned)guid->Data1,
             (unsigned)guid->Data2, (unsigned)guid->Data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
}

bool guid_equal(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}
