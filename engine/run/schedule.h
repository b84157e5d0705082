/* SPDX-License-Identifier: MIT */
/* When samples are due: an absolute grid of ticks from the start of a run, so that late samples do not shift later
 * ones. */
#ifndef OPENPLA_SCHEDULE_H
#define OPENPLA_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_NEVER INT64_MAX

/* All times in milliseconds of one monotonic clock. */
struct schedule {
    int64_t start;
    uint64_t interval; /* 0: nothing is ever due */
    uint64_t taken;    /* ticks that are over: taken or missed */
};

/* The clock that schedules run by. */
int64_t schedule_clock(void);
/* The first tick is due at `start` itself. */
struct schedule schedule_from(int64_t start, uint64_t interval);
/* When the next tick is due; SCHEDULE_NEVER. */
int64_t schedule_next(const struct schedule *s);
/* When the tick that was taken last was due. */
int64_t schedule_last(const struct schedule *s);
/* True: a tick is due at `now`, and is taken by this call. *missed is the number of earlier ticks that nobody took:
   they are skipped, not made up for. */
bool schedule_take(struct schedule *s, int64_t now, uint64_t *missed);

#endif
