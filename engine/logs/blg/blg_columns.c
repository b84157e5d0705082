/* SPDX-License-Identifier: MIT */
/* The cells of a binary log's samples. Instance names are made into text only when they differ from the sample
   before. */
#include "engine/logs/blg/blg_columns.h"

#include "engine/base/memory.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

#include <string.h>

enum { BYTES_PER_UNIT = 3 }; /* of UTF-8, at most */

static bool same_name(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool same_counter(const struct log_counter *a, const struct log_counter *b)
{
    return a->wildcard == b->wildcard && a->type == b->type && a->index == b->index && a->time_base == b->time_base &&
           same_name(a->counter, b->counter) && same_name(a->instance, b->instance) &&
           same_name(a->object, b->object) && same_name(a->parent, b->parent) && same_name(a->machine, b->machine);
}

HRESULT blg_columns_add(struct blg_columns *c, const struct log_counter *counter, bool find, size_t *column)
{
    const size_t count = c->counters->count, first = count != 0 ? *column % count : 0;
    for (size_t i = 0; find && i < count; i++) {
        if (same_counter(&c->counters->items[(first + i) % count], counter)) {
            *column = (first + i) % count;
            return S_OK;
        }
    }
    void *cells = c->cells, *instances = c->instances;
    const bool room = memory_grow(&cells, &c->cell_capacity, count + 1, sizeof *c->cells) != 0 &&
                      memory_grow(&instances, &c->instances_capacity, count + 1, sizeof *c->instances) != 0;
    c->cells = cells;
    c->instances = instances;
    HRESULT hr = room ? log_counters_add(c->counters, counter)
                      : error_set(E_OUTOFMEMORY, "out of memory for %zu counters", count + 1);
    if (FAILED(hr))
        return hr;
    c->cells[count] = (struct log_cell){.raw.status = PDH_CSTATUS_NO_COUNTER};
    c->instances[count] = (struct blg_instances){0};
    *column = count;
    return S_OK;
}

void blg_columns_clear(struct blg_columns *c)
{
    for (size_t i = 0; i < c->counters->count; i++)
        c->cells[i] = (struct log_cell){.raw.status = PDH_CSTATUS_NO_COUNTER};
}

HRESULT blg_columns_room(struct blg_columns *c, size_t column, size_t count)
{
    struct blg_instances *n = &c->instances[column];
    void *items = n->items;
    if (!memory_grow(&items, &n->capacity, count, sizeof *n->items))
        return error_set(E_OUTOFMEMORY, "out of memory for %zu instances of a counter", count);
    n->items = items;
    return S_OK;
}

/* Makes one name into text at `to`; the bytes it took, its NUL included; 0: out of memory. */
static size_t put_text(const uint8_t *name, size_t units, char *to)
{
    size_t i = 0;
    for (; i < units && get_u16(name + 2 * i) < 0x80; i++)
        to[i] = (char)name[2 * i];
    if (i == units) {
        to[i] = '\0';
        return units + 1;
    }
    char *text = etl_text(name, units);
    if (!text)
        return 0;
    const size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    memory_free(text);
    return size;
}

/* Are items and names those that the column's text was made of? */
static bool same_names(const struct blg_instances *n, const uint8_t *block, size_t size, size_t count)
{
    const size_t head = BLG_WILDCARD_HEAD + count * BLG_WILDCARD_ITEM;
    if (n->count != count || n->names_size != size - head + count * sizeof(uint32_t))
        return false;
    for (size_t i = 0; i < count; i++)
        if (memcmp(n->names + i * sizeof(uint32_t), block + BLG_WILDCARD_HEAD + i * BLG_WILDCARD_ITEM,
                   sizeof(uint32_t)) != 0)
            return false;
    return memcmp(n->names + count * sizeof(uint32_t), block + head, size - head) == 0;
}

/* Makes the texts of all names. S_FALSE: one lies outside the block, or together they are longer than it. */
static HRESULT make_names(struct blg_instances *n, const uint8_t *block, size_t size, size_t count)
{
    const size_t head = BLG_WILDCARD_HEAD + count * BLG_WILDCARD_ITEM, offsets = count * sizeof(uint32_t);
    const uint8_t *item = block + BLG_WILDCARD_HEAD;
    void *names = n->names, *texts = n->text;
    n->names_size = 0; /* not to be trusted until all is done */
    /* One more: a moment without instances has texts too. */
    if (!memory_grow(&texts, &n->text_capacity, (size - head) / 2 * BYTES_PER_UNIT + count + 1, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
    n->text = texts;
    if (!memory_grow(&names, &n->names_capacity, offsets + size - head + 1, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
    n->names = names;
    char *to = n->text;
    size_t room = size - head;
    for (size_t i = 0; i < count; i++, item += BLG_WILDCARD_ITEM) {
        const uint32_t at = get_u32(item);
        size_t units, bytes;
        if (at < head || at > size || !etl_text_length(block + at, size - at, &units) || units * 2 + 2 > room)
            return S_FALSE;
        bytes = put_text(block + at, units, to);
        if (bytes == 0)
            return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
        n->items[i].instance = to;
        to += bytes;
        room -= units * 2 + 2;
        memcpy(n->names + i * sizeof at, item, sizeof at);
    }
    memcpy(n->names + offsets, block + head, size - head);
    n->names_size = offsets + size - head;
    n->count = count;
    return S_OK;
}

HRESULT blg_columns_wildcard(struct blg_columns *c, size_t column, const uint8_t *block, size_t size)
{
    struct blg_instances *n = &c->instances[column];
    if (size < BLG_WILDCARD_HEAD || get_u32(block) > size)
        return S_FALSE;
    size = get_u32(block);
    const size_t count = size < BLG_WILDCARD_HEAD ? 0 : get_u32(block + 0x04);
    if (size < BLG_WILDCARD_HEAD || count > (size - BLG_WILDCARD_HEAD) / BLG_WILDCARD_ITEM)
        return S_FALSE;
    if (count != 0 && !same_names(n, block, size, count)) {
        HRESULT hr = blg_columns_room(c, column, count);
        if (SUCCEEDED(hr))
            hr = make_names(n, block, size, count);
        if (hr != S_OK)
            return hr;
    }
    const uint32_t status = get_u32(block + 0x08);
    const uint8_t *at = block + BLG_WILDCARD_HEAD;
    for (size_t i = 0; i < count; i++, at += BLG_WILDCARD_ITEM) {
        const uint32_t multi = get_u32(at + 0x04);
        n->items[i].raw = (struct log_raw){.status = status,
                                           .first = (int64_t)get_u64(at + 0x08),
                                           .second = (int64_t)get_u64(at + 0x10),
                                           .multi_count = multi != 0 ? multi : 1};
    }
    c->cells[column] = (struct log_cell){.raw.status = status, .items = n->items, .item_count = count};
    return S_OK;
}

void blg_columns_free(struct blg_columns *c)
{
    for (size_t i = 0; i < c->counters->count && c->instances; i++) {
        memory_free(c->instances[i].items);
        memory_free(c->instances[i].names);
        memory_free(c->instances[i].text);
    }
    memory_free(c->cells);
    memory_free(c->instances);
}
