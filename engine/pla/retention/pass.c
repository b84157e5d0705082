/* SPDX-License-Identifier: MIT */
/* Runs a retention pass: first the folder actions, then the limits for the remaining folders. */
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/pla/retention.h"
#include "engine/pla/retention/plan.h"

#include <string.h>

static size_t index_of(const struct scanned *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->folders[i].name, name))
            return i;
    return RETENTION_ALL;
}

/* Returns how many folders the set may keep if MaxFolderCount must still allow one new folder. The check before a start
   also counts folders that do not belong to the set (MS-PLA 3.2.4.2). Such folders are never deleted. Returns 0 (no
   limit) if deleting folders cannot make enough room, because the newest folder is never deleted. */
static uint32_t most_before_a_start(const char *root, const struct scanned *s, uint32_t most)
{
    struct texts all = {0};
    size_t taken = 1;
    if (SUCCEEDED(folder_list(root, true, &all)) && all.count > s->count)
        taken += all.count - s->count;
    texts_free(&all);
    return most > taken ? (uint32_t)(most - taken) : 0;
}

static HRESULT make_plan(const struct retention_pass *p, const struct scanned *s, unsigned parts,
                         struct retention_plan *plan)
{
    struct retention_policy policy = *p->policy;
    uint64_t free = UINT64_MAX;
    const size_t only = p->only ? index_of(s, p->only) : RETENTION_ALL;
    if (p->room_for_one && policy.most_folders)
        policy.most_folders = most_before_a_start(p->scan.root, s, policy.most_folders);
    if (p->room_for_one)
        policy.most_size = 0;
    if (policy.least_free && FAILED(folder_free_bytes(p->scan.root, &free)))
        free = UINT64_MAX; /* free space is unknown: delete nothing */
    *plan = (struct retention_plan){0};
    if (p->only && only == RETENTION_ALL)
        return S_OK;
    return retention_plan_make(s->folders, s->count, &policy, parts, only, p->now, free, plan);
}

HRESULT retention_pass_plan(const struct retention_pass *p, struct scanned *scanned, struct retention_plan *plan)
{
    *plan = (struct retention_plan){0};
    HRESULT hr = retention_scan(&p->scan, scanned);
    if (SUCCEEDED(hr)) {
        hr = make_plan(p, scanned, p->parts, plan);
        if (FAILED(hr))
            scanned_free(scanned);
    }
    return hr;
}

/* ---- performing the plan ---- */

struct doing {
    const struct retention_pass *pass;
    const struct scanned *scanned;
    const struct retention_plan *plan;
    HRESULT *results;                   /* results of the steps */
    const struct folder_record **gone;  /* records of folders that were removed */
    const struct folder_record **going; /* records of the folders that this pass will delete */
    size_t gone_count, going_count;
    struct folder_kept kept; /* set by the current step */
    uint64_t unreachable;    /* a destination that failed in this pass; not tried again, because each attempt waits */
};

static HRESULT pass_send_cabinet(struct doing *d, const struct folder_work *w, const struct retention_action *a)
{
    if (d->unreachable == a->destination)
        return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED),
                         "SendCabTo: not tried, because sending another cabinet to '%s' failed", a->send_to);
    bool own;
    HRESULT hr = folder_send(w, a->send_to, &own);
    if (FAILED(hr) && !own)
        d->unreachable = a->destination;
    else if (hr == S_OK) { /* if recording fails, the next pass finds the file at the destination */
        struct error_kept none = error_keep(hr);
        folder_note(d->pass->scan.space, d->pass->scan.set, FOLDER_SENT, &w->record, 1, a->destination);
        error_restore(&none);
    }
    return hr;
}

/* Packs the folder. First clears `sent` in the folder's record. Otherwise, if this pass is interrupted, a later pass
   would treat the new cabinet as sent and delete it. */
static HRESULT pack(struct doing *d, const struct folder_work *w)
{
    HRESULT hr =
        w->record->sent ? folder_note(d->pass->scan.space, d->pass->scan.set, FOLDER_SENT, &w->record, 1, 0) : S_OK;
    return SUCCEEDED(hr) ? folder_pack(w) : hr;
}

