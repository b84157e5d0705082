/* SPDX-License-Identifier: MIT */
/* Expands the texts of rules: replaces the IDs of strings and the names of variables (MS-PLA 2.2.4). */
#include "engine/base/memory.h"
#include "engine/report/make/schema_reading.h"
#include "engine/report/rules/rules_parts.h"

#include <string.h>

/* ---- strings ---- */

/* Returns the attribute xml:lang of a StringTable; "" means any language. */
static const char *language_of(xmlNodePtr table)
{
    for (const xmlAttr *a = table->properties; a; a = a->next)
        if (!strcmp((const char *)a->name, "lang") && a->children && a->children->content)
            return (const char *)a->children->content;
    return "";
}

static xmlNodePtr find_in_file(const struct rules_file *file, const char *id, size_t length, const char *language)
{
    xmlNodePtr found = NULL;
    unsigned best = 0;
    for (xmlNodePtr t = rules_child(file->document.root, "StringTable"); t; t = rules_next(t, "StringTable")) {
        const unsigned fit = string_language_fit(language_of(t), language);
        for (xmlNodePtr s = fit > best ? rules_child(t, "String") : NULL; s && fit > best;
             s = rules_next(s, "String")) {
            const char *own = rules_attribute(s, "ID");
            if (own && strlen(own) == length && !memcmp(own, id, length)) {
                found = s;
                best = fit;
            }
        }
    }
    return found;
}

/* Searches for a string in the current file, and then in all files in their order. Returns NULL if no file has the
   string. */
static xmlNodePtr find_string(const struct rules_run *run, const char *id, size_t length)
{
    const char *language = run->job->language ? run->job->language : "";
    xmlNodePtr found = find_in_file(run->file, id, length, language);
    for (size_t i = 0; !found && i < run->rules->file_count; i++)
        found = find_in_file(&run->rules->files[i], id, length, language);
    return found;
}

/* Adds the text, with each `$(ID)` replaced by its string; strings are not expanded again. */
static HRESULT add_strings(const struct rules_run *run, xmlNodePtr e, const char *text, struct text_buffer *out)
{
    for (const char *c = text; *c;) {
        const char *id = c + 2, *end = c[0] == '$' && c[1] == '(' ? strchr(id, ')') : NULL;
        if (!end) {
            text_buffer_add_n(out, c++, 1);
            continue;
        }
        xmlNodePtr string = find_string(run, id, (size_t)(end - id));
        if (!string)
            return rules_wrong(e, NULL, NULL, "no String has the ID '%.*s'", (int)(end - id > 100 ? 100 : end - id),
                               id);
        xml_element_text(string, out);
        if (out->length > RULES_TEXT_MAX)
            break;
        c = end + 1;
    }
    return S_OK;
}

/* ---- variables ---- */

static struct rule_variable *find_variable(const struct rules_run *run, const char *name, size_t length)
{
    for (size_t i = 0; i < run->variable_count; i++)
        if (!strncmp(run->variables[i].name, name, length) && !run->variables[i].name[length])
            return &run->variables[i];
    return NULL;
}

HRESULT rules_set_variable(struct rules_run *run, const char *name, struct rule_value *value)
{
    struct rule_variable *v = find_variable(run, name, strlen(name));
    void *items = run->variables;
    char *copy = NULL;
    if (!v && run->variable_count >= RULES_VARIABLES_MAX) {
        memory_free(value->text);
        return error_set(RULES_INVALID, "more than %d variables", RULES_VARIABLES_MAX);
    }
    if (!v && (!memory_grow(&items, &run->variable_capacity, run->variable_count + 1, sizeof *run->variables) ||
               !(copy = text_copy(name)))) {
        memory_free(value->text);
        if (items)
            run->variables = items;
        return E_OUTOFMEMORY;
    }
    if (!v) {
        run->variables = items;
        v = &run->variables[run->variable_count++];
        *v = (struct rule_variable){.name = copy};
    }
    memory_free(v->value.text);
    v->value = *value;
    *value = (struct rule_value){0};
    return S_OK;
}

