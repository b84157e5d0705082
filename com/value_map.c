/* SPDX-License-Identifier: MIT */
/* IValueMap. MS-PLA 3.2.4.18. */
#include "com/class_table.h"
#include "com/collection.h"
#include "com/property_thunks.h"

#define INTERFACE IValueMap
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/value_map.def"
#undef PROPERTY
DISPATCH_THUNKS(IValueMap)
COLLECTION_READ_THUNKS(IValueMap, IValueMapItem, LONG)
COLLECTION_REMOVE_THUNK(IValueMap)

static HRESULT STDMETHODCALLTYPE map_get_value(IValueMap *This, VARIANT *out)
{
    struct variant v;
    if (!out)
        return com_no_pointer(This, "Value");
    VariantInit(out);
    HRESULT hr = value_map_get_value(model_of(This), &v);
    if (SUCCEEDED(hr)) {
        hr = variant_to_com(&v, out);
        variant_free(&v);
    }
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE map_put_value(IValueMap *This, VARIANT in)
{
    struct variant v;
    HRESULT hr = variant_from_com(&in, "Value", &v);
    if (SUCCEEDED(hr)) {
        hr = value_map_put_value(model_of(This), &v);
        variant_free(&v);
    }
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE map_add(IValueMap *This, VARIANT in)
{
    struct variant v;
    IUnknown *object;
    if (variant_is_object(&in, &object))
        return collection_add_item(This, object);
    HRESULT hr = variant_from_com(&in, "Add", &v);
    if (SUCCEEDED(hr)) {
        hr = value_map_add_value(model_of(This), &v);
        variant_free(&v);
    }
    return com_result(This, hr);
}

COLLECTION_CREATE_THUNK(IValueMap, IValueMapItem, CreateValueMapItem, value_map_item_class)

const IValueMapVtbl value_map_vtable = {
    DISPATCH_SLOTS(IValueMap),
    COLLECTION_READ_SLOTS(IValueMap),
    .Remove = IValueMap_Remove_thunk,
    .Add = map_add,
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/value_map.def"
#undef PROPERTY
    .get_Value = map_get_value,
    .put_Value = map_put_value,
    .CreateValueMapItem = IValueMap_CreateValueMapItem_thunk,
};
enum {
    IValueMap_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/value_map.def"
#undef PROPERTY
};
ASSERT_SLOTS(IValueMap, IValueMap_slots + COLLECTION_SLOT_COUNT + 3);
