/* SPDX-License-Identifier: MIT */
/* Reading binary logs: everything that was written must be read, and from truncated and corrupt files all that is
   intact. Also tests appending to logs, copying logs, and circular logs. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define PATH    "test_log_blg.tmp"
#define SECOND  INT64_C(10000000)
#define START   INT64_C(132590000000000000)
#define DAMAGED HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

enum { COUNTERS = 5, MAX_INSTANCES = 4500 };

static const struct log_counter counters[COUNTERS] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = PERF_COUNTER_RAWCOUNT},
    {.machine = "\\\\BOX",
     .object = "Process",
     .instance = "*",
     .wildcard = true,
     .counter = "% Processor Time",
     .type = PERF_100NSEC_TIMER,
     .time_base = SECOND,
     .default_scale = -2},
    {.machine = "\\\\BOX", .object = "System", .counter = "Caption", .type = PERF_COUNTER_TEXT, .time_base = SECOND},
    {.machine = "\\\\BOX",
     .object = "PhysicalDisk",
     .instance = "*",
     .wildcard = true,
     .counter = "Model",
     .type = PERF_COUNTER_TEXT,
     .time_base = SECOND},
    {.machine = "\\\\BOX",
     .object = "Thread",
     .instance = "0",
     .parent = "svchost",
     .index = 2,
     .counter = "ID Thread",
     .type = PERF_COUNTER_RAWCOUNT,
     .time_base = 7},
};

static struct log_item processes[MAX_INSTANCES], disks[2];
static char names[MAX_INSTANCES][24];
static struct log_cell cells[COUNTERS];

/* Creates the nth sample. Processes, strings and disks appear and disappear; in every fifth sample, a counter has no
   value. */
static void make_cells(unsigned n, size_t instances)
{
    static const char *const captions[] = {"Caf\xc3\xa9", "", "a longer text than before", NULL};
    static const char *const models[] = {"fast", "slow and old", ""};
    memset(cells, 0, sizeof cells);
    cells[0].raw = (struct log_raw){.first = n, .second = -(int64_t)n, .multi_count = 1};
    cells[4].raw = (struct log_raw){.first = INT64_MAX - n, .multi_count = 1};
    if (n % 5 == 4) {
        cells[0].raw = (struct log_raw){.status = PDH_CSTATUS_NO_INSTANCE};
        cells[1].raw.status = PDH_CSTATUS_NO_OBJECT;
    } else {
        cells[1] = (struct log_cell){.items = processes, .item_count = instances};
    }
    for (size_t i = 0; i < instances; i++) {
        snprintf(names[i], sizeof names[i], "p%zu\xc3\xa4%u", i, n % 3);
        processes[i] = (struct log_item){
            .instance = names[i], .raw = {.first = (int64_t)n << 32 | (int64_t)i, .second = START, .multi_count = 1}};
    }
    cells[2].raw = (struct log_raw){.text = captions[n % 4], .multi_count = 1};
    cells[2].raw.status = cells[2].raw.text ? 0 : PDH_CSTATUS_INVALID_DATA;
    for (size_t i = 0; i < 2; i++) {
        disks[i] = (struct log_item){.instance = i == 0 ? "0 C:" : "1 D:",
                                     .raw = {.text = models[(n + i) % 3], .multi_count = 1}};
    }
    cells[3] = (struct log_cell){.items = disks, .item_count = n % 3};
}

static size_t few_instances(unsigned n)
{
    return n % 4;
}

static struct log_writer *create(const struct log_options *options)
{
    struct log_writer *log = NULL;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, COUNTERS, START, options, &log), S_OK);
    return log;
}

static void write_samples(struct log_writer *log, unsigned first, unsigned count, size_t (*instances)(unsigned))
{
    for (unsigned n = first; n < first + count; n++) {
        make_cells(n, instances(n));
        assert_int_equal(log_writer_append(log, START + n * SECOND, cells), S_OK);
    }
}

static void write_log(unsigned samples, size_t (*instances)(unsigned))
{
    (void)file_delete(PATH);
    struct log_writer *log = create(NULL);
    write_samples(log, 0, samples, instances);
    assert_int_equal(log_writer_close(log), S_OK);
}

static struct log_reader *open_log(void)
{
    struct log_reader *reader = NULL;
    HRESULT hr = log_reader_open(PATH, &reader);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return reader;
}

