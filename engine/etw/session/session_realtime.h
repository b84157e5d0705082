/* SPDX-License-Identifier: MIT */
/* The real-time consumers of a hosted session: a ring for each, what waits for those that are behind, and what for who
   comes first. The host never waits for them: what finds no room is lost, and counted. */
#ifndef OPENPLA_SESSION_REALTIME_H
#define OPENPLA_SESSION_REALTIME_H

#include "engine/etw/directory.h"
#include "engine/etw/session/realtime_backlog.h"

enum { SESSION_CONSUMERS = 32 };

struct session_realtime {
    struct session_consumer *consumer[SESSION_CONSUMERS];
    struct process *process[SESSION_CONSUMERS]; /* of each, in the same order, for waits */
    size_t count;
    struct realtime_backlog backlog; /* of who comes first */
    uint32_t patience_ms;
    uint64_t lost; /* buffers, by all */
};
/* How much may wait, for each; and how long one that is to have no more may take nothing of what waits for it. */
void session_realtime_begin(struct session_realtime *r, uint64_t backlog_bytes, uint32_t patience_ms);
/* A consumer has made the section of its ring and the signal that wakes it under this name. The first thing in its ring
   is `log`, then what was waiting. Codes of Windows: 1450 there are SESSION_CONSUMERS; 87 it is no ring for such
   buffers, or the process does not live. */
ULONG session_realtime_connect(struct session_realtime *r, const struct directory_process *process, const char *name,
                               const struct etl_log *log);
void session_realtime_disconnect(struct session_realtime *r, const char *name);
void session_realtime_ended(struct session_realtime *r, size_t consumer); /* its process has */
void session_realtime_write(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Hands on what waits, and forgets who has left, has all that he is to have, or sleeps then. True: some of it waits for
   a consumer that is there. */
bool session_realtime_pass(struct session_realtime *r);
/* Forgets whose process has ended, without waiting. */
void session_realtime_tend(struct session_realtime *r);
/* All events until `time` of the session's clock have been written. */
void session_realtime_mark(struct session_realtime *r, int64_t time);
/* So many events and buffers more were lost on their way to us. */
void session_realtime_lost(struct session_realtime *r, uint64_t events, uint64_t buffers);
/* For the consumers that are there nothing follows: they end when they have what waits for them, or have read nothing
   for as long as patience is. What waited for nobody is lost. */
void session_realtime_leave(struct session_realtime *r);

#endif
