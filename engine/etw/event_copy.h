/* SPDX-License-Identifier: MIT */
/* Copies the pieces of an event, of a few to a few hundred bytes: a call of the C library costs as much as the whole
   event does. */
#ifndef OPENPLA_EVENT_COPY_H
#define OPENPLA_EVENT_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void event_copy(uint8_t *to, const uint8_t *from, size_t size)
{
    uint64_t word, tail;
    uint32_t half, half_tail;
    if (size >= 8) {
        /* The last eight may lie over what was copied before. */
        uint8_t *const last = to + size - 8;
        memcpy(&tail, from + size - 8, 8);
        for (; to < last; to += 8, from += 8) {
            memcpy(&word, from, 8);
            memcpy(to, &word, 8);
        }
        memcpy(last, &tail, 8);
    } else if (size >= 4) {
        memcpy(&half, from, 4);
        memcpy(&half_tail, from + size - 4, 4);
        memcpy(to, &half, 4);
        memcpy(to + size - 4, &half_tail, 4);
    } else {
        while (size-- > 0)
            *to++ = *from++;
    }
}

/* No more than up to `end`: who called may have changed a size meanwhile. */
static inline uint8_t *event_copy_bounded(uint8_t *to, const uint8_t *end, uint64_t from, size_t size)
{
    const size_t room = (size_t)(end - to);
    if (size > room)
        size = room;
    event_copy(to, (const uint8_t *)(uintptr_t)from, size);
    return to + size;
}

#endif
