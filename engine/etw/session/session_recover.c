/* SPDX-License-Identifier: MIT */
/* Recovers sessions whose host processes have exited: writes the events that the log does not contain yet, and removes
   the session from the directory. On a host OS, only one process at a time recovers sessions, under a mutex; during a
   recovery, the directory can be changed. If the recovering process is killed, too, the next one starts over:
   session_drain_recover may be repeated. */
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

enum {
    PATIENCE_MS = 1000, /* how long to wait for writers in the middle of an event */
    OPEN_MS = 1000,     /* maximum time until the system has closed the file of a dead process */
    STEP_MS = 5,
};

HRESULT session_remove(struct directory *d, const struct directory_session *s)
{
    GUID *providers;
    size_t count;
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return hr;
    hr = directory_session_remove(d, s->logger, s->generation, &providers, &count);
    directory_end(d, providers, count);
    memory_free(providers);
    return hr;
}

/* Returns whether a living process has registered the provider. */
static bool is_registered(struct directory *d, const GUID *provider)
{
    struct directory_registration *list;
    size_t count;
    bool found = false;
    if (FAILED(directory_registrations(d, &list, &count)))
        return true; /* the registrations cannot be read: assume that there is one */
    for (size_t i = 0; i < count && !found; i++)
        found = guid_equal(&list[i].provider, provider);
    memory_free(list);
    return found;
}

/* Returns whether the session is a whole private session, which has parts instead of a host. */
static bool is_private_whole(const struct directory_session *s)
{
    return (s->mode & TRACE_MODE_PRIVATE_LOGGER) != 0 && s->whole == 0;
}

static bool has_parts(struct directory *d, const struct directory_session *s)
{
    struct directory_session *parts;
    size_t count;
    if (FAILED(private_parts(d, s, NULL, &parts, &count)))
        return true; /* the parts cannot be read: assume that there are some */
    directory_sessions_free(parts, count);
    return count != 0;
}

/* Returns whether the session has ended because its host process has exited (or, while the session is starting, its
   starter). A private session has no host process. It has ended if its starter has exited, it has no parts, and no
   process can begin one: the session is limited to the starter's process, or no living process has registered the
   provider. */
static bool has_ended(struct directory *d, const struct directory_session *s)
{
    const struct directory_process *p = s->state == DIRECTORY_STARTING ? &s->starter : &s->host;
    if (process_alive(p->id, p->start_time))
        return false;
    return !is_private_whole(s) ||
           (!has_parts(d, s) && ((s->mode & TRACE_MODE_PRIVATE_IN_PROC) != 0 || !is_registered(d, &s->guid)));
}

/* ---- the log ---- */

struct recovery {
    struct directory *d;
    const struct directory_session *session;
    struct session_buffers buffers;
    struct etl_log log;
    struct session_file *file;
    uint64_t events; /* events written by this recovery */
};

/* Used when a part is recovered. Only the part's own process wrote into the part's buffers, and its threads have
   ended. */
static bool none_alive(void *context, uint32_t owner, uint32_t thread)
{
    (void)context, (void)owner, (void)thread;
    return false;
}

static HRESULT recovery_open_log(struct recovery *r)
{
    const struct session_totals *totals = &r->buffers.shared->totals;
    const uint64_t reported[2] = {atomic_load(&totals->events_reported), atomic_load(&totals->buffers_reported)};
    const struct session_file_options options = session_output_options(r->session, &r->log, r->session->file);
    const uint64_t from = clock_monotonic_ms();
    struct wakeup *never;
    HRESULT hr = wakeup_create(&never);
    if (FAILED(hr))
        return hr;
    do {
        const uint64_t number = atomic_load(&totals->file);
        hr = session_file_continue(&options, number != 0 ? number : 1, reported, &r->file);
        /* The file was deleted, or the host process had not created it yet. */
        if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
            hr = session_file_create(&options, &r->file);
    } while (hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) &&
             clock_passed_ms(from, clock_monotonic_ms()) < OPEN_MS && (wakeup_wait(never, STEP_MS), true));
    wakeup_free(never);
    return hr;
}

static HRESULT recovery_write(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct recovery *r = context;
    return r->file ? session_file_write(r->file, head, bytes) : S_FALSE;
}

static bool recovery_holds(void *context, uint64_t number)
{
    const struct recovery *r = context;
    return r->file && session_file_holds(r->file, number);
}

static HRESULT recovery_write_rest(struct recovery *r)
{
    const bool is_part = r->session->whole != 0;
    const struct session_drain_options options = {
        .liveness = {is_part ? none_alive : directory_alive, r->d},
        .clock = r->session->clock,
        .logger = is_part ? 0 : (uint16_t)r->session->logger,
        .first_number = r->file ? session_file_first_number(r->file) : 1,
    };
    const struct session_sink sink = {recovery_write, recovery_holds, r};
    struct session_statistics before, after;
    struct session_drain *drain;
    HRESULT hr = session_drain_create(&r->buffers, &options, &drain);
    if (FAILED(hr))
        return hr;
    session_statistics_read(&r->buffers, &before);
    hr = session_drain_recover(drain, &sink, PATIENCE_MS);
    session_drain_free(drain);
    session_statistics_read(&r->buffers, &after);
    r->events = after.events - before.events;
    if (r->file)
        session_file_lost(r->file, after.events_lost, after.buffers_lost);
    return hr == S_FALSE ? S_OK : hr; /* S_FALSE: the file has reached its maximum; lost buffers were counted */
}

