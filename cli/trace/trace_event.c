/* SPDX-License-Identifier: MIT */
/* Writes an event as a line of text (time, process, event, level, fields) or as a JSON object on one line. */
#include "cli/output.h"
#include "cli/trace/trace.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "engine/etw/provider_names.h"
#include "engine/etw/tmf.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

struct line {
    struct text_buffer *out;
    const struct event_schema *schema;
    struct text_buffer cell;
    bool first; /* the value is the first value of its struct or array */
};

static void add_time(struct text_buffer *b, int64_t utc)
{
    static struct clock_zone zone;
    const int64_t local = clock_local(&zone, utc);
    const struct calendar_time t = clock_calendar(local);
    text_buffer_format(b, "%04d-%02d-%02d %02d:%02d:%02d.%06u", t.year, t.month, t.day, t.hour, t.minute, t.second,
                       (unsigned)(local % 10000000 / 10));
}

/* Adds a string, in quotation marks if it is empty or contains a space, a tab or a quotation mark. */
static void add_text(struct text_buffer *b, const char *text)
{
    const bool quoted = !*text || strpbrk(text, " \t\"");
    text_buffer_add(b, quoted ? "\"" : "");
    add_shown(b, text);
    text_buffer_add(b, quoted ? "\"" : "");
}

static void add_name(struct line *l, const struct event_value *v)
{
    if (!l->first)
        text_buffer_add(l->out, " ");
    l->first = false;
    if (v->array && v->elements != 0 && v->property->name)
        return; /* the name was added when the array began */
    add_shown(l->out, v->property->name);
    text_buffer_add(l->out, "=");
}

static HRESULT line_take(void *context, enum event_step step, const struct event_value *v)
{
    struct line *l = context;
    if (!event_property_is_shown(v->property))
        return S_OK;
    switch (step) {
    case STEP_ARRAY:
        text_buffer_add(l->out, l->first ? "" : " ");
        add_shown(l->out, v->property->name);
        text_buffer_add(l->out, "=[");
        l->first = true;
        return S_OK;
    case STEP_STRUCT:
        add_name(l, v);
        text_buffer_add(l->out, "{");
        l->first = true;
        return S_OK;
    case STEP_ARRAY_END:
    case STEP_STRUCT_END:
        text_buffer_add(l->out, step == STEP_ARRAY_END ? "]" : "}");
        l->first = false;
        return S_OK;
    default:
        break;
    }
    l->cell.length = 0;
    const HRESULT hr = event_value_text(l->schema, v, &l->cell);
    if (FAILED(hr))
        return hr;
    add_name(l, v);
    add_text(l->out, l->cell.length != 0 ? l->cell.text : "");
    return l->cell.failed ? E_OUTOFMEMORY : S_OK;
}

static void add_label(struct text_buffer *b, const struct dumped_event *e, struct text_buffer *room)
{
    const EVENT_DESCRIPTOR *d = &e->record->EventHeader.EventDescriptor;
    const struct event_schema *s = e->schema;
    const char *name = dumped_event_name(e, room);
    if (name)
        add_shown(b, name);
    else
        text_buffer_add_guid(b, &e->record->EventHeader.ProviderId);
    if (s && s->source != SCHEMA_MOF && s->source != SCHEMA_TRACE_LOGGING && s->task_name && *s->task_name) {
        text_buffer_add(b, "/");
        add_shown(b, s->task_name);
    }
    if (!s || !s->message) /* WPP messages have no task and opcode */
        text_buffer_add(b, "/");
    if (s && s->opcode_name)
        add_shown(b, s->opcode_name);
    else if (!s || !s->message)
        text_buffer_add_u64(b, d->Opcode, 1);
    if (d->Id != 0)
        text_buffer_format(b, " #%u", (unsigned)d->Id);
    if (!s && d->Version != 0)
        text_buffer_format(b, " version %u", (unsigned)d->Version);
}

/* Adds the bytes, and the text that they contain. */
static void add_undecoded(struct text_buffer *b, const struct dumped_event *e, const char *reason)
{
    const uint8_t *bytes = e->record->UserData;
    struct data_string found;
    text_buffer_add(b, "not decoded: ");
    add_shown(b, reason);
    text_buffer_add(b, " 0x");
    text_buffer_add_bytes(b, bytes, e->record->UserDataLength);
    for (size_t at = 0; data_string_next(bytes, e->record->UserDataLength, &at, &found);) {
        text_buffer_add(b, " \"");
        data_string_add(&found, b);
        text_buffer_add(b, "\"");
    }
}

