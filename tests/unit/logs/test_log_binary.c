/* SPDX-License-Identifier: MIT */
/* Binary logs: appending, size limits, injected faults. tests/golden/blg_check.py checks the files' contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"

#define PATH    "test_log_binary.tmp"
#define SECOND  INT64_C(10000000)
#define START   INT64_C(132590000000000000)
#define DAMAGED HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

enum { LOGFILE_HEADER = 0x68 };

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = 0x10000},
    {.machine = "\\\\BOX", .object = "Process", .wildcard = true, .counter = "% Processor Time", .type = 0x20510500},
};
static const struct log_item items[] = {{.instance = "Idle", .raw = {.first = 1, .second = 2}},
                                        {.instance = "\xc3\xa9", .raw = {.first = 3, .second = 4}}};
static const struct log_cell cells[] = {{.raw = {.first = 7638, .multi_count = 1}}, {.items = items, .item_count = 2}};
static const struct log_options append_to_it = {.append = true};

static struct log_writer *open_log(const struct log_options *options)
{
    struct log_writer *log = NULL;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, 2, START, options, &log), S_OK);
    return log;
}

static uint8_t *load(size_t *size)
{
    char *data;
    assert_int_equal(file_load(PATH, 1 << 26, &data, size), S_OK);
    return (uint8_t *)data;
}

/* Returns the header's numbers. The strings are freed before, so the caller must not use them. */
static struct etl_log header_of(const uint8_t *data)
{
    uint32_t offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    struct etl_log log;
    assert_true(etl_buffer_event(data, etl_buffer_used(data, BLG_BUFFER_SIZE), &offset, &event, &size));
    assert_int_equal(etl_log_read(PATH, event, size, &log), S_OK);
    struct etl_log numbers = log;
    etl_log_free(&log);
    return numbers;
}

/* Counts the events of all buffers except the header's; the file must be complete. */
static unsigned count_events(void)
{
    size_t size;
    uint8_t *data = load(&size);
    unsigned count = 0;
    assert_int_equal(size % BLG_BUFFER_SIZE, 0);
    assert_int_equal(header_of(data).buffers_written, size / BLG_BUFFER_SIZE);
    for (size_t at = BLG_BUFFER_SIZE; at < size; at += BLG_BUFFER_SIZE) {
        uint32_t used = etl_buffer_used(data + at, BLG_BUFFER_SIZE), offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        assert_true(used != 0);
        while (etl_buffer_event(data + at, used, &offset, &event, &length))
            count++;
        assert_int_equal(offset, used);
        for (; offset < BLG_BUFFER_SIZE; offset++)
            assert_int_equal(data[at + offset], 0xFF);
    }
    memory_free(data);
    return count;
}

static void overwrite(uint64_t offset, const void *data, size_t size)
{
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_APPEND, &file), S_OK);
    assert_int_equal(file_write_at(file, offset, data, size), S_OK);
    file_close(file);
}

static int remove_file(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    return 0;
}

static void samples_are_readable_after_each_flush(void **state)
{
    (void)state;
    struct log_writer *log = open_log(NULL);
    assert_int_equal(count_events(), 1);
    for (unsigned n = 1; n < 700; n++) { /* the samples need a second buffer */
        assert_int_equal(log_writer_append(log, START + n * SECOND, cells), S_OK);
        if (n % 50 == 0) {
            assert_int_equal(log_writer_flush(log), S_OK);
            assert_int_equal(log_writer_flush(log), S_OK);
            assert_int_equal(count_events(), 1 + n);
        }
    }
    assert_int_equal(log_writer_size(log), 4 * BLG_BUFFER_SIZE);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 700);
}

static void appending_continues_after_the_last_sample(void **state)
{
    (void)state;
    struct log_writer *log = open_log(&append_to_it); /* the file does not exist yet */
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    log = open_log(&append_to_it);
    assert_int_equal(log_writer_append(log, START + SECOND, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 3);
    struct log_writer *other = NULL;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, 2, START, NULL, &other),
                     HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    assert_int_equal(count_events(), 3);
}

