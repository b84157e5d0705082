/* SPDX-License-Identifier: MIT */
/* Reads WEVT_TEMPLATE resources. Blocks refer to each other by offsets from the start of the resource, and each offset
   is checked. */
#include "engine/etw/decode/manifest/wevt_template.h"

#include "engine/base/memory.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/decode/manifest/message_tables.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST      (32u << 20) /* limit of a resource in bytes */
#define LONGEST_NAME 1024u       /* in characters */
#define MOST_OF_ONE  4096u       /* maximum number of properties per template, and of maps per event provider */
#define MOST_FIELDS  65536u
#define ITEM         20
#define EVENT        48
#define HEADER       12 /* signature, size, count */
#define TEMPLATE     40

struct blob {
    const uint8_t *bytes;
    size_t size;
    /* Remaining budget. Names and whole blocks can be shared, so without a budget a small resource could require a
       large amount of memory. */
    size_t names, items;
    struct provider_manifest *m;
    struct placed {
        uint32_t offset, index;
    } * maps, *layouts;
    size_t map_count, layout_count, map_capacity, layout_capacity;
};

static HRESULT blob_corrupt(const char *block, const char *what, uint64_t at)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid WEVT_TEMPLATE: %s: %s at offset %llu", block,
                     what, (unsigned long long)at);
}

static bool inside(const struct blob *b, uint64_t offset, uint64_t bytes)
{
    return offset <= b->size && bytes <= b->size - offset;
}

/* Deducts items and everything in them from the budget. False: the resource is too small for so many items. */
static bool blob_spend_items(struct blob *b, uint64_t items)
{
    if (items > b->items)
        return false;
    b->items -= (size_t)items;
    return true;
}

/* Reads a name {u32 size, UTF-16, NUL, padding}. Offset 0: no name. */
static HRESULT read_name(struct blob *b, uint32_t offset, char **out)
{
    *out = NULL;
    if (!offset)
        return S_OK;
    if (!inside(b, offset, 4) || !inside(b, offset, get_u32(b->bytes + offset)) || get_u32(b->bytes + offset) < 4)
        return blob_corrupt("a name", "out of range", offset);
    const size_t most = (get_u32(b->bytes + offset) - 4) / 2;
    WCHAR wide[LONGEST_NAME];
    size_t units = 0;
    while (units < most && units < LONGEST_NAME && (wide[units] = get_u16(b->bytes + offset + 4 + 2 * units)) != 0)
        units++;
    if (units == LONGEST_NAME || 3 * units + 1 > b->names)
        return blob_corrupt("a name", "too long", offset);
    b->names -= 3 * units + 1;
    return text_from_utf16(wide, units, true, out);
}

static GUID read_guid(const uint8_t *at)
{
    GUID g = {.Data1 = get_u32(at), .Data2 = get_u16(at + 4), .Data3 = get_u16(at + 6)};
    memcpy(g.Data4, at + 8, 8);
    return g;
}

static HRESULT placed_add(struct placed **list, size_t *count, size_t *capacity, uint32_t offset, size_t index)
{
    void *items = *list;
    if (!memory_grow(&items, capacity, *count + 1, sizeof **list))
        return E_OUTOFMEMORY;
    *list = items;
    (*list)[(*count)++] = (struct placed){offset, (uint32_t)index};
    return S_OK;
}

