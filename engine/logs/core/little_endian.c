/* SPDX-License-Identifier: MIT */
/* A buffer of bytes that grows at its end. */
#include "engine/logs/little_endian.h"

#include "engine/base/memory.h"

#include <string.h>

uint8_t *byte_buffer_add(struct byte_buffer *b, size_t count)
{
    void *bytes = b->bytes;
    if (b->failed || !memory_grow(&bytes, &b->capacity, b->size + count + 1, 1)) {
        b->failed = true;
        return NULL;
    }
    b->bytes = bytes;
    memset(b->bytes + b->size, 0, count);
    b->size += count;
    return b->bytes + b->size - count;
}

void byte_buffer_put(struct byte_buffer *b, const void *bytes, size_t size)
{
    uint8_t *at = byte_buffer_add(b, size);
    if (at && size)
        memcpy(at, bytes, size);
}

void byte_buffer_u8(struct byte_buffer *b, uint8_t value)
{
    uint8_t *at = byte_buffer_add(b, 1);
    if (at)
        *at = value;
}

void byte_buffer_u16(struct byte_buffer *b, uint16_t value)
{
    uint8_t *at = byte_buffer_add(b, 2);
    if (at)
        put_u16(at, value);
}

void byte_buffer_u32(struct byte_buffer *b, uint32_t value)
{
    uint8_t *at = byte_buffer_add(b, 4);
    if (at)
        put_u32(at, value);
}

void byte_buffer_set_u32(struct byte_buffer *b, size_t at, uint32_t value)
{
    if (!b->failed)
        put_u32(b->bytes + at, value);
}
