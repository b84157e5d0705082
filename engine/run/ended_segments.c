/* SPDX-License-Identifier: MIT */
/* The line of ended segments. */
#include "engine/run/ended_segments.h"

#include "engine/os/memory.h"
#include "engine/os/thread.h"

#define FOR_EVER UINT32_MAX

struct ended_segments {
    run_compile work;
    struct run_section *section;
    struct thread *thread;
    struct host_lock lock;
    struct thread_condition changed;
    struct ended_segment *waiting, *done; /* each in the order of the segments */
    bool busy, closing;
};

void ended_segment_free(struct ended_segment *e)
{
    if (!e)
        return;
    object_release(&e->set->object);
    memory_free(e->location);
    texts_free(&e->files);
    memory_free(e);
}

HRESULT ended_segment_create(const struct run_set *r, const struct segment *s, struct ended_segment **out)
{
    struct ended_segment *e = memory_zero(1, sizeof *e);
    if (!e)
        return E_OUTOFMEMORY;
    e->set = set_of(object_reference(&r->set->object));
    e->serial_number = s->serial_number;
    e->location = text_copy(s->location);
    HRESULT hr = e->location ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
        hr = texts_add(&e->files, s->members[i].file);
    if (FAILED(hr)) {
        ended_segment_free(e);
        return hr;
    }
    *out = e;
    return S_OK;
}

static void append(struct ended_segment **line, struct ended_segment *e)
{
    e->next = NULL;
    while (*line)
        line = &(*line)->next;
    *line = e;
}

static struct ended_segment *take_first(struct ended_segment **line)
{
    struct ended_segment *first = *line;
    if (first)
        *line = first->next;
    return first;
}

static void work_off(void *user)
{
    struct ended_segments *q = user;
    host_lock_enter(&q->lock);
    for (;;) {
        struct ended_segment *e = take_first(&q->waiting);
        q->busy = e != NULL;
        if (!e) {
            thread_condition_wake(&q->changed);
            if (q->closing)
                break;
            thread_condition_wait(&q->changed, &q->lock, FOR_EVER);
            continue;
        }
        host_lock_leave(&q->lock);
        e->failure = error_keep(q->work(e));
        host_lock_enter(&q->lock);
        append(&q->done, e);
        run_section_wake(q->section);
    }
    host_lock_leave(&q->lock);
}

HRESULT ended_segments_create(run_compile work, struct run_section *section, struct ended_segments **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->work = work;
    (*out)->section = section;
    return S_OK;
}

HRESULT ended_segments_add(struct ended_segments *q, struct ended_segment *e)
{
    HRESULT hr = q->thread ? S_OK : thread_start(work_off, q, &q->thread);
    if (FAILED(hr))
        return hr;
    host_lock_enter(&q->lock);
    append(&q->waiting, e);
    q->busy = true;
    thread_condition_wake(&q->changed);
    host_lock_leave(&q->lock);
    return S_OK;
}

struct ended_segment *ended_segments_take(struct ended_segments *q)
{
    host_lock_enter(&q->lock);
    struct ended_segment *e = take_first(&q->done);
    host_lock_leave(&q->lock);
    return e;
}

void ended_segments_wait(struct ended_segments *q)
{
    host_lock_enter(&q->lock);
    while (q->busy)
        thread_condition_wait(&q->changed, &q->lock, FOR_EVER);
    host_lock_leave(&q->lock);
}

void ended_segments_close(struct ended_segments *q)
{
    if (!q)
        return;
    host_lock_enter(&q->lock);
    q->closing = true;
    thread_condition_wake(&q->changed);
    host_lock_leave(&q->lock);
    if (q->thread) {
        thread_wait(q->thread, FOR_EVER);
        thread_close(q->thread);
    }
    for (struct ended_segment *e; (e = take_first(&q->done));)
        ended_segment_free(e);
    memory_free(q);
}
