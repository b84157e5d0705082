/* SPDX-License-Identifier: MIT */
/* Converts values from COM's form to the wire format and back. */
#include "com/remote/values.h"

#include <string.h>

_Static_assert((int)NDR_BSTR == VT_BSTR && (int)NDR_UI8 == VT_UI8 && (int)NDR_ARRAY == VT_ARRAY &&
                   (int)NDR_BYREF == VT_BYREF,
               "an ndr_vartype is a VARTYPE");

/* ---- from the wire ---- */

uint32_t remote_bstr_in(const struct ndr_bstr *s, BSTR *out)
{
    *out = NULL;
    if (s->is_null)
        return 0;
    *out = SysAllocStringByteLen((const char *)s->bytes, s->size);
    return *out ? 0 : RPC_FAULT_NO_MEMORY;
}

uint32_t remote_object_in(struct remote_call *c, const struct objref *o, const GUID *iid, void **out)
{
    *out = NULL;
    return o ? orpc_import(c->orpc, o, iid, out) : 0;
}

static uint32_t elements_in(struct remote_call *c, const struct ndr_array *a, SAFEARRAY *array)
{
    uint32_t fault = 0;
    void *data;
    if (!a->count || !a->has_data)
        return 0;
    if (FAILED(SafeArrayAccessData(array, &data)))
        return RPC_FAULT_NO_MEMORY;
    if (a->numbers)
        memcpy(data, a->numbers, (size_t)a->count * ndr_number_size(a->vt));
    for (uint32_t i = 0; !a->numbers && i < a->count && !fault; i++)
        fault = a->strings ? remote_bstr_in(&a->strings[i], (BSTR *)data + i)
                           : remote_variant_in(c, &a->variants[i], (VARIANT *)data + i, NULL);
    SafeArrayUnaccessData(array);
    return fault;
}

uint32_t remote_array_in(struct remote_call *c, const struct ndr_array *a, SAFEARRAY **out)
{
    SAFEARRAYBOUND bounds[NDR_DIMENSIONS];
    *out = NULL;
    if (!a)
        return 0;
    for (uint16_t i = 0; i < a->dimensions; i++)
        bounds[i] = (SAFEARRAYBOUND){a->bounds[i].count, a->bounds[i].low};
    SAFEARRAY *array = SafeArrayCreate(a->vt, a->dimensions, bounds);
    if (!array)
        return RPC_FAULT_NO_MEMORY;
    const uint32_t fault = elements_in(c, a, array);
    if (fault)
        SafeArrayDestroy(array);
    else
        *out = array;
    return fault;
}

static uint32_t plain_variant_in(struct remote_call *c, const struct ndr_variant *v, VARTYPE vt, VARIANT *out)
{
    uint32_t fault = 0;
    VariantInit(out);
    if (vt & VT_ARRAY) {
        SAFEARRAY *array;
        VARTYPE element = vt & VT_TYPEMASK;
        fault = remote_array_in(c, v->array, &array);
        if (!fault && array && FAILED(SafeArrayGetVartype(array, &element)))
            element = vt & VT_TYPEMASK;
        if (!fault) {
            V_VT(out) = VT_ARRAY | element;
            V_ARRAY(out) = array;
        }
        return fault;
    }
    switch (vt) {
    case VT_BSTR:
        fault = remote_bstr_in(&v->string, &V_BSTR(out));
        break;
    case VT_UNKNOWN:
    case VT_DISPATCH:
        fault =
            remote_object_in(c, v->object, vt == VT_UNKNOWN ? &IID_IUnknown : &IID_IDispatch, (void **)&V_UNKNOWN(out));
        break;
    case VT_DECIMAL:
        memcpy(&V_DECIMAL(out), v->decimal, sizeof v->decimal);
        break;
    default:
        memcpy(&V_I8(out), &v->number, sizeof v->number);
    }
    V_VT(out) = fault ? VT_EMPTY : vt;
    return fault;
}

