/* SPDX-License-Identifier: MIT */
/* Writes XML dumps like those of tracerpt: one Event element, as the event schema defines it, for each event. */
#include "engine/base/xml_text.h"
#include "engine/etw/decode/event_dump_form.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_names.h"
#include "engine/etw/tmf.h"

#include <string.h>

static void add(struct text_buffer *b, const char *text)
{
    text_buffer_add(b, text);
}

static HRESULT begin(struct event_dump *d)
{
    add(&d->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<Events>\r\n");
    return S_OK;
}

static void end(struct event_dump *d)
{
    add(&d->text, "</Events>\r\n");
}

static void number(struct text_buffer *b, const char *before, uint64_t xml_add_value, const char *behind)
{
    add(b, before);
    text_buffer_add_u64(b, xml_add_value, 1);
    add(b, behind);
}

static void xml_add_system_element(struct text_buffer *b, const char *name, const char *text)
{
    if (!text)
        return;
    add(b, "\t\t<");
    add(b, name);
    add(b, ">");
    xml_add_escaped(b, text, false);
    add(b, "</");
    add(b, name);
    add(b, ">\r\n");
}

static void add_correlation(struct text_buffer *b, const struct dumped_event *e)
{
    GUID related;
    const void *item = dumped_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof related);
    add(b, "\t\t<Correlation ActivityID=\"");
    text_buffer_add_guid(b, &e->record->EventHeader.ActivityId);
    if (item) {
        memcpy(&related, item, sizeof related);
        add(b, "\" RelatedActivityID=\"");
        text_buffer_add_guid(b, &related);
    }
    add(b, "\" />\r\n");
}

static void add_time(struct event_dump *d, int64_t time)
{
    if (d->options.raw_time) {
        number(&d->text, "\t\t<TimeCreated RawTime=\"", (uint64_t)time, "\" />\r\n");
        return;
    }
    add(&d->text, "\t\t<TimeCreated SystemTime=\"");
    dump_time(&d->text, &d->clock, time);
    add(&d->text, "00Z\" />\r\n");
}

static void xml_add_head(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text;
    const struct dumped_event *e = s->event;
    const EVENT_RECORD *r = e->record;
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    event_inserts_clear(&s->dump->inserts);
    add(b, "<Event xmlns=\"" EVENT_DUMP_EVENT_SPACE "\">\r\n\t<System>\r\n\t\t<Provider");
    const char *name = e->schema ? e->schema->provider_name : provider_known_name(&e->record->EventHeader.ProviderId);
    if (name)
        xml_add_attribute(b, "Name", name);
    add(b, " Guid=\"");
    text_buffer_add_guid(b, e->schema && e->schema->source == SCHEMA_MOF ? &e->schema->provider : &h->ProviderId);
    number(b, "\" />\r\n\t\t<EventID>", d->Id, "</EventID>\r\n");
    number(b, "\t\t<Version>", d->Version, "</Version>\r\n");
    number(b, "\t\t<Level>", d->Level, "</Level>\r\n");
    number(b, "\t\t<Task>", d->Task, "</Task>\r\n");
    number(b, "\t\t<Opcode>", d->Opcode, "</Opcode>\r\n\t\t<Keywords>");
    text_buffer_add_hex(b, d->Keyword, 1);
    add(b, "</Keywords>\r\n");
    add_time(s->dump, h->TimeStamp.QuadPart);
    add_correlation(b, e);
    number(b, "\t\t<Execution ProcessID=\"", h->ProcessId, "\"");
    number(b, " ThreadID=\"", h->ThreadId, "\"");
    number(b, " ProcessorID=\"", event_dump_processor(r), "\"");
    number(b, " KernelTime=\"", (uint64_t)h->KernelTime * e->timer_resolution / 10000, "\"");
    number(b, " UserTime=\"", (uint64_t)h->UserTime * e->timer_resolution / 10000, "\" />\r\n\t\t<Channel");
    if (e->schema && e->schema->channel_name) {
        add(b, ">");
        xml_add_escaped(b, e->schema->channel_name, false);
        add(b, "</Channel>\r\n");
    } else {
        add(b, " />\r\n");
    }
    add(b, "\t\t<Computer />\r\n\t</System>\r\n");
}

