/* SPDX-License-Identifier: MIT */
/* Reading text logs. If a log is truncated, wherever that is, the reader returns all complete samples and reports the
   truncation. A copy equals its original, and logs of other programs are understood. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#define PATH     "test_log_text_reader.tmp"
#define COPY     "test_log_text_reader.copy.tmp"
#define SECOND   INT64_C(10000000)
#define BAD_DATA HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes"},
    {.machine = "\\\\BOX", .object = "Process", .instance = "svchost", .index = 2, .counter = "% Processor Time"},
    {.machine = "\\\\BOX", .object = "Thread", .instance = "0", .parent = "Idle", .counter = "a \"b\", (c) d"},
};
enum { COUNTERS = sizeof counters / sizeof *counters, SAMPLES = 5 };
static const double values[SAMPLES][COUNTERS] = {
    {7638, NAN, -0.0}, {0.1, 99.99999999, 1e22}, {4.9e-324, 1.7976931348623157e308, NAN}, {NAN, NAN, NAN}, {1, 2, 3}};

/* A Thursday, 09:51:39.073 UTC. */
static int64_t start_utc(void)
{
    const struct calendar_time t = {
        .year = 2021, .month = 3, .day = 4, .hour = 9, .minute = 51, .second = 39, .millisecond = 73};
    return clock_from_calendar(&t);
}

/* Unlike file_store, does not wait for the disk. */
static HRESULT put_file(const void *data, size_t size)
{
    struct file *file;
    HRESULT hr = file_open(PATH, FILE_REPLACE, &file);
    if (SUCCEEDED(hr)) {
        hr = file_write(file, data, size);
        file_close(file);
    }
    return hr;
}

static int remove_files(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    (void)file_delete(COPY);
    return 0;
}

static void append_samples(struct log_writer *log, int first, int end)
{
    for (int i = first; i < end; i++) {
        struct log_cell cells[COUNTERS] = {0};
        for (int k = 0; k < COUNTERS; k++) {
            cells[k].has_value = !isnan(values[i][k]);
            cells[k].value = values[i][k];
        }
        assert_int_equal(log_writer_append(log, start_utc() + i * SECOND, cells), S_OK);
    }
}

static void write_log(enum log_format format)
{
    const struct log_options options = {.zone = {.known = true, .bias_minutes = -330, .name = "India Standard Time"}};
    struct log_writer *log;
    (void)file_delete(PATH);
    assert_int_equal(log_writer_create(format, PATH, counters, COUNTERS, start_utc(), &options, &log), S_OK);
    append_samples(log, 0, SAMPLES);
    assert_int_equal(log_writer_close(log), S_OK);
}

/* Reads all samples of the log, which must equal the first rows of `values`. Returns how many samples it has. */
static int check_samples(struct log_reader *log)
{
    size_t count;
    const struct log_cell *cells;
    int64_t utc;
    HRESULT hr;
    int n = 0;
    for (; (hr = log_reader_next(log, &utc, &cells)) == S_OK; n++) {
        log_reader_counters(log, &count);
        assert_int_equal(count, COUNTERS);
        assert_true(n < SAMPLES);
        assert_true(utc == start_utc() + n * SECOND);
        for (int k = 0; k < COUNTERS; k++) {
            assert_int_equal(cells[k].has_value, !isnan(values[n][k]));
            if (cells[k].has_value) {
                assert_memory_equal(&cells[k].value, &values[n][k], sizeof(double));
                assert_memory_equal(&cells[k].raw.first, &values[n][k], sizeof(double));
            }
            assert_int_equal(cells[k].raw.status <= 1, cells[k].has_value);
        }
    }
    assert_int_equal(hr, S_FALSE);
    return n;
}

