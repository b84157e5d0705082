/* SPDX-License-Identifier: MIT */
/* bench_sql CONNECTION [COUNTERS [SAMPLES]]: compares the writer of SQL logs with a plain loop of prepared ODBC inserts
   of the same rows in one transaction, and the reader with a plain loop of fetches, in the same run. CONNECTION is the
   ODBC connection string of an empty database, for example Driver={SQLite3};Database=/dev/shm/bench.db; its tables
   CounterData, CounterDetails and DisplayToID are dropped. Prints rows per second and the ratio of the times, as the
   median of five rounds. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql_log.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5, VALUES = 9 };
#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)
#define GUID   "9C50E7E8-0B2A-4C3E-9D2E-0123456789AB"
#define COLUMNS                                                                                                        \
    "CounterID, RecordIndex, CounterDateTime, CounterValue, FirstValueA, FirstValueB, SecondValueA, SecondValueB, "    \
    "MultiCount"

static struct odbc *connection;
static char *name;
static size_t counters, samples;
static struct log_counter *names;
static struct log_cell *cells;

static double seconds_since(int64_t begin)
{
    return (double)(clock_ticks() - begin) / (double)clock_frequency();
}

static void empty(void)
{
    const struct sql_dialect *dialect;
    must(odbc_run(connection, "DROP TABLE IF EXISTS CounterData"), "drop");
    must(odbc_run(connection, "DROP TABLE IF EXISTS CounterDetails"), "drop");
    must(odbc_run(connection, "DROP TABLE IF EXISTS DisplayToID"), "drop");
    must(sql_dialect_of(connection, &dialect), "dialect");
    must(sql_tables_ensure(connection, dialect, true), "create");
}

static double write_log(void)
{
    const struct log_options options = {.wait_for_database = true};
    struct log_writer *log;
    empty();
    int64_t begin = clock_ticks();
    must(log_writer_create(LOG_SQL, name, names, counters, START, &options, &log), "create");
    for (size_t i = 0; i < samples; i++)
        must(log_writer_append(log, START + (int64_t)i * SECOND, cells + i % 16 * counters), "append");
    must(log_writer_close(log), "close");
    return seconds_since(begin);
}

static void set_integer(struct odbc_value *v, int64_t number)
{
    v->integer = (int32_t)number;
}

/* The floor for the writer: the same values, bound once, inserted row by row. */
static double write_bare(void)
{
    struct odbc_value v[VALUES] = {{.kind = ODBC_INTEGER}};
    WCHAR room[SQL_TIME_UNITS];
    struct odbc_statement *insert;
    v[2] = (struct odbc_value){.kind = ODBC_TEXT, .text = room, .units = SQL_TIME_UNITS};
    v[3].kind = ODBC_REAL;
    empty();
    int64_t begin = clock_ticks();
    must(odbc_begin(connection), "begin");
    must(odbc_prepare(connection,
                      "INSERT INTO CounterData (GUID, " COLUMNS ") VALUES ('" GUID "', ?, ?, ?, ?, ?, ?, ?, ?, ?)", v,
                      VALUES, NULL, 0, &insert),
         "prepare");
    for (size_t i = 0; i < samples; i++) {
        char time[SQL_TIME_UNITS];
        sql_time_text(START + (int64_t)i * SECOND, time);
        odbc_set_text(&v[2], time);
        set_integer(&v[1], (int64_t)i + 1);
        for (size_t k = 0; k < counters; k++) {
            const struct log_cell *cell = &cells[i % 16 * counters + k];
            set_integer(&v[0], (int64_t)k + 1);
            v[3].real = cell->value;
            set_integer(&v[4], cell->raw.first);
            set_integer(&v[5], cell->raw.first >> 32);
            set_integer(&v[6], cell->raw.second);
            set_integer(&v[7], cell->raw.second >> 32);
            set_integer(&v[8], 1);
            must(odbc_execute(insert), "insert");
        }
    }
    must(odbc_end(connection, true), "commit");
    odbc_close(insert);
    return seconds_since(begin);
}

