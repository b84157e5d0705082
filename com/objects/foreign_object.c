/* SPDX-License-Identifier: MIT */
/* Calls objects that clients passed in, and copies these objects. */
#include "com/objects/foreign_object.h"

#include "com/facade/server_call.h"
#include "engine/base/memory.h"

/* Lets the object's process identify this process, but not act for it. Applies only to this proxy, that is, to one
   interface of the object. */
static HRESULT guard(IDispatch *proxy)
{
    HRESULT hr = CoSetProxyBlanket((IUnknown *)proxy, RPC_C_AUTHN_DEFAULT, RPC_C_AUTHZ_DEFAULT, COLE_DEFAULT_PRINCIPAL,
                                   RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, NULL, EOAC_NONE);
    return hr == E_NOTIMPL /* Wine */ || hr == E_NOINTERFACE /* no proxy: the object is in this process */ ? S_OK : hr;
}

/* Reads a property with late_invoke (server_call.h). The object has the interface of `class`. */
static HRESULT foreign_get(IDispatch *object, const struct class *class, const WCHAR *member, const VARIANT *arguments,
                           UINT count, VARIANT *result)
{
    VariantInit(result);
    HRESULT hr = guard(object);
    return FAILED(hr) ? hr : late_invoke(object, class, member, DISPATCH_PROPERTYGET, arguments, count, result);
}

static HRESULT get(IDispatch *object, DISPID id, VARIANT *result)
{
    DISPPARAMS none = {0};
    return IDispatch_Invoke(object, id, &IID_NULL, LOCALE_NEUTRAL, DISPATCH_PROPERTYGET, &none, result, NULL, NULL);
}

HRESULT foreign_get_by_name(IDispatch *object, const WCHAR *name, VARIANT *result)
{
    WCHAR *names = (WCHAR *)name;
    DISPID id;
    VariantInit(result);
    HRESULT hr = guard(object);
    if (SUCCEEDED(hr))
        hr = IDispatch_GetIDsOfNames(object, &IID_NULL, &names, 1, LOCALE_NEUTRAL, &id);
    return FAILED(hr) ? hr : get(object, id, result);
}

IDispatch *foreign_object_in(const VARIANT *v)
{
    if (V_VT(v) == (VT_VARIANT | VT_BYREF) && V_VARIANTREF(v))
        v = V_VARIANTREF(v);
    if (V_VT(v) == (VT_DISPATCH | VT_BYREF))
        return V_DISPATCHREF(v) ? *V_DISPATCHREF(v) : NULL;
    return V_VT(v) == VT_DISPATCH ? V_DISPATCH(v) : NULL;
}

HRESULT foreign_value(IDispatch *object, VARIANT *value)
{
    VariantInit(value);
    HRESULT hr = guard(object);
    if (SUCCEEDED(hr) && FAILED(get(object, DISPID_VALUE, value)))
        hr = DISP_E_TYPEMISMATCH;
    if (SUCCEEDED(hr) && foreign_object_in(value))
        hr = DISP_E_TYPEMISMATCH;
    if (FAILED(hr))
        VariantClear(value);
    return hr;
}

HRESULT variant_change(VARIANT *to, const VARIANT *from, VARTYPE type)
{
    VARIANT value;
    IDispatch *object = foreign_object_in(from);
    if (!object)
        return VariantChangeType(to, (VARIANT *)from, 0, type);
    HRESULT hr = foreign_value(object, &value);
    if (SUCCEEDED(hr))
        hr = VariantChangeType(to, &value, 0, type);
    VariantClear(&value);
    return hr;
}

/* ---- objects of another process, copied property by property: only values that a client could read and set ---- */

static HRESULT property_copy(IDispatch *from, struct object *to);

/* No list of an event provider has this many items. The limit is needed because the count comes from the other
   process. */
enum { ITEMS_MAX = 100000 };

/* Calls a member that returns an object. *out is a reference. */
static HRESULT get_object(IDispatch *from, const struct class *class, const WCHAR *member, const VARIANT *argument,
                          IDispatch **out)
{
    VARIANT v;
    HRESULT hr = foreign_get(from, class, member, argument, argument ? 1 : 0, &v);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (V_VT(&v) != VT_DISPATCH || !V_DISPATCH(&v)) {
        VariantClear(&v);
        error_set(E_INVALIDARG, "%s: a member of the object in the other process returned no object", class->name);
        return E_INVALIDARG;
    }
    *out = V_DISPATCH(&v);
    return S_OK;
}

