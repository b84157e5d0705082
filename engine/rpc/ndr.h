/* SPDX-License-Identifier: MIT */
/* NDR 2.0, little endian (C706 14): a reader that never reads beyond its bytes, and a writer that grows. Reader and
   writer align a value by its offset from the first byte. In a call, the first byte is the beginning of the stub. */
#ifndef OPENPLA_RPC_NDR_H
#define OPENPLA_RPC_NDR_H

#include "engine/base/wintypes.h"

/* The faults that a body can cause, as the status of a fault PDU (C706 appendix E, MS-RPCE, MS-DCOM 2.2.21). */
#define RPC_FAULT_OPNUM        0x1C010002u /* the interface has no such method */
#define RPC_FAULT_PROTOCOL     0x1C01000Bu
#define RPC_FAULT_NO_OBJECT    0x1C000016u
#define RPC_FAULT_CONTEXT      0x1C00001Au /* unknown presentation context */
#define RPC_FAULT_NO_MEMORY    0x1C00001Bu
#define RPC_FAULT_DENIED       5u
#define RPC_FAULT_BAD_STUB     0x6F7u /* RPC_X_BAD_STUB_DATA */
#define RPC_FAULT_SECURITY     0x721u /* RPC_S_SEC_PKG_ERROR */
#define RPC_FAULT_DISCONNECTED 0x80010108u
#define RPC_FAULT_VERSION      0x80010110u /* unsupported version in ORPCTHIS */
#define RPC_FAULT_WRONG_IPID   0x80010114u /* request and presentation context have different interfaces */
#define RPC_FAULT_WRONG_OBJREF 0x8001011Du

/* ---- numbers at any address ---- */

static inline uint16_t ndr_load_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t ndr_load_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void ndr_store_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void ndr_store_u32(uint8_t *at, uint32_t value)
{
    ndr_store_u16(at, (uint16_t)value);
    ndr_store_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void ndr_store_u64(uint8_t *at, uint64_t value)
{
    ndr_store_u32(at, (uint32_t)value);
    ndr_store_u32(at + 4, (uint32_t)(value >> 32));
}

/* ---- reader ----
   The bytes are borrowed. The first failure is kept in `fault`; from then on, every read returns zeros and NULL, so
   that a caller can read a whole structure and check once. */

struct ndr_reader {
    const uint8_t *bytes;
    size_t size, at;
    uint32_t fault; /* 0, or the status for the answer */
};

struct ndr_reader ndr_reader_over(const void *bytes, size_t size);
void ndr_fail(struct ndr_reader *r, uint32_t fault); /* keeps an earlier fault */
/* Returns `size` bytes at the next multiple of `align` (a power of two, at most 8); NULL: there are too few bytes. */
const uint8_t *ndr_take(struct ndr_reader *r, size_t align, size_t size);
uint8_t ndr_read_u8(struct ndr_reader *r);
uint16_t ndr_read_u16(struct ndr_reader *r);
uint32_t ndr_read_u32(struct ndr_reader *r);
uint64_t ndr_read_u64(struct ndr_reader *r);
GUID ndr_read_guid(struct ndr_reader *r);
/* Reads a conformance, which must equal `expected`. */
void ndr_expect_u32(struct ndr_reader *r, uint32_t expected);
/* Whether `count` items of at least `size` bytes can still follow; if not, the reader fails. Call this function before
   allocating memory for a count from the network. */
bool ndr_can_hold(struct ndr_reader *r, uint64_t count, size_t size);

/* ---- memory of a decoded body ----
   Blocks that are freed together. Zero-initialise, or set `most`. */

#define NDR_ARENA_BYTES ((size_t)16 << 20) /* the limit if `most` is 0 */
struct ndr_arena {
    struct ndr_block *blocks;
    size_t used, most;
};
/* Allocates count * size zero bytes; NULL: out of memory, or above the limit. */
void *ndr_arena_take(struct ndr_arena *arena, size_t count, size_t size);
void ndr_arena_free(struct ndr_arena *arena);

/* ---- writer ----
   Zero-initialise. A failed allocation, or a size above `most` (0: NDR_WRITER_BYTES), sets `failed`, which is never
   reset. */

#define NDR_WRITER_BYTES ((size_t)64 << 20)
struct ndr_writer {
    uint8_t *bytes;
    size_t size, capacity, most;
    bool failed;
};
/* Appends `size` zero bytes at the next multiple of `align`, with zeros in the gap. The pointer is valid until the next
   call; NULL: failed. */
uint8_t *ndr_add(struct ndr_writer *w, size_t align, size_t size);
void ndr_write_u8(struct ndr_writer *w, uint8_t value);
void ndr_write_u16(struct ndr_writer *w, uint16_t value);
void ndr_write_u32(struct ndr_writer *w, uint32_t value);
void ndr_write_u64(struct ndr_writer *w, uint64_t value);
void ndr_write_guid(struct ndr_writer *w, const GUID *guid);
void ndr_write_bytes(struct ndr_writer *w, const void *bytes, size_t size); /* without alignment */
void ndr_set_u16(struct ndr_writer *w, size_t at, uint16_t value);
void ndr_set_u32(struct ndr_writer *w, size_t at, uint32_t value);
void ndr_writer_free(struct ndr_writer *w); /* also zero-initialises the writer */

#endif
