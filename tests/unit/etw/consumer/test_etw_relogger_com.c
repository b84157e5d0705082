/* SPDX-License-Identifier: MIT */
/* ITraceRelogger as programs use it from relogger.h, without a registry: openetw.dll's class, the lifetimes of its
   objects, and the effect of each member on an event. An error would crash programs or write wrong events. */
#ifndef COBJMACROS
#define COBJMACROS
#endif
#define INITGUID
#include "tests/unit/etw/consumer/relogger_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <relogger.h>
#include <string.h>

static HRESULT(WINAPI *get_class)(REFCLSID, REFIID, void **);
static HRESULT(WINAPI *can_unload)(void);

static const GUID other = {0xAABBCCDD, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static ITraceEvent *kept;
static unsigned begun, ended, seen;
static int context;
static TRACEHANDLE stream;

static HRESULT STDMETHODCALLTYPE query(ITraceEventCallback *face, REFIID iid, void **out)
{
    (void)iid;
    *out = face;
    return S_OK;
}

static ULONG STDMETHODCALLTYPE reference(ITraceEventCallback *face)
{
    (void)face;
    return 1;
}

/* Injects an event before all others. */
static HRESULT STDMETHODCALLTYPE on_begin(ITraceEventCallback *face, ITraceEvent *header, ITraceRelogger *relogger)
{
    ITraceEvent *own;
    EVENT_RECORD *record;
    BYTE payload[] = "own";
    const EVENT_DESCRIPTOR descriptor = {77, 1, 2, 3, 4, 5, 6};
    (void)face;
    begun++;
    assert_int_equal(ITraceEvent_GetEventRecord(header, &record), S_OK);
    LARGE_INTEGER time = record->EventHeader.TimeStamp;
    time.QuadPart--; /* earlier than all others */
    assert_int_equal(ITraceRelogger_CreateEventInstance(relogger, 99, 0, &own), E_INVALIDARG);
    assert_int_equal(ITraceRelogger_CreateEventInstance(relogger, stream, 0x8000, &own), E_INVALIDARG);
    assert_int_equal(ITraceRelogger_CreateEventInstance(relogger, stream, 0, &own), S_OK);
    assert_int_equal(ITraceEvent_SetEventDescriptor(own, &descriptor), S_OK);
    assert_int_equal(ITraceEvent_SetPayload(own, payload, sizeof payload), S_OK);
    assert_int_equal(ITraceEvent_SetPayload(own, payload, 65536), E_INVALIDARG);
    assert_int_equal(ITraceEvent_SetProcessId(own, 11), S_OK);
    assert_int_equal(ITraceEvent_SetThreadId(own, 12), S_OK);
    assert_int_equal(ITraceEvent_SetThreadTimes(own, 13, 14), S_OK);
    assert_int_equal(ITraceEvent_SetProcessorIndex(own, 3), S_OK);
    assert_int_equal(ITraceEvent_SetProcessorIndex(own, 65536), E_INVALIDARG);
    assert_int_equal(ITraceEvent_SetActivityId(own, &other), S_OK);
    assert_int_equal(ITraceEvent_SetProviderId(own, &other), S_OK);
    assert_int_equal(ITraceEvent_SetTimeStamp(own, &time), S_OK);
    assert_int_equal(ITraceEvent_SetProviderId(own, NULL), E_POINTER);
    assert_int_equal(ITraceRelogger_Inject(relogger, own), S_OK);
    assert_int_equal(ITraceEvent_Release(own), 0);
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE on_end(ITraceEventCallback *face, ITraceRelogger *relogger)
{
    (void)face, (void)relogger;
    ended++;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE on_event(ITraceEventCallback *face, ITraceEvent *event, ITraceRelogger *relogger)
{
    void *user = NULL;
    (void)face;
    seen++;
    assert_int_equal(ITraceEvent_GetUserContext(event, &user), S_OK);
    assert_ptr_equal(user, &context);
    if (!kept) {
        kept = event; /* still referenced after the callback */
        ITraceEvent_AddRef(event);
    } else {
        assert_ptr_not_equal(event, kept);
    }
    return ITraceRelogger_Inject(relogger, event);
}
static ITraceEventCallbackVtbl table = {query, reference, reference, on_begin, on_end, on_event};
static ITraceEventCallback callback = {&table};

/* Reads the events of this test's log through ITraceRelogger. */
static unsigned records;
static EVENT_HEADER first;
static char first_data[8];
static HRESULT STDMETHODCALLTYPE read_event(ITraceEventCallback *face, ITraceEvent *event, ITraceRelogger *relogger)
{
    EVENT_RECORD *record;
    (void)face, (void)relogger;
    assert_int_equal(ITraceEvent_GetEventRecord(event, &record), S_OK);
    if (records++ == 0) {
        first = record->EventHeader;
        memcpy(first_data, record->UserData, record->UserDataLength < 8 ? record->UserDataLength : 8);
    }
    return S_OK;
}
static HRESULT STDMETHODCALLTYPE read_begin(ITraceEventCallback *face, ITraceEvent *event, ITraceRelogger *relogger)
{
    (void)face, (void)event, (void)relogger;
    return S_OK;
}
static ITraceEventCallbackVtbl reading_table = {query, reference, reference, read_begin, on_end, read_event};
static ITraceEventCallback reading = {&reading_table};

static ITraceRelogger *create(void)
{
    IClassFactory *factory;
    ITraceRelogger *relogger;
    assert_int_equal(get_class(&CLSID_CTraceRelogger, &IID_IClassFactory, (void **)&factory), S_OK);
    assert_int_equal(IClassFactory_CreateInstance(factory, NULL, &IID_ITraceRelogger, (void **)&relogger), S_OK);
    return relogger;
}

static HRESULT add(ITraceRelogger *relogger, const WCHAR *path)
{
    BSTR name = SysAllocString(path);
    const HRESULT hr = ITraceRelogger_AddLogfileTraceStream(relogger, name, &context, &stream);
    SysFreeString(name);
    return hr;
}

static void events_are_relogged(void **state)
{
    (void)state;
    ITraceRelogger *relogger = create();
    BSTR output = SysAllocString(L"relogged.etl");
    assert_int_equal(add(relogger, L"no such.etl"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(add(relogger, L"made.etl"), S_OK);
    assert_int_equal(ITraceRelogger_ProcessTrace(relogger), E_INVALIDARG); /* no callback */
    assert_int_equal(ITraceRelogger_RegisterCallback(relogger, NULL), E_POINTER);
    assert_int_equal(ITraceRelogger_RegisterCallback(relogger, &callback), S_OK);
    assert_int_equal(ITraceRelogger_SetOutputFilename(relogger, output), S_OK);
    assert_int_equal(ITraceRelogger_SetCompressionMode(relogger, FALSE), S_OK);
    assert_int_equal(ITraceRelogger_SetCompressionMode(relogger, TRUE), S_FALSE);
    assert_int_equal(ITraceRelogger_ProcessTrace(relogger), S_OK);
    assert_int_equal(begun, 1);
    assert_int_equal(ended, 1);
    assert_true(seen > 10);
    assert_int_equal(ITraceRelogger_Cancel(relogger), S_OK);
    assert_int_equal(ITraceRelogger_Release(relogger), 0);
    assert_int_equal(can_unload(), S_FALSE); /* an event object is still referenced */
    ITraceEvent *copy;
    assert_int_equal(ITraceEvent_Clone(kept, &copy), S_OK);
    assert_int_equal(ITraceEvent_Release(copy), 0);
    assert_int_equal(ITraceEvent_Release(kept), 0);
    assert_int_equal(can_unload(), S_OK);
    SysFreeString(output);

    relogger = create();
    assert_int_equal(add(relogger, L"relogged.etl"), S_OK);
    assert_int_equal(ITraceRelogger_RegisterCallback(relogger, &reading), S_OK);
    assert_int_equal(ITraceRelogger_ProcessTrace(relogger), S_OK);
    assert_int_equal(ITraceRelogger_Release(relogger), 0);
    assert_int_equal(records, seen + 1);
    assert_string_equal(first_data, "own");
    assert_int_equal(first.EventDescriptor.Id, 77);
    assert_int_equal(first.EventDescriptor.Keyword, 6);
    assert_int_equal(first.ProcessId, 11);
    assert_int_equal(first.ThreadId, 12);
    assert_int_equal(first.KernelTime, 13);
    assert_memory_equal(&first.ProviderId, &other, sizeof other);
    assert_memory_equal(&first.ActivityId, &other, sizeof other);
}

static void class_object_is_checked(void **state)
{
    (void)state;
    void *out = &out;
    assert_int_equal(get_class(&IID_IUnknown, &IID_IClassFactory, &out), CLASS_E_CLASSNOTAVAILABLE);
    assert_null(out);
    assert_int_equal(get_class(&CLSID_CTraceRelogger, &IID_ITraceEvent, &out), E_NOINTERFACE);
    assert_int_equal(get_class(&CLSID_CTraceRelogger, &IID_IClassFactory, NULL), E_POINTER);
}

/* Writes the bytes of a log of 20 classic events; ETW's functions would need a session. */
static int make_log(void **state)
{
    (void)state;
    HMODULE module = LoadLibraryExW(L"openetw.dll", NULL, LOAD_LIBRARY_SEARCH_APPLICATION_DIR);
    if (!module)
        return -1;
    get_class = (HRESULT(WINAPI *)(REFCLSID, REFIID, void **))(void *)GetProcAddress(module, "DllGetClassObject");
    can_unload = (HRESULT(WINAPI *)(void))(void *)GetProcAddress(module, "DllCanUnloadNow");
    return get_class && can_unload && make_relogger_log("made.etl") == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_object_is_checked),
        cmocka_unit_test(events_are_relogged),
    };
    return cmocka_run_group_tests(tests, make_log, NULL);
}
