/* SPDX-License-Identifier: MIT */
/* The event file: an error here would lose events that an administrator needs, or fill the disk. Also tests the folder
   watch, which informs readers of the event file about new events. */
#include "engine/base/clock.h"
#include "engine/base/folder.h"
#include "engine/base/quotas.h"
#include "engine/base/thread.h"
#include "engine/logs/journal.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#define FLOOD_ALLOWED "events=1000000;burst=1000000" /* for tests that write events without pauses */

static char *folder;

static int make_folder(void **state)
{
    *state = folder = scratch_create("event_file");
    return 0;
}

static struct journal_entry event(uint32_t id, const char *name)
{
    struct journal_entry e = {.utc = clock_utc(), .id = id, .level = JOURNAL_WARNING, .message = "what happened"};
    e.fields[e.count++] = (struct journal_field){"Name", name};
    return e;
}

/* Events are read in the order in which they were written, with every character that a name or reason can contain. */
static void events_are_read_as_written(void **state)
{
    static const char odd[] = "100% \xC3\xBC\ta=b\r\n\x01 \\x%41";
    struct journal_reader *r;
    struct journal_entry e = event(1004, odd), back;
    (void)state;
    e.fields[e.count++] = (struct journal_field){"Reason", ""};
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    assert_int_equal(journal_reader_next(r, &back), S_FALSE);
    assert_int_equal(journal_append(folder, &e), S_OK);
    assert_int_equal(journal_reader_next(r, &back), S_OK);
    assert_int_equal(back.id, 1004);
    assert_int_equal(back.level, JOURNAL_WARNING);
    assert_true(e.utc - back.utc >= 0 && e.utc - back.utc < 10000); /* to the millisecond */
    assert_string_equal(back.message, "what happened");
    assert_int_equal(back.count, 2);
    assert_string_equal(back.fields[0].name, "Name");
    assert_string_equal(back.fields[0].value, odd);
    assert_string_equal(back.fields[1].value, "");
    assert_int_equal(journal_reader_next(r, &back), S_FALSE);
    e.id = 1005;
    assert_int_equal(journal_append(folder, &e), S_OK);
    assert_int_equal(journal_reader_next(r, &back), S_OK);
    assert_int_equal(back.id, 1005);
    journal_reader_close(r);
}

/* Lines from a killed writer, a newer version or an editor must not hide other events. */
static void invalid_lines_hide_no_events(void **state)
{
    static const char *const lines =
        "torn\n\n2026-11-21T16:00:00.000Z\t5\t4\tok\tName=a\n2026-11-21T16:00:00.000Z\tx\t4\tm\n"
        "2026-13-21T16:00:00.000Z\t5\t4\tm\n2026-11-21T16:00:00.000Z\t5\t9\tm\n2026-11-21T16:00:00.000Z\t5\t4\tm\tno\n"
        "2026-11-21T16:00:00.000Z\t5\t4\t%0\n\xFF\xFE\n2026-11-21T16:00:00.000Z\t6\t4\tok\n2026-11-21T16:00:00.0";
    struct journal_reader *r;
    struct journal_entry back, e = event(7, "b");
    char *path = path_join(folder, "events-0000000001.log");
    (void)state;
    assert_int_equal(file_store(path, lines, strlen(lines)), S_OK);
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    assert_int_equal(journal_reader_next(r, &back), S_OK);
    assert_int_equal(back.id, 5);
    assert_int_equal(journal_reader_next(r, &back), S_OK);
    assert_int_equal(back.id, 6);
    assert_int_equal(journal_reader_next(r, &back), S_FALSE);
    assert_int_equal(journal_append(folder, &e), S_OK); /* starts on a new line after the incomplete one */
    assert_int_equal(journal_reader_next(r, &back), S_OK);
    assert_int_equal(back.id, 7);
    journal_reader_close(r);
    memory_free(path);
}

