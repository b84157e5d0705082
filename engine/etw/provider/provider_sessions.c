/* SPDX-License-Identifier: MIT */
/* The sessions that this process has mapped for its providers, and its entries in the directory.

   One waiting thread per process, started with the first registration, follows the directory: it applies changes to the
   registrations, maps and unmaps sessions, recovers sessions whose host processes have exited, frees what
   provider_reclaim can free, registers again after the directory was reset, and ends a process whose other threads have
   all ended.

   Locks, in this order: `joining` protects this process's entries in the directory; `refreshing` is held while the
   directory is read and applied, so an older state never replaces a newer one; provider_lock protects the table. No
   lock is held during a callback. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

struct mapping {
    struct provider_session session; /* the part that writers use; must be the first member */
    struct section *section;
    struct signal *signal;
    struct process *host;            /* NULL: this process does not wait for the host process's exit */
    struct private_session *private; /* the part of this process; NULL: the session is mapped from its host process */
};

/* Protected by `refreshing`. */
static struct lock refreshing = LOCK_INIT;
static struct mapping *stale[DIRECTORY_PLACES + 1]; /* removed from by_logger, waiting to be retired */

static _Atomic(struct mapping *) by_logger[DIRECTORY_PLACES + 1];
static bool out_of_memory; /* there was not enough memory for a session; protected by `refreshing` */
/* For each logger id, one plus the revision at which no session with this id was running; 0: no such revision is
   known. */
static _Atomic uint64_t vacant[DIRECTORY_PLACES + 1];

/* Protected by `joining`. `directory` also changes under `refreshing`. */
static struct lock joining = LOCK_INIT;
static _Atomic(struct directory *) directory;
static _Atomic(struct signal *) own_signal;
static uint64_t joined; /* directory_born of the directory in which this process has a slot */
static uint64_t start_time;
static char *program; /* file name of the program; NULL: unknown */

/* Returns the Windows error code for a result. */
static ULONG provider_status(HRESULT hr)
{
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    if (hr == E_OUTOFMEMORY)
        return ERROR_NOT_ENOUGH_MEMORY;
    return ((uint32_t)hr & 0xFFFF0000) == 0x80070000 ? (ULONG)hr & 0xFFFF : ERROR_GEN_FAILURE;
}

/* ---- mappings ---- */

static void wake_host(void *mapping)
{
    (void)signal_set(((struct mapping *)mapping)->signal);
}

static void session_unmap(struct provider_session *session)
{
    struct mapping *m = (struct mapping *)(void *)session;
    private_session_free(m->private);
    section_close(m->section);
    signal_close(m->signal);
    process_close(m->host);
    memory_free(m);
}

static HRESULT map_section(struct mapping *m, const struct directory_session *s)
{
    const struct shared section = {.name = s->section, .lasting = true}, signal = {.name = s->signal};
    if (s->section_size > SIZE_MAX)
        return E_OUTOFMEMORY;
    HRESULT hr = section_open(&section, (size_t)s->section_size, &m->section);
    if (SUCCEEDED(hr))
        hr = session_buffers_map(section_memory(m->section), (size_t)s->section_size, &m->session.buffers);
    if (SUCCEEDED(hr))
        hr = signal_open(&signal, &m->signal);
    if (SUCCEEDED(hr))
        hr = process_open(s->host.id, s->host.start_time, &m->host);
    if (SUCCEEDED(hr)) {
        m->session.buffers.wake = wake_host;
        m->session.buffers.wake_context = m;
    }
    return hr;
}

static HRESULT map_private(struct mapping *m, const struct directory_session *s)
{
    m->session.header_flags = ETW_HEADER_PRIVATE_SESSION;
    const HRESULT hr = private_session_create(directory, s, &m->private, &m->session.buffers);
    return hr == S_FALSE ? HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND) : hr;
}

