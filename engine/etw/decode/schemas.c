/* SPDX-License-Identifier: MIT */
/* Stores all schemas that a process knows. A cache finds a schema by the lookup key of an event. */
#include "engine/base/hash_long.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"

#include <stdio.h>
#include <string.h>

#define EVENT_FLAG_STRING_ONLY 4 /* bit of the header's Flags: EventWriteString wrote the event */

enum {
    BUCKETS = 1024, /* must be a power of two */
    MAXIMUM_KEPT = 4096,
    ITEM_SCHEMA = 0xB,
    ITEM_TRAITS = 0xC,
    MAXIMUM_ORIGINS = 256,
};

/* The key of a lookup. The blobs of a key are borrowed from the event, except in the cache, which owns copies. */
struct key {
    GUID provider;
    uint64_t number; /* combines the kind, the id, the version and other members of the event */
    const uint8_t *metadata, *traits;
    size_t metadata_size, traits_size;
};

struct kept {
    struct found_schema found; /* must be the first member, because holders have only its address */
    struct event_schema *schema;
    char *reason;
    uint8_t *blobs;
    struct key key;
    uint64_t hash;
    uint32_t holders;
    bool listed;
    struct kept *next;
};

struct origin {
    struct schema_origin is;
    uint64_t id;
    uint32_t users;
    bool removed;
};

struct event_schemas {
    struct lock lock;
    struct kept *bucket[BUCKETS];
    size_t kept;
    uint64_t generation; /* increases with each change of the origins */
    struct origin **origins;
    size_t origin_count, origin_capacity;
    uint64_t last_id;
};

/* ---- lists of event providers ---- */

HRESULT known_providers_add(struct known_providers *list, const GUID *guid, enum schema_source source, char *name)
{
    void *items = list->items;
    const bool room = name && memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (!room) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    list->items[list->count++] = (struct known_provider){*guid, name, source};
    return S_OK;
}

void known_providers_free(struct known_providers *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free(list->items[i].name);
    memory_free(list->items);
    *list = (struct known_providers){0};
}

/* ---- the cache ---- */

static void kept_free(struct kept *k)
{
    event_schema_free(k->schema);
    memory_free(k->reason);
    memory_free(k->blobs);
    memory_free(k);
}

/* Removes all schemas from the cache. The caller holds the lock. A schema with holders is freed when its last holder
   releases it. */
static void forget_all(struct event_schemas *s)
{
    for (size_t i = 0; i < BUCKETS && s->kept != 0; i++)
        while (s->bucket[i]) {
            struct kept *k = s->bucket[i];
            s->bucket[i] = k->next;
            k->listed = false;
            s->kept--;
            if (k->holders == 0)
                kept_free(k);
        }
}

void event_schemas_forget(struct event_schemas *s, const GUID *provider)
{
    lock_enter(&s->lock);
    s->generation++;
    for (size_t i = 0; i < BUCKETS && s->kept != 0; i++)
        for (struct kept **at = &s->bucket[i]; *at;) {
            struct kept *k = *at;
            if (!guid_equal(&k->key.provider, provider)) {
                at = &k->next;
                continue;
            }
            *at = k->next;
            k->listed = false;
            s->kept--;
            if (k->holders == 0)
                kept_free(k);
        }
    lock_leave(&s->lock);
}

static uint64_t key_hash(const struct key *key)
{
    uint64_t hash = hash_number(HASH_START, key->number), guid[2];
    memcpy(guid, &key->provider, sizeof guid);
    hash = hash_number(hash_number(hash, guid[0]), guid[1]);
    hash = hash_long(hash, key->metadata, key->metadata_size);
    return hash_number(hash, key->traits_size);
}

static bool same_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static struct kept *look_up(struct event_schemas *s, const struct key *key, uint64_t hash)
{
    struct kept *k = s->bucket[hash >> 32 & (BUCKETS - 1)];
    while (k && !(k->hash == hash && k->key.number == key->number && guid_equal(&k->key.provider, &key->provider) &&
                  same_bytes(k->key.metadata, k->key.metadata_size, key->metadata, key->metadata_size) &&
                  same_bytes(k->key.traits, k->key.traits_size, key->traits, key->traits_size)))
        k = k->next;
    return k;
}

/* ---- origins ---- */

