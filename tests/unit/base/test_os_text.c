/* SPDX-License-Identifier: MIT */
/* String functions: an error here would show as garbled names, rejected numbers, or two sets that are treated as
   one. */
#include "engine/base/json_text.h"
#include "engine/base/text.h"
#include "engine/base/text_put.h"
#include "tests/unit/scratch_folder.h"

#ifdef _WIN32
#include <windows.h>
WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR);
#endif

static void assert_from_utf16(const WCHAR *units, size_t count, const char *expected)
{
    char *text;
    assert_int_equal(text_from_utf16(units, count, false, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Names in every script must pass through COM unchanged. */
static void utf16_round_trip(void **state)
{
    static const char text[] = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80z"; /* a, u umlaut, euro, emoji, z */
    static const WCHAR units[] = {'a', 0xFC, 0x20AC, 0xD83D, 0xDE00, 'z'};
    static const WCHAR ends[] = {0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0xD800, 0xDC00, 0xDBFF, 0xDFFF};
    WCHAR *back;
    size_t count;
    (void)state;
    assert_from_utf16(units, 6, text);
    assert_int_equal(text_to_utf16(text, &back, &count), S_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(back, units, sizeof(units));
    assert_int_equal(back[6], 0);
    memory_free(back);
    assert_int_equal(text_utf16_length(text), 6);
    assert_from_utf16(ends, 11,
                      "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80"
                      "\xF4\x8F\xBF\xBF");
    assert_from_utf16(NULL, 0, "");
    assert_int_equal(text_to_utf16(NULL, &back, &count), S_OK);
    assert_int_equal(count, 0);
    memory_free(back);
}

/* A name that UTF-8 strings cannot contain is rejected, not cut at the NUL: "a\0b" must not become the set "a". */
static void utf16_with_nul_is_rejected(void **state)
{
    static const WCHAR bad[][3] = {{'a', 0, 'b'}, {'a', 0xD800, 'b'}, {'a', 'b', 0xD800}, {'a', 0xDC00, 0xD800}};
    static const char *const replaced[] = {"a\xEF\xBF\xBD"
                                           "b",
                                           "a\xEF\xBF\xBD"
                                           "b",
                                           "ab\xEF\xBF\xBD", "a\xEF\xBF\xBD\xEF\xBF\xBD"};
    char *text;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        text = (char *)1;
        assert_int_equal(text_from_utf16(bad[i], 3, false, &text), E_INVALIDARG);
        assert_null(text);
        assert_int_equal(text_from_utf16(bad[i], 3, true, &text), S_OK);
        assert_string_equal(text, replaced[i]);
        memory_free(text);
    }
    assert_int_equal(text_from_utf16(bad[0], 3, false, &text), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "position 1"));
}

/* Bytes from a corrupt file must not be read as different characters. */
static void utf8_malformed(void **state)
{
    static const struct {
        const char *text;
        size_t units;
    } bad[] = {
        {"\x80", 1},         {"\xC0\x80", 2},         {"\xC1\xBF", 2},         {"\xE0\x80\x80", 1},
        {"\xED\xA0\x80", 1}, {"\xF0\x80\x80\x80", 1}, {"\xF4\x90\x80\x80", 1}, {"\xF5\x80\x80\x80", 4},
        {"\xFF", 1},         {"\xE2\x82", 1},         {"\xE2\x82x", 2},
    };
    WCHAR *units;
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_false(text_is_utf8(bad[i].text, strlen(bad[i].text)));
        assert_int_equal(text_to_utf16(bad[i].text, &units, &count), S_OK);
        assert_int_equal(count, bad[i].units);
        assert_int_equal(units[0], 0xFFFD);
        assert_int_equal(text_utf16_length(bad[i].text), count);
        memory_free(units);
    }
    assert_true(text_is_utf8("a\0\xC3\xBC", 4));
    assert_false(text_is_utf8("\xC3\xBC", 1));
    assert_true(text_is_utf8("", 0));
}

/* Counter and set names match regardless of case, in Latin, Greek and Cyrillic letters. */
static void compare_without_case(void **state)
{
    (void)state;
    assert_true(text_equal_nocase("Processor", "pROCESSOR"));
    assert_true(
        text_equal_nocase("\xC3\xBC\xC5\xBE\xCF\x89\xD1\x8F\xD1\x91", "\xC3\x9C\xC5\xBD\xCE\xA9\xD0\xAF\xD0\x81"));
    assert_true(text_equal_nocase("\xC3\xBF", "\xC5\xB8"));  /* y diaeresis: its capital is in another block */
    assert_false(text_equal_nocase("\xC3\xB7", "\xC3\x97")); /* the division sign is not a letter */
    assert_false(text_equal_nocase("\xC4\xB1", "I"));        /* dotless i */
    assert_false(text_equal_nocase("\xC3\x9F", "SS"));
    assert_false(text_equal_nocase("a", "ab"));
    assert_true(text_hash_nocase("Pro\xC3\xBCX") == text_hash_nocase("pRO\xC3\x9Cx"));
    assert_true(text_hash_nocase("\xC3\xBF") == text_hash_nocase("\xC5\xB8"));
    assert_false(text_hash_nocase("ab") == text_hash_nocase("ba"));
    /* The hash first takes eight bytes at a time, then the remaining bytes. The characters next to a, z, A and Z have
       no case. */
    assert_true(text_hash_nocase("\\process(azAZ@[`{)\\ID") == text_hash_nocase("\\PROCESS(AZaz@[`{)\\id"));
    assert_false(text_hash_nocase("abcdefg@12345678") == text_hash_nocase("abcdefg`12345678"));
    assert_false(text_hash_nocase("abcdefg[12345678") == text_hash_nocase("abcdefg{12345678"));
    assert_false(text_hash_nocase("1234567812345678") == text_hash_nocase("12345678"));
    assert_true(text_hash_nocase("1234567\xC3\xBC"
                                 "Abcdefgh") == text_hash_nocase("1234567\xC3\x9C"
                                                                 "aBCDEFGH"));
    assert_true(text_compare_nocase("a", "B") < 0);
    assert_true(text_compare_nocase("C", "b") > 0);
    assert_true(text_compare_nocase("ab", "a") > 0);
    assert_true(text_compare_nocase("a_", "AB") > 0); /* '_' sorts after the capitals */
    assert_int_equal(text_compare_nocase(NULL, ""), 0);
    char *fold = text_fold("\xC3\xBCx\xE2\x82\xAC");
    assert_string_equal(fold, "\xC3\x9CX\xE2\x82\xAC");
    memory_free(fold);
}

/* Every letter of the supported alphabets is folded as in the system's own table. A native build has no such table; it
   checks that a folded string folds to itself. */
static void fold_agrees_with_the_system(void **state)
{
    static const unsigned ranges[][2] = {{0x20, 0x17F}, {0x386, 0x3CE}, {0x400, 0x52F}};
    unsigned letters = 0;
    (void)state;
    for (size_t r = 0; r < 3; r++) {
        for (unsigned c = ranges[r][0]; c <= ranges[r][1]; c++) {
            WCHAR unit = (WCHAR)c, *folded;
            char *text, *fold, *again;
            assert_int_equal(text_from_utf16(&unit, 1, false, &text), S_OK);
            fold = text_fold(text);
            again = text_fold(fold);
            assert_string_equal(fold, again);
            assert_int_equal(text_to_utf16(fold, &folded, NULL), S_OK);
            letters += folded[0] != unit;
#ifdef _WIN32
            if (folded[0] != RtlUpcaseUnicodeChar(unit))
                fail_msg("U+%04X folds to U+%04X, the system says U+%04X", c, folded[0], RtlUpcaseUnicodeChar(unit));
#endif
            memory_free(folded);
            memory_free(again);
            memory_free(fold);
            memory_free(text);
        }
    }
    /* 26 ASCII, 31 Latin-1, 61 Latin Extended-A, 33 Greek, 48 basic and 100 other Cyrillic */
    assert_int_equal(letters, 26 + 31 + 61 + 33 + 48 + 100);
}

static void wildcards(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"*", "", true},
        {"", "", true},
        {"?", "", false},
        {"", "a", false},
        {"a*c", "abbbc", true},
        {"a*c", "abbb", false},
        {"*.CSV", "log.csv", true},
        {"a?c", "aBC", true},
        {"a?c", "ac", false},
        {"**a**", "bab", true},
        {"*ab*ab", "ababab", true},
        {"*aab", "aaab", true},
        {"?", "\xE2\x82\xAC", true},
        {"*\xC3\x9C", "x\xC3\xBC", true},
        {"a*b*c", "aXbXbXc", true},
        {"*a", "b", false},
    };
    char longest[2001];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (text_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("\"%s\" against \"%s\"", cases[i].pattern, cases[i].text);
    /* A pattern from a script must not block the service: a naive matcher would take forever for this one. */
    memset(longest, 'a', 2000);
    longest[2000] = 0;
    assert_false(text_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*b", longest));
}

/* A value in XML is accepted unchanged or rejected, never cut or wrapped. */
static void numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"12", true, 12},
        {"-12", true, -12},
        {"0x1F", true, 31},
        {"-0x1f", true, -31},
        {" \t12\r\n", true, 12},
        {"+7", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"0x10000000000000000", false, 0},
        {"", false, 0},
        {" ", false, 0},
        {"-", false, 0},
        {"0x", false, 0},
        {"1 2", false, 0},
        {"12a", false, 0},
        {"1.0", false, 0},
        {"--1", false, 0},
        {"- 1", false, 0},
        {"00000000000000000000000000000012", true, 12},
    };
    uint64_t u;
    int64_t i;

    (void)state;
    for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
        i = 0;
        if (text_to_i64(cases[n].text, &i) != cases[n].ok || i != cases[n].value)
            fail_msg("\"%s\"", cases[n].text);
    }
    assert_true(text_to_u64("18446744073709551615", &u));
    assert_true(u == UINT64_MAX);
    assert_false(text_to_u64("18446744073709551616", &u));
    assert_true(text_to_u64("0xFFFFFFFFFFFFFFFF", &u));
    assert_false(text_to_u64("-1", &u));
    assert_true(text_to_u64("-0", &u));
    assert_false(text_to_u64(NULL, &u));
}