static void assert_raw(const struct log_raw *read, const struct log_raw *written)
{
    assert_int_equal(read->status, written->status);
    assert_int_equal(read->first, written->first);
    assert_int_equal(read->second, written->second);
    if (written->text) {
        assert_non_null(read->text);
        assert_string_equal(read->text, written->text);
    } else {
        assert_null(read->text);
    }
}

static void assert_cells(const struct log_cell *read, unsigned n, size_t instances)
{
    make_cells(n, instances);
    for (size_t i = 0; i < COUNTERS; i++) {
        assert_raw(&read[i].raw, &cells[i].raw);
        assert_int_equal(read[i].item_count, cells[i].item_count);
        for (size_t k = 0; k < cells[i].item_count; k++) {
            assert_string_equal(read[i].items[k].instance, cells[i].items[k].instance);
            assert_raw(&read[i].items[k].raw, &cells[i].items[k].raw);
            assert_int_equal(read[i].items[k].raw.multi_count, 1);
        }
    }
}

/* Reads all samples; their numbers must be `first`, `first` + 1, ... Returns how many were read. */
static unsigned read_samples(struct log_reader *reader, unsigned first, size_t (*instances)(unsigned))
{
    const struct log_cell *read;
    int64_t utc;
    unsigned n = first;
    HRESULT hr;
    while ((hr = log_reader_next(reader, &utc, &read)) == S_OK) {
        assert_int_equal(utc, START + n * SECOND);
        assert_cells(read, n, instances(n));
        n++;
    }
    assert_int_equal(hr, S_FALSE);
    return n - first;
}

static uint8_t *load(size_t *size)
{
    char *data;
    assert_int_equal(file_load(PATH, 1 << 28, &data, size), S_OK);
    return (uint8_t *)data;
}

static void store(const uint8_t *data, size_t size)
{
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_REPLACE, &file), S_OK);
    assert_int_equal(file_write(file, data, size), S_OK);
    file_close(file);
}

static void overwrite(uint64_t offset, const void *data, size_t size)
{
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_APPEND, &file), S_OK);
    assert_int_equal(file_write_at(file, offset, data, size), S_OK);
    file_close(file);
}

static uint32_t word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int remove_file(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    return 0;
}

static void everything_written_is_read(void **state)
{
    (void)state;
    write_log(50, few_instances);
    struct log_reader *reader = open_log();
    const struct log_info *info = log_reader_info(reader);
    assert_int_equal(info->format, LOG_BINARY);
    assert_true(info->zone.known);
    assert_false(info->has_values);
    assert_string_equal(info->machine, "\\\\BOX");
    assert_int_equal(read_samples(reader, 0, few_instances), 50);
    size_t count;
    const struct log_counter *read = log_reader_counters(reader, &count);
    assert_int_equal(count, COUNTERS);
    for (size_t i = 0; i < COUNTERS; i++) {
        char *path = log_counter_path(&read[i]), *written = log_counter_path(&counters[i]);
        assert_string_equal(path, written);
        assert_int_equal(read[i].wildcard, counters[i].wildcard);
        assert_int_equal(read[i].type, counters[i].type);
        assert_int_equal(read[i].time_base, counters[i].time_base);
        assert_int_equal(read[i].default_scale, counters[i].default_scale);
        memory_free(path);
        memory_free(written);
    }
    uint64_t done, total;
    log_reader_progress(reader, &done, &total);
    assert_int_equal(done, total);
    assert_int_equal(total, 2 * BLG_BUFFER_SIZE);
    assert_int_equal(log_reader_warnings(reader)->count, 0);
    log_reader_close(reader);
}

/* An instance that PDH lists without a value must not be read as 0. */
static void an_instance_without_a_value_is_omitted(void **state)
{
    (void)state;
    struct log_writer *log = create(NULL);
    make_cells(3, 3);
    processes[1].raw.status = PDH_CSTATUS_INVALID_DATA;
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    struct log_reader *reader = open_log();
    const struct log_cell *read;
    int64_t utc;
    assert_int_equal(log_reader_next(reader, &utc, &read), S_OK);
    assert_int_equal(read[1].item_count, 2);
    assert_string_equal(read[1].items[1].instance, names[2]);
    log_reader_close(reader);
}