HRESULT event_schemas_create(struct event_schemas **out)
{
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void origin_free(struct origin *o)
{
    if (o->is.free)
        o->is.free(o->is.context);
    memory_free(o);
}

void event_schemas_free(struct event_schemas *s)
{
    if (!s)
        return;
    forget_all(s);
    for (size_t i = 0; i < s->origin_count; i++)
        origin_free(s->origins[i]);
    memory_free(s->origins);
    memory_free(s);
}

/* Removes an origin. The caller holds the lock, and frees the returned origin after releasing the lock. NULL: the id is
   unknown (*found is false), or the origin is in use and its last user will free it. */
static struct origin *origin_detach(struct event_schemas *s, uint64_t id, bool *found)
{
    size_t i = 0;
    while (i < s->origin_count && s->origins[i]->id != id)
        i++;
    *found = i < s->origin_count;
    if (!*found)
        return NULL;
    struct origin *gone = s->origins[i];
    memmove(&s->origins[i], &s->origins[i + 1], (s->origin_count - i - 1) * sizeof(struct origin *));
    s->origin_count--;
    s->generation++;
    forget_all(s);
    gone->removed = true;
    return gone->users == 0 ? gone : NULL;
}

/* Replaces the origin with id `before`; 0: adds an origin. A replaced origin does not count against the maximum. */
static HRESULT add_origin(struct event_schemas *s, const struct schema_origin *origin, uint64_t before, uint64_t *id)
{
    struct origin *o = memory_zero(1, sizeof *o), *gone = NULL;
    HRESULT hr = o ? S_OK : E_OUTOFMEMORY;
    bool found;
    lock_enter(&s->lock);
    if (SUCCEEDED(hr) && before == 0 && s->origin_count >= MAXIMUM_ORIGINS)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "too many sources of event schemas: at most %d are allowed", MAXIMUM_ORIGINS);
    void *items = s->origins;
    if (SUCCEEDED(hr) && !memory_grow(&items, &s->origin_capacity, s->origin_count + 1, sizeof(struct origin *)))
        hr = E_OUTOFMEMORY;
    s->origins = items;
    if (SUCCEEDED(hr)) {
        if (before != 0)
            gone = origin_detach(s, before, &found);
        *o = (struct origin){.is = *origin, .id = ++s->last_id};
        s->origins[s->origin_count++] = o;
        s->generation++;
        forget_all(s);
        if (id)
            *id = o->id;
    }
    lock_leave(&s->lock);
    if (gone)
        origin_free(gone);
    if (FAILED(hr)) {
        memory_free(o);
        if (origin->free)
            origin->free(origin->context);
    }
    return hr;
}

HRESULT event_schemas_add(struct event_schemas *s, const struct schema_origin *origin, uint64_t *id)
{
    return add_origin(s, origin, 0, id);
}

HRESULT event_schemas_replace(struct event_schemas *s, const struct schema_origin *origin, uint64_t *id)
{
    return add_origin(s, origin, *id, id);
}

HRESULT event_schemas_remove(struct event_schemas *s, uint64_t id)
{
    bool found;
    lock_enter(&s->lock);
    struct origin *gone = origin_detach(s, id, &found);
    lock_leave(&s->lock);
    if (gone)
        origin_free(gone);
    return found ? S_OK : S_FALSE;
}

/* Iterates over the origins from the last to the first: returns the origin before index *place, and NULL at the end.
   The origin is in use until leave_origin. If origins are removed in the meantime, no origin is skipped, but one may be
   queried twice. */
static struct origin *enter_origin(struct event_schemas *s, size_t *place)
{
    struct origin *o = NULL;
    lock_enter(&s->lock);
    if (*place > s->origin_count)
        *place = s->origin_count;
    if (*place != 0) {
        o = s->origins[--*place];
        o->users++;
    }
    lock_leave(&s->lock);
    return o;
}

static void leave_origin(struct event_schemas *s, struct origin *o)
{
    lock_enter(&s->lock);
    const bool last = --o->users == 0 && o->removed;
    lock_leave(&s->lock);
    if (last)
        origin_free(o);
}

/* ---- lookup by event ---- */

const EVENT_HEADER_EXTENDED_DATA_ITEM *event_item(const EVENT_RECORD *event, uint16_t type)
{
    if ((event->EventHeader.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO) == 0 || !event->ExtendedData)
        return NULL;
    for (USHORT i = 0; i < event->ExtendedDataCount; i++)
        if (event->ExtendedData[i].ExtType == type && event->ExtendedData[i].DataPtr)
            return &event->ExtendedData[i];
    return NULL;
}

