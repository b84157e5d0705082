/* SPDX-License-Identifier: MIT */
/* What a property refuses, found by putting to it what might be refused: the rows' checks are code and cannot be read.
 */
#include "docs/generate/reference.h"
#include "engine/base/memory.h"

#include <string.h>

/* Adds the result unless it is there already. Success adds nothing. */
static HRESULT keep(struct refusals *r, HRESULT hr)
{
    if (SUCCEEDED(hr))
        return S_OK;
    if (hr == E_OUTOFMEMORY)
        return hr;
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].hr == hr)
            return S_OK;
    if (r->count == sizeof r->items / sizeof r->items[0])
        return error_set(E_UNEXPECTED, "a property refuses in more ways than the reference has room for");
    /* What is wrong in a document the XML library says, in words of its version. */
    const char *text = hr == OPENPLA_E_MALFORMED_XML ? error_standard_text(hr) : error_text(hr);
    r->items[r->count].text = text_copy(text);
    r->items[r->count].hr = hr;
    return r->items[r->count++].text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT probe(struct object *o, const struct property *p, const struct value *v, struct refusals *r)
{
    return keep(r, object_put(o, p, v));
}

/* A number that the row has not; the values just outside of a range that leaves some. */
static HRESULT probe_numbers(struct object *o, const struct property *p, struct refusals *r)
{
    struct value v = {.kind = p->kind};
    int64_t lowest = p->kind == PROPERTY_I32 ? INT32_MIN : 0,
            highest = p->kind == PROPERTY_I32 ? INT32_MAX : UINT32_MAX;
    HRESULT hr = S_OK;
    if (p->kind == PROPERTY_ENUM) {
        while (enumeration_has(p->enumeration, v.u32))
            v.u32++;
        return probe(o, p, &v, r);
    }
    if (p->min > lowest) {
        v.u32 = (uint32_t)(p->min - 1); /* the same bits as i32 */
        hr = probe(o, p, &v, r);
    }
    if (SUCCEEDED(hr) && p->max < highest) {
        v.u32 = (uint32_t)(p->max + 1);
        hr = probe(o, p, &v, r);
    }
    return hr;
}

static HRESULT probe_texts(struct object *o, const struct property *p, struct refusals *r)
{
    static const char *const texts[] = {"a:b", "<", "\x01", "taken", ""};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof texts / sizeof texts[0]; i++) {
        struct value v = {.kind = PROPERTY_TEXT, .text = text_copy(texts[i])};
        hr = v.text ? probe(o, p, &v, r) : E_OUTOFMEMORY;
        value_free(&v);
    }
    return hr;
}

static HRESULT probe_list(struct object *o, const struct property *p, const char *first, const char *second,
                          struct refusals *r)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    HRESULT hr = texts_add(&v.texts, first);
    if (SUCCEEDED(hr) && second)
        hr = texts_add(&v.texts, second);
    if (SUCCEEDED(hr))
        hr = probe(o, p, &v, r);
    value_free(&v);
    return hr;
}

static HRESULT probe_lists(struct object *o, const struct property *p, struct refusals *r)
{
    HRESULT hr = probe_list(o, p, "a;b", NULL, r);
    if (SUCCEEDED(hr))
        hr = probe_list(o, p, "", NULL, r);
    return SUCCEEDED(hr) ? probe_list(o, p, "a", "A", r) : hr;
}

/* A day before the dates of the rows above it; then what is no date. */
static HRESULT probe_dates(struct object *o, const struct property *p, struct refusals *r)
{
    const double day = 45000;
    struct value v = {.kind = PROPERTY_DATE, .variant = {.type = VARIANT_DATE, .real = day}};
    HRESULT hr = S_OK;
    for (const struct property *above = o->class->properties; SUCCEEDED(hr) && above < p; above++)
        if (above->kind == PROPERTY_DATE)
            hr = object_put(o, above, &v);
    if (FAILED(hr))
        return hr;
    v.kind = p->kind;
    v.variant.real = day - 1;
    hr = probe(o, p, &v, r);
    v.variant = (struct variant){.type = VARIANT_BOOL_};
    return SUCCEEDED(hr) ? probe(o, p, &v, r) : hr;
}

static HRESULT probe_bytes(struct object *o, const struct property *p, struct refusals *r)
{
    struct value v = {.kind = PROPERTY_BYTES, .bytes = {.count = (size_t)p->max + 1}};
    v.bytes.items = memory_zero(v.bytes.count, 1);
    HRESULT hr = v.bytes.items ? probe(o, p, &v, r) : E_OUTOFMEMORY;
    value_free(&v);
    return hr;
}

static HRESULT probe_kind(struct object *o, const struct property *p, struct refusals *r)
{
    switch (p->kind) {
    case PROPERTY_I32:
    case PROPERTY_U32:
    case PROPERTY_ENUM:
        return probe_numbers(o, p, r);
    case PROPERTY_TEXT:
        return probe_texts(o, p, r);
    case PROPERTY_TEXTS:
        return probe_lists(o, p, r);
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return probe_dates(o, p, r);
    case PROPERTY_BYTES:
        return probe_bytes(o, p, r);
    default:
        return S_OK;
    }
}

HRESULT refusals_find(const struct class *class, const struct property *p, struct refusals *out)
{
    struct specimen s;
    memset(out, 0, sizeof *out);
    HRESULT hr = specimen_create(class, &s);
    if (FAILED(hr))
        return hr;
    hr = probe_kind(s.object, p, out);
    error_clear();
    specimen_release(&s);
    if (FAILED(hr))
        refusals_free(out);
    return hr;
}

void refusals_free(struct refusals *r)
{
    for (size_t i = 0; i < r->count; i++)
        memory_free(r->items[i].text);
    memset(r, 0, sizeof *r);
}