static void written_samples_are_read(void **state)
{
    struct log_reader *log;
    size_t count;
    (void)state;
    for (int format = LOG_CSV; format <= LOG_TSV; format++) {
        write_log((enum log_format)format);
        assert_int_equal(log_reader_open(PATH, &log), S_OK);
        const struct log_info *info = log_reader_info(log);
        assert_int_equal(info->format, format);
        assert_true(info->zone.known && info->has_values);
        assert_int_equal(info->zone.bias_minutes, -330);
        assert_string_equal(info->zone.name, "India Standard Time");
        assert_string_equal(info->machine, "\\\\BOX");
        const struct log_counter *names = log_reader_counters(log, &count);
        assert_int_equal(count, COUNTERS);
        for (int i = 0; i < COUNTERS; i++) {
            assert_string_equal(names[i].machine, counters[i].machine);
            assert_string_equal(names[i].object, counters[i].object);
            assert_string_equal(names[i].counter, counters[i].counter);
            assert_int_equal(names[i].index, counters[i].index);
            assert_int_equal(names[i].type, LOG_TYPE_DOUBLE);
        }
        assert_string_equal(names[1].instance, "svchost");
        assert_string_equal(names[2].parent, "Idle");
        assert_int_equal(check_samples(log), SAMPLES);
        assert_int_equal(log_reader_warnings(log)->count, 0);
        uint64_t done, total;
        log_reader_progress(log, &done, &total);
        assert_true(done == total && total > 0);
        log_reader_close(log);
    }
}

/* Copies PATH to COPY in the log's own time zone. */
static void copy_log(void)
{
    struct log_reader *from;
    struct log_writer *to;
    size_t count;
    const struct log_cell *cells;
    int64_t utc;
    HRESULT hr;
    (void)file_delete(COPY);
    assert_int_equal(log_reader_open(PATH, &from), S_OK);
    const struct log_options options = {.zone = log_reader_info(from)->zone};
    const struct log_counter *names = log_reader_counters(from, &count);
    assert_int_equal(log_writer_create(log_reader_info(from)->format, COPY, names, count, 0, &options, &to), S_OK);
    while ((hr = log_reader_next(from, &utc, &cells)) == S_OK)
        assert_int_equal(log_writer_append(to, utc, cells), S_OK);
    assert_int_equal(hr, S_FALSE);
    assert_int_equal(log_writer_close(to), S_OK);
    log_reader_close(from);
}

static void assert_same_files(void)
{
    char *a, *b;
    size_t a_size, b_size;
    assert_int_equal(file_load(PATH, 1 << 20, &a, &a_size), S_OK);
    assert_int_equal(file_load(COPY, 1 << 20, &b, &b_size), S_OK);
    assert_string_equal(b, a);
    assert_int_equal(a_size, b_size);
    memory_free(a);
    memory_free(b);
}

static void copy_is_identical(void **state)
{
    /* A copy keeps each counter's name, even if it is not a path or if OpenPLA would write the path differently. */
    static const char odd[] = "\"(PDH-CSV 4.0) (Zone (odd))(-60)\",\"\\\\B\\Process(x#0)\\n\",\"\",\"no path\""
                              ",\"\\\\B\\O(a/b#1)\\c\",\"\\O\\say \"\"x\"\"\"\r\n"
                              "\"03/04/2021 09:51:39.073\",\"1\",\" \",\"2\",\"0.10000000000000000555\",\"5\"\r\n";
    (void)state;
    for (int format = LOG_CSV; format <= LOG_TSV; format++) {
        write_log((enum log_format)format);
        copy_log();
        assert_same_files();
    }
    assert_int_equal(put_file(odd, sizeof odd - 1), S_OK);
    copy_log();
    assert_same_files();
}

/* Returns the number of complete samples in the first `size` bytes. A sample is complete if its row has the last
   quote. */
static int count_complete_samples(const char *text, size_t size)
{
    int lines = 0, quotes = 0;
    for (size_t i = 0; i < size; i++) {
        quotes += text[i] == '"';
        if (text[i] == '\n') {
            lines++;
            quotes = 0;
        }
    }
    return lines == 0 ? -1 : lines - 1 + (quotes == 2 * (COUNTERS + 1));
}

