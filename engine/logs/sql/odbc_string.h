/* SPDX-License-Identifier: MIT */
/* ODBC connection strings, held to what may be in one (DECISIONS 38): a string that strangers may have written must
   load no code, read or write no file but the database, and show nobody a secret.

   Attributes are those of docs/user/databases.md, each once, under any case. What makes drivers and their managers read
   one text as different attributes is refused: braces within a value or behind one, and '=' beside ';', '{' or '}'
   within braces. */
#ifndef OPENPLA_ODBC_STRING_H
#define OPENPLA_ODBC_STRING_H

#include "engine/base/text.h"

struct odbc_string {
    char *driver; /* the name it asks for; NULL: none, it names a data source */
    char *rest;   /* all other attributes under the names that we know them by, their values as given */
    char *shown;  /* all of it for people: "***" for what is secret */
    char *open;   /* all of it but what is secret, as a connection string that may be shown and kept anywhere */
    char *secret; /* what is secret, as the same; "" for none */
};
/* Ends at the first '!' outside braces, or at the end: *end. E_INVALIDARG with a text that names the attribute, or its
   number where it is none, and no value; E_OUTOFMEMORY. *out is all NULL then. */
HRESULT odbc_string_parse(const char *text, struct odbc_string *out, const char **end);
/* The attributes of `text` and those of `more` that it has not; *out from memory_alloc. */
HRESULT odbc_string_add(const char *text, const char *more, char **out);
/* What a driver manager takes, with `driver` in the place of the string's own; NULL when out of memory. */
char *odbc_string_with(const struct odbc_string *s, const char *driver);
void odbc_string_free(struct odbc_string *s);

#endif
