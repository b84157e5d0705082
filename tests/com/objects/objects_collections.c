/* SPDX-License-Identifier: MIT */
/* Collections of collectors in a set and of sets, and their enumerators. */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>

static LONG count_of(void *collection)
{
    VARIANT v;
    assert_ok(get(collection, L"Count", &v));
    assert_int_equal(V_VT(&v), VT_I4);
    return V_I4(&v);
}

/* Returns the name of the item at `index`; NULL if the call failed. */
static BSTR item_name(void *collection, VARIANT index)
{
    VARIANT item, name;
    HRESULT hr = invoke(collection, L"Item", DISPATCH_PROPERTYGET, &item, &index, 1);
    if (V_VT(&index) == VT_BSTR)
        VariantClear(&index);
    if (FAILED(hr))
        return NULL;
    assert_int_equal(V_VT(&item), VT_DISPATCH);
    assert_ok(get(V_DISPATCH(&item), L"Name", &name));
    VariantClear(&item);
    return V_BSTR(&name);
}

/* A set with the collectors A, B, C. */
static IDataCollectorSet *set_of_three(void)
{
    IDataCollectorSet *set = new_set();
    release(added_collector(set, L"A"));
    release(added_collector(set, L"B"));
    release(added_collector(set, L"C"));
    return set;
}

static VARIANT of_real(double n)
{
    VARIANT v;
    V_VT(&v) = VT_R8;
    V_R8(&v) = n;
    return v;
}

static VARIANT of_short(SHORT n)
{
    VARIANT v;
    V_VT(&v) = VT_I2;
    V_I2(&v) = n;
    return v;
}

/* Each scripting language passes a different type of index; people use names. */
static void items_are_found_by_any_index(void **state)
{
    IDataCollectorSet *set = set_of_three();
    IDataCollectorCollection *collectors = collectors_of(set);
    VARIANT index, inner = of_long(1);
    (void)state;
    assert_int_equal(count_of(collectors), 3);
    assert_true(bstr_is(item_name(collectors, of_long(0)), L"A"));
    assert_true(bstr_is(item_name(collectors, of_short(1)), L"B"));
    assert_true(bstr_is(item_name(collectors, of_real(2)), L"C"));
    assert_true(bstr_is(item_name(collectors, of_text(L"b")), L"B"));
    V_VT(&index) = VT_UI4;
    V_UI4(&index) = 2;
    assert_true(bstr_is(item_name(collectors, index), L"C"));
    V_VT(&index) = VT_VARIANT | VT_BYREF;
    V_VARIANTREF(&index) = &inner;
    assert_true(bstr_is(item_name(collectors, index), L"B"));
    assert_null(item_name(collectors, of_long(3)));
    assert_message("index 3 is out of range");
    assert_null(item_name(collectors, of_long(-1)));
    assert_null(item_name(collectors, of_text(L"D")));
    assert_message("'D'");
    /* c(1): Item is the default member */
    assert_ok(invoke_id(collectors, DISPID_VALUE, DISPATCH_PROPERTYGET | DISPATCH_METHOD, &index, &inner, 1));
    assert_int_equal(V_VT(&index), VT_DISPATCH);
    VariantClear(&index);
    release(collectors);
    release(set);
}

static IEnumVARIANT *new_enumerator(void *collection, WORD flags)
{
    IEnumVARIANT *e;
    VARIANT v;
    assert_ok(invoke_id(collection, DISPID_NEWENUM, flags, &v, NULL, 0));
    assert_true(V_VT(&v) == VT_UNKNOWN || V_VT(&v) == VT_DISPATCH);
    assert_ok(IUnknown_QueryInterface(V_UNKNOWN(&v), &IID_IEnumVARIANT, (void **)&e));
    VariantClear(&v);
    return e;
}

/* Returns the next item's name, "-" at the end. The caller frees it. */
static BSTR next_name(IEnumVARIANT *e)
{
    VARIANT v, name;
    ULONG fetched = 9;
    VariantInit(&v);
    HRESULT hr = IEnumVARIANT_Next(e, 1, &v, &fetched);
    if (hr == S_FALSE) {
        assert_int_equal(fetched, 0);
        return SysAllocString(L"-");
    }
    assert_hr(hr, S_OK);
    assert_int_equal(fetched, 1);
    assert_true(V_VT(&v) == VT_DISPATCH || V_VT(&v) == VT_UNKNOWN);
    assert_ok(get(V_DISPATCH(&v), L"Name", &name));
    VariantClear(&v);
    return V_BSTR(&name);
}

/* For Each in VBScript reads a property, JScript's Enumerator calls a method. A change during the enumeration must
   neither skip nor repeat an item. */
