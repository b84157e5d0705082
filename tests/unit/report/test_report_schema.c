/* SPDX-License-Identifier: MIT */
/* Report schemas of users and templates: how they are read, and how their errors are reported. */
#include "engine/base/memory.h"
#include "engine/report/report_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define G           "{3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C}"
#define FIELD(rest) "<EventField payloadGuid='" G "' payloadId='11' version='3' " rest "/>"

static struct report_schema read_schema(const char *text)
{
    struct report_schema s = {0};
    assert_int_equal(report_schema_add(&s, "a.xml", text, strlen(text), NULL), S_OK);
    report_schema_order(&s);
    return s;
}

static void test_all_parts_of_a_schema_are_read(void **state)
{
    (void)state;
    struct report_schema s = read_schema(
        "<Report xmlns='" REPORT_SCHEMA_NAMESPACE "' name='demo' version='1' threshold='7'><Sections>\n"
        "<Section name='late' key='9'><CounterTable name='m' topic='t' object='Memory'/></Section>\n"
        "<Section name='disk' key='1' note='n'>"
        "<CounterTable name='none' topic='t' object='o'/>"
        "<EventTable name='writers' topic='io' threshold='25' rowcount='1000' key='10' level='3'>\n"
        "<Column name='pid' groupby='true' align='left'>" FIELD(
            "field='SYS:pid'") "</Column>\n"
                               "<Column name='bytes' sort='primary' order='ascending' format='#,##0' summary='total' "
                               "outtype='xs:int'>" FIELD(
                                   "field='TransferSize' aggregate='Total'") "</Column>"
                                                                             "<SubTable><Column name='pid'>" FIELD(
                                                                                 "field='IrpFlags'") "</Column></"
                                                                                                     "SubTable></"
                                                                                                     "EventTable>\n"
                                                                                                     "<CounterTable "
                                                                                                     "name='pd' "
                                                                                                     "topic='io' "
                                                                                                     "object='"
                                                                                                     "PhysicalDisk' "
                                                                                                     "key='9' "
                                                                                                     "columns='p95 "
                                                                                                     "sum' sort='mean' "
                                                                                                     "chart='*'>"
                                                                                                     "<Exclude "
                                                                                                     "column='machine'/"
                                                                                                     "><Exclude "
                                                                                                     "counter='i/"
                                                                                                     "split*/'/"
                                                                                                     "><Include "
                                                                                                     "instance='i/"
                                                                                                     "_total/'/></"
                                                                                                     "CounterTable>"
                                                                                                     "</Section></"
                                                                                                     "Sections>"
                                                                                                     "<StringTable><"
                                                                                                     "String "
                                                                                                     "ID='disk'>Disk</"
                                                                                                     "String><String "
                                                                                                     "ID='disk'>Second<"
                                                                                                     "/String></"
                                                                                                     "StringTable>"
                                                                                                     "<StringTable "
                                                                                                     "xml:lang='de'><"
                                                                                                     "String "
                                                                                                     "ID='disk'>Platte<"
                                                                                                     "/String></"
                                                                                                     "StringTable></"
                                                                                                     "Report>");
    assert_int_equal(s.errors.count, 0);
    assert_int_equal(s.warnings.count, 0);
    assert_int_equal(s.section_count, 2);
    assert_int_equal(s.threshold, 7);
    assert_string_equal(s.sections[0].name, "disk");
    assert_string_equal(s.sections[0].note, "n");
    assert_string_equal(s.sections[1].name, "late");
    const struct schema_table *counters = &s.sections[0].tables[0], *events = &s.sections[0].tables[1];
    assert_string_equal(counters->name, "pd");
    assert_string_equal(events->name, "writers");
    assert_string_equal(s.sections[0].tables[2].name, "none");
    assert_int_equal(counters->counters.excluded, COUNTER_COLUMN_MACHINE);
    assert_int_equal(counters->counters.added, COUNTER_COLUMN_P95 | COUNTER_COLUMN_SUM);
    assert_int_equal(counters->counters.sort, COUNTER_COLUMN_MEAN);
    assert_int_equal(counters->counters.pattern_count, 2);
    assert_true(events->of_events);
    assert_int_equal(events->level, 3);
    assert_int_equal(events->row_count, 1000);
    assert_int_equal(events->line, 3);
    const struct schema_column *pid = &events->events.columns.items[0], *bytes = &events->events.columns.items[1];
    assert_true(pid->group_by && pid->align == SCHEMA_LEFT && pid->field.system == SYS_PID);
    assert_int_equal(bytes->field.aggregate, SCHEMA_TOTAL);
    assert_int_equal(bytes->out_type, OUT_INT);
    assert_int_equal(bytes->sort, SCHEMA_PRIMARY);
    assert_int_equal(bytes->summary, SCHEMA_SUM);
    assert_true(bytes->ascending);
    assert_int_equal(bytes->field.id, 11);
    assert_int_equal(bytes->field.version, 3);
    assert_int_equal(events->events.sub_columns.count, 1);
    assert_string_equal(report_schema_string(&s, "disk", ""), "Disk");
    assert_string_equal(report_schema_string(&s, "disk", "de-AT"), "Platte");
    assert_string_equal(report_schema_string(&s, "disk", "fr"), "Disk");
    assert_string_equal(report_schema_string(&s, "unknown", "fr"), "unknown");
    report_schema_free(&s);
}

