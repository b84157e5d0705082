/* SPDX-License-Identifier: MIT */
/* Writes EVTX dumps: each event becomes a record with the elements of the XML dump. A value keeps its type if all EVTX
   readers show the value in the same way as the XML dump. All other values, and all values of arrays, become
   strings. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/etw/decode/event_dump_form.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_names.h"
#include "engine/etw/tmf.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum {
    CODE_OF_LENGTH = 234, /* ERROR_MORE_DATA */
    MOST_PAYLOAD = 60000, /* maximum number of data bytes in a shortened event */
    MOST_TEXT = 200,      /* maximum bytes of each string in a shortened event */
};

/* ---- the file ---- */

static HRESULT evtx_dump_begin(struct event_dump *d)
{
    uint8_t header[EVTX_HEADER_BYTES];
    d->log = evtx_writer_create(EVTX_MOST_CHUNKS);
    if (!d->log)
        return error_set(E_OUTOFMEMORY, "cannot write the events: out of memory");
    evtx_writer_header(d->log, false, header);
    text_buffer_add_n(&d->text, (const char *)header, sizeof header);
    return S_OK;
}

static void end(struct event_dump *d)
{
    evtx_writer_end(d->log, &d->text);
}

static HRESULT written(struct event_dump *d)
{
    uint8_t header[EVTX_HEADER_BYTES];
    evtx_writer_header(d->log, true, header);
    return d->options.write_at(d->options.context, 0, header, sizeof header);
}

/* ---- System ---- */

static void number(struct evtx_record *r, const char *element, enum evtx_type type, uint64_t evtx_dump_value)
{
    uint8_t bytes[8];
    put_u64(bytes, evtx_dump_value);
    evtx_element_value(r, element, type, bytes, type == EVTX_U8 ? 1 : type == EVTX_U16 ? 2 : 8);
}

static void attribute_u32(struct evtx_record *r, const char *name, uint32_t evtx_dump_value)
{
    uint8_t bytes[4];
    put_u32(bytes, evtx_dump_value);
    evtx_attribute_value(r, name, EVTX_U32, bytes, sizeof bytes);
}

static void add_time(struct event_dump_step *s, struct evtx_record *r)
{
    int64_t time = s->event->record->EventHeader.TimeStamp.QuadPart;
    uint8_t bytes[8];
    time = time < 0 ? 0 : time; /* a corrupt timestamp becomes the earliest time */
    put_u64(bytes, (uint64_t)time);
    evtx_begin(r, "TimeCreated");
    if (s->dump->options.raw_time)
        evtx_attribute_value(r, "RawTime", EVTX_U64, bytes, sizeof bytes);
    else
        evtx_attribute_value(r, "SystemTime", EVTX_FILETIME, bytes, sizeof bytes);
    evtx_end(r);
}

static void add_system(struct event_dump_step *s, struct evtx_record *r)
{
    const struct dumped_event *e = s->event;
    const EVENT_HEADER *h = &e->record->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    const GUID *provider = e->schema && e->schema->source == SCHEMA_MOF ? &e->schema->provider : &h->ProviderId;
    const void *related = dumped_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof(GUID));
    evtx_begin(r, "System");
    evtx_begin(r, "Provider");
    const char *name = e->schema ? e->schema->provider_name : provider_known_name(&e->record->EventHeader.ProviderId);
    if (name)
        evtx_attribute(r, "Name", name);
    evtx_attribute_value(r, "Guid", EVTX_GUID, provider, sizeof *provider);
    evtx_end(r);
    number(r, "EventID", EVTX_U16, d->Id);
    number(r, "Version", EVTX_U8, d->Version);
    number(r, "Level", EVTX_U8, d->Level);
    number(r, "Task", EVTX_U16, d->Task);
    number(r, "Opcode", EVTX_U8, d->Opcode);
    number(r, "Keywords", EVTX_HEX64, d->Keyword);
    add_time(s, r);
    number(r, "EventRecordID", EVTX_U64, evtx_writer_next(s->dump->log));
    evtx_begin(r, "Correlation");
    evtx_attribute_value(r, "ActivityID", EVTX_GUID, &h->ActivityId, sizeof h->ActivityId);
    if (related)
        evtx_attribute_value(r, "RelatedActivityID", EVTX_GUID, related, sizeof(GUID));
    evtx_end(r);
    evtx_begin(r, "Execution");
    attribute_u32(r, "ProcessID", h->ProcessId);
    attribute_u32(r, "ThreadID", h->ThreadId);
    attribute_u32(r, "ProcessorID", event_dump_processor(e->record));
    attribute_u32(r, "KernelTime", (uint32_t)((uint64_t)h->KernelTime * e->timer_resolution / 10000));
    attribute_u32(r, "UserTime", (uint32_t)((uint64_t)h->UserTime * e->timer_resolution / 10000));
    evtx_end(r);
    evtx_element(r, "Channel", e->schema && e->schema->channel_name ? e->schema->channel_name : "");
    evtx_element(r, "Computer", "");
    evtx_end(r);
}

