/* SPDX-License-Identifier: MIT */
/* Plans a retention pass, and reads the policy from a set's properties. Planning applies the effect of each step to a
   copy of the folders, so that later steps are planned for the state after the earlier ones. */
#include "engine/pla/retention/plan.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/retention.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/report/report.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_PER_DAY INT64_C(864000000000)
#define MB(n)         ((uint64_t)(n) << 20)

struct planning {
    struct retained_folder *folders; /* a copy of the folders, with the effects of the steps planned so far */
    bool *gone;
    size_t count;
    const struct retention_policy *policy;
    int64_t now;
    struct retention_plan *plan;
};

uint64_t retained_bytes(const struct retained_folder *f)
{
    return f->data_bytes + f->report_bytes + f->cabinet_bytes + f->rest_bytes;
}

uint32_t retained_age(const struct retained_folder *f, int64_t now)
{
    uint64_t days = now > f->started ? ((uint64_t)now - (uint64_t)f->started) / (uint64_t)TICKS_PER_DAY : 0;
    return days > UINT32_MAX ? UINT32_MAX : (uint32_t)days;
}

/* Adds a step. *number: its number, counted from 1; may be NULL. */
static HRESULT plan_add_step(struct planning *p, const struct retention_step *step, size_t *number)
{
    void *steps = p->plan->steps;
    if (!memory_grow(&steps, &p->plan->capacity, p->plan->count + 1, sizeof *p->plan->steps))
        return E_OUTOFMEMORY;
    p->plan->steps = steps;
    p->plan->steps[p->plan->count++] = *step;
    if (number)
        *number = p->plan->count;
    return S_OK;
}

static HRESULT delete_folder(struct planning *p, size_t i, enum retention_why why)
{
    p->gone[i] = true;
    return plan_add_step(
        p,
        &(struct retention_step){
            .folder = i, .what = RETENTION_DELETE_FOLDER, .why = why, .bytes = retained_bytes(&p->folders[i])},
        NULL);
}

/* ---- the actions ---- */

/* The combined effect of the actions that apply to a folder. */
struct folder_plan {
    bool packs;              /* one of the actions requests a cabinet */
    bool sends;              /* one of the actions so far sends the cabinet */
    uint64_t destination;    /* destination of the latest action that sends the cabinet */
    size_t packing, sending; /* steps of this pass that create and send the cabinet, counted from 1; 0: none */
};

static HRESULT plan_pack_folder(struct planning *p, struct retention_step step, size_t *packing)
{
    struct retained_folder *f = &p->folders[step.folder];
    if (f->packed || !f->data_files) /* never pack reports alone: the new cabinet could replace a cabinet with data */
        return S_OK;
    step.what = RETENTION_CREATE_CABINET;
    step.bytes = f->data_bytes + f->report_bytes;
    f->packed = true;
    f->sent = 0; /* a cabinet that was sent earlier does not contain these data */
    f->cabinet_bytes = step.bytes;
    return plan_add_step(p, &step, packing);
}

/* Plans the deletion of data. `packs`: an action for the folder requests a cabinet, so only files in the cabinet may be
   deleted. */
static HRESULT delete_data(struct planning *p, struct retention_step step, bool packs, size_t packing)
{
    struct retained_folder *f = &p->folders[step.folder];
    if (!f->data_files || ((packs || f->latest) && !f->packed))
        return S_OK;
    step.what = RETENTION_DELETE_DATA;
    step.packed = packs || f->latest;
    step.bytes = f->data_bytes;
    step.after = step.packed ? packing : 0;
    f->data_files = 0;
    f->data_bytes = 0;
    return plan_add_step(p, &step, NULL);
}

static HRESULT plan_send_cabinet(struct planning *p, struct retention_step step, struct folder_plan *of)
{
    struct retained_folder *f = &p->folders[step.folder];
    if (!f->packed || !of->destination || f->sent == of->destination)
        return S_OK;
    step.what = RETENTION_SEND_CABINET;
    step.bytes = f->cabinet_bytes;
    step.after = of->packing;
    f->sent = of->destination;
    return plan_add_step(p, &step, &of->sending);
}

/* Plans the deletion of the cabinet. If an action sends the cabinet, the cabinet is deleted only after it has been
   sent. */
static HRESULT delete_cabinet(struct planning *p, struct retention_step step, const struct folder_plan *of)
{
    struct retained_folder *f = &p->folders[step.folder];
    if (!f->packed || (of->sends && (!of->destination || f->sent != of->destination)) || (f->latest && !of->sends))
        return S_OK;
    step.what = RETENTION_DELETE_CABINET;
    step.bytes = f->cabinet_bytes;
    step.after = of->sending;
    f->packed = false;
    f->cabinet_bytes = 0;
    return plan_add_step(p, &step, NULL);
}

static HRESULT delete_report(struct planning *p, struct retention_step step)
{
    struct retained_folder *f = &p->folders[step.folder];
    if (!f->report_files || f->latest)
        return S_OK;
    step.what = RETENTION_DELETE_REPORT;
    step.bytes = f->report_bytes;
    f->report_files = 0;
    f->report_bytes = 0;
    return plan_add_step(p, &step, NULL);
}

