/* SPDX-License-Identifier: MIT */
/* Logs and a session in, chosen and changed events out: what ITraceRelogger does. */
#ifndef OPENPLA_RELOGGER_H
#define OPENPLA_RELOGGER_H

#include "engine/base/error.h"
#include "engine/etw/etw_types.h"

/* On the thread of relogger_process, one at a time; a failure ends it and is its result. Records live for the call. */
struct relogger_callback {
    HRESULT (*begin)(void *context, const EVENT_RECORD *header); /* the header of the first log */
    HRESULT (*event)(void *context, const EVENT_RECORD *event);  /* UserContext is that of its stream */
    HRESULT (*end)(void *context);
    void *context;
};

struct relogger;
HRESULT relogger_create(struct relogger **out);
void relogger_free(struct relogger *r); /* nobody is in it; NULL is allowed */
/* Opens the log, or the session. Errors: those of consumer_open; ERROR_BUSY's HRESULT while it is processed;
   ERROR_NOT_SUPPORTED's: a session beside another stream; E_INVALIDARG: more than 64. */
HRESULT relogger_add_file(struct relogger *r, const char *path, void *user, TRACEHANDLE *stream);
HRESULT relogger_add_session(struct relogger *r, const char *name, void *user, TRACEHANDLE *stream);
/* False: it is none. */
bool relogger_stream(struct relogger *r, TRACEHANDLE stream, void **user);
/* The file that events go to. ERROR_BUSY's HRESULT while it is processed. */
HRESULT relogger_set_output(struct relogger *r, const char *path);
/* Gives the events of all streams in the order of time, those of files to their end, of a session until it ends. The
   file is whole when it returns, whatever it returns. ERROR_CANCELLED's HRESULT: relogger_cancel; ERROR_BUSY's: it is
   being processed; E_INVALIDARG with a text: no stream, no callback, or the file is one of the streams'. */
HRESULT relogger_process(struct relogger *r, const struct relogger_callback *callback);
/* Writes the event to the file; to be called while it is processed, from callbacks. E_UNEXPECTED: there is no file, or
   nothing is processed; the errors of relogged_file_add. */
HRESULT relogger_inject(struct relogger *r, const EVENT_RECORD *record);
/* From any thread. */
void relogger_cancel(struct relogger *r);

#endif
