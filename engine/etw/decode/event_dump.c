/* SPDX-License-Identifier: MIT */
/* Writes events to files. This file contains the output stream for all formats and encodings, the handling of events
   that cannot be decoded, the strings to insert into messages, and the CSV format. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/text_put.h"
#include "engine/base/xml_text.h"
#include "engine/etw/decode/event_dump_form.h"
#include "engine/etw/decode/manifest/message_tables.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_names.h"
#include "engine/etw/tmf.h"

#include <string.h>

enum {
    WRITE_BYTES = 256 * 1024, /* minimum size of a write */
    CODE_OF_DATA = 15005,     /* ERROR_EVT_INVALID_EVENT_DATA */
};

static HRESULT write_out(struct event_dump *d)
{
    const struct event_dump_options *o = &d->options;
    HRESULT hr = d->text.failed ? error_set(E_OUTOFMEMORY, "cannot write the events: out of memory") : S_OK;
    if (FAILED(hr) || d->text.length == 0)
        return hr;
    if (o->encoding == EVENT_DUMP_UTF16) {
        static const uint8_t mark[] = {0xFF, 0xFE};
        WCHAR *wide;
        size_t units;
        hr = d->begun ? S_OK : o->write(o->context, mark, sizeof mark);
        if (SUCCEEDED(hr))
            hr = text_to_utf16(d->text.text, &wide, &units);
        if (SUCCEEDED(hr)) {
            hr = o->write(o->context, wide, units * sizeof *wide);
            memory_free(wide);
        }
    } else if (o->encoding == EVENT_DUMP_ANSI) {
        char *ansi;
        size_t size;
        hr = text_to_ansi(d->text.text, &ansi, &size);
        if (SUCCEEDED(hr)) {
            hr = o->write(o->context, ansi, size);
            memory_free(ansi);
        }
    } else {
        hr = o->write(o->context, d->text.text, d->text.length);
    }
    d->begun = true;
    d->text.length = 0;
    return hr;
}

static void dump_free(struct event_dump *d)
{
    text_buffer_free(&d->text);
    text_buffer_free(&d->cell);
    event_inserts_free(&d->inserts);
    evtx_writer_free(d->log);
    evtx_record_free(&d->record);
    memory_free(d->array.bytes);
    memory_free(d);
}

static const struct event_dump_writer *const forms[] = {
    [EVENT_DUMP_CSV] = &event_dump_csv, [EVENT_DUMP_XML] = &event_dump_xml, [EVENT_DUMP_EVTX] = &event_dump_evtx};

HRESULT event_dump_create(const struct event_dump_options *options, struct event_dump **out)
{
    struct event_dump *d = memory_zero(1, sizeof *d);
    *out = NULL;
    if (!d)
        return error_set(E_OUTOFMEMORY, "cannot write the events: out of memory");
    d->options = *options;
    d->writer = forms[options->form];
    HRESULT hr = d->writer->begin(d);
    if (SUCCEEDED(hr))
        hr = write_out(d);
    if (FAILED(hr)) {
        dump_free(d);
        return hr;
    }
    *out = d;
    return S_OK;
}

/* Adds the values, or the bytes that cannot be decoded. *decoded is true if all values could be read. */
static HRESULT add_values(struct event_dump_step *s, bool *decoded)
{
    struct event_dump *d = s->dump;
    const struct event_data data = event_data_of(s->event->record, s->event->pointer_size);
    const size_t before = d->text.length;
    size_t used = 0;
    HRESULT hr = d->writer->values(s);
    if (SUCCEEDED(hr) || hr == EVENT_DATA_INVALID)
        hr = event_values_walk(s->event->schema, &data, d->writer->value, s, &used);
    *decoded = SUCCEEDED(hr);
    if (FAILED(hr) && hr != EVENT_DATA_INVALID)
        return hr;
    if (*decoded || d->options.lenient) {
        d->writer->end_values(s);
    } else {
        d->text.length = before;
        if (d->writer->discard_values)
            d->writer->discard_values(s);
        used = 0;
    }
    used = used < data.size ? used : data.size;
    if (!*decoded)
        d->writer->undecoded(s, data.bytes + used, data.size - used, CODE_OF_DATA, error_text(hr));
    return S_OK;
}

HRESULT event_dump_add(struct event_dump *d, const struct dumped_event *e, bool *decoded)
{
    struct event_dump_step s = {.dump = d, .event = e};
    HRESULT hr = S_OK;
    *decoded = false;
    d->writer->head(&s);
    if (e->schema)
        hr = add_values(&s, decoded);
    else
        d->writer->undecoded(&s, e->record->UserData, e->record->UserDataLength, ERROR_NOT_FOUND, e->reason);
    if (FAILED(hr))
        return hr;
    hr = d->writer->tail(&s);
    if (FAILED(hr))
        return hr;
    *decoded = *decoded && !s.too_long;
    return d->text.length >= WRITE_BYTES || d->text.failed ? write_out(d) : S_OK;
}

