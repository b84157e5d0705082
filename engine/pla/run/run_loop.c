/* SPDX-License-Identifier: MIT */
/* The work of a host: samples on the grid, segments, limits, requests. */
#include "engine/pla/run/run_loop.h"

#include "engine/base/memory.h"
#include "engine/pla/run/alert_actions.h"
#include "engine/pla/run/run_update.h"
#include "engine/pla/sets/supervised_set.h"

#define LONGEST_WAIT_MS 60000
#define OPEN_AHEAD_MS   500

/* Ends the run when the next segment cannot begin. `tick` is the moment on the grid that its first sample belongs to,
   from which SegmentMaxDuration counts. */
static bool next_segment(struct run *r, int64_t tick)
{
    r->roll = false;
    run_move(r, STEP_LIMIT);
    struct segment previous = r->segment;
    segment_complete(&previous);
    HRESULT hr = segment_open(&r->set, true, &previous, &r->segment);
    struct error_kept why = error_keep(hr);
    r->end = FAILED(hr);
    run_end_segment(r, &r->set, &previous);
    segment_free(&previous);
    r->segment_started = tick;
    if (FAILED(hr)) {
        error_restore(&why);
        run_move(r, STEP_FAILED);
        run_end(r, hr);
        return false;
    }
    run_show_segment(r);
    run_move(r, STEP_BEGUN);
    run_tell(r, JOURNAL_SEGMENTED, &(struct journal_facts){0});
    return true;
}

/* With StopOnCompletion: whether all collectors are complete. */
static bool is_complete(const struct run *r)
{
    /* A Duration is what a user waits for, as a limit is (DECISIONS 35). */
    bool limited = r->set.set->SegmentMaxDuration || r->set.set->SegmentMaxSize || r->set.set->Duration;
    for (size_t i = 0; i < r->segment.count; i++) {
        const struct member *m = &r->segment.members[i];
        enum collector_end end = collector_end(m->collector, limited);
        if ((end == ENDS_AT_LIMIT && !r->first_over) || (end == ENDS_BY_ITSELF && !m->done && !m->failed))
            return false;
    }
    return r->segment.count != 0;
}

/* `why` is in the run's message too: who finds a set stopped looks there. */
static void end_because(struct run *r, const char *why)
{
    r->end = true;
    diagnostics_end(&r->set.diagnostics, S_OK, why);
}

/* A limit of a segment is reached: `what` says which. */
static void limit_reached(struct run *r, const char *what)
{
    r->first_over = true;
    if (r->set.set->Segment && !(r->set.set->StopOnCompletion && is_complete(r)))
        r->roll = true;
    else
        end_because(r, what);
}

static const char log_limit[] = "the run ended because a log reached SegmentMaxRecords or SegmentMaxSize";

/* The others go on without it; in the next segment it is opened anew. */
static void member_failed(struct run *r, struct member *m, HRESULT reason)
{
    bool all = true;
    m->failed = true;
    member_note(m, reason);
    for (size_t i = 0; i < r->segment.count; i++)
        all = all && r->segment.members[i].failed;
    if (all)
        run_end(r, reason);
}

/* How a member stands: after a sample, and when it has called. */
static void look_at(struct run *r, size_t index)
{
    struct member *m = &r->segment.members[index];
    HRESULT reason;
    m->looked = tick_clock();
    switch (collector_poll(m->collector, &reason)) {
    case COLLECTOR_GOES_ON:
        break;
    case COLLECTOR_WANTS_SEGMENT:
        r->roll = true;
        break;
    case COLLECTOR_AT_LIMIT:
        limit_reached(r, log_limit);
        break;
    case COLLECTOR_DONE:
        if (!m->done && m->model->class == &configuration_collector_class)
            run_tell(r, JOURNAL_CONFIGURATION_DONE,
                     &(struct journal_facts){.collector = member_name(m), .file = m->file});
        m->done = true;
        m->grid.interval = 0; /* no more samples */
        break;
    case COLLECTOR_FAILED:
        member_failed(r, m, reason);
        break;
    }
    run_show_figures(r, index);
}

