/* SPDX-License-Identifier: MIT */
/* Names of sets. An error here would give two sets the same file, or write a file to the wrong place. */
#include "engine/pla/store.h"
#include "tests/unit/scratch_folder.h"

static void assert_split(const char *full, const char *expected_space, const char *expected_name)
{
    const char *space;
    char *name;
    assert_int_equal(store_split_name(full, &space, &name), S_OK);
    assert_string_equal(space, expected_space);
    assert_string_equal(name, expected_name);
    memory_free(name);
}

static void assert_rejected(const char *full, HRESULT expected, const char *shown)
{
    const char *space = "";
    char *name = (char *)1;
    if (store_split_name(full, &space, &name) != expected)
        fail_msg("\"%s\"", full);
    assert_null(space);
    assert_null(name);
    if (!strstr(error_text(expected), shown))
        fail_msg("\"%s\" is not in \"%s\"", shown, error_text(expected));
}

static void split(void **state)
{
    (void)state;
    assert_split("Disk", "Service", "Disk");
    assert_split("service\\Disk", "Service", "Disk");
    assert_split("AUTOSESSION\\a b.c ", "Autosession", "a b.c ");
    assert_split("Session\\x", "Session", "x");
    assert_split("System\\x", "System", "x");
    assert_split("legacy\\\xC3\xBC{}[]()!&'+;=@^`~$%", "Legacy", "\xC3\xBC{}[]()!&'+;=@^`~$%");
}

/* The error must contain the invalid name and the reason. */
static void invalid_names_are_rejected_with_the_reason(void **state)
{
    static const char bad[] = "/:*?\"<>|\n\t\x1F\x7F";
    char name[8] = "a?b";
    (void)state;
    for (const char *c = bad; *c; c++) {
        name[1] = *c;
        assert_rejected(name, E_INVALIDARG, name);
    }
    assert_rejected("", E_INVALIDARG, "empty");
    assert_rejected(NULL, E_INVALIDARG, "empty");
    assert_rejected("Service\\", E_INVALIDARG, "Service\\");
    assert_rejected("Service\\a\\b", E_INVALIDARG, "Service\\a\\b");
    assert_rejected("Nowhere\\a", E_NOINTERFACE, "Nowhere");
    assert_rejected("\\a", E_NOINTERFACE, "''");
    assert_rejected("..\\a", E_NOINTERFACE, "..");
    assert_rejected("a\xFF", E_INVALIDARG, "not valid");
}

static void assert_file(const char *name, const char *expected)
{
    char *file = store_file_name(name);
    assert_string_equal(file, expected);
    memory_free(file);
}

static void names_are_escaped_in_file_names(void **state)
{
    (void)state;
    assert_file("Disk Load 2", "disk load 2");
    assert_file("a.b", "a.b");
    assert_file("a.", "a%2E");
    assert_file("a..", "a.%2E");
    assert_file(" a ", "%20a%20");
    assert_file(".", "%2E");
    assert_file("..", "%2E%2E");
    assert_file(".x", "%2Ex");
    assert_file("50%", "50%25");
    assert_file("a%2E", "a%252e");
    assert_file("~1", "%7E1");
    assert_file("a~b", "a%7Eb");
    assert_file("CON", "%43on");
    assert_file("con.xml", "%43on.xml");
    assert_file("Aux .x", "%41ux .x");
    assert_file("conin$", "%43onin$");
    assert_file("COM1", "%43om1");
    assert_file("lpt9.a.b", "%4Cpt9.a.b");
    assert_file("com\xC2\xB9", "%43om%C2%B9");
    assert_file("COM10", "com10");
    assert_file("combo", "combo");
    assert_file("console", "console");
    assert_file("a:b/c\\d", "a%3Ab%2Fc%5Cd");
    assert_file("\xC3\xBC", "%C3%9C"); /* the case of letters makes no difference */
    assert_file("\xC3\x9C", "%C3%9C");
}

/* A file's name can be converted back to the set's name, so that a user can copy a file into the store as a set. */
static void file_names_are_reversible(void **state)
{
    static const char *const names[] = {"CON", "A.", "M\xC3\x9CNCHEN \xE2\x82\xAC", "100%", "%41", " ", "~X", "LPT1.A"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char *file = store_file_name(names[i]), *name = store_name_of_file(file);
        assert_true(text_equal_nocase(name, names[i]));
        memory_free(name);
        memory_free(file);
    }
    /* File names that OpenPLA never writes stay unchanged. The result must not contain a NUL or invalid UTF-8. */
    for (int i = 0; i < 4; i++) {
        static const char *const unknown[] = {"a%00b", "a%FF", "a%4", "%%~"};
        char *name = store_name_of_file(unknown[i]);

        assert_string_equal(name, unknown[i]);
        memory_free(name);
    }
}

/* Two long names must get different file names, which must be short enough for every file system. */
static void long_names(void **state)
{
    char a[1001], b[1001];
    (void)state;
    memset(a, 'n', 1000);
    a[1000] = 0;
    memcpy(b, a, 1001);
    b[999] = 'o';
    char *file = store_file_name(a);
    char *other = store_file_name(b);
    assert_string_not_equal(file, other);
    assert_in_range(strlen(file), 100, 120);
    memory_free(other);
    char *upper = text_fold(a);
    other = store_file_name(upper);
    assert_string_equal(file, other);
    memory_free(upper);
    memory_free(other);
    memory_free(file);
    a[120] = 0;
    assert_file(a, a);
}

static void out_of_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        const char *space;
        char *name, *file;
        HRESULT hr;
        memory_fail_at(n);
        hr = store_split_name("System\\a.", &space, &name);
        file = SUCCEEDED(hr) ? store_file_name(name) : NULL;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        if (SUCCEEDED(hr))
            memory_free(name);
        memory_free(file);
        if (file)
            break;
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split),
        cmocka_unit_test(invalid_names_are_rejected_with_the_reason),
        cmocka_unit_test(names_are_escaped_in_file_names),
        cmocka_unit_test(file_names_are_reversible),
        cmocka_unit_test(long_names),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
