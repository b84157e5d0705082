/* SPDX-License-Identifier: MIT */
/* Logs when writes fail. The run is repeated for each of its writes: that write is truncated and fails. It fails either
   once, like a transient disk error, or for good, as if the process was killed during the write. After a single
   failure, truncating the file may fail too. Flushed data must survive, and no sample may be partly written. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define PATH   "test_log_fault.tmp"
#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)

enum fault { ONCE, ONCE_AND_NO_CUT, FOR_GOOD };
enum { SAMPLES = 33, INSTANCES = 5000, ROOM = 1 << 24 };
enum { RING_PLACES = 6, RING_BUFFERS = 20, RING_EVENTS = 10, RING_EVENT = 0x30 };

static unsigned calls, failing;
static bool cut_refused;
static enum fault fault;

/* The linker redirects the log layer's calls to these functions (--wrap). */
HRESULT __real_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
HRESULT __wrap_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
HRESULT __real_file_set_size(struct file *f, uint64_t size);
HRESULT __wrap_file_set_size(struct file *f, uint64_t size);

static bool dead(void)
{
    return fault == FOR_GOOD && failing != 0 && calls >= failing;
}

HRESULT __wrap_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size)
{
    bool was_dead = dead();
    if (++calls == failing || was_dead) {
        if (!was_dead)
            (void)__real_file_write_at(f, offset, data, size - size / 8);
        return error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "the test refuses write %u", calls);
    }
    return __real_file_write_at(f, offset, data, size);
}

HRESULT __wrap_file_set_size(struct file *f, uint64_t size)
{
    if (dead() || (fault == ONCE_AND_NO_CUT && failing != 0 && calls >= failing && !cut_refused)) {
        cut_refused = true;
        return error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "the test refuses to cut the file");
    }
    return __real_file_set_size(f, size);
}

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = 0x10000},
    {.machine = "\\\\BOX", .object = "Process", .wildcard = true, .counter = "% Processor Time", .type = 0x20510500},
};
static struct log_item items[INSTANCES];

struct run {
    enum log_format format;
    bool created, closed;
    unsigned accepted[SAMPLES]; /* numbers of the samples that the log accepted */
    size_t count, flushed;      /* number of accepted samples; number of them before the last successful flush */
    size_t possible;            /* count, or count + 1 if the process died while it wrote a sample: the file may contain
                                   that sample, but only completely */
};

static size_t instances_of(unsigned sample)
{
    static const size_t sizes[] = {3, 150, 0, 1200, 40, 700, 5000, 1600, 2};
    return sizes[sample % (sizeof sizes / sizeof *sizes)];
}

static uint64_t size_of_file(void)
{
    struct file *file;
    uint64_t size;
    assert_int_equal(file_open(PATH, FILE_READ, &file), S_OK);
    assert_int_equal(file_size(file, &size), S_OK);
    file_close(file);
    return size;
}

static void run_log(struct run *r)
{
    struct log_writer *log = NULL;
    size_t columns = r->format == LOG_BINARY ? 2 : 1;
    (void)file_delete(PATH);
    calls = 0;
    cut_refused = false;
    r->created = SUCCEEDED(log_writer_create(r->format, PATH, counters, columns, START, NULL, &log));
    for (unsigned n = 0; r->created && n < SAMPLES; n++) {
        struct log_cell cells[2] = {{.raw = {.first = n}, .has_value = true, .value = n % 2 == 0 ? n + 1.0 / 3 : n},
                                    {.items = items, .item_count = instances_of(n)}};
        if (SUCCEEDED(log_writer_append(log, START + (n + 1) * SECOND, cells))) {
            r->accepted[r->count++] = n;
            r->possible = r->count;
            if (r->format == LOG_CSV)
                assert_int_equal(size_of_file(), log_writer_size(log));
        } else if (dead()) {
            r->accepted[r->count] = n;
            r->possible = r->count + 1;
        } else if (!cut_refused) {
            assert_int_equal(size_of_file(), log_writer_size(log));
        }
        if (dead())
            break;
        if (n % 3 == 2 && SUCCEEDED(log_writer_flush(log)))
            r->flushed = r->count;
    }
    r->closed = SUCCEEDED(log_writer_close(log));
}

struct reader {
    const struct run *run;
    size_t samples;
    uint32_t parts;
    uint8_t record[400000];
    size_t size;
    bool catalog;
    int64_t catalog_stamp;
};

static void read_event(struct reader *r, const uint8_t *event, uint32_t size)
{
    int64_t stamp;
    uint32_t part, parts;
    memcpy(&stamp, event + 0x10, 8);
    memcpy(&part, event + 0x40, 4);
    memcpy(&parts, event + 0x44, 4);
    assert_int_equal(part, r->parts + 1);
    assert_true(part <= parts && r->size + size <= sizeof r->record);
    memcpy(r->record + r->size, event + 0x48, size - 0x48);
    r->size += size - 0x48;
    r->parts = part;
    if (part < parts)
        return;
    if (event[4] == 32) {
        assert_false(r->catalog);
        r->catalog = true;
        r->catalog_stamp = stamp;
    } else {
        uint32_t length;
        uint64_t first;
        memcpy(&length, r->record + 4, 4);
        memcpy(&first, r->record + 8 + 0x18, 8);
        assert_true(r->catalog && event[4] == 34);
        assert_int_equal(length, r->size);
        assert_true(r->samples < r->run->possible);
        assert_int_equal(first, r->run->accepted[r->samples]);
        if (r->samples == 0)
            assert_int_equal(r->catalog_stamp, stamp - 10);
        r->samples++;
    }
    r->size = r->parts = 0;
}

