/* SPDX-License-Identifier: MIT */
/* Declares schemas (the names and the data layout of a kind of event, from any source) and the collection of all
   schemas that a process knows. Strings are UTF-8. */
#ifndef OPENPLA_EVENT_SCHEMA_H
#define OPENPLA_EVENT_SCHEMA_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

/* DECODING_SOURCE */
enum schema_source { SCHEMA_MANIFEST, SCHEMA_MOF, SCHEMA_WPP, SCHEMA_TRACE_LOGGING };

/* The place in which a manifest event's definition was found. */
enum schema_place {
    SCHEMA_OF_COMPUTER, /* registered on this computer, or loaded by the program */
    SCHEMA_OF_USER,     /* named on the command line */
    SCHEMA_OF_MERGER,   /* the definition is in the trace, written by the program that merged traces */
    SCHEMA_OF_WRITER,   /* the definition is in the trace, written by the program that wrote the event (.NET) */
};

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
    uint16_t in_type, out_type; /* TDH_INTYPE_ and TDH_OUTTYPE_; 0 for structs */
    uint16_t first_member;      /* for a struct: index of its first member */
    uint16_t members;           /* for a struct: number of members, beginning with first_member */
    uint16_t count;  /* number of elements, 1 for a scalar; with PARAM_COUNT the index of the property that contains the
                        number */
    uint16_t length; /* characters for strings, bytes for all other types; 0: depends on the type; with PARAM_LENGTH the
                        index of the property that contains the length */
    uint32_t tags;   /* TraceLogging's tags of the property; 28 bits */
    char *map;       /* name of one of the schema's maps, or NULL */
    uint8_t *custom; /* {u16 type, u16 size, bytes} with CUSTOM_SCHEMA, otherwise NULL */
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
    uint32_t value; /* unused if `input` is set */
    char *input;    /* the string of a MOF string map; NULL: `value` is used */
    char *text;     /* without the space that Windows appends to each text */
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
    enum schema_place place; /* set by the lookup */
    GUID provider;           /* the event provider; for MOF, the class of the event provider */
    GUID event;              /* event class or task; zero if missing */
    /* The schema's descriptor; its version and other members may differ from the event's. */
    EVENT_DESCRIPTOR descriptor;
    /* NULL: no name. Names are display names if the source has them, otherwise plain names. */
    char *provider_name, *level_name, *channel_name, *task_name, *opcode_name;
    char **keyword_names;
    size_t keyword_count;
    char *event_name;    /* name of a TraceLogging event; for MOF, the EventName */
    char *event_message; /* the message of the event, with inserts %1 ... */
    char *provider_message;
    char *event_attributes;  /* name=value pairs in Windows' format */
    uint32_t template_flags; /* TEMPLATE_FLAGS */
    char *user_data; /* the XML inside UserData, with %n for the text of property n; only with TEMPLATE_USER_DATA */
    uint32_t tags;   /* TraceLogging's tags of the event; 28 bits */
    struct event_property *properties; /* top-level properties first, then members of structs */
    uint16_t property_count, top_level;
    struct event_map *maps; /* the maps to which properties refer */
    size_t map_count;
    bool text_only;              /* the event is a single string without a manifest (EventWriteString) */
    struct tmf_message *message; /* for a WPP message, its description for tmf_sentence; otherwise NULL */
};

/* Frees the schema. NULL is allowed. */
void event_schema_free(struct event_schema *schema);
/* Returns the schema's map with this name; NULL: it has no such map. */
const struct event_map *event_schema_map(const struct event_schema *schema, const char *name);
void event_map_clear(struct event_map *map);
/* Returns whether the property is shown to users: false for MOF's Extension("NoPrint") and TraceLogging's NOPRINT. */
bool event_property_is_shown(const struct event_property *property);
/* Checks that an untrusted schema is consistent: lengths and counts refer to preceding scalar integers, members of
   structs come after all top-level properties, no struct contains itself, and the maps exist. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text that names the property. Every reader calls this before it
   returns a schema. */
HRESULT event_schema_check(const struct event_schema *schema);

/* All schemas that a process knows. event_schemas_find looks up the schema of an event. Any thread may call the
   functions of the collection. */
struct event_schemas;
/* Creates a collection without origins. Until an origin is added, the collection has schemas only for TraceLogging
   events, which describe themselves, and for strings without a manifest (EventWriteString). Errors: E_OUTOFMEMORY. */
HRESULT event_schemas_create(struct event_schemas **out);
void event_schemas_free(struct event_schemas *schemas); /* release all found schemas first; NULL is allowed */

struct known_provider {
    GUID guid;
    char *name;
    enum schema_source source;
};
struct known_providers {
    struct known_provider *items;
    size_t count, capacity;
};
/* Adds an event provider. Takes ownership of `name`. Returns E_OUTOFMEMORY if `name` is NULL. */
HRESULT known_providers_add(struct known_providers *list, const GUID *guid, enum schema_source source, char *name);
void known_providers_free(struct known_providers *list);

/* A level, keyword, channel, task or opcode of an event provider. */
struct known_field {
    char *name, *description; /* the description is in the user's language; NULL: none */
    uint64_t value;           /* the value; for an opcode, opcode << 16 | task */
};
struct known_fields {
    struct known_field *items;
    size_t count, capacity;
};
/* Adds a field. Copies the strings; `description` may be NULL. */
HRESULT known_fields_add(struct known_fields *list, const char *name, const char *description, uint64_t value);
void known_fields_free(struct known_fields *list);