/* Copies a value through the members that clients use, so that all checks of the values apply. */
static HRESULT copy_value(IDispatch *from, struct object *to, const WCHAR *name)
{
    VARIANT v;
    void *wrapper;
    HRESULT hr = foreign_get(from, to->class, name, NULL, 0, &v);
    if (FAILED(hr))
        return hr;
    /* Empty strings and empty lists are not copied: a new object already has them, and some properties reject them. */
    bool none = (V_VT(&v) == VT_BSTR && !SysStringLen(V_BSTR(&v))) || V_VT(&v) == VT_EMPTY;
    hr = none ? S_OK : wrapper_get(to, &wrapper);
    if (SUCCEEDED(hr) && !none) {
        hr = late_invoke(wrapper, to->class, name, DISPATCH_PROPERTYPUT, &v, 1, NULL);
        wrapper_release(wrapper);
    }
    VariantClear(&v);
    return hr;
}

static HRESULT copy_property(IDispatch *from, struct object *to, const struct property *p)
{
    struct value child;
    IDispatch *source;
    WCHAR *name;
    size_t units;
    if (p->access != ACCESS_RW && p->kind != PROPERTY_OBJECT)
        return S_OK;
    HRESULT hr = text_to_utf16(p->name, &name, &units);
    if (FAILED(hr))
        return hr;
    if (p->kind != PROPERTY_OBJECT) {
        hr = copy_value(from, to, name);
    } else {
        hr = object_get(to, p, &child);
        if (SUCCEEDED(hr)) {
            hr = get_object(from, to->class, name, NULL, &source);
            if (SUCCEEDED(hr)) {
                hr = property_copy(source, child.object);
                IDispatch_Release(source);
            }
            value_free(&child);
        }
    }
    memory_free(name);
    return hr;
}

static HRESULT copy_item(IDispatch *from, struct object *to, LONG index)
{
    VARIANT at = {.vt = VT_I4};
    struct object *item = NULL;
    IDispatch *source;
    V_I4(&at) = index;
    HRESULT hr = get_object(from, to->class, L"Item", &at, &source);
    if (FAILED(hr))
        return hr;
    hr = object_create(to->class->item_classes[0], to, &item);
    if (SUCCEEDED(hr))
        hr = property_copy(source, item);
    if (SUCCEEDED(hr))
        hr = collection_add(to, item);
    object_release(item);
    IDispatch_Release(source);
    return hr;
}

static HRESULT property_copy(IDispatch *from, struct object *to)
{
    HRESULT hr = S_OK;
    uint32_t count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < to->class->property_count; i++)
        hr = copy_property(from, to, &to->class->properties[i]);
    if (SUCCEEDED(hr) && to->class->items) {
        VARIANT v;
        hr = foreign_get(from, to->class, L"Count", NULL, 0, &v);
        hr = server_take_number(hr, &v, &count);
        if (SUCCEEDED(hr) && count > ITEMS_MAX)
            hr = error_set(E_INVALIDARG, "%s: too many items: %u (the maximum is %d)", to->class->name, (unsigned)count,
                           ITEMS_MAX);
    }
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = copy_item(from, to, (LONG)i);
    return hr;
}

/* `pointer` is the object's interface of that class. */
static HRESULT copy_whole(IUnknown *pointer, const struct class *class, struct object **out)
{
    IDispatch *from;
    *out = NULL;
    HRESULT hr = IUnknown_QueryInterface(pointer, &IID_IDispatch, (void **)&from);
    if (FAILED(hr))
        return hr;
    hr = object_create(class, NULL, out);
    if (SUCCEEDED(hr))
        hr = property_copy(from, *out);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    IDispatch_Release(from);
    return hr;
}

HRESULT wrapper_model_or_copy(IUnknown *pointer, const char *argument, struct object **model)
{
    static const struct class *const values[] = {&trace_data_provider_class, &trace_data_provider_collection_class};
    HRESULT hr = wrapper_model(pointer, NULL, argument, model);
    for (size_t i = 0; hr == E_INVALIDARG && i < ARRAYSIZE(values); i++) {
        IUnknown *as;
        if (FAILED(IUnknown_QueryInterface(pointer, com_class_of(values[i])->interface_id, (void **)&as)))
            continue;
        hr = copy_whole(as, values[i], model);
        IUnknown_Release(as);
        return SUCCEEDED(hr) ? hr
                             : error_prefix(hr, "%s: cannot copy the other process's %s", argument, values[i]->name);
    }
    return hr;
}
