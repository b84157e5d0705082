/* SPDX-License-Identifier: MIT */
/* bench_com: measures the cost of COM calls, in a prefix where OpenPLA is registered (wine bench_com.exe):
   - a property read: in process in nanoseconds; out of process as a ratio to an empty method with the same signature
     behind the same proxy, in a server that does nothing else;
   - a script of 1,000 reads and a Commit, through the object that scripts get, as a ratio to the server's object;
   - a list of all stored sets, for a script, for example with bench_store's sets in the store.
   wine bench_com.exe lists: only the lists. */
#include "mspla.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <ole2.h>
#include <string.h>

typedef IPerformanceCounterDataCollector collector;

static double now(void)
{
    LARGE_INTEGER t, f;
    QueryPerformanceCounter(&t);
    QueryPerformanceFrequency(&f);
    return (double)t.QuadPart / (double)f.QuadPart;
}

static int failed(const char *what, HRESULT hr)
{
    if (FAILED(hr))
        printf("%s: 0x%08lx\n", what, hr);
    return FAILED(hr);
}

/* ---- the peer: one object whose get_SampleInterval returns a constant ---- */

static HRESULT STDMETHODCALLTYPE peer_query(collector *This, REFIID iid, void **out)
{
    *out = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IPerformanceCounterDataCollector) ? This : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE peer_count(collector *This)
{
    (void)This;
    return 2;
}

static HRESULT STDMETHODCALLTYPE peer_get(collector *This, ULONG *out)
{
    (void)This;
    *out = 15;
    return S_OK;
}

static IPerformanceCounterDataCollectorVtbl peer_vtable = {
    .QueryInterface = peer_query, .AddRef = peer_count, .Release = peer_count, .get_SampleInterval = peer_get};
static collector peer = {&peer_vtable};

/* Writes the marshalled peer into the file and serves it until the file is deleted. */
static int serve(const char *path)
{
    IStream *stream;
    HGLOBAL memory;
    DWORD written;
    if (failed("stream", CreateStreamOnHGlobal(NULL, TRUE, &stream)) ||
        failed("marshal", CoMarshalInterface(stream, &IID_IPerformanceCounterDataCollector, (IUnknown *)&peer,
                                             MSHCTX_LOCAL, NULL, MSHLFLAGS_NORMAL)) ||
        failed("stream", GetHGlobalFromStream(stream, &memory)))
        return 1;
    char part[MAX_PATH + 8];
    snprintf(part, sizeof part, "%s.new", path);
    HANDLE f = CreateFileA(part, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    WriteFile(f, GlobalLock(memory), (DWORD)GlobalSize(memory), &written, NULL);
    CloseHandle(f);
    MoveFileA(part, path);
    while (GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES)
        Sleep(100);
    return 0;
}

static collector *connect_peer(const char *path)
{
    char data[4096];
    DWORD size = 0;
    HANDLE f = INVALID_HANDLE_VALUE;
    for (int i = 0; i < 100 && f == INVALID_HANDLE_VALUE; i++) {
        Sleep(100);
        f = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    }
    if (f == INVALID_HANDLE_VALUE || !ReadFile(f, data, sizeof data, &size, NULL))
        return NULL;
    CloseHandle(f);
    IStream *stream;
    collector *c = NULL;
    LARGE_INTEGER start = {.QuadPart = 0};
    if (failed("stream", CreateStreamOnHGlobal(NULL, TRUE, &stream)))
        return NULL;
    IStream_Write(stream, data, size, NULL);
    IStream_Seek(stream, start, STREAM_SEEK_SET, NULL);
    failed("unmarshal", CoUnmarshalInterface(stream, &IID_IPerformanceCounterDataCollector, (void **)&c));
    return c;
}

/* ---- the measured calls ---- */

static collector *new_collector(IDataCollectorSet *set)
{
    IDataCollectorCollection *collectors = NULL;
    IDataCollector *any = NULL;
    collector *c = NULL;
    if (!failed("DataCollectors", IDataCollectorSet_get_DataCollectors(set, &collectors)) &&
        !failed("CreateDataCollector",
                IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &any)))
        failed("QueryInterface",
               IDataCollector_QueryInterface(any, &IID_IPerformanceCounterDataCollector, (void **)&c));
    return c;
}