struct provider_manifest;
/* A source of schemas: manifests from one place, MOF classes, or TMF files. Several threads may call its functions at
   the same time. A function that the origin does not provide is NULL. */
struct schema_origin {
    enum schema_source source; /* MANIFEST, MOF or WPP; the origin is queried only for events of this kind */
    enum schema_place place;
    void *context;
    /* Returns S_OK, or S_FALSE if the origin does not know the event. With S_FALSE, an origin that knows the event
       provider also sets the reason with error_set. `pointer_size` (4 or 8) is the pointer size of the process that
       wrote the event. */
    HRESULT (*schema)(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out);
    HRESULT (*providers)(void *context, struct known_providers *list); /* appends the event providers that it knows */
    /* Returns S_OK, or S_FALSE if the origin has no manifest of the event provider. The manifest lives as long as the
       origin. */
    HRESULT (*manifest)(void *context, const GUID *provider, const struct provider_manifest **out);
    /* For event providers without a manifest: appends the fields of a kind (EVENT_FIELD_TYPE). S_FALSE: unknown
       provider. */
    HRESULT (*fields)(void *context, const GUID *provider, unsigned kind, struct known_fields *list);
    void (*free)(void *context);
};
/* Adds an origin. If several origins know an event, the one added last is used. Takes ownership of the context, even on
   failure. Schemas that have been found stay valid for their holders, but the next event of each kind is looked up
   again. *id (may be NULL) is for event_schemas_remove. */
HRESULT event_schemas_add(struct event_schemas *schemas, const struct schema_origin *origin, uint64_t *id);
/* Adds an origin in place of *id, which is removed only if the addition succeeds. *id becomes the id of the new
   origin. */
HRESULT event_schemas_replace(struct event_schemas *schemas, const struct schema_origin *origin, uint64_t *id);
/* Removes an origin. Returns S_FALSE if the id is unknown. The origin is freed when the last call to its functions has
   returned. */
HRESULT event_schemas_remove(struct event_schemas *schemas, uint64_t id);
/* Makes the collection look up the schemas of an event provider again, after an origin has learned something about
   it. */
void event_schemas_forget(struct event_schemas *schemas, const GUID *provider);

/* The result of a lookup. The holders of a result share it, and the collection reuses it for the next event of the same
   kind. */
struct found_schema {
    const struct event_schema *schema; /* NULL: no schema was found */
    HRESULT status;            /* S_OK: found; S_FALSE: no origin knows the event; otherwise the failure of an origin */
    const char *reason;        /* why no schema was found; NULL: a schema was found */
    uint64_t kind;             /* equal for all events with the same lookup key */
    enum schema_source source; /* kind of the origins that were queried */
};
/* Finds the schema of an event. The flags and items of the header determine the kind of schema: WPP message (TMF),
   TraceLogging, classic (MOF) or, for all other events, manifest. The only failure is E_OUTOFMEMORY. `pointer_size`
   applies to events that do not record their own pointer size; 0 means the pointer size of this process. */
HRESULT event_schemas_find(struct event_schemas *schemas, const EVENT_RECORD *event, uint32_t pointer_size,
                           const struct found_schema **out);
/* Adds a holder, who must call found_schema_release. */
void found_schema_hold(struct event_schemas *schemas, const struct found_schema *found);
void found_schema_release(struct event_schemas *schemas, const struct found_schema *found); /* NULL is allowed */

/* Lists each event provider once. If several origins know it, uses the description of the one that was added last. */
HRESULT event_schemas_providers(struct event_schemas *schemas, struct known_providers *out);
/* Calls take(context, manifest) with the manifest from the most recently added origin that has one. The manifest is
   valid during the call. S_FALSE: no origin has a manifest of the event provider. */
HRESULT event_schemas_manifest(struct event_schemas *schemas, const GUID *provider,
                               HRESULT (*take)(void *context, const struct provider_manifest *manifest), void *context);

/* Appends the event provider's fields of a kind (EVENT_FIELD_TYPE, 0 to 4) from its manifest. If there is no manifest,
   the fields come from the origin that knows the event provider. S_FALSE: unknown event provider. */
HRESULT event_schemas_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                             struct known_fields *out);
/* Like event_schemas_fields, but only for event providers without a manifest. */
HRESULT event_schemas_origin_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                                    struct known_fields *out);

/* Returns an item of the event (EVENT_HEADER_EXT_TYPE_); NULL: the event has no such item. */
const EVENT_HEADER_EXTENDED_DATA_ITEM *event_item(const EVENT_RECORD *event, uint16_t type);

/* ---- TraceLogging: metadata of events (extended item 0xB) and event providers (item 0xC, EventSetInformation) ---- */

/* Limits for the depth of structs and the number of fields; metadata that exceed them are rejected. */
enum { TRACE_LOGGING_DEPTH = 32, TRACE_LOGGING_FIELDS = 4096 };

/* Creates the schema from an event's metadata, its descriptor (level, opcode) and the traits of its event provider. The
   traits contain the provider's name; they may be NULL. An array whose count is in the data is preceded by a property
   NAME.Count. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text that names the malformed field. */
HRESULT trace_logging_schema(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, const uint8_t *metadata,
                             size_t size, const uint8_t *traits, size_t traits_size, struct event_schema **out);

struct provider_traits {
    const char *name; /* borrowed from the block, with its NUL */
    bool has_group, has_decode;
    GUID group, decode;
};
/* Reads the traits. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA), with an error text, if sizes do not match, the name
   is unterminated, or a trait exceeds the block. */
HRESULT provider_traits_read(const uint8_t *traits, size_t size, struct provider_traits *out);

#endif
