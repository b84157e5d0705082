/* SPDX-License-Identifier: MIT */
/* Tasks of sets: what users expect of a task, and what a task must not do to its set. The tasks start this test
   program. */
#include "engine/base/os.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/task.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#ifdef _WIN32
#define APPEND "ab"
#else
#define APPEND "ae"
#endif

#define OVER_AGAIN "<LogOverwrite>-1</LogOverwrite>"

static char *program;

/* ---- the task's process ---- */

/* Appends a line to the file in the first argument. The line contains the other arguments, each in brackets. */
static int note(int argc, char **argv)
{
    struct text_buffer b = {0};
    for (int i = 3; i < argc; i++)
        text_buffer_format(&b, "[%s]", argv[i]);
    text_buffer_add(&b, "\n");
    FILE *f = fopen(argv[2], APPEND);
    if (!f || fwrite(b.text, 1, b.length, f) != b.length || fclose(f))
        return 8;
    text_buffer_free(&b);
    return 0;
}

/* ---- the tests ---- */

static void add_task(const char *name, const char *arguments)
{
    struct task_definition d = {.name = text_copy(name),
                                .command = text_copy(program),
                                .arguments = text_copy(arguments),
                                .directory = text_copy("$(Arg1)")};
    assert_int_equal(task_store_save(&d, true), S_OK);
    task_definition_free(&d);
}

