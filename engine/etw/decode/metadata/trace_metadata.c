/* SPDX-License-Identifier: MIT */
/* Provides the definitions in a trace (EventMetadata) as an origin of schemas.

   A definition is stored as bytes and parsed when an event needs it, because the map to which it refers comes later in
   the trace. One hash table contains definitions, by event provider, id and version, and maps, by event provider and
   name. When a definition is added, the schemas of its event provider are dropped, so that the next event of each kind
   is looked up again. */
#include "engine/etw/decode/metadata/trace_metadata.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/etl_record.h"

#include <string.h>

enum { TYPE_EVENT_INFO = 32, TYPE_MAP_INFO = 33, GUID_BYTES = 16, FIRST_ROOM = 64 };

struct definition {
    GUID provider;
    uint32_t number; /* id | version << 16; unused for a map */
    char *map;       /* name of a map; NULL: an event definition */
    uint8_t *bytes;  /* NULL: a free entry of the table */
    size_t size;
};

struct trace_metadata {
    struct lock lock;
    struct definition *table; /* open addressing, at most half full */
    size_t room, count;
    struct trace_metadata_statistics held;
};

struct trace_metadata *trace_metadata_create(void)
{
    struct trace_metadata *m = memory_zero(1, sizeof *m);
    const struct lock lock = LOCK_INIT;
    if (m)
        m->lock = lock;
    return m;
}

void trace_metadata_free(struct trace_metadata *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->room; i++) {
        memory_free(m->table[i].map);
        memory_free(m->table[i].bytes);
    }
    memory_free(m->table);
    memory_free(m);
}

struct trace_metadata_statistics trace_metadata_count(struct trace_metadata *m)
{
    lock_enter(&m->lock);
    const struct trace_metadata_statistics held = m->held;
    lock_leave(&m->lock);
    return held;
}

/* ---- the table; call these functions under the lock ---- */

static uint64_t definition_hash(const GUID *provider, uint32_t number, const char *map)
{
    const uint64_t hash = hash_number(hash_bytes(HASH_START, provider, sizeof *provider), number);
    return map ? hash_text(hash, map) : hash;
}

/* Returns the entry of the definition, or the free entry for inserting it. */
static struct definition *definition_place(struct definition *table, size_t room, const GUID *provider, uint32_t number,
                                           const char *map)
{
    const uint64_t hash = definition_hash(provider, number, map);
    size_t at = (size_t)(hash ^ hash >> 32) & (room - 1);
    for (;; at = (at + 1) & (room - 1)) {
        const struct definition *d = &table[at];
        if (!d->bytes)
            return &table[at];
        if (guid_equal(&d->provider, provider) && d->number == number && !d->map == !map &&
            (!map || strcmp(d->map, map) == 0))
            return &table[at];
    }
}

static const struct definition *definition_find(const struct trace_metadata *m, const GUID *provider, uint32_t number,
                                                const char *map)
{
    const struct definition *d = m->room != 0 ? definition_place(m->table, m->room, provider, number, map) : NULL;
    return d && d->bytes ? d : NULL;
}

static bool table_grow(struct trace_metadata *m)
{
    const size_t room = m->room != 0 ? 2 * m->room : FIRST_ROOM;
    struct definition *table = memory_zero(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < m->room; i++) {
        const struct definition *d = &m->table[i];
        if (d->bytes)
            *definition_place(table, room, &d->provider, d->number, d->map) = *d;
    }
    memory_free(m->table);
    m->table = table;
    m->room = room;
    return true;
}

static HRESULT unusable(const char *why, unsigned long long value)
{
    return error_set(S_FALSE, "cannot use an event definition in the trace: %s (%llu)", why, value);
}

/* Replaces the bytes of a definition; the old bytes are kept if memory runs out. */
static HRESULT definition_set(struct trace_metadata *m, struct definition *d, const uint8_t *bytes, size_t size)
{
    if (m->held.bytes - d->size + size > TRACE_METADATA_MOST_BYTES)
        return unusable("all definitions together are too large", m->held.bytes + size);
    uint8_t *copy = memory_copy(bytes, size);
    if (!copy)
        return E_OUTOFMEMORY;
    memory_free(d->bytes);
    m->held.bytes += size - d->size;
    d->bytes = copy;
    d->size = size;
    return S_OK;
}

/* Adds or replaces a definition. *changed is set to true if the definition is new or differs from the previous
   definition. */
