/* SPDX-License-Identifier: MIT */
/* Creates and maps the sections that contain sessions' buffers. */
#include "engine/etw/session/session_buffers.h"

#include "engine/base/error.h"
#include "engine/logs/etl_record.h"

enum session_source session_source_for(uint32_t clock)
{
    if (clock == ETL_CLOCK_CYCLES || processor_cycles_are_time())
        return SESSION_STAMP_CYCLES;
    return clock == ETL_CLOCK_SYSTEM ? SESSION_STAMP_SYSTEM : SESSION_STAMP_TICKS;
}

static bool is_shape(const struct session_shape *s)
{
    return s->buffers >= 1 && s->buffers <= SESSION_MOST_BUFFERS && s->minimum >= 1 && s->minimum <= s->buffers &&
           s->buffer_size >= ETL_SMALLEST_BUFFER && s->buffer_size <= ETL_LARGEST_BUFFER &&
           s->buffer_size % ETL_BUFFER_UNIT == 0 && s->processors >= 1 && s->processors <= SESSION_MOST_PROCESSORS &&
           s->wake_at >= 1 && s->wake_at <= s->buffers && s->source >= SESSION_STAMP_TICKS &&
           s->source <= SESSION_STAMP_CYCLES;
}

static uint64_t lines_at(const struct session_shape *s)
{
    return sizeof(struct session_shared) + (uint64_t)s->processors * sizeof(struct session_processor);
}

static uint64_t data_at(const struct session_shape *s)
{
    const uint64_t end = lines_at(s) + (uint64_t)s->buffers * sizeof(struct session_line);
    return (end + SESSION_DATA_UNIT - 1) / SESSION_DATA_UNIT * SESSION_DATA_UNIT;
}

HRESULT session_buffers_size(const struct session_shape *shape, size_t *size)
{
    const uint64_t bytes = is_shape(shape) ? data_at(shape) + (uint64_t)shape->buffers * shape->buffer_size : 0;
    if (bytes == 0 || bytes > PTRDIFF_MAX) {
        return error_set(
            E_INVALIDARG,
            "invalid session buffers: %u buffers of %u bytes, with a minimum of %u buffers, for %u processors",
            (unsigned)shape->buffers, (unsigned)shape->buffer_size, (unsigned)shape->minimum,
            (unsigned)shape->processors);
    }
    *size = (size_t)bytes;
    return S_OK;
}

static void session_buffers_set(void *memory, const struct session_shape *shape, struct session_buffers *out)
{
    uint8_t *bytes = memory;
    *out = (struct session_buffers){
        .shared = memory,
        .processor = (void *)(bytes + sizeof(struct session_shared)),
        .line = (void *)(bytes + lines_at(shape)),
        .data = bytes + data_at(shape),
        .buffers = shape->buffers,
        .buffer_size = shape->buffer_size,
        .processors = shape->processors,
        .minimum = shape->minimum,
        .wake_at = shape->wake_at,
        .source = shape->source,
        .method = processor_method(),
    };
}

HRESULT session_buffers_create(void *memory, size_t size, const struct session_shape *shape,
                               struct session_buffers *out)
{
    size_t need = 0;
    HRESULT hr = session_buffers_size(shape, &need);
    if (FAILED(hr))
        return hr;
    if (size < need) {
        return error_set(E_INVALIDARG, "invalid session section: %llu bytes, %llu required", (unsigned long long)size,
                         (unsigned long long)need);
    }
    session_buffers_set(memory, shape, out);
    struct session_shared *s = out->shared;
    atomic_store(&s->version, SESSION_VERSION);
    atomic_store(&s->buffers, shape->buffers);
    atomic_store(&s->minimum, shape->minimum);
    atomic_store(&s->buffer_size, shape->buffer_size);
    atomic_store(&s->processors, shape->processors);
    atomic_store(&s->source, (uint32_t)shape->source);
    atomic_store(&s->wake_at, shape->wake_at);
    atomic_store(&s->allocated, shape->minimum);
    atomic_store(&s->totals.file, 1);
    for (uint32_t i = 0; i < shape->processors; i++)
        atomic_store(&out->processor[i].word, SESSION_WORD_NONE);
    atomic_store(&s->magic, SESSION_MAGIC);
    return S_OK;
}

HRESULT session_buffers_map(void *memory, size_t size, struct session_buffers *out)
{
    struct session_shared *s = memory;
    size_t need = 0;
    if (size < sizeof *s || atomic_load(&s->magic) != SESSION_MAGIC || atomic_load(&s->version) != SESSION_VERSION)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "invalid session section: not a session of this version");
    const struct session_shape shape = {
        .buffers = atomic_load(&s->buffers),
        .minimum = atomic_load(&s->minimum),
        .buffer_size = atomic_load(&s->buffer_size),
        .processors = atomic_load(&s->processors),
        .source = (enum session_source)atomic_load(&s->source),
        .wake_at = atomic_load(&s->wake_at),
    };
    if (FAILED(session_buffers_size(&shape, &need)) || need > size) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "corrupt session section: %u buffers of %u bytes for %u processors in %llu bytes",
                         (unsigned)shape.buffers, (unsigned)shape.buffer_size, (unsigned)shape.processors,
                         (unsigned long long)size);
    }
    session_buffers_set(memory, &shape, out);
    return S_OK;
}

uint64_t session_buffers_lost(const struct session_buffers *b)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < b->processors; i++)
        lost += atomic_load_explicit(&b->processor[i].lost, memory_order_relaxed);
    return lost;
}

void session_buffers_count(const struct session_buffers *b, uint32_t *allocated, uint32_t *free)
{
    const uint32_t said = atomic_load_explicit(&b->shared->allocated, memory_order_relaxed);
    *allocated = said < b->buffers ? said : b->buffers;
    *free = 0;
    for (uint32_t i = 0; i < *allocated; i++)
        *free += session_line_state(session_load(&b->line[i].word)) == SESSION_FREE;
}

void session_buffers_limit(const struct session_buffers *b, uint32_t most)
{
    struct session_shared *s = b->shared;
    atomic_store(&s->most, most);
    if (atomic_load(&s->allocated) > most)
        atomic_store(&s->allocated, most);
    atomic_fetch_add(&s->given, 1); /* makes writers that found no free buffer search again */
}

uint32_t session_next_sequence(const struct session_buffers *b)
{
    return atomic_fetch_add_explicit(&b->shared->sequence, 1, memory_order_relaxed) + 1;
}
