/* SPDX-License-Identifier: MIT */
/* Retention passes that are killed or fail, and passes that send cabinets to a folder that other computers also use. An
   error here would delete logs that are not in any cabinet. */
#include "engine/base/os.h"
#include "engine/pla/cabinet.h"
#include "retention_fixture.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/rename_ways.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#ifndef _WIN32
/* The tests run a thousand passes, which must not wait for the disk. */
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

/* Asserts that the data are in the folder, or in its complete cabinet. */
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

/* Returns the next operation to fail. In native runs, each operation fails in turn. Under Wine, tests take much longer,
   so more and more operations are skipped between two tested ones. */
static uint64_t next_of(uint64_t n)
{
#ifdef _WIN32
    return n + 1 + n / 3;
#else
    return n + 1;
#endif
}

static void recreate_root(void)
{
    scratch_remove(root);
    assert_int_equal(folder_create(root), S_OK);
}

/* Asserts that the next pass completes the work of an interrupted or failed pass. */
static void assert_next_pass_completes(void)
{
    struct reported reported;
    assert_nothing_lost("run1");
    assert_int_equal(pass(&packs, &reported), S_OK);
    text_buffer_free(&reported.steps);
    assert_nothing_lost("run1");
    assert_true(entry_exists("run1", "run1.cab") && !entry_exists("run1", "log.csv"));
    assert_false(entry_exists("run1", "~run1.cab.tmp"));
}

/* A single file operation fails, all operations from a certain one fail, the disk becomes full, or memory runs out. To
   save time, this test skips more and more operations between two tested ones. In native runs, killed_while_packing
   tests each operation. */
static void next_pass_completes_after_any_failure(void **state)
{
    (void)state;
    static const struct file_faults kinds[] = {{.kind = FAULT_ONCE}, {.kind = FAULT_LASTING}, {.kind = FAULT_FULL}};
    for (size_t kind = 0; kind < 4; kind++) {
        const bool memory = kind == 3;
        bool met = true;
        for (uint64_t n = 1; met; n += 1 + n / 2) {
            struct reported reported;
            struct file_faults faults = {0};
            make_runs(1);
            if (!memory)
                faults = kinds[kind];
            faults.at = memory ? 0 : n;
            faults.hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE);
            file_faults_begin(&faults);
            memory_fail_at(memory ? n : 0);
            HRESULT hr = pass(&packs, &reported);
            met = memory ? hr == E_OUTOFMEMORY || memory_count() >= n : faults.met;
            memory_fail_at(0);
            file_faults_end();
            text_buffer_free(&reported.steps);
            assert_next_pass_completes();
            recreate_root();
        }
    }
}

/* If a user's file has the cabinet's name, a pass must report the conflict. It must not write a cabinet each time. */
static void no_useless_cabinet_is_written(void **state)
{
    (void)state;
    struct reported reported;
    struct file_faults faults = {.kind = FAULT_FULL, .at = 1};
    make_runs(1);
    put(root, "run1/run1.cab", "mine");
    file_faults_begin(&faults);
    assert_int_equal(pass(&packs, &reported), S_OK);
    file_faults_end();
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failure, PLA_E_CABAPI_FAILURE);
    assert_non_null(strstr(reported.text, "run1.cab"));
}

/* If a mark cannot be read for a while, it must not count as a mark without names. Otherwise the folder would lose its
   owner and never be deleted. */
static void temporary_failure_keeps_ownership(void **state)
{
    (void)state;
    bool met = true;
    for (uint64_t n = 1; met; n = next_of(n)) {
        struct reported reported;
        struct file_faults faults = {.kind = FAULT_ONCE, .at = n, .hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE)};
        make_runs(2);
        file_faults_begin(&faults);
        (void)pass(&one_folder, &reported);
        met = faults.met;
        file_faults_end();
        text_buffer_free(&reported.steps);
        assert_int_equal(pass(&one_folder, &reported), S_OK);
        text_buffer_free(&reported.steps);
        assert_false(entry_exists("run1", ""));
        assert_true(entry_exists("run2", "log.csv"));
        recreate_root();
    }
}

