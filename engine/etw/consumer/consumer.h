/* SPDX-License-Identifier: MIT */
/* Consumers of events: OpenTrace, ProcessTrace and CloseTrace for log files and for sessions that run. All functions
   return Windows' error codes and set a text that names what is wrong. Any thread may call any of them. */
#ifndef OPENPLA_CONSUMER_H
#define OPENPLA_CONSUMER_H

#include "engine/etw/consumer/realtime_source.h"
#include "engine/etw/etw_types.h"

/* What the callers' texts are. */
enum consumer_form { CONSUMER_WIDE, CONSUMER_ANSI };

/* Opens what *logfile names: exactly one of LogFileName and, with PROCESS_TRACE_MODE_REAL_TIME, LoggerName. On success
   LogfileHeader, BufferSize, EventsLost and IsKernelTrace are filled in; on failure it is as it was. The texts are
   copied. EVENT_TRACE_LOGFILEA has the same layout.
   ERROR_INVALID_PARAMETER: no logfile, both names; ERROR_BAD_PATHNAME: no name, or none that can be one;
   ERROR_INVALID_DATA: no event trace; ERROR_WMI_INSTANCE_NOT_FOUND: no such session, or it is not in real time;
   ERROR_ACCESS_DENIED. */
ULONG consumer_open(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle);
/* Delivers the events of all handles in the order of time on the calling thread, those with a FILETIME from `start` to
   `end` (NULL: no bound; the log file headers always), and calls each BufferCallback behind the last event of a buffer.
   It returns when all is delivered, the session has ended, or the handles are closed; a handle that is processed a
   second time begins anew.
   ERROR_BAD_LENGTH: none or more than 64; ERROR_INVALID_PARAMETER: no array, one handle twice, files beside a session,
   or two sessions; ERROR_INVALID_HANDLE; ERROR_BUSY: another thread processes one of them; ERROR_INVALID_TIME: `end` is
   before `start`; ERROR_CANCELLED: a BufferCallback returned 0; ERROR_NOACCESS: an exception left a callback.
   A file that cannot be read on ends there; its code is the result when all others are delivered. */
ULONG consumer_process(const TRACEHANDLE *handles, ULONG count, const FILETIME *start, const FILETIME *end);
/* Ends it, from any thread and from callbacks too. ERROR_CTX_CLOSE_PENDING: it is being processed; what is queued is
   still delivered, then its events end. ERROR_INVALID_HANDLE: it is none. */
ULONG consumer_close(TRACEHANDLE handle);
/* It is a handle of consumer_open. */
bool consumer_is_open(TRACEHANDLE handle);

/* Events of this class go to the callback too, of all handles with an EventCallback, before that; a second call
   replaces the first. ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY. */
ULONG consumer_set_class(const GUID *class, PEVENT_CALLBACK callback);
/* ERROR_INVALID_PARAMETER; ERROR_WMI_GUID_NOT_FOUND: it has none. */
ULONG consumer_remove_class(const GUID *class);

/* How the consumers of this process reach sessions, in place of session_connections; NULL: there are none. Borrowed. */
void consumer_set_realtime(const struct realtime_source *source);

/* The Windows error code of a failure. */
ULONG consumer_code(HRESULT hr);

#endif
