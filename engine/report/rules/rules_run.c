/* SPDX-License-Identifier: MIT */
/* Runs rules on one report: groups, rules, steps. MS-PLA 2.2.3.4. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/report/rules/rules_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    RUN_OPERATIONS = 400000000, /* limit of XPath operations for all expressions: some ten seconds */
    LOG_BYTES_MAX = 4 << 20,
};

/* ---- errors and notes ---- */

void rules_log(struct rules_run *run, uint32_t bits, const char *kind, const char *format, ...)
{
    char what[1200];
    va_list list;
    if (!(run->log_level & bits) || run->log.length > LOG_BYTES_MAX)
        return;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    const struct calendar_time t = clock_calendar(clock_utc());
    text_buffer_format(&run->log, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ %s ", (unsigned)t.year, (unsigned)t.month,
                       (unsigned)t.day, (unsigned)t.hour, (unsigned)t.minute, (unsigned)t.second,
                       (unsigned)t.millisecond, kind);
    rules_place_add(&run->place, &run->log);
    text_buffer_add_escaped(&run->log, what);
    text_buffer_add(&run->log,
                    run->log.length > LOG_BYTES_MAX ? "\n(the log ends here: it has reached its size limit)\n" : "\n");
}

HRESULT rules_note_error(struct rules_run *run, HRESULT hr)
{
    if (hr != RULES_INVALID && hr != E_INVALIDARG)
        return hr;
    const struct error_kept why = error_keep(hr);
    rules_log(run, RULES_LOG_ERRORS, "error", "%s", why.text);
    hr = rules_note(&run->out->errors, &run->place, why.text);
    return FAILED(hr) ? hr : S_FALSE;
}

HRESULT rules_add_note(struct rules_run *run, xmlNodePtr e, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const struct error_kept why = error_keep(xml_invalid(RULES_INVALID, e, NULL, NULL, format, list));
    va_end(list);
    rules_log(run, RULES_LOG_ERRORS, "remark", "%s", why.text);
    return rules_note(&run->out->notes, &run->place, why.text);
}

static bool is_stopped(const struct rules_run *run)
{
    return run->job->stop && run->job->stop(run->job->context);
}

static uint32_t seconds_of(const struct rules_run *run)
{
    return run->job->seconds ? run->job->seconds : RULES_SECONDS;
}

static bool is_late(const struct rules_run *run)
{
    return clock_passed_ms(run->began, clock_monotonic_ms()) >= (uint64_t)seconds_of(run) * 1000;
}

bool rules_is_over(void *run)
{
    return is_stopped(run) || is_late(run);
}

/* Returns the error if the caller has stopped the rules. The message names the rule that was running. */
static HRESULT stopped_error(const struct rules_run *run)
{
    const HRESULT hr = HRESULT_FROM_WIN32(ERROR_CANCELLED);
    return run->place.rule ? error_set(hr, "the rules were stopped while rule '%.100s' ran; the report is unchanged",
                                       run->place.rule)
                           : error_set(hr, "the rules were stopped; the report is unchanged");
}

HRESULT rules_check_limits(const struct rules_run *run)
{
    if (is_stopped(run))
        return stopped_error(run);
    if (is_late(run))
        return error_set(PLA_E_RULES_MANAGER_FAILED, "all rules together ran longer than %u seconds",
                         (unsigned)seconds_of(run));
    if (run->operations > RUN_OPERATIONS)
        return error_set(PLA_E_RULES_MANAGER_FAILED, "all expressions together exceed %d operations", RUN_OPERATIONS);
    return S_OK;
}

/* ---- steps ---- */

static bool is_better(const struct rule_value *a, const struct rule_value *b, bool as_numbers, bool greatest)
{
    const int order = as_numbers ? (a->number > b->number) - (a->number < b->number) : strcmp(a->text, b->text);
    return greatest ? order > 0 : order < 0;
}

/* Keeps only the node with the least or the greatest key. If several nodes have this key, keeps the first of them.
   Ignores nodes with an empty key, or with a key that should be a number but is not. */
