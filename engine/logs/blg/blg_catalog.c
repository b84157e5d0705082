/* SPDX-License-Identifier: MIT */
/* Builds the records that precede the samples of a log: the catalog of counters and the names of text counters. This
   file also builds the items that samples contain for text counters. The item of a text counter is a performance data
   block: PERF_DATA_BLOCK, one PERF_OBJECT_TYPE with one PERF_COUNTER_DEFINITION, and for each instance
   PERF_INSTANCE_DEFINITION and PERF_COUNTER_BLOCK. The counter size in the definition is the size of the longest text,
   or 0 if there is no value. Instances without a value are omitted. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/blg/blg_parts.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <string.h>

HRESULT blg_bytes_resize(struct blg_bytes *b, size_t size)
{
    if (size > BLG_MAX_RECORD)
        return error_set(E_INVALIDARG, "cannot write a record of %zu bytes: too long for a binary log", size);
    void *data = b->data;
    if (!memory_grow(&data, &b->capacity, size, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", size);
    b->data = data;
    b->size = size;
    return S_OK;
}

size_t blg_round_up_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

void blg_put_block_head(uint8_t *at, uint16_t kind, size_t size)
{
    at[0] = 'B';
    at[1] = 'L';
    put_u16(at + 2, kind);
    put_u32(at + 4, (uint32_t)size);
}

size_t blg_name_size(const char *name)
{
    size_t i = 0;
    while ((unsigned char)name[i] - 1u < 0x7F) /* ASCII other than NUL; most names have no other characters */
        i++;
    return (!name[i] ? i + 1 : text_utf16_length(name) + 1) * 2;
}

HRESULT blg_put_name(uint8_t *at, const char *name, size_t size)
{
    size_t i = 0;
    for (; (unsigned char)name[i] - 1u < 0x7F; i++) /* ASCII other than NUL; most names have no other characters */
        put_u16(at + 2 * i, (unsigned char)name[i]);
    if (!name[i]) {
        put_u16(at + 2 * i, 0);
        return S_OK;
    }
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name, &wide, &units);
    if (FAILED(hr))
        return hr;
    if ((units + 1) * 2 != size)
        hr = error_set(E_INVALIDARG, "invalid instance or counter name '%s': malformed UTF-8", name);
    else
        for (i = 0; i <= units; i++)
            put_u16(at + 2 * i, wide[i]);
    memory_free(wide);
    return hr;
}

static HRESULT add_catalog_entry(struct blg_bytes *catalog, const struct log_counter *c)
{
    enum { NAMES = 5 };
    const bool object = blg_is_text(c);
    const char *names[NAMES] = {c->machine, c->object, c->wildcard || (object && c->instance) ? "*" : c->instance,
                                object ? NULL : c->parent, object ? "*" : c->counter};
    /* the positions at which the entry stores the offsets of the names */
    static const uint8_t places[NAMES] = {0x1C, 0x20, 0x24, 0x28, 0x30};
    size_t sizes[NAMES] = {0}, begin = catalog->size, size = BLG_ENTRY_HEAD;
    for (int i = 0; i < NAMES; i++) {
        sizes[i] = names[i] ? blg_name_size(names[i]) : 0;
        size += sizes[i];
    }
    HRESULT hr = blg_bytes_resize(catalog, begin + blg_round_up_8(size));
    if (FAILED(hr))
        return hr;
    uint8_t *entry = catalog->data + begin;
    memset(entry, 0, blg_round_up_8(size));
    put_u32(entry, (uint32_t)blg_round_up_8(size));
    put_u32(entry + 0x04, object ? BLG_ENTRY_OBJECT : c->wildcard ? BLG_ENTRY_WILDCARD : 0);
    put_u32(entry + 0x0C, object ? BLG_ENTRY_OBJECT : c->type);
    if (!object) {
        put_u64(entry + 0x10, (uint64_t)c->time_base);
        put_u32(entry + 0x18, (uint32_t)c->default_scale);
        put_u32(entry + 0x2C, c->index);
    }
    uint32_t offset = 0;
    for (int i = 0; i < NAMES && SUCCEEDED(hr); i++) {
        put_u32(entry + places[i], names[i] ? offset : UINT32_MAX);
        if (names[i]) {
            hr = blg_put_name(entry + BLG_ENTRY_HEAD + offset, names[i], sizes[i]);
            offset += (uint32_t)sizes[i];
        }
    }
    return hr;
}