/* Makes accesses to marks below this folder fail, as on a disk with bad blocks. */
static HRESULT mark_fails(void *user, enum file_operation operation, const char *path)
{
    char *mark = path_join(user, FOLDER_MARK), *whole = path_join(root, mark);
    const bool is_mark = !strcmp(path, whole);
    (void)operation;
    memory_free(whole);
    memory_free(mark);
    return is_mark ? HRESULT_FROM_WIN32(ERROR_IO_DEVICE) : S_OK;
}

/* If this was not reported, nobody would notice that the folder has no owner, and the disk would become full. */
static void unreadable_mark_is_reported(void **state)
{
    (void)state;
    struct reported reported;
    struct scanned scanned;
    struct retention_plan plan;
    make_runs(3);
    const struct retention_pass p = pass_of(&one_folder, &reported);
    file_observe(mark_fails, (char *)"run1");
    assert_int_equal(retention_pass_plan(&p, &scanned, &plan), S_OK);
    assert_int_equal(scanned.failure_count, 1);
    assert_string_equal(scanned.failures[0].name, "run1");
    assert_int_equal(scanned.failures[0].hr, HRESULT_FROM_WIN32(ERROR_IO_DEVICE));
    assert_non_null(strstr(scanned.failures[0].reason, FOLDER_MARK));
    scanned_free(&scanned);
    retention_plan_free(&plan);
    assert_int_equal(retention_pass_run(&p), S_OK);
    file_observe(NULL, NULL);
    assert_string_equal(reported.steps.text, "run2 delete folder;");
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failures, 1); /* the pass reports it once, not in each of its parts */
    assert_int_equal(reported.failure, HRESULT_FROM_WIN32(ERROR_IO_DEVICE));
    assert_non_null(strstr(reported.text, FOLDER_MARK));
    assert_true(entry_exists("run1", "log.csv"));
    assert_pass(&one_folder, "run1 delete folder;");
}

/* A file that is not in the list is never deleted, so the failure must be reported. */
static void file_missing_from_the_list_is_reported(void **state)
{
    (void)state;
    make_runs(1);
    char *run1 = path_join(root, "run1"), *log = path_join(run1, "log2.csv");
    bool met = true;
    for (uint64_t n = 1; met; n++) {
        struct file_faults faults = {.kind = FAULT_ONCE, .at = n, .hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE)};
        file_faults_begin(&faults);
        const HRESULT hr = run_files_add(root, run1, log, false);
        met = faults.met;
        file_faults_end();
        assert_int_equal(hr, met ? HRESULT_FROM_WIN32(ERROR_IO_DEVICE) : S_OK);
    }
    memory_free(log);
    memory_free(run1);
}

/* Several runs use a folder. Its mark cannot be read when the last run begins, but its files are still the newest. */
static void shared_folder_of_the_newest_run_is_kept(void **state)
{
    (void)state;
    make_runs(2);
    file_observe(mark_fails, (char *)"run1");
    assert_int_equal(folder_take(SPACE, SET, root, "run1", false, 3), HRESULT_FROM_WIN32(ERROR_IO_DEVICE));
    file_observe(NULL, NULL);
    assert_pass(&one_folder, "run2 delete folder;");
    assert_true(entry_exists("run1", "log.csv"));
}

/* If memory runs out, the folder gets no owner. The set must keep the records of its other folders. */
static void out_of_memory_while_taking_a_folder(void **state)
{
    (void)state;
    char *run2 = path_join(root, "run2");
    make_runs(1);
    bool met = true;
    for (uint64_t n = 1; met; n = next_of(n)) {
        struct texts lines;
        struct folder_records records;
        assert_int_equal(folder_create(run2), S_OK);
        memory_fail_at(n);
        HRESULT hr = folder_take(SPACE, SET, root, "run2", true, 2);
        met = memory_count() >= n;
        memory_fail_at(0);
        if (FAILED(hr)) {
            assert_int_equal(hr, E_OUTOFMEMORY);
            put(run2, "log.csv", "run2");
            assert_pass(&one_folder, "");
            assert_true(entry_exists("run2", "log.csv"));
        }
        folder_give_back(SPACE, SET, root, "run2");
        assert_int_equal(store_load_folders(SPACE, SET, &lines), S_OK);
        assert_int_equal(folder_records_read(&lines, &records), S_OK);
        assert_int_equal(records.count, 1);
        assert_non_null(folder_records_find(&records, "run1"));
        folder_records_free(&records);
        texts_free(&lines);
        scratch_remove(run2);
    }
    memory_free(run2);
}

