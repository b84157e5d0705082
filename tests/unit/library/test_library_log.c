/* SPDX-License-Identifier: MIT */
/* Performance logs through the library: reading samples and tables, and writing logs. */
#include "engine/base/file.h"
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"
#include "library/include/openpla/logs.h"
#include "tests/unit/scratch_folder.h"

#include <math.h>

#define T0     INT64_C(132590000000000000) /* 2021-02-28T15:33:20Z */
#define SECOND INT64_C(10000000)
#define RATE   0x10410400u /* PERF_COUNTER_COUNTER */
#define COUNT  0x00010000u /* PERF_COUNTER_RAWCOUNT */

static char *folder;

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_library_log");
    return 0;
}

static char *path_of(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static const struct openpla_counter three[] = {
    {.path = "\\\\BOX\\Memory\\Free", .type = COUNT},
    {.path = "\\\\BOX\\Disk(C:)\\Reads/sec", .type = RATE, .time_base = 1000},
    {.path = "\\\\BOX\\Own(a#1)\\Load", .type = OPENPLA_TYPE_DOUBLE},
};

/* Writes three counters in five samples, one second apart. The first is 100, 101, ...; the second is a rate of 50 per
   second; the third is 0.5, 2.5, 3.5, 4.5, and has no value in the second sample. */
static void write_three(const char *path, const struct openpla_writer_options *options)
{
    openpla_writer *writer;
    assert_int_equal(openpla_writer_create(path, three, 3, options, &writer), OPENPLA_OK);
    for (int64_t i = 0; i < 5; i++) {
        const struct openpla_value values[] = {
            {.first = 100 + i, .multi_count = 1, .has_value = true, .value = (double)(100 + i)},
            {.first = 50 * i, .second = 1000 * i, .multi_count = 1, .has_value = i > 0, .value = 50},
            {.has_value = i != 1, .value = (double)i + 0.5}};
        assert_int_equal(openpla_writer_append(writer, T0 + i * SECOND, values, 3), OPENPLA_OK);
    }
    assert_int_equal(openpla_writer_flush(writer), OPENPLA_OK);
    assert_int_equal(openpla_writer_close(writer), OPENPLA_OK);
}

static void assert_three(openpla_log *log, bool raw)
{
    const struct openpla_sample *sample;
    for (int64_t i = 0; i < 5; i++) {
        assert_int_equal(openpla_log_next(log, &sample), OPENPLA_OK);
        assert_int_equal(sample->time, T0 + i * SECOND);
        assert_int_equal(sample->count, 3);
        const struct openpla_value *v = sample->values;
        assert_true(v[0].has_value && v[0].value == (double)(100 + i));
        assert_int_equal(v[1].has_value, i > 0);
        assert_true(i > 0 ? v[1].value == 50 : isnan(v[1].value));
        assert_int_equal(v[2].has_value, i != 1);
        assert_true(i != 1 ? v[2].value == (double)i + 0.5 : isnan(v[2].value));
        if (raw) {
            assert_int_equal(v[0].first, 100 + i);
            assert_int_equal(v[1].second, 1000 * i);
        }
    }
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_END);
    assert_null(sample);
}

/* Conversion of logs must not lose values, raw values or rates. */
static void each_format_reads_back_as_written(void **state)
{
    static const struct {
        const char *name;
        enum openpla_format format;
    } rows[] = {{"all.blg", OPENPLA_FORMAT_BINARY}, {"all.csv", OPENPLA_FORMAT_CSV}, {"all.tsv", OPENPLA_FORMAT_TSV}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *path = path_of(rows[i].name);
        openpla_log *log;
        const struct openpla_log_info *info;
        const struct openpla_counter *counter;
        size_t count;
        write_three(path, NULL);
        assert_int_equal(openpla_log_open(path, NULL, &log), OPENPLA_OK);
        assert_int_equal(openpla_log_get_info(log, &info), OPENPLA_OK);
        assert_string_equal(info->path, path);
        assert_int_equal(info->format, rows[i].format);
        assert_int_equal(openpla_log_get_counter_count(log, &count), OPENPLA_OK);
        assert_int_equal(count, 3);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(openpla_log_get_counter(log, k, &counter), OPENPLA_OK);
            assert_string_equal(counter->path, three[k].path);
        }
        assert_string_equal(counter->object, "Own");
        assert_string_equal(counter->instance, "a");
        assert_int_equal(counter->index, 1);
        assert_int_equal(openpla_log_get_counter(log, count, &counter), OPENPLA_END);
        assert_null(counter);
        assert_int_equal(info->samples, 5);
        assert_int_equal(info->end - info->begin, 4 * SECOND);
        assert_three(log, rows[i].format == OPENPLA_FORMAT_BINARY);
        assert_int_equal(openpla_log_close(log), OPENPLA_OK);
        memory_free(path);
    }
}

