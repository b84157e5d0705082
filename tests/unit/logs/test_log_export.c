/* SPDX-License-Identifier: MIT */
/* Copies of logs for other programs: the file contains each value once, with the name and unit that the program
   expects, and no value that is missing in the log. A failed copy leaves no file. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/export/column_store.h"
#include "engine/logs/export/flatbuffer.h"
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>

#define PATH   "test_log_export.tmp"
#define SECOND INT64_C(10000000)
#define START  INT64_C(132593251990730000) /* 2021-03-04T09:53:19.073Z */

static int remove_file(void **state)
{
    (void)state;
    if (file_exists(PATH))
        assert_int_equal(file_delete(PATH), S_OK);
    return 0;
}

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX",
     .object = "Process",
     .instance = "svchost",
     .index = 1,
     .counter = "% User Time",
     .type = PERF_100NSEC_TIMER,
     .time_base = SECOND},
    {.machine = "\\\\BOX",
     .object = "Memory",
     .counter = "Available MBytes",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .time_base = SECOND},
    {.machine = "\\\\BOX",
     .object = "PhysicalDisk",
     .instance = "0 C:",
     .counter = "Avg. Disk sec/Read",
     .type = PERF_AVERAGE_TIMER,
     .time_base = 1000},
    {.machine = "\\\\BOX",
     .object = "Process",
     .instance = "svchost",
     .index = 1,
     .counter = "ID Process",
     .type = PERF_COUNTER_RAWCOUNT,
     .time_base = SECOND},
    {.machine = "\\\\BOX", .object = "Text", .counter = "Name", .type = PERF_COUNTER_TEXT},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static struct log_cell cell_of(int64_t first, int64_t second, double value)
{
    return (struct log_cell){
        .raw = {.first = first, .second = second, .multi_count = 1}, .has_value = true, .value = value};
}

static const struct log_cell missing = {.raw = {.status = PDH_CSTATUS_NO_INSTANCE}};