#ifndef _WIN32
/* Runs a pass in a child process that is killed at operation `n`. Returns false if the pass had fewer operations. */
static bool pass_is_killed(const struct retention_policy *policy, uint64_t n)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct reported reported;
        struct file_faults faults = {.kind = FAULT_END, .at = n};
        file_faults_begin(&faults);
        pass(policy, &reported);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void killed_while_packing(void **state)
{
    (void)state;
    bool killed = true;
    for (uint64_t n = 1; killed; n++) {
        make_runs(1);
        killed = pass_is_killed(&packs, n);
        assert_next_pass_completes();
        recreate_root();
    }
}

struct renaming {
    uint64_t count, at; /* number of operations, and the first one that renames the cabinet */
};

static HRESULT find_renaming(void *user, enum file_operation operation, const char *path)
{
    struct renaming *r = user;
    r->count++;
    if (operation == FILE_OPERATION_RENAME && !r->at && !strcmp(path_name(path), "run1.cab"))
        r->at = r->count;
    return S_OK;
}

/* Some file systems have no call that renames a file only if the new name is free. On these, renaming the cabinet needs
   several operations, and the process may be killed at each of them. */
static void killed_while_naming(void **state)
{
    (void)state;
    struct renaming renaming = {0};
    struct reported reported;
    make_runs(1);
    file_observe(find_renaming, &renaming);
    assert_int_equal(pass(&packs, &reported), S_OK);
    file_observe(NULL, NULL);
    text_buffer_free(&reported.steps);
    assert_int_not_equal(renaming.at, 0);
    for (int way = WAY_LINK; way < WAYS; way++)
        for (uint64_t n = renaming.at; n < renaming.at + 4; n++) {
            recreate_root();
            rename_way = (enum rename_way)way;
            make_runs(1);
            assert_true(pass_is_killed(&packs, n));
            assert_next_pass_completes();
        }
    rename_way = WAY_RENAME;
}

/* The next pass deletes the rest of a half-deleted folder, even if the limits have changed. The other folder stays
   complete. */
static void killed_while_deleting(void **state)
{
    (void)state;
    bool killed = true;
    for (uint64_t n = 1; killed; n++) {
        struct reported reported;
        make_runs(2);
        put(root, "mine/letter.txt", "a");
        killed = pass_is_killed(&one_folder, n);
        if (entry_exists("run1", "log.csv") && entry_exists("run1", "report.xml"))
            assert_int_equal(pass(&one_folder, &reported), S_OK);
        else
            assert_int_equal(pass(&(struct retention_policy){0}, &reported), S_OK);
        assert_int_equal(reported.failure, S_OK);
        text_buffer_free(&reported.steps);
        assert_false(entry_exists("run1", ""));
        assert_true(entry_exists("run2", "log.csv") && entry_exists("run2", "report.xml") &&
                    entry_exists("mine", "letter.txt"));
        recreate_root();
    }
}

/* ---- sending ---- */

/* In native builds, a path that begins with two separators is a local folder. */
static char *share_here(void)
{
    char here[1024];
    assert_non_null(getcwd(here, sizeof here));
    return text_format("/%s/%s/share", here, root);
}

static void assert_cabinet_has_log(const char *share, const char *name, const char *log)
{
    char *cabinet = path_join(share, name), *out = path_join(root, "out"), *file = path_join(out, "log.csv");
    assert_int_equal(cabinet_extract(cabinet, NULL, out, NULL), S_OK);
    char *text = scratch_read(file);
    assert_string_equal(text, log);
    memory_free(text);
    scratch_remove(out);
    memory_free(file);
    memory_free(out);
    memory_free(cabinet);
}

static size_t files_in(const char *folder)
{
    struct texts names = {0};
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    const size_t count = names.count;
    texts_free(&names);
    return count;
}

