/* SPDX-License-Identifier: MIT */
/* Checks the elements of a document against a table of the allowed elements and attributes. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 120 /* maximum bytes of a value in an error text */

HRESULT xml_invalid(HRESULT hr, xmlNodePtr element, const char *attribute, const char *value, const char *format,
                    va_list list)
{
    char why[400], where[200] = "";
    vsnprintf(why, sizeof why, format, list);
    if (value)
        snprintf(where, sizeof where, " %s=\"%.*s\"", attribute, SHOWN, value);
    else if (attribute)
        snprintf(where, sizeof where, " %s", attribute);
    return error_set(hr, "line %ld: %.60s%s: %s", xmlGetLineNo(element), (const char *)element->name, where, why);
}

const struct xml_within *xml_grammar_within(const struct xml_grammar *g, unsigned parent, const char *element)
{
    for (size_t i = 0; i < g->within_count; i++)
        if (g->withins[i].parent == parent &&
            (!strcmp(g->withins[i].element, element) || !strcmp(g->withins[i].element, XML_ANY_ELEMENT)))
            return &g->withins[i];
    return NULL;
}

const struct xml_value *xml_grammar_value(const struct xml_grammar *g, unsigned of, const char *name)
{
    for (size_t i = 0; i < g->value_count; i++)
        if (g->values[i].of == of && !strcmp(g->values[i].name, name))
            return &g->values[i];
    return NULL;
}

xmlNodePtr xml_grammar_element(const struct xml_grammar *g, xmlNodePtr node, const char *name)
{
    while (node && !(g->is_ours(node) && (!name || !strcmp((const char *)node->name, name))))
        node = node->next;
    return node;
}

void xml_trim(char *text)
{
    size_t length = strlen(text), blanks = 0;
    while (length && xml_is_blank(text[length - 1]))
        text[--length] = 0;
    while (xml_is_blank(text[blanks]))
        blanks++;
    memmove(text, text + blanks, length - (blanks < length ? blanks : length) + 1);
}

static HRESULT xml_checking_fail(const struct xml_checking *c, xmlNodePtr e, const char *attribute, const char *value,
                                 const char *format, ...) PRINTF_LIKE(5, 6);
static HRESULT xml_checking_fail(const struct xml_checking *c, xmlNodePtr e, const char *attribute, const char *value,
                                 const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_invalid(c->invalid, e, attribute, value, format, list);
    va_end(list);
    return hr;
}

static HRESULT xml_checking_warn(const struct xml_checking *c, xmlNodePtr node, const char *format, ...)
    PRINTF_LIKE(3, 4);
static HRESULT xml_checking_warn(const struct xml_checking *c, xmlNodePtr node, const char *format, ...)
{
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return c->warn(c->context, node, what);
}

static HRESULT check_attributes(const struct xml_checking *c, xmlNodePtr e, unsigned type)
{
    HRESULT hr = S_OK;
    for (xmlAttrPtr a = e->properties; a && SUCCEEDED(hr); a = a->next) {
        const char *name = (const char *)a->name;
        char *text = NULL;
        if (a->ns)
            continue;
        const struct xml_value *row = xml_grammar_value(c->grammar, type, name);
        if (!row) {
            hr = xml_checking_warn(c, e, "unknown attribute %.60s is skipped", name);
            continue;
        }
        hr = xml_element_attribute(c->document, e, name, &text);
        if (text)
            xml_trim(text);
        const char *fault = SUCCEEDED(hr) && text ? c->grammar->fault(row->sort, text) : NULL;
        if (fault)
            hr = xml_checking_fail(c, e, name, text, "%s", fault);
        memory_free(text);
    }
    return hr;
}

static HRESULT check_missing(const struct xml_checking *c, xmlNodePtr e, unsigned type)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < c->grammar->value_count && SUCCEEDED(hr); i++) {
        const struct xml_value *row = &c->grammar->values[i];
        if (row->of != type || row->use == XML_OPTIONAL || xmlHasProp(e, BAD_CAST row->name))
            continue;
        hr = row->use == XML_REQUIRED ? xml_checking_fail(c, e, row->name, NULL, "the attribute is missing")
                                      : xml_checking_warn(c, e, "it has no %s", row->name);
    }
    return hr;
}

static HRESULT check_children(const struct xml_checking *c, xmlNodePtr e, unsigned type)
{
    const struct xml_grammar *g = c->grammar;
    HRESULT hr = S_OK;
    for (xmlNodePtr child = xml_grammar_element(g, e->children, NULL); child && SUCCEEDED(hr);
         child = xml_grammar_element(g, child->next, NULL))
        if (!xml_grammar_within(g, type, (const char *)child->name))
            hr = xml_checking_warn(c, child, "skipped: a %.60s cannot contain this element", (const char *)e->name);
    for (size_t i = 0; i < g->within_count && SUCCEEDED(hr); i++) {
        const struct xml_within *row = &g->withins[i];
        unsigned count = 0;
        if (row->parent != type || !(row->least || row->most))
            continue;
        for (xmlNodePtr child = xml_grammar_element(g, e->children, row->element); child;
             child = xml_grammar_element(g, child->next, row->element))
            count++;
        if (count < row->least)
            hr = xml_checking_fail(c, e, NULL, NULL, "%u elements %s, expected at least %u", count, row->element,
                                   row->least);
        else if (row->most && count > row->most)
            hr = xml_checking_fail(c, e, NULL, NULL, "%u elements %s, expected at most %u", count, row->element,
                                   row->most);
    }
    return hr;
}

HRESULT xml_grammar_check(const struct xml_checking *c, xmlNodePtr e, unsigned type)
{
    HRESULT hr = check_attributes(c, e, type);
    if (SUCCEEDED(hr))
        hr = check_missing(c, e, type);
    return SUCCEEDED(hr) ? check_children(c, e, type) : hr;
}