static IDataCollectorSet *create_in_process(void)
{
    HMODULE module = LoadLibraryW(L"openpla.dll");
    union {
        FARPROC address;
        HRESULT(WINAPI *get)(REFCLSID, REFIID, void **);
    } entry = {module ? GetProcAddress(module, "DllGetClassObject") : NULL};
    IClassFactory *factory;
    IDataCollectorSet *set = NULL;
    if (entry.get && !failed("class", entry.get(&CLSID_DataCollectorSet, &IID_IClassFactory, (void **)&factory)))
        failed("create", IClassFactory_CreateInstance(factory, NULL, &IID_IDataCollectorSet, (void **)&set));
    return set;
}

static double seconds_per_get(collector *c, int count)
{
    ULONG n = 0;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        double start = now();
        for (int i = 0; i < count; i++)
            IPerformanceCounterDataCollector_get_SampleInterval(c, &n);
        double t = (now() - start) / count;
        best = t < best ? t : best;
    }
    if (n != 15)
        printf("SampleInterval is %lu, not 15\n", n);
    return best;
}

/* Measures what a script does: it reads by name, and looks up the name each time. Returns the best of several rounds,
   after one that starts the server. */
static double seconds_per_script(DWORD where, int gets, bool commits)
{
    static WCHAR description[] = L"Description";
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        IDataCollectorSet *set = NULL;
        IValueMap *issues = NULL;
        BSTR name = SysAllocString(L"bench-com-script");
        double start = now();
        if (failed("CoCreateInstance",
                   CoCreateInstance(&CLSID_DataCollectorSet, NULL, where, &IID_IDataCollectorSet, (void **)&set)))
            return best;
        for (int i = 0; i < gets; i++) {
            WCHAR *names[] = {description};
            DISPPARAMS none = {0};
            DISPID id;
            VARIANT v;
            IDataCollectorSet_GetIDsOfNames(set, &IID_NULL, names, 1, LOCALE_USER_DEFAULT, &id);
            VariantInit(&v);
            IDataCollectorSet_Invoke(set, id, &IID_NULL, LOCALE_USER_DEFAULT, DISPATCH_PROPERTYGET, &none, &v, NULL,
                                     NULL);
            VariantClear(&v);
        }
        if (commits && !failed("Commit", IDataCollectorSet_Commit(set, name, NULL, plaCreateOrModify, &issues)))
            IValueMap_Release(issues);
        double t = now() - start;
        if (commits)
            failed("Delete", IDataCollectorSet_Delete(set));
        IDataCollectorSet_Release(set);
        SysFreeString(name);
        best = round && t < best ? t : best;
    }
    return best;
}

static void compare_scripts(const char *what, int gets, bool commits)
{
    double with = seconds_per_script(CLSCTX_INPROC_SERVER, gets, commits);
    double without = seconds_per_script(CLSCTX_LOCAL_SERVER, gets, commits);
    printf("%-32s %8.2f ms, the server's object %8.2f ms, ratio %.4f\n", what, with * 1e3, without * 1e3,
           with / without);
}

/* Measures the list that a script gets; the caller owns *sets. *first: the time of the first list, including the start
   of the server if it was not running. */