static void run_briefly(const char *name)
{
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    fixture_progress(name, 1, 1);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

/* A task must be started exactly once for each log; it may archive the log. */
static void each_segment_starts_its_task_once_with_its_log(void **state)
{
    (void)state;
    char *root = fixture_folder("of a task"), *list = path_join(root, "list"), *set, *wanted;
    char *pattern = text_format("note \"%s\" $(Arg0) end", list);
    add_task("Archive\\Logs", pattern);
    set = text_format("<Segment>-1</Segment><Task>\\archive\\logs</Task><TaskArguments>{logs} {state} \"{usertext}\" "
                      "\\{key\\} /c:{case} {name} {value}</TaskArguments>"
                      "<TaskUserTextArguments>\" {state} \\</TaskUserTextArguments>"
                      "<Value name=\"case\">12 a</Value><Value name=\"OpenPLA.TaskTimeout\">30</Value>"
                      "<Value name=\"other\">x</Value><Value name=\"shown\" type=\"document\"><a/></Value>");
    fixture_commit("segments", root, set,
                   CSV_EACH_SECOND
                   "<SegmentMaxRecords>1</SegmentMaxRecords><FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "segments", true), S_OK);
    fixture_progress("segments", 3, 2);
    assert_int_equal(run_stop(SPACE, "segments", true), S_OK);
    struct run_record record = fixture_record("segments");
    uint32_t segments = record.serial_number - 1;
    char *lines = fixture_read(root, "list");
    assert_true(segments >= 3);
    for (uint32_t i = 1; i <= segments; i++) {
        char *log = text_format("c_%06u.csv", (unsigned)i), *path = path_join(root, log);
        wanted = text_format("[%s][%d][\" {state} \\][12 a][x][/c:12 a][segments][][end]\n", path, i < segments);
        const char *found = strstr(lines, wanted);
        assert_non_null(found);
        assert_ptr_equal(strstr(lines, path), found + 1);
        assert_null(strstr(found + strlen(wanted), path));
        memory_free(wanted);
        memory_free(path);
        memory_free(log);
    }
    assert_int_equal(fixture_events(1007, "segments"), segments);
    assert_int_equal(fixture_events(1008, "segments"), 0);
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    memory_free(lines);
    memory_free(set);
    memory_free(pattern);
    memory_free(list);
    memory_free(root);
}

static void failed_run(const char *name, const char *root, const char *task, int timeout, const char *text)
{
    char *set = text_format("<Task>%s</Task><Value name=\"OpenPLA.TaskTimeout\">%d</Value>", task, timeout);
    fixture_commit(name, root, set, CSV_EACH_SECOND OVER_AGAIN ONE_COUNTER);
    run_briefly(name);
    struct run_record record = fixture_record(name);
    assert_int_equal(record.last_result, S_OK); /* the result of a run depends only on its logs */
    assert_non_null(strstr(record.last_message, text));
    assert_non_null(strstr(record.last_message, task));
    assert_int_equal(fixture_events(1008, name), 1);
    assert_non_null(strstr(fixture_reason, text));
    assert_int_equal(fixture_events(1006, name), 0);
    run_record_free(&record);
    memory_free(set);
}

static void failed_or_hung_task_is_reported_and_stops_nothing(void **state)
{
    (void)state;
    char *root = fixture_folder("of failures"), *end = path_join(root, "end"),
         *hangs = text_format("until \"%s\"", end);
    failed_run("missing", root, "None\\Such", 30, "does not exist");
    assert_int_equal(fixture_events(1007, "missing"), 0);
    add_task("fails", "fail");
    failed_run("failing", root, "fails", 30, "code 7");
    assert_int_equal(fixture_events(1007, "failing"), 1);
    add_task("hangs", hangs);
    failed_run("hanging", root, "hangs", 1, "after 1 s");
    assert_int_equal(fixture_events(1007, "hanging"), 1);
    assert_int_equal(file_store(end, "", 0), S_OK); /* makes the task exit, which uses the run's folder */
    memory_free(hangs);
    memory_free(end);
    memory_free(root);
}

/* Scripts poll Status. It may become 0 only when the task has exited. If the set host process is killed while the task
   runs, the record must already contain the end of the run. */
static void set_is_compiling_until_its_task_ends(void **state)
{
    (void)state;
    char *root = fixture_folder("of status"), *until = path_join(root, "until"),
         *pattern = text_format("until \"%s\"", until);
    add_task("waits", pattern);
    fixture_commit("status", root, "<Task>waits</Task>", CSV_EACH_SECOND OVER_AGAIN ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "status", true), S_OK);
    fixture_progress("status", 1, 1);
    assert_int_equal(run_stop(SPACE, "status", false), S_OK);
    fixture_await("status", RUN_COMPILING, PATIENCE_MS);
    fixture_sleep(300);
    fixture_await("status", RUN_COMPILING, 0);
    assert_int_equal(file_store(until, "", 0), S_OK);
    fixture_await("status", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_events(1012, "status"), 0); /* the data manager had no work */
    file_delete(until);
    assert_int_equal(run_start(SPACE, "status", true), S_OK);
    fixture_progress("status", 2, 1);
    assert_int_equal(run_stop(SPACE, "status", false), S_OK);
    fixture_kill(fixture_await("status", RUN_COMPILING, PATIENCE_MS).process_id);
    fixture_await("status", RUN_STOPPED, PATIENCE_MS);
    struct run_record record = fixture_record("status");
    assert_false(record.running);
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    assert_int_equal(file_store(until, "", 0), S_OK); /* tells the task to exit */
    memory_free(pattern);
    memory_free(until);
    memory_free(root);
}

static size_t refused, noted;

static void count_note(void *user, HRESULT hr, const char *text)
{
    (void)user;
    noted++;
    refused += hr == SCHED_E_ALREADY_RUNNING && strstr(text, "32") != NULL;
}

/* If a set has short segments and its tasks hang, it must not start more and more processes. */
static void running_tasks_are_limited(void **state)
{
    (void)state;
    char *root = fixture_folder("of many"), *path = path_join(root, "until"),
         *pattern = text_format("until \"%s\"", path);
    struct object *set;
    struct segment_tasks tasks = {.space = SPACE, .set = "many", .note = count_note};
    add_task("many", pattern);
    assert_int_equal(set_create(&set), S_OK);
    struct data_collector_set *model = set_of(set);
    memory_free(model->Task);
    model->Task = text_copy("many");
    struct ended_segment e = {.space = SPACE, .name = "many", .set = model, .location = root};
    for (int i = 0; i < SEGMENT_TASKS_MAX + 2; i++)
        segment_tasks_start(&tasks, &e);
    assert_int_equal(refused, 2);
    assert_int_equal(noted, 2);
    assert_true(segment_tasks_look(&tasks));
    assert_int_equal(file_store(path, "", 0), S_OK);
    for (int i = 0; i < PATIENCE_MS / 10 && segment_tasks_look(&tasks); i++)
        fixture_sleep(10);
    assert_int_equal(tasks.count, 0);
    segment_tasks_start(&tasks, &e); /* there is room for another task */
    assert_int_equal(noted, 2);
    segment_tasks_release(&tasks);
    assert_int_equal(fixture_events(1007, "many"), SEGMENT_TASKS_MAX + 1);
    assert_int_equal(fixture_events(1008, "many"), 2);
    object_release(set);
    memory_free(pattern);
    memory_free(path);
    memory_free(root);
}

static int until(const char *path)
{
    for (int i = 0; i < PATIENCE_MS / 10 && !file_exists(path); i++)
        fixture_sleep(10);
    return 0;
}

/* Returns whether the file contains a complete line. */
static bool has_line(const char *path)
{
    char *text;
    size_t size;
    if (FAILED(file_load(path, 1 << 16, &text, &size)))
        return false;
    const bool whole = strchr(text, '\n') != NULL;
    memory_free(text);
    return whole;
}

/* The task of an alert must get the right counter and value, and no value may become an option (MS-PLA 3.2.4.8.11). The
   fake collector of these tests crosses its threshold at each sample. */
static void alert_task_gets_the_crossed_value(void **state)
{
    static const char wanted[] = "[cross][\\Memory\\Available MBytes][<][12.5][100][\" {name} \\][12 a][alert's][{x}][";
    (void)state;
    char *root = fixture_folder("of an alert"), *list = path_join(root, "told");
    char *pattern = text_format("note \"%s\" $(Arg0) end", list);
    add_task("Tell", pattern);
    fixture_commit("alert's", root,
                   "<AlertDataCollector><Name>cross</Name><Task>Tell</Task><TaskArguments>{name} {counter} {operator} "
                   "{value} {threshold} \"{usertext}\" {case} {set} {x} {date}</TaskArguments>"
                   "<TaskUserTextArguments>\" {name} \\</TaskUserTextArguments></AlertDataCollector>"
                   "<Value name=\"case\">12 a</Value>",
                   NULL);
    run_briefly("alert's");
    for (int i = 0; i < PATIENCE_MS / 20 && !has_line(list); i++)
        fixture_sleep(20);
    fixture_sleep(500); /* waits until the task does not use the folder any more */
    char *lines = fixture_read(root, "told");
    assert_int_equal(strncmp(lines, wanted, sizeof wanted - 1), 0);
    assert_int_equal(strcspn(lines + sizeof wanted - 1, "]"), strlen("MM/DD/YYYY hh:mm:ss.mmm"));
    assert_int_equal(strncmp(strchr(lines + sizeof wanted - 1, ']'), "][end]\n", 7), 0);
    memory_free(lines);
    memory_free(pattern);
    memory_free(list);
    memory_free(root);
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "note"))
        return note(argc, argv);
    if (argc == 2 && !strcmp(argv[1], "fail"))
        return 7;
    if (argc == 3 && !strcmp(argv[1], "until"))
        return until(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_segment_starts_its_task_once_with_its_log),
        cmocka_unit_test(failed_or_hung_task_is_reported_and_stops_nothing),
        cmocka_unit_test(set_is_compiling_until_its_task_ends),
        cmocka_unit_test(running_tasks_are_limited),
        cmocka_unit_test(alert_task_gets_the_crossed_value),
    };
    program = os_full_path(argv[0]);
    int failed = cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
    memory_free(program);
    return failed;
}
