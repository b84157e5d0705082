/* SPDX-License-Identifier: MIT */
/* An event as a JSON object on one line. */
#include "cli/json.h"
#include "cli/trace/trace_show.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { MOST_DEPTH = JSON_DEPTH - 8 };

struct fields {
    struct json *json;
    const struct event_schema *schema;
    struct text_buffer cell;
    unsigned left_out; /* levels that are too deep for JSON's writer: their values are those of what they are in */
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
        json_text(f->json, name, NULL); /* JSON has no such numbers */
    else if (is_integer(v->type.in) || is_real(v->type.in))
        json_number_text(f->json, name, text); /* what a map names, and hexadecimal, is a text */
    else
        json_text(f->json, name, text);
}

static HRESULT take(void *context, enum event_step step, const struct event_value *v)
{
    struct fields *f = context;
    const char *name = v->array && step != STEP_ARRAY ? NULL : v->property->name;
    switch (step) {
    case STEP_ARRAY:
    case STEP_STRUCT:
        if (f->left_out != 0 || f->json->depth >= MOST_DEPTH)
            f->left_out++;
        else
            json_begin(f->json, name, step == STEP_ARRAY ? '[' : '{');
        return S_OK;
    case STEP_ARRAY_END:
    case STEP_STRUCT_END:
        if (f->left_out != 0)
            f->left_out--;
        else
            json_end(f->json, step == STEP_ARRAY_END ? ']' : '}');
        return S_OK;
    default:
        break;
    }
    f->cell.length = 0;
    const HRESULT hr = event_value_text(f->schema, v, &f->cell);
    if (SUCCEEDED(hr) && f->left_out == 0)
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
    json_end(j, '}');
}

static void put_header(struct json *j, const struct dumped_event *e, const char *process, struct text_buffer *room)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    const struct event_schema *s = e->schema;
    struct dump_clock clock = {0};
    dump_time(room, &clock, h->TimeStamp.QuadPart);
    text_buffer_add(room, "Z");
    json_text(j, "time", room->failed ? NULL : room->text);
    json_integer(j, "process", h->ProcessId);
    json_text(j, "processName", process);
    json_integer(j, "thread", h->ThreadId);
    json_text(j, "provider", s ? s->provider_name : NULL);
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

/* The sentence of a message of WPP, and its number. */
static HRESULT put_message(struct json *j, const struct dumped_event *e, struct text_buffer *room)
{
    uint32_t number;
    if (tmf_sequence(e->record, &number))
        json_integer(j, "sequence", number);
    room->length = 0;
    const HRESULT hr = dumped_event_sentence(e, room);
    if (SUCCEEDED(hr))
        json_text(j, "message", room->failed ? NULL : room->length ? room->text : "");
    return hr == EVENT_DATA_INVALID ? S_OK : hr; /* its values tell */
}

HRESULT trace_json(const struct dumped_event *e, const char *process, FILE *out, bool *decoded)
{
    struct json j = {.out = out, .compact = true};
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
        hr = event_values_walk(e->schema, &data, take, &f, NULL);
        const struct error_kept why = error_keep(hr);
        while (j.depth > depth) /* of data that end within */
            json_end(&j, j.brackets[j.depth - 1] == '[' ? ']' : '}');
        json_end(&j, '}');
        if (hr == EVENT_DATA_INVALID) {
            *decoded = false;
            put_undecoded(&j, e, error_text(error_restore(&why)), &f.cell);
            hr = S_OK;
        }
    } else if (!e->schema) {
        put_undecoded(&j, e, e->reason, &f.cell);
    }
    json_end(&j, '}');
    hr = SUCCEEDED(hr) && f.cell.failed ? E_OUTOFMEMORY : hr;
    text_buffer_free(&f.cell);
    return hr;
}
