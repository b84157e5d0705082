/* SPDX-License-Identifier: MIT */
/* Countersets of Perflib V2 providers: every query sees a process's counterset as an object until the process exits. */
#include "engine/base/memory.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/extension/counterset_share.h"
#include "engine/pdh/perflib/counterset_registration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define STATUS(x) ((PDH_STATUS)(x))
static const GUID first_guid = {0x11111111, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};
static const GUID second_guid = {0x99999999, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};
static const struct counterset_counter counters[] = {
    {.id = 1, .type = PERF_LARGE_RAW_FRACTION, .detail = 100, .name = "Share"},
    {.id = 2, .type = PERF_LARGE_RAW_BASE, .detail = 100, .name = "Share Base"},
    {.id = 3, .type = PERF_COUNTER_LARGE_RAWCOUNT, .detail = 100, .scale = -1, .name = "Raw"},
    {.id = 4, .type = PERF_COUNTER_BULK_COUNT, .detail = 100, .name = "Rate/sec"},
};

static void set_values(struct counterset_provider *p, uint32_t offset, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t *values = counterset_provider_values(p, offset);
    values[0] = a;
    values[1] = b;
    values[2] = c;
    values[3] = d;
}

static bool has_value(PDH_HCOUNTER counter, double expected)
{
    PDH_FMT_COUNTERVALUE v;
    return PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v) == ERROR_SUCCESS && v.doubleValue == expected;
}

static PDH_HCOUNTER add(PDH_HQUERY query, const WCHAR *path)
{
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    return counter;
}

/* Instances appear and disappear while a query is open. A fraction must find its base. */
static void counterset_becomes_an_object(void **state)
{
    (void)state;
    struct counterset_provider *p;
    uint32_t set, one, two, again;
    PDH_HQUERY query;
    PDH_HCOUNTER none;
    DWORD bytes = 0, count = 0;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Test Set(one)\\Raw", 0, &none), STATUS(PDH_CSTATUS_NO_OBJECT));
    assert_int_equal(counterset_provider_open(&p), S_OK);
    assert_int_equal(counterset_provider_add(p, &first_guid, "Test Set", false, counters, 4, &set), S_OK);
    assert_int_equal(counterset_provider_create_instance(p, set, "one", 1, &one), S_OK);
    assert_int_equal(counterset_provider_create_instance(p, set, "two", 2, &two), S_OK);
    set_values(p, one, 30, 120, 7, 1000);
    set_values(p, two, 10, 40, 8, 0);
    PDH_HCOUNTER share = add(query, u"\\test set(one)\\Share"), raw = add(query, u"\\Test Set(two)\\Raw");
    PDH_HCOUNTER rate = add(query, u"\\Test Set(one)\\Rate/sec"), all = add(query, u"\\Test Set(*)\\Raw");
    assert_int_equal(PdhAddCounterW(query, u"\\Test Set(one)\\Share Base", 0, &none), STATUS(PDH_CSTATUS_NO_COUNTER));
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(has_value(share, 25));
    assert_true(has_value(raw, 8));
    set_values(p, one, 60, 120, 7, 3000);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(has_value(share, 50));
    PDH_RAW_COUNTER value;
    assert_int_equal(PdhGetRawCounterValue(rate, NULL, &value), ERROR_SUCCESS);
    assert_true(value.FirstValue == 3000 && value.SecondValue > 0);
    assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    assert_int_equal(count, 2);
    counterset_provider_delete(p, two);
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetRawCounterValue(raw, NULL, &value), ERROR_SUCCESS);
    assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(counterset_provider_create_instance(p, set, "two", 2, &again), S_OK);
    assert_int_equal(again, two); /* the space is reused */
    PdhCollectQueryData(query);
    assert_true(has_value(raw, 0));
    counterset_provider_close(p);
    PdhCollectQueryData(query);
    assert_int_equal(PdhGetRawCounterValue(raw, NULL, &value), ERROR_SUCCESS);
    assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    PdhCloseQuery(query);
    assert_int_equal(PdhValidatePathW(u"\\Test Set(one)\\Raw"), STATUS(PDH_CSTATUS_NO_OBJECT));
}

