/* SPDX-License-Identifier: MIT */
/* Implements an EventTable of a report schema (MS-PLA 2.2.3.3). Creates records from the events that the table selects
   (DECISIONS 93). */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/report/events/event_cell.h"
#include "engine/report/events/event_sink.h"

#include <string.h>

enum { NO_SOURCE = EVENT_SOURCES };
/* Opcodes of transactions (MS-PLA 2.2.3.3). START, DC_START and DEQUEUE start a transaction; STOP, DC_STOP and
   CHECKPOINT end it. */
enum { START = 1, STOP = 2, DC_START = 3, DC_STOP = 4, DEQUEUE = 7, CHECKPOINT = 8 };

/* The fields that the events of one source fill in. */
struct source_fields {
    struct event_field fields[EVENT_COLUMNS + 1];
    struct event_fields taking;
    size_t columns[EVENT_COLUMNS + 1]; /* column that each field fills in; the value columns.count marks the field
                                          whose value is joined */
    bool reported_missing[EVENT_COLUMNS + 1];
};

struct event_table {
    size_t memory;
    const struct schema_table *table;
    struct texts *warnings, *notes;
    struct event_columns columns;
    struct source_fields *sources[EVENT_SOURCES];
    struct event_sink *sink;
    struct event_join *join;                 /* NULL if nothing is joined */
    struct event_transactions *transactions; /* NULL if events are not transactions */
    struct event_cell cells[EVENT_COLUMNS];
    struct text_buffer body, before;
    const struct report_totals *totals; /* set while the table is written */
    unsigned asked;
    uint64_t undecoded, omitted;
    char *failed; /* the reason why the table cannot be created */
};

static void table_free(void *table)
{
    struct event_table *t = table;
    for (size_t i = 0; i < EVENT_SOURCES; i++) {
        if (t->sources[i])
            event_field_set_free(&t->sources[i]->taking);
        memory_free(t->sources[i]);
    }
    event_sink_free(t->sink);
    event_join_free(t->join);
    event_transactions_free(t->transactions);
    text_buffer_free(&t->body);
    text_buffer_free(&t->before);
    memory_free(t->failed);
    memory_free(t);
}

static bool is_own_source(const struct event_table *t, size_t source, const struct schema_field *field)
{
    const struct schema_field *said = t->columns.sources[source].said;
    return guid_equal(&said->guid, &field->guid) && said->any_event == field->any_event &&
           (said->any_event || said->id == field->id);
}

/* Determines the fields of a source's events. If the table has neither a join nor transactions, each source fills every
   column without a sum; it uses the event's field that has the same name as the column's field. Different kinds of
   events can therefore be in one group. Any other column shows only events of the source that its definition names. */
static HRESULT make_source(struct event_table *t, size_t source)
{
    const struct event_columns *c = &t->columns;
    struct source_fields *s = t->sources[source] = memory_zero(1, sizeof *s);
    size_t count = 0;
    if (!s)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < c->count; i++) {
        const bool any = !t->join && !t->transactions && c->items[i].sum == NO_SUM;
        if (!any && c->items[i].source != source)
            continue;
        s->fields[count] = c->items[i].field;
        s->columns[count++] = i;
    }
    for (size_t side = 0; side < 2 && t->join; side++)
        if (is_own_source(t, source, &t->table->events.join[side])) {
            s->fields[count] = event_field_of(&t->table->events.join[side], OUT_NONE);
            s->columns[count++] = c->count;
        }
    s->taking.items = s->fields;
    s->taking.count = count;
    return S_OK;
}

/* Replaces the sources of the table: the join's two kinds of events become the sources 0 and 1, even if no column shows
   them. */
static HRESULT order_join(struct event_table *t)
{
    struct event_columns *c = &t->columns;
    const struct schema_event_table *said = &t->table->events;
    size_t to[EVENT_SOURCES] = {0};
    for (size_t i = 0; i < c->source_count; i++)
        to[i] = is_own_source(t, i, &said->join[0]) ? 0 : 1;
    for (size_t i = 0; i < c->count; i++)
        c->items[i].source = to[c->items[i].source];
    for (size_t side = 0; side < 2; side++)
        c->sources[side] = (struct event_source){.said = &said->join[side]};
    c->source_count = 2;
    return event_join_create(t->memory / 4, EVENT_JOIN_MOST_PAIRS, &t->join);
}

