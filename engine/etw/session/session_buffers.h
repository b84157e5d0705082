/* SPDX-License-Identifier: MIT */
/* The buffers of a session, in memory that providers' processes share with the session's host process.

   The problem. A thread that writes an event must not take a lock, call the system, or wait for another thread:
   thousands of events are written per millisecond, by processes that may be killed between any two instructions.
   Nevertheless each committed event must reach the log exactly once, in the time order of its processor, and each event
   that is not committed must be counted as lost.

   The layout. The session's host process creates one section, and each process that writes to the session maps it. The
   section contains:

     session_shared         constants, the search for a free buffer, waking the host process, totals
     session_processor[]    per processor: the word of the buffer that takes its events now; lost events
     session_line[]         per buffer: its state, generation, claim time, number in the log
     buffers[]              events from ETL_BUFFER_HEAD on; the head itself is written into the log's copy only

   All changes are compare-and-exchange operations on three kinds of 64-bit words.

   1. The word of a processor names its current buffer, and how much of this buffer is reserved. Its fields, with their
      numbers of bits, are:
        end 21         bytes in use / 8
        size 13        of the newest reservation / 8; 0: none yet
        owner 12       slot of the process that made the newest reservation
        buffer 12      index of the buffer; SESSION_NO_BUFFER: none
        generation 5   low bits of the buffer's generation, which counts how often it was handed out
        sealed 1       the buffer accepts no more events
   2. The word of a buffer contains its state (4 bits). The other fields depend on the state:
        free, claimed     owner 12 (who claimed it), generation 48
        closed, written   end, size and owner of the processor's last word (46 bits); generation 14
   3. The first 8 bytes of an event are its first word. Bits 28 to 31 contain the state of the event:
        0    no mark yet; the place may already be reserved. Buffers are zeroed before they are handed out
        1    {size 16, owner 12, thread}: its owner is writing it
        2    {size 16, owner 12, 0}: like 1, but the writer of the next event set this mark before the owner did
        3    {size 16, 0, 0}: torn; its owner ended before the commit, and the event was counted as lost
        12   its final header (9: that of a TraceMessage event): the event is complete

   A writer (session_reserve.h) reserves a place by advancing `end` in its processor's word, marks the event with state
   1, writes it, and commits it by storing the final first 8 bytes. The word that the writer has just replaced contains
   the size and the owner of the previous place. If that place still has state 0, the writer uses these data to set it
   to state 2. Therefore an unfinished place has a known owner. Normally the first word of the place names the owner.
   The owner of the newest place of a buffer is in the processor's word or, after the buffer was closed, in the buffer's
   word. The owner is unknown only between the exchange and the mark of the next writer.

   The life of a buffer, and the process that makes each step:

     free -> claimed     a writer that needs a new buffer; it then puts the buffer into the processor's word
     claimed -> closed   any writer that finds the word sealed, or the host process when it flushes
     closed              the host process settles it: waits for living owners, marks events of dead owners as torn
     closed -> written   the host process, when the log has the buffer; then it zeroes the buffer
     written -> free     the host process

   Half-done states. Each step is one exchange, so another process always finds the state before or after a step.
   Between two steps, the other process can find a sealed word whose buffer is not closed yet (the next writer closes
   this buffer), a claimed buffer that no processor names (session_drain_reap frees or closes it), and a reservation
   that its owner has not marked (state 2 or the processor's word names the owner). `closed`, `hint`, `given` and
   `allocated` are hints; if a process dies before it updates them, this only costs time.

   What a crash leaves. A dead writer leaves places that the host process marks as torn. If the host process dies,
   closed buffers stay in the section. The first process that detects the death continues with session_drain_recover.
   Because `number` is set before a buffer is written to the log, the recovering process can determine whether the log
   already contains the buffer. A buffer in the state "written" only has to be zeroed.

   Trust. Any process that maps the section may write anything into it. Each side keeps the constants that it checked
   when it mapped the section, loads each word once, and stays inside the limits that it has checked, regardless of the
   words' contents. */
#ifndef OPENPLA_SESSION_BUFFERS_H
#define OPENPLA_SESSION_BUFFERS_H

