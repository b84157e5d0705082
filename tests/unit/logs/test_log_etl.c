/* SPDX-License-Identifier: MIT */
/* The container of event traces: buffer sizes, session buffers, circular files, appending, injected faults.
   test_log_binary.c and test_log_fault.c test it together with performance logs. */
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
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/log_events.h"

#define PATH   "test_log_etl.tmp"
#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)

enum { SMALL = ETL_SMALLEST_BUFFER, LARGE = ETL_LARGEST_BUFFER, EVENT = 0x40, CLOCK_START = 1000 };

/* Returns the header of a session's file. Its timestamps are ticks of a 1 MHz clock. */
static struct etl_log log_of(uint32_t buffer_size)
{
    return (struct etl_log){.buffer_size = buffer_size,
                            .version_major = 10,
                            .build = 19045,
                            .processors = 4,
                            .mode = 1,
                            .frequency = 1000000,
                            .start_utc = START,
                            .clock = ETL_CLOCK_TICKS,
                            .start_stamp = CLOCK_START,
                            .logger_name = "session",
                            .file_name = PATH};
}

static struct etl_file *create(uint32_t buffer_size)
{
    const struct etl_log log = log_of(buffer_size);
    struct etl_file *file = NULL;
    assert_int_equal(etl_file_create(PATH, true, &log, &file), S_OK);
    return file;
}

static HRESULT continue_log(struct etl_file **out)
{
    struct file *file;
    const HRESULT hr = file_open(PATH, FILE_APPEND, &file);
    return SUCCEEDED(hr) ? etl_file_continue(file, PATH, NULL, out) : hr;
}

/* Writes a classic event. Its data is `number`; its timestamp is CLOCK_START + `ticks`. */
static void put_event(uint8_t at[EVENT], uint32_t number, uint32_t ticks)
{
    memset(at, 0, EVENT);
    put_u16(at, EVENT);
    at[2] = ETL_HEADER_CLASSIC_64;
    at[3] = ETL_MARKS;
    put_u64(at + 0x10, CLOCK_START + ticks);
    put_u32(at + 0x30, number);
}

static HRESULT add_event(struct etl_file *file, uint32_t number, uint32_t ticks)
{
    struct etl_event event = {.head_size = EVENT};
    put_event(event.head, number, ticks);
    return etl_file_add(file, START + ticks * 10, &event, 1);
}

/* Adds a buffer as a session writes it. It has `count` events, one per tick; their numbers begin with `number`. The
   memory after them is not initialized. */
static HRESULT add_buffer(struct etl_file *file, uint16_t processor, uint64_t sequence, uint32_t number, uint32_t count)
{
    static uint8_t bytes[SMALL];
    const struct etl_buffer_header head = {.time = CLOCK_START + number + count - 1,
                                           .sequence = sequence,
                                           .processor = processor,
                                           .logger = 7,
                                           .used = ETL_BUFFER_HEAD + count * EVENT,
                                           .flags = 0x02 /* events were lost before this buffer */};
    memset(bytes, 0x77, sizeof bytes);
    for (uint32_t i = 0; i < count; i++)
        put_event(bytes + ETL_BUFFER_HEAD + i * EVENT, number + i, number + i);
    return etl_file_add_buffer(file, START + (number + count - 1) * 10, &head, bytes);
}

/* Checks that all events are in order of time, and that each number from `first` on occurs once. Returns their
   number. */
static uint32_t read_events(uint32_t first)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint32_t count = 0;
    int64_t before = 0;
    HRESULT hr = etl_reader_open(PATH, keep_warning, NULL, &reader);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    while ((hr = etl_reader_next(reader, &record)) == S_OK) {
        assert_true(record.stamp >= before);
        before = record.stamp;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_int_equal(record.kind, ETL_RECORD_CLASSIC);
        assert_int_equal(get_u32(record.data), first + count);
        assert_int_equal(record.utc, START + (record.stamp - CLOCK_START) * 10);
        count++;
    }
    assert_int_equal(hr, S_FALSE);
    etl_reader_close(reader);
    return count;
}

