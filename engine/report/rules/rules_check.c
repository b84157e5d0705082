/* SPDX-License-Identifier: MIT */
/* Rules held against their grammar before anything is run: a mistake in a branch that is seldom taken is told too. */
#include "engine/base/memory.h"
#include "engine/base/xml_fault.h"
#include "engine/report/rules/rules_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NOTES = 200 };

/* ---- places and texts ---- */

void rules_place_add(const struct rules_place *place, struct text_buffer *to)
{
    if (place->file)
        text_buffer_format(to, "%s: ", place->file);
    if (place->group)
        text_buffer_format(to, "group '%.100s': ", place->group);
    if (place->rule)
        text_buffer_format(to, "rule '%.100s': ", place->rule);
    if (place->step)
        text_buffer_format(to, "step %u: ", place->step);
}

HRESULT rules_note(struct texts *to, const struct rules_place *place, const char *text)
{
    struct text_buffer b = {0};
    if (to->count >= MOST_NOTES)
        return S_OK;
    rules_place_add(place, &b);
    text_buffer_add(&b, text);
    char *taken = text_buffer_take(&b);
    return taken ? texts_give(to, taken) : E_OUTOFMEMORY;
}

HRESULT rules_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_wrong(RULES_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

/* ---- elements ---- */

/* Without a document type there are no entities, so an attribute has one text. */
const char *rules_attribute(xmlNodePtr e, const char *name)
{
    for (const xmlAttr *a = e->properties; a; a = a->next)
        if (!a->ns && !strcmp((const char *)a->name, name))
            return a->children && a->children->content ? (const char *)a->children->content : "";
    return NULL;
}

bool rules_flag(xmlNodePtr e, const char *name, bool usual)
{
    const char *text = rules_attribute(e, name);
    return text ? text_equal_nocase(text, "true") : usual;
}

xmlNodePtr rules_child(xmlNodePtr e, const char *name)
{
    return xml_grammar_element(&rules_grammar, e->children, name);
}

xmlNodePtr rules_next(xmlNodePtr e, const char *name)
{
    return xml_grammar_element(&rules_grammar, e->next, name);
}

/* libxml2 leaves this field to who uses it. */
static char bad_mark;

bool rules_is_bad(xmlNodePtr e)
{
    return e->_private == &bad_mark;
}

/* ---- the grammar ---- */

struct checking {
    struct rules *r;
    const struct xml_document *document;
    struct rules_place place;
    xmlNodePtr bears; /* the step, rule or group that a fault costs */
};

static HRESULT remark(void *context, xmlNodePtr node, const char *what)
{
    const struct checking *c = context;
    char *text = text_format("line %ld: %.60s: %s", xmlGetLineNo(node), (const char *)node->name, what);
    HRESULT hr = text ? rules_note(&c->r->remarks, &c->place, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

static HRESULT note_fault(struct checking *c, HRESULT hr)
{
    if (hr != RULES_INVALID)
        return hr;
    const struct error_kept why = error_keep(hr);
    c->bears->_private = &bad_mark;
    return rules_note(&c->r->errors, &c->place, why.text);
}

/* What its attributes are and what stands in it; not what that is. */
static HRESULT check_one(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    const struct xml_checking checking = {&rules_grammar, c->document, RULES_INVALID, remark, c};
    return note_fault(c, xml_grammar_check(&checking, e, type));
}

HRESULT rules_check(struct rules *r, const struct xml_document *document, const struct rules_place *place, xmlNodePtr e,
                    enum rules_type type)
{
    struct checking c = {r, document, *place, e};
    return check_one(&c, e, type);
}

static HRESULT check_expressions(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    HRESULT hr = S_OK;
    /* That of a Node is of another document, and an expression all the same. */
    for (const xmlAttr *a = e->properties; a && SUCCEEDED(hr); a = a->next) {
        const struct xml_value *row = a->ns ? NULL : xml_grammar_value(&rules_grammar, type, (const char *)a->name);
        const char *text = row && row->sort == RULES_VALUE_XPATH ? rules_attribute(e, row->name) : NULL;
        if (!text || !*text)
            continue;
        hr = rules_expression_check(text);
        if (FAILED(hr) && hr != E_OUTOFMEMORY) {
            const struct error_kept why = error_keep(hr);
            hr = note_fault(c, rules_wrong(e, row->name, text, "%s", why.text));
        }
    }
    return hr;
}

/* What is right by the grammar and seldom meant. */
static HRESULT check_meaning(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    const char *choice = rules_attribute(e, "sortType"), *table = rules_attribute(e, "table");
    if (type == RULES_Step && choice && (text_equal_nocase(choice, "min") || text_equal_nocase(choice, "max")) &&
        !rules_attribute(e, "sortDataType"))
        return remark(c, e, "without sortDataType=\"number\" it sorts texts: 9.5 is above 10");
    if (type == RULES_Warning && table && *table && *table != '/' && *table != '\\' && *table != '(')
        return remark(c, e, "its table is looked for from the step's node on; one of the report begins with /");
    if (type == RULES_When && !rules_attribute(e, "expression"))
        return rules_attribute(e, "matchRE") ? remark(c, e, "matchRE is not supported, it is never true")
                                             : note_fault(c, rules_wrong(e, "expression", NULL, "it is wanted"));
    return S_OK;
}

static HRESULT check_symptom(struct checking *c, xmlNodePtr warning)
{
    const char *tag = rules_attribute(warning, "tag");
    for (xmlNodePtr item = rules_child(warning, "Item"); tag && item; item = rules_next(item, "Item"))
        for (xmlNodePtr data = rules_child(item, "Data"); data; data = rules_next(data, "Data")) {
            const char *link = rules_attribute(data, "link");
            if (link && strcmp(link, tag) != 0)
                return remark(c, data, "its link is not the Warning's tag, so it leads nowhere");
        }
    return S_OK;
}

static HRESULT check_deep(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    if (type == RULES_Anything)
        return S_OK;
    if (type == RULES_Step || type == RULES_Rule)
        c->bears = e;
    HRESULT hr = check_one(c, e, type);
    if (SUCCEEDED(hr))
        hr = check_expressions(c, e, type);
    if (SUCCEEDED(hr))
        hr = check_meaning(c, e, type);
    if (SUCCEEDED(hr) && type == RULES_Warning)
        hr = check_symptom(c, e);
    if (type == RULES_Rule)
        c->place.rule = rules_attribute(e, "name");
    if (type == RULES_Rule)
        c->place.step = 0;
    for (xmlNodePtr child = rules_child(e, NULL); child && SUCCEEDED(hr) && type != RULES_Node;
         child = rules_next(child, NULL)) {
        const struct xml_within *row = xml_grammar_within(&rules_grammar, type, (const char *)child->name);
        if (!row)
            continue;
        c->place.step += row->type == RULES_Step;
        hr = check_deep(c, child, (enum rules_type)row->type);
    }
    return hr;
}

HRESULT rules_check_group(struct rules *r, const struct rules_file *file, xmlNodePtr group)
{
    struct checking c = {.r = r, .document = &file->document, .bears = group};
    c.place = (struct rules_place){.file = file->path, .group = rules_attribute(group, "name")};
    return check_deep(&c, group, RULES_Group);
}
