/* SPDX-License-Identifier: MIT */
/* How a writer puts an event into a session's buffer. session_buffers.h describes the control words.

     session_reserve    one compare-and-exchange on the processor's word reserves the place; the event is then marked
                        as being written by this thread
     ...                the caller writes the event, all but its first 8 bytes
     session_commit     one store of the first 8 bytes completes the event

   There is no lock and no system call, and no thread waits for another that was suspended or killed. Only a writer
   whose buffer is full does more work: it closes that buffer and claims the next one (session_next_buffer). */
#ifndef OPENPLA_SESSION_RESERVE_H
#define OPENPLA_SESSION_RESERVE_H

#include "engine/etw/session/session_buffers.h"

/* The properties of a thread that are the same for all its events. */
struct session_writer {
    uint32_t owner;         /* the slot of this process in the directory, 1 to SESSION_MOST_OWNERS */
    uint32_t thread;        /* the thread id */
    uint32_t processor;     /* the processor on which the thread last ran; a hint */
    int64_t waited_in_vain; /* ticks: when the thread last lost an event after waiting; 0: never */
};

/* Tests terminate the process at one of these steps. */
#ifdef SESSION_STEPS
void session_step(int step);
#else
#define session_step(step) ((void)0)
#endif
enum {
    SESSION_STEP_CLAIMED = 1, /* steps 1 to 6: replacing a full buffer; steps 7 to 11: writing an event */
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
    SESSION_STEP_WAITING, /* before each attempt of a writer that waits for a buffer */
};

enum { SESSION_MOST_TRIES = 1000000 }; /* maximum number of attempts to exchange a word; all of them take about 20 ms */

/* Replaces the processor's buffer, which is full according to `word`, with another one. Returns true if the caller must
   try again, and false if no buffer is free or the session has stopped. */
bool session_next_buffer(const struct session_buffers *b, struct session_processor *processor, uint64_t word,
                         uint32_t owner);
/* Returns the current time stamp of a source other than cycles. */
uint64_t session_clock_stamp(enum session_source source);

/* Reserves a place for an event of `bytes` bytes. `bytes` is a multiple of 8, from 8 to etl_buffer_max_event. A longer
   event would fit into no buffer, and the search for a place would close every buffer. *stamp lies between the time
   stamps of the previous and the next event of this processor. Returns NULL if there is no place now; the event is not
   counted as lost. */
static inline __attribute__((always_inline)) uint8_t *
session_try_reserve(const struct session_buffers *b, struct session_writer *w, uint32_t bytes, uint64_t *stamp)
{
    assert(bytes != 0 && bytes % 8 == 0 && bytes <= etl_buffer_max_event(b->buffer_size));
    /* Each retry means that another writer made progress. The limit protects against a process that keeps changing
       the word maliciously. */
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
            /* The previous place begins less than SESSION_DATA_UNIT before this one, whatever the word contains. */
            uint8_t *at = session_data(b, buffer) + end;
            const uint32_t size = session_word_size(word);
            _Atomic uint64_t *before = session_first_word(at - size);
            uint64_t nothing = 0;
            /* The buffer cannot be freed and reused here, because this place is not committed yet. */
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

/* Called when no place was found. Tries again, first yielding and then sleeping between the attempts. Gives up and
   counts the event as lost when the session host has returned no buffer for 125 ms, or when 250 ms have passed. If the
   session host has returned no buffer for 125 ms, other calls give up after 0.2 ms until it returns a buffer. Returns
   NULL immediately if the session has stopped. */
uint8_t *session_reserve_late(const struct session_buffers *b, struct session_writer *w, uint32_t bytes,
                              uint64_t *stamp);
/* Counts an event as lost without trying to reserve a place for it. */
void session_count_lost(const struct session_buffers *b, const struct session_writer *w);

/* Like session_try_reserve, but waits, and accepts an event of any size. An event that is too long for the session's
   buffers when rounded up to a multiple of 8 is lost. Returns NULL if the event is lost, which is counted, or if the
   session has stopped. */
static inline uint8_t *session_reserve(const struct session_buffers *b, struct session_writer *w, uint32_t size,
                                       uint64_t *stamp)
{
    const uint64_t bytes = ((uint64_t)size + 7) & ~UINT64_C(7);
    if (__builtin_expect(bytes == 0 || bytes > etl_buffer_max_event(b->buffer_size), 0)) {
        session_count_lost(b, w);
        return NULL;
    }
    uint8_t *at = session_try_reserve(b, w, (uint32_t)bytes, stamp);
    return __builtin_expect(at != NULL, 1) ? at : session_reserve_late(b, w, (uint32_t)bytes, stamp);
}

/* Completes the event. `first` contains its first 8 bytes, a final header in one of the forms that etl_event_length
   knows. */
static inline void session_commit(uint8_t *at, uint64_t first)
{
    session_step(SESSION_STEP_WRITTEN);
    atomic_store_explicit(session_first_word(at), first, memory_order_release);
    session_step(SESSION_STEP_COMMITTED);
}

/* Closes the processor's buffer if it contains events. If `stop` is set, also closes an empty buffer; the processor
   then accepts no more events. */
void session_close_processor(const struct session_buffers *b, uint32_t processor, bool stop);

#endif
