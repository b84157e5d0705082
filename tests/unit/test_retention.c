/* SPDX-License-Identifier: MIT */
/* Passes over real folders. Who loses here has had folders of his own deleted, or logs that were in no cabinet. */
#include "engine/cabinet/cabinet.h"
#include "engine/os/clock.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/retention/cabinet_send.h"
#include "engine/retention/folder_record.h"
#include "engine/retention/pass.h"
#include "engine/store/store.h"
#include "file_faults.h"
#include "scratch_folder.h"
#include "scratch_link.h"

#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#ifndef _WIN32
/* A thousand passes are not to wait for the disk. */
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

int __wrap_fdatasync(int fd)
{
    (void)fd;
    return 0;
}
#endif

#define SPACE "Service"
#define SET   "kept"
#define DAY   INT64_C(864000000000)

static char *root;
static int64_t days; /* how far the clock of passes is ahead */

static void put(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name), *in = path_folder(path);
    assert_int_equal(folder_create(in), S_OK);
    struct file *f;
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK); /* what is flushed takes long, a thousand times */
    assert_int_equal(file_write(f, text, strlen(text)), S_OK);
    file_close(f);
    memory_free(in);
    memory_free(path);
}

static bool is_there(const char *folder, const char *name)
{
    char *path = path_join(root, folder), *whole = path_join(path, name);
    bool there = file_find(whole) == S_OK;
    memory_free(path);
    memory_free(whole);
    return there;
}

/* A run's folder, with a log and a report. */
static void make_run(const char *name, uint32_t serial)
{
    char *folder = path_join(root, name);
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(folder_take(SPACE, SET, root, name, true, serial), S_OK);
    put(folder, "log.csv", name);
    put(folder, "report.xml", "<Report/>");
    memory_free(folder);
}

static void make_runs(unsigned count)
{
    for (unsigned i = 1; i <= count; i++) {
        char name[16];
        snprintf(name, sizeof name, "run%u", i);
        make_run(name, i);
    }
}

struct told {
    struct text_buffer steps;
    HRESULT failure; /* the latest */
    char text[512];
};

static void tell(void *user, const struct retention_told *told)
{
    struct told *t = user;
    if (FAILED(told->hr)) {
        t->failure = told->hr;
        text_fit(t->text, sizeof t->text, error_text(told->hr));
    } else if (told->step) {
        text_buffer_format(&t->steps, "%s %s;", path_name(told->folder), retention_what_text(told->step->what));
    }
}

static struct retention_pass pass_of(const struct retention_policy *policy, struct told *told)
{
    *told = (struct told){0};
    return (struct retention_pass){.scan = {SPACE, SET, root, {"report.xml", "report.html"}, NULL, false},
                                   .policy = policy,
                                   .parts = RETENTION_ACTIONS | RETENTION_LIMITS,
                                   .now = clock_utc() + days * DAY,
                                   .tell = tell,
                                   .user = told};
}

static HRESULT pass(const struct retention_policy *policy, struct told *told)
{
    const struct retention_pass p = pass_of(policy, told);
    return retention_pass_run(&p);
}

/* What a pass does, in words. */
static void assert_pass(const struct retention_policy *policy, const char *expected)
{
    struct told told;
    assert_int_equal(pass(policy, &told), S_OK);
    assert_string_equal(told.steps.text ? told.steps.text : "", expected);
    assert_int_equal(told.failure, S_OK);
    text_buffer_free(&told.steps);
}

static void assert_pass_fails(const struct retention_policy *policy, HRESULT hr, const char *words)
{
    struct told told;
    assert_int_equal(pass(policy, &told), S_OK);
    assert_int_equal(told.failure, hr);
    assert_non_null(strstr(told.text, words));
    text_buffer_free(&told.steps);
}

static const struct retention_policy one_folder = {.most_folders = 1};
static struct retention_action delete_data[] = {{.actions = ACTION_DELETE_DATA}};
static struct retention_action pack_and_delete[] = {{.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA}};
static const struct retention_policy deletes = {.actions = delete_data, .action_count = 1};
static const struct retention_policy packs = {.actions = pack_and_delete, .action_count = 1};

static int begin(void **state)
{
    *state = scratch_create("test_retention");
    scratch_environment("OPENPLA_DATA", *state);
    root = path_join(*state, "logs");
    assert_int_equal(folder_create(root), S_OK);
    assert_int_equal(store_save(&caller_self, SPACE, SET, STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL), S_OK);
    days = 0;
    return 0;
}

