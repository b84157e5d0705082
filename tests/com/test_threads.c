/* SPDX-License-Identifier: MIT */
/* Eight threads use one set in process, as a server's thread pool does. A race would crash the program or tear a
   value. */
#include "tests/com/client.h"
#include "tests/unit/patience.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { THREADS = 8, ROUNDS = 500, TEXT_UNITS = 200 };

static IDataCollectorSet *shared;
static volatile LONG faults;

/* Only the test's own thread may assert; the other threads report and count errors. */
static void expect(bool ok, const char *what, LONG number, LONG round)
{
    if (!ok && InterlockedIncrement(&faults) <= 20)
        fprintf(stderr, "thread %d, round %d: %s\n", (int)number, (int)round, what);
}
#define EXPECT(condition) expect((condition), #condition, number, round)

/* Each thread writes strings and lists of a single letter: a mixture of letters is a torn value. */
static bool all_one_letter(const WCHAR *text, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (text[i] != text[0])
            return false;
    return length == TEXT_UNITS && text[0] >= L'a' && text[0] < L'a' + THREADS;
}

static void put_and_get_text(LONG number, LONG round)
{
    BSTR text = SysAllocStringLen(NULL, TEXT_UNITS), back = NULL;
    wmemset(text, (WCHAR)(L'a' + number), TEXT_UNITS);
    EXPECT(IDataCollectorSet_put_Subdirectory(shared, text) == S_OK);
    EXPECT(IDataCollectorSet_get_Subdirectory(shared, &back) == S_OK);
    EXPECT(back && all_one_letter(back, SysStringLen(back)));
    SysFreeString(text);
    SysFreeString(back);
}

static void put_and_get_list(LONG number, LONG round)
{
    WCHAR letter[2] = {(WCHAR)(L'a' + number), 0}, longer[3] = {letter[0], letter[0], 0};
    const WCHAR *const words[] = {letter, longer, letter};
    SAFEARRAY *array = text_array(VT_BSTR, words, (UINT)(1 + number % 3)), *back = NULL;
    BSTR *items;
    LONG high = -1;
    EXPECT(IDataCollectorSet_put_Keywords(shared, array) == S_OK);
    EXPECT(IDataCollectorSet_get_Keywords(shared, &back) == S_OK);
    SafeArrayDestroy(array);
    if (!back || FAILED(SafeArrayGetUBound(back, 1, &high)) || FAILED(SafeArrayAccessData(back, (void **)&items))) {
        EXPECT(!"an array");
        return;
    }
    for (LONG i = 0; i <= high; i++)
        EXPECT(items[i][0] == items[0][0]);
    EXPECT(high == (items[0][0] - L'a') % 3);
    SafeArrayUnaccessData(back);
    SafeArrayDestroy(back);
}

static void put_and_get_number(LONG number, LONG round)
{
    ULONG n = 0;
    EXPECT(IDataCollectorSet_put_Duration(shared, (ULONG)(number + 1) * 0x01010101u) == S_OK);
    EXPECT(IDataCollectorSet_get_Duration(shared, &n) == S_OK);
    EXPECT(n && n % 0x01010101u == 0 && n / 0x01010101u <= THREADS);
}

/* Adds a new collector to the shared set, finds it there, and removes it. */
static void add_and_remove(LONG number, LONG round)
{
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *collector = NULL, *found = NULL;
    WCHAR name[32];
    VARIANT by_name, object;
    EXPECT(IDataCollectorSet_get_DataCollectors(shared, &collectors) == S_OK);
    EXPECT(IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &collector) == S_OK);
    _snwprintf(name, 32, L"collector %d", (int)number);
    BSTR text = SysAllocString(name);
    EXPECT(IDataCollector_put_Name(collector, text) == S_OK);
    EXPECT(IDataCollectorCollection_Add(collectors, collector) == S_OK);
    V_VT(&by_name) = VT_BSTR;
    V_BSTR(&by_name) = text;
    EXPECT(IDataCollectorCollection_get_Item(collectors, by_name, &found) == S_OK);
    EXPECT(found == collector);
    V_VT(&object) = VT_DISPATCH;
    V_DISPATCH(&object) = (IDispatch *)collector;
    EXPECT(IDataCollectorCollection_Remove(collectors, object) == S_OK);
    SysFreeString(text);
    release(found);
    release(collector);
    release(collectors);
}