static double seconds_per_list(const WCHAR *pattern, double *first, IDataCollectorSetCollection **sets)
{
    BSTR filter = SysAllocString(pattern);
    double best = 1e9;
    *sets = NULL;
    for (int round = 0; round < 5; round++) {
        if (*sets)
            IDataCollectorSetCollection_Release(*sets);
        *sets = NULL;
        if (failed("CoCreateInstance", CoCreateInstance(&CLSID_DataCollectorSetCollection, NULL, CLSCTX_INPROC_SERVER,
                                                        &IID_IDataCollectorSetCollection, (void **)sets)))
            break;
        double start = now();
        failed("GetDataCollectorSets", IDataCollectorSetCollection_GetDataCollectorSets(*sets, NULL, filter));
        double t = now() - start;
        if (!round)
            *first = t;
        best = round && t < best ? t : best;
    }
    SysFreeString(filter);
    return best;
}

static void measure_lists(void)
{
    IDataCollectorSetCollection *sets;
    LONG count = 0;
    double first = 0, all = seconds_per_list(L"Service\\*", &first, &sets);
    if (!sets || failed("Count", IDataCollectorSetCollection_get_Count(sets, &count)))
        return;
    LONG asked = count < 1000 ? count : 1000;
    double start = now();
    printf("list of %5ld sets:               %8.2f ms, the first %8.2f ms\n", count, all * 1e3, first * 1e3);
    for (LONG i = 0; i < asked; i++) {
        VARIANT at = {.vt = VT_I4};
        DataCollectorSetStatus status;
        IDataCollectorSet *set;
        V_I4(&at) = i;
        if (failed("Item", IDataCollectorSetCollection_get_Item(sets, at, &set)))
            break;
        failed("Status", IDataCollectorSet_get_Status(set, &status));
        IDataCollectorSet_Release(set);
    }
    printf("%4ld of their statuses:           %8.2f ms\n", asked, (now() - start) * 1e3);
    IDataCollectorSetCollection_Release(sets);
    if (count)
        printf("list of one by its name:         %8.2f ms\n", seconds_per_list(L"Service\\set 1", &first, &sets) * 1e3);
    if (count && sets)
        IDataCollectorSetCollection_Release(sets);
}

int main(int argc, char **argv)
{
    CoInitializeEx(NULL, COINIT_MULTITHREADED);
    if (argc > 1 && !strcmp(argv[1], "lists")) {
        measure_lists();
        return 0;
    }
    if (argc > 1)
        return serve(argv[1]);
    char folder[MAX_PATH], path[MAX_PATH + 32], self[MAX_PATH], command[3 * MAX_PATH];
    GetTempPathA(sizeof folder, folder);
    snprintf(path, sizeof path, "%sopenpla-bench-%lu", folder, GetCurrentProcessId());
    GetModuleFileNameA(NULL, self, sizeof self);
    snprintf(command, sizeof command, "\"%s\" %s", self, path);
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION process;
    if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &startup, &process))
        return 1;
    collector *other = connect_peer(path);
    IDataCollectorSet *inside = create_in_process(), *outside = NULL;
    failed("CoCreateInstance", CoCreateInstance(&CLSID_DataCollectorSet, NULL, CLSCTX_LOCAL_SERVER,
                                                &IID_IDataCollectorSet, (void **)&outside));
    collector *ours_inside = inside ? new_collector(inside) : NULL;
    collector *ours_outside = outside ? new_collector(outside) : NULL;
    int rc = !other || !ours_inside || !ours_outside;
    if (!rc) {
        double in = seconds_per_get(ours_inside, 2000000);
        double peer_out = seconds_per_get(other, 2000), out = seconds_per_get(ours_outside, 2000);
        printf("get of a scalar, in process:     %8.1f ns\n", in * 1e9);
        printf("get of a scalar, out of process: %8.1f us\n", out * 1e6);
        printf("empty method, out of process:    %8.1f us\n", peer_out * 1e6);
        printf("ratio:                           %8.2f\n", out / peer_out);
        compare_scripts("1,000 gets by name:", 1000, false);
        compare_scripts("1,000 gets by name and a Commit:", 1000, true);
        compare_scripts("a Commit:", 0, true);
        measure_lists();
    }
    DeleteFileA(path);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), (UINT)rc);
    return rc;
}
