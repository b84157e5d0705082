/* SPDX-License-Identifier: MIT */
/* Log sets in a database through PDH's functions, as relog and monitoring tools use them. */
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"
#include "tests/unit/logs/sql_fixture.h"

#include <math.h>

#define STATUS(x) ((PDH_STATUS)(x))

static WCHAR *wide(const char *text)
{
    WCHAR *out;
    assert_int_equal(text_to_utf16(text, &out, NULL), S_OK);
    return out;
}

/* A database without the tables is detected, and the tables are created. */
static void tables_are_created(void **state)
{
    const struct database *d = *state;
    WCHAR *connection = wide(d->connection), list[100];
    DWORD units = 100;
    assert_int_not_equal(PdhVerifySQLDBW(connection), ERROR_SUCCESS);
    assert_int_equal(PdhCreateSQLTablesW(connection), ERROR_SUCCESS);
    assert_int_equal(PdhCreateSQLTablesW(connection), ERROR_SUCCESS);
    assert_int_equal(PdhVerifySQLDBW(connection), ERROR_SUCCESS);
    assert_int_equal(api_verify_sql(API_ANSI, d->connection), ERROR_SUCCESS);
    assert_int_equal(PdhEnumLogSetNamesW(connection, list, &units), ERROR_SUCCESS);
    assert_int_equal(list[0], 0);
    assert_int_equal(PdhVerifySQLDBW(u"no_such_data_source_anywhere"), STATUS(PDH_SQL_CONNECT_FAILED));
    assert_int_equal(PdhVerifySQLDBW(NULL), STATUS(PDH_INVALID_ARGUMENT));
    memory_free(connection);
}

/* The values of a query are logged. They can be found by the name of the log set and read back. */
static void log_sets_are_written_listed_and_read(void **state)
{
    const struct database *d = *state;
    WCHAR *connection = wide(d->connection), list[100];
    char *name = sql_name(d, "", "PDH set");
    WCHAR *path = wide(name);
    PDH_HQUERY query;
    PDH_HCOUNTER limit, idle;
    PDH_HLOG log;
    PDH_FMT_COUNTERVALUE v;
    GUID guid = {0}, again = {0};
    int run = -1;
    DWORD type = PDH_LOG_TYPE_SQL, units = 0;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &limit), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Processor(*)\\% Idle Time", 0, &idle), ERROR_SUCCESS);
    assert_int_equal(PdhOpenLogW(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, &type, query, 0, NULL, &log),
                     ERROR_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(PdhUpdateLogW(log, NULL), ERROR_SUCCESS);
    assert_int_equal(PdhGetFormattedCounterValue(limit, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    double expected = v.doubleValue;
    assert_int_equal(PdhGetLogSetGUID(log, &guid, &run), ERROR_SUCCESS);
    assert_true(guid.Data1 != 0);
    assert_int_equal(run, 0);
    assert_int_equal(PdhSetLogSetRunID(log, 42), ERROR_SUCCESS);
    assert_int_equal(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), ERROR_SUCCESS);
    expect_rows(d, 2, "SELECT DisplayString, RunID FROM DisplayToID", "PDH set|42\n");

    assert_int_equal(PdhEnumLogSetNamesW(connection, NULL, &units), STATUS(PDH_MORE_DATA));
    assert_int_equal(units, 9);
    assert_int_equal(PdhEnumLogSetNamesW(connection, list, &units), ERROR_SUCCESS);
    static const WCHAR names[] = u"PDH set\0";
    assert_memory_equal(list, names, sizeof names);

    type = 0;
    assert_int_equal(PdhOpenLogW(path, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log),
                     ERROR_SUCCESS);
    assert_int_equal(type, PDH_LOG_TYPE_SQL);
    assert_int_equal(PdhGetLogSetGUID(log, &again, NULL), ERROR_SUCCESS);
    assert_memory_equal(&guid, &again, sizeof guid);
    assert_int_equal(PdhOpenQueryH(log, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &limit), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Processor(_Total)\\% Idle Time", 0, &idle), ERROR_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        assert_int_equal(PdhGetFormattedCounterValue(limit, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
        assert_true(v.doubleValue == expected);
    }
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_MORE_DATA));
    PdhCloseQuery(query);
    PdhCloseLog(log, 0);
    memory_free(path);
    memory_free(name);
    memory_free(connection);
}

int main(void)
{
#define ON_BOTH(test)                                                                                                  \
    cmocka_unit_test_prestate_setup_teardown(test, database_empty, NULL, &sqlite),                                     \
        cmocka_unit_test_prestate_setup_teardown(test, database_empty, NULL, &postgres)
    const struct CMUnitTest tests[] = {
        ON_BOTH(tables_are_created),
        ON_BOTH(log_sets_are_written_listed_and_read),
    };
    if (!databases_open("test_pdh_sql"))
        return 1;
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    databases_close();
    return failures;
}
