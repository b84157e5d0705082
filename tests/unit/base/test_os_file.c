/* SPDX-License-Identifier: MIT */
/* Tests the file functions; an error here loses logs or definitions. */
#include "engine/base/clock.h"
#include "engine/base/os.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_link.h"

#ifndef _WIN32
#include <stdatomic.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static char *folder;

static char *in_folder(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static void open_modes(void **state)
{
    char *path = in_folder("modes.bin"), data[16];
    struct file *f;
    uint64_t size;
    size_t got;
    (void)state;
    assert_int_equal(file_open(path, FILE_READ, &f), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(f);
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)), "modes.bin"));
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &f), S_OK);
    assert_int_equal(file_write(f, "12345", 5), S_OK);
    assert_int_equal(file_write_at(f, 1, "xy", 2), S_OK);
    assert_int_equal(file_write(f, "67", 2), S_OK); /* appends at the end after a rewrite */
    assert_int_equal(file_read_at(f, 0, data, sizeof(data), &got), S_OK);
    assert_int_equal(got, 7);
    assert_memory_equal(data, "1xy4567", 7);
    file_close(f);
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &f), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    assert_int_equal(file_open(path, FILE_APPEND, &f), S_OK);
    assert_int_equal(file_write(f, "89", 2), S_OK);
    assert_int_equal(file_write_at(f, 0, "A", 1), S_OK);
    assert_int_equal(file_flush(f), S_OK);
    assert_int_equal(file_size(f, &size), S_OK);
    assert_int_equal(size, 9);
    assert_int_equal(file_set_size(f, 4), S_OK);
    assert_int_equal(file_write(f, "!", 1), S_OK);
    file_close(f);
    assert_int_equal(file_open(path, FILE_READ, &f), S_OK);
    assert_int_equal(file_read_at(f, 1, data, 16, &got), S_OK);
    assert_int_equal(got, 4);
    assert_memory_equal(data, "xy4!", 4);
    assert_int_equal(file_read_at(f, 100, data, 16, &got), S_OK);
    assert_int_equal(got, 0);
    assert_true(FAILED(file_write(f, "x", 1)));
    file_close(f);
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_size(f, &size), S_OK);
    assert_int_equal(size, 0);
    file_close(f);
    file_close(NULL);
    memory_free(path);
}

