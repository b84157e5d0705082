/* SPDX-License-Identifier: MIT */
/* A program without knowledge of OpenPLA that `openpla run` has started. It looks up functions by name. It starts a
   kernel session as programs with krabsetw do, and reads and sets the session's group masks with ntdll's functions. */
#include <stddef.h>
#include <stdio.h>
#include <windows.h>
#include <evntrace.h>
#include <string.h>
#include <wmistr.h>

enum {
    PERFORMANCE_TRACE = 31, /* SystemPerformanceTraceInformation */
    GROUP_MASKS = 1,        /* EventTraceGroupMaskInformation */
    PROCESS = 1,            /* EVENT_TRACE_FLAG_PROCESS */
    HANDLES = 0x40,         /* PERF_OB_HANDLE, of the fifth mask */
    REAL_TIME = 0x100,
    SYSTEM_LOGGER = 0x2000000,
    KERNEL_LOGGER = 0xFFFF,
    CONTROL_QUERY = 0,
    CONTROL_STOP = 1,
    ENABLE_FLAGS = 4, /* TraceSystemTraceEnableFlagsInfo */
};

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[128];
};
struct masks {
    ULONG what;
    ULONG64 handle;
    ULONG masks[8];
};
typedef LONG(NTAPI *query_function)(ULONG what, void *information, ULONG bytes, ULONG *need);
typedef LONG(NTAPI *set_function)(ULONG what, void *information, ULONG bytes);
typedef ULONG(WINAPI *information_function)(TRACEHANDLE handle, int what, void *out, ULONG bytes, ULONG *need);

static int failures;

static void expect_true(BOOL right, const char *what, unsigned long long got)
{
    if (right)
        return;
    failures++;
    printf("%s: 0x%llX\n", what, got);
}

static void *function_find(const char *module, const char *name)
{
    void *found = (void *)GetProcAddress(LoadLibraryA(module), name);
    if (!found) {
        printf("%s has no %s\n", module, name);
        ExitProcess(1);
    }
    return found;
}

/* Wnode.Flags are 0, as many programs leave them. */
static struct block block_of(ULONG mode)
{
    struct block b;
    memset(&b, 0, sizeof b);
    b.p.Wnode.BufferSize = sizeof b;
    b.p.LoggerNameOffset = offsetof(struct block, name);
    b.p.LogFileMode = mode;
    b.p.EnableFlags = PROCESS;
    return b;
}

static void masks_are_read_and_set(void)
{
    query_function query = (query_function)function_find("ntdll.dll", "NtQuerySystemInformation");
    set_function set = (set_function)function_find("ntdll.dll", "NtSetSystemInformation");
    information_function information = (information_function)function_find("advapi32.dll", "TraceQueryInformation");
    struct block b = block_of(REAL_TIME | SYSTEM_LOGGER);
    struct masks m = {.what = GROUP_MASKS};
    ULONG need = 0, now[8] = {0};
    TRACEHANDLE handle = 0;
    expect_true(StartTraceW(&handle, L"of krabsetw", &b.p) == 0, "StartTrace", handle);
    m.handle = handle;
    expect_true(query(PERFORMANCE_TRACE, &m, sizeof m, &need) == 0 && need == sizeof m, "NtQuerySystemInformation",
                need);
    expect_true(m.masks[0] == PROCESS && m.masks[4] == 0, "the masks of the start", m.masks[0]);
    m.masks[4] |= HANDLES;
    expect_true(set(PERFORMANCE_TRACE, &m, sizeof m) == 0, "NtSetSystemInformation", 0);
    expect_true(information(handle, ENABLE_FLAGS, now, sizeof now, &need) == 0, "TraceQueryInformation", need);
    expect_true(now[0] == PROCESS && now[4] == HANDLES, "the masks that were set", now[4]);
    b = block_of(0);
    expect_true(ControlTraceW(handle, NULL, &b.p, CONTROL_STOP) == 0, "ControlTrace", handle);
    expect_true(query(PERFORMANCE_TRACE, &m, sizeof m, NULL) < 0, "the masks of a stopped session", 0);
}

static void the_kernel_logger_has_its_handle(void)
{
    struct block b = block_of(REAL_TIME);
    TRACEHANDLE handle = 0;
    expect_true(StartTraceW(&handle, L"NT Kernel Logger", &b.p) == 0 && handle == KERNEL_LOGGER, "its handle", handle);
    b = block_of(0);
    expect_true(ControlTraceW(KERNEL_LOGGER, NULL, &b.p, CONTROL_QUERY) == 0, "its query", 0);
    b = block_of(0);
    expect_true(ControlTraceW(handle, NULL, &b.p, CONTROL_STOP) == 0, "its stop", 0);
}

static void functions_are_found(void)
{
    static const char *const names[] = {"CreateTraceInstanceId",
                                        "EnumerateTraceGuidsEx",
                                        "EventAccessControl",
                                        "EventAccessQuery",
                                        "EventAccessRemove",
                                        "EventWriteEndScenario",
                                        "EventWriteEx",
                                        "EventWriteStartScenario",
                                        "OpenTraceW",
                                        "QueryTraceProcessingHandle",
                                        "RemoveTraceCallback",
                                        "SetTraceCallback",
                                        "StartTraceW",
                                        "TraceQueryInformation"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        function_find("advapi32.dll", names[i]);
    function_find("tdh.dll", "TdhLoadManifestFromMemory");
    function_find("tdh.dll", "TdhUnloadManifestFromMemory");
    function_find("tdh.dll", "TdhEnumerateProvidersForDecodingSource");
    function_find("tdh.dll", "TdhFormatProperty");
    function_find("api-ms-win-eventing-controller-l1-1-0.dll", "TraceQueryInformation");
    function_find("api-ms-win-eventing-consumer-l1-1-0.dll", "ProcessTrace");
    function_find("api-ms-win-eventing-provider-l1-1-0.dll", "EventWriteEx");
    function_find("api-ms-win-eventing-legacy-l1-1-0.dll", "EnableTraceEx");
}

int main(void)
{
    functions_are_found();
    masks_are_read_and_set();
    the_kernel_logger_has_its_handle();
    printf("%d failures\n", failures);
    return failures != 0;
}
