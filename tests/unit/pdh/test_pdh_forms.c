/* SPDX-License-Identifier: MIT */
/* PDH functions that the engine does not need, and the ANSI forms of all functions, which older programs call. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define STATUS(x) ((PDH_STATUS)(x))
static const struct api_source live = {0};

static void wide_is(const WCHAR *wide, const char *expected)
{
    size_t n = 0;
    char *text;
    while (wide[n])
        n++;
    assert_int_equal(text_from_utf16(wide, n, false, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* A program without Unicode gets bytes, sizes in bytes, and the same results. */
static void ansi_functions_work(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    char list[100];
    DWORD units = 0, bytes = 0, count = 0;
    assert_int_equal(api_expand_wildcard_path(API_ANSI, live, "\\Memory\\Available*", NULL, &units, 0),
                     STATUS(PDH_MORE_DATA));
    assert_int_equal(units, 24 + 25 + 25 + 1);
    units--;
    memset(list, 'x', sizeof list);
    assert_int_equal(api_expand_wildcard_path(API_ANSI, live, "\\Memory\\Available*", list, &units, 0),
                     STATUS(PDH_MORE_DATA));
    assert_int_equal(list[0], 'x');
    assert_int_equal(api_expand_wildcard_path(API_ANSI, live, "\\Memory\\Available*", list, &units, 0), ERROR_SUCCESS);
    static const char expected[] =
        "\\Memory\\Available Bytes\0\\Memory\\Available KBytes\0\\Memory\\Available MBytes\0";
    assert_memory_equal(list, expected, sizeof expected);
    assert_int_equal(list[units], 'x');

    assert_int_equal(api_open_query(API_ANSI, live, 0, &query), ERROR_SUCCESS);
    assert_int_equal(api_add_counter(API_ANSI, query, "\\Processor(*)\\% Idle Time", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(api_add_counter(API_ANSI, query, "\\Memory\\No", 0, &counter), STATUS(PDH_CSTATUS_NO_COUNTER));
    assert_int_equal(api_add_counter(API_ANSI, query, "\\Processor(*)\\% Idle Time", 0, &counter), ERROR_SUCCESS);
    PdhCollectQueryData(query);
    assert_int_equal(api_get_raw_array(API_ANSI, counter, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    PDH_RAW_COUNTER_ITEM_W *items = malloc(bytes);
    assert_int_equal(api_get_raw_array(API_ANSI, counter, &bytes, &count, items), ERROR_SUCCESS);
    assert_string_equal((const char *)(const void *)items[count - 1].szName, "_Total");
    free(items);
    bytes = 0;
    assert_int_equal(api_get_counter_info(API_ANSI, counter, 0, &bytes, NULL), STATUS(PDH_MORE_DATA));
    PDH_COUNTER_INFO_W *info = malloc(bytes);
    assert_int_equal(api_get_counter_info(API_ANSI, counter, 0, &bytes, info), ERROR_SUCCESS);
    assert_string_equal((const char *)(const void *)info->szCounterName, "% Idle Time");
    assert_null(info->szExplainText);
    free(info);
    PdhCloseQuery(query);
}

/* A name that the ANSI code page cannot represent must not turn into another name. */
static void ansi_strings_are_converted(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(api_text_in(API_ANSI, "na\xEFve", 10, PDH_INVALID_ARGUMENT, &text), ERROR_SUCCESS);
    assert_string_equal(text, "na\xC3\xAFve");
    memory_free(text);
    assert_int_equal(api_text_in(API_ANSI, "abcdef", 5, PDH_INVALID_PATH, &text), STATUS(PDH_INVALID_PATH));
    char out[8];
    DWORD units = sizeof out;
    assert_int_equal(api_text_out(API_ANSI, "\xC3\xA9\xE6\x97\xA5", out, &units), ERROR_SUCCESS);
    assert_memory_equal(out, "\xE9?", 3);
    assert_int_equal(units, 3);
    struct texts list = {0};
    assert_int_equal(api_list_in(API_ANSI, "one\0two\0", 10, PDH_INVALID_PATH, &list), ERROR_SUCCESS);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[1], "two");
    texts_free(&list);
    assert_int_equal(api_list_in(API_WIDE, u"one\0longer\0", 5, PDH_INVALID_PATH, &list), STATUS(PDH_INVALID_PATH));
    texts_free(&list);
}

static void instance_names_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const WCHAR *text;
        const char *instance, *parent;
        DWORD index;
    } table[] = {
        {u"cmd/0#2", "0", "cmd", 2},  {u"svchost#12", "svchost", "", 12},
        {u"_Total", "_Total", "", 0}, {u"C: (data)", "C: (data)", "", 0},
        {u"a#b", "a#b", "", 0},
    };
    WCHAR instance[32], parent[32];
    DWORD n, m, index;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        n = m = 32;
        assert_int_equal(PdhParseInstanceNameW(table[i].text, instance, &n, parent, &m, &index), ERROR_SUCCESS);
        wide_is(instance, table[i].instance);
        wide_is(parent, table[i].parent);
        assert_int_equal(index, table[i].index);
        assert_int_equal(n, strlen(table[i].instance) + 1);
    }
    n = m = 0;
    assert_int_equal(PdhParseInstanceNameW(u"cmd/0", NULL, &n, NULL, &m, &index), STATUS(PDH_MORE_DATA));
    assert_int_equal(n, 2);
    assert_int_equal(m, 4);
    n = m = 32;
    assert_int_equal(PdhParseInstanceNameW(u"", instance, &n, parent, &m, &index), STATUS(PDH_INVALID_INSTANCE));
    assert_int_equal(PdhParseInstanceNameW(NULL, instance, &n, parent, &m, &index), STATUS(PDH_INVALID_ARGUMENT));
}

