/* SPDX-License-Identifier: MIT */
/* Numbers in text logs: a user who compares OpenPLA's logs with those of Windows must find the same digits. */
#include "engine/logs/number_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* Results of glibc's printf("%.20g"): whole numbers, fractions, exact ties at the 20th digit (14460384442993.3828125
   and its neighbours), both ends of every range that number_text handles separately, denormals, the largest double. */
static const struct {
    double value;
    const char *text;
} vectors[] = {
    {0x0p+0, "0"},
    {-0x0p+0, "-0"},
    {0x1p+0, "1"},
    {-0x1p+0, "-1"},
    {0x1.dd6p+12, "7638"},
    {0x1p-1, "0.5"},
    {0x1.999999999999ap-4, "0.10000000000000000555"},
    {-0x1.999999999999ap-4, "-0.10000000000000000555"},
    {0x1.3333333333333p-2, "0.2999999999999999889"},
    {0x1.5555555555555p-2, "0.33333333333333331483"},
    {0x1.5555555555555p-1, "0.66666666666666662966"},
    {0x1.c924924924925p+3, "14.285714285714286476"},
    {0x1.beb0ba303255ap+3, "13.959073156484624434"},
    {0x1.06d2fa18d41b2p-5, "0.032083023520161360609"},
    {0x1.21f3b484d88edp-10, "0.0011060789995203615822"},
    {0x1.a4da427f4e2c4p+43, "14460384442993.382812"},
    {0x1.a4da427f4e2bcp+43, "14460384442993.367188"},
    {-0x1.a4da427f4e2c4p+43, "-14460384442993.382812"},
    {0x1.fffffffffffffp+51, "4503599627370495.5"},
    {0x1p+52, "4503599627370496"},
    {0x1.0000000000001p+52, "4503599627370497"},
    {0x1p+53, "9007199254740992"},
    {0x1.fffffffffffffp+50, "2251799813685247.75"},
    {0x1.c6bf52633ffffp+49, "999999999999999.875"},
    {0x1.d6f34548p+26, "123456789.125"},
    {0x1.8ffffffffffffp+6, "99.999999999999985789"},
    {0x1.869ffffffffffp+16, "99999.999999999985448"},
    {0x1.c6bf52634p+49, "1000000000000000"},
    {0x1.158e460913dp+63, "10000000000000000000"},
    {0x1.fffffffffffffp+63, "18446744073709549568"},
    {0x1p+64, "18446744073709551616"},
    {0x1.5af1d78b58c4p+66, "1e+20"},
    {0x1.b1ae4d6e2ef5p+69, "1e+21"},
    {0x1.0f0cf064dd592p+73, "1e+22"},
    {0x1.52d02c7e14af6p+76, "9.9999999999999991611e+22"},
    {0x1.a36e2eb1c432dp-14, "0.00010000000000000000479"},
    {0x1.0624dd2f1a9fbp-10, "0.00099999999999999980398"},
    {0x1.a36e2eb1c432cp-14, "9.999999999999999124e-05"},
    {0x1.a36e2eb1c432cp-14, "9.999999999999999124e-05"},
    {0x1.4f8b588e368f1p-17, "1.0000000000000000818e-05"},
    {0x1.b7cdfd9d7bdbbp-34, "1.0000000000000000364e-10"},
    {0x1.19799812dea11p-40, "9.9999999999999997989e-13"},
    {0x1.c25c268497682p-44, "1.0000000000000000304e-13"},
    {0x1.c25c268497681p-44, "9.9999999999999990416e-14"},
    {0x1.c25c268497683p-44, "1.0000000000000001566e-13"},
    {0x1.6849b86a12b9bp-47, "9.9999999999999999882e-15"},
    {0x1.bff2ee48e053p-333, "1.00000000000000002e-100"},
    {0x1.7e43c8800759cp+996, "1.0000000000000000525e+300"},
    {0x1.fffffffffffffp+1023, "1.7976931348623157081e+308"},
    {0x1p-1022, "2.2250738585072013831e-308"},
    {0x0.0000000000001p-1022, "4.9406564584124654418e-324"},
    {0x0.fffffffffffffp-1022, "2.225073858507200889e-308"},
    {-0x0.0000000000001p-1022, "-4.9406564584124654418e-324"},
    {0x1.fffffffffffffp-1, "0.99999999999999988898"},
    {0x1.0000000000001p+0, "1.000000000000000222"},
    {0x1p-30, "9.3132257461547851562e-10"},
    {0x1p-40, "9.0949470177292823792e-13"},
    {0x1p-43, "1.1368683772161602974e-13"},
    {0x1p-44, "5.684341886080801487e-14"},
    {0x1.8p-14, "9.1552734375e-05"},
    {0x1.2d9a550caec9ap-16, "1.7976931348623154084e-05"},
    {0x1.a36e2eb1c432dp-14, "0.00010000000000000000479"},
    {0x1.b69b4ba630f35p+56, "123456789012345680"},
    {0x1.02e85be111841p-13, "0.00012345678899999999669"},
    {0x1.d4c1p+15, "60000.5"},
};

