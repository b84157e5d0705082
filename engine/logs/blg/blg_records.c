/* SPDX-License-Identifier: MIT */
/* From the events of a container to the records of a performance log. */
#include "engine/logs/blg_records.h"

#include "engine/base/memory.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/little_endian.h"

#include <stdarg.h>
#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { HEAD = BLG_PART_HEAD - BLG_EVENT_HEAD }; /* GUID, part, parts */
enum { FIRST_KERNEL_HOOK = 0x0100 };            /* below it are the trace's own events, which every log has */

void blg_records_remark(const struct blg_records *r, uint64_t position, const char *format, ...)
{
    char text[400];
    va_list list;
    const int head = snprintf(text, sizeof text, "buffer at byte %" PRIu64 ": ", position);
    va_start(list, format);
    vsnprintf(text + head, sizeof text - (size_t)head, format, list);
    va_end(list);
    r->told(r->context, text);
}

static void drop_parts(struct blg_records *r)
{
    if (r->part != 0) {
        blg_records_remark(r, r->record.position, "a record of type %u has %u of its %u parts only and is left out",
                           (unsigned)r->record.type, (unsigned)r->part, (unsigned)r->part_count);
    }
    r->part = 0;
}

/* Begins a record with an event. False: it is not its first part. */
static bool begin_record(struct blg_records *r, const struct etl_record *event, uint32_t part, uint32_t parts)
{
    drop_parts(r);
    if (part != 1 || parts == 0) {
        if (!r->in_the_middle) {
            blg_records_remark(r, event->position, "part %u of %u of a record of type %u comes without those before it",
                               (unsigned)part, (unsigned)parts, (unsigned)event->opcode);
        }
        return false;
    }
    r->record = (struct blg_record){.type = event->opcode, .stamp = event->stamp, .position = event->position};
    memcpy(r->record.instance, event->data, sizeof r->record.instance);
    r->in_the_middle = false;
    r->size = 0;
    r->part_count = parts;
    return true;
}

/* Adds an event to the record in work. S_OK: r->record is whole; S_FALSE: more is needed. */
static HRESULT add_part(struct blg_records *r, const struct etl_record *event)
{
    const uint32_t part = get_u32(event->data + 16), parts = get_u32(event->data + 20);
    const size_t size = event->data_size - HEAD;
    const bool follows = r->part != 0 && part == r->part + 1 && parts == r->part_count &&
                         event->opcode == r->record.type && event->stamp == r->record.stamp &&
                         memcmp(event->data, r->record.instance, sizeof r->record.instance) == 0;
    if (!follows) {
        if (!begin_record(r, event, part, parts))
            return S_FALSE;
        if (parts == 1) { /* needs no copy */
            r->record.data = event->data + HEAD;
            r->record.size = size;
            return S_OK;
        }
    }
    if (size > BLG_MAX_RECORD - r->size) {
        drop_parts(r);
        return S_FALSE;
    }
    void *bytes = r->parts;
    if (!memory_grow(&bytes, &r->capacity, r->size + size, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", r->size + size);
    r->parts = bytes;
    memcpy(r->parts + r->size, event->data + HEAD, size);
    r->size += size;
    r->part = part;
    if (part < parts)
        return S_FALSE;
    r->part = 0;
    r->record.data = r->parts;
    r->record.size = r->size;
    return S_OK;
}

HRESULT blg_records_next(struct blg_records *r)
{
    struct etl_record event;
    HRESULT hr;
    while ((hr = etl_reader_next(r->etl, &event)) == S_OK) {
        if (event.kind == ETL_RECORD_CLASSIC && event.data_size >= HEAD &&
            memcmp(event.event + 0x18, blg_class, sizeof blg_class) == 0) {
            hr = add_part(r, &event);
            if (hr != S_FALSE)
                return hr;
        } else if (event.kind == ETL_RECORD_SYSTEM || event.kind == ETL_RECORD_PERFORMANCE) {
            r->kernel |= event.id >= FIRST_KERNEL_HOOK;
        } else if (!r->foreign) {
            if (r->record.type == 0) {
                return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                                 "is an event trace, not a log of performance counters");
            }
            r->foreign = true;
            blg_records_remark(r, event.position, "has events that are no records of a performance log");
        }
    }
    if (hr == S_FALSE)
        drop_parts(r);
    return hr;
}

HRESULT blg_records_seek(struct blg_records *r, int64_t stamp)
{
    r->part = 0;
    r->in_the_middle = stamp != INT64_MIN;
    return etl_reader_seek(r->etl, stamp);
}

void blg_records_close(struct blg_records *r)
{
    etl_reader_close(r->etl);
    memory_free(r->parts);
}