/* ---- cells of events ---- */

static HRESULT add_to(struct texts *to, const struct event_table *t, char *what)
{
    char *place = event_table_place(t->table);
    const HRESULT hr = place && what ? texts_add_owned(to, text_format("%s: %s", place, what)) : E_OUTOFMEMORY;
    memory_free(place);
    memory_free(what);
    return hr;
}

static HRESULT add_warning(struct event_table *t, char *what)
{
    return add_to(t->warnings, t, what);
}

static HRESULT add_note(struct event_table *t, char *what)
{
    return add_to(t->notes, t, what);
}

static HRESULT warn_of_missing_field(struct event_table *t, size_t source, const struct dumped_event *e)
{
    struct source_fields *s = t->sources[source];
    const size_t at = s->taking.missing;
    if (!e->schema || at >= s->taking.count || s->reported_missing[at] ||
        (s->columns[at] < t->columns.count && t->columns.items[s->columns[at]].source != source))
        return S_OK;
    s->reported_missing[at] = true;
    return add_warning(t, text_format("field '%s': version %u of event %u has no such property", s->fields[at].name,
                                      (unsigned)e->record->EventHeader.EventDescriptor.Version,
                                      (unsigned)t->columns.sources[source].said->id));
}

static void note_version(struct event_source *s, const EVENT_RECORD *record)
{
    const unsigned version = record->EventHeader.EventDescriptor.Version;
    s->met++;
    if (s->said->has_version && version != s->said->version) {
        s->of_another_version++;
        s->other_version = version;
    }
}

/* Sets t->failed if the table sums a field that is not numeric. MS-PLA requires numeric fields for aggregates. */
static void check_sums(struct event_table *t, size_t source)
{
    const struct event_columns *c = &t->columns;
    for (size_t i = 0; i < c->own && !t->failed; i++)
        if (c->items[i].sum != NO_SUM && c->items[i].source == source && t->cells[i].kind == CELL_TEXT)
            t->failed = text_format("column '%s' cannot be aggregated: its field '%s' is not a number",
                                    c->items[i].said->name, c->items[i].field.name);
}

static bool counts_events(const struct event_column *c)
{
    return c->field.system == SYS_AggregateCount || c->field.system == SYS_RequestRate;
}

/* Fills the cells of the source's columns, and empties all other cells. *value receives the value that is joined;
   `value` may be NULL. Returns S_FALSE, and counts the event, if the event could not be decoded. */
static HRESULT take_cells(struct event_table *t, size_t source, const struct dumped_event *e, struct event_cell *value)
{
    struct event_cell taken[EVENT_COLUMNS + 1];
    struct source_fields *s = t->sources[source];
    HRESULT hr = event_fields_take(&s->taking, e, taken);
    if (hr == S_FALSE || hr == EVENT_DATA_INVALID) {
        t->undecoded++;
        return S_FALSE;
    }
    if (SUCCEEDED(hr))
        hr = warn_of_missing_field(t, source, e);
    for (size_t i = 0; i < t->columns.count; i++)
        t->cells[i] = (struct event_cell){0};
    for (size_t i = 0; i < s->taking.count && SUCCEEDED(hr); i++)
        if (s->columns[i] < t->columns.count)
            t->cells[s->columns[i]] = taken[i];
        else if (value)
            *value = taken[i];
    for (size_t i = 0; i < t->columns.count; i++)
        if (counts_events(&t->columns.items[i]) && t->columns.items[i].source == source)
            t->cells[i] = event_cell_unsigned(1);
    check_sums(t, source);
    return hr;
}

static HRESULT pack_cells(struct event_table *t)
{
    t->body.length = 0;
    for (size_t i = 0; i < t->columns.count; i++)
        event_cell_pack(&t->cells[i], &t->body);
    return t->body.failed ? E_OUTOFMEMORY : S_OK;
}

/* Fills cells that are empty with the cells that were packed in `body`. */
static void fill_from(struct event_table *t, const char *body)
{
    struct event_cell cell;
    for (size_t i = 0; i < t->columns.count; i++) {
        body = event_cell_unpack(body, &cell);
        if (t->cells[i].kind == CELL_EMPTY)
            t->cells[i] = cell;
    }
}