static void an_empty_file_becomes_a_log(void **state)
{
    (void)state;
    assert_int_equal(file_store(PATH, "", 0), S_OK);
    struct log_writer *log = open_log(&append_to_it);
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 2);
}

/* A crash while the file grew leaves an incomplete buffer: it is removed, and the samples are kept. */
static void incomplete_end_is_repaired(void **state)
{
    (void)state;
    struct log_writer *log = open_log(NULL);
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    overwrite(2 * BLG_BUFFER_SIZE, "torn", 4);
    log = open_log(&append_to_it);
    assert_int_equal(log_writer_append(log, START + SECOND, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 3);
}

static void assert_append_rejected(const struct log_counter *with, size_t count, HRESULT expected, const char *text)
{
    struct log_writer *log = NULL;
    size_t size, size_after;
    uint8_t *before = load(&size);
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, with, count, START, &append_to_it, &log), expected);
    assert_non_null(strstr(error_text(expected), PATH));
    assert_non_null(strstr(error_text(expected), text));
    assert_null(log);
    uint8_t *after = load(&size_after);
    assert_int_equal(size_after, size);
    assert_memory_equal(after, before, size);
    memory_free(before);
    memory_free(after);
}

/* Mixed catalogs would assign values to wrong names. */
static void log_with_other_counters_is_not_continued(void **state)
{
    (void)state;
    struct log_counter changed[3] = {counters[0], counters[1], counters[0]};
    assert_int_equal(log_writer_close(open_log(NULL)), S_OK);
    assert_append_rejected(changed, 3, E_INVALIDARG, "fewer counters");
    assert_append_rejected(changed, 1, E_INVALIDARG, "counters differ");
    changed[1].time_base = 5; /* the names are the same, but the clock is not */
    assert_append_rejected(changed, 2, E_INVALIDARG, "counters differ");
}

static void corrupt_files_are_not_changed(void **state)
{
    static const uint8_t junk[16] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
    (void)state;
    assert_int_equal(file_store(PATH, "text", 4), S_OK);
    assert_append_rejected(counters, 2, DAMAGED, "no catalog");
    static const size_t places[] = {
        0,                                        /* header buffer: its size */
        0x36,                                     /* ... its type */
        ETL_BUFFER_HEAD,                          /* ... its event */
        LOGFILE_HEADER,                           /* ... the buffer size in it */
        BLG_BUFFER_SIZE,                          /* first buffer: its size */
        BLG_BUFFER_SIZE + 0x30,                   /* ... its bytes in use */
        BLG_BUFFER_SIZE + ETL_BUFFER_HEAD,        /* ... the catalog's event */
        BLG_BUFFER_SIZE + ETL_BUFFER_HEAD + 0x18, /* ... its class */
        BLG_BUFFER_SIZE + ETL_BUFFER_HEAD + 0x40, /* ... its part number */
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)file_delete(PATH);
        assert_int_equal(log_writer_close(open_log(NULL)), S_OK);
        overwrite(places[i], junk, sizeof junk);
        struct log_writer *log = NULL;
        assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, 2, START, &append_to_it, &log), DAMAGED);
        assert_null(log);
    }
}

static void the_limit_is_in_whole_buffers(void **state)
{
    const struct log_options limited = {.max_bytes = 2 * BLG_BUFFER_SIZE};
    unsigned samples = 0;
    HRESULT hr;
    (void)state;
    struct log_writer *log = open_log(&limited);
    while ((hr = log_writer_append(log, START + samples * SECOND, cells)) == S_OK)
        samples++;
    assert_int_equal(hr, S_FALSE);
    assert_in_range(samples, 200, 400);
    assert_int_equal(log_writer_append(log, START + samples * SECOND, cells), S_FALSE);
    assert_int_equal(log_writer_size(log), limited.max_bytes);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 1 + samples);
}

