/* SPDX-License-Identifier: MIT */
/* Reads the elements EventTable and CounterTable of a report schema. */
#include "engine/base/memory.h"
#include "engine/report/make/schema_reading.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

/* Reads the attributes that both kinds of tables have. */
static HRESULT read_common(struct schema_reading *r, xmlNodePtr e, struct schema_table *out)
{
    uint64_t number = 0;
    bool is_there = false;
    HRESULT hr = schema_text_of(r, e, "name", &out->name);
    r->table = out->name;
    if (SUCCEEDED(hr))
        hr = schema_check_element(r, e, out->of_events ? SCHEMA_EventTable : SCHEMA_CounterTable);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "topic", &out->topic);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "note", &out->note);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "key", &out->key);
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "level", &number, &is_there);
    out->level = is_there ? (unsigned)number : 1;
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "threshold", &number, &is_there);
    out->threshold = SUCCEEDED(hr) && is_there ? (uint32_t)number : 0;
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "rowcount", &number, &is_there);
    out->row_count = SUCCEEDED(hr) && is_there ? (uint32_t)number : 0;
    out->file = r->file;
    out->line = (unsigned)xmlGetLineNo(e);
    return hr;
}

/* ---- event tables ---- */

#define SYSTEM_PREFIX "sys:"

static HRESULT read_field(struct schema_reading *r, xmlNodePtr e, enum schema_type type, struct schema_field *out)
{
    const char *guid = NULL, *id = NULL;
    uint64_t version = 0;
    int word = -1;
    HRESULT hr = schema_check_element(r, e, type);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "field", &out->name);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "payloadGuid", &guid);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "payloadId", &id);
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "version", &version, &out->has_version);
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "aggregate", VALUE_AGGREGATE, &word);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "note", &out->note);
    if (FAILED(hr))
        return hr;
    uint64_t number = 0;
    text_to_guid(guid, &out->guid); /* the grammar has checked it */
    out->any_event = !strcmp(id, "*");
    if (!out->any_event)
        text_to_u64(id, &number); /* the grammar has checked it */
    out->id = (uint32_t)number;
    out->version = (uint32_t)version;
    out->aggregate = (enum schema_aggregate)(word + 1);
    if (strlen(out->name) < strlen(SYSTEM_PREFIX))
        return S_OK;
    char prefix[sizeof SYSTEM_PREFIX] = {0};
    memcpy(prefix, out->name, strlen(SYSTEM_PREFIX));
    if (!text_equal_nocase(prefix, SYSTEM_PREFIX))
        return S_OK;
    for (size_t i = 1; i < schema_system_field_count; i++)
        if (text_equal_nocase(schema_system_fields[i], out->name + strlen(SYSTEM_PREFIX)))
            out->system = (enum schema_system_field)i;
    return out->system == SYS_NONE ? schema_wrong(e, "field", out->name, "unknown field of event headers") : S_OK;
}

static HRESULT read_out_type(struct schema_reading *r, xmlNodePtr e, struct schema_column *out)
{
    HRESULT hr = schema_text_of(r, e, "outType", &out->out_type_text);
    if (SUCCEEDED(hr) && !out->out_type_text)
        hr = schema_text_of(r, e, "outtype", &out->out_type_text); /* MS-PLA writes the name in lower case */
    if (FAILED(hr) || !out->out_type_text)
        return hr;
    for (size_t i = 1; i < schema_out_type_count; i++)
        if (text_equal_nocase(schema_out_types[i], out->out_type_text))
            out->out_type = (enum schema_out_type)i;
    return out->out_type != OUT_NONE
               ? S_OK
               : schema_add_warning(r, e, "unknown outType '%.60s': treated as text", out->out_type_text);
}

