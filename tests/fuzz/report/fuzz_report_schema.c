/* SPDX-License-Identifier: MIT */
/* Any bytes as a report schema: no crash, within limits; a schema that was read is complete, and a report of a small
   log can be created with it. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/report.h"
#include "engine/report/report_schema.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 32 select pieces of schemas; other bytes are copied. */
static char *build_schema(const uint8_t *data, size_t size, size_t *length)
{
    static const char *const pieces[] = {
        "<Sections>",
        "</Sections>",
        "<Section name='s' key='1'>",
        "<Section name='t' key='",
        "</Section>",
        "<CounterTable name='c' topic='t' object='Memory'>",
        "<CounterTable name='d' topic='t' object='*' sort='p95' rowcount='1' chart='/*/'/>",
        "<CounterTable name='e' topic='t' columns='sum p50 last' object='",
        "</CounterTable>",
        "<Include counter='",
        "<Exclude instance='i/",
        "<Exclude column='mean'/>",
        "'/>",
        "'>",
        "<EventTable name='e' topic='t'>",
        "<EventTable name='f' level='2' transaction='true' key='",
        "</EventTable>",
        "<Column name='a' groupby='1' sort='primary'>",
        "<Column name='b' format='#,##0.0#' summary='total' outType='",
        "</Column>",
        "<EventField field='sys:PID' payloadGuid='{3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C}' payloadId='*'/>",
        "<EventField aggregate='rate' payloadGuid='{3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C}' payloadId='1' field='",
        "<EqualJoin>",
        "</EqualJoin>",
        "<EventJoinField field='x' payloadGuid='{3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C}' payloadId='1'/>",
        "<SubTable>",
        "</SubTable>",
        "<StringTable xml:lang='de'><String ID='s'>",
        "</String></StringTable>",
        "<Import file='Report.System.CPU.xml'/>",
        "*?\\/",
        "</Report>"};
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r' version='1'>");
    for (size_t i = 0; i < size; i++)
        if (data[i] < sizeof pieces / sizeof *pieces)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    text_buffer_add(&b, "</Report>");
    *length = b.length;
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

/* Checks that a schema that the reader has accepted follows the grammar. */
static void check_schema(const struct report_schema *s)
{
    size_t tables = 0;
    for (size_t i = 0; i < s->section_count; i++) {
        must(s->sections[i].name && *s->sections[i].name);
        for (size_t k = 0; k < s->sections[i].count; k++) {
            const struct schema_table *t = &s->sections[i].tables[k];
            must(t->name && *t->name && t->file && t->level >= 1 && t->level <= SCHEMA_HIGHEST_LEVEL);
            must(t->of_events ? t->events.columns.count > 0 && !(t->events.joined && t->events.transaction)
                              : t->counters.object && *t->counters.object);
            for (size_t p = 0; p < t->counters.pattern_count; p++)
                (void)schema_pattern_matches(t->counters.patterns[p].text, "% Processor Time");
            tables++;
        }
    }
    must(tables == s->table_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char log[] = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\H\\Memory\\Pages/sec\",\"\\\\H\\Process(a#1)\\X\"\r\n"
                              "\"01/02/2026 03:04:01.000\",\"1\",\"2\"\r\n";
    static char input[64], output[64];
    char *names[] = {input};
    const struct texts inputs = {.count = 1, .items = names};
    struct report_schema schema = {0};
    struct texts warnings = {0};
    if (!size)
        return 0;
    if (!input[0]) {
        snprintf(input, sizeof input, "fuzz_report_schema.%u.csv", (unsigned)process_own_id());
        snprintf(output, sizeof output, "fuzz_report_schema.%u.tmp", (unsigned)process_own_id());
    }
    size_t length = size - 1;
    char *text = data[0] & 1 ? build_schema(data + 1, size - 1, &length) : text_copy_n((const char *)data + 1, length);
    must(text);
    const HRESULT hr =
        report_schema_add(&schema, "fuzzed.xml", text, length, data[0] % 32 == 3 ? schema_file_load : NULL);
    memory_free(text);
    if (SUCCEEDED(hr)) {
        report_schema_order(&schema);
        check_schema(&schema);
    }
    if (SUCCEEDED(hr) && data[0] % 16 == 5) { /* files take most of the time */
        must(file_store(input, log, sizeof log - 1) == S_OK);
        const struct report_make make = {.inputs = &inputs, .schema = &schema, .output = output, .level = 5};
        const HRESULT made = report_make(&make, &warnings);
        must(made == S_OK || made == REPORT_NO_DATA);
        (void)file_delete(output);
        (void)file_delete(input);
    }
    texts_free(&warnings);
    report_schema_free(&schema);
    return 0;
}
