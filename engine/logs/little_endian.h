/* SPDX-License-Identifier: MIT */
/* Reads and writes little-endian integers in the bytes of binary logs, at any address, on any host OS. This header also
   defines a growing buffer. */
#ifndef OPENPLA_LITTLE_ENDIAN_H
#define OPENPLA_LITTLE_ENDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The numbers are copied as a whole. If the code wrote the numbers byte by byte, the compiler would join the bytes of
   two adjacent numbers into one vector. Joining the bytes takes several times as long. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_U16(value) __builtin_bswap16(value)
#define LITTLE_U32(value) __builtin_bswap32(value)
#define LITTLE_U64(value) __builtin_bswap64(value)
#else
#define LITTLE_U16(value) (value)
#define LITTLE_U32(value) (value)
#define LITTLE_U64(value) (value)
#endif

static inline void put_u16(uint8_t *at, uint16_t value)
{
    value = LITTLE_U16(value);
    memcpy(at, &value, sizeof value);
}

static inline void put_u32(uint8_t *at, uint32_t value)
{
    value = LITTLE_U32(value);
    memcpy(at, &value, sizeof value);
}

static inline void put_u64(uint8_t *at, uint64_t value)
{
    value = LITTLE_U64(value);
    memcpy(at, &value, sizeof value);
}

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return LITTLE_U16(value);
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return LITTLE_U32(value);
}

static inline uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return LITTLE_U64(value);
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