static HRESULT read_column(struct schema_reading *r, xmlNodePtr e, struct schema_column *out)
{
    int word = -1;
    bool visible = true;
    out->line = (unsigned)xmlGetLineNo(e);
    HRESULT hr = schema_check_element(r, e, SCHEMA_Column);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "name", &out->name);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "note", &out->note);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "format", &out->format);
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "align", VALUE_ALIGN, &word);
    out->align = word == 1 ? SCHEMA_LEFT : SCHEMA_RIGHT;
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "sort", VALUE_SORTED, &word);
    out->sort = (enum schema_sort)(word + 1);
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "order", VALUE_ORDER, &word);
    out->ascending = word == 1;
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "summary", VALUE_SUMMARY, &word);
    out->summary = (enum schema_summary)(word + 1);
    if (SUCCEEDED(hr))
        hr = schema_bool_of(r, e, "visible", &visible);
    out->hidden = !visible;
    if (SUCCEEDED(hr))
        hr = schema_bool_of(r, e, "bars", &out->bars);
    if (SUCCEEDED(hr))
        hr = schema_bool_of(r, e, "groupby", &out->group_by);
    if (SUCCEEDED(hr))
        hr = read_out_type(r, e, out);
    return SUCCEEDED(hr) ? read_field(r, schema_element_from(e->children, "EventField"), SCHEMA_EventField, &out->field)
                         : hr;
}

/* Checks a column: MS-PLA 2.2.3.3, EventField, Column, SubTable. */
static HRESULT check_column(xmlNodePtr e, const struct schema_columns *before, const struct schema_column *c,
                            bool sub_table)
{
    bool grouped = false;
    for (size_t i = 0; i < before->count; i++) {
        const struct schema_column *other = &before->items[i];
        grouped |= other->group_by;
        if (!strcmp(other->name, c->name))
            return schema_wrong(e, "name", c->name, "duplicate column name");
        if (c->sort != SCHEMA_UNSORTED && other->sort == c->sort)
            return schema_wrong(e, "sort", c->sort == SCHEMA_PRIMARY ? "primary" : "secondary",
                                "duplicate sort column");
    }
    if (c->bars && (c->sort != SCHEMA_PRIMARY || c->ascending))
        return schema_wrong(e, "bars", "true",
                            "only the primary sort column can have bars, and only if its order is descending");
    if (sub_table && (c->group_by || c->field.aggregate))
        return schema_wrong(e, "name", c->name, "a SubTable cannot group or aggregate");
    if (c->group_by && c->field.aggregate)
        return schema_wrong(e, "name", c->name, "a grouping column cannot be aggregated");
    if (c->field.aggregate && !grouped)
        return schema_wrong(e, "name", c->name, "aggregated without a preceding grouping column");
    return S_OK;
}

static HRESULT read_columns(struct schema_reading *r, xmlNodePtr parent, struct schema_columns *out, bool sub_table)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr e = schema_element_from(parent->children, "Column"); e && SUCCEEDED(hr);
         e = schema_element_from(e->next, "Column")) {
        void *items = out->items;
        if (out->count == SCHEMA_MOST_COLUMNS)
            return schema_wrong(e, NULL, NULL, "more than %d columns", SCHEMA_MOST_COLUMNS);
        if (!memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items))
            return E_OUTOFMEMORY;
        out->items = items;
        struct schema_column column = {0};
        hr = read_column(r, e, &column);
        if (SUCCEEDED(hr))
            hr = check_column(e, out, &column, sub_table);
        if (SUCCEEDED(hr))
            out->items[out->count++] = column;
    }
    return hr;
}

static HRESULT read_join(struct schema_reading *r, xmlNodePtr e, struct schema_event_table *out)
{
    xmlNodePtr field = schema_element_from(e->children, "EventJoinField");
    HRESULT hr = schema_check_element(r, e, SCHEMA_EqualJoin);
    for (size_t i = 0; i < 2 && SUCCEEDED(hr) && field; i++) {
        hr = read_field(r, field, SCHEMA_EventJoinField, &out->join[i]);
        field = schema_element_from(field->next, "EventJoinField");
    }
    const struct schema_field *a = &out->join[0], *b = &out->join[1];
    if (SUCCEEDED(hr) && guid_equal(&a->guid, &b->guid) && a->id == b->id && a->any_event == b->any_event &&
        a->version == b->version)
        hr = schema_wrong(e, NULL, NULL, "both fields belong to the same event");
    out->joined = SUCCEEDED(hr);
    return hr;
}

