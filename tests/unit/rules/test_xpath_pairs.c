/* SPDX-License-Identifier: MIT */
/* Detects expressions that compare each node with each other one. If such an expression is not detected, it runs for
   hours on a large report; a plain one that is mistaken for it is rejected there. */
#include "engine/base/xpath_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const char *const plain[] = {
    "",
    "/",
    ".",
    "..",
    "//Item[Data]",
    "/Report//Item",
    "/Report/Section[@name = 's']/Table/Item[Data[@name='n'] > 40]",
    ".//Data[@name = 'a' or @name = $v1][last()]",
    "../../Item[1]",
    "ancestor::Table/@name",
    "count(preceding-sibling::Item) + 1",
    "(//Item)[1]/Data",
    "//Data[@name = ../@name]",
    "//Item[@a = @b]",
    "//*[self::a or self::b]",
    "//Item[number(Data[1]) = Data[2]]",
    "//Item[Data[1] = string(Data[2])]",
    "//Item[Data - Data >= 0.9 * (Data - Data)]",
    "//Item[Data = Data[2] + 1]",
    "//Item[(Data - Data) = Data]",
    "//Item[Data = -Data]",
    "//Item[Data='|' and Data=\"..\"]",
    "//Item[Data = $v0]",
    "//Item[Data != .5 and Data < 5. or . = 'x']",
    "a div b mod c * d - 3",
    "*[* * *]",
    "translate(//Data, 'ABC', 'abc')",
    "//processing-instruction('x')/self::node()",
    "child :: a / attribute :: b",
    "/descendant::x/child::y",
    "position() = last()",
    "true() = //a",
    "x:a[@x:b = x:c]/x:*[. > 5]",
};

/* The reported place. */
static const struct {
    const char *expression, *at;
} paired[] = {
    {"//Data/..", ".."},
    {"//Data/parent::*", "parent"},
    {"//a | //b", "|"},
    {"//Item[a|b]", "|"},
    {"//Item[Data[1] = Data[2]]", "="},
    {"//a != //b", "!="},
    {"(//a) <= //b", "<="},
    {"//a > (//b)", ">"},
    {"//a = @*", "="},
    {"@* = //a", "="},
    {"//a = /Report/a", "="},
    {"//a = ./a", "="},
    {"//a = child::a", "="},
    {"//a = text()", "="},
    {"5 < //a = //b", "="},
    {"string(//a = //b)", "="},
    {"//a = //b and 5", "="},
    {"//x[//a = //b] = 5", "="},
    {"concat(//a = //b, 'x')", "="},
    {"//Item//Data", "//"},
    {"a//b", "//"},
    {"(a)//b", "//"},
    {"$v0//b", "//"},
    {"/descendant::a//b", "//"},
    {"//ancestor::a", "ancestor"},
    {"a/descendant::b", "descendant"},
    {"a/ancestor-or-self::b", "ancestor-or-self"},
    {"a/following::b", "following"},
    {"a/preceding-sibling::b", "preceding-sibling"},
    {"./..[//a/..]", ".."},
    {"namespace::*", "namespace"},
    {"id('a b')", "id"},
    {"translate(//a, $v0, '')", ","},
    {"translate(//a, '0123456789012345678901234567890123456789012345678901234567890123', '')", ","},
    /* Text that is not XPath 1.0, or ambiguous. */
    {"a b", "b"},
    {"//a)", ")"},
    {"(//a", ""},
    {"'a", "'"},
    {"a ! b", "!"},
    {"1e5", "e"},
    {"matches(a, 'b')", "matches"},
    {"5 #", "#"},
};

static void plain_expressions_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        struct xpath_pair pair;
        if (xpath_compares_pairs(plain[i], true, &pair))
            fail_msg("%s: %s", plain[i], pair.at);
    }
}

static void paired_expressions_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof paired / sizeof *paired; i++) {
        struct xpath_pair pair = {0};
        const char *const expression = paired[i].expression, *const at = paired[i].at;
        if (!xpath_compares_pairs(expression, true, &pair))
            fail_msg("%s", expression);
        if (pair.length != strlen(at) || memcmp(pair.at, at, pair.length) != 0)
            fail_msg("%s: %.*s", expression, (int)pair.length, pair.at);
        assert_true(strlen(pair.instead) > 0);
        assert_true(xpath_compares_pairs(expression, true, NULL));
    }
}

/* In a sheet they may hold lists. */
static void variables_may_hold_nodes(void **state)
{
    (void)state;
    assert_true(xpath_compares_pairs("//a = $v", false, NULL));
    assert_true(xpath_compares_pairs("$v = //a", false, NULL));
    assert_false(xpath_compares_pairs("$v + 1 = //a", false, NULL));
    assert_true(xpath_compares_pairs("$v/..", false, NULL));
    assert_false(xpath_compares_pairs("//a[@b = current()/@c]", false, NULL));
}

static void brackets_have_a_bound(void **state)
{
    (void)state;
    char deep[1001];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_true(xpath_compares_pairs(deep, true, NULL));
    memset(deep, '[', sizeof deep - 1);
    assert_true(xpath_compares_pairs(deep, true, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_expressions_are_found),
        cmocka_unit_test(paired_expressions_are_found),
        cmocka_unit_test(variables_may_hold_nodes),
        cmocka_unit_test(brackets_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
