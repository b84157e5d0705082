/* SPDX-License-Identifier: MIT */
/* The three tables of an SQL log, MS-PLA 2.2.2.7, as each database has them. */
#ifndef OPENPLA_SQL_TABLES_H
#define OPENPLA_SQL_TABLES_H

#include "engine/logs/sql/odbc.h"

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