static int end(void **state)
{
    memory_free(root);
    return scratch_end(state);
}

/* ---- whose folders are ---- */

/* KB 2916994: logs were saved into a folder with other things in it, and all of them were deleted. */
static void what_is_not_the_sets_stays(void **state)
{
    (void)state;
    put(root, "photos/1999/a.jpg", "a");
    put(root, "letter.txt", "b");
    put(root, "empty/x", "c");
    make_runs(4);
    /* One that somebody has renamed, one that he has copied with all that is in it, one without its mark. */
    char *from = path_join(root, "run2"), *to = path_join(root, "kept by me"),
         *mark = path_join(root, "run3/openpla.run");
    char *copied = path_join(root, "run1/openpla.run"), *text = scratch_read(copied);
    put(root, "photos/openpla.run", text);
    put(root, "run1 (copy)/openpla.run", text);
    put(root, "run1 (copy)/log.csv", "run1");
    assert_int_equal(file_rename(from, to), S_OK);
    assert_int_equal(file_delete(mark), S_OK);
    assert_pass(&one_folder, "run1 delete folder;");
    days = 400;
    assert_pass(&deletes, "");
    assert_true(is_there("photos", "1999/a.jpg") && is_there("", "letter.txt") && is_there("empty", "x"));
    assert_true(is_there("kept by me", "log.csv") && is_there("run3", "log.csv") && is_there("run1 (copy)", "log.csv"));
    assert_true(is_there("run4", "log.csv"));
    assert_false(is_there("run1", ""));
    memory_free(text);
    memory_free(copied);
    memory_free(mark);
    memory_free(to);
    memory_free(from);
}

/* A folder that was there before the run, under the name that the run has for its own. */
static void a_folder_that_was_there_before(void **state)
{
    (void)state;
    put(root, "run1/mine.txt", "a");
    assert_int_equal(folder_take(SPACE, SET, root, "run1", false, 1), S_FALSE);
    make_run("run2", 2);
    make_run("run3", 3);
    assert_pass(&one_folder, "run2 delete folder;");
    assert_true(is_there("run1", "mine.txt"));
    assert_false(is_there("run1", FOLDER_MARK));
    /* One that runs share stays the set's, and is that of the newest. */
    assert_int_equal(folder_take(SPACE, SET, root, "run3", false, 4), S_OK);
    assert_pass(&one_folder, "");
}

/* The set is deleted and made again: what the first one's runs made is not the second's. */
static void another_set_of_that_name(void **state)
{
    (void)state;
    make_runs(2);
    assert_int_equal(store_delete(&caller_self, SPACE, SET), S_OK);
    assert_int_equal(store_save(&caller_self, SPACE, SET, STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL), S_OK);
    make_run("run3", 1);
    assert_pass(&one_folder, "");
    assert_true(is_there("run1", "log.csv"));
}

/* A link is not followed, where it takes the place of a folder or lies in one. */
static void links_lead_nowhere(void **state)
{
    (void)state;
    put(root, "outside/precious.txt", "a");
    make_runs(4);
    char *run1 = path_join(root, "run1"), *mark1 = path_join(root, "run1/openpla.run"), *text = scratch_read(mark1),
         *run2 = path_join(root, "run2"), *moved = path_join(root, "moved");
    put(root, "outside/openpla.run", text); /* with the right mark even */
    scratch_remove(run1);
    scratch_link(root, "run1", "outside", false);
    scratch_link(run2, "in", "../outside", false);
    struct told told;
    assert_int_equal(pass(&one_folder, &told), S_OK);
    assert_string_equal(told.steps.text, "run3 delete folder;");
    assert_int_equal(told.failure, HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME));
    text_buffer_free(&told.steps);
    assert_true(is_there("outside", "precious.txt"));
    assert_true(is_there("run2", "log.csv"));
    scratch_unlink(run2, "in");
    scratch_unlink(root, "run1");
    /* A link to a file: the file stays, and the folder with it. */
    scratch_link(run2, "file.txt", "../outside/precious.txt", false);
    assert_int_equal(pass(&one_folder, &told), S_OK);
    text_buffer_free(&told.steps);
    assert_true(is_there("outside", "precious.txt"));
    if (is_there("run2", "file.txt"))
        scratch_unlink(run2, "file.txt");
    memory_free(moved);
    memory_free(run2);
    memory_free(text);
    memory_free(mark1);
    memory_free(run1);
}

