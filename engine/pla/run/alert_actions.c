/* SPDX-License-Identifier: MIT */
/* The queues of alert actions, and the threads that perform the actions. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/run.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/store.h"
#include "engine/pla/task.h"

#include <inttypes.h>

#define FOR_EVER       UINT32_MAX
#define LOOK_MS        100   /* time between two checks of running tasks */
#define ALL_AT_WORK_MS 60000 /* after this time, an event reports that all task slots are in use */
#define NOTES_MAX      100

enum word { COLLECTOR, COUNTER, VALUE, THRESHOLD, MESSAGE, TASK, ARGUMENTS, COMMAND, DIRECTORY, SET, WORDS };

struct order {
    struct order *next;
    struct texts words; /* indexed by enum word */
    char comparison;
    bool clear, as_self, command;
};

struct line {
    struct alert_actions *actions;
    struct order *first, *last;
    size_t waiting, most;
    uint64_t dropped, dropped_reported;
    struct thread *thread; /* NULL until the first action is queued */
    bool at_work;
};

struct alert_actions {
    char *space, *name;
    void (*wake)(void *user);
    void *user;
    struct lock lock; /* protects everything below */
    struct thread_condition changed;
    struct line lines[ALERT_ACTIONS];
    struct texts notes;
    bool ending, abandoned;
    unsigned holders; /* references: the run's, and one per thread */
};

static const char *const action_names[ALERT_ACTIONS] = {"events", "tasks", "set starts"};

static void free_order(struct order *o)
{
    if (o)
        texts_free(&o->words);
    memory_free(o);
}

static const char *word(const struct order *o, enum word which)
{
    return o->words.items[which];
}

/* Releases a reference; the last release frees the actions. Call it under the lock; it releases the lock. */
static void actions_unref(struct alert_actions *a)
{
    assert(a->holders);
    bool last = !--a->holders;
    lock_leave(&a->lock);
    if (!last)
        return;
    texts_free(&a->notes);
    memory_free(a->space);
    memory_free(a->name);
    memory_free(a);
}

/* ---- notes ---- */

/* Adds a note, unless the same note exists, and wakes the run. Takes ownership of the string. */
static void actions_note(struct alert_actions *a, char *text)
{
    bool known = false;
    if (!text)
        return;
    lock_enter(&a->lock);
    for (size_t i = 0; !known && i < a->notes.count; i++)
        known = text_equal_nocase(a->notes.items[i], text);
    bool wakes = !known && !a->abandoned && a->notes.count < NOTES_MAX;
    if (wakes)
        (void)texts_add(&a->notes, text);
    if (wakes && !a->ending)
        a->wake(a->user);
    lock_leave(&a->lock);
    memory_free(text);
}

static void actions_note_failure(struct alert_actions *a, enum journal_id id, const struct order *o, const char *what,
                                 HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    (void)journal_write(
        id, &(struct journal_facts){
                .space = a->space, .name = a->name, .collector = word(o, COLLECTOR), .error = hr, .reason = why.text});
    actions_note(
        a, text_format("0x%08X: the alert '%s' could not %s: %s", (unsigned)hr, word(o, COLLECTOR), what, why.text));
}

/* Writes an event about dropped actions. Call it under the lock; it releases the lock and takes it again. */
static void note_dropped(struct alert_actions *a, enum alert_action what, uint64_t count)
{
    lock_leave(&a->lock);
    char *reason = text_format("%s of alerts: the queue was full or the run ended", action_names[what]);
    (void)journal_write(JOURNAL_ALERTS_DROPPED,
                        &(struct journal_facts){.space = a->space, .name = a->name, .count = count, .reason = reason});
    memory_free(reason);
    lock_enter(&a->lock);
}

/* ---- events ---- */

static void write_event(struct alert_actions *a, const struct order *o)
{
    const char comparison[] = {o->comparison, 0};
    HRESULT hr = journal_write(o->clear ? JOURNAL_ALERT_CLEAR : JOURNAL_ALERT,
                               &(struct journal_facts){.space = a->space,
                                                       .name = a->name,
                                                       .collector = word(o, COLLECTOR),
                                                       .counter = word(o, COUNTER),
                                                       .value = word(o, VALUE),
                                                       .comparison = comparison,
                                                       .threshold = word(o, THRESHOLD),
                                                       .reason = word(o, MESSAGE)});
    if (FAILED(hr))
        actions_note_failure(a, JOURNAL_ALERT_EVENT_FAILED, o, "write its event", hr);
}

/* ---- starts of sets ---- */

static void start_set(struct alert_actions *a, const struct order *o)
{
    const char *space;
    char *name;
    HRESULT hr = store_split_name(word(o, SET), &space, &name);
    if (SUCCEEDED(hr)) {
        hr = run_start(space, name, false);
        memory_free(name);
    }
    if (FAILED(hr) && hr != PLA_E_DCS_IN_USE) { /* if the set is already running, the alert's request is fulfilled */
        char *what = text_format("start the set '%s'", word(o, SET));
        actions_note_failure(a, JOURNAL_ALERT_TRIGGER_FAILED, o, what ? what : "start its set", hr);
        memory_free(what);
    }
}