static struct log_writer *created(enum log_format format, const struct log_counter *list, size_t count)
{
    struct log_writer *log = NULL;
    const HRESULT hr = log_writer_create(format, PATH, list, count, START, NULL, &log);
    if (FAILED(hr))
        print_error("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
    return log;
}

/* Writes three samples. The third has another process id; the second lacks the disk. */
static void write_samples(struct log_writer *log)
{
    for (int i = 0; i < 3; i++) {
        struct log_cell cells[COUNTERS] = {cell_of(15000000 + i * SECOND, 0, 12.5 + i), cell_of(1000 - i, 0, 1000 - i),
                                           i == 1 ? missing : cell_of(2500 + i, 10 + i, 0.25),
                                           cell_of(i < 2 ? 70 : 90, 0, i < 2 ? 70 : 90), missing};
        if (i == 0)
            cells[0].has_value = false; /* a rate needs two samples */
        assert_int_equal(log_writer_append(log, START + i * SECOND, cells), S_OK);
    }
}

static char *written(enum log_format format)
{
    struct log_writer *log = created(format, counters, COUNTERS);
    char *text = NULL;
    size_t size;
    write_samples(log);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
    return text;
}

static void json_lines_have_all_counters_in_each_line(void **state)
{
    (void)state;
    char *text = written(LOG_JSONL);
    assert_string_equal(
        text, "{\"time\":\"2021-03-04T09:53:19.073Z\",\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\% User Time\":null,"
              "\"\\\\\\\\BOX\\\\Memory\\\\Available MBytes\":1000,\"\\\\\\\\BOX\\\\PhysicalDisk(0 C:)\\\\Avg. Disk "
              "sec/Read\":0.25,"
              "\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\ID Process\":70,\"\\\\\\\\BOX\\\\Text\\\\Name\":null}\n"
              "{\"time\":\"2021-03-04T09:53:20.073Z\",\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\% User Time\":13.5,"
              "\"\\\\\\\\BOX\\\\Memory\\\\Available MBytes\":999,\"\\\\\\\\BOX\\\\PhysicalDisk(0 C:)\\\\Avg. Disk "
              "sec/Read\":null,"
              "\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\ID Process\":70,\"\\\\\\\\BOX\\\\Text\\\\Name\":null}\n"
              "{\"time\":\"2021-03-04T09:53:21.073Z\",\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\% User Time\":14.5,"
              "\"\\\\\\\\BOX\\\\Memory\\\\Available MBytes\":998,\"\\\\\\\\BOX\\\\PhysicalDisk(0 C:)\\\\Avg. Disk "
              "sec/Read\":0.25,"
              "\"\\\\\\\\BOX\\\\Process(svchost#1)\\\\ID Process\":90,\"\\\\\\\\BOX\\\\Text\\\\Name\":null}\n");
    memory_free(text);
}

static void influx_lines_have_times_in_nanoseconds(void **state)
{
    (void)state;
    char *text = written(LOG_INFLUX);
    assert_string_equal(
        text,
        "win_proc,host=BOX,instance=svchost#1,objectname=Process ID_Process=70 1614851599073000000\n"
        "win_mem,host=BOX,objectname=Memory Available_MBytes=1000 1614851599073000000\n"
        "win_diskio,host=BOX,instance=0\\ C:,objectname=PhysicalDisk Avg._Disk_sec/Read=0.25 1614851599073000000\n"
        "win_proc,host=BOX,instance=svchost#1,objectname=Process Percent_User_Time=13.5,ID_Process=70 "
        "1614851600073000000\n"
        "win_mem,host=BOX,objectname=Memory Available_MBytes=999 1614851600073000000\n"
        "win_proc,host=BOX,instance=svchost#1,objectname=Process Percent_User_Time=14.5,ID_Process=90 "
        "1614851601073000000\n"
        "win_mem,host=BOX,objectname=Memory Available_MBytes=998 1614851601073000000\n"
        "win_diskio,host=BOX,instance=0\\ C:,objectname=PhysicalDisk Avg._Disk_sec/Read=0.25 1614851601073000000\n");
    memory_free(text);
}

static void openmetrics_families_have_the_names_of_the_exporter(void **state)
{
    (void)state;
    char *text = written(LOG_OPENMETRICS);
    assert_string_equal(
        text,
        "# HELP windows_process_user_time_seconds \\\\Process(*)\\\\% User Time\n"
        "# TYPE windows_process_user_time_seconds counter\n"
        "# UNIT windows_process_user_time_seconds seconds\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"70\"} 1.5 1614851599.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"70\"} 2.5 1614851600.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"90\"} 3.5 1614851601.073\n"
        "# HELP windows_memory_available_bytes \\\\Memory\\\\Available MBytes\n"
        "# TYPE windows_memory_available_bytes gauge\n"
        "# UNIT windows_memory_available_bytes bytes\n"
        "windows_memory_available_bytes{computer=\"BOX\"} 1048576000 1614851599.073\n"
        "windows_memory_available_bytes{computer=\"BOX\"} 1047527424 1614851600.073\n"
        "windows_memory_available_bytes{computer=\"BOX\"} 1046478848 1614851601.073\n"
        "# HELP windows_physicaldisk_avg_disk_read_seconds \\\\PhysicalDisk(*)\\\\Avg. Disk sec/Read\n"
        "# TYPE windows_physicaldisk_avg_disk_read_seconds summary\n"
        "# UNIT windows_physicaldisk_avg_disk_read_seconds seconds\n"
        "windows_physicaldisk_avg_disk_read_seconds_sum{computer=\"BOX\",name=\"0 C:\"} 2.5 1614851599.073\n"
        "windows_physicaldisk_avg_disk_read_seconds_count{computer=\"BOX\",name=\"0 C:\"} 10 1614851599.073\n"
        "windows_physicaldisk_avg_disk_read_seconds_sum{computer=\"BOX\",name=\"0 C:\"} 2.502 1614851601.073\n"
        "windows_physicaldisk_avg_disk_read_seconds_count{computer=\"BOX\",name=\"0 C:\"} 12 1614851601.073\n"
        "# HELP windows_process_id_process \\\\Process(*)\\\\ID Process\n"
        "# TYPE windows_process_id_process gauge\n"
        "windows_process_id_process{computer=\"BOX\",name=\"svchost\",pid=\"70\"} 70 1614851599.073\n"
        "windows_process_id_process{computer=\"BOX\",name=\"svchost\",pid=\"70\"} 70 1614851600.073\n"
        "windows_process_id_process{computer=\"BOX\",name=\"svchost\",pid=\"90\"} 90 1614851601.073\n"
        "# EOF\n");
    memory_free(text);
}

/* A process that moves from svchost#2 to svchost#1 is one series with adjacent points. */
static void openmetrics_follows_a_process_to_another_instance(void **state)
{
    struct log_counter list[6];
    struct log_writer *log;
    char *text;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        list[i] = counters[i % 2 ? 3 : 0];
        list[i].index = i < 2 ? 1 : 2;
    }
    list[4] = counters[0];
    list[4].instance = "_Total"; /* the sum of the other instances */
    list[4].index = 0;
    list[5] = list[0]; /* the same name a second time */
    log = created(LOG_OPENMETRICS, list, 6);
    for (int i = 0; i < 4; i++) {
        /* Process 9 is first svchost#2, then svchost#1. Its processor time once decreases by 0.1 ms. Two samples have
           the same timestamp. */
        const int64_t nine = i == 3 ? SECOND * 3 - 1000 : SECOND * (i + 1);
        struct log_cell cells[6] = {cell_of(i < 2 ? 5 * SECOND : nine, 0, 0),
                                    cell_of(i < 2 ? 7 : 9, 0, 0),
                                    i < 2 ? cell_of(nine, 0, 0) : missing,
                                    i < 2 ? cell_of(9, 0, 0) : missing,
                                    cell_of(6 * SECOND, 0, 0),
                                    cell_of(8 * SECOND, 0, 0)};
        assert_int_equal(log_writer_append(log, START + i * SECOND, cells), S_OK);
        if (i == 2) {
            cells[0].raw.first = 99 * SECOND;
            assert_int_equal(log_writer_append(log, START + i * SECOND, cells), S_OK);
        }
    }
    assert_int_equal(log_writer_warning(log, &text), S_OK);
    assert_string_equal(text, "omitted counters: 1, because other counters have the same names; the first is "
                              "'\\\\BOX\\Process(svchost#1)\\% User Time'");
    memory_free(text);
    assert_int_equal(log_writer_warning(log, &text), S_FALSE);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
    const char *end = strstr(text, "# HELP windows_process_id_process");
    assert_non_null(end);
    text[end - text] = '\0';
    assert_string_equal(
        strstr(text, "windows_process_user_time_seconds_total"),
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"7\"} 5 1614851599.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"7\"} 5 1614851600.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"9\"} 1 1614851599.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"9\"} 2 1614851600.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"9\"} 3 1614851601.073\n"
        "windows_process_user_time_seconds_total{computer=\"BOX\",name=\"svchost\",pid=\"9\"} 3 1614851602.073\n");
    memory_free(text);
}

