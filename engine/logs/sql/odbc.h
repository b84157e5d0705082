/* SPDX-License-Identifier: MIT */
/* A database through ODBC: one connection, statements with bound parameters and columns, transactions.
   A connection and its statements are for one thread at a time. A call may take as long as the database takes. Failures
   are PDH's own codes for SQL logs (PDH_SQL_CONNECT_FAILED and the like) as HRESULT, or E_OUTOFMEMORY; their text is
   the driver's message with its SQLSTATE. Passwords in the connection string never appear in OpenPLA's texts. */
#ifndef OPENPLA_ODBC_H
#define OPENPLA_ODBC_H

#include "engine/base/text.h"

struct odbc;
/* Connects. `connection`: a connection string that odbc_string_parse accepts, for example "DSN=name". Waits for the
   login at most login_seconds if the driver supports that. The first call of a process loads the driver manager.
   E_INVALIDARG: invalid string; PDH_SQL_CONNECT_FAILED: it names an unregistered driver;
   HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND): the driver manager does not exist. */
HRESULT odbc_connect(const char *connection, uint32_t login_seconds, struct odbc **out);
void odbc_disconnect(struct odbc *c);           /* rolls back an open transaction; NULL is allowed */
const char *odbc_product(const struct odbc *c); /* SQL_DBMS_NAME: "SQLite", "PostgreSQL", "Microsoft SQL Server" */

HRESULT odbc_begin(struct odbc *c);
/* Ends the transaction that odbc_begin started. The database may have executed a commit that fails here. */
HRESULT odbc_end(struct odbc *c, bool commit);
HRESULT odbc_run(struct odbc *c, const char *sql); /* one statement, at once */

enum odbc_kind { ODBC_INTEGER, ODBC_REAL, ODBC_TEXT };
enum { ODBC_NULL = -1 };
/* A parameter or a column. Set `kind` and, for a text, its buffer before odbc_prepare. */
struct odbc_value {
    enum odbc_kind kind;
    intptr_t length; /* ODBC_NULL, or for numbers any other value, or the number of bytes of the text */
    int32_t integer;
    double real;
    WCHAR *text; /* room of the caller, `units` with the NUL */
    size_t units;
};
static inline struct odbc_value odbc_text(WCHAR *room, size_t units)
{
    return (struct odbc_value){.kind = ODBC_TEXT, .text = room, .units = units};
}
static inline void odbc_set_integer(struct odbc_value *v, bool present, uint32_t number)
{
    v->integer = (int32_t)number;
    v->length = present ? 0 : ODBC_NULL;
}
/* Truncated to the buffer size; NULL stays NULL. */
void odbc_set_text(struct odbc_value *v, const char *text);
/* Without NULs at the end, "" for NULL; from memory_alloc. HRESULT_FROM_WIN32(ERROR_INVALID_DATA) when the
   room was too small for it. */
HRESULT odbc_get_text(const struct odbc_value *v, char **out);

struct odbc_statement;
/* The values are borrowed until the statement is closed. Their addresses are bound: set parameters before
   odbc_execute, read columns after odbc_fetch. */
HRESULT odbc_prepare(struct odbc *c, const char *sql, struct odbc_value *parameters, size_t parameter_count,
                     struct odbc_value *columns, size_t column_count, struct odbc_statement **out);
HRESULT odbc_execute(struct odbc_statement *s); /* may be called again, which drops rows that were not fetched */
HRESULT odbc_fetch(struct odbc_statement *s);   /* S_FALSE: no more rows */
void odbc_close(struct odbc_statement *s);      /* NULL is allowed */

/* Connection strings are restricted (DECISIONS 38): a string that other users may have written must not load code, must
   not read or write any file except the database, and must not reveal secrets.

   Attributes are those in docs/user/databases.md, each at most once, in upper or lower case. Strings that drivers and
   their managers might split into different attributes are rejected: braces within a value or after one, and '=' beside
   ';', '{' or '}' within braces. */
struct odbc_string {
    char *driver; /* the driver it requests; NULL: it names a data source instead */
    char *rest;   /* all other attributes under their canonical names, with their values unchanged */
    char *shown;  /* the whole string for messages: "***" for secret values */
    char *open;   /* the string without secret attributes, which may be shown and stored anywhere */
    char *secret; /* the secret attributes as a connection string, or "" */
};
/* Parses up to the first '!' outside braces, or to the end: *end. E_INVALIDARG with a text that contains the
   attribute's name, or its number if it has no valid name, but never a value; E_OUTOFMEMORY. In this case *out is all
   NULL. */
HRESULT odbc_string_parse(const char *text, struct odbc_string *out, const char **end);
/* The attributes of `text`, and those of `more` that `text` does not have; *out from memory_alloc. */
HRESULT odbc_string_add(const char *text, const char *more, char **out);
/* The string for a driver manager, with `driver` in place of the string's own; NULL if out of memory. */
char *odbc_string_with(const struct odbc_string *s, const char *driver);
void odbc_string_free(struct odbc_string *s);

#endif
