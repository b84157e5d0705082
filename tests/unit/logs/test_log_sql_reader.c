/* SPDX-License-Identifier: MIT */
/* Reading samples from a database. Samples must have the right counter and time, even in logs that Windows or another
   tool wrote in a slightly different form. */
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/logs/sql_fixture.h"

#define SECOND INT64_C(10000000)
#define START  INT64_C(133485408000000000) /* 2024-01-01 00:00:00 UTC */

static const struct log_options options = {.zone = {true, 480, "Pacific Standard Time"}};
static const struct log_counter counters[] = {
    {.machine = "\\\\BOX",
     .object = "Thread",
     .parent = "a/b",
     .instance = "0",
     .index = 3,
     .counter = "% Processor Time ",
     .type = PERF_100NSEC_TIMER,
     .default_scale = -2,
     .time_base = INT64_C(0x1FFFFFFFF)},
    {.machine = "\\\\BOX", .object = "\xE4\xB8\xAD", .counter = "Frei", .type = PERF_COUNTER_LARGE_RAWCOUNT},
    {.machine = "\\\\BOX", .object = "Disk", .instance = "*", .wildcard = true, .counter = "x", .type = 0x10000},
};

static struct log_cell cell(int64_t first, int64_t second, double value)
{
    return (struct log_cell){
        .raw = {.first = first, .second = second, .multi_count = 1}, .has_value = true, .value = value};
}

static struct log_reader *open_log(const char *name)
{
    struct log_reader *r;
    HRESULT hr = log_reader_open(name, &r);
    if (FAILED(hr))
        fail_msg("%s: 0x%08X %s", name, (unsigned)hr, error_text(hr));
    return r;
}

static HRESULT next(struct log_reader *r, int64_t *utc, const struct log_cell **cells)
{
    HRESULT hr = log_reader_next(r, utc, cells);
    if (FAILED(hr))
        fail_msg("0x%08X %s", (unsigned)hr, error_text(hr));
    return hr;
}

/* Writes three samples, at 0 s, 1 s and 2.5 s. The last one lacks the second counter and has one more instance. */
static void write_log(const char *name)
{
    struct log_item items[2] = {{.instance = "c:", .has_value = true}, {.instance = "d:", .has_value = true}};
    struct log_cell cells[3] = {
        cell(1, -1, 1.0 / 3), cell(INT64_MIN, INT64_MAX, 1e300), {.items = items, .item_count = 1}};
    struct log_writer *log;
    HRESULT hr = log_writer_create(LOG_SQL, name, counters, 3, START, &options, &log);
    if (FAILED(hr))
        fail_msg("%s: %s", name, error_text(hr));
    assert_int_equal(log_writer_append(log, START, cells), S_OK);
    cells[0].value = 0.1;
    assert_int_equal(log_writer_append(log, START + SECOND, cells), S_OK);
    cells[1] = (struct log_cell){.raw.status = PDH_CSTATUS_INVALID_DATA};
    cells[2].item_count = 2;
    assert_int_equal(log_writer_append(log, START + 2 * SECOND + SECOND / 2, cells), S_OK);
    assert_int_equal(log_writer_close(log), S_OK);
}

static void written_samples_are_read_back(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "StepAPI=0;Fetch=7", "back"); /* the reader must also add these attributes itself */
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc;
    size_t count;
    write_log(name);
    struct log_reader *r = open_log(name);
    const struct log_info *info = log_reader_info(r);
    assert_int_equal(info->format, LOG_SQL);
    assert_true(info->has_values && info->zone.known);
    assert_int_equal(info->zone.bias_minutes, 480);
    assert_string_equal(info->zone.name, "Pacific Standard Time");
    assert_string_equal(info->machine, "\\\\BOX");
    assert_null(info->comment);

    const struct log_counter *c = log_reader_counters(r, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < 2; i++) {
        assert_true(log_counter_same(&c[i], &counters[i]));
        assert_int_equal(c[i].type, counters[i].type);
        assert_int_equal(c[i].default_scale, counters[i].default_scale);
        assert_true(c[i].time_base == counters[i].time_base);
    }
    assert_string_equal(c[2].instance, "c:");
    assert_string_equal(c[3].instance, "d:");

    assert_int_equal(next(r, &utc, &cells), S_OK);
    assert_true(utc == START);
    assert_true(cells[0].has_value && cells[0].value == 1.0 / 3);
    assert_true(cells[0].raw.status == 0 && cells[0].raw.first == 1 && cells[0].raw.second == -1);
    assert_int_equal(cells[0].raw.multi_count, 1);
    assert_true(cells[1].value == 1e300 && cells[1].raw.first == INT64_MIN && cells[1].raw.second == INT64_MAX);
    assert_true(!cells[3].has_value && cells[3].raw.status > 1);
    log_reader_progress(r, &done, &total);
    assert_true(done > 0 && done < total && total == 9);
    assert_int_equal(next(r, &utc, &cells), S_OK);
    assert_true(utc == START + SECOND && cells[0].value == 0.1);
    assert_int_equal(next(r, &utc, &cells), S_OK);
    assert_true(utc == START + 2 * SECOND + SECOND / 2);
    assert_true(!cells[1].has_value && cells[1].raw.status > 1 && cells[3].has_value);
    assert_int_equal(next(r, &utc, &cells), S_FALSE);
    assert_int_equal(next(r, &utc, &cells), S_FALSE);
    log_reader_progress(r, &done, &total);
    assert_true(done == 9 && total == 9);
    assert_int_equal(log_reader_warnings(r)->count, 0);
    log_reader_close(r);
    memory_free(name);
}