HRESULT blg_catalog_build(struct blg_bytes *catalog, const struct log_counter *counters, size_t count)
{
    HRESULT hr = blg_bytes_resize(catalog, BLG_CATALOG_HEAD);
    if (SUCCEEDED(hr)) {
        put_u32(catalog->data, 0x000006FF); /* in all known files, the catalog begins with these two words; the 8 in the
                                               second word is PDH's number for the format */
        put_u32(catalog->data + 4, 0x00020008);
    }
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = add_catalog_entry(catalog, &counters[i]);
    return hr;
}

/* Returns the title index of the object that contains text counter number `place` of the log. The title index of the
   counter's name is the returned index plus 2. */
static uint32_t blg_text_title(size_t place)
{
    enum { STEP = 4 };
    return (uint32_t)place * STEP + 2;
}

HRESULT blg_names_build(struct blg_bytes *names, const struct log_counter *counter, size_t place)
{
    enum { TEXTS = 5, INDEX_ROOM = 16 };
    char object[INDEX_ROOM], name[INDEX_ROOM];
    snprintf(object, sizeof object, "%u", (unsigned)blg_text_title(place));
    snprintf(name, sizeof name, "%u", (unsigned)blg_text_title(place) + 2);
    const char *texts[TEXTS] = {counter->machine ? counter->machine : "", object, counter->object, name,
                                counter->counter};
    HRESULT hr = S_OK;
    names->size = 0;
    for (int i = 0; i < TEXTS && SUCCEEDED(hr); i++) {
        const size_t at = names->size, size = blg_name_size(texts[i]);
        hr = blg_bytes_resize(names, at + size);
        if (SUCCEEDED(hr))
            hr = blg_put_name(names->data + at, texts[i], size);
    }
    return hr;
}

/* ---- text counters ---- */

enum { DATA_HEAD = 0x58, OBJECT_HEAD = 0x40, DEFINITION = 0x28, INSTANCE_HEAD = 0x18, VALUE_AT = 8 };
enum { TICKS_PER_SECOND = 10000000 };

bool blg_is_text(const struct log_counter *counter)
{
    return counter->type == PERF_COUNTER_TEXT;
}

static bool has_text(const struct log_raw *raw)
{
    return raw->status <= PDH_CSTATUS_NEW_DATA && raw->text;
}

static const char *machine_name(const struct log_counter *counter)
{
    return counter->machine ? counter->machine + strspn(counter->machine, "\\") : "";
}

/* The strings of one item of a sample: one per instance of a wildcard counter, or the string of a single counter. */
struct texts_of_cell {
    const struct log_item *items;
    struct log_item single;
    size_t count;
    bool instances;
    size_t width; /* size in bytes of the longest text */
};

static void cell_texts_collect(const struct log_counter *counter, const struct log_cell *cell,
                               struct texts_of_cell *out)
{
    *out = (struct texts_of_cell){.items = cell->items, .count = cell->item_count, .instances = true};
    if (!counter->wildcard) {
        out->single = (struct log_item){.instance = counter->instance, .raw = cell->raw};
        out->items = &out->single;
        out->count = 1;
        out->instances = counter->instance != NULL;
    }
    for (size_t i = 0; i < out->count; i++) {
        const size_t size = has_text(&out->items[i].raw) ? blg_name_size(out->items[i].raw.text) : 0;
        out->width = size > out->width ? size : out->width;
    }
}

size_t blg_text_size(const struct log_counter *counter, const struct log_cell *cell)
{
    struct texts_of_cell texts;
    cell_texts_collect(counter, cell, &texts);
    size_t size = blg_round_up_8(DATA_HEAD + blg_name_size(machine_name(counter))) + OBJECT_HEAD + DEFINITION;
    for (size_t i = 0; i < texts.count; i++) {
        if (texts.instances && has_text(&texts.items[i].raw))
            size += blg_round_up_8(INSTANCE_HEAD + blg_name_size(texts.items[i].instance));
        if (!texts.instances || has_text(&texts.items[i].raw))
            size += blg_round_up_8(VALUE_AT + texts.width);
    }
    return BLG_BLOCK_HEAD + size;
}

static void put_system_time(uint8_t *at, int64_t local)
{
    const struct calendar_time t = clock_calendar(local);
    const int parts[] = {t.year, t.month, t.weekday, t.day, t.hour, t.minute, t.second, t.millisecond};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_u16(at + 2 * i, (uint16_t)parts[i]);
}

