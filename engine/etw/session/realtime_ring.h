/* SPDX-License-Identifier: MIT */
/* Whole buffers of a session from its host to one consumer in real time, and the backlog of buffers that wait for a
   consumer.

   The consumer creates the section of the ring, the host maps it. Neither side waits for the other: a full ring
   loses the buffer, which is counted. A side that ends anywhere, or that writes anything into the section, leads the
   other to no place outside of it: each keeps the constants it checked and its own position, and copies a buffer
   before it inspects it. */
#ifndef OPENPLA_REALTIME_RING_H
#define OPENPLA_REALTIME_RING_H

#include "engine/logs/etl_record.h"

#include <stdatomic.h>

enum { REALTIME_SLOTS = 32 };

/* Words of the two sides lie 128 bytes apart. */
struct realtime_shared {
    _Atomic uint32_t magic, version, slots, buffer_size; /* constants; magic last of all */
    uint32_t reserved_1[28];
    /* The host's. */
    _Atomic uint32_t put;                       /* buffers put so far; wraps */
    _Atomic uint32_t ended;                     /* the session has; nothing follows */
    _Atomic uint64_t events_lost, buffers_lost; /* since the consumer is connected */
    _Atomic int64_t complete;                   /* the time up to which all events have been put */
    uint32_t reserved_2[24];
    /* The consumer's. */
    _Atomic uint32_t taken;  /* buffers taken so far; wraps */
    _Atomic uint32_t asleep; /* enum realtime_sleep */
    _Atomic uint32_t left;   /* it takes no more */
    _Atomic uint32_t read;   /* events given to its callbacks so far; wraps */
    uint32_t reserved_3[28];
    uint8_t data[]; /* the slots */
};
#define REALTIME_MAGIC   0x52545452u /* "RTTR" */
#define REALTIME_VERSION 2u
_Static_assert(offsetof(struct realtime_shared, put) == 128 && offsetof(struct realtime_shared, taken) == 256 &&
                   sizeof(struct realtime_shared) == 384,
               "apart by 128 bytes");

enum realtime_sleep { REALTIME_AWAKE, REALTIME_WAITS, REALTIME_HOLDS /* and waits for `complete`, too */ };

/* As one side maps it. */
struct realtime_ring {
    struct realtime_shared *shared;
    uint32_t buffer_size; /* checked; never read from the section again */
    uint32_t position;    /* of this side */
};
/* Bytes of the section for a session with buffers of this size. */
size_t realtime_ring_size(uint32_t buffer_size);

/* ---- the consumer's side ---- */

/* In memory that is zero. */
void realtime_ring_create(void *memory, uint32_t buffer_size, struct realtime_ring *out);
/* Copies the oldest buffer to `buffer`, of buffer_size bytes. S_FALSE: there is none; HRESULT_FROM_WIN32
   (ERROR_INVALID_DATA): what was there is none. */
HRESULT realtime_ring_take(struct realtime_ring *r, uint8_t *buffer, struct etl_buffer_header *head);
/* What was lost since the connection. */
void realtime_ring_losses(const struct realtime_ring *r, uint64_t *events, uint64_t *buffers);
/* The session has ended, and the ring is empty. */
bool realtime_ring_is_over(const struct realtime_ring *r);
/* All events up to this time of the session's clock are in the buffers that were there before this call. */
int64_t realtime_ring_complete(const struct realtime_ring *r);
/* Says that the consumer sleeps until it is woken. `holds`: also when events behind `complete` are complete. False: it
   may not sleep, there is news. */
bool realtime_ring_sleep(const struct realtime_ring *r, bool holds, int64_t complete);
void realtime_ring_awake(const struct realtime_ring *r);
void realtime_ring_leave(const struct realtime_ring *r);
/* The consumer gives out one more event: who sees no such thing for a while takes it for asleep. */
static inline void realtime_ring_read(const struct realtime_ring *r)
{
    const uint32_t read = atomic_load_explicit(&r->shared->read, memory_order_relaxed);
    atomic_store_explicit(&r->shared->read, read + 1, memory_order_relaxed);
}

/* ---- the host's side ---- */

/* HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text: these `size` bytes are no ring for buffers of this size. */
HRESULT realtime_ring_map(void *memory, size_t size, uint32_t buffer_size, struct realtime_ring *out);
/* The first buffer of a connection: the log file header of a session that runs. E_OUTOFMEMORY; S_FALSE: the ring is
   full. */
HRESULT realtime_ring_begin(struct realtime_ring *r, const struct etl_log *log);
/* `bytes` as session_sink gets them: events lie from ETL_BUFFER_HEAD to head->used. S_FALSE: the ring is full, and the
   buffer is counted as lost in it. *wake: the consumer sleeps, and is to be woken. */
HRESULT realtime_ring_put(struct realtime_ring *r, const struct etl_buffer_header *head, const uint8_t *bytes,
                          bool *wake);
bool realtime_ring_is_full(const struct realtime_ring *r);
/* All events up to `time` (session_drain_complete) have been put, or were lost: what the consumer holds back for the
   order of processors can go. To be called after each pass. */
void realtime_ring_mark(struct realtime_ring *r, int64_t time, bool *wake);
/* What the session has lost besides: so many events and buffers more. */
void realtime_ring_lost(struct realtime_ring *r, uint64_t events, uint64_t buffers);
/* Nothing follows. */
void realtime_ring_end(struct realtime_ring *r, bool *wake);
/* The consumer has left. */
bool realtime_ring_is_left(const struct realtime_ring *r);
/* Changes as long as the consumer reads. */
uint32_t realtime_ring_progress(const struct realtime_ring *r);

/* ---- the backlog ---- */

/* Buffers of a real-time session for the time when no consumer is there, and for one that comes late: kept by the host
   up to a number of bytes, the oldest first out. */
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