/* Adds the sentence of a WPP message, which contains the message's arguments. */
static HRESULT add_sentence(struct text_buffer *b, const struct dumped_event *e, struct text_buffer *room)
{
    uint32_t number;
    room->length = 0;
    const HRESULT hr = dumped_event_sentence(e, room);
    if (FAILED(hr))
        return hr;
    add_shown(b, room->length ? room->text : "");
    if (tmf_sequence(e->record, &number))
        text_buffer_format(b, "  sequence=%u", (unsigned)number);
    return room->failed ? E_OUTOFMEMORY : S_OK;
}

/* Adds Windows' name of the level; WPP messages have their own level names. */
static void add_level(struct text_buffer *b, const struct event_schema *s, uint8_t level)
{
    const char *text = winmeta_text_of(MANIFEST_LEVELS, level);
    if (s && s->message && *s->level_name)
        text = s->level_name;
    text_buffer_add(b, "  ");
    if (text)
        add_shown(b, text);
    else
        text_buffer_format(b, "level %u", (unsigned)level);
    text_buffer_add(b, "  ");
}

HRESULT trace_line(const struct dumped_event *e, const char *process, struct text_buffer *out, bool *decoded)
{
    struct line l = {.out = out, .schema = e->schema, .first = true};
    const EVENT_HEADER *h = &e->record->EventHeader;
    HRESULT hr = S_OK;
    add_time(out, h->TimeStamp.QuadPart);
    text_buffer_add(out, "  ");
    if (process)
        add_shown(out, process);
    if (h->ProcessId == UINT32_MAX)
        text_buffer_add(out, "-  ");
    else
        text_buffer_format(out, process ? "(%u:%u)  " : "%u:%u  ", (unsigned)h->ProcessId, (unsigned)h->ThreadId);
    add_label(out, e, &l.cell);
    add_level(out, e->schema, h->EventDescriptor.Level);
    *decoded = e->schema;
    const size_t fields = out->length;
    if (e->schema) {
        const struct event_data data = event_data_of(e->record, e->pointer_size);
        hr = e->schema->message ? add_sentence(out, e, &l.cell)
                                : event_values_walk(e->schema, &data, line_take, &l, NULL);
        if (hr == EVENT_DATA_INVALID) {
            *decoded = false;
            out->length = fields;
            add_undecoded(out, e, error_text(hr));
            hr = S_OK;
        }
    } else {
        add_undecoded(out, e, e->reason);
    }
    text_buffer_free(&l.cell);
    return SUCCEEDED(hr) && out->failed ? E_OUTOFMEMORY : hr;
}

/* ---- as JSON ---- */

enum { MOST_DEPTH = JSON_DEPTH - 8 };

struct fields {
    struct json *json;
    const struct event_schema *schema;
    struct text_buffer cell;
    unsigned omitted; /* number of levels that are too deep for the JSON writer; their values are omitted */
};

static bool is_integer(uint16_t in)
{
    return in >= IN_TYPE_INT8 && in <= IN_TYPE_UINT64;
}

static bool is_real(uint16_t in)
{
    return in == IN_TYPE_FLOAT || in == IN_TYPE_DOUBLE;
}

static void put_value(struct fields *f, const char *name, const struct event_value *v)
{
    const char *text = f->cell.length != 0 ? f->cell.text : "";
    char *end;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        json_bool(f->json, name, text[0] == 't');
    else if (is_real(v->type.in) && !isfinite(strtod(text, &end)) && end != text)
        json_text(f->json, name, NULL); /* JSON has no infinity and no NaN */
    else if (is_integer(v->type.in) || is_real(v->type.in))
        json_number_text(f->json, name, text); /* for a hexadecimal value or a name from a map, json_number_text
                                                  writes a string */
    else
        json_text(f->json, name, text);
}

static HRESULT json_take(void *context, enum event_step step, const struct event_value *v)
{
    struct fields *f = context;
    const char *name = v->array && step != STEP_ARRAY ? NULL : v->property->name;
    switch (step) {
    case STEP_ARRAY:
    case STEP_STRUCT:
        if (f->omitted != 0 || f->json->depth >= MOST_DEPTH)
            f->omitted++;
        else
            json_begin(f->json, name, step == STEP_ARRAY ? '[' : '{');
        return S_OK;
    case STEP_ARRAY_END:
    case STEP_STRUCT_END:
        if (f->omitted != 0)
            f->omitted--;
        else
            json_end(f->json, step == STEP_ARRAY_END ? ']' : '}');
        return S_OK;
    default:
        break;
    }
    f->cell.length = 0;
    const HRESULT hr = event_value_text(f->schema, v, &f->cell);
    if (SUCCEEDED(hr) && f->omitted == 0)
        put_value(f, name, v);
    return f->cell.failed ? E_OUTOFMEMORY : hr;
}

