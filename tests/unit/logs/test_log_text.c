/* SPDX-License-Identifier: MIT */
/* Text logs. The tests compare every byte, because spreadsheets, relog and scripts read these files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/log.h"

#define PATH   "test_log_text.tmp"
#define SECOND INT64_C(10000000)

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = 0x10000},
    {.machine = "\\\\BOX", .object = "Process", .instance = "svchost", .index = 2, .counter = "% Processor Time"},
    {.machine = "\\\\BOX", .object = "Thread", .instance = "0", .parent = "Idle", .counter = "a \"b\"\tc"},
    {.machine = "\\\\BOX",
     .object = "Gr\xc3\xb6\xc3\x9f"
               "e",
     .instance = "\xe2\x82\xac \xe4\xb8\xad \xf0\x9f\x92\xbe",
     .counter = "n"},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static const struct log_cell first_cells[COUNTERS] = {{.has_value = true, .value = 7638},
                                                      {.has_value = false, .value = 5},
                                                      {.has_value = true, .value = INFINITY},
                                                      {.has_value = true, .value = NAN}};
static const struct log_cell second_cells[COUNTERS] = {{.has_value = true, .value = 0.1},
                                                       {.has_value = true, .value = 0.032083023520161361},
                                                       {.has_value = true, .value = -0.0},
                                                       {.has_value = true, .value = 1e22}};

/* Converts a local time to UTC. */
static int64_t utc_of(int year, int month, int day, int hour, int minute, int second, int millisecond)
{
    struct calendar_time t = {.year = year,
                              .month = month,
                              .day = day,
                              .hour = hour,
                              .minute = minute,
                              .second = second,
                              .millisecond = millisecond};
    int64_t local = clock_from_calendar(&t);
    return local + clock_bias_minutes(local) * 60 * SECOND;
}

static void assert_file(const char *expected)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(PATH, 1 << 24, &text, &size), S_OK);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    memory_free(text);
}

static struct log_writer *open_log(enum log_format format, int64_t start, const struct log_options *options)
{
    struct log_writer *log = NULL;
    (void)file_delete(PATH);
    assert_int_equal(log_writer_create(format, PATH, counters, COUNTERS, start, options, &log), S_OK);
    return log;
}

static int remove_file(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    return 0;
}

/* The header contains the time zone of this host OS, so the test computes that cell. All other text is given by the
   caller. */
static void write_both_rows(enum log_format format, const char *tag, const char *rows)
{
    const int64_t start = utc_of(2021, 3, 4, 9, 51, 39, 0);
    struct log_writer *log = open_log(format, start, NULL);
    char expected[1000], *zone = clock_zone_name();
    assert_int_equal(log_writer_append(log, utc_of(2021, 3, 4, 9, 51, 39, 73) + 9999, first_cells), S_OK);
    assert_int_equal(log_writer_append(log, utc_of(2021, 12, 31, 23, 59, 59, 999), second_cells), S_OK);
    assert_int_equal(log_writer_flush(log), S_OK);
    snprintf(expected, sizeof expected, "\"(%s 4.0) (%s)(%d)\"%s", tag, zone, clock_bias_minutes(start), rows);
    assert_int_equal(log_writer_size(log), strlen(expected));
    assert_file(expected);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_file(expected);
    memory_free(zone);
}

static void csv_matches_pdh(void **state)
{
    (void)state;
    write_both_rows(LOG_CSV, "PDH-CSV",
                    ",\"\\\\BOX\\Memory\\Available MBytes\",\"\\\\BOX\\Process(svchost#2)\\% Processor Time\""
                    ",\"\\\\BOX\\Thread(Idle/0)\\a \"\"b\"\" c\",\"\\\\BOX\\Gr\xf6\xdf"
                    "e(\x80 ? ?\?)\\n\"\r\n"
                    "\"03/04/2021 09:51:39.073\",\"7638\",\" \",\" \",\" \"\r\n"
                    "\"12/31/2021 23:59:59.999\",\"0.10000000000000000555\",\"0.032083023520161360609\",\"-0\""
                    ",\"1e+22\"\r\n");
}

static void tsv_differs_by_tag_and_tab_only(void **state)
{
    (void)state;
    write_both_rows(LOG_TSV, "PDH-TSV",
                    "\t\"\\\\BOX\\Memory\\Available MBytes\"\t\"\\\\BOX\\Process(svchost#2)\\% Processor Time\""
                    "\t\"\\\\BOX\\Thread(Idle/0)\\a \"\"b\"\" c\"\t\"\\\\BOX\\Gr\xf6\xdf"
                    "e(\x80 ? ?\?)\\n\"\r\n"
                    "\"03/04/2021 09:51:39.073\"\t\"7638\"\t\" \"\t\" \"\t\" \"\r\n"
                    "\"12/31/2021 23:59:59.999\"\t\"0.10000000000000000555\"\t\"0.032083023520161360609\"\t\"-0\""
                    "\t\"1e+22\"\r\n");
}

