/* SPDX-License-Identifier: MIT */
/* Runs with all kinds of collectors: collectors that wake the run, complete, fail, or cross a threshold. Also tests the
   work after a segment. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define TRACE(name)                                                                                                    \
    "<TraceDataCollector><Name>" name "</Name><FileName>" name "</FileName>"                                           \
    "<FileNameFormat>512</FileNameFormat></TraceDataCollector>"
#define CONFIGURATION(name)                                                                                            \
    "<ConfigurationDataCollector><Name>" name "</Name><FileName>" name "</FileName></ConfigurationDataCollector>"
#define ALERT(name, rest) "<AlertDataCollector><Name>" name "</Name>" rest "</AlertDataCollector>"

static void start(const char *name)
{
    HRESULT hr = run_start(SPACE, name, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

/* A request of a collector without samples must be handled immediately, not only when another collector takes its next
   sample. */
static void collector_wakes_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("woken");
    fixture_commit("woken", root, "<Segment>-1</Segment>" TRACE("segment"),
                   "<SampleInterval>3600</SampleInterval><LogFileFormat>0</LogFileFormat>"
                   "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    start("woken");
    fixture_progress("woken", 3, 0);
    char *text = run_figures_text(SPACE, "woken");
    assert_int_equal(strncmp(text, "segment: Samples 0, EventsLost 7, BuffersWritten ", 49), 0);
    assert_non_null(strstr(text, "\nc: Samples 0\n"));
    memory_free(text);
    assert_int_equal(run_stop(SPACE, "woken", true), S_OK);
    text = run_figures_text(SPACE, "woken");
    assert_string_equal(text, "");
    memory_free(text);
    char *first = path_join(root, "segment_000001.etl"), *third = path_join(root, "segment_000003.etl");
    assert_true(file_exists(first) && file_exists(third));
    struct run_record record = fixture_record("woken");
    assert_non_null(strstr(record.last_message, "a kind of the tests"));
    run_record_free(&record);
    memory_free(first);
    memory_free(third);
    memory_free(root);
}

/* Collectors may complete at different times. Their set must stop when all have completed, not before and not never. */
static void run_ends_with_its_collectors(void **state)
{
    (void)state;
    char *root = fixture_folder("done");
    uint64_t began = clock_monotonic_ms();
    fixture_commit("done", root, "<StopOnCompletion>-1</StopOnCompletion>" CONFIGURATION("done"), NULL);
    start("done");
    fixture_await("done", RUN_STOPPED, PATIENCE_MS);
    assert_true(clock_passed_ms(began, clock_monotonic_ms()) >= 300);
    struct run_record record = fixture_record("done");
    assert_int_equal(record.last_result, S_OK);
    run_record_free(&record);
    memory_free(root);
}

/* A collector may reach its own limit, which completes the run (MS-PLA 3.2.4.1, StopOnCompletion). */
static void limit_ends_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("limit");
    fixture_commit("limit", root, TRACE("limit"), NULL);
    start("limit");
    fixture_await("limit", RUN_STOPPED, PATIENCE_MS);
    struct run_record record = fixture_record("limit");
    assert_non_null(strstr(record.last_message, "a log reached"));
    run_record_free(&record);
    memory_free(root);
}

/* A trace may run for days. It must be split by its time limit, although no sample wakes the run. */
static void segment_without_samples_ends(void **state)
{
    (void)state;
    char *root = fixture_folder("hours");
    fixture_commit("hours", root, "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>" TRACE("quiet"),
                   NULL);
    start("hours");
    fixture_progress("hours", 3, 0);
    assert_int_equal(run_stop(SPACE, "hours", true), S_OK);
    memory_free(root);
}

/* If one collector fails, for example because a user ended its session, the others must continue. If all have failed,
   the set must not appear to be running. */
static void failed_collector_does_not_stop_others(void **state)
{
    (void)state;
    char *root = fixture_folder("fails");
    fixture_commit("fails", root, TRACE("fail"), CSV_EACH_SECOND ONE_COUNTER);
    start("fails");
    fixture_progress("fails", 1, 3);
    struct run_record record = fixture_record("fails");
    assert_non_null(strstr(record.last_message, "the session of the tests was ended"));
    run_record_free(&record);
    assert_int_equal(run_stop(SPACE, "fails", true), S_OK);
    fixture_commit("fails", root, "<StopOnCompletion>0</StopOnCompletion>" TRACE("fail"), NULL);
    start("fails");
    fixture_await("fails", RUN_STOPPED, PATIENCE_MS);
    record = fixture_record("fails");
    assert_int_equal(record.last_result, E_ACCESSDENIED);
    run_record_free(&record);
    memory_free(root);
}

/* If an alert fails, it must take samples again in a later segment. */
static void failed_collector_is_retried_in_the_next_segment(void **state)
{
    (void)state;
    char *root = fixture_folder("chance");
    fixture_commit("chance", root, "<Segment>-1</Segment><SegmentMaxDuration>2</SegmentMaxDuration>" ALERT("break", ""),
                   CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    start("chance");
    uint64_t began = clock_monotonic_ms(), samples;
    do {
        fixture_progress("chance", 2, 0);
        samples = fixture_figure("chance", "break", "Samples");
        fixture_sleep(20);
    } while (!samples && clock_passed_ms(began, clock_monotonic_ms()) < PATIENCE_MS);
    assert_int_equal(samples, 1);
    assert_int_equal(run_stop(SPACE, "chance", true), S_OK);
    memory_free(root);
}

/* Returns the number of events 2031 whose fields contain the set's name and all of `words`. */
static size_t alerts(const char *set, const char *const *words)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *folder = journal_folder();
    size_t count = 0;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        size_t found = 0, wanted = 0;
        for (size_t i = 0; i < e.count; i++) {
            found += !strcmp(e.fields[i].value, set);
            for (wanted = 0; words[wanted]; wanted++)
                found += !strcmp(e.fields[i].value, words[wanted]);
        }
        count += e.id == 2031 && found == wanted + 1;
    }
    journal_reader_close(r);
    memory_free(folder);
    return count;
}

