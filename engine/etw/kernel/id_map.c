/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing and linear probing. When an item is removed, the items after it move up, so that no
   tombstones are needed. */
#include "engine/etw/id_map.h"

#include "engine/base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

static size_t home(const struct id_map *m, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (m->capacity - 1);
}

static void *item(const struct id_map *m, size_t at)
{
    return m->items + at * m->item_size;
}

/* Returns the index of the key. If the key is missing, returns the index of the free entry where it can be inserted. */
static size_t id_map_place(const struct id_map *m, uint64_t key)
{
    size_t at = home(m, key);
    while (m->keys[at] != 0 && m->keys[at] != key)
        at = (at + 1) & (m->capacity - 1);
    return at;
}

void *id_map_find(const struct id_map *m, uint64_t key)
{
    if (m->count == 0 || key == 0)
        return NULL;
    const size_t at = id_map_place(m, key);
    return m->keys[at] == key ? item(m, at) : NULL;
}

void id_map_prefetch(const struct id_map *m, uint64_t key)
{
    if (m->count == 0)
        return;
    const size_t at = home(m, key);
    __builtin_prefetch(&m->keys[at]);
    __builtin_prefetch(item(m, at));
}

static bool id_map_grow(struct id_map *m)
{
    const size_t capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY;
    struct id_map larger = {.item_size = m->item_size, .most = m->most, .capacity = capacity, .count = m->count};
    larger.keys = memory_zero(capacity, sizeof *larger.keys);
    larger.items = memory_zero(capacity, m->item_size);
    if (!larger.keys || !larger.items) {
        id_map_free(&larger);
        return false;
    }
    for (size_t i = 0; i < m->capacity; i++) {
        if (m->keys[i] == 0)
            continue;
        const size_t at = id_map_place(&larger, m->keys[i]);
        larger.keys[at] = m->keys[i];
        memcpy(item(&larger, at), item(m, i), m->item_size);
    }
    memory_free(m->keys);
    memory_free(m->items);
    *m = larger;
    return true;
}

void *id_map_put(struct id_map *m, uint64_t key)
{
    if (key == 0)
        return NULL;
    size_t at = m->capacity != 0 ? id_map_place(m, key) : 0;
    if (m->capacity != 0 && m->keys[at] == key)
        return item(m, at);
    if (m->most != 0 && m->count >= m->most) {
        size_t replaced = home(m, key);
        while (m->keys[replaced] == 0)
            replaced = (replaced + 1) & (m->capacity - 1);
        id_map_remove(m, m->keys[replaced]);
        at = id_map_place(m, key);
    }
    if (4 * (m->count + 1) > 3 * m->capacity) {
        if (!id_map_grow(m))
            return NULL;
        at = id_map_place(m, key);
    }
    m->keys[at] = key;
    m->count++;
    return memset(item(m, at), 0, m->item_size);
}

void id_map_remove(struct id_map *m, uint64_t key)
{
    size_t hole = m->count != 0 && key != 0 ? id_map_place(m, key) : 0;
    if (m->count == 0 || key == 0 || m->keys[hole] != key)
        return;
    const size_t mask = m->capacity - 1;
    for (size_t at = (hole + 1) & mask; m->keys[at] != 0; at = (at + 1) & mask) {
        /* An item may only move up if its home index is not between the hole and the item. */
        if (((at - home(m, m->keys[at])) & mask) < ((at - hole) & mask))
            continue;
        m->keys[hole] = m->keys[at];
        memcpy(item(m, hole), item(m, at), m->item_size);
        hole = at;
    }
    m->keys[hole] = 0;
    m->count--;
}

void *id_map_next(const struct id_map *m, size_t *at, uint64_t *key)
{
    while (*at < m->capacity) {
        const size_t here = (*at)++;
        if (m->keys[here] == 0)
            continue;
        if (key)
            *key = m->keys[here];
        return item(m, here);
    }
    return NULL;
}

void id_map_free(struct id_map *m)
{
    memory_free(m->keys);
    memory_free(m->items);
    *m = (struct id_map){.item_size = m->item_size, .most = m->most};
}
