/* SPDX-License-Identifier: MIT */
/* The run loop: the work of a set's host process from its first sample to its last.

   Problem. One thread samples all collectors of a set on time, cuts their files into segments at limits, applies a new
   definition without losing a sample, and answers other processes. No alert, task, report or slow collector may delay a
   sample.

   One iteration of the loop (run_loop):

     check_limits           ends the run at Duration; at SegmentMaxDuration ends the run or sets r->roll; opens the next
                            segment if its time has come
     sample_due_members     takes one sample of every member whose tick is due
     poll_woken_members     polls members that have called `wake`, or whose poll time has come
     collect notes          of alert actions, the export and ended segments, for diagnostics and run record
     run_publish            publishes the state in the shared section, where other processes read it
     answer_requests        applies a new definition; flushes
     run_wait               waits for the next tick, limit, segment or poll, or for a signal of the section

   Ticks. Each member has a grid (struct tick_grid): start + n * interval, on one monotonic clock. A late sample does
   not shift the following samples; the ticks that passed before the late sample are counted as lost. When a limit is
   reached, the samples that were due before the limit are taken first, so every tick is either sampled or counted as
   lost.

   Segments. A limit sets r->roll. The new segment is opened OPEN_AHEAD_MS before the next tick, so that opening files
   does not delay the sample. If no member takes samples, or a member cannot wait, it is opened immediately.
   next_segment completes the old files, but keeps the old collectors until the new ones are open. The new collectors
   continue from the last sample, so rates have no gap. The ended segment goes to a queue with its own thread
   (segment.h), which runs the data manager and starts the set's task.

      segment n     open ........ complete -> close -> queue: data manager, task
      segment n+1          open (serial number, folder, files, record)  ........

   A new definition (Commit with plaUpdateRunningInstance). If all collectors can be changed in place, the loop changes
   them in place. Otherwise a new segment is opened with the new definition. The old segment is closed first only if
   both would write the same file, or if a collector must end before its successor starts; if the new segment then
   cannot be opened, a segment with the old definition is opened again. In all other cases, if the new segment cannot be
   opened, the old one continues.

   Phases. run_move takes a step of the state machine in run_state.c. r->state is private to this thread; run_publish,
   which run_move also calls, makes it visible. Other threads reach the loop in three ways: run_section_wake, the atomic
   member->woken, and queues with their own locks.

   End. r->end stops the loop; r->failure is the result. If the host process is killed, the shared section disappears
   with it, the run lock is released, the logs end with their last complete sample, and the run record says that a run
   is active. The supervisor detects this combination and records that the host process died. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/set_export.h"
#include "engine/pla/run/set_host.h"
#include "engine/pla/sets/supervised_set.h"

#include <string.h>

/* ---- the grid of ticks ---- */

int64_t tick_clock(void)
{
    /* Uses the performance counter, because the system's millisecond clocks advance in steps of 16 ms. */
    int64_t ticks = clock_ticks(), frequency = clock_frequency();
    return ticks / frequency * 1000 + ticks % frequency * 1000 / frequency;
}

struct tick_grid tick_grid_from(int64_t start, uint64_t interval)
{
    return (struct tick_grid){start, interval, 0};
}

int64_t tick_grid_next(const struct tick_grid *s)
{
    uint64_t left = (uint64_t)(INT64_MAX - s->start);
    if (!s->interval || s->taken > left / s->interval)
        return TICK_NEVER;
    return s->start + (int64_t)(s->taken * s->interval);
}

int64_t tick_grid_last(const struct tick_grid *s)
{
    assert(s->taken);
    return s->start + (int64_t)((s->taken - 1) * s->interval);
}

bool tick_grid_take(struct tick_grid *s, int64_t now, uint64_t *missed)
{
    *missed = 0;
    int64_t next = tick_grid_next(s);
    if (next == TICK_NEVER || now < next)
        return false;
    *missed = (uint64_t)(now - next) / s->interval;
    s->taken += *missed + 1;
    return true;
}

/* ---- a new definition ---- */

static HRESULT collector_text(struct object *collector, char **xml)
{
    size_t size;
    /* LatestOutputLocation is not part of the definition. */
    HRESULT hr = object_put_text(collector, class_property(collector->class, "LatestOutputLocation"), "");
    return SUCCEEDED(hr) ? object_to_xml(collector, xml, &size) : hr;
}

