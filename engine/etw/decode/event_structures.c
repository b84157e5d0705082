/* SPDX-License-Identifier: MIT */
/* What sorts of events are made of, for people. */
#include "engine/base/memory.h"
#include "engine/etw/decode/value_types.h"
#include "engine/etw/dump_text.h"
#include "engine/etw/event_sorts.h"
#include "engine/etw/manifest_types.h"

#include <string.h>

static const char *const sources[] = {[SCHEMA_MANIFEST] = "manifest",
                                      [SCHEMA_MOF] = "MOF",
                                      [SCHEMA_WPP] = "TMF",
                                      [SCHEMA_TRACE_LOGGING] = "TraceLogging"};

/* What stands in a line stays in it. */
static void add_shown(struct text_buffer *b, const char *text)
{
    for (const char *at = text; *at; at++)
        text_buffer_add_n(b, (unsigned char)*at < ' ' || *at == 0x7F ? " " : at, 1);
}

static void begin_line(struct text_buffer *b, unsigned depth, const char *word)
{
    text_buffer_format(b, "%*s%-*s", (int)(2 * depth), "", depth == 1 ? 12 : 0, word);
}

static void end_line(struct text_buffer *b)
{
    text_buffer_add(b, "\r\n");
}

/* A number, and what it is called. */
static void add_number(struct text_buffer *b, const char *what, unsigned number, const char *name)
{
    text_buffer_format(b, "%s %u", what, number);
    if (!name)
        return;
    text_buffer_add(b, " (");
    add_shown(b, name);
    text_buffer_add(b, ")");
}

/* ---- properties ---- */

/* Those that only MOF has. */
static const char *mof_type(uint16_t type)
{
    static const char *const names[] = {"CountedString",
                                        "CountedAnsiString",
                                        "ReversedCountedString",
                                        "ReversedCountedAnsiString",
                                        "NonNullTerminatedString",
                                        "NonNullTerminatedAnsiString",
                                        "UnicodeChar",
                                        "AnsiChar",
                                        "SizeT",
                                        "HexDump",
                                        "WbemSid"};
    const size_t at = (size_t)type - IN_TYPE_COUNTEDSTRING;
    return type >= IN_TYPE_COUNTEDSTRING && at < sizeof names / sizeof *names ? names[at] : NULL;
}

static void add_type(struct text_buffer *b, const struct event_schema *s, const struct event_property *p)
{
    const struct manifest_in_type *type = manifest_in_type_of(p->in_type);
    const char *other = mof_type(p->in_type), *out = manifest_out_type_name(p->out_type);
    if (p->flags & PROPERTY_STRUCT)
        text_buffer_add(b, "struct");
    else if (type || other)
        text_buffer_add(b, type ? type->name : other);
    else
        text_buffer_format(b, "type %u", p->in_type);
    if (p->flags & PROPERTY_PARAM_LENGTH) {
        text_buffer_add(b, "(");
        add_shown(b, s->properties[p->length].name);
        text_buffer_add(b, ")");
    } else if (p->flags & PROPERTY_FIXED_LENGTH) {
        text_buffer_format(b, "(%u)", p->length);
    }
    if (p->flags & PROPERTY_PARAM_COUNT) {
        text_buffer_add(b, "[");
        add_shown(b, s->properties[p->count].name);
        text_buffer_add(b, "]");
    } else if (p->flags & PROPERTY_FIXED_COUNT || p->count > 1) {
        text_buffer_format(b, "[%u]", p->count);
    }
    if (out && !(p->flags & PROPERTY_STRUCT))
        text_buffer_format(b, " %s", out);
    if (p->map) {
        text_buffer_add(b, " map ");
        add_shown(b, p->map);
    }
}

enum { MOST_DEPTH = 32 };

/* `left`: no more lines than there are properties. Members that structs share, which no compiler makes, would be shown
   without end. */
static void add_properties(struct text_buffer *b, const struct event_schema *s, size_t first, size_t count,
                           unsigned depth, size_t *left)
{
    for (size_t i = first; i < first + count && *left; i++) {
        const struct event_property *p = &s->properties[i];
        --*left;
        begin_line(b, depth, "");
        add_shown(b, p->name);
        text_buffer_add(b, ": ");
        add_type(b, s, p);
        end_line(b);
        if (p->flags & PROPERTY_STRUCT && depth < MOST_DEPTH)
            add_properties(b, s, p->first_member, p->members, depth + 1, left);
    }
}

