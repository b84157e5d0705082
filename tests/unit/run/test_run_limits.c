/* SPDX-License-Identifier: MIT */
/* The end of a run or a segment: limits, completion, and full disks. Also tests that the set host process has no
   leaks. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/pla/sets.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

/* Returns the number of samples in root/c_000001.csv and the following files. A file may contain at most `most`
   samples. Stores the number of files in *files. */
static size_t samples_in_segments(const char *root, size_t most, uint32_t *files)
{
    size_t samples = 0;
    for (*files = 0;; ++*files) {
        char *name = text_format("c_%06u.csv", (unsigned)*files + 1), *path = path_join(root, name);
        bool there = file_exists(path);
        if (there) {
            assert_int_equal(samples % most, 0); /* all segments before this one are full */
            assert_in_range(fixture_lines(root, name), 2, most + 1);
            samples += fixture_lines(root, name) - 1;
        }
        memory_free(name);
        memory_free(path);
        if (!there)
            return samples;
    }
}

/* Long runs must not fill one file forever, lose samples between two files, or reuse the first file's name. */
static void record_limit_begins_a_new_segment(void **state)
{
    (void)state;
    char *root = fixture_folder("segments");
    fixture_commit("segments", root, "<Segment>-1</Segment><Duration>5</Duration>",
                   CSV_EACH_SECOND
                   "<SegmentMaxRecords>2</SegmentMaxRecords><FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "segments", true), S_OK);
    fixture_await("segments", RUN_STOPPED, PATIENCE_MS); /* samples of 0, 1 | 2, 3 | 4 s */
    uint32_t files;
    size_t samples = samples_in_segments(root, 2, &files);
    assert_int_equal(samples + fixture_late("segments"), 5);
    assert_true(files >= 2);
    struct run_record record = fixture_record("segments");
    assert_int_equal(record.serial_number, files + 1);
    char *last = text_format("c_%06u.csv", (unsigned)files);
    assert_string_equal(path_name(record.latest_files.items[0]), last);
    run_record_free(&record);
    memory_free(last);
    memory_free(root);
}

/* With SegmentMaxSize, a file has room for two samples. The third must not be lost, and must not end the run. */
static void full_file_begins_a_new_segment(void **state)
{
    (void)state;
    char *root = fixture_folder("sizes");
    fixture_commit("sizes", root, "<Segment>-1</Segment><Duration>5</Duration><SegmentMaxSize>1</SegmentMaxSize>",
                   CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    scratch_environment("TEST_FILE_ROOM", "2");
    assert_int_equal(run_start(SPACE, "sizes", true), S_OK);
    fixture_await("sizes", RUN_STOPPED, PATIENCE_MS);
    uint32_t files;
    assert_int_equal(samples_in_segments(root, 2, &files) + fixture_late("sizes"), 5);
    assert_true(files >= 2);
    /* Without segments, a full file ends the run without an error. */
    fixture_commit("sizes", root, "<SegmentMaxSize>1</SegmentMaxSize>",
                   CSV_EACH_SECOND "<FileName>alone</FileName>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "sizes", true), S_OK);
    scratch_environment("TEST_FILE_ROOM", "");
    fixture_await("sizes", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "alone.csv"), 3);
    struct run_record record = fixture_record("sizes");
    assert_int_equal(record.last_result, S_OK);
    assert_non_null(strstr(record.last_message, "SegmentMaxSize"));
    run_record_free(&record);
    memory_free(root);
}

/* The first sample of a segment must have rates. If it had empty cells instead, the report of the segment would have a
   gap. */
static void rates_continue_across_segments(void **state)
{
    (void)state;
    char *root = fixture_folder("rates");
    fixture_commit("rates", root, "<Segment>-1</Segment>",
                   CSV_EACH_SECOND "<SegmentMaxRecords>1</SegmentMaxRecords><FileNameFormat>512</FileNameFormat>"
                                   "<Counter>\\System\\Context Switches/sec</Counter>");
    assert_int_equal(run_start(SPACE, "rates", true), S_OK);
    fixture_progress("rates", 3, 3);
    assert_int_equal(run_stop(SPACE, "rates", true), S_OK);
    for (int i = 1; i <= 3; i++) {
        char *name = text_format("c_%06d.csv", i);
        assert_int_equal(fixture_lines(root, name), 2);
        char *text = fixture_read(root, name);
        assert_int_equal(strstr(text, "\" \"") != NULL, i == 1);
        memory_free(text);
        memory_free(name);
    }
    memory_free(root);
}

#ifndef _WIN32
/* A text log of all instances must include an instance that appears during the run. (On Windows, this test cannot start
   a program under a second name.) */
static void new_instances_begin_a_new_segment(void **state)
{
    (void)state;
    char *root = fixture_folder("instances"), *program = text_format("%s/new%u", root, (unsigned)process_own_id());
    char *xml = text_format(CSV_EACH_SECOND "<Counter>\\Process(%s*)\\ID Process</Counter>", path_name(program));
    const char *const seconds[] = {"60"};
    struct process *processes[2];
    assert_int_equal(symlink("/bin/sleep", program), 0);
    fixture_commit("instances", root, "<Value name=\"OpenPLA.NewInstancesFile\">1</Value>", xml);
    assert_int_equal(
        process_start(&(struct program){.path = program, .arguments = seconds, .argument_count = 1}, &processes[0]),
        S_OK);
    assert_int_equal(run_start(SPACE, "instances", true), S_OK);
    struct run_state s = fixture_progress("instances", 1, 3);
    assert_int_equal(s.serial_number, 1);
    assert_int_equal(
        process_start(&(struct program){.path = program, .arguments = seconds, .argument_count = 1}, &processes[1]),
        S_OK);
    s = fixture_progress("instances", 2, s.samples + 2);
    assert_int_equal(s.serial_number, 2);
    assert_int_equal(run_stop(SPACE, "instances", true), S_OK);
    for (int i = 0; i < 2; i++) {
        fixture_kill(process_id(processes[i]));
        process_close(processes[i]);
    }
    char *before = fixture_read(root, "c.csv"), *after = fixture_read(root, "c_000002.csv");
    assert_null(strstr(before, "#1)\\ID Process"));
    assert_non_null(strstr(after, "#1)\\ID Process"));
    assert_null(strstr(after, "\" \"")); /* in the second file, all cells have values */
    assert_true(fixture_lines(root, "c.csv") + fixture_lines(root, "c_000002.csv") >= s.samples + 2);
    memory_free(before);
    memory_free(after);
    assert_int_equal(file_delete(program), S_OK);
    memory_free(program);
    memory_free(xml);
    memory_free(root);
}
#endif

/* If a set has a fixed file name, it must not stop when its second segment begins. */
static void segments_with_a_fixed_name_get_the_serial_number(void **state)
{
    (void)state;
    char *root = fixture_folder("one name");
    fixture_commit("one name", root,
                   "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration><Duration>3</Duration>",
                   CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "one name", true), S_OK);
    fixture_await("one name", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "c.csv"), 2);
    size_t segments = 1;
    for (unsigned n = 2; n <= 3; n++) {
        char *name = text_format("c_%06u.csv", n), *path = path_join(root, name);
        if (file_exists(path)) {
            assert_int_equal(fixture_lines(root, name), 2);
            segments++;
        }
        memory_free(name);
        memory_free(path);
    }
    assert_int_equal(segments + fixture_late("one name"), 3);
    memory_free(root);
}