static void take_blob(const EVENT_HEADER_EXTENDED_DATA_ITEM *item, const uint8_t **bytes, size_t *size)
{
    *bytes = item ? (const uint8_t *)(uintptr_t)item->DataPtr : NULL;
    *size = item ? item->DataSize : 0;
}

static enum schema_source kind_of(const EVENT_RECORD *event)
{
    if (event->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)
        return SCHEMA_WPP;
    if (event_item(event, ITEM_SCHEMA))
        return SCHEMA_TRACE_LOGGING;
    return event->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER ? SCHEMA_MOF : SCHEMA_MANIFEST;
}

static struct key key_of(const EVENT_RECORD *event, enum schema_source kind, uint32_t pointer_size)
{
    const EVENT_DESCRIPTOR *d = &event->EventHeader.EventDescriptor;
    struct key key = {.provider = event->EventHeader.ProviderId};
    uint64_t what = 0;
    switch (kind) {
    case SCHEMA_MANIFEST:
        what = d->Id | (uint64_t)d->Version << 16;
        if (event->EventHeader.Flags & EVENT_FLAG_STRING_ONLY) /* the schema contains the names of level and opcode */
            what |= (uint64_t)1 << 24 | (uint64_t)d->Level << 32 | (uint64_t)d->Opcode << 40;
        break;
    case SCHEMA_MOF:
        what = d->Opcode | (uint64_t)d->Version << 16 | (uint64_t)pointer_size << 24;
        break;
    case SCHEMA_WPP:
        what = d->Id;
        break;
    case SCHEMA_TRACE_LOGGING:
        what = d->Level | (uint64_t)d->Opcode << 8 | (uint64_t)d->Channel << 16;
        take_blob(event_item(event, ITEM_SCHEMA), &key.metadata, &key.metadata_size);
        take_blob(event_item(event, ITEM_TRAITS), &key.traits, &key.traits_size);
        break;
    }
    key.number = what << 8 | kind;
    return key;
}

static const char *default_reason(enum schema_source kind)
{
    if (kind == SCHEMA_WPP)
        return "no TMF file describes the message";
    if (kind == SCHEMA_MOF)
        return "no MOF class describes the event";
    return "its provider is not registered and no manifest for it was given";
}

static HRESULT ask_origins(struct event_schemas *s, enum schema_source kind, const EVENT_RECORD *event,
                           uint32_t pointer_size, struct event_schema **out)
{
    struct error_kept why = {.hr = S_FALSE};
    size_t place = SIZE_MAX;
    HRESULT hr = S_FALSE;
    bool has_reason = false;
    struct origin *o;
    snprintf(why.text, sizeof why.text, "%s", default_reason(kind));
    while (hr != S_OK && hr != E_OUTOFMEMORY && (o = enter_origin(s, &place))) {
        if (o->is.source == kind && o->is.schema) {
            error_clear();
            hr = o->is.schema(o->is.context, event, pointer_size, out);
            if (hr == S_OK)
                (*out)->place = o->is.place;
            /* Keep the reason of the first origin that sets an error text, unless a later origin fails. Origins that do
               not know the event provider set no error text. */
            if (hr != S_OK && why.hr == S_FALSE && (!has_reason || hr != S_FALSE) &&
                strcmp(error_text(hr), error_standard_text(hr)) != 0) {
                why = error_keep(hr);
                has_reason = true;
            }
        }
        leave_origin(s, o);
    }
    return hr == S_OK || hr == E_OUTOFMEMORY ? hr : error_restore(&why);
}

/* ---- events that are a plain string (EventWriteString), which no manifest describes ---- */

static HRESULT copy_name(void *context, const struct provider_manifest *m)
{
    struct event_schema *s = context;
    s->provider_name = m->name ? text_copy(m->name) : NULL;
    return m->name && !s->provider_name ? E_OUTOFMEMORY : S_OK;
}

/* Copies Windows' name for a value; *to is NULL if Windows has no name for it. False: out of memory. */
static bool copy_text(char **to, enum manifest_kind kind, uint64_t value)
{
    const char *text = winmeta_text_of(kind, value);
    *to = text ? text_copy(text) : NULL;
    return !text || *to;
}

/* Creates a schema with one property, String. The schema contains the event provider's name if the manifest of the
   event provider is known. Errors: E_OUTOFMEMORY. */
