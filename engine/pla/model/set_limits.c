/* SPDX-License-Identifier: MIT */
/* Whether a set can be read again when it is stored: the reader bounds what a document may hold (xml_document.c,
   xml_read.c), what clients put is not bounded. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/pla/model.h"

#include <string.h>

/* Bytes up to which no bound can be reached, even if each has to be escaped and the text is written twice. */
#define SURELY_SMALL (256u << 10)
/* Bytes that stand for the tags of an element, and of an object. */
#define TAGS_SIZE    24
#define OBJECT_SIZE  64

static size_t texts_size(const struct texts *list)
{
    size_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->items[i]) + TAGS_SIZE;
    return size;
}

/* The object's own texts. */
static size_t own_size(struct object *o)
{
    size_t size = OBJECT_SIZE;
    object_lock(o);
    for (size_t i = 0; i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        const void *field = (const char *)o + p->offset;
        if (p->kind == PROPERTY_TEXT)
            size += strlen(*(char *const *)field);
        else if (p->kind == PROPERTY_TEXTS)
            size += texts_size(field);
    }
    object_unlock(o);
    return size;
}

static HRESULT check_count(size_t count, const char *what)
{
    return count > SET_ITEMS_MAX
               ? error_set(E_INVALIDARG, "the set cannot be stored: %u of the element %s are more than %u",
                           (unsigned)count, what, SET_ITEMS_MAX)
               : S_OK;
}

/* Holds the collections at `o` and below against their limit, and adds up what all takes. */
static HRESULT measure(struct object *o, size_t *size)
{
    struct object **items = NULL;
    size_t count = 0;
    HRESULT hr = o->class->items ? collection_snapshot(o, &items, &count) : S_OK;
    *size += own_size(o);
    for (const struct class *const *c = o->class->item_classes; SUCCEEDED(hr) && c && *c; c++) {
        size_t of_class = 0;
        for (size_t i = 0; i < count; i++)
            of_class += items[i]->class == *c;
        hr = check_count(of_class, (*c)->name);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = measure(items[i], size);
    objects_release(items, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        struct object *child = object_child(o, &o->class->properties[i]);
        if (child)
            hr = measure(child, size);
    }
    return hr;
}

static HRESULT measure_values(struct data_collector_set *set, size_t *size)
{
    object_lock(&set->object);
    HRESULT hr = check_count(set->value_count, "Value");
    for (size_t i = 0; SUCCEEDED(hr) && i < set->value_count; i++)
        *size += strlen(set->values[i].key) + strlen(set->values[i].value) + TAGS_SIZE;
    object_unlock(&set->object);
    return hr;
}

static HRESULT read_again(struct object *set)
{
    struct xml_document document;
    char *xml;
    size_t size;
    HRESULT hr = set_to_stored_xml(set, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = xml_document_open(xml, size, &document);
    xml_document_close(&document);
    memory_free(xml);
    if (hr != OPENPLA_E_MALFORMED_XML)
        return hr;
    return error_set(E_INVALIDARG, "the set cannot be stored: %s", error_text(hr));
}

HRESULT set_check_limits(struct object *set)
{
    size_t size = 0;
    HRESULT hr = measure(set, &size);
    if (SUCCEEDED(hr))
        hr = measure_values(set_of(set), &size);
    return SUCCEEDED(hr) && size > SURELY_SMALL ? read_again(set) : hr;
}
