/* SPDX-License-Identifier: MIT */
/* The issues that Commit reports for a set (MS-PLA 2.2.2.11). It must report ignored, missing and contradictory values,
   and nothing else. */
#include "tests/unit/pla/set_xml_fixture.h"

static void validated(const char *xml, const char *wanted)
{
    struct object *set = new_set(), *issues = new_issues();
    assert_int_equal(set_xml(set, xml), S_OK);
    assert_int_equal(set_validate(set, issues), S_OK);
    char *found = listed(issues);
    assert_string_equal(found ? found : "", wanted);
    memory_free(found);
    object_release(issues);
    object_release(set);
}

/* Tests each rule of MS-PLA 2.2.2.11. */
static void validation_follows_the_rules(void **state)
{
    (void)state;
    validated(SET("<TaskArguments>a</TaskArguments><SubdirectoryFormatPattern>yyyy</SubdirectoryFormatPattern>"),
              "TaskArguments 0x00300100\nSubdirectoryFormatPattern 0x00300100\n");
    validated(SET(QUIET), "");
    validated(SET(QUIET COUNTER("")), "");
    validated(SET(COUNTER("<LogCircular>1</LogCircular>")), ITEM("LogCircular", "0x80300101"));
    validated(SET(QUIET COUNTER("<LogOverwrite>1</LogOverwrite><LogAppend>1</LogAppend>")),
              ITEM("LogAppend", "0x80300101"));
    validated(SET(QUIET COUNTER("<LogFileFormat>0</LogFileFormat><LogAppend>1</LogAppend>")),
              ITEM("LogAppend", "0x00300100"));
    validated(SET(QUIET COUNTER("<LogFileFormat>2</LogFileFormat><LogCircular>1</LogCircular><LogOverwrite>1"
                                "</LogOverwrite><LogAppend>1</LogAppend>")),
              ITEM("LogCircular", "0x00300100") ITEM("LogOverwrite", "0x00300100") ITEM("LogAppend", "0x00300100")
                  ITEM("DataSourceName", "0x80300101"));
    validated(SET(QUIET COUNTER("<FileNameFormat>1</FileNameFormat>")), ITEM("FileNameFormatPattern", "0x80300101"));
    validated(SET(QUIET COUNTER("<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>Q</FileNameFormatPattern>")),
              ITEM("FileNameFormatPattern", "0xa0300002"));
}

/* For the other kinds of collector, Commit reports the properties that a kind ignores, and invalid program paths
   (MS-PLA 2.2.2.11). */
