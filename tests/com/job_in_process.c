/* SPDX-License-Identifier: MIT */
/* Runs the job of tests/script/main.vbs in process, with registration-free COM, and prints the same output as the
   out-of-process script. job_in_process.exe SET */
#include "tests/com/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void expect_success(const char *what, HRESULT hr)
{
    if (FAILED(hr)) {
        printf("FAILED: %s: 0x%lX %s\n", what, hr, said);
        fflush(stdout);
        exit(1);
    }
}

static BSTR text_of(void *object, const WCHAR *member)
{
    VARIANT v;
    expect_success("a text", get(object, member, &v));
    return V_BSTR(&v); /* not freed: the program exits soon */
}

static LONG long_of(void *object, const WCHAR *member)
{
    VARIANT v;
    expect_success("a number", get(object, member, &v));
    expect_success("a number", VariantChangeType(&v, &v, 0, VT_I4));
    return V_I4(&v);
}

static IDispatch *item_of(void *collection, LONG index)
{
    VARIANT v;
    expect_success("Item", invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, (VARIANT[]){of_long(index)}, 1));
    return V_DISPATCH(&v);
}

static IDispatch *object_of(void *object, const WCHAR *member)
{
    VARIANT v;
    expect_success("an object", get(object, member, &v));
    return V_DISPATCH(&v);
}

static void add(void *collection, IDispatch *item)
{
    expect_success("Add", invoke(collection, L"Add", DISPATCH_METHOD, NULL, (VARIANT[]){of_object(item)}, 1));
}

static void print_log_path(void *set, LONG index)
{
    printf("log %ls\n", text_of(item_of(object_of(set, L"DataCollectors"), index), L"LatestOutputLocation"));
}

static IDispatch *counter_collector(IDispatch *collectors)
{
    static const WCHAR *const counters[] = {L"\\Memory\\Available MBytes", L"\\System\\Threads",
                                            L"\\System\\System Up Time"};
    VARIANT v;
    expect_success("CreateDataCollector",
                   invoke(collectors, L"CreateDataCollector", DISPATCH_METHOD, &v, (VARIANT[]){of_long(0)}, 1));
    IDispatch *collector = V_DISPATCH(&v);
    expect_success("Name", put(collector, L"Name", of_text(L"Counters")));
    expect_success("FileName", put(collector, L"FileName", of_text(L"log")));
    expect_success("LogFileFormat", put(collector, L"LogFileFormat", of_long(0)));
    expect_success("SampleInterval", put(collector, L"SampleInterval", of_long(1)));
    expect_success("PerformanceCounters", put(collector, L"PerformanceCounters", of_array(VT_BSTR, counters, 3)));
    return collector;
}

static IDispatch *collector_from_xml(IDispatch *collectors)
{
    static const WCHAR xml[] =
        L"<PerformanceCounterDataCollector><Name>Second</Name><Speed>1</Speed><LogFileFormat>0</LogFileFormat>"
        L"<SampleInterval>1</SampleInterval><Counter>\\System\\Processes</Counter></PerformanceCounterDataCollector>";
    VARIANT map, second, to_map;
    VariantInit(&map);
    V_VT(&to_map) = VT_VARIANT | VT_BYREF;
    V_VARIANTREF(&to_map) = &map;
    expect_success("CreateDataCollectorFromXml", invoke(collectors, L"CreateDataCollectorFromXml", DISPATCH_METHOD,
                                                        &second, (VARIANT[]){of_text(xml), to_map}, 2));
    printf("from XML: %ls, notes %ld, %ls\n", text_of(V_DISPATCH(&second), L"Name"),
           long_of(V_DISPATCH(&map), L"Count"), text_of(item_of(V_DISPATCH(&map), 0), L"Key"));
    return V_DISPATCH(&second);
}