static void truncated_log_returns_complete_samples_and_the_position(void **state)
{
    char *text;
    size_t size;
    (void)state;
    write_log(LOG_CSV);
    assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
    for (size_t cut = 0; cut < size; cut++) {
        struct log_reader *log;
        char place[64];
        assert_int_equal(put_file(text, cut), S_OK);
        HRESULT hr = log_reader_open(PATH, &log);
        const int whole = count_complete_samples(text, cut);
        if (whole < 0) {
            assert_int_equal(hr, BAD_DATA);
            assert_non_null(strstr(error_text(hr), PATH));
            continue;
        }
        assert_int_equal(hr, S_OK);
        assert_int_equal(check_samples(log), whole);
        const bool at_end =
            text[cut - 1] == '\n' || whole > count_complete_samples(text, cut - 1) || text[cut - 1] == '\r';
        const struct texts *warnings = log_reader_warnings(log);
        assert_int_equal(warnings->count, !at_end);
        if (!at_end) {
            snprintf(place, sizeof place, "line %d at byte ", whole + 2);
            assert_non_null(strstr(warnings->items[0], place));
            assert_non_null(strstr(warnings->items[0], "is truncated"));
        }
        log_reader_close(log);
    }
    memory_free(text);
}

static void truncated_log_can_be_continued(void **state)
{
    char *text;
    size_t size;
    const struct log_options append = {.append = true,
                                       .zone = {.known = true, .bias_minutes = -330, .name = "India Standard Time"}};
    (void)state;
    write_log(LOG_CSV);
    assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
    for (size_t cut = 0; cut <= size; cut++) {
        struct log_writer *log;
        char *again;
        size_t again_size;
        const int whole = count_complete_samples(text, cut);
        assert_int_equal(put_file(text, cut), S_OK);
        assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start_utc(), &append, &log), S_OK);
        append_samples(log, whole < 0 ? 0 : whole, SAMPLES);
        assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(file_load(PATH, 1 << 20, &again, &again_size), S_OK);
        assert_string_equal(again, text);
        memory_free(again);
    }
    memory_free(text);
}

static void only_the_same_columns_are_continued(void **state)
{
    const struct log_options append = {.append = true};
    struct log_writer *log = NULL;
    struct log_reader *reader;
    (void)state;
    write_log(LOG_CSV);
    assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS - 1, 0, &append, &log), E_INVALIDARG);
    assert_int_equal(log_writer_create(LOG_TSV, PATH, counters, COUNTERS, 0, &append, &log), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), PATH));
    copy_log();
    assert_int_equal(log_reader_open(PATH, &reader), S_OK);
    assert_int_equal(check_samples(reader), SAMPLES);
    log_reader_close(reader);
    assert_same_files();
}

/* A log may be continued in another time zone or in the other half of the year. It must not mix two zones. */
static void rows_are_added_in_the_zone_of_the_file(void **state)
{
    const struct log_options elsewhere = {.append = true, .zone = {.known = true, .bias_minutes = 480}};
    struct log_writer *log;
    struct log_reader *reader;
    (void)state;
    for (int zone = 0; zone < 2; zone++) {
        const struct log_options append = zone ? elsewhere : (struct log_options){.append = true};
        struct log_options first = {.zone = {.known = true, .bias_minutes = -330, .name = "India Standard Time"}};
        (void)file_delete(PATH);
        assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start_utc(), &first, &log), S_OK);
        append_samples(log, 0, 2);
        assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start_utc(), &append, &log), S_OK);
        append_samples(log, 2, SAMPLES);
        assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(log_reader_open(PATH, &reader), S_OK);
        assert_int_equal(check_samples(reader), SAMPLES);
        log_reader_close(reader);
    }
}

struct foreign {
    const char *what, *text;
    size_t size; /* 0: strlen */
    int samples, counters, warnings;
    double last;      /* value of the last counter, in the first sample; NAN: no value */
    const char *time; /* UTC time of the first sample */
};