static void put_guid(struct json *j, const char *name, const GUID *guid, struct text_buffer *room)
{
    room->length = 0;
    text_buffer_add_guid(room, guid);
    json_text(j, name, room->failed ? NULL : room->text);
}

static void put_undecoded(struct json *j, const struct dumped_event *e, const char *reason, struct text_buffer *room)
{
    room->length = 0;
    text_buffer_add_bytes(room, e->record->UserData, e->record->UserDataLength);
    json_begin(j, "undecoded", '{');
    json_text(j, "reason", reason);
    json_text(j, "data", room->failed ? NULL : room->length != 0 ? room->text : "");
    json_begin(j, "strings", '[');
    struct data_string found;
    for (size_t at = 0; data_string_next(e->record->UserData, e->record->UserDataLength, &at, &found);) {
        room->length = 0;
        data_string_add(&found, room);
        json_text(j, NULL, room->failed ? NULL : room->text);
    }
    json_end(j, ']');
    json_end(j, '}');
}

static void put_header(struct json *j, const struct dumped_event *e, const char *process, struct text_buffer *room)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    const struct event_schema *s = e->schema;
    static struct dump_clock clock;
    dump_time(room, &clock, h->TimeStamp.QuadPart);
    text_buffer_add(room, "Z");
    json_text(j, "time", room->failed ? NULL : room->text);
    json_integer(j, "process", h->ProcessId);
    json_text(j, "processName", process);
    json_integer(j, "thread", h->ThreadId);
    json_text(j, "provider", s ? s->provider_name : provider_known_name(&h->ProviderId));
    put_guid(j, "providerId", &h->ProviderId, room);
    json_text(j, "event", s ? s->event_name : NULL);
    json_integer(j, "id", d->Id);
    json_integer(j, "version", d->Version);
    json_text(j, "task", s ? s->task_name : NULL);
    json_text(j, "opcode", s ? s->opcode_name : NULL);
    json_integer(j, "opcodeNumber", d->Opcode);
    json_integer(j, "level", d->Level);
    room->length = 0;
    text_buffer_add_hex(room, d->Keyword, 16);
    json_text(j, "keywords", room->failed ? NULL : room->text);
    put_guid(j, "activity", &h->ActivityId, room);
}

/* Writes the sentence of a WPP message, and its number. */
static HRESULT put_message(struct json *j, const struct dumped_event *e, struct text_buffer *room)
{
    uint32_t number;
    if (tmf_sequence(e->record, &number))
        json_integer(j, "sequence", number);
    room->length = 0;
    const HRESULT hr = dumped_event_sentence(e, room);
    if (SUCCEEDED(hr))
        json_text(j, "message", room->failed ? NULL : room->length ? room->text : "");
    return hr == EVENT_DATA_INVALID ? S_OK : hr; /* the code that writes the event's fields will report the problem */
}

HRESULT trace_json(const struct dumped_event *e, const char *process, trace_json_more *more, void *context,
                   struct text_buffer *line, bool *decoded)
{
    struct json j = {.text = line, .compact = true};
    struct fields f = {.json = &j, .schema = e->schema};
    HRESULT hr = S_OK;
    json_begin(&j, NULL, '{');
    put_header(&j, e, process, &f.cell);
    *decoded = e->schema;
    if (e->schema && e->schema->message)
        hr = put_message(&j, e, &f.cell);
    if (SUCCEEDED(hr) && e->schema) {
        const struct event_data data = event_data_of(e->record, e->pointer_size);
        json_begin(&j, "fields", '{');
        const int depth = j.depth;
        hr = event_values_walk(e->schema, &data, json_take, &f, NULL);
        while (j.depth > depth) /* closes structs and arrays of an event with incomplete data */
            json_end(&j, j.brackets[j.depth - 1] == '[' ? ']' : '}');
        json_end(&j, '}');
        if (hr == EVENT_DATA_INVALID) {
            *decoded = false;
            put_undecoded(&j, e, error_text(hr), &f.cell);
            hr = S_OK;
        }
    } else if (!e->schema) {
        put_undecoded(&j, e, e->reason, &f.cell);
    }
    if (more)
        more(context, &j);
    json_end(&j, '}');
    hr = SUCCEEDED(hr) && (f.cell.failed || line->failed) ? E_OUTOFMEMORY : hr;
    text_buffer_free(&f.cell);
    return hr;
}
