/* SPDX-License-Identifier: MIT */
/* Requests during a run: a new definition, a flush, or a stop at any time. Also tests the checks before a run, and what
   is known about it when it has ended. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/sets.h"
#include "engine/pla/settings.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

/* Returns an object for the set, in the state after Query. */
static struct object *queried(const char *name)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, NULL), S_OK);
    return set;
}

static HRESULT commit(struct object *set, const char *name, uint32_t mode)
{
    struct object *issues;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    HRESULT hr = set_commit(set, &caller_self, name, NULL, mode, issues);
    object_release(issues);
    return hr;
}

static void put_u32(struct object *o, const char *name, uint32_t n)
{
    struct value v = {.kind = PROPERTY_U32, .u32 = n};
    assert_int_equal(object_put(o, class_property(o->class, name), &v), S_OK);
}

static void put_counters(struct object *set, const char *counter)
{
    struct object *collector;
    struct value v = {.kind = PROPERTY_TEXTS};
    assert_int_equal(collection_item(((struct data_collector_set *)set)->DataCollectors, 0, &collector), S_OK);
    assert_int_equal(texts_add(&v.texts, counter), S_OK);
    assert_int_equal(object_put(collector, class_property(collector->class, "PerformanceCounters"), &v), S_OK);
    value_free(&v);
    object_release(collector);
}

static char *value_of(struct object *set, const char *key)
{
    char *value;
    assert_int_equal(sets_get_value(set, &caller_self, key, &value), S_OK);
    return value;
}

/* Returns the time of a sample in a CSV log, in seconds since midnight. The log contains "MM/dd/yyyy HH:mm:ss.fff". */
static double sample_time(const char *text, size_t line)
{
    int h, m;
    double s;
    for (; line; line--) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    assert_int_equal(sscanf(text, "\"%*d/%*d/%*d %d:%d:%lf", &h, &m, &s), 3);
    return h * 3600 + m * 60 + s;
}

/* A new limit must be applied to the current run, in the same log. */
static void running_set_applies_a_new_limit(void **state)
{
    (void)state;
    char *root = fixture_folder("limit");
    fixture_commit("limit", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "limit", true), S_OK);
    struct object *set = queried("limit");
    put_u32(set, "Duration", 3);
    assert_int_equal(commit(set, "limit", SETS_MODIFY), PLA_E_DCS_IN_USE);
    assert_int_equal(commit(set, "limit", SETS_MODIFY | SETS_UPDATE_RUNNING), S_OK);
    fixture_await("limit", RUN_STOPPED, PATIENCE_MS);
    assert_int_equal(fixture_lines(root, "c.csv") - 1 + fixture_late("limit"), 3); /* all samples are in one file */
    struct run_record record = fixture_record("limit");
    assert_int_equal(record.serial_number, 2);
    run_record_free(&record);
    assert_int_equal(fixture_events(1001, "limit"), 1);
    assert_int_equal(fixture_events(9005, "limit"), 1);
    assert_int_equal(fixture_events(1003, "limit"), 1);
    fixture_await_event(1005, "limit");
    assert_string_equal(fixture_reason, "the run ended because its Duration has passed");
    object_release(set);
    memory_free(root);
}

/* If the counters change, a new file is needed. Between the two files, no sample may be lost or taken twice. */
static void running_set_applies_new_counters_without_a_gap(void **state)
{
    (void)state;
    char *root = fixture_folder("counters");
    fixture_commit("counters", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "counters", true), S_OK);
    fixture_progress("counters", 1, 2);
    struct object *set = queried("counters");
    put_counters(set, "\\Memory\\Available Bytes");
    assert_int_equal(commit(set, "counters", SETS_CREATE_NEW | SETS_MODIFY | SETS_UPDATE_RUNNING), S_OK);
    struct run_state s = fixture_await("counters", RUN_RUNNING, 100);
    assert_int_equal(s.serial_number, 2);
    fixture_progress("counters", 2, s.samples + 1);
    assert_int_equal(run_stop(SPACE, "counters", true), S_OK);
    size_t taken = fixture_lines(root, "c.csv") - 1;
    assert_true(taken >= 2 && fixture_lines(root, "c_000002.csv") >= 2);
    char *old = fixture_read(root, "c.csv"), *fresh = fixture_read(root, "c_000002.csv");
    assert_non_null(strstr(old, "\\System\\Processes\""));
    assert_non_null(strstr(fresh, "\\Memory\\Available Bytes\""));
    /* The times of samples must not shift: the first sample in the new file is one second after the last one in the old
       file. A sample may be late; if it is late by a second, the run reports this. */
    double gap = sample_time(fresh, 1) - sample_time(old, taken);
    if (gap < 0)
        gap += 86400; /* midnight */
    double late = (double)fixture_late("counters");
    assert_true(gap > 0 && gap < 2 + late);
    struct run_record record = fixture_record("counters");
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    memory_free(old);
    memory_free(fresh);
    object_release(set);
    memory_free(root);
}

