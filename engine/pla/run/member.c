/* SPDX-License-Identifier: MIT */
/* Members of a segment: opens collectors, passes on their messages, records resources that outlive the host process,
   and checks output locations. */
#include "engine/pla/run/member.h"

#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/retention/plan.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/sets/run_folders.h"
#include "engine/pla/settings.h"

#include <string.h>

const char *member_name(const struct member *m)
{
    return collector_of(m->model)->Name;
}

void member_note(struct member *m, HRESULT hr)
{
    m->set->noted |= diagnostics_note(&m->set->diagnostics, hr, error_text(hr));
}

/* ---- messages of collectors ---- */

/* Adds a note and writes an event, but only once per run and text, so that a missing data source is not reported for
   each segment. */
static void member_note_once(void *user, HRESULT reason, const char *subject, const char *text)
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
    (void)run_files_add(base, folder, path, false); /* retention keeps a file that cannot be registered */
}

/* ---- opening ---- */

/* Registers the member's files, so that the data manager can delete them later. A failure does not stop the run. */
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
    uint32_t new_instances_seconds = 0, other_computers_seconds = 0, query_timeout_seconds = 0, attach = 0;
    /* If Description is a reference to a string resource, object_get returns the string that the resource contains. */
    HRESULT hr = object_get(&set->object, class_property(&data_collector_set_class, "Description"), &description);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_NewInstancesFile, &new_instances_seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_OtherComputersFile, &other_computers_seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_QueryTimeout, &query_timeout_seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(&set->object, SETTING_ApiAttach, &attach);
    if (SUCCEEDED(hr)) {
        struct collect_context collect = {.output_path = m->file,
                                          .output_base = root,
                                          .description = description.text,
                                          .segment_max_mb = set->SegmentMaxSize,
                                          .segmented = set->Segment,
                                          .user = m,
                                          .note = member_note_once,
                                          .alert = member_alert,
                                          .alert_rules = member_alert_rules,
                                          .wake = wake,
                                          .hold = hold,
                                          .made = made,
                                          .previous = previous ? previous->collector : NULL,
                                          .new_instances_seconds = new_instances_seconds,
                                          .other_computers_seconds = other_computers_seconds,
                                          .attach = attach != 0,
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
    TRACE_STEP(run, "%s opens %s: 0x%08X", member_name(m), m->file ? m->file : "", (unsigned)hr);
    m->looked = tick_clock();
    value_free(&description);
    return hr;
}

int64_t member_next_look(const struct member *m)
{
    const uint64_t every = m->collector && !m->failed ? collector_poll_ms(m->collector) : 0;
    return every ? m->looked + (int64_t)every : TICK_NEVER;
}

/* ---- resources that outlive the host process: lines of a file beside the set's definition ---- */

HRESULT held_add(struct run_set *r, const char *line)
{
    for (size_t i = 0; i < r->held.count; i++)
        if (!strcmp(r->held.items[i], line))
            return S_OK;
    HRESULT hr = texts_add(&r->held, line);
    return SUCCEEDED(hr) ? store_save_held(r->space, r->name, &r->held) : hr;
}

#define REPORT_LINE "report "

HRESULT held_add_report(struct run_set *r, const char *folder)
{
    char *line = text_format(REPORT_LINE "%s", folder);
    HRESULT hr = line ? held_add(r, line) : E_OUTOFMEMORY;
    memory_free(line);
    return hr;
}

static HRESULT put_lost_report(struct run_record *record, const void *text)
{
    bool empty = !record->last_message || !*record->last_message;
    char *both = empty ? text_copy(text) : text_format("%s\n%s", record->last_message, (const char *)text);
    HRESULT hr = both ? run_record_set_text(&record->last_message, both) : E_OUTOFMEMORY;
    memory_free(both);
    return hr;
}

static HRESULT report_lost(const char *space, const char *name, const char *folder)
{
    static const char why[] = "the set's host process died while it created the report; the logs are complete (create "
                              "the report with Run of the set's DataManager, or with openpla report)";
    char *text = text_format("%s: %s", folder, why);
    if (!text)
        return E_OUTOFMEMORY;
    journal_write(JOURNAL_REPORT_FAILED,
                  &(struct journal_facts){
                      .space = space, .name = name, .file = folder, .error = OPENPLA_E_HOST_DIED, .reason = why});
    store_update_run(space, name, &(struct run_change){put_lost_report, text});
    memory_free(text);
    return S_OK;
}

static HRESULT release_line(const char *space, const char *name, const char *line)
{
    size_t n = sizeof REPORT_LINE - 1;
    return strncmp(line, REPORT_LINE, n) == 0 ? report_lost(space, name, line + n) : collector_release_held(line);
}

void held_clear(struct run_set *r)
{
    if (r->held.count)
        store_remove_held(r->space, r->name);
    texts_free(&r->held);
}

HRESULT held_release_by_host(const char *space, const char *name)
{
    struct texts lines = {0};
    HRESULT hr = store_load_held(space, name, &lines), first = hr;
    for (size_t i = 0; i < lines.count; i++) {
        hr = release_line(space, name, lines.items[i]);
        if (FAILED(hr) && SUCCEEDED(first))
            first = hr;
    }
    if (first == S_OK)
        store_remove_held(space, name);
    texts_free(&lines);
    return first;
}

/* Takes the run lock, so that no host process is running or starting. */
HRESULT held_release(const char *space, const char *name)
{
    struct file_lock *lock = NULL;
    struct texts lines;
    HRESULT hr = store_load_held(space, name, &lines);
    if (hr != S_OK)
        return hr;
    texts_free(&lines);
    char *path = store_run_lock_path(space, name);
    hr = path ? file_lock_take(path, 0, &lock) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = held_release_by_host(space, name);
    else if (hr == HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
        hr = S_FALSE;
    file_lock_release(lock);
    memory_free(path);
    return hr;
}

/* ---- output of a run ---- */

HRESULT output_check_root(const struct data_collector_set *set)
{
    char *root = os_expand_environment(set_root(set));
    HRESULT hr = root ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !folder_exists(root))
        hr = set_creates_root(root) ? folder_create(root)
                                    : error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND),
                                                "RootPath: the folder '%s' does not exist (create it; starting a "
                                                "set creates only folders below %%systemdrive%%\\PerfLogs)",
                                                root);
    memory_free(root);
    return hr;
}

