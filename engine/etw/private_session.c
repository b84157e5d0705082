/* SPDX-License-Identifier: MIT */
#include "engine/etw/private_session.h"

#include "engine/etw/session_buffers.h"
#include "engine/etw/session_output.h"
#include "engine/etw/trace_properties.h"
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/thread.h"

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
    struct thread *thread;
    struct section *first; /* held by the process whose file has the plain name */
    atomic_uint period;    /* ms between flushes */
    atomic_bool stop;
    atomic_bool busy; /* its thread is at the buffers or the file */
    bool stopped;
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

static void finish(struct private_session *p)
{
    const struct session_sink sink = session_output_sink(&p->output);
    if (p->stopped)
        return;
    p->stopped = true;
    (void)session_drain_stop(p->drain, &sink, STOP_PATIENCE_MS);
    session_output_close(&p->output);
}

static void empty(void *user)
{
    struct private_session *p = user;
    const struct session_sink sink = session_output_sink(&p->output);
    uint64_t flushed = clock_monotonic_ms();
    HRESULT hr;
    while (!atomic_load(&p->stop)) {
        const uint32_t period = atomic_load(&p->period);
        bool in_use = true;
        atomic_store(&p->busy, true);
        const uint32_t done = session_drain_pass(p->drain, &sink, &hr);
        if (p->output.full)
            break;
        if (clock_passed_ms(flushed, clock_monotonic_ms()) >= period) {
            flushed = clock_monotonic_ms();
            (void)session_drain_tend(p->drain);
            session_drain_flush(p->drain);
        }
        const bool sleeps = done == 0 && session_drain_sleep(p->drain, &in_use);
        atomic_store(&p->busy, false);
        if (done == 0)
            (void)wakeup_wait(p->wakeup, !sleeps ? 1 : in_use ? period : IDLE_MS);
        session_drain_wake(p->drain);
    }
    atomic_store(&p->busy, true);
    finish(p);
    atomic_store(&p->busy, false);
}

static void wake(void *context)
{
    wakeup_set(context);
}

/* ---- its beginning and end ---- */

static HRESULT copy_session(const struct directory_session *s, struct private_session *p)
{
    char name[sizeof s->section + 8];
    const struct shared first = {.name = name, .create = true, .fresh = true};
    snprintf(name, sizeof name, "%s-first", s->section);
    p->session = *s;
    p->session.name = text_copy(s->name);
    p->session.file = NULL;
    if (!p->session.name)
        return E_OUTOFMEMORY;
    if (!s->file)
        return S_OK;
    HRESULT hr = (s->mode & TRACE_MODE_PRIVATE_IN_PROC) != 0 ? S_OK : section_open(&first, 1, &p->first);
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        p->session.file = text_format("%s_%u", s->file, (unsigned)process_own_id());
    else if (SUCCEEDED(hr))
        p->session.file = text_copy(s->file);
    else
        return hr;
    return p->session.file ? S_OK : E_OUTOFMEMORY;
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
    if (SUCCEEDED(hr))
        hr = thread_start(empty, p, &p->thread);
    if (FAILED(hr)) {
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
    if (!p->thread)
        return;
    atomic_store(&p->stop, true);
    wakeup_set(p->wakeup);
    while (!thread_wait(p->thread, UINT32_MAX))
        ;
    thread_close(p->thread);
    p->thread = NULL;
}

void private_session_free(struct private_session *p)
{
    if (!p)
        return;
    take_out(p);
    private_session_stop(p);
    if (p->drain)
        finish(p);
    session_drain_free(p->drain);
    section_close(p->first);
    wakeup_free(p->wakeup);
    memory_free(p->memory);
    directory_session_free(&p->session);
    memory_free(p);
}

void private_sessions_end(void)
{
    enum { MOST_MS = 2000 };
    for (struct private_session *p = sessions; p; p = p->next) {
        if (!p->thread)
            continue;
        atomic_store(&p->stop, true);
        wakeup_set(p->wakeup);
        /* Where threads have been ended by now it has to be done here, if they were not in the middle of it. */
        if (thread_wait(p->thread, MOST_MS) && !atomic_load(&p->busy))
            finish(p);
    }
}