/* A growing log can be read, renamed and deleted by the owner's tools, but no other process can write to it. */
static void growing_log_is_shared(void **state)
{
    char *path = in_folder("growing.csv"), *moved = in_folder("moved.csv"), data[16];
    struct file *writer, *reader, *second;
    size_t got;
    (void)state;
    assert_int_equal(file_open(path, FILE_APPEND, &writer), S_OK);
    assert_int_equal(file_write(writer, "one", 3), S_OK);
    assert_int_equal(file_open(path, FILE_READ, &reader), S_OK);
    assert_int_equal(file_open(path, FILE_APPEND, &second), HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    assert_int_equal(file_open(path, FILE_REPLACE, &second), HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    assert_int_equal(file_open_wait(path, FILE_APPEND, 1, &second), HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    assert_int_equal(file_write(writer, "two", 3), S_OK);
    assert_int_equal(file_read_at(reader, 0, data, sizeof(data), &got), S_OK);
    assert_int_equal(got, 6);
    assert_memory_equal(data, "onetwo", 6);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(file_write(writer, "three", 5), S_OK);
    assert_int_equal(file_read_at(reader, 6, data, sizeof(data), &got), S_OK);
    assert_int_equal(got, 5);
    assert_int_equal(file_delete(moved), S_OK);
    assert_int_equal(file_write(writer, "four", 4), S_OK);
    file_close(reader);
    file_close(writer);
    assert_int_equal(file_open_wait(path, FILE_APPEND, 1, &writer), S_OK);
    file_close(writer);
    assert_int_equal(file_find(path), S_OK);
    assert_int_equal(file_find(moved), S_FALSE);
    assert_int_equal(file_find(folder), S_OK);
    assert_false(file_exists(moved));
    memory_free(moved);
    memory_free(path);
}

/* After a full disk the log ends with the last whole record, and the error text says that the disk is full. */
static void full_disk(void **state)
{
    const HRESULT full = HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    struct file *f;
#ifdef _WIN32
    const char *device = os_is_wine() ? "\\\\?\\unix\\dev\\full" : NULL;
#else
    const char *device = "/dev/full";
    struct rlimit unlimited, limit;
    char *path = in_folder("full.bin"), *text, record[600];
    uint64_t size;

    /* as on a full disk, the system writes the part that fits below the limit, and then fails */
    memset(record, 'r', sizeof(record));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    limit = unlimited;
    limit.rlim_cur = 1000;
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, record, sizeof(record)), S_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(file_write(f, record, sizeof(record)), full);
    assert_int_equal(file_size(f, &size), S_OK);
    assert_int_equal(size, sizeof(record));
    assert_int_equal(file_write_at(f, 500, record, sizeof(record)), full);
    assert_int_equal(file_size(f, &size), S_OK);
    assert_int_equal(size, sizeof(record));
    assert_int_equal(file_write(f, record, 100), S_OK);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    file_close(f);
    assert_int_equal(file_store(path, "old", 3), S_OK);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(file_store(path, memset(record, 'n', 600), 600), S_OK);
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(file_store(path,
                                "much longer than the limit allows, which is 100 bytes for this file and for "
                                "all others of this process",
                                101),
                     full);
    assert_non_null(strstr(error_text(full), path)); /* the error names the user's file, not the temporary one */
    setrlimit(RLIMIT_FSIZE, &unlimited);
    text = scratch_read(path); /* the previous contents are kept if a definition cannot be stored */
    assert_int_equal(strlen(text), 600);
    memory_free(text);
    struct texts names = {0};
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        assert_int_not_equal(names.items[i][0], '~'); /* no partial file is left on the full disk */
    texts_free(&names);
    memory_free(path);
#endif
    (void)state;
    if (device) {
        /* only one process of a Wine prefix writes at a time; another process of this test may have the device open */
        assert_int_equal(file_open_wait(device, FILE_APPEND, PATIENCE_MS, &f), S_OK);
        assert_int_equal(file_write(f, "record", 6), full);
        assert_non_null(strstr(error_text(full), "full"));
        file_close(f);
    }
}

static void store_replaces_the_whole_file(void **state)
{
    char *path = in_folder("stored.xml");
    struct texts names = {0};
    (void)state;
    assert_int_equal(file_store(path, "first", 5), S_OK);
    assert_int_equal(file_store(path, "2nd", 3), S_OK);
    char *text = scratch_read(path);
    assert_string_equal(text, "2nd");
    memory_free(text);
    for (uint64_t n = 1;; n++) {
        HRESULT hr;
        bool done;
        memory_fail_at(n);
        hr = file_store(path, "third", 5);
        done = memory_count() < n;
        memory_fail_at(0);
        if (done)
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        text = scratch_read(path);
        assert_string_equal(text, "2nd");
        memory_free(text);
    }
    /* no incomplete files are left beside it */
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        assert_false(text_matches("*.tmp", names.items[i]));
    texts_free(&names);
    memory_free(path);
    path = in_folder("no such folder/x");
    assert_int_equal(file_store(path, "x", 1), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND)), path));
    memory_free(path);
}

/* If another process deletes the temporary file (to clean up after killed writers), the call fails and stores
   nothing. */
static void store_fails_if_temporary_file_is_deleted(void **state)
{
    char *path = in_folder("taken.xml");
    struct texts names = {0};
    struct file_storing *storing;
    unsigned taken = 0;
    (void)state;
    assert_int_equal(file_store(path, "old", 3), S_OK);
    assert_int_equal(file_store_begin(path, "new", 3, &storing), S_OK);
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        char *temporary = text_matches("*.tmp", names.items[i]) ? in_folder(names.items[i]) : NULL;
        if (temporary && SUCCEEDED(file_delete(temporary)))
            taken++;
        memory_free(temporary);
    }
    assert_int_equal(taken, 1);
    HRESULT hr = file_store_end(storing);
    char *text = scratch_read(path);
    assert_string_equal(text, SUCCEEDED(hr) ? "new" : "old"); /* some systems keep an open file that was deleted */
    assert_true(SUCCEEDED(hr) || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    memory_free(text);
    assert_int_equal(file_store_begin(path, "new", 3, &storing), S_OK);
    assert_int_equal(file_store_drop(storing, E_FAIL), E_FAIL);
    text = scratch_read(path);
    assert_string_equal(text, SUCCEEDED(hr) ? "new" : "old");
    memory_free(text);
    texts_free(&names);
    memory_free(path);
}

