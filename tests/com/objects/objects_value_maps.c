/* SPDX-License-Identifier: MIT */
/* Value maps and their items (MS-PLA 2.2.2.11, 3.2.4.17, 3.2.4.18). */
#include "tests/com/client.h"

#include <string.h>

static VARIANT of_uint64(ULONGLONG n)
{
    VARIANT v;
    V_VT(&v) = VT_UI8;
    V_UI8(&v) = n;
    return v;
}

static IValueMap *map_of_type(LONG type)
{
    IValueMap *map = new_map();
    assert_ok(put(map, L"ValueMapType", of_long(type)));
    return map;
}

static void add_item(IValueMap *map, const WCHAR *key, ULONGLONG value, bool enabled)
{
    VARIANT v = of_uint64(value);
    IValueMapItem *item = new_item(map, key, &v);
    assert_ok(IValueMapItem_put_Enabled(item, enabled ? VARIANT_TRUE : VARIANT_FALSE));
    V_VT(&v) = VT_DISPATCH;
    V_DISPATCH(&v) = (IDispatch *)item;
    assert_ok(IValueMap_Add(map, v));
    release(item);
}

static ULONGLONG value_of(IValueMap *map)
{
    VARIANT v;
    VariantInit(&v);
    assert_ok(IValueMap_get_Value(map, &v));
    assert_int_equal(V_VT(&v), VT_UI8);
    return V_UI8(&v);
}

static LONG count_of(IValueMap *map)
{
    LONG n = -1;
    assert_ok(IValueMap_get_Count(map, &n));
    return n;
}

/* Returns the enabled items as bits, bit n for item n. */
static unsigned enabled_in(IValueMap *map)
{
    unsigned bits = 0;
    for (LONG i = 0; i < count_of(map); i++) {
        IValueMapItem *item;
        VARIANT_BOOL enabled = 0;
        assert_ok(IValueMap_get_Item(map, of_long(i), &item));
        assert_ok(IValueMapItem_get_Enabled(item, &enabled));
        bits |= enabled ? 1u << i : 0;
        release(item);
    }
    return bits;
}

static IValueMap *level_map(LONG type)
{
    IValueMap *map = map_of_type(type);
    add_item(map, L"Critical", 1, false);
    add_item(map, L"Error", 2, true);
    add_item(map, L"Warning", 4, true);
    return map;
}

/* A provider's level is its first enabled item; its keywords combine all enabled items. */
static void value_is_computed_from_the_items(void **state)
{
    IValueMap *map = level_map(plaIndex);
    (void)state;
    assert_int_equal(value_of(map), 2);
    assert_ok(put(map, L"ValueMapType", of_long(plaFlag)));
    assert_int_equal(value_of(map), 6);
    assert_ok(put(map, L"ValueMapType", of_long(plaFlagArray)));
    assert_int_equal(value_of(map), 2);
    release(map);
}

/* Scripts set the value as a number; the items must match it, and bits without an item must not be lost. */
static void value_enables_matching_items(void **state)
{
    IValueMap *map = level_map(plaIndex);
    (void)state;
    assert_ok(put(map, L"Value", of_long(4)));
    assert_int_equal(enabled_in(map), 4);
    assert_int_equal(value_of(map), 4);
    assert_ok(put(map, L"Value", of_text(L"0x1")));
    assert_int_equal(enabled_in(map), 1);
    assert_ok(put(map, L"Value", of_long(255)));
    assert_int_equal(count_of(map), 4);
    assert_int_equal(enabled_in(map), 8);
    assert_int_equal(value_of(map), 255);
    release(map);
    map = level_map(plaFlag);
    assert_ok(put(map, L"Value", of_long(5)));
    assert_int_equal(enabled_in(map), 5);
    assert_ok(put(map, L"Value", of_long(0x12)));
    assert_int_equal(value_of(map), 0x12);
    assert_int_equal(enabled_in(map) & 7, 2);
    assert_ok(put(map, L"Value", of_uint64(0x8000000000000000u)));
    assert_true(value_of(map) == 0x8000000000000000u);
    assert_ok(put(map, L"Value", of_long(0)));
    assert_int_equal(enabled_in(map), 0);
    assert_true(FAILED(put(map, L"Value", of_text(L"many"))));
    assert_message("many");
    assert_int_equal(enabled_in(map), 0);
    release(map);
}

static HRESULT add(IValueMap *map, VARIANT value)
{
    HRESULT hr = invoke(map, L"Add", DISPATCH_METHOD, NULL, &value, 1);
    VariantClear(&value);
    return hr;
}

/* Add accepts an item, a number in any notation, or the name of an item to enable. */
static void add_takes_items_numbers_and_keys(void **state)
{
    IValueMap *map = level_map(plaFlag);
    VARIANT v;
    (void)state;
    assert_ok(put(map, L"Value", of_long(0)));
    assert_ok(add(map, of_long(0x10)));
    assert_int_equal(count_of(map), 4);
    assert_int_equal(value_of(map), 0x10);
    assert_ok(add(map, of_text(L"0x20")));
    assert_int_equal(value_of(map), 0x30);
    assert_ok(add(map, of_text(L"64")));
    assert_int_equal(value_of(map), 0x70);
    assert_int_equal(count_of(map), 6);
    assert_ok(add(map, of_text(L"warning")));
    assert_int_equal(count_of(map), 6);
    assert_int_equal(value_of(map), 0x74);
    assert_hr(add(map, of_text(L"Nothing")), E_INVALIDARG);
    assert_message("'Nothing'");
    assert_int_equal(count_of(map), 6);
    assert_true(FAILED(add(map, of_text(L""))));
    V_VT(&v) = VT_EMPTY;
    assert_true(FAILED(add(map, v)));
    release(map);
    map = map_of_type(plaIndex);
    assert_ok(add(map, of_text(L"-0x1F")));
    assert_true(value_of(map) == (ULONGLONG)-0x1F);
    release(map);
}

