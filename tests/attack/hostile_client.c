/* SPDX-License-Identifier: MIT */
/* hostile_client.exe ATTACK ...: a hostile client process of the server. It prints its results, one per line, which
   client.py checks.
     xml            sends strings that try to use up the server's memory or time
     objects N      creates and keeps N sets; then the process terminates without releasing them
     memory N       the same with a string of a million characters in each set
     half           calls methods of incomplete sets, and commits names that could lead outside the store
     make N         commits N sets "flood <i>"
     starts N       starts N of them at the same time on threads, and makes another call while the threads wait
     hello          commits, queries and deletes one set, like any client
   With other arguments it acts as a set host process that never reports: client.py sets OPENPLA_HOST to this file. */
#include "engine/base/wintypes.h"
#include "mspla.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <ole2.h>
#include <string.h>

static IDataCollectorSet *new_set(HRESULT *hr)
{
    IDataCollectorSet *set = NULL;
    *hr = CoCreateInstance(&CLSID_DataCollectorSet, NULL, CLSCTX_LOCAL_SERVER, &IID_IDataCollectorSet, (void **)&set);
    return set;
}

static void print_result(const char *what, HRESULT hr)
{
    printf("%s 0x%08lX\n", what, (unsigned long)hr);
    fflush(stdout);
}

static IDataCollectorSet *any_set(void)
{
    HRESULT hr;
    IDataCollectorSet *set = new_set(&hr);
    if (!set) {
        print_result("create", hr);
        exit(1);
    }
    return set;
}

/* ---- xml ---- */

static BSTR repeated(const char *begin, const char *what, size_t count, const char *end)
{
    size_t size = strlen(begin) + strlen(what) * count + strlen(end), at = 0;
    BSTR text = SysAllocStringLen(NULL, (UINT)size);
    if (!text)
        exit(2);
    for (const char *c = begin; *c; c++)
        text[at++] = (WCHAR)*c;
    for (size_t i = 0; i < count; i++)
        for (const char *c = what; *c; c++)
            text[at++] = (WCHAR)*c;
    for (const char *c = end; *c; c++)
        text[at++] = (WCHAR)*c;
    return text;
}

static void xml(void)
{
    static const struct {
        const char *name, *begin, *what;
        size_t count;
        const char *end;
    } bombs[] = {
        {"large", "<DataCollectorSet><Description>", "0123456789abcdef", 1200000, "</Description></DataCollectorSet>"},
        {"elements", "<DataCollectorSet>", "<a/>", 4000000, "</DataCollectorSet>"},
        {"deep", "", "<a>", 1000000, ""},
        {"attributes", "<DataCollectorSet ", "a='' ", 1000000, "/>"},
        {"laughs", "<!DOCTYPE b [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>", "", 0,
         "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><DataCollectorSet><Description>&c;</Description></DataCollectorSet>"},
        {"file", "<!DOCTYPE b [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><DataCollectorSet><Description>&a;", "", 0,
         "</Description></DataCollectorSet>"},
        {"references", "<DataCollectorSet><Description>", "&nothing;", 100000, "</Description></DataCollectorSet>"},
        {"collectors", "<DataCollectorSet>", "<PerformanceCounterDataCollector/>", 100000, "</DataCollectorSet>"},
        {"unclosed", "<DataCollectorSet><![CDATA[", "]]", 1000000, ""},
    };
    IDataCollectorSet *set = any_set();
    for (size_t i = 0; i < ARRAYSIZE(bombs); i++) {
        IValueMap *map = NULL;
        BSTR text = repeated(bombs[i].begin, bombs[i].what, bombs[i].count, bombs[i].end);
        print_result(bombs[i].name, IDataCollectorSet_SetXml(set, text, &map));
        SysFreeString(text);
        if (map)
            IValueMap_Release(map);
    }
    IDataCollectorSet_Release(set);
}

/* ---- objects ---- */

static void objects(int count)
{
    HRESULT hr = S_OK;
    int made = 0;
    while (made < count && new_set(&hr))
        made++;
    printf("made %d\n", made);
    print_result("last", hr);
    TerminateProcess(GetCurrentProcess(), 0);
}

static void texts(int count)
{
    HRESULT hr = S_OK;
    int made = 0;
    BSTR text = repeated("", "0123456789", 100000, "");
    for (IDataCollectorSet *set; made < count && (set = new_set(&hr)) != NULL; made++) {
        hr = IDataCollectorSet_put_Description(set, text);
        if (FAILED(hr))
            break;
    }
    printf("made %d\n", made);
    print_result("last", hr);
    TerminateProcess(GetCurrentProcess(), 0);
}

/* ---- incomplete sets and names ---- */

static HRESULT commit(IDataCollectorSet *set, const WCHAR *name, UINT length)
{
    IValueMap *map = NULL;
    BSTR text = SysAllocStringLen(name, length), server = SysAllocString(L"");
    HRESULT hr = IDataCollectorSet_Commit(set, text, server, plaCreateOrModify, &map);
    if (map)
        IValueMap_Release(map);
    SysFreeString(text);
    SysFreeString(server);
    return hr;
}

