/* SPDX-License-Identifier: MIT */
/* The common behaviour of the six collections, called by name as scripts do (behaviour 16). */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>

/* One kind of collection. `mark` is a numeric property of its items, by which the tests recognize them. */
struct collection_kind {
    const char *name;
    void *(*make)(void);
    void *(*make_item)(void *collection);
    const WCHAR *mark;
    bool adopts; /* an item belongs to one collection only */
};

static void *make_collectors(void)
{
    IDataCollectorSet *set = new_set();
    void *collectors = collectors_of(set);
    release(set); /* the collection has no parent; a script may keep it that way */
    return collectors;
}

static void *make_sets(void)
{
    return create(&CLSID_DataCollectorSetCollection, &IID_IDispatch);
}

static void *make_providers(void)
{
    IDataCollectorSet *set = new_set();
    void *collector = named_collector(set, plaTrace, L"T"), *providers = member(collector, L"TraceDataProviders");
    release(collector);
    release(set);
    return providers;
}

static void *make_schedules(void)
{
    IDataCollectorSet *set = new_set();
    void *schedules = member(set, L"Schedules");
    release(set);
    return schedules;
}

static void *make_actions(void)
{
    IDataCollectorSet *set = new_set();
    void *manager = member(set, L"DataManager"), *actions = member(manager, L"FolderActions");
    release(manager);
    release(set);
    return actions;
}

static void *make_map(void)
{
    void *providers = make_providers(), *provider = member(providers, L"CreateTraceDataProvider");
    void *map = member(provider, L"KeywordsAny");
    release(provider);
    release(providers);
    return map;
}

static void *make_collector(void *collectors)
{
    VARIANT type = of_long(plaPerformanceCounter), v;
    assert_ok(invoke(collectors, L"CreateDataCollector", DISPATCH_METHOD, &v, &type, 1));
    return V_DISPATCH(&v);
}

static void *make_set(void *sets)
{
    (void)sets;
    return create(&CLSID_DataCollectorSet, &IID_IDispatch);
}

static void *make_provider(void *providers)
{
    return member(providers, L"CreateTraceDataProvider");
}

static void *make_schedule(void *schedules)
{
    return member(schedules, L"CreateSchedule");
}

static void *make_action(void *actions)
{
    return member(actions, L"CreateFolderAction");
}

static void *make_map_item(void *map)
{
    return member(map, L"CreateValueMapItem");
}

static const struct collection_kind kinds[] = {
    {"data collectors", make_collectors, make_collector, L"SampleInterval", true},
    {"data collector sets", make_sets, make_set, L"Duration", false},
    {"trace providers", make_providers, make_provider, L"FilterType", false},
    {"schedules", make_schedules, make_schedule, L"Days", false},
    {"folder actions", make_actions, make_action, L"Age", false},
    {"value map", make_map, make_map_item, L"Value", false},
};

static HRESULT with_object(void *collection, const WCHAR *method, void *object)
{
    VARIANT v = of_object(object);
    HRESULT hr = invoke(collection, method, DISPATCH_METHOD, NULL, &v, 1);
    VariantClear(&v);
    return hr;
}

static HRESULT remove_at(void *collection, LONG index)
{
    VARIANT v = of_long(index);
    return invoke(collection, L"Remove", DISPATCH_METHOD, NULL, &v, 1);
}

static void *marked(const struct collection_kind *k, void *collection, LONG mark)
{
    void *item = k->make_item(collection);
    assert_ok(put(item, k->mark, of_long(mark)));
    return item;
}

/* Creates a collection with the items 1 to count. */
static void *collection_fill(const struct collection_kind *k, LONG count)
{
    void *collection = k->make();
    for (LONG i = 1; i <= count; i++) {
        void *item = marked(k, collection, i);
        assert_ok(with_object(collection, L"Add", item));
        release(item);
    }
    return collection;
}

/* Returns the marks as digits, such as 123. Indexes begin at zero, as in scripts. */
static ULONG collection_marks(const struct collection_kind *k, void *collection)
{
    ULONG all = 0;
    for (LONG i = 0; i < (LONG)number_of(collection, L"Count"); i++) {
        void *item = item_at(collection, i);
        all = all * 10 + number_of(item, k->mark);
        release(item);
    }
    return all;
}

