/* SPDX-License-Identifier: MIT */
/* Reads TRACE_EVENT_INFO and EVENT_MAP_INFO, as TDH returns them and as merged traces contain them.

   Members of TRACE_EVENT_INFO, by offset:
   - 0 provider GUID, 16 event GUID, 32 EVENT_DESCRIPTOR, 48 decoding source
   - offsets of strings: 52 provider, 56 level, 60 channel, 64 list of keywords, 68 task, 72 opcode, 76 event message,
     80 provider message, 92 event name, 96 attributes
   - 100 number of properties, 104 number of top-level properties, 108 flags, 112 the properties, 24 bytes each

   Members of EVENT_MAP_INFO, by offset: 0 offset of the name, 4 flag, 8 number of entries, 12 type of their values, 16
   the entries {offset of the text, value}. In both structures, a string's offset 0 means that there is no string. */
#include "engine/base/memory.h"
#include "engine/etw/decode/metadata/trace_metadata.h"
#include "engine/etw/event_values.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum {
    INFO_HEAD = 112,
    INFO_PROPERTY = 24,
    MAP_HEAD = 16,
    MAP_ENTRY = 8,
    MOST_KEYWORDS = 64,
    KNOWN_FLAGS = PROPERTY_STRUCT | PROPERTY_PARAM_LENGTH | PROPERTY_PARAM_COUNT | PROPERTY_XML_FRAGMENT |
                  PROPERTY_FIXED_LENGTH | PROPERTY_FIXED_COUNT | PROPERTY_HAS_TAGS,
};

static HRESULT invalid(const char *what, uint64_t value)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid event definition: %s (%llu)", what,
                     (unsigned long long)value);
}

/* Removes the space with which Windows ends display texts, or the line end with which it ends messages. */
static void text_trim_end(char *text)
{
    size_t length = strlen(text);
    while (length != 0 && (text[length - 1] == ' ' || text[length - 1] == '\r' || text[length - 1] == '\n'))
        text[--length] = 0;
}

/* Reads the string at an offset, which must be after the fixed part. *out is NULL for offset 0 and for an empty
   string. */
static HRESULT read_text(const uint8_t *bytes, size_t size, uint32_t offset, size_t fixed, const char *what, char **out)
{
    size_t units;
    *out = NULL;
    if (offset == 0)
        return S_OK;
    if (offset < fixed || offset >= size || !etl_text_length(bytes + offset, size - offset, &units))
        return invalid(what, offset);
    char *text = etl_text(bytes + offset, units);
    if (!text)
        return E_OUTOFMEMORY;
    text_trim_end(text);
    if (*text)
        *out = text;
    else
        memory_free(text);
    return S_OK;
}

HRESULT event_info_key(const uint8_t *bytes, size_t size, GUID *provider, EVENT_DESCRIPTOR *descriptor,
                       uint32_t *source)
{
    if (size < INFO_HEAD)
        return invalid("too few bytes", size);
    memcpy(provider, bytes, sizeof *provider);
    memcpy(descriptor, bytes + 32, sizeof *descriptor);
    *source = get_u32(bytes + 48);
    return S_OK;
}

/* Reads a list of strings, which ends with an empty string or at the end of the payload. */
static HRESULT read_keywords(const uint8_t *bytes, size_t size, uint32_t offset, size_t fixed, struct event_schema *s)
{
    size_t units;
    s->keyword_names = memory_zero(MOST_KEYWORDS, sizeof *s->keyword_names);
    if (!s->keyword_names)
        return E_OUTOFMEMORY;
    if (offset != 0 && (offset < fixed || offset >= size))
        return invalid("keywords out of range", offset);
    for (size_t at = offset; offset != 0 && at < size && s->keyword_count < MOST_KEYWORDS; at += 2 * (units + 1)) {
        char *text;
        if (!etl_text_length(bytes + at, size - at, &units))
            return invalid("keywords out of range", at);
        if (units == 0)
            break;
        const HRESULT hr = read_text(bytes, size, (uint32_t)at, fixed, "keywords out of range", &text);
        if (FAILED(hr))
            return hr;
        if (text)
            s->keyword_names[s->keyword_count++] = text;
    }
    return S_OK;
}

