/* SPDX-License-Identifier: MIT */
#include "engine/etw/private_session.h"

#include "engine/etw/session_buffers.h"
#include "engine/etw/session_output.h"
#include "engine/etw/trace_properties.h"
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/thread.h"
#include "engine/os/thread_slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_MS = 60000,
    FLUSH_MS = 1000, /* without a FlushTimer */
    STOP_PATIENCE_MS = 1000
};

struct private_session {
    struct directory_session session; /* with the file of this process */
    void *memory;
    struct session_buffers buffers;
    struct session_drain *drain;
    struct session_output output;
    struct wakeup *wakeup;
    atomic_uint period; /* ms between flushes */
    /* Whoever is at the buffers or the file has it; nobody waits for the thread itself, which may need the loader's
       lock to begin and to end. */
    struct host_lock lock;
    atomic_bool busy;  /* somebody has it */
    bool stopped;      /* the file has ended; under the lock */
    atomic_uint users; /* the owner, and the thread */
    struct private_session *next;
};
static struct host_lock lock = HOST_LOCK_INIT;
static struct private_session *sessions;

bool private_session_is_here(const struct directory_session *s)
{
    return (s->mode & TRACE_MODE_PRIVATE_IN_PROC) == 0 ||
           (s->starter.id == process_own_id() && s->starter.start_time == process_start_time(process_own_id()));
}

/* ---- the thread that empties it ---- */

static bool lives(void *context, uint32_t owner, uint32_t thread)
{
    static _Atomic uint64_t start;
    (void)context, (void)owner; /* all that write are of this process */
    if (atomic_load(&start) == 0)
        atomic_store(&start, process_start_time(process_own_id()));
    return thread == 0 || process_has_thread(process_own_id(), atomic_load(&start), thread);
}

static void enter(struct private_session *p)
{
    host_lock_enter(&p->lock);
    atomic_store(&p->busy, true);
}

static void leave(struct private_session *p)
{
    atomic_store(&p->busy, false);
    host_lock_leave(&p->lock);
}

/* Entered. */
static void finish(struct private_session *p)
{
    const struct session_sink sink = session_output_sink(&p->output);
    if (p->stopped)
        return;
    p->stopped = true;
    (void)session_drain_stop(p->drain, &sink, STOP_PATIENCE_MS);
    session_output_close(&p->output);
}

static void drop(struct private_session *p)
{
    if (atomic_fetch_sub(&p->users, 1) != 1)
        return;
    session_drain_free(p->drain);
    wakeup_free(p->wakeup);
    memory_free(p->memory);
    directory_session_free(&p->session);
    memory_free(p);
}

/* Entered, and not stopped. How long to wait for the next time. */
static uint32_t pass(struct private_session *p, uint64_t *flushed)
{
    const struct session_sink sink = session_output_sink(&p->output);
    const uint32_t period = atomic_load(&p->period);
    bool in_use = true;
    HRESULT hr;
    const uint32_t done = session_drain_pass(p->drain, &sink, &hr);
    if (p->output.full)
        finish(p);
    if (p->stopped)
        return 0;
    if (clock_passed_ms(*flushed, clock_monotonic_ms()) >= period) {
        *flushed = clock_monotonic_ms();
        (void)session_drain_tend(p->drain);
        session_drain_flush(p->drain);
    }
    if (done != 0)
        return 0;
    return !session_drain_sleep(p->drain, &in_use) ? 1 : in_use ? period : IDLE_MS;
}

static void empty(void *user)
{
    struct private_session *p = user;
    uint64_t flushed = clock_monotonic_ms();
    for (bool goes_on = true; goes_on;) {
        enter(p);
        const uint32_t wait = p->stopped ? 0 : pass(p, &flushed);
        goes_on = !p->stopped;
        leave(p);
        if (goes_on && wait != 0)
            (void)wakeup_wait(p->wakeup, wait);
        if (goes_on)
            session_drain_wake(p->drain);
    }
    drop(p);
}

static void wake(void *context)
{
    wakeup_set(context);
}

/* ---- its beginning and end ---- */

/* It lies there as long as the session does, also when who made it has ended. */
static void name_of_mark(const struct directory_session *s, char *name, size_t size)
{
    snprintf(name, size, "%s-first", s->section);
}

void private_session_forget(const struct directory_session *s)
{
    char name[sizeof s->section + 8];
    name_of_mark(s, name, sizeof name);
    (void)section_delete(name);
}

