/* SPDX-License-Identifier: MIT */
/* Writes events into sessions; shared by the functions that write the different kinds of events. */
#ifndef OPENPLA_EVENT_WRITE_H
#define OPENPLA_EVENT_WRITE_H

#include "engine/base/guard.h"
#include "engine/etw/provider/provider_table.h"

#include <stddef.h>

/* ---- copies ---- */

/* These functions copy small blocks, which have from a few bytes to a few hundred bytes. For such a block, a call of
   the C library would cost as much as writing the whole event. The addresses come from the program, so either the
   caller runs under guard_call, or each read is guarded. */
struct event_reads {
    bool guarded;
    void *context; /* passed to guard_left */
};

#define EVENT_COPY(bytes)                                                                                              \
    GUARDED bool event_copy_##bytes(uint8_t *to, const uint8_t *from, struct event_reads reads)                        \
    {                                                                                                                  \
        if (reads.guarded)                                                                                             \
            return guard_copy_##bytes(to, from, reads.context);                                                        \
        memcpy(to, from, bytes);                                                                                       \
        return true;                                                                                                   \
    }
EVENT_COPY(1)
EVENT_COPY(4)
EVENT_COPY(8)
EVENT_COPY(16)

/* Copies `size` bytes. Returns false if an address is invalid. */
GUARDED bool event_copy(uint8_t *to, const uint8_t *from, size_t size, struct event_reads reads)
{
    if (size >= 16) {
        /* The last copy may overlap the previous one. */
        uint8_t *const last = to + size - 16;
        const uint8_t *const tail = from + size - 16;
        for (; to < last; to += 16, from += 16)
            if (!event_copy_16(to, from, reads))
                return false;
        return event_copy_16(last, tail, reads);
    }
    if (size >= 8)
        return event_copy_8(to, from, reads) && event_copy_8(to + size - 8, from + size - 8, reads);
    if (size >= 4)
        return event_copy_4(to, from, reads) && event_copy_4(to + size - 4, from + size - 4, reads);
    while (size-- > 0)
        if (!event_copy_1(to++, from++, reads))
            return false;
    return true;
}

/* Copies no further than `end`, because the program may have changed a size after the place was reserved. */
GUARDED bool event_copy_bounded(uint8_t **to, const uint8_t *end, uint64_t from, size_t size, struct event_reads reads)
{
    const size_t room = (size_t)(end - *to);
    if (size > room)
        size = room;
    uint8_t *const at = *to;
    *to += size;
    return event_copy(at, (const uint8_t *)(uintptr_t)from, size, reads);
}

/* ---- events ---- */

/* EVENT_AHEAD: distance in bytes at which the cache lines of later places are prefetched. The host process emptied
   these lines, so they are still in the cache of its processor. Without prefetching, the next atomic exchange would
   wait until these lines have arrived. */
enum { EVENT_LINE = 64, EVENT_AHEAD = 1024 };
enum { EVENT_HEADER_BYTES = 0x50, EVENT_MOST_BYTES = 0xFFF8 /* the maximum size in session_processor.word */ };

/* A call of EventWriteEx, of which the other functions are special cases. */
struct event_call {
    uint64_t handle;
    const EVENT_DESCRIPTOR *descriptor;
    const EVENT_DATA_DESCRIPTOR *data;
    uint32_t count;
    /* If `activity` is NULL, the thread's activity is used. If `related` is NULL, there is no related activity. */
    const GUID *activity, *related;
    uint64_t filter;
    uint32_t flags;
    uint16_t header_flags;
    const void *from; /* return address of the API function; stacks begin with it */
};
/* Writes the event to all sessions that receive it, with all items that they request. The thread must be marked as
   inside (provider_enter). Returns ERROR_NOACCESS if the call contains an invalid address. */
ULONG event_write_general(const struct provider_enables *e, struct provider_thread *t, const struct event_call *call);

/* Returns whether a session receives an event of this level and keyword. */
static inline bool event_is_wanted(const struct provider_enable *e, const EVENT_DESCRIPTOR *d)
{
    if (d->Level >= e->limit)
        return false;
    if (d->Keyword == 0)
        return (e->property & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0) == 0;
    return (d->Keyword & e->any) != 0 && (d->Keyword & e->all) == e->all;
}

/* Both functions reserve a place for an event. `size` is in bytes and need not be a multiple of 8. On failure, they
   return NULL. Then *status is an error code if the event was counted as lost, and ERROR_SUCCESS if the session has
   ended. */
uint8_t *event_place_late(struct provider_session *s, struct provider_thread *t, uint64_t size, uint64_t *stamp,
                          ULONG *status);
static inline uint8_t *event_place(struct provider_session *s, struct provider_thread *t, uint64_t size,
                                   uint64_t *stamp, ULONG *status)
{
    const uint64_t bytes = (size + 7) & ~UINT64_C(7);
    if (__builtin_expect(bytes <= s->most_event, 1)) {
        uint8_t *at = session_try_reserve(&s->buffers, &t->writer, (uint32_t)bytes, stamp);
        if (__builtin_expect(at != NULL, 1)) {
            for (uint32_t line = 0; line < bytes; line += EVENT_LINE)
                processor_will_write(at + EVENT_AHEAD + line);
            return at;
        }
    }
    return event_place_late(s, t, size, stamp, status);
}
/* Abandons a place that event_place returned, as if no event had been written there. */
void event_abandon(uint8_t *at, uint64_t size);

/* Describes a thread that is marked as inside and reads memory that may be invalid. `at` is the place that the thread
   has reserved; NULL: no place. */
struct event_risk {
    struct provider_thread *thread;
    uint8_t *at;
    uint64_t size;
};
/* Sets the place, for an exception handler that may run from now on. */
static inline void event_risk_place(struct event_risk *risk, uint8_t *at, uint64_t size)
{
    risk->size = size;
    risk->at = at;
    atomic_signal_fence(memory_order_seq_cst);
}
static const struct event_reads event_under_guard = {false, NULL};
/* Calls call(risk); `risk` is the first member of the callback's structure. Returns false if the callback read from an
   invalid address; the place is then abandoned. If an exception leaves the callback, the thread is also marked as
   outside (provider_leave). */
bool event_risk_call(void (*call)(void *risk), struct event_risk *risk);

#endif
