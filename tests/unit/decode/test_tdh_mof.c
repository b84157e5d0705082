/* SPDX-License-Identifier: MIT */
/* Tests published MOF files. A class describes the event of its type and version, with the fields in the order in which
   they were written. A file with an error is rejected, and the message has the line. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/mof_classes.h"
#include "tests/unit/mof_examples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#define HEAD                                                                                                           \
    "#pragma namespace(\"\\\\\\\\.\\\\root\\\\wmi\")\n"                                                                \
    "[Guid(\"{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}\")] class P : EventTrace {};\n"                                    \
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\")] class C : P {};\n"
#define CLASS(members) HEAD "[EventType(1)] class C_E : C {\n" members "\n};\n"

static const GUID category = {0xB49D5931, 0xAD85, 0x4070, {0xB1, 0xB1, 0x3F, 0x81, 0xF1, 0x53, 0x28, 0x75}};
static const GUID provider = {0x7C214FB1, 0x9CAC, 0x4B8D, {0xBA, 0xED, 0x7B, 0xF4, 0x8B, 0xF6, 0x3B, 0xB3}};

static struct mof_classes *classes;
static struct event_schema *schema;

static int start(void **state)
{
    (void)state;
    schema = NULL;
    return FAILED(mof_classes_create(&classes));
}

static int end(void **state)
{
    (void)state;
    event_schema_free(schema);
    mof_classes_free(classes);
    return 0;
}

static HRESULT add(const char *text)
{
    HRESULT hr = mof_classes_add(classes, "f.mof", text, strlen(text));
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        print_message("%s\n", error_text(hr));
    return hr;
}

static const struct event_schema *look_up(uint8_t type, uint16_t version)
{
    event_schema_free(schema);
    schema = NULL;
    HRESULT hr = mof_classes_schema(classes, &category, type, version, &schema);
    if (FAILED(hr))
        print_message("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
    return schema;
}

static void property_is(size_t at, const char *name, uint32_t flags, int in, int out, int count, int length)
{
    assert_in_range(at, 0, schema->top_level - 1);
    const struct event_property *p = &schema->properties[at];
    assert_string_equal(p->name, name);
    assert_int_equal(p->in_type, in);
    assert_int_equal(p->out_type, out);
    assert_int_equal(p->flags, flags);
    assert_int_equal(p->count, count);
    assert_int_equal(p->length, length);
}

/* ---- the two examples ---- */

static void the_published_example_gives_its_schema(void **state)
{
    (void)state;
    assert_int_equal(add(mof_example), S_OK);
    const struct event_schema *s = look_up(1, 0);
    assert_int_equal(s->source, SCHEMA_MOF);
    assert_true(guid_equal(&s->provider, &provider) && guid_equal(&s->event, &category));
    assert_string_equal(s->provider_name, "MyProvider");
    assert_string_equal(s->task_name, "MyCategory");
    assert_int_equal(s->descriptor.Opcode, 1);
    assert_int_equal(s->top_level, 5);
    property_is(0, "Cost", 0, 7, 0, 1, 0);
    property_is(1, "Indices", PROPERTY_FIXED_COUNT, 8, 0, 3, 0);
    property_is(2, "Signature", 0, 1, 0, 1, 0);
    property_is(3, "IsComplete", 0, 13, 0, 1, 0);
    property_is(4, "ID", 0, 15, 0, 1, 0);
}

static void versions_of_the_published_example_differ(void **state)
{
    (void)state;
    assert_int_equal(add(mof_versions_example), S_OK);
    assert_int_equal(look_up(1, 1)->top_level, 6);
    assert_string_equal(schema->event_name, "MyEvent");
    assert_string_equal(schema->task_name, "MyCategory");
    property_is(5, "Size", 0, 8, 0, 1, 0);
    assert_int_equal(look_up(1, 0)->top_level, 5);
    assert_string_equal(schema->task_name, "MyCategory");
    assert_null(schema->event_name);
    /* A version newer than all classes uses the newest class. */
    assert_int_equal(look_up(1, 7)->top_level, 6);
    assert_int_equal(schema->descriptor.Version, 1);
}

#define VERSION(name, version, members)                                                                                \
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\")" version "] class " name " : P {};\n"                           \
    "[EventType{1, 2}] class " name "_E : " name " {" members "};\n"
