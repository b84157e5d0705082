/* SPDX-License-Identifier: MIT */
/* The supervisor: scheduled starts, killed host processes, interrupted runs, expiry. The test controls the supervisor's
   wall clock and monotonic clock, and counts the files that it reads. Linked with --wrap=clock_utc,
   --wrap=clock_monotonic_ms, --wrap=file_load and --wrap=file_load_trusted. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/sets.h"
#include "engine/pla/sets/supervised_set.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define SECOND INT64_C(10000000)

static atomic_llong ahead;   /* offset of the supervisor's clock */
static atomic_llong stopped; /* time at which the supervisor's clock stands still; 0: it runs */
int64_t __real_clock_utc(void);
int64_t __wrap_clock_utc(void);

int64_t __wrap_clock_utc(void)
{
    int64_t still = atomic_load(&stopped);
    return still ? still : __real_clock_utc() + atomic_load(&ahead);
}

static atomic_llong passed; /* ms added to the monotonic clock, which must never go back */
uint64_t __real_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);

uint64_t __wrap_clock_monotonic_ms(void)
{
    return __real_clock_monotonic_ms() + (uint64_t)atomic_load(&passed);
}

static atomic_int definitions_read, records_read, damaged_read;
static const char still_damaged[] = "still damaged.xml";
HRESULT __real_file_load(const char *path, size_t limit, char **out, size_t *size);
HRESULT __wrap_file_load(const char *path, size_t limit, char **out, size_t *size);
HRESULT __real_file_load_trusted(const char *path, size_t limit, char **out, size_t *size);
HRESULT __wrap_file_load_trusted(const char *path, size_t limit, char **out, size_t *size);

static void count_read(const char *path)
{
    bool ours = strstr(path, SPACE) != NULL; /* excludes the sets that are part of OpenPLA */
    atomic_fetch_add(&definitions_read, ours && !strcmp(path_extension(path), ".xml"));
    atomic_fetch_add(&damaged_read, ours && !strcmp(path_name(path), still_damaged));
    atomic_fetch_add(&records_read, ours && !strcmp(path_extension(path), ".run"));
}

HRESULT __wrap_file_load(const char *path, size_t limit, char **out, size_t *size)
{
    count_read(path);
    return __real_file_load(path, limit, out, size);
}

HRESULT __wrap_file_load_trusted(const char *path, size_t limit, char **out, size_t *size)
{
    count_read(path);
    return __real_file_load_trusted(path, limit, out, size);
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
    atomic_store(&stopped, 0);
}

/* Runs even if a test has failed; otherwise its supervisor would start the sets of the next test. */
static int end_test(void **state)
{
    struct texts names = {0};
    (void)state;
    stop_supervising();
    if (FAILED(store_list(&caller_self, SPACE, &names)))
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        run_stop(SPACE, names.items[i], true);
        store_delete(&caller_self, SPACE, names.items[i]);
    }
    texts_free(&names);
    return 0;
}

static void await_work(int any)
{
    for (int i = 0; i < PATIENCE_MS / 20 && atomic_load(&work) != any; i++)
        fixture_sleep(20);
    assert_int_equal(atomic_load(&work), any);
}

/* Returns a full second about an hour from now. Even a slow test ends before that time. */
static int64_t in_an_hour(void)
{
    return (clock_utc() / SECOND + 3600) * SECOND;
}

/* Sets the supervisor's clock. */
static void set_clock(int64_t utc)
{
    atomic_store(&ahead, utc - __real_clock_utc());
}

/* Waits until the set's record contains the scheduled start at this time. */
static void await_start(const char *name, int64_t due)
{
    struct run_record record = {0};
    for (int i = 0; i < PATIENCE_MS / 20 && record.last_scheduled != due; i++) {
        run_record_free(&record);
        fixture_sleep(20);
        assert_int_equal(store_load_run(SPACE, name, &record), S_OK);
    }
    assert_true(record.last_scheduled == due);
    run_record_free(&record);
}

/* Returns the XML of a schedule that starts its set daily at this time. */
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

