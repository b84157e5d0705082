/* SPDX-License-Identifier: MIT */
/* TMF files describe WPP messages: with them, a message is a string with arguments, otherwise only a number. */
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static HRESULT message_sentence(const struct tmf_message *m, const EVENT_RECORD *event, uint32_t pointer_size, bool gmt,
                                struct text_buffer *out)
{
    struct event_schema *schema;
    HRESULT hr = tmf_schema(m, &schema);
    if (SUCCEEDED(hr))
        hr = tmf_sentence(schema, event, pointer_size, gmt, out);
    event_schema_free(schema);
    return hr;
}

#define GUID_TEXT "d58c126f-b309-11d1-969e-0000f875a5bc"
#define HEAD      GUID_TEXT " tracedrv // SRC=tracedrv.c MJ=Drivers MN=Trace\n"

static const GUID guid = {0xD58C126F, 0xB309, 0x11D1, {0x96, 0x9E, 0x00, 0x00, 0xF8, 0x75, 0xA5, 0xBC}};

static struct tmf_document *document;

static void read_text(const char *text)
{
    tmf_document_free(document);
    document = NULL;
    HRESULT hr = tmf_text_read("f.tmf", text, strlen(text), &document);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

static int end(void **state)
{
    (void)state;
    tmf_document_free(document);
    document = NULL;
    return 0;
}

static EVENT_RECORD message_event(uint16_t number, const void *data, size_t size)
{
    EVENT_RECORD e = {.UserData = (void *)(uintptr_t)data, .UserDataLength = (USHORT)size};
    e.EventHeader.ProviderId = guid;
    e.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_64_BIT_HEADER;
    e.EventHeader.EventDescriptor.Id = number;
    e.EventHeader.ThreadId = 0x1A2B;
    e.EventHeader.ProcessId = 77;
    return e;
}

static const char published[] =
    "// PDB:  c:\\tracedrv.pdb\r\n"
    "// PDB:  Last Updated :2005-1-1\r\n" HEAD
    "#typev tracedrv_c258 11 \"%0Hello, %10!s! %11!d! from %!FUNC!: 100%%\" //   LEVEL=TRACE_LEVEL_ERROR "
    "FLAGS=Flag_One FUNC=TracedrvDispatch\r\n"
    "{\r\nname, with (a, b), ItemString -- 10\r\nArg, ItemLong -- 11\r\n}\r\n"
    "#typev tracedrv_c260 12 \"%0nothing \\\"quoted\\\"\" //   LEVEL=INFO FLAGS=\n{\n}\n";

static void a_message_has_a_string_and_arguments(void **state)
{
    (void)state;
    read_text(published);
    assert_int_equal(document->count, 2);
    const struct tmf_message *m = tmf_document_find(document, &guid, 11);
    assert_non_null(m);
    assert_null(tmf_document_find(document, &guid, 13));
    assert_string_equal(m->guid_name, "tracedrv");
    assert_string_equal(m->type_name, "tracedrv_c258");
    assert_string_equal(m->function, "TracedrvDispatch");
    assert_string_equal(m->level, "TRACE_LEVEL_ERROR");
    assert_string_equal(m->flags, "Flag_One");
    assert_string_equal(m->component, "Drivers");
    assert_string_equal(m->subcomponent, "Trace");
    static const char data[] = "you\0\xFB\xFF\xFF\xFF";
    const EVENT_RECORD e = message_event(11, data, 8);
    struct text_buffer b = {0};
    assert_int_equal(message_sentence(m, &e, 0, true, &b), S_OK);
    assert_string_equal(b.text, "Hello, you -5 from TracedrvDispatch: 100%");
    b.length = 0;
    assert_int_equal(message_sentence(tmf_document_find(document, &guid, 12), &e, 0, true, &b), S_OK);
    assert_string_equal(b.text, "nothing \"quoted\"");
    text_buffer_free(&b);
    struct event_schema *s;
    assert_int_equal(tmf_schema(m, &s), S_OK);
    assert_int_equal(s->source, SCHEMA_WPP);
    assert_true(guid_equal(&s->provider, &guid));
    assert_string_equal(s->event_message, "Hello, %1 %2 from TracedrvDispatch: 100%%");
    assert_string_equal(s->properties[0].name, "name, with (a, b)");
    assert_int_equal(s->top_level, 2);
    event_schema_free(s);
    /* An event with less data than its message needs. */
    const EVENT_RECORD shorter = message_event(11, data, 6);
    assert_int_equal(message_sentence(m, &shorter, 0, true, &b), EVENT_DATA_INVALID);
    assert_non_null(strstr(error_text(EVENT_DATA_INVALID), "Arg"));
    text_buffer_free(&b);
}

static void each_type_and_form_is_formatted(void **state)
{
    (void)state;
    static const struct {
        const char *form, *item, *data;
        size_t size;
        const char *text;
    } rows[] = {
        {"%10!c!", "ItemChar", "A", 1, "A"},
        {"%10!d!", "ItemUChar", "\xFF", 1, "255"},
        {"%10!d!", "ItemShort", "\xFE\xFF", 2, "-2"},
        {"%10!u!", "ItemUShort", "\xFE\xFF", 2, "65534"},
        {"%10!u!", "ItemLong", "\xFF\xFF\xFF\xFF", 4, "4294967295"},
        {"%10", "ItemULong", "\xFF\xFF\xFF\xFF", 4, "4294967295"},
        {"%10!08x!", "ItemLong", "\xEF\xBE\xAD\0", 4, "00adbeef"},
        {"0x%10!X!", "ItemLong", "\xFF\xFF\xFF\xFF", 4, "0xFFFFFFFF"},
        {"%10!#x!", "ItemLong", "\x1F\0\0\0", 4, "0x1f"},
        {"[%10!5d!|%10!-5d!|%10!+d!|%10!.4d!]", "ItemLong", "\x2A\0\0\0", 4, "[   42|42   |+42|0042]"},
        {"%10!o!", "ItemLong", "\x08\0\0\0", 4, "10"},
        {"%10!I64d!", "ItemLongLong", "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8, "-2"},
        {"%10!I64X!", "ItemLongLongXX", "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8, "FFFFFFFFFFFFFFFE"},
        {"%10!p!", "ItemPtr", "\xEF\xCD\xAB\x89\0\0\0\0", 8, "0000000089ABCDEF"},
        {"%10!.2f!", "ItemDouble", "\0\0\0\0\0\0\x04\xC0", 8, "-2.50"},
        {"%10!s!", "ItemString", "ab\0", 3, "ab"},
        {"[%10!5s!|%10!-5s!|%10!.1s!]", "ItemString", "ab\0", 3, "[   ab|ab   |a]"},
        {"%10!s!", "ItemWString", "a\0\xE4\0\0\0", 6, "a\xC3\xA4"},
        {"%10!s!", "ItemRString", "a\nb\r\n\0", 6, "a b"},
        {"%10!s!", "ItemPString", "\x02\0ab", 4, "ab"},
        {"%10!s!", "ItemPWString", "\x04\0a\0b\0", 6, "ab"},
        {"%10!s!", "ItemGuid", "\x6F\x12\x8C\xD5\x09\xB3\xD1\x11\x96\x9E\0\0\xF8\x75\xA5\xBC", 16, "{" GUID_TEXT "}"},
        {"%10!s!", "ItemSid", "\x01\x01\0\0\0\0\0\x05\x12\0\0\0", 12, "S-1-5-18"},
        {"%10!s!:%11!s!", "ItemIPAddr -- 10\nPort, ItemPort", "\x7F\0\0\x01\x1F\x90", 6, "127.0.0.1:8080"},
        {"%10!s!", "ItemHexDump", "\x02\0\xAB\xCD", 4, "0xABCD"},
        {"%10!s!", "ItemMACAddr", "\x01\x02\x03\x04\x05\x06", 6, "0x010203040506"},
        {"%10!s!", "ItemTimestamp", "\x00\x80\x3E\xD5\xDE\xB1\x9D\x01", 8, "01/01/1970-00:00:00.000"},
        {"%10!s!", "ItemTimeDelta", "\x80\x96\x98\0\0\0\0\0", 8, "0~00:00:01.000"},
        {"%10!s!", "ItemListByte(no, yes)", "\x01", 1, "yes"},
        {"%10!s!", "ItemListLong(no,yes)", "\x07\0\0\0", 4, "7"},
        {"%10!s!", "ItemSetLong(a,b,c)", "\x05\0\0\0", 4, "a|c"},
        {"%10!d! %99!d! %!WHO! %1 %2 %8!d! %3!04X! 50%", "ItemUChar", "\x01", 1,
         "1 %99 %!WHO! tracedrv type 77 1A2B 50%"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool two = strchr(rows[i].item, '\n') != NULL;
        char *text = text_format(HEAD "#typev type 5 \"%%0%s\" // FUNC=f\n{\nv, %s -- %d\n}\n", rows[i].form,
                                 rows[i].item, two ? 11 : 10);
        read_text(text);
        memory_free(text);
        const EVENT_RECORD e = message_event(5, rows[i].data, rows[i].size);
        struct text_buffer b = {0};
        HRESULT hr = message_sentence(document->messages, &e, 0, true, &b);
        if (FAILED(hr) || strcmp(b.text, rows[i].text) != 0)
            fail_msg("%s of %s: \"%s\", not \"%s\"", rows[i].form, rows[i].item, FAILED(hr) ? error_text(hr) : b.text,
                     rows[i].text);
        text_buffer_free(&b);
    }
}

static void unknown_lines_hide_no_message(void **state)
{
    (void)state;
    read_text(HEAD "#enumv colors\n{\nred, 1\n}\n#pdb x\n#typev t 5 \"%0a\" //\n{\n}\n");
    assert_int_equal(document->count, 1);
}

static void hexadecimal_arguments_set_the_output_type(void **state)
{
    (void)state;
    struct event_schema *s;
    read_text(HEAD
              "#typev t 5 \"%0status 0x%10!08X! of %11!d!\" //\n{\nStatus, ItemLong -- 10\nOf, ItemLong -- 11\n}\n");
    assert_int_equal(tmf_schema(document->messages, &s), S_OK);
    assert_string_equal(s->event_message, "status %1 of %2");
    assert_int_equal(s->properties[0].out_type, 18);
    assert_int_equal(s->properties[1].out_type, 0);
    event_schema_free(s);
    read_text(HEAD "#typev t 5 \"%0%10!s!\" //\n{\nv, ItemNew -- 10\n}\n");
    const HRESULT unknown = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
    assert_int_equal(tmf_schema(document->messages, &s), unknown);
    assert_non_null(strstr(error_text(unknown), "'v': unknown argument type 'ItemNew'"));
}

static void an_invalid_file_is_rejected_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"hello", "f.tmf(1): expected a GUID, #typev or a comment: 'hello'"},
        {"\n#typev t 1 \"x\"\n{\n}\n", "f.tmf(2): no GUID precedes the message"},
        {HEAD "#typev t\n", "f.tmf(2): expected #typev NAME NUMBER \"FORMAT\""},
        {HEAD "#typev t 70000 \"x\"\n", "the message number must be 0 to 65535"},
        {HEAD "#typev t 1 \"x\n", "the format has no closing quote"},
        {HEAD "#typev t 1 \"x\"\nx\n", "f.tmf(3): expected '{'"},
        {HEAD "#typev t 1 \"x\"\n{\na, ItemLong -- 10\n", "the file ends before '}'"},
        {HEAD "#typev t 1 \"x\"\n{\na ItemLong 10\n}\n", "f.tmf(4): expected NAME, ItemTYPE -- NUMBER"},
        {HEAD "#typev t 1 \"x\"\n{\na, ItemListLong(a,b -- 10\n}\n", "the list of names has no closing ')'"},
        {HEAD "#other x\n{\n", "the file ends before '}'"},
    };
    const HRESULT invalid = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tmf_text_read("f.tmf", rows[i].text, strlen(rows[i].text), &document), invalid);
        if (!strstr(error_text(invalid), rows[i].said))
            fail_msg("\"%s\": %s", rows[i].text, error_text(invalid));
    }
    char text[8192];
    const int begin = snprintf(text, sizeof text, "a9d1b3c5-1111-2222-3333-444455556666 ");
    memset(text + begin, 'n', 5000); /* a name that a million messages would each repeat */
    text[begin + 5000] = 0;
    assert_int_equal(tmf_text_read("f.tmf", text, strlen(text), &document), invalid);
    assert_non_null(strstr(error_text(invalid), "the names have more than 4096 bytes"));
}