/* If a counter is for a single instance, the reader returns its string with the name of that instance. */
static void a_single_string_keeps_its_instance(void **state)
{
    static const struct log_counter one = {.machine = "\\\\BOX",
                                           .object = "Process",
                                           .instance = "svchost",
                                           .index = 2,
                                           .counter = "Command line",
                                           .type = PERF_COUNTER_TEXT};
    const struct log_cell cell = {.raw = {.text = "-k net"}};
    struct log_writer *log;
    (void)state;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, &one, 1, START, NULL, &log), S_OK);
    assert_int_equal(log_writer_append(log, START, &cell), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    struct log_reader *reader = open_log();
    const struct log_cell *read;
    int64_t utc;
    assert_int_equal(log_reader_next(reader, &utc, &read), S_OK);
    assert_int_equal(read[0].item_count, 1);
    assert_string_equal(read[0].items[0].instance, "svchost#2");
    assert_string_equal(read[0].items[0].raw.text, "-k net");
    log_reader_close(reader);
}

/* All events of a file, in order. */
struct layout {
    struct {
        uint64_t end;
        bool sample, head; /* whether it completes a sample; whether it belongs to the catalog */
    } events[400];
    size_t count;
};

static void find_layout(const uint8_t *data, size_t size, struct layout *l)
{
    l->count = 0;
    for (size_t at = BLG_BUFFER_SIZE; at < size; at += BLG_BUFFER_SIZE) {
        uint32_t used = etl_buffer_used(data + at, BLG_BUFFER_SIZE), offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        while (etl_buffer_event(data + at, used, &offset, &event, &length)) {
            assert_true(l->count < sizeof l->events / sizeof *l->events);
            l->events[l->count].end = (uint64_t)(event - data) + length;
            l->events[l->count].head = event[4] != 34;
            l->events[l->count++].sample = event[4] == 34 && word(event + 0x40) == word(event + 0x44);
        }
    }
}

/* Returns the number of samples in the first `size` bytes; -1 if the catalog is incomplete. */
static int samples_within(const struct layout *l, uint64_t size)
{
    int samples = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->events[i].end > size)
            return l->events[i].head ? -1 : samples;
        samples += l->events[i].sample;
    }
    return samples;
}

/* Returns whether the position contains anything but padding. */
static bool is_used(const uint8_t *data, uint64_t place)
{
    const uint8_t *buffer = data + place / BLG_BUFFER_SIZE * BLG_BUFFER_SIZE;
    return place % BLG_BUFFER_SIZE <= etl_buffer_used(buffer, BLG_BUFFER_SIZE);
}

static void assert_cut_file(const struct layout *l, uint64_t cut, uint64_t whole, size_t (*instances)(unsigned))
{
    struct log_reader *reader = NULL;
    char at[32];
    const int samples = samples_within(l, cut);
    HRESULT hr = log_reader_open(PATH, &reader);
    if (samples < 0) {
        assert_int_equal(hr, DAMAGED);
        assert_non_null(strstr(error_text(hr), PATH));
        return;
    }
    assert_int_equal(hr, S_OK);
    assert_int_equal(read_samples(reader, 0, instances), samples);
    const struct texts *warnings = log_reader_warnings(reader);
    snprintf(at, sizeof at, "at byte %llu:", (unsigned long long)cut);
    if (samples < samples_within(l, whole)) {
        assert_true(warnings->count >= 1 && warnings->count <= 3);
        bool warned = false;
        for (size_t i = 0; i < warnings->count; i++)
            warned = warned || strncmp(warnings->items[i], at, strlen(at)) == 0;
        assert_true(warned);
    }
    log_reader_close(reader);
}

/* Truncates a file at every byte: the reader returns all complete samples, and a warning names the position. Padding
   consists of equal bytes, so few of its positions are tried. */
static void file_truncated_at_every_byte(void **state)
{
    static struct layout l;
    size_t size;
    (void)state;
    write_log(6, few_instances);
    uint8_t *data = load(&size);
    find_layout(data, size, &l);
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_APPEND, &file), S_OK);
    for (uint64_t cut = size - 1; cut > 0; cut--) {
        if (is_used(data, cut) || cut % 4099 == 0) {
            assert_int_equal(file_set_size(file, cut), S_OK);
            assert_cut_file(&l, cut, size, few_instances);
        }
    }
    file_close(file);
    memory_free(data);
}

