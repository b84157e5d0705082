/* SPDX-License-Identifier: MIT */
/* SetXml, Xml and CreateDataCollectorFromXml: templates in, templates out (behaviour 18). */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Calls SetXml by name. Returns the number of issues, and the first issues' keys in `keys`, which has room for 512
   characters. */
static HRESULT set_xml(void *object, const WCHAR *xml, LONG *issues, WCHAR *keys)
{
    VARIANT text = of_text(xml), map;
    HRESULT hr = invoke(object, L"SetXml", DISPATCH_METHOD, &map, &text, 1);
    VariantClear(&text);
    keys[0] = 0;
    *issues = -1;
    if (FAILED(hr))
        return hr;
    assert_int_equal(V_VT(&map), VT_DISPATCH);
    assert_ok(get(V_DISPATCH(&map), L"Count", &text));
    *issues = V_I4(&text);
    for (LONG i = 0; i < *issues; i++) {
        VARIANT at = of_long(i), item, key;
        assert_ok(invoke(V_DISPATCH(&map), L"Item", DISPATCH_PROPERTYGET, &item, &at, 1));
        assert_ok(get(V_DISPATCH(&item), L"Key", &key));
        if (wcslen(keys) + SysStringLen(V_BSTR(&key)) < 510) {
            wcscat(keys, V_BSTR(&key));
            wcscat(keys, L" ");
        }
        VariantClear(&key);
        VariantClear(&item);
    }
    VariantClear(&map);
    return hr;
}

static void assert_accepts_xml(IDataCollectorSet *set, const WCHAR *xml)
{
    WCHAR keys[512] = L"";
    LONG issues;
    assert_hr(set_xml(set, xml, &issues, keys), S_OK);
    if (issues)
        print_error("issues with %ls: %ls\n", xml, keys);
    assert_int_equal(issues, 0);
}

static const WCHAR full_set[] =
    L"<DataCollectorSet><Status>1</Status><Duration>3600</Duration><Description>All &amp; more</Description>"
    L"<DisplayName>T\x00e4glich \x4e2d</DisplayName><SchedulesEnabled>0</SchedulesEnabled><Keyword>CPU</Keyword>"
    L"<Keyword>RAM</Keyword><RootPath>%systemdrive%\\Logs</RootPath><Segment>-1</Segment>"
    L"<SegmentMaxDuration>60</SegmentMaxDuration><SegmentMaxSize>0x10</SegmentMaxSize><SerialNumber>7</SerialNumber>"
    L"<Subdirectory>Run</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat>"
    L"<SubdirectoryFormatPattern>yyyyMMdd\\-NNNNNN</SubdirectoryFormatPattern><Task>T</Task>"
    L"<TaskRunAsSelf>1</TaskRunAsSelf><TaskArguments>\\{logs\\}</TaskArguments>"
    L"<TaskUserTextArguments>{key}</TaskUserTextArguments><Security>O:BAG:BAD:(A;;FA;;;BA)</Security>"
    L"<StopOnCompletion>-1</StopOnCompletion>"
    L"<PerformanceCounterDataCollector><DataCollectorType>0</DataCollectorType><Name>First</Name>"
    L"<FileName>first</FileName><FileNameFormat>512</FileNameFormat><LogAppend>-1</LogAppend>"
    L"<SampleInterval>2</SampleInterval><LogFileFormat>0</LogFileFormat>"
    L"<Counter>\\System\\Threads</Counter><Counter>\\Process(a&amp;b)\\% Processor Time</Counter>"
    L"</PerformanceCounterDataCollector>"
    L"<PerformanceCounterDataCollector><Name>Second</Name></PerformanceCounterDataCollector>"
    L"<Value name=\"k\">v &lt; w</Value></DataCollectorSet>";