/* A crossed threshold must be reported, but only if the collector requests events. */
static void crossing_is_an_event_only_on_request(void **state)
{
    static const char *const words[] = {"\\Memory\\Available MBytes", "12.5", "<", "100", NULL};
    (void)state;
    char *root = fixture_folder("crossing");
    for (int wanted = 0; wanted < 2; wanted++) {
        fixture_commit("crossing", root, wanted ? ALERT("cross", "<EventLog>-1</EventLog>") : ALERT("cross", ""), NULL);
        start("crossing");
        fixture_progress("crossing", 1, 2);
        assert_int_equal(run_stop(SPACE, "crossing", true), S_OK);
        struct run_record record = fixture_record("crossing");
        assert_int_equal(record.latest_files.count, 1);
        assert_string_equal(record.latest_files.items[0], ""); /* the collector writes no file */
        run_record_free(&record);
        if (wanted)
            assert_true(alerts("crossing", words) >= 2);
        else
            assert_int_equal(alerts("crossing", words), 0);
    }
    memory_free(root);
}

#define MANAGED_BY_SEGMENT                                                                                             \
    "<DataManager><Enabled>-1</Enabled></DataManager><Value name=\"OpenPLA.ReportAt\">segment</Value>"

/* In a long run, reports must be created after each segment, in order. This must not delay samples. */
static void data_manager_processes_each_segment_without_delay(void **state)
{
    (void)state;
    char *root = fixture_folder("ended"), *until = path_join(root, "until"), *list = path_join(root, "list");
    fixture_commit("ended", root, "<Segment>-1</Segment>" MANAGED_BY_SEGMENT,
                   CSV_EACH_SECOND
                   "<SegmentMaxRecords>1</SegmentMaxRecords><FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    scratch_environment("TEST_COMPILES", "1");
    scratch_environment("TEST_COMPILE_UNTIL", until);
    scratch_environment("TEST_COMPILE_LIST", list);
    start("ended");
    fixture_progress("ended", 4, 3); /* the first segment is still processed */
    assert_false(file_exists(list));
    assert_int_equal(file_store(until, "", 0), S_OK);
    assert_int_equal(run_stop(SPACE, "ended", true), S_OK);
    struct run_record record = fixture_record("ended");
    char *lines = fixture_read(root, "list");
    uint32_t number = 1;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), number++) {
        char *expected = text_format("%u c_%06u.csv", (unsigned)number, (unsigned)number);
        assert_string_equal(line, expected);
        memory_free(expected);
    }
    assert_int_equal(number, record.serial_number); /* this is the next run's number: all segments are processed */
    run_record_free(&record);
    scratch_environment("TEST_COMPILES", "");
    scratch_environment("TEST_COMPILE_UNTIL", "");
    scratch_environment("TEST_COMPILE_LIST", "");
    memory_free(lines);
    memory_free(list);
    memory_free(until);
    memory_free(root);
}

/* If the second segment cannot be opened, the run ends. The data manager must skip this segment, because it never
   existed. If the work for the first segment fails, the journal must contain the reason. */
static void failures_between_segments_are_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("between"), *until = path_join(root, "until"), *list = path_join(root, "list");
    assert_int_equal(file_store(until, "", 0), S_OK);
    scratch_environment("TEST_COMPILES", "1");
    scratch_environment("TEST_COMPILE_UNTIL", until);
    scratch_environment("TEST_COMPILE_LIST", list);
    fixture_commit("between", root, "<Segment>-1</Segment>" MANAGED_BY_SEGMENT TRACE("once"), NULL);
    start("between");
    fixture_await("between", RUN_STOPPED, PATIENCE_MS);
    struct run_record record = fixture_record("between");
    assert_int_equal(record.last_result, E_ACCESSDENIED);
    run_record_free(&record);
    char *lines = fixture_read(root, "list");
    assert_string_equal(lines, "1 once_000001.etl\n");
    memory_free(lines);
    scratch_environment("TEST_COMPILE_FAILS", "1");
    fixture_commit("between", root, "<Segment>-1</Segment>" MANAGED_BY_SEGMENT TRACE("segment"), NULL);
    start("between");
    fixture_progress("between", 3, 0);
    assert_int_equal(run_stop(SPACE, "between", true), S_OK);
    assert_int_equal(fixture_events(1006, "between"), 2);
    assert_string_equal(fixture_reason, "the test's data manager fails");
    const char *const variables[] = {"TEST_COMPILES", "TEST_COMPILE_UNTIL", "TEST_COMPILE_LIST", "TEST_COMPILE_FAILS"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        scratch_environment(variables[i], "");
    memory_free(until);
    memory_free(list);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collector_wakes_the_run),
        cmocka_unit_test(run_ends_with_its_collectors),
        cmocka_unit_test(limit_ends_the_run),
        cmocka_unit_test(segment_without_samples_ends),
        cmocka_unit_test(failed_collector_does_not_stop_others),
        cmocka_unit_test(failed_collector_is_retried_in_the_next_segment),
        cmocka_unit_test(crossing_is_an_event_only_on_request),
        cmocka_unit_test(data_manager_processes_each_segment_without_delay),
        cmocka_unit_test(failures_between_segments_are_reported),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
