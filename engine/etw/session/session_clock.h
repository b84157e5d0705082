/* SPDX-License-Identifier: MIT */
/* The clock of a session. Events are stamped with the processor's cycles, which is the cheapest there is; the session's
   host makes of them what the log's readers expect (DECISIONS 43). Between two pairs of readings that lie around an
   event its time is exact to what a reading is; behind the newest the rate of the last second goes on. */
#ifndef OPENPLA_SESSION_CLOCK_H
#define OPENPLA_SESSION_CLOCK_H

#include "engine/etw/session/session_layout.h"

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

#endif
