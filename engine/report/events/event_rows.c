/* SPDX-License-Identifier: MIT */
#include "engine/base/memory.h"
#include "engine/report/events/event_sink.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 4096 }; /* maximum rows of the heap */

struct kept {
    char *bytes; /* the key, then the body */
    size_t capacity, key_size, body_size;
    uint64_t order; /* position among the added rows */
};

struct event_rows {
    size_t memory, held;
    uint64_t most, added, given;
    struct row_sort *sort; /* NULL if the rows are in the heap `kept` */
    struct kept *kept;     /* a heap; its first element is the row that comes last in the order */
    size_t count, capacity;
};

HRESULT event_rows_create(size_t memory, uint64_t most, struct event_rows **out)
{
    struct event_rows *r = memory_zero(1, sizeof *r);
    *out = NULL;
    if (!r)
        return E_OUTOFMEMORY;
    r->memory = memory;
    r->most = most;
    if (most == 0 || most > MOST_KEPT) {
        r->sort = row_sort_create(memory);
        if (!r->sort) {
            memory_free(r);
            return E_OUTOFMEMORY;
        }
    }
    *out = r;
    return S_OK;
}

static void free_kept(struct event_rows *r)
{
    for (size_t i = 0; i < r->count; i++)
        memory_free(r->kept[i].bytes);
    memory_free(r->kept);
    r->kept = NULL;
    r->count = r->capacity = r->held = 0;
}

void event_rows_free(struct event_rows *r)
{
    if (!r)
        return;
    free_kept(r);
    row_sort_free(r->sort);
    memory_free(r);
}

static struct sorted_row row_of(const struct kept *k)
{
    return (struct sorted_row){k->bytes, k->bytes + k->key_size, k->key_size, k->body_size};
}

static int compare(const struct kept *a, const struct kept *b)
{
    const struct sorted_row x = row_of(a), y = row_of(b);
    const int order = sorted_row_compare(&x, &y);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static void exchange(struct event_rows *r, size_t a, size_t b)
{
    const struct kept k = r->kept[a];
    r->kept[a] = r->kept[b];
    r->kept[b] = k;
}

static void sift_down(struct event_rows *r)
{
    for (size_t at = 0;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < r->count; child++)
            if (compare(&r->kept[child], &r->kept[last]) > 0)
                last = child;
        if (last == at)
            return;
        exchange(r, at, last);
        at = last;
    }
}

static void sift_up(struct event_rows *r, size_t at)
{
    for (; at > 0 && compare(&r->kept[at], &r->kept[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        exchange(r, at, (at - 1) / 2);
}

static int last_first(const void *a, const void *b)
{
    return compare(b, a);
}

/* Moves the rows from the heap to a sort with a scratch file. This is needed if the rows, even if they are few, exceed
   the memory. */
static HRESULT move_to_sort(struct event_rows *r)
{
    struct row_sort *sort = row_sort_create(r->memory);
    HRESULT hr = sort ? S_OK : E_OUTOFMEMORY;
    qsort(r->kept, r->count, sizeof *r->kept, last_first); /* if the move fails, the sorted rows are still a heap */
    for (size_t i = r->count; i > 0 && SUCCEEDED(hr); i--) {
        const struct sorted_row row = row_of(&r->kept[i - 1]);
        hr = row_sort_add(sort, row.key, row.key_size, row.body, row.body_size);
    }
    if (FAILED(hr)) {
        row_sort_free(sort);
        return hr;
    }
    free_kept(r);
    r->sort = sort;
    return S_OK;
}

static HRESULT kept_row_fill(struct event_rows *r, struct kept *k, const char *key, size_t key_size, const char *body,
                             size_t body_size)
{
    const size_t before = k->capacity;
    if (!memory_grow((void **)&k->bytes, &k->capacity, key_size + body_size, 1))
        return E_OUTOFMEMORY;
    r->held += k->capacity - before;
    if (key_size)
        memcpy(k->bytes, key, key_size);
    if (body_size)
        memcpy(k->bytes + key_size, body, body_size);
    k->key_size = key_size;
    k->body_size = body_size;
    k->order = r->added;
    return S_OK;
}

static HRESULT rows_keep(struct event_rows *r, const char *key, size_t key_size, const char *body, size_t body_size)
{
    if (r->count < r->most) {
        struct kept k = {0};
        if (!memory_grow((void **)&r->kept, &r->capacity, r->count + 1, sizeof *r->kept) ||
            FAILED(kept_row_fill(r, &k, key, key_size, body, body_size)))
            return E_OUTOFMEMORY;
        r->kept[r->count++] = k;
        sift_up(r, r->count - 1);
        return S_OK;
    }
    const struct sorted_row row = {key, body, key_size, body_size}, last = row_of(&r->kept[0]);
    if (sorted_row_compare(&row, &last) >= 0)
        return S_OK; /* if rows are equal, keep the earlier row */
    const HRESULT hr = kept_row_fill(r, &r->kept[0], key, key_size, body, body_size);
    if (SUCCEEDED(hr))
        sift_down(r);
    return hr;
}

HRESULT event_rows_add(struct event_rows *r, const char *key, size_t key_size, const char *body, size_t body_size)
{
    HRESULT hr = S_OK;
    if (!r->sort && r->count && r->held + key_size + body_size > r->memory)
        hr = move_to_sort(r);
    if (SUCCEEDED(hr))
        hr = r->sort ? row_sort_add(r->sort, key, key_size, body, body_size)
                     : rows_keep(r, key, key_size, body, body_size);
    if (SUCCEEDED(hr))
        r->added++;
    return hr;
}

HRESULT event_rows_finish(struct event_rows *r)
{
    if (r->sort)
        return row_sort_finish(r->sort);
    if (r->count)
        qsort(r->kept, r->count, sizeof *r->kept, last_first);
    return S_OK;
}

HRESULT event_rows_next(struct event_rows *r, struct sorted_row *out)
{
    if (r->most && r->given == r->most)
        return S_FALSE;
    HRESULT hr = S_FALSE;
    if (r->sort) {
        hr = row_sort_next(r->sort, out);
    } else if (r->given < r->count) {
        *out = row_of(&r->kept[r->count - 1 - r->given]);
        hr = S_OK;
    }
    r->given += hr == S_OK;
    return hr;
}

uint64_t event_rows_count(const struct event_rows *r)
{
    return r->added;
}
