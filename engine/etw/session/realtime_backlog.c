/* SPDX-License-Identifier: MIT */
/* A list of buffers, each cut to what it holds. */
#include "engine/etw/session/realtime_backlog.h"

#include "engine/base/memory.h"

#include <string.h>

struct backlog_buffer {
    struct backlog_buffer *next;
    struct etl_buffer_header head;
    uint8_t bytes[]; /* head.used of them */
};

HRESULT realtime_backlog_add(struct realtime_backlog *b, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct backlog_buffer *kept = NULL;
    if (b->bytes + head->used <= b->most)
        kept = memory_alloc(sizeof *kept + head->used);
    if (!kept) {
        b->dropped++;
        return S_FALSE;
    }
    kept->next = NULL;
    kept->head = *head;
    memcpy(kept->bytes, bytes, head->used);
    if (b->last)
        b->last->next = kept;
    else
        b->first = kept;
    b->last = kept;
    b->bytes += head->used;
    b->count++;
    return S_OK;
}

static void drop_first(struct realtime_backlog *b)
{
    struct backlog_buffer *gone = b->first;
    b->first = gone->next;
    b->last = b->first ? b->last : NULL;
    b->bytes -= gone->head.used;
    b->count--;
    memory_free(gone);
}

bool realtime_backlog_give(struct realtime_backlog *b, struct realtime_ring *ring, bool *wake)
{
    *wake = false;
    while (b->first && !realtime_ring_is_full(ring)) {
        bool one;
        (void)realtime_ring_put(ring, &b->first->head, b->first->bytes, &one);
        *wake = *wake || one;
        drop_first(b);
    }
    return !b->first;
}

void realtime_backlog_free(struct realtime_backlog *b)
{
    while (b->first)
        drop_first(b);
}
