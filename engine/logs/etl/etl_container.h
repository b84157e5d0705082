/* SPDX-License-Identifier: MIT */
/* A container that is being written, as etl_file.c (its buffers) and etl_events.c (single events into buffers) use it;
   and decompression. */
#ifndef OPENPLA_ETL_CONTAINER_H
#define OPENPLA_ETL_CONTAINER_H

#include "engine/base/file.h"
#include "engine/base/wintypes.h"
#include "engine/logs/etl_file.h"

struct etl_file {
    struct file *file;
    uint32_t size;                 /* of every buffer */
    struct etl_log log;            /* the header as the next flush writes it; end_utc is that of the newest event */
    uint8_t event[ETL_LOG_HEAD];   /* its event up to the names, as the file has it */
    struct etl_buffer_header head; /* of buffer */
    uint8_t *buffer;               /* the last one added to, as it shall be in the file; without its header */
    uint8_t *spare;                /* the one before it while events are being added across buffers */
    uint32_t written;              /* bytes of buffer that the file has; 0: its copy is not to be trusted at all */
    uint64_t buffers;              /* whole buffers in the file, the header's included */
    uint64_t place;                /* of buffer among them */
    uint64_t ring_first, ring_end; /* places of the ring; 0: none */
    uint64_t sequence;             /* the highest there is */
    uint64_t taken;                /* buffers that the file has room for while it is open; 0: for those in it */
    bool full;                     /* nothing more goes into buffer, whatever its room */
    bool given;                    /* buffer came whole, its header is not ours */
    bool changed;                  /* since the last flush */
    bool torn;                     /* a failed write left bytes after the last buffer */
};

/* An empty buffer with this sequence number, for the file and as `head`. */
void etl_container_begin_buffer(const struct etl_file *e, uint64_t sequence, uint8_t *buffer,
                                struct etl_buffer_header *head);
/* The place after `place`. */
uint64_t etl_container_next_place(const struct etl_file *e, uint64_t place);
/* Brings e->buffer up to date in the file: its new events, then its header. */
HRESULT etl_container_write_buffer(struct etl_file *e, bool last);
/* ... the log file header: end, number of buffers, losses. */
HRESULT etl_container_write_counts(struct etl_file *e);
/* Cuts the bytes that a failed write left after the last buffer. */
HRESULT etl_container_cut_torn_end(struct etl_file *e);
void etl_container_swap(struct etl_file *e); /* e->buffer and e->spare */

/* Plain XPRESS (LZ77) of [MS-XCA] 2.4, as in compressed .etl buffers. */
/* Decompresses until `packed` ends or `size` bytes are written; returns their number. Less than `size`: the stream is
   cut or corrupt after them. */
size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size);

#endif
