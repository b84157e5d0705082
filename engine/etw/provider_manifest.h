/* SPDX-License-Identifier: MIT */
/* Event providers as instrumentation manifests define them, whichever form that has: XML, a WEVT_TEMPLATE resource
   (wevt_template.h) or a trace; and what Windows defines for all providers. Text is UTF-8. */
#ifndef OPENPLA_PROVIDER_MANIFEST_H
#define OPENPLA_PROVIDER_MANIFEST_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/manifest/message_tables.h"

#include <stdbool.h>
#include <stdint.h>

/* The numbers of EVENT_FIELD_TYPE. */
enum manifest_kind { MANIFEST_KEYWORDS, MANIFEST_LEVELS, MANIFEST_CHANNELS, MANIFEST_TASKS, MANIFEST_OPCODES };
enum { MANIFEST_KINDS = 5, MANIFEST_NO_INDEX = 0xFFFF };

/* What only channels have. Numbers that a manifest does not say are MANIFEST_UNSAID. */
#define MANIFEST_UNSAID UINT64_MAX
struct manifest_channel {
    bool imported, enabled;
    uint8_t type;                              /* 0 Admin, 1 Operational, 2 Analytic, 3 Debug */
    uint8_t isolation;                         /* 0 Application, 1 System, 2 Custom */
    char *chid;                                /* what events name it by; NULL: its name alone */
    char *access;                              /* SDDL, or NULL */
    uint64_t auto_backup, retention, max_size; /* of the log; the last in bytes */
    uint64_t level, keywords, buffer_size, min_buffers, max_buffers, latency, clock_type, sid_type, file_max;
};