/* The same test with a database. The database's password must not appear in messages. */
static void database_reads_back_as_written(void **state)
{
    char *path = text_format("SQL:Driver={SQLite3};Database=%s/test.db;PWD=secret!load", folder);
    openpla_log *log;
    const struct openpla_log_info *info;
    (void)state;
    assert_non_null(path);
    write_three(path, NULL);
    assert_int_equal(openpla_log_open(path, NULL, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_get_info(log, &info), OPENPLA_OK);
    assert_int_equal(info->format, OPENPLA_FORMAT_SQL);
    assert_int_equal(info->samples, 5);
    assert_null(strstr(info->path, "secret"));
    assert_three(log, true);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    memory_free(path);
}

/* A program must get only the counters and the time range that it requested. */
static void options_select_counters_and_times(void **state)
{
    static const char *const patterns[] = {"\\Memory\\*", "\\Nothing\\*"};
    const struct openpla_log_options options = {
        .size = sizeof options, .counters = patterns, .counter_count = 2, .begin = T0 + SECOND, .end = T0 + 3 * SECOND};
    char *path = path_of("select.blg");
    openpla_log *log;
    const struct openpla_sample *sample;
    const char *text;
    (void)state;
    write_three(path, NULL);
    assert_int_equal(openpla_log_open(path, &options, &log), OPENPLA_OK);
    for (int64_t i = 1; i <= 3; i++) {
        assert_int_equal(openpla_log_next(log, &sample), OPENPLA_OK);
        assert_int_equal(sample->time, T0 + i * SECOND);
        assert_int_equal(sample->count, 1);
        assert_int_equal(sample->values[0].first, 100 + i);
    }
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_END);
    assert_int_equal(openpla_log_get_warning(log, 0, &text), OPENPLA_OK);
    assert_non_null(strstr(text, "'\\Nothing\\*' matches no counter"));
    assert_int_equal(openpla_log_get_warning(log, 1, &text), OPENPLA_END);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    memory_free(path);
}

/* A rate computed across a seek would be wrong. */
static void seek_can_go_anywhere_and_restarts_rates(void **state)
{
    char *path = path_of("seek.blg");
    openpla_log *log;
    const struct openpla_sample *sample;
    (void)state;
    write_three(path, NULL);
    assert_int_equal(openpla_log_open(path, NULL, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_OK);
    assert_int_equal(openpla_log_seek(log, T0 + 3 * SECOND - 1), OPENPLA_OK);
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_OK);
    assert_int_equal(sample->time, T0 + 3 * SECOND);
    assert_false(sample->values[1].has_value);
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_OK);
    assert_true(sample->values[1].value == 50);
    assert_int_equal(openpla_log_seek(log, T0 + 9 * SECOND), OPENPLA_OK);
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_END);
    assert_int_equal(openpla_log_seek(log, OPENPLA_TIME_MIN), OPENPLA_OK);
    assert_three(log, true);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    memory_free(path);
}

/* ---- instances that appear in the middle of a log ---- */

