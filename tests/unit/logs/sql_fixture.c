/* SPDX-License-Identifier: MIT */
/* Databases for the tests of SQL logs. */
#include "tests/unit/logs/sql_fixture.h"

#include "engine/base/os.h"

struct database sqlite = {.product = "SQLite"}, postgres = {.product = "PostgreSQL"};
static char *folder;

static bool open_one(struct database *d)
{
    HRESULT hr = d->connection ? odbc_connect(d->connection, 10, &d->odbc) : E_OUTOFMEMORY;
    if (FAILED(hr))
        fprintf(stderr, "%s: %s\n", d->product, error_text(hr));
    return SUCCEEDED(hr);
}

bool databases_open(const char *test)
{
    char *server = NULL, *socket;
    size_t size;
    folder = scratch_create(test);
    sqlite.connection = text_format("Driver={SQLite3};Database=%s/test.db;Timeout=200", folder);
    if (environment_get("OPENPLA_TEST_POSTGRES", &server) != S_OK || FAILED(file_load(server, 4096, &socket, &size))) {
        fprintf(stderr, "OPENPLA_TEST_POSTGRES names no file with the folder of a server (tests/postgres)\n");
        memory_free(server);
        return false;
    }
    socket[strcspn(socket, "\r\n")] = 0;
    postgres.connection = text_format("Driver={PostgreSQL Unicode};Servername=%s;Database=postgres;UID=test", socket);
    memory_free(server);
    memory_free(socket);
    return open_one(&sqlite) && open_one(&postgres) && SUCCEEDED(odbc_run(postgres.odbc, "SET lock_timeout = '30s'"));
}

void databases_close(void)
{
    odbc_disconnect(sqlite.odbc);
    odbc_disconnect(postgres.odbc);
    memory_free(sqlite.connection);
    memory_free(postgres.connection);
    scratch_remove(folder);
    memory_free(folder);
}

int database_empty(void **state)
{
    static const char *const tables[] = {"CounterData", "CounterDetails", "DisplayToID"};
    const struct database *d = *state;
    for (size_t i = 0; i < 3; i++) {
        char *sql = text_format("DROP TABLE IF EXISTS %s", tables[i]);
        sql_run(d, sql);
        memory_free(sql);
    }
    return 0;
}

void sql_run(const struct database *d, const char *sql)
{
    HRESULT hr = odbc_run(d->odbc, sql);
    if (FAILED(hr))
        fail_msg("%s: %s", sql, error_text(hr));
}

char *sql_rows(const struct database *d, size_t columns, const char *sql)
{
    static WCHAR room[16][1100];
    struct odbc_value row[16];
    struct odbc_statement *select;
    struct text_buffer b = {0};
    assert_true(columns <= 16);
    for (size_t i = 0; i < columns; i++)
        row[i] = (struct odbc_value){.kind = ODBC_TEXT, .text = room[i], .units = 1100};
    HRESULT hr = odbc_prepare(d->odbc, sql, NULL, 0, row, columns, &select);
    if (SUCCEEDED(hr))
        hr = odbc_execute(select);
    if (FAILED(hr))
        fail_msg("%s: %s", sql, error_text(hr));
    text_buffer_add(&b, "");
    while ((hr = odbc_fetch(select)) == S_OK) {
        for (size_t i = 0; i < columns; i++) {
            char *text;
            assert_int_equal(odbc_get_text(&row[i], &text), S_OK);
            for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
                text[n - 1] = 0;
            text_buffer_format(&b, "%s%s", row[i].length == ODBC_NULL ? "-" : text, i + 1 < columns ? "|" : "\n");
            memory_free(text);
        }
    }
    assert_int_equal(hr, S_FALSE);
    odbc_close(select);
    return text_buffer_take(&b);
}

void expect_rows(const struct database *d, size_t columns, const char *sql, const char *rows)
{
    char *found = sql_rows(d, columns, sql);
    if (strcmp(found, rows) != 0)
        fail_msg("%s: %s\nexpected:\n%sfound:\n%s", d->product, sql, rows, found);
    memory_free(found);
}

char *sql_name(const struct database *d, const char *more, const char *set)
{
    return text_format("SQL:%s;%s!%s", d->connection, more, set);
}
