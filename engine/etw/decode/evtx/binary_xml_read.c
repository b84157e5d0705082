/* SPDX-License-Identifier: MIT */
/* Binary XML as text. */
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/etw/decode/evtx/binary_xml.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define MOST_DEPTH 64
#define MOST_TEXT  (1u << 20) /* bytes of what comes out */
#define MORE       0x40u      /* of a token: more of its kind follow */

struct binary_reader {
    const uint8_t *bytes;
    size_t size, at;
    struct text_buffer out;
};

static HRESULT damaged(const struct binary_reader *r, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "binary XML: %s at %llu", what, (unsigned long long)r->at);
}

static bool take(struct binary_reader *r, size_t bytes)
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
        return damaged(r, "a text that lies outside");
    WCHAR *wide = memory_alloc((units + 1) * sizeof *wide);
    for (size_t i = 0; wide && i < units; i++)
        wide[i] = get_u16(r->bytes + r->at + 2 * i);
    HRESULT hr = wide ? text_from_utf16(wide, units, true, &text) : E_OUTOFMEMORY;
    memory_free(wide);
    if (FAILED(hr))
        return hr;
    r->at += 2 * units;
    if (name && (!*text || strpbrk(text, " <>&\"'/=%")))
        hr = damaged(r, "a name that is none");
    else
        xml_add_escaped(&r->out, text, attribute);
    memory_free(text);
    return hr;
}

/* {u16 hash, u16 characters, characters, u16 0}, written out; where it begins in the text. */
static HRESULT add_name(struct binary_reader *r)
{
    if (!take(r, 4))
        return damaged(r, "a name that lies outside");
    HRESULT hr = add_units(r, get_u16(r->bytes + r->at - 2), false, true);
    if (SUCCEEDED(hr) && !take(r, 2))
        hr = damaged(r, "a name without its end");
    return hr;
}

/* One piece of an element's or attribute's text. S_FALSE: the token is none of one. */
static HRESULT add_value(struct binary_reader *r, uint8_t token, bool attribute)
{
    switch (token & ~MORE) {
    case 0x05: /* a text */
        if (!take(r, 3) || r->bytes[r->at - 3] != 1)
            return damaged(r, "a value that is no text");
        return add_units(r, get_u16(r->bytes + r->at - 2), attribute, false);
    case 0x08: /* a character by its number */
        if (!take(r, 2))
            return damaged(r, "a character that lies outside");
        text_buffer_format(&r->out, "&#%u;", (unsigned)get_u16(r->bytes + r->at - 2));
        return S_OK;
    case 0x09: { /* an entity */
        text_buffer_add(&r->out, "&");
        HRESULT hr = add_name(r);
        text_buffer_add(&r->out, ";");
        return hr;
    }
    case 0x0D:
    case 0x0E: /* a substitution */
        if (!take(r, 3))
            return damaged(r, "a substitution that lies outside");
        text_buffer_format(&r->out, "%%%u", get_u16(r->bytes + r->at - 3) + 1u);
        return S_OK;
    default:
        return S_FALSE;
    }
}

static HRESULT add_attributes(struct binary_reader *r)
{
    HRESULT hr = S_OK;
    if (!take(r, 4))
        return damaged(r, "attributes that lie outside");
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

/* All up to the end of the element. */
static HRESULT add_content(struct binary_reader *r, unsigned depth)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr)) {
        if (r->at >= r->size || r->out.length > MOST_TEXT)
            return damaged(r, "an element without its end");
        uint8_t token = r->bytes[r->at++];
        if (token == 0x04)
            return S_OK;
        if ((token & ~MORE) == 0x01)
            hr = add_element(r, token & MORE, depth + 1);
        else
            hr = add_value(r, token, false);
        if (hr == S_FALSE)
            hr = damaged(r, "a token that is not known");
    }
    return hr;
}

static HRESULT add_element(struct binary_reader *r, bool has_attributes, unsigned depth)
{
    if (depth > MOST_DEPTH)
        return damaged(r, "elements nested too deep");
    if (!take(r, 6)) /* which substitution it depends on, its size */
        return damaged(r, "an element that lies outside");
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
        hr = damaged(r, "a start tag without its end");
    }
    memory_free(name);
    return hr;
}

HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml)
{
    struct binary_reader r = {.bytes = bytes, .size = size};
    HRESULT hr = S_OK;
    *xml = NULL;
    if (take(&r, 4) && bytes[0] != 0x0F)
        r.at = 0;
    while (SUCCEEDED(hr) && r.at < r.size && bytes[r.at] != 0) {
        uint8_t token = bytes[r.at++];
        hr = (token & ~MORE) == 0x01 ? add_element(&r, token & MORE, 1) : damaged(&r, "a token that is not known");
    }
    if (SUCCEEDED(hr)) {
        *xml = r.out.length || r.out.failed ? text_buffer_take(&r.out) : text_copy("");
        hr = *xml ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&r.out);
    return hr;
}
