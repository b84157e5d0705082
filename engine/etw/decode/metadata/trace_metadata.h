/* SPDX-License-Identifier: MIT */
/* Event definitions inside a trace. Programs that merge traces (xperf, WPR, PerfView, netsh, Visual Studio) write an
   event of the class EventMetadata {bbccf6c1-6cd1-48c4-80ff-839482e37671} directly before the first event of each kind.
   An event of type 32 contains a TRACE_EVENT_INFO. An event of type 33 contains an event provider's GUID and an
   EVENT_MAP_INFO. The contents of both are untrusted. */
#ifndef OPENPLA_TRACE_METADATA_H
#define OPENPLA_TRACE_METADATA_H

#include "engine/etw/decode/event_schema.h"

/* Limits for the definitions of all traces that are read together. */
enum { TRACE_METADATA_MOST = 65536, TRACE_METADATA_MOST_BYTES = 32 << 20 };

struct trace_metadata;
struct trace_metadata *trace_metadata_create(void); /* NULL: out of memory */
/* Frees the definitions. Free the schemas first, because their origins use *m. NULL is allowed. */
void trace_metadata_free(struct trace_metadata *m);
/* Adds the definitions as an origin of schemas for manifest events. The new origin takes precedence over all origins
   that were added before it. */
HRESULT trace_metadata_add_origin(struct trace_metadata *m, struct event_schemas *schemas);
/* Returns whether the event is a definition. */
bool trace_metadata_event(const EVENT_RECORD *event);
/* Adds a definition; from then on, `schemas` finds it. A later definition of the same event or map replaces an earlier
   one. Returns S_OK or E_OUTOFMEMORY. If the definition cannot be used, returns S_FALSE, and error_text(S_FALSE) is the
   reason. Several threads can call these functions. */
HRESULT trace_metadata_take(struct trace_metadata *m, const EVENT_RECORD *event, struct event_schemas *schemas);

struct trace_metadata_statistics {
    size_t events, maps; /* number of stored definitions */
    size_t bytes;        /* bytes of their payloads */
};
struct trace_metadata_statistics trace_metadata_count(struct trace_metadata *m);

/* ---- TRACE_EVENT_INFO and EVENT_MAP_INFO ---- */

/* Finds an event provider's map by its name, and copies it to *out. S_FALSE: the map is unknown. */
typedef HRESULT event_info_map(void *context, const GUID *provider, const char *name, struct event_map *out);
/* Reads a TRACE_EVENT_INFO, whose offsets are relative to its start. `map` may be NULL. If the map of a property is
   unknown, the property has no map. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text that names what
   is malformed, or E_OUTOFMEMORY. */
HRESULT event_info_read(const uint8_t *bytes, size_t size, event_info_map *map, void *context,
                        struct event_schema **out);
/* Reads an EVENT_MAP_INFO, whose offsets are relative to its start. Clear *out with event_map_clear, also after a
   failure. */
HRESULT event_map_info_read(const uint8_t *bytes, size_t size, struct event_map *out);
/* Reads the event provider and the descriptor in a TRACE_EVENT_INFO. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if
   it is too short. */
HRESULT event_info_key(const uint8_t *bytes, size_t size, GUID *provider, EVENT_DESCRIPTOR *descriptor,
                       uint32_t *source);

#endif
