/* SPDX-License-Identifier: MIT */
/* Computes and compares values. Constants are computed at once; operations on other values become XPath. */
#include "engine/report/rules/pal/pal_value.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { EXPRESSION_MOST = 3000 };
const char pal_null[] = "";

static bool is_one(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(word, *words))
            return true;
    return false;
}

const char *pal_value_words(const struct pal_value *a)
{
    return a->kind == PAL_UNKNOWN || a->kind == PAL_TEXT ? a->text : "a value of the log";
}

struct pal_value pal_value_number(const struct pal_value *a)
{
    if (a->kind == PAL_TRUTH)
        return pal_constant(a->number);
    if (a->kind == PAL_TEXT) {
        char *end = NULL;
        const char *text = a->text + strspn(a->text, " \t");
        const double number = strspn(text, "+-.0123456789") ? strtod(text, &end) : 0;
        const bool right = end && isfinite(number) && fabs(number) < 1e30 && !end[strspn(end, " \t")];
        return right ? pal_constant(number) : pal_unknown(pal_value_words(a));
    }
    return a->kind == PAL_CONSTANT || a->kind == PAL_EXPRESSION ? *a : pal_unknown(pal_value_words(a));
}

struct pal_value pal_value_truth(struct pal_pool *p, const struct pal_value *a)
{
    switch (a->kind) {
    case PAL_CONSTANT:
        return pal_truth(a->number != 0);
    case PAL_TEXT:
        return pal_truth(*a->text != 0);
    case PAL_COLLECTION:
    case PAL_ITEM:
        return pal_truth(true);
    case PAL_EXPRESSION: {
        struct pal_value v = *a;
        v.kind = PAL_CONDITION;
        v.text = pal_format(p, "(%s != 0)", a->text);
        return v;
    }
    default:
        return a->kind == PAL_TRUTH || a->kind == PAL_CONDITION ? *a : pal_unknown(pal_value_words(a));
    }
}

const char *pal_value_xpath(struct pal_pool *p, const struct pal_value *a)
{
    return a->kind == PAL_CONSTANT ? pal_number(p, a->number)
           : a->kind == PAL_TRUTH  ? (a->number != 0 ? "true()" : "false()")
                                   : a->text;
}

static const char *both_guards(struct pal_pool *p, const char *a, const char *b)
{
    return !a || (b && !strcmp(a, b)) ? b : b ? pal_format(p, "%s and %s", a, b) : a;
}

/* Returns a value of the kind `kind` with the XPath `text`, which contains both `a` and `b`. */
static struct pal_value joined(struct pal_pool *p, enum pal_value_kind kind, const struct pal_value *a,
                               const struct pal_value *b, const char *text)
{
    if (strlen(text) > EXPRESSION_MOST)
        return pal_unknown("an expression that is too long");
    return (struct pal_value){.kind = kind,
                              .text = text,
                              .of = a->of | b->of,
                              .guard = both_guards(p, a->guard, b->guard),
                              .of_trend = a->of_trend || b->of_trend};
}

/* ---- arithmetic ---- */

static struct pal_value arithmetic(struct pal_pool *p, char sign, const struct pal_value *left,
                                   const struct pal_value *right)
{
    const struct pal_value a = pal_value_number(left), b = pal_value_number(right);
    if (sign == '+' && left->kind == PAL_TEXT && right->kind == PAL_TEXT &&
        strlen(left->text) + strlen(right->text) > EXPRESSION_MOST)
        return pal_unknown("a string that is too long");
    if (sign == '+' && left->kind == PAL_TEXT && right->kind == PAL_TEXT)
        return (struct pal_value){.kind = PAL_TEXT, .text = pal_format(p, "%s%s", left->text, right->text)};
    if (a.kind == PAL_UNKNOWN || b.kind == PAL_UNKNOWN)
        return a.kind == PAL_UNKNOWN ? a : b;
    if (a.kind == PAL_CONSTANT && b.kind == PAL_CONSTANT) {
        const double x = a.number, y = b.number;
        const double z = sign == '+'   ? x + y
                         : sign == '-' ? x - y
                         : sign == '*' ? x * y
                         : y == 0      ? (double)NAN
                         : sign == '/' ? x / y
                                       : fmod(x, y);
        return isfinite(z) && fabs(z) < 1e30 ? pal_constant(z) : pal_unknown("a division by zero");
    }
    const char *word = sign == '/' ? "div" : sign == '%' ? "mod" : sign == '+' ? "+" : sign == '-' ? "-" : "*";
    const char *divisor = pal_value_xpath(p, &b);
    struct pal_value v =
        joined(p, PAL_EXPRESSION, &a, &b, pal_format(p, "(%s %s %s)", pal_value_xpath(p, &a), word, divisor));
    if ((sign == '/' || sign == '%') && b.kind != PAL_CONSTANT && v.kind != PAL_UNKNOWN)
        v.guard = both_guards(p, v.guard, pal_format(p, "%s > 0", divisor));
    return v;
}

/* ---- comparisons ---- */