/* An export that is imported again must result in the same set. */
static void template_survives_the_round_trip(void **state)
{
    IDataCollectorSet *set = new_set(), *copy = new_set();
    VARIANT v, first;
    (void)state;
    assert_accepts_xml(set, full_set);
    assert_int_equal(number_of(set, L"Duration"), 3600);
    assert_true(text_is(set, L"Description", L"All & more"));
    assert_true(text_is(set, L"DisplayName", L"T\x00e4glich \x4e2d"));
    assert_true(text_is(set, L"RootPath", L"%systemdrive%\\Logs"));
    assert_int_equal(number_of(set, L"SegmentMaxSize"), 16);
    assert_int_equal(number_of(set, L"SerialNumber"), 7);
    assert_true(text_is(set, L"TaskArguments", L"\\{logs\\}"));
    assert_int_equal(number_of(set, L"Status"), plaStopped); /* a set read from a template is not running, even if the
                                                                template's Status claims so */
    assert_ok(get(set, L"TaskRunAsSelf", &v));
    assert_int_equal(V_BOOL(&v), VARIANT_TRUE);
    v = of_text(L"K");
    assert_ok(invoke(set, L"GetValue", DISPATCH_METHOD, &first, &v, 1));
    assert_true(bstr_is(V_BSTR(&first), L"v < w"));
    VariantClear(&v);
    IDataCollectorCollection *collectors = collectors_of(set);
    assert_int_equal(number_of(collectors, L"Count"), 2);
    assert_ok(invoke(collectors, L"Item", DISPATCH_PROPERTYGET, &first, (VARIANT[]){of_long(0)}, 1));
    assert_true(text_is(V_DISPATCH(&first), L"Name", L"First"));
    assert_int_equal(number_of(V_DISPATCH(&first), L"SampleInterval"), 2);
    assert_ok(get(V_DISPATCH(&first), L"PerformanceCounters", &v));
    assert_true(
        array_is(V_ARRAY(&v), (const WCHAR *const[]){L"\\System\\Threads", L"\\Process(a&b)\\% Processor Time"}, 2));
    VariantClear(&v);
    VariantClear(&first);
    BSTR one = xml_of(set);
    assert_accepts_xml(copy, one);
    BSTR two = xml_of(copy);
    assert_true(bstr_is(two, one));
    SysFreeString(one);
    release(collectors);
    release(copy);
    release(set);
}

/* Programs set RootPath and credentials first, and then apply a partial template: SetXml must change only what the
   template contains. */
static void partial_xml_changes_only_its_values(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    (void)state;
    assert_ok(put(set, L"RootPath", of_text(L"D:\\Mine")));
    release(added_collector(set, L"Mine"));
    assert_accepts_xml(set, L"<DataCollectorSet><Duration>9</Duration></DataCollectorSet>");
    assert_int_equal(number_of(set, L"Duration"), 9);
    assert_true(text_is(set, L"RootPath", L"D:\\Mine"));
    assert_int_equal(number_of(collectors, L"Count"), 1);
    assert_accepts_xml(set, L"<DataCollectorSet><PerformanceCounterDataCollector><Name>Theirs</Name>"
                            L"</PerformanceCounterDataCollector></DataCollectorSet>");
    assert_int_equal(number_of(collectors, L"Count"), 1);
    assert_int_equal(number_of(set, L"Duration"), 9);
    assert_accepts_xml(set,
                       L"<DataCollectorSet><Duration/></DataCollectorSet>"); /* an empty element sets the default */
    assert_int_equal(number_of(set, L"Duration"), 0);
    release(collectors);
    release(set);
}

/* A template of a newer or another PLA is applied as far as OpenPLA supports it, and each loss is reported. */
static void unsupported_xml_is_reported(void **state)
{
    IDataCollectorSet *set = new_set();
    WCHAR keys[512] = L"";
    LONG issues;
    (void)state;
    assert_hr(set_xml(set,
                      L"<DataCollectorSet><Duration>5</Duration><Brightness>7</Brightness>"
                      L"<SegmentMaxSize>much</SegmentMaxSize><Security>all</Security>"
                      L"<PerformanceCounterDataCollector><SampleInterval>0</SampleInterval><Colour/>"
                      L"<LogFileFormat>9</LogFileFormat><Counter>\\System\\Threads</Counter>"
                      L"<Counter>\\SYSTEM\\threads</Counter></PerformanceCounterDataCollector>"
                      L"<EndTime/></DataCollectorSet>",
                      &issues, keys),
              S_OK);
    assert_non_null(wcsstr(keys, L"Brightness "));
    assert_non_null(wcsstr(keys, L"SegmentMaxSize "));
    assert_non_null(wcsstr(keys, L"Security "));
    assert_non_null(wcsstr(keys, L"PerformanceCounterDataCollector[1]/SampleInterval "));
    assert_non_null(wcsstr(keys, L"PerformanceCounterDataCollector[1]/Colour "));
    assert_non_null(wcsstr(keys, L"PerformanceCounterDataCollector[1]/LogFileFormat "));
    assert_non_null(wcsstr(keys, L"PerformanceCounterDataCollector[1]/Counter "));
    assert_int_equal(number_of(set, L"Duration"), 5);
    assert_int_equal(number_of(set, L"SegmentMaxSize"), 0);
    release(set);
}

