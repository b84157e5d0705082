/* SPDX-License-Identifier: MIT */
/* The host of a session: makes its buffers, empties them, and ends when it is asked to or its file is full. It sleeps
   for as long as no provider has an event in a buffer. */
#include "engine/etw/session/session_host.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_controller_types.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

enum {
    TEND_MS = 1000,          /* what a dead process had claimed comes back after two of these */
    TEND_MOST_MS = 16000,    /* while nothing happens */
    BEHIND_MS = 5,           /* then what waits for a consumer is tried again */
    IDLE_MS = 60000,         /* then the slots of processes that ended meanwhile become free */
    LOOK_MS = 50000,         /* then somebody may have deleted the directory's file */
    STOP_PATIENCE_MS = 1000, /* for who is in the middle of an event */
    CONSUMERS_MS = 2500      /* then who stops the session waits no longer for those that read; others sleep by then */
};

bool session_host_is_known(const struct session_host *h)
{
    return directory_born(h->d) == h->born;
}

/* ---- the loop ---- */

static void wake(void *signal)
{
    (void)signal_set(signal);
}

void session_host_drain(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    HRESULT hr;
    /* As many as there are: writers may be faster than we are. */
    for (uint32_t done = 0, more = 1; more != 0 && done < h->buffers.buffers && !h->output.full; done += more)
        more = session_drain_pass(h->drain, &sink, &hr);
}

bool session_host_has_until(const struct session_host *h, int64_t time)
{
    return atomic_load(&h->buffers.shared->closed) == 0 || session_drain_complete(h->drain) >= time;
}

/* While one writer is in the middle of an event, what came before it is complete. */
static void mark(struct session_host *h, int64_t time)
{
    session_output_mark(&h->output, session_host_has_until(h, time) ? time : session_drain_complete(h->drain));
}

void session_host_flush(struct session_host *h)
{
    int64_t time;
    (void)session_clock_now(session_drain_clock(h->drain), &time);
    session_drain_flush(h->drain);
    session_host_drain(h);
    mark(h, time);
    session_output_show(&h->output);
}

/* Rises or falls with each event. */
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

/* Says whose slots the session may still name. */
static void say_tended(const struct session_host *h)
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
        directory_session_tended(h->d, h->session.logger, now > age ? now - age : 0);
}

static void tend(struct session_host *h, uint64_t now)
{
    const uint64_t words = words_of(&h->buffers);
    const bool quiet = words == h->seen && session_drain_tend(h->drain) == 0;
    if (words != h->seen)
        (void)session_drain_tend(h->drain);
    h->seen = words;
    h->tended = now;
    h->tend_ms = !quiet ? TEND_MS : h->tend_ms < TEND_MOST_MS ? 2 * h->tend_ms : TEND_MOST_MS;
    say_tended(h);
    session_realtime_tend(&h->output.realtime);
    if (h->output.written != 0)
        session_output_show(&h->output);
}

/* Without its directory nobody finds the session any more, to stop it. */
static void look_for_directory(struct session_host *h, uint64_t now)
{
    const bool look = clock_passed_ms(h->looked, now) >= LOOK_MS;
    if (look)
        h->looked = now;
    if (directory_is_there(h->d, look) && session_host_is_known(h))
        return;
    session_tell(SESSION_WITHOUT_DIRECTORY, &h->session, S_OK, 0);
    h->end = true;
}

static void do_what_is_due(struct session_host *h)
{
    const uint64_t now = clock_monotonic_ms();
    look_for_directory(h, now);
    if (h->session.flush_ms != 0 && clock_passed_ms(h->flushed, now) >= h->session.flush_ms) {
        h->flushed = now;
        session_host_flush(h);
    }
    if (clock_passed_ms(h->tended, now) >= h->tend_ms)
        tend(h, now);
}

static uint32_t until(uint64_t since, uint32_t period, uint64_t now)
{
    const uint64_t passed = clock_passed_ms(since, now);
    return passed < period ? period - (uint32_t)passed : 0;
}