static void validation_covers_every_kind(void **state)
{
    (void)state;
#define IGNORED(kind, property) kind "DataCollector[1]/" property " 0x00300100\n"
#define FILE_ROWS                                                                                                      \
    "<Name>n</Name><FileName>f</FileName><FileNameFormat>2</FileNameFormat><FileNameFormatPattern>yyyy"                \
    "</FileNameFormatPattern><LogAppend>-1</LogAppend><LogCircular>-1</LogCircular><LogOverwrite>-1</LogOverwrite>"
    validated(SET(QUIET "<ConfigurationDataCollector/>"), "");
    validated(SET(QUIET "<ConfigurationDataCollector>" FILE_ROWS "</ConfigurationDataCollector>"),
              IGNORED("Configuration", "LogCircular") IGNORED("Configuration", "LogAppend"));
    validated(SET(QUIET "<ConfigurationDataCollector><FileNameFormat>1</FileNameFormat></ConfigurationDataCollector>"),
              "ConfigurationDataCollector[1]/FileNameFormatPattern 0x80300101\n");
    validated(SET(QUIET "<AlertDataCollector><Alert>\\A\\b&gt;1</Alert></AlertDataCollector>"), "");
    validated(SET(QUIET "<AlertDataCollector>" FILE_ROWS "<Alert>\\A\\b&gt;1</Alert><TaskArguments>a</TaskArguments>"
                        "</AlertDataCollector>"),
              IGNORED("Alert", "FileName") IGNORED("Alert", "FileNameFormat") IGNORED("Alert", "FileNameFormatPattern")
                  IGNORED("Alert", "LogAppend") IGNORED("Alert", "LogCircular") IGNORED("Alert", "LogOverwrite")
                      IGNORED("Alert", "TaskArguments"));
    validated(SET(QUIET "<AlertDataCollector/>"), "AlertDataCollector[1]/AlertThresholds 0x80300101\n");
    validated(SET(QUIET "<TraceDataCollector/>"), "");
    validated(SET(QUIET "<TraceDataCollector><StreamMode>2</StreamMode></TraceDataCollector>"), "");
    validated(SET(QUIET "<TraceDataCollector>" FILE_ROWS "<StreamMode>2</StreamMode></TraceDataCollector>"),
              IGNORED("Trace", "FileName") IGNORED("Trace", "LogAppend") IGNORED("Trace", "LogCircular")
                  IGNORED("Trace", "LogOverwrite") IGNORED("Trace", "FileNameFormat")
                      IGNORED("Trace", "FileNameFormatPattern"));
    validated(SET(QUIET "<TraceDataCollector><TraceDataProvider><Guid>9E814AAD-3204-11D2-9A82-006008A86939</Guid>"
                        "</TraceDataProvider><TraceDataProvider/></TraceDataCollector>"),
              "TraceDataCollector[1]/TraceDataProviders 0x80300101\n");
    for (int system_logger = 0; system_logger < 2; system_logger++) {
        char *xml = text_format(SET(QUIET "<TraceDataCollector><SessionName>mine</SessionName><ExtendedModes>%d"
                                          "</ExtendedModes><TraceDataProvider><Guid>9E814AAD-3204-11D2-9A82-"
                                          "006008A86939</Guid></TraceDataProvider></TraceDataCollector>"),
                                system_logger ? 0x02000000 : 0);
        validated(xml, system_logger ? "" : IGNORED("Trace", "SessionName"));
        memory_free(xml);
    }
#define API_IGNORED                                                                                                    \
    IGNORED("ApiTracing", "FileNameFormat")                                                                            \
    IGNORED("ApiTracing", "FileNameFormatPattern")                                                                     \
    IGNORED("ApiTracing", "LogAppend") IGNORED("ApiTracing", "LogOverwrite") IGNORED("ApiTracing", "LogCircular")
#define API(path) SET(QUIET "<ApiTracingDataCollector><ExePath>" path "</ExePath></ApiTracingDataCollector>")
    validated(SET(QUIET "<ApiTracingDataCollector>" FILE_ROWS "</ApiTracingDataCollector>"),
              API_IGNORED "ApiTracingDataCollector[1]/ExePath 0x80300101\n");
    validated(API(""), "ApiTracingDataCollector[1]/ExePath 0x80300101\n");
    validated(API("notepad.exe"), "ApiTracingDataCollector[1]/ExePath 0x8030010e\n");
    validated(API("\\\\host\\share\\x.exe"), "ApiTracingDataCollector[1]/ExePath 0x80300106\n");
    validated(API("C:\\no\\such\\x.exe"), "ApiTracingDataCollector[1]/ExePath 0x80300108\n");
    validated(API("/"), "ApiTracingDataCollector[1]/ExePath 0x80300108\n");
}

/* An export has an element for each property, and the default name and file. If a user imports and commits it, these
   must not cause warnings, because the user did not put them. The same applies after a query. */
static void unset_properties_are_not_reported(void **state)
{
    (void)state;
    struct object *set = new_set(), *again = new_set(), *issues = new_issues(), *collector;
    assert_int_equal(set_xml(set, SET(COUNTER("") "<TraceDataCollector><StreamMode>2</StreamMode></TraceDataCollector>"
                                                  "<ConfigurationDataCollector/><AlertDataCollector><Alert>\\A\\b&gt;1"
                                                  "</Alert></AlertDataCollector>")),
                     S_OK);
    char *xml = xml_of(set);
    assert_non_null(strstr(xml, "<LogCircular>0</LogCircular>"));
    assert_non_null(strstr(xml, "<FileName>DataCollector02</FileName>"));
    assert_int_equal(set_xml(again, xml), S_OK);
    assert_int_equal(set_validate(again, issues), S_OK);
    char *found = listed(issues);
    assert_string_equal(found ? found : "", "");
    memory_free(found);
    /* A default value causes warnings if a client has put it. */
    struct value no = {.kind = PROPERTY_BOOL};
    assert_int_equal(collection_item(collectors_of(again), 0, &collector), S_OK);
    assert_int_equal(object_put(collector, class_property(collector->class, "LogCircular"), &no), S_OK);
    assert_int_equal(set_validate(again, issues), S_OK);
    found = listed(issues);
    assert_string_equal(found, ITEM("LogCircular", "0x00300100"));
    memory_free(found);
    memory_free(xml);
    object_release(collector);
    object_release(issues);
    object_release(again);
    object_release(set);
}

