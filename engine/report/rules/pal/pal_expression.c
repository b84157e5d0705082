/* SPDX-License-Identifier: MIT */
/* Reads PowerShell expressions: operators, members of collections and of their items, casts, and calls. */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_machine.h"

void pal_fails(struct pal_machine *m, const char *why)
{
    if (!m->out->why)
        m->out->why = why;
}

/* ---- tokens ---- */

bool pal_take(struct pal_machine *m, const char *sign)
{
    const bool is = is_sign(m->at, sign);
    m->at += is;
    return is;
}

void pal_skip_lines(struct pal_machine *m)
{
    while (m->at->kind == PAL_LINE)
        m->at++;
}

/* Moves from an opening bracket to the position after its closing bracket. */
void pal_skip_brackets(struct pal_machine *m)
{
    static const char open[] = "([{", close[] = ")]}";
    int deep = 0;
    do {
        if (m->at->kind == PAL_SIGN && !m->at->text[1]) {
            deep += strchr(open, *m->at->text) != NULL;
            deep -= strchr(close, *m->at->text) != NULL;
        }
        m->at += m->at->kind != PAL_END;
    } while (deep > 0 && m->at->kind != PAL_END);
}

/* ---- names ---- */

uint64_t pal_bit(const struct pal_machine *m, const struct pal_source *s)
{
    return UINT64_C(1) << (size_t)(s - m->analysis->sources);
}

struct pal_value *pal_local(struct pal_machine *m, const char *name)
{
    for (size_t i = 0; i < m->locals->count; i++)
        if (!strcmp(m->locals->items[i].name, name))
            return &m->locals->items[i].value;
    return NULL;
}

void pal_set_local(struct pal_machine *m, const char *name, struct pal_value value)
{
    struct pal_value *v = pal_local(m, name);
    if (v) {
        *v = value;
    } else if (m->locals->count < PAL_LOCALS_MAX) {
        m->locals->items[m->locals->count].name = name;
        m->locals->items[m->locals->count++].value = value;
    } else {
        pal_fails(m, "its code has too many variables");
    }
}

static struct pal_value question_value(struct pal_machine *m, const struct pal_question *q)
{
    if (text_equal_nocase(q->value, "true") || text_equal_nocase(q->value, "false"))
        return pal_truth(text_equal_nocase(q->value, "true"));
    const struct pal_value text = {.kind = PAL_TEXT, .text = pal_keep(m->pool, text_copy(q->value))};
    if (!q->is_memory)
        return text;
    const struct pal_value usual = pal_value_number(&text); /* amount in GB that is used if the report does not
                                                               contain the amount of memory */
    static const char memory[] = "/Report/Header/Data[@name='memory']";
    return (struct pal_value){.kind = PAL_EXPRESSION,
                              .text = pal_format(m->pool, "(sum(%s) div 1024 + %s * not(%s))", memory,
                                                 pal_number(m->pool, usual.kind == PAL_CONSTANT ? usual.number : 0),
                                                 memory)};
}

static struct pal_value variable_value(struct pal_machine *m, const char *name)
{
    const struct pal_value *local = pal_local(m, name);
    if (local)
        return *local;
    if (!strcmp(name, "true") || !strcmp(name, "false"))
        return pal_truth(*name == 't');
    if (!strcmp(name, "null"))
        return (struct pal_value){.kind = PAL_TEXT, .text = pal_null};
    for (size_t i = 0; i < m->analysis->source_count; i++)
        if (text_equal_nocase(m->analysis->sources[i].variable, name))
            return (struct pal_value){.kind = PAL_COLLECTION, .source = &m->analysis->sources[i]};
    for (size_t i = 0; i < m->set->out->question_count; i++)
        if (text_equal_nocase(m->set->out->questions[i].variable, name))
            return question_value(m, &m->set->out->questions[i]);
    return pal_unknown(pal_format(m->pool, "$%.100s", name));
}

/* ---- members ---- */

static struct pal_value statistic(struct pal_machine *m, const struct pal_source *s, const char *name)
{
    const uint64_t of = pal_bit(m, s);
    if (!strcmp(name, "trend"))
        return (struct pal_value){
            .kind = PAL_EXPRESSION, .text = PAL_ROW "Data[@name='trend']", .source = s, .of = of, .of_trend = true};
    return (struct pal_value){
        .kind = PAL_EXPRESSION, .text = pal_format(m->pool, "Data[@name='%s']", name), .source = s, .of = of};
}

