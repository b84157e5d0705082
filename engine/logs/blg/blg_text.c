/* SPDX-License-Identifier: MIT */
/* Writes a text counter as a performance data block: PERF_DATA_BLOCK, one PERF_OBJECT_TYPE with one
   PERF_COUNTER_DEFINITION, and for each instance PERF_INSTANCE_DEFINITION and PERF_COUNTER_BLOCK. The width of the text
   stands in the definition, so it is that of the longest one; a counter without a value has width 0, an instance
   without a value is left out. */
#include "engine/logs/blg/blg_text.h"

#include "engine/base/clock.h"
#include "engine/logs/blg/blg_catalog.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

#include <string.h>

enum { DATA_HEAD = 0x58, OBJECT_HEAD = 0x40, DEFINITION = 0x28, INSTANCE_HEAD = 0x18, VALUE_AT = 8, STEP = 4 };
enum { TICKS_PER_SECOND = 10000000 };

bool blg_is_text(const struct log_counter *counter)
{
    return counter->type == PERF_COUNTER_TEXT;
}

uint32_t blg_text_title(size_t place)
{
    return (uint32_t)place * STEP + 2;
}

static bool has_text(const struct log_raw *raw)
{
    return raw->status <= PDH_CSTATUS_NEW_DATA && raw->text;
}

static const char *machine_name(const struct log_counter *counter)
{
    return counter->machine ? counter->machine + strspn(counter->machine, "\\") : "";
}

/* What an item of a sample is made of: the instances of a wildcard counter, or the one of a single counter. */
struct texts_of_cell {
    const struct log_item *items;
    struct log_item single;
    size_t count;
    bool instances;
    size_t width; /* bytes of the longest text */
};

static void look_at(const struct log_counter *counter, const struct log_cell *cell, struct texts_of_cell *out)
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
    look_at(counter, cell, &texts);
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
    look_at(counter, cell, &texts);
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
            put_u32(next + 0x0C, UINT32_MAX); /* UniqueID: it has a name */
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
