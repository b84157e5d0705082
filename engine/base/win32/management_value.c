/* SPDX-License-Identifier: MIT */
/* VARIANTs of WMI as texts. A property's type says more than its VARIANT: unsigned 32 bits come as VT_I4, 64 bits as a
   string. */
#include "engine/base/win32/management_value.h"

#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"

#include <stdlib.h>
#include <oleauto.h>
#include <wbemcli.h>

static const struct {
    LONG type;
    const char *name, *of_array;
    int unsigned_bits; /* 0: it has a sign, or is no integer */
} cim_types[] = {
    {CIM_SINT8, "sint8", "sint8[]", 0},          {CIM_UINT8, "uint8", "uint8[]", 8},
    {CIM_SINT16, "sint16", "sint16[]", 0},       {CIM_UINT16, "uint16", "uint16[]", 16},
    {CIM_SINT32, "sint32", "sint32[]", 0},       {CIM_UINT32, "uint32", "uint32[]", 32},
    {CIM_SINT64, "sint64", "sint64[]", 0},       {CIM_UINT64, "uint64", "uint64[]", 64},
    {CIM_REAL32, "real32", "real32[]", 0},       {CIM_REAL64, "real64", "real64[]", 0},
    {CIM_BOOLEAN, "boolean", "boolean[]", 0},    {CIM_STRING, "string", "string[]", 0},
    {CIM_DATETIME, "datetime", "datetime[]", 0}, {CIM_REFERENCE, "reference", "reference[]", 0},
    {CIM_CHAR16, "char16", "char16[]", 16},      {CIM_OBJECT, "object", "object[]", 0},
};
enum { CIM_TYPES = sizeof cim_types / sizeof *cim_types };

static size_t row_of(LONG cim_type)
{
    size_t i = 0;
    while (i < CIM_TYPES && cim_types[i].type != (cim_type & ~CIM_FLAG_ARRAY))
        i++;
    return i;
}

const char *management_type_name(LONG cim_type)
{
    const size_t i = row_of(cim_type);
    return i == CIM_TYPES ? "unknown" : cim_type & CIM_FLAG_ARRAY ? cim_types[i].of_array : cim_types[i].name;
}

static HRESULT bstr_text(BSTR text, char **out)
{
    return text_from_utf16(text ? text : L"", SysStringLen(text), true, out);
}

/* With as few digits as give the same number back. */
static char *real_text(double value, int most)
{
    char *text = NULL;
    for (int digits = 6; digits <= most; digits++) {
        memory_free(text);
        text = text_format("%.*g", digits, value);
        if (!text || (most > 9 ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value))
            break;
    }
    return text;
}

