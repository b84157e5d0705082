/* SPDX-License-Identifier: MIT */
/* Validation: finds the errors that Commit reports in the properties of a set, object by object (MS-PLA 2.2.2.11;
   behaviour 6). */
#include "engine/pla/model/validate.h"

#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/pla/model/name_pattern.h"

#include <string.h>

static const char *key_path(const struct validation *v)
{
    return v->path ? v->path : "";
}

static bool is_chosen(const struct validation *v, const char *property)
{
    const struct property *p = v->rows ? class_property(v->rows->class, property) : NULL;
    return !p || object_row_is_chosen(v->rows, p);
}

/* Returns why the namespace does not use a property of the validated object; NULL: the property is used. */
static const char *why_unused(const struct validation *v, const char *property)
{
    const size_t length = strlen(key_path(v));
    for (size_t i = 0; i < v->unused_count; i++)
        for (const char *const *key = v->unused[i].properties; *key; key++)
            if (!strncmp(*key, key_path(v), length) && !strcmp(*key + length, property))
                return v->unused[i].why;
    return NULL;
}

bool validation_skips(const struct validation *v, const char *property)
{
    return why_unused(v, property) != NULL;
}

HRESULT validation_report(const struct validation *v, HRESULT found, const char *property, const char *why)
{
    if (validation_skips(v, property) || (found == PLA_S_PROPERTY_IGNORED && !is_chosen(v, property)))
        return S_OK;
    char *key = text_format("%s%s", key_path(v), property);
    bool skipped;
    HRESULT hr = key ? issues_has(v->issues, PLA_S_PROPERTY_IGNORED, key, &skipped) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !skipped)
        hr = issues_add(v->issues, found, key, why);
    memory_free(key);
    return hr;
}

HRESULT validation_report_all(const struct validation *v, const struct finding *findings, size_t count)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (findings[i].when)
            hr = validation_report(v, findings[i].found, findings[i].property, findings[i].why);
    return hr;
}

HRESULT validation_unused(const struct validation *v, const char *const *properties, const char *why)
{
    HRESULT hr = S_OK;
    for (; SUCCEEDED(hr) && *properties; properties++)
        hr = validation_report(v, PLA_S_PROPERTY_IGNORED, *properties, why);
    return hr;
}

/* ---- rules for the rows of every class ---- */

static const void *field(const struct object *o, const struct property *p)
{
    return (const char *)o + p->offset;
}

/* Reports a pattern that cannot be expanded; a start would fail. The row of the pattern follows the row
   `format`. */
static HRESULT check_pattern(const struct validation *v, const struct object *copy, const struct property *format)
{
    struct name_context context = {.local = {2005, 1, 31, 1, 31, 4, 20, 0, 0}, .serial_number = 1, .computer = "X"};
    const struct property *pattern = format + 1;
    char *out = NULL;
    if (!(*(const _Atomic uint32_t *)field(copy, format) & FORMAT_PATTERN))
        return S_OK;
    HRESULT hr = name_pattern_expand(*(char *const *)field(copy, pattern), &context, &out);
    memory_free(out);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    struct error_kept why = error_keep(hr);
    return validation_report(v, hr, pattern->name, why.text);
}

/* Reports characters that XML cannot represent; they are stored as U+FFFD (DECISIONS 3). */
static HRESULT check_characters(const struct validation *v, const struct object *copy, const struct property *p)
{
    struct texts one = {.count = 1, .items = (char **)field(copy, p)};
    const struct texts *all = p->kind == PROPERTY_TEXTS ? field(copy, p) : &one;
    for (size_t i = 0; i < all->count; i++)
        if (!xml_holds(all->items[i]))
            return validation_report(v, E_INVALIDARG, p->name,
                                     "contains characters that XML cannot represent, which are stored as U+FFFD");
    return S_OK;
}

/* ---- walking the objects ---- */

static HRESULT object_validate(const struct validation *v, struct object *o, const struct object *copy);

/* Validates an object below the set. Takes ownership of `path`, the object's path; returns E_OUTOFMEMORY if that is
   NULL. */
static HRESULT validate_child(const struct validation *v, char *path, struct object *o)
{
    struct object *copy = NULL;
    HRESULT hr = path ? object_copy(o, &copy) : E_OUTOFMEMORY; /* consistent, and readable without the lock */
    struct validation inner = *v;
    inner.rows = copy;
    inner.path = path;
    if (SUCCEEDED(hr))
        hr = object_validate(&inner, o, copy);
    object_release(copy);
    memory_free(path);
    return hr;
}

static HRESULT validate_items(const struct validation *v, struct object *collection)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        /* The index counts items of the same class, from 1 (behaviour 6). */
        unsigned n = 1;
        for (size_t k = 0; k < i; k++)
            n += list[k]->class == list[i]->class;
        hr = validate_child(v, text_format("%s%s[%u]/", key_path(v), list[i]->class->name, n), list[i]);
    }
    objects_release(list, count);
    return hr;
}

/* Validates a child object, unless the namespace does not use it. Value maps are not validated, because their strings
   come from the host OS. */
static HRESULT validate_held(const struct validation *v, struct object *held, const struct property *p)
{
    if (held->class == &value_map_class || validation_skips(v, p->name))
        return S_OK;
    if (p->xml_use == XML_ITEMS)
        return validate_items(v, held);
    return validate_child(v, text_format("%s%s/", key_path(v), p->name), held);
}

/* Reports chosen properties that the namespace does not use. Reads collections from `o` itself, because a copy has no
   items. */
static HRESULT report_unused(const struct validation *v, struct object *o)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && v->unused_count && i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        const char *why = why_unused(v, p->name);
        if (!why || !object_row_is_chosen(p->kind == PROPERTY_OBJECT ? o : v->rows, p))
            continue;
        char *key = text_format("%s%s", key_path(v), p->name);
        hr = key ? issues_add(v->issues, PLA_S_PROPERTY_IGNORED, key, why) : E_OUTOFMEMORY;
        memory_free(key);
    }
    return hr;
}

static HRESULT object_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    const struct class *class = o->class;
    HRESULT hr = report_unused(v, o);
    for (size_t i = 0; SUCCEEDED(hr) && i < class->property_count; i++)
        if (class->properties[i].enumeration == &enumeration_AutoPathFormat)
            hr = check_pattern(v, copy, &class->properties[i]);
    if (SUCCEEDED(hr) && class->validate)
        hr = class->validate(v, o, copy);
    for (size_t i = 0; SUCCEEDED(hr) && i < class->property_count; i++) {
        const struct property *p = &class->properties[i];
        if ((p->kind == PROPERTY_TEXT || p->kind == PROPERTY_TEXTS) && p->xml_use == XML_STORED)
            hr = check_characters(v, copy, p);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < class->property_count; i++)
        if (class->properties[i].kind == PROPERTY_OBJECT)
            hr = validate_held(v, object_child(o, &class->properties[i]), &class->properties[i]);
    return hr;
}

HRESULT set_validate_without(struct object *o, const struct unused *unused, size_t count, struct object *issues)
{
    struct object *copy;
    HRESULT hr = object_copy(o, &copy);
    if (FAILED(hr))
        return hr;
    const struct validation v = {.issues = issues,
                                 .set = (const struct data_collector_set *)copy,
                                 .unused = unused,
                                 .unused_count = count,
                                 .rows = copy};
    hr = object_validate(&v, o, copy);
    object_release(copy);
    return hr;
}

HRESULT set_validate(struct object *o, struct object *issues)
{
    return set_validate_without(o, NULL, 0, issues);
}
