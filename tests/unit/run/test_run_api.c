/* SPDX-License-Identifier: MIT */
/* Sets with API tracing collectors. A program is started while they run. Tests the contents of the logs, rejected
   starts, hostile programs, killed set host processes, and segments. */
#include "engine/base/clock.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_change.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/run_state.h"
#include "tests/unit/run/run_trace_fixture.h"

#include <windows.h>
#include <tlhelp32.h>

enum { RIGHT = 40, NAME = 64 };

static char *target; /* path of api_target.exe */

/* ---- the program ---- */

static struct process *target_start(const char *what, const char *count)
{
    const char *arguments[] = {what, count};
    struct process *p;
    assert_int_equal(process_start(&(struct program){.path = target, .arguments = arguments, .argument_count = 2}, &p),
                     S_OK);
    return p;
}

static uint32_t target_end(struct process *p)
{
    uint32_t code = 0;
    assert_int_equal(process_wait(p, PATIENCE_MS, &code), S_OK);
    process_close(p);
    return code;
}

static void assert_runs(const char *what, const char *count)
{
    assert_int_equal(target_end(target_start(what, count)), RIGHT);
}

/* ---- contents of a log ---- */

struct call {
    char api[NAME], arguments[400], result[NAME];
    uint32_t error;
    uint64_t duration;
    uint8_t failed;
};

static const uint8_t *read_string(const uint8_t *at, const uint8_t *end, char *out, size_t room)
{
    size_t length = 0;
    while (at + length < end && at[length] && length + 1 < room)
        length++;
    assert_true(at + length < end);
    memcpy(out, at, length);
    out[length] = 0;
    return at + length + 1;
}

/* Returns the number of events with this id whose first field is `api` (NULL: any). Stores the fields of the last one
   in `last`. */
static size_t count_in(const char *root, const char *file, uint16_t id, const char *api, struct call *last)
{
    char *path = path_join(root, file);
    struct etl_reader *reader;
    struct etl_record record;
    size_t count = 0;
    if (FAILED(etl_reader_open(path, keep_warning, NULL, &reader)))
        fail_msg("%s: %s", path, error_text(E_FAIL));
    assert_int_equal(etl_reader_log(reader)->events_lost, 0);
    while (etl_reader_next(reader, &record) == S_OK) {
        struct call c = {.error = 0};
        if (record.kind != ETL_RECORD_MANIFEST || !guid_equal(&record.provider, &api_trace_provider) || record.id != id)
            continue;
        const uint8_t *at = record.data, *end = at + record.data_size;
        if (id >= API_EVENT_CALL)
            at = read_string(at, end, c.api, sizeof c.api);
        if (api && strcmp(c.api, api) != 0)
            continue;
        count++;
        if (id == API_EVENT_RETURN) {
            at = read_string(at, end, c.arguments, sizeof c.arguments);
            at = read_string(at, end, c.result, sizeof c.result);
            assert_int_equal(end - at, 21);
            memcpy(&c.error, at, sizeof c.error);
            memcpy(&c.duration, at + 4, sizeof c.duration);
            c.failed = at[20];
        }
        if (last)
            *last = c;
    }
    etl_reader_close(reader);
    memory_free(path);
    return count;
}

/* Asserts the number of traced processes. If it is wrong, prints the message of the run. */
static void assert_processes(const char *name, const char *root, const char *file, size_t expected)
{
    struct run_record record = fixture_record(name);
    const size_t count = count_in(root, file, API_EVENT_START, NULL, NULL);
    if (count != expected)
        fail_msg("%zu processes were traced, not %zu: %s", count, expected, record.last_message);
    run_record_free(&record);
}

static void commit_api(const char *name, const char *root, const char *set, const char *elements)
{
    char *xml =
        text_format("%s<ApiTracingDataCollector><Name>%s</Name><LogFilePath>%s.etl</LogFilePath><ExePath>%s</ExePath>"
                    "%s</ApiTracingDataCollector>",
                    set, name, name, target, elements);
    commit(name, root, xml);
    memory_free(xml);
}
#define NAMES_ONLY   "<LogApiNamesOnly>-1</LogApiNamesOnly>"
#define MODULE(name) "<IncludeModule>" name "</IncludeModule>"

