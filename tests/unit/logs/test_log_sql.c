/* SPDX-License-Identifier: MIT */
/* Logs in a database. Samples must be in the right rows and belong to the right counter, and a run must not overwrite
   another. If the database is unreachable, no sample may be lost. If it hangs, the run must not hang. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/logs/sql_fixture.h"
#include "tests/unit/patience.h"

#include <math.h>

#define SECOND INT64_C(10000000)
#define START  INT64_C(133485408000000000) /* 2024-01-01 00:00:00 UTC */

static const struct log_zone zone = {true, -60, "Mitteleurop\xC3\xA4ische Zeit"};
static const struct log_options options = {.zone = {true, -60, "Mitteleurop\xC3\xA4ische Zeit"}};

static const struct log_counter cpu = {.machine = "\\\\BOX",
                                       .object = "Processor",
                                       .instance = "0",
                                       .counter = "% Processor Time",
                                       .type = PERF_100NSEC_TIMER_INV,
                                       .time_base = 10000000};
static const struct log_counter memory = {.machine = "\\\\BOX",
                                          .object = "Memory",
                                          .counter = "Available Bytes",
                                          .type = PERF_COUNTER_LARGE_RAWCOUNT,
                                          .default_scale = -6,
                                          .time_base = INT64_C(0x123456789A)};
static const struct log_counter threads = {.machine = "\\\\BOX",
                                           .object = "Thread",
                                           .instance = "*",
                                           .counter = "Context Switches/sec",
                                           .wildcard = true,
                                           .type = PERF_COUNTER_COUNTER,
                                           .time_base = 10000000};

static struct log_cell cell(int64_t first, int64_t second, double value)
{
    return (struct log_cell){
        .raw = {.first = first, .second = second, .multi_count = 1}, .has_value = true, .value = value};
}

static struct log_writer *create(const char *name, const struct log_counter *counters, size_t count,
                                 const struct log_options *o)
{
    struct log_writer *log;
    HRESULT hr = log_writer_create(LOG_SQL, name, counters, count, START, o, &log);
    if (FAILED(hr))
        fail_msg("%s: %s", name, error_text(hr));
    return log;
}

static void append(struct log_writer *log, int second, const struct log_cell *cells)
{
    HRESULT hr = log_writer_append(log, START + second * SECOND, cells);
    if (hr != S_OK)
        fail_msg("second %d: 0x%08X %s", second, (unsigned)hr, error_text(hr));
}

static void close_log(struct log_writer *log)
{
    HRESULT hr = log_writer_close(log);
    if (hr != S_OK)
        fail_msg("0x%08X %s", (unsigned)hr, error_text(hr));
}

/* Writes one run of one counter to `set`. Its samples are at the seconds `from` to `to` - 1. */
static void run_of(const struct database *d, const char *set, const struct log_counter *counter, int from, int to)
{
    char *name = sql_name(d, "", set);
    struct log_writer *log = create(name, counter, 1, &options);
    for (int i = from; i < to; i++) {
        struct log_cell c = cell(i, i, i);
        append(log, i, &c);
    }
    close_log(log);
    memory_free(name);
}

