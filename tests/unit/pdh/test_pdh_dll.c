/* SPDX-License-Identifier: MIT */
/* openpdh.dll as Windows programs use it, through LoadLibrary and GetProcAddress. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/own_threads.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>
#include <wchar.h>

static HMODULE module;
static struct pdh_api api;

static FARPROC entry(const char *name)
{
    FARPROC found = GetProcAddress(module, name);
    if (!found)
        print_error("%s is not exported\n", name);
    assert_non_null(found);
    return found;
}

static int load(void **state)
{
    (void)state;
    SetEnvironmentVariableW(u"OPENPLA_SAMPLE_LIMIT", u"0"); /* a sample may take long on a busy machine */
    module = LoadLibraryW(u"openpdh.dll");
    if (!module)
        return -1;
#define LOAD_ENTRY(name, parameters)                                                                                   \
    {                                                                                                                  \
        FARPROC found = GetProcAddress(module, #name);                                                                 \
        memcpy(&api.name, &found, sizeof found);                                                                       \
        if (!found)                                                                                                    \
            return -1;                                                                                                 \
    }
    PDH_API_LIST(LOAD_ENTRY)
    return 0;
}

static int unload(void **state)
{
    (void)state;
    return !FreeLibrary(module);
}

/* Makes the calls of an existing program: it uses ANSI names, waits between samples, and formats values. */
static void collects_for_two_seconds(void **state)
{
    (void)state;
    PDH_STATUS(WINAPI * open)(LPCSTR, DWORD_PTR, PDH_HQUERY *);
    PDH_STATUS(WINAPI * add)(PDH_HQUERY, LPCSTR, DWORD_PTR, PDH_HCOUNTER *);
    FARPROC found = entry("PdhOpenQueryA");
    memcpy(&open, &found, sizeof found);
    found = entry("PdhAddCounterA");
    memcpy(&add, &found, sizeof found);
    PDH_HQUERY query;
    PDH_HCOUNTER busy, memory, own;
    assert_int_equal(open(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(add(query, "\\Processor(_Total)\\% Processor Time", 0, &busy), ERROR_SUCCESS);
    assert_int_equal(add(query, "\\Memory\\Available MBytes", 0, &memory), ERROR_SUCCESS);
    assert_int_equal(add(query, "\\Process(test_pdh_dll)\\Thread Count", 0, &own), ERROR_SUCCESS);
    PDH_FMT_COUNTERVALUE v;
    LONGLONG before = 0, now;
    ULONGLONG begun = 0;
    for (int i = 0; i < 5; i++) {
        const ULONGLONG at = GetTickCount64();
        assert_int_equal(api.PdhCollectQueryDataWithTime(query, &now), ERROR_SUCCESS);
        if (i) {
            /* from before the first to after the second sample, plus a tolerance because there are two clocks */
            assert_true(now - before > 4000000);
            assert_true(now - before < (LONGLONG)(GetTickCount64() - begun) * 10000 + 5000000);
            assert_int_equal(api.PdhGetFormattedCounterValue(busy, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
            assert_true(v.doubleValue >= 0 && v.doubleValue <= 100);
        }
        before = now;
        begun = at;
        assert_int_equal(api.PdhGetFormattedCounterValue(memory, PDH_FMT_LARGE, NULL, &v), ERROR_SUCCESS);
        assert_in_range(v.largeValue, 1, 1 << 24);
        assert_int_equal(api.PdhGetFormattedCounterValue(own, PDH_FMT_LONG, NULL, &v), ERROR_SUCCESS);
        assert_in_range(v.longValue, 1, 50);
        Sleep(500);
    }
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
}

/* A program may wait for an event instead of sleeping. When it closes the query, the collector thread exits. */
static void collector_thread_sets_the_event(void **state)
{
    (void)state;
    PDH_STATUS(WINAPI * every)(PDH_HQUERY, DWORD, HANDLE);
    FARPROC found = entry("PdhCollectQueryDataEx");
    memcpy(&every, &found, sizeof found);
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE v;
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(api.PdhAddCounterW(query, u"\\Processor(_Total)\\% Idle Time", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(every(query, 0, event), (PDH_STATUS)PDH_INVALID_ARGUMENT);
    assert_int_equal(every(query, 1, NULL), (PDH_STATUS)PDH_INVALID_ARGUMENT);
    assert_int_equal(every(NULL, 1, event), (PDH_STATUS)PDH_INVALID_HANDLE);
    assert_int_equal(every(query, 100, event), ERROR_SUCCESS);
    assert_int_equal(every(query, 1, event), ERROR_SUCCESS); /* replaces the previous interval */
    for (int i = 0; i < 2; i++)
        assert_int_equal(WaitForSingleObject(event, PATIENCE_MS), WAIT_OBJECT_0);
    assert_int_equal(api.PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v), ERROR_SUCCESS);
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
    ResetEvent(event);
    assert_int_equal(WaitForSingleObject(event, 1500), WAIT_TIMEOUT);
    CloseHandle(event);
}

static PDH_STATUS(WINAPI *collect_every)(PDH_HQUERY, DWORD, HANDLE);
struct setter {
    PDH_HQUERY query;
    HANDLE event;
    bool failed;
};

static DWORD WINAPI set_interval_repeatedly(void *user)
{
    struct setter *s = user;
    for (DWORD i = 0; i < 200; i++)
        s->failed |= collect_every(s->query, 100 + i, s->event) != ERROR_SUCCESS;
    return 0;
}

/* Two threads that both set an interval must neither end one collector twice nor leave one running. */
static void intervals_are_set_by_several_threads(void **state)
{
    (void)state;
    FARPROC found = entry("PdhCollectQueryDataEx");
    memcpy(&collect_every, &found, sizeof found);
    struct setter setters[4] = {{0}};
    HANDLE threads[4], event = CreateEventW(NULL, FALSE, FALSE, NULL);
    unsigned before = own_threads();
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(api.PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(api.PdhAddCounterW(query, u"\\Memory\\Available Bytes", 0, &counter), ERROR_SUCCESS);
    for (int i = 0; i < 4; i++) {
        setters[i] = (struct setter){query, event, false};
        threads[i] = CreateThread(NULL, 0, set_interval_repeatedly, &setters[i], 0, NULL);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(WaitForSingleObject(threads[i], INFINITE), WAIT_OBJECT_0);
        CloseHandle(threads[i]);
        assert_false(setters[i].failed);
    }
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
    for (int i = 0; own_threads() > before && i < PATIENCE_MS / 100; i++)
        Sleep(100); /* the system may list an exited thread for a while */
    assert_int_equal(own_threads(), before);
    CloseHandle(event);
}

/* Programs that call unsupported functions must get an error that they can handle; a missing export would prevent them
   from starting. */
static void unsupported_functions_return_errors(void **state)
{
    (void)state;
    /* Each function must be called with its number of arguments: in 32-bit code, it removes them from the stack. */
    static const char *const with_one[] = {"PdhBrowseCountersW", "PdhBrowseCountersHA"};
    PDH_STATUS(WINAPI * one)(void *);
    PDH_STATUS(WINAPI * two)(void *, void *);
    for (size_t i = 0; i < sizeof with_one / sizeof *with_one; i++) {
        FARPROC found = entry(with_one[i]);
        memcpy(&one, &found, sizeof found);
        assert_int_equal(one(NULL), (PDH_STATUS)PDH_NOT_IMPLEMENTED);
    }
    FARPROC found = entry("PdhRelogW");
    memcpy(&two, &found, sizeof found);
    assert_int_equal(two(NULL, NULL), (PDH_STATUS)PDH_NOT_IMPLEMENTED);
    entry("PdhPlaStartA");
}

/* Visual Basic programs use separate functions. */
static void visual_basic_functions_work(void **state)
{
    (void)state;
    PDH_STATUS(WINAPI * open)(PDH_HQUERY *);
    PDH_STATUS(WINAPI * add)(PDH_HQUERY, LPCSTR, PDH_HCOUNTER *);
    double(WINAPI * get)(PDH_HCOUNTER, LPDWORD);
    LONG(WINAPI * is_good)(LONG);
    PDH_STATUS(WINAPI * elements)(LPCSTR, LPSTR, LPSTR, LPSTR, LPSTR, LPSTR, DWORD);
    FARPROC found[] = {entry("PdhVbOpenQuery"), entry("PdhVbAddCounter"), entry("PdhVbGetDoubleCounterValue"),
                       entry("PdhVbIsGoodStatus"), entry("PdhVbGetCounterPathElements")};
    memcpy(&open, &found[0], sizeof open);
    memcpy(&add, &found[1], sizeof add);
    memcpy(&get, &found[2], sizeof get);
    memcpy(&is_good, &found[3], sizeof is_good);
    memcpy(&elements, &found[4], sizeof elements);
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    DWORD status = 1;
    assert_int_equal(open(&query), ERROR_SUCCESS);
    assert_int_equal(add(query, "\\Memory\\Available MBytes", &counter), ERROR_SUCCESS);
    assert_true(get(counter, &status) == 0);
    assert_false(is_good((LONG)status)); /* no sample yet */
    assert_int_equal(api.PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(get(counter, &status) > 1);
    assert_true(is_good((LONG)status));
    assert_int_equal(api.PdhCloseQuery(query), ERROR_SUCCESS);
    char parts[5][16];
    assert_int_equal(elements("\\\\BOX\\Thread(cmd/0)\\ID", parts[0], parts[1], parts[2], parts[3], parts[4], 16),
                     ERROR_SUCCESS);
    static const char *const expected[] = {"\\\\BOX", "Thread", "0", "cmd", "ID"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(parts[i], expected[i]);
    assert_int_equal(
        elements("\\Thread(cmd/0)\\A name of more than that", parts[0], parts[1], parts[2], parts[3], parts[4], 16),
        (PDH_STATUS)PDH_INSUFFICIENT_BUFFER);
}

/* openpdh.dll must export every function that Wine's own pdh.dll exports. */
static void all_system_exports_exist(void **state)
{
    (void)state;
    HMODULE system = LoadLibraryExW(u"pdh.dll", NULL, DONT_RESOLVE_DLL_REFERENCES);
    assert_non_null(system);
    const BYTE *base = (const BYTE *)system;
    const IMAGE_DOS_HEADER *dos = (const void *)base;
    const IMAGE_NT_HEADERS *nt = (const void *)(base + dos->e_lfanew);
    const IMAGE_DATA_DIRECTORY *directory = &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
    const IMAGE_EXPORT_DIRECTORY *exports = (const void *)(base + directory->VirtualAddress);
    const DWORD *names = (const void *)(base + exports->AddressOfNames);
    assert_true(exports->NumberOfNames > 100);
    for (DWORD i = 0; i < exports->NumberOfNames; i++)
        entry((const char *)base + names[i]);
    FreeLibrary(system);
}

/* ---- a process whose threads exit while a query is open ---- */

enum { LAST_LEAVES = 3, FIRST_LEAVES = 5 };

static DWORD WINAPI leave_last(void *first)
{
    WaitForSingleObject(first, INFINITE);
    return LAST_LEAVES;
}

/* Runs in a separate process. Its samples have a time limit, so a thread of OpenPLA takes them. */
static int leave_with_query_open(void)
{
    HANDLE self, process = GetCurrentProcess();
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    void *none = NULL;
    if (load(&none) != 0)
        return 2;
    SetEnvironmentVariableW(u"OPENPLA_SAMPLE_LIMIT", NULL);
    if (api.PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS ||
        api.PdhAddEnglishCounterW(query, u"\\Memory\\Available Bytes", 0, &counter) != ERROR_SUCCESS ||
        api.PdhCollectQueryData(query) != ERROR_SUCCESS)
        return 4;
    if (!DuplicateHandle(process, GetCurrentThread(), process, &self, 0, FALSE, DUPLICATE_SAME_ACCESS) ||
        !CreateThread(NULL, 0, leave_last, self, 0, NULL))
        return 6;
    ExitThread(FIRST_LEAVES);
}

/* If all threads of a program exit while its query is open, the process must exit too. */
static void process_exits_with_its_last_own_thread(void **state)
{
    WCHAR line[2 * MAX_PATH], path[MAX_PATH];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION started;
    DWORD code = 0;
    (void)state;
    assert_in_range(GetModuleFileNameW(NULL, path, MAX_PATH), 1, MAX_PATH - 1);
    _snwprintf(line, 2 * MAX_PATH, L"\"%ls\" leave", path);
    assert_true(CreateProcessW(path, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &started));
    const DWORD waited = WaitForSingleObject(started.hProcess, PATIENCE_MS);
    if (waited != WAIT_OBJECT_0)
        TerminateProcess(started.hProcess, 0);
    assert_int_equal(waited, WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(started.hProcess, &code));
    assert_int_equal(code, LAST_LEAVES);
    CloseHandle(started.hThread);
    CloseHandle(started.hProcess);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_for_two_seconds),
        cmocka_unit_test(collector_thread_sets_the_event),
        cmocka_unit_test(intervals_are_set_by_several_threads),
        cmocka_unit_test(unsupported_functions_return_errors),
        cmocka_unit_test(visual_basic_functions_work),
        cmocka_unit_test(all_system_exports_exist),
        cmocka_unit_test(process_exits_with_its_last_own_thread),
    };
    if (count > 1 && strcmp(arguments[1], "leave") == 0)
        return leave_with_query_open();
    return cmocka_run_group_tests(tests, load, unload);
}
