/* SPDX-License-Identifier: MIT */
/* Conversion of counters to metrics: names, types, units and exact values, timestamps that never decrease, and the
   choice of format for a client. An error would show as a rate that is wrong by a factor, or as a jump when a clock is
   set back. */
#include "cli/serve/serve.h"
#include "engine/base/memory.h"
#include "engine/export/metrics/steady.h"
#include "engine/export/preset.h"
#include "engine/logs/pdh_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static void expect(const char *object, const char *name, uint32_t type, enum metric_kind kind, const char *metric,
                   const char *unit, const char *value)
{
    const struct log_counter c = {.object = object, .counter = name, .type = type, .time_base = 1000};
    const struct metric_form form = metric_form_of(&c);
    const struct log_raw raw = {.first = 12345678900, .second = 32345678900};
    struct text_buffer b = {0};
    assert_int_equal(form.kind, kind);
    if (kind == METRIC_NONE)
        return;
    char *full = metric_name_of(&c, &form);
    assert_string_equal(full, metric);
    assert_string_equal(form.unit, unit);
    assert_true(metric_add_value(&b, &form.scale, &raw));
    assert_string_equal(b.text, value);
    memory_free(full);
    text_buffer_free(&b);
}

static void names_and_values_follow_the_type(void **state)
{
    (void)state;
    expect("System", "Context Switches/sec", PERF_COUNTER_BULK_COUNT, METRIC_COUNTER, "windows_system_context_switches",
           "", "12345678900");
    expect("PhysicalDisk", "Disk Read Bytes/sec", PERF_COUNTER_BULK_COUNT, METRIC_COUNTER,
           "windows_physicaldisk_disk_read_bytes", "bytes", "12345678900");
    expect("Server", "Logon KBytes/sec", PERF_COUNTER_BULK_COUNT, METRIC_COUNTER, "windows_server_logon_bytes", "bytes",
           "12641975193600");
    expect("Memory", "Available MBytes", PERF_COUNTER_LARGE_RAWCOUNT, METRIC_GAUGE, "windows_memory_available_bytes",
           "bytes", "12945382598246400");
    expect("Processor", "% User Time", PERF_100NSEC_TIMER, METRIC_COUNTER, "windows_processor_user_time_seconds",
           "seconds", "1234.56789");
    expect("Processor", "% Processor Time", PERF_100NSEC_TIMER_INV, METRIC_COUNTER,
           "windows_processor_processor_time_inverse_seconds", "seconds", "1234.56789");
    expect("X", "% Busy", PERF_COUNTER_TIMER, METRIC_COUNTER, "windows_x_busy_seconds", "seconds", "12345678.9");
    expect("PhysicalDisk", "Avg. Disk sec/Read", PERF_AVERAGE_TIMER, METRIC_SUMMARY,
           "windows_physicaldisk_avg_disk_read_seconds", "seconds", "12345678.9");
    expect("PhysicalDisk", "Avg. Disk Bytes/Read", PERF_AVERAGE_BULK, METRIC_SUMMARY,
           "windows_physicaldisk_avg_disk_read_bytes", "bytes", "12345678900");
    expect("LogicalDisk", "% Free Space", PERF_LARGE_RAW_FRACTION, METRIC_GAUGE, "windows_logicaldisk_free_space_ratio",
           "ratio", "0.381679387165375");
    expect("System", "System Up Time", PERF_ELAPSED_TIME, METRIC_GAUGE, "windows_system_system_up_time_seconds",
           "seconds", "20000000");
    expect("Process", "Thread Count", PERF_COUNTER_LARGE_RAWCOUNT, METRIC_GAUGE, "windows_process_threads", "",
           "12345678900");
    expect("Network Interface", "Current Bandwidth", PERF_COUNTER_LARGE_RAWCOUNT, METRIC_GAUGE,
           "windows_network_interface_current_bandwidth_bytes", "bytes", "1543209862.5");
    expect("SQLServer:Locks", "Average Wait Time (ms)", PERF_COUNTER_LARGE_RAWCOUNT, METRIC_GAUGE,
           "windows_sqlserver_locks_average_wait_time_seconds", "seconds", "12345678.9");
    expect("A & B", "Things Total", PERF_COUNTER_LARGE_RAWCOUNT, METRIC_GAUGE, "windows_a_b_things_total_value", "",
           "12345678900");
    expect("X", "Y", PERF_COUNTER_TEXT, METRIC_NONE, "", "", "");
}

