/* SPDX-License-Identifier: MIT */
/* A container that is being written, as etl_file.c (its buffers) and etl_events.c (single events into buffers) know it.
 */
#ifndef OPENPLA_ETL_CONTAINER_H
#define OPENPLA_ETL_CONTAINER_H

#include "engine/base/file.h"
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
    bool torn;                     /* a failed growth left bytes behind the last buffer */
};

/* Without a file. NULL: out of memory, with a text. */
struct etl_file *etl_container_new(const char *path, uint32_t size);
/* ... for an existing file, by the size of its buffers. */
HRESULT etl_container_of_size(struct file *file, const char *path, struct etl_file **out);
void etl_container_free(struct etl_file *e); /* as it is; NULL is allowed */
/* e->log and e->event, from the file's first buffer by way of e->spare. */
HRESULT etl_container_load_header(struct etl_file *e, struct file *file, const char *path);
/* An empty buffer with this sequence number, for the file and as `head`. */
void etl_container_begin_buffer(const struct etl_file *e, uint64_t sequence, uint8_t *buffer,
                                struct etl_buffer_header *head);
/* The place behind `place`. */
uint64_t etl_container_next_place(const struct etl_file *e, uint64_t place);
/* Brings e->buffer up to date in the file: its new events, then its header. */
HRESULT etl_container_write_buffer(struct etl_file *e, bool last);
/* ... the log file header: end, number of buffers, losses. */
HRESULT etl_container_write_counts(struct etl_file *e);
/* Takes away what a failed growth left behind the last buffer. */
HRESULT etl_container_cut_torn_end(struct etl_file *e);
void etl_container_swap(struct etl_file *e); /* e->buffer and e->spare */

#endif