/* Years of events must not fill the disk, and a reader must keep its position when the files are rotated. */
static void file_size_is_limited_and_readers_follow_rotation(void **state)
{
    struct journal_reader *r;
    struct journal_entry back, e = event(1, "x");
    struct texts names = {0};
    char reason[2001];
    uint32_t read = 0;
    (void)state;
    memset(reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    e.fields[e.count++] = (struct journal_field){"Reason", reason};
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    for (e.id = 1; e.id <= 2200; e.id++) { /* 4.5 MB */
        assert_int_equal(journal_append(folder, &e), S_OK);
        if (e.id % 100 == 0)
            while (journal_reader_next(r, &back) == S_OK)
                assert_int_equal(back.id, ++read);
    }
    assert_int_equal(read, 2200);
    journal_reader_close(r);
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    assert_int_equal(names.count, 2);
    texts_free(&names);
    /* The newest events are kept. */
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    read = 0;
    while (journal_reader_next(r, &back) == S_OK) {
        assert_true(!read || back.id == read + 1);
        read = back.id;
    }
    assert_int_equal(read, 2200);
    journal_reader_close(r);
}

static void store_events(const char *file, const char *text, size_t size)
{
    char *path = path_join(folder, file);
    assert_int_equal(file_store(path, text, size), S_OK);
    memory_free(path);
}

static void expect_events(const uint32_t *ids)
{
    struct journal_reader *r;
    struct journal_entry back;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    for (; *ids; ids++) {
        assert_int_equal(journal_reader_next(r, &back), S_OK);
        assert_int_equal(back.id, *ids);
    }
    assert_int_equal(journal_reader_next(r, &back), S_FALSE);
    journal_reader_close(r);
}

/* The next rotation deletes a rotated file, so a writer that was idle for long must not write to one. */
static void idle_writer_follows_rotation(void **state)
{
    static const char line[] = "2026-11-21T16:00:00.000Z\t50\t4\tok\n";
    struct journal_entry e = event(1, "x");
    size_t size = 1u << 20;
    char *full = memory_alloc(size), *first = path_join(folder, "events-0000000001.log");
    (void)state;
    assert_int_equal(journal_append(folder, &e), S_OK);
    expect_events((const uint32_t[]){1, 0});
    assert_int_equal(file_delete(first), S_OK); /* simulates other writers that filled files 1 and 2 */
    store_events("events-0000000003.log", line, sizeof line - 1);
    e.id = 2;
    assert_int_equal(journal_append(folder, &e), S_OK);
    expect_events((const uint32_t[]){50, 2, 0});
    memset(full, '\n', size); /* file 3 is full but still exists; file 4 was filled and deleted */
    store_events("events-0000000003.log", full, size);
    store_events("events-0000000005.log", line, sizeof line - 1);
    e.id = 3;
    assert_int_equal(journal_append(folder, &e), S_OK);
    expect_events((const uint32_t[]){50, 3, 0});
    memory_free(first);
    memory_free(full);
}

static void append_many(void *id)
{
    struct journal_entry e = event(*(uint32_t *)id, "thread");
    e.utc = 0; /* journal_append sets the time */
    for (int i = 0; i < 100; i++)
        if (FAILED(journal_append(folder, &e)))
            abort();
}

/* If host processes exit at the same time, their events must not overlap. A reader must find them in the order of their
   times, even if a writer had to wait for the others. */
static void concurrent_writers_do_not_overlap(void **state)
{
    uint32_t ids[4] = {1, 2, 3, 4};
    size_t counts[5] = {0};
    struct thread *threads[4];
    struct journal_reader *r;
    struct journal_entry back;
    int64_t latest = clock_utc() / 10000 * 10000; /* times are in milliseconds */
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(thread_start(append_many, &ids[i], &threads[i]), S_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(thread_wait(threads[i], PATIENCE_MS));
        thread_close(threads[i]);
    }
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &back) == S_OK) {
        counts[back.id]++;
        assert_true(back.utc >= latest);
        latest = back.utc;
    }
    journal_reader_close(r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(counts[ids[i]], 100);
}

static void wake(void *watch)
{
    folder_watch_wake(watch);
}

