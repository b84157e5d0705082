/* SPDX-License-Identifier: MIT */
/* Session files: the distribution of buffers to files, the headers, and continued files. tests/golden reads the files
   with a reader that shares no code with them. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/etw/session/session_output.h"
#include "tests/unit/log_events.h"
#include "tests/unit/session_fixture.h"
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

enum { BUFFER_SIZE = ETL_SMALLEST_BUFFER, SEQUENTIAL = 1, CIRCULAR = 2, APPEND = 4, NEWFILE = 8, PREALLOCATE = 0x20 };

#define PATH "test_etw_session_file.tmp"

static const uint64_t none_reported[2];

static struct etl_log log_of(uint32_t clock)
{
    return (struct etl_log){.buffer_size = BUFFER_SIZE,
                            .version_major = 10,
                            .processors = 2,
                            .mode = SEQUENTIAL,
                            .frequency = 10000000,
                            .boot_utc = INT64_C(132590000000000000),
                            .start_utc = INT64_C(132590000000000000),
                            .start_stamp = clock == ETL_CLOCK_SYSTEM ? INT64_C(132590000000000000) : 1000,
                            .clock = clock,
                            .logger_name = "session"};
}

static struct session_file_options options_of(uint32_t mode, uint64_t buffers)
{
    return (struct session_file_options){
        .path = PATH, .mode = mode, .maximum = buffers * BUFFER_SIZE, .log = log_of(ETL_CLOCK_TICKS)};
}

static struct session_file *create(const struct session_file_options *options)
{
    struct session_file *f;
    const HRESULT hr = session_file_create(options, &f);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return f;
}

/* Writes a buffer that contains only the event with this number, `ticks` after the start. */
static HRESULT write_one(struct session_file *f, uint64_t number, uint16_t processor, int64_t ticks)
{
    static uint8_t bytes[BUFFER_SIZE];
    const struct session_writer w = {.owner = 1};
    event_fill(bytes + ETL_BUFFER_HEAD, &w, (uint64_t)ticks, number);
    put_u64(bytes + ETL_BUFFER_HEAD, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    const struct etl_buffer_header head = {
        .time = ticks, .sequence = number, .processor = processor, .used = ETL_BUFFER_HEAD + EVENT_BYTES};
    return session_file_write(f, &head, bytes);
}

struct content {
    uint32_t events, buffers_written, events_lost, buffers_lost;
    uint64_t first, last; /* numbers of the first and the last event */
    int64_t end_utc;
};
/* Reads the whole file, and checks that the numbers increase by one. */
static struct content content_of(const char *path)
{
    struct content c = {0};
    struct etl_reader *reader;
    struct etl_record record;
    HRESULT hr = etl_reader_open(path, keep_warning, NULL, &reader);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    const struct etl_log *log = etl_reader_log(reader);
    c.buffers_written = log->buffers_written;
    c.events_lost = log->events_lost;
    c.buffers_lost = log->buffers_lost;
    c.end_utc = log->end_utc;
    while ((hr = etl_reader_next(reader, &record)) == S_OK) {
        uint64_t writer = 0, number = 0;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(event_check(record.event, record.size, &writer, &number));
        if (c.events++ == 0)
            c.first = number;
        else
            assert_int_equal(number, c.last + 1);
        c.last = number;
    }
    assert_int_equal(hr, S_FALSE);
    etl_reader_close(reader);
    return c;
}

static int remove_files(void **state)
{
    static const char *const names[] = {PATH, PATH ".1", PATH ".2", PATH ".3"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)file_delete(names[i]);
    return 0;
}

static void sequential_file_ends_at_its_maximum_size(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(SEQUENTIAL, 5);
    struct session_file *f = create(&options);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
    assert_int_equal(write_one(f, 5, 0, 1005), S_FALSE);
    session_file_lost(f, 2, 1);
    session_file_lost(f, 7, 3);
    const int64_t end = options.log.start_utc + 5000;
    assert_int_equal(session_file_close(f, end), S_OK);
    const struct content c = content_of(PATH);
    assert_int_equal(c.events, 4);
    assert_int_equal(c.buffers_written, 5);
    assert_int_equal(c.events_lost, 7);
    assert_int_equal(c.buffers_lost, 3);
    assert_true(c.end_utc == end);
}

static void circular_file_keeps_header_and_newest_events(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(CIRCULAR, 6);
    struct session_file *f = create(&options);
    for (uint64_t i = 1; i <= 23; i++)
        assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const struct content c = content_of(PATH);
    assert_int_equal(c.events, 5);
    assert_int_equal(c.last, 23);
    assert_int_equal(c.buffers_written, 6);
}

static void new_file_starts_at_maximum_size_or_on_request(void **state)
{
    (void)state;
    struct session_file_options options = options_of(NEWFILE, 4);
    options.path = PATH ".%d";
    struct session_file *f = create(&options);
    for (uint64_t i = 1; i <= 5; i++)
        assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
    assert_int_equal(session_file_number(f), 2);
    session_file_lost(f, 4, 0);
    assert_int_equal(session_file_next(f), S_OK);
    assert_int_equal(write_one(f, 6, 0, 1006), S_OK);
    session_file_lost(f, 5, 0);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const struct content one = content_of(PATH ".1"), two = content_of(PATH ".2"), three = content_of(PATH ".3");
    assert_int_equal(one.events, 3);
    assert_int_equal(two.events, 2);
    assert_int_equal(three.first, 6);
    assert_int_equal(one.events_lost, 0);
    assert_int_equal(two.events_lost, 4);
    assert_int_equal(three.events_lost, 1);
}

/* Users find the file for a given time by its start time. A timestamp means the same time in all files of a session. */
static void each_file_has_its_start_time(void **state)
{
    (void)state;
    struct session_file_options options = options_of(NEWFILE, 4);
    struct etl_reader *reader[2];
    options.path = PATH ".%d";
    assert_int_equal(session_log_of_host(ETL_CLOCK_TICKS, &options.log), S_OK);
    options.log.buffer_size = BUFFER_SIZE;
    options.log.start_stamp -= 5 * options.log.frequency; /* it started five seconds ago */
    options.log.start_utc -= 50000000;
    struct session_file *f = create(&options);
    assert_int_equal(session_file_next(f), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_int_equal(etl_reader_open(PATH ".1", NULL, NULL, &reader[0]), S_OK);
    assert_int_equal(etl_reader_open(PATH ".2", NULL, NULL, &reader[1]), S_OK);
    const struct etl_log *one = etl_reader_log(reader[0]), *two = etl_reader_log(reader[1]);
    assert_true(one->start_utc == options.log.start_utc);
    assert_true(two->start_utc >= one->start_utc + 50000000);
    assert_in_range(etl_log_utc(one, two->start_stamp) - two->start_utc + 1, 0, 2);
    etl_reader_close(reader[0]);
    etl_reader_close(reader[1]);
    etl_log_free(&options.log);
}

/* A host process may be killed while it creates the next file. Until the process is gone, that file remains open, so
   another name is used. */
static void a_file_that_is_in_use_is_skipped(void **state)
{
    (void)state;
    struct session_file_options options = options_of(NEWFILE, 4);
    struct file *in_use;
    options.path = PATH ".%d";
    struct session_file *f = create(&options);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_int_equal(file_open(PATH ".2", FILE_REPLACE, &in_use), S_OK);
    assert_int_equal(session_file_continue(&options, 1, none_reported, &f), S_OK);
    assert_int_equal(write_one(f, 4, 0, 1004), S_OK);
    assert_int_equal(session_file_number(f), 3);
    assert_int_equal(session_file_close(f, 0), S_OK);
    file_close(in_use);
    assert_int_equal(content_of(PATH ".1").events, 3);
    assert_int_equal(content_of(PATH ".3").first, 4);
}

static void only_newfile_mode_starts_next_files(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(SEQUENTIAL, 0);
    struct session_file *f = create(&options);
    assert_int_equal(session_file_next(f), S_FALSE);
    assert_int_equal(session_file_close(f, 0), S_OK);
}

static uint64_t size_of(const char *path)
{
    struct file *file;
    uint64_t size;
    assert_int_equal(file_open(path, FILE_READ, &file), S_OK);
    assert_int_equal(file_size(file, &size), S_OK);
    file_close(file);
    return size;
}

static void space_is_preallocated_and_released(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(SEQUENTIAL | PREALLOCATE, 50);
    struct session_file *f = create(&options);
    assert_true(size_of(PATH) == 50 * BUFFER_SIZE);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
    assert_int_equal(session_file_flush(f), S_OK);
    assert_true(size_of(PATH) == 50 * BUFFER_SIZE);
    assert_int_equal(content_of(PATH).events, 4);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_true(size_of(PATH) == 5 * BUFFER_SIZE);
    assert_int_equal(content_of(PATH).events, 4);
    struct session_file_options large = options;
    large.maximum = UINT64_C(1) << 60;
    assert_int_equal(session_file_create(&large, &f), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
}

static void file_is_continued(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(APPEND, 0);
    struct session_file *f = create(&options);
    assert_int_equal(session_file_first_number(f), 1);
    assert_int_equal(write_one(f, 1, 0, 1001), S_OK);
    session_file_lost(f, 2, 0);
    assert_int_equal(session_file_close(f, 0), S_OK);
    f = create(&options);
    assert_int_equal(session_file_first_number(f), 2);
    session_file_lost(f, 3, 0);
    assert_int_equal(write_one(f, 2, 1, 1002), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const struct content c = content_of(PATH);
    assert_int_equal(c.events, 2);
    assert_int_equal(c.events_lost, 5);
    assert_int_equal(c.buffers_written, 3);
}

static void file_without_events_is_continued(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(APPEND, 0);
    struct session_file *f = create(&options);
    assert_int_equal(session_file_close(f, 0), S_OK);
    f = create(&options);
    assert_int_equal(write_one(f, 1, 0, 1001), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_int_equal(content_of(PATH).events, 1);
}

static void another_file_is_not_appended_to(void **state)
{
    (void)state;
    struct session_file_options options = options_of(APPEND, 0), other[4];
    struct session_file *f = create(&options);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const uint64_t size = size_of(PATH);
    for (size_t i = 0; i < 4; i++)
        other[i] = options;
    other[0].log.buffer_size = 2 * BUFFER_SIZE;
    other[1].log.processors = 3;
    other[2].log.clock = ETL_CLOCK_SYSTEM;
    other[3].log.boot_utc += INT64_C(600) * 10000000;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(session_file_create(&other[i], &f), HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER));
        assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER)), PATH));
    }
    assert_true(size_of(PATH) == size);
    assert_int_equal(file_store(PATH, "no log", 6), S_OK);
    assert_int_equal(session_file_create(&options, &f), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
}