/* A log that was written in another time zone keeps that zone when it is copied on this host OS. */
static void zone_without_a_name_is_written_as_its_bias(void **state)
{
    static const struct {
        int bias;
        const char *cell;
    } zones[] = {{480, "(UTC-08:00)(480)"}, {-345, "(UTC+05:45)(-345)"}};
    (void)state;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        const struct log_options options = {.zone = {.known = true, .bias_minutes = zones[i].bias}};
        struct log_writer *log = open_log(LOG_CSV, 0, &options);
        char *text;
        size_t size;
        assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
        assert_non_null(strstr(text, zones[i].cell));
        memory_free(text);
    }
}

static void log_without_counters_has_only_timestamps(void **state)
{
    struct log_writer *log;
    char *text;
    size_t size;
    (void)state;
    assert_int_equal(log_writer_create(LOG_CSV, PATH, NULL, 0, utc_of(2020, 1, 1, 0, 0, 0, 0), NULL, &log), S_OK);
    assert_int_equal(log_writer_append(log, utc_of(2020, 1, 1, 0, 0, 1, 0), NULL), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1000, &text, &size), S_OK);
    assert_non_null(strstr(text, ")\"\r\n\"01/01/2020 00:00:01.000\"\r\n"));
    memory_free(text);
}

static void limit_omits_complete_rows(void **state)
{
    (void)state;
    const int64_t start = utc_of(2021, 3, 4, 9, 0, 0, 0);
    struct log_writer *log = open_log(LOG_CSV, start, NULL);
    uint64_t header = log_writer_size(log), size;
    assert_int_equal(log_writer_append(log, start, first_cells), S_OK);
    uint64_t row = log_writer_size(log) - header;
    assert_int_equal(log_writer_close(log), S_OK);

    const struct log_options exact = {.max_bytes = header + 2 * row}, less = {.max_bytes = header + 2 * row - 1};
    log = open_log(LOG_CSV, start, &exact);
    assert_int_equal(log_writer_append(log, start, first_cells), S_OK);
    assert_int_equal(log_writer_append(log, start, first_cells), S_OK);
    assert_int_equal(log_writer_append(log, start, first_cells), S_FALSE);
    assert_int_equal(log_writer_size(log), exact.max_bytes);
    assert_int_equal(log_writer_close(log), S_OK);

    log = open_log(LOG_CSV, start, &less);
    assert_int_equal(log_writer_append(log, start, first_cells), S_OK);
    assert_int_equal(log_writer_append(log, start, first_cells), S_FALSE);
    assert_int_equal(log_writer_close(log), S_OK);
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_READ, &file), S_OK);
    assert_int_equal(file_size(file, &size), S_OK);
    file_close(file);
    assert_int_equal(size, header + row);
}

static void unsupported_counters_are_rejected_by_name(void **state)
{
    const struct log_counter wildcard = {.machine = "\\\\BOX", .object = "Process", .wildcard = true, .counter = "ID"};
    struct log_writer *log = NULL;
    (void)state;
    for (int format = LOG_CSV; format <= LOG_TSV; format++) {
        assert_int_equal(log_writer_create((enum log_format)format, PATH, &wildcard, 1, 0, NULL, &log), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "\\\\BOX\\Process(*)\\ID"));
        assert_false(file_exists(PATH));
    }
    const HRESULT refused = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
    assert_int_equal(log_writer_create((enum log_format)99, PATH, counters, COUNTERS, 0, NULL, &log), refused);
    assert_null(log);
    assert_int_equal(log_writer_close(NULL), S_OK);
}

