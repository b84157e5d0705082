/* SPDX-License-Identifier: MIT */
/* Access to a database through ODBC: one connection, statements with bound parameters and columns, and transactions.
   Only one thread at a time may use a connection and its statements. A call can take as long as the database needs.
   Errors are PDH's codes for SQL logs (such as PDH_SQL_CONNECT_FAILED) as HRESULTs, or E_OUTOFMEMORY; the error text is
   the driver's message with its SQLSTATE. Passwords in the connection string never appear in OpenPLA's texts. */
#ifndef OPENPLA_ODBC_H
#define OPENPLA_ODBC_H

#include "engine/base/text.h"

struct odbc;
/* Connects to a database. `connection` is a connection string that odbc_string_parse accepts, for example "DSN=name".
   Waits at most login_seconds for the login if the driver supports this. The first call in a process loads the driver
   manager. E_INVALIDARG: the string is invalid; PDH_SQL_CONNECT_FAILED: the string names an unregistered driver;
   HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND): the driver manager does not exist. */
HRESULT odbc_connect(const char *connection, uint32_t login_seconds, struct odbc **out);
void odbc_disconnect(struct odbc *c);           /* rolls back an open transaction; NULL is allowed */
const char *odbc_product(const struct odbc *c); /* returns SQL_DBMS_NAME, for example "SQLite", "PostgreSQL" or
                                                   "Microsoft SQL Server" */

HRESULT odbc_begin(struct odbc *c);
/* Ends the transaction that odbc_begin started. If a commit fails here, the database may have executed it
   nevertheless. */
HRESULT odbc_end(struct odbc *c, bool commit);
HRESULT odbc_run(struct odbc *c, const char *sql); /* executes one statement immediately */

enum odbc_kind { ODBC_INTEGER, ODBC_REAL, ODBC_TEXT };
enum { ODBC_NULL = -1 };
/* A parameter or a column. Before odbc_prepare, set `kind` and, for a text, also the buffer. */
struct odbc_value {
    enum odbc_kind kind;
    intptr_t length; /* ODBC_NULL: the value is NULL; otherwise a text's bytes; for a number, any other value */
    int32_t integer;
    double real;
    WCHAR *text; /* the caller's buffer of `units` units, including the NUL */
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
/* Sets a text, truncated to the buffer size; NULL stays NULL. */
void odbc_set_text(struct odbc_value *v, const char *text);
/* Returns the text without NULs at its end, from memory_alloc; "" for NULL. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): the
   buffer was too small for the text. */
HRESULT odbc_get_text(const struct odbc_value *v, char **out);

struct odbc_statement;
/* Prepares a statement. The values are borrowed until the statement is closed, and their addresses are bound: set
   parameters before odbc_execute, and read columns after odbc_fetch. */
HRESULT odbc_prepare(struct odbc *c, const char *sql, struct odbc_value *parameters, size_t parameter_count,
                     struct odbc_value *columns, size_t column_count, struct odbc_statement **out);
HRESULT odbc_execute(struct odbc_statement *s); /* can be called repeatedly; drops rows that were not fetched */
HRESULT odbc_fetch(struct odbc_statement *s);   /* S_FALSE: no more rows */
void odbc_close(struct odbc_statement *s);      /* NULL is allowed */

/* A parsed connection string. The strings are restricted (DECISIONS 38). A string that another user has written must
   not load code, read or write any file except the database, or reveal secrets. The allowed attributes are those in
   docs/user/databases.md, each at most once, in upper or lower case. A string is rejected if drivers and driver
   managers could split it into different attributes. There are three such cases: a value that is not in braces contains
   a brace; text follows the closing brace of a value; a value in braces contains '=' and one of ';', '{' and '}'. */
struct odbc_string {
    char *driver; /* driver that the string requests; NULL: the string names a data source */
    char *rest;   /* all other attributes with their canonical names and unchanged values */
    char *shown;  /* the whole string for messages, with "***" for secret values */
    char *open;   /* the string without its secret attributes; it can be shown and stored anywhere */
    char *secret; /* the secret attributes as a connection string, or "" */
};
/* Parses the text up to the first '!' outside braces or up to its end; *end is this position. Fails with E_INVALIDARG
   if the string is invalid, or with E_OUTOFMEMORY. The error message contains the attribute's name, or the attribute's
   number if the name is invalid, but never a value. After a failure, all members of *out are NULL. */
HRESULT odbc_string_parse(const char *text, struct odbc_string *out, const char **end);
/* Returns the attributes of `text`, and those attributes of `more` that `text` does not have. *out is from
   memory_alloc. */
HRESULT odbc_string_add(const char *text, const char *more, char **out);
/* Returns the string for a driver manager, with `driver` in place of the string's driver; NULL: out of memory. */
char *odbc_string_with(const struct odbc_string *s, const char *driver);
void odbc_string_free(struct odbc_string *s);

#endif