/* Two processes of the same program appear as instances of one object. */
static void providers_share_one_object(void **state)
{
    (void)state;
    struct counterset_provider *p[2];
    uint32_t set, instance;
    PDH_HQUERY query;
    static const char *const names[] = {"same", "same"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(counterset_provider_open(&p[i]), S_OK);
        assert_int_equal(counterset_provider_add(p[i], &first_guid, "Test Set", false, counters, 4, &set), S_OK);
        assert_int_equal(counterset_provider_create_instance(p[i], set, names[i], 0, &instance), S_OK);
        set_values(p[i], instance, 1, 2, 100 + i, 0);
    }
    assert_int_equal(counterset_provider_add(p[0], &second_guid, "Lone Set", true, counters + 2, 1, &set), S_OK);
    assert_int_equal(counterset_provider_create_instance(p[0], set, "", 0, &instance), S_OK);
    counterset_provider_values(p[0], instance)[0] = 77;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER first = add(query, u"\\Test Set(same)\\Raw"), second = add(query, u"\\Test Set(same#1)\\Raw");
    PDH_HCOUNTER lone = add(query, u"\\Lone Set\\Raw");
    PdhCollectQueryData(query);
    assert_true(has_value(first, 100) != has_value(first, 101));
    assert_true(has_value(second, 100) != has_value(second, 101));
    assert_true(has_value(lone, 77));
    PdhCloseQuery(query);
    counterset_provider_close(p[0]);
    counterset_provider_close(p[1]);
}

/* A program that creates instances endlessly gets an error, and its existing instances remain. */
static void full_section_is_reported(void **state)
{
    (void)state;
    struct counterset_provider *p;
    uint32_t set, instance, n = 0;
    HRESULT hr = S_OK;
    assert_int_equal(counterset_provider_open(&p), S_OK);
    assert_int_equal(counterset_provider_add(p, &first_guid, "Test Set", false, counters, 4, &set), S_OK);
    while (SUCCEEDED(hr) && n < 100000)
        hr = counterset_provider_create_instance(p, set, "x", n++, &instance);
    assert_int_equal(hr, E_OUTOFMEMORY);
    assert_true(n > 5000);
    assert_int_equal(PdhValidatePathW(u"\\Test Set(x#5000)\\Raw"), ERROR_SUCCESS);
    counterset_provider_close(p);
}

static const GUID provider_guid = {0x77777777, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};
static const GUID registered_guid = {0x88888888, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};

/* Registers the counterset "Till" as `openpla manifest add` does. It has raw values and a hidden base. The counter
   provider defines the same counters in a different order. */
static void register_till(uint32_t instances)
{
    static const struct {
        uint32_t id, type, aggregate, base;
        const char *name, *help;
    } rows[] = {{4, PERF_COUNTER_BULK_COUNT, COUNTER_AGGREGATE_SUM, COUNTER_NO_ID, "Sales/sec", "Sales in a second."},
                {3, PERF_COUNTER_LARGE_RAWCOUNT, COUNTER_AGGREGATE_MAXIMUM, COUNTER_NO_ID, "Sales", "All sales."},
                {2, PERF_LARGE_RAW_BASE, COUNTER_AGGREGATE_SUM, COUNTER_NO_ID, "Base", NULL},
                {1, PERF_LARGE_RAW_FRACTION, COUNTER_AGGREGATE_SUM, 2, "% Cards", "Paid by card."}};
    struct registered_countersets list = {0};
    struct registered_provider *p = registered_add_provider(&list, &provider_guid);
    struct registered_set *s = registered_add_set(p, &registered_guid);
    p->name = text_copy("Shop");
    p->manifest = text_copy("shop.man");
    s->name = text_copy("Till");
    s->help = text_copy("Tills of a shop.");
    s->instances = instances;
    s->is_defined = true;
    for (size_t i = 0; i < 4; i++) {
        struct registered_counter *c = registered_add_counter(s, rows[i].id);
        c->type = rows[i].type;
        c->detail = PERF_DETAIL_NOVICE;
        c->aggregate = rows[i].aggregate;
        c->base = rows[i].base;
        c->name = text_copy(rows[i].name);
        c->help = rows[i].help ? text_copy(rows[i].help) : NULL;
    }
    assert_int_equal(registered_countersets_write(&list, true), S_OK);
    registered_countersets_free(&list);
}

