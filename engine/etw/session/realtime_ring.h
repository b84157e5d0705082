/* SPDX-License-Identifier: MIT */
/* The ring that transfers buffers of a session from its host process to one real-time consumer, and the backlog of
   buffers that wait for a consumer. The consumer creates the ring's section, and the host process maps it. Neither side
   waits for the other: when the ring is full the buffer is lost, and counted. Either side may be killed at any
   instruction, or may write anything into the section. Therefore each side keeps the checked constants and its position
   outside the section, and copies a buffer before inspecting it. */
#ifndef OPENPLA_REALTIME_RING_H
#define OPENPLA_REALTIME_RING_H

#include "engine/logs/etl_record.h"

#include <stdatomic.h>

enum { REALTIME_SLOTS = 32 };

/* The host process and the consumer each write to a separate block of 128 bytes, so that they share no cache line. */
struct realtime_shared {
    _Atomic uint32_t magic, version, slots, buffer_size; /* constants; magic is set last */
    uint32_t reserved_1[28];
    /* Written by the host process. */
    _Atomic uint32_t put;                       /* number of buffers put; wraps */
    _Atomic uint32_t ended;                     /* the session has ended; no buffer follows */
    _Atomic uint64_t events_lost, buffers_lost; /* losses since the consumer connected */
    _Atomic int64_t complete;                   /* all events up to this time have been put */
    uint32_t reserved_2[24];
    /* Written by the consumer. */
    _Atomic uint32_t taken;  /* number of buffers taken; wraps */
    _Atomic uint32_t asleep; /* enum realtime_sleep */
    _Atomic uint32_t left;   /* the consumer accepts no more buffers */
    _Atomic uint32_t read;   /* number of events passed to callbacks; wraps */
    uint32_t reserved_3[28];
    uint8_t data[]; /* the slots */
};
#define REALTIME_MAGIC   0x52545452u /* "RTTR" */
#define REALTIME_VERSION 2u
_Static_assert(offsetof(struct realtime_shared, put) == 128 && offsetof(struct realtime_shared, taken) == 256 &&
                   sizeof(struct realtime_shared) == 384,
               "128 bytes apart");

/* The state of the consumer. A consumer in the state REALTIME_HOLDS must also be woken when `complete` increases. */
enum realtime_sleep { REALTIME_AWAKE, REALTIME_WAITS, REALTIME_HOLDS };

/* A ring as mapped by the host process or by the consumer. */
struct realtime_ring {
    struct realtime_shared *shared;
    uint32_t buffer_size; /* checked once; never read from the section again */
    uint32_t position;    /* position of this side in the ring */
};
/* Returns the size in bytes of the section for buffers of this size. */
size_t realtime_ring_size(uint32_t buffer_size);

/* ---- the consumer's side ---- */

/* Initialises a ring in zeroed memory. */
void realtime_ring_create(void *memory, uint32_t buffer_size, struct realtime_ring *out);
/* Copies the oldest buffer to `buffer`, which has buffer_size bytes. Returns S_FALSE if the ring is empty. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the buffer was malformed; the buffer was then skipped. */
HRESULT realtime_ring_take(struct realtime_ring *r, uint8_t *buffer, struct etl_buffer_header *head);
/* Returns the losses since the consumer connected. */
void realtime_ring_losses(const struct realtime_ring *r, uint64_t *events, uint64_t *buffers);
/* Returns whether the session has ended and the ring is empty. */
bool realtime_ring_is_over(const struct realtime_ring *r);
/* Returns the time, in the session's clock, up to which all events are in buffers that were put before this call. */
int64_t realtime_ring_complete(const struct realtime_ring *r);
/* Announces that the consumer will sleep. The host process wakes the consumer for a new buffer and at the end of the
   session. If `holds` is true, the host process also wakes the consumer when the value of realtime_ring_complete
   exceeds `complete`. Returns false if there is already a reason to wake; then the consumer must not sleep. */
bool realtime_ring_sleep(const struct realtime_ring *r, bool holds, int64_t complete);
void realtime_ring_awake(const struct realtime_ring *r);
void realtime_ring_leave(const struct realtime_ring *r);
/* Counts an event that the consumer has passed to a callback, as a part of realtime_ring_progress. If the progress does
   not change, the host process assumes that the consumer has stopped reading. */
static inline void realtime_ring_read(const struct realtime_ring *r)
{
    const uint32_t read = atomic_load_explicit(&r->shared->read, memory_order_relaxed);
    atomic_store_explicit(&r->shared->read, read + 1, memory_order_relaxed);
}

/* ---- the host process's side ---- */

/* Maps a ring that a consumer created. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA), with an error text, if these
   `size` bytes are not a ring for buffers of this size. */
HRESULT realtime_ring_map(void *memory, size_t size, uint32_t buffer_size, struct realtime_ring *out);
/* Puts the first buffer of a connection: the log file header of a running session. Returns S_FALSE if the ring is full,
   and E_OUTOFMEMORY if memory runs out. */
HRESULT realtime_ring_begin(struct realtime_ring *r, const struct etl_log *log);
/* Puts a buffer in the form that session_sink receives: events from ETL_BUFFER_HEAD to head->used. If the ring is full,
   returns S_FALSE and counts the buffer as lost. *wake is true if the consumer is asleep and must be woken. */
HRESULT realtime_ring_put(struct realtime_ring *r, const struct etl_buffer_header *head, const uint8_t *bytes,
                          bool *wake);
bool realtime_ring_is_full(const struct realtime_ring *r);
/* Reports that each event up to `time` (session_drain_complete) is in the ring or was lost. Consumers hold events back
   so that they can merge the processors' events by time. They can deliver events up to `time` now. Call it after each
   pass. */
void realtime_ring_mark(struct realtime_ring *r, int64_t time, bool *wake);
/* Adds `events` and `buffers` to the losses that the consumer sees. */
void realtime_ring_lost(struct realtime_ring *r, uint64_t events, uint64_t buffers);
/* Reports that no more buffers follow. */
void realtime_ring_end(struct realtime_ring *r, bool *wake);
/* Returns whether the consumer has left. */
bool realtime_ring_is_left(const struct realtime_ring *r);
/* Returns a number that changes while the consumer reads. */
uint32_t realtime_ring_progress(const struct realtime_ring *r);

/* ---- the backlog ---- */

/* A queue of buffers that wait while a consumer is behind or no consumer is connected: first in, first out. `most`
   limits its size in bytes. */
struct realtime_backlog {
    uint64_t most;    /* maximum number of bytes of events and buffer headers */
    uint64_t bytes;   /* bytes in the backlog now */
    uint64_t count;   /* number of buffers in the backlog now */
    uint64_t dropped; /* number of buffers that did not fit */
    struct backlog_buffer *first, *last;
};
/* Keeps a copy of the buffer. Returns S_FALSE and counts the buffer as dropped if the buffer does not fit or memory
   runs out. First zero-initialise *b and set `most`. */
HRESULT realtime_backlog_add(struct realtime_backlog *b, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Moves as many buffers to the ring as fit. Returns true if the backlog is empty, so that newer buffers may be put into
   the ring. */
bool realtime_backlog_give(struct realtime_backlog *b, struct realtime_ring *ring, bool *wake);
void realtime_backlog_free(struct realtime_backlog *b); /* frees the buffers in it */

#endif