/* Adds a property's map to the schema, unless the schema already has a map of that name. If the map is unknown, values
   are shown as numbers. */
static HRESULT add_map(struct event_schema *s, struct event_property *p, event_info_map *map, void *context)
{
    if (event_schema_map(s, p->map))
        return S_OK;
    const HRESULT hr = map ? map(context, &s->provider, p->map, &s->maps[s->map_count]) : S_FALSE;
    if (hr == S_OK && s->maps[s->map_count].name && strcmp(s->maps[s->map_count].name, p->map) == 0) {
        s->map_count++;
        return S_OK;
    }
    event_map_clear(&s->maps[s->map_count]);
    memory_free(p->map);
    p->map = NULL;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Returns the length of a property. For a pointer, the definition's length is ignored, because the event's header
   determines the pointer size. */
static uint16_t own_length(const struct event_property *p, uint16_t length)
{
    const bool pointer = p->in_type == IN_TYPE_POINTER || p->in_type == IN_TYPE_SIZET;
    return pointer && (p->flags & PROPERTY_PARAM_LENGTH) == 0 ? 0 : length;
}

static HRESULT read_property(const uint8_t *bytes, size_t size, size_t fixed, const uint8_t *from,
                             struct event_property *p)
{
    p->flags = get_u32(from) & KNOWN_FLAGS;
    p->count = get_u16(from + 16);
    HRESULT hr = read_text(bytes, size, get_u32(from + 4), fixed, "name of a property out of range", &p->name);
    if (SUCCEEDED(hr) && !p->name) /* an unnamed property still has a value */
        hr = (p->name = text_copy("")) ? S_OK : E_OUTOFMEMORY;
    if ((p->flags & PROPERTY_STRUCT) != 0) {
        p->first_member = get_u16(from + 8);
        p->members = get_u16(from + 10);
        return hr;
    }
    p->in_type = get_u16(from + 8);
    p->out_type = get_u16(from + 10);
    p->length = own_length(p, get_u16(from + 18));
    p->tags = (p->flags & PROPERTY_HAS_TAGS) != 0 ? get_u32(from + 20) & 0x0FFFFFFF : 0;
    if (SUCCEEDED(hr) && (get_u32(from) & PROPERTY_CUSTOM_SCHEMA) == 0)
        hr = read_text(bytes, size, get_u32(from + 12), fixed, "name of a map out of range", &p->map);
    return hr;
}

/* Checks that a member belongs to only one struct. If structs shared members, these members would be decoded once for
   each struct, so the number of values could become huge. */
static HRESULT check_members(const struct event_schema *s)
{
    size_t end = s->top_level;
    HRESULT hr = event_schema_check(s);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->property_count; i++) {
        const struct event_property *p = &s->properties[i];
        if ((p->flags & PROPERTY_STRUCT) == 0)
            continue;
        if (p->first_member < end)
            hr = invalid("structures share members", i);
        end = (size_t)p->first_member + p->members;
    }
    return hr;
}

static HRESULT read_properties(const uint8_t *bytes, size_t size, event_info_map *map, void *context,
                               struct event_schema *s)
{
    const uint32_t count = get_u32(bytes + 100), top = get_u32(bytes + 104);
    if (count > UINT16_MAX || count > (size - INFO_HEAD) / INFO_PROPERTY || top > count)
        return invalid("number of properties out of range", count);
    const size_t fixed = INFO_HEAD + (size_t)count * INFO_PROPERTY;
    s->properties = memory_zero(count, sizeof *s->properties);
    s->maps = memory_zero((size_t)count + 1, sizeof *s->maps);
    HRESULT hr = s->properties && s->maps ? S_OK : E_OUTOFMEMORY;
    while (SUCCEEDED(hr) && s->property_count < count) {
        struct event_property *p = &s->properties[s->property_count];
        hr = read_property(bytes, size, fixed, bytes + INFO_HEAD + (size_t)s->property_count * INFO_PROPERTY, p);
        s->property_count++;
        if (SUCCEEDED(hr) && p->map)
            hr = add_map(s, p, map, context);
    }
    s->top_level = (uint16_t)top;
    return SUCCEEDED(hr) ? check_members(s) : hr;
}

