/* SPDX-License-Identifier: MIT */
/* Any bytes as a TMF file and, after the first NUL, as data of the messages that it describes. */
#include "engine/etw/tmf.h"
#include "tests/fuzz/decode/decode_event.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tmf_document *d;
    const uint8_t *event = size != 0 ? memchr(data, 0, size) : NULL;
    const size_t text_size = event ? (size_t)(event - data) : size, event_size = event ? size - text_size - 1 : size;
    event = event ? event + 1 : data;
    if (FAILED(tmf_text_read("fuzz.tmf", data, text_size, &d)))
        return 0;
    for (size_t i = 0; i < d->count && i < 16; i++) {
        const struct tmf_message *m = tmf_document_find(d, &d->messages[i].guid, d->messages[i].number);
        struct event_schema *schema;
        struct text_buffer text = {0};
        EVENT_RECORD e = {.UserData = (void *)(uintptr_t)event,
                          .UserDataLength = (USHORT)(event_size < 4096 ? event_size : 4096)};
        e.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
        if (!m)
            abort();
        if (FAILED(tmf_schema(m, &schema)))
            continue;
        decode_event(schema, event, e.UserDataLength, i % 2 ? 4 : 8);
        (void)tmf_sentence(schema, &e, i % 2 ? 4 : 8, i % 2 != 0, &text);
        text_buffer_free(&text);
        event_schema_free(schema);
    }
    tmf_document_free(d);
    return 0;
}
