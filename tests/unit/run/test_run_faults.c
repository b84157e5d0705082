/* SPDX-License-Identifier: MIT */
/* Runs during which an operation on a file or an allocation fails. Each call fails in turn, in the set host process and
   in processes that start or stop a set. An error here would leave a set that only appears to run, a failed start
   without a reason, an incomplete log line, or a set that can never be started again. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/journal.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/sets.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <string.h>

#define FAULT    HRESULT_FROM_WIN32(1117) /* ERROR_IO_DEVICE, which only the simulated faults return */
#define FULL     HRESULT_FROM_WIN32(ERROR_DISK_FULL)
#define ONE_SHOT "<StopOnCompletion>-1</StopOnCompletion>"
#define NUMBERED CSV_EACH_SECOND "<FileNameFormat>512</FileNameFormat>"

/* The call that fails in this thread: a file operation or, if `memory`, an allocation. */
struct fault {
    bool memory;
    struct file_faults files;
};
static const struct fault kinds[] = {{.files = {.kind = FAULT_ONCE, .hr = FAULT}}, {.memory = true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void arm(struct fault *f, uint64_t n)
{
    f->files.at = f->memory ? 0 : n;
    file_faults_begin(&f->files);
    memory_fail_at(f->memory ? n : 0);
}

/* Returns the number of the next call to fail. File operations fail in turn. So do the first 64 allocations; after
   them, the steps grow. */
static uint64_t next(const struct fault *f, uint64_t n)
{
    return n + (f->memory ? 1 + n / 64 : 1);
}

/* Ends the simulation. Returns how many calls there were. */
static uint64_t disarm(struct fault *f)
{
    const uint64_t calls = f->memory ? memory_count() : f->files.count;
    memory_fail_at(0);
    file_faults_end();
    return calls;
}

static const char *name_of(const struct fault *f)
{
    return f->memory ? "allocations" : "operations on files";
}

/* Asserts that a failed call returned the simulated error. */
static void assert_is_the_fault(const struct fault *f, HRESULT hr, const char *what, uint64_t n)
{
    if (SUCCEEDED(hr))
        return;
    if (hr != (f->memory ? E_OUTOFMEMORY : FAULT))
        fail_msg("%s, %s %u: 0x%08X %s", what, name_of(f), (unsigned)n, (unsigned)hr, error_text(hr));
    if (!f->memory && !strchr(error_text(hr), '\''))
        fail_msg("%s, operation %u (%d): names no file: %s", what, (unsigned)n, f->files.operation, error_text(hr));
}

static struct run_record record_of(const char *name)
{
    struct run_record record = {0};
    assert_int_equal(store_load_run(SPACE, name, &record), S_OK);
    return record;
}

/* Asserts that each log in the folder has only complete lines. */
static void assert_complete_logs(const char *root)
{
    struct texts names = {0};
    assert_int_equal(folder_list(root, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        char *path = path_join(root, names.items[i]), *text = NULL;
        size_t size = 0;
        assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
        if (size && text[size - 1] != '\n')
            fail_msg("%s is incomplete: %s", names.items[i], text);
        assert_int_equal(file_delete(path), S_OK);
        memory_free(text);
        memory_free(path);
    }
    texts_free(&names);
}

static void assert_nothing_torn(const char *name)
{
    char *path = store_definition_path(SPACE, name), *place = path_folder(path);
    struct texts names = {0};
    assert_int_equal(folder_list(place, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        assert_false(text_matches("*.tmp", names.items[i]));
    texts_free(&names);
    memory_free(place);
    memory_free(path);
}

/* ---- the host process ---- */

static struct process *ended; /* an exited process, which stands for the set host process */

/* Runs the set in this thread, like a set host process. *reported is the result that the starter gets. */
static HRESULT host_here(const char *name, struct fault *f, uint64_t n, uint64_t *calls, HRESULT *reported)
{
    char key[SHARED_KEY_DIGITS + 1];
    struct start_report *report = NULL;
    assert_int_equal(shared_new_key(key), S_OK);
    assert_int_equal(start_report_create(key, NULL, &report), S_OK);
    arm(f, n);
    const HRESULT hr = run_host_main(SPACE, name, key, NULL);
    *calls = disarm(f);
    *reported = start_report_wait(report, ended, false, 0);
    start_report_close(report);
    return hr;
}

/* Asserts that the reason for a failed run was returned to the starter or is in the record or the journal. */
static void assert_reported(const struct fault *f, HRESULT hr, HRESULT reported, const struct run_record *record,
                            uint64_t n)
{
    if (FAILED(hr) && reported != hr && record->last_result != hr && !fixture_events(1006, "host"))
        fail_msg("%s %u: the host failed with 0x%08X, without a report", name_of(f), (unsigned)n, (unsigned)hr);
}

static void each_call_of_a_host_fails(void **state)
{
    (void)state;
    char *root = fixture_folder("host");
    fixture_commit("host", root, ONE_SHOT, NUMBERED ONE_COUNTER);
    for (size_t kind = 0; kind < KINDS; kind++) {
        uint64_t n = 1, failed = 0, calls = 0;
        uint32_t serial = 0;
        for (bool met = true; met; n = next(&kinds[kind], n)) {
            struct fault f = kinds[kind], none = kinds[0];
            struct run_state run;
            uint64_t of_next;
            HRESULT reported, again;
            const HRESULT hr = host_here("host", &f, n, &calls, &reported);
            met = calls >= n;
            if (reported != OPENPLA_E_HOST_DIED) /* otherwise the run could not report its result */
                assert_is_the_fault(&f, reported, "host", n);
            assert_is_the_fault(&f, hr, "host", n);
            failed += FAILED(hr);
            struct run_record record = record_of("host");
            assert_reported(&f, hr, reported, &record, n);
            assert_false(record.running);
            if (record.known && hr != S_OK)
                assert_true(record.serial_number >= serial);
            serial = record.serial_number;
            run_record_free(&record);
            assert_int_equal(run_query(SPACE, "host", &run), S_OK);
            assert_int_equal(run.status, RUN_STOPPED);
            assert_complete_logs(root);
            assert_nothing_torn("host");
            /* The lock, the serial number and the files of this run must not prevent the next one. */
            if (FAILED(hr) && n % (f.memory ? 16 : 1) == 0) {
                again = host_here("host", &none, 0, &of_next, &reported);
                if (again != S_OK || reported != S_OK)
                    fail_msg("%s %u: then 0x%08X %s", name_of(&f), (unsigned)n, (unsigned)again, error_text(again));
                assert_complete_logs(root);
            }
        }
        assert_true(failed > 5);
        print_message("a run: %u %s, one failed in turn, %u times the run with it\n", (unsigned)calls,
                      name_of(&kinds[kind]), (unsigned)failed);
    }
    memory_free(root);
}

/* ---- faults in the process that starts, stops, flushes or changes a set ---- */

static HRESULT start(void)
{
    return run_start_for("PC\\fred", SPACE, "asked", true);
}

static HRESULT stop(void)
{
    return run_stop(SPACE, "asked", true);
}

static HRESULT flush(void)
{
    return run_flush(SPACE, "asked");
}

static unsigned version;

/* Applies a new definition, a different one each time. */
static HRESULT update(void)
{
    struct object *set = NULL, *issues = NULL;
    char description[16];
    HRESULT hr = sets_create(NULL, &set);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_query(set, &caller_self, "asked", "");
    snprintf(description, sizeof description, "v%u", ++version);
    if (SUCCEEDED(hr))
        hr = object_put_text(set, class_property(set->class, "Description"), description);
    if (SUCCEEDED(hr))
        hr = set_commit(set, &caller_self, "asked", "", SETS_MODIFY | SETS_UPDATE_RUNNING, issues);
    object_release(issues);
    object_release(set);
    return hr;
}

static bool runs(void)
{
    struct run_state s;
    assert_int_equal(run_query(SPACE, "asked", &s), S_OK);
    return s.status != RUN_STOPPED;
}

static void be(bool running)
{
    if (running && !runs())
        assert_int_equal(start(), S_OK);
    else if (!running && runs())
        assert_int_equal(stop(), S_OK);
}

/* Returns whether the stored definition is complete and has this version. */
static bool is_stored(unsigned v)
{
    char *xml, text[48];
    size_t size;
    assert_int_equal(store_load(&caller_self, SPACE, "asked", &xml, &size), S_OK);
    snprintf(text, sizeof text, "<Description>v%u</Description>", v);
    const bool is = strstr(xml, text) && strstr(xml, "</DataCollectorSet>");
    memory_free(xml);
    return is;
}

static void each_call_of_a_client_fails(void **state)
{
    static const struct {
        const char *name;
        HRESULT (*act)(void);
        bool before; /* whether the set must run before the call */
    } acts[] = {{"start", start, false}, {"flush", flush, true}, {"update", update, true}, {"stop", stop, true}};
    (void)state;
    char *root = fixture_folder("asked");
    fixture_commit("asked", root, "", NUMBERED ONE_COUNTER);
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
            uint64_t n = 1, failed = 0, calls = 0;
            be(true);
            assert_int_equal(update(), S_OK);
            for (bool met = true; met; n = next(&kinds[kind], n)) {
                struct fault f = kinds[kind];
                be(acts[i].before);
                const unsigned before = version;
                arm(&f, n);
                const HRESULT hr = acts[i].act();
                calls = disarm(&f);
                met = calls >= n;
                assert_is_the_fault(&f, hr, acts[i].name, n);
                failed += FAILED(hr);
                if (FAILED(hr) && acts[i].act == start && runs())
                    fail_msg("start, %s %u: failed, and the set runs", name_of(&f), (unsigned)n);
                if (acts[i].act == flush || acts[i].act == update)
                    assert_true(runs());
                /* If a folder cannot be flushed, the error is reported, but the new definition is stored (DECISIONS
                   70). */
                const bool taken = SUCCEEDED(hr) || (f.files.met && f.files.operation == FILE_OPERATION_FLUSH_FOLDER);
                if (acts[i].act == update && !is_stored(taken ? version : before))
                    fail_msg("update, %s %u: 0x%08X, and the definition is another one", name_of(&f), (unsigned)n,
                             (unsigned)hr);
                if (acts[i].act == update && !taken)
                    version = before;
            }
            print_message("%s: %u %s, one failed in turn, %u times all of it\n", acts[i].name, (unsigned)calls,
                          name_of(&kinds[kind]), (unsigned)failed);
        }
    be(false);
    memory_free(root);
}

/* ---- the journal ---- */

/* An event must be written completely or not at all, its writer must get the result, and it must be possible to read
   later events. */
static void each_operation_of_the_journal_fails(void **state)
{
    static const struct {
        int kind;
        HRESULT hr;
    } faults[] = {{FAULT_ONCE, FAULT}, {FAULT_LASTING, FAULT}, {FAULT_FULL, FULL}};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        uint64_t n = 1;
        for (bool met = true; met; n++) {
            struct file_faults f = {.at = n, .kind = faults[i].kind, .hr = FAULT};
            char name[32], next[32];
            snprintf(name, sizeof name, "j%d-%u", faults[i].kind, (unsigned)n);
            snprintf(next, sizeof next, "then%d-%u", faults[i].kind, (unsigned)n);
            file_faults_begin(&f);
            const HRESULT hr = journal_write(JOURNAL_SEGMENTED, &(struct journal_facts){.space = SPACE, .name = name});
            file_faults_end();
            met = f.count >= n;
            if (FAILED(hr) && hr != faults[i].hr)
                fail_msg("operation %u: 0x%08X %s", (unsigned)n, (unsigned)hr, error_text(hr));
            assert_int_equal(fixture_events(JOURNAL_SEGMENTED, name), SUCCEEDED(hr));
            assert_int_equal(journal_write(JOURNAL_SEGMENTED, &(struct journal_facts){.space = SPACE, .name = next}),
                             S_OK);
            assert_int_equal(fixture_events(JOURNAL_SEGMENTED, next), 1);
        }
        assert_true(n > 3);
        print_message("journal: %u operations, kind %d\n", (unsigned)n - 2, faults[i].kind);
    }
}

static int setup(void **state)
{
    if (fixture_setup(state))
        return -1;
    char *program = NULL;
    scratch_environment("OPENPLA_QUOTAS", "events=100000;burst=1000000");
    program = os_expand_environment("%OPENPLA_HOST%");
    const char *arguments[] = {"hang", "no such file", ""};
    HRESULT hr = process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 3}, &ended);
    if (SUCCEEDED(hr))
        hr = process_wait(ended, PATIENCE_MS, NULL);
    memory_free(program);
    return hr == S_OK ? 0 : -1;
}

static int teardown(void **state)
{
    process_close(ended);
    return fixture_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_of_a_host_fails),
        cmocka_unit_test(each_call_of_a_client_fails),
        cmocka_unit_test(each_operation_of_the_journal_fails),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
