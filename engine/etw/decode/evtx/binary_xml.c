/* SPDX-License-Identifier: MIT */
/* Converts the binary XML of templates to XML and back (MS-EVEN6 2.2.12).

   A WEVT_TEMPLATE contains the XML of an event's data as a stream of tokens:
   - 0x01 begins an element, and 0x06 an attribute.
   - 0x05 is a string; 0x0D and 0x0E are substitutions.
   - 0x02 ends a start tag, 0x03 ends an empty element, and 0x04 ends an element with content.
   - The bit 0x40 of a token means that another token of its kind follows.

   Unlike in .evtx files, names are stored inline instead of as offsets. In the XML, %n stands for the substitution of
   property n, counted from 1.

   The reader treats its input as untrusted: it checks each size, limits depth and output, and rejects names with
   characters that could change the structure of the XML. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define MOST_DEPTH 64
#define MOST_TEXT  (1u << 20) /* limit of the output in bytes */
#define MORE       0x40u      /* flag of a token: more of its kind follow */

struct binary_reader {
    const uint8_t *bytes;
    size_t size, at;
    struct text_buffer out;
};

static HRESULT xml_corrupt(const struct binary_reader *r, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid binary XML: %s at offset %llu", what,
                     (unsigned long long)r->at);
}

static bool reader_take_bytes(struct binary_reader *r, size_t bytes)
{
    if (r->size - r->at < bytes)
        return false;
    r->at += bytes;
    return true;
}

static HRESULT add_units(struct binary_reader *r, size_t units, bool attribute, bool name)
{
    char *text;
    if (r->size - r->at < 2 * units || r->out.length > MOST_TEXT)
        return xml_corrupt(r, "string out of range");
    WCHAR *wide = memory_alloc((units + 1) * sizeof *wide);
    for (size_t i = 0; wide && i < units; i++)
        wide[i] = get_u16(r->bytes + r->at + 2 * i);
    HRESULT hr = wide ? text_from_utf16(wide, units, true, &text) : E_OUTOFMEMORY;
    memory_free(wide);
    if (FAILED(hr))
        return hr;
    r->at += 2 * units;
    if (name && (!*text || strpbrk(text, " <>&\"'/=%")))
        hr = xml_corrupt(r, "invalid name");
    else
        xml_add_escaped(&r->out, text, attribute);
    memory_free(text);
    return hr;
}

/* Appends a name, which is stored as {u16 hash, u16 characters, characters, u16 0}. */
static HRESULT add_name(struct binary_reader *r)
{
    if (!reader_take_bytes(r, 4))
        return xml_corrupt(r, "name out of range");
    HRESULT hr = add_units(r, get_u16(r->bytes + r->at - 2), false, true);
    if (SUCCEEDED(hr) && !reader_take_bytes(r, 2))
        hr = xml_corrupt(r, "unterminated name");
    return hr;
}

/* Appends a part of the text of an element or attribute. S_FALSE: the token is not text. */
static HRESULT add_value(struct binary_reader *r, uint8_t token, bool attribute)
{
    switch (token & ~MORE) {
    case 0x05: /* string */
        if (!reader_take_bytes(r, 3) || r->bytes[r->at - 3] != 1)
            return xml_corrupt(r, "value is not a string");
        return add_units(r, get_u16(r->bytes + r->at - 2), attribute, false);
    case 0x08: /* character reference */
        if (!reader_take_bytes(r, 2))
            return xml_corrupt(r, "character reference out of range");
        text_buffer_format(&r->out, "&#%u;", (unsigned)get_u16(r->bytes + r->at - 2));
        return S_OK;
    case 0x09: { /* entity reference */
        text_buffer_add(&r->out, "&");
        HRESULT hr = add_name(r);
        text_buffer_add(&r->out, ";");
        return hr;
    }
    case 0x0D:
    case 0x0E: /* substitution */
        if (!reader_take_bytes(r, 3))
            return xml_corrupt(r, "substitution out of range");
        text_buffer_format(&r->out, "%%%u", get_u16(r->bytes + r->at - 3) + 1u);
        return S_OK;
    default:
        return S_FALSE;
    }
}

