/* SPDX-License-Identifier: MIT */
/* In a reached process: NtQuerySystemInformation and NtSetSystemInformation, which Wine answers for all but
   SystemPerformanceTraceInformation. */
#include "engine/etw/controller/system_trace.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/reach_process.h"

#include <windows.h>
#include <winternl.h>

typedef NTSTATUS(NTAPI *query_function)(ULONG what, void *information, ULONG bytes, ULONG *need);
typedef NTSTATUS(NTAPI *set_function)(ULONG what, void *information, ULONG bytes);
static query_function original_query;
static set_function original_set;

static NTSTATUS NTAPI query(ULONG what, void *information, ULONG bytes, ULONG *need)
{
    int32_t status;
    uint32_t own;
    if (what != SYSTEM_PERFORMANCE_TRACE || !system_trace_query(information, bytes, &own, &status))
        return original_query(what, information, bytes, need);
    const ULONG answered = own;
    return !need || program_write(need, &answered, sizeof answered) ? status : (NTSTATUS)STATUS_ACCESS_VIOLATION;
}

static NTSTATUS NTAPI set(ULONG what, void *information, ULONG bytes)
{
    int32_t status;
    return what == SYSTEM_PERFORMANCE_TRACE && system_trace_set(information, bytes, &status)
               ? status
               : original_set(what, information, bytes);
}

void *reach_query_system_begin(void)
{
    original_query = (query_function)reach_system_call_copy("NtQuerySystemInformation");
    return original_query ? (void *)query : NULL;
}

void *reach_set_system_begin(void)
{
    original_set = (set_function)reach_system_call_copy("NtSetSystemInformation");
    return original_set ? (void *)set : NULL;
}
