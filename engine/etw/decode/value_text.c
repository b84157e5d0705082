/* SPDX-License-Identifier: MIT */
/* Formats values of all types as text, including maps, times, addresses and identifiers. Also contains the functions
   that format times and quoted strings in dumps. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- strings ---- */

static void add_utf16(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    char *to = text_buffer_reserve(out, size / 2 * 3 + 1);
    if (!to)
        return;
    char *const start = to;
    for (size_t at = 0; at + 2 <= size; at += 2) {
        uint32_t c = get_u16(bytes + at);
        const uint32_t next = at + 4 <= size ? get_u16(bytes + at + 2) : 0;
        if (c >= 0xD800 && c < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (next - 0xDC00);
            at += 2;
        } else if (c >= 0xD800 && c < 0xE000)
            c = UNICODE_REPLACEMENT;
        if (c < 0x80)
            *to++ = (char)c;
        else
            to += unicode_put(c, to);
    }
    *to = 0;
    out->length += (size_t)(to - start);
}

static HRESULT add_ansi(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    size_t plain = 0;
    char *text;
    while (plain < size && bytes[plain] < 0x80)
        plain++;
    if (plain == size) {
        text_buffer_add_n(out, (const char *)bytes, size);
        return S_OK;
    }
    HRESULT hr = text_from_ansi((const char *)bytes, size, true, &text);
    if (FAILED(hr))
        return hr;
    text_buffer_add(out, text);
    memory_free(text);
    return S_OK;
}

static bool is_utf8(uint16_t out_type)
{
    return out_type == OUT_TYPE_XML || out_type == OUT_TYPE_JSON || out_type == OUT_TYPE_UTF8;
}

/* Adds a string. A string with a count also ends at its first NUL, because programs that read the text would stop
   there. */
static HRESULT add_ansi_text(struct text_buffer *out, uint16_t out_type, const uint8_t *bytes, size_t size)
{
    size = value_text_end(bytes, size, 1);
    if (!is_utf8(out_type))
        return add_ansi(out, bytes, size);
    text_buffer_add_utf8(out, (const char *)bytes, size);
    return S_OK;
}

static void add_utf16_text(struct text_buffer *out, const uint8_t *bytes, size_t size)
{
    add_utf16(out, bytes, value_text_end(bytes, size, 2));
}

/* ---- numbers ---- */

static void add_message(struct text_buffer *out, enum system_message kind, const char *what, uint32_t code)
{
    char *text = system_message(kind, code);
    if (text)
        text_buffer_add(out, text);
    else
        text_buffer_format(out, "Unknown %s Error code: 0x%08X", what, (unsigned)code);
    memory_free(text);
}

static bool is_signed(uint16_t in)
{
    return in == IN_TYPE_INT8 || in == IN_TYPE_INT16 || in == IN_TYPE_INT32 || in == IN_TYPE_INT64;
}

static void add_decimal(struct text_buffer *out, uint64_t number, bool with_sign)
{
    if (with_sign)
        text_buffer_add_i64(out, (int64_t)number);
    else
        text_buffer_add_u64(out, number, 1);
}

