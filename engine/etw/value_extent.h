/* SPDX-License-Identifier: MIT */
/* How many bytes of an event's data a value takes, and which of them are its own. */
#ifndef OPENPLA_VALUE_EXTENT_H
#define OPENPLA_VALUE_EXTENT_H

#include "engine/base/error.h"
#include "engine/etw/decode/value_types.h"

/* What data say that do not fit their schema. */
#define EVENT_DATA_INVALID HRESULT_FROM_WIN32(15005) /* ERROR_EVT_INVALID_EVENT_DATA */

struct value_type {
    uint16_t in, out; /* enum value_in_type, value_out_type */
    bool has_length;
    uint32_t length;       /* characters of strings, bytes of all else */
    uint32_t pointer_size; /* 4 or 8 */
    bool six_decimals;     /* of floating-point numbers; else as many digits as read back as the same number */
};
struct value_extent {
    size_t size;        /* all that it takes */
    size_t at, content; /* where what it says begins, and its bytes: without a count before it, and a NUL behind it */
};

/* Of the value at the start of `size` bytes. EVENT_DATA_INVALID with a text: they are too few for it, or no such type
   is known. */
HRESULT value_extent(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out);
/* Bytes of each value of an in-type; 0: values have different sizes, or the type is unknown. `pointer_size`: 4, 8, or 0
   without an event. */
uint16_t value_fixed_size(uint16_t in_type, uint32_t pointer_size);
/* Bytes before the first NUL of characters of `unit` bytes (1, 2), or all whole ones. */
size_t value_text_end(const uint8_t *bytes, size_t size, size_t unit);
/* The number of an integer of one to eight bytes, as signed or not as its type is; false: it is none. */
bool value_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out);

#endif
