/* SPDX-License-Identifier: MIT */
/* Runs of committed sets in set host processes: start, stop, status and names, and what may prevent a run, such as
   existing files. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "run_fixture.h"
#include "tests/unit/scratch_link.h"

#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

/* The basic function: a user starts a set, sees its state, and stops it. */
static void set_starts_runs_and_stops(void **state)
{
    (void)state;
    struct run_state s;
    char *root = fixture_folder("plain");
    fixture_commit("plain", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "plain", true), S_OK);
    assert_int_equal(run_query(SPACE, "plain", &s), S_OK);
    assert_int_equal(s.status, RUN_RUNNING);
    assert_int_equal(s.serial_number, 1);
    assert_true(s.samples >= 1);
    assert_true(s.process_id && s.started_utc);
    assert_non_null(strstr(s.location, "plain"));
    assert_int_equal(run_start(SPACE, "PLAIN", true), PLA_E_DCS_IN_USE);
    assert_int_equal(run_start(SPACE, "plain", false), PLA_E_DCS_IN_USE);
    fixture_progress("plain", 1, 2);
    s = fixture_await("plain", RUN_RUNNING, 100);
    uint32_t host = s.process_id;
    uint64_t host_start = process_start_time(host);
    assert_int_equal(run_stop(SPACE, "plain", true), S_OK);
    assert_int_equal(run_query(SPACE, "plain", &s), S_OK);
    assert_int_equal(s.status, RUN_STOPPED);
    assert_false(process_alive(host, host_start));
    assert_true(fixture_lines(root, "c.csv") >= 3);
    assert_int_equal(run_stop(SPACE, "plain", true), PLA_E_DCS_NOT_RUNNING);
    struct run_record record = fixture_record("plain");
    assert_int_equal(record.serial_number, 2);
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    assert_int_equal(record.latest_files.count, 1);
    assert_string_equal(path_name(record.latest_files.items[0]), "c.csv");
    run_record_free(&record);
    memory_free(root);
}

