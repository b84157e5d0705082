/* SPDX-License-Identifier: MIT */
#include "engine/etw/value_extent.h"

#include "engine/logs/little_endian.h"

enum { ANY_SIZE = 0xFF, BY_POINTER_SIZE = 0xFE, SID_AUTHORITIES = 15 };

/* Bytes that each in-type takes; of those that say it otherwise ANY_SIZE. */
static uint8_t fixed_size(uint16_t in)
{
    static const uint8_t manifest[] = {
        [IN_TYPE_NULL] = 0,
        [IN_TYPE_UNICODESTRING] = ANY_SIZE,
        [IN_TYPE_ANSISTRING] = ANY_SIZE,
        [IN_TYPE_INT8] = 1,
        [IN_TYPE_UINT8] = 1,
        [IN_TYPE_INT16] = 2,
        [IN_TYPE_UINT16] = 2,
        [IN_TYPE_INT32] = 4,
        [IN_TYPE_UINT32] = 4,
        [IN_TYPE_INT64] = 8,
        [IN_TYPE_UINT64] = 8,
        [IN_TYPE_FLOAT] = 4,
        [IN_TYPE_DOUBLE] = 8,
        [IN_TYPE_BOOLEAN] = 4,
        [IN_TYPE_BINARY] = ANY_SIZE,
        [IN_TYPE_GUID] = 16,
        [IN_TYPE_POINTER] = BY_POINTER_SIZE,
        [IN_TYPE_FILETIME] = 8,
        [IN_TYPE_SYSTEMTIME] = 16,
        [IN_TYPE_SID] = ANY_SIZE,
        [IN_TYPE_HEXINT32] = 4,
        [IN_TYPE_HEXINT64] = 8,
    };
    switch (in) {
    case IN_TYPE_UNICODECHAR:
        return 2;
    case IN_TYPE_ANSICHAR:
        return 1;
    case IN_TYPE_SIZET:
        return BY_POINTER_SIZE;
    default:
        return in < sizeof manifest ? manifest[in] : ANY_SIZE;
    }
}

uint16_t value_fixed_size(uint16_t in_type, uint32_t pointer_size)
{
    const uint8_t fixed = fixed_size(in_type);
    return (uint16_t)(fixed == BY_POINTER_SIZE ? pointer_size : fixed == ANY_SIZE ? 0 : fixed);
}

static HRESULT too_few(size_t need, size_t have)
{
    return error_set(EVENT_DATA_INVALID, "a value takes %zu bytes, of which there are %zu", need, have);
}

/* What has `before` bytes before it, and `content` of its own. */
static HRESULT behind(size_t before, size_t content, size_t size, struct value_extent *out)
{
    if (before > size || content > size - before)
        return too_few(before + content, size);
    *out = (struct value_extent){before + content, before, content};
    return S_OK;
}

size_t value_text_end(const uint8_t *bytes, size_t size, size_t unit)
{
    size_t at = 0;
    while (at + unit <= size && (bytes[at] != 0 || (unit == 2 && bytes[at + 1] != 0)))
        at += unit;
    return at;
}

/* Of so many characters, or to the NUL; where there is none to the end of the data. */
static HRESULT terminated(const struct value_type *type, size_t unit, const uint8_t *bytes, size_t size,
                          struct value_extent *out)
{
    if (type->has_length) {
        const uint64_t whole = (uint64_t)type->length * unit;
        if (whole > size)
            return too_few((size_t)whole, size);
        *out = (struct value_extent){(size_t)whole, 0, value_text_end(bytes, (size_t)whole, unit)};
        return S_OK;
    }
    const size_t end = value_text_end(bytes, size, unit);
    *out = (struct value_extent){end + unit <= size ? end + unit : size, 0, end};
    return S_OK;
}

static HRESULT binary(const struct value_type *type, size_t size, struct value_extent *out)
{
    if (type->has_length)
        return behind(0, type->length, size, out);
    return behind(0, type->out == OUT_TYPE_IPV6 ? 16 : size, size, out);
}

