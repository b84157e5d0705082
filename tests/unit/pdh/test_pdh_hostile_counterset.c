/* SPDX-License-Identifier: MIT */
/* Countersets whose counter provider is broken or hostile: readers of this machine's counters and other counter
   providers must continue to work. */
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/extension/counterset_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define MANY   2000 /* number of counters: while they are read, another thread can change them */
#define ROUNDS 150

static const GUID hostile_guid = {0x66666666, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};
static const GUID honest_guid = {0x77777777, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 5}};

/* A counter provider whose counterset has `count` counters and an instance "one". */
struct provided {
    struct counterset_provider *provider;
    uint32_t set, instance, count;
    uint8_t *section;
};

static struct provided provide(const GUID *guid, const char *name, uint32_t count)
{
    struct provided p = {.count = count};
    struct counterset_counter *counters = memory_zero(count, sizeof *counters);
    assert_non_null(counters);
    for (uint32_t i = 0; i < count; i++) {
        counters[i] = (struct counterset_counter){.id = i, .type = PERF_COUNTER_LARGE_RAWCOUNT, .detail = 100};
        text_fit(counters[i].name, sizeof counters[i].name, i ? "Another" : "Raw");
    }
    assert_int_equal(counterset_provider_open(&p.provider), S_OK);
    assert_int_equal(counterset_provider_add(p.provider, guid, name, false, counters, count, &p.set), S_OK);
    assert_int_equal(counterset_provider_create_instance(p.provider, p.set, "one", 1, &p.instance), S_OK);
    memory_free(counters);
    int64_t *values = counterset_provider_values(p.provider, p.instance);
    values[0] = 42;
    p.section = (uint8_t *)values - sizeof(struct counterset_record) - p.instance;
    return p;
}

static struct counterset_record *record(const struct provided *p, uint32_t offset)
{
    return (struct counterset_record *)(void *)(p->section + offset);
}

/* Returns the field that contains the section's number of bytes in use. */
static uint32_t *used(const struct provided *p)
{
    return (uint32_t *)(void *)(p->section + sizeof(uint32_t));
}

/* Does everything that a reader does: lists, adds, samples, formats. */
static void read_all(const WCHAR *path, const WCHAR *object)
{
    static WCHAR counters[1 << 17], instances[1 << 17];
    DWORD counter_units = 1 << 17, instance_units = 1 << 17, bytes = 0, count = 0;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PdhEnumObjectItemsW(NULL, NULL, object, counters, &counter_units, instances, &instance_units, PERF_DETAIL_WIZARD,
                        0);
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    if (PdhAddCounterW(query, path, 0, &counter) == ERROR_SUCCESS) {
        for (int i = 0; i < 3; i++) {
            PdhCollectQueryData(query);
            PdhGetRawCounterArrayW(counter, &bytes, &count, NULL);
        }
    }
    PdhCloseQuery(query);
}

static void assert_honest(PDH_HQUERY query, PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE, NULL, &value), ERROR_SUCCESS);
    assert_true(value.largeValue == 42);
}

/* Runs `attack` on a thread while readers read. A correct counter provider that runs at the same time must keep its
   values. */
struct attacked {
    struct provided hostile;
    atomic_bool end;
};

static void attacked_by(void (*attack)(void *user))
{
    struct attacked a = {.hostile = provide(&hostile_guid, "Hostile Set", MANY)};
    struct provided honest = provide(&honest_guid, "Honest Set", 1);
    struct thread *thread;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Honest Set(one)\\Raw", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(thread_start(attack, &a, &thread), S_OK);
    for (int i = 0; i < ROUNDS; i++) {
        read_all(u"\\Hostile Set(*)\\Raw", u"Hostile Set");
        assert_honest(query, counter);
    }
    atomic_store(&a.end, true);
    thread_wait(thread, UINT32_MAX);
    thread_close(thread);
    PdhCloseQuery(query);
    counterset_provider_close(a.hostile.provider);
    counterset_provider_close(honest.provider);
}

static void store(void *at, uint32_t value)
{
    atomic_store_explicit((_Atomic uint32_t *)at, value, memory_order_relaxed);
}

