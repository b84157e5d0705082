/* SPDX-License-Identifier: MIT */
#include "engine/logs/sample_distances.h"

#include "engine/base/memory.h"

#include <stdlib.h>

enum { MAX_DISTANCES = 1 << 16 };

HRESULT sample_distances_add(struct sample_distances *d, int64_t distance)
{
    if (d->step == 0)
        d->step = 1;
    if (d->seen++ % d->step != 0)
        return S_OK;
    if (d->count == MAX_DISTANCES) { /* every second goes */
        for (size_t i = 0; i < MAX_DISTANCES / 2; i++)
            d->items[i] = d->items[2 * i];
        d->count = MAX_DISTANCES / 2;
        d->step *= 2;
    }
    void *items = d->items;
    if (!memory_grow(&items, &d->capacity, d->count + 1, sizeof *d->items))
        return E_OUTOFMEMORY;
    d->items = items;
    d->items[d->count++] = distance;
    return S_OK;
}

static int compare_distances(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t sample_distances_middle(struct sample_distances *d)
{
    if (d->count == 0)
        return 0;
    qsort(d->items, d->count, sizeof *d->items, compare_distances);
    return d->items[d->count / 2];
}

void sample_distances_free(struct sample_distances *d)
{
    memory_free(d->items);
    *d = (struct sample_distances){0};
}
