/* SPDX-License-Identifier: MIT */
/* The data manager maintains the folders of runs when a set stops, after segments and before starts. The tests make
   real runs. The disk must not become full, and each deletion must cause an event. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"
#include "engine/pla/model.h"
#include "engine/pla/sets.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define MANAGED(more) "<DataManager><Enabled>-1</Enabled>" more "</DataManager>"
#define OWN_FOLDER                                                                                                     \
    "<Subdirectory>run</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>NNNNNN"      \
    "</SubdirectoryFormatPattern>"
#define ACTION(steps)                                                                                                  \
    "<FolderAction><Size>0</Size><Age>0</Age><Actions>" steps "</Actions><SendCabTo></SendCabTo></FolderAction>"

static void run_once(const char *name)
{
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

static bool entry_exists(const char *root, unsigned serial, const char *file)
{
    char *path = text_format("%s/run%06u/%s", root, serial, file);
    bool there = file_exists(path);
    memory_free(path);
    return there;
}

static bool has_run(const char *root, unsigned serial)
{
    return entry_exists(root, serial, "c.csv");
}

static void put_foreign(const char *root)
{
    char *folder = path_join(root, "not mine"), *file = path_join(folder, "letter.txt");
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(file_store(file, "x", 1), S_OK);
    memory_free(file);
    memory_free(folder);
}

static bool foreign_file_exists(const char *root)
{
    char *file = path_join(root, "not mine/letter.txt");
    bool there = file_exists(file);
    memory_free(file);
    return there;
}

static void old_runs_are_deleted_when_a_run_stops(void **state)
{
    (void)state;
    char *root = fixture_folder("few");
    put_foreign(root);
    fixture_commit("few", root, OWN_FOLDER MANAGED("<MaxFolderCount>2</MaxFolderCount>"), CSV_EACH_SECOND ONE_COUNTER);
    for (int i = 0; i < 4; i++)
        run_once("few");
    struct run_record record = fixture_record("few");
    if (has_run(root, 1) || has_run(root, 2))
        fail_msg("old runs still exist: 1: %d, 2: %d; %zu deletions; the last run says 0x%08X %s", has_run(root, 1),
                 has_run(root, 2), fixture_events(9030, "few"), (unsigned)record.last_result, record.last_message);
    assert_true(has_run(root, 3) && has_run(root, 4) && entry_exists(root, 3, "report.xml"));
    assert_true(foreign_file_exists(root));
    assert_int_equal(fixture_events(9030, "few"), 2);
    assert_string_equal(fixture_reason, "MaxFolderCount");
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    memory_free(root);
}

/* Returns this field of the latest event with this id, or "". The string is from memory_alloc. */
static char *field_of_event(uint32_t id, const char *field)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *folder = journal_folder(), *value = text_copy("");
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK)
        for (size_t i = 0; i < e.count; i++)
            if (e.id == id && !strcmp(e.fields[i].name, field)) {
                memory_free(value);
                value = text_copy(e.fields[i].value);
            }
    journal_reader_close(r);
    memory_free(folder);
    return value;
}

