/* SPDX-License-Identifier: MIT */
/* The work of a host: samples on the grid, segments, limits, requests, and a new definition between two samples (Commit
   with plaUpdateRunningInstance). */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/set_host.h"
#include "engine/pla/sets/supervised_set.h"

#include <string.h>

/* ---- the grid of ticks ---- */

int64_t tick_clock(void)
{
    /* The performance counter: the system's millisecond clocks step in 16 ms. */
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
    /* Where the latest run wrote is no part of the definition. */
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

/* Whether the sets, but for their collectors, write to the same folders. */
static bool same_folders(const struct data_collector_set *x, const struct data_collector_set *y)
{
    return x->Segment == y->Segment && x->SegmentMaxSize == y->SegmentMaxSize &&
           x->SubdirectoryFormat == y->SubdirectoryFormat && !strcmp(x->RootPath, y->RootPath) &&
           !strcmp(x->Subdirectory, y->Subdirectory) && !strcmp(x->Description, y->Description) &&
           !strcmp(x->SubdirectoryFormatPattern, y->SubdirectoryFormatPattern);
}

/* Whether the collector writes the same file in the same way. */
static bool same_file(const struct data_collector *a, const struct data_collector *b)
{
    return !strcmp(a->Name, b->Name) && !strcmp(a->FileName, b->FileName) && a->FileNameFormat == b->FileNameFormat &&
           !strcmp(a->FileNameFormatPattern, b->FileNameFormatPattern) && a->LogAppend == b->LogAppend &&
           a->LogCircular == b->LogCircular && a->LogOverwrite == b->LogOverwrite;
}

/* Which members are other ones in `models`. S_FALSE: one of them can only be opened anew. */
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

/* All go on as `models` say, or as they were. */
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
        done--; /* which is as it was */
    while (done-- > 0)
        if (changed[done])
            (void)collector_update(r->segment.members[done].collector, r->segment.members[done].model);
    return FAILED(hr) ? error_restore(&why) : hr;
}

/* Takes up the definition where files that are open can stay. S_FALSE: they cannot, and nothing has changed. */
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

/* The definitions only: all else stays with the run. */
static void exchange(struct run_set *a, struct run_set *b)
{
    struct data_collector_set *old = a->set;
    a->set = b->set;
    b->set = old;
}

/* Whether a file that the new definition writes may be one that is open. */
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

/* Whether a collector that is at work has to end before the one of its name in the new definition can begin. */
static HRESULT stands_in_the_way(const struct segment *old, const struct run_set *set, bool *stands)
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

/* The grids of collectors that stay as they were go on; the others begin now. */
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

/* Into r->segment, by the definition in force. `old` is closed or stays open, its grids go on. */
static HRESULT open_replacement(struct run *r, struct segment *old)
{
    HRESULT hr = segment_open(&r->set, true, old, &r->segment);
    if (SUCCEEDED(hr))
        carry_grids(old, &r->segment);
    return hr;
}

/* `fresh` is the definition in force on success, and the old one after it. The thread's error text survives. */
static HRESULT change_segment(struct run *r, struct run_set *fresh)
{
    struct segment old = r->segment;
    bool close_first, stands = false;
    HRESULT hr = reuses_files(fresh, &close_first);
    if (SUCCEEDED(hr))
        hr = stands_in_the_way(&old, fresh, &stands);
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

/* Takes up the definition that is stored now. On failure the run goes on with what it has, or is over. */
static HRESULT run_take_definition(struct run *r)
{
    struct run_set fresh;
    HRESULT hr = run_set_load(r->set.space, r->set.name, &fresh);
    if (FAILED(hr))
        return hr;
    hr = change_in_place(r, &fresh);
    if (hr == S_OK) {
        exchange(&r->set, &fresh);
        r->segment.definition = r->set.set;
        for (size_t i = 0; i < r->segment.count; i++)
            if (FAILED(member_read_alert(&r->segment.members[i]))) /* its settings stay those of before */
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
    run_write_event(r, JOURNAL_SEGMENTED, &(struct journal_facts){0});
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

static HRESULT take_sample(struct run *r, size_t index)
{
    struct member *m = &r->segment.members[index];
    HRESULT hr = collector_sample(m->collector);
    r->state.samples += hr == S_OK;
    if (FAILED(hr) && diagnostics_lost(&r->set.diagnostics, hr)) {
        run_write_record(r, true);
        run_write_event(
            r, JOURNAL_SAMPLES_LOST,
            &(struct journal_facts){
                .collector = member_name(m), .file = m->file, .count = r->set.diagnostics.lost_failed, .error = hr});
    }
    return hr;
}

static void member_sample(struct run *r, size_t index, int64_t tick)
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
        poll_member(r, index);
}

static void sample_what_is_due(struct run *r, int64_t now)
{
    for (size_t i = 0; i < r->segment.count && !r->end; i++) {
        struct member *m = &r->segment.members[i];
        uint64_t missed;
        if (!tick_grid_take(&m->grid, now, &missed) || m->failed)
            continue;
        if (missed && !r->set.diagnostics.lost_late)
            run_write_event(r, JOURNAL_SAMPLES_LOST,
                            &(struct journal_facts){.collector = member_name(m),
                                                    .file = m->file,
                                                    .count = missed,
                                                    .reason = "their time passed while an earlier one was taken"});
        r->set.diagnostics.lost_late += missed;
        int64_t tick = tick_grid_last(&m->grid);
        if (!r->roll || next_segment(r, tick))
            member_sample(r, i, tick);
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
static void poll_woken_members(struct run *r)
{
    bool at_once = false; /* what takes no samples does not wait for the next one of others */
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
            sample_what_is_due(r, tick_clock());
        poll_woken_members(r);
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
            run_wait(r);
        is_stopped(r);
    }
}
