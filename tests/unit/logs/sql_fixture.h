/* SPDX-License-Identifier: MIT */
/* The databases of the SQL log tests: a new SQLite file per test, and the tests' own PostgreSQL server, emptied. */
#ifndef OPENPLA_SQL_FIXTURE_H
#define OPENPLA_SQL_FIXTURE_H

#include "engine/logs/sql/odbc.h"
#include "tests/unit/scratch_folder.h"

struct database {
    const char *product;
    char *connection;
    struct odbc *odbc; /* the test's own eyes */
};
extern struct database sqlite, postgres;

/* Opens both; for the test program's main. False, with a message: one of them cannot be had. */
bool databases_open(const char *test);
void databases_close(void);
/* Setup of a test: state is the database, without tables. */
int database_empty(void **state);

/* Runs it, or fails the test. */
void sql_run(const struct database *d, const char *sql);
/* All rows: columns separated by '|', rows ended by '\n', NULL as "-", blanks at the end of a column left out. From
   memory_alloc. */
char *sql_rows(const struct database *d, size_t columns, const char *sql);
void expect_rows(const struct database *d, size_t columns, const char *sql, const char *rows);
/* SQL:<connection string>!<set>, with `more` attributes; from memory_alloc. */
char *sql_name(const struct database *d, const char *more, const char *set);

#endif
