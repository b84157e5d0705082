/* SPDX-License-Identifier: MIT */
/* Decimal to double without strtod for the numbers that performance logs hold.

   Up to 38 digits are an integer of 128 bits. Times a power of ten that still fits, or divided by one: the quotient has
   more than 64 bits and an exact remainder, so it is rounded as the exact value is. Longer numbers and those beyond
   1e-40 and 1e38 are rare in logs and go through strtod. */
#include "engine/log/number_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum {
    HALF_DIGITS = 19, /* what 64 bits hold for certain */
    MAX_DIGITS = 2 * HALF_DIGITS,
    STEP = 27,     /* 5^27 is the largest power of five in 64 bits */
    MAX_DOWN = 40, /* 5^(40-27) still leaves 64 bits of a quotient */
    MAX_EXPONENT = 100000,
    MANTISSA_BITS = 53,
    LONGEST = 128 /* of a number that goes through strtod, in characters; more digits than that change nothing */
};

static const uint64_t power_of_five[STEP + 1] = {1u,
                                                 5u,
                                                 25u,
                                                 125u,
                                                 625u,
                                                 3125u,
                                                 15625u,
                                                 78125u,
                                                 390625u,
                                                 1953125u,
                                                 9765625u,
                                                 48828125u,
                                                 244140625u,
                                                 1220703125u,
                                                 6103515625u,
                                                 30517578125u,
                                                 152587890625u,
                                                 762939453125u,
                                                 3814697265625u,
                                                 19073486328125u,
                                                 95367431640625u,
                                                 476837158203125u,
                                                 2384185791015625u,
                                                 11920928955078125u,
                                                 59604644775390625u,
                                                 298023223876953125u,
                                                 1490116119384765625u,
                                                 7450580596923828125u};

/* A number's parts as they stand in the text. */
struct decimal {
    uint64_t halves[2]; /* the first 19 digits without leading zeros, and the next 19 */
    int digits;         /* how many of them there are */
    int exponent;       /* the value is digits * 10^exponent */
    bool negative;
    bool cut; /* there were more digits than that, not all zeros */
};

