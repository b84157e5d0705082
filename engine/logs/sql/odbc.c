/* SPDX-License-Identifier: MIT */
/* Uses a small part of ODBC 3: handles, diagnostics, and bound values. */
#include "engine/logs/sql/odbc.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/logs/odbc_library.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <string.h>

#define NAME_UNITS       128
#define DIAGNOSTIC_UNITS 512
#define STATE_UNITS      6

struct odbc {
    const struct odbc_api *api;
    SQLHENV environment;
    SQLHDBC connection;
    bool connected, in_transaction;
    char state[STATE_UNITS];
    char *product;
};

struct odbc_statement {
    struct odbc *connection; /* borrowed */
    SQLHSTMT handle;
    bool executed;
    char what[48]; /* the beginning of the statement, for error texts */
};

_Static_assert(sizeof(SQLLEN) == sizeof(intptr_t) && sizeof(SQLWCHAR) == sizeof(WCHAR) &&
                   sizeof(SQLINTEGER) == sizeof(int32_t),
               "values are bound without conversion");
_Static_assert(ODBC_NULL == SQL_NULL_DATA, "ODBC_NULL is the indicator of a NULL value");

static HRESULT odbc_library(const struct odbc_api **out)
{
    static struct lock lock = LOCK_INIT;
    static struct odbc_api loaded;
    static bool ready;
    struct odbc_api api = {0};
    HRESULT hr = S_OK;
    lock_enter(&lock);
    if (!ready) {
        hr = odbc_library_load(&api);
        if (SUCCEEDED(hr)) {
            loaded = api;
            ready = true;
        }
    }
    lock_leave(&lock);
    *out = &loaded;
    return hr;
}

static bool succeeded(SQLRETURN result)
{
    return result == SQL_SUCCESS || result == SQL_SUCCESS_WITH_INFO;
}

/* Sets the error text to all diagnostic records of the handle. */
static HRESULT odbc_handle_failed(struct odbc *c, DWORD code, SQLSMALLINT kind, SQLHANDLE handle, const char *what)
{
    struct text_buffer b = {0};
    HRESULT hr = (HRESULT)code;
    c->state[0] = 0;
    for (SQLSMALLINT record = 1; record < 8; record++) {
        SQLWCHAR state[STATE_UNITS] = {0}, text[DIAGNOSTIC_UNITS];
        SQLINTEGER native = 0;
        SQLSMALLINT units = 0;
        char *message;
        if (!handle ||
            !succeeded(c->api->SQLGetDiagRecW(kind, handle, record, state, &native, text, DIAGNOSTIC_UNITS, &units)))
            break;
        /* If the text is truncated, `units` is its full length. */
        if (units < 0 || units >= DIAGNOSTIC_UNITS)
            units = DIAGNOSTIC_UNITS - 1;
        while (units && (text[units - 1] == 0 || text[units - 1] == '\n' || text[units - 1] == ' '))
            units--;
        if (record == 1)
            for (size_t i = 0; i < STATE_UNITS - 1; i++)
                c->state[i] = state[i] < 0x80 ? (char)state[i] : '?';
        if (FAILED(text_from_utf16(text, (size_t)units, true, &message)))
            break;
        text_buffer_format(&b, "%s%s", record == 1 ? "" : "; ", message);
        memory_free(message);
    }
    char *text = text_buffer_take(&b);
    if (text && text[0])
        error_set(hr, "%s: %s (SQLSTATE %s)", what, text, c->state);
    else
        error_set(hr,
                  "%s: ODBC reported no reason (check that a driver manager is installed; under Wine, the host OS "
                  "needs unixODBC)",
                  what);
    memory_free(text);
    return hr;
}

/* Reports that connecting failed. Driver managers report an unknown data source with an SQLSTATE, but Wine 10's driver
   manager reports nothing (behaviour 23). */
static HRESULT not_connected(struct odbc *c)
{
    HRESULT hr = odbc_handle_failed(c, PDH_SQL_CONNECT_FAILED, SQL_HANDLE_DBC, c->connection, "cannot connect");
    if (c->state[0])
        return hr;
    strcpy(c->state, "IM002");
    return error_set(hr,
                     "cannot connect: no data source or driver of this name is registered, or no driver manager is "
                     "installed; under Wine, the host OS needs unixODBC (SQLSTATE %s)",
                     c->state);
}

