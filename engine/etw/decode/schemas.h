/* SPDX-License-Identifier: MIT */
/* All that a process knows of what events say, and which schema an event has. Functions may be called on any thread. */
#ifndef OPENPLA_SCHEMAS_H
#define OPENPLA_SCHEMAS_H

#include "engine/etw/decode/event_schema.h"

struct event_schemas;
/* Knows TraceLogging, whose events tell themselves, until origins are added. E_OUTOFMEMORY. */
HRESULT event_schemas_create(struct event_schemas **out);
void event_schemas_free(struct event_schemas *schemas); /* nothing found may be held; NULL is allowed */

struct known_provider {
    GUID guid;
    char *name;
    enum schema_source source;
};
struct known_providers {
    struct known_provider *items;
    size_t count, capacity;
};
/* Takes the name over; NULL counts as out of memory. */
HRESULT known_providers_add(struct known_providers *list, const GUID *guid, enum schema_source source, char *name);
void known_providers_free(struct known_providers *list);

/* A level, keyword, channel, task or opcode of a provider. */
struct known_field {
    char *name, *description; /* the latter in the user's language; NULL: none */
    uint64_t value;           /* of an opcode it in the bits from 16 on, its task in those below */
};
struct known_fields {
    struct known_field *items;
    size_t count, capacity;
};
/* Copies the texts; `description` may be NULL. */
HRESULT known_fields_add(struct known_fields *list, const char *name, const char *description, uint64_t value);
void known_fields_free(struct known_fields *list);

struct provider_manifest;
/* Where schemas come from: manifests of one place, MOF classes, TMF files. Functions may be called on several threads
   at once; what is not there is NULL. */
struct schema_origin {
    enum schema_source source; /* MANIFEST, MOF or WPP: it is asked for the events of that kind */
    void *context;
    /* S_OK; S_FALSE: it does not know the event, with the reason by error_set where it knows the provider.
       `pointer_size`: 4 or 8, of the writer. */
    HRESULT (*schema)(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out);
    HRESULT (*providers)(void *context, struct known_providers *list); /* adds those that it knows */
    /* S_OK; S_FALSE: it has none of that provider. Lives as long as the origin. */
    HRESULT (*manifest)(void *context, const GUID *provider, const struct provider_manifest **out);
    /* Of a provider that has no manifest: adds its fields of the kind (EVENT_FIELD_TYPE). S_FALSE: it does not know the
       provider. */
    HRESULT (*fields)(void *context, const GUID *provider, unsigned kind, struct known_fields *list);
    void (*free)(void *context);
};
/* The latest one that knows an event is believed. Takes context over, also when it fails. What was found before stays
   as it is to its holders, and is looked up anew. *id (may be NULL) is for event_schemas_remove. */
HRESULT event_schemas_add(struct event_schemas *schemas, const struct schema_origin *origin, uint64_t *id);
/* The same instead of the one that *id names, which goes only if this one comes; *id names it then. */
HRESULT event_schemas_replace(struct event_schemas *schemas, const struct schema_origin *origin, uint64_t *id);
/* S_FALSE: there is none of that id. It is freed when the last call into it has ended. */
HRESULT event_schemas_remove(struct event_schemas *schemas, uint64_t id);

/* What an event's schema was found to be; kept by those that hold it, and for the next event of its sort. */
struct found_schema {
    const struct event_schema *schema; /* NULL: there is none */
    HRESULT status;                    /* S_OK; S_FALSE: nobody knows it; what a reader of it failed with */
    const char *reason;                /* a text of that; NULL with a schema */
    uint64_t sort;                     /* of all events that are looked up alike, the same number */
};
/* By the flags and items of its header: a message (TMF), TraceLogging, classic (MOF), else a manifest. E_OUTOFMEMORY is
   the only failure. `pointer_size`: for events that do not tell their own, 0: this process'. */
HRESULT event_schemas_find(struct event_schemas *schemas, const EVENT_RECORD *event, uint32_t pointer_size,
                           const struct found_schema **out);
/* One more holder. */
void found_schema_hold(struct event_schemas *schemas, const struct found_schema *found);
void found_schema_release(struct event_schemas *schemas, const struct found_schema *found); /* NULL is allowed */

/* Each provider once, the latest origin's word. */
HRESULT event_schemas_providers(struct event_schemas *schemas, struct known_providers *out);
/* Calls take(context, manifest) with the latest origin's manifest of the provider, which lives during the call.
   S_FALSE: none has one. */
HRESULT event_schemas_manifest(struct event_schemas *schemas, const GUID *provider,
                               HRESULT (*take)(void *context, const struct provider_manifest *manifest), void *context);

/* Adds the provider's fields of a kind (EVENT_FIELD_TYPE, 0 to 4), from its manifest or else the origin that knows it.
   S_FALSE: nobody knows the provider. */
HRESULT event_schemas_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                             struct known_fields *out);
/* The same of a provider that has no manifest. */
HRESULT event_schemas_origin_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                                    struct known_fields *out);

/* An item of the event, EVENT_HEADER_EXT_TYPE_; NULL: it has none. */
const EVENT_HEADER_EXTENDED_DATA_ITEM *event_item(const EVENT_RECORD *event, uint16_t type);

#endif
