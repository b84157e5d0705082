/* SPDX-License-Identifier: MIT */
/* Performance extension DLLs: their counters are there as all others, and what one does wrong is its own alone. */
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/pdh_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define SERVICE u"SYSTEM\\CurrentControlSet\\Services\\OpenPlaTestExtension"

static struct pdh_api api;

static void set_text(HKEY key, const WCHAR *name, const WCHAR *text)
{
    DWORD bytes = ((DWORD)lstrlenW(text) + 1) * (DWORD)sizeof *text;
    assert_int_equal(RegSetValueExW(key, name, 0, REG_EXPAND_SZ, (const BYTE *)text, bytes), 0);
}

/* What an installer writes; the names where Wine lets them be. */
static void register_extension(void)
{
    HKEY key;
    WCHAR library[MAX_PATH];
    HMODULE here = GetModuleHandleW(NULL);
    GetModuleFileNameW(here, library, MAX_PATH);
    lstrcpyW(wcsrchr(library, '\\') + 1, u"extension_dll.dll");
    assert_int_equal(
        RegCreateKeyExW(HKEY_LOCAL_MACHINE, SERVICE u"\\Performance", 0, NULL, 0, KEY_WRITE, NULL, &key, NULL), 0);
    set_text(key, u"Library", library);
    set_text(key, u"Open", u"OpenTest");
    set_text(key, u"Collect", u"CollectTest");
    set_text(key, u"Close", u"CloseTest");
    static const WCHAR names[] = u"9000\0Test Extension\0"
                                 u"9002\0Share\0"
                                 u"9006\0Raw\0"
                                 u"9008\0Rate/sec\0";
    assert_int_equal(RegSetValueExW(key, u"Counter 009", 0, REG_MULTI_SZ, (const BYTE *)names, sizeof names), 0);
    RegCloseKey(key);
}

static int begin(void **state)
{
    (void)state;
    HMODULE module = LoadLibraryW(u"openpdh.dll");
    if (!module)
        return -1;
#define LOAD_ENTRY(name, parameters)                                                                                   \
    {                                                                                                                  \
        FARPROC found = GetProcAddress(module, #name);                                                                 \
        memcpy(&api.name, &found, sizeof found);                                                                       \
    }
    PDH_API_LIST(LOAD_ENTRY)
    register_extension();
    return 0;
}

static int end(void **state)
{
    (void)state;
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, SERVICE);
    return 0;
}

static void behave(const char *how)
{
    SetEnvironmentVariableA("OPENPLA_TEST_EXTENSION", how);
}

static PDH_HCOUNTER add(PDH_HQUERY query, const WCHAR *path)
{
    PDH_HCOUNTER counter;
    assert_int_equal(api.PdhAddCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    return counter;
}

static bool value_of(PDH_HCOUNTER counter, double *value)
{
    PDH_FMT_COUNTERVALUE v;
    PDH_STATUS status = api.PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v);
    *value = v.doubleValue;
    return status == ERROR_SUCCESS;
}

