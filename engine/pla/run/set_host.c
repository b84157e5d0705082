/* SPDX-License-Identifier: MIT */
/* The host process of a set: starts the run, publishes its state, writes the run record, ends segments, and stops the
   run. */
#include "engine/pla/run/set_host.h"

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/pla/definition.h"
#include "engine/pla/retention.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/set_export.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/settings.h"

#include <string.h>

/* The longest wait for another host process that holds the set's run lock while it starts or exits. */
#define OTHER_HOST_MS      5000
#define LOCK_STEP_MS       50
/* An ended run tries for this time to write its record, for example while another program has the record open, or while
   the disk is full. A client waits longer for a stop (RUN_STOP_WAIT_MS). */
#define RECORD_PATIENCE_MS 30000
#define RECORD_STEP_MS     200

/* Returns whether the record says that the run is active. In that case, the run would look interrupted after the host
   process exits. */
static bool record_says_running(const struct run *r)
{
    struct run_record record;
    HRESULT hr = store_load_run(r->set.space, r->set.name, &record);
    if (FAILED(hr))
        return !definition_is_damaged(hr); /* unknown: assume yes */
    bool running = record.running;
    run_record_free(&record);
    return running;
}

static void report_unwritten(const struct run *r, HRESULT hr, const char *what_follows)
{
    char *reason = text_format("%s; %s", error_text(hr), what_follows);
    run_write_event(r, JOURNAL_RECORD_NOT_WRITTEN, &(struct journal_facts){.error = hr, .reason = reason});
    memory_free(reason);
}

/* Records that the run has ended, with its result; or, if `start` is a failure, that the run did not start. Retries for
   RECORD_PATIENCE_MS. */
static void write_last_record(struct run *r, HRESULT start, const char *message)
{
    uint64_t since = clock_monotonic_ms();
    for (bool was_reported = false;; was_reported = true) {
        HRESULT hr = FAILED(start) ? run_set_record(&r->set, start, message, false) : run_write_record(r, false);
        if (SUCCEEDED(hr) || !record_says_running(r))
            return;
        if (clock_passed_ms(since, clock_monotonic_ms()) >= RECORD_PATIENCE_MS) {
            report_unwritten(r, hr, "giving up: the run will be treated as if the host process had died");
            return;
        }
        if (!was_reported)
            report_unwritten(r, hr, "retrying for half a minute");
        run_section_wait(r->section, RECORD_STEP_MS); /* also returns for a request, which is harmless */
    }
}

/* ---- the beginning ---- */

/* Returns the account that started the run, for events; from memory_alloc. */
static char *starter_of(const struct run *r)
{
    return *r->user ? text_copy(r->user) : os_user_name();
}

struct beginning {
    struct run *run;
    struct start_report **report;
};

static void host_began(void *user)
{
    const struct beginning *b = user;
    char *account = starter_of(b->run);
    b->run->set.report = NULL;
    start_report_send(b->report, S_OK);
    run_write_event(b->run, JOURNAL_STARTED, &(struct journal_facts){.key = b->run->run_key, .user = account});
    memory_free(account);
}

/* Writes the reason to the run record before the starter gets the result, so that the starter finds the reason there.
   If the record cannot be written at once, for example because the disk is full, sends the result first and then
   retries. Preserves the thread's error text. */
static void failed_start(struct run *r, HRESULT hr, struct start_report **report)
{
    struct error_kept why = error_keep(hr);
    char *account = starter_of(r);
    if (r->set.set && FAILED(run_set_record(&r->set, hr, why.text, false)) &&
        FAILED(store_mark_ended(r->set.space, r->set.name)) && record_says_running(r)) {
        error_restore(&why);
        start_report_send(report, hr);
        write_last_record(r, hr, why.text);
    }
    run_write_event(r, JOURNAL_START_FAILED,
                    &(struct journal_facts){.key = r->run_key, .user = account, .error = hr, .reason = why.text});
    if (r->section)
        run_move(r, STEP_FAILED);
    memory_free(account);
    error_restore(&why);
}

