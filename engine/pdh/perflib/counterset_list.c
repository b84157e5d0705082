/* SPDX-License-Identifier: MIT */
/* Providers, countersets and counters in memory. */
#include "engine/base/memory.h"
#include "engine/pdh/perflib/counterset_registration.h"

/* One more of `size` bytes at the end of *items, all zero; NULL when out of memory. */
static void *add_one(void **items, size_t *count, size_t *capacity, size_t size)
{
    if (!memory_grow(items, capacity, *count + 1, size))
        return NULL;
    uint8_t *one = (uint8_t *)*items + *count * size;
    for (size_t i = 0; i < size; i++)
        one[i] = 0;
    ++*count;
    return one;
}

struct registered_provider *registered_add_provider(struct registered_countersets *list, const GUID *guid)
{
    void *items = list->items;
    struct registered_provider *p = add_one(&items, &list->count, &list->capacity, sizeof *p);
    list->items = items;
    if (p)
        p->guid = *guid;
    return p;
}

struct registered_set *registered_add_set(struct registered_provider *p, const GUID *guid)
{
    void *sets = p->sets;
    struct registered_set *s = add_one(&sets, &p->count, &p->capacity, sizeof *s);
    p->sets = sets;
    if (s)
        s->guid = *guid;
    return s;
}

struct registered_counter *registered_add_counter(struct registered_set *s, uint32_t id)
{
    void *counters = s->counters;
    struct registered_counter *c = add_one(&counters, &s->count, &s->capacity, sizeof *c);
    s->counters = counters;
    if (c) {
        c->id = id;
        c->base = COUNTER_NO_ID;
    }
    return c;
}

const struct registered_counter *registered_counter_of(const struct registered_set *s, uint32_t id)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->counters[i].id == id)
            return &s->counters[i];
    return NULL;
}

static void free_set(struct registered_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        memory_free(s->counters[i].name);
        memory_free(s->counters[i].help);
    }
    memory_free(s->counters);
    memory_free(s->name);
    memory_free(s->help);
}

void registered_provider_clear(struct registered_provider *p)
{
    for (size_t i = 0; i < p->count; i++)
        free_set(&p->sets[i]);
    memory_free(p->sets);
    memory_free(p->name);
    memory_free(p->application);
    memory_free(p->manifest);
    *p = (struct registered_provider){.name = NULL};
}

void registered_countersets_free(struct registered_countersets *list)
{
    for (size_t i = 0; i < list->count; i++)
        registered_provider_clear(&list->items[i]);
    memory_free(list->items);
    *list = (struct registered_countersets){0};
}
