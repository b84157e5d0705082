/* SPDX-License-Identifier: MIT */
#include "engine/report/events/event_transactions.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"

#include <string.h>

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
    struct thread *threads; /* by their ids, the next free place for one whose place is taken */
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

static void drop(struct event_transactions *t, struct thread *thread, size_t at)
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
            drop(t, &t->threads[i], t->threads[i].count - 1);
        memory_free(t->threads[i].open);
    }
    memory_free(t->threads);
    memory_free(t->given);
    memory_free(t);
}

static struct thread *place(struct thread *threads, size_t places, uint32_t id)
{
    size_t at = (size_t)(hash_bytes(HASH_START, &id, sizeof id) >> 20) & (places - 1);
    while (threads[at].used && threads[at].id != id)
        at = (at + 1) & (places - 1);
    return &threads[at];
}

static struct thread *find(const struct event_transactions *t, uint32_t id)
{
    struct thread *thread = t->places ? place(t->threads, t->places, id) : NULL;
    return thread && thread->used ? thread : NULL;
}

static struct thread *make(struct event_transactions *t, uint32_t id)
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
                *place(threads, places, t->threads[i].id) = t->threads[i];
        memory_free(t->threads);
        t->held += (places - t->places) * sizeof *threads;
        t->threads = threads;
        t->places = places;
    }
    thread = place(t->threads, t->places, id);
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
    struct thread *thread = make(t, begin->thread);
    const size_t before = thread ? thread->capacity : 0;
    if (!thread || !memory_grow((void **)&thread->open, &thread->capacity, thread->count + 1, sizeof *thread->open))
        return E_OUTOFMEMORY;
    t->held += (thread->capacity - before) * sizeof *thread->open; /* a thread keeps its room when nothing is open */
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
    drop(t, thread, at - 1);
    return S_OK;
}

void event_transactions_close(struct event_transactions *t, uint32_t thread)
{
    struct thread *of = find(t, thread);
    while (of && of->count) {
        drop(t, of, of->count - 1);
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