static void host_wake(void *section)
{
    run_section_wake(section);
}

static HRESULT host_begin_run(struct run *r, struct start_report **report)
{
    HRESULT hr = run_section_create(r->set.space, r->set.name, &r->section);
    if (FAILED(hr))
        return hr;
    r->state.process_id = process_own_id();
    r->state.started_utc = clock_utc();
    run_move(r, STEP_START);
    start_report_accept(report);
    hr = run_set_load(r->set.space, r->set.name, &r->set);
    if (SUCCEEDED(hr))
        hr = held_release_by_host(r->set.space, r->set.name);
    if (SUCCEEDED(hr)) {
        r->set.report = *report;
        r->set.section = r->section;
        hr = segment_open(&r->set, false, NULL, &r->segment);
    }
    if (FAILED(hr))
        return hr;
    run_show_segment(r);
    r->started = r->segment_started = tick_clock();
    for (size_t i = 0; i < r->segment.count; i++)
        r->segment.members[i].grid = tick_grid_from(r->started, collector_interval_ms(r->segment.members[i].collector));
    run_move(r, STEP_BEGUN);
    set_export_begin(&r->set, host_wake, r->section, &r->set.export);
    return S_OK;
}

/* ---- the end ---- */

static void report_end(struct run *r, const char *location)
{
    const struct diagnostics *d = &r->set.diagnostics;
    if (d->lost_late + d->lost_failed)
        run_write_event(r, JOURNAL_SAMPLES_LOST,
                        &(struct journal_facts){.count = d->lost_late + d->lost_failed,
                                                .file = location,
                                                .error = d->loss,
                                                .reason = d->loss_text ? d->loss_text : "total of this run"});
    if (FAILED(r->failure.hr))
        run_write_event(r, JOURNAL_STOPPED_BY_ERROR,
                        &(struct journal_facts){.file = location, .error = r->failure.hr, .reason = r->failure.text});
    else
        run_write_event(r, JOURNAL_STOPPED, &(struct journal_facts){.file = location, .reason = d->end});
}

static void host_finish_run(struct run *r)
{
    char *location = text_copy(r->segment.location);
    run_move(r, STEP_STOP);
    HRESULT closed = run_end_segment(r, &r->set, &r->segment);
    segment_free(&r->segment);
    held_clear(&r->set);
    alert_actions_end(r->set.alerts, &r->set.diagnostics);
    r->set.alerts = NULL;
    set_export_end(r->set.export, &r->set.diagnostics);
    r->set.export = NULL;
    if (FAILED(closed) && SUCCEEDED(r->failure.hr))
        r->failure = error_keep(closed);
    write_last_record(r, S_OK, NULL);
    if (r->ended) {
        if (location && run_is_managed(r) && FAILED(held_add_report(&r->set, location)))
            error_clear(); /* if this process is killed, nobody will notice that the report is lost */
        run_move(r, STEP_COMPILE);
        ended_segments_wait(r->ended);
        held_clear(&r->set);
        if (run_take_ended(r))
            write_last_record(r, S_OK, NULL);
    }
    report_end(r, location);
    run_move(r, STEP_DONE);
    memory_free(location);
}

static HRESULT run_locked(const char *space, const char *name, const char *run_key, struct start_report **report,
                          run_compile compile)
{
    struct run r;
    memset(&r, 0, sizeof r);
    r.set.space = space;
    r.set.name = name;
    r.run_key = run_key;
    r.compile = compile;
    start_report_get_user(*report, r.user);
    HRESULT hr = host_begin_run(&r, report);
    if (SUCCEEDED(hr)) {
        struct beginning b = {&r, report};
        run_loop(&r, host_began, &b);
        host_finish_run(&r);
        hr = r.failure.hr;
    } else {
        failed_start(&r, hr, report);
        held_clear(&r.set);
    }
    struct error_kept why = error_keep(hr);
    ended_segments_close(r.ended);
    run_section_close(r.section);
    run_set_free(&r.set);
    return FAILED(hr) ? error_restore(&why) : hr;
}

