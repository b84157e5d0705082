/* SPDX-License-Identifier: MIT */
/* Converts cycles to the session's clock with anchors, which are simultaneous readings of both clocks. */
#include "engine/base/clock.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/logs/etl_record.h"

enum {
    READINGS = 64,         /* number of readings, of which the quickest is used */
    FIRST_INTERVAL = 2000, /* 0.2 ms, in units of 100 ns; the longer the interval, the more exact the rate */
    LAST_INTERVAL = 10000000,
    /* A rate that changes by more than 1/64 is not used: the clock was set, or the machine was migrated. */
    JUMP_PARTS = 64,
};

static bool converts(const struct session_clock *c)
{
    return c->source == SESSION_STAMP_CYCLES && c->clock != ETL_CLOCK_CYCLES;
}

static int64_t read_time(const struct session_clock *c)
{
    return c->clock == ETL_CLOCK_SYSTEM ? clock_utc() : clock_ticks();
}

/* The slower clock advances in steps of 100 ns. Reads both clocks just after such a step, so that the steps cause no
   error. */
static struct session_anchor read_anchor(const struct session_clock *c)
{
    struct session_anchor best = {0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        const int64_t before = read_time(c);
        uint64_t from = processor_cycles();
        int64_t time = read_time(c);
        uint64_t to = processor_cycles();
        while (time == before) {
            from = to;
            time = read_time(c);
            to = processor_cycles();
        }
        if (to - from < shortest) {
            shortest = to - from;
            best = (struct session_anchor){from + (to - from) / 2, time};
        }
    }
    return best;
}

static struct session_segment *segment(struct session_clock *c, uint32_t number)
{
    return &c->segment[number % SESSION_ANCHORS];
}

void session_clock_add(struct session_clock *c, struct session_anchor anchor)
{
    struct session_segment *newest = segment(c, c->count);
    *newest = (struct session_segment){.from = anchor};
    if (c->count != 0) {
        struct session_segment *before = segment(c, c->count - 1);
        const uint64_t cycles = anchor.cycles - before->from.cycles;
        const int64_t time = anchor.time - before->from.time;
        uint64_t scale = before->scale;
        if (time > 0 && (uint64_t)time < cycles) {
            const uint64_t measured = fraction((uint64_t)time, cycles);
            const uint64_t most = scale + scale / JUMP_PARTS, least = scale - scale / JUMP_PARTS;
            if (c->count == 1 || (measured <= most && measured >= least))
                scale = measured;
        }
        before->scale = newest->scale = scale;
    }
    c->count++;
}

void session_clock_start(struct session_clock *c, uint32_t clock, enum session_source source)
{
    *c = (struct session_clock){.clock = clock, .source = source};
    if (!converts(c))
        return;
    session_clock_add(c, read_anchor(c));
    const int64_t from = clock_ticks(), wait = clock_frequency() / (LAST_INTERVAL / FIRST_INTERVAL);
    while (clock_ticks() - from < wait)
        ;
    session_clock_add(c, read_anchor(c));
}

void session_clock_keep(struct session_clock *c)
{
    if (!converts(c))
        return;
    const struct session_segment *newest = segment(c, c->count - 1);
    const uint64_t passed = processor_cycles() - newest->from.cycles;
    const uint64_t time = fraction_of(passed, newest->scale);
    /* All times are in units of 100 ns here. On every machine on which cycles measure time, clock_frequency is 10
       MHz. */
    const uint64_t wait = c->count < 14 ? (uint64_t)FIRST_INTERVAL << (c->count - 1) : LAST_INTERVAL;
    if (time >= (wait < LAST_INTERVAL ? wait : LAST_INTERVAL))
        session_clock_add(c, read_anchor(c));
}

int64_t session_clock_time(const struct session_clock *c, uint64_t stamp)
{
    if (!converts(c))
        return (int64_t)stamp;
    const uint32_t oldest = c->count > SESSION_ANCHORS ? c->count - SESSION_ANCHORS : 0;
    uint32_t number = c->count - 1;
    while (number > oldest && stamp < c->segment[number % SESSION_ANCHORS].from.cycles)
        number--;
    const struct session_segment *s = &c->segment[number % SESSION_ANCHORS];
    if (stamp >= s->from.cycles) {
        const uint64_t passed = stamp - s->from.cycles;
        return (int64_t)((uint64_t)s->from.time + fraction_of(passed, s->scale));
    }
    const uint64_t earlier = s->from.cycles - stamp;
    return (int64_t)((uint64_t)s->from.time - fraction_of(earlier, s->scale));
}

uint64_t session_clock_now(const struct session_clock *c, int64_t *time)
{
    const uint64_t stamp = c->source == SESSION_STAMP_CYCLES ? processor_cycles() : session_clock_stamp(c->source);
    *time = session_clock_time(c, stamp);
    return stamp;
}

struct session_anchor session_clock_newest(const struct session_clock *c)
{
    return c->count != 0 ? c->segment[(c->count - 1) % SESSION_ANCHORS].from : (struct session_anchor){0};
}

void session_clock_resume(struct session_clock *c, struct session_anchor before)
{
    enum { PARTS = 1000, SLACK = 1000 }; /* allowed difference: 100 us plus a thousandth of the elapsed time */
    if (!converts(c) || before.cycles >= c->segment[0].from.cycles)
        return;
    const int64_t expected = session_clock_time(c, before.cycles);
    const int64_t allowed = (c->segment[0].from.time - expected) / PARTS + SLACK;
    const struct session_segment own = c->segment[(c->count - 1) % SESSION_ANCHORS];
    if (before.time > expected + allowed || before.time < expected - allowed)
        return;
    c->count = 0;
    session_clock_add(c, before);
    session_clock_add(c, own.from);
}
