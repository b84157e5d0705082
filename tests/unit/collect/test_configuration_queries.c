/* SPDX-License-Identifier: MIT */
/* ManagementQueries of a configuration collector: rows are written in the order of arrival; failures and hung queries
   become entries. */
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/base/windows_services.h"
#include "tests/unit/collect/configuration_fixture.h"

static void ask(struct collected *c, const char *query)
{
    assert_int_equal(texts_add(&c->request.queries, query), S_OK);
}

static void collect(struct collected *c)
{
    collect_source(c, configuration_collect_queries);
    assert_int_equal(c->hr, S_OK);
}

#define ERROR_OF(table, result, text)                                                                                  \
    "count(//Table[" table "]/Item[Data[@name='result']='" result "' and contains(Data[@name='error'], '" text "')])"

static void entries_without_a_query_are_named(void **state)
{
    static const char *const bad[] = {"root\\cimv2", "SELECT * FROM A", ":SELECT * FROM A", "root\\cimv2: "};
    struct collected c = {.hr = S_OK};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ask(&c, bad[i]);
    collect(&c);
    check_xpath(c.doc, "count(/Report/Section[@name='management']/Table[@name='managementQuery'])", "4");
    check_xpath(c.doc, "count(//Item[Data[@name='result']='0x80070057'])", "4");
    check_xpath(c.doc, ERROR_OF("3", "0x80070057", ":SELECT * FROM A"), "1");
    check_xpath(c.doc, "string(//Table[1]/@source)", "root\\cimv2");
    collected_end(&c);
}

#ifdef _WIN32
/* Queries classes that this host OS provides. */
static void real_classes_return_rows(void **state)
{
    struct collected c = {.hr = S_OK};
    char *name = os_computer_name(), path[160];
    (void)state;
    ask(&c, "root\\cimv2:SELECT * FROM Win32_OperatingSystem");
    ask(&c, "ROOT/CIMV2: select Name, TotalPhysicalMemory, BootupState from Win32_ComputerSystem");
    ask(&c, "root\\cimv2:SELECT ProcessId, Name FROM Win32_Process");
    ask(&c, "\\\\127.0.0.1\\root\\cimv2:SELECT Name FROM Win32_ComputerSystem");
    collect(&c);
    check_xpath(c.doc, "count(//Table)", "4");
    check_xpath(c.doc, "count(//Table[4]/Item)", "1");
    check_xpath(c.doc, "count(//Table[1]/Item)", "1");
    check_xpath(c.doc, "contains(//Table[1]/Item/Data[@name='Caption'], 'Windows')", "true");
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='Caption']/@type)", "string");
    check_xpath(c.doc, "string-length(//Table[1]/Item/Data[@name='LastBootUpTime'])", "32");
    check_xpath(c.doc, "string(//Table[1]/Item/Data[@name='LastBootUpTime']/@type)", "datetime");
    check_xpath(c.doc, "substring(//Table[1]/Item/Data[@name='LastBootUpTime'], 11, 1)", "T");
    check_xpath(c.doc, "count(//Table[2]/Item)", "1");
    snprintf(path, sizeof path, "string(//Table[2]/Item[Data='%s']/Data[@name='Name'])", name);
    check_xpath(c.doc, path, name);
    check_xpath(c.doc, "number(//Table[2]/Item/Data[@name='TotalPhysicalMemory'])>1000000", "true");
    check_xpath(c.doc, "string(//Table[2]/Item/Data[@name='TotalPhysicalMemory']/@type)", "uint64");
    snprintf(path, sizeof path, "count(//Table[3]/Item[Data='%u'])", (unsigned)process_own_id());
    check_xpath(c.doc, path, "1");
    check_xpath(c.doc, "count(//Data[@name='error' and text()])", "0");
    memory_free(name);
    collected_end(&c);
}

static void real_failures_are_entries_with_their_results(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    ask(&c, "root\\nosuch:SELECT * FROM Win32_OperatingSystem");
    ask(&c, "root\\cimv2:SELECT * FROM NoSuchClass WHERE Name = ' from Win32_Process '");
    ask(&c, "root\\cimv2:SELECT FROM WHERE");
    ask(&c, "root\\cimv2:SELECT * FROM Win32_Process WHERE ProcessId = 4294967294"); /* returns no rows and no error */
    ask(&c, "root\\cimv2:SELECT Caption FROM Win32_OperatingSystem");
    collect(&c);
    check_xpath(c.doc, ERROR_OF("1", "0x8004100E", "root\\nosuch: the namespace does not exist"), "1");
    check_xpath(c.doc, ERROR_OF("2", "0x80041010", "the class does not exist"), "1");
    check_xpath(c.doc, ERROR_OF("3", "0x80041017", "not valid WQL"), "1");
    check_xpath(c.doc, "count(//Table[4]/Item)", "0");
    check_xpath(c.doc, "count(//Table[5]/Item/Data[@name='Caption'])", "1");
    collected_end(&c);
}

