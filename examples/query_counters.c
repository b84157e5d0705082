/* SPDX-License-Identifier: MIT */
/* MS-PLA 4.2, querying performance counters: creates a set with one counter collector out of process, waits for its
   samples and prints its log.
   Usage: query_counters [set name] [samples] [counter] [machine] */
#include "examples/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct wish {
    const WCHAR *machine, *name, *counter;
    ULONG interval, samples; /* interval: seconds between two samples */
};

static HRESULT put_text(void *collector, HRESULT(STDMETHODCALLTYPE *put)(IPerformanceCounterDataCollector *, BSTR),
                        const WCHAR *text)
{
    BSTR copy = SysAllocString(text);
    HRESULT hr = put(collector, copy);
    SysFreeString(copy);
    return hr;
}

static HRESULT put_counter(IPerformanceCounterDataCollector *collector, const WCHAR *path)
{
    SAFEARRAY *array = SafeArrayCreateVector(VT_BSTR, 0, 1);
    BSTR text = SysAllocString(path);
    LONG first = 0;
    HRESULT hr = array && text ? SafeArrayPutElement(array, &first, text) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = IPerformanceCounterDataCollector_put_PerformanceCounters(collector, array);
    SysFreeString(text);
    SafeArrayDestroy(array);
    return hr;
}

/* Configures the collector. The specification's example keeps the default name and format of the log; here the format
   can be printed, and a new run overwrites it. */
static BOOL collector_describe(IPerformanceCounterDataCollector *collector, const struct wish *w)
{
    const IPerformanceCounterDataCollectorVtbl *v = collector->lpVtbl;
    return !failed(v->put_SampleInterval(collector, w->interval), "SampleInterval") &&
           !failed(v->put_SegmentMaxRecords(collector, w->samples), "SegmentMaxRecords") &&
           !failed(put_counter(collector, w->counter), "PerformanceCounters") &&
           !failed(put_text(collector, v->put_FileName, w->name), "FileName") &&
           !failed(v->put_LogFileFormat(collector, plaCommaSeparated), "LogFileFormat") &&
           !failed(v->put_LogOverwrite(collector, VARIANT_TRUE), "LogOverwrite");
}

static BOOL add_collector(IDataCollectorSet *set, const struct wish *w)
{
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *plain = NULL;
    IPerformanceCounterDataCollector *collector = NULL;
    BOOL ok = !failed(IDataCollectorSet_get_DataCollectors(set, &collectors), "DataCollectors") &&
              !failed(IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &plain),
                      "CreateDataCollector") &&
              !failed(IDataCollector_QueryInterface(plain, &IID_IPerformanceCounterDataCollector, (void **)&collector),
                      "IPerformanceCounterDataCollector") &&
              collector_describe(collector, w) && !failed(IDataCollectorCollection_Add(collectors, plain), "Add");
    if (collector)
        IPerformanceCounterDataCollector_Release(collector);
    if (plain)
        IDataCollector_Release(plain);
    if (collectors)
        IDataCollectorCollection_Release(collectors);
    return ok;
}

/* The set stops when it has its samples; wait at most twice that time. */
static BOOL wait_for_end(IDataCollectorSet *set, const struct wish *w)
{
    DataCollectorSetStatus status = plaRunning;
    for (ULONG waited = 0; status != plaStopped && waited < 2 * w->interval * w->samples + 10; waited++) {
        if (waited)
            Sleep(1000);
        if (failed(IDataCollectorSet_get_Status(set, &status), "Status"))
            return FALSE;
    }
    return status == plaStopped || !failed(IDataCollectorSet_Stop(set, VARIANT_TRUE), "Stop");
}

static BOOL show_file(const WCHAR *path)
{
    char line[160];
    FILE *log = _wfopen(path, L"r");
    BOOL at_start = TRUE;
    ULONG lines = 0;
    if (!log) {
        printf("FAILED: %ls cannot be read\n", path);
        return FALSE;
    }
    while (fgets(line, sizeof(line), log)) { /* the start of each line: there may be hundreds of columns */
        BOOL whole = strchr(line, '\n') != NULL;

        if (at_start) {
            printf("  %.*s%s\n", (int)strcspn(line, "\r\n"), line, whole ? "" : "...");
            lines++;
        }
        at_start = whole;
    }
    fclose(log);
    printf("Samples: %lu\n", lines ? lines - 1 : 0);
    return TRUE;
}

static BOOL show_log(IDataCollectorSet *set, const struct wish *w)
{
    BSTR path = latest_output(set, w->name);
    if (!path)
        return FALSE;
    printf("Log: %ls\n", path);
    const BOOL ok = w->machine[0] || show_file(path); /* another computer's file is not accessible */
    SysFreeString(path);
    return ok;
}

static BOOL collector_collect(const struct wish *w)
{
    IDataCollectorSet *set;
    if (failed(create_set(w->machine, &set), "CoCreateInstanceEx"))
        return FALSE;
    BOOL ok = add_collector(set, w) && !failed(commit_set(set, w->name, plaCreateOrModify), "Commit");
    if (ok) {
        printf("Committed: %ls\n", w->name);
        ok = SUCCEEDED(start_set(set));
    }
    if (ok) {
        printf("Started: %lu samples of %ls\n", w->samples, w->counter);
        ok = wait_for_end(set, w) && show_log(set, w);
    }
    IDataCollectorSet_Release(set);
    return ok;
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    struct wish w = {.name = argc > 1 ? argv[1] : L"CounterSample",
                     .samples = argc > 2 ? wcstoul(argv[2], NULL, 10) : 5,
                     .counter = argc > 3 ? argv[3] : L"\\Process(*)\\% Processor Time",
                     .machine = argc > 4 ? argv[4] : L"",
                     .interval = 1};
    BOOL ok;
    if (argc > 5 || !w.samples || w.samples > 1000) {
        puts("usage: query_counters [set name] [samples, 1 to 1000] [counter] [machine]");
        return 2;
    }
    if (failed(CoInitializeEx(NULL, COINIT_MULTITHREADED), "CoInitializeEx"))
        return 1;
    ok = collector_collect(&w);
    CoUninitialize();
    if (ok)
        puts("Done.");
    return ok ? 0 : 1;
}
