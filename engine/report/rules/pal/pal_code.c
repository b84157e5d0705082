/* SPDX-License-Identifier: MIT */
/* Interprets the PowerShell of a threshold or of a computed counter without running it.

   The code is interpreted once. Values are constants, collections, or XPath for values that only a report contains
   (pal_value.h). Questions are constants, so the result of a condition on a question is known; a condition on a
   counter becomes part of the threshold's condition. A loop is interpreted once, with an arbitrary instance of its
   collection, because rules, like PAL's loop, are applied to each instance and each time slice. Both StaticThreshold
   and CreateAlert create an alert. The condition of CreateAlert consists of the conditions of the enclosing branches;
   in this example, the second line shows the conditions that are known at each place:

       ForEach ($d in $Disk) { If ($d.QuantizedAvg[$t] -gt 0.02) { $hit = $true } ... If ($hit) { CreateAlert ... } }
                               path: mean > 0.02                hit: mean > 0.02      alert: mean > 0.02

   Code that is not understood has no effect, unless an alert depends on it: in that case the threshold is not imported.
   */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_machine.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

static void run_block(struct pal_machine *m);

/* Moves to the end of the statement, across brackets. */
static void skip_statement(struct pal_machine *m)
{
    while (m->at->kind != PAL_LINE && m->at->kind != PAL_END && !is_sign(m->at, "}"))
        if (is_sign(m->at, "(") || is_sign(m->at, "{") || is_sign(m->at, "["))
            pal_skip_brackets(m);
        else
            m->at++;
}

/* ---- alerts ---- */

static bool is_parameter(const struct pal_token *t, const char *name)
{
    return t->kind == PAL_DASH && strlen(t->text) > 2 && !strncmp(name, t->text, strlen(t->text));
}

static struct pal_alert *new_alert(struct pal_machine *m)
{
    if (m->path.kind == PAL_UNKNOWN) {
        pal_fails(m, m->path.text
                         ? pal_format(m->pool, "its code depends on '%.100s', which is not supported", m->path.text)
                         : "its code depends on something that is not supported");
        return NULL;
    }
    if (m->path.kind == PAL_TRUTH && m->path.number == 0)
        return NULL;
    if (m->out->count == PAL_ALERTS_MAX) {
        pal_fails(m, "its code creates too many alerts");
        return NULL;
    }
    return &m->out->alerts[m->out->count];
}

/* Returns the condition of a StaticThreshold on the statistic a->shown. For = and !=, any one of mean, minimum and
   maximum may meet the condition, unless only means or trends are compared. */
static const char *static_condition(struct pal_machine *m, const struct pal_alert *a, const char *limit)
{
    static const char *const names[] = {"mean", "min", "max", "trend"};
    const char *test = "";
    const bool any = !a->of_trend && !m->means && (*a->sign == '=' || *a->sign == '!');
    for (int i = 0; i < 3; i++) {
        const enum pal_statistic one = any ? (enum pal_statistic)i : a->shown;
        const char *value =
            pal_format(m->pool, one == PAL_TREND ? PAL_ROW "Data[@name='%s']" : "Data[@name='%s']", names[one]);
        if (a->is_whole)
            value = pal_rounded(m->pool, value, a->source->decimals);
        test = pal_format(m->pool, "%s%s%s %s %s", test, *test ? " or " : "", value, a->sign, limit);
        if (!any)
            break;
    }
    return test;
}

