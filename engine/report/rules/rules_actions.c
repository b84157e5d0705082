/* SPDX-License-Identifier: MIT */
/* Runs the actions of rules that MS-PLA 2.2.4, 2.2.7 and 2.2.8 define, and Notify. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/rules/rules_parts.h"

#include <string.h>

enum { WARNINGS_MAX = 1000, NOTICES_MAX = 100 };

/* ---- variables ---- */

HRESULT rules_do_variable(struct rules_run *run, xmlNodePtr e, xmlNodePtr context)
{
    const char *name = rules_attribute(e, "name");
    struct rule_value value = {0};
    struct text_buffer text = {0};
    HRESULT hr;
    if (rules_attribute(e, "expression")) {
        struct xpath_result result = {0};
        hr = rules_select(run, e, "expression", context, &result);
        value = result.value;
        result.value = (struct rule_value){0};
        xpath_result_free(&result);
        if (SUCCEEDED(hr) && strlen(value.text) > RULES_TEXT_MAX) {
            memory_free(value.text);
            hr = rules_wrong(e, "expression", rules_attribute(e, "expression"), "its value exceeds %d bytes",
                             RULES_TEXT_MAX);
        }
    } else {
        xml_element_text(e, &text);
        text_buffer_add(&text, "");
        hr = text.failed ? E_OUTOFMEMORY : rules_expand(run, e, text.text, &value.text);
        text_buffer_free(&text);
    }
    if (SUCCEEDED(hr)) {
        rules_log(run, RULES_LOG_ACTIONS, "action", "{%s} is \"%s\"", name, value.text);
        hr = rules_set_variable(run, name, &value);
    }
    return hr;
}

/* ---- deleting ---- */

static HRESULT do_delete(struct rules_run *run, xmlNodePtr e, xmlNodePtr context)
{
    struct xpath_result nodes = {0};
    size_t taken = 0;
    HRESULT hr = rules_select(run, e, "select", context, &nodes);
    if (SUCCEEDED(hr) && !nodes.is_nodes)
        hr = rules_wrong(e, "select", rules_attribute(e, "select"), "selects no nodes");
    for (size_t i = 0; i < nodes.count && SUCCEEDED(hr); i++) {
        xmlNodePtr node = nodes.nodes[i];
        if (node == run->target->document.root || node->type == XML_DOCUMENT_NODE)
            hr = rules_wrong(e, "select", rules_attribute(e, "select"), "selects the report itself");
        else if (report_target_has(run->target, node)) /* skip a node if it was inside a node that this loop has
                                                          deleted */
            hr = report_target_take(run->target, node), taken++;
    }
    xpath_result_free(&nodes);
    rules_log(run, RULES_LOG_ACTIONS, "action", "%llu nodes deleted", (unsigned long long)taken);
    return SUCCEEDED(hr) && !taken ? rules_add_note(run, e, "selects nothing to delete") : hr;
}

/* ---- warnings ---- */

static enum rules_severity severity_of(const char *word)
{
    switch (report_severity_of(word)) {
    case REPORT_ERROR:
        return RULES_ERROR;
    case REPORT_GOOD:
    case REPORT_INFORMATION:
        return RULES_INFORMATION;
    default:
        return RULES_WARNING;
    }
}

static void warning_free(struct rules_warning *w)
{
    char *const texts[] = {w->symptom, w->when,       w->first, w->last, w->cause,
                           w->details, w->resolution, w->group, w->rule};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        memory_free(texts[i]);
}

void rules_outcome_free(struct rules_outcome *o)
{
    for (size_t i = 0; i < o->warning_count; i++)
        warning_free(&o->warnings[i]);
    for (size_t i = 0; i < o->notice_count; i++)
        memory_free(o->notices[i].text);
    memory_free(o->warnings);
    memory_free(o->notices);
    texts_free(&o->errors);
    texts_free(&o->notes);
    memory_free(o->log);
    *o = (struct rules_outcome){0};
}