/* A text log has no raw values. */
static void openmetrics_of_computed_values_are_gauges(void **state)
{
    struct log_counters list = {0};
    static const char *const paths[] = {"\\\\BOX\\Processor(_Total)\\% Processor Time", "\\\\BOX\\Memory\\Pages/sec",
                                        "\\\\BOX\\Speicher\\Verf\303\274gbare MB"};
    char *text;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(log_counters_add_path(&list, paths[i]), S_OK);
    struct log_writer *log = created(LOG_OPENMETRICS, list.items, 3);
    const struct log_cell cells[] = {cell_of(0, 0, 12.5), cell_of(0, 0, (double)INFINITY), cell_of(0, 0, 0.1)};
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &text, &size), S_OK);
    assert_string_equal(text, "# HELP windows_processor_processor_time_ratio \\\\Processor(*)\\\\% Processor Time\n"
                              "# TYPE windows_processor_processor_time_ratio gauge\n"
                              "# UNIT windows_processor_processor_time_ratio ratio\n"
                              "windows_processor_processor_time_ratio{computer=\"BOX\",name=\"_Total\"} 0.125 "
                              "1614851599.073\n"
                              "# HELP windows_speicher_verf_gbare_mb_48d925b2 \\\\Speicher\\\\Verf\303\274gbare MB\n"
                              "# TYPE windows_speicher_verf_gbare_mb_48d925b2 gauge\n"
                              "windows_speicher_verf_gbare_mb_48d925b2{computer=\"BOX\"} 0.1 1614851599.073\n"
                              "# EOF\n");
    memory_free(text);
    log_counters_free(&list);
}

static HRESULT stop(void *user)
{
    return error_set(E_ABORT, "%s", (const char *)user);
}

static void final_writing_can_be_stopped(void **state)
{
    const struct log_options options = {.check = stop, .check_user = (void *)"stopped"};
    struct log_writer *log;
    (void)state;
    assert_int_equal(log_writer_create(LOG_OPENMETRICS, PATH, counters, COUNTERS, START, &options, &log), S_OK);
    write_samples(log);
    assert_int_equal(log_writer_close(log), E_ABORT);
    assert_string_equal(error_text(E_ABORT), "stopped");
}

