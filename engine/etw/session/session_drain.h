/* SPDX-License-Identifier: MIT */
/* The host process's side of a session's buffers. It takes the buffers that writers closed, in each processor's time
   order, checks and copies their events, converts their time stamps to the session's clock, passes them to the log, and
   returns the empty buffers. A single thread does all this. If it is killed at any point, another process that maps the
   section continues with session_drain_recover. session_drain.c describes the steps. */
#ifndef OPENPLA_SESSION_DRAIN_H
#define OPENPLA_SESSION_DRAIN_H

#include "engine/etw/session/session_buffers.h"

#include <stdint.h>

/* ---- fractions of 2^64, which express a clock's rate; 32-bit compilers have no 128-bit product ---- */

/* a * b / 2^64. */
static inline uint64_t fraction_of_halves(uint64_t a, uint64_t b)
{
    const uint64_t low = (uint32_t)a, high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = high * b_low + (low * b_low >> 32), other = low * b_high + (uint32_t)middle;
    return high * b_high + (middle >> 32) + (other >> 32);
}

/* part * 2^64 / whole; part < whole. */
static inline uint64_t fraction_by_bits(uint64_t part, uint64_t whole)
{
    uint64_t fraction = 0;
    for (int bit = 0; bit < 64; bit++) {
        const uint64_t over = part >> 63;
        part <<= 1;
        fraction <<= 1;
        if (over != 0 || part >= whole) {
            part -= whole;
            fraction |= 1;
        }
    }
    return fraction;
}

static inline uint64_t fraction_of(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)((unsigned __int128)a * b >> 64);
#else
    return fraction_of_halves(a, b);
#endif
}

static inline uint64_t fraction(uint64_t part, uint64_t whole)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)(((unsigned __int128)part << 64) / whole);
#else
    return fraction_by_bits(part, whole);
#endif
}

/* ---- the clock ---- */

/* The clock of a session. Writers stamp events with the processor's cycle counter, which is the fastest source. The
   host process converts the stamps to the clock that the log's readers expect (DECISIONS 43). From time to time, the
   host process reads both clocks together; such a pair of readings is an anchor. Between two anchors, a converted time
   is as exact as if the clock had been read. After the newest anchor, the rate of the last second is used. */
/* An anchor: readings of both clocks at the same time. */
struct session_anchor {
    uint64_t cycles;
    int64_t time; /* reading of the session's clock */
};
enum { SESSION_ANCHORS = 64 }; /* enough for one minute, while an event waits for some seconds at most */

struct session_clock {
    uint32_t clock; /* ETL_CLOCK_* */
    enum session_source source;
    uint32_t count; /* number of anchors so far */
    struct session_segment {
        struct session_anchor from;
        uint64_t scale; /* time per cycle, in units of 2^-64 */
    } segment[SESSION_ANCHORS];
};

/* Starts the clock. Takes 0.2 ms if the stamps are cycles and the session's clock does not count cycles. */
void session_clock_start(struct session_clock *c, uint32_t clock, enum session_source source);
/* Takes an anchor if enough time has passed since the newest one. The intervals grow at first; later they are one
   second. The host process calls it before it converts times. */
void session_clock_keep(struct session_clock *c);
/* Adds an anchor with a given reading, for tests. Each reading must be later than the previous one. */
void session_clock_add(struct session_clock *c, struct session_anchor anchor);
/* Returns the newest anchor, or all zero before the first anchor. */
struct session_anchor session_clock_newest(const struct session_clock *c);
/* Continues from an anchor of a host process that has exited, so that times before and after its exit fit together.
   Ignores the anchor if, in relation to the elapsed time, it differs by more than 1/1000 from the clock readings of
   this process. Call it after session_clock_start. */
void session_clock_resume(struct session_clock *c, struct session_anchor before);
/* Converts a time stamp to the session's clock. */
int64_t session_clock_time(const struct session_clock *c, uint64_t stamp);
/* Returns the current time stamp; *time is the same time in the session's clock. */
uint64_t session_clock_now(const struct session_clock *c, int64_t *time);

/* ---- one closed buffer ---- */

/* Determines whether a writer can still complete its event. */
struct session_liveness {
    /* Returns whether the thread of the process in slot `owner` is alive; `thread` 0: any thread. Only called for the
       owners of incomplete events. */
    bool (*alive)(void *context, uint32_t owner, uint32_t thread);
    void *context;
};

/* The newest time stamp and time on a processor, kept from buffer to buffer to correct time stamps that decrease. Time
   stamps can decrease because writers are not trusted, and because the counters of two processors that are read a few
   ns apart can differ. Zero-initialise. */
struct session_order {
    uint64_t stamp;
    int64_t time;
};