static void half(void)
{
#define NAME(text)                                                                                                     \
    {                                                                                                                  \
        L"" text, sizeof(L"" text) / sizeof(WCHAR) - 1                                                                 \
    }
    static const struct {
        const WCHAR *text;
        UINT length;
    } names[] = {NAME("..\\..\\outside"), NAME("Service\\..\\outside"), NAME("../outside"), NAME("\\\\?\\C:\\outside"),
                 NAME("C:outside"), NAME("name:stream"), NAME("before\0behind"), NAME(""), NAME("Service\\"), NAME("*"),
                 NAME("Nowhere\\set"), NAME("System\\outside"),
                 /* accepted, and stored in separate files: */
                 NAME("CON"), NAME("nul.txt"), NAME("COM1"), NAME(".."), NAME("."), NAME("trailing. "),
                 NAME("%2e%2e%5coutside"), NAME("store.lock"), NAME("$(calc)`calc`")};
    IDataCollectorSet *set = any_set();
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *collector = NULL;
    VARIANT index = {.vt = VT_I4};
    DataCollectorSetStatus status;
    BSTR text = NULL;
    V_I4(&index) = 99;
    print_result("start", IDataCollectorSet_Start(set, VARIANT_TRUE));
    print_result("stop", IDataCollectorSet_Stop(set, VARIANT_TRUE));
    print_result("delete", IDataCollectorSet_Delete(set));
    print_result("status", IDataCollectorSet_get_Status(set, &status));
    print_result("key", IDataCollectorSet_SetValue(set, NULL, NULL));
    print_result("no-xml", IDataCollectorSet_SetXml(set, NULL, NULL));
    print_result("collectors", IDataCollectorSet_get_DataCollectors(set, &collectors));
    print_result("item", IDataCollectorCollection_get_Item(collectors, index, &collector));
    print_result("remove", IDataCollectorCollection_Remove(collectors, index));
    print_result("add", IDataCollectorCollection_Add(collectors, (IDataCollector *)(void *)set));
    IDataCollectorSet_Release(set);
    /* Calls objects of a set that was released. */
    print_result("create", IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &collector));
    if (collector) {
        print_result("location", IDataCollector_get_OutputLocation(collector, &text));
        SysFreeString(text);
        IDataCollector_Release(collector);
    }
    IDataCollectorCollection_Release(collectors);
    for (size_t i = 0; i < ARRAYSIZE(names); i++) {
        char shown[40];
        set = any_set();
        snprintf(shown, sizeof shown, "name-%u", (unsigned)i);
        print_result(shown, commit(set, names[i].text, names[i].length));
        IDataCollectorSet_Release(set);
    }
}

/* ---- floods ---- */

static void flood_name(int i, WCHAR name[32])
{
    _snwprintf(name, 32, L"flood %d", i);
}

static void make(int count)
{
    for (int i = 0; i < count; i++) {
        WCHAR name[32];
        IDataCollectorSet *set = any_set();
        flood_name(i, name);
        print_result("commit", commit(set, name, (UINT)wcslen(name)));
        IDataCollectorSet_Release(set);
    }
}

static DWORD WINAPI start_one(void *number)
{
    WCHAR name[32];
    char what[32];
    BSTR server = SysAllocString(L"");
    CoInitializeEx(NULL, COINIT_MULTITHREADED);
    IDataCollectorSet *set = any_set();
    flood_name((int)(INT_PTR)number, name);
    BSTR text = SysAllocString(name);
    HRESULT hr = IDataCollectorSet_Query(set, text, server);
    if (SUCCEEDED(hr))
        hr = IDataCollectorSet_Start(set, VARIANT_TRUE);
    snprintf(what, sizeof what, "start-%d", (int)(INT_PTR)number);
    print_result(what, hr);
    SysFreeString(text);
    SysFreeString(server);
    return 0;
}

static void starts(int count)
{
    HANDLE threads[16];
    DataCollectorSetStatus status;
    IDataCollectorSet *set = any_set();
    for (int i = 0; i < count; i++) {
        threads[i] = CreateThread(NULL, 0, start_one, (void *)(INT_PTR)i, 0, NULL);
        Sleep(1000); /* until the thread waits, so that the calls arrive one after the other */
    }
    print_result("meanwhile", IDataCollectorSet_get_Status(set, &status));
    WaitForMultipleObjects((DWORD)count, threads, TRUE, INFINITE);
    print_result("afterwards", IDataCollectorSet_get_Status(set, &status));
    IDataCollectorSet_Release(set);
}

static void hello(void)
{
    IDataCollectorSet *set = any_set();
    BSTR name = SysAllocString(L"hello"), server = SysAllocString(L"");
    print_result("commit", commit(set, L"hello", 5));
    print_result("query", IDataCollectorSet_Query(set, name, server));
    print_result("delete", IDataCollectorSet_Delete(set));
    IDataCollectorSet_Release(set);
    SysFreeString(name);
    SysFreeString(server);
}

int main(int argc, char **argv)
{
    if (argc > 3) {
        Sleep(INFINITE);
        return 0;
    }
    const char *attack = argc > 1 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    if (FAILED(CoInitializeEx(NULL, COINIT_MULTITHREADED)))
        return 1;
    if (!strcmp(attack, "xml"))
        xml();
    else if (!strcmp(attack, "objects"))
        objects(count);
    else if (!strcmp(attack, "memory"))
        texts(count);
    else if (!strcmp(attack, "half"))
        half();
    else if (!strcmp(attack, "make"))
        make(count);
    else if (!strcmp(attack, "starts") && count <= 16)
        starts(count);
    else if (!strcmp(attack, "hello"))
        hello();
    else
        return 2;
    puts("Done.");
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 0); /* its references remain, as for any client that crashes */
    return 0;
}
