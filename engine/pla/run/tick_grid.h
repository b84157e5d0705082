/* SPDX-License-Identifier: MIT */
/* When samples are due: an absolute grid of ticks from the start of a run, so that late samples do not shift later
 * ones. */
#ifndef OPENPLA_TICK_GRID_H
#define OPENPLA_TICK_GRID_H

#include <stdbool.h>
#include <stdint.h>

#define TICK_NEVER INT64_MAX

/* All times in milliseconds of one monotonic clock. */
struct tick_grid {
    int64_t start;
    uint64_t interval; /* 0: nothing is ever due */
    uint64_t taken;    /* ticks that are over: taken or missed */
};

/* The clock that grids run by. */
int64_t tick_clock(void);
/* The first tick is due at `start` itself. */
struct tick_grid tick_grid_from(int64_t start, uint64_t interval);
/* When the next tick is due; TICK_NEVER. */
int64_t tick_grid_next(const struct tick_grid *s);
/* When the tick that was taken last was due. */
int64_t tick_grid_last(const struct tick_grid *s);
/* True: a tick is due at `now`, and is taken by this call. *missed is the number of earlier ticks that nobody took:
   they are skipped, not made up for. */
bool tick_grid_take(struct tick_grid *s, int64_t now, uint64_t *missed);

#endif
