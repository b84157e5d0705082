/* SPDX-License-Identifier: MIT */
/* The threads that communicate with remote computers, and the state of these computers. */
#include "engine/pdh/remote/remote_computer.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"

#include <string.h>

#define FIRST_PAUSE_MS 1000u
#define LAST_PAUSE_MS  60000u
/* Time limit in milliseconds for a computer whose last connection failed. If the computer takes longer to answer, a
   later request finds it available. */
#define SHORT_WAIT_MS  500u
/* Time in milliseconds after which the connection and the thread of an unused computer end. */
#define IDLE_MS        10000u

struct remote_computer {
    struct remote_computer *next; /* protected by the table's lock, like `users` */
    size_t users;
    char *name;
    const struct link_kind *kind;
    struct lock lock;
    struct thread_condition changed;
    struct remote_task *first, *last;
    struct remote_task *at_work;
    bool has_thread;
    bool late;       /* a wait timed out, and no task has ended since then */
    HRESULT failure; /* result of the last connection attempt; S_OK: connected, S_FALSE: not tried yet */
    uint64_t retry;  /* after a failure: time of the next attempt (clock_monotonic_ms()) */
    uint32_t pause;
    struct remote_set **sets;
    size_t count, capacity;
    /* Used only by the thread that runs a task: */
    struct link *link;
    uint64_t epoch;
};

static struct lock table_lock = LOCK_INIT;
static struct remote_computer *table;
static const struct link_kind *links;

void remote_computer_links(const struct link_kind *kind)
{
    lock_enter(&table_lock);
    links = kind;
    lock_leave(&table_lock);
}

static void free_computer(struct remote_computer *c)
{
    for (size_t i = 0; i < c->count; i++)
        remote_set_free(c->sets[i]);
    if (c->link)
        c->kind->close(c->link);
    memory_free(c->sets);
    memory_free(c->name);
    memory_free(c);
}

static struct remote_computer *computer_create(const char *name)
{
    struct remote_computer *c = memory_zero(1, sizeof *c);
    char *copy = text_copy(name);
    if (!c || !copy) {
        memory_free(c);
        memory_free(copy);
        return NULL;
    }
    c->name = copy;
    c->kind = links;
    c->failure = S_FALSE;
    c->next = table;
    table = c;
    return c;
}

