/* SPDX-License-Identifier: MIT */
/* The retention plan for run folders. An error here would delete logs that a user wanted to keep, or keep logs until
   the disk is full. */
#include "engine/base/memory.h"
#include "engine/pla/retention/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define DAY     INT64_C(864000000000)
#define MB(n)   ((uint64_t)(n) << 20)
#define NOW     (INT64_C(150000) * DAY)
#define NO_DISK UINT64_MAX

/* Returns a folder with this age in days and so many MB of data. */
static struct retained_folder folder(const char *name, int64_t age, uint64_t megabytes)
{
    return (struct retained_folder){
        .name = name, .started = NOW - age * DAY, .data_files = 1, .data_bytes = MB(megabytes)};
}

/* Returns the names of the folders to delete, in order. */
static char *deleted(const struct retained_folder *folders, size_t count, const struct retention_policy *policy,
                     uint64_t free)
{
    struct retention_plan plan;
    struct text_buffer b = {0};
    assert_int_equal(retention_plan_make(folders, count, policy, RETENTION_LIMITS, RETENTION_ALL, NOW, free, &plan),
                     S_OK);
    for (size_t i = 0; i < plan.count; i++) {
        assert_int_equal(plan.steps[i].what, RETENTION_DELETE_FOLDER);
        text_buffer_add(&b, folders[plan.steps[i].folder].name);
    }
    retention_plan_free(&plan);
    return text_buffer_take(&b);
}

static void assert_deleted(const struct retained_folder *folders, size_t count, struct retention_policy policy,
                           uint64_t free, const char *largest_first, const char *oldest_first)
{
    for (int oldest = 0; oldest < 2; oldest++) {
        policy.oldest_first = oldest;
        char *names = deleted(folders, count, &policy, free);
        assert_string_equal(names ? names : "", oldest ? oldest_first : largest_first);
        memory_free(names);
    }
}

/* A value that equals its limit is allowed. If two folders are equal, the older one is deleted. */
static void limits(void **state)
{
    (void)state;
    /* N is the folder of the run that has just ended, so it is kept. */
    const struct retained_folder three[] = {
        folder("A", 3, 3), folder("B", 2, 9), folder("C", 1, 1), {.name = "N", .started = NOW, .latest = true}};
    assert_deleted(three, 4, (struct retention_policy){.most_size = 7}, NO_DISK, "B", "AB");
    assert_deleted(three, 4, (struct retention_policy){.most_size = 13}, NO_DISK, "", "");
    assert_deleted(three, 4, (struct retention_policy){.most_folders = 3}, NO_DISK, "B", "A");
    assert_deleted(three, 4, (struct retention_policy){.most_folders = 2, .most_size = 2}, NO_DISK, "BA", "AB");
    const struct retained_folder two[] = {
        folder("D", 5, 4), folder("E", 1, 4), {.name = "N", .started = NOW, .latest = true}};
    assert_deleted(two, 3, (struct retention_policy){.most_size = 4}, NO_DISK, "D", "D");
    assert_deleted(two, 3, (struct retention_policy){.least_free = 10}, MB(4), "DE", "DE");
    assert_deleted(two, 3, (struct retention_policy){.least_free = 10}, MB(10), "", "");
    assert_deleted(two, 3, (struct retention_policy){0}, 0, "", "");
}

/* The folders of a running run and of the newest run are never deleted, even if the limits are exceeded. Foreign files
   in a folder do not prevent any step, and their sizes do not count. */
static void running_and_newest_are_never_deleted(void **state)
{
    (void)state;
    struct retained_folder all[] = {folder("R", 9, 100), folder("L", 8, 100), folder("O", 7, 1), folder("N", 6, 100)};
    all[0].running = true;
    all[1].others = 3;
    all[3].latest = true;
    struct retention_plan plan;
    const struct retention_policy policy = {.most_folders = 1, .most_size = 1, .least_free = 1000};
    assert_deleted(all, 4, policy, 0, "LO", "LO");
    assert_int_equal(retention_plan_make(all, 4, &policy, RETENTION_LIMITS, RETENTION_ALL, NOW, 0, &plan), S_OK);
    assert_true(plan.over[0] && plan.over[1] && plan.over[2]);
    assert_int_equal(plan.folders, 2);
    retention_plan_free(&plan);
    /* A plan for a single folder concerns only that folder. */
    assert_int_equal(retention_plan_make(all, 4, &policy, RETENTION_LIMITS, 0, NOW, 0, &plan), S_OK);
    assert_int_equal(plan.count, 0);
    retention_plan_free(&plan);
}

