/* SPDX-License-Identifier: MIT */
/* The state of a container file that is being written. etl_file.c manages its buffers, and etl_events.c packs single
   events into them. This header also declares the decompression function. */
#ifndef OPENPLA_ETL_CONTAINER_H
#define OPENPLA_ETL_CONTAINER_H

#include "engine/base/file.h"
#include "engine/base/wintypes.h"
#include "engine/logs/etl_file.h"

struct etl_file {
    struct file *file;
    uint32_t size;      /* bytes of every buffer */
    struct etl_log log; /* the header that the next flush will write; end_utc is the time of the newest event */
    uint8_t event[ETL_LOG_HEAD];   /* the log file header event as stored in the file, without its two names */
    struct etl_buffer_header head; /* header of `buffer` */
    uint8_t *buffer;  /* content of the last buffer that has events, without its header; the file may not contain all of
                         it yet */
    uint8_t *spare;   /* the previous buffer, while events are added across buffers */
    uint32_t written; /* bytes of `buffer` in the file; 0: its content in the file is not valid */
    uint64_t buffers; /* complete buffers in the file, including the first one with the log file header */
    uint64_t place;   /* index of `buffer` in the file */
    uint64_t ring_first, ring_end; /* first index and end of the ring; 0: not a ring */
    uint64_t sequence;             /* the highest sequence number in the file */
    /* Number of buffers for which space is reserved while the file is open; 0: no space is reserved beyond the buffers
       in the file. */
    uint64_t taken;
    bool full;    /* no more events are added to `buffer`, even if they fit */
    bool given;   /* `buffer` was added as a whole, together with its header, by etl_file_add_buffer */
    bool changed; /* something changed since the last flush */
    bool torn;    /* a failed write left bytes after the last buffer */
};

/* Returns the header of an empty buffer with this sequence number. */
struct etl_buffer_header etl_container_new_header(const struct etl_file *e, uint64_t sequence);
/* Creates an empty buffer with this sequence number in `buffer`, and its header in `head`. */
void etl_container_begin_buffer(const struct etl_file *e, uint64_t sequence, uint8_t *buffer,
                                struct etl_buffer_header *head);
/* Returns the number of the buffer after buffer number `place`. In a ring, the last buffer is followed by the first
   one. */
uint64_t etl_container_next_place(const struct etl_file *e, uint64_t place);
/* Writes the changes of e->buffer to the file: first its new events, then its header. */
HRESULT etl_container_write_buffer(struct etl_file *e, bool last);
/* Writes the changed fields of the log file header: end, number of buffers and losses. */
HRESULT etl_container_write_counts(struct etl_file *e);
/* Removes the bytes that a failed write left after the last buffer. */
HRESULT etl_container_cut_torn_end(struct etl_file *e);
void etl_container_swap(struct etl_file *e); /* exchanges e->buffer and e->spare */

/* Plain XPRESS (LZ77) compression of [MS-XCA] 2.4, as in compressed .etl buffers. */
/* Decompresses until `packed` ends or `size` bytes are written, and returns the number of bytes written. If the result
   is less than `size`, the stream is truncated or corrupt after these bytes. */
size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size);

#endif
