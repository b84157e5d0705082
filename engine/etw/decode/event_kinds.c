/* SPDX-License-Identifier: MIT */
/* Collects the kinds of events in a trace: their schemas, their structure, and the number of events of each kind. */
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "engine/etw/provider_names.h"

#include <stdlib.h>
#include <string.h>

static HRESULT out_of_memory(const struct event_kinds *s)
{
    return error_set(E_OUTOFMEMORY, "cannot count the events: out of memory after %zu kinds", s->count);
}

static size_t place_of(const struct event_kinds *s, uint64_t kind)
{
    size_t at = (size_t)kind & (s->room - 1);
    while (s->places[at] && s->items[s->places[at] - 1].found->kind != kind)
        at = (at + 1) & (s->room - 1);
    return at;
}

static HRESULT kinds_grow(struct event_kinds *s)
{
    uint32_t *const before = s->places;
    const size_t room = s->room ? s->room * 2 : 64;
    s->places = memory_zero(room, sizeof *s->places);
    if (!s->places) {
        s->places = before;
        return out_of_memory(s);
    }
    s->room = room;
    for (size_t i = 0; i < s->count; i++)
        s->places[place_of(s, s->items[i].found->kind)] = (uint32_t)i + 1;
    memory_free(before);
    return S_OK;
}

HRESULT event_kinds_count(struct event_kinds *s, const EVENT_RECORD *event, const struct found_schema *found,
                          bool decoded)
{
    HRESULT hr = s->count * 2 >= s->room ? kinds_grow(s) : S_OK;
    if (FAILED(hr))
        return hr;
    const size_t at = place_of(s, found->kind);
    if (!s->places[at] && s->count == EVENT_KINDS_MOST) {
        s->events_more++;
        return S_OK;
    }
    if (!s->places[at]) {
        void *items = s->items;
        const bool room = memory_grow(&items, &s->capacity, s->count + 1, sizeof *s->items);
        s->items = items;
        if (!room)
            return out_of_memory(s);
        found_schema_hold(s->schemas, found);
        s->items[s->count++] = (struct counted_kind){.found = found,
                                                     .provider = event->EventHeader.ProviderId,
                                                     .descriptor = event->EventHeader.EventDescriptor};
        s->places[at] = (uint32_t)s->count;
    }
    struct counted_kind *kind = &s->items[s->places[at] - 1];
    if (found->schema && !kind->found->schema) { /* earlier events of this kind had no schema yet */
        found_schema_hold(s->schemas, found);
        found_schema_release(s->schemas, kind->found);
        kind->found = found;
    }
    kind->events++;
    kind->undecoded += !decoded;
    return S_OK;
}

void event_kinds_free(struct event_kinds *s)
{
    for (size_t i = 0; i < s->count; i++)
        found_schema_release(s->schemas, s->items[i].found);
    memory_free(s->items);
    memory_free(s->places);
    *s = (struct event_kinds){0};
}

/* ---- export as a manifest ---- */

enum { NAMES_SHOWN = 8 };
struct skipped_events {
    uint64_t events;
    size_t kinds, names;
    const char *name[NAMES_SHOWN]; /* names of events, classes or event providers, without duplicates; borrowed from the
                                      schemas */
    GUID unnamed;                  /* event provider of the first skipped kind; shown if no kind has a name */
};

static const char *name_of(const struct event_schema *s)
{
    if (!s)
        return NULL;
    return s->source == SCHEMA_MOF             ? s->task_name
           : s->source == SCHEMA_TRACE_LOGGING ? s->event_name
                                               : s->provider_name;
}

static void skipped_add(struct skipped_events *l, const struct counted_kind *kind)
{
    const char *name = name_of(kind->found->schema);
    l->events += kind->events;
    if (l->kinds++ == 0)
        l->unnamed = kind->provider;
    for (size_t i = 0; name && i < l->names && i < NAMES_SHOWN; i++)
        if (strcmp(l->name[i], name) == 0)
            return;
    if (name && l->names++ < NAMES_SHOWN)
        l->name[l->names - 1] = name;
}