static struct pal_value member_of(struct pal_machine *m, const struct pal_value *v, const char *name)
{
    static const struct {
        const char *name, *path;
    } strings[] = {{"counterinstance", PAL_LOWER(PAL_ROW "Data[@name='instance']")},
                   {"countercomputer", PAL_LOWER(PAL_ROW "Data[@name='machine']")},
                   {"countername", PAL_LOWER(PAL_ROW "Data[@name='counter']")},
                   {"counterobject", PAL_LOWER(PAL_ROW "../@source")}};
    static const struct {
        const char *name, *statistic;
    } numbers[] = {
        {"quantizedmin", "min"}, {"quantizedavg", "mean"}, {"quantizedmax", "max"}, {"quantizedtrend", "trend"},
        {"min", "min"},          {"avg", "mean"},          {"max", "max"},          {"trend", "trend"},
        {"value", "mean"}};
    const bool counted = !strcmp(name, "count") || !strcmp(name, "length");
    if (v->kind == PAL_COLLECTION && counted && v->source->rows)
        return (struct pal_value){.kind = PAL_EXPRESSION, .text = pal_format(m->pool, "count(%s)", v->source->rows)};
    if (v->kind == PAL_LIST || v->kind == PAL_TEXT)
        return counted ? pal_unknown("a length") : *v;
    if (v->kind != PAL_ITEM && v->kind != PAL_COLLECTION)
        return v->kind == PAL_EXPRESSION && !counted ? *v : pal_unknown(pal_value_words(v));
    const uint64_t of = pal_bit(m, v->source);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!strcmp(name, strings[i].name))
            return (struct pal_value){.kind = PAL_STRING_OF, .text = strings[i].path, .source = v->source, .of = of};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name)) {
            if (!m->computes)
                return statistic(m, v->source, numbers[i].statistic);
            return (struct pal_value){.kind = PAL_EXPRESSION,
                                      .text =
                                          pal_format(m->pool, "{palS%u}", (unsigned)(v->source - m->analysis->sources)),
                                      .source = v->source,
                                      .of = of};
        }
    return pal_unknown(name);
}

/* Interprets $text.Split(','). */
static struct pal_value split(struct pal_machine *m, const char *text, const char *by)
{
    struct text_buffer b = {0};
    for (const char *c = text; *c;) {
        const size_t n = strcspn(c, *by ? by : ", ");
        char *item = text_copy_n(c, n);
        if (item)
            xml_trim(item);
        if (item && *item) {
            text_buffer_add(&b, b.length ? PAL_LIST_MARK : "");
            text_buffer_add(&b, item);
        }
        b.failed |= !item;
        memory_free(item);
        c += n + (c[n] != 0);
    }
    text_buffer_add(&b, "");
    return (struct pal_value){.kind = PAL_LIST, .text = pal_keep(m->pool, text_buffer_take(&b))};
}

static struct pal_value method_of(struct pal_machine *m, const struct pal_value *v, const char *name,
                                  const struct pal_value *argument)
{
    if (v->kind == PAL_TEXT && !strcmp(name, "split"))
        return split(m, v->text, argument->kind == PAL_TEXT ? argument->text : "");
    if (v->kind == PAL_LIST && !strcmp(name, "contains"))
        return pal_value_compute(m->pool, "contains", v, argument);
    if (v->kind == PAL_STRING_OF && (!strcmp(name, "tolower") || !strcmp(name, "toupper") || !strcmp(name, "trim")))
        return *v;
    if (v->kind == PAL_STRING_OF && argument->kind == PAL_TEXT &&
        (!strcmp(name, "contains") || !strcmp(name, "startswith"))) {
        struct pal_value is = *v;
        is.kind = PAL_CONDITION;
        is.text = pal_format(m->pool, "%s(%s,%s)", *name == 'c' ? "contains" : "starts-with", v->text,
                             pal_literal(m->pool, argument->text, true));
        return is;
    }
    return pal_unknown(name);
}

/* ---- expressions ---- */

