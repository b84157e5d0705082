/* SPDX-License-Identifier: MIT */
/* The parts of private sessions: their entries in the directory, and the thread of this process's part. */
#include "engine/etw/provider/private_session.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HRESULT private_parts(struct directory *d, const struct directory_session *s, struct directory_totals *ended,
                      struct directory_session **out, size_t *count)
{
    size_t all, parts = 0;
    const HRESULT hr = directory_sessions(d, out, &all);
    *count = 0;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < all; i++) {
        if (ended && (*out)[i].logger == s->logger && (*out)[i].generation == s->generation)
            *ended = (*out)[i].ended;
        if ((*out)[i].whole == s->logger && (*out)[i].whole_generation == s->generation)
            (*out)[parts++] = (*out)[i];
        else
            directory_session_free(&(*out)[i]);
    }
    *count = parts;
    return hr;
}

char *private_part_file(const struct directory_session *part, const char *file)
{
    if (!file)
        return NULL;
    if (part->named)
        return text_copy(file);
    char *own = text_format("%s_%u", file, (unsigned)part->starter.id);
    const size_t length = own && part->file ? strlen(own) : 0;
    if (length == 0 || strncmp(part->file, own, length) != 0 || part->file[length] != '_')
        return own;
    memory_free(own); /* keep the file name to which private_part_find_file added a number */
    return text_copy(part->file);
}

/* Returns whether the file was written since the session started; true if that is unknown. */
static bool is_of_session(const char *path, int64_t started)
{
    struct file *file;
    struct file_traits traits = {.written = 0};
    HRESULT hr = file_open_source(path, &file);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
        return false;
    if (FAILED(hr))
        return true;
    hr = file_traits_of(file, &traits);
    file_close(file);
    return FAILED(hr) || traits.written >= started;
}

/* Returns the name of the first file, as session_file forms it; from memory_alloc. */
static char *first_file(const struct directory_session *part, const char *file)
{
    const char *at = (part->mode & TRACE_MODE_NEWFILE) != 0 ? strstr(file, "%d") : NULL;
    return at ? text_format("%.*s1%s", (int)(at - file), file, at + 2) : text_copy(file);
}

HRESULT private_part_find_file(struct directory_session *part)
{
    enum { MOST = 1000 };
    if (part->named || !part->file)
        return S_OK;
    for (unsigned number = 1; number <= MOST; number++) {
        char *file = number == 1 ? text_copy(part->file) : text_format("%s_%u", part->file, number);
        char *first = file ? first_file(part, file) : NULL;
        const bool taken = first && is_of_session(first, part->started);
        memory_free(first);
        if (first && !taken) {
            memory_free(part->file);
            part->file = file;
            return S_OK;
        }
        memory_free(file);
        if (!first)
            return E_OUTOFMEMORY;
    }
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "cannot create '%s': too many files of this name exist",
                     part->file);
}

/* Ends a change: commits it, or discards it if `hr` is a failure. */
static void part_end_change(struct directory *d, HRESULT hr)
{
    if (FAILED(hr))
        directory_cancel(d);
    else
        (void)directory_end(d, NULL, 0);
}

/* Adds the entry of a part. Call it during a change of the directory. */
static HRESULT part_enter(struct directory *d, const struct directory_session *s, struct directory_session *part)
{
    struct directory_session whole;
    char key[SHARED_KEY_DIGITS + 1];
    HRESULT hr = directory_session_at(d, s->logger, s->generation, &whole);
    if (hr != S_OK)
        return hr;
    *part = whole;
    part->state = DIRECTORY_STARTING;
    part->starter = part->host = (struct directory_process){process_own_id(), process_start_time(process_own_id())};
    part->whole = whole.logger;
    part->whole_generation = whole.generation;
    part->logger = part->generation = 0;
    part->named = !whole.numbered && (!whole.named || (whole.mode & TRACE_MODE_PRIVATE_IN_PROC) != 0);
    part->ended = (struct directory_totals){0};
    part->scope = (struct directory_scope){0};
    part->name = text_copy(whole.name);
    part->file = private_part_file(part, whole.file);
    hr = part->name && (part->file || !whole.file) ? shared_new_key(key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        snprintf(part->section, sizeof part->section, "openetw-%s", key);
        snprintf(part->signal, sizeof part->signal, "openetw-%s", key);
        hr = whole.state == DIRECTORY_RUNNING ? directory_session_add(d, part) : S_FALSE;
    }
    if (hr == S_OK && part->named && !whole.named) {
        whole.named = true;
        hr = directory_session_set(d, &whole);
    }
    directory_session_free(&whole);
    if (hr != S_OK)
        directory_session_free(part);
    return hr;
}

