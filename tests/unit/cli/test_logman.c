/* SPDX-License-Identifier: MIT */
/* Messages of openpla logman for mistakes and unusual requests. Without them a user would not know what to do. */
#include "tests/unit/cli/logman_fixture.h"

/* Checks the exit code of the command line, and that its output contains `says`. */
static void expect(const char *text, uint32_t code, const char *says)
{
    struct texts words = {0};
    int result;
    split(text, &words);
    char *written = run(&verb_logman, &words, &result);
    if ((uint32_t)result != code || !strstr(written, says))
        fail_msg("%s: 0x%08X, not 0x%08X with \"%s\": %s", text, (unsigned)result, (unsigned)code, says, written);
    memory_free(written);
    texts_free(&words);
}

/* Checks that the output consists of exactly this warning and the success message. */
static void expect_only_warning(const char *text, const char *warning)
{
    struct texts words = {0};
    int result;
    split(text, &words);
    char *written = run(&verb_logman, &words, &result), *wanted = text_format("%s\n" DONE "\n", warning);
    assert_non_null(wanted);
    if (result != 0 || strcmp(written, wanted) != 0)
        fail_msg("%s: 0x%08X: %s", text, (unsigned)result, written);
    memory_free(wanted);
    memory_free(written);
    texts_free(&words);
}

static void go_to(const char *name)
{
    char *folder = fixture_folder(name);
    assert_int_equal(chdir(folder), 0);
    memory_free(folder);
}

static void errors_are_named_once(void **state)
{
    (void)state;
    go_to("wrong");
    expect("logman create counter wrong -c \\System\\Threads -si x", 0x80070057, "\n-si: invalid time 'x'");
    expect("logman -config none.txt", 0x80070002, "\nError:\nThe system cannot find the file specified.\n");
    expect("logman query providers -s elsewhere", 0x80070035, "elsewhere");
    expect("logman query providers -s localhost", 0, DONE);
    expect("logman query -config", 0x80070057, "\n-config: missing value");
    expect("logman create counter wrong -c \\System\\Threads -e 12/31/2299 00:00:00", 0x80070057, "\n-e: ");
}

/* update accepts "Set\Collector" for a collector; delete must reject it and not delete the whole set. */
static void collector_is_not_a_set(void **state)
{
    (void)state;
    go_to("collector");
    expect("logman create counter whole -c \\System\\Threads", 0, DONE);
    expect("logman delete whole\\whole", 0x80004002, "unknown namespace 'whole'");
    expect("logman update whole\\whole -si 5", 0, DONE);
    expect("logman query whole", 0, "Sample Interval:      5 second(s)");
    expect("logman delete whole", 0, DONE);
}

static void daily_set_can_begin_earlier_in_the_day(void **state)
{
    (void)state;
    go_to("daily");
    expect("logman create counter daily -c \\System\\Threads -b 1/1/2024 23:59:59 -r", 0, DONE);
    expect("logman update daily -b 00:00:00", 0, DONE);
    expect("logman update daily --r -b 1/1/2024 00:00:00", 0x80070057, "the start time is in the past");
    expect("logman query daily", 0, "Start Time:           12:00:00 AM\n");
    expect("logman delete daily", 0, DONE);
}

/* If the definition path is a folder, a message about administrator rights would be misleading. */
static void folder_is_not_a_definition(void **state)
{
    struct texts words = {0};
    int result;
    (void)state;
    go_to("folder");
    split("logman import folder -xml .", &words);
    char *written = run(&verb_logman, &words, &result);
    assert_int_equal(result, E_ACCESSDENIED);
    assert_non_null(strstr(written, "'.' is a folder\n"));
    assert_null(strstr(written, "administrators"));
    memory_free(written);
    texts_free(&words);
}

static void corrected_input_is_reported(void **state)
{
    (void)state;
    go_to("corrected");
    expect("logman create counter –n “two words” -c \\Network Interface(*)\\*", 0,
           "Warning: -c: '\\Network Interface(*)\\*' is treated as one item, because its words are not in quotes\n");
    expect_only_warning(
        "logman create counter thrice -c \\Processor(_Total)\\% Processor Time",
        "Warning: -c: '\\Processor(_Total)\\% Processor Time' is treated as one item, because its words are "
        "not in quotes\n");
    expect("logman delete thrice", 0, DONE);
    expect("logman create counter Größe -c \\System\\Threads", 0, DONE);
    expect("logman", 0, "\nGröße                                   Counter ");
    expect("logman delete Größe", 0, DONE);
    expect("logman query two” words", 0x80070057, "unexpected argument");
    expect("logman strat thrice", 0x80070057, "unknown verb 'strat' (did you mean 'start'?)\n");
    expect("logman thrice sotp", 0x80070057, "unknown verb 'sotp' (did you mean 'stop'?)\n");
    expect("logman delete “two words”", 0, "Warning: curly quotes around 'two words' are treated as quotes\n");
}

