/* SPDX-License-Identifier: MIT */
/* MS-PLA 4.1, controlling a provider. The program contains the example's network provider, so that it can show which
   events arrive: a set enables the provider for packets to one address, then, while it runs, only for errors, and
   stops. The trace must contain exactly the requested events.
   Usage: control_provider [set name] */
#include "examples/connection.h"
#include "examples/network_provider.h"
#include "examples/packet_trace.h"

#include <stdio.h>
#include <string.h>

/* The values of the specification's example. */
static const char filter_data[] = "12.84.150.40";
static const char other_address[] = "10.0.0.1";
enum { PATIENCE = 10000 /* ms */ };

/* Sets the value of one of the provider's maps. */
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
              !failed(ITraceDataProvider_put_FilterType(provider, FILTER_ADDRESS), "FilterType") &&
              !failed(ITraceDataProvider_put_FilterEnabled(provider, VARIANT_TRUE), "FilterEnabled");
    if (bytes)
        SafeArrayDestroy(bytes);
    return ok;
}

static BOOL put_level(ITraceDataProvider *provider, LONG number)
{
    IValueMap *level = NULL;
    HRESULT hr = ITraceDataProvider_get_Level(provider, &level);
    return put_map(hr, level, number, "Level");
}

static BOOL provider_describe(ITraceDataProvider *provider)
{
    IValueMap *all = NULL, *any = NULL;
    HRESULT hr = ITraceDataProvider_put_Guid(provider, network_provider);
    if (failed(hr, "Guid"))
        return FALSE;
    hr = ITraceDataProvider_get_KeywordsAll(provider, &all);
    if (!put_map(hr, all, KEYWORD_SEND, "KeywordsAll"))
        return FALSE;
    hr = ITraceDataProvider_get_KeywordsAny(provider, &any);
    if (!put_map(hr, any, KEYWORD_SEND, "KeywordsAny"))
        return FALSE;
    return put_level(provider, LEVEL_VERBOSE) && put_filter(provider);
}

/* *provider is a reference. */
static BOOL add_provider(ITraceDataCollector *collector, ITraceDataProvider **provider)
{
    ITraceDataProviderCollection *providers = NULL;
    BOOL ok =
        !failed(ITraceDataCollector_get_TraceDataProviders(collector, &providers), "TraceDataProviders") &&
        !failed(ITraceDataProviderCollection_CreateTraceDataProvider(providers, provider), "CreateTraceDataProvider") &&
        provider_describe(*provider) && !failed(ITraceDataProviderCollection_Add(providers, *provider), "Add provider");
    if (providers)
        ITraceDataProviderCollection_Release(providers);
    return ok;
}

static BOOL add_collector(IDataCollectorSet *set, ITraceDataProvider **provider)
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
        add_provider(collector, provider) &&
        !failed(IDataCollectorCollection_Add(collectors, plain), "Add collector") &&
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

/* Keeps the output in order with the provider's callback, which another thread calls. */
static void say(const char *line)
{
    puts(line);
    fflush(stdout);
}

static BOOL provider_is_at(UCHAR level)
{
    if (provider_wait(level, PATIENCE))
        return TRUE;
    printf("FAILED: the provider was not enabled at level %u\n", level);
    return FALSE;
}

static void traffic(void)
{
    provider_traffic(filter_data);
    provider_traffic(other_address);
}

/* From Start to Stop, with a change of the level in between. */
static BOOL set_run(IDataCollectorSet *set, const WCHAR *name, ITraceDataProvider *provider)
{
    traffic(); /* not requested yet */
    if (FAILED(start_set(set)))
        return FALSE;
    BOOL ok = provider_is_at(LEVEL_VERBOSE);
    if (ok) {
        say("Started");
        traffic();
        ok = put_level(provider, LEVEL_ERROR) &&
             !failed(commit_set(set, name, plaModify | plaUpdateRunningInstance), "Commit of the running set") &&
             provider_is_at(LEVEL_ERROR);
    }
    if (ok) {
        say("Changed");
        traffic();
    }
    ok = !failed(IDataCollectorSet_Stop(set, VARIANT_TRUE), "Stop") && ok;
    traffic(); /* no longer requested */
    return ok;
}

/* Whether the trace has all events of the first packet to the address, and only the error of the second. */
static BOOL is_as_asked(const struct packet_trace *trace)
{
    static const USHORT asked[] = {PACKET_ERROR, PACKET_SENT, PACKET_BYTES, PACKET_ERROR};
    const BOOL is = trace->count == ARRAYSIZE(asked) && memcmp(trace->ids, asked, sizeof asked) == 0;
    if (!is)
        printf("FAILED: the trace has %lu events, which are not those that were asked for\n", trace->count);
    return is;
}

static BOOL show_trace(IDataCollectorSet *set, const WCHAR *name)
{
    struct packet_trace trace;
    BSTR path = latest_output(set, name);
    if (!path)
        return FALSE;
    printf("Trace: %ls\n", path);
    const BOOL ok = packet_trace_read(path, &trace) && is_as_asked(&trace);
    SysFreeString(path);
    return ok;
}

static BOOL set_control_provider(const WCHAR *name)
{
    ITraceDataProvider *provider = NULL;
    IDataCollectorSet *set;
    if (failed(create_set(NULL, &set), "CoCreateInstanceEx"))
        return FALSE;
    BOOL ok = add_collector(set, &provider) && !failed(commit_set(set, name, plaCreateOrModify), "Commit");
    if (ok) {
        printf("Committed: %ls\n", name);
        ok = set_run(set, name, provider) && show_trace(set, name);
        ok = !failed(IDataCollectorSet_Delete(set), "Delete") && ok; /* the set was only an example */
    }
    if (provider)
        ITraceDataProvider_Release(provider);
    IDataCollectorSet_Release(set);
    return ok;
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    if (argc > 2) {
        puts("usage: control_provider [set name]");
        return 2;
    }
    if (failed(CoInitializeEx(NULL, COINIT_MULTITHREADED), "CoInitializeEx") || !provider_begin())
        return 1;
    BOOL ok = set_control_provider(argc > 1 ? argv[1] : L"ProviderSample");
    provider_end();
    CoUninitialize();
    if (ok)
        puts("Done.");
    return ok ? 0 : 1;
}