/* A user finds the DLL's object in the list and its values right. */
static void counters_of_a_dll_are_there(void **state)
{
    (void)state;
    PDH_HQUERY query;
    WCHAR list[2000];
    DWORD units = 2000, count = 0, bytes = 0;
    double value;
    behave("3 4 well");
    assert_int_equal(api.PdhEnumObjectsW(NULL, NULL, list, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
    bool found = false;
    for (const WCHAR *p = list; *p; p += lstrlenW(p) + 1)
        found |= !lstrcmpW(p, u"Test Extension");
    assert_true(found);
    units = 2000;
    assert_int_equal(api.PdhExpandWildCardPathW(NULL, u"\\Test Extension(*)\\R*", list, &units, 0), ERROR_SUCCESS);
    assert_int_equal(lstrcmpW(list, u"\\Test Extension(item000)\\Raw"), 0);
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER share = add(query, u"\\Test Extension(item002)\\Share");
    PDH_HCOUNTER raw = add(query, u"\\Test Extension(item001)\\Raw");
    PDH_HCOUNTER rate = add(query, u"\\Test Extension(item001)\\Rate/sec");
    PDH_HCOUNTER all = add(query, u"\\Test Extension(*)\\Raw");
    PDH_HCOUNTER none;
    assert_int_equal(api.PdhAddCounterW(query, u"\\Test Extension(item001)\\None", 0, &none),
                     (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    uint64_t begun = clock_monotonic_ms();
    assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
    Sleep(200);
    assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
    double seconds = (double)(clock_monotonic_ms() - begun) / 1000;
    assert_true(value_of(share, &value) && value == 26); /* 52 of 200 */
    assert_true(value_of(raw, &value) && value == 1020);
    assert_true(value_of(rate, &value) && value > 90 / seconds && value <= 100 / 0.2 * 1.1); /* 100 per collection */
    assert_int_equal(api.PdhGetRawCounterArrayW(all, &bytes, &count, NULL), (PDH_STATUS)PDH_MORE_DATA);
    assert_int_equal(count, 3);
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
}

/* Samples a query of one counter of ours and one of the DLL's until the DLL's has no value (or has one) again. Our own
   must have one each time, and no sample may take long. */
static bool sample_until(PDH_HQUERY query, PDH_HCOUNTER ours, PDH_HCOUNTER theirs, bool there, unsigned *slow)
{
    double value;
    for (uint64_t last = clock_monotonic_ms() + 20000; clock_monotonic_ms() < last; Sleep(50)) {
        uint64_t begun = clock_monotonic_ms();
        assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
        *slow += clock_monotonic_ms() - begun > 250;
        assert_true(value_of(ours, &value));
        if (value_of(theirs, &value) == there)
            return true;
    }
    return false;
}

static void misbehaves(const char *how, bool comes_back)
{
    PDH_HQUERY query;
    unsigned slow = 0;
    behave(how);
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER ours = add(query, u"\\Memory\\Commit Limit");
    PDH_HCOUNTER theirs = add(query, u"\\Test Extension(item001)\\Raw");
    assert_true(sample_until(query, ours, theirs, true, &slow));
    assert_true(sample_until(query, ours, theirs, false, &slow));
    if (comes_back) {
        assert_true(sample_until(query, ours, theirs, true, &slow));
    } else {
        slow = 0;
        for (int i = 0; i < 5; i++)
            assert_true(sample_until(query, ours, theirs, false, &slow));
        print_message("%u of 5 samples slow\n", slow);
    }
    uint64_t begun = clock_monotonic_ms();
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
    assert_true(clock_monotonic_ms() - begun < 10000);
}

static void a_crash_is_its_own(void **state)
{
    (void)state;
    misbehaves("3 4 crash", true);
}

static void a_hang_is_its_own(void **state)
{
    (void)state;
    misbehaves("3 4 hang", false);
}

static void garbage_is_not_shown(void **state)
{
    (void)state;
    misbehaves("3 4 garbage", false);
    misbehaves("3 4 overrun", false);
}

static void a_dll_that_does_not_open_is_left_out(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    behave("3 4 openfails");
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(api.PdhAddCounterW(query, u"\\Test Extension(item001)\\Raw", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    add(query, u"\\Memory\\Commit Limit");
    assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
    api.PdhCloseQuery(query);
}

/* Not a test: "test_pdh_extension bench" prints what a sample of 300 instances of 28 counters costs. */
static void bench(void **state)
{
    (void)state;
    enum { SAMPLES = 200 };
    PDH_HQUERY query;
    PDH_HCOUNTER all[27]; /* one definition is the first one's base */
    uint64_t slowest = 0;
    behave("300 28 well");
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    all[0] = add(query, u"\\Test Extension(*)\\Share");
    for (int i = 1; i < 27; i++) {
        static const WCHAR *const named[] = {u"Raw", u"Rate/sec"};
        WCHAR path[64];
        if (i < 3)
            swprintf(path, 64, u"\\Test Extension(*)\\%ls", named[i - 1]);
        else
            swprintf(path, 64, u"\\Test Extension(*)\\%d", 9004 + 2 * i); /* a name that no table has */
        all[i] = add(query, path);
    }
    assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
    int64_t begun = clock_ticks();
    for (int i = 0; i < SAMPLES; i++) {
        int64_t one = clock_ticks();
        assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
        uint64_t took = (uint64_t)(clock_ticks() - one);
        slowest = took > slowest ? took : slowest;
    }
    double ms = 1000.0 / (double)clock_frequency();
    DWORD bytes = 0, count = 0;
    api.PdhGetRawCounterArrayW(all[26], &bytes, &count, NULL);
    print_message("%u instances x 28 counters: %.2f ms a sample, the slowest of %d %.2f ms\n", (unsigned)count,
                  (double)(clock_ticks() - begun) * ms / SAMPLES, SAMPLES, (double)slowest * ms);
    api.PdhCloseQuery(query);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "bench")) {
        const struct CMUnitTest benches[] = {cmocka_unit_test(bench)};
        return cmocka_run_group_tests(benches, begin, end);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_a_dll_are_there),
        cmocka_unit_test(a_crash_is_its_own),
        cmocka_unit_test(a_hang_is_its_own),
        cmocka_unit_test(garbage_is_not_shown),
        cmocka_unit_test(a_dll_that_does_not_open_is_left_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
