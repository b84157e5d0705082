/* SPDX-License-Identifier: MIT */
/* Writes and reads the numbers of text logs, usually without printf and strtod.

   Writing (as "%.20g"). A double is m * 2^e with m below 2^53, so 128-bit integers can compute its decimal digits
   exactly:
   - Whole numbers are converted directly.
   - For other numbers of 1 or more, the fraction is multiplied by the power of ten that results in 20 digits in total.
   - For numbers below 1, there are two chunks of ten digits. The second chunk is computed from the remainder of the
     first.

   Every remainder is exact, so the rounding is exact too. Rounding never changes the number of digits, because the
   nearest double below a power of ten is thousands of units of the 20th digit away. (From 1 to 2^52 this follows from
   the size of the mantissa; from 1e-13 to 1, each power was checked.) Numbers of 2^64 or more and numbers below 1e-13
   are rare in logs; snprintf writes them. Windows builds use MinGW's snprintf, because msvcrt's snprintf writes
   exponents with three digits and rounds ties differently.

   Reading. Numbers of up to 15 digits and powers of ten up to 10^22 are exact as doubles. The quotient of two exact
   doubles is rounded only once, so the result is correctly rounded. If there are more digits with a decimal point, the
   first 19 digits are multiplied by a 128-bit inverse power of ten. The result is a lower and an upper limit that are
   closer together than adjacent doubles. Both limits round to the same double, unless they enclose the midpoint between
   two doubles. If the limits enclose the midpoint, up to 38 digits become a 128-bit integer, which is multiplied or
   divided by a power of ten. A product is exact. A quotient has more than 64 bits and an exact remainder, so it is
   rounded like the exact value. Longer numbers and numbers outside 1e-40 to 1e38 are rare in logs and are read by
   strtod.

   Without 128-bit integers (32-bit programs), snprintf writes every fraction, and strtod reads all numbers except
   quotients of two exact doubles, as described above. */
#include "engine/logs/number_text.h"

#include "engine/base/assert.h"
#include "engine/logs/little_endian.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <float.h>
#include <string.h>

/* Without this attribute the compiler calls these functions, and a call costs as much as the function itself. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define EIGHT_DIGITS  UINT64_C(100000000)
#define EXACT_LIMIT   UINT64_C(1000000000000000) /* numbers below this have at most EXACT_DIGITS digits */

enum {
    DIGITS = 20,
    CHUNK = 10,
    MANTISSA_BITS = 52,
    MAX_ZEROS = 12 /* 1e-13 has 12 zeros after the point */,
    MAX_DOWN = 96 /* numbers of at least 1e-13 are mantissa / 2^n with n up to this */
};

#define CHARACTERS UINT64_C(0x3030303030303030)

/* `parts` contains several values in separate groups of bits. Divides each value by `divisor`: the quotient replaces
   the value, and the remainder is stored `bits` bits higher. The remainder is value - quotient * divisor, so one
   subtraction computes both for all values. The caller passes the quotients in `quotients`. */
ALWAYS_INLINE uint64_t split_parts(uint64_t parts, uint64_t quotients, uint64_t divisor, unsigned bits)
{
    return (parts << bits) - quotients * ((divisor << bits) - 1);
}

/* Returns the eight digits of a number below 10^8, one per byte, with the first digit in the lowest byte. Groups of
   four digits become pairs, and pairs become single digits. Multiplying by 5243 / 2^19 or 103 / 2^10 is an exact
   division by 100 or 10 for such small numbers. */
ALWAYS_INLINE uint64_t digits_of_eight(uint64_t value)
{
    const uint64_t fours = split_parts(value, value / 10000, 10000, 32);
    const uint64_t pairs = split_parts(fours, (fours * 5243 >> 19) & 0x0000007F0000007Fu, 100, 16);
    return split_parts(pairs, (pairs * 103 >> 10) & 0x000F000F000F000Fu, 10, 8);
}

ALWAYS_INLINE char *put_eight(char *at, uint64_t value)
{
    put_u64((uint8_t *)at, digits_of_eight(value) + CHARACTERS);
    return at + 8;
}