#define LITERAL(t) t, sizeof t - 1
static const struct foreign foreign[] = {
    {"Windows, India",
     LITERAL("\"(PDH-CSV 4.0) (India Standard Time)(-330)\",\"\\\\A\\M\\c\"\n"
             "\"03/04/2021 15:21:39.073\",\"13.959073156484624434\"\n"),
     1, 1, 0, 13.959073156484624, "2021-03-04 09:51:39.073"},
    {"a Russian system that cuts the first cell",
     LITERAL("\"(PDH-CSV 4.0) (RTZ 2 (\",\"\\\\A\\M\\\xd1\"\r\n"
             "\"03/04/2021 09:51:39.073\",\"5\"\r\n"),
     1, 1, 0, 5, NULL},
    {"the same without its quote",
     LITERAL("\"(PDH-CSV 4.0) (RTZ 2 (,\"\\\\A\\M\\c\"\r\n"
             "\"03/04/2021 09:51:39.073\",\"5\"\r\n"),
     1, 1, 0, 5, NULL},
    {"typeperf on the screen",
     LITERAL("\r\n\"(PDH-CSV 4.0)\",\"\\\\A\\M\\c\",\"\\\\A\\M\\d\"\r\n"
             "\"03/04/2021 09:51:39.073\",\"-1\",\"0.000000\"\r\n\r\n"
             "Exiting, please wait...                         \r\n"
             "The command completed successfully.\r\n\r\n"),
     1, 2, 0, 0, NULL},
    {"esxtop, no milliseconds, commas at the end",
     LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\h\\M\\c\",\n\"03/04/2021 09:51:39\",\"1.25\",\n"), 1, 1, 0, 1.25,
     "2021-03-04 09:51:39.000"},
    {"a spreadsheet, American",
     LITERAL("(PDH-CSV 4.0) (Eastern Daylight Time)(240),\\\\A\\M\\c,\\\\A\\P(x)\\d\r\n"
             "3/4/2021 5:51,12, \r\n10/21/2017 9:05,,3\r\n"),
     2, 2, 0, NAN, "2021-03-04 09:51:00.000"},
    {"a spreadsheet with AM and PM",
     LITERAL("(PDH-CSV 4.0) (UTC)(0),\\\\A\\M\\c\r\n3/4/2021 12:00:01 AM,1E+3\r\n"
             "3/4/2021 1:05:07 PM,2\r\n"),
     2, 1, 0, 1000, "2021-03-04 00:00:01.000"},
    {"a spreadsheet, German",
     LITERAL("sep=;\r\n(PDH-CSV 4.0) (UTC)(0);\\\\A\\M\\c;\\\\A\\M\\d\r\n"
             "04.03.2021 09:51:39;1,5;-0,25\r\n"),
     1, 2, 0, -0.25, "2021-03-04 09:51:39.000"},
    {"a spreadsheet, British", LITERAL("(PDH-CSV 4.0) (UTC)(0),\\\\A\\M\\c\n04/03/2021 09:51,1\n25/03/2021 09:51,2\n"),
     2, 1, 0, 1, "2021-03-04 09:51:00.000"},
    {"ISO times, tabs under a comma's tag",
     LITERAL("(PDH-CSV 4.0) (UTC)(0)\t\\\\A\\M\\c\n2021-03-04T09:51:39.0731234\t1,5\n"), 1, 1, 0, 1.5,
     "2021-03-04 09:51:39.073"},
    {"UTF-8 with a mark",
     LITERAL("\xef\xbb\xbf\"(PDH-TSV 4.0) (UTC)(0)\"\t\"\\\\A\\M\\\xc3\xa9\"\n"
             "\"03/04/2021 09:51:39.073\"\t\"5\"\n"),
     1, 1, 0, 5, "2021-03-04 09:51:39.073"},
    {"no counters", LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\"\n\"03/04/2021 09:51:39.073\"\n"), 1, 0, 0, NAN, NULL},
    {"logs put one behind the other, a torn row between them",
     LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b\"\n\"03/04/2021 09:51:39.073\",\"1\"\n\"03/04/20\n"
             "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b\"\n\"03/04/2021 09:51:40.073\",\"2\"\n"
             "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\c\"\n\"03/04/2021 09:51:41.073\",\"3\"\n"),
     2, 1, 2, 1, NULL},
    {"rows with too few and too many values, words, minutes for times",
     LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b\",\"\\A\\c\"\n\"03/04/2021 09:51:39.073\",\"1\",\"much\"\n"
             "\"03/04/2021 09:51:40.073\",\"1\"\n\"03/04/2021 09:51:41.073\",\"1\",\"2\",\"3\"\n05:33.1,1,2\n"
             "13/41/2021 09:51:42.073,1,2\n02/30/2021 00:00:00.000,1,2\n"),
     1, 2, 6, NAN, NULL},
    {"a file system's zeros behind a crash",
     LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b\"\n\"03/04/2021 09:51:39.073\",\"1\"\n\0\0\0\0\0\0\0\0"), 1, 1, 1, 1,
     NULL},
};