/* Truncates the file, as if a host process had been killed while it wrote a buffer. */
static void cut_to(uint64_t bytes)
{
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_APPEND, &file), S_OK);
    assert_int_equal(file_set_size(file, bytes), S_OK);
    file_close(file);
}

static void a_file_of_a_killed_host_is_continued(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(SEQUENTIAL, 0);
    struct session_file *f = create(&options);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(write_one(f, i, (uint16_t)(i % 2), 1000 + (int64_t)i), S_OK);
    session_file_lost(f, 4, 1);
    assert_int_equal(session_file_close(f, 0), S_OK);
    cut_to(4 * BUFFER_SIZE + 100); /* the fourth buffer is incomplete */
    static const uint64_t reported[2] = {4, 1};
    struct session_file_options later = options; /* the host OS's clock was set since then, so its boot time seems
                                                    different */
    later.log.boot_utc += INT64_C(600) * 10000000;
    assert_int_equal(session_file_continue(&later, 1, reported, &f), S_OK);
    session_file_lost(f, 6, 1);
    assert_true(session_file_holds(f, 3));
    assert_false(session_file_holds(f, 4));
    assert_int_equal(session_file_first_number(f), 4);
    assert_int_equal(write_one(f, 4, 0, 1004), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const struct content c = content_of(PATH);
    assert_int_equal(c.events, 4);
    assert_int_equal(c.events_lost, 6);
    assert_int_equal(c.buffers_lost, 1);
}

static void circular_file_of_a_dead_host_is_continued(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(CIRCULAR, 6);
    for (uint64_t count = 2; count < 20; count++) {
        struct session_file *f = create(&options);
        for (uint64_t i = 1; i <= count; i++)
            assert_int_equal(write_one(f, i, 0, 1000 + (int64_t)i), S_OK);
        assert_int_equal(session_file_close(f, 0), S_OK);
        assert_int_equal(session_file_continue(&options, 1, none_reported, &f), S_OK);
        assert_int_equal(session_file_first_number(f), count + 1);
        assert_int_equal(write_one(f, count + 1, 0, 1000 + (int64_t)count + 1), S_OK);
        assert_int_equal(session_file_close(f, 0), S_OK);
        const struct content c = content_of(PATH);
        assert_int_equal(c.last, count + 1);
        assert_int_equal(c.events, count + 1 < 5 ? count + 1 : 5);
    }
}

static void readers_sort_a_late_buffer(void **state)
{
    (void)state;
    static const uint64_t order[] = {1, 3, 4, 2, 5};
    const struct session_file_options options = options_of(SEQUENTIAL, 0);
    struct session_file *f = create(&options);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(write_one(f, order[i], 0, 1000 + (int64_t)order[i]), S_OK);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_int_equal(content_of(PATH).events, 5);
}

#ifndef _WIN32
static void full_disk_loses_only_the_events_of_that_time(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(SEQUENTIAL, 0);
    struct session_file *f = create(&options);
    assert_int_equal(write_one(f, 1, 0, 1001), S_OK);
    full_disk_at(3 * BUFFER_SIZE + 100);
    assert_int_equal(write_one(f, 2, 0, 1002), S_OK);
    assert_int_equal(write_one(f, 3, 0, 1003), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    assert_int_equal(session_file_flush(f), S_OK);
    assert_int_equal(content_of(PATH).events, 2); /* the file is complete at this point */
    full_disk_at(UINT64_MAX);
    assert_int_equal(write_one(f, 3, 0, 1003), S_OK); /* the failed write did not use a number */
    session_file_lost(f, 0, 1);
    assert_int_equal(session_file_close(f, 0), S_OK);
    const struct content c = content_of(PATH);
    assert_int_equal(c.events, 3);
    assert_int_equal(c.buffers_lost, 1);
}

static void full_disk_keeps_the_old_file_when_a_new_one_is_due(void **state)
{
    (void)state;
    struct session_file_options options = options_of(NEWFILE, 3);
    options.path = PATH ".%d";
    struct session_file *f = create(&options);
    assert_int_equal(write_one(f, 1, 0, 1001), S_OK);
    assert_int_equal(write_one(f, 2, 0, 1002), S_OK);
    full_disk_at(100);
    assert_int_equal(write_one(f, 3, 0, 1003), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    full_disk_at(UINT64_MAX);
    assert_int_equal(session_file_number(f), 1);
    assert_int_equal(write_one(f, 3, 0, 1003), S_OK);
    assert_int_equal(session_file_number(f), 2);
    assert_int_equal(session_file_close(f, 0), S_OK);
    assert_int_equal(content_of(PATH ".1").events, 2);
    assert_int_equal(content_of(PATH ".2").first, 3);
}
#endif

static void a_failed_creation_leaves_no_file(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(CIRCULAR, 2); /* too small for a circular file */
    struct session_file *f;
    assert_int_equal(session_file_create(&options, &f), E_INVALIDARG);
    assert_false(file_exists(PATH));
    struct session_file_options nowhere = options_of(SEQUENTIAL, 0);
    nowhere.path = PATH ".missing/x.etl";
    const HRESULT hr = session_file_create(&nowhere, &f);
    assert_true(hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    const struct session_file_options options = options_of(APPEND, 0);
    for (int round = 0; round < 2; round++) { /* with a new file, then with an existing one */
        struct session_file *f = NULL;
        for (uint64_t n = 1; !f; n++) {
            memory_fail_at(n);
            const HRESULT hr = session_file_create(&options, &f);
            memory_fail_at(0);
            assert_int_equal(hr, f ? S_OK : E_OUTOFMEMORY);
        }
        assert_int_equal(session_file_close(f, 0), S_OK);
    }
    struct etl_log log;
    HRESULT hr = E_OUTOFMEMORY;
    uint64_t refused = 0;
    for (uint64_t n = 1; n == 1 || memory_count() >= n - 1; n++) {
        memory_fail_at(n);
        hr = session_log_of_host(ETL_CLOCK_TICKS, &log);
        refused += hr == E_OUTOFMEMORY;
        if (hr == S_OK)
            etl_log_free(&log);
    }
    memory_fail_at(0);
    assert_true(refused >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sequential_file_ends_at_its_maximum_size, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(circular_file_keeps_header_and_newest_events, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(new_file_starts_at_maximum_size_or_on_request, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(each_file_has_its_start_time, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(a_file_that_is_in_use_is_skipped, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(only_newfile_mode_starts_next_files, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(space_is_preallocated_and_released, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(file_is_continued, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(file_without_events_is_continued, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(another_file_is_not_appended_to, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(a_file_of_a_killed_host_is_continued, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(circular_file_of_a_dead_host_is_continued, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(readers_sort_a_late_buffer, remove_files, remove_files),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(full_disk_loses_only_the_events_of_that_time, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(full_disk_keeps_the_old_file_when_a_new_one_is_due, remove_files, remove_files),
#endif
        cmocka_unit_test_setup_teardown(a_failed_creation_leaves_no_file, remove_files, remove_files),
        cmocka_unit_test_setup_teardown(out_of_memory_is_reported, remove_files, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