static struct mapping *map_running(const struct directory_session *s)
{
    const bool is_private = (s->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    const struct provider_scope own = {{process_own_id(), start_time}, program};
    if (is_private && (s->whole != 0 || !private_session_is_here(s, &own)))
        return NULL;
    struct mapping *m = memory_zero(1, sizeof *m);
    HRESULT hr = E_OUTOFMEMORY;
    if (m) {
        m->session.header_flags = ETW_HEADER_NO_CPUTIME;
        hr = is_private ? map_private(m, s) : map_section(m, s);
    }
    if (FAILED(hr)) {
        out_of_memory = out_of_memory || hr == E_OUTOFMEMORY;
        if (m)
            session_unmap(&m->session);
        return NULL;
    }
    m->session.logger = s->logger;
    m->session.generation = s->generation;
    m->session.mode = s->mode;
    m->session.most_event = etl_buffer_max_event(m->session.buffers.buffer_size);
    m->session.references = 1;
    m->session.release = session_unmap;
    return m;
}

static struct mapping *session_map(uint32_t logger, uint32_t generation)
{
    struct directory_session s;
    const HRESULT hr = directory_session_at(directory, logger, generation, &s);
    out_of_memory = out_of_memory || hr == E_OUTOFMEMORY;
    if (hr != S_OK)
        return NULL;
    const bool may =
        (s.mode & TRACE_MODE_SECURE) == 0 || trace_allowed(&s.guid, TRACE_RIGHT_LOG_EVENT) == ERROR_SUCCESS;
    struct mapping *m = s.state == DIRECTORY_RUNNING && may ? map_running(&s) : NULL;
    directory_session_free(&s);
    return m;
}

/* Removes the mapping of a logger. Also wakes the session's host process, which sleeps while no events are written: the
   directory may have been reset, and the host process must detect this. */
static void mapping_take_out(uint32_t logger)
{
    struct mapping *m = atomic_exchange_explicit(&by_logger[logger], NULL, memory_order_relaxed);
    if (m && m->signal)
        (void)signal_set(m->signal);
    stale[logger] = m;
}

static void mappings_retire_stale(void)
{
    for (uint32_t i = 0; i <= DIRECTORY_PLACES; i++)
        if (stale[i]) {
            if (stale[i]->private)
                /* The change of the directory counts as applied only after the file of the part is complete. */
                private_session_stop(stale[i]->private);
            provider_session_retire(&stale[i]->session);
            stale[i] = NULL;
        }
}

/* The `session` callback of provider_source. Until mappings_retire_stale is called, session_for removes at most one
   mapping of each logger. */
static struct provider_session *session_for(void *context, uint32_t logger, uint32_t generation)
{
    (void)context;
    if (logger == 0 || logger > DIRECTORY_PLACES)
        return NULL;
    struct mapping *m = atomic_load_explicit(&by_logger[logger], memory_order_relaxed);
    if (m && m->session.generation == generation)
        return &m->session;
    if (m && stale[logger])
        return NULL;
    if (m)
        mapping_take_out(logger);
    m = session_map(logger, generation);
    atomic_store_explicit(&by_logger[logger], m, memory_order_release);
    return m ? &m->session : NULL;
}

static bool session_disallows(void *context, uint32_t logger, uint32_t generation, const GUID *provider)
{
    struct directory_session s;
    bool found = false;
    (void)context;
    if (directory_session_at(directory, logger, generation, &s) != S_OK)
        return false;
    for (uint32_t i = 0; i < s.disallowed_count && i < DIRECTORY_DISALLOWED && !found; i++)
        found = guid_equal(&s.disallowed[i], provider);
    directory_session_free(&s);
    return found;
}

/* Removes sessions that are no longer running. */
static void mappings_take_out_ended(void)
{
    for (uint32_t i = 1; i <= DIRECTORY_PLACES; i++) {
        const struct mapping *m = atomic_load_explicit(&by_logger[i], memory_order_relaxed);
        struct directory_session s;
        if (!m || stale[i])
            continue;
        const HRESULT hr = directory_session_at(directory, i, m->session.generation, &s);
        const bool runs = FAILED(hr) || (hr == S_OK && s.state == DIRECTORY_RUNNING);
        if (hr == S_OK)
            directory_session_free(&s);
        if (!runs)
            mapping_take_out(i);
    }
}

static HRESULT provider_apply_enables(uint64_t handle, uint64_t *revision)
{
    const struct provider_source source = {
        session_for, session_disallows, NULL, {{process_own_id(), start_time}, program}};
    struct directory_enable *list = NULL;
    size_t count = 0;
    lock_enter(&refreshing);
    out_of_memory = false;
    HRESULT hr = directory_enables(directory, NULL, &list, &count, revision);
    if (SUCCEEDED(hr))
        hr = provider_apply(handle, list, count, &source);
    if (SUCCEEDED(hr) && out_of_memory)
        hr = E_OUTOFMEMORY; /* there was no memory for a session, and the state was applied without it; the caller
                               tries again */
    directory_enables_free(list, count);
    if (handle == 0)
        mappings_take_out_ended();
    mappings_retire_stale();
    lock_leave(&refreshing);
    return hr;
}

/* Wakes the waiting thread, which frees what other threads have retired. */
static void call_reclaimer(void)
{
    struct signal *signal = atomic_load(&own_signal);
    if (signal && provider_has_retired())
        (void)signal_set(signal);
}

/* Applies the current state of the directory to this registration, and runs callbacks. If `handle` is 0, applies the
   state to all registrations, and unmaps sessions that have ended. Returns S_FALSE if this process has never registered
   a provider. */
static HRESULT provider_refresh(uint64_t handle)
{
    uint64_t revision;
    lock_enter(&joining);
    const bool takes_part = directory != NULL;
    lock_leave(&joining);
    HRESULT hr = takes_part ? provider_apply_enables(handle, &revision) : S_FALSE;
    call_reclaimer();
    if (SUCCEEDED(hr))
        provider_run_callbacks();
    return hr;
}

/* ---- the waiting thread ---- */

static void report_applied(uint64_t revision)
{
    directory_applied(directory, revision);
}

static bool apply_all(void)
{
    uint64_t revision;
    const bool done = SUCCEEDED(provider_apply_enables(0, &revision));
    provider_run_callbacks();
    if (done)
        provider_when_idle(report_applied, revision);
    return done;
}

HRESULT provider_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms)
{
    const struct provider_thread *t = thread_slot();
    provider_waits(true);
    if (t && t->never_waits)
        (void)apply_all(); /* other threads wait until this thread has applied the changes */
    const HRESULT hr = directory_wait_applied(d, provider, revision, timeout_ms);
    provider_waits(false);
    return hr;
}

