/* SPDX-License-Identifier: MIT */
/* IDispatch of every object: ITypeInfo::Invoke, and the conversions that scripts need in addition (behaviour 20). */
#include "com/facade/own_members.h"
#include "com/objects/convert.h"
#include "com/objects/foreign_object.h"
#include "com/objects/wrapper.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"

#include <string.h>
#include <wchar.h>

/* Returns the member's name, from memory_alloc; NULL if it cannot be determined. */
static char *dispatch_member_name(ITypeInfo *info, DISPID id)
{
    BSTR name;
    UINT count;
    char *text = NULL;
    if (SUCCEEDED(ITypeInfo_GetNames(info, id, &name, 1, &count))) {
        if (FAILED(text_from_bstr(name, "name", &text)))
            text = NULL;
        SysFreeString(name);
    }
    return text;
}

/* ---- GUID properties: ITypeInfo::Invoke cannot convert them, so scripts read and write strings in braces ---- */

/* Returns the row of the GUID property with this DISPID; NULL if the DISPID belongs to another member. */
static const struct property *guid_row(const struct wrapper *s, ITypeInfo *info, DISPID id)
{
    const struct class *class = s->class->model;
    const struct property *found = NULL;
    for (size_t i = 0; !found && i < class->property_count; i++)
        if (class->properties[i].kind == PROPERTY_GUID)
            found = &class->properties[i];
    if (!found) /* the class has no GUID property; no class has more than one */
        return NULL;
    char *name = dispatch_member_name(info, id);
    bool same = name && text_equal_nocase(name, found->name);
    memory_free(name);
    return same ? found : NULL;
}

static HRESULT put_guid(struct wrapper *s, const struct property *p, const VARIANT *in)
{
    VARIANT v;
    GUID guid;
    char *text = NULL;
    VariantInit(&v);
    HRESULT hr = variant_change(&v, in, VT_BSTR);
    if (SUCCEEDED(hr)) {
        hr = text_from_bstr(V_BSTR(&v), p->name, &text);
        if (SUCCEEDED(hr) && !text_to_guid(text, &guid))
            hr = error_set(E_INVALIDARG, "%s: invalid GUID '%.100s'", p->name, text);
        hr = com_result(s, hr);
    }
    if (SUCCEEDED(hr))
        hr = property_put(s, (size_t)(p - s->class->model->properties), &guid);
    memory_free(text);
    VariantClear(&v);
    return hr;
}

static HRESULT get_guid(struct wrapper *s, const struct property *p, VARIANT *out)
{
    GUID guid;
    char text[39];
    HRESULT hr = property_get(s, (size_t)(p - s->class->model->properties), &guid);
    if (FAILED(hr) || !out)
        return hr;
    text_from_guid(&guid, text);
    VariantInit(out);
    hr = bstr_from_text(text, &V_BSTR(out));
    if (SUCCEEDED(hr))
        V_VT(out) = VT_BSTR;
    return hr;
}

/* S_FALSE: not a GUID property. */
static HRESULT guid_member_invoke(struct wrapper *s, ITypeInfo *info, DISPID id, WORD flags, DISPPARAMS *params,
                                  VARIANT *result)
{
    const struct property *p = guid_row(s, info, id);
    if (!p)
        return S_FALSE;
    if (flags & DISPATCH_PROPERTYPUT)
        return params->cArgs == 1 ? put_guid(s, p, &params->rgvarg[0]) : DISP_E_BADPARAMCOUNT;
    return params->cArgs ? DISP_E_BADPARAMCOUNT : get_guid(s, p, result);
}

/* ---- type information ---- */

/* Loads the type library from the resources of the module that contains this code. */
static HRESULT load_type_library(ITypeLib **out)
{
    WCHAR path[MAX_PATH * 4];
    HMODULE module;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const WCHAR *)com_classes, &module) ||
        !GetModuleFileNameW(module, path, ARRAYSIZE(path)))
        return TYPE_E_CANTLOADLIBRARY;
    return LoadTypeLibEx(path, REGKIND_NONE, out);
}

HRESULT class_type_info(const struct class *class, ITypeInfo **out)
{
    struct com_class *c = com_class_of(class);
    ITypeLib *library;
    ITypeInfo *info;
    *out = c->type_info;
    if (!*out) {
        HRESULT hr = load_type_library(&library);
        if (FAILED(hr))
            return error_set(hr, "cannot load the type library in openpla.dll");
        hr = ITypeLib_GetTypeInfoOfGuid(library, c->interface_id, &info);
        ITypeLib_Release(library);
        if (FAILED(hr))
            return error_set(hr, "the type library in openpla.dll lacks %s", c->model->name);
        /* If two threads load the type information simultaneously, the second thread releases its copy. */
        if (InterlockedCompareExchangePointer((void **)&c->type_info, info, NULL))
            ITypeInfo_Release(info);
        *out = c->type_info;
    }
    ITypeInfo_AddRef(*out);
    return S_OK;
}

