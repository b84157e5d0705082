/* SPDX-License-Identifier: MIT */
/* Any bytes as a MOF file and, after the first NUL, as data of the events that it describes. */
#include "engine/etw/mof_classes.h"
#include "tests/fuzz/decode/decode_event.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mof_classes *classes;
    const struct mof_event_class *events;
    const uint8_t *event = size != 0 ? memchr(data, 0, size) : NULL;
    const size_t text_size = event ? (size_t)(event - data) : size, event_size = event ? size - text_size - 1 : size;
    event = event ? event + 1 : data;
    if (FAILED(mof_classes_create_empty(&classes)))
        abort();
    const HRESULT hr = mof_classes_add(classes, "fuzz.mof", data, text_size);
    const size_t count = mof_classes_events(classes, &events);
    if (FAILED(hr) && count)
        abort(); /* a rejected file must add no events */
    for (size_t i = 0; i < count && i < 16; i++) {
        const struct mof_qualifier *types = mof_event_types(&events[i]);
        for (size_t at = 0; at < types->count && at < 4; at++) {
            struct event_schema *schema;
            if (FAILED(mof_event_schema(classes, &events[i], at, &schema)))
                abort(); /* mof_classes_add has checked the types */
            decode_event(schema, event, event_size < 4096 ? event_size : 4096, at % 2 ? 4 : 8);
            event_schema_free(schema);
            if (FAILED(mof_classes_schema(classes, &events[i].event, (uint8_t)types->values[at].number,
                                          events[i].version, &schema)))
                abort();
            event_schema_free(schema);
        }
    }
    mof_classes_free(classes);
    return 0;
}
