/* SPDX-License-Identifier: MIT */
#include "engine/etw/provider/private_session.h"

#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/base/thread_slot.h"
#include "engine/etw/provider/private_parts.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <stdlib.h>

struct private_session {
    struct session_host host;
    uint32_t logger, turn, whole, whole_turn;
    /* Whoever is at the buffers or the file has it; nobody waits for the thread itself, which may need the loader's
       lock to begin and to end. */
    struct host_lock lock;
    atomic_uint users; /* the owner, and the thread */
    struct private_session *next;
};
static struct host_lock lock = HOST_LOCK_INIT;
static struct private_session *sessions;

/* ---- who is in it ---- */

void private_session_filters(const struct directory_scope *scope, struct directory_enable *out)
{
    const uint8_t *at = scope->data;
    *out = (struct directory_enable){.filter_count = scope->count};
    for (uint32_t i = 0; i < scope->count; i++) {
        out->filter[i] = (struct directory_filter){scope->filter[i].type, scope->filter[i].size, at};
        at += (scope->filter[i].size + 7) / 8 * 8;
    }
}

bool private_session_is_here(const struct directory_session *s, const struct provider_scope *own)
{
    struct directory_enable filters;
    if ((s->mode & TRACE_MODE_PRIVATE_IN_PROC) != 0 &&
        (s->starter.id != own->process.id || s->starter.start_time != own->process.start_time))
        return false;
    private_session_filters(&s->scope, &filters);
    return provider_filter_admits(&filters, own);
}

/* ---- the thread that empties it ---- */

static void drop(struct private_session *p)
{
    if (atomic_fetch_sub(&p->users, 1) != 1)
        return;
    session_host_release(&p->host);
    memory_free(p);
}

/* Above the number of threads in `empty`: how often it changed. Only the threads themselves change it, so that no more
   are counted than there are. */
static _Atomic uint64_t threads;
#define THREADS_CHANGED (UINT64_C(1) << 32)

static void empty(void *user)
{
    struct private_session *p = user;
    const struct directory_session whole = {.logger = p->whole, .turn = p->whole_turn};
    atomic_fetch_add(&threads, THREADS_CHANGED + 1);
    session_rescue_parts(p->host.d, &whole); /* of processes that were killed */
    host_lock_enter(&p->lock);
    if (!p->host.finished)
        session_host_own(&p->host);
    session_host_run(&p->host);
    host_lock_leave(&p->lock);
    drop(p);
    atomic_fetch_add(&threads, THREADS_CHANGED - 1);
}

uint64_t private_sessions_threads(void)
{
    return atomic_load(&threads);
}

/* ---- its beginning and end ---- */

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

/* Each change of the directory tries again. */
static void tell_once(const struct directory_session *part, HRESULT hr)
{
    static _Atomic uint64_t told;
    const uint64_t whole = (uint64_t)part->whole_turn << 32 | part->whole;
    if (atomic_exchange(&told, whole) != whole)
        session_tell(SESSION_NOT_WRITTEN, part, hr, 0);
}

static HRESULT begin(struct private_session *p, const struct directory_session *part)
{
    struct thread *thread;
    const ULONG code = session_host_begin(&p->host, part->logger, part->turn);
    HRESULT hr = code == ERROR_SUCCESS ? S_OK : HRESULT_FROM_WIN32((LONG)code);
    if (FAILED(hr)) {
        if (p->host.section)
            (void)section_delete(p->host.session.section);
        return hr;
    }
    p->host.lock = &p->lock;
    p->logger = part->logger;
    p->turn = part->turn;
    p->whole = part->whole;
    p->whole_turn = part->whole_turn;
    p->users = 2;
    hr = thread_start(empty, p, &thread);
    if (SUCCEEDED(hr)) {
        thread_close(thread);
        return S_OK;
    }
    p->users = 1;
    const struct error_kept why = error_keep(hr);
    session_host_finish(&p->host);
    return error_restore(&why);
}

HRESULT private_session_create(struct directory *d, const struct directory_session *s, struct private_session **out,
                               struct session_buffers *buffers)
{
    struct private_session *p = memory_zero(1, sizeof *p);
    struct directory_session part;
    *out = NULL;
    if (!p)
        return E_OUTOFMEMORY;
    p->users = 1;
    HRESULT hr = private_part_enter(d, s, &part);
    if (hr == S_OK) {
        hr = begin(p, &part);
        if (FAILED(hr)) {
            tell_once(&part, hr);
            private_part_refuse(d, &part);
        }
        directory_session_free(&part);
    }
    if (hr != S_OK) {
        drop(p);
        return hr;
    }
    add(p);
    *buffers = p->host.buffers;
    *out = p;
    return S_OK;
}

void private_session_stop(struct private_session *p)
{
    atomic_store(&p->host.end, true); /* while others write without a pause, its thread sleeps never */
    host_lock_enter(&p->lock);
    session_host_finish(&p->host);
    host_lock_leave(&p->lock);
    (void)signal_set(p->host.signal);
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
    /* Threads that were ended, wherever they were, leave what a process that was killed would. */
    const bool alone = process_is_ending();
    if (!alone)
        host_lock_enter(&lock);
    for (struct private_session *p = sessions; p; p = p->next) {
        if (!alone) {
            private_session_stop(p);
        } else {
            session_output_cut_off(&p->host.output);
            (void)session_rescue_own(p->host.d, p->logger, p->turn);
        }
    }
    if (!alone)
        host_lock_leave(&lock);
}
