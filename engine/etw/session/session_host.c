/* SPDX-License-Identifier: MIT */
/* The host of a session. It creates the session's buffers, empties them, and serves controllers and consumers. It ends
   on request or when the session's file is full. It sleeps while no provider has an event in a buffer. */
#include "engine/etw/session/session_host.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

enum {
    REAP_MS = 1000, /* interval of reaping; a dead process's buffers are freed by the second reaping after its death */
    REAP_MOST_MS = 16000,    /* while nothing happens, the interval grows up to this maximum */
    BEHIND_MS = 5,           /* interval between attempts to deliver buffers to a consumer that is behind */
    IDLE_MS = 60000,         /* maximum sleep while idle; after the sleep, slots of exited processes become free */
    CHECK_MS = 50000,        /* interval of checking whether the directory's file was deleted */
    STOP_PATIENCE_MS = 1000, /* how long a stop waits for writers in the middle of an event */
    CONSUMERS_MS = 2500      /* how long a stop waits for consumers; those that do not read are dropped earlier */
};

/* Returns false if the directory was re-created. The new directory does not contain this session, and another session
   may have the same logger id in it. Therefore this host process must not change that session's entry. */
static bool session_host_is_known(const struct session_host *h)
{
    return directory_born(h->d) == h->born;
}

/* ---- the loop ---- */

static void wake(void *signal)
{
    (void)signal_set(signal);
}

/* Empties buffers until nothing is left to do for now. */
static void session_host_drain(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    HRESULT hr;
    /* Make no more passes than there are buffers, because writers may be faster than the host process. */
    for (uint32_t done = 0, more = 1; more != 0 && done < h->buffers.buffers && !h->output.full; done += more)
        more = session_drain_pass(h->drain, &sink, &hr);
}

/* Returns whether all events up to this time of the session's clock were written. Call it after all partly filled
   buffers have been emptied. */
static bool session_host_has_until(const struct session_host *h, int64_t time)
{
    return atomic_load(&h->buffers.shared->closed) == 0 || session_drain_complete(h->drain) >= time;
}

/* Reports the time up to which all events are complete. This is `time`; but while a writer is in the middle of an
   event, it is the time just before the buffer of that event was claimed. */
static void session_host_mark(struct session_host *h, int64_t time)
{
    session_output_mark(&h->output, session_host_has_until(h, time) ? time : session_drain_complete(h->drain));
}

/* Empties all buffers that contain events, and writes the events to the file. */
static void session_host_flush(struct session_host *h)
{
    int64_t time;
    (void)session_clock_now(session_drain_clock(h->drain), &time);
    session_drain_flush(h->drain);
    session_host_drain(h);
    session_host_mark(h, time);
    session_output_show(&h->output);
}

/* A checksum that changes with each event. */
static uint64_t words_of(const struct session_buffers *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->processors; i++)
        sum = sum * 31 + session_load(&b->processor[i].word);
    return sum;
}

static uint64_t clock_ms(const struct session_host *h, int64_t time)
{
    switch (h->session.clock) {
    case ETL_CLOCK_SYSTEM:
        return (uint64_t)time / 10000;
    case ETL_CLOCK_CYCLES:
        return (uint64_t)time / 1000 / clock_cpu_mhz();
    default:
        return (uint64_t)time / ((uint64_t)clock_frequency() / 1000);
    }
}

/* Publishes a time: the session no longer refers to the slots of processes that exited before this time. */
static void session_host_publish_reaped(const struct session_host *h)
{
    enum { MARGIN_MS = 1000 };
    const struct session_clock *clock = session_drain_clock(h->drain);
    const uint64_t now = clock_monotonic_ms(), oldest = session_drain_oldest(h->drain);
    int64_t time;
    uint64_t age = MARGIN_MS;
    (void)session_clock_now(clock, &time);
    if (oldest != UINT64_MAX) {
        const int64_t then = session_clock_time(clock, oldest);
        age += clock_ms(h, time > then ? time - then : 0);
    }
    if (session_host_is_known(h))
        directory_session_reaped(h->d, h->session.logger, now > age ? now - age : 0);
}