static void add_start(struct event_dump_step *s)
{
    struct evtx_record *r = &s->dump->record;
    evtx_record_clear(r);
    evtx_begin(r, "Event");
    evtx_attribute(r, "xmlns", EVENT_DUMP_EVENT_SPACE);
}

static void evtx_dump_head(struct event_dump_step *s)
{
    event_inserts_clear(&s->dump->inserts);
    add_start(s);
    add_system(s, &s->dump->record);
    s->before_values = evtx_record_place(&s->dump->record);
}

/* ---- values ---- */

static bool is_shaped(const struct event_dump_step *s)
{
    return s->event->schema->user_data != NULL;
}

static HRESULT evtx_dump_values(struct event_dump_step *s)
{
    struct evtx_record *r = &s->dump->record;
    if (is_shaped(s))
        return S_OK;
    s->elements = (s->event->schema->template_flags & EVENT_DUMP_USER_DATA) != 0;
    evtx_begin(r, s->elements ? "UserData" : "EventData");
    if (s->elements) {
        evtx_begin(r, "EventXML");
        evtx_attribute(r, "xmlns", "Event_NS");
    }
    return S_OK;
}

static void discard_values(struct event_dump_step *s)
{
    evtx_record_back(&s->dump->record, &s->before_values);
}

/* Returns the EVTX type whose values all readers show with the text that event_value_text returns. If no type
   qualifies, returns EVTX_TEXT. Signed numbers become strings, because existing readers (libevtx 20181227) show -3 as
   -32765. */
