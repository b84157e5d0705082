/* SPDX-License-Identifier: MIT */
/* The line of ended segments. */
#include "engine/pla/run/ended_segments.h"

#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/run/segment_tasks.h"

#define FOR_EVER UINT32_MAX

struct note {
    struct error_kept what;
    struct note *next;
};

struct ended_segments {
    run_compile work;
    struct run_section *section;
    struct thread *thread;
    struct host_lock lock;
    struct thread_condition changed;
    struct ended_segment *waiting, *done; /* each in the order of the segments */
    struct note *notes;                   /* the newest first */
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
    e->space = r->space;
    e->name = r->name;
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

/* One that memory is out for is lost; the event is not. */
static void take_note(void *user, HRESULT hr, const char *text)
{
    struct ended_segments *q = user;
    struct note *n = memory_zero(1, sizeof *n);
    if (!n)
        return;
    n->what.hr = hr;
    text_fit(n->what.text, sizeof n->what.text, text);
    host_lock_enter(&q->lock);
    n->next = q->notes;
    q->notes = n;
    host_lock_leave(&q->lock);
    run_section_wake(q->section);
}

bool ended_segments_note(struct ended_segments *q, struct error_kept *out)
{
    host_lock_enter(&q->lock);
    struct note *n = q->notes;
    if (n)
        q->notes = n->next;
    host_lock_leave(&q->lock);
    if (n)
        *out = n->what;
    memory_free(n);
    return n != NULL;
}

static void work_on(struct ended_segments *q, struct ended_segment *e, struct segment_tasks *tasks)
{
    e->failure = error_keep(e->managed ? q->work(e) : S_OK);
    tasks->space = e->space;
    tasks->set = e->name;
    if (e->set->Task[0])
        segment_tasks_start(tasks, e);
}

/* With the lock; given up while there is work. */
static void work_off_line(struct ended_segments *q, struct segment_tasks *tasks)
{
    for (struct ended_segment *e; (e = take_first(&q->waiting));) {
        q->busy = true;
        host_lock_leave(&q->lock);
        work_on(q, e, tasks);
        host_lock_enter(&q->lock);
        append(&q->done, e);
        run_section_wake(q->section);
    }
}

static void work_off(void *user)
{
    struct ended_segments *q = user;
    struct segment_tasks tasks = {.note = take_note, .user = q};
    bool at_work = false;
    host_lock_enter(&q->lock);
    do {
        work_off_line(q, &tasks);
        host_lock_leave(&q->lock);
        at_work = segment_tasks_look(&tasks);
        host_lock_enter(&q->lock);
        if (q->waiting)
            continue;
        q->busy = at_work;
        thread_condition_wake(&q->changed);
        if (!q->closing)
            thread_condition_wait(&q->changed, &q->lock, at_work ? SEGMENT_TASK_LOOK_MS : FOR_EVER);
    } while (q->waiting || !q->closing);
    host_lock_leave(&q->lock);
    segment_tasks_let_go(&tasks);
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
    for (struct error_kept note; ended_segments_note(q, &note);)
        continue;
    memory_free(q);
}
