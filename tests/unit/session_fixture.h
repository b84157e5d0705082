/* SPDX-License-Identifier: MIT */
/* A session in the memory of a test, and events that can be identified by their payload. */
#ifndef OPENPLA_SESSION_FIXTURE_H
#define OPENPLA_SESSION_FIXTURE_H

#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

enum {
    EVENT_PAYLOAD = 64,
    EVENT_BYTES = 0x50 + EVENT_PAYLOAD,
    EVENT_FIRST = 0xC013, /* bytes 2 and 3 of the EVENT_HEADER in a 64-bit process */
};

/* Returns word `i` of an event's payload, for i >= 2. It is computed from words 0 and 1, which are the numbers of the
   writer and of the event. */
static inline uint64_t event_word(uint64_t writer, uint64_t number, uint32_t i)
{
    uint64_t x = (writer << 48 ^ number) + (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

static inline void event_fill(uint8_t *at, const struct session_writer *w, uint64_t stamp, uint64_t number)
{
    memset(at + 8, 0, 0x50 - 8);
    put_u32(at + 8, w->thread);
    put_u32(at + 12, w->owner);
    put_u64(at + 0x10, stamp);
    put_u64(at + 0x50, w->owner);
    put_u64(at + 0x58, number);
    for (uint32_t i = 2; i < EVENT_PAYLOAD / 8; i++)
        put_u64(at + 0x50 + 8 * i, event_word(w->owner, number, i));
}

static inline bool event_write(const struct session_buffers *b, struct session_writer *w, uint64_t number)
{
    uint64_t stamp;
    uint8_t *at = session_reserve(b, w, EVENT_BYTES, &stamp);
    if (!at)
        return false;
    event_fill(at, w, stamp, number);
    session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    return true;
}

/* Reads the numbers of the event's writer and of the event. Returns whether the event's contents are right. */
static inline bool event_check(const uint8_t *at, uint32_t size, uint64_t *writer, uint64_t *number)
{
    if (size != EVENT_BYTES || get_u16(at + 2) != EVENT_FIRST)
        return false;
    *writer = get_u64(at + 0x50);
    *number = get_u64(at + 0x58);
    for (uint32_t i = 2; i < EVENT_PAYLOAD / 8; i++)
        if (get_u64(at + 0x50 + 8 * i) != event_word(*writer, *number, i))
            return false;
    return true;
}

struct memory_session {
    struct session_buffers b;
    void *memory;
    size_t size;
};
/* Creates a session in memory of this process, aligned as a section is. */
static inline struct memory_session session_in_memory(const struct session_shape *shape)
{
    struct memory_session s = {.size = 0};
    assert_int_equal(session_buffers_size(shape, &s.size), S_OK);
    s.memory = memory_zero(1, s.size + SESSION_DATA_UNIT);
    assert_non_null(s.memory);
    void *aligned =
        (uint8_t *)s.memory + (SESSION_DATA_UNIT - (uintptr_t)s.memory % SESSION_DATA_UNIT) % SESSION_DATA_UNIT;
    assert_int_equal(session_buffers_create(aligned, s.size, shape, &s.b), S_OK);
    return s;
}

static inline void session_free_memory(struct memory_session *s)
{
    memory_free(s->memory);
}

/* Whether the process in each slot is alive. */
static atomic_bool alive[SESSION_MOST_OWNERS + 1];

static inline int all_owners_live(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= SESSION_MOST_OWNERS; i++)
        alive[i] = true;
    return 0;
}

static inline bool fixture_alive(void *context, uint32_t owner, uint32_t thread)
{
    (void)context, (void)thread;
    return alive[owner];
}

static inline struct session_drain *fixture_drain(const struct session_buffers *b, uint32_t keep)
{
    struct session_drain *d;
    const struct session_drain_options options = {
        .liveness = {fixture_alive, NULL}, .clock = ETL_CLOCK_TICKS, .logger = 7, .first_number = 1, .keep = keep};
    assert_int_equal(session_drain_create(b, &options, &d), S_OK);
    return d;
}

/* A sink that counts events, and fails if an event is wrong. */
enum { TALLY_BUFFERS = 65536, TALLY_WRITERS = 64 };
struct tally_buffer {
    uint64_t number;
    int64_t first, last;
    uint16_t processor;
};
struct tally {
    uint64_t events;
    struct {
        uint64_t next, count, sum, squares; /* statistics of the events' numbers; next: the highest number plus one */
    } writer[TALLY_WRITERS];
    HRESULT answer;
    uint32_t buffers;
    struct tally_buffer buffer[TALLY_BUFFERS];
};

static inline struct tally *tally_new(void)
{
    struct tally *t = memory_zero(1, sizeof *t);
    assert_non_null(t);
    return t;
}

static inline HRESULT tally_write(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct tally *t = context;
    uint32_t offset = ETL_BUFFER_HEAD, size;
    int64_t before = INT64_MIN;
    const uint8_t *event;
    if (t->answer != S_OK)
        return t->answer;
    assert_true(t->buffers < TALLY_BUFFERS);
    struct tally_buffer *b = &t->buffer[t->buffers++];
    *b = (struct tally_buffer){head->sequence, INT64_MAX, INT64_MIN, head->processor};
    while (etl_buffer_event(bytes, head->used, &offset, &event, &size)) {
        uint64_t writer = 0, number = 0;
        assert_true(event_check(event, size, &writer, &number));
        assert_true(writer < TALLY_WRITERS);
        const int64_t time = (int64_t)get_u64(event + 0x10);
        assert_true(time >= before);
        b->first = before == INT64_MIN ? time : b->first;
        before = b->last = time;
        t->writer[writer].next = number >= t->writer[writer].next ? number + 1 : t->writer[writer].next;
        t->writer[writer].count++;
        t->writer[writer].sum += number;
        t->writer[writer].squares += number * number;
        t->events++;
    }
    assert_int_equal(offset, head->used);
    assert_true(b->last <= head->time);
    return S_OK;
}

static inline int tally_by_number(const void *a, const void *b)
{
    const struct tally_buffer *x = a, *y = b;
    if (x->processor != y->processor)
        return x->processor < y->processor ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Checks that in the order of their numbers, the buffers of each processor are also in the order of time. A writer
   reads the cycle counter with rdtsc, which the processor can execute before the preceding load of the buffer's word.
   Therefore events of two threads in one stream can be out of order by less than a microsecond. */
static inline void tally_check_order(struct tally *t)
{
    enum { SLACK = 10 }; /* 1 us, in units of 100 ns */
    qsort(t->buffer, t->buffers, sizeof *t->buffer, tally_by_number);
    for (uint32_t i = 1; i < t->buffers; i++) {
        const struct tally_buffer *a = &t->buffer[i - 1], *b = &t->buffer[i];
        assert_true(a->processor != b->processor || (a->number < b->number && a->last <= b->first + SLACK));
    }
}

/* Returns whether the sink got each number below `next` of each writer once. */
static inline bool tally_is_complete(const struct tally *t)
{
    for (uint32_t i = 0; i < TALLY_WRITERS; i++) {
        uint64_t sum = 0, squares = 0;
        for (uint64_t n = 0; n < t->writer[i].next; n++) {
            sum += n;
            squares += n * n;
        }
        if (t->writer[i].count != t->writer[i].next || t->writer[i].sum != sum || t->writer[i].squares != squares)
            return false;
    }
    return true;
}

/* Returns whether the sink got the buffer with this number. */
static inline bool tally_has_buffer(void *context, uint64_t number)
{
    const struct tally *t = context;
    for (uint32_t i = 0; i < t->buffers; i++)
        if (t->buffer[i].number == number)
            return true;
    return false;
}

static inline struct session_sink tally_sink(struct tally *t)
{
    return (struct session_sink){tally_write, tally_has_buffer, t};
}

#endif