/* If a new definition cannot run, the current run must continue, and the definition must not be stored. */
static void rejected_update_changes_nothing(void **state)
{
    (void)state;
    static const char *const overwrite[] = {"", "<LogOverwrite>-1</LogOverwrite>"};
    char *root = fixture_folder("refused"), *missing = path_join(root, "no such folder");
    const HRESULT not_found = HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    for (int i = 0; i < 2; i++) { /* opens the new collector before or after the old one is closed */
        char *collector =
            text_format(CSV_EACH_SECOND "%s<FileNameFormat>512</FileNameFormat>" ONE_COUNTER, overwrite[i]);
        fixture_commit("refused", root, "", collector);
        memory_free(collector);
        assert_int_equal(run_start(SPACE, "refused", true), S_OK);
        struct run_state before = fixture_await("refused", RUN_RUNNING, 100);
        struct object *set = queried("refused");
        assert_int_equal(object_put_text(set, class_property(set->class, "RootPath"), missing), S_OK);
        assert_int_equal(commit(set, "refused", SETS_MODIFY | SETS_UPDATE_RUNNING), not_found);
        assert_non_null(strstr(error_text(not_found), "no such folder"));
        struct run_state after = fixture_await("refused", RUN_RUNNING, 100);
        assert_int_equal(after.process_id, before.process_id);
        struct object *stored = queried("refused");
        assert_string_equal(((struct data_collector_set *)stored)->RootPath, root);
        object_release(stored);
        object_release(set);
        fixture_progress("refused", 1, after.samples + 1); /* the run continues */
        assert_int_equal(run_stop(SPACE, "refused", true), S_OK);
        struct run_record record = fixture_record("refused");
        assert_int_equal(record.last_result, S_OK);
        run_record_free(&record);
    }
    memory_free(missing);
    memory_free(root);
}

