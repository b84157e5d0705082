/* SPDX-License-Identifier: MIT */
/* Compiles event providers to WEVT_TEMPLATE. This comment also describes how a manifest becomes a DLL, and how a DLL
   becomes a manifest again.

   The problem. An instrumentation manifest is XML with strings in several languages. Windows does not use it for
   decoding. Instead, mc compiles it to two kinds of resources in a DLL, and the registry contains the path of an event
   provider's DLL. Other programs, including wevtutil, must be able to read the resources written here, and OpenPLA must
   be able to read theirs, although Microsoft documents only parts of the format.

       manifest.xml --manifest_xml.c--> struct provider_manifest --manifest_document.c--> manifest.xml
                                          |                ^
                 wevt_template_write.c,   |                |   wevt_template.c,
                 message_table_write,     v                |   message_table_read,
                 pe_resources_write     DLL: WEVT_TEMPLATE (one for all event providers)
                                             RT_MESSAGETABLE (one per language)
                                          |                ^
                 registered_manifests.c   v                |
                                        registry: GUID -> name, ResourceFileName, MessageFileName

   Contents. The resource contains numbers, layouts, and the names of levels, tasks, opcodes, keywords and channels. The
   resource refers to texts by message ids, which manifest_fields.c assigns in the same way as mc. The texts are in the
   message tables (message_tables.c). The event provider's name is only in the registry. Filters are not written,
   because their format is undocumented. Therefore a manifest that is read from a DLL has messages, but no string ids,
   symbols or filters.

   Layout. All offsets count from the start of the resource; blocks are aligned to 8 bytes and begin with a signature
   and their size. A name is {u32 size, UTF-16, NUL, padding to 4} after the block that refers to it; offset 0 means no
   name.

       CRIM  size  u16 3  u16 1  count      then per event provider {GUID, u32 offset of WEVT}
       WEVT  size  message  count           then per element {u32 offset, u32 0}
         MAPS  size  count  offsets         VMAP or BMAP: size, offset of name, count, {value, message}
         CHAN, KEYW, LEVL, OPCO, TASK       size, count, entries with value, message, offset of name
         TTBL  size  count                  TEMP: below
         EVNT  size  count  0               48 bytes per event, then the lists of keyword offsets
       TEMP  size  top-level items  items  offset of items  1 (EventData) or 2 (UserData)  GUID
             binary XML (evtx/binary_xml.c)
             items of 20 bytes: flags, types or members, offset of map, count, length, offset of name

   Elements are written in the order of their dependencies: maps, fields, templates, events. An event contains the
   offsets of its template, opcode, level and task, so these are known when it is written. Offsets within a block are
   patched when the block is complete (byte_buffer_set_u32). The GUID of a template is derived from its name
   (manifest_templates.c), so compiling a manifest twice gives the same bytes.

   Reading (wevt_template.c) trusts nothing. Each offset and count is checked against the resource. Blocks and names may
   be shared, so a budget that is proportional to the resource's size limits the memory for shared parts. The order of
   elements is irrelevant, because the reader makes one pass for each kind. */
#include "engine/base/memory.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define ELEMENTS 8

struct template_writer {
    struct byte_buffer b;
    const struct provider_manifest *m;
    uint32_t *maps, *layouts;                   /* offsets of maps and templates */
    uint32_t fields[MANIFEST_KINDS];            /* offset of the first entry of each kind */
    uint32_t elements[ELEMENTS], element_count; /* offsets of blocks */
};

static void align(struct template_writer *w)
{
    byte_buffer_add(&w->b, (8 - w->b.size % 8) % 8);
}

/* Writes a name, and its offset at `at`. If `name` is NULL, writes no name. */
static HRESULT put_name(struct template_writer *w, size_t at, const char *name)
{
    WCHAR *wide;
    size_t units;
    if (!name)
        return S_OK;
    HRESULT hr = text_to_utf16(name, &wide, &units);
    if (FAILED(hr))
        return hr;
    const size_t bytes = (4 + 2 * (units + 1) + 3) / 4 * 4;
    byte_buffer_set_u32(&w->b, at, (uint32_t)w->b.size);
    byte_buffer_u32(&w->b, (uint32_t)bytes);
    uint8_t *to = byte_buffer_add(&w->b, bytes - 4);
    for (size_t i = 0; to && i < units; i++)
        put_u16(to + 2 * i, wide[i]);
    memory_free(wide);
    return S_OK;
}

