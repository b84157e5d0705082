/* SPDX-License-Identifier: MIT */
/* Text as binary XML. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/evtx/binary_xml.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define MORE 0x40u

/* ---- pieces ---- */

static HRESULT add_units(struct byte_buffer *to, const char *text, size_t bytes, bool name)
{
    WCHAR *wide;
    size_t units;
    uint16_t hash = 0;
    char *copy = text_copy_n(text, bytes);
    HRESULT hr = copy ? text_to_utf16(copy, &wide, &units) : E_OUTOFMEMORY;
    memory_free(copy);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < units; i++)
        hash = (uint16_t)(hash * 65599u + wide[i]);
    if (units > UINT16_MAX)
        hr = error_set(E_INVALIDARG, "UserData has a text of %llu characters", (unsigned long long)units);
    if (name)
        byte_buffer_u16(to, hash);
    byte_buffer_u16(to, (uint16_t)units);
    for (size_t i = 0; i < units; i++)
        byte_buffer_u16(to, wide[i]);
    if (name)
        byte_buffer_u16(to, 0);
    memory_free(wide);
    return hr;
}

static HRESULT add_text(struct byte_buffer *to, const char *text, size_t bytes)
{
    if (!bytes)
        return S_OK;
    byte_buffer_u8(to, 0x05);
    byte_buffer_u8(to, 1);
    return add_units(to, text, bytes, false);
}

/* TDH's in-type as binary XML's types of values have it (MS-EVEN6 2.2.12): the same numbers up to 21, arrays from 128
   on. */
static void add_substitution(struct byte_buffer *to, size_t index, const struct event_property *p)
{
    const bool array = p->flags & (PROPERTY_FIXED_COUNT | PROPERTY_PARAM_COUNT);
    const uint8_t type = p->in_type >= 22 ? 1 : (uint8_t)p->in_type;
    byte_buffer_u8(to, 0x0D);
    byte_buffer_u16(to, (uint16_t)index);
    byte_buffer_u8(to, p->flags & PROPERTY_STRUCT ? 0 : (uint8_t)(type | (array ? 0x80 : 0)));
}

/* Text in which %n are substitutions. */
static HRESULT add_mixed(struct byte_buffer *to, const char *text, const struct event_property *properties,
                         size_t count)
{
    const char *from = text;
    HRESULT hr = S_OK;
    for (const char *at = text; SUCCEEDED(hr) && (at = strchr(at, '%')) != NULL;) {
        size_t number = 0, digits = 1;
        for (; digits <= 5 && at[digits] >= '0' && at[digits] <= '9'; digits++)
            number = 10 * number + (size_t)(at[digits] - '0');
        if (number && number <= count) {
            hr = add_text(to, from, (size_t)(at - from));
            add_substitution(to, number - 1, &properties[number - 1]);
            from = at + digits;
        }
        at += digits;
    }
    return SUCCEEDED(hr) ? add_text(to, from, strlen(from)) : hr;
}

/* Token, dependency, size, name; gives where the size stands. */
static HRESULT begin_element(struct byte_buffer *to, const char *prefix, const char *name, bool attributes,
                             size_t *size)
{
    char *whole = text_format("%s%s%s", prefix ? prefix : "", prefix ? ":" : "", name);
    byte_buffer_u8(to, (uint8_t)(0x01 | (attributes ? MORE : 0)));
    byte_buffer_u16(to, 0xFFFF);
    *size = to->size;
    byte_buffer_u32(to, 0);
    HRESULT hr = whole ? add_units(to, whole, strlen(whole), true) : E_OUTOFMEMORY;
    memory_free(whole);
    return hr;
}

/* What stands behind the size counts. */
static void end_size(struct byte_buffer *to, size_t at)
{
    byte_buffer_set_u32(to, at, (uint32_t)(to->size - at - 4));
}

static void begin_fragment(struct byte_buffer *to)
{
    byte_buffer_u32(to, 0x0001010Fu);
}

