/* SPDX-License-Identifier: MIT */
/* Tasks in the store. A definition must be valid, and a task must be started as its definition specifies. The tasks
   start this test program. */
#include "engine/base/clock.h"
#include "engine/base/command_line.h"
#include "engine/base/thread.h"
#include "engine/base/windows_services.h"
#include "engine/pla/task.h"
#include "tests/unit/child_process.h"

#define NOT_SUPPORTED HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)
#define NOT_FOUND     HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)

static char *folder, *program;

/* ---- the task's process ---- */

/* Writes its arguments, each in brackets, to a file in its current folder. */
static int write_arguments(int argc, char **argv)
{
    struct text_buffer b = {0};
    for (int i = 2; i < argc; i++)
        text_buffer_format(&b, "[%s]", argv[i]);
    HRESULT hr = file_store("arguments.txt", b.text ? b.text : "", b.length);
    text_buffer_free(&b);
    return FAILED(hr) ? 8 : 3;
}

/* Waits longer than any test. It does not wait forever, because the process may still exist after the tests. */
static int stay(void)
{
    child_sleep(CHILD_PATIENCE);
    return 0;
}

/* ---- definitions ---- */

#define TASK(inside)                                                                                                   \
    "<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">" inside "</Task>"
#define EXEC(inside) "<Actions><Exec>" inside "</Exec></Actions>"

static void refused(const char *xml, HRESULT wanted, const char *text)
{
    struct task_definition d;
    assert_int_equal(task_definition_read(xml, strlen(xml), &d, NULL), wanted);
    assert_non_null(strstr(error_text(wanted), text));
    assert_null(d.command);
}

static void task_scheduler_exports_are_accepted(void **state)
{
    static const char xml[] = TASK(
        "<RegistrationInfo><URI>\\My\\Task</URI></RegistrationInfo><Triggers><BootTrigger/></Triggers><Principals>"
        "<Principal/></Principals><Settings><Enabled>true</Enabled><ExecutionTimeLimit>P1DT2H3M4S</ExecutionTimeLimit>"
        "</Settings><Actions Context=\"Author\"><Exec><Command>\"C:\\a b\\c.exe\"</Command>"
        "<Arguments>/x $(Arg0)</Arguments><WorkingDirectory>$(Arg1)</WorkingDirectory></Exec></Actions>");
    struct task_definition d;
    char *ignored, wide[2 + 2 * sizeof xml] = "\xFF\xFE";
    (void)state;
    for (size_t i = 0; i < sizeof xml - 1; i++) {
        wide[2 + 2 * i] = xml[i];
        wide[3 + 2 * i] = 0;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? task_definition_read(wide, 2 * sizeof xml, &d, &ignored)
                           : task_definition_read(xml, sizeof xml - 1, &d, &ignored),
                         S_OK);
        assert_string_equal(d.name, "My\\Task");
        assert_string_equal(d.command, "\"C:\\a b\\c.exe\"");
        assert_string_equal(d.arguments, "/x $(Arg0)");
        assert_string_equal(d.directory, "$(Arg1)");
        assert_int_equal(d.limit_seconds, 86400 + 2 * 3600 + 3 * 60 + 4);
        assert_false(d.disabled);
        assert_string_equal(ignored, "Triggers, Principals");
        memory_free(ignored);
        task_definition_free(&d);
    }
}

static void invalid_tasks_are_rejected_by_name(void **state)
{
    (void)state;
    refused("<Task", OPENPLA_E_MALFORMED_XML, "line 1");
    refused("<Job/>", OPENPLA_E_MALFORMED_XML, "'Job'");
    refused("<!DOCTYPE Task [<!ENTITY a \"b\">]>" TASK(EXEC("<Command>&a;</Command>")), OPENPLA_E_MALFORMED_XML,
            "document type");
    refused(TASK(""), OPENPLA_E_MALFORMED_XML, "Exec");
    refused(TASK(EXEC("<Arguments>x</Arguments>")), OPENPLA_E_MALFORMED_XML, "Command");
    refused(TASK("<Actions><ComHandler/></Actions>"), NOT_SUPPORTED, "ComHandler");
    refused(TASK("<Actions><Exec/><Exec/></Actions>"), NOT_SUPPORTED, "more than one");
    refused(TASK("<Settings><Enabled>no</Enabled></Settings>" EXEC("<Command>x</Command>")), E_INVALIDARG, "'no'");
    static const char *const times[] = {"1h",    "P",      "PT",  "PT1",   "PT1D",    "P1H",
                                        "PTT1S", "PT1S1M", "P1Y", "PT-1S", "P50000D", "PT99999999999999999999S"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char *xml = text_format(TASK("<Settings><ExecutionTimeLimit>%s</ExecutionTimeLimit></Settings>"), times[i]);
        refused(xml, E_INVALIDARG, times[i]);
        memory_free(xml);
    }
}

