/* SPDX-License-Identifier: MIT */
/* Instrumentation manifests: events are decoded as the manifest describes them, in the preferred language; an error
   names the line, the element and the value. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "tests/unit/decode/manifest_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static struct provider_manifests read_all(const char *xml)
{
    struct provider_manifests list;
    HRESULT hr = manifest_xml_read(xml, strlen(xml), NULL, &list);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return list;
}

static struct event_schema *schema_of(const struct provider_manifest *m, uint16_t id, uint8_t version,
                                      const char *languages)
{
    const struct manifest_event *e = provider_manifest_event(m, id, version);
    struct event_schema *s = NULL;
    assert_non_null(e);
    assert_int_equal(provider_manifest_schema(m, &e->descriptor, languages, &s), S_OK);
    return s;
}

static void an_event_matches_the_manifest(void **state)
{
    (void)state;
    struct provider_manifests list = read_all(WHOLE_MANIFEST);
    assert_int_equal(list.count, 1);
    const struct provider_manifest *m = list.items[0];
    assert_string_equal(m->name, "Test-Provider");
    assert_string_equal(m->resource_file, "test.dll");
    struct event_schema *s = schema_of(m, 1, 0, NULL);
    assert_int_equal(s->descriptor.Level, 4);
    assert_int_equal(s->descriptor.Task, 7);
    assert_int_equal(s->descriptor.Opcode, 20); /* the task's opcode takes precedence over the global one */
    assert_int_equal(s->descriptor.Channel, 16);
    assert_true(s->descriptor.Keyword == (12 | UINT64_C(1) << 62)); /* the bit of the second channel */
    assert_int_equal(s->event.Data1, 0x11111111);
    assert_string_equal(s->provider_name, "Test-Provider");
    assert_string_equal(s->provider_message, "Test provider");
    assert_string_equal(s->level_name, "Information");
    assert_string_equal(s->channel_name, "Reading");
    assert_string_equal(s->task_name, "Reading");
    assert_string_equal(s->opcode_name, "Part");
    assert_int_equal(s->keyword_count, 2);
    assert_string_equal(s->keyword_names[0], "Red");
    assert_string_equal(s->keyword_names[1], "Net");
    assert_string_equal(s->event_message, "%2 read from %1!s!");
    assert_int_equal(s->property_count, 4);
    assert_int_equal(s->top_level, 4);
    assert_string_equal(s->properties[1].name, "Bytes");
    assert_int_equal(s->properties[1].in_type, 8);
    assert_int_equal(s->properties[1].out_type, 18);
    assert_int_equal(s->properties[0].out_type, 1);
    const struct event_map *colours = event_schema_map(s, s->properties[2].map);
    assert_int_equal(colours->flag, MAP_MANIFEST_VALUES);
    assert_string_equal(colours->entries[1].text, "Green"); /* without the trailing space */
    const struct event_map *bits = event_schema_map(s, "Bits");
    assert_int_equal(bits->flag, MAP_MANIFEST_BITS);
    assert_int_equal(bits->entries[1].value, 4);
    event_schema_free(s);
    provider_manifests_free(&list);
}

static void structs_lengths_and_counts_are_found(void **state)
{
    (void)state;
    struct provider_manifests list = read_all(WHOLE_MANIFEST);
    struct event_schema *s = schema_of(list.items[0], 1, 2, NULL);
    assert_int_equal(s->top_level, 5);
    assert_int_equal(s->property_count, 7);
    assert_int_equal(s->descriptor.Opcode, 11); /* a global opcode: the task Write defines none */
    assert_string_equal(s->opcode_name, "Green ");
    assert_string_equal(s->level_name, "Red");
    assert_int_equal(s->properties[1].flags, PROPERTY_STRUCT | PROPERTY_PARAM_COUNT);
    assert_int_equal(s->properties[1].count, 0);
    assert_int_equal(s->properties[1].first_member, 5);
    assert_int_equal(s->properties[1].members, 2);
    assert_int_equal(s->properties[6].flags, PROPERTY_PARAM_LENGTH);
    assert_int_equal(s->properties[6].length, 5);
    assert_int_equal(s->properties[2].flags, PROPERTY_FIXED_LENGTH);
    assert_int_equal(s->properties[2].length, 8);
    assert_int_equal(s->properties[3].flags, PROPERTY_FIXED_COUNT);
    assert_int_equal(s->properties[3].count, 3);
    event_schema_free(s);
    s = schema_of(list.items[0], 2, 0, NULL);
    assert_string_equal(s->keyword_names[0], "Response Time");
    assert_string_equal(s->opcode_name, "Start");
    assert_int_equal(s->template_flags, 2);
    assert_non_null(strstr(s->user_data, "<Code>%1</Code>"));
    assert_non_null(strstr(s->user_data, "Text &amp; more</Failed>"));
    event_schema_free(s);
    s = schema_of(list.items[0], 3, 0, NULL);
    assert_int_equal(s->property_count, 0);
    assert_null(s->level_name);
    event_schema_free(s);
    provider_manifests_free(&list);
}

