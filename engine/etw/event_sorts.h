/* SPDX-License-Identifier: MIT */
/* The sorts of events that were met, with what each is decoded by: what tracerpt -export and -int write. */
#ifndef OPENPLA_EVENT_SORTS_H
#define OPENPLA_EVENT_SORTS_H

#include "engine/etw/decode/manifest/manifest_document.h"
#include "engine/etw/decode/schemas.h"

struct met_sort {
    const struct found_schema *found; /* held */
    GUID provider;
    EVENT_DESCRIPTOR descriptor; /* of the first event */
    uint64_t events, undecoded;  /* ... which are among the events */
};
/* Zero-initialise, and set `schemas`, which must live longer. */
struct event_sorts {
    struct event_schemas *schemas;
    struct met_sort *items; /* as they were met */
    size_t count, capacity;
    uint32_t *places; /* a table of hashes: index + 1, 0: free */
    size_t room;
    uint64_t events_more; /* of sorts beyond EVENT_SORTS_MOST */
};
enum { EVENT_SORTS_MOST = 16384 }; /* their schemas are kept: no trace needs more memory than that */
/* E_OUTOFMEMORY. */
HRESULT event_sorts_count(struct event_sorts *s, const EVENT_RECORD *event, const struct found_schema *found,
                          bool decoded);
void event_sorts_free(struct event_sorts *s);

/* Adds the providers with those of the events that a manifest says. What is left out is a text in `remarks`: how many
   events of how many sorts, and why. */
HRESULT event_sorts_export(const struct event_sorts *s, struct manifest_document *d, struct texts *remarks);
/* Adds, sort by sort, the names, the properties with their types, lengths, counts and maps, and the number of events;
   of those that nobody knows the reason. Lines end with CR LF. */
HRESULT event_sorts_structures(const struct event_sorts *s, struct text_buffer *out);

#endif