/* If a script starts and stops a set without waiting, it must not hang, and it must always get the right state. */
static void asynchronous_start_and_stop(void **state)
{
    (void)state;
    char *root = fixture_folder("async");
    fixture_commit("async", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "async", false), S_OK);
    fixture_await("async", RUN_RUNNING, PATIENCE_MS);
    assert_int_equal(run_stop(SPACE, "async", false), S_OK);
    fixture_await("async", RUN_STOPPED, PATIENCE_MS);
    assert_true(fixture_lines(root, "c.csv") >= 2);
    assert_int_equal(run_start(SPACE, "no such set", false), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(run_start(SPACE, "no such set", true), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(run_stop(SPACE, "no such set", true), PLA_E_DCS_NOT_RUNNING);
    memory_free(root);
}

/* A run must not overwrite the log of the previous run, and must not fail because of it. */
static void serial_numbers_increase(void **state)
{
    (void)state;
    char *root = fixture_folder("serial");
    fixture_commit(
        "serial", root,
        "<SerialNumber>7</SerialNumber><Subdirectory>s</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat>"
        "<SubdirectoryFormatPattern>\\-N</SubdirectoryFormatPattern>",
        CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    for (unsigned n = 7; n < 10; n++) {
        assert_int_equal(run_start(SPACE, "serial", true), S_OK);
        assert_int_equal(run_stop(SPACE, "serial", true), S_OK);

        char *folder = text_format("s-%u", n), *name = text_format("c_%06u.csv", n);
        char *path = path_join(root, folder);
        assert_true(fixture_lines(path, name) >= 2);
        struct run_record record = fixture_record("serial");
        assert_int_equal(record.serial_number, n + 1);
        assert_string_equal(record.latest_location, path);
        run_record_free(&record);
        memory_free(path);
        memory_free(folder);
        memory_free(name);
    }
    memory_free(root);
}

/* An existing log must not be overwritten unless the set requests it. The error must name the file. */
static void existing_file_is_kept(void **state)
{
    (void)state;
    const HRESULT exists = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    char *root = fixture_folder("in the way");
    fixture_commit("in the way", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "in the way", true), S_OK);
    assert_int_equal(run_stop(SPACE, "in the way", true), S_OK);
    char *before = fixture_read(root, "c.csv");
    assert_int_equal(run_start(SPACE, "in the way", true), exists);
    assert_non_null(strstr(error_text(exists), "c.csv"));
    assert_non_null(strstr(error_text(exists), "in the way"));
    char *after = fixture_read(root, "c.csv");
    assert_string_equal(before, after);
    struct run_record record = fixture_record("in the way");
    assert_int_equal(record.serial_number, 2); /* a start that failed must not use a serial number */
    assert_int_equal(record.last_result, exists);
    assert_non_null(strstr(record.last_message, "c.csv"));
    run_record_free(&record);
    memory_free(after);

    fixture_commit("in the way", root, "",
                   CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite><Counter>\\Memory\\Available Bytes</Counter>");
    assert_int_equal(run_start(SPACE, "in the way", true), S_OK);
    assert_int_equal(run_stop(SPACE, "in the way", true), S_OK);
    after = fixture_read(root, "c.csv");
    assert_non_null(strstr(after, "\\Memory\\Available Bytes\""));
    assert_null(strstr(after, "\\System\\Processes\""));
    memory_free(before);
    memory_free(after);
    memory_free(root);
}

/* Asserts that Start fails for a set and a collector with these elements, and that the error message contains
   `word`. */
static void expect_start_fails(const char *root, const char *set, const char *collector, HRESULT expected,
                               const char *word)
{
    fixture_commit("outside", root, set, collector);
    HRESULT hr = run_start(SPACE, "outside", true);
    if (SUCCEEDED(hr))
        run_stop(SPACE, "outside", true);
    if (hr != expected || !strstr(error_text(hr), word))
        fail_msg("%s %s: 0x%08X \"%s\"", set, collector, (unsigned)hr, error_text(hr));
}

/* A user may be able to change a definition or a run's folder. The run must not overwrite other files to which only the
   run's account has access. */
static void run_writes_only_below_its_root(void **state)
{
    (void)state;
    const HRESULT leads_out = HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);
    char *top = fixture_folder("walls"), *root = fixture_folder("walls/root"),
         *outside = fixture_folder("walls/outside");
    char *victim = path_join(outside, "victim.csv"), *inside = fixture_folder("walls/root/in");
    const char *log = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\m\\System\\Processes\"\r\n";
    static const char *const links[] = {"away", "here", "c.csv", "n.csv", "h.csv"};
    struct texts names = {0};
    assert_int_equal(file_store(victim, log, strlen(log)), S_OK);
    scratch_link(root, "away", "../outside", false);
    scratch_link(root, "here", "in", false);
    scratch_link(root, "c.csv", "../outside/victim.csv", false);
    scratch_link(root, "n.csv", "../outside/new.csv", false);
    scratch_link(root, "h.csv", "../outside/victim.csv", true);
    expect_start_fails(root, "<Subdirectory>..\\outside</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER, E_INVALIDARG,
                       "Subdirectory: '..\\outside'");
    expect_start_fails(root, "<Subdirectory>../outside</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER, E_INVALIDARG,
                       "Subdirectory: '../outside'");
    expect_start_fails(root, "<Subdirectory>in/</Subdirectory>",
                       CSV_EACH_SECOND "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>/../../\\x"
                                       "</FileNameFormatPattern>" ONE_COUNTER,
                       E_INVALIDARG, "FileNameFormatPattern: ");
    expect_start_fails(root, "",
                       CSV_EACH_SECOND "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>:\\s"
                                       "</FileNameFormatPattern>" ONE_COUNTER,
                       E_INVALIDARG, "FileNameFormatPattern: ':\\s' expands to 'c:s.csv'");
    expect_start_fails(root, "<Subdirectory>away</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER, leads_out, "away");
    expect_start_fails(root, "<Subdirectory>away/more</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER, leads_out, "away");
    expect_start_fails(root, "", CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER, leads_out, "c.csv");
    expect_start_fails(root, "", CSV_EACH_SECOND "<FileName>n</FileName><LogOverwrite>-1</LogOverwrite>" ONE_COUNTER,
                       leads_out, "n.csv");
    expect_start_fails(root, "", CSV_EACH_SECOND "<FileName>h</FileName><LogOverwrite>-1</LogOverwrite>" ONE_COUNTER,
                       leads_out, "h.csv");
    char *after = fixture_read(outside, "victim.csv");
    assert_string_equal(after, log);
    memory_free(after);
    for (int folders = 0; folders < 2; folders++) {
        assert_int_equal(folder_list(outside, folders, &names), S_OK);
        assert_int_equal(names.count, !folders);
    }
    texts_free(&names);
    /* A link to a folder below the root is allowed. */
    fixture_commit("outside", root, "<Subdirectory>here</Subdirectory>", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "outside", true), S_OK);
    assert_int_equal(run_stop(SPACE, "outside", true), S_OK);
    assert_true(fixture_lines(inside, "c.csv") >= 2);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        scratch_unlink(root, links[i]);
    memory_free(inside);
    memory_free(victim);
    memory_free(outside);
    memory_free(root);
    memory_free(top);
}

/* If a user's file happens to have the name of a log, it must not be overwritten. */
static void only_logs_are_overwritten(void **state)
{
    (void)state;
    static const struct {
        const char *format, *file, *how;
    } sets[] = {
        {"0", "c.csv", "<LogOverwrite>-1</LogOverwrite>"}, {"1", "c.tsv", "<LogOverwrite>-1</LogOverwrite>"},
        {"3", "c.blg", "<LogOverwrite>-1</LogOverwrite>"}, {"3", "c.blg", "<LogAppend>-1</LogAppend>"},
        {"0", "c.csv", "<LogCircular>-1</LogCircular>"},   {"3", "c.blg", "<LogCircular>-1</LogCircular>"},
    };
    const char *work = "name,value\r\nmy,work\r\n";
    char *root = fixture_folder("only logs");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char *collector =
            text_format("<SampleInterval>1</SampleInterval><LogFileFormat>%s</LogFileFormat>%s" ONE_COUNTER,
                        sets[i].format, sets[i].how);
        char *path = path_join(root, sets[i].file);
        assert_int_equal(file_store(path, work, strlen(work)), S_OK);
        expect_start_fails(root, "<SegmentMaxSize>1</SegmentMaxSize>", collector,
                           HRESULT_FROM_WIN32(ERROR_INVALID_DATA), sets[i].file);
        char *after = fixture_read(root, sets[i].file);
        assert_string_equal(after, work);
        memory_free(after);
        assert_int_equal(file_store(path, "", 0), S_OK); /* an empty file may be overwritten */
        for (int again = 0; again < 2; again++) {
            assert_int_equal(run_start(SPACE, "outside", true), S_OK);
            assert_int_equal(run_stop(SPACE, "outside", true), S_OK);
        }
        assert_int_equal(file_delete(path), S_OK);
        memory_free(path);
        memory_free(collector);
    }
    memory_free(root);
}

/* If a start wrote its record twice, sets that start in the same second would wait for the disk twice before their
   first sample. After a failed start, LatestOutputLocation would name a folder that was never created. */
static void start_writes_its_record_once(void **state)
{
    (void)state;
    struct store_mark mark = {0};
    struct texts changed = {0};
    char *root = fixture_folder("once"), *first = path_join(root, "s-1"), *second = path_join(root, "s-2");
    char *file = path_join(first, "c.csv"), *in_the_way = path_join(second, "c.csv");
    fixture_commit("once", root,
                   "<Subdirectory>s</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat>"
                   "<SubdirectoryFormatPattern>\\-N</SubdirectoryFormatPattern>",
                   CSV_EACH_SECOND ONE_COUNTER);
    store_changes(SPACE, &mark, &changed);
    assert_int_equal(run_start(SPACE, "once", true), S_OK);
    assert_int_equal(store_changes(SPACE, &mark, &changed), S_OK);
    assert_int_equal(changed.count, 1);
    struct run_record record = fixture_record("once");
    assert_true(record.running);
    assert_int_equal(record.serial_number, 2);
    assert_string_equal(record.latest_location, first);
    assert_int_equal(record.latest_files.count, 1);
    assert_string_equal(record.latest_files.items[0], file);
    assert_true(file_exists(file));
    run_record_free(&record);
    assert_int_equal(run_stop(SPACE, "once", true), S_OK);
    assert_int_equal(folder_create(second), S_OK);
    assert_int_equal(file_store(in_the_way, "x", 1), S_OK);
    assert_int_equal(run_start(SPACE, "once", true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    record = fixture_record("once");
    assert_false(record.running);
    assert_int_equal(record.serial_number, 2);
    assert_string_equal(record.latest_location, first);
    assert_string_equal(record.latest_files.items[0], file);
    run_record_free(&record);
    texts_free(&changed);
    memory_free(in_the_way);
    memory_free(file);
    memory_free(second);
    memory_free(first);
    memory_free(root);
}

/* If the file of the second collector exists, the start fails. The file of the first collector must then be deleted, or
   it would prevent the next start. */
static void failed_start_leaves_nothing(void **state)
{
    (void)state;
    char *root = fixture_folder("leaves nothing");
    char *sub = path_join(root, "run"), *second = path_join(root, "d.csv"), *first = path_join(root, "c.csv");
    assert_int_equal(file_store(second, "x", 1), S_OK);
    fixture_commit("leaves nothing", root, "",
                   CSV_EACH_SECOND ONE_COUNTER
                   "</PerformanceCounterDataCollector><PerformanceCounterDataCollector><Name>d</Name>" CSV_EACH_SECOND
                       ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "leaves nothing", true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_false(file_exists(first));
    assert_int_equal(file_delete(second), S_OK);
    assert_int_equal(run_start(SPACE, "leaves nothing", true), S_OK);
    assert_int_equal(run_stop(SPACE, "leaves nothing", true), S_OK);
    assert_true(fixture_lines(root, "c.csv") >= 2);
    assert_true(fixture_lines(root, "d.csv") >= 2);
    /* The folder of the run must be deleted, too. */
    fixture_commit("leaves nothing", root, "<Subdirectory>run</Subdirectory>",
                   "<LogFileFormat>2</LogFileFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "leaves nothing", true), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "SQL"));
    assert_false(folder_exists(sub));
    memory_free(first);
    memory_free(second);
    memory_free(sub);
    memory_free(root);
}

/* Counts the headers of sample records in a binary log: 'B','L', kind 3. */
static size_t binary_samples(const char *path)
{
    size_t size, samples = 0;
    char *data;
    assert_int_equal(file_load(path, 1 << 24, &data, &size), S_OK);
    for (size_t i = 0; i + 4 <= size; i++)
        samples += memcmp(data + i, "BL\3", 4) == 0;
    memory_free(data);
    return samples;
}

/* If a binary log is continued, its first part must be kept. */
static void binary_log_is_continued(void **state)
{
    (void)state;
    char *root = fixture_folder("append"), *path = path_join(root, "c.blg");
    fixture_commit("append", root, "",
                   "<SampleInterval>1</SampleInterval><LogAppend>-1</LogAppend><Counter>\\System\\Processes</Counter>"
                   "<Counter>\\Processor(*)\\% Processor Time</Counter>");
    size_t samples[2];
    uint64_t taken[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_start(SPACE, "append", true), S_OK);
        /* more samples may arrive between this check and the stop */
        taken[i] = fixture_progress("append", 1, 2).samples;
        assert_int_equal(run_stop(SPACE, "append", true), S_OK);
        samples[i] = binary_samples(path);
    }
    assert_true(samples[0] >= taken[0]);
    assert_true(samples[1] >= samples[0] + taken[1]);
    memory_free(path);
    memory_free(root);
}

/* With a mistyped RootPath, no folder may be created elsewhere, and the error must name the path. */
static void missing_root_is_named(void **state)
{
    (void)state;
    const HRESULT missing = HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    char *root = fixture_folder("root"), *absent = path_join(root, "absent");
    scratch_environment("TEST_ROOT", root);
    fixture_commit("root", "%TEST_ROOT%/absent", "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "root", true), missing);
    assert_non_null(strstr(error_text(missing), "RootPath"));
    assert_non_null(strstr(error_text(missing), root)); /* variables are expanded */
    assert_false(folder_exists(absent));
    fixture_commit("root", "%TEST_ROOT%/absent too", "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "root", false), S_OK); /* an asynchronous start does not wait for the
                                                                result, so it succeeds */
    struct run_record record = fixture_record("root");
    for (int i = 0; i < PATIENCE_MS / 20 && !strstr(record.last_message, "absent too"); i++) {
        run_record_free(&record);
        fixture_sleep(20);
        record = fixture_record("root");
    }
    assert_int_equal(record.last_result, missing);
    assert_non_null(strstr(record.last_message, root));
    run_record_free(&record);
    memory_free(absent);
    memory_free(root);
}

static HRESULT started_in(const char *name, const char *root)
{
    fixture_commit(name, root, "", CSV_EACH_SECOND ONE_COUNTER);
    HRESULT hr = run_start(SPACE, name, true);
    if (SUCCEEDED(hr))
        assert_int_equal(run_stop(SPACE, name, true), S_OK);
    return hr;
}

/* Published templates have RootPaths below PerfLogs that do not exist yet. If a template has no RootPath, the default
   is used, not the current folder of the service. */
static void folders_below_perflogs_are_created(void **state)
{
    static const struct {
        const char *root; /* no other test uses %TEST_LOGS% */
        bool made;
    } cases[] = {
        {"%systemdrive%\\PerfLogs\\%TEST_LOGS%\\deep", true},
        {"%systemdrive%\\perflogs\\%TEST_LOGS%", true},
        {"", true},
        {"%systemdrive%\\PerfLogs\\..\\%TEST_LOGS%", false},
        {"%systemdrive%\\PerfLogs2\\%TEST_LOGS%", false},
        {"%systemdrive%\\%TEST_LOGS%", false},
    };
    (void)state;
    char *drive = fixture_folder("drive"), *name = text_format("openpla-test-%u", (unsigned)process_own_id());
    scratch_environment("TEST_LOGS", name);
#ifndef _WIN32 /* on Windows, the system defines the variable for each process */
    scratch_environment("systemdrive", drive);
#endif
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HRESULT hr = started_in("below", cases[i].root);
        if (hr != (cases[i].made ? S_OK : HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND)))
            fail_msg("%s: 0x%08X, %s", cases[i].root, (unsigned)hr, error_text(hr));
        char *folder = os_expand_environment(*cases[i].root ? cases[i].root : "%systemdrive%\\PerfLogs\\Admin");
        char *log = path_join(folder, "c.csv");
        if (file_exists(log) != cases[i].made)
            fail_msg("\"%s\" exists: %d", log, !cases[i].made);
        if (cases[i].made)
            assert_int_equal(file_delete(log), S_OK);
        if (*cases[i].root && cases[i].made)
            scratch_remove(folder);
        memory_free(log);
        memory_free(folder);
    }
#ifndef _WIN32
    scratch_environment("systemdrive", "");
#endif
    memory_free(name);
    memory_free(drive);
}

#ifndef _WIN32
/* The error must name the folder in which the run cannot write. The test runs as a user without rights. */
static void unwritable_folder_is_named(void **state)
{
    (void)state;
    /* This user may have no access to the programs' folder, for example below /root. */
    char *host = text_format("/tmp/openpla-run-test-host-%u", (unsigned)process_own_id());
    char *folder = os_module_folder(), *program = path_join(folder, "run_test_host"), *bytes;
    size_t size;
    assert_int_equal(file_load(program, SIZE_MAX, &bytes, &size), S_OK);
    assert_int_equal(file_store(host, bytes, size), S_OK);
    assert_int_equal(chmod(host, 0755), 0);
    memory_free(folder);
    memory_free(program);
    memory_free(bytes);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(10);
        /* The user needs a separate data folder. The run cannot write in /usr, which belongs to root. */
        if (fixture_setup(NULL))
            _exit(11);
        scratch_environment("OPENPLA_HOST", host);
        static const char xml[] =
            "<DataCollectorSet><RootPath>/usr</RootPath><Subdirectory>s</Subdirectory></DataCollectorSet>";
        if (FAILED(store_save(&caller_self, SPACE, "x", STORE_CREATE, xml, strlen(xml), NULL, NULL)))
            _exit(12);
        HRESULT hr = run_start(SPACE, "x", true);
        bool named = strstr(error_text(hr), "/usr/s") != NULL;
        fixture_teardown(NULL);
        _exit(hr != E_ACCESSDENIED ? 13 : named ? 0 : 14);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    file_delete(host);
    memory_free(host);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

/* A set with a duration must stop after that time. */
static void duration_ends_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("duration");
    fixture_commit("duration", root, "<Duration>2</Duration>", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "duration", true), S_OK);
    fixture_await("duration", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "c.csv") - 1 + fixture_late("duration"), 2);
    memory_free(root);
}

/* If one counter is mistyped, all others must be collected, and a message must name the mistyped one. */
static void missing_counter_is_reported_and_others_are_collected(void **state)
{
    (void)state;
    char *root = fixture_folder("dropped");
    fixture_commit("dropped", root, "",
                   CSV_EACH_SECOND "<Counter>\\No Such Object\\No Such Counter</Counter>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "dropped", true), S_OK);
    struct run_record record = fixture_record("dropped");
    assert_non_null(strstr(record.last_message, "\\No Such Object\\No Such Counter"));
    assert_non_null(strstr(record.last_message, "0xC0000BB8"));
    run_record_free(&record);
    assert_int_equal(run_stop(SPACE, "dropped", true), S_OK);
    char *text = fixture_read(root, "c.csv");
    assert_non_null(strstr(text, "\\System\\Processes\""));
    assert_null(strstr(text, "No Such"));
    memory_free(text);

    fixture_commit("dropped", root, "",
                   CSV_EACH_SECOND "<FileName>none</FileName><Counter>\\No Such Object\\No Such Counter</Counter>");
    assert_int_equal(run_start(SPACE, "dropped", true), (HRESULT)0x800007D5); /* PDH_NO_DATA */
    assert_non_null(strstr(error_text((HRESULT)0x800007D5), "\\No Such Object\\No Such Counter"));
    record = fixture_record("dropped");
    assert_int_equal(record.last_result, (HRESULT)0x800007D5);
    assert_non_null(strstr(record.last_message, "none of the 1 counters can be collected"));
    run_record_free(&record);
    char *none = path_join(root, "none.csv");
    assert_false(file_exists(none));
    memory_free(none);
    memory_free(root);
}

/* If a set host process is killed, its set must not appear to be running. The set must start again, and its log must be
   valid. */
static void killed_host_is_cleaned_up(void **state)
{
    (void)state;
    char *root = fixture_folder("killed");
    fixture_commit("killed", root, "", CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "killed", true), S_OK);
    fixture_kill(fixture_progress("killed", 1, 2).process_id);
    fixture_await("killed", RUN_STOPPED, PATIENCE_MS);
    assert_true(fixture_lines(root, "c_000001.csv") >= 3);
    assert_int_equal(run_stop(SPACE, "killed", true), PLA_E_DCS_NOT_RUNNING);
    assert_int_equal(run_start(SPACE, "killed", true), S_OK);
    assert_int_equal(run_stop(SPACE, "killed", true), S_OK);
    assert_true(fixture_lines(root, "c_000002.csv") >= 2);
    memory_free(root);
}

/* If the set host process exits early, the user must not wait half a minute for an error without a reason. */
static void host_that_exits_early_is_reported_immediately(void **state)
{
    (void)state;
    char *root = fixture_folder("dies");
    fixture_commit("dies", root, "", CSV_EACH_SECOND ONE_COUNTER);
    scratch_environment("TEST_HOST_DIES", "1");
    HRESULT hr = run_start(SPACE, "dies", true);
    scratch_environment("TEST_HOST_DIES", "");
    assert_int_equal(hr, OPENPLA_E_HOST_DIED);
    assert_non_null(strstr(error_text(hr), "0x00000007"));
    memory_free(root);
}

/* Sets must not affect each other. */
static void four_sets_run_independently(void **state)
{
    (void)state;
    static const char *const names[] = {"four 1", "four 2", "four 3", "four 4"};
    char *root = fixture_folder("four");
    for (size_t i = 0; i < 4; i++) {
        char *xml = text_format("<FileName>%s</FileName>" CSV_EACH_SECOND ONE_COUNTER, names[i]);
        fixture_commit(names[i], root, "", xml);
        memory_free(xml);
        assert_int_equal(run_start(SPACE, names[i], true), S_OK);
    }
    uint32_t ids[4];
    for (size_t i = 0; i < 4; i++)
        ids[i] = fixture_await(names[i], RUN_RUNNING, PATIENCE_MS).process_id;
    assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[2] != ids[3]);
    assert_int_equal(run_stop(SPACE, names[0], true), S_OK);
    fixture_await(names[1], RUN_RUNNING, PATIENCE_MS);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(run_stop(SPACE, names[i], true), S_OK);
    for (size_t i = 0; i < 4; i++) {
        char *file = text_format("%s.csv", names[i]);
        assert_true(fixture_lines(root, file) >= 2);
        memory_free(file);
    }
    memory_free(root);
}

/* If two users start a set at the same time, there must not be two set host processes that write the same log. */
static void concurrent_starts_create_one_host(void **state)
{
    (void)state;
    char *root = fixture_folder("race"), *program = os_expand_environment("%OPENPLA_HOST%");
    const char *arguments[] = {"start", SPACE, "race"};
    fixture_commit("race", root, "", CSV_EACH_SECOND ONE_COUNTER);
    struct process *starters[3];
    uint32_t codes[3], started = 0, in_use = 0;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 3},
                                       &starters[i]),
                         S_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(process_wait(starters[i], PATIENCE_MS, &codes[i]), S_OK);
        process_close(starters[i]);
        started += codes[i] == 0;
        in_use += codes[i] == 3;
    }
    assert_int_equal(started, 1);
    assert_int_equal(in_use, 2);
    assert_int_equal(run_stop(SPACE, "race", true), S_OK);
    memory_free(program);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_starts_runs_and_stops),
        cmocka_unit_test(asynchronous_start_and_stop),
        cmocka_unit_test(serial_numbers_increase),
        cmocka_unit_test(existing_file_is_kept),
        cmocka_unit_test(run_writes_only_below_its_root),
        cmocka_unit_test(only_logs_are_overwritten),
        cmocka_unit_test(start_writes_its_record_once),
        cmocka_unit_test(failed_start_leaves_nothing),
        cmocka_unit_test(binary_log_is_continued),
        cmocka_unit_test(missing_root_is_named),
        cmocka_unit_test(folders_below_perflogs_are_created),
#ifndef _WIN32
        cmocka_unit_test(unwritable_folder_is_named),
#endif
        cmocka_unit_test(duration_ends_the_run),
        cmocka_unit_test(missing_counter_is_reported_and_others_are_collected),
        cmocka_unit_test(killed_host_is_cleaned_up),
        cmocka_unit_test(host_that_exits_early_is_reported_immediately),
        cmocka_unit_test(four_sets_run_independently),
        cmocka_unit_test(concurrent_starts_create_one_host),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
