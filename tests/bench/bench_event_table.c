/* SPDX-License-Identifier: MIT */
/* bench_event_table [EVENTS [KEYS [MEGABYTES]]]: measures an event table that groups EVENTS (4,000,000) events by KEYS
   (1,000,000) keys, with a total, a mean and a count, and writes the 25 largest groups, in MEGABYTES (32) of memory. In
   each of three rounds it also only visits the fields of the same events, which any reader must do. Prints events per
   second of processor time, the ratio of the table's time to the time of the visit, and the process's peak memory. */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "tests/bench/measured.h"
#include "tests/unit/report/report_lines.h"

#include <string.h>

enum { ROUNDS = 3 };

static char key_name[] = "Key", size_name[] = "Size", file_path_name[] = "Path", provider_name[] = "Maker";
static struct event_property properties[] = {{.name = key_name, .in_type = IN_TYPE_UINT64, .count = 1},
                                             {.name = size_name, .in_type = IN_TYPE_UINT32, .count = 1},
                                             {.name = file_path_name, .in_type = IN_TYPE_ANSISTRING, .count = 1}};
static const struct event_schema schema = {
    .provider_name = provider_name, .properties = properties, .property_count = 3, .top_level = 3};

static const char definition[] =
    "<Report name='r' version='1'><Sections><Section name='s' key='1'><EventTable name='t' rowcount='25'>"
    "<Column name='key' groupby='true'><EventField field='Key' payloadGuid='{00000000-0000-0000-0000-000000000000}' "
    "payloadId='*'/></Column>"
    "<Column name='bytes' sort='primary' summary='total'><EventField field='Size' aggregate='total' "
    "payloadGuid='{00000000-0000-0000-0000-000000000000}' payloadId='*'/></Column>"
    "<Column name='mean'><EventField field='Size' aggregate='average' "
    "payloadGuid='{00000000-0000-0000-0000-000000000000}' payloadId='*'/></Column>"
    "<Column name='count'><EventField field='sys:AggregateCount' "
    "payloadGuid='{00000000-0000-0000-0000-000000000000}' payloadId='*'/></Column>"
    "</EventTable></Section></Sections></Report>";

static uint8_t data[] = "\0\0\0\0\0\0\0\0\0\0\0\0C:\\folder\\file.txt";
static EVENT_RECORD record = {.UserData = data, .UserDataLength = sizeof data};

static void make_event(uint64_t i, uint64_t keys)
{
    put_u64(data, i * 0x9E3779B97F4A7C15u % keys);
    put_u32(data + 8, (uint32_t)(i % 4096));
}

static HRESULT add_size(void *context, enum event_step step, const struct event_value *v)
{
    (void)step;
    *(uint64_t *)context += v->size;
    return S_OK;
}

static double walk(uint64_t events, uint64_t keys)
{
    uint64_t bytes = 0;
    const double begin = processor_seconds();
    for (uint64_t i = 0; i < events; i++) {
        make_event(i, keys);
        const struct event_data all = event_data_of(&record, 8);
        must(event_values_walk(&schema, &all, add_size, &bytes, NULL), "walk");
    }
    return bytes ? processor_seconds() - begin : 0;
}

static double group(uint64_t events, uint64_t keys, size_t memory)
{
    struct report_schema s = {0};
    struct texts warnings = {0}, notes = {0};
    struct report_table table;
    struct report_document d = {0};
    must(report_schema_add(&s, "bench.xml", definition, strlen(definition), NULL), "schema");
    const struct report_table_make make = {&s, s.sections, s.sections->tables, memory, &warnings, &notes};
    const struct report_totals totals = {.seconds = 10};
    const double begin = processor_seconds();
    must(event_table_create(&make, &table), "table");
    const struct trace_event event = {.record = &record, .pointer_size = 8, .timer_resolution = 156250, .known = true};
    for (uint64_t i = 0; i < events; i++) {
        make_event(i, keys);
        struct report_event e = {
            .event = &event, .looked = true, .dumped = {.record = &record, .schema = &schema, .pointer_size = 8}};
        must(table.kind->event(table.state, &e), "event");
    }
    must(table.kind->write(table.state, &totals, &d), "write");
    const double seconds = processor_seconds() - begin;
    uint64_t total = 0;
    for (uint64_t i = 0; i < events; i++)
        total += i % 4096;
    char footer[64];
    snprintf(footer, sizeof footer, "=|%llu|||\n", (unsigned long long)total);
    must(d.lines.text && strstr(d.lines.text, footer) ? S_OK : E_UNEXPECTED, "the footer's sum");
    text_buffer_free(&d.lines);
    table.kind->free(table.state);
    texts_free(&warnings);
    texts_free(&notes);
    report_schema_free(&s);
    return seconds;
}

int main(int argc, char **argv)
{
    const uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
    const uint64_t keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    const size_t megabytes = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 32;
    if (!events || !keys || !megabytes) {
        fprintf(stderr, "bench_event_table [EVENTS [KEYS [MEGABYTES]]]\n");
        return 2;
    }
    for (int round = 0; round < ROUNDS; round++) {
        const double walked = walk(events, keys), grouped = group(events, keys, megabytes << 20);
        printf("%.0f events/s grouped, %.0f walked over, ratio %.1f\n", (double)events / grouped,
               (double)events / walked, grouped / walked);
    }
    printf("%llu keys in %zu MB; peak %.0f MB\n", (unsigned long long)keys, megabytes, peak_megabytes());
    return 0;
}
