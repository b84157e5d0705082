/* SPDX-License-Identifier: MIT */
/* Reads a log set (MS-PLA 2.2.2.7) from a database, written by OpenPLA or by Windows.
   - The counters are those with rows in the log set when it is opened; each instance is a separate counter.
   - Rows with the same time and RecordIndex form a sample. Samples are returned in time order; times are UTC (DECISIONS
     8).
   - Windows writes 0 as a rate's first value, so a 0 is not treated as a missing value.
   - Rows are fetched one by one if the driver supports this, so that the whole set is never in this process's
   memory. */
#include "engine/base/memory.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/number_text.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOGIN_SECONDS = 10, VALUE_UNITS = 64, TICKS_PER_MS = 10000 };
#define LAST_TIME (INT64_C(2650467744000000000) - 1) /* end of the year 9999, because years have four digits */
enum { C_ID, C_INDEX, C_TIME, C_VALUE, C_FIRST_A, C_FIRST_B, C_SECOND_A, C_SECOND_B, C_MULTI, COLUMNS };

struct sql_reader {
    struct log_reader base;
    struct sql_source source;
    const struct sql_dialect *dialect;
    struct odbc *connection;
    char guid[SQL_GUID_UNITS];
    struct counter_id {
        int32_t id;
        uint32_t column;
    } * ids; /* sorted by id */
    struct log_cell *cells;
    uint64_t done, total;

    struct odbc_statement *rows; /* NULL: the next call runs the query again, from the time `from` */
    char from[SQL_TIME_UNITS];   /* "": from the first sample */
    bool ahead, ended;           /* ahead: `row` contains a row that is not used yet; ended: no more rows */
    struct odbc_value row[COLUMNS];
    WCHAR time[SQL_TIME_UNITS], last_time[SQL_TIME_UNITS], value[VALUE_UNITS];
};

static bool sql_recognises(const char *path, const uint8_t *head, size_t size)
{
    (void)size;
    return !head && sql_source_is(path);
}

static void sql_close_reader(struct log_reader *base)
{
    struct sql_reader *r = (struct sql_reader *)base;
    odbc_close(r->rows);
    odbc_disconnect(r->connection);
    sql_source_free(&r->source);
    memory_free(r->ids);
    memory_free(r->cells);
    log_reader_free_base(base);
    memory_free(r);
}

/* Connects. If the dialect has a `streaming` string, the driver returns rows one by one only on request. The function
   then connects a second time, with this string added to the connection string. */
static HRESULT connect_reader(struct sql_reader *r)
{
    HRESULT hr = odbc_connect(r->source.connection, LOGIN_SECONDS, &r->connection);
    if (SUCCEEDED(hr))
        hr = sql_dialect_of(r->connection, &r->dialect);
    if (FAILED(hr) || !r->dialect->streaming[0])
        return hr;
    char *connection;
    odbc_disconnect(r->connection);
    r->connection = NULL;
    hr = odbc_string_add(r->source.connection, r->dialect->streaming, &connection);
    if (SUCCEEDED(hr))
        hr = odbc_connect(connection, LOGIN_SECONDS, &r->connection);
    memory_free(connection);
    return hr;
}

/* Runs a query that returns one row. S_FALSE: no row was returned. */
static HRESULT one_row(struct sql_reader *r, const char *sql, struct odbc_value *in, size_t in_count,
                       struct odbc_value *out, size_t out_count)
{
    struct odbc_statement *select;
    HRESULT hr = odbc_prepare(r->connection, sql, in, in_count, out, out_count, &select);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(select);
        if (SUCCEEDED(hr))
            hr = odbc_fetch(select);
        odbc_close(select);
    }
    return hr;
}

/* Removes the trailing spaces that a char(24) or char(32) can have. */
static void cut_blanks(char *text)
{
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
}

static HRESULT read_set(struct sql_reader *r)
{
    WCHAR name[SQL_NAME_UNITS], guid_text[SQL_GUID_UNITS], zone[SQL_ZONE_UNITS];
    struct odbc_value in = odbc_text(name, SQL_NAME_UNITS);
    struct odbc_value out[] = {
        odbc_text(guid_text, SQL_GUID_UNITS), {.kind = ODBC_INTEGER}, odbc_text(zone, SQL_ZONE_UNITS)};
    GUID guid;
    char *text = NULL;
    odbc_set_text(&in, r->source.log_set);
    HRESULT hr =
        one_row(r, "SELECT GUID, MinutesToUTC, TimeZoneName FROM DisplayToID WHERE DisplayString = ?", &in, 1, out, 3);
    if (hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "the database has no log set with this name");
    if (SUCCEEDED(hr))
        hr = odbc_get_text(&out[0], &text);
    if (SUCCEEDED(hr) && !text_to_guid(text, &guid))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "DisplayToID: '%s' is not a GUID", text);
    memory_free(text);
    text = NULL;
    if (SUCCEEDED(hr))
        hr = odbc_get_text(&out[2], &text);
    if (FAILED(hr))
        return hr;
    cut_blanks(text);
    sql_guid_text(&guid, r->guid);
    r->base.info.zone.known = out[1].length != ODBC_NULL;
    r->base.info.zone.bias_minutes = r->base.info.zone.known ? out[1].integer : 0;
    r->base.info.zone.name = text;
    if (!text[0]) {
        r->base.info.zone.name = NULL;
        memory_free(text);
    }
    return S_OK;
}

