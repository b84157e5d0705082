/* SPDX-License-Identifier: MIT */
/* Manages sets on another computer: every logman verb with -s, and script access to a set with a server name. Without
   this, users would have to log on to each computer. The server is tests/rpc/set_server.c. */
#include "engine/pla/remote_sets.h"
#include "engine/pla/sets.h"
#include "engine/rpc/remote_account.h"
#include "tests/rpc/set_server.h"
#include "tests/unit/cli/logman_fixture.h"

static char there[32]; /* 127.0.0.1:PORT */

/* Runs "logman VERB -s THERE REST", and expects the exit code and a part of the output. */
static void expect(const char *verb, const char *rest, uint32_t code, const char *says)
{
    struct texts words = {0};
    int result;
    char *line = text_format("logman %s -s %s %s", verb, there, rest);
    assert_non_null(line);
    split(line, &words);
    char *written = run(&verb_logman, &words, &result);
    if ((uint32_t)result != code || !strstr(written, says))
        fail_msg("%s: 0x%08X, not 0x%08X with \"%s\": %s", line, (unsigned)result, (unsigned)code, says, written);
    memory_free(written);
    memory_free(line);
    texts_free(&words);
}

static void use_account(const char *user, const char *password)
{
    struct remote_account a;
    remote_account_forget_given();
    if (!user)
        return;
    assert_int_equal(remote_account_make(user, password, &a), S_OK);
    assert_int_equal(remote_account_give(there, &a), S_OK);
    remote_account_free(&a);
}

static int begin_all(void **state)
{
    uint16_t port;
    if (fixture_setup(state) || FAILED(set_server_begin(&port)))
        return -1;
    snprintf(there, sizeof there, "127.0.0.1:%u", port);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    char *folder = fixture_folder("remote");
    const int failed = chdir(folder);
    memory_free(folder);
    set_server_forget_sets();
    set_server_filters = true;
    set_server_query_fails = S_OK;
    use_account("tester", "secret of tests");
    return failed;
}

/* Checks that this process holds no objects of the server when it has no set. */
static int end(void **state)
{
    (void)state;
    remote_account_forget_given();
    return set_server_objects() != 0;
}

static void every_verb_of_logman_works(void **state)
{
    (void)state;
    expect("create counter far", "-c \\Memory\\Available* -si 5 -o C:\\there\\log", 0, DONE);
    const struct served_set *s = set_server_find("far");
    assert_non_null(s);
    assert_non_null(strstr(s->xml, "<Counter>\\Memory\\Available*</Counter>"));
    assert_non_null(strstr(s->xml, "<SampleInterval>5</SampleInterval>"));
    assert_int_equal(s->mode, SETS_CREATE_NEW);
    expect("create counter far", "-c \\System\\Processes", 0x80300109, "already exists");
    expect("query", "", 0, "far");
    expect("query", "", 0, "Stopped");
    expect("query far", "", 0, "\\Memory\\Available*");
    expect("query far", "", 0, "C:\\there\\next\\log");
    expect("start far", "", 0, DONE);
    assert_int_equal(s->status, 1);
    assert_true(s->was_synchronous);
    expect("query", "", 0, "Running");
    expect("start far", "", 0x8004131F, "");
    expect("update far", "-si 7", 0, DONE);
    assert_non_null(strstr(s->xml, "<SampleInterval>7</SampleInterval>"));
    assert_int_equal(s->mode, SETS_MODIFY | SETS_UPDATE_RUNNING);
    expect("stop far", "-as", 0, DONE);
    assert_int_equal(s->status, 0);
    assert_false(s->was_synchronous);
    expect("export far", "-xml far.xml", 0, DONE);
    expect("delete far", "", 0, DONE);
    assert_null(set_server_find("far"));
    expect("query far", "", 0x80300002, "Data Collector Set was not found.");
    expect("import far", "-xml far.xml", 0, DONE);
    assert_non_null(strstr(set_server_find("far")->xml, "<SampleInterval>7</SampleInterval>"));
}

static void server_issues_are_shown(void **state)
{
    (void)state;
    expect("create counter far", "-c \\Memory\\Available* -v nnnnnn --verbose", 0, DONE);
    expect("update far", "-si 2 -verbose", 0, "not used there");
}

static void create_and_start_make_a_session(void **state)
{
    (void)state;
    expect("start trace1", "-ets -o C:\\there\\trace.etl", 0, DONE);
    const struct served_set *s = set_server_find("trace1");
    assert_non_null(s);
    assert_string_equal(s->space, "Session");
    assert_int_equal(s->status, 1);
    expect("query", "-ets", 0, "trace1");
    expect("stop trace1", "-ets", 0, DONE);
}

/* Windows' server ignores our filter and returns all sets. */
static void lists_of_other_servers_are_filtered_here(void **state)
{
    struct object *all;
    (void)state;
    expect("create counter one", "-c \\Memory\\Available*", 0, DONE);
    expect("create counter two", "-c \\Memory\\Available*", 0, DONE);
    for (int round = 0; round < 2; round++) {
        set_server_filters = round == 0;
        assert_int_equal(remote_sets_collection_create(NULL, &all), S_OK);
        assert_int_equal(sets_find(all, &caller_self, there, "Service\\t*"), S_OK);
        struct object **list;
        size_t count;
        assert_int_equal(collection_snapshot(all, &list, &count), S_OK);
        assert_int_equal(count, 1);
        assert_string_equal(set_of(list[0])->Name, "two");
        assert_string_equal(set_of(list[0])->Server, there);
        objects_release(list, count);
        object_release(all);
    }
}