/* A store must end in time, even if another process reads the file. It succeeds, except under Wine while the reader has
   the file open. */
static void store_ends_despite_a_reader(void **state)
{
    char *path = in_folder("read.xml");
    struct file *reader;
    (void)state;
    assert_int_equal(file_store(path, "old", 3), S_OK);
    assert_int_equal(file_open(path, FILE_READ, &reader), S_OK);
    uint64_t start = clock_monotonic_ms();
    HRESULT hr = file_store(path, "new", 3);
    assert_true(clock_monotonic_ms() - start < PATIENCE_MS);
    file_close(reader);
    char *text = scratch_read(path);
    /* Wine cannot replace a file while a process has it open. The call then waits, fails, and leaves the file
       unchanged. */
    assert_string_equal(text, SUCCEEDED(hr) ? "new" : "old");
#ifdef _WIN32
    if (FAILED(hr))
        assert_true(os_is_wine());
#else
    assert_int_equal(hr, S_OK);
#endif
    memory_free(text);
    assert_int_equal(file_store(path, "new", 3), S_OK);
    memory_free(path);
}

static void load_has_a_limit(void **state)
{
    char *path = in_folder("load.bin"), *text = NULL;
    size_t size = 1;
    (void)state;
    assert_int_equal(file_store(path, "0123456789", 10), S_OK);
    assert_int_equal(file_load(path, 10, &text, &size), S_OK);
    assert_int_equal(size, 10);
    assert_int_equal(text[10], 0);
    memory_free(text);
    assert_int_equal(file_load(path, 9, &text, &size), HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE));
    assert_null(text);
    assert_int_equal(size, 0);
    for (uint64_t n = 1;; n++) {
        HRESULT hr;
        bool done;
        memory_fail_at(n);
        hr = file_load(path, 100, &text, &size);
        done = memory_count() < n;
        memory_fail_at(0);
        if (done)
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_null(text);
    }
    memory_free(text);
    assert_int_equal(file_store(path, NULL, 0), S_OK);
    assert_int_equal(file_load(path, 0, &text, &size), S_OK);
    assert_string_equal(text, "");
    memory_free(text);
#ifndef _WIN32
    assert_int_equal(file_load("/proc/self/status", 1 << 20, &text, &size), S_OK); /* procfs reports the size 0 */
    assert_true(size > 100);
    memory_free(text);
#endif
    memory_free(path);
}