static HRESULT choose_extreme(struct rules_run *run, xmlNodePtr step, bool greatest, struct xpath_result *nodes)
{
    const char *attribute = rules_attribute(step, "sortNode") ? "sortNode" : "sortValue";
    const char *written = rules_attribute(step, attribute);
    const bool as_numbers = rules_word(RULES_VALUE_COMPARISON, rules_attribute(step, "sortDataType")) == COMPARE_NUMBER;
    char *expression = text_format(as_numbers ? "number(%s)" : "string(%s)", written ? written : ".");
    struct rule_value best = {0};
    xmlNodePtr chosen = NULL;
    HRESULT hr = expression ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; i < nodes->count && SUCCEEDED(hr); i++) {
        struct xpath_result key = {0};
        hr = rules_check_limits(run);
        if (SUCCEEDED(hr))
            hr = rules_select_by(run, step, attribute, expression, nodes->nodes[i], &key);
        const bool competes =
            SUCCEEDED(hr) && (as_numbers ? key.value.number == key.value.number /* no NaN */ : *key.value.text);
        if (competes && (!chosen || is_better(&key.value, &best, as_numbers, greatest))) {
            const struct rule_value before = best;
            best = key.value;
            key.value = before;
            chosen = nodes->nodes[i];
        }
        xpath_result_free(&key);
    }
    memory_free(best.text);
    memory_free(expression);
    nodes->count = chosen ? 1 : 0;
    if (chosen)
        nodes->nodes[0] = chosen;
    return hr;
}

static HRESULT step_choose_nodes(struct rules_run *run, xmlNodePtr step, struct xpath_result *nodes)
{
    const int choice = rules_word(RULES_VALUE_CHOICE, rules_attribute(step, "sortType"));
    if (nodes->count > RULES_NODES_MAX) {
        HRESULT hr = rules_add_note(run, step, "of its %llu nodes, only the first %d are checked",
                                    (unsigned long long)nodes->count, RULES_NODES_MAX);
        nodes->count = RULES_NODES_MAX;
        if (FAILED(hr))
            return hr;
    }
    if (choice == CHOICE_FIRST && nodes->count)
        nodes->count = 1;
    return choice == CHOICE_MIN || choice == CHOICE_MAX ? choose_extreme(run, step, choice == CHOICE_MAX, nodes) : S_OK;
}

static HRESULT set_variables(struct rules_run *run, xmlNodePtr step, xmlNodePtr context)
{
    HRESULT hr = S_OK;
    bool failed = false;
    for (xmlNodePtr v = rules_child(step, "Variable"); v && SUCCEEDED(hr); v = rules_next(v, "Variable")) {
        hr = rules_note_error(run, rules_do_variable(run, v, context));
        failed |= hr == S_FALSE;
    }
    return FAILED(hr) ? hr : failed ? S_FALSE : S_OK;
}

/* Runs the first When that is true, or else Otherwise. Returns S_FALSE if no block was run, or if something in the
   block failed. */
static HRESULT do_exists(struct rules_run *run, xmlNodePtr exists, xmlNodePtr context)
{
    for (xmlNodePtr when = rules_child(exists, "When"); when; when = rules_next(when, "When")) {
        struct xpath_result truth = {0};
        if (!rules_attribute(when, "expression"))
            continue; /* matchRE */
        HRESULT hr = rules_check_limits(run);
        if (SUCCEEDED(hr))
            hr = rules_note_error(run, rules_select(run, when, "expression", context, &truth));
        const bool is_true = truth.truth;
        xpath_result_free(&truth);
        if (hr != S_OK)
            return hr;
        rules_log(run, RULES_LOG_STEPS, "step", "line %ld: When is %s", xmlGetLineNo(when), is_true ? "true" : "false");
        if (is_true)
            return rules_do_actions(run, when, context);
    }
    xmlNodePtr otherwise = rules_child(exists, "Otherwise");
    return otherwise ? rules_do_actions(run, otherwise, context) : S_FALSE;
}

/* Runs the step's actions for its nodes. Returns S_FALSE if the step has failed (MS-PLA 2.2.3.4). A step that only sets
   variables succeeds if there are nodes. */