/* ---- steps ---- */

static void data_go_and_what_is_told_of_them_stays(void **state)
{
    (void)state;
    make_runs(2);
    put(root, "run1/report.html", "r");
    put(root, "run1/rules.log", "r");
    put(root, "run1/files/copied.txt", "r");
    put(root, "run1/run1.cab", "c");
    put(root, "run1/of others.cab", "c");
    assert_pass(&deletes, "run1 delete data;");
    assert_true(is_there("run1", "report.xml") && is_there("run1", "report.html") && is_there("run1", "run1.cab"));
    assert_true(is_there("run1", "of others.cab") && is_there("run1", FOLDER_MARK));
    assert_false(is_there("run1", "log.csv") || is_there("run1", "rules.log") || is_there("run1", "files"));
    assert_true(is_there("run2", "log.csv"));
    assert_pass(&deletes, ""); /* again on a folder that is done */
    struct retention_action rest[] = {{.actions = ACTION_DELETE_CABINET | ACTION_DELETE_REPORT}};
    const struct retention_policy policy = {.actions = rest, .action_count = 1};
    assert_pass(&policy, "run1 delete cabinet;run1 delete report;");
    assert_true(is_there("run1", "of others.cab"));
    char *other = path_join(root, "run1/of others.cab");
    assert_int_equal(file_delete(other), S_OK);
    memory_free(other);
    assert_pass(&policy, "run1 delete folder;");
    assert_false(is_there("run1", ""));
}

static void a_file_in_use(void **state)
{
    (void)state;
    make_runs(2);
    put(root, "run1/other.csv", "a");
    char *path = path_join(root, "run1/log.csv");
    struct file *writing;
    assert_int_equal(file_open(path, FILE_APPEND, &writing), S_OK);
    assert_pass_fails(&one_folder, HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "log.csv");
    assert_true(is_there("run1", "log.csv") && is_there("run1", FOLDER_MARK));
    file_close(writing);
    /* What has begun is finished, whatever the limits say by now. */
    assert_pass(&(struct retention_policy){0}, "run1 delete folder;");
    assert_false(is_there("run1", ""));
    memory_free(path);
}

/* Clean-up scripts of others work here too. */
static void folders_vanish(void **state)
{
    (void)state;
    make_runs(3);
    char *run1 = path_join(root, "run1");
    scratch_remove(run1);
    memory_free(run1);
    struct texts lines;
    assert_pass(&(struct retention_policy){.most_folders = 2}, "");
    assert_int_equal(store_load_folders(SPACE, SET, &lines), S_OK);
    assert_int_equal(lines.count, 2);
    texts_free(&lines);
    /* The disk is not there at all: nobody's records are lost. */
    char *away = text_format("%s away", root);
    assert_int_equal(file_rename(root, away), S_OK);
    assert_pass(&one_folder, "");
    assert_int_equal(file_rename(away, root), S_OK);
    assert_pass(&one_folder, "run2 delete folder;");
    memory_free(away);
}

static void one_folder_alone(void **state)
{
    (void)state;
    make_runs(3);
    struct told told;
    struct retention_pass p = pass_of(&deletes, &told);
    p.only = "run1";
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_string_equal(told.steps.text, "run1 delete data;");
    text_buffer_free(&told.steps);
    put(root, "mine/x", "a");
    p.only = "mine";
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_int_equal(told.failure, E_ACCESSDENIED);
    assert_true(is_there("mine", "x"));
    char *running = path_join(root, "run2");
    p.only = "run2";
    p.scan.running = running;
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_int_equal(told.failure, PLA_E_DCS_IN_USE);
    assert_true(is_there("run2", "log.csv"));
    memory_free(running);
}

/* ---- cabinets ---- */