static struct etl_log read_log(void)
{
    struct etl_reader *reader;
    assert_int_equal(etl_reader_open(PATH, keep_warning, NULL, &reader), S_OK);
    struct etl_log log = *etl_reader_log(reader);
    etl_reader_close(reader);
    log.standard_name = log.daylight_name = log.logger_name = log.file_name = NULL;
    return log;
}

static struct etl_buffer_header head_at(uint64_t place, uint32_t buffer_size)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    struct etl_buffer_header head;
    struct file *file;
    size_t got;
    assert_int_equal(file_open(PATH, FILE_READ, &file), S_OK);
    assert_int_equal(file_read_at(file, place * buffer_size, bytes, sizeof bytes, &got), S_OK);
    file_close(file);
    assert_int_equal(got, sizeof bytes);
    etl_buffer_header_read(bytes, &head);
    return head;
}

static int remove_file(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    return 0;
}

static void buffers_have_the_requested_size(void **state)
{
    static const uint32_t sizes[] = {SMALL, 5 * 1024, 0x10000, 1024 * 1024, LARGE};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t size = sizes[i], fit = (size - ETL_BUFFER_HEAD) / EVENT;
        struct etl_file *file = create(size);
        assert_int_equal(etl_file_size(file), 2 * size);
        for (uint32_t n = 0; n <= fit; n++)
            assert_int_equal(add_event(file, n, n), S_OK);
        assert_int_equal(etl_file_size(file), 3 * size);
        assert_int_equal(etl_file_close(file), S_OK);
        assert_int_equal(read_events(0), fit + 1);
        const struct etl_log log = read_log();
        assert_int_equal(log.buffer_size, size);
        assert_int_equal(log.buffers_written, 3);
        assert_int_equal(log.sub_version, size > 1024 * 1024 ? 2 : 1);
        assert_int_equal(log.end_utc, START + fit * 10);
        assert_int_equal(head_at(1, size).used, ETL_BUFFER_HEAD + fit * EVENT);
        assert_int_equal(head_at(2, size).time, CLOCK_START + fit);
    }
}

static void invalid_buffer_sizes_are_rejected_with_their_value(void **state)
{
    static const uint32_t sizes[] = {0, 1024, SMALL - 1, SMALL + 1, 0x10000 + 512, LARGE + 1024, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct etl_log log = log_of(sizes[i]);
        struct etl_file *file = NULL;
        char text[16];
        snprintf(text, sizeof text, "%u ", (unsigned)sizes[i]);
        assert_int_equal(etl_file_create(PATH, true, &log, &file), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), text));
        assert_null(file);
        assert_false(file_exists(PATH));
    }
}