static void killed_while_sending(void **state)
{
    (void)state;
    char *share = share_here(), *there = path_join(share, "run1.cab");
    struct retention_action send_and_delete[] = {{.actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET,
                                                  .send_to = share,
                                                  .destination = folder_sent_to(share)}};
    const struct retention_policy sends = {.actions = send_and_delete, .action_count = 1};
    bool killed = true;
    for (uint64_t n = 1; killed; n++) {
        struct reported reported;
        make_runs(1);
        assert_int_equal(folder_create(share), S_OK);
        assert_int_equal(pass(&packs, &reported), S_OK);
        text_buffer_free(&reported.steps);
        killed = pass_is_killed(&sends, n);
        assert_true(entry_exists("run1", "run1.cab") || file_exists(there));
        if (file_exists(there)) /* under its final name, the file is complete */
            assert_cabinet_has_log(share, "run1.cab", "run1");
        assert_int_equal(pass(&sends, &reported), S_OK);
        assert_int_equal(reported.failure, S_OK);
        text_buffer_free(&reported.steps);
        assert_cabinet_has_log(share, "run1.cab", "run1");
        assert_int_equal(files_in(share), 1);
        assert_false(entry_exists("run1", "run1.cab"));
        recreate_root();
    }
    memory_free(there);
    memory_free(share);
}

static HRESULT one_cabinet_fails(void *user, enum file_operation operation, const char *path)
{
    (void)user;
    const bool own = strstr(path, "logs/run1/run1.cab") != NULL;
    return own && operation == FILE_OPERATION_READ ? HRESULT_FROM_WIN32(ERROR_IO_DEVICE) : S_OK;
}

/* Even if the oldest cabinet can never be read, the cabinets of the other runs must be sent. */
static void bad_cabinet_does_not_block_others(void **state)
{
    (void)state;
    char *share = share_here();
    struct retention_action sends[] = {
        {.actions = ACTION_SEND_CABINET, .send_to = share, .destination = folder_sent_to(share)}};
    const struct retention_policy policy = {.actions = sends, .action_count = 1};
    assert_int_equal(folder_create(share), S_OK);
    make_runs(2);
    assert_pass(&packs, "run1 create cabinet;run1 delete data;run2 create cabinet;run2 delete data;");
    file_observe(one_cabinet_fails, NULL);
    assert_pass_fails(&policy, HRESULT_FROM_WIN32(ERROR_IO_DEVICE), "run1.cab");
    file_observe(NULL, NULL);
    assert_cabinet_has_log(share, "run2.cab", "run2");
    assert_int_equal(files_in(share), 1);
    assert_pass(&policy, "run1 send cabinet;");
    memory_free(share);
}

/* A user with write access to the share may replace a partial copy with a link. The cabinet must not be written to the
   target of the link. */
static void link_on_the_share_is_not_followed(void **state)
{
    (void)state;
    char *share = share_here(), *mark, *word, *name;
    struct retention_action sends[] = {
        {.actions = ACTION_SEND_CABINET, .send_to = share, .destination = folder_sent_to(share)}};
    const struct retention_policy policy = {.actions = sends, .action_count = 1};
    make_runs(1);
    put(root, "precious.txt", "mine");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;");
    mark = path_join(root, "run1/openpla.run");
    word = scratch_read(mark);
    word[sizeof FOLDER_MARK_FIRST - 1 + SHARED_KEY_DIGITS] = 0;
    name = text_format("%s/~run1.cab.%s.tmp", share, word + sizeof FOLDER_MARK_FIRST - 1);
    assert_int_equal(folder_create(share), S_OK);
    assert_int_equal(symlink("../precious.txt", name), 0);
    assert_pass(&policy, "run1 send cabinet;");
    assert_cabinet_has_log(share, "run1.cab", "run1");
    char *precious = path_join(root, "precious.txt"), *text = scratch_read(precious);
    assert_string_equal(text, "mine");
    memory_free(text);
    memory_free(precious);
    memory_free(name);
    memory_free(word);
    memory_free(mark);
    memory_free(share);
}