HRESULT dispatch_get_type_info(struct wrapper *s, UINT index, ITypeInfo **out)
{
    if (!out)
        return com_no_pointer(s, "ppTInfo");
    *out = NULL;
    if (index)
        return com_result(s, error_set(DISP_E_BADINDEX, "GetTypeInfo: invalid index %u: expected 0", index + 1));
    return com_result(s, class_type_info(s->class->model, out));
}

HRESULT dispatch_get_ids(struct wrapper *s, REFIID iid, LPOLESTR *names, UINT count, DISPID *ids)
{
    ITypeInfo *info;
    if (!IsEqualIID(iid, &IID_NULL))
        return DISP_E_UNKNOWNINTERFACE;
    HRESULT hr = class_type_info(s->class->model, &info);
    if (FAILED(hr))
        return com_result(s, hr);
    hr = ITypeInfo_GetIDsOfNames(info, names, count, ids);
    ITypeInfo_Release(info);
    return hr;
}

/* ---- arguments that ITypeInfo::Invoke rejects ---- */

/* A converted argument for the call. */
struct stand_in {
    VARIANT value;
    VARIANT *write_back; /* the script's variable for an [out] interface pointer */
    IDispatch *out;
};

/* Returns the function description of the member for this kind of call; NULL if no function fits. */
static FUNCDESC *find_function(ITypeInfo *info, DISPID id, WORD flags)
{
    FUNCDESC *f;
    for (UINT i = 0; SUCCEEDED(ITypeInfo_GetFuncDesc(info, i, &f)); i++) {
        if (f->memid == id && (f->invkind & flags))
            return f;
        ITypeInfo_ReleaseFuncDesc(info, f);
    }
    return NULL;
}

static bool has_function(ITypeInfo *info, DISPID id, WORD flags)
{
    FUNCDESC *f = find_function(info, id, flags);
    if (f)
        ITypeInfo_ReleaseFuncDesc(info, f);
    return f != NULL;
}

/* Returns the script's argument, after following a reference. */
static const VARIANT *follow(const VARIANT *v)
{
    return V_VT(v) == (VT_VARIANT | VT_BYREF) && V_VARIANTREF(v) ? V_VARIANTREF(v) : v;
}

static HRESULT store_element(SAFEARRAY *array, VARTYPE type, LONG index, const VARIANT *element)
{
    VARIANT v;
    VariantInit(&v);
    HRESULT hr = variant_change(&v, element, type);
    if (SUCCEEDED(hr))
        hr = SafeArrayPutElement(array, &index, type == VT_BSTR ? (void *)V_BSTR(&v) : (void *)&V_UI1(&v));
    VariantClear(&v);
    return hr;
}