/* The field with an event's size has only 16 bits, even if the buffer is larger. */
static void longest_event_is_limited_by_buffer_or_64_kb(void **state)
{
    static uint8_t data[0x10000];
    static const struct {
        uint32_t size, most;
    } cases[] = {{SMALL, SMALL - ETL_BUFFER_HEAD}, {0x10000, 0x10000 - ETL_BUFFER_HEAD}, {LARGE, 0xFFF8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct etl_event event = {.head_size = EVENT, .data = data, .data_size = cases[i].most - EVENT};
        struct etl_file *file = create(cases[i].size);
        assert_int_equal(etl_buffer_max_event(cases[i].size), cases[i].most);
        put_event(event.head, 0, 5);
        put_u16(event.head, (uint16_t)cases[i].most);
        assert_int_equal(etl_file_add(file, START, &event, 1), S_OK);
        event.data_size++;
        assert_int_equal(etl_file_add(file, START, &event, 1), E_INVALIDARG);
        assert_int_equal(etl_file_close(file), S_OK);
        assert_int_equal(read_events(0), 1);
    }
}

static void written_header_is_read_back(void **state)
{
    static uint8_t bytes[0x1000];
    struct etl_log log = {.private_logger = true,
                          .buffer_size = 1,
                          .version_major = 2,
                          .version_minor = 3,
                          .sub_version = 4,
                          .sub_minor = 5,
                          .build = 6,
                          .processors = 7,
                          .end_utc = 8,
                          .timer_resolution = 9,
                          .maximum_file_mb = 10,
                          .mode = 11,
                          .buffers_written = 12,
                          .events_lost = 13,
                          .buffers_lost = 14,
                          .cpu_mhz = 15,
                          .zone = {.bias = -16,
                                   .to_standard = {17, 18, 19, 20, 21, 22, 23, 24},
                                   .to_daylight = {25, 26, 27, 28, 29, 30, 31, 32},
                                   .standard_bias = 33,
                                   .daylight_bias = -34},
                          .standard_name = "winter",
                          .daylight_name = "s\xc3\xb6mmer",
                          .boot_utc = 35,
                          .start_utc = 36,
                          .frequency = 37,
                          .clock = 38,
                          .start_stamp = 39,
                          .process = 40,
                          .thread = 41,
                          .logger_name = "name",
                          .file_name = "C:\\a.etl"};
    (void)state;
    for (log.pointer_size = 4; log.pointer_size <= 8; log.pointer_size += 4) {
        struct etl_log read;
        uint32_t size;
        assert_int_equal(etl_log_write(&log, bytes, sizeof bytes, &size), S_OK);
        assert_int_equal(get_u16(bytes + 4), size);
        assert_int_equal(etl_log_read("test", bytes, size, &read), S_OK);
        assert_string_equal(read.standard_name, log.standard_name);
        assert_string_equal(read.daylight_name, log.daylight_name);
        assert_string_equal(read.logger_name, log.logger_name);
        assert_string_equal(read.file_name, log.file_name);
        static uint8_t again[0x1000];
        uint32_t size_again;
        assert_int_equal(etl_log_write(&read, again, sizeof again, &size_again), S_OK);
        assert_int_equal(size_again, size);
        assert_memory_equal(again, bytes, size);
        assert_int_equal(read.buffers_lost, 14);
        assert_int_equal(read.zone.to_daylight.millisecond, 32);
        assert_int_equal(read.thread, 41);
        etl_log_free(&read);
        assert_int_equal(etl_log_write(&log, bytes, size, &size_again), S_OK);
        assert_int_equal(etl_log_write(&log, bytes, size - 1, &size_again), E_INVALIDARG);
    }
    struct etl_buffer_header in = {1, 2, 3, 4, 5, 6, 7, 8, 9, ETL_FLAG_PROCESSOR_INDEX, 11}, out;
    etl_buffer_header_write(&in, bytes);
    etl_buffer_header_read(bytes, &out);
    assert_true(out.size == 1 && out.saved == 2 && out.current == 3 && out.time == 4 && out.sequence == 5);
    assert_true(out.processor == 6 && out.logger == 7 && out.state == 8 && out.used == 9 && out.type == 11);
    bytes[0x34] = 0; /* before Windows 8, the processor's number had one byte, followed by padding */
    put_u16(bytes + 0x28, 0x0803);
    etl_buffer_header_read(bytes, &out);
    assert_int_equal(out.processor, 3);
}

static void a_missing_name_is_not_an_error(void **state)
{
    struct etl_log log = log_of(SMALL);
    uint8_t bytes[ETL_LOG_HEAD + 2 * sizeof "session"]; /* only the session's name fits */
    uint32_t size;
    (void)state;
    log.pointer_size = 8;
    log.file_name = NULL;
    assert_int_equal(etl_log_write(&log, bytes, sizeof bytes, &size), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "session"));
    assert_null(strstr(error_text(E_INVALIDARG), "null"));
}

