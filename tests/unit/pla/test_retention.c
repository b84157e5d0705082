/* SPDX-License-Identifier: MIT */
/* Retention in real folders. A failure here deletes a user's own folders. */
#include "engine/base/file.h"
#include "engine/pla/cabinet.h"
#include "engine/pla/retention/plan.h"
#include "retention_fixture.h"
#include "tests/unit/scratch_link.h"

static struct retention_action delete_data[] = {{.actions = ACTION_DELETE_DATA}};
static const struct retention_policy deletes = {.actions = delete_data, .action_count = 1};

/* A process that is interrupted while the cabinet gets its name may leave an empty one, which must not prevent a
   complete one. */
static void an_empty_cabinet_is_none(void **state)
{
    (void)state;
    make_runs(1);
    write_of_run("run1/run1.cab", "");
    assert_pass(&packs, "run1 create cabinet;run1 delete data;");
    make_run("run2", 2);
    put(root, "run2/run2.cab", ""); /* a user's, which is not named */
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "run2.cab");
    assert_true(is_there("run2", "run2.cab") && is_there("run2", "log.csv"));
}

/* ---- owners of folders ---- */

/* KB 2916994: logs were saved into a folder with other things in it, and all of them were deleted. */
static void what_is_not_the_sets_stays(void **state)
{
    (void)state;
    put(root, "photos/1999/a.jpg", "a");
    put(root, "letter.txt", "b");
    put(root, "empty/x", "c");
    make_runs(4);
    /* One that someone has renamed, one that he has copied with all that is in it, one without its mark. */
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

/* A folder that existed before the run, under the name that the run uses. */
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

/* A run of another set writes into a folder of this one's, as they have one RootPath. */
static void another_set_writes_into_it(void **state)
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
    assert_true(is_there("run1", "of the other.csv"));
    /* A file that only has the mark's name is a user's. */
    put(root, "mine/openpla.run", "mine");
    assert_int_equal(folder_leave(root, "mine"), S_FALSE);
    assert_true(is_there("mine", "openpla.run"));
}

/* A start does not check MaxSize (MS-PLA 3.2.4.2); with one allowed folder the newest counts. */
static void room_before_a_start(void **state)
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

/* The set is deleted and created again: the folders of the first set's runs do not belong to the second set. */
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

/* A link is not followed, whether it replaces a folder or is inside one. */
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
    struct reported reported;
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run2 delete folder;run3 delete folder;");
    assert_int_equal(reported.failure, HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME)); /* run1 */
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.kept, 1);
    assert_string_equal(reported.first_kept, "in");
    assert_true(is_there("outside", "precious.txt") && is_there("run2", "in/precious.txt"));
    scratch_unlink(run2, "in");
    scratch_unlink(root, "run1");
    /* A link in place of a run's file: Wine does not report it as a link, so the folder stays. */
    char *run4 = path_join(root, "run4"), *log = path_join(run4, "log.csv");
    assert_int_equal(file_delete(log), S_OK);
    scratch_link(run4, "log.csv", "../outside/precious.txt", false);
    make_run("run5", 5);
    assert_int_equal(pass(&one_folder, &reported), S_OK);
    text_buffer_free(&reported.steps);
    assert_true(is_there("outside", "precious.txt"));
    if (is_there("run4", "log.csv"))
        scratch_unlink(run4, "log.csv");
    memory_free(log);
    memory_free(run4);
    memory_free(moved);
    memory_free(run2);
    memory_free(text);
    memory_free(mark1);
    memory_free(run1);
}

/* The users' worst story (KB 2916994), within a run's folder: notes and foreign folders survive every deletion, and the
   events name them. */
