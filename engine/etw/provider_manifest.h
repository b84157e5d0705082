/* SPDX-License-Identifier: MIT */
/* Event providers that instrumentation manifests define. The source of a manifest is XML, a WEVT_TEMPLATE resource
   (wevt_template.h) or a trace. This header also has Windows' definitions for all event providers. Text is UTF-8. */
#ifndef OPENPLA_PROVIDER_MANIFEST_H
#define OPENPLA_PROVIDER_MANIFEST_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/manifest/message_tables.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of EVENT_FIELD_TYPE. */
enum manifest_kind { MANIFEST_KEYWORDS, MANIFEST_LEVELS, MANIFEST_CHANNELS, MANIFEST_TASKS, MANIFEST_OPCODES };
enum { MANIFEST_KINDS = 5, MANIFEST_NO_INDEX = 0xFFFF };

/* Attributes of channels. Numbers that the manifest does not set are MANIFEST_UNSAID. */
#define MANIFEST_UNSAID UINT64_MAX
struct manifest_channel {
    bool imported, enabled;
    uint8_t type;                              /* 0 Admin, 1 Operational, 2 Analytic, 3 Debug */
    uint8_t isolation;                         /* 0 Application, 1 System, 2 Custom */
    char *chid;                                /* another name by which events can refer to the channel; NULL: none */
    char *access;                              /* SDDL, or NULL */
    uint64_t auto_backup, retention, max_size; /* attributes of the log; max_size in bytes */
    uint64_t level, keywords, buffer_size, min_buffers, max_buffers, latency, clock_type, sid_type, file_max;
};

/* A level, keyword, channel, task or opcode. */
struct manifest_field {
    char *name;                       /* NULL: some resources have no names */
    char *symbol;                     /* may be NULL */
    uint64_t value;                   /* for a keyword, its mask */
    uint32_t message;                 /* message id, or MESSAGE_NONE */
    uint16_t task;                    /* for an opcode, its task; 0: a global opcode */
    GUID guid;                        /* for a task, its eventGUID; otherwise zero */
    struct manifest_channel *channel; /* for channels only */
};
struct manifest_fields {
    struct manifest_field *items;
    size_t count, capacity;
};

struct manifest_map_entry {
    uint32_t value, message;
    char *symbol;
};
struct manifest_map {
    char *name, *symbol;
    bool bits; /* the values are masks */
    struct manifest_map_entry *entries;
    size_t count, capacity;
};

/* The layout of an event's data: properties as in a schema, top-level ones first. */
struct manifest_template {
    char *name; /* tid of the template; NULL: the template comes from a resource, which has no names */
    GUID guid;
    struct event_property *properties;
    size_t capacity;
    uint16_t property_count, top_level;
    char *user_data; /* the XML below UserData, with %n for property n; NULL: EventData */
};

struct manifest_filter {
    char *name, *symbol;
    uint8_t value, version;
    uint32_t message;
    uint16_t layout; /* index of a template, or MANIFEST_NO_INDEX */
};

struct manifest_event {
    EVENT_DESCRIPTOR descriptor; /* descriptor as events contain it; its keywords include the bit of the channel */
    uint32_t message;
    uint16_t layout; /* index of its template, or MANIFEST_NO_INDEX */
    bool not_logged;
    char *symbol, *attributes; /* may be NULL */
};

struct provider_manifest {
    GUID guid;
    char *name; /* NULL: the manifest comes from a resource; the registry has the name */
    char *symbol, *resource_file, *message_file, *parameter_file, *help_link; /* may be NULL */
    uint32_t message;
    struct manifest_fields fields[MANIFEST_KINDS]; /* indexed by enum manifest_kind */
    struct manifest_map *maps;
    size_t map_count, map_capacity;
    struct manifest_template *layouts;
    size_t layout_count, layout_capacity;
    struct manifest_filter *filters;
    size_t filter_count, filter_capacity;
    struct manifest_event *events; /* events sorted by id, then by version */
    size_t event_count, event_capacity;
    struct message_tables messages;   /* sorted */
    struct message_tables parameters; /* texts of %%n, sorted */
};

/* NULL is allowed. */
void provider_manifest_free(struct provider_manifest *m);
struct provider_manifests {
    struct provider_manifest **items;
    size_t count, capacity;
};
void provider_manifests_free(struct provider_manifests *list);