/* The test adds buffers of four processors in an order in which a session may flush them. */
static void buffers_of_processors_are_read_in_the_order_of_time(void **state)
{
    static const struct {
        uint16_t processor;
        uint32_t number, count;
    } buffers[] = {{2, 10, 5}, {0, 0, 10}, {3, 30, 1}, {0, 20, 10}, {1, 15, 5}, {2, 31, 55}, {0, 86, 0}, {1, 86, 14}};
    enum { BUFFERS = sizeof buffers / sizeof *buffers };
    (void)state;
    struct etl_file *file = create(SMALL);
    for (size_t i = 0; i < BUFFERS; i++) {
        assert_int_equal(add_buffer(file, buffers[i].processor, i + 1, buffers[i].number, buffers[i].count), S_OK);
        assert_int_equal(etl_file_size(file), (i + 2) * SMALL); /* buffer 0 replaces the initial, empty one */
        if (i % 3 == 0)
            assert_int_equal(etl_file_flush(file), S_OK);
    }
    etl_file_count_lost(file, 3, 2);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(read_events(0), 100);
    const struct etl_log log = read_log();
    assert_int_equal(log.buffers_written, 1 + BUFFERS);
    assert_int_equal(log.events_lost, 3);
    assert_int_equal(log.buffers_lost, 2);
    assert_int_equal(log.end_utc, START + 99 * 10);
    for (size_t i = 0; i < BUFFERS; i++) {
        const struct etl_buffer_header head = head_at(i + 1, SMALL);
        assert_int_equal(head.processor, buffers[i].processor);
        assert_int_equal(head.sequence, i + 1);
        assert_int_equal(head.logger, 7);
        assert_int_equal(head.size, SMALL);
        assert_int_equal(head.saved, head.used);
        assert_int_equal(head.state, ETL_STATE_FLUSHED);
        assert_int_equal(head.flags, 0x22 | (i == BUFFERS - 1 ? ETL_FLAG_LAST : 0));
    }
    char *data;
    size_t size;
    assert_int_equal(file_load(PATH, 1 << 20, &data, &size), S_OK);
    for (size_t at = SMALL + head_at(1, SMALL).used; at < 2 * SMALL; at++)
        assert_int_equal((uint8_t)data[at], 0xFF); /* no uninitialized memory of the session */
    memory_free(data);
}

/* The reader gives a message without a timestamp the time of its buffer. Private and relogging sessions write this
   time as FILETIME. */
static void messages_have_the_time_of_their_buffer(void **state)
{
    enum { BEHIND = 500, SIZE = 16 };
    static uint8_t bytes[SMALL];
    static const struct {
        bool private_logger;
        uint32_t mode;
        int64_t written;
    } rows[] = {
        {false, 1, CLOCK_START + BEHIND}, {true, 1, START + BEHIND * 10}, {false, 0x10001, START + BEHIND * 10}};
    const struct etl_buffer_header head = {.time = CLOCK_START + BEHIND, .sequence = 1, .used = ETL_BUFFER_HEAD + SIZE};
    (void)state;
    put_u16(bytes + ETL_BUFFER_HEAD, SIZE);
    bytes[ETL_BUFFER_HEAD + 3] = ETL_MARK_MESSAGE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct etl_log log = log_of(SMALL);
        struct etl_reader *reader;
        struct etl_record record;
        struct etl_file *file;
        log.private_logger = rows[i].private_logger;
        log.mode = rows[i].mode;
        assert_int_equal(etl_file_create(PATH, true, &log, &file), S_OK);
        assert_int_equal(etl_file_add_buffer(file, START + BEHIND * 10, &head, bytes), S_OK);
        assert_int_equal(etl_file_close(file), S_OK);
        assert_int_equal(head_at(1, SMALL).time, rows[i].written);
        assert_int_equal(etl_reader_open(PATH, keep_warning, NULL, &reader), S_OK);
        assert_int_equal(etl_reader_next(reader, &record), S_OK);
        assert_int_equal(etl_reader_next(reader, &record), S_OK);
        assert_int_equal(record.kind, ETL_RECORD_MESSAGE);
        assert_int_equal(record.stamp, CLOCK_START + BEHIND);
        assert_int_equal(record.utc, START + BEHIND * 10);
        etl_reader_close(reader);
        /* If the log is continued, buffers that are filled event by event have the same form of time. */
        assert_int_equal(continue_log(&file), S_OK);
        for (uint32_t number = 0; number < SMALL / EVENT; number++)
            assert_int_equal(add_event(file, number, BEHIND), S_OK);
        assert_int_equal(etl_file_close(file), S_OK);
        assert_int_equal(head_at(1, SMALL).time, rows[i].written);
        assert_int_equal(head_at(2, SMALL).time, rows[i].written);
    }
}

