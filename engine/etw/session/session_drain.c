/* SPDX-License-Identifier: MIT */
/* Empties the buffers of a session: finds the closed ones, writes them to the log in order, and frees them.

   One pass (drain_pass) takes the closed buffers in the order in which they were claimed. On each processor, the events
   have the same order. The steps for each buffer are:

     closed ---- settle ---------> copy of the complete events, in the session's clock
                  |  unfinished event, writer alive: the buffer and later buffers of its processor wait (held)
                  |  unfinished event, writer dead:  marked as torn in the buffer, counted once
     copy ------ forward --------> number the buffer, then write it to the sink
     closed ---- free -----------> written, zeroed, free with the next generation

   Settling. session_settle walks a buffer place by place. The length of a complete event is in its header. The length
   of an unfinished event is in the mark, that is, in the first word of its place. The newest place of the buffer may
   have no mark yet; its length is in the buffer's word. The writer of any other place, or the writer of the place after
   it, will set a mark soon, so the buffer waits for the mark. If `force` is set, such a place is skipped, and the walk
   continues at the next non-zero word. The buffer itself is changed only by "torn" marks, so another process can repeat
   the walk if this one is killed.

   Order. Readers order the buffers of a processor by their numbers. A buffer that must wait delays the later buffers of
   its processor. If fewer than a quarter of all buffers are free, such a delay would make writers lose events. In this
   state ("pressed"), the later buffers are written first. The waiting buffer gets a number that is lower than theirs,
   and is written when it is ready.

   After a crash. The left column shows when the host process died. The right column shows what session_drain_recover
   finds, and what it does:
     before the number is stored   a closed buffer without a number: settled and written as usual
     after it, not in the log      a number that the log does not hold: written with this number
     in the log, still closed      a number that the log holds: freed without being written again
     while it is zeroed            state "written": no events are left in it

   Stuck buffers. A claimed buffer that no processor names belongs to a writer that died, or was suspended, between
   claiming and installing it. session_drain_reap frees the buffer if its owner is dead and two consecutive calls found
   the buffer unchanged.

   Trust. Any process may have written anything into a buffer: each first word is loaded once, and every value derived
   from it stays inside the buffer. */
#include "engine/etw/session/session_drain.h"

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

/* ---- one closed buffer ---- */

/* 1 ms, in units of 100 ns. If the time steps back by less than this, two anchors of the clock did not fit together
   exactly; if it steps back by more, the clock was set. */
#define JITTER INT64_C(10000)
/* maximum number of incomplete places to check in one buffer: a thread leaves at most one, and each check queries the
   system */
enum { MOST_CHECKS = 1000 };

struct walk {
    uint8_t *data;
    uint32_t at, end, last; /* last: offset of the newest place if the buffer's word contains its size, else `end` */
    uint32_t owner;         /* owner of the newest place */
};

static struct walk walk_begin(const struct session_buffers *b, uint32_t buffer, uint64_t place)
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

/* Returns the size of the place at w->at, whose first word is `first`; 0: the word is malformed. */
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
        /* The size is unknown: the place extends to the next non-zero word. */
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
    if (clock->source != SESSION_STAMP_SYSTEM) { /* the system time can be set back, so stamps may decrease */
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
    /* The first word is not read again, because the writer of the next place may still be trying to exchange it. */
    memcpy(to + 8, w->data + w->at + 8, size - 8);
    put_u64(to, first & ~SESSION_OWN_STAMP);
    const uint32_t at = etl_event_stamp_at(to);
    if (at != 0 && at + 8 <= size && (first & SESSION_OWN_STAMP) == 0)
        put_u64(to + at, (uint64_t)in_order(clock, order, get_u64(to + at), now));
}

enum verdict { CHECK_AGAIN, WAIT, LOST, TORN_BEFORE };