/* ---- tasks ---- */

/* Tasks that were started and have not exited. Only the thread of the queue uses this struct. */
struct at_work {
    struct {
        struct task_instance *instance;
        struct order *order;
    } tasks[ALERT_TASKS_AT_ONCE];
    size_t count;
    uint64_t full_since; /* clock_monotonic_ms */
    bool full_reported;
};

static void task_failed(struct alert_actions *a, const struct order *o, HRESULT hr)
{
    char *what = o->command ? text_copy("run its command") : text_format("run the task '%s'", word(o, TASK));
    actions_note_failure(a, JOURNAL_ALERT_TASK_FAILED, o, what ? what : "run its task", hr);
    memory_free(what);
}

/* Starts a task. Takes ownership of the order. */
static void start_task(struct alert_actions *a, struct order *o, struct at_work *w)
{
    struct task_instance *instance = NULL;
    HRESULT hr = o->command ? task_start_command(word(o, COMMAND), word(o, DIRECTORY), &instance)
                            : task_start(word(o, TASK), word(o, ARGUMENTS), word(o, DIRECTORY), o->as_self, &instance);
    if (FAILED(hr)) {
        task_failed(a, o, hr);
        free_order(o);
        return;
    }
    w->tasks[w->count].instance = instance;
    w->tasks[w->count++].order = o;
    w->full_since = clock_monotonic_ms();
}

/* Removes tasks that have exited, and writes one event if tasks use all slots for a long time. */
static void reap_tasks(struct alert_actions *a, struct at_work *w)
{
    for (size_t i = 0; i < w->count;) {
        HRESULT hr = task_wait(w->tasks[i].instance, 0, NULL);
        if (hr == S_FALSE) {
            i++;
            continue;
        }
        if (FAILED(hr))
            task_failed(a, w->tasks[i].order, hr);
        task_close(w->tasks[i].instance);
        free_order(w->tasks[i].order);
        w->tasks[i] = w->tasks[--w->count];
        w->full_reported = false;
    }
    if (w->count < ALERT_TASKS_AT_ONCE || w->full_reported ||
        clock_passed_ms(w->full_since, clock_monotonic_ms()) < ALL_AT_WORK_MS)
        return;
    w->full_reported = true;
    task_failed(a, w->tasks[0].order,
                error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                          "%d tasks of alerts are still running: the next one starts when one of them exits",
                          ALERT_TASKS_AT_ONCE));
}

/* ---- the queues ---- */

static struct order *take_first(struct line *l)
{
    struct order *o = l->first;
    if (!o)
        return NULL;
    l->first = o->next;
    l->last = l->first ? l->last : NULL;
    l->waiting--;
    return o;
}

static void drop_all(struct line *l)
{
    for (struct order *o; (o = take_first(l));) {
        free_order(o);
        l->dropped++;
    }
}

/* Returns whether the next action may be taken. Running tasks do not delay others until all slots are in use. Call it
   under the lock. */
static bool may_take(const struct line *l, const struct at_work *w)
{
    return l->first && w->count < ALERT_TASKS_AT_ONCE;
}

static void actions_thread(void *user)
{
    struct line *l = user;
    struct alert_actions *a = l->actions;
    enum alert_action what = (enum alert_action)(l - a->lines);
    struct at_work w = {.count = 0};
    lock_enter(&a->lock);
    while (!a->abandoned) {
        struct order *o = may_take(l, &w) ? take_first(l) : NULL;
        l->at_work = o != NULL; /* set before the lock is released, because alert_actions_end checks it */
        if (l->dropped != l->dropped_reported) {
            uint64_t count = l->dropped - l->dropped_reported;
            l->dropped_reported = l->dropped;
            note_dropped(a, what, count);
        }
        if (!o && a->ending && !l->first)
            break;
        if (!o && !w.count) {
            thread_condition_wait(&a->changed, &a->lock, FOR_EVER);
            continue;
        }
        if (!o)
            thread_condition_wait(&a->changed, &a->lock, LOOK_MS);
        lock_leave(&a->lock);
        if (o && what == ALERT_TASK) {
            start_task(a, o, &w);
        } else if (o) {
            (what == ALERT_EVENT ? write_event : start_set)(a, o);
            free_order(o);
        }
        reap_tasks(a, &w);
        lock_enter(&a->lock);
    }
    l->at_work = false;
    thread_condition_wake(&a->changed);
    lock_leave(&a->lock);
    while (w.count) { /* the tasks keep running */
        task_close(w.tasks[--w.count].instance);
        free_order(w.tasks[w.count].order);
    }
    lock_enter(&a->lock);
    actions_unref(a);
}

