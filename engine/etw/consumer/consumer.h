/* SPDX-License-Identifier: MIT */
/* Consumers of events: OpenTrace, ProcessTrace and CloseTrace for log files and for sessions that run, and the two
   kinds of sources that their events come from. */
#ifndef OPENPLA_CONSUMER_H
#define OPENPLA_CONSUMER_H

#include "engine/etw/etw_types.h"
#include "engine/etw/session/realtime_ring.h"
#include "engine/logs/etl_record.h"

/* ---- where the events of one processing handle come from ---- */

struct consumer_source {
    const struct etl_log *log;
    /* The next event in the order of time; the log file header is the first. *e points into the source until the next
       call. Waits where the events are still to happen. S_FALSE: no more. */
    HRESULT (*next)(struct consumer_source *s, struct etl_record *e);
    /* To the beginning once more. */
    HRESULT (*restart)(struct consumer_source *s);
    /* From any thread: what is queued still comes, then no more. */
    void (*stop)(struct consumer_source *s);
    void (*close)(struct consumer_source *s);
};
/* Errors: those of etl_reader_open. */
HRESULT consumer_source_of_file(const char *path, struct consumer_source **out);

/* ---- a session that runs as a source of events: a ring that its host fills and this process empties ---- */

/* What a connection to a session's host is. `wait` may be called by one thread, `wake` by all. */
struct realtime_connection {
    struct realtime_ring ring; /* of which the host's first buffer holds the log file header */
    uint32_t flush_ms;         /* the session's FlushTimer: so long buffers wait for older events; 0: a second */
    void *context;
    /* S_OK: the host has put something into the ring, or wake was called; S_FALSE: the time is over; E_ABORT: the
       host's process has ended. */
    HRESULT (*wait)(void *context, uint32_t timeout_ms);
    void (*wake)(void *context);
    void (*close)(void *context); /* tells the host, too */
};

/* The way to sessions, as whoever knows their directory offers it. */
struct realtime_source {
    /* HRESULTs of ERROR_WMI_INSTANCE_NOT_FOUND: there is no such session, or it has no real-time mode;
       ERROR_ACCESS_DENIED. */
    HRESULT (*connect)(void *context, const char *session, struct realtime_connection *out);
    void *context;
};

/* By the directory of this host. */
extern const struct realtime_source session_connections;

/* The events of the session, merged over its processors; what is lost on the way comes as events of the class
   RT_LostEvent. It ends with the session, or with the host's process. `source` NULL: there are no sessions. */
HRESULT realtime_source_open(const struct realtime_source *source, const char *session, struct consumer_source **out);

/* ---- processing handles: all functions return Windows' error codes and set a text; any thread may call them ---- */

/* What the callers' texts are. */
enum consumer_form { CONSUMER_WIDE, CONSUMER_ANSI };

/* Opens what *logfile names: exactly one of LogFileName and, with PROCESS_TRACE_MODE_REAL_TIME, LoggerName. On success
   LogfileHeader, BufferSize, EventsLost and IsKernelTrace are filled in; on failure it is as it was. The texts are
   copied. EVENT_TRACE_LOGFILEA has the same layout.
   ERROR_INVALID_PARAMETER: no logfile, both names; ERROR_BAD_PATHNAME: no name, or none that can be one;
   ERROR_INVALID_DATA: no event trace; ERROR_WMI_INSTANCE_NOT_FOUND: no such session, or it is not in real time;
   ERROR_ACCESS_DENIED. */
ULONG consumer_open(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle);

/* How the consumers of this process reach sessions, in place of session_connections; NULL: there are none. Borrowed. */
void consumer_set_realtime(const struct realtime_source *source);

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
