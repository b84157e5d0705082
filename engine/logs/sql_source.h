/* SPDX-License-Identifier: MIT */
/* The name of an SQL log, MS-PLA 3.2.4.6.2: SQL:<data source>!<log set>. */
#ifndef OPENPLA_SQL_SOURCE_H
#define OPENPLA_SQL_SOURCE_H

#include "engine/base/text.h"

/* SQL:name!set            an ODBC data source by its name, which no '!' can be in
   SQL:key=value;...!set   an ODBC connection string, which needs no data source (engine/logs/sql/odbc_string.h): a
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

#endif