/* Lists the host processes of the mapped sessions. The result stays valid until this thread frees mappings. */
static size_t hosts_of(struct process **hosts, uint32_t *loggers)
{
    size_t count = 0;
    for (uint32_t i = 1; i <= DIRECTORY_PLACES && count < SIGNAL_PROCESSES; i++) {
        const struct mapping *m = atomic_load_explicit(&by_logger[i], memory_order_acquire);
        if (m && m->host) {
            hosts[count] = m->host;
            loggers[count++] = i;
        }
    }
    return count;
}

static void host_ended(uint32_t logger, const struct process *host)
{
    struct mapping *m = atomic_load_explicit(&by_logger[logger], memory_order_acquire);
    if (!m || m->host != host)
        return; /* the logger id belongs to another session by now */
    (void)session_recover(directory, logger, m->session.generation);
    process_close(m->host); /* if the recovery failed, the next process that needs the session tries again */
    m->host = NULL;
}

/* Allocates a slot in the directory. Call it under `joining`. */
static HRESULT take_slot(struct directory *d)
{
    uint32_t slot = 0;
    struct signal *signal = NULL;
    const uint64_t born = directory_born(d);
    HRESULT hr = directory_join(d, &slot);
    if (SUCCEEDED(hr))
        hr = directory_own_signal(d, &signal);
    if (FAILED(hr))
        return hr;
    provider_threads_own_slot(slot);
    atomic_store(&own_signal, signal);
    joined = born;
    return S_OK;
}

