/* SPDX-License-Identifier: MIT */
/* Retention with real folders. An error here would delete a user's own folders. */
#include "engine/base/file.h"
#include "engine/pla/cabinet.h"
#include "engine/pla/retention/plan.h"
#include "retention_fixture.h"
#include "tests/unit/scratch_link.h"

static struct retention_action delete_data[] = {{.actions = ACTION_DELETE_DATA}};
static const struct retention_policy deletes = {.actions = delete_data, .action_count = 1};

/* If a process is interrupted while it renames the cabinet, it may leave an empty file. The next pass must replace this
   file with a complete cabinet. */
static void empty_cabinet_is_replaced(void **state)
{
    (void)state;
    make_runs(1);
    write_of_run("run1/run1.cab", "");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;");
    make_run("run2", 2);
    put(root, "run2/run2.cab", ""); /* a user's file, which is not in the run's list */
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "run2.cab");
    assert_true(entry_exists("run2", "run2.cab") && entry_exists("run2", "log.csv"));
}

/* ---- owners of folders ---- */

/* KB 2916994: Windows deleted everything in a folder into which logs were saved, even a user's other files. */
static void foreign_folders_are_kept(void **state)
{
    (void)state;
    put(root, "photos/1999/a.jpg", "a");
    put(root, "letter.txt", "b");
    put(root, "empty/x", "c");
    make_runs(4);
    /* Run 2's folder was renamed, run 1's was copied with all its contents, and run 3's lacks its mark. */
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
    assert_true(entry_exists("photos", "1999/a.jpg") && entry_exists("", "letter.txt") && entry_exists("empty", "x"));
    assert_true(entry_exists("kept by me", "log.csv") && entry_exists("run3", "log.csv") &&
                entry_exists("run1 (copy)", "log.csv"));
    assert_true(entry_exists("run4", "log.csv"));
    assert_false(entry_exists("run1", ""));
    memory_free(text);
    memory_free(copied);
    memory_free(mark);
    memory_free(to);
    memory_free(from);
}

/* A folder with the run's name may have existed before the run. */
static void existing_folder_is_kept(void **state)
{
    (void)state;
    put(root, "run1/mine.txt", "a");
    assert_int_equal(folder_take(SPACE, SET, root, "run1", false, 1), S_FALSE);
    make_run("run2", 2);
    make_run("run3", 3);
    assert_pass(&one_folder, "run2 delete folder;");
    assert_true(entry_exists("run1", "mine.txt"));
    assert_false(entry_exists("run1", FOLDER_MARK));
    /* A folder that several runs use still belongs to the set, and counts as the folder of the newest run. */
    assert_int_equal(folder_take(SPACE, SET, root, "run3", false, 4), S_OK);
    assert_pass(&one_folder, "");
}

/* Another set may have the same RootPath, and its run may write into a folder of this set. */
static void folder_used_by_another_set_is_kept(void **state)
{
    (void)state;
    assert_int_equal(store_save(&caller_self, SPACE, "other", STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL),
                     S_OK);
    make_runs(3);
    assert_int_equal(folder_take(SPACE, "other", root, "run1", false, 1), S_FALSE);
    assert_int_equal(folder_leave(root, "run1"), S_OK);
    assert_int_equal(folder_leave(root, "run1"), S_FALSE);
    put(root, "run1/of the other.csv", "a");
    assert_pass(&one_folder, "run2 delete folder;");
    days = 400;
    assert_pass(&deletes, "");
    assert_true(entry_exists("run1", "of the other.csv"));
    /* A file that has the mark's name but is not a mark belongs to a user. */
    put(root, "mine/openpla.run", "mine");
    assert_int_equal(folder_leave(root, "mine"), S_FALSE);
    assert_true(entry_exists("mine", "openpla.run"));
}

/* Before a start, folders are deleted only because of their number, not because of MaxSize (MS-PLA 3.2.4.2). One folder
   less than the limit may be left, because the run will create another. */