/* Returns NULL if there is no event of that id and version. */
const struct manifest_event *provider_manifest_event(const struct provider_manifest *m, uint16_t id, uint8_t version);
/* Creates the schema for the descriptor's id and version, with texts in the best of the languages (see
   message_tables_find). Keywords, level, task, opcode and channel come from the descriptor, because providers may write
   any values. *out belongs to the caller. If the event is missing, returns S_FALSE with an error text, and *out is
   NULL. */
HRESULT provider_manifest_schema(const struct provider_manifest *m, const EVENT_DESCRIPTOR *descriptor,
                                 const char *languages, struct event_schema **out);

/* Finds the field that defines this value; for keywords, the value is a single bit. For opcodes, an opcode of the task
   takes precedence over a global one. If the manifest does not define the value, searches Windows' definitions for all
   event providers (winmeta). Returns NULL if neither defines the value. */
const struct manifest_field *provider_manifest_field(const struct provider_manifest *m, enum manifest_kind kind,
                                                     uint64_t value, uint16_t task);
/* Returns the message of a field; NULL if it has none. */
const char *manifest_field_message(const struct provider_manifest *m, const struct manifest_field *f,
                                   const char *languages);
/* ---- for the readers ---- */

/* Returns NULL when out of memory. */
struct provider_manifest *provider_manifest_create(const GUID *guid);
/* Appends a zeroed field without message and template; NULL when out of memory. */
struct manifest_field *manifest_add_field(struct provider_manifest *m, enum manifest_kind kind);
struct manifest_map *manifest_add_map(struct provider_manifest *m);
struct manifest_map_entry *manifest_add_map_entry(struct manifest_map *map);
struct manifest_template *manifest_add_template(struct provider_manifest *m);
struct manifest_filter *manifest_add_filter(struct provider_manifest *m);
struct manifest_event *manifest_add_event(struct provider_manifest *m);
/* Sorts events and messages; call it after adding everything. */
void provider_manifest_finish(struct provider_manifest *m);

/* Instrumentation manifests (instrumentationManifest, namespace http://schemas.microsoft.com/win/2004/08/events).
   Developers write them for mc, and .NET writes them into traces. */
/* ERROR_XML_PARSE_ERROR, which TDH returns for manifests that it rejects. */
#define MANIFEST_INVALID        ((HRESULT)0x800705B9)
#define MANIFEST_MOST_BYTES     (16u << 20)
#define MANIFEST_MOST_PROVIDERS 256u

/* Reads all event providers of a manifest. The manifest is UTF-8, or UTF-16 with a byte order mark. Returns
   MANIFEST_INVALID with an error text that names line, element and value. `warnings` (may be NULL) gets a text for each
   ignored element. *out is empty on failure. Message ids are assigned in the same way as mc assigns them. */
HRESULT manifest_xml_read(const void *xml, size_t size, struct texts *warnings, struct provider_manifests *out);

/* ---- names of types in manifests ---- */

struct manifest_in_type {
    const char *name;
    uint16_t number, out; /* `out`: the output type used if there is no outType */
    uint16_t bytes;       /* 0: the size comes from the property's length or from the data */
};
/* Finds a type by its name without prefix, ignoring case, or by its number; NULL if unknown. */
const struct manifest_in_type *manifest_in_type(const char *name);
const struct manifest_in_type *manifest_in_type_of(uint16_t number);
/* Returns false if the name is unknown. */
bool manifest_out_type(const char *name, uint16_t *number);
/* Returns the name with its prefix, such as "xs:string"; NULL if unknown. */
const char *manifest_out_type_name(uint16_t number);

/* ---- Windows' definitions for all providers (winmeta.xml) ---- */

/* Both functions find one of Windows' own definitions: by its name, which has no "win:", or by its value. They return
   NULL if the definition is unknown. The results are constants. */
const struct manifest_field *winmeta_by_name(enum manifest_kind kind, const char *name);
const struct manifest_field *winmeta_by_value(enum manifest_kind kind, uint64_t value);
/* Returns Windows' English text for a name that begins with "win:"; NULL if unknown. */
const char *winmeta_text(const char *name);
/* Returns Windows' English text for a value; NULL if unknown. */
const char *winmeta_text_of(enum manifest_kind kind, uint64_t value);

#endif