static HRESULT put_data_head(uint8_t *at, const char *machine, size_t head, size_t total, int64_t local, int64_t utc)
{
    static const char signature[] = "PERF";
    for (int i = 0; i < 4; i++)
        put_u16(at + 2 * i, (uint16_t)signature[i]);
    put_u32(at + 0x08, 1); /* LittleEndian */
    put_u32(at + 0x0C, 1); /* Version */
    put_u32(at + 0x10, 1); /* Revision */
    put_u32(at + 0x14, (uint32_t)total);
    put_u32(at + 0x18, (uint32_t)head);
    put_u32(at + 0x1C, 1);          /* NumObjectTypes */
    put_u32(at + 0x20, UINT32_MAX); /* DefaultObject */
    put_system_time(at + 0x24, local);
    put_u64(at + 0x38, (uint64_t)utc); /* PerfTime in ticks of 100 ns */
    put_u64(at + 0x40, TICKS_PER_SECOND);
    put_u64(at + 0x48, (uint64_t)utc);
    put_u32(at + 0x50, (uint32_t)blg_name_size(machine));
    put_u32(at + 0x54, DATA_HEAD);
    return blg_put_name(at + DATA_HEAD, machine, blg_name_size(machine));
}

static void put_object(uint8_t *at, size_t total, size_t place, int32_t instances, size_t width)
{
    put_u32(at, (uint32_t)total);
    put_u32(at + 0x04, OBJECT_HEAD + DEFINITION);
    put_u32(at + 0x08, OBJECT_HEAD);
    put_u32(at + 0x0C, blg_text_title(place));
    put_u32(at + 0x1C, PERF_DETAIL_NOVICE);
    put_u32(at + 0x20, 1); /* NumCounters */
    put_u32(at + 0x28, (uint32_t)instances);
    put_u64(at + 0x38, TICKS_PER_SECOND);
    uint8_t *definition = at + OBJECT_HEAD;
    put_u32(definition, DEFINITION);
    put_u32(definition + 0x04, blg_text_title(place) + 2);
    put_u32(definition + 0x18, PERF_DETAIL_NOVICE);
    put_u32(definition + 0x1C, PERF_COUNTER_TEXT);
    put_u32(definition + 0x20, (uint32_t)width);
    put_u32(definition + 0x24, VALUE_AT);
}

HRESULT blg_text_put(uint8_t *at, const struct log_counter *counter, size_t place, int64_t local, int64_t utc,
                     const struct log_cell *cell)
{
    struct texts_of_cell texts;
    cell_texts_collect(counter, cell, &texts);
    const size_t size = blg_text_size(counter, cell);
    const size_t head = blg_round_up_8(DATA_HEAD + blg_name_size(machine_name(counter)));
    memset(at, 0, size);
    blg_put_block_head(at, BLG_KIND_OBJECT, size);
    uint8_t *data = at + BLG_BLOCK_HEAD, *next = data + head + OBJECT_HEAD + DEFINITION;
    HRESULT hr = put_data_head(data, machine_name(counter), head, size - BLG_BLOCK_HEAD, local, utc);
    int32_t instances = 0;
    for (size_t i = 0; i < texts.count && SUCCEEDED(hr); i++) {
        const struct log_item *item = &texts.items[i];
        if (texts.instances && has_text(&item->raw)) {
            const size_t name = blg_name_size(item->instance), length = blg_round_up_8(INSTANCE_HEAD + name);
            put_u32(next, (uint32_t)length);
            put_u32(next + 0x0C, UINT32_MAX); /* UniqueID: PERF_NO_UNIQUE_ID, because the instance has a name */
            put_u32(next + 0x10, INSTANCE_HEAD);
            put_u32(next + 0x14, (uint32_t)name);
            hr = blg_put_name(next + INSTANCE_HEAD, item->instance, name);
            next += length;
            instances++;
        }
        if (!texts.instances || has_text(&item->raw)) {
            put_u32(next, (uint32_t)blg_round_up_8(VALUE_AT + texts.width));
            if (SUCCEEDED(hr) && texts.width != 0)
                hr = blg_put_name(next + VALUE_AT, item->raw.text, blg_name_size(item->raw.text));
            next += blg_round_up_8(VALUE_AT + texts.width);
        }
    }
    put_object(data + head, size - BLG_BLOCK_HEAD - head, place, texts.instances ? instances : -1, texts.width);
    return hr;
}