static void samples_are_rows_of_three_tables(void **state)
{
    const struct database *d = *state;
    const struct log_counter counters[] = {cpu, memory};
    char *name = sql_name(d, "", "Night run!\xE4\xB8\xAD");
    struct log_writer *log = create(name, counters, 2, &options);
    struct log_cell cells[2];
    cells[0] = cell(INT64_C(0x1122334455667788), -2, 0);
    cells[0].has_value = false; /* the first sample of a rate */
    cells[1] = cell(-1, 0, 12.5);
    append(log, 0, cells);
    cells[0] = cell(INT64_C(0xFFFFFFFF), INT64_C(0x180000000), 99.5);
    cells[0].raw.multi_count = 4;
    cells[1].raw.status = PDH_CSTATUS_INVALID_DATA; /* the second counter has no value */
    cells[1].has_value = false;
    append(log, 1, cells);
    cells[0].raw.status = PDH_CSTATUS_INVALID_DATA; /* no raw value but a computed one, as in a copy of a CSV log */
    cells[1] = cell(7, 8, (double)INFINITY);
    cells[1].raw.multi_count = 0;
    append(log, 2, cells);
    assert_int_equal(log_writer_size(log), 5 * 76);
    close_log(log);
    memory_free(name);

    expect_rows(d, 12,
                "SELECT CounterID, MachineName, ObjectName, CounterName, CounterType, DefaultScale, InstanceName, "
                "InstanceIndex, ParentName, ParentObjectID, TimeBaseA, TimeBaseB FROM CounterDetails ORDER BY 1",
                "1|\\\\BOX|Processor|% Processor Time|558957824|0|0|0|-|-|10000000|0\n"
                "2|\\\\BOX|Memory|Available Bytes|65792|-6|-|-|-|-|878082202|18\n");
    expect_rows(d, 9,
                "SELECT CounterID, RecordIndex, CounterDateTime, CAST(CounterValue AS varchar(9)), FirstValueA, "
                "FirstValueB, SecondValueA, SecondValueB, MultiCount FROM CounterData ORDER BY RecordIndex, CounterID",
                strcmp(d->product, "SQLite") == 0 ? "1|1|2024-01-01 00:00:00.000|0.0|1432778632|287454020|-2|-1|1\n"
                                                    "2|1|2024-01-01 00:00:00.000|12.5|-1|-1|0|0|1\n"
                                                    "1|2|2024-01-01 00:00:01.000|99.5|-1|0|-2147483648|1|4\n"
                                                    "1|3|2024-01-01 00:00:02.000|99.5|-|-|-|-|-\n"
                                                    "2|3|2024-01-01 00:00:02.000|0.0|7|0|8|0|1\n"
                                                  : "1|1|2024-01-01 00:00:00.000|0|1432778632|287454020|-2|-1|1\n"
                                                    "2|1|2024-01-01 00:00:00.000|12.5|-1|-1|0|0|1\n"
                                                    "1|2|2024-01-01 00:00:01.000|99.5|-1|0|-2147483648|1|4\n"
                                                    "1|3|2024-01-01 00:00:02.000|99.5|-|-|-|-|-\n"
                                                    "2|3|2024-01-01 00:00:02.000|0|7|0|8|0|1\n");
    expect_rows(d, 7,
                "SELECT RunID, DisplayString, LogStartTime, LogStopTime, NumberOfRecords, MinutesToUTC, "
                "TimeZoneName FROM DisplayToID",
                "0|Night run!\xE4\xB8\xAD|2024-01-01 00:00:00.000|2024-01-01 00:00:02.000|3|-60|"
                "Mitteleurop\xC3\xA4ische Zeit\n");
    expect_rows(d, 1, "SELECT count(*) FROM CounterData JOIN DisplayToID ON CounterData.GUID = DisplayToID.GUID",
                "5\n");
    /* SQL Server stores a NUL as the 24th character; these two databases do not. */
    expect_rows(d, 1, "SELECT DISTINCT length(CounterDateTime) FROM CounterData", "23\n");
}

static void instances_appear_and_disappear(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "threads");
    const struct log_counter counters[] = {threads, memory};
    struct log_writer *log = create(name, counters, 2, &options);
    struct log_item items[4] = {{.instance = "System/0"}, {.instance = "a"}, {.instance = "a"}, {.instance = "a#4"}};
    struct log_cell cells[2] = {{.items = items, .item_count = 4}, {.raw.status = PDH_CSTATUS_NO_INSTANCE}};
    for (int i = 0; i < 4; i++) {
        items[i].raw = (struct log_raw){.first = i};
        items[i].has_value = true;
        items[i].value = i;
    }
    append(log, 0, cells);
    cells[0].item_count = 0;
    append(log, 1, cells);
    cells[0].item_count = 1;
    items[0].instance = "b";
    append(log, 2, cells);
    items[0].instance = "a";
    append(log, 3, cells);
    close_log(log);
    memory_free(name);
    expect_rows(d, 5,
                "SELECT d.RecordIndex, ParentName, InstanceName, InstanceIndex, FirstValueA FROM CounterData d "
                "JOIN CounterDetails c ON d.CounterID = c.CounterID ORDER BY 1, 5",
                "1|System|0|0|0\n1|-|a|0|1\n1|-|a|1|2\n1|-|a|4|3\n3|-|b|0|0\n4|-|a|0|0\n");
    expect_rows(d, 1, "SELECT NumberOfRecords FROM DisplayToID", "4\n");
}

