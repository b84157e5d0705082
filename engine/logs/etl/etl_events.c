/* SPDX-License-Identifier: MIT */
/* Packs single events into the buffers of a container. A call adds either all of its events or none. A new buffer is
   first written with a header that counts no events. If the disk is full, the first write of the buffer fails. The
   header that counts the events is written after all earlier buffers are in the file. */
#include "engine/base/file.h"
#include "engine/logs/etl/etl_container.h"

#include <string.h>

enum { STAMP_AT = 0x10, STAMP_SIZE = 8 }; /* offset and size of the time stamp in an event */

static uint32_t event_space(const struct etl_event *event)
{
    return (event->head_size + event->data_size + 7) & ~(uint32_t)7;
}

/* Returns the number of bytes that still fit into the current buffer. */
static uint32_t room(const struct etl_file *e)
{
    return e->full ? 0 : e->size - e->head.used;
}

/* Returns the index of the first event from `i` on that does not fit into `room` bytes; *space is the size of the
   events before it. */
static size_t events_that_fit(const struct etl_event *events, size_t count, size_t i, uint32_t room, uint32_t *space)
{
    for (*space = 0; i < count && event_space(&events[i]) <= room - *space; i++)
        *space += event_space(&events[i]);
    return i;
}

/* Copies the events to `at`. */
static void put_events(uint8_t *at, const struct etl_event *events, size_t count)
{
    for (const struct etl_event *event = events; event < events + count; event++) {
        const uint32_t size = event->head_size + event->data_size, space = event_space(event);
        memcpy(at, event->head, event->head_size);
        if (event->data_size != 0)
            memcpy(at + event->head_size, event->data, event->data_size);
        memset(at + size, 0, space - size);
        at += space;
    }
}

/* Writes the events into `new_buffers` new buffers after the current one, with headers that count no events. The last
   new buffer stays in e->spare. */
static HRESULT write_uncounted(struct etl_file *e, const struct etl_event *events, size_t count, uint64_t new_buffers)
{
    HRESULT hr = etl_container_cut_torn_end(e);
    uint64_t place = e->place;
    size_t from = 0;
    for (uint64_t i = 0; SUCCEEDED(hr) && i < new_buffers; i++) {
        uint32_t space;
        const struct etl_buffer_header head = etl_container_new_header(e, e->sequence + 1 + i);
        const size_t to = events_that_fit(events, count, from, e->size - ETL_BUFFER_HEAD, &space);
        etl_buffer_header_write(&head, e->spare);
        put_events(e->spare + ETL_BUFFER_HEAD, events + from, to - from);
        memset(e->spare + ETL_BUFFER_HEAD + space, 0xFF, e->size - ETL_BUFFER_HEAD - space);
        place = etl_container_next_place(e, place);
        hr = file_write_at(e->file, place * e->size, e->spare, e->size);
        e->torn = e->torn || place >= e->buffers; /* stays set until the log file header counts the new buffers */
        from = to;
    }
    return hr;
}

/* Writes the headers of the new buffers again. The new headers count the events that write_uncounted has written. */
static HRESULT count_written(struct etl_file *e, const struct etl_event *events, size_t count, uint64_t new_buffers)
{
    HRESULT hr = S_OK;
    size_t from = 0;
    for (uint64_t i = 0; SUCCEEDED(hr) && i < new_buffers; i++) {
        uint32_t space;
        from = events_that_fit(events, count, from, e->size - ETL_BUFFER_HEAD, &space);
        e->place = etl_container_next_place(e, e->place);
        e->buffers += e->place == e->buffers;
        e->full = e->given = false;
        e->head = etl_container_new_header(e, ++e->sequence);
        e->head.used = e->written = ETL_BUFFER_HEAD + space;
        hr = etl_container_write_buffer(e, i + 1 == new_buffers);
    }
    return hr;
}

/* Writes the new buffers first: if the disk is full, this write fails before the current buffer changes. Then writes
   the events that fit into the current buffer. Finally updates the headers of the new buffers, so that they count their
   events, because these events follow those of the current buffer. */