static void values_without_a_number_are_skipped(void **state)
{
    (void)state;
    struct text_buffer b = {0};
    const struct metric_scale ratio = {METRIC_QUOTIENT, 1, 1, 0, true}, whole = {METRIC_FIRST, 1, 1, 0, false};
    const struct log_raw nothing = {.first = 5, .second = 0}, gone = {.status = PDH_CSTATUS_NO_INSTANCE};
    const struct log_raw high = {.first = -1};
    assert_false(metric_add_value(&b, &ratio, &nothing));
    assert_false(metric_add_value(&b, &whole, &gone));
    assert_true(metric_add_value(&b, &whole, &high)); /* a 32-bit count beyond 2^31 */
    assert_string_equal(b.text, "4294967295");
    text_buffer_free(&b);
}

static void times_do_not_decrease_without_restart(void **state)
{
    (void)state;
    struct steady s = {0};
    assert_int_equal(steady_keep(&s, 7, 1, 100, 1000), 1000);
    assert_int_equal(steady_keep(&s, 7, 2, 100, 990), 1000);
    assert_int_equal(steady_keep(&s, 7, 3, 100, 1005), 1005);
    assert_int_equal(steady_keep(&s, 7, 4, 100, 5), 5);
    for (uint64_t key = 100; key < 5000; key++) /* thousands of series end; the table must not keep them all */
        assert_int_equal(steady_keep(&s, key, key, 100, 1), 1);
    assert_true(s.count <= 512);
    assert_int_equal(steady_keep(&s, 0, 5000, 100, 50), 50);
    assert_int_equal(steady_keep(&s, 0, 5001, 100, 49), 50);
    steady_free(&s);
}

static void client_chooses_the_format(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool openmetrics;
    } rows[] = {
        {"", false},
        {"*/*", false},
        {"application/openmetrics-text", true},
        {"APPLICATION/OPENMETRICS-TEXT; Version=1.0.0; charset=utf-8", true},
        {"application/openmetrics-text;version=0.0.1", false},
        {"application/openmetrics-text;q=0.5,text/plain;q=0.5", true},
        {"application/openmetrics-text;q=0.49,text/plain;q=0.5", false},
        {"application/openmetrics-text;q=0.49,text/*;q=0.5", false},
        {"application/openmetrics-text;q=nothing", false},
        {"application/openmetrics-text;q=1.001", false},
        {",,;;==,application/openmetrics-text", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_span accept = {rows[i].accept, strlen(rows[i].accept)};
        if (page_wants_openmetrics(accept) != rows[i].openmetrics)
            fail_msg("Accept: %s", rows[i].accept);
    }
}

/* A windows_exporter name has one type, and no two counters map to the same series. */
static void names_of_the_preset_are_consistent(void **state)
{
    (void)state;
    size_t count, metrics = 0;
    const struct preset_row *rows = preset_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const struct preset_row *a = &rows[i];
        size_t first = i;
        assert_true(strspn(a->metric, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(a->metric));
        assert_true(preset_has_collector(a->collector, strlen(a->collector)));
        for (size_t k = 0; k < i; k++) {
            const struct preset_row *b = &rows[k];
            if (strcmp(a->metric, b->metric) != 0)
                continue;
            first = first < k ? first : k;
            if (a->kind != b->kind || (strcmp(a->object, b->object) == 0 && strcmp(a->fixed, b->fixed) == 0))
                fail_msg("%s: rows %zu and %zu", a->metric, k, i);
        }
        metrics += first == i;
    }
    assert_int_equal(metrics, 232); /* docs/user/exporter.md says 237: five more do not come from counters */
}

/* Families of different types never have the same name, even if there are thousands of families. */
static void families_are_found_and_do_not_clash(void **state)
{
    struct metric_families families = {0};
    enum { FAMILIES = 3000 };
    (void)state;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < FAMILIES; i++) {
            static const uint32_t types[] = {PERF_COUNTER_RAWCOUNT, PERF_COUNTER_BULK_COUNT, PERF_AVERAGE_BULK};
            char counter[32], expected[64], *name;
            size_t at;
            /* "Thing 1" is a gauge; "Thing 1/sec" is a counter with the same name. */
            snprintf(counter, sizeof counter, "Thing %zu%s", i / 3, i % 3 == 1 ? "/sec" : "");
            snprintf(expected, sizeof expected, "windows_o_thing_%zu%s", i / 3,
                     i % 3 == 0   ? ""
                     : i % 3 == 1 ? "_of_events_total"
                                  : "_of_values");
            const struct log_counter c = {.object = "O", .counter = counter, .type = types[i % 3]};
            const struct metric_form form = metric_form_of(&c);
            const HRESULT hr = metric_families_find(&families, &c, &form, &at, &name);
            assert_int_equal(hr, again ? S_OK : S_FALSE);
            assert_int_equal(at, i);
            if (hr == S_FALSE)
                assert_int_equal(metric_families_add(&families, name, text_copy("help"), &form, NULL), S_OK);
            assert_string_equal(families.items[at].name, expected);
        }
    }
    assert_int_equal(families.count, FAMILIES);
    metric_families_free(&families);
}

