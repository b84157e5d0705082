/* SPDX-License-Identifier: MIT */
/* Any table with any events: whatever their schemas and data contain, each row has its cells, tables and rows are
   ended, and sums are the same with little and with much memory. The input: the table, columns of four bytes,
   properties of two bytes, events. */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "tests/unit/report/report_lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 8, PROPERTIES = 8, FIELDS = PROPERTIES + SYS_AggregateCount };

struct rest {
    const uint8_t *at, *end;
};

static uint8_t take(struct rest *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static void need(bool what)
{
    if (!what)
        abort();
}

static char names[PROPERTIES][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static char text_name[] = "text";

static void read_field(struct rest *in, bool grouped, struct schema_field *f)
{
    const unsigned which = take(in) % FIELDS;
    const uint8_t of = take(in);
    *f = (struct schema_field){.name = which < PROPERTIES ? names[which] : "sys:field",
                               .system =
                                   which < PROPERTIES ? SYS_NONE : (enum schema_system_field)(which - PROPERTIES + 1),
                               .any_event = (of & 8) != 0,
                               .id = of & 3,
                               .has_version = (of & 16) != 0,
                               .aggregate = grouped ? (enum schema_aggregate)(of >> 6) : SCHEMA_NO_AGGREGATE};
    f->guid.Data1 = of & 4 ? 1 : 0;
}

/* Creates only columns that the reader of schemas would accept. */
static void read_columns(struct rest *in, struct schema_column *items, size_t count, bool sub_table)
{
    bool grouped = false;
    for (size_t i = 0; i < count; i++) {
        const uint8_t how = take(in), more = take(in);
        struct schema_column *c = &items[i];
        *c = (struct schema_column){.name = names[i],
                                    .sort = (enum schema_sort)(how % 3),
                                    .ascending = (how & 4) != 0,
                                    .group_by = !sub_table && (how & 8) != 0,
                                    .summary = (enum schema_summary)(more % 3),
                                    .out_type = (enum schema_out_type)(more / 3 % (OUT_ERROR_CODE + 1))};
        read_field(in, grouped && !c->group_by && !sub_table, &c->field);
        grouped |= c->group_by;
    }
}

static void read_schema(struct rest *in, struct event_schema *s, struct event_property *properties,
                        struct event_map *map)
{
    *s = (struct event_schema){.provider_name = text_name,
                               .task_name = text_name,
                               .properties = properties,
                               .property_count = PROPERTIES,
                               .top_level = PROPERTIES,
                               .maps = map,
                               .map_count = 1};
    for (size_t i = 0; i < PROPERTIES; i++) {
        const uint8_t type = take(in), how = take(in);
        properties[i] = (struct event_property){.name = names[i],
                                                .flags = how & 0x30,
                                                .in_type = (uint16_t)(type & 0x80 ? 300 + type % 12 : type % 26),
                                                .out_type = how & 1 ? how % 38 : 0,
                                                .count = how & 0x20 ? 2 : 1,
                                                .length = how & 0x10 ? 3 : 0,
                                                .map = (how & 0x0E) == 0x0E ? text_name : NULL};
    }
    if (event_schema_check(s) != S_OK)
        s->property_count = s->top_level = 0;
}

static void feed(struct rest in, const struct report_table *table, const struct event_schema *schema)
{
    int64_t utc = 133500000000000000;
    while (in.at < in.end) {
        EVENT_RECORD record = {0};
        EVENT_HEADER *h = &record.EventHeader;
        const uint8_t what = take(&in), when = take(&in), length = take(&in) % 64;
        const size_t left = (size_t)(in.end - in.at), own = length < left ? length : left;
        uint8_t *bytes = malloc(own ? own : 1); /* so that the sanitizer detects reads beyond them */
        need(bytes);
        memcpy(bytes, in.at, own);
        in.at += own;
        h->ProviderId.Data1 = what & 4 ? 1 : 0;
        h->EventDescriptor.Opcode = what & 3;
        h->EventDescriptor.Id = what & 3;
        h->Flags = (USHORT)((what & 8 ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0) | (what & 16 ? 2 : 0));
        h->ThreadId = what >> 5;
        h->ProcessId = when & 7;
        h->KernelTime = when;
        utc += when * 100;
        h->TimeStamp.QuadPart = utc;
        record.UserData = bytes;
        record.UserDataLength = (USHORT)own;
        const struct trace_event event = {
            .record = &record, .pointer_size = 8, .timer_resolution = 156250, .known = true};
        struct report_event e = {.event = &event,
                                 .utc = utc,
                                 .looked = true,
                                 .dumped = {.record = &record,
                                            .schema = (what & 0xE0) == 0xE0 ? NULL : schema,
                                            .reason = "unknown",
                                            .pointer_size = 8,
                                            .timer_resolution = 156250}};
        need(SUCCEEDED(table->kind->event(table->state, &e)));
        free(bytes);
    }
}

/* Creates the table with this limit of memory, and returns its lines. */
static char *make(const struct schema_table *table, const struct event_schema *schema, struct rest events,
                  size_t memory)
{
    struct report_schema s = {0};
    struct texts warnings = {0}, notes = {0};
    struct schema_section section = {.name = text_name};
    const struct report_table_make how = {&s, &section, table, memory, &warnings, &notes};
    const struct report_totals totals = {.seconds = 2, .events_lost = 1};
    struct report_document d = {0};
    struct report_table made;
    const HRESULT hr = event_table_create(&how, &made);
    need(hr == S_OK || (hr == E_INVALIDARG && error_text(hr)));
    if (hr == S_OK) {
        feed(events, &made, schema);
        need(SUCCEEDED(made.kind->write(made.state, &totals, &d)));
        need(d.depth == 0);
        made.kind->free(made.state);
    }
    texts_free(&warnings);
    texts_free(&notes);
    text_buffer_add(&d.lines, "");
    return text_buffer_take(&d.lines);
}

/* Whether sums are exact. Larger numbers, and numbers with a fraction, are summed exactly except for the last bit. */
static bool sums_exactly(const struct event_property *properties)
{
    for (size_t i = 0; i < PROPERTIES; i++)
        if (properties[i].in_type > IN_TYPE_UINT32)
            return false;
    return true;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_map_entry entries[] = {{1, NULL, text_name}, {0, text_name, text_name}};
    struct event_map map = {text_name, MAP_MANIFEST_VALUES, entries, 2};
    struct schema_column columns[COLUMNS], sub_columns[COLUMNS];
    struct event_property properties[PROPERTIES];
    struct event_schema schema;
    struct rest in = {data, data + size};
    const uint8_t how = take(&in), rows = take(&in);
    struct schema_table table = {.of_events = true, .name = text_name, .row_count = rows % 8};
    struct schema_event_table *t = &table.events;
    t->columns = (struct schema_columns){columns, how % COLUMNS + 1, COLUMNS};
    t->sub_columns = (struct schema_columns){sub_columns, how & 8 ? (rows >> 5) + 1u : 0, COLUMNS};
    t->transaction = (how & 0x30) == 0x10;
    t->joined = (how & 0x30) == 0x20;
    read_columns(&in, columns, t->columns.count, false);
    read_columns(&in, sub_columns, t->sub_columns.count, true);
    for (size_t i = 0; i < 2 && t->joined; i++)
        read_field(&in, false, &t->join[i]);
    read_schema(&in, &schema, properties, &map);
    char *little = make(&table, &schema, in, 1), *much = make(&table, &schema, in, 16u << 20);
    need(little && much);
    if (!t->joined && !t->transaction) /* joins and transactions omit what exceeds the memory */
        need(sums_exactly(properties) ? strcmp(little, much) == 0 : count_lines(little) == count_lines(much));
    memory_free(little);
    memory_free(much);
    return 0;
}