/* An item keeps any scalar that was put; arrays are rejected with a message (DECISIONS 4). */
static void items_keep_every_scalar(void **state)
{
    IValueMap *map = new_map();
    VARIANT one = of_long(1), v, back;
    IValueMapItem *item = new_item(map, L"K", &one);
    static const struct {
        VARTYPE type;
        size_t size;
    } integers[] = {{VT_I1, 1},  {VT_I2, 2},  {VT_I4, 4},  {VT_I8, 8},  {VT_UI1, 1},
                    {VT_UI2, 2}, {VT_UI4, 4}, {VT_UI8, 8}, {VT_BOOL, 2}};

    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(integers); i++) {
        V_VT(&v) = VT_I8;
        V_I8(&v) = -1;
        V_VT(&v) = integers[i].type;
        assert_ok(IValueMapItem_put_Value(item, v));
        VariantInit(&back);
        assert_ok(IValueMapItem_get_Value(item, &back));
        assert_int_equal(V_VT(&back), integers[i].type);
        assert_memory_equal(&V_I8(&back), &V_I8(&v), integers[i].size);
    }
    assert_ok(put(item, L"Value", of_text(L"a text \x4e2d")));
    assert_ok(get(item, L"Value", &back));
    assert_true(bstr_is(V_BSTR(&back), L"a text \x4e2d"));
    V_VT(&v) = VT_DATE;
    V_DATE(&v) = 45000.25;
    assert_ok(put(item, L"Value", v));
    assert_ok(get(item, L"Value", &back));
    assert_int_equal(V_VT(&back), VT_DATE);
    assert_true(V_DATE(&back) == 45000.25);
    V_VT(&v) = VT_VARIANT | VT_BYREF;
    V_VARIANTREF(&v) = &one;
    assert_ok(IValueMapItem_put_Value(item, v));
    assert_ok(get(item, L"Value", &back));
    assert_int_equal(V_VT(&back), VT_I4);
    assert_hr(put(item, L"Value", of_array(VT_BSTR, NULL, 0)), DISP_E_BADVARTYPE);
    assert_message("Value");
    assert_hr(put(item, L"Value", of_object(item)), DISP_E_BADVARTYPE);
    assert_ok(get(item, L"Value", &back));
    assert_int_equal(V_I4(&back), 1);
    assert_hr(put(item, L"Key", of_text(L"")), E_INVALIDARG);
    assert_message("Key");
    release(item);
    release(map);
}

/* Items are found by key, and removed by index or object; a map is also a collection. */
static void map_is_a_collection(void **state)
{
    IValueMap *map = level_map(plaFlag), *other = new_map();
    IValueMapItem *item;
    VARIANT v = of_text(L"error"), key;
    (void)state;
    assert_ok(IValueMap_get_Item(map, v, &item));
    VariantClear(&v);
    assert_ok(get(item, L"Key", &key));
    assert_true(bstr_is(V_BSTR(&key), L"Error"));
    v = of_object(item);
    assert_ok(IValueMap_Remove(map, v));
    assert_true(FAILED(IValueMap_Remove(map, v)));
    VariantClear(&v);
    release(item);
    assert_int_equal(count_of(map), 2);
    assert_ok(IValueMap_Remove(map, of_long(0)));
    assert_int_equal(value_of(map), 4);
    assert_hr(heard(IValueMap_Remove(map, of_long(7))), DISP_E_BADINDEX);
    assert_ok(IValueMap_AddRange(other, map));
    assert_int_equal(count_of(other), 1);
    assert_ok(IValueMap_Clear(map));
    assert_int_equal(count_of(map), 0);
    assert_int_equal(value_of(map), 0);
    release(other);
    release(map);
}

/* A validation map contains VT_UI4: scripts compare the values with HRESULTs. */
static void validation_maps_hold_results(void **state)
{
    IDataCollectorSet *set = new_set();
    BSTR xml = SysAllocString(L"<DataCollectorSet><Duration>soon</Duration></DataCollectorSet>");
    IValueMap *map;
    IValueMapItem *item;
    VARIANT v;
    (void)state;
    assert_ok(IDataCollectorSet_SetXml(set, xml, &map));
    SysFreeString(xml);
    assert_int_equal(count_of(map), 1);
    assert_ok(get(map, L"ValueMapType", &v));
    assert_int_equal(V_I4(&v), plaValidation);
    assert_ok(IValueMap_get_Item(map, of_long(0), &item));
    assert_ok(get(item, L"Key", &v));
    assert_true(bstr_is(V_BSTR(&v), L"Duration"));
    assert_ok(get(item, L"Value", &v));
    assert_int_equal(V_VT(&v), VT_UI4);
    assert_int_equal((HRESULT)V_UI4(&v), E_INVALIDARG);
    assert_ok(get(item, L"Description", &v));
    assert_true(bstr_has(V_BSTR(&v), L"'soon'"));
    release(item);
    release(map);
    release(set);
}

int value_map_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_computed_from_the_items),
        cmocka_unit_test(value_enables_matching_items),
        cmocka_unit_test(add_takes_items_numbers_and_keys),
        cmocka_unit_test(items_keep_every_scalar),
        cmocka_unit_test(map_is_a_collection),
        cmocka_unit_test(validation_maps_hold_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
