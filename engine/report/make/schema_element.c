/* SPDX-License-Identifier: MIT */
/* An element of a report schema held against the grammar, and its attributes. */
#include "engine/base/memory.h"
#include "engine/base/xml_fault.h"
#include "engine/report/make/schema_reading.h"

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

HRESULT schema_text_of(struct schema_reading *r, xmlNodePtr e, const char *name, const char **out)
{
    char *text = NULL;
    *out = NULL;
    HRESULT hr = xmlHasProp(e, BAD_CAST name) ? xml_element_attribute(r->document, e, name, &text) : S_OK;
    if (FAILED(hr) || !text)
        return hr;
    xml_trim(text);
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
    return xml_grammar_element(&schema_grammar, node, name);
}

static HRESULT remark(void *context, xmlNodePtr node, const char *what)
{
    return schema_note_remark(context, node, "%s", what);
}

HRESULT schema_check_element(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    const struct xml_checking checking = {&schema_grammar, r->document, SCHEMA_INVALID, remark, r};
    return xml_grammar_check(&checking, e, type);
}
