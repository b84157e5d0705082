/* SPDX-License-Identifier: MIT */
/* These tests read binary logs as other writers create them. Such a log can have whole objects with a name table and a
   summary, from a 32-bit system, a second catalog after the first or items of the wrong type. The tests build the
   records byte by byte. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define PATH   "test_log_blg_records.tmp"
#define SECOND INT64_C(10000000)
#define HOUR   (3600 * SECOND)
#define START  INT64_C(132590000000000000) /* UTC; local time is one hour earlier */

enum { CATALOG = 32, SAMPLE = 34, SUMMARY = 35, NAMES = 36 };
enum { OBJECT_INDEX = 230, PROCESS = 230, THREAD = 232, COUNTER_TIME = 6, COUNTER_BASE = 7, COUNTER_ID = 804 };

struct buffer {
    uint8_t bytes[16384];
    size_t size;
};

static void add_u16(struct buffer *b, uint32_t value)
{
    put_u16(b->bytes + b->size, (uint16_t)value);
    b->size += 2;
}

static void add_u32(struct buffer *b, uint32_t value)
{
    put_u32(b->bytes + b->size, value);
    b->size += 4;
}

static void add_u64(struct buffer *b, int64_t value)
{
    put_u64(b->bytes + b->size, (uint64_t)value);
    b->size += 8;
}

static void add_text(struct buffer *b, const char *text)
{
    do {
        add_u16(b, (unsigned char)*text);
    } while (*text++ != '\0');
}

static void pad(struct buffer *b)
{
    while (b->size % 8 != 0)
        b->bytes[b->size++] = 0;
}

static struct etl_file *file;
static uint8_t log_id;

static void begin_file(void)
{
    static const struct etl_log header = {.buffer_size = BLG_BUFFER_SIZE,
                                          .start_utc = START,
                                          .clock = ETL_CLOCK_SYSTEM,
                                          .processors = 1,
                                          .zone.bias = 60};
    assert_int_equal(etl_file_create(PATH, true, &header, &file), S_OK);
    log_id = 1;
}

/* Adds a record as a single event with the 32-bit header. Its time is `seconds` after START. */
static void add_record(uint8_t type, int seconds, const struct buffer *record)
{
    struct etl_event event = {.head_size = 0x48, .data = record->bytes, .data_size = (uint32_t)record->size};
    static const uint8_t class[16] = {0xb3, 0x3b, 0x3f, 0x93, 0x3e, 0x94, 0x0d, 0x49,
                                      0x9c, 0xed, 0x3c, 0xbb, 0x14, 0xc1, 0x44, 0x79};
    put_u16(event.head, (uint16_t)(0x48 + record->size));
    event.head[2] = 0x0A;
    event.head[3] = 0xC0;
    event.head[4] = type;
    put_u64(event.head + 0x10, (uint64_t)(START - HOUR + seconds * SECOND));
    memcpy(event.head + 0x18, class, sizeof class);
    event.head[0x30] = log_id;
    put_u32(event.head + 0x40, 1);
    put_u32(event.head + 0x44, 1);
    assert_int_equal(etl_file_add(file, START + seconds * SECOND, &event, 1), S_OK);
}

static struct log_reader *open_log(void)
{
    struct log_reader *reader = NULL;
    assert_int_equal(etl_file_close(file), S_OK);
    HRESULT hr = log_reader_open(PATH, &reader);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return reader;
}

static void add_entry(struct buffer *b, uint32_t flags, const char *object, const char *instance, const char *counter)
{
    const char *const texts[] = {"\\\\OLD", object, instance, counter};
    static const size_t places[] = {0x1C, 0x20, 0x24, 0x30};
    uint8_t *entry = b->bytes + b->size;
    memset(entry, 0, 0x34);
    put_u32(entry + 0x04, flags);
    put_u32(entry + 0x0C, flags == 0x10 ? 0x10 : PERF_COUNTER_RAWCOUNT);
    put_u32(entry + 0x28, UINT32_MAX);
    const size_t begin = b->size + 0x34;
    b->size = begin;
    for (int i = 0; i < 4; i++) {
        put_u32(entry + places[i], !texts[i] ? UINT32_MAX : (uint32_t)(b->size - begin));
        if (texts[i])
            add_text(b, texts[i]);
    }
    pad(b);
    put_u32(entry, (uint32_t)(b->bytes + b->size - entry));
}

static void begin_catalog(struct buffer *b)
{
    b->size = 0;
    add_u32(b, 0x6FF);
    add_u32(b, 0x20008);
}

static void begin_sample(struct buffer *b)
{
    b->size = 0;
    memcpy(b->bytes, "BL\x03\x00\x00\x00\x00\x00", 8);
    b->size = 8;
}