/* Writes a number below 10^8 without leading zeros. Overwrites eight bytes. */
ALWAYS_INLINE char *put_leading(char *at, uint64_t value)
{
    const uint64_t digits = digits_of_eight(value);
    const unsigned zeros = value != 0 ? (unsigned)__builtin_ctzll(digits) / 8 : 7;
    put_u64((uint8_t *)at, (digits + CHARACTERS) >> 8 * zeros);
    return at + 8 - zeros;
}

ALWAYS_INLINE size_t put_whole(uint64_t value, char *text)
{
    char *at = text;
    if (value < 10) {
        *at = (char)('0' + value);
        return 1;
    }
    if (value < EIGHT_DIGITS)
        return (size_t)(put_leading(at, value) - text);
    if (value < EIGHT_DIGITS * EIGHT_DIGITS) {
        at = put_leading(at, value / EIGHT_DIGITS);
    } else {
        at = put_leading(at, value / (EIGHT_DIGITS * EIGHT_DIGITS));
        at = put_eight(at, value / EIGHT_DIGITS % EIGHT_DIGITS);
    }
    return (size_t)(put_eight(at, value % EIGHT_DIGITS) - text);
}

/* Writes the number with snprintf, whose decimal point depends on the process's locale. The locale belongs to the
   program that loaded this code. */
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

/* 5^10 to 5^22: the factors for the first chunk of a number with 0 to 12 zeros after the point. A shift provides the
   powers of 2. */
static const uint64_t power_of_five[MAX_ZEROS + 1] = {
    9765625u,      48828125u,      244140625u,      1220703125u,     6103515625u,      30517578125u,     152587890625u,
    762939453125u, 3814697265625u, 19073486328125u, 95367431640625u, 476837158203125u, 2384185791015625u};

/* For each number of zeros after the point, the smallest double with that many zeros, or a neighbour of this double.
   The number of zeros found with this table is a guess; put_fraction corrects the guess when the first digits are
   known. */
static const double zeros_limit[MAX_ZEROS + 1] = {1e-1, 1e-2, 1e-3,  1e-4,  1e-5,  1e-6, 1e-7,
                                                  1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13};

/* Write exactly two or ten digits, with leading zeros. */
ALWAYS_INLINE char *put_two(char *at, uint64_t value)
{
    const uint64_t tens = value * 103 >> 10;
    at[0] = (char)('0' + tens);
    at[1] = (char)('0' + (value - tens * 10));
    return at + 2;
}

ALWAYS_INLINE char *put_ten(char *at, uint64_t value)
{
    return put_eight(put_two(at, value / EIGHT_DIGITS), value % EIGHT_DIGITS);
}

static size_t without_trailing_zeros(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '0')
        length--;
    return length;
}

/* Returns the position of the last digit that is not 0; the first digit has position 1. At least one of the eight
   digits is not 0. */
ALWAYS_INLINE size_t last_digit(uint64_t digits)
{
    return 8 - (size_t)__builtin_clzll(digits) / 8;
}

/* Writes a number below 10^19. Returns the number of digits without trailing zeros. */
ALWAYS_INLINE size_t put_nineteen(char *at, uint64_t value)
{
    const uint64_t upper = value / EIGHT_DIGITS, first = upper / EIGHT_DIGITS;
    const uint64_t middle = digits_of_eight(upper % EIGHT_DIGITS), last = digits_of_eight(value % EIGHT_DIGITS);
    at[0] = (char)('0' + first / 100);
    put_two(at + 1, first % 100);
    put_u64((uint8_t *)at + 3, middle + CHARACTERS);
    put_u64((uint8_t *)at + 11, last + CHARACTERS);
    return last != 0 ? 11 + last_digit(last) : middle != 0 ? 3 + last_digit(middle) : without_trailing_zeros(at, 3);
}

/* Returns quotient + 1 if the remainder is above half of the divisor, or if it is half and the quotient is odd;
   otherwise the quotient. Avoids a branch, which could not be predicted, because half of the numbers are rounded up. */
#define ROUNDED(quotient, remainder, half) ((quotient) + ((remainder) > (half) - ((quotient)&1)))