/* Text logs contain values that PDH computed. */
static void computed_values_are_gauges_with_other_names(void **state)
{
    static const struct {
        const char *object, *counter, *metric;
        double value;
        const char *text;
    } rows[] = {
        {"Processor", "% Processor Time", "windows_processor_processor_time_ratio", 12.5, "0.125"},
        {"Memory", "Pages/sec", "windows_memory_pages_per_second", 0.1, "0.1"},
        {"Network Interface", "Bytes Received/sec", "windows_network_interface_bytes_received_per_second", 3, "3"},
        {"Memory", "Available MBytes", "windows_memory_available_bytes", 2, "2097152"},
        {"PhysicalDisk", "Avg. Disk sec/Read", "windows_physicaldisk_avg_disk_read_seconds", 0.25, "0.25"},
        {"System", "Processor Queue Length", "windows_system_processor_queue_length", -1.5, "-1.5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct log_counter c = {.object = rows[i].object, .counter = rows[i].counter, .type = LOG_TYPE_DOUBLE};
        const struct metric_form form = metric_form_of(&c);
        struct log_raw raw = {0};
        struct text_buffer b = {0};
        memcpy(&raw.first, &rows[i].value, sizeof raw.first);
        char *name = metric_name_of(&c, &form);
        assert_int_equal(form.kind, METRIC_GAUGE);
        assert_string_equal(name, rows[i].metric);
        assert_true(metric_add_value(&b, &form.scale, &raw));
        assert_string_equal(b.text, rows[i].text);
        memory_free(name);
        text_buffer_free(&b);
    }
}

static void non_english_names_remain_distinct(void **state)
{
    static const struct log_counter counters[] = {
        {.object = "Prozessor",
         .counter = "Prozessorzeit (%)",
         .english_object = "Processor",
         .english_counter = "% Processor Time",
         .type = LOG_TYPE_DOUBLE},
        {.object = "\xE3\x83\xA1", .counter = "\xE3\x83\xA2", .type = PERF_COUNTER_RAWCOUNT},
        {.object = "\xE3\x83\xA1", .counter = "\xE3\x83\xA3", .type = PERF_COUNTER_RAWCOUNT},
    };
    char *names[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct metric_form form = metric_form_of(&counters[i]);
        names[i] = metric_name_of(&counters[i], &form);
        assert_non_null(names[i]);
    }
    assert_string_equal(names[0], "windows_processor_processor_time_ratio");
    assert_string_not_equal(names[1], names[2]);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(names[i]));
        memory_free(names[i]);
    }
}

static void strings_are_escaped(void **state)
{
    (void)state;
    struct text_buffer b = {0};
    const struct metric_family f = {
        .name = (char *)"x_total", .help = (char *)"a\\b\nc\"d", .unit = "", .kind = METRIC_COUNTER};
    metric_add_family(&b, &f, false);
    assert_string_equal(b.text, "# HELP x_total a\\\\b\\nc\"d\n# TYPE x_total counter\n");
    b.length = 0;
    metric_add_family(&b, &f, true);
    assert_string_equal(b.text, "# HELP x a\\\\b\\nc\\\"d\n# TYPE x counter\n");
    b.length = 0;
    metric_add_label(&b, true, "name", "C:\\\"x\"\n");
    assert_string_equal(b.text, ",name=\"C:\\\\\\\"x\\\"\\n\"");
    text_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_values_follow_the_type),
        cmocka_unit_test(values_without_a_number_are_skipped),
        cmocka_unit_test(times_do_not_decrease_without_restart),
        cmocka_unit_test(client_chooses_the_format),
        cmocka_unit_test(names_of_the_preset_are_consistent),
        cmocka_unit_test(families_are_found_and_do_not_clash),
        cmocka_unit_test(computed_values_are_gauges_with_other_names),
        cmocka_unit_test(non_english_names_remain_distinct),
        cmocka_unit_test(strings_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
