/* SPDX-License-Identifier: MIT */
/* How a set's counters get into its log, with a PDH whose language, instances and failures the test controls. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/logs/sql/odbc.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "fake_pdh.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

struct test {
    char *path;
    struct object *object;
    struct performance_counter_collector *model;
    struct texts reports; /* "status subject" */
    struct collect_context context;
};

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    struct test *t = user;
    char *line = text_format("%08X %s", (unsigned)reason, subject ? subject : "");
    if (line)
        texts_add(&t->reports, line);
    assert_true(*text);
    memory_free(line);
}

static void set_instances(const char *a, const char *b, const char *c)
{
    fake_instances[0] = a;
    fake_instances[1] = b;
    fake_instances[2] = c;
    fake_instances[3] = NULL;
}

static int setup(void **state)
{
    struct test *t = memory_zero(1, sizeof *t);
    if (!t || FAILED(object_create(&performance_counter_collector_class, NULL, &t->object)))
        return -1;
    t->model = (struct performance_counter_collector *)t->object;
    t->model->LogFileFormat = LOG_CSV;
    t->path = text_format("/tmp/openpla-collect-%u.log", (unsigned)process_own_id());
    t->context = (struct collect_context){
        .output_path = t->path, .output_base = "/tmp", .description = "", .note = note, .user = t};
    set_instances("alpha", "beta", NULL);
    fake_collect_status = 0;
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    file_delete(t->path);
    memory_free(t->path);
    texts_free(&t->reports);
    object_release(t->object);
    memory_free(t);
    return fake_open_queries; /* a query that is still open would be a leak in PDH */
}

static void add(struct test *t, const char *path)
{
    assert_int_equal(texts_add(&t->model->PerformanceCounters, path), S_OK);
}

static uint64_t samples_of(struct collector *c)
{
    struct collector_figures figures;
    collector_figures(c, &figures);
    return figures.samples;
}

static enum collector_standing standing(struct collector *c)
{
    HRESULT reason;
    enum collector_standing s = collector_poll(c, &reason);
    assert_int_equal(reason, S_OK);
    return s;
}

/* Opens a collector, takes `samples` samples and closes it. Returns the log. */
static char *run(struct test *t, int samples, size_t *size)
{
    struct collector *c;
    char *text;
    HRESULT hr = collector_open(t->object, &t->context, &c);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    for (int i = 0; i < samples; i++)
        assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(samples_of(c), samples);
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(file_load(t->path, 1 << 24, &text, size), S_OK);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
        n++;
    return n;
}

/* Returns the nth line, from 0, without its timestamp. */
static char *row(const char *text, int n)
{
    while (n--)
        text = strchr(text, '\n') + 1;
    text = strchr(text, ',') + 1;
    return text_copy_n(text, strcspn(text, "\r\n"));
}

/* Reports and log readers find columns by computer, object and instance, and values by column. */
static void columns_and_values(void **state)
{
    struct test *t = *state;
    size_t size;
    add(t, "\\Prozess(*)\\Zahl");
    add(t, "\\Speicher\\Frei");
    add(t, "\\Prozess(alpha)\\Zeit");
    char *text = run(t, 2, &size);
    char *header = row(text, 0), *first = row(text, 1), *second = row(text, 2);
    assert_string_equal(header, "\"\\\\FAKE\\Prozess(alpha)\\Zahl\",\"\\\\FAKE\\Prozess(beta)\\Zahl\","
                                "\"\\\\FAKE\\Speicher\\Frei\",\"\\\\FAKE\\Prozess(alpha)\\Zeit\"");
    assert_string_equal(first, "\"0\",\"1\",\"1\",\" \""); /* a rate has no value in the first sample */
    assert_string_equal(second, "\"0\",\"1\",\"2\",\"200\"");
    memory_free(header);
    memory_free(first);
    memory_free(second);
    memory_free(text);
}

/* English templates must collect data on a localised system. */
static void english_names_on_a_localised_system(void **state)
{
    struct test *t = *state;
    size_t size;
    add(t, "\\Process(alpha)\\Count");
    add(t, "\\Memory\\Free");
    add(t, "\\Process(*)\\Time");
    char *text = run(t, 1, &size);
    assert_int_equal(t->reports.count, 0);
    assert_int_equal(count(text, "\\Prozess(alpha)\\Zahl\""), 1);
    assert_int_equal(count(text, "\\Speicher\\Frei\""), 1);
    assert_int_equal(count(text, "\\Zeit\""), 2);
    memory_free(text);
}