static void start_deletes_by_folder_count_only(void **state)
{
    (void)state;
    make_runs(3);
    char *run1 = path_join(root, "run1"), *big = path_join(run1, "big.csv");
    struct file *file;
    struct reported reported;
    assert_int_equal(run_files_add(root, run1, big, false), S_OK);
    assert_int_equal(file_open(big, FILE_REPLACE, &file), S_OK);
    assert_int_equal(file_set_size(file, 2 << 20), S_OK);
    file_close(file);
    const struct retention_policy policies[] = {{.most_size = 1},
                                                {.most_size = 1, .most_folders = 3, .oldest_first = true}};
    static const char *const expected[] = {"", "run1 delete folder;"};
    for (size_t i = 0; i < 2; i++) {
        struct retention_pass p = pass_of(&policies[i], &reported);
        p.parts = RETENTION_LIMITS;
        p.room_for_one = true;
        assert_int_equal(retention_pass_run(&p), S_OK);
        assert_string_equal(reported.steps.text ? reported.steps.text : "", expected[i]);
        text_buffer_free(&reported.steps);
    }
    memory_free(big);
    memory_free(run1);
}

/* If a set is deleted and created again, the new set does not own the folders of the old set's runs. */
static void recreated_set_does_not_own_earlier_folders(void **state)
{
    (void)state;
    make_runs(2);
    assert_int_equal(store_delete(&caller_self, SPACE, SET), S_OK);
    assert_int_equal(store_save(&caller_self, SPACE, SET, STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL), S_OK);
    make_run("run3", 1);
    assert_pass(&one_folder, "");
    assert_true(entry_exists("run1", "log.csv"));
}

/* A link is not followed, whether it replaces a folder or is inside one. */
static void links_are_not_followed(void **state)
{
    (void)state;
    put(root, "outside/precious.txt", "a");
    make_runs(4);
    char *run1 = path_join(root, "run1"), *mark1 = path_join(root, "run1/openpla.run"), *text = scratch_read(mark1),
         *run2 = path_join(root, "run2"), *moved = path_join(root, "moved");
    put(root, "outside/openpla.run", text); /* the link's target has a valid mark */
    scratch_remove(run1);
    scratch_link(root, "run1", "outside", false);
    scratch_link(run2, "in", "../outside", false);
    struct reported reported;
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run2 delete folder;run3 delete folder;");
    assert_int_equal(reported.failure, HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME)); /* run1 */
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.kept, 1);
    assert_string_equal(reported.first_kept, "in");
    assert_true(entry_exists("outside", "precious.txt") && entry_exists("run2", "in/precious.txt"));
    scratch_unlink(run2, "in");
    scratch_unlink(root, "run1");
    /* A link replaces a run's file. Wine does not report that it is a link, so the folder may be kept. */
    char *run4 = path_join(root, "run4"), *log = path_join(run4, "log.csv");
    assert_int_equal(file_delete(log), S_OK);
    scratch_link(run4, "log.csv", "../outside/precious.txt", false);
    make_run("run5", 5);
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    text_buffer_free(&reported.steps);
    assert_true(entry_exists("outside", "precious.txt"));
    if (entry_exists("run4", "log.csv"))
        scratch_unlink(run4, "log.csv");
    memory_free(log);
    memory_free(run4);
    memory_free(moved);
    memory_free(run2);
    memory_free(text);
    memory_free(mark1);
    memory_free(run1);
}

/* The worst case for users (KB 2916994): a run's folder contains their notes and other folders. These must survive
   every deletion, and the events must name them. */
static void files_not_created_by_runs_are_kept(void **state)
{
    (void)state;
    struct reported reported;
    make_runs(4);
    put(root, "run1/notes.txt", "mine");
    put(root, "run1/mine/deep/picture.jpg", "mine");
    write_of_run("run1/Files_0001/copied.txt", "r");
    put(root, "run1/Files_0001/notes.txt", "mine");
    put(root, "run2/notes.txt", "mine");
    put(root, "run3/report.html", "mine"); /* a run could have created a file with this name, but did not */
    put(root, "run3/run3.cab", "mine");
    assert_int_equal(pass(&deletes, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run1 delete data;run2 delete data;run3 delete data;");
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failure, S_OK);
    assert_int_equal(reported.kept, 6);
    assert_true(entry_exists("run1", "notes.txt") && entry_exists("run1", "mine/deep/picture.jpg"));
    assert_true(entry_exists("run1", "Files_0001/notes.txt") && !entry_exists("run1", "Files_0001/copied.txt"));
    assert_true(entry_exists("run3", "run3.cab") && !entry_exists("run3", "log.csv"));
    struct retention_action rest[] = {{.actions = ACTION_DELETE_CABINET | ACTION_DELETE_REPORT}};
    assert_int_equal(pass(&(struct retention_policy){.actions = rest, .action_count = 1, .most_folders = 1}, &reported),
                     S_OK);
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failure, S_OK);
    assert_true(entry_exists("run3", "report.html") && entry_exists("run3", "run3.cab") &&
                entry_exists("run2", "notes.txt"));
    assert_true(entry_exists("run1", "notes.txt") && entry_exists("run1", "Files_0001/notes.txt"));
    assert_false(entry_exists("run1", "report.xml") || entry_exists("run1", FOLDER_MARK) ||
                 entry_exists("run2", FOLDER_MARK));
    assert_pass(&one_folder, ""); /* these folders have no owner now, so they do not count */
}