/* Adds an integer. `own` is `number` without the sign extension: only the bits of the value's size. */
static HRESULT add_integer(struct text_buffer *out, const struct value_type *type, const uint8_t *bytes, size_t size,
                           uint64_t number)
{
    const uint64_t own = size < 8 ? number & ((1ull << 8 * size) - 1) : number;
    switch (type->out) {
    case OUT_TYPE_STRING:
        if (size == 1)
            return add_ansi_text(out, type->out, bytes, size);
        if (size == 2)
            add_utf16_text(out, bytes, size);
        else
            break;
        return S_OK;
    case OUT_TYPE_BOOLEAN:
        text_buffer_add(out, number != 0 ? "true" : "false");
        return S_OK;
    case OUT_TYPE_HEXBINARY:
    case OUT_TYPE_HEXINT8:
    case OUT_TYPE_HEXINT16:
    case OUT_TYPE_HEXINT32:
    case OUT_TYPE_HEXINT64:
    case OUT_TYPE_ERRORCODE:
    case OUT_TYPE_CODE_POINTER:
        text_buffer_add_hex(out, own, 1);
        return S_OK;
    case OUT_TYPE_PORT:
        if (size != 2)
            break;
        add_decimal(out, (uint64_t)(bytes[0] << 8 | bytes[1]), false);
        return S_OK;
    case OUT_TYPE_IPV4:
        if (size != 4)
            break;
        add_ipv4(out, bytes);
        return S_OK;
    case OUT_TYPE_WIN32ERROR:
        add_message(out, SYSTEM_MESSAGE_WIN32, "Win32", (uint32_t)number);
        return S_OK;
    case OUT_TYPE_HRESULT:
        add_message(out, SYSTEM_MESSAGE_HRESULT, "HResult", (uint32_t)number);
        return S_OK;
    case OUT_TYPE_NTSTATUS:
        add_message(out, SYSTEM_MESSAGE_NTSTATUS, "NTSTATUS", (uint32_t)number);
        return S_OK;
    case OUT_TYPE_BYTE:
    case OUT_TYPE_SHORT:
    case OUT_TYPE_INT:
    case OUT_TYPE_LONG:
        add_decimal(out, size < 8 ? (uint64_t)((int64_t)(own << (64 - 8 * size)) >> (64 - 8 * size)) : own, true);
        return S_OK;
    case OUT_TYPE_UNSIGNEDBYTE:
    case OUT_TYPE_UNSIGNEDSHORT:
    case OUT_TYPE_UNSIGNEDINT:
    case OUT_TYPE_UNSIGNEDLONG:
        add_decimal(out, own, false);
        return S_OK;
    case OUT_TYPE_DATETIME:
    case OUT_TYPE_CULTURE_INSENSITIVE_DATETIME:
    case OUT_TYPE_DATETIME_UTC:
        if (size != 8)
            break;
        add_filetime(out, (int64_t)number);
        return S_OK;
    default:
        break;
    }
    if (type->in == IN_TYPE_HEXINT32 || type->in == IN_TYPE_HEXINT64)
        text_buffer_add_hex(out, own, 1);
    else
        add_decimal(out, number, is_signed(type->in));
    return S_OK;
}

static void add_pointer(struct text_buffer *out, const struct value_type *type, const uint8_t *bytes, size_t size)
{
    const uint64_t number = size == 4 ? get_u32(bytes) : get_u64(bytes);
    if (type->out == OUT_TYPE_LONG)
        add_decimal(out, size == 4 ? (uint64_t)(int32_t)number : number, true);
    else if (type->out == OUT_TYPE_UNSIGNEDLONG || type->out == OUT_TYPE_UNSIGNEDINT)
        add_decimal(out, number, false);
    else
        text_buffer_add_hex(out, number, 1);
}

/* ---- bytes ---- */

static void add_bytes(struct text_buffer *out, const struct value_type *type, const uint8_t *bytes, size_t size)
{
    if (type->out == OUT_TYPE_IPV6 && size == 16)
        add_ipv6(out, bytes);
    else if (type->out == OUT_TYPE_IPV4 && size == 4)
        add_ipv4(out, bytes);
    else if (type->out == OUT_TYPE_SOCKETADDRESS)
        add_socket_address(out, bytes, size);
    else
        add_hex(out, bytes, size);
}

static HRESULT add_value(struct text_buffer *out, const struct value_type *type, const uint8_t *bytes, size_t size)
{
    uint64_t number;
    float small;
    double large;
    switch (type->in) {
    case IN_TYPE_UNICODESTRING:
    case IN_TYPE_MANIFEST_COUNTEDSTRING:
    case IN_TYPE_COUNTEDSTRING:
    case IN_TYPE_REVERSEDCOUNTEDSTRING:
    case IN_TYPE_NONNULLTERMINATEDSTRING:
    case IN_TYPE_UNICODECHAR:
        add_utf16_text(out, bytes, size);
        return S_OK;
    case IN_TYPE_ANSISTRING:
    case IN_TYPE_MANIFEST_COUNTEDANSISTRING:
    case IN_TYPE_COUNTEDANSISTRING:
    case IN_TYPE_REVERSEDCOUNTEDANSISTRING:
    case IN_TYPE_NONNULLTERMINATEDANSISTRING:
    case IN_TYPE_ANSICHAR:
        return add_ansi_text(out, type->out, bytes, size);
    case IN_TYPE_FLOAT:
        memcpy(&small, bytes, sizeof small);
        if (type->six_decimals)
            add_real_of_six_decimals(out, (double)small);
        else
            add_real(out, (double)small, true);
        return S_OK;
    case IN_TYPE_DOUBLE:
        memcpy(&large, bytes, sizeof large);
        if (type->six_decimals)
            add_real_of_six_decimals(out, large);
        else
            add_real(out, large, false);
        return S_OK;
    case IN_TYPE_BOOLEAN:
        text_buffer_add(out, get_u32(bytes) != 0 ? "true" : "false");
        return S_OK;
    case IN_TYPE_GUID:
        add_guid(out, bytes);
        return S_OK;
    case IN_TYPE_POINTER:
    case IN_TYPE_SIZET:
        add_pointer(out, type, bytes, size);
        return S_OK;
    case IN_TYPE_FILETIME:
        add_filetime(out, (int64_t)get_u64(bytes));
        return S_OK;
    case IN_TYPE_SYSTEMTIME:
        add_system_time(out, bytes);
        return S_OK;
    case IN_TYPE_SID:
    case IN_TYPE_WBEMSID:
        if (size != 0)
            add_sid(out, bytes, size);
        return S_OK;
    case IN_TYPE_NULL:
        return S_OK;
    default:
        if (!value_number(type->in, bytes, size, &number)) {
            add_bytes(out, type, bytes, size);
            return S_OK;
        }
        return add_integer(out, type, bytes, size, number);
    }
}

