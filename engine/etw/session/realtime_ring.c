/* SPDX-License-Identifier: MIT */
/* The ring between a session's host process and one consumer, and the backlog of buffers that wait for a consumer. */
#include "engine/etw/session/realtime_ring.h"

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

#include <string.h>

enum { MODE_REAL_TIME = 0x100 };

static const HRESULT bad = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);

static uint8_t *slot(const struct realtime_ring *r, uint32_t position)
{
    return r->shared->data + (size_t)(position % REALTIME_SLOTS) * r->buffer_size;
}

size_t realtime_ring_size(uint32_t buffer_size)
{
    return sizeof(struct realtime_shared) + (size_t)REALTIME_SLOTS * buffer_size;
}

void realtime_ring_create(void *memory, uint32_t buffer_size, struct realtime_ring *out)
{
    *out = (struct realtime_ring){memory, buffer_size, 0};
    atomic_store(&out->shared->complete, INT64_MIN);
    atomic_store(&out->shared->version, REALTIME_VERSION);
    atomic_store(&out->shared->slots, REALTIME_SLOTS);
    atomic_store(&out->shared->buffer_size, buffer_size);
    atomic_store(&out->shared->magic, REALTIME_MAGIC);
}

HRESULT realtime_ring_map(void *memory, size_t size, uint32_t buffer_size, struct realtime_ring *out)
{
    struct realtime_shared *shared = memory;
    if (size < sizeof *shared || atomic_load(&shared->magic) != REALTIME_MAGIC ||
        atomic_load(&shared->version) != REALTIME_VERSION || atomic_load(&shared->slots) != REALTIME_SLOTS)
        return error_set(bad, "invalid consumer ring: the section of %zu bytes contains no ring of this version", size);
    const uint32_t own = atomic_load(&shared->buffer_size);
    if (own != buffer_size || buffer_size < ETL_SMALLEST_BUFFER || buffer_size > ETL_LARGEST_BUFFER ||
        size < realtime_ring_size(buffer_size)) {
        return error_set(
            bad, "invalid consumer ring: %zu bytes for buffers of %u bytes, but the session has buffers of %u bytes",
            size, (unsigned)own, (unsigned)buffer_size);
    }
    *out = (struct realtime_ring){shared, buffer_size, atomic_load(&shared->put)};
    return S_OK;
}

HRESULT realtime_ring_take(struct realtime_ring *r, uint8_t *buffer, struct etl_buffer_header *head)
{
    const uint32_t waiting = atomic_load_explicit(&r->shared->put, memory_order_acquire) - r->position;
    if (waiting == 0)
        return S_FALSE;
    if (waiting > REALTIME_SLOTS) {
        r->position += waiting - REALTIME_SLOTS;
        atomic_store_explicit(&r->shared->taken, r->position, memory_order_release);
        return error_set(bad,
                         "corrupt consumer ring: the host process reports %u buffers, but there is room for only %u",
                         (unsigned)waiting, (unsigned)REALTIME_SLOTS);
    }
    const uint8_t *at = slot(r, r->position);
    memcpy(buffer, at, ETL_BUFFER_HEAD);
    etl_buffer_header_read(buffer, head);
    const uint32_t used = etl_buffer_used(buffer, r->buffer_size);
    if (used != 0)
        memcpy(buffer + ETL_BUFFER_HEAD, at + ETL_BUFFER_HEAD, used - ETL_BUFFER_HEAD);
    atomic_store_explicit(&r->shared->taken, ++r->position, memory_order_release);
    return used != 0 ? S_OK : error_set(bad, "corrupt consumer ring: malformed buffer");
}

void realtime_ring_losses(const struct realtime_ring *r, uint64_t *events, uint64_t *buffers)
{
    *events = atomic_load_explicit(&r->shared->events_lost, memory_order_relaxed);
    *buffers = atomic_load_explicit(&r->shared->buffers_lost, memory_order_relaxed);
}

bool realtime_ring_is_over(const struct realtime_ring *r)
{
    /* Load `ended` before `put`: once `ended` is set, `put` no longer changes. */
    const bool ended = atomic_load(&r->shared->ended) != 0;
    return ended && atomic_load(&r->shared->put) == r->position;
}

int64_t realtime_ring_complete(const struct realtime_ring *r)
{
    return atomic_load(&r->shared->complete);
}

bool realtime_ring_sleep(const struct realtime_ring *r, bool holds, int64_t complete)
{
    const struct realtime_shared *shared = r->shared;
    atomic_store(&r->shared->asleep, holds ? REALTIME_HOLDS : REALTIME_WAITS);
    if (atomic_load(&shared->put) == r->position && atomic_load(&shared->ended) == 0 &&
        (!holds || atomic_load(&shared->complete) <= complete))
        return true;
    realtime_ring_awake(r);
    return false;
}