struct session_settled {
    uint32_t used;     /* bytes of the copy, including ETL_BUFFER_HEAD */
    uint32_t events;   /* complete events in the copy */
    uint32_t torn;     /* newly found torn events, which are counted even if the buffer must wait */
    uint32_t given_up; /* incomplete places that were dropped without a "torn" mark: because of `force` or MOST_CHECKS,
                          or because a place is malformed */
    int64_t time;      /* time of the newest event; if there is no event, order->time */
};
/* Copies the complete events of a closed buffer, and marks dead writers' incomplete events as torn. `place` is from the
   buffer's word; `copy` has room for a buffer, whose header is not changed. Time stamps later than `now`, which was
   read after the buffer was closed, are corrected. Returns false if a living writer has not finished and `force` is not
   set; *order is then unchanged. */
bool session_settle(const struct session_buffers *b, uint32_t buffer, uint64_t place,
                    const struct session_liveness *liveness, bool force, const struct session_clock *clock,
                    uint64_t now, struct session_order *order, uint8_t *copy, struct session_settled *out);
/* Returns where the events end in a buffer whose word does not show this; ETL_BUFFER_HEAD: it has no events. */
uint32_t session_unclosed_end(const struct session_buffers *b, uint32_t buffer);

/* ---- passes ---- */

/* The destination of the buffers. */
struct session_sink {
    /* Takes a buffer of the session's size. The events begin at ETL_BUFFER_HEAD and end at head->used. head->time is
       the time of the newest event, in the session's clock. If the function returns S_FALSE or a failure, the buffer is
       counted as lost. */
    HRESULT (*write)(void *context, const struct etl_buffer_header *head, const uint8_t *bytes);
    /* Used only in a recovery. Returns whether the log already contains the buffer with this number. */
    bool (*holds)(void *context, uint64_t number);
    void *context;
};

struct session_drain_options {
    struct session_liveness liveness;
    uint32_t clock;        /* ETL_CLOCK_* */
    uint16_t logger;       /* logger id for the headers of buffers */
    uint64_t first_number; /* number of the first buffer, higher than all numbers in the log; each further buffer gets
                              the next number */
    uint32_t keep; /* EVENT_TRACE_BUFFERING_MODE: how many closed buffers stay in memory; after that, the oldest one is
                      freed. 0: all buffers go to the sink */
};
struct session_drain;
/* Prepares for emptying the buffers of *b, which is copied. Errors: E_OUTOFMEMORY. */
HRESULT session_drain_create(const struct session_buffers *b, const struct session_drain_options *options,
                             struct session_drain **out);
void session_drain_free(struct session_drain *d); /* NULL is allowed */

/* Makes one pass through all buffers. A buffer with an unfinished event waits, and the later buffers of the same
   processor wait for it. But if only few buffers are free, the later buffers are written first; the waiting buffer
   keeps its lower number. Returns how many buffers were finished; 0: there is nothing to do now. *hr is the sink's last
   result other than S_OK. */
uint32_t session_drain_pass(struct session_drain *d, const struct session_sink *sink, HRESULT *hr);
/* Closes all buffers that contain events (FlushTimer, ControlTrace); the next pass finds them. */
void session_drain_flush(struct session_drain *d);
/* Frees buffers that a dead process had claimed, and closes claimed buffers that contain events but that no processor
   names. Call it about once a second. Returns how many buffers it freed or closed. */
uint32_t session_drain_reap(struct session_drain *d);
/* Stops the session: no more events are accepted, and all accepted events go to the sink. Writers in the middle of an
   event have `patience` ms; then their events count as lost. Kept buffers stay. */
HRESULT session_drain_stop(struct session_drain *d, const struct session_sink *sink, uint32_t patience);
/* Writes all events in memory to the sink, in each processor's time order, in buffers numbered from 1. The events stay
   in memory. */
HRESULT session_drain_snapshot(struct session_drain *d, const struct session_sink *sink);
/* Does the same as session_drain_stop for a dead host process, except that it skips buffers that the log already has.
   If the recovering process is killed, another process can repeat the recovery. */
HRESULT session_drain_recover(struct session_drain *d, const struct session_sink *sink, uint32_t patience);

/* Announces that the host process is about to sleep. Returns false if at least `wake_at` closed buffers wait for this
   process or for a writer. The host process may then sleep for at most 1 ms. *in_use is true if a processor has a
   buffer, which can contain events; then the FlushTimer applies. Call session_drain_wake afterwards in any case. */
bool session_drain_sleep(struct session_drain *d, bool *in_use);
void session_drain_wake(struct session_drain *d);

struct session_statistics {
    uint64_t events, events_lost, buffers_written, buffers_lost;
    uint32_t allocated, free;
};
/* May be called by any process that maps the section. */
void session_statistics_read(const struct session_buffers *b, struct session_statistics *out);
/* Finds the oldest claim among the buffers that may refer to writers' slots, and returns its time stamp. If a process
   exited before this time, its slot may be reused. Returns UINT64_MAX if no buffer refers to a slot. */
uint64_t session_drain_oldest(const struct session_drain *d);
/* Returns the time, in the session's clock, up to which all events have been passed to the sink; later events may have
   been passed, too. Events whose time stamp was supplied by their writer are not considered. */
int64_t session_drain_complete(const struct session_drain *d);
/* Returns the clock, for converting time stamps. */
const struct session_clock *session_drain_clock(const struct session_drain *d);

#endif