/* A level, keyword, channel, task or opcode. */
struct manifest_field {
    char *name;                       /* NULL: a resource has none */
    char *symbol;                     /* or NULL */
    uint64_t value;                   /* of a keyword its mask */
    uint32_t message;                 /* MESSAGE_NONE */
    uint16_t task;                    /* of an opcode that one task has; 0: of all */
    GUID guid;                        /* of a task, its eventGUID; else null */
    struct manifest_channel *channel; /* of channels */
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

/* What the data of an event are: properties as a schema has them, those of the top first. */
struct manifest_template {
    char *name; /* its tid; NULL: from a resource */
    GUID guid;
    struct event_property *properties;
    size_t capacity;
    uint16_t property_count, top_level;
    char *user_data; /* the XML below UserData, %n in the place of property n; NULL: EventData */
};

struct manifest_filter {
    char *name, *symbol;
    uint8_t value, version;
    uint32_t message;
    uint16_t layout; /* index of a template, or MANIFEST_NO_INDEX */
};

struct manifest_event {
    EVENT_DESCRIPTOR descriptor; /* as the event has it: with the bit of its channel among the keywords */
    uint32_t message;
    uint16_t layout; /* index of its template, or MANIFEST_NO_INDEX */
    bool not_logged;
    char *symbol, *attributes; /* or NULL */
};

struct provider_manifest {
    GUID guid;
    char *name; /* NULL: a resource has none, the registry has it */
    char *symbol, *resource_file, *message_file, *parameter_file, *help_link; /* or NULL */
    uint32_t message;
    struct manifest_fields fields[MANIFEST_KINDS]; /* by enum manifest_kind */
    struct manifest_map *maps;
    size_t map_count, map_capacity;
    struct manifest_template *layouts;
    size_t layout_count, layout_capacity;
    struct manifest_filter *filters;
    size_t filter_count, filter_capacity;
    struct manifest_event *events; /* by id, then version */
    size_t event_count, event_capacity;
    struct message_tables messages;   /* sorted */
    struct message_tables parameters; /* what %%n is, sorted */
};

/* NULL is allowed. */
void provider_manifest_free(struct provider_manifest *m);
struct provider_manifests {
    struct provider_manifest **items;
    size_t count, capacity;
};
void provider_manifests_free(struct provider_manifests *list);

/* NULL: there is none of that id and version. */
const struct manifest_event *provider_manifest_event(const struct provider_manifest *m, uint16_t id, uint8_t version);
/* What decodes the event of the descriptor's id and version, its texts in the best of the languages (as
   message_tables_find has them). Keywords, level, task, opcode and channel are those of the descriptor, which a
   provider may write as it likes. *out is the caller's; S_FALSE with *out NULL: the manifest has no such event, and
   error_text says which. */
HRESULT provider_manifest_schema(const struct provider_manifest *m, const EVENT_DESCRIPTOR *descriptor,
                                 const char *languages, struct event_schema **out);

/* The field of that value: of keywords its one bit, of opcodes that of the task before that of all. What the manifest
   does not say, but Windows does of all providers (winmeta), is found too. NULL: nobody defines it. */
const struct manifest_field *provider_manifest_field(const struct provider_manifest *m, enum manifest_kind kind,
                                                     uint64_t value, uint16_t task);
/* Its message alone; NULL when it has none. */
const char *manifest_field_message(const struct provider_manifest *m, const struct manifest_field *f,
                                   const char *languages);
/* ---- for the readers ---- */

/* NULL when out of memory. */
struct provider_manifest *provider_manifest_create(const GUID *guid);
/* One more, all zero but that it has no message and no template; NULL when out of memory. */
struct manifest_field *manifest_add_field(struct provider_manifest *m, enum manifest_kind kind);
struct manifest_map *manifest_add_map(struct provider_manifest *m);
struct manifest_map_entry *manifest_add_map_entry(struct manifest_map *map);
struct manifest_template *manifest_add_template(struct provider_manifest *m);
struct manifest_filter *manifest_add_filter(struct provider_manifest *m);
struct manifest_event *manifest_add_event(struct provider_manifest *m);
/* Once all are added: sorts events and messages. */
void provider_manifest_finish(struct provider_manifest *m);

/* Instrumentation manifests (instrumentationManifest of the namespace
   http://schemas.microsoft.com/win/2004/08/events), as they are written for mc, and as .NET puts them into traces. */
/* ERROR_XML_PARSE_ERROR, what TDH says of a manifest that it does not take. */
#define MANIFEST_INVALID        ((HRESULT)0x800705B9)
#define MANIFEST_MOST_BYTES     (16u << 20)
#define MANIFEST_MOST_PROVIDERS 256u

/* All providers of a manifest: UTF-8, or UTF-16 with its mark. MANIFEST_INVALID with a text that names line, element
   and value. `remarks` (NULL: nobody wants them) gets a text for each element that is passed over. *out is empty on
   failure. Message ids are given as mc gives them. */
HRESULT manifest_xml_read(const void *xml, size_t size, struct texts *warnings, struct provider_manifests *out);

/* ---- names of types in manifests ---- */

struct manifest_in_type {
    const char *name;
    uint16_t number, out; /* the output that it has without outType */
    uint16_t bytes;       /* 0: its length says them, or its data */
};
/* By the name without its prefix, in any case, or by the number; NULL: there is none. */
const struct manifest_in_type *manifest_in_type(const char *name);
const struct manifest_in_type *manifest_in_type_of(uint16_t number);
/* False: there is none of that name. */
bool manifest_out_type(const char *name, uint16_t *number);
/* With its prefix, "xs:string"; NULL: there is none. */
const char *manifest_out_type_name(uint16_t number);

/* ---- what Windows defines for all providers (winmeta.xml) ---- */

/* By the name without "win:", or by the value; constants. NULL: there is nothing. */
const struct manifest_field *winmeta_by_name(enum manifest_kind kind, const char *name);
const struct manifest_field *winmeta_by_value(enum manifest_kind kind, uint64_t value);
/* The English text that Windows shows for a name, which begins with "win:"; NULL: none. */
const char *winmeta_text(const char *name);
/* The same of what has that value. */
const char *winmeta_text_of(enum manifest_kind kind, uint64_t value);

#endif