/* Returns the texts of all Data elements of the Item with that name, joined by line ends. */
static HRESULT text_of(xmlNodePtr item, const char *name, char **out)
{
    struct text_buffer b = {0};
    for (xmlNodePtr d = rules_child(item, "Data"); d; d = rules_next(d, "Data")) {
        const char *own = rules_attribute(d, "name");
        if (!own || strcmp(own, name) != 0)
            continue;
        text_buffer_add(&b, b.length ? "\n" : "");
        xml_element_text(d, &b);
    }
    text_buffer_add(&b, "");
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Adds the warning of a new Item to the outcome for the caller. */
static HRESULT outcome_add_warning(struct rules_run *run, xmlNodePtr item)
{
    struct rules_outcome *o = run->out;
    struct rules_warning w = {.severity = RULES_WARNING};
    void *items = o->warnings;
    const struct {
        const char *name;
        char **to;
    } texts[] = {{"symptom", &w.symptom}, {"when", &w.when},       {"first", &w.first},          {"last", &w.last},
                 {"cause", &w.cause},     {"details", &w.details}, {"resolution", &w.resolution}};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && SUCCEEDED(hr); i++)
        hr = text_of(item, texts[i].name, texts[i].to);
    for (xmlNodePtr d = rules_child(item, "Data"); d; d = rules_next(d, "Data"))
        if (rules_attribute(d, "name") && !strcmp(rules_attribute(d, "name"), "symptom"))
            w.severity = severity_of(rules_attribute(d, "img"));
    w.group = text_copy(run->place.group);
    w.rule = text_copy(run->place.rule);
    if (SUCCEEDED(hr) &&
        (!w.group || !w.rule || !memory_grow(&items, &o->warning_capacity, o->warning_count + 1, sizeof *o->warnings)))
        hr = E_OUTOFMEMORY;
    o->warnings = items;
    if (FAILED(hr)) {
        warning_free(&w);
        return hr;
    }
    o->warnings[o->warning_count++] = w;
    o->worst = w.severity > o->worst ? w.severity : o->worst;
    rules_log(run, RULES_LOG_ACTIONS, "action", "warning: %s", w.symptom);
    return S_OK;
}

/* Adds the warning's tag to its target, next to the tags of other warnings. */
static HRESULT set_tag(struct rules_run *run, xmlNodePtr e, xmlNodePtr context, const char *tag)
{
    struct xpath_result nodes = {0};
    const bool selects = rules_attribute(e, "select");
    size_t found = 0;
    bool refused = false;
    HRESULT hr = selects ? rules_select(run, e, "select", context, &nodes) : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < (selects ? nodes.count : context != NULL); i++) {
        xmlNodePtr node = selects ? nodes.nodes[i] : context;
        if (node->type != XML_ELEMENT_NODE || !report_target_has(run->target, node))
            continue;
        hr = report_target_tag(run->target, node, tag);
        refused |= hr == S_FALSE;
        found++;
    }
    xpath_result_free(&nodes);
    if (FAILED(hr))
        return hr;
    if (!found)
        return rules_add_note(run, e, "its target is not part of the report");
    return refused ? rules_add_note(run, e,
                                    "the warning cannot be linked to its target: its tag has several lines, or the "
                                    "tags of the target exceed %d bytes in total",
                                    REPORT_TAGS_MOST)
                   : S_OK;
}

/* Finds the node that the attribute `table` selects. If `table` selects no node, uses the table advice/warning, so that
   a wrong path does not suppress the warning. */
static HRESULT find_table(struct rules_run *run, xmlNodePtr e, xmlNodePtr context, xmlNodePtr *out)
{
    struct xpath_result nodes = {0};
    *out = NULL;
    HRESULT hr = rules_attribute(e, "table") ? rules_select(run, e, "table", context, &nodes) : S_OK;
    for (size_t i = 0; i < nodes.count && !*out; i++)
        if (nodes.nodes[i]->type == XML_ELEMENT_NODE && report_target_has(run->target, nodes.nodes[i]))
            *out = nodes.nodes[i];
    xpath_result_free(&nodes);
    return SUCCEEDED(hr) && !*out ? report_target_warnings(run->target, out) : hr;
}