static void time_is_found(void **state)
{
    static const struct {
        int64_t from;
        int first; /* time of the first expected sample, in ms after START; -1: no sample */
    } cases[] = {{INT64_MIN, 0},
                 {0, 0},
                 {START, 0},
                 {START + 1, 1000},
                 {START + SECOND, 1000},
                 {START + SECOND + 10001, 2500},
                 {START + 2 * SECOND + SECOND / 2, 2500},
                 {START + 3 * SECOND, -1},
                 {INT64_MAX, -1},
                 {START - SECOND, 0}};
    const struct database *d = *state;
    char *name = sql_name(d, "", "find");
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc;

    write_log(name);
    struct log_reader *r = open_log(name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(log_reader_seek(r, cases[i].from), S_OK);
        assert_int_equal(next(r, &utc, &cells), cases[i].first < 0 ? S_FALSE : S_OK);
        if (cases[i].first >= 0 && utc != START + cases[i].first * (SECOND / 1000))
            fail_msg("case %zu: %lld", i, (long long)(utc - START));
        while (next(r, &utc, &cells) == S_OK)
            ;
        log_reader_progress(r, &done, &total);
        assert_true(done == 9 && total == 9);
    }
    log_reader_close(r);
    memory_free(name);
}

static void run_sqls(const struct database *d, const char *const *sqls)
{
    for (; *sqls; sqls++)
        sql_run(d, *sqls);
}

/* Other programs write no time zone, NULL for indexes and names, times in the form of MS-PLA, and rows in another
   order. */
static void other_writers_are_understood(void **state)
{
    static const char *const rows[] = {
        "DELETE FROM DisplayToID",
        "DELETE FROM CounterDetails",
        "DELETE FROM CounterData",
        "INSERT INTO DisplayToID (GUID, DisplayString) VALUES ('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 'other')",
        "INSERT INTO CounterDetails (CounterID, MachineName, ObjectName, CounterName, CounterType, DefaultScale) "
        "VALUES "
        "(70, '\\\\A', 'Memory', 'Free', 65536, 0)",
        "INSERT INTO CounterDetails (CounterID, MachineName, ObjectName, CounterName, CounterType, DefaultScale) "
        "VALUES "
        "(20, '\\\\B', 'Memory', 'Free', 65536, 0)",
        "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue, MultiCount) VALUES "
        "('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 70, 2, '2024-01-01 00:00:01:500', 3, 1)",
        "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue, FirstValueA, "
        "FirstValueB, "
        "SecondValueA, SecondValueB, MultiCount) VALUES "
        "('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 70, 1, '2024-01-01 00:00:00.000', 1, 1, 0, 0, 0, NULL)",
        "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue) VALUES "
        "('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 20, 1, '2024-01-01 00:00:00.000', 2)",
        "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue) VALUES "
        "('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 20, 3, 'yesterday', 2)",
        "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue) VALUES "
        "('9C50E7E8-0B2A-4C3E-9D2E-0123456789AB', 33, 2, '2024-01-01 00:00:01:500', 2)",
        NULL};
    const struct database *d = *state;
    char *name = sql_name(d, "", "other"), *made = sql_name(d, "", "made");
    const struct log_cell *cells;
    int64_t utc;
    size_t count;
    write_log(made); /* creates the tables */
    run_sqls(d, rows);
    struct log_reader *r = open_log(name);
    assert_false(log_reader_info(r)->zone.known);
    assert_null(log_reader_info(r)->zone.name);
    assert_null(log_reader_info(r)->machine);
    const struct log_counter *c = log_reader_counters(r, &count);
    assert_int_equal(count, 2);
    assert_string_equal(c[0].machine, "\\\\B");
    assert_null(c[0].instance);
    assert_null(c[0].parent);
    assert_int_equal(c[0].index, 0);
    assert_int_equal(next(r, &utc, &cells), S_OK);
    assert_true(utc == START && cells[0].value == 2 && cells[1].value == 1);
    assert_true(cells[0].has_value && cells[0].raw.status > 1); /* only the computed value is known */
    assert_true(cells[1].raw.status == 0 && cells[1].raw.first == 1 && cells[1].raw.multi_count == 1);
    assert_int_equal(next(r, &utc, &cells), S_OK);
    assert_true(utc == START + SECOND + SECOND / 2 && cells[1].value == 3 && !cells[0].has_value);
    assert_int_equal(next(r, &utc, &cells), S_FALSE);
    const struct texts *warnings = log_reader_warnings(r);
    assert_int_equal(warnings->count, 2);
    assert_non_null(strstr(warnings->items[0], "CounterID 33"));
    assert_non_null(strstr(warnings->items[1], "RecordIndex 3 has the invalid time 'yesterday'"));
    log_reader_close(r);
    memory_free(name);
    memory_free(made);
}

