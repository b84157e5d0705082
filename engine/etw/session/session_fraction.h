/* SPDX-License-Identifier: MIT */
/* Fractions of 2^64: what a clock's rate is kept as. Compilers for 32 bits have no product of 128. */
#ifndef OPENPLA_SESSION_FRACTION_H
#define OPENPLA_SESSION_FRACTION_H

#include <stdint.h>

/* a * b / 2^64. */
static inline uint64_t fraction_of_halves(uint64_t a, uint64_t b)
{
    const uint64_t low = (uint32_t)a, high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = high * b_low + (low * b_low >> 32), other = low * b_high + (uint32_t)middle;
    return high * b_high + (middle >> 32) + (other >> 32);
}

/* part * 2^64 / whole, of a part that is less. */
static inline uint64_t fraction_by_bits(uint64_t part, uint64_t whole)
{
    uint64_t fraction = 0;
    for (int bit = 0; bit < 64; bit++) {
        const uint64_t over = part >> 63;
        part <<= 1;
        fraction <<= 1;
        if (over != 0 || part >= whole) {
            part -= whole;
            fraction |= 1;
        }
    }
    return fraction;
}

static inline uint64_t fraction_of(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)((unsigned __int128)a * b >> 64);
#else
    return fraction_of_halves(a, b);
#endif
}

static inline uint64_t fraction(uint64_t part, uint64_t whole)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)(((unsigned __int128)part << 64) / whole);
#else
    return fraction_by_bits(part, whole);
#endif
}

#endif