/* If a set is deleted and created again, its serial numbers begin with 1. The files of the deleted set are still in the
   folder and must be kept. */
static void segments_keep_files_of_a_deleted_set(void **state)
{
    (void)state;
    char *root = fixture_folder("made again");
    static const char *const kept[] = {"c_000002.csv", "c_000003.csv"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char *path = path_join(root, kept[i]);
        assert_int_equal(file_store(path, "kept\r\n", 6), S_OK);
        memory_free(path);
    }
    fixture_commit("made again", root, "<Segment>-1</Segment><SegmentMaxDuration>2</SegmentMaxDuration>",
                   CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "made again", true), S_OK);
    fixture_progress("made again", 2, 1);
    assert_int_equal(run_stop(SPACE, "made again", true), S_OK);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char *text = fixture_read(root, kept[i]);
        assert_string_equal(text, "kept\r\n");
        memory_free(text);
    }
    assert_true(fixture_lines(root, "c.csv") >= 2 && fixture_lines(root, "c_000004.csv") >= 1);
    memory_free(root);
}

/* If a set has no segments, a limit ends the run. */
static void limits_without_segments_end_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("limits");
    fixture_commit("limits", root, "",
                   CSV_EACH_SECOND "<FileName>records</FileName><SegmentMaxRecords>2</SegmentMaxRecords>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "limits", true), S_OK);
    fixture_await("limits", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "records.csv"), 3);
    struct run_record record = fixture_record("limits");
    assert_int_equal(record.last_result, S_OK);
    assert_non_null(strstr(record.last_message, "SegmentMaxRecords"));
    run_record_free(&record);

    fixture_commit("limits", root, "<SegmentMaxDuration>2</SegmentMaxDuration>",
                   CSV_EACH_SECOND "<FileName>duration</FileName>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "limits", true), S_OK);
    fixture_await("limits", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "duration.csv") - 1 + fixture_late("limits"), 2);
    memory_free(root);
}

