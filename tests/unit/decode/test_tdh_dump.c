/* SPDX-License-Identifier: MIT */
/* A dump contains every event, also unknown ones and those with truncated data. If its file cannot be written, an error
   is reported; otherwise nobody would notice the loss. */
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static char provider[] = "Maker", event_name[] = "Made", number[] = "Number", text[] = "Te\"xt", part[] = "Part",
            inner[] = "Inner";
static struct event_property properties[] = {
    {.name = number, .in_type = IN_TYPE_UINT32, .count = 1},
    {.name = text, .in_type = IN_TYPE_ANSISTRING, .count = 1},
    {.name = part, .flags = PROPERTY_STRUCT, .count = 1, .first_member = 3, .members = 1},
    {.name = inner, .in_type = IN_TYPE_UINT16, .count = 1},
};
static struct event_schema schema = {
    .source = SCHEMA_TRACE_LOGGING,
    .provider_name = provider,
    .event_name = event_name,
    .properties = properties,
    .property_count = 4,
    .top_level = 3,
};
static uint8_t data[] = {7, 0, 0, 0, 'a', ',', '\n', '"', 0, 9, 0};
static EVENT_RECORD record;

static struct text_buffer written;
static size_t room; /* bytes that fit into the file */

static HRESULT write_some(void *context, const void *bytes, size_t size)
{
    (void)context;
    if (size > room)
        return error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "dump.csv: the disk is full");
    room -= size;
    text_buffer_add_n(&written, bytes, size);
    return S_OK;
}

static int begin(void **state)
{
    (void)state;
    record = (EVENT_RECORD){.UserData = data, .UserDataLength = sizeof data};
    record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
    record.EventHeader.TimeStamp.QuadPart = INT64_C(132590000001234567);
    room = 1 << 20;
    text_buffer_free(&written);
    return 0;
}

static int end(void **state)
{
    (void)state;
    text_buffer_free(&written);
    return 0;
}

static HRESULT dump(enum event_dump_form form, enum event_dump_encoding encoding, bool lenient,
                    const struct dumped_event *e, unsigned times_have_seven_decimals, bool *decoded)
{
    const struct event_dump_options options = {
        .form = form, .encoding = encoding, .lenient = lenient, .write = write_some};
    struct event_dump *d;
    HRESULT hr = event_dump_create(&options, &d);
    for (unsigned i = 0; i < times_have_seven_decimals && SUCCEEDED(hr); i++)
        hr = event_dump_add(d, e, decoded);
    const HRESULT closed = event_dump_close(d);
    return FAILED(hr) ? hr : closed;
}

/* Checks the part of the second line that follows the time. */
static void assert_values(const char *expected)
{
    const char *line = strchr(written.text, '\n') + 1;
    const char *values = strstr(line, "132590000001234567,0,0");
    assert_non_null(values);
    assert_string_equal(values + strlen("132590000001234567,0,0"), expected);
}

static void an_event_stays_on_one_line(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF8, false, &e, 1, &decoded), S_OK);
    assert_true(decoded);
    assert_values(",7,\"a, \"\"\",9\r\n");
}

static void truncated_data_appear_in_hexadecimal(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    record.UserDataLength = 10;
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF8, false, &e, 1, &decoded), S_OK);
    assert_false(decoded);
    assert_non_null(strstr(written.text, ",0x07000000612C0A220009,\"not decoded: "));
    assert_non_null(strstr(written.text, "Inner"));
    begin(NULL);
    record.UserDataLength = 10;
    assert_int_equal(dump(EVENT_DUMP_XML, EVENT_DUMP_UTF8, true, &e, 1, &decoded), S_OK);
    assert_false(decoded);
    assert_non_null(strstr(written.text, "<Data Name=\"Te&quot;xt\">a,\n&quot;</Data>"));
    assert_non_null(strstr(written.text, "</ComplexData>\r\n\t</EventData>\r\n\t<ProcessingErrorData>"));
    assert_non_null(strstr(written.text, "<EventPayload>09</EventPayload>"));
}

static void an_unknown_event_has_a_reason(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .reason = "nobody \"knows\" it"};
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF8, false, &e, 1, &decoded), S_OK);
    assert_false(decoded);
    assert_values(",0x07000000612C0A22000900,\"not decoded: nobody \"\"knows\"\" it\"\r\n");
}

/* tracerpt writes unknown events this way, and readers of its dumps expect the bytes there. */
static void an_unknown_event_is_binary_data_in_xml(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .reason = "nobody knows it"};
    assert_int_equal(dump(EVENT_DUMP_XML, EVENT_DUMP_UTF8, false, &e, 1, &decoded), S_OK);
    assert_false(decoded);
    assert_non_null(strstr(written.text, "</System>\r\n\t<BinaryEventData>07000000612C0A22000900</BinaryEventData>\r\n"
                                         "\t<RenderingInfo"));
    assert_null(strstr(written.text, "ProcessingErrorData"));
}

