/* SPDX-License-Identifier: MIT */
/* Writes and reads the container of .etl and .blg files: buffers of one size, the first with the log file header, then
   events that never cross a buffer. What an event means is its writer's business. */
#ifndef OPENPLA_ETL_FILE_H
#define OPENPLA_ETL_FILE_H

#include "engine/base/text.h"
#include "engine/logs/etl_record.h"

enum { ETL_EVENT_HEAD = 0x60 }; /* room for an event's header and fixed first fields */

/* One event: `head` holds its whole header (Size field filled in) and may hold the first bytes of its data. */
struct etl_event {
    uint8_t head[ETL_EVENT_HEAD];
    uint32_t head_size;
    const void *data; /* borrowed; may be NULL when data_size is 0 */
    uint32_t data_size;
};

struct file; /* engine/base/file.h */
struct etl_file;
/* Creates the file with its header and one empty buffer: from here on it is a whole log at every moment. `log`: what
   the header says, with the size of each buffer, whole KB from ETL_SMALLEST_BUFFER to ETL_LARGEST_BUFFER; the version
   of the form, end, counts and pointer size are filled in here. Its texts are not kept.
   replace: an existing file is overwritten, else it is an error. On failure no file stays behind.
   Errors: those of file_open and file_write; E_INVALIDARG for another size, and when the two names do not fit. */
HRESULT etl_file_create(const char *path, bool replace, const struct etl_log *log, struct etl_file **out);
/* The same in a file that is open, in the place of what it holds; it is taken over, also on failure. */
HRESULT etl_file_begin(struct file *file, const char *path, const struct etl_log *log, struct etl_file **out);
/* Does a record of the format's end with this event? */
typedef bool etl_ends_record(const uint8_t *event, uint32_t size);
/* Continues a file as etl_file_create makes it, in buffers of its size. `file` is open for writing; it is taken over,
   also on failure. `ends`: NULL where each event is a record. What a crash left behind the last whole record goes: part
   of a buffer, buffers of zeros, events of a record without its end. The file is changed by the next flush only.
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with text when it is something else or its end is corrupt otherwise. */
HRESULT etl_file_continue(struct file *file, const char *path, etl_ends_record *ends, struct etl_file **out);
/* Makes a ring of the file: what it holds so far stays, and when it has max_buffers, the oldest of the buffers added
   from now on is overwritten next. E_INVALIDARG when that leaves fewer than two buffers for the ring. */
HRESULT etl_file_make_ring(struct etl_file *e, uint64_t max_buffers);
/* Is told the sequence number of each buffer that a file holds; a failure ends the opening. */
typedef HRESULT etl_holds(void *context, uint64_t sequence);
/* Opens a file whose buffers came whole from a session, to add more of them. What a crash left behind goes: part of a
   buffer, one without events. max_buffers: of the ring that etl_file_make_ring made of the new file; 0: it is none.
   `holds` may be NULL. Errors: those of file_open and etl_file_continue, but a file without an event is none. */
HRESULT etl_file_resume(const char *path, uint64_t max_buffers, etl_holds *holds, void *context, struct etl_file **out);
/* Takes the room of as many whole buffers as `bytes` hold, until the file is closed. */
HRESULT etl_file_preallocate(struct etl_file *e, uint64_t bytes);
/* Adds the events in order, all of them or, on failure, none; a full disk shows here and never in etl_file_flush,
   because a buffer's place in the file is taken before its first event. `utc`: FILETIME of the newest event.
   E_INVALIDARG: an event is longer than etl_buffer_max_event. */
HRESULT etl_file_add(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count);
/* Adds a buffer that a processor of a session has filled, behind what was added before; single events added later begin
   a new one. `bytes`: the buffer as it lies in the session, its events from ETL_BUFFER_HEAD to head->used; what is
   before and behind them is not looked at. Of `head` count processor, logger, sequence (each once in a file, rising for
   a processor), time (a stamp of the log's clock), used, flags and type. `utc`: FILETIME of the newest event. On
   failure the file is whole without the buffer; of a ring its oldest may be gone.
   E_INVALIDARG: head->used is no number of bytes in use of such a buffer. */