static void properties_of_a_message_are_found_by_name(void **state)
{
    (void)state;
    char *folder = scratch_create("tmf"), *path = path_join(folder, "d58c126f-b309-11d1-969e-0000f875a5bc.tmf");
    struct texts folders = {0};
    struct tmf_files *files;
    struct tmf_property p;
    uint8_t number[4];
    put_u32(number, 99);
    EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = TMF_ITEM_SEQUENCE, .DataSize = 4, .DataPtr = (uintptr_t)number};
    static const char data[] = "you\0\xFB\xFF\xFF\xFF";
    EVENT_RECORD e = message_event(11, data, 8);
    e.EventHeader.TimeStamp.QuadPart = 123456789;
    const HRESULT missing = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    assert_int_equal(texts_add(&folders, folder), S_OK);
    assert_int_equal(tmf_files_create(NULL, &folders, true, &files), S_OK);
    assert_int_equal(tmf_property(files, &e, 0, "LevelName", &p), missing);
    assert_non_null(strstr(error_text(missing), "no file describes message 11"));
    tmf_files_free(files);
    assert_int_equal(file_store(path, published, sizeof published - 1), S_OK);
    assert_int_equal(tmf_files_create(NULL, &folders, true, &files), S_OK);
    static const struct {
        const char *name, *text;
    } texts[] = {{"FormattedString", "Hello, you -5 from TracedrvDispatch: 100%"},
                 {"FunctionName", "TracedrvDispatch"},
                 {"ComponentName", "Drivers"},
                 {"SubComponentName", "Trace"},
                 {"GuidTypeName", "tracedrv"},
                 {"FlagsName", "Flag_One"},
                 {"LevelName", "TRACE_LEVEL_ERROR"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(tmf_property(files, &e, 0, texts[i].name, &p), S_OK);
        assert_int_equal(p.kind, TMF_TEXT);
        assert_string_equal(p.text, texts[i].text);
        memory_free(p.text);
    }
    assert_int_equal(tmf_property(files, &e, 0, "SystemTime", &p), S_OK);
    assert_true(p.kind == TMF_TIME && p.filetime == 123456789);
    assert_int_equal(tmf_property(files, &e, 0, "TraceGuid", &p), S_OK);
    assert_true(p.kind == TMF_GUID && guid_equal(&p.guid, &guid));
    assert_int_equal(tmf_property(files, &e, 0, "SequenceNum", &p), missing);
    e.ExtendedData = &item;
    e.ExtendedDataCount = 1;
    e.EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
    assert_int_equal(tmf_property(files, &e, 0, "SequenceNum", &p), S_OK);
    assert_true(p.kind == TMF_NUMBER && p.number == 99);
    assert_int_equal(tmf_property(files, &e, 0, "Color", &p), missing);
    e.EventHeader.EventDescriptor.Id = 12;
    assert_int_equal(tmf_property(files, &e, 0, "FunctionName", &p), missing);
    tmf_files_free(files);
    memory_free(path);
    texts_free(&folders);
    scratch_remove(folder);
    memory_free(folder);
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    HRESULT hr;
    uint64_t n = 1;
    do {
        memory_fail_at(n++);
        hr = tmf_text_read("f.tmf", published, sizeof published - 1, &document);
        memory_fail_at(0);
    } while (hr == E_OUTOFMEMORY);
    assert_int_equal(hr, S_OK);
    assert_in_range(n, 20, UINT32_MAX);
    static const char data[] = "you\0\xFB\xFF\xFF\xFF";
    const EVENT_RECORD e = message_event(11, data, 8);
    struct text_buffer b;
    n = 1;
    do {
        b = (struct text_buffer){0};
        memory_fail_at(n++);
        hr = message_sentence(tmf_document_find(document, &guid, 11), &e, 0, true, &b);
        memory_fail_at(0);
        text_buffer_free(&b);
    } while (hr == E_OUTOFMEMORY);
    assert_int_equal(hr, S_OK);
    assert_in_range(n, 8, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_message_has_a_string_and_arguments, end),
        cmocka_unit_test_teardown(each_type_and_form_is_formatted, end),
        cmocka_unit_test_teardown(unknown_lines_hide_no_message, end),
        cmocka_unit_test_teardown(hexadecimal_arguments_set_the_output_type, end),
        cmocka_unit_test_teardown(an_invalid_file_is_rejected_with_its_line, end),
        cmocka_unit_test_teardown(properties_of_a_message_are_found_by_name, end),
        cmocka_unit_test_teardown(out_of_memory_is_reported, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
