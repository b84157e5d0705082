/* SPDX-License-Identifier: MIT */
/* Performance extension DLLs: their counters work like all others, and a faulty DLL affects only its own counters. */
#include "engine/base/clock.h"
#include "engine/logs/journal.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/child_process.h"

#include <stdio.h>
#include <stdlib.h>

#define SERVICES u"SYSTEM\\CurrentControlSet\\Services\\"

static struct pdh_api api;
static WCHAR service[40]; /* a different name for each behaviour, which gets a separate process */
static WCHAR folder[MAX_PATH];
static char log_path[MAX_PATH];
static int64_t registered; /* time of the registration: older events belong to an earlier registration */

static void set_text(HKEY key, const WCHAR *name, const WCHAR *text)
{
    DWORD bytes = ((DWORD)lstrlenW(text) + 1) * (DWORD)sizeof *text;
    assert_int_equal(RegSetValueExW(key, name, 0, REG_EXPAND_SZ, (const BYTE *)text, bytes), 0);
}

static void unregister_extension(void)
{
    WCHAR path[100];
    swprintf(path, 100, SERVICES u"%ls", service);
    if (*service)
        RegDeleteTreeW(HKEY_LOCAL_MACHINE, path);
}

/* Registers the DLL as an installer does. The names of its counters are in a place that Wine supports. */
static void register_extension(const WCHAR *library)
{
    static unsigned number;
    HKEY key;
    WCHAR path[100];
    unregister_extension();
    registered = clock_utc();
    swprintf(service, 40, u"OpenPlaTestExtension%u", ++number);
    swprintf(path, 100, SERVICES u"%ls\\Performance", service);
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL), 0);
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
    DeleteFileA(log_path);
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
    GetModuleFileNameW(NULL, folder, MAX_PATH);
    wcsrchr(folder, '\\')[0] = 0;
    if (!GetEnvironmentVariableA("OPENPLA_TEST_EXTENSION_LOG", log_path,
                                 sizeof log_path)) { /* this process is not a child of the test */
        char temporary[MAX_PATH];
        GetTempPathA(MAX_PATH, temporary);
        snprintf(log_path, sizeof log_path, "%s%lu.extension", temporary, GetCurrentProcessId());
        SetEnvironmentVariableA("OPENPLA_TEST_EXTENSION_LOG", log_path);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    unregister_extension();
    DeleteFileA(log_path);
    return 0;
}

static void behave(const char *how)
{
    WCHAR library[MAX_PATH];
    swprintf(library, MAX_PATH, u"%ls\\extension_dll.dll", folder);
    SetEnvironmentVariableA("OPENPLA_TEST_EXTENSION", how);
    register_extension(library);
}