HRESULT event_dump_close(struct event_dump *d)
{
    if (!d)
        return S_OK;
    d->writer->end(d);
    HRESULT hr = write_out(d);
    if (SUCCEEDED(hr) && d->writer->written)
        hr = d->writer->written(d);
    dump_free(d);
    return hr;
}

/* ---- shared by the formats ---- */

bool event_dump_is_element_name(const char *name)
{
    bool first = true;
    for (const char *c = name; *c; c++, first = false) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && (first || !((*c >= '0' && *c <= '9') || *c == '-' || *c == '.')))
            return false;
    }
    return !first;
}

const char *dumped_event_name(const struct dumped_event *e, struct text_buffer *room)
{
    const struct event_schema *s = e->schema;
    if (!s)
        return provider_known_name(&e->record->EventHeader.ProviderId);
    if (s->source == SCHEMA_MOF && s->task_name)
        return s->task_name;
    if (s->source != SCHEMA_TRACE_LOGGING || !s->event_name)
        return s->provider_name;
    if (!s->provider_name)
        return s->event_name;
    room->length = 0;
    text_buffer_add(room, s->provider_name);
    text_buffer_add(room, "/");
    text_buffer_add(room, s->event_name);
    return room->failed ? s->event_name : room->text;
}

HRESULT dumped_event_sentence(const struct dumped_event *e, struct text_buffer *out)
{
    const size_t before = out->length;
    const HRESULT hr = tmf_sentence(e->schema, e->record, e->pointer_size, e->gmt, out);
    if (FAILED(hr))
        out->length = before;
    return hr;
}

static HRESULT take_nothing(void *context, enum event_step step, const struct event_value *csv_add_value)
{
    (void)context, (void)step, (void)csv_add_value;
    return S_OK;
}

HRESULT dumped_event_decodes(const struct dumped_event *e, bool *decoded)
{
    HRESULT hr = S_OK;
    if (e->schema) {
        const struct event_data data = event_data_of(e->record, e->pointer_size);
        hr = event_values_walk(e->schema, &data, take_nothing, NULL, NULL);
    }
    *decoded = e->schema && SUCCEEDED(hr);
    return hr == EVENT_DATA_INVALID ? S_OK : hr;
}

const void *dumped_event_item(const struct dumped_event *e, uint16_t type, size_t size)
{
    const EVENT_RECORD *r = e->record;
    for (uint16_t i = 0; i < r->ExtendedDataCount; i++)
        if (r->ExtendedData[i].ExtType == type && r->ExtendedData[i].DataSize >= size)
            return (const void *)(uintptr_t)r->ExtendedData[i].DataPtr;
    return NULL;
}

void event_inserts_clear(struct event_inserts *inserts)
{
    inserts->texts.length = 0;
    inserts->last = 0;
    memset(inserts->there, 0, sizeof inserts->there);
}

void event_inserts_free(struct event_inserts *inserts)
{
    text_buffer_free(&inserts->texts);
}

void event_inserts_add(struct event_inserts *inserts, size_t property, const char *text)
{
    if (property >= EVENT_INSERTS_MOST || inserts->texts.failed)
        return;
    if (inserts->last == property + 1) {
        inserts->texts.length--; /* removes the NUL that ends the text */
        text_buffer_add(&inserts->texts, ", ");
    } else {
        inserts->starts[property] = inserts->texts.length;
        inserts->there[property] = true;
        inserts->last = property + 1;
    }
    text_buffer_add(&inserts->texts, text);
    text_buffer_add_n(&inserts->texts, "", 1);
}

static const char *insert_of(const struct event_inserts *inserts, size_t property)
{
    return property < EVENT_INSERTS_MOST && inserts->there[property] && !inserts->texts.failed
               ? inserts->texts.text + inserts->starts[property]
               : NULL;
}

void event_inserts_add_message(const struct event_inserts *inserts, const struct event_schema *schema,
                               struct text_buffer *out)
{
    const char *texts[EVENT_INSERTS_MOST];
    if (!schema->event_message)
        return;
    for (size_t i = 0; i < EVENT_INSERTS_MOST; i++)
        texts[i] = insert_of(inserts, i);
    message_text_add(out, schema->event_message, texts, EVENT_INSERTS_MOST, NULL, NULL);
    out->failed = out->failed || inserts->texts.failed;
}

