/* SPDX-License-Identifier: MIT */
/* Buffers of a real-time session for the time when no consumer is there, and for one that comes late: kept by the host
   up to a number of bytes, the oldest first out. */
#ifndef OPENPLA_REALTIME_BACKLOG_H
#define OPENPLA_REALTIME_BACKLOG_H

#include "engine/etw/session/realtime_ring.h"

struct realtime_backlog {
    uint64_t most;    /* bytes of events and headers of buffers that it may hold */
    uint64_t bytes;   /* it holds */
    uint64_t count;   /* of the buffers that it holds */
    uint64_t dropped; /* buffers that it had no room for */
    struct backlog_buffer *first, *last;
};
/* Zero-initialise, and set `most`. Keeps a copy of the buffer. S_FALSE: it has no room, or there is no memory; what is
   kept stays, and the buffer is counted as dropped. */
HRESULT realtime_backlog_add(struct realtime_backlog *b, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Hands over as many as the ring takes. True: it is empty now, and newer buffers may follow in the ring. */
bool realtime_backlog_give(struct realtime_backlog *b, struct realtime_ring *ring, bool *wake);
void realtime_backlog_free(struct realtime_backlog *b); /* what it holds */

#endif
