/* SPDX-License-Identifier: MIT */
/* The allocator: malloc with a per-thread fault that tests set. */
#include "engine/os/memory.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local uint64_t allocations, failing;

static int refused(void)
{
    allocations++;
    return failing && allocations == failing;
}

void *memory_alloc(size_t size)
{
    return refused() ? NULL : malloc(size ? size : 1);
}

void *memory_zero(size_t count, size_t size)
{
    if (refused() || (size && count > SIZE_MAX / size))
        return NULL;
    if (!count || !size)
        count = size = 1;
    return calloc(count, size);
}

void *memory_resize(void *p, size_t size)
{
    return refused() ? NULL : realloc(p, size ? size : 1);
}

void memory_free(void *p)
{
    free(p);
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
    void *grown;

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
    grown = memory_resize(*items, wanted * size);
    if (!grown)
        return 0;
    *items = grown;
    *capacity = wanted;
    return 1;
}

void memory_fail_at(uint64_t n)
{
    allocations = 0;
    failing = n;
}

uint64_t memory_count(void)
{
    return allocations;
}