static void runs_and_machines_share_a_database(void **state)
{
    const struct database *d = *state;
    struct log_counter other = cpu;
    other.machine = "\\\\OTHER";
    run_of(d, "a", &cpu, 0, 3);
    run_of(d, "b", &cpu, 3, 5);
    run_of(d, "a", &other, 1, 3);
    run_of(d, "a", &cpu, 10, 12);
    expect_rows(d, 2, "SELECT DisplayString, NumberOfRecords FROM DisplayToID ORDER BY 1", "a|7\nb|2\n");
    expect_rows(d, 2, "SELECT LogStartTime, LogStopTime FROM DisplayToID WHERE DisplayString = 'a'",
                "2024-01-01 00:00:00.000|2024-01-01 00:00:11.000\n");
    expect_rows(d, 2, "SELECT CounterID, MachineName FROM CounterDetails ORDER BY 1", "1|\\\\BOX\n2|\\\\OTHER\n");
    expect_rows(d, 4,
                "SELECT DisplayString, CounterID, RecordIndex, FirstValueA FROM CounterData d JOIN DisplayToID t ON "
                "d.GUID = t.GUID ORDER BY 1, 2, 3",
                "a|1|1|0\na|1|2|1\na|1|3|2\na|1|4|10\na|1|5|11\na|2|1|1\na|2|2|2\nb|1|1|3\nb|1|2|4\n");
}

/* A counter with a different type or clock is a different counter. */
static void counters_differ_by_every_property(void **state)
{
    const struct database *d = *state;
    struct log_counter counters[4] = {cpu, cpu, cpu, cpu};
    counters[1].type = PERF_100NSEC_TIMER;
    counters[2].time_base = 3579545;
    counters[3].parent = "p";
    for (int i = 0; i < 4; i++)
        run_of(d, "a", &counters[i], i, i + 1);
    expect_rows(d, 2, "SELECT CounterID, FirstValueA FROM CounterData ORDER BY 1", "1|0\n2|1\n3|2\n4|3\n");
}

static void foreign_table_is_unchanged(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "PWD=cret", "a");
    struct log_writer *log;
    sql_run(d, "CREATE TABLE CounterDetails (CounterID int, Mine int)");
    sql_run(d, "INSERT INTO CounterDetails VALUES (1, 2)");
    HRESULT hr = log_writer_create(LOG_SQL, name, &cpu, 1, START, &options, &log);
    assert_int_equal(hr, (HRESULT)PDH_SQL_EXEC_DIRECT_FAILED);
    assert_non_null(strstr(error_text(hr), "CounterDetails"));
    assert_non_null(strstr(error_text(hr), "SQL:Driver={"));
    assert_null(strstr(error_text(hr), "cret"));
    expect_rows(d, 2, "SELECT * FROM CounterDetails", "1|2\n");
    memory_free(name);
}

static void failed_open_reports_the_reason(void **state)
{
    struct log_writer *log;
    (void)state;
    HRESULT hr = log_writer_create(LOG_SQL, "SQL:OpenPLA has no such source!a", &cpu, 1, START, &options, &log);
    assert_int_equal(hr, (HRESULT)PDH_SQL_CONNECT_FAILED);
    assert_non_null(strstr(error_text(hr), "SQL:OpenPLA has no such source!a: "));
    assert_non_null(strstr(error_text(hr), "IM002"));
    hr = log_writer_create(LOG_SQL, "C:\\a.csv", &cpu, 1, START, &options, &log);
    assert_int_equal(hr, E_INVALIDARG);
    hr = log_writer_create(LOG_SQL, "SQL:Driver={PostgreSQL Unicode};Servername=/nowhere;UID=x;PWD=cret!a", &cpu, 1,
                           START, &options, &log);
    assert_int_equal(hr, (HRESULT)PDH_SQL_CONNECT_FAILED);
    assert_null(strstr(error_text(hr), "cret"));
}

static void a_limit_ends_the_log(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "limit");
    struct log_options limited = {.max_bytes = 2 * 76 + 75, .zone = zone};
    struct log_writer *log = create(name, &cpu, 1, &limited);
    struct log_cell c = cell(1, 1, 1);
    append(log, 0, &c);
    append(log, 1, &c);
    assert_int_equal(log_writer_append(log, START + 2 * SECOND, &c), S_FALSE);
    close_log(log);
    memory_free(name);
    expect_rows(d, 2, "SELECT count(*), max(RecordIndex) FROM CounterData", "2|2\n");
}

