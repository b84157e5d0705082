/* SPDX-License-Identifier: MIT */
/* Invalid calls of the library: each returns an error with a reason and never crashes. Threads: one handle serves one
   call at a time; different handles are independent. */
#include "engine/base/file.h"
#include "engine/base/thread.h"
#include "library/include/openpla/logs.h"
#include "tests/unit/scratch_folder.h"

#include <stdatomic.h>

#define T0 INT64_C(132590000000000000)
enum { SAMPLES = 300 };

static char *folder, *blg;
static const struct openpla_counter one = {.path = "\\\\BOX\\Memory\\Free", .type = 0x10000};

static void write_log(const char *path)
{
    openpla_writer *writer;
    assert_int_equal(openpla_writer_create(path, &one, 1, NULL, &writer), OPENPLA_OK);
    for (int64_t i = 0; i < SAMPLES; i++) {
        const struct openpla_value value = {.first = i, .multi_count = 1};
        assert_int_equal(openpla_writer_append(writer, T0 + i * 10000000, &value, 1), OPENPLA_OK);
    }
    assert_int_equal(openpla_writer_close(writer), OPENPLA_OK);
}

static int make_log(void **state)
{
    *state = folder = scratch_create("test_library_misuse");
    blg = path_join(folder, "a.blg");
    write_log(blg);
    return 0;
}

static int end_log(void **state)
{
    memory_free(blg);
    return scratch_end(state);
}

#define assert_reason(text) assert_non_null(strstr(openpla_error(), text))