void realtime_ring_awake(const struct realtime_ring *r)
{
    atomic_store(&r->shared->asleep, REALTIME_AWAKE);
}

void realtime_ring_leave(const struct realtime_ring *r)
{
    atomic_store(&r->shared->left, 1);
}

static bool is_asleep(struct realtime_ring *r)
{
    return atomic_load(&r->shared->asleep) != REALTIME_AWAKE &&
           atomic_exchange(&r->shared->asleep, REALTIME_AWAKE) != REALTIME_AWAKE;
}

bool realtime_ring_is_full(const struct realtime_ring *r)
{
    /* `taken` is not validated: a consumer that stores an incorrect position harms only itself, because it then reads
       overwritten buffers. */
    return r->position - atomic_load_explicit(&r->shared->taken, memory_order_acquire) >= REALTIME_SLOTS;
}

static void publish(struct realtime_ring *r, bool *wake)
{
    atomic_store(&r->shared->put, ++r->position);
    *wake = is_asleep(r);
}

HRESULT realtime_ring_put(struct realtime_ring *r, const struct etl_buffer_header *head, const uint8_t *bytes,
                          bool *wake)
{
    *wake = false;
    if (realtime_ring_is_full(r)) {
        realtime_ring_lost(r, 0, 1);
        return S_FALSE;
    }
    assert(head->used >= ETL_BUFFER_HEAD && head->used <= r->buffer_size);
    struct etl_buffer_header own = *head;
    own.size = r->buffer_size;
    own.saved = own.current = own.used;
    uint8_t *at = slot(r, r->position);
    etl_buffer_header_write(&own, at);
    memcpy(at + ETL_BUFFER_HEAD, bytes + ETL_BUFFER_HEAD, own.used - ETL_BUFFER_HEAD);
    publish(r, wake);
    return S_OK;
}

HRESULT realtime_ring_begin(struct realtime_ring *r, const struct etl_log *log)
{
    const uint32_t room = etl_buffer_max_event(r->buffer_size);
    uint8_t *buffer = memory_zero(1, r->buffer_size);
    if (!buffer)
        return error_set(E_OUTOFMEMORY, "out of memory for the header of a session");
    struct etl_log own = *log;
    uint32_t size;
    bool wake;
    own.mode |= MODE_REAL_TIME;
    own.end_utc = 0;
    own.pointer_size = 8;
    HRESULT hr = etl_log_write(&own, buffer + ETL_BUFFER_HEAD, room, &size);
    if (hr == E_INVALIDARG) { /* the header does not fit: omit the names, which a consumer knows */
        own.logger_name = own.file_name = NULL;
        hr = etl_log_write(&own, buffer + ETL_BUFFER_HEAD, room, &size);
    }
    if (SUCCEEDED(hr)) {
        const struct etl_buffer_header head = {.time = log->start_stamp,
                                               .state = ETL_STATE_FLUSHED,
                                               .used = (ETL_BUFFER_HEAD + size + 7) & ~7u,
                                               .flags = ETL_FLAG_PROCESSOR_INDEX,
                                               .type = ETL_TYPE_FILE_HEADER};
        hr = realtime_ring_put(r, &head, buffer, &wake);
    }
    memory_free(buffer);
    return hr;
}

void realtime_ring_mark(struct realtime_ring *r, int64_t time, bool *wake)
{
    atomic_store(&r->shared->complete, time);
    *wake = atomic_load(&r->shared->asleep) == REALTIME_HOLDS &&
            atomic_exchange(&r->shared->asleep, REALTIME_AWAKE) != REALTIME_AWAKE;
}

void realtime_ring_lost(struct realtime_ring *r, uint64_t events, uint64_t buffers)
{
    if (events != 0)
        atomic_fetch_add(&r->shared->events_lost, events);
    if (buffers != 0)
        atomic_fetch_add(&r->shared->buffers_lost, buffers);
}

void realtime_ring_end(struct realtime_ring *r, bool *wake)
{
    atomic_store(&r->shared->ended, 1);
    *wake = is_asleep(r);
}

bool realtime_ring_is_left(const struct realtime_ring *r)
{
    return atomic_load(&r->shared->left) != 0;
}

uint32_t realtime_ring_progress(const struct realtime_ring *r)
{
    return atomic_load_explicit(&r->shared->read, memory_order_relaxed) +
           atomic_load_explicit(&r->shared->taken, memory_order_relaxed);
}

/* ---- the backlog ---- */

/* A list of buffers, each truncated to its used part. */

struct backlog_buffer {
    struct backlog_buffer *next;
    struct etl_buffer_header head;
    uint8_t bytes[]; /* head.used bytes */
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
    assert(b->count != 0 && b->bytes >= gone->head.used);
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
