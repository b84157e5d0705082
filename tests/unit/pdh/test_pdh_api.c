/* SPDX-License-Identifier: MIT */
/* PDH's functions as programs call them: status codes, the buffer protocol, expansion, enumeration. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/pdh/core/pdh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define STATUS(x) ((PDH_STATUS)(x))

static PDH_HQUERY query;
static int open_query(void **state)
{
    (void)state;
    return PdhOpenQueryW(NULL, 11, &query) != ERROR_SUCCESS;
}
static int close_query(void **state)
{
    (void)state;
    return PdhCloseQuery(query) != ERROR_SUCCESS;
}

/* Expands `path`. Returns the resulting paths as UTF-8 lines, or "" if this fails. The caller frees the string. */
static char *expand(const WCHAR *path, DWORD flags, PDH_STATUS *status)
{
    DWORD units = 0;
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    *status = PdhExpandWildCardPathW(NULL, path, NULL, &units, flags);
    while (*status == STATUS(PDH_MORE_DATA)) {
        units += 1000; /* more processes may start in between */
        WCHAR *list = calloc(units, sizeof *list);
        *status = PdhExpandWildCardPathW(NULL, path, list, &units, flags);
        for (const WCHAR *p = list; *status == ERROR_SUCCESS && *p;) {
            size_t n = 0;
            char *line;
            while (p[n])
                n++;
            assert_int_equal(text_from_utf16(p, n, false, &line), S_OK);
            text_buffer_format(&b, "%s\n", line);
            memory_free(line);
            p += n + 1;
        }
        free(list);
    }
    return text_buffer_take(&b);
}

static void expands(const WCHAR *path, DWORD flags, const char *expected)
{
    PDH_STATUS status;
    char *lines = expand(path, flags, &status);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_string_equal(lines, expected);
    memory_free(lines);
}

/* A set with "*" must collect exactly the counters in the list, in the same order. */
static void wildcards_expand(void **state)
{
    (void)state;
    PDH_STATUS status;
    char *lines = expand(u"\\Processor(*)\\% User Time", 0, &status);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_non_null(strstr(lines, "\\Processor(0)\\% User Time\n"));
    assert_non_null(strstr(lines, "\\Processor(_Total)\\% User Time\n"));
    memory_free(lines);
    expands(u"\\processor(_t*)\\% ?r* time", 0,
            "\\Processor(_Total)\\% Processor Time\n\\Processor(_Total)\\% Privileged Time\n");
    expands(u"\\Memory\\*Commit*", 0,
            "\\Memory\\Committed Bytes\n\\Memory\\Commit Limit\n\\Memory\\% Committed Bytes In Use\n");
    expands(u"\\Memory\\Commit Limit", 0, "\\Memory\\Commit Limit\n");
    expands(u"\\\\.\\Memory\\Commit L*", 0, "\\\\.\\Memory\\Commit Limit\n");
    expands(u"\\Processor(*)\\% U*", PDH_NOEXPANDINSTANCES, "\\Processor(*)\\% User Time\n");
    expands(u"\\Processor(_Total)\\*", PDH_NOEXPANDCOUNTERS, "\\Processor(_Total)\\*\n");
    expands(u"\\Processor(*)\\*", PDH_NOEXPANDCOUNTERS | PDH_NOEXPANDINSTANCES, "\\Processor(*)\\*\n");
    expands(u"\\Processor\\% U*", 0, "\\Processor\\% User Time\n");
}

