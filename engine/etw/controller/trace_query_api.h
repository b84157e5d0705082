/* SPDX-License-Identifier: MIT */
/* ETW's functions for those who ask about providers and sessions, under their own names, as openetw.dll has them:
   natively as plain functions, on Windows by the system's own declarations, which this header takes for ours. To be
   included before all others that name ETW. */
#ifndef OPENPLA_TRACE_QUERY_API_H
#define OPENPLA_TRACE_QUERY_API_H

#if defined(_WIN32) && !defined(_WMI_SOURCE_)
#define _WMI_SOURCE_ /* they are no imports */
#endif
#include "engine/etw/api/etw_query_types.h"

#ifndef _WIN32
ULONG WINAPI EnumerateTraceGuids(TRACE_GUID_PROPERTIES **list, ULONG room, ULONG *count);
ULONG WINAPI EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes,
                                   ULONG *need);
ULONG WINAPI TraceQueryInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *out, ULONG bytes, ULONG *need);
ULONG WINAPI TraceSetInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *in, ULONG bytes);
#endif

#endif
