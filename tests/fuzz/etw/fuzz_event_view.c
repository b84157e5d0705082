/* SPDX-License-Identifier: MIT */
/* Any bytes as a buffer of a session, through a consumer's ring: pointers passed to consumers point into the event's
   bytes, never after them. The first byte sets the session's values in the buffer's header. */
#include "engine/etw/consumer/event_view.h"
#include "engine/etw/session/realtime_ring.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFER = ETL_SMALLEST_BUFFER };

static volatile uint8_t sink;

static void look(const void *at, size_t size)
{
    const uint8_t *bytes = at;
    for (size_t i = 0; i < size; i++)
        sink = bytes[i];
}

static bool is_inside(const struct etl_record *e, const void *at, size_t size)
{
    const uintptr_t from = (uintptr_t)at, begin = (uintptr_t)e->event;
    return from >= begin && from <= begin + e->size && size <= begin + e->size - from;
}

static void check(const struct etl_record *e, const struct event_view *view)
{
    const EVENT_RECORD *r = &view->record;
    if (!is_inside(e, r->UserData, r->UserDataLength) || !is_inside(e, view->trace.MofData, view->trace.MofLength))
        abort();
    look(r->UserData, r->UserDataLength);
    if (r->ExtendedDataCount > EVENT_VIEW_ITEMS || (r->ExtendedDataCount != 0) != (r->ExtendedData != NULL) ||
        (r->ExtendedDataCount != 0) != ((r->EventHeader.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO) != 0))
        abort();
    for (unsigned i = 0; i < r->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &r->ExtendedData[i];
        const void *at = (const void *)(uintptr_t)item->DataPtr;
        if (at != &view->instance && !is_inside(e, at, item->DataSize))
            abort();
        if (item->Linkage != (i + 1u < r->ExtendedDataCount))
            abort();
        look(at, item->DataSize);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_view view;
    static uint8_t *memory;
    struct realtime_ring host, consumer;
    struct etl_buffer_header head;
    bool wake;
    if (size == 0)
        return 0;
    if (!memory && !(memory = calloc(1, realtime_ring_size(BUFFER))))
        abort();
    memset(memory, 0, sizeof(struct realtime_shared));
    realtime_ring_create(memory, BUFFER, &consumer);
    if (FAILED(realtime_ring_map(memory, realtime_ring_size(BUFFER), BUFFER, &host)))
        abort();
    const size_t room = BUFFER - ETL_BUFFER_HEAD;
    const size_t bytes = size - 1 < room ? size - 1 : room;
    uint8_t *put = calloc(1, BUFFER), *buffer = malloc(BUFFER);
    if (!put || !buffer)
        abort();
    memcpy(put + ETL_BUFFER_HEAD, data + 1, bytes);
    head = (struct etl_buffer_header){.processor = data[0] & 7,
                                      .logger = 3,
                                      .used = (uint32_t)(ETL_BUFFER_HEAD + ((bytes + 7) & ~(size_t)7)),
                                      .flags = data[0] & ETL_FLAG_PROCESSOR_INDEX};
    if (realtime_ring_put(&host, &head, put, &wake) != S_OK)
        abort();
    if ((data[0] & 0x80) != 0) /* the header is wrong, too */
        memcpy(host.shared->data, data + 1, bytes < ETL_BUFFER_HEAD ? bytes : ETL_BUFFER_HEAD);
    if (realtime_ring_take(&consumer, buffer, &head) == S_OK) {
        uint32_t offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        if (head.used > BUFFER)
            abort();
        while (etl_buffer_event(buffer, head.used, &offset, &event, &length)) {
            struct etl_record e;
            uint8_t *alone = malloc(length); /* so that the sanitizer detects every read beyond the event */
            if (!alone)
                abort();
            memcpy(alone, event, length);
            etl_record_decode(alone, length, &e);
            e.buffer = &head;
            event_view_record(&e, 1, data[0] & 8 ? 4 : 8, (data[0] & 16) != 0, &view);
            event_view_trace(&e, 1, &view);
            check(&e, &view);
            free(alone);
        }
    }
    free(put);
    free(buffer);
    return 0;
}