static HRESULT same_collector(struct object *a, struct object *b, bool *same)
{
    char *texts[2] = {NULL, NULL};
    HRESULT hr = collector_text(a, &texts[0]);
    if (SUCCEEDED(hr))
        hr = collector_text(b, &texts[1]);
    *same = SUCCEEDED(hr) && !strcmp(texts[0], texts[1]);
    memory_free(texts[0]);
    memory_free(texts[1]);
    return hr;
}

/* Returns whether the two definitions, apart from their collectors, write to the same folders in the same way. */
static bool same_folders(const struct data_collector_set *x, const struct data_collector_set *y)
{
    return x->Segment == y->Segment && x->SegmentMaxSize == y->SegmentMaxSize &&
           x->SubdirectoryFormat == y->SubdirectoryFormat && !strcmp(x->RootPath, y->RootPath) &&
           !strcmp(x->Subdirectory, y->Subdirectory) && !strcmp(x->Description, y->Description) &&
           !strcmp(x->SubdirectoryFormatPattern, y->SubdirectoryFormatPattern);
}

/* Returns whether the collector writes the same file in the same way. */
static bool same_file(const struct data_collector *a, const struct data_collector *b)
{
    return !strcmp(a->Name, b->Name) && !strcmp(a->FileName, b->FileName) && a->FileNameFormat == b->FileNameFormat &&
           !strcmp(a->FileNameFormatPattern, b->FileNameFormatPattern) && a->LogAppend == b->LogAppend &&
           a->LogCircular == b->LogCircular && a->LogOverwrite == b->LogOverwrite;
}

/* Finds the members that differ from `models`. S_FALSE: at least one of these members must be reopened. */
static HRESULT find_changed(const struct run *r, struct object *const *models, bool *changed)
{
    HRESULT hr = S_OK;
    bool all_can = true;
    for (size_t i = 0; SUCCEEDED(hr) && i < r->segment.count; i++) {
        const struct member *m = &r->segment.members[i];
        bool same = false;
        hr = same_collector(m->model, models[i], &same);
        changed[i] = !same;
        all_can = all_can && (same || (same_file(collector_of(m->model), collector_of(models[i])) &&
                                       collector_hands_over(m->collector, models[i])));
    }
    return SUCCEEDED(hr) && !all_can ? S_FALSE : hr;
}

/* Changes all members to `models`, or none of them. */
static HRESULT update_members(struct run *r, struct object *const *models, const bool *changed)
{
    HRESULT hr = S_OK;
    size_t done = 0;
    for (; hr == S_OK && done < r->segment.count; done++)
        if (changed[done])
            hr = collector_update(r->segment.members[done].collector, models[done]);
    struct error_kept why = error_keep(hr);
    if (hr == S_OK)
        done = 0;
    else
        done--; /* the member that failed is unchanged */
    while (done-- > 0)
        if (changed[done])
            (void)collector_update(r->segment.members[done].collector, r->segment.members[done].model);
    return FAILED(hr) ? error_restore(&why) : hr;
}

/* Applies the definition while all files stay open. S_FALSE: this is impossible; nothing has changed. */
static HRESULT change_in_place(struct run *r, const struct run_set *fresh)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(fresh->set->DataCollectors, &models, &count);
    if (FAILED(hr))
        return hr;
    bool *changed = memory_zero(count + 1, sizeof *changed);
    if (!changed)
        hr = E_OUTOFMEMORY;
    else if (r->segment.count != count || !same_folders(r->set.set, fresh->set))
        hr = S_FALSE;
    if (hr == S_OK)
        hr = find_changed(r, models, changed);
    if (hr == S_OK)
        hr = update_members(r, models, changed);
    for (size_t i = 0; hr == S_OK && i < count; i++) {
        object_release(r->segment.members[i].model);
        r->segment.members[i].model = object_reference(models[i]);
    }
    memory_free(changed);
    objects_release(models, count);
    return hr;
}

/* Exchanges the definitions; everything else stays with the run. */
static void exchange(struct run_set *a, struct run_set *b)
{
    struct data_collector_set *old = a->set;
    a->set = b->set;
    b->set = old;
}

