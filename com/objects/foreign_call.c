/* SPDX-License-Identifier: MIT */
/* Calls on objects that a client handed over: what they stand for, and what they hold. Nothing else in com/ calls one.
 */
#include "com/objects/foreign_call.h"

#include "com/facade/server_call.h"

/* The blanket is the proxy's, and a proxy is one interface of an object. */
static HRESULT guard(IDispatch *proxy)
{
    HRESULT hr = CoSetProxyBlanket((IUnknown *)proxy, RPC_C_AUTHN_DEFAULT, RPC_C_AUTHZ_DEFAULT, COLE_DEFAULT_PRINCIPAL,
                                   RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, NULL, EOAC_NONE);
    return hr == E_NOTIMPL /* Wine */ || hr == E_NOINTERFACE /* no proxy: this process' own */ ? S_OK : hr;
}

HRESULT foreign_get(IDispatch *object, const struct class *class, const WCHAR *member, const VARIANT *arguments,
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