/* Converts VT_ARRAY|VT_VARIANT, the array type of VBScript and PowerShell, to an array of `type`. */
static HRESULT array_from_variants(SAFEARRAY *in, VARTYPE type, SAFEARRAY **out)
{
    LONG count;
    VARIANT *items;
    HRESULT hr = array_open(in, VT_VARIANT, &count, (void **)&items);
    if (FAILED(hr))
        return hr;
    *out = SafeArrayCreateVector(type, 0, (ULONG)count);
    hr = *out ? S_OK : E_OUTOFMEMORY;
    for (LONG i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = store_element(*out, type, i, &items[i]);
    SafeArrayUnaccessData(in);
    return hr;
}

/* No list in a set has this many items. The limit is needed because Wine's SafeArrayCreateVector returns an array that
   is too small if the size in bytes exceeds 32 bits. */
#define SCRIPT_ITEMS_MAX 1000000

/* Converts a JScript array, which is an object with `length` and members "0", "1", ... */
static HRESULT array_from_script_object(IDispatch *in, VARTYPE type, SAFEARRAY **out)
{
    VARIANT v;
    HRESULT hr = foreign_get_by_name(in, L"length", &v);
    if (SUCCEEDED(hr))
        hr = variant_change(&v, &v, VT_R8);
    if (FAILED(hr)) {
        VariantClear(&v);
        return DISP_E_TYPEMISMATCH;
    }
    if (!(V_R8(&v) >= 0 && V_R8(&v) <= SCRIPT_ITEMS_MAX)) /* also NaN */
        return error_set(E_INVALIDARG, "invalid array size %g: the maximum is %d items", V_R8(&v), SCRIPT_ITEMS_MAX);
    LONG length = (LONG)V_R8(&v);
    *out = SafeArrayCreateVector(type, 0, (ULONG)length);
    hr = *out ? S_OK : E_OUTOFMEMORY;
    for (LONG i = 0; SUCCEEDED(hr) && i < length; i++) {
        WCHAR name[16];
        swprintf(name, sizeof name / sizeof name[0], L"%ld", (long)i);
        hr = foreign_get_by_name(in, name, &v);
        if (hr == DISP_E_UNKNOWNNAME)
            hr = error_set(E_INVALIDARG, "the array has no item at index %ld", (long)i);
        if (SUCCEEDED(hr))
            hr = store_element(*out, type, i, &v);
        VariantClear(&v);
    }
    return hr;
}

static HRESULT stand_in_for_array(const VARIANT *given, VARTYPE type, struct stand_in *s)
{
    const VARIANT *v = follow(given);
    SAFEARRAY *array = NULL;
    HRESULT hr;
    if (V_VT(v) == (VT_ARRAY | VT_VARIANT))
        hr = array_from_variants(V_ARRAY(v), type, &array);
    else if (V_VT(v) == (VT_ARRAY | VT_VARIANT | VT_BYREF))
        hr = V_ARRAYREF(v) ? array_from_variants(*V_ARRAYREF(v), type, &array) : DISP_E_TYPEMISMATCH;
    else if (foreign_object_in(v))
        hr = array_from_script_object(foreign_object_in(v), type, &array);
    else
        return S_FALSE;
    if (FAILED(hr)) {
        SafeArrayDestroy(array);
        return hr;
    }
    V_VT(&s->value) = VT_ARRAY | type;
    V_ARRAY(&s->value) = array;
    return S_OK;
}

/* If a script passes Nothing, Null or null for a string parameter, passes an empty string instead. PowerShell does the
   same with $null. */
static HRESULT stand_in_for_text(const VARIANT *given, struct stand_in *s)
{
    const VARIANT *v = follow(given);
    if (V_VT(v) != VT_NULL && !(V_VT(v) == VT_DISPATCH && !V_DISPATCH(v)))
        return S_FALSE;
    V_VT(&s->value) = VT_BSTR;
    V_BSTR(&s->value) = NULL;
    return S_OK;
}

/* If a script passes a variable for an [out] interface pointer, passes a local pointer instead. After the call, the
   pointer is copied to the variable. The function is not used for the return value. */
static HRESULT stand_in_for_out(const VARIANT *given, struct stand_in *s)
{
    if (V_VT(given) != (VT_VARIANT | VT_BYREF))
        return S_FALSE;
    s->write_back = V_VARIANTREF(given);
    V_VT(&s->value) = VT_DISPATCH | VT_BYREF;
    V_DISPATCHREF(&s->value) = &s->out;
    return S_OK;
}

/* Replaces an object with its default value. ITypeInfo::Invoke would also read that value, but without limiting what
   the object may do. */
static HRESULT stand_in_for_value(const VARIANT *given, VARTYPE wanted, struct stand_in *s)
{
    IDispatch *object = foreign_object_in(given);
    bool as_it_is = wanted == VT_VARIANT || wanted == VT_PTR || wanted == VT_DISPATCH || wanted == VT_UNKNOWN;
    return as_it_is || !object ? S_FALSE : foreign_value(object, &s->value);
}

static HRESULT stand_in_for(const VARIANT *given, const ELEMDESC *wanted, struct stand_in *s)
{
    const TYPEDESC *t = &wanted->tdesc;
    if (t->vt == VT_SAFEARRAY)
        return stand_in_for_array(given, t->lptdesc->vt, s);
    if (t->vt == VT_BSTR && stand_in_for_text(given, s) == S_OK)
        return S_OK;
    if (t->vt == VT_PTR && t->lptdesc->vt == VT_PTR && (wanted->paramdesc.wParamFlags & PARAMFLAG_FOUT))
        return stand_in_for_out(given, s);
    return stand_in_for_value(given, t->vt, s);
}

/* ---- numbers that ITypeInfo::Invoke would change ---- */

/* Whether a negative number is accepted as the unsigned number with the same 32 bits. Properties that are counts reject
   negative numbers. */
static bool takes_negative(struct wrapper *s, ITypeInfo *info, DISPID id, WORD flags)
{
    char *name = flags & DISPATCH_PROPERTYPUT ? dispatch_member_name(info, id) : NULL;
    const struct property *p = name ? class_property(s->class->model, name) : NULL;
    memory_free(name);
    return !p || property_takes_negative(p);
}

/* Rejects numbers that ITypeInfo::Invoke would change under Wine: -1 and NaN become 4294967295 where a ULONG is
   expected, and NaN becomes some value of an enumeration. */
static HRESULT check_number(struct wrapper *s, ITypeInfo *info, DISPID id, WORD flags, const VARIANT *given,
                            VARTYPE wanted)
{
    VARIANT number;
    VariantInit(&number);
    if ((wanted != VT_UI4 && wanted != VT_I4 && wanted != VT_USERDEFINED && wanted != VT_BOOL) ||
        FAILED(variant_change(&number, follow(given), VT_R8)))
        return S_OK; /* ITypeInfo::Invoke reports the error */
    if (V_R8(&number) != V_R8(&number))
        return error_set(E_INVALIDARG, "invalid number NaN: expected an integer");
    if (wanted == VT_UI4 && V_R8(&number) < 0 && !takes_negative(s, info, id, flags))
        return error_set(E_INVALIDARG, "%g is not between 0 and %u", V_R8(&number), UINT32_MAX);
    return S_OK;
}

static bool may_be_no_number(const VARIANT *v)
{
    switch (V_VT(v)) {
    case VT_I1:
        return V_I1(v) < 0;
    case VT_I2:
    case VT_BOOL:
        return V_I2(v) < 0;
    case VT_I4:
    case VT_INT:
        return V_I4(v) < 0;
    case VT_I8:
        return V_I8(v) < 0;
    case VT_R4:
        return !(V_R4(v) >= 0);
    case VT_R8:
    case VT_DATE:
        return !(V_R8(v) >= 0);
    case VT_CY:
    case VT_DECIMAL:
        return true;
    case VT_BSTR:
        return V_BSTR(v) && wcschr(V_BSTR(v), L'-');
    default:
        return false;
    }
}

/* Returns the parameter for the argument at rgvarg[at]. Named arguments come first. Each named argument identifies its
   parameter, except the value of a put. The other arguments follow in reverse order. */
static UINT parameter_of(const DISPPARAMS *params, UINT at, UINT count)
{
    UINT named = at < params->cNamedArgs ? (UINT)params->rgdispidNamedArgs[at] : count;
    return named < count ? named : params->cArgs - 1 - at;
}

static bool may_need_help(const DISPPARAMS *params)
{
    for (UINT i = 0; i < params->cArgs; i++) {
        VARTYPE vt = V_VT(&params->rgvarg[i]);
        if ((vt & (VT_ARRAY | VT_BYREF)) || vt == VT_DISPATCH || vt == VT_NULL || may_be_no_number(&params->rgvarg[i]))
            return true;
    }
    return false;
}

/* For members that are called without ITypeInfo::Invoke: converts the member's failure to an exception, which scripts
   can read. Does not change failures of the call itself, such as a wrong number of arguments. */
static HRESULT as_exception(HRESULT hr, EXCEPINFO *exception)
{
    IErrorInfo *info;
    if (HRESULT_FACILITY(hr) == FACILITY_DISPATCH || GetErrorInfo(0, &info) != S_OK)
        return hr;
    if (exception) {
        memset(exception, 0, sizeof *exception);
        exception->scode = hr;
        IErrorInfo_GetSource(info, &exception->bstrSource);
        IErrorInfo_GetDescription(info, &exception->bstrDescription);
    }
    IErrorInfo_Release(info);
    return DISP_E_EXCEPTION;
}

/* Returns the error for an argument that was rejected before the member was called. The error has the same form as an
   error of the member. */
static HRESULT result_with_exception(struct wrapper *s, ITypeInfo *info, DISPID id, HRESULT hr, EXCEPINFO *exception)
{
    char *name = dispatch_member_name(info, id);
    if (name)
        error_prefix(hr, "%s", name);
    memory_free(name);
    return as_exception(com_result(s, hr), exception);
}

static HRESULT invoke_with_help(struct wrapper *s, ITypeInfo *info, DISPID id, WORD flags, DISPPARAMS *params,
                                VARIANT *result, EXCEPINFO *exception, UINT *bad_argument)
{
    FUNCDESC *f = find_function(info, id, flags);
    DISPPARAMS changed = *params;
    HRESULT hr = S_OK;
    if (!f || params->cArgs > (UINT)f->cParams) {
        if (f)
            ITypeInfo_ReleaseFuncDesc(info, f);
        return ITypeInfo_Invoke(info, s, id, flags, params, result, exception, bad_argument);
    }
    struct stand_in *stand_ins = memory_zero(params->cArgs, sizeof *stand_ins);
    changed.rgvarg = memory_copy(params->rgvarg, params->cArgs * sizeof *params->rgvarg);
    if (!stand_ins || !changed.rgvarg)
        hr = E_OUTOFMEMORY;
    for (UINT at = 0; SUCCEEDED(hr) && at < params->cArgs; at++) {
        UINT parameter = parameter_of(params, at, (UINT)f->cParams);
        const ELEMDESC *wanted = &f->lprgelemdescParam[parameter];
        hr = stand_in_for(&params->rgvarg[at], wanted, &stand_ins[at]);
        if (hr == S_OK)
            changed.rgvarg[at] = stand_ins[at].value;
        if (SUCCEEDED(hr))
            hr = check_number(s, info, id, flags, &changed.rgvarg[at], wanted->tdesc.vt);
        if (FAILED(hr) && bad_argument)
            *bad_argument = at;
    }
    if (SUCCEEDED(hr))
        hr = ITypeInfo_Invoke(info, s, id, flags, &changed, result, exception, bad_argument);
    else if (HRESULT_FACILITY(hr) != FACILITY_DISPATCH)
        hr = result_with_exception(s, info, id, hr, exception);
    for (UINT i = 0; stand_ins && i < params->cArgs; i++) {
        struct stand_in *in = &stand_ins[i];
        if (in->write_back && SUCCEEDED(hr)) {
            VariantClear(in->write_back);
            V_VT(in->write_back) = VT_DISPATCH;
            V_DISPATCH(in->write_back) = in->out;
        } else if (in->out) {
            IDispatch_Release(in->out);
        }
        if (!in->write_back)
            VariantClear(&in->value);
    }
    memory_free(stand_ins);
    memory_free(changed.rgvarg);
    ITypeInfo_ReleaseFuncDesc(info, f);
    return hr;
}

/* S_FALSE: the DISPID is not in enum own_member. */
static HRESULT own_member_invoke(struct wrapper *s, DISPID id, const DISPPARAMS *params, VARIANT *result)
{
    if (id == OWN_WHOLE_COMMIT && s->class->model == &data_collector_set_class)
        return com_result(s, whole_commit_answer(s->model, params, result));
    if (id == OWN_WHOLE_QUERY && s->class->model == &data_collector_set_class)
        return com_result(s, whole_query_answer(s->model, params, result));
    if (id >= OWN_STATUSES && id <= OWN_DEFINITIONS && s->class->model == &data_collector_set_collection_class)
        return com_result(s, server_list_answer(s->model, id, params, result));
    return S_FALSE;
}

static HRESULT invoke_entered(struct wrapper *s, DISPID id, REFIID iid, WORD flags, DISPPARAMS *params, VARIANT *result,
                              EXCEPINFO *exception, UINT *bad_argument)
{
    ITypeInfo *info;
    if (!IsEqualIID(iid, &IID_NULL))
        return DISP_E_UNKNOWNINTERFACE;
    if (!params)
        return E_INVALIDARG;
    HRESULT hr = class_type_info(s->class->model, &info);
    if (FAILED(hr))
        return com_result(s, hr);
    if (id == DISPID_NEWENUM)
        flags |= DISPATCH_PROPERTYGET; /* JScript's Enumerator passes only DISPATCH_METHOD */
    hr = own_member_invoke(s, id, params, result);
    if (hr == S_FALSE)
        hr = guid_member_invoke(s, info, id, flags, params, result);
    if (hr == S_FALSE)
        hr = may_need_help(params) ? invoke_with_help(s, info, id, flags, params, result, exception, bad_argument)
                                   : ITypeInfo_Invoke(info, s, id, flags, params, result, exception, bad_argument);
    else if (FAILED(hr))
        hr = as_exception(hr, exception);
    /* For a put of a read-only property, Wine 10 reports a wrong number of arguments (behaviour 20). */
    if (hr == DISP_E_BADPARAMCOUNT && !has_function(info, id, flags))
        hr = DISP_E_MEMBERNOTFOUND;
    ITypeInfo_Release(info);
    return hr;
}

HRESULT dispatch_invoke(struct wrapper *s, DISPID id, REFIID iid, WORD flags, DISPPARAMS *params, VARIANT *result,
                        EXCEPINFO *exception, UINT *bad_argument)
{
    struct call_entry call;
    HRESULT hr = call_enter(&call);
    if (FAILED(hr))
        return as_exception(com_result(s, hr), exception);
    hr = invoke_entered(s, id, iid, flags, params, result, exception, bad_argument);
    call_leave(&call);
    return hr;
}
