/* SPDX-License-Identifier: MIT */
/* A rename never replaces a file, on any file system. If it did, a cabinet could overwrite a file that a user created
   just before the rename. */
#include "engine/base/memory.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/rename_ways.h"
#include "tests/unit/scratch_folder.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

static char *folder;

static char *in_folder(const char *name)
{
    return path_join(folder, name);
}

static void put(const char *name, const char *text)
{
    char *path = in_folder(name), *in = path_folder(path);
    assert_int_equal(folder_create(in), S_OK);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    memory_free(in);
    memory_free(path);
}

static void assert_is(const char *name, const char *text)
{
    char *path = in_folder(name), *found = scratch_read(path);
    assert_string_equal(found, text);
    memory_free(found);
    memory_free(path);
}

static void assert_is_not(const char *name)
{
    char *path = in_folder(name);
    assert_int_equal(file_find(path), S_FALSE);
    memory_free(path);
}

static HRESULT rename_in_folder(const char *from, const char *to)
{
    char *old = in_folder(from), *new = in_folder(to);
    const HRESULT hr = file_rename_new(old, new);
    memory_free(new);
    memory_free(old);
    return hr;
}

static void select_rename_way(int way)
{
#ifndef _WIN32
    rename_way = (enum rename_way)way;
#else
    (void)way; /* Windows and Wine have only one way */
#endif
}

static int begin(void **state)
{
    *state = scratch_create("test_os_rename");
    folder = *state;
    return 0;
}

static void nothing_is_replaced(void **state)
{
    (void)state;
    const HRESULT there = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    for (int way = 0; way < WAYS; way++) {
        select_rename_way(way);
        put("a.txt", "a");
        assert_int_equal(rename_in_folder("a.txt", "b.txt"), S_OK);
        assert_is_not("a.txt");
        assert_is("b.txt", "a");
        put("c.txt", "mine");
        assert_int_equal(rename_in_folder("b.txt", "c.txt"), there);
        assert_non_null(strstr(error_text(there), "c.txt"));
        assert_is("c.txt", "mine");
        assert_is("b.txt", "a");
        put("run/log.csv", "log");
        assert_int_equal(rename_in_folder("run", "moved"), S_OK);
        assert_is_not("run");
        assert_is("moved/log.csv", "log");
        put("empty/x", "x");
        put("run/log.csv", "log");
        assert_int_equal(rename_in_folder("run", "moved"), there);
        assert_int_equal(rename_in_folder("run", "c.txt"), there);
        assert_int_equal(rename_in_folder("b.txt", "moved"), there);
        assert_is("run/log.csv", "log");
        assert_is("moved/log.csv", "log");
        assert_int_equal(rename_in_folder("nothing", "new.txt"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
        assert_is_not("new.txt");
        scratch_remove(folder);
        assert_int_equal(folder_create(folder), S_OK);
    }
    select_rename_way(WAY_RENAME);
}

#ifndef _WIN32
static enum rename_way comes_at;

static void create_competing_file(enum rename_way way)
{
    if (way == comes_at)
        put("run.cab", "mine");
}

/* A user creates the target file after the last check and before the rename. */
static void file_created_during_rename_is_kept(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int at = 0; at <= way && at < WAY_NAME; at++) {
            select_rename_way(way);
            put("~run.cab.tmp", "cabinet");
            rename_tried = create_competing_file;
            comes_at = (enum rename_way)at;
            assert_int_equal(rename_in_folder("~run.cab.tmp", "run.cab"), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
            rename_tried = NULL;
            assert_is("run.cab", "mine");
            assert_is("~run.cab.tmp", "cabinet");
            scratch_remove(folder);
            assert_int_equal(folder_create(folder), S_OK);
        }
    select_rename_way(WAY_RENAME);
}

/* If the rename fails, the file has either its old or its new name. Only a killed process can leave the file with both
   names, or leave an empty second file. */
static void file_survives_every_failure(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int end = 0; end < 2; end++) {
            bool met = true;
            select_rename_way(way);
            for (uint64_t n = 1; met; n++) {
                struct file_faults faults = {
                    .kind = end ? FAULT_END : FAULT_ONCE, .at = n, .hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE)};
                int status = 0;
                put("a.txt", "a");
                pid_t child = end ? fork() : 0;
                assert_true(child >= 0);
                if (!child) {
                    file_faults_begin(&faults);
                    const HRESULT hr = rename_in_folder("a.txt", "b.txt");
                    file_faults_end();
                    if (end)
                        _exit(0);
                    met = faults.met;
                    assert_int_equal(hr, met ? HRESULT_FROM_WIN32(ERROR_IO_DEVICE) : S_OK);
                    assert_is(met ? "a.txt" : "b.txt", "a");
                    assert_is_not(met ? "b.txt" : "a.txt");
                } else {
                    assert_int_equal(waitpid(child, &status, 0), child);
                    met = WIFSIGNALED(status);
                    assert_is(met ? "a.txt" : "b.txt", "a");
                }
                scratch_remove(folder);
                assert_int_equal(folder_create(folder), S_OK);
            }
        }
    select_rename_way(WAY_RENAME);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_replaced, begin, scratch_end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(file_created_during_rename_is_kept, begin, scratch_end),
        cmocka_unit_test_setup_teardown(file_survives_every_failure, begin, scratch_end),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