static void check_binary(const struct run *run, const uint8_t *data, size_t size)
{
    static struct reader r;
    const bool whole = run->closed;
    memset(&r, 0, sizeof r);
    r.run = run;
    assert_true(!whole || size % BLG_BUFFER_SIZE == 0);
    for (size_t at = BLG_BUFFER_SIZE; at + BLG_BUFFER_SIZE <= size; at += BLG_BUFFER_SIZE) {
        uint32_t used = etl_buffer_used(data + at, BLG_BUFFER_SIZE), offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        struct etl_buffer_header head;
        etl_buffer_header_read(data + at, &head);
        assert_int_equal(head.sequence, at / BLG_BUFFER_SIZE);
        assert_true(used != 0);
        while (etl_buffer_event(data + at, used, &offset, &event, &length))
            read_event(&r, event, length);
        assert_int_equal(offset, used);
        for (; whole && offset < BLG_BUFFER_SIZE; offset++)
            assert_int_equal(data[at + offset], 0xFF);
    }
    assert_true(r.samples >= run->flushed);
    if (whole) {
        uint32_t offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        struct etl_log log;
        assert_true(etl_buffer_event(data, etl_buffer_used(data, BLG_BUFFER_SIZE), &offset, &event, &length));
        assert_int_equal(etl_log_read(PATH, event, length, &log), S_OK);
        assert_int_equal(log.buffers_written, size / BLG_BUFFER_SIZE);
        etl_log_free(&log);
        assert_int_equal(r.samples, run->count);
        assert_int_equal(r.parts, 0);
    }
}

/* Checks the samples in the file of a killed writer, first as the writer left it, then after another writer continued
   it. */
static void check_read_and_continued(const struct run *run, const uint8_t *data, size_t size)
{
    static const struct log_options append = {.append = true};
    check_binary(run, data, size);
    failing = 0; /* the next writer is a new process, whose writes succeed */
    for (unsigned round = 0; round < 2; round++) {
        struct log_reader *reader;
        const struct log_cell *cells;
        int64_t utc;
        size_t samples = 0;
        assert_int_equal(log_reader_open(PATH, &reader), S_OK);
        while (log_reader_next(reader, &utc, &cells) == S_OK) {
            const unsigned n = samples < run->possible ? run->accepted[samples] : SAMPLES;
            if (cells[0].raw.first != SAMPLES) {
                assert_int_equal(cells[0].raw.first, n);
                assert_int_equal(cells[1].item_count, instances_of(n));
                samples++;
            }
        }
        assert_in_range(samples, run->flushed, run->possible);
        assert_true(round == 0 || (cells[0].raw.first == SAMPLES && log_reader_warnings(reader)->count == 0));
        log_reader_close(reader);
        if (round == 0) {
            struct log_writer *log;
            const struct log_cell last[2] = {{.raw = {.first = SAMPLES}}};
            assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, 2, START, &append, &log), S_OK);
            assert_int_equal(log_writer_append(log, START + (SAMPLES + 1) * SECOND, last), S_OK);
            assert_int_equal(log_writer_close(log), S_OK);
        }
    }
}

static void check_text(const struct run *run, const uint8_t *data, size_t size)
{
    const char *line = (const char *)data, *end = line + size, *next;
    size_t rows = 0;
    for (bool header = true; (next = memchr(line, '\n', (size_t)(end - line))); header = false) {
        if (!header) {
            assert_true(rows < run->possible);
            assert_int_equal(strtoul(line + 27, NULL, 10), run->accepted[rows]);
            rows++;
        }
        line = next + 1;
    }
    assert_true(rows >= run->flushed);
    if (run->closed) {
        assert_ptr_equal(line, end);
        assert_int_equal(rows, run->count);
    }
}

static void fail_every_write(enum log_format format, enum fault how,
                             void (*check)(const struct run *, const uint8_t *, size_t))
{
    static struct run r;
    fault = how;
    for (size_t i = 0; i < INSTANCES; i++)
        items[i] = (struct log_item){.instance = "svchost", .raw = {.first = (int64_t)i}};
    for (unsigned n = 1;; n++) {
        char *data;
        size_t size;
        memset(&r, 0, sizeof r);
        r.format = format;
        failing = n;
        run_log(&r);
        if (!r.created) {
            assert_false(file_exists(PATH));
            continue;
        }
        const bool all_writes_done = calls < n;
        assert_int_equal(file_load(PATH, ROOM, &data, &size), S_OK);
        check(&r, (const uint8_t *)data, size);
        memory_free(data);
        if (all_writes_done) {
            assert_int_equal(r.count, SAMPLES);
            assert_true(n > SAMPLES);
            break;
        }
        assert_true(how == FOR_GOOD ? !r.closed : r.count >= SAMPLES - 2);
    }
    (void)file_delete(PATH);
    failing = 0;
}