/* Adds a warning with the names of the skipped events or, if they have no names, with their event provider's GUID. */
static HRESULT skipped_add_warning(struct texts *warnings, const struct skipped_events *l, const char *why)
{
    struct text_buffer b = {0};
    if (!l->kinds)
        return S_OK;
    text_buffer_format(&b, "skipped %llu event%s of %zu kind%s (", (unsigned long long)l->events,
                       l->events == 1 ? "" : "s", l->kinds, l->kinds == 1 ? "" : "s");
    for (size_t i = 0; i < l->names && i < NAMES_SHOWN; i++) {
        text_buffer_add(&b, i ? ", " : "");
        text_buffer_add(&b, l->name[i]);
    }
    if (!l->names)
        text_buffer_add_guid(&b, &l->unnamed);
    text_buffer_add(&b, l->names > NAMES_SHOWN || (!l->names && l->kinds > 1) ? " and others): " : "): ");
    text_buffer_add(&b, why);
    return texts_add_owned(warnings, text_buffer_take(&b));
}

struct exporting {
    const struct event_kinds *kinds;
    struct manifest_document *d;
    struct texts *warnings;
    struct skipped_events others; /* events that the manifest of their event provider does not define */
};

static bool is_of_manifest(const struct counted_kind *kind)
{
    return kind->found->schema && kind->found->schema->source == SCHEMA_MANIFEST && !kind->found->schema->text_only;
}

static HRESULT export_provider(void *context, const struct provider_manifest *m)
{
    struct exporting *x = context;
    bool *wanted = memory_zero(m->event_count + 1, sizeof *wanted);
    bool any = false;
    if (!wanted)
        return out_of_memory(x->kinds);
    for (size_t i = 0; i < x->kinds->count; i++) {
        const struct counted_kind *kind = &x->kinds->items[i];
        if (!is_of_manifest(kind) || !guid_equal(&kind->provider, &m->guid))
            continue;
        const struct manifest_event *e = provider_manifest_event(m, kind->descriptor.Id, kind->descriptor.Version);
        if (e)
            wanted[e - m->events] = any = true;
        else
            skipped_add(&x->others, kind);
    }
    const HRESULT hr = any ? manifest_document_add(x->d, m, wanted, x->warnings) : S_OK;
    memory_free(wanted);
    return FAILED(hr) ? hr : S_OK;
}

static bool was_before(const struct event_kinds *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_of_manifest(&s->items[i]) && guid_equal(&s->items[i].provider, &s->items[index].provider))
            return true;
    return false;
}

static HRESULT export_others(const struct event_kinds *s, struct texts *warnings)
{
    /* The events about the trace itself, which every decoder knows. */
    static const GUID trace = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
    static const char *const why[] = {
        [SCHEMA_MANIFEST] = "they contain only a string (EventWriteString) and need no manifest",
        [SCHEMA_MOF] = "they are described by MOF classes (see 'openpla mof show')",
        [SCHEMA_WPP] = "they are WPP messages, which TMF files describe",
        [SCHEMA_TRACE_LOGGING] = "they describe themselves (TraceLogging) and need no manifest",
    };
    struct skipped_events of[SCHEMA_TRACE_LOGGING + 1] = {{0}}, unknown = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < s->count; i++) {
        const struct event_schema *schema = s->items[i].found->schema;
        if (!schema)
            skipped_add(&unknown, &s->items[i]);
        else if (!is_of_manifest(&s->items[i]) && !guid_equal(&s->items[i].provider, &trace))
            skipped_add(&of[schema->source], &s->items[i]);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof of / sizeof *of; i++)
        hr = skipped_add_warning(warnings, &of[i], why[i]);
    if (SUCCEEDED(hr))
        hr = skipped_add_warning(warnings, &unknown, "no schema is known for them");
    if (SUCCEEDED(hr) && s->events_more)
        hr = texts_add_owned(warnings,
                             text_format("skipped %llu events: the trace contains more than %u kinds of events",
                                         (unsigned long long)s->events_more, EVENT_KINDS_MOST));
    return hr;
}

HRESULT event_kinds_export(const struct event_kinds *s, struct manifest_document *d, struct texts *warnings)
{
    struct exporting x = {s, d, warnings, {0}};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
        if (is_of_manifest(&s->items[i]) && !was_before(s, i))
            hr = event_schemas_manifest(s->schemas, &s->items[i].provider, export_provider, &x);
    if (SUCCEEDED(hr))
        hr = skipped_add_warning(warnings, &x.others, "two manifests describe their provider, and the first was used");
    return SUCCEEDED(hr) ? export_others(s, warnings) : hr;
}

/* ---- structures of the kinds of events, as readable text ---- */

static const char *const sources[] = {[SCHEMA_MANIFEST] = "manifest",
                                      [SCHEMA_MOF] = "MOF",
                                      [SCHEMA_WPP] = "TMF",
                                      [SCHEMA_TRACE_LOGGING] = "TraceLogging"};