static void guids(void **state)
{
    static const GUID known = {0x03837521, 0x098B, 0x11D8, {0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
    static const char *const bad[] = {"",
                                      "{03837521-098B-11D8-9414-505054503030",
                                      "03837521-098B-11D8-9414-50505450303",
                                      "(03837521-098B-11D8-9414-505054503030)",
                                      "03837521x098B-11D8-9414-505054503030",
                                      "0383752G-098B-11D8-9414-505054503030"};
    char text[39];
    GUID guid;
    (void)state;
    text_from_guid(&known, text);
    assert_string_equal(text, "{03837521-098B-11D8-9414-505054503030}");
    assert_true(text_to_guid(text, &guid) && guid_equal(&guid, &known));
    assert_true(text_to_guid("03837521-098b-11d8-9414-505054503030", &guid) && guid_equal(&guid, &known));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(text_to_guid(bad[i], &guid));
    assert_false(text_to_guid(NULL, &guid));
    guid.Data4[7] ^= 1;
    assert_false(guid_equal(&guid, &known));
}

/* A number that lost a digit in a dump or log would be read as a different number. */
static void numbers_are_appended_to_a_string(void **state)
{
    static const uint64_t edges[] = {0,          1,          9,          10,        15,         16,
                                     99,         100,        255,        256,       65535,      999999999,
                                     UINT32_MAX, 1ull << 32, 9999999999, INT64_MAX, 1ull << 63, 10000000000000000000u,
                                     UINT64_MAX};
    static const unsigned digits[] = {0, 1, 2, 4, 8, 16, 20};
    static const GUID known = {0x03837521, 0x008B, 0x11D8, {0x04, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0xFF}}, none;
    static const uint8_t bytes[] = {0, 0x0A, 0xF0, 0xFF};
    char expected[64], put[4] = "";
    struct text_buffer b = {0};
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        b.length = 0;
        text_buffer_add_i64(&b, (int64_t)edges[i]);
        snprintf(expected, sizeof expected, "%lld", (long long)edges[i]);
        assert_string_equal(b.text, expected);
        for (size_t k = 0; k < sizeof digits / sizeof digits[0]; k++) {
            b.length = 0;
            text_buffer_add_u64(&b, edges[i], digits[k]);
            snprintf(expected, sizeof expected, "%0*llu", digits[k] ? (int)digits[k] : 1, (unsigned long long)edges[i]);
            assert_string_equal(b.text, expected);
            b.length = 0;
            text_buffer_add_hex(&b, edges[i], digits[k]);
            snprintf(expected, sizeof expected, "0x%0*llX",
                     digits[k] == 0   ? 1
                     : digits[k] > 16 ? 16
                                      : (int)digits[k],
                     (unsigned long long)edges[i]);
            assert_string_equal(b.text, expected);
        }
    }
    b.length = 0;
    text_buffer_add_guid(&b, &known);
    text_buffer_add_bytes(&b, bytes, sizeof bytes);
    text_buffer_add_bytes(&b, bytes, 0);
    assert_string_equal(b.text, "{03837521-008b-11d8-0414-5050545030ff}000AF0FF");
    assert_ptr_equal(text_put_digits(put, 12345, 3), put + 3);
    assert_string_equal(put, "345");
    assert_ptr_equal(text_put_digits(put, 1205, 2), put + 2);
    assert_string_equal(put, "055"); /* the third digit remains from the previous call */
    b.length = 0;
    text_buffer_add_guid(&b, &none);
    assert_string_equal(b.text, "{00000000-0000-0000-0000-000000000000}");
    text_buffer_add_bytes(&b, bytes, SIZE_MAX / 2 + 2); /* twice this size overflows to a few bytes */
    assert_true(b.failed);
    text_buffer_free(&b);
}

/* The number of digits is computed before the digits are written. If it were one too low, the result would be a
   different number. */
static void numbers_are_written_with_all_digits(void **state)
{
    char expected[32], put[TEXT_PUT_DECIMAL + 1];
    (void)state;
    for (uint64_t power = 1; power != 0; power = power <= UINT64_MAX / 10 ? power * 10 : 0)
        for (int i = -1; i <= 1; i++) {
            const uint64_t value = power + (uint64_t)i;
            *text_put_u64(put, value) = 0;
            snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
            assert_string_equal(put, expected);
        }
    for (unsigned bit = 0; bit < 64; bit++) {
        *text_put_u64(put, UINT64_MAX >> bit) = 0;
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)(UINT64_MAX >> bit));
        assert_string_equal(put, expected);
    }
}

