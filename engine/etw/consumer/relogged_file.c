/* SPDX-License-Identifier: MIT */
/* Copies of events, their encoding in log files, and the relogger's output file. */
#include "engine/base/memory.h"
#include "engine/etw/consumer/relogger.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

enum {
    SYSTEM_HEAD = 0x20,
    PERFORMANCE_HEAD = 0x10,
    CLASSIC_HEAD = 0x30,
    INSTANCE_HEAD = 0x48,
    MANIFEST_HEAD = 0x50,
    MESSAGE_HEAD = 8,
    ITEM_HEAD = 8,
    MORE_DATA = 234,
    MESSAGE_PARTS = 0x2A, /* parts of a message's header: GUID, time, ids of thread and process */
    EXT_TYPE_PMC_COUNTERS = 8,
};

/* ---- the copy ---- */

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

HRESULT relogged_event_copy(struct relogged_event *e, const EVENT_RECORD *record)
{
    size_t need = padded(record->UserDataLength);
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++)
        need += padded(record->ExtendedData[i].DataSize);
    void *bytes = e->bytes, *items = e->items;
    const bool room = memory_grow(&bytes, &e->capacity, need + 1, 1);
    e->bytes = bytes;
    const bool more =
        room && memory_grow(&items, &e->item_capacity, (size_t)record->ExtendedDataCount + 1, sizeof *e->items);
    e->items = items;
    if (!more)
        return error_set(E_OUTOFMEMORY, "out of memory for a copy of an event");
    e->record = *record;
    size_t at = padded(record->UserDataLength);
    if (record->UserDataLength != 0)
        memcpy(e->bytes, record->UserData, record->UserDataLength);
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        e->items[i] = record->ExtendedData[i];
        memcpy(e->bytes + at, (const void *)(uintptr_t)record->ExtendedData[i].DataPtr, e->items[i].DataSize);
        e->items[i].DataPtr = (uintptr_t)(e->bytes + at);
        at += padded(e->items[i].DataSize);
    }
    e->record.UserData = e->bytes;
    e->record.ExtendedData = record->ExtendedDataCount != 0 ? e->items : NULL;
    return S_OK;
}

HRESULT relogged_event_set_data(struct relogged_event *e, const void *data, size_t size)
{
    if (size > UINT16_MAX || (!data && size != 0))
        return error_set(E_INVALIDARG, "invalid PayloadSize %zu: expected at most 65535 bytes", size);
    struct relogged_event changed = {0};
    EVENT_RECORD record = e->record;
    record.UserData = (void *)(uintptr_t)data;
    record.UserDataLength = (USHORT)size;
    const HRESULT hr = relogged_event_copy(&changed, &record);
    if (FAILED(hr)) {
        relogged_event_free(&changed);
        return hr;
    }
    relogged_event_free(e);
    *e = changed;
    return S_OK;
}

void relogged_event_free(struct relogged_event *e)
{
    memory_free(e->bytes);
    memory_free(e->items);
    *e = (struct relogged_event){0};
}

/* ---- an event's bytes in a file ---- */