static int by_offset(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static const struct placed *find_placed(const struct placed *list, size_t count, uint32_t offset)
{
    const struct placed wanted = {offset, 0};
    return count ? bsearch(&wanted, list, count, sizeof *list, by_offset) : NULL;
}

/* ---- blocks of fields ---- */

struct field_layout {
    char signature[5];
    enum manifest_kind kind;
    uint8_t bytes, value, message, name, guid; /* positions in an entry; guid 0: the entry has no GUID */
};
static const struct field_layout field_layouts[] = {
    {"CHAN", MANIFEST_CHANNELS, 16, 0, 12, 4, 0}, {"KEYW", MANIFEST_KEYWORDS, 16, 0, 8, 12, 0},
    {"LEVL", MANIFEST_LEVELS, 12, 0, 4, 8, 0},    {"OPCO", MANIFEST_OPCODES, 12, 0, 4, 8, 0},
    {"TASK", MANIFEST_TASKS, 28, 0, 4, 24, 8},
};

static HRESULT read_fields(struct blob *b, const struct field_layout *l, uint32_t at)
{
    const uint32_t count = get_u32(b->bytes + at + 8);
    HRESULT hr = S_OK;
    if (count > MOST_FIELDS || !inside(b, (uint64_t)at + HEADER, (uint64_t)count * l->bytes) ||
        !blob_spend_items(b, count))
        return blob_corrupt(l->signature, "entries out of range", at);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const uint8_t *entry = b->bytes + at + HEADER + (size_t)i * l->bytes;
        struct manifest_field *f = manifest_add_field(b->m, l->kind);
        if (!f)
            return E_OUTOFMEMORY;
        f->value = l->kind == MANIFEST_KEYWORDS ? get_u64(entry) : get_u32(entry + l->value);
        f->message = get_u32(entry + l->message);
        if (l->guid)
            f->guid = read_guid(entry + l->guid);
        if (l->kind == MANIFEST_OPCODES) {
            f->task = (uint16_t)f->value;
            f->value = f->value >> 16 & 0xFF;
        }
        hr = read_name(b, get_u32(entry + l->name), &f->name);
    }
    return hr;
}

/* ---- maps ---- */

static HRESULT read_map(struct blob *b, uint32_t at)
{
    if (!inside(b, at, 16))
        return blob_corrupt("MAPS", "map out of range", at);
    const uint8_t *block = b->bytes + at;
    const bool bits = memcmp(block, "BMAP", 4) == 0;
    const uint32_t count = get_u32(block + 12);
    if (!bits && memcmp(block, "VMAP", 4) != 0)
        return blob_corrupt("MAPS", "map signature missing", at);
    if (!inside(b, (uint64_t)at + 16, (uint64_t)count * 8) || !blob_spend_items(b, 1 + (uint64_t)count))
        return blob_corrupt(bits ? "BMAP" : "VMAP", "entries out of range", at);
    struct manifest_map *map = manifest_add_map(b->m);
    HRESULT hr = map ? read_name(b, get_u32(block + 8), &map->name) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !map->name)
        map->name = text_format("Map%u", (unsigned)b->m->map_count);
    if (FAILED(hr) || !map->name)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    map->bits = bits;
    for (uint32_t i = 0; i < count; i++) {
        struct manifest_map_entry *entry = manifest_add_map_entry(map);
        if (!entry)
            return E_OUTOFMEMORY;
        entry->value = get_u32(block + 16 + 8 * (size_t)i);
        entry->message = get_u32(block + 20 + 8 * (size_t)i);
    }
    return placed_add(&b->maps, &b->map_count, &b->map_capacity, at, b->m->map_count - 1);
}

/* Reads the maps. The first map directly follows the list of offsets. The list contains the offsets of all other
   maps. */
static HRESULT read_maps(struct blob *b, uint32_t at)
{
    const uint32_t count = get_u32(b->bytes + at + 8);
    HRESULT hr = S_OK;
    if (count > MOST_OF_ONE || !inside(b, (uint64_t)at + HEADER, (uint64_t)count * 4))
        return blob_corrupt("MAPS", "maps out of range", at);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = read_map(b, i ? get_u32(b->bytes + at + HEADER + 4 * (size_t)i) : at + HEADER + 4 * count);
    if (b->map_count)
        qsort(b->maps, b->map_count, sizeof *b->maps, by_offset);
    return hr;
}

/* ---- templates ---- */