HRESULT alert_actions_create(const char *space, const char *name, void (*wake)(void *user), void *user,
                             struct alert_actions **out)
{
    static const size_t most[ALERT_ACTIONS] = {ALERT_EVENTS_WAITING, ALERT_TASKS_WAITING, ALERT_TRIGGERS_WAITING};
    struct alert_actions *a = memory_zero(1, sizeof *a);
    *out = NULL;
    if (!a)
        return E_OUTOFMEMORY;
    a->space = text_copy(space);
    a->name = text_copy(name);
    a->wake = wake;
    a->user = user;
    a->holders = 1;
    for (int i = 0; i < ALERT_ACTIONS; i++)
        a->lines[i] = (struct line){.actions = a, .most = most[i]};
    if (a->space && a->name) {
        *out = a;
        return S_OK;
    }
    lock_enter(&a->lock);
    actions_unref(a);
    return E_OUTOFMEMORY;
}

static struct order *copy_order(const struct alert_order *from)
{
    static const struct crossing none = {.counter = "", .value = "", .threshold = ""};
    const struct crossing *c = from->crossing ? from->crossing : &none;
    const char *const words[WORDS] = {
        [COLLECTOR] = from->collector,
        [COUNTER] = c->counter,
        [VALUE] = c->value,
        [THRESHOLD] = c->threshold,
        [MESSAGE] = from->message,
        [TASK] = from->task,
        [ARGUMENTS] = from->arguments,
        [COMMAND] = from->command,
        [DIRECTORY] = from->directory,
        [SET] = from->set,
    };
    struct order *o = memory_zero(1, sizeof *o);
    HRESULT hr = o ? S_OK : E_OUTOFMEMORY;
    for (int i = 0; SUCCEEDED(hr) && i < WORDS; i++)
        hr = texts_add(&o->words, words[i] ? words[i] : "");
    if (FAILED(hr)) {
        free_order(o);
        return NULL;
    }
    o->comparison = c->comparison;
    o->clear = c->clear;
    o->as_self = from->as_self;
    o->command = from->command != NULL;
    return o;
}

/* Returns whether a start of that set is already queued. Call it under the lock. */
static bool waits_already(const struct line *l, const struct order *o)
{
    for (const struct order *other = l->first; other; other = other->next)
        if (text_equal_nocase(word(other, SET), word(o, SET)))
            return true;
    return false;
}

/* Starts the thread of the queue unless it has one. Call it under the lock. */
static HRESULT begin_thread(struct alert_actions *a, struct line *l)
{
    if (l->thread)
        return S_OK;
    a->holders++;
    HRESULT hr = thread_start(actions_thread, l, &l->thread);
    a->holders -= FAILED(hr);
    return hr;
}

void alert_actions_add(struct alert_actions *a, enum alert_action what, const struct alert_order *order)
{
    struct line *l = &a->lines[what];
    struct order *o = copy_order(order);
    lock_enter(&a->lock);
    if (o && what == ALERT_TRIGGER && waits_already(l, o)) {
        free_order(o);
    } else if (!o || l->waiting >= l->most || FAILED(begin_thread(a, l))) {
        free_order(o);
        l->dropped++;
    } else {
        if (l->last)
            l->last->next = o;
        else
            l->first = o;
        l->last = o;
        l->waiting++;
    }
    thread_condition_wake(&a->changed);
    lock_leave(&a->lock);
}

bool alert_actions_take_notes(struct alert_actions *a, struct diagnostics *out)
{
    bool fresh = false;
    lock_enter(&a->lock);
    for (size_t i = 0; i < a->notes.count; i++)
        fresh |= diagnostics_note(out, S_OK, a->notes.items[i]);
    lock_leave(&a->lock);
    return fresh;
}

/* Returns whether all queued actions have been started. Call it under the lock. */
static bool all_begun(const struct alert_actions *a)
{
    bool begun = true;
    for (int i = 0; i < ALERT_ACTIONS; i++)
        begun = begun && !a->lines[i].first && !a->lines[i].at_work;
    return begun;
}

void alert_actions_end(struct alert_actions *a, struct diagnostics *out)
{
    uint64_t began = clock_monotonic_ms();
    if (!a)
        return;
    lock_enter(&a->lock);
    a->ending = true;
    thread_condition_wake(&a->changed);
    while (!all_begun(a) && clock_passed_ms(began, clock_monotonic_ms()) < ALERT_END_MS)
        thread_condition_wait(&a->changed, &a->lock, LOOK_MS);
    a->abandoned = true;
    thread_condition_wake(&a->changed);
    for (int i = 0; i < ALERT_ACTIONS; i++) {
        struct line *l = &a->lines[i];
        drop_all(l);
        if (l->dropped != l->dropped_reported)
            note_dropped(a, (enum alert_action)i, l->dropped - l->dropped_reported);
        l->dropped_reported = l->dropped;
        char *text =
            l->dropped ? text_format("alert actions dropped: %" PRIu64 " (%s)", l->dropped, action_names[i]) : NULL;
        if (text)
            diagnostics_note(out, S_OK, text);
        memory_free(text);
    }
    for (size_t i = 0; i < a->notes.count; i++)
        diagnostics_note(out, S_OK, a->notes.items[i]);
    for (int i = 0; i < ALERT_ACTIONS; i++)
        thread_close(a->lines[i].thread);
    actions_unref(a);
}