static void what_no_run_has_made_stays(void **state)
{
    (void)state;
    struct reported reported;
    make_runs(4);
    put(root, "run1/notes.txt", "mine");
    put(root, "run1/mine/deep/picture.jpg", "mine");
    write_of_run("run1/Files_0001/copied.txt", "r");
    put(root, "run1/Files_0001/notes.txt", "mine");
    put(root, "run2/notes.txt", "mine");
    put(root, "run3/report.html", "mine"); /* with a name that a run could create, but no run did */
    put(root, "run3/run3.cab", "mine");
    assert_int_equal(pass(&deletes, &reported), S_OK);
    assert_string_equal(reported.steps.text, "run1 delete data;run2 delete data;run3 delete data;");
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failure, S_OK);
    assert_int_equal(reported.kept, 6);
    assert_true(is_there("run1", "notes.txt") && is_there("run1", "mine/deep/picture.jpg"));
    assert_true(is_there("run1", "Files_0001/notes.txt") && !is_there("run1", "Files_0001/copied.txt"));
    assert_true(is_there("run3", "run3.cab") && !is_there("run3", "log.csv"));
    struct retention_action rest[] = {{.actions = ACTION_DELETE_CABINET | ACTION_DELETE_REPORT}};
    assert_int_equal(pass(&(struct retention_policy){.actions = rest, .action_count = 1, .most_folders = 1}, &reported),
                     S_OK);
    text_buffer_free(&reported.steps);
    assert_int_equal(reported.failure, S_OK);
    assert_true(is_there("run3", "report.html") && is_there("run3", "run3.cab") && is_there("run2", "notes.txt"));
    assert_true(is_there("run1", "notes.txt") && is_there("run1", "Files_0001/notes.txt"));
    assert_false(is_there("run1", "report.xml") || is_there("run1", FOLDER_MARK) || is_there("run2", FOLDER_MARK));
    assert_pass(&one_folder, ""); /* they are without an owner now, and count no more */
}

/* Nor is a file that has the cabinet's name replaced by the cabinet; what would be in that stays. */
static void a_file_with_the_cabinets_name(void **state)
{
    (void)state;
    make_runs(2);
    put(root, "run1/run1.cab", "mine");
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "run1.cab");
    char *path = path_join(root, "run1/run1.cab"), *text = scratch_read(path);
    assert_string_equal(text, "mine");
    assert_true(is_there("run1", "log.csv") && !is_there("run1", "~run1.cab.tmp"));
    memory_free(text);
    memory_free(path);
}

/* The folder of another set's run lies in it. */
static void another_sets_folder_in_it(void **state)
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
    /* Even where the outer list names it, as before the inner folder was another's. */
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
    assert_true(is_there("run1", "inner/log.csv") && is_there("run1", "inner/openpla.run"));
    assert_false(is_there("run1", "log.csv"));
    memory_free(more);
    memory_free(text);
    memory_free(mark);
    memory_free(log);
    memory_free(run1);
    memory_free(inner);
}

/* Marks without a list are from an older version. The files of runs in such a folder are unknown. */
static void marks_without_a_list(void **state)
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
    assert_true(is_there("run1", "log.csv") && is_there("run1", "report.xml"));
    assert_false(is_there("run1", FOLDER_MARK));
    memory_free(text);
    memory_free(mark);
}

/* Lists with truncated lines, with names of several files, and with invalid names. */
static void lists_of_names(void **state)
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
    /* The next name is not put behind the half of one, nor does that half become the name of a file: a full disk has
       cut "half a log.csv", and "half" is a user's. */
    write_of_run("run1/next.csv", "r");
    assert_int_equal(run_files_read(f, &files), S_OK);
    assert_true(run_files_have(&files, "next.csv"));
    assert_false(run_files_have(&files, "half") || run_files_have(&files, "half\x18"));
    run_files_free(&files);
    held_folder_close(f);
    /* An existing file is not the run's, and a name must not become two lines. */
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

/* A backup has the mark open: a copy of a thousand files waits for it once, and not for each. */
static void a_mark_that_is_held_is_waited_for_once(void **state)
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
    assert_true(tries - before <= 2); /* one may be two of the system's */
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

/* The list of files is limited. Files that are not in it are never deleted, so the run reports them. */
static void a_list_that_is_full(void **state)
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

/* A disk mounted in a run's folder is not part of it, as /proc is not part of the root. */
static void mounted_disks_are_no_part(void **state)
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