/* If one path is invalid, the log must still contain the other counters, and the user must get a message. */
static void invalid_counters_are_reported(void **state)
{
    struct test *t = *state;
    size_t size;
    static const char *const bad[][2] = {
        {"\\Nichts\\da", "C0000BB8 \\Nichts\\da"},     {"\\Speicher\\Voll", "C0000BB9 \\Speicher\\Voll"},
        {"kein Pfad", "C0000BC0 kein Pfad"},           {"\\Prozess(z*)\\Zahl", "800007D1 \\Prozess(z*)\\Zahl"},
        {"\\Nichts(*)\\*", "C0000BB8 \\Nichts(*)\\*"}, {"", "C0000BC0 "}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        add(t, bad[i][0]);
    add(t, "\\Speicher\\Frei");
    char *text = run(t, 1, &size);
    assert_int_equal(count(text, "\\\\FAKE"), 1);
    assert_int_equal(t->reports.count, sizeof bad / sizeof bad[0]);
    for (size_t i = 0; i < t->reports.count; i++)
        assert_string_equal(t->reports.items[i], bad[i][1]);
    memory_free(text);
}

/* Two wildcards that name the same counter must not log it twice, because readers cannot handle equal columns. */
static void overlapping_paths_result_in_one_column(void **state)
{
    struct test *t = *state;
    size_t size;
    add(t, "\\Prozess(alpha)\\Zahl");
    add(t, "\\Prozess(*)\\Zahl");
    add(t, "\\Prozess(*)\\*");
    add(t, "\\Process(alpha)\\Count");
    char *text = run(t, 1, &size);
    assert_int_equal(count(text, "(alpha)\\Zahl"), 1);
    assert_int_equal(count(text, "(beta)\\Zahl"), 1);
    assert_int_equal(count(text, "\\\\FAKE"), 4);
    assert_int_equal(t->reports.count, 0);
    memory_free(text);
}

/* For all instances, templates write no instance, or "*", also with an index and a parent. Each form means all
   instances. */
static void all_instances_in_every_spelling(void **state)
{
    struct test *t = *state;
    static const char *const paths[] = {"\\Prozess\\*", "\\Prozess(*)\\*", "\\Prozess(*#*)\\*", "\\Prozess(*/*#*)\\*"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        size_t size;
        texts_free(&t->model->PerformanceCounters);
        add(t, paths[i]);
        char *text = run(t, 1, &size);
        assert_int_equal(count(text, "\\\\FAKE"), 4);
        memory_free(text);
        assert_int_equal(file_delete(t->path), S_OK);
    }
    assert_int_equal(t->reports.count, 0);
}

static bool has_utf16(const char *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 2 * length <= size; i++) {
        size_t k = 0;
        while (k < length && data[i + 2 * k] == text[k] && data[i + 2 * k + 1] == 0)
            k++;
        if (k == length)
            return true;
    }
    return false;
}

/* A binary log of all processes must include processes that start during the run. A text log's columns are fixed, and
   those of exited processes stay empty. */
static void instances_appear_and_disappear(void **state)
{
    struct test *t = *state;
    static const enum log_format formats[] = {LOG_BINARY, LOG_CSV};
    add(t, "\\Prozess(*)\\Zahl");
    for (size_t i = 0; i < 2; i++) {
        struct collector *c;
        char *data;
        size_t size;
        t->model->LogFileFormat = formats[i];
        set_instances("alpha", "beta", NULL);
        assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
        assert_int_equal(collector_sample(c), S_OK);
        set_instances("beta", "gammagamma", NULL);
        assert_int_equal(collector_sample(c), S_OK);
        set_instances(NULL, NULL, NULL);
        fake_collect_status = (PDH_STATUS)PDH_NO_DATA;
        assert_int_equal(collector_sample(c), S_OK);
        fake_collect_status = 0;
        assert_int_equal(collector_close(c), S_OK);
        assert_int_equal(file_load(t->path, 1 << 24, &data, &size), S_OK);
        if (formats[i] == LOG_BINARY) {
            assert_true(has_utf16(data, size, "alpha"));
            assert_true(has_utf16(data, size, "gammagamma"));
        } else {
            char *second = row(data, 2), *third = row(data, 3);
            assert_string_equal(second, "\" \",\"0\"");
            assert_string_equal(third, "\" \",\" \"");
            memory_free(second);
            memory_free(third);
        }
        memory_free(data);
        assert_int_equal(file_delete(t->path), S_OK);
    }
}

