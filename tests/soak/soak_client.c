/* SPDX-License-Identifier: MIT */
/* soak_client COMMAND ...: a client of the server for the soak test and the campaign. COUNT sets are named PREFIX0,
   PREFIX1 and so on. Each output line is "key value".
     start PREFIX COUNT          starts the sets synchronously
     stop PREFIX COUNT           stops them
     poll PREFIX COUNT SECONDS   reads the status of all sets repeatedly
     cycle PREFIX COUNT          starts and stops the one set named PREFIX, COUNT times
     runs PREFIX COUNT           prints "run<number>" with result, serial number and message of each set's latest run
     handles PREFIX COUNT        prints "handles<process id>" with the number of handles and the program, for at most
                                 COUNT processes whose program name begins with PREFIX
   The exit code is 0, or 1 if a call has failed. */
#include "mspla.h"

#include <objbase.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <winternl.h>
#include <tlhelp32.h>
#include <wchar.h>

static unsigned failures;

static HRESULT noted(HRESULT hr, const char *call, const WCHAR *name)
{
    if (FAILED(hr)) {
        failures++;
        printf("failed %s %ls 0x%08lX\n", call, name, (unsigned long)hr);
    }
    return hr;
}

static IDataCollectorSet *query(const WCHAR *name)
{
    IDataCollectorSet *set = NULL;
    BSTR text = SysAllocString(name);
    HRESULT hr = noted(CoCreateInstance(&CLSID_ServerDataCollectorSet, NULL, CLSCTX_LOCAL_SERVER,
                                        &IID_IDataCollectorSet, (void **)&set),
                       "CoCreateInstance", name);
    if (SUCCEEDED(hr) && FAILED(noted(IDataCollectorSet_Query(set, text, NULL), "Query", name))) {
        IDataCollectorSet_Release(set);
        set = NULL;
    }
    SysFreeString(text);
    return set;
}

static IDataCollectorSet *numbered(const WCHAR *prefix, unsigned i)
{
    WCHAR name[64];
    _snwprintf(name, ARRAYSIZE(name), L"%ls%u", prefix, i);
    return query(name);
}

static void all(const WCHAR *prefix, unsigned count, BOOL start)
{
    for (unsigned i = 0; i < count; i++) {
        IDataCollectorSet *set = numbered(prefix, i);
        if (!set)
            continue;
        if (start)
            noted(IDataCollectorSet_Start(set, VARIANT_TRUE), "Start", prefix);
        else
            noted(IDataCollectorSet_Stop(set, VARIANT_TRUE), "Stop", prefix);
        IDataCollectorSet_Release(set);
    }
}

static void poll(const WCHAR *prefix, unsigned count, unsigned seconds)
{
    IDataCollectorSet **sets = calloc(count, sizeof(*sets));
    unsigned calls = 0, running = 0;
    for (unsigned i = 0; sets && i < count; i++)
        sets[i] = numbered(prefix, i);
    ULONGLONG end = GetTickCount64() + seconds * 1000ULL;
    for (unsigned i = 0; sets && GetTickCount64() < end; i = (i + 1) % count) {
        DataCollectorSetStatus status = plaStopped;
        if (sets[i] && SUCCEEDED(noted(IDataCollectorSet_get_Status(sets[i], &status), "Status", prefix))) {
            calls++;
            running += status == plaRunning;
        }
        Sleep(50);
    }
    for (unsigned i = 0; sets && i < count; i++)
        if (sets[i])
            IDataCollectorSet_Release(sets[i]);
    free(sets);
    printf("calls %u\nrunning %u\n", calls, running);
}

static void cycle(const WCHAR *name, unsigned times)
{
    IDataCollectorSet *set = query(name);
    ULONGLONG starts = 0, stops = 0, worst = 0;
    for (unsigned i = 0; set && i < times; i++) {
        ULONGLONG before = GetTickCount64(), started, stopped;
        noted(IDataCollectorSet_Start(set, VARIANT_TRUE), "Start", name);
        started = GetTickCount64();
        noted(IDataCollectorSet_Stop(set, VARIANT_TRUE), "Stop", name);
        stopped = GetTickCount64();
        starts += started - before;
        stops += stopped - started;
        if (started - before > worst)
            worst = started - before;
    }
    if (set)
        IDataCollectorSet_Release(set);
    printf("start_ms %.1f\nworst_start_ms %llu\nstop_ms %.1f\n", (double)starts / times, worst, (double)stops / times);
}

