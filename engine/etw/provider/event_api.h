/* SPDX-License-Identifier: MIT */
/* The functions with which programs write events, with Windows' names and error codes. On Windows the Windows
   headers declare them. */
#ifndef OPENPLA_EVENT_API_H
#define OPENPLA_EVENT_API_H

#include "engine/etw/etw_types.h"

/* This is the type of MessageNumber, the last parameter of TraceMessage before the ellipsis. In C, this parameter must
   not have a type that is promoted to int. Windows' headers use such a type, USHORT. */
#ifdef _WIN32
#define TRACE_MESSAGE_NUMBER USHORT
#else
#define TRACE_MESSAGE_NUMBER unsigned
#endif

#ifdef _WIN32
/* Missing in Windows' headers. */
ULONG WINAPI EventWriteStartScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                                     EVENT_DATA_DESCRIPTOR *data);
ULONG WINAPI EventWriteEndScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                                   EVENT_DATA_DESCRIPTOR *data);
#endif

#ifndef _WIN32
ULONG EventRegister(LPCGUID guid, PENABLECALLBACK callback, PVOID context, REGHANDLE *handle);
ULONG EventUnregister(REGHANDLE handle);
ULONG EventSetInformation(REGHANDLE handle, EVENT_INFO_CLASS info_class, PVOID information, ULONG length);
BOOLEAN EventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor);
BOOLEAN EventProviderEnabled(REGHANDLE handle, UCHAR level, ULONGLONG keyword);
ULONG EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count, EVENT_DATA_DESCRIPTOR *data);
ULONG EventWriteTransfer(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, LPCGUID activity, LPCGUID related,
                         ULONG count, EVENT_DATA_DESCRIPTOR *data);
ULONG EventWriteEx(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG64 filter, ULONG flags, LPCGUID activity,
                   LPCGUID related, ULONG count, EVENT_DATA_DESCRIPTOR *data);
ULONG EventWriteStartScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                              EVENT_DATA_DESCRIPTOR *data);
ULONG EventWriteEndScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                            EVENT_DATA_DESCRIPTOR *data);
ULONG EventWriteString(REGHANDLE handle, UCHAR level, ULONGLONG keyword, LPCWSTR string);
ULONG EventActivityIdControl(ULONG code, GUID *activity);

ULONG RegisterTraceGuidsW(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
                          TRACE_GUID_REGISTRATION *classes, LPCWSTR image, LPCWSTR resource, TRACEHANDLE *handle);
ULONG RegisterTraceGuidsA(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
                          TRACE_GUID_REGISTRATION *classes, const char *image, const char *resource,
                          TRACEHANDLE *handle);
ULONG UnregisterTraceGuids(TRACEHANDLE handle);
ULONG TraceEvent(TRACEHANDLE session, EVENT_TRACE_HEADER *event);
ULONG TraceEventInstance(TRACEHANDLE session, EVENT_INSTANCE_HEADER *event, EVENT_INSTANCE_INFO *instance,
                         EVENT_INSTANCE_INFO *parent);
ULONG CreateTraceInstanceId(HANDLE class_handle, EVENT_INSTANCE_INFO *instance);
TRACEHANDLE GetTraceLoggerHandle(PVOID buffer);
UCHAR GetTraceEnableLevel(TRACEHANDLE session);
ULONG GetTraceEnableFlags(TRACEHANDLE session);
ULONG TraceMessage(TRACEHANDLE session, ULONG flags, LPCGUID guid, TRACE_MESSAGE_NUMBER number, ...);
ULONG TraceMessageVa(TRACEHANDLE session, ULONG flags, LPCGUID guid, USHORT number, va_list arguments);
#endif

#endif
