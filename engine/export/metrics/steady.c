/* SPDX-License-Identifier: MIT */
/* Prevents counters of time from decreasing. A host OS computes some counters of time from two clocks (idle time is
   elapsed time minus busy time, and Linux corrects the idle time of processors). Such counters can decrease by a few
   ticks. Prometheus would interpret a decrease as a restart, and the computed rate would jump by the whole value. */
#include "engine/export/metrics/steady.h"

#include "engine/base/memory.h"
#include "engine/logs/metric_form.h"

enum { FEWEST_SLOTS = 256, FORGET_PAGES = 16 };

static struct steady_slot *slot_find(struct steady_slot *slots, size_t count, uint64_t key)
{
    size_t at = (size_t)key & (count - 1);
    while (slots[at].key && slots[at].key != key)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

/* Makes space for one more series, and removes the series that have ended. */
static bool steady_grow(struct steady *s, uint64_t page)
{
    size_t living = 0, count = FEWEST_SLOTS;
    if (2 * (s->used + 1) <= s->count)
        return true;
    for (size_t i = 0; i < s->count; i++)
        living += s->slots[i].key && s->slots[i].page + FORGET_PAGES > page;
    while (count < 4 * (living + 1))
        count *= 2;
    struct steady_slot *slots = memory_zero(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->slots[i].key && s->slots[i].page + FORGET_PAGES > page)
            *slot_find(slots, count, s->slots[i].key) = s->slots[i];
    memory_free(s->slots);
    *s = (struct steady){slots, count, living};
    return true;
}

int64_t steady_keep(struct steady *s, uint64_t key, uint64_t page, int64_t most, int64_t value)
{
    key = key ? key : 1;
    if (!steady_grow(s, page))
        return value;
    struct steady_slot *slot = slot_find(s->slots, s->count, key);
    s->used += !slot->key;
    *slot = (struct steady_slot){key, page, slot->key ? metric_steady(slot->last, value, most) : value, 0};
    return slot->last;
}

int64_t steady_since(struct steady *s, uint64_t key, uint64_t page, int64_t now, int64_t value)
{
    key = key ? key : 1;
    if (!steady_grow(s, page))
        return now;
    struct steady_slot *slot = slot_find(s->slots, s->count, key);
    const bool goes_on = slot->key && value >= slot->last;
    s->used += !slot->key;
    *slot = (struct steady_slot){key, page, value, goes_on ? slot->since : now};
    return slot->since;
}

void steady_free(struct steady *s)
{
    memory_free(s->slots);
}
