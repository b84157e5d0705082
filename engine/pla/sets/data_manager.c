/* SPDX-License-Identifier: MIT */
/* The data manager creates reports and applies retention to run folders, after a segment and when a client calls
   Run. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/pla/definition.h"
#include "engine/pla/model/validate.h"
#include "engine/pla/retention.h"
#include "engine/pla/retention/plan.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_report.h"
#include "engine/pla/sets.h"
#include "engine/pla/sets/run_folders.h"
#include "engine/pla/store.h"

#include <string.h>

enum { FOLDER_STEPS = STEP_CREATE_REPORT | STEP_RUN_RULES | STEP_CREATE_HTML };

/* Writes an event about a report. Preserves the thread's error text. */
static void report_journal(const char *space, const char *name, const char *file, HRESULT hr, size_t notes)
{
    struct error_kept why = error_keep(hr);
    if (hr != S_FALSE)
        journal_write(FAILED(hr) ? JOURNAL_REPORT_FAILED : JOURNAL_REPORT_MADE,
                      &(struct journal_facts){.space = space,
                                              .name = name,
                                              .file = file,
                                              .error = FAILED(hr) ? hr : S_OK,
                                              .reason = FAILED(hr) ? why.text : NULL,
                                              .count = notes});
    error_restore(&why);
}

static HRESULT make_report(const struct run_report *what, const char *space)
{
    char *path = NULL;
    struct texts notes = {0};
    HRESULT hr = run_report_make(what, &path, &notes);
    if (FAILED(hr))
        hr = error_prefix(hr, "the report of '%s'", what->folder);
    report_journal(space, what->name, path ? path : what->folder, hr, notes.count);
    texts_free(&notes);
    memory_free(path);
    return hr;
}

static HRESULT report_on(const struct ended_segment *segment, const char *root)
{
    const struct run_report what = {
        .set = segment->set,
        .name = segment->name,
        .root = root,
        .folder = segment->location,
        .steps = STEP_CREATE_REPORT | STEP_RUN_RULES | STEP_CREATE_HTML,
        /* If each run has a folder, all logs in the folder belong to the run; a trace session can have more files than
           its collector names. */
        .files = set_has_run_folders(segment->set) ? NULL : &segment->files,
    };
    return make_report(&what, segment->space);
}

HRESULT data_manager_compile(const struct ended_segment *segment)
{
    char *root = os_expand_environment(set_root(segment->set));
    if (!root)
        return E_OUTOFMEMORY;
    HRESULT hr = segment->reported ? report_on(segment, root) : S_OK;
    struct error_kept reported = error_keep(hr);
    HRESULT passed = run_folders_pass(&(struct run_pass){.space = segment->space,
                                                         .name = segment->name,
                                                         .set = segment->set,
                                                         .root = root,
                                                         .parts = set_retention_parts(segment->set),
                                                         .latest_runs = segment->running});
    if (FAILED(passed))
        passed = error_prefix(passed, "retention of run folders");
    memory_free(root);
    return FAILED(reported.hr) ? error_restore(&reported) : FAILED(passed) ? passed : reported.hr;
}

/* ---- Run ---- */

struct managed {
    const char *space, *name;
    struct data_collector_set *set; /* the stored definition */
    char *root;
    char *running; /* folder of the active run; NULL: none */
    uint32_t steps;
    struct object *errors;
};

static HRESULT note(const struct managed *m, const char *folder, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    return issues_add(m->errors, hr, folder, why.text);
}

/* Finds the folder of the active run. Called before each folder, because a run may start while reports are created. */
static HRESULT find_running(struct managed *m)
{
    struct run_state state;
    memory_free(m->running);
    m->running = NULL;
    HRESULT hr = run_query(m->space, m->name, &state);
    if (FAILED(hr) || state.phase == PHASE_STOPPED)
        return hr;
    m->running = text_copy(state.location);
    return m->running ? S_OK : E_OUTOFMEMORY;
}

/* Performs the report steps for a folder. Adds failures of the folder to `errors`; a returned failure ends the whole
   call. S_FALSE: the folder has nothing to report. */
static HRESULT manage_folder(struct managed *m, const char *folder)
{
    HRESULT hr = m->steps & (uint32_t)FOLDER_STEPS ? find_running(m) : S_FALSE;
    if (hr != S_OK)
        return hr;
    if (m->running && file_is_same(m->running, folder))
        hr = error_set(PLA_E_DCS_IN_USE, "the run that writes to this folder is still active");
    else
        hr = make_report(
            &(struct run_report){.set = m->set, .name = m->name, .root = m->root, .folder = folder, .steps = m->steps},
            m->space);
    if (hr == E_OUTOFMEMORY || hr == S_FALSE)
        return hr;
    return FAILED(hr) ? note(m, folder, hr) : S_OK;
}