HRESULT rules_add_warning(struct rules_run *run, xmlNodePtr e, xmlNodePtr table, xmlNodePtr item)
{
    if (run->out->warning_count >= WARNINGS_MAX)
        return rules_wrong(e, NULL, NULL, "the report already has the maximum of %d warnings", WARNINGS_MAX);
    HRESULT hr = report_target_set(run->target, item, RULES_MARK, "1");
    if (SUCCEEDED(hr))
        hr = report_target_put(run->target, table, AXIS_CHILD, item);
    return SUCCEEDED(hr) ? outcome_add_warning(run, item) : hr;
}

static HRESULT rules_do_warning(struct rules_run *run, xmlNodePtr e, xmlNodePtr context)
{
    const char *tag = rules_attribute(e, "tag");
    char *text = NULL;
    xmlNodePtr table = NULL;
    if (run->out->warning_count >= WARNINGS_MAX)
        return rules_wrong(e, NULL, NULL, "the report already has the maximum of %d warnings", WARNINGS_MAX);
    HRESULT hr = tag ? rules_expand(run, e, tag, &text) : S_OK;
    if (SUCCEEDED(hr))
        hr = find_table(run, e, context, &table);
    if (SUCCEEDED(hr) && text && *text)
        hr = set_tag(run, e, context, text);
    memory_free(text);
    for (xmlNodePtr item = rules_child(e, "Item"); item && SUCCEEDED(hr); item = rules_next(item, "Item")) {
        xmlNodePtr made = NULL;
        hr = rules_copy(run, item, true, &made);
        if (SUCCEEDED(hr))
            hr = rules_add_warning(run, e, table, made);
    }
    return hr;
}

/* ---- notices ---- */

static HRESULT do_notify(struct rules_run *run, xmlNodePtr e)
{
    struct rules_outcome *o = run->out;
    const char *title = rules_attribute(e, "title");
    struct text_buffer b = {0};
    void *items = o->notices;
    char *text = NULL;
    if (o->notice_count >= NOTICES_MAX)
        return rules_wrong(e, NULL, NULL, "the report already has the maximum of %d notices", NOTICES_MAX);
    text_buffer_format(&b, "%s%s", title ? title : "", title ? ": " : "");
    xml_element_text(e, &b);
    HRESULT hr = b.failed ? E_OUTOFMEMORY : rules_expand(run, e, b.text ? b.text : "", &text);
    text_buffer_free(&b);
    if (FAILED(hr))
        return hr;
    if (!memory_grow(&items, &o->notice_capacity, o->notice_count + 1, sizeof *o->notices)) {
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    o->notices = items;
    const char *severity = rules_attribute(e, "severity");
    o->notices[o->notice_count++] = (struct rules_notice){severity ? severity_of(severity) : RULES_INFORMATION, text};
    return S_OK;
}

/* ---- all actions ---- */

static HRESULT do_action(struct rules_run *run, xmlNodePtr e, xmlNodePtr context)
{
    const char *name = (const char *)e->name;
    if (!strcmp(name, "Variable"))
        return rules_do_variable(run, e, context);
    if (!strcmp(name, "Insert"))
        return rules_do_insert(run, e, context);
    if (!strcmp(name, "Delete"))
        return do_delete(run, e, context);
    if (!strcmp(name, "Warning"))
        return rules_do_warning(run, e, context);
    if (!strcmp(name, "Notify"))
        return do_notify(run, e);
    return S_OK; /* unknown action; the grammar has already reported it */
}

HRESULT rules_do_actions(struct rules_run *run, xmlNodePtr actions, xmlNodePtr context)
{
    bool failed = false;
    for (xmlNodePtr e = rules_child(actions, NULL); e; e = rules_next(e, NULL)) {
        HRESULT hr = rules_note_error(run, do_action(run, e, context));
        if (FAILED(hr))
            return hr;
        failed |= hr == S_FALSE;
        if (context && context->type != XML_DOCUMENT_NODE && !report_target_has(run->target, context))
            break; /* the node was deleted, so the following actions have no node */
    }
    return failed ? S_FALSE : S_OK;
}