static void memory_may_run_out_while_creating(void **state)
{
    (void)state;
    for (unsigned append = 0; append < 2; append++) {
        unsigned failures = 0;
        bool reached = true;
        for (uint64_t n = 1; reached; n++) {
            struct log_writer *log = NULL;
            if (append == 0)
                (void)file_delete(PATH);
            memory_fail_at(n);
            HRESULT hr = log_writer_create(LOG_BINARY, PATH, counters, 2, START, append ? &append_to_it : NULL, &log);
            reached = memory_count() >= n;
            memory_fail_at(0);
            if (FAILED(hr)) {
                assert_int_equal(hr, E_OUTOFMEMORY);
                assert_null(log);
                assert_int_equal(file_exists(PATH), append);
                failures++;
            }
            assert_int_equal(log_writer_close(log), S_OK);
        }
        assert_true(failures >= 6);
        assert_int_equal(count_events(), 1);
    }
}

static void memory_may_run_out_in_a_sample(void **state)
{
    struct log_item many[300];
    unsigned failures = 0, samples = 0;
    (void)state;
    for (size_t i = 0; i < 300; i++)
        many[i] = items[i % 2];
    struct log_writer *log = open_log(NULL);
    for (size_t count = 1; count <= 300; count += 23) { /* each sample is larger than all before it, so
                                                           memory must be allocated again */
        const struct log_cell wide[] = {cells[0], {.items = many, .item_count = count}};
        for (uint64_t n = 1;; n++) {
            memory_fail_at(n);
            HRESULT hr = log_writer_append(log, START + samples * SECOND, wide);
            memory_fail_at(0);
            if (hr == S_OK) {
                samples++;
                break;
            }
            assert_int_equal(hr, E_OUTOFMEMORY);
            failures++;
        }
    }
    assert_true(failures >= 10);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 1 + samples + 4); /* a sample with 231 or more instances has two parts */
}

static void event_larger_than_a_buffer_is_rejected(void **state)
{
    static uint8_t data[BLG_BUFFER_SIZE];
    struct etl_event event = {.head_size = 8, .data = data, .data_size = BLG_BUFFER_SIZE - ETL_BUFFER_HEAD - 8};
    const struct etl_log header = {
        .buffer_size = BLG_BUFFER_SIZE, .start_utc = START, .clock = ETL_CLOCK_SYSTEM, .processors = 1};
    struct etl_file *file;
    (void)state;
    assert_int_equal(etl_file_create(PATH, false, &header, &file), S_OK);
    event.data_size++;
    assert_int_equal(etl_file_add(file, START, &event, 1), E_INVALIDARG);
    assert_int_equal(etl_file_size(file), 2 * BLG_BUFFER_SIZE);
    event.data_size--;
    assert_int_equal(etl_file_add(file, START, &event, 1), S_OK);
    assert_int_equal(etl_file_size_with(file, &event, 1), 3 * BLG_BUFFER_SIZE);
    assert_int_equal(etl_file_close(file), S_OK);
}

static void path_too_long_for_the_header_is_rejected(void **state)
{
    const struct etl_log header = {
        .buffer_size = BLG_BUFFER_SIZE, .start_utc = START, .clock = ETL_CLOCK_SYSTEM, .processors = 1};
    struct etl_log changed = header;
    struct etl_file *file;
    char *path = memory_alloc(40000);
    (void)state;
    memset(path, 'x', 39999);
    path[39999] = '\0';
    changed.file_name = path;
    assert_int_equal(etl_file_create(PATH, false, &changed, &file), E_INVALIDARG);
    assert_false(file_exists(PATH));
    memory_free(path);
}

