/* SPDX-License-Identifier: MIT */
#include "engine/etw/decode/evtx/evtx_record.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <string.h>

void evtx_record_clear(struct evtx_record *r)
{
    r->shape.size = r->values.size = r->items.size = 0;
    r->depth = 0;
    r->longest = 0;
    r->too_long = false;
}

void evtx_record_free(struct evtx_record *r)
{
    memory_free(r->shape.bytes);
    memory_free(r->values.bytes);
    memory_free(r->items.bytes);
    *r = (struct evtx_record){0};
}

struct evtx_place evtx_record_place(const struct evtx_record *r)
{
    return (struct evtx_place){r->shape.size, r->values.size, r->items.size, r->depth, r->too_long};
}

void evtx_record_back(struct evtx_record *r, const struct evtx_place *place)
{
    r->shape.size = place->shape;
    r->values.size = place->values;
    r->items.size = place->items;
    r->depth = place->depth;
    r->too_long = place->too_long;
}

void evtx_record_fail(struct evtx_record *r, HRESULT hr)
{
    if (SUCCEEDED(r->hr))
        r->hr = hr;
}

static void check(struct evtx_record *r, HRESULT hr)
{
    if (SUCCEEDED(hr) && (r->shape.failed || r->values.failed || r->items.failed))
        hr = error_set(E_OUTOFMEMORY, "out of memory for an event of the event log");
    if (FAILED(hr))
        evtx_record_fail(r, hr);
}

/* Of UTF-8 that many bytes at most, whole characters. */
static size_t cut(const struct evtx_record *r, const char *text)
{
    size_t size = strlen(text);
    if (r->longest && size > r->longest)
        for (size = r->longest; size && ((unsigned char)text[size] & 0xC0) == 0x80; size--)
            ;
    return size;
}

static void add(struct evtx_record *r, enum evtx_step step, const char *text)
{
    const size_t size = text ? cut(r, text) : 0;
    uint8_t *to = byte_buffer_add(&r->shape, text ? size + 2 : 1);
    if (to) {
        *to = (uint8_t)step;
        if (text)
            memcpy(to + 1, text, size);
    }
    r->too_long |= size > UINT16_MAX; /* before it is measured in units: none of that many bytes is needed */
    check(r, S_OK);
}

void evtx_begin(struct evtx_record *r, const char *element)
{
    if (r->depth++ < EVTX_DEPTH)
        add(r, EVTX_BEGIN, element);
}

void evtx_end(struct evtx_record *r)
{
    if (--r->depth < EVTX_DEPTH)
        add(r, EVTX_END, NULL);
}

void evtx_attribute(struct evtx_record *r, const char *name, const char *text)
{
    if (r->depth > EVTX_DEPTH)
        return;
    add(r, EVTX_ATTRIBUTE, name);
    add(r, EVTX_CONSTANT, text);
}

void evtx_attribute_value(struct evtx_record *r, const char *name, enum evtx_type type, const void *bytes, size_t size)
{
    if (r->depth > EVTX_DEPTH)
        return;
    add(r, EVTX_ATTRIBUTE, name);
    evtx_value(r, type, bytes, size);
}

void evtx_constant(struct evtx_record *r, const char *text)
{
    if (*text)
        add(r, EVTX_CONSTANT, text);
}

/* The bytes are there, or come next. */
static bool declare(struct evtx_record *r, enum evtx_type type, size_t size)
{
    if (size > UINT16_MAX || r->items.size / 4 >= UINT16_MAX) {
        r->too_long = true;
        return false;
    }
    byte_buffer_u8(&r->shape, EVTX_VALUE);
    byte_buffer_u8(&r->shape, (uint8_t)type);
    byte_buffer_u16(&r->items, (uint16_t)size);
    byte_buffer_u16(&r->items, (uint16_t)type);
    return true;
}

void evtx_value(struct evtx_record *r, enum evtx_type type, const void *bytes, size_t size)
{
    uint8_t *to = declare(r, type, size) ? byte_buffer_add(&r->values, size) : NULL;
    if (to && size)
        memcpy(to, bytes, size);
    check(r, S_OK);
}

HRESULT evtx_add_units(struct byte_buffer *to, const char *text)
{
    WCHAR *wide;
    size_t units;
    const HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    uint8_t *at = byte_buffer_add(to, 2 * units);
    for (size_t i = 0; at && i < units; i++) {
        const bool held = wide[i] >= ' ' ? wide[i] < 0xFFFE : wide[i] == '\t' || wide[i] == '\n' || wide[i] == '\r';
        put_u16(at + 2 * i, held ? (uint16_t)wide[i] : 0xFFFD);
    }
    memory_free(wide);
    return at ? S_OK : E_OUTOFMEMORY;
}

void evtx_value_text(struct evtx_record *r, const char *text)
{
    const size_t from = r->values.size, size = cut(r, text);
    char *part = r->longest ? text_copy_n(text, size) : NULL;
    const HRESULT hr = r->longest && !part ? E_OUTOFMEMORY : evtx_add_units(&r->values, part ? part : text);
    memory_free(part);
    check(r, hr);
    if (SUCCEEDED(r->hr) && !declare(r, EVTX_TEXT, r->values.size - from))
        r->values.size = from;
    check(r, S_OK);
}

void evtx_attribute_text(struct evtx_record *r, const char *name, const char *text)
{
    if (r->depth > EVTX_DEPTH)
        return;
    add(r, EVTX_ATTRIBUTE, name);
    evtx_value_text(r, text);
}

void evtx_element(struct evtx_record *r, const char *element, const char *text)
{
    if (!text)
        return;
    evtx_begin(r, element);
    evtx_constant(r, text);
    evtx_end(r);
}

void evtx_element_value(struct evtx_record *r, const char *element, enum evtx_type type, const void *bytes, size_t size)
{
    evtx_begin(r, element);
    evtx_value(r, type, bytes, size);
    evtx_end(r);
}