#define A "[WmiDataId(1)] uint8 a;"
#define B "[WmiDataId(2)] uint8 b;"
#define C "[WmiDataId(3)] uint8 c;"

static void a_missing_version_uses_the_nearest_lower_one(void **state)
{
    (void)state;
    assert_int_equal(add(HEAD VERSION("C1", ", EventVersion(1)", A) VERSION("C3", ", EventVersion(3)", A B)), S_OK);
    assert_int_equal(look_up(2, 1)->top_level, 1);
    assert_int_equal(look_up(2, 2)->top_level, 1);
    assert_int_equal(schema->descriptor.Version, 1);
    assert_int_equal(look_up(1, 3)->top_level, 2);
    assert_int_equal(look_up(1, 200)->top_level, 2);
    struct event_schema *none;
    const HRESULT missing = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    assert_int_equal(mof_classes_schema(classes, &category, 1, 0, &none), missing);
    assert_non_null(strstr(error_text(missing), "type 1 before version 1"));
    assert_int_equal(mof_classes_schema(classes, &category, 9, 0, &none), missing);
    assert_non_null(strstr(error_text(missing), "type 9"));
    assert_int_equal(mof_classes_schema(classes, &(GUID){1, 2, 3, {4}}, 9, 0, &none), missing);
    /* A class without a version is used for events that are newer than all versions, and for events that are older than
       all versions. */
    assert_int_equal(add(HEAD VERSION("CN", "", A B C)), S_OK);
    assert_int_equal(look_up(1, 4)->top_level, 3);
    assert_int_equal(look_up(1, 3)->top_level, 2);
    assert_int_equal(look_up(1, 2)->top_level, 1);
    assert_int_equal(look_up(1, 0)->top_level, 3);
}

/* ---- types ---- */