static void static_threshold(struct pal_machine *m)
{
    struct pal_value collection = pal_unknown(NULL), limit = pal_unknown(NULL), how = pal_unknown(NULL);
    struct pal_value trend = pal_truth(false);
    while (m->at->kind != PAL_LINE && m->at->kind != PAL_END && !is_sign(m->at, "}")) {
        struct pal_value *to = is_parameter(m->at, "collectionofcounterinstances") ? &collection
                               : is_parameter(m->at, "operator")                   ? &how
                               : is_parameter(m->at, "threshold")                  ? &limit
                               : is_parameter(m->at, "istrendonly")                ? &trend
                                                                                   : NULL;
        m->at++;
        if (!to)
            continue;
        if (to == &how && m->at->kind == PAL_DASH) /* -Operator -gt */
            *to = (struct pal_value){.kind = PAL_TEXT, .text = m->at++->text};
        else
            *to = pal_read(m);
    }
    struct pal_alert *a = new_alert(m);
    if (!a)
        return;
    if (m->path.kind == PAL_CONDITION) {
        pal_fails(m, "StaticThreshold depends on a counter");
        return;
    }
    if (collection.kind != PAL_COLLECTION) {
        pal_fails(m, pal_format(m->pool, "'%.100s' is not a counter of the analysis",
                                pal_value_words(&collection) ? pal_value_words(&collection)
                                                             : "-CollectionOfCounterInstances"));
        return;
    }
    const struct pal_value number = pal_value_number(&limit), is_trend = pal_value_truth(m->pool, &trend);
    if ((number.kind != PAL_CONSTANT && number.kind != PAL_EXPRESSION) || number.of) {
        pal_fails(m, pal_value_words(&limit)
                         ? pal_format(m->pool, "its limit '%.100s' is not supported", pal_value_words(&limit))
                         : "its limit is not supported");
        return;
    }
    static const struct {
        const char *name, *sign;
    } operators[] = {{"gt", ">"}, {"ge", ">="}, {"lt", "<"}, {"le", "<="}, {"eq", "="}, {"ne", "!="}};
    const char *name = how.kind == PAL_TEXT ? how.text : "gt", *sign = NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (text_equal_nocase(name + (*name == '-'), operators[i].name))
            sign = operators[i].sign;
    if (!sign)
        m->out->note = pal_format(m->pool, "the operator '%.40s' is treated as gt", name);
    else if (!strcmp(sign, "!="))
        m->out->note = "the operator ne is kept; PAL treats it as gt";
    double scaled = number.number;
    for (int i = 0; i < collection.source->decimals; i++)
        scaled *= 10;
    *a = (struct pal_alert){.source = collection.source,
                            .sign = sign ? sign : ">",
                            .limit = pal_value_xpath(m->pool, &number),
                            .is_constant = number.kind == PAL_CONSTANT,
                            .of_trend = is_trend.kind == PAL_TRUTH && is_trend.number != 0,
                            .is_whole = number.kind == PAL_CONSTANT && fabs(scaled - round(scaled)) < 1e-9};
    a->shown = a->of_trend       ? PAL_TREND
               : m->means        ? PAL_MEAN
               : *a->sign == '>' ? PAL_MAX
               : *a->sign == '<' ? PAL_MIN
                                 : PAL_MEAN;
    if (!a->source->generated)
        a->condition = static_condition(m, a, a->is_constant ? a->limit : "{palLimit}");
    m->out->count++;
}

/* Adds the alert of a CreateAlert in a loop. The conditions of the enclosing branches become the threshold of the
   alert. */
static void create_alert(struct pal_machine *m)
{
    skip_statement(m);
    struct pal_alert *a = new_alert(m);
    if (!a)
        return;
    if (m->path.kind != PAL_CONDITION || !m->path.of) {
        pal_fails(m, "its code creates alerts without a condition on a counter");
        return;
    }
    if (m->path.of & (m->path.of - 1)) {
        pal_fails(m, "its code compares several counters in a loop");
        return;
    }
    const struct pal_source *source = m->analysis->sources;
    while (pal_bit(m, source) != m->path.of)
        source++;
    if (source->generated) {
        pal_fails(m, "its code is a loop over a computed counter");
        return;
    }
    for (size_t i = 0; i < m->out->count; i++)
        if (m->out->alerts[i].source == source && m->out->alerts[i].condition &&
            !strcmp(m->out->alerts[i].condition, m->path.text))
            return;
    *a = (struct pal_alert){
        .source = source, .condition = m->path.text, .limit = "", .of_trend = m->path.of_trend, .shown = PAL_MEAN};
    m->out->count++;
}