static void flip_types(void *user)
{
    struct attacked *a = user;
    const struct provided *p = &a->hostile;
    struct counterset_counter *counters = (struct counterset_counter *)(void *)(record(p, p->set) + 1);
    for (uint32_t n = 0; !atomic_load(&a->end); n++)
        for (uint32_t i = 1; i < p->count; i++)
            store(&counters[i].type, n % 2 ? PERF_LARGE_RAW_BASE : PERF_COUNTER_LARGE_RAWCOUNT);
}

static void flip_sizes(void *user)
{
    struct attacked *a = user;
    const struct provided *p = &a->hostile;
    struct counterset_record *set = record(p, p->set), *instance = record(p, p->instance);
    const uint32_t set_size = set->size, instance_size = instance->size, all = *used(p);
    for (uint32_t n = 0; !atomic_load(&a->end); n++) {
        store(&set->count, n % 3 ? p->count : n % 2 ? UINT32_MAX : 1);
        store(&instance->count, n % 5 ? p->count : UINT32_MAX);
        store(&instance->size, n % 7 ? instance_size : n);
        store(&instance->set, n % 11 ? p->set : n * 8);
        store(&set->size, n % 13 ? set_size : n);
        store(&set->live, n % 17 != 0);
        store(used(p), n % 19 ? all : n % 2 ? UINT32_MAX : n);
    }
}

/* Writes random values to random words, most often to the records of the counterset and its instance. */
static void write_random_words(void *user)
{
    struct attacked *a = user;
    const struct provided *p = &a->hostile;
    const uint32_t words = *used(p) / 4;
    uint64_t random = 88172645463325252u;
    static const uint32_t values[] = {0, 1, 2, 8, 64, 312, 4095, 0x7FFFFFFF, UINT32_MAX, PERF_LARGE_RAW_BASE};
    while (!atomic_load(&a->end)) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint32_t at = (uint32_t)(random >> 32) % words, value = (uint32_t)random;
        if (random % 4)
            at = (random % 8 ? p->instance : p->set) / 4 + at % 12;
        store(p->section + (size_t)at * 4,
              random % 3 ? values[(random >> 8) % (sizeof values / sizeof *values)] : value);
    }
}

static void type_changes_between_two_reads(void **state)
{
    (void)state;
    attacked_by(flip_types);
}

static void sizes_change_between_two_reads(void **state)
{
    (void)state;
    attacked_by(flip_sizes);
}

static void random_writes_are_harmless(void **state)
{
    (void)state;
    attacked_by(write_random_words);
}

/* A value that is written to a field of the section. */
struct corruption {
    enum { USED, SET_FIELD, INSTANCE_FIELD } where;
    size_t offset;
    uint32_t value;
};

#define FIELD(name) offsetof(struct counterset_record, name)

/* If a section is corrupt, nothing outside it may be read, and other sections must be unaffected. Its counter provider,
   which may be a service, must continue. */
static void corrupt_section_affects_no_other(void **state)
{
    (void)state;
    static const struct corruption corruptions[] = {
        {USED, 0, 0},
        {USED, 0, 63},
        {USED, 0, 65},
        {USED, 0, 400},
        {USED, 0, 1u << 22},
        {USED, 0, (1u << 22) + 8},
        {USED, 0, UINT32_MAX},
        {SET_FIELD, FIELD(size), 0},
        {SET_FIELD, FIELD(size), 8},
        {SET_FIELD, FIELD(size), 313},
        {SET_FIELD, FIELD(size), 1u << 22},
        {SET_FIELD, FIELD(size), UINT32_MAX - 7},
        {SET_FIELD, FIELD(count), 0},
        {SET_FIELD, FIELD(count), 1u << 16},
        {SET_FIELD, FIELD(count), UINT32_MAX},
        {SET_FIELD, FIELD(kind), 0},
        {SET_FIELD, FIELD(kind), 3},
        {INSTANCE_FIELD, FIELD(size), 0},
        {INSTANCE_FIELD, FIELD(size), UINT32_MAX - 7},
        {INSTANCE_FIELD, FIELD(count), UINT32_MAX},
        {INSTANCE_FIELD, FIELD(set), 0},
        {INSTANCE_FIELD, FIELD(set), 7},
        {INSTANCE_FIELD, FIELD(set), UINT32_MAX - 7},
    };
    struct provided honest = provide(&honest_guid, "Honest Set", 1);
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Honest Set(one)\\Raw", 0, &counter), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof corruptions / sizeof *corruptions; i++) {
        const struct corruption *d = &corruptions[i];
        struct provided p = provide(&hostile_guid, "Hostile Set", 10);
        uint32_t another;
        if (d->where == USED)
            store(used(&p), d->value);
        else
            store((uint8_t *)record(&p, d->where == SET_FIELD ? p.set : p.instance) + d->offset, d->value);
        read_all(u"\\Hostile Set(*)\\Raw", u"Hostile Set");
        assert_honest(query, counter);
        assert_int_equal(counterset_provider_create_instance(p.provider, p.set, "two", 2, &another), S_OK);
        assert_true(another > p.instance && another < 1u << 20);
        counterset_provider_delete(p.provider, another);
        counterset_provider_close(p.provider);
    }
    PdhCloseQuery(query);
    counterset_provider_close(honest.provider);
}

