/* SPDX-License-Identifier: MIT */
/* Counter manifests and their registration: PDH lists a counter provider's countersets as its manifest describes them;
   errors name line, element and value; a failed registration changes nothing. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/etw/provider_manifest.h"
#include "engine/pdh/counter_manifest.h"
#include "engine/pdh/counter_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define PROVIDER     "{6D3C1E52-84B7-4C0E-9A1F-3BE27D605C18}"
#define SET          "{B1F4A2C7-0D6E-4F39-8C55-7E0A92D1463B}"
#define PROVIDER_KEY "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\_V2Providers\\" PROVIDER

#define FRAME(providers)                                                                                               \
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation>\n"             \
    "<counters xmlns='http://schemas.microsoft.com/win/2005/12/counters' schemaVersion='1.1'>\n" providers             \
    "</counters></instrumentation><localization>"                                                                      \
    "<resources culture='de-DE'><stringTable><string id='S' value='Laden'/></stringTable></resources>"                 \
    "<resources culture='en-GB'><stringTable><string id='S' value='Shop'/></stringTable></resources>"                  \
    "</localization></instrumentationManifest>"
#define OF_PROVIDER(sets)                                                                                              \
    FRAME("<provider providerGuid='" PROVIDER "' providerName='P' applicationIdentity='p.exe'>\n" sets "</provider>")
#define OF_SET(counters)                                                                                               \
    OF_PROVIDER("<counterSet guid='" SET "' uri='a.b' name='Set' instances='multiple'>\n" counters "</counterSet>")
#define COUNTER(id, name, type, more) "<counter id='" id "' name='" name "' type='" type "' " more "/>\n"

static HRESULT read_xml(const char *xml, struct counter_manifest *out)
{
    return counter_manifest_read(xml, strlen(xml), NULL, out);
}

static struct counter_manifest read_good(const char *xml)
{
    struct counter_manifest m;
    if (FAILED(read_xml(xml, &m)))
        fail_msg("%s", error_text(MANIFEST_INVALID));
    return m;
}

#define WHOLE                                                                                                          \
    OF_PROVIDER("<counterSet guid='" SET "' uri='a.b' name='$(string.S) Till' description='All of $(string.S)'"        \
                " instances='globalAggregate'>"                                                                        \
                "<structs><struct name='T' type='TILL'/></structs>"                                                    \
                "<counter id='7' uri='a.c' name='Sales' description='What was sold' type='PERF_counter_rawcount'"      \
                " aggregate='max' detailLevel='advanced' defaultScale='-3' struct='T' field='Sales'>"                  \
                "<counterAttributes><counterAttribute name='reference'/><counterAttribute name='displayAsHex'/>"       \
                "</counterAttributes></counter>" COUNTER("8", "Mean", "perf_average_bulk", "baseID='12'")              \
                    COUNTER("9", "Share", "perf_raw_fraction", "") COUNTER("10", "Share Base", "perf_raw_base", "")    \
                        COUNTER("12", "Mean Base", "perf_average_base", "") "</counterSet>")

static void countersets_are_read(void **state)
{
    (void)state;
    struct counter_manifest m = read_good(WHOLE);
    assert_false(m.has_events);
    assert_int_equal(m.providers.count, 1);
    assert_string_equal(m.providers.items[0].application, "p.exe");
    const struct registered_set *s = &m.providers.items[0].sets[0];
    assert_string_equal(s->name, "Shop Till"); /* English takes precedence over the first language */
    assert_string_equal(s->help, "All of Shop");
    assert_int_equal(s->instances, COUNTERSET_AGGREGATE);
    assert_int_equal(s->count, 5);
    const struct registered_counter *c = registered_counter_of(s, 7);
    assert_string_equal(c->help, "What was sold");
    assert_int_equal(c->type, PERF_COUNTER_RAWCOUNT);
    assert_int_equal(c->aggregate, COUNTER_AGGREGATE_MAXIMUM);
    assert_int_equal(c->detail, PERF_DETAIL_ADVANCED);
    assert_int_equal(c->scale, -3);
    assert_int_equal(c->attributes, COUNTER_BY_REFERENCE | COUNTER_AS_HEX);
    assert_int_equal(registered_counter_of(s, 8)->base, 12);
    assert_int_equal(registered_counter_of(s, 9)->base, 10); /* the next counter in the manifest */
    counter_manifest_free(&m);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *xml, *message;
    } mistakes[] = {
        {"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><", "line 1"},
        {"<counters/>", "the root element must be instrumentationManifest"},
        {FRAME("<provider providerName='P'/>"), "line 3: provider providerGuid: required value is missing"},
        {FRAME("<provider providerGuid='no'/>"), "providerGuid=\"no\": not a GUID"},
        {FRAME("<provider providerGuid='" PROVIDER "'/>"), "provider providerName: required value is missing"},
        {OF_PROVIDER(""), "the provider has no counterSet"},
        {FRAME("<provider providerGuid='" PROVIDER "' providerName='P' providerType='x'/>"),
         "providerType=\"x\": expected one of userMode, kernelMode"},
        {OF_PROVIDER("<counterSet guid='" SET "'/>"), "line 4: counterSet name: required value is missing"},
        {OF_PROVIDER("<counterSet guid='" SET "' name='a\\b'/>"), "name=\"a\\b\": contains a character"},
        {OF_PROVIDER("<counterSet guid='" SET "' name='$(string.T)'/>"), "no culture has the string 'T'"},
        {OF_PROVIDER("<counterSet guid='" SET "' name='S' instances='two'/>"),
         "instances=\"two\": expected one of single"},
        {OF_SET(""), "the counterset has no counter"},
        {OF_SET(COUNTER("1", "A", "perf_counter_text", "")), "a counterset cannot contain string counters"},
        {OF_SET(COUNTER("1", "A", "perf_none", "")), "line 5: counter type=\"perf_none\": unknown counter type"},
        {OF_SET(COUNTER("x", "A", "perf_counter_rawcount", "")), "counter id=\"x\": not a number"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "defaultScale='11'")), "not between -10 and 10"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "detailLevel='some'")),
         "expected one of standard, advanced"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "aggregate='mean'")), "expected one of undefined, sum, avg"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "nameID='-'")), "nameID=\"-\": not a number"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "struct='T' field='f'")),
         "struct=\"T\": the counterset has"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "perfTimeID='3'")), "has no counter with the id 3"},
        {OF_SET(COUNTER("1", "A", "perf_raw_fraction", "")), "baseID: counters of this type need the id"},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "") COUNTER("1", "B", "perf_counter_rawcount", "")),
         "line 6: counter id="},
        {OF_SET(COUNTER("1", "A", "perf_counter_rawcount", "") COUNTER("2", "a", "perf_counter_rawcount", "")),
         "name=\"a\": duplicate value"},
        {OF_SET("<counter id='1' name='A' type='perf_counter_rawcount'><counterAttributes><counterAttribute/>"
                "</counterAttributes></counter>"),
         "counterAttribute name: required value is missing"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct counter_manifest m;
        assert_int_equal(read_xml(mistakes[i].xml, &m), MANIFEST_INVALID);
        if (!strstr(error_text(MANIFEST_INVALID), mistakes[i].message))
            fail_msg("%s\n%s\n%s", mistakes[i].xml, mistakes[i].message, error_text(MANIFEST_INVALID));
        assert_int_equal(m.providers.count, 0);
    }
}