static uint32_t number_at(const char *bytes, size_t at)
{
    const unsigned char *b = (const unsigned char *)bytes + at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* cli.relog_formats tests that Arrow's own library reads the file; this test checks the properties on which memory
   mapping relies. */
static void arrow_files_are_framed_and_aligned(void **state)
{
    static const struct log_counter twins[] = {{.object = "o", .counter = "a"}, {.object = "o", .counter = "a"}};
    const struct log_cell cells[] = {cell_of(0, 0, 1), missing};
    struct log_writer *log = created(LOG_ARROW, twins, 2);
    char *bytes;
    size_t size;
    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(log_writer_append(log, START + i * SECOND, cells), S_OK);
        if (i == 4)
            assert_int_equal(log_writer_flush(log), S_OK); /* the next sample starts another batch */
    }
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &bytes, &size), S_OK);
    assert_memory_equal(bytes, "ARROW1\0\0", 8);
    assert_memory_equal(bytes + size - 6, "ARROW1", 6);
    const size_t footer = size - 10 - number_at(bytes, size - 10);
    assert_int_equal(number_at(bytes, footer - 8), UINT32_MAX); /* marks the end of the stream */
    assert_int_equal(number_at(bytes, footer - 4), 0);
    size_t at = 8, batches = 0;
    static const size_t bodies[] = {0, 64 + 64 + 64 + 64, 64 + 64 + 64 + 64};
    for (; number_at(bytes, at + 4) != 0; batches++) {
        assert_int_equal(number_at(bytes, at), UINT32_MAX);
        assert_int_equal(at % 8, 0);
        assert_true(batches < 3);
        at += 8 + number_at(bytes, at + 4) + bodies[batches];
    }
    assert_int_equal(batches, 3);
    assert_int_equal(at, footer - 8);
    bool has_second = false; /* DuckDB would merge two columns with the same name */
    for (size_t i = 0; i + 8 < size; i++)
        has_second |= memcmp(bytes + i, "\\o\\a (2)", 8) == 0;
    assert_true(has_second);
    memory_free(bytes);
}

/* The expected bytes were verified with Arrow's JavaScript library. The test must not depend on that library. */
static void arrow_files_match_known_good_bytes(void **state)
{
    struct log_writer *log = created(LOG_ARROW, counters, COUNTERS);
    char *bytes;
    size_t size;
    (void)state;
    write_samples(log);
    assert_int_equal(log_writer_close(log), S_OK);
    assert_int_equal(file_load(PATH, 1 << 20, &bytes, &size), S_OK);
    const uint64_t hash = hash_bytes(HASH_START, bytes, size);
    memory_free(bytes);
    assert_int_equal(size, 2354);
    assert_int_equal(hash, 0x5359ecefc0475ee);
}

static void flatbuffers_refer_to_what_they_contain(void **state)
{
    struct flatbuffer f = {0};
    size_t size;
    (void)state;
    for (int again = 0; again < 2; again++) {
        const flat_place text = flat_string(&f, "abcde");
        const flat_place items[] = {text, text}, list = flat_vector(&f, items, 2);
        flat_table(&f);
        flat_number(&f, 0, 7, 2);
        flat_reference(&f, 2, list);
        flat_number(&f, 3, 0x1122334455667788, 8);
        const uint8_t *b = flat_finish(&f, flat_table_end(&f), &size);
        assert_non_null(b);
        assert_int_equal(size % 8, 0);
        const size_t table = number_at((const char *)b, 0), vtable = table - number_at((const char *)b, table);
        assert_int_equal(b[vtable], 4 + 2 * 4);
        assert_int_equal(b[vtable + 6], 0); /* the table has no field for slot 1 */
        assert_int_equal(b[table + b[vtable + 4]], 7);
        assert_int_equal((table + b[vtable + 10]) % 8, 0);
        assert_int_equal(b[table + b[vtable + 10]], 0x88);
        const size_t reference = table + b[vtable + 8], vector = reference + number_at((const char *)b, reference);
        assert_int_equal(number_at((const char *)b, vector), 2);
        const size_t string = vector + 8 + number_at((const char *)b, vector + 8);
        assert_int_equal(number_at((const char *)b, string), 5);
        assert_string_equal((const char *)b + string + 4, "abcde");
        flat_clear(&f);
    }
    flat_free(&f);
}

