/* SPDX-License-Identifier: MIT */
/* What who makes payload filters and who evaluates them agree on; payload_filter.h has the layout. */
#ifndef OPENPLA_PAYLOAD_LAYOUT_H
#define OPENPLA_PAYLOAD_LAYOUT_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/value_extent.h"
#include "engine/logs/little_endian.h"

#define PAYLOAD_MARK 0x46504C4Fu /* "OLPF" */
enum {
    PAYLOAD_VERSION = 1,
    PAYLOAD_HEAD = 12,
    PAYLOAD_EVENT_HEAD = 12,
    PAYLOAD_PROPERTY = 14,
    PAYLOAD_CONDITION_HEAD = 22,
    PAYLOAD_ANY = 1, /* one of the event's conditions is enough */
    PAYLOAD_ALL = 2, /* this filter of the event has to pass whatever others say */
    PAYLOAD_PROPERTY_FLAGS =
        PROPERTY_STRUCT | PROPERTY_PARAM_LENGTH | PROPERTY_PARAM_COUNT | PROPERTY_FIXED_LENGTH | PROPERTY_FIXED_COUNT,
};

static inline bool payload_type_is_signed(uint16_t in_type)
{
    return in_type == IN_TYPE_INT8 || in_type == IN_TYPE_INT16 || in_type == IN_TYPE_INT32 || in_type == IN_TYPE_INT64;
}

/* FILETIMEs are numbers here. */
static inline bool payload_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out)
{
    if (in_type != IN_TYPE_FILETIME)
        return value_number(in_type, bytes, size, out);
    *out = size >= 8 ? get_u64(bytes) : 0;
    return size >= 8;
}

#endif