/* Returns the path with "_<serial>" before its extension. */
static char *with_serial(const char *path, uint32_t serial_number)
{
    const char *extension = path_extension(path);
    return text_format("%.*s_%06u%s", (int)(strlen(path) - strlen(extension)), path, (unsigned)serial_number,
                       extension);
}

/* Finds the first number that no file has, beginning with `serial_number`. Files with higher numbers can exist, for
   example from a deleted set that used the same folder. */
static HRESULT unused_file(struct object *collector, const char *path, uint32_t serial_number, char **out)
{
    enum { TRIES = 100000 };
    for (uint32_t i = 0; i < TRIES; i++) {
        char *other = with_serial(path, serial_number + i);
        if (!other)
            return E_OUTOFMEMORY;
        if (!collector_file_is_there(collector, other)) {
            *out = other;
            return S_OK;
        }
        memory_free(other);
    }
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                     "'%s' already exists, as do the files with the next %d numbers (move the logs to another folder)",
                     path, TRIES);
}

HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out)
{
    HRESULT hr = collector_output_file(collector, folder, context, out);
    const struct data_collector *c = collector_of(collector);
    /* API tracing collectors have no properties for the treatment of earlier logs, so all logs are kept (DECISIONS
       168). */
    const bool keeps = collector->class == &api_tracing_collector_class ||
                       (follows && !c->LogOverwrite && !c->LogAppend && !c->LogCircular);
    if (FAILED(hr) || !keeps || !collector_file_is_there(collector, *out))
        return hr;
    char *path = *out;
    *out = NULL;
    hr = unused_file(collector, path, context->serial_number, out);
    memory_free(path);
    return hr;
}

static HRESULT check_disk(const struct data_manager *m, const char *root)
{
    uint64_t bytes = 0;
    HRESULT hr = m->MinFreeDisk ? folder_free_bytes(root, &bytes) : S_OK;
    if (SUCCEEDED(hr) && m->MinFreeDisk && bytes >> 20 < m->MinFreeDisk)
        hr = error_set(PLA_E_NO_MIN_DISK, "MinFreeDisk: '%s' has only %u MB left, but the set requires %u", root,
                       (unsigned)(bytes >> 20), (unsigned)m->MinFreeDisk);
    return hr;
}

static HRESULT check_folders(const struct data_manager *m, const char *root)
{
    struct texts folders = {0};
    HRESULT hr = m->MaxFolderCount ? folder_list(root, true, &folders) : S_OK;
    if (SUCCEEDED(hr) && m->MaxFolderCount && folders.count >= m->MaxFolderCount)
        hr = error_set(PLA_E_TOO_MANY_FOLDERS, "MaxFolderCount: '%s' contains %u folders, but the set allows only %u",
                       root, (unsigned)folders.count, (unsigned)m->MaxFolderCount);
    texts_free(&folders);
    return hr;
}

static HRESULT check(const struct data_manager *m, const char *root)
{
    HRESULT hr = check_disk(m, root);
    return SUCCEEDED(hr) ? check_folders(m, root) : hr;
}

/* Two passes are needed if a folder contains files of users, because the first pass does not remove such a folder. In
   the second pass the folder no longer belongs to the set, so the pass deletes another folder instead. */
enum { ROOM_PASSES = 2 };

/* If a condition is not met, first deletes run folders by the retention policy. Without this deletion, a disk that
   other data have filled would prevent all further runs of the set. */
HRESULT output_check_resources(const struct run_set *r)
{
    const struct data_manager *m = (const struct data_manager *)r->set->DataManager;
    if (!m->Enabled || !m->CheckBeforeRunning)
        return S_OK;
    char *root = os_expand_environment(set_root(r->set));
    HRESULT hr = root ? check(m, root) : E_OUTOFMEMORY, passed = S_OK;
    for (int i = 0; i < ROOM_PASSES && SUCCEEDED(passed) && (hr == PLA_E_NO_MIN_DISK || hr == PLA_E_TOO_MANY_FOLDERS);
         i++) {
        struct error_kept why = error_keep(hr);
        passed = run_folders_pass(&(struct run_pass){.space = r->space,
                                                     .name = r->name,
                                                     .set = r->set,
                                                     .root = root,
                                                     .parts = RETENTION_LIMITS,
                                                     .room_for_one = true});
        struct error_kept failure = error_keep(passed);
        hr = passed == E_OUTOFMEMORY ? passed : check(m, root);
        if (hr == why.hr && FAILED(passed))
            hr = error_set(hr, "%s (freeing space failed: %s)", why.text, failure.text);
    }
    memory_free(root);
    return hr;
}