HRESULT binary_xml_write_data(const struct event_property *properties, size_t count, struct byte_buffer *to)
{
    size_t whole, size;
    begin_fragment(to);
    HRESULT hr = begin_element(to, NULL, "EventData", false, &whole);
    byte_buffer_u8(to, 0x02);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        hr = begin_element(to, NULL, properties[i].flags & PROPERTY_STRUCT ? "ComplexData" : "Data", true, &size);
        const size_t attributes = to->size;
        byte_buffer_u32(to, 0);
        byte_buffer_u8(to, 0x06);
        if (SUCCEEDED(hr))
            hr = add_units(to, "Name", 4, true);
        if (SUCCEEDED(hr))
            hr = add_text(to, properties[i].name, strlen(properties[i].name));
        end_size(to, attributes);
        byte_buffer_u8(to, 0x02);
        add_substitution(to, i, &properties[i]);
        byte_buffer_u8(to, 0x04);
        end_size(to, size);
    }
    byte_buffer_u8(to, 0x04);
    end_size(to, whole);
    byte_buffer_u8(to, 0x00);
    return FAILED(hr) || !to->failed ? hr : E_OUTOFMEMORY;
}

/* ---- a document ---- */

struct binary_writer {
    const struct xml_document *document;
    const struct event_property *properties;
    size_t count;
    struct byte_buffer *to;
};

static HRESULT add_attribute(struct binary_writer *w, const char *prefix, const char *name, const char *value,
                             bool more)
{
    char *whole = text_format("%s%s%s", prefix ? prefix : "", prefix ? ":" : "", name);
    byte_buffer_u8(w->to, (uint8_t)(0x06 | (more ? MORE : 0)));
    HRESULT hr = whole ? add_units(w->to, whole, strlen(whole), true) : E_OUTOFMEMORY;
    memory_free(whole);
    if (SUCCEEDED(hr) && !*value) { /* an empty value is a text too */
        byte_buffer_u8(w->to, 0x05);
        byte_buffer_u8(w->to, 1);
        byte_buffer_u16(w->to, 0);
        return hr;
    }
    return SUCCEEDED(hr) ? add_mixed(w->to, value, w->properties, w->count) : hr;
}

static HRESULT add_attributes(struct binary_writer *w, xmlNodePtr e)
{
    const size_t at = w->to->size;
    HRESULT hr = S_OK;
    byte_buffer_u32(w->to, 0);
    for (xmlNsPtr ns = e->nsDef; SUCCEEDED(hr) && ns; ns = ns->next)
        hr = add_attribute(w, ns->prefix ? "xmlns" : NULL, ns->prefix ? (const char *)ns->prefix : "xmlns",
                           ns->href ? (const char *)ns->href : "", ns->next || e->properties);
    for (xmlAttrPtr a = e->properties; SUCCEEDED(hr) && a; a = a->next) {
        char *value;
        hr = xml_element_attribute(w->document, e, (const char *)a->name, &value);
        if (SUCCEEDED(hr))
            hr = add_attribute(w, a->ns ? (const char *)a->ns->prefix : NULL, (const char *)a->name, value ? value : "",
                               a->next);
        memory_free(value);
    }
    end_size(w->to, at);
    return hr;
}

/* The depth is the document's, which is bounded. */
static HRESULT add_element(struct binary_writer *w, xmlNodePtr e)
{
    const bool attributes = e->nsDef || e->properties;
    size_t size;
    HRESULT hr =
        begin_element(w->to, e->ns ? (const char *)e->ns->prefix : NULL, (const char *)e->name, attributes, &size);
    if (SUCCEEDED(hr) && attributes)
        hr = add_attributes(w, e);
    byte_buffer_u8(w->to, e->children ? 0x02 : 0x03);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (n->type == XML_ELEMENT_NODE)
            hr = add_element(w, n);
        else if (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE)
            hr = add_mixed(w->to, (const char *)n->content, w->properties, w->count);
    if (e->children)
        byte_buffer_u8(w->to, 0x04);
    end_size(w->to, size);
    return hr;
}

HRESULT binary_xml_write(const char *xml, const struct event_property *properties, size_t count, struct byte_buffer *to)
{
    struct xml_document d;
    char *whole = text_format("<UserData>%s</UserData>", xml);
    HRESULT hr = whole ? xml_document_open(whole, strlen(whole), &d) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        struct binary_writer w = {&d, properties, count, to};
        begin_fragment(to);
        for (xmlNodePtr n = d.root->children; SUCCEEDED(hr) && n; n = n->next)
            if (n->type == XML_ELEMENT_NODE)
                hr = add_element(&w, n);
        byte_buffer_u8(to, 0x00);
        xml_document_close(&d);
    }
    memory_free(whole);
    return FAILED(hr) || !to->failed ? hr : E_OUTOFMEMORY;
}