/* Tests Commit with plaUpdateRunningInstance, plaFlushTrace and plaValidateOnly for sets that do not run. */
static void commit_modes_of_stopped_sets(void **state)
{
    (void)state;
    char *root = fixture_folder("modes");
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(object_put_text(set, class_property(set->class, "RootPath"), root), S_OK);
    assert_int_equal(commit(set, "modes", SETS_FLUSH_TRACE), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(commit(set, "modes", SETS_VALIDATE_ONLY | SETS_CREATE_NEW), S_OK);
    assert_int_equal(set_start(set, &caller_self, true), E_INVALIDARG); /* the object is not bound */
    assert_int_equal(commit(set, "modes", SETS_CREATE_NEW | SETS_UPDATE_RUNNING | SETS_FLUSH_TRACE), S_OK);
    assert_int_equal(commit(set, "modes", SETS_FLUSH_TRACE), S_OK);
    assert_int_equal(run_update(SPACE, "modes"), S_FALSE);
    assert_int_equal(run_flush(SPACE, "modes"), S_FALSE);
    assert_int_equal(set_start(set, &caller_self, true), S_OK);
    put_u32(set, "Duration", 7);
    assert_int_equal(commit(set, "modes", SETS_VALIDATE_ONLY | SETS_MODIFY), S_OK); /* the set runs now */
    assert_int_equal(commit(set, "modes", SETS_FLUSH_TRACE), S_OK);
    struct object *stored = queried("modes");
    assert_int_equal(((struct data_collector_set *)stored)->Duration, 0); /* both modes stored nothing */
    object_release(stored);
    assert_int_equal(set_stop(set, &caller_self, true), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    assert_int_equal(fixture_events(1000, "modes"), 1);
    assert_int_equal(fixture_events(1002, "modes"), 1);
    object_release(set);
    memory_free(root);
}

/* The samples of a binary log are in memory until a buffer is full. plaFlushTrace must write them to the file while the
   set runs. */
static void flush_writes_the_samples_to_the_file(void **state)
{
    (void)state;
    char *root = fixture_folder("flush"), *path = path_join(root, "c.blg"), *data;
    fixture_commit("flush", root, "", "<SampleInterval>1</SampleInterval>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "flush", true), S_OK);
    struct object *set = queried("flush");
    /* If plaModify is also requested, the definition is used for the next run, and the current run continues. */
    static const uint32_t modes[] = {SETS_FLUSH_TRACE, SETS_MODIFY | SETS_FLUSH_TRACE,
                                     SETS_CREATE_NEW | SETS_MODIFY | SETS_FLUSH_TRACE};
    put_u32(set, "Duration", 1);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        uint64_t taken = fixture_progress("flush", 1, (uint32_t)(3 * m + 2)).samples;
        assert_int_equal(commit(set, "flush", modes[m]), S_OK);
        size_t size, samples = 0;
        assert_int_equal(file_load(path, 1 << 24, &data, &size), S_OK);
        for (size_t i = 0; i + 4 <= size; i++)
            samples += memcmp(data + i, "BL\3", 4) == 0; /* counts the headers of sample records */
        assert_true(samples >= taken);
        memory_free(data);
        struct object *stored = queried("flush");
        assert_int_equal(((struct data_collector_set *)stored)->Duration, modes[m] & SETS_MODIFY ? 1 : 0);
        object_release(stored);
    }
    assert_int_equal(fixture_events(9005, "flush"), 0); /* the run has not applied the definition */
    assert_int_equal(run_stop(SPACE, "flush", true), S_OK);
    object_release(set);
    memory_free(path);
    memory_free(root);
}

/* If a script starts a set and stops it immediately, the set must not continue to run. */
static void stop_right_after_an_asynchronous_start(void **state)
{
    (void)state;
    char *root = fixture_folder("at once");
    fixture_commit("at once", root, "", CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(run_start(SPACE, "at once", false), S_OK);
        assert_int_equal(run_start(SPACE, "at once", false), PLA_E_DCS_IN_USE);
        assert_int_equal(run_stop(SPACE, "at once", true), S_OK);
        assert_int_equal(run_stop(SPACE, "at once", true), PLA_E_DCS_NOT_RUNNING);
    }
    struct run_record record = fixture_record("at once");
    assert_int_equal(record.serial_number, 6);
    assert_false(record.running);
    run_record_free(&record);
    memory_free(root);
}

/* A script that did not wait for the start must be able to get the reason why there is no log. */
static void failed_asynchronous_start_is_recorded(void **state)
{
    (void)state;
    char *root = fixture_folder("why"), *value;
    fixture_commit("why", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "why", true), S_OK);
    assert_int_equal(run_stop(SPACE, "why", true), S_OK);
    struct object *set = queried("why");
    HRESULT hr = set_start(set, &caller_self, false); /* fails because the file exists */
    assert_true(hr == S_OK || hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    for (int i = 0; i < 3000; i++) {
        value = value_of(set, SETTING_KEY(LastRunResult));
        if (!strcmp(value, "0x800700B7"))
            break;
        memory_free(value);
        value = NULL;
        fixture_sleep(20);
    }
    assert_non_null(value);
    memory_free(value);
    value = value_of(set, SETTING_KEY(LastRunMessage));
    assert_non_null(strstr(value, "c.csv"));
    memory_free(value);
    fixture_await_event(1004, "why");
    assert_non_null(strstr(fixture_reason, "c.csv"));
    object_release(set);
    memory_free(root);
}

/* A run that was interrupted must not look like a run that ended normally. */
static void killed_host_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("died"), *value;
    fixture_commit("died", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "died", true), S_OK);
    struct run_state s = fixture_await("died", RUN_RUNNING, 100);
    struct object *set = queried("died");
    value = value_of(set, SETTING_KEY(LastRunResult));
    assert_string_equal(value, "0x00000000");
    memory_free(value);
    fixture_kill(s.process_id);
    fixture_await("died", RUN_STOPPED, PATIENCE_MS);
    value = value_of(set, SETTING_KEY(LastRunResult));
    assert_string_equal(value, "0xA0300003");
    memory_free(value);
    value = value_of(set, SETTING_KEY(LastRunMessage));
    assert_non_null(strstr(value, "host process died"));
    memory_free(value);
    struct run_record record = fixture_record("died");
    assert_true(record.running);
    run_record_free(&record);
    object_release(set);
    memory_free(root);
}

/* Another program may have the store's lock when a run ends normally. The run must not look as if it was interrupted:
   this would be reported as an error, and the set might be started again. */
static void end_of_a_run_is_recorded_later_if_locked(void **state)
{
    (void)state;
    char *root = fixture_folder("noted"), *folder = store_folder(SPACE), *path = path_join(folder, "store.lock");
    struct file_lock *lock;
    fixture_commit("noted", root, "", CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "noted", true), S_OK);
    assert_int_equal(file_lock_take(path, PATIENCE_MS, &lock), S_OK);
    assert_int_equal(run_stop(SPACE, "noted", false), S_OK);
    fixture_await_event(9006, "noted"); /* the run could not write its record and waits */
    assert_non_null(strstr(fixture_reason, "retrying"));
    struct run_state s;
    assert_int_equal(run_query(SPACE, "noted", &s), S_OK);
    assert_int_equal(s.phase, PHASE_STOPPING);
    file_lock_release(lock);
    fixture_await("noted", RUN_STOPPED, PATIENCE_MS);
    struct run_record record = fixture_record("noted");
    assert_false(record.running);
    assert_int_equal(record.last_result, S_OK);
    run_record_free(&record);
    memory_free(path);
    memory_free(folder);
    memory_free(root);
}