/* ---- events as records ---- */

/* Makes one record of an event. The event may match several sources, and each source fills its columns of the
   record. */
static HRESULT take_event(struct event_table *t, const struct dumped_event *e)
{
    struct event_columns *c = &t->columns;
    size_t first = NO_SOURCE;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < c->source_count && hr == S_OK; i++) {
        if (!event_source_has(&c->sources[i], e->record))
            continue;
        note_version(&c->sources[i], e->record);
        if (first == NO_SOURCE) {
            first = i;
            hr = take_cells(t, i, e, NULL);
            continue;
        }
        hr = pack_cells(t);
        const struct text_buffer before = t->before; /* there are two buffers, because cells borrow from one buffer
                                                        while the other one is filled */
        t->before = t->body;
        t->body = before;
        if (hr == S_OK)
            hr = take_cells(t, i, e, NULL);
        if (hr == S_OK)
            fill_from(t, t->before.text);
    }
    return hr == S_OK && first != NO_SOURCE ? event_sink_add(t->sink, t->cells) : hr;
}

static HRESULT take_joined(struct event_table *t, const struct dumped_event *e)
{
    HRESULT hr = S_OK;
    for (unsigned side = 0; side < 2 && SUCCEEDED(hr); side++) {
        struct event_cell value = {0};
        if (!event_source_has(&t->columns.sources[side], e->record))
            continue;
        note_version(&t->columns.sources[side], e->record);
        hr = take_cells(t, side, e, &value);
        if (hr == S_OK)
            hr = pack_cells(t);
        if (hr == S_OK)
            hr = event_join_add(t->join, side, &value, t->body.text, t->body.length);
    }
    return hr;
}

static HRESULT go_on(void *context)
{
    struct event_table *t = context;
    return report_is_stopped(t->totals, &t->asked)
               ? error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the report was stopped in table '%s'", t->table->name)
               : S_OK;
}

static HRESULT take_pair(void *context, const char *const bodies[2])
{
    struct event_table *t = context;
    const HRESULT hr = go_on(t);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < t->columns.count; i++)
        t->cells[i] = (struct event_cell){0};
    fill_from(t, bodies[0]);
    fill_from(t, bodies[1]);
    return event_sink_add(t->sink, t->cells);
}

/* ---- transactions ---- */

/* A start and its end have the same provider. If the table names only one event, the start and its end must also have
   the same task. */
static bool is_of_transaction(const struct event_table *t, const EVENT_RECORD *record, size_t *source)
{
    static const GUID any;
    const struct event_columns *c = &t->columns;
    bool of_provider = false;
    *source = NO_SOURCE;
    for (size_t i = 0; i < c->source_count; i++) {
        const GUID *guid = &c->sources[i].said->guid;
        of_provider |= guid_equal(guid, &any) || guid_equal(guid, &record->EventHeader.ProviderId);
        if (*source == NO_SOURCE && event_source_has(&c->sources[i], record))
            *source = i;
    }
    return c->source_count == 1 ? of_provider : *source != NO_SOURCE;
}

static uint64_t kind_of(const struct event_table *t, const EVENT_HEADER *h)
{
    const uint64_t hash = hash_bytes(HASH_START, &h->ProviderId, sizeof h->ProviderId);
    return t->columns.source_count == 1 ? hash_number(hash, h->EventDescriptor.Task) : hash;
}

static void transaction_measure(struct event_table *t, const struct event_moment *begin, const struct event_moment *end)
{
    const double ms = (double)(end->utc - begin->utc) / 10000;
    for (size_t i = 0; i < t->columns.count; i++) {
        const struct event_column *c = &t->columns.items[i];
        if (c->field.system == SYS_ResponseTime)
            t->cells[i] = event_cell_real(ms);
        else if (c->field.system == SYS_CPUPercent)
            t->cells[i] = begin->has_processor_time && end->has_processor_time && ms > 0
                              ? event_cell_real(100 * (end->processor_ms - begin->processor_ms) / ms)
                              : (struct event_cell){0};
        else if (counts_events(c))
            t->cells[i] = event_cell_unsigned(1);
    }
}

