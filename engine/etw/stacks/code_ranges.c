/* SPDX-License-Identifier: MIT */
/* Stores address ranges. They are collected in any order, then sorted by process, base and begin for binary
   searches. */
#include "engine/etw/stacks/code_ranges.h"

#include "engine/base/memory.h"

#include <stdlib.h>

enum {
    MOST_RANGES = 1 << 20,
    OVERLAPS = 256, /* maximum number of ranges to check that begin below the address */
};

/* Returns the key of a range. Two ranges can have the same key, so the range itself must be compared. */
static uint64_t range_key(uint32_t process, uint64_t base)
{
    const uint64_t key = hash_number(hash_number(HASH_START, process), base);
    return key != 0 ? key : 1;
}

struct code_range *code_ranges_open(const struct code_ranges *r, uint32_t process, uint64_t base)
{
    const uint32_t *index = id_map_find(&r->open, range_key(process, base));
    struct code_range *range = index ? &r->items[*index - 1] : NULL;
    return range && range->process == process && range->base == base && range->to == UINT64_MAX ? range : NULL;
}

void code_ranges_end(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t to)
{
    struct code_range *range = code_ranges_open(r, process, base);
    if (range)
        range->to = to;
}

struct code_range *code_ranges_begin(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t size,
                                     uint64_t from, HRESULT *hr)
{
    *hr = S_OK;
    code_ranges_end(r, process, base, from);
    if (r->count >= MOST_RANGES) {
        r->refused++;
        return NULL;
    }
    r->open.item_size = sizeof(uint32_t);
    uint32_t *index = id_map_put(&r->open, range_key(process, base));
    void *items = r->items;
    if (!index || !memory_grow(&items, &r->capacity, r->count + 1, sizeof *r->items)) {
        *hr = E_OUTOFMEMORY;
        return NULL;
    }
    r->items = items;
    r->items[r->count] =
        (struct code_range){.base = base, .size = size, .from = from, .to = UINT64_MAX, .process = process};
    r->count++;
    *index = (uint32_t)r->count;
    return &r->items[r->count - 1];
}

static int by_place(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

void code_ranges_sort(struct code_ranges *r)
{
    if (r->count != 0)
        qsort(r->items, r->count, sizeof *r->items, by_place);
    id_map_free(&r->open);
    r->sorted = true;
}

const struct code_range *code_ranges_find(const struct code_ranges *r, uint32_t process, uint64_t address,
                                          uint64_t number)
{
    const struct code_range *other = NULL;
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct code_range *m = &r->items[middle];
        if (m->process < process || (m->process == process && m->base <= address))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < OVERLAPS && low > 0; i++) {
        const struct code_range *range = &r->items[--low];
        if (range->process != process)
            break;
        if (address - range->base >= range->size)
            continue;
        if (number >= range->from && number < range->to)
            return range;
        other = other ? other : range;
    }
    return other;
}

void code_ranges_free(struct code_ranges *r)
{
    memory_free(r->items);
    id_map_free(&r->open);
    *r = (struct code_ranges){0};
}