/* Reads a name from a row. A missing name is NULL, or "" if `required`. */
static HRESULT get_name(const struct odbc_value *v, bool required, const char **out)
{
    char *text;
    HRESULT hr = odbc_get_text(v, &text);
    *out = NULL;
    if (SUCCEEDED(hr) && v->length == ODBC_NULL && !required)
        memory_free(text);
    else if (SUCCEEDED(hr))
        *out = text;
    return hr;
}

static int64_t wide_number(const struct odbc_value *a, const struct odbc_value *b)
{
    return (int64_t)((uint64_t)(uint32_t)b->integer << 32 | (uint32_t)a->integer);
}

enum {
    D_ID,
    D_MACHINE,
    D_OBJECT,
    D_COUNTER,
    D_INSTANCE,
    D_PARENT,
    D_TYPE,
    D_SCALE,
    D_INDEX,
    D_BASE_A,
    D_BASE_B,
    DETAILS
};

static HRESULT add_counter(struct sql_reader *r, const struct odbc_value *row, size_t *capacity)
{
    struct log_counter names = {0};
    const char **const texts[] = {&names.machine, &names.object, &names.counter, &names.instance, &names.parent};
    HRESULT hr = S_OK;
    for (int i = 0; i < 5 && SUCCEEDED(hr); i++)
        hr = get_name(&row[D_MACHINE + i], i < 3, texts[i]);
    if (SUCCEEDED(hr)) {
        const char *machine = names.machine;
        names.type = (uint32_t)row[D_TYPE].integer;
        names.default_scale = row[D_SCALE].integer;
        names.index = row[D_INDEX].length == ODBC_NULL ? 0 : (uint32_t)row[D_INDEX].integer;
        if (row[D_BASE_A].length != ODBC_NULL && row[D_BASE_B].length != ODBC_NULL)
            names.time_base = wide_number(&row[D_BASE_A], &row[D_BASE_B]);
        if (!machine[0])
            names.machine = NULL;
        void *ids = r->ids;
        hr = memory_grow(&ids, capacity, r->base.counters.count + 1, sizeof *r->ids)
                 ? log_counters_add(&r->base.counters, &names)
                 : E_OUTOFMEMORY;
        r->ids = ids;
        names.machine = machine;
    }
    if (SUCCEEDED(hr)) {
        uint32_t column = (uint32_t)r->base.counters.count - 1;
        r->ids[column] = (struct counter_id){row[D_ID].integer, column};
    }
    for (int i = 0; i < 5; i++)
        memory_free((void *)*texts[i]);
    return hr;
}

/* Sets the log's computer if all counters have the same computer. */
static HRESULT set_machine(struct sql_reader *r)
{
    const struct log_counters *c = &r->base.counters;
    const char *machine = c->count > 0 ? c->items[0].machine : NULL;
    for (size_t i = 1; i < c->count && machine; i++)
        if (!c->items[i].machine || strcmp(c->items[i].machine, machine) != 0)
            machine = NULL;
    if (machine) {
        r->base.info.machine = text_copy(machine);
        return r->base.info.machine ? S_OK : E_OUTOFMEMORY;
    }
    return S_OK;
}

