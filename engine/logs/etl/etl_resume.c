/* SPDX-License-Identifier: MIT */
/* Goes on with the log of a session that has ended, or whose host has: finds where in the file the next buffer goes.
 */
#include "engine/logs/etl/etl_container.h"

#include <string.h>

/* What is at a place: whole, of this file, and where from its start on events may lie. */
static HRESULT head_at(const struct etl_file *e, struct file *file, uint64_t place, struct etl_buffer_header *out)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    size_t got;
    HRESULT hr = file_read_at(file, place * e->size, bytes, sizeof bytes, &got);
    if (FAILED(hr))
        return hr;
    if (got < sizeof bytes || etl_buffer_used(bytes, e->size) == 0)
        return S_FALSE;
    etl_buffer_header_read(bytes, out);
    return out->type == ETL_TYPE_EVENTS && out->sequence < INT64_MAX ? S_OK : S_FALSE;
}

/* e->buffers, e->sequence, and e->place of the buffer behind which the next one comes. S_FALSE: there is none. */
static HRESULT find_place(struct etl_file *e, struct file *file, uint64_t places, etl_holds *holds, void *context)
{
    uint64_t oldest = UINT64_MAX, oldest_place = 0;
    HRESULT hr = S_OK;
    e->buffers = 1;
    for (uint64_t place = 1; SUCCEEDED(hr) && place < places; place++) {
        struct etl_buffer_header head;
        hr = head_at(e, file, place, &head);
        if (hr != S_OK || head.used == ETL_BUFFER_HEAD)
            continue;
        hr = holds ? holds(context, head.sequence) : S_OK;
        e->buffers = place + 1;
        e->place = place;
        e->sequence = head.sequence > e->sequence ? head.sequence : e->sequence;
        if (head.sequence < oldest) {
            oldest = head.sequence;
            oldest_place = place;
        }
    }
    if (FAILED(hr))
        return hr;
    if (e->buffers == e->ring_end) /* it has come round */
        e->place = oldest_place == e->ring_first ? e->ring_end - 1 : oldest_place - 1;
    return e->buffers != 1 ? S_OK : S_FALSE;
}

static HRESULT load_place(struct etl_file *e, struct file *file, const char *path, etl_holds *holds, void *context)
{
    uint64_t size;
    size_t got;
    HRESULT hr = etl_container_load_header(e, file, path);
    if (SUCCEEDED(hr))
        hr = file_size(file, &size);
    if (SUCCEEDED(hr))
        hr = find_place(e, file, size / e->size, holds, context);
    if (FAILED(hr))
        return hr;
    if (hr == S_FALSE) {
        e->buffers = 2;
        e->place = e->sequence = 1;
        etl_container_begin_buffer(e, 1, e->buffer, &e->head);
        e->changed = true;
    } else {
        hr = head_at(e, file, e->place, &e->head);
        if (hr == S_OK)
            hr = file_read_at(file, e->place * e->size, e->buffer, e->size, &got);
        else if (SUCCEEDED(hr)) /* of a ring: what was there was being overwritten */
            etl_container_begin_buffer(e, e->sequence, e->buffer, &e->head);
        e->written = e->head.used;
        e->full = e->given = true;
    }
    e->torn = size != e->buffers * e->size;
    e->changed = e->changed || e->torn;
    return FAILED(hr) ? hr : S_OK;
}

HRESULT etl_file_resume(const char *path, uint64_t max_buffers, etl_holds *holds, void *context, struct etl_file **out)
{
    struct etl_file *e = NULL;
    struct file *old;
    HRESULT hr = file_open(path, FILE_READ, &old);
    if (SUCCEEDED(hr)) {
        hr = etl_container_of_size(old, path, &e);
        if (SUCCEEDED(hr)) {
            e->ring_first = max_buffers != 0 ? 1 : 0;
            e->ring_end = max_buffers;
            hr = load_place(e, old, path, holds, context);
        }
        file_close(old);
    }
    if (SUCCEEDED(hr) && max_buffers != 0 && (max_buffers < 3 || e->buffers > max_buffers))
        hr = error_set(E_INVALIDARG, "%s: is no circular log of at most %llu buffers", path,
                       (unsigned long long)max_buffers);
    if (SUCCEEDED(hr))
        hr = file_open(path, FILE_APPEND, &e->file);
    if (FAILED(hr)) {
        etl_container_free(e);
        return hr;
    }
    *out = e;
    return S_OK;
}
