/* SPDX-License-Identifier: MIT */
/* Logs and a session in, chosen and changed events out: what ITraceRelogger does. It keeps events, which are copies
   of EVENT_RECORDs that can be changed, and writes them to a log file. */
#ifndef OPENPLA_RELOGGER_H
#define OPENPLA_RELOGGER_H

#include "engine/base/error.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

/* ---- an event that is kept ---- */

enum { RELOGGED_EVENT_LARGEST = 0x10000 }; /* its bytes in a file are fewer */

/* Zero-initialise; `record` points into the rest. */
struct relogged_event {
    EVENT_RECORD record;
    uint8_t *bytes; /* items and data */
    size_t capacity;
    EVENT_HEADER_EXTENDED_DATA_ITEM *items;
    size_t item_capacity;
};
/* Copies the record with its data and items. E_OUTOFMEMORY; then *e is as it was. */
HRESULT relogged_event_copy(struct relogged_event *e, const EVENT_RECORD *record);
/* Other data. E_INVALIDARG with a text: more than an event can have. */
HRESULT relogged_event_set_data(struct relogged_event *e, const void *data, size_t size);
void relogged_event_free(struct relogged_event *e);

/* The bytes that the event has in a file whose clock counts FILETIMEs: with the kernel's short headers for the kernel's
   classes, as a classic event, as a message, else with the header of manifests. *size: how many, of at most
   RELOGGED_EVENT_LARGEST. ERROR_MORE_DATA's HRESULT with a text: it has no room there. */
HRESULT relogged_event_bytes(const EVENT_RECORD *record, uint8_t *out, uint32_t *size);

/* ---- a log file of events from elsewhere, each in the buffers of its processor ---- */

struct relogged_file;
/* Creates the file, or replaces one. `first`: the header of the first of the logs that it is made of; it has another
   clock then, whose stamps are FILETIMEs. Errors: those of etl_file_create. */
HRESULT relogged_file_create(const char *path, const struct etl_log *first, uint32_t processors,
                             struct relogged_file **out);
/* Events of a processor that come in another order than that of their times are put in order within a buffer. Errors:
   those of relogged_event_bytes, which change nothing, and of the file system. */
HRESULT relogged_file_add(struct relogged_file *f, const EVENT_RECORD *record);
/* Ends it and frees, also when it fails; it has lost so many. NULL is allowed. */
HRESULT relogged_file_close(struct relogged_file *f, uint64_t events_lost, uint64_t buffers_lost);

/* ---- the relogger ---- */

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
