/* SPDX-License-Identifier: MIT */
/* How the tests create and use COM objects, in process or in the server. */
#include "tests/com/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define MANIFEST_RESOURCE 2 /* in objects.rc; resource 1 would apply to the whole program */

bool in_process, own_store;
char said[2048];

static HANDLE context = INVALID_HANDLE_VALUE;
static ULONG_PTR cookie;
static WCHAR data_folder[MAX_PATH];

static bool complain(const char *what)
{
    fprintf(stderr, "%s: error %lu\n", what, GetLastError());
    return false;
}

static bool begin_in_process(void)
{
    WCHAR program[MAX_PATH], temporary[MAX_PATH];
    ACTCTXW manifest = {.cbSize = sizeof(manifest),
                        .dwFlags = ACTCTX_FLAG_RESOURCE_NAME_VALID,
                        .lpSource = program,
                        .lpResourceName = MAKEINTRESOURCEW(MANIFEST_RESOURCE)};
    GetModuleFileNameW(NULL, program, MAX_PATH);
    context = CreateActCtxW(&manifest);
    if (context == INVALID_HANDLE_VALUE || !ActivateActCtx(context, &cookie))
        return complain("the manifest");
    if (!GetTempPathW(MAX_PATH, temporary))
        return complain("GetTempPath");
    /* Process ids are reused, and an earlier folder may contain a file that could not be removed. */
    _snwprintf(data_folder, MAX_PATH, L"%lsopenpla-test-%lu-%lx", temporary, GetCurrentProcessId(), GetTickCount());
    if (!CreateDirectoryW(data_folder, NULL))
        return complain("CreateDirectory");
    return !_wputenv_s(L"OPENPLA_DATA", data_folder);
}

int client_way_of(int argc, char **argv)
{
    static const char *const ways[] = {"in-process", "facade", "local-server"};
    for (int i = 0; argc == 2 && i < 3; i++)
        if (!strcmp(argv[1], ways[i]))
            return i;
    fprintf(stderr, "usage: %s in-process|facade|local-server\n", argv[0]);
    return -1;
}

bool client_begin(enum client_way way)
{
    in_process = way != CLIENT_LOCAL_SERVER;
    own_store = way == CLIENT_IN_PROCESS;
    if (own_store && !begin_in_process())
        return false;
    return SUCCEEDED(CoInitializeEx(NULL, COINIT_MULTITHREADED)) || complain("CoInitializeEx");
}

static bool module_is_unused(void)
{
    HMODULE module = GetModuleHandleW(L"openpla.dll");
    HRESULT(WINAPI * can_unload)(void) = NULL;

    if (module)
        can_unload = (HRESULT(WINAPI *)(void))(void (*)(void))GetProcAddress(module, "DllCanUnloadNow");
    if (!can_unload)
        return complain("DllCanUnloadNow");
    if (can_unload() == S_OK)
        return true;
    fprintf(stderr, "objects are left: DllCanUnloadNow says no\n");
    return false;
}

void remove_tree(const WCHAR *folder)
{
    WCHAR path[MAX_PATH];
    WIN32_FIND_DATAW found;
    _snwprintf(path, MAX_PATH, L"%ls\\*", folder);
    HANDLE find = FindFirstFileW(path, &found);
    if (find == INVALID_HANDLE_VALUE)
        return;
    do {
        if (!wcscmp(found.cFileName, L".") || !wcscmp(found.cFileName, L".."))
            continue;
        _snwprintf(path, MAX_PATH, L"%ls\\%ls", folder, found.cFileName);
        if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            remove_tree(path);
        else
            DeleteFileW(path);
    } while (FindNextFileW(find, &found));
    FindClose(find);
    RemoveDirectoryW(folder);
}

bool client_end(void)
{
    bool ok = true;
    SetErrorInfo(0, NULL);
    if (in_process)
        ok = module_is_unused();
    if (own_store) {
        /* A set host process that is about to exit can still have the store's lock open. */
        for (int i = 0; i < 40 && GetFileAttributesW(data_folder) != INVALID_FILE_ATTRIBUTES; i++) {
            remove_tree(data_folder);
            Sleep(i ? 50 : 0);
        }
    }
    CoUninitialize();
    if (own_store)
        DeactivateActCtx(0, cookie);
    return ok;
}

static __thread ULONG_PTR thread_cookie;

void client_thread_begin(DWORD apartment)
{
    if (own_store)
        ActivateActCtx(context, &thread_cookie);
    CoInitializeEx(NULL, apartment);
}