/* Checks the event sources of the columns: at most two. If there are two sources, the table must have a join, or the
   sources must be the start and the end of a transaction. */
static HRESULT check_sources(xmlNodePtr e, const struct schema_event_table *t)
{
    const GUID *sources[2] = {NULL, NULL};
    const struct schema_columns *both[2] = {&t->columns, &t->sub_columns};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count; i++) {
            const struct schema_field *f = &both[k]->items[i].field;
            if ((f->system == SYS_CPUPercent || f->system == SYS_ResponseTime) && !t->transaction)
                return schema_wrong(e, "field", f->name, "only allowed in tables with transaction=\"true\"");
            const bool known =
                (sources[0] && guid_equal(sources[0], &f->guid)) || (sources[1] && guid_equal(sources[1], &f->guid));
            if (known)
                continue;
            if (sources[1])
                return schema_wrong(e, NULL, NULL, "its columns use more than two event sources");
            sources[sources[0] ? 1 : 0] = &f->guid;
        }
    return sources[1] && !t->joined && !t->transaction
               ? schema_wrong(e, NULL, NULL, "its columns use two event sources without an EqualJoin")
               : S_OK;
}

HRESULT schema_read_event_table(struct schema_reading *r, xmlNodePtr e, struct schema_table *out)
{
    struct schema_event_table *t = &out->events;
    out->of_events = true;
    HRESULT hr = read_common(r, e, out);
    if (SUCCEEDED(hr))
        hr = schema_bool_of(r, e, "transaction", &t->transaction);
    if (SUCCEEDED(hr))
        hr = read_columns(r, e, &t->columns, false);
    xmlNodePtr join = schema_element_from(e->children, "EqualJoin");
    if (SUCCEEDED(hr) && join)
        hr = t->transaction ? schema_wrong(join, NULL, NULL, "not allowed in a table of transactions")
                            : read_join(r, join, t);
    xmlNodePtr sub_table = schema_element_from(e->children, "SubTable");
    if (SUCCEEDED(hr) && sub_table)
        hr = schema_check_element(r, sub_table, SCHEMA_SubTable);
    if (SUCCEEDED(hr) && sub_table)
        hr = read_columns(r, sub_table, &t->sub_columns, true);
    return SUCCEEDED(hr) ? check_sources(e, t) : hr;
}

/* ---- counter tables ---- */

static HRESULT add_pattern(struct schema_reading *r, xmlNodePtr e, const char *attribute, bool include,
                           struct schema_counter_table *t, bool *any)
{
    struct schema_pattern p = {.include = include, .counter = !strcmp(attribute, "counter")};
    HRESULT hr = schema_text_of(r, e, attribute, &p.text);
    if (FAILED(hr) || !p.text)
        return hr;
    void *items = t->patterns;
    *any = true;
    if (!memory_grow(&items, &t->pattern_capacity, t->pattern_count + 1, sizeof *t->patterns))
        return E_OUTOFMEMORY;
    t->patterns = items;
    t->patterns[t->pattern_count++] = p;
    return S_OK;
}

