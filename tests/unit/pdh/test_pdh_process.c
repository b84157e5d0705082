/* SPDX-License-Identifier: MIT */
/* The object Process. This file replaces the library's process list, so that the test can let programs start, exit and
   replace each other. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/objects/process_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#define SECOND 10000000

static struct process_entry entries[4];
static size_t entry_count;

HRESULT process_list_open(const char *root, struct process_list **out)
{
    (void)root;
    *out = (struct process_list *)(void *)entries;
    return S_OK;
}
HRESULT process_list_read(struct process_list *list, uint32_t figures, const struct process_entry **out, size_t *count)
{
    (void)list;
    (void)figures;
    *out = entries;
    *count = entry_count;
    return S_OK;
}
void process_list_close(struct process_list *list)
{
    (void)list;
}

/* Appends a process to the list. */
static void add_process(const char *name, uint32_t id, int64_t start, int64_t used)
{
    entries[entry_count++] = (struct process_entry){.name = name,
                                                    .id = id,
                                                    .threads = 2,
                                                    .start = start,
                                                    .user_time = used / 2,
                                                    .kernel_time = used - used / 2,
                                                    .working_set = 4096};
}

static PDH_HQUERY query;
static int open_query(void **state)
{
    (void)state;
    entry_count = 0;
    return PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS;
}
static int close_query(void **state)
{
    (void)state;
    return PdhCloseQuery(query) != ERROR_SUCCESS;
}

static PDH_RAW_COUNTER raw_of(PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    return raw;
}

static PDH_HCOUNTER add(const WCHAR *path)
{
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    return counter;
}

/* A chart of all programs must not drop below zero when a program exits. */
static void total_never_decreases(void **state)
{
    (void)state;
    PDH_FMT_COUNTERVALUE v;
    add_process("a", 1, 100, 5 * SECOND);
    add_process("b", 2, 100, 7 * SECOND);
    PDH_HCOUNTER total = add(u"\\Process(_Total)\\% Processor Time");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    int64_t before = raw_of(total).FirstValue;
    entry_count = 0;
    add_process("a", 1, 100, 6 * SECOND);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(total).FirstValue - before == SECOND);
    assert_int_equal(PdhGetFormattedCounterValue(total, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    /* Another process with the same id is a different one. */
    entry_count = 0;
    add_process("a", 1, 999, SECOND);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(total).FirstValue - before == 2 * SECOND);
}

/* The load of a restarted program must not be computed from the times of two different processes. */
static void restarted_process_has_no_rate(void **state)
{
    (void)state;
    PDH_FMT_COUNTERVALUE v;
    add_process("a", 1, 100, SECOND);
    PDH_HCOUNTER time = add(u"\\Process(a)\\% Processor Time"), all = add(u"\\Process(*)\\% Processor Time");
    PdhCollectQueryData(query);
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetFormattedCounterValue(time, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    entry_count = 0;
    add_process("a", 9, 300, 4 * SECOND);
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(time).CStatus, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(PdhGetFormattedCounterValue(time, PDH_FMT_DOUBLE, NULL, &v), (PDH_STATUS)PDH_INVALID_DATA);
    PDH_FMT_COUNTERVALUE_ITEM_W items[16];
    DWORD bytes = sizeof items, count = 0;
    assert_int_equal(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &bytes, &count, items), ERROR_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(items[0].FmtValue.CStatus, PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(items[1].FmtValue.CStatus, PDH_CSTATUS_VALID_DATA);
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetFormattedCounterValue(time, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
}

/* When the first of two programs with the same name exits, the second one gets its name without a number, as on
   Windows. When another program with that name starts, the name with #1 exists again. */
static void instance_numbers_move_up(void **state)
{
    (void)state;
    add_process("a", 1, 100, 0);
    add_process("A", 2, 100, 0);
    PDH_HCOUNTER first = add(u"\\Process(a)\\ID Process"), second = add(u"\\Process(a#1)\\ID Process");
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(first).FirstValue, 1);
    assert_int_equal(raw_of(second).FirstValue, 2);
    entry_count = 0;
    add_process("A", 2, 100, 0);
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(first).FirstValue, 2);
    assert_int_equal(raw_of(second).CStatus, PDH_CSTATUS_NO_INSTANCE);
    add_process("a", 3, 200, 0);
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(second).FirstValue, 3);
}

