/* SPDX-License-Identifier: MIT */
/* Sorts records. Runs of records are sorted in memory and written one after the other to a scratch file. A heap with
   one record of each run merges the runs. */
#include "engine/report/make/row_sort.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <string.h>

enum { MOST_RUNS = 4096, READ_BLOCK = 0x8000, LEAST_BLOCK = 0x1000 };
#define LARGEST_RECORD 0x7FFFFFFFu

/* Head of a record in memory. The record's key and body follow it. */
struct head {
    uint32_t key_size, body_size;
};

/* A run that is being read back. */
struct run {
    uint64_t at, end; /* the part of the file that is not in the buffer yet */
    char *buffer;
    size_t begin, filled, capacity;
    struct sorted_row row; /* the next record */
};

struct row_sort {
    size_t memory;
    char *records; /* the records one after the other; each has a head, a key and a body */
    size_t used, capacity;
    size_t *places; /* offsets of the records */
    size_t count, place_capacity;
    size_t *other; /* second array of the merge sort */
    size_t other_capacity;
    size_t taken; /* records returned so far, if there is no file */
    struct file *file;
    uint64_t written;
    struct run *runs;
    size_t run_count, run_capacity;
    size_t *heap, heap_capacity; /* runs that still have a record; the run with the smallest record is first */
    size_t heap_count;
    bool started; /* the first record of the heap has been returned, so the next call first advances the run of this
                     record */
};

struct row_sort *row_sort_create(size_t memory)
{
    struct row_sort *s = memory_zero(1, sizeof *s);
    if (s)
        s->memory = memory;
    return s;
}

void row_sort_free(struct row_sort *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->run_count; i++)
        memory_free(s->runs[i].buffer);
    memory_free(s->runs);
    memory_free(s->heap);
    memory_free(s->records);
    memory_free(s->places);
    memory_free(s->other);
    file_close(s->file);
    memory_free(s);
}

int sorted_row_compare(const struct sorted_row *a, const struct sorted_row *b)
{
    const size_t least = a->key_size < b->key_size ? a->key_size : b->key_size;
    const int order = memcmp(a->key, b->key, least);
    return order != 0 ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static struct sorted_row row_at(const char *record)
{
    struct head head;
    memcpy(&head, record, sizeof head);
    return (struct sorted_row){record + sizeof head, record + sizeof head + head.key_size, head.key_size,
                               head.body_size};
}

/* ---- in memory ---- */

static bool in_order(const struct row_sort *s, size_t a, size_t b)
{
    const struct sorted_row x = row_at(s->records + a), y = row_at(s->records + b);
    return sorted_row_compare(&x, &y) <= 0;
}

static void merge(const struct row_sort *s, const size_t *from, size_t *to, size_t begin, size_t middle, size_t end)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++)
        to[i] = b == end || (a < middle && in_order(s, from[a], from[b])) ? from[a++] : from[b++];
}

/* Sorts the records with a bottom-up merge sort: no order of the records makes it slow, and equal records keep their
   order. */
static HRESULT sort_places(struct row_sort *s)
{
    if (!memory_grow((void **)&s->other, &s->other_capacity, s->count, sizeof *s->other))
        return E_OUTOFMEMORY;
    for (size_t width = 1; width < s->count; width *= 2) {
        for (size_t begin = 0; begin < s->count; begin += 2 * width) {
            const size_t middle = begin + width < s->count ? begin + width : s->count;
            const size_t end = middle + width < s->count ? middle + width : s->count;
            merge(s, s->places, s->other, begin, middle, end);
        }
        size_t *sorted = s->other;
        const size_t capacity = s->other_capacity;
        s->other = s->places;
        s->other_capacity = s->place_capacity;
        s->places = sorted;
        s->place_capacity = capacity;
    }
    return S_OK;
}

/* ---- writing runs to the file ---- */

static HRESULT write_run(struct row_sort *s)
{
    struct text_buffer block = {0};
    HRESULT hr = s->file ? S_OK : file_open_scratch(&s->file);
    if (SUCCEEDED(hr))
        hr = sort_places(s);
    if (SUCCEEDED(hr) && s->run_count == MOST_RUNS)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                       "too many rows to sort: more than %d runs of %zu bytes", MOST_RUNS, s->memory);
    if (SUCCEEDED(hr) && !memory_grow((void **)&s->runs, &s->run_capacity, s->run_count + 1, sizeof *s->runs))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        s->runs[s->run_count] = (struct run){.at = s->written};
    for (size_t i = 0; i < s->count && SUCCEEDED(hr); i++) {
        const struct sorted_row row = row_at(s->records + s->places[i]);
        text_buffer_add_n(&block, s->records + s->places[i], sizeof(struct head) + row.key_size + row.body_size);
        if (block.failed) {
            hr = E_OUTOFMEMORY;
        } else if (block.length >= READ_BLOCK || i + 1 == s->count) {
            hr = file_write(s->file, block.text, block.length);
            s->written += block.length;
            block.length = 0;
        }
    }
    text_buffer_free(&block);
    if (FAILED(hr))
        return hr;
    s->runs[s->run_count++].end = s->written;
    s->used = s->count = 0;
    return S_OK;
}