static HRESULT sid(size_t before, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    if (before > size || size - before < 8)
        return too_few(before + 8, size);
    if (bytes[before + 1] > SID_AUTHORITIES)
        return error_set(EVENT_DATA_INVALID, "a SID has %u parts, of which it can have %d", bytes[before + 1],
                         SID_AUTHORITIES);
    return behind(before, 8 + 4 * (size_t)bytes[before + 1], size, out);
}

/* TOKEN_USER before a SID, or a zero for none. */
static HRESULT wbem_sid(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    if (size < 4)
        return too_few(4, size);
    if (get_u32(bytes) == 0)
        return behind(4, 0, size, out);
    return sid(2 * (size_t)type->pointer_size, bytes, size, out);
}

static HRESULT counted(const uint8_t *bytes, size_t size, bool reversed, struct value_extent *out)
{
    if (size < 2)
        return too_few(2, size);
    return behind(2, reversed ? (size_t)(bytes[0] << 8 | bytes[1]) : get_u16(bytes), size, out);
}

HRESULT value_extent(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    uint8_t fixed = fixed_size(type->in);
    if (fixed == BY_POINTER_SIZE)
        fixed = (uint8_t)type->pointer_size;
    if (fixed != ANY_SIZE)
        return behind(0, fixed, size, out);
    switch (type->in) {
    case IN_TYPE_UNICODESTRING:
        return terminated(type, 2, bytes, size, out);
    case IN_TYPE_ANSISTRING:
        return terminated(type, 1, bytes, size, out);
    case IN_TYPE_BINARY:
        return binary(type, size, out);
    case IN_TYPE_SID:
        return sid(0, bytes, size, out);
    case IN_TYPE_WBEMSID:
        return wbem_sid(type, bytes, size, out);
    case IN_TYPE_MANIFEST_COUNTEDSTRING:
    case IN_TYPE_MANIFEST_COUNTEDANSISTRING:
    case IN_TYPE_MANIFEST_COUNTEDBINARY:
    case IN_TYPE_COUNTEDSTRING:
    case IN_TYPE_COUNTEDANSISTRING:
        return counted(bytes, size, false, out);
    case IN_TYPE_REVERSEDCOUNTEDSTRING:
    case IN_TYPE_REVERSEDCOUNTEDANSISTRING:
        return counted(bytes, size, true, out);
    case IN_TYPE_NONNULLTERMINATEDSTRING:
    case IN_TYPE_NONNULLTERMINATEDANSISTRING:
        return behind(0, size, size, out);
    case IN_TYPE_HEXDUMP:
        return size < 4 ? too_few(4, size) : behind(4, get_u32(bytes), size, out);
    default:
        return error_set(EVENT_DATA_INVALID, "there are no values of the in-type %u", type->in);
    }
}

bool value_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out)
{
    switch (in_type) {
    case IN_TYPE_INT8:
        *out = size < 1 ? 0 : (uint64_t)(int8_t)bytes[0];
        return size >= 1;
    case IN_TYPE_UINT8:
        *out = size < 1 ? 0 : bytes[0];
        return size >= 1;
    case IN_TYPE_INT16:
        *out = size < 2 ? 0 : (uint64_t)(int16_t)get_u16(bytes);
        return size >= 2;
    case IN_TYPE_UINT16:
        *out = size < 2 ? 0 : get_u16(bytes);
        return size >= 2;
    case IN_TYPE_INT32:
        *out = size < 4 ? 0 : (uint64_t)(int32_t)get_u32(bytes);
        return size >= 4;
    case IN_TYPE_UINT32:
    case IN_TYPE_HEXINT32:
        *out = size < 4 ? 0 : get_u32(bytes);
        return size >= 4;
    case IN_TYPE_INT64:
    case IN_TYPE_UINT64:
    case IN_TYPE_HEXINT64:
        *out = size < 8 ? 0 : get_u64(bytes);
        return size >= 8;
    default:
        return false;
    }
}