/* If a user's file has the cabinet's name, the file must not be replaced, and the data must not be deleted. */
static void foreign_file_with_the_cabinet_name_is_kept(void **state)
{
    (void)state;
    make_runs(2);
    put(root, "run1/run1.cab", "mine");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "run1.cab");
    char *path = path_join(root, "run1/run1.cab"), *text = scratch_read(path);
    assert_string_equal(text, "mine");
    assert_true(entry_exists("run1", "log.csv") && !entry_exists("run1", "~run1.cab.tmp"));
    memory_free(text);
    memory_free(path);
}

/* The folder of a run may contain the folder of a run of another set. */
static void inner_folder_of_another_set_is_kept(void **state)
{
    (void)state;
    make_runs(1);
    assert_int_equal(store_save(&caller_self, SPACE, "other", STORE_CREATE, "<DataCollectorSet/>", 19, NULL, NULL),
                     S_OK);
    char *inner = path_join(root, "run1/inner"), *run1 = path_join(root, "run1"),
         *log = path_join(root, "run1/inner/log.csv");
    assert_int_equal(folder_create(inner), S_OK);
    assert_int_equal(folder_take(SPACE, "other", run1, "inner", true, 1), S_OK);
    assert_int_equal(run_files_add(run1, inner, log, false), S_OK);
    put(inner, "log.csv", "other");
    /* The file in the inner folder is kept even if the outer folder's list contains it. Such an entry may be older than
       the inner folder's mark. */
    char *mark = path_join(root, "run1/openpla.run"), *text = scratch_read(mark);
    char *more = text_format("%sfile inner/log.csv\n", text);
    assert_int_equal(file_store(mark, more, strlen(more)), S_OK);
    make_run("run2", 2);
    struct reported reported;
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run1 delete folder;");
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.kept, 1);
    assert_string_equal(reported.first_kept, "inner");
    assert_true(entry_exists("run1", "inner/log.csv") && entry_exists("run1", "inner/openpla.run"));
    assert_false(entry_exists("run1", "log.csv"));
    memory_free(more);
    memory_free(text);
    memory_free(mark);
    memory_free(log);
    memory_free(run1);
    memory_free(inner);
}

/* Marks of an older version have no list of files. It is not known which files in such a folder belong to runs. */
static void marks_without_a_file_list(void **state)
{
    (void)state;
    make_runs(2);
    char *mark = path_join(root, "run1/openpla.run"), *text;
    size_t size;
    assert_int_equal(file_load(mark, 1 << 16, &text, &size), S_OK);
    *strstr(text, "file ") = 0;
    assert_int_equal(file_store(mark, text, strlen(text)), S_OK);
    struct reported reported;
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run1 delete folder;");
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.kept, 2);
    assert_true(entry_exists("run1", "log.csv") && entry_exists("run1", "report.xml"));
    assert_false(entry_exists("run1", FOLDER_MARK));
    memory_free(text);
    memory_free(mark);
}

