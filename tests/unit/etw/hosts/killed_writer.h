/* SPDX-License-Identifier: MIT */
/* A process that writes events until it is killed, and the progress that it reports. */
#ifndef OPENPLA_KILLED_WRITER_H
#define OPENPLA_KILLED_WRITER_H

#include "engine/etw/session/session_reserve.h"
#include "tests/unit/session_fixture.h"

/* Stored in memory that outlives the process. */
struct progress {
    _Atomic uint64_t at;      /* number of accepted events * PROGRESS_UNIT, plus the state of the next event */
    _Atomic uint64_t refused; /* events that found no free space */
    _Atomic uint32_t step;    /* step of the protocol at which the process killed itself */
    _Atomic uint32_t owner;   /* identifies the writer's events */
    _Atomic uint32_t rescues;
};
enum { BETWEEN, RESERVING, HAS_PLACE, PROGRESS_UNIT };

static inline uint64_t progress_accepted(const struct progress *p)
{
    return p->at / PROGRESS_UNIT;
}

/* Returns whether the writer was killed after its commit and before it recorded the commit; `came` events are in the
   log. */
static inline bool progress_is_complete(const struct progress *p, uint64_t came)
{
    return came == progress_accepted(p) + 1 && p->at % PROGRESS_UNIT != BETWEEN;
}

/* Writes the event with this number and the writer's owner id. Returns false if there is no room. */
static inline bool progress_write(struct progress *own, const struct session_buffers *b, struct session_writer *w,
                                  uint64_t number)
{
    const struct session_writer named = {.owner = own->owner, .thread = w->thread};
    uint64_t stamp;
    own->at = number * PROGRESS_UNIT + RESERVING;
    uint8_t *at = session_reserve(b, w, EVENT_BYTES, &stamp);
    if (!at) {
        own->at = number * PROGRESS_UNIT + BETWEEN;
        return false;
    }
    own->at = number * PROGRESS_UNIT + HAS_PLACE;
    event_fill(at, &named, stamp, number);
    session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    own->at = (number + 1) * PROGRESS_UNIT + BETWEEN;
    return true;
}

/* Fails the test unless the log has all accepted events of the killed writer; `came` is the number of its events in the
   log. The writer may have left one more event incomplete, which the log counts as lost. If that is certain, 1 is added
   to *least; if it is possible, 1 is added to *most. */
static inline void progress_check(const struct progress *p, uint64_t came, uint64_t *least, uint64_t *most)
{
    const uint64_t accepted = progress_accepted(p), state = p->at % PROGRESS_UNIT;
    const bool whole = progress_is_complete(p, came);
    if (came != accepted && !whole)
        fail_msg("%llu events came, %llu were accepted, state %u, step %u", (unsigned long long)came,
                 (unsigned long long)accepted, (unsigned)state, (unsigned)p->step);
    const bool held = state == HAS_PLACE || (p->step >= SESSION_STEP_RESERVED && p->step < SESSION_STEP_COMMITTED);
    *least += held && !whole;
    *most += state != BETWEEN && !whole;
}

static uint64_t random_state = 88172645463325252u;
static inline uint64_t random_below(uint64_t most)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % most;
}

#endif