static void for_every_kind(void (*test)(const struct collection_kind *k))
{
    for (size_t i = 0; i < ARRAYSIZE(kinds); i++) {
        print_message("    %s\n", kinds[i].name);
        test(&kinds[i]);
    }
}

/* Added items are in order and are the same objects: a change through either handle is visible through the other. */
static void keeps_items(const struct collection_kind *k)
{
    void *collection = k->make();
    VARIANT v, at = of_long(1);
    assert_int_equal(number_of(collection, L"Count"), 0);
    release(collection);
    collection = collection_fill(k, 3);
    assert_int_equal(collection_marks(k, collection), 123);
    void *second = item_at(collection, 1);
    assert_ok(put(second, k->mark, of_long(7)));
    assert_int_equal(collection_marks(k, collection), 173);
    assert_ok(invoke_id(collection, DISPID_VALUE, DISPATCH_PROPERTYGET | DISPATCH_METHOD, &v, &at, 1)); /* c(1) */
    assert_int_equal(number_of(V_DISPATCH(&v), k->mark), 7);
    VariantClear(&v);
    for (LONG bad = -1; bad < 5; bad += 4) {
        at = of_long(bad);
        assert_hr(invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, &at, 1), DISP_E_BADINDEX);
        assert_message(bad < 0 ? "no item" : "is out of range");
    }
    at = of_text(L"nobody");
    assert_hr(invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, &at, 1), DISP_E_BADINDEX);
    assert_message("'nobody'");
    VariantClear(&at);
    /* Created, but not added: the item is in no collection. */
    void *item = marked(k, collection, 9);
    assert_int_equal(number_of(collection, L"Count"), 3);
    release(item);
    release(second);
    release(collection);
}

static void items_are_kept_in_order(void **state)
{
    (void)state;
    for_every_kind(keeps_items);
}

static void walks_snapshot(const struct collection_kind *k)
{
    /* For Each in VBScript reads a property, JScript's Enumerator calls a method. */
    static const WORD ways[] = {DISPATCH_PROPERTYGET, DISPATCH_METHOD, DISPATCH_METHOD | DISPATCH_PROPERTYGET};

    for (size_t i = 0; i < ARRAYSIZE(ways); i++) {
        void *collection = collection_fill(k, 3);
        IEnumVARIANT *e;
        VARIANT v, items[4];
        ULONG fetched = 9;
        assert_ok(invoke_id(collection, DISPID_NEWENUM, ways[i], &v, NULL, 0));
        assert_ok(IUnknown_QueryInterface(V_UNKNOWN(&v), &IID_IEnumVARIANT, (void **)&e));
        VariantClear(&v);
        assert_ok(call(collection, L"Clear"));
        assert_int_equal(number_of(collection, L"Count"), 0);
        for (int n = 0; n < 4; n++)
            VariantInit(&items[n]);
        assert_int_equal(IEnumVARIANT_Next(e, 4, items, &fetched), S_FALSE);
        assert_int_equal(fetched, 3);
        for (ULONG n = 0; n < 3; n++) {
            assert_int_equal(number_of(V_DISPATCH(&items[n]), k->mark), n + 1);
            VariantClear(&items[n]);
        }
        release(e);
        release(collection);
    }
}

/* A loop that deletes the items it enumerates must neither skip an item nor end early. */
static void every_for_each_walks_a_snapshot(void **state)
{
    (void)state;
    for_every_kind(walks_snapshot);
}