/* The event must contain the path of the cabinet, so that a script can send the cabinet again. */
static void event_names_the_unsent_cabinet(void **state)
{
    (void)state;
    char *root = fixture_folder("unsent");
    fixture_commit("unsent", root,
                   OWN_FOLDER MANAGED("<FolderAction><Size>0</Size><Age>0</Age><Actions>5</Actions><SendCabTo>"
                                      "\\\\localhost\\no such share of OpenPLA</SendCabTo></FolderAction>"),
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("unsent");
    char *name = field_of_event(1017, "CabName"), *folder = path_join(root, "run000001"),
         *cabinet = path_join(folder, "run000001.cab");
    assert_true(file_exists(cabinet));
    assert_string_equal(name, cabinet);
    memory_free(cabinet);
    memory_free(folder);
    memory_free(name);
    memory_free(root);
}

/* If a set never stops, its folders must be maintained after each segment. */
static void folders_are_maintained_at_each_segment(void **state)
{
    (void)state;
    char *root = fixture_folder("segments");
    fixture_commit("segments", root, OWN_FOLDER "<Segment>-1</Segment>" MANAGED("<MaxFolderCount>2</MaxFolderCount>"),
                   CSV_EACH_SECOND "<SegmentMaxRecords>1</SegmentMaxRecords>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "segments", true), S_OK);
    fixture_await_event(9030, "segments");
    assert_false(has_run(root, 1));
    assert_int_equal(run_stop(SPACE, "segments", true), S_OK);
    struct run_record record = fixture_record("segments");
    assert_int_equal(record.last_result, S_OK);
    assert_true(has_run(root, record.serial_number - 1) && has_run(root, record.serial_number - 2));
    assert_false(has_run(root, record.serial_number - 3));
    /* Only the last segment, at the stop, has a report. */
    assert_int_equal(fixture_events(9022, "segments"), 1);
    run_record_free(&record);
    memory_free(root);
}

/* Two sets may have the same RootPath and folder names. The first set must not delete files that the second one wrote
   into the folder. */
static void folder_shared_by_two_sets_is_kept(void **state)
{
    (void)state;
    char *root = fixture_folder("two"), *log = text_format("%s/run000001/c.csv", root);
    fixture_commit("first", root, OWN_FOLDER MANAGED("<MaxFolderCount>1</MaxFolderCount>"),
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("first");
    assert_true(entry_exists(root, 1, "openpla.run"));
    assert_int_equal(file_delete(log), S_OK);
    fixture_commit("second", root, OWN_FOLDER, CSV_EACH_SECOND ONE_COUNTER);
    run_once("second");
    assert_true(has_run(root, 1) && !entry_exists(root, 1, "openpla.run"));
    run_once("first");
    run_once("first");
    assert_true(has_run(root, 1) && !has_run(root, 2) && has_run(root, 3));
    memory_free(log);
    memory_free(root);
}

/* The folder of a set may be inside a run folder of another set. The other set must not delete anything in it. */
static void folder_inside_another_sets_folder_is_kept(void **state)
{
    (void)state;
    char *root = fixture_folder("nested"), *log = text_format("%s/run000001/inner/c.csv", root);
    fixture_commit("outer", root, OWN_FOLDER MANAGED("<MaxFolderCount>1</MaxFolderCount>"),
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("outer");
    fixture_commit("inner", root, "<Subdirectory>run000001/inner</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER);
    run_once("inner");
    assert_true(file_exists(log));
    run_once("outer");
    assert_true(file_exists(log));
    assert_false(has_run(root, 1));
    memory_free(log);
    memory_free(root);
}

static void folders_are_maintained_before_a_start(void **state)
{
    (void)state;
    char *root = fixture_folder("start");
    static const char without[] = OWN_FOLDER MANAGED("");
    static const char with[] = OWN_FOLDER MANAGED("<CheckBeforeRunning>-1</CheckBeforeRunning>"
                                                  "<MaxFolderCount>2</MaxFolderCount>");
    fixture_commit("start", root, without, CSV_EACH_SECOND ONE_COUNTER);
    for (int i = 0; i < 3; i++)
        run_once("start");
    fixture_commit("start", root, with, CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "start", true), S_OK);
    assert_false(has_run(root, 1) || has_run(root, 2));
    assert_true(has_run(root, 3));
    assert_int_equal(run_stop(SPACE, "start", true), S_OK);
    run_once("start");
    assert_true(has_run(root, 4) && has_run(root, 5));
    /* Foreign folders count but cannot be deleted, so the start must fail with this reason. */
    put_foreign(root);
    assert_int_equal(run_start(SPACE, "start", true), PLA_E_TOO_MANY_FOLDERS);
    assert_true(foreign_file_exists(root) && has_run(root, 5));
    memory_free(root);
}

/* If a run folder contains a user's file, the file must be kept. The set must still be able to start. */
static void user_files_do_not_block_a_set(void **state)
{
    (void)state;
    char *root = fixture_folder("kept"), *notes = path_join(root, "run000001/notes.txt");
    fixture_commit("kept", root,
                   OWN_FOLDER MANAGED("<CheckBeforeRunning>-1</CheckBeforeRunning><MaxFolderCount>3</MaxFolderCount>"),
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("kept");
    assert_int_equal(file_store(notes, "mine", 4), S_OK);
    for (int i = 0; i < 4; i++)
        run_once("kept");
    assert_true(file_exists(notes) && !entry_exists(root, 1, "openpla.run"));
    assert_true(has_run(root, 4) && has_run(root, 5));
    memory_free(notes);
    memory_free(root);
}

/* When the folder of a run is deleted, only the files and the report of the run may be deleted. If a file was missing
   in the run's list, it would never be deleted. If the list had a wrong entry, a user's file would be deleted. */
static void only_files_of_the_run_are_deleted(void **state)
{
    (void)state;
    char *root = fixture_folder("made"), *folder = path_join(root, "run000001"),
         *notes = path_join(folder, "notes.txt");
    fixture_commit("made", root,
                   OWN_FOLDER MANAGED("<MaxFolderCount>1</MaxFolderCount><Rules><Logging level=\"15\"/><Group>"
                                      "<Rule name=\"r\"/></Group></Rules>"),
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("made");
    assert_true(has_run(root, 1) && entry_exists(root, 1, "report.html") && entry_exists(root, 1, "rules.log"));
    assert_int_equal(file_store(notes, "mine", 4), S_OK);
    run_once("made");
    struct texts left = {0};
    assert_int_equal(folder_list(folder, false, &left), S_OK);
    assert_int_equal(left.count, 1);
    assert_string_equal(left.items[0], "notes.txt");
    texts_free(&left);
    assert_int_equal(fixture_events(9033, "made"), 1);
    assert_string_equal(fixture_reason, "'notes.txt'");
    struct run_record record = fixture_record("made");
    assert_int_equal(record.last_result, S_OK);
    run_record_free(&record);
    memory_free(notes);
    memory_free(folder);
    memory_free(root);
}

static void folder_actions_run_after_each_run(void **state)
{
    (void)state;
    char *root = fixture_folder("acts");
    fixture_commit("acts", root, OWN_FOLDER MANAGED(ACTION("3")), CSV_EACH_SECOND ONE_COUNTER);
    run_once("acts");
    assert_false(has_run(root, 1));
    assert_true(entry_exists(root, 1, "report.xml") && entry_exists(root, 1, "run000001.cab"));
    assert_int_equal(fixture_events(9030, "acts"), 2);
    run_once("acts");
    assert_true(entry_exists(root, 1, "run000001.cab") && entry_exists(root, 2, "run000002.cab"));
    assert_int_equal(fixture_events(9030, "acts"), 4);
    /* A user can run the actions, here for a set whose cabinets are deleted. */
    struct object *set, *errors;
    fixture_commit("acts", root, OWN_FOLDER MANAGED(ACTION("8")), CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, "acts", NULL), S_OK);
    assert_int_equal(issues_create(NULL, &errors), S_OK);
    assert_int_equal(set_manage(set, &caller_self, STEP_FOLDER_ACTIONS, "", errors), S_OK);
    assert_int_equal(collection_count(errors), 0);
    assert_false(entry_exists(root, 1, "run000001.cab"));
    assert_true(entry_exists(root, 2, "run000002.cab")); /* the newest run's files are kept */
    char *mine = path_join(root, "not mine");
    put_foreign(root);
    assert_int_equal(set_manage(set, &caller_self, STEP_FOLDER_ACTIONS | STEP_RESOURCE_FREEING, mine, errors), S_OK);
    assert_int_equal(collection_count(errors), 1);
    assert_true(foreign_file_exists(root));
    memory_free(mine);
    object_release(errors);
    object_release(set);
    memory_free(root);
}

/* If a file cannot be deleted because another program has it open, this must be reported. The run and the other folders
   must be unaffected. */
static void undeletable_files_are_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("held"), *path = path_join(root, "run000001/c.csv");
    struct file *writing;
    fixture_commit("held", root, OWN_FOLDER MANAGED("<MaxFolderCount>1</MaxFolderCount>"), CSV_EACH_SECOND ONE_COUNTER);
    run_once("held");
    assert_int_equal(file_open(path, FILE_APPEND, &writing), S_OK);
    run_once("held");
    assert_true(has_run(root, 1));
    struct run_record record = fixture_record("held");
    assert_int_equal(record.last_result, HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    assert_non_null(strstr(record.last_message, "c.csv"));
    run_record_free(&record);
    assert_int_equal(fixture_events(9031, "held"), 1);
    file_close(writing);
    run_once("held");
    assert_false(has_run(root, 1) || has_run(root, 2));
    assert_true(has_run(root, 3));
    memory_free(path);
    memory_free(root);
}

/* If a start fails, it must leave neither a folder nor a mark. */
static void failed_start_leaves_no_folder(void **state)
{
    (void)state;
    char *root = fixture_folder("fails"), *folder = path_join(root, "run000001");
    fixture_commit("fails", root, OWN_FOLDER MANAGED(""), CSV_EACH_SECOND "<FileName>nul</FileName>" ONE_COUNTER);
    assert_true(FAILED(run_start(SPACE, "fails", true)));
    assert_false(folder_exists(folder));
    memory_free(folder);
    memory_free(root);
}

static int setup(void **state)
{
    scratch_environment("TEST_REPORTS", "1");
    return fixture_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_runs_are_deleted_when_a_run_stops),
        cmocka_unit_test(event_names_the_unsent_cabinet),
        cmocka_unit_test(folders_are_maintained_at_each_segment),
        cmocka_unit_test(folder_shared_by_two_sets_is_kept),
        cmocka_unit_test(folder_inside_another_sets_folder_is_kept),
        cmocka_unit_test(folders_are_maintained_before_a_start),
        cmocka_unit_test(user_files_do_not_block_a_set),
        cmocka_unit_test(only_files_of_the_run_are_deleted),
        cmocka_unit_test(folder_actions_run_after_each_run),
        cmocka_unit_test(undeletable_files_are_reported),
        cmocka_unit_test(failed_start_leaves_no_folder),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
