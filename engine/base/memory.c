/* SPDX-License-Identifier: MIT */
/* The allocator: the pool, with a per-thread fault that tests set. */
#include "engine/base/memory.h"

#include "engine/base/memory_pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Whether any thread has ever set a fault; a thread's own variables are slow to come by with some compilers. */
static atomic_bool tested;
static _Thread_local uint64_t allocations, failing;

static int refused(void)
{
    if (!atomic_load_explicit(&tested, memory_order_relaxed))
        return 0;
    allocations++;
    return failing && allocations == failing;
}

void *memory_alloc(size_t size)
{
    return refused() ? NULL : pool_alloc(size ? size : 1);
}

void *memory_zero(size_t count, size_t size)
{
    if (refused() || (size && count > SIZE_MAX / size))
        return NULL;
    void *p = pool_alloc(count && size ? count * size : 1);

    if (p)
        memset(p, 0, count * size);
    return p;
}

void *memory_resize(void *p, size_t size)
{
    return refused() ? NULL : pool_resize(p, size ? size : 1);
}

void memory_free(void *p)
{
    pool_free(p);
}

void memory_wipe(void *p, size_t size)
{
    if (size)
        memset(p, 0, size);
    __asm__ __volatile__("" : : "r"(p) : "memory"); /* somebody may read it, for all that the compiler knows */
}

void memory_free_secret(char *text)
{
    if (text)
        memory_wipe(text, strlen(text));
    pool_free(text);
}

void *memory_copy(const void *p, size_t size)
{
    void *copy = memory_alloc(size);
    if (copy && size)
        memcpy(copy, p, size);
    return copy;
}

int memory_grow(void **items, size_t *capacity, size_t need, size_t size)
{
    size_t wanted = *capacity;
    if (need <= *capacity)
        return 1;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2) {
            wanted = need;
            break;
        }
        wanted = wanted ? wanted * 2 : 8;
    }
    if (size && wanted > SIZE_MAX / size)
        return 0;
    void *grown = memory_resize(*items, wanted * size);
    if (!grown)
        return 0;
    *items = grown;
    *capacity = wanted;
    return 1;
}

void memory_fail_at(uint64_t n)
{
    atomic_store_explicit(&tested, true, memory_order_relaxed);
    allocations = 0;
    failing = n;
}

uint64_t memory_count(void)
{
    return allocations;
}