static HRESULT plan_apply_action(struct planning *p, size_t i, size_t n, struct folder_plan *of)
{
    const struct retention_action *a = &p->policy->actions[n];
    const struct retention_step step = {.folder = i, .why = RETENTION_BY_ACTION, .action = n};
    HRESULT hr = a->actions & ACTION_CREATE_CABINET ? plan_pack_folder(p, step, &of->packing) : S_OK;
    if (SUCCEEDED(hr) && a->actions & ACTION_DELETE_DATA)
        hr = delete_data(p, step, of->packs, of->packing);
    if (SUCCEEDED(hr) && a->actions & ACTION_SEND_CABINET) {
        of->sends = true;
        of->destination = a->destination;
        of->sending = 0;
        hr = plan_send_cabinet(p, step, of);
    }
    if (SUCCEEDED(hr) && a->actions & ACTION_DELETE_CABINET)
        hr = delete_cabinet(p, step, of);
    if (SUCCEEDED(hr) && a->actions & ACTION_DELETE_REPORT)
        hr = delete_report(p, step);
    return hr;
}

static bool applies(const struct retention_action *a, const struct retained_folder *f, uint64_t bytes, int64_t now)
{
    return a->actions && bytes >= MB(a->size) && retained_age(f, now) >= a->age;
}

static bool is_empty(const struct retained_folder *f)
{
    return !f->data_files && !f->report_files && !f->packed;
}

static HRESULT act_on(struct planning *p, size_t i)
{
    struct retained_folder *f = &p->folders[i];
    const uint64_t bytes = retained_bytes(f); /* size at the start of the pass */
    struct folder_plan of = {0};
    bool any = false;
    HRESULT hr = S_OK;
    for (size_t n = 0; n < p->policy->action_count; n++)
        if (applies(&p->policy->actions[n], f, bytes, p->now) && p->policy->actions[n].actions & ACTION_CREATE_CABINET)
            of.packs = true;
    for (size_t n = 0; SUCCEEDED(hr) && n < p->policy->action_count; n++)
        if (applies(&p->policy->actions[n], f, bytes, p->now)) {
            any = true;
            hr = plan_apply_action(p, i, n, &of);
        }
    if (SUCCEEDED(hr) && any && !f->latest && is_empty(f))
        hr = delete_folder(p, i, RETENTION_EMPTY);
    return hr;
}

/* ---- the limits ---- */

/* Returns the free disk space after the total size of the folders has changed from `before` to `after`. */
static uint64_t free_after(uint64_t free, uint64_t before, uint64_t after)
{
    if (after > before)
        return free > after - before ? free - (after - before) : 0;
    return free > UINT64_MAX - (before - after) ? UINT64_MAX : free + (before - after);
}

struct ranked {
    size_t folder;
    uint64_t bytes;
    bool oldest_first;
};

/* Sorts folders in the order of deletion. Of two folders with equal rank the older one is first: its index is lower,
   because folders are in the order of their runs. */
static int by_policy(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (!x->oldest_first && x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->folder < y->folder ? -1 : x->folder > y->folder;
}

/* Finds the first limit that is exceeded, and updates plan->over; false: none. */
static bool find_over(const struct planning *p, uint64_t free, enum retention_why *why)
{
    const struct retention_policy *y = p->policy;
    const bool over[] = {y->most_folders && p->plan->folders > y->most_folders,
                         y->most_size && p->plan->bytes > MB(y->most_size), y->least_free && free < MB(y->least_free)};
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        p->plan->over[i] = over[i];
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        if (over[i]) {
            *why = (enum retention_why)(RETENTION_FOLDERS + i);
            return true;
        }
    return false;
}

static HRESULT free_room(struct planning *p, size_t only, uint64_t free)
{
    struct ranked *ranked = memory_alloc((p->count + 1) * sizeof *ranked);
    size_t count = 0;
    HRESULT hr = ranked ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; ranked && i < p->count; i++) {
        const struct retained_folder *f = &p->folders[i];
        if (!p->gone[i] && !f->running && !f->latest && (only == RETENTION_ALL || only == i))
            ranked[count++] = (struct ranked){i, retained_bytes(f), p->policy->oldest_first};
    }
    if (count)
        qsort(ranked, count, sizeof *ranked, by_policy);
    enum retention_why why;
    for (size_t i = 0; SUCCEEDED(hr) && find_over(p, free, &why) && i < count; i++) {
        hr = delete_folder(p, ranked[i].folder, why);
        p->plan->folders--;
        p->plan->bytes -= ranked[i].bytes;
        free = free_after(free, ranked[i].bytes, 0);
    }
    memory_free(ranked);
    return hr;
}

/* Counts the folders and bytes that remain after the actions. */
static void count_left(struct planning *p)
{
    p->plan->folders = 0;
    p->plan->bytes = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!p->gone[i]) {
            p->plan->folders++;
            p->plan->bytes += retained_bytes(&p->folders[i]);
        }
}