static HRESULT do_nodes(struct rules_run *run, xmlNodePtr step, const struct xpath_result *nodes)
{
    xmlNodePtr exists = rules_child(step, "Exists"), otherwise = rules_child(step, "Otherwise");
    HRESULT hr = S_OK;
    bool done = false, failed = false;
    if (!nodes->count)
        return otherwise ? rules_do_actions(run, otherwise, NULL) : S_FALSE;
    for (size_t i = 0; i < nodes->count && SUCCEEDED(hr); i++) {
        if (!report_target_has(run->target, nodes->nodes[i]) && nodes->nodes[i]->type != XML_DOCUMENT_NODE)
            continue; /* an action removed it */
        hr = rules_check_limits(run);
        if (SUCCEEDED(hr))
            hr = set_variables(run, step, nodes->nodes[i]);
        failed |= hr == S_FALSE;
        if (hr == S_OK && exists)
            hr = do_exists(run, exists, nodes->nodes[i]);
        done |= hr == S_OK;
    }
    if (FAILED(hr))
        return hr;
    return done && !failed ? S_OK : S_FALSE;
}

/* Returns whether the node is in a section of the report itself, not in a section that rules added. */
static bool is_of_tables(xmlNodePtr node)
{
    for (; node && node->type == XML_ELEMENT_NODE; node = node->parent)
        if (!strcmp((const char *)node->name, "Section")) {
            const char *name = rules_attribute(node, "name");
            return name && strcmp(name, "advice") != 0;
        }
    return false;
}

static HRESULT do_step(struct rules_run *run, xmlNodePtr step)
{
    struct xpath_result nodes = {0};
    if (rules_is_bad(step))
        return S_FALSE; /* reported when the rules were read */
    HRESULT hr = rules_check_limits(run);
    if (SUCCEEDED(hr))
        hr = rules_select(run, step, "select", NULL, &nodes);
    if (SUCCEEDED(hr) && !nodes.is_nodes)
        hr = rules_wrong(step, "select", rules_attribute(step, "select"), "selects no nodes");
    if (SUCCEEDED(hr)) {
        rules_log(run, RULES_LOG_STEPS, "step", "%llu nodes", (unsigned long long)nodes.count);
        for (size_t i = 0; i < nodes.count; i++)
            run->out->known += is_of_tables(nodes.nodes[i]);
        hr = step_choose_nodes(run, step, &nodes);
    }
    if (SUCCEEDED(hr))
        hr = do_nodes(run, step, &nodes);
    xpath_result_free(&nodes);
    return rules_note_error(run, hr);
}

/* ---- rules and groups ---- */

static HRESULT do_rule(struct rules_run *run, xmlNodePtr rule)
{
    char *name = NULL;
    const char *written = rules_attribute(rule, "name");
    if (!rules_flag(rule, "enabled", true) || rules_is_bad(rule))
        return S_OK;
    run->place.rule = written;
    HRESULT hr = rules_note_error(run, rules_expand(run, rule, written, &name));
    if (hr == S_OK) {
        run->place.rule = name;
        rules_log(run, RULES_LOG_RULES, "rule", "begins");
        for (xmlNodePtr s = rules_child(rule, "Step"); s && SUCCEEDED(hr); s = rules_next(s, "Step")) {
            run->place.step++;
            if (!rules_flag(s, "enabled", true))
                continue;
            hr = do_step(run, s);
            if (hr == S_FALSE)
                rules_log(run, RULES_LOG_STEPS, "step", "has failed");
            if (hr == S_FALSE && rules_flag(s, "fatal", false))
                break;
        }
        for (xmlNodePtr t = rules_child(rule, "Threshold"); t && SUCCEEDED(hr); t = rules_next(t, "Threshold")) {
            hr = rules_check_limits(run);
            if (SUCCEEDED(hr))
                hr = rules_do_threshold(run, t);
        }
    }
    if (hr == PLA_E_RULES_MANAGER_FAILED) { /* all rules together exceeded a limit; report it here, where the
                                               position is known */
        const struct error_kept why = error_keep(hr);
        hr = rules_note_error(run, error_set(RULES_INVALID, "%s; no further rules are run", why.text));
        hr = FAILED(hr) ? hr : PLA_E_RULES_MANAGER_FAILED;
    }
    run->place.step = 0;
    run->place.rule = NULL;
    memory_free(name);
    return FAILED(hr) ? hr : S_OK;
}

