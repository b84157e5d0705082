/* SPDX-License-Identifier: MIT */
/* The host's side of a session's buffers. It takes the buffers that providers closed, in the order of time on each
   processor, checks and copies their events, converts their stamps to the session's clock, gives them to the log,
   and returns the empty buffers. One thread does all this. It can end anywhere; another process that has the section
   then continues with session_drain_recover. */
#ifndef OPENPLA_SESSION_DRAIN_H
#define OPENPLA_SESSION_DRAIN_H

#include "engine/etw/session/session_buffers.h"

#include <stdint.h>

/* ---- fractions of 2^64: the rate of a clock; compilers for 32 bits have no product of 128 bits ---- */

/* a * b / 2^64. */
static inline uint64_t fraction_of_halves(uint64_t a, uint64_t b)
{
    const uint64_t low = (uint32_t)a, high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = high * b_low + (low * b_low >> 32), other = low * b_high + (uint32_t)middle;
    return high * b_high + (middle >> 32) + (other >> 32);
}

/* part * 2^64 / whole, of a part that is less. */
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

/* The clock of a session. Events are stamped with the processor's cycles, which is the cheapest there is; the session's
   host makes of them what the log's readers expect (DECISIONS 43). Between two pairs of readings that lie around an
   event its time is exact to what a reading is; behind the newest the rate of the last second goes on. */
/* Two clocks read at one moment. */
struct session_anchor {
    uint64_t cycles;
    int64_t time; /* of the session's clock */
};
enum { SESSION_ANCHORS = 64 }; /* a minute of them; events wait for seconds */

struct session_clock {
    uint32_t clock; /* ETL_CLOCK_* */
    enum session_source source;
    uint32_t count; /* anchors there have been */
    struct session_segment {
        struct session_anchor from;
        uint64_t scale; /* time per cycle, in 2^-64 */
    } segment[SESSION_ANCHORS];
};

/* Sets the clock going: 0.2 ms when stamps are cycles and the clock is not. */
void session_clock_start(struct session_clock *c, uint32_t clock, enum session_source source);
/* To be called by the host before it converts: takes an anchor when it is time for one, at longer and longer
   intervals at the beginning, then each second. */
void session_clock_keep(struct session_clock *c);
/* The same with a reading that is given, for tests; readings rise. */
void session_clock_add(struct session_clock *c, struct session_anchor anchor);
struct session_anchor session_clock_newest(const struct session_clock *c); /* zero when there is none */
/* Goes on from a reading that a host took which has ended, so that times from before and after fit. One that does not
   agree with our own readings to a thousandth is not used. To be called behind session_clock_start. */
void session_clock_resume(struct session_clock *c, struct session_anchor before);
/* The session's time of a stamp. */
int64_t session_clock_time(const struct session_clock *c, uint64_t stamp);
/* The stamp of now, and the session's time of it. */
uint64_t session_clock_now(const struct session_clock *c, int64_t *time);

/* ---- one closed buffer ---- */

/* Who can tell whether a writer may still write. */
struct session_liveness {
    /* `thread` 0: any of the process. Asked only for an event that is not whole. */
    bool (*alive)(void *context, uint32_t owner, uint32_t thread);
    void *context;
};

/* The order of stamps on a processor, kept from buffer to buffer: writers are not trusted to rise, nor readings of
   processors' counters taken a few ns apart. Zero-initialise. */
struct session_order {
    uint64_t stamp;
    int64_t time;
};

struct session_settled {
    uint32_t used;     /* bytes of the copy, ETL_BUFFER_HEAD included */
    uint32_t events;   /* in it */
    uint32_t torn;     /* newly found, and to be counted; also when the buffer must wait */
    uint32_t given_up; /* not whole, not torn either: by force, or in a place that no writer of ours left so */
    int64_t time;      /* of the newest event; that of `order` if there is none */
};
/* `place`: of the closed buffer's word. `copy`: room for a buffer; its header is not touched. Stamps above
   `now`, that of a moment after the buffer was closed, are not believed. False: somebody who lives writes in it, and
   `force` is not set; *order is then as it was. */
bool session_settle(const struct session_buffers *b, uint32_t buffer, uint64_t place,
                    const struct session_liveness *liveness, bool force, const struct session_clock *clock,
                    uint64_t now, struct session_order *order, uint8_t *copy, struct session_settled *out);
/* Where the events end in a buffer that no word tells the end of; ETL_BUFFER_HEAD: it has none. */
uint32_t session_unclosed_end(const struct session_buffers *b, uint32_t buffer);

/* ---- passes ---- */

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
    struct session_liveness liveness;
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
uint32_t session_drain_reap(struct session_drain *d);
/* No event is taken any more; all that was accepted goes to the sink. Who still writes an event has `patience` ms; then
   the event is counted as lost. Buffers that are kept stay. */
HRESULT session_drain_stop(struct session_drain *d, const struct session_sink *sink, uint32_t patience);
/* All events that are in memory, in the order of time on each processor, numbered from 1; they stay. */
HRESULT session_drain_snapshot(struct session_drain *d, const struct session_sink *sink);
/* In place of a host that has ended: as session_drain_stop, but for the buffer that the host had written and not given
   back. Can end anywhere too, and be begun again. */
HRESULT session_drain_recover(struct session_drain *d, const struct session_sink *sink, uint32_t patience);

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
