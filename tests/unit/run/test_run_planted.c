/* SPDX-License-Identifier: MIT */
/* Other processes may create objects with the names of a run's shared memory, signals and record. No such object may
   block a set or hang a client. It must not cause that a process is terminated that is not a set host process. */
#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/pla/run/run_state.h"
#include "run_fixture.h"
#include "tests/unit/child_process.h"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/file.h>
#endif

/* Returns a name that anyone can compute from public names. */
static char *public_name(const char *what, const char *set)
{
    char *data = os_data_folder(), *folder = text_fold(data), *name = text_fold(set);
    uint64_t hash = hash_text(hash_text(HASH_START, folder), "\nService\n");
    char *out = text_format("openpla-%s-%016llx", what, (unsigned long long)hash_text(hash, name));
    memory_free(name);
    memory_free(folder);
    memory_free(data);
    return out;
}

static void limit_waits(const char *seconds)
{
    scratch_environment("OPENPLA_WAIT_SECONDS", seconds);
}

static void starts_and_stops(const char *name)
{
    struct run_state s;
    assert_int_equal(run_query(SPACE, name, &s), S_OK); /* Delete also makes this query */
    assert_int_equal(s.phase, PHASE_STOPPED);
    assert_int_equal(run_stop(SPACE, name, true), PLA_E_DCS_NOT_RUNNING);
    HRESULT hr = run_start(SPACE, name, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
    assert_int_equal(store_delete(&caller_self, SPACE, name), S_OK);
}

/* If a foreign section has another size, Start and Delete of the set must not fail. */
static void planted_section_does_not_block(void **state)
{
    (void)state;
    char *root = fixture_folder("known"), *name = public_name("run", "known");
    struct section *planted;
    fixture_commit("known", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, 16, &planted), S_OK);
    starts_and_stops("known");
    section_close(planted);
    memory_free(name);
    memory_free(root);
}

/* If there is a lock with the name of an event, a start must not fail, and no process that opens it may hang. */
static void planted_signal_does_not_block(void **state)
{
    (void)state;
    char *root = fixture_folder("held"), *name = public_name("stop", "held");
    fixture_commit("held", root, "", CSV_EACH_SECOND ONE_COUNTER);
#ifdef _WIN32
    HANDLE planted[2];
    for (int i = 0; i < 2; i++) {
        char *object = text_format("%s\\%s.event", i ? "Local" : "Global", name);
        planted[i] = CreateMutexA(NULL, TRUE, object);
        assert_non_null(planted[i]);
        memory_free(object);
    }
#else
    char *shared = NULL;
    assert_int_equal(section_folder(&shared), S_OK);
    char *object = text_format("%s/%s.event", shared, name);
    int planted = open(object, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(planted, LOCK_EX), 0);
#endif
    limit_waits("5");
    starts_and_stops("held");
    limit_waits("");
#ifdef _WIN32
    CloseHandle(planted[0]);
    CloseHandle(planted[1]);
#else
    close(planted);
    unlink(object);
    memory_free(object);
    memory_free(shared);
#endif
    memory_free(name);
    memory_free(root);
}

/* Starts a process that is not a set host process. */
static struct process *start_innocent(void)
{
    return child_start("stay", "", "");
}

static void still_lives(struct process *p)
{
    assert_int_equal(process_wait(p, 300, NULL), S_FALSE);
}

static void end_innocent(struct process *p)
{
    still_lives(p);
    assert_int_equal(process_terminate(process_id(p), process_start_time(process_id(p))), S_OK);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    process_close(p);
}

static void write_down(const char *set, uint32_t id, uint64_t start_time)
{
    const struct run_host host = {id, start_time, "00112233445566778899aabbccddeeff", "nobody"};
    assert_int_equal(store_save_host(SPACE, set, &host), S_OK);
}

/* The registration of a killed set host process may contain the id of another process, which got the same id. That
   process must not be used as the run's process, and must not be terminated because it does not reply. */
static void reused_process_id_is_not_a_run(void **state)
{
    (void)state;
    char *root = fixture_folder("again");
    struct process *innocent = start_innocent();
    uint32_t id = process_id(innocent);
    uint64_t start_time = process_start_time(id);
    const uint64_t written[] = {start_time + 1, start_time - 1, 0, start_time};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) { /* the last one is right, but no lock exists */
        fixture_commit("again", root, "", CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
        write_down("again", id, written[i]);
        starts_and_stops("again");
        still_lives(innocent);
    }
    end_innocent(innocent);
    memory_free(root);
}

/* Takes the run's lock, and creates a section that is not from a set host process. Its name is in the store. */
static struct section *plant_run(const char *set, struct process *as, struct file_lock **lock)
{
    struct run_host host = {process_id(as), 0, "ffeeddccbbaa99887766554433221100", ""};
    struct section *planted;
    char *owner, *path = store_run_lock_path(SPACE, set);
    assert_int_equal(file_lock_take(path, 0, lock), S_OK);
    memory_free(path);
    assert_int_equal(
        section_open(
            &(struct shared){.name = "openpla-run-ffeeddccbbaa99887766554433221100", .create = true, .fresh = true},
            1 << 22, &planted),
        S_OK);
    assert_int_equal(section_owner(planted, &owner), S_OK);
    text_fit(host.owner, sizeof host.owner, owner);
    memory_free(owner);
    host.process_start = process_start_time(host.process_id);
    assert_int_equal(store_save_host(SPACE, set, &host), S_OK);
    memset(section_memory(planted), 0xFF, 1 << 20); /* a set host process would never write this state */
    return planted;
}

