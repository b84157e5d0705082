/* SPDX-License-Identifier: MIT */
/* A hash for long data, such as set definitions and event metadata. */
#ifndef OPENPLA_HASH_LONG_H
#define OPENPLA_HASH_LONG_H

#include "engine/base/text.h"

#include <stdint.h>
#include <string.h>

/* Hashes the bytes faster than hash_bytes if there are more than a few dozen. Computes four separate hashes, each of
   every fourth 8-byte word, so that no multiplication waits for another one. The result differs from that of
   hash_bytes. */
static inline uint64_t hash_long(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t a = hash, b = hash ^ 1, c = hash ^ 2, d = hash ^ 3, parts[4];
    for (; size >= sizeof parts; p += sizeof parts, size -= sizeof parts) {
        memcpy(parts, p, sizeof parts);
        a = hash_number(a, parts[0]);
        b = hash_number(b, parts[1]);
        c = hash_number(c, parts[2]);
        d = hash_number(d, parts[3]);
        a ^= a >> 32; /* multiplication alone carries no bit downwards */
        b ^= b >> 32;
        c ^= c >> 32;
        d ^= d >> 32;
    }
    return hash_bytes(hash_number(hash_number(hash_number(a, b), c), d), p, size);
}

#endif
