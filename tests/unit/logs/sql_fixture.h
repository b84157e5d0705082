/* SPDX-License-Identifier: MIT */
/* Databases for the tests of SQL logs. Each test program gets a new SQLite file and uses the tests' own PostgreSQL
   server. */
#ifndef OPENPLA_SQL_FIXTURE_H
#define OPENPLA_SQL_FIXTURE_H

#include "engine/logs/sql/odbc.h"
#include "tests/unit/scratch_folder.h"

struct database {
    const char *product;
    char *connection;
    struct odbc *odbc; /* the test's own connection */
};
extern struct database sqlite, postgres;

/* Opens both databases; a test program's main calls it. If a database is unavailable, prints a message and returns
   false. */
bool databases_open(const char *test);
void databases_close(void);
/* The setup function of a test whose state is the database: drops the tables of SQL logs. */
int database_empty(void **state);

/* Runs the statement; fails the test on error. */
void sql_run(const struct database *d, const char *sql);
/* Returns all rows: columns separated by '|', rows terminated by '\n', NULL as "-", trailing spaces of a column
   removed. From memory_alloc. */
char *sql_rows(const struct database *d, size_t columns, const char *sql);
void expect_rows(const struct database *d, size_t columns, const char *sql, const char *rows);
/* Returns SQL:<connection string>!<set>, with the additional attributes `more`; from memory_alloc. */
char *sql_name(const struct database *d, const char *more, const char *set);

#endif