static void runs(const WCHAR *prefix, unsigned count)
{
    static const WCHAR *const keys[] = {L"OpenPLA.LastRunResult", L"OpenPLA.LastRunMessage"};
    for (unsigned i = 0; i < count; i++) {
        IDataCollectorSet *set = numbered(prefix, i);
        BSTR values[2] = {NULL, NULL};
        ULONG serial = 0;
        for (unsigned k = 0; set && k < 2; k++) {
            BSTR key = SysAllocString(keys[k]);
            noted(IDataCollectorSet_GetValue(set, key, &values[k]), "GetValue", prefix);
            SysFreeString(key);
        }
        if (set)
            noted(IDataCollectorSet_get_SerialNumber(set, &serial), "SerialNumber", prefix);
        for (WCHAR *c = values[1]; c && *c; c++)
            if (*c == L'\n')
                *c = L';';
        printf("run%u %ls %lu %ls\n", i, values[0] ? values[0] : L"", (unsigned long)serial,
               values[1] ? values[1] : L"");
        SysFreeString(values[0]);
        SysFreeString(values[1]);
        if (set)
            IDataCollectorSet_Release(set);
    }
}

/* SystemExtendedHandleInformation, which the headers lack: all handles of all processes. */
#define ALL_HANDLES 64
struct handle_entry {
    void *object;
    ULONG_PTR process, handle;
    ULONG access;
    USHORT trace, type;
    ULONG attributes, reserved;
};
struct handle_list {
    ULONG_PTR count, reserved;
    struct handle_entry entries[];
};

static struct handle_list *all_handles(void)
{
    ULONG size = 1 << 20, needed;
    for (int i = 0; i < 8; i++, size *= 2) {
        struct handle_list *list = malloc(size);
        if (!list)
            return NULL;
        if (NtQuerySystemInformation((SYSTEM_INFORMATION_CLASS)ALL_HANDLES, list, size, &needed) >= 0)
            return list;
        free(list);
    }
    return NULL;
}

static void handles(const WCHAR *prefix, unsigned count)
{
    struct handle_list *list = all_handles();
    const HANDLE processes = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    if (!list || processes == INVALID_HANDLE_VALUE) {
        noted(E_FAIL, "NtQuerySystemInformation", prefix);
        return;
    }
    for (BOOL more = Process32FirstW(processes, &entry); more && count; more = Process32NextW(processes, &entry)) {
        if (_wcsnicmp(entry.szExeFile, prefix, wcslen(prefix)) != 0)
            continue;
        unsigned number = 0;
        for (ULONG_PTR i = 0; i < list->count; i++)
            number += list->entries[i].process == entry.th32ProcessID;
        printf("handles%lu %u %ls\n", (unsigned long)entry.th32ProcessID, number, entry.szExeFile);
        count--;
    }
    CloseHandle(processes);
    free(list);
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    unsigned count = argc > 3 ? wcstoul(argv[3], NULL, 10) : 0;
    if (!count || FAILED(CoInitializeEx(NULL, COINIT_MULTITHREADED)))
        return 2;
    if (!wcscmp(argv[1], L"start") || !wcscmp(argv[1], L"stop"))
        all(argv[2], count, !wcscmp(argv[1], L"start"));
    else if (!wcscmp(argv[1], L"poll") && argc > 4)
        poll(argv[2], count, wcstoul(argv[4], NULL, 10));
    else if (!wcscmp(argv[1], L"cycle"))
        cycle(argv[2], count);
    else if (!wcscmp(argv[1], L"runs"))
        runs(argv[2], count);
    else if (!wcscmp(argv[1], L"handles"))
        handles(argv[2], count);
    else
        return 2;
    printf("failures %u\n", failures);
    fflush(stdout);
    CoUninitialize();
    return failures ? 1 : 0;
}
