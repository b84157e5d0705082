/* SPDX-License-Identifier: MIT */
/* Bytes that grow at their end. */
#ifndef OPENPLA_BYTE_BUFFER_H
#define OPENPLA_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; memory_free(bytes). A failed allocation sticks. Numbers are little endian. */
struct byte_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};
/* So many zeros; where they begin, NULL when memory is out. */
uint8_t *byte_buffer_add(struct byte_buffer *b, size_t count);
void byte_buffer_put(struct byte_buffer *b, const void *bytes, size_t size);
void byte_buffer_u8(struct byte_buffer *b, uint8_t value);
void byte_buffer_u16(struct byte_buffer *b, uint16_t value);
void byte_buffer_u32(struct byte_buffer *b, uint32_t value);
/* What stands at a place already. */
void byte_buffer_set_u32(struct byte_buffer *b, size_t at, uint32_t value);

#endif