static void session_host_reap(struct session_host *h, uint64_t now)
{
    const uint64_t words = words_of(&h->buffers);
    const bool quiet = words == h->seen && session_drain_reap(h->drain) == 0;
    if (words != h->seen)
        (void)session_drain_reap(h->drain);
    h->seen = words;
    h->reaped = now;
    h->reap_ms = !quiet ? REAP_MS : h->reap_ms < REAP_MOST_MS ? 2 * h->reap_ms : REAP_MOST_MS;
    session_host_publish_reaped(h);
    session_realtime_reap(&h->output.realtime);
    if (h->output.written != 0)
        session_output_show(&h->output);
}

/* Ends the session if it is no longer in the directory, because then no controller can find and stop it. */
static void session_host_check_directory(struct session_host *h, uint64_t now)
{
    const bool look = clock_passed_ms(h->checked, now) >= CHECK_MS;
    if (look)
        h->checked = now;
    if (directory_exists(h->d, look) && session_host_is_known(h))
        return;
    session_journal_event(SESSION_WITHOUT_DIRECTORY, &h->session, S_OK, 0);
    h->end = true;
}

static void session_host_do_due(struct session_host *h)
{
    const uint64_t now = clock_monotonic_ms();
    session_host_check_directory(h, now);
    if (h->session.flush_ms != 0 && clock_passed_ms(h->flushed, now) >= h->session.flush_ms) {
        h->flushed = now;
        session_host_flush(h);
    }
    if (clock_passed_ms(h->reaped, now) >= h->reap_ms)
        session_host_reap(h, now);
}

static uint32_t ms_until(uint64_t since, uint32_t period, uint64_t now)
{
    const uint64_t passed = clock_passed_ms(since, now);
    return passed < period ? period - (uint32_t)passed : 0;
}

/* Sleeps for `ms` at most; while a consumer is behind, sleeps for BEHIND_MS at most. Providers, controllers and the
   exit of a consumer's process wake the host process. */
static void sleep_for(struct session_host *h, uint32_t ms)
{
    struct session_realtime *r = &h->output.realtime;
    const uint32_t behind = session_output_pass(&h->output) && ms > BEHIND_MS ? BEHIND_MS : ms;
    size_t ended;
    if (h->lock)
        lock_leave(h->lock);
    const HRESULT hr = signal_wait_or_processes(h->signal, r->process, r->count, behind, &ended);
    if (h->lock)
        lock_enter(h->lock);
    if (hr == E_ABORT)
        session_realtime_remove_ended(r, ended);
}

static uint32_t smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void sleep_until_due(struct session_host *h)
{
    bool in_use;
    int64_t time;
    (void)session_clock_now(session_drain_clock(h->drain), &time);
    if (!session_drain_sleep(h->drain, &in_use)) {
        sleep_for(h, 1);
    } else if (!in_use && atomic_load(&h->buffers.shared->closed) == 0) {
        if (h->output.written != 0)
            session_output_show(&h->output);
        session_host_mark(h, time);
        session_host_publish_reaped(h);
        sleep_for(h, IDLE_MS);
        h->flushed = h->reaped = clock_monotonic_ms();
        h->reap_ms = REAP_MS;
    } else {
        const uint64_t now = clock_monotonic_ms();
        const uint32_t reaped = ms_until(h->reaped, h->reap_ms, now);
        const uint32_t flush = h->session.flush_ms != 0 ? ms_until(h->flushed, h->session.flush_ms, now) : UINT32_MAX;
        h->pace_ms = session_pace(h->pace_ms, h->found, h->buffers.wake_at);
        h->found = 0;
        sleep_for(h, smaller_of(h->pace_ms, smaller_of(reaped, flush)));
    }
    session_drain_wake(h->drain);
}

/* Lets the session continue without a file, in real-time mode. Returns a Windows error code. */
static ULONG session_host_drop_file(struct session_host *h);

