/* SPDX-License-Identifier: MIT */
/* relog_events IN.etl [IN.etl ...] OUT.etl PID: writes the events of one process to a separate log, by ITraceRelogger
   of Windows' relogger.h. Under Wine openetw.dll implements the class; it must be registered or beside the program.
   x86_64-w64-mingw32-gcc -municode -o relog_events.exe relog_events.c -lole32 -loleaut32 */
#ifndef COBJMACROS
#define COBJMACROS
#endif
#define INITGUID
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <relogger.h>

struct chosen {
    ITraceEventCallback face;
    ULONG process;
    unsigned seen, written;
};

static HRESULT STDMETHODCALLTYPE query(ITraceEventCallback *face, REFIID iid, void **out)
{
    *out = IsEqualIID(iid, &IID_ITraceEventCallback) || IsEqualIID(iid, &IID_IUnknown) ? face : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

/* The callback is a variable of main, so references are not counted. */
static ULONG STDMETHODCALLTYPE reference(ITraceEventCallback *face)
{
    (void)face;
    return 1;
}

static HRESULT STDMETHODCALLTYPE begin(ITraceEventCallback *face, ITraceEvent *header, ITraceRelogger *relogger)
{
    (void)face, (void)header, (void)relogger;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE end(ITraceEventCallback *face, ITraceRelogger *relogger)
{
    (void)face, (void)relogger;
    return S_OK;
}

/* A definition of events (class EventMetadata), which other computers need to decode the log. */
static bool is_definition(const EVENT_RECORD *record)
{
    static const GUID class = {0xBBCCF6C1, 0x6CD1, 0x48C4, {0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71}};
    return IsEqualGUID(&record->EventHeader.ProviderId, &class);
}

static HRESULT STDMETHODCALLTYPE event_take(ITraceEventCallback *face, ITraceEvent *event, ITraceRelogger *relogger)
{
    struct chosen *c = (struct chosen *)face;
    EVENT_RECORD *record;
    HRESULT hr = ITraceEvent_GetEventRecord(event, &record);
    if (FAILED(hr))
        return hr;
    if (is_definition(record))
        return ITraceRelogger_Inject(relogger, event);
    c->seen++;
    if (record->EventHeader.ProcessId != c->process)
        return S_OK;
    c->written++;
    return ITraceRelogger_Inject(relogger, event);
}

/* Uses CoCreateInstance if the class is registered, otherwise openetw.dll's class object. */
static HRESULT relogger_create(ITraceRelogger **out)
{
    HRESULT hr = CoCreateInstance(&CLSID_CTraceRelogger, NULL, CLSCTX_INPROC_SERVER, &IID_ITraceRelogger, (void **)out);
    if (SUCCEEDED(hr))
        return hr;
    HMODULE module = LoadLibraryExW(L"openetw.dll", NULL, LOAD_LIBRARY_SEARCH_APPLICATION_DIR);
    IClassFactory *factory;
    HRESULT(WINAPI * get)
    (REFCLSID, REFIID, void **) =
        module ? (HRESULT(WINAPI *)(REFCLSID, REFIID, void **))(void *)GetProcAddress(module, "DllGetClassObject")
               : NULL;
    if (!get)
        return hr;
    hr = get(&CLSID_CTraceRelogger, &IID_IClassFactory, (void **)&factory);
    return SUCCEEDED(hr) ? IClassFactory_CreateInstance(factory, NULL, &IID_ITraceRelogger, (void **)out) : hr;
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    static ITraceEventCallbackVtbl table = {query, reference, reference, begin, end, event_take};
    struct chosen chosen = {.face = {&table}};
    ITraceRelogger *relogger;
    if (argc < 4) {
        fprintf(stderr, "relog_events IN.etl [IN.etl ...] OUT.etl PID\n");
        return 2;
    }
    chosen.process = wcstoul(argv[argc - 1], NULL, 0);
    HRESULT hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    if (SUCCEEDED(hr))
        hr = relogger_create(&relogger);
    if (FAILED(hr)) {
        fprintf(stderr, "relog_events: there is no relogger (0x%08lX)\n", (unsigned long)hr);
        return 1;
    }
    for (int i = 1; i < argc - 2 && SUCCEEDED(hr); i++) {
        TRACEHANDLE stream;
        BSTR name = SysAllocString(argv[i]);
        hr = ITraceRelogger_AddLogfileTraceStream(relogger, name, NULL, &stream);
        SysFreeString(name);
        if (FAILED(hr))
            fprintf(stderr, "relog_events: %ls cannot be read (0x%08lX)\n", argv[i], (unsigned long)hr);
    }
    BSTR output = SysAllocString(argv[argc - 2]);
    if (SUCCEEDED(hr))
        hr = ITraceRelogger_SetOutputFilename(relogger, output);
    if (SUCCEEDED(hr))
        hr = ITraceRelogger_RegisterCallback(relogger, &chosen.face);
    if (SUCCEEDED(hr))
        hr = ITraceRelogger_ProcessTrace(relogger);
    if (FAILED(hr))
        fprintf(stderr, "relog_events: 0x%08lX\n", (unsigned long)hr);
    else
        printf("%u of %u events\n", chosen.written, chosen.seen);
    SysFreeString(output);
    ITraceRelogger_Release(relogger);
    CoUninitialize();
    return FAILED(hr);
}