static void commit_set(IDispatch *set, const WCHAR *name)
{
    VARIANT map;
    expect_success("Commit", invoke(set, L"Commit", DISPATCH_METHOD, &map,
                                    (VARIANT[]){of_text(name), of_text(L""), of_long(3)}, 3));
    for (LONG i = 0; i < long_of(V_DISPATCH(&map), L"Count"); i++) {
        IDispatch *item = item_of(V_DISPATCH(&map), i);
        printf("note: %ls 0x%lX\n", text_of(item, L"Key"), long_of(item, L"Value"));
    }
}

static void list_set(const WCHAR *name)
{
    WCHAR filter[128];
    IDispatch *sets = create(&CLSID_DataCollectorSetCollection, &IID_IDispatch);
    _snwprintf(filter, 128, L"Service\\%ls", name);
    expect_success("GetDataCollectorSets", invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL,
                                                  (VARIANT[]){of_text(L""), of_text(filter)}, 2));
    for (LONG i = 0; i < long_of(sets, L"Count"); i++)
        printf("found %ls, status %ld\n", text_of(item_of(sets, i), L"Name"), long_of(item_of(sets, i), L"Status"));
}

static BSTR value_of(IDispatch *set, const WCHAR *key)
{
    VARIANT v;
    expect_success("GetValue", invoke(set, L"GetValue", DISPATCH_METHOD, &v, (VARIANT[]){of_text(key)}, 1));
    return V_BSTR(&v);
}

static void job_run(const WCHAR *name)
{
    WCHAR root[160];
    IDispatch *set = create(&CLSID_DataCollectorSet, &IID_IDispatch);
    IDispatch *collectors = object_of(set, L"DataCollectors");
    _snwprintf(root, 160, L"C:\\PerfLogs\\Admin\\%ls", name);
    expect_success("RootPath", put(set, L"RootPath", of_text(root)));
    expect_success("SubdirectoryFormat", put(set, L"SubdirectoryFormat", of_long(1)));
    expect_success("SubdirectoryFormatPattern", put(set, L"SubdirectoryFormatPattern", of_text(L"NNNN")));
    add(collectors, counter_collector(collectors));
    add(collectors, collector_from_xml(collectors));
    printf("collectors:");
    for (LONG i = 0; i < long_of(collectors, L"Count"); i++)
        printf(" %ls(%ld)", text_of(item_of(collectors, i), L"Name"), long_of(item_of(collectors, i), L"Index"));
    printf(", the first %ls\n", text_of(item_of(collectors, 0), L"Name"));
    commit_set(set, name);
    printf("status %ld, serial %ld\n", long_of(set, L"Status"), long_of(set, L"SerialNumber"));
    expect_success("Start", invoke(set, L"Start", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1));
    printf("status %ld\n", long_of(set, L"Status"));
    list_set(name);
    Sleep(3200);
    expect_success("Stop", invoke(set, L"Stop", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1));
    printf("status %ld, serial %ld\n", long_of(set, L"Status"), long_of(set, L"SerialNumber"));
    IDispatch *finder = create(&CLSID_DataCollectorSet, &IID_IDispatch);
    expect_success("Query",
                   invoke(finder, L"Query", DISPATCH_METHOD, NULL, (VARIANT[]){of_text(name), of_text(L"")}, 2));
    printf("folder %ls\n", text_of(finder, L"LatestOutputLocation"));
    print_log_path(finder, 0);
    print_log_path(finder, 1);
    printf("last run: %ls '%ls'\n", value_of(finder, L"OpenPLA.LastRunResult"),
           value_of(finder, L"OpenPLA.LastRunMessage"));
    expect_success("Delete", invoke(finder, L"Delete", DISPATCH_METHOD, NULL, NULL, 0));
    printf("Done.\n");
}

int main(int argc, char **argv)
{
    WCHAR name[100];
    if (argc != 2 || !client_begin(CLIENT_IN_PROCESS))
        return 1;
    MultiByteToWideChar(CP_ACP, 0, argv[1], -1, name, 100);
    job_run(name);
    fflush(stdout);
    return 0;
}