/* Woken by providers, controllers, and the end of a consumer; sooner when a consumer is behind. */
static void sleep_for(struct session_host *h, uint32_t ms)
{
    struct session_realtime *r = &h->output.realtime;
    const uint32_t behind = session_output_pass(&h->output) && ms > BEHIND_MS ? BEHIND_MS : ms;
    size_t ended;
    if (h->lock)
        host_lock_leave(h->lock);
    const HRESULT hr = signal_wait_or_processes(h->signal, r->process, r->count, behind, &ended);
    if (h->lock)
        host_lock_enter(h->lock);
    if (hr == E_ABORT)
        session_realtime_ended(r, ended);
}

static uint32_t least(uint32_t a, uint32_t b)
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
        mark(h, time);
        say_tended(h);
        sleep_for(h, IDLE_MS);
        h->flushed = h->tended = clock_monotonic_ms();
        h->tend_ms = TEND_MS;
    } else {
        const uint64_t now = clock_monotonic_ms();
        const uint32_t tended = until(h->tended, h->tend_ms, now);
        const uint32_t flush = h->session.flush_ms != 0 ? until(h->flushed, h->session.flush_ms, now) : UINT32_MAX;
        h->pace_ms = session_pace(h->pace_ms, h->found, h->buffers.wake_at);
        h->found = 0;
        sleep_for(h, least(h->pace_ms, least(tended, flush)));
    }
    session_drain_wake(h->drain);
}

/* A session in real time goes on without its file. */
static void take_full(struct session_host *h)
{
    struct session_statistics statistics;
    session_statistics_read(&h->buffers, &statistics);
    session_tell(SESSION_FULL, &h->session, S_OK, statistics.buffers_written);
    h->end = (h->session.mode & TRACE_MODE_REAL_TIME) == 0 || session_host_drop_file(h) != ERROR_SUCCESS;
}

void session_host_run(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    HRESULT hr;
    h->flushed = h->tended = h->looked = clock_monotonic_ms();
    h->tend_ms = TEND_MS;
    while (!h->end) {
        const uint32_t done = session_drain_pass(h->drain, &sink, &hr);
        h->found += done;
        (void)session_output_pass(&h->output);
        session_host_answer(h);
        if (h->output.full)
            take_full(h);
        do_what_is_due(h);
        if (!h->end && done == 0)
            sleep_until_due(h);
    }
    session_host_finish(h);
}

/* ---- the kernel's events ---- */

/* Its thread may wait for buffers, so they are emptied until it has ended. */
void session_host_kernel(struct session_host *h, bool end)
{
    session_kernel_stop(h->kernel);
    while (!session_kernel_ended(h->kernel, 1))
        session_host_drain(h);
    h->kernel = NULL;
    if (!end && h->session.whole == 0 &&
        session_kernel_begin(h->d, &h->session, &h->buffers, &h->told, &h->kernel) != S_OK)
        h->kernel = NULL;
}

/* ---- the beginning ---- */

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
        .judge = {directory_alive, h->d},
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

/* Buffers that memory cannot hold are a lack of resources. */
static ULONG buffers_code(HRESULT hr)
{
    const ULONG code = session_code(hr);
    return code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_DISK_FULL ? ERROR_NO_SYSTEM_RESOURCES : code;
}

static HRESULT say(struct session_host *h)
{
    HRESULT hr = directory_begin(h->d);
    if (FAILED(hr))
        return hr;
    hr = directory_session_set(h->d, &h->session);
    (void)directory_end(h->d, NULL, 0);
    return hr;
}

static HRESULT say_running(struct session_host *h)
{
    h->session.state = DIRECTORY_RUNNING;
    h->session.host.id = process_own_id();
    h->session.host.start_time = process_start_time(process_own_id());
    h->session.thread = thread_own_id();
    h->session.started = clock_utc();
    return say(h);
}

void session_host_own(struct session_host *h)
{
    h->session.thread = thread_own_id();
    (void)say(h);
}