static void expansion_reports_missing_items(void **state)
{
    (void)state;
    static const struct {
        const WCHAR *path;
        DWORD status;
    } table[] = {
        {u"\\No Such\\*", PDH_CSTATUS_NO_OBJECT},
        {u"\\Memory\\No Such*", PDH_CSTATUS_NO_COUNTER},
        {u"\\Processor(nosuch*)\\*", PDH_CSTATUS_NO_INSTANCE},
        {u"\\Processor(77777)\\% User Time", PDH_CSTATUS_NO_INSTANCE},
        {u"\\\\no-such-machine\\Memory\\*", PDH_CSTATUS_NO_MACHINE},
        {u"Memory\\*", PDH_CSTATUS_BAD_COUNTERNAME},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        DWORD units = 0;
        assert_int_equal(PdhExpandWildCardPathW(NULL, table[i].path, NULL, &units, 0), STATUS(table[i].status));
        assert_int_equal(PdhValidatePathW(table[i].path), STATUS(table[i].status));
    }
    assert_int_equal(PdhValidatePathW(u"\\Memory\\Commit Limit"), ERROR_SUCCESS);
    assert_int_equal(PdhValidatePathW(u"\\\\127.0.0.1\\Memory\\Commit Limit"), ERROR_SUCCESS);
    assert_int_equal(PdhValidatePathW(u"\\\\[::1]\\Memory\\Commit Limit"), ERROR_SUCCESS);
}

/* Callers request the size, then the data. A buffer that is one unit too small must be rejected and stay unchanged. */
static void buffers_follow_the_protocol(void **state)
{
    (void)state;
    const WCHAR *path = u"\\Memory\\Available*";
    DWORD need = 0;
    assert_int_equal(PdhExpandWildCardPathW(NULL, path, NULL, &need, 0), STATUS(PDH_MORE_DATA));
    assert_int_equal(need, 24 + 25 + 25 + 1);
    WCHAR list[100];
    memset(list, 0xAA, sizeof list);
    DWORD units = need - 1;
    assert_int_equal(PdhExpandWildCardPathW(NULL, path, list, &units, 0), STATUS(PDH_MORE_DATA));
    assert_int_equal(units, need);
    assert_int_equal(list[0], 0xAAAA);
    assert_int_equal(PdhExpandWildCardPathW(NULL, path, list, &units, 0), ERROR_SUCCESS);
    assert_int_equal(list[need - 1], 0);
    assert_int_equal(list[need - 2], 0);
    assert_int_equal(list[need], 0xAAAA);
    units = 5;
    assert_int_equal(PdhExpandWildCardPathW(NULL, path, NULL, &units, 0), STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhExpandWildCardPathW(NULL, path, list, NULL, 0), STATUS(PDH_INVALID_ARGUMENT));
}

/* A collector reports which counter was dropped, and why. */
static void adding_reports_missing_items(void **state)
{
    (void)state;
    static const struct {
        const WCHAR *path;
        DWORD status;
    } table[] = {
        {u"\\No Such\\X", PDH_CSTATUS_NO_OBJECT},
        {u"\\Memory\\X", PDH_CSTATUS_NO_COUNTER},
        {u"\\Processor\\% User Time", PDH_CSTATUS_NO_INSTANCE},
        {u"\\Memory(0)\\Commit Limit", PDH_CSTATUS_NO_INSTANCE},
        {u"\\\\elsewhere\\Memory\\Commit Limit", PDH_CSTATUS_NO_MACHINE},
        {u"\\Memory", PDH_CSTATUS_BAD_COUNTERNAME},
        {u"", PDH_CSTATUS_NO_COUNTERNAME},
        {u"\\Memory\\\xD800", PDH_CSTATUS_BAD_COUNTERNAME},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        PDH_HCOUNTER counter = &counter;
        assert_int_equal(PdhAddCounterW(query, table[i].path, 0, &counter), STATUS(table[i].status));
        assert_null(counter);
    }
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_DATA));
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddCounterW(NULL, u"\\Memory\\Commit Limit", 0, &counter), STATUS(PDH_INVALID_HANDLE));
    assert_int_equal(PdhAddCounterW(query, NULL, 0, &counter), STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhAddCounterW(query, u"\\memory\\COMMIT LIMIT", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(counter), STATUS(PDH_INVALID_HANDLE));
    assert_int_equal(PdhRemoveCounter(query), STATUS(PDH_INVALID_HANDLE));
    assert_int_equal(PdhRemoveCounter(counter), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_DATA));
}

/* A counter can be added for a program that does not run yet. Until the program runs, the counter has no value, not
   even 0. */
static void missing_instance_may_appear_later(void **state)
{
    (void)state;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE v;
    assert_int_equal(PdhAddCounterW(query, u"\\Process(no such program)\\Working Set", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v), STATUS(PDH_INVALID_DATA));
    assert_int_equal(v.CStatus, PDH_CSTATUS_NO_INSTANCE);
}