static void removes_items(const struct collection_kind *k)
{
    void *collection = collection_fill(k, 4), *third = item_at(collection, 2), *never = marked(k, collection, 9);
    VARIANT by_reference;
    assert_ok(remove_at(collection, 0));
    assert_int_equal(collection_marks(k, collection), 234);
    V_VT(&by_reference) = VT_DISPATCH | VT_BYREF; /* as Visual Basic passes a variable */
    V_DISPATCHREF(&by_reference) = (IDispatch **)&third;
    assert_ok(invoke(collection, L"Remove", DISPATCH_METHOD, NULL, &by_reference, 1));
    assert_int_equal(collection_marks(k, collection), 24);
    assert_hr(with_object(collection, L"Remove", third), E_INVALIDARG);
    assert_hr(with_object(collection, L"Remove", never), E_INVALIDARG);
    assert_hr(with_object(collection, L"Remove", collection), E_INVALIDARG);
    assert_hr(remove_at(collection, 2), DISP_E_BADINDEX);
    assert_hr(remove_at(collection, -1), DISP_E_BADINDEX);
    assert_int_equal(collection_marks(k, collection), 24);
    assert_int_equal(number_of(third, k->mark), 3); /* the item stays alive and can be added again */
    assert_ok(with_object(collection, L"Add", third));
    assert_int_equal(collection_marks(k, collection), 243);
    assert_ok(call(collection, L"Clear"));
    assert_ok(call(collection, L"Clear"));
    assert_int_equal(number_of(collection, L"Count"), 0);
    assert_hr(remove_at(collection, 0), DISP_E_BADINDEX);
    release(never);
    release(third);
    release(collection);
}

static void items_are_removed_from_every_collection(void **state)
{
    (void)state;
    for_every_kind(removes_items);
}

static void rejects_foreign_objects(const struct collection_kind *k)
{
    void *collection = collection_fill(k, 1);
    VARIANT nothing = {.vt = VT_DISPATCH, .pdispVal = NULL};
    for (size_t i = 0; i < ARRAYSIZE(kinds); i++) {
        void *theirs = kinds[i].make(), *item = kinds[i].make_item(theirs);
        /* The type library rejects a typed argument; the collection itself rejects a VARIANT. */
        if (&kinds[i] != k)
            assert_true(FAILED(with_object(collection, L"Add", item)));
        assert_true(FAILED(with_object(collection, L"Add", theirs)));
        if (&kinds[i] != k)
            assert_true(FAILED(with_object(collection, L"AddRange", theirs)));
        assert_true(FAILED(with_object(collection, L"AddRange", item)));
        release(item);
        release(theirs);
    }
    assert_true(FAILED(invoke(collection, L"Add", DISPATCH_METHOD, NULL, &nothing, 1)));
    assert_true(FAILED(invoke(collection, L"AddRange", DISPATCH_METHOD, NULL, &nothing, 1)));
    assert_int_equal(collection_marks(k, collection), 1);
    release(collection);
}

/* A folder action in a schedule collection would be read as a schedule: a collection accepts only its own kind. */
static void collections_accept_only_their_own_kind(void **state)
{
    (void)state;
    for_every_kind(rejects_foreign_objects);
}

static void adds_range(const struct collection_kind *k)
{
    void *to = collection_fill(k, 2), *from = k->make(), *item;
    for (LONG i = 3; i <= 4; i++) {
        item = marked(k, from, i);
        assert_ok(with_object(from, L"Add", item));
        release(item);
    }
    if (k->adopts) { /* MS-PLA note 34: Windows returns an error, even for an empty range */
        assert_hr(with_object(to, L"AddRange", from), E_INVALIDARG);
        assert_message("AddRange");
        assert_ok(call(from, L"Clear"));
        assert_hr(with_object(to, L"AddRange", from), E_INVALIDARG);
        assert_int_equal(collection_marks(k, to), 12);
    } else {
        assert_ok(with_object(to, L"AddRange", from));
        assert_int_equal(collection_marks(k, to), 1234);
        assert_int_equal(collection_marks(k, from), 34);
        item = item_at(from, 0); /* one object in two collections */
        assert_ok(put(item, k->mark, of_long(9)));
        assert_int_equal(collection_marks(k, to), 1294);
        release(item);
        assert_ok(with_object(from, L"AddRange", from));
        assert_int_equal(number_of(from, L"Count"), 4);
    }
    release(from);
    release(to);
}

static void ranges_are_added(void **state)
{
    (void)state;
    for_every_kind(adds_range);
}

