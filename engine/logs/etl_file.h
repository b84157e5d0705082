/* SPDX-License-Identifier: MIT */
/* Writes and reads the container of .etl and .blg files. All buffers have the same size. The first buffer begins with
   the log file header, and an event never extends into the next buffer. The container does not interpret the events. */
#ifndef OPENPLA_ETL_FILE_H
#define OPENPLA_ETL_FILE_H

#include "engine/base/text.h"
#include "engine/logs/etl_record.h"

enum { ETL_EVENT_HEAD = 0x60 }; /* room for an event's header and the fixed fields after it */

/* One event: `head` contains its whole header, with the Size field filled in, and can contain the first bytes of its
   data. */
struct etl_event {
    uint8_t head[ETL_EVENT_HEAD];
    uint32_t head_size;
    const void *data; /* borrowed; may be NULL when data_size is 0 */
    uint32_t data_size;
};

struct file; /* engine/base/file.h */
struct etl_file;
/* Creates the file with its header and one empty buffer; from then on it is a complete log at all times. `log` contains
   the header's fields; its strings are not kept. log->buffer_size must be whole KB from ETL_SMALLEST_BUFFER to
   ETL_LARGEST_BUFFER. The header's format version, end, counts and pointer size are set by this function, not taken
   from `log`. If `replace` is set, the function overwrites an existing file; if not, an existing file is an error. No
   file remains after a failure. Fails with the errors of file_open and file_write, or with E_INVALIDARG if the buffer
   size is invalid or the two names do not fit. */
HRESULT etl_file_create(const char *path, bool replace, const struct etl_log *log, struct etl_file **out);
/* Like etl_file_create, but replaces the content of an open file. Takes ownership of the file, even on failure. */
HRESULT etl_file_begin(struct file *file, const char *path, const struct etl_log *log, struct etl_file **out);
/* Returns whether a record of the format ends with this event. */
typedef bool etl_ends_record(const uint8_t *event, uint32_t size);
/* Continues a file that etl_file_create created. The buffer size of the file stays the same. `file` is open for
   writing; etl_file_continue takes ownership of it, even on failure. `ends`: NULL if each event is a record. Drops
   everything that a crash left after the last complete record: a partial buffer, buffers of zeros, and events of an
   incomplete record. The file itself changes at the next flush. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and
   an error message if the file is not one that etl_file_create creates, or if the end of the file is corrupt in a way
   that a crash cannot cause. */
HRESULT etl_file_continue(struct file *file, const char *path, etl_ends_record *ends, struct etl_file **out);
/* Makes the file a ring. The current content of the file is kept. When the file has max_buffers buffers, a new buffer
   overwrites the oldest buffer that was added after this call. Fails with E_INVALIDARG if fewer than two buffers are
   left for the ring. */
HRESULT etl_file_make_ring(struct etl_file *e, uint64_t max_buffers);
/* Receives the sequence number of each buffer in a file. A failure aborts the opening of the file. */
typedef HRESULT etl_holds(void *context, uint64_t sequence);
/* Opens a file that consists of whole buffers of a session (etl_file_add_buffer), to append to it. Removes the remains
   of a crash: a partial buffer, or a buffer without events. `max_buffers` is the size of the ring that
   etl_file_make_ring created, or 0 if the file is not a ring. `holds` may be NULL. Fails with the errors of file_open
   and etl_file_continue. A file without events is not an error. */
HRESULT etl_file_resume(const char *path, uint64_t max_buffers, etl_holds *holds, void *context, struct etl_file **out);
/* Reserves space for the complete buffers that fit into `bytes`, until the file is closed. */
HRESULT etl_file_preallocate(struct etl_file *e, uint64_t bytes);
/* Adds the events in order: all of them or, on failure, none. If the disk is full, this function fails. etl_file_flush
   never fails for this reason, because a buffer's place in the file is reserved before its first event. `utc` is the
   FILETIME of the newest event. E_INVALIDARG: an event is longer than etl_buffer_max_event. */
HRESULT etl_file_add(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count);
/* Appends a buffer that a processor of a session has filled. Single events added later start a new buffer. `bytes` is
   the buffer as the session stores it, with its events from ETL_BUFFER_HEAD to head->used; the rest is ignored. These
   members of `head` are used: processor, logger, sequence (unique in a file and rising for each processor), time (a
   stamp of the log's clock), used, flags and type. `utc` is the FILETIME of the newest event. On failure the file is
   complete without the buffer; a ring may have lost its oldest buffer. E_INVALIDARG: head->used is invalid. */
