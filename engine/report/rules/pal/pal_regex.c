/* SPDX-License-Identifier: MIT */
/* Converts regular expressions to XPath 1.0, which has no function for them. An expression is expanded into its
   alternatives. Each alternative is a sequence of texts with gaps between them. For example,
   "(MSSQL|SQLServer).*:Buffer Manager" has the alternatives "mssql, gap, :buffer manager" and "sqlserver, gap, :buffer
   manager". For a gap, the condition searches for the next text after the previous text; the first match is sufficient.
 */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_parts.h"

#include <stdio.h>
#include <string.h>

enum { ALTERNATIVES_MOST = 32, SEQUENCE_MOST = 300, DEEPEST = 16 };
#define GAP      '\x02' /* any characters */
#define GAP_SOME '\x03' /* a gap of one or more characters */
#define BEGIN    '\x04'
#define END      '\x05'

struct regex {
    const char *at;
    unsigned deep;
    const char *why;
    struct pal_pool *pool;
};

static bool regex_read(struct regex *r, struct texts *out);

static bool regex_fails(struct regex *r, const char *what)
{
    r->why = r->why ? r->why : what;
    return false;
}

static bool add_to(struct regex *r, struct texts *to, const char *text, size_t size)
{
    char *copy = text_copy_n(text, size);
    if (copy && SUCCEEDED(texts_add_owned(to, copy)))
        return true;
    r->pool->failed = true;
    return regex_fails(r, "out of memory");
}

/* Replaces the texts in `to` with all combinations of a text in `to` followed by a text in `by`. */
static bool combine(struct regex *r, struct texts *to, const struct texts *by)
{
    struct texts joined = {0};
    bool right = to->count * by->count <= ALTERNATIVES_MOST || regex_fails(r, "too many alternatives");
    for (size_t i = 0; i < to->count && right; i++)
        for (size_t k = 0; k < by->count && right; k++) {
            char *both = text_format("%s%s", to->items[i], by->items[k]);
            right =
                both ? strlen(both) <= SEQUENCE_MOST || regex_fails(r, "too long") : regex_fails(r, "out of memory");
            right = add_to(r, &joined, both ? both : "", both ? strlen(both) : 0) && right;
            memory_free(both);
        }
    texts_free(to);
    *to = joined;
    return right;
}

/* Expands [abc] to one alternative for each of its characters. */
static bool read_class(struct regex *r, struct texts *atom)
{
    const char *end = strchr(r->at + 1, ']');
    if (!end || end - r->at > 9 || r->at[1] == '^' || memchr(r->at, '-', (size_t)(end - r->at)) ||
        memchr(r->at, '\\', (size_t)(end - r->at)))
        return regex_fails(r, "an unsupported character class");
    for (const char *c = r->at + 1; c < end; c++)
        if (!add_to(r, atom, c, 1))
            return false;
    r->at = end + 1;
    return true;
}

static bool read_atom(struct regex *r, struct texts *atom)
{
    static const char begin[] = {BEGIN, 0}, finish[] = {END, 0};
    const char c = *r->at;
    if (c == '(') {
        r->at += !strncmp(r->at + 1, "?:", 2) ? 3 : 1;
        if (++r->deep > DEEPEST || *r->at == '?')
            return regex_fails(r, "an unsupported kind of group");
        if (!regex_read(r, atom))
            return false;
        r->deep--;
        if (*r->at != ')')
            return regex_fails(r, "an unclosed group");
        r->at++;
        return true;
    }
    if (c == '[')
        return read_class(r, atom);
    if (c == '.' && (r->at[1] == '*' || r->at[1] == '+')) {
        const char gap = r->at[1] == '*' ? GAP : GAP_SOME;
        r->at += 2;
        r->at += *r->at == '?';
        return add_to(r, atom, &gap, 1);
    }
    if (c == '^' || c == '$') {
        r->at++;
        return add_to(r, atom, c == '^' ? begin : finish, 1);
    }
    if (strchr("*+?{", c))
        return regex_fails(r, "a repetition");
    if (c == '\\') {
        const char escaped = *++r->at;
        if (!escaped || (escaped >= '0' && escaped <= '9') || (escaped >= 'a' && escaped <= 'z') ||
            (escaped >= 'A' && escaped <= 'Z'))
            return regex_fails(r, "an unsupported escape");
    }
    return add_to(r, atom, r->at++, 1);
}