static void provider_unregister(const struct provider_numbers *numbers)
{
    struct directory *d = directory;
    if (numbers->born != directory_born(d))
        return; /* the directory was reset: in the new one, these numbers may belong to other processes */
    if (numbers->provider != 0)
        directory_unregister(d, numbers->provider - 1);
    if (numbers->group != 0)
        directory_unregister(d, numbers->group - 1);
}

/* Registers the provider in the directory. Call it under `joining`. */
static HRESULT register_now(uint64_t handle, const GUID *guid, bool classic)
{
    struct directory *d = directory;
    struct provider_numbers numbers = {.born = directory_born(d)};
    uint32_t number;
    HRESULT hr = directory_register(d, guid, classic ? DIRECTORY_CLASSIC : DIRECTORY_PROVIDER, &number);
    if (FAILED(hr))
        return hr;
    numbers.provider = number + 1;
    if (!provider_set_numbers(handle, numbers))
        provider_unregister(&numbers);
    return S_OK;
}

/* Registers the provider's group in the directory. Call it under `joining`. Returns S_FALSE if the registration has
   ended. */
static HRESULT register_group(uint64_t handle, const GUID *group)
{
    struct provider_numbers numbers;
    uint32_t number;
    if (!provider_get_numbers(handle, &numbers))
        return S_FALSE;
    HRESULT hr = directory_register(directory, group, DIRECTORY_GROUP, &number);
    if (FAILED(hr))
        return hr;
    numbers.group = number + 1;
    if (!provider_set_numbers(handle, numbers))
        directory_unregister(directory, number);
    return S_OK;
}

static HRESULT register_again(uint64_t handle)
{
    struct provider_identity is;
    struct provider_numbers numbers;
    HRESULT hr = S_FALSE;
    lock_enter(&joining);
    if (provider_get_identity(handle, &is) && provider_get_numbers(handle, &numbers) && numbers.provider != 0 &&
        numbers.born != directory_born(directory)) {
        hr = register_now(handle, &is.guid, is.classic);
        if (SUCCEEDED(hr) && is.has_group)
            (void)register_group(handle, &is.group);
    }
    lock_leave(&joining);
    return hr;
}

/* Joins the directory again after a reset, which removed this process from it. *registered is the directory_born of the
   directory that contains all registrations. Returns false if the caller must try again. */
static bool rejoin_directory(uint64_t *registered)
{
    const uint64_t born = directory_born(directory);
    if (*registered == born)
        return true;
    lock_enter(&joining);
    HRESULT hr = joined != born ? take_slot(directory) : S_OK;
    lock_leave(&joining);
    for (uint32_t i = 0; i < PROVIDER_PLACES && SUCCEEDED(hr); i++)
        hr = register_again(atomic_load(&provider_table[i].handle));
    if (SUCCEEDED(hr))
        *registered = born;
    return SUCCEEDED(hr);
}

/* Switches to the new directory if the directory's file was deleted and controllers already use a new one. Other
   processes may keep using the old directory. */
static bool follow_directory(void)
{
    struct directory *next;
    if (directory_exists(directory, true) || directory_check() != S_OK || FAILED(directory_get(&next)))
        return false;
    lock_enter(&joining);
    const bool follows = next != directory && SUCCEEDED(take_slot(next));
    if (follows) {
        lock_enter(&refreshing);
        directory = next;
        lock_leave(&refreshing);
    }
    lock_leave(&joining);
    return follows;
}

/* A thread that is ending sets `leaving`. The waiting thread clears `leaving` after it has checked whether that thread
   was the last one. */
static atomic_bool leaving;