/* A list may contain truncated lines, lines that stand for several files, and invalid names. */
static void invalid_list_entries_are_ignored(void **state)
{
    (void)state;
    static const char *const of_run[] = {"log.csv", "private.etl_123", "private.etl_123_4", "a1.etl", "Files_1/x"};
    static const char *const not_of_run[] = {"private.etl",   "private.etl_",
                                             "private.etl_x", "a.etl",
                                             "a1x.etl",       "private.etl_1.txt",
                                             "Files_1",       "x",
                                             "half",          ""};
    struct held_folder *f;
    struct run_files files;
    make_runs(1);
    char *mark = path_join(root, "run1/openpla.run"), *text = scratch_read(mark);
    char *more = text_format("%sparts private.etl\nparts a%%d.etl\nfile Files_1/x\nfile \nrubbish\nfile half", text);
    assert_int_equal(file_store(mark, more, strlen(more)), S_OK);
    assert_int_equal(held_folder_open(root, "run1", &f), S_OK);
    assert_int_equal(run_files_read(f, &files), S_OK);
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
        assert_true(run_files_have(&files, of_run[i]));
    for (size_t i = 0; i < sizeof not_of_run / sizeof *not_of_run; i++)
        assert_false(run_files_have(&files, not_of_run[i]));
    assert_true(run_files_below(&files, "Files_1"));
    assert_false(run_files_below(&files, "Files_") || run_files_below(&files, "Files_1/x") ||
                 run_files_below(&files, "log.csv"));
    run_files_free(&files);
    /* A full disk truncated the name "half a log.csv", and "half" is a user's file. The truncated name must be ignored,
       and the next name must not continue it. */
    write_of_run("run1/next.csv", "r");
    assert_int_equal(run_files_read(f, &files), S_OK);
    assert_true(run_files_have(&files, "next.csv"));
    assert_false(run_files_have(&files, "half") || run_files_have(&files, "half\x18"));
    run_files_free(&files);
    held_folder_close(f);
    /* A file that existed before the run does not belong to it. A name with a line break must not become two lines of
       the list. */
    put(root, "run1/mine.txt", "mine");
    char *run1 = path_join(root, "run1"), *mine = path_join(run1, "mine.txt"),
         *lines = path_join(run1, "x\nfile mine.txt"), *loose = path_join(root, "loose.csv");
    assert_int_equal(run_files_add(root, run1, mine, false), S_FALSE);
    assert_int_equal(run_files_add(root, run1, lines, false), S_FALSE);
    assert_int_equal(run_files_add(root, root, loose, false), S_FALSE);
    memory_free(loose);
    memory_free(lines);
    memory_free(mine);
    memory_free(run1);
    memory_free(more);
    memory_free(text);
    memory_free(mark);
}

static HRESULT count_tries(void *user, enum file_operation operation, const char *path)
{
    size_t *tries = user;
    *tries += operation == FILE_OPERATION_CREATE && !strcmp(path_name(path), FOLDER_MARK);
    return S_OK;
}

/* If a backup program has the mark open, a run that copies a thousand files must wait once, not for each file. */
static void mark_in_use_is_waited_for_only_once(void **state)
{
    (void)state;
    const HRESULT held = HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION);
    struct file *holder;
    size_t tries = 0, before;
    make_runs(2);
    char *run1 = path_join(root, "run1"), *run2 = path_join(root, "run2"), *mark = path_join(run1, FOLDER_MARK),
         *log1 = path_join(run1, "a.csv"), *log2 = path_join(run2, "a.csv");
    assert_int_equal(file_open(mark, FILE_APPEND, &holder), S_OK);
    file_observe(count_tries, &tries);
    assert_int_equal(run_files_add(root, run1, log1, false), held);
    assert_true(tries > 3);
    before = tries;
    assert_int_equal(run_files_add(root, run1, log1, false), held);
    assert_true(tries - before <= 2); /* one attempt can need two calls of the host OS */
    assert_int_equal(run_files_add(root, run2, log2, false), S_OK);
    file_observe(NULL, NULL);
    file_close(holder);
    assert_int_equal(run_files_add(root, run1, log1, false), S_OK);
    memory_free(log2);
    memory_free(log1);
    memory_free(mark);
    memory_free(run2);
    memory_free(run1);
}

/* The list of files has a limited size. A file that is not in the list is never deleted, so the run reports it. */
static void full_list_is_reported(void **state)
{
    (void)state;
    const HRESULT full = HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE);
    struct file *f;
    make_runs(1);
    char *run1 = path_join(root, "run1"), *mark = path_join(run1, FOLDER_MARK), *log = path_join(run1, "late.csv");
    assert_int_equal(file_open(mark, FILE_APPEND, &f), S_OK);
    assert_int_equal(file_set_size(f, 16 << 20), S_OK);
    file_close(f);
    assert_int_equal(run_files_add(root, run1, log, false), full);
    assert_non_null(strstr(error_text(full), "late.csv"));
    memory_free(log);
    memory_free(mark);
    memory_free(run1);
}