/* If a format had the wrong name or extension, no tool could open the log. */
static void each_format_is_found_by_name_and_has_its_traits(void **state)
{
    const struct log_counter wildcard = {.machine = "\\\\BOX", .object = "Process", .wildcard = true, .counter = "ID"};
    static const struct log_options ring = {.circular = true, .max_bytes = 1 << 20};
    const struct log_format_traits *t;
    int format = 0;
    (void)state;
    for (; (t = log_format_traits((enum log_format)format)) != NULL; format++) {
        assert_int_equal(t->format, format);
        assert_ptr_equal(log_format_by_word(t->word), t);
        assert_ptr_equal(log_format_by_type(t->pdh_type), t->is_export ? NULL : t);
        assert_int_equal(t->is_file, t->extension[0] == '.');
        assert_true(t->values || t->raw);
        if (!t->is_file)
            continue;
        struct log_writer *log = NULL;
        HRESULT hr = log_writer_create(t->format, PATH, &wildcard, 1, 0, NULL, &log);
        assert_int_equal(SUCCEEDED(hr), t->wildcards);
        assert_int_equal(log_writer_close(log), S_OK);
        (void)file_delete(PATH);
        assert_int_equal(log_writer_create(t->format, PATH, counters, COUNTERS, 0, &ring, &log), S_OK);
        assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(file_delete(PATH), S_OK);
    }
    assert_int_equal(format, LOG_OPENMETRICS + 1);
    assert_ptr_equal(log_format_by_word("bin"), log_format_traits(LOG_BINARY));
    assert_null(log_format_by_word("blah"));
    assert_null(log_format_by_type(0));
    assert_null(log_format_traits((enum log_format) - 1));
}

static void formats_are_found_by_option_word_and_by_extension(void **state)
{
    bool circular;
    char words[LOG_WORDS_BYTES];
    (void)state;
    assert_ptr_equal(log_format_by_option("BinCirc", &circular), log_format_traits(LOG_BINARY));
    assert_true(circular);
    assert_ptr_equal(log_format_by_option("csv", &circular), log_format_traits(LOG_CSV));
    assert_false(circular);
    assert_null(log_format_by_option("csvcirc", &circular)); /* only a format with a ring buffer supports circular
                                                                logs */
    assert_null(log_format_by_option("circ", &circular));
    assert_null(log_format_by_option("arrow", &circular)); /* a format for copies, not for sets */
    assert_ptr_equal(log_format_by_extension(".BLG"), log_format_traits(LOG_BINARY));
    assert_ptr_equal(log_format_by_extension("blg"), log_format_traits(LOG_BINARY));
    assert_null(log_format_by_extension("")); /* SQL is not a file format */
    log_format_words(LOG_FOR_SETS, "|", words, sizeof words);
    assert_string_equal(words, "bin|bincirc|csv|tsv|sql");
    log_format_words(LOG_FOR_SAMPLES, ", ", words, sizeof words);
    assert_string_equal(words, "bin, csv, tsv, sql");
    log_format_words(LOG_FOR_COPIES, ", ", words, sizeof words);
    assert_string_equal(words, "bin, csv, tsv, sql, arrow, jsonl, influx, openmetrics");
    log_format_words(LOG_FOR_SAMPLES, ", ", words, 6);
    assert_string_equal(words, "bin, ");
    assert_true(log_is_log_name("C:\\logs\\a.Tsv"));
    assert_true(log_is_log_name("trace.etl"));
    assert_false(log_is_log_name("report.xml"));
    assert_false(log_is_log_name("copy.arrow"));
    assert_false(log_is_log_name(".blg"));
}

static void existing_foreign_file_is_kept_also_when_appending(void **state)
{
    struct log_writer *log = NULL;
    const struct log_options append = {.append = true};
    (void)state;
    assert_int_equal(file_store(PATH, "mine", 4), S_OK);
    assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS, 0, NULL, &log),
                     HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS, 0, &append, &log),
                     HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), PATH));
    assert_file("mine");
}

/* If memory runs out at any step, only that step fails, and nothing leaks (the sanitizer detects leaks). */
static void memory_may_run_out_at_every_step(void **state)
{
    const int64_t start = utc_of(2021, 3, 4, 9, 0, 0, 0);
    unsigned failures = 0;
    bool reached = true;
    (void)state;
    for (uint64_t n = 1; reached; n++) {
        struct log_writer *log = NULL;
        memory_fail_at(n);
        HRESULT hr = log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start, NULL, &log);
        HRESULT appended = SUCCEEDED(hr) ? log_writer_append(log, start, first_cells) : S_OK;
        reached = memory_count() >= n;
        memory_fail_at(0);
        if (FAILED(hr)) {
            assert_int_equal(hr, E_OUTOFMEMORY);
            assert_null(log);
            failures++;
        } else {
            assert_int_equal(appended, S_OK); /* rows need no memory */
            assert_int_equal(log_writer_close(log), S_OK);
            assert_int_equal(file_delete(PATH), S_OK);
        }
        assert_false(file_exists(PATH));
    }
    assert_true(failures >= 5);
}