static bool is_narrow(const EVENT_RECORD *r)
{
    return (r->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0;
}

static const EVENT_HEADER_EXTENDED_DATA_ITEM *item_of(const EVENT_RECORD *r, uint16_t type)
{
    for (uint16_t i = 0; i < r->ExtendedDataCount; i++)
        if (r->ExtendedData[i].ExtType == type)
            return &r->ExtendedData[i];
    return NULL;
}

/* Appends `size` bytes. Returns false if there is no room. */
static bool bytes_append(uint8_t *out, uint32_t *at, const void *bytes, size_t size)
{
    if (size > (size_t)(RELOGGED_EVENT_LARGEST - 1 - *at))
        return false;
    if (size != 0)
        memcpy(out + *at, bytes, size);
    *at += (uint32_t)size;
    return true;
}

static void put_who(const EVENT_HEADER *h, uint8_t *out)
{
    put_u32(out + 8, h->ThreadId);
    put_u32(out + 0x0C, h->ProcessId);
    put_u64(out + 0x10, (uint64_t)h->TimeStamp.QuadPart);
}

/* Writes a kernel header. Its hook id consists of the class's group and the event's type. */
static bool kernel_bytes(const EVENT_RECORD *r, uint8_t group, uint8_t *out, uint32_t *at)
{
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_HEADER_EXTENDED_DATA_ITEM *counts = item_of(r, EXT_TYPE_PMC_COUNTERS);
    const bool timed = h->ProcessId == UINT32_MAX && h->ThreadId == UINT32_MAX; /* unknown process and thread */
    put_u16(out, h->EventDescriptor.Version);
    out[2] = (uint8_t)((timed ? 0x10 : 0x01) + !is_narrow(r));
    out[3] = ETL_MARKS;
    put_u16(out + 6, (uint16_t)(group << 8 | h->EventDescriptor.Opcode));
    if (timed) {
        put_u64(out + 8, (uint64_t)h->TimeStamp.QuadPart);
        *at = PERFORMANCE_HEAD;
        if (counts && counts->DataSize / 8 <= 7) {
            put_u16(out, (uint16_t)(counts->DataSize / 8 << 8 | h->EventDescriptor.Version));
            return bytes_append(out, at, (const void *)(uintptr_t)counts->DataPtr, counts->DataSize / 8 * 8);
        }
        return true;
    }
    put_who(h, out);
    put_u32(out + 0x18, h->KernelTime);
    put_u32(out + 0x1C, h->UserTime);
    *at = SYSTEM_HEAD;
    return true;
}

static void classic_bytes(const EVENT_RECORD *r, uint8_t *out, uint32_t *at)
{
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_HEADER_EXTENDED_DATA_ITEM *instance = item_of(r, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
    const bool has = instance && instance->DataSize >= sizeof(EVENT_EXTENDED_ITEM_INSTANCE);
    out[2] = (uint8_t)(is_narrow(r) ? (has ? 0x0B : 0x0A) : (has ? 0x15 : 0x14));
    out[3] = ETL_MARKS;
    out[4] = h->EventDescriptor.Opcode;
    out[5] = h->EventDescriptor.Level;
    put_u16(out + 6, h->EventDescriptor.Version);
    put_who(h, out);
    memcpy(out + 0x18, &h->ProviderId, sizeof h->ProviderId);
    put_u32(out + 0x28, h->KernelTime);
    put_u32(out + 0x2C, h->UserTime);
    *at = has ? INSTANCE_HEAD : CLASSIC_HEAD;
    if (has)
        memcpy(out + 0x30, (const void *)(uintptr_t)instance->DataPtr, INSTANCE_HEAD - 0x30);
}

static void message_bytes(const EVENT_RECORD *r, uint8_t *out, uint32_t *at)
{
    const EVENT_HEADER *h = &r->EventHeader;
    out[2] = 0;
    out[3] = ETL_MARK_MESSAGE;
    put_u16(out + 4, h->EventDescriptor.Id);
    put_u16(out + 6, (uint16_t)(MESSAGE_PARTS | (is_narrow(r) ? 0x40 : 0x80)));
    memcpy(out + MESSAGE_HEAD, &h->ProviderId, sizeof h->ProviderId);
    put_u64(out + MESSAGE_HEAD + 16, (uint64_t)h->TimeStamp.QuadPart);
    put_u32(out + MESSAGE_HEAD + 24, h->ThreadId);
    put_u32(out + MESSAGE_HEAD + 28, h->ProcessId);
    *at = MESSAGE_HEAD + 32;
}

static bool manifest_bytes(const EVENT_RECORD *r, uint8_t *out, uint32_t *at)
{
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    bool fits = true;
    out[2] = is_narrow(r) ? 0x12 : 0x13;
    out[3] = ETL_MARKS;
    put_u16(out + 4, r->ExtendedDataCount != 0);
    put_u16(out + 6, h->EventProperty);
    put_who(h, out);
    memcpy(out + 0x18, &h->ProviderId, sizeof h->ProviderId);
    put_u16(out + 0x28, d->Id);
    out[0x2A] = d->Version;
    out[0x2B] = d->Channel;
    out[0x2C] = d->Level;
    out[0x2D] = d->Opcode;
    put_u16(out + 0x2E, d->Task);
    put_u64(out + 0x30, d->Keyword);
    put_u32(out + 0x38, h->KernelTime);
    put_u32(out + 0x3C, h->UserTime);
    memcpy(out + 0x40, &h->ActivityId, sizeof h->ActivityId);
    *at = MANIFEST_HEAD;
    for (uint16_t i = 0; i < r->ExtendedDataCount && fits; i++) {
        static const uint8_t zeros[8];
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &r->ExtendedData[i];
        uint8_t head[ITEM_HEAD];
        const size_t total = ITEM_HEAD + padded(item->DataSize);
        put_u16(head, (uint16_t)total);
        put_u16(head + 2, item->ExtType);
        put_u16(head + 4, i + 1 < r->ExtendedDataCount);
        put_u16(head + 6, item->DataSize);
        fits = total <= UINT16_MAX && bytes_append(out, at, head, sizeof head) &&
               bytes_append(out, at, (const void *)(uintptr_t)item->DataPtr, item->DataSize) &&
               bytes_append(out, at, zeros, total - ITEM_HEAD - item->DataSize);
    }
    return fits;
}

HRESULT relogged_event_bytes(const EVENT_RECORD *r, uint8_t *out, uint32_t *size)
{
    const uint16_t flags = r->EventHeader.Flags;
    uint8_t group;
    bool fits = true, size_behind = false;
    memset(out, 0, MANIFEST_HEAD);
    if ((flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        message_bytes(r, out, size);
    } else if ((flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0) {
        fits = manifest_bytes(r, out, size);
    } else if (etl_kernel_group(&r->EventHeader.ProviderId, r->EventHeader.EventDescriptor.Opcode, &group)) {
        size_behind = true;
        fits = kernel_bytes(r, group, out, size);
    } else {
        classic_bytes(r, out, size);
    }
    fits = fits && bytes_append(out, size, r->UserData, r->UserDataLength);
    if (!fits)
        return error_set(HRESULT_FROM_WIN32(MORE_DATA),
                         "cannot relog an event with %u bytes of data: larger than 64 KB with its header",
                         (unsigned)r->UserDataLength);
    put_u16(out + (size_behind ? 4 : 0), (uint16_t)*size);
    return S_OK;
}

/* ---- the file ---- */

enum { BUFFER = 2 * RELOGGED_EVENT_LARGEST, MOST_PROCESSORS = 4096 };

struct processor_buffer {
    uint8_t *bytes; /* NULL: not allocated yet */
    uint32_t used, events;
    int64_t newest;
    bool mixed; /* the events are not in time order */
};

struct relogged_file {
    struct etl_file *file;
    struct processor_buffer *buffers;
    size_t buffer_count, capacity;
    uint64_t sequence;
    int64_t newest;
    uint8_t *event; /* the bytes of one event */
    uint8_t *spare; /* space for sorting a buffer */
};

HRESULT relogged_file_create(const char *path, const struct etl_log *first, uint32_t processors,
                             struct relogged_file **out)
{
    struct relogged_file *f = memory_zero(1, sizeof *f);
    if (f) {
        f->event = memory_alloc(RELOGGED_EVENT_LARGEST);
        f->spare = memory_alloc(BUFFER);
    }
    HRESULT hr = f && f->event && f->spare ? S_OK : error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory", path);
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

static HRESULT buffer_sort(struct relogged_file *f, struct processor_buffer *b)
{
    struct place *places = memory_alloc((b->events + 1) * sizeof *places);
    uint32_t offset = ETL_BUFFER_HEAD, size, count = 0;
    const uint8_t *event;
    if (!places)
        return error_set(E_OUTOFMEMORY, "cannot sort %u events: out of memory", (unsigned)b->events);
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

static HRESULT relogged_flush_processor(struct relogged_file *f, size_t processor)
{
    struct processor_buffer *b = &f->buffers[processor];
    if (b->events == 0)
        return S_OK;
    HRESULT hr = b->mixed ? buffer_sort(f, b) : S_OK;
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

/* Returns the buffer of a processor; NULL when out of memory. */
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
        return error_set(E_INVALIDARG, "invalid ProcessorIndex %zu: expected at most %d", processor,
                         MOST_PROCESSORS - 1);
    HRESULT hr = relogged_event_bytes(record, f->event, &size);
    if (FAILED(hr))
        return hr;
    struct processor_buffer *b = buffer_of(f, processor);
    if (!b)
        return error_set(E_OUTOFMEMORY, "out of memory for the buffer of processor %zu", processor);
    const uint32_t room = (size + 7) & ~UINT32_C(7);
    if (room > BUFFER - b->used)
        hr = relogged_flush_processor(f, processor);
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
        const HRESULT one = relogged_flush_processor(f, i);
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