static HRESULT note_folder(void *user, const char *folder, HRESULT hr)
{
    return note(user, folder, hr);
}

/* Performs the retention steps after the reports, for all folders or for `only`. Failures of folders are added to
   `errors`. */
static HRESULT manage_folders(struct managed *m, const char *only)
{
    const unsigned parts = (m->steps & STEP_FOLDER_ACTIONS ? RETENTION_ACTIONS : 0u) |
                           (m->steps & STEP_RESOURCE_FREEING ? RETENTION_LIMITS : 0u);
    if (!parts)
        return S_OK;
    HRESULT hr = find_running(m);
    return FAILED(hr) ? hr
                      : run_folders_pass(&(struct run_pass){.space = m->space,
                                                            .name = m->name,
                                                            .set = m->set,
                                                            .root = m->root,
                                                            .parts = parts,
                                                            .only = only,
                                                            .running = m->running,
                                                            .failed = note_folder,
                                                            .user = m});
}

static HRESULT manage_all(struct managed *m)
{
    struct texts names = {0};
    /* If all runs share one folder, that folder is RootPath. */
    HRESULT hr = set_has_run_folders(m->set) ? S_OK : manage_folder(m, m->root);
    if (SUCCEEDED(hr) && set_has_run_folders(m->set))
        hr = folder_list(m->root, true, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        char *folder = path_join(m->root, names.items[i]);
        hr = folder ? manage_folder(m, folder) : E_OUTOFMEMORY;
        memory_free(folder);
    }
    texts_free(&names);
    return SUCCEEDED(hr) ? manage_folders(m, NULL) : hr;
}

/* Performs the steps for one folder; `folder` is a string from a client. */
static HRESULT manage_one(struct managed *m, const char *folder)
{
    const char *names = path_names_behind(m->root, folder);
    names = names ? names : folder;
    const char *fault = *names ? path_names_fault(names) : NULL;
    if (fault || names[0] == '/' || names[0] == '\\')
        return error_set(E_INVALIDARG, "bstrFolder: '%s' is not below the set's RootPath '%s'%s%s", folder, m->root,
                         fault ? ": " : "", fault ? fault : "");
    char *path = path_join(m->root, names);
    if (!path)
        return E_OUTOFMEMORY;
    HRESULT hr = folder_exists(path) ? manage_folder(m, path)
                                     : error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND),
                                                 "bstrFolder: the folder '%s' does not exist", path);
    if (hr == S_FALSE && m->steps & (uint32_t)FOLDER_STEPS)
        hr = note(m, path,
                  error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "%s",
                            m->steps & STEP_CREATE_REPORT ? "the folder has no logs for a report"
                                                          : "the folder has no report (step 0x1 creates it)"));
    if (SUCCEEDED(hr))
        hr = manage_folders(m, path);
    memory_free(path);
    return hr;
}

/* Rejects a set that runs under a separate account, because that account has other rights than this process. */
static HRESULT check_account(const struct caller *caller, const char *xml, size_t size)
{
    struct set_account account;
    if (caller->in_process || !os_logon())
        return S_OK;
    HRESULT hr = set_account_read(xml, size, &account);
    if (SUCCEEDED(hr) && *account.user)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "Run: the set runs as '%s', so only the runs of the set can create the set's reports (openpla "
                       "report creates a report for a folder)",
                       account.user);
    set_account_free(&account);
    return hr;
}