/* ---- actions ---- */

static struct retention_action built_in[] = {
    {.age = 1, .actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA},
    {.age = 56, .actions = ACTION_DELETE_CABINET},
    {.age = 168, .actions = ACTION_DELETE_DATA | ACTION_DELETE_CABINET | ACTION_DELETE_REPORT},
};
static const struct retention_policy built_in_policy = {.actions = built_in, .action_count = 3};

static char *words(const struct retained_folder *f, const struct retention_policy *policy)
{
    struct retention_plan plan;
    struct text_buffer b = {0};
    assert_int_equal(retention_plan_make(f, 1, policy, RETENTION_ACTIONS, RETENTION_ALL, NOW, 0, &plan), S_OK);
    for (size_t i = 0; i < plan.count; i++)
        text_buffer_format(&b, "%s%s%s;", retention_what_text(plan.steps[i].what),
                           plan.steps[i].packed ? " that is in it" : "", plan.steps[i].after ? " then" : "");
    retention_plan_free(&plan);
    char *text = text_buffer_take(&b);
    return text ? text : text_copy("");
}

static void assert_words(struct retained_folder f, const struct retention_policy *policy, const char *expected)
{
    char *text = words(&f, policy);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* The actions of the built-in policy for a folder that becomes older and older. */
static void built_in_policy_over_a_folder_lifetime(void **state)
{
    (void)state;
    struct retained_folder f = folder("F", 0, 1);
    f.report_files = 1;
    assert_words(f, &built_in_policy, "");
    f.started = NOW - DAY + 1;
    assert_words(f, &built_in_policy, "");
    f.started = NOW - DAY;
    assert_words(f, &built_in_policy, "create cabinet;delete data that is in it then;");
    f.data_files = 0;
    f.packed = true;
    assert_words(f, &built_in_policy, ""); /* the next pass keeps the cabinet, which contains the data */
    f.started = NOW - 55 * DAY;
    assert_words(f, &built_in_policy, "");
    f.started = NOW - 56 * DAY;
    assert_words(f, &built_in_policy, "delete cabinet;");
    f.packed = false;
    assert_words(f, &built_in_policy, ""); /* no cabinet is created for the report alone */
    f.started = NOW - 168 * DAY;
    assert_words(f, &built_in_policy, "delete report;delete folder;");
    f.latest = true;
    assert_words(f, &built_in_policy, "");
    f.latest = false;
    f.started = NOW + 400 * DAY; /* the clock was set back */
    f.data_files = 1;
    assert_words(f, &built_in_policy, "");
}

static void sending_precedes_deletion(void **state)
{
    (void)state;
    struct retention_action a = {.actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET, .destination = 7};
    const struct retention_policy policy = {.actions = &a, .action_count = 1};
    struct retained_folder f = {.name = "F", .started = NOW, .packed = true, .report_files = 1};
    assert_words(f, &policy, "send cabinet;delete cabinet then;");
    f.sent = 7;
    assert_words(f, &policy, "delete cabinet;");
    f.sent = 8; /* sent to another destination */
    assert_words(f, &policy, "send cabinet;delete cabinet then;");
    /* An earlier cabinet was sent, but no cabinet with the newer data. */
    struct retention_action all = {.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA | ACTION_SEND_CABINET |
                                              ACTION_DELETE_CABINET,
                                   .destination = 7};
    struct retained_folder late = folder("F", 0, 1);
    late.sent = 7;
    late.report_files = 1;
    assert_words(late, &(struct retention_policy){.actions = &all, .action_count = 1},
                 "create cabinet;delete data that is in it then;send cabinet then;delete cabinet then;");
    a.destination = 0; /* SendCabTo is not a share */
    assert_words(f, &policy, "");
    a = (struct retention_action){.actions = 0x1F, .destination = 7};
    f = folder("F", 0, 1);
    f.report_files = 1;
    assert_words(f, &policy,
                 "create cabinet;delete data that is in it then;send cabinet then;delete cabinet then;delete report;"
                 "delete folder;");
    /* The data of the newest run are deleted only if a cabinet contains them, and its cabinet only if it was sent. */
    f.latest = true;
    assert_words(f, &policy, "create cabinet;delete data that is in it then;send cabinet then;delete cabinet then;");
    a.actions = ACTION_DELETE_DATA | ACTION_DELETE_CABINET | ACTION_DELETE_REPORT;
    assert_words(f, &policy, "");
    f.running = true;
    f.latest = false;
    assert_words(f, &policy, "");
}

/* Separate actions have the same effect as one action with all their bits. If one creates cabinets, only files in a
   cabinet are deleted. If one sends cabinets, only cabinets that were sent are deleted. */
static void separate_actions_wait_for_each_other(void **state)
{
    (void)state;
    struct retention_action one_each[] = {{.actions = ACTION_CREATE_CABINET},
                                          {.actions = ACTION_DELETE_DATA},
                                          {.actions = ACTION_SEND_CABINET, .destination = 7},
                                          {.actions = ACTION_DELETE_CABINET}};
    struct retention_policy policy = {.actions = one_each, .action_count = 4};
    struct retained_folder f = folder("F", 0, 1);
    f.report_files = 1;
    assert_words(f, &policy, "create cabinet;delete data that is in it then;send cabinet then;delete cabinet then;");
    /* The cabinet exists but may lack some of the data, so each file is checked before it is deleted. */
    f.packed = true;
    policy.action_count = 2;
    assert_words(f, &policy, "delete data that is in it;");
    f.packed = false;
    struct retention_action other_order[] = {{.actions = ACTION_DELETE_DATA}, {.actions = ACTION_CREATE_CABINET}};
    policy.actions = other_order;
    assert_words(f, &policy, "create cabinet;"); /* the next pass deletes the data */
    other_order[1].age = 1;                      /* too early for the cabinet */
    assert_words(f, &policy, "delete data;");
    one_each[2].destination = 0; /* SendCabTo is not a share, so the cabinet is the only copy */
    policy = (struct retention_policy){.actions = one_each + 2, .action_count = 2};
    f.packed = true;
    f.data_files = 0;
    assert_words(f, &policy, "");
}

/* A folder must have both the age and the size of an action. */
static void action_needs_age_and_size(void **state)
{
    (void)state;
    struct retention_action a = {.age = 2, .size = 3, .actions = ACTION_DELETE_DATA};
    const struct retention_policy policy = {.actions = &a, .action_count = 1};
    assert_words(folder("F", 2, 3), &policy, "delete data;delete folder;");
    assert_words(folder("F", 1, 3), &policy, "");
    assert_words(folder("F", 2, 2), &policy, "");
    struct retained_folder f = folder("F", 2, 2);
    f.report_files = 1;
    f.report_bytes = MB(1);
    assert_words(f, &policy, "delete data;");
    f.report_bytes--;
    assert_words(f, &policy, "");
}

static void interrupted_deletion_is_completed(void **state)
{
    (void)state;
    struct retained_folder f = folder("F", 0, 1);
    f.going = true;
    assert_words(f, &(struct retention_policy){0}, "delete folder;");
    f.running = true;
    assert_words(f, &(struct retention_policy){0}, "");
}

static void memory_runs_out(void **state)
{
    (void)state;
    const struct retained_folder three[] = {folder("A", 3, 3), folder("B", 2, 9), folder("C", 1, 1)};
    struct retention_policy policy = built_in_policy;
    policy.most_folders = 1;
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        struct retention_plan plan;
        memory_fail_at(n);
        hr = retention_plan_make(three, 3, &policy, RETENTION_ACTIONS | RETENTION_LIMITS, RETENTION_ALL, NOW, 0, &plan);
        memory_fail_at(0);
        assert_true(hr == S_OK || (hr == E_OUTOFMEMORY && !plan.steps && !plan.count));
        retention_plan_free(&plan);
    }
}