static void check_foreign(const struct foreign *f)
{
    struct log_reader *log;
    const struct log_cell *cells;
    int64_t utc;
    int samples = 0;
    size_t count;
    assert_int_equal(log_reader_open(PATH, &log), S_OK);
    log_reader_counters(log, &count);
    assert_int_equal(count, f->counters);
    for (; log_reader_next(log, &utc, &cells) == S_OK; samples++) {
        if (samples == 0) {
            char time[64];
            const struct calendar_time t = clock_calendar(utc);
            snprintf(time, sizeof time, "%04d-%02d-%02d %02d:%02d:%02d.%03d", t.year, t.month, t.day, t.hour, t.minute,
                     t.second, t.millisecond);
            if (f->time)
                assert_string_equal(time, f->time);
            if (count > 0) {
                assert_int_equal(cells[count - 1].has_value, !isnan(f->last));
                assert_true(isnan(f->last) || cells[count - 1].value == f->last);
            }
        }
    }
    assert_int_equal(samples, f->samples);
    const struct texts *warnings = log_reader_warnings(log);
    for (size_t i = 0; i < warnings->count; i++)
        assert_non_null(strstr(warnings->items[i], " at byte "));
    assert_int_equal(warnings->count, f->warnings);
    log_reader_close(log);
}

static void logs_of_other_programs_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        print_message("%s\n", foreign[i].what);
        assert_int_equal(put_file(foreign[i].text, foreign[i].size), S_OK);
        check_foreign(&foreign[i]);
    }
}

/* PerfMon's "Save data as" reportedly writes logs in UTF-16. The test also truncates a log within a character. */
static void utf16_is_read_in_both_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const struct foreign *f = &foreign[i];
        if (f->text[0] == '\xef' || strstr(f->text, "\xd1"))
            continue;
        for (int big = 0; big < 2; big++) {
            char *text = memory_zero(f->size + 2, 2);
            assert_non_null(text);
            text[0] = big ? '\xfe' : '\xff';
            text[1] = big ? '\xff' : '\xfe';
            for (size_t k = 0; k < f->size; k++)
                text[2 * k + 2 + (size_t)big] = f->text[k];
            assert_int_equal(put_file(text, 2 * f->size + 2), S_OK);
            check_foreign(f);
            memory_free(text);
        }
    }
}

static void names_are_found_in_every_encoding(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } logs[] = {
        {LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\A\\M\\Gr\xf6\xdf"
                 "e\"\n")},
        {LITERAL("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\A\\M\\Gr\xc3\xb6\xc3\x9f"
                 "e\"\n")},
        {LITERAL("\xef\xbb\xbf\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\A\\M\\Gr\xc3\xb6\xc3\x9f"
                 "e\"\n")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct log_reader *log;
        size_t count;
        assert_int_equal(put_file(logs[i].text, logs[i].size), S_OK);
        assert_int_equal(log_reader_open(PATH, &log), S_OK);
        assert_string_equal(log_reader_counters(log, &count)->counter, "Gr\xc3\xb6\xc3\x9f"
                                                                       "e");
        log_reader_close(log);
    }
}

static void time_range_can_be_selected(void **state)
{
    struct log_reader *log;
    const struct log_cell *cells;
    int64_t utc;
    (void)state;
    write_log(LOG_CSV);
    assert_int_equal(log_reader_open(PATH, &log), S_OK);
    for (int i = SAMPLES - 1; i >= 0; i--) {
        assert_int_equal(log_reader_seek(log, start_utc() + i * SECOND - 1), S_OK);
        assert_int_equal(log_reader_next(log, &utc, &cells), S_OK);
        assert_true(utc == start_utc() + i * SECOND);
    }
    assert_int_equal(log_reader_seek(log, start_utc() + SAMPLES * SECOND), S_OK);
    assert_int_equal(log_reader_next(log, &utc, &cells), S_FALSE);
    assert_int_equal(log_reader_seek(log, INT64_MIN), S_OK);
    assert_int_equal(check_samples(log), SAMPLES);
    log_reader_close(log);
}