/* Rates continue from one segment to the next. If they did not, a rate would be empty in the first row of every file,
   and the time since the last sample would be lost. */
static void rates_continue_in_the_next_segment(void **state)
{
    struct test *t = *state;
    struct collector *first, *second;
    char *next = text_format("%s.next", t->path), *text;
    struct collect_context context = t->context;
    size_t size;
    add(t, "\\Prozess(*)\\Zeit");
    add(t, "\\Speicher\\Frei");
    assert_int_equal(collector_open(t->object, &context, &first), S_OK);
    assert_int_equal(collector_sample(first), S_OK);
    assert_int_equal(collector_sample(first), S_OK);
    set_instances("gamma", "beta", NULL);
    assert_int_equal(collector_complete(first), S_OK);
    context.output_path = next;
    context.previous = first;
    assert_int_equal(collector_open(t->object, &context, &second), S_OK);
    assert_int_equal(collector_close(first), S_OK);
    assert_int_equal(fake_open_queries, 1);
    assert_int_equal(collector_sample(second), S_OK);
    assert_int_equal(collector_close(second), S_OK);
    assert_int_equal(file_load(next, 1 << 24, &text, &size), S_OK);
    char *names = row(text, 0), *values = row(text, 1);
    assert_string_equal(names, "\"\\\\FAKE\\Prozess(gamma)\\Zeit\",\"\\\\FAKE\\Prozess(beta)\\Zeit\""
                               ",\"\\\\FAKE\\Speicher\\Frei\"");
    assert_string_equal(values, "\" \",\"300\",\"3\"");
    memory_free(names);
    memory_free(values);
    memory_free(text);
    assert_int_equal(file_delete(next), S_OK);
    memory_free(next);
}

/* A text log has columns only for the instances that existed when it was created. If the user enabled this, a new
   instance therefore requests a new segment. */
static void new_instances_request_a_segment(void **state)
{
    struct test *t = *state;
    static const char *const paths[] = {"\\Process(*)\\Count", "\\Prozess(g*)\\Zahl", "\\Prozess\\*"};
    t->context.new_instances_seconds = 1;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct collector *c;
        set_instances("alpha", "beta", NULL);
        add(t, paths[i]);
        assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
        for (uint64_t until = clock_monotonic_ms() + 1200; clock_monotonic_ms() < until;)
            assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(standing(c), COLLECTOR_GOES_ON);
        set_instances("beta", NULL, NULL); /* a disappearing instance does not request a segment */
        assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(standing(c), COLLECTOR_GOES_ON);
        set_instances("beta", "gamma", NULL);
        assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(standing(c), COLLECTOR_WANTS_SEGMENT);
        assert_int_equal(collector_close(c), S_OK);
        texts_free(&t->model->PerformanceCounters);
        memset(&t->model->PerformanceCounters, 0, sizeof t->model->PerformanceCounters);
        assert_int_equal(file_delete(t->path), S_OK);
    }
}

/* A computer that was down when the log began gets columns only in a new segment. Without one, it would be missing
   until the log ends. */
static void remote_computer_that_starts_requests_a_segment(void **state)
{
    struct test *t = *state;
    static const char *const paths[] = {"\\\\FAKE\\Speicher\\Frei", "\\\\FAKE\\Speicher\\*"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct collector *c;
        t->context.other_computers_seconds = 1;
        set_instances("alpha", NULL, NULL);
        fake_no_memory = true;
        add(t, "\\Prozess(*)\\Zahl");
        add(t, paths[i]);
        assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
        set_instances("alpha", "beta", NULL); /* local instances were not requested */
        for (uint64_t until = clock_monotonic_ms() + 1200; clock_monotonic_ms() < until;)
            assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(standing(c), COLLECTOR_GOES_ON);
        fake_no_memory = false;
        for (uint64_t until = clock_monotonic_ms() + PATIENCE_MS;
             standing(c) == COLLECTOR_GOES_ON && clock_monotonic_ms() < until;)
            assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(standing(c), COLLECTOR_WANTS_SEGMENT);
        assert_int_equal(collector_close(c), S_OK);
        texts_free(&t->model->PerformanceCounters);
        memset(&t->model->PerformanceCounters, 0, sizeof t->model->PerformanceCounters);
        assert_int_equal(file_delete(t->path), S_OK);
    }
}