HRESULT etl_file_add_buffer(struct etl_file *e, int64_t utc, const struct etl_buffer_header *head,
                            const uint8_t *bytes);
/* Gives the first `count` events of the file, which are `events` but for their time stamps (at +0x10), these stamps. */
HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count);
/* Counts events and buffers that could not be added; the header tells readers. */
void etl_file_count_lost(struct etl_file *e, size_t events, size_t buffers);
/* Everything added is in the file, and the header's counts are true. */
HRESULT etl_file_flush(struct etl_file *e);
uint64_t etl_file_size(const struct etl_file *e);             /* bytes of the file */
uint64_t etl_file_size_with_buffer(const struct etl_file *e); /* with another whole buffer */
/* The least that the next buffer of a session may have. */
uint64_t etl_file_next_sequence(const struct etl_file *e);
/* What the header says, with the counts and the end of now, and without texts when it was created here. Borrowed. */
const struct etl_log *etl_file_log(const struct etl_file *e);
/* The log ends at this FILETIME, if its newest event is not later. */
void etl_file_end(struct etl_file *e, int64_t utc);
/* What the size would be with these events; UINT64_MAX: the ring is too small for them. */
uint64_t etl_file_size_with(const struct etl_file *e, const struct etl_event *events, size_t count);
/* Flushes, closes and frees, also when it reports a failure. NULL is allowed. */
HRESULT etl_file_close(struct etl_file *e);
/* Closes and frees, and leaves the file as it is. NULL is allowed. */
/* Closes the file alone: what *e holds may be in the midst of a change. */
void etl_file_cut_off(struct etl_file *e);
void etl_file_abandon(struct etl_file *e);

/* ---- reading: every event once, in the order of time, over the buffers of all processors ----

   Reads both pointer sizes, compressed buffers, and files that were never closed, are cut or corrupt. Keeps 40 bytes
   per buffer of the file and one buffer per processor in memory. */
struct etl_reader;
/* Is told what is damaged, as the reading meets it: the place in the file and what is missing, without its name. After
   a seek backwards the same is said again. */
typedef void etl_warn(void *context, const char *text);
/* Opens the file as it is now; what is added to it later is not seen. `warn` may be NULL.
   Errors: those of file_open and file_read_at; HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text when it does not
   begin with a log file header; HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) for a compression other than plain XPRESS. */
HRESULT etl_reader_open(const char *path, etl_warn *warn, void *context, struct etl_reader **out);
const struct etl_log *etl_reader_log(const struct etl_reader *r); /* borrowed */
/* The next event; the log file header itself is the first. *record points into the reader until its next call.
   S_FALSE: no more. What cannot be read is left out and remarked; only an error of the file system or of memory is
   a failure. */
HRESULT etl_reader_next(struct etl_reader *r, struct etl_record *record);
/* Goes to where the first event at or after `stamp` (of the file's clock) is not yet passed; some earlier ones may
   still come. INT64_MIN: to the beginning. */
HRESULT etl_reader_seek(struct etl_reader *r, int64_t stamp);
/* For a file that is still written: of a last buffer that the file has a part of, nothing comes until it is whole. To
   be called before the first event. E_OUTOFMEMORY. */
HRESULT etl_reader_follow(struct etl_reader *r);
/* The buffers that the file has got behind those that were read to their end; the next events are theirs. What a
   circular log writes over older buffers is not seen. S_FALSE: there are none. */
HRESULT etl_reader_grow(struct etl_reader *r);
void etl_reader_progress(const struct etl_reader *r, uint64_t *done, uint64_t *total); /* bytes of the file */
void etl_reader_close(struct etl_reader *r);                                           /* NULL is allowed */

#endif
