/* SPDX-License-Identifier: MIT */
/* Connects to the server, and prints its errors. */
#include "examples/connection.h"

#include <stdio.h>

static void say_failed(const char *step, HRESULT hr, const WCHAR *words)
{
    printf("FAILED: %s: 0x%08lX %ls\n", step, (unsigned long)hr, words ? words : L"");
}

BOOL failed(HRESULT hr, const char *step)
{
    IErrorInfo *info = NULL;
    BSTR words = NULL;
    if (SUCCEEDED(hr))
        return FALSE;
    if (GetErrorInfo(0, &info) == S_OK) {
        IErrorInfo_GetDescription(info, &words);
        IErrorInfo_Release(info);
    }
    say_failed(step, hr, words);
    SysFreeString(words);
    return TRUE;
}

HRESULT create_set(const WCHAR *machine, IDataCollectorSet **set)
{
    COSERVERINFO server = {.pwszName = (WCHAR *)machine};
    MULTI_QI query = {.pIID = &IID_IDataCollectorSet};
    BOOL remote = machine && machine[0];
    HRESULT hr = CoCreateInstanceEx(&CLSID_DataCollectorSet, NULL, remote ? CLSCTX_REMOTE_SERVER : CLSCTX_LOCAL_SERVER,
                                    remote ? &server : NULL, 1, &query);
    *set = SUCCEEDED(hr) ? (IDataCollectorSet *)query.pItf : NULL;
    return hr;
}

HRESULT commit_set(IDataCollectorSet *set, const WCHAR *name, CommitMode mode)
{
    BSTR text = SysAllocString(name);
    IValueMap *map = NULL;
    HRESULT hr = IDataCollectorSet_Commit(set, text, NULL, mode, &map);
    LONG count = 0;
    SysFreeString(text);
    if (SUCCEEDED(hr) && map) {
        IValueMap_get_Count(map, &count);
        for (VARIANT i = {.vt = VT_I4}; V_I4(&i) < count; V_I4(&i)++) {
            IValueMapItem *item;
            BSTR key = NULL, words = NULL;
            if (FAILED(IValueMap_get_Item(map, i, &item)))
                continue;
            IValueMapItem_get_Key(item, &key);
            IValueMapItem_get_Description(item, &words);
            printf("  note: %ls: %ls\n", key, words);
            SysFreeString(key);
            SysFreeString(words);
            IValueMapItem_Release(item);
        }
        IValueMap_Release(map);
    }
    return hr;
}

HRESULT start_set(IDataCollectorSet *set)
{
    VARIANT synchronous = {.vt = VT_BOOL, .boolVal = VARIANT_TRUE};
    DISPPARAMS arguments = {.rgvarg = &synchronous, .cArgs = 1};
    WCHAR name[] = L"Start", *names = name;
    EXCEPINFO exception = {0};
    DISPID id;
    HRESULT hr = IDataCollectorSet_GetIDsOfNames(set, &IID_NULL, &names, 1, LOCALE_USER_DEFAULT, &id);
    if (SUCCEEDED(hr))
        hr = IDataCollectorSet_Invoke(set, id, &IID_NULL, LOCALE_USER_DEFAULT, DISPATCH_METHOD, &arguments, NULL,
                                      &exception, NULL);
    if (hr == DISP_E_EXCEPTION)
        hr = exception.scode;
    if (FAILED(hr))
        say_failed("Start", hr, exception.bstrDescription);
    SysFreeString(exception.bstrSource);
    SysFreeString(exception.bstrDescription);
    SysFreeString(exception.bstrHelpFile);
    return hr;
}

BSTR latest_output(IDataCollectorSet *set, const WCHAR *name)
{
    BSTR text = SysAllocString(name), path = NULL;
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *collector = NULL;
    VARIANT first = {.vt = VT_I4};
    if (failed(IDataCollectorSet_Query(set, text, NULL), "Query") ||
        failed(IDataCollectorSet_get_DataCollectors(set, &collectors), "DataCollectors") ||
        failed(IDataCollectorCollection_get_Item(collectors, first, &collector), "Item") ||
        failed(IDataCollector_get_LatestOutputLocation(collector, &path), "LatestOutputLocation"))
        path = NULL;
    SysFreeString(text);
    if (collector)
        IDataCollector_Release(collector);
    if (collectors)
        IDataCollectorCollection_Release(collectors);
    return path;
}