/* Returns whether a run is active and is neither starting nor stopping. */
static bool is_running(const char *space, const char *name)
{
    struct run_state state;
    return SUCCEEDED(run_query(space, name, &state)) &&
           (state.phase == PHASE_RUNNING || state.phase == PHASE_SEGMENTING || state.phase == PHASE_COMPILING);
}

/* Takes the run lock, so that only one of two host processes that are started at the same time runs the set. */
static HRESULT take_lock(const char *space, const char *name, struct file_lock **lock)
{
    char *path = store_run_lock_path(space, name);
    char *folder = path ? path_folder(path) : NULL;
    HRESULT hr = folder ? folder_create_protected(folder, PROTECTION_PLACE) : E_OUTOFMEMORY;
    for (uint32_t waited = 0; SUCCEEDED(hr); waited += LOCK_STEP_MS) {
        hr = file_lock_take(path, LOCK_STEP_MS, lock);
        if (hr != HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
            break;
        if (waited >= OTHER_HOST_MS || is_running(space, name)) {
            hr = error_set(PLA_E_DCS_IN_USE, "the set '%s\\%s' is running", space, name);
            break;
        }
        hr = S_OK;
    }
    memory_free(folder);
    memory_free(path);
    return hr;
}

/* Warms up a host process that was prepared ahead of its run. */
static void host_rehearse(const char *space, const char *name)
{
    struct run_set set;
    struct object **collectors;
    size_t count;
    if (FAILED(run_set_load(space, name, &set)))
        return;
    if (SUCCEEDED(collection_snapshot(set.set->DataCollectors, &collectors, &count))) {
        for (size_t i = 0; i < count; i++)
            collector_rehearse(collectors[i]);
        objects_release(collectors, count);
    }
    run_set_free(&set);
}

int run_host_main(const char *space, const char *name, const char *run_key, run_compile compile)
{
    struct start_report *report = NULL;
    struct file_lock *lock = NULL;
    bool waits = !strncmp(run_key, RUN_KEY_AHEAD, strlen(RUN_KEY_AHEAD));
    run_key += waits ? strlen(RUN_KEY_AHEAD) : 0;
    TRACE_STEP(run, "host of %s\\%s%s", space, name, waits ? ", started before the set" : "");
    run_secret_take(run_key);
    run_rights_confine(space, name);
    if (FAILED(start_report_open(run_key, &report)))
        report = NULL; /* no process waits for it */
    if (waits && report)
        host_rehearse(space, name);
    if (waits && (!report || start_report_await(report) != S_OK)) {
        start_report_close(report);
        run_secret_forget();
        return S_OK;
    }
    HRESULT hr = take_lock(space, name, &lock);
    if (SUCCEEDED(hr))
        hr = run_locked(space, name, run_key, &report, compile);
    start_report_send(&report, hr); /* does nothing if the report was already sent */
    file_lock_release(lock);
    run_secret_forget();
    return hr;
}

/* ---- publishing and recording ---- */

void run_show_figures(struct run *r, size_t index)
{
    struct member *m = &r->segment.members[index];
    struct collector_figures figures;
    if (index >= RUN_FIGURES_MAX)
        return;
    collector_figures(m->collector, &figures);
    run_section_publish_figures(r->section, index, member_name(m), &figures);
}

void run_show_segment(struct run *r)
{
    r->state.serial_number = r->segment.serial_number;
    text_fit(r->state.location, sizeof r->state.location, r->segment.location);
    for (size_t i = 0; i < r->segment.count; i++)
        run_show_figures(r, i);
    run_section_publish_count(r->section, r->segment.count);
}

void run_publish(struct run *r)
{
    r->state.samples_lost = r->set.diagnostics.lost_late + r->set.diagnostics.lost_failed;
    run_section_publish(r->section, &r->state);
}

void run_move(struct run *r, enum run_step step)
{
    const HRESULT hr = phase_after(r->state.phase, step, &r->state.phase);
    assert(hr != E_UNEXPECTED);
    if (hr != S_OK)
        return;
    r->state.status = phase_status(r->state.phase);
    TRACE_STEP(run, "%s\\%s: step %d, now in phase %d", r->set.space, r->set.name, (int)step, (int)r->state.phase);
    r->state.phase_since = clock_monotonic_ms();
    run_publish(r);
}

void run_write_event(const struct run *r, enum journal_id id, const struct journal_facts *more)
{
    struct journal_facts facts = *more;
    facts.space = r->set.space;
    facts.name = r->set.name;
    if (!facts.file)
        facts.file = r->segment.location;
    journal_write(id, &facts);
}

HRESULT run_write_record(struct run *r, bool running)
{
    char *message = diagnostics_text(&r->set.diagnostics);
    r->set.noted = false;
    HRESULT result = FAILED(r->failure.hr) ? r->failure.hr : r->set.diagnostics.loss;
    HRESULT hr = message ? run_set_record(&r->set, result, message, running) : E_OUTOFMEMORY;
    memory_free(message);
    return hr;
}

void run_end(struct run *r, HRESULT hr)
{
    r->end = true;
    TRACE_STEP(run, "%s\\%s: end: 0x%08X", r->set.space, r->set.name, (unsigned)hr);
    if (FAILED(hr)) {
        r->failure = error_keep(hr);
        diagnostics_end(&r->set.diagnostics, hr, r->failure.text);
    }
}

/* ---- ended segments ---- */

static HRESULT queue_segment(struct run *r, struct ended_segment *e)
{
    HRESULT hr = r->ended ? S_OK : ended_segments_create(r->compile, r->section, &r->ended);
    if (SUCCEEDED(hr) && e->reported)
        run_write_event(r, JOURNAL_COMPILING, &(struct journal_facts){.file = e->location});
    if (SUCCEEDED(hr))
        hr = ended_segments_add(r->ended, e);
    return hr;
}

bool run_is_managed(const struct run *r)
{
    return r->compile && ((const struct data_manager *)r->set.set->DataManager)->Enabled;
}

HRESULT run_end_segment(struct run *r, const struct run_set *set, struct segment *s)
{
    struct ended_segment *ended = NULL;
    const bool on = r->compile && ((const struct data_manager *)set->set->DataManager)->Enabled;
    bool reported = on;
    uint32_t at = REPORT_AT_STOP; /* an invalid setting means Windows' behaviour */
    if (on && !r->end && (FAILED(setting_read(&set->set->object, SETTING_ReportAt, &at)) || at == REPORT_AT_STOP))
        reported = false;
    /* Retention is also needed after segments, because a set may never stop. */
    const bool managed = reported || (on && set_retention_parts(set->set));
    /* location is NULL if the last segment could not be opened. */
    HRESULT compiled = s->location && (managed || set->set->Task[0]) ? ended_segment_create(set, s, &ended) : S_OK;
    HRESULT closed = segment_close(s);
    if (ended) {
        ended->managed = managed;
        ended->reported = reported;
        ended->running = !r->end;
        compiled = queue_segment(r, ended);
    }
    if (FAILED(compiled)) {
        diagnostics_note(&r->set.diagnostics, compiled, error_text(compiled));
        ended_segment_free(ended);
    }
    return FAILED(closed) ? closed : compiled;
}

bool run_take_ended(struct run *r)
{
    bool was_reported = false;
    for (struct ended_segment *e; r->ended && (e = ended_segments_take(r->ended));) {
        if (FAILED(e->failure.hr)) {
            diagnostics_note(&r->set.diagnostics, e->failure.hr, e->failure.text);
            if (SUCCEEDED(r->failure.hr))
                r->failure = e->failure;
            was_reported = true;
        }
        ended_segment_free(e);
    }
    for (struct error_kept note; r->ended && ended_segments_note(r->ended, &note); was_reported = true)
        diagnostics_note(&r->set.diagnostics, note.hr, note.text);
    return was_reported;
}