/* Begins a block with its signature, space for its size, and the count. Returns the block's offset. */
static size_t begin_block(struct template_writer *w, const char *signature, size_t count)
{
    align(w);
    const size_t at = w->b.size;
    uint8_t *head = byte_buffer_add(&w->b, 8);
    if (head)
        memcpy(head, signature, 4);
    byte_buffer_u32(&w->b, (uint32_t)count);
    return at;
}

static void end_block(struct template_writer *w, size_t at)
{
    align(w);
    byte_buffer_set_u32(&w->b, at + 4, (uint32_t)(w->b.size - at));
}

static void is_element(struct template_writer *w, size_t at)
{
    w->elements[w->element_count++] = (uint32_t)at;
}

static void put_guid(struct byte_buffer *b, const GUID *guid)
{
    byte_buffer_u32(b, guid->Data1);
    byte_buffer_u16(b, guid->Data2);
    byte_buffer_u16(b, guid->Data3);
    for (size_t i = 0; i < 8; i++)
        byte_buffer_u8(b, guid->Data4[i]);
}

/* ---- fields ---- */

static const struct {
    char signature[5];
    uint8_t bytes, name; /* size of an entry; position of the name's offset in the entry */
} field_blocks[MANIFEST_KINDS] = {[MANIFEST_CHANNELS] = {"CHAN", 16, 4},
                                  [MANIFEST_KEYWORDS] = {"KEYW", 16, 12},
                                  [MANIFEST_LEVELS] = {"LEVL", 12, 8},
                                  [MANIFEST_OPCODES] = {"OPCO", 12, 8},
                                  [MANIFEST_TASKS] = {"TASK", 28, 24}};

static void put_entry(struct byte_buffer *b, enum manifest_kind kind, const struct manifest_field *f)
{
    switch (kind) {
    case MANIFEST_CHANNELS:
        byte_buffer_u32(b, (uint32_t)f->value);
        byte_buffer_u32(b, 0);
        byte_buffer_u32(b, (uint32_t)f->value);
        byte_buffer_u32(b, f->message);
        return;
    case MANIFEST_KEYWORDS:
        byte_buffer_u32(b, (uint32_t)f->value);
        byte_buffer_u32(b, (uint32_t)(f->value >> 32));
        break;
    case MANIFEST_OPCODES:
        byte_buffer_u32(b, (uint32_t)f->value << 16 | f->task);
        break;
    case MANIFEST_LEVELS:
    case MANIFEST_TASKS:
        byte_buffer_u32(b, (uint32_t)f->value);
        break;
    }
    byte_buffer_u32(b, f->message);
    if (kind == MANIFEST_TASKS)
        put_guid(b, &f->guid);
    byte_buffer_u32(b, 0);
}

static HRESULT put_fields(struct template_writer *w, enum manifest_kind kind)
{
    const struct manifest_fields *all = &w->m->fields[kind];
    const size_t bytes = field_blocks[kind].bytes;
    HRESULT hr = S_OK;
    if (!all->count)
        return S_OK;
    const size_t at = begin_block(w, field_blocks[kind].signature, all->count), first = w->b.size;
    is_element(w, at);
    w->fields[kind] = (uint32_t)first;
    for (size_t i = 0; i < all->count; i++)
        put_entry(&w->b, kind, &all->items[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++)
        hr = put_name(w, first + i * bytes + field_blocks[kind].name, all->items[i].name);
    end_block(w, at);
    return hr;
}

/* ---- maps and templates ---- */

static HRESULT put_map(struct template_writer *w, size_t index, size_t offsets)
{
    const struct manifest_map *map = &w->m->maps[index];
    const size_t at = w->b.size;
    uint8_t *head = byte_buffer_add(&w->b, 12);
    if (head)
        memcpy(head, map->bits ? "BMAP" : "VMAP", 4);
    w->maps[index] = (uint32_t)at;
    byte_buffer_set_u32(&w->b, offsets + 4 * index, (uint32_t)at);
    byte_buffer_u32(&w->b, (uint32_t)map->count);
    for (size_t i = 0; i < map->count; i++) {
        byte_buffer_u32(&w->b, map->entries[i].value);
        byte_buffer_u32(&w->b, map->entries[i].message);
    }
    HRESULT hr = put_name(w, at + 8, map->name);
    end_block(w, at);
    return hr;
}

static HRESULT put_maps(struct template_writer *w)
{
    HRESULT hr = S_OK;
    if (!w->m->map_count)
        return S_OK;
    const size_t at = begin_block(w, "MAPS", w->m->map_count), offsets = w->b.size;
    is_element(w, at);
    byte_buffer_add(&w->b, 4 * w->m->map_count);
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->map_count; i++)
        hr = put_map(w, i, offsets);
    end_block(w, at);
    return hr;
}

