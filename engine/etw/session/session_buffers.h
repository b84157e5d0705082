/* SPDX-License-Identifier: MIT */
/* What the processes of a session share: its buffers, and the words by which providers reserve events in them without a
   lock. Any process may end at any instruction, and any process that maps the section may write anything into it: each
   side keeps the constants it checked when it mapped the section, loads each word once, and stays inside the bounds it
   has checked whatever the words say.

   One word for each processor says all about the buffer that takes its events now:
     end 21     bytes in use / 8
     size 13    of the newest reservation / 8; 0: there is none yet
     owner 12   who made it: the slot of the provider's process
     buffer 12  which buffer; SESSION_NO_BUFFER: none
     generation 5     low bits of the buffer's generation: how often it was handed out
     sealed 1   it takes no more
   One word for each buffer, by its state (4 bits):
     free, claimed   owner 12 who claimed it, generation 48
     closed, written end, size and owner as in the processor's word, 46 bits together; generation 14

   The first 8 bytes of an event are its state, bits 28 to 31 which one:
     0                                the place is reserved at most; buffers are handed out zeroed
     1  {size 16, owner 12, thread}   its owner writes it
     2  {size 16, owner 12, 0}        the same, said by who reserved the next place before the owner had come to it
     3  {size 16, 0, 0}               torn: its owner ended; counted as lost
     12 its final header; 9 that of a TraceMessage event: it is whole
   So a place that will never be finished has an owner: its own word names it, or it is the newest place of the buffer,
   and the buffer's word does. */
#ifndef OPENPLA_SESSION_BUFFERS_H
#define OPENPLA_SESSION_BUFFERS_H

#include "engine/base/thread.h"
#include "engine/logs/etl_record.h"

#include <stdatomic.h>

enum {
    SESSION_NO_BUFFER = 0xFFF,
    SESSION_MOST_BUFFERS = SESSION_NO_BUFFER,
    SESSION_MOST_OWNERS = 0xFFF, /* 0 is nobody's slot */
    SESSION_MOST_PROCESSORS = 1 << PROCESSOR_NUMBER_BITS,
    SESSION_DATA_UNIT = 0x10000, /* buffers begin at a multiple of it; a reservation is never longer */
};

/* What stamps of events are when they are written. The host of the session makes the session's clock of cycles. */
enum session_source { SESSION_STAMP_TICKS = 1, SESSION_STAMP_SYSTEM = 2, SESSION_STAMP_CYCLES = 3 };

/* Control words lie 128 bytes apart: processors fetch lines in pairs. */
struct session_processor {
    _Atomic uint64_t word;
    _Atomic uint64_t lost; /* events, for want of a buffer or since they were too long */
    uint64_t reserved[14];
};
struct session_line {
    _Atomic uint64_t word;
    _Atomic uint64_t generation; /* the host's: how often it was handed out */
    _Atomic uint64_t claimed;    /* when, in stamps of the session */
    _Atomic uint64_t number;     /* of its place in the log, given by the host before it writes there; 0: none yet */
    _Atomic uint32_t processor;
    uint32_t reserved[7];
};
/* The host's, for those who ask and for whoever goes on after its end. */
struct session_totals {
    _Atomic uint64_t events;          /* written */
    _Atomic uint64_t torn;            /* lost by the end of their writers */
    _Atomic uint64_t buffers_written; /* handed to the log */
    _Atomic uint64_t buffers_lost;    /* could not be written to the log */
    _Atomic uint64_t realtime_lost;   /* could not be delivered to a real-time consumer */
    _Atomic uint64_t file;            /* which of the files of the session is written; 1: its first */
    /* The newest reading of the session's clock beside the stamps: number `anchors` - 1 of them, in turn. */
    _Atomic uint64_t anchors;
    struct {
        _Atomic uint64_t cycles;
        _Atomic int64_t time;
    } anchor[2];
    /* What session_file_lost was told and session_file_flush has written, of events and of buffers. */
    _Atomic uint64_t events_reported, buffers_reported;
    uint64_t reserved[3];
};
struct session_shared {
    /* Constants. */
    _Atomic uint32_t magic; /* last of all */
    _Atomic uint32_t version, buffers, minimum, buffer_size, processors, source, wake_at;
    uint32_t reserved_1[24];
    /* The search for a free buffer. */
    _Atomic uint32_t hint;       /* where one may be */
    _Atomic uint32_t given;      /* buffers that were given back; wraps */
    _Atomic uint32_t none_at;    /* given + 1 when none was found */
    _Atomic uint32_t allocated;  /* those that are used so far: from the minimum up to all */
    _Atomic uint32_t most;       /* MaximumBuffers: so many may be used now; 0: all. The host's */
    _Atomic uint32_t in_vain;    /* given + 1 as it was when a writer began to wait for long and got none */
    _Atomic uint32_t vain_waits; /* so many, one behind the other */
    uint32_t reserved_2[25];
    /* Waking the host. */
    _Atomic uint32_t closed; /* buffers that wait for the host; near enough */
    _Atomic uint32_t asleep; /* the host is: who closes the buffer number wake_at wakes it */
    _Atomic uint32_t idle;   /* the host is, and no buffer is in use: who takes the first one wakes it */
    uint32_t reserved_3[29];
    _Atomic uint32_t
        sequence; /* the last number of a TraceMessage event of the session (EVENT_TRACE_USE_LOCAL_SEQUENCE) */
    uint32_t reserved_4[31];
    struct session_totals totals;
    struct session_processor processor[]; /* then a session_line for each buffer, then the buffers */
};
#define SESSION_MAGIC   0x52545745u /* "EWTR" */
#define SESSION_VERSION 1u