static enum evtx_type type_of(const struct value_type *t)
{
    static const struct {
        uint8_t in, out, own;
    } same[] = {
        /* for a value without an output type, the first row with its input type applies */
        {IN_TYPE_UINT8, OUT_TYPE_UNSIGNEDBYTE, EVTX_U8},   {IN_TYPE_UINT16, OUT_TYPE_UNSIGNEDSHORT, EVTX_U16},
        {IN_TYPE_UINT32, OUT_TYPE_UNSIGNEDINT, EVTX_U32},  {IN_TYPE_UINT32, OUT_TYPE_PID, EVTX_U32},
        {IN_TYPE_UINT32, OUT_TYPE_TID, EVTX_U32},          {IN_TYPE_UINT32, OUT_TYPE_HEXINT32, EVTX_HEX32},
        {IN_TYPE_UINT64, OUT_TYPE_UNSIGNEDLONG, EVTX_U64}, {IN_TYPE_UINT64, OUT_TYPE_HEXINT64, EVTX_HEX64},
        {IN_TYPE_BOOLEAN, OUT_TYPE_BOOLEAN, EVTX_BOOL},    {IN_TYPE_GUID, OUT_TYPE_GUID, EVTX_GUID},
        {IN_TYPE_HEXINT32, OUT_TYPE_HEXINT32, EVTX_HEX32}, {IN_TYPE_HEXINT64, OUT_TYPE_HEXINT64, EVTX_HEX64},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (same[i].in == t->in && (same[i].out == t->out || t->out == OUT_TYPE_NULL))
            return same[i].own;
    return EVTX_TEXT;
}

static void open_element(struct event_dump_step *s, const struct event_value *v, const char *otherwise)
{
    struct evtx_record *r = &s->dump->record;
    const char *name = v->property->name;
    if (s->elements && event_dump_is_element_name(name)) {
        evtx_begin(r, name);
        return;
    }
    evtx_begin(r, otherwise);
    evtx_attribute(r, "Name", name);
}

static void close_array(struct event_dump_step *s)
{
    if (!s->in_array)
        return;
    evtx_value(&s->dump->record, EVTX_TEXTS, s->dump->array.bytes, s->dump->array.size);
    evtx_end(&s->dump->record);
    s->in_array = false;
}

static HRESULT add_value(struct event_dump_step *s, const struct event_value *v, const char *text)
{
    struct evtx_record *r = &s->dump->record;
    const enum evtx_type type = event_schema_map(s->event->schema, v->property->map) ? EVTX_TEXT : type_of(&v->type);
    if (s->in_array) {
        const HRESULT hr = evtx_add_units(&s->dump->array, text);
        byte_buffer_u16(&s->dump->array, 0);
        return s->dump->array.failed ? E_OUTOFMEMORY : hr;
    }
    if (type == EVTX_BOOL) { /* any number except 0 is true, but readers may accept only 1 */
        uint8_t truth[4];
        put_u32(truth, get_u32(v->bytes) != 0);
        evtx_value(r, type, truth, sizeof truth);
    } else if (type != EVTX_TEXT) {
        evtx_value(r, type, v->bytes, v->size);
    } else {
        evtx_value_text(r, text);
    }
    return S_OK;
}

static HRESULT take_value(struct event_dump_step *s, const struct event_value *v)
{
    struct text_buffer *cell = &s->dump->cell;
    const bool shaped = is_shaped(s), insert = (shaped || s->event->schema->event_message) && v->depth == 0;
    cell->length = 0;
    HRESULT hr = event_value_text(s->event->schema, v, cell);
    if (SUCCEEDED(hr) && cell->failed)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    const char *text = cell->length ? cell->text : "";
    if (insert)
        event_inserts_add(&s->dump->inserts, v->index, text);
    if (shaped)
        return S_OK;
    if (s->in_array)
        return add_value(s, v, text);
    open_element(s, v, "Data");
    hr = add_value(s, v, text);
    evtx_end(&s->dump->record);
    return hr;
}

static HRESULT evtx_dump_value(void *context, enum event_step step, const struct event_value *v)
{
    struct event_dump_step *s = context;
    const bool structs = (v->property->flags & PROPERTY_STRUCT) != 0;
    if (!event_property_is_shown(v->property))
        return S_OK;
    if (step == STEP_VALUE)
        return take_value(s, v);
    if (is_shaped(s))
        return S_OK;
    if (step == STEP_STRUCT && s->depth < EVENT_DUMP_DEPTH) {
        open_element(s, v, "ComplexData");
        s->depth++;
    } else if (step == STEP_STRUCT_END && v->depth < s->depth) {
        s->depth--;
        evtx_end(&s->dump->record);
    } else if (step == STEP_ARRAY && !structs && v->elements) {
        open_element(s, v, "Data");
        s->in_array = true;
        s->dump->array.size = 0;
    } else if (step == STEP_ARRAY_END && !structs) {
        close_array(s);
    }
    return S_OK;
}

/* Adds an element of the document with its content. The parser limits the depth of the document. */
static void add_document(struct evtx_record *r, const struct xml_document *d, xmlNodePtr e)
{
    evtx_begin(r, (const char *)e->name);
    for (xmlNsPtr ns = e->nsDef; ns; ns = ns->next)
        if (!ns->prefix)
            evtx_attribute(r, "xmlns", ns->href ? (const char *)ns->href : "");
    for (xmlAttrPtr a = e->properties; a; a = a->next) {
        char *text;
        const HRESULT hr = xml_element_attribute(d, e, (const char *)a->name, &text);
        if (SUCCEEDED(hr))
            evtx_attribute_text(r, (const char *)a->name, text ? text : "");
        else
            evtx_record_fail(r, hr);
        memory_free(text);
    }
    for (xmlNodePtr n = e->children; n; n = n->next)
        if (n->type == XML_ELEMENT_NODE)
            add_document(r, d, n);
        else if ((n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && !xmlIsBlankNode(n))
            evtx_value_text(r, (const char *)n->content);
    evtx_end(r);
}

/* Adds UserData as the manifest defines it or, if that is not valid XML, as text. */
static void add_user_data(struct event_dump_step *s)
{
    struct text_buffer text = {0};
    struct xml_document d;
    struct evtx_record *r = &s->dump->record;
    text_buffer_add(&text, "<UserData>");
    event_inserts_add_user_data(&s->dump->inserts, s->event->schema, &text);
    text_buffer_add(&text, "</UserData>");
    const HRESULT hr = text.failed ? E_OUTOFMEMORY : xml_document_open(text.text, text.length, &d);
    if (SUCCEEDED(hr)) {
        add_document(r, &d, d.root);
        xml_document_close(&d);
    } else if (hr == E_OUTOFMEMORY) {
        evtx_record_fail(r, hr);
    } else {
        evtx_begin(r, "UserData");
        evtx_value_text(r, text.text);
        evtx_end(r);
    }
    text_buffer_free(&text);
}

/* Adds the elements that the event schema defines for WPP messages. */
static void add_debug_data(struct event_dump_step *s)
{
    const struct tmf_message *m = s->event->schema->message;
    struct evtx_record *r = &s->dump->record;
    struct text_buffer *cell = &s->dump->cell;
    const struct {
        const char *element, *text;
    } reported[] = {{"FlagsName", m->flags},           {"LevelName", m->level},    {"Component", m->component},
                    {"SubComponent", m->subcomponent}, {"FileLine", m->type_name}, {"Function", m->function}};
    uint32_t sequence;
    evtx_begin(r, "DebugData");
    if (tmf_sequence(s->event->record, &sequence)) {
        uint8_t bytes[4];
        put_u32(bytes, sequence);
        evtx_element_value(r, "SequenceNumber", EVTX_U32, bytes, sizeof bytes);
    }
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++)
        if (reported[i].text && *reported[i].text)
            evtx_element(r, reported[i].element, reported[i].text);
    cell->length = 0;
    const HRESULT hr = dumped_event_sentence(s->event, cell);
    if (SUCCEEDED(hr)) {
        evtx_begin(r, "Message");
        evtx_value_text(r, cell->length ? cell->text : "");
        evtx_end(r);
    }
    if (hr == E_OUTOFMEMORY || cell->failed)
        evtx_record_fail(r, E_OUTOFMEMORY);
    evtx_end(r);
}

static void end_values(struct event_dump_step *s)
{
    struct evtx_record *r = &s->dump->record;
    if (is_shaped(s)) {
        add_user_data(s);
        return;
    }
    close_array(s); /* the data are truncated inside an array or struct */
    for (; s->depth; s->depth--)
        evtx_end(r);
    if (s->elements)
        evtx_end(r);
    evtx_end(r);
    if (s->event->schema->message)
        add_debug_data(s);
}

static void evtx_dump_undecoded(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code,
                                const char *reason)
{
    struct evtx_record *r = &s->dump->record;
    uint8_t number_[4];
    if (code == ERROR_NOT_FOUND) { /* tracerpt writes unknown events in this form */
        evtx_element_value(r, "BinaryEventData", EVTX_BINARY, bytes, size);
        return;
    }
    put_u32(number_, code);
    evtx_begin(r, "ProcessingErrorData");
    evtx_element_value(r, "ErrorCode", EVTX_U32, number_, sizeof number_);
    evtx_begin(r, "DataItemName");
    evtx_value_text(r, reason);
    evtx_end(r);
    evtx_element_value(r, "EventPayload", EVTX_BINARY, bytes, size);
    evtx_end(r);
}

/* ---- rendering information and the record ---- */

static void add_message(struct event_dump_step *s)
{
    struct text_buffer *cell = &s->dump->cell;
    const struct event_schema *schema = s->event->schema;
    cell->length = 0;
    if (!schema->message || dumped_event_sentence(s->event, cell) != S_OK)
        event_inserts_add_message(&s->dump->inserts, schema, cell);
    evtx_begin(&s->dump->record, "Message");
    evtx_value_text(&s->dump->record, cell->length ? cell->text : "");
    evtx_end(&s->dump->record);
    if (cell->failed)
        evtx_record_fail(&s->dump->record, E_OUTOFMEMORY);
}

static void add_rendering(struct event_dump_step *s)
{
    struct evtx_record *r = &s->dump->record;
    const struct event_schema *schema = s->event->schema;
    const struct event_schema *mof = schema && schema->source == SCHEMA_MOF ? schema : NULL;
    const GUID *guid = mof ? &mof->event : &s->event->record->EventHeader.ProviderId;
    evtx_begin(r, "RenderingInfo");
    evtx_attribute(r, "Culture", "en-US");
    if (schema) {
        const char *name = mof ? mof->task_name : schema->event_name;
        if (schema->event_message)
            add_message(s);
        evtx_element(r, "Level", schema->level_name);
        evtx_element(r, "Task", mof ? NULL : schema->task_name);
        evtx_element(r, "Opcode", schema->opcode_name);
        evtx_element(r, "Channel", schema->channel_name);
        evtx_element(r, "Provider", schema->provider_name);
        if (schema->keyword_count)
            evtx_begin(r, "Keywords");
        for (size_t i = 0; i < schema->keyword_count; i++)
            evtx_element(r, "Keyword", schema->keyword_names[i]);
        if (schema->keyword_count)
            evtx_end(r);
        if (name) {
            evtx_begin(r, "EventName");
            evtx_attribute(r, "xmlns", EVENT_DUMP_TRACE_SPACE);
            evtx_constant(r, name);
            evtx_end(r);
        }
    }
    evtx_end(r);
    evtx_begin(r, "ExtendedTracingInfo");
    evtx_attribute(r, "xmlns", EVENT_DUMP_TRACE_SPACE);
    evtx_element_value(r, "EventGuid", EVTX_GUID, guid, sizeof *guid);
    evtx_end(r);
}

/* Shortens an event that does not fit into a record: writes its source, its time, and as much of its data as fits. */
static void evtx_dump_shorten(struct event_dump_step *s)
{
    const EVENT_RECORD *e = s->event->record;
    struct evtx_record *r = &s->dump->record;
    const size_t size = e->UserDataLength < MOST_PAYLOAD ? e->UserDataLength : MOST_PAYLOAD;
    add_start(s);
    r->longest = MOST_TEXT;
    add_system(s, r);
    evtx_dump_undecoded(s, e->UserData, size, CODE_OF_LENGTH,
                        size == e->UserDataLength
                            ? "the event exceeds the 64 KB of an event log record"
                            : "the event exceeds the 64 KB of an event log record (only its first bytes follow)");
    evtx_end(r);
    s->too_long = true;
}

static HRESULT evtx_dump_tail(struct event_dump_step *s)
{
    struct event_dump *d = s->dump;
    const int64_t time = s->event->record->EventHeader.TimeStamp.QuadPart;
    add_rendering(s);
    evtx_end(&d->record);
    HRESULT hr = evtx_writer_add(d->log, &d->record, time, &d->text);
    if (hr == S_FALSE) {
        evtx_dump_shorten(s);
        hr = evtx_writer_add(d->log, &d->record, time, &d->text);
    }
    return hr;
}

const struct event_dump_writer event_dump_evtx = {.begin = evtx_dump_begin,
                                                  .head = evtx_dump_head,
                                                  .values = evtx_dump_values,
                                                  .value = evtx_dump_value,
                                                  .end_values = end_values,
                                                  .discard_values = discard_values,
                                                  .undecoded = evtx_dump_undecoded,
                                                  .tail = evtx_dump_tail,
                                                  .end = end,
                                                  .written = written};