static void folders(void **state)
{
    char *deep = in_folder("a/b/c"), *a = in_folder("a"), *file = in_folder("a/file"), *below = in_folder("a/file/x");
    struct texts names = {0};
    struct file *f;
    char *text;
    size_t size;
    uint64_t bytes = 0;
    (void)state;
    assert_int_equal(folder_create(deep), S_OK);
    assert_int_equal(folder_create(deep), S_OK);
    assert_true(folder_exists(deep));
    assert_false(file_exists(deep));
    /* The result code is Windows' own; the message says that the path is a folder, so that the user does not search for
       a missing right. */
    assert_int_equal(file_load(deep, 100, &text, &size), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "' is a folder"));
    assert_int_equal(file_open(deep, FILE_REPLACE, &f), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "' is a folder"));
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_true(file_exists(file));
    assert_false(folder_exists(file));
    assert_int_equal(folder_create(file), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(folder_create(below), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(folder_delete(a), HRESULT_FROM_WIN32(ERROR_DIR_NOT_EMPTY));
    memory_free(file);
    file = in_folder("a/File2");
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(folder_list(a, false, &names), S_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "File2");
    assert_string_equal(names.items[1], "file");
    assert_int_equal(folder_list(a, true, &names), S_OK);
    assert_int_equal(names.count, 1);
    assert_string_equal(names.items[0], "b");
    assert_int_equal(folder_list(deep, false, &names), S_OK);
    assert_int_equal(names.count, 0);
    texts_free(&names);
    assert_int_equal(folder_list(below, false, &names), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    memory_free(below);
    below = in_folder("missing");
    assert_int_equal(folder_list(below, false, &names), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    assert_int_equal(file_delete(below), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(folder_free_bytes(a, &bytes), S_OK);
    assert_true(bytes > 0);
    memory_free(below);
    memory_free(file);
    memory_free(a);
    memory_free(deep);
}

/* Users nest folders more than 260 characters deep and name them in their own language. */
static void long_and_foreign_paths(void **state)
{
    struct text_buffer b = {0};
    struct texts names = {0};
    (void)state;
    text_buffer_add(&b, folder);
    for (int i = 0; i < 8; i++)
        text_buffer_add(&b, "/long folder name of forty characters ... x");
    char *deep = text_buffer_take(&b);
    assert_int_equal(folder_create(deep), S_OK);
    char *file = path_join(deep, "log.csv");
    assert_int_equal(file_store(file, "long", 4), S_OK);
    char *text = scratch_read(file);
    assert_string_equal(text, "long");
    assert_int_equal(folder_list(deep, false, &names), S_OK);
    assert_int_equal(names.count, 1);
    texts_free(&names);
    memory_free(text);
    memory_free(file);
    memory_free(deep);
    deep = in_folder("M\xC3\xBCnchen \xE2\x82\xAC");
    assert_int_equal(folder_create(deep), S_OK);
    assert_int_equal(folder_list(folder, true, &names), S_OK);
    assert_string_equal(names.items[0], "M\xC3\xBCnchen \xE2\x82\xAC");
    texts_free(&names);
    memory_free(deep);
}

static void lock_excludes_within_a_process(void **state)
{
    char *path = in_folder("x.lock"), *bad = in_folder("none/x.lock");
    struct file_lock *lock, *second;
    (void)state;
    assert_int_equal(file_lock_take(path, 0, &lock), S_OK);
    assert_int_equal(file_lock_take(path, 0, &second), HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION));
    assert_null(second);
    uint64_t start = clock_monotonic_ms();
    assert_int_equal(file_lock_take(path, 150, &second), HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION));
    assert_true(clock_monotonic_ms() - start >= 140);
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION)), "x.lock"));
    file_lock_release(lock);
    assert_int_equal(file_lock_take(path, 0, &lock), S_OK);
    /* The process with the lock can delete the file; the next one creates it again. */
    assert_int_equal(file_delete(path), S_OK);
    file_lock_release(lock);
    assert_false(file_exists(path));
    assert_int_equal(file_lock_take(path, 0, &lock), S_OK);
    file_lock_release(lock);
    file_lock_release(NULL);
    start = clock_monotonic_ms();
    assert_true(FAILED(file_lock_take(bad, PATIENCE_MS, &lock))); /* the folder does not exist, so waiting is useless */
    assert_true(clock_monotonic_ms() - start < PATIENCE_MS);
    memory_free(bad);
    memory_free(path);
}

/* A virus scanner, a backup or a user that reads the lock file must not block other processes. */
static void reader_of_lock_file_does_not_lock(void **state)
{
    char *path = in_folder("read.lock"), *text;
    struct file_lock *lock;
    struct file *reader;
    size_t size;
    (void)state;
    assert_int_equal(file_store(path, "x", 1), S_OK);
    assert_int_equal(file_open(path, FILE_READ, &reader), S_OK);
    assert_int_equal(file_lock_take(path, 0, &lock), S_OK);
    file_close(reader);
    assert_int_equal(file_load(path, 10, &text, &size), S_OK); /* the lock does not block readers either */
    assert_int_equal(size, 1);
    memory_free(text);
    file_lock_release(lock);
    memory_free(path);
}

