/* SPDX-License-Identifier: MIT */
/* An API trace whose program is on a drive that is mapped to a share (MS-PLA 2.2.1: 0x80300106). A test cannot map a
   share, so this file replaces the function that asks the host OS about a drive. */
#include "tests/unit/pla/set_xml_fixture.h"

bool __wrap_drive_is_remote(char letter);
bool __wrap_drive_is_remote(char letter)
{
    return letter == 'N' || letter == 'n';
}

static void expect_map(const char *program, const char *expected)
{
    struct object *set = new_set(), *issues = new_issues();
    char *xml =
        text_format(SET(QUIET "<ApiTracingDataCollector><ExePath>%s</ExePath></ApiTracingDataCollector>"), program);
    assert_int_equal(set_xml(set, xml), S_OK);
    assert_int_equal(set_validate(set, issues), S_OK);
    char *found = listed(issues);
    assert_string_equal(found ? found : "", expected);
    memory_free(found);
    memory_free(xml);
    object_release(issues);
    object_release(set);
}

static void programs_on_network_drives_are_reported(void **state)
{
    (void)state;
    expect_map("N:\\apps\\x.exe", "ApiTracingDataCollector[1]/ExePath 0x80300106\n");
    expect_map("n:/apps/x.exe", "ApiTracingDataCollector[1]/ExePath 0x80300106\n");
    expect_map("N:x.exe", "ApiTracingDataCollector[1]/ExePath 0x80300106\n");
    expect_map("M:\\apps\\x.exe", "ApiTracingDataCollector[1]/ExePath 0x80300108\n");
}

/* Only Start expands the variable in the path, so only Start can detect the share. */
static void start_with_network_program_fails(void **state)
{
    struct object *collector;
    char *program;
    (void)state;
    assert_int_equal(setenv("API_DRIVE", "N:", 1), 0);
    assert_int_equal(object_create(&api_tracing_collector_class, NULL, &collector), S_OK);
    assert_int_equal(object_put_text(collector, class_property(collector->class, "ExePath"), "%API_DRIVE%\\x.exe"),
                     S_OK);
    assert_int_equal(api_tracing_program(collector, &program), PLA_E_NETWORK_EXE_NOT_VALID);
    assert_null(program);
    assert_string_equal(error_text(PLA_E_NETWORK_EXE_NOT_VALID), "'N:\\x.exe' is on another computer");
    object_release(collector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_on_network_drives_are_reported),
        cmocka_unit_test(start_with_network_program_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