static void stop(const char *name)
{
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

/* A schedule must start its set exactly once and on time, even if another process has committed the set. */
static void set_committed_by_another_process_starts_on_time(void **state)
{
    (void)state;
    char *root = fixture_folder("at its second");
    supervise();
    fixture_sleep(300); /* waits until the supervisor is idle */
    await_work(0);
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, "");
    char *off = text_format("%s<SchedulesEnabled>0</SchedulesEnabled>", xml);
    commit("off", root, off);
    commit("on", root, xml); /* writes directly to the store, like another process */
    await_work(1);
    set_clock(due - 2 * SECOND);
    fixture_await("on", RUN_RUNNING, PATIENCE_MS);
    assert_true(clock_utc() >= due);
    stop("on");
    await_start("on", due);
    fixture_sleep(2500); /* the set must not start again */
    assert_int_equal(fixture_events(1003, "on"), 1);
    assert_int_equal(fixture_events(1003, "off"), 0);
    stop_supervising();
    memory_free(off);
    memory_free(xml);
    memory_free(root);
}

/* ---- host processes that are created before the start ---- */

static char *host_folder; /* contains the file "hosts", in which set host processes record their start and exit */

/* Prepares a set: the clock stands still shortly before the set's start time, and its set host process exists. */
static int64_t host_ahead(const char *name, const char *root, const char *more)
{
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, ""), *all = text_format("%s%s", xml, more), *list;
    host_folder = fixture_folder(name);
    list = path_join(host_folder, "hosts");
    assert_int_equal(file_store(list, "", 0), S_OK);
    scratch_environment("TEST_HOSTS", list);
    supervise();
    commit(name, root, all);
    await_work(1);
    atomic_store(&stopped, due - 3 * SECOND);
    memory_free(list);
    memory_free(all);
    memory_free(xml);
    return due;
}

static size_t hosts_that(const char *what)
{
    char *text = fixture_read(host_folder, "hosts");
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    memory_free(text);
    return count;
}

static void await_hosts(const char *what, size_t count)
{
    for (int i = 0; i < PATIENCE_MS / 20 && hosts_that(what) < count; i++)
        fixture_sleep(20);
    assert_int_equal(hosts_that(what), count);
}

static int end_ahead(void **state)
{
    int rc = end_test(state);
    scratch_environment("TEST_HOSTS", "");
    memory_free(host_folder);
    host_folder = NULL;
    return rc;
}

/* Sets that start in the same second must not lose their first samples. Before that, no run may be visible. */
static void host_process_exists_before_the_start_time(void **state)
{
    (void)state;
    char *root = fixture_folder("ahead"), *other = fixture_folder("ahead elsewhere");
    struct run_state before;
    int64_t due = host_ahead("ahead", root, "");
    await_hosts("begun", 1);
    assert_int_equal(run_query(SPACE, "ahead", &before), S_OK);
    assert_int_equal(before.status, RUN_STOPPED);
    assert_int_equal(before.phase, PHASE_STOPPED);
    assert_int_equal(run_stop(SPACE, "ahead", true), PLA_E_DCS_NOT_RUNNING);
    char *xml = schedule_at(due, "");
    commit("ahead", other, xml); /* has another folder and the same start time */
    atomic_store(&stopped, due);
    struct run_state running = fixture_await("ahead", RUN_RUNNING, PATIENCE_MS);
    await_start("ahead", due);
    assert_non_null(strstr(running.location, "ahead elsewhere"));
    stop("ahead");
    await_hosts("ended", 1);
    assert_int_equal(hosts_that("begun"), 1); /* the prepared set host process was used */
    stop_supervising();
    memory_free(xml);
    memory_free(other);
    memory_free(root);
}