/* ---- 200 runs in some weeks, compared with a simple model ---- */

enum { RUNS = 200 };
struct model_folder {
    bool there, data, report, cabinet;
    uint64_t data_bytes, cabinet_bytes; /* sizes; a report always has 1 MB */
    uint64_t sent;
    int64_t started;
};
struct world {
    struct retained_folder real[RUNS];
    struct model_folder model[RUNS];
    bool gone[RUNS];
    size_t runs;
    int64_t now;
    uint64_t disk; /* total space in MB */
};

static uint64_t seed;
static uint64_t chance(uint64_t most)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % most;
}

static uint64_t model_bytes(const struct model_folder *f)
{
    return f->there ? (f->data ? f->data_bytes : 0) + (f->report ? MB(1) : 0) + (f->cabinet ? f->cabinet_bytes : 0) : 0;
}

static uint64_t model_total(const struct world *w, size_t *folders)
{
    uint64_t bytes = 0;
    *folders = 0;
    for (size_t i = 0; i < w->runs; i++) {
        bytes += model_bytes(&w->model[i]);
        *folders += w->model[i].there;
    }
    return bytes;
}

/* Applies an action to a folder exactly as specified, bit by bit. */
static void model_act(struct model_folder *f, const struct retention_action *a, bool newest, bool packs,
                      const struct retention_action *sends)
{
    if (a->actions & ACTION_CREATE_CABINET && f->data && !f->cabinet) {
        f->cabinet = true;
        f->sent = 0;
        f->cabinet_bytes = f->data_bytes + (f->report ? MB(1) : 0);
    }
    if (a->actions & ACTION_DELETE_DATA && (f->cabinet || (!newest && !packs)))
        f->data = false;
    const bool may_send = f->cabinet && a->destination;
    if (a->actions & ACTION_SEND_CABINET && may_send)
        f->sent = a->destination;
    const bool sent = sends && f->sent == sends->destination && sends->destination;
    if (a->actions & ACTION_DELETE_CABINET && (sends ? sent : !newest))
        f->cabinet = false;
    if (a->actions & ACTION_DELETE_REPORT && !newest)
        f->report = false;
}