static void logon_needs_the_right_account(void **state)
{
    (void)state;
    expect("query", "-u tester \"secret of tests\"", 0, DONE);
    expect("query", "-u tester wrong", 0x80070005, "logon of 'tester' failed");
    use_account(NULL, NULL);
    expect("query", "", 0x80070005, "openpla remote add");
    use_account("tester", "secret of tests");
    expect("create counter far", "-c \\Memory\\Available* -u tester \"secret of tests\"", 0, DONE);
    assert_string_equal(set_server_find("far")->account, ""); /* -u is the account for the logon, not the set's
                                                                 account */
}

static struct object *query(const char *name)
{
    struct object *set;
    assert_int_equal(remote_sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, there), S_OK);
    return set;
}

static uint32_t status_of(struct object *set)
{
    struct value v;
    assert_int_equal(object_get(set, class_property(set->class, "Status"), &v), S_OK);
    return v.u32;
}

static void live_properties_come_from_the_server(void **state)
{
    static const struct {
        const char *property, *value;
    } rows[] = {{"LatestOutputLocation", "C:\\there\\latest"},
                {"OutputLocation", "C:\\there\\next"},
                {"UserAccount", "SYSTEM"}};
    char *value;
    (void)state;
    expect("create counter far", "-c \\Memory\\Available*", 0, DONE);
    struct object *set = query("far");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct value v;
        assert_int_equal(object_get(set, class_property(set->class, rows[i].property), &v), S_OK);
        assert_string_equal(v.text, rows[i].value);
        value_free(&v);
    }
    assert_int_equal(status_of(set), 0);
    assert_int_equal(set_start(set, &caller_self, true), S_OK);
    assert_int_equal(status_of(set), 1);
    assert_int_equal(sets_get_value(set, &caller_self, "OpenPLA.LastRunResult", &value), S_OK);
    assert_string_equal(value, "from there");
    memory_free(value);
    struct object *errors;
    assert_int_equal(issues_create(NULL, &errors), S_OK);
    assert_int_equal(set_manage(set, &caller_self, STEP_CREATE_REPORT, "", errors), S_OK);
    struct object **list;
    size_t count;
    assert_int_equal(collection_snapshot(errors, &list, &count), S_OK);
    assert_int_equal(count, 1);
    objects_release(list, count);
    object_release(errors);
    object_release(set);
}

static void set_credentials_reach_the_server(void **state)
{
    struct object *issues;
    (void)state;
    expect("create counter far", "-c \\Memory\\Available*", 0, DONE);
    struct object *set = query("far");
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(sets_set_credentials(set, &caller_self, "LAB\\runner", "its password"), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "far", there, SETS_MODIFY, issues), S_OK);
    assert_string_equal(set_server_find("far")->account, "LAB\\runner");
    assert_string_equal(set_server_find("far")->password, "its password");
    object_release(issues);
    object_release(set);
}

/* A restarted server does not recognize objects from before the restart. */
static void sets_survive_a_restart_of_the_server(void **state)
{
    (void)state;
    expect("create counter far", "-c \\Memory\\Available*", 0, DONE);
    struct object *set = query("far");
    set_server_drop_objects();
    assert_int_equal(status_of(set), 0);
    set_server_drop_objects();
    assert_int_equal(set_start(set, &caller_self, false), S_OK);
    set_server_drop_objects();
    assert_int_equal(set_stop(set, &caller_self, false), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* A set with corrupt stored XML can be deleted, but not used otherwise. */
static void corrupt_sets_can_be_deleted(void **state)
{
    (void)state;
    expect("create counter far", "-c \\Memory\\Available*", 0, DONE);
    set_server_query_fails = OPENPLA_E_MALFORMED_XML;
    expect("query far", "", (uint32_t)OPENPLA_E_MALFORMED_XML, "");
    expect("delete far", "", 0, DONE);
    assert_null(set_server_find("far"));
}

static HRESULT one_life(void)
{
    struct object *set = NULL, *issues = NULL;
    HRESULT hr = remote_sets_create(NULL, &set);
    if (SUCCEEDED(hr))
        hr = set_query(set, &caller_self, "far", there);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_commit(set, &caller_self, "far", there, SETS_MODIFY, issues);
    if (SUCCEEDED(hr))
        hr = set_start(set, &caller_self, true);
    if (SUCCEEDED(hr))
        hr = set_stop(set, &caller_self, true);
    object_release(issues);
    object_release(set);
    return hr;
}

static void out_of_memory_is_an_error(void **state)
{
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    expect("create counter far", "-c \\Memory\\Available*", 0, DONE);
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = one_life();
        memory_fail_at(0);
        set_server_find("far")->status = 0;
    }
    assert_int_equal(hr, S_OK);
    set_server_drop_objects(); /* objects that the client could not release */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(every_verb_of_logman_works),       TEST(server_issues_are_shown),
        TEST(create_and_start_make_a_session),  TEST(lists_of_other_servers_are_filtered_here),
        TEST(logon_needs_the_right_account),    TEST(live_properties_come_from_the_server),
        TEST(set_credentials_reach_the_server), TEST(sets_survive_a_restart_of_the_server),
        TEST(corrupt_sets_can_be_deleted),      TEST(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, begin_all, fixture_teardown);
}
