/* SPDX-License-Identifier: MIT */
/* Any bytes as the definitions in a merged trace, and an event of each: an accepted definition is a consistent schema,
   and the event is decoded within its limits. The input is a sequence of {u8 type, u8 pointer size, u16 size, payload}.
   Types 32 and 33 are as in EventMetadata; any other type is the data of an event of the last definition. */
#include "decode_event.h"
#include "engine/etw/decode/metadata/trace_metadata.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROW_HEAD = 4, EVENT_INFO = 32, MAP_INFO = 33 };

static void decode(struct event_schemas *schemas, EVENT_RECORD *event, uint32_t pointer_size)
{
    const struct found_schema *found;
    if (event_schemas_find(schemas, event, pointer_size, &found) != S_OK)
        abort();
    if (found->schema) {
        if (event_schema_check(found->schema) != S_OK)
            abort();
        decode_event(found->schema, event->UserData, event->UserDataLength, pointer_size);
    }
    found_schema_release(schemas, found);
}

/* The provider and descriptor of a defined event go to `event`. */
static void add_row(struct trace_metadata *m, struct event_schemas *schemas, uint8_t type, uint8_t *payload,
                    uint16_t size, EVENT_RECORD *event)
{
    EVENT_RECORD definition = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                                               .ProviderId = etl_event_metadata_class,
                                               .EventDescriptor = {.Opcode = type}},
                               .UserData = payload,
                               .UserDataLength = size};
    uint32_t source;
    if (FAILED(trace_metadata_take(m, &definition, schemas)))
        abort();
    if (type == EVENT_INFO)
        (void)event_info_key(payload, size, &event->EventHeader.ProviderId, &event->EventHeader.EventDescriptor,
                             &source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_metadata *m = trace_metadata_create();
    struct event_schemas *schemas;
    EVENT_RECORD event = {0};
    if (!m || event_schemas_create(&schemas) != S_OK || trace_metadata_add_origin(m, schemas) != S_OK)
        abort();
    while (size >= ROW_HEAD) {
        const uint8_t type = data[0];
        const uint32_t pointer_size = data[1] & 4 ? 4 : 8;
        const size_t rest = size - ROW_HEAD, length = get_u16(data + 2) < rest ? get_u16(data + 2) : rest;
        uint8_t *payload = malloc(length ? length : 1); /* exact size, for the sanitizer */
        if (!payload)
            abort();
        memcpy(payload, data + ROW_HEAD, length);
        if (type == EVENT_INFO || type == MAP_INFO)
            add_row(m, schemas, type, payload, (uint16_t)length, &event);
        event.UserData = payload;
        event.UserDataLength = (USHORT)length;
        decode(schemas, &event, pointer_size);
        event.UserData = NULL;
        free(payload);
        data += ROW_HEAD + length;
        size -= ROW_HEAD + length;
    }
    const struct trace_metadata_statistics held = trace_metadata_count(m);
    if (held.bytes > TRACE_METADATA_MOST_BYTES || held.events + held.maps > TRACE_METADATA_MOST)
        abort();
    event_schemas_free(schemas);
    trace_metadata_free(m);
    return 0;
}
