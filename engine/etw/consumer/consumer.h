/* SPDX-License-Identifier: MIT */
/* Consumers of events (OpenTrace, ProcessTrace, CloseTrace) and the sources of their events: log files and running
   sessions. */
#ifndef OPENPLA_CONSUMER_H
#define OPENPLA_CONSUMER_H

#include "engine/etw/etw_types.h"
#include "engine/etw/session/realtime_ring.h"
#include "engine/logs/etl_record.h"

/* ---- where the events of one processing handle come from ---- */

struct consumer_source {
    const struct etl_log *log;
    /* Returns the next event in time order; the first is the log file header. For a running session, waits for the
       event. *e points into the source until the next call. S_FALSE: no more events. */
    HRESULT (*next)(struct consumer_source *s, struct etl_record *e);
    /* Restarts the source from the beginning. */
    HRESULT (*restart)(struct consumer_source *s);
    /* Stops the source; may be called from any thread. `next` still returns the queued events, then S_FALSE. */
    void (*stop)(struct consumer_source *s);
    void (*close)(struct consumer_source *s);
};
/* Opens a log file as a source. Errors: those of etl_reader_open. */
HRESULT consumer_source_of_file(const char *path, struct consumer_source **out);

/* ---- a running session as a source of events: a ring that its host process fills and this process empties ---- */

/* A connection to a session's host process. Only one thread may call `wait`; any thread may call `wake`. */
struct realtime_connection {
    struct realtime_ring ring; /* the first buffer that the host process puts into it contains the log file header */
    uint32_t flush_ms;         /* the session's FlushTimer: maximum time for which a buffer waits for older events; 0:
                                  one second */
    void *context;
    /* S_OK: the host process put something into the ring, or wake was called; S_FALSE: timeout; E_ABORT: the host
       process has exited. */
    HRESULT (*wait)(void *context, uint32_t timeout_ms);
    void (*wake)(void *context);
    void (*close)(void *context); /* also notifies the host process */
};

/* Connects to sessions. */
struct realtime_source {
    /* Errors, as HRESULTs: ERROR_WMI_INSTANCE_NOT_FOUND if the session does not exist or is not a real-time session;
       ERROR_ACCESS_DENIED. */
    HRESULT (*connect)(void *context, const char *session, struct realtime_connection *out);
    void *context;
};

/* Connects to the sessions in the directory of this host OS. */
extern const struct realtime_source session_connections;

/* Opens a session as a source of events. The source merges the events of all processors. Events of class RT_LostEvent
   report losses. The source ends when the session ends or its host process exits. If `source` is NULL, no session can
   be opened. */
HRESULT realtime_source_open(const struct realtime_source *source, const char *session, struct consumer_source **out);

/* ---- processing handles (for any thread; the functions return Windows error codes and set error texts) ---- */

/* The encoding of the caller's strings. */
enum consumer_form { CONSUMER_WIDE, CONSUMER_ANSI };

/* Opens a log (*logfile has a LogFileName) or a session (*logfile has a LoggerName and PROCESS_TRACE_MODE_REAL_TIME).
   Exactly one of the two names must be set. On success fills in LogfileHeader, BufferSize, EventsLost and
   IsKernelTrace; on failure *logfile is unchanged. Copies the strings. With CONSUMER_ANSI, `logfile` points to an
   EVENT_TRACE_LOGFILEA, which has the same layout. Errors:
   - ERROR_INVALID_PARAMETER: `logfile` is NULL, both names are set, or ProcessTraceMode does not fit the name.
   - ERROR_BAD_PATHNAME: no name is set, or the name is invalid.
   - ERROR_INVALID_DATA: the file is not an event trace.
   - ERROR_WMI_INSTANCE_NOT_FOUND: the session does not exist or is not a real-time session.
   - ERROR_ACCESS_DENIED: access to the file or the session is denied. */
ULONG consumer_open(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle);

/* Replaces session_connections for the consumers of this process. If `source` is NULL, the consumers cannot connect to
   sessions. `source` is borrowed. */
void consumer_set_realtime(const struct realtime_source *source);

/* Passes the definition of an event or map (class EventMetadata) to TDH, if this process has loaded TDH. */
void consumer_pass_definition(EVENT_RECORD *event);

/* ---- ETW's functions under their own names; on Windows the system's headers declare them ---- */

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
