/* SPDX-License-Identifier: MIT */
/* How a provider's thread puts an event into a session: it reserves the place, writes the event, and commits it by
   storing its first 8 bytes last. One atomic exchange and one plain store; no lock, no call of the system, and nobody
   waits for anybody who was stopped or has ended on the way. */
#ifndef OPENPLA_SESSION_RESERVE_H
#define OPENPLA_SESSION_RESERVE_H

#include "engine/etw/session/session_buffers.h"

/* What is the same for all events of a thread. */
struct session_writer {
    uint32_t owner;     /* the slot of this process, 1 to SESSION_MOST_OWNERS */
    uint32_t thread;    /* its id */
    uint32_t processor; /* where the thread was last; a hint */
};

/* Tests end the process at a chosen one of the steps. */
#ifdef SESSION_STEPS
void session_step(int step);
#else
#define session_step(step) ((void)0)
#endif
enum {
    SESSION_STEP_CLAIMED = 1, /* 1 to 6: on the way to another buffer; 7 to 11: of each event */
    SESSION_STEP_SEALED,
    SESSION_STEP_CLOSING,
    SESSION_STEP_CLOSED,
    SESSION_STEP_GIVING,
    SESSION_STEP_GIVEN,
    SESSION_STEP_RESERVED,
    SESSION_STEP_HELPED,
    SESSION_STEP_MARKED,
    SESSION_STEP_WRITTEN,
    SESSION_STEP_COMMITTED,
    SESSION_STEP_WAITING, /* for a buffer; before each look */
};

enum { SESSION_MOST_TRIES = 1000000 }; /* of one exchange; 20 ms */

/* Makes place on a processor whose buffer has none, as `word` says. True: try again. False: no buffer is free, or the
   session is stopped. */
bool session_next_buffer(const struct session_buffers *b, struct session_processor *processor, uint64_t word,
                         uint32_t owner);
/* Of a source other than cycles. */
uint64_t session_clock_stamp(enum session_source source);

/* The place of an event of `bytes`, a multiple of 8 from 8 to etl_buffer_max_event; *stamp lies between those of the
   events before and behind it on this processor. NULL: none now, and nothing is counted. */
static inline __attribute__((always_inline)) uint8_t *
session_try_reserve(const struct session_buffers *b, struct session_writer *w, uint32_t bytes, uint64_t *stamp)
{
    /* Whoever makes us try again has got on; the bound is for a process that only plays with the word. */
    for (uint32_t tries = 0; tries < SESSION_MOST_TRIES; tries++) {
        if (__builtin_expect(b->method == PROCESSOR_RDPID, 1))
            w->processor = processor_here();
        struct session_processor *p = &b->processor[w->processor < b->processors ? w->processor : 0];
        uint64_t word = session_load(&p->word);
        if (__builtin_expect(b->source != SESSION_STAMP_CYCLES, 0)) {
            *stamp = session_clock_stamp(b->source);
        } else if (b->method != PROCESSOR_RDTSCP) {
            *stamp = processor_cycles();
        } else {
            uint32_t here;
            *stamp = processor_cycles_here(&here);
            if (here != w->processor) {
                w->processor = here;
                continue;
            }
        }
        const uint32_t end = session_word_end(word), buffer = session_word_buffer(word);
        if (__builtin_expect((word & SESSION_SEALED) != 0 || end + bytes > b->buffer_size || buffer >= b->buffers, 0)) {
            if (session_next_buffer(b, p, word, w->owner))
                continue;
            return NULL;
        }
        const uint64_t taken = (word & ~SESSION_PLACE) | session_place(end + bytes, bytes, w->owner);
        if (__builtin_expect(session_swap(&p->word, &word, taken), 1)) {
            session_step(SESSION_STEP_RESERVED);
            /* The one before is in front of us by less than SESSION_DATA_UNIT, whatever the word says. */
            uint8_t *at = session_data(b, buffer) + end;
            const uint32_t size = session_word_size(word);
            _Atomic uint64_t *before = session_first_word(at - size);
            uint64_t nothing = 0;
            /* Our own place keeps the buffer from being given back meanwhile. */
            if (__builtin_expect(size != 0 && session_load(before) == 0, 0))
                (void)session_swap(before, &nothing,
                                   session_event_open(SESSION_EVENT_HELPED, size, session_word_owner(word), 0));
            session_step(SESSION_STEP_HELPED);
            atomic_store_explicit(session_first_word(at),
                                  session_event_open(SESSION_EVENT_WRITING, bytes, w->owner, w->thread),
                                  memory_order_relaxed);
            session_step(SESSION_STEP_MARKED);
            return at;
        }
    }
    return NULL;
}

/* When there was no place: gives way to others and tries again, then sleeps and tries again, for 4 ms, and ever
   less, down to 0.2 ms, while the host gives no buffer back; then the event is counted as lost. NULL at once when the
   session is stopped. */
uint8_t *session_reserve_late(const struct session_buffers *b, struct session_writer *w, uint32_t bytes,
                              uint64_t *stamp);
/* An event that no reservation was tried for. */
void session_count_lost(const struct session_buffers *b, const struct session_writer *w);

/* As session_try_reserve; NULL: the event is lost and counted, or the session is stopped. */
static inline uint8_t *session_reserve(const struct session_buffers *b, struct session_writer *w, uint32_t bytes,
                                       uint64_t *stamp)
{
    uint8_t *at = session_try_reserve(b, w, bytes, stamp);
    return __builtin_expect(at != NULL, 1) ? at : session_reserve_late(b, w, bytes, stamp);
}

/* The event is whole: `first` are its first 8 bytes, a final header in one of the forms that etl_event_length knows. */
static inline void session_commit(uint8_t *at, uint64_t first)
{
    session_step(SESSION_STEP_WRITTEN);
    atomic_store_explicit(session_first_word(at), first, memory_order_release);
    session_step(SESSION_STEP_COMMITTED);
}

/* Closes the processor's buffer if it holds events. `stop`: in any case, and no event is taken on it ever again. */
void session_close_processor(const struct session_buffers *b, uint32_t processor, bool stop);

#endif
