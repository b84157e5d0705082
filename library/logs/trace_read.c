/* SPDX-License-Identifier: MIT */
/* Reads event traces for programs: their events in time order, decoded with the same schemas as in the command-line
   tools. */
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_names.h"
#include "engine/etw/trace_input.h"
#include "library/logs/library.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WARNINGS = 100 };
#define NO_TEXT SIZE_MAX

/* Offsets in `strings`. The offsets become pointers when the event is complete, because the buffer moves when it
   grows. */
struct field_places {
    size_t name, text;
};

struct library_trace {
    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct openpla_trace_info info;
    struct texts warnings; /* warnings about definitions */
    struct text_buffer warning;
    struct openpla_event event;
    struct openpla_field *fields;
    struct field_places *places;
    size_t field_capacity, place_capacity;
    struct text_buffer strings; /* strings of the current event, each with its NUL */
    struct text_buffer room;
    const struct event_schema *schema;
    const struct found_schema *found; /* the current event's schema; the event's names point into it */
    bool begun;
};

static void trace_free(struct library_trace *t)
{
    if (t->found)
        found_schema_release(t->schemas.all, t->found);
    trace_inputs_close(&t->inputs);
    trace_schemas_close(&t->schemas);
    texts_free(&t->warnings);
    text_buffer_free(&t->warning);
    text_buffer_free(&t->strings);
    text_buffer_free(&t->room);
    memory_free(t->fields);
    memory_free(t->places);
    memory_free(t);
}

static void take_warning(void *context, const char *text)
{
    struct library_trace *t = context;
    if (t->warnings.count < MOST_WARNINGS)
        (void)texts_add(&t->warnings, text); /* a warning that does not fit into memory does not stop the reading */
}

#define OPEN "openpla_trace_open"

static HRESULT trace_options_take(const struct openpla_trace_options *given, struct openpla_trace_options *own)
{
    HRESULT hr = library_take_options(given, own, sizeof *own, OPEN);
    if (SUCCEEDED(hr) && own->manifest_count != 0)
        hr = library_check_pointer(own->manifests, OPEN, "options.manifests");
    for (size_t i = 0; SUCCEEDED(hr) && i < own->manifest_count; i++)
        hr = library_check_text(own->manifests[i], false, OPEN, "options.manifests");
    if (SUCCEEDED(hr))
        hr = library_check_text(own->programs, true, OPEN, "options.programs");
    if (SUCCEEDED(hr))
        hr = library_check_text(own->formats, true, OPEN, "options.formats");
    if (SUCCEEDED(hr))
        hr = library_check_text(own->format_folders, true, OPEN, "options.format_folders");
    if (SUCCEEDED(hr) && own->begin > own->end)
        hr = error_set(E_INVALIDARG, OPEN ": 'options.begin': is after the end");
    return hr;
}

static HRESULT trace_begin(struct library_trace *t, const struct openpla_trace_options *options)
{
    char *programs = (char *)(uintptr_t)options->programs;
    const struct trace_knowledge known = {
        .manifests = {.count = options->manifest_count, .items = (char **)(uintptr_t)options->manifests},
        .programs = {.count = programs != NULL, .items = &programs},
        .formats = options->formats,
        .format_folders = options->format_folders,
        .gmt = true,
        .warn = take_warning,
        .warn_context = t};
    HRESULT hr = trace_schemas_open(&known, &t->schemas);
    if (FAILED(hr))
        return hr;
    t->inputs.schemas = &t->schemas;
    if (options->begin != 0 || options->end != 0) {
        t->inputs.ranged = true;
        t->inputs.from = options->begin;
        t->inputs.to = options->end;
    }
    const struct etl_log *log = etl_reader_log(t->inputs.items[0].reader);
    t->info = (struct openpla_trace_info){.path = t->inputs.items[0].path,
                                          .session = log->logger_name,
                                          .begin = log->start_utc,
                                          .end = log->end_utc,
                                          .events_lost = t->inputs.events_lost,
                                          .processors = log->processors,
                                          .pointer_size = log->pointer_size};
    for (size_t i = 0; i < t->inputs.count; i++)
        t->info.buffers_lost += etl_reader_log(t->inputs.items[i].reader)->buffers_lost;
    return S_OK;
}