static HRESULT take_sample(struct run *r, size_t index)
{
    struct member *m = &r->segment.members[index];
    HRESULT hr = collector_sample(m->collector);
    r->state.samples += hr == S_OK;
    if (FAILED(hr) && diagnostics_lost(&r->set.diagnostics, hr)) {
        run_write_record(r, true);
        run_tell(
            r, JOURNAL_SAMPLES_LOST,
            &(struct journal_facts){
                .collector = member_name(m), .file = m->file, .count = r->set.diagnostics.lost_failed, .error = hr});
    }
    return hr;
}

static void sample(struct run *r, size_t index, int64_t tick)
{
    HRESULT hr = take_sample(r, index);
    if (hr == S_FALSE) {
        limit_reached(r, log_limit);
        /* The file had no room left for this sample: it is the first of the next segment. */
        if (!r->roll || !next_segment(r, tick))
            return;
        hr = take_sample(r, index);
    }
    if (hr == S_FALSE)
        run_end(r, error_set(E_INVALIDARG, "SegmentMaxSize: %u MB hold not one sample of \"%s\"",
                             (unsigned)r->set.set->SegmentMaxSize, member_name(&r->segment.members[index])));
    else
        look_at(r, index);
}

static void sample_what_is_due(struct run *r, int64_t now)
{
    for (size_t i = 0; i < r->segment.count && !r->end; i++) {
        struct member *m = &r->segment.members[i];
        uint64_t missed;
        if (!tick_grid_take(&m->grid, now, &missed) || m->failed)
            continue;
        if (missed && !r->set.diagnostics.lost_late)
            run_tell(r, JOURNAL_SAMPLES_LOST,
                     &(struct journal_facts){.collector = member_name(m),
                                             .file = m->file,
                                             .count = missed,
                                             .reason = "their time passed while an earlier one was taken"});
        r->set.diagnostics.lost_late += missed;
        int64_t tick = tick_grid_last(&m->grid);
        if (!r->roll || next_segment(r, tick))
            sample(r, i, tick);
    }
}

/* What takes no samples does not wait with its file for the next one of others, unless it ends by itself. */
static bool rolls_at_once(const struct run *r)
{
    bool at_once = false;
    for (size_t i = 0; r->roll && !at_once && i < r->segment.count; i++) {
        const struct member *m = &r->segment.members[i];
        at_once = !m->failed && !collector_interval_ms(m->collector) && collector_output(m->model) == WRITES_FILE &&
                  collector_end(m->collector, true) != ENDS_BY_ITSELF;
    }
    return at_once;
}

/* Those that have called, and those whose time it is. */
static void look_at_woken(struct run *r)
{
    bool at_once = false; /* what takes no samples does not wait for the next one of others */
    for (size_t i = 0; i < r->segment.count && !r->end; i++) {
        struct member *m = &r->segment.members[i];
        bool due = tick_clock() >= member_next_look(m);
        if (m->failed || !(atomic_exchange(&m->woken, false) || due))
            continue;
        look_at(r, i);
        at_once |= r->roll && !collector_interval_ms(m->collector);
    }
    if (at_once && !r->end)
        next_segment(r, tick_clock());
}

static int64_t next_look(const struct run *r)
{
    int64_t next = TICK_NEVER;
    for (size_t i = 0; i < r->segment.count; i++)
        if (member_next_look(&r->segment.members[i]) < next)
            next = member_next_look(&r->segment.members[i]);
    return next;
}

/* Seconds after `from`; TICK_NEVER for 0. */
static int64_t limit_at(int64_t from, uint32_t seconds)
{
    return seconds ? from + (int64_t)seconds * 1000 : TICK_NEVER;
}

static int64_t next_tick(const struct run *r)
{
    int64_t next = TICK_NEVER;
    for (size_t i = 0; i < r->segment.count; i++)
        if (tick_grid_next(&r->segment.members[i].grid) < next)
            next = tick_grid_next(&r->segment.members[i].grid);
    return next;
}

/* When the next segment is opened for the next sample: a little ahead, so that opening it does not delay the sample;
   TICK_NEVER when none is due, or the run ends first. */