/* Malformed XML changes nothing; the error names its position. */
static void malformed_xml_is_rejected_with_its_line(void **state)
{
    static const struct {
        const WCHAR *xml;
        const char *why;
    } bad[] = {
        {L"<DataCollectorSet>\n<Duration>1</Duration>\n<Segment>\n</DataCollectorSet>", "line 4"},
        {L"<DataCollectorSet><Duration>1</Duration>", "line 1"},
        {L"", "empty"},
        {L"  \r\n", "empty"},
        {L"no markup at all", "line 1"},
        {L"<Other/>", "'Other'"},
        {L"<PerformanceCounterDataCollector/>", "'PerformanceCounterDataCollector'"},
        {L"<DataCollectorSet/><DataCollectorSet/>", "line 1"},
        {L"<!DOCTYPE DataCollectorSet [<!ENTITY a \"b\">]><DataCollectorSet><Description>&a;</Description>"
         L"</DataCollectorSet>",
         "document type"},
        {L"<!DOCTYPE DataCollectorSet SYSTEM \"file:///etc/passwd\"><DataCollectorSet/>", "document type"},
        {L"<DataCollectorSet><Description>&nothing;</Description></DataCollectorSet>", "line 1"},
        {L"<DataCollectorSet><Description>\x0001</Description></DataCollectorSet>", "line 1"},
    };
    IDataCollectorSet *set = new_set();
    WCHAR keys[512] = L"";
    LONG issues;

    (void)state;
    assert_ok(put(set, L"Duration", of_long(77)));
    for (size_t i = 0; i < ARRAYSIZE(bad); i++) {
        assert_hr(set_xml(set, bad[i].xml, &issues, keys), OPENPLA_E_MALFORMED_XML);
        assert_message(bad[i].why);
        assert_int_equal(number_of(set, L"Duration"), 77);
    }
    if (in_process) {
        BSTR xml = SysAllocString(L"<DataCollectorSet/>");
        assert_hr(heard(IDataCollectorSet_SetXml(set, xml, NULL)), E_POINTER);
        SysFreeString(xml);
    }
    release(set);
}

/* What people paste: files read into a string keep their byte order mark, declaration and comments. */
static void pasted_xml_is_accepted(void **state)
{
    static const WCHAR *const good[] = {
        L"<DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"\xfeff<DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"\r\n\t <DataCollectorSet><Duration>5</Duration></DataCollectorSet>\r\n",
        L"<?xml version=\"1.0\"?><DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n<DataCollectorSet>\t<Duration>5</Duration></DataCollectorSet>",
        L"\xfeff<?xml version=\"1.0\" encoding=\"UTF-16\"?><DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"<?xml version=\"1.0\" encoding=\"UTF-8\"?><DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"<?xml version=\"1.0\" encoding=\"windows-1252\"?><DataCollectorSet><Duration>5</Duration></DataCollectorSet>",
        L"<!-- a \x00fc --><?what ever?><DataCollectorSet><!-- b --><Duration> 0x5\r\n</Duration></DataCollectorSet>",
        L"<DataCollectorSet><Duration><![CDATA[5]]></Duration></DataCollectorSet>",
    };
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(good); i++) {
        IDataCollectorSet *set = new_set();
        assert_accepts_xml(set, good[i]);
        if (number_of(set, L"Duration") != 5)
            print_error("%ls\n", good[i]);
        assert_int_equal(number_of(set, L"Duration"), 5);
        release(set);
    }
}

/* CreateDataCollectorFromXml returns its map through an argument: a script's variable. */
static void collector_is_created_from_xml(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    VARIANT map, arguments[2], collector, v;
    IValueMap *typed_map = (IValueMap *)1;
    IDataCollector *typed = NULL;
    BSTR xml = SysAllocString(L"<PerformanceCounterDataCollector><Name>P</Name><SampleInterval>x</SampleInterval>"
                              L"</PerformanceCounterDataCollector>");
    (void)state;
    assert_ok(IDataCollectorCollection_CreateDataCollectorFromXml(collectors, xml, &typed_map, &typed));
    assert_true(text_is(typed, L"Name", L"P"));
    assert_int_equal(number_of(typed_map, L"Count"), 1);
    release(typed_map);
    release(typed);
    VariantInit(&map);
    arguments[0] = of_text(xml);
    V_VT(&arguments[1]) = VT_VARIANT | VT_BYREF;
    V_VARIANTREF(&arguments[1]) = &map;
    assert_ok(invoke(collectors, L"CreateDataCollectorFromXml", DISPATCH_METHOD, &collector, arguments, 2));
    assert_int_equal(V_VT(&collector), VT_DISPATCH);
    assert_int_equal(V_VT(&map), VT_DISPATCH);
    assert_true(text_is(V_DISPATCH(&collector), L"Name", L"P"));
    assert_int_equal(number_of(V_DISPATCH(&collector), L"SampleInterval"), 15);
    assert_ok(invoke(V_DISPATCH(&map), L"Item", DISPATCH_PROPERTYGET, &v, (VARIANT[]){of_long(0)}, 1));
    assert_true(text_is(V_DISPATCH(&v), L"Key", L"/PerformanceCounterDataCollector/SampleInterval"));
    VariantClear(&v);
    VariantClear(&map);
    assert_int_equal(number_of(collectors, L"Count"), 0); /* the collector is created, but not added */
    assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &collector, 1));
    assert_int_equal(number_of(collectors, L"Count"), 1);
    VariantClear(&collector);
    VariantClear(&arguments[0]);
    arguments[0] = of_text(L"<Nothing/>");
    VariantInit(&collector);
    assert_hr(invoke(collectors, L"CreateDataCollectorFromXml", DISPATCH_METHOD, &collector, arguments, 2),
              OPENPLA_E_MALFORMED_XML);
    assert_message("'Nothing'");
    assert_int_equal(V_VT(&map), VT_EMPTY);
    VariantClear(&arguments[0]);
    SysFreeString(xml);
    release(collectors);
    release(set);
}

