/* SPDX-License-Identifier: MIT */
/* An event as a line for people: when, who, what, how bad, and its fields. */
#include "cli/shown_text.h"
#include "cli/trace/trace_show.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "engine/etw/tmf.h"

#include <string.h>

struct line {
    struct text_buffer *out;
    const struct event_schema *schema;
    struct text_buffer cell;
    bool first; /* of its struct or array */
};

static void add_time(struct text_buffer *b, int64_t utc)
{
    static struct clock_zone zone;
    const int64_t local = clock_local(&zone, utc);
    const struct calendar_time t = clock_calendar(local);
    text_buffer_format(b, "%04d-%02d-%02d %02d:%02d:%02d.%06u", t.year, t.month, t.day, t.hour, t.minute, t.second,
                       (unsigned)(local % 10000000 / 10));
}

/* A text with blanks is in quotation marks, so that its end is seen. */
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
        return; /* the array has the name */
    add_shown(l->out, v->property->name);
    text_buffer_add(l->out, "=");
}

static HRESULT take(void *context, enum event_step step, const struct event_value *v)
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
    if (!s || !s->message) /* which has none */
        text_buffer_add(b, "/");
    if (s && s->opcode_name)
        add_shown(b, s->opcode_name);
    else if (!s || !s->message)
        text_buffer_add_u64(b, d->Opcode, 1);
    if (d->Id != 0)
        text_buffer_format(b, " #%u", (unsigned)d->Id);
}

static void add_undecoded(struct text_buffer *b, const struct dumped_event *e, const char *reason)
{
    text_buffer_add(b, "not decoded: ");
    add_shown(b, reason);
    text_buffer_add(b, " 0x");
    text_buffer_add_bytes(b, e->record->UserData, e->record->UserDataLength);
}

/* Of a message of WPP the sentence has its arguments. */
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

/* As Windows calls it; a message of WPP has a name of its own. */
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
        hr = e->schema->message ? add_sentence(out, e, &l.cell) : event_values_walk(e->schema, &data, take, &l, NULL);
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
