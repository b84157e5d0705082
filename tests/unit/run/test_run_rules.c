/* SPDX-License-Identifier: MIT */
/* Rules of sets, which are applied after real runs. Their warnings must be in the report and in the event file. Even if
   the rules are wrong, the report must be created. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"
#include "engine/pla/model.h"
#include "engine/pla/sets.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define OWN_FOLDER                                                                                                     \
    "<Subdirectory>run</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>NNNNNN"      \
    "</SubdirectoryFormatPattern>"
#define MANAGED(rules) OWN_FOLDER "<DataManager><Enabled>-1</Enabled><Rules>" rules "</Rules></DataManager>"
#define RULE(actions)                                                                                                  \
    "<Group name=\"g\"><Rule name=\"r\"><Step select=\"/Report\"><Exists><Otherwise>" actions                          \
    "</Otherwise></Exists></Step></Rule></Group>"
#define WARNING "<Warning><Item><Data name=\"symptom\" img=\"warning\">too many of them</Data></Item></Warning>"

static struct run_record run_once(const char *name, const char *more)
{
    char *root = fixture_folder(name);
    fixture_commit(name, root, more, CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
    memory_free(root);
    return fixture_record(name);
}

static bool holds(const char *folder, const char *file, const char *words)
{
    char *text = fixture_read(folder, file);
    const bool there = strstr(text, words) != NULL;
    memory_free(text);
    return there;
}

/* Returns how many events with this id are about the report in the folder. Asserts that each of them contains
   `said`. */
static size_t events_of(uint32_t id, const char *folder, const char *said)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *report = path_join(folder, "report.xml"), *journal = journal_folder();
    size_t count = 0;
    assert_int_equal(journal_reader_open(journal, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        if (e.id != id || strcmp(e.fields[0].value, report) != 0)
            continue;
        count++;
        assert_string_equal(e.fields[1].name, "Description");
        if (!strstr(e.fields[1].value, said))
            fail_msg("%s", e.fields[1].value);
    }
    journal_reader_close(r);
    memory_free(journal);
    memory_free(report);
    return count;
}

static void warnings_are_in_the_report_and_an_event(void **state)
{
    (void)state;
    struct run_record record = run_once("ruled", MANAGED("<Logging level=\"15\" file=\"what.log\"/>" RULE(
                                                     WARNING "<Notify severity=\"information\">by the way</Notify>")));
    assert_int_equal(record.last_result, S_OK);
    assert_true(holds(record.latest_location, "report.xml", ">too many of them</Data></Item></Table>"));
    assert_true(holds(record.latest_location, "report.xml", "Processes"));
    assert_true(holds(record.latest_location, "what.log", "rule Rules: group 'g': rule 'r': begins"));
    assert_int_equal(events_of(3001, record.latest_location, "too many of them"), 1);
    assert_int_equal(events_of(3000, record.latest_location, "by the way"), 1);
    assert_int_equal(events_of(3002, record.latest_location, ""), 0);
    run_record_free(&record);
}

/* If rules are invalid or fail, the report and the log must still exist. */
static void rule_errors_leave_the_report_unchanged(void **state)
{
    (void)state;
    static const struct {
        const char *rules, *said;
    } cases[] = {
        {MANAGED("<Import file=\"none.xml\"/>"), "none.xml"},
        {MANAGED("<Logging level=\"1\" file=\"run000001.csv\"/>" RULE("<Delete select=\"{nothing}\"/>")),
         "step 1: line 1: Delete select=\"{nothing}\": the variable {nothing} has no value yet"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[] = "mistakenN";
        name[sizeof name - 2] = (char)('0' + i);
        struct run_record record = run_once(name, cases[i].rules);
        assert_int_equal(record.last_result, S_OK);
        assert_true(holds(record.latest_location, "report.xml", "</Report>"));
        assert_int_equal(events_of(3002, record.latest_location, cases[i].said), 1);
        assert_int_equal(holds(record.latest_location, "report.xml", "\"advice\""), i == 1);
        if (i == 1) /* the rules' log is not a collector's log */
            assert_true(holds(record.latest_location, "rules.log", "{nothing}"));
        run_record_free(&record);
    }
}

static int begin(void **state)
{
    int rc = fixture_setup(state);
    scratch_environment("TEST_REPORTS", "1");
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_are_in_the_report_and_an_event),
        cmocka_unit_test(rule_errors_leave_the_report_unchanged),
    };
    return cmocka_run_group_tests(tests, begin, fixture_teardown);
}