/* ---- statements ---- */

/* Runs the block at the current position. While it runs, `condition` is a part of m->path. */
static void run_branch(struct pal_machine *m, const struct pal_value *condition)
{
    const struct pal_value before = m->path;
    m->path = pal_value_compute(m->pool, "and", &before, condition);
    run_block(m);
    m->path = before;
}

/* Executes a branch with a copy of the variables. Afterwards each variable has its value from the branch if `condition`
   is true, and its previous value otherwise. */
static void run_conditional(struct pal_machine *m, const struct pal_value *condition)
{
    struct pal_locals *const all = m->locals;
    struct pal_locals *own = memory_copy(all, sizeof *all);
    if (!own) {
        m->hr = E_OUTOFMEMORY;
        pal_skip_brackets(m);
        return;
    }
    m->locals = own;
    run_branch(m, condition);
    m->locals = all;
    for (size_t i = 0; i < own->count; i++) {
        const struct pal_value *old = pal_local(m, own->items[i].name);
        const struct pal_value none = pal_unknown(own->items[i].name);
        const struct pal_value joined = pal_value_choose(m->pool, condition, &own->items[i].value, old ? old : &none);
        pal_set_local(m, own->items[i].name, joined);
    }
    memory_free(own);
}

/* Interprets If, ElseIf and Else. A branch with a constant condition is run or skipped. */
static void run_if(struct pal_machine *m)
{
    struct pal_value left = pal_truth(true); /* true if no earlier branch was taken */
    for (bool more = true, otherwise = false; more;) {
        struct pal_value condition = pal_truth(true);
        m->at++; /* skip the word if, elseif or else */
        pal_skip_lines(m);
        if (!otherwise && pal_take(m, "(")) {
            pal_skip_lines(m);
            const struct pal_value v = pal_read(m);
            pal_skip_lines(m);
            condition = is_sign(m->at, ")") ? pal_value_truth(m->pool, &v) : pal_unknown(m->at->text);
            while (m->at->kind != PAL_END && !is_sign(m->at, ")") && !is_sign(m->at, "{"))
                m->at++;
            pal_take(m, ")");
        }
        pal_skip_lines(m);
        const struct pal_value both = pal_value_compute(m->pool, "and", &left, &condition);
        const struct pal_value other = pal_value_not(m->pool, &condition);
        if (!is_sign(m->at, "{"))
            return;
        if (both.kind == PAL_TRUTH && both.number != 0)
            run_block(m);
        else if (both.kind == PAL_TRUTH)
            pal_skip_brackets(m);
        else
            run_conditional(m, &both);
        left = pal_value_compute(m->pool, "and", &left, &other);
        const struct pal_token *next = m->at;
        while (next->kind == PAL_LINE)
            next++;
        otherwise = is_word(next, "else");
        more = otherwise || is_word(next, "elseif");
        if (more)
            m->at = next;
    }
}

static void run_foreach(struct pal_machine *m)
{
    m->at++;
    pal_skip_lines(m);
    struct pal_value of = pal_unknown(NULL);
    const char *name = NULL;
    if (pal_take(m, "(")) {
        if (m->at->kind == PAL_VARIABLE)
            name = m->at++->text;
        if (is_word(m->at, "in")) {
            m->at++;
            of = pal_read(m);
        }
        while (m->at->kind != PAL_END && !is_sign(m->at, ")") && !is_sign(m->at, "{"))
            m->at++;
        pal_take(m, ")");
    }
    pal_skip_lines(m);
    if (!name || !is_sign(m->at, "{"))
        return;
    if (of.kind == PAL_COLLECTION)
        of.kind = PAL_ITEM;
    if (of.kind != PAL_LIST && of.kind != PAL_TEXT) {
        pal_set_local(m, name, of);
        run_block(m);
        return;
    }
    const struct pal_token *body = m->at;
    unsigned items = 0;
    for (const char *c = of.text; *c && items++ < 100 && m->steps < PAL_STEPS_MAX;) {
        const size_t n = strcspn(c, PAL_LIST_MARK);
        pal_set_local(m, name, (struct pal_value){.kind = PAL_TEXT, .text = pal_keep(m->pool, text_copy_n(c, n))});
        m->at = body;
        run_block(m);
        c += n + (c[n] != 0);
    }
    m->at = body;
    pal_skip_brackets(m);
}