static HRESULT definition_keep(struct trace_metadata *m, const GUID *provider, uint32_t number, const char *map,
                               const uint8_t *bytes, size_t size, bool *changed)
{
    *changed = false;
    if (2 * (m->count + 1) > m->room && !table_grow(m))
        return E_OUTOFMEMORY;
    struct definition *d = definition_place(m->table, m->room, provider, number, map);
    const bool is_new = !d->bytes;
    if (!is_new && d->size == size && memcmp(d->bytes, bytes, size) == 0)
        return S_OK;
    if (is_new && m->count == TRACE_METADATA_MOST)
        return unusable("too many definitions", TRACE_METADATA_MOST);
    char *name = is_new && map ? text_copy(map) : NULL;
    if (is_new && map && !name)
        return E_OUTOFMEMORY;
    const HRESULT hr = definition_set(m, d, bytes, size);
    if (hr != S_OK) {
        memory_free(name);
        return hr;
    }
    if (is_new) {
        d->provider = *provider;
        d->number = number;
        d->map = name;
        m->count++;
        m->held.events += !map;
        m->held.maps += map != NULL;
    }
    *changed = true;
    return S_OK;
}

/* ---- the origin of schemas ---- */

static HRESULT metadata_map(void *context, const GUID *provider, const char *name, struct event_map *out)
{
    const struct definition *d = definition_find(context, provider, 0, name);
    return d ? event_map_info_read(d->bytes, d->size, out) : S_FALSE;
}

static uint32_t number_of(const EVENT_DESCRIPTOR *d)
{
    return d->Id | (uint32_t)d->Version << 16;
}

/* Reads the definition of an event. If the definition is malformed, its error text is the reason why its events are not
   decoded, unless another origin knows them. */
static HRESULT metadata_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size,
                               struct event_schema **out)
{
    struct trace_metadata *m = context;
    const EVENT_DESCRIPTOR *descriptor = &event->EventHeader.EventDescriptor;
    HRESULT hr = S_FALSE;
    (void)pointer_size;
    *out = NULL;
    lock_enter(&m->lock);
    const struct definition *d = definition_find(m, &event->EventHeader.ProviderId, number_of(descriptor), NULL);
    if (d)
        hr = event_info_read(d->bytes, d->size, metadata_map, m, out);
    lock_leave(&m->lock);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    const struct error_kept why = error_keep(hr);
    return error_set(S_FALSE, "%s", why.text);
}

HRESULT trace_metadata_add_origin(struct trace_metadata *m, struct event_schemas *schemas)
{
    const struct schema_origin origin = {
        .source = SCHEMA_MANIFEST, .place = SCHEMA_OF_MERGER, .context = m, .schema = metadata_schema};
    return event_schemas_add(schemas, &origin, NULL);
}

/* ---- adding definitions ---- */

bool trace_metadata_event(const EVENT_RECORD *event)
{
    const EVENT_HEADER *h = &event->EventHeader;
    return (h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 &&
           (h->EventDescriptor.Opcode == TYPE_EVENT_INFO || h->EventDescriptor.Opcode == TYPE_MAP_INFO) &&
           guid_equal(&h->ProviderId, &etl_event_metadata_class);
}

static HRESULT take_event(struct trace_metadata *m, const uint8_t *bytes, size_t size, GUID *provider, bool *changed)
{
    EVENT_DESCRIPTOR descriptor;
    uint32_t source;
    if (!bytes || FAILED(event_info_key(bytes, size, provider, &descriptor, &source)))
        return unusable("it is too short for an event", size);
    /* Keep only definitions of manifest events: MOF classes come from OpenPLA or the user, and TraceLogging and WPP
       events need no definition. */
    if (source != SCHEMA_MANIFEST)
        return S_OK;
    lock_enter(&m->lock);
    const HRESULT kept = definition_keep(m, provider, number_of(&descriptor), NULL, bytes, size, changed);
    lock_leave(&m->lock);
    return kept;
}

static HRESULT take_map(struct trace_metadata *m, const uint8_t *bytes, size_t size, GUID *provider, bool *changed)
{
    struct event_map map;
    if (size < GUID_BYTES)
        return unusable("it is too short for a map", size);
    memcpy(provider, bytes, sizeof *provider);
    HRESULT hr = event_map_info_read(bytes + GUID_BYTES, size - GUID_BYTES, &map);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        const struct error_kept why = error_keep(hr);
        hr = error_set(S_FALSE, "cannot use an event map in the trace: %s", why.text);
    } else if (SUCCEEDED(hr)) {
        lock_enter(&m->lock);
        hr = definition_keep(m, provider, 0, map.name, bytes + GUID_BYTES, size - GUID_BYTES, changed);
        lock_leave(&m->lock);
    }
    event_map_clear(&map);
    return hr;
}

HRESULT trace_metadata_take(struct trace_metadata *m, const EVENT_RECORD *event, struct event_schemas *schemas)
{
    const uint8_t *bytes = event->UserData;
    const size_t size = bytes ? event->UserDataLength : 0;
    GUID provider;
    bool changed = false;
    if (!trace_metadata_event(event))
        return unusable("the event is not a definition", event->EventHeader.EventDescriptor.Opcode);
    const HRESULT hr = event->EventHeader.EventDescriptor.Opcode == TYPE_EVENT_INFO
                           ? take_event(m, bytes, size, &provider, &changed)
                           : take_map(m, bytes, size, &provider, &changed);
    if (changed)
        event_schemas_forget(schemas, &provider);
    return hr;
}
