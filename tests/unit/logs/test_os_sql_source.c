/* SPDX-License-Identifier: MIT */
/* The name of an SQL log. If its parts were separated wrongly, data would be written into another database or under
   another name. A password in an error message would be logged where other users can read it. */
#include "engine/logs/sql_log.h"
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
    expect_split("SQL:DSN=x;!set", "DSN=x", "set", "SQL:DSN=x!set");
    expect_split("SQL: dsn = x ;; uid=me!set", "DSN=x;UID=me", "set", "SQL:DSN=x;UID=me!set");
    expect_split("SQL:Database={/tmp/a!b;c}}d} ;Driver=y!s!t", "Driver={y};Database={/tmp/a!b;c}}d}", "s!t",
                 "SQL:Database={/tmp/a!b;c}}d};Driver=y!s!t");
}

static void passwords_are_not_shown(void **state)
{
    (void)state;
    expect_split("SQL:DSN=x;UID=me;PWD=se=cret!set", "DSN=x;UID=me;PWD=se=cret", "set", "SQL:DSN=x;UID=me;PWD=***!set");
    expect_split("SQL: pwd ={a!b}}};Password=q;UID=me!s", "PWD={a!b}}};Password=q;UID=me", "s",
                 "SQL:PWD=***;Password=***;UID=me!s");
    expect_split("SQL:DSN=x;AUTHENTICATION=ActiveDirectoryPassword!s", "DSN=x;Authentication=ActiveDirectoryPassword",
                 "s", "SQL:DSN=x;Authentication=***!s");
}

static void expect_rejected(const char *name, const char *why)
{
    struct sql_source s;
    assert_int_equal(sql_source_parse(name, &s), E_INVALIDARG);
    assert_null(s.connection);
    assert_null(s.log_set);
    if (!strstr(error_text(E_INVALIDARG), why))
        fail_msg("%s: rejected with \"%s\"", name, error_text(E_INVALIDARG));
}

static void expect_parts(const char *name, const char *open, const char *secret, const char *joined)
{
    struct sql_source s;
    char *whole;
    assert_int_equal(sql_source_parse(name, &s), S_OK);
    assert_string_equal(s.open, open);
    assert_string_equal(s.secret, secret);
    assert_int_equal(sql_source_join(s.open, s.secret, &whole), S_OK);
    assert_string_equal(whole, joined);
    memory_free_secret(whole);
    sql_source_free(&s);
}

/* A set's file and its XML must not contain the password. The host process inserts it into the connection string. */
static void passwords_are_removed_and_reinserted(void **state)
{
    (void)state;
    expect_parts("SQL:perf!Servers", "SQL:perf!Servers", "", "SQL:DSN=perf!Servers");
    expect_parts("SQL:DSN=x;UID=me;PWD=se=cret!a", "SQL:DSN=x;UID=me!a", "PWD=se=cret",
                 "SQL:DSN=x;UID=me;PWD=se=cret!a");
    expect_parts("SQL: pwd ={a!b}}};Password= q ;UID=me!s", "SQL:UID=me!s", "PWD={a!b}}};Password=q",
                 "SQL:UID=me;PWD={a!b}}};Password=q!s");
    expect_parts("SQL:PWD=;Driver={SQLite3}!s", "SQL:Driver={SQLite3}!s", "PWD=", "SQL:Driver={SQLite3};PWD=!s");
}

/* With such attributes, anyone who can write a set's definition could make the host process load any library or write
   any file. */