/* If a schedule is removed before its start time, the set host process must exit, and nothing may start. */
static void unneeded_host_process_exits(void **state)
{
    (void)state;
    char *root = fixture_folder("unwanted");
    int64_t due = host_ahead("unwanted", root, "");
    await_hosts("begun", 1);
    commit("unwanted", root, "");
    await_hosts("ended", 1);
    char *xml = schedule_at(due, "");
    commit("unwanted", root, xml);
    await_hosts("begun", 2);
    assert_int_equal(store_delete(&caller_self, SPACE, "unwanted"), S_OK);
    await_hosts("ended", 2);
    commit("unwanted", root, xml);
    await_hosts("begun", 3);
    stop_supervising(); /* the service may also stop */
    await_hosts("ended", 3);
    assert_int_equal(fixture_events(1003, "unwanted") + fixture_events(1004, "unwanted"), 0);
    memory_free(xml);
    memory_free(root);
}

/* If a user starts the set just before its start time, it must run and continue after that time. */
static void user_start_uses_the_prepared_host(void **state)
{
    (void)state;
    char *root = fixture_folder("himself");
    int64_t due = host_ahead("himself", root, "");
    await_hosts("begun", 1);
    assert_int_equal(run_start(SPACE, "himself", true), S_OK);
    struct run_state own = fixture_await("himself", RUN_RUNNING, 100);
    atomic_store(&stopped, due);
    await_start("himself", due);
    await_hosts("ended", 1);
    struct run_state after = fixture_await("himself", RUN_RUNNING, 100);
    assert_int_equal(after.process_id, own.process_id);
    assert_int_equal(fixture_events(1004, "himself"), 0);
    stop("himself");
    stop_supervising();
    memory_free(root);
}

/* If the service is killed while it creates a set host process, that process must not run the set later. */
static void host_without_its_service_runs_nothing(void **state)
{
    (void)state;
    char *root = fixture_folder("orphan"), *program = os_expand_environment("%OPENPLA_HOST%");
    const char *arguments[] = {SPACE, "orphan", RUN_KEY_AHEAD "0123456789abcdef"};
    struct process *host;
    commit("orphan", root, "");
    assert_int_equal(
        process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 3}, &host), S_OK);
    assert_int_equal(process_wait(host, PATIENCE_MS, NULL), S_OK);
    process_close(host);
    assert_int_equal(fixture_events(1003, "orphan") + fixture_events(1004, "orphan"), 0);
    memory_free(program);
    memory_free(root);
}

/* If the prepared set host process is killed before the start time, the set must still start. */
static void start_survives_loss_of_the_prepared_host(void **state)
{
    (void)state;
    char *root = fixture_folder("lost");
    unsigned id = 0;
    int64_t due = host_ahead("lost", root, "");
    await_hosts("begun", 1);
    char *text = fixture_read(host_folder, "hosts");
    assert_int_equal(sscanf(text, "begun %u", &id), 1);
    memory_free(text);
    process_terminate(id, process_start_time(id));
    atomic_store(&stopped, due);
    fixture_await("lost", RUN_RUNNING, PATIENCE_MS);
    await_start("lost", due);
    stop("lost");
    assert_int_equal(fixture_events(1004, "lost"), 0);
    stop_supervising();
    memory_free(root);
}

/* The set must also start if the set host process exits at the start time, before it has locked the set. */
static void start_survives_a_host_lost_at_the_start_time(void **state)
{
    (void)state;
    char *root = fixture_folder("told");
    scratch_environment("TEST_HOST_DIES_TOLD", "1");
    int64_t due = host_ahead("told", root, "");
    await_hosts("begun", 1);
    atomic_store(&stopped, due);
    await_hosts("begun", 2);
    fixture_await("told", RUN_RUNNING, PATIENCE_MS);
    await_start("told", due);
    stop("told");
    assert_int_equal(fixture_events(1004, "told"), 0);
    stop_supervising();
    scratch_environment("TEST_HOST_DIES_TOLD", "");
    memory_free(root);
}

/* If a set is already running, its schedule must have no effect (MS-PLA 3.2.4.1, SchedulesEnabled). */
static void schedule_does_not_affect_a_running_set(void **state)
{
    (void)state;
    char *root = fixture_folder("goes on");
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, "");
    supervise();
    commit("goes on", root, xml);
    await_work(1);
    assert_int_equal(run_start(SPACE, "goes on", true), S_OK);
    struct run_state before = fixture_await("goes on", RUN_RUNNING, 100);
    set_clock(due - SECOND);
    await_start("goes on", due);
    struct run_state after = fixture_await("goes on", RUN_RUNNING, 100);
    assert_int_equal(after.process_id, before.process_id);
    assert_int_equal(fixture_events(1004, "goes on"), 0);
    stop("goes on");
    stop_supervising();
    memory_free(xml);
    memory_free(root);
}