void event_inserts_add_user_data(const struct event_inserts *inserts, const struct event_schema *schema,
                                 struct text_buffer *out)
{
    const char *from = schema->user_data;
    for (const char *at = from; (at = strchr(at, '%')) != NULL;) {
        size_t number = 0, digits = 1;
        for (; digits <= 5 && at[digits] >= '0' && at[digits] <= '9'; digits++)
            number = 10 * number + (size_t)(at[digits] - '0');
        const char *text = number ? insert_of(inserts, number - 1) : NULL;
        if (text || (number && number <= schema->top_level)) { /* if the value is missing, its %n is removed */
            text_buffer_add_n(out, from, (size_t)(at - from));
            xml_add_escaped(out, text ? text : "", true);
            from = at + digits;
        }
        at += digits;
    }
    text_buffer_add(out, from);
    out->failed = out->failed || inserts->texts.failed;
}

/* ---- CSV: a line per event with tracerpt's columns, then the values ---- */

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

static char *put_decimal(char *at, uint64_t number)
{
    *at++ = ',';
    return text_put_u64(at, number);
}

static char *put_hex(char *at, uint64_t number, unsigned digits)
{
    *at++ = ',';
    return text_put_hex(at, number, digits);
}

/* Returns whether readers treat the text as one cell although it is not quoted. */
static bool is_plain_cell(const char *text, size_t size)
{
    const char *const end = text + size;
    for (const char *c = text; c < end; c++)
        if ((unsigned char)*c <= ',' && ((unsigned char)*c < ' ' || *c == '"' || *c == ','))
            return false;
    return size == 0 || (text[0] != ' ' && end[-1] != ' ');
}

/* Adds a cell, quoted if readers would otherwise split it. */
static void add_cell(struct text_buffer *b, const char *text, size_t size)
{
    if (is_plain_cell(text, size))
        text_buffer_add_n(b, text, size);
    else
        dump_quoted(b, text, size);
}

static uint64_t milliseconds(const struct dumped_event *e, uint32_t units)
{
    return (uint64_t)units * e->timer_resolution / 10000;
}

/* Writes the instance IDs, two header items that most events lack. */
static char *put_instance(char *at, const struct dumped_event *e)
{
    uint32_t numbers[2];
    const void *item = dumped_event_item(e, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof numbers);
    if (!item)
        return (char *)memcpy(at, ",,", 2) + 2;
    memcpy(numbers, item, sizeof numbers);
    return put_decimal(put_decimal(at, numbers[0]), numbers[1]);
}

static char *put_related(char *at, const struct dumped_event *e)
{
    GUID related;
    const void *item = dumped_event_item(e, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof related);
    *at++ = ',';
    if (!item)
        return at;
    memcpy(&related, item, sizeof related);
    return text_put_guid(at, &related);
}

enum { HEAD_CELLS = 20, HEAD_MOST = HEAD_CELLS * (1 + TEXT_PUT_DECIMAL) + 2 * (1 + TEXT_PUT_GUID) };

/* Adds the numbers in the header. The text of each number has a maximum length, so the texts are collected in a local
   buffer first. */
static void add_head_numbers(struct text_buffer *b, const struct dumped_event *e)
{
    const EVENT_RECORD *r = e->record;
    const EVENT_HEADER *h = &r->EventHeader;
    const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
    char text[HEAD_MOST], *at = put_decimal(text, d->Id);
    at = put_decimal(at, d->Version);
    at = put_decimal(at, d->Channel);
    at = put_decimal(at, d->Level);
    at = put_decimal(at, d->Opcode);
    at = put_decimal(at, d->Task);
    at = put_hex(at, d->Keyword, 16);
    at = put_hex(at, h->ProcessId, 8);
    at = put_hex(at, h->ThreadId, 8);
    at = put_decimal(at, event_dump_processor(r));
    at = put_instance(at, e);
    *at++ = ',';
    at = text_put_guid(at, &h->ActivityId);
    at = put_related(at, e);
    at = put_decimal(at, (uint64_t)h->TimeStamp.QuadPart);
    at = put_decimal(at, milliseconds(e, h->KernelTime));
    at = put_decimal(at, milliseconds(e, h->UserTime));
    text_buffer_add_n(b, text, (size_t)(at - text));
}

static void csv_add_head(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text;
    const struct dumped_event *e = s->event;
    const EVENT_HEADER *h = &e->record->EventHeader;
    const char *name = dumped_event_name(e, &s->dump->cell);
    if (name)
        add_cell(b, name, strlen(name));
    else
        text_buffer_add_guid(b, &h->ProviderId);
    comma(b);
    if (e->schema && e->schema->opcode_name)
        add_cell(b, e->schema->opcode_name, strlen(e->schema->opcode_name));
    else
        text_buffer_add_u64(b, h->EventDescriptor.Opcode, 1);
    add_head_numbers(b, e);
}

