/* SPDX-License-Identifier: MIT */
/* Copies the pieces of an event, of a few to a few hundred bytes: a call of the C library costs as much as the whole
   event does. Addresses are the program's: either this is under guard_call, or each read is guarded. */
#ifndef OPENPLA_EVENT_COPY_H
#define OPENPLA_EVENT_COPY_H

#include "engine/base/guard.h"

#include <stddef.h>

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

#endif
