/* SPDX-License-Identifier: MIT */
/* FNV-1a with 64 bits: buckets, and whether something is what it was before. Its upper bits are the well mixed ones.
   Begin with HASH_START and carry the value on. Texts without case: text_hash_nocase. */
#ifndef OPENPLA_HASH_H
#define OPENPLA_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xCBF29CE484222325u

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * 0x100000001B3u;
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        hash = hash_number(hash, p[i]);
    return hash;
}

/* Without the NUL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hash_number(hash, (unsigned char)*text);
    return hash;
}

#endif
