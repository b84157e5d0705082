/* SPDX-License-Identifier: MIT */
/* The buffers that .etl and .blg files are made of: each begins with a header, then come events that never cross it. */
#ifndef OPENPLA_ETL_BUFFER_H
#define OPENPLA_ETL_BUFFER_H

#include "engine/base/wintypes.h"

enum {
    ETL_BUFFER_HEAD = 0x48, /* bytes before the first event of a buffer */
    ETL_SMALLEST_BUFFER = 4 * 1024,
    ETL_LARGEST_BUFFER = 16 * 1024 * 1024, /* since Windows 8 */
    ETL_BUFFER_UNIT = 1024,                /* sizes of buffers are asked for in KB */
};
enum { ETL_STATE_FLUSHED = 3, ETL_TYPE_EVENTS = 0, ETL_TYPE_FILE_HEADER = 4 };
enum { ETL_FLAG_LAST = 0x01, ETL_FLAG_PROCESSOR_INDEX = 0x20, ETL_FLAG_COMPRESSED = 0x40 };

struct etl_buffer_header {
    uint32_t size;     /* of the buffer in the file */
    uint32_t saved;    /* as `used`, but for the header buffer of some writers */
    uint32_t current;  /* not to be trusted */
    int64_t time;      /* of the flush: etl_log_buffer_time */
    uint64_t sequence; /* 0: the file's first buffer */
    uint16_t processor;
    uint16_t logger;
    uint32_t state; /* ETL_STATE_*; of the first buffer of a compressed file: the algorithm */
    uint32_t used;  /* bytes with events, this header included; of a compressed buffer: when it is unpacked */
    uint16_t flags; /* ETL_FLAG_*, and others of who logged it */
    uint16_t type;  /* ETL_TYPE_*, or another one of events */
};
/* ETL_BUFFER_HEAD bytes. */
void etl_buffer_header_read(const uint8_t *buffer, struct etl_buffer_header *out);
void etl_buffer_header_write(const struct etl_buffer_header *header, uint8_t *buffer);

/* The bytes in use, header included, of a buffer of `size` bytes; 0: it is no such buffer. */
uint32_t etl_buffer_used(const uint8_t *buffer, uint32_t size);
/* The longest event, with its header and rounded up to 8, that a buffer of `size` bytes holds. */
uint32_t etl_buffer_max_event(uint32_t size);
/* Room that was taken in a file and never written to reads as zeros. */
bool etl_all_zero(const uint8_t *at, size_t size);

#endif