#define TABLE(inside)             "<EventTable name='bad' topic='t'>" inside "</EventTable>"
#define COLUMN(attributes, field) "<Column name='c' " attributes ">" FIELD(field) "</Column>"

/* A table with an error is skipped, but the next table is read. The error contains the position and the reason. */
static void test_an_error_drops_its_table_and_is_reported_with_its_place(void **state)
{
    static const struct {
        const char *table, *said;
    } mistakes[] = {
        {"<EventTable topic='t'>" COLUMN("", "field='x'") "</EventTable>",
         "line 2: EventTable name: the attribute is missing"},
        {TABLE(""), "line 2: EventTable: 0 elements Column, expected at least 1"},
        {TABLE("<Column name='c'/>"), "line 2: Column: 0 elements EventField"},
        {TABLE(COLUMN("align='middle'", "field='x'")), "Column align=\"middle\": unknown word"},
        {TABLE(COLUMN("format='0x0'", "field='x'")), "format=\"0x0\": expected a number format mask"},
        {TABLE(COLUMN("groupby='yes'", "field='x'")), "groupby=\"yes\": expected true or false"},
        {TABLE(COLUMN("", "field='sys:Nonsense'")), "field=\"sys:Nonsense\": unknown field of event headers"},
        {TABLE(COLUMN("", "field='x' aggregate='total'")), "without a preceding grouping column"},
        {TABLE(COLUMN("groupby='1'", "field='x' aggregate='total'")), "a grouping column cannot be aggregated"},
        {TABLE(COLUMN("", "field='sys:ResponseTime'")), "only allowed in tables with transaction"},
        {TABLE(COLUMN("", "field='x'") COLUMN("", "field='y'")), "duplicate column name"},
        {TABLE(COLUMN("bars='true'", "field='x'")), "only the primary sort column"},
        {TABLE(COLUMN("bars='true' sort='primary' order='ascending'", "field='x'")), "only the primary sort column"},
        {TABLE("<Column name='c'><EventField field='x' payloadGuid='{1}' payloadId='1'/></Column>"),
         "payloadGuid=\"{1}\": expected a GUID"},
        {TABLE("<Column name='c'><EventField field='x' payloadGuid='" G "' payloadId='x'/></Column>"),
         "payloadId=\"x\": expected a number"},
        {TABLE(COLUMN("", "field='x'") "<EqualJoin/>"), "EqualJoin: 0 elements EventJoinField"},
        {TABLE(COLUMN("", "field='x'") "<SubTable/>"), "SubTable: 0 elements Column"},
        {"<EventTable name='bad' topic='t' level='6'>" COLUMN("", "field='x'") "</EventTable>",
         "expected a level from 1 to 5"},
        {"<CounterTable name='bad' topic='t'/>", "CounterTable object: the attribute is missing"},
        {"<CounterTable name='bad' topic='t' object='o'><Exclude/></CounterTable>",
         "Exclude: counter, instance or column is missing"},
        {"<CounterTable name='bad' topic='t' object='o'><Exclude column='color'/></CounterTable>",
         "column=\"color\": unknown word"},
        {"<CounterTable name='bad' topic='t' object='o' rowcount='0'/>", "rowcount=\"0\""},
        {"<CounterTable name='bad' topic='t' object='o' limit='5 %'/>", "limit=\"5 %\": expected numbers"},
        {"<CounterTable name='bad' topic='t' object='o' slices='x' slice='0'/>",
         "slice=\"0\": expected a number from 1"},
        {"<CounterTable name='bad' topic='t' object='o' slices='x' slice='86401'/>",
         "expected seconds from 1 to 86400"},
        {"<CounterTable name='bad' topic='t' object='o' limit='1e999'/>", "limit=\"1e999\": expected numbers"},
        {"<CounterTable name='bad' topic='t' object='o' limit='- '/>", "limit=\"-\": expected numbers"},
        {"<CounterTable name='bad' topic='t' object='o' limit='1 2 3 4 5'/>", "more than four numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = text_format("<Report name='r' version='1'><Sections><Section name='s' key='1'>\n%s"
                                 "<CounterTable name='good' topic='t' object='Memory'/></Section></Sections></Report>",
                                 mistakes[i].table);
        struct report_schema s = read_schema(text);
        assert_int_equal(s.sections[0].count, 1);
        assert_string_equal(s.sections[0].tables[0].name, "good");
        assert_int_equal(s.errors.count, 1);
        if (!strstr(s.errors.items[0], mistakes[i].said) || !strstr(s.errors.items[0], "a.xml: section 's': "))
            fail_msg("%s: is reported as: %s", mistakes[i].said, s.errors.items[0]);
        report_schema_free(&s);
        memory_free(text);
    }
}

