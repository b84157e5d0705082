/* SPDX-License-Identifier: MIT */
/* A remote computer's counters, named in a path, through all of PDH: lists, values, and computers that do not exist,
   disappear, return, deny access or send invalid answers. */
#include "engine/base/memory.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/remote_computer.h"
#include "pcq_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define STATUS(x) ((PDH_STATUS)(x))

static int begin(void **state)
{
    (void)state;
    loopback = (struct loopback){0};
    remote_computer_links(&loopback_links);
    catalogue_set_remote(&remote_catalogue_functions);
    return 0;
}

static int end(void **state)
{
    (void)state;
    loopback_end();
    return 0;
}

static PDH_HCOUNTER add(PDH_HQUERY query, const WCHAR *path)
{
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    return counter;
}

static double value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE v;
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    return v.doubleValue;
}

static DWORD status_of(PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    return raw.CStatus;
}

/* True if a list of names, each ended by 0 and the last by two, contains the name. */
static bool has_name(const WCHAR *list, const char *name)
{
    size_t length = strlen(name), units = 0;
    for (; *list; list += units + 1) {
        bool equal = true;
        for (units = 0; list[units]; units++)
            equal = equal && units < length && list[units] == (WCHAR)name[units];
        if (equal && units == length)
            return true;
    }
    return false;
}

/* If a path contains the name of a remote computer, that computer's objects are listed; otherwise only local objects
   are. During the test, countersets of other programs may appear and disappear. */
