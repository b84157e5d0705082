/* SPDX-License-Identifier: MIT */
/* Writes calls as text. The addresses of strings come from the traced program and can be invalid, so each read is
   guarded. */
#include "engine/etw/api_trace/api_call_text.h"

#include "engine/base/guard.h"

#include <stdio.h>
#include <string.h>

/* NUMBER_MOST: room for the longest argument other than a string, and for ", ...". */
enum { NUMBER_MOST = 32, FIRST_ADDRESS = 0x10000, REGISTER_ARGUMENTS = 4, IS_WIDE = UINTPTR_MAX == UINT64_MAX };

static char *put_text(char *at, const char *text)
{
    const size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_hex(char *at, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    const int count = value ? (67 - __builtin_clzll(value)) / 4 : 1;
    *at++ = '0';
    *at++ = 'x';
    for (int i = count; i-- > 0; value >>= 4)
        at[i] = digits[value & 15];
    return at + count;
}

static char *put_unsigned(char *at, uint64_t value)
{
    char digits[20];
    int count = 0;
    for (; value > UINT32_MAX; value /= 10)
        digits[count++] = (char)('0' + value % 10);
    uint32_t rest = (uint32_t)value; /* 32-bit division is faster */
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (count)
        *at++ = digits[--count];
    return at;
}

static char *put_signed(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return put_unsigned(at, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value);
}

static char *put_real(char *at, double value)
{
    char text[NUMBER_MOST];
    const int length = snprintf(text, sizeof text, "%.15g", value);
    return length > 0 && length < NUMBER_MOST ? put_text(at, text) : at;
}

/* Writes one character as in C source, in at most 6 bytes. */
static char *put_character(char *at, uint32_t c)
{
    if (c == '"' || c == '\\') {
        *at++ = '\\';
        *at++ = (char)c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
        *at++ = '\\';
        *at++ = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    } else if (c >= 0x20 && c < 0x7F) {
        *at++ = (char)c;
    } else {
        static const char digits[] = "0123456789abcdef";
        *at++ = '\\';
        *at++ = c > 0xFF ? 'u' : 'x';
        for (int i = c > 0xFF ? 4 : 2; i-- > 0;)
            *at++ = digits[c >> (4 * i) & 15];
    }
    return at;
}

static uint8_t no_context;

static bool read_unit(uint64_t from, bool wide, uint32_t *out)
{
    uint8_t low, high = 0;
    if (!guard_copy_1(&low, (const uint8_t *)(uintptr_t)from, &no_context) ||
        (wide && !guard_copy_1(&high, (const uint8_t *)(uintptr_t)from + 1, &no_context)))
        return false;
    *out = low | (uint32_t)high << 8;
    return true;
}

/* Writes a string argument. A value below FIRST_ADDRESS is not an address but an ordinal or a resource identifier. */
static char *put_string(char *at, const char *end, uint64_t from, bool wide)
{
    uint32_t unit;
    if (!from)
        return put_text(at, "NULL");
    if (from < FIRST_ADDRESS) {
        *at++ = '#';
        return put_unsigned(at, from);
    }
    if (!read_unit(from, wide, &unit))
        return put_hex(at, from);
    if (wide)
        *at++ = 'L';
    *at++ = '"';
    int count = 0;
    while (unit && count < API_STRING_MOST && at < end) {
        at = put_character(at, unit);
        from += wide ? 2 : 1;
        count++;
        if (!read_unit(from, wide, &unit))
            unit = 0;
    }
    *at++ = '"';
    return unit ? put_text(at, "...") : at;
}

static char *put_pointer(char *at, uint64_t value)
{
    return value ? put_hex(at, value) : put_text(at, "NULL");
}

/* Inlined, because a call would cost the traced program a nanosecond per argument. */
__attribute__((always_inline)) static inline char *put_value(char *at, const char *end, enum api_kind kind,
                                                             uint64_t value, const uint8_t *xmm, bool address)
{
    float single;
    double twice;
    switch (kind) {
    case API_VOID:
        return at;
    case API_SIGNED:
    case API_BOOL:
    case API_STATUS:
        return put_signed(at, (int32_t)value);
    case API_UNSIGNED:
        return put_unsigned(at, (uint32_t)value);
    case API_FLAGS:
    case API_HRESULT:
    case API_NTSTATUS:
        return put_hex(at, (uint32_t)value);
    case API_BYTE:
        return put_unsigned(at, (uint8_t)value);
    case API_WORD:
        return put_unsigned(at, (uint16_t)value);
    case API_SHORT:
        return put_signed(at, (int16_t)value);
    case API_SIGNED_64:
        return put_signed(at, (int64_t)value);
    case API_UNSIGNED_64:
        return put_unsigned(at, value);
    case API_SIGNED_PTR:
        return put_signed(at, (intptr_t)value);
    case API_UNSIGNED_PTR:
        return put_unsigned(at, (uintptr_t)value);
    case API_ANSI:
    case API_WIDE:
        return address ? put_pointer(at, value) : put_string(at, end, value, kind == API_WIDE);
    case API_FLOAT:
        memcpy(&single, xmm ? xmm : (const uint8_t *)&value, sizeof single);
        return put_real(at, (double)single);
    case API_DOUBLE:
        memcpy(&twice, xmm ? xmm : (const uint8_t *)&value, sizeof twice);
        return put_real(at, twice);
    case API_POINTER:
    case API_HANDLE:
    case API_CODE:
        return put_pointer(at, value);
    case API_STRUCTURE:
        return IS_WIDE ? put_hex(at, value) : put_text(at, "{...}");
    }
    return put_hex(at, value);
}

void api_arguments_read_32(const struct api_signature *signature, const uint32_t *at, const uint32_t *end,
                           uint64_t values[API_ARGUMENTS_MAX])
{
    memset(values, 0, sizeof *values * API_ARGUMENTS_MAX);
    for (unsigned i = 0; i < signature->count && signature->arguments[i] != API_STRUCTURE; i++) {
        const unsigned words = api_words_32(signature->arguments[i]);
        if (at > end || (size_t)(end - at) < words)
            return;
        memcpy(&values[i], at, sizeof *at * words);
        at += words;
    }
}

size_t api_arguments_text(const struct api_signature *signature, const uint64_t *arguments,
                          const struct api_registers *registers, char *out)
{
    /* A string can extend beyond `end` by one character, a quotation mark and "...". */
    const char *const end = out + API_TEXT_ROOM - 2 * NUMBER_MOST;
    char *at = out;
    for (unsigned i = 0; i < signature->count; i++) {
        if (i)
            at = put_text(at, ", ");
        if (at >= end || (!IS_WIDE && i && signature->arguments[i - 1] == API_STRUCTURE)) {
            at = put_text(at, "...");
            break;
        }
        at = put_value(at, end, (enum api_kind)signature->arguments[i], arguments[i],
                       registers->xmm0 && i < REGISTER_ARGUMENTS ? registers->xmm0 - (size_t)16 * i : NULL,
                       registers->addresses);
    }
    *at++ = 0;
    return (size_t)(at - out);
}

size_t api_result_text(const struct api_signature *signature, uint64_t result, const struct api_registers *registers,
                       char *out)
{
    const enum api_kind kind = (enum api_kind)signature->result;
    char *at = put_value(out, out + API_RESULT_ROOM, kind, result, registers->xmm0, true);
    *at++ = 0;
    return (size_t)(at - out);
}

bool api_result_failed(const struct api_signature *signature, uint64_t result)
{
    switch ((enum api_kind)signature->result) {
    case API_BOOL:
        return (int32_t)result == 0;
    case API_HANDLE:
        return result == 0 || result == UINTPTR_MAX;
    case API_HRESULT:
    case API_NTSTATUS:
        return (int32_t)result < 0;
    case API_STATUS:
        return (int32_t)result != 0;
    default:
        return false;
    }
}