/* Writes whole + fraction / 2^bits, where 1 <= whole < 2^52 and 0 < fraction. */
ALWAYS_INLINE size_t put_mixed(uint64_t whole, uint64_t fraction, unsigned bits, char *text)
{
    const size_t length = put_whole(whole, text), places = DIGITS - length;
    const uint128 product = (uint128)(fraction << (64 - bits)) * power_of_ten[places];
    const uint64_t quotient = (uint64_t)(product >> 64);
    const uint64_t digits = ROUNDED(quotient, (uint64_t)product, UINT64_C(1) << 63);
    text[length] = '.';
    const size_t kept = put_nineteen(text + length + 1, digits * power_of_ten[DIGITS - 1 - places]);
    return kept == 0 ? length : length + 1 + kept;
}

/* Writes mantissa / 2^bits, which is at least 1e-13 and below 1. */
ALWAYS_INLINE size_t put_fraction(double value, uint64_t mantissa, unsigned bits, char *text)
{
    /* If k is bits - MANTISSA_BITS, the number is at least 2^-k and below 2^(1-k). A number in this range has floor(k *
       log10(2)) zeros after the point, or one less. */
    unsigned zeros = (bits - MANTISSA_BITS) * 1233 >> 12;
    zeros = zeros < MAX_ZEROS ? zeros : MAX_ZEROS;
    zeros -= zeros > 0 && value >= zeros_limit[zeros - 1];
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
    uint64_t second = (uint64_t)(product >> shift);
    second = ROUNDED(second, product & (((uint128)1 << shift) - 1), (uint128)1 << (shift - 1));
    if (second == power_of_ten[CHUNK]) {
        second = 0;
        first++;
    }
    if (zeros < 4) { /* %g uses "e" only if the exponent is below -4 */
        memcpy(text, "0.000", 5);
        text += 2 + zeros;
        put_ten(put_ten(text, first), second);
        return 2 + zeros + without_trailing_zeros(text, DIGITS);
    }
    put_ten(put_ten(text + 1, first), second);
    text[0] = text[1];
    text[1] = '.';
    const size_t count = without_trailing_zeros(text + 2, DIGITS - 1), length = count > 0 ? 2 + count : 1;
    memcpy(text + length, "e-", 2);
    put_two(text + length + 2, zeros + 1);
    return length + 4;
}

/* Writes mantissa / 2^bits, which is not a whole number. */
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
    mantissa |= (uint64_t)1 << MANTISSA_BITS; /* denormal numbers are below 1e-13, so they need no exact mantissa */
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

/* ---- reading ---- */

enum {
    HALF_DIGITS = 19, /* decimal digits that always fit into 64 bits */
    MAX_DIGITS = 2 * HALF_DIGITS,
    STEP = 27,          /* 5^27 is the largest power of five in 64 bits */
    READ_MAX_DOWN = 40, /* after a division by 5^(40-27), the quotient still has at least 64 bits */
    MAX_EXPONENT = 100000,
    DOUBLE_BITS = 53,
    EXACT_DIGITS = 15, /* numbers with up to this many digits are exact doubles */
    EXACT_POWER = 22,  /* powers of ten up to this are exact doubles */
    LONGEST = 800      /* maximum digits for strtod: a midpoint between two doubles has fewer digits */
};

