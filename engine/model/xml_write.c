/* SPDX-License-Identifier: MIT */
/* From objects to XML: the format step. Element order is row order; empty elements are <X/>. pla-behaviour 18. */
#include "engine/model/model.h"

#include "engine/os/memory.h"

#include <libxml/xmlwriter.h>
#include <string.h>

/* Characters that XML 1.0 cannot hold become U+FFFD (DECISIONS 3); what validation says of them is its business. */
static char *holdable(const char *text)
{
    struct text_buffer b = {0};
    for (const char *c = text; *c; c++) {
        unsigned char u = (unsigned char)*c;
        if (u < ' ' && u != '\t' && u != '\n' && u != '\r')
            text_buffer_add(&b, "\xEF\xBF\xBD");
        else
            text_buffer_add_n(&b, c, 1);
    }
    return text_buffer_take(&b);
}

static HRESULT write_element(xmlTextWriterPtr w, const char *element, const char *text)
{
    char *safe = holdable(text);
    if (!safe)
        return E_OUTOFMEMORY;
    int ok = xmlTextWriterStartElement(w, BAD_CAST element);
    if (ok >= 0 && safe[0])
        ok = xmlTextWriterWriteString(w, BAD_CAST safe);
    if (ok >= 0)
        ok = xmlTextWriterEndElement(w);
    memory_free(safe);
    return ok < 0 ? E_OUTOFMEMORY : S_OK;
}

