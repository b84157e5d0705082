/* SPDX-License-Identifier: MIT */
/* Alerts of running sets: how values beyond a threshold are reported, the alert log, and the actions that alerts
   trigger. */
#include "engine/base/clock.h"
#include "engine/base/os.h"
#include "engine/logs/alert_log.h"
#include "engine/logs/journal.h"
#include "engine/pla/task.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#define ALERT(name, rest)                                                                                              \
    "<AlertDataCollector><Name>" name "</Name><SampleInterval>1</SampleInterval>" rest "</AlertDataCollector>"
#define HIGH "<Alert>\\System\\Processes&gt;0.5</Alert>" /* always beyond the threshold */
#define LOW  "<Alert>\\System\\Threads&lt;0.5</Alert>"   /* never beyond the threshold */
#ifdef _WIN32
#define PROGRAM_SUFFIX ".exe"
/* This command creates a file. */
#define TOUCH          "cmd.exe /c \"echo {name}&gt; {set}.touched\""
#else
#define PROGRAM_SUFFIX ""
#define TOUCH          "/bin/sh -c \"echo {name} &gt; {set}.touched\""
#endif

static void start(const char *name)
{
    HRESULT hr = run_start(SPACE, name, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

static void stop(const char *name)
{
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

static void run_for(const char *name, uint64_t samples)
{
    start(name);
    fixture_progress(name, 1, samples);
    stop(name);
}

static const char *field(const struct journal_entry *e, const char *name)
{
    for (size_t i = 0; i < e->count; i++)
        if (!strcmp(e->fields[i].name, name))
            return e->fields[i].value;
    return "";
}

/* `events` returns the number of events with this id for this set. It stores the fields of the latest one in `latest`,
   one per line. */
static char latest[2048];
static size_t events(uint32_t id, const char *set)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *folder = journal_folder();
    size_t count = 0;
    latest[0] = 0;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        if (e.id != id || (strcmp(field(&e, "Name"), set) != 0 && strcmp(field(&e, "DataCollecotrSet"), set) != 0))
            continue;
        count++;
        size_t length = 0;
        for (size_t i = 0; i < e.count && length < sizeof latest; i++)
            length += (size_t)snprintf(latest + length, sizeof latest - length, "%s=%s\n", e.fields[i].name,
                                       e.fields[i].value);
    }
    journal_reader_close(r);
    memory_free(folder);
    return count;
}

static bool says(const char *set, const char *words)
{
    struct run_record record = fixture_record(set);
    bool does = strstr(record.last_message, words) != NULL;
    if (!does)
        print_message("%s\n", record.last_message);
    run_record_free(&record);
    return does;
}

/* Each sample beyond the threshold must be a row in the collector's file. If the collector requests it, the sample must
   also be an event with the five strings that Windows writes. */
static void each_sample_is_reported_and_written(void **state)
{
    (void)state;
    char *root = fixture_folder("told");
    fixture_commit("told", root, ALERT("a", HIGH LOW "<EventLog>-1</EventLog>") ALERT("quiet", HIGH), NULL);
    run_for("told", 6); /* time for three events of each collector */
    size_t count = events(2031, "told");
    assert_true(count >= 3);
    char *rows = fixture_read(root, "a.csv"), *end = strchr(latest, '\n');
    assert_int_equal(fixture_lines(root, "a.csv"), count + 1);
    assert_true(fixture_lines(root, "quiet.csv") >= 4);
    assert_non_null(strstr(rows, "\"\\System\\Processes\""));
    assert_non_null(strstr(rows, "\">\",\"0.5\",\"alert\",\"\\System\\Processes is "));
    assert_null(strstr(rows, "Threads"));
    assert_int_equal(strncmp(latest, "Counter=\\System\\Processes\n", 26), 0);
    assert_int_equal(strncmp(end + 1, "Value=", 6), 0);
    end = strchr(end + 1, '\n');
    assert_int_equal(strncmp(end + 1, "Operator=>\nThreshold=0.5\nMessage=\\System\\Processes is ", 53), 0);
    memory_free(rows);
    struct run_record record = fixture_record("told");
    assert_int_equal(record.latest_files.count, 2);
    assert_string_equal(path_name(record.latest_files.items[0]), "a.csv");
    run_record_free(&record);
    /* Another run in the same folder must start, although the file exists. */
    run_for("told", 2);
    assert_true(fixture_lines(root, "a.csv") > count + 1);
    memory_free(root);
}

/* A script can put the settings of one of two collectors. */
static void settings_are_applied(void **state)
{
    (void)state;
    char *root = fixture_folder("rules");
    fixture_commit(
        "rules", root,
        ALERT("once", HIGH "<EventLog>-1</EventLog>")
            ALERT("each",
                  HIGH) "<Value name=\"OpenPLA.AlertOn[Once]\">crossing</Value>"
                        "<Value name=\"OpenPLA.AlertMessage\">{set}/{name}: {counter}{operator}{threshold} {x}</Value>"
                        "<Value name=\"OpenPLA.AlertLog[each]\">none</Value>",
        NULL);
    run_for("rules", 6);
    assert_int_equal(events(2031, "rules"), 1);
    assert_non_null(strstr(latest, "Message=rules/once: \\System\\Processes>0.5 {x}\n"));
    assert_int_equal(fixture_lines(root, "once.csv"), 2);
    char *none = path_join(root, "each.csv");
    assert_false(file_exists(none));
    memory_free(none);
    memory_free(root);
}

/* The alert of one collector must start a set, which continues to run. The alert of the other must report that its set
   does not exist. */
static void alert_starts_a_set(void **state)
{
    (void)state;
    char *root = fixture_folder("trigger");
    fixture_commit("second", root, "", CSV_EACH_SECOND ONE_COUNTER);
    fixture_commit("trigger", root,
                   ALERT("a", HIGH "<TriggerDataCollectorSet>second</TriggerDataCollectorSet>")
                       ALERT("b", HIGH "<TriggerDataCollectorSet>Missing's</TriggerDataCollectorSet>"),
                   NULL);
    start("trigger");
    fixture_await("second", RUN_RUNNING, PATIENCE_MS);
    fixture_progress("trigger", 1, 6);
    stop("trigger");
    assert_int_equal(events(1003, "second"), 1); /* started only once, because it is running */
    fixture_progress("second", 1, 1);
    stop("second");
    assert_true(events(1015, "trigger") >= 1);
    assert_non_null(strstr(latest, "Name=b\nError=0x80300002\n"));
    assert_true(says("trigger", "the alert 'b' could not start the set 'Missing's'"));
    memory_free(root);
}

/* On a host OS without tasks, Task may be a command line. An invalid one must be reported. */
static void alert_runs_a_command(void **state)
{
    (void)state;
    char *root = fixture_folder("command"), *touched = path_join(root, "command.touched");
    fixture_commit("command", root,
                   ALERT("a", HIGH)
                       ALERT("b", HIGH "<Task>no such task</Task>") "<Value name=\"OpenPLA.AlertCommand[a]\">" TOUCH
                                                                    "</Value>"
                                                                    "<Value name=\"OpenPLA.AlertOn\">crossing</Value>",
                   NULL);
    start("command");
    char *text = NULL;
    size_t size = 0;
    for (int i = 0; i < 1000 && !size; i++) { /* waits until the file has contents */
        memory_free(text);
        text = NULL;
        if (FAILED(file_load(touched, 1000, &text, &size)))
            size = 0;
        fixture_sleep(20);
    }
    assert_true(size > 0 && text[0] == 'a');
    stop("command");
    assert_int_equal(events(1014, "command"), 1);
    assert_non_null(strstr(latest, "Name=b\nError=0x80070002\n"));
    assert_true(says("command", "the alert 'b' could not run the task 'no such task'"));
    memory_free(text);
    memory_free(touched);
    memory_free(root);
}

/* With StopOnCompletion, an alert is complete immediately. An alert with a single sample is complete after it (MS-PLA
   3.2.4.1). */
static void run_ends_with_its_alerts(void **state)
{
    (void)state;
    char *root = fixture_folder("ends");
    fixture_commit("ends", root, "<StopOnCompletion>-1</StopOnCompletion>" ALERT("a", HIGH), NULL);
    start("ends");
    fixture_await("ends", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "a.csv"), 2);
    fixture_commit("ends", root,
                   "<StopOnCompletion>-1</StopOnCompletion><AlertDataCollector><Name>b</Name>" HIGH
                   "<SampleInterval>4294967295</SampleInterval></AlertDataCollector>",
                   NULL);
    start("ends");
    fixture_await("ends", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "b.csv"), 2);
    assert_true(says("ends", "all its collectors are complete"));
    assert_int_equal(events(1011, "ends"), 0); /* this event belongs to configuration collectors */
    memory_free(root);
}