#ifndef _WIN32
static HRESULT read_mounts(void *user, const struct held_entry *e)
{
    unsigned *seen = user;
    if (!strcmp(e->name, "proc") && e->kind == HELD_OTHER)
        *seen |= 1;
    return S_OK;
}

/* A disk that is mounted in a run's folder is not part of the folder, as /proc is not part of the root. */
static void mounted_disks_are_excluded(void **state)
{
    (void)state;
    unsigned seen = 0;
    struct held_folder *f;
    assert_int_equal(held_folder_open("/", "", &f), S_OK);
    assert_int_equal(held_folder_each(f, read_mounts, &seen), S_OK);
    assert_int_equal(seen, 1);
    held_folder_close(f);
}
#endif

/* ---- steps ---- */

static void data_are_deleted_and_the_report_is_kept(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/report.html", "r");
    write_of_run("run1/rules.log", "r");
    write_of_run("run1/files/copied.txt", "r");
    write_of_run("run1/run1.cab", "c");
    put(root, "run1/of others.cab", "c");
    assert_pass(&deletes, "run1 delete data;");
    assert_true(entry_exists("run1", "report.xml") && entry_exists("run1", "report.html") &&
                entry_exists("run1", "run1.cab"));
    assert_true(entry_exists("run1", "of others.cab") && entry_exists("run1", FOLDER_MARK));
    assert_false(entry_exists("run1", "log.csv") || entry_exists("run1", "rules.log") || entry_exists("run1", "files"));
    assert_true(entry_exists("run2", "log.csv"));
    assert_pass(&deletes, ""); /* the same action again has no effect */
    struct retention_action rest[] = {{.actions = ACTION_DELETE_CABINET | ACTION_DELETE_REPORT}};
    const struct retention_policy policy = {.actions = rest, .action_count = 1};
    /* A folder that contains foreign files is kept with them, but loses its owner. */
    assert_pass(&policy, "run1 delete cabinet;run1 delete report;run1 delete folder;");
    assert_true(entry_exists("run1", "of others.cab"));
    assert_false(entry_exists("run1", FOLDER_MARK));
    assert_pass(&policy, "");
}

static void file_in_use_delays_deletion(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/other.csv", "a");
    char *path = path_join(root, "run1/log.csv");
    struct file *writing;
    assert_int_equal(file_open(path, FILE_APPEND, &writing), S_OK);
    assert_pass_fails(&one_folder, HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "log.csv");
    assert_true(entry_exists("run1", "log.csv") && entry_exists("run1", FOLDER_MARK));
    file_close(writing);
    /* The next pass completes the deletion even if the limits have changed. */
    assert_pass(&(struct retention_policy){0}, "run1 delete folder;");
    assert_false(entry_exists("run1", ""));
    memory_free(path);
}

/* Clean-up scripts of administrators may also delete folders. */
static void externally_deleted_folders_are_forgotten(void **state)
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
    /* While the disk is not mounted, the records must be kept, because folders without a record have no owner. */
    char *away = text_format("%s away", root);
    assert_int_equal(file_rename(root, away), S_OK);
    assert_pass(&one_folder, "");
    assert_int_equal(file_rename(away, root), S_OK);
    assert_pass(&one_folder, "run2 delete folder;");
    memory_free(away);
}

static void single_folder_is_processed(void **state)
{
    (void)state;
    make_runs(3);
    struct reported reported;
    struct retention_pass p = pass_of(&deletes, &reported);
    p.only = "run1";
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_string_equal(reported.steps.text, "run1 delete data;");
    text_buffer_free(&reported.steps);
    put(root, "mine/x", "a");
    p.only = "mine";
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_int_equal(reported.failure, E_ACCESSDENIED);
    assert_true(entry_exists("mine", "x"));
    char *running = path_join(root, "run2");
    p.only = "run2";
    p.scan.running = running;
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_int_equal(reported.failure, PLA_E_DCS_IN_USE);
    assert_true(entry_exists("run2", "log.csv"));
    memory_free(running);
}

/* ---- cabinets ---- */