static void data_that_are_in_a_cabinet_go(void **state)
{
    /* The report first, to have it at hand; no cabinet, and not the mark, which is this folder's alone. */
    static const char *const packed[] = {"report.xml", "files/copied.txt", "log.csv"};
    struct cabinet *c;
    (void)state;
    make_runs(2);
    put(root, "run1/files/copied.txt", "r");
    put(root, "run1/another.cab", "r");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;run2 create cabinet;run2 delete data;");
    char *cabinet = path_join(root, "run1/run1.cab"), *late = path_join(root, "run1/late.csv");
    assert_int_equal(cabinet_open(cabinet, NULL, &c), S_OK);
    assert_int_equal(cabinet_count(c), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(cabinet_entry_at(c, i)->name, packed[i]);
    cabinet_close(c);
    assert_true(is_there("run1", "run1.cab") && is_there("run1", "report.xml"));
    assert_false(is_there("run1", "log.csv") || is_there("run1", "files") || is_there("run1", "~run1.cab.tmp"));
    assert_pass(&packs, ""); /* nor is a cabinet of the report alone put in its place */
    /* What has come since is in no cabinet. */
    put(root, "run1/late.csv", "late");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "late.csv");
    assert_true(is_there("run1", "late.csv"));
    /* The same file again is in it. */
    assert_int_equal(file_delete(late), S_OK);
    put(root, "run1/log.csv", "run1");
    assert_pass(&packs, "run1 delete data;");
    put(root, "run1/log.csv", "ran1");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "log.csv");
    assert_true(is_there("run1", "log.csv"));
    memory_free(late);
    memory_free(cabinet);
}

/* Whether the data are in the folder, or in its whole cabinet. */
static void assert_nothing_lost(const char *folder)
{
    char *path = path_join(root, folder), *out = path_join(root, "out"), *log = path_join(path, "log.csv");
    char *name = text_format("%s.cab", folder), *cabinet = path_join(path, name);
    if (!file_exists(log)) {
        assert_int_equal(cabinet_extract(cabinet, NULL, out, NULL), S_OK);
        memory_free(log);
        log = path_join(out, "log.csv");
    }
    char *text = scratch_read(log);
    assert_string_equal(text, folder);
    memory_free(text);
    scratch_remove(out);
    memory_free(cabinet);
    memory_free(name);
    memory_free(log);
    memory_free(out);
    memory_free(path);
}

/* Ever fewer: each one has killed_at_any_operation. */
static uint64_t next_step(int kind, uint64_t n)
{
#ifdef _WIN32
    (void)kind;
    return 1 + n / 2;
#else
    return 1 + n / (kind == 0 ? 8 : 3);
#endif
}

/* Nothing more can be done from one operation on files on, each in turn, as if the pass were killed there; then one
   fails alone, the disk is full, memory runs out. */
static void whatever_fails(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct file_faults faults = {.kind = kind == 2   ? FAULT_FULL
                                             : kind == 1 ? FAULT_LASTING
                                                         : FAULT_ONCE,
                                     .hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE)};
        bool met = true;
        for (uint64_t n = 1; met; n += next_step(kind, n)) {
            struct told told;
            make_runs(2);
            faults.at = kind < 3 ? n : 0;
            file_faults_begin(&faults);
            memory_fail_at(kind == 3 ? n : 0);
            HRESULT hr = pass(&packs, &told);
            met = kind < 3 ? faults.met : hr == E_OUTOFMEMORY || memory_count() >= n;
            memory_fail_at(0);
            file_faults_end();
            text_buffer_free(&told.steps);
            assert_nothing_lost("run1");
            assert_nothing_lost("run2");
            /* The next pass brings it to its end. */
            assert_int_equal(pass(&packs, &told), S_OK);
            text_buffer_free(&told.steps);
            assert_nothing_lost("run1");
            assert_true(is_there("run1", "run1.cab") && !is_there("run1", "log.csv"));
            assert_false(is_there("run1", "~run1.cab.tmp"));
            assert_int_equal(pass(&one_folder, &told), S_OK);
            text_buffer_free(&told.steps);
            assert_false(is_there("run1", ""));
            scratch_remove(root);
            assert_int_equal(folder_create(root), S_OK);
        }
    }
}

#ifndef _WIN32
/* The process is killed at that operation. False: it has come to its end before. */
static bool pass_is_killed(uint64_t n)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct told told;
        struct file_faults faults = {.kind = FAULT_END, .at = n};
        file_faults_begin(&faults);
        pass(&packs, &told);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void killed_at_any_operation(void **state)
{
    (void)state;
    bool killed = true;
    for (uint64_t n = 1; killed; n++) {
        struct told told;
        make_runs(2);
        killed = pass_is_killed(n);
        assert_nothing_lost("run1");
        assert_nothing_lost("run2");
        assert_int_equal(pass(&packs, &told), S_OK);
        assert_int_equal(told.failure, S_OK);
        text_buffer_free(&told.steps);
        assert_nothing_lost("run1");
        assert_true(is_there("run1", "run1.cab") && !is_there("run1", "log.csv"));
        assert_false(is_there("run1", "~run1.cab.tmp"));
        scratch_remove(root);
        assert_int_equal(folder_create(root), S_OK);
    }
}

