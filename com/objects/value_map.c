/* SPDX-License-Identifier: MIT */
/* IValueMap. MS-PLA 3.2.4.18. */
#include "com/objects/collection.h"
#include "com/objects/convert.h"

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

static HRESULT call_with_value(IValueMap *This, HRESULT (*method)(struct object *map, const struct variant *value),
                               const VARIANT *in, const char *argument)
{
    struct variant v;
    HRESULT hr = variant_from_com(in, argument, &v);
    if (SUCCEEDED(hr)) {
        hr = method(model_of(This), &v);
        variant_free(&v);
    }
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE map_put_value(IValueMap *This, VARIANT in)
{
    return call_with_value(This, value_map_put_value, &in, "Value");
}

static HRESULT STDMETHODCALLTYPE map_add(IValueMap *This, VARIANT in)
{
    IUnknown *object;
    if (variant_is_object(&in, &object))
        return collection_add_item(This, object);
    return call_with_value(This, value_map_add_value, &in, "Add");
}

COLLECTION_CREATE_THUNK(IValueMap, IValueMapItem, CreateValueMapItem, value_map_item_class)

#define INTERFACE IValueMap
#define ROWS      "engine/pla/value_map.def"
#define METHODS                                                                                                        \
    .Remove = THUNK(Remove), .Add = map_add, .get_Value = map_get_value, .put_Value = map_put_value,                   \
    .CreateValueMapItem = THUNK(CreateValueMapItem), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 3)
#include "com/objects/object_vtable.inc"