#include "engine/base/assert.h"
#include "engine/base/thread.h"
#include "engine/logs/etl_record.h"

#include <stdatomic.h>

enum {
    SESSION_NO_BUFFER = 0xFFF,
    SESSION_MOST_BUFFERS = SESSION_NO_BUFFER,
    SESSION_MOST_OWNERS = 0xFFF, /* slot 0 is never assigned */
    SESSION_MOST_PROCESSORS = 1 << PROCESSOR_NUMBER_BITS,
    SESSION_DATA_UNIT = 0x10000, /* the buffers begin at a multiple of this, and no reservation is longer than this */
};

/* The unit of time stamps when events are written. The host process converts cycles to the session's clock. */
enum session_source { SESSION_STAMP_TICKS = 1, SESSION_STAMP_SYSTEM = 2, SESSION_STAMP_CYCLES = 3 };

/* Control words are 128 bytes apart, because processors fetch pairs of cache lines. */
struct session_processor {
    _Atomic uint64_t word;
    _Atomic uint64_t lost; /* number of events lost because no buffer was free or the event was too long */
    uint64_t reserved[14];
};
struct session_line {
    _Atomic uint64_t word;
    _Atomic uint64_t generation; /* how often the buffer was handed out; written by the host process */
    _Atomic uint64_t claimed;    /* time stamp at which the buffer was claimed */
    /* The buffer's sequence number in the log, which the host process sets before it writes the buffer; 0: none yet. */
    _Atomic uint64_t number;
    _Atomic uint32_t processor;
    uint32_t reserved[7];
};
/* Statistics, written by the host process for other processes and for the process that recovers the session. */
struct session_totals {
    _Atomic uint64_t events;          /* events written to the log */
    _Atomic uint64_t torn;            /* events lost because their writers ended */
    _Atomic uint64_t buffers_written; /* buffers passed to the log */
    _Atomic uint64_t buffers_lost;    /* buffers that could not be written to the log */
    _Atomic uint64_t realtime_lost;   /* buffers that could not be delivered to a real-time consumer */
    _Atomic uint64_t file;            /* number of the log file that is being written, from 1 */
    /* Entry (`anchors` - 1) % 2 is the latest simultaneous reading of the session's clock and the time stamp source. */
    _Atomic uint64_t anchors;
    struct {
        _Atomic uint64_t cycles;
        _Atomic int64_t time;
    } anchor[2];
    /* Losses that the log file already reports (session_file_flush). */
    _Atomic uint64_t events_reported, buffers_reported;
    uint64_t reserved[3];
};
struct session_shared {
    /* Constants. */
    _Atomic uint32_t magic; /* set last */
    _Atomic uint32_t version, buffers, minimum, buffer_size, processors, source, wake_at;
    uint32_t reserved_1[24];
    /* The search for a free buffer. */
    _Atomic uint32_t hint;      /* index of a buffer that may be free */
    _Atomic uint32_t given;     /* increases whenever a buffer becomes free; wraps */
    _Atomic uint32_t none_at;   /* `given` + 1 at the time when no free buffer was found */
    _Atomic uint32_t allocated; /* number of buffers in use so far, from the minimum to all */
    _Atomic uint32_t most;      /* MaximumBuffers: how many may be used now; 0: all. The host process sets it */
    _Atomic uint32_t in_vain;   /* `given` + 1 at the time when a writer waited in vain */
    uint32_t reserved_2[26];
    /* Waking the host process. */
    _Atomic uint32_t closed; /* number of closed buffers that wait for the host process; approximate */
    _Atomic uint32_t asleep; /* the host process sleeps: a writer wakes it when `wake_at` buffers are closed */
    _Atomic uint32_t idle;   /* the host process sleeps and no buffer is in use: the writer that claims a buffer wakes
                                it */
    uint32_t reserved_3[29];
    _Atomic uint32_t sequence; /* sequence number of the session's newest TraceMessage event
                                  (EVENT_TRACE_USE_LOCAL_SEQUENCE) */
    uint32_t reserved_4[31];
    struct session_totals totals;
    struct session_processor processor[]; /* a session_line for each buffer, and the buffers follow this array */
};
#define SESSION_MAGIC   0x52545745u /* "EWTR" */
#define SESSION_VERSION 1u