static void model_pass(struct world *w, const struct retention_policy *policy)
{
    for (size_t i = 0; i < w->runs; i++) {
        struct model_folder *f = &w->model[i];
        const uint64_t bytes = model_bytes(f);
        const int64_t age = w->now > f->started ? (w->now - f->started) / DAY : 0;
        bool any = false, packs = false;
        const struct retention_action *sends = NULL;
        for (int round = 0; round < 2; round++)
            for (size_t n = 0; f->there && n < policy->action_count; n++) {
                const struct retention_action *a = &policy->actions[n];
                if (age < a->age || bytes < MB(a->size))
                    continue;
                any = true;
                if (!round) {
                    packs = packs || a->actions & ACTION_CREATE_CABINET;
                    continue;
                }
                sends = a->actions & ACTION_SEND_CABINET ? a : sends;
                model_act(f, a, i + 1 == w->runs, packs, sends);
            }
        if (any && i + 1 != w->runs && !f->data && !f->report && !f->cabinet)
            f->there = false;
    }
    for (;;) {
        size_t folders, victim = SIZE_MAX;
        const uint64_t bytes = model_total(w, &folders), free = MB(w->disk) > bytes ? MB(w->disk) - bytes : 0;
        if (!(policy->most_folders && folders > policy->most_folders) &&
            !(policy->most_size && bytes > MB(policy->most_size)) &&
            !(policy->least_free && free < MB(policy->least_free)))
            break;
        for (size_t i = 0; i + 1 < w->runs; i++)
            if (w->model[i].there &&
                (victim == SIZE_MAX ||
                 (!policy->oldest_first && model_bytes(&w->model[i]) > model_bytes(&w->model[victim]))))
                victim = i;
        if (victim == SIZE_MAX)
            break;
        w->model[victim].there = false;
    }
}

static void real_step(struct world *w, const size_t *index, const struct retention_step *step,
                      const struct retention_policy *policy)
{
    struct retained_folder *f = &w->real[index[step->folder]];
    switch (step->what) {
    case RETENTION_CREATE_CABINET:
        assert_false(f->packed);
        f->packed = true;
        f->cabinet_bytes = f->data_bytes + f->report_bytes;
        break;
    case RETENTION_DELETE_DATA:
        assert_true(!f->latest || f->packed);
        f->data_files = 0;
        f->data_bytes = 0;
        break;
    case RETENTION_SEND_CABINET:
        assert_true(f->packed);
        f->sent = policy->actions[step->action].destination;
        break;
    case RETENTION_DELETE_CABINET:
        f->packed = false;
        f->cabinet_bytes = 0;
        break;
    case RETENTION_DELETE_REPORT:
        assert_false(f->latest);
        f->report_files = 0;
        f->report_bytes = 0;
        break;
    case RETENTION_DELETE_FOLDER:
        assert_false(f->latest);
        w->gone[index[step->folder]] = true;
        break;
    }
}

static void real_pass(struct world *w, const struct retention_policy *policy, unsigned parts)
{
    struct retained_folder there[RUNS];
    size_t index[RUNS], count = 0;
    struct retention_plan plan;
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->runs; i++) {
        w->real[i].latest = i + 1 == w->runs;
        if (!w->gone[i]) {
            index[count] = i;
            there[count++] = w->real[i];
            bytes += retained_bytes(&w->real[i]);
        }
    }
    assert_int_equal(retention_plan_make(there, count, policy, parts, RETENTION_ALL, w->now,
                                         MB(w->disk) > bytes ? MB(w->disk) - bytes : 0, &plan),
                     S_OK);
    for (size_t i = 0; i < plan.count; i++) {
        assert_true(plan.steps[i].after <= i);
        real_step(w, index, &plan.steps[i], policy);
    }
    retention_plan_free(&plan);
}

