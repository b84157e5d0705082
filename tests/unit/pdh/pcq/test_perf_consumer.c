/* SPDX-License-Identifier: MIT */
/* test_perf_consumer [COMPUTER]: calls the Perflib V2 consumer functions of openpdh.dll as a program does, for this
   computer or for one that serves its counters. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"
#include "engine/pdh/remote/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

/* Microsoft's perflib.h declares these functions, but MinGW's does not. */
static ULONG(WINAPI *enumerate_sets)(LPCWSTR, GUID *, DWORD, DWORD *);
static ULONG(WINAPI *enumerate_instances)(LPCWSTR, const GUID *, void *, DWORD, DWORD *);
static ULONG(WINAPI *registration_info)(LPCWSTR, const GUID *, DWORD, DWORD, BYTE *, DWORD, DWORD *);
static ULONG(WINAPI *open_query)(LPCWSTR, HANDLE *);
static ULONG(WINAPI *close_query)(HANDLE);
static ULONG(WINAPI *query_info)(HANDLE, void *, DWORD, DWORD *);
static ULONG(WINAPI *query_data)(HANDLE, void *, DWORD, DWORD *);
static ULONG(WINAPI *add_counters)(HANDLE, void *, DWORD);
static ULONG(WINAPI *delete_counters)(HANDLE, void *, DWORD);
static ULONG(WINAPI *pdh_close_query)(HANDLE);

static WCHAR *computer; /* NULL: this computer */

static int load(void **state)
{
    (void)state;
    static const struct {
        void *to;
        const char *name;
    } rows[] = {{&enumerate_sets, "PerfEnumerateCounterSet"},
                {&enumerate_instances, "PerfEnumerateCounterSetInstances"},
                {&registration_info, "PerfQueryCounterSetRegistrationInfo"},
                {&open_query, "PerfOpenQueryHandle"},
                {&close_query, "PerfCloseQueryHandle"},
                {&query_info, "PerfQueryCounterInfo"},
                {&query_data, "PerfQueryCounterData"},
                {&add_counters, "PerfAddCounters"},
                {&delete_counters, "PerfDeleteCounters"},
                {&pdh_close_query, "PdhCloseQuery"}};
    HMODULE module = LoadLibraryW(u"openpdh.dll");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FARPROC found = module ? GetProcAddress(module, rows[i].name) : NULL;
        if (!found)
            return -1;
        memcpy(rows[i].to, &found, sizeof found);
    }
    return 0;
}

/* Returns the GUID of the counterset with this name; checks that every counterset has a name and counters. */
static GUID find_set(const WCHAR *wanted, DWORD *counters)
{
    GUID sets[PCQ_MOST_SETS], found = {0};
    DWORD count, size;
    assert_int_equal(enumerate_sets(computer, NULL, 0, &count), ERROR_NOT_ENOUGH_MEMORY);
    assert_true(count > 10 && count <= PCQ_MOST_SETS);
    assert_int_equal(enumerate_sets(computer, sets, PCQ_MOST_SETS, &count), ERROR_SUCCESS);
    for (DWORD i = 0; i < count; i++) {
        union {
            BYTE bytes[65536];
            WCHAR text[100];
        } room;
        assert_int_equal(registration_info(computer, &sets[i], PCQ_SET_NAME, 0, room.bytes, sizeof room, &size),
                         ERROR_SUCCESS);
        if (memcmp(room.text, wanted, (wcslen(wanted) + 1) * sizeof *wanted))
            continue;
        struct pcq_set_info info;
        assert_int_equal(registration_info(computer, &sets[i], PCQ_SET_INFO, 0, room.bytes, sizeof room, &size),
                         ERROR_SUCCESS);
        assert_true(answer_set(room.bytes, size, &info));
        *counters = info.counters;
        found = sets[i];
    }
    return found;
}

struct all_of_set {
    struct pcq_identifier head;
    WCHAR name[4];
};