static void computers_and_defaults_are_listed(void **state)
{
    (void)state;
    WCHAR list[300];
    DWORD units = 300;
    char *ours = os_computer_name(), *with = text_format("\\\\%s", ours);
    assert_int_equal(PdhEnumMachinesW(NULL, list, &units), ERROR_SUCCESS);
    wide_is(list, with);
    assert_int_equal(units, strlen(with) + 2);
    assert_int_equal(PdhConnectMachineW(NULL), ERROR_SUCCESS);
    assert_int_equal(PdhConnectMachineW(u"\\\\localhost"), ERROR_SUCCESS);
    assert_int_equal(PdhConnectMachineW(u"\\\\not-this-one"), STATUS(PDH_CSTATUS_NO_MACHINE));
    units = 300;
    assert_int_equal(PdhGetDefaultPerfObjectW(NULL, NULL, list, &units), ERROR_SUCCESS);
    wide_is(list, "Processor");
    units = 300;
    assert_int_equal(PdhGetDefaultPerfCounterW(NULL, NULL, u"processor", list, &units), ERROR_SUCCESS);
    wide_is(list, "% Processor Time");
    units = 300;
    assert_int_equal(PdhGetDefaultPerfCounterW(NULL, NULL, u"Nothing", list, &units), STATUS(PDH_CSTATUS_NO_OBJECT));
    assert_int_equal(PdhGetDefaultPerfObjectW(NULL, u"elsewhere", list, &units), STATUS(PDH_CSTATUS_NO_MACHINE));
    units = 300;
    assert_int_equal(PdhExpandCounterPathW(u"\\Memory\\Commit L*", list, &units), ERROR_SUCCESS);
    wide_is(list, "\\Memory\\Commit Limit");
    memory_free(ours);
    memory_free(with);
}

/* If the handle of a data source is for this computer, functions work as without a data source. */
static void handle_can_mean_this_computer(void **state)
{
    (void)state;
    PDH_HLOG source;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_TIME_INFO info;
    WCHAR list[300];
    DWORD units = 300, bytes = sizeof info, count = 0;
    assert_int_equal(PdhBindInputDataSourceW(&source, NULL), ERROR_SUCCESS);
    assert_int_equal(PdhOpenQueryH(source, 0, &query), ERROR_SUCCESS);
    assert_true(PdhIsRealTimeQuery(query));
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &counter), ERROR_SUCCESS);
    info = (PDH_TIME_INFO){.EndTime = 1};
    assert_int_equal(PdhSetQueryTimeRange(query, &info), STATUS(PDH_DATA_SOURCE_IS_REAL_TIME));
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    assert_int_equal(PdhExpandWildCardPathHW(source, u"\\Memory\\Commit L*", list, &units, 0), ERROR_SUCCESS);
    wide_is(list, "\\Memory\\Commit Limit");
    assert_int_equal(PdhValidatePathExW(source, u"\\Memory\\Commit Limit"), ERROR_SUCCESS);
    assert_int_equal(PdhValidatePathExW(source, u"\\Memory\\Nothing"), STATUS(PDH_CSTATUS_NO_COUNTER));
    assert_int_equal(PdhGetDataSourceTimeRangeH(source, &count, &info, &bytes), STATUS(PDH_DATA_SOURCE_IS_REAL_TIME));
    assert_int_equal(PdhCloseLog(source, 0), ERROR_SUCCESS);
    assert_int_equal(PdhOpenQueryW(u"no such file.csv", 0, &query), STATUS(PDH_FILE_NOT_FOUND));
    assert_null(query);
    assert_int_equal(PdhBindInputDataSourceW(&source, u"no such file.csv\0"), STATUS(PDH_FILE_NOT_FOUND));
    assert_int_equal(PdhOpenQueryH((PDH_HLOG)&units, 0, &query), STATUS(PDH_INVALID_HANDLE));
}

