/* SPDX-License-Identifier: MIT */
/* Declares ETW's functions for controllers and queries under their own names, as openetw.dll exports them. In native
   builds, the declarations are in this header. Windows builds use the system's declarations, but without dllimport,
   because the functions are defined in the same module. Include this header before all others that mention ETW. */
#ifndef OPENPLA_CONTROLLER_API_H
#define OPENPLA_CONTROLLER_API_H

#if defined(_WIN32) && !defined(_WMI_SOURCE_)
#define _WMI_SOURCE_ /* declares the functions without dllimport */
#endif
#include "engine/etw/etw_types.h"

#ifndef _WIN32
ULONG WINAPI StartTraceW(TRACEHANDLE *handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI StartTraceA(TRACEHANDLE *handle, const char *name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI ControlTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties, ULONG code);
ULONG WINAPI ControlTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties, ULONG code);
ULONG WINAPI StopTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI StopTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI QueryTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI QueryTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI UpdateTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI UpdateTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI FlushTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI FlushTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties);
ULONG WINAPI QueryAllTracesW(EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count);
ULONG WINAPI QueryAllTracesA(EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count);
ULONG WINAPI EnableTrace(ULONG enable, ULONG flags, ULONG level, LPCGUID provider, TRACEHANDLE handle);
ULONG WINAPI EnableTraceEx(LPCGUID provider, LPCGUID source, TRACEHANDLE handle, ULONG enable, UCHAR level,
                           ULONGLONG any, ULONGLONG all, ULONG property, EVENT_FILTER_DESCRIPTOR *filter);
ULONG WINAPI EnableTraceEx2(TRACEHANDLE handle, LPCGUID provider, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
                            ULONG timeout, ENABLE_TRACE_PARAMETERS *parameters);

ULONG WINAPI EnumerateTraceGuids(TRACE_GUID_PROPERTIES **list, ULONG room, ULONG *count);
ULONG WINAPI EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes,
                                   ULONG *need);
ULONG WINAPI TraceQueryInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *out, ULONG bytes, ULONG *need);
ULONG WINAPI TraceSetInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *in, ULONG bytes);
#endif

#endif