void provider_thread_leaves(void)
{
    struct signal *signal = atomic_load(&own_signal);
    if (!signal)
        return;
    last_thread_leaves();
    if (!atomic_exchange(&leaving, true))
        (void)signal_set(signal);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Returns whether only this thread and the threads of private sessions are left. Also returns false if threads of
   private sessions began or ended during the check; the next check then gives the answer. */
static bool program_has_left(void)
{
    const uint64_t others = private_sessions_threads();
    return last_thread_is_own((uint32_t)others) && private_sessions_threads() == others;
}

/* A thread reports its end before it has ended. Therefore the next LEAVES_LOOKS checks for remaining threads follow at
   intervals of LEAVES_MS at most. A terminated thread does not report its end. Therefore another check always follows
   after LOOK_MS at most. */
static void wait_for_changes(void *unused)
{
    enum { AGAIN_MS = 100, LOOK_MS = 1000, LEAVES_MS = 20, LEAVES_LOOKS = 10, FOLLOW_MS = 3000 };
    uint32_t looks = 0;
    uint64_t checked = clock_monotonic_ms();
    struct process *hosts[SIGNAL_PROCESSES];
    uint32_t loggers[SIGNAL_PROCESSES];
    (void)unused;
    lock_enter(&joining);
    uint64_t registered = joined;
    lock_leave(&joining);
    struct provider_thread *t = provider_thread_own();
    if (t)
        t->never_waits = true;
    for (bool done = false;;) {
        const uint64_t now = clock_monotonic_ms();
        if (clock_passed_ms(checked, now) >= FOLLOW_MS) {
            checked = now;
            if (follow_directory())
                registered = 0;
        }
        if (registered != directory_born(directory))
            done = false;
        done = done || (rejoin_directory(&registered) && apply_all());
        const bool more = provider_reclaim();
        size_t ended = 0;
        const size_t count = hosts_of(hosts, loggers);
        if (looks == 0 && atomic_load(&leaving))
            looks = LEAVES_LOOKS;
        const uint32_t timeout = least(!done  ? AGAIN_MS
                                       : more ? PROVIDER_GRACE_MS
                                              : LOOK_MS,
                                       looks ? LEAVES_MS : LOOK_MS);
        const HRESULT hr = signal_wait_or_processes(atomic_load(&own_signal), hosts, count, timeout, &ended);
        if (hr == E_ABORT && ended < count)
            host_ended(loggers[ended], hosts[ended]);
        else if (FAILED(hr))
            thread_sleep(AGAIN_MS);
        done = done && hr == S_FALSE; /* S_FALSE: a timeout, so nothing has changed */
        if (looks && --looks == 0)
            atomic_store(&leaving, false);
        if (program_has_left())
            last_thread_end_process();
    }
}

/* ---- taking part ---- */

static void read_own_program(void)
{
    char *path = NULL;
    start_time = process_start_time(process_own_id());
    if (process_program(process_own_id(), start_time, &path) != S_OK)
        return;
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    program = text_copy(name);
    memory_free(path);
}

static HRESULT join_directory(void)
{
    struct directory *d;
    HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr))
        hr = take_slot(d);
    if (FAILED(hr))
        return hr;
    read_own_program();
    directory = d;
    return S_OK;
}

/* Starts the waiting thread, which runs until the process exits. No lock may be held here: a new thread first needs the
   loader's lock. A thread that loads a DLL holds the loader's lock, and may need one of our locks. */
static HRESULT start_waiting(void)
{
    static atomic_bool started;
    struct thread *thread;
    if (atomic_exchange(&started, true))
        return S_OK;
    last_thread_leaves(); /* this thread may be terminated later without reporting its end */
    const HRESULT hr = thread_start(wait_for_changes, NULL, &thread);
    if (FAILED(hr))
        atomic_store(&started, false);
    else
        thread_close(thread); /* no thread waits for this thread's end */
    return hr;
}

static HRESULT provider_process_begin(void)
{
    HRESULT hr = S_OK;
    if (process_is_ending())
        return E_ABORT;
    module_pin();
    lock_enter(&joining);
    if (!directory)
        hr = join_directory();
    lock_leave(&joining);
    return SUCCEEDED(hr) ? start_waiting() : hr;
}