static HRESULT add_attributes(struct binary_reader *r)
{
    HRESULT hr = S_OK;
    if (!reader_take_bytes(r, 4))
        return xml_corrupt(r, "attribute list out of range");
    while (SUCCEEDED(hr) && r->at < r->size && (r->bytes[r->at] & ~MORE) == 0x06) {
        r->at++;
        text_buffer_add(&r->out, " ");
        hr = add_name(r);
        text_buffer_add(&r->out, "=\"");
        for (HRESULT more = S_OK; SUCCEEDED(hr) && more == S_OK && r->at < r->size;) {
            size_t before = r->at;
            more = hr = add_value(r, r->bytes[r->at++], true);
            if (more == S_FALSE)
                r->at = before;
        }
        text_buffer_add(&r->out, "\"");
    }
    return hr;
}

static HRESULT add_element(struct binary_reader *r, bool has_attributes, unsigned depth);

/* Appends the content of an element up to its end. */
static HRESULT add_content(struct binary_reader *r, unsigned depth)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr)) {
        if (r->at >= r->size || r->out.length > MOST_TEXT)
            return xml_corrupt(r, "unterminated element");
        uint8_t token = r->bytes[r->at++];
        if (token == 0x04)
            return S_OK;
        if ((token & ~MORE) == 0x01)
            hr = add_element(r, token & MORE, depth + 1);
        else
            hr = add_value(r, token, false);
        if (hr == S_FALSE)
            hr = xml_corrupt(r, "unknown token");
    }
    return hr;
}

static HRESULT add_element(struct binary_reader *r, bool has_attributes, unsigned depth)
{
    if (depth > MOST_DEPTH)
        return xml_corrupt(r, "elements nested too deep");
    if (!reader_take_bytes(r, 6)) /* skips dependency and size */
        return xml_corrupt(r, "element out of range");
    text_buffer_add(&r->out, "<");
    const size_t from = r->out.length;
    HRESULT hr = add_name(r);
    char *name = SUCCEEDED(hr) && !r->out.failed ? text_copy_n(r->out.text + from, r->out.length - from) : NULL;
    if (SUCCEEDED(hr) && !name)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && has_attributes)
        hr = add_attributes(r);
    uint8_t end = SUCCEEDED(hr) && r->at < r->size ? r->bytes[r->at++] : 0;
    if (SUCCEEDED(hr) && end == 0x03) {
        text_buffer_add(&r->out, "/>");
    } else if (SUCCEEDED(hr) && end == 0x02) {
        text_buffer_add(&r->out, ">");
        hr = add_content(r, depth);
        text_buffer_format(&r->out, "</%s>", name);
    } else if (SUCCEEDED(hr)) {
        hr = xml_corrupt(r, "unterminated start tag");
    }
    memory_free(name);
    return hr;
}

HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml)
{
    struct binary_reader r = {.bytes = bytes, .size = size};
    HRESULT hr = S_OK;
    *xml = NULL;
    if (reader_take_bytes(&r, 4) && bytes[0] != 0x0F)
        r.at = 0;
    while (SUCCEEDED(hr) && r.at < r.size && bytes[r.at] != 0) {
        uint8_t token = bytes[r.at++];
        hr = (token & ~MORE) == 0x01 ? add_element(&r, token & MORE, 1) : xml_corrupt(&r, "unknown token");
    }
    if (SUCCEEDED(hr)) {
        *xml = r.out.length || r.out.failed ? text_buffer_take(&r.out) : text_copy("");
        hr = *xml ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&r.out);
    return hr;
}

/* ---- text as binary XML ---- */

#define MORE 0x40u

/* ---- parts of binary XML ---- */

static HRESULT write_units(struct byte_buffer *to, const char *text, size_t bytes, bool name)
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
        hr = error_set(E_INVALIDARG, "cannot write UserData: a string has %llu characters", (unsigned long long)units);
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
    return write_units(to, text, bytes, false);
}

/* Adds a substitution and maps TDH's input type to binary XML's value type (MS-EVEN6 2.2.12). Up to 21, the numbers of
   the types are the same; from 22 on, a type becomes a string (1). For an array, 128 is added. */