/* A client may wait for the end of a run, or terminate its set host process. This must not affect a newer run that
   another user has started. */
static void client_of_one_run_does_not_affect_the_next(void **state)
{
    (void)state;
    char *root = fixture_folder("next");
    struct run_section *client;
    fixture_commit("next", root, "", CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>" ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "next", true), S_OK);
    struct run_state first = fixture_await("next", RUN_RUNNING, 100), second;
    assert_int_equal(run_section_open(SPACE, "next", &client), S_OK);
    assert_true(run_section_alive(client));
    assert_int_equal(run_stop(SPACE, "next", true), S_OK);
    assert_int_equal(run_start(SPACE, "next", true), S_OK);
    assert_false(run_section_alive(client));
    assert_false(run_section_read(client, &second));
    assert_int_equal(run_section_end_host(client, SPACE, "next"), S_FALSE);
    assert_int_equal(run_end_host(SPACE, "next", &first), S_FALSE);
    second = fixture_await("next", RUN_RUNNING, 100);
    run_section_close(client);
    assert_int_equal(run_end_host(SPACE, "next", &second), S_OK);
    fixture_await("next", RUN_STOPPED, PATIENCE_MS);
    memory_free(root);
}

/* With CheckBeforeRunning, a start must fail if the disk is full or there are too many folders (MS-PLA 3.2.4.2). */
static void resources_are_checked_before_a_run(void **state)
{
    (void)state;
    char *root = fixture_folder("resources"), *one = path_join(root, "one");
    static const char set[] = "<Subdirectory>s</Subdirectory><SubdirectoryFormat>512</SubdirectoryFormat>"
                              "<DataManager><Enabled>%d</Enabled><CheckBeforeRunning>%d</CheckBeforeRunning>"
                              "<MinFreeDisk>%u</MinFreeDisk><MaxFolderCount>%u</MaxFolderCount></DataManager>";
    static const struct {
        int enabled, checks;
        unsigned disk, folders;
        HRESULT hr;
        const char *text;
    } cases[] = {
        {-1, -1, 4294967295u, 0, PLA_E_NO_MIN_DISK, "MinFreeDisk"},
        {-1, -1, 1, 1, PLA_E_TOO_MANY_FOLDERS, "MaxFolderCount"},
        {0, -1, 4294967295u, 1, S_OK, NULL}, /* without Enabled, the other settings are ignored */
        {-1, 0, 4294967295u, 1, S_OK, NULL},
        {-1, -1, 1, 4, S_OK, NULL},
        {-1, -1, 0, 0, S_OK, NULL},
    };
    assert_int_equal(folder_create(one), S_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        char *xml = text_format(set, cases[i].enabled, cases[i].checks, cases[i].disk, cases[i].folders);
#pragma GCC diagnostic pop
        fixture_commit("resources", root, xml, CSV_EACH_SECOND ONE_COUNTER);
        memory_free(xml);
        HRESULT hr = run_start(SPACE, "resources", true);
        if (hr != cases[i].hr)
            fail_msg("case %u: 0x%08X %s", (unsigned)i, (unsigned)hr, error_text(hr));
        if (cases[i].text) {
            assert_non_null(strstr(error_text(hr), cases[i].text));
            assert_non_null(strstr(error_text(hr), "resources"));
        } else {
            assert_int_equal(run_stop(SPACE, "resources", true), S_OK);
        }
    }
    memory_free(one);
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_set_applies_a_new_limit),
        cmocka_unit_test(running_set_applies_new_counters_without_a_gap),
        cmocka_unit_test(rejected_update_changes_nothing),
        cmocka_unit_test(commit_modes_of_stopped_sets),
        cmocka_unit_test(flush_writes_the_samples_to_the_file),
        cmocka_unit_test(stop_right_after_an_asynchronous_start),
        cmocka_unit_test(failed_asynchronous_start_is_recorded),
        cmocka_unit_test(killed_host_is_reported),
        cmocka_unit_test(end_of_a_run_is_recorded_later_if_locked),
        cmocka_unit_test(client_of_one_run_does_not_affect_the_next),
        cmocka_unit_test(resources_are_checked_before_a_run),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
