/* SPDX-License-Identifier: MIT */
/* The run of a host: what it shows to others and writes down, and how its segments end. */
#include "engine/pla/run/host_run.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/retention.h"
#include "engine/pla/settings.h"

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
    if (phase_after(r->state.phase, step, &r->state.phase) != S_OK)
        return;
    r->state.status = phase_status(r->state.phase);
    r->state.phase_since = clock_monotonic_ms();
    run_publish(r);
}

void run_tell(const struct run *r, enum journal_id id, const struct journal_facts *more)
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
    if (FAILED(hr)) {
        r->failure = error_keep(hr);
        diagnostics_end(&r->set.diagnostics, hr, r->failure.text);
    }
}

/* ---- ended segments ---- */

static HRESULT put_in_line(struct run *r, struct ended_segment *e)
{
    HRESULT hr = r->ended ? S_OK : ended_segments_create(r->compile, r->section, &r->ended);
    if (SUCCEEDED(hr) && e->reported)
        run_tell(r, JOURNAL_COMPILING, &(struct journal_facts){.file = e->location});
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
    uint32_t at = REPORT_AT_STOP; /* what no one knows is as Windows has it */
    if (on && !r->end && (FAILED(setting_read(&set->set->object, SETTING_ReportAt, &at)) || at == REPORT_AT_STOP))
        reported = false;
    /* A set that never stops has its folders looked after too. */
    const bool managed = reported || (on && set_retention_parts(set->set));
    /* None is open after one that could not be. */
    HRESULT compiled = s->location && (managed || set->set->Task[0]) ? ended_segment_create(set, s, &ended) : S_OK;
    HRESULT closed = segment_close(s);
    if (ended) {
        ended->managed = managed;
        ended->reported = reported;
        ended->running = !r->end;
        compiled = put_in_line(r, ended);
    }
    if (FAILED(compiled)) {
        diagnostics_note(&r->set.diagnostics, compiled, error_text(compiled));
        ended_segment_free(ended);
    }
    return FAILED(closed) ? closed : compiled;
}

bool run_take_ended(struct run *r)
{
    bool told = false;
    for (struct ended_segment *e; r->ended && (e = ended_segments_take(r->ended));) {
        if (FAILED(e->failure.hr)) {
            diagnostics_note(&r->set.diagnostics, e->failure.hr, e->failure.text);
            if (SUCCEEDED(r->failure.hr))
                r->failure = e->failure;
            told = true;
        }
        ended_segment_free(e);
    }
    for (struct error_kept note; r->ended && ended_segments_note(r->ended, &note); told = true)
        diagnostics_note(&r->set.diagnostics, note.hr, note.text);
    return told;
}