/* Determines whether the new definition may write to a file that is open now. */
static HRESULT reuses_files(const struct run_set *set, bool *reuses)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(set->set->DataCollectors, &models, &count);
    *reuses = false;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++) {
        const struct data_collector *c = collector_of(models[i]);
        *reuses = *reuses || c->LogAppend || c->LogCircular || c->LogOverwrite;
    }
    objects_release(models, count);
    return S_OK;
}

/* Determines whether an active collector must end before its successor in the new definition can be opened. */
static HRESULT must_end_first(const struct segment *old, const struct run_set *set, bool *stands)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(set->set->DataCollectors, &models, &count);
    *stands = false;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; !*stands && k < old->count; k++)
            *stands = !strcmp(collector_of(models[i])->Name, member_name(&old->members[k])) &&
                      !collector_follows(old->members[k].collector, models[i]);
    objects_release(models, count);
    return S_OK;
}

/* Collectors with an unchanged interval keep their grids; the grids of all other collectors start now. */
static void carry_grids(const struct segment *from, struct segment *to)
{
    int64_t now = tick_clock();
    for (size_t i = 0; i < to->count; i++) {
        struct member *m = &to->members[i];
        uint64_t interval = collector_interval_ms(m->collector);
        m->grid = tick_grid_from(now, interval);
        for (size_t k = 0; k < from->count; k++)
            if (from->members[k].grid.interval == interval && !strcmp(member_name(&from->members[k]), member_name(m)))
                m->grid = from->members[k].grid;
    }
}

/* Opens r->segment with the current definition and the grids of `old`. The segment `old` may be closed or still
   open. */
static HRESULT open_replacement(struct run *r, struct segment *old)
{
    HRESULT hr = segment_open(&r->set, true, old, &r->segment);
    if (SUCCEEDED(hr))
        carry_grids(old, &r->segment);
    return hr;
}

/* Replaces the segment with one of the new definition. On success, `fresh` contains the previous definition afterwards.
   Preserves the thread's error text. */
static HRESULT change_segment(struct run *r, struct run_set *fresh)
{
    struct segment old = r->segment;
    bool close_first, stands = false;
    HRESULT hr = reuses_files(fresh, &close_first);
    if (SUCCEEDED(hr))
        hr = must_end_first(&old, fresh, &stands);
    if (FAILED(hr))
        return hr;
    close_first = close_first || stands;
    if (close_first)
        run_end_segment(r, &r->set, &old);
    exchange(&r->set, fresh);
    hr = open_replacement(r, &old);
    if (SUCCEEDED(hr)) {
        if (!close_first)
            run_end_segment(r, fresh, &old);
        segment_free(&old);
        return S_OK;
    }
    exchange(&r->set, fresh);
    if (!close_first) {
        r->segment = old;
        return hr;
    }
    struct error_kept why = error_keep(hr);
    HRESULT again = open_replacement(r, &old);
    if (FAILED(again))
        run_end(r, again);
    segment_free(&old);
    return error_restore(&why);
}

static HRESULT restart_with_definition(struct run *r, struct run_set *fresh)
{
    run_move(r, STEP_UPDATE);
    HRESULT hr = change_segment(r, fresh);
    if (SUCCEEDED(hr)) {
        r->segment_started = tick_clock();
        r->roll = false;
    }
    if (!r->end)
        run_show_segment(r);
    run_move(r, r->end ? STEP_FAILED : STEP_BEGUN);
    return hr;
}

/* Applies the stored definition. On failure the run continues with the previous definition, or ends. */
static HRESULT run_take_definition(struct run *r)
{
    struct run_set fresh;
    HRESULT hr = run_set_load(r->set.space, r->set.name, &fresh);
    TRACE_STEP(run, "%s\\%s: a new definition: 0x%08X", r->set.space, r->set.name, (unsigned)hr);
    if (FAILED(hr))
        return hr;
    hr = change_in_place(r, &fresh);
    if (hr == S_OK) {
        exchange(&r->set, &fresh);
        r->segment.definition = r->set.set;
        for (size_t i = 0; i < r->segment.count; i++)
            if (FAILED(member_read_alert(&r->segment.members[i]))) /* the member keeps its previous settings */
                member_note(&r->segment.members[i], E_OUTOFMEMORY);
    } else if (hr == S_FALSE) {
        hr = restart_with_definition(r, &fresh);
    }
    run_set_free(&fresh);
    if (SUCCEEDED(hr))
        run_write_event(r, JOURNAL_UPDATED, &(struct journal_facts){0});
    return hr;
}