void client_thread_end(void)
{
    SetErrorInfo(0, NULL);
    CoUninitialize();
    if (own_store)
        DeactivateActCtx(0, thread_cookie);
}

/* ---- objects ---- */

void *create(REFCLSID class_id, REFIID iid)
{
    void *object = NULL;
    DWORD where = !in_process ? CLSCTX_LOCAL_SERVER : own_store ? CLSCTX_INPROC_SERVER : CLSCTX_ALL;
    assert_ok(CoCreateInstance(class_id, NULL, where, iid, &object));
    assert_non_null(object);
    return object;
}

IDataCollectorSet *new_set(void)
{
    return create(&CLSID_DataCollectorSet, &IID_IDataCollectorSet);
}

IDataCollectorCollection *collectors_of(IDataCollectorSet *set)
{
    IDataCollectorCollection *collectors = NULL;
    assert_ok(IDataCollectorSet_get_DataCollectors(set, &collectors));
    return collectors;
}

IPerformanceCounterDataCollector *new_collector(IDataCollectorSet *set, const WCHAR *name)
{
    static const WCHAR *const counters[] = {L"\\Memory\\Available MBytes"};
    IDataCollectorCollection *collectors = collectors_of(set);
    IPerformanceCounterDataCollector *collector = NULL;
    SAFEARRAY *array = text_array(VT_BSTR, counters, 1);
    IDataCollector *plain;
    BSTR text = SysAllocString(name);
    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &plain));
    assert_ok(IDataCollector_QueryInterface(plain, &IID_IPerformanceCounterDataCollector, (void **)&collector));
    assert_ok(IPerformanceCounterDataCollector_put_Name(collector, text));
    assert_ok(IPerformanceCounterDataCollector_put_PerformanceCounters(collector, array));
    SafeArrayDestroy(array);
    SysFreeString(text);
    release(plain);
    release(collectors);
    return collector;
}

IPerformanceCounterDataCollector *added_collector(IDataCollectorSet *set, const WCHAR *name)
{
    IPerformanceCounterDataCollector *collector = new_collector(set, name);
    IDataCollectorCollection *collectors = collectors_of(set);
    assert_ok(IDataCollectorCollection_Add(collectors, (IDataCollector *)collector));
    release(collectors);
    return collector;
}

IValueMap *new_map(void)
{
    IDataCollectorSet *set = new_set();
    BSTR xml = SysAllocString(L"<DataCollectorSet/>");
    IValueMap *map = NULL;
    assert_ok(IDataCollectorSet_SetXml(set, xml, &map));
    SysFreeString(xml);
    release(set);
    return map;
}

IValueMapItem *new_item(IValueMap *map, const WCHAR *key, const VARIANT *value)
{
    IValueMapItem *item = NULL;
    BSTR text = SysAllocString(key);
    assert_ok(IValueMap_CreateValueMapItem(map, &item));
    assert_ok(IValueMapItem_put_Key(item, text));
    assert_ok(IValueMapItem_put_Value(item, *value));
    SysFreeString(text);
    return item;
}

/* The names of the committed sets, without duplicates. */
static WCHAR committed[64][128];
static unsigned committed_count;

HRESULT commit(IDataCollectorSet *set, const WCHAR *name, LONG mode, IValueMap **issues)
{
    BSTR text = SysAllocString(name);
    IValueMap *map = NULL;
    HRESULT hr = heard(IDataCollectorSet_Commit(set, text, NULL, (CommitMode)mode, &map));
    unsigned i;
    SysFreeString(text);
    for (i = 0; i < committed_count && wcscmp(committed[i], name) != 0; i++)
        ;
    if (i == committed_count && SUCCEEDED(hr) && committed_count < 64)
        wcsncpy(committed[committed_count++], name, 127);
    if (issues)
        *issues = map;
    else
        release(map);
    return hr;
}

void delete_test_sets(void)
{
    while (committed_count) {
        IDataCollectorSet *set = new_set();
        BSTR name = SysAllocString(committed[--committed_count]);
        if (SUCCEEDED(IDataCollectorSet_Query(set, name, NULL))) {
            DataCollectorSetStatus status = plaStopped;
            if (SUCCEEDED(IDataCollectorSet_get_Status(set, &status)) && status != plaStopped)
                IDataCollectorSet_Stop(set, VARIANT_TRUE);
            IDataCollectorSet_Delete(set);
        }
        SysFreeString(name);
        release(set);
    }
}

void release(void *object)
{
    if (object)
        IUnknown_Release((IUnknown *)object);
}