static bool read_sequence(struct regex *r, struct texts *out)
{
    bool right = add_to(r, out, "", 0);
    while (right && *r->at && *r->at != '|' && *r->at != ')') {
        struct texts atom = {0};
        right = read_atom(r, &atom);
        if (right && *r->at == '?') {
            r->at++;
            right = add_to(r, &atom, "", 0);
        }
        if (right && *r->at && strchr("*+{", *r->at))
            right = regex_fails(r, "a repetition");
        right = right && combine(r, out, &atom);
        texts_free(&atom);
    }
    return right;
}

static bool regex_read(struct regex *r, struct texts *out)
{
    bool right = true;
    for (bool more = true; right && more;) {
        struct texts sequence = {0};
        right = read_sequence(r, &sequence);
        for (size_t i = 0; i < sequence.count && right; i++)
            right = out->count < ALTERNATIVES_MOST ? add_to(r, out, sequence.items[i], strlen(sequence.items[i]))
                                                   : regex_fails(r, "too many alternatives");
        texts_free(&sequence);
        more = *r->at == '|';
        r->at += more;
    }
    return right;
}

/* Returns the XPath condition for one alternative. It requires the texts of `sequence` in their order. */
static const char *sequence_test(struct regex *r, const char *sequence, const char *of)
{
    const char marks[] = {GAP, GAP_SOME, BEGIN, END, 0};
    const char *rest = of, *test = "";
    bool at_place = false; /* the next text must follow immediately */
    for (const char *c = sequence; *c;) {
        const size_t n = strcspn(c, marks);
        if (!n) {
            if (*c == GAP_SOME)
                rest = pal_format(r->pool, "substring(%s,2)", rest);
            if (*c == BEGIN && c != sequence)
                return regex_fails(r, "^ behind a text"), test;
            if (*c == END && c[1])
                return regex_fails(r, "$ before a text"), test;
            if (*c == END && at_place)
                test = pal_format(r->pool, "%s%snot(string-length(%s))", test, *test ? " and " : "", rest);
            at_place = *c == BEGIN;
            c++;
            continue;
        }
        char *text = text_copy_n(c, n);
        const char *literal = pal_literal(r->pool, text ? text : "", true);
        const char *also = *test ? " and " : "";
        memory_free(text);
        unsigned characters = 0;
        for (size_t i = 0; i < n; i++)
            characters += ((unsigned char)c[i] & 0xC0) != 0x80;
        if (c[n] == END && !at_place)
            test = pal_format(r->pool, "%s%ssubstring(%s,string-length(%s)-%d)=%s", test, also, rest, rest,
                              (int)characters - 1, literal);
        else if (c[n] == END)
            test = pal_format(r->pool, "%s%s%s=%s", test, also, rest, literal);
        else
            test = pal_format(r->pool, at_place ? "%s%sstarts-with(%s,%s)" : "%s%scontains(%s,%s)", test, also, rest,
                              literal);
        rest = at_place ? pal_format(r->pool, "substring(%s,%u)", rest, characters + 1)
                        : pal_format(r->pool, "substring-after(%s,%s)", rest, literal);
        at_place = false;
        c += n + (c[n] == END);
        if (c[-1] == END && *c)
            return regex_fails(r, "$ before a text"), test;
    }
    return *test ? test : "true()";
}

const char *pal_regex(struct pal_pool *p, const char *expression, const char *of, const char **why)
{
    struct regex r = {.at = expression, .pool = p};
    struct texts all = {0};
    const char *test = NULL;
    bool right = regex_read(&r, &all) && (!*r.at || regex_fails(&r, "an unopened bracket"));
    for (size_t i = 0; i < all.count && right; i++) {
        const char *one = sequence_test(&r, all.items[i], of);
        right = !r.why;
        test = test ? pal_format(p, "%s or %s", test, one) : one;
    }
    texts_free(&all);
    *why = r.why;
    if (right && test && strlen(test) > 2500) {
        *why = "too many alternatives";
        return NULL;
    }
    return right ? test : NULL;
}