/* If the clock is set, no start may be skipped or repeated. */
static void clock_changes_skip_or_repeat_no_start(void **state)
{
    (void)state;
    char *root = fixture_folder("clock");
    char *soon = schedule_at(clock_utc() + 3600 * SECOND, ""), *later = schedule_at(clock_utc() + 7200 * SECOND, "");
    supervise();
    commit("soon", root, soon);
    await_work(1);
    atomic_store(&ahead, 3660 * SECOND); /* one minute after the start time: the set must start late */
    fixture_await("soon", RUN_RUNNING, PATIENCE_MS);
    stop("soon");
    atomic_store(&ahead, 3500 * SECOND); /* back before the start time: the start must not be repeated */
    fixture_sleep(1500);
    atomic_store(&ahead, 3605 * SECOND);
    fixture_sleep(2500);
    assert_int_equal(fixture_events(1003, "soon"), 1);
    assert_int_equal(store_delete(&caller_self, SPACE, "soon"), S_OK);
    await_work(0);
    commit("later", root, later);
    await_work(1);                                /* waits until the supervisor has read the set */
    atomic_store(&ahead, (7200 + 3600) * SECOND); /* an hour after the start time: the missed start is reported */
    fixture_await_event(9002, "later");
    assert_int_equal(fixture_events(1003, "later"), 0);
    stop_supervising();
    memory_free(soon);
    memory_free(later);
    memory_free(root);
}

/* A killed set host process must not count as a successful run. If requested, the set must be started again. */
static void killed_host_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("dead");
    commit("once", root, "");
    commit("always", root, "<Value name=\"OpenPLA.Restart\">always</Value>");
    supervise();
    assert_int_equal(run_start(SPACE, "once", true), S_OK);
    assert_int_equal(run_start(SPACE, "always", true), S_OK);
    fixture_await_event(1003, "once"); /* the event is written after the start */
    fixture_await_event(1003, "always");
    struct run_state s = fixture_await("always", RUN_RUNNING, 100);
    fixture_kill(fixture_await("once", RUN_RUNNING, 100).process_id);
    fixture_kill(s.process_id);
    fixture_await_event(1006, "once");
    fixture_await_event(1006, "always");
    s = fixture_await("always", RUN_RUNNING, PATIENCE_MS);
    assert_int_equal(s.serial_number, 2);
    fixture_await_event(9003, "always");
    struct run_record record = fixture_record("once");
    assert_int_equal(record.last_result, OPENPLA_E_HOST_DIED);
    assert_false(record.running);
    run_record_free(&record);
    stop("always");
    fixture_sleep(1500);
    assert_int_equal(fixture_events(1003, "once"), 1);
    assert_int_equal(fixture_events(1003, "always"), 2);
    stop_supervising();
    memory_free(root);
}

/* After a power failure, a set must be started again only if its user has requested this. */
static void interrupted_runs_are_restarted_on_request(void **state)
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
    for (int i = 0; i < 4; i++) {
        fixture_await_event(1003, names[i]);
        fixture_kill(fixture_await(names[i], RUN_RUNNING, 100).process_id);
    }
    for (int i = 0; i < 4; i++)
        fixture_await(names[i], RUN_STOPPED, PATIENCE_MS);
    supervise();
    for (int i = 1; i < 3; i++) {
        assert_int_equal(fixture_await(names[i], RUN_RUNNING, PATIENCE_MS).serial_number, 2);
        assert_true(fixture_lines(folders[i], "c_000001.csv") >= 2); /* complete */
        stop(names[i]);
    }
    for (int i = 0; i < 4; i++)
        fixture_await_event(1006, names[i]);
    fixture_sleep(1500); /* time in which every set that must start has started */
    assert_int_equal(fixture_events(1003, "ended"), 1);
    assert_int_equal(fixture_events(1003, "survives"), 1);
    assert_int_equal(fixture_events(1006, "survives"), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(fixture_events(1006, names[i]), 1);
        assert_int_equal(fixture_events(1003, names[i]), i == 1 || i == 2 ? 2 : 1);
        memory_free(names[i]);
        memory_free(folders[i]);
    }
    stop("survives");
    stop_supervising();
    memory_free(root);
}

