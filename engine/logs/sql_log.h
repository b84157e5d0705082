/* SPDX-License-Identifier: MIT */
/* SQL logs: their names, SQL:<data source>!<log set> (MS-PLA 3.2.4.6.2), and their three database tables (2.2.2.7). */
#ifndef OPENPLA_SQL_LOG_H
#define OPENPLA_SQL_LOG_H

#include "engine/base/text.h"
#include "engine/logs/sql/odbc.h"

/* SQL:name!set            an ODBC data source by its name, which cannot contain '!'
   SQL:key=value;...!set   an ODBC connection string, which needs no data source (engine/logs/sql/odbc.h); as in ODBC, a
                           value with '!' or ';' is enclosed in braces, and a '}' in it is doubled
   The text after the '!' is the log set's name, 1 to 1024 characters. DisplayToID contains this name as its
   DisplayString. */
struct sql_source {
    char *connection; /* for odbc_connect: "DSN=name", or the attributes in the name */
    char *log_set;
    char *shown;  /* the full name for messages, without secret values */
    char *open;   /* the full name without its secret attributes, for files that other users read */
    char *secret; /* the secret attributes as a connection string, or "" */
};

bool sql_source_is(const char *name); /* returns whether the name begins with SQL:, in upper or lower case */
/* Splits a name. Fails with E_INVALIDARG and an error message if the name is invalid, or with E_OUTOFMEMORY. All
   members of *out are NULL after a failure. */
HRESULT sql_source_parse(const char *name, struct sql_source *out);
void sql_source_free(struct sql_source *s);
/* Adds the secret attributes to the name `open` again. Free *name with memory_free_secret. Fails with E_INVALIDARG in
   the same cases as sql_source_parse. */
HRESULT sql_source_join(const char *open, const char *secret, char **name);

/* ---- the three tables in each database ---- */
enum {
    SQL_NAME_UNITS = 1024 + 1, /* varchar(1024) */
    SQL_TIME_UNITS = 24 + 1,   /* char(24) */
    SQL_ZONE_UNITS = 32 + 1,   /* char(32) */
    SQL_GUID_UNITS = 38 + 1,
};

/* Differences between database products. */
struct sql_dialect {
    const char *product;  /* SQL_DBMS_NAME begins with this */
    const char *guid;     /* column type of GUIDs */
    const char *identity; /* column type of CounterID in CounterDetails */
    bool time_nul;        /* char(24) can contain the NUL that Windows writes after the 23 characters of a time */
    const char
        *value; /* expression that reads CounterValue as text with all digits; NULL: reading the number is exact */
    const char *streaming; /* addition to a connection string for reading, so that rows arrive one by one; can be "" */
};
/* Finds the dialect of a connected database. Fails with HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) and an error message if
   the database is unknown. */
HRESULT sql_dialect_of(const struct odbc *c, const struct sql_dialect **out);

/* Checks that existing tables have the columns of MS-PLA 2.2.2.7. Creates missing tables; with `create` false, a
   missing table is a failure. Never drops a table. */
HRESULT sql_tables_ensure(struct odbc *c, const struct sql_dialect *dialect, bool create);

/* Writes a FILETIME as YYYY-MM-DD hh:mm:ss.mmm, in UTC. */
void sql_time_text(int64_t utc, char out[SQL_TIME_UNITS]);
/* Reads a time in the form of sql_time_text. Two more forms are accepted: ':' before the milliseconds, as in MS-PLA,
   and a time without milliseconds. */
bool sql_time_parse(const char *text, int64_t *utc);
/* Writes a GUID as databases do, without braces. */
void sql_guid_text(const GUID *guid, char out[SQL_GUID_UNITS]);

#endif