ULONG provider_join(uint64_t handle, const GUID *guid, bool classic, ULONG *said)
{
    uint64_t revision;
    *said = ERROR_SUCCESS;
    HRESULT hr = provider_process_begin();
    if (SUCCEEDED(hr)) {
        lock_enter(&joining);
        hr = register_now(handle, guid, classic);
        lock_leave(&joining);
    }
    if (SUCCEEDED(hr)) {
        hr = provider_apply_enables(handle, &revision);
        call_reclaimer();
    }
    if (SUCCEEDED(hr)) {
        *said = provider_begun(handle);
        return ERROR_SUCCESS;
    }
    /* Call provider_part first: the waiting thread may have queued callbacks, and these must not run any more. */
    (void)provider_part(handle, classic);
    (void)provider_begun(handle);
    return provider_status(hr);
}

ULONG provider_part(uint64_t handle, bool classic)
{
    struct provider_numbers numbers;
    if (process_is_ending())
        return ERROR_SUCCESS; /* the registration ends with the process */
    const ULONG status = provider_end(handle, classic, &numbers);
    call_reclaimer();
    if (status == ERROR_SUCCESS && numbers.provider != 0)
        provider_unregister(&numbers);
    return status;
}

ULONG provider_join_group(uint64_t handle, const GUID *group)
{
    lock_enter(&joining);
    HRESULT hr = register_group(handle, group);
    lock_leave(&joining);
    if (hr == S_FALSE)
        return ERROR_INVALID_HANDLE;
    if (SUCCEEDED(hr))
        hr = provider_refresh(handle);
    return provider_status(hr);
}

void provider_publish_name(uint64_t handle, const char *name)
{
    GUID guid;
    if (provider_get_guid(handle, &guid))
        directory_name_provider(directory, &guid, name);
}

/* Maps the session that currently has the logger id. */
static void map_current(uint32_t logger)
{
    struct directory_session s;
    const uint64_t revision = directory_revision(directory);
    lock_enter(&refreshing);
    const struct mapping *before = atomic_load_explicit(&by_logger[logger], memory_order_relaxed);
    const HRESULT hr = directory_session_at(directory, logger, 0, &s);
    bool is_vacant = hr == S_FALSE;
    if (hr == S_OK) {
        is_vacant = s.state != DIRECTORY_RUNNING || (before && before->session.generation == s.generation);
        if (!is_vacant)
            (void)session_for(NULL, logger, s.generation);
        directory_session_free(&s);
    }
    mappings_retire_stale();
    const bool changed = atomic_load_explicit(&by_logger[logger], memory_order_relaxed) != before;
    lock_leave(&refreshing);
    if (is_vacant)
        atomic_store_explicit(&vacant[logger], revision + 1, memory_order_release);
    if (changed)
        (void)signal_set(atomic_load(&own_signal)); /* the waiting thread must now watch this host process, too */
}

/* Returns whether the logger id is known to have no running session at the present revision. */
static bool is_known_vacant(uint32_t logger)
{
    const uint64_t since = atomic_load_explicit(&vacant[logger], memory_order_acquire);
    return since != 0 && since == directory_revision(directory) + 1;
}

struct provider_session *provider_session_of(struct provider_thread *t, uint32_t logger, bool is_over)
{
    if (logger == 0 || logger > DIRECTORY_PLACES)
        return NULL;
    struct mapping *m = atomic_load_explicit(&by_logger[logger], memory_order_acquire);
    if (m && !is_over)
        return &m->session;
    if (is_known_vacant(logger))
        return NULL;
    provider_leave(t);
    if (SUCCEEDED(provider_process_begin()))
        map_current(logger);
    provider_enter(t);
    m = atomic_load_explicit(&by_logger[logger], memory_order_acquire);
    return m ? &m->session : NULL;
}

/* ---- numbers ---- */

uint64_t provider_event_key(void)
{
    return directory_next_event_key(directory);
}

uint64_t provider_start_key(void)
{
    /* The start time distinguishes processes with the same id, and the id distinguishes those that started at the same
       time. */
    return (start_time ^ (uint64_t)process_own_id() << 40) * UINT64_C(0x9E3779B97F4A7C15);
}

uint32_t provider_next_sequence(void)
{
    return directory_next_sequence(directory);
}