static HRESULT remove_folder(struct doing *d, const struct folder_work *w, bool empty)
{
    HRESULT hr = folder_remove(w, empty);
    if (hr == S_OK)
        d->gone[d->gone_count++] = w->record;
    return hr;
}

static HRESULT do_step(struct doing *d, const struct retention_step *step)
{
    const struct folder_work w = {d->pass->scan.root, d->scanned->of[step->folder], &d->pass->scan.names, &d->kept};
    d->kept = (struct folder_kept){0};
    TRACE_STEP(retention, "step %d, reason %d, on folder %zu", (int)step->what, (int)step->why, (size_t)step->folder);
    switch (step->what) {
    case RETENTION_CREATE_CABINET:
        return pack(d, &w);
    case RETENTION_DELETE_DATA:
        return folder_delete_data(&w, step->packed);
    case RETENTION_SEND_CABINET:
        return pass_send_cabinet(d, &w, &d->pass->policy->actions[step->action]);
    case RETENTION_DELETE_CABINET:
        return folder_delete_cabinet(&w);
    case RETENTION_DELETE_REPORT:
        return folder_delete_reports(&w);
    case RETENTION_DELETE_FOLDER:
        break;
    }
    return remove_folder(d, &w, step->why == RETENTION_EMPTY);
}

static HRESULT pass_report(const struct retention_pass *p, const char *name, const struct retention_step *step,
                           const struct folder_kept *kept, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    char *path = path_join(p->scan.root, name);
    if (!path)
        return E_OUTOFMEMORY;
    error_restore(&why);
    p->report(p->user, &(struct retention_event){.folder = path,
                                                 .step = step,
                                                 .destination = step && step->what == RETENTION_SEND_CABINET
                                                                    ? p->policy->actions[step->action].send_to
                                                                    : NULL,
                                                 .kept = kept && kept->count ? kept : NULL,
                                                 .hr = hr});
    memory_free(path);
    return S_OK;
}

/* Returns whether files that no run created matter for the step. Such files do not matter for cabinets and reports. */
static bool meets_others(const struct retention_step *step)
{
    return step->what == RETENTION_DELETE_DATA || step->what == RETENTION_DELETE_FOLDER;
}

static HRESULT do_steps(struct doing *d)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < d->plan->count; i++) {
        const struct retention_step *step = &d->plan->steps[i];
        const bool let = !step->after || d->results[step->after - 1] == S_OK;
        HRESULT done = let ? do_step(d, step) : S_FALSE;
        d->results[i] = done;
        if (done == E_OUTOFMEMORY)
            hr = done;
        else if (done != S_FALSE)
            hr = pass_report(d->pass, d->scanned->folders[step->folder].name, step,
                             done == S_OK && meets_others(step) ? &d->kept : NULL, done);
    }
    return hr;
}

/* Performs the plan. Records the planned deletions of folders first, so that the next pass completes them if this one
   is interrupted. Continues if the record cannot be written, because deleting may be the only way to free a full
   disk. */
static HRESULT do_plan(const struct retention_pass *p, const struct scanned *s, const struct retention_plan *plan)
{
    struct doing d = {.pass = p, .scanned = s, .plan = plan};
    d.results = memory_zero(plan->count + 1, sizeof *d.results);
    d.gone = memory_zero(plan->count + 1, sizeof *d.gone);
    d.going = memory_zero(plan->count + 1, sizeof *d.going);
    HRESULT hr = d.results && d.gone && d.going ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < plan->count; i++) {
        const struct retention_step *step = &plan->steps[i];
        if (step->what == RETENTION_DELETE_FOLDER && step->why != RETENTION_EMPTY && step->why != RETENTION_BEGUN)
            d.going[d.going_count++] = s->of[step->folder];
    }
    if (SUCCEEDED(hr)) {
        (void)folder_note(p->scan.space, p->scan.set, FOLDER_GOING, d.going, d.going_count, 0);
        hr = do_steps(&d);
        (void)folder_note(p->scan.space, p->scan.set, FOLDER_GONE, d.gone, d.gone_count, 0);
    }
    memory_free(d.results);
    memory_free((void *)d.gone);
    memory_free((void *)d.going);
    return hr;
}

/* Reports the folders that could not be read; each folder is reported only once per pass. `reported`: names of folders
   that the first part of the pass has already reported, in the order of the failures. */