static void end_sample(struct buffer *b, int seconds)
{
    put_u32(b->bytes + 4, (uint32_t)b->size);
    add_record(SAMPLE, seconds, b);
}

static void add_single(struct buffer *b, int64_t first)
{
    memcpy(b->bytes + b->size, "BL\x03\x01\x30\x00\x00\x00", 8);
    memset(b->bytes + b->size + 8, 0, 0x28);
    put_u64(b->bytes + b->size + 0x18, (uint64_t)first);
    put_u32(b->bytes + b->size + 0x28, 1);
    b->size += 0x30;
}

static void add_definition(struct buffer *b, uint32_t title, uint32_t type, uint32_t size, uint32_t offset)
{
    const uint32_t words[] = {0x28, title, 0, title + 1, 0, 0, 100, type, size, offset};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add_u32(b, words[i]);
}

/* Adds one instance: its name and parent, and a block with a 100 ns time, an average's sum and base, and a 32-bit
   number. */
static void add_instance(struct buffer *b, const char *name, uint32_t parent_title, uint32_t parent, int64_t time)
{
    const size_t begin = b->size;
    add_u32(b, 0);
    add_u32(b, parent_title);
    add_u32(b, parent);
    add_u32(b, UINT32_MAX);
    add_u32(b, 0x18);
    add_u32(b, (uint32_t)(strlen(name) + 1) * 2);
    add_text(b, name);
    pad(b);
    put_u32(b->bytes + begin, (uint32_t)(b->size - begin));
    add_u32(b, 0x28);
    add_u32(b, 0);
    add_u64(b, time);
    add_u64(b, time + 1000);
    add_u32(b, 77);
    add_u32(b, (uint32_t)time + 5);
    add_u64(b, 0);
}

/* Adds an item with one object's data, in the form of PERF_DATA_BLOCK. */
static void add_object(struct buffer *b, uint32_t title, int instances, int64_t utc)
{
    const size_t item = b->size, data = item + 8;
    memcpy(b->bytes + item, "BL\x03\x05", 4);
    memset(b->bytes + data, 0, 0x58);
    memcpy(b->bytes + data, "P\0E\0R\0F\0", 8);
    put_u32(b->bytes + data + 0x08, 1);
    put_u32(b->bytes + data + 0x1C, 1);
    put_u64(b->bytes + data + 0x38, 4711); /* PerfTime */
    put_u64(b->bytes + data + 0x40, 3000000);
    put_u64(b->bytes + data + 0x48, (uint64_t)utc);
    put_u32(b->bytes + data + 0x50, 8);
    put_u32(b->bytes + data + 0x54, 0x58);
    b->size = data + 0x58;
    add_text(b, "OLD");
    put_u32(b->bytes + data + 0x18, (uint32_t)(b->size - data));
    const size_t object = b->size;
    memset(b->bytes + object, 0, 0x40);
    put_u32(b->bytes + object + 0x08, 0x40);
    put_u32(b->bytes + object + 0x0C, title);
    put_u32(b->bytes + object + 0x20, 4);
    put_u32(b->bytes + object + 0x28, (uint32_t)instances);
    b->size = object + 0x40;
    add_definition(b, COUNTER_TIME, PERF_100NSEC_TIMER, 8, 8);
    add_definition(b, COUNTER_TIME + 2, PERF_AVERAGE_BULK, 8, 16);
    add_definition(b, COUNTER_BASE, PERF_AVERAGE_BASE, 4, 24);
    add_definition(b, COUNTER_ID, PERF_COUNTER_RAWCOUNT, 4, 28);
    put_u32(b->bytes + object + 0x04, (uint32_t)(b->size - object));
    for (int i = 0; i < instances; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s", i == 1 ? "Idle" : "svchost");
        if (title == THREAD)
            snprintf(name, sizeof name, "%d", i);
        add_instance(b, name, title == THREAD ? PROCESS : 0, title == THREAD ? 1 : 0, utc + i);
    }
    put_u32(b->bytes + object, (uint32_t)(b->size - object));
    pad(b);
    put_u32(b->bytes + data + 0x14, (uint32_t)(b->size - data));
    put_u32(b->bytes + item + 4, (uint32_t)(b->size - item));
}

