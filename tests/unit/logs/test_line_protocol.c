/* SPDX-License-Identifier: MIT */
/* InfluxDB's line protocol: dashboards for telegraf find their measurements and fields, a name with a comma or
   backslash cannot become another series, and a missing value is omitted. */
#include "engine/base/memory.h"
#include "engine/logs/line_protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#define EPOCH INT64_C(116444736000000000)

static char *series_of(const struct log_counter *counter, const char *instance)
{
    struct text_buffer b = {0};
    line_add_series(&b, counter, instance);
    char *text = text_buffer_take(&b);
    assert_non_null(text);
    return text;
}

static void assert_series(const char *object, const char *instance, const char *expected)
{
    const struct log_counter counter = {.machine = "\\\\SRV1", .object = object, .instance = instance, .counter = "c"};
    char *text = series_of(&counter, NULL);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void assert_field(const char *name, const char *expected)
{
    const struct log_counter counter = {.object = "o", .counter = name};
    struct text_buffer b = {0};
    line_add_field(&b, &counter);
    assert_string_equal(b.text, expected);
    text_buffer_free(&b);
}

static void objects_have_the_measurements_of_telegraf(void **state)
{
    (void)state;
    assert_series("Processor", "0", "win_cpu,host=SRV1,instance=0,objectname=Processor");
    assert_series("Memory", NULL, "win_mem,host=SRV1,objectname=Memory");
    assert_series("network interface", "Intel[R] 82574L",
                  "win_net,host=SRV1,instance=Intel[R]\\ 82574L,objectname=network\\ interface");
    assert_series("Control Group", "a", "win_perf_counters,host=SRV1,instance=a,objectname=Control\\ Group");
    assert_series("", NULL, "win_perf_counters,host=SRV1");
    assert_field("% Processor Time", "Percent_Processor_Time");
    assert_field("Bytes Received/sec", "Bytes_Received_persec");
    assert_field("Split IO/Sec", "Split_IO_persec");
    assert_field("Pages/sec", "Pages_persec");
    assert_field("Avg. Disk sec/Read", "Avg._Disk_sec/Read");
}

static void translated_counters_have_their_english_names(void **state)
{
    const struct log_counter counter = {.object = "Prozessor",
                                        .instance = "0",
                                        .counter = "Prozessorzeit (%)",
                                        .english_object = "Processor",
                                        .english_counter = "% Processor Time"};
    struct text_buffer b = {0};
    (void)state;
    char *text = series_of(&counter, NULL);
    assert_string_equal(text, "win_cpu,instance=0,objectname=Processor");
    memory_free(text);
    line_add_field(&b, &counter);
    assert_string_equal(b.text, "Percent_Processor_Time");
    text_buffer_free(&b);
}

static void parents_and_numbers_of_instances_are_kept(void **state)
{
    const struct log_counter thread = {
        .object = "Thread", .parent = "svchost", .instance = "3", .index = 2, .counter = "ID Thread"};
    (void)state;
    char *text = series_of(&thread, NULL);
    assert_string_equal(text, "win_perf_counters,instance=3#2,objectname=Thread,parent=svchost");
    memory_free(text);
    text = series_of(&thread, "svchost/7#1");
    assert_string_equal(text, "win_perf_counters,instance=svchost/7#1,objectname=Thread");
    memory_free(text);
}

static void special_characters_in_names_are_escaped(void **state)
{
    (void)state;
    assert_series("a,b=c d", "x=1", "win_perf_counters,host=SRV1,instance=x\\=1,objectname=a\\,b\\=c\\ d");
    assert_series("LogicalDisk", "C:\\", "win_disk,host=SRV1,instance=C:/,objectname=LogicalDisk");
    assert_series("LogicalDisk", "C:\\mnt\\ a", "win_disk,host=SRV1,instance=C:\\mnt/\\ a,objectname=LogicalDisk");
    assert_series("o", "a\\,b", "win_perf_counters,host=SRV1,instance=a/\\,b,objectname=o");
    assert_series("o", "\\\\x", "win_perf_counters,host=SRV1,instance=/\\x,objectname=o");
    assert_series("o", "a\nb\rc", "win_perf_counters,host=SRV1,instance=a\\ b\\ c,objectname=o");
    assert_series("o", "a\\\nb", "win_perf_counters,host=SRV1,instance=a/\\ b,objectname=o");
    assert_field("a,b=c\nd", "a\\,b\\=c\\ d");
    assert_field("", "value");
    assert_field("\\", "value");
    assert_field("time", "value"); /* InfluxDB drops a field of this name */
}

static void times_have_the_requested_unit(void **state)
{
    static const struct {
        int64_t utc;
        enum line_precision precision;
        const char *text;
    } rows[] = {{EPOCH + 12345678, LINE_NANOSECONDS, "1234567800"},
                {EPOCH + 12345678, LINE_MICROSECONDS, "1234567"},
                {EPOCH + 12345678, LINE_MILLISECONDS, "1234"},
                {EPOCH + 12345678, LINE_SECONDS, "1"},
                {EPOCH - 1, LINE_SECONDS, "-1"},
                {EPOCH - 1, LINE_NANOSECONDS, "-100"},
                {INT64_MAX, LINE_NANOSECONDS, "9223372036854775800"},
                {INT64_MIN, LINE_NANOSECONDS, "-9223372036854775800"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_buffer b = {0};
        line_add_time(&b, rows[i].utc, rows[i].precision);
        assert_string_equal(b.text, rows[i].text);
        text_buffer_free(&b);
    }
}

static const struct log_counter counters[] = {
    {.machine = "\\\\SRV1", .object = "Processor", .instance = "0", .counter = "% User Time"},
    {.machine = "\\\\SRV1", .object = "Memory", .counter = "Available Bytes"},
    {.machine = "\\\\SRV1", .object = "Processor", .instance = "0", .counter = "% Idle Time"},
    {.machine = "\\\\SRV1", .object = "Processor", .instance = "1", .counter = "% User Time"},
    {.machine = "\\\\SRV1", .object = "Processor", .instance = "0", .counter = "%_User Time"},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static void sample_has_a_line_per_instance(void **state)
{
    struct log_cell cells[COUNTERS];
    struct line_layout *layout;
    struct text_buffer b = {0};
    (void)state;
    for (size_t i = 0; i < COUNTERS; i++)
        cells[i] = (struct log_cell){.has_value = true, .value = 0.1 + (double)i};
    assert_int_equal(line_layout_create(counters, COUNTERS, ",site=a", &layout), S_OK);
    assert_int_equal(line_layout_duplicates(layout), 1); /* because a line cannot contain a field twice */
    line_layout_add(layout, EPOCH + 10000000, LINE_MILLISECONDS, cells, &b);
    assert_string_equal(b.text,
                        "win_cpu,host=SRV1,instance=0,objectname=Processor,site=a "
                        "Percent_User_Time=0.1,Percent_Idle_Time=2.1 1000\n"
                        "win_mem,host=SRV1,objectname=Memory,site=a Available_Bytes=1.1 1000\n"
                        "win_cpu,host=SRV1,instance=1,objectname=Processor,site=a Percent_User_Time=3.1 1000\n");
    b.length = 0;
    cells[0].has_value = false;
    cells[1].value = (double)NAN;
    cells[3].value = (double)INFINITY;
    line_layout_add(layout, EPOCH + 20000000, LINE_SECONDS, cells, &b);
    assert_string_equal(b.text, "win_cpu,host=SRV1,instance=0,objectname=Processor,site=a Percent_Idle_Time=2.1 2\n");
    text_buffer_free(&b);
    line_layout_free(layout);
    line_layout_free(NULL);
}

static void layout_without_memory_fails(void **state)
{
    struct line_layout *layout;
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    for (uint64_t n = 1; FAILED(hr); n++) {
        memory_fail_at(n);
        hr = line_layout_create(counters, COUNTERS, NULL, &layout);
        memory_fail_at(0);
        if (FAILED(hr))
            assert_null(layout);
        assert_true(n < 1000);
    }
    line_layout_free(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_have_the_measurements_of_telegraf),
        cmocka_unit_test(translated_counters_have_their_english_names),
        cmocka_unit_test(parents_and_numbers_of_instances_are_kept),
        cmocka_unit_test(special_characters_in_names_are_escaped),
        cmocka_unit_test(times_have_the_requested_unit),
        cmocka_unit_test(sample_has_a_line_per_instance),
        cmocka_unit_test(layout_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