/* Flags that are given by name enable the same keywords as their number. Short and long names work. */
static void kernel_flags_are_as_requested(void **state)
{
    static const char flags[] =
        "KeywordsAny:          0x10003 (Process Events, Thread Events, TCP/IP Network Events)\n";
    (void)state;
    go_to("kernel");
    expect("logman create trace kernel -p \"Windows Kernel Trace\" (process,thread,net)", 0, DONE);
    expect("logman query kernel", 0, flags);
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x110", 0, DONE);
    expect("logman query kernel", 0, "KeywordsAny:          0x110 (Disk I/O Events)\n");
    expect("logman update kernel -p \"Windows Kernel Trace\" \"(Thread Context Switch Events,disk)\"", 0, DONE);
    expect("logman query kernel", 0,
           "KeywordsAny:          0x100 | 0x20000004 (Disk I/O Events, Thread Context Switch Events)\n");
    expect("logman update kernel -p \"Windows Kernel Trace\" \"( process , thread,\tnet )\"", 0, DONE);
    expect("logman query kernel", 0, flags);
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x10003", 0, DONE);
    expect("logman export kernel -y -xml kernel.xml", 0, DONE);
    expect("logman delete kernel", 0, DONE);
    expect("logman import kernel -xml kernel.xml", 0, DONE);
    expect("logman query kernel", 0, flags);
    expect("logman update kernel -p \"Windows Kernel Trace\" (process,nothing)", 0x80070057,
           "\n-p: unknown keyword 'nothing'");
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x100000000", 0x80070057,
           "the kernel's flags have 32 bits");
    expect("logman query kernel", 0, flags);
    expect("logman delete kernel", 0, DONE);
}

/* A user who searches for a running set's data must find the current file, not the path of the next run. */
static void current_output_file_is_shown(void **state)
{
    (void)state;
    go_to("writing");
    expect("logman create counter writing -c \"\\Memory\\Commit Limit\" -f csv -si 1 -o here", 0, DONE);
    expect("logman query writing", 0, "here_000001.csv\n");
    expect("logman start writing", 0, DONE);
    expect("logman query writing", 0, "here_000001.csv\n");
    expect("logman query writing", 0, "Status:               Running\n");
    expect("logman stop writing", 0, DONE);
    expect("logman query writing", 0, "here_000002.csv\n");
    expect("logman delete writing", 0, DONE);
}

/* The messages for frequent mistakes contain advice. */
static void frequent_mistakes_get_advice(void **state)
{
    (void)state;
    go_to("mistakes");
    expect("logman create counter twice -c \\System\\Threads", 0, DONE);
    expect("logman create counter twice -c \\System\\Threads", 0x80300109, "\nchange it with update");
    expect("logman import twice -xml x.xml", 0x803000B7, "\ndelete it first");
    expect("logman update twice -cnf", 0, "Warning: -cnf: without a time and without -max");
    expect("logman update twice -cnf 1:00:00 -max 5 -f bincirc", 0, "Warning: -cnf: a circular log");
    expect("logman update twice --cnf --max", 0, "Warning: -f bincirc: without -max");
    expect("logman update twice -f bin -max 5", 0,
           "Warning: -max: the set stops when its log reaches this size; with -cnf");
    expect_only_warning("logman update twice -f bincirc -max 5", "");
    expect("logman update twice --max -f csv -si 00:05", 0,
           "-si: '00:05' means minutes and seconds (5 s); for hours and minutes use '00:05:00'");
    expect("logman update twice -rf 3", 0, "Warning: -rf: the set stops before it takes its second sample");
    expect_only_warning("logman update twice -rf 01:00", "");
    expect("logman create counter named -c \\System\\Threads -o x.csv -f csv", 0,
           "Warning: -o: the run number is appended to the file name (_000001); use --v");
    expect("logman delete named", 0, DONE);
    expect_only_warning("logman create counter named -c \\System\\Threads -o x.csv -f csv --v", "");
    expect("logman update named -b 13/01/2299 08:00:00", 0, "'13/01/2299' is treated as day/month/year");
    expect_only_warning("logman update named -b 01/13/2299 08:00:00", "");
    expect("logman delete named", 0, DONE);
    expect("logman update twice -f bin -rc C:\\scripts\\closed.cmd", 0,
           "Warning: -rc: 'C:\\scripts\\closed.cmd' is treated as the name of a task");
    expect("logman update twice -rf 5 --rc --max 100 --v nnnnnn --cnf 1:00:00", 0, DONE);
    assert_int_equal(folder_create("there"), S_OK);
    expect("logman update twice -o there", 0, "Warning: -o: 'there' is an existing folder");
    expect("logman update twice -o there/", 0, "\nThe command completed");
    expect("logman update twice -u user secret", 0, "Warning: -u: other users of this computer can read a password");
    expect("logman delete twice", 0, DONE);
    expect("logman create alert never -th \\System\\Threads", 0x80070057, "put the whole threshold in quotes");
    expect("logman export log.blg -xml x.xml", 0x80300002, "use openpla relog to convert a log");
    expect("logman export twice -csv", 0x80070057, "openpla relog");
    expect("logman create session -ets -p {C0000000-0000-4000-8000-000000000001} -o session.etl", 0, DONE);
    expect("logman stop session", 0x80300002, "use -ets for sessions");
    expect("logman create session -ets -p {C0000000-0000-4000-8000-000000000001} -o x.etl", 0x803000B7,
           "\nstop it with stop -ets");
    expect("logman stop session -ets", 0, DONE);
}