/* ---- errors ---- */

static void keep_text(BSTR text)
{
    said[0] = 0;
    if (text)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, said, sizeof(said), NULL, NULL);
    said[sizeof(said) - 1] = 0;
    SysFreeString(text);
}

HRESULT heard(HRESULT hr)
{
    IErrorInfo *info = NULL;
    BSTR text = NULL;
    if (GetErrorInfo(0, &info) == S_OK) {
        IErrorInfo_GetDescription(info, &text);
        IErrorInfo_Release(info);
    }
    keep_text(text);
    return hr;
}

void assert_message_(const char *part, const char *file, int line)
{
    if (!strstr(said, part)) {
        print_error("the error text '%s' does not say '%s'\n", said, part);
        _fail(file, line);
    }
}

void assert_hr_(HRESULT hr, HRESULT expected, const char *call, const char *file, int line)
{
    if (hr != expected) {
        print_error("%s: 0x%08lX, not 0x%08lX; last error text: %s\n", call, (unsigned long)hr, (unsigned long)expected,
                    said);
        _fail(file, line);
    }
}

/* ---- late-bound calls ---- */

HRESULT invoke_id(void *object, DISPID id, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count)
{
    static DISPID put_id = DISPID_PROPERTYPUT;
    VARIANT reversed[8];
    DISPPARAMS params = {.rgvarg = reversed, .cArgs = count};
    EXCEPINFO exception = {0};
    UINT bad = 0, i;
    HRESULT hr;
    for (i = 0; i < count; i++)
        reversed[count - 1 - i] = arguments[i];
    if (flags & (DISPATCH_PROPERTYPUT | DISPATCH_PROPERTYPUTREF)) {
        params.rgdispidNamedArgs = &put_id;
        params.cNamedArgs = 1;
    }
    if (result)
        VariantInit(result);
    hr = IDispatch_Invoke((IDispatch *)object, id, &IID_NULL, LOCALE_USER_DEFAULT, flags, &params, result, &exception,
                          &bad);
    if (exception.pfnDeferredFillIn)
        exception.pfnDeferredFillIn(&exception);
    keep_text(exception.bstrDescription);
    SysFreeString(exception.bstrSource);
    SysFreeString(exception.bstrHelpFile);
    return hr == DISP_E_EXCEPTION ? exception.scode : hr;
}

HRESULT invoke(void *object, const WCHAR *name, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count)
{
    WCHAR *names[] = {(WCHAR *)name};
    DISPID id;
    HRESULT hr = IDispatch_GetIDsOfNames((IDispatch *)object, &IID_NULL, names, 1, LOCALE_USER_DEFAULT, &id);
    if (result)
        VariantInit(result);
    return FAILED(hr) ? hr : invoke_id(object, id, flags, result, arguments, count);
}

HRESULT get(void *object, const WCHAR *name, VARIANT *result)
{
    return invoke(object, name, DISPATCH_PROPERTYGET, result, NULL, 0);
}

HRESULT put(void *object, const WCHAR *name, VARIANT value)
{
    HRESULT hr = invoke(object, name, DISPATCH_PROPERTYPUT, NULL, &value, 1);
    VariantClear(&value);
    return hr;
}

HRESULT call(void *object, const WCHAR *method)
{
    return invoke(object, method, DISPATCH_METHOD, NULL, NULL, 0);
}

bool text_is(void *object, const WCHAR *name, const WCHAR *expected)
{
    VARIANT v;
    assert_ok(get(object, name, &v));
    assert_int_equal(V_VT(&v), VT_BSTR);
    return bstr_is(V_BSTR(&v), expected);
}

ULONG number_of(void *object, const WCHAR *name)
{
    VARIANT v;
    assert_ok(get(object, name, &v));
    assert_true(V_VT(&v) == VT_I4 || V_VT(&v) == VT_UI4 || V_VT(&v) == VT_UI8 || V_VT(&v) == VT_BOOL);
    return V_VT(&v) == VT_BOOL ? V_BOOL(&v) != 0 : V_UI4(&v);
}

void *member(void *object, const WCHAR *name)
{
    VARIANT v;
    assert_ok(invoke(object, name, DISPATCH_PROPERTYGET | DISPATCH_METHOD, &v, NULL, 0));
    assert_int_equal(V_VT(&v), VT_DISPATCH);
    assert_non_null(V_DISPATCH(&v));
    return V_DISPATCH(&v);
}

