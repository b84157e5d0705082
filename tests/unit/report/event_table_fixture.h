/* SPDX-License-Identifier: MIT */
/* A test creates an EventTable of a schema, adds events to it, and gets its output as lines. */
#ifndef OPENPLA_TEST_EVENT_TABLE_FIXTURE_H
#define OPENPLA_TEST_EVENT_TABLE_FIXTURE_H

#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/report/report_lines.h"
#include "tests/unit/scratch_folder.h"

/* The GUIDs of the two event classes, in the form that columns use. */
#define CLASS_A "{11111111-2222-3333-4444-555555555555}"
#define CLASS_B "{AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE}"
#define COLUMN(name, attributes, field, class, id, more)                                                               \
    "<Column name='" name "' " attributes "><EventField field='" field "' payloadGuid='" class "' payloadId='" id      \
                                                                                               "' " more "/></Column>"

/* An event of class A or B; all have the layout Size, Ratio, Address, Port, Signed, Flags, When, Name. */
struct made_event {
    char class; /* 'A' or 'B' */
    uint8_t opcode, version;
    uint32_t thread, process;
    double ms; /* since the trace's start */
    uint32_t kernel, user;
    uint32_t size;
    const char *name;
    bool cut, unknown; /* the data are truncated; the event's schema is not known */
};

static char size_name[] = "Size", ratio_name[] = "Ratio", address_name[] = "Address", port_name[] = "Port",
            signed_name[] = "Signed", flags_name[] = "Flags", when_name[] = "When", name_name[] = "Name",
            list_name[] = "List", made_provider[] = "Maker", made_task[] = "Made", made_opcode[] = "Does";
static struct event_property made_properties[] = {
    {.name = size_name, .in_type = IN_TYPE_UINT32, .count = 1},
    {.name = ratio_name, .in_type = IN_TYPE_DOUBLE, .count = 1},
    {.name = address_name, .in_type = IN_TYPE_UINT32, .out_type = OUT_TYPE_IPV4, .count = 1},
    {.name = port_name, .in_type = IN_TYPE_UINT16, .out_type = OUT_TYPE_PORT, .count = 1},
    {.name = signed_name, .in_type = IN_TYPE_INT16, .count = 1},
    {.name = flags_name, .in_type = IN_TYPE_HEXINT32, .count = 1},
    {.name = when_name, .in_type = IN_TYPE_FILETIME, .count = 1},
    {.name = list_name, .flags = PROPERTY_FIXED_COUNT, .in_type = IN_TYPE_UINT8, .count = 2},
    {.name = name_name, .in_type = IN_TYPE_ANSISTRING, .count = 1},
};
static struct event_schema made_schema = {.source = SCHEMA_MANIFEST,
                                          .provider_name = made_provider,
                                          .task_name = made_task,
                                          .opcode_name = made_opcode,
                                          .properties = made_properties,
                                          .property_count = sizeof made_properties / sizeof *made_properties,
                                          .top_level = sizeof made_properties / sizeof *made_properties};

#define TRACE_BEGIN INT64_C(133500000000000000)

struct table_fixture {
    size_t memory;
    double seconds;
    struct report_schema schema;
    struct texts warnings, notes;
    struct report_table_make make;
    struct report_table table;
    HRESULT created;
    bool stopped; /* the caller wants to cancel */
};

/* Creates the table from its XML; the result of event_table_create is in `created`. */
static inline void table_open(struct table_fixture *f, const char *table)
{
    char *text = text_format("<Report name='r' version='1'><Sections><Section name='s' key='1'>%s</Section></Sections>"
                             "</Report>",
                             table);
    *f = (struct table_fixture){.memory = (size_t)4 << 20, .seconds = 10};
    assert_non_null(text);
    assert_int_equal(report_schema_add(&f->schema, "test.xml", text, strlen(text), NULL), S_OK);
    memory_free(text);
    if (f->schema.errors.count)
        fail_msg("%s", f->schema.errors.items[0]);
    report_schema_order(&f->schema);
    f->make = (struct report_table_make){.schema = &f->schema,
                                         .section = f->schema.sections,
                                         .table = f->schema.sections[0].tables,
                                         .warnings = &f->warnings,
                                         .notes = &f->notes};
}

