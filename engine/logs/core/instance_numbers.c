/* SPDX-License-Identifier: MIT */
/* Counts equal names by a hash table, so that a list of thousands of equal names costs no more than one of others. */
#include "engine/logs/instance_numbers.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"

#include <string.h>

struct instance_number {
    const char *name; /* NULL: free */
    uint64_t hash;
    size_t count;
};

static struct instance_number *find_slot(const struct instance_numbers *n, const char *name, uint64_t hash)
{
    size_t at = (size_t)(hash >> 32) & (n->slot_count - 1);
    while (n->slots[at].name && (n->slots[at].hash != hash || !text_equal_nocase(n->slots[at].name, name)))
        at = (at + 1) & (n->slot_count - 1);
    return &n->slots[at];
}

/* Keeps half of the slots free. */
static HRESULT grow(struct instance_numbers *n)
{
    if (2 * (n->used + 1) <= n->slot_count)
        return S_OK;
    struct instance_numbers more = {.slot_count = n->slot_count ? 4 * n->slot_count : 64, .used = n->used};
    more.slots = memory_zero(more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", n->used);
    for (size_t i = 0; i < n->slot_count; i++)
        if (n->slots[i].name)
            *find_slot(&more, n->slots[i].name, n->slots[i].hash) = n->slots[i];
    memory_free(n->slots);
    *n = more;
    return S_OK;
}

HRESULT instance_numbers_next(struct instance_numbers *n, const char *name, size_t *number)
{
    const HRESULT hr = grow(n);
    if (FAILED(hr))
        return hr;
    const uint64_t hash = text_hash_nocase(name);
    struct instance_number *slot = find_slot(n, name, hash);
    if (!slot->name) {
        *slot = (struct instance_number){name, hash, 0};
        n->used++;
    }
    *number = slot->count++;
    return S_OK;
}

char *instance_numbers_text(const char *name, size_t number)
{
    return number > 0 ? text_format("%s#%zu", name, number) : text_copy(name);
}

void instance_numbers_clear(struct instance_numbers *n)
{
    if (n->used)
        memset(n->slots, 0, n->slot_count * sizeof *n->slots);
    n->used = 0;
}

void instance_numbers_free(struct instance_numbers *n)
{
    memory_free(n->slots);
    *n = (struct instance_numbers){0};
}