static void await_calls(const char *name, uint64_t count)
{
    for (int i = 0; i < PATIENCE_MS / 20 && fixture_figure(name, name, "Calls") < count; i++)
        fixture_sleep(20);
    assert_true(fixture_figure(name, name, "Calls") >= count);
}

static void calls_have_arguments_and_results(void **state)
{
    (void)state;
    char *root = fixture_folder("calls");
    struct call c;
    commit_api("calls", root, "", "");
    start("calls");
    assert_runs("known", "5");
    await_calls("calls", 1);
    const uint64_t calls = fixture_figure("calls", "calls", "Calls");
    assert_int_equal(fixture_figure("calls", "calls", "Processes"), 1);
    stop("calls");
    assert_int_equal(count_in(root, "calls.etl", API_EVENT_RETURN, NULL, NULL) +
                         count_in(root, "calls.etl", API_EVENT_CALL, NULL, NULL),
                     calls);
    assert_processes("calls", root, "calls.etl", 1);
    assert_int_equal(count_in(root, "calls.etl", API_EVENT_RETURN, "kernel32!CreateFileW", &c), 5);
    assert_string_equal(c.arguments, "L\"C:\\\\no such folder\\\\a.txt\", 0x80000000, 0x0, NULL, 3, 0x0, NULL");
    assert_string_equal(c.result, "0xffffffffffffffff");
    assert_int_equal(c.error, ERROR_PATH_NOT_FOUND);
    assert_true(c.failed && c.duration > 0);
    assert_int_equal(count_in(root, "calls.etl", API_EVENT_RETURN, "kernel32!MulDiv", &c), 1);
    assert_string_equal(c.arguments, "6, 7, 1");
    assert_string_equal(c.result, "42");
    assert_false(c.failed);
    /* Modules that were not requested must not be traced. Neither must variables that the C library exports. */
    assert_int_equal(count_in(root, "calls.etl", API_EVENT_RETURN, "msvcrt!exit", NULL), 0);
    memory_free(root);
}

static void names_alone_are_logged_before_the_call(void **state)
{
    (void)state;
    char *root = fixture_folder("names");
    commit_api("names", root, "", NAMES_ONLY);
    start("names");
    assert_runs("byname", "7");
    stop("names");
    assert_int_equal(count_in(root, "names.etl", API_EVENT_RETURN, NULL, NULL), 0);
    assert_int_equal(count_in(root, "names.etl", API_EVENT_CALL, "kernel32!MulDiv", NULL), 7);
    assert_int_equal(count_in(root, "names.etl", API_EVENT_CALL, "kernel32!GetProcAddress", NULL), 8);
    memory_free(root);
}

