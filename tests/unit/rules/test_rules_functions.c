/* SPDX-License-Identifier: MIT */
/* String functions of rules. A wrong result would cause a wrong warning. Without a limit, a search could take hours. */
#include "tests/unit/rules/rules_report.h"

#define STEP(expression)                                                                                               \
    "<Step select='/Report'><Variable name='v' expression=\"" expression "\"/><Exists><Otherwise><Notify>[{v}]"        \
    "</Notify></Otherwise></Exists></Step>"

static void functions_return_what_xpath_returns(void **state)
{
    static const char *const cases[][2] = {
        {"contains('abcd', 'bc')", "[true]"},
        {"contains('abcd', 'bd')", "[false]"},
        {"contains('aab', 'ab')", "[true]"},
        {"contains('ab', 'abc')", "[false]"},
        {"contains('ab', '')", "[true]"},
        {"contains('', '')", "[true]"},
        {"contains('', 'a')", "[false]"},
        {"contains(1234, 23)", "[true]"},
        {"contains(/Report/@name, 'r\xC3\xA4')", "[true]"},
        {"substring-before('1999/04/01', '/')", "[1999]"},
        {"substring-before('aab', 'ab')", "[a]"},
        {"substring-before('ab', 'x')", "[]"},
        {"substring-before('ab', '')", "[]"},
        {"substring-after('1999/04/01', '/')", "[04/01]"},
        {"substring-after('1999/04/01', '19')", "[99/04/01]"},
        {"substring-after('ab', 'x')", "[]"},
        {"substring-after('ab', 'b')", "[]"},
        {"substring-after('ab', '')", "[ab]"},
    };
    rules_write_file(*state, "report.xml", "<Report name='r\xC3\xA4nge'/>");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ruled r;
        char *rules =
            text_format("<Rules><Group name='g'><Rule name='r'>" STEP("%s") "</Rule></Group></Rules>", cases[i][0]);
        rules_run_over(&r, *state, rules);
        assert_no_fault(&r);
        assert_int_equal(r.outcome.notice_count, 1);
        if (strcmp(r.outcome.notices[0].text, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], r.outcome.notices[0].text);
        ruled_free(&r);
        memory_free(rules);
    }
}

static void invalid_calls_are_reported(void **state)
{
    static const char *const wrong[] = {"contains('a')", "contains()", "substring-after('a', 'b', 'c')"};
    rules_write_file(*state, "report.xml", "<Report name='r'/>");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ruled r;
        char *rules =
            text_format("<Rules><Group name='g'><Rule name='r'>" STEP("%s") "</Rule></Group></Rules>", wrong[i]);
        rules_run_over(&r, *state, rules);
        assert_message(&r.outcome.errors, "too few or too many arguments");
        ruled_free(&r);
        memory_free(rules);
    }
}

/* A search for a string of 2 MB in one of 4 MB would need 4 * 10^12 comparisons, which would take hours. The search
   must be stopped, and the next step must run. */
static void runaway_search_is_stopped(void **state)
{
    enum { LENGTH = 4 << 20 };
    static const char head[] = "<Report name='r'><a>", middle[] = "b</a><b>", tail[] = "c</b></Report>";
    char *text = memory_alloc(LENGTH + LENGTH / 2 + sizeof head + sizeof middle + sizeof tail), *at = text;
    struct ruled r;
    assert_non_null(text);
    at = (char *)memcpy(at, head, sizeof head - 1) + sizeof head - 1;
    at = (char *)memset(at, 'x', LENGTH) + LENGTH;
    at = (char *)memcpy(at, middle, sizeof middle - 1) + sizeof middle - 1;
    at = (char *)memset(at, 'x', LENGTH / 2) + LENGTH / 2;
    memcpy(at, tail, sizeof tail);
    rules_write_file(*state, "report.xml", text);
    memory_free(text);
    rules_run_limited(&r, *state,
                      "<Rules><Group name='g'><Rule name='r'>" STEP("contains(/Report/a, /Report/b)")
                          STEP("contains(/Report/a, 'xxxxb')") "</Rule></Group></Rules>",
                      1000000, false);
    assert_int_equal(r.hr, S_OK);
    assert_message(&r.outcome.errors, "needs more than 1000000 operations");
    assert_int_equal(r.outcome.notice_count, 1);
    assert_string_equal(r.outcome.notices[0].text, "[true]");
    ruled_free(&r);
}

/* The 20,000 elements contain hardly any text, so a limit for created strings is not enough. Expressions that read only
   a cell must still work, because a cell contains few nodes. */
static void search_for_missing_text_is_counted(void **state)
{
    static const char *const away[] = {
        "//X[string(/) = 'x']",     "//X[number(..) &gt; 0]",       "//X[string-length(/Report) = 0]",
        "//X[contains(.., 'a')]",   "//X[concat(/, '') = 'x']",     "//X[sum(/) = 0]",
        "//X[starts-with(/, 'a')]", "//X[normalize-space(/) = 'x']"};
    static const char *const nearby[] = {"count(//X[string(Y) = '1']) + count(//Y[string() = '1'])", "sum(//Y)"};
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 10000; i++)
        text_buffer_add(&b, i % 1000 ? "<X><Y/></X>" : "<X><Y>1</Y></X>");
    text_buffer_add(&b, "</Report>");
    rules_write_file(*state, "report.xml", b.text);
    text_buffer_free(&b);
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        struct ruled r;
        char *rules = text_format(
            "<Rules><Group name='g'><Rule name='r'><Step select=\"%s\"/>" STEP("%s") "</Rule></Group></Rules>", away[i],
            nearby[i % 2]);
        rules_run_limited(&r, *state, rules, 500000, false);
        if (r.outcome.errors.count != 1)
            fail_msg("%s: %u errors", away[i], (unsigned)r.outcome.errors.count);
        assert_message(&r.outcome.errors, "needs more than 500000 operations");
        assert_int_equal(r.outcome.notice_count, 1);
        assert_string_equal(r.outcome.notices[0].text, i % 2 ? "[NaN]" : "[20]");
        ruled_free(&r);
        memory_free(rules);
    }
}

static int make(void **state)
{
    *state = scratch_create("rules_functions");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_return_what_xpath_returns),
        cmocka_unit_test(invalid_calls_are_reported),
        cmocka_unit_test(runaway_search_is_stopped),
        cmocka_unit_test(search_for_missing_text_is_counted),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