static void add_substitution(struct byte_buffer *to, size_t index, const struct event_property *p)
{
    const bool array = p->flags & (PROPERTY_FIXED_COUNT | PROPERTY_PARAM_COUNT);
    const uint8_t type = p->in_type >= 22 ? 1 : (uint8_t)p->in_type;
    byte_buffer_u8(to, 0x0D);
    byte_buffer_u16(to, (uint16_t)index);
    byte_buffer_u8(to, p->flags & PROPERTY_STRUCT ? 0 : (uint8_t)(type | (array ? 0x80 : 0)));
}

/* Writes a text in which %n stands for a substitution. */
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

/* Writes the token, the dependency, the size and the name. Returns the position of the size field. */
static HRESULT begin_element(struct byte_buffer *to, const char *prefix, const char *name, bool attributes,
                             size_t *size)
{
    char *whole = text_format("%s%s%s", prefix ? prefix : "", prefix ? ":" : "", name);
    byte_buffer_u8(to, (uint8_t)(0x01 | (attributes ? MORE : 0)));
    byte_buffer_u16(to, 0xFFFF);
    *size = to->size;
    byte_buffer_u32(to, 0);
    HRESULT hr = whole ? write_units(to, whole, strlen(whole), true) : E_OUTOFMEMORY;
    memory_free(whole);
    return hr;
}

/* Sets a size field to the number of bytes that follow it. */
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
            hr = write_units(to, "Name", 4, true);
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

static HRESULT write_attribute(struct binary_writer *w, const char *prefix, const char *name, const char *value,
                               bool more)
{
    char *whole = text_format("%s%s%s", prefix ? prefix : "", prefix ? ":" : "", name);
    byte_buffer_u8(w->to, (uint8_t)(0x06 | (more ? MORE : 0)));
    HRESULT hr = whole ? write_units(w->to, whole, strlen(whole), true) : E_OUTOFMEMORY;
    memory_free(whole);
    if (SUCCEEDED(hr) && !*value) { /* an empty value is a string too */
        byte_buffer_u8(w->to, 0x05);
        byte_buffer_u8(w->to, 1);
        byte_buffer_u16(w->to, 0);
        return hr;
    }
    return SUCCEEDED(hr) ? add_mixed(w->to, value, w->properties, w->count) : hr;
}

static HRESULT write_attributes(struct binary_writer *w, xmlNodePtr e)
{
    const size_t at = w->to->size;
    HRESULT hr = S_OK;
    byte_buffer_u32(w->to, 0);
    for (xmlNsPtr ns = e->nsDef; SUCCEEDED(hr) && ns; ns = ns->next)
        hr = write_attribute(w, ns->prefix ? "xmlns" : NULL, ns->prefix ? (const char *)ns->prefix : "xmlns",
                             ns->href ? (const char *)ns->href : "", ns->next || e->properties);
    for (xmlAttrPtr a = e->properties; SUCCEEDED(hr) && a; a = a->next) {
        char *value;
        hr = xml_element_attribute(w->document, e, (const char *)a->name, &value);
        if (SUCCEEDED(hr))
            hr = write_attribute(w, a->ns ? (const char *)a->ns->prefix : NULL, (const char *)a->name,
                                 value ? value : "", a->next);
        memory_free(value);
    }
    end_size(w->to, at);
    return hr;
}

/* Writes an element with its content. The parser limits the depth of the document. */
static HRESULT write_element(struct binary_writer *w, xmlNodePtr e)
{
    const bool attributes = e->nsDef || e->properties;
    size_t size;
    HRESULT hr =
        begin_element(w->to, e->ns ? (const char *)e->ns->prefix : NULL, (const char *)e->name, attributes, &size);
    if (SUCCEEDED(hr) && attributes)
        hr = write_attributes(w, e);
    byte_buffer_u8(w->to, e->children ? 0x02 : 0x03);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (n->type == XML_ELEMENT_NODE)
            hr = write_element(w, n);
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
                hr = write_element(&w, n);
        byte_buffer_u8(to, 0x00);
        xml_document_close(&d);
    }
    memory_free(whole);
    return FAILED(hr) || !to->failed ? hr : E_OUTOFMEMORY;
}
