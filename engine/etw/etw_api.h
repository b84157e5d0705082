/* SPDX-License-Identifier: MIT */
/* The table of ETW's functions that the engine uses, so that the host's ETW can be chosen at run time. */
#ifndef OPENPLA_ETW_API_H
#define OPENPLA_ETW_API_H

#include "engine/etw/api/etw_query_types.h"

/* X(DLL that has it on Windows, name, parameter list). A loader walks the list with #name. */
#define ETW_API_LIST(X)                                                                                                \
    X(tdh, TdhEnumerateProviders, (PROVIDER_ENUMERATION_INFO * buffer, ULONG * size))                                  \
    X(tdh, TdhEnumerateProviderFieldInformation,                                                                       \
      (GUID * guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY * buffer, ULONG * size))                           \
    X(advapi32, StartTraceW, (TRACEHANDLE * handle, LPCWSTR name, EVENT_TRACE_PROPERTIES * properties))                \
    X(advapi32, ControlTraceW, (TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES * properties, ULONG code))    \
    X(advapi32, QueryAllTracesW, (EVENT_TRACE_PROPERTIES * *list, ULONG room, ULONG * count))                          \
    X(advapi32, EnableTraceEx2,                                                                                        \
      (TRACEHANDLE handle, LPCGUID provider, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all, ULONG timeout,     \
       ENABLE_TRACE_PARAMETERS * parameters))                                                                          \
    X(advapi32, EnumerateTraceGuidsEx,                                                                                 \
      (TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes, ULONG *need))                \
    X(advapi32, TraceQueryInformation,                                                                                 \
      (TRACEHANDLE session, TRACE_INFO_CLASS what, void *out, ULONG bytes, ULONG *need))                               \
    X(advapi32, TraceSetInformation, (TRACEHANDLE session, TRACE_INFO_CLASS what, void *in, ULONG bytes))              \
    X(advapi32, ProcessTrace, (TRACEHANDLE * handles, ULONG count, FILETIME * start, FILETIME * end))                  \
    X(advapi32, CloseTrace, (TRACEHANDLE handle))

#define ETW_API_MEMBER(dll, name, parameters) ULONG(WINAPI *name) parameters;
struct event_providers;
struct event_registrations;
struct etw_api {
    ETW_API_LIST(ETW_API_MEMBER)
    ULONG (*open_trace)(EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle); /* OpenTraceW, with its last error */
    /* Of our own ETW, beside what Windows has; NULL in the system's. They add to a list: providers that call themselves
       something by their traits, which TDH does not list, and all registrations at once, those of a provider together.
     */
    HRESULT (*seen_providers)(struct event_providers *list);
    HRESULT (*registrations)(struct event_registrations *list);
};
#undef ETW_API_MEMBER

#endif