/* When a schedule expires, its run must continue unless the set requests a stop (behaviour 15). */
static void expiry_stops_a_run_on_request(void **state)
{
    (void)state;
    char *root = fixture_folder("expiry");
    set_clock(clock_utc() + (86400 - clock_utc_to_local(clock_utc()) / SECOND % 86400 + 43200) * SECOND); /* noon, local
                                                                                                             time */
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
    set_clock(clock_utc() + 24 * 3600 * SECOND);
    fixture_await("expires", RUN_STOPPED, PATIENCE_MS);
    fixture_await_event(9004, "expires");
    struct run_record record = fixture_record("expires");
    assert_non_null(strstr(record.last_message, "the run ended because all its schedules have expired"));
    run_record_free(&record);
    fixture_await("goes past", RUN_RUNNING, 100);
    atomic_store(&ahead, 0);
    stop("goes past");
    stop_supervising();
    memory_free(asked);
    memory_free(schedule);
    memory_free(today);
    memory_free(root);
}

/* If two services use the same store, sets must not be started twice. */
static void second_supervisor_takes_over(void **state)
{
    struct supervisor *second;
    (void)state;
    char *root = fixture_folder("two");
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, "");
    commit("two", root, xml);
    supervise();
    await_work(1); /* the first supervisor supervises the store */
    assert_int_equal(supervisor_start(NULL, NULL, &second), S_OK);
    set_clock(due - SECOND);
    await_start("two", due);
    fixture_await("two", RUN_RUNNING, PATIENCE_MS);
    stop("two");
    fixture_sleep(1500);
    assert_int_equal(fixture_events(1003, "two"), 1);
    assert_int_equal(fixture_events(1004, "two"), 0);
    supervisor_stop(supervisor); /* does not change the clock's setting */
    supervisor = NULL;
    set_clock(due + 86399 * SECOND); /* one second before the next day's start */
    await_start("two", due + 86400 * SECOND);
    fixture_await("two", RUN_RUNNING, PATIENCE_MS);
    stop("two");
    supervisor_stop(second);
    atomic_store(&ahead, 0);
    memory_free(xml);
    memory_free(root);
}

/* If another program has the lock file open, no schedule works. This must be reported. */
static void lock_owner_without_supervision_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("kept out"), *data = os_data_folder(), *path = path_join(data, "supervisor.lock");
    struct file_lock *lock;
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, "");
    assert_int_equal(file_lock_take(path, PATIENCE_MS, &lock), S_OK);
    commit("kept out", root, xml);
    supervise();
    fixture_await_event(9008, path);
    assert_non_null(strstr(fixture_reason, "close that program"));
    await_work(1);
    set_clock(due - SECOND);
    await_start("kept out", due);
    stop("kept out");
    stop_supervising();
    file_lock_release(lock);
    memory_free(xml);
    memory_free(path);
    memory_free(data);
    memory_free(root);
}

/* If a set's file is corrupt, its schedule cannot work. This must be reported, and other schedules must continue. */
static void corrupt_set_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("damaged"), *path = store_definition_path(SPACE, "torn");
    int64_t due = in_an_hour();
    char *xml = schedule_at(due, "");
    commit("torn", root, xml);
    commit("whole", root, xml);
    assert_int_equal(file_store(path, "<DataCollectorSet>", 18), S_OK);
    supervise();
    fixture_await_event(9007, "torn");
    await_work(1);
    set_clock(due - SECOND);
    await_start("whole", due);
    stop("whole");
    stop_supervising();
    memory_free(xml);
    memory_free(path);
    memory_free(root);
}

/* ---- definitions that are written during the supervisor's checks ---- */