/* A real-time session continues without its file; other sessions end. */
static void session_host_end_full_file(struct session_host *h)
{
    struct session_statistics statistics;
    session_statistics_read(&h->buffers, &statistics);
    session_journal_event(SESSION_FULL, &h->session, S_OK, statistics.buffers_written);
    h->end = (h->session.mode & TRACE_MODE_REAL_TIME) == 0 || session_host_drop_file(h) != ERROR_SUCCESS;
}

void session_host_run(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    HRESULT hr;
    h->flushed = h->reaped = h->checked = clock_monotonic_ms();
    h->reap_ms = REAP_MS;
    while (!h->end) {
        const uint32_t done = session_drain_pass(h->drain, &sink, &hr);
        h->found += done;
        (void)session_output_pass(&h->output);
        session_host_answer(h);
        if (h->output.full)
            session_host_end_full_file(h);
        session_host_do_due(h);
        if (!h->end && done == 0)
            sleep_until_due(h);
    }
    session_host_finish(h);
}

/* ---- the kernel's events ---- */

/* Restarts the kernel's events with the session's current flags, or ends them. The thread of the kernel's events may be
   waiting for a free buffer, so this function empties buffers until that thread has ended. */
static void session_host_kernel(struct session_host *h, bool end)
{
    session_kernel_stop(h->kernel);
    while (!session_kernel_ended(h->kernel, 1))
        session_host_drain(h);
    h->kernel = NULL;
    if (!end && h->session.whole == 0 &&
        session_kernel_begin(h->d, &h->session, &h->buffers, &h->reported, &h->kernel) != S_OK)
        h->kernel = NULL;
}

/* ---- starting ---- */

static HRESULT make_buffers(struct session_host *h)
{
    const struct trace_settings settings = {
        .mode = h->session.mode,
        .clock = h->session.clock,
        .buffer_kb = h->session.buffer_kb,
        .minimum_buffers = h->session.minimum_buffers,
        .maximum_buffers = h->session.maximum_buffers,
    };
    const bool is_part = h->session.whole != 0;
    struct session_drain_options options = {
        .liveness = {directory_alive, h->d},
        .clock = h->session.clock,
        .logger = is_part ? 0 : (uint16_t)h->session.logger,
        .first_number = 1,
    };
    struct session_shape shape;
    size_t size = 0;
    trace_settings_shape(&settings, processor_count(), &shape, &options.keep);
    HRESULT hr = session_buffers_size(&shape, &size);
    h->session.section_size = size;
    if (SUCCEEDED(hr)) {
        const struct shared what = {.name = h->session.section, .create = true, .fresh = true, .lasting = true};
        hr = section_open(&what, size, &h->section);
    }
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = h->session.signal, .create = true, .fresh = true}, &h->signal);
    if (SUCCEEDED(hr))
        hr = session_buffers_create(section_memory(h->section), size, &shape, &h->buffers);
    if (FAILED(hr))
        return hr;
    h->buffers.wake = wake;
    h->buffers.wake_context = h->signal;
    return session_drain_create(&h->buffers, &options, &h->drain);
}

/* Converts a result to an error code. If there is too little memory or disk space for the buffers, the code is
   ERROR_NO_SYSTEM_RESOURCES. */
static ULONG buffers_code(HRESULT hr)
{
    const ULONG code = session_code(hr);
    return code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_DISK_FULL ? ERROR_NO_SYSTEM_RESOURCES : code;
}

static HRESULT session_host_publish(struct session_host *h)
{
    HRESULT hr = directory_begin(h->d);
    if (FAILED(hr))
        return hr;
    hr = directory_session_set(h->d, &h->session);
    (void)directory_end(h->d, NULL, 0);
    return hr;
}

static HRESULT session_host_publish_running(struct session_host *h)
{
    h->session.state = DIRECTORY_RUNNING;
    h->session.host.id = process_own_id();
    h->session.host.start_time = process_start_time(process_own_id());
    h->session.thread = thread_own_id();
    h->session.started = clock_utc();
    return session_host_publish(h);
}

void session_host_own(struct session_host *h)
{
    h->session.thread = thread_own_id();
    (void)session_host_publish(h);
}