static void for_each_walks_a_snapshot(void **state)
{
    static const WORD ways[] = {DISPATCH_PROPERTYGET, DISPATCH_METHOD, DISPATCH_METHOD | DISPATCH_PROPERTYGET};
    IDataCollectorSet *set = set_of_three();
    IDataCollectorCollection *collectors = collectors_of(set);
    (void)state;
    for (int i = 0; i < 3; i++) {
        IEnumVARIANT *e = new_enumerator(collectors, ways[i]);
        assert_true(bstr_is(next_name(e), L"A"));
        if (!i)
            assert_ok(IDataCollectorCollection_Clear(collectors));
        assert_true(bstr_is(next_name(e), L"B"));
        assert_true(bstr_is(next_name(e), L"C"));
        assert_true(bstr_is(next_name(e), L"-"));
        assert_true(bstr_is(next_name(e), L"-"));
        release(e);
        if (!i) {
            assert_int_equal(count_of(collectors), 0);
            release(added_collector(set, L"A"));
            release(added_collector(set, L"B"));
            release(added_collector(set, L"C"));
        }
    }
    release(collectors);
    release(set);
}

/* Next with several items, Skip, Reset and Clone, as the loops of .NET and C++ use them. */
static void enumerators_follow_the_com_rules(void **state)
{
    IDataCollectorSet *set = set_of_three();
    IDataCollectorCollection *collectors = collectors_of(set);
    IEnumVARIANT *e = new_enumerator(collectors, DISPATCH_PROPERTYGET), *clone;
    VARIANT items[5];
    ULONG fetched = 0;
    (void)state;
    assert_true(bstr_is(next_name(e), L"A"));
    assert_ok(IEnumVARIANT_Clone(e, &clone));
    assert_true(bstr_is(next_name(clone), L"B"));
    assert_ok(IEnumVARIANT_Skip(e, 1));
    assert_true(bstr_is(next_name(e), L"C"));
    assert_int_equal(IEnumVARIANT_Skip(e, 1), S_FALSE);
    assert_ok(IEnumVARIANT_Reset(e));
    for (int i = 0; i < 5; i++)
        VariantInit(&items[i]);
    assert_int_equal(IEnumVARIANT_Next(e, 5, items, &fetched), S_FALSE);
    assert_int_equal(fetched, 3);
    for (ULONG i = 0; i < fetched; i++)
        VariantClear(&items[i]);
    assert_true(bstr_is(next_name(clone), L"C"));
    release(clone);
    if (in_process) {
        assert_int_equal(IEnumVARIANT_Next(e, 1, NULL, &fetched), E_POINTER);
        assert_int_equal(IEnumVARIANT_Next(e, 2, items, NULL), E_POINTER);
        assert_int_equal(IEnumVARIANT_Clone(e, NULL), E_POINTER);
        assert_ok(IEnumVARIANT_Reset(e));
        assert_ok(IEnumVARIANT_Next(e, 1, items, NULL));
        VariantClear(&items[0]);
    }
    release(e);
    release(collectors);
    release(set);
}

/* An enumerator can outlive its collection, for example when a function returns the enumerator. */
static void enumerator_outlives_its_collection(void **state)
{
    IDataCollectorSet *set = set_of_three();
    IDataCollectorCollection *collectors = collectors_of(set);
    IEnumVARIANT *e = new_enumerator(collectors, DISPATCH_PROPERTYGET);
    (void)state;
    release(collectors);
    release(set);
    assert_true(bstr_is(next_name(e), L"A"));
    release(e);
}

/* Tests Clear, and Remove by index, by name and by the object itself. A removed item belongs to no set, and can be
   added again. */
static void items_are_removed_by_index_and_object(void **state)
{
    IDataCollectorSet *set = set_of_three(), *above = NULL;
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *c, *b;
    (void)state;
    assert_ok(IDataCollectorCollection_get_Item(collectors, of_long(2), &c));
    assert_ok(IDataCollectorCollection_get_Item(collectors, of_long(1), &b));
    VARIANT v = of_object(c);
    assert_ok(IDataCollectorCollection_Remove(collectors, v));
    assert_hr(heard(IDataCollectorCollection_Remove(collectors, v)), E_INVALIDARG);
    VariantClear(&v);
    assert_hr(heard(IDataCollector_get_DataCollectorSet(c, &above)), PLA_E_DCS_NOT_FOUND);
    assert_null(above);
    assert_ok(invoke(collectors, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(0)}, 1));
    assert_int_equal(count_of(collectors), 1);
    assert_ok(get(b, L"Index", &v));
    assert_int_equal(V_I4(&v), 0);
    assert_hr(invoke(collectors, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(5)}, 1), DISP_E_BADINDEX);
    v = of_text(L"B");
    assert_ok(IDataCollectorCollection_Remove(collectors, v));
    VariantClear(&v);
    assert_int_equal(count_of(collectors), 0);
    assert_ok(IDataCollectorCollection_Add(collectors, c));
    assert_ok(IDataCollectorCollection_Add(collectors, b));
    assert_int_equal(count_of(collectors), 2);
    assert_ok(IDataCollectorCollection_Clear(collectors));
    assert_int_equal(count_of(collectors), 0);
    assert_hr(heard(IDataCollector_get_DataCollectorSet(b, &above)), PLA_E_DCS_NOT_FOUND);
    release(c);
    release(b);
    release(collectors);
    release(set);
}

