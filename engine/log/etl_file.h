/* SPDX-License-Identifier: MIT */
/* The container of .etl and .blg files: buffers of one size, the first with the log file header, then events that never
   cross a buffer. What an event means is its writer's business. */
#ifndef OPENPLA_ETL_FILE_H
#define OPENPLA_ETL_FILE_H

#include "engine/log/etl_header.h"
#include "engine/log/etl_record.h"
#include "engine/os/text.h"

enum {
    ETL_BUFFER_SIZE = 0x10000,
    ETL_MAX_EVENT = ETL_BUFFER_SIZE - ETL_BUFFER_HEAD, /* bytes of an event with its header, rounded up to 8 */
    ETL_EVENT_HEAD = 0x60,                             /* room for an event's header and fixed first fields */
};

/* The log file header: what the first event of the file says. Texts are UTF-8, NULL stands for "". */
struct etl_header {
    const char *logger_name;
    const char *file_name;    /* full path */
    uint32_t log_file_mode;   /* EVENT_TRACE_*_MODE bits */
    uint32_t maximum_file_mb; /* 0: none */
    uint32_t processors;
    uint32_t clock; /* ETL_CLOCK_* */
    uint8_t version_major, version_minor;
    uint32_t build;
    bool private_logger;      /* as a logger inside a process writes it: event version 0, buffer state 0 */
    uint32_t process, thread; /* of the logger */
    int64_t start_utc;        /* FILETIME */
    int64_t start_stamp;      /* the same moment on the log's clock */
    int64_t boot_utc;         /* FILETIME */
    int64_t frequency;        /* of the performance counter */
    int32_t bias_minutes;     /* UTC = local + bias for all of the file's local times */
    const char *zone_name;
};

/* One event: `head` holds its whole header (Size field filled in) and may hold the first bytes of its data. */
struct etl_event {
    uint8_t head[ETL_EVENT_HEAD];
    uint32_t head_size;
    const void *data; /* borrowed; may be NULL when data_size is 0 */
    uint32_t data_size;
};

struct etl_file;
/* Creates the file with its header and one empty buffer: from here on it is a whole log at every moment.
   replace: an existing file is overwritten, else it is an error. On failure no file stays behind.
   Errors: those of file_open and file_write; E_INVALIDARG when the two names do not fit into the header. */
HRESULT etl_file_create(const char *path, bool replace, const struct etl_header *header, struct etl_file **out);
/* Does a record of the format's end with this event? */
typedef bool etl_ends_record(const uint8_t *event, uint32_t size);
/* Opens a file as etl_file_create makes it, to add to its end. What a crash left behind the last whole record goes:
   part of a buffer, buffers of zeros, events of a record without its end. The file is changed by the next flush only.
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with text when it is something else or its end is damaged otherwise. */
HRESULT etl_file_open(const char *path, etl_ends_record *ends, struct etl_file **out);
/* Makes a ring of the file: what it holds so far stays, and when it has max_buffers, the oldest of the buffers added
   from now on is overwritten next. E_INVALIDARG when that leaves fewer than two buffers for the ring. */
HRESULT etl_file_make_ring(struct etl_file *e, uint64_t max_buffers);
/* Adds the events in order, all of them or, on failure, none; a full disk shows here and never in etl_file_flush,
   because a buffer's place in the file is taken before its first event. `utc`: FILETIME of the newest event.
   E_INVALIDARG: an event is longer than ETL_MAX_EVENT. */
HRESULT etl_file_add(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count);
/* Gives the first `count` events of the file, which are `events` but for their time stamps (at +0x10), these stamps. */
HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count);
/* Counts events that could not be added; the header tells readers. */
void etl_file_count_lost(struct etl_file *e, size_t events);
/* Everything added is in the file, and the header's counts are true. */
HRESULT etl_file_flush(struct etl_file *e);
uint64_t etl_file_size(const struct etl_file *e); /* bytes of the file */
/* What the size would be with these events; UINT64_MAX: the ring is too small for them. */
uint64_t etl_file_size_with(const struct etl_file *e, const struct etl_event *events, size_t count);
/* Flushes, closes and frees, also when it reports a failure. NULL is allowed. */
HRESULT etl_file_close(struct etl_file *e);

/* Reading. buffer: ETL_BUFFER_SIZE bytes. The bytes in use, header included; 0: not a buffer of such a file. */
uint32_t etl_buffer_used(const uint8_t *buffer);

#endif