static void assert_folder(const char *path, const char *expected_folder, const char *expected_name)
{
    char *text = path_folder(path);
    assert_string_equal(text, expected_folder);
    assert_string_equal(path_name(path), expected_name);
    memory_free(text);
}

static void assert_join(const char *a, const char *b, const char *expected)
{
    char *text = path_join(a, b);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void paths(void **state)
{
    (void)state;
#ifdef _WIN32
    assert_join("C:\\a", "b", "C:\\a\\b");
    assert_join("C:\\a/", "\\b", "C:\\a\\b");
    assert_join("C:\\", "b", "C:\\b");
    assert_folder("C:\\a\\b.csv", "C:\\a", "b.csv");
    assert_folder("C:\\a/b", "C:\\a", "b");
    assert_folder("C:\\a", "C:\\", "a");
    assert_folder("C:a", "C:", "a");
#else
    assert_join("/a", "b", "/a/b");
    assert_join("/a//", "/b", "/a/b");
    assert_join("/", "b", "/b");
    assert_folder("/a/b.csv", "/a", "b.csv");
    assert_folder("/a//b", "/a", "b");
    assert_folder("/a", "/", "a");
    assert_folder("a\\b", "", "a\\b");
#endif
    assert_join("", "b", "b");
    assert_join("a", "", "a");
    assert_join("", "", "");
    assert_folder("a", "", "a");
    assert_folder("a/", "a", "");
    assert_folder("", "", "");
    assert_string_equal(path_extension("a.b/c.csv"), ".csv");
    assert_string_equal(path_extension("a.b/c"), "");
    assert_string_equal(path_extension("a.b.c"), ".c");
    assert_string_equal(path_extension("x/.hidden"), "");
}

static const HRESULT leads_out = HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);

/* Returns "base/name". */
static char *below(const char *base, const char *name)
{
    char *path = text_format("%s/%s", base, name);
    assert_non_null(path);
    return path;
}

static HRESULT open_below(const char *base, const char *name, enum file_mode mode)
{
    char *path = below(base, name);
    struct file *f;
    HRESULT hr = file_open_below(base, path, mode, &f);
    if (SUCCEEDED(hr) && mode != FILE_READ)
        assert_int_equal(file_write(f, "!", 1), S_OK);
    if (FAILED(hr))
        assert_null(f);
    file_close(f);
    memory_free(path);
    return hr;
}

static void expect_text(const char *base, const char *name, const char *text)
{
    char *path = below(base, name), *found = scratch_read(path);
    assert_string_equal(found, text);
    memory_free(found);
    memory_free(path);
}

static void put(const char *base, const char *name, const char *text)
{
    char *path = below(base, name);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    memory_free(path);
}

/* A run must not overwrite another user's file, wherever a name or a link leads. */
static void nothing_is_accessed_outside_the_base(void **state)
{
    static const char *const out[] = {"../victim", "in/../../victim", "in/..", "...", ".. /x", "a:b", "C:x",
                                      "nul",       "in/Com1.csv"};
    static const char *const links[] = {"folder", "file", "second", "nowhere", "here"};
    static const enum file_mode modes[] = {FILE_READ, FILE_CREATE_NEW, FILE_REPLACE, FILE_APPEND};
    char *base = in_folder("base"), *outside = in_folder("outside"), *inside = below(base, "in");
    (void)state;
    assert_int_equal(folder_create(outside), S_OK);
    assert_int_equal(folder_create_below(folder, base), S_OK);
    assert_int_equal(folder_create_below(base, inside), S_OK);
    put(outside, "victim", "precious");
    scratch_link(base, "folder", "../outside", false);
    scratch_link(base, "file", "../outside/victim", false);
    scratch_link(base, "second", "../outside/victim", true);
    scratch_link(base, "nowhere", "../outside/new", false);
    scratch_link(base, "here", "in", false);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        for (size_t i = 0; i < sizeof out / sizeof *out; i++)
            assert_int_equal(open_below(base, out[i], modes[m]), E_INVALIDARG);
        HRESULT there = modes[m] == FILE_CREATE_NEW ? HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) : leads_out;
        assert_int_equal(open_below(base, "folder/victim", modes[m]), leads_out);
        assert_int_equal(open_below(base, "folder/new", modes[m]), leads_out);
        assert_int_equal(open_below(base, "file", modes[m]), there);
        if (modes[m] != FILE_READ)
            assert_int_equal(open_below(base, "second", modes[m]), there);
        assert_true(FAILED(open_below(base, "nowhere", modes[m])));
    }
    for (size_t i = 0; i < 2; i++) {
        char *path = below(base, i ? "folder/made" : "../made");
        assert_int_equal(folder_create_below(base, path), i ? leads_out : E_INVALIDARG);
        assert_int_equal(file_delete_below(base, path), i ? leads_out : E_INVALIDARG);
        assert_false(folder_exists(path));
        memory_free(path);
    }
    expect_text(outside, "victim", "precious");
    struct texts names = {0};
    assert_int_equal(folder_list(outside, false, &names), S_OK);
    assert_int_equal(names.count, 1);
    texts_free(&names);
    /* A link that stays inside the base is the user's decision. */
    assert_int_equal(open_below(base, "here/a", FILE_CREATE_NEW), S_OK);
    expect_text(inside, "a", "!");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        scratch_unlink(base, links[i]);
    memory_free(base);
    memory_free(outside);
    memory_free(inside);
}