static void assert_number(const char *text, const char *number_end, const char *end, double value)
{
    double again;
    if (number_read(text, end, '.', &again) != number_end || again != value || signbit(again) != signbit(value))
        fail_msg("%s is read as %a, not %a", text, again, value);
}

/* Checks that the text is read exactly as `value`, at the end of a file and inside a row. Inside a row, the reader
   takes several characters at a time. */
static void assert_read(const char *text, double value)
{
    char row[1100];
    const size_t length = strlen(text);
    assert_number(text, text + length, text + length, value);
    assert_true(length + 50 < sizeof row);
    memset(row, '"', sizeof row);
    memcpy(row, text, length);
    assert_number(row, row + length, row + length + 50, value);
}

/* Other programs write numbers with signs, exponents, commas, or more digits than a double has. Some of these are
   exactly between two doubles. */
static void numbers_of_others_are_read_to_the_nearest_double(void **state)
{
    static const struct {
        const char *text;
        double value;
        size_t rest; /* number of characters after the number */
    } others[] = {
        {"+1.5E+03", 1500, 0},
        {"-2.5e-05", -2.5e-05, 0},
        {"1.2345678901234567890e-05", 1.2345678901234568e-05, 0},
        {"12345678.25e2", 1234567825, 0},
        {"5e-39", 5e-39, 0},
        {"0e-45", 0, 0},
        {".25", 0.25, 0},
        {"7.", 7, 0},
        {"000012", 12, 0},
        {"1e", 1, 1},
        {"1e+", 1, 2},
        {"12 %", 12, 2},
        {"1,5", 1, 2},
        {"-0.000", -0.0, 0},
        {"0e999999999", 0, 0},
        {"1e999999999", INFINITY, 0},
        {"1e-999999999", 0, 0},
        {"9007199254740993", 9007199254740992, 0},
        {"9007199254740993.0000000000000000000000000000000000000000001", 9007199254740994, 0},
        {"9007199254740995", 9007199254740996, 0},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1, 0},
        {"0.30000000000000004440892098500626", 0.30000000000000004, 0},
        {"4.9406564584124654e-324", 4.9406564584124654e-324, 0},
        {"2.2250738585072014e-308", 2.2250738585072014e-308, 0},
        {"1.7976931348623158e308", 1.7976931348623157e308, 0},
        {"100000000000000000000000000000000000000000", 1e41, 0},
        {"0.00000000000000000000000000000000000000001", 1e-41, 0},
        {"123456789012345678901234567890123456789012345678901234567890", 1.2345678901234568e59, 0},
    };
    static const char *const none[] = {"", "-", ".", "e5", "-.e1", "x", " 1"};
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *end = others[i].text + strlen(others[i].text);
        assert_ptr_equal(number_read(others[i].text, end, '.', &value), end - others[i].rest);
        assert_memory_equal(&value, &others[i].value, sizeof value);
        char row[128];
        const size_t length = strlen(others[i].text);
        memset(row, ' ', sizeof row);
        memcpy(row, others[i].text, length);
        assert_ptr_equal(number_read(row, row + sizeof row, '.', &value), row + length - others[i].rest);
        assert_memory_equal(&value, &others[i].value, sizeof value);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(number_read(none[i], none[i] + strlen(none[i]), '.', &value));
    static const char comma[] = "1,5";
    assert_ptr_equal(number_read(comma, comma + 3, ',', &value), comma + 3);
    assert_true(value == 1.5);
}