/* The header of a trace contains a time zone, which is hidden: its 176 bytes are useless to readers. */
static void hidden_properties_are_skipped(void **state)
{
    (void)state;
    static const enum event_dump_form forms[] = {EVENT_DUMP_CSV, EVENT_DUMP_XML};
    bool decoded;
    struct event_property hidden[sizeof properties / sizeof properties[0]];
    struct event_schema with_hidden = schema;
    const struct dumped_event e = {.record = &record, .schema = &with_hidden};
    memcpy(hidden, properties, sizeof hidden);
    hidden[1].out_type = OUT_TYPE_NOPRINT;
    with_hidden.properties = hidden;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        begin(NULL);
        assert_int_equal(dump(forms[i], EVENT_DUMP_UTF8, false, &e, 1, &decoded), S_OK);
        assert_true(decoded);
        assert_null(strstr(written.text, "Te&quot;xt"));
        if (forms[i] == EVENT_DUMP_CSV)
            assert_values(",7,9\r\n");
    }
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    room = 600 * 1024; /* fails at the third write */
    assert_int_equal(dump(EVENT_DUMP_XML, EVENT_DUMP_UTF8, false, &e, 2000, &decoded),
                     HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_DISK_FULL)), "dump.csv"));
    begin(NULL);
    room = 10;
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF8, false, &e, 1, &decoded),
                     HRESULT_FROM_WIN32(ERROR_DISK_FULL));
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    bool decoded;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    uint64_t n = 1;
    for (HRESULT hr = E_OUTOFMEMORY; hr != S_OK; n++) {
        begin(NULL);
        (void)text_buffer_reserve(&written, 4000); /* allocated by the test, not by the dump */
        memory_fail_at(n);
        hr = dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF16, false, &e, 1, &decoded);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
    }
    assert_true(n > 4);
}

static void each_encoding_is_written(void **state)
{
    (void)state;
    bool decoded;
    static char euro[] = "\xE2\x82\xAC";
    const struct dumped_event e = {.record = &record, .schema = &schema};
    schema.provider_name = euro;
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_UTF16, false, &e, 1, &decoded), S_OK);
    static const uint8_t mark[] = {0xFF, 0xFE, 'E', 0, 'v', 0};
    assert_memory_equal(written.text, mark, sizeof mark);
    static const uint8_t name[] = {'\n', 0, 0xAC, 0x20, '/', 0};
    size_t at = 0;
    while (at + sizeof name < written.length && memcmp(written.text + at, name, sizeof name) != 0)
        at++;
    assert_true(at + sizeof name < written.length);
    begin(NULL);
    assert_int_equal(dump(EVENT_DUMP_CSV, EVENT_DUMP_ANSI, false, &e, 1, &decoded), S_OK);
    assert_non_null(strstr(written.text, "\n\x80/Made,"));
    schema.provider_name = provider;
}

static void kinds_are_counted(void **state)
{
    (void)state;
    struct event_summary s = {0};
    struct text_buffer table = {0};
    const struct dumped_event known = {.record = &record, .schema = &schema};
    const struct dumped_event unknown = {.record = &record, .reason = "no"};
    for (unsigned i = 0; i < 3000; i++) {
        record.EventHeader.EventDescriptor.Id = (uint16_t)(i % 1000);
        assert_int_equal(event_summary_count(&s, i % 1000 == 7 ? &known : &unknown, i % 1000 == 7), S_OK);
    }
    assert_int_equal(s.events, 3000);
    assert_int_equal(s.undecoded, 2997);
    assert_int_equal(s.count, 1000);
    assert_int_equal(event_summary_table(&s, &table), S_OK);
    assert_non_null(strstr(table.text, "|           3  Maker/Made "));
    text_buffer_free(&table);
    event_summary_free(&s);
}

static void times_have_seven_decimals(void **state)
{
    (void)state;
    struct dump_clock clock = {0};
    struct text_buffer b = {0};
    dump_time(&b, &clock, INT64_C(132590000001234567));
    dump_time(&b, &clock, INT64_C(132590000009999999));
    dump_time(&b, &clock, INT64_C(132590000010000000));
    dump_time(&b, &clock, -1);
    dump_time(&b, &clock, INT64_MAX);
    assert_non_null(strstr(b.text, "2021-02-28T15:33:20.12345672021-02-28T15:33:20.99999992021-02-28T15:33:21.0000000"
                                   "1601-01-01T00:00:00.0000000"));
    text_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_stays_on_one_line, begin, end),
        cmocka_unit_test_setup_teardown(truncated_data_appear_in_hexadecimal, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_event_has_a_reason, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_event_is_binary_data_in_xml, begin, end),
        cmocka_unit_test_setup_teardown(hidden_properties_are_skipped, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(out_of_memory_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(each_encoding_is_written, begin, end),
        cmocka_unit_test_setup_teardown(kinds_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(times_have_seven_decimals, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
