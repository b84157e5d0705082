/* SPDX-License-Identifier: MIT */
/* The work of a host: samples on the grid, segments, limits, requests. */
#include "engine/os/memory.h"
#include "engine/run/completion.h"
#include "engine/run/host_run.h"

#define LONGEST_WAIT_MS 60000
#define OPEN_AHEAD_MS   500

static const struct data_collector_set *set_of(const struct run *r)
{
    return r->set.set;
}

/* Ends the run when the next segment cannot begin. `tick` is the moment on the grid that its first sample belongs to,
   from which SegmentMaxDuration counts. */
static bool next_segment(struct run *r, int64_t tick)
{
    r->roll = false;
    run_move(r, STEP_LIMIT);
    struct segment previous = r->segment;
    segment_complete(&r->set, &previous);
    HRESULT hr = segment_open(&r->set, true, &previous, &r->segment);
    struct error_kept why = error_keep(hr);
    segment_close(&r->set, &previous);
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
    for (size_t i = 0; i < r->set.count; i++) {
        enum completion when = collector_completion(set_of(r), r->set.models[i]);
        if ((when == COMPLETE_AT_LIMIT && !r->first_over) ||
            (when == COMPLETE_WHEN_DONE && !collector_done(r->segment.collectors[i])))
            return false;
    }
    return r->set.count != 0;
}

/* A limit of a segment is reached: `what` says which. */
static void limit_reached(struct run *r, const char *what)
{
    r->first_over = true;
    if (set_of(r)->Segment && !(set_of(r)->StopOnCompletion && is_complete(r))) {
        r->roll = true;
    } else {
        r->end = true;
        r->why = what;
        diagnostics_note(&r->set.diagnostics, S_OK, what);
    }
}

static const char *collector_name(const struct run *r, size_t index)
{
    return collector_of(r->set.models[index])->Name;
}

static HRESULT take_sample(struct run *r, size_t index, bool *written)
{
    struct collector *c = r->segment.collectors[index];
    uint64_t before = collector_records(c);
    HRESULT hr = collector_sample(c);
    *written = collector_records(c) > before;
    r->state.samples += *written;
    if (FAILED(hr) && diagnostics_lost(&r->set.diagnostics, hr)) {
        run_write_record(r, true);
        run_tell(r, JOURNAL_SAMPLES_LOST,
                 &(struct journal_facts){.collector = collector_name(r, index),
                                         .file = r->segment.files.items[index],
                                         .count = r->set.diagnostics.lost_failed,
                                         .error = hr});
    }
    if (segment_note_remark(&r->set, c))
        run_write_record(r, true);
    return hr;
}

static void sample(struct run *r, size_t index, int64_t tick)
{
    bool written;
    if (take_sample(r, index, &written) != S_FALSE) {
        r->roll |= collector_asks_for_segment(r->segment.collectors[index]);
        return;
    }
    static const char what[] = "the run ended because a log reached SegmentMaxRecords or SegmentMaxSize";
    limit_reached(r, what);
    /* The file had no room left for this sample: it is the first of the next segment. */
    if (!written && r->roll && next_segment(r, tick) && take_sample(r, index, &written) == S_FALSE) {
        if (written)
            limit_reached(r, what);
        else
            run_end(r, error_set(E_INVALIDARG, "SegmentMaxSize: %u MB hold not one sample of \"%s\"",
                                 (unsigned)set_of(r)->SegmentMaxSize, collector_name(r, index)));
    }
}

static void sample_what_is_due(struct run *r, int64_t now)
{
    for (size_t i = 0; i < r->set.count && !r->end; i++) {
        uint64_t missed;
        if (!tick_grid_take(&r->grids[i], now, &missed))
            continue;
        if (missed && !r->set.diagnostics.lost_late)
            run_tell(r, JOURNAL_SAMPLES_LOST,
                     &(struct journal_facts){.collector = collector_name(r, i),
                                             .file = r->segment.files.items[i],
                                             .count = missed,
                                             .reason = "their time passed while an earlier one was taken"});
        r->set.diagnostics.lost_late += missed;
        int64_t tick = tick_grid_last(&r->grids[i]);
        if (!r->roll || next_segment(r, tick))
            sample(r, i, tick);
    }
}

/* Seconds after `from`; TICK_NEVER for 0. */
static int64_t limit_at(int64_t from, uint32_t seconds)
{
    return seconds ? from + (int64_t)seconds * 1000 : TICK_NEVER;
}

static int64_t next_tick(const struct run *r)
{
    int64_t next = TICK_NEVER;
    for (size_t i = 0; i < r->set.count; i++)
        if (tick_grid_next(&r->grids[i]) < next)
            next = tick_grid_next(&r->grids[i]);
    return next;
}

/* When the next segment is opened for the next sample: a little ahead, so that opening it does not delay the sample;
   TICK_NEVER when none is due, or the run ends first. */
static int64_t segment_opens_at(const struct run *r)
{
    int64_t tick = next_tick(r);
    bool ends = tick == TICK_NEVER || tick >= limit_at(r->started, set_of(r)->Duration);
    return r->roll && !ends ? tick - OPEN_AHEAD_MS : TICK_NEVER;
}

/* Until the next sample or limit, or a request. */
static void rest(struct run *r)
{
    int64_t until = limit_at(r->started, set_of(r)->Duration);
    int64_t segment_end = limit_at(r->segment_started, set_of(r)->SegmentMaxDuration);
    if (segment_end < until && !r->roll)
        until = segment_end;
    if (next_tick(r) < until)
        until = next_tick(r);
    if (segment_opens_at(r) < until)
        until = segment_opens_at(r);
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
    if (is_over(r, now, limit_at(r->started, set_of(r)->Duration))) {
        r->end = true;
        r->why = "Duration is over";
    } else if (!r->end && !r->roll && is_over(r, now, limit_at(r->segment_started, set_of(r)->SegmentMaxDuration)) &&
               !r->roll) {
        limit_reached(r, "the run ended because SegmentMaxDuration is over");
    }
    if (!r->end && now < next_tick(r) && now >= segment_opens_at(r))
        next_segment(r, next_tick(r));
    /* Nothing will ever come that a new segment could wait for. */
    if (!r->end && r->roll && !r->set.count)
        next_segment(r, now);
}

static HRESULT flush(struct run *r)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->set.count; i++) {
        HRESULT one = collector_flush(r->segment.collectors[i]);
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
        run_publish(r);
        if (first)
            began(user);
        answer_requests(r);
        if (!r->end && set_of(r)->StopOnCompletion && is_complete(r)) {
            r->end = true;
            r->why = "all its collectors are complete";
        }
        if (run_section_stop_requested(r->section))
            r->end = true;
        if (!r->end)
            rest(r);
        if (run_section_stop_requested(r->section))
            r->end = true;
    }
}
