/* SPDX-License-Identifier: MIT */
/* The supervisor: scheduled starts, hosts that die, runs that were cut off, expiry. The wall clock it sees is the
   test's: linked with --wrap=clock_utc. */
#include "run_fixture.h"
#include "scratch_folder.h"

#include "engine/log/event_file.h"
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/run/supervisor.h"

#include <stdatomic.h>
#include <string.h>

#define SECOND INT64_C(10000000)

static atomic_llong ahead; /* of the supervisor's clock */
int64_t __real_clock_utc(void);
int64_t __wrap_clock_utc(void);

int64_t __wrap_clock_utc(void)
{
    return __real_clock_utc() + atomic_load(&ahead);
}

static struct supervisor *supervisor;
static atomic_int work;

static void note_work(void *user, bool any)
{
    (void)user;
    atomic_store(&work, any);
}

static void supervise(void)
{
    assert_int_equal(supervisor_start(note_work, NULL, &supervisor), S_OK);
}

static void stop_supervising(void)
{
    supervisor_stop(supervisor);
    supervisor = NULL;
    atomic_store(&ahead, 0);
}

static void await_work(int any)
{
    for (int i = 0; i < 500 && atomic_load(&work) != any; i++)
        fixture_sleep(20);
    assert_int_equal(atomic_load(&work), any);
}

/* XML of a schedule for each day at the moment. */
static char *schedule_at(int64_t utc, const char *end_date)
{
    struct calendar_time t = clock_calendar(clock_utc_to_local(utc));
    return text_format("<Schedule><StartDate>1/1/2020</StartDate><EndDate>%s</EndDate>"
                       "<StartTime>%02d:%02d:%02d</StartTime><Days>127</Days></Schedule>",
                       end_date, t.hour, t.minute, t.second);
}