_Static_assert(sizeof(struct session_processor) == 128 && sizeof(struct session_totals) == 128, "apart by 128 bytes");
_Static_assert(sizeof(struct session_line) == 64, "a buffer's line");
_Static_assert(offsetof(struct session_shared, hint) == 128 && offsetof(struct session_shared, closed) == 256 &&
                   offsetof(struct session_shared, sequence) == 384 && sizeof(struct session_shared) == 640,
               "apart by 128 bytes");

/* ---- a processor's word ---- */

#define SESSION_SEALED            (UINT64_C(1) << 63)
#define SESSION_STOPPED           UINT64_MAX /* the session is over: nothing follows on this value */
/* end, size and owner */
#define SESSION_PLACE_BITS        46
#define SESSION_PLACE             ((UINT64_C(1) << SESSION_PLACE_BITS) - 1)
#define SESSION_GENERATION_BITS   5
#define SESSION_GENERATION_MASK   ((1u << SESSION_GENERATION_BITS) - 1)
#define SESSION_CLOSED_GENERATION 14 /* bits of the generation in a closed buffer's word */

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
    return (uint64_t)(end / 8) | (uint64_t)(size / 8) << 21 | (uint64_t)owner << 34;
}
static inline uint64_t session_word(uint32_t buffer, uint64_t generation, uint64_t place)
{
    return place | (uint64_t)buffer << SESSION_PLACE_BITS | (generation & SESSION_GENERATION_MASK) << 58;
}
#define SESSION_WORD_NONE (session_word(SESSION_NO_BUFFER, 0, 0) | SESSION_SEALED)

/* ---- a buffer's word ---- */

enum session_state { SESSION_FREE = 0, SESSION_CLAIMED = 1, SESSION_CLOSED = 2, SESSION_WRITTEN = 3 };

static inline enum session_state session_line_state(uint64_t word)
{
    return (enum session_state)(word & 0xF);
}
static inline uint32_t session_line_owner(uint64_t word) /* free or claimed */
{
    return (uint32_t)(word >> 4 & 0xFFF);
}
static inline uint64_t session_line_generation(uint64_t word) /* free or claimed */
{
    return word >> 16;
}
static inline uint64_t session_line_place(uint64_t word) /* closed or written */
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
/* May be set in byte 3 of a final header, which has no use for it: the stamp is the caller's own and already the
   session's. The log does not get it. */
#define SESSION_OWN_STAMP UINT64_C(0x01000000)

static inline uint32_t session_event_mark(uint64_t first)
{
    return (uint32_t)(first >> 28 & 0xF);
}
static inline uint64_t session_event_open(enum session_mark mark, uint32_t size, uint32_t owner, uint32_t thread)
{
    return (uint64_t)(uint16_t)size | (uint64_t)owner << 16 | (uint64_t)mark << 28 | (uint64_t)thread << 32;
}

/* ---- as a process maps it ---- */

struct session_buffers {
    struct session_shared *shared;
    struct session_processor *processor;
    struct session_line *line;
    uint8_t *data;
    uint32_t buffers, buffer_size, processors; /* checked; never read from the section again */
    uint32_t minimum, wake_at;
    enum session_source source;
    enum processor_method method;
    void (*wake)(void *context); /* wakes the session's host; set by who maps */
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

/* The section of a session: how large, how it begins, and what is checked before one that another process made is
   used. */
struct session_shape {
    uint32_t buffers;     /* the most there may be, 1 to SESSION_MOST_BUFFERS */
    uint32_t minimum;     /* used from the beginning; more only when none is free. 1 to buffers */
    uint32_t buffer_size; /* bytes: whole KB from ETL_SMALLEST_BUFFER to ETL_LARGEST_BUFFER */
    uint32_t processors;  /* streams of events, 1 to SESSION_MOST_PROCESSORS; 1: NO_PER_PROCESSOR_BUFFERING */
    uint32_t wake_at;     /* closed buffers for which the host is woken, 1 to buffers */
    enum session_source source;
};
/* The fastest source that this machine's cycle counter and a session's clock (ETL_CLOCK_*) allow. */
enum session_source session_source_for(uint32_t clock);

/* Bytes of the section. E_INVALIDARG with a text for a shape that is none; of a 32-bit program also for one that it has
   no room for. */
HRESULT session_buffers_size(const struct session_shape *shape, size_t *size);
/* Makes a session of memory that is zero, and maps it. */
HRESULT session_buffers_create(void *memory, size_t size, const struct session_shape *shape,
                               struct session_buffers *out);
/* The session that another process made in these `size` bytes. HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text: it
   is none, or it does not lie within them. Whatever is written there later leads no access out of them. */
HRESULT session_buffers_map(void *memory, size_t size, struct session_buffers *out);

/* Events lost for want of a buffer or since they were too long, of all processors. */
uint64_t session_buffers_lost(const struct session_buffers *b);
/* How many buffers are used so far, and how many of these are free. */
void session_buffers_count(const struct session_buffers *b, uint32_t *allocated, uint32_t *free);
/* By the host: so many buffers may be used from now on, up to those there are; what is in others stays until it is
   written. */
void session_buffers_limit(const struct session_buffers *b, uint32_t most);
/* A number for a TraceMessage event, from 1: each once in the session. */
uint32_t session_next_sequence(const struct session_buffers *b);

#endif