/* Users can choose any root path, but it must be a folder: a service that opened a device or a pipe for a user could be
   harmed. */
static void root_path_must_be_a_folder(void **state)
{
    static const char *const good[] = {"C:\\PerfLogs",
                                       "c:",
                                       "c:\\",
                                       "/tmp/x",
                                       "\\\\server\\logs",
                                       "//s/d/x",
                                       "..\\up",
                                       "C:\\a\\..\\b",
                                       "\\\\?\\C:\\long",
                                       "\\\\?\\D:",
                                       "\\\\?\\UNC\\s\\d\\x",
                                       "",
                                       "C:\\consoles\\nulls",
                                       "\\\\server"};
    static const char *const bad[] = {"\\\\.\\PhysicalDrive0", "//./pipe/x",       "\\\\?\\GLOBALROOT\\Device\\Null",
                                      "\\\\?\\pipe\\x",        "\\\\?\\C",         "\\\\server\\pipe\\x",
                                      "\\\\?\\UNC\\s\\IPC$",   "\\\\.\\UNC\\s\\d", "//s/MailSlot/x",
                                      "C:\\a:stream",          "C:\\a\\NUL",       "C:\\aux.log\\x",
                                      "\\\\s\\d\\com1",        "C:D:\\x"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (path_root_fault(good[i]))
            fail_msg("%s: %s", good[i], path_root_fault(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!path_root_fault(bad[i]))
            fail_msg("%s is accepted", bad[i]);
}

#ifndef _WIN32
/* Attacks in the time between the check of a folder and the creation of a file in it. A thread repeatedly replaces a
   folder of the run with a link that leads out, and then restores the folder. */
static atomic_bool exchanging;

/* Moves away a file that the other thread created under the name `to`; it would block all later renames. */
static void remove_stray(const char *from, const char *to, unsigned *strays)
{
    while (rename(from, to) && atomic_load(&exchanging)) {
        char *stray = text_format("%s.%u", to, (*strays)++);
        rename(to, stray);
        memory_free(stray);
    }
}

static void *exchange(void *base)
{
    char *in = below(base, "in"), *kept = below(base, "kept"), *link = below(base, "link");
    unsigned strays = 0;
    while (atomic_load(&exchanging)) {
        if (!rename(in, kept)) { /* replaces the folder with a link, then restores the folder */
            remove_stray(link, in, &strays);
            rename(in, link);
            remove_stray(kept, in, &strays);
        }
    }
    memory_free(link);
    memory_free(kept);
    memory_free(in);
    return NULL;
}

/* A forked child keeps its parent's files open until it executes its program. Even so, a file that the parent closed
   must be free: the parent can open it again at once. */
static void closed_file_is_free_despite_forked_child(void **state)
{
    char *path = in_folder("inherited");
    struct file *f;
    (void)state;
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &f), S_OK);
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    file_close(f);
    const HRESULT hr = file_open(path, FILE_REPLACE, &f);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(hr, S_OK);
    file_close(f);
    memory_free(path);
}