static void code_page_keeps_representable_characters(void **state)
{
    char *ansi;
    size_t size;
    (void)state;
    assert_int_equal(text_to_ansi("", &ansi, &size), S_OK);
    assert_int_equal(size, 0);
    memory_free(ansi);
    assert_int_equal(text_to_ansi("A\xc3\xa9\xe2\x80\x94\xc5\xbe\xd0\x96~\xe2\x88\x9e", &ansi, &size), S_OK);
    assert_int_equal(size, 7);
    assert_string_equal(ansi, "A\xe9\x97\x9e?~?"); /* the infinity sign becomes '?', not the similar '8' */
    memory_free(ansi);
}

#ifndef _WIN32
/* The disk becomes full after a part of a row. That row is lost, but the log stays valid, and it continues when space
   is available. */
static void full_disk_loses_only_one_row(void **state)
{
    const int64_t start = utc_of(2021, 3, 4, 9, 0, 0, 0);
    char *before, *after;
    size_t size_before, size_after;
    (void)state;
    struct log_writer *log = open_log(LOG_CSV, start, NULL);
    const uint64_t header = log_writer_size(log);
    assert_int_equal(log_writer_append(log, start, second_cells), S_OK);
    const uint64_t row_size = log_writer_size(log) - header;
    assert_int_equal(file_load(PATH, 1 << 20, &before, &size_before), S_OK);
    for (uint64_t room = 0; room < row_size; room++) {
        full_disk_at(size_before + room);
        HRESULT hr = log_writer_append(log, start + SECOND, second_cells);
        full_disk_at(UINT64_MAX);
        assert_true(FAILED(hr));
        assert_int_equal(log_writer_size(log), size_before);
        assert_int_equal(file_load(PATH, 1 << 20, &after, &size_after), S_OK);
        assert_int_equal(size_after, size_before);
        assert_memory_equal(after, before, size_before);
        memory_free(after);
    }
    memory_free(before);
    assert_int_equal(log_writer_append(log, start + SECOND, first_cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &after, &size_after), S_OK);
    static const char row[] = "\"03/04/2021 09:00:01.000\",\"7638\",\" \",\" \",\" \"\r\n";
    assert_int_equal(size_after, size_before + strlen(row));
    assert_string_equal(after + size_before, row);
    memory_free(after);

    (void)file_delete(PATH);
    full_disk_at(50);
    HRESULT hr = log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start, NULL, &log);
    full_disk_at(UINT64_MAX);
    assert_true(FAILED(hr));
    assert_false(file_exists(PATH)); /* if the file remained, the next attempt to create it would fail */
}

/* Summer time begins while the log is written. The header keeps the first bias, and each row has its local time. */
static void rows_have_local_time(void **state)
{
    struct calendar_time t = {.year = 2021, .month = 3, .day = 14, .hour = 6, .minute = 59, .second = 59};
    const int64_t utc = clock_from_calendar(&t);
    struct log_writer *log;
    const char *old = getenv("TZ");
    char *saved = old ? text_copy(old) : NULL;
    (void)state;
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, 1, utc, NULL, &log), S_OK);
    assert_int_equal(log_writer_append(log, utc, first_cells), S_OK);
    assert_int_equal(log_writer_append(log, utc + SECOND, first_cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_file("\"(PDH-CSV 4.0) (EST)(300)\",\"\\\\BOX\\Memory\\Available MBytes\"\r\n"
                "\"03/14/2021 01:59:59.000\",\"7638\"\r\n"
                "\"03/14/2021 03:00:00.000\",\"7638\"\r\n");
    (void)file_delete(PATH);
    assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, 0, utc + SECOND, NULL, &log), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_file("\"(PDH-CSV 4.0) (EST)(240)\"\r\n");
    if (saved)
        setenv("TZ", saved, 1);
    else
        unsetenv("TZ");
    memory_free(saved);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(csv_matches_pdh, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(tsv_differs_by_tag_and_tab_only, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(zone_without_a_name_is_written_as_its_bias, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(log_without_counters_has_only_timestamps, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(limit_omits_complete_rows, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(unsupported_counters_are_rejected_by_name, remove_file, remove_file),
        cmocka_unit_test(formats_are_found_by_option_word_and_by_extension),
        cmocka_unit_test_setup_teardown(each_format_is_found_by_name_and_has_its_traits, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(existing_foreign_file_is_kept_also_when_appending, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out_at_every_step, remove_file, remove_file),
        cmocka_unit_test(code_page_keeps_representable_characters),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(full_disk_loses_only_one_row, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(rows_have_local_time, remove_file, remove_file),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
