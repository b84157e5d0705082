/* SPDX-License-Identifier: MIT */
/* A classic event provider's events, written with TraceEvent, are decoded by its MOF classes: every field of the
   published examples, and each MOF type. */
#include "engine/base/memory.h"
#include "engine/etw/consumer/event_view.h"
#include "engine/etw/event_values.h"
#include "engine/etw/mof_classes.h"
#include "engine/etw/tmf.h"
#include "tests/unit/etw/hosted_session.h"
#include "tests/unit/mof_examples.h"

static const GUID category = {0xB49D5931, 0xAD85, 0x4070, {0xB1, 0xB1, 0x3F, 0x81, 0xF1, 0x53, 0x28, 0x75}};

/* Appends "name=text;" for each of the event's values. */
static HRESULT add_value(void *context, enum event_step step, const struct event_value *v)
{
    struct decoded {
        const struct event_schema *schema;
        struct text_buffer *text;
    } *d = context;
    if (step != STEP_VALUE)
        return S_OK;
    text_buffer_format(d->text, "%s=", v->property->name);
    HRESULT hr = event_value_text(d->schema, v, d->text);
    text_buffer_add(d->text, ";");
    return hr;
}

static void decodes_to(const struct mof_classes *classes, const struct etl_record *r, const char *expected)
{
    static struct event_view view;
    struct event_schema *schema;
    struct text_buffer text = {0};
    size_t used;
    event_view_record(r, 0, 0, false, &view);
    const EVENT_HEADER *h = &view.record.EventHeader;
    assert_true(h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
    assert_int_equal(
        mof_classes_schema(classes, &h->ProviderId, h->EventDescriptor.Opcode, h->EventDescriptor.Version, &schema),
        S_OK);
    const struct event_data data = event_data_of(&view.record, 0);
    struct {
        const struct event_schema *schema;
        struct text_buffer *text;
    } context = {schema, &text};
    HRESULT hr = event_values_walk(schema, &data, add_value, &context, &used);
    if (hr != S_OK)
        fail_msg("%s: %s", text.text ? text.text : "", error_text(hr));
    assert_string_equal(text.text, expected);
    assert_int_equal(used, r->data_size);
    text_buffer_free(&text);
    event_schema_free(schema);
}

static struct hosted session;
static struct mof_classes *classes;

static int start(void **state)
{
    (void)state;
    hosted_start(&session, "decoded", 0);
    return FAILED(mof_classes_create(&classes));
}

static int end(void **state)
{
    (void)state;
    mof_classes_free(classes);
    hosted_stop(&session);
    return 0;
}

static void write_event(uint8_t type, uint16_t version, const void *data, size_t size)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD field;
    } event = {
        .header = {.Size = sizeof event, .Guid = category, .Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR},
        .field = {(uintptr_t)data, (ULONG)size, 0}};
    event.header.Class.Type = type;
    event.header.Class.Version = version;
    assert_int_equal(TraceEvent(directory_handle(&session.s), &event.header), ERROR_SUCCESS);
}

static const struct etl_record *only_event(void)
{
    struct fixture_session f = {.drain = session.drain};
    const struct fixture_log *log = fixture_read(&f);
    assert_int_equal(log->count, 1);
    return &log->event[0].record;
}