/* Adds a WPP message's text and sequence number before its arguments. */
static HRESULT csv_begin_values(struct event_dump_step *s)
{
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    uint32_t number;
    if (!s->event->schema->message)
        return S_OK;
    cell->length = 0;
    const HRESULT hr = dumped_event_sentence(s->event, cell);
    comma(b);
    dump_quoted(b, cell->length ? cell->text : "", cell->length);
    comma(b);
    if (tmf_sequence(s->event->record, &number))
        text_buffer_add_u64(b, number, 1);
    return hr;
}

static void end_values(struct event_dump_step *s)
{
    (void)s;
}

/* Returns whether the value is a string. Strings are always quoted, so that readers do not mistake them for numbers. */
static bool is_text(const struct value_type *t)
{
    return t->in == IN_TYPE_UNICODESTRING || t->in == IN_TYPE_ANSISTRING || t->in == IN_TYPE_MANIFEST_COUNTEDSTRING ||
           t->in == IN_TYPE_MANIFEST_COUNTEDANSISTRING ||
           (t->in >= IN_TYPE_COUNTEDSTRING && t->in <= IN_TYPE_NONNULLTERMINATEDANSISTRING);
}

/* Returns whether the value's text consists only of digits, letters, and the punctuation of numbers, times and
   GUIDs. */
static bool never_needs_quotes(const struct event_schema *schema, const struct event_value *v)
{
    static const bool plain_in[] = {
        [IN_TYPE_INT8] = true,    [IN_TYPE_UINT8] = true,    [IN_TYPE_INT16] = true,    [IN_TYPE_UINT16] = true,
        [IN_TYPE_INT32] = true,   [IN_TYPE_UINT32] = true,   [IN_TYPE_INT64] = true,    [IN_TYPE_UINT64] = true,
        [IN_TYPE_FLOAT] = true,   [IN_TYPE_DOUBLE] = true,   [IN_TYPE_BOOLEAN] = true,  [IN_TYPE_GUID] = true,
        [IN_TYPE_POINTER] = true, [IN_TYPE_FILETIME] = true, [IN_TYPE_HEXINT32] = true, [IN_TYPE_HEXINT64] = true,
    };
    const struct value_type *t = &v->type;
    return t->in < sizeof plain_in && plain_in[t->in] && t->out != OUT_TYPE_STRING && t->out != OUT_TYPE_WIN32ERROR &&
           t->out != OUT_TYPE_HRESULT && t->out != OUT_TYPE_NTSTATUS && !event_schema_map(schema, v->property->map);
}

/* Adds a value directly to the output. If the written text needs quotes, or contains quotes or control characters, the
   function copies the text and writes it again in the correct form. */
static HRESULT csv_add_value(void *context, enum event_step step, const struct event_value *v)
{
    struct event_dump_step *s = context;
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    if (step != STEP_VALUE || !event_property_is_shown(v->property))
        return S_OK;
    const bool text = is_text(&v->type);
    const size_t before = b->length;
    text_buffer_add_n(b, ",\"", text ? 2 : 1);
    const size_t from = b->length;
    const HRESULT hr = event_value_text(s->event->schema, v, b);
    if (FAILED(hr) || b->failed) {
        b->length = before;
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    }
    const size_t size = b->length - from;
    if (text && dump_is_quotable(b->text + from, size)) {
        text_buffer_add_n(b, "\"", 1);
        return S_OK;
    }
    if (!text && (never_needs_quotes(s->event->schema, v) || is_plain_cell(b->text + from, size)))
        return S_OK;
    cell->length = 0;
    text_buffer_add_n(cell, b->text + from, size);
    b->length = before + 1;
    if (!cell->failed)
        dump_quoted(b, cell->text, size);
    return cell->failed ? E_OUTOFMEMORY : S_OK;
}

/* Adds a cell for each printable string in the data. */
static void csv_add_strings(struct event_dump_step *s, const uint8_t *bytes, size_t size)
{
    struct text_buffer *b = &s->dump->text, *cell = &s->dump->cell;
    struct data_string found;
    for (size_t at = 0; data_string_next(bytes, size, &at, &found);) {
        cell->length = 0;
        data_string_add(&found, cell);
        comma(b);
        if (!cell->failed)
            dump_quoted(b, cell->text, cell->length);
    }
}

static void csv_add_undecoded(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code,
                              const char *reason)
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
    csv_add_strings(s, bytes, size);
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
                                                 .head = csv_add_head,
                                                 .values = csv_begin_values,
                                                 .value = csv_add_value,
                                                 .end_values = end_values,
                                                 .undecoded = csv_add_undecoded,
                                                 .tail = tail,
                                                 .end = end};