static void wmi_of_another_computer_is_an_entry(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    if (!os_is_wine())
        skip(); /* the host OS would search for the computer */
    ask(&c, "\\\\other\\root\\cimv2:SELECT * FROM Win32_OperatingSystem");
    collect(&c);
    check_xpath(c.doc, ERROR_OF("1", "0x80041015", "other"), "1");
    collected_end(&c);
}
#else
/* ---- replacement for WMI ---- */

static struct lock lock = LOCK_INIT;
static struct thread_condition changed;
static bool hold;
static unsigned inside, given;
static atomic_bool *stop_at_1000;

static void wait_while_held(void)
{
    lock_enter(&lock);
    inside++;
    while (hold)
        thread_condition_wait(&changed, &lock, UINT32_MAX);
    inside--;
    thread_condition_wake(&changed);
    lock_leave(&lock);
}

/* Continues the hung threads, so that the leak checker finds no leaks. */
static void release_hung_threads(void)
{
    lock_enter(&lock);
    hold = false;
    thread_condition_wake(&changed);
    while (inside)
        thread_condition_wait(&changed, &lock, UINT32_MAX);
    lock_leave(&lock);
}

static void add(struct management_row *row, const char *name, const char *type, const char *text)
{
    assert_true(memory_grow((void **)&row->values, &row->capacity, row->count + 1, sizeof *row->values));
    struct management_value *v = &row->values[row->count++];
    *v = (struct management_value){.name = text_copy(name), .type = type, .null = !text};
    v->key = !strcmp(name, "Name");
    v->array = strchr(type, '[') != NULL;
    for (const char *at = text; at && *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
        texts_add_owned(&v->texts, text_copy_n(at, strcspn(at, "|")));
}

static HRESULT give(HRESULT (*take)(void *, struct management_row *), void *user, const char *name, const char *type,
                    const char *text)
{
    struct management_row *row = memory_zero(1, sizeof *row);
    add(row, "Name", "string", "one");
    add(row, name, type, text);
    given++;
    return take(user, row);
}

HRESULT __wrap_management_query(const char *namespace_path, const char *query,
                                HRESULT (*take)(void *user, struct management_row *row), void *user);

HRESULT __wrap_management_query(const char *namespace_path, const char *query,
                                HRESULT (*take)(void *user, struct management_row *row), void *user)
{
    HRESULT hr = S_OK;
    given = 0;
    if (!strcmp(query, "hang"))
        wait_while_held();
    if (!strcmp(query, "hang later")) {
        hr = give(take, user, "Value", "uint32", "1");
        wait_while_held();
    }
    if (!strcmp(query, "bad"))
        return error_set((HRESULT)0x80041017, "%s: the query is not valid WQL", namespace_path);
    if (!strcmp(query, "bad later")) {
        hr = give(take, user, "Value", "uint32", "1");
        return FAILED(hr) ? hr : error_set((HRESULT)0x80041013, "%s: lost", namespace_path);
    }
    if (!strcmp(query, "types")) {
        static const char *const types[][2] = {{"datetime", "20260102030405.123456+060"},
                                               {"datetime", "20260102030405.123456-480"},
                                               {"datetime", "00000012010203.000000:000"},
                                               {"datetime", "2026010203****.******+***"},
                                               {"string[]", "one|two\r\nlines|three\nzour"},
                                               {"uint32", "4294967295"},
                                               {"object", "instance of A\n{\n};"},
                                               {"string", NULL},
                                               {"uint16[]", ""}};
        for (size_t i = 0; SUCCEEDED(hr) && i < sizeof types / sizeof *types; i++)
            hr = give(take, user, "Value", types[i][0], types[i][1]);
    }
    for (int i = 0; SUCCEEDED(hr) && !strcmp(query, "shapes") && i < 4; i++)
        hr = give(take, user, i < 2 ? "A" : "B", "uint32", "1");
    for (int i = 0; SUCCEEDED(hr) && !strcmp(query, "million") && i < 1000000; i++) {
        if (i == 1000)
            atomic_store(stop_at_1000, true);
        hr = give(take, user, "Value", "uint32", "1");
    }
    return hr;
}

static void values_are_shown_by_their_types(void **state)
{
    static const char *const shown[] = {"2026-01-02T03:04:05.123456+01:00",
                                        "2026-01-02T03:04:05.123456-08:00",
                                        "00000012010203.000000:000",
                                        "2026010203****.******+***",
                                        "one\ntwo\xE2\x80\xA8lines\nthree\xE2\x80\xA8zour",
                                        "4294967295",
                                        "instance of A\n{\n};",
                                        "",
                                        ""};
    struct collected c = {.hr = S_OK};
    (void)state;
    ask(&c, "root:types");
    collect(&c);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char path[96];
        snprintf(path, sizeof path, "string(//Item[%u]/Data[@name='Value'])", (unsigned)i + 1);
        check_xpath(c.doc, path, shown[i]);
    }
    check_xpath(c.doc, "string(//Item[8]/Data[@name='Value']/@type)", "null");
    check_xpath(c.doc, "string(//Item[9]/Data[@name='Value']/@type)", "uint16[]");
    check_xpath(c.doc, "string(//Table/Header/Data[@key='1']/@name)", "Name");
    collected_end(&c);
}