/* Two collectors with one name would write one file. A collector without a name gets a generated name. */
static void collector_names_are_unique_in_a_set(void **state)
{
    IDataCollectorSet *set = set_of_three();
    IDataCollectorCollection *collectors = collectors_of(set);
    IPerformanceCounterDataCollector *same = new_collector(set, L"b"), *other = new_collector(set, L"D");
    IPerformanceCounterDataCollector *nameless = new_collector(set, L"");
    (void)state;
    assert_hr(heard(IDataCollectorCollection_Add(collectors, (IDataCollector *)same)), PLA_E_DC_ALREADY_EXISTS);
    assert_vtable_said("'b'");
    assert_int_equal(count_of(collectors), 3);
    assert_ok(IDataCollectorCollection_Add(collectors, (IDataCollector *)other));
    assert_hr(put(other, L"Name", of_text(L"A")), PLA_E_DC_ALREADY_EXISTS);
    assert_message("'A'");
    assert_ok(put(other, L"Name", of_text(L"d"))); /* its own name in another spelling */
    assert_ok(IDataCollectorCollection_Add(collectors, (IDataCollector *)nameless));
    assert_true(bstr_is(item_name(collectors, of_long(4)), L"DataCollector01"));
    release(nameless);
    release(other);
    release(same);
    release(collectors);
    release(set);
}

/* A collector in two sets would be changed through both. An object of another kind is not a collector. */
static void collector_belongs_to_one_set(void **state)
{
    IDataCollectorSet *one = new_set(), *two = new_set();
    IDataCollectorCollection *first = collectors_of(one), *second = collectors_of(two);
    IPerformanceCounterDataCollector *collector = added_collector(one, L"A");
    (void)state;
    assert_hr(heard(IDataCollectorCollection_Add(second, (IDataCollector *)collector)), E_INVALIDARG);
    assert_int_equal(count_of(second), 0);
    assert_hr(heard(IDataCollectorCollection_Add(first, (IDataCollector *)collector)), E_INVALIDARG);
    assert_int_equal(count_of(first), 1);
    assert_true(FAILED(IDataCollectorCollection_Add(first, NULL)));
    assert_true(FAILED(invoke(first, L"Add", DISPATCH_METHOD, NULL,
                              (VARIANT[]){{.vt = VT_DISPATCH, .pdispVal = (IDispatch *)two}}, 1)));
    if (in_process) /* the proxy rejects it before the server sees it */
        assert_hr(heard(IDataCollectorCollection_Add(first, (IDataCollector *)two)), E_INVALIDARG);
    assert_ok(IDataCollectorCollection_Clear(first));
    assert_ok(IDataCollectorCollection_Add(second, (IDataCollector *)collector));
    assert_int_equal(count_of(second), 1);
    release(collector);
    release(second);
    release(first);
    release(two);
    release(one);
}

/* AddRange adds all items or none. */
static void ranges_are_added_completely_or_not(void **state)
{
    IDataCollectorSetCollection *from = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    IDataCollectorSetCollection *to = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    IDataCollectorSet *a = new_set(), *b = new_set();
    (void)state;
    assert_ok(IDataCollectorSetCollection_Add(from, a));
    assert_ok(IDataCollectorSetCollection_Add(from, b));
    assert_ok(IDataCollectorSetCollection_AddRange(to, from));
    assert_int_equal(count_of(to), 2);
    assert_int_equal(count_of(from), 2);
    assert_true(FAILED(IDataCollectorSetCollection_AddRange(to, NULL)));
    assert_ok(IDataCollectorSetCollection_Clear(to));
    assert_int_equal(count_of(to), 0);
    release(b);
    release(a);
    release(to);
    release(from);
}

/* Each of the five types creates a collector of that type; an invalid type is an argument error. */
static void collectors_of_every_type(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    VARIANT v, type;
    (void)state;
    assert_hr(invoke(collectors, L"CreateDataCollector", DISPATCH_METHOD, &v, (VARIANT[]){of_long(99)}, 1),
              E_INVALIDARG);
    assert_message("99");
    for (LONG i = plaPerformanceCounter; i <= plaApiTrace; i++) {
        assert_ok(invoke(collectors, L"CreateDataCollector", DISPATCH_METHOD, &v, (VARIANT[]){of_long(i)}, 1));
        assert_ok(get(V_DISPATCH(&v), L"DataCollectorType", &type));
        assert_int_equal(V_I4(&type), i);
        VariantClear(&v);
    }
    assert_int_equal(count_of(collectors), 0);
    release(collectors);
    release(set);
}

int collection_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_found_by_any_index),
        cmocka_unit_test(for_each_walks_a_snapshot),
        cmocka_unit_test(enumerators_follow_the_com_rules),
        cmocka_unit_test(enumerator_outlives_its_collection),
        cmocka_unit_test(items_are_removed_by_index_and_object),
        cmocka_unit_test(collector_names_are_unique_in_a_set),
        cmocka_unit_test(collector_belongs_to_one_set),
        cmocka_unit_test(ranges_are_added_completely_or_not),
        cmocka_unit_test(collectors_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
