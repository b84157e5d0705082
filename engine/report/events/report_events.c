/* SPDX-License-Identifier: MIT */
/* Reads traces once and passes each event to every event table, and to the dump of events_output. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/make/report_tables.h"

#include <string.h>

struct table_of {
    const struct schema_table *schema;
    struct report_table table;
};

struct report_events {
    struct report_events_make make;
    struct trace_schemas schemas;
    struct table_of *tables;
    size_t count;
    struct event_dump *dump;
    struct file *file; /* the draft of the dump; renamed when it is complete */
    char *draft;
    bool dumped; /* the draft is complete, but not renamed yet */
    uint64_t events;
    int64_t first, last;
    uint64_t since_asked; /* number of events since the last call of `seen` */
    bool (*seen)(void *context, uint64_t done);
    void *seen_context;
    uint64_t done;
};

HRESULT report_event_look(struct report_event *e, const struct dumped_event **out)
{
    HRESULT hr = S_OK;
    if (!e->looked)
        hr = trace_schemas_find(e->schemas, e->event, &e->dumped, &e->found);
    e->looked = SUCCEEDED(hr);
    *out = &e->dumped;
    return hr;
}

static void forget(struct report_event *e)
{
    found_schema_release(e->schemas->all, e->found);
}

/* ---- tables ---- */

static HRESULT count_tables(const struct report_events *e, size_t *count)
{
    *count = 0;
    for (size_t s = 0; s < e->make.schema->section_count; s++)
        for (size_t t = 0; t < e->make.schema->sections[s].count; t++) {
            const struct schema_table *table = &e->make.schema->sections[s].tables[t];
            *count += table->of_events && table->level <= e->make.level;
        }
    return S_OK;
}

static HRESULT create_tables(struct report_events *e, struct texts *warnings, struct texts *notes)
{
    size_t count;
    HRESULT hr = count_tables(e, &count);
    e->tables = SUCCEEDED(hr) ? memory_zero(count + 1, sizeof *e->tables) : NULL;
    if (!e->tables)
        return E_OUTOFMEMORY;
    for (size_t s = 0; s < e->make.schema->section_count; s++)
        for (size_t t = 0; t < e->make.schema->sections[s].count; t++) {
            const struct schema_section *section = &e->make.schema->sections[s];
            const struct schema_table *table = &section->tables[t];
            if (!table->of_events || table->level > e->make.level)
                continue;
            struct table_of *to = &e->tables[e->count];
            hr = event_table_create(
                &(struct report_table_make){e->make.schema, section, table, e->make.memory / count, warnings, notes},
                &to->table);
            if (FAILED(hr))
                return hr;
            to->schema = table;
            e->count++;
        }
    return S_OK;
}

/* ---- all events as XML ---- */

static HRESULT write_dump(void *context, const void *bytes, size_t size)
{
    struct report_events *e = context;
    return file_write(e->file, bytes, size);
}

static HRESULT open_dump(struct report_events *e)
{
    if (!e->make.events_output)
        return S_OK;
    e->draft = text_format("%s.new", e->make.events_output);
    HRESULT hr = e->draft ? report_draft_open(e->make.base, e->draft, &e->file) : E_OUTOFMEMORY;
    const struct event_dump_options options = {
        .form = EVENT_DUMP_XML, .encoding = EVENT_DUMP_UTF8, .lenient = true, .write = write_dump, .context = e};
    return SUCCEEDED(hr) ? event_dump_create(&options, &e->dump) : hr;
}

static HRESULT close_dump(struct report_events *e)
{
    if (!e->file)
        return S_OK;
    HRESULT hr = event_dump_close(e->dump);
    e->dump = NULL;
    file_close(e->file);
    e->file = NULL;
    e->dumped = SUCCEEDED(hr);
    return hr;
}

HRESULT report_events_keep(struct report_events *e)
{
    HRESULT hr = e->dumped ? file_rename(e->draft, e->make.events_output) : S_OK;
    e->dumped &= FAILED(hr);
    return hr;
}

HRESULT report_events_create(const struct report_events_make *make, struct texts *warnings, struct texts *notes,
                             struct report_events **out)
{
    struct report_events *e = memory_zero(1, sizeof *e);
    *out = NULL;
    if (!e)
        return E_OUTOFMEMORY;
    e->make = *make;
    HRESULT hr = trace_schemas_open(make->known, &e->schemas);
    if (SUCCEEDED(hr))
        hr = create_tables(e, warnings, notes);
    if (SUCCEEDED(hr))
        hr = open_dump(e);
    if (FAILED(hr))
        report_events_free(e);
    else
        *out = e;
    return hr;
}

/* ---- reading ---- */

static HRESULT report_events_take(void *context, const struct trace_event *event)
{
    enum { ASKED_EACH = 256 }; /* events */
    struct report_events *e = context;
    struct report_event one = {
        .event = event, .utc = event->record->EventHeader.TimeStamp.QuadPart, .schemas = &e->schemas};
    HRESULT hr = S_OK;
    if (!report_event_is_of_log(event->record)) {
        e->first = e->events == 0 || one.utc < e->first ? one.utc : e->first;
        e->last = e->events == 0 || one.utc > e->last ? one.utc : e->last;
        e->events++;
    }
    for (size_t i = 0; i < e->count && SUCCEEDED(hr); i++)
        hr = e->tables[i].table.kind->event(e->tables[i].table.state, &one);
    if (SUCCEEDED(hr) && e->dump) {
        const struct dumped_event *dumped;
        bool decoded;
        hr = report_event_look(&one, &dumped);
        if (SUCCEEDED(hr))
            hr = event_dump_add(e->dump, dumped, &decoded);
    }
    if (SUCCEEDED(hr) && !one.looked) /* the event may define other events that a table decodes later */
        hr = trace_schemas_learn(&e->schemas, event);
    forget(&one);
    if (SUCCEEDED(hr) && ++e->since_asked >= ASKED_EACH) {
        e->since_asked = 0;
        hr = e->seen(e->seen_context, e->done) ? S_OK : HRESULT_FROM_WIN32(ERROR_CANCELLED);
    }
    return FAILED(hr) ? hr : S_OK;
}

static void take_progress(void *context, uint64_t done, uint64_t total)
{
    struct report_events *e = context;
    (void)total;
    e->done = done;
}

HRESULT report_events_read(struct report_events *e, struct trace_inputs *traces,
                           bool (*seen)(void *context, uint64_t done), void *context)
{
    e->seen = seen;
    e->seen_context = context;
    HRESULT hr = trace_inputs_read(traces, report_events_take, e, take_progress, e);
    return SUCCEEDED(hr) ? close_dump(e) : hr;
}

void report_events_totals(const struct report_events *e, struct report_totals *totals)
{
    totals->events = e->events;
    totals->first = e->first;
    totals->last = e->last;
    totals->seconds = e->events ? (double)(e->last - e->first) / 1e7 : 0;
}

HRESULT report_events_write(struct report_events *e, const struct schema_table *table,
                            const struct report_totals *totals, struct report_document *to)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->tables[i].schema == table)
            return e->tables[i].table.kind->write(e->tables[i].table.state, totals, to);
    return S_OK;
}

void report_events_free(struct report_events *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->count; i++)
        e->tables[i].table.kind->free(e->tables[i].table.state);
    if (e->file) {
        (void)event_dump_close(e->dump);
        file_close(e->file);
    }
    if (e->file || e->dumped)
        report_draft_drop(e->make.base, e->draft);
    memory_free(e->draft);
    memory_free(e->tables);
    trace_schemas_close(&e->schemas);
    memory_free(e);
}