static HRESULT add_across(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count,
                          uint64_t new_buffers)
{
    const struct etl_file old = *e;
    uint32_t space;
    const size_t here = events_that_fit(events, count, 0, room(e), &space);
    e->log.end_utc = utc;
    HRESULT hr = write_uncounted(e, events + here, count - here, new_buffers);
    if (FAILED(hr)) {
        e->log.end_utc = old.log.end_utc;
        (void)etl_container_cut_torn_end(e); /* if this fails, the next growth and the next flush try again */
        return hr;
    }
    put_events(e->buffer + e->head.used, events, here);
    e->head.used += space;
    hr = etl_container_write_buffer(e, false);
    etl_container_swap(e); /* the previous buffer is kept to undo the change */
    if (SUCCEEDED(hr))
        hr = count_written(e, events + here, count - here, new_buffers);
    if (SUCCEEDED(hr))
        hr = etl_container_write_counts(e);
    if (SUCCEEDED(hr)) {
        e->torn = false;
        e->changed = false;
        return S_OK;
    }
    *e = old; /* now both buffers are as before */
    memset(e->buffer + e->head.used, 0xFF, e->size - e->head.used);
    e->written = 0;
    e->changed = true;
    e->torn = true;
    (void)etl_file_flush(e); /* if this fails, the next flush repairs it */
    return hr;
}

/* Returns the number of new buffers that the events need. */
static uint64_t buffers_needed(const struct etl_file *e, const struct etl_event *events, size_t count)
{
    uint32_t free = room(e);
    uint64_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t space = event_space(&events[i]);
        if (space > free) {
            needed++;
            free = e->size - ETL_BUFFER_HEAD;
        }
        free -= space;
    }
    return needed;
}

HRESULT etl_file_add(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count)
{
    const uint32_t most = etl_buffer_max_event(e->size);
    for (size_t i = 0; i < count; i++) {
        if (events[i].data_size > most || event_space(&events[i]) > most) {
            return error_set(E_INVALIDARG, "an event of %u bytes exceeds the buffer size of %u bytes",
                             (unsigned)(events[i].head_size + events[i].data_size), (unsigned)e->size);
        }
    }
    if (utc < e->log.end_utc)
        utc = e->log.end_utc; /* the clock was set back, but the buffers' times must not decrease */
    uint64_t new_buffers = buffers_needed(e, events, count);
    if (new_buffers != 0)
        return add_across(e, utc, events, count, new_buffers);
    uint32_t space;
    put_events(e->buffer + e->head.used, events, events_that_fit(events, count, 0, room(e), &space));
    e->head.used += space;
    e->log.end_utc = utc;
    e->changed = true;
    return S_OK;
}

HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count)
{
    uint64_t buffer = 1;
    uint32_t used = ETL_BUFFER_HEAD;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *stamp = events[i].head + STAMP_AT;
        uint32_t space = event_space(&events[i]);
        if (space > e->size - used) {
            buffer++;
            used = ETL_BUFFER_HEAD;
        }
        if (buffer == e->place)
            memcpy(e->buffer + used + STAMP_AT, stamp, STAMP_SIZE);
        if (buffer < e->place || used < e->written) {
            HRESULT hr = file_write_at(e->file, buffer * e->size + used + STAMP_AT, stamp, STAMP_SIZE);
            if (FAILED(hr))
                return hr;
        }
        used += space;
    }
    return S_OK;
}

uint64_t etl_file_size_with(const struct etl_file *e, const struct etl_event *events, size_t count)
{
    const uint64_t needed = buffers_needed(e, events, count);
    if (e->ring_end == 0)
        return (e->buffers + needed) * e->size;
    /* If the current buffer is in the ring, the new buffers must not overwrite it, because the first events are stored
       in it. */
    const bool outside = e->place < e->ring_first;
    if (needed > e->ring_end - e->ring_first - (outside ? 0 : 1))
        return UINT64_MAX;
    const uint64_t buffers = e->buffers + needed;
    return (buffers < e->ring_end ? buffers : e->ring_end) * e->size;
}