uint32_t remote_variant_in(struct remote_call *c, const struct ndr_variant *v, VARIANT *out, VARIANT *referent)
{
    VariantInit(out);
    if (!(v->vt & VT_BYREF))
        return plain_variant_in(c, v, v->vt, out);
    if (!referent)
        return RPC_FAULT_BAD_STUB;
    VariantInit(referent);
    const bool is_variant = v->vt == (VT_VARIANT | VT_BYREF);
    const struct ndr_variant *value = is_variant ? v->variant : v;
    if (is_variant && (!value || value->vt & VT_BYREF))
        return RPC_FAULT_BAD_STUB;
    const uint32_t fault = plain_variant_in(c, value, value->vt & (VARTYPE)~VT_BYREF, referent);
    if (fault)
        return fault;
    /* Uses the declared type, because the values of an array can have arrived as another type of the same size. */
    V_VT(out) = is_variant ? v->vt : (VARTYPE)(V_VT(referent) | VT_BYREF);
    V_BYREF(out) = is_variant                     ? (void *)referent
                   : V_VT(referent) == VT_DECIMAL ? (void *)&V_DECIMAL(referent)
                                                  : (void *)&V_I8(referent);
    return 0;
}

/* ---- to the wire ---- */

struct ndr_bstr remote_bstr_out(BSTR s)
{
    return (struct ndr_bstr){.bytes = (const uint8_t *)s, .size = SysStringByteLen(s), .is_null = !s};
}

HRESULT remote_object_out(struct remote_call *c, IUnknown *pointer, const GUID *iid, struct objref **out)
{
    *out = NULL;
    if (!pointer)
        return S_OK;
    struct objref *o = ndr_arena_take(&c->arena, 1, sizeof *o);
    const HRESULT hr = o ? orpc_export(c->orpc, pointer, iid, o) : E_OUTOFMEMORY;
    *out = SUCCEEDED(hr) ? o : NULL;
    return hr;
}

static HRESULT elements_out(struct remote_call *c, void *data, struct ndr_array *a)
{
    if (ndr_number_size(a->vt)) {
        a->numbers = data;
        return S_OK;
    }
    HRESULT hr = S_OK;
    if (a->vt == NDR_BSTR)
        a->strings = ndr_arena_take(&c->arena, a->count, sizeof *a->strings);
    else
        a->variants = ndr_arena_take(&c->arena, a->count, sizeof *a->variants);
    if (!a->strings && !a->variants)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < a->count && SUCCEEDED(hr); i++)
        if (a->strings)
            a->strings[i] = remote_bstr_out(((BSTR *)data)[i]);
        else
            hr = remote_variant_out(c, (const VARIANT *)data + i, &a->variants[i]);
    return hr;
}

HRESULT remote_array_out(struct remote_call *c, SAFEARRAY *array, struct ndr_array **out)
{
    VARTYPE vt;
    uint64_t count = 1;
    *out = NULL;
    if (!array)
        return S_OK;
    struct ndr_array *a = ndr_arena_take(&c->arena, 1, sizeof *a);
    if (!a)
        return E_OUTOFMEMORY;
    HRESULT hr = SafeArrayGetVartype(array, &vt);
    if (FAILED(hr))
        return hr;
    if (array->cDims > NDR_DIMENSIONS || (!ndr_number_size(vt) && vt != VT_BSTR && vt != VT_VARIANT))
        return DISP_E_BADVARTYPE;
    a->vt = vt;
    a->features = array->fFeatures;
    a->dimensions = array->cDims;
    for (uint16_t i = 0; i < a->dimensions; i++) { /* stored from right to left */
        const SAFEARRAYBOUND *b = &array->rgsabound[a->dimensions - 1 - i];
        a->bounds[i].count = b->cElements;
        a->bounds[i].low = b->lLbound;
        count *= b->cElements;
        if (count > UINT32_MAX)
            return E_OUTOFMEMORY;
    }
    a->count = (uint32_t)count;
    a->has_data = true;
    hr = elements_out(c, array->pvData, a);
    *out = SUCCEEDED(hr) ? a : NULL;
    return hr;
}