static HRESULT read_item(struct blob *b, const uint8_t *item, struct event_property *p)
{
    const uint32_t map = get_u32(item + 8);
    p->flags = get_u32(item);
    p->count = get_u16(item + 12);
    p->length = get_u16(item + 14);
    HRESULT hr = read_name(b, get_u32(item + 16), &p->name);
    if (SUCCEEDED(hr) && !p->name)
        p->name = text_copy("");
    if (FAILED(hr) || !p->name)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    if (p->flags & PROPERTY_STRUCT) {
        p->first_member = get_u16(item + 4);
        p->members = get_u16(item + 6);
        return S_OK;
    }
    p->in_type = item[4];
    p->out_type = item[5];
    if (!map)
        return S_OK;
    const struct placed *found = find_placed(b->maps, b->map_count, map);
    if (!found)
        return blob_corrupt("TEMP", "an item refers to an unknown map", map);
    const char *name = b->m->maps[found->index].name;
    if (strlen(name) + 1 > b->names)
        return blob_corrupt("TEMP", "the names are too long", map);
    b->names -= strlen(name) + 1;
    p->map = text_copy(name);
    return p->map ? S_OK : E_OUTOFMEMORY;
}

/* Finds the end of the top-level properties. All members of structs come after the top-level properties, so the first
   member marks their end. */
static void find_top(struct manifest_template *t)
{
    t->top_level = t->property_count;
    for (size_t i = 0; i < t->property_count; i++) {
        const struct event_property *p = &t->properties[i];
        if (p->flags & PROPERTY_STRUCT && p->first_member > i && p->first_member < t->top_level)
            t->top_level = p->first_member;
    }
}

/* Checks the template like a schema. The maps of the template have already been checked. */
static HRESULT check_template(const struct manifest_template *t, uint32_t at)
{
    struct event_property *properties = memory_copy(t->properties, t->property_count * sizeof *properties);
    const struct event_schema s = {
        .properties = properties, .property_count = t->property_count, .top_level = t->top_level};
    if (!properties)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < t->property_count; i++)
        properties[i].map = NULL;
    HRESULT hr = event_schema_check(&s);
    memory_free(properties);
    return FAILED(hr) ? error_prefix(hr, "invalid WEVT_TEMPLATE: TEMP at offset %llu", (unsigned long long)at) : hr;
}

static HRESULT read_template(struct blob *b, uint32_t at, uint32_t size)
{
    const uint8_t *block = b->bytes + at;
    const uint32_t one = get_u32(block + 8), other = get_u32(block + 12), items = get_u32(block + 16);
    const uint32_t count = one > other ? one : other, kind = get_u32(block + 20);
    if (count > MOST_OF_ONE || !inside(b, items, (uint64_t)count * ITEM) || !blob_spend_items(b, 1 + (uint64_t)count))
        return blob_corrupt("TEMP", "items out of range", at);
    struct manifest_template *t = manifest_add_template(b->m);
    if (!t)
        return E_OUTOFMEMORY;
    t->guid = read_guid(block + 24);
    t->properties = memory_zero(count, sizeof *t->properties);
    if (!t->properties)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && t->property_count < count) {
        const uint8_t *item = b->bytes + items + (size_t)t->property_count * ITEM;
        hr = read_item(b, item, &t->properties[t->property_count++]);
    }
    if (SUCCEEDED(hr)) {
        find_top(t);
        hr = check_template(t, at);
    }
    const uint64_t end = items > at + TEMPLATE && items < (uint64_t)at + size ? items : (uint64_t)at + size;
    if (SUCCEEDED(hr) && kind == 2) /* UserData */
        hr = binary_xml_read(block + TEMPLATE, (size_t)(end - at - TEMPLATE), &t->user_data);
    const size_t text = SUCCEEDED(hr) && t->user_data ? strlen(t->user_data) : 0;
    if (text > b->names)
        return blob_corrupt("TEMP", "the strings are too long", at);
    b->names -= text;
    return SUCCEEDED(hr) ? placed_add(&b->layouts, &b->layout_count, &b->layout_capacity, at, b->m->layout_count - 1)
                         : hr;
}

