/* SPDX-License-Identifier: MIT */
/* Valid and invalid cabinets for tests of the reader. They are built byte by byte, without the code under test. */
#ifndef OPENPLA_TESTS_BUILT_CABINET_H
#define OPENPLA_TESTS_BUILT_CABINET_H

#include "tests/unit/scratch_folder.h"

struct built_entry {
    const char *name;
    uint32_t size, offset;
    uint16_t folder, attributes;
};
struct built_cabinet {
    const struct built_entry *entries;
    size_t count;
    uint16_t flags, packing;
    /* The data of the single folder consist of one block. It has `packed` compressed bytes, which expand to `unpacked`
       bytes. */
    const uint8_t *data;
    uint16_t packed, unpacked;
    uint8_t reserve; /* number of reserved bytes after the header, the folder entry and the block header, with flag 4 */
    bool wrong_checksum;
};

struct built_bytes {
    uint8_t bytes[8192];
    size_t size;
};

static inline void built_put(struct built_bytes *b, uint32_t value, size_t size)
{
    for (size_t i = 0; i < size; i++, value >>= 8)
        b->bytes[b->size++] = (uint8_t)value;
}

static inline void built_patch(struct built_bytes *b, size_t at, uint32_t value, size_t size)
{
    struct built_bytes all = *b;
    b->size = at;
    built_put(b, value, size);
    b->size = all.size;
}

static inline uint32_t built_word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Offsets in a cabinet without reserved bytes, for tests that corrupt one. */
enum {
    BUILT_SIZE = 8,
    BUILT_FILES_AT = 16,
    BUILT_VERSION = 24,
    BUILT_FOLDERS = 26,
    BUILT_FILES = 28,
    BUILT_FOLDER = 36
};

/* The checksum of MS-CAB: the exclusive or of all 4-byte words. If 1 to 3 bytes remain, they form one more word, and
   their first byte is the highest. */
static inline uint32_t built_checksum(const uint8_t *at, size_t size, uint32_t sum)
{
    uint32_t rest = 0;
    for (; size >= 4; at += 4, size -= 4)
        sum ^= built_word(at);
    for (; size; size--)
        rest = rest << 8 | *at++;
    return sum ^ rest;
}

static inline void built_build(const struct built_cabinet *m, struct built_bytes *b)
{
    uint8_t lengths[4] = {(uint8_t)m->packed, (uint8_t)(m->packed >> 8), (uint8_t)m->unpacked,
                          (uint8_t)(m->unpacked >> 8)};
    memset(b, 0, sizeof *b);
    built_put(b, 0x4643534D, 4);
    built_put(b, 0, 12);
    built_put(b, 0, 8);
    built_put(b, 0x0103, 2);
    built_put(b, m->data ? 1 : 0, 2);
    built_put(b, (uint32_t)m->count, 2);
    built_put(b, m->flags, 2);
    built_put(b, 0, 4);
    if (m->flags & 4) {
        built_put(b, m->reserve, 2);
        built_put(b, m->reserve, 1);
        built_put(b, m->reserve, 1);
        b->size += m->reserve;
    }
    const size_t folder = b->size;
    if (m->data) {
        built_put(b, 0, 4);
        built_put(b, 1, 2);
        built_put(b, m->packing, 2);
        b->size += m->reserve;
    }
    built_patch(b, BUILT_FILES_AT, (uint32_t)b->size, 4);
    for (size_t i = 0; i < m->count; i++) {
        const struct built_entry *e = &m->entries[i];
        built_put(b, e->size, 4);
        built_put(b, e->offset, 4);
        built_put(b, e->folder, 2);
        built_put(b, 0x5B77, 2); /* 23.11.2025 */
        built_put(b, 0x6000, 2); /* 12:00 */
        built_put(b, e->attributes, 2);
        assert_true(b->size + strlen(e->name) + 1 < sizeof b->bytes);
        memcpy(b->bytes + b->size, e->name, strlen(e->name) + 1);
        b->size += strlen(e->name) + 1;
    }
    if (m->data) {
        built_patch(b, folder, (uint32_t)b->size, 4);
        built_put(b, built_checksum(lengths, 4, built_checksum(m->data, m->packed, 0)) ^ m->wrong_checksum, 4);
        built_put(b, m->packed, 2);
        built_put(b, m->unpacked, 2);
        b->size += m->reserve;
        assert_true(b->size + m->packed < sizeof b->bytes);
        memcpy(b->bytes + b->size, m->data, m->packed);
        b->size += m->packed;
    }
    built_patch(b, BUILT_SIZE, (uint32_t)b->size, 4);
}

static inline void built_store(const struct built_bytes *b, const char *path)
{
    assert_int_equal(file_store(path, b->bytes, b->size), S_OK);
}

#endif