HRESULT remote_variant_out(struct remote_call *c, const VARIANT *v, struct ndr_variant *out)
{
    const VARTYPE vt = V_VT(v);
    const size_t size = ndr_number_size(vt);
    HRESULT hr = S_OK;
    *out = (struct ndr_variant){.vt = vt};
    if (vt & VT_BYREF)
        hr = DISP_E_BADVARTYPE;
    else if (vt & VT_ARRAY)
        hr = remote_array_out(c, V_ARRAY(v), &out->array);
    else if (size)
        memcpy(&out->number, &V_I8(v), size);
    else
        switch (vt) {
        case VT_EMPTY:
        case VT_NULL:
            break;
        case VT_BSTR:
            out->string = remote_bstr_out(V_BSTR(v));
            break;
        case VT_UNKNOWN:
        case VT_DISPATCH:
            hr = remote_object_out(c, V_UNKNOWN(v), vt == VT_UNKNOWN ? &IID_IUnknown : &IID_IDispatch, &out->object);
            break;
        case VT_DECIMAL:
            memcpy(out->decimal, &V_DECIMAL(v), sizeof out->decimal);
            memset(out->decimal, 0, sizeof(USHORT)); /* a VARIANT stores its VARTYPE in these bytes */
            break;
        default:
            hr = DISP_E_BADVARTYPE;
        }
    if (FAILED(hr))
        *out = (struct ndr_variant){.vt = VT_EMPTY};
    return hr;
}

/* ---- error information: MS-DCOM 2.2.21.2 and 2.2.21.3 ----
   Error information is sent as an OBJREF_CUSTOM. The class ID in the OBJREF_CUSTOM names the class that rebuilds the
   error object. The data are the version, help context and IID, then the source, description and help file. A flag
   before each of these three strings says whether the string exists. */

static const GUID error_object_class = {0x0000031B, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

static void error_string_out(struct ndr_writer *w, BSTR s)
{
    const uint32_t units = SysStringLen(s) + 1;
    ndr_write_u32(w, s ? 0xFFFFFFFF : 0);
    if (!s)
        return;
    ndr_write_u32(w, units);
    ndr_write_u32(w, 0);
    ndr_write_u32(w, units);
    ndr_write_bytes(w, s, (size_t)(units - 1) * 2);
    ndr_write_u16(w, 0);
    ndr_add(w, 4, 0);
}

static void error_info_out(struct ndr_writer *out, IErrorInfo *info)
{
    BSTR source = NULL, description = NULL, help_file = NULL;
    DWORD context = 0;
    GUID iid = {0};
    struct ndr_writer w = {0};
    IErrorInfo_GetGUID(info, &iid);
    IErrorInfo_GetSource(info, &source);
    IErrorInfo_GetDescription(info, &description);
    IErrorInfo_GetHelpFile(info, &help_file);
    IErrorInfo_GetHelpContext(info, &context);
    ndr_write_u32(&w, 0);
    ndr_write_u32(&w, context);
    ndr_write_guid(&w, &iid);
    error_string_out(&w, source);
    error_string_out(&w, description);
    error_string_out(&w, help_file);
    const struct objref o = {.kind = OBJREF_CUSTOM,
                             .iid = IID_IErrorInfo,
                             .clsid = error_object_class,
                             .custom = w.bytes,
                             .custom_size = w.size};
    if (!w.failed)
        objref_write(out, &o);
    ndr_writer_free(&w);
    SysFreeString(source);
    SysFreeString(description);
    SysFreeString(help_file);
}

void remote_error_out(struct orpc_call *call)
{
    IErrorInfo *info;
    if (GetErrorInfo(0, &info) != S_OK)
        return;
    error_info_out(&call->error_info, info);
    IErrorInfo_Release(info);
}
