/* SPDX-License-Identifier: MIT */
/* The registry and its native replacement: both must behave the same. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#include <winternl.h>

NTSTATUS NTAPI NtCreateKey(PHANDLE key, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes, ULONG index,
                           PUNICODE_STRING class, ULONG options, PULONG made);
NTSTATUS NTAPI NtDeleteKey(HANDLE key);
#endif

static char top[96]; /* used only by this process */

static struct registry_key *made(const char *below, bool expected)
{
    struct registry_key *key;
    char *path = text_format("%s%s", top, below);
    bool is_new;
    assert_int_equal(registry_create(path, &is_new, &key), S_OK);
    assert_int_equal(is_new, expected);
    memory_free(path);
    return key;
}

/* Values that other programs read need Windows' types and bytes. */
static void values_are_read_as_written(void **state)
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

/* An error names a value that another program has corrupted; the value is never read as another type. */
static void values_of_unexpected_type_are_named(void **state)
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
    assert_int_equal(registry_write(key, "Odd", REGISTRY_TEXT, "a\0b\0", 4), S_OK); /* without a terminating NUL */
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

static void keys_are_listed_and_deleted_with_subkeys(void **state)
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

static struct registry_key *in_view(bool of_32_bits, const char *path, HRESULT expected)
{
    const struct registry_place place = {.hive = REGISTRY_LOCAL_MACHINE, .of_32_bits = of_32_bits};
    struct registry_key *key;
    assert_int_equal(registry_open_in(&place, path, &key), expected);
    return key;
}

/* A machine's record contains all values of a key, including odd and very large ones. */
static void walk_finds_all_values_of_a_key(void **state)
{
    struct registry_key *key = made("\\Walk", true), *below;
    struct registry_entry *e = memory_zero(1, sizeof *e);
    uint8_t *much = memory_zero(1, REGISTRY_MOST_BYTES + 1);
    uint32_t keys, values, seen = 0;
    (void)state;
    assert_true(e && much);
    registry_close(made("\\Walk\\One", true));
    registry_close(made("\\Walk\\Two", true));
    assert_int_equal(registry_write(key, "", 77, "default", 7), S_OK);
    assert_int_equal(registry_write(key, "Empty", REGISTRY_BYTES, "", 0), S_OK);
    assert_int_equal(registry_write(key, "Most", REGISTRY_BYTES, much, REGISTRY_MOST_BYTES), S_OK);
    assert_int_equal(registry_write(key, "More", REGISTRY_BYTES, much, REGISTRY_MOST_BYTES + 1), S_OK);
    memory_free(much);
    registry_close(key);
    char *path = text_format("%s\\Walk", top), *full = text_format("HKEY_LOCAL_MACHINE\\%s\\Walk", top);
    key = in_view(false, path, S_OK);
    assert_string_equal(registry_key_path(key), full);
    memory_free(full);
    assert_int_equal(registry_counts(key, &keys, &values), S_OK);
    assert_true(keys == 2 && values == 4);
    for (uint32_t i = 0; i < values; i++) {
        char *name;
        assert_int_equal(registry_value_at(key, i, e), S_OK);
        assert_int_equal(text_from_utf16(e->name, e->name_units, false, &name), S_OK);
        if (!*name && e->type == 77 && e->size == 7 && !memcmp(e->data, "default", 7))
            seen |= 1;
        else if (!strcmp(name, "Empty") && e->type == REGISTRY_BYTES && e->size == 0)
            seen |= 2;
        else if (!strcmp(name, "Most") && e->size == REGISTRY_MOST_BYTES && !e->data[REGISTRY_MOST_BYTES - 1])
            seen |= 4;
        else if (!strcmp(name, "More") && e->size == REGISTRY_MOST_BYTES + 1)
            seen |= 8;
        memory_free(name);
    }
    assert_int_equal(seen, 15);
    assert_int_equal(registry_value_at(key, values, e), S_FALSE);
    for (uint32_t i = 0; i < keys; i++) {
        assert_int_equal(registry_key_at(key, i, e), S_OK);
        assert_int_equal(registry_open_at(key, e, &below), S_OK);
        assert_int_equal(strlen(registry_key_path(below)), strlen(registry_key_path(key)) + 4);
        assert_int_equal(registry_counts(below, &keys, &values), S_OK);
        assert_true(keys == 0 && values == 0);
        registry_close(below);
        keys = 2;
    }
    assert_int_equal(registry_key_at(key, keys, e), S_FALSE);
    /* If the key is deleted, the walk ends with an error that names the key. */
    assert_int_equal(registry_key_at(key, 0, e), S_OK);
    assert_int_equal(registry_delete(path), S_OK);
    HRESULT hr = registry_value_at(key, 0, e);
    assert_true(FAILED(hr) && strstr(error_text(hr), "Walk"));
    hr = registry_open_at(key, e, &below);
    assert_true(hr != S_OK && !below);
    registry_close(key);
    memory_free(path);
    registry_entry_free(e);
    memory_free(e);
    assert_int_equal(registry_delete(top), S_OK);
}

