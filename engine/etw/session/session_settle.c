/* SPDX-License-Identifier: MIT */
/* Walks the places of a closed buffer. Everything in it may be a lie: each first word is loaded once, and what is
   derived from it stays inside the buffer. */
#include "engine/etw/session/session_settle.h"

#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <string.h>

/* A step back of less than this is not the clock's, that was set, but what two of its segments differ by. 1 ms. */
#define JITTER INT64_C(10000)
/* At places of one buffer that are not whole: a thread has one at most, and each costs a question to the system. */
enum { MOST_LOOKS = 1000 };

struct walk {
    uint8_t *data;
    uint32_t at, end, last; /* last: of the newest place, whose size the buffer's word tells; end when there is none */
    uint32_t owner;         /* of the newest place */
};

static struct walk begin(const struct session_buffers *b, uint32_t buffer, uint64_t place)
{
    struct walk w = {session_data(b, buffer), ETL_BUFFER_HEAD, session_word_end(place), 0, session_word_owner(place)};
    const uint32_t size = session_word_size(place);
    if (w.end > b->buffer_size)
        w.end = b->buffer_size;
    if (w.end < ETL_BUFFER_HEAD)
        w.end = ETL_BUFFER_HEAD;
    w.last = size != 0 && size <= w.end - ETL_BUFFER_HEAD ? w.end - size : w.end;
    return w;
}

static uint64_t first_word(const struct walk *w)
{
    return session_load(session_first_word(w->data + w->at));
}

/* Bytes of the place at w->at, whose first word this is; 0: what it says cannot be. */
static uint32_t place_size(const struct walk *w, uint64_t first)
{
    const uint32_t room = w->end - w->at;
    uint32_t size = (uint32_t)(first & 0xFFFF);
    switch (session_event_mark(first)) {
    case SESSION_EVENT_WHOLE:
    case SESSION_EVENT_MESSAGE: {
        uint8_t head[8];
        put_u64(head, first & ~SESSION_OWN_STAMP);
        if (!etl_event_length(head, &size))
            return 0;
        break;
    }
    case SESSION_EVENT_WRITING:
    case SESSION_EVENT_HELPED:
    case SESSION_EVENT_TORN:
        break;
    case SESSION_EVENT_RESERVED:
        if (first != 0)
            return 0;
        if (w->at == w->last)
            return room;
        /* Of unknown size: up to what comes next. */
        for (size = 8; size < room && w->at + size != w->last; size += 8)
            if (session_load(session_first_word(w->data + w->at + size)) != 0)
                break;
        break;
    default:
        return 0;
    }
    size = (size + 7) & ~(uint32_t)7;
    return size >= 8 && size <= room ? size : 0;
}

static int64_t in_order(const struct session_clock *clock, struct session_order *order, uint64_t stamp, uint64_t now)
{
    if (clock->source != SESSION_STAMP_SYSTEM) { /* that one may be set */
        if (stamp > now)
            stamp = now;
        if (stamp < order->stamp)
            stamp = order->stamp;
        order->stamp = stamp;
    }
    const int64_t time = session_clock_time(clock, stamp);
    if (time > order->time || order->time - time > JITTER)
        order->time = time;
    return order->time;
}

static void copy_event(const struct walk *w, uint64_t first, uint32_t size, const struct session_clock *clock,
                       uint64_t now, struct session_order *order, uint8_t *to)
{
    /* Who reserved behind it may be trying that word still. */
    memcpy(to + 8, w->data + w->at + 8, size - 8);
    put_u64(to, first & ~SESSION_OWN_STAMP);
    const uint32_t at = etl_event_stamp_at(to);
    if (at != 0 && at + 8 <= size && (first & SESSION_OWN_STAMP) == 0)
        put_u64(to + at, (uint64_t)in_order(clock, order, get_u64(to + at), now));
}

enum verdict { LOOK_AGAIN, WAIT, LOST, TORN_BEFORE };

/* Of a place that is not whole. */
static enum verdict judge_place(const struct walk *w, uint64_t first, uint32_t size, const struct session_judge *judge)
{
    const uint32_t mark = session_event_mark(first);
    const bool known = mark != SESSION_EVENT_RESERVED || w->at == w->last;
    if (mark == SESSION_EVENT_TORN)
        return TORN_BEFORE;
    const uint32_t owner = mark == SESSION_EVENT_RESERVED ? w->owner : (uint32_t)(first >> 16 & 0xFFF);
    const uint32_t thread = mark == SESSION_EVENT_WRITING ? (uint32_t)(first >> 32) : 0;
    if (!known || judge->alive(judge->context, owner, thread))
        return WAIT;
    /* So that nobody asks for the owner again: its slot may be another process' by then. If it fails, the owner had
       finished the event before it ended. */
    const uint64_t torn = session_event_open(SESSION_EVENT_TORN, size, 0, 0);
    return session_swap(session_first_word(w->data + w->at), &first, torn) ? LOST : LOOK_AGAIN;
}

bool session_settle(const struct session_buffers *b, uint32_t buffer, uint64_t place, const struct session_judge *judge,
                    bool force, const struct session_clock *clock, uint64_t now, struct session_order *order,
                    uint8_t *copy, struct session_settled *out)
{
    struct session_order rising = *order;
    struct walk w = begin(b, buffer, place);
    uint32_t looks = 0;
    *out = (struct session_settled){.used = ETL_BUFFER_HEAD};
    while (w.at < w.end) {
        const uint64_t first = first_word(&w);
        const uint32_t mark = session_event_mark(first), size = place_size(&w, first);
        if (size == 0) {
            out->given_up++; /* and all behind it: where the next one begins cannot be known */
            break;
        }
        if (mark == SESSION_EVENT_WHOLE || mark == SESSION_EVENT_MESSAGE) {
            copy_event(&w, first, size, clock, now, &rising, copy + out->used);
            out->used += size;
            out->events++;
            w.at += size;
            continue;
        }
        if (++looks > MOST_LOOKS) {
            out->given_up++;
            break;
        }
        const enum verdict verdict = judge_place(&w, first, size, judge);
        if (verdict == LOOK_AGAIN)
            continue;
        if (verdict == WAIT && !force)
            return false;
        out->torn += verdict == LOST;
        out->given_up += verdict == WAIT;
        w.at += size;
    }
    out->time = rising.time;
    *order = rising;
    return true;
}

uint32_t session_unclosed_end(const struct session_buffers *b, uint32_t buffer)
{
    struct walk w = begin(b, buffer, session_place(b->buffer_size, 0, 0));
    while (w.at < w.end) {
        const uint64_t first = first_word(&w);
        const uint32_t size = place_size(&w, first);
        if (size == 0 || (first == 0 && w.at + size == w.end))
            break;
        w.at += size;
    }
    return w.at;
}
