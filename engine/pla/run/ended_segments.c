/* SPDX-License-Identifier: MIT */
/* The queue of ended segments, and the tasks that are started after each segment. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/settings.h"
#include "engine/pla/task.h"

#include <string.h>

#define FOR_EVER UINT32_MAX

struct note {
    struct error_kept what;
    struct note *next;
};

struct ended_segments {
    run_compile work;
    struct run_section *section;
    struct thread *thread;
    struct lock lock;
    struct thread_condition changed;
    struct ended_segment *waiting, *done; /* two lists, each in the order of the segments */
    struct note *notes;                   /* newest first */
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

static void line_append(struct ended_segment **line, struct ended_segment *e)
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

/* Adds a note. When out of memory the note is lost, but its event has been written. */
static void take_note(void *user, HRESULT hr, const char *text)
{
    struct ended_segments *q = user;
    struct note *n = memory_zero(1, sizeof *n);
    if (!n)
        return;
    n->what.hr = hr;
    text_fit(n->what.text, sizeof n->what.text, text);
    lock_enter(&q->lock);
    n->next = q->notes;
    q->notes = n;
    lock_leave(&q->lock);
    run_section_wake(q->section);
}

bool ended_segments_note(struct ended_segments *q, struct error_kept *out)
{
    lock_enter(&q->lock);
    struct note *n = q->notes;
    if (n)
        q->notes = n->next;
    lock_leave(&q->lock);
    if (n)
        *out = n->what;
    memory_free(n);
    return n != NULL;
}

static void process_segment(struct ended_segments *q, struct ended_segment *e, struct segment_tasks *tasks)
{
    e->failure = error_keep(e->managed ? q->work(e) : S_OK);
    tasks->space = e->space;
    tasks->set = e->name;
    if (e->set->Task[0])
        segment_tasks_start(tasks, e);
}

/* Processes all waiting segments. Call it under the lock; it releases the lock during the work. */
static void process_line(struct ended_segments *q, struct segment_tasks *tasks)
{
    for (struct ended_segment *e; (e = take_first(&q->waiting));) {
        q->busy = true;
        lock_leave(&q->lock);
        process_segment(q, e, tasks);
        lock_enter(&q->lock);
        line_append(&q->done, e);
        run_section_wake(q->section);
    }
}

static void ended_segments_thread(void *user)
{
    struct ended_segments *q = user;
    struct segment_tasks tasks = {.note = take_note, .user = q};
    bool at_work = false;
    lock_enter(&q->lock);
    do {
        process_line(q, &tasks);
        lock_leave(&q->lock);
        at_work = segment_tasks_look(&tasks);
        lock_enter(&q->lock);
        if (q->waiting)
            continue;
        q->busy = at_work;
        thread_condition_wake(&q->changed);
        if (!q->closing)
            thread_condition_wait(&q->changed, &q->lock, at_work ? SEGMENT_TASK_LOOK_MS : FOR_EVER);
    } while (q->waiting || !q->closing);
    lock_leave(&q->lock);
    segment_tasks_release(&tasks);
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
    HRESULT hr = q->thread ? S_OK : thread_start(ended_segments_thread, q, &q->thread);
    if (FAILED(hr))
        return hr;
    lock_enter(&q->lock);
    line_append(&q->waiting, e);
    q->busy = true;
    thread_condition_wake(&q->changed);
    lock_leave(&q->lock);
    return S_OK;
}

struct ended_segment *ended_segments_take(struct ended_segments *q)
{
    lock_enter(&q->lock);
    struct ended_segment *e = take_first(&q->done);
    lock_leave(&q->lock);
    return e;
}

void ended_segments_wait(struct ended_segments *q)
{
    lock_enter(&q->lock);
    while (q->busy)
        thread_condition_wait(&q->changed, &q->lock, FOR_EVER);
    lock_leave(&q->lock);
}

void ended_segments_close(struct ended_segments *q)
{
    if (!q)
        return;
    lock_enter(&q->lock);
    q->closing = true;
    thread_condition_wake(&q->changed);
    lock_leave(&q->lock);
    if (q->thread) {
        thread_wait(q->thread, FOR_EVER);
        thread_close(q->thread);
    }
    assert(!q->waiting);
    for (struct ended_segment *e; (e = take_first(&q->done));)
        ended_segment_free(e);
    for (struct error_kept note; ended_segments_note(q, &note);)
        continue;
    memory_free(q);
}

/* ---- tasks: variables, start, results ---- */

#define TASK_FAILED  HRESULT_FROM_WIN32(1067) /* ERROR_PROCESS_ABORTED */
#define OWN_SETTINGS "OpenPLA."

static void tasks_journal(const struct segment_tasks *t, enum journal_id id, const char *task, const char *location,
                          HRESULT hr, const char *text)
{
    journal_write(id,
                  &(struct journal_facts){
                      .space = t->space, .name = t->set, .task = task, .file = location, .error = hr, .reason = text});
    if (FAILED(hr))
        t->note(t->user, hr, text);
}

HRESULT segment_tasks_validate(struct object *o, struct object *issues)
{
    const char *bare;
    object_lock(o);
    const char *task = set_of(o)->Task;
    HRESULT hr = task[0] ? task_name_check(task, &bare) : S_OK;
    object_unlock(o);
    if (SUCCEEDED(hr))
        return S_OK;
    struct error_kept why = error_keep(hr);
    return issues_add(issues, hr, "Task", why.text);
}