static void errors_name_null_arguments(void **state)
{
    openpla_log *log;
    openpla_writer *writer;
    openpla_trace *trace;
    (void)state;
    assert_int_equal(openpla_log_open(NULL, NULL, &log), OPENPLA_E_ARGUMENT);
    assert_reason("openpla_log_open: 'path'");
    assert_null(log);
    assert_int_equal(openpla_log_open(blg, NULL, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_trace_open(NULL, NULL, &trace), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_trace_open(blg, NULL, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_create(NULL, &one, 1, NULL, &writer), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_create("x.blg", NULL, 1, NULL, &writer), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_create("x.blg", &one, 0, NULL, &writer), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_create("x.blg", &one, 1, NULL, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_open(blg, NULL, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_next(log, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_get_info(log, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_get_counter(log, 0, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_get_counter_count(log, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_get_warning(log, 0, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_read_table(log, 0, NULL), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    openpla_table_free(NULL);
}

/* Calls each function for this kind of handle. */
static void assert_invalid(openpla_log *log, openpla_writer *writer, openpla_trace *trace)
{
    const struct openpla_value value = {0};
    const struct openpla_log_info *info;
    const struct openpla_trace_info *trace_info;
    const struct openpla_counter *counter;
    const struct openpla_sample *sample;
    const struct openpla_event *event;
    struct openpla_table *table;
    const char *text;
    size_t count;
    assert_int_equal(openpla_log_get_info(log, &info), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_get_counter_count(log, &count), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_get_counter(log, 0, &counter), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_next(log, &sample), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_seek(log, 0), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_get_warning(log, 0, &text), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_log_read_table(log, 0, &table), OPENPLA_E_HANDLE);
    assert_null(table);
    assert_int_equal(openpla_log_close(log), OPENPLA_E_HANDLE);
    assert_reason("openpla_log_close: 'log'");
    assert_int_equal(openpla_writer_append(writer, 0, &value, 1), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_writer_flush(writer), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_writer_close(writer), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_trace_get_info(trace, &trace_info), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_trace_get_warning(trace, 0, &text), OPENPLA_E_HANDLE);
    assert_int_equal(openpla_trace_close(trace), OPENPLA_E_HANDLE);
}

static void closed_foreign_and_null_handles_are_errors(void **state)
{
    char *path = path_join(folder, "handles.csv");
    openpla_log *log;
    openpla_writer *writer;
    (void)state;
    assert_invalid(NULL, NULL, NULL);
    assert_invalid((void *)(uintptr_t)-1, (void *)(uintptr_t)0x10001, (void *)folder);
    assert_int_equal(openpla_log_open(blg, NULL, &log), OPENPLA_OK);
    assert_int_equal(openpla_writer_create(path, &one, 1, NULL, &writer), OPENPLA_OK);
    assert_invalid((void *)writer, (void *)log, (void *)log);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    assert_int_equal(openpla_writer_close(writer), OPENPLA_OK);
    assert_invalid(log, writer, NULL);
    /* The next handle reuses the slot of the closed one. */
    openpla_log *next;
    assert_int_equal(openpla_log_open(blg, NULL, &next), OPENPLA_OK);
    assert_invalid(log, writer, NULL);
    assert_int_equal(openpla_log_close(next), OPENPLA_OK);
    memory_free(path);
}

/* Options from a newer header must not be misinterpreted without an error. */
static void options_are_checked(void **state)
{
    static const char *const patterns[] = {"\\Memory\\*", "\xFF"};
    struct {
        struct openpla_log_options known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer}};
    struct openpla_log_options options = {.size = 3};
    struct openpla_writer_options to = {.size = sizeof to};
    openpla_log *log;
    openpla_writer *writer;
    (void)state;
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_E_ARGUMENT);
    assert_reason("size is 3");
    options = (struct openpla_log_options){.size = sizeof options, .flags = 0x100};
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_E_ARGUMENT);
    options = (struct openpla_log_options){.size = sizeof options, .counters = patterns, .counter_count = 2};
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_E_ARGUMENT);
    assert_reason("is not UTF-8");
    options = (struct openpla_log_options){.size = sizeof options, .begin = 2, .end = 1};
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_E_ARGUMENT);
    options = (struct openpla_log_options){.size = sizeof options, .counter_count = 1};
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_log_open(blg, &newer.known, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    newer.unknown = 1;
    assert_int_equal(openpla_log_open(blg, &newer.known, &log), OPENPLA_E_ARGUMENT);
    /* Options from an older header: the structure is shorter. */
    options = (struct openpla_log_options){.size = offsetof(struct openpla_log_options, begin), .begin = 2, .end = 1};
    assert_int_equal(openpla_log_open(blg, &options, &log), OPENPLA_OK);
    assert_int_equal(openpla_log_close(log), OPENPLA_OK);

    to.format = 77;
    assert_int_equal(openpla_writer_create("x.blg", &one, 1, &to, &writer), OPENPLA_E_ARGUMENT);
    to.format = OPENPLA_FORMAT_CSV;
    to.circular = true;
    assert_int_equal(openpla_writer_create("x.csv", &one, 1, &to, &writer), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_create("x.txt", &one, 1, NULL, &writer), OPENPLA_E_ARGUMENT);
    assert_reason("x.txt");
    assert_int_equal(openpla_writer_create("x.arrow", &one, 1, NULL, &writer), OPENPLA_E_ARGUMENT);
    assert_false(file_exists("x.csv") || file_exists("x.blg") || file_exists("x.txt") || file_exists("x.arrow"));
}

static void counters_that_cannot_be_written_are_named(void **state)
{
    static const char *const paths[] = {"\\Process(*)\\Handles", "Handles", "", "\\\\BOX"};
    openpla_writer *writer;
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct openpla_counter counter = {.path = paths[i]};
        assert_int_equal(openpla_writer_create("x.blg", &counter, 1, NULL, &writer), OPENPLA_E_ARGUMENT);
        assert_reason(paths[i]);
    }
    assert_false(file_exists("x.blg"));
}

static void values_are_checked(void **state)
{
    char *path = path_join(folder, "values.csv");
    const struct openpla_value values[2] = {{.text = "\xC0"}};
    openpla_writer *writer;
    (void)state;
    assert_int_equal(openpla_writer_create(path, &one, 1, NULL, &writer), OPENPLA_OK);
    assert_int_equal(openpla_writer_append(writer, T0, values, 2), OPENPLA_E_ARGUMENT);
    assert_reason("has 1 counters");
    assert_int_equal(openpla_writer_append(writer, T0, values, 1), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_append(writer, T0, NULL, 1), OPENPLA_E_ARGUMENT);
    assert_int_equal(openpla_writer_close(writer), OPENPLA_OK);
    memory_free(path);
}

static void files_that_cannot_be_opened_are_named(void **state)
{
    char *none = path_join(folder, "none.blg"), *letter = path_join(folder, "letter.txt");
    openpla_log *log;
    openpla_trace *trace;
    (void)state;
    assert_int_equal(file_store(letter, "Dear all", 8), S_OK);
    assert_int_equal(openpla_log_open(none, NULL, &log), OPENPLA_E_NO_FILE);
    assert_reason(none);
    assert_int_equal(openpla_trace_open(none, NULL, &trace), OPENPLA_E_NO_FILE);
    assert_reason(none);
    assert_int_equal(openpla_log_open(letter, NULL, &log), OPENPLA_E_INVALID);
    assert_reason(letter);
    assert_int_equal(openpla_trace_open(letter, NULL, &trace), OPENPLA_E_INVALID);
    assert_reason(letter);
    assert_int_equal(openpla_log_open("SQL:DSN=none;PWD=secret!set", NULL, &log) < 0, true);
    assert_null(strstr(openpla_error(), "secret"));
    memory_free(none);
    memory_free(letter);
}

/* ---- threads ---- */

struct reading {
    openpla_log *log; /* shared */
    const char *path; /* or separate */
    uint64_t samples, busy;
    bool failed;
    char error[200];
};

static void read_shared(void *user)
{
    struct reading *r = user;
    const struct openpla_sample *sample;
    openpla_result result;
    while ((result = openpla_log_next(r->log, &sample)) != OPENPLA_END) {
        r->samples += result == OPENPLA_OK;
        r->busy += result == OPENPLA_E_BUSY;
        r->failed |= result != OPENPLA_OK && result != OPENPLA_E_BUSY;
    }
}

static void wait_for(struct thread *thread)
{
    while (!thread_wait(thread, UINT32_MAX)) {
    }
    thread_close(thread);
}

/* Two threads in one handle must not corrupt it. */
static void handle_in_use_is_busy(void **state)
{
    enum { ROUNDS = 20 };
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct reading both[2] = {0};
        struct thread *threads[2];
        openpla_log *log;
        assert_int_equal(openpla_log_open(blg, NULL, &log), OPENPLA_OK);
        for (int k = 0; k < 2; k++) {
            both[k].log = log;
            assert_int_equal(thread_start(read_shared, &both[k], &threads[k]), S_OK);
        }
        for (int k = 0; k < 2; k++)
            wait_for(threads[k]);
        assert_false(both[0].failed || both[1].failed);
        assert_int_equal(both[0].samples + both[1].samples, SAMPLES);
        assert_int_equal(openpla_log_close(log), OPENPLA_OK);
    }
}

static void read_separate(void *user)
{
    struct reading *r = user;
    const struct openpla_sample *sample;
    openpla_log *log;
    r->failed = openpla_log_open("no such file.blg", NULL, &log) != OPENPLA_E_NO_FILE;
    for (int i = 0; i < 10 && !r->failed; i++) {
        r->failed = openpla_log_open(r->path, NULL, &log) != OPENPLA_OK;
        while (!r->failed && openpla_log_next(log, &sample) == OPENPLA_OK) {
            r->failed |= sample->values[0].first != (int64_t)(r->samples % SAMPLES);
            r->samples++;
        }
        r->failed |= openpla_log_close(log) != OPENPLA_OK;
    }
    snprintf(r->error, sizeof r->error, "%s", openpla_error());
}

/* Programs read many logs at the same time. Each thread gets the reason for its own failure. */
static void threads_read_different_handles(void **state)
{
    struct reading all[4] = {0};
    struct thread *threads[4];
    openpla_log *log;
    (void)state;
    assert_int_equal(openpla_log_open(NULL, NULL, &log), OPENPLA_E_ARGUMENT);
    for (int i = 0; i < 4; i++) {
        all[i].path = blg;
        assert_int_equal(thread_start(read_separate, &all[i], &threads[i]), S_OK);
    }
    for (int i = 0; i < 4; i++) {
        wait_for(threads[i]);
        assert_false(all[i].failed);
        assert_int_equal(all[i].samples, 10 * SAMPLES);
        assert_non_null(strstr(all[i].error, "no such file.blg"));
    }
    assert_reason("openpla_log_open: 'path'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_null_arguments), cmocka_unit_test(closed_foreign_and_null_handles_are_errors),
        cmocka_unit_test(options_are_checked),        cmocka_unit_test(counters_that_cannot_be_written_are_named),
        cmocka_unit_test(values_are_checked),         cmocka_unit_test(files_that_cannot_be_opened_are_named),
        cmocka_unit_test(handle_in_use_is_busy),      cmocka_unit_test(threads_read_different_handles),
    };
    return cmocka_run_group_tests(tests, make_log, end_log);
}
