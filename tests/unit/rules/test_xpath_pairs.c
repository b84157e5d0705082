/* SPDX-License-Identifier: MIT */
/* Expressions that compare all pairs of nodes must be detected. Otherwise such an expression would run for hours on a
   large report. If a harmless expression was detected by mistake, it would be rejected for a large report. */
#include "engine/base/xml_document.h"
#include "engine/base/xpath_lists.h"
#include "engine/base/xpath_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* Expressions that compare pairs, and the string at the reported position. */
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
    /* XPath 1.0 that is invalid or ambiguous. */
    {"a b", "b"},
    {"//a)", ")"},
    {"(//a", ""},
    {"'a", "'"},
    {"a ! b", "!"},
    {"1e5", "e"},
    {"matches(a, 'b')", "matches"},
    {"5 #", "#"},
};

/* Comparisons and unions are replaced with functions if it is clear what their operands are. Nothing else changes. */
static const struct {
    const char *expression, *rules, *sheets; /* NULL: unchanged */
} replaced[] = {
    {"//a = //b", "openpla-compare('=',//a , //b)", "openpla-compare('=',//a , //b)"},
    {"//a!=//b", "openpla-compare('!=',//a,//b)", "openpla-compare('!=',//a,//b)"},
    {"x[a <= b] and 5", "x[openpla-compare('<=',a , b)] and 5", "x[openpla-compare('<=',a , b)] and 5"},
    {"5 and (//a = //b[c = d]) or 1", "5 and (openpla-compare('=',//a , //b[openpla-compare('=',c , d)])) or 1",
     "5 and (openpla-compare('=',//a , //b[openpla-compare('=',c , d)])) or 1"},
    {"//a | b | c", "openpla-union(//a , b , c)", "openpla-union(//a , b , c)"},
    {"count(a|b) + 1", "count(openpla-union(a,b)) + 1", "count(openpla-union(a,b)) + 1"},
    {"a|b = c|d", "openpla-compare('=',openpla-union(a,b ), openpla-union(c,d))",
     "openpla-compare('=',openpla-union(a,b ), openpla-union(c,d))"},
    {"-a|b", "-openpla-union(a,b)", "-openpla-union(a,b)"},
    {"1 + a|b = 3", "1 + openpla-union(a,b )= 3", "1 + openpla-union(a,b )= 3"},
    {"a = 5", NULL, NULL},
    {"a = b = c", NULL, NULL},
    {"a = b < c", NULL, NULL},
    {"5 < //a = //b", NULL, NULL},
    {"a + b = c", NULL, NULL},
    {"'a = b'", NULL, NULL},
    {"a = 'b = c' or 1", NULL, NULL},
    {"a b = c", NULL, NULL},
    {"//a/..", NULL, "//a/parent::node()[openpla-tick()]"},
    {"a//b", NULL, "a/descendant-or-self::node()[openpla-tick()]/b"},
    {"a/ancestor::b[1]", NULL, "a/ancestor::b[openpla-tick()][1]"},
    {"a/following::node()/c", NULL, "a/following::node()[openpla-tick()]/c"},
    {"a/ancestor::processing-instruction(')')", NULL, NULL},
    {"../a", NULL, NULL},
    {"//a/.. = //b", NULL, "openpla-compare('=',//a/parent::node()[openpla-tick()] , //b)"},
};

static void comparisons_and_unions_become_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        for (int sheets = 0; sheets < 2; sheets++) {
            const char *wanted = sheets ? replaced[i].sheets : replaced[i].rules;
            struct text_buffer b = {0};
            xpath_use_functions(replaced[i].expression, true, sheets, &b);
            assert_non_null(b.text);
            if (strcmp(b.text, wanted ? wanted : replaced[i].expression) != 0)
                fail_msg("%s: %s", replaced[i].expression, b.text);
            text_buffer_free(&b);
        }
}

static xmlXPathObjectPtr evaluate(xmlDocPtr document, const char *expression)
{
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xpath_lists_use(context);
    xmlXPathObjectPtr value = xmlXPathEval(BAD_CAST expression, context);
    xmlXPathFreeContext(context);
    assert_non_null(value);
    return value;
}

/* OpenPLA's functions must have the same results as libxml2's operators, for numbers, strings, equal values and empty
   sets. */
static void functions_are_equal_to_operators(void **state)
{
    (void)state;
    static const char *const values[] = {"1", "2", "x", "", "10", "-1", "<c>1</c>", "1 "};
    static const char *const expressions[] = {
        "//a = //b",        "//a != //b",        "//a < //b",        "//a <= //b",      "//a > //b",
        "//a >= //b",       "//a/@n = //b/@n",   "//a[. = ../b]",    "//b[../a != .]",  "/ = //a",
        "//a/text() = //c", "count(//a | //b)",  "count(//a | //a)", "//c | //a | //b", "//a | //zz",
        "(//a | //b)[2]",   "string(//b | //a)", "//a = //zz",       "//zz != //a"};
    uint32_t random = 1;
    assert_true(xml_memory_begin());
    for (int n = 0; n < 300; n++) {
        struct text_buffer b = {0};
        text_buffer_add(&b, "<r>");
        for (int i = 0; i < n % 5; i++) {
            random = random * 1664525u + 1013904223u;
            const char *name = random & 1u << 20 ? "a" : "b", *value = values[(random >> 24) % (n % 7 + 1)];
            text_buffer_format(&b, "<%s n='%u'>%s</%s>", name, (unsigned)(random >> 28), value, name);
        }
        text_buffer_add(&b, "</r>");
        xmlDocPtr document = xmlReadMemory(b.text, (int)b.length, NULL, NULL, 0);
        assert_non_null(document);
        for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
            struct text_buffer ours = {0};
            xpath_use_functions(expressions[i], true, false, &ours);
            xmlXPathObjectPtr x = evaluate(document, expressions[i]), y = evaluate(document, ours.text);
            bool same = x->type == y->type && x->boolval == y->boolval && x->floatval == y->floatval;
            const int count = x->nodesetval ? x->nodesetval->nodeNr : 0;
            same = same && count == (y->nodesetval ? y->nodesetval->nodeNr : 0);
            for (int k = 0; k < count && same; k++)
                same = x->nodesetval->nodeTab[k] == y->nodesetval->nodeTab[k];
            if (same && x->type == XPATH_STRING)
                same = xmlStrEqual(x->stringval, y->stringval);
            if (!same)
                fail_msg("%s, %s: %s", b.text, expressions[i], ours.text);
            xmlXPathFreeObject(x);
            xmlXPathFreeObject(y);
            text_buffer_free(&ours);
        }
        xmlFreeDoc(document);
        text_buffer_free(&b);
    }
}

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

/* In a style sheet, a variable can contain a list of nodes. */
static void variables_can_contain_nodes(void **state)
{
    (void)state;
    assert_true(xpath_compares_pairs("//a = $v", false, NULL));
    assert_true(xpath_compares_pairs("$v = //a", false, NULL));
    assert_false(xpath_compares_pairs("$v + 1 = //a", false, NULL));
    assert_true(xpath_compares_pairs("$v/..", false, NULL));
    assert_false(xpath_compares_pairs("//a[@b = current()/@c]", false, NULL));
}

static void nesting_of_brackets_is_limited(void **state)
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
        cmocka_unit_test(comparisons_and_unions_become_functions),
        cmocka_unit_test(functions_are_equal_to_operators),
        cmocka_unit_test(variables_can_contain_nodes),
        cmocka_unit_test(nesting_of_brackets_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