static void each_view_has_its_own_keys(void **state)
{
    const struct registry_place other = {.computer = "OTHER", .hive = REGISTRY_LOCAL_MACHINE};
    struct registry_key *key;
    bool is_new;
    (void)state;
    char *path = text_format("SOFTWARE\\Wow6432Node\\%s", top + sizeof "SOFTWARE");
    assert_int_equal(registry_create(path, &is_new, &key), S_OK);
    registry_close(key);
    registry_close(in_view(true, top, S_OK));
    assert_null(in_view(false, top, S_FALSE));
    assert_int_equal(registry_delete(path), S_OK);
    assert_null(in_view(true, top, S_FALSE));
    registry_close(in_view(false, "", S_OK));
    memory_free(path);
#ifdef _WIN32
    /* Wine cannot reach a remote registry. Windows would spend a long time searching for the computer. */
    if (!os_is_wine())
        return;
#endif
    HRESULT hr = registry_open_in(&other, top, &key);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
    assert_non_null(strstr(error_text(hr), "OTHER"));
}

#ifdef _WIN32
/* On Wine and Windows, a link is reported as a link, and a key whose name only the native API accepts is read. */
static void links_and_counted_names_are_read(void **state)
{
    static const WCHAR target[] = L"\\Registry\\Machine\\SOFTWARE";
    WCHAR odd_name[] = {'o', 0, 'd', 'd'};
    UNICODE_STRING odd = {sizeof odd_name, sizeof odd_name, odd_name};
    OBJECT_ATTRIBUTES attributes;
    struct registry_entry *e = memory_zero(1, sizeof *e);
    struct registry_value v;
    HKEY handle, link;
    HANDLE counted;
    WCHAR *wide;
    (void)state;
    registry_close(made("", true));
    assert_int_equal(text_to_utf16(top, &wide, NULL), S_OK);
    assert_int_equal(RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_ALL_ACCESS, &handle), 0);
    assert_int_equal(
        RegCreateKeyExW(handle, L"Link", 0, NULL, REG_OPTION_CREATE_LINK, KEY_ALL_ACCESS, NULL, &link, NULL), 0);
    assert_int_equal(
        RegSetValueExW(link, L"SymbolicLinkValue", 0, REG_LINK, (const BYTE *)target, sizeof target - sizeof *target),
        0);
    InitializeObjectAttributes(&attributes, &odd, OBJ_CASE_INSENSITIVE, handle, NULL);
    assert_int_equal(NtCreateKey(&counted, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, NULL), 0);
    assert_int_equal(RegSetValueExW(counted, L"Value", 0, REG_DWORD, (const BYTE *)"\1\0\0", 4), 0);
    struct registry_key *key = in_view(false, top, S_OK), *below;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t number;
        assert_int_equal(registry_key_at(key, i, e), S_OK);
        assert_int_equal(registry_open_at(key, e, &below), S_OK);
        if (e->name[1] == 'i') {
            assert_int_equal(registry_read(below, REGISTRY_LINK_VALUE, &v), S_OK);
            assert_true(v.type == REGISTRY_LINK && v.size == sizeof target - sizeof *target);
            registry_value_free(&v);
        } else {
            assert_int_equal(registry_read_number(below, "Value", &number), S_OK);
            assert_int_equal(number, 1);
            assert_non_null(strstr(registry_key_path(below), "o\xEF\xBF\xBD"
                                                             "dd"));
        }
        registry_close(below);
    }
    registry_close(key);
    assert_int_equal(NtDeleteKey(link), 0);
    assert_int_equal(NtDeleteKey(counted), 0);
    NtClose(counted);
    RegCloseKey(link);
    RegCloseKey(handle);
    memory_free(wide);
    registry_entry_free(e);
    memory_free(e);
    assert_int_equal(registry_delete(top), S_OK);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_as_written),
        cmocka_unit_test(values_of_unexpected_type_are_named),
        cmocka_unit_test(keys_are_listed_and_deleted_with_subkeys),
        cmocka_unit_test(walk_finds_all_values_of_a_key),
        cmocka_unit_test(each_view_has_its_own_keys),
#ifdef _WIN32
        cmocka_unit_test(links_and_counted_names_are_read),
#endif
    };
    char *name = text_format("SOFTWARE\\OpenPLA test %u", (unsigned)process_own_id());
    text_fit(top, sizeof top, name);
    memory_free(name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