ULONG session_host_begin(struct session_host *h, uint32_t logger, uint32_t turn)
{
    HRESULT hr = directory_get(&h->d);
    if (SUCCEEDED(hr)) {
        h->born = directory_born(h->d);
        hr = directory_session_at(h->d, logger, turn, &h->session);
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
        hr = say_running(h);
        code = hr == S_FALSE ? ERROR_WMI_INSTANCE_NOT_FOUND : session_code(hr);
        if (code != ERROR_SUCCESS)
            session_output_close(&h->output);
        else
            session_host_kernel(h, false);
    }
    return code;
}

/* ---- the end ---- */

/* Whoever finds it so far knows that it is not to be used any more. */
static void say_stopping(struct session_host *h)
{
    h->session.state = DIRECTORY_STOPPING;
    (void)say(h);
}

/* Who asked takes the session out of the directory when it has the answer; it would not get it any more when another
   session had the place. It may have ended meanwhile. */
static void answer_stop(const struct session_host *h)
{
    enum { FETCH_MS = 1000 };
    const uint64_t from = clock_monotonic_ms();
    struct directory_session now;
    if (!session_host_is_known(h))
        return;
    directory_answer(h->d, h->session.logger, ERROR_SUCCESS);
    while (directory_session_at(h->d, h->session.logger, h->session.turn, &now) == S_OK) {
        directory_session_free(&now);
        if (clock_passed_ms(from, clock_monotonic_ms()) >= FETCH_MS)
            return;
        (void)signal_wait(h->signal, 1);
    }
}

/* Consumers get what they have not read yet; no longer than timeout_ms. */
static void end_consumers(struct session_host *h, uint32_t timeout_ms)
{
    const uint64_t from = clock_monotonic_ms();
    while (session_output_pass(&h->output) && clock_passed_ms(from, clock_monotonic_ms()) < timeout_ms) {
        (void)signal_wait(h->signal, 1);
        session_realtime_tend(&h->output.realtime);
    }
}

/* Who reads slowly, but reads, does not hold the one who stops the session: he hears of what those lost who slept, and
   the rest is delivered behind him. */
void session_host_finish(struct session_host *h)
{
    const struct session_sink sink = session_output_sink(&h->output);
    const bool is_part = h->session.whole != 0;
    uint64_t told = h->output.realtime.lost;
    if (h->finished)
        return;
    h->end = h->finished = true;
    say_stopping(h);
    session_host_kernel(h, true);
    (void)session_drain_stop(h->drain, &sink, STOP_PATIENCE_MS);
    session_output_end_file(&h->output);
    session_output_leave(&h->output);
    end_consumers(h, CONSUMERS_MS);
    if (is_part)
        (void)private_part_over(h->d, &h->session, &h->buffers);
    (void)section_delete(h->session.section);
    if (h->asked_to_stop) {
        told = h->output.realtime.lost;
        answer_stop(h);
    }
    (void)session_remove(h->d, &h->session);
    if (is_part)
        directory_hang_up(h->d, h->session.logger, h->session.turn);
    end_consumers(h, UINT32_MAX);
    if (h->output.realtime.lost != told)
        session_tell(SESSION_UNDELIVERED, &h->session, S_OK, h->output.realtime.lost - told);
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
    uint32_t logger, turn;
    if (count != 3 || !number_of(arguments[0], DIRECTORY_SESSIONS, &logger) ||
        !number_of(arguments[1], UINT32_MAX, &turn) || FAILED(session_report_open(arguments[2], false, &report)))
        return ERROR_INVALID_PARAMETER;
    const ULONG code = session_host_begin(&h, logger, turn);
    session_report_send(report, code, code != ERROR_SUCCESS ? error_text(HRESULT_FROM_WIN32((LONG)code)) : "");
    session_report_close(report);
    if (code == ERROR_SUCCESS)
        session_host_run(&h);
    else if (h.section)
        (void)section_delete(h.session.section);
    session_host_release(&h);
    return (int)code;
}