static HRESULT integer_text(int64_t value, LONG cim_type, char **out)
{
    const size_t row = row_of(cim_type);
    const int bits = row < CIM_TYPES ? cim_types[row].unsigned_bits : 0;
    const WCHAR unit = (WCHAR)value;
    if ((cim_type & ~CIM_FLAG_ARRAY) == CIM_CHAR16)
        return text_from_utf16(&unit, 1, true, out);
    if (bits)
        *out = text_format("%llu", (unsigned long long)value & (bits == 64 ? UINT64_MAX : ((1ULL << bits) - 1)));
    else
        *out = text_format("%lld", (long long)value);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT object_text(IUnknown *unknown, char **out)
{
    IWbemClassObject *object;
    BSTR text = NULL;
    *out = NULL;
    HRESULT hr = unknown ? IUnknown_QueryInterface(unknown, &IID_IWbemClassObject, (void **)&object) : E_POINTER;
    if (FAILED(hr))
        return error_set(hr, "an object of WMI's cannot be asked what it holds");
    hr = IWbemClassObject_GetObjectText(object, 0, &text);
    if (SUCCEEDED(hr))
        hr = bstr_text(text, out);
    else
        hr = error_set(hr, "an object of WMI's does not say what it holds");
    SysFreeString(text);
    IWbemClassObject_Release(object);
    return hr;
}

static HRESULT scalar_text(const VARIANT *v, LONG cim_type, char **out)
{
    *out = NULL;
    switch (V_VT(v)) {
    case VT_BSTR:
        return bstr_text(V_BSTR(v), out);
    case VT_BOOL:
        *out = text_copy(V_BOOL(v) ? "true" : "false");
        break;
    case VT_R4:
        *out = real_text(V_R4(v), 9);
        break;
    case VT_R8:
        *out = real_text(V_R8(v), 17);
        break;
    case VT_UNKNOWN:
    case VT_DISPATCH:
        return object_text(V_UNKNOWN(v), out);
    case VT_NULL:
    case VT_EMPTY:
        *out = text_copy("");
        break;
    case VT_I1:
        return integer_text(V_I1(v), cim_type, out);
    case VT_UI1:
        return integer_text(V_UI1(v), cim_type, out);
    case VT_I2:
        return integer_text(V_I2(v), cim_type, out);
    case VT_UI2:
        return integer_text(V_UI2(v), cim_type, out);
    case VT_I4:
    case VT_INT:
        return integer_text(V_I4(v), cim_type, out);
    case VT_UI4:
    case VT_UINT:
        return integer_text(V_UI4(v), cim_type, out);
    case VT_I8:
    case VT_UI8:
        return integer_text(V_I8(v), cim_type, out);
    default:
        return error_set(DISP_E_BADVARTYPE, "WMI gave a value with the VARIANT type 0x%X", V_VT(v));
    }
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT array_bytes(const uint8_t *bytes, size_t count, struct texts *out)
{
    struct text_buffer b = {.length = 0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < count; i++)
        text_buffer_format(&b, "%02X", bytes[i]);
    char *text = text_buffer_take(&b);
    return text ? texts_give(out, text) : E_OUTOFMEMORY;
}

static HRESULT array_texts(SAFEARRAY *a, VARTYPE vt, LONG cim_type, struct texts *out)
{
    LONG low = 0, high = -1;
    if (!a || SafeArrayGetDim(a) != 1)
        return error_set(DISP_E_BADVARTYPE, "WMI gave an array of %u dimensions", a ? SafeArrayGetDim(a) : 0);
    HRESULT hr = SafeArrayGetLBound(a, 1, &low);
    if (SUCCEEDED(hr))
        hr = SafeArrayGetUBound(a, 1, &high);
    if (SUCCEEDED(hr) && vt == VT_UI1) {
        void *bytes;
        hr = SafeArrayAccessData(a, &bytes);
        if (SUCCEEDED(hr)) {
            hr = array_bytes(bytes, high < low ? 0 : (size_t)(high - low) + 1, out);
            SafeArrayUnaccessData(a);
        }
        return hr;
    }
    for (LONGLONG i = low; SUCCEEDED(hr) && i <= high; i++) {
        LONG at = (LONG)i;
        char *text;
        VARIANT v;
        VariantInit(&v);
        hr = SafeArrayGetElement(a, &at, vt == VT_VARIANT ? (void *)&v : (void *)&V_I8(&v));
        if (FAILED(hr))
            break;
        if (vt != VT_VARIANT)
            V_VT(&v) = vt;
        hr = scalar_text(&v, cim_type, &text);
        if (SUCCEEDED(hr))
            hr = texts_give(out, text);
        VariantClear(&v);
    }
    return hr;
}

HRESULT management_value_read(const VARIANT *v, LONG cim_type, struct management_value *out)
{
    char *text;
    out->type = management_type_name(cim_type);
    out->array = (cim_type & CIM_FLAG_ARRAY) != 0;
    out->null = V_VT(v) == VT_NULL || V_VT(v) == VT_EMPTY;
    if (out->null)
        return S_OK;
    if (V_VT(v) & VT_BYREF)
        return error_set(DISP_E_BADVARTYPE, "WMI gave a value with the VARIANT type 0x%X", V_VT(v));
    if (V_VT(v) & VT_ARRAY)
        return array_texts(V_ARRAY(v), V_VT(v) & VT_TYPEMASK, cim_type, &out->texts);
    HRESULT hr = scalar_text(v, cim_type, &text);
    return SUCCEEDED(hr) ? texts_give(&out->texts, text) : hr;
}