/* An empty variable or a Boolean instead of a number must not select an item: Remove would delete it. */
static void refuses_invalid_index(const struct collection_kind *k)
{
    void *collection = collection_fill(k, 2);
    VARIANT wrong[] = {of_text(L""),  {.vt = VT_EMPTY}, {.vt = VT_NULL}, {.vt = VT_BOOL}, {.vt = VT_ERROR},
                       {.vt = VT_R8}, {.vt = VT_R8},    {.vt = VT_I8},   {.vt = VT_I4},   {.vt = VT_DATE}};
    static const HRESULT results[] = {
        DISP_E_BADINDEX,     DISP_E_TYPEMISMATCH, DISP_E_TYPEMISMATCH, DISP_E_TYPEMISMATCH, DISP_E_TYPEMISMATCH,
        DISP_E_TYPEMISMATCH, DISP_E_OVERFLOW,     DISP_E_BADINDEX,     DISP_E_BADINDEX,     DISP_E_TYPEMISMATCH};
    static const char *const words[] = {"", "", "", "Boolean", "", "0.5", "1e+30", "4294967296", "-5", ""};
    V_R8(&wrong[5]) = 0.5;
    V_R8(&wrong[6]) = 1e30;
    V_I8(&wrong[7]) = 0x100000000;
    V_I4(&wrong[8]) = -5;
    for (size_t i = 0; i < ARRAYSIZE(wrong); i++) {
        VARIANT v;
        assert_hr(invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, &wrong[i], 1), results[i]);
        assert_message(k->make == make_map ? "ValueMap: " : "Collection: ");
        assert_message(words[i]);
        assert_hr(invoke(collection, L"Remove", DISPATCH_METHOD, NULL, &wrong[i], 1), results[i]);
    }
    assert_int_equal(collection_marks(k, collection), 12);
    VariantClear(&wrong[0]);
    release(collection);
}

static void invalid_index_finds_nothing(void **state)
{
    (void)state;
    for_every_kind(refuses_invalid_index);
}

/* Scripts can use names; items without a name are found only by number. */
static void named_items_are_found_by_name(void **state)
{
    static const struct {
        size_t kind;
        const WCHAR *property;
    } named[] = {{0, L"Name"}, {2, L"DisplayName"}, {5, L"Key"}};

    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(named); i++) {
        const struct collection_kind *k = &kinds[named[i].kind];
        void *collection = collection_fill(k, 3), *item = item_at(collection, 1);
        VARIANT name = of_text(L"ZW\x00c4I"), v;
        assert_ok(put(item, named[i].property, of_text(L"Zw\x00e4i")));
        assert_ok(invoke(collection, L"Item", DISPATCH_PROPERTYGET, &v, &name, 1));
        assert_int_equal(number_of(V_DISPATCH(&v), k->mark), 2);
        VariantClear(&v);
        assert_ok(invoke(collection, L"Remove", DISPATCH_METHOD, NULL, &name, 1));
        assert_int_equal(collection_marks(k, collection), 13);
        VariantClear(&name);
        release(item);
        release(collection);
    }
}

/* In MS-PLA this Count is a ULONG, and a LONG in the other five collections: early-bound clients depend on it. */
static void counts_have_the_types_of_the_specification(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(kinds); i++) {
        void *collection = collection_fill(&kinds[i], 2);
        VARIANT v;
        assert_ok(get(collection, L"Count", &v));
        assert_int_equal(V_VT(&v), kinds[i].make == make_actions ? VT_UI4 : VT_I4);
        assert_int_equal(V_I4(&v), 2);
        release(collection);
    }
}

int six_collection_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_kept_in_order),
        cmocka_unit_test(every_for_each_walks_a_snapshot),
        cmocka_unit_test(items_are_removed_from_every_collection),
        cmocka_unit_test(collections_accept_only_their_own_kind),
        cmocka_unit_test(ranges_are_added),
        cmocka_unit_test(invalid_index_finds_nothing),
        cmocka_unit_test(named_items_are_found_by_name),
        cmocka_unit_test(counts_have_the_types_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
