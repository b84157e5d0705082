/* SPDX-License-Identifier: MIT */
/* Replaces the full buffer of a processor with the next one. A writer must replace a buffer once in hundreds of events.
   Any number of threads may replace the same buffer at the same time, and each thread may be killed at any step. */
#include "engine/etw/session/session_reserve.h"

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/thread.h"

uint64_t session_clock_stamp(enum session_source source)
{
    return (uint64_t)(source == SESSION_STAMP_SYSTEM ? clock_utc() : clock_ticks());
}

static uint64_t stamp_now(const struct session_buffers *b)
{
    return b->source == SESSION_STAMP_CYCLES ? processor_cycles() : session_clock_stamp(b->source);
}

static void wake(const struct session_buffers *b, _Atomic uint32_t *asleep)
{
    if (atomic_load_explicit(asleep, memory_order_seq_cst) != 0 &&
        atomic_exchange_explicit(asleep, 0, memory_order_acq_rel) != 0 && b->wake)
        b->wake(b->wake_context);
}

static bool session_try_claim(const struct session_buffers *b, uint32_t buffer, uint32_t owner, uint32_t processor,
                              uint64_t *mine)
{
    struct session_line *line = &b->line[buffer];
    uint64_t word = session_load(&line->word);
    if (session_line_state(word) != SESSION_FREE)
        return false;
    *mine = session_line_open(SESSION_CLAIMED, owner, session_line_generation(word) + 1);
    if (!session_swap(&line->word, &word, *mine))
        return false;
    session_step(SESSION_STEP_CLAIMED);
    atomic_store_explicit(&b->shared->hint, buffer + 1, memory_order_relaxed);
    atomic_store_explicit(&line->claimed, stamp_now(b), memory_order_relaxed);
    atomic_store_explicit(&line->processor, processor, memory_order_relaxed);
    return true;
}

/* Claims a free buffer. Returns SESSION_NO_BUFFER if no buffer is free. */
static uint32_t session_claim_buffer(const struct session_buffers *b, uint32_t owner, uint32_t processor,
                                     uint64_t *mine)
{
    struct session_shared *s = b->shared;
    const uint32_t given = atomic_load_explicit(&s->given, memory_order_acquire);
    if (atomic_load_explicit(&s->none_at, memory_order_relaxed) == given + 1)
        return SESSION_NO_BUFFER; /* an earlier search found no free buffer, and no buffer has become free since that
                                     search */
    const uint32_t said = atomic_load_explicit(&s->most, memory_order_relaxed);
    const uint32_t most = said != 0 && said < b->buffers ? said : b->buffers;
    uint32_t count = atomic_load_explicit(&s->allocated, memory_order_relaxed);
    if (count == 0 || count > most)
        count = most;
    const uint32_t start = atomic_load_explicit(&s->hint, memory_order_relaxed) % count;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t buffer = start + k < count ? start + k : start + k - count;
        if (session_try_claim(b, buffer, owner, processor, mine))
            return buffer;
    }
    while (count < most) {
        uint32_t more = count;
        (void)atomic_compare_exchange_strong_explicit(&s->allocated, &more, count + 1, memory_order_relaxed,
                                                      memory_order_relaxed);
        if (session_try_claim(b, count, owner, processor, mine))
            return count;
        count++;
    }
    atomic_store_explicit(&s->none_at, given + 1, memory_order_relaxed);
    wake(b, &s->asleep);
    return SESSION_NO_BUFFER;
}

/* Closes the buffer that the sealed word names, unless it is closed already. Several threads may try to close the same
   buffer at the same time. */
static void session_close_buffer(const struct session_buffers *b, struct session_processor *p, uint64_t word)
{
    const uint32_t buffer = session_word_buffer(word);
    if (buffer >= b->buffers)
        return;
    _Atomic uint64_t *line = &b->line[buffer].word;
    uint64_t was = session_load(line);
    /* A buffer is not handed out again while a processor's word refers to it. `was` was loaded before this check of the
       word, so it belongs to the same generation as the word. */
    if (session_load(&p->word) != word || session_line_state(was) != SESSION_CLAIMED ||
        (session_line_generation(was) & SESSION_GENERATION_MASK) != session_word_generation(word))
        return;
    session_step(SESSION_STEP_CLOSING);
    if (session_swap(line, &was, session_line_closed(SESSION_CLOSED, word, session_line_generation(was)))) {
        session_step(SESSION_STEP_CLOSED);
        const uint32_t closed = atomic_fetch_add_explicit(&b->shared->closed, 1, memory_order_seq_cst) + 1;
        if (closed >= b->wake_at)
            wake(b, &b->shared->asleep);
    }
}