/* Returns whether the manifest defines the XML of UserData. */
static bool is_shaped(const struct event_dump_step *s)
{
    return s->event->schema->user_data != NULL;
}

static HRESULT xml_begin_values(struct event_dump_step *s)
{
    if (is_shaped(s)) {
        add(&s->dump->text, "\t<UserData>\r\n");
        return S_OK;
    }
    s->elements = (s->event->schema->template_flags & EVENT_DUMP_USER_DATA) != 0;
    add(&s->dump->text, s->elements ? "\t<UserData>\r\n\t\t<EventXML xmlns=\"Event_NS\">\r\n" : "\t<EventData>\r\n");
    return S_OK;
}

static void indent(struct text_buffer *b, unsigned depth)
{
    add(b, "\t\t");
    for (unsigned i = 0; i < depth; i++)
        add(b, "\t");
}

static void open_element(struct event_dump_step *s, const struct event_value *v, const char *name)
{
    struct text_buffer *b = &s->dump->text;
    indent(b, s->depth);
    add(b, "<");
    add(b, name);
    if (name != v->property->name)
        xml_add_attribute(b, "Name", v->property->name);
    add(b, ">");
}

static const char *element_of(const struct event_dump_step *s, const struct event_value *v, const char *otherwise)
{
    return s->elements && event_dump_is_element_name(v->property->name) ? v->property->name : otherwise;
}

static void close_element(struct text_buffer *b, const char *name)
{
    add(b, "</");
    add(b, name);
    add(b, ">\r\n");
}

static void close_struct(struct event_dump_step *s)
{
    s->depth--;
    indent(&s->dump->text, s->depth);
    close_element(&s->dump->text, s->structs[s->depth]);
}

static HRESULT xml_add_value(void *context, enum event_step step, const struct event_value *v)
{
    struct event_dump_step *s = context;
    struct text_buffer *cell = &s->dump->cell;
    const bool shaped = is_shaped(s), insert = (shaped || s->event->schema->event_message) && v->depth == 0;
    if (!event_property_is_shown(v->property) || (shaped && (step != STEP_VALUE || !insert)))
        return S_OK;
    if (step == STEP_STRUCT && s->depth < EVENT_DUMP_DEPTH) {
        const char *name = element_of(s, v, "ComplexData");
        open_element(s, v, name);
        add(&s->dump->text, "\r\n");
        s->structs[s->depth++] = name;
    } else if (step == STEP_STRUCT_END && v->depth < s->depth) {
        close_struct(s);
    } else if (step == STEP_VALUE) {
        const char *name = element_of(s, v, "Data");
        cell->length = 0;
        const HRESULT hr = event_value_text(s->event->schema, v, cell);
        if (FAILED(hr))
            return hr;
        if (cell->failed)
            return E_OUTOFMEMORY;
        if (insert)
            event_inserts_add(&s->dump->inserts, v->index, cell->length != 0 ? cell->text : "");
        if (shaped)
            return S_OK;
        open_element(s, v, name);
        if (cell->length != 0)
            xml_add_escaped(&s->dump->text, cell->text, false);
        close_element(&s->dump->text, name);
    }
    return S_OK;
}

static void reported(struct text_buffer *b, const char *name, const char *text)
{
    if (text && *text)
        xml_add_system_element(b, name, text);
}

/* Adds the elements that the event schema defines for WPP messages. If the data are truncated, there is no message
   text. */
static void add_debug_data(struct event_dump_step *s)
{
    const struct tmf_message *m = s->event->schema->message;
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    uint32_t sequence;
    add(b, "\t<DebugData>\r\n");
    if (tmf_sequence(s->event->record, &sequence))
        number(b, "\t\t<SequenceNumber>", sequence, "</SequenceNumber>\r\n");
    reported(b, "FlagsName", m->flags);
    reported(b, "LevelName", m->level);
    reported(b, "Component", m->component);
    reported(b, "SubComponent", m->subcomponent);
    reported(b, "FileLine", m->type_name);
    reported(b, "Function", m->function);
    cell->length = 0;
    const HRESULT hr = dumped_event_sentence(s->event, cell);
    if (SUCCEEDED(hr))
        xml_add_system_element(b, "Message", cell->length ? cell->text : "");
    b->failed = b->failed || cell->failed || hr == E_OUTOFMEMORY;
    add(b, "\t</DebugData>\r\n");
}