_Static_assert(sizeof(struct session_processor) == 128 && sizeof(struct session_totals) == 128, "128 bytes apart");
_Static_assert(sizeof(struct session_line) == 64, "a buffer's line");
_Static_assert(offsetof(struct session_shared, hint) == 128 && offsetof(struct session_shared, closed) == 256 &&
                   offsetof(struct session_shared, sequence) == 384 && sizeof(struct session_shared) == 640,
               "128 bytes apart");

/* ---- the word for the current buffer of a processor ---- */

#define SESSION_SEALED            (UINT64_C(1) << 63)
#define SESSION_STOPPED           UINT64_MAX /* the session has stopped; this value is final */
/* bits for end, size and owner */
#define SESSION_PLACE_BITS        46
#define SESSION_PLACE             ((UINT64_C(1) << SESSION_PLACE_BITS) - 1)
#define SESSION_GENERATION_BITS   5
#define SESSION_GENERATION_MASK   ((1u << SESSION_GENERATION_BITS) - 1)
#define SESSION_CLOSED_GENERATION 14 /* bits of the generation that a closed buffer's word keeps */

static inline uint32_t session_word_end(uint64_t word)
{
    return (uint32_t)(word & 0x1FFFFF) * 8;
}
static inline uint32_t session_word_size(uint64_t word)
{
    return (uint32_t)(word >> 21 & 0x1FFF) * 8;
}
static inline uint32_t session_word_owner(uint64_t word)
{
    return (uint32_t)(word >> 34 & 0xFFF);
}
static inline uint32_t session_word_buffer(uint64_t word)
{
    return (uint32_t)(word >> SESSION_PLACE_BITS & 0xFFF);
}
static inline uint32_t session_word_generation(uint64_t word)
{
    return (uint32_t)(word >> 58 & SESSION_GENERATION_MASK);
}
static inline uint64_t session_place(uint32_t end, uint32_t size, uint32_t owner)
{
    assert(end / 8 <= 0x1FFFFF && size / 8 <= 0x1FFF && owner <= SESSION_MOST_OWNERS);
    return (uint64_t)(end / 8) | (uint64_t)(size / 8) << 21 | (uint64_t)owner << 34;
}
static inline uint64_t session_word(uint32_t buffer, uint64_t generation, uint64_t place)
{
    return place | (uint64_t)buffer << SESSION_PLACE_BITS | (generation & SESSION_GENERATION_MASK) << 58;
}
#define SESSION_WORD_NONE (session_word(SESSION_NO_BUFFER, 0, 0) | SESSION_SEALED)

/* ---- the word for the state of a buffer ---- */

enum session_state { SESSION_FREE = 0, SESSION_CLAIMED = 1, SESSION_CLOSED = 2, SESSION_WRITTEN = 3 };

static inline enum session_state session_line_state(uint64_t word)
{
    return (enum session_state)(word & 0xF);
}
static inline uint32_t session_line_owner(uint64_t word) /* owner in the word of a free or claimed buffer */
{
    return (uint32_t)(word >> 4 & 0xFFF);
}
static inline uint64_t session_line_generation(uint64_t word) /* generation in the word of a free or claimed buffer */
{
    return word >> 16;
}
static inline uint64_t session_line_place(uint64_t word) /* place in the word of a closed or written buffer */
{
    return word >> 4 & SESSION_PLACE;
}
static inline uint64_t session_line_open(enum session_state state, uint32_t owner, uint64_t generation)
{
    return (uint64_t)state | (uint64_t)owner << 4 | generation << 16;
}
static inline uint64_t session_line_closed(enum session_state state, uint64_t place, uint64_t generation)
{
    return (uint64_t)state | (place & SESSION_PLACE) << 4 | generation << (64 - SESSION_CLOSED_GENERATION);
}

/* ---- an event's first word ---- */

