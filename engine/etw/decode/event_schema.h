/* SPDX-License-Identifier: MIT */
/* What one sort of event says: its names and the layout of its data, wherever that was told: a manifest, a MOF class,
   the event's own TraceLogging metadata, a TMF line. Made by one reader for each, used by all that decode. Text is
   UTF-8. */
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
    bool text_only;              /* a text and nothing else (text_schema.h), which no manifest says */
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

#endif