static void each_type_and_qualifier_sets_the_type(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        uint32_t flags;
        int in, out, count, length;
    } rows[] = {
        {"sint8 v", 0, 3, 0, 1, 0},
        {"uint8 v", 0, 4, 0, 1, 0},
        {"sint16 v", 0, 5, 0, 1, 0},
        {"uint16 v", 0, 6, 0, 1, 0},
        {"sint32 v", 0, 7, 0, 1, 0},
        {"UINT32 v", 0, 8, 0, 1, 0},
        {"sint64 v", 0, 9, 0, 1, 0},
        {"uint64 v", 0, 10, 0, 1, 0},
        {"real32 v", 0, 11, 0, 1, 0},
        {"real64 v", 0, 12, 0, 1, 0},
        {"boolean v", 0, 13, 0, 1, 0},
        {"char16 v", 0, 306, 0, 1, 0},
        {"string v", 0, 2, 0, 1, 0},
        {"object v", 0, 14, 0, 1, 0},
        {"[Format(\"x\")] uint8 v", 0, 4, 16, 1, 0},
        {"[Format(\"x\")] sint16 v", 0, 5, 17, 1, 0},
        {"[format(\"X\")] uint32 v", 0, 8, 18, 1, 0},
        {"[Format(\"x\")] uint64 v", 0, 10, 19, 1, 0},
        {"[Format(\"c\")] uint8 v", 0, 307, 0, 1, 0},
        {"[Format(\"c\")] sint8 v[4]", PROPERTY_FIXED_COUNT, 307, 0, 4, 0},
        {"[Format(\"s\")] char16 v[20]", PROPERTY_FIXED_LENGTH, 1, 0, 1, 20},
        {"[Format(\"s\"), Max(20)] uint8 v[]", PROPERTY_FIXED_LENGTH, 2, 0, 1, 20},
        {"char16 v[20]", PROPERTY_FIXED_COUNT, 306, 0, 20, 0},
        {"char16 v[]", 0, 304, 0, 1, 0},
        {"[Format(\"w\")] string v", 0, 1, 0, 1, 0},
        {"[StringTermination(\"NullTerminated\")] string v", 0, 2, 0, 1, 0},
        {"[Format(\"w\"), StringTermination(\"Counted\")] string v", 0, 300, 0, 1, 0},
        {"[StringTermination(\"Counted\")] string v", 0, 301, 0, 1, 0},
        {"[Format(\"w\"), StringTermination(\"ReverseCounted\")] string v", 0, 302, 0, 1, 0},
        {"[StringTermination(\"reversecounted\")] string v", 0, 303, 0, 1, 0},
        {"[Format(\"w\"), StringTermination(\"NotCounted\")] string v", 0, 304, 0, 1, 0},
        {"[StringTermination(\"NotCounted\")] string v", 0, 305, 0, 1, 0},
        {"[Format(\"w\")] string v[2]", PROPERTY_FIXED_COUNT, 1, 0, 2, 0},
        {"[Extension(\"Guid\")] object v", 0, 15, 0, 1, 0},
        {"[Extension(\"Guid\")] uint8 v[16]", 0, 15, 0, 1, 0},
        {"[Extension(\"Guid\")] object v[3]", PROPERTY_FIXED_COUNT, 15, 0, 3, 0},
        {"[Extension(\"Sid\")] object v", 0, 310, 0, 1, 0},
        {"[Extension(\"Port\")] object v", 0, 6, 22, 1, 0},
        {"[Extension(\"Port\")] uint16 v", 0, 6, 22, 1, 0},
        {"[Extension(\"IPAddr\")] object v", 0, 8, 23, 1, 0},
        {"[Extension(\"IPAddrV4\")] uint32 v", 0, 8, 23, 1, 0},
        {"[Extension(\"IPAddrV6\")] object v", PROPERTY_FIXED_LENGTH, 14, 24, 1, 16},
        {"[Extension(\"SizeT\")] object v", 0, 308, 0, 1, 0},
        {"[Extension(\"WmiTime\")] object v", 0, 10, 27, 1, 0},
        {"[Extension(\"Variant\")] object v", 0, 309, 0, 1, 0},
        {"[Extension(\"Pointer\")] object v", 0, 16, 0, 1, 0},
        {"[Extension(\"NoPrint\")] uint32 v", 0, 8, 301, 1, 0},
        {"[Extension(\"NoPrint\")] uint8 v[5]", PROPERTY_FIXED_COUNT, 4, 301, 5, 0},
        {"[Pointer] uint32 v", 0, 16, 0, 1, 0},
        {"[PointerType, Format(\"x\")] uint32 v", 0, 16, 0, 1, 0},
        {"[Pointer(false)] uint32 v", 0, 8, 0, 1, 0},
        {"[Pointer] uint32 v[2]", PROPERTY_FIXED_COUNT, 16, 0, 2, 0},
        {"uint8 v[]", 0, 14, 0, 1, 0},
        {"object v[7]", PROPERTY_FIXED_LENGTH, 14, 0, 1, 7},
        {"[Max(16)] uint8 v[]", PROPERTY_FIXED_COUNT, 4, 0, 16, 0},
        {"[WmiSizeIs(\"n\")] uint16 v[]", PROPERTY_PARAM_COUNT, 6, 0, 0, 0},
        {"[WmiSizeIs(\"N\"), Format(\"s\")] char16 v[]", PROPERTY_PARAM_LENGTH, 1, 0, 1, 0},
        {"[WmiSizeIs(\"n\")] object v", PROPERTY_PARAM_LENGTH, 14, 0, 1, 0},
        {"[XMLFragment, Format(\"w\")] string v", PROPERTY_XML_FRAGMENT, 1, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = text_format(CLASS("uint32 n; %s;"), rows[i].member);
        assert_int_equal(add(text), S_OK);
        memory_free(text);
        look_up(1, 0);
        property_is(1, "v", rows[i].flags, rows[i].in, rows[i].out, rows[i].count, rows[i].length);
    }
}

static void properties_are_ordered_by_wmi_data_id(void **state)
{
    (void)state;
    assert_int_equal(
        add(CLASS("[WmiDataId(3)] uint8 c; uint32 none; [WmiDataId(1)] uint8 a; [WmiDataId(20)] uint8 b;")), S_OK);
    look_up(1, 0);
    assert_int_equal(schema->top_level, 3);
    property_is(0, "a", 0, 4, 0, 1, 0);
    property_is(1, "c", 0, 4, 0, 1, 0);
    property_is(2, "b", 0, 4, 0, 1, 0);
}