static void program_reads_a_counterset(void **state)
{
    (void)state;
    static BYTE data[1 << 20];
    DWORD counters = 0, size, instances = 0;
    HANDLE query;
    struct answer_data answer;
    struct answer_block block;
    const GUID set = find_set(L"Processor", &counters);
    assert_true(counters > 5);
    assert_int_equal(enumerate_instances(computer, &set, data, sizeof data, &size), ERROR_SUCCESS);
    struct answer_place place = {data, data + size};
    for (struct answer_instance i; answer_next_instance(&place, &i);)
        instances++;
    assert_true(instances >= 2);
    assert_int_equal(open_query(computer, &query), ERROR_SUCCESS);
    struct all_of_set all = {{.guid = set, .size = sizeof all, .counter = PCQ_ANY, .instance = PCQ_ANY}, {'*'}};
    assert_int_equal(add_counters(query, &all, sizeof all), ERROR_SUCCESS);
    assert_int_equal(all.head.status, ERROR_SUCCESS);
    assert_int_equal(query_info(query, data, sizeof data, &size), ERROR_SUCCESS);
    struct answer_identifier identifier;
    place = (struct answer_place){data, data + size};
    assert_true(answer_next_identifier(&place, &identifier));
    assert_int_equal(identifier.head.index, 0);
    assert_int_equal(query_data(query, NULL, 0, &size), ERROR_NOT_ENOUGH_MEMORY);
    assert_true(size > sizeof(struct pcq_data));
    assert_int_equal(query_data(query, data, sizeof data, &size), ERROR_SUCCESS);
    assert_true(answer_data(data, size, &answer) && answer.head.frequency > 0);
    assert_true(answer_next_block(&answer.blocks, &block));
    assert_int_equal(block.kind, PCQ_COUNTERSET);
    assert_int_equal(block.counters, counters);
    assert_int_equal(block.rows, instances);
    assert_int_equal(delete_counters(query, &all, sizeof all), ERROR_SUCCESS);
    assert_int_equal(query_data(query, data, sizeof data, &size), ERROR_SUCCESS);
    assert_true(answer_data(data, size, &answer) && !answer_next_block(&answer.blocks, &block));
    assert_int_equal(close_query(query), ERROR_SUCCESS);
    assert_int_equal(close_query(query), ERROR_INVALID_HANDLE);
}

static void invalid_calls_fail(void **state)
{
    (void)state;
    static const GUID none = {1, 2, 3, {4}};
    DWORD size;
    BYTE room[64];
    HANDLE query;
    assert_int_equal(registration_info(computer, &none, PCQ_SET_NAME, 0, room, sizeof room, &size), 4200);
    assert_int_equal(registration_info(computer, NULL, PCQ_SET_NAME, 0, room, sizeof room, &size),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(open_query(computer, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(open_query(u"127.0.0.1:1", &query), 1722); /* RPC_S_SERVER_UNAVAILABLE */
    assert_null(query);
    assert_int_equal(query_data((HANDLE)room, room, sizeof room, &size), ERROR_INVALID_HANDLE);
    assert_int_equal(open_query(computer, &query), ERROR_SUCCESS);
    assert_int_equal(add_counters(query, room, 3), ERROR_INVALID_PARAMETER);
    assert_int_equal(add_counters(query, NULL, 40), ERROR_INVALID_PARAMETER);
    /* a PDH function must reject the handle of a Perflib V2 query */
    assert_int_equal((DWORD)pdh_close_query(query), PDH_INVALID_HANDLE);
    assert_int_equal(close_query(query), ERROR_SUCCESS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(program_reads_a_counterset),
                                       cmocka_unit_test(invalid_calls_fail)};
    if (argc > 1 && FAILED(text_to_utf16(argv[1], &computer, NULL)))
        return 1;
    int failed = cmocka_run_group_tests(tests, load, NULL);
    memory_free(computer);
    return failed;
}