static void end_values(struct event_dump_step *s)
{
    if (is_shaped(s)) {
        event_inserts_add_user_data(&s->dump->inserts, s->event->schema, &s->dump->text);
        add(&s->dump->text, "\r\n\t</UserData>\r\n");
        return;
    }
    while (s->depth != 0) /* the data are truncated inside a struct */
        close_struct(s);
    add(&s->dump->text, s->elements ? "\t\t</EventXML>\r\n\t</UserData>\r\n" : "\t</EventData>\r\n");
    if (s->event->schema->message)
        add_debug_data(s);
}

static void xml_add_undecoded(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code,
                              const char *reason)
{
    struct text_buffer *b = &s->dump->text;
    if (code == ERROR_NOT_FOUND) { /* tracerpt writes unknown events in this form */
        add(b, "\t<BinaryEventData>");
        text_buffer_add_bytes(b, bytes, size);
        add(b, "</BinaryEventData>\r\n");
        return;
    }
    number(b, "\t<ProcessingErrorData>\r\n\t\t<ErrorCode>", code, "</ErrorCode>\r\n");
    xml_add_system_element(b, "DataItemName", reason);
    add(b, "\t\t<EventPayload>");
    text_buffer_add_bytes(b, bytes, size);
    add(b, "</EventPayload>\r\n\t</ProcessingErrorData>\r\n");
}

static void add_keywords(struct text_buffer *b, const struct event_schema *schema)
{
    if (schema->keyword_count == 0)
        return;
    add(b, "\t\t<Keywords>\r\n");
    for (size_t i = 0; i < schema->keyword_count; i++) {
        add(b, "\t");
        xml_add_system_element(b, "Keyword", schema->keyword_names[i]);
    }
    add(b, "\t\t</Keywords>\r\n");
}

static HRESULT xml_add_tail(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text;
    const struct event_schema *schema = s->event->schema;
    const struct event_schema *mof = schema && schema->source == SCHEMA_MOF ? schema : NULL;
    add(b, "\t<RenderingInfo Culture=\"en-US\">\r\n");
    if (schema && schema->event_message) {
        s->dump->cell.length = 0;
        if (!schema->message || dumped_event_sentence(s->event, &s->dump->cell) != S_OK)
            event_inserts_add_message(&s->dump->inserts, schema, &s->dump->cell);
        xml_add_system_element(b, "Message", s->dump->cell.length != 0 ? s->dump->cell.text : "");
        b->failed = b->failed || s->dump->cell.failed;
    }
    if (schema) {
        xml_add_system_element(b, "Level", schema->level_name);
        xml_add_system_element(b, "Task", mof ? NULL : schema->task_name);
        xml_add_system_element(b, "Opcode", schema->opcode_name);
        xml_add_system_element(b, "Channel", schema->channel_name);
        xml_add_system_element(b, "Provider", schema->provider_name);
        add_keywords(b, schema);
        const char *name = mof ? mof->task_name : schema->event_name;
        if (name) {
            add(b, "\t\t<EventName xmlns=\"" EVENT_DUMP_TRACE_SPACE "\">");
            xml_add_escaped(b, name, false);
            add(b, "</EventName>\r\n");
        }
    }
    add(b, "\t</RenderingInfo>\r\n\t<ExtendedTracingInfo xmlns=\"" EVENT_DUMP_TRACE_SPACE "\">\r\n\t\t<EventGuid>");
    text_buffer_add_guid(b, mof ? &mof->event : &s->event->record->EventHeader.ProviderId);
    add(b, "</EventGuid>\r\n\t</ExtendedTracingInfo>\r\n</Event>\r\n");
    return S_OK;
}

const struct event_dump_writer event_dump_xml = {.begin = begin,
                                                 .head = xml_add_head,
                                                 .values = xml_begin_values,
                                                 .value = xml_add_value,
                                                 .end_values = end_values,
                                                 .undecoded = xml_add_undecoded,
                                                 .tail = xml_add_tail,
                                                 .end = end};