static void a_derived_class_inherits_and_overrides_properties(void **state)
{
    (void)state;
    assert_int_equal(add(HEAD
                         "class C_Base : C { [WmiDataId(1)] uint8 a; [WmiDataId(2)] uint8 b; };\n"
                         "[EventType(1)] class C_E : c_base { [WmiDataId(3)] uint8 c; [WmiDataId(1)] uint64 A; };"),
                     S_OK);
    look_up(1, 0);
    assert_int_equal(schema->top_level, 3);
    property_is(0, "A", 0, 10, 0, 1, 0);
    property_is(1, "b", 0, 4, 0, 1, 0);
    property_is(2, "c", 0, 4, 0, 1, 0);
}

static void map_is(size_t property, uint32_t flag, const char *expected)
{
    struct text_buffer b = {0};
    const struct event_map *m = event_schema_map(schema, schema->properties[property].map);
    assert_non_null(m);
    assert_int_equal(m->flag, flag);
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i].input)
            text_buffer_format(&b, "%s=%s ", m->entries[i].input, m->entries[i].text);
        else
            text_buffer_format(&b, "%u=%s ", (unsigned)m->entries[i].value, m->entries[i].text);
    assert_string_equal(b.text, expected);
    text_buffer_free(&b);
}

static void values_and_bits_have_strings(void **state)
{
    (void)state;
    assert_int_equal(add(CLASS("[Values{\"one\", \"two\"}, ValueMap{\"1\", \"0x2\"}] uint32 a;"
                               "[Values{\"no\", \"yes\"}] uint8 b;"
                               "[Values{\"minus\", \"else\"}, ValueMap{\"-1\"}] sint32 c;"
                               "[BitValues{\"low\", \"high\"}, BitMap{\"0\", \"31\"}] uint32 d;"
                               "[BitValues{\"b0\", \"b1\"}] uint32 e;"
                               "[Values{\"x\", \"y\"}, ValueMap{\"0x10\", \"0x20\"}, ValueType(\"flag\")] uint32 f;"
                               "[DefineValues{\"ONE\"}, ValueMap{\"1\"}] uint32 g;"
                               "[DefineBitMap{\"BIT\"}, BitMap{4}] uint32 h;"
                               "[Values{\"long\"}, ValueMap{\"l\"}] string i;")),
                     S_OK);
    look_up(1, 0);
    map_is(0, MAP_MOF_VALUES, "1=one 2=two ");
    map_is(1, MAP_MOF_VALUES | MAP_MOF_NO_MAP, "0=no 1=yes ");
    map_is(2, MAP_MOF_VALUES, "4294967295=minus ..=else ");
    map_is(3, MAP_MOF_BITS, "0=low 31=high ");
    map_is(4, MAP_MOF_BITS | MAP_MOF_NO_MAP, "0=b0 1=b1 ");
    map_is(5, MAP_MOF_FLAG, "16=x 32=y ");
    map_is(6, MAP_MOF_VALUES, "1=ONE ");
    map_is(7, MAP_MOF_BITS, "4=BIT ");
    map_is(8, MAP_MOF_VALUES, "l=long ");
    assert_string_equal(schema->maps[0].name, "C_E.a");
}

static void event_types_have_names(void **state)
{
    (void)state;
    assert_int_equal(add(HEAD "[EventType{10, 0x0B}, EventTypeName{\"Read\", \"Write\"}: Amended] class C_E : C "
                              "{ [WmiDataId(1)] uint8 a; };\n"
                              "[EventType(12)] class C_Empty : C {};"),
                     S_OK);
    assert_string_equal(look_up(10, 0)->opcode_name, "Read");
    assert_string_equal(look_up(11, 0)->opcode_name, "Write");
    assert_null(look_up(12, 0)->opcode_name);
    assert_int_equal(schema->property_count, 0);
}

/* ---- languages ---- */