/* Adds a text with its line ends replaced, so that it stays on one line. */
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

/* Adds a number and its name. */
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

/* Returns the name of a type that exists only in MOF. */
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

/* Adds the properties and their members. `left` limits the number of lines to the number of properties. In a crafted
   schema, several structs can share members, and writing the members of each struct would practically never end. */
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

/* ---- kinds ---- */

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

static void add_sort(struct text_buffer *b, const struct counted_kind *kind)
{
    static const GUID none;
    const struct event_schema *s = kind->found->schema;
    size_t left = s ? s->property_count : 0;
    text_buffer_format(b, "%llu event%s", (unsigned long long)kind->events, kind->events == 1 ? "" : "s");
    if (s && kind->undecoded)
        text_buffer_format(b, ", %llu of them with data of a different layout", (unsigned long long)kind->undecoded);
    end_line(b);
    add_guid_line(b, "provider", s ? &s->provider : &kind->provider,
                  s ? s->provider_name : provider_known_name(&kind->provider));
    if (s && !guid_equal(&s->event, &none))
        add_guid_line(b, s->source == SCHEMA_MOF ? "class" : "task", &s->event, s->task_name);
    add_descriptor(b, &kind->descriptor, s);
    if (!s) {
        add_text_line(b, "unknown", kind->found->reason);
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

HRESULT event_kinds_structures(const struct event_kinds *s, struct text_buffer *out)
{
    for (size_t i = 0; i < s->count; i++) {
        if (i)
            end_line(out);
        add_sort(out, &s->items[i]);
    }
    if (s->events_more)
        text_buffer_format(out, "\r\n%llu events of other kinds\r\n", (unsigned long long)s->events_more);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

/* ---- summary: a hash table of kinds by GUID, number and opcode, for TraceLogging also by name ---- */

struct summary_kind {
    uint64_t hash, events;
    GUID guid;
    char *name, *type; /* name NULL: the entry is free */
    uint16_t id;
    uint8_t opcode;
};

static uint64_t hash_mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* Returns the label for events without a schema. Such events are counted by event provider and number. */
static const char *label_of(const struct dumped_event *e)
{
    return e->schema && e->schema->source == SCHEMA_TRACE_LOGGING ? e->schema->event_name : NULL;
}

static uint64_t hash_of(const struct dumped_event *e, const char *label)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    uint64_t words[2];
    memcpy(words, &h->ProviderId, sizeof words);
    uint64_t hash = (words[0] ^ words[1] * UINT64_C(0x9E3779B97F4A7C15)) + ((uint64_t)h->EventDescriptor.Id << 8) +
                    h->EventDescriptor.Opcode;
    hash ^= hash >> 29;
    hash *= UINT64_C(0xBF58476D1CE4E5B9);
    hash ^= hash >> 32;
    return label ? hash_mix(hash, label, strlen(label)) : hash;
}

static bool is_of(const struct summary_kind *kind, const struct dumped_event *e, const char *name)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    return kind->id == h->EventDescriptor.Id && kind->opcode == h->EventDescriptor.Opcode &&
           guid_equal(&kind->guid, &h->ProviderId) && (!name || strcmp(kind->name, name) == 0);
}

static HRESULT summary_grow(struct event_summary *s)
{
    const size_t room = s->room != 0 ? s->room * 2 : 64;
    struct summary_kind *kinds = memory_zero(room, sizeof *kinds);
    if (!kinds)
        return error_set(E_OUTOFMEMORY, "cannot summarize the events: out of memory after %zu kinds", s->count);
    for (size_t i = 0; i < s->room; i++) {
        if (!s->kinds[i].name)
            continue;
        size_t at = (size_t)s->kinds[i].hash & (room - 1);
        while (kinds[at].name)
            at = (at + 1) & (room - 1);
        kinds[at] = s->kinds[i];
    }
    memory_free(s->kinds);
    s->kinds = kinds;
    s->room = room;
    return S_OK;
}

static HRESULT summary_add_sort(struct event_summary *s, struct summary_kind *place, const struct dumped_event *e,
                                uint64_t hash, const char *name)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    const char *type = e->schema ? e->schema->opcode_name : NULL;
    struct summary_kind kind = {.hash = hash,
                                .guid = h->ProviderId,
                                .id = h->EventDescriptor.Id,
                                .opcode = h->EventDescriptor.Opcode,
                                .events = 1,
                                .name = text_copy(name ? name : "Unknown"),
                                .type =
                                    type ? text_copy(type) : text_format("%u", (unsigned)h->EventDescriptor.Opcode)};
    if (!kind.name || !kind.type) {
        memory_free(kind.name);
        memory_free(kind.type);
        return error_set(E_OUTOFMEMORY, "cannot summarize the events: out of memory after %zu kinds", s->count);
    }
    *place = kind;
    s->count++;
    return S_OK;
}

