/* SPDX-License-Identifier: MIT */
/* A self-describing event is decoded by its metadata: fields, nested structs, counts, tags, custom fields; invalid
   metadata are rejected quickly. */
#include "engine/base/memory.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static const GUID provider = {0x01020304, 5, 6, {7, 8, 9, 10, 11, 12, 13, 14}};
static const EVENT_DESCRIPTOR descriptor = {.Channel = 11, .Level = 4, .Opcode = 1};
static struct event_schema *schema;

/* Puts the size before the metadata, and creates a schema from both. */
static HRESULT read(const char *metadata, size_t size)
{
    uint8_t *copy = memory_alloc(size + 2);
    put_u16(copy, (uint16_t)(size + 2));
    memcpy(copy + 2, metadata, size);
    event_schema_free(schema);
    const HRESULT hr = trace_logging_schema(&provider, &descriptor, copy, size + 2, NULL, 0, &schema);
    memory_free(copy);
    assert_true(SUCCEEDED(hr) == (schema != NULL));
    return hr;
}
#define READ(literal) read(literal, sizeof(literal) - 1)

static int drop(void **state)
{
    (void)state;
    event_schema_free(schema);
    schema = NULL;
    return 0;
}

static void expect(size_t index, const char *name, uint16_t in, uint16_t out, uint32_t flags, uint16_t count)
{
    const struct event_property *p = &schema->properties[index];
    assert_string_equal(p->name, name);
    assert_int_equal(p->in_type, in);
    assert_int_equal(p->out_type, out);
    assert_int_equal(p->flags, flags);
    assert_int_equal(p->count, count);
}

static void an_event_has_names(void **state)
{
    (void)state;
    static const uint8_t traits[] = "\x07\0Mine\0";
    uint8_t metadata[] = {12, 0, 0x81, 0x02, 'E', 'v', 0, 'n', 0, 0x88, 5, 99};
    metadata[0] = 11; /* bytes after the declared size are ignored */
    assert_int_equal(trace_logging_schema(&provider, &descriptor, metadata, sizeof metadata, traits, 7, &schema), S_OK);
    assert_string_equal(schema->event_name, "Ev");
    assert_string_equal(schema->provider_name, "Mine");
    assert_string_equal(schema->level_name, "Information");
    assert_string_equal(schema->opcode_name, "Start");
    assert_int_equal(schema->tags, 0x01 << 21 | 0x02 << 14);
    assert_int_equal(schema->property_count, 1);
    expect(0, "n", IN_TYPE_UINT32, OUT_TYPE_PID, 0, 1);
}

static void array_counts_are_in_metadata_or_data(void **state)
{
    (void)state;
    assert_int_equal(READ("\0e\0f\0\x24\x03\0v\0\x41t\0\x0A"), S_OK);
    assert_int_equal(schema->top_level, 4);
    expect(0, "f", IN_TYPE_UINT8, 0, PROPERTY_FIXED_COUNT, 3);
    expect(1, "v.Count", IN_TYPE_UINT16, 0, 0, 1);
    expect(2, "v", IN_TYPE_UNICODESTRING, 0, PROPERTY_PARAM_COUNT, 1);
    expect(3, "t", IN_TYPE_UINT64, 0, 0, 1);
}

/* s { a, t { b, v[] }, c }, d: the members of a struct are adjacent in the schema. The members of inner structs follow
   those of outer structs. */
static void structs_nest(void **state)
{
    (void)state;
    assert_int_equal(READ("\0e\0s\0\x98\x03"
                          "a\0\x03t\0\x98\x02"
                          "b\0\x04v\0\x45"
                          "c\0\x05"
                          "d\0\x06"),
                     S_OK);
    assert_int_equal(schema->top_level, 2);
    assert_int_equal(schema->property_count, 8);
    expect(0, "s", 0, 0, PROPERTY_STRUCT, 1);
    expect(1, "d", IN_TYPE_UINT16, 0, 0, 1);
    expect(2, "a", IN_TYPE_INT8, 0, 0, 1);
    expect(3, "t", 0, 0, PROPERTY_STRUCT, 1);
    expect(4, "c", IN_TYPE_INT16, 0, 0, 1);
    expect(5, "b", IN_TYPE_UINT8, 0, 0, 1);
    expect(6, "v.Count", IN_TYPE_UINT16, 0, 0, 1);
    expect(7, "v", IN_TYPE_INT16, 0, PROPERTY_PARAM_COUNT, 6);
    assert_int_equal(schema->properties[0].first_member, 2);
    assert_int_equal(schema->properties[0].members, 3);
    assert_int_equal(schema->properties[3].first_member, 5);
    assert_int_equal(schema->properties[3].members, 3);
}