/* Adds the text with the values of its variables. A variable without a value becomes an empty text; braces around a
   text that is not a name are kept. */
static void add_values(const struct rules_run *run, const char *text, struct text_buffer *out)
{
    for (const char *c = text; *c;) {
        const size_t n = *c == '{' ? rules_name_length(c + 1) : 0;
        if (!n || c[1 + n] != '}') {
            text_buffer_add_n(out, c++, 1);
            continue;
        }
        const struct rule_variable *v = find_variable(run, c + 1, n);
        text_buffer_add(out, v ? v->value.text : "");
        if (out->length > RULES_TEXT_MAX)
            break;
        c += n + 2;
    }
}

HRESULT rules_expand(struct rules_run *run, xmlNodePtr e, const char *text, char **out)
{
    struct text_buffer strings = {0}, whole = {0};
    *out = NULL;
    HRESULT hr = add_strings(run, e, text, &strings);
    if (SUCCEEDED(hr) && strings.text)
        add_values(run, strings.text, &whole);
    text_buffer_add(&whole, "");
    if (SUCCEEDED(hr) && (strings.failed || whole.failed))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (whole.length > RULES_TEXT_MAX || strings.length > RULES_TEXT_MAX))
        hr = rules_wrong(e, NULL, NULL, "the expanded text exceeds %d bytes", RULES_TEXT_MAX);
    if (SUCCEEDED(hr))
        *out = text_buffer_take(&whole);
    text_buffer_free(&strings);
    text_buffer_free(&whole);
    if (SUCCEEDED(hr) && *out)
        xml_trim(*out);
    return SUCCEEDED(hr) && !*out ? E_OUTOFMEMORY : hr;
}

/* ---- expressions ---- */

static const struct rule_value *find_value(void *context, const char *name)
{
    const struct rule_variable *v = find_variable(context, name, strlen(name));
    return v ? &v->value : NULL;
}

/* Finds a variable whose name differs only in case: {Mean} although {mean} was set. */
static const char *other_case(const struct rules_run *run, const char *expression)
{
    for (const char *c = strchr(expression, '{'); c; c = strchr(c + 1, '{')) {
        const size_t n = rules_name_length(c + 1);
        if (!n || c[1 + n] != '}' || find_variable(run, c + 1, n))
            continue;
        for (size_t i = 0; i < run->variable_count; i++) {
            char *written = strlen(run->variables[i].name) == n ? text_copy_n(c + 1, n) : NULL;
            const bool same = written && text_equal_nocase(written, run->variables[i].name);
            memory_free(written);
            if (same)
                return run->variables[i].name;
        }
    }
    return NULL;
}

HRESULT rules_select_by(struct rules_run *run, xmlNodePtr element, const char *attribute, const char *expression,
                        xmlNodePtr context, struct xpath_result *out)
{
    struct xpath_scope scope = {
        .node = context ? context : (xmlNodePtr)run->target->document.root->doc,
        .find = find_value,
        .context = run,
        .limit = run->job->expression_limit,
        .stop = rules_is_over,
        .stop_context = run,
    };
    HRESULT hr = rules_evaluate(&scope, expression, out);
    run->operations += scope.operations;
    if (hr == HRESULT_FROM_WIN32(ERROR_CANCELLED)) {
        const struct error_kept stopped = error_keep(hr);
        hr = rules_check_limits(run);
        return FAILED(hr) ? hr : error_restore(&stopped);
    }
    if (hr != E_INVALIDARG)
        return hr;
    const struct error_kept why = error_keep(hr);
    const char *other = other_case(run, expression);
    return rules_wrong(element, attribute, expression, "%s%s%s%s", why.text, other ? "; did you mean {" : "",
                       other ? other : "", other ? "}" : "");
}

HRESULT rules_select(struct rules_run *run, xmlNodePtr element, const char *attribute, xmlNodePtr context,
                     struct xpath_result *out)
{
    const char *expression = rules_attribute(element, attribute);
    return rules_select_by(run, element, attribute, expression ? expression : "", context, out);
}
