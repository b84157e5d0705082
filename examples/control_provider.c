/* SPDX-License-Identifier: MIT */
/* MS-PLA 4.1, controlling a provider: makes a set that enables the network provider for packets sent to one address,
   and starts it. A host that cannot trace says so at Start; the set is stored all the same, and shown.
   control_provider [set name] [machine] */
#include "examples/connection.h"

#include <stdio.h>
#include <string.h>

/* The provider and the values of the specification's example. */
static const GUID network_provider = {0xA68CA8B7, 0x004F, 0xD7B6, {0xA6, 0x98, 0x07, 0xE2, 0xDE, 0x0F, 0x1F, 0x5D}};
static const char filter_data[] = "12.84.150.40";
enum { FILTER_TYPE = 1, LEVEL = 5, KEYWORDS_ANY = 1, KEYWORDS_ALL = 1 };

/* Puts the value of one of the provider's maps. */
static BOOL put_map(HRESULT hr, IValueMap *map, LONG number, const char *step)
{
    VARIANT value = {.vt = VT_I4, .lVal = number};
    if (failed(hr, step))
        return FALSE;
    BOOL ok = !failed(IValueMap_put_Value(map, value), step);
    IValueMap_Release(map);
    return ok;
}

static BOOL put_filter(ITraceDataProvider *provider)
{
    SAFEARRAY *bytes = SafeArrayCreateVector(VT_UI1, 0, sizeof(filter_data) - 1);
    void *data;
    HRESULT hr = bytes ? SafeArrayAccessData(bytes, &data) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        memcpy(data, filter_data, sizeof(filter_data) - 1);
        SafeArrayUnaccessData(bytes);
        hr = ITraceDataProvider_put_FilterData(provider, bytes);
    }
    BOOL ok = !failed(hr, "FilterData") &&
              !failed(ITraceDataProvider_put_FilterType(provider, FILTER_TYPE), "FilterType") &&
              !failed(ITraceDataProvider_put_FilterEnabled(provider, VARIANT_TRUE), "FilterEnabled");
    if (bytes)
        SafeArrayDestroy(bytes);
    return ok;
}

static BOOL describe(ITraceDataProvider *provider)
{
    IValueMap *all = NULL, *any = NULL, *level = NULL;
    HRESULT hr = ITraceDataProvider_put_Guid(provider, network_provider);
    if (failed(hr, "Guid"))
        return FALSE;
    hr = ITraceDataProvider_get_KeywordsAll(provider, &all);
    if (!put_map(hr, all, KEYWORDS_ALL, "KeywordsAll"))
        return FALSE;
    hr = ITraceDataProvider_get_KeywordsAny(provider, &any);
    if (!put_map(hr, any, KEYWORDS_ANY, "KeywordsAny"))
        return FALSE;
    hr = ITraceDataProvider_get_Level(provider, &level);
    return put_map(hr, level, LEVEL, "Level") && put_filter(provider);
}

static BOOL add_provider(ITraceDataCollector *collector)
{
    ITraceDataProviderCollection *providers = NULL;
    ITraceDataProvider *provider = NULL;
    BOOL ok = !failed(ITraceDataCollector_get_TraceDataProviders(collector, &providers), "TraceDataProviders") &&
              !failed(ITraceDataProviderCollection_CreateTraceDataProvider(providers, &provider),
                      "CreateTraceDataProvider") &&
              describe(provider) && !failed(ITraceDataProviderCollection_Add(providers, provider), "Add provider");
    if (provider)
        ITraceDataProvider_Release(provider);
    if (providers)
        ITraceDataProviderCollection_Release(providers);
    return ok;
}

static BOOL add_collector(IDataCollectorSet *set)
{
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *plain = NULL;
    ITraceDataCollector *collector = NULL;
    BSTR xml = NULL;
    BOOL ok =
        !failed(IDataCollectorSet_get_DataCollectors(set, &collectors), "DataCollectors") &&
        !failed(IDataCollectorCollection_CreateDataCollector(collectors, plaTrace, &plain), "CreateDataCollector") &&
        !failed(IDataCollector_QueryInterface(plain, &IID_ITraceDataCollector, (void **)&collector),
                "ITraceDataCollector") &&
        !failed(ITraceDataCollector_put_LogOverwrite(collector, VARIANT_TRUE), "LogOverwrite") &&
        add_provider(collector) && !failed(IDataCollectorCollection_Add(collectors, plain), "Add collector") &&
        !failed(ITraceDataCollector_get_Xml(collector, &xml), "Xml");
    if (ok)
        printf("The collector: %ls\n", xml);
    SysFreeString(xml);
    if (collector)
        ITraceDataCollector_Release(collector);
    if (plain)
        IDataCollector_Release(plain);
    if (collectors)
        IDataCollectorCollection_Release(collectors);
    return ok;
}

static BOOL control(const WCHAR *name, const WCHAR *machine)
{
    IDataCollectorSet *set;
    if (failed(create_set(machine, &set), "CoCreateInstanceEx"))
        return FALSE;
    BOOL ok = add_collector(set) && !failed(commit_set(set, name), "Commit");
    if (ok) {
        printf("Committed: %ls\n", name);
        ok = SUCCEEDED(start_set(set));
        if (ok) {
            puts("Started: the provider is enabled for two seconds");
            Sleep(2000);
            ok = !failed(IDataCollectorSet_Stop(set, VARIANT_TRUE), "Stop");
        }
        ok = !failed(IDataCollectorSet_Delete(set), "Delete") && ok; /* it was an example only */
    }
    IDataCollectorSet_Release(set);
    return ok;
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    if (argc > 3) {
        puts("usage: control_provider [set name] [machine]");
        return 2;
    }
    if (failed(CoInitializeEx(NULL, COINIT_MULTITHREADED), "CoInitializeEx"))
        return 1;
    BOOL ok = control(argc > 1 ? argv[1] : L"ProviderSample", argc > 2 ? argv[2] : NULL);
    CoUninitialize();
    if (ok)
        puts("Done.");
    return ok ? 0 : 1;
}