static uint32_t map_offset(const struct template_writer *w, const char *name)
{
    for (size_t i = 0; name && i < w->m->map_count; i++)
        if (strcmp(w->m->maps[i].name, name) == 0)
            return w->maps[i];
    return 0;
}

static void put_item(struct template_writer *w, const struct event_property *p)
{
    byte_buffer_u32(&w->b, p->flags);
    if (p->flags & PROPERTY_STRUCT) {
        byte_buffer_u16(&w->b, p->first_member);
        byte_buffer_u16(&w->b, p->members);
    } else {
        byte_buffer_u8(&w->b, (uint8_t)p->in_type);
        byte_buffer_u8(&w->b, (uint8_t)p->out_type);
        byte_buffer_u16(&w->b, 0);
    }
    byte_buffer_u32(&w->b, map_offset(w, p->map));
    byte_buffer_u16(&w->b, p->count);
    byte_buffer_u16(&w->b, p->length);
    byte_buffer_u32(&w->b, 0);
}

static HRESULT put_template(struct template_writer *w, size_t index)
{
    const struct manifest_template *t = &w->m->layouts[index];
    const size_t at = w->b.size;
    uint8_t *head = byte_buffer_add(&w->b, 8);
    if (head)
        memcpy(head, "TEMP", 4);
    w->layouts[index] = (uint32_t)at;
    byte_buffer_u32(&w->b, t->top_level);
    byte_buffer_u32(&w->b, t->property_count);
    byte_buffer_u32(&w->b, 0);
    byte_buffer_u32(&w->b, t->user_data ? 2 : 1);
    put_guid(&w->b, &t->guid);
    HRESULT hr = t->user_data ? binary_xml_write(t->user_data, t->properties, t->top_level, &w->b)
                              : binary_xml_write_data(t->properties, t->top_level, &w->b);
    byte_buffer_add(&w->b, (4 - w->b.size % 4) % 4);
    const size_t items = w->b.size;
    byte_buffer_set_u32(&w->b, at + 16, (uint32_t)items);
    for (size_t i = 0; i < t->property_count; i++)
        put_item(w, &t->properties[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < t->property_count; i++)
        hr = put_name(w, items + 20 * i + 16, t->properties[i].name);
    byte_buffer_add(&w->b, (4 - w->b.size % 4) % 4);
    byte_buffer_set_u32(&w->b, at + 4, (uint32_t)(w->b.size - at));
    return hr;
}

static HRESULT put_templates(struct template_writer *w)
{
    HRESULT hr = S_OK;
    if (!w->m->layout_count)
        return S_OK;
    const size_t at = begin_block(w, "TTBL", w->m->layout_count);
    is_element(w, at);
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->layout_count; i++)
        hr = put_template(w, i);
    end_block(w, at);
    return hr;
}

/* ---- events ---- */

static uint32_t field_offset(const struct template_writer *w, enum manifest_kind kind, uint64_t value, uint16_t task)
{
    const struct manifest_fields *all = &w->m->fields[kind];
    uint32_t found = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].value == value &&
            (kind != MANIFEST_OPCODES || all->items[i].task == task || (all->items[i].task == 0 && !found)))
            found = w->fields[kind] + (uint32_t)(i * field_blocks[kind].bytes);
    return found;
}