static int64_t segment_opens_at(const struct run *r)
{
    int64_t tick = next_tick(r);
    bool ends = tick == TICK_NEVER || tick >= limit_at(r->started, r->set.set->Duration);
    return r->roll && !ends ? tick - OPEN_AHEAD_MS : TICK_NEVER;
}

static bool is_stopped(struct run *r)
{
    static const char *const texts[] = {
        [STOP_ASKED] = "the run ended because it was stopped",
        [STOP_EXPIRED] = "the run ended because all its schedules have expired, and OpenPLA.StopAtExpiry is yes",
    };
    enum stop_reason why;
    if (r->end || !run_section_stop_requested(r->section, &why))
        return r->end;
    /* The reason comes out of memory that others can write to. */
    if (why == STOP_EXPIRED && !supervised_set_expires(r->set.space, r->set.name))
        why = STOP_ASKED;
    end_because(r, texts[why]);
    return r->end;
}

/* Until the next sample or limit, or a request. */
static void rest(struct run *r)
{
    int64_t until = limit_at(r->started, r->set.set->Duration);
    int64_t segment_end = limit_at(r->segment_started, r->set.set->SegmentMaxDuration);
    if (segment_end < until && !r->roll)
        until = segment_end;
    if (next_tick(r) < until)
        until = next_tick(r);
    if (segment_opens_at(r) < until)
        until = segment_opens_at(r);
    if (next_look(r) < until)
        until = next_look(r);
    int64_t ms = until - tick_clock();
    if (ms > LONGEST_WAIT_MS)
        ms = LONGEST_WAIT_MS;
    HRESULT hr = run_section_wait(r->section, ms > 0 ? (uint32_t)ms : 0);
    if (FAILED(hr))
        run_end(r, hr);
}

/* Whether the limit has passed. What was due before it is taken late rather than forgotten: every moment of the grid
   has its sample, or is counted as lost. */
static bool is_over(struct run *r, int64_t now, int64_t limit)
{
    if (now < limit)
        return false;
    sample_what_is_due(r, limit - 1);
    return !r->end;
}

static void check_limits(struct run *r)
{
    int64_t now = tick_clock();
    if (is_over(r, now, limit_at(r->started, r->set.set->Duration)))
        end_because(r, "the run ended because Duration is over");
    else if (!r->end && !r->roll && is_over(r, now, limit_at(r->segment_started, r->set.set->SegmentMaxDuration)) &&
             !r->roll)
        limit_reached(r, "the run ended because SegmentMaxDuration is over");
    if (!r->end && now < next_tick(r) && now >= segment_opens_at(r))
        next_segment(r, next_tick(r));
    /* No sample will ever come that a new segment could wait for, or somebody cannot wait. */
    if (!r->end && r->roll && (next_tick(r) == TICK_NEVER || rolls_at_once(r)))
        next_segment(r, now);
}

static HRESULT flush(struct run *r)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->segment.count; i++) {
        HRESULT one = collector_flush(r->segment.members[i].collector);
        if (FAILED(one))
            hr = one;
    }
    return hr;
}

static void answer_requests(struct run *r)
{
    uint64_t number;
    if (!r->end && run_section_asked(r->section, REQUEST_UPDATE, &number))
        run_section_answer(r->section, REQUEST_UPDATE, number, run_take_definition(r));
    if (!r->end && run_section_asked(r->section, REQUEST_FLUSH, &number))
        run_section_answer(r->section, REQUEST_FLUSH, number, flush(r));
}

void run_loop(struct run *r, void (*began)(void *user), void *user)
{
    for (bool first = true; !r->end; first = false) {
        check_limits(r);
        if (!r->end)
            sample_what_is_due(r, tick_clock());
        look_at_woken(r);
        if (r->set.alerts)
            r->set.noted |= alert_actions_take_notes(r->set.alerts, &r->set.diagnostics);
        if (run_take_ended(r) || r->set.noted)
            run_write_record(r, true);
        run_publish(r);
        if (first)
            began(user);
        answer_requests(r);
        if (!r->end && r->set.set->StopOnCompletion && is_complete(r))
            end_because(r, "the run ended because all its collectors are complete");
        if (!is_stopped(r))
            rest(r);
        is_stopped(r);
    }
}