HRESULT row_sort_add(struct row_sort *s, const void *key, size_t key_size, const void *body, size_t body_size)
{
    const size_t size = sizeof(struct head) + key_size + body_size;
    const struct head head = {(uint32_t)key_size, (uint32_t)body_size};
    HRESULT hr = S_OK;
    if (key_size > LARGEST_RECORD || body_size > LARGEST_RECORD - key_size)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "a row is too long: %llu bytes",
                         (unsigned long long)size);
    if (s->count && s->used + size + (s->count + 1) * 2 * sizeof *s->places > s->memory)
        hr = write_run(s);
    if (FAILED(hr))
        return hr;
    if (!memory_grow((void **)&s->records, &s->capacity, s->used + size, 1) ||
        !memory_grow((void **)&s->places, &s->place_capacity, s->count + 1, sizeof *s->places))
        return E_OUTOFMEMORY;
    char *to = s->records + s->used;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, key, key_size);
    memcpy(to + sizeof head + key_size, body, body_size);
    s->places[s->count++] = s->used;
    s->used += size;
    return S_OK;
}

/* ---- merging the runs ---- */

/* Returns the number of bytes to read from a run in one call, so that the buffers of all runs stay within the memory
   limit. */
static size_t block_of(const struct row_sort *s)
{
    const size_t share = s->memory / s->run_count;
    return share < LEAST_BLOCK ? LEAST_BLOCK : share < READ_BLOCK ? share : READ_BLOCK;
}

/* Reads until the buffer contains at least `size` bytes of the run, counted from r->begin. */
static HRESULT run_fill(struct row_sort *s, struct run *r, size_t size)
{
    if (r->filled - r->begin >= size)
        return S_OK;
    const size_t rest = r->filled - r->begin, block = block_of(s), need = size > block ? size : block;
    if (rest)
        memmove(r->buffer, r->buffer + r->begin, rest);
    r->begin = 0;
    r->filled = rest;
    if (!memory_grow((void **)&r->buffer, &r->capacity, need, 1))
        return E_OUTOFMEMORY;
    size_t want = r->capacity - rest, got = 0;
    if (want > r->end - r->at)
        want = (size_t)(r->end - r->at);
    HRESULT hr = file_read_at(s->file, r->at, r->buffer + rest, want, &got);
    if (FAILED(hr))
        return hr;
    r->at += got;
    r->filled += got;
    return r->filled >= size
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the scratch file was truncated by another program");
}

/* Reads the run's next record; returns S_FALSE after the last record. */
static HRESULT run_next_record(struct row_sort *s, struct run *r)
{
    struct head head;
    if (r->begin == r->filled && r->at == r->end)
        return S_FALSE;
    HRESULT hr = run_fill(s, r, sizeof head);
    if (FAILED(hr))
        return hr;
    memcpy(&head, r->buffer + r->begin, sizeof head);
    const size_t size = sizeof head + head.key_size + head.body_size;
    hr = run_fill(s, r, size);
    if (FAILED(hr))
        return hr;
    r->row = row_at(r->buffer + r->begin);
    r->begin += size;
    return S_OK;
}

/* If two runs have records with the same key, the record of the earlier run comes first. */
static bool run_before(const struct row_sort *s, size_t a, size_t b)
{
    const int order = sorted_row_compare(&s->runs[a].row, &s->runs[b].row);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct row_sort *s)
{
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->heap_count; child++)
            if (run_before(s, s->heap[child], s->heap[least]))
                least = child;
        if (least == at)
            return;
        const size_t moved = s->heap[at];
        s->heap[at] = s->heap[least];
        s->heap[least] = moved;
        at = least;
    }
}

static void sift_up(struct row_sort *s, size_t at)
{
    for (; at > 0 && run_before(s, s->heap[at], s->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        const size_t moved = s->heap[at];
        s->heap[at] = s->heap[(at - 1) / 2];
        s->heap[(at - 1) / 2] = moved;
    }
}

HRESULT row_sort_finish(struct row_sort *s)
{
    if (!s->file)
        return sort_places(s);
    HRESULT hr = s->count ? write_run(s) : S_OK;
    if (SUCCEEDED(hr) && !memory_grow((void **)&s->heap, &s->heap_capacity, s->run_count, sizeof *s->heap))
        hr = E_OUTOFMEMORY;
    memory_free(s->records);
    s->records = NULL;
    s->capacity = 0;
    for (size_t i = 0; i < s->run_count && SUCCEEDED(hr); i++) {
        hr = run_next_record(s, &s->runs[i]);
        if (hr == S_OK) {
            s->heap[s->heap_count++] = i;
            sift_up(s, s->heap_count - 1);
        }
    }
    return FAILED(hr) ? hr : S_OK;
}

HRESULT row_sort_next(struct row_sort *s, struct sorted_row *out)
{
    if (!s->file) {
        if (s->taken == s->count)
            return S_FALSE;
        *out = row_at(s->records + s->places[s->taken++]);
        return S_OK;
    }
    if (s->started) {
        HRESULT hr = run_next_record(s, &s->runs[s->heap[0]]);
        if (FAILED(hr))
            return hr;
        if (hr == S_FALSE)
            s->heap[0] = s->heap[--s->heap_count];
        sift_down(s);
    }
    s->started = s->heap_count > 0;
    if (!s->heap_count)
        return S_FALSE;
    *out = s->runs[s->heap[0]].row;
    return S_OK;
}