static void check_help(PDH_HCOUNTER counter, const WCHAR *wanted)
{
    union {
        PDH_COUNTER_INFO_W info;
        BYTE room[4096];
    } u;
    DWORD size = sizeof u;
    assert_int_equal(PdhGetCounterInfoW(counter, 1, &size, &u.info), ERROR_SUCCESS);
    size_t i = 0;
    while (wanted[i] && u.info.szExplainText[i] == wanted[i])
        i++;
    assert_true(wanted[i] == u.info.szExplainText[i]);
}

/* A user can configure a log before the program runs, because the names and help strings are known. The log gets values
   when the program runs. */
static void registered_counterset_exists_without_provider(void **state)
{
    (void)state;
    struct counterset_provider *p;
    uint32_t set, one;
    PDH_HQUERY query;
    PDH_HCOUNTER none;
    register_till(COUNTERSET_MULTIPLE);
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER sales = add(query, u"\\Till(one)\\Sales"), cards = add(query, u"\\Till(one)\\% Cards");
    assert_int_equal(PdhAddCounterW(query, u"\\Till(one)\\Base", 0, &none), STATUS(PDH_CSTATUS_NO_COUNTER));
    check_help(sales, u"All sales.");
    PdhCollectQueryData(query);
    assert_false(has_value(sales, 0));
    assert_int_equal(counterset_provider_open(&p), S_OK);
    assert_int_equal(counterset_provider_add(p, &registered_guid, "Other Name", false, counters, 4, &set), S_OK);
    assert_int_equal(counterset_provider_create_instance(p, set, "one", 1, &one), S_OK);
    set_values(p, one, 30, 120, 7, 1000);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(has_value(sales, 7));
    assert_true(has_value(cards, 25));
    assert_int_equal(PdhAddCounterW(query, u"\\Other Name(one)\\Raw", 0, &none), STATUS(PDH_CSTATUS_NO_OBJECT));
    PdhCloseQuery(query);
    counterset_provider_close(p);
    assert_int_equal(registered_provider_remove(&provider_guid, false), S_OK);
}

/* With globalAggregate, all processes of a program together have one value. */
static void aggregate_combines_all_instances(void **state)
{
    (void)state;
    struct counterset_provider *p[2];
    PDH_HQUERY query;
    register_till(COUNTERSET_AGGREGATE);
    for (int i = 0; i < 2; i++) {
        uint32_t set, one;
        assert_int_equal(counterset_provider_open(&p[i]), S_OK);
        assert_int_equal(counterset_provider_add(p[i], &registered_guid, "x", false, counters, 4, &set), S_OK);
        assert_int_equal(counterset_provider_create_instance(p[i], set, "any", 1, &one), S_OK);
        set_values(p[i], one, 10 + 10 * i, 100, 7 + i, 0);
    }
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER most = add(query, u"\\Till\\Sales"), share = add(query, u"\\Till\\% Cards");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(has_value(most, 8));
    assert_true(has_value(share, 15)); /* 30 of 200 */
    PdhCloseQuery(query);
    counterset_provider_close(p[0]);
    counterset_provider_close(p[1]);
    assert_int_equal(registered_provider_remove(&provider_guid, false), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counterset_becomes_an_object),
        cmocka_unit_test(providers_share_one_object),
        cmocka_unit_test(full_section_is_reported),
        cmocka_unit_test(registered_counterset_exists_without_provider),
        cmocka_unit_test(aggregate_combines_all_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
