/* SPDX-License-Identifier: MIT */
/* ODBC, with an SQLite database; and threads that wake each other. */
#include "engine/base/thread.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/sql/odbc.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

static char *folder;

static char *database(const char *name)
{
    char *path = text_format("Driver={SQLite3};Database=%s/%s", folder, name);
    assert_non_null(path);
    return path;
}

static struct odbc *open_database(const char *name)
{
    struct odbc *c;
    char *connection = database(name);
    HRESULT hr = odbc_connect(connection, 5, &c);
    if (FAILED(hr))
        fail_msg("%s: %s", connection, error_text(hr));
    memory_free(connection);
    return c;
}

static void run(struct odbc *c, const char *sql)
{
    HRESULT hr = odbc_run(c, sql);
    if (FAILED(hr))
        fail_msg("%s: %s", sql, error_text(hr));
}

static int count(struct odbc *c)
{
    struct odbc_value n = {.kind = ODBC_INTEGER};
    struct odbc_statement *s;
    assert_int_equal(odbc_prepare(c, "SELECT count(*) FROM t", NULL, 0, &n, 1, &s), S_OK);
    assert_int_equal(odbc_execute(s), S_OK);
    assert_int_equal(odbc_fetch(s), S_OK);
    odbc_close(s);
    return n.integer;
}