static void ignored_content_causes_warnings(void **state)
{
    (void)state;
    static const char xml[] = OF_SET("<other/>" COUNTER("1", "A", "perf_counter_rawcount", "colour='red'"));
    struct counter_manifest m;
    struct texts warnings = {0};
    assert_int_equal(counter_manifest_read(xml, strlen(xml), &warnings, &m), S_OK);
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.items[0], "line 5: other"));
    assert_non_null(strstr(warnings.items[1], "counter colour: unknown attribute ignored"));
    texts_free(&warnings);
    counter_manifest_free(&m);
}

static void mark(struct counter_manifest *m)
{
    m->providers.items[0].manifest = text_copy("/where/shop.man");
    assert_non_null(m->providers.items[0].manifest);
}

static void registration_is_read_back(void **state)
{
    (void)state;
    struct counter_manifest m = read_good(WHOLE);
    struct registered_countersets list;
    mark(&m);
    assert_int_equal(registered_countersets_write(&m.providers, false), S_OK);
    assert_int_equal(registered_countersets_write(&m.providers, false), S_OK); /* registers the same manifest again */
    assert_int_equal(registered_countersets_read(&list), S_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].manifest, "/where/shop.man");
    assert_false(list.items[0].is_kernel);
    const struct registered_set *s = &list.items[0].sets[0];
    assert_true(s->is_defined);
    assert_int_equal(s->instances, COUNTERSET_AGGREGATE);
    assert_string_equal(s->help, "All of Shop");
    for (size_t i = 0; i < s->count; i++) {
        const struct registered_counter *a = &s->counters[i], *b = &m.providers.items[0].sets[0].counters[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->id == b->id && a->type == b->type && a->detail == b->detail && a->scale == b->scale &&
                    a->aggregate == b->aggregate && a->attributes == b->attributes && a->base == b->base);
    }
    assert_string_equal(s->counters[0].help, "What was sold");
    assert_null(s->counters[1].help);
    registered_countersets_free(&list);
    assert_int_equal(registered_provider_remove(&m.providers.items[0].guid, false), S_OK);
    assert_int_equal(registered_provider_remove(&m.providers.items[0].guid, false), S_FALSE);
    counter_manifest_free(&m);
}