static struct task_definition definition(const char *name, const char *arguments)
{
    return (struct task_definition){.name = text_copy(name),
                                    .command = text_copy(program),
                                    .arguments = text_copy(arguments),
                                    .directory = text_copy("$(Arg1)")};
}

static HRESULT add(const char *name, const char *arguments, uint32_t limit_seconds)
{
    struct task_definition d = definition(name, arguments);
    d.limit_seconds = limit_seconds;
    HRESULT hr = task_store_save(&d, false);
    task_definition_free(&d);
    return hr;
}

static void tasks_are_kept_under_any_valid_name(void **state)
{
    static const char *const bad[] = {"",  "\\",  "a\\\\b", "a\\", "..\\x", "a\\..\\b",
                                      ".", "a/b", "a:b",    "a*",  "a\x01", "a\xFF"};
    struct texts names = {0};
    struct task_definition d;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(add(bad[i], "", 0), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "task"));
    }
    assert_int_equal(add("My\\Long Task.x", "a <b> & \"c\" ", 7), S_OK);
    assert_int_equal(add("my\\long task.X", "", 0), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(add("con", "", 0), S_OK);
    assert_int_equal(task_store_load("\\MY\\LONG TASK.X", &d), S_OK);
    assert_string_equal(d.arguments, "a <b> & \"c\" ");
    assert_int_equal(d.limit_seconds, 7);
    task_definition_free(&d);
    assert_int_equal(task_store_list(&names), S_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "con");
    assert_string_equal(names.items[1], "My\\Long Task.x");
    texts_free(&names);
    assert_int_equal(task_store_remove("CON"), S_OK);
    assert_int_equal(task_store_remove("con"), NOT_FOUND);
    assert_non_null(strstr(error_text(NOT_FOUND), "'con'"));
    assert_int_equal(task_store_load("con", &d), NOT_FOUND);
    assert_int_equal(task_store_remove("My\\Long Task.x"), S_OK);
}

/* ---- running tasks ---- */

static void wrote(const char *wanted)
{
    size_t size;
    char *path = path_join(folder, "arguments.txt"), *text;
    assert_int_equal(file_load(path, 10000, &text, &size), S_OK);
    assert_string_equal(text, wanted);
    file_delete(path);
    memory_free(text);
    memory_free(path);
}

