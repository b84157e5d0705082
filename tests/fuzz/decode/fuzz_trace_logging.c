/* SPDX-License-Identifier: MIT */
/* Any bytes as the metadata of a TraceLogging event, the traits of its provider and its data: an accepted schema is
   consistent, and the data are decoded within their limits. The first two bytes give the size of the metadata. */
#include "decode_event.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *alone(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const GUID provider;
    static const EVENT_DESCRIPTOR descriptor;
    struct event_schema *schema;
    struct provider_traits traits;
    if (size < 4)
        return 0;
    const size_t limit = size - 2, metadata_size = get_u16(data) % (limit + 1);
    uint8_t *metadata = alone(data + 2, metadata_size), *rest = alone(data + 2 + metadata_size, limit - metadata_size);
    if (metadata_size >= 2 && (data[2] & 1) == 0)
        put_u16(metadata, (uint16_t)metadata_size); /* a valid size */
    provider_traits_read(rest, limit - metadata_size, &traits);
    if (trace_logging_schema(&provider, &descriptor, metadata, metadata_size, rest, limit - metadata_size, &schema) ==
        S_OK) {
        if (event_schema_check(schema) != S_OK)
            abort();
        decode_event(schema, rest, limit - metadata_size, data[1] & 0x80 ? 4 : 8);
        event_schema_free(schema);
    }
    free(metadata);
    free(rest);
    return 0;
}
