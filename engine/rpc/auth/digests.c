/* SPDX-License-Identifier: MIT */
/* Computes MD4, MD5, HMAC-MD5 and RC4 for NTLM. */
#include "engine/rpc/auth/digests.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/rpc/ndr.h"

#include <string.h>

typedef void digest_block(uint32_t state[4], const uint8_t *block);

static const uint32_t digest_start[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};

static uint32_t rotate_left(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static void md4_block(uint32_t state[4], const uint8_t *block)
{
    static const uint8_t order[3][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                         {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
                                         {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}};
    static const uint8_t shifts[3][4] = {{3, 7, 11, 19}, {3, 5, 9, 13}, {3, 9, 11, 15}};
    static const uint32_t constants[3] = {0, 0x5A827999, 0x6ED9EBA1};
    uint32_t v[4];
    memcpy(v, state, sizeof v);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 16; i++) {
            uint32_t *a = &v[(16 - i) % 4];
            const uint32_t b = v[(17 - i) % 4], c = v[(18 - i) % 4], d = v[(19 - i) % 4];
            const uint32_t f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
            *a = rotate_left(*a + f + ndr_load_u32(block + 4 * order[round][i]) + constants[round],
                             shifts[round][i % 4]);
        }
    for (unsigned i = 0; i < 4; i++)
        state[i] += v[i];
    memory_wipe(v, sizeof v);
}

static void md5_block(uint32_t state[4], const uint8_t *block)
{
    /* The integer part of 2^32 * |sin(i + 1)|. */
    static const uint32_t sines[64] = {
        0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501,
        0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821,
        0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8,
        0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A,
        0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70,
        0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665,
        0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1,
        0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391};
    static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const uint8_t steps[4] = {1, 5, 3, 7}, starts[4] = {0, 1, 5, 0};
    uint32_t v[4];
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; i++) {
        const unsigned round = i / 16, word = (starts[round] + i * steps[round]) % 16;
        uint32_t *a = &v[(64 - i) % 4];
        const uint32_t b = v[(65 - i) % 4], c = v[(66 - i) % 4], d = v[(67 - i) % 4];
        const uint32_t f = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (d & b) | (~d & c)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
        *a = b + rotate_left(*a + f + ndr_load_u32(block + 4 * word) + sines[i], shifts[round][i % 4]);
    }
    for (unsigned i = 0; i < 4; i++)
        state[i] += v[i];
    memory_wipe(v, sizeof v);
}

static void digest_add(digest_block *add_block, struct md5 *m, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size) {
        const size_t filled = m->length % 64, part = size < 64 - filled ? size : 64 - filled;
        memcpy(m->block + filled, at, part);
        m->length += part;
        at += part;
        size -= part;
        if (filled + part == 64)
            add_block(m->state, m->block);
    }
}

/* Pads the message with a one bit, zeros and the length in bits, and writes the digest. */
static void digest_end(digest_block *add_block, struct md5 *m, uint8_t out[DIGEST_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint8_t length[8];
    ndr_store_u64(length, m->length * 8);
    digest_add(add_block, m, padding, (119 - m->length % 64) % 64 + 1);
    digest_add(add_block, m, length, sizeof length);
    for (size_t i = 0; i < 4; i++)
        ndr_store_u32(out + 4 * i, m->state[i]);
    memory_wipe(m, sizeof *m);
}

void md5_begin(struct md5 *m)
{
    *m = (struct md5){0};
    memcpy(m->state, digest_start, sizeof m->state);
}

void md5_add(struct md5 *m, const void *bytes, size_t size)
{
    digest_add(md5_block, m, bytes, size);
}

void md5_end(struct md5 *m, uint8_t out[DIGEST_BYTES])
{
    digest_end(md5_block, m, out);
}

void md4_digest(const void *bytes, size_t size, uint8_t out[DIGEST_BYTES])
{
    struct md5 m;
    md5_begin(&m); /* MD4 and MD5 start from the same state */
    digest_add(md4_block, &m, bytes, size);
    digest_end(md4_block, &m, out);
}

void hmac_md5_begin(struct hmac_md5 *h, const uint8_t *key, size_t key_size)
{
    uint8_t inner[64], outer[64];
    assert(key_size <= sizeof inner);
    for (size_t i = 0; i < sizeof inner; i++) {
        const uint8_t byte = i < key_size ? key[i] : 0;
        inner[i] = byte ^ 0x36;
        outer[i] = byte ^ 0x5C;
    }
    md5_begin(&h->inner);
    md5_add(&h->inner, inner, sizeof inner);
    md5_begin(&h->outer);
    md5_add(&h->outer, outer, sizeof outer);
    memory_wipe(inner, sizeof inner);
    memory_wipe(outer, sizeof outer);
}

void hmac_md5_add(struct hmac_md5 *h, const void *bytes, size_t size)
{
    md5_add(&h->inner, bytes, size);
}

void hmac_md5_end(struct hmac_md5 *h, uint8_t out[DIGEST_BYTES])
{
    uint8_t inner[DIGEST_BYTES];
    md5_end(&h->inner, inner);
    md5_add(&h->outer, inner, sizeof inner);
    md5_end(&h->outer, out);
    memory_wipe(inner, sizeof inner);
}

static void rc4_swap(struct rc4 *r, uint8_t i, uint8_t j)
{
    const uint8_t kept = r->state[i];
    r->state[i] = r->state[j];
    r->state[j] = kept;
}

void rc4_begin(struct rc4 *r, const uint8_t *key, size_t key_size)
{
    uint8_t j = 0;
    r->i = r->j = 0;
    for (unsigned i = 0; i < 256; i++)
        r->state[i] = (uint8_t)i;
    for (unsigned i = 0; i < 256; i++) {
        j = (uint8_t)(j + r->state[i] + key[i % key_size]);
        rc4_swap(r, (uint8_t)i, j);
    }
}

void rc4_apply(struct rc4 *r, uint8_t *bytes, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        r->i++;
        r->j = (uint8_t)(r->j + r->state[r->i]);
        rc4_swap(r, r->i, r->j);
        bytes[k] ^= r->state[(uint8_t)(r->state[r->i] + r->state[r->j])];
    }
}

bool secret_bytes_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < size; i++)
        difference = difference | (uint8_t)(a[i] ^ b[i]);
    return difference == 0;
}
