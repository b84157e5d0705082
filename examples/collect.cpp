/* SPDX-License-Identifier: MIT */
/* The job of collect.vbs in C++, with pointers that release what they point to: makes a set, lets it collect counters
   for some seconds, stops it and names its log. collect_cpp [set name] [seconds] Visual C++ has such pointers by
   `#import "openpla.dll"`, which needs nothing of ours but that file. */
#include "mspla.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

namespace
{

/* One reference to an object. */
template <class T> class pointer
{
  public:
    pointer() = default;
    pointer(const pointer &) = delete;
    pointer &operator=(const pointer &) = delete;
    ~pointer()
    {
        if (object)
            object->Release();
    }
    T *operator->() const
    {
        return object;
    }
    T *get() const
    {
        return object;
    }
    T **out() /* for a function that gives an object; once */
    {
        return &object;
    }
    template <class Other> HRESULT as(pointer<Other> &other) const
    {
        return object->QueryInterface(__uuidof(Other), reinterpret_cast<void **>(other.out()));
    }

  private:
    T *object = nullptr;
};

/* A text as COM has it. */
class text
{
  public:
    text() = default;
    explicit text(const wchar_t *from) : bstr(SysAllocString(from))
    {
    }
    text(const text &) = delete;
    text &operator=(const text &) = delete;
    ~text()
    {
        SysFreeString(bstr);
    }
    operator BSTR() const
    {
        return bstr;
    }
    BSTR *out()
    {
        return &bstr;
    }

  private:
    BSTR bstr = nullptr;
};

/* The paths of counters as the array that servers take. */
class paths
{
  public:
    explicit paths(const wchar_t *const *all, ULONG count) : array(SafeArrayCreateVector(VT_BSTR, 0, count))
    {
        for (LONG i = 0; array && i < static_cast<LONG>(count); i++)
            if (FAILED(SafeArrayPutElement(array, &i, text(all[i]))))
                destroy();
    }
    paths(const paths &) = delete;
    paths &operator=(const paths &) = delete;
    ~paths()
    {
        destroy();
    }
    SAFEARRAY *get() const
    {
        return array;
    }

  private:
    void destroy()
    {
        SafeArrayDestroy(array);
        array = nullptr;
    }
    SAFEARRAY *array;
};

/* Says which step failed, with the server's words if there are any. */
bool done(HRESULT hr, const char *step)
{
    if (SUCCEEDED(hr))
        return true;
    pointer<IErrorInfo> info;
    text words;
    if (GetErrorInfo(0, info.out()) == S_OK)
        info->GetDescription(words.out());
    printf("FAILED: %s: 0x%08lX %ls\n", step, static_cast<unsigned long>(hr), words ? static_cast<BSTR>(words) : L"");
    return false;
}

bool add_counters(IDataCollectorSet *set)
{
    static const wchar_t *const counters[] = {L"\\Processor(_Total)\\% Processor Time", L"\\Memory\\Available MBytes",
                                              L"\\System\\Processes"};
    pointer<IDataCollectorCollection> collectors;
    pointer<IDataCollector> plain;
    pointer<IPerformanceCounterDataCollector> collector;
    const paths wanted(counters, ARRAYSIZE(counters));
    return done(set->get_DataCollectors(collectors.out()), "DataCollectors") &&
           done(collectors->CreateDataCollector(plaPerformanceCounter, plain.out()), "CreateDataCollector") &&
           done(plain.as(collector), "IPerformanceCounterDataCollector") &&
           done(collector->put_Name(text(L"Counters")), "Name") &&
           done(collector->put_FileName(text(L"Counters")), "FileName") &&
           done(collector->put_LogFileFormat(plaCommaSeparated), "LogFileFormat") &&
           done(collector->put_LogOverwrite(VARIANT_TRUE), "LogOverwrite") &&
           done(collector->put_SampleInterval(1), "SampleInterval") &&
           done(wanted.get() ? collector->put_PerformanceCounters(wanted.get()) : E_OUTOFMEMORY,
                "PerformanceCounters") &&
           done(collectors->Add(plain.get()), "Add");
}

bool show_log(IDataCollectorSet *set, const wchar_t *name)
{
    pointer<IDataCollectorCollection> collectors;
    pointer<IDataCollector> collector;
    VARIANT first = {};
    text log;
    first.vt = VT_I4;
    if (!done(set->Query(text(name), nullptr), "Query") ||
        !done(set->get_DataCollectors(collectors.out()), "DataCollectors") ||
        !done(collectors->get_Item(first, collector.out()), "Item") ||
        !done(collector->get_LatestOutputLocation(log.out()), "LatestOutputLocation"))
        return false;
    printf("Log: %ls\n", static_cast<BSTR>(log));
    return true;
}

bool collect(const wchar_t *name, ULONG seconds)
{
    pointer<IDataCollectorSet> set;
    pointer<IValueMap> issues;
    LONG count = 0;
    if (!done(CoCreateInstance(__uuidof(DataCollectorSet), nullptr, CLSCTX_SERVER, __uuidof(IDataCollectorSet),
                               reinterpret_cast<void **>(set.out())),
              "CoCreateInstance") ||
        !add_counters(set.get()) ||
        !done(set->Commit(text(name), nullptr, plaCreateOrModify, issues.out()), "Commit") ||
        !done(issues->get_Count(&count), "Count"))
        return false;
    printf("Committed: %ls (%ld issues)\n", name, count);
    if (!done(set->Start(VARIANT_TRUE), "Start"))
        return false;
    puts("Started");
    Sleep(seconds * 1000);
    return done(set->Stop(VARIANT_TRUE), "Stop") && show_log(set.get(), name);
}

} // namespace

int wmain(int argc, wchar_t **argv)
{
    const ULONG seconds = argc > 2 ? wcstoul(argv[2], nullptr, 10) : 6;
    if (argc > 3 || !seconds || seconds > 3600) {
        puts("usage: collect_cpp [set name] [seconds, 1 to 3600]");
        return 2;
    }
    if (!done(CoInitializeEx(nullptr, COINIT_MULTITHREADED), "CoInitializeEx"))
        return 1;
    const bool ok = collect(argc > 1 ? argv[1] : L"DemoCpp", seconds);
    CoUninitialize();
    if (ok)
        puts("Done.");
    return ok ? 0 : 1;
}
