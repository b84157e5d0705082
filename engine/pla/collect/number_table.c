/* SPDX-License-Identifier: MIT */
/* Open addressing, at most half full. */
#include "engine/pla/collect/number_table.h"

#include "engine/base/memory.h"

static struct number_entry *place(const struct number_table *t, uint64_t key)
{
    size_t i = (size_t)(key ^ key >> 32) & (t->capacity - 1);
    while (t->entries[i].key && t->entries[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return &t->entries[i];
}

static int grow(struct number_table *t)
{
    struct number_table larger = {.count = t->count, .capacity = t->capacity ? t->capacity * 2 : 64};
    larger.entries = memory_zero(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return 0;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entries[i].key)
            *place(&larger, t->entries[i].key) = t->entries[i];
    memory_free(t->entries);
    *t = larger;
    return 1;
}

uint32_t *number_table_find(struct number_table *t, uint64_t key)
{
    key += !key;
    if (t->count * 2 >= t->capacity && !grow(t))
        return NULL;
    struct number_entry *e = place(t, key);
    t->count += !e->key;
    e->key = key;
    return &e->number;
}

void number_table_free(struct number_table *t)
{
    memory_free(t->entries);
    *t = (struct number_table){0};
}
