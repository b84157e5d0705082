/* SPDX-License-Identifier: MIT */
/* A user who can define a set or write into its folder causes the set host process to write with the rights of the
   set's account. The process must write nothing outside the set's folder, and overwrite only logs. Definitions are put
   into the store directly, so that Start is tested with definitions that Commit would reject. */
#include "engine/base/file.h"
#include "engine/base/thread.h"
#include "tests/unit/patience.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_link.h"

#include <stdatomic.h>

#define CANARY "the contents of another user's file"

static char *walls, *root, *canary;

/* walls/canary.txt is beside walls/root, the set's folder. */
static int build(void **state)
{
    (void)state;
    walls = fixture_folder("walls");
    root = path_join(walls, "root");
    canary = path_join(walls, "canary.txt");
    assert_int_equal(folder_create(root), S_OK);
    assert_int_equal(file_store(canary, CANARY, strlen(CANARY)), S_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(walls);
    memory_free(walls);
    memory_free(root);
    memory_free(canary);
    return 0;
}

static void assert_nothing_outside(const char *what)
{
    struct texts files = {0}, folders = {0};
    assert_int_equal(folder_list(walls, false, &files), S_OK);
    assert_int_equal(folder_list(walls, true, &folders), S_OK);
    if (files.count != 1 || folders.count != 1)
        fail_msg("%s: something was created outside", what);
    texts_free(&files);
    texts_free(&folders);
    char *text = scratch_read(canary);
    if (strcmp(text, CANARY) != 0)
        fail_msg("%s: another user's file was overwritten", what);
    memory_free(text);
}

/* Starts the set, and stops it if it runs. */
static HRESULT try(const char *set_xml, const char *collector_xml)
{
    char *collector = text_format(CSV_EACH_SECOND ONE_COUNTER "%s", collector_xml);
    fixture_commit("attack", root, set_xml, collector);
    HRESULT hr = run_start(SPACE, "attack", true);
    if (SUCCEEDED(hr))
        assert_int_equal(run_stop(SPACE, "attack", true), S_OK);
    assert_int_equal(store_delete(&caller_self, SPACE, "attack"), S_OK);
    memory_free(collector);
    return hr;
}

static void names_outside_the_folder_are_rejected(void **state)
{
    static const struct {
        const char *set, *collector;
    } rows[] = {
        {"<Subdirectory>..</Subdirectory>", ""},
        {"<Subdirectory>..\\out</Subdirectory>", ""},
        {"<Subdirectory>../out</Subdirectory>", ""},
        {"<Subdirectory>a\\..\\..\\out</Subdirectory>", ""},
        {"<Subdirectory>\\out</Subdirectory>", ""},
        {"<Subdirectory>C:\\out</Subdirectory>", ""},
        {"<Subdirectory>\\\\nowhere.invalid\\share</Subdirectory>", ""},
        {"<Subdirectory>a:stream</Subdirectory>", ""},
        {"<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>\\.\\.\\\\out</"
         "SubdirectoryFormatPattern>",
         ""},
        {"<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>\\.\\.\\/out</"
         "SubdirectoryFormatPattern>",
         ""},
        {"<Subdirectory>.</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>\\.\\/"
         "\\.\\.\\/\\.\\.\\/out"
         "</SubdirectoryFormatPattern>",
         ""},
        {"<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>../\\o\\u\\t</"
         "SubdirectoryFormatPattern>",
         ""},
        {"<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>..</SubdirectoryFormatPattern>", ""},
        {"<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>..\\\\..</SubdirectoryFormatPattern>",
         ""},
        {"", "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>../1</FileNameFormatPattern>"},
        {"", "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>:1</FileNameFormatPattern>"},
        {"", "<FileName>..\\canary.txt</FileName><LogOverwrite>-1</LogOverwrite>"},
        {"", "<FileName>../canary.txt</FileName><LogOverwrite>-1</LogOverwrite>"},
        {"", "<FileName>..\\..\\walls\\out</FileName>"},
        {"", "<FileName>/etc/out</FileName>"},
        {"", "<FileName>\\\\?\\C:\\out</FileName>"},
        {"", "<FileName>name:stream</FileName>"},
        {"", "<FileName>CON</FileName>"},
        {"", "<FileName>nul.csv</FileName>"},
        {"", "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>\\.\\.\\/out</FileNameFormatPattern>"},
    };
    unsigned refused = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        HRESULT hr = try(rows[i].set, rows[i].collector);
        char *what = text_format("%s%s: 0x%08X", rows[i].set, rows[i].collector, (unsigned)hr);
        print_message("%s\n", what);
        assert_nothing_outside(what);
        refused += FAILED(hr);
        memory_free(what);
        scratch_remove(root);
        assert_int_equal(folder_create(root), S_OK);
    }
    /* The remaining entries either name files below the folder, or the XML reader reported and skipped them. */
    assert_true(refused >= 15);
}

