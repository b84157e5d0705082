/* SPDX-License-Identifier: MIT */
/* A container that is being written, as used by etl_file.c (its buffers) and etl_events.c (single events into buffers);
   and decompression. */
#ifndef OPENPLA_ETL_CONTAINER_H
#define OPENPLA_ETL_CONTAINER_H

#include "engine/base/file.h"
#include "engine/base/wintypes.h"
#include "engine/logs/etl_file.h"

struct etl_file {
    struct file *file;
    uint32_t size;      /* of every buffer */
    struct etl_log log; /* the header that the next flush will write; end_utc is the time of the newest event */
    uint8_t event[ETL_LOG_HEAD];   /* its event up to the names, as stored in the file */
    struct etl_buffer_header head; /* of buffer */
    uint8_t *buffer;  /* the last buffer to which events were added, as it should be in the file; without its header */
    uint8_t *spare;   /* the buffer before it, while events are being added across buffers */
    uint32_t written; /* bytes of the buffer that are in the file; 0: its copy cannot be trusted at all */
    uint64_t buffers; /* complete buffers in the file, including the header's */
    uint64_t place;   /* of buffer among them */
    uint64_t ring_first, ring_end; /* places of the ring; 0: not a ring */
    uint64_t sequence;             /* the highest there is */
    uint64_t taken; /* number of buffers for which the file has room while it is open; 0: for those in it */
    bool full;      /* nothing more is added to the buffer, even if it has room */
    bool given;     /* the buffer was written as a whole; its header was not created here */
    bool changed;   /* since the last flush */
    bool torn;      /* a failed write left bytes after the last buffer */
};

/* The header of an empty buffer with this sequence number. */
struct etl_buffer_header etl_container_new_header(const struct etl_file *e, uint64_t sequence);
/* An empty buffer with this sequence number, for the file and as `head`. */
void etl_container_begin_buffer(const struct etl_file *e, uint64_t sequence, uint8_t *buffer,
                                struct etl_buffer_header *head);
/* The place after `place`. */
uint64_t etl_container_next_place(const struct etl_file *e, uint64_t place);
/* Updates e->buffer in the file: its new events, and then its header. */
HRESULT etl_container_write_buffer(struct etl_file *e, bool last);
/* ... the log file header: end, number of buffers, losses. */
HRESULT etl_container_write_counts(struct etl_file *e);
/* Removes the bytes that a failed write left after the last buffer. */
HRESULT etl_container_cut_torn_end(struct etl_file *e);
void etl_container_swap(struct etl_file *e); /* e->buffer and e->spare */

/* Plain XPRESS (LZ77) of [MS-XCA] 2.4, as in compressed .etl buffers. */
/* Decompresses until `packed` ends or `size` bytes are written; returns their number. If the result is less than
   `size`, the stream is truncated or corrupt after these bytes. */
size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size);

#endif
