/* SPDX-License-Identifier: MIT */
/* Databases that hold log sets (MS-PLA 2.2.2.7), as programs handle them. */
#include "engine/base/memory.h"
#include "engine/logs/sql_source.h"
#include "engine/logs/sql_tables.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/log_handle.h"
#include "engine/pdh/core/pdh.h"

#include <string.h>

#define LOGIN_SECONDS 15

/* ODBC's failures are PDH's statuses already. */
static PDH_STATUS sql_status(HRESULT hr)
{
    return ((uint32_t)hr & 0xFFFF0000u) == 0xC0000000u ? (PDH_STATUS)hr : pdh_status_of(hr, PDH_INVALID_DATASOURCE);
}

/* The database of a data source's name, "SQL:" before it or not; of a connection string as it is. */
static PDH_STATUS connect(enum api_form form, const void *data_source, struct odbc **out,
                          const struct sql_dialect **dialect)
{
    char *name;
    *out = NULL;
    if (!data_source)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, data_source, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_DATASOURCE, &name);
    if (status != ERROR_SUCCESS)
        return status;
    const char *source = sql_source_is(name) ? name + 4 : name;
    char *connection = strchr(source, '=') ? text_copy(source) : text_format("DSN=%s", source);
    HRESULT hr = connection ? odbc_connect(connection, LOGIN_SECONDS, out) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = sql_dialect_of(*out, dialect);
    memory_free(connection);
    memory_free(name);
    return sql_status(hr);
}

static PDH_STATUS make_tables(enum api_form form, const void *data_source, bool create)
{
    struct odbc *c;
    const struct sql_dialect *dialect = NULL;
    PDH_STATUS status = connect(form, data_source, &c, &dialect);
    if (status == ERROR_SUCCESS)
        status = sql_status(sql_tables_ensure(c, dialect, create));
    odbc_disconnect(c);
    return status;
}

PDH_STATUS api_create_sql_tables(enum api_form form, const void *data_source)
{
    return make_tables(form, data_source, true);
}

PDH_STATUS api_verify_sql(enum api_form form, const void *data_source)
{
    return make_tables(form, data_source, false);
}

static HRESULT read_sets(struct odbc *c, struct texts *names)
{
    WCHAR room[SQL_NAME_UNITS];
    struct odbc_value out = {.kind = ODBC_TEXT, .text = room, .units = SQL_NAME_UNITS};
    struct odbc_statement *select;
    HRESULT hr =
        odbc_prepare(c, "SELECT DisplayString FROM DisplayToID ORDER BY DisplayString", NULL, 0, &out, 1, &select);
    if (FAILED(hr))
        return hr;
    hr = odbc_execute(select);
    while (SUCCEEDED(hr) && (hr = odbc_fetch(select)) == S_OK) {
        char *name;
        hr = odbc_get_text(&out, &name);
        if (SUCCEEDED(hr)) {
            hr = texts_add(names, name);
            memory_free(name);
        }
    }
    odbc_close(select);
    return FAILED(hr) ? hr : S_OK;
}

PDH_STATUS api_enum_log_sets(enum api_form form, const void *data_source, void *list, LPDWORD units)
{
    struct odbc *c = NULL;
    const struct sql_dialect *dialect = NULL;
    struct texts names = {0};
    if (!units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = connect(form, data_source, &c, &dialect);
    if (status == ERROR_SUCCESS)
        status = sql_status(sql_tables_ensure(c, dialect, false));
    if (status == ERROR_SUCCESS)
        status = sql_status(read_sets(c, &names));
    odbc_disconnect(c);
    if (status == ERROR_SUCCESS)
        status = api_list_out(form, &names, false, list, units);
    texts_free(&names);
    return status;
}

/* The database and the name of the log set behind a handle. */
static PDH_STATUS open_set(PDH_HLOG log, struct sql_source *source, struct odbc **out)
{
    const char *name = log_handle_name(log);
    *out = NULL;
    *source = (struct sql_source){0};
    if (!name)
        return PDH_INVALID_HANDLE;
    if (!sql_source_is(name))
        return PDH_INVALID_ARGUMENT; /* a file has neither */
    HRESULT hr = sql_source_parse(name, source);
    return sql_status(SUCCEEDED(hr) ? odbc_connect(source->connection, LOGIN_SECONDS, out) : hr);
}

static HRESULT read_identity(struct odbc *c, const char *log_set, GUID *guid, int *run)
{
    WCHAR name[SQL_NAME_UNITS], room[SQL_GUID_UNITS];
    struct odbc_value in = {.kind = ODBC_TEXT, .text = name, .units = SQL_NAME_UNITS};
    struct odbc_value out[] = {{.kind = ODBC_TEXT, .text = room, .units = SQL_GUID_UNITS}, {.kind = ODBC_INTEGER}};
    struct odbc_statement *select;
    char *text = NULL;
    odbc_set_text(&in, log_set);
    HRESULT hr =
        odbc_prepare(c, "SELECT GUID, RunID FROM DisplayToID WHERE DisplayString = ?", &in, 1, out, 2, &select);
    if (FAILED(hr))
        return hr;
    hr = odbc_execute(select);
    if (SUCCEEDED(hr))
        hr = odbc_fetch(select);
    if (hr == S_OK)
        hr = odbc_get_text(&out[0], &text);
    else if (hr == S_FALSE)
        hr = error_set((HRESULT)PDH_ENTRY_NOT_IN_LOG_FILE, "there is no log set \"%s\"", log_set);
    if (SUCCEEDED(hr) && !text_to_guid(text, guid))
        hr = error_set((HRESULT)PDH_INVALID_DATA, "\"%s\" is no GUID", text);
    *run = out[1].length == ODBC_NULL ? 0 : out[1].integer;
    memory_free(text);
    odbc_close(select);
    return hr;
}

PDH_STATUS WINAPI PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run)
{
    struct sql_source source;
    struct odbc *c;
    GUID found;
    int number = 0;
    if (!guid && !run)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_set(log, &source, &c);
    if (status == ERROR_SUCCESS)
        status = sql_status(read_identity(c, source.log_set, &found, &number));
    if (status == ERROR_SUCCESS && guid)
        *guid = found;
    if (status == ERROR_SUCCESS && run)
        *run = number;
    odbc_disconnect(c);
    sql_source_free(&source);
    return status;
}

static HRESULT write_run(struct odbc *c, const char *log_set, int run)
{
    WCHAR name[SQL_NAME_UNITS];
    struct odbc_value in[] = {{.kind = ODBC_INTEGER, .integer = run},
                              {.kind = ODBC_TEXT, .text = name, .units = SQL_NAME_UNITS}};
    struct odbc_statement *update;
    odbc_set_text(&in[1], log_set);
    HRESULT hr = odbc_prepare(c, "UPDATE DisplayToID SET RunID = ? WHERE DisplayString = ?", in, 2, NULL, 0, &update);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(update);
        odbc_close(update);
    }
    return hr;
}

PDH_STATUS WINAPI PdhSetLogSetRunID(PDH_HLOG log, int run)
{
    struct sql_source source;
    struct odbc *c;
    GUID guid;
    int before;
    PDH_STATUS status = open_set(log, &source, &c);
    if (status == ERROR_SUCCESS)
        status = sql_status(read_identity(c, source.log_set, &guid, &before)); /* an update of no row is no failure */
    if (status == ERROR_SUCCESS)
        status = sql_status(write_run(c, source.log_set, run));
    odbc_disconnect(c);
    sql_source_free(&source);
    return status;
}
