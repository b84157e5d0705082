/* SPDX-License-Identifier: MIT */
/* Writes the parts of a value one after another into space that was reserved for the whole value. An export writes
   dozens of short parts per event, and a call for each of them would take longer than everything else. */
#ifndef OPENPLA_EXPORT_PUT_H
#define OPENPLA_EXPORT_PUT_H

#include "engine/base/text.h"
#include "engine/base/text_put.h"

enum { EXPORT_PUT_TIME = 1 + TEXT_PUT_DECIMAL + 1 + 4 }; /* maximum length of a time */

/* Writes a string literal and returns its end. The compiler replaces the copy with a few stores. */
#define EXPORT_PUT(at, literal) ((char *)memcpy((at), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* Writes a time as a decimal number. `unit` is 10 to the power of `digits`, the number of digits after the point. If
   the fraction is 0, writes only the part before the point. */
static inline char *export_put_decimal(char *at, int64_t time, uint64_t unit, unsigned digits)
{
    const uint64_t positive = time < 0 ? 0 - (uint64_t)time : (uint64_t)time, fraction = positive % unit;
    if (time < 0)
        *at++ = '-';
    at = text_put_u64(at, positive / unit);
    if (fraction == 0)
        return at;
    *at++ = '.';
    return text_put_digits(at, fraction, digits);
}

/* Write a time in microseconds or milliseconds with all digits. */
static inline char *export_put_us(char *at, int64_t time)
{
    return export_put_decimal(at, time, 10, 1);
}

static inline char *export_put_ms(char *at, int64_t time)
{
    return export_put_decimal(at, time, 10000, 4);
}

/* Writes a number that the format defines as a signed 32-bit integer. */
static inline char *export_put_i32(char *at, uint32_t value)
{
    const int64_t number = (int32_t)value;
    if (number < 0)
        *at++ = '-';
    return text_put_u64(at, (uint64_t)(number < 0 ? -number : number));
}

/* Call it after a value was written to the space that text_buffer_reserve returned. `at` is the end of the value. */
static inline void export_put_end(struct text_buffer *b, char *at)
{
    *at = 0;
    b->length = (size_t)(at - b->text);
}

#endif
