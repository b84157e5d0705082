/* SPDX-License-Identifier: MIT */
/* The grid of ticks of a collector. */
#include "engine/pla/run/tick_grid.h"

#include "engine/base/clock.h"

int64_t tick_clock(void)
{
    /* The performance counter: the system's millisecond clocks step in 16 ms. */
    int64_t ticks = clock_ticks(), frequency = clock_frequency();
    return ticks / frequency * 1000 + ticks % frequency * 1000 / frequency;
}

struct tick_grid tick_grid_from(int64_t start, uint64_t interval)
{
    return (struct tick_grid){start, interval, 0};
}

int64_t tick_grid_next(const struct tick_grid *s)
{
    uint64_t left = (uint64_t)(INT64_MAX - s->start);
    if (!s->interval || s->taken > left / s->interval)
        return TICK_NEVER;
    return s->start + (int64_t)(s->taken * s->interval);
}

int64_t tick_grid_last(const struct tick_grid *s)
{
    return s->start + (int64_t)((s->taken - 1) * s->interval);
}

bool tick_grid_take(struct tick_grid *s, int64_t now, uint64_t *missed)
{
    *missed = 0;
    int64_t next = tick_grid_next(s);
    if (next == TICK_NEVER || now < next)
        return false;
    *missed = (uint64_t)(now - next) / s->interval;
    s->taken += *missed + 1;
    return true;
}