static void rows_with_other_columns_get_a_separate_table(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    ask(&c, "root:shapes");
    collect(&c);
    check_xpath(c.doc, "count(//Table[@source='root:shapes'])", "2");
    check_xpath(c.doc, "count(//Table[1]/Item/Data[@name='A'])", "2");
    check_xpath(c.doc, "count(//Table[2]/Item/Data[@name='B'])", "2");
    collected_end(&c);
}

static void failures_are_entries_after_the_received_rows(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    ask(&c, "root:bad");
    ask(&c, "root:bad later");
    ask(&c, "root:shapes");
    collect(&c);
    check_xpath(c.doc, ERROR_OF("1", "0x80041017", "root: the query is not valid WQL"), "1");
    check_xpath(c.doc, "count(//Table[2]/Item)", "2");
    check_xpath(c.doc, "string(//Table[2]/Item[1]/Data[@name='Value'])", "1");
    check_xpath(c.doc, "string(//Table[2]/Item[2]/Data[@name='result'])", "0x80041013");
    check_xpath(c.doc, "count(//Table)", "4");
    collected_end(&c);
}

/* A query that hangs before or after its first row is abandoned, and the next query runs. */
static void hung_query_is_an_entry(void **state)
{
    struct collected c = {.request = {.query_limit_s = 1}};
    (void)state;
    hold = true;
    ask(&c, "root:hang");
    ask(&c, "root:hang later");
    ask(&c, "root:shapes");
    collect(&c);
    check_xpath(c.doc, ERROR_OF("1", "0x800705B4", "root:hang: no result for 1 s"), "1");
    check_xpath(c.doc, "count(//Table[2]/Item)", "2");
    check_xpath(c.doc, ERROR_OF("2", "0x800705B4", "no result for"), "1");
    check_xpath(c.doc, "count(//Table[3]/Item)", "2");
    release_hung_threads();
    collected_end(&c);
}

static void stop_it(void *user)
{
    lock_enter(&lock);
    while (!inside)
        thread_condition_wait(&changed, &lock, 10);
    lock_leave(&lock);
    atomic_store((atomic_bool *)user, true);
}

/* The time limit is longer than any test would wait. */
static void stop_does_not_wait_for_a_query(void **state)
{
    struct collected c = {.request = {.query_limit_s = 1000000}};
    struct thread *stopper;
    (void)state;
    hold = true;
    ask(&c, "root:hang");
    ask(&c, "root:shapes");
    assert_int_equal(thread_start(stop_it, &c.stop, &stopper), S_OK);
    collect(&c);
    assert_true(thread_wait(stopper, UINT32_MAX));
    thread_close(stopper);
    release_hung_threads();
    check_xpath(c.doc, "count(//Table)", "1");
    check_xpath(c.doc, "count(//Item)", "0");
    collected_end(&c);
}

/* Rows arrive one at a time, whatever their number, and a stop takes effect between two rows. */
static void stop_ends_a_query_with_a_million_rows(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    stop_at_1000 = &c.stop;
    ask(&c, "root:million");
    collect(&c);
    check_xpath(c.doc, "count(//Item)>990 and count(//Item)<1003", "true");
    assert_in_range(given, 1000, 1003);
    collected_end(&c);
}

static void request_both(struct collected *c)
{
    ask(c, "root:types");
    ask(c, "root:bad");
}

static void out_of_memory_ends_the_collection(void **state)
{
    (void)state;
    assert_true(collect_without_memory(configuration_collect_queries, request_both) > 10);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_without_a_query_are_named),
#ifdef _WIN32
        cmocka_unit_test(real_classes_return_rows),
        cmocka_unit_test(real_failures_are_entries_with_their_results),
        cmocka_unit_test(wmi_of_another_computer_is_an_entry),
#else
        cmocka_unit_test(values_are_shown_by_their_types),
        cmocka_unit_test(rows_with_other_columns_get_a_separate_table),
        cmocka_unit_test(failures_are_entries_after_the_received_rows),
        cmocka_unit_test(hung_query_is_an_entry),
        cmocka_unit_test(stop_does_not_wait_for_a_query),
        cmocka_unit_test(stop_ends_a_query_with_a_million_rows),
        cmocka_unit_test(out_of_memory_ends_the_collection),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