static void strings_follow_the_preferred_language(void **state)
{
    (void)state;
    struct provider_manifests list = read_all(WHOLE_MANIFEST);
    static const struct {
        const char *languages, *task, *colour; /* de-DE has no text for the second colour */
    } wanted[] = {
        {"de-DE", "Lesen", "Rot"},    {"de-AT;en-US", "Lesen", "Rot"}, {"fr-FR", "Reading", "Red"},
        {"fr-FR;de", "Lesen", "Rot"}, {NULL, "Reading", "Red"},        {"en-GB", "Reading", "Red"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct event_schema *s = schema_of(list.items[0], 1, 0, wanted[i].languages);
        assert_string_equal(s->task_name, wanted[i].task);
        assert_string_equal(s->maps[0].entries[0].text, wanted[i].colour);
        assert_string_equal(s->maps[0].entries[1].text, "Green");
        event_schema_free(s);
    }
    provider_manifests_free(&list);
}

static void a_missing_event_is_reported(void **state)
{
    (void)state;
    struct provider_manifests list = read_all(WHOLE_MANIFEST);
    struct event_schema *s;
    EVENT_DESCRIPTOR d = {.Id = 1, .Version = 1};
    assert_int_equal(provider_manifest_schema(list.items[0], &d, NULL, &s), S_FALSE);
    assert_null(s);
    assert_non_null(strstr(error_text(S_FALSE), "event 1 of version 1"));
    provider_manifests_free(&list);
}

#define EVENTS(inside)   "<events>" inside "</events>"
#define TEMPLATE(inside) "<templates><template tid='T'>" inside "</template></templates>"
#define DATA(name, rest) "<data name='" name "' " rest "/>"
static const struct {
    const char *parts, *says[3];
} mistakes[] = {
    {EVENTS("<event/>"), {"event value", "missing"}},
    {EVENTS("<event value='70000'/>"), {"value=\"70000\"", "65535"}},
    {EVENTS("<event value='one'/>"), {"value=\"one\"", "not a number"}},
    {EVENTS("<event value='1' version='256'/>"), {"version=\"256\""}},
    {EVENTS("<event value='1'/><event value='1'/>"), {"value 1", "version 0 already"}},
    {EVENTS("<event value='1' level='win:Awful'/>"), {"level=\"win:Awful\"", "Windows defines no such"}},
    {EVENTS("<event value='1' level='Awful'/>"), {"level=\"Awful\"", "declared"}},
    {EVENTS("<event value='1' task='None'/>"), {"task=\"None\""}},
    {EVENTS("<event value='1' opcode='Go'/>"), {"opcode=\"Go\""}},
    {EVENTS("<event value='1' keywords='win:SQM Slow'/>"), {"keywords=\"Slow\""}},
    {EVENTS("<event value='1' channel='OP'/>"), {"channel=\"OP\""}},
    {EVENTS("<event value='1' template='T'/>"), {"template=\"T\""}},
    {EVENTS("<event value='1' message='$(string.gone)'/>"), {"$(string.gone)", "'gone'"}},
    {EVENTS("<event value='1' message='$(mc.GONE)'/>"), {"$(mc.GONE)", "messageTable"}},
    {EVENTS("<event value='1' notLogged='perhaps'/>"), {"notLogged=\"perhaps\""}},
    {TEMPLATE(""), {"tid=\"T\"", "no data"}},
    {TEMPLATE(DATA("A", "")), {"data inType", "missing"}},
    {TEMPLATE("<data inType='win:Int8'/>"), {"data name", "missing"}},
    {TEMPLATE(DATA("A", "inType='win:Int128'")), {"inType=\"win:Int128\""}},
    {TEMPLATE(DATA("A", "inType='win:Int8' outType='xs:colour'")), {"outType=\"xs:colour\""}},
    {TEMPLATE(DATA("A", "inType='win:Int8' map='M'")), {"map=\"M\"", "declared"}},
    {TEMPLATE(DATA("A", "inType='win:Int8' length='4'")), {"length", "win:Int8"}},
    {TEMPLATE(DATA("A", "inType='win:AnsiString' length='B'") DATA("B", "inType='win:UInt8'")),
     {"length=\"B\"", "no earlier data element"}},
    {TEMPLATE(DATA("B", "inType='win:Double'") DATA("A", "inType='win:AnsiString' length='B'")),
     {"length=\"B\"", "integer"}},
    {TEMPLATE(DATA("B", "inType='win:UInt8' count='2'") DATA("A", "inType='win:UInt8' count='B'")),
     {"count=\"B\"", "integer"}},
    {TEMPLATE(DATA("A", "inType='win:UInt8' count='0'")), {"count=\"0\""}},
    {TEMPLATE("<struct name='S'>" DATA("A", "inType='win:Binary'") "</struct>"), {"'A'", "win:Binary", "length"}},
    {TEMPLATE(DATA("A", "inType='win:UInt64' count='9000'")), {"name=\"A\"", "65535"}},
    {TEMPLATE("<struct name='S'/>"), {"struct", "no data"}},
    {TEMPLATE("<struct name='S'><struct name='I'/></struct>"), {"structs cannot be nested"}},
    {TEMPLATE("<struct name='S' count='A'>" DATA("A", "inType='win:UInt8'") "</struct>"),
     {"count=\"A\"", "no earlier data element"}},
    {TEMPLATE("<struct name='S'>" DATA("X", "inType='win:AnsiString' length='A'") "</struct>" DATA(
         "A", "inType='win:UInt8'")),
     {"length=\"A\"", "no earlier data element"}},
    {TEMPLATE(DATA("A", "inType='win:UInt8'") "<UserData><A>%2</A></UserData>"), {"%2", "1 data"}},
    {"<templates><template tid='T'>" DATA("A", "inType='win:Int8'") "</template><template tid='T'/></templates>",
     {"tid=\"T\"", "already"}},
    {"<levels><level name='L' value='5'/></levels>", {"value=\"5\"", "16"}},
    {"<levels><level name='L'/></levels>", {"level value", "missing"}},
    {"<levels><level name='L' value='16'/><level name='L' value='17'/></levels>", {"name=\"L\"", "already"}},
    {"<tasks><task name='T' value='65536'/></tasks>", {"value=\"65536\""}},
    {"<tasks><task name='T' value='1' eventGUID='x'/></tasks>", {"eventGUID=\"x\"", "GUID"}},
    {"<opcodes><opcode name='O' value='9'/></opcodes>", {"value=\"9\"", "10"}},
    {"<keywords><keyword name='K' mask='0x3'/></keywords>", {"mask=\"0x3\"", "bits"}},
    {"<keywords><keyword name='K' mask='0'/></keywords>", {"mask=", "47"}},
    {"<keywords><keyword name='K'/></keywords>", {"keyword mask", "missing"}},
    {"<maps><valueMap name='M'><map value='3'/></valueMap></maps>", {"map message", "missing"}},
    {"<maps><valueMap name='M'/><bitMap name='M'/></maps>", {"name=\"M\"", "already"}},
    {"<maps><valueMap name='M'><map value='1' message='x'/></valueMap></maps>" TEMPLATE(
         DATA("A", "inType='win:UInt64' map='M'")),
     {"map=\"M\"", "32 bits"}},
    {"<channels><channel name='C'/></channels>", {"channel type", "missing"}},
    {"<channels><channel name='C' type='Loud'/></channels>", {"type=\"Loud\""}},
    {"<channels><channel name='C' type='Admin'><logging><maxSize>big</maxSize></logging></channel></channels>",
     {"maxSize", "'big'"}},
    {"<channels><channel name='C' type='Admin' chid='x'/><channel name='D' type='Admin' chid='x'/></channels>",
     {"chid=\"x\"", "already"}},
    {"<filters><filter name='F' value='1' tid='T'/></filters>", {"tid=\"T\""}},
    {"<events/><events/>", {"events", "already"}},
};

static void an_error_names_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct provider_manifests list;
        char xml[8192];
        snprintf(xml, sizeof xml, "%s%s%s%s%s", MANIFEST_BEGIN, PROVIDER_BEGIN, mistakes[i].parts, PROVIDER_END,
                 MANIFEST_END);
        HRESULT hr = manifest_xml_read(xml, strlen(xml), NULL, &list);
        if (hr != MANIFEST_INVALID)
            fail_msg("%s: 0x%08X", mistakes[i].parts, (unsigned)hr);
        const char *text = error_text(hr);
        if (!strstr(text, "line 6: ") && !strstr(text, "line 5: "))
            fail_msg("%s: %s", mistakes[i].parts, text);
        for (size_t k = 0; k < 3 && mistakes[i].says[k]; k++)
            if (!strstr(text, mistakes[i].says[k]))
                fail_msg("%s: %s lacks %s", mistakes[i].parts, text, mistakes[i].says[k]);
        assert_int_equal(list.count, 0);
    }
}