/* Decides whether an incomplete place is torn or may still be completed. */
static enum verdict walk_check_place(const struct walk *w, uint64_t first, uint32_t size,
                                     const struct session_liveness *liveness)
{
    const uint32_t mark = session_event_mark(first);
    const bool known = mark != SESSION_EVENT_RESERVED || w->at == w->last;
    if (mark == SESSION_EVENT_TORN)
        return TORN_BEFORE;
    const uint32_t owner = mark == SESSION_EVENT_RESERVED ? w->owner : (uint32_t)(first >> 16 & 0xFFF);
    const uint32_t thread = mark == SESSION_EVENT_WRITING ? (uint32_t)(first >> 32) : 0;
    if (!known || liveness->alive(liveness->context, owner, thread))
        return WAIT;
    /* Later passes find the "torn" mark and do not query this owner again; its slot can belong to another process by
       then. If the exchange fails, the owner has finished the event before it ended. */
    const uint64_t torn = session_event_open(SESSION_EVENT_TORN, size, 0, 0);
    return session_swap(session_first_word(w->data + w->at), &first, torn) ? LOST : CHECK_AGAIN;
}

bool session_settle(const struct session_buffers *b, uint32_t buffer, uint64_t place,
                    const struct session_liveness *liveness, bool force, const struct session_clock *clock,
                    uint64_t now, struct session_order *order, uint8_t *copy, struct session_settled *out)
{
    struct session_order rising = *order;
    struct walk w = walk_begin(b, buffer, place);
    uint32_t checks = 0;
    *out = (struct session_settled){.used = ETL_BUFFER_HEAD};
    while (w.at < w.end) {
        const uint64_t first = first_word(&w);
        const uint32_t mark = session_event_mark(first), size = place_size(&w, first);
        if (size == 0) {
            out->given_up++; /* drops this place and all later ones, because the size is unknown */
            break;
        }
        if (mark == SESSION_EVENT_WHOLE || mark == SESSION_EVENT_MESSAGE) {
            assert(out->used <= w.at && out->used + size <= b->buffer_size);
            copy_event(&w, first, size, clock, now, &rising, copy + out->used);
            out->used += size;
            out->events++;
            w.at += size;
            continue;
        }
        if (++checks > MOST_CHECKS) {
            out->given_up++;
            break;
        }
        const enum verdict verdict = walk_check_place(&w, first, size, liveness);
        if (verdict == CHECK_AGAIN)
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

/* Never inlined: the data races in this function are deliberate, and a suppression for the thread sanitizer names
   it. */
__attribute__((noinline)) uint32_t session_unclosed_end(const struct session_buffers *b, uint32_t buffer)
{
    struct walk w = walk_begin(b, buffer, session_place(b->buffer_size, 0, 0));
    while (w.at < w.end) {
        const uint64_t first = first_word(&w);
        const uint32_t size = place_size(&w, first);
        if (size == 0 || (first == 0 && w.at + size == w.end))
            break;
        w.at += size;
    }
    return w.at;
}

/* ---- passes ---- */

enum { FLAG_EVENTS_LOST = 0x02, FLAG_BUFFER_LOST = 0x04 }; /* flags in a buffer's header: there were losses before it */
/* If less than 1/PRESSED_PARTS of the buffers is free, slow writers no longer delay later buffers. */
enum { PRESSED_PARTS = 4 };

struct found {
    uint64_t claimed;
    uint32_t buffer;
};
/* The state of a processor. */
struct stream {
    struct session_order order;
    uint64_t claimed;       /* claim time of the newest buffer that was written */
    uint64_t lost_reported; /* lost events that buffer headers have reported */
    uint64_t held;          /* number of the pass in which one of its buffers had to wait */
};
/* The state of a buffer. The word of a buffer never has the same value twice. */
struct seen {
    uint64_t settled; /* the word at the time when the buffer was settled and its losses were counted */
    uint64_t claimed; /* the word at the last reaping; 0: the buffer was not claimed then, or a processor named it */
    uint32_t end;     /* end of the buffer's events at the last reaping */
    uint64_t pass;    /* number of the search that found the buffer */
    uint64_t number;  /* number reserved for the buffer because later buffers were written first; 0: none */
};
struct session_drain {
    struct session_buffers b;
    struct session_drain_options options;
    struct session_clock clock;
    uint64_t number; /* number of the next buffer */
    uint64_t pass;
    uint64_t search;
    bool buffer_lost; /* a buffer was lost since the last one that was written */
    bool recovers;
    bool continues;  /* another host process wrote before this one; its anchor stays published for the next recovery */
    uint64_t anchor; /* cycles of the anchor that was published */
    struct found *found;
    struct stream *stream;
    struct seen *seen;
    uint8_t *copy;
};

/* Takes an anchor of the clock when one is due, and publishes it for a recovering process. */
static void drain_keep_clock(struct session_drain *d)
{
    struct session_totals *f = &d->b.shared->totals;
    session_clock_keep(&d->clock);
    const struct session_anchor newest = session_clock_newest(&d->clock);
    const uint64_t number = atomic_load_explicit(&f->anchors, memory_order_relaxed);
    if (d->continues || newest.cycles == d->anchor)
        return;
    d->anchor = newest.cycles;
    atomic_store_explicit(&f->anchor[number % 2].cycles, newest.cycles, memory_order_relaxed);
    atomic_store_explicit(&f->anchor[number % 2].time, newest.time, memory_order_relaxed);
    atomic_store_explicit(&f->anchors, number + 1, memory_order_release);
}

static void drain_start_clock(struct session_drain *d)
{
    struct session_totals *f = &d->b.shared->totals;
    const uint64_t count = atomic_load_explicit(&f->anchors, memory_order_acquire);
    session_clock_start(&d->clock, d->options.clock, d->b.source);
    /* The events are older than the clock readings that this process takes. Therefore the anchor of the previous host
       process must stay published. If readings of this process replaced that anchor, a later recovery would find only
       two readings that are too close to each other. */
    d->continues = count != 0;
    if (d->continues) {
        const struct session_anchor before = {
            .cycles = atomic_load_explicit(&f->anchor[(count - 1) % 2].cycles, memory_order_relaxed),
            .time = atomic_load_explicit(&f->anchor[(count - 1) % 2].time, memory_order_relaxed),
        };
        session_clock_resume(&d->clock, before);
    }
    drain_keep_clock(d);
}

HRESULT session_drain_create(const struct session_buffers *b, const struct session_drain_options *options,
                             struct session_drain **out)
{
    struct session_drain *d = memory_zero(1, sizeof *d);
    *out = NULL;
    if (d) {
        d->b = *b;
        d->options = *options;
        d->number = options->first_number;
        d->found = memory_zero(b->buffers, sizeof *d->found);
        d->stream = memory_zero(b->processors, sizeof *d->stream);
        d->seen = memory_zero(b->buffers, sizeof *d->seen);
        d->copy = memory_zero(1, b->buffer_size);
    }
    if (!d || !d->found || !d->stream || !d->seen || !d->copy) {
        session_drain_free(d);
        return error_set(E_OUTOFMEMORY, "out of memory for a session of %u buffers of %u bytes", (unsigned)b->buffers,
                         (unsigned)b->buffer_size);
    }
    drain_start_clock(d);
    *out = d;
    return S_OK;
}

void session_drain_free(struct session_drain *d)
{
    if (!d)
        return;
    memory_free(d->found);
    memory_free(d->stream);
    memory_free(d->seen);
    memory_free(d->copy);
    memory_free(d);
}

const struct session_clock *session_drain_clock(const struct session_drain *d)
{
    return &d->clock;
}

static void count_more(_Atomic uint64_t *figure, uint64_t more)
{
    if (more != 0)
        atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static int by_claim(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->claimed < y->claimed ? -1 : x->claimed > y->claimed;
}

/* Finds all closed buffers, and sorts them by the time at which they were claimed. On each processor, the events have
   the same order. A buffer can be closed after the first round has passed it. The second round finds such a buffer if
   it was claimed before the newest buffer of the first round. */
static uint32_t drain_find_closed(struct session_drain *d)
{
    uint32_t count = 0;
    uint64_t newest = 0;
    d->search++;
    for (int second = 0; second < 2; second++) {
        for (uint32_t i = 0; i < d->b.buffers; i++) {
            if (d->seen[i].pass == d->search || session_line_state(session_load(&d->b.line[i].word)) != SESSION_CLOSED)
                continue;
            const uint64_t claimed = atomic_load_explicit(&d->b.line[i].claimed, memory_order_relaxed);
            if (second && claimed > newest)
                continue;
            if (claimed > newest)
                newest = claimed;
            d->seen[i].pass = d->search;
            assert(count < d->b.buffers); /* each buffer is found once */
            d->found[count++] = (struct found){claimed, i};
        }
    }
    qsort(d->found, count, sizeof *d->found, by_claim);
    return count;
}

static uint32_t free_buffers(const struct session_drain *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->b.buffers; i++)
        count += session_line_state(session_load(&d->b.line[i].word)) == SESSION_FREE;
    return count;
}

static uint32_t processor_of(const struct session_drain *d, uint32_t buffer)
{
    const uint32_t said = atomic_load_explicit(&d->b.line[buffer].processor, memory_order_relaxed);
    return said < d->b.processors ? said : 0;
}

/* Frees a closed buffer, whose word is `word`, so that writers can use it again. The caller has made sure that no
   process writes to the buffer any more, and that its events are in the log or counted as lost. */
static void drain_free_buffer(struct session_drain *d, uint32_t buffer, uint64_t word)
{
    struct session_line *line = &d->b.line[buffer];
    const uint64_t place = session_line_place(word), low = word >> (64 - SESSION_CLOSED_GENERATION);
    const uint32_t end = session_word_end(place) < d->b.buffer_size ? session_word_end(place) : d->b.buffer_size;
    /* Stored before the buffer is zeroed, because a recovering process would find no events in a zeroed buffer. */
    atomic_store_explicit(&line->word, session_line_closed(SESSION_WRITTEN, place, low), memory_order_release);
    memset(session_data(&d->b, buffer), 0, end);
    for (uint32_t i = 0; i < d->b.processors; i++) {
        /* If the writer that sealed a processor's word died, the word may still refer to this buffer. */
        uint64_t named = session_load(&d->b.processor[i].word);
        for (uint32_t tries = 0; named != SESSION_STOPPED && session_word_buffer(named) == buffer; tries++)
            if (tries == SESSION_MOST_TRIES || session_swap(&d->b.processor[i].word, &named, SESSION_WORD_NONE))
                break;
    }
    uint64_t generation = atomic_load_explicit(&line->generation, memory_order_relaxed);
    generation += (low - generation) & ((1u << SESSION_CLOSED_GENERATION) - 1);
    atomic_store_explicit(&line->generation, generation, memory_order_relaxed);
    atomic_store_explicit(&line->number, 0, memory_order_relaxed);
    d->seen[buffer].number = 0;
    atomic_store_explicit(&line->word, session_line_open(SESSION_FREE, 0, generation), memory_order_release);
    atomic_fetch_add_explicit(&d->b.shared->given, 1, memory_order_release);
    atomic_fetch_sub_explicit(&d->b.shared->closed, 1, memory_order_relaxed);
}

static uint16_t drain_flags(struct session_drain *d, uint32_t processor)
{
    const uint64_t lost = atomic_load_explicit(&d->b.processor[processor].lost, memory_order_relaxed);
    uint16_t flags = ETL_FLAG_PROCESSOR_INDEX;
    if (lost != d->stream[processor].lost_reported)
        flags |= FLAG_EVENTS_LOST;
    d->stream[processor].lost_reported = lost;
    if (d->buffer_lost)
        flags |= FLAG_BUFFER_LOST;
    return flags;
}

/* Settles a closed buffer into d->copy and counts its losses once. */
static bool drain_settle(struct session_drain *d, uint32_t buffer, uint64_t word, bool force,
                         struct session_order *order, struct session_settled *out)
{
    int64_t time;
    const uint64_t now = session_clock_now(&d->clock, &time);
    const bool whole = session_settle(&d->b, buffer, session_line_place(word), &d->options.liveness, force, &d->clock,
                                      now, order, d->copy, out);
    count_more(&d->b.shared->totals.torn, out->torn);
    if (whole && d->seen[buffer].settled != word) {
        count_more(&d->b.shared->totals.torn, out->given_up);
        d->seen[buffer].settled = word;
    }
    return whole;
}

/* Returns the buffer's number in the log, assigning one if it has none. Readers order the buffers of a processor by
   this number. */
static uint64_t drain_number(struct session_drain *d, uint32_t buffer)
{
    uint64_t *number = &d->seen[buffer].number;
    if (*number == 0)
        *number = d->number++;
    /* Store the number before the buffer is written. By this number, a recovering process checks whether the log
       already contains the buffer. */
    atomic_store_explicit(&d->b.line[buffer].number, *number, memory_order_release);
    return *number;
}

/* Writes d->copy to the log. */
static HRESULT drain_forward(struct session_drain *d, const struct session_sink *sink, uint32_t buffer,
                             const struct session_settled *settled)
{
    struct session_totals *totals = &d->b.shared->totals;
    struct session_line *line = &d->b.line[buffer];
    const uint32_t processor = processor_of(d, buffer);
    if (settled->used == ETL_BUFFER_HEAD)
        return S_OK;
    if (d->recovers) {
        const uint64_t given = atomic_load_explicit(&line->number, memory_order_relaxed);
        if (given != 0 && sink->holds(sink->context, given))
            return S_OK; /* the host process wrote the buffer before it died */
        d->seen[buffer].number = given < d->number ? given : 0;
    }
    const uint64_t number = drain_number(d, buffer);
    const struct etl_buffer_header head = {
        .size = d->b.buffer_size,
        .time = settled->time,
        .sequence = number,
        .processor = (uint16_t)processor,
        .logger = d->options.logger,
        .used = settled->used,
        .flags = drain_flags(d, processor),
    };
    const HRESULT hr = sink->write(sink->context, &head, d->copy);
    d->buffer_lost = hr != S_OK;
    count_more(hr == S_OK ? &totals->buffers_written : &totals->buffers_lost, 1);
    count_more(&totals->events, hr == S_OK ? settled->events : 0);
    return hr;
}

/* Settles, writes and frees a buffer. Returns false if the buffer must wait for a writer. If `pressed` is set, later
   buffers do not wait for this buffer. Therefore a buffer that must wait gets its number now. */
static bool drain_write_buffer(struct session_drain *d, const struct session_sink *sink, const struct found *found,
                               bool pressed, bool force, HRESULT *hr)
{
    struct stream *stream = &d->stream[processor_of(d, found->buffer)];
    const uint64_t word = session_load(&d->b.line[found->buffer].word);
    struct session_order alone = {0}; /* for a late buffer, whose events are older than those already written */
    const bool late = found->claimed < stream->claimed;
    struct session_settled settled;
    if (session_line_state(word) != SESSION_CLOSED)
        return true;
    if (!drain_settle(d, found->buffer, word, force, late ? &alone : &stream->order, &settled)) {
        stream->held = d->pass;
        if (pressed)
            (void)drain_number(d, found->buffer);
        return false;
    }
    if (!late)
        stream->claimed = found->claimed;
    const HRESULT written = drain_forward(d, sink, found->buffer, &settled);
    if (written != S_OK)
        *hr = written;
    drain_free_buffer(d, found->buffer, word);
    return true;
}

static uint32_t drain_pass(struct session_drain *d, const struct session_sink *sink, bool force, HRESULT *hr)
{
    const bool pressed = force || free_buffers(d) < d->b.buffers / PRESSED_PARTS;
    const uint32_t count = drain_find_closed(d);
    uint32_t done = 0;
    d->pass++;
    if (count != 0)
        drain_keep_clock(d);
    for (uint32_t i = 0; i < count; i++) {
        const bool held = d->stream[processor_of(d, d->found[i].buffer)].held == d->pass;
        if (!held || pressed) /* a waiting buffer delays the later ones of its processor, unless `pressed` */
            done += drain_write_buffer(d, sink, &d->found[i], pressed, force, hr);
    }
    return done;
}

/* Settles each closed buffer once, so that it no longer refers to writers, and frees the oldest buffers beyond
   `keep`. */
static uint32_t drain_pass_keeping(struct session_drain *d)
{
    const uint32_t count = drain_find_closed(d);
    uint32_t done = 0;
    if (count != 0)
        drain_keep_clock(d);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t buffer = d->found[i].buffer;
        const uint64_t word = session_load(&d->b.line[buffer].word);
        struct session_order alone = {0};
        struct session_settled settled;
        if (session_line_state(word) != SESSION_CLOSED ||
            (d->seen[buffer].settled != word && !drain_settle(d, buffer, word, false, &alone, &settled)))
            continue;
        if (count - done > d->options.keep) {
            drain_free_buffer(d, buffer, word);
            done++;
        }
    }
    return done;
}

uint32_t session_drain_pass(struct session_drain *d, const struct session_sink *sink, HRESULT *hr)
{
    *hr = S_OK;
    return d->options.keep != 0 ? drain_pass_keeping(d) : drain_pass(d, sink, false, hr);
}

void session_drain_flush(struct session_drain *d)
{
    for (uint32_t i = 0; i < d->b.processors; i++)
        session_close_processor(&d->b, i, false);
}

static bool is_named(const struct session_drain *d, uint32_t buffer)
{
    for (uint32_t i = 0; i < d->b.processors; i++)
        if (session_word_buffer(session_load(&d->b.processor[i].word)) == buffer)
            return true;
    return false;
}

/* Handles a claimed buffer that no processor names and whose events have not changed since the previous call. No thread
   reserves a place in such a buffer any more, but the buffer can contain events. This happens if a thread was suspended
   before its exchange, until the processor's word had the same bits again. The exchange then succeeded and replaced a
   word whose buffer was not closed. */
static bool drain_reap_buffer(struct session_drain *d, uint32_t buffer, uint64_t word, uint32_t end)
{
    struct session_line *line = &d->b.line[buffer];
    if (end != ETL_BUFFER_HEAD) {
        const uint64_t closed =
            session_line_closed(SESSION_CLOSED, session_place(end, 0, 0), session_line_generation(word));
        /* If a processor names the buffer by now, writers are filling it. */
        if (is_named(d, buffer) || !session_swap(&line->word, &word, closed))
            return false;
        atomic_fetch_add_explicit(&d->b.shared->closed, 1, memory_order_relaxed);
        return true;
    }
    if (d->options.liveness.alive(d->options.liveness.context, session_line_owner(word), 0) || is_named(d, buffer) ||
        !session_swap(&line->word, &word, session_line_open(SESSION_FREE, 0, session_line_generation(word))))
        return false;
    atomic_fetch_add_explicit(&d->b.shared->given, 1, memory_order_release);
    return true;
}

uint32_t session_drain_reap(struct session_drain *d)
{
    uint32_t done = 0, closed = 0;
    for (uint32_t i = 0; i < d->b.buffers; i++) {
        const uint64_t word = session_load(&d->b.line[i].word);
        closed += session_line_state(word) == SESSION_CLOSED;
        if (session_line_state(word) != SESSION_CLAIMED || is_named(d, i)) {
            d->seen[i].claimed = 0;
            continue;
        }
        const uint32_t end = session_unclosed_end(&d->b, i);
        if (d->seen[i].claimed == word && d->seen[i].end == end)
            done += drain_reap_buffer(d, i, word, end);
        d->seen[i].claimed = word;
        d->seen[i].end = end;
    }
    /* If a writer died between closing a buffer and counting it, the count is incorrect. */
    atomic_store_explicit(&d->b.shared->closed, closed, memory_order_relaxed);
    return done;
}

static void drain_stop(struct session_drain *d)
{
    for (uint32_t i = 0; i < d->b.processors; i++)
        session_close_processor(&d->b, i, true);
    (void)session_drain_reap(d);
    (void)session_drain_reap(d);
}

HRESULT session_drain_stop(struct session_drain *d, const struct session_sink *sink, uint32_t patience)
{
    const uint64_t from = clock_monotonic_ms();
    HRESULT hr = S_OK, last = S_OK;
    drain_stop(d);
    if (d->options.keep != 0)
        return S_OK;
    for (uint32_t left = 1; left != 0;) {
        const bool force = clock_passed_ms(from, clock_monotonic_ms()) >= patience;
        const uint32_t done = drain_pass(d, sink, force, &last);
        if (last != S_OK)
            hr = last;
        left = force ? 0 : drain_find_closed(d);
        if (done == 0)
            thread_yield();
    }
    return hr;
}

/* Skips an event that is still being written. The event stays in its buffer, and the next snapshot will contain it. */
static HRESULT drain_snapshot_buffer(struct session_drain *d, const struct session_sink *sink,
                                     const struct found *found, struct session_order *order, uint64_t *number)
{
    const uint32_t processor = processor_of(d, found->buffer);
    const uint64_t word = session_load(&d->b.line[found->buffer].word);
    const uint64_t claimed = atomic_load_explicit(&d->b.line[found->buffer].claimed, memory_order_relaxed);
    struct session_settled settled;
    int64_t time;
    const uint64_t now = session_clock_now(&d->clock, &time);
    if (session_line_state(word) != SESSION_CLOSED || claimed != found->claimed)
        return S_OK; /* the buffer has already been freed and reused for newer events */
    (void)session_settle(&d->b, found->buffer, session_line_place(word), &d->options.liveness, true, &d->clock, now,
                         &order[processor], d->copy, &settled);
    count_more(&d->b.shared->totals.torn, settled.torn);
    if (settled.used == ETL_BUFFER_HEAD)
        return S_OK;
    const struct etl_buffer_header head = {
        .size = d->b.buffer_size,
        .time = settled.time,
        .sequence = ++*number,
        .processor = (uint16_t)processor,
        .logger = d->options.logger,
        .used = settled.used,
        .flags = ETL_FLAG_PROCESSOR_INDEX,
    };
    return sink->write(sink->context, &head, d->copy);
}

HRESULT session_drain_snapshot(struct session_drain *d, const struct session_sink *sink)
{
    struct session_order *order = memory_zero(d->b.processors, sizeof *order);
    session_drain_flush(d);
    drain_keep_clock(d);
    const uint32_t count = drain_find_closed(d);
    struct found *found = memory_copy(d->found, count * sizeof *found);
    uint64_t number = 0;
    HRESULT hr = order && found ? S_OK : E_OUTOFMEMORY;
    if (FAILED(hr))
        (void)error_set(hr, "out of memory for a snapshot of %u buffers", (unsigned)count);
    for (uint32_t i = 0; hr == S_OK && i < count; i++) {
        hr = drain_snapshot_buffer(d, sink, &found[i], order, &number);
        if (d->options.keep != 0)
            (void)drain_pass_keeping(d); /* the oldest buffers make room for writers; the snapshot already has them */
    }
    memory_free(order);
    memory_free(found);
    return hr;
}

HRESULT session_drain_recover(struct session_drain *d, const struct session_sink *sink, uint32_t patience)
{
    d->recovers = true;
    /* If later buffers were written before a buffer, that buffer already has a number. New numbers must be higher than
       all of these. There are at most as many of these numbers as buffers, so a number that is not less than `most` is
       invalid. */
    const uint64_t most = d->number + d->b.buffers;
    for (uint32_t i = 0; i < d->b.buffers; i++) {
        const uint64_t given = atomic_load_explicit(&d->b.line[i].number, memory_order_relaxed);
        if (session_line_state(session_load(&d->b.line[i].word)) == SESSION_CLOSED && given >= d->number &&
            given < most)
            d->number = given + 1;
    }
    return session_drain_stop(d, sink, patience);
}

bool session_drain_sleep(struct session_drain *d, bool *in_use)
{
    struct session_shared *s = d->b.shared;
    atomic_store(&s->asleep, 1);
    atomic_store(&s->idle, 1);
    *in_use = false;
    for (uint32_t i = 0; i < d->b.processors; i++)
        *in_use = *in_use || session_word_buffer(session_load(&d->b.processor[i].word)) != SESSION_NO_BUFFER;
    if (*in_use)
        atomic_store(&s->idle, 0);
    return atomic_load(&s->closed) < d->b.wake_at;
}

void session_drain_wake(struct session_drain *d)
{
    atomic_store(&d->b.shared->asleep, 0);
    atomic_store(&d->b.shared->idle, 0);
}

void session_statistics_read(const struct session_buffers *b, struct session_statistics *out)
{
    const struct session_totals *f = &b->shared->totals;
    *out = (struct session_statistics){
        .events = atomic_load_explicit(&f->events, memory_order_relaxed),
        .events_lost = atomic_load_explicit(&f->torn, memory_order_relaxed) + session_buffers_lost(b),
        .buffers_written = atomic_load_explicit(&f->buffers_written, memory_order_relaxed),
        .buffers_lost = atomic_load_explicit(&f->buffers_lost, memory_order_relaxed),
    };
    session_buffers_count(b, &out->allocated, &out->free);
}

uint64_t session_drain_oldest(const struct session_drain *d)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < d->b.buffers; i++) {
        const uint64_t word = session_load(&d->b.line[i].word);
        const uint64_t claimed = atomic_load_explicit(&d->b.line[i].claimed, memory_order_relaxed);
        const enum session_state state = session_line_state(word);
        const bool names = state == SESSION_CLAIMED || (state == SESSION_CLOSED && d->seen[i].settled != word);
        if (names && claimed < oldest)
            oldest = claimed;
    }
    return oldest;
}

int64_t session_drain_complete(const struct session_drain *d)
{
    int64_t time; /* read before the search for the oldest buffer: an event that is written during the search is later
                     than `time` */
    (void)session_clock_now(&d->clock, &time);
    const uint64_t oldest = session_drain_oldest(d);
    const int64_t held = oldest != UINT64_MAX ? session_clock_time(&d->clock, oldest) : time;
    return (held < time ? held : time) - 1;
}