static void rates_start_with_the_second_sample(void **state)
{
    (void)state;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE v;
    DWORD type = 0;
    LONGLONG base = 0;
    assert_int_equal(PdhAddCounterW(query, u"\\Processor(_Total)\\% Processor Time", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v), STATUS(PDH_INVALID_DATA));
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, &type, &v), STATUS(PDH_INVALID_DATA));
    assert_int_equal(v.CStatus, PDH_CSTATUS_INVALID_DATA);
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    assert_true(v.doubleValue >= 0 && v.doubleValue <= 100);
    assert_int_equal(type, PERF_100NSEC_TIMER_INV);
    assert_int_equal(PdhGetCounterTimeBase(counter, &base), ERROR_SUCCESS);
    assert_int_equal(base, 10000000);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_RAW, NULL, &v), STATUS(PDH_INVALID_ARGUMENT));
}

/* Names and values of a wildcard counter share a buffer that may have to grow. */
static void arrays_contain_all_instances(void **state)
{
    (void)state;
    PDH_HCOUNTER counter;
    DWORD bytes = 0, count = 0;
    assert_int_equal(PdhAddCounterW(query, u"\\Processor(*)\\% Idle Time", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhGetRawCounterArrayW(counter, &bytes, &count, NULL), STATUS(PDH_INVALID_DATA));
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetRawCounterArrayW(counter, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    assert_true(count >= 2);
    BYTE *block = malloc(bytes);
    PDH_RAW_COUNTER_ITEM_W *items = (void *)block;
    DWORD small = bytes - 1;
    assert_int_equal(PdhGetRawCounterArrayW(counter, &small, &count, items), STATUS(PDH_MORE_DATA));
    assert_int_equal(small, bytes);
    assert_int_equal(PdhGetRawCounterArrayW(counter, &bytes, &count, items), ERROR_SUCCESS);
    static const WCHAR total[] = u"_Total";
    assert_memory_equal(items[count - 1].szName, total, sizeof total);
    assert_true(items[0].RawValue.FirstValue > 0 && items[0].RawValue.SecondValue > 0);
    free(block);
    PdhCollectQueryData(query);
    bytes = 0;
    assert_int_equal(PdhGetFormattedCounterArrayW(counter, PDH_FMT_LONG, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    PDH_FMT_COUNTERVALUE_ITEM_W *values = malloc(bytes);
    assert_int_equal(PdhGetFormattedCounterArrayW(counter, PDH_FMT_LONG, &bytes, &count, values), ERROR_SUCCESS);
    for (DWORD i = 0; i < count; i++) {
        assert_int_equal(values[i].FmtValue.CStatus, PDH_CSTATUS_VALID_DATA);
        assert_in_range(values[i].FmtValue.longValue, 0, 100);
    }
    free(values);
}

static void text_is(LPCWSTR wide, const char *expected)
{
    size_t n = 0;
    char *text;
    assert_non_null(wide);
    while (wide[n])
        n++;
    assert_int_equal(text_from_utf16(wide, n, false, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Log headers contain this information. */
static void counter_info_is_complete(void **state)
{
    (void)state;
    PDH_HCOUNTER counter;
    DWORD bytes = 0;
    char *name = os_computer_name();
    char *full = text_format("\\\\%s\\Processor(_total)\\%% User Time", name), *machine = text_format("\\\\%s", name);
    assert_int_equal(PdhAddCounterW(query, u"\\processor(_total)\\% user time", 22, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhGetCounterInfoW(counter, 1, &bytes, NULL), STATUS(PDH_MORE_DATA));
    PDH_COUNTER_INFO_W *info = calloc(1, bytes);
    assert_int_equal(PdhGetCounterInfoW(counter, 1, &bytes, info), ERROR_SUCCESS);
    assert_int_equal(info->dwLength, bytes);
    assert_int_equal(info->dwType, PERF_100NSEC_TIMER);
    assert_int_equal(info->dwUserData, 22);
    assert_int_equal(info->dwQueryUserData, 11);
    text_is(info->szFullPath, full);
    text_is(info->szMachineName, machine);
    text_is(info->szObjectName, "Processor");
    text_is(info->szInstanceName, "_total");
    text_is(info->szCounterName, "% User Time");
    assert_null(info->szParentInstance);
    assert_non_null(info->szExplainText);
    free(info);
    memory_free(name);
    memory_free(full);
    memory_free(machine);
}

static void paths_are_parsed_and_built(void **state)
{
    (void)state;
    DWORD bytes = 0, units = 0;
    const WCHAR *path = u"\\\\BOX\\Thread(cmd/0#2)\\Priority";
    assert_int_equal(PdhParseCounterPathW(path, NULL, &bytes, 0), STATUS(PDH_MORE_DATA));
    PDH_COUNTER_PATH_ELEMENTS_W *e = malloc(bytes);
    assert_int_equal(PdhParseCounterPathW(path, e, &bytes, 0), ERROR_SUCCESS);
    text_is(e->szMachineName, "\\\\BOX");
    text_is(e->szParentInstance, "cmd");
    text_is(e->szInstanceName, "0");
    assert_int_equal(e->dwInstanceIndex, 2);
    assert_int_equal(PdhMakeCounterPathW(e, NULL, &units, 0), STATUS(PDH_MORE_DATA));
    assert_int_equal(units, 31);
    WCHAR made[31];
    assert_int_equal(PdhMakeCounterPathW(e, made, &units, 0), ERROR_SUCCESS);
    assert_memory_equal(made, path, sizeof made);
    free(e);
    bytes = 0;
    assert_int_equal(PdhParseCounterPathW(u"nonsense", NULL, &bytes, 0), STATUS(PDH_INVALID_PATH));
}

static void objects_and_counters_are_listed(void **state)
{
    (void)state;
    WCHAR objects[1000], counters[1000], instances[4096];
    DWORD units = 1000, counter_units = 1000, instance_units = 4096;
    assert_int_equal(PdhEnumObjectsW(NULL, NULL, objects, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
    static const WCHAR expected[] = u"Process\0Processor\0Processor Information\0Processor Performance\0System\0";
    bool found = false;
    for (DWORD i = 0; i + sizeof expected / sizeof(WCHAR) - 1 <= units; i++)
        found |= !memcmp(objects + i, expected, sizeof expected - sizeof(WCHAR));
    assert_true(found);
    assert_int_equal(PdhEnumObjectItemsW(NULL, u"localhost", u"processor", counters, &counter_units, instances,
                                         &instance_units, PERF_DETAIL_WIZARD, 0),
                     ERROR_SUCCESS);
    static const WCHAR first[] = u"% Processor Time";
    assert_memory_equal(counters, first, sizeof first);
    assert_true(instance_units > 8);
    counter_units = instance_units = 0;
    assert_int_equal(
        PdhEnumObjectItemsW(NULL, NULL, u"Memory", NULL, &counter_units, NULL, &instance_units, PERF_DETAIL_WIZARD, 0),
        STATUS(PDH_MORE_DATA));
    assert_int_equal(instance_units, 0);
    assert_int_equal(PdhEnumObjectItemsW(NULL, NULL, u"Nothing", NULL, &counter_units, NULL, &instance_units, 400, 0),
                     STATUS(PDH_INVALID_ARGUMENT)); /* a size without a buffer */
    counter_units = 0;
    assert_int_equal(PdhEnumObjectItemsW(NULL, NULL, u"Nothing", NULL, &counter_units, NULL, &instance_units, 400, 0),
                     STATUS(PDH_CSTATUS_NO_OBJECT));
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards_expand),
        cmocka_unit_test(expansion_reports_missing_items),
        cmocka_unit_test(buffers_follow_the_protocol),
        WITH_QUERY(adding_reports_missing_items),
        WITH_QUERY(missing_instance_may_appear_later),
        WITH_QUERY(rates_start_with_the_second_sample),
        WITH_QUERY(arrays_contain_all_instances),
        WITH_QUERY(counter_info_is_complete),
        cmocka_unit_test(paths_are_parsed_and_built),
        cmocka_unit_test(objects_and_counters_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
