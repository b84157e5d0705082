/* SPDX-License-Identifier: MIT */
/* Lists rules with their limits and sources, without running them. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/rules/rules_threshold.h"

#include <stdio.h>
#include <string.h>

/* Returns the first element of that name below `e`. This function is recursive; the maximum depth of documents limits
   the recursion. */
static xmlNodePtr find_below(xmlNodePtr e, const char *name)
{
    for (xmlNodePtr child = rules_child(e, NULL); child; child = rules_next(child, NULL)) {
        xmlNodePtr found = !strcmp((const char *)child->name, name) ? child : find_below(child, name);
        if (found)
            return found;
    }
    return NULL;
}

static xmlNodePtr find_symptom(xmlNodePtr rule)
{
    xmlNodePtr warning = find_below(rule, "Warning"), item = warning ? rules_child(warning, "Item") : NULL;
    for (xmlNodePtr d = item ? rules_child(item, "Data") : NULL; d; d = rules_next(d, "Data")) {
        const char *name = rules_attribute(d, "name");
        if (name && !strcmp(name, "symptom"))
            return d;
    }
    return NULL;
}

static const char *text_or_nothing(const char *text)
{
    return text ? text : "";
}

/* Returns the severities of a rule in words. If `img` contains a variable, the severity is a warning or an error; it is
   only a warning if the rule has the attribute `limits`, and this attribute does not contain "serious". */
static const char *severity_words(xmlNodePtr rule, xmlNodePtr symptom)
{
    const char *img = symptom ? rules_attribute(symptom, "img") : NULL, *limits = rules_attribute(rule, "limits");
    if (img && strchr(img, '{'))
        return limits && !strstr(limits, "serious") ? "warning" : "warning, error";
    switch (report_severity_of(img)) {
    case REPORT_ERROR:
        return "error";
    case REPORT_GOOD:
    case REPORT_INFORMATION:
        return "information";
    default:
        return "warning";
    }
}

static const char *threshold_severity(const struct threshold *t)
{
    static const char *const words[][2] = {
        {"error", "error"}, {"warning", "warning, error"}, {"information", "information, error"}};
    return words[t->severity][t->has_critical];
}

/* Adds a threshold in words, such as "\A\B minus \A\C, divided by \A\D: over 5 %". A fraction of memory is shown in
   percent, regardless of the message's unit. */
static void add_threshold(struct text_buffer *b, const struct threshold *t)
{
    struct threshold shown = *t;
    char unit[100];
    const bool of_memory = t->times == SCALE_MEGABYTES || t->times == SCALE_BYTES;
    snprintf(unit, sizeof unit, "%.70s%s%s", of_memory ? "% of the memory" : t->unit,
             t->times == SCALE_PROCESSORS && *t->unit ? " " : "", t->times == SCALE_PROCESSORS ? "per processor" : "");
    shown.unit = unit;
    shown.scale = of_memory ? 100 : t->scale;
    text_buffer_add(b, t->counter);
    if (t->minus)
        text_buffer_format(b, " minus %s", t->minus);
    if (t->per)
        text_buffer_format(b, ", divided by %s", t->per);
    text_buffer_add(b, ": ");
    threshold_limits_add(b, &shown, t->limit, t->critical);
    if (t->unless)
        text_buffer_format(b, ", unless the log has %s", t->unless);
}

/* Lists a finding. `element` is one of the rule's Threshold elements, or NULL if the rule has steps instead. */
static HRESULT list_finding(struct rules_run *run, xmlNodePtr group, xmlNodePtr rule, xmlNodePtr element,
                            rules_list_each *each, void *context)
{
    struct rules_listed one = {.pack = run->file->path, .source = text_or_nothing(rules_attribute(rule, "source"))};
    xmlNodePtr symptom = find_symptom(rule);
    struct threshold t = {0};
    struct text_buffer limits = {0};
    char *names[2] = {NULL, NULL};
    HRESULT hr = rules_expand(run, group, text_or_nothing(rules_attribute(group, "name")), &names[0]);
    if (SUCCEEDED(hr))
        hr = rules_expand(run, rule, text_or_nothing(rules_attribute(rule, "name")), &names[1]);
    if (SUCCEEDED(hr) && element)
        hr = threshold_read(element, &t);
    one.severity = element ? threshold_severity(&t) : severity_words(rule, symptom);
    one.tag = element ? rules_attribute(element, "tag") : symptom ? rules_attribute(symptom, "link") : NULL;
    if (SUCCEEDED(hr) && element)
        add_threshold(&limits, &t);
    else if (rules_attribute(rule, "limits"))
        text_buffer_add(&limits, rules_attribute(rule, "limits"));
    else if (symptom && rules_attribute(symptom, "limit"))
        text_buffer_format(&limits, "limit %s", rules_attribute(symptom, "limit"));
    text_buffer_add(&limits, "");
    if (SUCCEEDED(hr) && limits.failed)
        hr = E_OUTOFMEMORY;
    one.group = names[0];
    one.rule = names[1];
    one.tag = one.tag ? one.tag : names[1];
    one.limits = limits.text;
    one.enabled = rules_flag(group, "enabled", true) && rules_flag(rule, "enabled", true);
    if (SUCCEEDED(hr))
        hr = each(context, &one);
    text_buffer_free(&limits);
    memory_free(names[0]);
    memory_free(names[1]);
    return hr == RULES_INVALID ? S_OK : hr; /* rules_errors contains the error, or the name of the group or rule has
                                               no string */
}