HRESULT private_part_enter(struct directory *d, const struct directory_session *s, struct directory_session *part)
{
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return hr;
    hr = part_enter(d, s, part);
    part_end_change(d, hr);
    return hr;
}

/* Allows another part to use the log file name of the session. Call it during a change of the directory. */
static HRESULT part_clear_named(struct directory *d, const struct directory_session *part)
{
    struct directory_session whole;
    HRESULT hr = directory_session_at(d, part->whole, part->whole_generation, &whole);
    if (hr != S_OK)
        return hr;
    whole.named = false;
    hr = directory_session_set(d, &whole);
    directory_session_free(&whole);
    return hr;
}

void private_part_refuse(struct directory *d, const struct directory_session *part)
{
    if (FAILED(directory_begin(d)))
        return;
    GUID *none = NULL;
    size_t count;
    if (part->named)
        (void)part_clear_named(d, part);
    (void)directory_session_remove(d, part->logger, part->generation, &none, &count);
    memory_free(none);
    (void)directory_end(d, NULL, 0);
}

/* Adds a part's totals to its session. Call it during a change of the directory. Returns S_FALSE if the totals have
   already been added or the session has ended. */
static HRESULT part_add_totals(struct directory *d, const struct directory_session *s,
                               const struct session_statistics *totals)
{
    struct directory_session whole, part;
    HRESULT hr = directory_session_at(d, s->logger, s->generation, &part);
    if (hr != S_OK)
        return hr;
    if (part.state == DIRECTORY_OVER) {
        directory_session_free(&part);
        return S_FALSE;
    }
    part.state = DIRECTORY_OVER;
    hr = directory_session_set(d, &part);
    directory_session_free(&part);
    if (hr == S_OK)
        hr = directory_session_at(d, s->whole, s->whole_generation, &whole);
    if (hr != S_OK)
        return hr;
    whole.ended.events_lost += totals->events_lost;
    whole.ended.buffers_written += totals->buffers_written;
    whole.ended.buffers_lost += totals->buffers_lost;
    hr = directory_session_set(d, &whole);
    directory_session_free(&whole);
    return hr;
}

HRESULT private_part_over(struct directory *d, const struct directory_session *part, const struct session_buffers *b)
{
    struct session_statistics totals = {0};
    if (b)
        session_statistics_read(b, &totals);
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return hr;
    hr = part_add_totals(d, part, &totals);
    part_end_change(d, hr);
    return hr;
}

/* ---- the part of this process ---- */

struct private_session {
    struct session_host host;
    uint32_t logger, generation, whole, whole_generation;
    /* Held while using the buffers or the file. Other threads wait for this lock, never for the end of the part's
       thread: that thread may need the loader's lock in order to start and to end. */
    struct lock lock;
    atomic_uint users; /* references held by the owner and the thread */
    struct private_session *next;
};
static struct lock lock = LOCK_INIT;
static struct private_session *sessions;

/* ---- the processes in the session ---- */

/* Converts a session's scope to filters, which point into the scope. */
static void private_session_filters(const struct directory_scope *scope, struct directory_enable *out)
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

/* ---- the thread that empties the buffers ---- */

static void private_session_drop(struct private_session *p)
{
    if (atomic_fetch_sub(&p->users, 1) != 1)
        return;
    session_host_release(&p->host);
    memory_free(p);
}