/* A collector accepts its own element, inside or outside a set, and no other element. */
static void collector_accepts_only_its_own_element(void **state)
{
    IDataCollectorSet *set = new_set();
    IPerformanceCounterDataCollector *first = added_collector(set, L"First"), *second = added_collector(set, L"Second");
    WCHAR keys[512] = L"";
    VARIANT xml;
    LONG issues;
    (void)state;
    assert_ok(set_xml(first,
                      L"<PerformanceCounterDataCollector><SampleInterval>3</SampleInterval><X/>"
                      L"</PerformanceCounterDataCollector>",
                      &issues, keys));
    assert_int_equal(issues, 1);
    assert_int_equal(wcscmp(keys, L"/PerformanceCounterDataCollector/X "), 0);
    assert_int_equal(number_of(first, L"SampleInterval"), 3);
    assert_true(text_is(first, L"Name", L"First"));
    assert_hr(set_xml(first, L"<AlertDataCollector/>", &issues, keys), OPENPLA_E_MALFORMED_XML);
    assert_ok(get(second, L"Xml", &xml));
    assert_hr(set_xml(first, V_BSTR(&xml), &issues, keys), PLA_E_DC_ALREADY_EXISTS);
    assert_true(text_is(first, L"Name", L"First"));
    VariantClear(&xml);
    release(first);
    release(second);
    release(set);
}

/* Values that programs store in a set can be overwritten, removed, and found in any case. */
static void user_defined_values_are_kept(void **state)
{
    IDataCollectorSet *set = new_set();
    VARIANT pair[2] = {of_text(L"Owner"), of_text(L"Anna & Bo")}, v, other = of_text(L"owner");
    BSTR key = SysAllocString(L"Owner"), none = SysAllocString(L"");
    (void)state;
    assert_ok(invoke(set, L"SetValue", DISPATCH_METHOD, NULL, pair, 2));
    assert_ok(invoke(set, L"GetValue", DISPATCH_METHOD, &v, &other, 1));
    assert_true(bstr_is(V_BSTR(&v), L"Anna & Bo"));
    assert_true(bstr_has(xml_of(set), L"<Value name=\"Owner\">Anna &amp; Bo</Value>"));
    assert_ok(IDataCollectorSet_SetValue(set, key, NULL));
    assert_hr(invoke(set, L"GetValue", DISPATCH_METHOD, &v, &other, 1), E_INVALIDARG);
    assert_message("'owner'");
    assert_ok(IDataCollectorSet_SetValue(set, key, NULL)); /* a second removal finds nothing to remove */
    assert_hr(heard(IDataCollectorSet_SetValue(set, none, key)), E_INVALIDARG);
    assert_hr(heard(IDataCollectorSet_SetValue(set, NULL, key)), E_INVALIDARG);
    assert_accepts_xml(
        set,
        L"<DataCollectorSet><Value name=\"doc\" type=\"document\"><a b=\"c\"><d/>e</a></Value></DataCollectorSet>");
    assert_true(bstr_has(xml_of(set), L"<Value name=\"doc\" type=\"document\"><a b=\"c\"><d/>e</a></Value>"));
    VariantClear(&pair[0]);
    VariantClear(&pair[1]);
    VariantClear(&other);
    SysFreeString(none);
    SysFreeString(key);
    release(set);
}

int xml_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_survives_the_round_trip),
        cmocka_unit_test(partial_xml_changes_only_its_values),
        cmocka_unit_test(unsupported_xml_is_reported),
        cmocka_unit_test(malformed_xml_is_rejected_with_its_line),
        cmocka_unit_test(pasted_xml_is_accepted),
        cmocka_unit_test(collector_is_created_from_xml),
        cmocka_unit_test(collector_accepts_only_its_own_element),
        cmocka_unit_test(user_defined_values_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
