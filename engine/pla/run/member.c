/* SPDX-License-Identifier: MIT */
/* Members: how they are opened, and where what their collectors say goes. */
#include "engine/pla/run/member.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/run/held.h"
#include "engine/pla/run/output.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/settings.h"

const char *member_name(const struct member *m)
{
    return collector_of(m->model)->Name;
}

void member_note(struct member *m, HRESULT hr)
{
    m->set->noted |= diagnostics_note(&m->set->diagnostics, hr, error_text(hr));
}

/* ---- what a collector has to say ---- */

/* What is not collected is told once in a run, not at each segment. */
static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    struct member *m = user;
    if (!diagnostics_note(&m->set->diagnostics, reason, text))
        return;
    m->set->noted = true;
    if (FAILED(reason))
        journal_write(JOURNAL_COUNTER_DROPPED, &(struct journal_facts){.space = m->set->space,
                                                                       .name = m->set->name,
                                                                       .counter = subject,
                                                                       .collector = member_name(m),
                                                                       .file = m->file,
                                                                       .error = reason,
                                                                       .reason = text});
}

static void wake(void *user)
{
    struct member *m = user;
    atomic_store(&m->woken, true);
    run_section_wake(m->set->section);
}

static HRESULT hold(void *user, const char *line)
{
    struct member *m = user;
    return held_add(m->set, line);
}

static void made(const char *base, const char *folder, const char *path)
{
    (void)run_files_add(base, folder, path, false); /* one that cannot be named is kept */
}

/* ---- opening ---- */

/* What the run makes is what the data manager may delete one day. A name that cannot be noted costs no run. */
static void name_files(struct member *m, const char *root)
{
    char *folder = path_folder(m->file);
    HRESULT hr = folder ? run_files_add(root, folder, m->file, false) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && *m->file && collector_writes_parts(m->model, m->file))
        hr = run_files_add(root, folder, m->file, true);
    if (FAILED(hr))
        member_note(m, hr);
    memory_free(folder);
}

HRESULT member_choose_file(struct member *m, const char *folder, const struct name_context *context, bool follows)
{
    HRESULT hr = member_read_alert(m);
    if (FAILED(hr))
        return hr;
    bool writes = collector_output(m->model) != WRITES_NOTHING;
    if (writes && (m->model->class != &alert_collector_class || m->alert.log))
        return output_file(m->model, folder, context, follows, &m->file);
    m->file = text_copy("");
    return m->file ? S_OK : E_OUTOFMEMORY;
}

void member_free(struct member *m)
{
    object_release(m->model);
    memory_free(m->file);
    alert_settings_free(&m->alert);
}

HRESULT member_open(struct member *m, const char *root, struct member *previous)
{
    struct data_collector_set *set = m->set->set;
    struct value description = {.kind = PROPERTY_TEXT};
    uint32_t new_instances_seconds = 0, other_computers_seconds = 0, query_timeout_seconds = 0;
    /* with a reference to a string resource resolved, as people are to read it */
    HRESULT hr = object_get(&set->object, class_property(&data_collector_set_class, "Description"), &description);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_NewInstancesFile, &new_instances_seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_OtherComputersFile, &other_computers_seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_QueryTimeout, &query_timeout_seconds);
    if (SUCCEEDED(hr)) {
        struct collect_context collect = {.output_path = m->file,
                                          .output_base = root,
                                          .description = description.text,
                                          .segment_max_mb = set->SegmentMaxSize,
                                          .segmented = set->Segment,
                                          .user = m,
                                          .note = note,
                                          .alert = member_alert,
                                          .alert_rules = member_alert_rules,
                                          .wake = wake,
                                          .hold = hold,
                                          .made = made,
                                          .previous = previous ? previous->collector : NULL,
                                          .new_instances_seconds = new_instances_seconds,
                                          .other_computers_seconds = other_computers_seconds,
                                          .query_timeout_seconds = query_timeout_seconds};
        bool existed = collector_output(m->model) != WRITES_FILE || collector_file_is_there(m->model, m->file);
        name_files(m, root);
        start_report_opening(m->set->report, member_name(m));
        hr = collector_open(m->model, &collect, &m->collector);
        start_report_opening(m->set->report, "");
        m->created = SUCCEEDED(hr) && !existed;
    }
    if (SUCCEEDED(hr) && previous)
        m->grid = previous->grid;
    m->looked = tick_clock();
    value_free(&description);
    return hr;
}

int64_t member_next_look(const struct member *m)
{
    const uint64_t every = m->collector && !m->failed ? collector_poll_ms(m->collector) : 0;
    return every ? m->looked + (int64_t)every : TICK_NEVER;
}
