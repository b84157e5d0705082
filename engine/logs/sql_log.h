/* SPDX-License-Identifier: MIT */
/* SQL logs: their names, SQL:<data source>!<log set> (MS-PLA 3.2.4.6.2), and the three tables (2.2.2.7) that hold them.
 */
#ifndef OPENPLA_SQL_LOG_H
#define OPENPLA_SQL_LOG_H

#include "engine/base/text.h"
#include "engine/logs/sql/odbc.h"

/* SQL:name!set            an ODBC data source by its name, which no '!' can be in
   SQL:key=value;...!set   an ODBC connection string, which needs no data source (engine/logs/sql/odbc.h): a
   value that holds '!' or ';' is put in braces, a '}' in it doubled, as ODBC has it The log set is all that follows the
   '!', at least one and at most 1024 characters: DisplayToID's DisplayString. */
struct sql_source {
    char *connection; /* for odbc_connect: "DSN=name", or the attributes that were given */
    char *log_set;
    char *shown;  /* the whole name for people: without secret values */
    char *open;   /* the whole name without its secret attributes: for files that others read */
    char *secret; /* those, as a connection string; "" for none */
};

bool sql_source_is(const char *name); /* begins with SQL:, in any case */
/* E_INVALIDARG with a text that says what is wrong; E_OUTOFMEMORY. *out is all NULL then. */
HRESULT sql_source_parse(const char *name, struct sql_source *out);
void sql_source_free(struct sql_source *s);
/* The name that `open` is, with the secret attributes in it again. *name for memory_free_secret. E_INVALIDARG as
   sql_source_parse. */
HRESULT sql_source_join(const char *open, const char *secret, char **name);

/* ---- the three tables, as each database has them ---- */
enum {
    SQL_NAME_UNITS = 1024 + 1, /* varchar(1024) */
    SQL_TIME_UNITS = 24 + 1,   /* char(24) */
    SQL_ZONE_UNITS = 32 + 1,   /* char(32) */
    SQL_GUID_UNITS = 38 + 1,
};

/* What differs between databases. */
struct sql_dialect {
    const char *product;   /* SQL_DBMS_NAME begins with it */
    const char *guid;      /* type of GUID */
    const char *identity;  /* type of CounterID in CounterDetails */
    bool time_nul;         /* char(24) can hold the NUL that Windows puts behind the 23 characters of a time */
    const char *value;     /* reads CounterValue as a text with all its digits; NULL: the number is exact as it is */
    const char *streaming; /* added to a connection string that reads, so that rows come one by one; may be "" */
};
/* HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) with a text for a database that is not known. */
HRESULT sql_dialect_of(const struct odbc *c, const struct sql_dialect **out);

/* Makes sure of the three tables: those that are there must have the columns of 2.2.2.7, missing ones are created.
   Never drops one. `create` false: a missing one is a failure. */
HRESULT sql_tables_ensure(struct odbc *c, const struct sql_dialect *dialect, bool create);

/* YYYY-MM-DD hh:mm:ss.mmm, UTC, of a FILETIME. */
void sql_time_text(int64_t utc, char out[SQL_TIME_UNITS]);
/* And back; also with ':' before the milliseconds, as MS-PLA writes the form, or without them. */
bool sql_time_parse(const char *text, int64_t *utc);
/* Without braces, as databases write it. */
void sql_guid_text(const GUID *guid, char out[SQL_GUID_UNITS]);

#endif
