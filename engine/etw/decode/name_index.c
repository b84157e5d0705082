/* SPDX-License-Identifier: MIT */
/* Open addressing; the tables are at most half full. */
#include "engine/etw/decode/name_index.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"

#include <string.h>

#define FIRST_ROOM 32

void name_index_free(struct name_index *index)
{
    memory_free(index->slots);
    *index = (struct name_index){0};
}

/* The slot of the name, or the free one where it belongs. */
static struct name_place *slot_of(struct name_place *slots, size_t room, const char *name)
{
    uint64_t hash = hash_text(HASH_START, name);
    size_t at = (size_t)(hash ^ hash >> 32) & (room - 1);
    while (slots[at].name && strcmp(slots[at].name, name) != 0)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static bool widen(struct name_index *index)
{
    size_t room = index->room ? 2 * index->room : FIRST_ROOM;
    struct name_place *slots = memory_zero(room, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < index->room; i++)
        if (index->slots[i].name)
            *slot_of(slots, room, index->slots[i].name) = index->slots[i];
    memory_free(index->slots);
    index->slots = slots;
    index->room = room;
    return true;
}

HRESULT name_index_add(struct name_index *index, const char *name, uint32_t place)
{
    if (2 * (index->used + 1) > index->room && !widen(index))
        return E_OUTOFMEMORY;
    struct name_place *slot = slot_of(index->slots, index->room, name);
    if (slot->name)
        return S_FALSE;
    *slot = (struct name_place){name, place};
    index->used++;
    return S_OK;
}

bool name_index_find(const struct name_index *index, const char *name, uint32_t *place)
{
    const struct name_place *slot = index->room ? slot_of(index->slots, index->room, name) : NULL;
    if (!slot || !slot->name)
        return false;
    *place = slot->place;
    return true;
}