/* Returns the path at which a user would put a definition by hand. */
static char *put_path(const char *name)
{
    char *space = store_folder(SPACE), *file = text_format("%s.xml", name), *path = path_join(space, file);
    memory_free(file);
    memory_free(space);
    return path;
}

static void await_file(const char *path, bool there)
{
    for (int i = 0; i < PATIENCE_MS / 20 && file_exists(path) != there; i++)
        fixture_sleep(20);
    assert_int_equal(file_exists(path), there);
}

/* Waits until the supervisor has read the whole file and added the set's name to it. */
static void await_name_in(const char *path)
{
    bool there = false;
    for (int i = 0; i < 3000 && !there; i++) {
        char *text = NULL;
        size_t size;
        there = SUCCEEDED(file_load(path, 65536, &text, &size)) && strstr(text, "<?openpla-set");
        memory_free(text);
        if (!there)
            fixture_sleep(20);
    }
    assert_true(there);
}

static char *definition_at(int64_t due, const char *root)
{
    char *schedule = schedule_at(due, "");
    char *xml = text_format("<DataCollectorSet><RootPath>%s</RootPath><PerformanceCounterDataCollector><Name>c</Name>%s"
                            "</PerformanceCounterDataCollector>%s</DataCollectorSet>",
                            root, CSV_EACH_SECOND ONE_COUNTER, schedule);
    memory_free(schedule);
    return xml;
}

/* An editor or a network copy first creates an empty file and then writes the contents. The schedule must not wait for
   the next full check, and the set must not be reported as corrupt. */
static void definition_being_written_is_read_completely(void **state)
{
    (void)state;
    char *root = fixture_folder("written"), *path = put_path("Slowly"), *place = store_definition_path(SPACE, "Slowly");
    int64_t due = in_an_hour();
    char *xml = definition_at(due, root);
    struct texts names = {0};
    struct file *f;
    char *soon = schedule_at(due + 3600 * SECOND, "");
    commit("other", root, soon);
    supervise();
    await_work(1); /* the full check is done; the supervisor now reads only changes */
    assert_int_equal(store_delete(&caller_self, SPACE, "other"), S_OK);
    await_work(0);
    uint64_t began = __real_clock_monotonic_ms();
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &f), S_OK);
    await_file(place, true);
    await_work(1); /* the supervisor must wait for further changes */
    assert_int_equal(file_write(f, xml, strlen(xml)), S_OK);
    file_close(f);
    bool in_time = __real_clock_monotonic_ms() - began < 1000; /* false if a busy machine has delayed this test */
    await_name_in(place);
    set_clock(due - SECOND);
    await_start("Slowly", due);
    stop("Slowly");
    assert_true(!in_time || !fixture_events(9007, "Slowly"));
    assert_int_equal(store_list(&caller_self, SPACE, &names), S_OK);
    assert_int_equal(names.count, 1);
    assert_string_equal(names.items[0], "Slowly"); /* and not an encoded file name */
    stop_supervising();
    texts_free(&names);
    memory_free(soon);
    memory_free(xml);
    memory_free(place);
    memory_free(path);
    memory_free(root);
}

/* Like many Windows programs, this writer locks its file. When it exits, no change is reported. */
static void definition_locked_by_its_writer_is_read_after_release(void **state)
{
    (void)state;
    char *root = fixture_folder("held"), *path = put_path("held"), *place = store_definition_path(SPACE, "held");
    int64_t due = in_an_hour();
    char *xml = definition_at(due, root), *later = schedule_at(due + 3600 * SECOND, "");
    supervise();
    commit("later", root, later); /* keeps the supervisor active, but gives it no reason to check */
    await_work(1);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(xml, f) >= 0 && !fflush(f));
    fixture_sleep(500);
    assert_int_equal(fclose(f), 0);
    await_file(place, true);
    set_clock(due - SECOND);
    await_start("held", due);
    stop("held");
    stop_supervising();
    memory_free(later);
    memory_free(xml);
    memory_free(place);
    memory_free(path);
    memory_free(root);
}

/* If a program writes a file slowly, it must not be reported as corrupt between two writes. It must not be checked
   forever either. */