static const char *xpath_operator(const char *word)
{
    static const struct {
        const char *word, *sign;
    } all[] = {{"gt", ">"}, {"ge", ">="}, {"lt", "<"}, {"le", "<="}, {"eq", "="}, {"ne", "!="}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(word, all[i].word))
            return all[i].sign;
    return NULL;
}

static bool holds(const char *word, int order)
{
    return !strcmp(word, "gt")   ? order > 0
           : !strcmp(word, "ge") ? order >= 0
           : !strcmp(word, "lt") ? order < 0
           : !strcmp(word, "le") ? order <= 0
           : !strcmp(word, "eq") ? order == 0
                                 : order != 0;
}

/* Compares a string of the row with a text. The operator `word` determines whether the text is a plain text, a pattern
   or a regular expression. Case is ignored. */
static struct pal_value compare_string(struct pal_pool *p, const char *word, const struct pal_value *of,
                                       const struct pal_value *with)
{
    static const char *const matches[] = {"match", "notmatch", "like", "notlike", NULL};
    const char *test = NULL, *why = NULL;
    const bool negated = !strncmp(word, "not", 3) || !strcmp(word, "ne");
    if (with->kind != PAL_TEXT && with->kind != PAL_CONSTANT)
        return pal_unknown("a comparison of names");
    const char *text = with->kind == PAL_TEXT ? with->text : pal_number(p, with->number);
    if (!strcmp(word, "match") || !strcmp(word, "notmatch")) {
        test = pal_regex(p, text, of->text, &why);
    } else if (!strcmp(word, "eq") || !strcmp(word, "ne")) {
        test = pal_format(p, "%s=%s", of->text, pal_literal(p, text, true));
    } else if (is_one(word, matches)) { /* the text is a pattern; * is supported only at its ends */
        const size_t n = strlen(text);
        const bool first = *text == '*', last = n > 1 && text[n - 1] == '*';
        char *middle = text_copy_n(text + first, n - first - last);
        const char *literal = pal_literal(p, middle ? middle : "", true);
        const bool plain = middle && !strpbrk(middle, "*?[");
        memory_free(middle);
        if (plain && first && last)
            test = pal_format(p, "contains(%s,%s)", of->text, literal);
        else if (plain && last)
            test = pal_format(p, "starts-with(%s,%s)", of->text, literal);
        else if (plain && !first)
            test = pal_format(p, "%s=%s", of->text, literal);
    }
    if (!test)
        return pal_unknown(pal_format(p, "the pattern '%.100s'", text));
    return joined(p, PAL_CONDITION, of, &(struct pal_value){0}, pal_format(p, negated ? "not(%s)" : "(%s)", test));
}

static struct pal_value compare_list(struct pal_pool *p, const struct pal_value *list, const struct pal_value *with,
                                     const char *word)
{
    struct pal_value found = pal_truth(false);
    const bool negated = !strncmp(word, "not", 3);
    unsigned items = 0;
    for (const char *c = list->text; *c && items < 100; items++) {
        const size_t n = strcspn(c, PAL_LIST_MARK);
        const struct pal_value item = {.kind = PAL_TEXT, .text = pal_keep(p, text_copy_n(c, n))};
        const struct pal_value is = pal_value_compute(p, "eq", with, &item);
        found = pal_value_compute(p, "or", &found, &is);
        c += n + (c[n] != 0);
    }
    return negated ? pal_value_not(p, &found) : found;
}

static struct pal_value compare(struct pal_pool *p, const char *word, const struct pal_value *a,
                                const struct pal_value *b)
{
    static const char *const contains[] = {"contains", "notcontains", NULL}, *const within[] = {"in", "notin", NULL};
    if (is_one(word, contains) && a->kind == PAL_LIST)
        return compare_list(p, a, b, word);
    if (is_one(word, within) && b->kind == PAL_LIST)
        return compare_list(p, b, a, word);
    if (a->kind == PAL_STRING_OF)
        return compare_string(p, word, a, b);
    if (b->kind == PAL_STRING_OF && (!strcmp(word, "eq") || !strcmp(word, "ne")))
        return compare_string(p, word, b, a);
    if (!xpath_operator(word))
        return pal_unknown(pal_format(p, "the operator -%.20s", word));
    if (a->text == pal_null || b->text == pal_null) /* a value that is compared with $null counts as existing */
        return pal_truth((a->text == b->text) == !strcmp(word, "eq"));
    if (a->kind == PAL_UNKNOWN || b->kind == PAL_UNKNOWN)
        return a->kind == PAL_UNKNOWN ? *a : *b;
    if (a->kind == PAL_TEXT && b->kind == PAL_TEXT)
        return pal_truth(holds(word, text_compare_nocase(a->text, b->text)));
    if ((a->kind == PAL_TRUTH || b->kind == PAL_TRUTH) && (a->kind == PAL_CONDITION || b->kind == PAL_CONDITION)) {
        const struct pal_value *truth = a->kind == PAL_TRUTH ? a : b, *other = a->kind == PAL_TRUTH ? b : a;
        return (truth->number != 0) == !strcmp(word, "eq") ? *other : pal_value_not(p, other);
    }
    if (a->kind == PAL_TRUTH && b->kind == PAL_TEXT) {
        const bool is = text_equal_nocase(b->text, "true") || (*b->text && !text_equal_nocase(b->text, "false"));
        return pal_truth(holds(word, (a->number != 0) - is));
    }
    const struct pal_value x = pal_value_number(a), y = pal_value_number(b);
    if (x.kind == PAL_UNKNOWN || y.kind == PAL_UNKNOWN) {
        /* If one of the values is not a number, the values differ. */
        const bool texts = a->kind == PAL_TEXT || b->kind == PAL_TEXT;
        return texts && (!strcmp(word, "eq") || !strcmp(word, "ne")) && a->kind <= PAL_TRUTH && b->kind <= PAL_TRUTH
                   ? pal_truth(!strcmp(word, "ne"))
               : x.kind == PAL_UNKNOWN ? x
                                       : y;
    }
    if (x.kind == PAL_CONSTANT && y.kind == PAL_CONSTANT)
        return pal_truth(holds(word, (x.number > y.number) - (x.number < y.number)));
    return joined(p, PAL_CONDITION, &x, &y,
                  pal_format(p, "(%s %s %s)", pal_value_xpath(p, &x), xpath_operator(word), pal_value_xpath(p, &y)));
}

