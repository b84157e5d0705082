/* SPDX-License-Identifier: MIT */
/* Memory that runs out at any allocation: no crash, no leak, and the set is what it was. */
#include "engine/model/model.h"
#include "engine/os/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static const char before[] = "<DataCollectorSet><Duration>1</Duration><Keyword>old</Keyword>"
                             "<PerformanceCounterDataCollector><Name>old</Name></PerformanceCounterDataCollector>"
                             "<Value name=\"k\">old</Value></DataCollectorSet>";
static const char after[] =
    "<DataCollectorSet><Duration>2</Duration><Keyword>new</Keyword><Keyword>new2</Keyword>"
    "<Description>d</Description><PerformanceCounterDataCollector><Name>new</Name>"
    "<Counter>\\A\\b</Counter><Counter>\\A\\c</Counter><Bad/></PerformanceCounterDataCollector>"
    "<Value name=\"k\">new</Value><Nonsense/><Value name=\"v\" type=\"document\"><a b=\"c\"/></Value>"
    "<DataManager><Rules><Logging level=\"1\"/></Rules><ReportSchema><Report name=\"r\"/>"
    "</ReportSchema></DataManager><TraceDataCollector><Name>t</Name><TraceDataProvider>"
    "<FilterData>0A0B</FilterData></TraceDataProvider></TraceDataCollector></DataCollectorSet>";

static struct object *prepared(void)
{
    struct object *set = NULL, *issues = NULL;
    assert_int_equal(set_create(&set), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_from_xml(set, before, strlen(before), issues), S_OK);
    object_release(issues);
    return set;
}

static char *xml_of(struct object *set)
{
    char *xml = NULL;
    assert_int_equal(object_to_xml(set, &xml, NULL), S_OK);
    char *location = strstr(xml, "<OutputLocation>"), *end = strstr(xml, "</OutputLocation>");
    if (location && end)
        memmove(location, end, strlen(end) + 1);
    return xml;
}

/* Runs `attempt` with the nth allocation failing, for every n until it succeeds. */
static void every_allocation(HRESULT (*attempt)(struct object *set))
{
    struct object *reference = prepared();
    char *wanted = xml_of(reference);
    for (uint64_t n = 1;; n++) {
        struct object *set = prepared();
        memory_fail_at(n);
        HRESULT hr = attempt(set);
        memory_fail_at(0);
        if (FAILED(hr)) {
            assert_int_equal(hr, E_OUTOFMEMORY);
            char *now = xml_of(set);
            assert_string_equal(now, wanted);
            memory_free(now);
        }
        object_release(set);
        if (SUCCEEDED(hr)) {
            assert_true(n > 5);
            break;
        }
        assert_true(n < 5000);
    }
    memory_free(wanted);
    object_release(reference);
}

static HRESULT read_xml(struct object *set)
{
    struct object *issues = NULL;
    HRESULT hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, after, strlen(after), issues);
    object_release(issues);
    return hr;
}

/* So long that libxml2 asks for memory again and again. */
static HRESULT read_long_xml(struct object *set)
{
    static char xml[400000];
    struct object *issues = NULL;
    size_t at = (size_t)snprintf(xml, sizeof xml, "<DataCollectorSet><Description>");
    while (at < sizeof xml - 100)
        at += (size_t)snprintf(xml + at, sizeof xml - at, "a &lt;long&gt; text, ");
    at += (size_t)snprintf(xml + at, sizeof xml - at, "</Description><Duration>2</Duration></DataCollectorSet>");
    HRESULT hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, xml, at, issues);
    object_release(issues);
    return hr;
}

static HRESULT write_xml(struct object *set)
{
    char *xml = NULL;
    HRESULT hr = object_to_xml(set, &xml, NULL);
    memory_free(xml);
    return hr;
}

static HRESULT validate(struct object *set)
{
    struct object *issues = NULL;
    HRESULT hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_validate(set, issues);
    object_release(issues);
    return hr;
}

static HRESULT add_collector(struct object *set)
{
    struct object *c = NULL;
    HRESULT hr = object_create(&performance_counter_collector_class, set, &c);
    if (SUCCEEDED(hr))
        hr = collection_add(((struct data_collector_set *)set)->DataCollectors, c);
    object_release(c);
    return hr;
}

static void setxml_is_all_or_nothing(void **state)
{
    (void)state;
    every_allocation(read_xml);
    every_allocation(read_long_xml);
}

static void xml_and_validation_survive(void **state)
{
    (void)state;
    every_allocation(write_xml);
    every_allocation(validate);
}

static void adding_is_all_or_nothing(void **state)
{
    (void)state;
    every_allocation(add_collector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setxml_is_all_or_nothing),
        cmocka_unit_test(xml_and_validation_survive),
        cmocka_unit_test(adding_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