static HRESULT choose_file(const struct directory_session *s, char **file)
{
    char name[sizeof s->section + 8];
    struct section *mark = NULL;
    name_of_mark(s, name, sizeof name);
    const struct shared first = {.name = name, .create = true, .fresh = true, .lasting = true};
    const HRESULT hr = (s->mode & TRACE_MODE_PRIVATE_IN_PROC) != 0 ? S_OK : section_open(&first, 1, &mark);
    section_close(mark);
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        *file = text_format("%s_%u", s->file, (unsigned)process_own_id());
    else if (SUCCEEDED(hr))
        *file = text_copy(s->file);
    else
        return hr;
    return *file ? S_OK : E_OUTOFMEMORY;
}

static HRESULT copy_session(const struct directory_session *s, struct private_session *p)
{
    p->session = *s;
    p->session.name = text_copy(s->name);
    p->session.file = NULL;
    if (!p->session.name)
        return E_OUTOFMEMORY;
    return s->file ? choose_file(s, &p->session.file) : S_OK;
}

static HRESULT make_buffers(struct private_session *p)
{
    const struct directory_session *s = &p->session;
    const struct trace_settings settings = {
        .mode = s->mode,
        .clock = s->clock,
        .buffer_kb = s->buffer_kb,
        .minimum_buffers = s->minimum_buffers,
        .maximum_buffers = s->maximum_buffers,
    };
    struct session_drain_options options = {.judge = {lives, NULL}, .clock = s->clock, .first_number = 1};
    struct session_shape shape;
    size_t size;
    trace_settings_shape(&settings, processor_count(), &shape, &options.keep);
    HRESULT hr = session_buffers_size(&shape, &size);
    if (FAILED(hr))
        return hr;
    p->memory = memory_zero(1, size + SESSION_DATA_UNIT);
    if (!p->memory)
        return E_OUTOFMEMORY;
    uint8_t *aligned =
        (uint8_t *)p->memory + (SESSION_DATA_UNIT - (uintptr_t)p->memory % SESSION_DATA_UNIT) % SESSION_DATA_UNIT;
    hr = session_buffers_create(aligned, size, &shape, &p->buffers);
    if (FAILED(hr))
        return hr;
    p->buffers.wake = wake;
    p->buffers.wake_context = p->wakeup;
    return session_drain_create(&p->buffers, &options, &p->drain);
}

static void add(struct private_session *p)
{
    static bool at_exit;
    host_lock_enter(&lock);
    p->next = sessions;
    sessions = p;
    if (!at_exit)
        at_exit = atexit(private_sessions_end) == 0;
    host_lock_leave(&lock);
}

static void take_out(struct private_session *p)
{
    host_lock_enter(&lock);
    struct private_session **at = &sessions;
    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
    host_lock_leave(&lock);
}

HRESULT private_session_create(const struct directory_session *s, struct private_session **out,
                               struct session_buffers *buffers)
{
    struct private_session *p = memory_zero(1, sizeof *p);
    *out = NULL;
    if (!p)
        return E_OUTOFMEMORY;
    p->stopped = true; /* nothing to finish yet */
    p->period = s->flush_ms != 0 ? s->flush_ms : FLUSH_MS;
    HRESULT hr = copy_session(s, p);
    if (SUCCEEDED(hr))
        hr = wakeup_create(&p->wakeup);
    if (SUCCEEDED(hr))
        hr = make_buffers(p);
    if (SUCCEEDED(hr)) {
        const ULONG code = session_output_open(&p->output, &p->session, &p->buffers);
        hr = code == ERROR_SUCCESS ? S_OK : HRESULT_FROM_WIN32((LONG)code);
        p->stopped = FAILED(hr);
    }
    p->users = 2;
    if (SUCCEEDED(hr)) {
        struct thread *thread;
        hr = thread_start(empty, p, &thread);
        if (SUCCEEDED(hr))
            thread_close(thread);
    }
    if (FAILED(hr)) {
        p->users = 1;
        private_session_free(p);
        return hr;
    }
    add(p);
    *buffers = p->buffers;
    *out = p;
    return S_OK;
}

void private_session_set_flush(struct private_session *p, uint32_t ms)
{
    const uint32_t period = ms != 0 ? ms : FLUSH_MS;
    if (atomic_exchange(&p->period, period) != period)
        wakeup_set(p->wakeup);
}

void private_session_stop(struct private_session *p)
{
    enter(p);
    finish(p);
    leave(p);
    if (p->wakeup)
        wakeup_set(p->wakeup);
}

void private_session_free(struct private_session *p)
{
    if (!p)
        return;
    take_out(p);
    private_session_stop(p);
    drop(p);
}

void private_sessions_end(void)
{
    /* Of threads that were ended nobody gives a lock back: what one was in the middle of stays as it is. */
    const bool alone = process_is_ending();
    if (!alone)
        host_lock_enter(&lock);
    for (struct private_session *p = sessions; p; p = p->next)
        if (!alone)
            private_session_stop(p);
        else if (!atomic_load(&p->busy))
            finish(p);
    if (!alone)
        host_lock_leave(&lock);
}