static void note_and_restore_memory(void *user, HRESULT reason, const char *subject, const char *text)
{
    note(user, reason, subject, text);
    fake_no_memory = false;
}

/* A computer may come up just after the collector failed to reach it, while the collector is still opening. Its
   counters must get a new segment as well. */
static void remote_computer_that_starts_early_requests_a_segment(void **state)
{
    struct test *t = *state;
    struct collector *c;
    t->context.other_computers_seconds = 1;
    t->context.note = note_and_restore_memory;
    fake_no_memory = true;
    add(t, "\\Prozess(*)\\Zahl");
    add(t, "\\\\FAKE\\Speicher\\Frei");
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    assert_false(fake_no_memory);
    for (uint64_t until = clock_monotonic_ms() + PATIENCE_MS;
         standing(c) == COLLECTOR_GOES_ON && clock_monotonic_ms() < until;)
        assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(standing(c), COLLECTOR_WANTS_SEGMENT);
    assert_int_equal(collector_close(c), S_OK);
}

/* The run must be notified of a failed sample, and the log must not get an empty row. */
static void failed_collection_loses_one_sample(void **state)
{
    struct test *t = *state;
    struct collector *c;
    add(t, "\\Speicher\\Frei");
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    fake_collect_status = (PDH_STATUS)PDH_QUERY_PERF_DATA_TIMEOUT;
    assert_int_equal(collector_sample(c), (HRESULT)PDH_QUERY_PERF_DATA_TIMEOUT);
    assert_int_equal(samples_of(c), 0);
    fake_collect_status = 0;
    assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(collector_close(c), S_OK);
}

/* Without a message, the user of a log with only timestamps would search for the counters. */
static void collector_without_counters_is_reported(void **state)
{
    struct test *t = *state;
    size_t size;
    char *log = run(t, 1, &size);
    assert_int_equal(t->reports.count, 1);
    assert_string_equal(t->reports.items[0], "00000000 ");
    memory_free(log);
}

/* Limits must hold, and a circular log must neither stop nor exceed its size. */
static void size_limits_hold(void **state)
{
    struct test *t = *state;
    struct collector *c;
    char *data;
    size_t size;
    add(t, "\\Prozess(*)\\*");
    t->model->SegmentMaxRecords = 2;
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    assert_int_equal(collector_interval_ms(c), 15000);
    assert_int_equal(collector_end(c, false), ENDS_AT_LIMIT); /* SegmentMaxRecords ends the log */
    assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(standing(c), COLLECTOR_GOES_ON);
    assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(standing(c), COLLECTOR_AT_LIMIT);
    assert_int_equal(samples_of(c), 2);
    assert_int_equal(collector_close(c), S_OK);

    /* Instance names of this length fill the log with a few samples. */
    static char wide[40000];
    memset(wide, 'x', sizeof wide - 1);
    set_instances(wide, NULL, NULL);
    t->model->SegmentMaxRecords = 0;
    t->model->LogFileFormat = LOG_BINARY;
    t->model->LogOverwrite = true;
    t->context.segment_max_mb = 1;
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    assert_int_equal(collector_end(c, false), ENDS_WITH_RUN);
    assert_int_equal(collector_end(c, true), ENDS_AT_LIMIT);
    HRESULT hr = S_OK;
    for (int i = 0; i < 100 && hr == S_OK; i++)
        hr = collector_sample(c);
    assert_int_equal(hr, S_FALSE);
    uint64_t full = samples_of(c);
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(file_load(t->path, 1 << 24, &data, &size), S_OK);
    assert_true(full > 1 && size <= 1 << 20);
    memory_free(data);

    t->model->LogCircular = true;
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    for (uint64_t i = 0; i < 3 * full; i++)
        assert_int_equal(collector_sample(c), S_OK);
    assert_int_equal(collector_close(c), S_OK);
    assert_int_equal(file_load(t->path, 1 << 24, &data, &size), S_OK);
    assert_int_equal(size, 1 << 20); /* a binary log overwrites its oldest samples in place */
    memory_free(data);

    t->context.segmented = true; /* MS-PLA: if Segment is set, a full file ends the segment */
    assert_int_equal(collector_open(t->object, &t->context, &c), S_OK);
    for (hr = S_OK; hr == S_OK && samples_of(c) < 2 * full;)
        hr = collector_sample(c);
    assert_int_equal(hr, S_FALSE);
    assert_int_equal(collector_close(c), S_OK);
}