enum session_mark {
    SESSION_EVENT_RESERVED = 0,
    SESSION_EVENT_WRITING = 1,
    SESSION_EVENT_HELPED = 2,
    SESSION_EVENT_TORN = 3,
    SESSION_EVENT_MESSAGE = 9,
    SESSION_EVENT_WHOLE = 12,
};
/* A flag in byte 3 of a final header; this byte is otherwise unused. The flag means that the caller supplied the time
   stamp, in the session's clock. It is cleared in the log. */
#define SESSION_OWN_STAMP UINT64_C(0x01000000)

static inline uint32_t session_event_mark(uint64_t first)
{
    return (uint32_t)(first >> 28 & 0xF);
}
static inline uint64_t session_event_open(enum session_mark mark, uint32_t size, uint32_t owner, uint32_t thread)
{
    return (uint64_t)(uint16_t)size | (uint64_t)owner << 16 | (uint64_t)mark << 28 | (uint64_t)thread << 32;
}

/* ---- the section as a process maps it ---- */

struct session_buffers {
    struct session_shared *shared;
    struct session_processor *processor;
    struct session_line *line;
    uint8_t *data;
    uint32_t buffers, buffer_size, processors; /* copied from the section, and checked, only once */
    uint32_t minimum, wake_at;
    enum session_source source;
    enum processor_method method;
    void (*wake)(void *context); /* wakes the host process; set by the process that maps the section */
    void *wake_context;
};

static inline uint8_t *session_data(const struct session_buffers *b, uint32_t buffer)
{
    return b->data + (size_t)buffer * b->buffer_size;
}
static inline _Atomic uint64_t *session_first_word(uint8_t *at)
{
    return (_Atomic uint64_t *)(void *)at;
}
static inline uint64_t session_load(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}
static inline bool session_swap(_Atomic uint64_t *word, uint64_t *expected, uint64_t desired)
{
    return atomic_compare_exchange_strong_explicit(word, expected, desired, memory_order_acq_rel, memory_order_acquire);
}

/* ---- the section ---- */

/* The parameters of a session's section. If another process created the section, the parameters are checked before
   use. */
struct session_shape {
    uint32_t buffers; /* maximum number of buffers, 1 to SESSION_MOST_BUFFERS */
    uint32_t minimum; /* number of buffers that are in use from the start, 1 to `buffers`; another buffer is used only
                         when none of these is free */
    uint32_t buffer_size; /* bytes: a multiple of 1 KB from ETL_SMALLEST_BUFFER to ETL_LARGEST_BUFFER */
    uint32_t processors;  /* 1 to SESSION_MOST_PROCESSORS; 1 for EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING */
    uint32_t wake_at;     /* number of closed buffers at which writers wake the host process, 1 to `buffers` */
    enum session_source source;
};
/* Returns the fastest source of time stamps that this machine and the session's clock (ETL_CLOCK_*) allow. */
enum session_source session_source_for(uint32_t clock);

/* Computes the size of the section in bytes. Returns E_INVALIDARG with an error text if a parameter is invalid, or if
   the size exceeds the address space of a 32-bit program. */
HRESULT session_buffers_size(const struct session_shape *shape, size_t *size);
/* Initialises zeroed memory as a session's section, and maps it. */
HRESULT session_buffers_create(void *memory, size_t size, const struct session_shape *shape,
                               struct session_buffers *out);
/* Maps a section of `size` bytes that another process created. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an
   error text if the section does not contain a session or the session exceeds `size`. Whatever other processes write
   later, no access leads outside the section. */
HRESULT session_buffers_map(void *memory, size_t size, struct session_buffers *out);

/* Returns how many events of all processors were lost because no buffer was free or the event was too long. */
uint64_t session_buffers_lost(const struct session_buffers *b);
/* *allocated is the number of buffers in use so far, and *free is the number of these that are free. */
void session_buffers_count(const struct session_buffers *b, uint32_t *allocated, uint32_t *free);
/* Limits the number of buffers that may be used from now on. Buffers above the limit keep their events until these are
   written. Only the host process calls this. */
void session_buffers_limit(const struct session_buffers *b, uint32_t most);
/* Returns the next sequence number for TraceMessage events, from 1; each is used once per session. */
uint32_t session_next_sequence(const struct session_buffers *b);

#endif