static void data_are_deleted_and_their_report_stays(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/report.html", "r");
    write_of_run("run1/rules.log", "r");
    write_of_run("run1/files/copied.txt", "r");
    write_of_run("run1/run1.cab", "c");
    put(root, "run1/of others.cab", "c");
    assert_pass(&deletes, "run1 delete data;");
    assert_true(is_there("run1", "report.xml") && is_there("run1", "report.html") && is_there("run1", "run1.cab"));
    assert_true(is_there("run1", "of others.cab") && is_there("run1", FOLDER_MARK));
    assert_false(is_there("run1", "log.csv") || is_there("run1", "rules.log") || is_there("run1", "files"));
    assert_true(is_there("run2", "log.csv"));
    assert_pass(&deletes, ""); /* again on a folder that is done */
    struct retention_action rest[] = {{.actions = ACTION_DELETE_CABINET | ACTION_DELETE_REPORT}};
    const struct retention_policy policy = {.actions = rest, .action_count = 1};
    /* The folder then has no owner, and stays with its contents. */
    assert_pass(&policy, "run1 delete cabinet;run1 delete report;run1 delete folder;");
    assert_true(is_there("run1", "of others.cab"));
    assert_false(is_there("run1", FOLDER_MARK));
    assert_pass(&policy, "");
}

static void a_file_in_use(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/other.csv", "a");
    char *path = path_join(root, "run1/log.csv");
    struct file *writing;
    assert_int_equal(file_open(path, FILE_APPEND, &writing), S_OK);
    assert_pass_fails(&one_folder, HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "log.csv");
    assert_true(is_there("run1", "log.csv") && is_there("run1", FOLDER_MARK));
    file_close(writing);
    /* A deletion that has begun is completed, even if the limits have changed. */
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
    /* The disk does not exist at all: without an owner records are lost. */
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
    assert_true(is_there("mine", "x"));
    char *running = path_join(root, "run2");
    p.only = "run2";
    p.scan.running = running;
    assert_int_equal(retention_pass_run(&p), S_OK);
    assert_int_equal(reported.failure, PLA_E_DCS_IN_USE);
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
    write_of_run("run1/files/copied.txt", "r");
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
    /* Files that were added later are in no cabinet. */
    write_of_run("run1/late.csv", "late");
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

/* Files that cannot be packed are reported and kept, with everything beside them, until a limit removes the folder. */
static void a_log_that_no_cabinet_holds(void **state)
{
    (void)state;
    make_runs(2);
    write_of_run("run1/big.blg", "");
    char *path = path_join(root, "run1/big.blg");
    struct file *file;
    assert_int_equal(file_open(path, FILE_APPEND, &file), S_OK);
    assert_int_equal(file_set_size(file, CABINET_FILE_MAX + UINT64_C(1)), S_OK); /* takes no room */
    file_close(file);
    assert_pass_fails(&packs, PLA_E_CABAPI_FAILURE, "big.blg");
    assert_true(is_there("run1", "big.blg") && is_there("run1", "log.csv"));
    assert_false(is_there("run1", "run1.cab") || is_there("run1", "~run1.cab.tmp"));
    assert_pass(&one_folder, "run1 delete folder;");
    assert_false(is_there("run1", ""));
    memory_free(path);
}

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

/* A line that was not written by us is not a record, and hides no other. */
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
        cmocka_unit_test_setup_teardown(another_set_writes_into_it, begin, end),
        cmocka_unit_test_setup_teardown(room_before_a_start, begin, end),
        cmocka_unit_test_setup_teardown(another_set_of_that_name, begin, end),
        cmocka_unit_test_setup_teardown(links_lead_nowhere, begin, end),
        cmocka_unit_test_setup_teardown(what_no_run_has_made_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_file_with_the_cabinets_name, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_cabinet_is_none, begin, end),
        cmocka_unit_test_setup_teardown(another_sets_folder_in_it, begin, end),
        cmocka_unit_test_setup_teardown(marks_without_a_list, begin, end),
        cmocka_unit_test_setup_teardown(lists_of_names, begin, end),
        cmocka_unit_test_setup_teardown(a_mark_that_is_held_is_waited_for_once, begin, end),
        cmocka_unit_test_setup_teardown(a_list_that_is_full, begin, end),
#ifndef _WIN32
        cmocka_unit_test(mounted_disks_are_no_part),
#endif
        cmocka_unit_test_setup_teardown(data_are_deleted_and_their_report_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_file_in_use, begin, end),
        cmocka_unit_test_setup_teardown(folders_vanish, begin, end),
        cmocka_unit_test_setup_teardown(one_folder_alone, begin, end),
        cmocka_unit_test_setup_teardown(data_that_are_in_a_cabinet_go, begin, end),
        cmocka_unit_test_setup_teardown(a_log_that_no_cabinet_holds, begin, end),
        cmocka_unit_test(where_cabinets_may_go),
        cmocka_unit_test(records_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