/* Low half: the number of threads in `private_session_run`; high half: how often this number changed. Only these
   threads change it, so it never exceeds the number of existing threads. */
static _Atomic uint64_t threads;
#define THREADS_CHANGED (UINT64_C(1) << 32)

static void private_session_run(void *user)
{
    struct private_session *p = user;
    const struct directory_session whole = {.logger = p->whole, .generation = p->whole_generation};
    atomic_fetch_add(&threads, THREADS_CHANGED + 1);
    session_recover_parts(p->host.d, &whole); /* first, recover the parts of killed processes */
    lock_enter(&p->lock);
    if (!p->host.finished)
        session_host_own(&p->host);
    session_host_run(&p->host);
    lock_leave(&p->lock);
    private_session_drop(p);
    atomic_fetch_add(&threads, THREADS_CHANGED - 1);
}

uint64_t private_sessions_threads(void)
{
    return atomic_load(&threads);
}

/* ---- starting and stopping the part ---- */

/* Called when the process exits normally. */
static void private_sessions_end(void);

static void private_session_add(struct private_session *p)
{
    static bool at_exit;
    lock_enter(&lock);
    p->next = sessions;
    sessions = p;
    if (!at_exit)
        at_exit = atexit(private_sessions_end) == 0;
    lock_leave(&lock);
}

static void private_session_remove(struct private_session *p)
{
    lock_enter(&lock);
    struct private_session **at = &sessions;
    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
    lock_leave(&lock);
}

/* Reports the failure only once, because each change of the directory causes another attempt. */
static void part_report_once(const struct directory_session *part, HRESULT hr)
{
    static _Atomic uint64_t reported;
    const uint64_t whole = (uint64_t)part->whole_generation << 32 | part->whole;
    if (atomic_exchange(&reported, whole) != whole)
        session_journal_event(SESSION_NOT_WRITTEN, part, hr, 0);
}

static HRESULT private_session_begin(struct private_session *p, const struct directory_session *part)
{
    struct thread *thread;
    const ULONG code = session_host_begin(&p->host, part->logger, part->generation);
    HRESULT hr = code == ERROR_SUCCESS ? S_OK : HRESULT_FROM_WIN32((LONG)code);
    if (FAILED(hr)) {
        if (p->host.section)
            (void)section_delete(p->host.session.section);
        return hr;
    }
    p->host.lock = &p->lock;
    p->logger = part->logger;
    p->generation = part->generation;
    p->whole = part->whole;
    p->whole_generation = part->whole_generation;
    p->users = 2;
    hr = thread_start(private_session_run, p, &thread);
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
        hr = private_session_begin(p, &part);
        if (FAILED(hr)) {
            part_report_once(&part, hr);
            private_part_refuse(d, &part);
        }
        directory_session_free(&part);
    }
    if (hr != S_OK) {
        private_session_drop(p);
        return hr;
    }
    private_session_add(p);
    *buffers = p->host.buffers;
    *out = p;
    return S_OK;
}

void private_session_stop(struct private_session *p)
{
    atomic_store(&p->host.end, true); /* set before the lock is taken: the part's thread holds the lock until it sleeps
                                         or ends, and it never sleeps while other threads keep writing */
    lock_enter(&p->lock);
    session_host_finish(&p->host);
    lock_leave(&p->lock);
    (void)signal_set(p->host.signal);
}

void private_session_free(struct private_session *p)
{
    if (!p)
        return;
    private_session_remove(p);
    private_session_stop(p);
    private_session_drop(p);
}

static void private_sessions_end(void)
{
    /* When the process is ending, its other threads have already been terminated, and its private sessions are in the
       same state as after a kill. */
    const bool alone = process_is_ending();
    if (!alone)
        lock_enter(&lock);
    for (struct private_session *p = sessions; p; p = p->next) {
        if (!alone) {
            private_session_stop(p);
        } else {
            session_output_cut_off(&p->host.output);
            (void)session_recover_own(p->host.d, p->logger, p->generation);
        }
    }
    if (!alone)
        lock_leave(&lock);
}