static void packed_data_are_deleted(void **state)
{
    /* The report is the first file in the cabinet, for quick access. Cabinets are not packed. Neither is the mark,
       which is valid only for this folder. */
    static const char *const packed[] = {"report.xml", "files/copied.txt", "log.csv"};
    struct cabinet *c;
    (void)state;
    make_runs(2);
    write_of_run("run1/files/copied.txt", "r");
    put(root, "run1/another.cab", "r");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;run2 create cabinet;run2 delete data;");
    char *cabinet = path_join(root, "run1/run1.cab"), *late = path_join(root, "run1/late.csv");
    assert_int_equal(cabinet_open(cabinet, NULL, &c), S_OK);
    assert_int_equal(cabinet_count(c), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(cabinet_entry_at(c, i)->name, packed[i]);
    cabinet_close(c);
    assert_true(entry_exists("run1", "run1.cab") && entry_exists("run1", "report.xml"));
    assert_false(entry_exists("run1", "log.csv") || entry_exists("run1", "files") ||
                 entry_exists("run1", "~run1.cab.tmp"));
    assert_pass(&packs, ""); /* a cabinet with only the report does not replace it */
    /* Files that were created after the cabinet are not in it. */
    write_of_run("run1/late.csv", "late");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "late.csv");
    assert_true(entry_exists("run1", "late.csv"));
    /* A file is deleted if a file with the same name and contents is in the cabinet. */
    assert_int_equal(file_delete(late), S_OK);
    put(root, "run1/log.csv", "run1");
    assert_pass(&packs, "run1 delete data;");
    put(root, "run1/log.csv", "ran1");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "log.csv");
    assert_true(entry_exists("run1", "log.csv"));
    memory_free(late);
    memory_free(cabinet);
}

/* If a file cannot be packed, it is reported. The folder's data are kept until a limit requires that the folder is
   deleted. */
static void unpackable_log_is_kept(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/big.blg", "");
    char *path = path_join(root, "run1/big.blg");
    struct file *file;
    assert_int_equal(file_open(path, FILE_APPEND, &file), S_OK);
    assert_int_equal(file_set_size(file, CABINET_FILE_MAX + UINT64_C(1)), S_OK); /* a sparse file: occupies no space */
    file_close(file);
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "big.blg");
    assert_true(entry_exists("run1", "big.blg") && entry_exists("run1", "log.csv"));
    assert_false(entry_exists("run1", "run1.cab") || entry_exists("run1", "~run1.cab.tmp"));
    assert_pass(&one_folder, "run1 delete folder;");
    assert_false(entry_exists("run1", ""));
    memory_free(path);
}

static void send_destinations_are_validated(void **state)
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

/* A line that OpenPLA did not write is not a record. The records around it must still be read. */
static void invalid_records_are_ignored(void **state)
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
        cmocka_unit_test_setup_teardown(foreign_folders_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(existing_folder_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(folder_used_by_another_set_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(start_deletes_by_folder_count_only, begin, end),
        cmocka_unit_test_setup_teardown(recreated_set_does_not_own_earlier_folders, begin, end),
        cmocka_unit_test_setup_teardown(links_are_not_followed, begin, end),
        cmocka_unit_test_setup_teardown(files_not_created_by_runs_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(foreign_file_with_the_cabinet_name_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(empty_cabinet_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(inner_folder_of_another_set_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(marks_without_a_file_list, begin, end),
        cmocka_unit_test_setup_teardown(invalid_list_entries_are_ignored, begin, end),
        cmocka_unit_test_setup_teardown(mark_in_use_is_waited_for_only_once, begin, end),
        cmocka_unit_test_setup_teardown(full_list_is_reported, begin, end),
#ifndef _WIN32
        cmocka_unit_test(mounted_disks_are_excluded),
#endif
        cmocka_unit_test_setup_teardown(data_are_deleted_and_the_report_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(file_in_use_delays_deletion, begin, end),
        cmocka_unit_test_setup_teardown(externally_deleted_folders_are_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(single_folder_is_processed, begin, end),
        cmocka_unit_test_setup_teardown(packed_data_are_deleted, begin, end),
        cmocka_unit_test_setup_teardown(unpackable_log_is_kept, begin, end),
        cmocka_unit_test(send_destinations_are_validated),
        cmocka_unit_test(invalid_records_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
