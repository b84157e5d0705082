/* SPDX-License-Identifier: MIT */
/* The name of an SQL log. A wrong split writes a user's data into another database or under another name; a password
   in an error text ends up in a log that others read. */
#include "engine/os/sql_source.h"
#include "tests/unit/scratch_folder.h"

static void expect_split(const char *name, const char *connection, const char *log_set, const char *shown)
{
    struct sql_source s;
    assert_int_equal(sql_source_parse(name, &s), S_OK);
    assert_string_equal(s.connection, connection);
    assert_string_equal(s.log_set, log_set);
    assert_string_equal(s.shown, shown);
    sql_source_free(&s);
}

static void a_data_source_is_named(void **state)
{
    (void)state;
    expect_split("SQL:perf!Servers", "DSN=perf", "Servers", "SQL:perf!Servers");
    expect_split("sql:my perf!Night!run=2", "DSN=my perf", "Night!run=2", "SQL:my perf!Night!run=2");
    expect_split("SQL:p!\xC3\xBC", "DSN=p", "\xC3\xBC", "SQL:p!\xC3\xBC");
}

static void a_connection_string_needs_no_data_source(void **state)
{
    (void)state;
    expect_split("SQL:Driver={SQLite3};Database=/tmp/a.db!set", "Driver={SQLite3};Database=/tmp/a.db", "set",
                 "SQL:Driver={SQLite3};Database=/tmp/a.db!set");
    expect_split("SQL:DSN=x;!set", "DSN=x;", "set", "SQL:DSN=x;!set");
    expect_split("SQL:Database={/tmp/a!b;c}}d};Driver=y!s!t", "Database={/tmp/a!b;c}}d};Driver=y", "s!t",
                 "SQL:Database={/tmp/a!b;c}}d};Driver=y!s!t");
}

static void passwords_are_not_shown(void **state)
{
    (void)state;
    expect_split("SQL:DSN=x;UID=me;PWD=se=cret!set", "DSN=x;UID=me;PWD=se=cret", "set", "SQL:DSN=x;UID=me;PWD=***!set");
    expect_split("SQL: pwd ={a!b}}};Password=q;UID=me!s", " pwd ={a!b}}};Password=q;UID=me", "s",
                 "SQL: pwd =***;Password=***;UID=me!s");
}

static void expect_refused(const char *name, const char *why)
{
    struct sql_source s;
    assert_int_equal(sql_source_parse(name, &s), E_INVALIDARG);
    assert_null(s.connection);
    assert_null(s.log_set);
    if (!strstr(error_text(E_INVALIDARG), why))
        fail_msg("%s: refused with \"%s\"", name, error_text(E_INVALIDARG));
}

static void other_forms_are_refused_with_the_reason(void **state)
{
    char longest[4 + 2 + 1026] = "SQL:p!";
    (void)state;
    expect_refused("", "'' is not of the form");
    expect_refused("C:\\log.csv", "is not of the form");
    expect_refused("SQL:", "'SQL:' is not of the form");
    expect_refused("SQL:!set", "is not of the form");
    expect_refused("SQL:perf", "'SQL:perf' is not of the form");
    expect_refused("SQL:perf!", "is not of the form");
    expect_refused("SQL:Driver=x;PWD=cret", "'SQL:Driver=x;PWD=***' is not of the form");
    expect_refused("SQL:Driver={x!set", "is not closed");
    expect_refused("SQL:Driver=x;lonely!set", "attribute 2 of the connection string is not key=value");
    memset(longest + 6, 'x', 1024);
    expect_split(longest, "DSN=p", longest + 6, longest);
    longest[6 + 1024] = 'x';
    longest[6 + 1025] = 0;
    expect_refused(longest, "is longer than 1024 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_data_source_is_named),
        cmocka_unit_test(a_connection_string_needs_no_data_source),
        cmocka_unit_test(passwords_are_not_shown),
        cmocka_unit_test(other_forms_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