/* With StopOnCompletion, a counter log without limits is complete immediately (MS-PLA; DECISIONS 35). With limits, it
   is complete at the end of its first segment or of the Duration. A run can therefore end after one sample, so its
   message contains the reason. */
static void completion_ends_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("completion");
    fixture_commit("completion", root, "<StopOnCompletion>-1</StopOnCompletion>",
                   CSV_EACH_SECOND "<FileName>at once</FileName>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "completion", true), S_OK);
    fixture_await("completion", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "at once.csv"), 2);
    struct run_record record = fixture_record("completion");
    assert_non_null(strstr(record.last_message, "the run ended because all its collectors are complete"));
    run_record_free(&record);

    fixture_commit("completion", root, "<StopOnCompletion>-1</StopOnCompletion><Duration>2</Duration>",
                   CSV_EACH_SECOND "<FileName>duration of it</FileName>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "completion", true), S_OK);
    fixture_await("completion", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "duration of it.csv") - 1 + fixture_late("completion"), 2);
    record = fixture_record("completion");
    assert_non_null(strstr(record.last_message, "the run ended because its Duration has passed"));
    run_record_free(&record);

    fixture_commit("completion", root, "<StopOnCompletion>-1</StopOnCompletion><Segment>-1</Segment>",
                   CSV_EACH_SECOND "<FileName>segment</FileName><SegmentMaxRecords>2</SegmentMaxRecords>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "completion", true), S_OK);
    fixture_await("completion", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "segment.csv"), 3);
    memory_free(root);
}

/* The length of a run's message is limited. The reason for the end must be in it, even if it has many other
   contents. */
static void reason_for_the_end_is_always_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("notes");
    struct text_buffer counters = {0};
    text_buffer_add(&counters, CSV_EACH_SECOND ONE_COUNTER);
    for (int i = 0; i < 300; i++)
        text_buffer_format(&counters, "<Counter>\\No Such Object %d\\a</Counter>", i);
    char *collector = text_buffer_take(&counters);
    fixture_commit("notes", root, "<Duration>1</Duration>", collector);
    assert_int_equal(run_start(SPACE, "notes", true), S_OK);
    fixture_await("notes", RUN_STOPPED, PATIENCE_MS);
    struct run_record record = fixture_record("notes");
    assert_non_null(strstr(record.last_message, "100 more\n"));
    assert_non_null(strstr(record.last_message, "the run ended because its Duration has passed\n"));
    run_record_free(&record);
    memory_free(collector);
    memory_free(root);
}

/* Some scripts start a set before it has collectors (DECISIONS 12). */
static void set_without_collectors_runs_until_stopped(void **state)
{
    (void)state;
    char *root = fixture_folder("empty");
    fixture_commit("empty", root, "<Subdirectory>out</Subdirectory>", NULL);
    assert_int_equal(run_start(SPACE, "empty", true), S_OK);
    fixture_sleep(500);
    struct run_state s = fixture_await("empty", RUN_RUNNING, 100);
    assert_int_equal(s.samples, 0);
    assert_int_equal(run_stop(SPACE, "empty", true), S_OK);
    struct run_record record = fixture_record("empty");
    assert_non_null(strstr(record.last_message, "the run ended because it was stopped"));
    run_record_free(&record);
    char *out = path_join(root, "out");
    assert_true(folder_exists(out));
    memory_free(out);
    memory_free(root);
}