/* Natively a path that begins with two separators is a folder of this host. */
static void cabinets_are_sent(void **state)
{
    (void)state;
    char here[1024], *computer = host_computer_name(), *other = text_format("%s_run1.cab", computer);
    assert_non_null(getcwd(here, sizeof here));
    char *share = text_format("/%s/%s/share", here, root), *there = path_join(share, "run1.cab"),
         *second = path_join(share, other);
    struct retention_action sends[] = {{.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA},
                                       {.actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET,
                                        .send_to = share,
                                        .destination = folder_sent_to(share)}};
    const struct retention_policy policy = {.actions = sends, .action_count = 2};
    make_runs(1);
    /* It is not there: the cabinet stays, and goes with the next pass. */
    assert_pass_fails(&policy, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "share");
    assert_true(is_there("run1", "run1.cab"));
    put(share, "run1.cab", "of another computer");
    sends[1].actions = ACTION_SEND_CABINET;
    assert_pass(&policy, "run1 send cabinet;");
    assert_pass(&policy, ""); /* once */
    char *text = scratch_read(there);
    assert_string_equal(text, "of another computer");
    memory_free(text);
    assert_true(file_exists(second));
    /* What was cut off, and is not known to be there, is sent again under its name. */
    assert_int_equal(file_delete(there), S_OK);
    put(share, "~run1.cab.tmp", "half");
    sends[1].actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET;
    make_run("run2", 2);
    assert_pass(&policy,
                "run1 delete cabinet;run2 create cabinet;run2 delete data;run2 send cabinet;run2 delete cabinet;");
    assert_false(is_there("run1", "run1.cab") || is_there("run2", "run2.cab"));
    assert_true(is_there("run1", "report.xml"));
    memory_free(second);
    memory_free(there);
    memory_free(share);
    memory_free(other);
    memory_free(computer);
}
#endif

static void where_cabinets_may_go(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "C:\\logs",     "logs",        "\\\\?\\C:\\logs", "\\\\.\\pipe\\x",
        "\\\\server", "\\\\server\\", "https://x/y", "\\\\\\share",     "\\logs"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(send_destination_fault(wrong[i]));
    assert_null(send_destination_fault("\\\\server\\share"));
    assert_null(send_destination_fault("\\\\server\\share\\logs\\of mine"));
}

/* What was not written by us is no record, and hides no other one. */
static void records_of_anything(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "1",
        "1 2 00112233445566778899aabbccddeeff 0 0",
        "1 2 00112233445566778899aabbccddeeff 0 0 ",
        "1 2 00112233445566778899aabbccddeeff 0 0 ..",
        "1 2 00112233445566778899aabbccddeeff 0 0 a/../../b",
        "1 2 00112233445566778899aabbccddeef 0 0 a",
        "99999999999 2 00112233445566778899aabbccddeeff 0 0 a",
        "1 x 00112233445566778899aabbccddeeff 0 0 a",
    };
    struct texts all = {0};
    struct folder_records records;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(texts_add(&all, lines[i]), S_OK);
    assert_int_equal(texts_add(&all, "7 2 00112233445566778899aabbccddeeff 5 1 a b"), S_OK);
    assert_int_equal(folder_records_read(&all, &records), S_OK);
    assert_int_equal(records.count, 1);
    assert_string_equal(records.items[0].name, "a b");
    assert_true(records.items[0].going && records.items[0].sent == 5 && records.items[0].serial == 7);
    folder_records_free(&records);
    texts_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_the_sets_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_that_was_there_before, begin, end),
        cmocka_unit_test_setup_teardown(another_set_of_that_name, begin, end),
        cmocka_unit_test_setup_teardown(links_lead_nowhere, begin, end),
        cmocka_unit_test_setup_teardown(data_go_and_what_is_told_of_them_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_file_in_use, begin, end),
        cmocka_unit_test_setup_teardown(folders_vanish, begin, end),
        cmocka_unit_test_setup_teardown(one_folder_alone, begin, end),
        cmocka_unit_test_setup_teardown(data_that_are_in_a_cabinet_go, begin, end),
        cmocka_unit_test_setup_teardown(whatever_fails, begin, end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(killed_at_any_operation, begin, end),
        cmocka_unit_test_setup_teardown(cabinets_are_sent, begin, end),
#endif
        cmocka_unit_test(where_cabinets_may_go),
        cmocka_unit_test(records_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