static void add(const char *text)
{
    HRESULT hr = mof_classes_add(classes, "f.mof", text, strlen(text));
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

/* The fields as the published event provider writes them: Cost, Indices, Signature, IsComplete, ID, and Size in version
   1. */
#define EXAMPLE_DATA                                                                                                   \
    "\xF9\xFF\xFF\xFF"                                                                                                 \
    "\x01\0\0\0\x02\0\0\0\x03\0\0\0"                                                                                   \
    "S\0i\0g\0\0\0"                                                                                                    \
    "\x01\0\0\0"                                                                                                       \
    "\x31\x59\x9D\xB4\x85\xAD\x70\x40\xB1\xB1\x3F\x81\xF1\x53\x28\x75"                                                 \
    "\0\x10\0\0"
#define EXAMPLE_TEXT                                                                                                   \
    "Cost=-7;Indices=1;Indices=2;Indices=3;Signature=Sig;IsComplete=true;ID={b49d5931-ad85-4070-b1b1-3f81f1532875};"

static void published_examples_are_decoded_as_written(void **state)
{
    (void)state;
    add(mof_example);
    write_event(1, 0, EXAMPLE_DATA, sizeof EXAMPLE_DATA - 5);
    decodes_to(classes, only_event(), EXAMPLE_TEXT);
    add(mof_versions_example);
    write_event(1, 0, EXAMPLE_DATA, sizeof EXAMPLE_DATA - 5);
    decodes_to(classes, only_event(), EXAMPLE_TEXT);
    write_event(1, 1, EXAMPLE_DATA, sizeof EXAMPLE_DATA - 1);
    decodes_to(classes, only_event(), EXAMPLE_TEXT "Size=4096;");
    /* A writer that is newer than the classes, and an event that is shorter than its class. */
    write_event(1, 9, EXAMPLE_DATA, sizeof EXAMPLE_DATA - 1);
    decodes_to(classes, only_event(), EXAMPLE_TEXT "Size=4096;");
    write_event(1, 1, EXAMPLE_DATA, sizeof EXAMPLE_DATA - 5);
    decodes_to(classes, only_event(), EXAMPLE_TEXT);
}

#define TYPES_HEAD                                                                                                     \
    "[Guid(\"{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}\")] class P : EventTrace {};\n"                                    \
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\")] class C : P {};\n"                                             \
    "[EventType(1)] class C_E : C {\n"
#define BYTES(text) (text), sizeof(text) - 1
#if UINTPTR_MAX > 0xFFFFFFFF
#define POINTER(low) low "\x44\x33\x22\x11"
#define POINTER_TEXT "0x1122334489ABCDEF"
#else
#define POINTER(low) low
#define POINTER_TEXT "0x89ABCDEF"
#endif

static void each_mof_type_is_decoded_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *members, *bytes;
        size_t size;
        const char *text;
    } rows[] = {
        {"sint8 a; uint8 b; sint16 c; uint16 d;", BYTES("\xFF\xFF\xFE\xFF\xFE\xFF"), "a=-1;b=255;c=-2;d=65534;"},
        {"sint32 a; uint32 b;", BYTES("\xFD\xFF\xFF\xFF\xFD\xFF\xFF\xFF"), "a=-3;b=4294967293;"},
        {"sint64 a; uint64 b;", BYTES("\xFC\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
         "a=-4;b=18446744073709551612;"},
        {"real32 a; real64 b;", BYTES("\0\0\xC0\x3F\0\0\0\0\0\0\x04\xC0"), "a=1.5;b=-2.5;"},
        {"boolean a; boolean b;", BYTES("\0\0\0\0\x02\0\0\0"), "a=false;b=true;"},
        {"[Format(\"x\")] uint8 a; [Format(\"x\")] uint16 b; [Format(\"x\")] uint32 c; [Format(\"x\")] uint64 d;",
         BYTES("\x1F\xFE\x01\xEF\xCD\xAB\x89\xEF\xCD\xAB\x89\x67\x45\x23\x01"),
         "a=0x1F;b=0x1FE;c=0x89ABCDEF;d=0x123456789ABCDEF;"},
        {"[Format(\"c\")] uint8 a; char16 b; [Format(\"s\")] char16 c[4]; [Format(\"s\")] uint8 d[4];",
         BYTES("Ax\0o\0k\0\0\0?\0yes\0"), "a=A;b=x;c=ok;d=yes;"},
        {"string a; [Format(\"w\")] string b;", BYTES("one\0t\0w\0o\0\0\0"), "a=one;b=two;"},
        {"[StringTermination(\"Counted\")] string a; [StringTermination(\"Counted\"), Format(\"w\")] string b;",
         BYTES("\x03\0one\x06\0t\0w\0o\0"), "a=one;b=two;"},
        {"[StringTermination(\"ReverseCounted\")] string a; [StringTermination(\"ReverseCounted\"), Format(\"w\")] "
         "string b;",
         BYTES("\0\x03one\0\x06t\0w\0o\0"), "a=one;b=two;"},
        {"uint8 n; [StringTermination(\"NotCounted\")] string a;", BYTES("\x05rest of it"), "n=5;a=rest of it;"},
        {"uint8 n; [StringTermination(\"NotCounted\"), Format(\"w\")] string a;", BYTES("\x05r\0e\0s\0t\0"),
         "n=5;a=rest;"},
        {"[Extension(\"Guid\")] object a; [Extension(\"Guid\")] uint8 b[16];",
         BYTES("\x31\x59\x9D\xB4\x85\xAD\x70\x40\xB1\xB1\x3F\x81\xF1\x53\x28\x75"
               "\x01\0\0\0\x02\0\x03\0\x04\0\0\0\0\0\0\0"),
         "a={b49d5931-ad85-4070-b1b1-3f81f1532875};b={00000001-0002-0003-0400-000000000000};"},
        {"[Extension(\"Port\")] object a; [Extension(\"IPAddr\")] object b; [Extension(\"IPAddrV6\")] object c;",
         BYTES("\x1F\x90\x7F\0\0\x01\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01"), "a=8080;b=127.0.0.1;c=2001:db8::1;"},
        {"[Extension(\"Sid\")] object a; uint8 b;", BYTES("\0\0\0\0\x07"), "a=;b=7;"},
        {"[Extension(\"Sid\")] object a; uint8 b;",
         BYTES(POINTER("\x01\0\0\0") POINTER("\0\0\0\0") "\x01\x01\0\0\0\0\0\x05\x12\0\0\0\x07"), "a=S-1-5-18;b=7;"},
        {"[Pointer] uint32 a; [Extension(\"SizeT\")] object b; uint8 c;",
         BYTES(POINTER("\xEF\xCD\xAB\x89") POINTER("\xEF\xCD\xAB\x89") "\x07"),
         "a=" POINTER_TEXT ";b=" POINTER_TEXT ";c=7;"},
        {"[Extension(\"WmiTime\")] object a;", BYTES("\x07\0\0\0\0\0\0\0"), "a=7;"},
        {"[Extension(\"Variant\")] object a; uint8 b;", BYTES("\x02\0\0\0\xAB\xCD\x07"), "a=0xABCD;b=7;"},
        {"uint8 a[3]; [Max(2)] uint16 b[];", BYTES("\x01\x02\x03\x04\0\x05\0"), "a=1;a=2;a=3;b=4;b=5;"},
        {"uint16 n; [WmiSizeIs(\"n\")] uint32 a[]; uint8 b;", BYTES("\x02\0\x01\0\0\0\x02\0\0\0\x07"),
         "n=2;a=1;a=2;b=7;"},
        {"uint32 n; [WmiSizeIs(\"n\"), Format(\"w\")] string a[];", BYTES("\x02\0\0\0a\0\0\0b\0\0\0"), "n=2;a=a;a=b;"},
        {"uint32 n; [WmiSizeIs(\"n\")] object a; uint8 b;", BYTES("\x02\0\0\0\xAB\xCD\x07"), "n=2;a=0xABCD;b=7;"},
        {"uint8 a; uint8 b[];", BYTES("\x01\x02\x03"), "a=1;b=0x0203;"},
        {"[Values{\"one\", \"two\"}, ValueMap{\"1\", \"2\"}] uint8 a; [Values{\"no\", \"yes\"}] uint8 b;",
         BYTES("\x02\x01"), "a=two;b=yes;"},
        {"[BitValues{\"low\", \"high\"}, BitMap{\"0\", \"31\"}] uint32 a; [Values{\"x\", \"y\"}, ValueMap{\"0x10\", "
         "\"0x20\"}, ValueType(\"flag\")] uint32 b;",
         BYTES("\x01\0\0\x80\x30\0\0\0"), "a=low|high;b=x|y;"},
        {"[Values{\"one\", \"else\"}, ValueMap{\"1\"}] uint8 a; [Values{\"long\"}, ValueMap{\"l\"}] string b;",
         BYTES("\x09l\0"), "a=else;b=long;"},
        {"[Values{\"minus\"}, ValueMap{\"-1\"}] sint8 a; [Values{\"minus\"}, ValueMap{\"-1\"}] sint32 b;",
         BYTES("\xFF\xFF\xFF\xFF\xFF"), "a=minus;b=minus;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = text_format(TYPES_HEAD "%s };", rows[i].members);
        add(text);
        memory_free(text);
        write_event(1, 0, rows[i].bytes, rows[i].size);
        decodes_to(classes, only_event(), rows[i].text);
    }
}