static void test_other_documents_are_rejected(void **state)
{
    static const char *const refused[] = {"",
                                          "<Report",
                                          "<Rules/>",
                                          "<Report xmlns='urn:other' name='r' version='1'/>",
                                          "<Report version='1'/>",
                                          "<!DOCTYPE Report><Report name='r' version='1'/>"};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct report_schema s = {0};
        assert_int_equal(report_schema_add(&s, "a.xml", refused[i], strlen(refused[i]), NULL), OPENPLA_E_MALFORMED_XML);
        assert_non_null(strstr(error_text(OPENPLA_E_MALFORMED_XML), "a.xml: "));
        report_schema_free(&s);
    }
}

static HRESULT load_circle(const char *name, const char *importer, struct schema_file *out)
{
    (void)importer;
    const char *text = strcmp(name, "b.xml") != 0 ? "<Report name='other' version='2'><Import file='b.xml'/></Report>"
                                                  : "<Report name='b' version='3'><Import file='c.xml'/><Sections>"
                                                    "<Section name='s' key='2'><CounterTable name='of b' topic='t' "
                                                    "object='o'/></Section></Sections></Report>";
    *out = (struct schema_file){text_copy(name), text_copy(text), strlen(text), false};
    return S_OK;
}

static void test_imports_are_read_once_and_sections_are_merged(void **state)
{
    static const char text[] = "<Report name='a' version='1'><Import file='b.xml'/><Import file='b.xml'/><Sections>"
                               "<Section name='s' key='2'><CounterTable name='of a' topic='t' object='o'/></Section>"
                               "</Sections></Report>";
    struct report_schema s = {0};
    (void)state;
    assert_int_equal(report_schema_add(&s, "a.xml", text, strlen(text), load_circle), S_OK);
    assert_int_equal(s.files.count, 3);
    assert_string_equal(s.name, "a");
    assert_int_equal(s.section_count, 1);
    assert_int_equal(s.sections[0].count, 2);
    assert_int_equal(s.errors.count, 0);
    report_schema_free(&s);
}