/* ---- maps ---- */

/* Returns whether the entry applies to all values that the map does not name, as defined by CIM. */
static bool is_all_others(const struct event_map_entry *e)
{
    return e->input && strcmp(e->input, "..") == 0;
}

static const struct event_map_entry *entry_of(const struct event_map *map, uint64_t number)
{
    const struct event_map_entry *others = NULL;
    for (size_t i = 0; i < map->count; i++)
        if (is_all_others(&map->entries[i]))
            others = &map->entries[i];
        else if (!map->entries[i].input && map->entries[i].value == number)
            return &map->entries[i];
    return others;
}

/* Adds the names of the bits that are set, then one number for all bits that are set but have no name. */
static bool add_bits(const struct event_map *map, uint64_t number, struct text_buffer *out)
{
    const bool masks = (map->flag & (MAP_MANIFEST_BITS | MAP_MOF_FLAG)) != 0;
    uint64_t left = number;
    bool any = false;
    for (size_t i = 0; i < map->count; i++) {
        const uint64_t value = map->entries[i].value;
        const uint64_t mask = masks ? value : value < 64 ? 1ull << value : 0;
        if (mask == 0 || (number & mask) != mask)
            continue;
        if (any)
            text_buffer_add(out, "|");
        text_buffer_add(out, map->entries[i].text ? map->entries[i].text : "");
        left &= ~mask;
        any = true;
    }
    if (any && left != 0) {
        text_buffer_add_n(out, "|", 1);
        text_buffer_add_hex(out, left, 1);
    }
    const struct event_map_entry *none = masks && number == 0 ? entry_of(map, 0) : NULL;
    if (none)
        text_buffer_add(out, none->text ? none->text : "");
    return any || none;
}

bool event_map_text(const struct event_map *map, uint64_t number, struct text_buffer *out)
{
    if ((map->flag & (MAP_MANIFEST_BITS | MAP_MOF_BITS | MAP_MOF_FLAG)) != 0)
        return add_bits(map, number, out);
    const struct event_map_entry *e = entry_of(map, number);
    if (e)
        text_buffer_add(out, e->text ? e->text : "");
    return e;
}

/* Formats a string value with a string map: finds the entry for the string and adds the entry's text. */
static HRESULT add_mapped_text(const struct value_type *type, const struct event_map *map, const uint8_t *bytes,
                               size_t size, struct text_buffer *out)
{
    struct text_buffer own = {0};
    HRESULT hr = add_value(&own, type, bytes, size);
    bool found = false;
    for (size_t i = 0; SUCCEEDED(hr) && !own.failed && !found && i < map->count; i++) {
        const struct event_map_entry *e = &map->entries[i];
        found =
            e->input && (strcmp(e->input, own.text ? own.text : "") == 0 || (is_all_others(e) && i == map->count - 1));
        if (found)
            text_buffer_add(out, e->text ? e->text : "");
    }
    if (own.failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !found)
        hr = error_set(EVENT_DATA_INVALID, "the map '%s' has no entry for '%s'", map->name ? map->name : "",
                       own.text ? own.text : "");
    text_buffer_free(&own);
    return hr;
}