static inline void table_create(struct table_fixture *f)
{
    f->make.memory = f->memory;
    f->created = event_table_create(&f->make, &f->table);
}

static inline HRESULT table_feed(struct table_fixture *f, const struct made_event *m)
{
    static const char *const guids[] = {CLASS_A, CLASS_B};
    const char *name = m->name ? m->name : "";
    uint8_t data[256];
    EVENT_RECORD record = {.UserData = data};
    EVENT_HEADER *h = &record.EventHeader;
    const double ratio = m->size / 4.0;
    put_u32(data, m->size);
    memcpy(data + 4, &ratio, sizeof ratio);
    memcpy(data + 12, (const uint8_t[]){10, 0, (uint8_t)(m->size >> 8), (uint8_t)m->size, 0x1F, 0x90}, 6);
    put_u16(data + 18, (uint16_t)-m->size);
    put_u32(data + 20, m->size);
    put_u64(data + 24, (uint64_t)TRACE_BEGIN + m->size * 10000000ull);
    data[32] = 1;
    data[33] = 2;
    memcpy(data + 34, name, strlen(name) + 1);
    record.UserDataLength = (USHORT)(m->cut ? 2 : 34 + strlen(name) + 1);
    assert_true(text_to_guid(guids[m->class == 'B'], &h->ProviderId));
    h->Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
    h->EventDescriptor.Opcode = m->opcode;
    h->EventDescriptor.Version = m->version;
    h->ThreadId = m->thread;
    h->ProcessId = m->process;
    h->TimeStamp.QuadPart = TRACE_BEGIN + (int64_t)(m->ms * 10000);
    h->KernelTime = m->kernel;
    h->UserTime = m->user;
    const struct trace_event event = {.record = &record, .pointer_size = 8, .timer_resolution = 156250, .known = true};
    struct report_event e = {.event = &event,
                             .utc = h->TimeStamp.QuadPart,
                             .looked = true,
                             .dumped = {.record = &record,
                                        .schema = m->unknown ? NULL : &made_schema,
                                        .reason = "unknown",
                                        .pointer_size = 8,
                                        .timer_resolution = 156250}};
    return f->table.kind->event(f->table.state, &e);
}

static inline bool table_is_stopped(void *context)
{
    return ((const struct table_fixture *)context)->stopped;
}

/* Returns the lines that the table writes; on failure, returns NULL and sets *hr. */
static inline char *table_output(struct table_fixture *f, HRESULT *hr)
{
    struct report_document d = {0};
    const struct report_totals totals = {.first = TRACE_BEGIN,
                                         .last = TRACE_BEGIN + (int64_t)(f->seconds * 1e7),
                                         .seconds = f->seconds,
                                         .stop = table_is_stopped,
                                         .stop_context = f};
    *hr = f->table.kind->write(f->table.state, &totals, &d);
    text_buffer_add(&d.lines, "");
    if (SUCCEEDED(*hr))
        assert_int_equal(d.depth, 0);
    if (SUCCEEDED(*hr) && d.lines.failed)
        *hr = E_OUTOFMEMORY;
    if (FAILED(*hr))
        text_buffer_free(&d.lines);
    return SUCCEEDED(*hr) ? text_buffer_take(&d.lines) : NULL;
}

static inline void table_close(struct table_fixture *f)
{
    if (f->table.kind)
        f->table.kind->free(f->table.state);
    texts_free(&f->warnings);
    texts_free(&f->notes);
    report_schema_free(&f->schema);
}

/* Returns whether a warning or a note contains the string. */
static inline bool table_warned(const struct table_fixture *f, const char *part)
{
    for (size_t i = 0; i < f->warnings.count; i++)
        if (strstr(f->warnings.items[i], part))
            return true;
    for (size_t i = 0; i < f->notes.count; i++)
        if (strstr(f->notes.items[i], part))
            return true;
    return false;
}

#endif