static void add_run(struct world *w)
{
    const uint64_t megabytes = 1 + chance(9);
    const bool report = chance(4) != 0;
    w->now += (int64_t)(1 + chance(30)) * (DAY / 24);
    if (chance(40) == 0)
        w->now -= 3 * DAY; /* someone changed the clock */
    w->real[w->runs] = (struct retained_folder){.name = "run",
                                                .started = w->now,
                                                .data_files = 1,
                                                .data_bytes = MB(megabytes),
                                                .report_files = report,
                                                .report_bytes = report ? MB(1) : 0};
    w->model[w->runs++] = (struct model_folder){
        .there = true, .data = true, .report = report, .data_bytes = MB(megabytes), .started = w->now};
}

static void assert_same(const struct world *w)
{
    for (size_t i = 0; i < w->runs; i++) {
        const struct retained_folder *r = &w->real[i];
        const struct model_folder *m = &w->model[i];
        assert_int_equal(w->gone[i], !m->there);
        if (!m->there)
            continue;
        assert_int_equal(r->data_files != 0, m->data);
        assert_int_equal(r->report_files != 0, m->report);
        assert_int_equal(r->packed, m->cabinet);
        assert_int_equal(retained_bytes(r), model_bytes(m));
    }
}

static void simulate(const struct retention_policy *policy, bool at_once)
{
    struct world *w = memory_zero(1, sizeof *w);
    w->now = NOW;
    w->disk = 5000; /* more than all runs write */
    while (w->runs < RUNS) {
        add_run(w);
        if (at_once) {
            real_pass(w, policy, RETENTION_ACTIONS | RETENTION_LIMITS);
        } else {
            real_pass(w, policy, RETENTION_ACTIONS);
            real_pass(w, policy, RETENTION_LIMITS);
        }
        model_pass(w, policy);
        assert_same(w);
    }
    memory_free(w);
}

static void two_hundred_runs_with_every_policy(void **state)
{
    static struct retention_action by_size[] = {{.size = 6, .actions = ACTION_DELETE_DATA},
                                                {.size = 2, .age = 3, .actions = 0x1F, .destination = 5}};
    static struct retention_action sent[] = {{.actions = ACTION_CREATE_CABINET},
                                             {.age = 2, .actions = ACTION_SEND_CABINET, .destination = 5},
                                             {.age = 9, .actions = ACTION_DELETE_DATA | ACTION_DELETE_CABINET}};
    const struct {
        struct retention_action *actions;
        size_t count;
    } lists[] = {{NULL, 0}, {built_in, 3}, {by_size, 2}, {sent, 3}};
    (void)state;
    seed = 20261123;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (unsigned limit = 0; limit < 16; limit++) {
            const struct retention_policy policy = {.actions = lists[list].actions,
                                                    .action_count = lists[list].count,
                                                    .most_folders = limit & 1 ? 14 : 0,
                                                    .most_size = limit & 2 ? 70 : 0,
                                                    .least_free = limit & 4 ? 4920 : 0,
                                                    .oldest_first = limit & 8};
            simulate(&policy, false);
            simulate(&policy, true);
        }
    /* Random lists of random actions. */
    for (int round = 0; round < 40; round++) {
        struct retention_action any[3];
        for (size_t i = 0; i < 3; i++)
            any[i] = (struct retention_action){.age = (uint32_t)chance(12),
                                               .size = (uint32_t)chance(8),
                                               .actions = (uint32_t)chance(32),
                                               .destination = chance(3)};
        simulate(&(struct retention_policy){.actions = any,
                                            .action_count = 3,
                                            .most_folders = (uint32_t)chance(30),
                                            .most_size = (uint32_t)chance(90),
                                            .oldest_first = chance(2)},
                 round % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(running_and_newest_are_never_deleted),
        cmocka_unit_test(built_in_policy_over_a_folder_lifetime),
        cmocka_unit_test(sending_precedes_deletion),
        cmocka_unit_test(separate_actions_wait_for_each_other),
        cmocka_unit_test(action_needs_age_and_size),
        cmocka_unit_test(interrupted_deletion_is_completed),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(two_hundred_runs_with_every_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