/* If there are more samples than fit into memory, blocks of them are in a temporary file. */
static void columns_of_long_logs_are_complete(void **state)
{
    static const uint8_t words[] = {1, 2, 1};
    enum { SAMPLES = 1000 };
    struct column_store *s;
    struct column_part part;
    (void)state;
    assert_int_equal(column_store_create(words, 3, 4096, &s), S_OK);
    for (int i = 0; i < SAMPLES; i++) {
        column_store_set(s, 0, i, 0);
        if (i % 3 != 0)
            column_store_set(s, 1, 10 * i, 20 * i);
        assert_int_equal(column_store_next(s), S_OK);
    }
    const size_t rows = column_store_part_rows(s);
    assert_true(rows < SAMPLES / 4);
    assert_int_equal(column_store_samples(s), SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        assert_int_equal(column_store_read(s, 0, 0, i / rows, &part), S_OK);
        assert_int_equal(part.rows, i / rows < SAMPLES / rows ? rows : SAMPLES % rows);
        assert_true(column_part_has(&part, i % rows));
        assert_int_equal(part.first[i % rows], i);
        assert_int_equal(column_store_read(s, 1, 1, i / rows, &part), S_OK);
        assert_int_equal(column_part_has(&part, i % rows), i % 3 != 0);
        if (i % 3 != 0) {
            assert_int_equal(part.first[i % rows], 10 * i);
            assert_int_equal(part.second[i % rows], 20 * i);
        }
        assert_int_equal(column_store_read(s, 2, 2, i / rows, &part), S_OK);
        assert_false(column_part_has(&part, i % rows));
    }
    column_store_free(s);
}

static void no_memory_leaves_no_file(void **state)
{
    (void)state;
    for (enum log_format format = LOG_ARROW; format <= LOG_OPENMETRICS; format++) {
        HRESULT hr = E_OUTOFMEMORY;
        for (uint64_t n = 1; FAILED(hr); n++) {
            struct log_writer *log = NULL;
            memory_fail_at(n);
            hr = log_writer_create(format, PATH, counters, COUNTERS, START, NULL, &log);
            if (FAILED(hr)) {
                memory_fail_at(0);
                assert_null(log);
                assert_false(file_exists(PATH));
                continue;
            }
            const struct log_cell cells[COUNTERS] = {cell_of(1, 1, 1), cell_of(2, 2, 2), cell_of(3, 3, 3),
                                                     cell_of(4, 4, 4), missing};
            hr = log_writer_append(log, START, cells);
            const HRESULT closed = log_writer_close(log);
            memory_fail_at(0);
            hr = FAILED(hr) ? hr : closed;
            assert_int_equal(file_delete(PATH), S_OK);
            assert_true(n < 10000);
        }
    }
}

static HRESULT fail_writes(void *user, enum file_operation operation, const char *path)
{
    (void)path;
    int *left = user;
    return operation == FILE_OPERATION_WRITE && (*left)-- == 0 ? S_FALSE : S_OK;
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    for (enum log_format format = LOG_ARROW; format <= LOG_OPENMETRICS; format++) {
        int left = 0;
        struct log_writer *log = created(format, counters, COUNTERS);
        write_samples(log);
        file_observe(fail_writes, &left);
        assert_int_equal(log_writer_close(log), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
        file_observe(NULL, NULL);
        assert_int_equal(file_delete(PATH), S_OK);
    }
}

static void copies_cannot_be_continued(void **state)
{
    const struct log_options append = {.append = true};
    struct log_writer *log = NULL;
    (void)state;
    for (enum log_format format = LOG_ARROW; format <= LOG_OPENMETRICS; format++) {
        assert_int_equal(log_writer_create(format, PATH, counters, COUNTERS, START, &append, &log),
                         HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
        assert_null(log);
        assert_false(file_exists(PATH));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_lines_have_all_counters_in_each_line, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(influx_lines_have_times_in_nanoseconds, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(openmetrics_families_have_the_names_of_the_exporter, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(openmetrics_follows_a_process_to_another_instance, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(openmetrics_of_computed_values_are_gauges, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(final_writing_can_be_stopped, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(arrow_files_are_framed_and_aligned, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(arrow_files_match_known_good_bytes, remove_file, remove_file),
        cmocka_unit_test(flatbuffers_refer_to_what_they_contain),
        cmocka_unit_test(columns_of_long_logs_are_complete),
        cmocka_unit_test_setup_teardown(no_memory_leaves_no_file, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(copies_cannot_be_continued, remove_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
