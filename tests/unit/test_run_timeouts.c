/* SPDX-License-Identifier: MIT */
/* Limits of time: a provider that blocks, a host that hangs, a data manager that takes long. Without them a client
   waits for ever, and the set can never be started again. */
#include "run_fixture.h"
#include "scratch_folder.h"

#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"

#include <string.h>

static int setup(void **state)
{
    int rc = fixture_setup(state);
    scratch_environment("OPENPLA_WAIT_SECONDS", "3");
    return rc;
}

static void runs_again(const char *name)
{
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

static void a_collector_that_does_not_open(void **state)
{
    (void)state;
    char *root = fixture_folder("open");
    fixture_commit("open", root, "", CSV_EACH_SECOND ONE_COUNTER);
    scratch_environment("TEST_OPEN_BLOCKS", "1");
    HRESULT hr = run_start(SPACE, "open", true);
    assert_int_equal(hr, PLA_E_DC_START_WAIT_TIMEOUT);
    assert_non_null(strstr(error_text(hr), "\"c\""));
    struct run_record record = fixture_record("open");
    assert_int_equal(record.last_result, PLA_E_DC_START_WAIT_TIMEOUT);
    assert_non_null(strstr(record.last_message, "\"c\""));
    assert_false(record.running);
    run_record_free(&record);
    /* Not synchronous: it is starting until somebody stops it. */
    assert_int_equal(run_start(SPACE, "open", false), S_OK);
    struct run_state s;
    assert_int_equal(run_query(SPACE, "open", &s), S_OK);
    assert_int_equal(s.phase, PHASE_STARTING);
    assert_int_equal(s.status, RUN_STOPPED);
    scratch_environment("TEST_OPEN_BLOCKS", "");
    assert_int_equal(run_stop(SPACE, "open", true), HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    runs_again("open");
    memory_free(root);
}

static void a_host_that_hangs(void **state)
{
    (void)state;
    char *root = fixture_folder("hangs");
    fixture_commit("hangs", root, "", CSV_EACH_SECOND ONE_COUNTER);
    scratch_environment("TEST_HOST_HANGS", "1");
    assert_int_equal(run_start(SPACE, "hangs", true), PLA_E_DCS_START_WAIT_TIMEOUT);
    assert_int_equal(run_start(SPACE, "hangs", false), PLA_E_DCS_START_WAIT_TIMEOUT);
    scratch_environment("TEST_HOST_HANGS", "");
    runs_again("hangs");
    memory_free(root);
}

static void a_provider_that_blocks(void **state)
{
    (void)state;
    char *root = fixture_folder("blocks");
    fixture_commit("blocks", root, "", CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    scratch_environment("TEST_SAMPLE_BLOCKS", "2");
    assert_int_equal(run_start(SPACE, "blocks", true), S_OK);
    scratch_environment("TEST_SAMPLE_BLOCKS", "");
    fixture_sleep(2500);
    struct run_state s = fixture_await("blocks", RUN_RUNNING, 100);
    assert_int_equal(run_update(SPACE, "blocks"), HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    HRESULT hr = run_stop(SPACE, "blocks", true);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    assert_non_null(strstr(error_text(hr), "blocks"));
    assert_false(process_alive(s.process_id, process_start_time(s.process_id)));
    assert_int_equal(fixture_lines(root, "c_000001.csv"), 3); /* whole to the last sample */
    runs_again("blocks");
    assert_true(fixture_lines(root, "c_000002.csv") >= 2);
    memory_free(root);
}

/* Status 2 while the data manager works; Stop waits for it, in reason. */
static void compiling(void **state)
{
    (void)state;
    char *root = fixture_folder("compile");
    static const char managed[] = "<DataManager><Enabled>-1</Enabled></DataManager>";
    fixture_commit("compile", root, managed, CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    scratch_environment("TEST_COMPILE_MS", "1500");
    assert_int_equal(run_start(SPACE, "compile", true), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", false), S_OK);
    fixture_await("compile", RUN_COMPILING, 2000);
    assert_int_equal(run_start(SPACE, "compile", true), PLA_E_DCS_IN_USE);
    assert_int_equal(run_stop(SPACE, "compile", true), S_OK);
    scratch_environment("TEST_COMPILE_FAILS", "1");
    assert_int_equal(run_start(SPACE, "compile", true), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", true), S_OK);
    struct run_record record = fixture_record("compile");
    assert_int_equal(record.last_result, E_FAIL);
    assert_non_null(strstr(record.last_message, "the test's data manager fails"));
    run_record_free(&record);
    scratch_environment("TEST_COMPILE_FAILS", "");
    scratch_environment("TEST_COMPILE_MS", "6000");
    assert_int_equal(run_start(SPACE, "compile", true), S_OK);
    assert_int_equal(run_stop(SPACE, "compile", true), PLA_E_REPORT_WAIT_TIMEOUT);
    fixture_await("compile", RUN_STOPPED, 10000); /* it was not ended */
    scratch_environment("TEST_COMPILE_MS", "");
    fixture_sleep(200); /* the host's last moments, before its folder is removed */
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collector_that_does_not_open),
        cmocka_unit_test(a_host_that_hangs),
        cmocka_unit_test(a_provider_that_blocks),
        cmocka_unit_test(compiling),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