static void values_are_read_as_written(void **state)
{
    struct odbc *c = open_database("values");
    WCHAR in_text[16], out_text[16];
    struct odbc_value in[] = {{.kind = ODBC_INTEGER}, {.kind = ODBC_REAL}, {.kind = ODBC_TEXT}};
    struct odbc_value out[] = {{.kind = ODBC_INTEGER}, {.kind = ODBC_REAL}, {.kind = ODBC_TEXT}};
    struct odbc_statement *s;
    char *text;
    (void)state;
    in[2].text = in_text;
    out[2].text = out_text;
    in[2].units = out[2].units = 16;
    assert_string_equal(odbc_product(c), "SQLite");
    run(c, "CREATE TABLE t (i int, r float, t varchar(20))");
    assert_int_equal(odbc_prepare(c, "INSERT INTO t VALUES (?, ?, ?)", in, 3, NULL, 0, &s), S_OK);
    in[0].integer = INT32_MIN;
    in[1].real = -0.15625; /* a short number: SQLite's driver returns only 15 digits */
    odbc_set_text(&in[2], "\xC3\xBC\xE4\xB8\xAD\xF0\x9F\x98\x80");
    assert_int_equal(odbc_execute(s), S_OK);
    in[0].length = in[1].length = in[2].length = ODBC_NULL;
    assert_int_equal(odbc_execute(s), S_OK);
    odbc_close(s);
    assert_int_equal(odbc_prepare(c, "SELECT i, r, t FROM t", NULL, 0, out, 3, &s), S_OK);
    for (int round = 0; round < 2; round++) { /* the second call of odbc_execute discards the row not yet fetched */
        assert_int_equal(odbc_execute(s), S_OK);
        assert_int_equal(odbc_fetch(s), S_OK);
        assert_int_equal(out[0].integer, INT32_MIN);
        assert_true(out[1].real == -0.15625);
        assert_int_equal(odbc_get_text(&out[2], &text), S_OK);
        assert_string_equal(text, "\xC3\xBC\xE4\xB8\xAD\xF0\x9F\x98\x80");
        memory_free(text);
    }
    assert_int_equal(odbc_fetch(s), S_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(out[i].length, ODBC_NULL);
    assert_int_equal(odbc_get_text(&out[2], &text), S_OK);
    assert_string_equal(text, "");
    memory_free(text);
    assert_int_equal(odbc_fetch(s), S_FALSE);
    odbc_close(s);
    odbc_disconnect(c);
}

static void strings_are_truncated_between_characters(void **state)
{
    WCHAR room[4];
    struct odbc_value v = {.kind = ODBC_TEXT, .text = room, .units = 4};
    (void)state;
    odbc_set_text(&v, "abcd");
    assert_int_equal(v.length, 6);
    odbc_set_text(&v, "ab\xF0\x9F\x98\x80");
    assert_int_equal(v.length, 4);
    v.length = 100; /* as if the database's value was longer than the buffer */
    char *text = NULL;
    assert_int_equal(odbc_get_text(&v, &text), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
}

#ifdef _WIN32 /* in native builds, unixODBC would read odbc.ini, and its memory would leak */
/* odbc.ini may contain the driver's registered name or its path. */
static void data_source_is_found_by_name(void **state)
{
    static const char *const names[] = {"openpla_test", "openpla_test_driver_path"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct odbc *c;
        char *connection = text_format("DSN=%s", names[i]);
        HRESULT hr = odbc_connect(connection, 5, &c);
        if (FAILED(hr))
            fail_msg("%s: %s", connection, error_text(hr));
        assert_string_equal(odbc_product(c), "SQLite");
        odbc_disconnect(c);
        memory_free(connection);
    }
}
#endif

static void uncommitted_rows_are_not_visible(void **state)
{
    struct odbc *c = open_database("transaction");
    (void)state;
    run(c, "CREATE TABLE t (i int)");
    assert_int_equal(odbc_begin(c), S_OK);
    run(c, "INSERT INTO t VALUES (1)");
    assert_int_equal(odbc_end(c, true), S_OK);
    assert_int_equal(odbc_begin(c), S_OK);
    run(c, "INSERT INTO t VALUES (2)");
    assert_int_equal(odbc_end(c, false), S_OK);
    assert_int_equal(odbc_begin(c), S_OK);
    run(c, "INSERT INTO t VALUES (3)");
    odbc_disconnect(c);
    c = open_database("transaction");
    assert_int_equal(count(c), 1);
    odbc_disconnect(c);
}

static void error_contains_the_driver_message(void **state)
{
    struct odbc *c = open_database("failure");
    HRESULT hr = odbc_run(c, "SELECT * FROM nowhere (1)");
    (void)state;
    assert_int_equal(hr, (HRESULT)PDH_SQL_EXEC_DIRECT_FAILED);
    assert_non_null(strstr(error_text(hr), "SELECT * FROM nowhere"));
    assert_non_null(strstr(error_text(hr), "no such table: nowhere"));
    const char *state_text = strstr(error_text(hr), "(SQLSTATE ");
    assert_non_null(state_text);
    assert_int_equal(strcspn(state_text, ")"), strlen("(SQLSTATE ") + 5);
    odbc_disconnect(c);
    hr = odbc_connect("DSN=OpenPLA has no such source;PWD=cret", 5, &c);
    assert_int_equal(hr, (HRESULT)PDH_SQL_CONNECT_FAILED);
    assert_null(c);
    assert_non_null(strstr(error_text(hr), "IM002"));
    assert_null(strstr(error_text(hr), "cret"));
}

/* Each of these strings contains the path of a file that the driver manager would load. The host process must not run
   code that is not registered as a driver. */
static void only_registered_drivers_are_loaded(void **state)
{
    struct odbc *c;
    char *refused[] = {text_format("Driver=%s/driver.so", folder), text_format("Driver={SQLite3};LoadExt=%s/x", folder),
                       text_format("DSN=x;PWD={;Driver=%s/driver.so}", folder)};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(odbc_connect(refused[i], 5, &c), E_INVALIDARG);
        assert_null(c);
        memory_free(refused[i]);
    }
    /* The file name of a driver's library is rejected as well, although the loader would find it: the driver is
       registered as "SQLite3". */
    HRESULT hr = odbc_connect("Driver=libsqlite3odbc.so;Database=a", 5, &c);
    assert_int_equal(hr, (HRESULT)PDH_SQL_CONNECT_FAILED);
    assert_string_equal(error_text(hr), "no ODBC driver is registered as 'libsqlite3odbc.so' (attribute Driver)");
    assert_int_equal(odbc_connect("DSN=x;UID=a!b", 5, &c), E_INVALIDARG);
    char *any_case = text_format("dRIVER = sqlite3 ;Database=%s/any case", folder);
    assert_int_equal(odbc_connect(any_case, 5, &c), S_OK);
    odbc_disconnect(c);
    memory_free(any_case);
}

struct partner {
    struct wakeup *to, *from;
    volatile int turns;
};

static void partner_main(void *user)
{
    struct partner *p = user;
    while (p->turns < 1000) {
        assert_true(wakeup_wait(p->to, PATIENCE_MS));
        p->turns++;
        wakeup_set(p->from);
    }
}

static void threads_wake_each_other(void **state)
{
    struct partner p = {0};
    struct thread *t;
    (void)state;
    assert_int_equal(wakeup_create(&p.to), S_OK);
    assert_int_equal(wakeup_create(&p.from), S_OK);
    assert_false(wakeup_wait(p.from, 0));
    assert_int_equal(thread_start(partner_main, &p, &t), S_OK);
    assert_false(thread_wait(t, 10));
    for (int i = 0; i < 1000; i++) {
        wakeup_set(p.to);
        assert_true(wakeup_wait(p.from, PATIENCE_MS));
        assert_false(wakeup_wait(p.from, 0)); /* the wait before has consumed the wakeup */
    }
    assert_true(thread_wait(t, PATIENCE_MS));
    assert_int_equal(p.turns, 1000);
    thread_close(t);
    wakeup_free(p.to);
    wakeup_free(p.from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_as_written),
        cmocka_unit_test(strings_are_truncated_between_characters),
#ifdef _WIN32
        cmocka_unit_test(data_source_is_found_by_name),
#endif
        cmocka_unit_test(uncommitted_rows_are_not_visible),
        cmocka_unit_test(error_contains_the_driver_message),
        cmocka_unit_test(only_registered_drivers_are_loaded),
        cmocka_unit_test(threads_wake_each_other),
    };
    folder = scratch_create("odbc");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    memory_free(folder);
    return failed;
}
