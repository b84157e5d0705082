/* SPDX-License-Identifier: MIT */
/* The counter provider functions of Perflib V2: one program provides a counterset, and another reads it through PDH. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <perflib.h>
#include <string.h>

#define NAMES                                                                                                          \
    u"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\_V2Providers\\"                                        \
    u"{AAAAAAAA-1111-2222-3333-444444444444}"

static const GUID provider_guid = {0xAAAAAAAA, 0x1111, 0x2222, {0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44}};
static const GUID set_guid = {0xBBBBBBBB, 0x1111, 0x2222, {0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44}};

#define FUNCTIONS(X)                                                                                                   \
    X(PerfStartProvider)                                                                                               \
    X(PerfStopProvider)                                                                                                \
    X(PerfSetCounterSetInfo)                                                                                           \
    X(PerfCreateInstance)                                                                                              \
    X(PerfDeleteInstance)                                                                                              \
    X(PerfQueryInstance)                                                                                               \
    X(PerfSetULongCounterValue)                                                                                        \
    X(PerfSetULongLongCounterValue)                                                                                    \
    X(PerfIncrementULongCounterValue) X(PerfDecrementULongCounterValue) X(PerfSetCounterRefValue)
#define MEMBER(name) __typeof__(&name) name##_;
static struct {
    FUNCTIONS(MEMBER)
} perf;
static struct pdh_api api;

static bool load(void)
{
    SetEnvironmentVariableW(u"OPENPLA_SAMPLE_LIMIT", u"0");
    HMODULE module = LoadLibraryW(u"openpdh.dll");
    FARPROC found;
    bool ok = module != NULL;
#define LOAD_ENTRY(name, parameters)                                                                                   \
    found = ok ? GetProcAddress(module, #name) : NULL;                                                                 \
    memcpy(&api.name, &found, sizeof found);
    PDH_API_LIST(LOAD_ENTRY)
#define LOAD_FUNCTION(name)                                                                                            \
    found = ok ? GetProcAddress(module, #name) : NULL;                                                                 \
    memcpy(&perf.name##_, &found, sizeof found);                                                                       \
    ok = ok && found;
    FUNCTIONS(LOAD_FUNCTION)
    return ok;
}

/* Registers a counterset with a 32-bit value, a 64-bit value, and a value that the program writes directly. */
static HANDLE start_provider(void)
{
    static struct {
        PERF_COUNTERSET_INFO set;
        PERF_COUNTER_INFO counters[3];
    } info;
    HANDLE p = NULL;
    info.set = (PERF_COUNTERSET_INFO){set_guid, provider_guid, 3, 2};
    info.counters[0] =
        (PERF_COUNTER_INFO){.CounterId = 1, .Type = PERF_COUNTER_RAWCOUNT, .Size = 4, .DetailLevel = 100};
    info.counters[1] =
        (PERF_COUNTER_INFO){.CounterId = 2, .Type = PERF_COUNTER_LARGE_RAWCOUNT, .Size = 8, .DetailLevel = 100};
    info.counters[2] = (PERF_COUNTER_INFO){
        .CounterId = 3, .Type = PERF_COUNTER_LARGE_RAWCOUNT, .Attrib = 1, .Size = 8, .DetailLevel = 100};
    if (perf.PerfStartProvider_((GUID *)&provider_guid, NULL, &p) ||
        perf.PerfSetCounterSetInfo_(p, &info.set, sizeof info))
        return NULL;
    return p;
}

/* Runs the counter provider until the parent process terminates it. */
static int provide(void)
{
    static volatile LONGLONG own = 33;
    HANDLE p = start_provider();
    PERF_COUNTERSET_INSTANCE *i = p ? perf.PerfCreateInstance_(p, &set_guid, L"worker", 7) : NULL;
    if (!i || perf.PerfSetULongCounterValue_(p, i, 1, 11) || perf.PerfSetULongLongCounterValue_(p, i, 2, 22ull << 32) ||
        perf.PerfSetCounterRefValue_(p, i, 3, (void *)(uintptr_t)&own))
        return 1;
    for (int n = 0; n < PATIENCE_MS / 100; n++) {
        Sleep(100);
        own++;
    }
    return 2;
}

static bool value_of(PDH_HCOUNTER counter, double *value)
{
    PDH_FMT_COUNTERVALUE v;
    PDH_STATUS status = api.PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v);
    *value = v.doubleValue;
    return status == ERROR_SUCCESS;
}

/* Samples until the counter's value is at least `least`. If `least` is negative, samples until it has no value. */
static bool wait_for(PDH_HQUERY query, PDH_HCOUNTER counter, double least)
{
    double value;
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS; clock_monotonic_ms() < end; Sleep(50)) {
        api.PdhCollectQueryData(query);
        bool has = value_of(counter, &value);
        if (least < 0 ? !has : has && value >= least)
            return true;
    }
    return false;
}