/* The exact midpoint of two small doubles has hundreds of digits, and a change in any of them changes the result. */
static void a_midpoint_of_hundreds_of_digits_differs_from_its_neighbours(void **state)
{
    (void)state;
    for (int behind = 60; behind < 1060; behind += 50) { /* the midpoint is (2 * mantissa + 1) / 2^behind */
        const uint64_t mantissa = UINT64_C(0x1B3C5D7E9F0135) + (uint64_t)behind / 50;
        const double below = ldexp((double)mantissa, 1 - behind), above = ldexp((double)(mantissa + 1), 1 - behind);
        char text[1000], *at = text + 900;
        snprintf(at, 100, "e-%d", behind);
        for (uint64_t rest = 2 * mantissa + 1; rest; rest /= 10)
            *--at = (char)('0' + rest % 10);
        for (int i = 0; i < behind; i++) { /* times five */
            int carry = 0;
            for (char *digit = text + 900; digit-- > at;) {
                carry += 5 * (*digit - '0');
                *digit = (char)('0' + carry % 10);
                carry /= 10;
            }
            if (carry)
                *--at = (char)('0' + carry);
        }
        assert_read(at, mantissa % 2 ? above : below);
        text[899] = '4';
        assert_read(at, below);
        text[899] = '5';
        memmove(at - 1, at, (size_t)(text + 900 - at));
        text[899] = '1';
        snprintf(text + 900, 100, "e-%d", behind + 1);
        assert_read(at - 1, above);
    }
}

static void digits_match_windows_logs(void **state)
{
    char text[NUMBER_TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        size_t length = number_text(vectors[i].value, text);
        assert_string_equal(text, vectors[i].text);
        if (isfinite(vectors[i].value))
            assert_read(text, vectors[i].value);
        assert_int_equal(length, strlen(text));
    }
}

static void nan_and_infinity_have_a_text(void **state)
{
    char text[NUMBER_TEXT_SIZE];
    (void)state;
    number_text((double)INFINITY, text);
    assert_string_equal(text, "inf");
    number_text(-(double)INFINITY, text);
    assert_string_equal(text, "-inf");
    number_text(copysign((double)NAN, 1.0), text);
    assert_string_equal(text, "nan");
    number_text(copysign((double)NAN, -1.0), text);
    assert_string_equal(text, "-nan");
}

#ifdef __SIZEOF_INT128__
static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

__extension__ typedef unsigned __int128 uint128;

/* Checks that `number`, printed with its last `behind` digits after the point, is read as `value`. */
static void assert_digits_read(uint128 number, int behind, double value)
{
    char text[64], *at = text + sizeof text;
    *--at = '\0';
    for (int i = 0; i <= behind || number != 0; i++, number /= 10) {
        if (i == behind && i > 0)
            *--at = '.';
        *--at = (char)('0' + (int)(number % 10));
    }
    assert_read(at, value);
}

/* These cases are hard for a reader with limited precision: the exact midpoint, which is rounded to even, and the
   nearest values below and above it. */
static void the_midpoint_of_two_doubles_differs_from_its_neighbours(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        const uint64_t mantissa = (random_bits() >> 12) | (uint64_t)1 << 52;
        const int behind = 1 + i % 20; /* the midpoint is (2 * mantissa + 1) / 2^behind */
        const double below = ldexp((double)mantissa, 1 - behind), above = ldexp((double)(mantissa + 1), 1 - behind);
        uint128 middle = 2 * mantissa + 1;
        for (int digit = 0; digit < behind; digit++)
            middle *= 5;
        assert_digits_read(middle, behind, mantissa % 2 == 0 ? below : above);
        assert_digits_read(middle * 10 - 1, behind + 1, below);
        assert_digits_read(middle * 10 + 1, behind + 1, above);
    }
}
#endif