static void run_to_end(struct task_instance *t)
{
    uint32_t code = 77;
    assert_int_equal(task_wait(t, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 3);
    task_close(t);
}

static void run_with(const char *pattern, const char *arguments, const char *wanted)
{
    struct task_instance *t;
    assert_int_equal(add("\\run", pattern, 0), S_OK);
    assert_int_equal(task_start("run", arguments, folder, true, &t), S_OK);
    run_to_end(t);
    wrote(wanted);
    assert_int_equal(task_store_remove("run"), S_OK);
}

static void a_task_gets_its_arguments_and_its_folder(void **state)
{
    (void)state;
    run_with("write $(Arg0)", "a \"b c\" \"\\\"\" \"d\\\\\"", "[a][b c][\"][d\\]");
    run_with("write x$(Arg0) \"$(Arg0)\" y", "1 \"2 3\"", "[x1][2 3][1 \"2 3\"][y]");
    run_with("write $(Arg2) $(Arg", "unused", "[$(Arg2)][$(Arg]");
    run_with("write fixed", "unused", "[fixed]");
    char *wanted = text_format("[%s]", folder);
    run_with("write $(Arg1)", "unused", wanted);
    memory_free(wanted);
}

static void a_command_line_is_a_task_without_a_name(void **state)
{
    struct task_instance *t;
    char *line = text_format("\"%s\" write a \"b c\"", program);
    (void)state;
    assert_int_equal(task_start_command(line, folder, &t), S_OK);
    memory_free(line);
    run_to_end(t);
    wrote("[a][b c]");
    assert_int_equal(task_start_command(" ", folder, &t), E_INVALIDARG);
    assert_int_equal(task_start_command("no_such_program_anywhere x", folder, &t), NOT_FOUND);
    assert_non_null(strstr(error_text(NOT_FOUND), "no_such_program_anywhere"));
    assert_null(t);
}

static void fails_as(const char *name, HRESULT wanted, const char *text)
{
    struct task_instance *t;
    assert_int_equal(task_start(name, "", folder, false, &t), wanted);
    assert_null(t);
    assert_non_null(strstr(error_text(wanted), text));
    assert_non_null(strstr(error_text(wanted), name));
}

static void add_as(const char *name, const char *command, const char *directory, bool disabled)
{
    struct task_definition d = definition(name, "");
    memory_free(d.command);
    memory_free(d.directory);
    d.command = text_copy(command);
    d.directory = text_copy(directory);
    d.disabled = disabled;
    assert_int_equal(task_store_save(&d, true), S_OK);
    task_definition_free(&d);
}

static void task_that_cannot_start_is_reported_with_the_reason(void **state)
{
    (void)state;
    fails_as("nothing", NOT_FOUND, "does not exist");
    add_as("odd", program, "$(Arg1)", true);
    fails_as("odd", SCHED_E_TASK_DISABLED, "disabled");
    add_as("odd", "no_such_program", "", false);
    fails_as("odd", NOT_FOUND, "no_such_program");
    add_as("odd", "here\\program.exe/x", "", false);
    fails_as("odd", E_INVALIDARG, "absolute path");
    add_as("odd", program, "$(Arg1)/none", false);
    fails_as("odd", HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "none");
    char *batch = path_join(folder, "Run.BAT"), *file = path_join(folder, "tasks");
    assert_int_equal(file_store(batch, "", 0), S_OK);
    add_as("odd", batch, "", false);
    fails_as("odd", NOT_SUPPORTED, "batch");
    char *path = path_join(file, "odd.xml");
    assert_int_equal(file_store(path, "<Task>", 6), S_OK);
    fails_as("odd", OPENPLA_E_MALFORMED_XML, "odd.xml");
    struct texts names = {0};
    assert_int_equal(task_store_list(&names), S_OK); /* even the corrupt task is listed and can be removed */
    assert_int_equal(names.count, 1);
    texts_free(&names);
    assert_int_equal(task_store_remove("odd"), S_OK);
    char *many = memory_alloc(40000);
    memset(many, 'x', 39999);
    many[39999] = 0;
    assert_int_equal(add("odd", "$(Arg0)", 0), S_OK);
    struct task_instance *t;
    HRESULT too_long = HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE);
    assert_int_equal(task_start("odd", many, folder, false, &t), too_long);
    assert_non_null(strstr(error_text(too_long), "32767"));
    memory_free(many);
    memory_free(path);
    memory_free(file);
    memory_free(batch);
    assert_int_equal(task_store_remove("odd"), S_OK);
}

static void wait_for_a_hung_task_is_limited(void **state)
{
    struct task_instance *t;
    (void)state;
    assert_int_equal(add("hang", "stay", 0), S_OK);
    assert_int_equal(task_start("hang", "", folder, false, &t), S_OK);
    assert_int_equal(task_wait(t, 50, NULL), S_FALSE);
    task_close(t);
    assert_int_equal(task_store_remove("hang"), S_OK);
    assert_int_equal(add("hang", "stay", 1), S_OK);
    assert_int_equal(task_start("hang", "", folder, false, &t), S_OK);
    assert_int_equal(task_wait(t, CHILD_PATIENCE, NULL), HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_TIMEOUT)), "1 s"));
    task_close(t);
    assert_int_equal(task_store_remove("hang"), S_OK);
}

/* Alerts start their tasks from separate threads. Each task must get the arguments of the alert that started it. */
#define STARTERS 4
#define STARTS   12

static void start_some(void *user)
{
    const char *mine = user;
    for (int i = 0; i < STARTS; i++) {
        char *place = text_format("%s/%d", mine, i), *arguments = text_format("write \"%d of\"", i);
        struct task_instance *t;
        uint32_t code = 0;
        if (folder_create(place) != S_OK || task_start("many", arguments, place, false, &t) != S_OK)
            return; /* the missing file fails the test */
        task_wait(t, CHILD_PATIENCE, &code);
        task_close(t);
        memory_free(arguments);
        memory_free(place);
    }
}