/* Returns how many processes opened the DLL ('o') or hung in it ('h'), and the last one's id. */
static unsigned processes(char what, DWORD *id)
{
    char text[8192], *at = text;
    size_t size = 0;
    FILE *file = fopen(log_path, "rb");
    unsigned count = 0;
    if (file) {
        size = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[size] = 0;
    for (; *at; at = strchr(at, '\n') + 1) {
        if (*at == what) {
            count++;
            *id = strtoul(at + 2, NULL, 10);
        }
    }
    return count;
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

/* The DLL's object is in the list and has the right values. */
static void counters_of_a_dll_are_read(void **state)
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

/* Samples a counter of OpenPLA and a counter of the DLL until the DLL's counter has a value (if `there`) or has none.
   OpenPLA's counter must always have a value, and no sample may take long. */
static bool sample_until(PDH_HQUERY query, PDH_HCOUNTER ours, PDH_HCOUNTER theirs, bool there, unsigned *slow)
{
    double value;
    for (uint64_t last = clock_monotonic_ms() + PATIENCE_MS; clock_monotonic_ms() < last; Sleep(50)) {
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
    assert_true(clock_monotonic_ms() - begun < PATIENCE_MS);
}

static void crashing_dll_loses_only_its_counters(void **state)
{
    (void)state;
    misbehaves("3 4 crash", true);
}

static void hanging_dll_loses_only_its_counters(void **state)
{
    (void)state;
    misbehaves("3 4 hang", false);
}

static void garbage_is_ignored(void **state)
{
    (void)state;
    misbehaves("3 4 garbage", false);
    misbehaves("3 4 overrun", false);
}

/* Returns the reason in the last event about this service, or "" if there is no event. The string is from
   memory_alloc. */
static char *reported_reason(void)
{
    char *events = journal_folder(), *name, *reason = text_copy("");
    struct journal_reader *r;
    struct journal_entry e;
    assert_int_equal(text_from_utf16(service, wcslen(service), true, &name), S_OK);
    assert_int_equal(journal_reader_open(events, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        if (e.id == 9010 && e.utc >= registered && e.count == 2 && !strcmp(e.fields[0].value, name)) {
            memory_free(reason);
            reason = text_copy(e.fields[1].value);
        }
    }
    journal_reader_close(r);
    memory_free(events);
    memory_free(name);
    return reason;
}

static void assert_reported(const char *part)
{
    char *reason = reported_reason();
    assert_non_null(strstr(reason, part));
    memory_free(reason);
}

static void dll_that_fails_to_open_is_skipped(void **state)
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
    assert_reported("Open: ");
}

/* All lists and queries of a program share one process for the DLL. Calls that need no counter of the DLL start no
   process. */
static void program_has_one_host_process(void **state)
{
    (void)state;
    PDH_HQUERY queries[3];
    WCHAR list[4000];
    DWORD units, other, id;
    behave("3 4 well");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(api.PdhOpenQueryW(NULL, 0, &queries[i]), ERROR_SUCCESS);
        add(queries[i], u"\\Memory\\Commit Limit");
        units = other = 0;
        api.PdhEnumObjectItemsW(NULL, NULL, u"Memory", NULL, &units, NULL, &other, PERF_DETAIL_WIZARD, 0);
    }
    assert_int_equal(processes('o', &id), 0);
    for (int i = 0; i < 3; i++) {
        units = 4000;
        assert_int_equal(api.PdhEnumObjectsW(NULL, NULL, list, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
        add(queries[i], u"\\Test Extension(item001)\\Raw");
        assert_int_equal(api.PdhCollectQueryData(queries[i]), ERROR_SUCCESS);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(api.PdhCloseQuery(queries[i]), ERROR_SUCCESS);
    assert_int_equal(api.PdhValidatePathW(u"\\Test Extension(item001)\\Raw"), ERROR_SUCCESS);
    assert_int_equal(processes('o', &id), 1);
}

/* Starts a program. The last argument may be NULL. */
static struct process *run_program(const char *name, const char *first, const char *second, const char *third)
{
    const char *arguments[] = {first, second, third};
    char *bin = os_module_folder(), *path = path_join(bin, name);
    struct process *p;
    const struct program program = {.path = path, .arguments = arguments, .argument_count = third ? 3 : 2};
    assert_int_equal(process_start(&program, &p), S_OK);
    memory_free(path);
    memory_free(bin);
    return p;
}

static bool ends(DWORD id, uint64_t start)
{
    for (uint64_t last = clock_monotonic_ms() + PATIENCE_MS; clock_monotonic_ms() < last; Sleep(50))
        if (!process_alive(id, start))
            return true;
    return false;
}

/* The program lists only the DLL's object. On a busy computer, listing all objects may take so long that the DLL's
   process does not wait for the next query. */
static void list_starts_one_process(void **state)
{
    (void)state;
    DWORD id = 0;
    behave("3 4 well");
    struct process *p = run_program("openpla.exe", "typeperf", "-qx", "Test Extension");
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    assert_int_equal(processes('o', &id), 1);
    assert_true(ends(id, process_start_time(id)));
}

/* Reads counters until the process is killed. */
static int read_until_killed(void)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    if (api.PdhOpenQueryW(NULL, 0, &query) || api.PdhAddCounterW(query, u"\\Test Extension(item001)\\Raw", 0, &counter))
        return 1;
    for (int i = 0; i < PATIENCE_MS / 100; i++) {
        api.PdhCollectQueryData(query);
        Sleep(100);
    }
    return 2;
}

/* When the program is killed, no process remains, even if the DLL never returns. */
static void hung_dll_is_terminated_with_the_program(void **state)
{
    (void)state;
    DWORD id = 0;
    behave("3 4 hang");
    struct process *p = run_program("test_pdh_extension.exe", "count", "", NULL);
    for (uint64_t last = clock_monotonic_ms() + PATIENCE_MS; !processes('h', &id) && clock_monotonic_ms() < last;)
        Sleep(50);
    assert_int_not_equal(id, 0);
    uint64_t start = process_start_time(id);
    assert_true(process_alive(id, start));
    assert_int_equal(process_terminate(process_id(p), process_start_time(process_id(p))), S_OK);
    assert_true(ends(id, start));
    process_close(p);
}

/* Returns whether the DLL is loaded when the registry contains this path. */
static bool is_loaded(const WCHAR *library)
{
    DWORD id;
    SetEnvironmentVariableA("OPENPLA_TEST_EXTENSION", "3 4 well");
    register_extension(library);
    bool found = api.PdhValidatePathW(u"\\Test Extension(item001)\\Raw") == ERROR_SUCCESS;
    assert_int_equal(processes('o', &id), found);
    return found;
}

/* A DLL that an attacker put into the current folder or a folder in PATH must not be loaded. */
static void dll_is_not_loaded_from_the_current_folder(void **state)
{
    (void)state;
    static WCHAR before[MAX_PATH], path[32768], copy[MAX_PATH], from[MAX_PATH];
    DWORD id = 0;
    GetCurrentDirectoryW(MAX_PATH, before);
    GetEnvironmentVariableW(u"PATH", path, 32768);
    assert_true(SetCurrentDirectoryW(folder));
    SetEnvironmentVariableW(u"PATH", folder);
    SetEnvironmentVariableW(u"OPENPLA_TEST_DLLS", folder);
    assert_false(is_loaded(u"extension_dll.dll"));
    assert_reported("extension_dll.dll': ");
    assert_false(is_loaded(u".\\extension_dll.dll"));
    assert_reported("invalid library '.\\extension_dll.dll': expected a full path or a file name");
    assert_false(is_loaded(u"Z:extension_dll.dll"));
    assert_false(is_loaded(folder + 2)); /* starts with '\', so it depends on the current drive */
    assert_true(is_loaded(u"%OPENPLA_TEST_DLLS%\\extension_dll.dll"));
    SetCurrentDirectoryW(before);
    SetEnvironmentVariableW(u"PATH", path);
    GetSystemDirectoryW(copy, MAX_PATH);
    lstrcatW(copy, u"\\openpla_test_extension.dll");
    swprintf(from, MAX_PATH, u"%ls\\extension_dll.dll", folder);
    assert_true(CopyFileW(from, copy, FALSE));
    bool found = is_loaded(u"openpla_test_extension.dll");
    assert_int_equal(processes('o', &id), 1);
    process_terminate(id, process_start_time(id));
    for (uint64_t last = clock_monotonic_ms() + PATIENCE_MS; !DeleteFileW(copy) && clock_monotonic_ms() < last;)
        Sleep(50);
    assert_true(found);
}

/* Not a test: "test_pdh_extension bench" prints the time of a sample with 300 instances of 28 counters. */
static void bench(void **state)
{
    (void)state;
    enum { SAMPLES = 200 };
    PDH_HQUERY query;
    PDH_HCOUNTER all[27]; /* not 28: one of the counters is the base of the first */
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
            swprintf(path, 64, u"\\Test Extension(*)\\%d", 9004 + 2 * i); /* the index of a counter without a name */
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
    if (argc > 1 && !strcmp(argv[1], "count"))
        return begin(NULL) ? 99 : read_until_killed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_a_dll_are_read),
        cmocka_unit_test(crashing_dll_loses_only_its_counters),
        cmocka_unit_test(hanging_dll_loses_only_its_counters),
        cmocka_unit_test(garbage_is_ignored),
        cmocka_unit_test(dll_that_fails_to_open_is_skipped),
        cmocka_unit_test(program_has_one_host_process),
        cmocka_unit_test(list_starts_one_process),
        cmocka_unit_test(hung_dll_is_terminated_with_the_program),
        cmocka_unit_test(dll_is_not_loaded_from_the_current_folder),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