/* A collector with a short interval must not be delayed by one with a long interval. */
static void collectors_keep_their_own_intervals(void **state)
{
    (void)state;
    char *root = fixture_folder("intervals");
    fixture_commit("intervals", root, "<Duration>4</Duration>",
                   CSV_EACH_SECOND ONE_COUNTER
                   "</PerformanceCounterDataCollector><PerformanceCounterDataCollector><Name>d</Name>"
                   "<SampleInterval>3</SampleInterval><LogFileFormat>1</LogFileFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "intervals", true), S_OK);
    fixture_await("intervals", RUN_STOPPED, PATIENCE_MS);
    size_t fast = fixture_lines(root, "c.csv") - 1, slow = fixture_lines(root, "d.tsv") - 1;
    assert_int_equal(fast + slow + fixture_late("intervals"), 4 + 2);
    assert_in_range(slow, 1, 2);
    assert_true(fast > slow || fixture_late("intervals"));
    memory_free(root);
}

#ifndef _WIN32
/* If the disk is full, the run must not end without a message, and the log must not get an incomplete line. */
static void full_disk_loses_samples_and_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("full");
    fixture_commit("full", root, "",
                   CSV_EACH_SECOND "<Counter>\\Process(_Total)\\*</Counter><Counter>\\Memory\\*</Counter>"
                                   "<Counter>\\Processor(*)\\*</Counter>");
    /* One second after the start, the log has only room for its header and about one sample. */
    assert_int_equal(run_start(SPACE, "full", true), S_OK);
    assert_int_equal(run_stop(SPACE, "full", true), S_OK);
    char *log = fixture_read(root, "c.csv"), *path = path_join(root, "c.csv");
    char *limit = text_format("%u", (unsigned)strlen(log) + 60);
    assert_true(strlen(log) > 900); /* the run record must be smaller than the limit */
    memory_free(log);
    assert_int_equal(file_delete(path), S_OK);
    scratch_environment("TEST_FILE_LIMIT", limit);
    HRESULT hr = run_start(SPACE, "full", true);
    scratch_environment("TEST_FILE_LIMIT", "");
    assert_int_equal(hr, S_OK);
    struct run_record record = {0};
    for (int i = 0; i < PATIENCE_MS / 20 && SUCCEEDED(record.last_result);
         i++) { /* the first lost sample is reported immediately */
        run_record_free(&record);
        fixture_sleep(20);
        record = fixture_record("full");
    }
    run_record_free(&record);
    struct run_state s = fixture_await("full", RUN_RUNNING, 100);
    assert_true(s.samples >= 1);
    assert_int_equal(run_stop(SPACE, "full", true), S_OK);
    assert_int_equal(fixture_lines(root, "c.csv"), s.samples + 1); /* all later samples were lost */
    record = fixture_record("full");
    assert_true(FAILED(record.last_result));
    assert_non_null(strstr(record.last_message, "samples lost"));
    assert_non_null(strstr(record.last_message, "c.csv"));
    run_record_free(&record);
    memory_free(limit);
    memory_free(path);
    memory_free(root);
}

/* A killed set host process cannot report how many samples its run has lost. Without the supervisor's event, a user
   would see only the first loss. The supervisor reports the number that it read last, so each attempt of this test
   gives it more time to read one. */
static void losses_of_a_killed_host_are_reported(void **state)
{
    struct supervisor *supervisor;
    (void)state;
    char *root = fixture_folder("loses");
    fixture_commit("loses", root, "", CSV_EACH_SECOND "<Counter>\\Process(_Total)\\*</Counter>");
    scratch_environment("TEST_FILE_LIMIT", "700"); /* room for the header and few samples */
    assert_int_equal(supervisor_start(NULL, NULL, &supervisor), S_OK);
    bool found = false;
    for (uint64_t lost = 2; !found && lost <= 32; lost *= 2) {
        assert_int_equal(run_start(SPACE, "loses", true), S_OK);
        const size_t ends = fixture_events(1006, "loses");
        struct run_state s = fixture_await("loses", RUN_RUNNING, 100);
        for (int i = 0; i < PATIENCE_MS / 20 && s.samples_lost < lost; i++) {
            fixture_sleep(20);
            s = fixture_await("loses", RUN_RUNNING, 100);
        }
        assert_true(s.samples_lost >= lost);
        fixture_kill(s.process_id);
        for (int i = 0; i < PATIENCE_MS / 20 && fixture_events(1006, "loses") == ends; i++)
            fixture_sleep(20);
        found = fixture_events(9001, "loses") && strstr(fixture_reason, "total of the interrupted run");
    }
    scratch_environment("TEST_FILE_LIMIT", "");
    assert_true(found);
    supervisor_stop(supervisor);
    memory_free(root);
}
#endif