/* Writes a wildcard counter: first `samples` samples with instance a, then as many with instances a and b. */
static void write_wildcard(const char *path, int64_t samples)
{
    const struct log_counter names = {.machine = "\\\\BOX",
                                      .object = "Process",
                                      .instance = "*",
                                      .counter = "Handles",
                                      .wildcard = true,
                                      .type = COUNT};
    struct log_writer *writer;
    assert_int_equal(log_writer_create(LOG_BINARY, path, &names, 1, T0, NULL, &writer), S_OK);
    for (int64_t i = 0; i < 2 * samples; i++) {
        const struct log_item items[] = {{"a", {.multi_count = 1, .first = i}, false, 0},
                                         {"b", {.multi_count = 1, .first = 1000 + i}, false, 0}};
        const struct log_cell cell = {.items = items, .item_count = i < samples ? 1 : 2};
        assert_int_equal(log_writer_append(writer, T0 + i * SECOND, &cell), S_OK);
    }
    assert_int_equal(log_writer_close(writer), S_OK);
}

/* An instance that appears in the middle of the log must have a column with one row for each of the log's samples. */
static void table_includes_late_instances(void **state)
{
    enum { SAMPLES = 200 };
    static const struct openpla_log_options streamed = {.size = sizeof streamed, .flags = OPENPLA_LOG_STREAM};
    char *path = path_of("late.blg");
    (void)state;
    write_wildcard(path, SAMPLES);
    for (int i = 0; i < 2; i++) {
        openpla_log *log;
        struct openpla_table *table;
        const struct openpla_counter *counter;
        size_t count;
        assert_int_equal(openpla_log_open(path, i == 0 ? NULL : &streamed, &log), OPENPLA_OK);
        assert_int_equal(openpla_log_get_counter_count(log, &count), OPENPLA_OK);
        assert_int_equal(count, i == 0 ? 2 : 0);
        assert_int_equal(openpla_log_read_table(log, 0, &table), OPENPLA_OK);
        assert_int_equal(openpla_log_get_counter(log, 1, &counter), OPENPLA_OK);
        assert_string_equal(counter->path, "\\\\BOX\\Process(b)\\Handles");
        assert_int_equal(openpla_log_close(log), OPENPLA_OK); /* the table remains valid */
        assert_int_equal(table->samples, 2 * SAMPLES);
        assert_int_equal(table->counters, 2);
        for (size_t k = 0; k < 2 * SAMPLES; k++) {
            const double *a = table->values, *b = table->values + table->stride;
            assert_int_equal(table->times[k], T0 + (int64_t)k * SECOND);
            assert_true(a[k] == (double)k);
            assert_true(k < SAMPLES ? isnan(b[k]) : b[k] == (double)(1000 + k));
        }
        openpla_table_free(table);
    }
    memory_free(path);
}