HRESULT event_summary_count(struct event_summary *s, const struct dumped_event *e, bool decoded)
{
    const int64_t time = e->record->EventHeader.TimeStamp.QuadPart;
    const char *label = label_of(e);
    s->first = s->events == 0 || time < s->first ? time : s->first;
    s->last = s->events == 0 || time > s->last ? time : s->last;
    s->events++;
    s->undecoded += !decoded;
    if (s->count * 2 >= s->room && s->count < EVENT_SUMMARY_KINDS) {
        const HRESULT hr = summary_grow(s);
        if (FAILED(hr))
            return hr;
    }
    const uint64_t hash = hash_of(e, label);
    const char *name = label ? dumped_event_name(e, &s->name) : NULL;
    size_t at = (size_t)hash & (s->room - 1);
    while (s->kinds[at].name && !(s->kinds[at].hash == hash && is_of(&s->kinds[at], e, name)))
        at = (at + 1) & (s->room - 1);
    if (s->kinds[at].name) {
        s->kinds[at].events++;
        return S_OK;
    }
    if (s->count >= EVENT_SUMMARY_KINDS)
        return S_OK; /* the remaining kinds are summarized in one line */
    return summary_add_sort(s, &s->kinds[at], e, hash, label ? name : dumped_event_name(e, &s->name));
}

static int by_events(const void *a, const void *b)
{
    const struct summary_kind *const *x = a, *const *y = b;
    if ((*x)->events != (*y)->events)
        return (*x)->events > (*y)->events ? -1 : 1;
    const int order = strcmp((*x)->name, (*y)->name);
    return order != 0 ? order : (int)(*x)->id - (int)(*y)->id;
}

enum { COUNT_WIDTH = 12, NAME_WIDTH = 30, TYPE_WIDTH = 18 };

static void line(struct text_buffer *out)
{
    text_buffer_add(out, "+------------------------------------------------------------------------------"
                         "-----------------------------+\r\n");
}

HRESULT event_summary_table(const struct event_summary *s, struct text_buffer *out)
{
    const struct summary_kind **sorted = memory_alloc((s->count + 1) * sizeof *sorted);
    uint64_t is_listed = 0;
    size_t n = 0;
    if (!sorted)
        return error_set(E_OUTOFMEMORY, "cannot summarize the events: out of memory after %zu kinds", s->count);
    for (size_t i = 0; i < s->room; i++)
        if (s->kinds[i].name)
            sorted[n++] = &s->kinds[i];
    if (n != 0)
        qsort(sorted, n, sizeof *sorted, by_events);
    line(out);
    text_buffer_format(out, "|%*s  %-*s  %-*s  %-*s|\r\n", COUNT_WIDTH, "Event Count", NAME_WIDTH, "Event Name",
                       TYPE_WIDTH, "Event Type", 41, "Guid");
    line(out);
    for (size_t i = 0; i < n; i++) {
        text_buffer_format(out, "|%*llu  %-*s  %-*s  ", COUNT_WIDTH, (unsigned long long)sorted[i]->events, NAME_WIDTH,
                           sorted[i]->name, TYPE_WIDTH, sorted[i]->type);
        text_buffer_add_guid(out, &sorted[i]->guid);
        text_buffer_add(out, "   |\r\n");
        is_listed += sorted[i]->events;
    }
    if (is_listed < s->events)
        text_buffer_format(out, "|%*llu  %-*s  %-*s  %-*s|\r\n", COUNT_WIDTH,
                           (unsigned long long)(s->events - is_listed), NAME_WIDTH, "(more kinds)", TYPE_WIDTH, "", 41,
                           "");
    line(out);
    memory_free(sorted);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

void event_summary_free(struct event_summary *s)
{
    for (size_t i = 0; i < s->room; i++) {
        memory_free(s->kinds[i].name);
        memory_free(s->kinds[i].type);
    }
    memory_free(s->kinds);
    text_buffer_free(&s->name);
    *s = (struct event_summary){0};
}