HRESULT retention_plan_make(const struct retained_folder *folders, size_t count, const struct retention_policy *policy,
                            unsigned parts, size_t only, int64_t now, uint64_t free, struct retention_plan *out)
{
    *out = (struct retention_plan){0};
    struct planning p = {.count = count, .policy = policy, .now = now, .plan = out};
    p.folders = memory_zero(count + 1, sizeof *folders);
    p.gone = memory_zero(count + 1, sizeof *p.gone);
    HRESULT hr = p.folders && p.gone ? S_OK : E_OUTOFMEMORY;
    uint64_t before = 0;
    for (size_t i = 0; p.folders && i < count; i++)
        p.folders[i] = folders[i];
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct retained_folder *f = &folders[i];
        before += retained_bytes(f);
        if (f->running || (only != RETENTION_ALL && only != i))
            continue;
        if (f->going && !f->latest)
            hr = delete_folder(&p, i, RETENTION_BEGUN);
        else if (parts & RETENTION_ACTIONS)
            hr = act_on(&p, i);
    }
    if (SUCCEEDED(hr)) {
        count_left(&p);
        if (parts & RETENTION_LIMITS)
            hr = free_room(&p, only, free_after(free, before, out->bytes));
    }
    memory_free(p.folders);
    memory_free(p.gone);
    if (FAILED(hr))
        retention_plan_free(out);
    return hr;
}

void retention_plan_free(struct retention_plan *plan)
{
    memory_free(plan->steps);
    *plan = (struct retention_plan){0};
}

const char *retention_what_text(enum retention_what what)
{
    static const char *const texts[] = {
        [RETENTION_CREATE_CABINET] = "create cabinet", [RETENTION_DELETE_DATA] = "delete data",
        [RETENTION_SEND_CABINET] = "send cabinet",     [RETENTION_DELETE_CABINET] = "delete cabinet",
        [RETENTION_DELETE_REPORT] = "delete report",   [RETENTION_DELETE_FOLDER] = "delete folder",
    };
    return texts[what];
}

const char *retention_why_text(enum retention_why why)
{
    static const char *const texts[] = {
        [RETENTION_BY_ACTION] = "folder action",
        [RETENTION_BEGUN] = "an earlier pass began to delete it",
        [RETENTION_EMPTY] = "the folder is empty",
        [RETENTION_FOLDERS] = "MaxFolderCount",
        [RETENTION_SIZE] = "MaxSize",
        [RETENTION_FREE] = "MinFreeDisk",
    };
    return texts[why];
}

/* ---- policy of a set ---- */

bool set_has_run_folders(const struct data_collector_set *set)
{
    return set->Subdirectory[0] || set->SubdirectoryFormat;
}

unsigned set_retention_parts(const struct data_collector_set *set)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    if (!m->Enabled || !set_has_run_folders(set))
        return 0;
    return (collection_count(m->FolderActions) ? RETENTION_ACTIONS : 0u) |
           (m->MaxFolderCount || m->MaxSize || m->MinFreeDisk ? RETENTION_LIMITS : 0u);
}

struct content_names set_content_names(const struct data_collector_set *set)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    return (struct content_names){m->RuleTargetFileName[0] ? m->RuleTargetFileName : REPORT_FILE_NAME,
                                  m->ReportFileName[0] ? m->ReportFileName : PAGE_FILE_NAME};
}

static HRESULT take_action(const struct folder_action *a, struct retention_action *out)
{
    *out = (struct retention_action){.size = a->Size, .age = a->Age, .actions = a->Actions};
    out->send_to = os_expand_environment(a->SendCabTo);
    if (!out->send_to)
        return E_OUTOFMEMORY;
    out->destination = send_destination_fault(out->send_to) ? 0 : folder_sent_to(out->send_to);
    return S_OK;
}

HRESULT set_retention_policy(const struct data_collector_set *set, struct retention_policy *out)
{
    const struct data_manager *m = (const struct data_manager *)set->DataManager;
    struct object **list;
    size_t count;
    *out = (struct retention_policy){.most_folders = m->MaxFolderCount,
                                     .most_size = m->MaxSize,
                                     .least_free = m->MinFreeDisk,
                                     .oldest_first = m->ResourcePolicy != 0};
    HRESULT hr = collection_snapshot(m->FolderActions, &list, &count);
    if (FAILED(hr))
        return hr;
    out->actions = memory_zero(count + 1, sizeof *out->actions);
    hr = out->actions ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        hr = take_action((const struct folder_action *)list[i], &out->actions[i]);
        out->action_count = i + 1;
    }
    objects_release(list, count);
    if (FAILED(hr))
        retention_policy_free(out);
    return hr;
}

void retention_policy_free(struct retention_policy *policy)
{
    for (size_t i = 0; policy->actions && i < policy->action_count; i++)
        memory_free(policy->actions[i].send_to);
    memory_free(policy->actions);
    *policy = (struct retention_policy){0};
}
