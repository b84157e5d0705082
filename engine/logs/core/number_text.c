/* SPDX-License-Identifier: MIT */
/* "%.20g" without printf for the numbers that performance logs hold.

   A double is m * 2^e with m below 2^53, so its decimal digits can be had exactly from integers of 128 bits:
   whole numbers directly; from 1 on, the fraction times the power of ten that gives 20 digits in all; below 1, two
   chunks of ten digits, the second from the remainder of the first. Every remainder is exact, so the rounding is.
   It never carries into another count of digits: the nearest double below a power of ten is thousands of units of the
   20th digit away (from 1 to 2^52 by the size of the mantissa; from 1e-13 to 1 each power was looked at).
   Numbers from 2^64 on and below 1e-13 are rare in logs and go through snprintf (MinGW's own, never msvcrt's: that
   one writes three digits of exponent and rounds ties differently); so does every fraction where the compiler has no
   integers of 128 bits, as for 32-bit programs. */
#include "engine/logs/core/number_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS = 20,
    CHUNK = 10,
    MANTISSA_BITS = 52,
    MAX_ZEROS = 12 /* 1e-13 has 12 zeros behind the point */,
    MAX_DOWN = 96 /* and is a mantissa divided by 2^96 */
};

static size_t put_whole(uint64_t value, char *text)
{
    char digits[20];
    size_t length = 0;
    do {
        digits[sizeof digits - ++length] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(text, digits + sizeof digits - length, length);
    return length;
}

/* snprintf's point follows the process's locale, which belongs to whoever loaded us. */
static size_t put_by_library(double value, char *text)
{
    char local[NUMBER_TEXT_SIZE + 16];
    int size = snprintf(local, sizeof local, "%.20g", value);
    size_t length = 0;
    bool point = false;
    for (int i = 0; i < size && length < NUMBER_TEXT_SIZE - 1; i++) {
        if (strchr("0123456789+-e", local[i])) {
            text[length++] = local[i];
        } else if (!point) {
            point = true;
            text[length++] = '.';
        }
    }
    return length;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

static const uint64_t power_of_ten[20] = {1u,
                                          10u,
                                          100u,
                                          1000u,
                                          10000u,
                                          100000u,
                                          1000000u,
                                          10000000u,
                                          100000000u,
                                          1000000000u,
                                          10000000000u,
                                          100000000000u,
                                          1000000000000u,
                                          10000000000000u,
                                          100000000000000u,
                                          1000000000000000u,
                                          10000000000000000u,
                                          100000000000000000u,
                                          1000000000000000000u,
                                          10000000000000000000u};

/* 5^10 .. 5^22: what the first chunk of a number with 0 .. 12 zeros is multiplied with (the 2s are a shift). */
static const uint64_t power_of_five[MAX_ZEROS + 1] = {
    9765625u,      48828125u,      244140625u,      1220703125u,     6103515625u,      30517578125u,     152587890625u,
    762939453125u, 3814697265625u, 19073486328125u, 95367431640625u, 476837158203125u, 2384185791015625u};

/* The smallest double with so many zeros behind the point, or its neighbour: a first guess, corrected by the digits. */
static const double zeros_limit[MAX_ZEROS + 1] = {1e-1, 1e-2, 1e-3,  1e-4,  1e-5,  1e-6, 1e-7,
                                                  1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13};

/* Exactly `width` digits, with zeros in front. */
static void put_padded(uint64_t value, size_t width, char *text)
{
    while (width > 0) {
        text[--width] = (char)('0' + value % 10);
        value /= 10;
    }
}

static size_t without_trailing_zeros(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '0')
        length--;
    return length;
}

/* quotient + 1 when the remainder is above half of 2^bits, or is half and the quotient odd. */
static uint64_t rounded(uint64_t quotient, uint128 remainder, unsigned bits)
{
    uint128 half = (uint128)1 << (bits - 1);
    return quotient + (remainder > half || (remainder == half && (quotient & 1) != 0));
}

/* whole + fraction / 2^bits, 1 <= whole < 2^52, 0 < fraction. */
static size_t put_mixed(uint64_t whole, uint64_t fraction, unsigned bits, char *text)
{
    size_t length = put_whole(whole, text), places = DIGITS - length;
    uint128 product = (uint128)fraction * power_of_ten[places];
    uint64_t digits = rounded((uint64_t)(product >> bits), product & (((uint128)1 << bits) - 1), bits);
    text[length] = '.';
    put_padded(digits, places, text + length + 1);
    places = without_trailing_zeros(text + length + 1, places);
    return places == 0 ? length : length + 1 + places;
}

/* mantissa / 2^bits, at least 1e-13 and below 1. */
static size_t put_fraction(double value, uint64_t mantissa, unsigned bits, char *text)
{
    unsigned zeros = 0;
    while (zeros < MAX_ZEROS && value < zeros_limit[zeros])
        zeros++;
    uint128 product;
    uint64_t first;
    unsigned shift;
    for (;;) {
        product = (uint128)mantissa * power_of_five[zeros];
        shift = bits - (CHUNK + zeros);
        first = (uint64_t)(product >> shift);
        if (first >= power_of_ten[CHUNK] && zeros > 0)
            zeros--;
        else if (first < power_of_ten[CHUNK - 1] && zeros < MAX_ZEROS)
            zeros++;
        else
            break;
    }
    product = (product & (((uint128)1 << shift) - 1)) * power_of_five[0];
    shift -= CHUNK;
    uint64_t second = rounded((uint64_t)(product >> shift), product & (((uint128)1 << shift) - 1), shift);
    if (second == power_of_ten[CHUNK]) {
        second = 0;
        first++;
    }
    char digits[DIGITS];
    put_padded(first, CHUNK, digits);
    put_padded(second, CHUNK, digits + CHUNK);
    size_t count = without_trailing_zeros(digits, DIGITS), length;
    if (zeros < 4) { /* %g: an exponent below -4 is written as one */
        memcpy(text, "0.0000", 2 + zeros);
        memcpy(text + 2 + zeros, digits, count);
        return 2 + zeros + count;
    }
    text[0] = digits[0];
    length = 1;
    if (count > 1) {
        text[length++] = '.';
        memcpy(text + length, digits + 1, count - 1);
        length += count - 1;
    }
    text[length++] = 'e';
    text[length++] = '-';
    put_padded(zeros + 1, 2, text + length);
    return length + 2;
}

/* mantissa / 2^bits, which is no whole number. */
static size_t put_broken(double value, uint64_t mantissa, unsigned bits, char *text)
{
    if (bits <= MANTISSA_BITS)
        return put_mixed(mantissa >> bits, mantissa & (((uint64_t)1 << bits) - 1), bits, text);
    if (bits > MAX_DOWN || value < zeros_limit[MAX_ZEROS])
        return put_by_library(value, text);
    return put_fraction(value, mantissa, bits, text);
}
#else
static size_t put_broken(double value, uint64_t mantissa, unsigned bits, char *text)
{
    (void)mantissa, (void)bits;
    return put_by_library(value, text);
}
#endif

static size_t put_magnitude(double value, uint64_t bits, char *text)
{
    unsigned exponent = (unsigned)(bits >> MANTISSA_BITS) & 0x7FF;
    uint64_t mantissa = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    if (exponent == 0x7FF) {
        memcpy(text, mantissa == 0 ? "inf" : "nan", sizeof "inf");
        return 3;
    }
    if (exponent == 0 && mantissa == 0) {
        text[0] = '0';
        return 1;
    }
    mantissa |= (uint64_t)1 << MANTISSA_BITS; /* numbers too small for it are below 1e-13 */
    int power = (int)exponent - 1023 - MANTISSA_BITS;
    if (power >= 0)
        return power <= 11 ? put_whole(mantissa << power, text) : put_by_library(value, text);
    unsigned down = (unsigned)-power;
    if (down <= MANTISSA_BITS && !(mantissa & (((uint64_t)1 << down) - 1)))
        return put_whole(mantissa >> down, text);
    return put_broken(value, mantissa, down, text);
}

size_t number_text(double value, char text[NUMBER_TEXT_SIZE])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t length = 0;
    if ((bits >> 63) != 0) {
        text[length++] = '-';
        bits &= ~((uint64_t)1 << 63);
        value = -value;
    }
    length += put_magnitude(value, bits, text + length);
    text[length] = '\0';
    return length;
}