/* ---- the loop ---- */

#define LONGEST_WAIT_MS 60000
#define OPEN_AHEAD_MS   500

/* Opens the next segment; ends the run if that is impossible. `tick` is the grid time of the segment's first sample,
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
    run_write_event(r, JOURNAL_SEGMENTED, &(struct journal_facts){0});
    return true;
}

/* Returns whether all collectors are complete, for StopOnCompletion. */
static bool is_complete(const struct run *r)
{
    /* Duration also counts as a limit, because users wait for its end (DECISIONS 35). */
    bool limited = r->set.set->SegmentMaxDuration || r->set.set->SegmentMaxSize || r->set.set->Duration;
    for (size_t i = 0; i < r->segment.count; i++) {
        const struct member *m = &r->segment.members[i];
        enum collector_end end = collector_end(m->collector, limited);
        if ((end == ENDS_AT_LIMIT && !r->first_over) || (end == ENDS_BY_ITSELF && !m->done && !m->failed))
            return false;
    }
    return r->segment.count != 0;
}

/* Ends the run, and adds the reason to the run's message, which users read when they find a set stopped. */
static void end_with_reason(struct run *r, const char *why)
{
    r->end = true;
    diagnostics_end(&r->set.diagnostics, S_OK, why);
}

/* Handles a limit of the segment: starts the next segment, or ends the run with the reason `what`. */
static void limit_reached(struct run *r, const char *what)
{
    r->first_over = true;
    if (r->set.set->Segment && !(r->set.set->StopOnCompletion && is_complete(r)))
        r->roll = true;
    else
        end_with_reason(r, what);
}

static const char log_limit[] = "the run ended because a log reached SegmentMaxRecords or SegmentMaxSize";

/* Marks the member as failed. The other members continue, and the next segment opens this member again. If all members
   have failed, ends the run. */
static void member_failed(struct run *r, struct member *m, HRESULT reason)
{
    bool all = true;
    TRACE_STEP(run, "%s failed: 0x%08X", member_name(m), (unsigned)reason);
    m->failed = true;
    member_note(m, reason);
    for (size_t i = 0; i < r->segment.count; i++)
        all = all && r->segment.members[i].failed;
    if (all)
        run_end(r, reason);
}