static void other_files_are_rejected_by_name(void **state)
{
    static const char *const texts[] = {"", "name,value\n1,2\n", "(PDH-XSV 4.0)\n",
                                        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b"};
    struct log_reader *log = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(put_file(texts[i], strlen(texts[i])), S_OK);
        assert_int_equal(log_reader_open(PATH, &log), BAD_DATA);
        assert_non_null(strstr(error_text(BAD_DATA), PATH));
    }
    assert_int_equal(file_delete(PATH), S_OK);
    assert_int_equal(log_reader_open(PATH, &log), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(log);
}

/* A file in which every line is corrupt must not cause so many warnings that memory runs out. */
static void the_number_of_warnings_is_limited(void **state)
{
    struct log_reader *log;
    const struct log_cell *cells;
    int64_t utc;
    struct text_buffer b = {0};
    (void)state;
    text_buffer_add(&b, "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\A\\b\"\n");
    for (int i = 0; i < 3 * LOG_MAX_WARNINGS; i++)
        text_buffer_add(&b, "nonsense\n");
    text_buffer_add(&b, "\"03/04/2021 09:51:39.073\",\"1\"\n");
    char *text = text_buffer_take(&b);
    assert_int_equal(put_file(text, strlen(text)), S_OK);
    memory_free(text);
    assert_int_equal(log_reader_open(PATH, &log), S_OK);
    assert_int_equal(log_reader_next(log, &utc, &cells), S_OK);
    assert_int_equal(log_reader_warnings(log)->count, LOG_MAX_WARNINGS);
    assert_non_null(strstr(log_reader_warnings(log)->items[LOG_MAX_WARNINGS - 1], "further warnings"));
    log_reader_close(log);
}

static void memory_may_run_out_at_every_step(void **state)
{
    bool reached = true;
    unsigned failures = 0;
    (void)state;
    write_log(LOG_CSV);
    for (uint64_t n = 1; reached; n++) {
        struct log_reader *log = NULL;
        const struct log_cell *cells;
        int64_t utc;
        memory_fail_at(n);
        HRESULT hr = log_reader_open(PATH, &log);
        while (hr == S_OK)
            hr = log_reader_next(log, &utc, &cells);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_FALSE || hr == E_OUTOFMEMORY);
        failures += hr == E_OUTOFMEMORY;
        log_reader_close(log);
    }
    assert_true(failures > 10);
}

/* If memory runs out before rows are appended, the existing file must stay unchanged. */
static void memory_may_run_out_when_appending(void **state)
{
    const struct log_options append = {.append = true};
    bool reached = true;
    unsigned failures = 0;
    (void)state;
    for (uint64_t n = 1; reached; n++) {
        struct log_writer *log = NULL;
        struct log_reader *reader;
        write_log(LOG_CSV);
        memory_fail_at(n);
        HRESULT hr = log_writer_create(LOG_CSV, PATH, counters, COUNTERS, start_utc(), &append, &log);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        failures += hr == E_OUTOFMEMORY;
        if (hr == S_OK)
            assert_int_equal(log_writer_close(log), S_OK);
        assert_int_equal(log_reader_open(PATH, &reader), S_OK);
        assert_int_equal(check_samples(reader), SAMPLES);
        log_reader_close(reader);
    }
    assert_true(failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(written_samples_are_read, remove_files),
        cmocka_unit_test_teardown(copy_is_identical, remove_files),
        cmocka_unit_test_teardown(truncated_log_returns_complete_samples_and_the_position, remove_files),
        cmocka_unit_test_teardown(truncated_log_can_be_continued, remove_files),
        cmocka_unit_test_teardown(only_the_same_columns_are_continued, remove_files),
        cmocka_unit_test_teardown(rows_are_added_in_the_zone_of_the_file, remove_files),
        cmocka_unit_test_teardown(logs_of_other_programs_are_read, remove_files),
        cmocka_unit_test_teardown(utf16_is_read_in_both_orders, remove_files),
        cmocka_unit_test_teardown(names_are_found_in_every_encoding, remove_files),
        cmocka_unit_test_teardown(time_range_can_be_selected, remove_files),
        cmocka_unit_test_teardown(other_files_are_rejected_by_name, remove_files),
        cmocka_unit_test_teardown(the_number_of_warnings_is_limited, remove_files),
        cmocka_unit_test_teardown(memory_may_run_out_at_every_step, remove_files),
        cmocka_unit_test_teardown(memory_may_run_out_when_appending, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