HRESULT etl_file_add_buffer(struct etl_file *e, int64_t utc, const struct etl_buffer_header *head,
                            const uint8_t *bytes);
/* Overwrites the time stamps (at +0x10) of the first `count` events of the file with the time stamps of `events`. Apart
   from the stamps, `events` must be equal to the events in the file. */
HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count);
/* Increases the counts of lost events and buffers in the header. */
void etl_file_count_lost(struct etl_file *e, size_t events, size_t buffers);
/* Writes all added events and the header's counts to the file. */
HRESULT etl_file_flush(struct etl_file *e);
uint64_t etl_file_size(const struct etl_file *e);             /* bytes of the file */
uint64_t etl_file_size_with_buffer(const struct etl_file *e); /* size that the file would have with one more buffer */
/* Returns the smallest sequence number that a session can give its next buffer. */
uint64_t etl_file_next_sequence(const struct etl_file *e);
/* Returns the header with the current counts and end, borrowed. The header has no strings if etl_file_create created
   the file. */
const struct etl_log *etl_file_log(const struct etl_file *e);
/* Sets the end of the log, unless its newest event is later. */
void etl_file_end(struct etl_file *e, int64_t utc);
/* Returns the size that the file would have with these events; UINT64_MAX: the ring is too small for them. */
uint64_t etl_file_size_with(const struct etl_file *e, const struct etl_event *events, size_t count);
/* Flushes and closes the file and frees e, even on failure. NULL is allowed. */
HRESULT etl_file_close(struct etl_file *e);
/* Only closes the file. Uses no member of *e except the file, because a function may have been interrupted while it
   changed the other members. */
void etl_file_cut_off(struct etl_file *e);
/* Closes the file and frees e without writing. NULL is allowed. */
void etl_file_abandon(struct etl_file *e);

/* ---- reading: each event once, in time order across the buffers of all processors ----

   Reads files of both pointer sizes, compressed buffers, and files that were never closed or are truncated or corrupt.
   Keeps 40 bytes per buffer of the file and one buffer per processor in memory. */
struct etl_reader;
/* Receives a warning when the reader reaches a corrupt place. The text contains the position in the file and what is
   missing, but not the file's name. After seeking backwards, the reader repeats warnings. */
typedef void etl_warn(void *context, const char *text);
/* Opens the file at its current size; later additions are not read. `warn` may be NULL. Fails with the errors of
   file_open and file_read_at. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and an error message if the file does
   not begin with a log file header. Fails with HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if the compression is not plain
   XPRESS. */
HRESULT etl_reader_open(const char *path, etl_warn *warn, void *context, struct etl_reader **out);
const struct etl_log *etl_reader_log(const struct etl_reader *r); /* the result is borrowed */
/* Reads the next event. The first event is the log file header itself. *record points into the reader until its next
   call. S_FALSE: no more events. Unreadable events are skipped with a warning. Fails only on file system errors or with
   E_OUTOFMEMORY. */
HRESULT etl_reader_next(struct etl_reader *r, struct etl_record *record);
/* Works like etl_reader_next, but does not copy the record, which is valid until the reader's next call. */
HRESULT etl_reader_next_record(struct etl_reader *r, const struct etl_record **record);
/* Goes to a position at or before the first event whose stamp (on the file's clock) is at least `stamp`, so some
   earlier events can come first. INT64_MIN means the beginning. */
HRESULT etl_reader_seek(struct etl_reader *r, int64_t stamp);
/* Makes the reader ignore a partial last buffer until it is complete, for a file that is still being written. Call it
   before reading the first event. Fails with E_OUTOFMEMORY. */
HRESULT etl_reader_follow(struct etl_reader *r);
/* Continues with the buffers that were added to the file since its last buffer was read. If a circular log has
   overwritten old buffers with new ones, this function does not detect the new buffers. S_FALSE: no new buffers. */
HRESULT etl_reader_grow(struct etl_reader *r);
void etl_reader_progress(const struct etl_reader *r, uint64_t *done, uint64_t *total); /* both in bytes of the file */
void etl_reader_close(struct etl_reader *r);                                           /* NULL is allowed */

#endif