static void strings_follow_the_preferred_language(void **state)
{
    (void)state;
    static const char text[] = CLASS(
        "[Values{\"one\"}: Amended, ValueMap{\"1\"}] uint32 a;") "#pragma "
                                                                 "namespace(\"\\\\\\\\.\\\\root\\\\wmi\\\\ms_407\")\n"
                                                                 "[EventTypeName(\"Anfang\"): Amended, EventType(1)] "
                                                                 "class C_E : C {"
                                                                 "[Values{\"eins\"}: Amended] uint32 a; };\n"
                                                                 "#pragma "
                                                                 "namespace(\"\\\\\\\\.\\\\root\\\\wmi\\\\MS_409\")\n"
                                                                 "[EventTypeName(\"Begin\"): Amended, EventType(1)] "
                                                                 "class C_E : C {};\n";
    assert_int_equal(add(text), S_OK);
    look_up(1, 0);
    map_is(0, MAP_MOF_VALUES, "1=one ");
    assert_string_equal(schema->opcode_name, "Begin");
    mof_classes_language(classes, 0x407);
    look_up(1, 0);
    map_is(0, MAP_MOF_VALUES, "1=eins ");
    assert_string_equal(schema->opcode_name, "Anfang");
    mof_classes_language(classes, 0x40C);
    assert_string_equal(look_up(1, 0)->opcode_name, "Begin");
}

/* ---- syntax of the file ---- */

static void other_declarations_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(
        add("/* a comment\n over lines */ // and one\n#line 1 \"a.h\"\n#pragma autorecover\n"
            "#pragma classflags(\"forceupdate\")\n#pragma deleteclass(\"C\", NOFAIL)\n"
            "qualifier Key : boolean = false, scope(property);\n"
            "instance of __namespace { name = \"MS_409\"; };\n"
            "class Forward;\n"
            "[abstract] class Other : WMIEvent { [key] string Name = \"a;b\"; uint32 Do([in] uint32 a, [out] "
            "string b[]);\n void Nothing(); datetime When; Win32_Disk ref Disk; Embedded One; uint8 d = {1, 2}; };\n"
            "[WMI, Dynamic, Locale(0x409), Float(1.5e3), Char('\\x41'), Bits(101b), Octal(017), Neg(-5), Nil(NULL)]\n"
            "class Q as $Alias { };\n" CLASS("[read, write: DisableOverride ToSubclass, Description(\"one\" \n\" "
                                             "two\\t\\\"x\\x41\\\"\"): Amended ToInstance] uint8 v;")),
        S_OK);
    const struct mof_class *c = mof_classes_find(classes, "c_e");
    assert_string_equal(mof_qualifier_text(&c->properties[0].qualifiers, "description"), "one two\t\"xA\"");
    assert_string_equal(mof_classes_find(classes, "Other")->properties[0].name, "Name");
    const struct mof_qualifiers *q = &mof_classes_find(classes, "Q")->qualifiers;
    assert_int_equal(mof_qualifier_find(q, "Bits")->values[0].number, 5);
    assert_int_equal(mof_qualifier_find(q, "Octal")->values[0].number, 15);
    assert_int_equal(mof_qualifier_find(q, "Char")->values[0].number, 'A');
    assert_true(mof_qualifier_find(q, "Neg")->values[0].negative);
    assert_false(mof_qualifier_is_set(q, "Nil"));
}

static void any_encoding_is_read(void **state)
{
    (void)state;
    static const char text[] = CLASS("uint8 v;");
    uint8_t wide[2 * sizeof text];
    for (int order = 0; order < 2; order++) {
        wide[order] = 0xFF;
        wide[!order] = 0xFE;
        for (size_t i = 0; i < sizeof text - 1; i++) {
            wide[2 + 2 * i + (size_t)order] = (uint8_t)text[i];
            wide[2 + 2 * i + (size_t)!order] = 0;
        }
        assert_int_equal(mof_classes_add(classes, "w.mof", wide, 2 * sizeof text), S_OK);
        assert_int_equal(mof_classes_add(classes, "w.mof", wide + 2, 2 * sizeof text - 2), S_OK);
    }
    assert_int_equal(add("\xEF\xBB\xBF" CLASS("[Description(\"\xC3\xA4\")] uint8 v;")), S_OK);
    assert_int_equal(add(CLASS("[Description(\"\xE4\")] uint8 v;")), S_OK);
    const struct mof_class *c = mof_classes_find(classes, "C_E");
    assert_string_equal(mof_qualifier_text(&c->properties[0].qualifiers, "Description"), "\xC3\xA4");
}

