/* SPDX-License-Identifier: MIT */
#include "engine/report/events/event_columns.h"

#include "engine/base/memory.h"

bool event_source_has(const struct event_source *s, const EVENT_RECORD *record)
{
    static const GUID any;
    const EVENT_HEADER *h = &record->EventHeader;
    const bool classic = (h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
    if (guid_equal(&s->said->guid, &any) ? report_event_is_of_log(record) : !guid_equal(&s->said->guid, &h->ProviderId))
        return false;
    return s->said->any_event || s->said->id == (classic ? h->EventDescriptor.Opcode : h->EventDescriptor.Id);
}

char *event_table_place(const struct schema_table *table)
{
    return text_format("%s: line %u: table %s", table->file ? table->file : "schema", table->line, table->name);
}

static bool is_same_source(const struct schema_field *a, const struct schema_field *b)
{
    return guid_equal(&a->guid, &b->guid) && a->any_event == b->any_event && (a->any_event || a->id == b->id);
}

static HRESULT find_source(struct event_columns *c, const struct schema_field *field, size_t *at)
{
    for (*at = 0; *at < c->source_count; (*at)++)
        if (is_same_source(c->sources[*at].said, field))
            return S_OK;
    if (c->source_count == EVENT_SOURCES)
        return error_set(E_INVALIDARG, "its columns are of more than %d sorts of events", EVENT_SOURCES);
    c->sources[c->source_count++] = (struct event_source){.said = field};
    return S_OK;
}

static bool counts_events(const struct schema_field *field)
{
    return field->system == SYS_RequestRate || field->system == SYS_AggregateCount;
}

static HRESULT add_columns(struct event_columns *c, const struct schema_columns *from)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < from->count && SUCCEEDED(hr); i++) {
        struct event_column *to = &c->items[c->count++];
        to->said = &from->items[i];
        to->field = event_field_of(&to->said->field, to->said->out_type);
        to->sum = NO_SUM;
        c->grouped |= to->said->group_by || to->said->field.aggregate || counts_events(&to->said->field);
        hr = find_source(c, &to->said->field, &to->source);
    }
    return hr;
}

/* A join has its two sources, and columns of no other; a transaction two at most (MS-PLA 2.2.3.3). */
static HRESULT check_sources(const struct schema_event_table *t, struct event_columns *c)
{
    if (t->transaction && c->source_count > 2)
        return error_set(E_INVALIDARG, "its columns are of %zu sorts of events, those of a transaction are of two",
                         c->source_count);
    for (size_t i = 0; t->joined && i < c->source_count; i++)
        if (!is_same_source(c->sources[i].said, &t->join[0]) && !is_same_source(c->sources[i].said, &t->join[1]))
            return error_set(E_INVALIDARG, "field %s: it is of an event that EqualJoin does not name",
                             c->sources[i].said->name);
    return S_OK;
}

HRESULT event_columns_make(const struct schema_table *table, struct event_columns *out, struct texts *remarks)
{
    const struct schema_event_table *t = &table->events;
    *out = (struct event_columns){0};
    HRESULT hr = add_columns(out, &t->columns);
    out->own = out->count;
    const bool grouped = out->grouped;
    if (SUCCEEDED(hr))
        hr = add_columns(out, &t->sub_columns);
    out->grouped = grouped;
    if (SUCCEEDED(hr))
        hr = check_sources(t, out);
    for (size_t i = 0; i < out->own && SUCCEEDED(hr) && out->grouped; i++) {
        struct event_column *c = &out->items[i];
        if (c->said->field.aggregate || counts_events(&c->said->field)) {
            c->sum = (int)out->sums++;
        } else if (!c->said->group_by) {
            char *place = event_table_place(table);
            hr = place ? texts_give(remarks, text_format("%s: column %s: it is not grouped by, so each row has the "
                                                         "value of its first event",
                                                         place, c->said->name))
                       : E_OUTOFMEMORY;
            memory_free(place);
        }
    }
    return hr;
}