/* Reads arguments up to the closing bracket; only the first two are kept. */
static void read_arguments(struct pal_machine *m, struct pal_value first[2])
{
    first[0] = first[1] = pal_unknown(NULL);
    for (size_t i = 0; m->at->kind != PAL_END && !is_sign(m->at, ")"); i++) {
        const struct pal_token *before = m->at;
        pal_skip_lines(m);
        const struct pal_value v = pal_read(m);
        if (i < 2)
            first[i] = v;
        pal_skip_lines(m);
        if (!pal_take(m, ",") && m->at == before)
            m->at++;
    }
    pal_take(m, ")");
}

/* If the value is an arithmetic expression of several counters, keeps it as a candidate for the formula of the computed
   counter. */
void pal_consider(struct pal_machine *m, const struct pal_value *v)
{
    const bool several = v->kind == PAL_EXPRESSION && (v->of & (v->of - 1)) != 0;
    if (!m->computes || !several || m->candidate_count >= PAL_CANDIDATES_MAX)
        return;
    for (size_t i = 0; i < m->candidate_count; i++)
        if (!strcmp(m->candidates[i].text, v->text))
            return;
    m->candidates[m->candidate_count++] = *v;
}

static struct pal_value read_postfix(struct pal_machine *m, struct pal_value v)
{
    for (;;) {
        if (is_sign(m->at, ".") && m->at[1].kind == PAL_WORD) {
            const char *name = m->at[1].text;
            m->at += 2;
            if (pal_take(m, "(")) {
                struct pal_value arguments[2];
                read_arguments(m, arguments);
                pal_consider(m, &arguments[0]);
                v = method_of(m, &v, name, &arguments[0]);
            } else {
                v = member_of(m, &v, name);
            }
        } else if (is_sign(m->at, ".") && m->at[1].kind != PAL_NUMBER) {
            m->at++; /* skip a stray token */
        } else if (is_sign(m->at, "[")) {
            m->at++;
            (void)pal_read(m);
            while (m->at->kind != PAL_END && m->at->kind != PAL_LINE && !is_sign(m->at, "]"))
                m->at++;
            pal_take(m, "]");
            if (v.kind == PAL_COLLECTION)
                v.kind = PAL_ITEM;
            else if (v.kind == PAL_LIST)
                v = pal_unknown("an item of a list");
        } else if (is_sign(m->at, "++") || is_sign(m->at, "--")) {
            m->at++;
            v = pal_unknown("a number that is incremented");
        } else {
            return v;
        }
    }
}

/* Reads a type, as in [int] value and [math]::Max(a, b). */
static struct pal_value read_type(struct pal_machine *m)
{
    const struct pal_token *type = m->at + 1;
    pal_skip_brackets(m);
    if (!is_sign(m->at, "::") || m->at[1].kind != PAL_WORD)
        return pal_unknown(type->text); /* a cast; the caller reads the value that follows it */
    const char *name = m->at[1].text;
    m->at += 2;
    if (!pal_take(m, "("))
        return pal_unknown(name);
    struct pal_value a[2];
    read_arguments(m, a);
    if (!strcmp(name, "round") || !strcmp(name, "truncate") || !strcmp(name, "ceiling") || !strcmp(name, "floor"))
        return a[0];
    if (!strcmp(name, "max") || !strcmp(name, "min")) {
        const struct pal_value is =
            pal_value_compute(m->pool, *name == 'm' && name[1] == 'a' ? "ge" : "le", &a[0], &a[1]);
        return is.kind == PAL_TRUTH ? (is.number != 0 ? a[0] : a[1]) : pal_value_choose(m->pool, &is, &a[0], &a[1]);
    }
    return pal_unknown(name);
}

/* Reads a bracket. The texts of @( 'a', 'b' ) become a list. */
static struct pal_value read_bracket(struct pal_machine *m)
{
    struct pal_value v = pal_read(m);
    bool listed = false;
    for (pal_skip_lines(m); pal_take(m, ","); pal_skip_lines(m)) {
        pal_skip_lines(m);
        const struct pal_value next = pal_read(m);
        const bool texts = (v.kind == PAL_TEXT || v.kind == PAL_LIST) && next.kind == PAL_TEXT;
        listed = true;
        v = texts ? (struct pal_value){.kind = PAL_LIST,
                                       .text = pal_format(m->pool, "%s" PAL_LIST_MARK "%s", v.text, next.text)}
                  : pal_unknown("a list");
        if (v.text && strlen(v.text) > 4000)
            v = pal_unknown("a list");
    }
    if (listed && v.kind == PAL_TEXT)
        v.kind = PAL_LIST;
    while (m->at->kind != PAL_END && !is_sign(m->at, ")"))
        m->at++;
    pal_take(m, ")");
    return read_postfix(m, v);
}