static size_t many_instances(unsigned n)
{
    return n % 3 == 0 ? 1500 : 40; /* every third sample has several parts and needs more than one buffer */
}

static void samples_of_many_parts_are_read_from_a_cut_file(void **state)
{
    static struct layout l;
    size_t size;
    (void)state;
    write_log(7, many_instances);
    uint8_t *data = load(&size);
    assert_true(size >= 4 * BLG_BUFFER_SIZE);
    find_layout(data, size, &l);
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_APPEND, &file), S_OK);
    for (uint64_t cut = size - 1; cut > BLG_BUFFER_SIZE; cut -= 1511) {
        assert_int_equal(file_set_size(file, cut), S_OK);
        assert_cut_file(&l, cut, size, many_instances);
    }
    file_close(file);
    memory_free(data);
}

static void assert_can_be_continued(const struct layout *l, uint64_t cut, size_t (*instances)(unsigned))
{
    const struct log_options append = {.append = true};
    const int before = samples_within(l, cut) < 0 ? 0 : samples_within(l, cut);
    struct log_writer *log = NULL;
    HRESULT hr = log_writer_create(LOG_BINARY, PATH, counters, COUNTERS, START, &append, &log);
    if (FAILED(hr))
        fail_msg("cut at %llu: %s", (unsigned long long)cut, error_text(hr));
    write_samples(log, (unsigned)before, 3, instances);
    assert_int_equal(log_writer_close(log), S_OK);
    struct log_reader *reader = open_log();
    assert_int_equal(read_samples(reader, 0, instances), before + 3);
    assert_int_equal(log_reader_warnings(reader)->count, 0);
    log_reader_close(reader);
}

/* After a crash, a set with LogAppend continues its truncated log. */
static void truncated_file_is_continued(void **state)
{
    static struct layout l;
    size_t size;
    (void)state;
    write_log(4, many_instances);
    uint8_t *data = load(&size);
    find_layout(data, size, &l);
    for (uint64_t cut = size; cut > 0; cut -= cut < 1811 ? cut : 1811) {
        store(data, cut);
        assert_can_be_continued(&l, cut, many_instances);
    }
    /* the system extended the file, but never wrote its last blocks */
    data = memory_resize(data, size + 2 * BLG_BUFFER_SIZE);
    memset(data + size, 0, 2 * BLG_BUFFER_SIZE);
    for (uint64_t lost = 0; lost < 5; lost++) {
        const uint64_t from = size - lost * BLG_BUFFER_SIZE / 2;
        memset(data + from, 0, size - from);
        store(data, size + 2 * BLG_BUFFER_SIZE - 777);
        if (lost % 2 == 0)
            assert_can_be_continued(&l, from, many_instances);
    }
    memory_free(data);
}

/* A copy has the original's machine, start and time zone, so a copy of a copy is identical. */
static void copy_is_identical(void **state)
{
    size_t size, copy_size, count;
    (void)state;
    write_log(40, many_instances);
    uint8_t *data = load(&size);
    assert_int_equal(file_store(PATH ".old", data, size), S_OK);
    struct log_reader *reader;
    struct log_writer *log;
    assert_int_equal(log_reader_open(PATH ".old", &reader), S_OK);
    struct blg_origin origin;
    assert_true(blg_reader_origin(reader, &origin));
    assert_true(origin.log->cpu_mhz != 0); /* other programs divide by this value */
    const struct log_options options = {.copy_of = reader};
    (void)file_delete(PATH);
    const struct log_cell *read;
    int64_t utc;
    HRESULT hr = log_reader_next(reader, &utc, &read);
    const struct log_counter *read_counters = log_reader_counters(reader, &count);
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, read_counters, count, utc, &options, &log), S_OK);
    for (unsigned n = 0; hr == S_OK; n++) {
        assert_int_equal(log_writer_append(log, utc, read), S_OK);
        if (n % 7 == 0)
            assert_int_equal(log_writer_flush(log), S_OK);
        hr = log_reader_next(reader, &utc, &read);
    }
    assert_int_equal(hr, S_FALSE);
    assert_int_equal(log_writer_close(log), S_OK);
    log_reader_close(reader);
    uint8_t *copy = load(&copy_size);
    assert_int_equal(copy_size, size);
    assert_memory_equal(copy, data, size);
    memory_free(copy);
    memory_free(data);
    assert_int_equal(file_delete(PATH ".old"), S_OK);
}

