/* SPDX-License-Identifier: MIT */
/* The queue for the events of one pass, and the builder of their data. Entries are in time order. An entry without data
   reserves a place: the data are filled in later, or the entry is skipped when the queue is flushed. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/kernel/kernel_tracer.h"

#include <string.h>

struct queued {
    struct kernel_event event; /* its pointer `data` is unused */
    size_t at;                 /* offset in the queue's data */
    bool filled;
};

/* ---- data ---- */

void kernel_data_clear(struct kernel_data *d)
{
    d->size = 0;
    d->failed = false;
}

void kernel_data_bytes(struct kernel_data *d, const void *bytes, size_t size)
{
    void *grown = d->bytes;
    if (d->failed || !memory_grow(&grown, &d->capacity, d->size + size, 1)) {
        d->failed = true;
        return;
    }
    d->bytes = grown;
    if (size != 0)
        memcpy(d->bytes + d->size, bytes, size);
    d->size += size;
}

void kernel_data_u8(struct kernel_data *d, uint8_t value)
{
    kernel_data_bytes(d, &value, 1);
}

void kernel_data_u16(struct kernel_data *d, uint16_t value)
{
    uint8_t bytes[2];
    put_u16(bytes, value);
    kernel_data_bytes(d, bytes, sizeof bytes);
}

void kernel_data_u32(struct kernel_data *d, uint32_t value)
{
    uint8_t bytes[4];
    put_u32(bytes, value);
    kernel_data_bytes(d, bytes, sizeof bytes);
}

void kernel_data_u64(struct kernel_data *d, uint64_t value)
{
    uint8_t bytes[8];
    put_u64(bytes, value);
    kernel_data_bytes(d, bytes, sizeof bytes);
}

void kernel_data_text(struct kernel_data *d, const char *text, size_t most)
{
    const unsigned char *at = (const unsigned char *)(text ? text : ""), *end = at + strlen((const char *)at);
    for (size_t units = 0; at < end;) {
        const uint32_t c = unicode_next(&at, end, NULL);
        units += c > 0xFFFF ? 2 : 1;
        if (units > most)
            break;
        if (c > 0xFFFF) {
            kernel_data_u16(d, (uint16_t)(0xD800 + ((c - 0x10000) >> 10)));
            kernel_data_u16(d, (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF)));
        } else {
            kernel_data_u16(d, (uint16_t)c);
        }
    }
    kernel_data_u16(d, 0);
}

void kernel_data_ansi(struct kernel_data *d, const char *text)
{
    kernel_data_bytes(d, text, strlen(text) + 1);
}

void kernel_data_free(struct kernel_data *d)
{
    memory_free(d->bytes);
    *d = (struct kernel_data){0};
}

/* ---- queue ---- */

HRESULT kernel_queue_keep_place(struct kernel_queue *q, const struct kernel_event *e, size_t *entry)
{
    void *grown = q->entries;
    if (!memory_grow(&grown, &q->capacity, q->count + 1, sizeof *q->entries))
        return E_OUTOFMEMORY;
    q->entries = grown;
    *entry = q->count++;
    q->entries[*entry] = (struct queued){.event = *e};
    q->entries[*entry].event.data = NULL;
    q->entries[*entry].event.size = 0;
    return S_OK;
}

static HRESULT queue_fill_entry(struct kernel_queue *q, size_t entry, const uint8_t *bytes, size_t size)
{
    struct queued *queued = &q->entries[entry];
    const size_t at = q->data.size;
    if (size > KERNEL_MOST_DATA)
        return E_INVALIDARG;
    kernel_data_bytes(&q->data, bytes, size);
    if (q->data.failed) {
        q->data.failed = false; /* the data that were added earlier are intact */
        return E_OUTOFMEMORY;
    }
    queued->at = at;
    queued->event.size = (uint32_t)size;
    queued->filled = true;
    return S_OK;
}

HRESULT kernel_queue_fill(struct kernel_queue *q, size_t entry, enum kernel_hook hook, const struct kernel_data *data)
{
    q->entries[entry].event.hook = (uint16_t)hook;
    return data->failed ? E_OUTOFMEMORY : queue_fill_entry(q, entry, data->bytes, data->size);
}

HRESULT kernel_queue_add(struct kernel_queue *q, const struct kernel_event *e)
{
    size_t entry;
    HRESULT hr = kernel_queue_keep_place(q, e, &entry);
    if (SUCCEEDED(hr) && FAILED(hr = queue_fill_entry(q, entry, e->data, e->size)))
        q->count = entry;
    return hr;
}

HRESULT kernel_queue_flush(struct kernel_queue *q, const struct kernel_sink *sink)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < q->count; i++) {
        if (!q->entries[i].filled)
            continue;
        q->entries[i].event.data = q->data.bytes + q->entries[i].at;
        hr = sink->event(sink->context, &q->entries[i].event);
    }
    q->count = 0;
    kernel_data_clear(&q->data);
    return hr;
}

void kernel_queue_free(struct kernel_queue *q)
{
    kernel_data_free(&q->data);
    memory_free(q->entries);
    *q = (struct kernel_queue){0};
}