__attribute__((noinline)) bool session_next_buffer(const struct session_buffers *b, struct session_processor *processor,
                                                   uint64_t word, uint32_t owner)
{
    uint64_t mine;
    if (word == SESSION_STOPPED)
        return false;
    if ((word & SESSION_SEALED) == 0) {
        if (!session_swap(&processor->word, &word, word | SESSION_SEALED))
            return true;
        session_step(SESSION_STEP_SEALED);
        word |= SESSION_SEALED;
    }
    session_close_buffer(b, processor, word);
    const uint32_t buffer = session_claim_buffer(b, owner, (uint32_t)(processor - b->processor), &mine);
    if (buffer == SESSION_NO_BUFFER)
        return session_load(&processor->word) != word; /* true: the processor's word has changed, so try again */
    assert(buffer < b->buffers);
    session_step(SESSION_STEP_GIVING);
    const uint64_t generation = session_line_generation(mine);
    if (!session_swap(&processor->word, &word,
                      session_word(buffer, generation, session_place(ETL_BUFFER_HEAD, 0, owner)))) {
        /* Another writer was faster, or the session has stopped; therefore free the claimed buffer again. */
        (void)session_swap(&b->line[buffer].word, &mine, session_line_open(SESSION_FREE, 0, generation));
        atomic_fetch_add_explicit(&b->shared->given, 1, memory_order_release);
    }
    session_step(SESSION_STEP_GIVEN);
    wake(b, &b->shared->idle);
    return true;
}

void session_count_lost(const struct session_buffers *b, const struct session_writer *w)
{
    struct session_processor *p = &b->processor[w->processor < b->processors ? w->processor : 0];
    atomic_fetch_add_explicit(&p->lost, 1, memory_order_relaxed);
}

static int64_t us_since(int64_t ticks)
{
    enum { US = 1000000 };
    return (clock_ticks() - ticks) * US / clock_frequency();
}

enum { PATIENCE_US = 125000 };

/* Returns how long, in us, a writer waits while the session host returns no buffer. After one writer has waited
   PATIENCE_US in vain, all writers of the session wait only LEAST_US until the session host returns a buffer. A process
   could maliciously keep changing the words that show whether buffers are returned. Therefore no thread spends more
   than an eighth of its time on longer waits in vain, or a quarter if buffers seem to be returned. */
static int64_t patience_of(const struct session_writer *w, bool hangs)
{
    enum { LEAST_US = 200, PARTS = 8 };
    const int64_t most = w->waited_in_vain != 0 ? us_since(w->waited_in_vain) / PARTS : PATIENCE_US;
    const int64_t us = most < PATIENCE_US ? most : PATIENCE_US;
    return hangs || us < LEAST_US ? LEAST_US : us;
}

__attribute__((noinline)) uint8_t *session_reserve_late(const struct session_buffers *b, struct session_writer *w,
                                                        uint32_t bytes, uint64_t *stamp)
{
    /* First yield, because another writer may be waiting for this processor. Then sleep, because the host process may
       be waiting for a processor that a writer of another session occupies. The host process can move to this processor
       only while this processor is idle. On a busy machine an attempt takes much longer than requested, so no attempt
       counts for more than ATTEMPT_US. */
    enum { YIELDS = 20, SLEEP_US = 50, ATTEMPT_US = 1000 };
    struct session_shared *s = b->shared;
    uint32_t given = atomic_load_explicit(&s->given, memory_order_relaxed);
    const bool hangs = atomic_load_explicit(&s->in_vain, memory_order_relaxed) == given + 1;
    const int64_t patience = patience_of(w, hangs);
    int64_t waited = 0, idle = 0; /* idle: part of `waited` since the session host last returned a buffer */
    for (int i = 0; i < YIELDS || (idle < patience && waited < 2 * patience); i++) {
        const int64_t from = clock_ticks();
        struct session_processor *p = &b->processor[w->processor < b->processors ? w->processor : 0];
        if (session_load(&p->word) == SESSION_STOPPED)
            return NULL;
        session_step(SESSION_STEP_WAITING);
        if (i < YIELDS)
            thread_yield();
        else
            thread_sleep_us(SLEEP_US);
        uint8_t *at = session_try_reserve(b, w, bytes, stamp);
        if (at)
            return at;
        const int64_t us = us_since(from), counted = us >= 0 && us < ATTEMPT_US ? us : ATTEMPT_US;
        const uint32_t before = given;
        given = atomic_load_explicit(&s->given, memory_order_relaxed);
        waited += counted;
        idle = given == before ? idle + counted : 0;
    }
    if (idle >= PATIENCE_US)
        atomic_store_explicit(&s->in_vain, given + 1, memory_order_relaxed);
    if (!hangs)
        w->waited_in_vain = clock_ticks();
    session_count_lost(b, w);
    return NULL;
}

void session_close_processor(const struct session_buffers *b, uint32_t processor, bool stop)
{
    struct session_processor *p = &b->processor[processor];
    uint64_t word = session_load(&p->word);
    for (uint32_t tries = 0; word != SESSION_STOPPED && tries < SESSION_MOST_TRIES; tries++) {
        if ((word & SESSION_SEALED) == 0) {
            if (!stop && session_word_end(word) <= ETL_BUFFER_HEAD)
                return;
            if (!session_swap(&p->word, &word, word | SESSION_SEALED))
                continue;
            word |= SESSION_SEALED;
        }
        session_close_buffer(b, p, word);
        /* A separate "stopped" flag would not be sufficient: a writer that had checked it before could still give the
           processor a new buffer. */
        if (!stop || session_swap(&p->word, &word, SESSION_STOPPED))
            return;
    }
    if (stop)
        atomic_store(&p->word, SESSION_STOPPED);
}