static HRESULT pass_report_failures(const struct retention_pass *p, const struct scanned *s, struct texts *reported)
{
    const size_t before = reported->count;
    size_t at = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->failure_count; i++) {
        const struct scan_failure *f = &s->failures[i];
        size_t same = at;
        while (same < before && strcmp(reported->items[same], f->name) != 0)
            same++;
        if (same < before) {
            at = same + 1;
            continue;
        }
        hr = pass_report(p, f->name, NULL, NULL, error_set(f->hr, "%s", f->reason));
        if (SUCCEEDED(hr))
            hr = texts_add(reported, f->name);
    }
    return hr;
}

static bool is_failure(const struct scanned *s, const char *name)
{
    for (size_t i = 0; i < s->failure_count; i++)
        if (!strcmp(s->failures[i].name, name))
            return true;
    return false;
}

/* Reports limits that are still exceeded. */
static void pass_report_limits(const struct retention_pass *p, const struct retention_plan *plan)
{
    for (size_t i = 0; i < sizeof plan->over / sizeof *plan->over; i++)
        if (plan->over[i]) {
            HRESULT hr = error_set(
                S_FALSE, "%s is still exceeded: the remaining data belongs to the newest run or cannot be deleted",
                retention_why_text((enum retention_why)(RETENTION_FOLDERS + i)));
            p->report(p->user, &(struct retention_event){.folder = p->scan.root, .hr = hr});
        }
}

/* Checks that the only folder to process belongs to the set and is not in use. *go_on false: a condition is not met,
   and the reason has been reported. */
static HRESULT check_only(const struct retention_pass *p, const struct scanned *s, bool *go_on)
{
    const size_t i = p->only ? index_of(s, p->only) : RETENTION_ALL;
    *go_on = !p->only || (i != RETENTION_ALL && !s->folders[i].running);
    if (*go_on || is_failure(s, p->only)) /* an unreadable folder was already reported */
        return S_OK;
    HRESULT hr =
        i == RETENTION_ALL
            ? error_set(E_ACCESSDENIED,
                        "the folder '%s' was not created by a run of this set, or has lost its " FOLDER_MARK, p->only)
            : error_set(PLA_E_DCS_IN_USE, "the run that writes to this folder is still active");
    return pass_report(p, p->only, NULL, NULL, hr);
}

/* Removes the records of folders that users have deleted. Does nothing if the newest folder is also missing, because
   the disk may be unavailable. */
static void drop_lost(const struct retention_pass *p, const struct scanned *s)
{
    if (s->lost_count && s->count && s->folders[s->count - 1].latest)
        (void)folder_note(p->scan.space, p->scan.set, FOLDER_GONE, s->lost, s->lost_count, 0);
}

static HRESULT run_part(const struct retention_pass *p, unsigned part, bool first, struct texts *reported)
{
    struct scanned s;
    struct retention_plan plan = {0};
    bool go_on = true;
    HRESULT hr = retention_scan(&p->scan, &s);
    if (FAILED(hr))
        return hr;
    hr = pass_report_failures(p, &s, reported);
    if (SUCCEEDED(hr) && first) {
        drop_lost(p, &s);
        hr = check_only(p, &s, &go_on);
    }
    if (SUCCEEDED(hr) && go_on)
        hr = make_plan(p, &s, part, &plan);
    if (SUCCEEDED(hr) && plan.count)
        hr = do_plan(p, &s, &plan);
    if (SUCCEEDED(hr) && part == RETENTION_LIMITS)
        pass_report_limits(p, &plan);
    retention_plan_free(&plan);
    scanned_free(&s);
    return FAILED(hr) ? hr : go_on ? S_OK : S_FALSE;
}

HRESULT retention_pass_run(const struct retention_pass *p)
{
    struct texts reported = {0};
    HRESULT hr = S_OK;
    if (p->parts & RETENTION_ACTIONS)
        hr = run_part(p, RETENTION_ACTIONS, true, &reported);
    if (hr == S_OK && p->parts & RETENTION_LIMITS)
        hr = run_part(p, RETENTION_LIMITS, !(p->parts & RETENTION_ACTIONS), &reported);
    texts_free(&reported);
    return FAILED(hr) ? hr : S_OK;
}