static void commit(const char *name, const char *root, const char *more)
{
    char *xml = text_format("<Subdirectory>%s</Subdirectory>%s", name, more);
    fixture_commit(name, root, xml, CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    memory_free(xml);
}

static size_t events(uint32_t id, const char *name)
{
    struct event_reader *r;
    struct event_record e;
    char *folder = event_folder();
    size_t count = 0;
    assert_int_equal(event_reader_open(folder, &r), S_OK);
    while (event_reader_next(r, &e) == S_OK)
        count += e.id == id && e.count && !strcmp(e.fields[0].value, name);
    event_reader_close(r);
    memory_free(folder);
    return count;
}

static void await_event(uint32_t id, const char *name)
{
    for (int i = 0; i < 500 && !events(id, name); i++)
        fixture_sleep(20);
    assert_int_equal(events(id, name), 1);
}

static void stop(const char *name)
{
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

/* Schedules would fire never, late by a minute, twice, or only for sets that this process committed. */
static void a_set_that_another_process_commits_starts_at_its_second(void **state)
{
    (void)state;
    char *root = fixture_folder("at its second");
    supervise();
    fixture_sleep(300); /* it is idle now */
    assert_int_equal(atomic_load(&work), 0);
    int64_t due = (clock_utc() / SECOND + 3) * SECOND;
    char *xml = schedule_at(due, "");
    char *off = text_format("%s<SchedulesEnabled>0</SchedulesEnabled>", xml);
    commit("off", root, off);
    commit("on", root, xml); /* straight into the store */
    await_work(1);
    fixture_await("on", RUN_RUNNING, 20000);
    stop("on");
    fixture_sleep(2500); /* not again */
    struct run_record record = fixture_record("on");
    assert_true(record.last_scheduled == due);
    run_record_free(&record);
    assert_int_equal(events(1003, "on"), 1);
    assert_int_equal(events(1003, "off"), 0);
    stop_supervising();
    memory_free(off);
    memory_free(xml);
    memory_free(root);
}

/* What schedules ask of a set that runs: nothing (MS-PLA 3.2.4.1, SchedulesEnabled). */
static void a_set_that_runs_goes_on(void **state)
{
    (void)state;
    char *root = fixture_folder("goes on");
    char *xml = schedule_at((clock_utc() / SECOND + 3) * SECOND, "");
    supervise();
    commit("goes on", root, xml);
    assert_int_equal(run_start(SPACE, "goes on", true), S_OK);
    struct run_state before = fixture_await("goes on", RUN_RUNNING, 100);
    fixture_sleep(4500);
    struct run_state after = fixture_await("goes on", RUN_RUNNING, 100);
    assert_int_equal(after.process_id, before.process_id);
    assert_int_equal(events(1004, "goes on"), 0);
    stop("goes on");
    stop_supervising();
    memory_free(xml);
    memory_free(root);
}

/* A clock that is set would skip the night's start, or make it twice. */
static void the_clock_is_set(void **state)
{
    (void)state;
    char *root = fixture_folder("clock");
    char *soon = schedule_at(clock_utc() + 3600 * SECOND, ""), *later = schedule_at(clock_utc() + 7200 * SECOND, "");
    supervise();
    commit("soon", root, soon);
    await_work(1);
    fixture_sleep(1200);
    atomic_store(&ahead, 3660 * SECOND); /* a minute past it: made up */
    fixture_await("soon", RUN_RUNNING, 20000);
    stop("soon");
    atomic_store(&ahead, 3500 * SECOND); /* back before it: made already */
    fixture_sleep(1500);
    atomic_store(&ahead, 3605 * SECOND);
    fixture_sleep(2500);
    assert_int_equal(events(1003, "soon"), 1);
    commit("later", root, later);
    fixture_sleep(1500);
    atomic_store(&ahead, (7200 + 3600) * SECOND); /* an hour past it: missed, and said so */
    await_event(9002, "later");
    assert_int_equal(events(1003, "later"), 0);
    stop_supervising();
    memory_free(soon);
    memory_free(later);
    memory_free(root);
}

/* A dead host would be taken for a run that ended well; its set would stay down although its user asked for more. */
static void a_dead_host_is_noticed(void **state)
{
    (void)state;
    char *root = fixture_folder("dead");
    commit("once", root, "");
    commit("always", root, "<Value name=\"OpenPLA.Restart\">always</Value>");
    supervise();
    assert_int_equal(run_start(SPACE, "once", true), S_OK);
    assert_int_equal(run_start(SPACE, "always", true), S_OK);
    fixture_sleep(500);
    struct run_state s = fixture_await("always", RUN_RUNNING, 100);
    fixture_kill(fixture_await("once", RUN_RUNNING, 100).process_id);
    fixture_kill(s.process_id);
    await_event(1006, "once");
    await_event(1006, "always");
    s = fixture_await("always", RUN_RUNNING, 20000);
    assert_int_equal(s.serial_number, 2);
    await_event(9003, "always");
    struct run_record record = fixture_record("once");
    assert_int_equal(record.last_result, OPENPLA_E_HOST_DIED);
    assert_false(record.running);
    run_record_free(&record);
    stop("always");
    fixture_sleep(1500);
    assert_int_equal(events(1003, "once"), 1);
    assert_int_equal(events(1003, "always"), 2);
    stop_supervising();
    memory_free(root);
}

/* After a power cut the sets that their users wanted back would stay down; others would come up unasked. */
static void what_was_cut_off_begins_again(void **state)
{
    static const char *const policies[] = {"never", "boot", "Always", "sometimes"};
    (void)state;
    char *root = fixture_folder("cut off"), *folders[4], *names[4];
    for (int i = 0; i < 4; i++) {
        char *xml = text_format("<Value name=\"OpenPLA.Restart\">%s</Value>", policies[i]);
        names[i] = text_format("cut %s", policies[i]);
        folders[i] = path_join(root, names[i]);
        commit(names[i], root, xml);
        assert_int_equal(run_start(SPACE, names[i], true), S_OK);
        memory_free(xml);
    }
    commit("ended", root, "<Value name=\"OpenPLA.Restart\">always</Value>");
    assert_int_equal(run_start(SPACE, "ended", true), S_OK);
    stop("ended");
    commit("survives", root, "<Value name=\"OpenPLA.Restart\">always</Value>");
    assert_int_equal(run_start(SPACE, "survives", true), S_OK);
    for (int i = 0; i < 4; i++)
        fixture_kill(fixture_await(names[i], RUN_RUNNING, 100).process_id);
    fixture_await(names[3], RUN_STOPPED, 5000);
    supervise();
    for (int i = 1; i < 3; i++) {
        assert_int_equal(fixture_await(names[i], RUN_RUNNING, 20000).serial_number, 2);
        assert_true(fixture_lines(folders[i], "c_000001.csv") >= 2); /* whole */
        stop(names[i]);
    }
    fixture_sleep(1500);
    assert_int_equal(events(1003, "ended"), 1);
    assert_int_equal(events(1003, "survives"), 1);
    assert_int_equal(events(1006, "survives"), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(events(1006, names[i]), 1);
        assert_int_equal(events(1003, names[i]), i == 1 || i == 2 ? 2 : 1);
        memory_free(names[i]);
        memory_free(folders[i]);
    }
    stop("survives");
    stop_supervising();
    memory_free(root);
}

/* pla-behaviour 23.9: expiry does not stop a run, and users wonder. It does if it is asked to. */
static void expiry_stops_a_run_if_asked(void **state)
{
    (void)state;
    char *root = fixture_folder("expiry");
    struct calendar_time t = clock_calendar(clock_utc_to_local(clock_utc()));
    char *today = text_format("%d/%d/%d", t.month, t.day, t.year);
    char *schedule = schedule_at(clock_utc() - 7200 * SECOND, today);
    char *asked = text_format("%s<Value name=\"OpenPLA.StopAtExpiry\">yes</Value>", schedule);
    commit("expires", root, asked);
    commit("goes past", root, schedule);
    assert_int_equal(run_start(SPACE, "expires", true), S_OK);
    assert_int_equal(run_start(SPACE, "goes past", true), S_OK);
    supervise();
    fixture_sleep(1500);
    fixture_await("expires", RUN_RUNNING, 100);
    atomic_store(&ahead, 24 * 3600 * SECOND);
    fixture_await("expires", RUN_STOPPED, 20000);
    await_event(9004, "expires");
    fixture_await("goes past", RUN_RUNNING, 100);
    atomic_store(&ahead, 0);
    stop("goes past");
    stop_supervising();
    memory_free(asked);
    memory_free(schedule);
    memory_free(today);
    memory_free(root);
}

/* Two services with one store would start everything twice. */
static void one_supervises_and_another_takes_over(void **state)
{
    struct supervisor *second;
    (void)state;
    char *root = fixture_folder("two");
    supervise();
    fixture_sleep(500);
    assert_int_equal(supervisor_start(NULL, NULL, &second), S_OK);
    char *xml = schedule_at((clock_utc() / SECOND + 3) * SECOND, "");
    commit("two", root, xml);
    fixture_await("two", RUN_RUNNING, 20000);
    stop("two");
    fixture_sleep(1500);
    assert_int_equal(events(1003, "two"), 1);
    assert_int_equal(events(1004, "two"), 0);
    stop_supervising();
    memory_free(xml);
    fixture_sleep(500);
    xml = schedule_at((clock_utc() / SECOND + 3) * SECOND, "");
    commit("two", root, xml);
    fixture_await("two", RUN_RUNNING, 20000);
    stop("two");
    supervisor_stop(second);
    memory_free(xml);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_that_another_process_commits_starts_at_its_second),
        cmocka_unit_test(a_set_that_runs_goes_on),
        cmocka_unit_test(the_clock_is_set),
        cmocka_unit_test(a_dead_host_is_noticed),
        cmocka_unit_test(what_was_cut_off_begins_again),
        cmocka_unit_test(expiry_stops_a_run_if_asked),
        cmocka_unit_test(one_supervises_and_another_takes_over),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