openpla_result openpla_trace_open(const char *path, const struct openpla_trace_options *options, openpla_trace **trace)
{
    struct openpla_trace_options own = {0};
    void *handle = NULL;
    HRESULT hr = library_check_pointer(trace, OPEN, "trace");
    if (SUCCEEDED(hr)) {
        *trace = NULL;
        hr = library_check_text(path, false, OPEN, "path");
    }
    if (SUCCEEDED(hr))
        hr = trace_options_take(options, &own);
    if (FAILED(hr))
        return library_result(hr);
    struct library_trace *t = memory_zero(1, sizeof *t);
    if (!t)
        return library_result(error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path));
    char *name = (char *)(uintptr_t)path;
    const struct texts one = {.count = 1, .items = &name};
    hr = trace_inputs_open(&t->inputs, &one);
    if (SUCCEEDED(hr))
        hr = trace_begin(t, &own);
    if (SUCCEEDED(hr))
        hr = handle_open(HANDLE_TRACE, t, &handle);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(library_name_error(hr, "open", path));
        trace_free(t);
        return library_result(error_restore(&why));
    }
    *trace = handle;
    return OPENPLA_OK;
}

openpla_result openpla_trace_close(openpla_trace *trace)
{
    void *object;
    const HRESULT hr = handle_enter(HANDLE_TRACE, trace, "openpla_trace_close", &object);
    if (FAILED(hr))
        return library_result(hr);
    handle_close(trace);
    trace_free(object);
    return OPENPLA_OK;
}

