/* SPDX-License-Identifier: MIT */
/* Tasks of segments: their variables, start, and what becomes of them. */
#include "engine/pla/run/segment_tasks.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/settings.h"
#include "engine/pla/task.h"

#include <string.h>

#define TASK_FAILED  HRESULT_FROM_WIN32(1067) /* ERROR_PROCESS_ABORTED */
#define OWN_SETTINGS "OpenPLA."

static void tell(const struct segment_tasks *t, enum journal_id id, const char *task, const char *location, HRESULT hr,
                 const char *text)
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

/* Of the set's values those that are for tasks: neither settings of ours nor documents, which are a display's. */
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

static HRESULT expand(const struct ended_segment *e, const char *name, char **out)
{
    struct data_collector_set *set = e->set;
    struct texts values = {0};
    *out = NULL;
    object_lock(&set->object);
    HRESULT hr = list_values(set, &values);
    /* No counter has crossed anything: an alert's variables are empty. */
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

/* ---- at work ---- */

static void let_go(struct segment_tasks *t, size_t at)
{
    struct segment_task *s = &t->at_work[at];
    task_close(s->instance);
    memory_free(s->name);
    memory_free(s->location);
    *s = t->at_work[--t->count];
}

static HRESULT start(struct segment_tasks *t, const struct ended_segment *e)
{
    struct segment_task *s = &t->at_work[t->count];
    char *arguments;
    if (t->count == SEGMENT_TASKS_MAX)
        return error_set(SCHED_E_ALREADY_RUNNING, "task \"%s\": %d of its instances are still at work", e->set->Task,
                         SEGMENT_TASKS_MAX);
    HRESULT hr = expand(e, t->set, &arguments);
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
        let_go(t, t->count - 1);
        return error_restore(&why);
    }
    return S_OK;
}

void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e)
{
    HRESULT hr = start(t, e);
    struct error_kept why = error_keep(hr);
    tell(t, FAILED(hr) ? JOURNAL_TASK_FAILED : JOURNAL_TASK_STARTED, e->set->Task, e->location, hr,
         FAILED(hr) ? why.text : NULL);
}

/* What there is to tell of one that is not at work any more, or not looked at any longer; S_FALSE: it is at work. */
static HRESULT result_of(const struct segment_task *s)
{
    uint32_t code = 0;
    HRESULT hr = task_wait(s->instance, 0, &code);
    if (FAILED(hr))
        return error_prefix(hr, "task \"%s\"", s->name);
    if (hr == S_OK)
        return code ? error_set(TASK_FAILED, "task \"%s\": it ended with the code %u", s->name, (unsigned)code) : S_OK;
    if (clock_passed_ms(s->since, clock_monotonic_ms()) < (uint64_t)s->timeout_seconds * 1000)
        return S_FALSE;
    return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                     "task \"%s\": it is still at work after %u s, and is not waited for any longer", s->name,
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
            tell(t, JOURNAL_TASK_FAILED, s->name, s->location, hr, why.text);
        }
        let_go(t, i);
    }
    return t->count != 0;
}

void segment_tasks_let_go(struct segment_tasks *t)
{
    while (t->count)
        let_go(t, t->count - 1);
}