static void add_map(struct text_buffer *b, const struct event_map *map)
{
    const bool masks = (map->flag & (MAP_MANIFEST_BITS | MAP_MOF_FLAG)) != 0;
    begin_line(b, 1, "map");
    add_shown(b, map->name);
    text_buffer_add(b, masks || map->flag & MAP_MOF_BITS ? " of bits" : "");
    end_line(b);
    for (size_t i = 0; i < map->count; i++) {
        const struct event_map_entry *e = &map->entries[i];
        begin_line(b, 2, "");
        if (e->input)
            add_shown(b, e->input);
        else
            text_buffer_format(b, masks ? "0x%X" : "%u", (unsigned)e->value);
        text_buffer_add(b, ": ");
        add_shown(b, e->text);
        end_line(b);
    }
}

/* ---- sorts ---- */

static void add_guid_line(struct text_buffer *b, const char *word, const GUID *guid, const char *name)
{
    begin_line(b, 1, word);
    text_buffer_add_guid(b, guid);
    if (name) {
        text_buffer_add(b, " ");
        add_shown(b, name);
    }
    end_line(b);
}

static void add_text_line(struct text_buffer *b, const char *word, const char *text)
{
    if (!text)
        return;
    begin_line(b, 1, word);
    add_shown(b, text);
    end_line(b);
}

static void add_keywords(struct text_buffer *b, uint64_t keyword, const struct event_schema *s)
{
    text_buffer_add(b, ", keywords ");
    text_buffer_add_hex(b, keyword, 1);
    for (size_t i = 0; s && i < s->keyword_count; i++) {
        text_buffer_add(b, i ? ", " : " (");
        add_shown(b, s->keyword_names[i]);
    }
    text_buffer_add(b, s && s->keyword_count ? ")" : "");
}

static void add_descriptor(struct text_buffer *b, const EVENT_DESCRIPTOR *d, const struct event_schema *s)
{
    begin_line(b, 1, "event");
    add_number(b, "id", d->Id, s ? s->event_name : NULL);
    add_number(b, ", version", d->Version, NULL);
    add_number(b, ", channel", d->Channel, s ? s->channel_name : NULL);
    add_number(b, ", level", d->Level, s ? s->level_name : NULL);
    add_number(b, ", task", d->Task, s ? s->task_name : NULL);
    add_number(b, ", opcode", d->Opcode, s ? s->opcode_name : NULL);
    add_keywords(b, d->Keyword, s);
    end_line(b);
}

static void add_sort(struct text_buffer *b, const struct met_sort *sort)
{
    static const GUID none;
    const struct event_schema *s = sort->found->schema;
    size_t left = s ? s->property_count : 0;
    text_buffer_format(b, "%llu event%s", (unsigned long long)sort->events, sort->events == 1 ? "" : "s");
    if (s && sort->undecoded)
        text_buffer_format(b, ", %llu of them with other data", (unsigned long long)sort->undecoded);
    end_line(b);
    add_guid_line(b, "provider", s ? &s->provider : &sort->provider, s ? s->provider_name : NULL);
    if (s && !guid_equal(&s->event, &none))
        add_guid_line(b, s->source == SCHEMA_MOF ? "class" : "task", &s->event, s->task_name);
    add_descriptor(b, &sort->descriptor, s);
    if (!s) {
        add_text_line(b, "unknown", sort->found->reason);
        return;
    }
    begin_line(b, 1, "known by");
    text_buffer_add(b, s->text_only ? "EventWriteString" : sources[s->source]);
    if (s->source == SCHEMA_MOF)
        text_buffer_format(b, " of version %u", s->descriptor.Version);
    end_line(b);
    add_text_line(b, "message", s->event_message);
    add_text_line(b, "UserData", s->user_data);
    begin_line(b, 1, "data");
    text_buffer_add(b, s->top_level ? "" : "none");
    while (b->length && !b->failed && b->text[b->length - 1] == ' ')
        b->text[--b->length] = '\0';
    end_line(b);
    add_properties(b, s, 0, s->top_level, 2, &left);
    for (size_t i = 0; i < s->map_count; i++)
        add_map(b, &s->maps[i]);
}

HRESULT event_sorts_structures(const struct event_sorts *s, struct text_buffer *out)
{
    for (size_t i = 0; i < s->count; i++) {
        if (i)
            end_line(out);
        add_sort(out, &s->items[i]);
    }
    if (s->events_more)
        text_buffer_format(out, "\r\n%llu events of more sorts\r\n", (unsigned long long)s->events_more);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}