static void an_invalid_file_is_rejected_with_line_and_token(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
        HRESULT hr;
    } rows[] = {
        {"class", "f.mof(1): expected a class' name, but the file ends", MOF_E_EXPECTED_CLASS_NAME},
        {"\nclass A : { };", "f.mof(2): expected the name of a base class, not {", MOF_E_EXPECTED_CLASS_NAME},
        {"class A : B\n;;", "f.mof(2): expected class, instance or #pragma, not ;", MOF_E_INVALID_CLASS},
        {"class A\n(", "f.mof(2): expected '{', not (", MOF_E_EXPECTED_OPEN_BRACE},
        {"class A {} class", "f.mof(1): expected ';', not class", MOF_E_EXPECTED_SEMI},
        {"class A { uint32 }", "expected a property's name, not }", MOF_E_EXPECTED_PROPERTY_NAME},
        {"class A { 5 }", "expected a type or '}', not 5", MOF_E_UNRECOGNIZED_TYPE},
        {"class A { uint8 a[0]; };", "a: an array must have 1 to 65535 elements, not 0", MOF_E_OUT_OF_RANGE},
        {"class A { uint8 a[70000]; };", "a: an array must have 1 to 65535 elements, not 70000", MOF_E_OUT_OF_RANGE},
        {"class A { uint8 a[3; };", "expected ']', not ;", MOF_E_EXPECTED_CLOSE_BRACKET},
        {"class A { uint8 a uint8 b; };", "expected ';', not uint8", MOF_E_EXPECTED_SEMI},
        {"class A {\nuint8 a;\nuint8 A; };", "f.mof(3): the class 'A' already has a property 'A' in line 2",
         MOF_E_DUPLICATE_PROPERTY},
        {"[5] class A {};", "expected a qualifier's name, not 5", MOF_E_EXPECTED_QUALIFIER_NAME},
        {"[a, A] class A {};", "the qualifier 'A' appears twice", MOF_E_DUPLICATE_QUALIFIER},
        {"[a(] class A {};", "expected a value, not ]", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"[a(1] class A {};", "expected ')', not ]", MOF_E_EXPECTED_CLOSE_PAREN},
        {"[a{1;] class A {};", "expected '}', not ;", MOF_E_EXPECTED_CLOSE_BRACE},
        {"[a: Blue] class A {};", "expected a flavor (Amended, ToInstance ...), not Blue", MOF_E_EXPECTED_FLAVOR_TYPE},
        {"[a(\"x)] class A {};\n", "unterminated string on this line", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"[a(\"\\q\")] class A {};", "invalid escape '\\q'", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"[a('ab')] class A {};", "expected a single character, not 'ab'", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"[a(0x11112222333344445)] class A {};", "'0x11112222333344445' is not a 64-bit number",
         MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"[a(1.2.3)] class A {};", "'1.2.3' is not a 64-bit number", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {"\n/* no end", "f.mof(2): unterminated comment", MOF_E_UNRECOGNIZED_TOKEN},
        {"[a(\"x\" ?)] class A {};", "unexpected character '?'", MOF_E_UNRECOGNIZED_TOKEN},
        {"class ?", "unexpected character '?'", MOF_E_UNRECOGNIZED_TOKEN},
        {"typedef A B;", "typedef is not supported", MOF_E_TYPEDEF_NOT_SUPPORTED},
        {"#pragma include(\"a.mof\")", "#pragma include is not supported", MOF_E_INVALID_INCLUDE_FILE},
        {"#pragma blue", "expected a pragma (namespace, classflags ...), not blue", MOF_E_INVALID_PRAGMA},
        {"#define A", "expected pragma, not define", MOF_E_INVALID_PRAGMA},
        {"#pragma namespace(\"\\\\\\\\host\\\\root\\\\wmi\")", "is on another computer", MOF_E_INVALID_NAMESPACE},
        {"#pragma namespace(\"root/wmi/ms_xyz\")", "'ms_xyz' is not a language", MOF_E_INVALID_NAMESPACE},
        {"#pragma namespace(5)", "expected a namespace in quotes, not 5", MOF_E_INVALID_NAMESPACE},
        {"instance of A { a = {", ", but the file ends", MOF_E_EXPECTED_SEMI},
        {"instance of A { ));", "expected ';', not )", MOF_E_EXPECTED_SEMI},
        {"class A : B {};\nclass a : B {};", "f.mof(2): the class 'a' already exists in line 1", MOF_E_ALREADY_EXISTS},
        {"[EventType(1)] class A : B {};", "class A: unknown base class 'B'", MOF_E_INVALID_SUPERCLASS},
        {"class A : B {}; [EventType(1)] class B : A {};", "it is derived from itself", MOF_E_INVALID_SUPERCLASS},
        {"[EventType(1)] class A {};", "not derived from 'EventTrace'", MOF_E_INVALID_SUPERCLASS},
        {"[EventType(1)] class A : EventTrace {};", "class A: it has an EventType, but neither", MOF_E_INVALID_CLASS},
        {"[Guid(\"{1}\")] class A : EventTrace {};", "class A: the qualifier Guid is not a GUID: '{1}'",
         MOF_E_TYPE_MISMATCH},
        {HEAD "[EventType(256)] class A : C {};", "f.mof(4): class A: EventType must be 0 to 255, not '256'",
         MOF_E_TYPE_MISMATCH},
        {HEAD "[EventType(\"x\")] class A : C {};", "EventType must be 0 to 255, not 'x'", MOF_E_TYPE_MISMATCH},
        {HEAD "[EventType(1), EventVersion(-1)] class A : C {};", "EventVersion must be 0 to 65535, not '-1'",
         MOF_E_TYPE_MISMATCH},
        {CLASS("[WmiDataId(1)] uint8 a;\n[WmiDataId(1)] uint8 b;"),
         "f.mof(6): class C_E: b: it has the same WmiDataId as 'a'", MOF_E_DUPLICATE_PROPERTY},
        {CLASS("[WmiDataId(0)] uint8 a;"), "a: WmiDataId must be a positive number, not '0'", MOF_E_TYPE_MISMATCH},
        {CLASS("uint33 a;"), "a: event data cannot have the type 'uint33'", MOF_E_TYPE_MISMATCH},
        {CLASS("datetime a;"), "a: event data cannot have the type 'datetime'", MOF_E_TYPE_MISMATCH},
        {CLASS("uint16 a[];"), "a: the array has no size", MOF_E_OUT_OF_RANGE},
        {CLASS("[Max(0)] uint16 a[];"), "a: Max must be 1 to 65535, not '0'", MOF_E_OUT_OF_RANGE},
        {CLASS("[WmiSizeIs(\"n\")] uint16 a[]; uint8 n;"), "a: WmiSizeIs must name an earlier property, not 'n'",
         MOF_E_ILLEGAL_CONSTANT_VALUE},
        {CLASS("string n; [WmiSizeIs(\"n\")] uint16 a[];"), "'a': invalid count",
         HRESULT_FROM_WIN32(ERROR_INVALID_DATA)},
        {CLASS("[Format(\"q\")] uint16 a;"), "a: Format must be c, s, w or x, not 'q'", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {CLASS("[StringTermination(\"q\")] string a;"), "a: unknown StringTermination 'q'",
         MOF_E_ILLEGAL_CONSTANT_VALUE},
        {CLASS("[Extension(\"q\")] object a;"), "a: unknown Extension 'q'", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {CLASS("[Extension(\"Guid\")] uint8 a[15];"), "a: an array of 16 bytes is expected for Extension 'Guid'",
         MOF_E_OUT_OF_RANGE},
        {CLASS("[Values{\"a\", \"b\", \"c\"}, ValueMap{\"1\"}] uint8 a;"),
         "a: expected one value for each string in 'ValueMap'", MOF_E_ILLEGAL_CONSTANT_VALUE},
        {CLASS("[Values{\"a\"}, ValueMap{\"q\"}] uint8 a;"), "a: its map has a value that is not a 32-bit number: 'q'",
         MOF_E_TYPE_MISMATCH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        HRESULT hr = mof_classes_add(classes, "f.mof", rows[i].text, strlen(rows[i].text));
        if (hr != rows[i].hr || !strstr(error_text(hr), rows[i].said))
            fail_msg("\"%s\"\n0x%08X: %s\nnot 0x%08X: %s", rows[i].text, (unsigned)hr, error_text(hr),
                     (unsigned)rows[i].hr, rows[i].said);
    }
    /* No class of a rejected file remains. */
    assert_null(mof_classes_find(classes, "A"));
    assert_null(mof_classes_find(classes, "P"));
    assert_int_equal(add(mof_example), S_OK);
}

static void a_class_of_a_later_file_replaces_an_earlier_one(void **state)
{
    (void)state;
    assert_int_equal(add(CLASS("uint8 a;")), S_OK);
    static const char other[] = CLASS("uint16 b;");
    assert_int_equal(mof_classes_add(classes, "g.mof", other, strlen(other)), S_OK);
    look_up(1, 0);
    property_is(0, "b", 0, 6, 0, 1, 0);
    assert_string_equal(mof_classes_find(classes, "C_E")->source, "g.mof");
}

static void a_provider_names_its_flags_and_levels(void **state)
{
    (void)state;
    assert_int_equal(
        add("[Guid(\"{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}\")] class P : EventTrace {\n"
            "[DefineValues{\"F_IO\", \"F_NET\"}, Values{\"io\", \"net\"}, ValueDescriptions{\"In, out\", \"Wires\"},"
            " ValueMap{\"0x1\", \"0x80000000\"}, ValueType(\"flag\")] uint32 Flags;\n"
            "[Values{\"Error\"}, ValueMap{\"2\"}] uint32 Level; };"),
        S_OK);
    struct mof_field *fields;
    size_t count;
    assert_int_equal(mof_classes_fields(classes, &provider, "Flags", &fields, &count), S_OK);
    assert_int_equal(count, 2);
    assert_string_equal(fields[1].name, "F_NET");
    assert_string_equal(fields[1].description, "Wires");
    assert_int_equal(fields[1].value, 0x80000000u);
    memory_free(fields);
    assert_int_equal(mof_classes_fields(classes, &provider, "Level", &fields, &count), S_OK);
    assert_string_equal(fields[0].name, "Error");
    memory_free(fields);
    assert_int_equal(mof_classes_fields(classes, &category, "Level", &fields, &count), S_FALSE);
    const struct mof_provider *all;
    assert_int_equal(mof_classes_providers(classes, &all), 2);
    assert_string_equal(all[0].name, "MSNT_SystemTrace");
    assert_string_equal(all[1].name, "P");
}

static void out_of_memory_changes_nothing(void **state)
{
    (void)state;
    HRESULT hr;
    uint64_t n = 1;
    do {
        memory_fail_at(n++);
        hr = add(mof_versions_example);
        memory_fail_at(0);
        assert_true(SUCCEEDED(hr) || hr == E_OUTOFMEMORY);
        assert_int_equal(mof_classes_find(classes, "MyProvider") != NULL, SUCCEEDED(hr));
    } while (FAILED(hr));
    assert_in_range(n, 50, UINT32_MAX);
    n = 1;
    do {
        memory_fail_at(n++);
        hr = mof_classes_schema(classes, &category, 1, 1, &schema);
        memory_fail_at(0);
    } while (hr == E_OUTOFMEMORY);
    assert_int_equal(hr, S_OK);
    assert_in_range(n, 5, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_published_example_gives_its_schema, start, end),
        cmocka_unit_test_setup_teardown(versions_of_the_published_example_differ, start, end),
        cmocka_unit_test_setup_teardown(a_missing_version_uses_the_nearest_lower_one, start, end),
        cmocka_unit_test_setup_teardown(each_type_and_qualifier_sets_the_type, start, end),
        cmocka_unit_test_setup_teardown(properties_are_ordered_by_wmi_data_id, start, end),
        cmocka_unit_test_setup_teardown(a_derived_class_inherits_and_overrides_properties, start, end),
        cmocka_unit_test_setup_teardown(values_and_bits_have_strings, start, end),
        cmocka_unit_test_setup_teardown(event_types_have_names, start, end),
        cmocka_unit_test_setup_teardown(strings_follow_the_preferred_language, start, end),
        cmocka_unit_test_setup_teardown(other_declarations_are_skipped, start, end),
        cmocka_unit_test_setup_teardown(any_encoding_is_read, start, end),
        cmocka_unit_test_setup_teardown(an_invalid_file_is_rejected_with_line_and_token, start, end),
        cmocka_unit_test_setup_teardown(a_class_of_a_later_file_replaces_an_earlier_one, start, end),
        cmocka_unit_test_setup_teardown(a_provider_names_its_flags_and_levels, start, end),
        cmocka_unit_test_setup_teardown(out_of_memory_changes_nothing, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
