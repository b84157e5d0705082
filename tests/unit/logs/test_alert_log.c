/* SPDX-License-Identifier: MIT */
/* The alert log: every alert is in the log, even after failures of the disk or the process. */
#include "engine/base/clock.h"
#include "engine/logs/alert_log.h"
#include "tests/unit/scratch_folder.h"
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

#define HEADER "\xEF\xBB\xBF\"Time\",\"Counter\",\"Value\",\"Operator\",\"Threshold\",\"Kind\",\"Message\"\r\n"
#define ROW(n) "\"11/22/2026 10:20:30.004\",\"\\Memory\\Free\",\"" n "\",\">\",\"1\",\"alert\",\"m\"\r\n"

static char *base, *path;

static int setup(void **state)
{
    *state = base = scratch_create("test_alert_log");
    path = path_join(base, "a.csv");
    return path ? 0 : -1;
}

static int teardown(void **state)
{
    memory_free(path);
    return scratch_end(state);
}

/* Returns 22 November, 10:20:30.004 local time, as UTC: the log's rows contain local times. */
static int64_t example_time(void)
{
    const struct calendar_time t = {2026, 11, 22, 0, 0, 10, 20, 30, 4};
    int64_t local = clock_from_calendar(&t);
    return local - (clock_utc_to_local(local) - local);
}

static void add(struct alert_log *log, const char *value, const char *message)
{
    const struct alert_row row = {.utc = example_time(),
                                  .counter = "\\Memory\\Free",
                                  .value = value,
                                  .comparison = '>',
                                  .threshold = "1",
                                  .kind = "alert",
                                  .message = message};
    assert_int_equal(alert_log_add(log, &row), S_OK);
}

static struct alert_log *open_log(bool replace)
{
    struct alert_log *log;
    assert_int_equal(alert_log_create(path, base, replace, &log), S_OK);
    return log;
}

static void file_is(const char *wanted)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(path, 1 << 24, &text, &size), S_OK);
    assert_string_equal(text, wanted);
    memory_free(text);
}

static void runs_continue_one_file(void **state)
{
    (void)state;
    struct alert_log *log = open_log(false);
    assert_int_equal(alert_log_write(log), S_OK);
    file_is(HEADER); /* the file exists before the first alert */
    add(log, "2", "m");
    add(log, "3", "m");
    assert_int_equal(alert_log_write(log), S_OK);
    assert_int_equal(alert_log_close(log), S_OK);
    log = open_log(false);
    add(log, "4", "m");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER ROW("2") ROW("3") ROW("4"));
    log = open_log(true);
    add(log, "5", "m");
    assert_int_equal(alert_log_write(log), S_OK);
    add(log, "6", "m");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER ROW("5") ROW("6"));
}

/* A message with quotes or a line break must not become another column or row. */
static void every_row_is_a_line(void **state)
{
    (void)state;
    struct alert_log *log = open_log(true);
    add(log, "7", "\"a\",\r\n\tb; \xC3\xA4");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER "\"11/22/2026 10:20:30.004\",\"\\Memory\\Free\",\"7\",\">\",\"1\",\"alert\","
                   "\"\"\"a\"\",   b; \xC3\xA4\"\r\n");
}

/* A user's table with the alert log's name must be kept. */
static void foreign_files_are_kept(void **state)
{
    static const char *const others[] = {"\"Time\",\"Counter\"\r\n1,2\r\n", "x", HEADER "x"};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int replace = 0; replace < 2; replace++) {
            assert_int_equal(file_store(path, others[i], strlen(others[i])), S_OK);
            struct alert_log *log = open_log(replace);
            add(log, "8", "m");
            assert_int_equal(alert_log_write(log), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
            assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), "a.csv"));
            assert_int_equal(alert_log_close(log), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
            file_is(others[i]);
        }
    /* An incomplete row from a crash is terminated, and an incomplete header is rewritten. */
    assert_int_equal(file_store(path, others[2], strlen(others[2])), S_OK);
    struct alert_log *log = open_log(false);
    add(log, "9", "m");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER "x\r\n" ROW("9"));
    assert_int_equal(file_store(path, HEADER, 20), S_OK);
    log = open_log(false);
    add(log, "9", "m");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER ROW("9"));
    char *outside = path_join(base, "../b.csv");
    assert_int_equal(alert_log_create(outside, base, false, &log), S_OK);
    assert_int_equal(alert_log_write(log), E_INVALIDARG);
    assert_int_equal(alert_log_close(log), S_OK);
    assert_false(file_exists(outside));
    memory_free(outside);
}

static void full_file_starts_again(void **state)
{
    (void)state;
    struct alert_log *log = open_log(true);
    add(log, "1", "m");
    assert_int_equal(alert_log_write(log), S_OK);
    assert_int_equal(alert_log_written(log), strlen(HEADER ROW("1")));
    alert_log_restart(log);
    assert_int_equal(alert_log_written(log), 0);
    add(log, "2", "m");
    assert_int_equal(alert_log_close(log), S_OK);
    file_is(HEADER ROW("2"));
}

#ifndef _WIN32
/* Rows that could not be written because the disk was full must be written completely when space is available. */
static void full_disk_loses_no_row(void **state)
{
    (void)state;
    struct alert_log *log = open_log(true);
    add(log, "1", "m");
    assert_int_equal(alert_log_write(log), S_OK);
    uint64_t size = alert_log_written(log);
    full_disk_at(size + 10);
    add(log, "2", "m");
    HRESULT hr = alert_log_write(log);
    full_disk_at(UINT64_MAX);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    file_is(HEADER ROW("1"));
    full_disk_at(size);
    add(log, "3", "m");
    hr = alert_log_write(log);
    full_disk_at(UINT64_MAX);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    assert_int_equal(alert_log_write(log), S_OK);
    file_is(HEADER ROW("1") ROW("2") ROW("3"));
    /* After a week on a full disk, the log must not have used up the machine's memory. */
    size_t fits = ALERT_LOG_ROOM / strlen(ROW("4"));
    for (size_t i = 0; i < fits + 5; i++)
        add(log, "4", "m");
    assert_int_equal(alert_log_dropped(log), 5);
    assert_int_equal(alert_log_close(log), S_OK);
}
#endif

static void out_of_memory_loses_only_rows(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct alert_log *log;
        memory_fail_at(n);
        HRESULT hr = alert_log_create(path, base, true, &log);
        if (SUCCEEDED(hr)) {
            const struct alert_row row = {example_time(), "\\Memory\\Free", "1", "1", "alert", "m", '>'};
            hr = alert_log_add(log, &row);
            assert_true(hr == S_OK || (hr == E_OUTOFMEMORY && alert_log_dropped(log) == 1));
            HRESULT written = alert_log_write(log);
            assert_true(written == S_OK || written == E_OUTOFMEMORY);
            hr = FAILED(hr) ? hr : written;
            memory_fail_at(0);
            assert_int_equal(alert_log_close(log), S_OK);
            char *text;
            size_t size;
            assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
            assert_true(!strcmp(text, HEADER) || !strcmp(text, HEADER ROW("1")) || !size);
            memory_free(text);
        }
        memory_fail_at(0);
        if (hr == S_OK)
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(n < 1000);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_continue_one_file),        cmocka_unit_test(every_row_is_a_line),
        cmocka_unit_test(foreign_files_are_kept),        cmocka_unit_test(full_file_starts_again),
#ifndef _WIN32
        cmocka_unit_test(full_disk_loses_no_row),
#endif
        cmocka_unit_test(out_of_memory_loses_only_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