/* Repeatedly deletes an instance with MANY values and creates another one in its space. */
static void recreate_instance(void *user)
{
    struct attacked *a = user;
    const struct provided *p = &a->hostile;
    uint32_t at = p->instance;
    for (uint32_t n = 0; !atomic_load(&a->end); n++) {
        char name[200];
        memset(name, n % 2 ? 'a' : 'b', sizeof name);
        name[sizeof name - 1] = 0;
        counterset_provider_delete(p->provider, at);
        if (FAILED(counterset_provider_create_instance(p->provider, p->set, name, n, &at)))
            return; /* does not happen: the space is reused, so the section is never full */
    }
}

/* An instance that is created while it is read must be complete or missing; its name must never appear with another
   instance's values. */
static void reused_record_is_read_completely(void **state)
{
    (void)state;
    struct attacked a = {.hostile = provide(&hostile_guid, "Busy Set", MANY)};
    struct counterset_views views = {0};
    struct thread *thread;
    unsigned seen = 0;
    assert_int_equal(thread_start(recreate_instance, &a, &thread), S_OK);
    assert_int_equal(counterset_views_update(&views), S_OK);
    size_t ours = 0; /* in native runs, other running tests may have counter providers too */
    while (ours < views.count && views.items[ours].process != process_own_id())
        ours++;
    assert_true(ours < views.count);
    /* If the reader did not check its copy, it would get a mixed instance within some thousand reads. On a busy
       machine, the other thread may start late. */
    for (int i = 0; i < 5000 || !seen; i++) {
        struct counterset_bytes b;
        assert_int_equal(counterset_view_copy(&views, ours, &b), S_OK);
        for (const struct counterset_record *r = NULL; (r = counterset_next(&b, r));) {
            if (r->kind != COUNTERSET_KIND_INSTANCE || !r->live || !memcmp(r->name, "one", 4))
                continue;
            assert_int_equal(r->name[0], r->name[198]);
            assert_int_equal(r->name[0], r->id % 2 ? 'a' : 'b');
            seen++;
        }
    }
    atomic_store(&a.end, true);
    thread_wait(thread, UINT32_MAX);
    thread_close(thread);
    counterset_views_close(&views);
    counterset_provider_close(a.hostile.provider);
}

/* In a list of names, an empty name means the end. A counterset with an empty name must not hide the names after it. */
static void nameless_counterset_hides_no_other(void **state)
{
    (void)state;
    static WCHAR list[1 << 15];
    DWORD units = 1 << 15;
    bool found = false;
    struct provided hostile = provide(&hostile_guid, "Hostile Set", 1), honest = provide(&honest_guid, "Honest Set", 1);
    record(&hostile, hostile.set)->name[0] = 0;
    assert_int_equal(PdhEnumObjectsW(NULL, NULL, list, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
    for (const WCHAR *p = list; *p && !found; p++) {
        const WCHAR *name = p;
        while (*p)
            p++;
        found = !memcmp(name, u"Honest Set", sizeof u"Honest Set");
    }
    assert_true(found);
    counterset_provider_close(hostile.provider);
    counterset_provider_close(honest.provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_changes_between_two_reads),   cmocka_unit_test(sizes_change_between_two_reads),
        cmocka_unit_test(random_writes_are_harmless),       cmocka_unit_test(corrupt_section_affects_no_other),
        cmocka_unit_test(reused_record_is_read_completely), cmocka_unit_test(nameless_counterset_hides_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