/* ---- arguments ---- */

/* Lists the set's values that are passed to tasks. Omits OpenPLA's settings. Also omits documents, because documents
   are for display. */
static HRESULT list_values(const struct data_collector_set *set, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < set->value_count; i++) {
        const struct user_value *v = &set->values[i];
        char *head = text_copy_n(v->key, strnlen(v->key, sizeof OWN_SETTINGS - 1));
        if (!head)
            return E_OUTOFMEMORY;
        if (!v->document && !text_equal_nocase(head, OWN_SETTINGS))
            hr = texts_add(out, v->value);
        memory_free(head);
    }
    return hr;
}

static HRESULT segment_expand_arguments(const struct ended_segment *e, const char *name, char **out)
{
    struct data_collector_set *set = e->set;
    struct texts values = {0};
    *out = NULL;
    object_lock(&set->object);
    HRESULT hr = list_values(set, &values);
    /* The variables of an alert are empty, because no threshold was crossed. */
    const struct task_variable own[] = {
        {.name = "logs", .list = &e->files},
        {.name = "state", .text = e->running ? "1" : "0"},
        {.name = "key", .list = &values},
        {.name = "usertext", .text = set->TaskUserTextArguments},
        {.name = "name", .text = name},
        {.name = "counter"},
        {.name = "date"},
        {.name = "threshold"},
        {.name = "value"},
    };
    const size_t count = sizeof own / sizeof own[0];
    struct task_variable *all = SUCCEEDED(hr) ? memory_zero(count + set->value_count, sizeof *all) : NULL;
    if (all) {
        memcpy(all, own, sizeof own);
        for (size_t i = 0; i < set->value_count; i++)
            all[count + i] = (struct task_variable){.name = set->values[i].key, .text = set->values[i].value};
        hr = task_expand_arguments(set->TaskArguments, all, count + set->value_count, out);
    } else {
        hr = E_OUTOFMEMORY;
    }
    object_unlock(&set->object);
    memory_free(all);
    texts_free(&values);
    return hr;
}

/* ---- running tasks ---- */

static void task_remove(struct segment_tasks *t, size_t at)
{
    struct segment_task *s = &t->at_work[at];
    task_close(s->instance);
    memory_free(s->name);
    memory_free(s->location);
    *s = t->at_work[--t->count];
}

static HRESULT task_start_segment(struct segment_tasks *t, const struct ended_segment *e)
{
    struct segment_task *s = &t->at_work[t->count];
    char *arguments;
    if (t->count == SEGMENT_TASKS_MAX)
        return error_set(SCHED_E_ALREADY_RUNNING, "task '%s': not started, because %d instances are still running",
                         e->set->Task, SEGMENT_TASKS_MAX);
    HRESULT hr = segment_expand_arguments(e, t->set, &arguments);
    if (FAILED(hr))
        return hr;
    *s = (struct segment_task){.name = text_copy(e->set->Task), .location = text_copy(e->location)};
    hr = s->name && s->location ? setting_read(&e->set->object, SETTING_TaskTimeout, &s->timeout_seconds)
                                : E_OUTOFMEMORY;
    if (!s->timeout_seconds)
        s->timeout_seconds = TASK_TIMEOUT_USUAL;
    if (SUCCEEDED(hr))
        hr = task_start(s->name, arguments, s->location, e->set->TaskRunAsSelf, &s->instance);
    s->since = clock_monotonic_ms();
    memory_free(arguments);
    t->count++;
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        task_remove(t, t->count - 1);
        return error_restore(&why);
    }
    return S_OK;
}

void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e)
{
    HRESULT hr = task_start_segment(t, e);
    struct error_kept why = error_keep(hr);
    tasks_journal(t, FAILED(hr) ? JOURNAL_TASK_FAILED : JOURNAL_TASK_STARTED, e->set->Task, e->location, hr,
                  FAILED(hr) ? why.text : NULL);
}

/* Returns the result of a task that has exited or exceeded its timeout. S_FALSE: the task is running. */
static HRESULT result_of(const struct segment_task *s)
{
    uint32_t code = 0;
    HRESULT hr = task_wait(s->instance, 0, &code);
    if (FAILED(hr))
        return error_prefix(hr, "task '%s'", s->name);
    if (hr == S_OK)
        return code ? error_set(TASK_FAILED, "task '%s': exited with code %u", s->name, (unsigned)code) : S_OK;
    if (clock_passed_ms(s->since, clock_monotonic_ms()) < (uint64_t)s->timeout_seconds * 1000)
        return S_FALSE;
    return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                     "task '%s': still running after %u s (no longer waiting for it)", s->name,
                     (unsigned)s->timeout_seconds);
}

bool segment_tasks_look(struct segment_tasks *t)
{
    for (size_t i = 0; i < t->count;) {
        const struct segment_task *s = &t->at_work[i];
        HRESULT hr = result_of(s);
        if (hr == S_FALSE) {
            i++;
            continue;
        }
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            tasks_journal(t, JOURNAL_TASK_FAILED, s->name, s->location, hr, why.text);
        }
        task_remove(t, i);
    }
    return t->count != 0;
}

void segment_tasks_release(struct segment_tasks *t)
{
    while (t->count)
        task_remove(t, t->count - 1);
}