static const double double_power_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A decimal number that was read from text. */
struct decimal {
    uint64_t halves[2]; /* the first 19 digits after leading zeros, and the next 19 */
    int digits;         /* number of digits in `halves` */
    int exponent;       /* the value is the integer with these digits, times 10^exponent */
    bool cut;           /* more digits were cut off, and not all of them were zeros */
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

static const uint64_t powers_of_five[STEP + 1] = {1u,
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

/* The numbers 5^-n, from n = 1 on, as 128-bit integers with the highest bit set, truncated. 5^-n is this integer
   times 2^-(128 + INVERSE_SHIFT(n)). */
#define INVERSE_SHIFT(n) ((n)*2378 >> 10) /* position of the highest bit of 5^n, for n up to 40 */
static const struct {
    uint64_t high, low;
} inverse_of_five[READ_MAX_DOWN] = {
    {0xCCCCCCCCCCCCCCCCu, 0xCCCCCCCCCCCCCCCCu}, {0xA3D70A3D70A3D70Au, 0x3D70A3D70A3D70A3u},
    {0x83126E978D4FDF3Bu, 0x645A1CAC083126E9u}, {0xD1B71758E219652Bu, 0xD3C36113404EA4A8u},
    {0xA7C5AC471B478423u, 0x0FCF80DC33721D53u}, {0x8637BD05AF6C69B5u, 0xA63F9A49C2C1B10Fu},
    {0xD6BF94D5E57A42BCu, 0x3D32907604691B4Cu}, {0xABCC77118461CEFCu, 0xFDC20D2B36BA7C3Du},
    {0x89705F4136B4A597u, 0x31680A88F8953030u}, {0xDBE6FECEBDEDD5BEu, 0xB573440E5A884D1Bu},
    {0xAFEBFF0BCB24AAFEu, 0xF78F69A51539D748u}, {0x8CBCCC096F5088CBu, 0xF93F87B7442E45D3u},
    {0xE12E13424BB40E13u, 0x2865A5F206B06FB9u}, {0xB424DC35095CD80Fu, 0x538484C19EF38C94u},
    {0x901D7CF73AB0ACD9u, 0x0F9D37014BF60A10u}, {0xE69594BEC44DE15Bu, 0x4C2EBE687989A9B3u},
    {0xB877AA3236A4B449u, 0x09BEFEB9FAD487C2u}, {0x9392EE8E921D5D07u, 0x3AFF322E62439FCFu},
    {0xEC1E4A7DB69561A5u, 0x2B31E9E3D06C32E5u}, {0xBCE5086492111AEAu, 0x88F4BB1CA6BCF584u},
    {0x971DA05074DA7BEEu, 0xD3F6FC16EBCA5E03u}, {0xF1C90080BAF72CB1u, 0x5324C68B12DD6338u},
    {0xC16D9A0095928A27u, 0x75B7053C0F178293u}, {0x9ABE14CD44753B52u, 0xC4926A9672793542u},
    {0xF79687AED3EEC551u, 0x3A83DDBD83F52204u}, {0xC612062576589DDAu, 0x95364AFE032A819Du},
    {0x9E74D1B791E07E48u, 0x775EA264CF55347Du}, {0xFD87B5F28300CA0Du, 0x8BCA9D6E188853FCu},
    {0xCAD2F7F5359A3B3Eu, 0x096EE45813A04330u}, {0xA2425FF75E14FC31u, 0xA1258379A94D028Du},
    {0x81CEB32C4B43FCF4u, 0x80EACF948770CED7u}, {0xCFB11EAD453994BAu, 0x67DE18EDA5814AF2u},
    {0xA6274BBDD0FADD61u, 0xECB1AD8AEACDD58Eu}, {0x84EC3C97DA624AB4u, 0xBD5AF13BEF0B113Eu},
    {0xD4AD2DBFC3D07787u, 0x955E4EC64B44E864u}, {0xAA242499697392D2u, 0xDDE50BD1D5D0B9E9u},
    {0x881CEA14545C7575u, 0x7E50D64177DA2E54u}, {0xD9C7DCED53C72255u, 0x96E7BD358C904A21u},
    {0xAE397D8AA96C1B77u, 0xABEC975E0A0D081Au}, {0x8B61313BBABCE2C6u, 0x2323AC4B3B3DA015u},
};

ALWAYS_INLINE int top_bit(uint128 v)
{
    const uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

/* Returns v * 2^exponent rounded to the nearest double, ties to even. `more`: the exact value is slightly larger than
   v. The result must be a normal number. */
ALWAYS_INLINE double round_to_double(uint128 v, int exponent, bool more)
{
    const int shift = top_bit(v) - (DOUBLE_BITS - 1);
    uint64_t mantissa;
    if (shift <= 0) {
        mantissa = (uint64_t)v << -shift;
    } else {
        const uint128 half = (uint128)1 << (shift - 1), rest = v & ((half << 1) - 1);
        mantissa = (uint64_t)(v >> shift);
        if (rest > half || (rest == half && (more || (mantissa & 1) != 0)))
            mantissa++; /* a carry out of the mantissa increments the exponent */
    }
    const uint64_t bits = ((uint64_t)(exponent + shift + 1075 - 1) << (DOUBLE_BITS - 1)) + mantissa;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool double_by_product(uint128 v, int power, double *out)
{
    if (power > STEP || top_bit(v) + top_bit(powers_of_five[power]) + 2 > 128)
        return false;
    *out = round_to_double(v * powers_of_five[power], power, false);
    return true;
}

static bool double_by_quotient(uint128 v, int power, double *out)
{
    if (power > READ_MAX_DOWN)
        return false;
    const int up = 127 - top_bit(v);
    int exponent = -up - power;
    const uint64_t first = powers_of_five[power < STEP ? power : STEP];
    uint128 quotient = (v << up) / first, rest = (v << up) % first;
    if (power > STEP) {
        const uint64_t second = powers_of_five[power - STEP];
        /* `further` is below 64, because 5^27 has 63 bits. The remainder has at most 63 bits, so shifting it does not
           overflow. */
        const int further = 127 - top_bit(quotient);
        quotient = (quotient << further) + (rest << further) / first;
        rest = (rest << further) % first;
        exponent -= further;
        rest = rest != 0 || quotient % second != 0;
        quotient /= second;
    }
    *out = round_to_double(quotient, exponent, rest != 0);
    return true;
}

/* Shifts v left by *up bits, so that its highest bit is set, and returns the upper 64 bits. Avoids a branch, which
   could not be predicted, because numbers with 20 digits are on both sides of 2^64. */
ALWAYS_INLINE uint64_t top_word(uint128 v, int *up)
{
    const uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    const uint64_t first = high != 0 ? high : low, second = high != 0 ? low : 0;
    const int shift = __builtin_clzll(first);
    *up = high != 0 ? shift : 64 + shift;
    return first << shift | second >> 1 >> (63 - shift);
}

/* Computes v * 10^-power; v can be slightly too small if the number has more digits than v. False: the result is too
   close to the midpoint between two doubles. */
ALWAYS_INLINE bool double_by_inverse(uint128 v, int power, double *out)
{
    enum { BEHIND = 64 - DOUBLE_BITS, HALF = 1 << (BEHIND - 1) };
    int up;
    const uint64_t n = top_word(v, &up);
    /* The product has 128 bits, and its highest or second highest bit is set. The product is too small by less than
       2^64 + 2. The error of the product has three sources: the digits that n does not contain, the bits of `low` that
       are cut off, and the bits that the table of inverses does not contain. */
    const uint128 low = (uint128)n * inverse_of_five[power - 1].low;
    const uint128 product = (uint128)n * inverse_of_five[power - 1].high + (uint64_t)(low >> 64);
    const int first = (int)(product >> 127);
    const uint64_t upper = (uint64_t)(product >> (63 + first)), rest = upper & (2 * HALF - 1);
    if (rest - (HALF - 3) <= 3)
        return false;
    const uint64_t mantissa = (upper >> BEHIND) + (rest > HALF); /* a carry increments the exponent */
    const int exponent = 63 + first + BEHIND - up - power - INVERSE_SHIFT(power);
    const uint64_t bits = ((uint64_t)(exponent + 1075 - 1) << (DOUBLE_BITS - 1)) + mantissa;
    memcpy(out, &bits, sizeof bits);
    return true;
}

static bool by_integers(const struct decimal *d, double *out)
{
    const int behind = d->digits > HALF_DIGITS ? d->digits - HALF_DIGITS : 0;
    uint128 v = d->halves[0];
    if (behind > 0)
        v = v * power_of_ten[behind] + d->halves[1];
    if (v == 0)
        return false;
    if (d->exponent < 0 && d->exponent >= -READ_MAX_DOWN && double_by_inverse(v, -d->exponent, out))
        return true;
    if (d->cut)
        return false;
    return d->exponent >= 0 ? double_by_product(v, d->exponent, out) : double_by_quotient(v, -d->exponent, out);
}
#else
static bool by_integers(const struct decimal *d, double *out)
{
    (void)d, (void)out;
    return false;
}
#endif

static bool double_if_exact(const struct decimal *d, double *out)
{
    if (d->digits == 0) {
        *out = 0;
        return true;
    }
    if (d->digits <= EXACT_DIGITS && d->exponent <= 0 && d->exponent >= -EXACT_POWER) {
        /* Both operands are exact, so there is only one rounding. */
        *out = (double)d->halves[0] / double_power_of_ten[-d->exponent];
        return true;
    }
    return by_integers(d, out);
}

/* Returns whether the eight characters (the first in the lowest byte) are digits. The upper half of a digit's byte is
   3, and is still 3 after 6 is added to the byte. */
ALWAYS_INLINE bool are_digits(uint64_t eight)
{
    const uint64_t upper = 0xF0F0F0F0F0F0F0F0u;
    return (eight & upper) == 0x3030303030303030u && ((eight + 0x0606060606060606u) & upper) == 0x3030303030303030u;
}

/* Returns the value of eight digits. Adjacent digits are combined into pairs, pairs into groups of four, and these into
   one number. */
ALWAYS_INLINE uint64_t eight_digits(uint64_t eight)
{
    eight = ((eight & 0x0F0F0F0F0F0F0F0Fu) * (10 * 0x100u + 1) >> 8) & 0x00FF00FF00FF00FFu;
    eight = (eight * (100 * 0x10000u + 1) >> 16) & 0x0000FFFF0000FFFFu;
    return eight * (10000 * UINT64_C(0x100000000) + 1) >> 32;
}

ALWAYS_INLINE bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Reads "e+12" after the digits. Other text that starts with e is not part of the number. */
ALWAYS_INLINE const char *read_exponent(const char *at, const char *end, int *exponent)
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

#ifdef __SIZEOF_INT128__
/* Returns the number of digits at the beginning of the eight characters. */
ALWAYS_INLINE unsigned digits_in_front(uint64_t eight)
{
    const uint64_t values = eight ^ 0x3030303030303030u;
    const uint64_t others = (values | (values + 0x0606060606060606u)) & 0xF0F0F0F0F0F0F0F0u;
    return others != 0 ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Returns the value of the first `count` (1 to 8) of eight digits. */
ALWAYS_INLINE uint64_t first_digits(uint64_t eight, unsigned count)
{
    return eight_digits(eight << 8 * (8 - count));
}

enum { USUAL_BEFORE = 8, USUAL_BEHIND = 24, USUAL_ROOM = USUAL_BEFORE + 1 + USUAL_BEHIND + 1 };

/* Reads a number in the form that nearly all numbers in logs have, eight characters at a time: up to eight digits, a
   point, up to 24 digits, and an exponent. NULL: the number has another form. */
ALWAYS_INLINE const char *read_usual(const char *at, const char *end, char point, double *out)
{
    if (end - at < USUAL_ROOM)
        return NULL;
    uint64_t part = get_u64((const uint8_t *)at);
    unsigned count = digits_in_front(part), power = 0;
    if (count == 0)
        return NULL;
    uint128 v = 0;
    uint64_t begin = first_digits(part, count); /* the digits before the point, or all digits if there is no point */
    at += count;
    if (*at == point) {
        part = get_u64((const uint8_t *)++at);
        count = digits_in_front(part);
        if (count == 0)
            return NULL; /* a point without digits */
        if (count == 8) {
            begin = begin * EIGHT_DIGITS + eight_digits(part);
            part = get_u64((const uint8_t *)(at += 8));
            count = digits_in_front(part);
            power = 8;
        }
        if (count == 8) {
            v = (uint128)begin * EIGHT_DIGITS + eight_digits(part);
            part = get_u64((const uint8_t *)(at += 8));
            count = digits_in_front(part);
            power = 16;
            v = count != 0 ? v * power_of_ten[count] + first_digits(part, count) : v;
        } else {
            v = count != 0 ? (uint128)begin * power_of_ten[count] + first_digits(part, count) : begin;
        }
        power += count;
        at += count;
    } else {
        v = begin;
    }
    if (is_digit(at, end))
        return NULL;
    int exponent = 0;
    at = read_exponent(at, end, &exponent);
    const int down = (int)power - exponent; /* the value is v * 10^-down */
    if (down < 0 || down > READ_MAX_DOWN)
        return NULL;
    if (v < EXACT_LIMIT && down <= EXACT_POWER)
        *out = (double)(uint64_t)v / double_power_of_ten[down];
    else if (v == 0 || down == 0 || (!double_by_inverse(v, down, out) && !double_by_quotient(v, down, out)))
        return NULL;
    return at;
}
#else
ALWAYS_INLINE const char *read_usual(const char *at, const char *end, char point, double *out)
{
    (void)at, (void)end, (void)point, (void)out;
    return NULL;
}
#endif

/* Adds a run of digits to d. */
static const char *add_digits(struct decimal *d, const char *at, const char *end, bool behind_point)
{
    const char *first = at;
    int digits = d->digits, more = 0; /* more: number of digits that are not stored */
    uint64_t half = d->halves[0];
    if (digits == 0)
        while (at < end && *at == '0')
            at++;
    for (; digits <= HALF_DIGITS - 8 && end - at >= 8; digits += 8, at += 8) {
        const uint64_t eight = get_u64((const uint8_t *)at);
        if (!are_digits(eight))
            break;
        half = half * 100000000 + eight_digits(eight);
    }
    for (; digits < HALF_DIGITS && at < end && (unsigned char)(*at - '0') <= 9; digits++, at++)
        half = half * 10 + (uint64_t)(*at - '0');
    d->halves[0] = half;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++) {
        if (digits < MAX_DIGITS) {
            d->halves[1] = d->halves[1] * 10 + (uint64_t)(*at - '0');
            digits++;
        } else {
            d->cut |= *at != '0';
            more++;
        }
    }
    d->digits = digits;
    d->exponent += behind_point ? more - (int)(at - first) : more;
    return at;
}

/* Reads the number with strtod. The digits and the exponent are passed in C's form without a decimal point, because the
   character for the decimal point depends on the locale. */
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
        text[length++] = '1'; /* stands for the digits that were cut off, so that the number is not mistaken for a
                                 tie */
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
    bool negative = false;
    double value;
    if (at < end && (*at == '-' || *at == '+'))
        negative = *at++ == '-';
    const char *usual = read_usual(at, end, point, &value);
    if (usual) {
        *out = negative ? -value : value;
        return usual;
    }
    struct decimal d = {0};
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
    if (!double_if_exact(&d, &value))
        value = long_way(&d, first, at, point);
    *out = negative ? -value : value;
    return behind;
}

/* ---- the shortest text ---- */

enum { DOUBLE_PRECISION = 17, FLOAT_PRECISION = 9, FLOAT_EXACT_DIGITS = 6 };

static bool reads_back(double again, double value, bool is_float)
{
    return is_float ? (float)again == (float)value : again == value;
}

static size_t shortest_by_library(double value, int least, bool is_float, char *text)
{
    char local[NUMBER_TEXT_SIZE];
    size_t length = 0;
    assert(least <= (is_float ? FLOAT_PRECISION : DOUBLE_PRECISION));
    for (int precision = least; precision <= (is_float ? FLOAT_PRECISION : DOUBLE_PRECISION); precision++) {
        snprintf(local, sizeof local, "%.*g", precision, value);
        if (reads_back(strtod(local, NULL), value, is_float))
            break;
    }
    for (; local[length]; length++)
        /* A decimal point that depends on the locale becomes '.'. */
        text[length] = strchr("0123456789+-e", local[length]) ? local[length] : '.';
    text[length] = '\0';
    return length;
}

#ifdef __SIZEOF_INT128__
/* The digits of an absolute value d.ddd * 10^exponent; the point is after the first digit. */
struct digits {
    char text[DIGITS + 1];
    int count, exponent;
};

static struct digits digits_of(const char *text)
{
    struct digits d = {.count = 0};
    bool behind_point = false;
    int before_point = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '.') {
            behind_point = true;
        } else if (d.count != 0 || *text != '0') {
            d.text[d.count++] = *text;
            before_point += !behind_point;
        } else {
            before_point -= behind_point;
        }
    }
    d.exponent = before_point - 1 + (*text ? atoi(text + 1) : 0);
    d.count = (int)without_trailing_zeros(d.text, (size_t)d.count);
    return d;
}

/* Rounds to `count` digits. False: the direction is unknown, because the 20 digits have been rounded already. */
static bool digits_round(struct digits *d, int count)
{
    if (d->count <= count)
        return true;
    if (d->text[count] == '5' && d->count == count + 1)
        return false;
    const bool up = d->text[count] >= '5';
    if (up) {
        while (count > 0 && d->text[count - 1] == '9')
            count--;
        if (count > 0) {
            d->text[count - 1]++;
        } else {
            d->text[count++] = '1';
            d->exponent++;
        }
    }
    d->count = (int)without_trailing_zeros(d->text, (size_t)count);
    return true;
}

static bool digits_read_back(const struct digits *d, double value, bool is_float)
{
    struct decimal number = {.digits = d->count, .exponent = d->exponent - (d->count - 1)};
    double again;
    for (int i = 0; i < d->count; i++)
        number.halves[0] = number.halves[0] * 10 + (uint64_t)(d->text[i] - '0');
    return double_if_exact(&number, &again) && reads_back(again, value, is_float);
}

/* Writes the digits as "%.*g" does with this precision. */
static size_t put_digits(const struct digits *d, int precision, char *text)
{
    char *at = text;
    const int before = d->exponent + 1; /* digits before the point */
    if (d->exponent < -4 || d->exponent >= precision) {
        *at++ = d->text[0];
        if (d->count > 1) {
            *at++ = '.';
            memcpy(at, d->text + 1, (size_t)d->count - 1);
            at += d->count - 1;
        }
        *at++ = 'e';
        *at++ = d->exponent < 0 ? '-' : '+';
        at = put_two(at, (uint64_t)(d->exponent < 0 ? -d->exponent : d->exponent));
    } else if (before <= 0) {
        memcpy(at, "0.000", 5);
        at += 2 - before;
        memcpy(at, d->text, (size_t)d->count);
        at += d->count;
    } else {
        const int whole = d->count < before ? d->count : before;
        memcpy(at, d->text, (size_t)whole);
        memset(at + whole, '0', (size_t)(before - whole));
        at += before;
        if (d->count > before) {
            *at++ = '.';
            memcpy(at, d->text + before, (size_t)(d->count - before));
            at += d->count - before;
        }
    }
    *at = '\0';
    return (size_t)(at - text);
}

static size_t put_shortest(double value, int least, bool is_float, char *text)
{
    const int exact = is_float ? FLOAT_EXACT_DIGITS : EXACT_DIGITS;
    number_text(value, text);
    const struct digits all = digits_of(text);
    /* Fewer digits than `exact` need no separate try: if they suffice, rounding to `exact` digits yields the same
       digits followed by zeros. */
    for (int precision = exact; precision <= (is_float ? FLOAT_PRECISION : DOUBLE_PRECISION); precision++) {
        struct digits d = all;
        if (!digits_round(&d, precision))
            break;
        if (digits_read_back(&d, value, is_float))
            return put_digits(&d, d.count > least ? d.count : least, text);
    }
    return shortest_by_library(value, least, is_float, text);
}

size_t number_text_shortest(double value, int least, bool is_float, char text[NUMBER_TEXT_SIZE])
{
    const double magnitude = value < 0 ? -value : value;
    if (value == 0 || !(magnitude <= DBL_MAX))
        return number_text(value, text);
    if (magnitude < zeros_limit[MAX_ZEROS] || magnitude >= 0x1p63)
        return shortest_by_library(value, least, is_float, text);
    const size_t sign = value < 0;
    text[0] = '-';
    return sign + put_shortest(magnitude, least, is_float, text + sign);
}
#else
size_t number_text_shortest(double value, int least, bool is_float, char text[NUMBER_TEXT_SIZE])
{
    if (value == 0 || !(value >= -DBL_MAX && value <= DBL_MAX))
        return number_text(value, text);
    return shortest_by_library(value, least, is_float, text);
}
#endif
