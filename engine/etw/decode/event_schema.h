/* SPDX-License-Identifier: MIT */
/* What one kind of event says (its names and the layout of its data, whichever reader it comes from), and all schemas
   that a process knows. Text is UTF-8. */
#ifndef OPENPLA_EVENT_SCHEMA_H
#define OPENPLA_EVENT_SCHEMA_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

/* DECODING_SOURCE */
enum schema_source { SCHEMA_MANIFEST, SCHEMA_MOF, SCHEMA_WPP, SCHEMA_TRACE_LOGGING };

/* PROPERTY_FLAGS */
enum event_property_flag {
    PROPERTY_STRUCT = 1,
    PROPERTY_PARAM_LENGTH = 2,
    PROPERTY_PARAM_COUNT = 4,
    PROPERTY_XML_FRAGMENT = 8,
    PROPERTY_FIXED_LENGTH = 0x10,
    PROPERTY_FIXED_COUNT = 0x20,
    PROPERTY_HAS_TAGS = 0x40,
    PROPERTY_CUSTOM_SCHEMA = 0x80,
};

struct event_property {
    char *name;
    uint32_t flags;             /* enum event_property_flag */
    uint16_t in_type, out_type; /* TDH_INTYPE_, TDH_OUTTYPE_; of a struct 0 */
    uint16_t first_member;      /* of a struct: index of its first member */
    uint16_t members;           /* of a struct: how many follow one another there */
    uint16_t count;             /* elements, 1 for a scalar; with PARAM_COUNT the index of the property that says it */
    uint16_t length; /* characters of strings, bytes of all else, 0: as the type says; with PARAM_LENGTH the index */
    uint32_t tags;   /* 28 bits */
    char *map;       /* the name of one of the schema's maps; NULL: none */
    uint8_t *custom; /* {u16 type, u16 size, bytes} with CUSTOM_SCHEMA; else NULL */
    uint16_t custom_size;
};

/* EVENT_MAP_INFO.Flag */
enum event_map_flag {
    MAP_MANIFEST_VALUES = 1,
    MAP_MANIFEST_BITS = 2,
    MAP_MANIFEST_PATTERN = 4,
    MAP_MOF_VALUES = 8,
    MAP_MOF_BITS = 0x10,
    MAP_MOF_FLAG = 0x20,
    MAP_MOF_NO_MAP = 0x40,
};
struct event_map_entry {
    uint32_t value; /* with `input` unused */
    char *input;    /* of a MOF map of strings; NULL: `value` counts */
    char *text;     /* without the blank that Windows' has at its end */
};
struct event_map {
    char *name;
    uint32_t flag; /* enum event_map_flag */
    struct event_map_entry *entries;
    size_t count;
};

struct tmf_message;
struct event_schema {
    enum schema_source source;
    GUID provider;               /* of the provider, or of the provider class */
    GUID event;                  /* of the event class, or of the task; null where there is none */
    EVENT_DESCRIPTOR descriptor; /* what the schema is of: version and the rest may be other ones than the event's */
    /* NULL: it has none. Names are display texts where the source has some, else the names. */
    char *provider_name, *level_name, *channel_name, *task_name, *opcode_name;
    char **keyword_names;
    size_t keyword_count;
    char *event_name;    /* of TraceLogging; of MOF the EventName */
    char *event_message; /* with inserts %1 ... */
    char *provider_message;
    char *event_attributes;  /* name=value pairs as Windows has them */
    uint32_t template_flags; /* TEMPLATE_FLAGS */
    char *user_data; /* with TEMPLATE_USER_DATA: the XML below UserData, %n in the place of the text of property n */
    uint32_t tags;   /* 28 bits */
    struct event_property *properties; /* those of the top first, then members of structs */
    uint16_t property_count, top_level;
    struct event_map *maps; /* those that its properties name */
    size_t map_count;
    bool text_only;              /* only a string, which no manifest says (EventWriteString) */
    struct tmf_message *message; /* of WPP: what its sentence is made by (tmf_sentence); else NULL */
};

/* Frees what the schema has, and it; NULL is allowed. */
void event_schema_free(struct event_schema *schema);
/* NULL: it has none of that name. */
const struct event_map *event_schema_map(const struct event_schema *schema, const char *name);
void event_map_clear(struct event_map *map);
/* Whether it is printed for people: not with MOF's Extension("NoPrint") or TraceLogging's NOPRINT. */
bool event_property_is_shown(const struct event_property *property);
/* S_OK when what came from outside holds together: indices of lengths and counts lie before who uses them and are
   scalar integers, members of structs lie behind the top, no struct is within itself, the maps are there.
   ERROR_INVALID_DATA's HRESULT with a text that names the property. Every reader asks this before it gives a schema. */
HRESULT event_schema_check(const struct event_schema *schema);

/* All that a process knows of what events say, and which schema an event has. Functions may be called on any thread. */
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
    uint64_t kind;                     /* of all events that are looked up alike, the same number */
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

/* ---- TraceLogging: metadata of an event (extended item 0xB) and of a provider (item 0xC, EventSetInformation) ---- */

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
