/* SPDX-License-Identifier: MIT */
/* The output for an event without a schema: the known name of its event provider, and the strings in its data, instead
   of hexadecimal digits alone. */
#include "engine/base/memory.h"
#include "engine/etw/provider_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static void every_name_is_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
#define PROVIDER(guid, name) {guid, name},
#include "engine/etw/decode/provider_names.def"
#undef PROVIDER
    };
    GUID guid;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(text_to_guid(rows[i][0], &guid));
        const char *name = provider_known_name(&guid);
        if (!name || strcmp(name, rows[i][1]) != 0)
            fail_msg("%s: %s", rows[i][0], name ? name : "not found: the rows are not sorted");
    }
    assert_true(text_to_guid("{00000000-0000-0000-0000-000000000000}", &guid));
    assert_null(provider_known_name(&guid));
}

/* Expects these strings, joined by '|'. */
static void expect_strings(const char *bytes, size_t size, const char *wanted)
{
    uint8_t *copy = memory_copy(bytes, size); /* a copy, so that the sanitizer detects a read beyond its end */
    struct text_buffer b = {0};
    struct data_string s;
    for (size_t at = 0; data_string_next(copy, size, &at, &s);) {
        text_buffer_add(&b, b.length != 0 ? "|" : "");
        data_string_add(&s, &b);
    }
    assert_true(text_is_utf8(b.length != 0 ? b.text : "", b.length));
    assert_string_equal(b.length != 0 ? b.text : "", wanted);
    text_buffer_free(&b);
    memory_free(copy);
}

static void strings_of_both_widths_are_found(void **state)
{
    (void)state;
    static const char both[] = "\1\2p\0l\0a\0i\0n\0\0\0\xFFnarrow\0\3";
    expect_strings(both, sizeof both - 1, "plain|narrow");
    static const char odd[] = "\7C\0:\0\\\0a\0b\0";
    expect_strings(odd, sizeof odd - 1, "C:\\ab");
    static const char letters[] = "\xC4\0p\0f\0e\0l\0\x3F\x04\x40\x04\x38\x04\x32\x04\0\0";
    expect_strings(letters, sizeof letters - 1, "\xC3\x84pfel\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2");
    expect_strings("abc\0de\0", 7, "");
    expect_strings("", 0, "");
    expect_strings("text", 4, "text");
    expect_strings("tex\x80t", 5, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_found),
        cmocka_unit_test(strings_of_both_widths_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