static int top_bit(uint128 v)
{
    const uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

/* v * 2^exponent to the nearest double, ties to even; `more`: a little more than v. The result must be normal. */
static double rounded(uint128 v, int exponent, bool more)
{
    const int shift = top_bit(v) - (MANTISSA_BITS - 1);
    uint64_t mantissa;
    if (shift <= 0) {
        mantissa = (uint64_t)v << -shift;
    } else {
        const uint128 half = (uint128)1 << (shift - 1), rest = v & ((half << 1) - 1);
        mantissa = (uint64_t)(v >> shift);
        if (rest > half || (rest == half && (more || (mantissa & 1) != 0)))
            mantissa++; /* a carry out of the mantissa becomes the next exponent */
    }
    const uint64_t bits = ((uint64_t)(exponent + shift + 1075 - 1) << (MANTISSA_BITS - 1)) + mantissa;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool multiplied(uint128 v, int power, double *out)
{
    if (power > STEP || top_bit(v) + top_bit(power_of_five[power]) + 2 > 128)
        return false;
    *out = rounded(v * power_of_five[power], power, false);
    return true;
}

static bool divided(uint128 v, int power, double *out)
{
    if (power > MAX_DOWN)
        return false;
    const int up = 127 - top_bit(v);
    int exponent = -up - power;
    const uint64_t first = power_of_five[power < STEP ? power : STEP];
    uint128 quotient = (v << up) / first, rest = (v << up) % first;
    if (power > STEP) {
        const uint64_t second = power_of_five[power - STEP];
        const int further = 127 - top_bit(quotient); /* below 64: 5^27 has 63 bits, and so has the rest */
        quotient = (quotient << further) + (rest << further) / first;
        rest = (rest << further) % first;
        exponent -= further;
        rest = rest != 0 || quotient % second != 0;
        quotient /= second;
    }
    *out = rounded(quotient, exponent, rest != 0);
    return true;
}

static bool exact(const struct decimal *d, double *out)
{
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->digits == 0) {
        *out = 0;
        return true;
    }
    if (d->digits <= 15 && d->exponent <= 0 && d->exponent >= -22) {
        *out = (double)d->halves[0] / power_of_ten[-d->exponent]; /* both exact: one rounding */
        return true;
    }
    uint128 v = d->halves[0];
    if (d->digits > HALF_DIGITS) {
        uint64_t ten = 1;
        for (int i = HALF_DIGITS; i < d->digits; i++)
            ten *= 10;
        v = v * ten + d->halves[1];
    }
    if (d->cut || v == 0)
        return false;
    return d->exponent >= 0 ? multiplied(v, d->exponent, out) : divided(v, -d->exponent, out);
}

/* Reads a run of digits into d. */
static const char *add_digits(struct decimal *d, const char *at, const char *end, bool behind_point)
{
    const char *first = at;
    int more = 0; /* digits that are not kept */
    if (d->digits == 0)
        while (at < end && *at == '0')
            at++;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++) {
        if (d->digits < MAX_DIGITS) {
            uint64_t *half = &d->halves[d->digits++ >= HALF_DIGITS];
            *half = *half * 10 + (uint64_t)(*at - '0');
        } else {
            d->cut |= *at != '0';
            more++;
        }
    }
    d->exponent += behind_point ? more - (int)(at - first) : more;
    return at;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* "e+12" behind the digits; what only looks like it belongs to whatever follows the number. */
static const char *read_exponent(const char *at, const char *end, int *exponent)
{
    const char *digit = at + 1;
    bool negative = false;
    int value = 0;
    if (at >= end || (*at != 'e' && *at != 'E'))
        return at;
    if (digit < end && (*digit == '+' || *digit == '-'))
        negative = *digit++ == '-';
    if (!is_digit(digit, end))
        return at;
    for (; is_digit(digit, end); digit++)
        value = value < MAX_EXPONENT ? value * 10 + (*digit - '0') : value;
    *exponent = negative ? -value : value;
    return digit;
}

/* Digits and exponent in C's form again for strtod, without a point, which is the locale's. */
static double long_way(const struct decimal *d, const char *first, const char *end, char point)
{
    char text[LONGEST + 32];
    size_t length = 0;
    bool leading = true, more = false;
    for (; first < end && ((*first >= '0' && *first <= '9') || *first == point); first++) {
        leading = leading && (*first == '0' || *first == point);
        if (leading || *first == point)
            continue;
        if (length < LONGEST)
            text[length++] = *first;
        else
            more |= *first != '0';
    }
    if (more)
        text[length++] = '1'; /* never a tie then */
    const int64_t exponent = (int64_t)d->exponent + d->digits - (int64_t)length;
    text[length++] = 'e';
    uint64_t rest = (uint64_t)(exponent < 0 ? -exponent : exponent);
    text[length++] = exponent < 0 ? '-' : '+';
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (count > 0)
        text[length++] = digits[--count];
    text[length] = '\0';
    return strtod(text, NULL);
}

const char *number_read(const char *at, const char *end, char point, double *out)
{
    struct decimal d = {0};
    if (at < end && (*at == '-' || *at == '+'))
        d.negative = *at++ == '-';
    const char *first = at;
    at = add_digits(&d, at, end, false);
    bool any = at > first;
    if (at < end && *at == point && (any || is_digit(at + 1, end))) {
        at = add_digits(&d, at + 1, end, true);
        any = true;
    }
    if (!any)
        return NULL;
    int exponent = 0;
    const char *behind = read_exponent(at, end, &exponent);
    d.exponent += exponent;
    double value;
    if (!exact(&d, &value))
        value = long_way(&d, first, at, point);
    *out = d.negative ? -value : value;
    return behind;
}