/* plaUpdateRunningInstance must change the thresholds in the same run and the same file. An invalid update must be
   rejected, and the old definition must stay in effect. */
static void running_set_accepts_new_thresholds(void **state)
{
    (void)state;
    char *root = fixture_folder("update");
    fixture_commit("update", root, ALERT("a", LOW), NULL);
    start("update");
    fixture_progress("update", 1, 1);
    fixture_commit("update", root,
                   ALERT("a", LOW HIGH "<EventLog>-1</EventLog>") "<Value name=\"OpenPLA.AlertOn\">crossing</Value>",
                   NULL);
    assert_int_equal(run_update(SPACE, "update"), S_OK);
    struct run_state now = fixture_progress("update", 1, 4);
    assert_int_equal(now.serial_number, 1);
    for (int i = 0; i < PATIENCE_MS / 20 && !events(2031, "update"); i++)
        fixture_sleep(20);
    stop("update");
    assert_int_equal(events(2031, "update"), 1);
    assert_int_equal(fixture_lines(root, "a.csv"), 2);
    memory_free(root);
}

/* If a counter is missing, the journal and the record must name it. The alert must still watch the others. */
static void missing_counter_is_named(void **state)
{
    (void)state;
    char *root = fixture_folder("missing");
    fixture_commit("missing", root, ALERT("a", HIGH "<Alert>\\No Object\\No Counter&gt;1</Alert>"), NULL);
    run_for("missing", 2);
    assert_int_equal(fixture_events(1010, "missing"), 1);
    assert_true(says("missing", "\\No Object\\No Counter"));
    assert_true(fixture_lines(root, "a.csv") >= 2);
    memory_free(root);
}

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    char *folder = os_module_folder(), *program = path_join(folder, "trace_test_host" PROGRAM_SUFFIX);
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_is_reported_and_written),
        cmocka_unit_test(settings_are_applied),
        cmocka_unit_test(alert_starts_a_set),
        cmocka_unit_test(alert_runs_a_command),
        cmocka_unit_test(run_ends_with_its_alerts),
        cmocka_unit_test(running_set_accepts_new_thresholds),
        cmocka_unit_test(missing_counter_is_named),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