/* Interprets For, While and Do. The body is interpreted once; the value of the index is unknown. */
static void run_loop(struct pal_machine *m)
{
    m->at++;
    pal_skip_lines(m);
    if (is_sign(m->at, "("))
        pal_skip_brackets(m);
    pal_skip_lines(m);
    if (is_sign(m->at, "{"))
        run_block(m);
}

/* Interprets $a = value, [int] $a = value, $a += value, or an expression without effect. */
static void run_assignment(struct pal_machine *m)
{
    const struct pal_token *target = m->at, *begin = m->at;
    if (is_sign(target, "[")) {
        pal_skip_brackets(m);
        target = m->at;
    }
    if (target->kind == PAL_VARIABLE) {
        m->at = target + 1;
        while (is_sign(m->at, "[") || (is_sign(m->at, ".") && m->at[1].kind == PAL_WORD))
            if (is_sign(m->at, "["))
                pal_skip_brackets(m);
            else
                m->at += 2;
        const char *sign = m->at->kind == PAL_SIGN ? m->at->text : "";
        const bool plain = !strcmp(sign, "="), adds = *sign && strchr("+-*/", *sign) && sign[1] == '=';
        const bool whole = m->at == target + 1;
        if (plain || adds) {
            m->at++;
            pal_skip_lines(m);
            struct pal_value v = pal_read(m);
            const struct pal_value *old = pal_local(m, target->text);
            const char operation[] = {*sign, 0};
            if (adds)
                v = pal_value_compute(m->pool, operation, old ? old : &v, &v);
            pal_consider(m, &v);
            if (is_sign(m->at, ",") || is_sign(m->at, "|"))
                v = pal_unknown(target->text);
            if (whole)
                pal_set_local(m, target->text, v);
            skip_statement(m);
            return;
        }
    }
    m->at = begin;
    const struct pal_value v = pal_read(m);
    pal_consider(m, &v);
    m->at += m->at == begin && m->at->kind != PAL_END && !is_sign(m->at, "}");
    skip_statement(m);
}

static void run_statement(struct pal_machine *m)
{
    static const char *const jumps[] = {"continue", "break", "return", "exit", "switch", "trap", "throw"};
    const struct pal_token *t = m->at;
    if (++m->steps > PAL_STEPS_MAX) {
        pal_fails(m, "its code is too long");
        while (m->at->kind != PAL_END)
            m->at++;
        return;
    }
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        if (is_word(t, jumps[i]) && !m->computes)
            pal_fails(m, pal_format(m->pool, "its code uses '%s'", jumps[i]));
    if (is_word(t, "if"))
        run_if(m);
    else if (is_word(t, "foreach") && is_sign(m->at + 1, "("))
        run_foreach(m);
    else if (is_word(t, "for") || is_word(t, "while") || is_word(t, "do"))
        run_loop(m);
    else if (is_word(t, "function")) {
        while (m->at->kind != PAL_END && !is_sign(m->at, "{"))
            m->at++;
        pal_skip_brackets(m);
    } else if (is_word(t, "staticthreshold")) {
        m->at++;
        static_threshold(m);
    } else if (is_word(t, "createalert")) {
        create_alert(m);
    } else if (t->kind == PAL_WORD) { /* another command */
        for (m->at++; m->at->kind != PAL_LINE && m->at->kind != PAL_END && !is_sign(m->at, "}");) {
            const struct pal_token *before = m->at;
            if (m->at->kind == PAL_DASH) {
                m->at++;
                continue;
            }
            const struct pal_value v = pal_read(m);
            pal_consider(m, &v);
            m->at += m->at == before;
        }
    } else if (is_sign(t, "{")) {
        run_block(m);
    } else {
        run_assignment(m);
    }
}