/* Recovers a session whose section exists. A session that is only in memory has no log: its events are lost. */
static HRESULT recovery_save(struct recovery *r)
{
    HRESULT hr = r->session->file ? session_output_log(r->session, &r->log) : S_OK;
    if (SUCCEEDED(hr) && r->session->file)
        hr = recovery_open_log(r);
    if (FAILED(hr))
        return hr;
    hr = recovery_write_rest(r);
    if (r->file) {
        const HRESULT closed = session_file_close(r->file, clock_utc());
        hr = SUCCEEDED(hr) ? closed : hr;
    }
    return hr;
}

static HRESULT recovery_save_section(struct recovery *r)
{
    struct section *section;
    const struct shared what = {.name = r->session->section, .lasting = true};
    HRESULT hr = section_open(&what, (size_t)r->session->section_size, &section);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE; /* nothing to recover: the host process deletes its section when it has written all events */
    if (FAILED(hr))
        return hr;
    hr = session_buffers_map(section_memory(section), (size_t)r->session->section_size, &r->buffers);
    if (SUCCEEDED(hr))
        hr = recovery_save(r);
    if (SUCCEEDED(hr) && r->session->whole != 0)
        hr = private_part_over(r->d, r->session, &r->buffers);
    etl_log_free(&r->log);
    section_close(section);
    return hr;
}

/* ---- the session ---- */

/* Reports the failure only once, because each call that finds the session tries the recovery again. */
static void report_failure_once(const struct directory_session *s, HRESULT hr)
{
    static _Atomic uint64_t reported;
    const uint64_t session =
        (uint64_t)s->generation << 32 | s->logger; /* not the handle: all kernel sessions have the same one */
    if (atomic_exchange(&reported, session) != session)
        session_journal_event(SESSION_RECOVERY_FAILED, s, hr, 0);
}

static HRESULT recover_session(struct directory *d, const struct directory_session *s, bool give_up, bool reports)
{
    struct recovery r = {.d = d, .session = s};
    const bool running = (s->state == DIRECTORY_RUNNING || s->state == DIRECTORY_STOPPING) && !is_private_whole(s);
    const HRESULT hr = running ? recovery_save_section(&r) : S_FALSE;
    if (FAILED(hr) && !give_up) {
        if (reports)
            report_failure_once(s, hr);
        return hr;
    }
    const struct error_kept why = error_keep(hr);
    if (!is_private_whole(s))
        (void)section_delete(s->section);
    const HRESULT removed = session_remove(d, s);
    if (removed == S_OK && running && reports)
        session_journal_event(FAILED(hr) || (hr == S_OK && !s->file) ? SESSION_NOT_RECOVERED : SESSION_RECOVERED, s, hr,
                              r.events);
    return FAILED(hr) ? error_restore(&why) : removed;
}

static HRESULT recover_if_ended(struct directory *d, uint32_t logger, uint32_t generation, bool give_up, bool own)
{
    struct directory_session s;
    HRESULT hr = directory_session_at(d, logger, generation, &s);
    if (hr != S_OK)
        return hr;
    hr = own || has_ended(d, &s) ? recover_session(d, &s, give_up, !own) : S_FALSE;
    directory_session_free(&s);
    return hr;
}

static HRESULT recover_under_mutex(struct directory *d, uint32_t logger, uint32_t generation, bool give_up, bool own)
{
    struct mutex *mutex;
    HRESULT hr = mutex_open("openetw-rescue", &mutex);
    if (FAILED(hr))
        return hr;
    hr = mutex_take(mutex, UINT32_MAX);
    if (SUCCEEDED(hr)) {
        hr = recover_if_ended(d, logger, generation, give_up, own);
        mutex_release(mutex);
    }
    mutex_close(mutex);
    return hr;
}

HRESULT session_recover_or(struct directory *d, uint32_t logger, uint32_t generation, bool give_up)
{
    struct directory_session s;
    HRESULT hr = directory_session_at(d, logger, generation, &s);
    if (hr != S_OK)
        return hr;
    if (is_private_whole(&s))
        session_recover_parts(d, &s);
    const bool ended = has_ended(d, &s);
    TRACE_STEP(etw, "logger %u: its host process has%s exited", (unsigned)logger, ended ? "" : " not");
    directory_session_free(&s);
    return ended ? recover_under_mutex(d, logger, generation, give_up, false) : S_FALSE;
}

HRESULT session_recover_own(struct directory *d, uint32_t logger, uint32_t generation)
{
    return recover_under_mutex(d, logger, generation, false, true);
}

void session_recover_parts(struct directory *d, const struct directory_session *s)
{
    struct directory_session *parts;
    size_t count;
    if (FAILED(private_parts(d, s, NULL, &parts, &count)))
        return;
    for (size_t i = 0; i < count; i++)
        (void)session_recover(d, parts[i].logger, parts[i].generation);
    directory_sessions_free(parts, count);
}

void session_recover_all(struct directory *d)
{
    struct directory_session *list;
    size_t count;
    if (FAILED(directory_sessions(d, &list, &count)))
        return;
    for (size_t i = 0; i < count; i++)
        (void)session_recover(d, list[i].logger, list[i].generation);
    directory_sessions_free(list, count);
}