static void a_range_of_time_is_found(void **state)
{
    enum { SAMPLES = 60 };
    (void)state;
    write_log(SAMPLES, many_instances);
    struct log_reader *reader = open_log();
    static const int places[] = {30, 0, SAMPLES - 1, 7, 59, 8, 45, -5, SAMPLES + 3};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int n = places[i];
        assert_int_equal(log_reader_seek(reader, START + n * SECOND - 5000000), S_OK);
        const unsigned from = n < 0 ? 0 : n > SAMPLES ? SAMPLES : (unsigned)n;
        assert_int_equal(read_samples(reader, from, many_instances), SAMPLES - from);
    }
    assert_int_equal(log_reader_seek(reader, INT64_MIN), S_OK);
    assert_int_equal(read_samples(reader, 0, many_instances), SAMPLES);
    assert_int_equal(log_reader_warnings(reader)->count, 0);
    log_reader_close(reader);
}

static void a_corrupt_buffer_is_skipped_with_a_warning(void **state)
{
    static struct layout l;
    size_t size;
    const struct log_cell *read;
    int64_t utc;
    unsigned samples = 0;
    (void)state;
    write_log(30, many_instances);
    uint8_t *data = load(&size);
    find_layout(data, size, &l);
    overwrite(3 * BLG_BUFFER_SIZE, "\x55\x55\x55\x55", 4);
    const uint64_t from = 3 * BLG_BUFFER_SIZE, to = 4 * BLG_BUFFER_SIZE;
    struct log_reader *reader = open_log();
    while (log_reader_next(reader, &utc, &read) == S_OK) {
        const unsigned n = (unsigned)((utc - START) / SECOND);
        assert_cells(read, n, many_instances(n));
        samples++;
    }
    assert_in_range(samples, 20, 29);
    /* all samples outside the corrupt buffer are read */
    assert_true((int)samples >= samples_within(&l, from) + samples_within(&l, size) - samples_within(&l, to) - 1);
    const struct texts *warnings = log_reader_warnings(reader);
    assert_true(warnings->count >= 1);
    assert_string_equal(warnings->items[0],
                        "at byte 196608: the header of buffer 3 is corrupt; its events up to byte 262144 are skipped");
    log_reader_close(reader);
    memory_free(data);
}

static void circular_log_keeps_the_newest_samples(void **state)
{
    enum { BUFFERS = 8, SAMPLES = 300 };
    const struct log_options circular = {.circular = true, .max_bytes = BUFFERS * BLG_BUFFER_SIZE};
    (void)state;
    for (unsigned samples = 1; samples < SAMPLES; samples = samples * 2 + 3) {
        (void)file_delete(PATH);
        struct log_writer *log = create(&circular);
        write_samples(log, 0, samples, many_instances);
        assert_true(log_writer_size(log) <= circular.max_bytes);
        assert_int_equal(log_writer_close(log), S_OK);
        struct log_reader *reader = open_log();
        const struct log_cell *read;
        int64_t utc;
        assert_int_equal(log_reader_next(reader, &utc, &read), S_OK);
        const unsigned first = (unsigned)((utc - START) / SECOND);
        assert_cells(read, first, many_instances(first));
        assert_int_equal(read_samples(reader, first + 1, many_instances), samples - first - 1);
        assert_true(samples > 50 ? samples - first >= 8 : first == 0 || samples > 8);
        assert_int_equal(log_reader_warnings(reader)->count, 0);
        log_reader_close(reader);
        const struct log_options append = {.append = true};
        assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, COUNTERS, START, &append, &log), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "circular"));
    }
}