static double read_log(void)
{
    struct log_reader *log;
    const struct log_cell *read;
    int64_t utc, begin = clock_ticks();
    size_t count = 0;
    must(log_reader_open(name, &log), "open");
    HRESULT hr;
    while ((hr = log_reader_next(log, &utc, &read)) == S_OK)
        count++;
    must(hr, "read");
    log_reader_close(log);
    if (count != samples) {
        fprintf(stderr, "bench_sql: %zu samples of %zu were read\n", count, samples);
        exit(1);
    }
    return seconds_since(begin);
}

static double read_bare(void)
{
    struct odbc_value v[VALUES] = {{.kind = ODBC_INTEGER}};
    WCHAR room[SQL_TIME_UNITS];
    struct odbc_statement *select;
    size_t count = 0;
    v[2] = (struct odbc_value){.kind = ODBC_TEXT, .text = room, .units = SQL_TIME_UNITS};
    v[3].kind = ODBC_REAL;
    int64_t begin = clock_ticks();
    must(odbc_prepare(connection,
                      "SELECT " COLUMNS " FROM CounterData ORDER BY CounterDateTime, RecordIndex, CounterID", NULL, 0,
                      v, VALUES, &select),
         "prepare");
    must(odbc_execute(select), "select");
    HRESULT hr;
    while ((hr = odbc_fetch(select)) == S_OK)
        count++;
    must(hr, "fetch");
    odbc_close(select);
    if (count != samples * counters) {
        fprintf(stderr, "bench_sql: %zu rows were fetched\n", count);
        exit(1);
    }
    return seconds_since(begin);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds)
{
    qsort(seconds, ROUNDS, sizeof *seconds, compare_doubles);
    return seconds[ROUNDS / 2];
}

static void print(const char *what, double *ours, double *bare)
{
    double rows = (double)counters * (double)samples, o = median(ours), b = median(bare);
    printf("%-10s %-6s %8.0f rows/s (%.0f-%.0f)  bare ODBC loop %8.0f rows/s  time/bare %.2f\n",
           odbc_product(connection), what, rows / o, rows / ours[ROUNDS - 1], rows / ours[0], rows / b, o / b);
}

int main(int argc, char **argv)
{
    double ours[2][ROUNDS], bare[2][ROUNDS];
    counters = argc > 2 ? (size_t)atoi(argv[2]) : 200;
    samples = argc > 3 ? (size_t)atoi(argv[3]) : 500;
    if (argc < 2 || counters == 0 || samples == 0) {
        fprintf(stderr, "usage: bench_sql CONNECTION [COUNTERS [SAMPLES]]\n");
        return 2;
    }
    must(odbc_connect(argv[1], 10, &connection), "connect");
    name = text_format("SQL:%s!bench", argv[1]);
    names = memory_zero(counters, sizeof *names);
    cells = memory_zero(counters * 16, sizeof *cells);
    if (!name || !names || !cells)
        return 1;
    for (size_t i = 0; i < counters * 16; i++) {
        cells[i] = (struct log_cell){.raw = {.first = (int64_t)i << 20, .second = (int64_t)i << 30, .multi_count = 1},
                                     .has_value = true,
                                     .value = (double)(i % 9973) / 99.73};
    }
    for (size_t i = 0; i < counters; i++) {
        names[i] = (struct log_counter){.machine = "\\\\BOX",
                                        .object = "Process",
                                        .instance = "svchost",
                                        .index = (uint32_t)i,
                                        .counter = "% Processor Time",
                                        .type = 0x20510500};
    }
    for (int i = 0; i < ROUNDS; i++) {
        bare[0][i] = write_bare();
        bare[1][i] = read_bare();
        ours[0][i] = write_log();
        ours[1][i] = read_log();
    }
    print("write", ours[0], bare[0]);
    print("read", ours[1], bare[1]);
    odbc_disconnect(connection);
    memory_free(name);
    memory_free(names);
    memory_free(cells);
    return 0;
}