void *item_at(void *collection, LONG index)
{
    VARIANT at = of_long(index), v;
    assert_ok(invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, &at, 1));
    assert_int_equal(V_VT(&v), VT_DISPATCH);
    return V_DISPATCH(&v);
}

void *named_collector(IDataCollectorSet *set, LONG type, const WCHAR *name)
{
    static const IID *const ids[] = {&IID_IPerformanceCounterDataCollector, &IID_ITraceDataCollector,
                                     &IID_IConfigurationDataCollector, &IID_IAlertDataCollector,
                                     &IID_IApiTracingDataCollector};
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *plain;
    void *collector;
    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, (DataCollectorType)type, &plain));
    assert_ok(IDataCollector_QueryInterface(plain, ids[type], &collector));
    assert_ok(put(collector, L"Name", of_text(name)));
    release(plain);
    release(collectors);
    return collector;
}

/* Returns whether the map contains an item with this key and value. If `key` is NULL, prints every item. */
static bool walk_map(void *map, const WCHAR *key, HRESULT value)
{
    bool found = false;
    for (LONG i = 0; i < (LONG)number_of(map, L"Count"); i++) {
        IDispatch *item = item_at(map, i);
        HRESULT says = (HRESULT)number_of(item, L"Value");
        VARIANT v;
        assert_ok(get(item, L"Key", &v));
        if (!key)
            print_error("%ls 0x%08lX\n", V_BSTR(&v), (unsigned long)says);
        else if (!wcscmp(V_BSTR(&v), key) && says == value)
            found = true;
        VariantClear(&v);
        release(item);
    }
    return found;
}

bool map_says(void *map, const WCHAR *key, HRESULT value)
{
    return walk_map(map, key, value);
}

void print_map(void *map)
{
    walk_map(map, NULL, 0);
}

/* ---- values ---- */

VARIANT of_long(LONG n)
{
    VARIANT v;
    V_VT(&v) = VT_I4;
    V_I4(&v) = n;
    return v;
}

VARIANT of_text(const WCHAR *text)
{
    VARIANT v;
    V_VT(&v) = VT_BSTR;
    V_BSTR(&v) = SysAllocString(text);
    return v;
}

VARIANT of_object(void *object)
{
    VARIANT v;
    V_VT(&v) = VT_DISPATCH;
    V_DISPATCH(&v) = object;
    IDispatch_AddRef((IDispatch *)object);
    return v;
}

SAFEARRAY *text_array(VARTYPE type, const WCHAR *const *texts, UINT count)
{
    SAFEARRAY *array = SafeArrayCreateVector(type, 0, count);
    for (LONG i = 0; i < (LONG)count; i++) {
        VARIANT v = of_text(texts[i]);
        SafeArrayPutElement(array, &i, type == VT_VARIANT ? (void *)&v : (void *)V_BSTR(&v));
        VariantClear(&v);
    }
    return array;
}

VARIANT of_array(VARTYPE type, const WCHAR *const *texts, UINT count)
{
    VARIANT v;
    V_VT(&v) = VT_ARRAY | type;
    V_ARRAY(&v) = text_array(type, texts, count);
    return v;
}

bool array_is(SAFEARRAY *array, const WCHAR *const *texts, UINT count)
{
    VARTYPE type = VT_EMPTY;
    LONG low = 0, high = -1;
    if (!array || FAILED(SafeArrayGetVartype(array, &type)) || type != VT_BSTR ||
        FAILED(SafeArrayGetLBound(array, 1, &low)) || FAILED(SafeArrayGetUBound(array, 1, &high)))
        return false;
    bool same = high - low + 1 == (LONG)count;
    for (LONG i = 0; same && i < (LONG)count; i++) {
        LONG at = low + i;
        BSTR text = NULL;
        same = SUCCEEDED(SafeArrayGetElement(array, &at, &text)) && bstr_is(text, texts[i]);
    }
    return same;
}

bool bstr_has(BSTR text, const WCHAR *part)
{
    bool has = text && wcsstr(text, part);
    SysFreeString(text);
    return has;
}

bool bstr_is(BSTR text, const WCHAR *expected)
{
    bool same = text && SysStringLen(text) == wcslen(expected) && !wcscmp(text, expected);
    if (!same)
        print_error("'%ls' is not '%ls'\n", text ? text : L"(NULL)", expected);
    SysFreeString(text);
    return same;
}

BSTR xml_of(IDataCollectorSet *set)
{
    BSTR xml = NULL;
    assert_ok(IDataCollectorSet_get_Xml(set, &xml));
    assert_non_null(xml);
    return xml;
}