/* One quote that is not escaped makes a whole document unreadable. Eight bytes are checked at a time, so the quote is
   tested at every position. */
static void json_escapes_at_every_position(void **state)
{
    static const struct {
        char c;
        const char *escape;
    } special[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\u000a"}, {'\x1F', "\\u001f"}, {' ', " "}, {'\xC3', "\xC3"}};
    char text[20] = "", expected[64];
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        for (size_t length = 1; length < sizeof text; length++)
            for (size_t at = 0; at < length; at++) {
                struct text_buffer b = {0};
                memset(text, 'x', length);
                text[length] = 0;
                text[at] = special[i].c;
                snprintf(expected, sizeof expected, "\"%.*s%s%s\"", (int)at, text, special[i].escape, text + at + 1);
                json_add_text(&b, text);
                assert_string_equal(b.text, expected);
                text_buffer_free(&b);
            }
    struct text_buffer b = {0};
    json_add_text(&b, "");
    json_add_content(&b, "");
    assert_string_equal(b.text, "\"\"");
    text_buffer_free(&b);
}

/* A string that could not be built completely is discarded: half a command line must not be executed. */
static void buffer(void **state)
{
    struct text_buffer b = {0};
    (void)state;
    text_buffer_add(&b, "a");
    text_buffer_add(&b, NULL);
    text_buffer_format(&b, "%d-%s", 42, "\xE2\x82\xAC");
    text_buffer_add_n(&b, "xyz", 2);
    char *text = text_buffer_take(&b);
    assert_string_equal(text, "a42-\xE2\x82\xACxy");
    assert_null(b.text);
    memory_free(text);
    text = text_buffer_take(&b);
    assert_string_equal(text, "");
    memory_free(text);
    memory_fail_at(1);
    text_buffer_add(&b, "lost");
    memory_fail_at(0);
    text_buffer_add(&b, "kept");
    assert_true(b.failed);
    assert_null(text_buffer_take(&b));
    assert_false(b.failed);
}

static void lists(void **state)
{
    struct texts a = {0}, b = {0};
    (void)state;
    for (int i = 0; i < 20; i++) {
        char *text = text_format("%d", i);
        assert_int_equal(texts_add(&a, text), S_OK);
        memory_free(text);
    }
    assert_int_equal(texts_add(&b, "old"), S_OK);
    memory_fail_at(1);
    assert_int_equal(texts_copy(&b, &a), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(b.count, 1);
    assert_string_equal(b.items[0], "old");
    assert_int_equal(texts_copy(&b, &a), S_OK);
    assert_int_equal(b.count, 20);
    assert_string_equal(b.items[19], "19");
    memory_fail_at(15); /* the copy is one block: to grow, it is split into single strings, and that allocation fails */
    assert_int_equal(texts_add(&b, "20"), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(b.count, 20);
    assert_int_equal(texts_add(&b, "20"), S_OK);
    assert_int_equal(b.count, 21);
    assert_string_equal(b.items[0], "0");
    assert_string_equal(b.items[20], "20");
    assert_int_equal(texts_copy(&b, &(struct texts){0}), S_OK);
    assert_int_equal(b.count, 0);
    assert_int_equal(texts_add(&b, "first"), S_OK);
    assert_string_equal(b.items[0], "first");
    texts_free(&a);
    texts_free(&b);
    assert_int_equal(b.count, 0);
}

static void lists_from_rows(void **state)
{
    static const char row[] = "one\0\0three";
    struct texts t = {0};
    (void)state;
    assert_int_equal(texts_from_row(&t, row, sizeof(row), 3), S_OK);
    assert_int_equal(t.count, 3);
    assert_string_equal(t.items[0], "one");
    assert_string_equal(t.items[1], "");
    assert_string_equal(t.items[2], "three");
    memory_fail_at(1);
    assert_int_equal(texts_from_row(&t, row, sizeof(row), 3), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(t.count, 3);
    assert_int_equal(texts_from_row(&t, NULL, 0, 0), S_OK);
    assert_int_equal(t.count, 0);
    texts_free(&t);
}

/* A folder's name may be cut to fit a field of fixed size. It is still valid UTF-8, and the rest of the field has no
   bytes of an earlier name. */
static void strings_are_cut_between_characters(void **state)
{
    char room[6];
    (void)state;
    memset(room, 'x', sizeof room);
    text_fit(room, sizeof room, "ab");
    assert_memory_equal(room, "ab\0\0\0", 6);
    text_fit(room, sizeof room, "abcde");
    assert_string_equal(room, "abcde");
    text_fit(room, sizeof room, "abc\xE2\x82\xAC");
    assert_memory_equal(room, "abc\0\0", 6);
    text_fit(room, 1, "\xC3\xBC");
    assert_string_equal(room, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf16_round_trip),
        cmocka_unit_test(utf16_with_nul_is_rejected),
        cmocka_unit_test(utf8_malformed),
        cmocka_unit_test(compare_without_case),
        cmocka_unit_test(fold_agrees_with_the_system),
        cmocka_unit_test(wildcards),
        cmocka_unit_test(numbers),
        cmocka_unit_test(guids),
        cmocka_unit_test(numbers_are_appended_to_a_string),
        cmocka_unit_test(numbers_are_written_with_all_digits),
        cmocka_unit_test(json_escapes_at_every_position),
        cmocka_unit_test(buffer),
        cmocka_unit_test(lists),
        cmocka_unit_test(lists_from_rows),
        cmocka_unit_test(strings_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
