/* SPDX-License-Identifier: MIT */
/* The process that runs one set: samples on the grid, segments, limits, state for others, an orderly end. */
#include "engine/run/run.h"

#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "engine/run/run_state.h"
#include "engine/run/schedule.h"
#include "engine/run/segment.h"
#include "engine/run/start_report.h"

#include <string.h>

/* How long a host waits for another one of its set that holds the lock but does not run: it is starting or ending. */
#define OTHER_HOST_MS   5000
#define LOCK_STEP_MS    50
#define LONGEST_WAIT_MS 60000

struct run {
    struct run_set set;
    struct segment segment;
    struct schedule *schedules; /* one per collector */
    struct run_section *section;
    struct run_state state;
    int64_t started; /* schedule_clock */
    int64_t segment_started;
    bool roll; /* a limit is reached: the next sample goes into a new segment */
    bool end;  /* the run is over */
    HRESULT result;
};

static void copy_location(struct run_state *state, const char *location)
{
    size_t length = strlen(location);
    if (length >= sizeof state->location) {
        length = sizeof state->location - 1;
        while (length && ((unsigned char)location[length] & 0xC0) == 0x80)
            length--;
    }
    memset(state->location, 0, sizeof state->location);
    memcpy(state->location, location, length);
}

static void publish(struct run *r, enum run_status status)
{
    r->state.status = status;
    r->state.samples_lost = r->set.diagnostics.lost_late + r->set.diagnostics.lost_failed;
    run_section_publish(r->section, &r->state);
}

/* Writes what is known about the run into its record. A record that cannot be written must not end the run: it may be
   the same full disk that the note is about. */
static void record(struct run *r)
{
    char *message = diagnostics_text(&r->set.diagnostics);
    HRESULT result = FAILED(r->result) ? r->result : r->set.diagnostics.loss;
    if (message)
        run_set_record(&r->set, result, message);
    memory_free(message);
}

static void end_run(struct run *r, HRESULT hr)
{
    r->end = true;
    if (FAILED(hr)) {
        r->result = hr;
        diagnostics_note(&r->set.diagnostics, hr, error_text(hr));
    }
}

static HRESULT begin_segment(struct run *r, bool follows)
{
    HRESULT hr = segment_open(&r->set, follows, &r->segment);
    if (FAILED(hr))
        return hr;
    r->state.serial_number = r->segment.serial_number;
    copy_location(&r->state, r->segment.location);
    return S_OK;
}

/* Ends the run when the next segment cannot begin. `tick` is the moment on the grid that its first sample belongs to,
   from which SegmentMaxDuration counts. */
static bool next_segment(struct run *r, int64_t tick)
{
    r->roll = false;
    segment_close(&r->set, &r->segment);
    HRESULT hr = begin_segment(r, true);
    if (FAILED(hr))
        end_run(r, hr);
    else
        publish(r, RUN_RUNNING);
    r->segment_started = tick;
    return SUCCEEDED(hr);
}

/* A limit of a segment is reached: `what` says which. With StopOnCompletion the first segment is all there is. */
static void limit_reached(struct run *r, const char *what)
{
    if (r->set.set->Segment && !r->set.set->StopOnCompletion) {
        r->roll = true;
    } else {
        r->end = true;
        diagnostics_note(&r->set.diagnostics, S_OK, what);
    }
}

static HRESULT take_sample(struct run *r, size_t index, bool *written)
{
    struct collector *c = r->segment.collectors[index];
    uint64_t before = collector_records(c);
    HRESULT hr = collector_sample(c);
    *written = collector_records(c) > before;
    r->state.samples += *written;
    if (FAILED(hr) && diagnostics_lost(&r->set.diagnostics, hr))
        record(r);
    return hr;
}

static void sample(struct run *r, size_t index, int64_t tick)
{
    bool written;
    if (take_sample(r, index, &written) != S_FALSE)
        return;
    static const char what[] = "the run ended because a log reached SegmentMaxRecords or SegmentMaxSize";
    limit_reached(r, what);
    /* The file had no room left for this sample: it is the first of the next segment. */
    if (!written && r->roll && next_segment(r, tick) && take_sample(r, index, &written) == S_FALSE) {
        if (written)
            limit_reached(r, what);
        else
            end_run(r, error_set(E_INVALIDARG, "SegmentMaxSize: %u MB hold not one sample of \"%s\"",
                                 (unsigned)r->set.set->SegmentMaxSize, collector_of(r->set.models[index])->Name));
    }
}

static void sample_what_is_due(struct run *r, int64_t now)
{
    for (size_t i = 0; i < r->set.count && !r->end; i++) {
        uint64_t missed;
        if (!schedule_take(&r->schedules[i], now, &missed))
            continue;
        r->set.diagnostics.lost_late += missed;
        int64_t tick = schedule_last(&r->schedules[i]);
        if (!r->roll || next_segment(r, tick))
            sample(r, i, tick);
    }
}

/* Seconds after `from`; SCHEDULE_NEVER for 0. */
static int64_t limit_at(int64_t from, uint32_t seconds)
{
    return seconds ? from + (int64_t)seconds * 1000 : SCHEDULE_NEVER;
}