/* An attacker who can write in the set's folder places a link where the next run writes. */
static void links_out_of_the_folder_are_rejected(void **state)
{
    (void)state;
    scratch_link(root, "sub", "..", false);
    assert_int_equal(try("<Subdirectory>sub</Subdirectory>", "<FileName>out</FileName>"),
                     HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME));
    assert_nothing_outside("a link in place of the folder");
    scratch_unlink(root, "sub");

    scratch_link(root, "out.csv", "../canary.txt", false);
    assert_true(FAILED(try("", "<FileName>out</FileName><LogOverwrite>-1</LogOverwrite>")));
    assert_nothing_outside("a link in place of the file");
    scratch_unlink(root, "out.csv");

    scratch_link(root, "out.csv", "../canary.txt", true);
    assert_true(FAILED(try("", "<FileName>out</FileName><LogOverwrite>-1</LogOverwrite>")));
    assert_nothing_outside("a second name of another's file");
    scratch_unlink(root, "out.csv");

    /* The link leads to a missing folder, which the set host process would create. */
    scratch_link(root, "out.csv", "../out", false);
    assert_true(FAILED(try("", "<FileName>out</FileName>")));
    assert_nothing_outside("a link to nothing");
    scratch_unlink(root, "out.csv");
}

/* The existing file is a log of another format, or the beginning of a program. It is kept, because only logs may be
   overwritten. */
static void existing_non_logs_are_kept(void **state)
{
    static const char *const contents[] = {"#!/bin/sh\n", "MZ\x90", "root:x:0:0:", "<html>", "\177ELF"};
    char *path = path_join(root, "out.csv");
    (void)state;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        assert_int_equal(file_store(path, contents[i], strlen(contents[i])), S_OK);
        assert_true(FAILED(try("", "<FileName>out</FileName><LogOverwrite>-1</LogOverwrite>")));
        char *text = scratch_read(path);
        assert_string_equal(text, contents[i]);
        memory_free(text);
    }
    memory_free(path);
}

#ifndef _WIN32
/* ---- between the check and the open ---- */

#define EXCHANGES 20000

static atomic_bool enough;

/* Alternates root/sub between a folder and a link that leads out. */
static void exchange(void *unused)
{
    char *sub = path_join(root, "sub"), *kept = path_join(root, "kept"), *link = path_join(root, "link");
    (void)unused;
    while (!atomic_load(&enough)) {
        rename(sub, kept);
        rename(link, sub);
        rename(sub, link);
        rename(kept, sub);
    }
    memory_free(sub);
    memory_free(kept);
    memory_free(link);
}

/* Between the check of a folder and the opening of a file in it, another process replaces the folder with a link. In a
   native build that process is fast enough to succeed sometimes. */
static void folder_replaced_between_check_and_open(void **state)
{
    struct thread *t;
    unsigned made = 0, refused = 0;
    char *sub = path_join(root, "sub"), *file = path_join(sub, "out.csv"), *over = path_join(sub, "canary.txt");
    (void)state;
    assert_int_equal(folder_create(sub), S_OK);
    scratch_link(root, "link", "..", false);
    atomic_store(&enough, false);
    assert_int_equal(thread_start(exchange, NULL, &t), S_OK);
    for (int i = 0; i < EXCHANGES; i++) {
        struct file *f = NULL;
        const bool fresh = i % 2;
        HRESULT hr = file_open_below(root, fresh ? file : over, fresh ? FILE_CREATE_NEW : FILE_REPLACE, &f);
        if (SUCCEEDED(hr)) {
            made++;
            assert_int_equal(file_write(f, "x", 1), S_OK);
            file_close(f);
            file_delete_below(root, file);
        } else {
            refused += hr == HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);
        }
        file_delete_below(root, over);
    }
    atomic_store(&enough, true);
    assert_true(thread_wait(t, PATIENCE_MS));
    thread_close(t);
    print_message("%u opened, %u rejected because they led out\n", made, refused);
    assert_true(made && refused); /* both cases must occur; otherwise the race was not tested */
    unlink(sub);
    unlink(file);
    char *link = path_join(root, "link");
    unlink(link);
    memory_free(link);
    assert_nothing_outside("a folder that is exchanged");
    memory_free(sub);
    memory_free(file);
    memory_free(over);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_outside_the_folder_are_rejected, build, tear_down),
        cmocka_unit_test_setup_teardown(links_out_of_the_folder_are_rejected, build, tear_down),
        cmocka_unit_test_setup_teardown(existing_non_logs_are_kept, build, tear_down),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(folder_replaced_between_check_and_open, build, tear_down),
#endif
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