static HRESULT add_mapped(const struct value_type *type, const struct event_map *map, const uint8_t *bytes, size_t size,
                          struct text_buffer *out)
{
    uint64_t number;
    if (!value_number(type->in, bytes, size, &number) && type->in == IN_TYPE_BOOLEAN)
        number = get_u32(bytes) != 0;
    else if (!value_number(type->in, bytes, size, &number))
        return add_mapped_text(type, map, bytes, size, out);
    if (size < 8)
        number &= (1ull << 8 * size) - 1;
    if (event_map_text(map, number, out))
        return S_OK;
    return error_set(EVENT_DATA_INVALID, "the map '%s' has no entry for the number %llu", map->name ? map->name : "",
                     (unsigned long long)number);
}

HRESULT value_text(const struct value_type *type, const struct event_map *map, const uint8_t *bytes, size_t size,
                   struct text_buffer *out, size_t *used)
{
    struct value_extent extent;
    HRESULT hr = value_extent(type, bytes, size, &extent);
    if (FAILED(hr))
        return hr;
    hr = map ? add_mapped(type, map, bytes + extent.at, extent.content, out)
             : add_value(out, type, bytes + extent.at, extent.content);
    if (SUCCEEDED(hr) && used)
        *used = extent.size;
    return SUCCEEDED(hr) && out->failed ? E_OUTOFMEMORY : hr;
}

HRESULT event_value_text(const struct event_schema *schema, const struct event_value *value, struct text_buffer *out)
{
    const struct event_map *map = event_schema_map(schema, value->property->map);
    HRESULT hr = map ? value_text(&value->type, map, value->bytes, value->size, out, NULL) : EVENT_DATA_INVALID;
    return hr == EVENT_DATA_INVALID ? value_text(&value->type, NULL, value->bytes, value->size, out, NULL) : hr;
}

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
    if (filetime < 0) { /* no date corresponds to a negative FILETIME */
        text_buffer_add_hex(out, (uint64_t)filetime, 1);
        return;
    }
    const struct calendar_time t = clock_calendar(filetime);
    char *at = text_put_digits(put_date_time(text, &t), (uint64_t)(filetime % 10000000), 7);
    memcpy(at, "00Z", 3);
    text_buffer_add_n(out, text, (size_t)(at + 3 - text));
}

/* Adds a SYSTEMTIME. The members of the SYSTEMTIME may be invalid. */
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
    if (authority > UINT32_MAX) /* MS-DTYP 2.4.2.1: numbers from 2^32 on are hexadecimal */
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
    size_t longest = 1, from = 8; /* longest run of zeros; only runs of at least two are shortened */
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

/* Adds the text of infinity or NaN. False: the value is finite, and nothing was added. */
static bool add_if_not_finite(struct text_buffer *out, double value)
{
    if (!isnan(value) && !isinf(value))
        return false;
    text_buffer_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return true;
}

/* Adds the text of a number. If the program has set a locale with another decimal separator, replaces this
   separator. */
static void add_real_text(struct text_buffer *out, char *text)
{
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.';
    text_buffer_add(out, text);
}

void add_real(struct text_buffer *out, double value, bool is_float)
{
    enum { LEAST_DIGITS = 6 };
    char text[NUMBER_TEXT_SIZE];
    if (!add_if_not_finite(out, value))
        text_buffer_add_n(out, text, number_text_shortest(value, LEAST_DIGITS, is_float, text));
}

void add_real_of_six_decimals(struct text_buffer *out, double value)
{
    char text[DBL_MAX_10_EXP + 16]; /* room for the digits of the largest number, sign and decimals */
    if (add_if_not_finite(out, value))
        return;
    snprintf(text, sizeof text, "%.6f", value);
    add_real_text(out, text);
}

#define TICKS_PER_SECOND INT64_C(10000000)

static void keep_second(struct dump_clock *clock, int64_t second)
{
    const struct calendar_time t = clock_calendar(second * TICKS_PER_SECOND);
    clock->length = (size_t)(put_date_time(clock->text, &t) - clock->text);
    clock->second = second;
}

void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime)
{
    char fraction[7];
    const int64_t time = filetime < 0 ? 0 : filetime; /* a corrupt timestamp becomes the earliest time */
    const int64_t second = time / TICKS_PER_SECOND;
    if (clock->length == 0 || clock->second != second)
        keep_second(clock, second);
    text_buffer_add_n(b, clock->text, clock->length);
    (void)text_put_digits(fraction, (uint64_t)(time % TICKS_PER_SECOND), sizeof fraction);
    text_buffer_add_n(b, fraction, sizeof fraction);
}

bool dump_is_quotable(const char *text, size_t size)
{
    for (const char *c = text; c < text + size; c++)
        if ((unsigned char)*c <= '"' && ((unsigned char)*c < ' ' || *c == '"'))
            return false;
    return true;
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
