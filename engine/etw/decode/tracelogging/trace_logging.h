/* SPDX-License-Identifier: MIT */
/* TraceLogging: what an event says of itself (extended item 0xB), and a provider (item 0xC, EventSetInformation). */
#ifndef OPENPLA_TRACE_LOGGING_H
#define OPENPLA_TRACE_LOGGING_H

#include "engine/etw/decode/event_schema.h"

/* Structs within structs, and fields of an event, beyond which metadata are refused. */
enum { TRACE_LOGGING_DEPTH = 32, TRACE_LOGGING_FIELDS = 4096 };

/* The schema of an event: its metadata, its descriptor (level, opcode) and the traits of its provider (NULL: none),
   which give its name. An array whose count stands in the data has a property NAME.Count before it, which says that.
   ERROR_INVALID_DATA's HRESULT with a text that says which field is malformed. */
HRESULT trace_logging_schema(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, const uint8_t *metadata,
                             size_t size, const uint8_t *traits, size_t traits_size, struct event_schema **out);

struct provider_traits {
    const char *name; /* borrowed of the block, with its NUL */
    bool has_group, has_decode;
    GUID group, decode;
};
/* ERROR_INVALID_DATA's HRESULT with a text: sizes do not match, the name has no end, a trait ends beyond the block. */
HRESULT provider_traits_read(const uint8_t *traits, size_t size, struct provider_traits *out);

#endif