static void add_names(void)
{
    static const char *const texts[] = {"\\\\OLD", "230", "Process", "232", "Thread", "6", "% Time", "8", "Bytes"};
    struct buffer b = {.size = 0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(&b, texts[i]);
    add_record(NAMES, 0, &b);
}

static void write_objects(unsigned samples, uint32_t counted)
{
    static struct buffer b;
    begin_file();
    add_names();
    begin_catalog(&b);
    add_entry(&b, 0x10, "Thread", "*", "*");
    add_entry(&b, 0x10, "Process", "*", "*");
    add_record(CATALOG, 0, &b);
    for (unsigned n = 0; n < samples; n++) {
        begin_sample(&b);
        add_object(&b, THREAD, 2, START + n);
        add_object(&b, PROCESS, 3 + (int)n % 2, START + n);
        end_sample(&b, (int)n);
    }
    b.size = 0;
    add_u64(&b, START - HOUR);
    add_u64(&b, START - HOUR);
    add_u32(&b, counted);
    add_u32(&b, 2);
    add_record(SUMMARY, (int)samples, &b);
}

static void whole_objects_become_counters(void **state)
{
    static const char *const paths[] = {"\\\\OLD\\Thread(*)\\% Time", "\\\\OLD\\Thread(*)\\Bytes",
                                        "\\\\OLD\\Thread(*)\\#804",   "\\\\OLD\\Process(*)\\% Time",
                                        "\\\\OLD\\Process(*)\\Bytes", "\\\\OLD\\Process(*)\\#804"};
    static const char *const processes[] = {"svchost", "Idle", "svchost#1", "svchost#2"};
    const struct log_cell *cells;
    int64_t utc;
    size_t count;
    (void)state;
    write_objects(4, 4);
    struct log_reader *reader = open_log();
    const struct log_counter *counters = log_reader_counters(reader, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        char *path = log_counter_path(&counters[i]);
        assert_string_equal(path, paths[i]);
        assert_true(counters[i].wildcard);
        memory_free(path);
    }
    assert_int_equal(counters[0].time_base, 10000000);
    assert_int_equal(counters[1].time_base, 3000000);
    for (int n = 0; n < 4; n++) {
        assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
        assert_int_equal(utc, START + n * SECOND);
        assert_int_equal(cells[0].item_count, 2);
        assert_string_equal(cells[0].items[1].instance, "Idle/1"); /* the name begins with the parent instance's name */
        assert_int_equal(cells[3].item_count, 3 + n % 2);
        for (int i = 0; i < 3 + n % 2; i++) {
            assert_string_equal(cells[3].items[i].instance, processes[i]);
            assert_int_equal(cells[3].items[i].raw.first, START + n + i);
            assert_int_equal(cells[3].items[i].raw.second, START + n); /* PerfTime100nSec */
            assert_int_equal(cells[4].items[i].raw.first, START + n + i + 1000);
            assert_int_equal(cells[4].items[i].raw.second, 77); /* the base */
            assert_int_equal(cells[5].items[i].raw.first, (uint32_t)(START + n + i + 5));
        }
    }
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_FALSE);
    assert_int_equal(log_reader_warnings(reader)->count, 0);
    log_reader_close(reader);
}

/* The last record of a log contains its number of samples; the reader must report if samples are missing. */
static void missing_samples_are_reported(void **state)
{
    const struct log_cell *cells;
    int64_t utc;
    (void)state;
    write_objects(3, 5);
    struct log_reader *reader = open_log();
    while (log_reader_next(reader, &utc, &cells) == S_OK) {
    }
    assert_int_equal(log_reader_warnings(reader)->count, 1);
    assert_non_null(strstr(log_reader_warnings(reader)->items[0], "counts 5 samples, but 3 were found"));
    log_reader_close(reader);
}

/* Writes two samples of two objects, and corrupts the object with this number: its definitions exceed its size. */
static struct log_reader *open_log_with_corrupt_object(unsigned number)
{
    write_objects(2, 2);
    struct log_reader *reader = open_log();
    log_reader_close(reader);
    char *data;
    size_t size;
    assert_int_equal(file_load(PATH, 1 << 20, &data, &size), S_OK);
    unsigned found = 0;
    for (size_t i = BLG_BUFFER_SIZE; i + 8 < size; i++)
        if (memcmp(data + i, "P\0E\0R\0F\0", 8) == 0 && ++found == number)
            data[i + 0x58 + 8 + 7] = 0x7F;
    assert_int_equal(file_store(PATH, data, size), S_OK);
    memory_free(data);
    assert_int_equal(log_reader_open(PATH, &reader), S_OK);
    return reader;
}

/* The first sample defines the log's columns. If only its last object is corrupt, the rest must be kept. */
static void first_sample_is_kept_without_its_last_object(void **state)
{
    const struct log_cell *cells;
    int64_t utc;
    (void)state;
    struct log_reader *reader = open_log_with_corrupt_object(2);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(utc, START);
    assert_int_equal(cells[0].item_count, 2);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(utc, START + SECOND);
    log_reader_close(reader);
}

