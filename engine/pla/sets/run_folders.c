/* SPDX-License-Identifier: MIT */
/* Passes over the folders of runs, as events. */
#include "engine/pla/sets/run_folders.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/retention.h"
#include "engine/pla/run/run_journal.h"

#define PASS_WAIT_MS 5000 /* for another pass of the set, which a client has asked for */

static bool is_looked_after(const struct data_collector_set *set)
{
    return set_has_run_folders(set) && ((const struct data_manager *)set->DataManager)->Enabled;
}

void run_folder_take(struct run_set *r, const struct segment *s, bool made)
{
    const char *name = path_names_behind(s->root, s->location);
    if (!name || !*name)
        return;
    HRESULT hr =
        is_looked_after(r->set) ? folder_take(r->space, r->name, s->root, name, made, s->serial_number) : S_FALSE;
    if (hr == S_FALSE && !made)
        hr = folder_leave(s->root, name);
    if (FAILED(hr))
        diagnostics_note(&r->diagnostics, hr, error_text(hr));
}

void run_folder_give_back(const struct run_set *r, const struct segment *s)
{
    const char *name = path_names_behind(s->root, s->location);
    if (name && *name && is_looked_after(r->set))
        folder_give_back(r->space, r->name, s->root, name);
}

/* ---- the pass ---- */

struct telling {
    const struct run_pass *pass;
    struct error_kept first; /* failure that counts */
};

static void tell_failure(struct telling *t, const struct retention_told *told)
{
    const bool sent = told->destination != NULL;
    struct error_kept why = error_keep(told->hr);
    char *cabinet = sent ? folder_cabinet_path(told->folder) : NULL; /* without memory the event names the folder */
    const struct journal_facts facts = {
        .space = t->pass->space,
        .name = t->pass->name,
        .file = cabinet ? cabinet : told->folder,
        .server = told->destination,
        .action = told->step ? retention_what_text(told->step->what) : NULL,
        .error = told->hr,
        .reason = why.text,
    };
    journal_write(sent ? JOURNAL_CABINET_NOT_SENT : JOURNAL_FOLDER_STEP_FAILED, &facts);
    memory_free(cabinet);
    if (!sent && SUCCEEDED(t->first.hr))
        t->first = why;
    if (t->pass->failed) {
        error_restore(&why);
        (void)t->pass->failed(t->pass->user, told->folder, told->hr);
    }
}

static void tell_kept(const struct telling *t, const struct retention_told *told)
{
    char *reason = told->kept->count > 1 ? text_format("\"%s\" and %llu more", told->kept->first,
                                                       (unsigned long long)told->kept->count - 1)
                                         : text_format("\"%s\"", told->kept->first);
    journal_write(JOURNAL_FOLDER_KEPT, &(struct journal_facts){.space = t->pass->space,
                                                               .name = t->pass->name,
                                                               .file = told->folder,
                                                               .reason = reason,
                                                               .count = told->kept->count});
    memory_free(reason);
}

static void run_folders_report(void *user, const struct retention_told *told)
{
    struct telling *t = user;
    if (FAILED(told->hr)) {
        tell_failure(t, told);
        return;
    }
    struct journal_facts facts = {.space = t->pass->space, .name = t->pass->name, .file = told->folder};
    if (told->step) {
        facts.action = retention_what_text(told->step->what);
        facts.reason = retention_why_text(told->step->why);
        facts.count = told->step->bytes;
    } else {
        facts.reason = error_text(told->hr);
    }
    journal_write(told->step ? JOURNAL_FOLDER_STEP : JOURNAL_LIMIT_NOT_HELD, &facts);
    if (told->kept)
        tell_kept(t, told);
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
        .tell = run_folders_report,
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
        hr = error_set(hr, "another pass over the folders of the set \"%s\" is at work", p->name);
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
