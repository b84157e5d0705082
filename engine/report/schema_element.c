/* SPDX-License-Identifier: MIT */
/* An element of a report schema held against the grammar, and its attributes. */
#include "engine/os/memory.h"
#include "engine/report/schema_reading.h"
#include "engine/xml/xml_fault.h"
#include "engine/xml/xml_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ERRORS = 200 };

HRESULT schema_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_wrong(SCHEMA_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

static HRESULT note(struct texts *to, char *text)
{
    if (!text)
        return E_OUTOFMEMORY;
    if (to->count < MOST_ERRORS)
        return texts_give(to, text);
    memory_free(text);
    return S_OK;
}

HRESULT schema_note_error(struct schema_reading *r, HRESULT hr)
{
    if (hr != SCHEMA_INVALID)
        return hr;
    struct text_buffer b = {0};
    text_buffer_format(&b, "%s: ", r->file);
    if (r->section)
        text_buffer_format(&b, "section '%.100s': ", r->section);
    if (r->table)
        text_buffer_format(&b, "table '%.100s': ", r->table);
    text_buffer_add(&b, error_text(hr));
    return note(&r->s->errors, text_buffer_take(&b));
}

HRESULT schema_note_remark(struct schema_reading *r, xmlNodePtr node, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return note(&r->s->remarks,
                text_format("%s: line %ld: %.60s: %s", r->file, xmlGetLineNo(node), (const char *)node->name, what));
}

HRESULT schema_own(struct report_schema *s, char *text, const char **out)
{
    *out = text;
    return text ? texts_give(&s->owned, text) : E_OUTOFMEMORY;
}

static void trim(char *text)
{
    size_t length = strlen(text), blanks = 0;
    while (length && xml_is_blank(text[length - 1]))
        text[--length] = 0;
    while (xml_is_blank(text[blanks]))
        blanks++;
    memmove(text, text + blanks, length - (blanks < length ? blanks : length) + 1);
}

HRESULT schema_text_of(struct schema_reading *r, xmlNodePtr e, const char *name, const char **out)
{
    char *text = NULL;
    *out = NULL;
    HRESULT hr = xmlHasProp(e, BAD_CAST name) ? xml_element_attribute(r->document, e, name, &text) : S_OK;
    if (FAILED(hr) || !text)
        return hr;
    trim(text);
    return schema_own(r->s, text, out);
}

HRESULT schema_number_of(struct schema_reading *r, xmlNodePtr e, const char *name, uint64_t *out, bool *is_there)
{
    const char *text;
    uint64_t number;
    HRESULT hr = schema_text_of(r, e, name, &text);
    *is_there = SUCCEEDED(hr) && text && text_to_u64(text, &number);
    if (*is_there)
        *out = number;
    return hr;
}

HRESULT schema_bool_of(struct schema_reading *r, xmlNodePtr e, const char *name, bool *out)
{
    const char *text;
    HRESULT hr = schema_text_of(r, e, name, &text);
    if (SUCCEEDED(hr) && text)
        *out = !strcmp(text, "true") || !strcmp(text, "1");
    return hr;
}

HRESULT schema_word_of(struct schema_reading *r, xmlNodePtr e, const char *name, enum schema_sort_of_value sort,
                       int *out)
{
    const char *text;
    HRESULT hr = schema_text_of(r, e, name, &text);
    *out = SUCCEEDED(hr) && text ? schema_find_word(sort, text) : -1;
    return hr;
}

xmlNodePtr schema_element_from(xmlNodePtr node, const char *name)
{
    while (node && !(schema_is_ours(node) && (!name || !strcmp((const char *)node->name, name))))
        node = node->next;
    return node;
}

static HRESULT check_attributes(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    HRESULT hr = S_OK;
    for (xmlAttrPtr a = e->properties; a && SUCCEEDED(hr); a = a->next) {
        const char *name = (const char *)a->name, *text = NULL;
        if (a->ns)
            continue;
        const struct schema_value *row = schema_find_value(type, name);
        if (!row) {
            hr = schema_note_remark(r, e, "the attribute %.60s is not known, it is passed over", name);
            continue;
        }
        hr = schema_text_of(r, e, name, &text);
        const char *fault = SUCCEEDED(hr) && text ? schema_value_fault(row->sort, text) : NULL;
        if (fault)
            hr = schema_wrong(e, name, text, "%s", fault);
    }
    return hr;
}

static HRESULT check_missing(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < schema_value_count && SUCCEEDED(hr); i++) {
        const struct schema_value *row = &schema_values[i];
        if (row->of != type || row->use == SCHEMA_OPTIONAL || xmlHasProp(e, BAD_CAST row->name))
            continue;
        hr = row->use == SCHEMA_REQUIRED ? schema_wrong(e, row->name, NULL, "it is wanted")
                                         : schema_note_remark(r, e, "it has no %s", row->name);
    }
    return hr;
}

static HRESULT check_children(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr child = schema_element_from(e->children, NULL); child && SUCCEEDED(hr);
         child = schema_element_from(child->next, NULL))
        if (!schema_find_within(type, (const char *)child->name))
            hr = schema_note_remark(r, child, "no such element stands in a %s, it is passed over", e->name);
    for (size_t i = 0; i < schema_within_count && SUCCEEDED(hr); i++) {
        const struct schema_within *row = &schema_withins[i];
        unsigned count = 0;
        if (row->parent != type)
            continue;
        for (xmlNodePtr child = schema_element_from(e->children, row->element); child;
             child = schema_element_from(child->next, row->element))
            count++;
        if (count < row->least)
            hr = schema_wrong(e, NULL, NULL, "%u elements %s stand in it, %u are wanted", count, row->element,
                              row->least);
        else if (row->most && count > row->most)
            hr =
                schema_wrong(e, NULL, NULL, "%u elements %s stand in it, more than %u", count, row->element, row->most);
    }
    return hr;
}

HRESULT schema_check_element(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    HRESULT hr = check_attributes(r, e, type);
    if (SUCCEEDED(hr))
        hr = check_missing(r, e, type);
    return SUCCEEDED(hr) ? check_children(r, e, type) : hr;
}