ULONG session_host_begin(struct session_host *h, uint32_t logger, uint32_t generation)
{
    HRESULT hr = directory_get(&h->d);
    TRACE_STEP(etw, "host of logger %u begins", (unsigned)logger);
    if (SUCCEEDED(hr)) {
        h->born = directory_born(h->d);
        hr = directory_session_at(h->d, logger, generation, &h->session);
    }
    if (hr == S_FALSE)
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    if (SUCCEEDED(hr))
        hr = make_buffers(h);
    if (FAILED(hr))
        return buffers_code(hr);
    hr = h->session.whole != 0 ? private_part_find_file(&h->session) : S_OK;
    if (FAILED(hr))
        return session_code(hr);
    ULONG code = session_output_open(&h->output, &h->session, &h->buffers);
    if (code == ERROR_SUCCESS) {
        hr = session_host_publish_running(h);
        code = hr == S_FALSE ? ERROR_WMI_INSTANCE_NOT_FOUND : session_code(hr);
        if (code != ERROR_SUCCESS)
            session_output_close(&h->output);
        else
            session_host_kernel(h, false);
    }
    return code;
}

/* ---- stopping ---- */

/* Publishes that the session must not be used any more. */
static void session_host_publish_stopping(struct session_host *h)
{
    h->session.state = DIRECTORY_STOPPING;
    (void)session_host_publish(h);
}

/* Answers the controller. The controller reads the answer and then removes the session from the directory. If the host
   process removed the session, another session could reuse the entry before the controller reads the answer. The
   controller may already have exited. */
static void answer_stop(const struct session_host *h)
{
    enum { FETCH_MS = 1000 };
    const uint64_t from = clock_monotonic_ms();
    struct directory_session now;
    if (!session_host_is_known(h))
        return;
    directory_answer(h->d, h->session.logger, ERROR_SUCCESS);
    while (directory_session_at(h->d, h->session.logger, h->session.generation, &now) == S_OK) {
        directory_session_free(&now);
        if (clock_passed_ms(from, clock_monotonic_ms()) >= FETCH_MS)
            return;
        (void)signal_wait(h->signal, 1);
    }
}

/* Delivers to consumers the events that they have not read yet; takes at most timeout_ms. */
static void end_consumers(struct session_host *h, uint32_t timeout_ms)
{
    const uint64_t from = clock_monotonic_ms();
    while (session_output_pass(&h->output) && clock_passed_ms(from, clock_monotonic_ms()) < timeout_ms) {
        (void)signal_wait(h->signal, 1);
        session_realtime_reap(&h->output.realtime);
    }
}

/* A slow consumer that still reads delays the controller that stops the session by CONSUMERS_MS at most. Before the
   host process answers the controller, it drops consumers that do not read, and counts their losses. Consumers that
   still read get their remaining events, even after the answer. */
void session_host_finish(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    const bool is_part = h->session.whole != 0;
    uint64_t reported = h->output.realtime.lost;
    if (h->finished)
        return;
    h->end = h->finished = true;
    session_host_publish_stopping(h);
    TRACE_STEP(etw, "host of logger %u stops", (unsigned)h->session.logger);
    session_host_kernel(h, true);
    (void)session_drain_stop(h->drain, &sink, STOP_PATIENCE_MS);
    session_output_end_file(&h->output);
    session_output_leave(&h->output);
    end_consumers(h, CONSUMERS_MS);
    if (is_part)
        (void)private_part_over(h->d, &h->session, &h->buffers);
    (void)section_delete(h->session.section);
    if (h->asked_to_stop) {
        reported = h->output.realtime.lost;
        answer_stop(h);
    }
    (void)session_remove(h->d, &h->session);
    if (is_part)
        directory_hang_up(h->d, h->session.logger, h->session.generation);
    end_consumers(h, UINT32_MAX);
    if (h->output.realtime.lost != reported)
        session_journal_event(SESSION_UNDELIVERED, &h->session, S_OK, h->output.realtime.lost - reported);
    session_output_close(&h->output);
}

void session_host_release(struct session_host *h)
{
    session_drain_free(h->drain);
    section_close(h->section);
    signal_close(h->signal);
    directory_session_free(&h->session);
}