HRESULT remote_computer_open(const char *name, struct remote_computer **out)
{
    HRESULT hr = S_OK;
    lock_enter(&table_lock);
    struct remote_computer *c = table;
    while (c && !(c->kind == links && text_equal_nocase(c->name, name)))
        c = c->next;
    if (!links)
        hr = (HRESULT)PDH_CSTATUS_NO_MACHINE;
    else if (!c && !(c = computer_create(name)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        c->users++;
    lock_leave(&table_lock);
    *out = SUCCEEDED(hr) ? c : NULL;
    return hr;
}

/* Removes the computer from the table. The caller holds the table's lock. */
static void take_out(const struct remote_computer *c)
{
    struct remote_computer **at = &table;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

/* Releases the computer. If the computer has a thread, the thread frees the computer when the computer has been unused
   for a while. */
void remote_computer_close(struct remote_computer *c)
{
    if (!c)
        return;
    lock_enter(&table_lock);
    bool unused = --c->users == 0 && !c->has_thread;
    if (unused)
        take_out(c);
    lock_leave(&table_lock);
    if (unused)
        free_computer(c);
}

const char *remote_computer_name(const struct remote_computer *c)
{
    return c->name;
}

struct remote_set *remote_computer_set(struct remote_computer *c, size_t index)
{
    lock_enter(&c->lock);
    struct remote_set *s = index < c->count ? c->sets[index] : NULL;
    lock_leave(&c->lock);
    return s;
}

static void drop_link(struct remote_computer *c)
{
    if (c->link)
        c->kind->close(c->link);
    c->link = NULL;
}

/* Runs a task without the lock. An existing link may have failed unnoticed, for example because the remote computer
   restarted. Therefore the task gets a second try if the link was not opened for it. */
static HRESULT computer_run_task(struct remote_computer *c, struct remote_task *t, bool *link_failed)
{
    HRESULT hr;
    bool was_open;
    do {
        was_open = c->link != NULL;
        *link_failed = false;
        if (!was_open) {
            hr = c->kind->open(c->name, &c->link);
            *link_failed = FAILED(hr) && hr != E_OUTOFMEMORY;
            if (FAILED(hr))
                return hr;
            c->epoch++;
        }
        hr = t->run(t, c->link, c->epoch, link_failed);
        if (*link_failed)
            drop_link(c);
    } while (*link_failed && was_open);
    return hr;
}

static void computer_note_result(struct remote_computer *c, HRESULT hr, bool link_failed)
{
    c->late = false;
    if (!link_failed) {
        c->failure = S_OK;
        return;
    }
    c->pause = FAILED(c->failure) ? c->pause * 2 : FIRST_PAUSE_MS;
    if (c->pause > LAST_PAUSE_MS)
        c->pause = LAST_PAUSE_MS;
    c->retry = clock_monotonic_ms() + c->pause;
    c->failure = hr;
}

/* Processes a task on this thread. The caller holds the lock, which this function releases while the task runs. */
static void computer_process_task(struct remote_computer *c, struct remote_task *t)
{
    HRESULT hr;
    c->at_work = t;
    do {
        bool link_failed = false;
        t->ending = t->released;
        lock_leave(&c->lock);
        hr = computer_run_task(c, t, &link_failed);
        lock_enter(&c->lock);
        computer_note_result(c, hr, link_failed);
    } while (t->released && !t->ending && SUCCEEDED(c->failure));
    t->result = hr;
    t->queued = false;
    c->at_work = NULL;
    if (t->released)
        t->free(t);
    thread_condition_wake(&c->changed);
}

static struct remote_task *take_first(struct remote_computer *c)
{
    struct remote_task *t = c->first;
    c->first = t->next;
    c->last = c->first ? c->last : NULL;
    t->next = NULL;
    return t;
}

/* Removes the computer from the table if nobody uses it any more. True if the computer was removed. */
static bool computer_retire(struct remote_computer *c)
{
    lock_enter(&table_lock);
    lock_enter(&c->lock);
    bool unused = !c->users && !c->first && !c->at_work;
    lock_leave(&c->lock);
    if (unused)
        take_out(c);
    lock_leave(&table_lock);
    return unused;
}

static void computer_work(void *user)
{
    struct remote_computer *c = user;
    do {
        bool woken = true;
        lock_enter(&c->lock);
        while (woken)
            if (c->first && !c->at_work)
                computer_process_task(c, take_first(c));
            else
                woken = thread_condition_wait(&c->changed, &c->lock, IDLE_MS);
        lock_leave(&c->lock);
    } while (!computer_retire(c));
    free_computer(c);
}

/* Runs the task on this thread, after any task that another thread is running. The caller holds the lock. */
static void work_here(struct remote_computer *c, struct remote_task *t)
{
    while (c->at_work)
        thread_condition_wait(&c->changed, &c->lock, UINT32_MAX);
    computer_process_task(c, t);
}

static bool get_thread(struct remote_computer *c)
{
    struct thread *thread;
    if (!c->has_thread && SUCCEEDED(thread_start(computer_work, c, &thread))) {
        c->has_thread = true;
        thread_close(thread);
    }
    return c->has_thread;
}

void remote_task_post(struct remote_computer *c, struct remote_task *t)
{
    const uint32_t limit = source_limit();
    lock_enter(&c->lock);
    if (t->queued) {
        lock_leave(&c->lock);
        return;
    }
    t->queued = true;
    if (FAILED(c->failure) && clock_monotonic_ms() < c->retry) {
        t->result = c->failure;
        t->queued = false;
    } else if (limit == 0 || !get_thread(c)) {
        work_here(c, t);
    } else {
        *(c->last ? &c->last->next : &c->first) = t;
        c->last = t;
        thread_condition_wake(&c->changed);
    }
    lock_leave(&c->lock);
}

bool remote_task_wait(struct remote_computer *c, struct remote_task *t, uint32_t limit_ms)
{
    lock_enter(&c->lock);
    if (FAILED(c->failure) && limit_ms > SHORT_WAIT_MS)
        limit_ms = SHORT_WAIT_MS;
    const uint64_t begin = clock_monotonic_ms();
    uint64_t passed = 0;
    while (t->queued && !c->late && passed < limit_ms) {
        thread_condition_wait(&c->changed, &c->lock, limit_ms - (uint32_t)passed);
        passed = clock_passed_ms(begin, clock_monotonic_ms());
    }
    bool ended = !t->queued;
    c->late = c->late || (!ended && limit_ms > 0);
    lock_leave(&c->lock);
    return ended;
}

void remote_task_release(struct remote_computer *c, struct remote_task *t)
{
    lock_enter(&c->lock);
    t->released = t->queued;
    if (!t->queued)
        t->free(t);
    lock_leave(&c->lock);
}

static bool is_known(const struct remote_computer *c, const GUID *guid)
{
    size_t i = 0;
    while (i < c->count && !guid_equal(&c->sets[i]->guid, guid))
        i++;
    return i < c->count;
}

static HRESULT add_set(struct remote_computer *c, struct link *l, const GUID *guid)
{
    struct remote_set *s;
    HRESULT hr = remote_set_create(l, c->name, guid, &s);
    if (hr != S_OK)
        return hr;
    lock_enter(&c->lock);
    void *sets = c->sets;
    bool room = memory_grow(&sets, &c->capacity, c->count + 1, sizeof *c->sets);
    c->sets = sets;
    if (room)
        c->sets[c->count++] = s;
    lock_leave(&c->lock);
    if (!room)
        remote_set_free(s);
    return room ? S_OK : E_OUTOFMEMORY;
}

/* Maximum number of known countersets of a computer, in case its GUIDs keep changing. */
#define MOST_KNOWN (4 * PCQ_MOST_SETS)

HRESULT remote_computer_list(struct remote_computer *c, struct link *l, bool *link_failed)
{
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = c->name};
    struct link_answer answer = {0};
    HRESULT hr = link_ask(l, &call, &answer);
    HRESULT status = SUCCEEDED(hr) ? link_answer_result(&answer) : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && SUCCEEDED(status) && i < answer.decoded.size / sizeof(GUID); i++) {
        GUID guid;
        memcpy(&guid, answer.decoded.data + i * sizeof guid, sizeof guid);
        if (c->count < MOST_KNOWN && !is_known(c, &guid))
            hr = add_set(c, l, &guid);
    }
    link_answer_free(&answer);
    *link_failed = FAILED(hr) && hr != E_OUTOFMEMORY;
    return FAILED(hr) ? hr : status;
}