/* -config can be at any position. The settings file can end with an option that takes a list. */
static void command_line_overrides_settings_file(void **state)
{
    static const char file[] = "[si]\n7\n[f]\ncsv\n[max]\n9\n[c]\n\\System\\Threads\n\\Memory\\Available Bytes\n";
    (void)state;
    go_to("settings");
    assert_int_equal(file_store("settings.txt", file, sizeof file - 1), S_OK);
    expect("logman create counter -si 5 --max -config settings.txt settled", 0, DONE);
    expect("logman query settled", 0,
           "Sample Interval:      5 second(s)\n\nCounters:\n              \\System\\Threads\n");
    expect("logman query settled", 0, "\\Memory\\Available Bytes\n\nThe");
    expect("logman query settled", 0, "_000001.csv\n");
    expect("logman query settled", 0, "Schedules:            On\nRun as:");
    expect("logman delete settled", 0, DONE);
}

/* An unreadable definition must block neither other sets nor the creation of a set with its name. */
static void corrupt_set_can_be_deleted(void **state)
{
    char *path;
    (void)state;
    go_to("damaged");
    expect("logman create counter sound -c \\System\\Threads", 0, DONE);
    expect("logman create counter damaged -c \\System\\Threads", 0, DONE);
    path = store_definition_path("Service", "damaged");
    assert_non_null(path);
    assert_int_equal(file_store(path, "<broken", 7), S_OK);
    memory_free(path);
    expect("logman query", 0, "sound");
    expect("logman start damaged", (uint32_t)OPENPLA_E_MALFORMED_XML, "openpla store check");
    expect("logman delete damaged", 0, DONE);
    expect("logman query damaged", 0x80300002, "damaged");
    expect("logman create counter damaged -c \\System\\Threads", 0, DONE);
    expect("logman delete damaged", 0, DONE);
    expect("logman delete sound", 0, DONE);
}

/* Fails immediately: without a console, no password prompt appears. */
static void unreachable_computer_is_reported(void **state)
{
    static const char *const lines[] = {"query",
                                        "query other",
                                        "create counter other -c \\System\\Threads",
                                        "start other",
                                        "stop other",
                                        "delete other",
                                        "update other -si 5",
                                        "import other -xml other.xml",
                                        "export other -xml other.xml",
                                        "query -ets",
                                        "stop other -ets",
                                        "query providers"};
    (void)state;
    go_to("other");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *line = text_format("logman -s unreachable %s", lines[i]);
        expect(line, 0x80070035, "\nError:\nThe network path was not found.\n");
        expect(line, 0x80070035, "unreachable");
        memory_free(line);
    }
}

/* Checks only that the text is complete, whatever the result of the command line; cli.logman_json parses the JSON. */
static void assert_json_complete(const char *line, const char *text)
{
    const size_t length = strlen(text);
    if (strncmp(text, "{\n", 2) != 0 || length < 4 || strcmp(text + length - 3, "\n}\n") != 0 ||
        !strstr(text, "\n  \"result\": \"0x"))
        fail_msg("%s: %s", line, text);
}

static void json_is_complete_when_out_of_memory(void **state)
{
    static const char *const lines[] = {"logman query oom -json", "logman stop oom -json"};
    (void)state;
    go_to("oom");
    expect("logman create trace oom -p {C0000000-0000-4000-8000-000000000001} 3 4 -b 1/1/2290 10:00:00", 0, DONE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct texts words = {0};
        split(lines[i], &words);
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            int code;
            char *text = run_failing(&verb_logman, &words, &code, n, &failed);
            assert_true(failed || code == 0 || code == (int)0x80300104);
            assert_json_complete(lines[i], text);
            memory_free(text);
        }
        texts_free(&words);
    }
    expect("logman delete oom", 0, DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_named_once),
        cmocka_unit_test(collector_is_not_a_set),
        cmocka_unit_test(daily_set_can_begin_earlier_in_the_day),
        cmocka_unit_test(folder_is_not_a_definition),
        cmocka_unit_test(corrected_input_is_reported),
        cmocka_unit_test(kernel_flags_are_as_requested),
        cmocka_unit_test(current_output_file_is_shown),
        cmocka_unit_test(frequent_mistakes_get_advice),
        cmocka_unit_test(corrupt_set_can_be_deleted),
        cmocka_unit_test(command_line_overrides_settings_file),
        cmocka_unit_test(unreachable_computer_is_reported),
        cmocka_unit_test(json_is_complete_when_out_of_memory),
    };
    logman_own_sessions();
    return cmocka_run_group_tests_name("test_logman", tests, with_traces, fixture_teardown);
}