static void events_and_buffers_mix(void **state)
{
    (void)state;
    struct etl_file *file = create(SMALL);
    assert_int_equal(add_event(file, 0, 0), S_OK);
    assert_int_equal(add_event(file, 1, 1), S_OK);
    assert_int_equal(add_buffer(file, 1, 2, 2, 3), S_OK);
    assert_int_equal(add_event(file, 5, 5), S_OK);
    assert_int_equal(add_event(file, 6, 6), S_OK);
    assert_int_equal(add_buffer(file, 2, 9, 7, 2), S_OK);
    assert_int_equal(add_event(file, 9, 9), S_OK);
    assert_int_equal(etl_file_size(file), 6 * SMALL);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(read_events(0), 10);
    assert_int_equal(head_at(3, SMALL).sequence, 3);
    assert_int_equal(head_at(5, SMALL).sequence, 10); /* no sequence number is repeated */
    assert_int_equal(head_at(4, SMALL).time, CLOCK_START + 8);
}

static void invalid_buffers_are_rejected(void **state)
{
    static const uint32_t used[] = {0, ETL_BUFFER_HEAD - 8, ETL_BUFFER_HEAD + 4, SMALL + 8, UINT32_MAX};
    static uint8_t bytes[SMALL];
    (void)state;
    struct etl_file *file = create(SMALL);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        const struct etl_buffer_header head = {.sequence = 1, .used = used[i]};
        char text[16];
        snprintf(text, sizeof text, "%u ", (unsigned)used[i]);
        assert_int_equal(etl_file_add_buffer(file, START, &head, bytes), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), text));
    }
    assert_int_equal(add_buffer(file, 0, 1, 0, 4), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(read_events(0), 4);
}

/* When a circular file is full, it continues after the header. The newest buffers are kept. */
static void circular_file_keeps_the_newest_buffers(void **state)
{
    enum { PLACES = 5, EACH = 10 };
    (void)state;
    for (uint32_t buffers = 1; buffers <= 3 * PLACES; buffers++) {
        struct etl_log log = log_of(SMALL);
        log.mode = ETL_MODE_CIRCULAR;
        struct etl_file *file;
        assert_int_equal(etl_file_create(PATH, true, &log, &file), S_OK);
        assert_int_equal(etl_file_make_ring(file, 2), E_INVALIDARG);
        assert_int_equal(etl_file_make_ring(file, PLACES), S_OK);
        for (uint32_t i = 0; i < buffers; i++)
            assert_int_equal(add_buffer(file, (uint16_t)(i % 3), i + 1, i * EACH, EACH), S_OK);
        assert_int_equal(etl_file_close(file), S_OK);
        const uint32_t kept = buffers < PLACES - 1 ? buffers : PLACES - 1;
        assert_int_equal(read_log().buffers_written, 1 + kept);
        assert_int_equal(read_events((buffers - kept) * EACH), kept * EACH);
    }
}