#ifdef _WIN32
/* A log that is written in a program with a German locale must have no commas in its numbers: commas separate its
   columns. */
static void decimal_point_is_independent_of_the_locale(void **state)
{
    char text[NUMBER_TEXT_SIZE];
    (void)state;
    assert_non_null(setlocale(LC_NUMERIC, "German"));
    assert_string_equal(localeconv()->decimal_point, ",");
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        number_text(vectors[i].value, text);
        assert_string_equal(text, vectors[i].text);
        if (isfinite(vectors[i].value))
            assert_read(text, vectors[i].value);
    }
    setlocale(LC_NUMERIC, "C");
}
#else
static double random_value(unsigned population)
{
    uint64_t bits = random_bits();
    double value;
    switch (population) {
    case 0: /* percentages */
        return 100.0 * (double)(bits % 100000) / (double)(1 + random_bits() % 100000);
    case 1: /* whole numbers of every size */
        return (double)(bits >> random_bits() % 64);
    case 2: /* below 1, down to 1e-14 */
        return ldexp((double)(bits >> 11), -(int)(53 + random_bits() % 47));
    case 3: /* few bits after the point, so that ties at the 20th digit occur */
        return (double)(bits >> 14) / (double)((uint64_t)1 << random_bits() % 50);
    case 4: /* decimal fractions */
        return (double)(bits % 1000000) / pow(10, (double)(random_bits() % 18));
    case 5: /* one step away from a power of ten, where the number of digits changes */
        return nextafter(pow(10, (double)(bits % 40) - 20), bits & 64 ? 0 : 1e300);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static void compare_with_library(double value)
{
    char text[NUMBER_TEXT_SIZE], expected[64];
    size_t length = number_text(value, text);
    snprintf(expected, sizeof expected, "%.20g", value);
    if (strcmp(text, expected) != 0 || length != strlen(expected))
        fail_msg("%a: %s, not %s", value, text, expected);
    if (isfinite(value))
        assert_read(text, value);
}

/* Reports and decoded events show the fewest digits that read back as the same value. */
static void compare_shortest_with_library(double value, int least, bool is_float)
{
    char text[NUMBER_TEXT_SIZE], expected[64];
    const size_t length = number_text_shortest(value, least, is_float, text);
    for (int precision = least; precision <= (is_float ? 9 : 17); precision++) {
        snprintf(expected, sizeof expected, "%.*g", precision, value);
        const double again = strtod(expected, NULL);
        if (is_float ? (float)again == (float)value : again == value)
            break;
    }
    if (strcmp(text, expected) != 0 || length != strlen(expected))
        fail_msg("%a: %s, not %s", value, text, expected);
}

static void the_shortest_text_agrees_with_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        for (int least = 6; least <= 15; least += 9)
            compare_shortest_with_library(vectors[i].value, least, false);
    for (unsigned i = 0; i < 70000; i++) {
        const double value = random_value(i % 7);
        if (!isfinite(value))
            continue;
        compare_shortest_with_library(value, i % 2 ? 6 : 15, false);
        compare_shortest_with_library(-(double)(i % 100000) / 1000, 15, false);
        if (fabs(value) < 1e38)
            compare_shortest_with_library((double)(float)value, 6, true);
    }
}

static void millions_of_values_agree_with_the_library(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2100000; i++) {
        double value = random_value(i % 7);
        compare_with_library(value);
        if (i % 8 == 0)
            compare_with_library(-value);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_match_windows_logs),
        cmocka_unit_test(nan_and_infinity_have_a_text),
        cmocka_unit_test(numbers_of_others_are_read_to_the_nearest_double),
        cmocka_unit_test(a_midpoint_of_hundreds_of_digits_differs_from_its_neighbours),
#ifdef __SIZEOF_INT128__
        cmocka_unit_test(the_midpoint_of_two_doubles_differs_from_its_neighbours),
#endif
#ifdef _WIN32
        cmocka_unit_test(decimal_point_is_independent_of_the_locale),
#else
        cmocka_unit_test(millions_of_values_agree_with_the_library),
        cmocka_unit_test(the_shortest_text_agrees_with_the_library),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
