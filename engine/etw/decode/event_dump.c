/* SPDX-License-Identifier: MIT */
/* The stream of a dump: events through a form into the encoding, and what happens to those that cannot be decoded. */
#include "engine/base/memory.h"
#include "engine/base/text_ansi.h"
#include "engine/etw/decode/event_dump_form.h"
#include "engine/etw/tmf.h"

#include <string.h>

enum {
    WRITE_BYTES = 256 * 1024, /* at least so many are written at a time */
    CODE_OF_DATA = 15005,     /* ERROR_EVT_INVALID_EVENT_DATA */
};

static HRESULT write_out(struct event_dump *d)
{
    const struct event_dump_options *o = &d->options;
    HRESULT hr = d->text.failed ? error_set(E_OUTOFMEMORY, "out of memory for a dump of events") : S_OK;
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
        return error_set(E_OUTOFMEMORY, "out of memory for a dump of events");
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

/* The values, or the bytes that are none. *decoded: all fit. */
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
        if (d->writer->take_back)
            d->writer->take_back(s);
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

/* ---- what forms share ---- */

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
        return NULL;
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

static HRESULT take_nothing(void *context, enum event_step step, const struct event_value *value)
{
    (void)context, (void)step, (void)value;
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
