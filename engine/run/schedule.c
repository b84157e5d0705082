/* SPDX-License-Identifier: MIT */
/* The grid of ticks of a collector. */
#include "engine/run/schedule.h"

#include "engine/os/clock.h"

int64_t schedule_clock(void)
{
    /* The performance counter: the system's millisecond clocks step in 16 ms. */
    int64_t ticks = clock_ticks(), frequency = clock_frequency();
    return ticks / frequency * 1000 + ticks % frequency * 1000 / frequency;
}

struct schedule schedule_from(int64_t start, uint64_t interval)
{
    return (struct schedule){start, interval, 0};
}

int64_t schedule_next(const struct schedule *s)
{
    uint64_t left = (uint64_t)(INT64_MAX - s->start);
    if (!s->interval || s->taken > left / s->interval)
        return SCHEDULE_NEVER;
    return s->start + (int64_t)(s->taken * s->interval);
}

int64_t schedule_last(const struct schedule *s)
{
    return s->start + (int64_t)((s->taken - 1) * s->interval);
}

bool schedule_take(struct schedule *s, int64_t now, uint64_t *missed)
{
    *missed = 0;
    int64_t next = schedule_next(s);
    if (next == SCHEDULE_NEVER || now < next)
        return false;
    *missed = (uint64_t)(now - next) / s->interval;
    s->taken += *missed + 1;
    return true;
}