/* The log has more rows than fit into one transaction or statement. No sample may be lost or written twice. */
static void a_copy_of_a_long_log_waits_for_the_database(void **state)
{
    enum { COUNTERS = 45, SAMPLES = 1500 };
    const struct database *d = *state;
    char *name = sql_name(d, "", "long");
    struct log_options wait_for_database = {.wait_for_database = true, .kept_bytes = 100000, .zone = zone};
    struct log_counter counters[COUNTERS];
    struct log_cell cells[COUNTERS];

    for (uint32_t i = 0; i < COUNTERS; i++) {
        counters[i] = cpu;
        counters[i].index = i;
    }
    struct log_writer *log = create(name, counters, COUNTERS, &wait_for_database);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < COUNTERS; i++)
            cells[i] = cell((int64_t)s << 32 | i, i, s);
        append(log, s, cells);
    }
    assert_int_equal(log_writer_flush(log), S_OK);
    expect_rows(d, 1, "SELECT count(*) FROM CounterData", "67500\n");
    close_log(log);
    memory_free(name);
    expect_rows(d, 2,
                "SELECT count(*), count(DISTINCT RecordIndex) FROM CounterData d JOIN CounterDetails c ON "
                "d.CounterID = c.CounterID WHERE FirstValueB = RecordIndex - 1 AND FirstValueA = InstanceIndex AND "
                "CounterValue = FirstValueB",
                "67500|1500\n");
    expect_rows(d, 1, "SELECT NumberOfRecords FROM DisplayToID", "1500\n");
}

/* Locks the database as another user. If a log then writes to it, SQLite's driver gives up after a while, but
   PostgreSQL waits without limit. */
static void lock_database(const struct database *d)
{
    if (d == &sqlite) {
        sql_run(d, "BEGIN EXCLUSIVE");
    } else {
        assert_int_equal(odbc_begin(d->odbc), S_OK);
        sql_run(d, "LOCK TABLE DisplayToID IN ACCESS EXCLUSIVE MODE");
    }
}

static void unlock_database(const struct database *d)
{
    if (d == &sqlite)
        sql_run(d, "COMMIT");
    else
        assert_int_equal(odbc_end(d->odbc, true), S_OK);
}

/* Appends `kept` samples, which the log keeps in memory, and `lost` samples, which it rejects with the reason. Each
   call must return immediately: this thread holds the lock, so a call that waited for the database would not return. */
static void append_while_locked(struct log_writer *log, int from, int kept, int lost)
{
    struct log_cell c = cell(1, 1, 1);
    for (int i = from; i < from + kept + lost; i++) {
        if (i < from + kept) {
            append(log, i, &c);
        } else {
            HRESULT hr = log_writer_append(log, START + i * SECOND, &c);
            assert_true(FAILED(hr));
            assert_non_null(strstr(error_text(hr), "samples is full"));
        }
    }
}

static void wait_for(const struct database *d, const char *sql, const char *rows)
{
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS;;) {
        char *found = sql_rows(d, 1, sql);
        bool equal = strcmp(found, rows) == 0;
        if (!equal && clock_monotonic_ms() > end)
            fail_msg("%s: %s gives %s", d->product, sql, found);
        memory_free(found);
        if (equal)
            return;
        thread_sleep(100);
    }
}

/* Waits until the log reports the end of an outage, and returns the report. This is later than the time when other
   connections see the rows. The caller frees the string. */
static char *wait_for_warning(struct log_writer *log)
{
    char *text = NULL;
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS; log_writer_warning(log, &text) == S_FALSE;) {
        if (clock_monotonic_ms() > end)
            fail_msg("the log did not report the end of the outage");
        thread_sleep(100);
    }
    assert_non_null(text);
    return text;
}