/* Flags, parts of the header, and arguments as WPP's macros write them. */
static void wpp_message_is_decoded_as_written(void **state)
{
    (void)state;
    static const char tmf[] = "b49d5931-ad85-4070-b1b1-3f81f1532875 driver // SRC=d.c MJ=Major MN=Minor\n"
                              "#typev d_c12 12 \"%0%10!s! has %11!d! (%12!04X!) at %13!p!, number %7!d! of %8!d!\" // "
                              "LEVEL=ERROR FLAGS=F FUNC=Entry\n"
                              "{\nname, ItemWString -- 10\ncount, ItemLong -- 11\nbits, ItemShort -- 12\n"
                              "at, ItemPtr -- 13\n}\n";
    static struct event_view view;
    static const int32_t count = -3;
    static const uint16_t bits = 0xAB;
    const void *const at = &view;
    struct hosted numbered;
    struct tmf_document *d;
    struct tmf_property p;
    struct tmf_files *files;
    hosted_start(&numbered, "numbered", TRACE_MODE_LOCAL_SEQUENCE);
    assert_int_equal(
        TraceMessage(directory_handle(&numbered.s),
                     TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
                     &category, 12, "d\0k\0\0", (size_t)6, &count, sizeof count, &bits, sizeof bits, &at, sizeof at,
                     NULL, (size_t)0),
        ERROR_SUCCESS);
    struct fixture_session f = {.drain = numbered.drain};
    const struct fixture_log *log = fixture_read(&f);
    assert_int_equal(log->count, 1);
    event_view_record(&log->event[0].record, 0, 0, false, &view);
    assert_int_equal(tmf_text_read("d.tmf", tmf, sizeof tmf - 1, &d), S_OK);
    struct text_buffer text = {0};
    struct event_schema *schema;
    assert_int_equal(tmf_schema(&d->messages[0], &schema), S_OK);
    assert_int_equal(tmf_sentence(schema, &view.record, 0, true, &text), S_OK);
    event_schema_free(schema);
    char *expected = text_format("dk has -3 (00AB) at %0*llX, number 1 of %u", (int)(2 * sizeof at),
                                 (unsigned long long)(uintptr_t)at, (unsigned)process_own_id());
    assert_string_equal(text.text, expected);
    memory_free(expected);
    text_buffer_free(&text);
    tmf_document_free(d);
    assert_int_equal(tmf_files_create(NULL, NULL, false, &files), S_OK);
    assert_int_equal(tmf_property(files, &view.record, 0, "SequenceNum", &p), S_OK);
    assert_int_equal(p.number, 1);
    tmf_files_free(files);
    hosted_stop(&numbered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(published_examples_are_decoded_as_written, start, end),
        cmocka_unit_test_setup_teardown(each_mof_type_is_decoded_as_written, start, end),
        cmocka_unit_test_setup_teardown(wpp_message_is_decoded_as_written, start, end),
    };
    return cmocka_run_group_tests(tests, hosted_begin, NULL);
}