static void foreign_registration_is_kept(void **state)
{
    (void)state;
    struct counter_manifest m = read_good(WHOLE);
    struct registered_countersets list;
    struct registry_key *key;
    bool made;
    GUID other = m.providers.items[0].guid;
    assert_int_equal(registry_create(PROVIDER_KEY "\\" SET, &made, &key), S_OK);
    assert_int_equal(registry_write_text(key, "Name", "Theirs"), S_OK);
    registry_close(key);
    mark(&m);
    assert_int_equal(registered_countersets_write(&m.providers, false), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(registered_provider_remove(&other, false), E_ACCESSDENIED);
    m.providers.items[0].guid.Data1++; /* another counter provider registers the same counterset */
    assert_int_equal(registered_countersets_write(&m.providers, true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(registered_countersets_read(&list), S_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].sets[0].name, "Theirs");
    assert_false(list.items[0].sets[0].is_defined);
    registered_countersets_free(&list);
    assert_int_equal(registered_provider_remove(&other, true), S_OK);
    counter_manifest_free(&m);
}

/* Each allocation fails in turn. Until all succeed, the previous registration remains. */
static void out_of_memory_changes_nothing(void **state)
{
    (void)state;
    struct counter_manifest before = read_good(OF_SET(COUNTER("1", "Old", "perf_counter_rawcount", "")));
    struct counter_manifest m;
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = read_xml(WHOLE, &m);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    mark(&before);
    mark(&m);
    assert_int_equal(registered_countersets_write(&before.providers, false), S_OK);
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        struct registered_countersets list;
        memory_fail_at(n);
        hr = registered_countersets_write(&m.providers, false);
        memory_fail_at(0);
        assert_int_equal(registered_countersets_read(&list), S_OK);
        assert_int_equal(list.count, 1);
        assert_string_equal(list.items[0].sets[0].name, FAILED(hr) ? "Set" : "Shop Till");
        assert_int_equal(list.items[0].sets[0].count, FAILED(hr) ? 1 : 5);
        registered_countersets_free(&list);
    }
    assert_int_equal(hr, S_OK);
    for (hr = E_OUTOFMEMORY; hr == E_OUTOFMEMORY;) {
        static uint64_t n;
        struct registered_countersets list;
        memory_fail_at(++n);
        hr = registered_countersets_read(&list);
        memory_fail_at(0);
        registered_countersets_free(&list);
    }
    assert_int_equal(hr, S_OK);
    assert_int_equal(registered_provider_remove(&m.providers.items[0].guid, false), S_OK);
    counter_manifest_free(&before);
    counter_manifest_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(countersets_are_read),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(ignored_content_causes_warnings),
        cmocka_unit_test(registration_is_read_back),
        cmocka_unit_test(foreign_registration_is_kept),
        cmocka_unit_test(out_of_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