static HRESULT read_counters(struct sql_reader *r)
{
    WCHAR room[5][SQL_NAME_UNITS];
    struct odbc_value row[DETAILS] = {{.kind = ODBC_INTEGER}};
    struct odbc_statement *select;
    size_t capacity = 0;
    char sql[400];
    for (int i = 0; i < 5; i++)
        row[D_MACHINE + i] = odbc_text(room[i], SQL_NAME_UNITS);
    snprintf(
        sql, sizeof sql,
        "SELECT CounterID, MachineName, ObjectName, CounterName, InstanceName, ParentName, CounterType, "
        "DefaultScale, InstanceIndex, TimeBaseA, TimeBaseB FROM CounterDetails WHERE CounterID IN (SELECT CounterID "
        "FROM CounterData WHERE GUID = '%s') ORDER BY CounterID",
        r->guid);
    HRESULT hr = odbc_prepare(r->connection, sql, NULL, 0, row, DETAILS, &select);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(select);
        while (SUCCEEDED(hr) && (hr = odbc_fetch(select)) == S_OK)
            hr = add_counter(r, row, &capacity);
        odbc_close(select);
    }
    if (SUCCEEDED(hr)) {
        r->cells = memory_zero(r->base.counters.count + 1, sizeof *r->cells);
        hr = r->cells ? set_machine(r) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Returns the condition for the log set's rows in CounterData, starting at `from`. From memory_alloc. */
static char *row_condition(const struct sql_reader *r)
{
    return text_format("GUID = '%s'%s%s%s", r->guid, r->from[0] ? " AND CounterDateTime >= '" : "", r->from,
                       r->from[0] ? "'" : "");
}

static HRESULT count_rows(struct sql_reader *r, const char *condition, uint64_t *rows)
{
    WCHAR room[32];
    struct odbc_value count = odbc_text(room, 32);
    char sql[192], *text;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM CounterData WHERE %s", condition);
    HRESULT hr = one_row(r, sql, NULL, 0, &count, 1);
    if (SUCCEEDED(hr))
        hr = odbc_get_text(&count, &text);
    if (SUCCEEDED(hr)) {
        (void)text_to_u64(text, rows);
        memory_free(text);
    }
    return hr;
}

static HRESULT sql_open(const char *path, struct log_reader **out)
{
    struct sql_reader *r = memory_zero(1, sizeof *r);
    if (!r)
        return E_OUTOFMEMORY;
    r->base.functions = &log_sql_reader;
    r->base.info.format = LOG_SQL;
    r->base.info.has_values = true;
    HRESULT hr = sql_source_parse(path, &r->source);
    if (SUCCEEDED(hr)) {
        hr = connect_reader(r);
        if (SUCCEEDED(hr))
            hr = sql_tables_ensure(r->connection, r->dialect, false);
        if (SUCCEEDED(hr))
            hr = read_set(r);
        if (SUCCEEDED(hr))
            hr = read_counters(r);
        if (SUCCEEDED(hr)) {
            char *condition = row_condition(r);
            hr = condition ? count_rows(r, condition, &r->total) : E_OUTOFMEMORY;
            memory_free(condition);
        }
        if (FAILED(hr))
            error_prefix(hr, "%s", r->source.shown);
    }
    if (FAILED(hr)) {
        sql_close_reader(&r->base);
        return hr;
    }
    *out = &r->base;
    return S_OK;
}

static HRESULT begin_rows(struct sql_reader *r)
{
    for (int i = 0; i < COLUMNS; i++)
        r->row[i] = (struct odbc_value){.kind = ODBC_INTEGER};
    r->row[C_TIME] = odbc_text(r->time, SQL_TIME_UNITS);
    r->row[C_VALUE] = r->dialect->value ? odbc_text(r->value, VALUE_UNITS) : (struct odbc_value){.kind = ODBC_REAL};
    char *condition = row_condition(r), *sql = NULL;
    uint64_t rows = 0;
    HRESULT hr = condition ? count_rows(r, condition, &rows) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        sql = text_format("SELECT CounterID, RecordIndex, CounterDateTime, %s, FirstValueA, FirstValueB, SecondValueA, "
                          "SecondValueB, MultiCount FROM CounterData WHERE %s ORDER BY CounterDateTime, RecordIndex, "
                          "CounterID",
                          r->dialect->value ? r->dialect->value : "CounterValue", condition);
        hr = sql ? odbc_prepare(r->connection, sql, NULL, 0, r->row, COLUMNS, &r->rows) : E_OUTOFMEMORY;
    }
    memory_free(condition);
    memory_free(sql);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(r->rows);
        if (FAILED(hr)) {
            odbc_close(r->rows);
            r->rows = NULL;
        }
    }
    r->ended = r->ahead = false;
    if (!r->from[0])
        r->total = rows;
    r->done = r->total > rows ? r->total - rows : 0;
    return hr;
}

/* Fetches the next row into `row`. S_FALSE: no more rows. */
static HRESULT look_ahead(struct sql_reader *r)
{
    if (r->ahead)
        return S_OK;
    HRESULT hr = r->ended ? S_FALSE : odbc_fetch(r->rows);
    r->ahead = hr == S_OK;
    r->ended = hr == S_FALSE;
    if (r->ahead) {
        size_t units = r->row[C_TIME].length > 0 ? (size_t)r->row[C_TIME].length / sizeof *r->time : 0;
        memset(r->time + (units < SQL_TIME_UNITS ? units : SQL_TIME_UNITS), 0,
               (units < SQL_TIME_UNITS ? SQL_TIME_UNITS - units : 0) * sizeof *r->time);
        r->done++;
    }
    return hr;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = ((const struct counter_id *)a)->id, y = ((const struct counter_id *)b)->id;
    return (x > y) - (x < y);
}