/* A copy of a log set has another name and otherwise the same rows. */
static void copy_has_the_same_rows(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "first"), *again = sql_name(d, "", "second");
    const struct log_cell *cells;
    struct log_writer *log;
    int64_t utc;
    size_t count;
    write_log(name);
    struct log_reader *r = open_log(name);
    const struct log_counter *c = log_reader_counters(r, &count);
    const struct log_options copy = {.wait_for_database = true, .zone = log_reader_info(r)->zone};
    assert_int_equal(log_writer_create(LOG_SQL, again, c, count, START, &copy, &log), S_OK);
    while (next(r, &utc, &cells) == S_OK)
        assert_int_equal(log_writer_append(log, utc, cells), S_OK);
    log_reader_close(r);
    assert_int_equal(log_writer_close(log), S_OK);
    expect_rows(
        d, 1,
        "SELECT count(*) FROM CounterData a JOIN CounterData b ON a.CounterID = b.CounterID AND a.RecordIndex = "
        "b.RecordIndex AND a.CounterDateTime = b.CounterDateTime AND a.CounterValue = b.CounterValue AND "
        "a.FirstValueA = b.FirstValueA AND a.FirstValueB = b.FirstValueB AND a.SecondValueA = b.SecondValueA AND "
        "a.SecondValueB = b.SecondValueB AND a.MultiCount = b.MultiCount JOIN DisplayToID x ON a.GUID = x.GUID "
        "JOIN DisplayToID y ON b.GUID = y.GUID WHERE x.DisplayString = 'first' AND y.DisplayString = 'second'",
        "9\n");
    expect_rows(d, 1, "SELECT count(*) FROM CounterData", "18\n");
    expect_rows(d, 1, "SELECT count(*) FROM CounterDetails", "4\n");
    expect_rows(d, 4, "SELECT DISTINCT LogStartTime, LogStopTime, MinutesToUTC, TimeZoneName FROM DisplayToID",
                "2024-01-01 00:00:00.000|2024-01-01 00:00:02.500|480|Pacific Standard Time\n");
    memory_free(name);
    memory_free(again);
}

static void expect_failure(const char *name, HRESULT expected, const char *why)
{
    struct log_reader *r = NULL;
    HRESULT hr = log_reader_open(name, &r);
    assert_int_equal(hr, expected);
    if (!strstr(error_text(hr), why))
        fail_msg("%s: \"%s\"", name, error_text(hr));
}

static void reading_creates_nothing(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "PWD=cret", "nothing"), *made = sql_name(d, "", "made");
    expect_failure(name, (HRESULT)PDH_SQL_EXEC_DIRECT_FAILED, "table CounterData");
    assert_null(strstr(error_text((HRESULT)PDH_SQL_EXEC_DIRECT_FAILED), "cret"));
    expect_failure(name, (HRESULT)PDH_SQL_EXEC_DIRECT_FAILED, "table CounterData"); /* the table was not created */
    write_log(made);
    expect_failure(name, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                   "!nothing: the database has no log set with this name");
    expect_failure("SQL:x", E_INVALIDARG, "expected SQL:<data source>!<log set>");
    expect_failure("SQL:OpenPLA has no such source!x", (HRESULT)PDH_SQL_CONNECT_FAILED, "IM002");
    memory_free(name);
    memory_free(made);
}

static void out_of_memory_is_an_error(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "memory");
    const struct log_cell *cells;
    struct log_reader *r = NULL;
    int64_t utc;
    HRESULT hr = E_OUTOFMEMORY;
    write_log(name);
    for (uint64_t n = 1; FAILED(hr); n++) {
        memory_fail_at(n);
        hr = log_reader_open(name, &r);
        memory_fail_at(0);
        if (FAILED(hr))
            assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(n < 300);
    }
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; FAILED(hr); n++) {
        assert_int_equal(log_reader_seek(r, INT64_MIN), S_OK);
        memory_fail_at(n);
        hr = log_reader_next(r, &utc, &cells);
        memory_fail_at(0);
        if (FAILED(hr))
            assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(n < 100);
    }
    assert_true(utc == START);
    log_reader_close(r);
    memory_free(name);
}

#define ON(database, test)                                                                                             \
    {                                                                                                                  \
#database ": " #test, test, database_empty, NULL, &database                                                    \
    }
#define ON_BOTH(test) ON(sqlite, test), ON(postgres, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(written_samples_are_read_back), ON_BOTH(time_is_found),           ON_BOTH(other_writers_are_understood),
        ON_BOTH(copy_has_the_same_rows),        ON_BOTH(reading_creates_nothing), ON_BOTH(out_of_memory_is_an_error),
    };
    int failed = !databases_open("log_sql_reader");
    if (!failed)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    databases_close();
    return failed;
}
