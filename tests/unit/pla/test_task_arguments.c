/* SPDX-License-Identifier: MIT */
/* A task's arguments. When a pattern is expanded, no argument may be added, lost or changed. */
#include "engine/base/command_line.h"
#include "engine/base/memory.h"
#include "engine/pla/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#include <shellapi.h>
#endif

static char *expand(const char *pattern, const struct task_variable *v, size_t count)
{
    char *line = NULL;
    assert_int_equal(task_expand_arguments(pattern, v, count, &line), S_OK);
    return line;
}

/* Splits a command line into the arguments that a program gets. Returns each in brackets. */
static char *bracket_arguments(const char *line)
{
    struct texts all = {0};
    struct text_buffer b = {0};
    assert_int_equal(command_line_split(line, &all), S_OK);
    for (size_t i = 0; i < all.count; i++)
        text_buffer_format(&b, "[%s]", all.items[i]);
#ifdef _WIN32
    WCHAR *wide, **argv;
    int argc;
    char *whole = text_format("program %s", line);
    assert_int_equal(text_to_utf16(whole, &wide, NULL), S_OK);
    argv = CommandLineToArgvW(wide, &argc);
    assert_int_equal(argc, all.count + 1);
    for (size_t i = 0; i < all.count; i++) {
        char *argument;
        text_from_utf16(argv[i + 1], wcslen(argv[i + 1]), true, &argument);
        assert_string_equal(argument, all.items[i]);
        memory_free(argument);
    }
    LocalFree(argv);
    memory_free(wide);
    memory_free(whole);
#endif
    texts_free(&all);
    return text_buffer_take(&b);
}

static void assert_expansion(const char *pattern, const struct task_variable *v, size_t count, const char *wanted)
{
    char *line = expand(pattern, v, count), *arguments = bracket_arguments(line);
    assert_string_equal(arguments, wanted);
    memory_free(arguments);
    memory_free(line);
}

/* Asserts the expansion of a pattern whose variable {a} has this value. */
static void assert_value_expansion(const char *pattern, const char *value, const char *wanted)
{
    assert_expansion(pattern, &(struct task_variable){.name = "a", .text = value}, 1, wanted);
}

static void value_is_always_one_argument(void **state)
{
    (void)state;
    assert_value_expansion("x {a} y", "plain", "[x][plain][y]");
    assert_value_expansion("x {a} y", "two words", "[x][two words][y]");
    assert_value_expansion("x {a} y", "", "[x][][y]");
    assert_value_expansion("x {a} y", "\" /delete \"", "[x][\" /delete \"][y]");
    assert_value_expansion("x {a} y", "C:\\a folder\\", "[x][C:\\a folder\\][y]");
    assert_value_expansion("x {a} y", "\\\\\" \\\\", "[x][\\\\\" \\\\][y]");
    assert_value_expansion("/f:{a}", "a b", "[/f:a b]");
    assert_value_expansion("{a}.log z", "a b", "[a b.log][z]");
    assert_value_expansion("C:\\logs\\{a}", "a b", "[C:\\logs\\a b]");
    assert_value_expansion("{a}{a}", "\\\"", "[\\\"\\\"]");
    assert_value_expansion("{a}{a}", "a b\\", "[a b\\a b\\]");
    assert_value_expansion("{a}\"x y\"", "a b", "[a bx y]");
    assert_value_expansion("\"x y\"{a}", "a b", "[x ya b]");
}

static void value_in_quotes_stays_inside_them(void **state)
{
    (void)state;
    assert_value_expansion("\"x {a} y\" z", "a b", "[x a b y][z]");
    assert_value_expansion("\"{a}\" z", "a\\", "[a\\][z]");
    assert_value_expansion("\"{a}\" z", "\" \"", "[\" \"][z]");
    assert_value_expansion("\"C:\\{a}\" z", "\"", "[C:\\\"][z]");
    assert_value_expansion("\"{a}\\\\\" z", "a\\", "[a\\\\][z]");
    assert_value_expansion("\"{a}", "open end", "[open end]");
    assert_value_expansion("\"{a}\"", "", "[]");
}

