/* SPDX-License-Identifier: MIT */
/* ETW's functions for consumers, under their own names, as openetw.dll has them; on Windows the system's headers
   declare them. */
#ifndef OPENPLA_CONSUMER_API_H
#define OPENPLA_CONSUMER_API_H

#include "engine/etw/etw_types.h"

#ifndef _WIN32
TRACEHANDLE WINAPI OpenTraceW(EVENT_TRACE_LOGFILEW *logfile);
TRACEHANDLE WINAPI OpenTraceA(EVENT_TRACE_LOGFILEA *logfile);
ULONG WINAPI ProcessTrace(TRACEHANDLE *handles, ULONG count, FILETIME *start, FILETIME *end);
ULONG WINAPI CloseTrace(TRACEHANDLE handle);
ULONG WINAPI SetTraceCallback(const GUID *class, PEVENT_CALLBACK callback);
ULONG WINAPI RemoveTraceCallback(const GUID *class);
ULONG WINAPI QueryTraceProcessingHandle(TRACEHANDLE handle, ETW_PROCESS_HANDLE_INFO_TYPE what, PVOID in, ULONG in_size,
                                        PVOID out, ULONG out_size, ULONG *length);
#endif

#endif