static void replaced_folder_does_not_lead_outside(void **state)
{
    enum { TRIES = 3000 };
    char *base = in_folder("exchanged"), *outside = in_folder("elsewhere"), *inside = below(base, "in");
    struct texts names = {0};
    pthread_t thread;
    unsigned opened = 0, refused = 0;
    (void)state;
    assert_int_equal(folder_create(outside), S_OK);
    assert_int_equal(folder_create(inside), S_OK);
    scratch_link(base, "link", "../elsewhere", false);
    atomic_store(&exchanging, true);
    assert_int_equal(pthread_create(&thread, NULL, exchange, base), 0);
    /* Repeats until at least one call succeeded and one was refused. A busy machine needs more tries. */
    for (int i = 0; i < TRIES || ((opened == 0 || refused == 0) && i < 100 * TRIES); i++) {
        char *name = text_format("in/f%d/x", i), *place = text_format("%s/in/f%d", base, i);
        if (SUCCEEDED(folder_create_below(base, place)) && SUCCEEDED(open_below(base, name, FILE_REPLACE)))
            opened++;
        else
            refused++;
        memory_free(place);
        memory_free(name);
    }
    atomic_store(&exchanging, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(opened > 0 && refused > 0);
    for (int folders = 0; folders < 2; folders++) {
        assert_int_equal(folder_list(outside, folders, &names), S_OK);
        assert_int_equal(names.count, 0);
    }
    texts_free(&names);
    scratch_unlink(base, "link");
    memory_free(inside);
    memory_free(outside);
    memory_free(base);
}
#endif

/* Logs must be written and continued below an ordinary folder. */
static void files_below_a_base_are_written_and_continued(void **state)
{
    char *base = in_folder("good"), *deep = below(base, "a/b.c/d");
    (void)state;
    assert_int_equal(folder_create(base), S_OK);
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_CREATE_NEW), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(folder_create_below(base, deep), S_OK);
    assert_int_equal(folder_create_below(base, deep), S_OK);
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_READ), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_APPEND), S_OK);
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_APPEND), S_OK);
    expect_text(deep, "x", "!!");
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_CREATE_NEW), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    assert_int_equal(open_below(base, "a/./b.c//d/x", FILE_REPLACE), S_OK);
    expect_text(deep, "x", "!");
    assert_int_equal(open_below(base, "a/b.c/d/x", FILE_READ), S_OK);
    assert_int_equal(open_below(base, "null and void", FILE_REPLACE), S_OK);
    char *path = below(base, "a/b.c/d/x"), *blocked = below(base, "a/b.c/d/x/y");
    assert_int_equal(folder_create_below(base, blocked), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(file_delete_below(base, path), S_OK);
    assert_false(file_exists(path));
    memory_free(blocked);
    memory_free(path);
    memory_free(deep);
    memory_free(base);
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_os_file");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_modes),
        cmocka_unit_test(growing_log_is_shared),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(store_replaces_the_whole_file),
        cmocka_unit_test(store_fails_if_temporary_file_is_deleted),
        cmocka_unit_test(store_ends_despite_a_reader),
        cmocka_unit_test(load_has_a_limit),
        cmocka_unit_test(folders),
        cmocka_unit_test(long_and_foreign_paths),
        cmocka_unit_test(lock_excludes_within_a_process),
        cmocka_unit_test(reader_of_lock_file_does_not_lock),
        cmocka_unit_test(paths),
        cmocka_unit_test(nothing_is_accessed_outside_the_base),
        cmocka_unit_test(root_path_must_be_a_folder),
#ifndef _WIN32
        cmocka_unit_test(replaced_folder_does_not_lead_outside),
        cmocka_unit_test(closed_file_is_free_despite_forked_child),
#endif
        cmocka_unit_test(files_below_a_base_are_written_and_continued),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}