/* When a thread starts or ends (the kernel's class Thread), silently drops the thread's open transactions. */
static void close_thread(struct event_table *t, const struct dumped_event *e)
{
    static const GUID thread_class = {0x3D6FA8D1, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
    static const struct event_field field = {.name = "TThreadId"};
    const EVENT_HEADER *h = &e->record->EventHeader;
    if (!guid_equal(&h->ProviderId, &thread_class) ||
        (h->EventDescriptor.Opcode != START && h->EventDescriptor.Opcode != STOP))
        return;
    struct event_fields taking = {.items = &field, .count = 1};
    struct event_cell cell;
    if (event_fields_take(&taking, e, &cell) == S_OK && event_cell_is_number(&cell))
        event_transactions_close(t->transactions, (uint32_t)cell.number);
    event_field_set_free(&taking);
}

static HRESULT take_transaction(struct event_table *t, const struct dumped_event *e, int64_t utc)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    const unsigned opcode = h->EventDescriptor.Opcode;
    const bool begins = opcode == START || opcode == DC_START || opcode == DEQUEUE;
    const bool ends = opcode == STOP || opcode == DC_STOP || opcode == CHECKPOINT;
    struct event_moment now = {.thread = h->ThreadId, .kind = kind_of(t, h), .utc = utc}, begin;
    double kernel = 0, user = 0;
    size_t source;
    HRESULT hr = S_OK;
    close_thread(t, e);
    if ((!begins && !ends) || !is_of_transaction(t, e->record, &source))
        return S_OK;
    now.has_processor_time = event_processor_ms(e, &kernel, &user);
    now.processor_ms = kernel + user;
    const char named = source != NO_SOURCE;
    if (named) {
        note_version(&t->columns.sources[source], e->record);
        hr = take_cells(t, source, e, NULL);
    } else {
        for (size_t i = 0; i < t->columns.count; i++)
            t->cells[i] = (struct event_cell){0};
    }
    if (FAILED(hr))
        return hr;
    if (begins) {
        hr = pack_cells(t);
        text_buffer_add_n(&t->body, &named, 1);
        return FAILED(hr) || t->body.failed
                   ? E_OUTOFMEMORY
                   : event_transactions_begin(t->transactions, &now, t->body.text, t->body.length);
    }
    const char *body;
    size_t size;
    hr = event_transactions_end(t->transactions, &now, &begin, &body, &size);
    if (hr != S_OK || (!named && !body[size - 1]))
        return FAILED(hr) ? hr : S_OK;
    fill_from(t, body);
    transaction_measure(t, &begin, &now);
    return event_sink_add(t->sink, t->cells);
}

/* ---- the table ---- */

static bool is_wanted(const struct event_table *t, const EVENT_RECORD *record)
{
    size_t source;
    if (t->transactions)
        return true; /* events that start or end threads are needed too */
    for (source = 0; source < t->columns.source_count; source++)
        if (event_source_has(&t->columns.sources[source], record))
            return true;
    return false;
}

static HRESULT table_event(void *table, struct report_event *e)
{
    struct event_table *t = table;
    const struct dumped_event *dumped;
    if (t->failed || !e->event->known || !is_wanted(t, e->event->record))
        return S_OK;
    HRESULT hr = report_event_look(e, &dumped);
    if (SUCCEEDED(hr))
        hr = t->transactions ? take_transaction(t, dumped, e->utc)
             : t->join       ? take_joined(t, dumped)
                             : take_event(t, dumped);
    return FAILED(hr) ? hr : S_OK;
}

/* Adds notes about sources without events, and about events of other versions. Schemas also cover systems other than
   the traced one, so missing events are not an error. */
static HRESULT note_sources(struct event_table *t)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < t->columns.source_count && SUCCEEDED(hr); i++) {
        const struct event_source *s = &t->columns.sources[i];
        char guid[39];
        text_from_guid(&s->said->guid, guid);
        if (s->met == 0)
            hr = add_note(t, s->said->any_event
                                 ? text_format("the traces contain no event of %s", guid)
                                 : text_format("the traces contain no event %u of %s", (unsigned)s->said->id, guid));
        else if (s->of_another_version)
            hr = add_note(t, text_format("%llu of %llu events with the ID %u of %s have a version other than %u, such "
                                         "as %u; these events are included",
                                         (unsigned long long)s->of_another_version, (unsigned long long)s->met,
                                         (unsigned)s->said->id, guid, (unsigned)s->said->version, s->other_version));
    }
    return hr;
}