/* If a watch missed a change, a set that another process commits would not be scheduled, or an event not displayed. */
static void watch_notices_changes(void **state)
{
    struct folder_watch *w;
    struct thread *t;
    char *file = path_join(folder, "a"), *missing = path_join(folder, "missing");
    (void)state;
    assert_true(FAILED(folder_watch_open(missing, &w)));
    assert_int_equal(folder_watch_open(folder, &w), S_OK);
    assert_int_equal(folder_watch_wait(w, 0), S_FALSE);
    assert_int_equal(folder_watch_wait(w, 100), S_FALSE);
    assert_int_equal(file_store(file, "1", 1), S_OK);
    assert_int_equal(folder_watch_wait(w, 5000), S_OK);
    while (folder_watch_wait(w, 300) == S_OK)
        ;
    assert_int_equal(file_store(file, "2", 1), S_OK); /* the file is replaced */
    assert_int_equal(folder_watch_wait(w, 5000), S_OK);
    while (folder_watch_wait(w, 300) == S_OK)
        ;
    assert_int_equal(file_delete(file), S_OK);
    assert_int_equal(folder_watch_wait(w, 5000), S_OK);
    while (folder_watch_wait(w, 300) == S_OK)
        ;
    assert_int_equal(thread_start(wake, w, &t), S_OK);
    assert_int_equal(folder_watch_wait(w, 5000), S_OK);
    assert_true(thread_wait(t, PATIENCE_MS));
    thread_close(t);
    assert_int_equal(folder_watch_wait(w, 0), S_FALSE);
    folder_watch_close(w);
    memory_free(missing);
    memory_free(file);
}

/* If a folder cannot be watched, the error contains its name, even if the watch has several folders. */
static void a_watch_names_the_folder_that_it_lost(void **state)
{
    struct folder_watch *w;
    char *first = path_join(folder, "first"), *second = path_join(folder, "second");
    (void)state;
    HRESULT hr = folder_watch_open(first, &w);
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), first));
#ifndef _WIN32 /* Wine does not report that a watched folder was deleted */
    assert_int_equal(folder_create(first), S_OK);
    assert_int_equal(folder_create(second), S_OK);
    assert_int_equal(folder_watch_open(first, &w), S_OK);
    assert_int_equal(folder_watch_add(w, second), S_OK);
    assert_int_equal(folder_delete(second), S_OK);
    while ((hr = folder_watch_wait(w, PATIENCE_MS)) == S_OK)
        ;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_non_null(strstr(error_text(hr), second));
    folder_watch_close(w);
    assert_int_equal(folder_delete(first), S_OK);
#endif
    memory_free(second);
    memory_free(first);
}

static uint64_t now_ms;
uint64_t __real_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void)
{
    return now_ms ? now_ms : __real_clock_monotonic_ms();
}

/* A client that causes thousands of events must not displace earlier events in the journal, and a reader must see that
   events are missing. */
static void events_of_a_flood_are_skipped_and_counted(void **state)
{
    struct journal_reader *r;
    struct journal_entry back, e = event(1, "flood");
    unsigned written = 0, reported = 0;
    (void)state;
    scratch_environment("OPENPLA_QUOTAS", "events=2;burst=10");
    assert_int_equal(quotas_read(), S_OK);
    now_ms = UINT64_C(1) << 40; /* long after all events so far: the full allowance is available */
    for (int i = 0; i < 5000; i++)
        assert_int_equal(journal_append(folder, &e), i < 10 ? S_OK : S_FALSE);
    now_ms += 499; /* just under half a second */
    assert_int_equal(journal_append(folder, &e), S_FALSE);
    now_ms += 1;
    e.id = 2;
    assert_int_equal(journal_append(folder, &e), S_OK);
    assert_int_equal(journal_append(folder, &e), S_FALSE);
    now_ms += UINT64_C(1) << 62; /* so long that a count or time could overflow */
    for (int i = 0; i < 11; i++)
        assert_int_equal(journal_append(folder, &e), i < 10 ? S_OK : S_FALSE);
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &back) == S_OK) {
        written += back.id != 9013;
        if (back.id == 9013 && back.count == 3) {
            assert_string_equal(back.fields[1].value, "2");
            reported += (unsigned)strtoul(back.fields[2].value, NULL, 10);
        }
    }
    journal_reader_close(r);
    assert_int_equal(written, 10 + 1 + 10);
    assert_int_equal(reported, 4991 + 1); /* each written event also reports the events skipped before it */
    now_ms = 0;
    scratch_environment("OPENPLA_QUOTAS", FLOOD_ALLOWED);
    assert_int_equal(quotas_read(), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_read_as_written, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(invalid_lines_hide_no_events, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(file_size_is_limited_and_readers_follow_rotation, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(idle_writer_follows_rotation, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(concurrent_writers_do_not_overlap, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(watch_notices_changes, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(a_watch_names_the_folder_that_it_lost, make_folder, scratch_end),
        cmocka_unit_test_setup_teardown(events_of_a_flood_are_skipped_and_counted, make_folder, scratch_end),
    };
    scratch_environment("OPENPLA_QUOTAS", FLOOD_ALLOWED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
