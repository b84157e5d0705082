/* SPDX-License-Identifier: MIT */
/* Declares the functions of ITraceRelogger. The relogger reads logs or a session, and writes selected and changed
   events to a log file. It stores events as changeable copies of EVENT_RECORDs. */
#ifndef OPENPLA_RELOGGER_H
#define OPENPLA_RELOGGER_H

#include "engine/base/error.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

/* ---- a changeable copy of an event ---- */

enum { RELOGGED_EVENT_LARGEST = 0x10000 }; /* greater than the size of any event in a file */

/* Zero-initialise. `record` points into the other members. */
struct relogged_event {
    EVENT_RECORD record;
    uint8_t *bytes; /* the data of the event and of its items */
    size_t capacity;
    EVENT_HEADER_EXTENDED_DATA_ITEM *items;
    size_t item_capacity;
};
/* Copies the record with its data and items. E_OUTOFMEMORY: *e is unchanged. */
HRESULT relogged_event_copy(struct relogged_event *e, const EVENT_RECORD *record);
/* Replaces the data. Fails with E_INVALIDARG and an error text if `size` is too large for an event. */
HRESULT relogged_event_set_data(struct relogged_event *e, const void *data, size_t size);
void relogged_event_free(struct relogged_event *e);

/* Encodes the event for a file whose clock counts FILETIMEs. Events of the kernel's classes get the kernel's short
   headers; classic events and messages get their own headers; all other events get a manifest event's header. *size is
   at most RELOGGED_EVENT_LARGEST. Fails with HRESULT_FROM_WIN32(ERROR_MORE_DATA) and an error text if the event is too
   large for a file. */
HRESULT relogged_event_bytes(const EVENT_RECORD *record, uint8_t *out, uint32_t *size);

/* ---- the output file: each event goes to the buffers of the processor that logged it ---- */

struct relogged_file;
/* Creates or replaces the file. `first` is the header of the first input log. The header of the new file is based on
   `first`, but the clock of the new file counts FILETIMEs, and the losses are 0. Errors: those of etl_file_create. */
HRESULT relogged_file_create(const char *path, const struct etl_log *first, uint32_t processors,
                             struct relogged_file **out);
/* Adds an event. Events of a processor are sorted by time within each buffer. Errors: those of relogged_event_bytes
   (the file is then unchanged) and those of the file system. */
HRESULT relogged_file_add(struct relogged_file *f, const EVENT_RECORD *record);
/* Completes the file, stores the losses in its header, and frees *f, even on failure. NULL is allowed. */
HRESULT relogged_file_close(struct relogged_file *f, uint64_t events_lost, uint64_t buffers_lost);

/* ---- the relogger ---- */

/* relogger_process calls these on its own thread, one at a time. A failure ends the processing and becomes its result.
   Records are valid during the call. */
struct relogger_callback {
    HRESULT (*begin)(void *context, const EVENT_RECORD *header); /* called first, with the header of the first log */
    HRESULT (*event)(void *context, const EVENT_RECORD *event);  /* UserContext is the stream's `user` */
    HRESULT (*end)(void *context);
    void *context;
};

struct relogger;
HRESULT relogger_create(struct relogger **out);
void relogger_free(struct relogger *r); /* NULL is allowed; no other call may be running */
/* Opens the log or the session, and adds it as a stream. Errors: those of consumer_source_of_file or
   realtime_source_open, and:
   - HRESULT_FROM_WIN32(ERROR_BUSY): the relogger is processing.
   - HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED): a session cannot be combined with another stream.
   - E_INVALIDARG: the relogger already has 64 streams. */
HRESULT relogger_add_file(struct relogger *r, const char *path, void *user, TRACEHANDLE *stream);
HRESULT relogger_add_session(struct relogger *r, const char *name, void *user, TRACEHANDLE *stream);
/* Returns the `user` of a stream; false if this relogger has no such stream. */
bool relogger_stream(struct relogger *r, TRACEHANDLE stream, void **user);
/* Sets the output file. Fails with HRESULT_FROM_WIN32(ERROR_BUSY) if the relogger is processing. */
HRESULT relogger_set_output(struct relogger *r, const char *path);
/* Passes the events of all streams to the callback in time order, until all files are read to their ends or the session
   ends. The output file is complete afterwards, regardless of the result. Errors:
   - HRESULT_FROM_WIN32(ERROR_CANCELLED): relogger_cancel was called.
   - HRESULT_FROM_WIN32(ERROR_BUSY): the relogger is already processing.
   - E_INVALIDARG with an error text: no stream was added, or the output file is also an input. */
HRESULT relogger_process(struct relogger *r, const struct relogger_callback *callback);
/* Writes the event to the output file; called from callbacks. Fails with E_UNEXPECTED if no output file was set or the
   relogger is not processing. Other errors: those of relogged_file_add. */
HRESULT relogger_inject(struct relogger *r, const EVENT_RECORD *record);
/* Ends relogger_process early, with ERROR_CANCELLED. May be called from any thread. */
void relogger_cancel(struct relogger *r);

#endif