static HRESULT read_templates(struct blob *b, uint32_t at)
{
    const uint32_t count = get_u32(b->bytes + at + 8);
    uint64_t next = (uint64_t)at + HEADER;
    HRESULT hr = S_OK;
    if (count >= MANIFEST_NO_INDEX)
        return blob_corrupt("TTBL", "too many templates", at);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const uint8_t *block = b->bytes + next;
        if (!inside(b, next, TEMPLATE) || memcmp(block, "TEMP", 4) != 0 || get_u32(block + 4) < TEMPLATE ||
            !inside(b, next, get_u32(block + 4)))
            return blob_corrupt("TTBL", "template signature missing", next);
        hr = read_template(b, (uint32_t)next, get_u32(block + 4));
        next += get_u32(block + 4);
    }
    return hr;
}

/* ---- events ---- */

static HRESULT read_events(struct blob *b, uint32_t at)
{
    const uint32_t count = get_u32(b->bytes + at + 8);
    if (!inside(b, (uint64_t)at + 16, (uint64_t)count * EVENT) || !blob_spend_items(b, count))
        return blob_corrupt("EVNT", "events out of range", at);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = b->bytes + at + 16 + (size_t)i * EVENT;
        const uint32_t layout = get_u32(from + 20);
        struct manifest_event *e = manifest_add_event(b->m);
        if (!e)
            return E_OUTOFMEMORY;
        e->descriptor = (EVENT_DESCRIPTOR){.Id = get_u16(from),
                                           .Version = from[2],
                                           .Channel = from[3],
                                           .Level = from[4],
                                           .Opcode = from[5],
                                           .Task = get_u16(from + 6),
                                           .Keyword = get_u64(from + 8)};
        e->message = get_u32(from + 16);
        const struct placed *found = layout ? find_placed(b->layouts, b->layout_count, layout) : NULL;
        if (layout && !found)
            return blob_corrupt("EVNT", "an event refers to an unknown template", layout);
        if (found)
            e->layout = (uint16_t)found->index;
    }
    return S_OK;
}

/* ---- an event provider ---- */

/* Returns the block of an element; NULL: the block has another signature. */
static const uint8_t *element_of(const struct blob *b, const uint8_t *element, const char *signature)
{
    const uint8_t *block = b->bytes + get_u32(element);
    return memcmp(block, signature, 4) == 0 ? block : NULL;
}

/* Reads the elements of an event provider. There is one pass for each kind, because maps must be read before templates,
   and templates before events. */
static HRESULT read_elements(struct blob *b, const uint8_t *elements, uint32_t count)
{
    static const struct {
        char signature[5];
        HRESULT (*read)(struct blob *b, uint32_t at);
    } others[] = {{"MAPS", read_maps}, {"TTBL", read_templates}, {"EVNT", read_events}};
    HRESULT hr = S_OK;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        bool seen = false;
        for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++) {
            const uint8_t *element = elements + 8 * (size_t)i;
            if (!element_of(b, element, others[k].signature))
                continue;
            if (seen)
                return blob_corrupt(others[k].signature, "duplicate element", get_u32(element));
            seen = true;
            hr = others[k].read(b, get_u32(element));
        }
    }
    for (size_t k = 0; k < sizeof field_layouts / sizeof field_layouts[0]; k++)
        for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++)
            if (element_of(b, elements + 8 * (size_t)i, field_layouts[k].signature)) {
                if (b->m->fields[field_layouts[k].kind].count)
                    return blob_corrupt(field_layouts[k].signature, "duplicate element",
                                        get_u32(elements + 8 * (size_t)i));
                hr = read_fields(b, &field_layouts[k], get_u32(elements + 8 * (size_t)i));
            }
    return hr;
}

static HRESULT read_provider(struct blob *b, uint32_t at)
{
    if (!inside(b, at, 20) || memcmp(b->bytes + at, "WEVT", 4) != 0)
        return blob_corrupt("CRIM", "provider signature missing", at);
    const uint32_t count = get_u32(b->bytes + at + 12);
    const uint8_t *elements = b->bytes + at + 20;
    if (count > 64 || !inside(b, (uint64_t)at + 20, (uint64_t)count * 8))
        return blob_corrupt("WEVT", "elements out of range", at);
    for (uint32_t i = 0; i < count; i++)
        if (!inside(b, get_u32(elements + 8 * (size_t)i), 16))
            return blob_corrupt("WEVT", "element out of range", get_u32(elements + 8 * (size_t)i));
    b->m->message = get_u32(b->bytes + at + 8);
    return read_elements(b, elements, count);
}