static HRESULT read_names(const uint8_t *bytes, size_t size, struct event_schema *s)
{
    const struct {
        uint32_t at;
        const char *what;
        char **to;
    } texts[] = {
        {52, "provider name out of range", &s->provider_name},
        {56, "level out of range", &s->level_name},
        {60, "channel out of range", &s->channel_name},
        {68, "task out of range", &s->task_name},
        {72, "opcode out of range", &s->opcode_name},
        {76, "message out of range", &s->event_message},
        {80, "provider message out of range", &s->provider_message},
        {92, "event name out of range", &s->event_name},
        {96, "attributes out of range", &s->event_attributes},
    };
    const size_t fixed = INFO_HEAD;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof texts / sizeof *texts; i++)
        hr = read_text(bytes, size, get_u32(bytes + texts[i].at), fixed, texts[i].what, texts[i].to);
    return SUCCEEDED(hr) ? read_keywords(bytes, size, get_u32(bytes + 64), fixed, s) : hr;
}

HRESULT event_info_read(const uint8_t *bytes, size_t size, event_info_map *map, void *context,
                        struct event_schema **out)
{
    uint32_t source = SCHEMA_MANIFEST;
    *out = NULL;
    struct event_schema *s = memory_zero(1, sizeof *s);
    if (!s)
        return E_OUTOFMEMORY;
    HRESULT hr = event_info_key(bytes, size, &s->provider, &s->descriptor, &source);
    if (SUCCEEDED(hr) && source != SCHEMA_MANIFEST)
        hr = invalid("not the decoding source of a manifest event", source);
    if (SUCCEEDED(hr)) {
        s->source = SCHEMA_MANIFEST;
        memcpy(&s->event, bytes + 16, sizeof s->event);
        s->template_flags = get_u32(bytes + 108) & 0xF;
        hr = read_names(bytes, size, s);
    }
    if (SUCCEEDED(hr))
        hr = read_properties(bytes, size, map, context, s);
    if (FAILED(hr)) {
        event_schema_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

/* ---- maps ---- */

HRESULT event_map_info_read(const uint8_t *bytes, size_t size, struct event_map *out)
{
    *out = (struct event_map){0};
    if (size < MAP_HEAD)
        return invalid("too few bytes for a map", size);
    const uint32_t count = get_u32(bytes + 8), texts = get_u32(bytes + 12);
    if (count > (size - MAP_HEAD) / MAP_ENTRY)
        return invalid("number of map entries out of range", count);
    if (texts > 1)
        return invalid("unknown type of map values", texts);
    const size_t fixed = MAP_HEAD + (size_t)count * MAP_ENTRY;
    out->flag = get_u32(bytes + 4);
    HRESULT hr = read_text(bytes, size, get_u32(bytes), fixed, "name of a map out of range", &out->name);
    if (SUCCEEDED(hr) && !out->name)
        hr = invalid("a map without a name", get_u32(bytes));
    if (SUCCEEDED(hr))
        hr = (out->entries = memory_zero(count, sizeof *out->entries)) ? S_OK : E_OUTOFMEMORY;
    while (SUCCEEDED(hr) && out->count < count) {
        const uint8_t *from = bytes + MAP_HEAD + out->count * MAP_ENTRY;
        struct event_map_entry *e = &out->entries[out->count++];
        hr = read_text(bytes, size, get_u32(from), fixed, "text of a map out of range", &e->text);
        if (SUCCEEDED(hr) && texts == 0)
            e->value = get_u32(from + 4);
        if (SUCCEEDED(hr) && texts == 1)
            hr = read_text(bytes, size, get_u32(from + 4), fixed, "value of a map out of range", &e->input);
        if (SUCCEEDED(hr) && !e->text)
            hr = (e->text = text_format("%u", (unsigned)e->value)) ? S_OK : E_OUTOFMEMORY;
        if (SUCCEEDED(hr) && texts == 1 && !e->input)
            hr = (e->input = text_copy("")) ? S_OK : E_OUTOFMEMORY;
    }
    return hr;
}