/* Reads SQL_DBMS_NAME. */
static HRESULT ask_product(struct odbc *c)
{
    SQLWCHAR name[NAME_UNITS] = {0};
    SQLSMALLINT bytes = 0;
    size_t units = 0;
    if (!succeeded(c->api->SQLGetInfoW(c->connection, SQL_DBMS_NAME, name, sizeof name, &bytes)))
        return odbc_handle_failed(c, PDH_SQL_CONNECT_FAILED, SQL_HANDLE_DBC, c->connection,
                                  "cannot query the name of the database system");
    while (units < NAME_UNITS && name[units])
        units++;
    return text_from_utf16(name, units, true, &c->product);
}

static SQLRETURN set_number(struct odbc *c, SQLINTEGER attribute, SQLULEN number)
{
    union {
        SQLULEN number;
        SQLPOINTER pointer; /* ODBC passes a number as a pointer here */
    } value = {number};

    return c->api->SQLSetConnectAttrW(c->connection, attribute, value.pointer, SQL_IS_UINTEGER);
}

/* Returns the registered name of a driver, from memory_alloc. Unregistered names are rejected, because the driver
   manager would load them as files. */
static HRESULT find_driver(struct odbc *c, const char *name, char **registered)
{
    SQLWCHAR found[NAME_UNITS], more[DIAGNOSTIC_UNITS];
    SQLSMALLINT units = 0, more_units = 0;
    SQLUSMALLINT direction = SQL_FETCH_FIRST;
    *registered = NULL;
    while (succeeded(c->api->SQLDriversW(c->environment, direction, found, NAME_UNITS, &units, more, DIAGNOSTIC_UNITS,
                                         &more_units))) {
        direction = SQL_FETCH_NEXT;
        if (units < 0 || units >= NAME_UNITS) /* the name is truncated */
            continue;
        HRESULT hr = text_from_utf16(found, (size_t)units, true, registered);
        if (FAILED(hr))
            return hr;
        if (text_equal_nocase(*registered, name) && !strpbrk(*registered, "{}"))
            return S_OK;
        memory_free(*registered);
        *registered = NULL;
    }
    return error_set((HRESULT)PDH_SQL_CONNECT_FAILED, "no ODBC driver is registered as '%s' (attribute Driver)", name);
}

