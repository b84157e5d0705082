/* SPDX-License-Identifier: MIT */
#include "engine/etw/consumer/relogged_file.h"

#include "engine/base/memory.h"
#include "engine/logs/etl_file.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 2 * RELOGGED_EVENT_LARGEST, MOST_PROCESSORS = 4096 };

struct processor_buffer {
    uint8_t *bytes; /* NULL: none yet */
    uint32_t used, events;
    int64_t newest;
    bool mixed; /* not in the order of time */
};

struct relogged_file {
    struct etl_file *file;
    struct processor_buffer *buffers;
    size_t buffer_count, capacity;
    uint64_t sequence;
    int64_t newest;
    uint8_t *event; /* the bytes of one */
    uint8_t *spare; /* where a buffer is put in order */
};

HRESULT relogged_file_create(const char *path, const struct etl_log *first, uint32_t processors,
                             struct relogged_file **out)
{
    struct relogged_file *f = memory_zero(1, sizeof *f);
    if (f) {
        f->event = memory_alloc(RELOGGED_EVENT_LARGEST);
        f->spare = memory_alloc(BUFFER);
    }
    HRESULT hr = f && f->event && f->spare ? S_OK : error_set(E_OUTOFMEMORY, "%s: out of memory for a log", path);
    if (SUCCEEDED(hr)) {
        struct etl_log log = *first;
        log.private_logger = false;
        log.buffer_size = BUFFER;
        log.processors = processors != 0 ? processors : 1;
        log.mode = ETL_MODE_SEQUENTIAL | ETL_MODE_RELOGGED;
        log.maximum_file_mb = 0;
        log.clock = ETL_CLOCK_SYSTEM;
        log.start_stamp = log.start_utc;
        log.logger_name = "Relogger";
        log.file_name = path;
        log.events_lost = log.buffers_lost = 0;
        log.frequency = log.frequency > 0 ? log.frequency : 10000000;
        log.cpu_mhz = log.cpu_mhz != 0 ? log.cpu_mhz : 1000;
        hr = etl_file_create(path, true, &log, &f->file);
        f->newest = log.start_utc;
    }
    if (FAILED(hr)) {
        if (f) {
            memory_free(f->event);
            memory_free(f->spare);
        }
        memory_free(f);
        return hr;
    }
    f->sequence = etl_file_next_sequence(f->file);
    *out = f;
    return S_OK;
}

struct place {
    int64_t stamp;
    uint32_t offset, size;
};

static int by_time(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->stamp != y->stamp)
        return x->stamp < y->stamp ? -1 : 1;
    return x->offset < y->offset ? -1 : 1;
}

static HRESULT put_in_order(struct relogged_file *f, struct processor_buffer *b)
{
    struct place *places = memory_alloc((b->events + 1) * sizeof *places);
    uint32_t offset = ETL_BUFFER_HEAD, size, count = 0;
    const uint8_t *event;
    if (!places)
        return error_set(E_OUTOFMEMORY, "out of memory to put %u events in order", (unsigned)b->events);
    for (uint32_t at = offset; count < b->events && etl_buffer_event(b->bytes, b->used, &offset, &event, &size);
         at = offset) {
        struct etl_record record;
        etl_record_decode(event, size, &record);
        places[count++] = (struct place){record.stamp, at, offset - at};
    }
    qsort(places, count, sizeof *places, by_time);
    uint32_t used = ETL_BUFFER_HEAD;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(f->spare + used, b->bytes + places[i].offset, places[i].size);
        used += places[i].size;
    }
    memory_free(places);
    uint8_t *bytes = b->bytes;
    b->bytes = f->spare;
    b->used = used;
    f->spare = bytes;
    return S_OK;
}

static HRESULT flush(struct relogged_file *f, size_t processor)
{
    struct processor_buffer *b = &f->buffers[processor];
    if (b->events == 0)
        return S_OK;
    HRESULT hr = b->mixed ? put_in_order(f, b) : S_OK;
    if (FAILED(hr))
        return hr;
    const struct etl_buffer_header head = {.time = f->newest,
                                           .sequence = f->sequence,
                                           .processor = (uint16_t)processor,
                                           .used = b->used,
                                           .flags = ETL_FLAG_PROCESSOR_INDEX,
                                           .type = ETL_TYPE_EVENTS};
    hr = etl_file_add_buffer(f->file, f->newest, &head, b->bytes);
    if (FAILED(hr))
        return hr;
    f->sequence++;
    b->used = ETL_BUFFER_HEAD;
    b->events = 0;
    b->mixed = false;
    return S_OK;
}

/* NULL: out of memory. */
static struct processor_buffer *buffer_of(struct relogged_file *f, size_t processor)
{
    void *buffers = f->buffers;
    const size_t before = f->buffer_count;
    if (processor >= before) {
        if (!memory_grow(&buffers, &f->capacity, processor + 1, sizeof *f->buffers))
            return NULL;
        f->buffers = buffers;
        memset(f->buffers + before, 0, (processor + 1 - before) * sizeof *f->buffers);
        f->buffer_count = processor + 1;
    }
    struct processor_buffer *b = &f->buffers[processor];
    if (!b->bytes) {
        b->bytes = memory_alloc(BUFFER);
        b->used = ETL_BUFFER_HEAD;
    }
    return b->bytes ? b : NULL;
}

HRESULT relogged_file_add(struct relogged_file *f, const EVENT_RECORD *record)
{
    const bool wide = (record->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) != 0;
    const size_t processor = wide ? record->BufferContext.ProcessorIndex : record->BufferContext.ProcessorNumber;
    const int64_t time = record->EventHeader.TimeStamp.QuadPart;
    uint32_t size;
    if (processor >= MOST_PROCESSORS)
        return error_set(E_INVALIDARG, "ProcessorIndex: %zu is above the most, %d", processor, MOST_PROCESSORS - 1);
    HRESULT hr = relogged_event_bytes(record, f->event, &size);
    if (FAILED(hr))
        return hr;
    struct processor_buffer *b = buffer_of(f, processor);
    if (!b)
        return error_set(E_OUTOFMEMORY, "out of memory for the buffer of processor %zu", processor);
    const uint32_t room = (size + 7) & ~UINT32_C(7);
    if (room > BUFFER - b->used)
        hr = flush(f, processor);
    if (FAILED(hr))
        return hr;
    b->mixed = b->mixed || (b->events != 0 && time < b->newest);
    b->newest = b->events == 0 || time > b->newest ? time : b->newest;
    f->newest = time > f->newest ? time : f->newest;
    memcpy(b->bytes + b->used, f->event, size);
    memset(b->bytes + b->used + size, 0, room - size);
    b->used += room;
    b->events++;
    return S_OK;
}

HRESULT relogged_file_close(struct relogged_file *f, uint64_t events_lost, uint64_t buffers_lost)
{
    HRESULT hr = S_OK;
    if (!f)
        return S_OK;
    for (size_t i = 0; i < f->buffer_count; i++) {
        const HRESULT one = flush(f, i);
        hr = FAILED(hr) ? hr : one;
        memory_free(f->buffers[i].bytes);
    }
    const struct error_kept why = error_keep(hr);
    etl_file_count_lost(f->file, (size_t)events_lost, (size_t)buffers_lost);
    etl_file_end(f->file, f->newest);
    const HRESULT closed = etl_file_close(f->file);
    memory_free(f->buffers);
    memory_free(f->event);
    memory_free(f->spare);
    memory_free(f);
    return FAILED(hr) ? error_restore(&why) : closed;
}
