/* SPDX-License-Identifier: MIT */
/* A program that does not know us and that `openpla run` has started. It looks functions up by name. */
#include <stdio.h>
#include <windows.h>

static void *find(const char *module, const char *name)
{
    void *found = (void *)GetProcAddress(LoadLibraryA(module), name);
    if (!found) {
        printf("%s has no %s\n", module, name);
        ExitProcess(1);
    }
    return found;
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
        find("advapi32.dll", names[i]);
    find("tdh.dll", "TdhLoadManifestFromMemory");
    find("tdh.dll", "TdhUnloadManifestFromMemory");
    find("tdh.dll", "TdhEnumerateProvidersForDecodingSource");
    find("tdh.dll", "TdhFormatProperty");
    find("api-ms-win-eventing-controller-l1-1-0.dll", "TraceQueryInformation");
    find("api-ms-win-eventing-consumer-l1-1-0.dll", "ProcessTrace");
    find("api-ms-win-eventing-provider-l1-1-0.dll", "EventWriteEx");
    find("api-ms-win-eventing-legacy-l1-1-0.dll", "EnableTraceEx");
}

int main(void)
{
    functions_are_found();
    puts("0 failures");
    return 0;
}