static HRESULT add_provider(struct blob *b, const uint8_t *entry, struct provider_manifests *out)
{
    const GUID guid = read_guid(entry);
    void *items = out->items;
    bool room = memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items);
    out->items = items;
    b->m = room ? provider_manifest_create(&guid) : NULL;
    if (!b->m)
        return E_OUTOFMEMORY;
    out->items[out->count++] = b->m;
    HRESULT hr = read_provider(b, get_u32(entry + 16));
    memory_free(b->maps);
    memory_free(b->layouts);
    b->maps = b->layouts = NULL;
    b->map_count = b->layout_count = b->map_capacity = b->layout_capacity = 0;
    provider_manifest_finish(b->m);
    return hr;
}

HRESULT wevt_template_read(const uint8_t *bytes, size_t size, struct provider_manifests *out)
{
    struct blob b = {.bytes = bytes, .size = size, .names = 4 * size + 65536, .items = size / 4 + 64};
    HRESULT hr = S_OK;
    *out = (struct provider_manifests){0};
    if (size > LARGEST || !inside(&b, 0, 16) || memcmp(bytes, "CRIM", 4) != 0)
        return blob_corrupt("CRIM", "header missing", 0);
    const uint32_t count = get_u32(bytes + 12);
    if (get_u16(bytes + 8) != 3)
        return blob_corrupt("CRIM", "unknown version", 8);
    if (!inside(&b, 16, (uint64_t)count * 20) || count > 4096)
        return blob_corrupt("CRIM", "providers out of range", 16);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = add_provider(&b, bytes + 16 + 20 * (size_t)i, out);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        provider_manifests_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

/* ---- templates and message tables of a file ---- */

#define MESSAGE_TABLE 11

static HRESULT take_messages(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    return message_table_read(bytes, size, language_name(language), about);
}

static HRESULT add_messages(const struct pe_resources *r, struct message_tables *to)
{
    HRESULT hr = pe_resources_each(r, NULL, MESSAGE_TABLE, take_messages, to);
    if (hr == S_OK)
        message_tables_sort(to);
    return hr;
}

HRESULT message_tables_load(const char *path, struct message_tables *to)
{
    struct pe_resources r;
    HRESULT hr = pe_resources_load(path, &r);
    if (hr == S_OK) {
        hr = add_messages(&r, to);
        if (FAILED(hr))
            hr = error_prefix(hr, "%s", path);
    }
    pe_resources_free(&r);
    return hr;
}

static HRESULT take_template(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    struct provider_manifests *out = about;
    (void)language;
    return out->count ? S_OK
                      : wevt_template_read(bytes, size, out); /* resources in other languages have the same content */
}

HRESULT wevt_template_load(const char *path, struct provider_manifests *out)
{
    struct pe_resources r;
    *out = (struct provider_manifests){0};
    HRESULT hr = pe_resources_load(path, &r);
    if (hr == S_OK)
        hr = pe_resources_each(&r, "WEVT_TEMPLATE", 0, take_template, out);
    size_t bytes = 0;
    for (size_t i = 0; hr == S_OK && i < out->count; i++) {
        HRESULT messages = add_messages(&r, &out->items[i]->messages);
        hr = FAILED(messages) ? messages : S_OK;
        bytes += out->items[i]->messages.bytes;
        if (SUCCEEDED(hr) && bytes > MESSAGES_MOST_BYTES)
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                           "the messages of %zu providers are too large: %zu bytes", i + 1, bytes);
    }
    pe_resources_free(&r);
    if (FAILED(hr)) {
        hr = error_prefix(hr, "%s", path);
        struct error_kept why = error_keep(hr);
        provider_manifests_free(out);
        return error_restore(&why);
    }
    return hr;
}
