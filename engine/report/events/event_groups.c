/* SPDX-License-Identifier: MIT */
/* Implements groups as a hash table whose entries are in blocks. When the table is full, its entries are added to an
   external sort by key (row_sort.h), and the table is emptied. Therefore the sort can contain several entries with the
   same key. These entries are adjacent when they are read. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/report/events/event_sink.h"
#include "engine/report/make/row_sort.h"

#include <string.h>

enum { BLOCK = 64 * 1024, FEW_BUCKETS = 1024 };

/* Is followed in memory by the entry's sums, key and first cells. */
struct entry {
    struct entry *next; /* next entry of the bucket */
    uint64_t hash, order, events;
    uint32_t key_size, first_size;
};

struct block {
    struct block *next;
    size_t used, size;
};

struct event_groups {
    size_t memory, sums;
    struct entry **buckets;
    size_t bucket_count, count; /* the number of buckets is a power of two */
    struct block *blocks, *last;
    size_t held; /* bytes of blocks and buckets */
    uint64_t added;
    struct row_sort *parts; /* NULL if all groups have fitted into memory so far */
    struct text_buffer body;
    struct block *at; /* for reading from memory: the block of the next entry */
    size_t at_byte;
    struct sorted_row ahead; /* for reading from the sort: the next record */
    bool has_ahead;
    struct text_buffer key, first; /* key and first cells of the returned group */
};

/* Returns the size of an entry, rounded up so that entries in a block are aligned for every type. */
static size_t entry_size(const struct event_groups *g, size_t key_size, size_t first_size)
{
    const size_t size = sizeof(struct entry) + g->sums * sizeof(struct event_sum) + key_size + first_size;
    return (size + 15) & ~(size_t)15;
}

static struct event_sum *sums_of(const struct entry *e)
{
    return (struct event_sum *)(void *)((char *)(uintptr_t)e + sizeof *e);
}

static char *key_of(const struct event_groups *g, const struct entry *e)
{
    return (char *)(sums_of(e) + g->sums);
}

HRESULT event_groups_create(size_t memory, size_t sums, struct event_groups **out)
{
    struct event_groups *g = memory_zero(1, sizeof *g);
    *out = NULL;
    if (!g || sums > EVENT_GROUP_SUMS) {
        memory_free(g);
        return g ? error_set(E_INVALIDARG, "too many sums in a table: %zu (at most %d)", sums, EVENT_GROUP_SUMS)
                 : E_OUTOFMEMORY;
    }
    g->memory = memory;
    g->sums = sums;
    *out = g;
    return S_OK;
}

static void free_blocks(struct event_groups *g)
{
    for (struct block *b = g->blocks, *next; b; b = next) {
        next = b->next;
        memory_free(b);
    }
    g->blocks = g->last = NULL;
    memory_free(g->buckets);
    g->buckets = NULL;
    g->bucket_count = g->count = g->held = 0;
}

void event_groups_free(struct event_groups *g)
{
    if (!g)
        return;
    free_blocks(g);
    row_sort_free(g->parts);
    text_buffer_free(&g->body);
    text_buffer_free(&g->key);
    text_buffer_free(&g->first);
    memory_free(g);
}

/* ---- in memory ---- */

static bool grow_buckets(struct event_groups *g)
{
    const size_t count = g->bucket_count ? 2 * g->bucket_count : FEW_BUCKETS;
    struct entry **buckets = memory_zero(count, sizeof(struct entry *));
    if (!buckets)
        return false;
    for (size_t i = 0; i < g->bucket_count; i++)
        for (struct entry *e = g->buckets[i], *next; e; e = next) {
            struct entry **to = &buckets[(e->hash >> 20) & (count - 1)];
            next = e->next;
            e->next = *to;
            *to = e;
        }
    memory_free(g->buckets);
    g->buckets = buckets;
    g->held += (count - g->bucket_count) * sizeof(struct entry *);
    g->bucket_count = count;
    return true;
}

static struct entry *entry_find(const struct event_groups *g, uint64_t hash, const char *key, size_t key_size)
{
    struct entry *e = g->bucket_count ? g->buckets[(hash >> 20) & (g->bucket_count - 1)] : NULL;
    while (e && (e->hash != hash || e->key_size != key_size || memcmp(key_of(g, e), key, key_size) != 0))
        e = e->next;
    return e;
}

static struct block *block_reserve(struct event_groups *g, size_t size)
{
    struct block *b = g->last;
    const size_t head = (sizeof *b + 15) & ~(size_t)15;
    if (b && b->size - b->used >= size)
        return b;
    const size_t whole = size > BLOCK - head ? head + size : BLOCK;
    b = memory_alloc(whole);
    if (!b)
        return NULL;
    *b = (struct block){NULL, head, whole};
    if (g->last)
        g->last->next = b;
    else
        g->blocks = b;
    g->last = b;
    g->held += whole;
    return b;
}

static struct entry *entry_create(struct event_groups *g, uint64_t hash, const char *key, size_t key_size,
                                  const char *first, size_t first_size)
{
    const size_t size = entry_size(g, key_size, first_size);
    struct block *b = g->count < g->bucket_count || grow_buckets(g) ? block_reserve(g, size) : NULL;
    if (!b)
        return NULL;
    struct entry *e = (struct entry *)(void *)((char *)b + b->used);
    b->used += size;
    struct entry **bucket = &g->buckets[(hash >> 20) & (g->bucket_count - 1)];
    *e = (struct entry){*bucket, hash, g->added, 0, (uint32_t)key_size, (uint32_t)first_size};
    memset(sums_of(e), 0, g->sums * sizeof(struct event_sum));
    memcpy(key_of(g, e), key, key_size);
    if (first_size)
        memcpy(key_of(g, e) + key_size, first, first_size);
    *bucket = e;
    g->count++;
    return e;
}