static bool number_of(const char *text, uint32_t most, uint32_t *out)
{
    uint64_t value;
    if (!text_to_u64(text, &value) || value == 0 || value > most)
        return false;
    *out = (uint32_t)value;
    return true;
}

int session_host_main(int count, char *const *arguments)
{
    struct session_host h = {0};
    struct session_report *report = NULL;
    uint32_t logger, generation;
    if (count != 3 || !number_of(arguments[0], DIRECTORY_SESSIONS, &logger) ||
        !number_of(arguments[1], UINT32_MAX, &generation) || FAILED(session_report_open(arguments[2], false, &report)))
        return ERROR_INVALID_PARAMETER;
    const ULONG code = session_host_begin(&h, logger, generation);
    session_report_send(report, code, code != ERROR_SUCCESS ? error_text(HRESULT_FROM_WIN32((LONG)code)) : "");
    session_report_close(report);
    if (code == ERROR_SUCCESS)
        session_host_run(&h);
    else if (h.section)
        (void)section_delete(h.session.section);
    session_host_release(&h);
    directory_leave();
    return (int)code;
}

/* ---- requests of controllers and consumers to the host process ---- */

#define FILE_MODES                                                                                                     \
    ((uint32_t)(TRACE_MODE_SEQUENTIAL | TRACE_MODE_CIRCULAR | TRACE_MODE_APPEND | TRACE_MODE_NEWFILE |                 \
                TRACE_MODE_PREALLOCATE))

enum { PATIENCE_MS = 1000 };

static bool is_in_memory(const struct session_host *h)
{
    return (h->session.mode & TRACE_MODE_BUFFERING) != 0;
}

/* Checks that no other session logs to the file. Another session's log must not be overwritten, even if that session's
   host process has exited and no longer has the file open. */
static ULONG check_unused(struct session_host *h, const char *path)
{
    struct directory_session *list;
    size_t count;
    const HRESULT hr = directory_sessions(h->d, &list, &count);
    if (FAILED(hr))
        return session_code(hr);
    ULONG code = ERROR_SUCCESS;
    for (size_t i = 0; i < count; i++)
        if (list[i].logger != h->session.logger && list[i].logger != h->session.whole && list[i].file &&
            text_equal_nocase(list[i].file, path))
            code = ERROR_BAD_PATHNAME;
    directory_sessions_free(list, count);
    return code;
}

/* ---- a session in memory: its snapshot ---- */

static ULONG write_snapshot(struct session_host *h, const char *path)
{
    struct session_file_options options = session_output_options(&h->session, &h->output.log, path);
    struct session_statistics statistics;
    struct session_file *file;
    const ULONG used = check_unused(h, path);
    if (used != ERROR_SUCCESS)
        return used;
    options.mode = TRACE_MODE_SEQUENTIAL;
    options.maximum = 0;
    HRESULT hr = session_file_create(&options, &file);
    if (FAILED(hr))
        return hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ? ERROR_BAD_PATHNAME : session_code(hr);
    const struct session_sink sink = {.write = session_file_write, .context = file};
    hr = session_drain_snapshot(h->drain, &sink);
    session_statistics_read(&h->buffers, &statistics);
    session_file_lost(file, statistics.events_lost, statistics.buffers_lost);
    const struct error_kept why = error_keep(hr);
    const HRESULT closed = session_file_close(file, clock_utc());
    if (SUCCEEDED(hr) && SUCCEEDED(closed))
        return ERROR_SUCCESS;
    (void)file_delete(path);
    return session_code(FAILED(hr) ? error_restore(&why) : closed);
}

/* ---- changes ---- */

/* Sets real-time mode, in which buffers must not wait until they are full. */
static void session_set_realtime(struct directory_session *s)
{
    enum { SECOND = 1000 };
    s->mode |= TRACE_MODE_REAL_TIME;
    if (s->flush_timer == 0) {
        s->flush_timer = (s->mode & TRACE_MODE_USE_MS_FLUSH_TIMER) != 0 ? SECOND : 1;
        s->flush_ms = trace_flush_ms(s->mode, s->flush_timer);
    }
}