static HRESULT text_event_schema(struct event_schemas *schemas, const EVENT_RECORD *event, struct event_schema **out)
{
    struct event_schema *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->source = SCHEMA_MANIFEST;
    s->text_only = true;
    s->provider = event->EventHeader.ProviderId;
    s->descriptor = event->EventHeader.EventDescriptor;
    s->template_flags = 1; /* TEMPLATE_EVENT_DATA */
    s->event_message = text_copy("%1");
    s->properties = memory_zero(1, sizeof *s->properties);
    HRESULT hr = s->event_message && s->properties && copy_text(&s->level_name, MANIFEST_LEVELS, s->descriptor.Level) &&
                         copy_text(&s->opcode_name, MANIFEST_OPCODES, s->descriptor.Opcode)
                     ? S_OK
                     : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        s->properties[0] = (struct event_property){
            .name = text_copy("String"), .in_type = IN_TYPE_UNICODESTRING, .out_type = OUT_TYPE_STRING, .count = 1};
        s->property_count = s->top_level = 1;
        hr = s->properties[0].name ? S_OK : E_OUTOFMEMORY;
    }
    /* An unreadable manifest does not affect the string. */
    if (SUCCEEDED(hr) && event_schemas_manifest(schemas, &s->provider, copy_name, s) == E_OUTOFMEMORY)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        event_schema_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

/* ---- the schema of an event ---- */

static HRESULT read_schema(struct event_schemas *s, enum schema_source kind, const EVENT_RECORD *event,
                           uint32_t pointer_size, const struct key *key, struct event_schema **out)
{
    *out = NULL;
    if (kind == SCHEMA_MANIFEST && event->EventHeader.Flags & EVENT_FLAG_STRING_ONLY)
        return text_event_schema(s, event, out);
    if (kind != SCHEMA_TRACE_LOGGING)
        return ask_origins(s, kind, event, pointer_size, out);
    return trace_logging_schema(&event->EventHeader.ProviderId, &event->EventHeader.EventDescriptor, key->metadata,
                                key->metadata_size, key->traits, key->traits_size, out);
}

/* Creates an entry for the cache. Copies the key and takes ownership of the schema. */
static struct kept *kept_create(const struct key *key, uint64_t hash, HRESULT status, struct event_schema *schema)
{
    struct kept *k = memory_zero(1, sizeof *k);
    uint8_t *blobs = memory_alloc(key->metadata_size + key->traits_size);
    char *reason = status == S_OK ? NULL : text_copy(error_text(status));
    if (!k || !blobs || (status != S_OK && !reason)) {
        event_schema_free(schema);
        memory_free(k);
        memory_free(blobs);
        memory_free(reason);
        return NULL;
    }
    if (key->metadata_size != 0)
        memcpy(blobs, key->metadata, key->metadata_size);
    if (key->traits_size != 0)
        memcpy(blobs + key->metadata_size, key->traits, key->traits_size);
    *k = (struct kept){.found = {schema, status, reason, hash, (enum schema_source)(key->number & 0xFF)},
                       .schema = schema,
                       .reason = reason,
                       .blobs = blobs,
                       .key = *key,
                       .hash = hash,
                       .holders = 1};
    k->key.metadata = blobs;
    k->key.traits = blobs + key->metadata_size;
    return k;
}

HRESULT event_schemas_find(struct event_schemas *s, const EVENT_RECORD *event, uint32_t pointer_size,
                           const struct found_schema **out)
{
    const enum schema_source kind = kind_of(event);
    const uint32_t size = event_data_of(event, pointer_size).pointer_size;
    const struct key key = key_of(event, kind, size);
    const uint64_t hash = key_hash(&key);
    struct event_schema *schema;
    *out = NULL;
    lock_enter(&s->lock);
    struct kept *k = look_up(s, &key, hash);
    if (k)
        k->holders++;
    const uint64_t generation = s->generation;
    lock_leave(&s->lock);
    if (!k) {
        const HRESULT hr = read_schema(s, kind, event, size, &key, &schema);
        if (hr == E_OUTOFMEMORY)
            return hr;
        k = kept_create(&key, hash, hr, schema);
        if (!k)
            return E_OUTOFMEMORY;
        lock_enter(&s->lock);
        if (s->kept >= MAXIMUM_KEPT)
            forget_all(s);
        if (generation == s->generation && !look_up(s, &key, hash)) {
            struct kept **bucket = &s->bucket[hash >> 32 & (BUCKETS - 1)];
            k->next = *bucket;
            *bucket = k;
            k->listed = true;
            s->kept++;
        }
        lock_leave(&s->lock);
    }
    *out = &k->found;
    return S_OK;
}

