/* SPDX-License-Identifier: MIT */
/* Creates the run folders of a set without running it. Each test has a store, a RootPath, and retention passes whose
   clock may be ahead. */
#ifndef OPENPLA_RETENTION_FIXTURE_H
#define OPENPLA_RETENTION_FIXTURE_H

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/retention.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/store.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define SPACE "Service"
#define SET   "kept"
#define DAY   INT64_C(864000000000)

static char *root;
static int64_t days; /* how far the clock of the passes is ahead */

static inline void put(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name), *in = path_folder(path);
    assert_int_equal(folder_create(in), S_OK);
    struct file *f;
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK); /* not flushed: flushing a thousand files takes long */
    assert_int_equal(file_write(f, text, strlen(text)), S_OK);
    file_close(f);
    memory_free(in);
    memory_free(path);
}

/* Writes a file and adds it to the list of the run's files, as a run does. */
static inline void write_of_run(const char *name, const char *text)
{
    char *path = path_join(root, name), *run = text_copy_n(path, strlen(root) + 1 + strcspn(name, "/\\"));
    assert_true(SUCCEEDED(run_files_add(root, run, path, false)));
    memory_free(run);
    memory_free(path);
    put(root, name, text);
}

static inline bool entry_exists(const char *folder, const char *name)
{
    char *path = path_join(root, folder), *whole = path_join(path, name);
    bool there = file_find(whole) == S_OK;
    memory_free(path);
    memory_free(whole);
    return there;
}

/* Creates a run's folder, with a log and a report. */
static inline void make_run(const char *name, uint32_t serial)
{
    char *folder = path_join(root, name);
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(folder_take(SPACE, SET, root, name, true, serial), S_OK);
    memory_free(folder);
    char *log = path_join(name, "log.csv"), *report = path_join(name, "report.xml");
    write_of_run(log, name);
    write_of_run(report, "<Report/>");
    memory_free(report);
    memory_free(log);
}

static inline void make_runs(unsigned count)
{
    for (unsigned i = 1; i <= count; i++) {
        char name[16];
        snprintf(name, sizeof name, "run%u", i);
        make_run(name, i);
    }
}

struct reported {
    struct text_buffer steps;
    size_t failures;
    HRESULT failure; /* the latest failure */
    char text[512];
    size_t kept; /* files that no run created, in all folders */
    char first_kept[64];
};

static inline void write_event(void *user, const struct retention_event *reported)
{
    struct reported *t = user;
    if (FAILED(reported->hr)) {
        t->failures++;
        t->failure = reported->hr;
        text_fit(t->text, sizeof t->text, error_text(reported->hr));
    } else if (reported->step) {
        text_buffer_format(&t->steps, "%s %s;", path_name(reported->folder), retention_what_text(reported->step->what));
        if (reported->kept && !t->kept)
            text_fit(t->first_kept, sizeof t->first_kept, reported->kept->first);
        t->kept += reported->kept ? reported->kept->count : 0;
    }
}

static inline struct retention_pass pass_of(const struct retention_policy *policy, struct reported *reported)
{
    *reported = (struct reported){0};
    return (struct retention_pass){.scan = {SPACE, SET, root, {"report.xml", "report.html"}, NULL, false},
                                   .policy = policy,
                                   .parts = RETENTION_ACTIONS | RETENTION_LIMITS,
                                   .now = clock_utc() + days * DAY,
                                   .report = write_event,
                                   .user = reported};
}

static inline HRESULT pass(const struct retention_policy *policy, struct reported *reported)
{
    const struct retention_pass p = pass_of(policy, reported);
    return retention_pass_run(&p);
}

/* Runs a retention pass, whose steps must be these. */
static inline void assert_pass(const struct retention_policy *policy, const char *expected)
{
    struct reported reported;
    assert_int_equal(pass(policy, &reported), S_OK);
    assert_string_equal(reported.steps.text ? reported.steps.text : "", expected);
    assert_int_equal(reported.failure, S_OK);
    text_buffer_free(&reported.steps);
}

static inline void assert_pass_fails(const struct retention_policy *policy, HRESULT hr, const char *words)
{
    struct reported reported;
    assert_int_equal(pass(policy, &reported), S_OK);
    assert_int_equal(reported.failure, hr);
    assert_non_null(strstr(reported.text, words));
    text_buffer_free(&reported.steps);
}

static const struct retention_policy one_folder = {.most_folders = 1};
static struct retention_action pack_and_delete[] = {{.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA}};
static const struct retention_policy packs = {.actions = pack_and_delete, .action_count = 1};

static inline int begin(void **state)
{
    /* The folder's name must not depend only on the process id: two programs in different Wine prefixes may have the
       same one. */
    *state = scratch_create(path_name(__BASE_FILE__));
    scratch_environment("OPENPLA_DATA", *state);
    root = path_join(*state, "logs");
    assert_int_equal(folder_create(root), S_OK);
    assert_int_equal(store_save(&caller_self, SPACE, SET, STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL), S_OK);
    days = 0;
    return 0;
}

static inline int end(void **state)
{
    memory_free(root);
    return scratch_end(state);
}

#endif
