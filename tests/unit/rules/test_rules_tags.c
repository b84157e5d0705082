/* SPDX-License-Identifier: MIT */
/* If several rules warn about one row, each warning must link to the row, and the row must link to each warning. */
#include "tests/unit/rules/rules_report.h"

#define RULE(steps)  "<Rules><Group name='g'><Rule name='r'>" steps "</Rule></Group></Rules>"
#define STEP(inside) "<Step select='//Table[@name=\"physicalDisk\"]/Item'>" inside "</Step>"
#define DO(actions)  "<Exists><Otherwise>" actions "</Otherwise></Exists>"
#define WARN(tag)                                                                                                      \
    "<Warning select='Data' table='//Table[@name=\"warning\"]' tag='" tag "'><Item><Data name='symptom' link='" tag    \
    "'>s</Data></Item></Warning>"

#define ONE                                                                                                            \
    "<Report name='r'><Table name='physicalDisk'><Item><Data name='disk'>C:</Data>"                                    \
    "<Data name='mean' tag='Windows' units='s'>1</Data></Item></Table></Report>"

static void run(struct ruled *r, void **state, const char *report, const char *rules)
{
    rules_write_file(*state, "report.xml", report);
    rules_run_over(r, *state, rules);
}

/* If a second rule warns about a row, the links between the row and the first warning must be kept. */
static void all_warnings_of_a_row_lead_to_it(void **state)
{
    struct ruled r;
    run(&r, state, ONE, RULE(STEP(DO(WARN("long"))) STEP(DO(WARN("very long") WARN("long")))));
    for (int again = 0; again < 2; again++) {
        assert_no_fault(&r);
        assert_has(&r, "<Data name=\"disk\" tag=\"long&#10;very long\" rules=\"tag\">");
        assert_has(&r, "<Data name=\"mean\" tag=\"Windows&#10;long&#10;very long\" units=\"s\" rules=\"+tag\">");
        ruled_free(&r);
        rules_run_over(&r, *state, RULE(STEP(DO(WARN("long"))) STEP(DO(WARN("very long")))));
    }
    ruled_free(&r);
    /* If rules no longer warn, the row gets back the tag that it had before. */
    rules_run_over(&r, *state, RULE(""));
    assert_has(&r, "<Data name=\"disk\">C:</Data><Data name=\"mean\" tag=\"Windows\" units=\"s\">1</Data>");
    ruled_free(&r);
}

/* If a row's tag has no room for another warning, the warning is still written. */
static void a_tag_without_room_is_reported(void **state)
{
    struct ruled r;
    struct text_buffer b = {0};
    text_buffer_add(&b,
                    "<Rules><Group name='g'><Rule name='r'><Step select='//Table[1]/Item' sortType='first'><Variable "
                    "name='long' expression='concat(");
    for (int i = 0; i < 100; i++)
        text_buffer_add(&b, "\"0123456789\",");
    text_buffer_add(&b, "1)'/>" DO(WARN("1{long}") WARN("2{long}") WARN("3{long}") WARN("4{long}")
                                       WARN("5{long}")) "</Step></Rule></Group></Rules>");
    run(&r, state, ONE, b.text);
    assert_int_equal(r.hr, S_OK);
    assert_int_equal(r.outcome.warning_count, 5);
    assert_int_equal(r.outcome.notes.count, 1);
    assert_message(&r.outcome.notes, "4096 bytes");
    assert_has(&r, "link=\"50123456789");
    assert_has_not(&r, "&#10;50123456789");
    text_buffer_free(&b);
    ruled_free(&r);
    /* A tag cannot contain a line break, but a value in the report may contain one. */
    run(&r, state, "<Report name='r'><Table name='physicalDisk'><Item><Data>a&#10;b</Data></Item></Table></Report>",
        RULE(STEP("<Variable name='v' expression='string(Data)'/>" DO(WARN("{v}")))));
    assert_int_equal(r.outcome.warning_count, 1);
    assert_message(&r.outcome.notes, "several lines");
    assert_has_not(&r, "tag=");
    ruled_free(&r);
}

static int make(void **state)
{
    *state = scratch_create("rules_tags");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_warnings_of_a_row_lead_to_it),
        cmocka_unit_test(a_tag_without_room_is_reported),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