/* Runs a group. Returns S_FALSE if the ID in the group's name has no string. In this case neither this group nor the
   following groups are run (MS-PLA 2.2.3.4). */
static HRESULT do_group(struct rules_run *run, const struct rules_group *group)
{
    char *name = NULL;
    const char *written = rules_attribute(group->node, "name");
    if (!rules_flag(group->node, "enabled", true) || rules_is_bad(group->node))
        return S_OK;
    run->file = &run->rules->files[group->file];
    run->place = (struct rules_place){.file = run->file->path, .group = written};
    HRESULT hr = rules_expand(run, group->node, written, &name);
    if (hr == RULES_INVALID) {
        const struct error_kept why = error_keep(hr);
        hr = error_set(hr, "%s; this group and the following ones are skipped", why.text);
    }
    hr = rules_note_error(run, hr);
    if (hr == S_OK) {
        run->place.group = name;
        rules_log(run, RULES_LOG_RULES, "group", "begins");
        for (xmlNodePtr r = rules_child(group->node, "Rule"); r && SUCCEEDED(hr); r = rules_next(r, "Rule"))
            hr = do_rule(run, r);
    }
    run->place = (struct rules_place){0};
    memory_free(name);
    return hr;
}

static HRESULT do_all(struct rules_run *run)
{
    xmlNodePtr warnings;
    HRESULT hr = report_target_warnings(run->target, &warnings);
    for (size_t i = 0; i < run->rules->group_count && hr == S_OK; i++)
        hr = do_group(run, &run->rules->groups[i]);
    if (hr == PLA_E_RULES_MANAGER_FAILED) { /* the rules exceeded a limit, which was reported; the changes that they
                                               made before are kept */
        run->out->unfinished = true;
        hr = S_OK;
    }
    /* Created even if no rule raised a warning, so that readers know that rules ran. */
    if (SUCCEEDED(hr))
        hr = report_target_warnings(run->target, &warnings);
    return SUCCEEDED(hr) && !run->out->known && !run->out->unfinished
               ? report_target_mark(run->target, warnings, "note", RULES_KNOW_NOTHING)
               : hr;
}

static void run_free(struct rules_run *run)
{
    for (size_t i = 0; i < run->variable_count; i++) {
        memory_free(run->variables[i].name);
        memory_free(run->variables[i].value.text);
    }
    memory_free(run->variables);
    text_buffer_free(&run->log);
}

/* Converts failures to PLA_E_RULES_MANAGER_FAILED, except for lack of memory and cancellation. */
static HRESULT could_not(HRESULT hr)
{
    if (hr == E_OUTOFMEMORY || hr == PLA_E_RULES_MANAGER_FAILED || hr == HRESULT_FROM_WIN32(ERROR_CANCELLED))
        return hr;
    const struct error_kept why = error_keep(hr);
    return error_set(PLA_E_RULES_MANAGER_FAILED, "%s", why.text);
}

HRESULT rules_apply(const struct rules_job *job, struct rules_outcome *out)
{
    struct report_target target;
    struct rules_run run = {.job = job, .rules = job->rules, .out = out, .target = &target};
    run.log_level = job->log_level ? job->log_level : job->rules->log_level;
    if (!job->rules->group_count)
        return error_set(PLA_E_RULES_MANAGER_FAILED, "no rules to run%s%s", job->rules->errors.count ? ": " : "",
                         job->rules->errors.count ? job->rules->errors.items[0] : "");
    HRESULT hr = report_target_open(job->report, job->stop, job->context, &target);
    if (hr == HRESULT_FROM_WIN32(ERROR_CANCELLED))
        return stopped_error(&run);
    if (FAILED(hr))
        return could_not(hr);
    run.began = clock_monotonic_ms();
    for (size_t i = 0; i < job->rules->errors.count; i++)
        rules_log(&run, RULES_LOG_ERRORS, "error", "%s", job->rules->errors.items[i]);
    hr = do_all(&run);
    if (SUCCEEDED(hr) && run.log.failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && run.log_level) {
        text_buffer_add(&run.log, "");
        out->log = text_buffer_take(&run.log);
        hr = out->log ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && job->output)
        hr = report_target_save(&target, job->base, job->output);
    const struct error_kept why = error_keep(hr);
    report_target_close(&target);
    run_free(&run);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}