static void fields_have_tags_and_custom_types(void **state)
{
    (void)state;
    assert_int_equal(READ("\0e\0t\0\x88\x84\x91\x01"
                          "x\0\xEE\x07\x02\0AB"
                          "b\0\x8E\x09"
                          "j\0\x82\x22"),
                     S_OK);
    expect(0, "t", IN_TYPE_UINT32, OUT_TYPE_HEXINT32, PROPERTY_HAS_TAGS, 1);
    assert_int_equal(schema->properties[0].tags, 0x11 << 21 | 0x01 << 14);
    expect(1, "x", IN_TYPE_MANIFEST_COUNTEDBINARY, 7, PROPERTY_CUSTOM_SCHEMA, 1);
    assert_int_equal(schema->properties[1].custom_size, 6);
    assert_memory_equal(schema->properties[1].custom, "\x07\0\x02\0AB", 6);
    expect(2, "b", IN_TYPE_MANIFEST_COUNTEDBINARY, OUT_TYPE_IPV6, 0, 1);
    expect(3, "j", IN_TYPE_ANSISTRING, OUT_TYPE_JSON, 0, 1);
}

/* If such a name were kept, readers could not parse the dump. */
static void invalid_utf8_names_are_replaced(void **state)
{
    (void)state;
    static const uint8_t metadata[] = "\x0A\0\0\xE4v\0f\xFC\0\x08", traits[] = "\x05\0\xD6n\0";
    assert_int_equal(trace_logging_schema(&provider, &descriptor, metadata, 10, traits, 5, &schema), S_OK);
    assert_string_equal(schema->event_name, "\uFFFDv");
    assert_string_equal(schema->task_name, "\uFFFDv");
    assert_string_equal(schema->provider_name, "\uFFFDn");
    assert_string_equal(schema->properties[0].name, "f\uFFFD");
}

static void expect_rejected(const char *metadata, size_t size, const char *why)
{
    assert_int_equal(read(metadata, size), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), why));
}
#define REFUSED(literal, why) expect_rejected(literal, sizeof(literal) - 1, why)

static void invalid_metadata_are_rejected(void **state)
{
    (void)state;
    REFUSED("\x80\x80", "unterminated event tags");
    REFUSED("\0abc", "unterminated event name");
    REFUSED("\0e\0f\0", "field type missing");
    REFUSED("\0e\0f\0\x88", "output type missing");
    REFUSED("\0e\0f\0\x88\x80", "unterminated field tags");
    REFUSED("\0e\0f\0\x28\x01", "truncated array count");
    REFUSED("\0e\0f\0\xEE\x07\x02\0A", "truncated type of a custom field");
    REFUSED("\0e\0f\0\x1A", "unknown input type");
    REFUSED("\0e\0f\0\x98\x02"
            "a\0\x03",
            "a structure has too few members");
    static const uint8_t short_size[] = {9, 0, 0, 'e', 0};
    assert_int_equal(trace_logging_schema(&provider, &descriptor, short_size, sizeof short_size, NULL, 0, &schema),
                     HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
}

/* Nests as many structs around one field as fit into 64 KB of metadata. */
static void deeply_nested_structs_are_rejected(void **state)
{
    (void)state;
    char deep[4 * 1000 + 3] = "\0e";
    for (size_t i = 0; i < 1000; i++)
        memcpy(deep + 3 + 4 * i, "s\0\x98\x01", 4);
    expect_rejected(deep, sizeof deep, "nested too deep");
}

static void traits_contain_provider_and_group(void **state)
{
    (void)state;
    static const uint8_t traits[] = "\x1A\0Mine\0\x13\0\x01GGGGGGGGGGGGGGGG";
    struct provider_traits of;
    assert_int_equal(provider_traits_read(traits, 0x1A, &of), S_OK);
    assert_string_equal(of.name, "Mine");
    assert_true(of.has_group && !of.has_decode);
    assert_memory_equal(&of.group, "GGGGGGGGGGGGGGGG", 16);
    for (size_t size = 0; size < 0x1A; size++)
        assert_int_equal(provider_traits_read(traits, size, &of), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(provider_traits_read((const uint8_t *)"\x07\0Min\xFF\xFF", 7, &of),
                     HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(provider_traits_read((const uint8_t *)"\x09\0Min\0\x05\0\x01", 9, &of),
                     HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
}

static void out_of_memory_loses_nothing(void **state)
{
    (void)state;
    static const uint8_t metadata[] = "\x12\0\0e\0s\0\x98\x01v\0\x45x\0\xEE\x07\0\0";
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = trace_logging_schema(&provider, &descriptor, metadata, 0x12, NULL, 0, &schema);
        memory_fail_at(0);
        assert_true(hr == S_OK || !schema);
    }
    assert_int_equal(hr, S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_event_has_names, drop),
        cmocka_unit_test_teardown(array_counts_are_in_metadata_or_data, drop),
        cmocka_unit_test_teardown(structs_nest, drop),
        cmocka_unit_test_teardown(fields_have_tags_and_custom_types, drop),
        cmocka_unit_test_teardown(invalid_utf8_names_are_replaced, drop),
        cmocka_unit_test_teardown(invalid_metadata_are_rejected, drop),
        cmocka_unit_test_teardown(deeply_nested_structs_are_rejected, drop),
        cmocka_unit_test_teardown(traits_contain_provider_and_group, drop),
        cmocka_unit_test_teardown(out_of_memory_loses_nothing, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