static void test_the_built_in_schemas_are_valid(void **state)
{
    (void)state;
    for (const struct shipped_schema *shipped = shipped_schemas; shipped->name; shipped++) {
        struct report_schema s = {0};
        assert_int_equal(report_schema_add_file(&s, shipped->name, schema_file_load), S_OK);
        for (size_t i = 0; i < s.errors.count; i++)
            fail_msg("%s", s.errors.items[i]);
        for (size_t i = 0; i < s.warnings.count; i++)
            fail_msg("%s", s.warnings.items[i]);
        report_schema_free(&s);
    }
}

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"i/avg*/", "Avg. Disk Queue Length", true},
        {"/Avg*/", "Avg. Disk Queue Length", true},
        {"/avg*/", "Avg. Disk Queue Length", false},
        {"i/*\\/sec/", "Pages/sec", true},
        {"i/*\\/sec/", "Pages/second", false},
        {"i/_total/", "_Total", true},
        {"i/_total/", "_Total2", false},
        {"i/?:/", "C:", true},
        {"i/?:/", "CD:", false},
        {"Pages/sec", "Pages/sec", true},
        {"pages/sec", "Pages/sec", false},
        {"*", "anything", true},
        {"/*a*b*/", "xxaxxbxx", true},
        {"/*a*b*/", "xxbxxaxx", false},
        {"/a\\*/", "a*", true},
        {"/a\\*/", "ab", false},
        {"i/\xC3\x84*/", "\xC3\xA4pfel", true}, /* A umlaut */
        {"//", "", true},
        {"//", "a", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (schema_pattern_matches(cases[i].pattern, cases[i].text) != cases[i].fits)
            fail_msg("%s, %s", cases[i].pattern, cases[i].text);
}

/* The patterns of charts: one string contains several patterns. A pattern may contain the separator. */
static void test_several_patterns(void **state)
{
    static const struct {
        const char *patterns, *text;
        bool fits;
    } cases[] = {
        {"i/a/|i/b/", "B", true}, {"i/a/|i/b/", "c", false}, {"a|b|", "", false},
        {"|", "", false},         {"/a\\|b/", "a|b", true},  {"/a\\|b/", "b", false},
        {"/a\\\\|b", "b", true},  {"a\\", "a\\", true},      {"a||b", "b", true},
    };
    char one[SCHEMA_LONGEST_PATTERN];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (schema_patterns_match(cases[i].patterns, cases[i].text) != cases[i].fits)
            fail_msg("%s, %s", cases[i].patterns, cases[i].text);
    char *text = text_format("%01100d|b", 0);
    assert_string_equal(schema_pattern_first(text, one), "b");
    assert_string_equal(one, ""); /* the pattern is longer than any name */
    assert_true(schema_patterns_match(text, "b") && !schema_patterns_match(text, ""));
    memory_free(text);
}

static void test_out_of_memory_rejects_the_schema(void **state)
{
    static const char text[] =
        "<Report name='a' version='1'><Import file='b.xml'/><Sections><Section name='s' key='2'><EventTable name='e'>"
        "<Column name='c' groupby='1'>" FIELD(
            "field='x'") "</Column><Bad/></EventTable><CounterTable name='c' "
                         "object='o'><Include counter='x'/></CounterTable><CounterTable/></Section></Sections>"
                         "<StringTable><String ID='a'>b</String></StringTable></Report>";
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct report_schema s = {0};
        memory_fail_at(n);
        const HRESULT hr = report_schema_add(&s, "a.xml", text, strlen(text), NULL);
        const bool failed = memory_count() >= n;
        memory_fail_at(0);
        report_schema_free(&s);
        if (!failed) {
            assert_int_equal(hr, S_OK);
            break;
        }
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_parts_of_a_schema_are_read),
        cmocka_unit_test(test_an_error_drops_its_table_and_is_reported_with_its_place),
        cmocka_unit_test(test_other_documents_are_rejected),
        cmocka_unit_test(test_imports_are_read_once_and_sections_are_merged),
        cmocka_unit_test(test_the_built_in_schemas_are_valid),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_several_patterns),
        cmocka_unit_test(test_out_of_memory_rejects_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