static void readers_stop_at_invalid_events(void **state)
{
    static uint8_t buffer[BLG_BUFFER_SIZE];
    static const struct {
        uint8_t head[8];
        uint32_t size; /* 0: not an event */
    } events[] = {
        {{0x30, 0, 0x14, 0xC0}, 0x30},       {{0x2F, 0, 0x14, 0xC0}, 0},     {{0x50, 0, 0x13, 0xC0}, 0x50},
        {{0x4F, 0, 0x13, 0xC0}, 0},          {{8, 0, 0, 0x90}, 8},           {{7, 0, 0, 0x90}, 0},
        {{0, 0, 0x11, 0xC0, 0x14, 0}, 0x14}, {{0, 0, 0x11, 0xC0, 15, 0}, 0}, {{0, 0, 2, 0xC0, 0x20, 0}, 0x20},
        {{0, 0, 2, 0xC0, 0x1F, 0}, 0},       {{0x30, 0, 0x14, 0x40}, 0},     {{0xFF, 0xFF, 0x14, 0xC0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const uint8_t *event = NULL;
        uint32_t offset = ETL_BUFFER_HEAD, size = 0;
        memcpy(buffer + ETL_BUFFER_HEAD, events[i].head, sizeof events[i].head);
        assert_int_equal(etl_buffer_event(buffer, ETL_BUFFER_HEAD + 0x100, &offset, &event, &size),
                         events[i].size != 0);
        assert_int_equal(size, events[i].size);
        assert_int_equal(offset, ETL_BUFFER_HEAD + ((events[i].size + 7) & ~7u));
        /* the same bytes, but the used part ends within the event */
        offset = ETL_BUFFER_HEAD;
        assert_false(etl_buffer_event(buffer, ETL_BUFFER_HEAD + 7, &offset, &event, &size));
    }
}

#ifndef _WIN32
/* On a full disk, a sample that fits into the file's existing buffers is always written. Only a sample that needs
   another buffer fails. */
static void full_disk_fails_append_and_never_flush(void **state)
{
    (void)state;
    struct log_writer *log = open_log(NULL);
    unsigned samples = 0;
    size_t size;
    full_disk_at(2 * BLG_BUFFER_SIZE + 5000);
    HRESULT hr;
    while (SUCCEEDED(hr = log_writer_append(log, START + samples * SECOND, cells))) {
        assert_int_equal(log_writer_flush(log), S_OK);
        samples++;
    }
    assert_in_range(samples, 200, 400);
    assert_int_equal(log_writer_flush(log), S_OK);
    assert_int_equal(count_events(), 1 + samples);
    uint8_t *data = load(&size);
    assert_int_equal(header_of(data).events_lost, 1);
    memory_free(data);
    assert_int_equal(log_writer_append(log, START + samples * SECOND, cells), hr);
    full_disk_at(UINT64_MAX);
    assert_int_equal(log_writer_append(log, START + samples * SECOND, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(count_events(), 2 + samples);
    data = load(&size);
    assert_int_equal(header_of(data).events_lost, 2);
    memory_free(data);
}

static void a_failed_creation_leaves_no_file(void **state)
{
    (void)state;
    for (uint64_t room = 0; room < 2 * BLG_BUFFER_SIZE; room += 9999) {
        struct log_writer *log = NULL;
        full_disk_at(room);
        HRESULT hr = log_writer_create(LOG_BINARY, PATH, counters, 2, START, NULL, &log);
        full_disk_at(UINT64_MAX);
        assert_true(FAILED(hr));
        assert_false(file_exists(PATH));
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_are_readable_after_each_flush, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(appending_continues_after_the_last_sample, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(an_empty_file_becomes_a_log, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(incomplete_end_is_repaired, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(log_with_other_counters_is_not_continued, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(corrupt_files_are_not_changed, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(the_limit_is_in_whole_buffers, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out_while_creating, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out_in_a_sample, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(event_larger_than_a_buffer_is_rejected, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(path_too_long_for_the_header_is_rejected, remove_file, remove_file),
        cmocka_unit_test(readers_stop_at_invalid_events),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(full_disk_fails_append_and_never_flush, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_failed_creation_leaves_no_file, remove_file, remove_file),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