/* Checks an untrusted connection string and returns the parts that the driver manager needs, from memory_alloc. */
static HRESULT safe_string(struct odbc *c, const char *connection, char **out)
{
    struct odbc_string parts;
    const char *end;
    char *driver = NULL;
    *out = NULL;
    HRESULT hr = odbc_string_parse(connection, &parts, &end);
    if (SUCCEEDED(hr) && *end)
        hr = error_set(E_INVALIDARG, "invalid connection string: a '!' must be in braces");
    if (SUCCEEDED(hr) && parts.driver)
        hr = find_driver(c, parts.driver, &driver);
    if (SUCCEEDED(hr)) {
        *out = odbc_string_with(&parts, driver);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(driver);
    odbc_string_free(&parts);
    return hr;
}

static HRESULT connect_to(struct odbc *c, const char *connection, uint32_t login_seconds)
{
    WCHAR *wide;
    size_t units;
    char *text;
    if (!succeeded(c->api->SQLAllocHandle(SQL_HANDLE_ENV, NULL, &c->environment)) ||
        !succeeded(c->api->SQLSetEnvAttr(c->environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0)))
        return odbc_handle_failed(c, PDH_SQL_ALLOC_FAILED, SQL_HANDLE_ENV, c->environment, "cannot start ODBC");
    if (!succeeded(c->api->SQLAllocHandle(SQL_HANDLE_DBC, c->environment, &c->connection)))
        return odbc_handle_failed(c, PDH_SQL_ALLOCCON_FAILED, SQL_HANDLE_ENV, c->environment, "cannot start ODBC");
    /* A driver without login timeouts connects nevertheless. */
    set_number(c, SQL_ATTR_LOGIN_TIMEOUT, login_seconds);
    HRESULT hr = safe_string(c, connection, &text);
    if (FAILED(hr))
        return hr;
    hr = text_to_utf16(text, &wide, &units);
    memory_free(text);
    if (FAILED(hr))
        return hr;
    if (units > INT16_MAX)
        hr = error_set(E_INVALIDARG, "the connection string is too long: %zu characters", units);
    else if (!succeeded(c->api->SQLDriverConnectW(c->connection, NULL, wide, (SQLSMALLINT)units, NULL, 0, NULL,
                                                  SQL_DRIVER_NOPROMPT)))
        hr = not_connected(c);
    else
        c->connected = true;
    memory_free(wide);
    return SUCCEEDED(hr) ? ask_product(c) : hr;
}

HRESULT odbc_connect(const char *connection, uint32_t login_seconds, struct odbc **out)
{
    struct odbc *c = memory_zero(1, sizeof *c);
    *out = NULL;
    if (!c)
        return E_OUTOFMEMORY;
    HRESULT hr = odbc_library(&c->api);
    if (SUCCEEDED(hr))
        hr = connect_to(c, connection, login_seconds);
    if (FAILED(hr)) {
        odbc_disconnect(c);
        return hr;
    }
    *out = c;
    return S_OK;
}

void odbc_disconnect(struct odbc *c)
{
    if (!c)
        return;
    if (c->in_transaction)
        c->api->SQLEndTran(SQL_HANDLE_DBC, c->connection, SQL_ROLLBACK);
    if (c->connected)
        c->api->SQLDisconnect(c->connection);
    if (c->connection)
        c->api->SQLFreeHandle(SQL_HANDLE_DBC, c->connection);
    if (c->environment)
        c->api->SQLFreeHandle(SQL_HANDLE_ENV, c->environment);
    memory_free(c->product);
    memory_free(c);
}

const char *odbc_product(const struct odbc *c)
{
    return c->product;
}

static HRESULT set_autocommit(struct odbc *c, bool on)
{
    if (!succeeded(set_number(c, SQL_ATTR_AUTOCOMMIT, on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF)))
        return odbc_handle_failed(c, PDH_SQL_EXEC_DIRECT_FAILED, SQL_HANDLE_DBC, c->connection,
                                  on ? "cannot end a transaction" : "cannot begin a transaction");
    return S_OK;
}

HRESULT odbc_begin(struct odbc *c)
{
    HRESULT hr = set_autocommit(c, false);
    c->in_transaction = SUCCEEDED(hr);
    return hr;
}

HRESULT odbc_end(struct odbc *c, bool commit)
{
    SQLRETURN result = c->api->SQLEndTran(SQL_HANDLE_DBC, c->connection, commit ? SQL_COMMIT : SQL_ROLLBACK);
    c->in_transaction = false;
    if (!succeeded(result))
        return odbc_handle_failed(c, PDH_SQL_EXEC_DIRECT_FAILED, SQL_HANDLE_DBC, c->connection,
                                  commit ? "cannot commit a transaction" : "cannot roll back a transaction");
    return set_autocommit(c, true);
}

/* Allocates a statement. NULL: *hr is the error. */
static struct odbc_statement *new_statement(struct odbc *c, const char *sql, HRESULT *hr)
{
    struct odbc_statement *s = memory_zero(1, sizeof *s);
    *hr = s ? S_OK : E_OUTOFMEMORY;
    if (!s)
        return NULL;
    s->connection = c;
    snprintf(s->what, sizeof s->what, "%.*s", (int)strcspn(sql, "(\n"), sql);
    if (!succeeded(c->api->SQLAllocHandle(SQL_HANDLE_STMT, c->connection, &s->handle))) {
        *hr = odbc_handle_failed(c, PDH_SQL_ALLOC_FAILED, SQL_HANDLE_DBC, c->connection, "cannot create a statement");
        memory_free(s);
        return NULL;
    }
    return s;
}

static HRESULT statement_failed(struct odbc_statement *s, DWORD code)
{
    return odbc_handle_failed(s->connection, code, SQL_HANDLE_STMT, s->handle, s->what);
}

static HRESULT check_execution(struct odbc_statement *s, SQLRETURN result)
{
    /* SQL_NO_DATA: an UPDATE that found no row. */
    s->executed = succeeded(result) || result == SQL_NO_DATA;
    return s->executed ? S_OK : statement_failed(s, PDH_SQL_EXEC_DIRECT_FAILED);
}

HRESULT odbc_run(struct odbc *c, const char *sql)
{
    WCHAR *wide = NULL;
    size_t units = 0;
    HRESULT hr;
    struct odbc_statement *s = new_statement(c, sql, &hr);
    if (!s)
        return hr;
    hr = text_to_utf16(sql, &wide, &units);
    if (SUCCEEDED(hr))
        hr = check_execution(s, c->api->SQLExecDirectW(s->handle, wide, (SQLINTEGER)units));
    memory_free(wide);
    odbc_close(s);
    return hr;
}

void odbc_set_text(struct odbc_value *v, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t at = 0;
    if (!text) {
        v->length = ODBC_NULL;
        return;
    }
    for (const unsigned char *end = p + strlen(text); p < end;) {
        uint32_t c = unicode_next(&p, end, NULL);
        if (at + (c > 0xFFFF ? 2 : 1) >= v->units)
            break;
        if (c > 0xFFFF) {
            v->text[at++] = (WCHAR)(0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        v->text[at++] = (WCHAR)c;
    }
    v->text[at] = 0;
    v->length = (intptr_t)(at * sizeof *v->text);
}

HRESULT odbc_get_text(const struct odbc_value *v, char **out)
{
    size_t units = v->length > 0 ? (size_t)v->length / sizeof *v->text : 0;
    if (units >= v->units)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "a string in the database is too long: %zu characters",
                         units);
    while (units && v->text[units - 1] == 0)
        units--;
    return text_from_utf16(v->text, units, true, out);
}

/* The binding of a value. */
struct binding {
    SQLSMALLINT c_type, sql_type;
    SQLULEN size;
    SQLPOINTER at;
    SQLLEN room;
};

static struct binding binding_of(struct odbc_value *v)
{
    switch (v->kind) {
    case ODBC_INTEGER:
        return (struct binding){SQL_C_SLONG, SQL_INTEGER, 10, &v->integer, sizeof v->integer};
    case ODBC_REAL:
        return (struct binding){SQL_C_DOUBLE, SQL_DOUBLE, 15, &v->real, sizeof v->real};
    case ODBC_TEXT:
        break;
    }
    return (struct binding){SQL_C_WCHAR, SQL_WVARCHAR, v->units - 1, v->text, (SQLLEN)(v->units * sizeof *v->text)};
}

static HRESULT odbc_bind_all(struct odbc_statement *s, struct odbc_value *parameters, size_t parameter_count,
                             struct odbc_value *columns, size_t column_count)
{
    const struct odbc_api *api = s->connection->api;
    for (size_t i = 0; i < parameter_count; i++) {
        struct binding b = binding_of(&parameters[i]);
        if (!succeeded(api->SQLBindParameter(s->handle, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, b.c_type, b.sql_type,
                                             b.size, 0, b.at, b.room, (SQLLEN *)&parameters[i].length)))
            return statement_failed(s, PDH_SQL_BIND_FAILED);
    }
    for (size_t i = 0; i < column_count; i++) {
        struct binding b = binding_of(&columns[i]);
        if (!succeeded(api->SQLBindCol(s->handle, (SQLUSMALLINT)(i + 1), b.c_type, b.at, b.room,
                                       (SQLLEN *)&columns[i].length)))
            return statement_failed(s, PDH_SQL_BIND_FAILED);
    }
    return S_OK;
}

HRESULT odbc_prepare(struct odbc *c, const char *sql, struct odbc_value *parameters, size_t parameter_count,
                     struct odbc_value *columns, size_t column_count, struct odbc_statement **out)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr;
    struct odbc_statement *s = new_statement(c, sql, &hr);
    *out = NULL;
    if (!s)
        return hr;
    hr = text_to_utf16(sql, &wide, &units);
    if (SUCCEEDED(hr)) {
        if (!succeeded(c->api->SQLPrepareW(s->handle, wide, (SQLINTEGER)units)))
            hr = statement_failed(s, PDH_SQL_EXEC_DIRECT_FAILED);
        memory_free(wide);
    }
    if (SUCCEEDED(hr))
        hr = odbc_bind_all(s, parameters, parameter_count, columns, column_count);
    if (FAILED(hr)) {
        odbc_close(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

HRESULT odbc_execute(struct odbc_statement *s)
{
    const struct odbc_api *api = s->connection->api;
    if (s->executed)
        api->SQLFreeStmt(s->handle, SQL_CLOSE);
    return check_execution(s, api->SQLExecute(s->handle));
}

HRESULT odbc_fetch(struct odbc_statement *s)
{
    SQLRETURN result = s->connection->api->SQLFetch(s->handle);
    if (result == SQL_NO_DATA)
        return S_FALSE;
    return succeeded(result) ? S_OK : statement_failed(s, PDH_SQL_FETCH_FAILED);
}

void odbc_close(struct odbc_statement *s)
{
    if (!s)
        return;
    s->connection->api->SQLFreeHandle(SQL_HANDLE_STMT, s->handle);
    memory_free(s);
}