static void attributes_that_load_code_are_rejected(void **state)
{
    static const struct {
        const char *connection, *why;
    } hostile[] = {
        {"Driver=/tmp/x.so", "Driver must be the registered name"},
        {"driver = {/tmp/x.so}", "Driver must be the registered name"},
        {"DRIVER=..\\x.dll;Database=a", "Driver must be the registered name"},
        {"Driver={}", "the value of 'Driver' is not a name"},
        {"Driver={SQLite3};LoadExt=/tmp/x.so", "attribute 'LoadExt' is not allowed"},
        {"Driver={SQLite3}; loadext =/tmp/x.so", "attribute 'loadext' is not allowed"},
        {"DSN=x;FILEDSN=/tmp/x.dsn", "attribute 'FILEDSN' is not allowed"},
        {"DSN=x;SAVEFILE=/tmp/x.dsn", "attribute 'SAVEFILE' is not allowed"},
        {"DSN=x;TranslationDLL=x", "attribute 'TranslationDLL' is not allowed"},
        {"DSN=x;ConnSettings=x", "attribute 'ConnSettings' is not allowed"},
        {"DSN=x;AccessToken=S3CRET", "attribute 'AccessToken' is not allowed"},
        {"DSN=x;Driver={SQLite3}", "both a data source and a driver"},
        {"Driver={SQLite3};Driver=/tmp/x.so", "Driver must be the registered name"},
        {"Driver={SQLite3};DRIVER={PostgreSQL}", "duplicate attribute 'Driver'"},
        {"DSN=x;UID=a;uid=b", "duplicate attribute 'UID'"},
        /* Parsers disagree whether a part of these strings is a value or an attribute. */
        {"DSN=x;PWD={S3CRET;LoadExt=/tmp/x.so}", "the value of 'PWD' contains '='"},
        {"DSN=x;PWD={S3CRET}};LoadExt=/tmp/x.so}", "the value of 'PWD' contains '='"},
        {"DSN=x;PWD={S3CRET}}LoadExt=/tmp/x.so}", "the value of 'PWD' contains '='"},
        {"DSN=x;PWD={S3CRET}LoadExt=/tmp/x.so", "text follows the '}' of 'PWD'"},
        {"DSN=x;PWD=S3CRET{;UID=a}", "the value of 'PWD' contains a brace"},
        {"DSN=x;PWD=S3CRET};UID=a", "the value of 'PWD' contains a brace"},
        {"DSN={x;LoadExt=/tmp/x.so}", "the value of 'DSN' contains '='"},
        {"DSN={x;y}", "the value of 'DSN' is not a name"},
        {"DSN=x;Timeout=1 PRAGMA(2)", "the value of 'Timeout' must be a word"},
        {"DSN=x;UID=a\nDriver=/tmp/x.so", "the value of 'UID' contains a control"},
        {"DSN=x;=S3CRET", "attribute number 2 is not allowed"},
        {"DSN=x;S3CRET/=y", "attribute number 2 is not allowed"},
        /* The rest of the password would become the log set's name, which everyone can see. */
        {"DSN=x;PWD=a!S3CRET", "the value of 'PWD' contains a '!'"},
        {"DSN=x;PWD=a!S3CRET;UID=b", "the value of 'PWD' contains a '!'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        char *name = text_format("SQL:%s!set", hostile[i].connection);
        expect_rejected(name, hostile[i].why);
        if (strstr(error_text(E_INVALIDARG), "S3CRET"))
            fail_msg("%s: shown in \"%s\"", name, error_text(E_INVALIDARG));
        memory_free(name);
    }
    expect_split("SQL:DSN=x;PWD={a}!set!more", "DSN=x;PWD={a}", "set!more", "SQL:DSN=x;PWD=***!set!more");
    expect_rejected("Driver=x;PWD=S3CRET!set", "invalid log name '...'");
    expect_rejected("SQL:x;LoadExt!set", "attribute 2 is not of the form key=value");
    expect_rejected("SQL:x}!set", "the value of 'DSN' contains a brace");
    expect_rejected("SQL:PWD=S3CRET!set", "a password but no data source"); /* the password is the only attribute */
    assert_null(strstr(error_text(E_INVALIDARG), "S3CRET"));
}

static void other_forms_are_rejected_with_the_reason(void **state)
{
    char longest[4 + 2 + 1026] = "SQL:p!";
    (void)state;
    expect_rejected("", "invalid log name ''");
    expect_rejected("C:\\log.csv", "expected SQL:<data source>!<log set>");
    expect_rejected("SQL:", "invalid log name 'SQL:'");
    expect_rejected("SQL:!set", "expected SQL:<data source>!<log set>");
    expect_rejected("SQL:perf", "invalid log name 'SQL:perf'");
    expect_rejected("SQL:perf!", "expected SQL:<data source>!<log set>");
    expect_rejected("SQL:Driver=x;PWD=cret", "invalid log name 'SQL:Driver=x;PWD=***'");
    expect_rejected("SQL:Driver={x!set", "is not closed");
    expect_rejected("SQL:Driver=x;lonely!set", "attribute 2 is not of the form key=value");
    memset(longest + 6, 'x', 1024);
    expect_split(longest, "DSN=p", longest + 6, longest);
    longest[6 + 1024] = 'x';
    longest[6 + 1025] = 0;
    expect_rejected(longest, "exceeds 1024 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_data_source_is_named),
        cmocka_unit_test(a_connection_string_needs_no_data_source),
        cmocka_unit_test(passwords_are_not_shown),
        cmocka_unit_test(passwords_are_removed_and_reinserted),
        cmocka_unit_test(attributes_that_load_code_are_rejected),
        cmocka_unit_test(other_forms_are_rejected_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
