/* SPDX-License-Identifier: MIT */
/* An inconsistent schema from an external source is rejected, whichever reader created it. */
#include "engine/base/error.h"
#include "engine/etw/decode/event_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

enum { UINT32_TYPE = 8, STRING_TYPE = 1, COUNT = 0, STRUCTURE = 1, TEXT = 2, MEMBER = 3 };

static char one[] = "one", names[] = "names", other[] = "other";
static char count[] = "Count", parts[] = "Parts", text[] = "Text", part[] = "Part";
static struct event_map_entry entry = {1, NULL, one};
static struct event_map map = {names, MAP_MANIFEST_VALUES, &entry, 1};
static struct event_property properties[4];
static struct event_schema schema;

/* Creates a schema with a number, an array of structs with one member each, and a string. The number is both the count
   of structs and the length of the string. */
static int create_consistent_schema(void **state)
{
    (void)state;
    const struct event_property whole[4] = {
        [COUNT] = {.name = count, .in_type = UINT32_TYPE, .count = 1, .map = names},
        [STRUCTURE] = {.name = parts,
                       .flags = PROPERTY_STRUCT | PROPERTY_PARAM_COUNT,
                       .count = COUNT,
                       .first_member = MEMBER,
                       .members = 1},
        [TEXT] = {.name = text, .flags = PROPERTY_PARAM_LENGTH, .in_type = STRING_TYPE, .count = 1, .length = COUNT},
        [MEMBER] = {.name = part, .in_type = STRING_TYPE, .count = 1},
    };
    memcpy(properties, whole, sizeof whole);
    schema = (struct event_schema){
        .properties = properties, .property_count = 4, .top_level = 3, .maps = &map, .map_count = 1};
    return 0;
}

static void assert_rejected(const char *what)
{
    assert_int_equal(event_schema_check(&schema), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), what));
}

static void a_consistent_schema_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(event_schema_check(&schema), S_OK);
    assert_ptr_equal(event_schema_map(&schema, "names"), &map);
    assert_null(event_schema_map(&schema, "name"));
    assert_null(event_schema_map(&schema, NULL));
}

static void counts_and_lengths_must_precede(void **state)
{
    (void)state;
    properties[TEXT].length = TEXT;
    assert_rejected("'Text'");
    properties[TEXT].length = STRUCTURE;
    assert_rejected("length");
    (void)create_consistent_schema(NULL);
    properties[COUNT].in_type = STRING_TYPE;
    assert_rejected("'Parts'");
    (void)create_consistent_schema(NULL);
    properties[COUNT].flags = PROPERTY_FIXED_COUNT;
    assert_rejected("count");
}

static void members_must_follow_the_top_level(void **state)
{
    (void)state;
    properties[STRUCTURE].first_member = TEXT;
    assert_rejected("members");
    properties[STRUCTURE].first_member = MEMBER;
    properties[STRUCTURE].members = 2;
    assert_rejected("'Parts'");
    (void)create_consistent_schema(NULL);
    properties[MEMBER].flags = PROPERTY_STRUCT;
    properties[MEMBER].first_member = MEMBER;
    properties[MEMBER].members = 1;
    assert_rejected("'Part'");
    (void)create_consistent_schema(NULL);
    schema.top_level = 5;
    assert_rejected("top level");
}

static void names_and_maps_must_exist(void **state)
{
    (void)state;
    properties[COUNT].map = other;
    assert_rejected("map");
    properties[COUNT].name = NULL;
    assert_rejected("name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_consistent_schema_is_accepted, create_consistent_schema),
        cmocka_unit_test_setup(counts_and_lengths_must_precede, create_consistent_schema),
        cmocka_unit_test_setup(members_must_follow_the_top_level, create_consistent_schema),
        cmocka_unit_test_setup(names_and_maps_must_exist, create_consistent_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