static void appending_keeps_the_buffer_size(void **state)
{
    struct etl_file *file;
    (void)state;
    file = create(SMALL);
    assert_int_equal(add_buffer(file, 3, 1, 0, 30), S_OK);
    assert_int_equal(add_buffer(file, 1, 2, 30, 10), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(continue_log(&file), S_OK);
    assert_int_equal(add_event(file, 40, 40), S_OK);
    assert_int_equal(add_buffer(file, 2, 3, 41, 9), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(read_events(0), 50);
    assert_int_equal(read_log().buffers_written, 4);
    assert_int_equal(head_at(2, SMALL).used, ETL_BUFFER_HEAD + 11 * EVENT);
    assert_int_equal(head_at(2, SMALL).processor, 1);
    assert_int_equal(head_at(3, SMALL).flags, 0x22 | ETL_FLAG_LAST);
}

static void memory_may_run_out(void **state)
{
    unsigned failures = 0;
    (void)state;
    for (unsigned open = 0; open < 2; open++) {
        bool reached = true;
        for (uint64_t n = 1; reached; n++) {
            const struct etl_log log = log_of(SMALL);
            struct etl_file *file = NULL;
            if (!open)
                (void)file_delete(PATH);
            memory_fail_at(n);
            const HRESULT hr = open ? continue_log(&file) : etl_file_create(PATH, false, &log, &file);
            reached = memory_count() >= n;
            memory_fail_at(0);
            if (FAILED(hr)) {
                assert_int_equal(hr, E_OUTOFMEMORY);
                assert_null(file);
                assert_int_equal(file_exists(PATH), open);
                failures++;
                continue;
            }
            memory_fail_at(1); /* adding needs no memory */
            assert_int_equal(add_buffer(file, 1, 1 + open, open * 5, 5), S_OK);
            memory_fail_at(0);
            assert_int_equal(etl_file_close(file), S_OK);
        }
        assert_int_equal(read_events(0), 5 + open * 5);
    }
    assert_true(failures >= 12);
}

#ifndef _WIN32
/* If the disk is full, only the buffer that does not fit is lost. The buffers before and after it are in the file. */
static void full_disk_loses_only_one_buffer(void **state)
{
    (void)state;
    for (uint64_t room = 2 * SMALL; room < 5 * SMALL; room += 777) {
        struct etl_file *file = create(SMALL);
        uint32_t added = 0;
        full_disk_at(room);
        while (SUCCEEDED(add_buffer(file, (uint16_t)(added % 2), added + 1, added * 20, 20))) {
            assert_int_equal(etl_file_flush(file), S_OK);
            added++;
        }
        assert_int_equal(added, room / SMALL - 1);
        etl_file_count_lost(file, 20, 1);
        assert_int_equal(etl_file_flush(file), S_OK);
        assert_int_equal(etl_file_size(file), (added + 1) * SMALL);
        assert_int_equal(read_events(0), added * 20);
        assert_int_equal(read_log().buffers_lost, 1);
        full_disk_at(UINT64_MAX);
        assert_int_equal(add_buffer(file, 0, added + 1, added * 20, 20), S_OK);
        assert_int_equal(add_event(file, added * 20 + 20, added * 20 + 20), S_OK);
        assert_int_equal(etl_file_close(file), S_OK);
        assert_int_equal(read_events(0), added * 20 + 21);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(buffers_have_the_requested_size, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(invalid_buffer_sizes_are_rejected_with_their_value, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(longest_event_is_limited_by_buffer_or_64_kb, remove_file, remove_file),
        cmocka_unit_test(written_header_is_read_back),
        cmocka_unit_test(a_missing_name_is_not_an_error),
        cmocka_unit_test_setup_teardown(buffers_of_processors_are_read_in_the_order_of_time, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(messages_have_the_time_of_their_buffer, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(events_and_buffers_mix, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(invalid_buffers_are_rejected, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(circular_file_keeps_the_newest_buffers, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(appending_keeps_the_buffer_size, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out, remove_file, remove_file),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(full_disk_loses_only_one_buffer, remove_file, remove_file),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