static struct pal_value read_operand(struct pal_machine *m)
{
    const struct pal_token *t = m->at;
    if (++m->deep > PAL_DEEPEST || ++m->steps > PAL_STEPS_MAX) {
        pal_fails(m, "its code is too long or too deeply nested");
        m->deep--;
        m->at += t->kind != PAL_END;
        return pal_unknown(NULL);
    }
    struct pal_value v = pal_unknown(t->text);
    if (is_sign(t, "[")) {
        v = read_type(m);
        const bool casts = v.kind == PAL_UNKNOWN && m->at[-1].kind == PAL_SIGN && is_sign(m->at - 1, "]");
        if (casts && (m->at->kind == PAL_VARIABLE || m->at->kind == PAL_NUMBER || m->at->kind == PAL_STRING ||
                      is_sign(m->at, "(") || is_sign(m->at, "[") || is_sign(m->at, "-"))) {
            v = read_operand(m);
            if (v.kind == PAL_TEXT && pal_value_number(&v).kind == PAL_CONSTANT && t[1].kind == PAL_WORD &&
                strcmp(t[1].text, "string") != 0)
                v = pal_value_number(&v);
        }
    } else if (is_sign(t, "-") || is_sign(t, "+")) {
        m->at++;
        const struct pal_value zero = pal_constant(0), right = read_operand(m);
        v = pal_value_compute(m->pool, t->text, &zero, &right);
    } else if (is_sign(t, "!") || (t->kind == PAL_DASH && !strcmp(t->text, "not"))) {
        m->at++;
        const struct pal_value right = read_operand(m);
        v = pal_value_not(m->pool, &right);
    } else if (is_sign(t, "@") && is_sign(t + 1, "(")) {
        m->at += 2;
        v = read_bracket(m);
    } else if (is_sign(t, "(")) {
        m->at++;
        pal_skip_lines(m);
        v = read_bracket(m);
    } else if (t->kind == PAL_VARIABLE) {
        m->at++;
        v = read_postfix(m, variable_value(m, t->text));
    } else if (t->kind == PAL_NUMBER) {
        m->at++;
        v = pal_constant(t->number);
    } else if (t->kind == PAL_STRING) {
        m->at++;
        v = read_postfix(m, (struct pal_value){.kind = PAL_TEXT, .text = t->text});
    } else if (t->kind == PAL_WORD) { /* a call, or an unquoted text */
        m->at++;
        if (is_sign(m->at, "(")) {
            struct pal_value arguments[2];
            m->at++;
            read_arguments(m, arguments);
        } else {
            v = (struct pal_value){.kind = PAL_TEXT, .text = t->text};
        }
    }
    m->deep--;
    return v;
}

static struct pal_value read_level(struct pal_machine *m, int level)
{
    static const char *const comparisons[] = {"eq",       "ne",   "gt",      "ge",       "lt",          "le", "match",
                                              "notmatch", "like", "notlike", "contains", "notcontains", "in", "notin"};
    if (level == 4)
        return read_operand(m);
    struct pal_value v = read_level(m, level + 1);
    for (;;) {
        const struct pal_token *t = m->at;
        bool is = false;
        if (level == 3)
            is = is_sign(t, "*") || is_sign(t, "/") || is_sign(t, "%");
        else if (level == 2)
            is = is_sign(t, "+") || is_sign(t, "-");
        else if (t->kind == PAL_DASH && level == 1)
            for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
                is |= !strcmp(t->text, comparisons[i]) ||
                      ((*t->text == 'i' || *t->text == 'c') && !strcmp(t->text + 1, comparisons[i]));
        else if (t->kind == PAL_DASH)
            is = !strcmp(t->text, "and") || !strcmp(t->text, "or");
        if (!is)
            return v;
        m->at++;
        pal_skip_lines(m);
        const struct pal_value right = read_level(m, level + 1);
        v = pal_value_compute(m->pool, t->text, &v, &right);
    }
}

struct pal_value pal_read(struct pal_machine *m)
{
    return read_level(m, 0);
}