static void list_elements_are_separate_arguments(void **state)
{
    char first[] = "C:\\logs of today\\a.blg", none[] = "", second[] = "b.csv";
    char *items[] = {first, none, second};
    struct texts list = {.count = 3, .items = items}, empty = {0};
    (void)state;
    struct task_variable v[] = {{.name = "logs", .list = &list}, {.name = "key", .list = &empty}};
    assert_expansion("{logs} {state}", v, 2, "[C:\\logs of today\\a.blg][b.csv][{state}]");
    assert_expansion("/in \"{logs}\" 1", v, 2, "[/in][C:\\logs of today\\a.blg b.csv][1]");
    assert_expansion("x {key} y", v, 2, "[x][y]");
    assert_expansion("x \"{key}\" y", v, 2, "[x][][y]");
}

static void variables_are_found_in_both_spellings_and_once(void **state)
{
    struct task_variable v[] = {{.name = "usertext", .text = "{state}"}, {.name = "state", .text = "1"}};
    (void)state;
    assert_expansion("{STATE} {usertext}", v, 2, "[1][{state}]");
    assert_expansion("\\{state\\} C:\\{state} C:\\\\{state\\}", v, 2, "[1][C:\\1][C:\\1]");
    assert_expansion("{unknown} {state {} } {{state} \\{state}", v, 2, "[{unknown}][{state][{}][}][{1][\\1]");
    assert_expansion("", v, 2, "");
    assert_expansion("  x  ", v, 2, "[x]");
}

/* Quotes that a user has written keep their meaning. */
static void other_text_is_unchanged(void **state)
{
    static const char *const lines[][2] = {
        {"a \"b c\" d\\\\e f\\\\\\\"g", "[a][b c][d\\\\e][f\\\"g]"},
        {"\"\" \"a\"\"b\" ab\"c d\"e", "[][a\"b][abc de]"},
        {"\"C:\\dir\\\\\" \\\\server\\share", "[C:\\dir\\][\\\\server\\share]"},
        {"/c echo 1 > file & \t x", "[/c][echo][1][>][file][&][x]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_expansion(lines[i][0], NULL, 0, lines[i][1]);
    char *line = expand("/c echo 1 > file &&  rem", NULL, 0);
    assert_string_equal(line, "/c echo 1 > file &&  rem");
    memory_free(line);
}

/* A set's XML may contain megabytes of arguments. Expanding them would take minutes. */
static void overlong_arguments_are_rejected(void **state)
{
    const size_t length = 4 * 32767 + 1;
    char *pattern = memory_alloc(length + 1), *line;
    HRESULT wanted = HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE);
    (void)state;
    memset(pattern, '{', length);
    pattern[length] = 0;
    assert_int_equal(task_expand_arguments(pattern, NULL, 0, &line), wanted);
    assert_non_null(strstr(error_text(wanted), "TaskArguments"));
    assert_null(line);
    pattern[length - 1] = 0;
    assert_expansion(pattern + length - 9, NULL, 0, "[{{{{{{{{]");
    assert_int_equal(task_expand_arguments(pattern, NULL, 0, &line), S_OK);
    memory_free(line);
    memory_free(pattern);
}

static void out_of_memory_is_an_error(void **state)
{
    struct task_variable v = {.name = "a", .text = "a b"};
    HRESULT hr = E_FAIL;
    (void)state;
    for (uint64_t at = 1; hr != S_OK; at++) {
        char *line;
        assert_true(at < 100);
        memory_fail_at(at);
        hr = task_expand_arguments("x {a} \"{a}\"", &v, 1, &line);
        memory_fail_at(0);
        assert_true(hr == S_OK || (hr == E_OUTOFMEMORY && !line));
        memory_free(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_always_one_argument),
        cmocka_unit_test(value_in_quotes_stays_inside_them),
        cmocka_unit_test(list_elements_are_separate_arguments),
        cmocka_unit_test(variables_are_found_in_both_spellings_and_once),
        cmocka_unit_test(other_text_is_unchanged),
        cmocka_unit_test(overlong_arguments_are_rejected),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