static void tasks_of_many_threads_are_independent(void **state)
{
    struct thread *threads[STARTERS];
    char *places[STARTERS];
    (void)state;
    assert_int_equal(add("many", "$(Arg0)", 0), S_OK);
    for (int i = 0; i < STARTERS; i++) {
        places[i] = text_format("%s/%d", folder, i);
        assert_int_equal(thread_start(start_some, places[i], &threads[i]), S_OK);
    }
    for (int i = 0; i < STARTERS; i++) {
        thread_wait(threads[i], UINT32_MAX);
        thread_close(threads[i]);
        for (int j = 0; j < STARTS; j++) {
            char *path = text_format("%s/%d/arguments.txt", places[i], j), *wanted = text_format("[%d of]", j);
            char *text = scratch_read(path);
            assert_string_equal(text, wanted);
            memory_free(text);
            memory_free(wanted);
            memory_free(path);
        }
        memory_free(places[i]);
    }
    assert_int_equal(task_store_remove("many"), S_OK);
}

/* Replaces Windows' Task Scheduler, and checks the task's name. */
struct scheduled_task {
    char *said;
};
static bool scheduled;

static HRESULT fake_start(const char *task, const char *arguments, const char *directory, bool as_self,
                          struct scheduled_task **out)
{
    static struct scheduled_task instance;
    if (!strcmp(task, "missing"))
        return error_set(NOT_FOUND, "the task 'missing'");
    instance.said = text_format("%s|%s|%s|%d", task, arguments, directory, as_self);
    *out = &instance;
    return S_OK;
}

static HRESULT fake_wait(struct scheduled_task *t, uint32_t timeout_ms, uint32_t *exit_code)
{
    assert_string_equal(t->said, "My\\Task|a b|C:\\x|1");
    *exit_code = 5;
    return timeout_ms ? S_OK : S_FALSE;
}

static void fake_close(struct scheduled_task *t)
{
    memory_free(t->said);
}

const struct task_scheduler *__real_host_task_scheduler(void);
const struct task_scheduler *__wrap_host_task_scheduler(void);
const struct task_scheduler *__wrap_host_task_scheduler(void)
{
    static const struct task_scheduler fake = {fake_start, fake_wait, fake_close};
    return scheduled ? &fake : NULL;
}

static void task_scheduler_runs_tasks_where_available(void **state)
{
    struct task_instance *t;
    uint32_t code = 0;
    (void)state;
    assert_true(!os_is_wine() || !__real_host_task_scheduler());
    scheduled = true;
    assert_int_equal(task_start("\\My\\Task", "a b", "C:\\x", true, &t), S_OK);
    assert_int_equal(task_wait(t, 0, &code), S_FALSE);
    assert_int_equal(task_wait(t, 1, &code), S_OK);
    assert_int_equal(code, 5);
    task_close(t);
    assert_int_equal(task_start("missing", "", "", false, &t), NOT_FOUND);
    assert_int_equal(task_start("a*", "", "", false, &t), E_INVALIDARG);
    scheduled = false;
}

static void out_of_memory_is_an_error(void **state)
{
    HRESULT hr = E_FAIL;
    (void)state;
    assert_int_equal(add("memory", "write $(Arg0)", 0), S_OK);
    for (uint64_t at = 1; hr != S_OK; at++) {
        struct task_definition d;
        struct texts names = {0};
        assert_true(at < 1000);
        memory_fail_at(at);
        hr = task_store_load("memory", &d);
        if (SUCCEEDED(hr)) {
            struct task_program p = {0};
            hr = task_definition_resolve(&d, "a b", folder, &p);
            task_program_free(&p);
            task_definition_free(&d);
        }
        if (SUCCEEDED(hr))
            hr = task_store_list(&names);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        texts_free(&names);
    }
    assert_int_equal(task_store_remove("memory"), S_OK);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "write"))
        return write_arguments(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "stay"))
        return stay();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_scheduler_exports_are_accepted),
        cmocka_unit_test(invalid_tasks_are_rejected_by_name),
        cmocka_unit_test(tasks_are_kept_under_any_valid_name),
        cmocka_unit_test(a_task_gets_its_arguments_and_its_folder),
        cmocka_unit_test(a_command_line_is_a_task_without_a_name),
        cmocka_unit_test(task_that_cannot_start_is_reported_with_the_reason),
        cmocka_unit_test(wait_for_a_hung_task_is_limited),
        cmocka_unit_test(tasks_of_many_threads_are_independent),
        cmocka_unit_test(task_scheduler_runs_tasks_where_available),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    program = os_full_path(argv[0]);
    child_program = program;
    char *scratch = scratch_create("tasks");
    folder = os_full_path(scratch);
    scratch_environment("OPENPLA_DATA", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    memory_free(scratch);
    memory_free(folder);
    memory_free(program);
    return failed;
}