static bool has_segment_limit(const struct run *r)
{
    bool limit = r->set.set->SegmentMaxDuration || r->set.set->SegmentMaxSize;
    for (size_t i = 0; i < r->set.count; i++)
        if (r->set.models[i]->class == &performance_counter_collector_class)
            limit |= ((struct performance_counter_collector *)r->set.models[i])->SegmentMaxRecords != 0;
    return limit;
}

/* Until the next sample or limit, or a request. */
static void rest(struct run *r)
{
    int64_t until = limit_at(r->started, r->set.set->Duration);
    int64_t segment_end = limit_at(r->segment_started, r->set.set->SegmentMaxDuration);
    if (segment_end < until && !r->roll)
        until = segment_end;
    for (size_t i = 0; i < r->set.count; i++)
        if (schedule_next(&r->schedules[i]) < until)
            until = schedule_next(&r->schedules[i]);
    int64_t ms = until - schedule_clock();
    if (ms > LONGEST_WAIT_MS)
        ms = LONGEST_WAIT_MS;
    HRESULT hr = run_section_wait(r->section, ms > 0 ? (uint32_t)ms : 0);
    if (FAILED(hr))
        end_run(r, hr);
}

static void check_limits(struct run *r)
{
    int64_t now = schedule_clock();
    if (now >= limit_at(r->started, r->set.set->Duration))
        r->end = true;
    else if (!r->roll && now >= limit_at(r->segment_started, r->set.set->SegmentMaxDuration))
        limit_reached(r, "the run ended because SegmentMaxDuration is over");
    /* Nothing will ever come that a new segment could wait for. */
    if (!r->end && r->roll && !r->set.count)
        next_segment(r, now);
}

static void collect(struct run *r, struct start_report **report)
{
    /* Counter logs without a limit are complete at once (MS-PLA, StopOnCompletion); one sample is in them. */
    bool complete = r->set.set->StopOnCompletion && r->set.count && !has_segment_limit(r);
    for (bool first = true; !r->end; first = false) {
        check_limits(r);
        if (!r->end)
            sample_what_is_due(r, schedule_clock());
        publish(r, RUN_RUNNING);
        if (first)
            start_report_send(report, S_OK);
        if (complete || run_section_stop_requested(r->section))
            r->end = true;
        if (!r->end)
            rest(r);
        if (run_section_stop_requested(r->section))
            r->end = true;
    }
}

/* Before the starter hears of it, so that it finds the reason in the record. The thread's error text survives. */
static void record_failed_start(const struct run_set *set, HRESULT hr)
{
    char *text = text_copy(error_text(hr));
    if (set->set && text)
        run_set_record(set, hr, text);
    if (text)
        error_set(hr, "%s", text);
    memory_free(text);
}

static HRESULT run_locked(const char *space, const char *name, struct start_report **report)
{
    struct run r;
    memset(&r, 0, sizeof r);
    HRESULT hr = run_set_load(space, name, &r.set);
    if (SUCCEEDED(hr))
        hr = run_section_create(space, name, &r.section);
    if (SUCCEEDED(hr)) {
        r.schedules = memory_zero(r.set.count + 1, sizeof *r.schedules);
        hr = r.schedules ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = begin_segment(&r, false);
    if (SUCCEEDED(hr)) {
        r.state.process_id = process_own_id();
        r.state.started_utc = clock_utc();
        r.started = r.segment_started = schedule_clock();
        for (size_t i = 0; i < r.set.count; i++)
            r.schedules[i] = schedule_from(r.started, collector_interval_ms(r.segment.collectors[i]));
        publish(&r, RUN_RUNNING);
        collect(&r, report);
        HRESULT closed = segment_close(&r.set, &r.segment);
        if (FAILED(closed) && SUCCEEDED(r.result))
            r.result = closed;
        record(&r);
        publish(&r, RUN_STOPPED);
        hr = r.result;
    } else {
        record_failed_start(&r.set, hr);
    }
    run_section_close(r.section);
    memory_free(r.schedules);
    run_set_free(&r.set);
    return hr;
}

static bool is_running(const char *space, const char *name)
{
    struct run_state state;
    return SUCCEEDED(run_query(space, name, &state)) && state.status != RUN_STOPPED;
}

/* The lock makes one host of two that are started at once. */
static HRESULT take_lock(const char *space, const char *name, struct file_lock **lock)
{
    char *path = store_run_lock_path(space, name);
    char *folder = path ? path_folder(path) : NULL;
    HRESULT hr = folder ? folder_create(folder) : E_OUTOFMEMORY;
    for (uint32_t waited = 0; SUCCEEDED(hr); waited += LOCK_STEP_MS) {
        hr = file_lock_take(path, LOCK_STEP_MS, lock);
        if (hr != HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
            break;
        if (waited >= OTHER_HOST_MS || is_running(space, name)) {
            hr = error_set(PLA_E_DCS_IN_USE, "the set \"%s\\%s\" is running", space, name);
            break;
        }
        hr = S_OK;
    }
    memory_free(folder);
    memory_free(path);
    return hr;
}

int run_host_main(const char *space, const char *name, const char *run_key)
{
    struct start_report *report = NULL;
    struct file_lock *lock = NULL;
    if (FAILED(start_report_open(run_key, &report)))
        report = NULL; /* nobody waits */
    HRESULT hr = take_lock(space, name, &lock);
    if (SUCCEEDED(hr))
        hr = run_locked(space, name, &report);
    start_report_send(&report, hr); /* unless it has been sent */
    file_lock_release(lock);
    return hr;
}