/* ---- writing to the sort ---- */

static HRESULT spill_entry(struct event_groups *g, const struct entry *e)
{
    struct text_buffer *b = &g->body;
    b->length = 0;
    text_buffer_add_n(b, (const char *)&e->order, sizeof e->order);
    text_buffer_add_n(b, (const char *)&e->events, sizeof e->events);
    text_buffer_add_n(b, (const char *)sums_of(e), g->sums * sizeof(struct event_sum));
    text_buffer_add_n(b, key_of(g, e) + e->key_size, e->first_size);
    return b->failed ? E_OUTOFMEMORY : row_sort_add(g->parts, key_of(g, e), e->key_size, b->text, b->length);
}

/* Returns the next entry in memory, or NULL. */
static struct entry *next_entry(struct event_groups *g)
{
    while (g->at && g->at_byte >= g->at->used) {
        g->at = g->at->next;
        g->at_byte = (sizeof *g->at + 15) & ~(size_t)15;
    }
    if (!g->at)
        return NULL;
    struct entry *e = (struct entry *)(void *)((char *)g->at + g->at_byte);
    g->at_byte += entry_size(g, e->key_size, e->first_size);
    return e;
}

static void rewind_entries(struct event_groups *g)
{
    g->at = g->blocks;
    g->at_byte = (sizeof *g->at + 15) & ~(size_t)15;
}

static HRESULT groups_spill(struct event_groups *g)
{
    HRESULT hr = S_OK;
    if (!g->parts)
        g->parts = row_sort_create(g->memory / 2);
    if (!g->parts)
        return E_OUTOFMEMORY;
    rewind_entries(g);
    for (const struct entry *e; SUCCEEDED(hr) && (e = next_entry(g)) != NULL;)
        hr = spill_entry(g, e);
    if (SUCCEEDED(hr))
        free_blocks(g);
    return hr;
}

HRESULT event_groups_add(struct event_groups *g, const char *key, size_t key_size, const char *first, size_t first_size,
                         const struct event_cell *cells)
{
    const uint64_t hash = hash_bytes(HASH_START, key, key_size);
    struct entry *e = entry_find(g, hash, key, key_size);
    HRESULT hr = S_OK;
    if (key_size > UINT32_MAX / 2 || first_size > UINT32_MAX / 2)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "a key is too long: %zu bytes", key_size);
    if (!e && g->count && g->held + entry_size(g, key_size, first_size) > g->memory / 2)
        hr = groups_spill(g);
    if (SUCCEEDED(hr) && !e)
        e = entry_create(g, hash, key, key_size, first, first_size);
    if (FAILED(hr) || !e)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    e->events++;
    g->added++;
    for (size_t i = 0; i < g->sums; i++)
        event_sum_add(&sums_of(e)[i], &cells[i]);
    return S_OK;
}

/* ---- reading the groups ---- */

static HRESULT look_ahead(struct event_groups *g)
{
    const HRESULT hr = row_sort_next(g->parts, &g->ahead);
    g->has_ahead = hr == S_OK;
    return hr;
}

HRESULT event_groups_finish(struct event_groups *g)
{
    if (!g->parts) {
        if (g->blocks)
            rewind_entries(g);
        return S_OK;
    }
    HRESULT hr = g->count ? groups_spill(g) : S_OK;
    if (SUCCEEDED(hr))
        hr = row_sort_finish(g->parts);
    if (SUCCEEDED(hr))
        hr = look_ahead(g);
    return FAILED(hr) ? hr : S_OK;
}

static void add_part(struct event_groups *g, struct event_group *out, bool begins)
{
    const char *at = g->ahead.body;
    uint64_t order, events;
    struct event_sum sum;
    memcpy(&order, at, sizeof order);
    memcpy(&events, at + sizeof order, sizeof events);
    at += sizeof order + sizeof events;
    if (begins) {
        out->order = order;
        out->events = 0;
    }
    out->events += events;
    for (size_t i = 0; i < g->sums; i++, at += sizeof sum) {
        memcpy(&sum, at, sizeof sum);
        if (begins)
            out->sums[i] = sum;
        else
            event_sum_merge(&out->sums[i], &sum);
    }
    if (begins) {
        g->first.length = 0;
        text_buffer_add_n(&g->first, at, (size_t)(g->ahead.body + g->ahead.body_size - at));
    }
}

HRESULT event_groups_next(struct event_groups *g, struct event_group *out)
{
    if (!g->parts) {
        const struct entry *e = next_entry(g);
        if (!e)
            return S_FALSE;
        out->key = key_of(g, e);
        out->key_size = e->key_size;
        out->first = out->key + e->key_size;
        out->first_size = e->first_size;
        out->order = e->order;
        out->events = e->events;
        memcpy(out->sums, sums_of(e), g->sums * sizeof(struct event_sum));
        return S_OK;
    }
    if (!g->has_ahead)
        return S_FALSE;
    HRESULT hr = S_OK;
    g->key.length = 0;
    text_buffer_add_n(&g->key, g->ahead.key, g->ahead.key_size);
    add_part(g, out, true);
    while (SUCCEEDED(hr = look_ahead(g)) && g->has_ahead && g->ahead.key_size == g->key.length &&
           (g->key.length == 0 || memcmp(g->ahead.key, g->key.text, g->key.length) == 0))
        add_part(g, out, false);
    if (FAILED(hr) || g->key.failed || g->first.failed)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    out->key = g->key.text;
    out->key_size = g->key.length;
    out->first = g->first.text;
    out->first_size = g->first.length;
    return S_OK;
}