openpla_result openpla_trace_get_info(openpla_trace *trace, const struct openpla_trace_info **info)
{
    void *object;
    HRESULT hr = library_check_pointer(info, "openpla_trace_get_info", "info");
    if (SUCCEEDED(hr)) {
        *info = NULL;
        hr = handle_enter(HANDLE_TRACE, trace, "openpla_trace_get_info", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    *info = &((struct library_trace *)object)->info;
    handle_leave(trace);
    return OPENPLA_OK;
}

/* ---- fields ---- */

static size_t add_string(struct library_trace *t, const char *text)
{
    const size_t at = t->strings.length;
    if (!text)
        return NO_TEXT;
    text_buffer_add_n(&t->strings, text, strlen(text) + 1);
    return at;
}

static HRESULT add_field(struct library_trace *t, const struct openpla_field *field, size_t name, size_t text)
{
    const size_t at = t->event.field_count;
    void *fields = t->fields, *places = t->places;
    if (!memory_grow(&fields, &t->field_capacity, at + 1, sizeof *t->fields))
        return E_OUTOFMEMORY;
    t->fields = fields;
    if (!memory_grow(&places, &t->place_capacity, at + 1, sizeof *t->places))
        return E_OUTOFMEMORY;
    t->places = places;
    t->fields[at] = *field;
    t->places[at] = (struct field_places){name, text};
    t->event.field_count++;
    return S_OK;
}

/* Determines a field's kind from the value's type and text. For a map's name and for a hexadecimal number, the kind is
   OPENPLA_FIELD_TEXT. */
static void classify(const struct event_value *v, const char *text, struct openpla_field *field)
{
    const bool is_true = strcmp(text, "true") == 0;
    uint64_t number;
    int64_t shown;
    if (value_number(v->type.in, v->bytes, v->size, &number))
        field->integer = (int64_t)number;
    if (is_true || strcmp(text, "false") == 0) {
        field->kind = OPENPLA_FIELD_BOOL;
        field->integer = is_true;
    } else if (v->type.in == IN_TYPE_FLOAT || v->type.in == IN_TYPE_DOUBLE) {
        field->kind = OPENPLA_FIELD_REAL;
        field->real = strtod(text, NULL);
    } else if (v->type.in >= IN_TYPE_INT8 && v->type.in <= IN_TYPE_UINT64 && text[strspn(text, "-0123456789")] == 0 &&
               text_to_integer(text, &shown)) {
        const bool is_signed = (v->type.in - IN_TYPE_INT8) % 2 == 0;
        field->kind = is_signed || text[0] == '-' ? OPENPLA_FIELD_INTEGER : OPENPLA_FIELD_UNSIGNED;
        field->integer = shown;
    }
}

static HRESULT take_field(void *context, enum event_step step, const struct event_value *v)
{
    struct library_trace *t = context;
    const bool is_element = v->array && step != STEP_ARRAY;
    struct openpla_field field = {.kind = OPENPLA_FIELD_END};
    if (step == STEP_ARRAY_END || step == STEP_STRUCT_END)
        return add_field(t, &field, NO_TEXT, NO_TEXT);
    const size_t name = is_element ? NO_TEXT : add_string(t, v->property->name);
    if (step != STEP_VALUE) {
        field.kind = step == STEP_ARRAY ? OPENPLA_FIELD_ARRAY : OPENPLA_FIELD_STRUCT;
        return add_field(t, &field, name, NO_TEXT);
    }
    field.kind = OPENPLA_FIELD_TEXT;
    t->room.length = 0;
    const HRESULT hr = event_value_text(t->schema, v, &t->room);
    if (FAILED(hr))
        return hr;
    const char *text = t->room.length != 0 ? t->room.text : "";
    classify(v, text, &field);
    return add_field(t, &field, name, add_string(t, text));
}

/* Closes the arrays and structures that remain open when an event's data are truncated. */
static HRESULT close_fields(struct library_trace *t)
{
    const struct openpla_field end = {.kind = OPENPLA_FIELD_END};
    size_t open = 0;
    for (size_t i = 0; i < t->event.field_count; i++) {
        open += t->fields[i].kind == OPENPLA_FIELD_ARRAY || t->fields[i].kind == OPENPLA_FIELD_STRUCT;
        open -= t->fields[i].kind == OPENPLA_FIELD_END;
    }
    HRESULT hr = S_OK;
    for (; open > 0 && SUCCEEDED(hr); open--)
        hr = add_field(t, &end, NO_TEXT, NO_TEXT);
    return hr;
}

/* ---- events ---- */

struct event_strings {
    size_t provider_id, activity_id, message, reason;
};

static size_t add_guid_string(struct library_trace *t, const GUID *guid)
{
    const size_t at = t->strings.length;
    text_buffer_add_guid(&t->strings, guid);
    text_buffer_add_n(&t->strings, "", 1);
    return at;
}

static HRESULT decode(struct library_trace *t, const struct dumped_event *e, struct event_strings *at)
{
    HRESULT hr = S_OK;
    at->message = at->reason = NO_TEXT;
    t->schema = e->schema;
    if (!e->schema) {
        at->reason = add_string(t, e->reason ? e->reason : "unknown event");
        return S_OK;
    }
    if (e->schema->message) {
        t->room.length = 0;
        hr = dumped_event_sentence(e, &t->room);
        if (SUCCEEDED(hr))
            at->message = add_string(t, t->room.length ? t->room.text : "");
        else if (hr == EVENT_DATA_INVALID)
            hr = S_OK; /* `reason`, which is set below, explains it */
    }
    if (FAILED(hr))
        return hr;
    const struct event_data data = event_data_of(e->record, e->pointer_size);
    hr = event_values_walk(e->schema, &data, take_field, t, NULL);
    if (hr == EVENT_DATA_INVALID) {
        at->reason = add_string(t, error_text(hr));
        hr = close_fields(t);
    }
    return hr;
}

static uint32_t event_processor(const EVENT_RECORD *r)
{
    return r->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX ? r->BufferContext.ProcessorIndex
                                                                    : r->BufferContext.ProcessorNumber;
}

static const char *string_at(const struct library_trace *t, size_t at)
{
    return at == NO_TEXT ? NULL : t->strings.text + at;
}

static void event_complete(struct library_trace *t, const struct event_strings *at)
{
    t->event.provider_id = string_at(t, at->provider_id);
    t->event.activity_id = string_at(t, at->activity_id);
    t->event.message = string_at(t, at->message);
    t->event.reason = string_at(t, at->reason);
    for (size_t i = 0; i < t->event.field_count; i++) {
        t->fields[i].name = string_at(t, t->places[i].name);
        t->fields[i].text = string_at(t, t->places[i].text);
    }
    t->event.fields = t->fields;
}

static HRESULT take_event(struct library_trace *t, const struct trace_event *event)
{
    struct dumped_event e;
    struct event_strings at;
    HRESULT hr = trace_schemas_find(&t->schemas, event, &e, &t->found);
    if (FAILED(hr))
        return hr;
    const EVENT_HEADER *h = &e.record->EventHeader;
    const struct event_schema *s = e.schema;
    t->strings.length = 0;
    t->event = (struct openpla_event){.time = h->TimeStamp.QuadPart,
                                      .keywords = h->EventDescriptor.Keyword,
                                      .provider = s ? s->provider_name : provider_known_name(&h->ProviderId),
                                      .event = s ? s->event_name : NULL,
                                      .task = s ? s->task_name : NULL,
                                      .opcode_name = s ? s->opcode_name : NULL,
                                      .level_name = s ? s->level_name : NULL,
                                      .data = e.record->UserData,
                                      .data_size = e.record->UserDataLength,
                                      .process = h->ProcessId,
                                      .thread = h->ThreadId,
                                      .processor = event_processor(e.record),
                                      .id = h->EventDescriptor.Id,
                                      .task_number = h->EventDescriptor.Task,
                                      .version = h->EventDescriptor.Version,
                                      .channel = h->EventDescriptor.Channel,
                                      .level = h->EventDescriptor.Level,
                                      .opcode = h->EventDescriptor.Opcode};
    at.provider_id = add_guid_string(t, &h->ProviderId);
    at.activity_id = add_guid_string(t, &h->ActivityId);
    hr = decode(t, &e, &at);
    if (SUCCEEDED(hr) && (t->strings.failed || t->room.failed))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        event_complete(t, &at);
    return hr;
}

openpla_result openpla_trace_next(openpla_trace *trace, const struct openpla_event **event)
{
    void *object;
    struct trace_event next;
    HRESULT hr = library_check_pointer(event, "openpla_trace_next", "event");
    if (SUCCEEDED(hr)) {
        *event = NULL;
        hr = handle_enter(HANDLE_TRACE, trace, "openpla_trace_next", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_trace *t = object;
    if (t->found)
        found_schema_release(t->schemas.all, t->found);
    t->found = NULL;
    if (!t->begun)
        hr = trace_inputs_begin(&t->inputs);
    t->begun = t->begun || SUCCEEDED(hr);
    if (SUCCEEDED(hr))
        hr = trace_inputs_next(&t->inputs, &next);
    if (hr == S_OK)
        hr = take_event(t, &next);
    if (hr == S_OK)
        *event = &t->event;
    hr = library_name_error(hr, "read", t->info.path);
    if (t->strings.failed)
        text_buffer_free(&t->strings);
    if (t->room.failed)
        text_buffer_free(&t->room);
    handle_leave(trace);
    return library_result(hr);
}

/* ---- warnings ---- */

static void find_warning(struct library_trace *t, size_t index)
{
    t->warning.length = 0;
    for (size_t i = 0; i < t->inputs.count; i++) {
        const struct texts *warnings = &t->inputs.items[i].warnings;
        if (index < warnings->count) {
            text_buffer_format(&t->warning, "'%s': %s", t->inputs.items[i].path, warnings->items[index]);
            return;
        }
        index -= warnings->count;
    }
    if (index < t->warnings.count)
        text_buffer_add(&t->warning, t->warnings.items[index]);
}

openpla_result openpla_trace_get_warning(openpla_trace *trace, size_t index, const char **text)
{
    void *object;
    HRESULT hr = library_check_pointer(text, "openpla_trace_get_warning", "text");
    if (SUCCEEDED(hr)) {
        *text = NULL;
        hr = handle_enter(HANDLE_TRACE, trace, "openpla_trace_get_warning", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_trace *t = object;
    find_warning(t, index);
    if (t->warning.failed) {
        text_buffer_free(&t->warning);
        hr = error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory", t->info.path);
    } else if (t->warning.length == 0) {
        hr = S_FALSE;
    } else {
        *text = t->warning.text;
    }
    handle_leave(trace);
    return library_result(hr);
}