/* For Each while other threads change the collection. */
static void collection_walk(LONG number, LONG round)
{
    IDataCollectorCollection *collectors = NULL;
    IUnknown *unknown = NULL;
    IEnumVARIANT *e = NULL;
    VARIANT item;
    EXPECT(IDataCollectorSet_get_DataCollectors(shared, &collectors) == S_OK);
    EXPECT(IDataCollectorCollection_get__NewEnum(collectors, &unknown) == S_OK);
    EXPECT(IUnknown_QueryInterface(unknown, &IID_IEnumVARIANT, (void **)&e) == S_OK);
    VariantInit(&item);
    while (IEnumVARIANT_Next(e, 1, &item, NULL) == S_OK) {
        BSTR name = NULL;
        EXPECT(IDataCollector_get_Name((IDataCollector *)V_DISPATCH(&item), &name) == S_OK);
        EXPECT(name && !wcsncmp(name, L"collector ", 10));
        SysFreeString(name);
        VariantClear(&item);
    }
    release(e);
    release(unknown);
    release(collectors);
}

/* XML that is read while others write must be complete: SetXml must accept it. */
static void read_xml(LONG number, LONG round)
{
    IDataCollectorSet *copy = NULL;
    IValueMap *map = NULL;
    BSTR xml = NULL, text = NULL;
    EXPECT(IDataCollectorSet_get_Xml(shared, &xml) == S_OK);
    EXPECT(CoCreateInstance(&CLSID_DataCollectorSet, NULL, CLSCTX_INPROC_SERVER, &IID_IDataCollectorSet,
                            (void **)&copy) == S_OK);
    EXPECT(IDataCollectorSet_SetXml(copy, xml, &map) == S_OK);
    EXPECT(IDataCollectorSet_get_Subdirectory(copy, &text) == S_OK);
    EXPECT(text && all_one_letter(text, SysStringLen(text)));
    SysFreeString(text);
    SysFreeString(xml);
    release(map);
    release(copy);
}

static void write_xml(LONG number, LONG round)
{
    BSTR xml = SysAllocString(L"<DataCollectorSet><Description>x</Description></DataCollectorSet>");
    IValueMap *map = NULL;
    EXPECT(IDataCollectorSet_SetXml(shared, xml, &map) == S_OK);
    SysFreeString(xml);
    release(map);
}

/* Serializes the verbs: Wine 8's own COM crashes (in its proxies' bookkeeping) when several threads of a process get
   and release a server's objects at the same time, whichever server it is. */
static SRWLOCK verbs = SRWLOCK_INIT;

static void set_validate(LONG number, LONG round)
{
    BSTR name = SysAllocString(L"test-com-threads");
    IValueMap *map = NULL;
    AcquireSRWLockExclusive(&verbs);
    EXPECT(IDataCollectorSet_Commit(shared, name, NULL, (CommitMode)(plaCreateOrModify | plaValidateOnly), &map) ==
           S_OK);
    ReleaseSRWLockExclusive(&verbs);
    SysFreeString(name);
    release(map);
}

static DWORD WINAPI thread_work(void *argument)
{
    LONG number = *(const LONG *)argument;
    client_thread_begin(COINIT_MULTITHREADED);
    for (LONG round = 0; round < ROUNDS; round++) {
        put_and_get_text(number, round);
        put_and_get_list(number, round);
        put_and_get_number(number, round);
        add_and_remove(number, round);
        collection_walk(number, round);
        if (round % 5 == number % 5)
            read_xml(number, round);
        if (round % 25 == number)
            set_validate(number, round);
        if (round % 50 == number)
            write_xml(number, round);
    }
    client_thread_end();
    return 0;
}

static void eight_threads_share_one_set(void **state)
{
    HANDLE threads[THREADS];
    LONG numbers[THREADS];
    LONG count = -1;
    (void)state;
    shared = new_set();
    put_and_get_text(0, -1);
    for (LONG i = 0; i < THREADS; i++) {
        numbers[i] = i;
        threads[i] = CreateThread(NULL, 0, thread_work, &numbers[i], 0, NULL);
        assert_non_null(threads[i]);
    }
    assert_int_equal(WaitForMultipleObjects(THREADS, threads, TRUE, PATIENCE_MS), WAIT_OBJECT_0);
    for (LONG i = 0; i < THREADS; i++)
        CloseHandle(threads[i]);
    IDataCollectorCollection *collectors = collectors_of(shared);
    assert_ok(IDataCollectorCollection_get_Count(collectors, &count));
    assert_int_equal(count, 0);
    release(collectors);
    release(shared);
    assert_int_equal(faults, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(eight_threads_share_one_set)};
    int way = client_way_of(argc, argv), failed;
    if (way < 0)
        return 2;
    if (!client_begin((enum client_way)way))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return client_end() || failed ? failed : 1; /* remaining objects are leaks */
}
