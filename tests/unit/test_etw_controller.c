/* SPDX-License-Identifier: MIT */
/* Controllers of sessions, through Windows' functions: what starts, what is refused, and what the events of a session
   become. Hosts are processes, as users have them. */
#include "tests/unit/controller_fixture.h"

static char *folder;

static char *path_of(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

/* ---- a session's life ---- */

static void a_session_takes_events_until_it_is_stopped(void **state)
{
    (void)state;
    char *path = path_of("life.etl");
    struct block b = block_of(0, path);
    struct provider p;
    TRACEHANDLE handle = 0;
    assert_int_equal(start_session("life", &b, &handle), ERROR_SUCCESS);
    assert_true(handle != 0);
    assert_int_equal(b.p.Wnode.HistoricalContext, handle);
    assert_string_equal(narrow(b.name), "life");
    provider_open(handle, &p);
    assert_true(provider_write(&p, 1000));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, 0);
    assert_string_equal(narrow(b.name), "life");
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_false(provider_write(&p, 1));
    provider_close(&p);
    const struct log_sums sums = read_log(path);
    assert_int_equal(sums.events, 1000);
    assert_int_equal(sums.sum, 999 * 1000 / 2);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_takes_events_until_it_is_stopped),
    };
    (void)count;
    child_program = arguments[0];
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_controller", &folder);
}