static void other_documents_are_rejected(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "empty"},
        {"<manifest/>", "instrumentationManifest"},
        {"<instrumentationManifest/>", "no provider"},
        {"<instrumentationManifest>", "line 1"},
        {"<instrumentationManifest xmlns='urn:other'/>", "root"},
        {"<!DOCTYPE x [<!ENTITY a 'b'>]><instrumentationManifest/>", "document type"},
        {MANIFEST_BEGIN "<provider guid='" PROVIDER_GUID_TEXT "'/>" MANIFEST_END, "provider name"},
        {MANIFEST_BEGIN "<provider name='A'/>" MANIFEST_END, "provider guid"},
        {MANIFEST_BEGIN "<provider name='A' guid='{1}'/>" MANIFEST_END, "guid=\"{1}\""},
        {MANIFEST_BEGIN "<provider name='A:B' guid='" PROVIDER_GUID_TEXT "'/>" MANIFEST_END, "name=\"A:B\""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct provider_manifests list;
        HRESULT hr = manifest_xml_read(texts[i][0], strlen(texts[i][0]), NULL, &list);
        assert_int_equal(hr, MANIFEST_INVALID);
        if (!strstr(error_text(hr), texts[i][1]))
            fail_msg("%s: %s", texts[i][0], error_text(hr));
    }
}