static void checks_become_rarer_while_nothing_changes(void **state)
{
    (void)state;
    struct second_look look = {0};
    int looks = 0;
    assert_false(second_look_plan(&look, 5000, false));
    assert_true(look.at == 6000 && second_look_is_first(&look));
    assert_false(second_look_plan(&look, 5500, false)); /* this check has another reason */
    assert_true(look.at == 6000);
    assert_false(second_look_plan(&look, 6000, true)); /* the file has grown */
    assert_true(look.at == 7000);
    for (uint64_t before = 6000, now; (now = look.at) != 0; before = now, looks++) {
        assert_true(now - before == 1000u << looks);
        assert_true(second_look_plan(&look, now, false));
        assert_false(second_look_is_first(&look));
    }
    assert_int_equal(looks, 10);
    assert_true(second_look_plan(&look, 9000000, false));
    assert_true(!look.at);
    assert_false(second_look_plan(&look, 9000000, true)); /* the file was repaired */
    assert_true(look.at == 9001000);
}

#ifndef _WIN32
/* A user who can write to the store's folder must not run a set as the service. Its name must be reported. */
static void foreign_set_is_reported(void **state)
{
    (void)state;
    char *folder = store_folder(SPACE), *path = path_join(folder, "stranger.xml");
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(file_store(path, "<DataCollectorSet/>", 19), S_OK);
    if (!chown(path, 65534, 65534)) { /* only root can change a file's owner */
        supervise();
        fixture_await_event(9007, "stranger.xml");
        assert_non_null(strstr(fixture_reason, "65534"));
        stop_supervising();
    }
    assert_int_equal(file_delete(path), S_OK);
    memory_free(path);
    memory_free(folder);
}
#endif

/* If a file stays corrupt, it must not be read every second and not be reported each time. */
static void corrupt_file_is_read_more_and_more_rarely(void **state)
{
    (void)state;
    char *root = fixture_folder("stays"), *path = store_definition_path(SPACE, "still damaged");
    commit("still damaged", root, "");
    assert_int_equal(file_store(path, "<DataCollectorSet>", 18), S_OK);
    supervise();
    fixture_await_event(9007, "still damaged");
    atomic_store(&damaged_read, 0);
    for (int minute = 0; minute < 40; minute++) {
        atomic_fetch_add(&passed, 60000);
        commit("wakes it", root, "");
        fixture_sleep(150);
    }
    assert_in_range(atomic_load(&damaged_read), 1, 12);
    assert_int_equal(fixture_events(9007, "still damaged"), 1);
    char *xml = schedule_at(in_an_hour(), "");
    commit("still damaged", root, xml); /* the set becomes valid again */
    await_work(1);
    stop_supervising();
    memory_free(xml);
    memory_free(path);
    memory_free(root);
}

static int bias_here(const void *zone, int64_t utc)
{
    (void)zone;
    return clock_bias_minutes(utc);
}

/* A set may be committed again just before its start time, and the supervisor may read it just after that time. If the
   old and the new definition have this start time, the start must not be skipped. */
static void change_just_before_the_start_time_skips_no_start(void **state)
{
    (void)state;
    const struct start_zone zone = {bias_here, NULL};
    char *root = fixture_folder("close"), *other = fixture_folder("close elsewhere");
    int64_t due = in_an_hour(), behind = due + SECOND / 10, missed;
    char *xml = schedule_at(due, ""), *later = schedule_at(due + 60 * SECOND, "");
    struct supervised_set set = {.space = SPACE, .name = text_copy("close")};
    commit("close", root, xml);
    assert_int_equal(supervised_set_read(&set, due - 60 * SECOND), S_OK);
    assert_int_equal(supervised_set_plan(&set, due - SECOND, &zone, &missed), S_OK);
    assert_true(set.due == due);
    commit("close", other, xml);
    assert_int_equal(supervised_set_read(&set, behind), S_OK);
    assert_int_equal(supervised_set_plan(&set, behind, &zone, &missed), S_OK);
    assert_true(set.due == due);
    commit("close", other, later); /* the new definition has a later start time */
    assert_int_equal(supervised_set_read(&set, behind), S_OK);
    assert_int_equal(supervised_set_plan(&set, behind, &zone, &missed), S_OK);
    assert_true(set.due == due + 60 * SECOND);
    supervised_set_free(&set);
    memory_free(later);
    memory_free(xml);
    memory_free(other);
    memory_free(root);
}

