/* SPDX-License-Identifier: MIT */
/* A schema from outside that does not hold together is refused, whatever reader made it. */
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

/* A number, that many structs of one member, and a text of as many characters. */
static int sound(void **state)
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

static void refused_for(const char *what)
{
    assert_int_equal(event_schema_check(&schema), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), what));
}

static void what_holds_together_is_taken(void **state)
{
    (void)state;
    assert_int_equal(event_schema_check(&schema), S_OK);
    assert_ptr_equal(event_schema_map(&schema, "names"), &map);
    assert_null(event_schema_map(&schema, "name"));
    assert_null(event_schema_map(&schema, NULL));
}

static void counts_and_lengths_are_numbers_before(void **state)
{
    (void)state;
    properties[TEXT].length = TEXT;
    refused_for("'Text'");
    properties[TEXT].length = STRUCTURE;
    refused_for("length");
    (void)sound(NULL);
    properties[COUNT].in_type = STRING_TYPE;
    refused_for("'Parts'");
    (void)sound(NULL);
    properties[COUNT].flags = PROPERTY_FIXED_COUNT;
    refused_for("count");
}

static void members_are_behind_the_top(void **state)
{
    (void)state;
    properties[STRUCTURE].first_member = TEXT;
    refused_for("members");
    properties[STRUCTURE].first_member = MEMBER;
    properties[STRUCTURE].members = 2;
    refused_for("'Parts'");
    (void)sound(NULL);
    properties[MEMBER].flags = PROPERTY_STRUCT;
    properties[MEMBER].first_member = MEMBER;
    properties[MEMBER].members = 1;
    refused_for("'Part'");
    (void)sound(NULL);
    schema.top_level = 5;
    refused_for("top-level");
}

static void names_and_maps_are_there(void **state)
{
    (void)state;
    properties[COUNT].map = other;
    refused_for("map");
    properties[COUNT].name = NULL;
    refused_for("name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_holds_together_is_taken, sound),
        cmocka_unit_test_setup(counts_and_lengths_are_numbers_before, sound),
        cmocka_unit_test_setup(members_are_behind_the_top, sound),
        cmocka_unit_test_setup(names_and_maps_are_there, sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