/* Manifests of SDKs and of .NET contain things that decoding does not need. */
static void extra_content_of_real_manifests_is_accepted(void **state)
{
    (void)state;
    struct provider_manifests list;
    struct texts warnings = {0};
    static const char xml[] = MANIFEST_BEGIN
        "<messageTable xmlns:mc='urn:mc'><message value='0x51' symbol='M_ONE' message='$(string.read) now'"
        " mc:symbol='x'/></messageTable>"
        "<provider name='Plain' guid='5C8BB950-959E-4309-8908-67961A1205D5' xmlns:x='urn:x' x:y='z'>"
        "<namedQueries/><x:own/>"
        "<tasks><task name='Zero' value='0'/></tasks><keywords><keyword name='K' mask='a0'/><keyword name='L' "
        "mask='64'/>"
        "</keywords><events><event value='65534' task='Zero' keywords='L' "
        "message='$(mc.M_ONE)'/></events></provider>" MANIFEST_END;
    char *fixed = strdup(xml);
    memcpy(strstr(fixed, "a0"), "c0", 2); /* two bits */
    assert_int_equal(manifest_xml_read(fixed, strlen(fixed), NULL, &list), MANIFEST_INVALID);
    memcpy(strstr(fixed, "c0"), "80", 2); /* digits without a prefix are decimal; 80 is not a single bit */
    assert_int_equal(manifest_xml_read(fixed, strlen(fixed), NULL, &list), MANIFEST_INVALID);
    memcpy(strstr(fixed, "'80'"), "'16'", 4);
    assert_int_equal(manifest_xml_read(fixed, strlen(fixed), &warnings, &list), S_OK);
    free(fixed);
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.items[0], "namedQueries"));
    struct event_schema *s = schema_of(list.items[0], 65534, 0, "de-DE");
    assert_string_equal(s->event_message, "Lesen now");
    assert_int_equal(provider_manifest_event(list.items[0], 65534, 0)->message, 0x51);
    event_schema_free(s);
    provider_manifests_free(&list);
    texts_free(&warnings);
}