static void cabinets_are_sent(void **state)
{
    (void)state;
    char *share = share_here(), *computer = os_computer_name(), *second = text_format("%s_run1.cab", computer),
         *third = text_format("%s_run1_2.cab", computer), *fourth = text_format("%s_run1_3.cab", computer);
    struct retention_action sends[] = {{.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA},
                                       {.actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET,
                                        .send_to = share,
                                        .destination = folder_sent_to(share)}};
    const struct retention_policy policy = {.actions = sends, .action_count = 2};
    make_runs(1);
    /* If the share does not exist, the cabinet is kept. The next pass sends it. */
    assert_pass_fails(&policy, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "share");
    assert_true(entry_exists("run1", "run1.cab"));
    /* Cabinets that other computers have sent to the share may be the only copies, so they must be kept. */
    put(share, "run1.cab", "of another computer");
    put(share, second, "of another set");
    sends[1].actions = ACTION_SEND_CABINET;
    assert_pass(&policy, "run1 send cabinet;");
    assert_pass(&policy, ""); /* a cabinet is sent only once */
    assert_cabinet_has_log(share, third, "run1");
    assert_int_equal(files_in(share), 3);
    char *there = path_join(share, "run1.cab"), *text = scratch_read(there);
    assert_string_equal(text, "of another computer");
    memory_free(text);
    memory_free(there);
    there = path_join(share, second);
    text = scratch_read(there);
    assert_string_equal(text, "of another set");
    memory_free(text);
    memory_free(there);
    sends[1].actions = ACTION_SEND_CABINET | ACTION_DELETE_CABINET;
    assert_pass(&policy, "run1 delete cabinet;");
    assert_true(entry_exists("run1", "report.xml"));
    /* Data that were written after the cabinet get another cabinet, which must be sent too. */
    put(root, "run1/log.csv", "late");
    assert_pass(&policy, "run1 create cabinet;run1 delete data;run1 send cabinet;run1 delete cabinet;");
    assert_cabinet_has_log(share, third, "run1");
    assert_cabinet_has_log(share, fourth, "late");
    memory_free(fourth);
    memory_free(third);
    memory_free(second);
    memory_free(computer);
    memory_free(share);
}

/* If a pass packs new files and is killed before it sends the cabinet, the next pass must send it, although an earlier
   cabinet was sent. */
static void killed_before_a_second_cabinet_is_sent(void **state)
{
    (void)state;
    char *share = share_here();
    struct retention_action all[] = {
        {.actions = ACTION_CREATE_CABINET | ACTION_DELETE_DATA | ACTION_SEND_CABINET | ACTION_DELETE_CABINET,
         .send_to = share,
         .destination = folder_sent_to(share)}};
    const struct retention_policy policy = {.actions = all, .action_count = 1};
    assert_int_equal(folder_create(share), S_OK);
    make_runs(1);
    assert_pass(&policy, "run1 create cabinet;run1 delete data;run1 send cabinet;run1 delete cabinet;");
    put(root, "run1/log.csv", "late");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;");
    assert_pass(&policy, "run1 send cabinet;run1 delete cabinet;");
    assert_int_equal(files_in(share), 2);
    memory_free(share);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(next_pass_completes_after_any_failure, begin, end),
        cmocka_unit_test_setup_teardown(no_useless_cabinet_is_written, begin, end),
        cmocka_unit_test_setup_teardown(temporary_failure_keeps_ownership, begin, end),
        cmocka_unit_test_setup_teardown(unreadable_mark_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(file_missing_from_the_list_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(shared_folder_of_the_newest_run_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(out_of_memory_while_taking_a_folder, begin, end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(killed_while_packing, begin, end),
        cmocka_unit_test_setup_teardown(killed_while_naming, begin, end),
        cmocka_unit_test_setup_teardown(killed_while_deleting, begin, end),
        cmocka_unit_test_setup_teardown(killed_while_sending, begin, end),
        cmocka_unit_test_setup_teardown(bad_cabinet_does_not_block_others, begin, end),
        cmocka_unit_test_setup_teardown(link_on_the_share_is_not_followed, begin, end),
        cmocka_unit_test_setup_teardown(cabinets_are_sent, begin, end),
        cmocka_unit_test_setup_teardown(killed_before_a_second_cabinet_is_sent, begin, end),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