static void samples_are_kept_while_the_database_is_unreachable(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "away"), *text;
    struct log_cell c = cell(1, 1, 1);
    /* room for three samples with one row each: a sample needs 40 bytes, and a row needs 40 */
    struct log_options small = {.kept_bytes = 3 * 80, .zone = zone};
    struct log_writer *log = create(name, &cpu, 1, &small);

    assert_int_equal(log_writer_warning(log, &text), S_FALSE);
    append(log, 0, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "1\n");
    lock_database(d);
    append_while_locked(log, 1, 3, 4);
    unlock_database(d);
    wait_for(d, "SELECT count(*) FROM CounterData", "4\n");
    memory_free(wait_for_warning(log));
    append(log, 8, &c);
    close_log(log);
    memory_free(name);
    expect_rows(d, 2, "SELECT RecordIndex, CounterDateTime FROM CounterData ORDER BY 1",
                "1|2024-01-01 00:00:00.000\n2|2024-01-01 00:00:01.000\n3|2024-01-01 00:00:02.000\n"
                "4|2024-01-01 00:00:03.000\n9|2024-01-01 00:00:08.000\n");
    expect_rows(d, 1, "SELECT NumberOfRecords FROM DisplayToID", "5\n");
}

static void outage_is_reported(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "told"), *text = NULL;
    struct log_options small = {.kept_bytes = 2 * 80, .zone = zone};
    struct log_writer *log = create(name, &cpu, 1, &small);
    lock_database(d);
    append_while_locked(log, 0, 2, 3);
    unlock_database(d);
    wait_for(d, "SELECT count(*) FROM CounterData", "2\n");
    text = wait_for_warning(log);
    assert_non_null(strstr(text, "!told: the database was unreachable from "));
    assert_non_null(strstr(text, "2 samples were kept and written later, 3 were lost: "));
    memory_free(text);
    assert_int_equal(log_writer_warning(log, &text), S_FALSE);
    assert_null(text);
    close_log(log);
    memory_free(name);
}

static void hung_database_does_not_delay_the_end(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "hangs");
    struct log_writer *log = create(name, &cpu, 1, &options);
    struct log_cell c = cell(1, 1, 1);
    lock_database(d);
    append(log, 0, &c);
    append(log, 1, &c);
    HRESULT hr = log_writer_close(log); /* this thread holds the lock, so a call that waited for the
                                           database would not return */
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "the last 2 samples could not be written"));
    unlock_database(d);
    /* The database may complete a write that was in progress at the timeout. It stores no, one or both samples. */
    wait_for(d, d == &sqlite ? "SELECT count(*) FROM CounterData" : "SELECT (count(*) + 1) / 2 FROM CounterData",
             d == &sqlite ? "0\n" : "1\n");
    memory_free(name);
}

/* Closes all other connections, as if the server was restarted. */
static void end_connections(void)
{
    memory_free(
        sql_rows(&postgres, 1,
                 "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                 "datname = current_database()"));
}

static void new_connection_continues_the_log(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "again"), *text = NULL;
    const struct log_counter counters[] = {threads};
    struct log_writer *log = create(name, counters, 1, &options);
    struct log_item items[] = {{.instance = "a"}, {.instance = "b"}};
    struct log_cell c = {.items = items, .item_count = 2};
    append(log, 0, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "2\n");
    end_connections();
    append(log, 1, &c);
    items[1].instance = "c";
    append(log, 2, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "6\n");
    text = wait_for_warning(log);
    assert_non_null(strstr(text, "samples were kept and written later, 0 were lost: "));
    memory_free(text);
    /* Another program empties the database while the log is open. */
    database_empty(state);
    append(log, 3, &c);
    close_log(log);
    memory_free(name);
    expect_rows(d, 4,
                "SELECT DisplayString, RecordIndex, InstanceName, CounterDateTime FROM CounterData d JOIN "
                "CounterDetails c ON d.CounterID = c.CounterID JOIN DisplayToID t ON d.GUID = t.GUID ORDER BY 3",
                "again|4|a|2024-01-01 00:00:03.000\nagain|4|c|2024-01-01 00:00:03.000\n");
}

/* Replaces odbc_end, and can lose a commit: either the request does not reach the database, or the database commits but
   its reply is lost. */
HRESULT __real_odbc_end(struct odbc *c, bool commit);
HRESULT __wrap_odbc_end(struct odbc *c, bool commit);
static volatile int lose_after, lose_before;

HRESULT __wrap_odbc_end(struct odbc *c, bool commit)
{
    HRESULT hr = S_OK;
    if (lose_before && commit) {
        lose_before--;
        return error_set((HRESULT)PDH_SQL_EXEC_DIRECT_FAILED, "lost on its way there");
    }
    hr = __real_odbc_end(c, commit);
    if (lose_after && commit) {
        lose_after--;
        return error_set((HRESULT)PDH_SQL_EXEC_DIRECT_FAILED, "lost on its way back");
    }
    return hr;
}

static void commit_with_unknown_result_is_verified(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "doubt");
    struct log_writer *log = create(name, &cpu, 1, &options);
    struct log_cell c = cell(1, 1, 1);
    lose_after = 1;
    append(log, 0, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "1\n");
    append(log, 1, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "2\n");
    lose_before = 1;
    append(log, 2, &c);
    wait_for(d, "SELECT count(*) FROM CounterData", "3\n");
    assert_int_equal(lose_after + lose_before, 0);
    append(log, 3, &c);
    close_log(log);
    memory_free(name);
    expect_rows(d, 2, "SELECT RecordIndex, CounterDateTime FROM CounterData ORDER BY 1",
                "1|2024-01-01 00:00:00.000\n2|2024-01-01 00:00:01.000\n3|2024-01-01 00:00:02.000\n"
                "4|2024-01-01 00:00:03.000\n");
    expect_rows(d, 1, "SELECT NumberOfRecords FROM DisplayToID", "4\n");
}