static void put_event(struct template_writer *w, const struct manifest_event *e)
{
    const EVENT_DESCRIPTOR *d = &e->descriptor;
    byte_buffer_u16(&w->b, d->Id);
    byte_buffer_u8(&w->b, d->Version);
    byte_buffer_u8(&w->b, d->Channel);
    byte_buffer_u8(&w->b, d->Level);
    byte_buffer_u8(&w->b, d->Opcode);
    byte_buffer_u16(&w->b, d->Task);
    byte_buffer_u32(&w->b, (uint32_t)d->Keyword);
    byte_buffer_u32(&w->b, (uint32_t)(d->Keyword >> 32));
    byte_buffer_u32(&w->b, e->message);
    byte_buffer_u32(&w->b, e->layout < w->m->layout_count ? w->layouts[e->layout] : 0);
    byte_buffer_u32(&w->b, field_offset(w, MANIFEST_OPCODES, d->Opcode, d->Task));
    byte_buffer_u32(&w->b, field_offset(w, MANIFEST_LEVELS, d->Level, 0));
    byte_buffer_u32(&w->b, field_offset(w, MANIFEST_TASKS, d->Task, 0));
    byte_buffer_add(&w->b, 12); /* number of keywords, offset of the list of their offsets, flags */
}

static void put_keywords(struct template_writer *w, const struct manifest_event *e, size_t event)
{
    const struct manifest_fields *all = &w->m->fields[MANIFEST_KEYWORDS];
    const size_t at = w->b.size;
    uint32_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].value && (e->descriptor.Keyword & all->items[i].value) == all->items[i].value) {
            byte_buffer_u32(&w->b, w->fields[MANIFEST_KEYWORDS] + (uint32_t)(16 * i));
            count++;
        }
    byte_buffer_set_u32(&w->b, event + 36, count);
    byte_buffer_set_u32(&w->b, event + 40, count ? (uint32_t)at : 0);
}

static void put_events(struct template_writer *w)
{
    const size_t at = begin_block(w, "EVNT", w->m->event_count);
    byte_buffer_u32(&w->b, 0);
    const size_t first = w->b.size;
    is_element(w, at);
    for (size_t i = 0; i < w->m->event_count; i++)
        put_event(w, &w->m->events[i]);
    for (size_t i = 0; i < w->m->event_count; i++)
        put_keywords(w, &w->m->events[i], first + 48 * i);
    end_block(w, at);
}

/* ---- an event provider ---- */

static HRESULT put_provider(struct template_writer *w, size_t entry)
{
    const struct provider_manifest *m = w->m;
    w->maps = memory_zero(m->map_count + 1, sizeof *w->maps);
    w->layouts = memory_zero(m->layout_count + 1, sizeof *w->layouts);
    w->element_count = 0;
    memset(w->fields, 0, sizeof w->fields);
    align(w);
    const size_t at = w->b.size;
    uint8_t *head = byte_buffer_add(&w->b, 20 + 8 * ELEMENTS);
    HRESULT hr = head && w->maps && w->layouts ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        memcpy(head, "WEVT", 4);
        byte_buffer_set_u32(&w->b, entry + 16, (uint32_t)at);
        hr = put_maps(w);
    }
    for (int kind = 0; SUCCEEDED(hr) && kind < MANIFEST_KINDS; kind++)
        hr = put_fields(w, (enum manifest_kind)kind);
    if (SUCCEEDED(hr))
        hr = put_templates(w);
    if (SUCCEEDED(hr)) {
        put_events(w);
        byte_buffer_set_u32(&w->b, at + 4, (uint32_t)(w->b.size - at));
        byte_buffer_set_u32(&w->b, at + 8, m->message);
        byte_buffer_set_u32(&w->b, at + 12, w->element_count);
        for (size_t i = 0; i < w->element_count; i++)
            byte_buffer_set_u32(&w->b, at + 20 + 8 * i, w->elements[i]);
    }
    memory_free(w->maps);
    memory_free(w->layouts);
    return hr;
}

HRESULT wevt_template_write(const struct provider_manifests *list, uint8_t **bytes, size_t *size)
{
    struct template_writer w = {0};
    HRESULT hr = S_OK;
    *bytes = NULL;
    *size = 0;
    uint8_t *head = byte_buffer_add(&w.b, 16);
    if (!head)
        return E_OUTOFMEMORY;
    memcpy(head, "CRIM", 4);
    put_u16(head + 8, 3);
    put_u16(head + 10, 1);
    put_u32(head + 12, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        put_guid(&w.b, &list->items[i]->guid);
        byte_buffer_u32(&w.b, 0);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        w.m = list->items[i];
        hr = put_provider(&w, 16 + 20 * i);
    }
    byte_buffer_set_u32(&w.b, 4, (uint32_t)w.b.size);
    if (FAILED(hr) || w.b.failed) {
        memory_free(w.b.bytes);
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    }
    *bytes = w.b.bytes;
    *size = w.b.size;
    return S_OK;
}