static void a_corrupt_object_is_missing(void **state)
{
    const struct log_cell *cells;
    int64_t utc;
    (void)state;
    struct log_reader *reader = open_log_with_corrupt_object(3);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(cells[0].raw.status, PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(cells[0].item_count, 0);
    assert_int_equal(cells[3].item_count, 4);
    assert_int_equal(log_reader_warnings(reader)->count, 1);
    log_reader_close(reader);
}

/* If another program appends other counters, it adds a second catalog with another GUID. The samples of each part are
   read with the names from their own catalog, in any reading order. */
static void a_second_catalog_adds_counters(void **state)
{
    static struct buffer b;
    const struct log_cell *cells;
    int64_t utc;
    size_t count;
    (void)state;
    begin_file();
    begin_catalog(&b);
    add_entry(&b, 0, "Memory", NULL, "Free");
    add_entry(&b, 0, "System", NULL, "Threads");
    add_record(CATALOG, 0, &b);
    for (int n = 0; n < 3; n++) {
        begin_sample(&b);
        add_single(&b, 10 + n);
        add_single(&b, 20 + n);
        end_sample(&b, n);
    }
    log_id = 2;
    begin_catalog(&b);
    add_entry(&b, 0, "System", NULL, "Threads");
    add_entry(&b, 0, "Disk", NULL, "Reads");
    add_record(CATALOG, 7200 * 3, &b);
    for (int n = 0; n < 3000; n++) {
        begin_sample(&b);
        add_single(&b, 30 + n);
        add_single(&b, 40 + n);
        end_sample(&b, 7200 * 3 + n);
    }
    struct log_reader *reader = open_log();
    (void)log_reader_counters(reader, &count);
    assert_int_equal(count, 2);
    /* this seek skips the second catalog, which the reader must still find */
    assert_int_equal(log_reader_seek(reader, START + (7200 * 3 + 2999) * SECOND), S_OK);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(utc, START + (7200 * 3 + 2999) * SECOND);
    const struct log_counter *counters = log_reader_counters(reader, &count);
    assert_int_equal(count, 3);
    assert_string_equal(counters[2].counter, "Reads");
    assert_int_equal(cells[0].raw.status, PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(cells[1].raw.first, 30 + 2999);
    assert_int_equal(cells[2].raw.first, 40 + 2999);
    assert_int_equal(log_reader_seek(reader, INT64_MIN), S_OK);
    for (int n = 0; n < 3; n++) {
        assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
        assert_int_equal(cells[0].raw.first, 10 + n);
        assert_int_equal(cells[1].raw.first, 20 + n);
        assert_int_equal(cells[2].raw.status, PDH_CSTATUS_NO_COUNTER);
    }
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(cells[1].raw.first, 30);
    assert_int_equal(log_reader_warnings(reader)->count, 0);
    log_reader_close(reader);
}

static void items_that_do_not_match_the_catalog_are_missing(void **state)
{
    static struct buffer b;
    const struct log_cell *cells;
    int64_t utc;
    (void)state;
    begin_file();
    begin_catalog(&b);
    add_entry(&b, 0, "Memory", NULL, "Free");
    add_entry(&b, 1, "Process", "*", "Handles");
    add_record(CATALOG, 0, &b);
    begin_sample(&b);
    add_single(&b, 1);
    add_single(&b, 2); /* a single value, although the catalog has a wildcard counter */
    end_sample(&b, 0);
    begin_sample(&b);
    add_single(&b, 3); /* this sample lacks the second counter */
    end_sample(&b, 1);
    b.size = 0;
    add_u64(&b, 0);
    add_record(99, 2, &b);
    struct log_reader *reader = open_log();
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_OK);
    assert_int_equal(cells[0].raw.first, 1);
    assert_int_equal(cells[1].raw.status, PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(log_reader_next(reader, &utc, &cells), S_FALSE);
    const struct texts *warnings = log_reader_warnings(reader);
    assert_int_equal(warnings->count, 3);
    assert_non_null(strstr(warnings->items[0], "item 2 of a sample"));
    assert_non_null(strstr(warnings->items[1], "1 of its 2 items"));
    assert_non_null(strstr(warnings->items[2], "unknown type 99"));
    log_reader_close(reader);
}

static int remove_file(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    return 0;
}

/* A log with an empty first catalog must not be read as a valid log without counters. */
static void an_empty_catalog_is_corrupt(void **state)
{
    (void)state;
    struct log_reader *reader = NULL;
    struct buffer record = {.size = 0};
    begin_file();
    add_record(CATALOG, 0, &record);
    begin_sample(&record);
    end_sample(&record, 1);
    assert_int_equal(etl_file_close(file), S_OK);
    const HRESULT hr = log_reader_open(PATH, &reader);
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "entry 1 of its catalog"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_objects_become_counters, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(missing_samples_are_reported, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_corrupt_object_is_missing, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(first_sample_is_kept_without_its_last_object, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_second_catalog_adds_counters, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(items_that_do_not_match_the_catalog_are_missing, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(an_empty_catalog_is_corrupt, remove_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
