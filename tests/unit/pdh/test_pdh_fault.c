/* SPDX-License-Identifier: MIT */
/* Memory may run out at any allocation: a collecting program must get an error, and must neither crash nor leak (the
   sanitizer detects leaks in the native run). */
#include "engine/base/memory.h"
#include "engine/pdh/core/pdh.h"
#include "tests/unit/kernel_root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#ifdef _WIN32
#define TRIES 60 /* the native run tries more allocations */
#else
#define TRIES 134
#endif
#define OUT_OF_MEMORY ((PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)

static WCHAR list[200000];
static union {
    PDH_RAW_COUNTER_ITEM_W items[4000];
    PDH_COUNTER_INFO_W info;
    PDH_COUNTER_PATH_ELEMENTS_W elements;
} block;

static bool failed(PDH_STATUS status)
{
    return status == OUT_OF_MEMORY;
}

/* Each of these parts calls some functions of PDH once, and returns true if one reported that memory ran out. The parts
   are repeated in separate loops, so that each try repeats only one part. */

static bool use_query(void)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    static const WCHAR *const paths[] = {u"\\Processor(_Total)\\% User Time",    u"\\Processor(*)\\% Idle Time",
                                         u"\\\\localhost\\Memory\\Commit Limit", u"\\System\\Threads",
                                         u"\\Process(_Total)\\Working Set",      u"\\Process(*)\\ID Process"};
    bool any = false;
    PDH_STATUS status = PdhOpenQueryW(NULL, 0, &query);
    if (failed(status)) {
        assert_null(query);
        return true;
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        status = PdhAddCounterW(query, paths[i], 0, &counter);
        any |= failed(status);
        assert_true(failed(status) == !counter);
    }
    for (int i = 0; i < 2; i++) {
        status = PdhCollectQueryData(query);
        assert_true(status == ERROR_SUCCESS || status == (PDH_STATUS)PDH_NO_DATA);
    }
    if (PdhAddCounterW(query, u"\\Process(*)\\Thread Count", 0, &counter) == ERROR_SUCCESS) {
        DWORD bytes = sizeof block, count = 0;
        PdhCollectQueryData(query);
        any |= failed(PdhGetRawCounterArrayW(counter, &bytes, &count, block.items));
        bytes = sizeof block;
        any |= failed(PdhGetCounterInfoW(counter, 1, &bytes, &block.info));
        any |= failed(PdhRemoveCounter(counter));
    } else {
        any = true;
    }
    PdhCloseQuery(query);
    return any;
}

static bool use_wildcards(void)
{
    DWORD units = sizeof list / sizeof *list;
    return failed(PdhExpandWildCardPathW(NULL, u"\\*(*)\\*", list, &units, 0));
}

static bool use_names(void)
{
    DWORD units = 1000, units_2 = sizeof list / sizeof *list / 2;
    bool any = failed(PdhEnumObjectsW(NULL, u".", list, &units, PERF_DETAIL_WIZARD, 0));
    units = 100000;
    any |= failed(PdhEnumObjectItemsW(NULL, NULL, u"Processor", list, &units, list + 100000, &units_2, 400, 0));
    units = 1000;
    any |= failed(PdhParseCounterPathW(u"\\A(p/b#3)\\c", &block.elements, &units, 0));
    units = 1000;
    any |= failed(PdhMakeCounterPathW(&block.elements, list, &units, 0));
    return any;
}

/* Lets allocations of `use` fail, one in each run. If an allocation fails while a sample is taken, only the counters'
   statuses report it. No run may crash or leak, and nothing may fail when memory is available again. */
static void fail_each_allocation(bool (*use)(void), uint64_t least, uint64_t least_reported)
{
    assert_false(use());
    memory_fail_at(UINT64_MAX);
    use();
    const uint64_t all = memory_count();
    uint64_t reported = 0;
    /* Reading all instance names needs thousands of similar allocations: after the first ones, only some are tested. */
    for (uint64_t n = 1; n <= all; n += n < TRIES ? 1 : 1 + all / TRIES) {
        memory_fail_at(n);
        reported += use();
        memory_fail_at(0);
    }
    print_message("%u allocations, %u failures reported\n", (unsigned)all, (unsigned)reported);
    assert_true(all > least);
    assert_true(reported > least_reported);
    assert_false(use());
}

static struct kernel_root root;

static int begin(void **state)
{
    (void)state;
    /* Only allocations of this thread fail, so this thread must take the samples. The artificial /proc has few
       processes. */
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "0");
    root = kernel_root_create("test_pdh_fault");
    return 0;
}

static int end(void **state)
{
    (void)state;
    kernel_root_remove(&root);
    return 0;
}

static void failing_allocations_of_a_query_are_reported(void **state)
{
    (void)state;
    fail_each_allocation(use_query, 100, 50);
}

static void failing_allocations_of_a_wildcard_path_are_reported(void **state)
{
    (void)state;
    fail_each_allocation(use_wildcards, 100, 10);
}

static void failing_allocations_of_names_are_reported(void **state)
{
    (void)state;
    fail_each_allocation(use_names, 100, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_allocations_of_a_query_are_reported),
        cmocka_unit_test(failing_allocations_of_a_wildcard_path_are_reported),
        cmocka_unit_test(failing_allocations_of_names_are_reported),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