/* If the database is unavailable, the message must contain the reason and the log. */
static void unreachable_database_is_reported(void **state)
{
    struct test *t = *state;
    struct collector *c = NULL;
    t->model->LogFileFormat = LOG_SQL;
    assert_int_equal(object_put_text(t->object, class_property(t->object->class, "DataSourceName"), "SQL:d!s"), S_OK);
    HRESULT hr = collector_open(t->object, &t->context, &c);
    assert_int_equal(hr, (HRESULT)PDH_SQL_CONNECT_FAILED);
    assert_non_null(strstr(error_text(hr), "SQL:d!s"));
    t->model->DataCollectorType = 4;
    assert_int_equal(collector_runs(t->object), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
    assert_null(c);
}

/* Each instance of a wildcard becomes a row with its value. LogAppend, LogOverwrite and LogCircular have no effect here
   (MS-PLA 2.2.2.11) and must not delete existing rows. */
static void database_gets_every_instance(void **state)
{
    struct test *t = *state;
    struct collector *c = NULL;
    struct odbc *odbc;
    char *name = text_format("SQL:Driver={SQLite3};Database=%s!s", t->path);
    char *connection = text_format("Driver={SQLite3};Database=%s", t->path), *text;
    t->model->LogFileFormat = LOG_SQL;
    t->model->LogCircular = t->model->LogOverwrite = true;
    t->context.segment_max_mb = 1;
    assert_int_equal(object_put_text(t->object, class_property(t->object->class, "DataSourceName"), name), S_OK);
    add(t, "\\Prozess(*)\\Zahl");
    add(t, "\\Speicher\\Frei");
    for (int run = 0; run < 2; run++) {
        set_instances("alpha", "beta", "gamma");
        HRESULT hr = collector_open(t->object, &t->context, &c);
        if (FAILED(hr))
            fail_msg("%s", error_text(hr));
        assert_int_equal(collector_sample(c), S_OK);
        set_instances("beta", NULL, NULL);
        assert_int_equal(collector_sample(c), S_OK);
        assert_int_equal(t->reports.count, 0); /* the database caused no error */
        assert_int_equal(collector_close(c), S_OK);
    }
    assert_int_equal(odbc_connect(connection, 5, &odbc), S_OK);
    WCHAR room[3][64];
    struct odbc_value row[3];
    struct odbc_statement *select;
    struct text_buffer b = {0};
    for (int i = 0; i < 3; i++)
        row[i] = (struct odbc_value){.kind = ODBC_TEXT, .text = room[i], .units = 64};
    assert_int_equal(
        odbc_prepare(odbc,
                     "SELECT RecordIndex, InstanceName, CounterValue FROM CounterData d JOIN CounterDetails c "
                     "ON d.CounterID = c.CounterID WHERE ObjectName = 'Prozess' ORDER BY 1, 2",
                     NULL, 0, row, 3, &select),
        S_OK);
    assert_int_equal(odbc_execute(select), S_OK);
    while (odbc_fetch(select) == S_OK) {
        for (int i = 0; i < 3; i++) {
            assert_int_equal(odbc_get_text(&row[i], &text), S_OK);
            text_buffer_format(&b, "%s ", text);
            memory_free(text);
        }
    }
    odbc_close(select);
    odbc_disconnect(odbc);
    text = text_buffer_take(&b);
    assert_string_equal(text, "1 alpha 0.0 1 beta 1.25 1 gamma 0.0 2 beta 0.25 "
                              "3 alpha 0.0 3 beta 1.25 3 gamma 0.0 4 beta 0.25 ");
    memory_free(text);
    memory_free(connection);
    memory_free(name);
}

/* The next segment begins while the database is locked. It must continue the log, and no sample may be delayed or
   lost. */
static void database_gets_samples_of_all_segments(void **state)
{
    struct test *t = *state;
    struct collector *first = NULL, *second = NULL;
    struct odbc *odbc;
    char *connection = text_format("Driver={SQLite3};Database=%s;Timeout=100", t->path);
    char *name = text_format("SQL:%s!s", connection);
    t->model->LogFileFormat = LOG_SQL;
    assert_int_equal(object_put_text(t->object, class_property(t->object->class, "DataSourceName"), name), S_OK);
    add(t, "\\Prozess(*)\\Zahl");
    assert_int_equal(collector_open(t->object, &t->context, &first), S_OK);
    assert_int_equal(odbc_connect(connection, 5, &odbc), S_OK);
    HRESULT hr = E_FAIL;
    for (int i = 0; FAILED(hr) && i < 50; i++)
        hr = odbc_run(odbc, "BEGIN EXCLUSIVE");
    assert_int_equal(hr, S_OK);
    assert_int_equal(collector_sample(first), S_OK);
    assert_int_equal(collector_complete(first), S_OK);
    t->context.previous = first;
    hr = collector_open(t->object, &t->context, &second);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_int_equal(collector_close(first), S_OK);
    assert_int_equal(samples_of(second), 0);
    assert_int_equal(collector_sample(second), S_OK);
    assert_int_equal(odbc_run(odbc, "COMMIT"), S_OK);
    assert_int_equal(collector_close(second), S_OK);

    struct odbc_value count = {.kind = ODBC_INTEGER};
    struct odbc_statement *select;
    assert_int_equal(
        odbc_prepare(odbc, "SELECT count(*) FROM CounterData WHERE RecordIndex IN (1, 2)", NULL, 0, &count, 1, &select),
        S_OK);
    assert_int_equal(odbc_execute(select), S_OK);
    assert_int_equal(odbc_fetch(select), S_OK);
    assert_int_equal(count.integer, 4);
    odbc_close(select);
    odbc_disconnect(odbc);
    memory_free(connection);
    memory_free(name);
}

/* Out of memory must be an error of this start or sample, not a crash or a leak. */
static void out_of_memory_fails_cleanly(void **state)
{
    struct test *t = *state;
    add(t, "\\Process(*)\\Count");
    add(t, "\\Prozess\\*");
    add(t, "\\Nichts\\da");
    for (int format = 0; format < 2; format++) {
        bool whole = false;
        t->model->LogFileFormat = format ? LOG_BINARY : LOG_CSV;
        for (uint64_t n = 1; !whole && n < 5000; n++) {
            struct collector *c = NULL;
            file_delete(t->path);
            memory_fail_at(n);
            HRESULT hr = collector_open(t->object, &t->context, &c);
            if (SUCCEEDED(hr))
                collector_sample(c);
            uint64_t used = memory_count();
            memory_fail_at(0);
            if (SUCCEEDED(hr))
                collector_close(c);
            whole = used < n;
        }
        assert_true(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_and_values, setup, teardown),
        cmocka_unit_test_setup_teardown(english_names_on_a_localised_system, setup, teardown),
        cmocka_unit_test_setup_teardown(collector_without_counters_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(invalid_counters_are_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(overlapping_paths_result_in_one_column, setup, teardown),
        cmocka_unit_test_setup_teardown(all_instances_in_every_spelling, setup, teardown),
        cmocka_unit_test_setup_teardown(instances_appear_and_disappear, setup, teardown),
        cmocka_unit_test_setup_teardown(rates_continue_in_the_next_segment, setup, teardown),
        cmocka_unit_test_setup_teardown(remote_computer_that_starts_requests_a_segment, setup, teardown),
        cmocka_unit_test_setup_teardown(remote_computer_that_starts_early_requests_a_segment, setup, teardown),
        cmocka_unit_test_setup_teardown(new_instances_request_a_segment, setup, teardown),
        cmocka_unit_test_setup_teardown(failed_collection_loses_one_sample, setup, teardown),
        cmocka_unit_test_setup_teardown(size_limits_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(unreachable_database_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(database_gets_every_instance, setup, teardown),
        cmocka_unit_test_setup_teardown(database_gets_samples_of_all_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(out_of_memory_fails_cleanly, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