/* Stores the row's value in the cell of its counter. */
static HRESULT take_row(struct sql_reader *r)
{
    const struct odbc_value *row = r->row;
    const struct counter_id key = {.id = row[C_ID].integer};
    const struct counter_id *found =
        r->base.counters.count > 0 ? bsearch(&key, r->ids, r->base.counters.count, sizeof *r->ids, compare_ids) : NULL;
    r->ahead = false;
    if (!found) {
        /* The counter was added after the log set was opened, or has no row in CounterDetails. */
        log_reader_warn(&r->base, "CounterData: skipped a row with CounterID %d, which is not in CounterDetails",
                        (int)key.id);
        return S_OK;
    }
    struct log_cell *cell = &r->cells[found->column];
    cell->has_value = row[C_VALUE].length != ODBC_NULL;
    cell->value = row[C_VALUE].real;
    if (cell->has_value && row[C_VALUE].kind == ODBC_TEXT) {
        char *text;
        HRESULT hr = odbc_get_text(&row[C_VALUE], &text);
        if (FAILED(hr))
            return hr;
        cell->has_value = number_read(text, text + strlen(text), '.', &cell->value) != NULL;
        memory_free(text);
    }
    if (row[C_FIRST_A].length != ODBC_NULL && row[C_FIRST_B].length != ODBC_NULL) {
        bool second = row[C_SECOND_A].length != ODBC_NULL && row[C_SECOND_B].length != ODBC_NULL;
        cell->raw = (struct log_raw){
            .status = PDH_CSTATUS_VALID_DATA,
            .first = wide_number(&row[C_FIRST_A], &row[C_FIRST_B]),
            .second = second ? wide_number(&row[C_SECOND_A], &row[C_SECOND_B]) : 0,
            .multi_count = row[C_MULTI].length != ODBC_NULL ? (uint32_t)row[C_MULTI].integer : 1,
        };
    }
    return S_OK;
}

/* Reads all rows of the sample that begins with the fetched row. S_FALSE: the sample's time is invalid, and its rows
   are skipped. */
static HRESULT take_sample(struct sql_reader *r, int64_t *utc)
{
    int32_t index = r->row[C_INDEX].integer;
    char *text;
    HRESULT hr = odbc_get_text(&r->row[C_TIME], &text);
    if (FAILED(hr))
        return hr;
    cut_blanks(text);
    bool timed = sql_time_parse(text, utc);
    if (!timed)
        log_reader_warn(&r->base, "CounterData: the row with RecordIndex %d has the invalid time '%s'", (int)index,
                        text);
    memory_free(text);
    for (size_t i = 0; i < r->base.counters.count; i++)
        r->cells[i] = (struct log_cell){.raw.status = PDH_CSTATUS_INVALID_DATA};
    memcpy(r->last_time, r->time, sizeof r->time);
    do {
        hr = take_row(r);
        if (SUCCEEDED(hr))
            hr = look_ahead(r);
    } while (hr == S_OK && r->row[C_INDEX].integer == index && memcmp(r->time, r->last_time, sizeof r->time) == 0);
    return FAILED(hr) ? hr : timed ? S_OK : S_FALSE;
}

static HRESULT sql_next(struct log_reader *base, int64_t *utc, const struct log_cell **cells)
{
    struct sql_reader *r = (struct sql_reader *)base;
    HRESULT hr = r->rows ? S_OK : begin_rows(r);
    while (SUCCEEDED(hr)) {
        hr = look_ahead(r);
        if (hr != S_OK)
            break;
        hr = take_sample(r, utc);
        if (hr == S_OK) {
            *cells = r->cells;
            return S_OK;
        }
    }
    return FAILED(hr) ? error_prefix(hr, "%s", r->source.shown) : hr;
}

/* Seeks to the first stored time at or after `utc`. Stored times have whole milliseconds, so `utc` is rounded up. */
static HRESULT sql_seek(struct log_reader *base, int64_t utc)
{
    struct sql_reader *r = (struct sql_reader *)base;
    odbc_close(r->rows);
    r->rows = NULL;
    r->from[0] = '\0';
    if (utc > 0)
        sql_time_text(utc < LAST_TIME ? utc + TICKS_PER_MS - 1 : LAST_TIME, r->from);
    return S_OK;
}

static void sql_progress(const struct log_reader *base, uint64_t *done, uint64_t *total)
{
    const struct sql_reader *r = (const struct sql_reader *)base;
    *done = r->done;
    *total = r->total > r->done ? r->total : r->done;
}

const struct log_reader_functions log_sql_reader = {.recognises = sql_recognises,
                                                    .open = sql_open,
                                                    .next = sql_next,
                                                    .seek = sql_seek,
                                                    .progress = sql_progress,
                                                    .close = sql_close_reader};
