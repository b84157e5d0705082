/* SPDX-License-Identifier: MIT */
/* The set of live handles of this process: a hash table with linear probing. */
#include "engine/pdh/core/handle.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"

static struct host_lock lock = HOST_LOCK_INIT;
static const void **slots;
static size_t slot_count, used; /* a power of two; at most half of it */

static size_t home(const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle * 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 32) & (slot_count - 1);
}

/* The handle's slot, or the free one where it belongs. */
static size_t find(const void *handle)
{
    size_t at = home(handle);
    while (slots[at] && slots[at] != handle)
        at = (at + 1) & (slot_count - 1);
    return at;
}

static bool grow(void)
{
    const void **old = slots;
    size_t old_count = slot_count, count = old_count ? old_count * 2 : 64;
    const void **larger = memory_zero(count, sizeof *larger);
    if (!larger)
        return false;
    slots = larger;
    slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            slots[find(old[i])] = old[i];
    memory_free(old);
    return true;
}

bool handle_add(const void *handle)
{
    host_lock_enter(&lock);
    bool ok = used * 2 < slot_count || grow();
    if (ok) {
        slots[find(handle)] = handle;
        used++;
    }
    host_lock_leave(&lock);
    return ok;
}

/* Moves those behind the gap forward that would not be found across it. */
static void close_gap(size_t gap)
{
    size_t mask = slot_count - 1;
    for (size_t at = (gap + 1) & mask; slots[at]; at = (at + 1) & mask) {
        if (((at - home(slots[at])) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            slots[at] = NULL;
            gap = at;
        }
    }
}

void handle_remove(const void *handle)
{
    host_lock_enter(&lock);
    size_t at = slot_count ? find(handle) : 0;
    if (slot_count && slots[at]) {
        slots[at] = NULL;
        close_gap(at);
        if (--used == 0) {
            memory_free(slots);
            slots = NULL;
            slot_count = 0;
        }
    }
    host_lock_leave(&lock);
}

bool handle_is_alive(const void *handle)
{
    host_lock_enter(&lock);
    bool alive = handle && slot_count && slots[find(handle)];
    host_lock_leave(&lock);
    return alive;
}