/* A hostile log with few bytes and many instances must not use all memory. */
static void table_size_is_limited(void **state)
{
    char *path = path_of("limit.blg");
    openpla_log *log;
    struct openpla_table *table;
    (void)state;
    write_wildcard(path, 10);
    assert_int_equal(openpla_log_open(path, NULL, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_read_table(log, 39, &table), OPENPLA_E_MEMORY);
    assert_null(table);
    assert_non_null(strstr(openpla_error(), path));
    assert_non_null(strstr(openpla_error(), "more than 39 values"));
    assert_int_equal(openpla_log_seek(log, OPENPLA_TIME_MIN), OPENPLA_OK);
    assert_int_equal(openpla_log_read_table(log, 40, &table), OPENPLA_OK);
    openpla_table_free(table);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    memory_free(path);
}

/* ---- corruption, and out of memory ---- */

/* A program must be informed that samples are missing. */
static void truncated_log_returns_samples_and_a_warning(void **state)
{
    char *path = path_of("cut.csv"), *text;
    size_t size, samples = 0;
    openpla_log *log;
    const struct openpla_sample *sample;
    const char *warning;
    (void)state;
    write_three(path, NULL);
    assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
    assert_int_equal(file_store(path, text, size - 20), S_OK);
    memory_free(text);
    assert_int_equal(openpla_log_open(path, NULL, &log), OPENPLA_OK);
    while (openpla_log_next(log, &sample) == OPENPLA_OK)
        samples++;
    assert_int_equal(samples, 4);
    assert_int_equal(openpla_log_get_warning(log, 0, &warning), OPENPLA_OK);
    assert_non_null(strstr(warning, path));
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    memory_free(path);
}

/* If any allocation fails, the call either returns OPENPLA_E_MEMORY or still reads everything. */
static void out_of_memory_is_an_error(void **state)
{
    char *path = path_of("memory.blg");
    bool complete = false;
    (void)state;
    write_wildcard(path, 70);
    for (uint64_t n = 1; !complete; n++) {
        openpla_log *log;
        struct openpla_table *table = NULL;
        memory_fail_at(n);
        openpla_result result = openpla_log_open(path, NULL, &log);
        if (result == OPENPLA_OK)
            result = openpla_log_read_table(log, 0, &table);
        memory_fail_at(0);
        assert_true(result == OPENPLA_OK || result == OPENPLA_E_MEMORY);
        assert_true(result == OPENPLA_OK ? table && table->samples == 140 : !table);
        if (result != OPENPLA_OK)
            assert_non_null(strstr(openpla_error(), path));
        complete = result == OPENPLA_OK && n > 20;
        openpla_table_free(table);
        if (log)
            assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    }
    memory_free(path);
}

/* ---- writing ---- */

/* Writing a log must not replace an existing file unless the program requests it. */
static void existing_file_is_kept_unless_replace_is_requested(void **state)
{
    const struct openpla_writer_options replace = {.size = sizeof replace, .replace = true};
    char *path = path_of("exists.csv"), *letter = path_of("letter.csv");
    openpla_writer *writer;
    (void)state;
    write_three(path, NULL);
    assert_int_equal(openpla_writer_create(path, three, 3, NULL, &writer), OPENPLA_E_EXISTS);
    assert_null(writer);
    assert_non_null(strstr(openpla_error(), path));
    write_three(path, &replace);
    assert_int_equal(file_store(letter, "Dear all", 8), S_OK);
    assert_int_equal(openpla_writer_create(letter, three, 3, &replace, &writer), OPENPLA_E_INVALID);
    memory_free(path);
    memory_free(letter);
}

/* A log with a size limit must not grow beyond it, and must report that it is full. */
static void full_log_is_reported(void **state)
{
    const struct openpla_writer_options options = {.size = sizeof options, .max_bytes = 1 << 18};
    const struct openpla_value values[3] = {{.has_value = true}, {.has_value = true}, {.has_value = true}};
    char *path = path_of("full.blg");
    openpla_writer *writer;
    openpla_result result = OPENPLA_OK;
    int64_t samples = 0;
    (void)state;
    assert_int_equal(openpla_writer_create(path, three, 3, &options, &writer), OPENPLA_OK);
    while ((result = openpla_writer_append(writer, T0 + samples * SECOND, values, 3)) == OPENPLA_OK)
        samples++;
    assert_int_equal(result, OPENPLA_END);
    assert_true(samples > 3);
    assert_int_equal(openpla_writer_close(writer), OPENPLA_OK);
    memory_free(path);
}

/* ---- times ---- */

static void times_are_converted_and_clamped(void **state)
{
    (void)state;
    assert_int_equal(openpla_time_to_unix_ns(T0), INT64_C(1614526400000000000));
    assert_int_equal(openpla_time_from_unix_ns(INT64_C(1614526400000000000)), T0);
    assert_int_equal(openpla_time_from_unix_ns(-1), INT64_C(116444735999999999));
    assert_int_equal(openpla_time_to_unix_ns(INT64_MAX), INT64_MAX);
    assert_int_equal(openpla_time_to_unix_ns(INT64_MIN), INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_reads_back_as_written),
        cmocka_unit_test(database_reads_back_as_written),
        cmocka_unit_test(options_select_counters_and_times),
        cmocka_unit_test(seek_can_go_anywhere_and_restarts_rates),
        cmocka_unit_test(table_includes_late_instances),
        cmocka_unit_test(table_size_is_limited),
        cmocka_unit_test(truncated_log_returns_samples_and_a_warning),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(existing_file_is_kept_unless_replace_is_requested),
        cmocka_unit_test(full_log_is_reported),
        cmocka_unit_test(times_are_converted_and_clamped),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}
