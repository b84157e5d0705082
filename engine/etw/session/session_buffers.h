/* SPDX-License-Identifier: MIT */
/* The section of a session: how large, how it begins, and what is checked before one that another process made is
   used. */
#ifndef OPENPLA_SESSION_BUFFERS_H
#define OPENPLA_SESSION_BUFFERS_H

#include "engine/etw/session/session_layout.h"

struct session_shape {
    uint32_t buffers;     /* the most there may be, 1 to SESSION_MOST_BUFFERS */
    uint32_t minimum;     /* used from the beginning; more only when none is free. 1 to buffers */
    uint32_t buffer_size; /* bytes: whole KB from ETL_SMALLEST_BUFFER to ETL_LARGEST_BUFFER */
    uint32_t processors;  /* streams of events, 1 to SESSION_MOST_PROCESSORS; 1: NO_PER_PROCESSOR_BUFFERING */
    uint32_t wake_at;     /* closed buffers for which the host is woken, 1 to buffers */
    enum session_source source;
};
/* The fastest source that this machine's cycle counter and a session's clock (ETL_CLOCK_*) allow. */
enum session_source session_source_for(uint32_t clock);

/* Bytes of the section. E_INVALIDARG with a text for a shape that is none; of a 32-bit program also for one that it has
   no room for. */
HRESULT session_buffers_size(const struct session_shape *shape, size_t *size);
/* Makes a session of memory that is zero, and maps it. */
HRESULT session_buffers_create(void *memory, size_t size, const struct session_shape *shape,
                               struct session_buffers *out);
/* The session that another process made in these `size` bytes. HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text: it
   is none, or it does not lie within them. Whatever is written there later leads no access out of them. */
HRESULT session_buffers_map(void *memory, size_t size, struct session_buffers *out);

/* Events lost for want of a buffer or since they were too long, of all processors. */
uint64_t session_buffers_lost(const struct session_buffers *b);
/* How many buffers are used so far, and how many of these are free. */
void session_buffers_count(const struct session_buffers *b, uint32_t *allocated, uint32_t *free);
/* By the host: so many buffers may be used from now on, up to those there are; what is in others stays until it is
   written. */
void session_buffers_bound(const struct session_buffers *b, uint32_t most);
/* A number for a TraceMessage event, from 1: each once in the session. */
uint32_t session_next_sequence(const struct session_buffers *b);

#endif
