/* SPDX-License-Identifier: MIT */
/* How an event gets into sessions, for the functions that write the kinds of events. */
#ifndef OPENPLA_EVENT_WRITE_H
#define OPENPLA_EVENT_WRITE_H

#include "engine/base/guard.h"
#include "engine/etw/provider/provider_table.h"

#include <stddef.h>

/* ---- copies ---- */

/* The pieces of an event have a few to a few hundred bytes: a call of the C library costs as much as the whole event
   does. Addresses are the program's: either this is under guard_call, or each read is guarded. */
struct event_reads {
    bool guarded;
    void *context; /* guard_left's */
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

/* False: an address is bad. */
GUARDED bool event_copy(uint8_t *to, const uint8_t *from, size_t size, struct event_reads reads)
{
    if (size >= 16) {
        /* The last of them may lie over what was copied before. */
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

/* No more than up to `end`: who called may have changed a size meanwhile. */
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

/* Lines of places to come are fetched so far ahead of them: the host, which emptied them, has them still, and the next
   exchange waits until all that was written before it has its lines. */
enum { EVENT_LINE = 64, EVENT_AHEAD = 1024 };
enum { EVENT_HEADER_BYTES = 0x50, EVENT_MOST_BYTES = 0xFFF8 /* what the word of a processor can say */ };

/* A call of EventWriteEx, which the others are short forms of. */
struct event_call {
    uint64_t handle;
    const EVENT_DESCRIPTOR *descriptor;
    const EVENT_DATA_DESCRIPTOR *data;
    uint32_t count;
    const GUID *activity, *related; /* NULL: the thread's; none */
    uint64_t filter;
    uint32_t flags;
    uint16_t header_flags;
    const void *from; /* where the function returns to, which stacks begin with */
};
/* To all sessions that want it, with all that they want of it. The thread is inside. ERROR_NOACCESS: an address of the
   call's is bad. */
ULONG event_write_general(const struct provider_enables *e, struct provider_thread *t, const struct event_call *call);

/* Whether a session wants an event of this level and keyword. */
static inline bool event_is_wanted(const struct provider_enable *e, const EVENT_DESCRIPTOR *d)
{
    if (d->Level >= e->limit)
        return false;
    if (d->Keyword == 0)
        return (e->property & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0) == 0;
    return (d->Keyword & e->any) != 0 && (d->Keyword & e->all) == e->all;
}

/* The place of an event of `size` bytes, which need not be a multiple of 8. NULL: *status says why, and the loss is
   counted; ERROR_SUCCESS: the session is over. */
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
/* Leaves a place that event_place gave as if no event had been wanted there. */
void event_abandon(uint8_t *at, uint64_t size);

/* A thread that is inside, and the place it has there (NULL: none), when it meets what may be no memory. */
struct event_risk {
    struct provider_thread *thread;
    uint8_t *at;
    uint64_t size;
};
/* From now on, for whoever ends the call meanwhile. */
static inline void event_risk_place(struct event_risk *risk, uint8_t *at, uint64_t size)
{
    risk->size = size;
    risk->at = at;
    atomic_signal_fence(memory_order_seq_cst);
}
static const struct event_reads event_under_guard = {false, NULL};
/* Calls call(risk), whose structure begins with one. False: it met a bad address, and the place is abandoned. When it
   is left otherwise, so is the inside. */
bool event_risk_call(void (*call)(void *risk), struct event_risk *risk);

#endif