static void a_circular_log_needs_room(void **state)
{
    struct log_options circular = {.circular = true};
    struct log_writer *log = NULL;
    (void)state;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, COUNTERS, START, &circular, &log), E_INVALIDARG);
    circular.max_bytes = 3 * BLG_BUFFER_SIZE;
    assert_int_equal(log_writer_create(LOG_BINARY, PATH, counters, COUNTERS, START, &circular, &log), E_INVALIDARG);
    assert_false(file_exists(PATH));
    circular.max_bytes = 4 * BLG_BUFFER_SIZE;
    log = create(&circular);
    write_samples(log, 1, 2, many_instances);
    make_cells(0, MAX_INSTANCES); /* more instances than fit into the ring */
    assert_int_equal(log_writer_append(log, START, cells), S_FALSE);
    write_samples(log, 4, 2, many_instances);
    assert_int_equal(log_writer_close(log), S_OK);
}

/* Even if a process is killed while it writes to a circular log that is full, all flushed samples remain in the log,
   except those in the oldest buffer. */
static void circular_log_is_complete_after_every_flush(void **state)
{
    const struct log_options circular = {.circular = true, .max_bytes = 6 * BLG_BUFFER_SIZE};
    (void)state;
    struct log_writer *log = create(&circular);
    for (unsigned n = 0; n < 60; n++) {
        write_samples(log, n, 1, many_instances);
        assert_int_equal(log_writer_flush(log), S_OK);
        struct log_reader *reader = open_log();
        const struct log_cell *read;
        int64_t utc, last = 0;
        while (log_reader_next(reader, &utc, &read) == S_OK) {
            assert_true(last == 0 || utc == last + SECOND);
            last = utc;
        }
        assert_int_equal(last, START + n * SECOND);
        log_reader_close(reader);
    }
    assert_int_equal(log_writer_close(log), S_OK);
}

static void memory_may_run_out_while_reading(void **state)
{
    unsigned failures = 0;
    bool reached = true;
    (void)state;
    write_log(8, few_instances);
    for (uint64_t fail_at = 1; reached; fail_at++) {
        struct log_reader *reader = NULL;
        const struct log_cell *read;
        int64_t utc;
        memory_fail_at(fail_at);
        HRESULT hr = log_reader_open(PATH, &reader);
        while (hr == S_OK)
            hr = log_reader_next(reader, &utc, &read);
        reached = memory_count() >= fail_at;
        memory_fail_at(0);
        if (reached) {
            assert_true(hr == E_OUTOFMEMORY || hr == S_FALSE); /* a warning may be lost */
            failures += hr == E_OUTOFMEMORY;
        }
        log_reader_close(reader);
    }
    assert_true(failures >= 20);
}

static void other_containers_are_rejected(void **state)
{
    static const struct etl_log header = {
        .buffer_size = BLG_BUFFER_SIZE, .start_utc = START, .clock = ETL_CLOCK_SYSTEM, .processors = 1};
    struct etl_event event = {.head = {0x38, 0, 0x14, 0xC0}, .head_size = 0x38};
    struct etl_file *file;
    struct log_reader *reader;
    (void)state;
    assert_int_equal(etl_file_create(PATH, false, &header, &file), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(log_reader_open(PATH, &reader), DAMAGED);
    assert_non_null(strstr(error_text(DAMAGED), "no catalog"));
    struct etl_event thread = {.head = {0, 0, 0x02, 0xC0, 0x20, 0, 0x01, 0x05}, .head_size = 0x20}; /* a kernel event */
    assert_int_equal(etl_file_create(PATH, true, &header, &file), S_OK);
    assert_int_equal(etl_file_add(file, START, &thread, 1), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(log_reader_open(PATH, &reader), DAMAGED);
    assert_non_null(strstr(error_text(DAMAGED), "event trace"));
    assert_int_equal(etl_file_create(PATH, true, &header, &file), S_OK);
    assert_int_equal(etl_file_add(file, START, &event, 1), S_OK);
    assert_int_equal(etl_file_close(file), S_OK);
    assert_int_equal(log_reader_open(PATH, &reader), DAMAGED);
    assert_non_null(strstr(error_text(DAMAGED), "event trace"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_written_is_read, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(an_instance_without_a_value_is_omitted, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_single_string_keeps_its_instance, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(file_truncated_at_every_byte, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(samples_of_many_parts_are_read_from_a_cut_file, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(truncated_file_is_continued, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(copy_is_identical, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_range_of_time_is_found, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_corrupt_buffer_is_skipped_with_a_warning, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(circular_log_keeps_the_newest_samples, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_circular_log_needs_room, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(circular_log_is_complete_after_every_flush, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out_while_reading, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(other_containers_are_rejected, remove_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