/* Moves from { to the position after its }. */
static void run_block(struct pal_machine *m)
{
    if (++m->deep > PAL_DEEPEST) {
        pal_fails(m, "its code is too deeply nested");
        m->deep--;
        pal_skip_brackets(m);
        return;
    }
    m->at++;
    for (pal_skip_lines(m); m->at->kind != PAL_END && !is_sign(m->at, "}"); pal_skip_lines(m)) {
        const struct pal_token *before = m->at;
        run_statement(m);
        m->at += m->at == before && m->at->kind != PAL_END;
    }
    pal_take(m, "}");
    m->deep--;
}

/* ---- whole scripts ---- */

/* Returns whether the code is VBScript. Thresholds of PAL 1 have such code, but PAL 2 cannot run it. */
static bool is_vbscript(const struct pal_tokens *tokens)
{
    for (size_t i = 0; i + 1 < tokens->count; i++)
        if (is_word(&tokens->items[i], "then") || is_word(&tokens->items[i], "dim") ||
            (is_word(&tokens->items[i], "end") && is_word(&tokens->items[i + 1], "if")) ||
            (is_word(&tokens->items[i], "for") && is_word(&tokens->items[i + 1], "each")))
            return true;
    return false;
}

HRESULT pal_machine_run(struct pal_machine *m, const char *code, bool *empty, bool *old)
{
    struct texts names = {0};
    struct pal_tokens tokens = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < m->analysis->source_count && SUCCEEDED(hr); i++)
        hr = texts_add(&names, m->analysis->sources[i].variable);
    for (size_t i = 0; i < m->set->out->question_count && SUCCEEDED(hr); i++)
        hr = texts_add(&names, m->set->out->questions[i].variable);
    if (SUCCEEDED(hr))
        hr = pal_tokens_read(m->pool, code, &names, &tokens);
    if (hr == S_FALSE)
        pal_fails(m, "its code is too long");
    *empty = tokens.count && tokens.items[0].kind == PAL_END;
    *old = SUCCEEDED(hr) && is_vbscript(&tokens);
    m->locals = memory_zero(1, sizeof *m->locals);
    m->candidates = memory_zero(PAL_CANDIDATES_MAX, sizeof *m->candidates);
    hr = SUCCEEDED(hr) && (!m->locals || !m->candidates) ? E_OUTOFMEMORY : hr;
    m->at = tokens.items;
    m->path = pal_truth(true);
    while (hr == S_OK && !*old && m->at->kind != PAL_END) {
        const struct pal_token *before = m->at;
        if (m->at->kind == PAL_LINE)
            m->at++;
        else
            run_statement(m);
        m->at += m->at == before;
    }
    memory_free(m->locals);
    memory_free(tokens.items);
    texts_free(&names);
    return FAILED(hr) ? hr : FAILED(m->hr) ? m->hr : m->pool->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT pal_code_read(struct pal_set *set, const struct pal_analysis *a, const struct pal_threshold *t, bool means,
                      struct pal_outcome *out)
{
    struct pal_machine m = {.set = set, .pool = &set->pool, .analysis = a, .means = means, .out = out};
    bool empty = false, old = false;
    *out = (struct pal_outcome){0};
    const HRESULT hr = pal_machine_run(&m, t->code, &empty, &old);
    memory_free(m.candidates);
    if (empty)
        out->why = "it has no code";
    else if (old)
        out->why = "it is VBScript for PAL 1";
    for (size_t i = 0; i < out->count && !out->why; i++)
        if (!out->alerts[i].source->generated && !out->alerts[i].source->rows)
            out->why = out->alerts[i].source->why;
    return hr;
}
