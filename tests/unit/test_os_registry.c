/* SPDX-License-Identifier: MIT */
/* The registry, and natively what stands in for it: the same to all who use it. */
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "engine/os/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static char top[96]; /* of this process alone */

static struct registry_key *made(const char *below, bool expected)
{
    struct registry_key *key;
    char *path = text_format("%s%s", top, below);
    bool is_new;
    assert_int_equal(registry_make(path, &is_new, &key), S_OK);
    assert_int_equal(is_new, expected);
    memory_free(path);
    return key;
}

/* Values that other programs read: their types and bytes are Windows'. */
static void values_come_back_as_they_were_put(void **state)
{
    static const uint32_t types[] = {REGISTRY_NUMBER, REGISTRY_LONG_NUMBER};
    struct registry_key *key = made("", true);
    struct registry_value v;
    uint64_t number;
    char *text;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(registry_write_number(key, "Number", types[i], 0xFEDCBA98), S_OK);
        assert_int_equal(registry_read_number(key, "NUMBER", &number), S_OK);
        assert_true(number == 0xFEDCBA98);
        assert_int_equal(registry_read(key, "number", &v), S_OK);
        assert_true(v.type == types[i] && v.size == (i ? 8 : 4) && v.data[0] == 0x98);
        registry_value_free(&v);
    }
    assert_int_equal(registry_write_number(key, "Number", REGISTRY_LONG_NUMBER, UINT64_MAX), S_OK);
    assert_int_equal(registry_read_number(key, "Number", &number), S_OK);
    assert_true(number == UINT64_MAX);
    assert_int_equal(registry_write_text(key, "Text",
                                         "C:\\Gr\xC3\xB6\xC3\x9F"
                                         "e"),
                     S_OK);
    assert_int_equal(registry_read_text(key, "Text", &text), S_OK);
    assert_string_equal(text, "C:\\Gr\xC3\xB6\xC3\x9F"
                              "e");
    memory_free(text);
    assert_int_equal(registry_read(key, "Text", &v), S_OK);
    assert_true(v.type == REGISTRY_TEXT && v.size == 2 * 9);
    registry_value_free(&v);
    assert_int_equal(registry_remove(key, "text"), S_OK);
    assert_int_equal(registry_remove(key, "text"), S_FALSE);
    assert_int_equal(registry_read_text(key, "Text", &text), S_FALSE);
    assert_int_equal(registry_read_number(key, "Text", &number), S_FALSE);
    assert_true(!text && number == 0);
    registry_close(key);
    assert_int_equal(registry_delete(top), S_OK);
}

/* What somebody else has damaged is named, and read as nothing else. */
static void values_of_another_kind_are_named(void **state)
{
    struct registry_key *key = made("", true);
    uint64_t number;
    char *text;
    (void)state;
    assert_int_equal(registry_write(key, "Odd", REGISTRY_NUMBER, "abc", 3), S_OK);
    assert_int_equal(registry_read_number(key, "Odd", &number), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), "Odd"));
    assert_int_equal(registry_read_text(key, "Odd", &text), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(registry_write(key, "Odd", REGISTRY_TEXT, "abc", 3), S_OK);
    assert_int_equal(registry_read_text(key, "Odd", &text), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(registry_write(key, "Odd", REGISTRY_TEXT, "a\0b\0", 4), S_OK); /* without an end */
    assert_int_equal(registry_read_text(key, "Odd", &text), S_OK);
    assert_string_equal(text, "ab");
    memory_free(text);
    assert_int_equal(registry_write(key, "Odd", REGISTRY_EXPAND_TEXT, "", 0), S_OK);
    assert_int_equal(registry_read_text(key, "Odd", &text), S_FALSE);
    char *much = memory_zero(1, REGISTRY_MOST_BYTES);
    assert_int_equal(registry_write(key, "Much", REGISTRY_BYTES, much, 100000), S_OK);
    struct registry_value v;
    assert_int_equal(registry_read(key, "Much", &v), S_OK);
    assert_int_equal(v.size, 100000);
    registry_value_free(&v);
    memory_free(much);
    registry_close(key);
    assert_int_equal(registry_delete(top), S_OK);
}

static void keys_are_listed_and_go_with_what_is_below(void **state)
{
    struct registry_key *key;
    struct texts names;
    (void)state;
    registry_close(made("\\Two\\Deep", true));
    registry_close(made("\\One", true));
    registry_close(made("\\ONE", false));
    char *one = text_format("%s\\one", top), *deep = text_format("%s\\TWO\\deep", top);
    assert_int_equal(registry_open(top, false, &key), S_OK);
    assert_int_equal(registry_list(key, &names), S_OK);
    assert_int_equal(names.count, 2);
    assert_true(strcmp(names.items[0], names.items[1]) != 0);
    for (size_t i = 0; i < 2; i++)
        assert_true(!strcmp(names.items[i], "One") || !strcmp(names.items[i], "Two"));
    texts_free(&names);
    registry_close(key);
    assert_int_equal(registry_delete(one), S_OK);
    assert_int_equal(registry_delete(one), S_FALSE);
    assert_int_equal(registry_open(one, true, &key), S_FALSE);
    assert_null(key);
    assert_int_equal(registry_open(deep, true, &key), S_OK);
    registry_close(key);
    assert_int_equal(registry_delete(top), S_OK);
    assert_int_equal(registry_open(deep, false, &key), S_FALSE);
    memory_free(deep);
    memory_free(one);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were_put),
        cmocka_unit_test(values_of_another_kind_are_named),
        cmocka_unit_test(keys_are_listed_and_go_with_what_is_below),
    };
    char *name = text_format("SOFTWARE\\OpenPLA test %u", (unsigned)process_own_id());
    text_fit(top, sizeof top, name);
    memory_free(name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