static HRESULT read_choice(struct schema_reading *r, xmlNodePtr e, struct schema_counter_table *t)
{
    const bool include = !strcmp((const char *)e->name, "Include");
    bool any = false;
    int column = -1;
    HRESULT hr = schema_check_element(r, e, include ? SCHEMA_Include : SCHEMA_Exclude);
    if (SUCCEEDED(hr))
        hr = add_pattern(r, e, "counter", include, t, &any);
    if (SUCCEEDED(hr))
        hr = add_pattern(r, e, "instance", include, t, &any);
    if (SUCCEEDED(hr) && !include)
        hr = schema_word_of(r, e, "column", VALUE_COUNTER_COLUMN, &column);
    if (SUCCEEDED(hr) && column >= 0)
        t->excluded |= 1U << column;
    return SUCCEEDED(hr) && !any && column < 0 ? schema_wrong(e, NULL, NULL, "counter, instance or column is missing")
                                               : hr;
}

static HRESULT read_added(struct schema_reading *r, xmlNodePtr e, struct schema_counter_table *t)
{
    const char *text;
    char word[16];
    HRESULT hr = schema_text_of(r, e, "columns", &text);
    for (const char *at = text; SUCCEEDED(hr) && at && *at;) {
        at += strspn(at, " \t\r\n");
        const size_t length = strcspn(at, " \t\r\n");
        const size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, at, kept);
        word[kept] = 0;
        const int column = schema_find_word(VALUE_COUNTER_COLUMN, word);
        t->added |= column >= 0 ? 1U << column : 0;
        at += length;
    }
    return hr;
}

/* Checks the numbers of the attribute `limit`. Charts show these numbers exactly as they are written. */
static HRESULT read_limits(struct schema_reading *r, xmlNodePtr e, struct schema_counter_table *t)
{
    unsigned count = 0;
    HRESULT hr = schema_text_of(r, e, "limit", &t->limit);
    if (FAILED(hr) || !t->limit)
        return hr;
    for (const char *at = t->limit; *at; at += strspn(at, " \t\r\n"), count++) {
        char *end = NULL;
        const double value = strchr("-+.0123456789", *at) ? strtod(at, &end) : 0;
        if (!end || end == at || !isfinite(value) || (*end && !strchr(" \t\r\n", *end)))
            return schema_wrong(e, "limit", t->limit, "expected numbers separated by spaces");
        at = end;
    }
    return count <= SCHEMA_MOST_LIMITS ? S_OK : schema_wrong(e, "limit", t->limit, "more than four numbers");
}

HRESULT schema_read_counter_table(struct schema_reading *r, xmlNodePtr e, struct schema_table *out)
{
    struct schema_counter_table *t = &out->counters;
    int column = -1, order = -1;
    uint64_t slice = 0;
    bool is_there = false;
    HRESULT hr = read_common(r, e, out);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "object", &t->object);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "chart", &t->chart);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "watch", &t->watch);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "slices", &t->slices);
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "slice", &slice, &is_there);
    t->slice = SUCCEEDED(hr) && is_there ? (uint32_t)slice : 0;
    if (SUCCEEDED(hr) && t->slice > SCHEMA_LONGEST_SLICE)
        hr = schema_wrong(e, "slice", NULL, "expected seconds from 1 to %d", SCHEMA_LONGEST_SLICE);
    if (SUCCEEDED(hr))
        hr = read_limits(r, e, t);
    if (SUCCEEDED(hr))
        hr = read_added(r, e, t);
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "sort", VALUE_COUNTER_COLUMN, &column);
    t->sort = column >= 0 ? 1U << column : 0;
    if (SUCCEEDED(hr))
        hr = schema_word_of(r, e, "order", VALUE_ORDER, &order);
    t->ascending = order == 1;
    for (xmlNodePtr c = schema_element_from(e->children, NULL); c && SUCCEEDED(hr);
         c = schema_element_from(c->next, NULL))
        if (schema_find_within(SCHEMA_CounterTable, (const char *)c->name))
            hr = read_choice(r, c, t);
    return hr;
}

void schema_table_free(struct schema_table *table)
{
    memory_free(table->events.columns.items);
    memory_free(table->events.sub_columns.items);
    memory_free(table->counters.patterns);
    *table = (struct schema_table){0};
}