static void a_binary_log_survives_any_failed_write(void **state)
{
    (void)state;
    fail_every_write(LOG_BINARY, ONCE, check_binary);
}

static void a_binary_log_survives_a_failed_write_without_truncation(void **state)
{
    (void)state;
    fail_every_write(LOG_BINARY, ONCE_AND_NO_CUT, check_binary);
}

static void a_text_log_survives_a_failed_write_without_truncation(void **state)
{
    (void)state;
    fail_every_write(LOG_CSV, ONCE_AND_NO_CUT, check_text);
}

static void a_binary_log_survives_being_killed_in_any_write(void **state)
{
    (void)state;
    fail_every_write(LOG_BINARY, FOR_GOOD, check_read_and_continued);
}

static void a_text_log_survives_any_failed_write(void **state)
{
    (void)state;
    fail_every_write(LOG_CSV, ONCE, check_text);
}

static void a_text_log_survives_being_killed_in_any_write(void **state)
{
    (void)state;
    fail_every_write(LOG_CSV, FOR_GOOD, check_text);
}

/* Adds session buffers to a circular file. Returns how many were accepted, and stores their indexes in `taken`. */
static unsigned run_ring(unsigned taken[RING_BUFFERS])
{
    static uint8_t bytes[ETL_SMALLEST_BUFFER];
    const struct etl_log log = {.buffer_size = sizeof bytes, .clock = ETL_CLOCK_SYSTEM, .mode = ETL_MODE_CIRCULAR};
    struct etl_file *file;
    unsigned count = 0;
    calls = 0;
    cut_refused = false;
    if (FAILED(etl_file_create(PATH, true, &log, &file)))
        return 0;
    assert_int_equal(etl_file_make_ring(file, RING_PLACES), S_OK);
    for (unsigned n = 0; n < RING_BUFFERS && !dead(); n++) {
        const struct etl_buffer_header head = {.sequence = n + 1,
                                               .processor = n % 3 == 0,
                                               .time = (int64_t)(n + 1) * RING_EVENTS,
                                               .used = ETL_BUFFER_HEAD + RING_EVENTS * RING_EVENT,
                                               .flags = ETL_FLAG_PROCESSOR_INDEX};
        for (unsigned i = 0; i < RING_EVENTS; i++) {
            uint8_t *event = bytes + ETL_BUFFER_HEAD + i * RING_EVENT;
            const int64_t stamp = (int64_t)n * RING_EVENTS + i;
            memcpy(event, "\x30\0\x14\xC0", 4);
            memcpy(event + 0x10, &stamp, sizeof stamp);
        }
        if (SUCCEEDED(etl_file_add_buffer(file, 0, &head, bytes)))
            taken[count++] = n;
        if (n % 4 == 3)
            (void)etl_file_flush(file);
    }
    (void)etl_file_close(file);
    return count;
}

/* No event is repeated or out of order; the newest accepted buffers are complete. */
static void check_ring(const unsigned *taken, unsigned count)
{
    unsigned events[RING_BUFFERS] = {0};
    struct etl_reader *reader;
    struct etl_record record;
    int64_t before = -1;
    assert_int_equal(etl_reader_open(PATH, NULL, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(record.stamp > before && record.stamp < RING_BUFFERS * RING_EVENTS);
        before = record.stamp;
        events[record.stamp / RING_EVENTS]++;
    }
    etl_reader_close(reader);
    /* Of the ring's places, one holds the header, and one may have been overwritten by the failed write. */
    for (unsigned i = count > RING_PLACES - 2 ? count - (RING_PLACES - 2) : 0; i < count; i++)
        assert_int_equal(events[taken[i]], RING_EVENTS);
}

static void a_ring_of_buffers_survives_any_failed_write(void **state)
{
    static const enum fault faults[] = {ONCE, ONCE_AND_NO_CUT, FOR_GOOD};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fault = faults[i];
        calls = 0;
        for (failing = 1; failing <= calls + 1; failing++) {
            unsigned taken[RING_BUFFERS];
            const unsigned count = run_ring(taken);
            assert_true(fault == FOR_GOOD || failing <= 2 || count >= RING_BUFFERS - 1);
            if (failing > 2) /* in the first two cases, the file does not exist */
                check_ring(taken, count);
        }
        assert_true(failing > RING_BUFFERS);
    }
    (void)file_delete(PATH);
    failing = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_log_survives_any_failed_write),
        cmocka_unit_test(a_binary_log_survives_a_failed_write_without_truncation),
        cmocka_unit_test(a_text_log_survives_a_failed_write_without_truncation),
        cmocka_unit_test(a_binary_log_survives_being_killed_in_any_write),
        cmocka_unit_test(a_ring_of_buffers_survives_any_failed_write),
        cmocka_unit_test(a_text_log_survives_any_failed_write),
        cmocka_unit_test(a_text_log_survives_being_killed_in_any_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