static HRESULT write_number(xmlTextWriterPtr w, const char *element, int64_t n)
{
    char *text = text_format("%lld", (long long)n);
    HRESULT hr = text ? write_element(w, element, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

/* A map's values are decimal in an index map and hexadecimal in the others, as exports have them. */
static HRESULT write_variant(xmlTextWriterPtr w, const char *element, const struct variant *v, bool hexadecimal)
{
    if (v->type == VARIANT_EMPTY || v->type == VARIANT_NULL)
        return write_element(w, element, "");
    if (v->type == VARIANT_TEXT)
        return write_element(w, element, v->text);
    bool real = v->type == VARIANT_R4 || v->type == VARIANT_R8 || v->type == VARIANT_DATE;
    char *text = real          ? text_format("%.17g", v->real)
                 : hexadecimal ? text_format("0x%llx", (unsigned long long)v->integer)
                               : text_format("%lld", (long long)v->integer);
    HRESULT hr = text ? write_element(w, element, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

/* Text of our own making, or an out-of-memory. */
static HRESULT write_made(xmlTextWriterPtr w, const char *element, char *text)
{
    HRESULT hr = text ? write_element(w, element, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

static HRESULT write_bytes(xmlTextWriterPtr w, const char *element, const struct bytes *bytes)
{
    struct text_buffer b = {0};
    if (!bytes->count) /* absent when empty, as in exports */
        return S_OK;
    for (size_t i = 0; i < bytes->count; i++)
        text_buffer_format(&b, "%02X", bytes->items[i]);
    return write_made(w, element, text_buffer_take(&b));
}

static HRESULT write_date(xmlTextWriterPtr w, const struct property *p, const struct variant *v)
{
    if (v->type != VARIANT_DATE)
        return write_element(w, p->xml, "");
    return write_made(w, p->xml, p->kind == PROPERTY_DATE ? date_to_text(v->real) : time_to_text(v->real));
}

/* Text that is XML already; it was checked when it was put. */
static HRESULT write_xml_text(xmlTextWriterPtr w, const struct property *p, const char *text)
{
    if (!text[0])
        return write_element(w, p->xml, "");
    if (p->xml_use == XML_WHOLE)
        return xmlTextWriterWriteRaw(w, BAD_CAST text) < 0 ? E_OUTOFMEMORY : S_OK;
    int ok = xmlTextWriterStartElement(w, BAD_CAST p->xml);
    if (ok >= 0)
        ok = xmlTextWriterWriteRaw(w, BAD_CAST text);
    if (ok >= 0)
        ok = xmlTextWriterEndElement(w);
    return ok < 0 ? E_OUTOFMEMORY : S_OK;
}

static HRESULT write_contents(xmlTextWriterPtr w, struct object *o, bool hexadecimal);
static HRESULT write_items(xmlTextWriterPtr w, struct object *collection, bool hexadecimal);

static HRESULT write_child(xmlTextWriterPtr w, const struct property *p, struct object *child)
{
    if (p->xml_use == XML_ITEMS)
        return write_items(w, child, false);
    HRESULT hr = xmlTextWriterStartElement(w, BAD_CAST p->xml) < 0 ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr))
        hr = write_contents(w, child, false);
    return SUCCEEDED(hr) && xmlTextWriterEndElement(w) < 0 ? E_OUTOFMEMORY : hr;
}

static HRESULT write_property(xmlTextWriterPtr w, struct object *o, const struct property *p, bool hexadecimal)
{
    struct value v;
    HRESULT hr = object_get(o, p, &v);
    if (FAILED(hr) && p->xml_use == XML_SHOWN && hr != E_OUTOFMEMORY) {
        /* What is only shown must not stand in the way: a location with a bad pattern is shown empty. */
        error_clear();
        return write_element(w, p->xml, "");
    }
    if (FAILED(hr))
        return hr;
    switch (p->kind) {
    case PROPERTY_BOOL:
        hr = write_number(w, p->xml, v.boolean ? -1 : 0);
        break;
    case PROPERTY_I32:
        hr = write_number(w, p->xml, v.i32);
        break;
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        hr = write_number(w, p->xml, v.u32);
        break;
    case PROPERTY_U64:
        hr = write_number(w, p->xml, (int64_t)v.u64);
        break;
    case PROPERTY_GUID: {
        char text[39];
        text_from_guid(&v.guid, text);
        hr = write_element(w, p->xml, text);
        break;
    }
    case PROPERTY_BYTES:
        hr = write_bytes(w, p->xml, &v.bytes);
        break;
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        hr = write_date(w, p, &v.variant);
        break;
    case PROPERTY_TEXT:
        hr = p->xml_use == XML_INSIDE || p->xml_use == XML_WHOLE ? write_xml_text(w, p, v.text)
                                                                 : write_element(w, p->xml, v.text);
        break;
    case PROPERTY_TEXTS:
        for (size_t i = 0; SUCCEEDED(hr) && i < v.texts.count; i++)
            hr = write_element(w, p->xml, v.texts.items[i]);
        break;
    case PROPERTY_VARIANT:
        hr = write_variant(w, p->xml, &v.variant, hexadecimal);
        break;
    case PROPERTY_OBJECT:
        hr = write_child(w, p, v.object);
        break;
    }
    value_free(&v);
    return hr;
}

static HRESULT write_user_value(xmlTextWriterPtr w, const struct user_value *v)
{
    char *name = holdable(v->key);
    if (!name)
        return E_OUTOFMEMORY;
    int ok = xmlTextWriterStartElement(w, BAD_CAST "Value");
    if (ok >= 0)
        ok = xmlTextWriterWriteAttribute(w, BAD_CAST "name", BAD_CAST name);
    memory_free(name);
    if (ok >= 0 && v->document) {
        ok = xmlTextWriterWriteAttribute(w, BAD_CAST "type", BAD_CAST "document");
        if (ok >= 0)
            ok = xmlTextWriterWriteRaw(w, BAD_CAST v->value);
    } else if (ok >= 0) {
        char *safe = holdable(v->value);
        ok = safe ? xmlTextWriterWriteString(w, BAD_CAST safe) : -1;
        memory_free(safe);
    }
    if (ok >= 0)
        ok = xmlTextWriterEndElement(w);
    return ok < 0 ? E_OUTOFMEMORY : S_OK;
}

static HRESULT write_user_values(xmlTextWriterPtr w, struct data_collector_set *set)
{
    HRESULT hr = S_OK;
    object_lock(&set->object);
    for (size_t i = 0; SUCCEEDED(hr) && i < set->value_count; i++)
        hr = write_user_value(w, &set->values[i]);
    object_unlock(&set->object);
    return hr;
}

static HRESULT write_object(xmlTextWriterPtr w, struct object *o, bool hexadecimal)
{
    HRESULT hr = xmlTextWriterStartElement(w, BAD_CAST o->class->name) < 0 ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr))
        hr = write_contents(w, o, hexadecimal);
    return SUCCEEDED(hr) && xmlTextWriterEndElement(w) < 0 ? E_OUTOFMEMORY : hr;
}

static HRESULT write_items(xmlTextWriterPtr w, struct object *collection, bool hexadecimal)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = write_object(w, list[i], hexadecimal);
    objects_release(list, count);
    return hr;
}

/* What is inside an object's element: its rows, its own items, and a set's user values. */
static HRESULT write_contents(xmlTextWriterPtr w, struct object *o, bool hexadecimal)
{
    HRESULT hr = S_OK;
    if (o->class == &value_map_class)
        hexadecimal = ((struct value_map *)o)->ValueMapType != 1;
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++)
        if (o->class->properties[i].xml_use != XML_HIDDEN)
            hr = write_property(w, o, &o->class->properties[i], hexadecimal);
    if (SUCCEEDED(hr) && o->class->items)
        hr = write_items(w, o, hexadecimal);
    if (SUCCEEDED(hr) && o->class == &data_collector_set_class)
        hr = write_user_values(w, (struct data_collector_set *)o);
    return hr;
}

HRESULT object_to_xml(struct object *o, char **xml, size_t *size)
{
    *xml = NULL;
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr w = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
    HRESULT hr = w ? write_object(w, o, false) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && xmlTextWriterFlush(w) < 0)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        size_t length = (size_t)xmlBufferLength(buffer);
        *xml = text_copy_n((const char *)xmlBufferContent(buffer), length);
        if (size)
            *size = length;
        hr = *xml ? S_OK : E_OUTOFMEMORY;
    }
    if (w)
        xmlFreeTextWriter(w);
    if (buffer)
        xmlBufferFree(buffer);
    return hr;
}