/* Publishes the session as *next, and takes ownership of its strings. */
static ULONG session_host_change(struct session_host *h, const struct directory_session *next)
{
    HRESULT hr = directory_begin(h->d);
    if (FAILED(hr))
        return session_code(hr);
    hr = directory_session_set(h->d, next);
    (void)directory_end(h->d, NULL, 0);
    if (hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION))
        return ERROR_BAD_PATHNAME;
    if (hr != S_OK)
        return hr == S_FALSE ? ERROR_WMI_INSTANCE_NOT_FOUND : session_code(hr);
    h->session = *next;
    return ERROR_SUCCESS;
}

/* Directs the following events to `file` (NULL: to no file). */
static ULONG change_with_file(struct session_host *h, struct directory_session *next, const char *file)
{
    char *before = h->session.file;
    struct session_file *made = NULL;
    next->file = file ? text_copy(file) : NULL;
    ULONG code = file && !next->file ? ERROR_OUTOFMEMORY : ERROR_SUCCESS;
    if (code == ERROR_SUCCESS && file)
        code = check_unused(h, file);
    if (code == ERROR_SUCCESS && file)
        code = session_output_create(&h->output, file, &made);
    if (code == ERROR_SUCCESS) {
        session_host_flush(h);
        code = session_host_change(h, next);
    }
    if (code != ERROR_SUCCESS) {
        (void)session_file_close(made, clock_utc());
        memory_free(next->file);
        return code;
    }
    if (made)
        session_output_take(&h->output, made);
    else
        session_output_end_file(&h->output);
    memory_free(before);
    return ERROR_SUCCESS;
}

static ULONG session_host_update(struct session_host *h, const struct directory_request *r)
{
    struct directory_session next = h->session;
    if (!is_in_memory(h))
        next.mode &= ~(uint32_t)TRACE_MODE_REAL_TIME;
    if (!is_in_memory(h) && (r->mode & TRACE_MODE_REAL_TIME) != 0)
        session_set_realtime(&next);
    if (!is_in_memory(h) && !next.file && !r->file && (next.mode & TRACE_MODE_REAL_TIME) == 0)
        return ERROR_INVALID_PARAMETER;
    if (r->maximum_buffers != 0 && !is_in_memory(h)) {
        next.maximum_buffers = r->maximum_buffers > next.minimum_buffers ? r->maximum_buffers : next.minimum_buffers;
        if (next.maximum_buffers > h->buffers.buffers)
            next.maximum_buffers = h->buffers.buffers;
    }
    if (r->flush_timer != 0 && !is_in_memory(h)) {
        next.flush_timer = r->flush_timer;
        next.flush_ms = trace_flush_ms(next.mode, r->flush_timer);
    }
    if (r->flags_given != 0)
        memcpy(next.enable_flags, r->enable_flags, sizeof next.enable_flags);
    const bool other_flags = memcmp(next.enable_flags, h->session.enable_flags, sizeof next.enable_flags) != 0;
    if (r->file && is_in_memory(h)) {
        ULONG code = write_snapshot(h, r->file);
        code = code == ERROR_SUCCESS ? session_host_change(h, &next) : code;
        if (code == ERROR_SUCCESS && other_flags)
            session_host_kernel(h, false);
        return code;
    }
    const bool leaves = (h->session.mode & ~next.mode & TRACE_MODE_REAL_TIME) != 0;
    if (leaves)
        session_host_flush(h);
    const ULONG code = r->file ? change_with_file(h, &next, r->file) : session_host_change(h, &next);
    if (code == ERROR_SUCCESS && r->maximum_buffers != 0 && !is_in_memory(h))
        session_buffers_limit(&h->buffers, h->session.maximum_buffers);
    if (code == ERROR_SUCCESS && leaves)
        session_output_leave(&h->output);
    if (code == ERROR_SUCCESS && other_flags)
        session_host_kernel(h, false);
    return code;
}

static ULONG session_host_drop_file(struct session_host *h)
{
    struct directory_session next = h->session;
    if (is_in_memory(h))
        return ERROR_INVALID_PARAMETER;
    next.mode &= ~FILE_MODES;
    session_set_realtime(&next);
    return change_with_file(h, &next, NULL);
}

