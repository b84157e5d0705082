/* SPDX-License-Identifier: MIT */
/* Time limits, for a counter provider that blocks, a set host process that hangs, and a slow data manager. Without
   limits, a client would wait forever, and the set could never be started again. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

/* Sets the time limit of all waits. "" restores the default, which is about a minute. Use a limit only while a wait
   must time out: on a busy machine, three seconds are not enough to start a set host process. */
static void limit_waits(const char *seconds)
{
    scratch_environment("OPENPLA_WAIT_SECONDS", seconds);
}

static void await_file(const char *path)
{
    for (int i = 0; i < PATIENCE_MS / 20 && !file_exists(path); i++)
        fixture_sleep(20);
    assert_true(file_exists(path));
}

static void assert_runs_again(const char *name)
{
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

static void blocked_collector_open_times_out(void **state)
{
    (void)state;
    char *root = fixture_folder("open");
    fixture_commit("open", root, "", CSV_EACH_SECOND ONE_COUNTER);
    scratch_environment("TEST_OPEN_BLOCKS", "1");
    limit_waits("10"); /* enough time to reach the collector that blocks */
    HRESULT hr = run_start(SPACE, "open", true);
    limit_waits("");
    assert_int_equal(hr, PLA_E_DC_START_WAIT_TIMEOUT);
    assert_non_null(strstr(error_text(hr), "'c'"));
    struct run_record record = fixture_record("open");
    assert_int_equal(record.last_result, PLA_E_DC_START_WAIT_TIMEOUT);
    assert_non_null(strstr(record.last_message, "'c'"));
    assert_false(record.running);
    run_record_free(&record);
    /* After an asynchronous start, the set is in the phase "starting" until a user stops it. */
    assert_int_equal(run_start(SPACE, "open", false), S_OK);
    struct run_state s;
    assert_int_equal(run_query(SPACE, "open", &s), S_OK);
    assert_int_equal(s.phase, PHASE_STARTING);
    assert_int_equal(s.status, RUN_STOPPED);
    scratch_environment("TEST_OPEN_BLOCKS", "");
    limit_waits("2");
    assert_int_equal(run_stop(SPACE, "open", true), HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    limit_waits("");
    assert_runs_again("open");
    memory_free(root);
}

static void hung_host_times_out(void **state)
{
    (void)state;
    char *root = fixture_folder("hangs");
    fixture_commit("hangs", root, "", CSV_EACH_SECOND ONE_COUNTER);
    scratch_environment("TEST_HOST_HANGS", "1");
    limit_waits("2");
    assert_int_equal(run_start(SPACE, "hangs", true), PLA_E_DCS_START_WAIT_TIMEOUT);
    assert_int_equal(run_start(SPACE, "hangs", false), PLA_E_DCS_START_WAIT_TIMEOUT);
    limit_waits("");
    scratch_environment("TEST_HOST_HANGS", "");
    assert_runs_again("hangs");
    memory_free(root);
}

static void blocked_provider_times_out(void **state)
{
    (void)state;
    char *root = fixture_folder("blocks");
    fixture_commit("blocks", root, "", CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    char *blocked = path_join(root, "blocked");
    scratch_environment("TEST_SAMPLE_BLOCKS", "2");
    scratch_environment("TEST_BLOCKED", blocked);
    assert_int_equal(run_start(SPACE, "blocks", true), S_OK);
    scratch_environment("TEST_SAMPLE_BLOCKS", "");
    await_file(blocked);
    struct run_state s = fixture_await("blocks", RUN_RUNNING, 100);
    uint64_t host_start = process_start_time(s.process_id);
    limit_waits("2");
    assert_int_equal(run_update(SPACE, "blocks"), HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    HRESULT hr = run_stop(SPACE, "blocks", true);
    limit_waits("");
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    assert_non_null(strstr(error_text(hr), "blocks"));
    assert_false(process_alive(s.process_id, host_start));
    assert_int_equal(fixture_lines(root, "c_000001.csv"), 3); /* all samples are complete */
    assert_runs_again("blocks");
    assert_true(fixture_lines(root, "c_000002.csv") >= 2);
    memory_free(blocked);
    memory_free(root);
}

static void end_compiling(void *path)
{
    struct wakeup *pause;
    if (SUCCEEDED(wakeup_create(&pause)))
        wakeup_wait(pause, 500); /* the other thread waits in Stop at this time */
    wakeup_free(pause);
    file_store(path, "", 0);
}

/* While the data manager works, the status is 2. Stop must wait for it until the time limit. */
static void stop_waits_for_the_data_manager(void **state)
{
    (void)state;
    char *root = fixture_folder("compile"), *until = path_join(root, "until");
    struct thread *thread;
    static const char managed[] = "<DataManager><Enabled>-1</Enabled></DataManager>";
    fixture_commit("compile", root, managed, CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    scratch_environment("TEST_COMPILES", "1");
    scratch_environment("TEST_COMPILE_UNTIL", until);
    assert_int_equal(run_start(SPACE, "compile", true), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", false), S_OK);
    fixture_await("compile", RUN_COMPILING, PATIENCE_MS);
    assert_int_equal(run_start(SPACE, "compile", true), PLA_E_DCS_IN_USE);
    limit_waits("1");
    assert_int_equal(run_stop(SPACE, "compile", true), PLA_E_REPORT_WAIT_TIMEOUT);
    limit_waits("");
    fixture_await("compile", RUN_COMPILING, 100); /* the data manager must still work */
    assert_int_equal(thread_start(end_compiling, until, &thread), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", true), S_OK);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    struct run_record record = fixture_record("compile");
    assert_int_equal(record.last_result, S_OK);
    run_record_free(&record);
    scratch_environment("TEST_COMPILE_FAILS", "1");
    assert_int_equal(run_start(SPACE, "compile", true), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", true), S_OK);
    record = fixture_record("compile");
    assert_int_equal(record.last_result, E_FAIL);
    assert_non_null(strstr(record.last_message, "the test's data manager fails"));
    run_record_free(&record);
    scratch_environment("TEST_COMPILE_FAILS", "");
    scratch_environment("TEST_COMPILES", "");
    memory_free(until);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_collector_open_times_out),
        cmocka_unit_test(hung_host_times_out),
        cmocka_unit_test(blocked_provider_times_out),
        cmocka_unit_test(stop_waits_for_the_data_manager),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