/* .NET's EventSource names 0 and combinations of bits in a flags enumeration; rejecting one would lose all events of
   the event provider. */
static void a_bit_map_may_name_several_bits(void **state)
{
    (void)state;
    static const char xml[] = MANIFEST_BEGIN PROVIDER_BEGIN
        "<events><event value='1' template='T'/></events>"
        "<maps><bitMap name='Access'><map value='0' message='None'/><map value='1' message='Read'/>"
        "<map value='2' message='Write'/><map value='3' message='ReadWrite'/></bitMap></maps>"
        "<templates><template tid='T'><data name='How' inType='win:UInt32' "
        "map='Access'/></template></templates>" PROVIDER_END MANIFEST_END;
    static const char *const expected[] = {"None", "Read", "Write", "Read|Write|ReadWrite"};
    struct provider_manifests list;
    struct texts warnings = {0};
    if (manifest_xml_read(xml, sizeof xml - 1, &warnings, &list) != S_OK)
        fail_msg("%s", error_text(MANIFEST_INVALID));
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.items[0], "several bits"));
    struct event_schema *s = schema_of(list.items[0], 1, 0, NULL);
    for (size_t value = 0; value < sizeof expected / sizeof expected[0]; value++) {
        struct text_buffer text = {0};
        assert_true(event_map_text(&s->maps[0], value, &text));
        assert_string_equal(text.text, expected[value]);
        text_buffer_free(&text);
    }
    event_schema_free(s);
    provider_manifests_free(&list);
    texts_free(&warnings);
}

/* PerfView's dumps of Windows' own manifests omit lengths, use one id for two strings, and name ids and levels in their
   own way. */
static void dumps_of_registered_manifests_are_accepted(void **state)
{
    (void)state;
    static const char xml[] = MANIFEST_BEGIN PROVIDER_BEGIN
        "<keywords><keyword name='Test/Analytic' mask='0x8000000000000000'/></keywords>"
        "<tasks><task name='Read' value='3' message='$(string.task_Read(2))'/>"
        "<task name='Both' value='4' message='$(string.a) and $(string.b(x) c)!'/>"
        "<task name='Open' value='5' message='$(string.open(ed)'/></tasks>"
        "<events><event value='1' level='win:Always' task='Read' template='T' keywords='Test/Analytic'/>"
        "<event value='2' task='Both'/>"
        "<event value='3' task='Open'/></events>"
        "<templates><template tid='T'><data name='Blob' inType='win:Binary'/><data name='Behind' inType='win:UInt8'/>"
        "<data name='Last' inType='win:UInt8'/></template></templates>" PROVIDER_END
        "</events></instrumentation><localization><resources culture='en-US'><stringTable>"
        "<string id='task_Read(2)' value='Reading'/><string id='a' value='A'/><string id='b(x) c' value='B'/>"
        "<string id='provider' value='First'/><string id='provider' value='Second'/><string id='a' value='A'/>"
        "<string id='open(ed' value='Opened'/></stringTable></resources></localization></instrumentationManifest>";
    struct provider_manifests list;
    struct texts warnings = {0};
    if (manifest_xml_read(xml, sizeof xml - 1, &warnings, &list) != S_OK)
        fail_msg("%s", error_text(MANIFEST_INVALID));
    assert_int_equal(warnings.count, 3);
    assert_non_null(strstr(warnings.items[0], "an earlier string has the same id"));
    assert_non_null(strstr(warnings.items[1], "are reserved for Windows"));
    assert_non_null(strstr(warnings.items[2], "win:Binary without a length"));
    struct event_schema *s = schema_of(list.items[0], 1, 0, NULL);
    assert_string_equal(s->task_name, "Reading");
    assert_int_equal(s->keyword_count, 1);
    assert_string_equal(s->keyword_names[0], "Test/Analytic");
    assert_string_equal(s->provider_message, "First");
    assert_int_equal(s->top_level, 1);
    struct found_property p;
    const struct event_data data = {(const uint8_t *)"abc", 3, 8};
    assert_int_equal(event_property_find(s, &data, &(struct property_step){"Blob", PROPERTY_WHOLE}, 1, &p), S_OK);
    assert_int_equal(p.size, 3);
    event_schema_free(s);
    s = schema_of(list.items[0], 2, 0, NULL);
    assert_string_equal(s->task_name, "A and B!");
    event_schema_free(s);
    s = schema_of(list.items[0], 3, 0, NULL);
    assert_string_equal(s->task_name, "Opened");
    event_schema_free(s);
    provider_manifests_free(&list);
    texts_free(&warnings);
}