/* If a program changes a definition without the store, the full check must find the change, even while a schedule is
   waiting. Otherwise the old definition would run. */
static void unannounced_changes_are_found(void **state)
{
    (void)state;
    char *root = fixture_folder("past"), *path = store_definition_path(SPACE, "past");
    char *xml = schedule_at(clock_utc() + 2 * 3600 * SECOND, "");
    supervise();
    commit("past", root, xml);
    await_work(1);
    fixture_sleep(500); /* waits until no check is pending because of the commit */
    assert_int_equal(file_store(path, "<DataCollectorSet/>", 19), S_OK);
    atomic_fetch_add(&ahead, 660 * SECOND);
    atomic_fetch_add(&passed, 660000);
    await_work(0);
    stop_supervising();
    memory_free(xml);
    memory_free(path);
    memory_free(root);
}

/* When the service starts, it must read each set only once. Reading ten thousand sets twice would delay schedules. */
static void each_set_is_read_once_at_the_start(void **state)
{
    (void)state;
    char *root = fixture_folder("once"), *xml = schedule_at(clock_utc() + 2 * 3600 * SECOND, "");
    commit("once", root, xml);
    commit("twice", root, "");
    commit("thrice", root, "");
    assert_int_equal(run_start(SPACE, "thrice", true), S_OK);
    stop("thrice");
    atomic_store(&definitions_read, 0);
    atomic_store(&records_read, 0);
    supervise();
    await_work(1);
    assert_int_equal(atomic_load(&definitions_read), 3);
    assert_int_equal(atomic_load(&records_read), 1);
    stop_supervising();
    memory_free(xml);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_set_is_read_once_at_the_start, end_test),
        cmocka_unit_test_teardown(set_committed_by_another_process_starts_on_time, end_test),
        cmocka_unit_test_teardown(host_process_exists_before_the_start_time, end_ahead),
        cmocka_unit_test_teardown(unneeded_host_process_exits, end_ahead),
        cmocka_unit_test_teardown(user_start_uses_the_prepared_host, end_ahead),
        cmocka_unit_test_teardown(host_without_its_service_runs_nothing, end_test),
        cmocka_unit_test_teardown(start_survives_loss_of_the_prepared_host, end_ahead),
        cmocka_unit_test_teardown(start_survives_a_host_lost_at_the_start_time, end_ahead),
        cmocka_unit_test_teardown(schedule_does_not_affect_a_running_set, end_test),
        cmocka_unit_test_teardown(clock_changes_skip_or_repeat_no_start, end_test),
        cmocka_unit_test_teardown(killed_host_is_reported, end_test),
        cmocka_unit_test_teardown(interrupted_runs_are_restarted_on_request, end_test),
        cmocka_unit_test_teardown(expiry_stops_a_run_on_request, end_test),
        cmocka_unit_test_teardown(second_supervisor_takes_over, end_test),
        cmocka_unit_test_teardown(lock_owner_without_supervision_is_reported, end_test),
        cmocka_unit_test_teardown(corrupt_set_is_reported, end_test),
#ifndef _WIN32
        cmocka_unit_test_teardown(foreign_set_is_reported, end_test),
#endif
        cmocka_unit_test_teardown(definition_being_written_is_read_completely, end_test),
        cmocka_unit_test_teardown(definition_locked_by_its_writer_is_read_after_release, end_test),
        cmocka_unit_test(checks_become_rarer_while_nothing_changes),
        cmocka_unit_test_teardown(corrupt_file_is_read_more_and_more_rarely, end_test),
        cmocka_unit_test_teardown(change_just_before_the_start_time_skips_no_start, end_test),
        cmocka_unit_test_teardown(unannounced_changes_are_found, end_test),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