static HRESULT list_rule(struct rules_run *run, xmlNodePtr group, xmlNodePtr rule, rules_list_each *each, void *context)
{
    xmlNodePtr element = rules_child(rule, "Threshold");
    HRESULT hr = S_OK;
    if (!element && !find_symptom(rule) && !find_below(rule, "Notify"))
        return S_OK; /* the rule adds something to the report, but raises no warning */
    if (!element)
        return list_finding(run, group, rule, NULL, each, context);
    for (; element && SUCCEEDED(hr); element = rules_next(element, "Threshold"))
        hr = list_finding(run, group, rule, element, each, context);
    return hr;
}

HRESULT rules_list(const struct rules *r, const char *language, rules_list_each *each, void *context)
{
    const struct rules_job job = {.rules = r, .language = language};
    struct rules_run run = {.job = &job, .rules = r};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->group_count && SUCCEEDED(hr); i++) {
        xmlNodePtr group = r->groups[i].node;
        run.file = &r->files[r->groups[i].file];
        if (rules_is_bad(group))
            continue;
        for (xmlNodePtr rule = rules_child(group, "Rule"); rule && SUCCEEDED(hr); rule = rules_next(rule, "Rule"))
            if (!rules_is_bad(rule))
                hr = list_rule(&run, group, rule, each, context);
    }
    return hr;
}

/* ---- counters that need slices ---- */

void rules_add_pattern(struct text_buffer *b, const char *counter, const char *special)
{
    text_buffer_add(b, b->length ? "|i/" : "i/");
    for (const char *c = counter; *c; c++) {
        if (strchr(special, *c))
            text_buffer_add(b, "\\");
        text_buffer_add_n(b, c, 1);
    }
    text_buffer_add(b, "/");
}

static HRESULT add_patterns(struct text_buffer *b, const char *paths)
{
    HRESULT hr = S_OK;
    for (const char *rest = paths; rest && SUCCEEDED(hr);) {
        struct threshold_path path;
        hr = threshold_path_read(rest, &path, &rest);
        if (SUCCEEDED(hr))
            rules_add_pattern(b, path.counter, "/\\|"); /* in both notations, wildcards have the same meaning */
        threshold_path_free(&path);
    }
    return hr;
}

static HRESULT add_rule_patterns(struct text_buffer *b, xmlNodePtr rule)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr e = rules_child(rule, "Threshold"); e && SUCCEEDED(hr); e = rules_next(e, "Threshold")) {
        struct threshold t;
        if (rules_is_bad(e) || FAILED(threshold_read(e, &t)))
            continue; /* the error is in rules_errors */
        const char *const paths[] = {t.counter, t.per, t.minus};
        for (size_t i = 0; i < sizeof paths / sizeof *paths && SUCCEEDED(hr); i++)
            hr = add_patterns(b, paths[i]);
    }
    return hr;
}

HRESULT rules_slice_patterns(const struct rules *r, struct text_buffer *patterns)
{
    HRESULT hr = S_OK;
    text_buffer_add(patterns, r->slices.text ? r->slices.text : "");
    for (size_t i = 0; i < r->group_count && SUCCEEDED(hr); i++)
        for (xmlNodePtr rule = rules_child(r->groups[i].node, "Rule"); rule && SUCCEEDED(hr);
             rule = rules_next(rule, "Rule"))
            hr = add_rule_patterns(patterns, rule);
    return SUCCEEDED(hr) && patterns->failed ? E_OUTOFMEMORY : hr;
}