/* Only functions of the listed modules and the included functions are traced. Of these, the excluded ones are not. */
static void lists_select_functions(void **state)
{
    (void)state;
    char *root = fixture_folder("lists");
    commit_api("lists", root, "",
               MODULE("C:\\windows\\system32\\kernel32.dll") "<IncludeApis>gdi32!DeleteObject</IncludeApis>"
                                                             "<ExcludeApis>KERNEL32.dll!muldiv</ExcludeApis>");
    start("lists");
    assert_runs("odd", "3");
    assert_runs("known", "1");
    stop("lists");
    assert_int_equal(count_in(root, "lists.etl", API_EVENT_RETURN, "gdi32!DeleteObject", NULL), 3);
    assert_int_equal(count_in(root, "lists.etl", API_EVENT_RETURN, "gdi32!CreateFontW", NULL), 0);
    assert_int_equal(count_in(root, "lists.etl", API_EVENT_CALL, "user32!wsprintfA", NULL), 0);
    assert_int_equal(count_in(root, "lists.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 1);
    assert_int_equal(count_in(root, "lists.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 0);
    memory_free(root);
}

/* The tracer does not know how many arguments these functions have. A wrong number would change what they do. */
static void functions_without_a_prototype_work(void **state)
{
    (void)state;
    char *root = fixture_folder("odd");
    struct call c;
    commit_api("odd", root, "", "");
    start("odd");
    assert_runs("odd", "20");
    assert_runs("unwind", "20");
    stop("odd");
    assert_int_equal(count_in(root, "odd.etl", API_EVENT_CALL, "user32!wsprintfA", NULL), 20);
    assert_int_equal(count_in(root, "odd.etl", API_EVENT_RETURN, "gdi32!CreateFontW", &c), 20);
    assert_string_equal(c.arguments, "12, 0, 0, 0, 400, 0, 0, 0, 0, 0, 0, 0, 0, L\"Arial\"");
    assert_int_equal(count_in(root, "odd.etl", API_EVENT_UNWOUND, "kernel32!EnumSystemCodePagesW", NULL), 20);
    memory_free(root);
}

static void values_of_all_kinds_are_kept(void **state)
{
    (void)state;
    char *root = fixture_folder("values");
    struct call c;
    commit_api("values", root, "", MODULE("kernel32") MODULE("msvcrt") MODULE("ntdll"));
    start("values");
    assert_runs("values", "20");
    stop("values");
    assert_int_equal(count_in(root, "values.etl", API_EVENT_RETURN, "msvcrt!pow", &c), 20);
    assert_string_equal(c.arguments, "2, 11");
    assert_string_equal(c.result, "2048");
    assert_int_equal(count_in(root, "values.etl", API_EVENT_RETURN, "msvcrt!atof", &c), 20);
    assert_string_equal(c.arguments, "\"-2.25\"");
    assert_string_equal(c.result, "-2.25");
    assert_int_equal(count_in(root, "values.etl", API_EVENT_RETURN, "kernel32!lstrlenA", &c), 20);
    assert_string_equal(c.arguments, "0xfffffffffffffff0");
    memory_free(root);
}

static void recursive_traces_have_calls_between_modules(void **state)
{
    (void)state;
    char *root = fixture_folder("deep");
    commit_api("deep", root, "",
               NAMES_ONLY "<LogApisRecursively>-1</LogApisRecursively>" MODULE("ntdll") MODULE("kernel32"));
    start("deep");
    assert_runs("known", "3");
    stop("deep");
    assert_int_equal(count_in(root, "deep.etl", API_EVENT_CALL, "kernel32!CreateFileW", NULL), 3);
    assert_in_range(count_in(root, "deep.etl", API_EVENT_CALL, "ntdll!NtCreateFile", NULL), 3, 1000);
    memory_free(root);
}

/* A user may start the program in different ways, several times at once, and while another of its processes is
   traced. */
static void each_process_is_traced(void **state)
{
    (void)state;
    enum { PROCESSES = 8 };
    struct process *p[PROCESSES];
    char *root = fixture_folder("many");
    commit_api("many", root, "", "");
    start("many");
    for (int i = 0; i < PROCESSES; i++)
        p[i] = target_start("known", "2");
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(target_end(p[i]), RIGHT);
    stop("many");
    assert_processes("many", root, "many.etl", PROCESSES);
    assert_int_equal(count_in(root, "many.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), PROCESSES);
    memory_free(root);
}

/* Microsoft says: "if the executable file is currently running, the trace occurs the next time the executable file
   runs". */
static void running_process_is_not_traced(void **state)
{
    (void)state;
    char *root = fixture_folder("before"), *file = path_join(root, "end");
    scratch_environment("API_TARGET_FILE", file);
    struct process *p = target_start("until", "1");
    fixture_sleep(1000);
    commit_api("before", root, "", "");
    start("before");
    fixture_sleep(300);
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(target_end(p), RIGHT);
    stop("before");
    assert_int_equal(count_in(root, "before.etl", API_EVENT_START, NULL, NULL), 0);
    check_message("before", "was not started while the set ran");
    memory_free(file);
    memory_free(root);
}

/* If a set requests it, a process that is already running is traced from now on. A message must say what is missing. */
static void running_process_is_attached_on_request(void **state)
{
    (void)state;
    char *root = fixture_folder("attach"), *file = path_join(root, "end");
    scratch_environment("API_TARGET_FILE", file);
    struct process *p = target_start("until", "1");
    fixture_sleep(1000);
    commit_api("attach", root, "<Value name=\"OpenPLA.ApiAttach\">yes</Value>", "");
    start("attach");
    await_calls("attach", 2000);
    assert_int_equal(fixture_figure("attach", "attach", "Processes"), 1);
    assert_runs("known", "3");
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(target_end(p), RIGHT);
    stop("attach");
    assert_int_equal(count_in(root, "attach.etl", API_EVENT_START, NULL, NULL), 2);
    assert_true(count_in(root, "attach.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL) >= 1000);
    assert_int_equal(count_in(root, "attach.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 3);
    check_message("attach", "processes that were already running: 1 ");
    memory_free(file);
    memory_free(root);
}

/* ---- processes that do not answer ---- */

static void await_file(const char *path, const char *suffix)
{
    char *full = text_format("%s%s", path, suffix);
    for (int i = 0; i < PATIENCE_MS / 20 && !file_exists(full); i++)
        fixture_sleep(20);
    assert_true(file_exists(full));
    memory_free(full);
}

static struct process *silent_start(const char *file, const char *count)
{
    scratch_environment("API_TARGET_FILE", file);
    struct process *p = target_start("silent", count);
    await_file(file, ".silent");
    return p;
}

static void silent_end(struct process *p, const char *file)
{
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(target_end(p), RIGHT);
}

/* If a process of the program is stopped, for example in a debugger, the other processes must still be traced, and the
   set must be able to stop. */
static void a_silent_process_delays_nothing(void **state)
{
    (void)state;
    for (int answers = 0; answers < 2; answers++) {
        const char *name = answers ? "answers" : "silent";
        char *root = fixture_folder(name), *file = path_join(root, "end"), *log = text_format("%s.etl", name);
        struct process *p = silent_start(file, answers ? "2" : "1");
        commit_api(name, root, "<Value name=\"OpenPLA.ApiAttach\">yes</Value>", "");
        start(name);
        assert_runs("known", "3");
        if (answers)
            silent_end(p, file);
        stop(name);
        assert_processes(name, root, log, answers ? 2 : 1);
        assert_int_equal(count_in(root, log, API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 3);
        assert_int_equal(count_in(root, log, API_EVENT_RETURN, "kernel32!MulDiv", NULL), answers ? 1001 : 1);
        if (!answers)
            silent_end(p, file);
        memory_free(log);
        memory_free(file);
        memory_free(root);
    }
}

/* A new process is suspended for the injection. If the set stops before the process has replied, the process must
   continue. */
static void a_silent_new_process_continues(void **state)
{
    (void)state;
    char *root = fixture_folder("new"), *file = path_join(root, "end");
    struct process *p = silent_start(file, "1");
    HANDLE handle = OpenProcess(PROCESS_ALL_ACCESS, FALSE, process_id(p));
    assert_non_null(handle);
    struct api_change *c = api_change_begin(handle, target, false);
    HRESULT reason;
    assert_non_null(c);
    assert_int_equal(api_change_continue(c, &reason), API_CHANGE_PENDING);
    api_change_release(c);
    silent_end(p, file);
    memory_free(file);
    memory_free(root);
}

/* ---- the run ---- */

static void segments_lose_no_call(void **state)
{
    (void)state;
    char *root = fixture_folder("pieces"), *file = path_join(root, "end");
    size_t calls = 0, names = 0;
    scratch_environment("API_TARGET_FILE", file);
    commit_api("pieces", root, "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>", MODULE("kernel32"));
    start("pieces");
    struct process *p = target_start("until", "1");
    fixture_progress("pieces", 4, 0);
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(target_end(p), RIGHT);
    const uint64_t figure = fixture_figure("pieces", "pieces", "Functions");
    stop("pieces");
    assert_true(figure > 500);
    for (int i = 1; i < 100; i++) {
        char name[40] = "pieces.etl";
        if (i > 1)
            snprintf(name, sizeof name, "pieces_%06d.etl", i);
        if (!exists(root, name))
            break;
        calls += count_in(root, name, API_EVENT_RETURN, "kernel32!MulDiv", NULL);
        names += count_in(root, name, API_EVENT_START, NULL, NULL);
    }
    assert_true(calls > 0 && calls % 1000 == 0);
    check_message("pieces", "API tracing: 1 processes, ");
    check_message("pieces", " calls, 0 lost");
    assert_int_equal(names, 1); /* the process is hooked only once, not for each segment */
    memory_free(file);
    memory_free(root);
}

/* API traces ignore the properties for file names (MS-PLA 2.2.2.11). A second run would therefore use the same file as
   the first one. */
static void log_is_named_by_its_path_only(void **state)
{
    (void)state;
    char *root = fixture_folder("named");
    commit_api("named", root, "",
               "<FileName>other</FileName><FileNameFormat>513</FileNameFormat><FileNameFormatPattern>\\Q"
               "</FileNameFormatPattern><LogOverwrite>-1</LogOverwrite>");
    for (unsigned i = 1; i <= 2; i++) {
        start("named");
        assert_runs("known", i == 1 ? "3" : "5");
        stop("named");
    }
    assert_int_equal(count_in(root, "named.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 3);
    assert_int_equal(count_in(root, "named_000002.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 5);
    memory_free(root);
}

/* If a set is deleted and created again, its serial numbers begin with 1. The logs of the first set are still in the
   folder and must be kept. */
static void logs_of_a_deleted_set_are_kept(void **state)
{
    (void)state;
    static const char *const kept[] = {"remade.etl", "remade_000001.etl", "remade_000002.etl"};
    char *root = fixture_folder("remade"), *text;
    size_t size;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char *path = path_join(root, kept[i]);
        assert_int_equal(file_store(path, "kept", 4), S_OK);
        memory_free(path);
    }
    for (int circular = 0; circular < 2; circular++) {
        commit_api("remade", root, circular ? "<SegmentMaxSize>2</SegmentMaxSize>" : "",
                   circular ? "<LogCircular>-1</LogCircular>" : "");
        start("remade");
        assert_runs("known", "3");
        stop("remade");
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char *path = path_join(root, kept[i]);
        assert_int_equal(file_load(path, 64, &text, &size), S_OK);
        assert_true(size == 4 && memcmp(text, "kept", 4) == 0);
        memory_free(text);
        memory_free(path);
    }
    assert_int_equal(count_in(root, "remade_000003.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 3);
    assert_int_equal(count_in(root, "remade_000004.etl", API_EVENT_RETURN, "kernel32!CreateFileW", NULL), 3);
    memory_free(root);
}

/* If the collector has no path for its log, the log gets the name of the program. */
static void log_without_a_path_has_the_program_name(void **state)
{
    (void)state;
    char *root = fixture_folder("unnamed");
    char *xml =
        text_format("<ApiTracingDataCollector><Name>c</Name><ExePath>%s</ExePath></ApiTracingDataCollector>", target);
    commit("unnamed", root, xml);
    start("unnamed");
    stop("unnamed");
    assert_true(exists(root, "api_target.etl"));
    memory_free(xml);
    memory_free(root);
}

static void full_circular_log_continues(void **state)
{
    (void)state;
    char *root = fixture_folder("ring");
    commit_api("ring", root, "<SegmentMaxSize>2</SegmentMaxSize>", "<LogCircular>-1</LogCircular>" NAMES_ONLY);
    start("ring");
    assert_runs("byname", "200000");
    stop("ring");
    char *path = path_join(root, "ring.etl");
    struct file *f;
    uint64_t size = 0;
    assert_int_equal(file_open(path, FILE_READ, &f), S_OK);
    assert_int_equal(file_size(f, &size), S_OK);
    file_close(f);
    assert_true(size <= 2u << 20);
    assert_in_range(count_in(root, "ring.etl", API_EVENT_CALL, "kernel32!MulDiv", NULL), 1, 199999);
    memory_free(path);
    memory_free(root);
}

/* An API tracing collector is complete immediately (MS-PLA 3.2.4.3). */
static void stop_on_completion_stops_immediately(void **state)
{
    (void)state;
    char *root = fixture_folder("done");
    commit_api("done", root, "<StopOnCompletion>-1</StopOnCompletion>", "");
    start("done");
    fixture_await("done", RUN_STOPPED, PATIENCE_MS);
    memory_free(root);
}

static void lists_can_be_changed_while_running(void **state)
{
    (void)state;
    char *root = fixture_folder("changed");
    commit_api("changed", root, "", "<ExcludeApis>kernel32!MulDiv</ExcludeApis>");
    start("changed");
    assert_runs("known", "1");
    commit_api("changed", root, "", "");
    assert_int_equal(run_update(SPACE, "changed"), S_OK);
    assert_runs("known", "1");
    stop("changed");
    assert_int_equal(count_in(root, "changed.etl", API_EVENT_START, NULL, NULL), 2);
    assert_int_equal(count_in(root, "changed.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 1);
    memory_free(root);
}

static void program_continues_after_its_host_is_killed(void **state)
{
    (void)state;
    char *root = fixture_folder("killed"), *file = path_join(root, "end");
    scratch_environment("API_TARGET_FILE", file);
    commit_api("killed", root, "", NAMES_ONLY);
    start("killed");
    struct process *p = target_start("until", "1");
    /* First, the program calls MulDiv a thousand times. */
    await_calls("killed", 1000);
    fixture_kill(fixture_await("killed", RUN_RUNNING, 0).process_id);
    fixture_await("killed", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(held_release(SPACE, "killed"), S_OK);
    /* When the set host process is killed, its claim to trace the program ends. */
    start("killed");
    assert_runs("known", "1");
    assert_int_equal(file_store(file, "", 0), S_OK);
    assert_int_equal(target_end(p), RIGHT);
    stop("killed");
    assert_in_range(count_in(root, "killed.etl", API_EVENT_CALL, "kernel32!MulDiv", NULL), 1, SIZE_MAX);
    memory_free(file);
    memory_free(root);
}

/* ---- rejected starts: MS-PLA 3.2.4.10 ---- */

static void assert_start(const char *name, const char *program, HRESULT expected, const char *text)
{
    char *root = fixture_folder(name);
    char *xml =
        text_format("<ApiTracingDataCollector><Name>c</Name><ExePath>%s</ExePath></ApiTracingDataCollector>", program);
    commit(name, root, xml);
    assert_int_equal(run_start(SPACE, name, true), expected);
    if (!strstr(error_text(expected), text))
        fail_msg("%s", error_text(expected));
    memory_free(xml);
    memory_free(root);
}

static void programs_that_cannot_be_traced_fail_the_start(void **state)
{
    (void)state;
    char *folder = path_folder(target), *text = path_join(folder, "api_target_text.exe");
    assert_start("none", "", PLA_E_PROPERTY_CONFLICT, "no program is set");
    assert_start("relative", "api_target.exe", PLA_E_EXE_FULL_PATH_REQUIRED, "not a full path");
    assert_start("absent", "C:\\no such\\x.exe", PLA_E_EXE_PATH_NOT_VALID, "does not exist");
    assert_start("folder", "C:\\windows", PLA_E_EXE_PATH_NOT_VALID, "is a folder");
    assert_start("remote", "\\\\host\\share\\x.exe", PLA_E_NETWORK_EXE_NOT_VALID, "on another computer");
    assert_int_equal(file_store(text, "no program", 10), S_OK);
    assert_start("text", text, HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "ExePath");
    assert_int_equal(file_delete(text), S_OK);
    memory_free(text);
    memory_free(folder);
}

/* A 32-bit program must be rejected if this Wine does not support such programs or the DLL for them is missing.
   Otherwise tests/programs_32 traces them. */
static void program_with_32_bits_is_rejected(void **state)
{
    (void)state;
    if (api_trace_supports_32("any") == S_OK)
        skip();
    char *folder = path_folder(target), *path = path_join(folder, "api_target_32.exe"), *bytes;
    size_t size;
    uint32_t headers;
    assert_int_equal(file_load(target, 64 << 20, &bytes, &size), S_OK);
    memcpy(&headers, bytes + 60, sizeof headers);
    memcpy(bytes + headers + 4, "\x4C\x01", 2);  /* IMAGE_FILE_MACHINE_I386 */
    memcpy(bytes + headers + 24, "\x0B\x01", 2); /* PE32 */
    assert_int_equal(file_store(path, bytes, size), S_OK);
    assert_start("narrow", path, HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "32-bit");
    assert_int_equal(file_delete(path), S_OK);
    memory_free(bytes);
    memory_free(path);
    memory_free(folder);
}

/* The start must be rejected until the other set stops, even though that set has another set host process. */
static void program_traced_by_another_set_is_rejected(void **state)
{
    (void)state;
    char *root = fixture_folder("first"), *other = fixture_folder("second");
    commit_api("first", root, "", "");
    commit_api("second", other, "", "");
    start("first");
    assert_int_equal(run_start(SPACE, "second", true), PLA_E_EXE_ALREADY_CONFIGURED);
    assert_non_null(strstr(error_text(PLA_E_EXE_ALREADY_CONFIGURED), "api_target.exe"));
    stop("first");
    start("second");
    assert_runs("known", "1");
    stop("second");
    assert_int_equal(count_in(other, "second.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 1);
    memory_free(other);
    memory_free(root);
}

/* The same event provider is in both programs. Each session must get only the calls of the program that its set
   traces. */
static void two_programs_have_two_logs(void **state)
{
    (void)state;
    char *root = fixture_folder("two"), *other = fixture_folder("three"), *bytes, *first = target;
    char *folder = path_folder(target), *copy = path_join(folder, "api_target_copy.exe");
    size_t size;
    assert_int_equal(file_load(target, 64 << 20, &bytes, &size), S_OK);
    assert_int_equal(file_store(copy, bytes, size), S_OK);
    memory_free(bytes);
    memory_free(folder);
    commit_api("two", root, "", NAMES_ONLY);
    target = copy;
    commit_api("three", other, "", "<ExcludeApis>kernel32!CreateFileW</ExcludeApis>");
    start("two");
    start("three");
    for (int i = 0; i < 2; i++) {
        target = i ? first : copy;
        assert_runs("byname", "100");
    }
    stop("three");
    assert_runs("known", "3");
    stop("two");
    assert_int_equal(count_in(root, "two.etl", API_EVENT_CALL, "kernel32!MulDiv", NULL), 101);
    assert_int_equal(count_in(root, "two.etl", API_EVENT_RETURN, NULL, NULL), 0);
    assert_int_equal(count_in(root, "two.etl", API_EVENT_START, NULL, NULL), 2);
    assert_int_equal(count_in(other, "three.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 100);
    assert_int_equal(count_in(other, "three.etl", API_EVENT_START, NULL, NULL), 1);
    assert_int_equal(file_delete(copy), S_OK);
    memory_free(copy);
    memory_free(other);
    memory_free(root);
}

/* ---- hostile programs ---- */

static void a_thousand_threads_are_traced(void **state)
{
    (void)state;
    char *root = fixture_folder("threads");
    commit_api("threads", root, "", "");
    start("threads");
    assert_runs("threads", "1000");
    stop("threads");
    assert_int_equal(count_in(root, "threads.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 10000);
    memory_free(root);
}

static void loaded_and_unloaded_modules_are_followed(void **state)
{
    (void)state;
    char *root = fixture_folder("unload");
    commit_api("unload", root, "", "<LogApisRecursively>-1</LogApisRecursively>" MODULE("kernel32") MODULE("cabinet"));
    start("unload");
    assert_runs("unload", "200");
    stop("unload");
    assert_int_equal(count_in(root, "unload.etl", API_EVENT_RETURN, "kernel32!FreeLibrary", NULL), 200);
    assert_int_equal(count_in(root, "unload.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 1);
    memory_free(root);
}

static void corrupt_tables_do_not_end_the_program(void **state)
{
    (void)state;
    char *root = fixture_folder("corrupt");
    commit_api("corrupt", root, "",
               "<LogApisRecursively>-1</LogApisRecursively>" MODULE("kernel32") MODULE("cabinet") MODULE("lz32"));
    start("corrupt");
    assert_runs("corrupt", "10");
    stop("corrupt");
    assert_int_equal(count_in(root, "corrupt.etl", API_EVENT_RETURN, "kernel32!MulDiv", NULL), 1);
    memory_free(root);
}

/* If a program overwrites the settings, this must not change which calls of the next program are logged. */
static void overwritten_settings_are_restored(void **state)
{
    (void)state;
    char *root = fixture_folder("scribble");
    commit_api("scribble", root, "", "");
    start("scribble");
    assert_int_equal(target_end(target_start("scribble", "1")), RIGHT + 1);
    fixture_sleep(2500);
    assert_runs("known", "1");
    stop("scribble");
    assert_int_equal(count_in(root, "scribble.etl", API_EVENT_START, NULL, NULL), 2);
    check_message("scribble", "changed the settings in shared memory");
    memory_free(root);
}

static size_t threads_of(uint32_t process)
{
    const HANDLE threads = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    THREADENTRY32 entry = {.dwSize = sizeof entry};
    size_t count = 0;
    assert_true(threads != INVALID_HANDLE_VALUE);
    for (BOOL more = Thread32First(threads, &entry); more; more = Thread32Next(threads, &entry))
        count += entry.th32OwnerProcessID == process;
    CloseHandle(threads);
    return count;
}

/* On a busy machine, the first thread of a program may still load the DLL when the watcher stops waiting for it and
   creates a second thread. The entry point must stay writable for the first thread; otherwise the program crashes. To
   delay the DLL, the test locks the directory of sessions, in which the DLL registers its event provider. */
static void a_slow_process_survives_its_watcher(void **state)
{
    (void)state;
    char *root = fixture_folder("slow");
    struct directory *d = own_directory();
    commit_api("slow", root, "", "");
    start("slow");
    assert_int_equal(directory_begin(d), S_OK);
    struct process *p = target_start("known", "1");
    for (int i = 0; i < PATIENCE_MS / 20 && threads_of(process_id(p)) < 2; i++)
        fixture_sleep(20);
    const size_t threads = threads_of(process_id(p));
    directory_cancel(d);
    assert_true(threads >= 2);
    assert_int_equal(target_end(p), RIGHT);
    stop("slow");
    memory_free(root);
}

static int setup_all(void **state)
{
    char *folder = os_module_folder();
    target = path_join(folder, "api_target.exe");
    memory_free(folder);
    scratch_environment("API_TARGET_AWAITS", "1");
    return target ? setup(state) : -1;
}

static int teardown_all(void **state)
{
    memory_free(target);
    return teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_arguments_and_results),
        cmocka_unit_test(names_alone_are_logged_before_the_call),
        cmocka_unit_test(lists_select_functions),
        cmocka_unit_test(functions_without_a_prototype_work),
        cmocka_unit_test(values_of_all_kinds_are_kept),
        cmocka_unit_test(recursive_traces_have_calls_between_modules),
        cmocka_unit_test(each_process_is_traced),
        cmocka_unit_test(running_process_is_not_traced),
        cmocka_unit_test(running_process_is_attached_on_request),
        cmocka_unit_test(a_silent_process_delays_nothing),
        cmocka_unit_test(a_silent_new_process_continues),
        cmocka_unit_test(segments_lose_no_call),
        cmocka_unit_test(log_is_named_by_its_path_only),
        cmocka_unit_test(logs_of_a_deleted_set_are_kept),
        cmocka_unit_test(log_without_a_path_has_the_program_name),
        cmocka_unit_test(full_circular_log_continues),
        cmocka_unit_test(stop_on_completion_stops_immediately),
        cmocka_unit_test(lists_can_be_changed_while_running),
        cmocka_unit_test(program_continues_after_its_host_is_killed),
        cmocka_unit_test(programs_that_cannot_be_traced_fail_the_start),
        cmocka_unit_test(program_with_32_bits_is_rejected),
        cmocka_unit_test(program_traced_by_another_set_is_rejected),
        cmocka_unit_test(two_programs_have_two_logs),
        cmocka_unit_test(a_thousand_threads_are_traced),
        cmocka_unit_test(loaded_and_unloaded_modules_are_followed),
        cmocka_unit_test(corrupt_tables_do_not_end_the_program),
        cmocka_unit_test(overwritten_settings_are_restored),
        cmocka_unit_test(a_slow_process_survives_its_watcher),
    };
    return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
