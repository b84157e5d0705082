/* SPDX-License-Identifier: MIT */
/* Reads and writes the primitive types of NDR, and allocates the memory of decoded bodies. */
#include "engine/rpc/ndr.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"

#include <string.h>

struct ndr_reader ndr_reader_over(const void *bytes, size_t size)
{
    static const uint8_t nothing[1];
    return (struct ndr_reader){.bytes = size ? bytes : nothing, .size = size};
}

void ndr_fail(struct ndr_reader *r, uint32_t fault)
{
    assert(fault != 0);
    if (!r->fault)
        r->fault = fault;
}

const uint8_t *ndr_take(struct ndr_reader *r, size_t align, size_t size)
{
    assert(align && align <= 8 && !(align & (align - 1)));
    assert(r->at <= r->size);
    const size_t gap = (align - r->at % align) % align;
    if (!r->fault && (r->size - r->at < gap || r->size - r->at - gap < size))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (r->fault)
        return NULL;
    const uint8_t *at = r->bytes + r->at + gap;
    r->at += gap + size;
    return at;
}

uint8_t ndr_read_u8(struct ndr_reader *r)
{
    const uint8_t *at = ndr_take(r, 1, 1);
    return at ? *at : 0;
}

uint16_t ndr_read_u16(struct ndr_reader *r)
{
    const uint8_t *at = ndr_take(r, 2, 2);
    return at ? ndr_load_u16(at) : 0;
}

uint32_t ndr_read_u32(struct ndr_reader *r)
{
    const uint8_t *at = ndr_take(r, 4, 4);
    return at ? ndr_load_u32(at) : 0;
}

uint64_t ndr_read_u64(struct ndr_reader *r)
{
    const uint8_t *at = ndr_take(r, 8, 8);
    return at ? ndr_load_u32(at) | (uint64_t)ndr_load_u32(at + 4) << 32 : 0;
}

GUID ndr_read_guid(struct ndr_reader *r)
{
    GUID guid = {0};
    const uint8_t *at = ndr_take(r, 4, 16);
    if (!at)
        return guid;
    guid.Data1 = ndr_load_u32(at);
    guid.Data2 = ndr_load_u16(at + 4);
    guid.Data3 = ndr_load_u16(at + 6);
    memcpy(guid.Data4, at + 8, 8);
    return guid;
}

void ndr_expect_u32(struct ndr_reader *r, uint32_t expected)
{
    if (ndr_read_u32(r) != expected)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
}

bool ndr_can_hold(struct ndr_reader *r, uint64_t count, size_t size)
{
    if (!r->fault && count > (r->size - r->at) / size)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    return !r->fault;
}

struct ndr_block {
    struct ndr_block *next;
    uint64_t bytes[]; /* aligned for all types that are stored here */
};

void *ndr_arena_take(struct ndr_arena *arena, size_t count, size_t size)
{
    const size_t most = arena->most ? arena->most : NDR_ARENA_BYTES;
    if (size && count > (most - sizeof(struct ndr_block)) / size)
        return NULL;
    const size_t bytes = sizeof(struct ndr_block) + count * size;
    if (bytes > most - arena->used)
        return NULL;
    struct ndr_block *block = memory_zero(1, bytes);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used += bytes;
    return block->bytes;
}

void ndr_arena_free(struct ndr_arena *arena)
{
    while (arena->blocks) {
        struct ndr_block *block = arena->blocks;
        arena->blocks = block->next;
        memory_free(block);
    }
    arena->used = 0;
}

uint8_t *ndr_add(struct ndr_writer *w, size_t align, size_t size)
{
    assert(align && align <= 8 && !(align & (align - 1)));
    const size_t most = w->most ? w->most : NDR_WRITER_BYTES;
    const size_t gap = (align - w->size % align) % align;
    if (w->failed || w->size + gap > most || size > most - w->size - gap) {
        w->failed = true;
        return NULL;
    }
    const size_t need = w->size + gap + size;
    if (need > w->capacity) {
        const size_t capacity = need < 128 ? 256 : need * 2;
        uint8_t *bytes = memory_resize(w->bytes, capacity);
        if (!bytes) {
            w->failed = true;
            return NULL;
        }
        w->bytes = bytes;
        w->capacity = capacity;
    }
    uint8_t *at = w->bytes ? w->bytes + w->size : NULL;
    if (at)
        memset(at, 0, gap + size);
    w->size = need;
    return at ? at + gap : NULL;
}

void ndr_write_u8(struct ndr_writer *w, uint8_t value)
{
    uint8_t *at = ndr_add(w, 1, 1);
    if (at)
        *at = value;
}

void ndr_write_u16(struct ndr_writer *w, uint16_t value)
{
    uint8_t *at = ndr_add(w, 2, 2);
    if (at)
        ndr_store_u16(at, value);
}

void ndr_write_u32(struct ndr_writer *w, uint32_t value)
{
    uint8_t *at = ndr_add(w, 4, 4);
    if (at)
        ndr_store_u32(at, value);
}

void ndr_write_u64(struct ndr_writer *w, uint64_t value)
{
    uint8_t *at = ndr_add(w, 8, 8);
    if (at)
        ndr_store_u64(at, value);
}

void ndr_write_guid(struct ndr_writer *w, const GUID *guid)
{
    uint8_t *at = ndr_add(w, 4, 16);
    if (!at)
        return;
    ndr_store_u32(at, guid->Data1);
    ndr_store_u16(at + 4, guid->Data2);
    ndr_store_u16(at + 6, guid->Data3);
    memcpy(at + 8, guid->Data4, 8);
}

void ndr_write_bytes(struct ndr_writer *w, const void *bytes, size_t size)
{
    uint8_t *at = ndr_add(w, 1, size);
    if (at && size)
        memcpy(at, bytes, size);
}

void ndr_set_u16(struct ndr_writer *w, size_t at, uint16_t value)
{
    if (w->failed)
        return;
    assert(at + 2 <= w->size);
    ndr_store_u16(w->bytes + at, value);
}

void ndr_set_u32(struct ndr_writer *w, size_t at, uint32_t value)
{
    if (w->failed)
        return;
    assert(at + 4 <= w->size);
    ndr_store_u32(w->bytes + at, value);
}

void ndr_writer_free(struct ndr_writer *w)
{
    memory_free(w->bytes);
    *w = (struct ndr_writer){0};
}
