/* SPDX-License-Identifier: MIT */
/* Pairs events. EqualJoin pairs events with equal values. Transactions pair start events with end events of the same
   thread. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/report/events/event_sink.h"
#include "engine/report/make/row_sort.h"

#include <string.h>

struct event_join {
    struct row_sort *sort; /* sorted by value and side */
    size_t memory;
    uint64_t most, pairs;
    struct text_buffer key;
    struct text_buffer value;  /* the value that the events in `bodies` share */
    struct text_buffer bodies; /* the events of side 0 that have this value, each preceded by its size */
    uint64_t kept;             /* events in `bodies` */
};

HRESULT event_join_create(size_t memory, uint64_t most, struct event_join **out)
{
    struct event_join *j = memory_zero(1, sizeof *j);
    *out = NULL;
    if (j)
        j->sort = row_sort_create(memory);
    if (!j || !j->sort) {
        memory_free(j);
        return E_OUTOFMEMORY;
    }
    j->memory = memory;
    j->most = most;
    *out = j;
    return S_OK;
}

void event_join_free(struct event_join *j)
{
    if (!j)
        return;
    row_sort_free(j->sort);
    text_buffer_free(&j->key);
    text_buffer_free(&j->value);
    text_buffer_free(&j->bodies);
    memory_free(j);
}

HRESULT event_join_add(struct event_join *j, unsigned side, const struct event_cell *value, const char *body,
                       size_t size)
{
    struct event_cell plain = *value;
    const char which = (char)side;
    if (value->kind == CELL_EMPTY)
        return S_OK;
    if (event_cell_is_number(value)) { /* ignore the displayed form: one event may format the number as an address,
                                          and another as digits */
        plain.text = NULL;
        plain.length = 0;
    }
    j->key.length = 0;
    event_cell_pack(&plain, &j->key);
    text_buffer_add_n(&j->key, &which, 1);
    return j->key.failed ? E_OUTOFMEMORY : row_sort_add(j->sort, j->key.text, j->key.length, body, size);
}

static bool has_value(const struct event_join *j, const struct sorted_row *row)
{
    return j->value.length == row->key_size - 1 && memcmp(j->value.text, row->key, j->value.length) == 0;
}

/* Returns false if there is no space for the row. */
static bool join_keep_row(struct event_join *j, const struct sorted_row *row)
{
    const size_t size = row->body_size;
    if (!has_value(j, row)) {
        j->value.length = j->bodies.length = 0;
        j->kept = 0;
        text_buffer_add_n(&j->value, row->key, row->key_size - 1);
    }
    if (j->bodies.length && j->bodies.length + size + sizeof size > j->memory)
        return false;
    text_buffer_add_n(&j->bodies, (const char *)&size, sizeof size);
    text_buffer_add_n(&j->bodies, row->body, size);
    j->kept++;
    return true;
}

/* Pairs an event of side 1 with each event of side 0 that has the same value. Pairs beyond the limit are only counted.
   If all events of two kinds have the same value, passing all pairs to `take` could take forever. */
static HRESULT join_give_pairs(struct event_join *j, const struct sorted_row *row, event_join_take *take, void *context,
                               uint64_t *omitted)
{
    const uint64_t room = j->most - j->pairs, given = j->kept < room ? j->kept : room;
    const char *at = j->bodies.text;
    HRESULT hr = S_OK;
    for (uint64_t i = 0; i < given && SUCCEEDED(hr); i++) {
        size_t size;
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        hr = take(context, (const char *const[2]){at, row->body});
        at += size;
    }
    j->pairs += given;
    *omitted += j->kept - given;
    return hr;
}

HRESULT event_join_pairs(struct event_join *j, event_join_take *take, HRESULT (*go_on)(void *context), void *context,
                         uint64_t *omitted)
{
    struct sorted_row row;
    HRESULT hr = row_sort_finish(j->sort);
    *omitted = 0;
    j->value.length = j->bodies.length = 0;
    j->kept = 0;
    text_buffer_add(&j->value, "");
    while (SUCCEEDED(hr) && SUCCEEDED(hr = go_on(context)) && (hr = row_sort_next(j->sort, &row)) == S_OK) {
        if (row.key[row.key_size - 1] == 0)
            *omitted += !join_keep_row(j, &row);
        else if (has_value(j, &row))
            hr = join_give_pairs(j, &row, take, context, omitted);
        if (SUCCEEDED(hr) && (j->value.failed || j->bodies.failed))
            hr = E_OUTOFMEMORY;
    }
    return FAILED(hr) ? hr : S_OK;
}

enum { FEW_THREADS = 64 };

struct open_one {
    struct event_moment moment;
    char *body;
    size_t size;
};
struct thread {
    uint32_t id;
    bool used;
    struct open_one *open;
    size_t count, capacity;
};

