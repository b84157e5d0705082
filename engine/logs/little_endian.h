/* SPDX-License-Identifier: MIT */
/* Reads and writes little-endian integers in the bytes of binary logs, at any address, on any host OS. Also has a
   growing buffer. */
#ifndef OPENPLA_LITTLE_ENDIAN_H
#define OPENPLA_LITTLE_ENDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void put_u32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

static inline void put_u64(uint8_t *at, uint64_t value)
{
    put_u32(at, (uint32_t)value);
    put_u32(at + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t get_u64(const uint8_t *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

/* A growing buffer of bytes with little-endian numbers. Zero-initialise; free with memory_free(bytes). After a failed
   allocation, all later additions fail too. */
struct byte_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};
/* Adds `count` zero bytes and returns their address; NULL: out of memory. */
uint8_t *byte_buffer_add(struct byte_buffer *b, size_t count);
void byte_buffer_put(struct byte_buffer *b, const void *bytes, size_t size);
void byte_buffer_u8(struct byte_buffer *b, uint8_t value);
void byte_buffer_u16(struct byte_buffer *b, uint16_t value);
void byte_buffer_u32(struct byte_buffer *b, uint32_t value);
/* Overwrites the number at offset `at`. */
void byte_buffer_set_u32(struct byte_buffer *b, size_t at, uint32_t value);

#endif
