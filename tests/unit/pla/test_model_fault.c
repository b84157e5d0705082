/* SPDX-License-Identifier: MIT */
/* If an allocation fails or exceeds a client's memory share, nothing may crash or leak, and the set stays unchanged. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "tests/unit/scratch_folder.h"

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

/* Runs `attempt` repeatedly. The first allocation fails in the first run, the second in the next run, and so on, until
   a run succeeds. */
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

/* Reads XML that is so long that libxml2 allocates memory many times. */
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

static void allocation_failures_in_xml_and_validation_are_handled(void **state)
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

/* ---- the client to which memory is charged ---- */

static HRESULT describe(struct object *set, size_t bytes)
{
    char *text = memory_alloc(bytes + 1);
    assert_non_null(text);
    memset(text, 'a', bytes);
    text[bytes] = 0;
    const struct value v = {.kind = PROPERTY_TEXT, .text = text};
    HRESULT hr = object_put(set, class_property(set->class, "Description"), &v);
    memory_free(text);
    return hr;
}

/* If a client puts values into an object of another client, their memory is charged to the object's owner. Otherwise
   two programs that share an object would have no limit. Pairs that SetValue stores count like properties. */
static void memory_in_a_foreign_object_is_charged_to_its_owner(void **state)
{
    static char text[20001];
    const HRESULT full = HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA);
    struct memory_share *one = memory_share_create(), *other = memory_share_create();
    struct object *set, *copy;
    (void)state;
    memset(text, 'a', sizeof text - 1);
    scratch_environment("OPENPLA_QUOTAS", "memory=200000");
    assert_int_equal(quotas_read(), S_OK);
    memory_share_serve(one);
    assert_int_equal(set_create(&set), S_OK);
    assert_int_equal(describe(set, 150000), S_OK);
    memory_share_serve(other);
    assert_int_equal(describe(set, 190000), full);
    assert_int_equal(describe(set, 10), S_OK);
    const uint64_t empty = memory_share_bytes(one);
    HRESULT hr = S_OK;
    int made = 0;
    for (; SUCCEEDED(hr) && made < 20; made += SUCCEEDED(hr)) {
        char key[] = {'k', (char)('a' + made), 0};
        hr = set_put_value(set, key, text);
    }
    assert_int_equal(hr, full);
    assert_in_range(made, 6, 10);
    memory_share_serve(NULL);
    assert_int_equal(object_copy(set, &copy), S_OK);
    object_take(set, copy, true);
    object_release(copy);
    assert_in_range(memory_share_bytes(one), empty + 6 * 20000, 200000);
    while (made--) {
        char key[] = {'k', (char)('a' + made), 0};
        assert_int_equal(set_put_value(set, key, "short"), S_OK);
        assert_int_equal(set_put_value(set, key, NULL), S_OK);
    }
    assert_int_equal(memory_share_bytes(one), empty);
    object_release(set);
    assert_int_equal(memory_share_bytes(one), 0);
    assert_int_equal(memory_share_bytes(other), 0);
    memory_share_release(one);
    memory_share_release(other);
    scratch_environment("OPENPLA_QUOTAS", "");
    assert_int_equal(quotas_read(), S_OK);
}

/* There is a limit for the strings that a client stores in a server. When the client releases strings, it can use their
   memory again. */
static void memory_is_charged_to_the_client(void **state)
{
    static const char xml[] =
        "<DataCollectorSet><Description>some text</Description><Keyword>a</Keyword><Keyword>b</Keyword>"
        "<PerformanceCounterDataCollector><Name>c</Name><Counter>\\System\\Processes</Counter>"
        "</PerformanceCounterDataCollector></DataCollectorSet>";
    const HRESULT full = HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA);
    struct memory_share *share = memory_share_create();
    struct object *set, *other, *more[512];
    size_t made = 0;
    HRESULT hr = S_OK;
    (void)state;
    scratch_environment("OPENPLA_QUOTAS", "memory=200000");
    assert_int_equal(quotas_read(), S_OK);
    assert_int_equal(set_create(&other), S_OK); /* this set has no owner */
    memory_share_serve(share);
    assert_int_equal(set_create(&set), S_OK);
    const uint64_t empty = memory_share_bytes(share);
    assert_true(empty > sizeof(struct data_collector_set) && empty < 20000);
    assert_int_equal(describe(set, 100000), S_OK);
    assert_in_range(memory_share_bytes(share), empty + 90000, empty + 110000);
    assert_int_equal(describe(other, 100000), full); /* charged to the client of this call */
    assert_non_null(strstr(error_text(full), "quota 'memory'"));
    assert_int_equal(describe(set, 150000), full);
    assert_int_equal(describe(set, 10), S_OK);
    for (int i = 0; i < 100; i++) { /* replaced values are no longer charged */
        assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
        assert_int_equal(object_hold(set, i ? 0 : 5000), S_OK);
    }
    assert_in_range(memory_share_bytes(share), empty + 5000, empty + 20000);
    assert_int_equal(object_hold(set, 300000), full);
    while (SUCCEEDED(hr) && made < 512)
        if (SUCCEEDED(hr = set_create(&more[made])))
            made++;
    assert_int_equal(hr, full);
    memory_share_serve(NULL);
    assert_int_equal(describe(other, 300000), S_OK);
    while (made)
        object_release(more[--made]);
    object_release(set);
    assert_int_equal(memory_share_bytes(share), 0);
    object_release(other);
    memory_share_release(share);
    scratch_environment("OPENPLA_QUOTAS", "");
    assert_int_equal(quotas_read(), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_charged_to_the_client),
        cmocka_unit_test(memory_in_a_foreign_object_is_charged_to_its_owner),
        cmocka_unit_test(setxml_is_all_or_nothing),
        cmocka_unit_test(allocation_failures_in_xml_and_validation_are_handled),
        cmocka_unit_test(adding_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