static void name_is(const WCHAR *wide, const char *expected)
{
    size_t n = 0;
    char *text;
    while (wide[n])
        n++;
    assert_int_equal(text_from_utf16(wide, n, false, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Monitoring agents add up the array entries with the same name. As on Windows, these names have no "#1"; otherwise an
   agent would show a program that does not exist. Paths and lists of paths keep the number. */
static void arrays_have_bare_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "a", "_Total"};
    add_process("a", 1, 100, 0);
    add_process("b", 2, 100, 0);
    add_process("a", 3, 100, 0);
    PDH_HCOUNTER all = add(u"\\Process(*)\\ID Process"), one = add(u"\\Process(a#1)\\ID Process");
    PdhCollectQueryData(query);
    PDH_FMT_COUNTERVALUE_ITEM_W items[16];
    PDH_RAW_COUNTER_ITEM_W raw[16];
    DWORD bytes = sizeof items, raw_bytes = sizeof raw, count = 0, raw_count = 0;
    assert_int_equal(PdhGetFormattedCounterArrayW(all, PDH_FMT_LARGE, &bytes, &count, items), ERROR_SUCCESS);
    assert_int_equal(PdhGetRawCounterArrayW(all, &raw_bytes, &raw_count, raw), ERROR_SUCCESS);
    assert_int_equal(count, 4);
    assert_int_equal(raw_count, 4);
    for (size_t i = 0; i < 4; i++) {
        name_is(items[i].szName, names[i]);
        name_is(raw[i].szName, names[i]);
    }
    assert_int_equal(items[2].FmtValue.largeValue, 3);
    assert_int_equal(raw_of(one).FirstValue, 3);
    WCHAR paths[300];
    DWORD units = 300;
    assert_int_equal(PdhExpandWildCardPathW(NULL, u"\\Process(a*)\\ID Process", paths, &units, 0), ERROR_SUCCESS);
    name_is(paths, "\\Process(a)\\ID Process");
    name_is(paths + 23, "\\Process(a#1)\\ID Process");
}

#ifndef _WIN32 /* under Wine, all tests in a prefix share the registry */
/* Users who distinguish programs by id must not get the default names. */
static void names_contain_ids_if_configured(void **state)
{
    (void)state;
    static const char path[] = "SYSTEM\\CurrentControlSet\\Services\\PerfProc\\Performance";
    struct registry_key *key;
    bool made;
    assert_int_equal(registry_create(path, &made, &key), S_OK);
    assert_int_equal(registry_write_number(key, "ProcessNameFormat", REGISTRY_NUMBER, 2), S_OK);
    add_process("a", 1, 100, 0);
    add_process("a", 77, 100, 0);
    PDH_HCOUNTER second = add(u"\\Process(a_77)\\ID Process"), old = add(u"\\Process(a#1)\\ID Process");
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(second).FirstValue, 77);
    assert_int_equal(raw_of(old).CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(registry_write_number(key, "ProcessNameFormat", REGISTRY_NUMBER, 1), S_OK);
    registry_close(key);
    /* Windows reads this setting only once, so existing queries are not affected. */
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(second).CStatus, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(registry_delete(path), S_OK);
}
#endif

/* The sums must agree with the object System, as on Windows. */
static void sums_agree_with_system_object(void **state)
{
    (void)state;
    add_process("a", 1, clock_utc() - 30 * SECOND, 0);
    add_process("b", 2, 100, 0);
    PDH_FMT_COUNTERVALUE v;
    PDH_HCOUNTER threads = add(u"\\Process(_Total)\\Thread Count"), all = add(u"\\System\\Threads");
    PDH_HCOUNTER count = add(u"\\System\\Processes"), age = add(u"\\Process(a)\\Elapsed Time");
    PDH_HCOUNTER id = add(u"\\Process(_Total)\\ID Process"), memory = add(u"\\Process(_Total)\\Working Set");
    PdhCollectQueryData(query);
    assert_int_equal(raw_of(threads).FirstValue, 4);
    assert_int_equal(raw_of(all).FirstValue, 4);
    assert_int_equal(raw_of(count).FirstValue, 2);
    assert_int_equal(raw_of(memory).FirstValue, 8192);
    assert_int_equal(raw_of(id).CStatus, PDH_CSTATUS_INVALID_DATA); /* no value, not even 0 */
    assert_int_equal(PdhGetFormattedCounterValue(age, PDH_FMT_LARGE, NULL, &v), ERROR_SUCCESS);
    assert_in_range(v.largeValue, 30, 40);
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(total_never_decreases),           WITH_QUERY(restarted_process_has_no_rate),
        WITH_QUERY(instance_numbers_move_up),        WITH_QUERY(arrays_have_bare_names),
#ifndef _WIN32
        WITH_QUERY(names_contain_ids_if_configured),
#endif
        WITH_QUERY(sums_agree_with_system_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