static struct pal_value logic(struct pal_pool *p, bool all, const struct pal_value *left, const struct pal_value *right)
{
    const struct pal_value a = pal_value_truth(p, left), b = pal_value_truth(p, right);
    const struct pal_value *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++)
        if (both[i]->kind == PAL_TRUTH)
            return (both[i]->number != 0) == all ? *both[1 - i] : *both[i];
    if (a.kind == PAL_UNKNOWN || b.kind == PAL_UNKNOWN)
        return a.kind == PAL_UNKNOWN ? a : b;
    if (a.of == b.of && !strcmp(a.text, b.text))
        return a;
    return joined(p, PAL_CONDITION, &a, &b, pal_format(p, "(%s %s %s)", a.text, all ? "and" : "or", b.text));
}

struct pal_value pal_value_not(struct pal_pool *p, const struct pal_value *a)
{
    struct pal_value v = pal_value_truth(p, a);
    if (v.kind == PAL_TRUTH)
        v.number = v.number == 0;
    else if (v.kind == PAL_CONDITION)
        v.text = pal_format(p, "not(%s)", v.text);
    return v;
}

struct pal_value pal_value_compute(struct pal_pool *p, const char *word, const struct pal_value *a,
                                   const struct pal_value *b)
{
    if (strchr("+-*/%", *word))
        return arithmetic(p, *word, a, b);
    if (!strcmp(word, "and") || !strcmp(word, "or"))
        return logic(p, *word == 'a', a, b);
    /* Case is ignored in any form of an operator: -eq, -ieq, -ceq. */
    const char *plain =
        (*word == 'i' || *word == 'c') && strcmp(word, "in") != 0 && strcmp(word, "contains") != 0 ? word + 1 : word;
    return compare(p, plain, a, b);
}

/* ---- branches ---- */

bool pal_value_equal(const struct pal_value *a, const struct pal_value *b)
{
    const bool texts = a->text == b->text || (a->text && b->text && !strcmp(a->text, b->text));
    return a->kind == b->kind && a->source == b->source && a->of == b->of && texts &&
           (a->number == b->number || (a->kind != PAL_CONSTANT && a->kind != PAL_TRUTH));
}

struct pal_value pal_value_choose(struct pal_pool *p, const struct pal_value *condition, const struct pal_value *a,
                                  const struct pal_value *b)
{
    const bool truths =
        (a->kind == PAL_TRUTH || a->kind == PAL_CONDITION) && (b->kind == PAL_TRUTH || b->kind == PAL_CONDITION);
    if (pal_value_equal(a, b))
        return *a;
    if (condition->kind != PAL_CONDITION)
        return pal_unknown(pal_value_words(condition));
    if (truths) {
        const struct pal_value other = pal_value_not(p, condition);
        const struct pal_value then = logic(p, true, condition, a), otherwise = logic(p, true, &other, b);
        /* if `a` is always true, "c or (not c and b)" is simplified to "c or b" */
        const bool simple = a->kind == PAL_TRUTH && a->number != 0;
        return logic(p, false, &then, simple ? b : &otherwise);
    }
    const struct pal_value x = pal_value_number(a), y = pal_value_number(b);
    if (x.kind == PAL_UNKNOWN || y.kind == PAL_UNKNOWN)
        return x.kind == PAL_UNKNOWN ? x : y;
    struct pal_value v = joined(p, PAL_EXPRESSION, &x, &y,
                                pal_format(p, "(%s * %s + %s * not(%s))", pal_value_xpath(p, &x), condition->text,
                                           pal_value_xpath(p, &y), condition->text));
    v.of |= condition->of;
    return v;
}