static HRESULT load_set(const struct caller *caller, struct managed *m)
{
    char *xml = NULL;
    size_t size;
    struct object *set = NULL;
    HRESULT hr = definition_load(caller, m->space, m->name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = check_account(caller, xml, size);
    if (SUCCEEDED(hr))
        hr = set_create_from_xml(xml, size, &set);
    if (SUCCEEDED(hr))
        m->set = set_of(set);
    memory_free(xml);
    m->root = SUCCEEDED(hr) ? os_expand_environment(set_root(m->set)) : NULL;
    return FAILED(hr) ? definition_name_file(hr, m->space, m->name) : m->root ? S_OK : E_OUTOFMEMORY;
}

HRESULT data_manager_run(const struct caller *caller, const char *space, const char *name, uint32_t steps,
                         const char *folder, struct object *errors)
{
    struct managed m = {.space = space, .name = name, .steps = steps, .errors = errors};
    HRESULT hr = definition_check(caller, SET_ACCESS_START, space, name, NULL);
    if (SUCCEEDED(hr))
        hr = load_set(caller, &m);
    if (SUCCEEDED(hr))
        hr = folder && *folder ? manage_one(&m, folder) : manage_all(&m);
    memory_free(m.running);
    memory_free(m.root);
    object_release(m.set ? &m.set->object : NULL);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- deleting a run folder by its path ---- */

static HRESULT check_runs(const char *space, const char *name, const char *folder)
{
    struct run_record record;
    HRESULT hr = store_load_run(space, name, &record);
    if (FAILED(hr)) /* without a readable record, no run is active */
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    if (record.running && *record.latest_location && file_is_same(record.latest_location, folder))
        hr = error_set(PLA_E_DCS_IN_USE, "'%s': the run of '%s' that writes to it is still active", folder, name);
    run_record_free(&record);
    return hr;
}

HRESULT data_manager_delete_report(const char *folder)
{
    struct folder_kept kept;
    HRESULT hr = S_OK;
    size_t length = strlen(folder);
    while (length && strchr("\\/", folder[length - 1]))
        length--;
    char *path = text_copy_n(folder, length);
    if (!path)
        return E_OUTOFMEMORY;
    for (const char *const *space = store_namespaces(); SUCCEEDED(hr) && *space; space++) {
        struct texts names = {0};
        if (!category_of(*space)->runs)
            continue;
        hr = definition_list(&caller_self, *space, &names);
        for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
            hr = check_runs(*space, names.items[i], path);
        texts_free(&names);
    }
    if (SUCCEEDED(hr))
        hr = folder_remove_marked(path, &kept);
    memory_free(path);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- retention passes and their events ---- */

#define PASS_WAIT_MS 5000 /* time to wait for a pass that a client has started for the same set */

static bool has_retention(const struct data_collector_set *set)
{
    return set_has_run_folders(set) && ((const struct data_manager *)set->DataManager)->Enabled;
}

void run_folder_take(struct run_set *r, const struct segment *s, bool made)
{
    const char *name = path_names_behind(s->root, s->location);
    if (!name || !*name)
        return;
    HRESULT hr =
        has_retention(r->set) ? folder_take(r->space, r->name, s->root, name, made, s->serial_number) : S_FALSE;
    if (hr == S_FALSE && !made)
        hr = folder_leave(s->root, name);
    if (FAILED(hr))
        diagnostics_note(&r->diagnostics, hr, error_text(hr));
}

void run_folder_give_back(const struct run_set *r, const struct segment *s)
{
    const char *name = path_names_behind(s->root, s->location);
    if (name && *name && has_retention(r->set))
        folder_give_back(r->space, r->name, s->root, name);
}

/* ---- the pass ---- */

struct telling {
    const struct run_pass *pass;
    struct error_kept first; /* the first failure; the pass returns it */
};

static void report_failure(struct telling *t, const struct retention_event *event)
{
    const bool sent = event->destination != NULL;
    struct error_kept why = error_keep(event->hr);
    char *cabinet =
        sent ? folder_cabinet_path(event->folder) : NULL; /* when out of memory, the event names the folder */
    const struct journal_facts facts = {
        .space = t->pass->space,
        .name = t->pass->name,
        .file = cabinet ? cabinet : event->folder,
        .server = event->destination,
        .action = event->step ? retention_what_text(event->step->what) : NULL,
        .error = event->hr,
        .reason = why.text,
    };
    journal_write(sent ? JOURNAL_CABINET_NOT_SENT : JOURNAL_FOLDER_STEP_FAILED, &facts);
    memory_free(cabinet);
    if (!sent && SUCCEEDED(t->first.hr))
        t->first = why;
    if (t->pass->failed) {
        error_restore(&why);
        (void)t->pass->failed(t->pass->user, event->folder, event->hr);
    }
}

static void report_kept(const struct telling *t, const struct retention_event *event)
{
    char *reason = event->kept->count > 1 ? text_format("'%s' and %llu more", event->kept->first,
                                                        (unsigned long long)event->kept->count - 1)
                                          : text_format("'%s'", event->kept->first);
    journal_write(JOURNAL_FOLDER_KEPT, &(struct journal_facts){.space = t->pass->space,
                                                               .name = t->pass->name,
                                                               .file = event->folder,
                                                               .reason = reason,
                                                               .count = event->kept->count});
    memory_free(reason);
}

static void run_folders_report(void *user, const struct retention_event *event)
{
    struct telling *t = user;
    if (FAILED(event->hr)) {
        report_failure(t, event);
        return;
    }
    struct journal_facts facts = {.space = t->pass->space, .name = t->pass->name, .file = event->folder};
    if (event->step) {
        facts.action = retention_what_text(event->step->what);
        facts.reason = retention_why_text(event->step->why);
        facts.count = event->step->bytes;
    } else {
        facts.reason = error_text(event->hr);
    }
    journal_write(event->step ? JOURNAL_FOLDER_STEP : JOURNAL_LIMIT_NOT_HELD, &facts);
    if (event->kept)
        report_kept(t, event);
}

static HRESULT pass_with(const struct run_pass *p, const struct retention_policy *policy)
{
    struct telling telling = {.pass = p};
    const struct retention_pass pass = {
        .scan = {.space = p->space,
                 .set = p->name,
                 .root = p->root,
                 .names = set_content_names(p->set),
                 .running = p->running,
                 .latest_runs = p->latest_runs},
        .policy = policy,
        .parts = p->parts,
        .only = p->only ? path_names_behind(p->root, p->only) : NULL,
        .room_for_one = p->room_for_one,
        .now = clock_utc(),
        .report = run_folders_report,
        .user = &telling,
    };
    HRESULT hr = retention_pass_run(&pass);
    return SUCCEEDED(hr) && !p->failed && FAILED(telling.first.hr) ? error_restore(&telling.first) : hr;
}

HRESULT run_folders_pass(const struct run_pass *p)
{
    struct retention_policy policy;
    struct file_lock *lock = NULL;
    if (!p->parts || !set_has_run_folders(p->set))
        return S_OK;
    char *path = store_pass_lock_path(p->space, p->name);
    HRESULT hr = path ? file_lock_take(path, PASS_WAIT_MS, &lock) : E_OUTOFMEMORY;
    if (hr == HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
        hr = error_set(hr, "another retention pass of the set '%s' is running", p->name);
    memory_free(path);
    if (FAILED(hr))
        return hr;
    hr = set_retention_policy(p->set, &policy);
    if (SUCCEEDED(hr)) {
        hr = pass_with(p, &policy);
        retention_policy_free(&policy);
    }
    file_lock_release(lock);
    return hr;
}

/* ---- unsupported settings ---- */

HRESULT unsupported_validate(struct object *o, struct object *issues)
{
    static const char shared[] =
        "all runs of the set share one folder, which is never deleted (set Subdirectory for separate folders)";
    const struct data_collector_set *set = (const struct data_collector_set *)o;
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    const bool acts = collection_count(m->FolderActions) > 0;
    object_lock(o);
    const bool on = m->Enabled, stays = on && !set_has_run_folders(set);
    /* MinFreeDisk and MaxFolderCount are not ignored with CheckBeforeRunning: the checks before a start use them. */
    const bool after = stays && !m->CheckBeforeRunning;
    const struct finding all[] = {
        {after && m->MinFreeDisk, PLA_S_PROPERTY_IGNORED, "DataManager/MinFreeDisk", shared},
        {stays && m->MaxSize, PLA_S_PROPERTY_IGNORED, "DataManager/MaxSize", shared},
        {after && m->MaxFolderCount, PLA_S_PROPERTY_IGNORED, "DataManager/MaxFolderCount", shared},
        {stays && acts, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions", shared},
    };
    object_unlock(o);
    struct retention_policy policy = {0};
    bool unsent = false;
    const char *fault = NULL;
    HRESULT hr = on && acts ? set_retention_policy(set, &policy) : S_OK;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < policy.action_count; i++)
        if (policy.actions[i].actions & ACTION_SEND_CABINET && !policy.actions[i].destination) {
            unsent = true;
            fault = send_destination_fault(policy.actions[i].send_to);
        }
    retention_policy_free(&policy);
    const struct finding sends = {unsent, PLA_S_PROPERTY_IGNORED, "DataManager/FolderActions/SendCabTo", fault};
    hr = validation_report_all(&(struct validation){.issues = issues}, &sends, 1);
    return FAILED(hr) ? hr
                      : validation_report_all(&(struct validation){.issues = issues}, all, sizeof all / sizeof all[0]);
}