/* ---- files ---- */

static ULONG session_host_answer_flush(struct session_host *h, const struct directory_request *r)
{
    if (is_in_memory(h))
        return r->file ? write_snapshot(h, r->file) : ERROR_INVALID_PARAMETER;
    const uint64_t from = clock_monotonic_ms();
    int64_t time;
    (void)session_clock_now(session_drain_clock(h->drain), &time);
    session_host_flush(h);
    /* Wait for writers that were in the middle of an event; later events have later times. */
    while (!session_host_has_until(h, time) && !h->output.full &&
           clock_passed_ms(from, clock_monotonic_ms()) < PATIENCE_MS) {
        (void)signal_wait(h->signal, 1);
        session_host_drain(h);
    }
    session_output_show(&h->output);
    return FAILED(h->output.failure) ? session_code(h->output.failure) : ERROR_SUCCESS;
}

static ULONG increment_file(struct session_host *h)
{
    if ((h->session.mode & TRACE_MODE_NEWFILE) == 0)
        return ERROR_INVALID_PARAMETER;
    session_host_flush(h);
    return session_output_next(&h->output);
}

/* ---- settings for the kernel's events ---- */

static ULONG session_host_set_list(struct session_host *h, const struct directory_request *r)
{
    struct directory_session next = h->session;
    struct directory_kernel *lists = &next.lists;
    if (!session_kernel_is_one(&next))
        return ERROR_INVALID_PARAMETER;
    for (uint32_t i = 0; i < r->item_count; i++) {
        const uint32_t item = r->items[i];
        switch ((enum directory_kernel_list)r->list) {
        case DIRECTORY_STACKS:
            lists->stack[i] = (uint16_t)item;
            break;
        case DIRECTORY_COUNTED_EVENTS:
            lists->counted[i] = (uint16_t)item;
            break;
        case DIRECTORY_PROFILE_SOURCES:
            lists->source[i] = item;
            break;
        default:
            lists->counter[i] = item;
            break;
        }
    }
    lists->count[r->list] = r->item_count;
    const ULONG code = session_host_change(h, &next);
    if (code == ERROR_SUCCESS)
        session_kernel_list(h->kernel, &h->session, (enum directory_kernel_list)r->list, &h->reported);
    return code;
}

static ULONG answer_to(struct session_host *h, const struct directory_request *r)
{
    switch (r->verb) {
    case DIRECTORY_FLUSH:
        return session_host_answer_flush(h, r);
    case DIRECTORY_CONNECT:
        return (h->session.mode & TRACE_MODE_REAL_TIME) != 0
                   ? session_realtime_connect(&h->output.realtime, &r->process, r->file, &h->output.log)
                   : ERROR_INVALID_PARAMETER;
    case DIRECTORY_DISCONNECT:
        session_realtime_disconnect(&h->output.realtime, r->file);
        return ERROR_SUCCESS;
    case DIRECTORY_UPDATE:
        return session_host_update(h, r);
    case DIRECTORY_INCREMENT_FILE:
        return increment_file(h);
    case DIRECTORY_TO_REALTIME:
        return session_host_drop_file(h);
    case DIRECTORY_SET_LIST:
        return session_host_set_list(h, r);
    case DIRECTORY_SYSTEM_PROVIDERS:
        session_host_kernel(h, false);
        return ERROR_SUCCESS;
    default:
        return ERROR_NOT_SUPPORTED;
    }
}

void session_host_answer(struct session_host *h)
{
    struct directory_request r;
    if (!session_host_is_known(h) || directory_asked(h->d, h->session.logger, &r) != S_OK)
        return;
    if (r.verb == DIRECTORY_STOP) { /* this request is answered when the session has stopped */
        h->end = h->asked_to_stop = true;
    } else {
        const ULONG answer = answer_to(h, &r);
        if (session_host_is_known(h))
            directory_answer(h->d, h->session.logger, answer);
    }
    TRACE_STEP(etw, "logger %u: request %d was served", (unsigned)h->session.logger, (int)r.verb);
    directory_request_free(&r);
}