static void remote_objects_are_listed(void **state)
{
    (void)state;
    static const WCHAR *const machines[] = {NULL, u"\\\\other"};
    static const char *const objects[] = {"Memory", "Process", "Processor", "System"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        static WCHAR list[16384];
        DWORD units = sizeof list / sizeof *list;
        assert_int_equal(PdhEnumObjectsW(NULL, machines[i], list, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
        for (size_t k = 0; k < sizeof objects / sizeof *objects; k++)
            assert_true(has_name(list, objects[k]));
        assert_false(has_name(list, "Processo"));
    }
    DWORD counters = 0, instances = 0;
    assert_int_equal(
        PdhEnumObjectItemsW(NULL, u"other", u"Processor", NULL, &counters, NULL, &instances, PERF_DETAIL_WIZARD, 0),
        STATUS(PDH_MORE_DATA));
    DWORD our_counters = 0, our_instances = 0;
    assert_int_equal(
        PdhEnumObjectItemsW(NULL, NULL, u"Processor", NULL, &our_counters, NULL, &our_instances, PERF_DETAIL_WIZARD, 0),
        STATUS(PDH_MORE_DATA));
    assert_int_equal(counters, our_counters);
    assert_int_equal(instances, our_instances);
    DWORD units = 0;
    assert_int_equal(PdhExpandWildCardPathW(NULL, u"\\\\other\\Processor(*)\\% User*", NULL, &units, 0),
                     STATUS(PDH_MORE_DATA));
    WCHAR *paths = memory_zero(units, sizeof *paths);
    assert_int_equal(PdhExpandWildCardPathW(NULL, u"\\\\other\\Processor(*)\\% User*", paths, &units, 0),
                     ERROR_SUCCESS);
    assert_int_equal(memcmp(paths, u"\\\\other\\Processor(", 18 * sizeof *paths), 0);
    memory_free(paths);
    assert_int_equal(PdhConnectMachineW(u"\\\\other"), ERROR_SUCCESS);
}

/* Programs list the computers to which they have connected. */
static void connected_computers_are_listed(void **state)
{
    (void)state;
    WCHAR machines[256] = {0};
    DWORD units = 256;
    assert_int_equal(PdhConnectMachineW(u"\\\\other"), ERROR_SUCCESS);
    assert_int_equal(PdhConnectMachineW(u"\\\\OTHER"), ERROR_SUCCESS);
    /* the list contains this computer and, only once, the remote one */
    assert_int_equal(PdhEnumMachinesW(NULL, machines, &units), ERROR_SUCCESS);
    const WCHAR *second = machines;
    while (*second++)
        ;
    assert_memory_equal(second, u"\\\\other\0", 9 * sizeof(WCHAR));
    assert_int_equal(units, (size_t)(second - machines) + 9);
}

/* The simulated computer has this computer's values. Remote numbers, fractions, rates and times must have the values
   that local counters would have. */
static void values_equal_the_remote_values(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_RAW_COUNTER a, b;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER total = add(query, u"\\\\other\\Memory\\Commit Limit"), ours = add(query, u"\\Memory\\Commit Limit");
    PDH_HCOUNTER share = add(query, u"\\\\other\\Memory\\% Committed Bytes In Use");
    PDH_HCOUNTER up = add(query, u"\\\\other\\System\\System Up Time"), busy;
    PDH_HCOUNTER before = add(query, u"\\System\\System Up Time");
    PDH_HCOUNTER rate = add(query, u"\\\\other\\System\\Context Switches/sec");
    busy = add(query, u"\\\\OTHER\\Processor(_Total)\\% Processor Time");
    PDH_HCOUNTER all = add(query, u"\\\\other\\Processor(*)\\% Idle Time");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(value_of(total) == value_of(ours));
    assert_true(value_of(share) > 0 && value_of(share) <= 100);
    assert_true(value_of(busy) >= 0 && value_of(busy) <= 100);
    assert_true(value_of(rate) >= 0);
    double passed = value_of(up) - value_of(before);
    assert_true(passed > -60 && passed < 60);
    DWORD bytes = 0, count = 0;
    assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    assert_true(count > 1);
    LONGLONG base;
    assert_int_equal(PdhGetCounterTimeBase(rate, &base), ERROR_SUCCESS);
    assert_true(base == clock_frequency());
    /* values that the query no longer needs are no longer requested */
    size_t full = loopback.bytes;
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    full = loopback.bytes - full;
    PdhRemoveCounter(busy);
    PdhRemoveCounter(all);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    size_t less = loopback.bytes;
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(loopback.bytes - less < full);
    assert_int_equal(PdhGetRawCounterValue(rate, NULL, &a), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhGetRawCounterValue(rate, NULL, &b), ERROR_SUCCESS);
    assert_true(b.SecondValue > a.SecondValue);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

/* A sample takes one call, whatever the number of counters. */
static void sample_takes_one_call(void **state)
{
    (void)state;
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    add(query, u"\\\\other\\Memory\\Available Bytes");
    add(query, u"\\\\other\\System\\Processes");
    add(query, u"\\\\other\\Processor(*)\\% User Time");
    PdhCollectQueryData(query);
    PdhCollectQueryData(query);
    size_t calls = loopback.calls;
    PdhCollectQueryData(query);
    assert_int_equal(loopback.calls - calls, 1);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

static void invalid_paths_return_their_status(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_HCOUNTER none;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\\\other\\No Such\\Thing", 0, &none), STATUS(PDH_CSTATUS_NO_OBJECT));
    assert_int_equal(PdhAddCounterW(query, u"\\\\other\\Memory\\Thing", 0, &none), STATUS(PDH_CSTATUS_NO_COUNTER));
    assert_int_equal(PdhAddCounterW(query, u"\\\\other\\Memory(1)\\Available Bytes", 0, &none),
                     STATUS(PDH_CSTATUS_NO_INSTANCE));
    loopback.denies = true;
    assert_int_equal(PdhAddCounterW(query, u"\\\\closed\\Memory\\Available Bytes", 0, &none),
                     STATUS(PDH_ACCESS_DENIED));
    loopback.denies = false;
    loopback.down = true;
    assert_int_equal(PdhAddCounterW(query, u"\\\\absent\\Memory\\Available Bytes", 0, &none),
                     STATUS(PDH_CSTATUS_NO_MACHINE));
    assert_int_equal(PdhConnectMachineW(u"\\\\absent"), STATUS(PDH_CSTATUS_NO_MACHINE));
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    remote_computer_links(NULL);
    assert_int_equal(PdhConnectMachineW(u"\\\\other"), STATUS(PDH_CSTATUS_NO_MACHINE));
}

/* After a restart, the remote computer is used again immediately. While it is unreachable, only its own counters have
   no values. */
static void remote_computer_vanishes_and_returns(void **state)
{
    (void)state;
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER there = add(query, u"\\\\other\\Memory\\Available Bytes"),
                 here = add(query, u"\\Memory\\Available Bytes");
    PdhCollectQueryData(query);
    assert_int_equal(status_of(there), PDH_CSTATUS_VALID_DATA);
    loopback.forgets = true;
    PdhCollectQueryData(query);
    assert_int_equal(status_of(there), PDH_CSTATUS_VALID_DATA);
    assert_int_equal(loopback.opened, 2);
    loopback.down = true;
    PdhCollectQueryData(query);
    assert_int_equal(status_of(there), PDH_CSTATUS_NO_MACHINE);
    assert_int_equal(status_of(here), PDH_CSTATUS_VALID_DATA);
    size_t calls = loopback.calls + loopback.opened;
    PdhCollectQueryData(query); /* PDH does not retry for a while */
    assert_int_equal(loopback.calls + loopback.opened, calls);
    loopback.down = false;
    while (status_of(there) != PDH_CSTATUS_VALID_DATA) {
        PdhCollectQueryData(query);
        assert_int_equal(status_of(here), PDH_CSTATUS_VALID_DATA);
    }
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

/* The computer may send any answer. */
static void invalid_answers_result_in_no_value(void **state)
{
    (void)state;
    static uint8_t rubbish[4096];
    PDH_HQUERY query;
    PDH_HCOUNTER none;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER there = add(query, u"\\\\other\\Memory\\Available Bytes");
    for (size_t i = 0; i < sizeof rubbish; i++)
        rubbish[i] = (uint8_t)(i * 7919 >> 3);
    loopback.rubbish = rubbish;
    loopback.rubbish_size = sizeof rubbish;
    PdhCollectQueryData(query);
    assert_int_not_equal(status_of(there), PDH_CSTATUS_VALID_DATA);
    assert_int_equal(PdhAddCounterW(query, u"\\\\liar\\Memory\\Available Bytes", 0, &none),
                     STATUS(PDH_CSTATUS_NO_MACHINE));
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

/* Every allocation fails in turn, from adding a counter to reading its value. */
static void out_of_memory_fails_cleanly(void **state)
{
    (void)state;
    bool done = false;
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS); /* while open, keeps the computer's data cached */
    add(query, u"\\\\other\\Memory\\Available Bytes");
    for (uint64_t n = 1; !done && n < 100000; n++) {
        PDH_HQUERY q;
        PDH_HCOUNTER c = NULL;
        memory_fail_at(n);
        PDH_STATUS status = PdhOpenQueryW(NULL, 0, &q);
        if (status == ERROR_SUCCESS) {
            status = PdhAddCounterW(q, u"\\\\other\\Processor(_Total)\\% User Time", 0, &c);
            if (status == ERROR_SUCCESS)
                status = PdhCollectQueryData(q);
        }
        done = memory_count() < n;
        memory_fail_at(0);
        if (done)
            assert_int_equal(status_of(c), PDH_CSTATUS_VALID_DATA);
        else if (status != ERROR_SUCCESS)
            assert_true(status == STATUS(PDH_MEMORY_ALLOCATION_FAILURE) || status == STATUS(PDH_CSTATUS_NO_MACHINE) ||
                        status == STATUS(PDH_CSTATUS_NO_OBJECT));
        if (q)
            PdhCloseQuery(q);
    }
    assert_true(done);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

static void addresses_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *hosts, *host, *port;
    } rows[] = {
        {"other", NULL, "other", NULL},
        {"other:4711", NULL, "other", "4711"},
        {"[::1]:4711", NULL, "::1", "4711"},
        {"::1", NULL, "::1", NULL},
        {"OTHER", "one=1.2.3.4:1; other=10.0.0.5:99", "10.0.0.5", "99"},
        {"two", "other=10.0.0.5:99;", "two", NULL},
        {"a", "a=[fe80::1]:7", "fe80::1", "7"},
        {"other", "otherwise=1:2;=;other", "other", NULL},
    };
    struct link_address a;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(link_address_find(rows[i].machine, rows[i].hosts, &a), S_OK);
        assert_string_equal(a.host, rows[i].host);
        assert_int_equal(a.port != NULL, rows[i].port != NULL);
        if (a.port)
            assert_string_equal(a.port, rows[i].port);
        link_address_free(&a);
    }
    assert_int_equal(link_address_find("other:x", NULL, &a), E_INVALIDARG);
    assert_int_equal(link_address_find("other", "other=host:70000", &a), E_INVALIDARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_parsed),
        cmocka_unit_test(remote_objects_are_listed),
        cmocka_unit_test(connected_computers_are_listed),
        cmocka_unit_test(values_equal_the_remote_values),
        cmocka_unit_test(sample_takes_one_call),
        cmocka_unit_test_setup(invalid_paths_return_their_status, begin),
        cmocka_unit_test_setup(remote_computer_vanishes_and_returns, begin),
        cmocka_unit_test_setup(invalid_answers_result_in_no_value, begin),
        cmocka_unit_test_setup(out_of_memory_fails_cleanly, begin),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
