/* SPDX-License-Identifier: MIT */
/* Collects the functions of an image, and finds them by offset. */
#include "engine/etw/symbols/symbol_table.h"

#include "engine/base/memory.h"

#include <stdlib.h>

enum { MOST_ROWS = 4 << 20, MOST_EXTENTS = 4 << 20, MOST_NAMES = 128 << 20, MOST_NAME = 4096, FAR_AWAY = 1 << 16 };

HRESULT symbol_table_add(struct symbol_table *t, uint64_t at, uint64_t bytes, const char *name, size_t size)
{
    const char *end = memchr(name, 0, size);
    size = end ? (size_t)(end - name) : size;
    size = size < MOST_NAME ? size : MOST_NAME;
    if (size == 0 || at > UINT32_MAX)
        return S_OK;
    if (t->count >= MOST_ROWS || t->names.length + 3 * size >= MOST_NAMES)
        return S_FALSE;
    void *rows = t->rows;
    if (!memory_grow(&rows, &t->capacity, t->count + 1, sizeof *t->rows))
        return E_OUTOFMEMORY;
    t->rows = rows;
    t->rows[t->count++] =
        (struct symbol_row){.at = (uint32_t)at,
                            .size = bytes > UINT32_MAX - at ? UINT32_MAX - (uint32_t)at : (uint32_t)bytes,
                            .name = (uint32_t)t->names.length};
    text_buffer_add_utf8(&t->names, name, size);
    text_buffer_add_n(&t->names, "", 1);
    return t->names.failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT symbol_table_add_extent(struct symbol_table *t, uint64_t at, uint64_t bytes)
{
    if (bytes == 0 || at > UINT32_MAX)
        return S_OK;
    if (t->extent_count >= MOST_EXTENTS)
        return S_FALSE;
    void *extents = t->extents;
    if (!memory_grow(&extents, &t->extent_capacity, t->extent_count + 1, sizeof *t->extents))
        return E_OUTOFMEMORY;
    t->extents = extents;
    t->extents[t->extent_count++] =
        (struct symbol_extent){(uint32_t)at, bytes > UINT32_MAX - at ? UINT32_MAX - (uint32_t)at : (uint32_t)bytes};
    return S_OK;
}

/* Sorts by offset. At the same offset, rows with sizes come first; otherwise rows stay in the order in which they were
   added. */
static int by_offset(const void *a, const void *b)
{
    const struct symbol_row *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if ((x->size != 0) != (y->size != 0))
        return x->size != 0 ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int by_extent(const void *a, const void *b)
{
    const struct symbol_extent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

void symbol_table_sort(struct symbol_table *t)
{
    size_t kept = 0;
    if (t->count != 0)
        qsort(t->rows, t->count, sizeof *t->rows, by_offset);
    for (size_t i = 0; i < t->count; i++)
        if (i == 0 || t->rows[i].at != t->rows[kept - 1].at)
            t->rows[kept++] = t->rows[i];
    t->count = kept;
    if (t->extent_count != 0)
        qsort(t->extents, t->extent_count, sizeof *t->extents, by_extent);
}

/* Finds the last extent that begins at or before the offset. Returns NULL if this extent does not contain the offset or
   does not exist. */
static const struct symbol_extent *extent_find(const struct symbol_table *t, uint32_t at)
{
    size_t low = 0, high = t->extent_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->extents[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol_extent *e = low != 0 ? &t->extents[low - 1] : NULL;
    return e && at - e->at < e->size ? e : NULL;
}

bool symbol_table_find(const struct symbol_table *t, uint64_t offset, const char **name, uint64_t *from)
{
    size_t low = 0, high = t->count;
    if (offset > UINT32_MAX)
        return false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->rows[middle].at <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const struct symbol_row *r = &t->rows[low - 1];
    const uint32_t distance = (uint32_t)offset - r->at;
    if (r->size != 0 && distance >= r->size)
        return false;
    if (r->size == 0 && distance != 0 && t->extent_count != 0) {
        const struct symbol_extent *e = extent_find(t, (uint32_t)offset);
        if (!e || r->at < e->at)
            return false;
    } else if (r->size == 0 && distance >= FAR_AWAY) {
        return false;
    }
    *name = t->names.text + r->name;
    *from = distance;
    return true;
}

size_t symbol_table_bytes(const struct symbol_table *t)
{
    return t->capacity * sizeof *t->rows + t->extent_capacity * sizeof *t->extents + t->names.capacity;
}

void symbol_table_free(struct symbol_table *t)
{
    memory_free(t->rows);
    memory_free(t->extents);
    text_buffer_free(&t->names);
    *t = (struct symbol_table){0};
}