/* If two logs with the same name are written on one computer at the same time, each row must get its own number. */
static void two_logs_with_one_name_do_not_collide(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "twins");
    struct log_writer *a = create(name, &cpu, 1, &options), *b = create(name, &cpu, 1, &options);
    for (int i = 0; i < 6; i++) {
        struct log_cell c = cell(i, 1, 1);
        append(i % 2 ? a : b, i, &c);
    }
    close_log(a);
    close_log(b);
    memory_free(name);
    expect_rows(d, 3, "SELECT count(*), count(DISTINCT RecordIndex), count(DISTINCT FirstValueA) FROM CounterData",
                "6|6|6\n");
}

static void out_of_memory_is_an_error(void **state)
{
    const struct database *d = *state;
    char *name = sql_name(d, "", "memory");
    const struct log_counter counters[] = {cpu, threads};
    struct log_item items[] = {{.instance = "a"}, {.instance = "b/c#2"}};
    struct log_cell cells[] = {cell(1, 1, 1), {.items = items, .item_count = 2}};
    HRESULT hr = E_OUTOFMEMORY;
    struct log_writer *log;
    for (uint64_t n = 1; FAILED(hr); n++) {
        memory_fail_at(n);
        hr = log_writer_create(LOG_SQL, name, counters, 2, START, &options, &log);
        memory_fail_at(0);
        if (FAILED(hr))
            assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(n < 200);
    }
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; FAILED(hr); n++) {
        memory_fail_at(n);
        hr = log_writer_append(log, START, cells);
        memory_fail_at(0);
        if (FAILED(hr))
            assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(n < 100);
    }
    close_log(log);
    memory_free(name);
    expect_rows(d, 1, "SELECT count(*) FROM CounterData", "3\n");
}

#define ON(database, test)                                                                                             \
    {                                                                                                                  \
#database ": " #test, test, database_empty, NULL, &database                                                    \
    }
#define ON_BOTH(test) ON(sqlite, test), ON(postgres, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(samples_are_rows_of_three_tables),
        ON_BOTH(instances_appear_and_disappear),
        ON_BOTH(runs_and_machines_share_a_database),
        ON_BOTH(counters_differ_by_every_property),
        ON_BOTH(foreign_table_is_unchanged),
        cmocka_unit_test(failed_open_reports_the_reason),
        ON_BOTH(a_limit_ends_the_log),
        ON_BOTH(a_copy_of_a_long_log_waits_for_the_database),
        ON_BOTH(samples_are_kept_while_the_database_is_unreachable),
        ON_BOTH(outage_is_reported),
        ON_BOTH(hung_database_does_not_delay_the_end),
        ON(postgres, new_connection_continues_the_log),
        ON_BOTH(commit_with_unknown_result_is_verified),
        ON_BOTH(two_logs_with_one_name_do_not_collide),
        ON_BOTH(out_of_memory_is_an_error),
    };
    int failed = !databases_open("log_sql");
    if (!failed)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    databases_close();
    return failed;
}
