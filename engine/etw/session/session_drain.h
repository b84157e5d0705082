/* SPDX-License-Identifier: MIT */
/* The host's side of a session: takes the buffers that providers closed, in the order of time on each processor, gives
   their events to the log and the empty buffers back. One thread. It can end anywhere, and another process that has the
   section goes on with session_drain_rescue. */
#ifndef OPENPLA_SESSION_DRAIN_H
#define OPENPLA_SESSION_DRAIN_H

#include "engine/etw/session/session_settle.h"

/* Where whole buffers go. */
struct session_sink {
    /* `bytes`: a buffer of the session's size whose events lie from ETL_BUFFER_HEAD to head->used; head->time is the
       session's time of the newest. S_FALSE or a failure: it is lost, and counted. */
    HRESULT (*write)(void *context, const struct etl_buffer_header *head, const uint8_t *bytes);
    /* Of a rescue: whether the log has the buffer of this number. */
    bool (*holds)(void *context, uint64_t number);
    void *context;
};

struct session_drain_options {
    struct session_judge judge;
    uint32_t clock;        /* ETL_CLOCK_* */
    uint16_t logger;       /* of the session, for headers of buffers */
    uint64_t first_number; /* of the first buffer, above all in the log; they rise by one */
    uint32_t keep;         /* EVENT_TRACE_BUFFERING_MODE: closed buffers that stay, of which the oldest goes for a new
                              one; 0: they go to the sink */
};
struct session_drain;
/* E_OUTOFMEMORY. *b is copied. */
HRESULT session_drain_create(const struct session_buffers *b, const struct session_drain_options *options,
                             struct session_drain **out);
void session_drain_free(struct session_drain *d); /* NULL is allowed */

/* One look over all buffers. One in which somebody still writes waits, and those of its processor behind it too, until
   buffers run short; then it comes later with the number that puts it in order. Returns how many were done with; 0:
   there is nothing to do now. What the sink said last of one that it did not take is in *hr, else S_OK. */
uint32_t session_drain_pass(struct session_drain *d, const struct session_sink *sink, HRESULT *hr);
/* Closes what holds events (FlushTimer, ControlTrace); the next pass finds it. */
void session_drain_flush(struct session_drain *d);
/* To be called each second or so: takes back buffers that a dead process had claimed, and closes those that hold events
   and that no processor knows. Returns how many. */
uint32_t session_drain_tend(struct session_drain *d);
/* No event is taken any more; all that was accepted goes to the sink. Who still writes an event has `patience` ms; then
   the event is counted as lost. Buffers that are kept stay. */
HRESULT session_drain_stop(struct session_drain *d, const struct session_sink *sink, uint32_t patience);
/* All events that are in memory, in the order of time on each processor, numbered from 1; they stay. */
HRESULT session_drain_snapshot(struct session_drain *d, const struct session_sink *sink);
/* In place of a host that has ended: as session_drain_stop, but for the buffer that the host had written and not given
   back. Can end anywhere too, and be begun again. */
HRESULT session_drain_rescue(struct session_drain *d, const struct session_sink *sink, uint32_t patience);

/* Says that the host sleeps. False: it may for a ms at most; there is work, or who still writes holds it up. *in_use:
   whether events are in memory, so that the FlushTimer counts. To be followed by session_drain_wake in any case. */
bool session_drain_sleep(struct session_drain *d, bool *in_use);
void session_drain_wake(struct session_drain *d);

struct session_statistics {
    uint64_t events, events_lost, buffers_written, buffers_lost;
    uint32_t allocated, free;
};
/* As any process may ask that maps the section. */
void session_statistics_read(const struct session_buffers *b, struct session_statistics *out);
/* The stamp from when on each writer's slot is still named in the session; a slot whose process ended before it may be
   given to another. UINT64_MAX: none is named. */
uint64_t session_drain_oldest(const struct session_drain *d);
/* The time of the session's clock up to which all events have gone to the sink; later ones may have gone, too. Those
   with a stamp of their writer's own do not count. */
int64_t session_drain_complete(const struct session_drain *d);
/* The time of the session's clock for a stamp. */
const struct session_clock *session_drain_clock(const struct session_drain *d);

#endif