static void register_names(void)
{
    HKEY key;
    static const WCHAR name[] = u"Test Workers", counters[] = u"1\0Jobs\0"
                                                              u"2\0Bytes\0";
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, NAMES u"\\{BBBBBBBB-1111-2222-3333-444444444444}", 0, NULL, 0,
                                     KEY_WRITE, NULL, &key, NULL),
                     0);
    RegSetValueExW(key, u"Name", 0, REG_SZ, (const BYTE *)name, sizeof name);
    RegSetValueExW(key, u"Counters", 0, REG_MULTI_SZ, (const BYTE *)counters, sizeof counters);
    RegCloseKey(key);
}

/* When a program is killed, its counters must disappear; they must not keep their last values. */
static void other_process_is_read_until_it_exits(void **state)
{
    (void)state;
    const char *arguments[] = {"provide"};
    char *folder = os_module_folder(), *program = path_join(folder, "test_perflib.exe");
    struct process *child;
    PDH_HQUERY query;
    PDH_HCOUNTER jobs = NULL, bytes, own;
    double value;
    register_names();
    assert_int_equal(
        process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 1}, &child), S_OK);
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS; !jobs && clock_monotonic_ms() < end; Sleep(50))
        api.PdhAddCounterW(query, u"\\Test Workers(worker)\\Jobs", 0, &jobs);
    assert_non_null(jobs);
    assert_int_equal(api.PdhAddCounterW(query, u"\\Test Workers(*)\\Bytes", 0, &bytes), ERROR_SUCCESS);
    assert_int_equal(api.PdhAddCounterW(query, u"\\Test Workers(worker)\\Counter 3", 0, &own), ERROR_SUCCESS);
    assert_true(wait_for(query, jobs, 11));
    assert_true(value_of(jobs, &value) && value == 11);
    assert_true(wait_for(query, own, 36)); /* the value changes without a call by the program */
    assert_int_equal(process_terminate(process_id(child), process_start_time(process_id(child))), S_OK);
    assert_true(wait_for(query, jobs, -1));
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
    assert_int_equal(api.PdhValidatePathW(u"\\Test Workers(worker)\\Jobs"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    process_close(child);
    memory_free(program);
    memory_free(folder);
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, NAMES);
}

/* Invalid calls must return the errors that Microsoft documents. */
static void invalid_calls_fail(void **state)
{
    (void)state;
    HANDLE p;
    static const GUID unknown = {1, 2, 3, {4}};
    assert_int_equal(perf.PerfStartProvider_(NULL, NULL, &p), ERROR_INVALID_PARAMETER);
    p = start_provider();
    assert_non_null(p);
    assert_null(perf.PerfCreateInstance_(p, &unknown, L"x", 0));
    assert_int_equal(GetLastError(), ERROR_NOT_FOUND);
    PERF_COUNTERSET_INSTANCE *i = perf.PerfCreateInstance_(p, &set_guid, L"x", 5);
    assert_non_null(i);
    assert_int_equal(i->InstanceId, 5);
    assert_int_equal(lstrcmpW((const WCHAR *)(const void *)((const BYTE *)i + i->InstanceNameOffset), L"x"), 0);
    assert_null(perf.PerfCreateInstance_(p, &set_guid, L"X", 5));
    assert_int_equal(GetLastError(), ERROR_ALREADY_EXISTS);
    assert_ptr_equal(perf.PerfQueryInstance_(p, &set_guid, L"x", 5), i);
    assert_int_equal(perf.PerfSetULongCounterValue_(p, i, 1, 5), ERROR_SUCCESS);
    assert_int_equal(perf.PerfIncrementULongCounterValue_(p, i, 1, 3), ERROR_SUCCESS);
    assert_int_equal(perf.PerfDecrementULongCounterValue_(p, i, 1, 2), ERROR_SUCCESS);
    assert_int_equal(perf.PerfSetULongCounterValue_(p, i, 99, 5), ERROR_NOT_FOUND);
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    double value = 0;
    WCHAR path[] = u"\\{BBBBBBBB-1111-2222-3333-444444444444}(x)\\Counter 1";
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(api.PdhAddCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    api.PdhCollectQueryData(query);
    assert_true(value_of(counter, &value) && value == 6);
    api.PdhCloseQuery(query);
    assert_int_equal(perf.PerfDeleteInstance_(p, i), ERROR_SUCCESS);
    assert_int_equal(perf.PerfSetULongCounterValue_(p, i, 1, 5), ERROR_INVALID_PARAMETER);
    assert_int_equal(perf.PerfStopProvider_(p), ERROR_SUCCESS);
    assert_int_equal(perf.PerfStopProvider_(p), ERROR_INVALID_PARAMETER);
}

int main(int argc, char **argv)
{
    if (!load())
        return 99;
    if (argc == 2 && !strcmp(argv[1], "provide"))
        return provide();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_calls_fail),
        cmocka_unit_test(other_process_is_read_until_it_exits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
