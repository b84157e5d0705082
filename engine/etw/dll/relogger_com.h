/* SPDX-License-Identifier: MIT */
/* The interfaces of relogger.h, which cannot be included beside evntcons.h: both declare EVENT_RECORD. */
#ifndef OPENPLA_RELOGGER_COM_H
#define OPENPLA_RELOGGER_COM_H

#include "engine/etw/etw_types.h"

typedef struct trace_event_interface {
    const struct trace_event_table *table;
} trace_event_interface;
typedef struct trace_relogger_interface {
    const struct trace_relogger_table *table;
} trace_relogger_interface;
typedef struct trace_callback_interface {
    const struct trace_callback_table *table;
} trace_callback_interface;

/* ITraceEvent */
struct trace_event_table {
    HRESULT(WINAPI *QueryInterface)(trace_event_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_event_interface *);
    ULONG(WINAPI *Release)(trace_event_interface *);
    HRESULT(WINAPI *Clone)(trace_event_interface *, trace_event_interface **);
    HRESULT(WINAPI *GetUserContext)(trace_event_interface *, void **);
    HRESULT(WINAPI *GetEventRecord)(trace_event_interface *, EVENT_RECORD **);
    HRESULT(WINAPI *SetPayload)(trace_event_interface *, BYTE *, ULONG);
    HRESULT(WINAPI *SetEventDescriptor)(trace_event_interface *, const EVENT_DESCRIPTOR *);
    HRESULT(WINAPI *SetProcessId)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetProcessorIndex)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetThreadId)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetThreadTimes)(trace_event_interface *, ULONG, ULONG);
    HRESULT(WINAPI *SetActivityId)(trace_event_interface *, LPCGUID);
    HRESULT(WINAPI *SetTimeStamp)(trace_event_interface *, LARGE_INTEGER *);
    HRESULT(WINAPI *SetProviderId)(trace_event_interface *, LPCGUID);
};

/* ITraceEventCallback */
struct trace_callback_table {
    HRESULT(WINAPI *QueryInterface)(trace_callback_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_callback_interface *);
    ULONG(WINAPI *Release)(trace_callback_interface *);
    HRESULT(WINAPI *OnBeginProcessTrace)
    (trace_callback_interface *, trace_event_interface *, trace_relogger_interface *);
    HRESULT(WINAPI *OnFinalizeProcessTrace)(trace_callback_interface *, trace_relogger_interface *);
    HRESULT(WINAPI *OnEvent)(trace_callback_interface *, trace_event_interface *, trace_relogger_interface *);
};

/* ITraceRelogger */
struct trace_relogger_table {
    HRESULT(WINAPI *QueryInterface)(trace_relogger_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_relogger_interface *);
    ULONG(WINAPI *Release)(trace_relogger_interface *);
    HRESULT(WINAPI *AddLogfileTraceStream)(trace_relogger_interface *, WCHAR *, void *, TRACEHANDLE *);
    HRESULT(WINAPI *AddRealtimeTraceStream)(trace_relogger_interface *, WCHAR *, void *, TRACEHANDLE *);
    HRESULT(WINAPI *RegisterCallback)(trace_relogger_interface *, trace_callback_interface *);
    HRESULT(WINAPI *Inject)(trace_relogger_interface *, trace_event_interface *);
    HRESULT(WINAPI *CreateEventInstance)(trace_relogger_interface *, TRACEHANDLE, ULONG, trace_event_interface **);
    HRESULT(WINAPI *ProcessTrace)(trace_relogger_interface *);
    HRESULT(WINAPI *SetOutputFilename)(trace_relogger_interface *, WCHAR *);
    HRESULT(WINAPI *SetCompressionMode)(trace_relogger_interface *, BOOLEAN);
    HRESULT(WINAPI *Cancel)(trace_relogger_interface *);
};

/* An event object with a copy of the record, which has one reference. NULL: out of memory. */
trace_event_interface *relogger_event_create(const EVENT_RECORD *record);
/* Puts another record into an object that nobody else holds. S_FALSE: somebody does. E_OUTOFMEMORY. */
HRESULT relogger_event_reuse(trace_event_interface *event, const EVENT_RECORD *record);
/* Objects of this DLL that are held. */
LONG relogger_objects(LONG change);

#endif