/* A program that must find a counter in every language uses its index. On every Windows, 238 is Processor, and 6 is
   % Processor Time. */
static void names_have_index_numbers(void **state)
{
    (void)state;
    WCHAR name[64];
    DWORD units = 64, index = 0;
    assert_int_equal(PdhLookupPerfNameByIndexW(NULL, 238, name, &units), ERROR_SUCCESS);
    wide_is(name, "Processor");
    units = 64;
    assert_int_equal(PdhLookupPerfNameByIndexW(u"localhost", 6, name, &units), ERROR_SUCCESS);
    wide_is(name, "% Processor Time");
    units = 0;
    assert_int_equal(PdhLookupPerfNameByIndexW(NULL, 238, NULL, &units), STATUS(PDH_MORE_DATA));
    assert_int_equal(units, 10);
    units = 64;
    assert_int_equal(PdhLookupPerfNameByIndexW(NULL, 0, name, &units), STATUS(PDH_STRING_NOT_FOUND));
    assert_int_equal(PdhLookupPerfNameByIndexW(NULL, 99999999, name, &units), STATUS(PDH_STRING_NOT_FOUND));
    assert_int_equal(PdhLookupPerfNameByIndexW(u"elsewhere", 6, name, &units), STATUS(PDH_CSTATUS_NO_MACHINE));
    assert_int_equal(PdhLookupPerfIndexByNameW(NULL, u"processor", &index), ERROR_SUCCESS);
    assert_int_equal(index, 238);
    assert_int_equal(PdhLookupPerfIndexByNameW(NULL, u"% Processor Time", &index), ERROR_SUCCESS);
    assert_int_equal(index, 6);
    assert_int_equal(PdhLookupPerfIndexByNameW(NULL, u"No such name", &index), STATUS(PDH_STRING_NOT_FOUND));
    assert_int_equal(PdhLookupPerfIndexByNameW(NULL, NULL, &index), STATUS(PDH_INVALID_ARGUMENT));
    char ansi[16];
    units = sizeof ansi;
    assert_int_equal(api_lookup_name(API_ANSI, NULL, 238, ansi, &units), ERROR_SUCCESS);
    assert_string_equal(ansi, "Processor");
    assert_int_equal(api_lookup_index(API_ANSI, NULL, "System", &index), ERROR_SUCCESS);
    assert_int_equal(index, 2);
}

static void statistics_are_computed(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER values[3] = {{.FirstValue = 3}, {.FirstValue = 9}, {.FirstValue = 6}};
    PDH_STATISTICS s;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhComputeCounterStatistics(counter, PDH_FMT_LARGE, 0, 3, values, &s), ERROR_SUCCESS);
    assert_int_equal(s.count, 3);
    assert_true(s.min.largeValue == 3 && s.max.largeValue == 9 && s.mean.largeValue == 6);
    assert_int_equal(PdhComputeCounterStatistics(counter, PDH_FMT_LARGE, 3, 3, values, &s),
                     STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhComputeCounterStatistics(counter, PDH_FMT_RAW, 0, 3, values, &s), STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhComputeCounterStatistics(query, PDH_FMT_LARGE, 0, 3, values, &s), STATUS(PDH_INVALID_HANDLE));
    PdhCloseQuery(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ansi_functions_work),           cmocka_unit_test(ansi_strings_are_converted),
        cmocka_unit_test(instance_names_are_parsed),     cmocka_unit_test(computers_and_defaults_are_listed),
        cmocka_unit_test(handle_can_mean_this_computer), cmocka_unit_test(names_have_index_numbers),
        cmocka_unit_test(statistics_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