static bool has_events(const struct event_table *t)
{
    bool any = false;
    for (size_t i = 0; i < t->columns.source_count; i++)
        any |= t->columns.sources[i].met != 0;
    return any;
}

static HRESULT note_transactions(struct event_table *t, uint64_t lost)
{
    const struct event_transaction_counts counts = event_transactions_counts(t->transactions);
    HRESULT hr = S_OK;
    if (counts.unfinished || counts.unbegun || counts.refused)
        hr = add_note(t, text_format("transactions without a row: %llu did not finish, %llu began before the traces, "
                                     "%llu exceeded the memory for open transactions",
                                     (unsigned long long)counts.unfinished, (unsigned long long)counts.unbegun,
                                     (unsigned long long)counts.refused));
    if (SUCCEEDED(hr) && lost)
        hr = add_note(
            t, text_format("the traces lost %llu events, so a start may be paired with the stop of a later transaction",
                           (unsigned long long)lost));
    return hr;
}

static HRESULT table_write(void *table, const struct report_totals *totals, struct report_document *to)
{
    struct event_table *t = table;
    HRESULT hr = S_OK;
    t->totals = totals;
    if (t->join && !t->failed)
        hr = event_join_pairs(t->join, take_pair, go_on, t, &t->omitted);
    event_join_free(t->join);
    t->join = NULL;
    if (FAILED(hr))
        return hr;
    if (t->failed) {
        char *why = t->failed;
        t->failed = NULL;
        return add_warning(t, why);
    }
    hr = note_sources(t);
    if (SUCCEEDED(hr) && !has_events(t))
        return S_OK; /* do not write an empty table: schemas also cover systems other than the traced one */
    if (SUCCEEDED(hr) && t->undecoded)
        hr = add_warning(
            t, text_format("%llu events could not be decoded and are omitted", (unsigned long long)t->undecoded));
    if (SUCCEEDED(hr) && t->omitted)
        hr = add_warning(t, text_format("%llu events or pairs exceed the limit of a join and are omitted",
                                        (unsigned long long)t->omitted));
    if (SUCCEEDED(hr) && t->transactions)
        hr = note_transactions(t, totals->events_lost);
    return SUCCEEDED(hr) ? event_sink_write(t->sink, totals, to, t->warnings) : hr;
}

HRESULT event_table_create(const struct report_table_make *make, struct report_table *out)
{
    static const struct report_table_kind kind = {table_event, table_write, table_free};
    const struct schema_event_table *said = &make->table->events;
    struct event_table *t = memory_zero(1, sizeof *t);
    *out = (struct report_table){0};
    if (!t)
        return E_OUTOFMEMORY;
    t->memory = make->memory;
    t->table = make->table;
    t->warnings = make->warnings;
    t->notes = make->notes;
    HRESULT hr = event_columns_make(make->table, &t->columns, make->warnings);
    if (hr == E_INVALIDARG) { /* the report omits only this table */
        t->failed = text_copy(error_text(hr));
        if (!t->failed) {
            table_free(t);
            return E_OUTOFMEMORY;
        }
        *out = (struct report_table){&kind, t};
        return S_OK;
    }
    if (SUCCEEDED(hr) && said->joined)
        hr = order_join(t);
    if (SUCCEEDED(hr) && said->transaction)
        hr = event_transactions_create(make->memory / 4, &t->transactions);
    for (size_t i = 0; i < t->columns.source_count && SUCCEEDED(hr); i++)
        hr = make_source(t, i);
    if (SUCCEEDED(hr))
        hr = event_sink_create(make->table, &t->columns,
                               said->joined || said->transaction ? make->memory / 2 : make->memory, &t->sink);
    if (FAILED(hr)) {
        table_free(t);
        return hr;
    }
    *out = (struct report_table){&kind, t};
    return S_OK;
}