/* Windows' event providers declare such names, although no namespace has that prefix. */
static void a_declared_name_may_have_a_colon(void **state)
{
    (void)state;
    static const char xml[] = MANIFEST_BEGIN PROVIDER_BEGIN
        "<keywords><keyword name='ut:Configuration' mask='1'/><keyword name='Plain' mask='2'/></keywords>"
        "<tasks><task name='ut:Work' value='3'/></tasks><opcodes><opcode name='ut:Go' value='12'/></opcodes>"
        "<levels><level name='ut:Fine' value='17'/></levels>"
        "<maps><valueMap name='ut:Kinds'><map value='1' message='One'/></valueMap></maps>"
        "<templates><template tid='T'><data name='Kind' inType='win:UInt8' map='ut:Kinds'/></template></templates>"
        "<events><event value='1' keywords='ut:Configuration x:Plain' task='ut:Work' opcode='ut:Go' level='ut:Fine'"
        " template='T'/></events>" PROVIDER_END MANIFEST_END;
    struct provider_manifests list;
    const HRESULT hr = manifest_xml_read(xml, sizeof xml - 1, NULL, &list);
    if (hr != S_OK)
        fail_msg("%s", error_text(hr));
    struct event_schema *s = schema_of(list.items[0], 1, 0, NULL);
    assert_true(s->descriptor.Keyword == 3);
    assert_int_equal(s->descriptor.Task, 3);
    assert_int_equal(s->descriptor.Opcode, 12);
    assert_int_equal(s->descriptor.Level, 17);
    assert_string_equal(s->keyword_names[0], "ut:Configuration");
    assert_string_equal(s->properties[0].map, "ut:Kinds");
    event_schema_free(s);
    provider_manifests_free(&list);
}

static void utf16_manifests_are_read(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    WCHAR *wide;
    size_t units;
    assert_int_equal(text_to_utf16(xml, &wide, &units), S_OK);
    for (int big = 0; big < 2; big++) {
        uint8_t *bytes = malloc(2 * units + 2);
        struct provider_manifests list;
        bytes[big] = 0xFF, bytes[!big] = 0xFE;
        for (size_t i = 0; i < units; i++) {
            bytes[2 + 2 * i + (size_t)big] = (uint8_t)wide[i];
            bytes[2 + 2 * i + (size_t)!big] = (uint8_t)(wide[i] >> 8);
        }
        assert_int_equal(manifest_xml_read(bytes, 2 * units + 2, NULL, &list), S_OK);
        assert_int_equal(list.items[0]->event_count, 4);
        provider_manifests_free(&list);
        free(bytes);
    }
    memory_free(wide);
}

static void out_of_memory_is_reported_everywhere(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    for (uint64_t n = 1;; n++) {
        struct provider_manifests list;
        memory_fail_at(n);
        HRESULT hr = manifest_xml_read(xml, sizeof xml - 1, NULL, &list);
        struct event_schema *s = NULL;
        if (SUCCEEDED(hr))
            hr = provider_manifest_schema(list.items[0], &provider_manifest_event(list.items[0], 1, 0)->descriptor,
                                          NULL, &s);
        memory_fail_at(0);
        event_schema_free(s);
        provider_manifests_free(&list);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_matches_the_manifest),
        cmocka_unit_test(structs_lengths_and_counts_are_found),
        cmocka_unit_test(strings_follow_the_preferred_language),
        cmocka_unit_test(a_missing_event_is_reported),
        cmocka_unit_test(an_error_names_its_line),
        cmocka_unit_test(other_documents_are_rejected),
        cmocka_unit_test(extra_content_of_real_manifests_is_accepted),
        cmocka_unit_test(a_bit_map_may_name_several_bits),
        cmocka_unit_test(dumps_of_registered_manifests_are_accepted),
        cmocka_unit_test(a_declared_name_may_have_a_colon),
        cmocka_unit_test(utf16_manifests_are_read),
        cmocka_unit_test(out_of_memory_is_reported_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