/* A negative size must not become 4,294,967,291 MB, but flags may be negative because of the sign bit. */
static void negative_numbers_are_not_large_ones(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = new_issues(), *collector;
    static const char xml[] = SET("<SegmentMaxSize>-5</SegmentMaxSize><Duration>-1</Duration>" COUNTER(
        "<SampleInterval>-1</SampleInterval>") "<TraceDataCollector><BufferSize>-8</BufferSize><ExtendedModes>"
                                               "-2147483648</ExtendedModes></TraceDataCollector>");
    assert_int_equal(set_from_xml(set, xml, sizeof xml - 1, issues), S_OK);
    assert_int_equal(((struct data_collector_set *)set)->SegmentMaxSize, 0);
    assert_int_equal(((struct data_collector_set *)set)->Duration, 0);
    char *found = listed(issues);
    assert_string_equal(found, "SegmentMaxSize 0x80070057\nDuration 0x80070057\n" ITEM(
                                   "SampleInterval", "0x80070057") "TraceDataCollector[1]/BufferSize 0x80070057\n");
    memory_free(found);
    assert_int_equal(collection_item(collectors_of(set), 1, &collector), S_OK);
    assert_int_equal(((struct trace_data_collector *)collector)->ExtendedModes, 0x80000000u);
    object_release(collector);
    object_release(issues);
    object_release(set);
}

/* ETW's levels are one byte: a session with a larger level would fail to start. */
static void level_must_fit_in_a_byte(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = new_issues();
#define PROVIDER(level)                                                                                                \
    SET("<TraceDataCollector><TraceDataProvider><Level>" level "</Level></TraceDataProvider>"                          \
        "</TraceDataCollector>")
    static const char value[] = PROVIDER("<Value>0x1ff</Value>"), most[] = PROVIDER("<Value> 0xff </Value>");
    assert_int_equal(set_from_xml(set, most, sizeof most - 1, issues), S_OK);
    assert_int_equal(collection_count(issues), 0);
    assert_int_equal(set_from_xml(set, value, sizeof value - 1, issues), S_OK);
    char *found = listed(issues);
    assert_string_equal(found, "TraceDataCollector[1]/TraceDataProvider[1]/Level/Value 0x80070057\n");
    memory_free(found);
    validated(PROVIDER("<ValueMapItem><Enabled>-1</Enabled><Value>0x1ff</Value></ValueMapItem>"),
              "TraceDataCollector[1]/TraceDataProvider[1]/Level 0x80070057\n");
    validated(SET("<TraceDataCollector><TraceDataProvider><Properties><ValueMapItem><Enabled>-1</Enabled><Value>"
                  "0x100000000</Value></ValueMapItem></Properties></TraceDataProvider></TraceDataCollector>"),
              "TraceDataCollector[1]/TraceDataProvider[1]/Properties 0x80070057\n");
    validated(SET("<TraceDataCollector><TraceDataProvider><Guid>9E814AAD-3204-11D2-9A82-006008A86939</Guid>"
                  "<KeywordsAny><Value>0x100000000</Value></KeywordsAny></TraceDataProvider></TraceDataCollector>"),
              "TraceDataCollector[1]/TraceDataProvider[1]/KeywordsAny 0x80070057\n");
    validated(PROVIDER("<ValueMapItem><Enabled>0</Enabled><Value>0x1ff</Value></ValueMapItem>"), "");
    object_release(issues);
    object_release(set);
}

/* If an API is in both lists, Commit fails instead of reporting an issue (MS-PLA 3.2.4.1.54). */
static void overlapping_api_lists_fail(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = new_issues();
    assert_int_equal(set_xml(set, SET("<ApiTracingDataCollector><IncludeApi>kernel32!Sleep</IncludeApi><ExcludeApi>"
                                      "C:\\x\\Kernel32.dll!sleep</ExcludeApi></ApiTracingDataCollector>")),
                     S_OK);
    assert_int_equal(set_validate(set, issues), PLA_E_CONFLICT_INCL_EXCL_API);
    assert_non_null(strstr(error_text(PLA_E_CONFLICT_INCL_EXCL_API), "kernel32!Sleep"));
    object_release(issues);
    object_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validation_follows_the_rules),      cmocka_unit_test(validation_covers_every_kind),
        cmocka_unit_test(unset_properties_are_not_reported), cmocka_unit_test(negative_numbers_are_not_large_ones),
        cmocka_unit_test(level_must_fit_in_a_byte),          cmocka_unit_test(overlapping_api_lists_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