/* Runs the set host in this process, because the sanitizer cannot detect leaks in another one. */
static void host_exits_without_leaks(void **state)
{
    (void)state;
    char *root = fixture_folder("clean");
    fixture_commit("clean", root, "<Duration>2</Duration>",
                   CSV_EACH_SECOND "<Counter>\\Processor(*)\\*</Counter><Counter>\\Nothing\\here</Counter>");
    assert_int_equal(run_host_main(SPACE, "clean", "0", NULL), S_OK);
    assert_int_equal(fixture_lines(root, "c.csv") - 1 + fixture_late("clean"), 2);
    assert_int_equal(run_host_main(SPACE, "clean", "0", NULL), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    fixture_commit("clean", root, "<Duration>2</Duration>",
                   "<SampleInterval>1</SampleInterval><Counter>\\Processor(*)\\*</Counter>"
                   "<Counter>\\Process\\ID Process</Counter><Counter>\\Process(*)\\ID Process</Counter>");
    assert_int_equal(run_host_main(SPACE, "clean", "0", NULL), S_OK);
    fixture_commit("clean", "/no/such/folder", "", NULL);
    assert_int_equal(run_host_main(SPACE, "clean", "0", NULL), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    assert_int_equal(run_host_main(SPACE, "absent", "0", NULL), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(run_host_main(SPACE, "clean", "not a key", NULL), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    memory_free(root);
}

/* If memory runs out during a run, this must cause an error or a message. It must not cause a crash, a lock that
   remains, a leak, or a serial number that is used twice. */
static void out_of_memory_in_a_host_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("memory");
    fixture_commit("memory", root, "<StopOnCompletion>-1</StopOnCompletion>",
                   CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER
                                   "<Counter>\\Processor(*)\\% Processor Time</Counter><Counter>\\No\\such</Counter>");
    bool whole = false;
    uint32_t serial = 1;
    /* The first 64 allocations fail in turn; after them, the steps grow. */
    for (uint64_t n = 1; !whole && n < 20000; n += 1 + n / 64) {
        struct run_state s;
        struct run_record record;
        memory_fail_at(n);
        run_host_main(SPACE, "memory", "0", NULL);
        whole = memory_count() < n;
        memory_fail_at(0);
        assert_int_equal(run_query(SPACE, "memory", &s), S_OK);
        assert_int_equal(s.status, RUN_STOPPED);
        assert_int_equal(store_load_run(SPACE, "memory", &record), S_OK);
        if (record.known) {
            char *file = text_format("c_%06u.csv", (unsigned)record.serial_number);
            char *path = path_join(root, file);
            assert_true(record.serial_number >= serial);
            assert_false(file_exists(path));
            serial = record.serial_number;
            memory_free(file);
            memory_free(path);
        }
        run_record_free(&record);
    }
    assert_true(whole);
    assert_true(serial > 1);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_limit_begins_a_new_segment),
        cmocka_unit_test(full_file_begins_a_new_segment),
        cmocka_unit_test(rates_continue_across_segments),
#ifndef _WIN32
        cmocka_unit_test(new_instances_begin_a_new_segment),
#endif
        cmocka_unit_test(segments_with_a_fixed_name_get_the_serial_number),
        cmocka_unit_test(segments_keep_files_of_a_deleted_set),
        cmocka_unit_test(limits_without_segments_end_the_run),
        cmocka_unit_test(reason_for_the_end_is_always_reported),
        cmocka_unit_test(completion_ends_the_run),
        cmocka_unit_test(set_without_collectors_runs_until_stopped),
        cmocka_unit_test(collectors_keep_their_own_intervals),
#ifndef _WIN32
        cmocka_unit_test(full_disk_loses_samples_and_is_reported),
        cmocka_unit_test(losses_of_a_killed_host_are_reported),
#endif
        cmocka_unit_test(host_exits_without_leaks),
        cmocka_unit_test(out_of_memory_in_a_host_is_reported),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
