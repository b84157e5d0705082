/* SPDX-License-Identifier: MIT */
/* Builds the blocks that TDH's functions return. */
#include "engine/base/memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <string.h>

uint32_t tdh_block_add(struct tdh_block *b, size_t size)
{
    void *bytes = b->bytes;
    if (b->failed || b->size + size > UINT32_MAX / 2 || !memory_grow(&bytes, &b->capacity, b->size + size + 1, 1)) {
        b->failed = true;
        return 0;
    }
    b->bytes = bytes;
    memset(b->bytes + b->size, 0, size);
    b->size += size;
    return (uint32_t)(b->size - size);
}

uint32_t tdh_block_text(struct tdh_block *b, const char *text)
{
    WCHAR *units;
    size_t count;
    if (!text || b->failed)
        return 0;
    if (FAILED(text_to_utf16(text, &units, &count))) {
        b->failed = true;
        return 0;
    }
    const uint32_t at = tdh_block_add(b, (count + 1) * 2);
    for (size_t i = 0; at != 0 && i < count; i++)
        put_u16(b->bytes + at + 2 * i, (uint16_t)units[i]);
    memory_free(units);
    return at;
}

void tdh_block_put(struct tdh_block *b, uint32_t at, const void *bytes, size_t size)
{
    if (!b->failed)
        memcpy(b->bytes + at, bytes, size);
}

static void tdh_block_u16(struct tdh_block *b, uint32_t at, uint16_t value)
{
    if (!b->failed)
        put_u16(b->bytes + at, value);
}

void tdh_block_u32(struct tdh_block *b, uint32_t at, uint32_t value)
{
    if (!b->failed)
        put_u32(b->bytes + at, value);
}

void tdh_block_free(struct tdh_block *b)
{
    memory_free(b->bytes);
    *b = (struct tdh_block){0};
}

static void set_text(struct tdh_block *b, uint32_t at, const char *text)
{
    const uint32_t offset = tdh_block_text(b, text);
    tdh_block_u32(b, at, offset);
}

/* Writes the keyword names, each with a NUL, and another NUL after the last one. */
static void set_keywords(struct tdh_block *b, uint32_t at, const struct event_schema *schema)
{
    for (size_t i = 0; i < schema->keyword_count; i++) {
        const uint32_t offset = tdh_block_text(b, schema->keyword_names[i]);
        if (i == 0)
            tdh_block_u32(b, at, offset);
    }
    if (schema->keyword_count != 0)
        tdh_block_add(b, 2);
}

static uint16_t length_of(const struct event_property *p, uint32_t pointer_size)
{
    const uint32_t said = PROPERTY_STRUCT | PROPERTY_PARAM_LENGTH | PROPERTY_FIXED_LENGTH;
    return (p->flags & said) != 0 || p->length != 0 ? p->length : value_fixed_size(p->in_type, pointer_size);
}

static void set_property(struct tdh_block *b, uint32_t at, const struct event_property *p, uint32_t pointer_size)
{
    const bool structure = (p->flags & PROPERTY_STRUCT) != 0;
    tdh_block_u32(b, at, p->flags);
    set_text(b, at + 4, p->name);
    tdh_block_u16(b, at + 8, structure ? p->first_member : p->in_type);
    tdh_block_u16(b, at + 10, structure ? p->members : p->out_type);
    if ((p->flags & PROPERTY_CUSTOM_SCHEMA) != 0 && p->custom) {
        const uint32_t custom = tdh_block_add(b, ((size_t)p->custom_size + 1) & ~(size_t)1);
        tdh_block_put(b, custom, p->custom, p->custom_size);
        tdh_block_u32(b, at + 12, custom);
    } else
        set_text(b, at + 12, p->map);
    tdh_block_u16(b, at + 16, p->count);
    tdh_block_u16(b, at + 18, length_of(p, pointer_size));
    tdh_block_u32(b, at + 20, p->tags & 0x0FFFFFFF);
}

void tdh_block_properties(struct tdh_block *b, uint32_t at, const struct event_schema *schema, uint32_t pointer_size)
{
    for (uint32_t i = 0; i < schema->property_count; i++)
        set_property(b, at + i * TDH_PROPERTY_SIZE, &schema->properties[i], pointer_size);
}

HRESULT tdh_block_event(const struct event_schema *s, uint32_t pointer_size, struct tdh_block *out)
{
    *out = (struct tdh_block){0};
    tdh_block_add(out, TDH_EVENT_HEAD + (size_t)s->property_count * TDH_PROPERTY_SIZE);
    tdh_block_put(out, 0, &s->provider, sizeof s->provider);
    tdh_block_put(out, 16, &s->event, sizeof s->event);
    tdh_block_put(out, 32, &s->descriptor, sizeof s->descriptor);
    tdh_block_u32(out, 48, s->source);
    const char *const texts[] = {s->provider_name, s->level_name, s->channel_name};
    for (uint32_t i = 0; i < 3; i++)
        set_text(out, 52 + 4 * i, texts[i]);
    set_keywords(out, 64, s);
    set_text(out, 68, s->task_name);
    set_text(out, 72, s->opcode_name);
    set_text(out, 76, s->event_message);
    set_text(out, 80, s->provider_message);
    set_text(out, 92, s->event_name);
    set_text(out, 96, s->event_attributes);
    tdh_block_u32(out, 100, s->property_count);
    tdh_block_u32(out, 104, s->top_level);
    tdh_block_u32(out, 108, (s->template_flags & 0xF) | s->tags << 4);
    tdh_block_properties(out, TDH_EVENT_HEAD, s, pointer_size);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT tdh_block_map(const struct event_map *map, struct tdh_block *out)
{
    bool texts = false;
    *out = (struct tdh_block){0};
    for (size_t i = 0; i < map->count; i++)
        texts = texts || map->entries[i].input;
    tdh_block_add(out, TDH_MAP_HEAD + map->count * TDH_MAP_ENTRY);
    set_text(out, 0, map->name);
    tdh_block_u32(out, 4, map->flag);
    tdh_block_u32(out, 8, (uint32_t)map->count);
    tdh_block_u32(out, 12, texts);
    for (size_t i = 0; i < map->count; i++) {
        const uint32_t at = (uint32_t)(TDH_MAP_HEAD + i * TDH_MAP_ENTRY);
        set_text(out, at, map->entries[i].text);
        if (texts)
            set_text(out, at + 4, map->entries[i].input ? map->entries[i].input : "");
        else
            tdh_block_u32(out, at + 4, map->entries[i].value);
    }
    return out->failed ? E_OUTOFMEMORY : S_OK;
}