void found_schema_hold(struct event_schemas *s, const struct found_schema *found)
{
    lock_enter(&s->lock);
    ((struct kept *)(uintptr_t)found)->holders++;
    lock_leave(&s->lock);
}

void found_schema_release(struct event_schemas *s, const struct found_schema *found)
{
    struct kept *k = (struct kept *)(uintptr_t)found;
    if (!k)
        return;
    lock_enter(&s->lock);
    const bool last = --k->holders == 0 && !k->listed;
    lock_leave(&s->lock);
    if (last)
        kept_free(k);
}

/* ---- event providers ---- */

/* Keeps the first entry of each GUID. */
static void remove_duplicates(struct known_providers *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t j = 0;
        while (j < count && !guid_equal(&list->items[j].guid, &list->items[i].guid))
            j++;
        if (j < count)
            memory_free(list->items[i].name);
        else
            list->items[count++] = list->items[i];
    }
    list->count = count;
}

HRESULT event_schemas_providers(struct event_schemas *s, struct known_providers *out)
{
    size_t place = SIZE_MAX;
    HRESULT hr = S_OK;
    struct origin *o;
    *out = (struct known_providers){0};
    while (SUCCEEDED(hr) && (o = enter_origin(s, &place))) {
        if (o->is.providers)
            hr = o->is.providers(o->is.context, out);
        leave_origin(s, o);
    }
    if (FAILED(hr))
        known_providers_free(out);
    else
        remove_duplicates(out);
    return hr;
}

HRESULT event_schemas_manifest(struct event_schemas *s, const GUID *provider,
                               HRESULT (*take)(void *context, const struct provider_manifest *manifest), void *context)
{
    size_t place = SIZE_MAX;
    HRESULT hr = S_FALSE;
    struct origin *o;
    bool found = false;
    while (SUCCEEDED(hr) && !found && (o = enter_origin(s, &place))) {
        const struct provider_manifest *manifest = NULL;
        hr = o->is.manifest ? o->is.manifest(o->is.context, provider, &manifest) : S_FALSE;
        found = hr == S_OK;
        if (found)
            hr = take(context, manifest);
        leave_origin(s, o);
    }
    return hr == S_OK && !found ? S_FALSE : hr;
}

HRESULT event_schemas_origin_fields(struct event_schemas *s, const GUID *provider, unsigned kind,
                                    struct known_fields *out)
{
    size_t place = SIZE_MAX;
    HRESULT hr = S_FALSE;
    struct origin *o;
    while (hr == S_FALSE && (o = enter_origin(s, &place))) {
        if (o->is.fields)
            hr = o->is.fields(o->is.context, provider, kind, out);
        leave_origin(s, o);
    }
    return hr;
}

/* ---- levels, keywords, channels, tasks and opcodes ---- */

HRESULT known_fields_add(struct known_fields *list, const char *name, const char *description, uint64_t value)
{
    void *items = list->items;
    const struct known_field field = {text_copy(name), description ? text_copy(description) : NULL, value};
    bool room = field.name && (!description || field.description);
    room = room && memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (!room) {
        memory_free(field.name);
        memory_free(field.description);
        return E_OUTOFMEMORY;
    }
    list->items[list->count++] = field;
    return S_OK;
}

void known_fields_free(struct known_fields *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free(list->items[i].name);
        memory_free(list->items[i].description);
    }
    memory_free(list->items);
    *list = (struct known_fields){0};
}

struct asked {
    unsigned kind;
    struct known_fields *out;
};

static HRESULT take_fields(void *context, const struct provider_manifest *manifest)
{
    const struct asked *asked = context;
    char *languages = os_ui_languages();
    HRESULT hr = languages ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < manifest->fields[asked->kind].count; i++) {
        const struct manifest_field *f = &manifest->fields[asked->kind].items[i];
        const char *message = manifest_field_message(manifest, f, languages);
        const char *name = f->name ? f->name : message ? message : "";
        hr = known_fields_add(asked->out, name, message,
                              asked->kind == MANIFEST_OPCODES ? f->value << 16 | f->task : f->value);
    }
    memory_free(languages);
    return hr;
}

HRESULT event_schemas_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                             struct known_fields *out)
{
    struct asked asked = {kind, out};
    if (kind >= MANIFEST_KINDS)
        return E_INVALIDARG;
    const HRESULT hr = event_schemas_manifest(schemas, provider, take_fields, &asked);
    return hr == S_FALSE ? event_schemas_origin_fields(schemas, provider, kind, out) : hr;
}