/* Polls a member, and processes its state. */
static void poll_member(struct run *r, size_t index)
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
            run_write_event(r, JOURNAL_CONFIGURATION_DONE,
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

static void report_losses(struct run *r, const struct journal_facts *facts)
{
    diagnostics_losses_reported(&r->set.diagnostics, facts->count, clock_monotonic_ms());
    run_write_event(r, JOURNAL_SAMPLES_LOST, facts);
}

static void report_more_losses(struct run *r)
{
    uint64_t total;
    if (diagnostics_losses_due(&r->set.diagnostics, clock_monotonic_ms(), &total))
        report_losses(r, &(struct journal_facts){.count = total, .reason = "total of this run so far"});
}

static HRESULT take_sample(struct run *r, size_t index)
{
    struct member *m = &r->segment.members[index];
    HRESULT hr = collector_sample(m->collector);
    TRACE_STEP(run, "sample of %s: 0x%08X", member_name(m), (unsigned)hr);
    r->state.samples += hr == S_OK;
    if (FAILED(hr) && diagnostics_lost(&r->set.diagnostics, hr)) {
        run_write_record(r, true);
        report_losses(
            r, &(struct journal_facts){
                   .collector = member_name(m), .file = m->file, .count = r->set.diagnostics.lost_failed, .error = hr});
    }
    return hr;
}

static void member_sample(struct run *r, size_t index, int64_t tick)
{
    HRESULT hr = take_sample(r, index);
    if (hr == S_FALSE) {
        limit_reached(r, log_limit);
        /* The file was full, so this sample becomes the first sample of the next segment. */
        if (!r->roll || !next_segment(r, tick))
            return;
        hr = take_sample(r, index);
    }
    if (hr == S_FALSE)
        run_end(r, error_set(E_INVALIDARG, "SegmentMaxSize: %u MB are not sufficient for a sample of '%s'",
                             (unsigned)r->set.set->SegmentMaxSize, member_name(&r->segment.members[index])));
    else
        poll_member(r, index);
}

static void sample_due_members(struct run *r, int64_t now)
{
    for (size_t i = 0; i < r->segment.count && !r->end; i++) {
        struct member *m = &r->segment.members[i];
        uint64_t missed;
        if (!tick_grid_take(&m->grid, now, &missed) || m->failed)
            continue;
        if (missed && !r->set.diagnostics.lost_late)
            report_losses(r, &(struct journal_facts){.collector = member_name(m),
                                                     .file = m->file,
                                                     .count = missed,
                                                     .reason = "their time passed while an earlier sample was taken"});
        r->set.diagnostics.lost_late += missed;
        int64_t tick = tick_grid_last(&m->grid);
        if (!r->roll || next_segment(r, tick))
            member_sample(r, i, tick);
    }
}

/* Returns whether the next segment must be opened immediately. This is so if a member takes no samples, because such a
   member cannot wait for the next sample of other members. Exception: a member that is complete without a limit
   (ENDS_BY_ITSELF) can wait. */
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

/* Polls the members that have called `wake`, and those whose poll time has come. */
static void poll_woken_members(struct run *r)
{
    bool at_once = false; /* true if a member takes no samples: it cannot wait for the next sample of other members */
    for (size_t i = 0; i < r->segment.count && !r->end; i++) {
        struct member *m = &r->segment.members[i];
        bool due = tick_clock() >= member_next_look(m);
        if (m->failed || !(atomic_exchange(&m->woken, false) || due))
            continue;
        poll_member(r, i);
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

/* Returns the time `seconds` after `from`; TICK_NEVER if `seconds` is 0. */
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

/* Returns when to open the next segment: shortly before the next sample, so that the sample is not delayed. TICK_NEVER:
   no segment is to be opened, or the run ends first. */
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
    /* Check the reason, because other processes can write to the shared memory. */
    if (why == STOP_EXPIRED && !supervised_set_expires(r->set.space, r->set.name))
        why = STOP_ASKED;
    end_with_reason(r, texts[why]);
    return r->end;
}

/* Waits for the next sample, limit or request. */
static void run_wait(struct run *r)
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

/* Returns whether the limit has passed. If so, first takes the samples that were due before it, so that every tick is
   sampled or counted as lost. */
static bool is_over(struct run *r, int64_t now, int64_t limit)
{
    if (now < limit)
        return false;
    sample_due_members(r, limit - 1);
    return !r->end;
}

static void check_limits(struct run *r)
{
    int64_t now = tick_clock();
    if (is_over(r, now, limit_at(r->started, r->set.set->Duration)))
        end_with_reason(r, "the run ended because its Duration has passed");
    else if (!r->end && !r->roll && is_over(r, now, limit_at(r->segment_started, r->set.set->SegmentMaxDuration)) &&
             !r->roll)
        limit_reached(r, "the run ended because SegmentMaxDuration has passed");
    if (!r->end && now < next_tick(r) && now >= segment_opens_at(r))
        next_segment(r, next_tick(r));
    /* Opens the next segment now if no further sample is due, or if a member cannot wait for the next sample. */
    if (!r->end && r->roll && (next_tick(r) == TICK_NEVER || rolls_at_once(r)))
        next_segment(r, now);
}

static HRESULT run_flush_members(struct run *r)
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
        run_section_answer(r->section, REQUEST_FLUSH, number, run_flush_members(r));
}

void run_loop(struct run *r, void (*began)(void *user), void *user)
{
    for (bool first = true; !r->end; first = false) {
        check_limits(r);
        if (!r->end)
            sample_due_members(r, tick_clock());
        report_more_losses(r);
        poll_woken_members(r);
        if (r->set.alerts)
            r->set.noted |= alert_actions_take_notes(r->set.alerts, &r->set.diagnostics);
        if (r->set.export)
            r->set.noted |= set_export_take_notes(r->set.export, &r->set.diagnostics);
        if (run_take_ended(r) || r->set.noted)
            run_write_record(r, true);
        run_publish(r);
        if (first)
            began(user);
        answer_requests(r);
        if (!r->end && r->set.set->StopOnCompletion && is_complete(r))
            end_with_reason(r, "the run ended because all its collectors are complete");
        if (!is_stopped(r))
            run_wait(r);
        is_stopped(r);
    }
}