struct event_transactions {
    size_t memory, held;
    struct thread *threads; /* hash table by id; if a slot is in use, the next free slot is used */
    size_t thread_count, places;
    struct event_transaction_counts counts;
    char *given;
};

HRESULT event_transactions_create(size_t memory, struct event_transactions **out)
{
    struct event_transactions *t = memory_zero(1, sizeof *t);
    *out = t;
    if (!t)
        return E_OUTOFMEMORY;
    t->memory = memory;
    return S_OK;
}

static void thread_drop_open(struct event_transactions *t, struct thread *thread, size_t at)
{
    t->held -= thread->open[at].size;
    memory_free(thread->open[at].body);
    memmove(thread->open + at, thread->open + at + 1, (thread->count - at - 1) * sizeof *thread->open);
    thread->count--;
}

void event_transactions_free(struct event_transactions *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->places; i++) {
        while (t->threads[i].count)
            thread_drop_open(t, &t->threads[i], t->threads[i].count - 1);
        memory_free(t->threads[i].open);
    }
    memory_free(t->threads);
    memory_free(t->given);
    memory_free(t);
}

static struct thread *thread_slot(struct thread *threads, size_t places, uint32_t id)
{
    size_t at = (size_t)(hash_bytes(HASH_START, &id, sizeof id) >> 20) & (places - 1);
    while (threads[at].used && threads[at].id != id)
        at = (at + 1) & (places - 1);
    return &threads[at];
}

static struct thread *find(const struct event_transactions *t, uint32_t id)
{
    struct thread *thread = t->places ? thread_slot(t->threads, t->places, id) : NULL;
    return thread && thread->used ? thread : NULL;
}

static struct thread *thread_ensure(struct event_transactions *t, uint32_t id)
{
    struct thread *thread = find(t, id);
    if (thread)
        return thread;
    if (2 * (t->thread_count + 1) > t->places) {
        const size_t places = t->places ? 2 * t->places : FEW_THREADS;
        struct thread *threads = memory_zero(places, sizeof *threads);
        if (!threads)
            return NULL;
        for (size_t i = 0; i < t->places; i++)
            if (t->threads[i].used)
                *thread_slot(threads, places, t->threads[i].id) = t->threads[i];
        memory_free(t->threads);
        t->held += (places - t->places) * sizeof *threads;
        t->threads = threads;
        t->places = places;
    }
    thread = thread_slot(t->threads, t->places, id);
    *thread = (struct thread){.id = id, .used = true};
    t->thread_count++;
    return thread;
}

HRESULT event_transactions_begin(struct event_transactions *t, const struct event_moment *begin, const char *body,
                                 size_t size)
{
    if (t->held + size + sizeof(struct open_one) > t->memory) {
        t->counts.refused++;
        return S_OK;
    }
    struct thread *thread = thread_ensure(t, begin->thread);
    const size_t before = thread ? thread->capacity : 0;
    if (!thread || !memory_grow((void **)&thread->open, &thread->capacity, thread->count + 1, sizeof *thread->open))
        return E_OUTOFMEMORY;
    /* Count the array even when it becomes empty again, because it is freed only at the end. */
    t->held += (thread->capacity - before) * sizeof *thread->open;
    char *copy = memory_copy(body, size);
    if (!copy)
        return E_OUTOFMEMORY;
    thread->open[thread->count++] = (struct open_one){*begin, copy, size};
    t->held += size;
    return S_OK;
}

HRESULT event_transactions_end(struct event_transactions *t, const struct event_moment *end, struct event_moment *begin,
                               const char **body, size_t *size)
{
    struct thread *thread = find(t, end->thread);
    size_t at = thread ? thread->count : 0;
    while (at > 0 && thread->open[at - 1].moment.kind != end->kind)
        at--;
    if (at == 0) {
        t->counts.unbegun++;
        return S_FALSE;
    }
    struct open_one *o = &thread->open[at - 1];
    memory_free(t->given);
    *begin = o->moment;
    *size = o->size;
    *body = t->given = o->body;
    o->body = NULL;
    thread_drop_open(t, thread, at - 1);
    return S_OK;
}

void event_transactions_close(struct event_transactions *t, uint32_t thread)
{
    struct thread *of = find(t, thread);
    while (of && of->count) {
        thread_drop_open(t, of, of->count - 1);
        t->counts.unfinished++;
    }
}

struct event_transaction_counts event_transactions_counts(const struct event_transactions *t)
{
    struct event_transaction_counts counts = t->counts;
    for (size_t i = 0; i < t->places; i++)
        counts.unfinished += t->threads[i].count;
    return counts;
}
