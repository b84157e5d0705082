/* SPDX-License-Identifier: MIT */
/* CSV: a line of tracerpt's columns an event, its values behind them. */
#include "engine/etw/decode/event_dump_form.h"
#include "engine/etw/tmf.h"
#include "engine/etw/value_text.h"

#include <string.h>

static const char columns[] =
    "Event Name, Type, Event ID, Version, Channel, Level, Opcode, Task, Keyword, PID, TID, Processor Number, Instance "
    "ID, Parent Instance ID, Activity ID, Related Activity ID, Clock-Time, Kernel(ms), User(ms), User Data\r\n";

static HRESULT begin(struct event_dump *d)
{
    text_buffer_add(&d->text, columns);
    return S_OK;
}

static void comma(struct text_buffer *b)
{
    text_buffer_add_n(b, ",", 1);
}

static void decimal(struct text_buffer *b, uint64_t value)
{
    comma(b);
    text_buffer_add_u64(b, value, 1);
}

/* A cell is a text in quotation marks where a reader would take it apart. */
static void add_cell(struct text_buffer *b, const char *text, size_t size)
{
    size_t plain = 0;
    while (plain < size && (unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != ',')
        plain++;
    if (plain == size && (size == 0 || (text[0] != ' ' && text[size - 1] != ' ')))
        text_buffer_add_n(b, text, size);
    else
        dump_quoted(b, text, size);
}

static uint64_t milliseconds(const struct dumped_event *e, uint32_t units)
{
    return (uint64_t)units * e->timer_resolution / 10000;
}

/* The number in two items at the header's end, which most events have not. */
static void add_instance(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text;
    uint32_t numbers[2];
    const void *item = dumped_event_item(s->event, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof numbers);
    if (!item) {
        text_buffer_add_n(b, ",,", 2);
        return;
    }
    memcpy(numbers, item, sizeof numbers);
    decimal(b, numbers[0]);
    decimal(b, numbers[1]);
}

static void head(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text;
    const struct dumped_event *e = s->event;
    const EVENT_RECORD *r = e->record;
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    const char *name = dumped_event_name(e, &s->dump->cell);
    if (name)
        add_cell(b, name, strlen(name));
    else
        text_buffer_add_guid(b, &h->ProviderId);
    comma(b);
    if (e->schema && e->schema->opcode_name)
        add_cell(b, e->schema->opcode_name, strlen(e->schema->opcode_name));
    else
        text_buffer_add_u64(b, d->Opcode, 1);
    decimal(b, d->Id);
    decimal(b, d->Version);
    decimal(b, d->Channel);
    decimal(b, d->Level);
    decimal(b, d->Opcode);
    decimal(b, d->Task);
    comma(b);
    text_buffer_add_hex(b, d->Keyword, 16);
    comma(b);
    text_buffer_add_hex(b, h->ProcessId, 8);
    comma(b);
    text_buffer_add_hex(b, h->ThreadId, 8);
    decimal(b, event_dump_processor(r));
    add_instance(s);
    comma(b);
    text_buffer_add_guid(b, &h->ActivityId);
    comma(b);
    GUID related;
    const void *item = dumped_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof related);
    if (item) {
        memcpy(&related, item, sizeof related);
        text_buffer_add_guid(b, &related);
    }
    decimal(b, (uint64_t)h->TimeStamp.QuadPart);
    decimal(b, milliseconds(e, h->KernelTime));
    decimal(b, milliseconds(e, h->UserTime));
}

/* Of a message of WPP its sentence and its number, before its arguments. */
static HRESULT values(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    uint32_t number;
    if (!s->event->schema->message)
        return S_OK;
    cell->length = 0;
    const HRESULT hr = dumped_event_sentence(s->event, cell);
    comma(b);
    dump_quoted(b, cell->length ? cell->text : "", cell->length);
    if (tmf_sequence(s->event->record, &number))
        decimal(b, number);
    else
        comma(b);
    return hr;
}

static void end_values(struct event_dump_step *s)
{
    (void)s;
}

/* Texts are always in quotation marks, so that a reader of numbers finds none in them. */
static bool is_text(const struct value_type *t)
{
    return t->in == IN_TYPE_UNICODESTRING || t->in == IN_TYPE_ANSISTRING || t->in == IN_TYPE_MANIFEST_COUNTEDSTRING ||
           t->in == IN_TYPE_MANIFEST_COUNTEDANSISTRING ||
           (t->in >= IN_TYPE_COUNTEDSTRING && t->in <= IN_TYPE_NONNULLTERMINATEDANSISTRING);
}

static HRESULT value(void *context, enum event_step step, const struct event_value *v)
{
    struct event_dump_step *s = context;
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    if (step != STEP_VALUE || !event_property_is_shown(v->property))
        return S_OK;
    cell->length = 0;
    const HRESULT hr = event_value_text(s->event->schema, v, cell);
    if (FAILED(hr))
        return hr;
    comma(b);
    if (is_text(&v->type))
        dump_quoted(b, cell->length != 0 ? cell->text : "", cell->length);
    else
        add_cell(b, cell->length != 0 ? cell->text : "", cell->length);
    return cell->failed ? E_OUTOFMEMORY : S_OK;
}

static void undecoded(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code, const char *reason)
{
    struct text_buffer *b = &s->dump->text;
    (void)code;
    text_buffer_add(b, ",0x");
    text_buffer_add_bytes(b, bytes, size);
    comma(b);
    s->dump->cell.length = 0;
    text_buffer_add(&s->dump->cell, "not decoded: ");
    text_buffer_add(&s->dump->cell, reason);
    if (!s->dump->cell.failed)
        dump_quoted(b, s->dump->cell.text, s->dump->cell.length);
}

static HRESULT tail(struct event_dump_step *s)
{
    text_buffer_add_n(&s->dump->text, "\r\n", 2);
    return S_OK;
}

static void end(struct event_dump *d)
{
    (void)d;
}

const struct event_dump_writer event_dump_csv = {.begin = begin,
                                                 .head = head,
                                                 .values = values,
                                                 .value = value,
                                                 .end_values = end_values,
                                                 .undecoded = undecoded,
                                                 .tail = tail,
                                                 .end = end};