/* If a process does not stop, Stop terminates it, and if it does not reply, the supervisor does. Both may only
   terminate a set host process. */
static void only_a_host_process_is_terminated(void **state)
{
    (void)state;
    char *root = fixture_folder("image");
    struct process *innocent = start_innocent();
    struct file_lock *lock;
    struct run_state s;
    fixture_commit("image", root, "", CSV_EACH_SECOND ONE_COUNTER);
    struct section *planted = plant_run("image", innocent, &lock);
    assert_int_equal(run_query(SPACE, "image", &s), S_OK);
    assert_int_equal(s.phase, PHASE_RUNNING);
    assert_int_equal(run_end_host(SPACE, "image", &s), E_ACCESSDENIED);
    still_lives(innocent);
    limit_waits("1");
    HRESULT hr = run_stop(SPACE, "image", true);
    limit_waits("");
    assert_int_equal(hr, E_ACCESSDENIED);
    assert_non_null(strstr(error_text(hr), "test_run_planted"));
    assert_non_null(strstr(error_text(hr), "not a set host"));
    file_lock_release(lock); /* without the lock, the run does not exist */
    starts_and_stops("image");
    section_close(planted);
    end_innocent(innocent);
    memory_free(root);
}

/* Another process may write any time into the section. Stop must not report immediately that the data manager is
   working, because this would hide that the set does not stop. */
static void planted_time_does_not_end_a_wait(void **state)
{
    const struct run_state compiling = {.phase = PHASE_COMPILING, .phase_since = 1};
    struct run_section *section;
    struct file_lock *lock;
    (void)state;
    char *root = fixture_folder("since");
    struct process *innocent = start_innocent();
    fixture_commit("since", root, "", CSV_EACH_SECOND ONE_COUNTER);
    struct section *planted = plant_run("since", innocent, &lock);
    memset(section_memory(planted), 0, 1 << 20);
    assert_int_equal(run_section_open(SPACE, "since", &section), S_OK);
    run_section_publish(section, &compiling);
    limit_waits("2");
    const uint64_t began = clock_monotonic_ms();
    HRESULT hr = run_stop(SPACE, "since", true);
    limit_waits("");
    assert_int_equal(hr, PLA_E_REPORT_WAIT_TIMEOUT);
    assert_true(clock_monotonic_ms() - began >= 2000);
    run_section_close(section);
    file_lock_release(lock);
    section_close(planted);
    end_innocent(innocent);
    memory_free(root);
}

/* The process that requests a stop also writes the reason. "All schedules have expired" may be in the record only if
   the set requests a stop in this case. */
static void impossible_stop_reason_is_not_recorded(void **state)
{
    static const char schedule[] =
        "<Schedule><StartDate>1/1/2020</StartDate><EndDate>1/2/2020</EndDate><Days>127</Days></Schedule>";
    static const char asks[] = "<Value name=\"OpenPLA.StopAtExpiry\">yes</Value>";
    (void)state;
    char *root = fixture_folder("reason");
    for (int expires = 0; expires < 2; expires++) {
        struct run_section *section;
        char *xml = text_format("%s%s", schedule, expires ? asks : "");
        fixture_commit("reason", root, xml, CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
        memory_free(xml);
        assert_int_equal(run_start(SPACE, "reason", true), S_OK);
        assert_int_equal(run_section_open(SPACE, "reason", &section), S_OK);
        assert_int_equal(run_section_request_stop(section, STOP_EXPIRED), S_OK);
        for (int i = 0; i < 3000 && run_section_alive(section); i++)
            fixture_sleep(20);
        assert_false(run_section_alive(section));
        run_section_close(section);
        struct run_record record = fixture_record("reason");
        assert_non_null(
            strstr(record.last_message, expires ? "all its schedules have expired" : "because it was stopped"));
        run_record_free(&record);
    }
    memory_free(root);
}

/* If a section with the name of a run belongs to another user, it must not be used. */
static void section_of_another_account_is_ignored(void **state)
{
    (void)state;
    char *root = fixture_folder("owner");
    struct process *innocent = start_innocent();
    struct file_lock *lock;
    struct run_host host;
    struct run_state s;
    fixture_commit("owner", root, "", CSV_EACH_SECOND ONE_COUNTER);
    struct section *planted = plant_run("owner", innocent, &lock);
    assert_int_equal(store_load_host(SPACE, "owner", &host), S_OK);
    text_fit(host.owner, sizeof host.owner, "S-1-5-21-1-2-3-4");
    assert_int_equal(store_save_host(SPACE, "owner", &host), S_OK);
#ifdef _WIN32
    assert_int_equal(run_query(SPACE, "owner", &s), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "S-1-5-21-1-2-3-4"));
#else
    assert_int_equal(run_query(SPACE, "owner", &s), S_OK); /* only sections of this account are opened */
#endif
    file_lock_release(lock);
    starts_and_stops("owner");
    section_close(planted);
    end_innocent(innocent);
    memory_free(root);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_section_does_not_block),         cmocka_unit_test(planted_signal_does_not_block),
        cmocka_unit_test(reused_process_id_is_not_a_run),         cmocka_unit_test(only_a_host_process_is_terminated),
        cmocka_unit_test(section_of_another_account_is_ignored),  cmocka_unit_test(planted_time_does_not_end_a_wait),
        cmocka_unit_test(impossible_stop_reason_is_not_recorded),
    };
    child_program = argv[0];
    for (int i = 0; argc > 1 && i < PATIENCE_MS / 1000; i++) /* "stay" */
        child_sleep(1000);
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
